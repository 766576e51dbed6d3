//! The frame FIFO: frames come out whole and in order or not at all, what does not come out is counted, and nothing is
//! dropped while there is room.

use std::collections::VecDeque;

use penstock_cosim::stream::{BEAT, Beat, Frame, Sink, Source, length};
use penstock_cosim::{Random, frame_fifo, frame_fifo_small};

/// Clocks from the last beat of a frame to the first that is shown.
const LATENCY: u64 = 4;

macro_rules! frames_are_whole {
    ($name:ident, $core:ident, $words:expr, $clocks:expr, $seed:expr) => {
        #[test]
        fn $name() {
            use $core::{Core, In};
            let mut random = Random::new($seed);
            let mut core = Core::new($seed);
            let (mut clock, mut passed, mut lost) = (0u64, 0u64, 0u64);
            while clock < $clocks {
                core.clock(&In { rst_i: true, ..In::default() });
                let (mut source, mut sink) = (Source::default(), Sink::default());
                // Frames that are coming, and those that are in; the clock of a lone one's last beat.
                let (mut coming, mut inside) = (VecDeque::new(), VecDeque::new());
                let (mut frames, mut dropped, mut last_at) = (0u32, 0u32, None);
                let (gap, stalls) = (1 + random.below(4), [1_000_000, 40, 4][random.below(3) as usize]);
                let (mut stall, mut held) = (0u64, 0usize);
                let left = 1 + random.below(20_000);
                // After the traffic comes silence.
                for step in 0..left + 4 * $words {
                    if source.left() == 0 && step < left {
                        let octets = match random.below(8) {
                            0 => 8 * ($words - 12 + random.below(16) as usize),
                            _ => length(&mut random),
                        };
                        let mut frame = Frame::random(&mut random, octets);
                        frame.bad = random.one_in(8);
                        source.push(&frame);
                        coming.push_back(frame);
                    }
                    if stall == 0 && random.one_in(stalls) {
                        stall = random.below(if random.one_in(20) { 2_000 } else { 20 });
                    }
                    let ready = stall == 0 || step >= left;
                    stall = stall.saturating_sub(1);
                    let beat = source.show(random.one_in(gap) || step >= left);
                    let shown = beat.unwrap_or_default();
                    let out = core.clock(&In {
                        rst_i: false,
                        s_axis_tdata: shown.data,
                        s_axis_tkeep: shown.keep,
                        s_axis_tvalid: beat.is_some(),
                        s_axis_tlast: shown.last,
                        s_axis_tuser: shown.user,
                        m_axis_tready: ready,
                    });
                    assert!(out.s_axis_tready, "it never says no");
                    assert!(out.frames_o <= frames && out.frames_o + out.dropped_o + 1 >= frames + dropped);
                    let beat_out = Beat {
                        data: out.m_axis_tdata,
                        keep: out.m_axis_tkeep,
                        last: out.m_axis_tlast,
                        user: out.m_axis_tuser,
                    };
                    if out.m_axis_tvalid && last_at.take_if(|_| inside.len() == 1 && held > 0).is_some() {}
                    if let Some(frame) = sink.see(out.m_axis_tvalid, beat_out, ready) {
                        // Those in front of it were dropped.
                        while let Some(first) = inside.pop_front() {
                            held -= beats(&first);
                            if first == frame {
                                break;
                            }
                            dropped += 1;
                            lost += 1;
                            assert!(!inside.is_empty(), "a frame that went in");
                        }
                        frames += 1;
                        passed += 1;
                    }
                    if beat.is_some() && source.take().last {
                        let frame: Frame = coming.pop_front().expect("it was coming");
                        held += beats(&frame);
                        inside.push_back(frame);
                    }
                    clock += 1;
                }
            }
            println!("{clock} clocks, {passed} frames, {lost} dropped");
        }
    };
}

fn beats(frame: &Frame) -> usize {
    frame.octets.len().div_ceil(BEAT)
}
