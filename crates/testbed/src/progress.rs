//! How far flows have come, seen from the frames that reach their destination: TCP connections by sequence numbers, and whether
//! a flow with a size is complete.

use penstock_scenario::Plan;
use penstock_schemes::Instant;

use crate::frame::Segment;

/// The most connections of a host that are followed.
const MOST: usize = 1024;

/// The most gaps of a connection that are tracked; selective acknowledgements report three.
const MOST_HOLES: usize = 64;

/// Octets of the shortest frame of a flow. Shorter ones are greetings: iperf3 sends a datagram of four octets first.
pub(crate) const SHORTEST: u16 = 128;

/// A flow at its source or destination.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FlowCounts {
    /// Frames that the application has handed over.
    pub offered: u64,
    /// Of them, those that found no room.
    pub discarded: u64,
    /// Frames sent.
    pub sent: u64,
    /// Octets sent, with overhead.
    pub sent_octets: u64,
    /// Signals that came back.
    pub signals: u64,
    /// Signals that the source has sent.
    pub probes: u64,
    /// Frames that have arrived.
    pub delivered: u64,
    /// Octets that have arrived, with overhead.
    pub delivered_octets: u64,
    /// Octets of TCP's data up to the highest that has arrived: those in between come sooner or later.
    pub data_octets: u64,
    /// Segments that came behind later ones of their connection: sent again, for the most part.
    pub late_segments: u64,
    /// When all octets of a flow with a size had arrived, ps on the network's clock.
    pub completed: Option<u64>,
    /// Octets that had arrived then, with overhead.
    pub complete_octets: u64,
}

/// A connection.
#[derive(Debug, Clone)]
struct Connection {
    flow: usize,
    /// The sender's port.
    port: u16,
    /// The sequence number behind the highest octet that has arrived.
    end: u32,
    /// Octets up to there.
    octets: u64,
    /// The octets between that have not arrived, from and to; `None` where there were too many to follow.
    holes: Option<Vec<(u32, u32)>>,
}

impl Connection {
    fn new(flow: usize, segment: Segment) -> Self {
        let end = segment.sequence.wrapping_add(segment.octets);
        let end = if segment.first { end.wrapping_add(1) } else { end };
        Self { flow, port: segment.port, end, octets: 0, holes: Some(Vec::new()) }
    }

    /// Octets that have arrived, each counted once; none where that is not known.
    fn arrived(&self) -> u64 {
        let missing = |holes: &Vec<(u32, u32)>| holes.iter().map(|hole| u64::from(hole.1.wrapping_sub(hole.0))).sum();
        self.holes.as_ref().map_or(0, |holes| self.octets.saturating_sub(missing(holes)))
    }

    /// Octets from `from` up to the highest are missing.
    fn miss(&mut self, from: u32, to: u32) {
        match &mut self.holes {
            Some(holes) if holes.len() < MOST_HOLES => holes.push((from, to)),
            holes => *holes = None,
        }
    }

    /// A segment behind the highest octet fills gaps, as far as it reaches into them.
    fn fill(&mut self, from: u32, to: u32) {
        let Some(holes) = &mut self.holes else { return };
        let mut rest = Vec::with_capacity(holes.len() + 1);
        for &(begin, end) in holes.iter() {
            // Numbers go round: distances are counted from the gap's begin, and half of all numbers ahead is behind.
            let at = |number: u32| (number.wrapping_sub(begin) as i32).clamp(0, end.wrapping_sub(begin) as i32) as u32;
            for (left, right) in [(0, at(from)), (at(to), end.wrapping_sub(begin))] {
                if left < right {
                    rest.push((begin.wrapping_add(left), begin.wrapping_add(right)));
                }
            }
        }
        self.holes = (rest.len() <= MOST_HOLES).then_some(rest);
    }
}

/// The flows that end at a host.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    connections: Vec<Connection>,
    /// Octets of each flow's size: of a connection's data, or of frames.
    sizes: Vec<Option<u64>>,
    /// Octets of each flow's frames that have arrived, where no transport carries it.
    frames: Vec<u64>,
}

impl Progress {
    /// Nothing has come.
    pub(crate) fn new(plan: &Plan) -> Self {
        let sizes: Vec<_> = plan.network.flows.iter().map(|flow| flow.size.map(|size| size.0)).collect();
        Self { connections: Vec::new(), frames: vec![0; sizes.len()], sizes }
    }

    /// A segment of a flow has come: its connection goes on by the new octets.
    pub(crate) fn segment(&mut self, now: Instant, flow: usize, segment: Segment, counts: &mut FlowCounts) {
        let known = self.connections.iter_mut().find(|known| (known.flow, known.port) == (flow, segment.port));
        let arrived = match known {
            // A new connection of the same ports begins with SYN, which counts as an octet.
            Some(known) if segment.first => {
                *known = Connection::new(flow, segment);
                0
            }
            Some(known) => {
                let (before, end) = (known.end, segment.sequence.wrapping_add(segment.octets));
                let ahead = end.wrapping_sub(before);
                // More than half of all numbers ahead is behind.
                if ahead > 0 && ahead <= u32::MAX / 2 {
                    known.end = end;
                    known.octets += u64::from(ahead);
                    counts.data_octets += u64::from(ahead);
                    if ahead > segment.octets {
                        known.miss(before, segment.sequence);
                    } else {
                        known.fill(segment.sequence, before);
                    }
                } else if segment.octets > 0 {
                    counts.late_segments += 1;
                    known.fill(segment.sequence, end);
                }
                known.arrived()
            }
            None => {
                if self.connections.len() < MOST {
                    self.connections.push(Connection::new(flow, segment));
                }
                0
            }
        };
        self.reach(now, flow, arrived, counts);
    }

    /// A frame of `octets` octets has arrived, of a flow without a transport.
    pub(crate) fn frame(&mut self, now: Instant, flow: usize, octets: u16, counts: &mut FlowCounts) {
        if octets >= SHORTEST {
            self.frames[flow] += u64::from(octets);
            self.reach(now, flow, self.frames[flow], counts);
        }
    }

    /// `octets` octets of a flow have arrived: it may be complete.
    fn reach(&self, now: Instant, flow: usize, octets: u64, counts: &mut FlowCounts) {
        if counts.completed.is_none() && self.sizes[flow].is_some_and(|size| octets >= size) {
            counts.completed = Some(now.0);
            counts.complete_octets = counts.delivered_octets;
        }
    }
}
