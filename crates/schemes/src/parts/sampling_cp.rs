//! QCN's congestion point: it samples frames, measures its queue, and gives the notification for the source of a
//! sampled frame.
//!
//! ```text
//!   sample? --no--> (nothing)
//!     | yes
//!   Fb = -(q_off + w q_delta)
//!     | Fb < 0 and quantises to more than 0
//!     +--------- Cnm { fb, q_off, q_delta } ------>
//! ```
//!
//! Schemes that keep QCN's messages and have no tag take it as it is ([`CongestionPoint`] is implemented for all of them);
//! others call [`sample`](SamplingCp::sample) and [`conclude`](SamplingCp::conclude) and decide in between.

use crate::info::values::{choice, count, octets, real, switch};
use crate::info::{Threshold, choice, parameters};
use crate::parts::jitter::Spread;
use crate::parts::notification::Cnm;
use crate::parts::quantiser::{Measure, QntzFb, Quantise, Quantiser};
use crate::parts::sampler::{Sampler, SamplerConfig, Sampling, Table};
use crate::units::{CpId, FlowKey, Instant, Octets};
use crate::{Class, CongestionPoint, Draw, Fate, Frame, Out, Place, Queue, Scheme, To, Var};

choice! {
    /// When the queue length of Fb's derivative is stored.
    pub enum QoldUpdate {
        /// At every sample. (Pan)
        EverySample = "every-sample",
        /// Only when a message is sent. (Wording of Mliki et al. 2016, Kabbani and Yasuda 2010, Matsushima et al. 2014)
        LastSent = "last-sent",
    }
}

parameters! {
    /// The measure of a congestion point, and its moments.
    pub struct CpParameters {
        /// Set point of the queue, Qeq.
        q_eq: Threshold {
            default: octets(26_000),
            range: octets(100)..=octets(4_294_967_295),
            source: "cpQSp, CpQueueSizeSetPoint",
        }
        /// Weight of the queue's growth in Fb, rounded to 1/1024.
        w: f64 {
            default: real(2.0),
            range: real(0.0)..=real(1024.0),
            source: "cpW, CpFeedbackWeight (w = 2^x); Kabbani and Yasuda 2010 eq. (1)",
        }
        /// How |Fb| is quantised: in 63 equal steps, by the six most significant bits, or not at all.
        quantise: Quantise {
            default: choice("linear63"),
            source: "802.1Qau; Kabbani and Yasuda 2010, Jiang et al. 2015",
        }
        /// Send a notification for Fb < 0 that quantises to 0.
        send_qf0: bool {
            default: switch(false),
            source: "option; Pan sends none",
        }
        /// When the queue length that q_delta refers to is stored: at every sample, or when a message is sent. The
        /// latter is the wording of Mliki et al. 2016, Kabbani and Yasuda 2010, and Matsushima et al. 2014; their
        /// results fit every sample.
        qold_update: QoldUpdate {
            default: choice("every-sample"),
            source: "Pan; Mliki et al. 2016, Kabbani and Yasuda 2010, Matsushima et al. 2014",
        }
        /// How frames are sampled: byte counter with table, probability that rises or jumps with the feedback value,
        /// count, or every frame.
        sampling: Sampling {
            default: choice("table"),
            source: "Kabbani and Yasuda 2010 table 1; Mliki et al. 2016, Jiang et al. 2015",
        }
        /// Octets between samples at feedback value 0.
        sample_base: Octets {
            default: octets(150_000),
            range: octets(10_000)..=octets(1_000_000_000),
            source: "cpSampleBase, CpMinSampleBase",
            when: sampling = "table",
        }
        /// Intervals of the table: the paper's rounded values, or base / (k + 1).
        sample_table: Table {
            default: choice("paper"),
            source: "Kabbani and Yasuda 2010 table 1; 802.1Qau",
            when: sampling = "table",
        }
        /// Spread of the sampling intervals (0.15 for ±15 %).
        sample_jitter: f64 {
            default: real(0.15),
            range: real(0.0)..=real(0.99),
            source: "Kabbani and Yasuda 2010 section 2",
            when: sampling = "table",
        }
        /// Frames between samples.
        sample_count: u32 {
            default: count(100),
            range: count(1)..=count(1_000_000_000),
            source: "option",
            when: sampling = "count",
        }
        /// Probability of a sample at feedback value 0.
        sample_probability: f64 {
            default: real(0.01),
            range: real(0.0)..=real(1.0),
            source: "Jiang et al. 2015",
            when: sampling = "probability" | "step",
        }
        /// Probability of a sample at feedback value 63; linear in between (sampling = probability), or the same from
        /// sample_step on (sampling = step).
        sample_probability_max: f64 {
            default: real(0.01),
            range: real(0.0)..=real(1.0),
            source: "Mliki et al. 2016",
            when: sampling = "probability" | "step",
        }
        /// Feedback value at which the probability of a sample jumps.
        sample_step: u32 {
            default: count(32),
            range: count(1)..=count(63),
            source: "option",
            when: sampling = "step",
        }
        /// Frames that the full queue refuses count for sampling; without them fixed-rate sources can lock in phase
        /// with a full queue.
        sample_dropped: bool {
            default: switch(true),
            source: "option",
        }
    }
}

impl CpParameters {
    /// The sampler, which chooses the frames to sample, in its state before the first frame.
    #[must_use]
    pub fn sampler(&self) -> Sampler {
        Sampler::new(&SamplerConfig {
            sampling: self.sampling,
            base: self.sample_base.0,
            table: self.sample_table,
            jitter: Spread::new(self.sample_jitter),
            every: self.sample_count,
            probability: self.sample_probability,
            probability_max: self.sample_probability_max,
            step: self.sample_step,
        })
    }

