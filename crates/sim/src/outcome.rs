//! What a run has come to: counts, time-weighted statistics, and the conservation of frames.
//!
//! Of a run, counts cover all of it. Means, deviations, extremes, throughput and utilisation cover the time from
//! [`Sim::start_measuring`](crate::Sim::start_measuring) (the end of the warm-up) to the end. Of a window
//! ([`Sim::open_window`](crate::Sim::open_window)), everything covers the window.

use penstock_schemes::{Duration, Instant};

/// The result of a run, or of a window of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// Sums over the network.
    pub totals: Totals,
    /// Every queue, under [`QueueId`](crate::network::QueueId).
    pub queues: Vec<QueueOutcome>,
    /// Every flow.
    pub flows: Vec<FlowOutcome>,
    /// Every node (zeros for switches).
    pub hosts: Vec<HostOutcome>,
    /// Time measured.
    pub measured: Duration,
}

/// Sums over the network and the whole run, or the window. A window does not say what is under way at its end, nor what was
/// discarded at sources, nor events: these are 0 there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Data frames that generators made.
    pub frames_offered: u64,
    /// Of them, discarded at their source before they reached the network, or still waiting at their source at the end.
    pub frames_discarded_at_source: u64,
    /// Data frames that reaction points released into the network.
    pub frames_sent: u64,
    /// Copies made at the branches of multicast trees, beyond the first of each frame.
    pub copies_made: u64,
    /// Data frames and copies that reached a destination.
    pub frames_delivered: u64,
    /// Data frames and copies dropped at full queues.
    pub frames_dropped: u64,
    /// Data frames and copies lost on broken links.
    pub frames_lost_on_link: u64,
    /// Data frames and copies in queues and on lines at the end.
    pub frames_in_flight: u64,
    /// Signals that reached sources (of controlled flows).
    pub feedback_frames: u64,
    /// Of them, probes that came back; the rest are notifications.
    pub probes_returned: u64,
    /// Probes that sources sent.
    pub probes_sent: u64,
    /// Signals sent by congestion points, notification points and sources.
    pub signals_sent: u64,
    /// Signals (probes) that reached destinations.
    pub probes_delivered: u64,
    /// Signals dropped at full control queues or lost on broken links.
    pub signals_lost: u64,
    /// Signals under way at the end.
    pub signals_in_flight: u64,
    /// Signals that reached a source without reaction point and were discarded there.
    pub signals_discarded: u64,
    /// Signals of congestion points that reached the congestion point of the previous hop.
    pub signals_to_previous_hops: u64,
    /// Headers of trimmed frames, at the queues that cut them (where each counts as a data frame dropped) and at branches.
    pub headers_sent: u64,
    /// Headers that reached destinations.
    pub headers_delivered: u64,
    /// Headers dropped at full control queues or lost on broken links.
    pub headers_lost: u64,
    /// Headers under way at the end.
    pub headers_in_flight: u64,
    /// Acknowledgements that destinations sent.
    pub acks_sent: u64,
    /// Acknowledgements that reached sources.
    pub acks_delivered: u64,
    /// Acknowledgements dropped at full control queues or lost on broken links.
    pub acks_lost: u64,
    /// Acknowledgements under way at the end.
    pub acks_in_flight: u64,
    /// Frames of priority flow control, pause and resume.
    pub pause_frames: u64,
    /// Frames, data or control, that crossed a link.
    pub packet_hops: u64,
    /// Events that the engine handled.
    pub events: u64,
}

impl Totals {
    /// What has been counted since `earlier`, a state of the same run.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        Self {
            frames_offered: self.frames_offered - earlier.frames_offered,
            frames_sent: self.frames_sent - earlier.frames_sent,
            copies_made: self.copies_made - earlier.copies_made,
            frames_delivered: self.frames_delivered - earlier.frames_delivered,
            frames_dropped: self.frames_dropped - earlier.frames_dropped,
            frames_lost_on_link: self.frames_lost_on_link - earlier.frames_lost_on_link,
            feedback_frames: self.feedback_frames - earlier.feedback_frames,
            probes_returned: self.probes_returned - earlier.probes_returned,
            probes_sent: self.probes_sent - earlier.probes_sent,
            signals_sent: self.signals_sent - earlier.signals_sent,
            probes_delivered: self.probes_delivered - earlier.probes_delivered,
            signals_lost: self.signals_lost - earlier.signals_lost,
            signals_discarded: self.signals_discarded - earlier.signals_discarded,
            signals_to_previous_hops: self.signals_to_previous_hops - earlier.signals_to_previous_hops,
            headers_sent: self.headers_sent - earlier.headers_sent,
            headers_delivered: self.headers_delivered - earlier.headers_delivered,
            headers_lost: self.headers_lost - earlier.headers_lost,
            acks_sent: self.acks_sent - earlier.acks_sent,
            acks_delivered: self.acks_delivered - earlier.acks_delivered,
            acks_lost: self.acks_lost - earlier.acks_lost,
            pause_frames: self.pause_frames - earlier.pause_frames,
            packet_hops: self.packet_hops - earlier.packet_hops,
            ..Self::default()
        }
    }
}

