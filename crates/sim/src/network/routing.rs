//! Routes that flows have later, load balancing, and the order of frames that arrive at one instant.

use penstock_endpoint::entropy_states::Profile;
use penstock_schemes::{Duration, Instant};

use crate::network::{FlowId, HopId, Network};

/// How switches spread the frames of a flow over several paths. The route of such a flow is a tree whose leaves all lead
/// to its one destination. Frames of switches and destinations go back over the links of the first of its paths that
/// passes there: that of the first child behind each hop.
#[derive(Debug, Clone)]
pub struct Multipath {
    /// How a switch chooses.
    pub by: PathChoice,
    /// The entropy values of each flow, where it has a list of them; else it uses those that were answered again. ([`PathChoice::Entropy`])
    pub profile: Option<Profile>,
    /// Seed of the hash by which flowlets find their paths.
    pub seed: u64,
    /// The hops behind which a frame takes one of the hops that follow, ascending. Behind all others each that follows gets a copy.
    pub hops: Vec<HopId>,
}

/// How a switch chooses one of several ports for a frame. A port whose line is broken is no choice as long as there is another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathChoice {
    /// By a hash of the flow, the switch and the number of the flowlet; the first takes the first path. A frame that comes so long after the last
    /// one of its flow at this switch, or longer, begins a flowlet.
    Flowlet(Duration),
    /// Each frame takes the port that was chosen the longest ago: turns, where all flows of the switch have the same ports to choose among.
    Turns,
    /// Each frame takes a random one.
    Random,
    /// Each frame takes the port with the fewest octets in its data queues; of several a random one.
    Queue,
    /// Each flowlet does.
    QueueOfFlowlet(Duration),
    /// By a hash of the switch, the flow and the frame's entropy value, which its source chooses: see [`entropy`](penstock_endpoint::entropy).
    /// The flows have transports.
    Entropy,
    /// By the number that the frame's entropy value is: its remainder by the number of ports chooses one, broken or not, and the quotient is left to
    /// the switches that follow. The flows have transports.
    Number,
}

impl PathChoice {
    /// Whether frames of a flow may overtake one another, however far apart they are sent.
    #[must_use]
    pub fn disorders(self) -> bool {
        !matches!(self, Self::Flowlet(_) | Self::QueueOfFlowlet(_))
    }
}

/// The order in which a switch takes frames that arrive over several of its lines at one instant. Where they are bound for one full
/// queue it decides which of them are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ties {
    /// That of the numbers of the ports that send them: the order of nodes and links in the scenario.
    #[default]
    Number,
    /// Each queue goes round its switch's inputs, from the one after the input whose frame it took last.
    InTurn,
    /// Another one at each instant, as if drawn, by the seed of the run.
    Drawn,
}

/// A flow has another route, from a time at which switches know of a line that broke or is whole again. Frames in flight take it from the
/// switch on at which it parts from the one before.
#[derive(Debug, Clone, Copy)]
pub struct Reroute {
    /// When.
    pub at: Instant,
    /// The flow, which has one destination.
    pub flow: FlowId,
    /// Its first hop from then on, over the same port.
    pub root: HopId,
    /// The first hop of acknowledgements, where it has a transport.
    pub reverse_path: Option<HopId>,
}

impl Network {
    /// Every route of every flow, those that flows have later with them.
    pub fn routes(&self) -> impl Iterator<Item = (FlowId, HopId)> + '_ {
        let first = (0..).map(FlowId).zip(&self.flows).map(|(id, flow)| (id, flow.root));
        first.chain(self.reroutes.iter().map(|reroute| (reroute.flow, reroute.root)))
    }
}
