//! An input of the switch alone: pauses are obeyed whatever becomes of the frames around them.

use std::collections::VecDeque;

use penstock_cosim::stream::{Beat, Frame, Source};
use penstock_cosim::switch_input::{Core, In, Out};
use penstock_cosim::{Random, at_least};

/// Clocks of a quantum, and from the last beat of a pause frame until it is obeyed.
const QUANTUM: u64 = 64;
const OBEYED: u64 = 3;

struct Bench {
    core: Core,
    source: Source,
    clock: u64,
    ready: bool,
}

impl Bench {
    fn new(seed: u64) -> Self {
        let mut core = Core::new(seed);
        core.clock(&In { rst_i: true, stop_i: true, ..In::default() });
        Self { core, source: Source::<u64>::default(), clock: 0, ready: false }
    }

    fn clock(&mut self) -> Out {
        let beat: Option<Beat> = self.source.show(true);
        let shown = beat.unwrap_or_default();
        if beat.is_some() {
            self.source.take();
        }
        self.clock += 1;
        self.core.clock(&In {
            default_ports_i: 1,
            s_axis_tdata: shown.data,
            s_axis_tkeep: shown.keep,
            s_axis_tvalid: beat.is_some(),
            s_axis_tlast: shown.last,
            s_axis_tuser: shown.user,
            m_axis_tready: self.ready,
            ..In::default()
        })
    }

    /// Until all that was given has gone in.
    fn bring(&mut self, frame: &Frame) -> Out {
        self.source.push(frame);
        let mut out = self.clock();
        while self.source.left() > 0 {
            out = self.clock();
        }
        out
    }
}

fn pause(priorities: u8, quanta: u16) -> Frame {
    let mut frame = Frame::new(vec![0; 60]);
    frame.octets[..6].copy_from_slice(&[0x01, 0x80, 0xc2, 0, 0, 1]);
    frame.octets[12..18].copy_from_slice(&[0x88, 0x08, 0x01, 0x01, 0, priorities]);
    for priority in 0..8 {
        frame.octets[18 + 2 * priority..][..2].copy_from_slice(&quanta.to_be_bytes());
    }
    frame
}

fn data(random: &mut Random, octets: usize) -> Frame {
    let mut frame = Frame::random(random, octets);
    frame.octets[12..14].copy_from_slice(&[0x08, 0x00]);
    frame
}

/// Behind a frame that the arbiter does not take.
#[test]
fn a_pause_behind_data_that_wait_is_obeyed() {
    let mut random = Random::new(21);
    let mut bench = Bench::new(22);
    bench.bring(&data(&mut random, 1_000));
    for _ in 0..200 {
        bench.clock();
    }
    bench.bring(&pause(0x08, 1));
    let obeyed: Vec<bool> = (0..100).map(|_| bench.clock().paused_o == 0x08).collect();
    // The frame's last beat was shown in the clock before.
    let wanted: Vec<bool> = (1..=100).map(|after| (OBEYED..OBEYED + QUANTUM).contains(&after)).collect();
    assert_eq!(obeyed, wanted);
}

/// With a queue that is full.
#[test]
fn a_pause_is_not_lost_with_a_full_queue() {
    let mut random = Random::new(23);
    let mut bench = Bench::new(24);
    while bench.clock().dropped_o < 3 {
        bench.bring(&data(&mut random, 1_514));
    }
    for _ in 0..10 {
        bench.clock();
    }
    let dropped = bench.clock().dropped_o;
    bench.bring(&pause(0xff, 1_000));
    for _ in 0..OBEYED {
        bench.clock();
    }
    let out = bench.clock();
    assert_eq!((out.paused_o, out.pauses_o, out.dropped_o), (0xff, 1, dropped));
    // And it is let go.
    bench.bring(&pause(0xff, 0));
    for _ in 0..OBEYED {
        bench.clock();
    }
    assert_eq!(bench.clock().paused_o, 0);
}

/// In the clock after a reset.
#[test]
fn a_pause_behind_a_reset_is_obeyed() {
    let mut bench = Bench::new(27);
    bench.bring(&pause(0xff, 1_000));
    for _ in 0..OBEYED {
        bench.clock();
    }
    assert_eq!(bench.clock().paused_o, 0xff);
}

/// Frames of all kinds, a sink that takes some: pauses start and end in their clocks, and counters count every frame.
#[test]
fn pauses_run_to_the_clock_whatever_else_comes() {
    let mut random = Random::new(25);
    let mut bench = Bench::new(26);
    // Until which clock each priority is stopped, and the changes of that: when, which, until when.
    let (mut until, mut coming) = ([0u64; 8], VecDeque::new());
    let (mut pauses, mut others, mut frames, mut takes) = (0u32, 0u32, 0u32, true);
    let mut left = 0u32;
    while bench.clock < at_least(1_000_000) {
        if bench.source.left() == 0 && random.one_in(20) {
            let pausing = random.below(4);
            let mut frame = match pausing {
                0 | 1 => pause(random.word() as u8, random.below(40) as u16),
                _ => {
                    let octets = 60 + random.below(1_455) as usize;
                    data(&mut random, octets)
                }
            };
            frame.bad = random.one_in(10);
            let beats = frame.octets.len().div_ceil(8) as u64;
            // Of the good ones some are no pauses: MAC control with another opcode.
            let another = pausing < 2 && random.one_in(10);
            if another {
                frame.octets[14] = 0;
            }
            match (pausing, frame.bad || another) {
                (0 | 1, false) => {
                    let quanta = u64::from(u16::from_be_bytes([frame.octets[18], frame.octets[19]]));
                    coming.push_back((bench.clock + beats - 1 + OBEYED, frame.octets[17], quanta * QUANTUM));
                    pauses += 1;
                }
                (0 | 1, true) => others += 1,
                _ => frames += 1,
            }
            bench.source.push(&frame);
        }
        if random.one_in(3_000) {
            takes = !takes;
        }
        bench.ready = takes && random.one_in(2);
        let now = bench.clock;
        if let Some(&(at, priorities, clocks)) = coming.front()
            && at == now
        {
            coming.pop_front();
            for (priority, until) in until.iter_mut().enumerate() {
                if priorities >> priority & 1 == 1 {
                    *until = now + clocks;
                }
            }
        }
        let out = bench.clock();
        let wanted = until.iter().enumerate().map(|(p, &until)| u8::from(now < until) << p).sum::<u8>();
        assert_eq!(out.paused_o, wanted, "clock {now}");
        assert!(!out.m_axis_tvalid || !out.m_axis_tuser, "no bad frame leaves");
        left += u32::from(out.m_axis_tvalid && out.m_axis_tlast && bench.ready);
    }
    bench.ready = true;
    for _ in 0..20_000 {
        let out = bench.clock();
        left += u32::from(out.m_axis_tvalid && out.m_axis_tlast);
    }
    let out = bench.clock();
    println!("{pauses} pauses, {frames} other frames, of which {} found no room", out.dropped_o);
    assert_eq!((out.pauses_o, out.control_o, out.unknown_o), (pauses, others, left));
    assert_eq!(frames, left + out.bad_o + out.dropped_o);
    assert!(pauses > 2_000 && out.dropped_o > 100);
}
