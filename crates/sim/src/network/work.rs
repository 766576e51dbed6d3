//! Work: flows that begin because others have ended, and what is known of it at the end of a run.

use std::any::Any;
use std::fmt::Debug;

use penstock_endpoint::PortId;
use penstock_schemes::{BitRate, Duration, Instant, Octets};

use crate::network::Arrival;

/// Work that sends messages: one begins because others have ended, or because a time has come. It keeps no clock: it is called
/// at the instants that it names, and when its messages end.
pub trait Work: Any + Debug + Send {
    /// The last octet of this message of a process has reached its destination: `number` is that of its [`Arrival`] or [`Message`].
    /// Messages that begin now are added to `out`. Of those that end at one instant those of a lower process, and then of a lower
    /// number, come first.
    fn ended(&mut self, process: u32, number: u32, now: Instant, out: &mut Vec<Begun>);

    /// Whether the sender of this message is to hear of its end.
    fn wants_notice(&self, _process: u32, _number: u32) -> bool {
        false
    }

    /// The sender of this message hears that it has ended: after [`ended`](Self::ended) by the delays of the lines back to it. At one
    /// instant the calls of `ended` come first, and then these, in the same order. Messages that begin now are added to `out`.
    fn heard(&mut self, _process: u32, _number: u32, _now: Instant, _out: &mut Vec<Begun>) {}

    /// A message began at `at` in another part of the network, whose destination is in this one.
    fn begins_elsewhere(&mut self, _begun: &Begun, _at: Instant) {}

    /// Takes the work of another part of the network, after the run and before [`outcome`](Self::outcome).
    ///
    /// # Panics
    /// If it is not work that parts can have.
    fn absorb(&mut self, _other: Box<dyn Any>) {
        panic!("work of a network that is simulated as a whole");
    }

    /// The time of [`next_wake`](Self::next_wake) has come. Messages that begin now are added to `out`.
    fn wake(&mut self, now: Instant, out: &mut Vec<Begun>);

    /// Whether it wants the account of each message.
    fn wants_accounts(&self) -> bool {
        false
    }

    /// The account of a message that has ended, when all queues of its path have been read. In a network in parts it is called in that of the sender.
    fn account(&mut self, _process: u32, _number: u32, _account: MessageAccount) {}

    /// Whether it is called when a transport's sender has learnt that a message has arrived. The engine with [`Full`](crate::Full)
    /// alone can do that.
    fn wants_acknowledgements(&self) -> bool {
        false
    }

    /// The sender of a message has the acknowledgement of its last octet: later than [`ended`](Self::ended), and with the same numbers.
    /// Messages without a transport have none.
    fn acknowledged(&mut self, _process: u32, _number: u32) {}

    /// Whether the run stops here, between two events, for its caller: the slice ends, and the next one goes on.
    fn pauses(&self) -> bool {
        false
    }

    /// When it goes on even if no message ends.
    fn next_wake(&self) -> Option<Instant>;

    /// Whether all of it has been done.
    fn is_done(&self) -> bool;

    /// The result of each job at the end of the run. Called once.
    fn outcome(&mut self) -> Vec<JobOutcome>;
}

/// A message that begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// A flow of one message, or the first message of a flow that stays.
    Flow(Arrival),
    /// One message more of a flow that stays.
    Message(Message),
}

impl Begun {
    /// Its process, and its number there.
    #[must_use]
    pub fn message(&self) -> (u32, u32) {
        match self {
            Self::Flow(arrival) => (arrival.process, arrival.number),
            Self::Message(message) => (message.process, message.number),
        }
    }
}

/// A message of a flow that [stays](Arrival::stays). It is sent after those of the flow that began before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Which process.
    pub process: u32,
    /// The number of the flow's [`Arrival`].
    pub flow: u32,
    /// Its number. No other message of the process has it, and no flow.
    pub number: u32,
    /// Octets to send.
    pub size: Octets,
    /// The flow ends with it.
    pub last: bool,
}

/// How long the last frame of a message was on its path, where octets waited while it was under way, and how fast it might go. A
/// queue is looked at from when a first octet can be there, until the news of the end can be there on its way back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MessageAccount {
    /// From the time at which the frame was sent that ended it to that end.
    pub last: Duration,
    /// How long priority flow control stopped the port of its host.
    pub stopped: Duration,
    /// The port of its path at which an octet waited longest; `None` if it waited at none.
    pub port: Option<PortId>,
    /// The mean wait of an octet there, pauses included.
    pub at_port: Duration,
    /// The mean waits at all ports of the path together, pauses included.
    pub waited: Duration,
    /// The part of them in which priority flow control stopped the queue.
    pub paused: Duration,
    /// The mean of the rate that its limiter allowed.
    pub rate: BitRate,
    /// Segments that its connection sent again in that time.
    pub retransmissions: u64,
}

/// The result of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobOutcome {
    /// The process of its messages.
    pub process: u32,
    /// Whether all of it had been done by the end of the run.
    pub done: bool,
    /// What its ranks have ended, in the order of the ends.
    pub spans: Vec<Span>,
    /// For each rank how long it computed.
    pub computed: Vec<Duration>,
    /// The slowest path: the pieces that determined the end of the job, from its start on and without a gap. Empty if the job has not ended, or
    /// has too many messages.
    pub path: Vec<PathPiece>,
    /// When its messages were under way over each link, port by port and in the order of time.
    pub links: Vec<LinkSpan>,
    /// What had not ended by the end of the run, and why: a sentence each, of no more than a few.
    pub waiting: Vec<String>,
}

/// A time in which messages of a job were under way over a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkSpan {
    /// The port at its begin.
    pub port: PortId,
    /// When the first of them began.
    pub begin: Instant,
    /// When the last one's end was at its receiver.
    pub end: Instant,
}

/// A piece of the slowest path of a job: a computation, a delay or a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathPiece {
    /// The iteration, from 0 on.
    pub iteration: u32,
    /// The node of the job's graph: of a message that of its sender.
    pub node: u32,
    /// When it began; a message when it could begin.
    pub begin: Instant,
    /// When it ended.
    pub end: Instant,
    /// The message, if it is one.
    pub message: Option<SentOnPath>,
}

/// A message of a slowest path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentOnPath {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// Octets.
    pub size: Octets,
    /// Its account; `None` if it stayed inside of a host.
    pub account: Option<MessageAccount>,
}

/// Something that a rank of a job has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The rank.
    pub rank: u32,
    /// The iteration, from 0 on.
    pub iteration: u32,
    /// The node of the job's graph; `None` for the whole iteration.
    pub node: Option<u32>,
    /// When it began.
    pub begin: Instant,
    /// When it ended.
    pub end: Instant,
    /// The node whose end let it begin, the last of those that it waited for.
    pub after: Option<u32>,
}
