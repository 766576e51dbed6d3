//! The arbiter: every frame comes out whole, in its input's order, and in turn.

use std::collections::VecDeque;

use penstock_cosim::{
    Random, at_least, frame_arbiter, frame_arbiter_strict,
    stream::{Beat, Frame, Sink, Source, length},
};

/// The outputs of both builds, in one shape.
struct Ports {
    ready: u64,
    valid: bool,
    beat: Beat,
    source: usize,
}

/// Inputs of the arbiter in a clock.
struct Inputs<'a> {
    reset: bool,
    shown: &'a [Option<Beat>],
    hold: bool,
    ready: bool,
}

impl Inputs<'_> {
    fn bits(&self, bit: impl Fn(&Beat) -> bool) -> u8 {
        self.shown.iter().enumerate().map(|(i, b)| u8::from(b.as_ref().is_some_and(&bit)) << i).sum()
    }

    fn data(&self, word: usize) -> u32 {
        self.shown[word / 2].map_or(0xdead_beef, |beat| (beat.data >> (32 * (word % 2))) as u32)
    }

    fn keep(&self) -> u32 {
        self.shown.iter().enumerate().map(|(i, b)| u32::from(b.map_or(0, |b| b.keep)) << (8 * i)).sum()
    }
}

fn round_robin(core: &mut frame_arbiter::Core, i: &Inputs) -> Ports {
    let out = core.clock(&frame_arbiter::In {
        rst_i: i.reset,
        hold_i: i.hold,
        m_axis_tready: i.ready,
        s_axis_tdata: std::array::from_fn(|word| i.data(word)),
        s_axis_tkeep: i.keep(),
        s_axis_tlast: i.bits(|b| b.last),
        s_axis_tuser: i.bits(|b| b.user),
        s_axis_tvalid: i.bits(|_| true),
    });
    let beat = Beat { data: out.m_axis_tdata, keep: out.m_axis_tkeep, last: out.m_axis_tlast, user: out.m_axis_tuser };
    Ports { ready: out.s_axis_tready.into(), valid: out.m_axis_tvalid, beat, source: out.m_axis_source_o.into() }
}

fn strict(core: &mut frame_arbiter_strict::Core, i: &Inputs) -> Ports {
    let out = core.clock(&frame_arbiter_strict::In {
        rst_i: i.reset,
        hold_i: i.hold,
        m_axis_tready: i.ready,
        s_axis_tdata: std::array::from_fn(|word| i.data(word)),
        s_axis_tkeep: i.keep() as u16,
        s_axis_tlast: i.bits(|b| b.last),
        s_axis_tuser: i.bits(|b| b.user),
        s_axis_tvalid: i.bits(|_| true),
    });
    let beat = Beat { data: out.m_axis_tdata, keep: out.m_axis_tkeep, last: out.m_axis_tlast, user: out.m_axis_tuser };
    Ports { ready: out.s_axis_tready.into(), valid: out.m_axis_tvalid, beat, source: usize::from(out.m_axis_source_o) }
}

/// The rule of choice, apart from the arbiter: after the last one served, or from the lowest on.
fn choice(waits: &[bool], served: usize, strict: bool) -> Option<usize> {
    let count = waits.len();
    let from = if strict { 0 } else { served + 1 };
    (0..count).map(|step| (from + step) % count).find(|&input| waits[input])
}

fn arbitrates(count: usize, strict: bool, clocks: u64, mut clock: impl FnMut(&Inputs) -> Ports) {
    let mut random = Random::new(2);
    let mut sources = vec![Source::default(); count];
    let mut sent = vec![VecDeque::new(); count];
    let mut sink = Sink::default();
    // The arbiter's state, in words: the input that is served, whether it still is, and the beat that was taken.
    let (mut served, mut busy, mut in_frame) = (count - 1, false, false);
    let mut taken: Option<(usize, Beat)> = None;
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

#[test]
fn serves_in_turn() {
    let mut core = frame_arbiter::Core::new(3);
    arbitrates(4, false, at_least(2_000_000), |inputs| round_robin(&mut core, inputs));
}

#[test]
fn serves_the_first_first() {
    let mut core = frame_arbiter_strict::Core::new(4);
    arbitrates(2, true, at_least(2_000_000), |inputs| strict(&mut core, inputs));
}
