//! The transport of flows with all of its parameters, the class of its acknowledgements, and the length of the frames that it makes.

use penstock_schemes::Octets;
use penstock_sim::longest_frame;

use crate::error::Fault;
use crate::keys::fields::Either;
use crate::keys::read::Entry;
use crate::keys::sections::{AckClass, Carried, TransportName, TransportTable};

/// Length of frames without a transport, unless the table says otherwise.
const FRAME: Octets = Octets(1500);

/// Fills the keys of a table. A frame stays as it is where the transport's parameters contradict one another; that is refused later.
pub(super) fn fill(
    transport: &mut Entry<Carried>,
    acks: &mut Entry<Option<Either<AckClass, u8>>>,
    frame: &mut Entry<Option<Octets>>,
    priority: u8,
) -> Result<(), Fault> {
    if let Either::First(TransportName(Some(info))) = **transport {
        let path = format!("{}.{}", transport.path(), info.name);
        let table = TransportTable::defaults(info, &path, transport.origin())?;
        transport.replace(Either::Second(table));
    }
    match &**transport {
        Either::First(_) => {
            frame.fill(FRAME);
        }
        Either::Second(table) => {
            acks.fill(Either::Second(priority));
            if let Ok(transport) = table.make() {
                frame.fill(longest_frame(&transport));
            }
        }
    }
    Ok(())
}
