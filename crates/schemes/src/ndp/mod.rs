//! NDP: sources send a first window at line rate, switches trim what finds no room, and receivers pull the rest, a frame at a time.
//!
//! ```text
//!   source                    switch                        destination                turns of its host
//!   credit = initial_window
//!   frame, credit - 1 ------> room: the frame goes on ----> pulls owed + 1 ----------> a turn every frame's time
//!                             none: its header does ------> pulls owed + 1                     |
//!   credit + 1 <------------------------------- pull, numbered <-------------------------------+
//! ```
//!
//! A frame that comes, whole or as its header, is worth one pull, so that the number of frames and pulls under way stays that of the first
//! windows. A source that has a pull sends what was trimmed first; that, and acknowledgements, are its transport's. Pulls carry the count of all
//! frames that their destination has pulled, so that the next one repeats one that is lost.
//!
//! When all octets of a flow or message have come, pulls that are still owed go in one frame, without a turn. Nothing is left that they could bring
//! in, and a next message has a first window again.
//!
//! Sources: Handley et al. 2017, *Re-architecting datacenter networks and stacks for low latency and high performance* (NDP); csg-htsim,
//! `ndp.cpp` and `main_ndp.cpp` ("htsim").

use crate::info::values::{count, us};
use crate::info::{Action, Forms, Info, Profile, Signals, parameters};
use crate::none::Absent;
use crate::units::{BitRate, Duration, FlowKey, Instant};
use crate::{
    Allowance, Class, Draw, Frame, HEADER, Never, NotificationPoint, Out, ReactionPoint, Release, Scheme, Signal, To,
    Var,
};

/// NDP.
#[derive(Debug, Clone, Copy)]
pub struct Ndp;

parameters! {
    /// NDP's parameters.
    pub struct Config {
        /// Frames that a flow sends before the first pull.
        initial_window: u32 {
            default: count(30),
            range: count(1)..=count(1_000_000),
            source: "Handley et al. 2017, a round trip of the line; 15 frames of 9000 octets in htsim, main_ndp",
        }
        /// Time without a pull after which a source that waits for one sends a frame.
        rto: Duration {
            default: us(1_000),
            range: us(1)..=us(1_000_000),
            source: "Handley et al. 2017; htsim, NdpSrc::setMinRTO, has 50 ms",
        }
    }
}

const PROFILES: &[Profile] = &[Profile {
    name: "htsim",
    description: "csg-htsim, main_ndp, of any rate: 15 frames at once, and 50 ms without a pull.",
    settings: &[("initial_window", count(15)), ("rto", us(50_000))],
}];

impl Scheme for Ndp {
    const INFO: Info = Info {
        name: "ndp",
        title: "NDP",
        source: "Handley et al. 2017; csg-htsim",
        description: "Sources send a window at line rate, full queues trim frames to their headers, and each receiver pulls frames at the rate of \
                      its line.",
        parameters: Config::PARAMETERS,
        profiles: PROFILES,
        set_point: None,
        signals: Some(Signals::by_destination(Pull::OCTETS)),
        actions: &[Action::Trims],
        tuned: &[&["initial_window"]],
        recovers_alone: false,
        raises_on_signal: false,
        integer_state: true,
        needs_order: false,
        forms: Forms { capture: true, ..Forms::NONE },
    };
    type Config = Config;
    type Tag = ();
    type Echo = Never;
    type Signal = Pull;
    type Cp = Absent;
    type Np = Np;
    type Rp = Rp;

    fn needs_trimming(_: &Config) -> bool {
        true
    }
}

/// A destination lets its source send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pull {
    /// Frames that the destination has pulled since the start of the flow, modulo 2^32.
    pub number: u32,
    /// How many of them by this pull.
    pub frames: u32,
}

impl Pull {
    /// Length of the frame, padded to the shortest.
    pub const OCTETS: u16 = 64;
}

impl Signal for Pull {
    const VARS: &'static [Var] = &[Var { name: "pulled_frames", description: "frames that this pull lets go" }];

    fn octets(&self) -> u16 {
        Self::OCTETS
    }

    fn message(&self) -> Option<crate::Message> {
        Some(crate::Message::Pull { number: self.number, frames: self.frames })
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[i64::from(self.frames)]);
    }
}

/// Length of a frame before the first whole one has come.
const UNKNOWN: u16 = 1_500;

/// NDP's notification point: owes a pull for each frame that comes.
#[derive(Debug, Clone)]
pub struct Np {
    flow: FlowKey,
    owed: u32,
    number: u32,
    /// The longest whole frame that has come; 0 before the first.
    longest: u16,
}

impl Np {
    fn pull(&mut self, frames: u32, out: &mut impl Out<Ndp>) {
        self.owed -= frames;
        self.number = self.number.wrapping_add(frames);
        out.send(To::Source(self.flow), Class::Control, Pull { number: self.number, frames });
    }
}

impl NotificationPoint<Ndp> for Np {
    const GRANTS: bool = true;

