//! A host and a port of a switch at 100 Gb/s, 512 bits at 322 MHz. In every clock what they do is held to the state machines of the
//! reaction point, of the congestion point, of the switch's memory and of the host's stops. No frame is lost, and frames of each
//! length have all of the line.

#[allow(dead_code, reason = "other benches use the rest")]
#[path = "../../cp/tb/bench.rs"]
mod bench;
#[path = "../../cp/tb/expected.rs"]
mod expected;
#[allow(dead_code, unused_macros, unused_imports, reason = "other benches use the rest")]
#[path = "../../rp_common/tb/pins.rs"]
mod pins;
#[path = "../../rp_common/tb/reference.rs"]
mod point;
#[allow(dead_code, reason = "other benches use the rest")]
#[path = "../../cp/tb/reference.rs"]
mod reference;
#[path = "../../cp/tb/wire.rs"]
mod wire;
#[allow(dead_code, reason = "other benches use the rest")]
#[path = "../../cp/tb/wires.rs"]
mod wires;

use std::collections::VecDeque;

use bench::Bench;
use penstock_cosim::bits::Bits;
use penstock_cosim::bucket::Shape;
use penstock_cosim::flow_control::{Held, PoolSettings, SharedMemory, Watched};
use penstock_cosim::line_rate::{Core, In, Out};
use penstock_cosim::messages::CNM;
use penstock_cosim::reaction_point::{self as state, Point, Qcn, QcnSettings, Readings};
use penstock_cosim::stream::{Beat, Frame, Sink, Source};
use penstock_cosim::{Random, at_least, cp_qcn};
use pins::{MACS, Pins, Shown};
use point::Reference;
use wires::{Given, Wires};

type Data = [u32; 16];

const CLOCK_HZ: u64 = 322_265_625;
const RATE: u64 = 100_000_000_000;
/// Octets on the line beside a frame's own with its check sequence, and the work of an octet there, bit x Hz: a clock does `RATE` of it.
const LINE: u64 = 20;
const OCTET: u64 = 8 * CLOCK_HZ;
const LONGEST: usize = 9_216;
const BUFFER: u64 = 200_000;
const PRIORITY: usize = 3;
/// Clocks of a quantum: 1.65, rounded up.
const QUANTUM: u64 = 2;
/// Clocks of the microsecond that the reaction point's timer counts.
const TICK: u64 = 322;

const BUCKET: Shape =
    Shape { refill_clocks: 330, refill_ps: 1_024_000, depth: 32_768, granularity: 7_812_500, rate_bits: 40 };

const POINT: QcnSettings = QcnSettings {
    gd_shift: 7,
    threshold: 5,
    byte_reset: 150_000,
    time_reset: 40,
    ai_rate: 500_000_000,
    hai_rate: 5_000_000_000,
    min_rate: 1_000_000_000,
    // More than the line has, which is full by itself then.
    max_rate: 110_000_000_000,
    jitter: 9_830,
    timer_on: true,
};
const CONGESTION: reference::Settings =
    reference::Settings { q_eq: 33_000, w: 2048, base: 150_000, jitter: 9830, count: 0, probability: 0 };

fn memory() -> PoolSettings {
    PoolSettings {
        shared: 120_000,
        headroom: 60_000,
        most: 60_000,
        // A half of what is free.
        alpha: [Some(-1); 8],
        xoff: [(1 << 24) - 1; 8],
        xon: [(1 << 24) - 1 - 20_000; 8],
    }
}

macro_rules! beat {
    ($out:ident, $valid:ident $data:ident $keep:ident $last:ident $user:ident) => {
        $out.$valid.then_some(Beat { data: $out.$data, keep: $out.$keep, last: $out.$last, user: $out.$user })
    };
}

