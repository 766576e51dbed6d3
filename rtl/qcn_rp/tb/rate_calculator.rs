//! QCN's rate calculator against the state machine of the schemes, all outputs in every clock.

use penstock_cosim::reaction_point::{self, Event, Machine, Message, Point, Qcn, QcnSettings, Readings};
use penstock_cosim::vectors::{self, Recorder};
use penstock_cosim::{Random, at_least};
use penstock_schemes::parts::rate_calculator::{Efr, HaiMultiplier, JitterRp, Trr};

/// Operations of a build.
const OPERATIONS: u64 = 2_000_000;
const CLOCKS: u64 = 30_000;
const FOLDER: &str = "qcn_rp";
/// Clocks that an event is served.
const SERVICE: u64 = 51;

macro_rules! lockstep {
    ($name:ident, $core:ident, $bits:expr, $seed:expr, $readings:expr) => {
        #[test]
        fn $name() {
            use penstock_cosim::$core::{Core, In};

            /// One clock of both; whether a signal was taken.
            fn clock(core: &mut Core, model: &mut Option<Qcn>, input: &In) -> bool {
                let out = core.clock(input);
                if input.rst_i {
                    let mut fresh = Qcn::new($readings, &QcnSettings::at_pins(input));
                    fresh.served = model.as_ref().map_or([0; 3], |model| model.served);
                    *model = Some(fresh);
                }
                let Some(model) = model.as_mut().filter(|_| !input.rst_i) else { return false };
                let message = Message { fb: input.fb_i, cp: 0, q_off: 0, q_delta: 0 };
                let event = Event {
                    start: input.start_i,
                    signal: input.signal_valid_i.then_some(message),
                    sent: (input.octets_i > 0).then_some(input.octets_i),
                    tick: input.tick_i,
                    words: [input.random_byte_i, input.random_timer_i],
                };
                let signed = |n: u32| i64::from((n << 6) as i32 >> 6);
                let shown = reaction_point::Shown {
                    point: Point {
                        current_rate: out.current_rate_o,
                        target_rate: out.target_rate_o,
                        byte_stage: out.byte_stage_o,
                        time_stage: out.time_stage_o,
                    },
                    phase: out.phase_o,
                    byte_left: signed(out.byte_remaining_o),
                    time_left: signed(out.time_remaining_o),
                    busy: out.busy_o,
                    ready: out.signal_ready_o,
                    draws: [out.draw_byte_o, out.draw_timer_o],
                };
                assert_eq!(shown, model.clock(&event), "{event:?}, {model:?}");
                out.signal_ready_o && input.signal_valid_i
            }

            for vector in vectors::kept(FOLDER, stringify!($core)) {
                let (mut core, mut model) = (Core::new(vector.seed), None);
                for input in &vector.clocks {
                    clock(&mut core, &mut model, input);
                }
            }

            // The target rate is ten times the current one, or one more or less: where its reduction begins.
            for tenth in [1, 7, 1_000, 99_999_937] {
                for max_rate in 10 * tenth - 1..=10 * tenth + 2 {
                    let (mut core, mut model) = (Core::new(max_rate), None::<Qcn>);
                    let (mut input, usual) = (In::default(), QcnSettings::any(&mut Random::new(max_rate), $bits));
                    let usual = QcnSettings { gd_shift: 6, threshold: 5, jitter: 0, byte_reset: 1_000, ..usual };
                    QcnSettings { min_rate: tenth, max_rate, timer_on: false, ..usual }.put(&mut input);
                    input.rst_i = true;
                    clock(&mut core, &mut model, &input);
                    input.rst_i = false;
                    // Signals take the current rate down to the least, and then a frame ends a cycle of the byte counter.
                    (input.signal_valid_i, input.fb_i) = (true, 63);
                    for _ in 0..20 * SERVICE {
                        clock(&mut core, &mut model, &input);
                    }
                    input.signal_valid_i = false;
                    for n in 0..5 * SERVICE {
                        input.octets_i = if n == 2 * SERVICE { 1_500 } else { 0 };
                        clock(&mut core, &mut model, &input);
                    }
                }
            }

            let mut random = Random::new($seed);
            let mut kept = Recorder::new(FOLDER, stringify!($core));
            let (mut operations, mut served) = (0u64, [0u64; 3]);
            while operations < at_least(OPERATIONS) {
                let seed = random.next();
                let (mut core, mut model) = (Core::new(seed), None::<Qcn>);
                kept.begin(seed);
                let mut input = In::default();
                QcnSettings::any(&mut random, $bits).put(&mut input);
                // How dense the inputs are; signals back to back, or none.
                let (sends, longest) = (1 + random.below(20), [64, 1518, 9018, 65_535][random.below(4) as usize]);
                let rarely = if random.one_in(2) { 2 } else { 100 };
                let ticking = 1 + random.below(rarely);
                let starts = [10_000, 10_000, 500][random.below(3) as usize];
                let signals = [1, 20, 500, 2_000, 5_000, 100_000][random.below(6) as usize];
                for n in 0..CLOCKS {
                    input.rst_i = n == 0 || random.one_in(20_000);
                    input.start_i = random.one_in(starts) || model.as_ref().is_some_and(Qcn::overflows);
                    if !input.signal_valid_i {
                        input.signal_valid_i = random.one_in(signals);
                        input.fb_i = random.below(64) as u8;
                    }
                    input.octets_i = match random.below(8) {
                        _ if !random.one_in(sends) => 0,
                        0 => longest,
                        _ => random.below(longest + 1),
                    } as u16;
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
                    let taken = clock(&mut core, &mut model, &input);
                    operations +=
                        [input.start_i, taken, input.octets_i > 0, input.tick_i].map(u64::from).iter().sum::<u64>();
                    input.signal_valid_i &= !taken;
                }
                (0..3).for_each(|event| served[event] += model.as_ref().map_or(0, |model| model.served[event]));
            }
            drop(kept);
            println!("{}: {operations} operations; served {served:?}", stringify!($name));
            assert!(served.iter().sum::<u64>() > 1_000, "{served:?}");
        }
    };
}

