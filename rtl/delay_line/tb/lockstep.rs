//! The delay line: every beat leaves in its clock, and a frame that does not fit is dropped whole.

// One macro makes the inputs of all builds, and only one of them has pins of a memory beside.
#![allow(clippy::needless_update)]

use std::collections::VecDeque;

use penstock_cosim::stream::{Beat, Data, Frame, Sink, Source, length};
use penstock_cosim::{
    Random, at_least, delay_line, delay_line_block, delay_line_block_512, delay_line_small, delay_line_stamp,
};
#[cfg(feature = "widths")]
use penstock_cosim::{delay_line_block_128, delay_line_block_256};

/// The least delay: four clocks and those of a read.
const LEAST: u64 = 6;

macro_rules! given {
    ($module:ident, $reset:expr, $delay:expr, $shown:expr, $ready:expr) => {{
        let beat: Beat<_> = $shown.unwrap_or_default();
        $module::In {
            rst_i: $reset,
            delay_i: $delay,
            s_axis_tdata: beat.data,
            s_axis_tkeep: beat.keep,
            s_axis_tvalid: $shown.is_some(),
            s_axis_tlast: beat.last,
            s_axis_tuser: beat.user,
            m_axis_tready: $ready,
            ..Default::default()
        }
    }};
}

macro_rules! beat {
    ($out:expr) => {
        Beat { data: $out.m_axis_tdata, keep: $out.m_axis_tkeep, last: $out.m_axis_tlast, user: $out.m_axis_tuser }
    };
}

/// A memory as the port wants it, two clocks from a read to its data.
struct Memory {
    words: Vec<[u32; 3]>,
    read: [[u32; 3]; 2],
}

impl Memory {
    fn clock(&mut self, out: &delay_line::Out) {
        self.read[1] = self.read[0];
        if out.mem_read_o {
            self.read[0] = self.words[usize::from(out.mem_read_address_o)];
        }
        if out.mem_write_o {
            self.words[usize::from(out.mem_write_address_o)] = out.mem_write_data_o;
        }
    }
}

/// A stream with frames and gaps; beats come as a line brings them, never waiting.
struct Traffic<D: Data> {
    source: Source<D>,
    load: u64,
    gaps: u64,
}

impl<D: Data> Traffic<D> {
    fn next(&mut self, random: &mut Random) -> Option<Beat<D>> {
        if self.source.left() < 50 && random.one_in(self.load) {
            let length = length(random);
            let mut frame = Frame::random(random, length);
            frame.bad = random.one_in(9);
            self.source.push(&frame);
        }
        let shown = self.source.show(random.one_in(self.gaps));
        shown.map(|_| self.source.take())
    }
}

fn delays<D: Data>(
    mut clock: impl FnMut(bool, u32, Option<Beat<D>>) -> (Option<Beat<D>>, [u32; 3]),
    longest: u64,
    seed: u64,
) {
    let mut random = Random::new(seed);
    let mut traffic = Traffic { source: Source::default(), load: 1, gaps: 1 };
    let mut coming = VecDeque::new();
    let (mut delay, mut since_reset, mut beats) = (0, 0u64, 0u64);
    let clocks = at_least(2_000_000);
    for now in 0..clocks {
        let reset = now == 0 || since_reset > 30_000 && random.one_in(5_000);
        since_reset += 1;
        if reset {
            traffic = Traffic { source: Source::default(), load: 1 + random.below(300), gaps: 1 + random.below(9) };
            delay = match random.below(4) {
                0 => random.below(12),
                1 => longest,
                _ => random.below(longest + 1),
            };
        }
        let shown = traffic.next(&mut random);
        let (left, counts) = clock(reset, delay as u32, shown);
        if reset {
            coming.clear();
            since_reset = 0;
            continue;
        }
        // The delay is seen one clock after it changes.
        let wanted = coming.front().filter(|&&(at, _)| at == now).map(|&(_, beat)| beat);
        if wanted.is_some() {
            coming.pop_front();
            beats += 1;
        }
        let wanted: Option<Beat<D>> = wanted;
        assert_eq!(left, wanted, "in clock {now}, delay {delay}");
        assert_eq!(counts, [0; 3], "nothing dropped, cut or late, in clock {now}");
        if let Some(beat) = shown {
            coming.push_back((now + delay.max(LEAST), beat));
        }
    }
    assert!(beats > clocks / 50, "{beats} beats");
}