/// The outputs of the reaction points.
fn shown(out: &Out) -> Shown<Data> {
    let bit = |bits: u8, i: usize| bits >> i & 1 == 1;
    let left = |bits: u64, i: usize| (bits.get(26 * i, 26) << 38) as i64 >> 38;
    let of_point = |i: usize| state::Shown {
        point: Point {
            current_rate: out.current_rate_o.get(40 * i, 40),
            target_rate: out.target_rate_o.get(40 * i, 40),
            byte_stage: (out.byte_stage_o >> (8 * i)) as u8,
            time_stage: (out.time_stage_o >> (8 * i)) as u8,
        },
        phase: out.phase_o >> (2 * i) & 3,
        byte_left: left(out.byte_remaining_o, i),
        time_left: left(out.time_remaining_o, i),
        busy: bit(out.busy_o, i),
        ready: false,
        draws: [bit(out.draw_byte_o, i), bit(out.draw_timer_o, i)],
    };
    let half = |word: u32, i: usize| (word >> (16 * i)) as u16;
    Shown {
        rx_ready: out.rx_axis_tready,
        rx: beat!(out, other_axis_tvalid other_axis_tdata other_axis_tkeep other_axis_tlast other_axis_tuser),
        tx_ready: [out.s_axis_tx_tready, true],
        tx: [beat!(out, tx_axis_tvalid tx_axis_tdata tx_axis_tkeep tx_axis_tlast tx_axis_tuser), None],
        point: [0, 1].map(of_point),
        signal: [0, 1].map(|i| bit(out.signal_o, i)),
        sent: [0, 1].map(|i| bit(out.sent_valid_o, i).then(|| half(out.sent_octets_o, i))),
        tokens: [0, 1].map(|i| half(out.tokens_o, i)),
        dropped: [0, 1].map(|i| out.too_long_o.get(32 * i, 32) as u32),
        taken: out.taken_o,
        malformed: out.malformed_o,
        refused: out.refused_o,
        unknown: out.unknown_o,
    }
}

/// What the bench of the congestion point sees of it.
fn of_cp(out: &Out) -> Given {
    Given {
        data: Wires::of(out.queue_axis_tdata, out.queue_axis_tkeep),
        message: Wires::of(out.message_axis_tdata, out.message_axis_tkeep),
        out: cp_qcn::Out {
            s_axis_tready: out.line_axis_tready,
            m_axis_tvalid: out.queue_axis_tvalid,
            m_axis_tlast: out.queue_axis_tlast,
            m_axis_tuser: out.queue_axis_tuser,
            m_axis_message_tvalid: out.message_axis_tvalid,
            m_axis_message_tlast: out.message_axis_tlast,
            m_axis_message_tuser: out.message_axis_tuser,
            draw_o: out.draw_o,
            queue_o: out.queue_o,
            event_o: out.event_o,
            event_octets_o: out.event_octets_o,
            event_dropped_o: out.event_dropped_o,
            event_queue_o: out.event_queue_o,
            sample_o: out.sample_o,
            congested_o: out.congested_o,
            fb_o: out.fb_o,
            reloaded_o: out.reloaded_o,
            interval_o: out.interval_o,
            frames_o: out.frames_o,
            octets_o: out.octets_o,
            dropped_o: out.dropped_o,
            bad_o: out.bad_o,
            sampled_o: out.sampled_o,
            messages_o: out.messages_o,
            messages_lost_o: out.messages_lost_o,
            ..Default::default()
        },
    }
}

/// A frame of the host's first reaction point.
fn frame(random: &mut Random, length: usize) -> Frame {
    let mut frame = Frame::random(random, length - 4);
    frame.octets[6..12].copy_from_slice(&MACS[0].to_be_bytes()[2..]);
    frame.octets[12..14].copy_from_slice(&[0x08, 0x00]);
    frame
}

/// `Slack` of the lines: a frame that comes as many clocks late counts as back to back, and the next may make up for them.
const SLACK: u64 = 2;

/// A line, held to its rate: no frame starts sooner than those before allow, but for the clocks of `SLACK` and the rest of one. And how much
/// of it was used.
struct Pace {
    rate: u64,
    free_at: u64,
    octets: u64,
    lengths: VecDeque<u64>,
}