    /// The quantiser, which measures congestion.
    #[must_use]
    pub fn quantiser(&self) -> Quantiser {
        Quantiser::new(self.q_eq.0, self.w, self.quantise)
    }
}

/// A configuration of a scheme that has QCN's congestion point.
pub trait CpConfig {
    /// The congestion point's part of it.
    fn cp(&self) -> &CpParameters;
}

/// The measurement that a sampled frame has led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// The measure of congestion.
    pub measure: Measure,
    /// Quantised |Fb|.
    pub fb: QntzFb,
    /// QCN would send a message.
    pub congested: bool,
}

/// QCN's congestion point.
#[derive(Debug, Clone)]
pub struct SamplingCp {
    id: CpId,
    sampler: Sampler,
    quantiser: Quantiser,
    send_qf0: bool,
    qold_every_sample: bool,
    sample_dropped: bool,
    q_old: u64,
    last_fb: QntzFb,
}

impl SamplingCp {
    /// The columns that [`values`](Self::values) fills.
    pub const VARS: [Var; 2] = [
        Var { name: "fb", description: "quantised |Fb| of the last sample, 0 to 63" },
        Var { name: "q_old_octets", description: "queue length that the next q_delta refers to, octets" },
    ];

    /// The congestion point `id` of an empty queue.
    #[must_use]
    pub fn new(config: &CpParameters, id: CpId) -> Self {
        Self {
            id,
            sampler: config.sampler(),
            quantiser: config.quantiser(),
            send_qf0: config.send_qf0,
            qold_every_sample: config.qold_update == QoldUpdate::EverySample,
            sample_dropped: config.sample_dropped,
            q_old: 0,
            last_fb: QntzFb::default(),
        }
    }

    /// Goes by `config` from now on. The interval that runs, the queue length that q_delta refers to and the last feedback value
    /// stay.
    pub fn configure(&mut self, config: &CpParameters) {
        let (q_old, last_fb) = (self.q_old, self.last_fb);
        let mut sampler = self.sampler.clone();
        sampler.configure(config.sampler());
        *self = Self { sampler, q_old, last_fb, ..Self::new(config, self.id) };
    }

    /// Counts a frame of `octets` that came to `queue`. If it is sampled, gives the measurement; then
    /// [`conclude`](Self::conclude) follows.
    // Every frame comes here, and few go on to `look`: with both in one function, which is a call then, a hop costs 10 % more.
    #[inline(always)]
    pub fn sample(&mut self, octets: u16, fate: Fate, queue: &Queue, draw: &mut impl Draw) -> Option<Sample> {
        if (fate == Fate::Dropped && !self.sample_dropped) || self.sampler.passes_by(octets) {
            return None;
        }
        self.look(queue.len, draw)
    }

    /// Decides on a frame that the table does not let pass by.
    #[inline(never)]
    fn look(&mut self, len: Octets, draw: &mut impl Draw) -> Option<Sample> {
        let (quantiser, q_old) = (self.quantiser, self.q_old);
        let steps = || quantiser.quantise(quantiser.measure(len.0, q_old)).steps();
        if !self.sampler.decide(steps, draw) {
            return None;
        }
        let measure = quantiser.measure(len.0, q_old);
        let fb = quantiser.quantise(measure);
        let congested = !fb.is_zero() || (self.send_qf0 && measure.congestion > 0);
        Some(Sample { measure, fb, congested })
    }

    /// The message that `sample` calls for.
    #[must_use]
    pub fn message(&self, sample: &Sample) -> Cnm {
        Cnm::new(self.id, sample.fb, sample.measure)
    }

    /// Sends the message that `sample` of a frame of `flow` calls for, if any, and ends the sample.
    #[inline(never)]
    fn answer<S: Scheme<Signal = Cnm>>(
        &mut self,
        sample: &Sample,
        flow: FlowKey,
        len: Octets,
        draw: &mut impl Draw,
        out: &mut impl Out<S>,
    ) {
        if sample.congested {
            out.send(To::Source(flow), Class::Control, self.message(sample));
        }
        self.conclude(sample, sample.congested, len, draw);
    }

    /// Ends `sample` of a queue of `len`: stores the queue length that the next sample refers to, and sets the interval
    /// until then.
    #[inline]
    pub fn conclude(&mut self, sample: &Sample, sent: bool, len: Octets, draw: &mut impl Draw) {
        if sent || self.qold_every_sample {
            self.q_old = len.0;
        }
        self.last_fb = sample.fb;
        self.sampler.reload(sample.fb.steps(), draw);
    }

    /// Its identity.
    #[must_use]
    pub fn id(&self) -> CpId {
        self.id
    }

    /// One value for each of [`VARS`](Self::VARS).
    #[must_use]
    pub fn values(&self) -> [i64; 2] {
        [i64::from(self.last_fb.steps()), self.q_old as i64]
    }
}

impl<S> CongestionPoint<S> for SamplingCp
where
    S: Scheme<Tag = (), Signal = Cnm>,
    S::Config: CpConfig,
{
    const VARS: &'static [Var] = &Self::VARS;

    fn new(config: &S::Config, place: Place) -> Self {
        Self::new(config.cp(), place.cp)
    }

    fn configure(&mut self, config: &S::Config, _place: Place) {
        self.configure(config.cp());
    }

    fn remembers_flows(_config: &S::Config) -> bool {
        false
    }

    #[inline(always)]
    fn on_arrival(
        &mut self,
        _now: Instant,
        frame: Frame<'_, ()>,
        fate: Fate,
        queue: &Queue,
        draw: &mut impl Draw,
        out: &mut impl Out<S>,
    ) {
        if let Some(sample) = self.sample(frame.octets, fate, queue, draw) {
            self.answer(&sample, frame.flow, queue.len, draw, out);
        }
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&self.values());
    }
}
