//! The flows' state and departures against the state machines of the schemes, all outputs in every clock.

mod model;

use model::{Given, Model, ROUND, SERVICE, Served, Shape, Shown};
use penstock_cosim::reaction_point::{QcnSettings, Readings};
use penstock_cosim::vectors::{self, Recorder};
use penstock_cosim::{Random, at_least};
use penstock_schemes::parts::rate_calculator::{Efr, HaiMultiplier, JitterRp, Trr};

const FOLDER: &str = "qcn_rp_many";
const PAPER: Readings = Readings {
    full: true,
    hai_multiplier: HaiMultiplier::Ordinal,
    efr: Efr::NeitherFired,
    trr: Trr::AnyTime,
    jitter_rp: JitterRp::Always,
};

const SMALL: Shape = Shape {
    flows: 8,
    buckets: 16,
    bucket_clocks: 16,
    clock_hz: 125_000_000,
    first_clock: 0xffff_b000,
    readings: PAPER,
};
const LARGE: Shape = Shape {
    flows: 1024,
    buckets: 1024,
    bucket_clocks: 64,
    clock_hz: 322_265_625,
    first_clock: 0,
    readings: Readings::FULL,
};

/// Settings of a run. Half of them have rates at which frames follow each other soon.
fn settings(random: &mut Random, bits: u32) -> QcnSettings {
    let any = QcnSettings::any(random, bits);
    if random.one_in(2) { any } else { QcnSettings { min_rate: any.min_rate.max(any.max_rate / 50), ..any } }
}

