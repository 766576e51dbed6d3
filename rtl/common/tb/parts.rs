//! The counter, the small FIFO and the stream buffer that all cores are made of, in every clock.

use std::collections::VecDeque;
use std::{env, process};

use penstock_cosim::stream::{Beat, Frame, Sink, Source, length};
use penstock_cosim::{
    Random, at_least, axil_check, event_counter, small_fifo, stream_buffer, stream_buffer_late, stream_length,
};

/// Events are counted up to the largest value, and there it stays, whatever comes, until a reset.
#[test]
fn a_counter_stays_at_its_largest_value() {
    const LARGEST: u32 = 63;
    let mut random = Random::new(11);
    let mut core = event_counter::Core::new(12);
    let (mut count, mut exact, mut beyond, mut since) = (0, 0u64, 0u64, 0);
    for clock in 0..at_least(1_000_000) {
        // Up to a largest value that is met exactly, and to one that is gone beyond.
        let pace = 1 + clock / 1_000 % 7;
        let given = event_counter::In {
            rst_i: clock == 0 || since > 200 && random.one_in(40),
            valid_i: random.one_in(pace),
            amount_i: random.below(8) as u8,
        };
        let out = core.clock(&given);
        if clock > 0 {
            assert_eq!(u32::from(out.count_o), count, "in clock {clock}");
        }
        since += 1;
        if given.rst_i {
            (count, since) = (0, 0);
        } else if given.valid_i {
            let sum = count + u32::from(given.amount_i);
            exact += u64::from(sum == LARGEST && count < LARGEST);
            beyond += u64::from(sum > LARGEST);
            count = sum.min(LARGEST);
        }
    }
    assert!(exact > 100 && beyond > 10_000, "{exact} times met, {beyond} times beyond");
}

/// Entries are popped in the order in which they were pushed. A push into a full FIFO and a pop of an empty one do nothing.
#[test]
fn a_small_fifo_keeps_its_entries_in_order() {
    const DEPTH: usize = 4;
    let mut random = Random::new(13);
    let mut core = small_fifo::Core::new(14);
    let mut held = VecDeque::new();
    let (mut refused, mut nothing) = (0u64, 0u64);
    for clock in 0..at_least(1_000_000) {
        let (pushes, pops) = (1 + clock / 1_000 % 3, 1 + clock / 3_000 % 3);
        let given = small_fifo::In {
            rst_i: clock == 0 || random.one_in(5_000),
            push_i: random.one_in(pushes),
            data_i: random.word() as u8,
            pop_i: random.one_in(pops),
        };
        let out = core.clock(&given);
        if clock > 0 {
            assert_eq!((out.full_o, out.empty_o), (held.len() == DEPTH, held.is_empty()), "in clock {clock}");
            assert!(held.front().is_none_or(|&first| out.data_o == first), "in clock {clock}");
        }
        let full = held.len() == DEPTH;
        refused += u64::from(given.push_i && full);
        nothing += u64::from(given.pop_i && held.is_empty());
        if given.pop_i {
            held.pop_front();
        }
        if given.push_i && !full {
            held.push_back(given.data_i);
        }
        if given.rst_i {
            held.clear();
        }
    }
    assert!(refused > 10_000 && nothing > 10_000, "{refused} refused, {nothing} times nothing");
}

macro_rules! buffers {
    ($name:ident, $module:ident, $seed:expr) => {
        /// Beats come out a clock later, in order, and two at the most are inside.
        #[test]
        fn $name() {
            let mut random = Random::new($seed);
            let mut core = $module::Core::new($seed);
            let (mut source, mut sink) = (Source::<u64>::default(), Sink::<u64>::default());
            let (mut inside, mut frames, mut passed) = (VecDeque::new(), VecDeque::new(), 0u64);
            for clock in 0..at_least(1_000_000) {
                let (gaps, stalls) = (1 + clock / 1_000 % 4, 1 + clock / 4_000 % 4);
                let reset = clock == 0 || random.one_in(5_000);
                if source.left() < 4 {
                    let octets = length(&mut random);
                    let mut frame = Frame::random(&mut random, octets);
                    frame.bad = random.one_in(4);
                    source.push(&frame);
                    frames.push_back(frame);
                }
                let shown = source.show(random.one_in(gaps));
                let beat = shown.unwrap_or_default();
                let ready = random.one_in(stalls);
                let out = core.clock(&$module::In {
                    rst_i: reset,
                    s_axis_tdata: beat.data,
                    s_axis_tkeep: beat.keep,
                    s_axis_tvalid: shown.is_some(),
                    s_axis_tlast: beat.last,
                    s_axis_tuser: beat.user,
                    m_axis_tready: ready,
                });
                if reset {
                    source.clear();
                    sink.clear();
                    inside.clear();
                    frames.clear();
                    continue;
                }
                assert_eq!(
                    (out.m_axis_tvalid, out.s_axis_tready),
                    (!inside.is_empty(), inside.len() < 2),
                    "in clock {clock}"
                );
                let seen = Beat {
                    data: out.m_axis_tdata,
                    keep: out.m_axis_tkeep,
                    last: out.m_axis_tlast,
                    user: out.m_axis_tuser,
                };
                assert!(inside.front().is_none_or(|&first: &Beat| first == seen), "in clock {clock}");
                if let Some(frame) = sink.see(out.m_axis_tvalid, seen, ready) {
                    assert_eq!(Some(frame), frames.pop_front(), "in clock {clock}");
                    passed += 1;
                }
                if ready {
                    inside.pop_front();
                }
                if shown.is_some() && out.s_axis_tready {
                    inside.push_back(source.take());
                }
            }
            assert!(passed > 5_000, "{passed} frames");
        }
    };
}

