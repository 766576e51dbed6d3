//! The congestion point of schemes whose queues mark data frames, and do nothing else. ([`marking`](super::marking): which)

use super::marking::{Ce, Marker, MarkingParameters, Ramp};
use crate::units::{BitRate, Instant, Octets};
use crate::{CongestionPoint, Draw, Fate, Frame, Out, Place, Queue, Scheme, Var};

/// The parameters of a scheme whose queues mark.
pub trait MarkingConfig {
    /// The thresholds of a queue.
    fn ramp(&self) -> Ramp;

    /// The parameters of the controller that may mark instead.
    fn marking(&self) -> &MarkingParameters;
}

/// A congestion point that marks.
#[derive(Debug, Clone)]
pub struct MarkingCp(Marker);

impl MarkingCp {
    /// A point of an empty queue, in front of a line of rate `line`.
    #[must_use]
    pub fn new(config: &impl MarkingConfig, line: BitRate) -> Self {
        Self(Marker::new(config.ramp(), config.marking(), line))
    }
}

impl<S> CongestionPoint<S> for MarkingCp
where
    S: Scheme<Tag = Ce>,
    S::Config: MarkingConfig,
{
    const VARS: &'static [Var] = &[Var { name: "marked_frames_total", description: "frames marked since the start" }];
    const MARKS: bool = true;

    fn new(config: &S::Config, place: Place) -> Self {
        Self::new(config, place.line)
    }

    fn configure(&mut self, config: &S::Config, place: Place) {
        self.0.configure(config.ramp(), config.marking(), place.line);
    }

    fn set_thresholds(&mut self, ramp: Ramp) {
        self.0.set_thresholds(ramp);
    }

    fn remembers_flows(_: &S::Config) -> bool {
        false
    }

    #[inline]
    fn on_arrival(
        &mut self,
        now: Instant,
        _: Frame<'_, Ce>,
        fate: Fate,
        _: &Queue,
        _: &mut impl Draw,
        _: &mut impl Out<S>,
    ) {
        self.0.on_arrival(now, fate);
    }

    #[inline]
    fn mark(&mut self, _: Instant, frame: Frame<'_, Ce>, len: Octets, draw: &mut impl Draw) -> bool {
        let marks = self.0.marks(len.0, draw);
        if marks {
            *frame.tag = Ce(true);
        }
        marks
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        self.0.next_timeout()
    }

    fn on_timeout(&mut self, now: Instant, queue: &Queue, _: &mut impl Draw, _: &mut impl Out<S>) {
        self.0.on_timeout(now, queue.len.0);
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[self.0.marked() as i64]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dctcp::Dctcp;
    use crate::info::values::{choice, mbps, real};
    use crate::testing::{Middle, Sent, config, frame_of};
    use crate::units::{CpId, Duration, FlowKey};

    /// A frame joins a queue of `len` octets with it: whether it is marked.
    fn arrive(cp: &mut MarkingCp, now: Instant, len: u64) -> bool {
        let mut tag = Ce(false);
        let queue = Queue { len: Octets(len), ..Queue::default() };
        let mut sent = Sent::<Dctcp>::default();
        CongestionPoint::<Dctcp>::on_arrival(
            cp,
            now,
            frame_of(FlowKey(7), now, &mut tag),
            Fate::Queued,
            &queue,
            &mut Middle,
            &mut sent,
        );
        assert_eq!(tag, Ce(false), "a frame is marked when the caller asks");
        CongestionPoint::<Dctcp>::mark(cp, now, frame_of(FlowKey(7), now, &mut tag), queue.len, &mut Middle);
        tag.0
    }

    /// DCTCP's threshold is 97 500 octets.
    #[test]
    fn the_point_marks_and_counts() {
        let mut cp = MarkingCp::new(&config::<Dctcp>("", &[]), BitRate::from_gbps(10));
        assert!(!arrive(&mut cp, Instant::ZERO, 97_500) && arrive(&mut cp, Instant::ZERO, 97_501));
        let mut row = [0];
        CongestionPoint::<Dctcp>::vars(&cp, &mut row);
        assert_eq!((row, CongestionPoint::<Dctcp>::next_timeout(&cp)), ([1], None));
    }

    /// K of 97 500 octets for 10 Gb/s is 390 000 at 40 and 9750 at 1.
    #[test]
    fn thresholds_follow_the_line_where_they_are_given_for_one() {
        let given = config::<Dctcp>("", &[("thresholds_at", mbps(10_000))]);
        for (gbps, k) in [(40, 390_000), (10, 97_500), (1, 9_750)] {
            let mut cp = MarkingCp::new(&given, BitRate::from_gbps(gbps));
            assert!(!arrive(&mut cp, Instant::ZERO, k) && arrive(&mut cp, Instant::ZERO, k + 1), "{gbps} Gb/s");
        }
        let mut same = MarkingCp::new(&config::<Dctcp>("", &[]), BitRate::from_gbps(40));
        assert!(arrive(&mut same, Instant::ZERO, 97_501));
        let place = Place { cp: CpId(0), line: BitRate::from_gbps(40), capacity: Octets(0), phase: Duration::ZERO };
        CongestionPoint::<Dctcp>::configure(&mut same, &given, place);
        assert!(!arrive(&mut same, Instant::ZERO, 97_501), "a change goes by the line too");
    }

    /// With the whole gain b = 0.01 for 1000 octets, 100 000 octets above an empty queue: 0.01 × 50 + 0.01 × 50 = 1. Every frame is
    /// marked, however short the queue. A frame that is dropped does not wake the controller.
    #[test]
    fn a_controller_marks_instead_of_the_thresholds() {
        let changes = [("marking", choice("pi")), ("pi_a", real(0.01)), ("pi_b", real(0.01))];
        let mut cp = MarkingCp::new(&config::<Dctcp>("", &changes), BitRate::from_gbps(10));
        let due = |cp: &MarkingCp| CongestionPoint::<Dctcp>::next_timeout(cp);
        let (mut tag, mut sent) = (Ce(false), Sent::<Dctcp>::default());
        let frame = frame_of(FlowKey(7), Instant::ZERO, &mut tag);
        let queue = Queue { len: Octets(100_000), ..Queue::default() };
        cp.on_arrival(Instant::ZERO, frame, Fate::Dropped, &queue, &mut Middle, &mut sent);
        assert_eq!(due(&cp), None);
        assert!(!arrive(&mut cp, Instant::ZERO, 150_000), "the controller has not been asked yet");
        let end = Instant::ZERO + Duration::from_us(50);
        assert_eq!(due(&cp), Some(end));
        cp.on_timeout(end, &queue, &mut Middle, &mut sent);
        assert!(arrive(&mut cp, end, 1_500));
    }
}
