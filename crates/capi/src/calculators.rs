//! Parts of QCN's points as cores in hardware have them, one call a clock or an event: a bench steps them beside its core.
//!
//! Random words are arguments, as a core takes them at a port: a call uses them in order, and answers how many it used.

use alloc::boxed::Box;

use penstock_endpoint::TokenBucket as Bucket;
use penstock_schemes::parts::jitter::Spread;
use penstock_schemes::parts::quantiser::{QntzFb, Quantiser};
use penstock_schemes::parts::rate_calculator::{Phase, RateCalculator as Calculator};
use penstock_schemes::parts::sampler::Sampler as Chooser;
use penstock_schemes::{BitRate, Draw, Duration, Instant, Octets, qcn};

use crate::abi::{LENGTH, NONE, RATE, Status, TIME, held, length, rate};
use crate::create::Scheme;
use crate::handles::{destroy, hand_out};

/// QCN's rate calculator: current rate, target rate, byte counter, timer. (`penstock_rate_calculator`)
pub struct RateCalculator(Calculator, u64);
/// QCN's congestion measure and its sampling. (`penstock_sampler`)
pub struct Sampler(Chooser, Quantiser);
/// The token bucket of a rate limiter. (`penstock_token_bucket`)
pub struct TokenBucket(Bucket, u64);

/// Words of the caller, used in order; beyond their end they are 0.
struct Words<'a> {
    words: &'a [u32],
    used: u32,
}

impl<'a> Words<'a> {
    /// # Safety
    /// `words` is null or points to `count` words.
    unsafe fn new(words: *const u32, count: u32) -> Self {
        // SAFETY: the caller's promise.
        let words = if words.is_null() { &[] } else { unsafe { core::slice::from_raw_parts(words, count as usize) } };
        Self { words, used: 0 }
    }
}

impl Draw for Words<'_> {
    fn draw(&mut self) -> u32 {
        let word = self.words.get(self.used as usize).copied().unwrap_or(0);
        self.used += 1;
        word
    }
}

/// The parameters of QCN.
fn parameters(scheme: &Scheme) -> Option<&qcn::Config> {
    scheme.0.config().downcast_ref()
}

/// Time that does not go back.
fn at(last: &mut u64, now: u64) -> Instant {
    *last = (*last).max(now.min(TIME));
    Instant(*last)
}

destroy!(penstock_rate_calculator_destroy: RateCalculator, penstock_sampler_destroy: Sampler, penstock_token_bucket_destroy: TokenBucket);

/// Makes a rate calculator at the line's rate from the parameters of the scheme `qcn`.
///
/// # Safety
/// Pointers are null or point to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_rate_calculator_create(
    scheme: *const Scheme,
    line_bps: u64,
    calculator: *mut *mut RateCalculator,
) -> Status {
    // SAFETY: the caller's promise.
    let (Some(scheme), false) = (unsafe { (scheme.as_ref(), calculator.is_null()) }) else { return Status::Null };
    if line_bps > RATE || !scheme.0.suits(BitRate(line_bps)) {
        return Status::BadNumber;
    }
    let made = parameters(scheme).map(|config| {
        let rules = config.rate.rules(BitRate(line_bps), config.byte_reset.cycle());
        RateCalculator(Calculator::new(rules), 0)
    });
    // SAFETY: it is not null.
    unsafe { hand_out(calculator, made) }
}

/// Makes a sampler from the parameters of the scheme `qcn`.
///
/// # Safety
/// Pointers are null or point to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_sampler_create(scheme: *const Scheme, sampler: *mut *mut Sampler) -> Status {
    // SAFETY: the caller's promise.
    let (Some(scheme), false) = (unsafe { (scheme.as_ref(), sampler.is_null()) }) else { return Status::Null };
    let made = parameters(scheme).map(|config| Sampler(config.cp.sampler(), config.cp.quantiser()));
    // SAFETY: it is not null.
    unsafe { hand_out(sampler, made) }
}

