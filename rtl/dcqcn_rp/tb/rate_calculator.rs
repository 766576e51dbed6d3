//! DCQCN's rate calculator against the state machine of the schemes, all outputs in every clock.

use penstock_cosim::reaction_point::{DcqcnPoint, DcqcnSettings, Event, Machine, Message, Point, Shown};
use penstock_cosim::vectors::{self, Pins, Recorder};
use penstock_cosim::{Random, at_least};

/// Clocks of a build.
const OPERATIONS: u64 = 2_000_000;
const CLOCKS: u64 = 20_000;
const FOLDER: &str = "dcqcn_rp";

/// Values at the pins of the settings.
fn settings(input: &impl Pins) -> DcqcnSettings {
    let pin = |name| input.get(pin_of(input, name));
    DcqcnSettings {
        alpha_init: pin("alpha_init_i") as u32,
        g_shift: pin("g_shift_i") as u8,
        alpha_time: pin("alpha_time_i") as u32,
        threshold: pin("threshold_i") as u8,
        byte_reset: pin("byte_reset_i") as u32,
        time_reset: pin("time_reset_i") as u32,
        ai_rate: pin("ai_rate_i"),
        hai_rate: pin("hai_rate_i"),
        min_rate: pin("min_rate_i"),
        max_rate: pin("max_rate_i"),
    }
}

fn pin_of<I: Pins>(_: &I, name: &str) -> usize {
    I::NAMES.iter().position(|n| *n == name).unwrap_or_else(|| panic!("no pin {name}"))
}

/// Sets the pins to settings.
fn set<I: Pins>(input: &mut I, settings: &DcqcnSettings) {
    for (name, value) in [
        ("alpha_init_i", settings.alpha_init.into()),
        ("g_shift_i", settings.g_shift.into()),
        ("alpha_time_i", settings.alpha_time.into()),
        ("threshold_i", settings.threshold.into()),
        ("byte_reset_i", settings.byte_reset.into()),
        ("time_reset_i", settings.time_reset.into()),
        ("ai_rate_i", settings.ai_rate),
        ("hai_rate_i", settings.hai_rate),
        ("min_rate_i", settings.min_rate),
        ("max_rate_i", settings.max_rate),
    ] {
        input.set(pin_of(&I::default(), name), value);
    }
}

macro_rules! lockstep {
    ($name:ident, $core:ident, $bits:expr, $seed:expr) => {
        #[test]
        fn $name() {
            use penstock_cosim::$core::{Core, In};

            /// One clock of both; whether a notification was taken.
            fn clock(core: &mut Core, model: &mut Option<DcqcnPoint>, input: &In) -> bool {
                let out = core.clock(input);
                if input.rst_i {
                    let served = model.as_ref().map_or([0; 4], |model| model.served);
                    let mut fresh = DcqcnPoint::new(&settings(input));
                    fresh.served = served;
                    *model = Some(fresh);
                }
                let Some(model) = model.as_mut().filter(|_| !input.rst_i) else { return false };
                let event = Event {
                    start: input.start_i,
                    signal: input.signal_valid_i.then_some(Message { fb: 0, cp: 0, q_off: 0, q_delta: 0 }),
                    sent: (input.octets_i > 0).then_some(input.octets_i),
                    tick: input.tick_i,
                    words: [0; 2],
                };
                let shown = Shown {
                    point: Point {
                        current_rate: out.current_rate_o,
                        target_rate: out.target_rate_o,
                        byte_stage: out.byte_stage_o,
                        time_stage: out.time_stage_o,
                    },
                    busy: out.busy_o,
                    ready: out.signal_ready_o,
                    ..Shown::default()
                };
                assert_eq!(out.alpha_o, model.alpha(), "{event:?}, {model:?}");
                assert_eq!(shown, model.clock(&event), "{event:?}, {model:?}");
                out.signal_ready_o && input.signal_valid_i
            }

            for vector in vectors::kept(FOLDER, stringify!($core)) {
                let (mut core, mut model) = (Core::new(vector.seed), None);
                for input in &vector.clocks {
                    clock(&mut core, &mut model, input);
                }
            }

            let mut random = Random::new($seed);
            let mut kept = Recorder::new(FOLDER, stringify!($core));
            let (mut operations, mut served) = (0u64, [0u64; 4]);
            while operations < at_least(OPERATIONS) {
                let seed = random.next();
                let (mut core, mut model) = (Core::new(seed), None::<DcqcnPoint>);
                kept.begin(seed);
                let mut input = In::default();
                set(&mut input, &DcqcnSettings::any(&mut random, $bits));
                // How dense the inputs are; notifications back to back, or none.
                let (sends, longest) = (1 + random.below(20), [64, 1518, 9018, 65_535][random.below(4) as usize]);
                let rarely = if random.one_in(2) { 2 } else { 100 };
                let ticking = 1 + random.below(rarely);
                let starts = [10_000, 10_000, 500][random.below(3) as usize];
                let signals = [1, 200, 1_000, 3_000, 6_000, 6_000][random.below(6) as usize];
                for n in 0..CLOCKS {
                    input.rst_i = n == 0 || random.one_in(10_000);
                    let overflows = model.as_ref().is_some_and(DcqcnPoint::overflows);
                    input.start_i = overflows || random.one_in(starts);
                    if !input.signal_valid_i {
                        input.signal_valid_i = random.one_in(signals);
                    }
                    input.octets_i = if random.one_in(sends) { random.below(longest + 1) as u16 } else { 0 };
                    input.tick_i = random.one_in(ticking);
                    kept.clock(&input);
                    let taken = clock(&mut core, &mut model, &input);
                    input.signal_valid_i &= !taken;
                }
                let model = model.expect("there was a reset");
                for (all, these) in served.iter_mut().zip(model.served) {
                    *all += these;
                }
                operations += CLOCKS;
            }
            drop(kept);
            println!("{}: {operations} clocks, {served:?} notifications, cycles, and falls", stringify!($name));
            assert!(served.iter().all(|&served| served > operations / 2_000), "{served:?}");
        }
    };
}

lockstep!(calculates_as_the_scheme_does, dcqcn_rate_calculator, 34, 61);
lockstep!(calculates_to_400_gbps, dcqcn_rate_calculator_400g, 40, 62);
