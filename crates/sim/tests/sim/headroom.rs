//! Headroom in cells, by attack: a source that sends the frames which take most memory, against the longest wait of the pause frame. With
//! the memory that is computed nothing is lost; with a cell less something is.

use crate::common::{Looking, lossless, respond};
use penstock_schemes::none::NoControl;
use penstock_schemes::{BitRate, Duration, Instant, Octets, SchemeConfig};
use penstock_sim::network::*;
use penstock_sim::pfc::{Reach, headroom, headroom_in_cells, standard_response};
use penstock_sim::{Full, Outcome, Sim};

const ROOMY: Octets = Octets(100_000_000);
const OVERHEAD: u16 = 20;

fn run(network: &Network, until: Instant) -> Outcome {
    let Some(SchemeConfig::None(config)) = SchemeConfig::with_defaults("none") else { unreachable!() };
    let configs = vec![config; network.priorities.len()];
    let mut sim = Sim::<NoControl, _, Full>::new(network, &configs, 1, Looking::none());
    sim.run_until(until);
    sim.finish().0
}

/// A line that is attacked, and the cells behind it.
#[derive(Debug, Clone, Copy)]
struct Line {
    cell: u16,
    gbps: u64,
    delay_ns: u64,
    mtu: u16,
}

impl Line {
    fn rate(self) -> BitRate {
        BitRate::from_gbps(self.gbps)
    }

    /// The time of `octets` on the line, rounded down to a picosecond.
    fn time(self, octets: u64) -> u64 {
        octets * 8000 / self.gbps
    }

    /// Octets of the line between the frame that crosses the threshold and the last one, which begins before the stop. They are fewer than these
    /// take: the delay both ways, the longest frame that has just begun on the way back, the pause frame, and the response.
    fn wire(self) -> u64 {
        let response = standard_response(self.rate()).0;
        let frames = u64::from(self.mtu) + u64::from(OVERHEAD) + 64 + u64::from(OVERHEAD);
        ((2 * self.delay_ns * 1000 + response) * self.gbps).div_ceil(8000) - 1 + frames
    }

    /// The frames that take most cells of `wire` octets, found by trying all lengths: their octets, and how many of each.
    fn worst(self, wire: u64) -> Vec<(u16, u64)> {
        let cell = u64::from(self.cell);
        let length = |cells: u64| ((cells - 1) * cell + 1).max(64);
        let kinds: Vec<u64> = (1..=u64::from(self.mtu).div_ceil(cell)).map(length).collect();
        let mut best: Vec<(u64, Option<u64>)> = vec![(0, None)];
        for octets in 1..=wire {
            let mut most = (best[octets as usize - 1].0, None);
            for &frame in &kinds {
                if let Some(before) = octets.checked_sub(frame + u64::from(OVERHEAD)) {
                    let cells = best[before as usize].0 + frame.div_ceil(cell);
                    if cells > most.0 {
                        most = (cells, Some(frame));
                    }
                }
            }
            best.push(most);
        }
        let mut counts = std::collections::BTreeMap::new();
        let mut left = wire;
        while left > 0 {
            let taken = best[left as usize].1;
            *counts.entry(taken.unwrap_or(0)).or_insert(0) += 1;
            left -= taken.map_or(1, |frame| frame + u64::from(OVERHEAD));
        }
        counts.remove(&0);
        counts.into_iter().map(|(frame, count)| (frame as u16, count)).collect()
    }

    /// Source 0, sink 1 that takes next to nothing, source 2 of the frames on the way back, switch 3.
    fn network(self) -> (Builder, Reach) {
        let mut b = Builder::new(3, 1);
        let delay = Duration(self.delay_ns * 1000);
        b.link(0, 3, self.rate(), delay, ROOMY);
        b.link(1, 3, BitRate(1_000_000), delay, ROOMY);
        b.link(2, 3, self.rate(), delay, ROOMY);
        b.network.priorities = vec![3, 5];
        b.network.wire_overhead = OVERHEAD;
        lossless(&mut b.network, vec![3], Ingress { buffer: ROOMY, xoff: Octets(90_000_000), xon: Octets(1) });
        respond(&mut b.network, standard_response(self.rate()));
        let responses = &b.network.pfc.as_ref().expect("just set").responses;
        let reach = b.network.reaches(3, self.mtu, responses)[b.port(0, 3).index()].expect("it leads to a switch");
        (b, reach)
    }

    /// Frames lost with this headroom: two of full length fill the shared memory and a third one crosses into the headroom; then come the
    /// frames of `worst`, and others of full length without end. On the path back a frame starts `early` ps before the pause frame wants to.
    fn lost(self, worst: &[(u16, u64)], room: Octets, early: u64) -> u64 {
        let (mut b, _) = self.network();
        let (cell, mtu) = (u64::from(self.cell), u64::from(self.mtu));
        let mut begun = 0;
        for (frame, count) in [(self.mtu, 3)].into_iter().chain(worst.iter().copied()).chain([(self.mtu, 4)]) {
            let flow = b.flow(&[0, 3, 1]);
            (flow.frame, flow.priority, flow.reaction_point) = (frame, 3, None);
            flow.size = Some(Octets(u64::from(frame) * count));
            // In the last frame of the flow before.
            flow.start = Instant(self.time(begun).saturating_sub(self.time(32)));
            begun += (u64::from(frame) + u64::from(OVERHEAD)) * count;
        }
        let back = b.flow(&[2, 3, 0]);
        (back.frame, back.priority, back.reaction_point) = (self.mtu, 5, None);
        back.start = Instant(self.time(mtu + u64::from(OVERHEAD)) - early);
        let port = b.port(0, 3);
        let mut pool = Pool::new(NodeId(3), vec![3], Octets(2 * mtu.div_ceil(cell) * cell));
        (pool.cell, pool.headroom, pool.lines) = (self.cell, room, vec![(port, room)]);
        b.network.pools = vec![pool];
        let until = Instant(self.time(begun) + 4 * self.delay_ns * 1000 + self.time(4 * mtu) + 10_000_000);
        let outcome = run(&b.network, until);
        assert!(outcome.totals.pause_frames > 0, "{self:?}: nothing stopped the source");
        outcome.totals.frames_dropped
    }

