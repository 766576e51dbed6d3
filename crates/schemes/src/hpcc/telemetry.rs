//! The telemetry of HPCC: a record of each queue on the path, or the largest utilisation of all of them in one octet (PINT).

use crate::{BitRate, CpId, Instant, Octets};

/// The most queues that a frame records: a path through a fat tree of three stages has no more.
pub const MOST_HOPS: usize = 5;

/// Octets of a record on the wire: 64 bits. (Li et al. 2019, figure 7)
const RECORD: u16 = 8;
/// Octets before the records: the number of them (4 bits) and the identity of the path (12 bits).
const HEAD: u16 = 2;
/// Octets of the telemetry, whose length is that of the longest path.
pub const STACK_OCTETS: u16 = HEAD + RECORD * MOST_HOPS as u16;
/// Octets of the telemetry as PINT has it.
pub const DIGEST_OCTETS: u16 = 1;

/// Time stamps have 24 bits, in nanoseconds.
const TIME: u32 = (1 << 24) - 1;
/// A round trip beyond this leaves the order of two time stamps open.
pub const LONGEST_NS: u64 = 1 << 23;
/// Counts of octets sent have 20 bits, in 128 octets.
const SENT: u32 = (1 << 20) - 1;
const SENT_UNIT: u64 = 128;
/// Lengths of queues have 16 bits, in 80 octets.
const LEN_UNIT: u64 = 80;

/// The record of one queue, with the precision of the wire. There the rate is a code of 4 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hop {
    /// Rate of the line, Mb/s.
    mbps: u32,
    /// When the frame's transmission started, nanoseconds.
    at: u32,
    /// Octets that had left the queue before it, in 128.
    sent: u32,
    /// Octets that wait behind it, in 80.
    len: u16,
}

/// Two records of one queue compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Time between them, picoseconds; not zero.
    pub time_ps: f64,
    /// Octets sent between them.
    pub sent: f64,
    /// The shorter length, octets.
    pub len: f64,
    /// The later length, octets.
    pub last_len: f64,
    /// By how much the queue is longer than it was, octets.
    pub growth: f64,
    /// Rate of the line, bit/s.
    pub rate: f64,
}

impl Hop {
    /// The record of a queue with `len` octets that has sent `sent` on a line of rate `rate`, in units longer by `factor`.
    #[must_use]
    pub fn new(now: Instant, rate: BitRate, sent: Octets, len: Octets, factor: u32) -> Self {
        let factor = u64::from(factor);
        Self {
            mbps: (rate.0 / 1_000_000) as u32,
            at: (now.0 / 1000) as u32 & TIME,
            sent: (sent.0 / (SENT_UNIT * factor)) as u32 & SENT,
            len: (len.0 / (LEN_UNIT * factor)).min(u16::MAX.into()) as u16,
        }
    }

    /// The change since an earlier record of the same queue, both in units longer by `factor`; `None` where no time has passed, or
    /// on a line below 1 Mb/s.
    #[must_use]
    pub fn since(&self, earlier: &Self, factor: u32) -> Option<Step> {
        let time = self.at.wrapping_sub(earlier.at) & TIME;
        (time > 0 && self.mbps > 0).then(|| Step {
            time_ps: f64::from(time) * 1000.0,
            sent: f64::from(self.sent.wrapping_sub(earlier.sent) & SENT) * (SENT_UNIT * u64::from(factor)) as f64,
            len: f64::from(self.len.min(earlier.len)) * (LEN_UNIT * u64::from(factor)) as f64,
            last_len: f64::from(self.len) * (LEN_UNIT * u64::from(factor)) as f64,
            growth: (f64::from(self.len) - f64::from(earlier.len)) * (LEN_UNIT * u64::from(factor)) as f64,
            rate: f64::from(self.mbps) * 1e6,
        })
    }
}

/// The telemetry that a frame collects on its path and that its acknowledgement returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Telemetry {
    hops: [Hop; MOST_HOPS],
    count: u8,
    /// The exclusive or of the queues' identities, 12 bits.
    path: u16,
    /// PINT: the code of the largest utilisation.
    pub digest: u8,
}

impl Telemetry {
    /// The records, in the order of the path.
    #[must_use]
    pub fn hops(&self) -> &[Hop] {
        &self.hops[..usize::from(self.count)]
    }

    /// Adds the record of the queue with this identity. Beyond the fifth, the identity alone is added.
    #[inline]
    pub fn push(&mut self, hop: Hop, identity: u16) {
        if let Some(place) = self.hops.get_mut(usize::from(self.count)) {
            *place = hop;
            self.count += 1;
        }
        self.path ^= identity;
    }

    /// Whether `other` has taken the same path.
    #[must_use]
    pub fn same_path(&self, other: &Self) -> bool {
        (self.count, self.path) == (other.count, other.path)
    }
}

/// The identity of a queue in [`Telemetry::push`], 12 bits.
#[must_use]
pub fn identity(cp: CpId) -> u16 {
    (cp.0 ^ cp.0 >> 12 ^ cp.0 >> 24 ^ cp.0 >> 36) as u16 & 0xfff
}

