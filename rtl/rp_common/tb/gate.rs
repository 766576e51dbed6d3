//! The gate of a reaction point at 100 Gb/s: frames from 64 octets on have all of the rate, whole and in order, and no more.

use std::collections::VecDeque;

use penstock_cosim::rate_gate_100g::{Core, In};
use penstock_cosim::stream::{Beat, Frame, Sink, Source};
use penstock_cosim::{Random, at_least};

const RATE: u64 = 100_000_000_000;
/// Clocks from one refill to the next, octets of one at this rate, and those that the bucket holds.
const REFILL: u64 = 330;
const GIFT: u64 = RATE / 7_812_500;
const DEPTH: u64 = 16_384;
/// Octets on the line beside a frame's own.
const LINE: u64 = 20;

#[test]
fn frames_have_all_of_100_gbps() {
    for lengths in [&[60][..], &[65], &[125], &[61, 65, 124, 125], &[60, 129, 1514], &[1514]] {
        let mut random = Random::new(1);
        let mut core = Core::new(2);
        core.clock(&In { rst_i: true, rate_i: RATE, ..In::default() });
        let (mut source, mut sink) = (Source::default(), Sink::default());
        let (mut inside, mut coming) = (VecDeque::new(), VecDeque::new());
        let (mut went, clocks) = (0, at_least(200_000));
        for clock in 0..clocks {
            while source.left() < 100 {
                let length = lengths[random.below(lengths.len() as u64) as usize];
                let frame = Frame::random(&mut random, length);
                source.push(&frame);
                inside.push_back(frame.octets.len());
                coming.push_back(frame);
            }
            let beat = source.show(true).expect("there is always one");
            let out = core.clock(&In {
                rate_i: RATE,
                s_axis_tdata: beat.data,
                s_axis_tkeep: beat.keep,
                s_axis_tlast: beat.last,
                s_axis_tvalid: true,
                s_axis_octets_i: *inside.front().expect("it waits") as u16 + 4,
                m_axis_tready: true,
                ..In::default()
            });
            if out.sent_valid_o {
                went += u64::from(out.sent_octets_o) + LINE;
                assert!(went <= DEPTH + (clock / REFILL + 1) * GIFT, "{lengths:?}: too fast in clock {clock}");
            }
            if out.s_axis_tready && source.take().last {
                inside.pop_front();
            }
            let shown =
                Beat { data: out.m_axis_tdata, keep: out.m_axis_tkeep, last: out.m_axis_tlast, user: out.m_axis_tuser };
            if let Some(frame) = sink.see(out.m_axis_tvalid, shown, true) {
                assert_eq!(Some(frame), coming.pop_front(), "clock {clock}");
            }
        }
        // The bucket's refills but for a frame and the one that has just come.
        let due = clocks / REFILL * GIFT;
        println!("{lengths:?}: {went} octets on the line of {due}");
        assert!(went + GIFT + 1_538 >= due, "{lengths:?}: {went} octets of {due}");
    }
}