lockstep!(
    core,
    qcn_rate_calculator_core,
    34,
    1,
    Readings {
        full: false,
        hai_multiplier: HaiMultiplier::One,
        efr: Efr::Off,
        trr: Trr::Off,
        jitter_rp: JitterRp::Reload
    }
);
lockstep!(full, qcn_rate_calculator_full, 34, 2, Readings::FULL);
lockstep!(to_400_gbps, qcn_rate_calculator_400g, 40, 5, Readings::FULL);
lockstep!(
    netfpga,
    qcn_rate_calculator_netfpga,
    34,
    3,
    Readings {
        full: true,
        hai_multiplier: HaiMultiplier::Ordinal,
        efr: Efr::NeitherFired,
        trr: Trr::AnyTime,
        jitter_rp: JitterRp::Always
    }
);

/// Settings that contradict each other and change in every clock: the rate is never above the largest that it was set, and
/// an event is never served longer than its clocks.
#[test]
fn wild_settings_leave_nothing_stuck() {
    use penstock_cosim::qcn_rate_calculator_netfpga::{Core, In};
    let mut random = Random::new(4);
    let rate = reaction_point::any_rate;
    let mut core = Core::new(4);
    core.clock(&In { rst_i: true, ..In::default() });
    let (mut busy, mut served, mut largest) = (0u64, 0u64, 0u64);
    for clock in 0..1_000_000u64 {
        let input = In {
            rst_i: random.one_in(10_000),
            start_i: random.one_in(1_000),
            signal_valid_i: random.one_in(2),
            fb_i: random.word() as u8 & 63,
            octets_i: if random.one_in(2) { random.word() as u16 } else { 0 },
            tick_i: random.one_in(2),
            random_byte_i: random.word(),
            random_timer_i: random.word(),
            gd_shift_i: random.word() as u8 & 31,
            rpg_threshold_i: random.word() as u8,
            rpg_byte_reset_i: random.word() >> 8,
            rpg_time_reset_i: random.word() >> (8 + random.below(24)),
            rpg_ai_rate_i: rate(&mut random, (1 << 34) - 1),
            rpg_hai_rate_i: rate(&mut random, (1 << 34) - 1),
            rpg_min_rate_i: rate(&mut random, (1 << 34) - 1),
            rpg_max_rate_i: rate(&mut random, 10_000_000_000),
            rp_jitter_i: random.word() as u16,
            timer_on_i: random.one_in(2),
        };
        let out = core.clock(&input);
        largest = largest.max(input.rpg_max_rate_i);
        busy = if out.busy_o && !input.start_i && !input.rst_i { busy + 1 } else { 0 };
        served += u64::from(out.signal_ready_o && input.signal_valid_i);
        assert!(busy < SERVICE && (clock == 0 || out.current_rate_o <= largest), "clock {clock}");
    }
    assert!(served > 10_000);
}