#[test]
fn external_memory() {
    let mut core = delay_line::Core::new(51);
    let mut memory = Memory { words: vec![[0; 3]; 65_536], read: [[0; 3]; 2] };
    delays(
        |reset, delay, shown| {
            let mut given = given!(delay_line, reset, delay, shown, true);
            given.mem_read_data_i = memory.read[1];
            let out = core.clock(&given);
            memory.clock(&out);
            (out.m_axis_tvalid.then_some(beat!(out)), [out.dropped_o, out.cut_o, out.late_o])
        },
        60_000,
        52,
    );
}

/// A test of a build in block RAM.
macro_rules! block_memory {
    ($name:ident, $module:ident, $seed:expr) => {
        #[test]
        fn $name() {
            let mut core = $module::Core::new($seed);
            delays(
                |reset, delay, shown| {
                    let out = core.clock(&given!($module, reset, delay, shown, true));
                    (out.m_axis_tvalid.then_some(beat!(out)), [out.dropped_o, out.cut_o, out.late_o])
                },
                820,
                $seed + 1,
            );
        }
    };
}

block_memory!(block_memory, delay_line_block, 53);
block_memory!(block_memory_512, delay_line_block_512, 60);
#[cfg(feature = "widths")]
block_memory!(block_memory_128, delay_line_block_128, 62);
#[cfg(feature = "widths")]
block_memory!(block_memory_256, delay_line_block_256, 64);

/// The small line's memory, beats, and its longest frame.
const WORDS: usize = 128;
const LONGEST: usize = 32;

/// Which frames the small line drops and cuts: by the beats that its memory held a clock before a frame came, and by its beats.
#[derive(Default)]
struct Refusals {
    no_room: bool,
    /// Beats of the frame that comes, and that no more of them are stored.
    inside: usize,
    skips: bool,
    dropped: u32,
    cut: u32,
}

impl Refusals {
    fn clock(&mut self, shown: Option<Beat>, words: usize) {
        if let Some(beat) = shown {
            if self.inside == 0 {
                self.skips = self.no_room;
                self.dropped += u32::from(self.no_room);
            }
            self.inside += 1;
            if self.inside == LONGEST && !beat.last && !self.skips {
                self.skips = true;
                self.cut += 1;
            }
            if beat.last {
                self.inside = 0;
            }
        }
        // Room for the longest frame, and for three beats that are in flight.
        self.no_room = words + LONGEST + 3 > WORDS;
    }
}