/// Makes a full bucket of `depth_octets` that is refilled each `interval_ps` for `rate_bps`, rounded down to `granularity_bps`.
///
/// # Safety
/// The pointer is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_token_bucket_create(
    depth_octets: u64,
    interval_ps: u64,
    granularity_bps: u64,
    rate_bps: u64,
    bucket: *mut *mut TokenBucket,
) -> Status {
    if bucket.is_null() {
        return Status::Null;
    }
    if depth_octets > LENGTH || interval_ps == 0 || interval_ps > 1 << 50 || granularity_bps == 0 || rate_bps > RATE {
        return Status::BadNumber;
    }
    let made = Bucket::new(Octets(depth_octets), Duration(interval_ps), BitRate(granularity_bps), BitRate(rate_bps));
    // SAFETY: it is not null.
    unsafe { hand_out(bucket, Some(TokenBucket(made, 0))) }
}

/// Declares functions on a rate calculator that may use random words, and answer how many they used.
macro_rules! events {
    ($(
        $(#[$doc:meta])*
        fn $name:ident(|$own:ident, $last:ident, $words:ident| $($arg:ident: $type:ty),*) $body:block
    )+) => {
        $(
            $(#[$doc])*
            /// Answers how many words were used.
            ///
            /// # Safety
            /// The handle is alive or null, `words` null or `count` words.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(
                calculator: *mut RateCalculator,
                $($arg: $type,)*
                words: *const u32,
                count: u32,
            ) -> u32 {
                // SAFETY: the caller's promise.
                let (calculator, mut words) = unsafe { (calculator.as_mut(), Words::new(words, count)) };
                let Some(RateCalculator($own, $last)) = calculator else { return 0 };
                let $words = &mut words;
                $body
                words.used
            }
        )+
    };
}

events! {
    /// Feedback has come, in 1/256 of a step: the rate falls, both counters start again.
    fn penstock_rate_calculator_decrease(|own, last, words| now_ps: u64, feedback: u32) {
        let fb = QntzFb::from_units(length(feedback).min(64 * QntzFb::PER_STEP), false);
        own.decrease(at(last, now_ps), fb, words);
    }
    /// Octets were sent.
    fn penstock_rate_calculator_count(|own, _last, words| octets: u32) {
        own.count(length(octets), words);
    }
    /// Starts the timer's first cycle.
    fn penstock_rate_calculator_start_timer(|own, last, words| now_ps: u64) {
        own.start_timer(at(last, now_ps), words);
    }
    /// The timer's cycle ends, if it is due.
    fn penstock_rate_calculator_timeout(|own, last, words| now_ps: u64) {
        own.on_timeout(at(last, now_ps), words);
    }
}

/// What a rate calculator holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct RateState {
    /// Current rate, bit/s.
    pub current_bps: u64,
    /// Target rate, bit/s.
    pub target_bps: u64,
    /// Octets left of the byte counter's cycle.
    pub byte_count: i64,
    /// When the timer's cycle ends, ps; the largest number where it does not run.
    pub timer_ps: u64,
    /// Cycles that the byte counter has ended since the last signal.
    pub byte_stage: u32,
    /// The same of the timer.
    pub time_stage: u32,
    /// 0 Fast Recovery, 1 Active Increase, 2 Hyper-Active Increase.
    pub phase: u32,
    /// 0.
    pub reserved: u32,
}

/// Reads the state.
///
/// # Safety
/// The handle is alive or null; `state` null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_rate_calculator_state(calculator: *const RateCalculator, state: *mut RateState) {
    // SAFETY: the caller's promise.
    let (Some(RateCalculator(own, _)), Some(state)) = (unsafe { (calculator.as_ref(), state.as_mut()) }) else {
        return;
    };
    *state = RateState {
        current_bps: own.current_rate(),
        target_bps: own.target_rate(),
        byte_count: own.byte_count(),
        timer_ps: own.next_timeout().map_or(NONE, |time| time.0),
        byte_stage: own.byte_stage(),
        time_stage: own.time_stage(),
        phase: match own.phase() {
            Phase::FastRecovery => 0,
            Phase::ActiveIncrease => 1,
            Phase::HyperActiveIncrease => 2,
        },
        reserved: 0,
    };
}