impl Pace {
    fn new(rate: u64) -> Self {
        Self { rate, free_at: 0, octets: 0, lengths: VecDeque::new() }
    }

    /// `start` says that the next frame starts in this clock.
    fn clock(&mut self, now: u64, start: bool) {
        if start {
            let octets = self.lengths.pop_front().expect("it has come") + LINE;
            assert!(now * self.rate >= self.free_at, "a frame starts too soon in clock {now}");
            self.free_at = self.free_at.max((now * self.rate).saturating_sub((SLACK + 1) * self.rate)) + octets * OCTET;
            self.octets += octets;
        }
    }
}

/// The sums of an episode. Octets on the line and on the output count with what a frame has there besides.
#[derive(Debug, Default)]
struct Seen {
    line: u64,
    output: u64,
    messages: u32,
    pauses: u32,
    stopped: u64,
    queue: u32,
    headroom: u32,
}

/// Frames of these lengths, as fast as the host's line takes them, into an output of this rate, from a reset on.
fn episode(core: &mut Core, random: &mut Random, lengths: &[usize], rate: u64, clocks: u64) -> Seen {
    let settings = memory();
    let mut given = In {
        rst_i: true,
        rate_i: rate,
        gd_shift_i: POINT.gd_shift,
        rpg_threshold_i: POINT.threshold,
        rpg_byte_reset_i: POINT.byte_reset,
        rpg_time_reset_i: POINT.time_reset,
        rpg_ai_rate_i: POINT.ai_rate,
        rpg_hai_rate_i: POINT.hai_rate,
        rpg_min_rate_i: POINT.min_rate,
        rpg_max_rate_i: POINT.max_rate,
        rp_jitter_i: POINT.jitter,
        q_eq_i: CONGESTION.q_eq,
        w_i: CONGESTION.w,
        sample_base_i: CONGESTION.base,
        sample_jitter_i: CONGESTION.jitter,
        cp_mac_i: 0x0200_0000_00cc,
        cp_id_i: 0x1122_3344_5566_7788,
        shared_i: settings.shared,
        headroom_i: settings.headroom,
        alpha_i: 15,
        xoff_i: settings.xoff[0],
        xon_i: settings.xon[0],
        quanta_i: 2_000,
        m_axis_tready: true,
        ..In::default()
    };
    given.mac_i.put(0, 48, MACS[0]);
    given.mac_i.put(48, 48, MACS[1]);
    core.clock(&given);
    given.rst_i = false;

    let mut points = Reference::<Qcn, Data>::new(CNM, BUCKET, || Qcn::new(Readings::FULL, &POINT));
    let inputs = cp_qcn::In { cp_mac_i: given.cp_mac_i, cp_id_i: given.cp_id_i, ..cp_qcn::In::default() };
    let mut cp = Bench::within(inputs, CONGESTION, BUFFER, LONGEST);
    let mut pool = SharedMemory::new(1, 1 << PRIORITY, &settings);
    let (mut held, mut full) = (VecDeque::<Held>::new(), [false; 2]);
    let mut stops = Watched::new(None);
    let mut coming = VecDeque::new();
    let mut back = Sink::<Data>::default();

    let (mut source, mut sink) = (Source::<Data>::default(), Sink::<Data>::default());
    let (mut inside, mut sent) = (VecDeque::new(), VecDeque::new());
    let (mut line, mut output) = (Pace::new(RATE), Pace::new(rate));
    // Frames that have started on the output and are not gone.
    let (mut gone, mut leaving) = (Sink::<Data>::default(), 0);
    let mut seen = Seen::default();
    for now in 0..clocks {
        while source.left() < 2 {
            let length = lengths[random.below(lengths.len() as u64) as usize];
            let next = frame(random, length);
            source.push(&next);
            inside.push_back(length as u16);
            line.lengths.push_back(length as u64);
            sent.push_back(next);
        }
        let beat = source.show(true).expect("there is always one");
        let octets = inside[0];
        (given.s_axis_tx_tdata, given.s_axis_tx_tkeep) = (beat.data, beat.keep);
        (given.s_axis_tx_tlast, given.s_axis_tx_tuser, given.s_axis_tx_tvalid) = (beat.last, beat.user, true);
        given.s_axis_tx_octets_i = octets;
        given.tick_i = now % TICK == 0;
        given.random_i = random.word();
        let words = [[random.word(), random.word()], [random.word(), random.word()]];
        let side_by_side = |of: usize| u64::from(words[0][of]) | u64::from(words[1][of]) << 32;
        (given.random_byte_i, given.random_timer_i) = (side_by_side(0), side_by_side(1));
        let start = [0, 1].map(|i| points.machines[i].overflows());
        given.start_i = u8::from(start[0]) | u8::from(start[1]) << 1;
        let out = core.clock(&given);

        // The reaction points.
        let rx = beat!(out, rx_axis_tvalid rx_axis_tdata rx_axis_tkeep rx_axis_tlast rx_axis_tuser);
        let pins = Pins {
            rx,
            rx_ready: true,
            drop_if_busy: true,
            tx: [Some((beat, octets)), None],
            tx_ready: [out.tx_axis_tready, true],
            start,
            tick: given.tick_i,
            words,
            ..Pins::default()
        };
        let mut expected = points.clock(&pins);
        // Nobody asks the second whether it would take a beat.
        expected.tx_ready[1] = true;
        assert_eq!(shown(&out), expected, "clock {now}");
        if out.s_axis_tx_tready && source.take().last {
            inside.pop_front();
        }

        // The congestion point, and the lines on both of its sides.
        line.clock(now, out.line_start_o);
        let came = Wires::of(out.line_axis_tdata, out.line_axis_tkeep);
        cp.see(
            |input| {
                (input.s_axis_tvalid, input.s_axis_tlast) = (out.line_axis_tvalid, out.line_axis_tlast);
                (input.s_axis_tuser, input.random_i) = (out.line_axis_tuser, given.random_i);
                input.m_axis_tready = out.queue_axis_tready;
                input.m_axis_message_tready = out.message_axis_tready;
            },
            came,
            &of_cp(&out),
        );
        let queued = beat!(out, queue_axis_tvalid queue_axis_tdata queue_axis_tkeep queue_axis_tlast queue_axis_tuser);
        if out.start_o {
            let length = sent.get(leaving).map(|frame: &Frame| frame.octets.len() as u64 + 4);
            output.lengths.push_back(length.expect("it was sent"));
            leaving += 1;
        }
        output.clock(now, out.start_o);
        let _ = sink.see(queued.is_some(), queued.unwrap_or_default(), out.queue_axis_tready);
        let last = beat!(out, m_axis_tvalid m_axis_tdata m_axis_tkeep m_axis_tlast m_axis_tuser);
        if let Some(frame) = gone.see(last.is_some(), last.unwrap_or_default(), true) {
            assert_eq!(Some(frame), sent.pop_front(), "clock {now}");
            leaving -= 1;
        }

        // The switch's memory.
        let [own, headroom, ..] = pool.holds(0, PRIORITY as u8);
        assert_eq!((out.held_o, out.in_headroom_o), (own, headroom), "clock {now}");
        assert_eq!(out.full_o, u8::from(full[1]) << PRIORITY, "clock {now}");
        if out.arrive_o {
            held.push_back(pool.arrive(now, 0, PRIORITY as u8, out.arrive_octets_o).expect("it has room"));
        }
        if out.depart_o {
            let frame = held.pop_front().expect("it is held");
            assert_eq!(frame.octets, out.depart_octets_o, "clock {now}");
            pool.depart(now, frame);
        }
        full = [pool.is_full(0, PRIORITY as u8), full[0]];

        // The stops of the host.
        let paused: [u64; 8] = std::array::from_fn(|p| stops.pause_clocks(p as u8));
        let clocks_of = std::array::from_fn(|p| out.pause_clocks_o.get(48 * p, 48));
        assert_eq!((out.paused_o, clocks_of), (stops.paused(), paused), "clock {now}");
        let answer = beat!(out, back_axis_tvalid back_axis_tdata back_axis_tkeep back_axis_tlast back_axis_tuser);
        if let Some(frame) = back.see(answer.is_some(), answer.unwrap_or_default(), out.back_axis_tready)
            && frame.octets[12..14] == [0x88, 0x08]
        {
            assert_eq!((frame.octets[16..18].to_vec(), frame.octets.len()), (vec![0, 1 << PRIORITY], 60));
            let at = 18 + 2 * PRIORITY;
            let time = u64::from(u16::from_be_bytes([frame.octets[at], frame.octets[at + 1]]));
            let mut times = [None; 8];
            times[PRIORITY] = Some(time * QUANTUM);
            coming.push_back((now + 2, times));
            seen.pauses += 1;
        }
        let due = coming.front().is_some_and(|c: &(u64, _)| c.0 == now);
        stops.clock(now, if due { coming.pop_front().map(|(_, times)| times) } else { None });

        seen.queue = seen.queue.max(out.queue_o);
        seen.headroom = out.most_in_headroom_o;
        seen.stopped = out.pause_clocks_o.get(48 * PRIORITY, 48);
        seen.messages = out.messages_o;
        assert_eq!((out.dropped_o, out.bad_o, out.messages_lost_o), (0, 0, 0), "clock {now}");
    }
    (seen.line, seen.output) = (line.octets, output.octets);
    seen
}

