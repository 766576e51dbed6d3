//! Work: flows that begin because others have ended, with times computed by hand.

use std::collections::BTreeMap;

use crate::common::Looking;
use penstock_schemes::none::{Config, NoControl};
use penstock_schemes::{BitRate, Duration, Instant, Octets};
use penstock_sim::network::*;
use penstock_sim::outcome::{JobOutcome, Span};
use penstock_sim::{Lean, Outcome, Sim};

const GBPS_10: BitRate = BitRate(10_000_000_000);
/// A frame of 1500 octets at 10 Gb/s, ps.
const FRAME: u64 = 1_200_000;
/// The time that a frame takes over both links of the star, with 1 us each, ps.
const WAY: u64 = 2 * (FRAME + 1_000_000);

/// A ring of `hosts` ranks. Each sends a message to the next one at the start, and passes on what it gets, `steps` times in all. It
/// computes for a time before each but the first.
#[derive(Debug)]
struct Ring {
    hosts: u32,
    steps: u32,
    size: Octets,
    compute: u64,
    /// Messages that begin, by time.
    due: BTreeMap<u64, Vec<u32>>,
    left: u32,
    path: Vec<Vec<(PortId, PortId)>>,
    /// The messages of a rank are one flow.
    kept: bool,
    ended: Vec<Span>,
}

impl Ring {
    fn new(b: &Builder, hosts: usize, steps: u32, size: Octets, compute: u64) -> Self {
        let link = |a: usize, b_: usize| (b.port(a, b_), b.port(b_, a));
        Self {
            hosts: hosts as u32,
            steps,
            size,
            compute,
            due: BTreeMap::from([(0, (0..hosts as u32).collect())]),
            left: hosts as u32 * steps,
            path: (0..hosts).map(|from| vec![link(from, hosts), link(hosts, (from + 1) % hosts)]).collect(),
            kept: false,
            ended: Vec::new(),
        }
    }

    /// Message `number` is of step `number / hosts`, from rank `number % hosts`.
    fn begin(&self, number: u32, start: Instant) -> Begun {
        let (step, flow) = (number / self.hosts, number % self.hosts);
        if self.kept && step > 0 {
            let last = step + 1 == self.steps;
            return Begun::Message(Message { process: 0, flow, number, size: self.size, last });
        }
        Begun::Flow(Arrival {
            process: 0,
            number,
            start,
            size: self.size,
            stays: self.kept && self.steps > 1,
            path: self.path[(number % self.hosts) as usize].clone(),
            tree: Vec::new(),
            later: Vec::new(),
            reaction_point: None,
        })
    }
}

impl Work for Ring {
    fn ended(&mut self, process: u32, number: u32, now: Instant, _out: &mut Vec<Begun>) {
        assert_eq!(process, 0);
        self.left -= 1;
        let (step, to) = (number / self.hosts, (number % self.hosts + 1) % self.hosts);
        self.ended.push(Span { rank: to, iteration: step, node: None, begin: now, end: now, after: None });
        if step + 1 < self.steps {
            self.due.entry(now.0 + self.compute).or_default().push((step + 1) * self.hosts + to);
        }
    }

    fn wake(&mut self, now: Instant, out: &mut Vec<Begun>) {
        while let Some(entry) = self.due.first_entry().filter(|entry| *entry.key() <= now.0) {
            let numbers = entry.remove();
            out.extend(numbers.into_iter().map(|number| self.begin(number, now)));
        }
    }

    fn next_wake(&self) -> Option<Instant> {
        self.due.keys().next().map(|&at| Instant(at))
    }

    fn is_done(&self) -> bool {
        self.left == 0
    }

    fn outcome(&mut self) -> Vec<JobOutcome> {
        vec![JobOutcome { done: self.left == 0, spans: std::mem::take(&mut self.ended), ..JobOutcome::default() }]
    }
}

/// The star around switch `hosts`, and the process of a ring's messages.
fn star(hosts: usize, steps: u32) -> Builder {
    let mut b = Builder::new(hosts, 1);
    for host in 0..hosts {
        b.link(host, hosts, GBPS_10, Duration::from_us(1), Octets(1_000_000));
    }
    b.network.priorities = vec![0];
    b.network.until_complete = true;
    let mut limiters = vec![0; b.network.ports.len()];
    let sources: Vec<PortId> = (0..hosts).map(|host| b.port(host, hosts)).collect();
    sources.iter().for_each(|port| limiters[port.index()] = steps);
    b.network.processes = Processes {
        list: vec![Process {
            flows: steps * hosts as u32,
            priority: 0,
            frame: 1500,
            weight: 1,
            transport: None,
            limiting: Limiting::Uncontrolled,
            links: Vec::new(),
            span: Duration::ZERO,
            of_work: true,
        }],
        longest_path: 2,
        most_hops: 2,
        sources,
        limiters,
        ..Processes::default()
    };
    b
}

/// The outcome, the time reached, and the slots that there were.
fn run(hosts: usize, steps: u32, compute: u64, slice: Option<u64>) -> (Outcome, Instant, usize) {
    run_of(hosts, steps, compute, slice, false)
}

/// The same; with `kept` connections the messages of a rank are one flow.
fn run_of(hosts: usize, steps: u32, compute: u64, slice: Option<u64>, kept: bool) -> (Outcome, Instant, usize) {
    let b = star(hosts, steps);
    let mut sim = Sim::<NoControl, _, Lean>::new(&b.network, &[Config {}], 1, Looking::none());
    let ring = Ring { kept, ..Ring::new(&b, hosts, steps, Octets(15_000), compute) };
    sim.employ(Box::new(ring));
    let end = Instant(1_000_000_000_000);
    match slice {
        None => sim.run_until(end),
        Some(work) => while !sim.run_slice(end, work) {},
    }
    let (now, slots) = (sim.now(), sim.slots());
    (sim.finish().0, now, slots)
}