buffers!(a_buffer_passes_beats_a_clock_later, stream_buffer, 15);
buffers!(a_late_buffer_passes_beats_a_clock_later, stream_buffer_late, 16);

/// Beside a FIFO that holds whole frames: the length of the frame that leaves, from the clock behind its last beat's coming to that of
/// its last beat's leaving.
#[test]
fn a_frame_has_its_length_beside_its_first_beat() {
    const DEPTH: usize = 4;
    let mut random = Random::new(18);
    let mut core = stream_length::Core::new(19);
    let mut source = Source::<u64>::default();
    // Beats that are in the FIFO, and of the frames among them that are whole the lengths.
    let (mut beats, mut lengths) = (VecDeque::new(), VecDeque::new());
    let (mut octets, mut waited, mut passed) = (4, 0u64, 0u64);
    for clock in 0..at_least(1_000_000) {
        let (gaps, stalls) = (1 + clock / 1_000 % 4, 1 + clock / 4_000 % 4);
        let reset = clock == 0 || random.one_in(5_000);
        if source.left() == 0 {
            let octets = if random.one_in(2) { 1 + random.below(30) as usize } else { length(&mut random) };
            source.push(&Frame::random(&mut random, octets));
        }
        let full = lengths.len() == DEPTH;
        let shown = source.show(random.one_in(gaps)).filter(|_| !full);
        let leaves = (!lengths.is_empty() && random.one_in(stalls)).then(|| beats[0]);
        let beat = shown.unwrap_or_default();
        let out = core.clock(&stream_length::In {
            rst_i: reset,
            in_i: shown.is_some(),
            in_keep_i: beat.keep,
            in_last_i: beat.last || shown.is_none(),
            out_i: leaves.is_some(),
            out_last_i: leaves.unwrap_or(true),
        });
        if reset {
            source.clear();
            (beats, lengths, octets) = (VecDeque::new(), VecDeque::new(), 4);
            continue;
        }
        assert_eq!((out.full_o, out.empty_o), (full, lengths.is_empty()), "in clock {clock}");
        assert!(lengths.front().is_none_or(|&length| u32::from(out.octets_o) == length), "in clock {clock}");
        waited += u64::from(full);
        if let Some(last) = leaves {
            beats.pop_front();
            if last {
                lengths.pop_front();
                passed += 1;
            }
        }
        if shown.is_some() {
            source.take();
            beats.push_back(beat.last);
            octets += beat.keep.count_ones();
            if beat.last {
                lengths.push_back(std::mem::replace(&mut octets, 4));
            }
        }
    }
    assert!(waited > 10_000 && passed > 5_000, "{passed} frames, {waited} clocks without a slot");
}

/// What a user's simulation sees, too: a stream that breaks a rule ends it, and says what is wrong and where. (Each case is a
/// process, for the end is that of the program.)
#[test]
fn a_broken_rule_ends_the_simulation() {
    const CASE: &str = "PENSTOCK_BROKEN";
    let frame = Frame::new(vec![7; 20]).beats::<u64>();
    if let Ok(case) = env::var(CASE) {
        let mut core = stream_buffer::Core::new(17);
        core.clock(&stream_buffer::In { rst_i: true, ..Default::default() });
        let mut clock = |shown: Option<Beat>| {
            let beat = shown.unwrap_or_default();
            core.clock(&stream_buffer::In {
                rst_i: false,
                s_axis_tdata: beat.data,
                s_axis_tkeep: beat.keep,
                s_axis_tvalid: shown.is_some(),
                s_axis_tlast: beat.last,
                s_axis_tuser: beat.user,
                m_axis_tready: false,
            });
        };
        let [first, second, third] = frame[..] else { panic!("three beats") };
        match case.as_str() {
            "hole" => clock(Some(Beat { keep: 0b1101, ..third })),
            "none" => clock(Some(Beat { keep: 0, ..third })),
            "short" => clock(Some(Beat { keep: 0b1111, ..first })),
            _ => {
                // Two beats find slots, the third waits.
                [first, second, third].into_iter().for_each(|beat| clock(Some(beat)));
                clock((case == "changed").then_some(Beat { data: third.data ^ 1, ..third }));
            }
        }
        clock(None);
        return;
    }
    let cases = [
        ("hole", "has a hole, or no octet"),
        ("none", "has a hole, or no octet"),
        ("short", "and it is not the last beat"),
        ("withdrawn", "a beat that was shown is withdrawn before it was taken"),
        ("changed", "a beat that is shown changes before it is taken"),
    ];
    for (case, says) in cases {
        let (ended, said) = run_of("a_broken_rule_ends_the_simulation", CASE, case);
        assert!(ended && said.contains(says) && said.contains("u_check_s_axis"), "{case}: {said}");
    }
}

