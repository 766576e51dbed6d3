//! Forged notifications: those that the edge keeps out, and the fate of a reaction point that gets them from inside.

use crate::common::{at, cn, cnm, hear, lldp};
use allocation_counter::measure;
use penstock_conformance::configurations;
use penstock_domain::{Component, DefenseMode, Port, Received, Refusal};
use penstock_schemes::parts::notification::Cnm;
use penstock_schemes::parts::quantiser::QntzFb;
use penstock_schemes::qcn::Qcn;
use penstock_schemes::*;

const LINE: BitRate = BitRate(10_000_000_000);
/// `rpgMinRate` of the MIB and of the scheme.
const FLOOR: BitRate = BitRate(5_000_000);

struct Words(u32);

impl Draw for Words {
    fn draw(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0 ^ self.0 >> 16
    }
}

/// A reaction point of QCN sends nothing.
struct Nothing;

impl<S: Scheme> Out<S> for Nothing {
    fn send(&mut self, _: To, _: Class, _: S::Signal) {
        panic!("a reaction point of QCN sends no signals");
    }
}

/// A source that sends whenever its reaction point lets it.
struct SourceOf<S: Scheme> {
    now: Instant,
    rp: S::Rp,
    words: Words,
    sent: u64,
    next_frame: Instant,
    slowest: BitRate,
}

type Source = SourceOf<Qcn>;

impl<S: Scheme<Signal = Cnm>> SourceOf<S> {
    const FLOW: FlowKey = FlowKey(7);

    /// Under the standard's profile of the scheme.
    fn new() -> Self {
        let (_, config) = configurations::<S>().find(|(profile, _)| *profile == "ieee-2010").expect("QCN has it");
        Self {
            now: Instant(1),
            rp: S::Rp::new(&config, LINE),
            words: Words(1),
            sent: 0,
            next_frame: Instant(1),
            slowest: LINE,
        }
    }

    /// Goes on to a point in time: timers run out, frames of 1500 octets go at the rate that is allowed.
    fn until(&mut self, end: Instant) {
        loop {
            let timer = self.rp.next_timeout().unwrap_or(Instant::NEVER);
            let next = timer.min(self.next_frame);
            if next > end {
                break;
            }
            self.now = next;
            if timer == next {
                self.rp.on_timeout(next, &mut self.words, &mut Nothing);
            } else {
                let release = Release { flow: Self::FLOW, octets: 1500, seq: Octets(self.sent), last: false };
                self.rp.on_send(next, release, &mut self.words, &mut Nothing);
                self.sent += 1500;
                let (time, _) = self.rate().serialisation(1500);
                self.next_frame = next + time;
            }
            self.slowest = self.slowest.min(self.rate());
        }
        self.now = end;
    }

    fn rate(&self) -> BitRate {
        self.rp.allowance().rate
    }

    /// A notification of this feedback comes.
    fn forged(&mut self, feedback: u8) {
        let cp = CpId::new(0xaa, 0, 0);
        let signal = Cnm { fb: QntzFb::from_steps(feedback), cp, q_off: 100_000, q_delta: 0 };
        self.rp.on_signal(self.now, Self::FLOW, signal, &mut self.words, &mut Nothing);
        self.slowest = self.slowest.min(self.rate());
    }
}

/// The rate that a source has kept over a time, from the octets that it sent.
fn kept(octets: u64, over: Duration) -> BitRate {
    BitRate((octets as f64 * 8.0 / over.as_seconds()) as u64)
}

#[test]
fn a_flood_of_the_strongest_notifications_leaves_the_least_rate() {
    // 100 000 a second for two seconds, as from inside the domain: no edge stops them.
    let mut source = Source::new();
    let over = Duration::from_ms(2000);
    let counted = measure(|| {
        for number in 1..=200_000 {
            source.until(Instant(1) + Duration::from_us(10 * number));
            source.forged(63);
        }
    });
    assert_eq!(counted.count_total, 0, "no notification takes memory");
    assert_eq!(source.slowest, FLOOR, "rpgMinRate holds");
    assert_eq!(source.rate(), FLOOR);
    let rate = kept(source.sent, over);
    assert!(rate >= FLOOR, "the source keeps {rate:?}");
    assert!(rate.0 < 2 * FLOOR.0, "but that is all it keeps: {rate:?}");
}