/// Ten frames a step, the last of which is there after nine frames and the way of one.
const STEP: u64 = 9 * FRAME + WAY;

#[test]
fn a_message_begins_when_the_one_before_has_arrived() {
    let (outcome, now, _) = run(4, 3, 0, None);
    assert_eq!(now, Instant(3 * STEP));
    let job = &outcome.jobs[0];
    assert!(job.done);
    let ends: Vec<(u32, u32, u64)> = job.spans.iter().map(|span| (span.iteration, span.rank, span.end.0)).collect();
    let by_number =
        (0..3).flat_map(|step| (0..4).map(move |from| (step, (from + 1) % 4, (u64::from(step) + 1) * STEP)));
    assert_eq!(ends, by_number.collect::<Vec<_>>());
    assert_eq!(outcome.ends.iter().map(|end| end.completed.0).max(), Some(3 * STEP));
    assert_eq!(outcome.totals.frames_sent, 4 * 3 * 10);
}

#[test]
fn a_computation_is_between_them() {
    let (_, now, _) = run(4, 3, 5_000_000, None);
    assert_eq!(now, Instant(3 * STEP + 2 * 5_000_000));
}

#[test]
fn a_run_that_is_too_short_keeps_what_was_done() {
    let b = star(4, 3);
    let mut sim = Sim::<NoControl, _, Lean>::new(&b.network, &[Config {}], 1, Looking::none());
    sim.employ(Box::new(Ring::new(&b, 4, 3, Octets(15_000), 0)));
    sim.run_until(Instant(STEP + 1));
    assert!(!sim.is_over());
    let job = sim.finish().0.jobs.remove(0);
    assert_eq!((job.done, job.spans.len()), (false, 4));
}

#[test]
fn slots_are_used_again() {
    let (outcome, now, slots) = run(8, 1000, 0, None);
    assert_eq!((now, outcome.ends.len()), (Instant(1000 * STEP), 8000));
    assert!(slots < 400, "{slots} slots for 8 messages at a time");
}

#[test]
fn slices_change_nothing() {
    let whole = run(8, 50, 3_000, None);
    for slice in [1, 7, 100] {
        assert_eq!(run(8, 50, 3_000, Some(slice)), whole);
    }
}

#[test]
fn a_flow_that_stays_has_one_message_after_the_other() {
    let (single, now, _) = run(4, 3, 5_000_000, None);
    let (kept, kept_now, slots) = run_of(4, 3, 5_000_000, None, true);
    assert_eq!((kept_now, slots), (now, 4));
    assert_eq!((&kept.jobs, kept.totals.frames_sent), (&single.jobs, 4 * 3 * 10));
    for slice in [1, 7, 100] {
        assert_eq!(run_of(4, 3, 5_000_000, Some(slice), true), (kept.clone(), now, 4));
    }
}

/// Messages of one flow that begin together, each of ten frames.
#[derive(Debug)]
struct AtOnce {
    path: Vec<(PortId, PortId)>,
    kept: bool,
    begun: bool,
    ends: Vec<(u32, u64)>,
}

impl Work for AtOnce {
    fn ended(&mut self, _: u32, number: u32, now: Instant, _: &mut Vec<Begun>) {
        self.ends.push((number, now.0));
    }

    fn wake(&mut self, start: Instant, out: &mut Vec<Begun>) {
        self.begun = true;
        let (process, size) = (0, Octets(15_000));
        let flow = |number, stays| {
            let (path, tree, later) = (self.path.clone(), Vec::new(), Vec::new());
            Begun::Flow(Arrival { process, number, start, size, stays, path, tree, later, reaction_point: None })
        };
        out.push(flow(0, self.kept));
        out.push(if self.kept {
            Begun::Message(Message { process, flow: 0, number: 1, size, last: true })
        } else {
            flow(1, false)
        });
    }

    fn next_wake(&self) -> Option<Instant> {
        (!self.begun).then_some(Instant(0))
    }

    fn is_done(&self) -> bool {
        self.ends.len() == 2
    }

    fn outcome(&mut self) -> Vec<JobOutcome> {
        let span = |&(number, at): &(u32, u64)| Span {
            rank: number,
            iteration: 0,
            node: None,
            begin: Instant(0),
            end: Instant(at),
            after: None,
        };
        vec![JobOutcome { spans: self.ends.iter().map(span).collect(), ..JobOutcome::default() }]
    }
}

#[test]
fn messages_of_a_flow_that_stays_keep_their_order_and_others_share_the_line() {
    let ends = |kept| {
        let b = star(2, 2);
        let mut sim = Sim::<NoControl, _, Lean>::new(&b.network, &[Config {}], 1, Looking::none());
        let path = vec![(b.port(0, 2), b.port(2, 0)), (b.port(2, 1), b.port(1, 2))];
        sim.employ(Box::new(AtOnce { path, kept, begun: false, ends: Vec::new() }));
        sim.run_until(Instant(1_000_000_000_000));
        let job = sim.finish().0.jobs.remove(0);
        job.spans.iter().map(|span| (span.rank, span.end.0)).collect::<Vec<_>>()
    };
    assert_eq!(ends(true), [(0, STEP), (1, STEP + 10 * FRAME)]);
    // Frame after frame in turn: the last but one of both is the last of a message.
    assert_eq!(ends(false), [(0, STEP + 9 * FRAME), (1, STEP + 10 * FRAME)]);
}