/// A test of this program in a process, for a case: whether it failed, and what it said.
fn run_of(test: &str, variable: &str, case: &str) -> (bool, String) {
    let run = process::Command::new(env::current_exe().expect("it runs"))
        .args(["--exact", test, "--nocapture"])
        .env(variable, case)
        .output()
        .expect("it can be started");
    let said = String::from_utf8_lossy(&run.stdout) + String::from_utf8_lossy(&run.stderr);
    (!run.status.success(), said.into_owned())
}

/// The same of a register bus, on each of its sides; and a bus that keeps the rules runs on.
#[test]
fn a_broken_rule_of_a_register_bus_ends_the_simulation() {
    const CASE: &str = "PENSTOCK_BROKEN_BUS";
    type Clock = axil_check::In;
    let idle = Clock::default();
    let (aw, w) =
        (Clock { req_awvalid: true, req_awaddr: 8, ..idle }, Clock { req_wvalid: true, req_wdata: 7, ..idle });
    let (ar, b, r) = (
        Clock { req_arvalid: true, req_araddr: 8, ..idle },
        Clock { rsp_bvalid: true, ..idle },
        Clock { rsp_rvalid: true, ..idle },
    );
    // Taken in the same clock.
    let taken = |clock: Clock| Clock {
        rsp_awready: clock.req_awvalid,
        rsp_wready: clock.req_wvalid,
        rsp_arready: clock.req_arvalid,
        req_bready: clock.rsp_bvalid,
        req_rready: clock.rsp_rvalid,
        ..clock
    };
    let cases = [
        // What waits stays until it is taken; a write has its data before its address, or with it.
        ("kept", vec![w, w, taken(w), aw, taken(aw), b, taken(b), ar, taken(ar), r, taken(r)], ""),
        ("two at once", vec![taken(aw), taken(aw), taken(w), taken(b), taken(w), taken(b)], ""),
        ("address withdrawn", vec![aw, idle], "aw: an address that is shown changes"),
        ("address changes", vec![aw, Clock { req_awaddr: 12, ..aw }], "aw: an address that is shown changes"),
        ("data change", vec![w, Clock { req_wdata: 6, ..w }], "w: data that are shown change"),
        ("strobes change", vec![w, Clock { req_wstrb: 3, ..w }], "w: data that are shown change"),
        ("read withdrawn", vec![ar, idle], "ar: an address that is shown changes"),
        ("no write", vec![b], "b: an answer to no write"),
        ("no data", vec![taken(aw), b], "b: an answer to no write"),
        ("two answers", vec![taken(aw), taken(w), taken(b), b], "b: an answer to no write"),
        ("answer withdrawn", vec![taken(aw), taken(w), b, idle], "b: an answer that is shown changes"),
        ("EXOKAY", vec![taken(aw), taken(w), Clock { rsp_bresp: 1, ..b }], "b: EXOKAY"),
        ("no read", vec![r], "r: an answer to no read"),
        ("word changes", vec![taken(ar), r, Clock { rsp_rdata: 1, ..r }], "r: an answer that is shown changes"),
        ("EXOKAY read", vec![taken(ar), Clock { rsp_rresp: 1, ..r }], "r: EXOKAY"),
    ];
    if let Ok(case) = env::var(CASE) {
        let (_, clocks, _) = cases.iter().find(|(name, ..)| *name == case).expect("a case that is listed");
        let mut core = axil_check::Core::new(17);
        core.clock(&Clock { rst_i: true, ..idle });
        clocks.iter().for_each(|clock| {
            core.clock(clock);
        });
        return;
    }
    for (case, _, says) in &cases {
        let (ended, said) = run_of("a_broken_rule_of_a_register_bus_ends_the_simulation", CASE, case);
        assert!(ended != says.is_empty() && said.contains(says), "{case}: {said}");
    }
}
