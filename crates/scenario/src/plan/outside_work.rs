//! Messages from outside: a program sends them while the run goes on, and takes what happens to them.
//!
//! The program and the engine share a [`State`]. The program adds messages and alarms between two slices. The engine
//! begins them, and notes what has happened at an instant; then the run pauses until the program has taken all of it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use penstock_jobs::{Local, Rank};
use penstock_schemes::{BitRate, Duration, Instant, Octets};
use penstock_sim::network::{Begun, Message, MessageAccount, Network, Work};
use penstock_sim::outcome::JobOutcome;

use super::generated_flows::{GeneratedFlows, Inner};
use super::jobs::Job;
use super::jobs_at_work::JobsAtWork;

/// The most octets of a message, and of all messages of a connection together.
pub const MOST_OCTETS: u64 = 1 << 62;

/// What happens to messages and alarms from outside. At one instant the events of an earlier call come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// The last octet of the message with this number is at its receiver.
    Delivered(u64),
    /// The sender of the message with this number has its acknowledgement. Without a transport, and inside of a host,
    /// it has it at once.
    Acknowledged(u64),
    /// The alarm with this number goes off.
    Alarm(u64),
}

/// The program's half of a run with messages from outside.
#[derive(Debug, Clone)]
pub struct Outside {
    state: Arc<Mutex<State>>,
    /// The host of each rank, a node's index.
    hosts: Vec<usize>,
}

/// A message, as the program has sent it.
#[derive(Debug, Clone, Copy)]
struct Sent {
    /// The number of the call, and the number that the program gave it.
    call: u64,
    id: u64,
    from: Rank,
    to: Rank,
    size: Octets,
}

/// What the two halves share.
#[derive(Debug, Default)]
struct State {
    calls: u64,
    /// Messages that have not begun.
    sent: Vec<Sent>,
    /// Alarms and the ends of messages inside of hosts: when, the number of the call, and what happens then.
    timers: BinaryHeap<Reverse<(Instant, u64, Event)>>,
    /// What has happened at this instant, and was not taken.
    happened: BinaryHeap<Reverse<(u64, Event)>>,
    /// Messages in the network: call, number, and how many events are still to come.
    under_way: BTreeMap<u32, (u64, u64, u8)>,
    /// Octets of each connection so far.
    octets: BTreeMap<(Rank, Rank), u64>,
}

impl Outside {
    /// The host of each rank, a node's index.
    #[must_use]
    pub fn hosts(&self) -> &[usize] {
        &self.hosts
    }

    /// At the next slice the message `id` of `octets` begins, after those that were sent before from the same rank to
    /// the same other one.
    ///
    /// # Errors
    /// A sentence, if there is no such rank, if it is one alone, or if the octets are none or too many.
    pub fn send(&self, from: u32, to: u32, octets: u64, id: u64) -> Result<(), String> {
        let ranks = self.hosts.len();
        if let Some(rank) = [from, to].into_iter().find(|&rank| rank as usize >= ranks) {
            return Err(format!("there is no rank {rank}: ranks are 0 to {}", ranks.saturating_sub(1)));
        }
        if from == to {
            return Err(format!("rank {from} would send to itself: name another receiver"));
        }
        if octets == 0 || octets > MOST_OCTETS {
            return Err(format!("a message of {octets} octets: it has 1 to 2^62"));
        }
        let mut state = lock(&self.state);
        let before = state.octets.entry((from, to)).or_default();
        if *before + octets > MOST_OCTETS {
            return Err(format!("all messages from rank {from} to rank {to} together have at most 2^62 octets"));
        }
        *before += octets;
        let call = state.next_call();
        state.sent.push(Sent { call, id, from, to, size: Octets(octets) });
        Ok(())
    }

