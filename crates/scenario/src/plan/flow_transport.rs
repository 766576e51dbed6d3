//! The transport of flows, the class of its acknowledgements, and the frames that it makes.

use penstock_endpoint::transport::Transport;
use penstock_schemes::Octets;
use penstock_sim::longest_frame;

use crate::error::Fault;
use crate::keys::fields::Either;
use crate::keys::read::Entry;
use crate::keys::sections::{AckClass, Carried, LONGEST_FRAME};

/// A transport, and the priority of its acknowledgements (`None`: control frames).
#[derive(Debug, Clone)]
pub(crate) struct Carriage {
    pub(crate) transport: Transport,
    pub(crate) acks: Option<u8>,
}

/// The transport of the flows of a table.
pub(crate) fn carriage(
    transport: &Entry<Carried>,
    acks: &Entry<Option<Either<AckClass, u8>>>,
) -> Result<Option<Carriage>, Fault> {
    let Either::Second(table) = &**transport else {
        if acks.is_some() {
            let message = "a flow without transport has no acknowledgements";
            return Err(acks.fault(message).with_hint("add for instance transport = \"tcp\""));
        }
        return Ok(None);
    };
    let transport = table.make()?;
    let acks = match **acks {
        Some(Either::Second(priority)) => Some(priority),
        Some(Either::First(AckClass::Control)) | None => None,
    };
    Ok(Some(Carriage { transport, acks }))
}

/// The length of the frames of a table.
pub(crate) fn frame(
    frame: &Entry<Option<Octets>>,
    key: &Entry<Carried>,
    carriage: Option<&Carriage>,
) -> Result<Octets, Fault> {
    let resolved = || frame.expect("a resolved table has a frame");
    let Some(Carriage { transport, .. }) = carriage else { return Ok(resolved()) };
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
    Ok(longest)
}
