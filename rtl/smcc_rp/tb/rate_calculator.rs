//! SMCC's rate calculators, registered and combinational, against the state machine of the schemes, in every clock.

use penstock_cosim::vectors::{self, Pins, Recorder};
use penstock_cosim::{Random, operations};
use penstock_schemes::parts::gain::Gain;
use penstock_schemes::smcc::{Config, DeltaZero, IncreaseFrom, Notice, Rp, Smcc};
use penstock_schemes::{
    BitRate, Class, CpId, Draw, Instant, Octets, Out, ReactionPoint, SCHEMES, SchemeConfig, To, Value,
};

const SETS: u64 = 400;
const FOLDER: &str = "smcc_rp";
/// What a gain is made of is at most this, and its octets at most 2 to this power.
const MOST: u64 = 1 << 46;
const MOST_SHIFT: i32 = 46;
/// With this shift an octet is more than any rate; the pins can have larger ones, which say the same.
const LARGEST_SHIFT: i8 = 28;

/// SMCC's reaction point neither draws nor sends.
struct Nothing;

impl Draw for Nothing {
    fn draw(&mut self) -> u32 {
        unreachable!("SMCC's reaction point draws nothing")
    }
}

impl Out<Smcc> for Nothing {
    fn send(&mut self, _: To, _: Class, _: Notice) {
        unreachable!("SMCC's reaction point sends nothing")
    }
}

fn defaults() -> Config {
    let info = SCHEMES.iter().find(|info| info.name == "smcc").expect("it is there");
    let values: Vec<Value> = info.parameters.iter().map(|p| p.default).collect();
    match SchemeConfig::new("smcc", &values) {
        Some(SchemeConfig::Smcc(config)) => config,
        _ => unreachable!("defaults fit"),
    }
}

/// A number of up to `bits` bits, its length evenly spread.
fn any_size(random: &mut Random, bits: u64) -> u64 {
    let bits = random.below(bits + 1);
    random.next() & ((1 << bits) - 1)
}

/// The gain of a pin, as a rate at a power of 2 of octets, both as `Gain::new` takes them; none if they are too large.
fn exact(pin: u64) -> Option<(u64, u32)> {
    let (mantissa, shift) = (pin >> 7, ((pin as i8) << 1 >> 1).min(LARGEST_SHIFT));
    let zeros = mantissa.trailing_zeros();
    let (rate, shift) = (u128::from(mantissa >> zeros), i32::from(shift) + zeros as i32);
    let rate = rate << shift.max(0);
    (rate <= MOST.into() && shift >= -MOST_SHIFT).then_some((rate as u64, shift.min(0).unsigned_abs()))
}

/// Two gains at the same octets: these, and both rates.
fn together(first: u64, second: u64) -> Option<(u64, u64, u64)> {
    let ((first, first_shift), (second, second_shift)) = (exact(first)?, exact(second)?);
    let shift = first_shift.max(second_shift);
    let scaled = |rate: u64, own: u32| {
        let scaled = u128::from(rate) << (shift - own);
        (scaled <= MOST.into()).then_some(scaled as u64)
    };
    Some((1 << shift, scaled(first, first_shift)?, scaled(second, second_shift)?))
}

/// Sets the pins of the settings to anything from one end of their ranges to the other.
fn draw_settings<I: Pins>(random: &mut Random, input: &mut I) {
    let max_rate = match random.below(4) {
        0 => (1 << 34) - 1,
        1 => 1_000_000_000,
        _ => 1 + any_size(random, 34).min((1 << 34) - 2),
    };
    let mut set = |name, value| input.set(pin_of(&I::default(), name), value);
    set("max_rate_i", max_rate);
    set("min_rate_i", any_size(random, 34).min(max_rate));
    set("two_stage_i", random.below(2));
    set("t1_i", if random.one_in(2) { 8_000 } else { any_size(random, 32) });
    // Gains as in the paper, or any.
    let gain = |random: &mut Random, usual: u64| {
        let (rate, octets) = match random.below(4) {
            0 => (usual, 64_000),
            1 => (1 + any_size(random, 3), 1 << random.below(MOST_SHIFT as u64 + 1)),
            2 => (1 + any_size(random, 36), 1 + any_size(random, 30)),
            _ => (1 + any_size(random, 45), 1 + any_size(random, 45)),
        };
        let gain = Gain::new(rate, octets);
        let shift = if random.one_in(8) { LARGEST_SHIFT + random.below(34) as i8 } else { gain.shift() };
        u64::from(gain.mantissa()) << 7 | u64::from(shift as u8 & 0x7f)
    };
    let (alpha, alpha_small, beta) = loop {
        let (a, small, b) = (gain(random, 256_000_000), gain(random, 128_000_000), gain(random, 64_000_000));
        if together(a, small).is_some() && exact(b).is_some() {
            break (a, small, b);
        }
    };
    set("alpha_i", alpha);
    set("alpha_small_i", alpha_small);
    set("beta_i", beta);
}