/// Ratio of neighbouring codes of PINT.
const BASE: f64 = 1.05;
/// Inverse of the smallest utilisation that has a code.
const SMALLEST: f64 = 64.0;

/// The utilisation of each code of PINT: powers of the base.
static CODES: [f64; 256] = {
    let mut codes = [1.0 / SMALLEST; 256];
    let mut i = 1;
    while i < codes.len() {
        codes[i] = codes[i - 1] * BASE;
        i += 1;
    }
    codes
};

/// The code of `utilisation`: of its two neighbours the one above as often as it is nearer to it. `word` decides.
#[must_use]
pub(super) fn encode(utilisation: f64, word: u32) -> u8 {
    let above = CODES.partition_point(|&value| value <= utilisation);
    let Some(below) = above.checked_sub(1) else { return 0 };
    let Some(&next) = CODES.get(above) else { return u8::MAX };
    let share = (utilisation - CODES[below]) / (next - CODES[below]);
    below as u8 + u8::from(f64::from(word) < share * 4_294_967_296.0)
}

/// The utilisation of a code.
#[must_use]
pub(super) fn decode(code: u8) -> f64 {
    CODES[usize::from(code)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Duration;

    fn hop(ns: u64, sent: u64, len: u64) -> Hop {
        Hop::new(Instant(ns * 1000), BitRate::from_gbps(10), Octets(sent), Octets(len), 1)
    }

    /// 1280 octets are 10 units, 8079 octets of queue 100 units of 80.
    #[test]
    fn records_have_the_precision_of_the_wire() {
        let step = hop(2_000, 1_300, 8_079).since(&hop(1_000, 0, 16_000), 1).expect("time has passed");
        let (len, last_len, growth) = (8000.0, 8000.0, -8000.0);
        assert_eq!(step, Step { time_ps: 1e6, sent: 1280.0, len, last_len, growth, rate: 1e10 });
        assert_eq!(hop(1_000, 0, 0).since(&hop(1_000, 0, 0), 1), None);
        let slow = |ns: u64| Hop::new(Instant(ns * 1000), BitRate(999_999), Octets(0), Octets(0), 1);
        assert_eq!(slow(2_000).since(&slow(1_000), 1), None);
        assert_eq!(hop(0, 0, 1 << 40).len, u16::MAX);
    }

    /// With a factor of 4: 1300 octets are 2 units of 512, 8079 octets of queue 25 units of 320.
    #[test]
    fn a_factor_makes_the_units_longer() {
        let hop =
            |ns: u64, sent, len| Hop::new(Instant(ns * 1000), BitRate::from_gbps(100), Octets(sent), Octets(len), 4);
        let step = hop(2_000, 1_300, 8_079).since(&hop(1_000, 0, 16_000), 4).expect("time has passed");
        assert_eq!((step.sent, step.len), (1024.0, 8000.0));
    }

    /// 2^24 ns and 2^20 × 128 octets are 0 again.
    #[test]
    fn times_and_counts_wrap() {
        let before = hop((1 << 24) - 500, (1 << 27) - 640, 0);
        let step = hop((1 << 24) + 500, (1 << 27) + 640, 0).since(&before, 1).expect("time has passed");
        assert_eq!((step.time_ps, step.sent), (1e6, 1280.0));
    }

    #[test]
    fn the_sixth_queue_has_no_record_but_changes_the_path() {
        let mut telemetry = Telemetry::default();
        (1..=5).for_each(|i| telemetry.push(hop(i, 0, 0), i as u16));
        let before = telemetry;
        telemetry.push(hop(6, 0, 0), 6);
        assert_eq!((telemetry.hops().len(), telemetry.hops()), (5, before.hops()));
        assert!(!telemetry.same_path(&before) && telemetry.same_path(&telemetry.clone()));
        assert_eq!((STACK_OCTETS, DIGEST_OCTETS), (42, 1));
        assert_eq!(Duration(LONGEST_NS * 1000).0, 8_388_608_000);
    }

    /// 1.05^85.24 = 64: utilisation 1 lies between codes 85 and 86, 0.988 and 1.038.
    #[test]
    fn a_code_is_within_five_percent_and_right_on_average() {
        let (low, high) = (encode(1.0, u32::MAX), encode(1.0, 0));
        assert_eq!((low, high), (85, 86));
        let share = (1.0 - decode(85)) / (decode(86) - decode(85));
        let mean = share * decode(86) + (1.0 - share) * decode(85);
        assert!((mean - 1.0).abs() < 1e-12);
        let threshold = (share * 4_294_967_296.0) as u32;
        assert_eq!((encode(1.0, threshold - 1), encode(1.0, threshold + 1)), (86, 85));
        assert_eq!((encode(0.0, 0), encode(1e9, 0)), (0, 255));
        for i in 0..=255 {
            assert_eq!(encode(decode(i), u32::MAX), i, "its own value has its code");
        }
    }
}
