//! The frames on tapped lines, against times and queue lengths computed by hand.

use crate::common::{Look, Looking, lossless, respond};
use penstock_schemes::none::NoControl;
use penstock_schemes::{BitRate, Duration, Instant, Octets, SchemeConfig};
use penstock_sim::network::*;
use penstock_sim::probe::{Content, FateOnLine, FrameSeen, Load};
use penstock_sim::{Full, Outcome, Sim};

const US: Duration = Duration(1_000_000);

/// A frame as it was seen: start in ns, length of the queue, its own length, fate.
type Seen = (u64, Option<u64>, u16, FateOnLine);

/// Keeps the frames of some ports.
struct Keeper {
    ports: Vec<PortId>,
    /// By port; then the bound that came with each frame, and its start, in the order in which they came.
    frames: Vec<(PortId, Seen)>,
    bounds: Vec<(Instant, Instant)>,
    pauses: Vec<(u8, u8)>,
}

impl Look<NoControl> for Keeper {
    fn captured_ports(&self) -> &[PortId] {
        &self.ports
    }

    fn frame(&mut self, seen: &FrameSeen<'_, NoControl>) {
        let start = seen.start.since(Instant::ZERO).0 / 1000;
        self.frames.push((seen.port, (start, seen.queue.map(|octets| octets.0), seen.octets, seen.fate)));
        self.bounds.push((seen.earliest, seen.start));
        match seen.content {
            Content::Pause { stop, resume } => self.pauses.push((stop, resume)),
            Content::Frame { flow, priority, ref load } => {
                assert_eq!((flow, priority), (FlowId(0), Some(3)));
                assert!(matches!(load, Load::Data { trimmed: false, segment: None, .. }));
            }
        }
    }
}

impl Keeper {
    fn of(&self, port: PortId) -> Vec<Seen> {
        self.frames.iter().filter(|frame| frame.0 == port).map(|frame| frame.1).collect()
    }
}

/// The chain of `tests/pfc.rs`, with priority 3: source 0, receiver 1, switch 2; 1 Gb/s in, 0.5 Gb/s out, 1 us each.
fn chain() -> Builder {
    let mut b = Builder::new(2, 1);
    b.network.priorities = vec![3];
    b.link(0, 2, BitRate(1_000_000_000), US, Octets(10_000_000));
    b.link(1, 2, BitRate(500_000_000), US, Octets(10_000_000));
    b.flow(&[0, 2, 1]).priority = 3;
    lossless(&mut b.network, vec![3], Ingress { buffer: Octets(20_000), xoff: Octets(6000), xon: Octets(3000) });
    respond(&mut b.network, Duration(500_000));
    b
}

fn run(network: &Network, ports: Vec<PortId>, until: Duration) -> (Outcome, Keeper) {
    let Some(SchemeConfig::None(config)) = SchemeConfig::with_defaults("none") else { unreachable!() };
    let mut keeper = Keeper { ports, frames: Vec::new(), bounds: Vec::new(), pauses: Vec::new() };
    let mut sim = Sim::<_, _, Full>::new(network, &[config], 1, Looking::with(&mut keeper));
    sim.run_until(Instant::ZERO + until);
    (sim.finish().0, keeper)
}

use FateOnLine::{Crossed, Lost, UnderWay};

/// At 61 us four frames have arrived before, and two have departed; at 85 us six and three.
#[test]
fn starts_and_queue_lengths() {
    let b = chain();
    let (up, down, back) = (b.port(0, 2), b.port(2, 1), b.port(2, 0));
    let (_, keeper) = run(&b.network, vec![down, up, back], Duration::from_us(100));
    let sent: Vec<Seen> = (0..7).map(|i| (12_000 * i, None, 1500, Crossed)).collect();
    assert_eq!(keeper.of(up), sent);
    let switched = [
        (13_000, Some(1500), 1500, Crossed),
        (37_000, Some(1500), 1500, Crossed),
        (61_000, Some(3000), 1500, Crossed),
        (85_000, Some(4500), 1500, UnderWay),
    ];
    assert_eq!(keeper.of(down), switched);
    assert_eq!(keeper.of(back), [(73_000, None, 64, Crossed)]);
    assert_eq!(keeper.pauses, [(1 << 3, 0)]);
    for (i, &(bound, _)) in keeper.bounds.iter().enumerate() {
        assert!(keeper.bounds[i + 1..].iter().all(|&(_, start)| start >= bound), "frame {i}: {bound:?}");
    }
}

/// The resume frame leaves at 133 us.
#[test]
fn a_resume_frame() {
    let b = chain();
    let back = b.port(2, 0);
    let (_, keeper) = run(&b.network, vec![back], Duration::from_us(140));
    assert_eq!(keeper.of(back), [(73_000, None, 64, Crossed), (133_000, None, 64, Crossed)]);
    assert_eq!(keeper.pauses, [(1 << 3, 0), (0, 1 << 3)]);
}

/// At 73.6 us the pause frame, all of whose octets are sent, is on the line back, and the frame of 61 us on the line down.
#[test]
fn frames_on_a_line_that_breaks_are_shown_then() {
    let mut b = chain();
    let (down, back) = (b.port(2, 1), b.port(2, 0));
    let at = Instant(73_600_000);
    b.network.changes = [back, down].map(|port| Change { at, port, event: PortEvent::Down }).into();
    let (_, keeper) = run(&b.network, vec![down, back], Duration::from_us(100));
    assert_eq!(keeper.of(back), [(73_000, None, 64, Lost)]);
    assert_eq!(keeper.of(down).last(), Some(&(61_000, Some(3000), 1500, Lost)));
    assert_eq!(keeper.of(down).len(), 3);
}

#[test]
fn a_tap_changes_nothing() {
    let b = chain();
    let all: Vec<PortId> = (0..b.network.ports.len() as u32).map(PortId).collect();
    let until = Duration::from_ms(2);
    let (with, keeper) = run(&b.network, all, until);
    assert_eq!(with, run(&b.network, Vec::new(), until).0);
    let crossed = keeper.frames.iter().filter(|frame| frame.1.3 == Crossed).count() as u64;
    assert_eq!(crossed, with.totals.packet_hops);
}
