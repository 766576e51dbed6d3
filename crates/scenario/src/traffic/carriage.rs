//! The transport of flows, the class of its acknowledgements, and the frames that it makes.

use std::collections::BTreeSet;

use penstock_endpoint::transport::Transport;
use penstock_schemes::Octets;
use penstock_sim::longest_frame;

use super::{Destination, FlowSpec};
use crate::error::Fault;
use crate::fields::Either;
use crate::made::Counted;
use crate::read::Entry;
use crate::sections::{self, AckClass, Carried, Experiment, LONGEST_FRAME};

/// The key `acks`.
type Acks = Entry<Option<Either<AckClass, u8>>>;

/// The transport, and the priority of acknowledgements (`None`: control frames); the key `acks` then has its value.
pub(super) fn transport(
    transport: &mut Entry<Carried>,
    acks: &mut Acks,
    priority: u8,
) -> Result<Option<(Transport, Option<u8>)>, Fault> {
    let Some(transport) = sections::transport(transport)? else {
        if acks.is_some() {
            let message = "a flow without transport has no acknowledgements";
            return Err(acks.fault(message).with_hint("add for instance transport = \"tcp\""));
        }
        return Ok(None);
    };
    let class = match acks.fill(Either::Second(priority)) {
        Either::First(AckClass::Control) => None,
        Either::Second(priority) => Some(priority),
    };
    Ok(Some((transport, class)))
}

/// The length of frames; the key `frame` then has it.
pub(super) fn frame(
    frame: &mut Entry<Option<Octets>>,
    key: &Entry<Carried>,
    transport: Option<&Transport>,
) -> Result<Octets, Fault> {
    let Some(transport) = transport else { return Ok(frame.fill(Octets(1500))) };
    let (longest, name) = (longest_frame(transport), transport.info().name);
    if longest > LONGEST_FRAME
        && let Either::Second(settings) = &**key
    {
        let message = format!("a full segment of {} makes frames of {longest}", transport.segment());
        let most = LONGEST_FRAME.0 - (longest.0 - transport.segment().0);
        return Err(settings.segment_fault(message).with_hint(format!("at most {}", Octets(most))));
    }
    if frame.is_some_and(|frame| frame != longest) {
        let message = format!("a full segment of {name} makes frames of {longest}");
        let hint = format!("leave frame out, or set {} of the transport", transport.info().segment_parameter());
        return Err(frame.fault(message).with_hint(hint));
    }
    Ok(frame.fill(longest))
}

/// Refuses transports to groups, and acknowledgements in a priority that no flow has.
pub(super) fn check_acks(experiment: &Experiment, flows: &[FlowSpec], counted: &Counted) -> Result<(), Fault> {
    let mut priorities: BTreeSet<u8> = flows.iter().map(|flow| flow.priority).collect();
    priorities.extend(counted.tables.iter().map(|table| table.model.priority));
    let made = counted.tables.iter().map(|table| (table.model.origin, &table.model.transport, false));
    let to_group = |flow: &FlowSpec| matches!(flow.to, Destination::Group(_));
    for (origin, transport, to_group) in flows.iter().map(|f| (f.origin, &f.transport, to_group(f))).chain(made) {
        let Some((transport, acks)) = transport else { continue };
        if to_group {
            let message = format!("{} carries a flow to one host, not to a group", transport.info().name);
            let fault = origin.transport_fault(experiment, message);
            return Err(fault.with_hint("leave the transport out, or send to hosts"));
        }
        if let Some(priority) = acks.filter(|priority| !priorities.contains(priority)) {
            let used: Vec<String> = priorities.iter().map(u8::to_string).collect();
            let hint = format!("flows have {}; or \"control\"", used.join(", "));
            let fault = origin.acks_fault(experiment, format!("no flow has priority {priority}"));
            return Err(fault.with_hint(hint));
        }
    }
    Ok(())
}
