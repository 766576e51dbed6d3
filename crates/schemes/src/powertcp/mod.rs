//! PowerTCP: the source multiplies the load of the bottleneck by its delay, and steers its window by the product.
//!
//! ```text
//!   switch, as a transmission starts       destination        source, for each acknowledgement
//!   time, octets sent, length, rate        echoes all         current  l = (change of length + octets sent) / time
//!                                                             voltage  v = length + B T
//!                                                             power    p = l v / (B B T), of the queues the largest
//!                                                             P = P + (p - P) time / T
//!                                                             W = W + gamma (Wold target / P + beta - W)
//!                                                             R = W / T
//! ```
//!
//! The current alone is what a law by gradients sees, the voltage alone what a law by lengths sees. Their product is the
//! load that all windows together put on the queue: for windows in flight of W octets in all, p = W / (B T), whether the
//! queue grows, rests or empties.
//!
//! `Wold` is the window under which the acknowledged frame was sent. Of windows one a round trip is remembered, as the last
//! one ended.
//!
//! The telemetry is HPCC's: its records, in its units and lengths.
//!
//! Sources: Addanki et al., NSDI 2022 ("PowerTCP"), algorithm 1; programs of the same group: powertcp-linux, which repeats
//! the algorithm, and ns3-datacenter.

use crate::hpcc::{Hop, LONGEST_NS, STACK_OCTETS, Step, Telemetry, identity};
use crate::info::values::{count, real, us};
use crate::info::{Action, Forms, Info, Profile, Value, parameters};
use crate::parts::power::{Power, PowerParameters};
use crate::units::{BitRate, Duration, FlowKey, Instant, Octets};
use crate::{
    Ack, Allowance, CongestionPoint, Draw, Fate, Frame, Gap, Gate, Never, Out, Place, Queue, ReactionPoint, Release,
    Scheme, Var,
};

/// PowerTCP.
#[derive(Debug, Clone, Copy)]
pub struct PowerTcp;

parameters! {
    /// PowerTCP's parameters.
    pub struct Config {
        ..power: PowerParameters;
        /// Round-trip time of the empty network, T: not below that of the longest path.
        base_rtt: Duration {
            default: us(13),
            range: us(1)..=us(1_000_000),
            about: round_trip,
            source: "HPCC's, in simulations; Addanki et al. 2022 have the longest of all pairs",
        }
        /// Factor on the units of the records, 128 octets sent and 80 of a queue.
        unit_factor: u32 {
            default: count(1),
            range: count(1)..=count(64),
            source: "HPCC's records; HPCC's simulator, INT_MULTI: the line's rate over 25 Gb/s",
        }
    }
}

