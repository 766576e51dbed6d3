//! The defense of one port and priority: the state machine of clause 32.6, and the meaning of its states for frames.
//!
//! ```text
//!              begin                       the manager's choice, from any state
//!                |                                       |
//!   automatic    v        automatic                      v
//!        +-- CNDD_RESET <---------------------------- CNDD_ADMIN
//!        v
//!    CNDD_EDGE ------ rcvdCnpv ----> CNDD_INTERIOR ------ rcvdReady ----> CNDD_INTERIOR_READY
//!        ^ ^                           |     ^                               |       |
//!        | +-------- !rcvdCnpv --------+     +---- rcvdCnpv && !rcvdReady ---+       |
//!        +---------------------------------- !rcvdCnpv ------------------------------+
//! ```
//!
//! | state | priority remapped on input | `cnpdXmitCnpvCapable` | `cnpdXmitReady` | CN-TAG on output |
//! |---|---|---|---|---|
//! | edge | yes | yes | no | removed |
//! | interior | no | yes | yes | removed |
//! | interior ready | no | yes | yes | kept |
//! | disabled | no | no | no | kept: it is a priority like any other |

use crate::objects::DefenseMode;

impl DefenseMode {
    /// `cnpdXmitCnpvCapable` (clause 32.4.7): the port announces that the priority is a congestion notification priority.
    #[must_use]
    pub const fn xmit_cnpv_capable(self) -> bool {
        !matches!(self, Self::Disabled)
    }

    /// `cnpdXmitReady` (clause 32.4.8): the port announces that it remaps the priority no longer.
    #[must_use]
    pub const fn xmit_ready(self) -> bool {
        matches!(self, Self::Interior | Self::InteriorReady)
    }

    /// `cncpDoesEdge` (clause 32.4.9), as far as frames see it: frames that come in get the alternate priority.
    #[must_use]
    pub const fn remaps(self) -> bool {
        matches!(self, Self::Edge)
    }

    /// `cnpdAcceptsCnTag` (clause 32.4.10): frames go out with their CN-TAG.
    #[must_use]
    pub const fn accepts_cn_tag(self) -> bool {
        matches!(self, Self::Disabled | Self::InteriorReady)
    }

    /// An end station may add CN-TAGs (clause 32.1.1).
    #[must_use]
    pub const fn adds_cn_tag(self) -> bool {
        matches!(self, Self::InteriorReady)
    }

    /// The neighbour is in the domain, so that its notifications are heeded.
    #[must_use]
    pub const fn is_inside(self) -> bool {
        matches!(self, Self::Interior | Self::InteriorReady)
    }
}

/// The chooser of the mode of a port and priority: `cnpdIsAdminDefMode` (clause 32.4.13) with the manager's mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The manager, this mode.
    Admin(DefenseMode),
    /// The neighbour's announcements.
    Auto,
}

/// The announcement of the neighbour for a priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Heard {
    /// `cnpdRcvdCnpv` (clause 32.4.11): it takes the priority for congestion notification.
    pub cnpv: bool,
    /// `cnpdRcvdReady` (clause 32.4.12): it remaps the priority no longer.
    pub ready: bool,
}

/// A state of the machine. Linux numbers those of the automatic choice (`enum dcbnl_cndd_states`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Before the first announcement is read; it is left at once.
    Reset,
    /// The manager's mode stands.
    Admin(DefenseMode),
    /// The neighbour does not take part.
    Edge,
    /// The neighbour takes part.
    Interior,
    /// The neighbour takes part, and takes CN-TAGs.
    InteriorReady,
}

impl State {
    /// `cnpdDefenseMode` (clause 32.4.14): the mode that holds in it.
    #[must_use]
    pub const fn mode(self) -> DefenseMode {
        match self {
            Self::Admin(mode) => mode,
            Self::Reset | Self::Edge => DefenseMode::Edge,
            Self::Interior => DefenseMode::Interior,
            Self::InteriorReady => DefenseMode::InteriorReady,
        }
    }

