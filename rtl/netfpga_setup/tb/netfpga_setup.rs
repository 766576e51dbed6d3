//! The set-up in a closed loop: every reaction point and the congestion point in lock step with the state machines of the
//! simulator, in every clock.

mod driver;
#[path = "../../switch/tb/follow.rs"]
mod follow;
#[path = "../../cp/tb/reference.rs"]
#[allow(dead_code)]
mod reference;

use std::collections::VecDeque;

use driver::{Bus, NICS, NetfpgaSetup, POINTS, POINTS_A_NIC, Settings, field, mac};
use follow::{Follow, Message, Shown};
use penstock_cosim::netfpga_setup_qcn::{In, Out};
use penstock_cosim::reaction_point::{self, Event, Machine, Point, Qcn, QcnSettings, Readings};
#[cfg(feature = "setups")]
use penstock_cosim::reaction_point::{SmccPoint, SmccSettings, smcc_defaults};
use penstock_cosim::stream::{Beat, Sink};
use penstock_cosim::{Clocked, at_least, netfpga_setup_qcn};

const BUFFER: u64 = 150_000;
/// Rate of the congestion point's port, and when it falls and rises again.
const RATE: u64 = 950_000_000;
const LOW: u64 = 500_000_000;

/// Timers and cycles so short that all phases come in a million clocks (8 ms).
const QCN: QcnSettings = QcnSettings {
    gd_shift: 7,
    threshold: 5,
    byte_reset: 10_000,
    time_reset: 1_000,
    ai_rate: 1_000_000,
    hai_rate: 2_000_000,
    min_rate: 5_000_000,
    max_rate: 1_000_000_000,
    jitter: 9830,
    timer_on: true,
};
const TICK_CLOCKS: u64 = 25;