/// HPCC's units at `gbps`; gamma and N are the same at every rate.
const fn at(gbps: u64) -> [(&'static str, Value); 1] {
    [("unit_factor", count(gbps / 25))]
}

const PROFILES: &[Profile] = &[
    Profile {
        name: "ns3-25g",
        description: "ns3-datacenter, rdma-hw.cc, UpdateRatePower, at 25 Gb/s: steps of 150 Mb/s, and 95 % of the line.",
        settings: &[("target", real(0.95)), ("flows", count(167))],
    },
    Profile {
        name: "powertcp-25g",
        description: "Addanki et al. 2022 with N of powertcp-linux, at 25 Gb/s: HPCC's units for that rate, the defaults.",
        settings: &at(25),
    },
    Profile {
        name: "powertcp-100g",
        description: "Addanki et al. 2022 with N of powertcp-linux, at 100 Gb/s: HPCC's units for that rate.",
        settings: &at(100),
    },
    Profile {
        name: "powertcp-200g",
        description: "Addanki et al. 2022 with N of powertcp-linux, at 200 Gb/s: HPCC's units for that rate.",
        settings: &at(200),
    },
    Profile {
        name: "powertcp-400g",
        description: "Addanki et al. 2022 with N of powertcp-linux, at 400 Gb/s: HPCC's units for that rate.",
        settings: &at(400),
    },
    Profile {
        name: "powertcp-800g",
        description: "Addanki et al. 2022 with N of powertcp-linux, at 800 Gb/s: HPCC's units for that rate.",
        settings: &at(800),
    },
];

impl Scheme for PowerTcp {
    const INFO: Info = Info {
        name: "powertcp",
        title: "PowerTCP",
        source: "Addanki et al., PowerTCP: Pushing the Performance Limits of Datacenter Networks, NSDI 2022",
        description: "Switches write time, octets sent, queue and rate into each frame; sources steer their window by power, load \
                      times delay.",
        parameters: Config::PARAMETERS,
        profiles: PROFILES,
        set_point: None,
        signals: None,
        actions: &[Action::Cuts, Action::Raises],
        tuned: &[&["gamma"], &["flows"], &["target"], &["base_rtt"]],
        recovers_alone: false,
        raises_on_signal: false,
        integer_state: false,
        needs_order: true,
        forms: Forms { capture: false, testbed: false, fluid: Some("powertcp"), cores: &[] },
    };
    type Config = Config;
    type Tag = Telemetry;
    type Echo = Telemetry;
    type Signal = Never;
    type Cp = Cp;
    type Np = crate::hpcc::Np;
    type Rp = Rp;

    fn tag_octets(_: &Config) -> u16 {
        STACK_OCTETS
    }

    fn echo_octets(_: &Config) -> u16 {
        STACK_OCTETS
    }
}

/// PowerTCP's congestion point: writes its record into each frame that leaves, as HPCC's does.
#[derive(Debug, Clone)]
pub struct Cp {
    identity: u16,
    unit_factor: u32,
}

impl CongestionPoint<PowerTcp> for Cp {
    const STAMPS: bool = true;

    fn new(config: &Config, place: Place) -> Self {
        Self { identity: identity(place.cp), unit_factor: config.unit_factor }
    }

    fn configure(&mut self, config: &Config, place: Place) {
        *self = Self::new(config, place);
    }

    fn remembers_flows(_config: &Config) -> bool {
        false
    }

    #[inline]
    fn on_arrival(
        &mut self,
        _: Instant,
        _: Frame<'_, Telemetry>,
        _: Fate,
        _: &Queue,
        _: &mut impl Draw,
        _: &mut impl Out<PowerTcp>,
    ) {
    }

    #[inline]
    fn on_transmission(&mut self, now: Instant, frame: Frame<'_, Telemetry>, queue: &Queue) {
        frame.tag.push(Hop::new(now, queue.rate, queue.sent, queue.len, self.unit_factor), self.identity);
    }
}

/// PowerTCP's reaction point.
#[derive(Debug, Clone)]
pub struct Rp {
    power: Power,
    unit_factor: u32,
    gate: Gate,
    gap: Gap,
    line: BitRate,
    /// The window as the last round trip ended, under which the frames that come back were sent.
    old: f64,
    /// The last telemetry, and when it came; never before the first.
    last: Telemetry,
    last_at: Instant,
    /// Octets sent, and octets known to have arrived or to be lost.
    sent: u64,
    settled: u64,
    /// A round trip ends when more than this is settled.
    end: u64,
}

/// The normalised power of a queue (algorithm 1, `NORMPOWER`), between two records of it, for a round trip of `t` picoseconds.
fn norm_power(step: &Step, t: f64) -> f64 {
    // Octets in a picosecond, and in T.
    let b = step.rate / 8e12;
    let current = (step.growth + step.sent) / step.time_ps;
    let voltage = step.last_len + b * t;
    current * voltage / (b * b * t)
}

impl Rp {
    /// The largest power of the path and the time that it is of; `None` where the telemetry tells nothing: it is the first one, or the
    /// first one of another path, no time has passed at any queue, or nothing has come to any.
    fn measure(&mut self, now: Instant, telemetry: &Telemetry) -> Option<(f64, f64)> {
        let before = core::mem::replace(&mut self.last_at, now);
        let known =
            before != Instant::NEVER && now.since(before).0 < LONGEST_NS * 1000 && self.last.same_path(telemetry);
        let mut largest = None;
        let pairs = telemetry.hops().iter().zip(self.last.hops()).filter(|_| known);
        for step in pairs.filter_map(|(hop, earlier)| hop.since(earlier, self.unit_factor)) {
            let power = norm_power(&step, self.power.round_trip_ps());
            if power > largest.map_or(0.0, |(power, _)| power) {
                largest = Some((power, step.time_ps));
            }
        }
        self.last = *telemetry;
        largest
    }
}

impl ReactionPoint<PowerTcp> for Rp {
    const VARS: &'static [Var] = &[
        Var { name: "window_octets", description: "window W" },
        Var {
            name: "power_ppm",
            description: "smoothed power P, in millionths of that of a full line with an empty queue",
        },
    ];

    fn new(config: &Config, line: BitRate) -> Self {
        let power = Power::new(&config.power, line, config.base_rtt);
        Self {
            old: power.window(),
            power,
            unit_factor: config.unit_factor,
            gate: config.power.gate,
            gap: config.power.gap,
            line,
            last: Telemetry::default(),
            last_at: Instant::NEVER,
            sent: 0,
            settled: 0,
            end: 0,
        }
    }

    /// Before the first acknowledgement or silence the window is that of a start. Later its octets stay, and the rate W / T follows from a new T.
    fn configure(&mut self, config: &Config, line: BitRate) {
        let mut fresh = Self::new(config, line);
        if self.settled > 0 {
            let old = self.old;
            fresh.power.go_on_from(&self.power);
            fresh.old = if old == self.power.window() { fresh.power.window() } else { old };
        }
        let Self { last, last_at, sent, settled, end, .. } = *self;
        *self = Self { last, last_at, sent, settled, end, ..fresh };
    }

    fn on_signal(&mut self, _: Instant, _: FlowKey, signal: Never, _: &mut impl Draw, _: &mut impl Out<PowerTcp>) {
        match signal {}
    }

    /// `NEWACK` (algorithm 1).
    fn on_ack(
        &mut self,
        now: Instant,
        _: FlowKey,
        ack: &Ack<Telemetry>,
        _: &mut impl Draw,
        _: &mut impl Out<PowerTcp>,
    ) {
        self.settled += ack.acked.0 + ack.lost.0;
        if let Some((newest, time_ps)) = self.measure(now, &ack.echo) {
            self.power.hear(newest, time_ps);
            self.power.steer(self.old);
        }
        if self.settled > self.end {
            self.old = self.power.window();
            self.end = self.sent;
        }
    }

    fn on_silence(&mut self, _: Instant, _: FlowKey, lost: Octets) {
        self.settled += lost.0;
        self.power.fall();
        self.old = self.power.window();
    }

    #[inline]
    fn on_send(&mut self, _: Instant, release: Release, _: &mut impl Draw, _: &mut impl Out<PowerTcp>) -> Telemetry {
        self.sent += u64::from(release.octets);
        Telemetry::default()
    }

    fn next_timeout(&self) -> Option<Instant> {
        None
    }

    fn on_timeout(&mut self, _: Instant, _: &mut impl Draw, _: &mut impl Out<PowerTcp>) {}

    #[inline]
    fn allowance(&self) -> Allowance {
        self.power.allowance()
    }

    #[inline]
    fn gate(&self) -> Gate {
        self.gate
    }

    #[inline]
    fn gap(&self) -> Gap {
        self.gap
    }

    fn limiting(&self) -> bool {
        self.power.allowance().rate < self.line
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[self.power.window() as i64, self.power.ppm()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Middle, Sent, close, config, frame_of};
    use crate::{CpId, NotificationPoint};

    const FLOW: FlowKey = FlowKey(7);

    /// T is 10 us: 12 500 octets at 10 Gb/s, beta 1250.
    fn rp(changes: &[(&str, Value)]) -> Rp {
        let changes = [changes, &[("base_rtt", us(10))]].concat();
        Rp::new(&config::<PowerTcp>("", &changes), BitRate::from_gbps(10))
    }

    fn hop(at_ns: u64, sent: u64, len: u64) -> Hop {
        Hop::new(Instant(at_ns * 1000), BitRate::from_gbps(10), Octets(sent), Octets(len), 1)
    }

    fn ack(rp: &mut Rp, at_ns: u64, hops: &[Hop]) {
        let mut echo = Telemetry::default();
        hops.iter().for_each(|&hop| echo.push(hop, 5));
        let ack = Ack { acked: Octets(1500), lost: Octets(0), rtt: Duration::from_us(10), echo };
        rp.on_ack(Instant(at_ns * 1000), FLOW, &ack, &mut Middle, &mut Sent::default());
    }

    /// In 1 us the line sends 1280 octets, and the queue grows from 8000 to 9600: 2880 octets came, where the line has 1250.
    /// Voltage 9600 + 12 500. Power 2880 / 1250 × 22 100 / 12 500 = 4.073 472, over a tenth of T: P = 1.307 347 2.
    /// W = 12 500 + 0.9 (12 500 / P + 1250 - 12 500).
    #[test]
    fn load_times_delay_is_power() {
        let mut rp = rp(&[]);
        ack(&mut rp, 10_000, &[hop(5_000, 0, 8_000)]);
        assert_eq!(
            (rp.power.window(), rp.power.ppm()),
            (12_500.0, 1_000_000),
            "the first has nothing to be compared with"
        );
        ack(&mut rp, 11_000, &[hop(6_000, 1_280, 9_600)]);
        assert_eq!(rp.power.ppm(), 1_307_347);
        close(rp.power.window(), 12_500.0 + 0.9 * (12_500.0 / 1.307_347_2 + 1_250.0 - 12_500.0));
        assert!(rp.limiting());
    }

    /// A queue that empties at full speed has no current: 1280 octets leave, and it is 1280 shorter. Nothing is heard.
    #[test]
    fn without_arrivals_nothing_is_heard() {
        let mut rp = rp(&[]);
        ack(&mut rp, 10_000, &[hop(5_000, 0, 16_000)]);
        ack(&mut rp, 11_000, &[hop(6_000, 1_280, 14_720)]);
        assert_eq!((rp.power.window(), rp.power.ppm()), (12_500.0, 1_000_000));
    }

    /// Two queues: 1280 octets at an empty one, power 1.024; 640 at one of 8000, 0.512 × 1.64 = 0.839 68. The first governs.
    #[test]
    fn the_queue_of_the_largest_power_governs() {
        let mut rp = rp(&[]);
        ack(&mut rp, 10_000, &[hop(5_000, 0, 0), hop(6_000, 0, 8_000)]);
        ack(&mut rp, 11_000, &[hop(6_000, 1_280, 0), hop(7_000, 640, 8_000)]);
        assert_eq!(rp.power.ppm(), 1_002_400);
    }

    /// All acknowledgements of a round trip answer frames of one window. The first ends the round trip before the first frame.
    #[test]
    fn within_a_round_trip_the_old_window_stays() {
        let mut rp = rp(&[]);
        for i in 0..3 {
            let release = Release { flow: FLOW, octets: 1500, seq: Octets(1500 * i), last: false };
            rp.on_send(Instant::ZERO, release, &mut Middle, &mut Sent::<PowerTcp>::default());
        }
        ack(&mut rp, 10_000, &[hop(5_000, 0, 8_000)]);
        assert_eq!((rp.old, rp.end), (12_500.0, 4_500));
        for i in 1..=2 {
            ack(&mut rp, 10_000 + 1_000 * i, &[hop(5_000 + 1_000 * i, 1_280 * i, 8_000)]);
            assert_eq!(rp.old, 12_500.0);
        }
        ack(&mut rp, 13_000, &[hop(8_000, 3_840, 8_000)]);
        assert!(rp.old == rp.power.window() && rp.old < 12_500.0);
    }

    #[test]
    fn another_path_and_a_long_silence_begin_again() {
        let mut rp = rp(&[]);
        ack(&mut rp, 10_000, &[hop(5_000, 0, 100_000)]);
        ack(&mut rp, 20_000, &[hop(15_000, 12_800, 100_000), hop(15_000, 12_800, 100_000)]);
        assert_eq!(rp.power.window(), 12_500.0, "two queues after one");
        ack(&mut rp, 20_000 + LONGEST_NS, &[hop(15_500, 12_800, 0), hop(15_500, 12_800, 0)]);
        assert_eq!(rp.power.window(), 12_500.0, "time stamps may have wrapped");
    }

    #[test]
    fn silence_leaves_a_segment() {
        let mut rp = rp(&[]);
        rp.on_silence(Instant(1), FLOW, Octets(12_500));
        assert_eq!((rp.power.window(), rp.old, rp.settled), (1_500.0, 1_500.0, 12_500));
        assert!(rp.limiting());
    }

    #[test]
    fn each_queue_writes_its_record() {
        let place = Place {
            cp: CpId::new(0x0200_0000_0001, 1, 0),
            line: BitRate::from_gbps(10),
            capacity: Octets(150_000),
            phase: Duration::ZERO,
        };
        let mut tag = Telemetry::default();
        let queue =
            Queue { len: Octets(8_000), sent: Octets(12_800), rate: BitRate::from_gbps(10), ..Queue::default() };
        let own = config::<PowerTcp>("", &[]);
        Cp::new(&own, place).on_transmission(Instant(100_000), frame_of(FLOW, Instant::ZERO, &mut tag), &queue);
        assert_eq!(tag.hops(), [hop(100, 12_800, 8_000)]);
        let frame = frame_of(FLOW, Instant::ZERO, &mut tag);
        let echo = NotificationPoint::<PowerTcp>::acknowledge(&mut crate::hpcc::Np, Instant(300_000), frame);
        assert_eq!(echo, Some(tag));
        assert_eq!((PowerTcp::tag_octets(&own), PowerTcp::echo_octets(&own)), (42, 42));
    }

    /// 12 500 octets in 20 us are 5 Gb/s.
    #[test]
    fn a_window_stays_where_the_round_trip_time_changes() {
        let line = BitRate::from_gbps(10);
        let slow = config::<PowerTcp>("", &[("base_rtt", us(20))]);
        let mut rp = rp(&[]);
        rp.configure(&slow, line);
        assert_eq!(
            (rp.power.window(), rp.allowance().rate),
            (25_000.0, line),
            "before the first acknowledgement as a new one"
        );
        rp.configure(&config::<PowerTcp>("", &[("base_rtt", us(10))]), line);
        ack(&mut rp, 10_000, &[hop(5_000, 0, 16_000)]);
        rp.configure(&slow, line);
        assert_eq!((rp.power.window(), rp.allowance().rate), (12_500.0, BitRate::from_gbps(5)));
        rp.configure(&config::<PowerTcp>("", &[("base_rtt", us(5))]), line);
        assert_eq!((rp.power.window(), rp.old, rp.allowance().rate), (6_250.0, 6_250.0, line));
    }
}
