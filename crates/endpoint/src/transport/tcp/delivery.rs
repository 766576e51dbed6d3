//! The rate at which segments are delivered, sampled with each acknowledgement. (draft-cheng-iccrg-delivery-rate-estimation-00)
//!
//! ```text
//!   sent       --P0------------------P--                  send_elapsed = P - P0
//!   delivered  ------D0-------------------------D--       ack_elapsed  = D - D0
//!
//!   rate = octets delivered from D0 to D / max(send_elapsed, ack_elapsed)
//! ```
//!
//! P is the newest segment that the acknowledgement delivers, D0 the last delivery before P was sent, P0 the segment that it delivered. The
//! longer of the two times does not overrate what was sent in a burst, nor what was acknowledged in one. Functions of a sender's hot path stay
//! calls, so that those of other controllers pay for a test alone.

use penstock_schemes::{BitRate, Duration, Instant, units::PS_PER_S};

use super::records::Records;

/// A segment's last transmission, and what had been delivered before it: `P` in section 3.1.2.
#[derive(Debug, Clone, Copy)]
struct Sent {
    at: Instant,
    first_sent: Instant,
    delivered: u64,
    delivered_at: Instant,
    by_application: bool,
    again: bool,
}

/// A sample: `rs` in section 3.1.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sample {
    /// `None` where the interval is shorter than any round trip, so that it says nothing. (Section 3.3)
    pub(super) rate: Option<BitRate>,
    /// Of the newest segment delivered; `None` where that was sent again.
    pub(super) rtt: Option<Duration>,
    /// The application, and not the network, limited what was sent.
    pub(super) by_application: bool,
    /// Octets that had been delivered when the segment was sent.
    pub(super) prior_delivered: u64,
}

/// The state of a connection: `C` in section 3.1.1.
#[derive(Debug, Clone, Default)]
pub(super) struct Delivery {
    records: Records<Sent>,
    /// Octets delivered, each counted once.
    delivered: u64,
    delivered_at: Instant,
    first_sent: Instant,
    /// Samples are application-limited until this number of octets has been delivered.
    by_application_until: Option<u64>,
    min_rtt: Option<Duration>,
    /// Of the acknowledgement that is being taken in: the octets that it delivers, and the newest segment of them.
    fresh: u64,
    newest: Option<Sent>,
}

impl Delivery {
    /// Octets delivered.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Whether samples are limited by the application for now.
    pub(super) fn is_limited_by_application(&self) -> bool {
        self.by_application_until.is_some()
    }