    /// The state behind one transition; `None` where none is open.
    #[must_use]
    pub fn next(self, choice: Choice, heard: Heard) -> Option<Self> {
        match (self, choice) {
            (Self::Admin(now), Choice::Admin(mode)) => (now != mode).then_some(Self::Admin(mode)),
            (_, Choice::Admin(mode)) => Some(Self::Admin(mode)),
            (Self::Admin(_), Choice::Auto) => Some(Self::Reset),
            (Self::Reset, Choice::Auto) => Some(Self::Edge),
            (Self::Edge, Choice::Auto) => heard.cnpv.then_some(Self::Interior),
            (Self::Interior, Choice::Auto) if !heard.cnpv => Some(Self::Edge),
            (Self::Interior, Choice::Auto) => heard.ready.then_some(Self::InteriorReady),
            (Self::InteriorReady, Choice::Auto) if !heard.cnpv => Some(Self::Edge),
            (Self::InteriorReady, Choice::Auto) => (!heard.ready).then_some(Self::Interior),
        }
    }
}

/// The machine of one port and priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Defense {
    state: State,
}

impl Defense {
    /// The most transitions that one event causes: out of the manager's mode to interior ready.
    pub const MOST_STEPS: usize = 4;

    /// `BEGIN`: nothing has been heard.
    #[must_use]
    pub fn begin(choice: Choice) -> Self {
        let mut machine = Self { state: State::Reset };
        machine.settle(choice, Heard::default());
        machine
    }

    /// Takes every transition that is open, and says whether the mode is another now.
    pub fn settle(&mut self, choice: Choice, heard: Heard) -> bool {
        let before = self.state.mode();
        for _ in 0..Self::MOST_STEPS {
            let Some(next) = self.state.next(choice, heard) else { break };
            self.state = next;
        }
        self.state.mode() != before
    }

    /// Its state.
    #[must_use]
    pub const fn state(&self) -> State {
        self.state
    }

    /// Its mode.
    #[must_use]
    pub const fn mode(&self) -> DefenseMode {
        self.state.mode()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::DefenseMode as Mode;

    const SILENT: Heard = Heard { cnpv: false, ready: false };
    const CNPV: Heard = Heard { cnpv: true, ready: false };
    const READY: Heard = Heard { cnpv: true, ready: true };

    #[test]
    fn each_transition_is_that_of_figure_32_1() {
        use State::{Admin, Edge, Interior, InteriorReady, Reset};
        let auto = [
            (Reset, [Some(Edge), Some(Edge), Some(Edge)]),
            (Edge, [None, Some(Interior), Some(Interior)]),
            (Interior, [Some(Edge), None, Some(InteriorReady)]),
            (InteriorReady, [Some(Edge), Some(Interior), None]),
            (Admin(Mode::Interior), [Some(Reset), Some(Reset), Some(Reset)]),
        ];
        for (state, wanted) in auto {
            let got = [SILENT, CNPV, READY].map(|heard| state.next(Choice::Auto, heard));
            assert_eq!(got, wanted, "from {state:?}");
            for heard in [SILENT, CNPV, READY] {
                let admin = state.next(Choice::Admin(Mode::Edge), heard);
                assert_eq!(admin, Some(Admin(Mode::Edge)), "from {state:?} by the manager");
            }
        }
        assert_eq!(Admin(Mode::Edge).next(Choice::Admin(Mode::Edge), READY), None);
    }

    #[test]
    fn the_modes_do_what_the_textual_convention_says() {
        let of = |mode: Mode| {
            (mode.remaps(), mode.xmit_cnpv_capable(), mode.xmit_ready(), mode.accepts_cn_tag(), mode.adds_cn_tag())
        };
        assert_eq!(of(Mode::Edge), (true, true, false, false, false));
        assert_eq!(of(Mode::Interior), (false, true, true, false, false));
        assert_eq!(of(Mode::InteriorReady), (false, true, true, true, true));
        assert_eq!(of(Mode::Disabled), (false, false, false, true, false));
    }

    #[test]
    fn one_event_passes_all_states() {
        let mut machine = Defense::begin(Choice::Admin(Mode::Disabled));
        assert_eq!(machine.state(), State::Admin(Mode::Disabled));
        assert!(machine.settle(Choice::Auto, READY));
        assert_eq!(machine.state(), State::InteriorReady);
        assert!(!machine.settle(Choice::Auto, READY), "a repeated announcement changes nothing");
        assert!(machine.settle(Choice::Auto, SILENT));
        assert_eq!(machine.state(), State::Edge);
    }

    #[test]
    fn ready_without_the_priority_is_no_announcement() {
        let mut machine = Defense::begin(Choice::Auto);
        machine.settle(Choice::Auto, Heard { cnpv: false, ready: true });
        assert_eq!(machine.state(), State::Edge);
    }
}