    fn new(_: &Config, flow: FlowKey) -> Self {
        Self { flow, owed: 0, number: 0, longest: 0 }
    }

    fn configure(&mut self, _: &Config) {}

    fn on_frame(&mut self, _: Instant, frame: Frame<'_, ()>, _: &mut impl Draw, _: &mut impl Out<Ndp>) {
        self.owed = self.owed.saturating_add(1);
        if !frame.trimmed {
            self.longest = self.longest.max(frame.octets);
        }
    }

    fn on_complete(&mut self, _: Instant, out: &mut impl Out<Ndp>) {
        if self.owed > 0 {
            self.pull(self.owed, out);
        }
    }

    fn asks(&self) -> bool {
        self.owed > 0
    }

    fn grant(&mut self, _: Instant, _: BitRate, _: &mut impl Draw, out: &mut impl Out<Ndp>) -> u16 {
        if self.owed == 0 {
            return 0;
        }
        self.pull(1, out);
        if self.longest == 0 { UNKNOWN } else { self.longest.max(HEADER) }
    }
}

/// NDP's reaction point: a count of frames that may go.
#[derive(Debug, Clone)]
pub struct Rp {
    line: BitRate,
    initial: u32,
    rto: Duration,
    /// Flows that have started and not ended.
    flows: u32,
    /// The one flow that has started so far, and the highest number of its pulls. Counts of several destinations cannot be distinguished, so
    /// that with several flows a pull is worth its own frames.
    alone: Option<(FlowKey, u32)>,
    several: bool,
    credit: u32,
    /// Frames that have gone and for which no pull has come.
    unanswered: u32,
    /// When a frame goes without a pull.
    deadline: Instant,
}

impl Rp {
    /// The most frames that may go at once.
    fn most(&self) -> u32 {
        self.flows.saturating_mul(self.initial)
    }

    fn end(&mut self) {
        self.flows = self.flows.saturating_sub(1);
        self.credit = self.credit.min(self.most());
    }

    /// Frames that a pull brings beyond those before it.
    fn brought(&mut self, flow: FlowKey, pull: Pull) -> u32 {
        match &mut self.alone {
            Some((own, number)) if *own == flow => {
                let more = pull.number.wrapping_sub(*number);
                let newer = more <= u32::MAX / 2;
                *number = if newer { pull.number } else { *number };
                if newer { more } else { 0 }
            }
            _ => pull.frames,
        }
    }
}

