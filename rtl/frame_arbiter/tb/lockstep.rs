//! The arbiter: every frame comes out whole, in its input's order, and in turn.

use std::collections::VecDeque;

use penstock_cosim::bits::Bits;
use penstock_cosim::stream::{Beat, Data, Frame, Sink, Source, length};
use penstock_cosim::{Random, at_least};

/// The outputs of all builds, in one shape.
struct Ports<D: Data> {
    ready: u64,
    valid: bool,
    beat: Beat<D>,
    source: usize,
}

/// Inputs of the arbiter in a clock.
struct Inputs<'a, D: Data> {
    reset: bool,
    shown: &'a [Option<Beat<D>>],
    hold: bool,
    ready: bool,
}

impl<D: Data> Inputs<'_, D> {
    fn bits(&self, bit: impl Fn(&Beat<D>) -> bool) -> u8 {
        self.shown.iter().enumerate().map(|(i, b)| u8::from(b.as_ref().is_some_and(&bit)) << i).sum()
    }

    /// Puts the octets of all inputs and their marks onto the pins.
    fn put(&self, data: &mut impl Bits, keep: &mut impl Bits) {
        for (input, beat) in self.shown.iter().enumerate() {
            let octets = beat.map_or(vec![0xde; D::OCTETS], |beat| beat.data.octets());
            for (n, octet) in octets.iter().enumerate() {
                data.put(8 * (input * D::OCTETS + n), 8, (*octet).into());
            }
            keep.put(input * D::OCTETS, D::OCTETS, beat.map_or(0, |beat| beat.keep.into()));
        }
    }
}

/// A test of a build: its number of inputs, whether the lowest always comes first, and the data of a beat.
macro_rules! serves {
    ($name:ident, $core:ident, $data:ty, $count:expr, $strict:expr) => {
        #[test]
        fn $name() {
            use penstock_cosim::$core::{Core, In};
            let mut core = Core::new(3);
            arbitrates::<$data>($count, $strict, at_least(1_000_000), |given| {
                let mut input = In {
                    rst_i: given.reset,
                    hold_i: given.hold,
                    m_axis_tready: given.ready,
                    s_axis_tlast: given.bits(|b| b.last),
                    s_axis_tuser: given.bits(|b| b.user),
                    s_axis_tvalid: given.bits(|_| true),
                    ..In::default()
                };
                given.put(&mut input.s_axis_tdata, &mut input.s_axis_tkeep);
                let out = core.clock(&input);
                let beat = Beat {
                    data: out.m_axis_tdata,
                    keep: out.m_axis_tkeep,
                    last: out.m_axis_tlast,
                    user: out.m_axis_tuser,
                };
                let source = usize::from(out.m_axis_source_o);
                Ports { ready: out.s_axis_tready.into(), valid: out.m_axis_tvalid, beat, source }
            });
        }
    };
}

/// The rule of choice, apart from the arbiter: after the last one served, or from the lowest on.
fn choice(waits: &[bool], served: usize, strict: bool) -> Option<usize> {
    let count = waits.len();
    let from = if strict { 0 } else { served + 1 };
    (0..count).map(|step| (from + step) % count).find(|&input| waits[input])
}

fn arbitrates<D: Data>(count: usize, strict: bool, clocks: u64, mut clock: impl FnMut(&Inputs<'_, D>) -> Ports<D>) {
    let mut random = Random::new(2);
    let mut sources = vec![Source::<D>::default(); count];
    let mut sent = vec![VecDeque::new(); count];
    let mut sink = Sink::default();
    // The arbiter's state, in words: the input that is served, whether it still is, and the beat that was taken.
    let (mut served, mut busy, mut in_frame) = (count - 1, false, false);
    let mut taken: Option<(usize, Beat<D>)> = None;
    let (mut load, mut gaps, mut stalls, mut holds) = (1, 1, 1, 1);
    let (mut frames, mut since_reset) = (0u64, 0);
    for now in 0..clocks {
        if since_reset == 0 {
            (load, gaps) = (1 + random.below(60), 1 + random.below(3));
            (stalls, holds) = (1 + random.below(4), 1 + random.below(4));
        }
        since_reset += 1;
        let reset = now == 0 || since_reset > 20_000 && random.one_in(5_000);
        for (source, sent) in sources.iter_mut().zip(&mut sent) {
            if source.left() < 400 && random.one_in(load) {
                let length = length(&mut random);
                let mut frame = Frame::random(&mut random, length);
                frame.bad = random.one_in(10);
                source.push(&frame);
                sent.push_back(frame);
            }
        }
        let shown: Vec<_> = sources.iter_mut().map(|source| source.show(random.one_in(gaps))).collect();
        let (hold, ready) = (!random.one_in(holds), random.one_in(stalls));
        let out = clock(&Inputs { reset, shown: &shown, hold, ready });
        if reset {
            sources.iter_mut().for_each(Source::clear);
            sent.iter_mut().for_each(VecDeque::clear);
            sink.clear();
            (served, busy, in_frame, taken, since_reset) = (count - 1, false, false, None, 0);
            continue;
        }
        assert_eq!(out.valid.then_some((out.source, out.beat)), taken, "in clock {now}");
        let space = taken.is_none() || ready;
        let wanted = if busy && space { 1 << served } else { 0 };
        assert_eq!(out.ready, wanted, "ready in clock {now}");
        if let Some(frame) = sink.see(out.valid, out.beat, ready) {
            assert_eq!(Some(frame), sent[out.source].pop_front(), "in clock {now}");
            frames += 1;
        }
        if ready {
            taken = None;
        }
        if !busy {
            let waits: Vec<_> = shown.iter().map(Option::is_some).collect();
            if let Some(next) = choice(&waits, served, strict).filter(|_| !hold) {
                (served, busy) = (next, true);
            }
        } else if space && shown[served].is_some() {
            let beat = sources[served].take();
            taken = Some((served, beat));
            (busy, in_frame) = (!beat.last, !beat.last);
        } else if !in_frame && shown[served].is_none() {
            busy = false;
        }
    }
    assert!(frames > clocks / 200, "{frames} frames passed");
}

serves!(serves_in_turn, frame_arbiter, u64, 4, false);
serves!(serves_the_first_first, frame_arbiter_strict, u64, 2, true);
serves!(serves_512_bits_in_turn, frame_arbiter_512, [u32; 16], 4, false);
#[cfg(feature = "widths")]
serves!(serves_128_bits_in_turn, frame_arbiter_128, [u32; 4], 4, false);
#[cfg(feature = "widths")]
serves!(serves_256_bits_in_turn, frame_arbiter_256, [u32; 8], 4, false);