    /// `start..end` is sent, while `pipe` octets are in flight. (Section 3.2)
    #[inline(never)]
    pub(super) fn on_send(&mut self, now: Instant, start: u64, end: u64, again: bool, pipe: u64) {
        if pipe == 0 {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        let sent = Sent {
            at: now,
            first_sent: self.first_sent,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            by_application: self.is_limited_by_application(),
            again,
        };
        if again {
            self.records.change(start, end, |record| record.about = sent);
        } else {
            self.records.push(start, end, sent);
        }
    }

    /// `start..end` has arrived, and had not before. (Section 3.3, `UpdateRateSample`)
    #[inline(never)]
    pub(super) fn on_delivery(&mut self, now: Instant, start: u64, end: u64) {
        self.fresh += end - start;
        self.delivered += end - start;
        self.delivered_at = now;
        let newest = &mut self.newest;
        self.records.deliver(start, end, |record| {
            let sent = record.about;
            if newest.is_none_or(|other| (sent.delivered, sent.at) >= (other.delivered, other.at)) {
                *newest = Some(sent);
            }
        });
    }

    /// Everything below `una` is acknowledged.
    #[inline(never)]
    pub(super) fn forget(&mut self, una: u64) {
        self.records.forget(una);
    }

    /// The application has nothing to send, though the window has room, with `pipe` octets in flight. (Section 3.4)
    pub(super) fn limited_by_application(&mut self, pipe: u64) {
        self.by_application_until = Some(self.delivered + pipe);
    }

    /// The end of an acknowledgement: the octets that it has delivered, and the sample of its newest segment. (Section 3.3,
    /// `GenerateRateSample`)
    pub(super) fn sample(&mut self, now: Instant) -> (u64, Option<Sample>) {
        self.by_application_until = self.by_application_until.filter(|&until| self.delivered <= until);
        let fresh = core::mem::take(&mut self.fresh);
        let Some(newest) = self.newest.take() else { return (fresh, None) };
        self.first_sent = newest.at;
        let rtt = (!newest.again).then(|| now.since(newest.at));
        self.min_rtt = rtt.map_or(self.min_rtt, |rtt| Some(self.min_rtt.map_or(rtt, |least| least.min(rtt))));
        let interval = newest.at.since(newest.first_sent).max(self.delivered_at.since(newest.delivered_at));
        let long = interval > Duration::ZERO && self.min_rtt.is_none_or(|least| interval >= least);
        let sample = Sample {
            rate: long.then(|| rate(self.delivered - newest.delivered, interval)),
            rtt,
            by_application: newest.by_application,
            prior_delivered: newest.delivered,
        };
        (fresh, Some(sample))
    }
}

/// `octets` in `interval`, which is not zero.
fn rate(octets: u64, interval: Duration) -> BitRate {
    BitRate((u128::from(octets) * 8 * u128::from(PS_PER_S) / u128::from(interval.0)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000_000;

    fn at(us: u64) -> Instant {
        Instant(us * US)
    }

    fn sent(delivery: &mut Delivery, us: u64, segments: core::ops::Range<u64>, pipe: u64) {
        for i in segments {
            delivery.on_send(at(us), i * 1000, (i + 1) * 1000, false, pipe + i);
        }
    }

    fn delivered(delivery: &mut Delivery, us: u64, segment: u64) -> Sample {
        delivery.on_delivery(at(us), segment * 1000, (segment + 1) * 1000);
        delivery.forget((segment + 1) * 1000);
        let (fresh, sample) = delivery.sample(at(us));
        assert_eq!(fresh, 1000);
        sample.expect("a segment has arrived")
    }

    /// Two segments sent at once, acknowledged at 100 and 110 us. The first: 1000 octets in the 100 us since the start: 80 Mb/s. The
    /// second: 2000 octets in 110 us: 145.45 Mb/s. A third is sent at 100 us, when 1000 octets had been delivered, and acknowledged at
    /// 200 us: 2000 octets from 100 to 200 us: 160 Mb/s.
    #[test]
    fn a_rate_counts_from_the_delivery_before_the_segment_was_sent() {
        let mut d = Delivery::default();
        sent(&mut d, 0, 0..2, 0);
        let first = delivered(&mut d, 100, 0);
        assert_eq!((first.rate, first.rtt), (Some(BitRate(80_000_000)), Some(Duration(100 * US))));
        sent(&mut d, 100, 2..3, 1000);
        assert_eq!(delivered(&mut d, 110, 1).rate, Some(BitRate(145_454_545)));
        let third = delivered(&mut d, 200, 2);
        assert_eq!((third.rate, third.prior_delivered), (Some(BitRate(160_000_000)), 1000));
    }

    /// Segments sent 50 us apart, whose acknowledgements come together at 250 us: from the first one's sending to the last one's pass 100 us, and
    /// of the acknowledgements 0. The round trip is 150 us: the interval is that from the start, 250 us, for 3000 octets: 96 Mb/s.
    #[test]
    fn acknowledgements_that_come_together_do_not_overrate() {
        let mut d = Delivery::default();
        for i in 0..3 {
            sent(&mut d, 50 * i, i..i + 1, i * 1000);
        }
        for i in 0..3 {
            d.on_delivery(at(250), i * 1000, (i + 1) * 1000);
        }
        let (fresh, sample) = d.sample(at(250));
        assert_eq!((fresh, sample.and_then(|s| s.rate)), (3000, Some(BitRate(96_000_000))));
    }

    /// A segment sent again 10 us before its first copy is acknowledged: an interval below the round trip says nothing.
    #[test]
    fn a_short_interval_and_a_retransmission_say_nothing() {
        let mut d = Delivery::default();
        sent(&mut d, 0, 0..2, 0);
        assert_eq!(delivered(&mut d, 100, 0).rtt, Some(Duration(100 * US)));
        d.on_send(at(190), 1000, 2000, true, 0);
        let again = delivered(&mut d, 200, 1);
        assert_eq!((again.rate, again.rtt), (None, None));
    }

    /// Nothing more to send after two segments: they and those sent before they have arrived are limited by the application.
    #[test]
    fn samples_are_limited_by_the_application_until_its_pause_is_over() {
        let mut d = Delivery::default();
        sent(&mut d, 0, 0..2, 0);
        d.limited_by_application(2000);
        assert!(!delivered(&mut d, 100, 0).by_application, "it was sent before");
        sent(&mut d, 150, 2..3, 1000);
        delivered(&mut d, 160, 1);
        assert!(d.is_limited_by_application());
        assert!(delivered(&mut d, 250, 2).by_application);
        assert!(!d.is_limited_by_application(), "3000 octets, more than 2000, have been delivered");
    }

    /// Parts of a segment arrive apart: it counts when it is whole.
    #[test]
    fn a_segment_counts_when_it_is_whole() {
        let mut d = Delivery::default();
        sent(&mut d, 0, 0..1, 0);
        d.on_delivery(at(100), 0, 400);
        assert_eq!(d.sample(at(100)), (400, None));
        d.on_delivery(at(200), 400, 1000);
        let (fresh, sample) = d.sample(at(200));
        assert_eq!((fresh, sample.and_then(|s| s.rate), d.delivered()), (600, Some(BitRate(40_000_000)), 1000));
    }
}
