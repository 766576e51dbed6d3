//! The frame FIFO: frames come out whole and in order or not at all, those that do not come out are counted, and none
//! is dropped while there is room.

use std::collections::VecDeque;

use penstock_cosim::stream::{Beat, Data, Frame, Sink, Source, length};
use penstock_cosim::{Random, at_least, frame_fifo, frame_fifo_512, frame_fifo_small};
#[cfg(feature = "widths")]
use penstock_cosim::{frame_fifo_128, frame_fifo_256};

/// Clocks from the last beat of a lone frame to its first at the output.
const LATENCY: u64 = 5;

/// What is in the memory, clock by clock, as the core's page says. A beat is written the clock after it came, if fewer than
/// all words but two were taken the clock before. A frame may be read from the clock after its last beat is written. A word
/// is read while fewer than eight are read ahead, and has gone when its beat was taken the clock before.
#[derive(Debug, Default)]
struct Memory {
    /// Beats written, those of them in whole frames, beats read; modulo nothing.
    written: u64,
    whole: u64,
    read: u64,
    /// The beat that came in the clock before, if it is its frame's last; the rest of a frame is skipped.
    came: Option<bool>,
    skips: bool,
    /// As they were in the clock before: words that are taken, frames that may be read, a beat that went.
    used: u64,
    some: bool,
    ahead: u64,
    went: bool,
}

impl Memory {
    /// Three quarters were taken.
    fn crowded(&self, words: u64) -> bool {
        self.used >= words / 4 * 3
    }

    /// A clock in which a beat comes (its frame's last), and one goes.
    fn clock(&mut self, words: u64, came: Option<bool>, goes: bool) {
        let (used, room) = (self.written - self.read, self.used + 3 <= words);
        let before = self.whole;
        let reads = self.some && self.ahead < 8;
        self.read += u64::from(reads);
        match self.came {
            Some(last) if !self.skips && room => {
                self.written += 1;
                if last {
                    self.whole = self.written;
                }
            }
            Some(last) => {
                if !self.skips {
                    self.written = self.whole;
                }
                self.skips = !last;
            }
            None => (),
        }
        self.some = self.whole > before || if reads { self.read != before } else { self.some };
        self.ahead = self.ahead + u64::from(reads) - u64::from(self.went);
        (self.used, self.came, self.went) = (used, came, goes);
    }
}

macro_rules! frames_are_whole {
    ($name:ident, $core:ident, $data:ty, $words:expr, $clocks:expr, $seed:expr) => {
        #[test]
        fn $name() {
            use $core::{Core, In};
            const BEAT: usize = <$data as Data>::OCTETS;
            let words: usize = $words;
            let mut random = Random::new($seed);
            let mut core = Core::new($seed);
            let (mut clock, mut passed, mut lost, mut crowded) = (0u64, 0u64, 0u64, 0u64);
            while clock < $clocks {
                core.clock(&In { rst_i: true, ..In::default() });
                let (mut source, mut sink) = (Source::<$data>::default(), Sink::default());
                // Frames that are coming; those that are in, and whether there may have been no room for them.
                let (mut coming, mut inside) = (VecDeque::new(), VecDeque::<(Frame, bool)>::new());
                let (mut held, mut frames, mut dropped) = (0usize, 0u32, 0u32);
                let (gap, stalls) = (1 + random.below(4), [1_000_000, 40, 4][random.below(3) as usize]);
                let (mut stall, mut lone) = (0u64, None);
                // Beats of the frame that is coming, and whether there may have been no room for one of them.
                let (mut beats, mut full, mut memory) = (0, false, Memory::default());
                // A reset in the middle, or silence after the traffic.
                let (left, cut) = (1 + random.below(20_000), random.one_in(4));
                let all = left + if cut { 0 } else { 1_000 + 2 * words as u64 };
                for step in 0..all {
                    if source.left() == 0 && step < left {
                        let octets = match random.below(8) {
                            0 => BEAT * (words + random.below(24) as usize - 16),
                            _ => length(&mut random),
                        };
                        let mut frame = Frame::random(&mut random, octets);
                        frame.bad = random.one_in(8);
                        source.push(&frame);
                        coming.push_back(frame);
                    }
                    if stall == 0 && random.one_in(stalls) {
                        let longest = if random.one_in(20) { 2_000 } else { 20 };
                        stall = random.below(longest);
                    }
                    let ready = stall == 0 || step >= left;
                    stall = stall.saturating_sub(1);
                    let beat = source.show(random.one_in(gap) || step >= left);
                    let given = beat.unwrap_or_default();
                    let out = core.clock(&In {
                        rst_i: false,
                        s_axis_tdata: given.data,
                        s_axis_tkeep: given.keep,
                        s_axis_tvalid: beat.is_some(),
                        s_axis_tlast: given.last,
                        s_axis_tuser: given.user,
                        m_axis_tready: ready,
                    });
                    assert!(out.s_axis_tready, "it never says no");
                    let shown = Beat {
                        data: out.m_axis_tdata,
                        keep: out.m_axis_tkeep,
                        last: out.m_axis_tlast,
                        user: out.m_axis_tuser,
                    };
                    assert_eq!(out.almost_full_o, memory.crowded(words as u64), "in clock {clock}: {memory:?}");
                    memory.clock(words as u64, beat.map(|beat| beat.last), out.m_axis_tvalid && ready);
                    crowded += u64::from(out.almost_full_o);
                    if let Some(at) = lone.take_if(|_| out.m_axis_tvalid) {
                        assert_eq!(clock - at, LATENCY);
                    }
                    if let Some(frame) = sink.see(out.m_axis_tvalid, shown, ready) {
                        // Those in front of it were dropped.
                        loop {
                            let (first, full) = inside.pop_front().expect("a frame that went in");
                            held -= first.octets.len().div_ceil(BEAT);
                            if first == frame {
                                break;
                            }
                            assert!(full, "there was room");
                            dropped += 1;
                        }
                        frames += 1;
                    }
                    if beat.is_some() {
                        beats += 1;
                        full |= held + beats + 3 > words;
                        if source.take().last {
                            held += beats;
                            lone = (inside.is_empty() && !full).then_some(clock);
                            inside.push_back((coming.pop_front().expect("it was coming"), full));
                            (beats, full) = (0, false);
                        }
                    }
                    clock += 1;
                    if !cut && step + 1 == all {
                        assert!(inside.iter().all(|(_, full)| *full), "frames that had room came out");
                        dropped += inside.len() as u32;
                        assert_eq!((out.frames_o, out.dropped_o), (frames, dropped));
                    }
                }
                passed += u64::from(frames);
                lost += u64::from(dropped);
            }
            println!("{clock} clocks, {crowded} of them crowded, {passed} frames, {lost} dropped");
            assert!(crowded > clock / 100 && crowded < clock);
            assert!(passed > $clocks / 1_000 && lost > $clocks / 10_000);
        }
    };
}

frames_are_whole!(large, frame_fifo, u64, 512, at_least(2_000_000), 81);
frames_are_whole!(small, frame_fifo_small, u64, 32, at_least(2_000_000), 82);
frames_are_whole!(wide_512, frame_fifo_512, [u32; 16], 512, at_least(2_000_000), 83);
#[cfg(feature = "widths")]
frames_are_whole!(wide_128, frame_fifo_128, [u32; 4], 512, at_least(2_000_000), 84);
#[cfg(feature = "widths")]
frames_are_whole!(wide_256, frame_fifo_256, [u32; 8], 512, at_least(2_000_000), 85);
