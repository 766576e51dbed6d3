//! SMCC's rate calculators, registered and combinational, against the state machine of the schemes, in every clock.

use penstock_cosim::reaction_point::{self, Event, Machine, Message, SmccPoint, SmccSettings};
use penstock_cosim::vectors::{self, Pins, Recorder};
use penstock_cosim::{Random, operations};
use penstock_schemes::smcc::{DeltaZero, IncreaseFrom};

const SETS: u64 = 80;
const FOLDER: &str = "smcc_rp";

/// The settings and their pins.
fn settings(input: &impl Pins) -> SmccSettings {
    let pin = |name| input.get(pin_of(input, name));
    SmccSettings {
        alpha: pin("alpha_i"),
        alpha_small: pin("alpha_small_i"),
        beta: pin("beta_i"),
        t1: pin("t1_i"),
        two_stage: pin("two_stage_i") != 0,
        min_rate: pin("min_rate_i"),
        max_rate: pin("max_rate_i"),
    }
}

fn set<I: Pins>(input: &mut I, settings: &SmccSettings) {
    for (name, value) in [
        ("alpha_i", settings.alpha),
        ("alpha_small_i", settings.alpha_small),
        ("beta_i", settings.beta),
        ("t1_i", settings.t1),
        ("two_stage_i", settings.two_stage.into()),
        ("min_rate_i", settings.min_rate),
        ("max_rate_i", settings.max_rate),
    ] {
        input.set(pin_of(&I::default(), name), value);
    }
}

fn pin_of<I: Pins>(_: &I, name: &str) -> usize {
    I::NAMES.iter().position(|n| *n == name).unwrap_or_else(|| panic!("no pin {name}"))
}

fn difference(random: &mut Random) -> i32 {
    let size = match random.below(8) {
        0 => 0,
        1 => 1,
        2 => 8_000 + random.below(2) as i64,
        3 => 1 << 31,
        4 => reaction_point::any_size(random, 31) as i64,
        _ => random.below(150_000) as i64,
    };
    let number = if random.one_in(2) { -size } else { size };
    number.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

macro_rules! lockstep {
    ($name:ident, $core:ident, $bits:expr, $seed:expr, $latency:expr, $clocks:expr, $least:expr, $delta_zero:ident, $from:ident) => {
        #[test]
        fn $name() {
            use penstock_cosim::$core::{Core, In};

            /// One clock of both; whether a notice was taken.
            fn clock(core: &mut Core, model: &mut Option<SmccPoint>, input: &In) -> bool {
                let out = core.clock(input);
                if input.rst_i {
                    let settings = settings(input);
                    let config = settings.config(DeltaZero::$delta_zero, IncreaseFrom::$from);
                    let mut fresh = SmccPoint::new(&config, settings.max_rate, $latency);
                    (fresh.notices, fresh.moved) = model.as_ref().map_or((0, 0), |m| (m.notices, m.moved));
                    *model = Some(fresh);
                }
                let Some(model) = model.as_mut().filter(|_| !input.rst_i) else { return false };
                let (q_off, q_delta) = (input.q_off_i as i32, input.q_delta_i as i32);
                let notice = Message { fb: 0, cp: input.cp_id_i, q_off, q_delta };
                let signal = input.signal_valid_i.then_some(notice);
                let taken = out.signal_ready_o && input.signal_valid_i;
                let shown = model.clock(&Event { start: input.start_i, signal, ..Event::default() });
                assert_eq!((out.rate_o, taken), (shown.point.current_rate, shown.ready), "{input:?}, {model:?}");
                taken
            }

            for vector in vectors::kept(FOLDER, stringify!($core)) {
                let (mut core, mut model) = (Core::new(vector.seed), None);
                for input in &vector.clocks {
                    clock(&mut core, &mut model, input);
                }
            }

            let mut random = Random::new($seed);
            let mut kept = Recorder::new(FOLDER, stringify!($core));
            let (mut sets, mut notices, mut moved) = (0, 0, 0);
            while sets < SETS || notices < operations() {
                sets += 1;
                let seed = random.next();
                let (mut core, mut model) = (Core::new(seed), None::<SmccPoint>);
                kept.begin(seed);
                let mut input = In::default();
                set(&mut input, &SmccSettings::any(&mut random, $bits));
                let gap = [1, 1, 2, 200][random.below(4) as usize];
                for n in 0..$clocks {
                    input.rst_i = n == 0 || random.one_in(20_000);
                    input.start_i = random.one_in(20_000);
                    if !input.signal_valid_i {
                        input.signal_valid_i = random.one_in(gap);
                        input.cp_id_i = match random.below(8) {
                            0 => random.next(),
                            1 => 1 << random.below(64),
                            _ => 7,
                        };
                        input.q_off_i = difference(&mut random) as u32;
                        input.q_delta_i = difference(&mut random) as u32;
                    }
                    kept.clock(&input);
                    let taken = clock(&mut core, &mut model, &input);
                    input.signal_valid_i &= !taken;
                }
                let model = model.expect("there was a reset");
                (notices, moved) = (notices + model.notices, moved + model.moved);
            }
            drop(kept);
            println!("{}: {notices} notices, {moved} moved the rate", stringify!($name));
            assert!(notices >= $least);
        }
    };
}

// A notice each 76 clocks at most: the registered ones are given 2.4 million clocks each, the combinational ones a million notices
// or more; all of them ten million notices in `make -C rtl operations`.
lockstep!(registered, smcc_rate_calculator, 34, 1, 76, 30_000, 10_000, StateA, Bound);
lockstep!(registered_any, smcc_rate_calculator_any, 34, 2, 76, 30_000, 10_000, SignBit, Any);
lockstep!(registered_state_b, smcc_rate_calculator_state_b, 34, 3, 76, 30_000, 10_000, StateB, Bound);
lockstep!(combinational, smcc_rate_calculator_comb, 34, 4, 1, 42_000, 1_000_000, StateA, Bound);
lockstep!(combinational_any, smcc_rate_calculator_comb_any, 34, 5, 1, 42_000, 1_000_000, SignBit, Any);
lockstep!(to_400_gbps, smcc_rate_calculator_400g, 40, 6, 76, 30_000, 10_000, StateA, Bound);
