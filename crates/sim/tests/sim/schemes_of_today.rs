//! Published statements on schemes of today, in packets, each beside a run that must not show it.

use crate::common::{Look, Looking, star};
use penstock_schemes::mixed::{Mixed, Rp};
use penstock_schemes::{
    BitRate, Duration, HEADER, Info, Instant, Octets, ReactionPoint, SCHEMES, Scheme, SchemeConfig, Value,
};
use penstock_sim::network::{Builder, FlowId, Marking, Network};
use penstock_sim::{Full, Outcome, Sim, View};

const US: Duration = Duration(1_000_000);

fn ms(n: u64) -> Instant {
    Instant::ZERO + Duration::from_ms(n)
}

/// A scheme's parameters with these changes of its defaults.
fn values(info: &Info, changes: &[(&str, Value)]) -> Vec<Value> {
    let changed = |name: &str| changes.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
    info.parameters.iter().map(|p| changed(p.name).unwrap_or(p.default)).collect()
}

/// The configuration of a scheme, for the one engine of all schemes.
fn of(scheme: &str, changes: &[(&str, Value)]) -> SchemeConfig {
    let info = SCHEMES.iter().find(|info| info.name == scheme).expect("a scheme");
    SchemeConfig::new(scheme, &values(info, changes)).expect("values are of their parameters' kinds")
}

/// Keeps the variables of the first source at each sample after the warm-up.
struct Vars {
    from: Instant,
    rows: Vec<Vec<i64>>,
}

impl Look<Mixed> for Vars {
    fn interval(&self) -> Option<Duration> {
        Some(Duration::from_us(10))
    }

    fn sample(&mut self, now: Instant, view: &dyn View<Mixed>) {
        fn row<S: Scheme>(point: &impl ReactionPoint<S>) -> Vec<i64> {
            let mut row = vec![0; S::Rp::VARS.len()];
            point.vars(&mut row);
            row
        }
        if now >= self.from {
            match view.rp(FlowId(0)).expect("a reaction point") {
                Rp::Swift(point) => self.rows.push(row(point)),
                Rp::Nscc(point) => self.rows.push(row(point)),
                _ => {}
            }
        }
    }
}

/// Runs to `end`, measures from `warmup` on.
fn run(network: &Network, config: SchemeConfig, warmup: Instant, end: Instant) -> (Outcome, Vec<Vec<i64>>) {
    let mut vars = Vars { from: warmup, rows: Vec::new() };
    let configs: Vec<_> = network.priorities.iter().map(|_| config.clone()).collect();
    let mut sim = Sim::<_, _, Full>::new(network, &configs, 1, Looking::with(&mut vars));
    sim.run_until(warmup);
    sim.start_measuring();
    sim.run_until(end);
    (sim.finish().0, vars.rows)
}

/// Jain's index of the flows' throughput: (Σx)² / (n Σx²).
fn fairness(outcome: &Outcome) -> f64 {
    let got: Vec<f64> = outcome.flows.iter().map(|flow| flow.throughput_bps).collect();
    got.iter().sum::<f64>().powi(2) / (got.len() as f64 * got.iter().map(|x| x * x).sum::<f64>())
}

/// `n` sources into one port, their starts 75 ns apart.
fn incast(n: usize, gbps: u64, frame: u16, buffer: u64) -> (Network, usize) {
    let mut b = star(n, BitRate::from_gbps(gbps), US, Octets(buffer));
    for (i, flow) in b.network.flows.iter_mut().enumerate() {
        (flow.frame, flow.start) = (frame, Instant(75_000 * i as u64));
    }
    let queue = b.network.queue(b.port(n + 1, n), 0).index();
    (b.network, queue)
}

fn mean(rows: &[Vec<i64>], column: usize) -> f64 {
    rows.iter().map(|row| row[column] as f64).sum::<f64>() / rows.len() as f64
}

