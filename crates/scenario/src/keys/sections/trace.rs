//! The keys of `[[trace]]`: flows that are listed, a line each.

use penstock_schemes::Octets;

use super::{AckClass, Carried, LONGEST_FRAME, TransportName};
use crate::keys::declare::section;
use crate::keys::fields::{Either, Lines};

section! {
    /// Flows that are listed a line each, such as those of another simulator or of a measurement. Results aggregate them, as those of
    /// a load; if a scenario has any, no fair share is computed.
    pub(crate) struct Trace {
        /// Name of the trace; its flows are NAME.0, NAME.1, … in the order of their starts, unless they have names.
        name: Option<String> => "trace0, trace1, … in the order of the file";
        /// The flows, as lines of text between ''' and '''. The first line names the columns, with commas between: from, to, size
        /// and start, in any order, and name if the flows have names. Each further line is a flow, as in "h0, h1, 10 KB, 1 us".
        /// Empty lines, and those that begin with #, are ignored. Flows that start after the end of the run are left out.
        flows: Lines;
        /// The transport of the flows: as for a flow.
        transport: Carried = Either::First(TransportName(None));
        /// Priority of a transport's acknowledgements: as for a flow.
        acks: Option<Either<AckClass, u8>> [((), 0..=7)] => "that of the flows' data, where they have a transport";
        /// Length of a frame: as for a flow.
        frame: Option<Octets> [Octets(64)..=LONGEST_FRAME] => "that around a full segment of the transport; without one 1500 octets";
        /// Whether the scheme limits the flows.
        controlled: bool = true;
        /// Priority of the flows' frames, 0 to 7.
        priority: u8 [0..=7] = 0;
        /// Weight, for schemes that know weights.
        weight: u16 [1..=65_535] = 1;
    }
}
