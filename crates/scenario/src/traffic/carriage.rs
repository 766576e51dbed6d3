//! The transport of flows, the class of its acknowledgements, and the frames that it makes.

use penstock_endpoint::transport::Transport;
use penstock_schemes::Octets;
use penstock_sim::longest_frame;

use crate::error::Fault;
use crate::fields::Either;
use crate::read::Entry;
use crate::sections::{self, AckClass, Carried, LONGEST_FRAME};

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
