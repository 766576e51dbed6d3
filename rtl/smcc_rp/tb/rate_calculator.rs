//! SMCC's rate calculators, registered and combinational, against the state machine of the schemes, in every clock.

use penstock_cosim::Random;
use penstock_schemes::parts::gain::Gain;
use penstock_schemes::smcc::{Config, DeltaZero, IncreaseFrom, Notice, Rp, Smcc};
use penstock_schemes::{
    BitRate, Class, CpId, Draw, Instant, Octets, Out, ReactionPoint, SCHEMES, SchemeConfig, To, Value,
};

const SETS: u64 = 400;

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

/// Settings from one end of their ranges to the other, and the largest rate.
fn settings(random: &mut Random, delta_zero: DeltaZero, increase_from: IncreaseFrom) -> (Config, u64) {
    let line = match random.below(4) {
        0 => (1 << 34) - 1,
        1 => 1_000_000_000,
        _ => 1 + any_size(random, 34).min((1 << 34) - 2),
    };
    // Gains as in the paper, or any.
    let mut gain = |usual: u64| match random.below(3) {
        0 => (BitRate(usual), Octets(64_000)),
        1 => (BitRate(1 + any_size(random, 36)), Octets(1 + any_size(random, 30))),
        _ => (BitRate(1 + any_size(random, 45)), Octets(1 + any_size(random, 45))),
    };
    let ((ra, ra_at), (ra_small, _), (rb, rb_at)) = (gain(256_000_000), gain(128_000_000), gain(64_000_000));
    let config = Config {
        ra,
        ra_at,
        ra_small,
        rb,
        rb_at,
        t1: Octets(if random.one_in(2) { 8_000 } else { any_size(random, 32) }),
        two_stage: random.one_in(2),
        min_rate: BitRate(any_size(random, 34).min(line)),
        delta_zero,
        increase_from,
        ..defaults()
    };
    (config, line)
}

fn gain(rate: BitRate, octets: Octets) -> u32 {
    let gain = Gain::new(rate.0, octets.0);
    gain.mantissa() << 7 | u32::from(gain.shift() as u8 & 0x7f)
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

macro_rules! lockstep {
    ($name:ident, $core:ident, $seed:expr, $latency:expr, $clocks:expr, $least:expr, $delta_zero:ident, $from:ident) => {
        #[test]
        fn $name() {
            use penstock_cosim::$core::{Core, In};
            // Clocks from the one in which a notice is seen to the one in which the rate shows it.
            let latency: u64 = $latency;
            let mut random = Random::new($seed);
            let mut core = Core::new($seed);
            let (mut clock, mut notices, mut moved) = (0u64, 0u64, 0u64);
            for set in 0..SETS {
                let (config, line) = settings(&mut random, DeltaZero::$delta_zero, IncreaseFrom::$from);
                let mut input = In {
                    rst_i: true,
                    alpha_i: gain(config.ra, config.ra_at),
                    alpha_small_i: gain(config.ra_small, config.ra_at),
                    beta_i: gain(config.rb, config.rb_at),
                    t1_i: config.t1.0 as u32,
                    two_stage_i: config.two_stage,
                    min_rate_i: config.min_rate.0,
                    max_rate_i: line,
                    ..In::default()
                };
                core.clock(&input);
                input.rst_i = false;
                let mut rp = Rp::new(&config, BitRate(line));
                let gap = [1, 1, 2, 200][random.below(4) as usize];
                let mut offered: Option<(u64, Notice)> = None;
                for _ in 0..$clocks {
                    let start = random.one_in(20_000);
                    if offered.is_none() && random.one_in(gap) {
                        let cp = match random.below(8) {
                            0 => CpId(random.next()),
                            1 => CpId(1 << random.below(64)),
                            _ => CpId(7),
                        };
                        let notice = Notice { cp, q_off: difference(&mut random), q_delta: difference(&mut random) };
                        offered = Some((clock, notice));
                        input.cp_id_i = notice.cp.0;
                        input.q_off_i = notice.q_off as u32;
                        input.q_delta_i = notice.q_delta as u32;
                    }
                    input.start_i = start;
                    input.signal_valid_i = offered.is_some();
                    let out = core.clock(&input);
                    let taken = !start && offered.is_some_and(|(seen, _)| clock + 1 == seen + latency);
                    assert_eq!(
                        (out.rate_o, out.signal_ready_o && offered.is_some()),
                        (rp.allowance().rate.0, taken),
                        "seed {}, set {set}, clock {clock}: {offered:?} with {config:?}, line {line}",
                        $seed
                    );
                    if start {
                        // What is worked on begins anew.
                        rp = Rp::new(&config, BitRate(line));
                        if let Some((seen, _)) = &mut offered {
                            *seen = clock + 1;
                        }
                    } else if let Some((_, notice)) = offered.take_if(|_| taken) {
                        let before = rp.allowance().rate;
                        rp.on_signal(Instant::ZERO, notice, &mut Nothing, &mut Nothing);
                        notices += 1;
                        moved += u64::from(rp.allowance().rate != before);
                    }
                    clock += 1;
                }
            }
            println!("{}: {clock} clocks, {notices} notices, {moved} moved the rate", stringify!($name));
            assert!(notices >= $least);
        }
    };
}

// A notice each 76 clocks at most: the registered ones are given some ten million clocks each, the combinational ones ten
// million notices.
lockstep!(registered, smcc_rate_calculator, 1, 76, 30_000, 50_000, StateA, Bound);
lockstep!(registered_any, smcc_rate_calculator_any, 2, 76, 30_000, 50_000, SignBit, Any);
lockstep!(registered_state_b, smcc_rate_calculator_state_b, 3, 76, 30_000, 50_000, StateB, Bound);
lockstep!(combinational, smcc_rate_calculator_comb, 4, 1, 40_000, 10_000_000, StateA, Bound);
lockstep!(combinational_any, smcc_rate_calculator_comb_any, 5, 1, 40_000, 10_000_000, SignBit, Any);
