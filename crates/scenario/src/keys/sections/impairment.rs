//! The keys of `[[impairment]]`.

use std::ops::RangeInclusive;

use penstock_schemes::Duration;

use crate::keys::declare::{section, words};
use crate::keys::fields::{Either, List};
use crate::keys::ranges::{SPAN, TIME};

const PROBABILITY: RangeInclusive<f64> = 0.0..=1.0;

words! {
    pub(crate) enum AllLinks { All = "all" }
}

section! {
    /// Loss in bursts: the model of Gilbert (1960) and Elliott (1963), as netem's "loss gemodel". A link is in a good state at first. A frame is lost
    /// with the probability of the state; after each frame the state may change. Mean loss: (r × loss_good + p × loss_bad) / (p + r). With the
    /// defaults each frame in the bad state is lost, and a burst has 1 / r frames on average.
    pub(crate) struct Burst {
        /// Probability, after each frame, that the good state ends.
        p: f64 [PROBABILITY];
        /// Probability, after each frame, that the bad state ends.
        r: f64 [PROBABILITY];
        /// Probability that a frame is lost in the good state.
        loss_good: f64 [PROBABILITY] = 0.0;
        /// Probability that a frame is lost in the bad state.
        loss_bad: f64 [PROBABILITY] = 1.0;
    }
}

section! {
    /// Links that lose frames at random (error model, netem). A frame that is lost is corrupted: it takes its time on the link, and the far end
    /// drops it, for its FCS is wrong. Exactly one of loss, ber and burst is given. Each direction of a link draws from the seed and the
    /// port's name. Tables that name the same link act independently of each other. Metrics count such frames separately.
    pub(crate) struct Impairment {
        /// The links: all, or those listed, each in one direction, as in "sw0->h8", or in both, as in "sw0--h8".
        links: Either<AllLinks, List> = Either::First(AllLinks::All);
        /// Probability that a frame is lost.
        loss: Option<f64> [PROBABILITY] => "given by ber or burst";
        /// Bit error rate: the probability that a bit is wrong. A frame of n bits on the line, wire overhead included, is lost with probability
        /// 1 − (1 − ber)^n. IEEE 802.3 allows 1e-12.
        ber: Option<f64> [PROBABILITY] => "given by loss or burst";
        /// Loss in bursts, as in { p = 0.001, r = 0.1 }.
        burst: Option<Burst> => "given by loss or ber";
        /// Whether frames without data may be lost as well: acknowledgements, signals, headers of trimmed frames, and pause frames of priority flow
        /// control. After a lost pause frame the neighbour sends on until the next one (pfc.quanta).
        control: bool = true;
        /// The first time at which a frame's transmission may start for it to be lost.
        from: Duration [TIME] = Duration::ZERO;
        /// Frames whose transmission starts at this time or later are not lost.
        until: Option<Duration> [SPAN] => "the end of the run";
    }
}
