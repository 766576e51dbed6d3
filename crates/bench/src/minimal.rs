//! The smallest programs that forward the frames of a workload: one event a hop and nothing else.
//!
//! No priorities, no finite queues, no statistics, no scheme. A source has an event for each frame that it makes. A hop's
//! one event is the arrival of the frame at the far end: since a line is first-in first-out, `free_at` fixes that moment
//! when the frame joins its queue. They are the yardstick that the engine's time is divided by; each takes the event queue
//! that suits its workload.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use penstock_schemes::units::PS_PER_S;
use penstock_sim::network::{FlowId, Network, Traffic};

/// Which event queue a minimal program has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventQueue {
    /// `std::collections::BinaryHeap`.
    Heap,
    /// A ring of time slots.
    Wheel,
}

/// Work that a minimal program has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Forwarded {
    /// Frames that crossed a link.
    pub hops: u64,
    /// Events handled.
    pub events: u64,
    /// Frames that crossed the last link of their route.
    pub delivered: u64,
}

/// Forwards the frames of `network` until `end_ps`.
pub(crate) fn forward(network: &Network, queue: EventQueue, end_ps: u64) -> Forwarded {
    let mut lines = Lines::new(network);
    let done = match queue {
        EventQueue::Heap => forward_with_heap(&mut lines, end_ps),
        EventQueue::Wheel => forward_with_wheel(&mut lines, end_ps),
    };
    // The count is used, so the optimiser has to do the work.
    std::hint::black_box(done)
}

/// A port's line.
struct Line {
    ps_per_octet: u64,
    latency_ps: u64,
    free_at_ps: u64,
}

/// A hop on the path of a flow's frames: the source, a switch, or the destination.
struct Stop {
    /// The line that the frame takes on; [`NONE`] at the destination.
    line: u32,
    /// Distance of the flow's frames at the source; 0 elsewhere.
    interval_ps: u64,
    octets: u64,
}

const NONE: u32 = u32::MAX;

/// All lines and stops, and the first event of each flow.
struct Lines {
    lines: Vec<Line>,
    /// Flow by flow, in the order of the path.
    stops: Vec<Stop>,
    starts: Vec<Event>,
    done: Forwarded,
}

/// A frame is at a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    time_ps: u64,
    sequence: u64,
    stop: u32,
}

impl Lines {
    /// # Panics
    /// If a flow is anything but unicast at a constant rate, or a line's octet does not last whole picoseconds.
    fn new(network: &Network) -> Self {
        let lines = network
            .ports
            .iter()
            .map(|port| {
                let (octet, rest) = port.rate.serialisation(1);
                assert_eq!(rest, 0, "at {} an octet does not last whole picoseconds", port.rate);
                Line { ps_per_octet: octet.0, latency_ps: port.latency.0, free_at_ps: 0 }
            })
            .collect();
        let mut stops: Vec<Stop> = Vec::new();
        let mut starts = Vec::new();
        for (index, flow) in (0u32..).zip(&network.flows) {
            let Traffic::Constant(rate) = flow.traffic else {
                panic!("flow {index}: the minimal program knows constant rates only, not {:?}", flow.traffic)
            };
            let octets = u64::from(flow.frame + network.wire_overhead);
            let interval_ps = u128::from(octets * 8) * u128::from(PS_PER_S) / u128::from(rate.0);
            let source = stops.len();
            for hop in network.route(FlowId(index)) {
                stops.push(Stop { line: network.hops[hop.index()].port.0, interval_ps: 0, octets });
            }
            stops.push(Stop { line: NONE, interval_ps: 0, octets });
            stops[source].interval_ps = u64::try_from(interval_ps).expect("frames come more often than every 213 days");
            let stop = u32::try_from(source).expect("fewer than 2^32 stops");
            starts.push(Event { time_ps: flow.start.0, sequence: u64::from(index), stop });
        }
        Self { lines, stops, starts, done: Forwarded { hops: 0, events: 0, delivered: 0 } }
    }

    /// Handles `event`; hands the time and the stop of each event that follows from it to `push`.
    fn handle(&mut self, event: Event, mut push: impl FnMut(u64, u32)) {
        let stop = &self.stops[event.stop as usize];
        self.done.events += 1;
        if stop.interval_ps > 0 {
            push(event.time_ps + stop.interval_ps, event.stop);
        } else {
            self.done.hops += 1;
        }
        if stop.line == NONE {
            self.done.delivered += 1;
        } else {
            let line = &mut self.lines[stop.line as usize];
            line.free_at_ps = event.time_ps.max(line.free_at_ps) + stop.octets * line.ps_per_octet;
            push(line.free_at_ps + line.latency_ps, event.stop + 1);
        }
    }
}