/// Kumar et al. 2020: the delay is at its target. With another target it is there.
#[test]
fn swift_holds_the_delay_at_its_target() {
    let (network, queue) = incast(8, 10, 1500, 1_000_000);
    let mut delays = Vec::new();
    for base in [20, 60] {
        let config = of("swift", &[("base_delay_target", Value::Time(Duration::from_us(base)))]);
        let (outcome, rows) = run(&network, config, ms(20), ms(60));
        let (delay, target) = (mean(&rows, 2), mean(&rows, 3));
        assert!((delay / target - 1.0).abs() < 0.1, "{delay} of {target}");
        assert!(outcome.queues[queue].utilization > 0.99 && outcome.totals.frames_dropped == 0);
        assert!(fairness(&outcome) > 0.95);
        delays.push(delay);
    }
    assert!(delays[1] - delays[0] > 25e6, "the second target is 40 us longer, less its windows' part: {delays:?}");
}

/// 300 sources: less than a frame each. With a least window of one frame instead, 300 frames are in flight, 360 us of them.
#[test]
fn swift_paces_below_one_frame() {
    let (network, queue) = incast(300, 10, 1500, 6_000_000);
    let mut queues = Vec::new();
    for min_fcwnd in [0.01, 1.0] {
        let config = of("swift", &[("min_fcwnd", Value::Real(min_fcwnd))]);
        let (outcome, rows) = run(&network, config, ms(30), ms(60));
        let q = outcome.queues[queue];
        assert!(q.utilization > 0.999 && fairness(&outcome) > 0.95, "{q:?}");
        queues.push((q.mean_octets, mean(&rows, 0)));
    }
    // The windows hold thousandths of a frame.
    let [(paced, part), (unpaced, whole)] = queues[..] else { unreachable!("two runs") };
    assert!(part < 500.0 && paced < 200_000.0, "{queues:?}");
    assert!(whole == 1000.0 && (440_000.0..450_000.0).contains(&unpaced), "{queues:?}");
}

/// Li et al. 2019: 95 % of the line, and a queue near zero, under incast: 2.6 KB are four hundredths of what the line holds in T. The
/// longest queue has no frame of each source, as in HPCC's simulator (bench/peers: 13 080 octets with 32 sources).
/// With eta = 1 nothing is left free, and the queue is half as long again.
#[test]
fn hpcc_leaves_five_percent_free_and_the_queue_near_zero() {
    let (network, queue) = incast(16, 100, 1000, 2_000_000);
    let seen = [("records", 0.95), ("pint", 0.95), ("records", 1.0)].map(|(telemetry, eta)| {
        let changes = [
            ("base_rtt", Value::Time(Duration::from_us(5))),
            ("eta", Value::Real(eta)),
            ("telemetry", Value::Choice(telemetry)),
        ];
        let (outcome, _) = run(&network, of("hpcc", &changes), ms(2), ms(8));
        assert!(fairness(&outcome) > 0.999 && outcome.totals.frames_dropped == 0);
        outcome.queues[queue]
    });
    let [records, pint, full] = seen;
    for q in [records, pint] {
        assert!((0.93..0.96).contains(&q.utilization) && q.mean_octets < 3_000.0 && q.max_octets < 16 * 1042, "{q:?}");
    }
    assert!(full.utilization > 0.965 && full.mean_octets > 1.4 * records.mean_octets, "{full:?}");
}

/// Taheri et al. 2020: fair, the queue at Qref, without loss. QCN, whose sources search one by one, is less fair in the same time.
#[test]
fn rocc_is_fair_at_once_without_loss() {
    let (network, queue) = incast(8, 10, 1500, 1_000_000);
    let (outcome, _) = run(&network, of("rocc", &[]), ms(5), ms(15));
    let q = outcome.queues[queue];
    assert!(fairness(&outcome) > 0.9999 && outcome.totals.frames_dropped == 0, "{}", fairness(&outcome));
    assert!(q.utilization > 0.999 && (q.mean_octets / 37_500.0 - 1.0).abs() < 0.1, "{q:?}");
    let (control, _) = run(&network, of("qcn", &[]), ms(5), ms(15));
    assert!(fairness(&control) < 0.999, "{}", fairness(&control));
}