/// The state machine that the pins are set to.
fn reaction_point(input: &impl Pins, delta_zero: DeltaZero, increase_from: IncreaseFrom) -> Rp {
    let pin = |name| input.get(pin_of(input, name));
    let (ra_at, ra, ra_small) = together(pin("alpha_i"), pin("alpha_small_i")).expect("gains are drawn so");
    let (rb, rb_shift) = exact(pin("beta_i")).expect("gains are drawn so");
    let config = Config {
        ra: BitRate(ra),
        ra_at: Octets(ra_at),
        ra_small: BitRate(ra_small),
        rb: BitRate(rb),
        rb_at: Octets(1 << rb_shift),
        t1: Octets(pin("t1_i")),
        two_stage: pin("two_stage_i") != 0,
        min_rate: BitRate(pin("min_rate_i")),
        delta_zero,
        increase_from,
        ..defaults()
    };
    Rp::new(&config, BitRate(pin("max_rate_i")))
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
        4 => any_size(random, 31) as i64,
        _ => random.below(150_000) as i64,
    };
    let number = if random.one_in(2) { -size } else { size };
    number.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

/// The state machine, asked as the hardware's clocks come.
struct Model {
    rp: Rp,
    /// Clocks from the one in which a notice is seen to the one in which the rate shows it.
    latency: u64,
    /// Clocks since the reset.
    clock: u64,
    /// When the notice that stands there was seen.
    seen: Option<u64>,
    notices: u64,
    moved: u64,
}

impl Model {
    /// What shows in a clock, the rate and that a notice is taken; then it happens.
    fn clock(&mut self, start: bool, notice: Option<Notice>) -> (u64, bool) {
        let rate = self.rp.allowance().rate;
        let seen = *self.seen.get_or_insert(self.clock);
        let taken = notice.filter(|_| !start && self.clock + 1 == seen + self.latency);
        if let Some(notice) = taken {
            self.rp.on_signal(Instant::ZERO, notice, &mut Nothing, &mut Nothing);
            self.notices += 1;
            self.moved += u64::from(self.rp.allowance().rate != rate);
        }
        self.clock += 1;
        // What is worked on begins anew with a flow.
        if notice.is_none() || taken.is_some() || start {
            self.seen = None;
        }
        (rate.0, taken.is_some())
    }
}

macro_rules! lockstep {
    ($name:ident, $core:ident, $seed:expr, $latency:expr, $clocks:expr, $least:expr, $delta_zero:ident, $from:ident) => {
        #[test]
        fn $name() {
            use penstock_cosim::$core::{Core, In};

            /// One clock of both; whether a notice was taken.
            fn clock(core: &mut Core, model: &mut Option<Model>, input: &In) -> bool {
                let out = core.clock(input);
                let rp = || reaction_point(input, DeltaZero::$delta_zero, IncreaseFrom::$from);
                if input.rst_i {
                    let (notices, moved) = model.as_ref().map_or((0, 0), |m| (m.notices, m.moved));
                    *model = Some(Model { rp: rp(), latency: $latency, clock: 0, seen: None, notices, moved });
                }
                let Some(model) = model.as_mut().filter(|_| !input.rst_i) else { return false };
                let notice = input.signal_valid_i.then_some(Notice {
                    cp: CpId(input.cp_id_i),
                    q_off: input.q_off_i as i32,
                    q_delta: input.q_delta_i as i32,
                });
                let taken = out.signal_ready_o && input.signal_valid_i;
                assert_eq!(
                    (out.rate_o, taken),
                    model.clock(input.start_i, notice),
                    "{} clocks after the reset: {input:?}",
                    model.clock - 1
                );
                if input.start_i {
                    model.rp = rp();
                }
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
                let (mut core, mut model) = (Core::new(seed), None::<Model>);
                kept.begin(seed);
                let mut input = In::default();
                draw_settings(&mut random, &mut input);
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

// A notice each 76 clocks at most: the registered ones are given some ten million clocks each (ten million notices in `make
// -C rtl operations`), the combinational ones ten million notices.
lockstep!(registered, smcc_rate_calculator, 1, 76, 30_000, 50_000, StateA, Bound);
lockstep!(registered_any, smcc_rate_calculator_any, 2, 76, 30_000, 50_000, SignBit, Any);
lockstep!(registered_state_b, smcc_rate_calculator_state_b, 3, 76, 30_000, 50_000, StateB, Bound);
lockstep!(combinational, smcc_rate_calculator_comb, 4, 1, 42_000, 10_000_000, StateA, Bound);
lockstep!(combinational_any, smcc_rate_calculator_comb_any, 5, 1, 42_000, 10_000_000, SignBit, Any);
