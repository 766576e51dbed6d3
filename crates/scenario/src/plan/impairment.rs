//! `[[impairment]]`: the links that lose frames at random.

use penstock_schemes::Instant;
use penstock_sim::network::{Errors, Impairment, PortId};

use super::links;
use crate::error::Fault;
use crate::hash::hash;
use crate::keys::fields::{Either, List};
use crate::keys::read::Entry;
use crate::keys::sections;
use crate::keys::topology::Layout;
use crate::limits::{Bounds, LINKS};
use crate::resolve::Resolved;

/// Those of a scenario, port by port in the order of their tables.
pub(crate) fn impairments(resolved: &Resolved, layout: &Layout, bounds: &Bounds<'_>) -> Result<Vec<Impairment>, Fault> {
    let mut impairments = Vec::new();
    for table in resolved.impairment.iter() {
        let (from, until) = (Instant(table.from.0), table.until.map_or(Instant::NEVER, |until| Instant(until.0)));
        let errors = errors(table)?;
        if until <= from {
            let hint = format!("it begins at {}; until must be later", *table.from);
            return Err(table.until.fault("an impairment would end before it begins").with_hint(hint));
        }
        if *table.from >= *resolved.duration {
            let message = "an impairment would begin at or after the end of the run";
            return Err(table.from.fault(message).with_hint(format!("the run ends at {}", *resolved.duration)));
        }
        let ports = ports_of(&table.links, layout)?;
        let all = (impairments.len() + ports.len()) as u64 / 2;
        bounds.check(LINKS, all, "fewer tables [[impairment]]").map_err(|e| table.links.excess(e))?;
        impairments.extend(ports.into_iter().map(|port| {
            let salt = [&resolved.seed.to_le_bytes()[..], b"impairment"].concat();
            let seed = hash(layout.port_name(port).as_bytes(), &salt);
            Impairment { port: PortId(port as u32), from, until, errors, control: *table.control, seed }
        }));
    }
    Ok(impairments)
}

/// The ports whose links a key names.
pub(crate) fn ports_of(key: &Entry<Either<sections::AllLinks, List>>, layout: &Layout) -> Result<Vec<usize>, Fault> {
    let Either::Second(links) = &**key else { return Ok((0..layout.ports.len()).collect()) };
    let mut ports = Vec::new();
    for link in links.iter() {
        let found = links::ports_of(layout, link)
            .map_err(|name| key.fault(format!("there is no link \"{link}\"")).with_hint(layout.suggest_port(&name)))?;
        if found.iter().any(|port| ports.contains(port)) {
            let message = format!("the link \"{link}\" is listed twice");
            return Err(key.fault(message).with_hint("list each direction of a link once"));
        }
        ports.extend(found);
    }
    Ok(ports)
}

fn errors(table: &sections::Impairment) -> Result<Errors, Fault> {
    match (*table.loss, *table.ber, &*table.burst) {
        (Some(loss), None, None) => Ok(Errors::Loss(loss)),
        (None, Some(ber), None) => Ok(Errors::BitErrors(ber)),
        (None, None, Some(burst)) => {
            Ok(Errors::Bursts { p: *burst.p, r: *burst.r, loss_good: *burst.loss_good, loss_bad: *burst.loss_bad })
        }
        (None, None, None) => {
            let message = "an impairment has loss, ber or burst";
            Err(table.loss.fault(message).with_hint("for instance loss = 0.001, or ber = 1e-12"))
        }
        _ => {
            let message = "an impairment has one of loss, ber and burst";
            Err(table.loss.fault(message).with_hint("for several, write several tables [[impairment]]"))
        }
    }
}