/// Alizadeh et al. 2010, section 3.3. With N sources in step the queue reaches K + N segments, and its sawtooth has the amplitude
/// A = sqrt(2 N (C RTT + K)) / 2, a standard deviation of A / sqrt(12). Where K is out of reach, losses alone end the growth.
#[test]
fn dctcp_keeps_the_queue_near_k_and_its_sawtooth_grows_with_the_root() {
    let (network, queue) = incast(2, 10, 1500, 400_000);
    let seen = |k: u64| {
        let (outcome, _) = run(&network, of("dctcp", &[("k", Value::Octets(Octets(k)))]), ms(20), ms(60));
        let q = outcome.queues[queue];
        assert!(q.utilization > 0.999, "{q:?}");
        (q.max_octets as f64 / 1500.0, q.std_octets / 1500.0, outcome.totals.frames_dropped)
    };
    // 4 us and two frames of 1.2 us, at 10 Gb/s.
    let round_trip = 6.4 * 1250.0 / 1500.0;
    let mut ratios = Vec::new();
    for k in [30.0, 65.0, 130.0] {
        let (most, deviation, lost) = seen(k as u64 * 1500);
        assert!((k + 1.0..=k + 4.0).contains(&most) && lost == 0, "{k}: at most {most}, {lost} lost");
        ratios.push(deviation * 12.0_f64.sqrt() / ((2.0 * 2.0 * (round_trip + k)).sqrt() / 2.0));
    }
    // One cut a sawtooth: two would double it. The cuts of two sources need not fall together, which takes some of it away; the
    // amplitude itself is held to the law in the program `laws`.
    assert!(ratios.iter().all(|ratio| (0.85..1.15).contains(ratio)), "{ratios:?}");
    let (most, _, lost) = seen(400_000);
    assert!(most > 260.0 && lost > 0, "{most} {lost}");
}

/// Zhu et al. 2016: how TIMELY divides the line depends on how it began; with the patched law it does not. The second source starts
/// with the first one, or 5 ms later.
#[test]
fn timely_has_no_equilibrium_of_its_own_and_patched_it_has() {
    let (network, _) = incast(2, 10, 1500, 1_000_000);
    let share = |law, beta, late| {
        let mut network = network.clone();
        network.flows[1].start = Instant::ZERO + Duration::from_us(late);
        let changes = [("law", Value::Choice(law)), ("beta", Value::Real(beta))];
        let (outcome, _) = run(&network, of("timely", &changes), ms(100), ms(200));
        outcome.flows[1].throughput_bps / outcome.flows.iter().map(|flow| flow.throughput_bps).sum::<f64>()
    };
    let gradient = [0, 5_000].map(|late| share("gradient", 0.8, late));
    assert!((gradient[0] - gradient[1]).abs() > 0.2, "{gradient:?}");
    let patched = [0, 5_000].map(|late| share("patched", 0.008, late));
    assert!(patched.iter().all(|share| (share - 0.5).abs() < 0.001), "{patched:?}");
}

/// Zhu et al. 2016, section 5: marked by a PI controller, queues rest at the reference whatever the number of flows; with thresholds
/// DCQCN's grows with that number.
#[test]
fn a_pi_controller_holds_the_queue_for_any_number_of_flows() {
    let mean = |n: usize, marking: &'static str| {
        let (network, queue) = incast(n, 10, 1500, 4_000_000);
        let config = of("dcqcn", &[("marking", Value::Choice(marking))]);
        run(&network, config, ms(100), ms(200)).0.queues[queue].mean_octets
    };
    let pi = [8, 32].map(|n| mean(n, "pi"));
    assert!(pi.iter().all(|mean| (mean / 50_000.0 - 1.0).abs() < 0.05), "{pi:?}");
    let ramp = [8, 32].map(|n| mean(n, "threshold"));
    assert!(ramp[1] > 1.4 * ramp[0], "{ramp:?}");
    let dctcp = [2, 8].map(|n| {
        let (network, queue) = incast(n, 10, 1500, 4_000_000);
        let config = of("dctcp", &[("marking", Value::Choice("pi"))]);
        run(&network, config, ms(100), ms(200)).0.queues[queue].mean_octets
    });
    assert!(dctcp.iter().all(|mean| (mean / 50_000.0 - 1.0).abs() < 0.05), "{dctcp:?}");
}