impl ReactionPoint<Ndp> for Rp {
    const VARS: &'static [Var] = &[
        Var { name: "credit_frames", description: "frames that may go" },
        Var { name: "unanswered_frames", description: "frames that have gone and for which no pull has come" },
    ];

    fn new(config: &Config, line: BitRate) -> Self {
        Self {
            line,
            initial: config.initial_window,
            rto: config.rto,
            flows: 0,
            alone: None,
            several: false,
            credit: 0,
            unanswered: 0,
            deadline: Instant::NEVER,
        }
    }

    fn configure(&mut self, config: &Config, _: BitRate) {
        (self.initial, self.rto) = (config.initial_window, config.rto);
        self.credit = self.credit.min(self.most());
    }

    fn on_start(&mut self, _: Instant, flow: FlowKey, _: &mut impl Draw, _: &mut impl Out<Ndp>) {
        self.flows += 1;
        self.credit = self.credit.saturating_add(self.initial).min(self.most());
        self.several |= self.alone.is_some_and(|(own, _)| own != flow);
        if self.several {
            self.alone = None;
        } else {
            self.alone.get_or_insert((flow, 0));
        }
    }

    fn on_stop(&mut self, _: Instant, _: FlowKey) {
        self.end();
    }

    fn on_signal(&mut self, now: Instant, flow: FlowKey, pull: Pull, _: &mut impl Draw, _: &mut impl Out<Ndp>) {
        let frames = self.brought(flow, pull).min(self.unanswered);
        self.unanswered -= frames;
        self.credit = self.credit.saturating_add(frames).min(self.most());
        self.deadline = now + self.rto;
    }

    fn on_send(&mut self, now: Instant, frame: Release, _: &mut impl Draw, _: &mut impl Out<Ndp>) {
        self.credit = self.credit.saturating_sub(1);
        self.unanswered = self.unanswered.saturating_add(1);
        self.deadline = now + self.rto;
        if frame.last {
            self.end();
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        (self.credit == 0 && self.unanswered > 0 && self.flows > 0).then_some(self.deadline)
    }

    fn on_timeout(&mut self, now: Instant, _: &mut impl Draw, _: &mut impl Out<Ndp>) {
        if self.next_timeout().is_some_and(|at| at <= now) {
            self.credit = 1;
        }
    }

    fn allowance(&self) -> Allowance {
        Allowance { rate: self.line, window: None }
    }

    fn granted(&self) -> bool {
        self.credit > 0
    }

    fn limiting(&self) -> bool {
        true
    }

    const NEEDS_GRANTS: bool = true;

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[i64::from(self.credit), i64::from(self.unanswered)]);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::Octets;
    use crate::testing::{Middle, Sent, at, config, frame_of};

    const FLOW: FlowKey = FlowKey(7);
    const OTHER: FlowKey = FlowKey(8);

    /// A point with a first window of three frames that has started `FLOW`, and sends as many frames as it may.
    fn sent_first_window() -> Rp {
        let config = config::<Ndp>("", &[("initial_window", count(3))]);
        let mut rp = Rp::new(&config, BitRate::from_gbps(100));
        assert!(!rp.granted(), "no flow has started");
        rp.on_start(at(0), FLOW, &mut Middle, &mut Sent::default());
        assert_eq!(send_all(&mut rp, 0), 3);
        rp
    }

    fn send_all(rp: &mut Rp, us: u64) -> u32 {
        let mut sent = 0;
        while rp.granted() {
            let frame = Release { flow: FLOW, octets: 1500, seq: Octets(0), last: false };
            rp.on_send(at(us), frame, &mut Middle, &mut Sent::default());
            sent += 1;
        }
        sent
    }

    fn hear(rp: &mut Rp, us: u64, flow: FlowKey, number: u32, frames: u32) -> u32 {
        rp.on_signal(at(us), flow, Pull { number, frames }, &mut Middle, &mut Sent::default());
        send_all(rp, us)
    }

    #[test]
    fn a_frame_goes_for_each_pull() {
        let mut rp = sent_first_window();
        assert_eq!(hear(&mut rp, 10, FLOW, 1, 1), 1);
        // Pull 2 is lost: the third stands for both. One that comes late brings nothing.
        assert_eq!(hear(&mut rp, 20, FLOW, 3, 1), 2);
        assert_eq!(hear(&mut rp, 21, FLOW, 2, 1), 0);
        // The last pull restores the first window, and no more than that.
        rp.on_signal(at(30), FLOW, Pull { number: 9, frames: 6 }, &mut Middle, &mut Sent::default());
        assert_eq!((rp.credit, rp.unanswered), (3, 0));
    }

    /// Counts of two flows cannot be distinguished, so that each pull is worth its own frames.
    #[test]
    fn flows_that_share_a_point_share_its_credit() {
        let mut rp = sent_first_window();
        rp.on_start(at(1), OTHER, &mut Middle, &mut Sent::default());
        assert_eq!(send_all(&mut rp, 1), 3);
        assert_eq!(hear(&mut rp, 10, FLOW, 5, 1), 1);
        assert_eq!(hear(&mut rp, 11, OTHER, 1, 1), 1);
        // One of them stops: no more than the other's window may go at once.
        rp.on_signal(at(12), FLOW, Pull { number: 11, frames: 6 }, &mut Middle, &mut Sent::default());
        assert_eq!(rp.credit, 6);
        rp.on_stop(at(13), OTHER);
        assert_eq!(rp.credit, 3);
    }

    #[test]
    fn a_source_that_hears_nothing_sends_a_frame() {
        let mut rp = sent_first_window();
        assert_eq!(rp.next_timeout(), Some(at(1_000)));
        rp.on_timeout(at(999), &mut Middle, &mut Sent::default());
        assert!(!rp.granted());
        rp.on_timeout(at(1_000), &mut Middle, &mut Sent::default());
        assert_eq!(rp.next_timeout(), None);
        assert_eq!((send_all(&mut rp, 1_000), rp.next_timeout()), (1, Some(at(2_000))));
        rp.on_stop(at(1_500), FLOW);
        assert_eq!(rp.next_timeout(), None);
    }

    /// Three frames come, the first two as headers. Turns pull one frame each, at first for a frame of unknown length.
    #[test]
    fn every_frame_that_comes_is_owed_a_pull() {
        let (mut np, mut sent) = (Np::new(&config::<Ndp>("", &[]), FLOW), Sent::default());
        let turn = |np: &mut Np, sent: &mut Sent<Ndp>| np.grant(at(1), BitRate::from_gbps(10), &mut Middle, sent);
        assert_eq!((np.asks(), turn(&mut np, &mut sent)), (false, 0));
        let come = |np: &mut Np, octets, trimmed| {
            let mut tag = ();
            let frame = Frame { octets, trimmed, ..frame_of(FLOW, at(0), &mut tag) };
            np.on_frame(at(0), frame, &mut Middle, &mut Sent::default());
        };
        come(&mut np, 64, true);
        come(&mut np, 64, true);
        assert_eq!(turn(&mut np, &mut sent), UNKNOWN);
        come(&mut np, 1062, false);
        assert_eq!((turn(&mut np, &mut sent), np.asks()), (1062, true));
        come(&mut np, 300, false);
        // All has come: what is owed goes at once.
        np.on_complete(at(3), &mut sent);
        np.on_complete(at(3), &mut sent);
        let pulls: Vec<_> = sent.0.iter().map(|(to, pull)| (*to, pull.number, pull.frames)).collect();
        assert_eq!(pulls, [(1, 1), (2, 1), (4, 2)].map(|(number, frames)| (To::Source(FLOW), number, frames)));
        assert!(!np.asks());
    }
}
