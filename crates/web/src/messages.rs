//! The messages of jobs as they begin and end: a page draws them while the run goes on, before the table of jobs is there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use penstock_scenario::Plan;
use penstock_schemes::{Instant, Octets};
use penstock_sim::network::{Arrival, Begun, MessageAccount, PortId, Work};
use penstock_sim::outcome::JobOutcome;

/// The columns of a message: the index of its job, its number in it, the indices of the nodes that it goes from and to, its octets,
/// and when it began and ended. A message has a row when it begins, in which the end is -1, and another one when it has ended.
pub const MESSAGE_COLUMNS: &[&str] = &["job", "number", "from", "to", "octets", "begin_s", "end_s"];

/// Rows that are kept until they are taken: a page takes them some hundred times a second.
const MOST_ROWS: usize = 100_000;

/// A message over the network. Those inside of a host are none.
#[derive(Debug, Clone, Copy)]
struct Message {
    process: u32,
    number: u32,
    /// The port of its first link, and that of the way back over its last one.
    ends: (PortId, PortId),
    size: Octets,
    begin: Instant,
    end: Option<Instant>,
}

/// Messages since they were last taken.
#[derive(Debug, Clone, Default)]
pub(crate) struct Messages(Arc<Mutex<Vec<Message>>>);

impl Messages {
    /// The same work, whose messages are listed here.
    pub(crate) fn of(&self, work: Box<dyn Work>) -> Box<dyn Work> {
        Box::new(Listed { work, connections: BTreeMap::new(), under_way: BTreeMap::new(), messages: self.clone() })
    }

    fn add(&self, message: Message) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MOST_ROWS {
            kept.push(message);
        }
    }

    /// Gives the rows since the last call. Beyond [`MOST_ROWS`] the later ones are not among them.
    pub(crate) fn take(&self, plan: &Plan) -> Vec<f64> {
        let kept = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let node = |port: PortId| plan.network.ports[port.index()].node.index() as f64;
        let row = |message: Message| {
            let Message { process, number, ends, size, begin, end } = message;
            let job = plan.generated.jobs().position(|(table, _)| table == process as usize);
            let job = job.expect("messages are of jobs") as f64;
            let end_s = end.map_or(-1.0, Instant::as_seconds);
            let number = f64::from(number);
            [job, number, node(ends.0), node(ends.1), size.0 as f64, begin.as_seconds(), end_s]
        };
        kept.into_iter().flat_map(row).collect()
    }
}

/// Work that lists its messages.
#[derive(Debug)]
struct Listed {
    work: Box<dyn Work>,
    /// The ends of connections that stay, by process and number of their first message.
    connections: BTreeMap<(u32, u32), (PortId, PortId)>,
    /// By process and number.
    under_way: BTreeMap<(u32, u32), Message>,
    messages: Messages,
}

impl Listed {
    fn begin(&mut self, now: Instant, begun: &[Begun]) {
        for begun in begun {
            let (process, number, ends, size, begin) = match begun {
                Begun::Flow(arrival) => {
                    let (Some(first), Some(last)) = (arrival.path.first(), arrival.path.last()) else { continue };
                    let Arrival { process, number, start, size, .. } = *arrival;
                    if arrival.stays {
                        self.connections.insert((process, number), (first.0, last.1));
                    }
                    (process, number, (first.0, last.1), size, start)
                }
                Begun::Message(message) => {
                    let connection = (message.process, message.flow);
                    let Some(&ends) = self.connections.get(&connection) else { continue };
                    if message.last {
                        self.connections.remove(&connection);
                    }
                    (message.process, message.number, ends, message.size, now)
                }
            };
            let message = Message { process, number, ends, size, begin, end: None };
            self.under_way.insert((process, number), message);
            self.messages.add(message);
        }
    }
}

impl Work for Listed {
    fn ended(&mut self, process: u32, number: u32, now: Instant, out: &mut Vec<Begun>) {
        if let Some(message) = self.under_way.remove(&(process, number)) {
            self.messages.add(Message { end: Some(now), ..message });
        }
        let before = out.len();
        self.work.ended(process, number, now, out);
        self.begin(now, &out[before..]);
    }

    fn wants_notice(&self, process: u32, number: u32) -> bool {
        self.work.wants_notice(process, number)
    }

    fn heard(&mut self, process: u32, number: u32, now: Instant, out: &mut Vec<Begun>) {
        let before = out.len();
        self.work.heard(process, number, now, out);
        self.begin(now, &out[before..]);
    }

    fn wake(&mut self, now: Instant, out: &mut Vec<Begun>) {
        let before = out.len();
        self.work.wake(now, out);
        self.begin(now, &out[before..]);
    }

    fn wants_accounts(&self) -> bool {
        self.work.wants_accounts()
    }

    fn account(&mut self, process: u32, number: u32, account: MessageAccount) {
        self.work.account(process, number, account);
    }

    fn next_wake(&self) -> Option<Instant> {
        self.work.next_wake()
    }

    fn is_done(&self) -> bool {
        self.work.is_done()
    }

    fn outcome(&mut self) -> Vec<JobOutcome> {
        self.work.outcome()
    }
}
