//! The actions of schemes in a run: each scheme declares its own, the engine counts them.

use penstock_scenario::Plan;
use penstock_schemes::Action;
use penstock_sim::outcome::Totals;
use serde::{Deserialize, Serialize};

use crate::schema::{Key, Object, Shape, Shaped, record};

record! {
    /// How often the scheme took each action that it declares; no key for one that it does not. Several schemes are counted together.
    Actions {
        /// Frames that reached a destination with a mark of congestion.
        marks: Option<u64>, "frames", unless "Option::is_none";
        /// Frames that were cut down to their headers.
        trims: Option<u64>, "frames", unless "Option::is_none";
        /// Frames that were moved to another queue.
        moves: Option<u64>, "frames", unless "Option::is_none";
        /// Signals that reached the congestion point of the previous hop, or the source.
        neighbour_messages: Option<u64>, "frames", unless "Option::is_none";
        /// Congestion signals that reached a source.
        notifications: Option<u64>, "frames", unless "Option::is_none";
        /// Probes that came back to their source.
        replies: Option<u64>, "frames", unless "Option::is_none";
        /// Changes of a reaction point's rate or window that lowered it.
        cuts: Option<u64>, "", unless "Option::is_none";
        /// Changes of a reaction point's rate or window that raised it.
        raises: Option<u64>, "", unless "Option::is_none";
    }
}

impl Actions {
    /// How often an action was taken; `None` where no scheme declares it.
    #[must_use]
    pub const fn of(&self, action: Action) -> Option<u64> {
        match action {
            Action::Marks => self.marks,
            Action::Trims => self.trims,
            Action::Moves => self.moves,
            Action::NeighbourMessages => self.neighbour_messages,
            Action::Notifications => self.notifications,
            Action::Replies => self.replies,
            Action::Cuts => self.cuts,
            Action::Raises => self.raises,
        }
    }
}

/// The actions of the plan's schemes, each once, in the order from congestion to its effect.
fn declared(plan: &Plan) -> impl Iterator<Item = Action> + '_ {
    let of_some = |action: &Action| plan.schemes.iter().any(|own| own.config.info().actions.contains(action));
    Action::ALL.iter().copied().filter(of_some)
}

/// How often an action was taken.
fn count(action: Action, totals: &Totals) -> u64 {
    match action {
        Action::Notifications => totals.feedback_frames - totals.probes_returned,
        Action::Replies => totals.probes_returned,
        Action::NeighbourMessages => totals.signals_to_previous_hops,
        Action::Marks => totals.frames_marked,
        Action::Trims => totals.frames_trimmed,
        Action::Moves => totals.frames_moved,
        Action::Cuts => totals.cuts,
        Action::Raises => totals.raises,
    }
}

/// The counts of all actions that the plan's schemes declare; `None` where they declare none.
pub(crate) fn counts(plan: &Plan, totals: &Totals) -> Option<Actions> {
    let of = |action| declared(plan).find(|&other| other == action).map(|action| count(action, totals));
    declared(plan).next().map(|_| Actions {
        marks: of(Action::Marks),
        trims: of(Action::Trims),
        moves: of(Action::Moves),
        neighbour_messages: of(Action::NeighbourMessages),
        notifications: of(Action::Notifications),
        replies: of(Action::Replies),
        cuts: of(Action::Cuts),
        raises: of(Action::Raises),
    })
}

/// Whether a scheme has had an effect on traffic; `None` where none declares one. Cuts of sources that have received no signal, where the scheme
/// has messages or marks for that, are answers to losses, and no effect of it.
pub(crate) fn acted(plan: &Plan, totals: &Totals) -> Option<bool> {
    let taken = |action: &Action| count(*action, totals) > 0;
    let (effects, others): (Vec<Action>, Vec<Action>) = declared(plan).partition(|action| action.is_effect());
    let tidings: Vec<Action> = others.into_iter().filter(|&action| action != Action::Raises).collect();
    let at_switches = effects.iter().any(|action| matches!(action, Action::Trims | Action::Moves) && taken(action));
    let at_sources = effects.iter().any(taken) && (tidings.is_empty() || tidings.iter().any(taken));
    (!effects.is_empty()).then_some(at_switches || at_sources)
}