macro_rules! core {
    ($core:ident, $flow:ty, $shape:expr) => {
        mod $core {
            use super::*;
            pub use penstock_cosim::$core::{Core, In};

            pub const SHAPE: Shape = $shape;

            /// One clock of both.
            pub fn clock(core: &mut Core, model: &mut Option<Model>, input: &In) -> Shown {
                let out = core.clock(input);
                if input.rst_i {
                    let mut fresh = Model::new(SHAPE, &QcnSettings::at_pins(input));
                    fresh.served = model.as_ref().map_or([0; 4], |model| model.served);
                    *model = Some(fresh);
                    return Shown::default();
                }
                let Some(model) = model else { return Shown::default() };
                let given = Given {
                    start: input.start_valid_i.then_some(input.start_flow_i.into()),
                    signal: input.signal_valid_i.then_some((input.signal_flow_i.into(), input.fb_i)),
                    tick: input.tick_i,
                    words: [input.random_byte_i, input.random_timer_i],
                    request: input.request_valid_i.then_some((input.request_flow_i.into(), input.request_octets_i)),
                    release_ready: input.release_ready_i,
                };
                let event = Served {
                    kind: out.event_kind_o,
                    flow: out.event_flow_o.into(),
                    current_rate: out.current_rate_o,
                    target_rate: out.target_rate_o,
                    byte_stage: out.byte_stage_o,
                    time_stage: out.time_stage_o,
                    phase: out.phase_o,
                };
                let shown = Shown {
                    ready: out.ready_o,
                    start_ready: out.start_ready_o,
                    signal_ready: out.signal_ready_o,
                    draws: [out.draw_byte_o, out.draw_timer_o],
                    request_ready: out.request_ready_o,
                    refused: out.refused_o,
                    release: out.release_valid_o.then_some((out.release_flow_o.into(), out.release_octets_o)),
                    event: out.event_valid_o.then_some(event),
                };
                assert_eq!(shown, model.clock(&given), "{given:?}, {model:?}");
                shown
            }

            /// The vectors that are kept.
            pub fn kept() {
                for vector in vectors::kept(FOLDER, stringify!($core)) {
                    let (mut core, mut model) = (Core::new(vector.seed), None);
                    for input in &vector.clocks {
                        clock(&mut core, &mut model, input);
                    }
                }
            }

            /// Runs of `run` clocks each with other settings, `clocks` together.
            pub fn lock_step(seed: u64, clocks: u64, run: u64, bits: u32) {
                let mut random = Random::new(seed);
                let mut kept = Recorder::new(FOLDER, stringify!($core));
                let (mut done, mut served, mut gone, mut moved) = (0, [0; 4], 0, 0);
                while done < clocks {
                    let seed = random.next();
                    let (mut core, mut model) = (Core::new(seed), None::<Model>);
                    kept.begin(seed);
                    let mut input = In::default();
                    settings(&mut random, bits).put(&mut input);
                    let (longest, asks) = ([64, 1518, 9018, 65_535][random.below(4) as usize], 1 + random.below(30));
                    let (ticking, stalls) = (1 + random.below(100), 1 + random.below(8));
                    let signals = [20, 500, 2_000, 20_000][random.below(4) as usize];
                    // Few flows are busy in some runs, so that these are in what follows each other.
                    let most = if random.one_in(2) { 8 } else { SHAPE.flows as u64 };
                    let busy = 1 + random.below(most);
                    for n in 0..run {
                        input.rst_i = n == 0 || random.one_in(50_000);
                        if !input.start_valid_i {
                            let flow = random.below(busy);
                            let late = model.as_ref().is_some_and(|model| model.overflows(flow as usize));
                            input.start_valid_i = late || random.one_in(3_000);
                            input.start_flow_i = flow as $flow;
                        }
                        if !input.signal_valid_i {
                            input.signal_valid_i = random.one_in(signals);
                            input.signal_flow_i = random.below(busy) as $flow;
                            input.fb_i = 1 + random.below(63) as u8;
                        }
                        if !input.request_valid_i && random.one_in(asks) {
                            let flow = random.below(busy);
                            // Now and then of one that must not ask.
                            let may = model.as_ref().is_some_and(|model| model.may_ask(flow as usize));
                            input.request_valid_i = may || random.one_in(50);
                            input.request_flow_i = flow as $flow;
                            input.request_octets_i = match random.below(8) {
                                0 => longest,
                                _ => random.below(longest + 1),
                            } as u16;
                        }
                        input.release_ready_i = stalls == 1 || !random.one_in(stalls);
                        input.tick_i = random.one_in(ticking);
                        let corner = |random: &mut Random| match random.below(8) {
                            0 => 0,
                            1 => u32::MAX,
                            2 => 1 << 31,
                            _ => random.word(),
                        };
                        input.random_byte_i = corner(&mut random);
                        input.random_timer_i = corner(&mut random);
                        kept.clock(&input);
                        let shown = clock(&mut core, &mut model, &input);
                        input.start_valid_i &= !shown.start_ready && !input.rst_i;
                        input.signal_valid_i &= !shown.signal_ready && !input.rst_i;
                        input.request_valid_i &= !shown.request_ready && !input.rst_i;
                    }
                    done += run;
                    let model = model.expect("there was a reset");
                    (0..4).for_each(|kind| served[kind] += model.served[kind]);
                    (gone, moved) = (gone + model.gone, moved + model.moved);
                }
                drop(kept);
                println!("{}: {done} clocks; served {served:?}, {gone} frames, {moved} moved", stringify!($core));
                assert!(served.iter().all(|&n| n > 20) && gone > 1_000, "{served:?}, {gone}");
                assert!(SHAPE.flows > 8 || moved > 100, "{moved}");
            }
        }
    };
}

core!(qcn_flows_8, u8, SMALL);
core!(qcn_flows_1024, u16, LARGE);

#[test]
fn eight_flows() {
    qcn_flows_8::kept();
    qcn_flows_8::lock_step(1, at_least(1_500_000), 30_000, 34);
}

#[test]
fn a_thousand_flows() {
    qcn_flows_1024::kept();
    qcn_flows_1024::lock_step(2, at_least(600_000), 50_000, 40);
}

/// Settings of flows that all have one rate.
fn unlimited(rate: u64) -> QcnSettings {
    QcnSettings {
        gd_shift: 7,
        threshold: 5,
        byte_reset: (1 << 24) - 1,
        time_reset: 0,
        ai_rate: 0,
        hai_rate: 0,
        min_rate: rate,
        max_rate: rate,
        jitter: 0,
        timer_on: false,
    }
}

