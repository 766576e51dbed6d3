//! DCQCN whole, in hardware: two reaction points, the marker in front of a bottleneck's queue, and the notification
//! point behind it, beside the event simulator with the same network and parameters.
//!
//! Two sources with lines of 1 Gb/s send to one destination behind a line of 1 Gb/s. Lines and queue are this
//! bench's; all decisions are the cores'. Times and steps are shorter and larger than the paper's, so that sources
//! come to rest within milliseconds. Once a frame is marked elsewhere both runs differ in all that follows, so means
//! are compared.

use std::collections::VecDeque;

use penstock_cosim::bits::Bits;
use penstock_cosim::stream::{Beat, Frame, Sink, Source};
use penstock_cosim::{Random, cnp_generator, dcqcn_rp, ecn_marker};
use penstock_scenario::{Choice, Scenario};
use penstock_schemes::dcqcn::Dcqcn;
use penstock_schemes::{Duration, Instant, SchemeConfig};
use penstock_sim::network::QueueId;
use penstock_sim::{Lean, Probe, Sim, View};

/// Picoseconds a clock, clocks a microsecond, and clocks of an octet on a line of 1 Gb/s.
const CLOCK_PS: u64 = 8_000;
const US: u64 = 125;
const OCTET: u64 = 1;
/// The runs: what is left out, and the end.
const FROM: u64 = 5_000 * US;
const UNTIL: u64 = 15_000 * US;
/// The bounds of agreement: of the mean queue its share, of the used rate the difference. Runs with other words differ by up to
/// 17 % and 0.05.
const QUEUE: f64 = 0.25;
const USED: f64 = 0.06;
/// A frame with its check sequence, and that with preamble and gap; a CNP's.
const FRAME: u64 = 1_000;
const ON_LINE: u64 = FRAME + 20;
const CNP_ON_LINE: u64 = 78 + 20;
/// A line's delay.
const DELAY: u64 = US;
const POINTS: usize = 2;
/// The queue pairs of the senders; those of the receiver are 100 less.
const QPS: [u32; POINTS] = [0x101, 0x102];

const SCENARIO: &str = r#"
question = "Does DCQCN in hardware what it does in the simulator?"
scheme = "dcqcn"
duration = "15 ms"
[hosts]
pacer = { token_bucket = { depth = "3 KB", interval = "16 us", granularity = "0.5 Mbps" } }
[network]
wire_overhead = "20 octets"
in_service_counts = false
[topology.star]
hosts = 3
link_rate = "1 Gbps"
link_delay = "1 us"
buffer = "1 MB"
[record]
queues = ["sw0->h2"]
[schemes.dcqcn]
k_min = "5 KB"
k_max = "50 KB"
p_max = 0.1
cnp_interval = "50 us"
g_inverse = 16
alpha_time = "55 us"
byte_reset = "150 KB"
time_reset = "55 us"
r_ai = "5 Mbps"
r_hai = "20 Mbps"
min_rate = "10 Mbps"
tr_clamp = true
[[flow]]
from = "h0"
to = "h2"
traffic = "greedy"
frame = "1000 octets"
[[flow]]
from = "h1"
to = "h2"
traffic = "greedy"
frame = "1000 octets"
start = "5 us"
"#;

/// The means of a run: the queue in octets, the share of the line that was used, and each flow's share of the frames.
#[derive(Debug)]
struct Means {
    queue: f64,
    used: f64,
    shares: Option<[f64; POINTS]>,
}

/// A frame of a flow, with ECT(0), without its check sequence.
fn frame(flow: usize) -> Frame {
    let mut octets = vec![2, 0, 0, 0, 0, 3, 2, 0, 0, 0, 0, 1 + flow as u8, 0x08, 0x00];
    octets.extend([0x45, 0x02, 0x03, 0xd6, 0, 0, 0x40, 0, 64, 17, 0x23, 0x10]);
    octets.extend([10, 0, 0, 1 + flow as u8, 10, 0, 0, 3]);
    octets.extend([0xc0, 0x00, 0x12, 0xb7, 0x03, 0xc2, 0, 0]);
    octets.extend([0x04, 0x00, 0xff, 0xff, 0x00]);
    octets.extend(&(QPS[flow] - 0x100).to_be_bytes()[1..]);
    octets.resize(FRAME as usize - 4, 0);
    Frame::new(octets)
}

/// The flow of a frame.
fn flow(frame: &Frame) -> usize {
    usize::from(frame.octets[11]) - 1
}

/// What comes at a clock, the earliest first.
type Coming<T> = VecDeque<(u64, T)>;

fn due<T>(coming: &mut Coming<T>, now: u64) -> Option<T> {
    coming.front().is_some_and(|(at, _)| *at <= now).then(|| coming.pop_front().expect("it is there").1)
}