/// Too little memory, frames that are too long, stalls, delays that change: frames are whole or not there, counters tell,
/// no beat leaves before its time.
#[test]
fn too_much_for_it() {
    let mut random = Random::new(55);
    let mut core = delay_line_small::Core::new(56);
    let mut traffic = Traffic { source: Source::default(), load: 1, gaps: 1 };
    let mut sink = Sink::default();
    let mut refusals = Refusals::default();
    // Frames that have come, each with its beats and the clocks before which they must not leave.
    let mut coming: VecDeque<Vec<(u64, Beat)>> = VecDeque::new();
    let mut frame = Vec::new();
    let mut leaving: Vec<(u64, Beat)> = Vec::new();
    let (mut delay, mut since_reset, mut stalls) = (0u64, 0, 1);
    let (mut dropped, mut cut, mut passed, mut all_dropped) = (0, 0, 0u64, 0u64);
    let clocks = at_least(2_000_000);
    for now in 0..clocks {
        let reset = now == 0 || since_reset > 30_000 && random.one_in(5_000);
        since_reset += 1;
        if reset {
            traffic = Traffic { source: Source::default(), load: 1 + random.below(100), gaps: 1 + random.below(4) };
            stalls = 1 + random.below(4);
            delay = random.below(1_500);
        }
        let fast = random.one_in(1_000);
        if fast {
            delay = random.below(1_500);
        }
        let shown = if fast { None } else { traffic.next(&mut random) };
        let ready = random.one_in(stalls);
        let out = core.clock(&given!(delay_line_small, reset, delay as u16, shown, ready));
        if reset {
            (since_reset, dropped, cut) = (0, 0, 0);
            refusals = Refusals::default();
            coming.clear();
            frame.clear();
            leaving.clear();
            sink.clear();
            continue;
        }
        assert!(out.s_axis_tready, "a line never says no");
        assert!(usize::from(out.words_o) <= WORDS);
        assert_eq!((out.dropped_o, out.cut_o), (refusals.dropped, refusals.cut), "in clock {now}");
        refusals.clock(shown, out.words_o.into());
        if let Some(beat) = shown {
            frame.push((now + delay.max(LEAST), beat));
            if beat.last {
                coming.push_back(std::mem::take(&mut frame));
            }
        }
        if out.m_axis_tvalid && ready {
            leaving.push((now, beat!(out)));
        }
        if let Some(left) = sink.see(out.m_axis_tvalid, beat!(out), ready) {
            // Its beats are those of the next frame that was not dropped; it may still be coming.
            let octets = leaving.len();
            loop {
                let Some(wanted) = coming.pop_front() else {
                    let begun: Vec<_> = frame.iter().map(|b: &(u64, Beat)| b.1.data).collect();
                    assert!(octets == LONGEST && left.bad, "in clock {now}");
                    assert!(begun.iter().zip(&leaving).all(|(data, beat)| *data == beat.1.data));
                    cut += 1;
                    // The rest of it never leaves.
                    frame.clear();
                    frame.push((u64::MAX, Beat::default()));
                    break;
                };
                if wanted[0].0 == u64::MAX {
                    continue;
                }
                let same = wanted.iter().zip(&leaving).all(|(a, b)| a.1.data == b.1.data);
                if !same || wanted.len() < octets {
                    dropped += 1;
                    continue;
                }
                assert!(wanted.iter().zip(&leaving).all(|(a, b)| a.0 <= b.0), "a beat too early in clock {now}");
                if wanted.len() > octets {
                    assert!(octets == LONGEST && left.bad, "in clock {now}");
                    cut += 1;
                } else {
                    assert_eq!(left.bad, wanted[octets - 1].1.user);
                }
                break;
            }
            leaving.clear();
            passed += 1;
        }
        if out.words_o == 0 && coming.is_empty() && frame.is_empty() && leaving.is_empty() && !out.m_axis_tvalid {
            assert_eq!((out.dropped_o, out.cut_o), (dropped, cut), "in clock {now}");
            all_dropped += u64::from(dropped);
        }
        assert!(out.dropped_o >= dropped && out.cut_o >= cut, "in clock {now}");
    }
    assert!(passed > clocks / 1_000 && all_dropped > 0, "{passed} frames passed");
}

