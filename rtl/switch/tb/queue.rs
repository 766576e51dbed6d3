//! A queue of the switch alone, clock by clock: which frames are kept, when their beats show, and when the others count.

use std::collections::VecDeque;

use penstock_cosim::stream::{Beat, Frame, Sink};
use penstock_cosim::switch_queue::{Core, In};
use penstock_cosim::{Random, at_least};

/// Parameters of the build, and the beats for which there is room behind the memory.
const WORDS: usize = 16;
const MAX_OCTETS: usize = 120;
const BEHIND: usize = 8;

/// Beats of a frame, good or not: its length, `tuser` with its last beat, or a `tkeep`.
fn any(random: &mut Random) -> Vec<Beat> {
    let octets = match random.below(6) {
        0 => 1 + random.below(59),
        1 => 57 + random.below(6),
        2 => MAX_OCTETS as u64 - 7 + random.below(8),
        3 => 1 + random.below(400),
        _ => 60 + random.below(57),
    };
    let mut beats = Frame::random(random, octets as usize).beats::<u64>();
    for beat in &mut beats {
        beat.user = random.one_in(if beat.last { 8 } else { 4 });
    }
    if random.one_in(4) {
        let spoilt = random.below(beats.len() as u64) as usize;
        beats[spoilt].keep = if random.one_in(2) { 1 << random.below(8) } else { random.word() as u8 };
    }
    beats
}

/// The frame of these beats, if it is good.
fn good(beats: &[Beat]) -> Option<Frame> {
    let (last, others) = beats.split_last()?;
    let octets: Vec<u8> = beats
        .iter()
        .flat_map(|beat| beat.data.to_le_bytes().into_iter().take(beat.keep.count_ones() as usize))
        .collect();
    let full = others.iter().all(|beat| beat.keep == 0xff);
    let ends = last.keep != 0 && last.keep & last.keep.wrapping_add(1) == 0 && !last.user;
    (full && ends && (60..=MAX_OCTETS - 4).contains(&octets.len())).then(|| Frame::new(octets))
}

/// A beat that was shown in the clock before: its index, and with the last of a frame that frame, if it is good.
struct Staged {
    index: usize,
    ends: Option<Option<Frame>>,
}

/// The state of a queue.
#[derive(Default)]
struct Model {
    staged: Option<Staged>,
    over: bool,
    /// Beats of whole frames in the memory, on their way out of it, and at the output.
    kept: usize,
    leaving: [usize; 2],
    behind: usize,
    /// The frames that are to come out.
    frames: VecDeque<Frame>,
    /// Bad frames and those without room: now, and a clock before.
    counts: [(u32, u32); 2],
}

impl Model {
    fn clock(&mut self, came: Option<Staged>, goes: bool) {
        let read = usize::from(self.kept > 0 && self.behind + self.leaving[0] + self.leaving[1] < BEHIND);
        self.counts[1] = self.counts[0];
        if let Some(Staged { index, ends }) = std::mem::replace(&mut self.staged, came) {
            self.over |= self.kept + index == WORDS;
            if let Some(frame) = ends {
                match frame {
                    None => self.counts[0].0 += 1,
                    Some(_) if self.over => self.counts[0].1 += 1,
                    Some(frame) => {
                        self.kept += index + 1;
                        self.frames.push_back(frame);
                    }
                }
                self.over = false;
            }
        }
        self.kept -= read;
        self.behind = self.behind + self.leaving[1] - usize::from(goes);
        self.leaving = [read, self.leaving[0]];
    }
}

/// Good and bad frames with gaps and without, a sink that takes all, some or nothing, and resets within frames.
#[test]
fn frames_are_kept_whole_or_counted() {
    let mut random = Random::new(31);
    let mut core = Core::new(32);
    let (mut model, mut sink) = (Model::default(), Sink::<u64>::default());
    let (mut coming, mut index, mut fate) = (VecDeque::new(), 0, None);
    let (mut gap, mut takes, mut whole, mut counted) = (1, 256, 0, (0, 0));
    for clock in 0..at_least(400_000) {
        let reset = clock == 0 || random.one_in(2_000);
        if random.one_in(100) {
            gap = 1 + random.below(3);
            takes = [0, 128, 256][random.below(3) as usize];
        }
        if coming.is_empty() {
            let beats = any(&mut random);
            (index, fate) = (0, good(&beats));
            coming.extend(beats);
        }
        let beat: Option<Beat> = random.one_in(gap).then(|| coming.pop_front()).flatten();
        let (shown, ready) = (beat.unwrap_or_default(), random.below(256) < takes);
        let out = core.clock(&In {
            rst_i: reset,
            s_axis_tdata: shown.data,
            s_axis_tkeep: shown.keep,
            s_axis_tvalid: beat.is_some(),
            s_axis_tlast: shown.last,
            s_axis_tuser: shown.user,
            m_axis_tready: ready,
        });
        if reset {
            counted = (counted.0 + model.counts[0].0, counted.1 + model.counts[0].1);
            (model, sink) = (Model::default(), Sink::<u64>::default());
            coming.clear();
            continue;
        }
        assert_eq!(out.m_axis_tvalid, model.behind > 0, "clock {clock}");
        assert_eq!((out.bad_o, out.dropped_o), model.counts[1], "clock {clock}");
        let beat_out = Beat { data: out.m_axis_tdata, keep: out.m_axis_tkeep, last: out.m_axis_tlast, user: false };
        if let Some(frame) = sink.see(out.m_axis_tvalid, beat_out, ready) {
            assert_eq!(Some(frame), model.frames.pop_front(), "clock {clock}");
            whole += 1;
        }
        let came = beat.map(|beat| Staged { index, ends: beat.last.then(|| fate.take()) });
        index += usize::from(beat.is_some());
        model.clock(came, out.m_axis_tvalid && ready);
    }
    println!("{whole} frames came out, {counted:?} were bad or found no room");
    assert!(whole > 2_000 && counted.0 > 2_000 && counted.1 > 500);
}