    /// The alarm `id` goes off `delay` after `now`, the time of the run.
    ///
    /// # Errors
    /// A sentence, if that is later than a time can be.
    pub fn schedule(&self, now: Instant, delay: Duration, id: u64) -> Result<(), String> {
        let at = now.0.checked_add(delay.0).filter(|&at| at < Instant::NEVER.0);
        let at = at.ok_or_else(|| format!("an alarm in {} ps is later than the last time there is", delay.0))?;
        let mut state = lock(&self.state);
        let call = state.next_call();
        state.timers.push(Reverse((Instant(at), call, Event::Alarm(id))));
        Ok(())
    }

    /// Takes the next event of this instant.
    pub fn take(&self) -> Option<Event> {
        lock(&self.state).happened.pop().map(|Reverse((_, event))| event)
    }

    /// Whether anything is still to happen.
    #[must_use]
    pub fn waits(&self) -> bool {
        let state = lock(&self.state);
        !(state.sent.is_empty() && state.timers.is_empty() && state.under_way.is_empty() && state.happened.is_empty())
    }
}

/// The state. A thread that ended while it held it has left it whole: no function here stops between two changes.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn next_call(&mut self) -> u64 {
        self.calls += 1;
        self.calls
    }

    /// An event of a message in the network. Whether it is its last one.
    fn happens(&mut self, number: u32, event: fn(u64) -> Event) -> bool {
        let Some((call, id, left)) = self.under_way.get_mut(&number) else { return false };
        self.happened.push(Reverse((*call, event(*id))));
        *left -= 1;
        let last = *left == 0;
        if last {
            self.under_way.remove(&number);
        }
        last
    }
}

impl GeneratedFlows {
    /// The two halves of the messages from outside in `network`: the program's, and the work of the engine, which does
    /// all jobs too. `None` if no job has its messages from outside.
    #[must_use]
    pub fn outside(&self, network: &Network) -> Option<(Outside, Box<dyn Work>)> {
        let table = self.0.outside()?;
        let job = self.0.job(table)?;
        let state = Arc::new(Mutex::new(State::default()));
        let work = OutsideWork {
            state: Arc::clone(&state),
            jobs: JobsAtWork::new(&self.0),
            generated: Arc::clone(&self.0),
            table,
            transported: network.processes.list[table].transport.is_some(),
            flows: BTreeMap::new(),
            next: job.messages(),
            free: Vec::new(),
            local_free: vec![Instant::ZERO; job.hosts().len()],
        };
        Some((Outside { state, hosts: job.hosts().to_vec() }, Box::new(work)))
    }
}

/// The engine's half.
#[derive(Debug)]
struct OutsideWork {
    state: Arc<Mutex<State>>,
    generated: Arc<Inner>,
    jobs: Option<JobsAtWork>,
    /// The table of the job from outside.
    table: usize,
    transported: bool,
    /// The flow of each connection.
    flows: BTreeMap<(Rank, Rank), u32>,
    /// The first number that no message has had, above those of flows, and those below that are free.
    next: u32,
    free: Vec<u32>,
    /// When the link of each rank to those of its host is free.
    local_free: Vec<Instant>,
}

impl OutsideWork {
    fn job(&self) -> &Job {
        self.generated.job(self.table).expect("the table is one of a job")
    }