/// The cores in a loop.
fn cores(seed: u64) -> Means {
    let mut random = Random::new(seed);
    let (mut rp, mut cp, mut np) =
        (dcqcn_rp::Core::new(seed), ecn_marker::Core::new(seed), cnp_generator::Core::new(seed));
    let mut given = dcqcn_rp::In {
        rst_i: true,
        qp_i: u64::from(QPS[0]) | u64::from(QPS[1]) << 24,
        alpha_init_i: 1 << 30,
        g_shift_i: 4,
        alpha_time_i: 55,
        threshold_i: 5,
        byte_reset_i: 150_000,
        time_reset_i: 55,
        ai_rate_i: 5_000_000,
        hai_rate_i: 20_000_000,
        min_rate_i: 10_000_000,
        max_rate_i: 1_000_000_000,
        ..dcqcn_rp::In::default()
    };
    let mut marking = ecn_marker::In {
        rst_i: true,
        k_min_i: 5_000,
        k_max_i: 50_000,
        p_max_i: 429_496_729,
        m_axis_tready: true,
        ..ecn_marker::In::default()
    };
    let mut notifying = cnp_generator::In {
        rst_i: true,
        interval_i: 50,
        tos_i: 0xc0,
        udp_source_i: 0xc000,
        rx_axis_tready: true,
        m_axis_tready: true,
        ..cnp_generator::In::default()
    };
    rp.clock(&given);
    cp.clock(&marking);
    np.clock(&notifying);
    (given.rst_i, marking.rst_i, notifying.rst_i) = (false, false, false);
    for qp in QPS {
        let write = cnp_generator::In {
            write_i: true,
            write_index_i: (qp & 63) as u8,
            write_valid_i: true,
            write_qp_i: qp - 0x100,
            write_peer_i: qp,
            ..notifying
        };
        np.clock(&write);
    }

    let mut sending: [Source<u64>; POINTS] = Default::default();
    let (mut line_free, mut first) = ([0u64; POINTS], [true; POINTS]);
    let (mut to_queue, mut to_host, mut to_source) =
        (Coming::<usize>::new(), Coming::<Frame>::new(), Coming::<Frame>::new());
    let (mut joining, mut lengths, mut marked) = (Source::<u64>::default(), VecDeque::new(), Sink::<u64>::default());
    let mut joins = true;
    let mut queue: VecDeque<Frame> = VecDeque::new();
    let (mut len, mut out_free) = (0u64, 0u64);
    let (mut arriving, mut cnps, mut backward) =
        (Source::<u64>::default(), Sink::<u64>::default(), Source::<u64>::default());
    let (mut sum, mut samples, mut begun, mut frames) = (0u64, 0u64, 0u64, [0u64; POINTS]);
    for now in 0..UNTIL {
        let tick = now % US == US - 1;
        // The reaction points, each with its own line, and the CNPs that arrive.
        for i in 0..POINTS {
            let starts = now >= i as u64 * 5 * US;
            if starts && sending[i].left() == 0 {
                sending[i].push(&frame(i));
            }
            let beat = sending[i].show(true);
            let shown = beat.unwrap_or_default();
            given.s_axis_tx_tdata.put(64 * i, 64, shown.data);
            given.s_axis_tx_tkeep.put(8 * i, 8, shown.keep.into());
            given.s_axis_tx_tlast.put(i, 1, shown.last.into());
            given.s_axis_tx_tvalid.put(i, 1, beat.is_some().into());
            given.s_axis_tx_octets_i.put(16 * i, 16, FRAME);
            given.m_axis_tx_tready.put(i, 1, (!first[i] || now >= line_free[i]).into());
        }
        if let Some(cnp) = due(&mut to_source, now) {
            backward.push(&cnp);
        }
        let beat = backward.show(true);
        let shown = beat.unwrap_or_default();
        (given.rx_axis_tvalid, given.rx_axis_tready) = (beat.is_some(), true);
        (given.rx_axis_tdata, given.rx_axis_tkeep, given.rx_axis_tlast) = (shown.data, shown.keep, shown.last);
        given.tick_i = tick;
        if beat.is_some() {
            backward.take();
        }
        let out = rp.clock(&given);
        for i in 0..POINTS {
            if out.s_axis_tx_tready >> i & 1 == 1 && given.s_axis_tx_tvalid >> i & 1 == 1 {
                sending[i].take();
            }
            if out.m_axis_tx_tvalid >> i & 1 == 1 && given.m_axis_tx_tready >> i & 1 == 1 {
                if first[i] {
                    line_free[i] = now + ON_LINE * OCTET;
                    to_queue.push_back((line_free[i] + DELAY, i));
                }
                first[i] = out.m_axis_tx_tlast >> i & 1 == 1;
            }
        }
        // A frame joins the queue past the marker, which sees the queue with it.
        while let Some(flow) = due(&mut to_queue, now) {
            len += FRAME;
            joining.push(&frame(flow));
            lengths.push_back(len as u32);
        }
        let beat = joining.show(true);
        let shown = beat.unwrap_or_default();
        if beat.is_some() {
            if joins {
                marking.queue_octets_i = lengths.pop_front().expect("a length for each frame");
                marking.random_i = random.word();
            }
            joins = joining.take().last;
        }
        marking.s_axis_tvalid = beat.is_some();
        (marking.s_axis_tdata, marking.s_axis_tkeep, marking.s_axis_tlast) = (shown.data, shown.keep, shown.last);
        let out = cp.clock(&marking);
        let beat =
            Beat { data: out.m_axis_tdata, keep: out.m_axis_tkeep, last: out.m_axis_tlast, user: out.m_axis_tuser };
        queue.extend(marked.see(out.m_axis_tvalid, beat, true));
        if now >= out_free
            && let Some(frame) = queue.pop_front()
        {
            len -= FRAME;
            out_free = now + ON_LINE * OCTET;
            if now >= FROM {
                begun += 1;
                frames[flow(&frame)] += 1;
            }
            to_host.push_back((out_free + DELAY, frame));
        }
        // The notification point; a CNP goes back over two lines.
        if let Some(frame) = due(&mut to_host, now) {
            arriving.push(&frame);
        }
        let beat = arriving.show(true);
        let shown = beat.unwrap_or_default();
        if beat.is_some() {
            arriving.take();
        }
        notifying.rx_axis_tvalid = beat.is_some();
        (notifying.rx_axis_tdata, notifying.rx_axis_tkeep, notifying.rx_axis_tlast) =
            (shown.data, shown.keep, shown.last);
        notifying.tick_i = tick;
        let out = np.clock(&notifying);
        let beat =
            Beat { data: out.m_axis_tdata, keep: out.m_axis_tkeep, last: out.m_axis_tlast, user: out.m_axis_tuser };
        if let Some(cnp) = cnps.see(out.m_axis_tvalid, beat, true) {
            to_source.push_back((now + 2 * (CNP_ON_LINE * OCTET + DELAY), cnp));
        }
        if tick && now >= FROM {
            (sum, samples) = (sum + len, samples + 1);
        }
    }
    let all = frames.iter().sum::<u64>() as f64;
    Means {
        queue: sum as f64 / samples as f64,
        used: (begun * ON_LINE * OCTET) as f64 / (UNTIL - FROM) as f64,
        shares: Some(frames.map(|frames| frames as f64 / all)),
    }
}