/// A queue's result.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct QueueOutcome {
    /// Time-weighted mean of the length, octets.
    pub mean_octets: f64,
    /// Time-weighted standard deviation of the length, octets.
    pub std_octets: f64,
    /// Smallest length, octets.
    pub min_octets: u64,
    /// Largest length, octets.
    pub max_octets: u64,
    /// Share of the time without an octet in the queue.
    pub empty_fraction: f64,
    /// Line bits of the *port* (all its queues, wire overhead included) over what its scheduled rate could have carried.
    pub utilization: f64,
    /// Frames that came to the queue.
    pub frames_arrived: u64,
    /// Of them dropped.
    pub frames_dropped: u64,
    /// Signals that its congestion point sent.
    pub feedback_frames: u64,
    /// How long priority flow control stopped it.
    pub paused: Duration,
    /// Pause frames (XOFF and its refreshes) that stopped it.
    pub pause_frames: u64,
}

/// A flow's result.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FlowOutcome {
    /// Delivered bits (wire overhead included) over the measured time, bit/s; with several destinations their mean.
    pub throughput_bps: f64,
    /// Time-weighted mean of the allowed rate while the flow was active, bit/s.
    pub mean_rate_bps: f64,
    /// Time-weighted standard deviation of the allowed rate while the flow was active, bit/s.
    pub std_rate_bps: f64,
    /// Frames that its generator made.
    pub frames_offered: u64,
    /// Frames released into the network.
    pub frames_sent: u64,
    /// Frames and copies delivered.
    pub frames_delivered: u64,
    /// Frames and copies dropped at full queues.
    pub frames_dropped: u64,
    /// Frames and copies lost on broken links.
    pub frames_lost: u64,
    /// Copies made at branches.
    pub copies_made: u64,
    /// Signals that its source received.
    pub feedback_received: u64,
    /// Of them, probes that came back.
    pub probes_returned: u64,
    /// When the last frame of a finite flow was delivered, if all of them were.
    pub completed: Option<Instant>,
}

/// A host's result.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HostOutcome {
    /// Time-weighted mean number of installed rate limiters.
    pub rate_limiters_mean: f64,
    /// Largest number of installed rate limiters.
    pub rate_limiters_max: u32,
}

/// Mean and standard deviation of a quantity from its integrals over `time` picoseconds.
pub(crate) fn moments(time: u64, area: u128, area_squared: f64) -> (f64, f64) {
    if time == 0 {
        return (0.0, 0.0);
    }
    let mean = area as f64 / time as f64;
    let variance = area_squared / time as f64 - mean * mean;
    (mean, variance.max(0.0).sqrt())
}

/// A sum of products that 128 bits do not hold: the square of 100 Tb/s for 34 ms is as much.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sum {
    low: u128,
    /// In 2^128.
    high: u64,
}

impl Sum {
    /// Adds `square` × `time`.
    pub(crate) fn add(&mut self, square: u128, time: u64) {
        let below = (square & u128::from(u64::MAX)) * u128::from(time);
        let above = (square >> 64) * u128::from(time);
        let (low, first) = self.low.overflowing_add(below);
        let (low, second) = low.overflowing_add(above << 64);
        self.low = low;
        self.high += (above >> 64) as u64 + u64::from(first) + u64::from(second);
    }

    /// This sum without an earlier state of it.
    pub(crate) fn less(self, earlier: Self) -> Self {
        let (low, borrow) = self.low.overflowing_sub(earlier.low);
        Self { low, high: self.high - earlier.high - u64::from(borrow) }
    }

    pub(crate) fn as_f64(self) -> f64 {
        self.high as f64 * (u128::MAX as f64) + self.low as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 Tb/s for 2 000 000 s: 10^28 × 2 × 10^18, of which 128 bits hold the 10^-8.
    #[test]
    fn a_sum_holds_the_largest_square_for_the_longest_time() {
        let mut sum = Sum::default();
        for _ in 0..1000 {
            sum.add(10_u128.pow(28), 2 * 10_u64.pow(15));
        }
        assert!((sum.as_f64() / 2e46 - 1.0).abs() < 1e-15, "{}", sum.as_f64());
        let (mean, deviation) = moments(2 * 10_u64.pow(18), 2 * 10_u128.pow(32), sum.as_f64());
        assert!(mean == 1e14 && deviation < 1e14 * 1e-7, "{mean} {deviation}");
        let mut small = Sum::default();
        small.add(u128::from(u64::MAX), u64::MAX);
        assert_eq!(small.as_f64(), (u128::from(u64::MAX) * u128::from(u64::MAX)) as f64);
        assert_eq!((sum.high > 0, sum.less(sum).as_f64()), (true, 0.0));
        // 2^128 + 2 less 3: a borrow.
        let (large, three) = (Sum { low: 2, high: 1 }, Sum { low: 3, high: 0 });
        assert_eq!(large.less(three).low, u128::MAX);
    }
}