fn forward_with_heap(lines: &mut Lines, end_ps: u64) -> Forwarded {
    let mut heap: BinaryHeap<Reverse<Event>> = lines.starts.iter().copied().map(Reverse).collect();
    let mut sequence = heap.len() as u64;
    while let Some(Reverse(event)) = heap.pop() {
        if event.time_ps >= end_ps {
            break;
        }
        lines.handle(event, |time_ps, stop| {
            heap.push(Reverse(Event { time_ps, sequence, stop }));
            sequence += 1;
        });
    }
    lines.done
}

/// Length of a slot: 2^10 ps, about a nanosecond, so that a slot holds few events.
const SLOT_SHIFT: u32 = 10;
/// Slots of the wheel: its horizon is about 16 us.
const SLOTS: u64 = 1 << 14;

fn forward_with_wheel(lines: &mut Lines, end_ps: u64) -> Forwarded {
    let mut slots: Vec<Vec<Event>> = vec![Vec::new(); SLOTS as usize];
    let mut current: u64 = 0;
    let mut sequence = 0;
    for start in lines.starts.clone() {
        let slot = start.time_ps >> SLOT_SHIFT;
        assert!(slot < SLOTS, "a flow starts at {} ps, beyond the wheel", start.time_ps);
        slots[slot as usize].push(Event { sequence, ..start });
        sequence += 1;
    }
    let mut due: Vec<Event> = Vec::new();
    while current << SLOT_SHIFT < end_ps {
        std::mem::swap(&mut due, &mut slots[(current % SLOTS) as usize]);
        due.sort_unstable();
        for &event in &due {
            if event.time_ps >= end_ps {
                break;
            }
            lines.handle(event, |time_ps, stop| {
                // Each event follows from an earlier one after a slot at least, so that the slot at hand is complete.
                let ahead = (time_ps >> SLOT_SHIFT) - current;
                assert!(0 < ahead && ahead < SLOTS, "an event {ahead} slots ahead does not fit the wheel");
                slots[((current + ahead) % SLOTS) as usize].push(Event { time_ps, sequence, stop });
                sequence += 1;
            });
        }
        due.clear();
        current += 1;
    }
    lines.done
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One flow of 1500 octets every 2 us over two 10 Gb/s lines (1.2 us a frame) with 1 us of latency each.
    fn two_hops() -> Lines {
        let line = || Line { ps_per_octet: 800, latency_ps: 1_000_000, free_at_ps: 0 };
        let stop = |line, interval_ps| Stop { line, interval_ps, octets: 1500 };
        Lines {
            lines: vec![line(), line()],
            stops: vec![stop(0, 2_000_000), stop(1, 0), stop(NONE, 0)],
            starts: vec![Event { time_ps: 0, sequence: 0, stop: 0 }],
            done: Forwarded { hops: 0, events: 0, delivered: 0 },
        }
    }

    #[test]
    fn both_queues_forward_the_same_frames() {
        // Before 9 us: made at 0, 2, 4, 6, 8; at the switch 2.2 us later: 2.2, 4.2, 6.2, 8.2; delivered at 4.4, 6.4, 8.4.
        let expected = Forwarded { hops: 4 + 3, events: 5 + 4 + 3, delivered: 3 };
        assert_eq!(forward_with_heap(&mut two_hops(), 9_000_000), expected);
        assert_eq!(forward_with_wheel(&mut two_hops(), 9_000_000), expected);
    }

    #[test]
    fn a_busy_line_delays() {
        // A frame every 1 us, from 0 to 5 us, on a line that needs 1.2 us. Frame n leaves at 1.2 (n + 1) us, so frames are at
        // the switch at 2.2, 3.4, 4.6, 5.8 us and delivered at 4.4, 5.6 us.
        let mut lines = two_hops();
        lines.stops[0].interval_ps = 1_000_000;
        let expected = Forwarded { hops: 4 + 2, events: 6 + 4 + 2, delivered: 2 };
        assert_eq!(forward_with_heap(&mut lines, 5_900_000), expected);
    }
}