/// The congestion point, and how the rates fall: 8 ms or more with a change of the service rate.
fn settings(clocks: u64, nic_ports: usize, nics: &[(&'static str, u64)]) -> (Settings, reference::Settings) {
    let cp = reference::Settings { q_eq: 33_000, w: 2048, base: 10_000, jitter: 9830, count: 15, probability: 0 };
    let mut registers = vec![
        (Bus::Switch, "cp.q_eq", cp.q_eq.into()),
        (Bus::Switch, "cp.w", cp.w.into()),
        (Bus::Switch, "cp.sample_base", cp.base.into()),
        (Bus::Switch, "cp.sample_jitter", cp.jitter.into()),
        (Bus::Switch, "cp.sample_count", cp.count.into()),
    ];
    for nic in 0..NICS {
        registers.extend(nics.iter().map(|&(name, value)| (Bus::Nic(nic), name, value)));
    }
    let changes = vec![(clocks / 3, LOW), (clocks * 2 / 3, RATE)];
    let settings = Settings { octets: 300, delay: 1250, rate: RATE, changes, nic_ports, registers };
    (settings, cp)
}

/// The observations of the reaction points.
#[derive(Debug, Default)]
struct Seen {
    signals: u64,
    sent: u64,
    byte_cycles: u64,
    time_cycles: u64,
}

/// A set-up, and the state machines beside it.
struct Bed<C, M> {
    bed: NetfpgaSetup<C>,
    smcc: bool,
    follow: Follow,
    machines: [Option<M>; POINTS],
    messages: Sink,
    /// Messages in flight to each reaction point.
    coming: [VecDeque<reaction_point::Message>; POINTS],
    /// The sum of the queue's octets so far.
    queue_sum: u64,
    seen: Seen,
}

impl<C: Clocked<In = In, Out = Out>, M: Machine> Bed<C, M> {
    fn new(smcc: bool, settings: &Settings, cp: reference::Settings) -> Self {
        let bed = NetfpgaSetup::new(settings, 5);
        Self {
            bed,
            smcc,
            follow: Follow::new(smcc, cp),
            machines: Default::default(),
            messages: Sink::<u64>::default(),
            coming: Default::default(),
            queue_sum: 0,
            seen: Seen::default(),
        }
    }

    /// One clock, and the outputs that it has to show; `starts` makes a reaction point's machine.
    fn clock(&mut self, starts: &impl Fn() -> M) {
        let out = self.bed.clock();
        let input = *self.bed.input();
        let shown = Shown {
            event: out.event_o.then_some((out.event_octets_o, out.event_dropped_o, out.event_queue_o.into())),
            sample: out.sample_o.then_some((out.congested_o, out.fb_o)),
            draw: out.draw_cp_o,
            reloaded: out.reloaded_o.then_some(out.interval_o.into()),
        };
        self.follow.clock(&shown, input.random_cp_i);
        assert!(u64::from(out.queue_o) <= BUFFER);
        assert_eq!(out.queue_sum_o, self.queue_sum, "clock {}", self.bed.clocks());
        self.queue_sum += u64::from(out.queue_o);
        let last = out.message_tlast_o;
        let beat = Beat { data: out.message_tdata_o, keep: if last { 0x0f } else { 0xff }, last, user: false };
        if let Some(frame) = self.messages.see(out.message_tvalid_o, beat, true) {
            let destination = self.follow.message(&frame);
            let Message { says: (fb, q_off, q_delta), cp_id, .. } = Message::of(&frame, self.smcc).expect("it is one");
            let message = reaction_point::Message { fb, cp: cp_id, q_off: q_off as i32, q_delta: q_delta as i32 };
            let point = (0..POINTS).find(|&point| mac(point) == destination).expect("a reaction point's");
            self.coming[point].push_back(message);
        }
        for point in 0..POINTS {
            self.point(point, &input, &out, starts);
        }
    }

    fn point(&mut self, point: usize, input: &In, out: &Out, starts: &impl Fn() -> M) {
        let bit = |bits: u8| bits >> point & 1 == 1;
        let signal = bit(out.signal_o)
            .then(|| self.coming[point].pop_front().expect("a message was sent to this reaction point"));
        let event = Event {
            start: bit(out.start_o),
            signal,
            sent: bit(out.sent_valid_o).then(|| field(&out.sent_octets_o, 16, point) as u16),
            tick: out.tick_o >> (point / POINTS_A_NIC) & 1 == 1,
            words: [input.random_byte_i[point], input.random_timer_i[point]],
        };
        if event.start {
            self.machines[point] = Some(starts());
        }
        let Some(machine) = &mut self.machines[point] else { return };
        let shows = machine.clock(&event);
        let here = format_args!("reaction point {point}, clock {}", self.bed.clocks());
        if !event.start {
            let point = Point {
                current_rate: field(&out.current_rate_o, 34, point),
                target_rate: field(&out.target_rate_o, 34, point),
                byte_stage: (out.byte_stage_o >> (8 * point)) as u8,
                time_stage: (out.time_stage_o >> (8 * point)) as u8,
            };
            assert_eq!(point, shows.point, "{here}");
        }
        let draws = [bit(out.draw_byte_o), bit(out.draw_timer_o)];
        assert_eq!((draws, shows.ready || signal.is_none()), (shows.draws, true), "{here}");
        self.seen.signals += u64::from(signal.is_some());
        self.seen.sent += u64::from(event.sent.is_some());
        self.seen.byte_cycles += u64::from(draws[0]);
        self.seen.time_cycles += u64::from(draws[1]);
    }

    /// Starts a flow while the machines look on.
    fn start(&mut self, point: usize, starts: &impl Fn() -> M) {
        self.bed.begin(point);
        while self.bed.busy() {
            self.clock(starts);
        }
    }

    /// All eight flows, one after the other, for `clocks` clocks.
    fn run(&mut self, clocks: u64, starts: &impl Fn() -> M) {
        for point in 0..POINTS {
            self.start(point, starts);
            for _ in 0..20_000 {
                self.clock(starts);
            }
        }
        let begin = self.bed.measured();
        while self.bed.measured().clocks < clocks {
            self.clock(starts);
        }
        let measured = self.bed.measured().since(&begin);
        println!("{:?}, mean queue {:.0} octets, {measured:?}", self.seen, measured.mean_queue());
        let offered = (RATE * 2 + LOW) / 3;
        assert!(measured.utilisation(offered) > 0.9, "{}", measured.utilisation(offered));
        assert_eq!(self.bed.read(Bus::Switch, "cp.messages_lost"), 0);
        assert!(self.follow.missing() <= 1, "one may be in flight");
        for nic in 0..NICS {
            for counter in ["receiver.malformed", "receiver.unknown"] {
                assert_eq!(self.bed.read(Bus::Nic(nic), counter), 0, "{counter}");
            }
        }
    }
}

/// QCN, its timer and both its counters, with both assignments of the NICs' ports.
fn qcn<C: Clocked<In = In, Out = Out>>(clocks: u64, nic_ports: usize) -> Seen {
    let (settings, cp) = settings(clocks, nic_ports, &QCN.registers(TICK_CLOCKS));
    let mut bed = Bed::<C, Qcn>::new(false, &settings, cp);
    bed.run(clocks, &|| Qcn::new(Readings::FULL, &QCN));
    bed.seen
}

#[test]
fn qcn_in_lock_step() {
    let seen = qcn::<netfpga_setup_qcn::Core>(at_least(1_000_000), 1);
    assert!(seen.signals > 100 && seen.sent > 2_000 && seen.byte_cycles > 50 && seen.time_cycles > 100, "{seen:?}");
}

#[cfg(feature = "setups")]
#[test]
fn qcn_with_a_port_for_each_reaction_point_in_lock_step() {
    let seen = qcn::<penstock_cosim::netfpga_setup_qcn_ports::Core>(at_least(400_000), 4);
    assert!(seen.signals > 100 && seen.sent > 1_000 && seen.byte_cycles > 20, "{seen:?}");
}

#[cfg(feature = "setups")]
#[test]
fn smcc_in_lock_step() {
    let clocks = at_least(1_000_000);
    let (config, max_rate) = (smcc_defaults(), 1_000_000_000);
    let (settings, cp) = settings(clocks, 1, &SmccSettings::of(&config, max_rate).registers());
    let mut bed = Bed::<penstock_cosim::netfpga_setup_smcc::Core, SmccPoint>::new(true, &settings, cp);
    bed.run(clocks, &|| SmccPoint::new(&config, max_rate, 1));
    assert!(bed.seen.signals > 100 && bed.seen.sent > 2_000, "{:?}", bed.seen);
}

/// Clocks that pass without a look at each give the same.
#[test]
fn fast_runs_are_the_same() {
    let (settings, _) = settings(100_000, 1, &QCN.registers(TICK_CLOCKS));
    let ends = [1, 1000, 1_000_000].map(|stretch| {
        let mut bed = NetfpgaSetup::<netfpga_setup_qcn::Core>::new(&settings, 9);
        (0..POINTS).for_each(|point| bed.start(point));
        let begun = bed.clocks();
        while bed.clocks() < begun + 100_000 {
            let left = begun + 100_000 - bed.clocks();
            if stretch == 1 {
                bed.clock();
            } else {
                bed.run(left.min(stretch));
            }
        }
        // All are asked for the outputs of the clock that comes.
        bed.run(0);
        (bed.measured(), bed.queue(), (0..POINTS).map(|point| bed.rates(point)).collect::<Vec<_>>())
    });
    assert_eq!(ends[0], ends[1]);
    assert_eq!(ends[0], ends[2]);
}

/// A flow of the largest rate alone: its frames come out at the rate of the congestion point's port.
#[test]
fn one_flow_fills_the_port() {
    let settings = Settings { rate: 400_000_000, ..Settings::default() };
    let mut bed = NetfpgaSetup::<netfpga_setup_qcn::Core>::new(&settings, 2);
    bed.start(3);
    bed.run(20_000);
    let begin = bed.measured();
    bed.run(200_000);
    let measured = bed.measured().since(&begin);
    assert!((measured.utilisation(400_000_000) - 1.0).abs() < 0.01, "{}", measured.utilisation(400_000_000));
    assert!(bed.queue() > 10_000);
    let before = bed.read(Bus::Nic(0), "reaction_point[3].next_sequence");
    bed.stop(3);
    bed.run(500_000);
    assert_eq!(bed.queue(), 0);
    let after = bed.read(Bus::Nic(0), "reaction_point[3].next_sequence");
    assert!(after - before < 3);
    let sent = u64::from(bed.measured().frames) + bed.read(Bus::Switch, "cp.dropped");
    assert_eq!(sent, after, "each frame that was made came out or was refused");
    assert_eq!((bed.line(0, "unknown"), bed.line(0, "bad"), bed.line(0, "dropped")), (after, 0, 0));
}

/// Frames that a table sends to another NIC are its host's, which takes all of them.
#[test]
fn a_host_takes_what_comes() {
    let mut bed = NetfpgaSetup::<netfpga_setup_qcn::Core>::new(&Settings::default(), 4);
    bed.write(Bus::Switch, "forwarding.default_ports", 1 << 1);
    bed.start(0);
    bed.run(600_000);
    bed.stop(0);
    bed.run(50_000);
    let sent = bed.read(Bus::Nic(0), "reaction_point[0].next_sequence");
    let taken = ["host.frames", "host.dropped"].map(|name| bed.read(Bus::Nic(1), name));
    assert!(sent > 300, "{sent} frames");
    assert_eq!(taken, [sent, 0]);
}

/// The builds for long runs agree with the others; their speed.
#[cfg(feature = "experiment")]
mod fast {
    use super::{Clocked, In, Out, Settings};
    use super::{NetfpgaSetup, POINTS, QCN, SmccSettings, TICK_CLOCKS, settings, smcc_defaults};
    use penstock_cosim::{netfpga_setup_qcn, netfpga_setup_qcn_fast, netfpga_setup_smcc, netfpga_setup_smcc_fast};

    /// Clocks of a processor that this thread has had, seconds.
    fn processor_time() -> f64 {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux has it");
        text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).expect("nanoseconds") / 1e9
    }

    fn end<C: Clocked<In = In, Out = Out>>(name: &str, settings: &Settings) -> String {
        let mut bed = NetfpgaSetup::<C>::new(settings, 3);
        (0..POINTS).for_each(|point| bed.start(point));
        let begun = processor_time();
        let clocks = 1_000_000;
        bed.run(clocks);
        println!(
            "{name}: {:.2} million clocks a second of processor time",
            clocks as f64 / 1e6 / (processor_time() - begun)
        );
        let rates: Vec<_> = (0..POINTS).map(|point| bed.rates(point)).collect();
        format!("{:?}, queue {}, rates {rates:?}", bed.measured(), bed.queue())
    }

    #[test]
    fn fast_builds_are_the_same() {
        let (qcn, _) = settings(1_000_000, 1, &QCN.registers(TICK_CLOCKS));
        let same = end::<netfpga_setup_qcn_fast::Core>("netfpga_setup_qcn_fast", &qcn);
        assert_eq!(same, end::<netfpga_setup_qcn::Core>("netfpga_setup_qcn", &qcn));
        let (smcc, _) = settings(1_000_000, 1, &SmccSettings::of(&smcc_defaults(), 1_000_000_000).registers());
        let same = end::<netfpga_setup_smcc_fast::Core>("netfpga_setup_smcc_fast", &smcc);
        assert_eq!(same, end::<netfpga_setup_smcc::Core>("netfpga_setup_smcc", &smcc));
    }
}