/// |Fb| as it travels, in 1/256 of a step, of a queue that had `old_octets` at the sample before.
///
/// # Safety
/// The handle is alive or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_sampler_feedback(sampler: *const Sampler, queue_octets: u64, old_octets: u64) -> u32 {
    // SAFETY: the caller's promise.
    let Some(Sampler(_, quantiser)) = (unsafe { sampler.as_ref() }) else { return 0 };
    quantiser.quantise(quantiser.measure(held(queue_octets).0, held(old_octets).0)).get().into()
}

/// Whether the frame of `octets` that comes now is sampled, while |Fb| is `steps`. `used` gets how many words were used.
///
/// # Safety
/// The handle is alive or null, `words` null or `count` words, `used` null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_sampler_sample(
    sampler: *mut Sampler,
    octets: u32,
    steps: u32,
    words: *const u32,
    count: u32,
    used: *mut u32,
) -> bool {
    // SAFETY: the caller's promise.
    let (Some(Sampler(chooser, _)), mut words) = (unsafe { (sampler.as_mut(), Words::new(words, count)) }) else {
        return false;
    };
    let sampled = chooser.sample(length(octets), || steps.min(63) as u8, &mut words);
    // SAFETY: the caller's promise.
    if let Some(used) = unsafe { used.as_mut() } {
        *used = words.used;
    }
    sampled
}

/// Starts the interval after a sample with |Fb| of `steps`. Answers how many words were used.
///
/// # Safety
/// The handle is alive or null, `words` null or `count` words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_sampler_reload(
    sampler: *mut Sampler,
    steps: u32,
    words: *const u32,
    count: u32,
) -> u32 {
    // SAFETY: the caller's promise.
    let (Some(Sampler(chooser, _)), mut words) = (unsafe { (sampler.as_mut(), Words::new(words, count)) }) else {
        return 0;
    };
    chooser.reload(steps.min(63) as u8, &mut words);
    words.used
}

/// From `now_ps` on refills are those of `rate_bps`.
///
/// # Safety
/// The handle is alive or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_token_bucket_set_rate(bucket: *mut TokenBucket, now_ps: u64, rate_bps: u64) {
    // SAFETY: the caller's promise.
    let Some(TokenBucket(own, last)) = (unsafe { bucket.as_mut() }) else { return };
    own.set_rate(at(last, now_ps), rate(rate_bps));
}

/// When a frame of `octets` may go: `now_ps` or later; the largest number for never.
///
/// # Safety
/// The handle is alive or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_token_bucket_ready(bucket: *mut TokenBucket, now_ps: u64, octets: u32) -> u64 {
    // SAFETY: the caller's promise.
    let Some(TokenBucket(own, last)) = (unsafe { bucket.as_mut() }) else { return NONE };
    own.ready(at(last, now_ps), octets).0
}

/// Takes the tokens of a frame of `octets`; false, and nothing is taken, if they are not there.
///
/// # Safety
/// The handle is alive or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_token_bucket_take(bucket: *mut TokenBucket, now_ps: u64, octets: u32) -> bool {
    // SAFETY: the caller's promise.
    let Some(TokenBucket(own, last)) = (unsafe { bucket.as_mut() }) else { return false };
    let now = at(last, now_ps);
    let there = own.ready(now, octets) == now;
    if there {
        own.take(now, octets);
    }
    there
}

/// Whole octets in the bucket at the last call.
///
/// # Safety
/// The handle is alive or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_token_bucket_octets(bucket: *const TokenBucket) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { bucket.as_ref() }.map_or(0, |TokenBucket(own, _)| own.octets().0)
}

/// `base` spread by `spread` in 2^16ths: `base` times a number in [1 - spread, 1 + spread) that `word` draws, rounded down.
#[unsafe(no_mangle)]
pub extern "C" fn penstock_jitter(base: u64, spread_2_16: u32, word: u32) -> u64 {
    Spread::new(f64::from(spread_2_16.min(65_535)) / 65_536.0).apply(base, word)
}