#[test]
fn how_far_a_rate_falls_depends_on_the_pace_of_the_notifications() {
    let rate_after = |every: Duration| {
        let mut source = Source::new();
        for number in 1..=1000 {
            source.until(Instant(1) + Duration(number * every.0));
            source.forged(63);
        }
        assert!(source.slowest >= FLOOR, "{:?} is below the floor", source.slowest);
        source.rate()
    };
    // The pace of a full queue at 10 Gb/s, one for each 18.75 KB: less than a cycle of 150 KB at any rate.
    assert_eq!(rate_after(Duration::from_us(15)), FLOOR);
    // One each 15 ms: 125 cycles of the byte counter at line rate lie between, and each cut finds the line rate again:
    // 10 Gb/s (1 - 63/128).
    assert_eq!(rate_after(Duration::from_ms(15)), BitRate(5_078_125_000));
}

#[test]
fn a_source_recovers_when_the_flood_ends() {
    let mut source = Source::new();
    for number in 1..=10_000 {
        source.until(Instant(1) + Duration::from_us(10 * number));
        source.forged(63);
    }
    assert_eq!(source.rate(), FLOOR);
    let end = source.now;
    let mut ms = 0;
    while source.rate() < LINE {
        ms += 1;
        source.until(end + Duration::from_ms(ms));
        assert!(ms < 1000, "the rate is {:?} after {ms} ms", source.rate());
    }
    // Nothing moves within the first cycle of the timer. At its end Target Rate Reduction makes the target 1250 Mb/s, since
    // no cut of the flood has lowered it (Extra Fast Recovery), and from 627 Mb/s on the byte counter's cycles are short.
    assert!(ms > 15, "{ms} ms");
}

#[test]
fn the_edge_keeps_a_flood_out_and_forgets_nothing_of_it() {
    let component = Component::with(0b1000).unwrap();
    let mut port = Port::new(&component);
    let (mut source, mut passed) = (Source::new(), 0u64);
    let template = cnm(&[0x81, 0x00, 6 << 5, 100], 63, 3);
    let mut frame = template.clone();
    let counted = measure(|| {
        for _ in 0..100_000 {
            frame.copy_from_slice(&template);
            match port.receive(&component, at(1), &mut frame) {
                Received::Refused(Refusal::Outside { priority: 3 }) => {}
                _ => passed += 1,
            }
        }
    });
    assert_eq!((passed, port.counters().cnms_outside, counted.count_total), (0, 100_000, 0));
    source.until(Instant(1) + Duration::from_ms(1));
    assert_eq!(source.rate(), LINE, "the reaction point has heard nothing");
}

#[test]
fn a_flood_of_announcements_of_many_stations_takes_no_memory_and_opens_no_door() {
    let component = Component::with(0b1000).unwrap();
    let mut port = Port::new(&component);
    let frames: Vec<Vec<u8>> = (0..=255).map(|number| lldp(number, 120, &cn(8, 8))).collect();
    let mut frame = frames[0].clone();
    let counted = measure(|| {
        for number in 0..100_000 {
            frame.copy_from_slice(&frames[number % 256]);
            port.receive(&component, at(1), &mut frame);
        }
    });
    assert_eq!(counted.count_total, 0);
    assert_eq!(port.mode(3), DefenseMode::Edge);
    assert!(std::mem::size_of::<Port>() < 8192, "a port has {} octets", std::mem::size_of::<Port>());
}

/// An intruder that the defense cannot keep out: a station is inside if it says in LLDP what a neighbour of the domain
/// would say.
#[test]
fn a_station_that_lies_in_lldp_is_inside_unless_the_manager_says_edge() {
    let component = Component::with(0b1000).unwrap();
    let mut port = Port::new(&component);
    hear(&mut port, &component, at(1), lldp(66, 120, &cn(8, 8)));
    let mut forged = cnm(&[0x81, 0x00, 6 << 5, 100], 63, 3);
    assert_eq!(port.receive(&component, at(1), &mut forged), Received::Forward { priority: 6 });
    let row = penstock_domain::objects::PortPriority {
        port_def_mode_choice: penstock_domain::objects::PortChoice::Admin,
        port_admin_defense_mode: DefenseMode::Edge,
        ..*port.row(3)
    };
    port.manage(&component, 3, row);
    assert!(matches!(
        port.receive(&component, at(1), &mut forged),
        Received::Refused(Refusal::Outside { priority: 3 })
    ));
}
