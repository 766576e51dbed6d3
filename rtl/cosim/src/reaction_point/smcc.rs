//! SMCC's reaction point (Jiang et al. 2015) with the clocks of `smcc_rate_calculator`.

use penstock_schemes::parts::gain::Gain;
use penstock_schemes::smcc::{Config, DeltaZero, IncreaseFrom, Notice, Rp, Smcc};
use penstock_schemes::{
    BitRate, Class, CpId, Draw, FlowKey, Instant, Octets, Out, ReactionPoint, SCHEMES, SchemeConfig, To, Value,
};

use super::{Event, Machine, Point, Shown};
use crate::Random;

/// The factors of a gain are at most this, and its octets at most 2 to this power.
const MOST: u64 = 1 << 46;
const MOST_SHIFT: i32 = 46;
/// With this shift an octet is more than any rate; the pins can have larger ones, which say the same.
const LARGEST_SHIFT: i8 = 28;

/// A number of up to `bits` bits, its length evenly spread.
pub fn any_size(random: &mut Random, bits: u64) -> u64 {
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

/// The settings, as the pins have them.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Gains: an 18-bit mantissa and a 7-bit shift, bit/s per octet.
    pub alpha: u64,
    /// See there; in state A with two stages.
    pub alpha_small: u64,
    /// See there.
    pub beta: u64,
    /// T1, octets.
    pub t1: u64,
    /// Two stages.
    pub two_stage: bool,
    /// The least rate, bit/s.
    pub min_rate: u64,
    /// The largest rate, bit/s.
    pub max_rate: u64,
}

impl Settings {
    /// Anything from one end of their ranges to the other, rates of this number of bits.
    pub fn any(random: &mut Random, rate_bits: u32) -> Self {
        let max_rate = match random.below(4) {
            0 => (1 << rate_bits) - 1,
            1 if rate_bits > 34 => [25, 100, 400][random.below(3) as usize] * 1_000_000_000,
            1 => 1_000_000_000,
            _ => 1 + any_size(random, rate_bits.into()).min((1 << rate_bits) - 2),
        };
        let min_rate = any_size(random, rate_bits.into()).min(max_rate);
        let two_stage = random.one_in(2);
        let t1 = if random.one_in(2) { 8_000 } else { any_size(random, 32) };
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
        Self { alpha, alpha_small, beta, t1, two_stage, min_rate, max_rate }
    }

    /// These rules.
    #[must_use]
    pub fn of(config: &Config, max_rate: u64) -> Self {
        Self {
            alpha: gain(config.ra, config.ra_at.0),
            alpha_small: gain(config.ra_small, config.ra_at.0),
            beta: gain(config.rb, config.rb_at.0),
            t1: config.t1.0,
            two_stage: config.two_stage,
            min_rate: config.min_rate.0,
            max_rate,
        }
    }

    /// The rules that the pins say, of a build that is fixed to these readings.
    ///
    /// # Panics
    /// If a gain is beyond what `Gain::new` takes.
    #[must_use]
    pub fn config(&self, delta_zero: DeltaZero, increase_from: IncreaseFrom) -> Config {
        let (ra_at, ra, ra_small) = together(self.alpha, self.alpha_small).expect("gains within range");
        let (rb, rb_shift) = exact(self.beta).expect("gains within range");
        Config {
            ra: BitRate(ra),
            ra_at: Octets(ra_at),
            ra_small: BitRate(ra_small),
            rb: BitRate(rb),
            rb_at: Octets(1 << rb_shift),
            t1: Octets(self.t1),
            two_stage: self.two_stage,
            min_rate: BitRate(self.min_rate),
            delta_zero,
            increase_from,
            ..defaults()
        }
    }

    /// The registers of a NIC with these.
    #[must_use]
    pub fn registers(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("smcc.alpha", self.alpha),
            ("smcc.alpha_small", self.alpha_small),
            ("smcc.beta", self.beta),
            ("smcc.t1", self.t1),
            ("smcc.two_stage", self.two_stage.into()),
            ("smcc.min_rate", self.min_rate),
            ("smcc.max_rate", self.max_rate),
        ]
    }
}

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

/// SMCC's reaction point from a reset on, or from a start of its flow.
#[derive(Debug)]
pub struct SmccPoint {
    config: Config,
    max_rate: u64,
    machine: Rp,
    /// Clocks from the one in which a notice is seen to the one in which the rate shows it.
    latency: u64,
    clock: u64,
    /// When the notice that stands there was seen.
    seen: Option<u64>,
    /// Notices that were taken, and those of them that moved the rate.
    pub notices: u64,
    /// See there.
    pub moved: u64,
}

impl SmccPoint {
    /// In the clock behind a reset, or that in which its flow starts. `latency` is the core's, or 1 if a
    /// notice is given to it only when the core takes that.
    #[must_use]
    pub fn new(config: &Config, max_rate: u64, latency: u64) -> Self {
        let machine = Rp::new(config, BitRate(max_rate));
        Self { config: config.clone(), max_rate, machine, latency, clock: 0, seen: None, notices: 0, moved: 0 }
    }
}

impl Machine for SmccPoint {
    fn clock(&mut self, event: &Event) -> Shown {
        let rate = self.machine.allowance().rate;
        let seen = *self.seen.get_or_insert(self.clock);
        let taken = event.signal.filter(|_| !event.start && self.clock + 1 == seen + self.latency);
        if let Some(message) = taken {
            let notice = Notice { cp: CpId(message.cp), q_off: message.q_off, q_delta: message.q_delta };
            self.machine.on_signal(Instant::ZERO, FlowKey(0), notice, &mut Nothing, &mut Nothing);
            self.notices += 1;
            self.moved += u64::from(self.machine.allowance().rate != rate);
        }
        self.clock += 1;
        // Work in progress begins again with a flow.
        if event.signal.is_none() || taken.is_some() || event.start {
            self.seen = None;
        }
        if event.start {
            self.machine = Rp::new(&self.config, BitRate(self.max_rate));
        }
        let point = Point { current_rate: rate.0, ..Point::default() };
        Shown { point, ready: taken.is_some(), ..Shown::default() }
    }
}

/// SMCC's defaults.
///
/// # Panics
/// Never: they fit each other.
#[must_use]
pub fn defaults() -> Config {
    let info = SCHEMES.iter().find(|info| info.name == "smcc").expect("it is there");
    let values: Vec<Value> = info.parameters.iter().map(|p| p.default).collect();
    match SchemeConfig::new("smcc", &values) {
        Some(SchemeConfig::Smcc(config)) => config,
        _ => unreachable!("defaults fit"),
    }
}

/// A gain as pins and registers have it.
fn gain(rate: BitRate, octets: u64) -> u64 {
    let gain = Gain::new(rate.0, octets);
    u64::from(gain.mantissa()) << 7 | u64::from(gain.shift() as u8 & 0x7f)
}