/// The simulator's run.
fn simulator(scenario: &Scenario, seed: u64) -> Means {
    let choice = Choice { seed: Some(seed), ..Choice::default() };
    let plan = scenario.plan(&choice).expect("it is a valid scenario");
    let own = |config| if let SchemeConfig::Dcqcn(config) = config { config } else { unreachable!("its scheme") };
    let configs: Vec<_> = plan.configs().into_iter().map(own).collect();
    let samples = Samples { queue: plan.record.queues[0], seen: Vec::new() };
    let mut sim = Sim::<Dcqcn, _, Lean>::new(&plan.network, &configs, plan.seed, samples);
    sim.run_until(Instant(UNTIL * CLOCK_PS));
    let (_, samples) = sim.finish();
    let seen = &samples.seen[(FROM / US) as usize..];
    let bits = seen.last().expect("samples").1 - seen[0].1;
    Means {
        queue: seen.iter().map(|&(length, _)| length as f64).sum::<f64>() / seen.len() as f64,
        used: bits as f64 / 8.0 / ((UNTIL - FROM) / OCTET) as f64,
        shares: None,
    }
}

/// The queue and the bits that its port has sent, every microsecond.
struct Samples {
    queue: QueueId,
    seen: Vec<(u64, u64)>,
}

impl Probe<Dcqcn> for Samples {
    fn interval(&self) -> Option<Duration> {
        Some(Duration(US * CLOCK_PS))
    }

    fn sample(&mut self, _now: Instant, view: &impl View<Dcqcn>) {
        let now = view.queue(self.queue);
        self.seen.push((now.len.0, now.line_bits));
    }
}

/// Of each a few runs, which differ in their random words.
#[test]
fn does_what_the_simulator_does() {
    let scenario = Scenario::parse(SCENARIO, "the loop", "loop").expect("it is a scenario");
    let (mut here, mut there) = (Vec::new(), Vec::new());
    for seed in 1..=2 {
        here.push(cores(seed));
        there.push(simulator(&scenario, seed));
    }
    println!("cores {here:?}\nsimulator {there:?}");
    let mean = |runs: &[Means], of: fn(&Means) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
    let queues = [mean(&here, |run| run.queue), mean(&there, |run| run.queue)];
    let used = [mean(&here, |run| run.used), mean(&there, |run| run.used)];
    assert!((queues[0] / queues[1] - 1.0).abs() < QUEUE, "{queues:?} octets");
    assert!((used[0] - used[1]).abs() < USED, "{used:?}");
    assert!(here.iter().flat_map(|run| run.shares).flatten().all(|share| (share - 0.5).abs() < 0.15), "{here:?}");
}