/// Frames of these lengths: a line that is never empty, and an output that keeps up with it. In `make -C rtl operations` each has ten
/// million clocks.
fn has_the_line(lengths: &[usize]) {
    let seed = lengths.iter().sum::<usize>() as u64;
    let clocks = at_least(20_000);
    let seen = episode(&mut Core::new(seed), &mut Random::new(seed), lengths, RATE, clocks);
    let share = seen.line as f64 * OCTET as f64 / (clocks as f64 * RATE as f64);
    println!("{lengths:?}: {clocks} clocks, {:.3} % of the line, {seen:?}", 100.0 * share);
    // All but the first clocks and the last frames.
    let (octets, lacks) = (clocks * RATE / OCTET, 200 + 2 * LONGEST as u64);
    assert!(seen.line + 500 > octets && seen.output + lacks > octets, "{lengths:?}: {octets} octets, {seen:?}");
    assert_eq!((seen.messages, seen.stopped), (0, 0), "{lengths:?}");
}

macro_rules! lengths {
    ($($name:ident $lengths:expr;)*) => {$(
        #[test]
        fn $name() {
            has_the_line(&$lengths);
        }
    )*};
}

lengths! {
    frames_of_64_octets [64];
    frames_of_65_octets [65];
    frames_of_68_octets [68];
    frames_of_69_octets [69];
    frames_of_64_and_69_octets [64, 69];
    frames_of_two_to_four_beats [132, 133, 197];
    frames_of_1518_octets [1_518];
    frames_of_9216_octets [LONGEST];
    frames_of_all_lengths [64, 65, 69, 128, 133, 1_518, 4_096, LONGEST];
}

/// Three tenths of the line's rate at the output: messages slow the host, pauses stop it, and nothing is lost.
#[test]
fn a_slow_output_loses_nothing() {
    let (mut core, mut random) = (Core::new(3), Random::new(4));
    let clocks = at_least(120_000);
    let seen = episode(&mut core, &mut random, &[64, 69, 1_518, LONGEST], 30_000_000_000, clocks);
    println!("{clocks} clocks: {seen:?}");
    let octets = clocks * 30_000_000_000 / OCTET;
    assert!(seen.messages > 5 && seen.pauses > 1 && seen.stopped > 1_000 && seen.headroom > 0, "{seen:?}");
    assert!(seen.output + 20_000 > octets, "{octets} octets, {seen:?}");
}