/// A sink that stalls for longer than half the stamp's range, and than all of it, any number of times. Beats that
/// became due meanwhile leave at once, a beat a clock, and those that come later keep their delay.
#[test]
fn due_stays_due_beyond_the_stamps_range() {
    let mut random = Random::new(57);
    let mut core = delay_line_stamp::Core::new(58);
    let mut coming: VecDeque<(u64, Beat)> = VecDeque::new();
    let (mut delay, mut stalled_until, mut held, mut load) = (6u64, 0u64, None, 1);
    let (mut late, mut idle, mut beats, mut longest) = (0u32, 0, 0u64, 0u64);
    for now in 0..2_000_000u64 {
        let reset = now == 0 || random.one_in(100_000);
        let changes = random.one_in(700);
        if changes {
            delay = random.below(128);
        }
        if now >= stalled_until && random.one_in(400) {
            let longest = [20, 300, 1_200][random.below(3) as usize];
            stalled_until = now + random.below(longest);
            load = 1 + random.below(80);
        }
        // A frame of one beat, if there is room for the longest frame; the delay is seen one clock after it changes.
        let shown = (!reset && !changes && coming.len() + 32 + 5 <= WORDS && random.one_in(load)).then(|| Beat {
            data: random.next(),
            keep: 0xff,
            last: true,
            user: false,
        });
        let ready = now >= stalled_until;
        let out = core.clock(&given!(delay_line_stamp, reset, delay as u8, shown, ready));
        if reset {
            (coming, held, late) = (VecDeque::new(), None, 0);
            continue;
        }
        if held.is_none() && coming.front().is_some_and(|&(at, _)| at <= now) {
            held = coming.pop_front().map(|(at, beat)| {
                late += u32::from(at < now);
                longest = longest.max(now - at);
                beat
            });
        }
        assert_eq!(out.m_axis_tvalid.then_some(beat!(out)), held, "in clock {now}");
        if held.is_some() && ready {
            held = None;
            beats += 1;
        }
        assert_eq!((out.dropped_o, out.cut_o), (0, 0));
        // Counted two clocks after it left.
        idle = if coming.is_empty() && held.is_none() { idle + 1 } else { 0 };
        assert!(idle < 3 || out.late_o == late, "in clock {now}: {} late, not {late}", out.late_o);
        if let Some(beat) = shown {
            coming.push_back((now + delay.max(LEAST), beat));
        }
    }
    println!("{beats} beats, the latest by {longest} clocks");
    assert!(beats > 50_000 && longest > 4 * 256);
}

/// Behind a sink that stalls one beat is shown, seven are read ahead (two clocks of a read, and five), and all others are in the
/// memory.
#[test]
fn beats_wait_in_the_memory() {
    let mut core = delay_line_small::Core::new(59);
    core.clock(&given!(delay_line_small, true, 6, None::<Beat>, false));
    for beats in 1..=90u64 {
        let beat = Beat { data: beats, keep: 0xff, last: true, user: false };
        core.clock(&given!(delay_line_small, false, 6, Some(beat), false));
        let mut out = core.clock(&given!(delay_line_small, false, 6, None::<Beat>, false));
        for _ in 0..20 {
            out = core.clock(&given!(delay_line_small, false, 6, None::<Beat>, false));
        }
        assert_eq!(u64::from(out.words_o), beats.saturating_sub(8), "{beats} beats");
    }
}

/// Beats that have long been due, of which one leaves about the end of a span of half the stamp's range. When the sink takes again, in
/// this span or a later one, all others leave, one a clock.
#[test]
fn beats_that_leave_at_the_end_of_a_span_leave_the_others_due() {
    for beats in 2..=6u64 {
        for (taken_at, ready_from) in (120..136).flat_map(|at| (137..420).step_by(9).map(move |from| (at, from))) {
            let mut core = delay_line_stamp::Core::new(60);
            core.clock(&given!(delay_line_stamp, true, 6, None::<Beat>, false));
            for clock in 0..ready_from + beats - 1 {
                let comes = (10..10 + beats).contains(&clock);
                let shown = comes.then_some(Beat { data: clock, keep: 0xff, last: true, user: false });
                let ready = clock == taken_at || clock >= ready_from;
                let out = core.clock(&given!(delay_line_stamp, false, 6, shown, ready));
                if ready {
                    let data = if clock == taken_at { 10 } else { 11 + clock - ready_from };
                    let shows = out.m_axis_tvalid.then_some(out.m_axis_tdata);
                    assert_eq!(shows, Some(data), "{beats} beats, one in {taken_at}, others from {ready_from} on");
                }
            }
        }
    }
}