    /// A message begins.
    fn begin(&mut self, state: &mut State, sent: Sent, now: Instant, out: &mut Vec<Begun>) {
        let Sent { call, id, from, to, size } = sent;
        let job = self.job();
        if job.hosts()[from as usize] == job.hosts()[to as usize] {
            let Local { rate_bps, latency_ps } = job.local;
            let free = &mut self.local_free[from as usize];
            *free = now.max(*free);
            if rate_bps > 0 {
                let (busy, rest) = BitRate(rate_bps).serialisation(size.0);
                *free = *free + busy + Duration(u64::from(rest > 0));
            }
            let at = *free + Duration(latency_ps);
            state.timers.push(Reverse((at, call, Event::Delivered(id))));
            state.timers.push(Reverse((at, call, Event::Acknowledged(id))));
            return;
        }
        let process = self.table as u32;
        let number = if let Some(&flow) = self.flows.get(&(from, to)) {
            let number = self.free.pop().unwrap_or(self.next);
            self.next = self.next.max(number + 1);
            out.push(Begun::Message(Message { process, flow, number, size, last: false }));
            number
        } else {
            let flow = self.flows.len() as u32;
            let connection = (from, to, 0);
            let arrival = self.job().arrival(connection, now.since(Instant::ZERO), size);
            let name = self.job().name_of_path(self.generated.name_of_table(self.table), connection, 0);
            let routes = self.generated.routes(&name, &arrival);
            let mut arrival = self.generated.begin((self.table, flow), &arrival, routes);
            arrival.stays = true;
            out.push(Begun::Flow(arrival));
            self.flows.insert((from, to), flow);
            flow
        };
        state.under_way.insert(number, (call, id, 2));
    }

    /// Something happens to a message in the network. After its last event its number may be used again, unless it is
    /// that of a flow.
    fn happens(&mut self, number: u32, event: fn(u64) -> Event) {
        let last = lock(&self.state).happens(number, event);
        if last && number >= self.job().messages() {
            self.free.push(number);
        }
    }
}

impl Work for OutsideWork {
    fn ended(&mut self, process: u32, number: u32, now: Instant, out: &mut Vec<Begun>) {
        if process as usize != self.table {
            return self.jobs.iter_mut().for_each(|jobs| jobs.ended(process, number, now, out));
        }
        self.happens(number, Event::Delivered);
        if !self.transported {
            self.happens(number, Event::Acknowledged);
        }
    }

    fn wants_notice(&self, process: u32, number: u32) -> bool {
        self.jobs.as_ref().is_some_and(|jobs| process as usize != self.table && jobs.wants_notice(process, number))
    }

    fn heard(&mut self, process: u32, number: u32, now: Instant, out: &mut Vec<Begun>) {
        self.jobs.iter_mut().for_each(|jobs| jobs.heard(process, number, now, out));
    }

    fn wants_acknowledgements(&self) -> bool {
        self.transported
    }

    fn acknowledged(&mut self, process: u32, number: u32) {
        if process as usize == self.table {
            self.happens(number, Event::Acknowledged);
        }
    }

    fn pauses(&self) -> bool {
        !lock(&self.state).happened.is_empty()
    }

    fn wake(&mut self, now: Instant, out: &mut Vec<Begun>) {
        let state = Arc::clone(&self.state);
        let mut state = lock(&state);
        for sent in std::mem::take(&mut state.sent) {
            self.begin(&mut state, sent, now, out);
        }
        while let Some(&Reverse((at, call, event))) = state.timers.peek()
            && at <= now
        {
            state.timers.pop();
            state.happened.push(Reverse((call, event)));
        }
        self.jobs.iter_mut().for_each(|jobs| jobs.wake(now, out));
    }

    fn wants_accounts(&self) -> bool {
        self.jobs.as_ref().is_some_and(Work::wants_accounts)
    }

    fn account(&mut self, process: u32, number: u32, account: MessageAccount) {
        if process as usize != self.table {
            self.jobs.iter_mut().for_each(|jobs| jobs.account(process, number, account));
        }
    }

    fn next_wake(&self) -> Option<Instant> {
        let state = lock(&self.state);
        let begins = (!state.sent.is_empty()).then_some(Instant::ZERO);
        let timer = state.timers.peek().map(|&Reverse((at, ..))| at);
        let of_jobs = self.jobs.as_ref().and_then(Work::next_wake);
        [begins, timer, of_jobs].into_iter().flatten().min()
    }

    fn is_done(&self) -> bool {
        // The program may always send more.
        false
    }

    fn outcome(&mut self) -> Vec<JobOutcome> {
        self.jobs.as_mut().map_or_else(Vec::new, Work::outcome)
    }
}