/// Sixteen sources find a queue of 26 frames, which drops most of them, or trims them. To QCN's congestion point each of these is an
/// arrival at a full queue, so that the two runs are the same to the sources.
#[test]
fn a_trimmed_frame_has_come_to_its_queue() {
    let seen = |trims: bool| {
        let (mut network, _) = incast(16, 10, 1500, 40_000);
        network.trimmed = if trims { vec![0] } else { Vec::new() };
        let totals = run(&network, of("qcn", &[]), ms(0), ms(2)).0.totals;
        assert_eq!(totals.frames_trimmed, if trims { totals.frames_dropped } else { 0 });
        assert!(totals.frames_dropped > 1_000 && totals.signals_sent > 100 && totals.cuts > 100, "{totals:?}");
        (totals.frames_sent, totals.signals_sent, totals.cuts)
    };
    assert_eq!(seen(true), seen(false));
}

/// A controller goes by the length by which the port marks. Fifty frames of 1518 octets come within 61 us, behind 90 KB of another
/// priority, to a line of 1 Gb/s; the reference of 80 KB is more than all of them. The first one comes at 102.2 us. An interval later the
/// port has some 135 KB: with a gain of 1 for 1000 octets p is 1, and the 43rd frame and those behind are marked.
#[test]
fn a_controller_goes_by_the_length_that_marks() {
    for (by_port, marked) in [(false, 0), (true, 8)] {
        let mut b = Builder::new(3, 1);
        for (host, gbps) in [(0, 10), (1, 10), (2, 1)] {
            b.link(host, 3, BitRate::from_gbps(gbps), US, Octets(200_000));
        }
        let other = b.flow(&[1, 3, 2]);
        (other.priority, other.frame, other.size) = (5, 1500, Some(Octets(90_000)));
        let flow = b.flow(&[0, 3, 2]);
        flow.start = Instant::ZERO + Duration::from_us(100);
        (flow.frame, flow.size) = (1518, Some(Octets(50 * 1518)));
        b.network.priorities = vec![0, 5];
        b.network.marking = Marking { at_departure: false, by_port };
        let changes = [
            ("marking", Value::Choice("pi")),
            ("pi_q_ref", Value::Octets(Octets(80_000))),
            ("pi_a", Value::Real(1.0)),
            ("pi_b", Value::Real(0.0)),
        ];
        // The other flow's frames have all come before an interval has passed, and none is marked.
        let (outcome, _) = run(&b.network, of("dcqcn", &changes), Instant::ZERO, ms(10));
        assert_eq!(outcome.totals.frames_marked, marked);
    }
}

/// Four flows to a host 1 ms away and four to a near one share a rack's uplink; its queue, and the flows.
fn two_distances() -> (Network, usize) {
    // Hosts 0 to 7 send, 8 is far, 9 near; 10 is the rack's switch, 11 the spine.
    let mut b = Builder::new(10, 2);
    let line = BitRate::from_gbps(10);
    for host in 0..8 {
        b.link(host, 10, line, US, Octets(500_000));
    }
    b.link(10, 11, line, US, Octets(500_000));
    b.link(11, 8, line, Duration::from_ms(1), Octets(500_000));
    b.link(11, 9, line, US, Octets(500_000));
    for host in 0..8 {
        let to = if host < 4 { 8 } else { 9 };
        b.flow(&[host, 10, 11, to]).start = if host < 4 { Instant::ZERO } else { ms(10) };
    }
    let queue = b.network.queue(b.port(10, 11), 0).index();
    (b.network, queue)
}

