//! `[[change]]` of a link's state: when it goes down and comes back, each time that it flaps.

use penstock_schemes::Duration;

use crate::error::Fault;
use crate::keys::fields::Either;
use crate::keys::sections::{Change, LinkState};
use crate::limits::{Bounds, CHANGES};
use crate::resolve::Resolved;

/// The states that a table gives its link before the end of the run, with their times.
pub(crate) fn states(change: &Change, end: Duration) -> Vec<(Duration, LinkState)> {
    let Some(state) = *change.state else { return Vec::new() };
    let every = change.every.unwrap_or(Duration::ZERO);
    let begin = |number: u64| Duration(change.at.0 + number * every.0);
    let mut states = Vec::new();
    for at in (0..repetitions(change, end)).map(begin) {
        states.push((at, state));
        states.extend(change.down_for.map(|down| (at + down, LinkState::Up)));
    }
    states.retain(|&(at, _)| at < end);
    states
}

/// How often the change of a table happens before the end of the run.
fn repetitions(change: &Change, end: Duration) -> u64 {
    let end = change.until.map_or(end, |until| until.min(end));
    let within = |every: Duration| end.0.saturating_sub(change.at.0).div_ceil(every.0);
    change.every.map_or(1, within).min(change.times.unwrap_or(u64::MAX))
}

/// Refuses repetitions that say nothing, and more changes than a run may have.
pub(crate) fn check(resolved: &Resolved, bounds: &Bounds<'_>) -> Result<(), Fault> {
    if let Some(Either::Second(Either::Second(starts))) = &*resolved.network.convergence
        && *starts.uniform.minimum >= *starts.uniform.maximum
    {
        let message = format!("not above the minimum of {}", *starts.uniform.minimum);
        return Err(starts.uniform.maximum.fault(message).with_hint("for a single time, write it alone"));
    }
    let mut all: u64 = 0;
    for change in resolved.change.iter() {
        let down = *change.state == Some(LinkState::Down);
        if change.down_for.is_some() && !down {
            let message = "only a link that goes down comes back by itself";
            return Err(change.down_for.fault(message).with_hint("give it together with state = \"down\""));
        }
        if let Some(every) = *change.every {
            let Some(down) = *change.down_for else {
                let message = "a change that is repeated has to be undone in between";
                let hint = "for a link that flaps, add state = \"down\" and down_for = \"1 ms\"";
                return Err(change.every.fault(message).with_hint(hint));
            };
            if down >= every {
                let message = format!("the link would stay down for {down} of every {every}, and never come back");
                return Err(change.down_for.fault(message).with_hint(format!("less than {every}")));
            }
        }
        let (times, until) = (change.times.is_some(), change.until.is_some());
        if change.every.is_none() && (times || until) {
            let fault = |message| if times { change.times.fault(message) } else { change.until.fault(message) };
            return Err(fault("it limits repetitions, and there are none").with_hint("add every = \"10 ms\""));
        }
        all = all.saturating_add(repetitions(change, *resolved.duration).saturating_mul(2));
        bounds.check(CHANGES, all, "fewer repetitions (times)").map_err(|e| change.at.excess(e))?;
    }
    Ok(())
}