/// A flow that always has a frame goes at the clocks of its rate: over four million octets an error in the last bit of its gap is a
/// clock. The gap of the first rate, 8 · 322 265 625 Hz · 2^7, is 2^-7 clocks, that of the second is rounded up, and that of the third, more
/// than 2^14 clocks, is the largest.
#[test]
fn gaps_are_exact() {
    use qcn_flows_1024::{Core, In, clock};
    for (rate, octets, least) in [(330_000_000_000, 9_018, 900), (400_000_000_000, 9_018, 1_000), (157_000, 64, 1)] {
        let (mut core, mut model) = (Core::new(4), None::<Model>);
        let mut input = In { rst_i: true, release_ready_i: true, request_octets_i: octets, ..In::default() };
        unlimited(rate).put(&mut input);
        for _ in 0..80_000 {
            let shown = clock(&mut core, &mut model, &input);
            input.rst_i = false;
            input.request_valid_i &= !shown.request_ready;
            input.request_valid_i |= model.as_ref().is_some_and(|model| model.may_ask(0));
        }
        let gone = model.expect("it has been reset").gone;
        assert!(gone >= least && (least > 1 || gone == 1), "{gone} frames at {rate} bit/s");
    }
}

/// Each of a thousand flows gets its rate, none more, and the sum is that of the line.
#[test]
fn flows_share_a_line_by_their_rates() {
    use qcn_flows_1024::{Core, In, SHAPE, clock};
    const OCTETS: u16 = 1_518;
    // 1024 flows of 97 Mb/s: 99.3 Gb/s.
    let quiet = unlimited(97_000_000);
    let (mut core, mut model) = (Core::new(3), None);
    let mut input = In { rst_i: true, release_ready_i: true, ..In::default() };
    quiet.put(&mut input);
    clock(&mut core, &mut model, &input);
    input.rst_i = false;
    let (mut gone, mut next) = (vec![0u64; SHAPE.flows], Vec::new());
    next.extend((0..SHAPE.flows).rev());
    // A frame takes 1538 octets' time, 1/97e6 s each: 40 876.2 clocks.
    let clocks = 10 * 40_876 + 2_000;
    for _ in 0..clocks {
        input.request_valid_i = !next.is_empty();
        input.request_flow_i = next.last().copied().unwrap_or_default() as u16;
        input.request_octets_i = OCTETS;
        let shown = clock(&mut core, &mut model, &input);
        if shown.request_ready {
            next.pop();
        }
        if let Some((flow, _)) = shown.release {
            gone[flow] += 1;
            next.insert(0, flow);
        }
    }
    // The first frames, a round each, take 10 240 clocks until the last of them goes.
    assert!(gone.iter().all(|&n| n == 10 || n == 11), "{gone:?}");
    let model = model.expect("it has been reset");
    assert!(model.latest < 11_000, "{}", model.latest);
}

/// Signals as fast as they are taken: one in 100 clocks, and timers and cycles of octets get their turns.
#[test]
fn nothing_starves() {
    use qcn_flows_8::{Core, In, clock};
    let busy = QcnSettings {
        gd_shift: 7,
        threshold: 5,
        byte_reset: 100,
        time_reset: 50,
        ai_rate: 5_000_000,
        hai_rate: 50_000_000,
        min_rate: 1_000_000_000,
        max_rate: 10_000_000_000,
        jitter: 9_830,
        timer_on: true,
    };
    let (mut core, mut model) = (Core::new(4), None);
    let mut input = In { rst_i: true, release_ready_i: true, tick_i: true, ..In::default() };
    busy.put(&mut input);
    clock(&mut core, &mut model, &input);
    input.rst_i = false;
    let (mut random, mut signals) = (Random::new(4), 0u64);
    const CLOCKS: u64 = 30_000;
    for _ in 0..CLOCKS {
        (input.signal_valid_i, input.request_valid_i, input.fb_i) = (true, true, 8);
        input.request_octets_i = 500;
        let shown = clock(&mut core, &mut model, &input);
        if shown.signal_ready {
            signals += 1;
            // Of one flow alone, whose other events come besides.
            input.signal_flow_i = (input.signal_flow_i + 1) % 2;
        }
        if shown.request_ready {
            input.request_flow_i = random.below(8) as u8;
        }
    }
    let served = model.expect("it has been reset").served;
    let rounds = CLOCKS / (SERVICE + ROUND);
    // A flow of another number begins with no timer; a signal starts it. So each kind has a third, as long as all wait.
    assert!(signals * 5 > rounds && served[2] * 5 > rounds && served[3] * 5 > rounds, "{served:?}");
    assert!(served.iter().sum::<u64>() + 5 > rounds, "{served:?} of {rounds}");
}
