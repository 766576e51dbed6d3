//! The actions of schemes in a run: each scheme declares its own, the engine counts them.

use penstock_scenario::Plan;
use penstock_schemes::Action;
use penstock_sim::outcome::Totals;

use crate::summary::ActionCount;

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

/// The counts of all actions that the plan's schemes declare.
pub(crate) fn counts(plan: &Plan, totals: &Totals) -> Vec<ActionCount> {
    declared(plan)
        .map(|action| ActionCount { action: action.name().to_owned(), count: count(action, totals) })
        .collect()
}

/// Whether a scheme has had an effect on traffic; `None` where none declares one. Cuts of sources that nobody has told anything, where the scheme
/// has messages or marks for that, are answers to losses, and no effect of it.
pub(crate) fn acted(plan: &Plan, totals: &Totals) -> Option<bool> {
    let taken = |action: &Action| count(*action, totals) > 0;
    let (effects, others): (Vec<Action>, Vec<Action>) = declared(plan).partition(|action| action.is_effect());
    let tidings: Vec<Action> = others.into_iter().filter(|&action| action != Action::Raises).collect();
    let at_switches = effects.iter().any(|action| matches!(action, Action::Trims | Action::Moves) && taken(action));
    let at_sources = effects.iter().any(taken) && (tidings.is_empty() || tidings.iter().any(taken));
    (!effects.is_empty()).then_some(at_switches || at_sources)
}