/// Saeed et al. 2020, the sign of it: with near messages the shared queue is shorter, and far flows are no longer pushed aside. Where
/// no queue is near, the runs of Annulus and DCTCP are the same.
#[test]
fn annulus_shortens_the_queue_that_far_and_near_flows_share() {
    let (network, queue) = two_distances();
    let near = |hops| of("annulus", &[("q_eq", Value::Octets(Octets(33_000))), ("near_hops", Value::Count(hops))]);
    let (annulus, _) = run(&network, near(1), ms(20), ms(100));
    let (dctcp, _) = run(&network, of("dctcp", &[]), ms(20), ms(100));
    let (silent, _) = run(&network, near(0), ms(20), ms(100));
    let far = |outcome: &Outcome| outcome.flows[..4].iter().map(|flow| flow.throughput_bps).sum::<f64>();
    let [with, without] = [&annulus, &dctcp].map(|outcome| outcome.queues[queue]);
    assert!(with.mean_octets < 0.25 * without.mean_octets && with.utilization > 0.95, "{with:?}, {without:?}");
    assert!(far(&annulus) > 5.0 * far(&dctcp), "{} {}", far(&annulus), far(&dctcp));
    assert_eq!(silent.queues[queue], without);
}

/// NSCC under incasts of 16 and 128 at 100 Gb/s: with trimming sources come down to what arrives, after the start no frame is lost, and
/// all share alike. Without trimming 16 still do; of 128 those whose windows were all lost wait for time-outs. Headers that find a full
/// queue of control frames are conserved too: the run checks it.
///
/// The empty network's round trip is 4 us and two frames of 120 ns. Sources know it from their paths, also where the network's parameter
/// is longer: those that start too late to see an empty queue do not take part of the queue for the network's.
#[test]
fn nscc_comes_down_to_what_arrives() {
    let seen = |n: usize, trimming: bool, rtt_ns: u64| {
        let (mut network, queue) = incast(n, 100, 1500, 225_000);
        network.trimmed = if trimming { vec![0] } else { Vec::new() };
        let changes = [
            ("network_rtt", Value::Time(Duration(1000 * rtt_ns))),
            ("k_min", Value::Octets(Octets(17_000))),
            ("k_max", Value::Octets(Octets(70_000))),
            ("trimming", Value::Switch(trimming)),
        ];
        let (early, _) = run(&network, of("nscc", &changes), ms(0), ms(1));
        let (late, _) = run(&network, of("nscc", &changes), ms(5), ms(15));
        let lost = late.totals.frames_dropped - early.totals.frames_dropped;
        assert!(late.queues[queue].utilization > 0.99 && lost < 10, "{n} {trimming}: {lost} lost late");
        (fairness(&late), late.queues[queue].mean_octets)
    };
    let ((few, queue), (dropping, _)) = (seen(16, true, 4_240), seen(16, false, 4_240));
    assert!(few > 0.98 && dropping > 0.98 && queue < 80_000.0, "{few} {dropping} {queue}");
    let ((many, _), (without, _)) = (seen(128, true, 4_240), seen(128, false, 4_240));
    assert!(many > 0.99 && without < 0.5, "{many} {without}");
    let (longer, _) = seen(16, true, 5_000);
    assert!(longer > 0.98, "{longer}");
}

/// A lone frame takes as long as the source expects, over links of any rates and delays: so the first acknowledgement shows no delay.
#[test]
fn a_source_knows_the_round_trip_of_its_way() {
    let mut b = Builder::new(2, 2);
    b.link(0, 2, BitRate::from_gbps(100), US, Octets(1_000_000));
    b.link(2, 3, BitRate::from_gbps(40), Duration::from_us(7), Octets(1_000_000));
    b.link(3, 1, BitRate::from_gbps(25), Duration(300_000), Octets(1_000_000));
    let flow = b.flow(&[0, 2, 3, 1]);
    (flow.frame, flow.size) = (1500, Some(Octets(1500)));
    let (outcome, vars) = run(&b.network, of("nscc", &[]), Instant::ZERO, ms(1));
    assert_eq!(outcome.totals.acks_delivered, 1);
    let expected = b.network.round_trip(FlowId(0), HEADER).expect("it has a path");
    // 1500 octets at 100, 40 and 25 Gb/s, 64 back, and 8.3 us each way.
    assert_eq!(expected, Duration(120_000 + 300_000 + 480_000 + 5_120 + 12_800 + 20_480 + 2 * 8_300_000));
    for row in &vars {
        assert_eq!(&row[1..], &[0, expected.0 as i64], "mean delay and base");
    }
    // Without it the base would be the parameter's until the acknowledgement, or for good where the path is longer.
    assert!(Duration::from_us(12) < expected);
}