    /// The memory that is computed is enough, whatever the phase of the path back, and a cell less is not.
    fn attack(self) {
        let (_, reach) = self.network();
        let room = headroom_in_cells(&reach, self.cell);
        let worst = self.worst(self.wire());
        let phases: Vec<u64> =
            [0, 1, 2, 40, 1000].into_iter().chain((1..8).map(|n| self.time(u64::from(self.mtu)) * n / 8)).collect();
        for &early in &phases {
            assert_eq!(self.lost(&worst, room, early), 0, "{self:?}: {room} are not enough ({early} ps, {worst:?})");
        }
        let less = Octets(room.0 - u64::from(self.cell));
        let lost = phases.iter().any(|&early| self.lost(&worst, less, early) > 0);
        assert!(lost, "{self:?}: {less} are enough, too; {room} are computed ({worst:?})");
    }
}

#[test]
fn headroom_in_cells_is_enough_and_a_cell_less_is_not() {
    for cell in [96, 144, 192, 254, 256] {
        for (gbps, delay_ns, mtu) in [(25, 202, 1500), (100, 25, 9216), (100, 1515, 4096), (400, 202, 9216)] {
            Line { cell, gbps, delay_ns, mtu }.attack();
        }
    }
}

/// The same for all speeds of the standard, from a metre to 300 of them, and for cells that no chip is known to have.
#[test]
#[ignore = "takes minutes"]
fn headroom_in_cells_is_tight_for_every_line() {
    for cell in [80, 96, 128, 144, 146, 147, 160, 176, 192, 208, 254, 256, 512] {
        for gbps in [10, 25, 40, 50, 100, 200, 400, 800] {
            for delay_ns in [5, 25, 202, 1515] {
                for mtu in [1500, 4096, 9216] {
                    Line { cell, gbps, delay_ns, mtu }.attack();
                }
            }
        }
    }
}

/// 200 Gb/s, 5 m, frames of 9216 octets, cells of 256. The line: 2 x 25.25 ns, a frame of 9236 octets and a pause frame of 84 at 200 Gb/s,
/// and 453 quanta of 512 bits, 1159.68 ns. These are 1262.5 + 9320 + 28 992 = 39 574.5 octets, 471 frames of 84, a cell each. Two frames
/// of 9216 are 72 cells: 543 of 256 octets. In octets: 39 574 of the line are four frames of 9236 and 2630, of which 2610 count. Six of
/// 9216 in all: 57 906, less one.
#[test]
fn headroom_in_cells_by_hand() {
    let rate = BitRate::from_gbps(200);
    let reach = Reach {
        rate,
        latency: Duration(25_250),
        largest: 9216,
        back_rate: rate,
        back_latency: Duration(25_250),
        back_largest: 9216,
        response: standard_response(rate),
        wire_overhead: 20,
        copies: 1,
    };
    assert_eq!(headroom_in_cells(&reach, 256), Octets(543 * 256));
    assert_eq!(headroom(&reach), Octets(6 * 9216 + 2610 - 1));
    assert_eq!(headroom_in_cells(&reach, 1), Octets(6 * 9216 + 2610));
    // 96: frames of 97 octets take two cells and 117 octets of the line. 39 574 are 338 of them, and 28 left: 676 cells; two frames of
    // 9216 are 192.
    assert_eq!(headroom_in_cells(&reach, 96), Octets((676 + 192) * 96));
    assert_eq!(headroom_in_cells(&Reach { copies: 3, ..reach }, 256), Octets(3 * 543 * 256));
}

/// 802.3 31B.3.7, in quanta of 512 bits of the port.
#[test]
fn responses_are_those_of_the_standard() {
    for (gbps, quanta, ps) in [
        (1, 2, 1_024_000),
        (10, 67, 3_430_400),
        (25, 80, 1_638_400),
        (40, 118, 1_510_400),
        (100, 394, 2_017_280),
        (200, 453, 1_159_680),
        (400, 905, 1_158_400),
        (800, 905, 579_200),
    ] {
        let rate = BitRate::from_gbps(gbps);
        assert_eq!(standard_response(rate), Duration(ps), "{quanta} quanta at {gbps} Gb/s");
        // A clock that is 100 ppm fast or slow belongs to the same speed.
        for rate in [rate.0 - rate.0 / 10_000, rate.0 + rate.0 / 10_000] {
            assert_eq!(standard_response(BitRate(rate)), Duration(ps));
        }
    }
    assert_eq!(standard_response(BitRate(1)), Duration(5_120_000));
    assert_eq!(standard_response(BitRate::from_gbps(1600)), Duration(579_200));
}
