//! Enhanced QCN for multicast: of all congested branches of a tree, the most congested one speaks for the flow.
//!
//! With QCN every congested queue that a multicast frame is copied into answers its source. Here the source remembers the
//! largest |Fb| that it has heard, F^, and who sent it; its data frames carry both; and a queue that is less congested than
//! F^ keeps silent.
//!
//! ```text
//!   reaction point                                     congestion point
//!   F^ = 0                  data frame { F^, CPID }    sample: |Fb|
//!   notification |Fb|:      ----------------------->     |Fb| > F^: send
//!     F^ = max(F^, |Fb|)                                 |Fb| = F^: send if CPID is ours (option `tie`)
//!     decrease by F^        <-----------------------     |Fb| < F^: keep silent
//!     F^ = 63: F^ = 0           Cnm { |Fb|, CPID }
//! ```
//!
//! Source: paper 000, section 3, algorithms 1 and 2. Values are compared in six bits. Nothing but 63 lowers F^, so a large
//! one mutes all milder congestion for as long as the rate limiter lives: see the test of the lock-up below. What the paper
//! leaves open is answered so: frames carry the CPID beside F^; where two queues tie, `tie` says who answers; and a rate
//! limiter that is removed (the paper has permanent ones) takes F^ with it.

use crate::info::values::choice;
use crate::info::{Info, choice, parameters};
use crate::none::Silent;
use crate::parts::notification::{CNM_OCTETS, Cnm};
use crate::parts::quantiser::QntzFb;
use crate::parts::rate_limiter::{RateLimiter, RpConfig};
use crate::parts::sampling_cp::SamplingCp;
use crate::qcn::{self, PAN_10G, PAPER_MULTICAST};
use crate::units::{BitRate, CpId, FlowKey, Instant};
use crate::{
    Allowance, Class, CongestionPoint, Draw, Fate, Frame, Out, Place, Queue, ReactionPoint, Release, Scheme, To, Var,
};

/// Enhanced QCN for multicast.
#[derive(Debug, Clone, Copy)]
pub struct QcnMulticast;

choice! {
    /// Who answers a frame whose F^ is as large as the |Fb| of the queue.
    pub enum Tie {
        /// The queue whose CPID the frame carries. (Paper 000, section 4)
        Cpid = "cpid",
        /// Every queue. (Paper 000, algorithm 2 alone)
        All = "all",
    }
}

parameters! {
    /// The parameters of enhanced QCN for multicast.
    pub struct Config {
        ..qcn: qcn::Config;
        tie: Tie = choice("cpid"); "paper 000 section 4; algorithm 2", "Who answers where |Fb| equals the saved value: the queue that sent the saved value, or every queue.";
    }
}

/// What data frames carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tag {
    /// F^, the largest |Fb| that the source has heard, in six bits; 0 before any.
    pub saved: u8,
    /// Who sent it.
    pub representative: CpId,
}

impl Scheme for QcnMulticast {
    const INFO: Info = Info {
        name: "qcn-multicast",
        title: "Enhanced QCN for multicast",
        source: "paper 000, algorithms 1 and 2",
        description: "QCN for multicast trees: data frames carry the largest |Fb| heard, and only the queue that is at least as \
                      congested answers.",
        parameters: Config::PARAMETERS,
        profiles: &[PAN_10G, PAPER_MULTICAST],
        recovers_alone: true,
        raises_on_signal: false,
        integer_state: true,
    };
    type Config = Config;
    type Tag = Tag;
    type Signal = Cnm;
    type Cp = Cp;
    type Np = Silent;
    type Rp = Rp;

    const SIGNAL_VARS: &'static [Var] = Cnm::VARS;

    fn octets(_: &Cnm) -> u16 {
        CNM_OCTETS
    }

    fn signal_vars(signal: &Cnm, row: &mut [i64]) {
        row.copy_from_slice(&signal.values());
    }
}

/// QCN's congestion point, silent where another one speaks for the flow.
#[derive(Debug, Clone)]
pub struct Cp {
    point: SamplingCp,
    tie: Tie,
    /// Messages that a saved value has silenced since the start.
    silenced: u64,
}

impl Cp {
    /// Whether a queue with feedback value `fb` answers a frame with `tag`. (Algorithm 2)
    fn represents(&self, fb: QntzFb, tag: &Tag) -> bool {
        let fb = fb.steps();
        // Without a saved value there is no representative yet.
        fb > tag.saved
            || fb == tag.saved && (self.tie == Tie::All || tag.saved == 0 || tag.representative == self.point.id())
    }
}

impl CongestionPoint<QcnMulticast> for Cp {
    const VARS: &'static [Var] = &[
        SamplingCp::VARS[0],
        SamplingCp::VARS[1],
        Var { name: "silenced", description: "messages that a larger saved value has silenced since the start" },
    ];

    fn new(config: &Config, place: Place) -> Self {
        Self { point: SamplingCp::new(&config.qcn.cp, place.cp), tie: config.tie, silenced: 0 }
    }

    #[inline]
    fn on_arrival(
        &mut self,
        _now: Instant,
        frame: Frame<'_, Tag>,
        fate: Fate,
        queue: &Queue,
        draw: &mut impl Draw,
        out: &mut impl Out<QcnMulticast>,
    ) {
        let Some(sample) = self.point.sample(frame.octets, fate, queue, draw) else { return };
        let sends = sample.congested && self.represents(sample.fb, frame.tag);
        if sends {
            out.send(To::Source(frame.flow), Class::Control, self.point.message(&sample));
        } else if sample.congested {
            self.silenced += 1;
        }
        self.point.conclude(&sample, sends, queue.len, draw);
    }

    fn vars(&self, row: &mut [i64]) {
        let [fb, q_old] = self.point.values();
        row.copy_from_slice(&[fb, q_old, self.silenced as i64]);
    }
}

/// QCN's reaction point, with the saved value.
#[derive(Debug, Clone)]
pub struct Rp {
    limiter: RateLimiter,
    /// F^; zero if there is none.
    saved: QntzFb,
    representative: CpId,
}

impl Rp {
    fn forget(&mut self) {
        self.saved = QntzFb::default();
        self.representative = CpId::default();
    }

    fn tag(&self) -> Tag {
        Tag { saved: self.saved.steps(), representative: self.representative }
    }
}

impl ReactionPoint<QcnMulticast> for Rp {
    const VARS: &'static [Var] = &[
        RateLimiter::VARS[0],
        RateLimiter::VARS[1],
        RateLimiter::VARS[2],
        Var { name: "saved_fb", description: "F^, the largest |Fb| heard, 0 to 62; 0 before any and after 63" },
    ];

    fn new(config: &Config, line: BitRate) -> Self {
        Self { limiter: config.qcn.rate_limiter(line), saved: QntzFb::default(), representative: CpId::default() }
    }

    fn on_start(&mut self, now: Instant, _flow: FlowKey, draw: &mut impl Draw, _out: &mut impl Out<QcnMulticast>) {
        self.limiter.start(now, draw);
    }

    /// Algorithm 1.
    fn on_signal(&mut self, now: Instant, signal: Cnm, draw: &mut impl Draw, _out: &mut impl Out<QcnMulticast>) {
        let larger = signal.fb.steps() > self.saved.steps() || self.saved.is_zero();
        let fb = if larger { signal.fb } else { self.saved };
        if !self.limiter.notify(now, fb, signal.q_off, draw) {
            return;
        }
        if larger {
            self.saved = signal.fb;
            self.representative = signal.cp;
        }
        // Nothing is larger than 63: the choice of a representative begins anew.
        if self.saved.steps() == 63 {
            self.forget();
        }
    }

    #[inline]
    fn on_send(
        &mut self,
        now: Instant,
        frame: Release,
        draw: &mut impl Draw,
        _out: &mut impl Out<QcnMulticast>,
    ) -> Tag {
        self.limiter.sent(now, frame.octets, draw);
        if !self.limiter.installed() {
            self.forget();
        }
        self.tag()
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.limiter.due()
    }

    fn on_timeout(&mut self, now: Instant, draw: &mut impl Draw, _out: &mut impl Out<QcnMulticast>) {
        self.limiter.timeout(now, draw);
        if !self.limiter.installed() {
            self.forget();
        }
    }

    fn allowance(&self) -> Allowance {
        Allowance { rate: self.limiter.current_rate(), window: None }
    }

    fn limiting(&self) -> bool {
        self.limiter.installed()
    }

    fn vars(&self, row: &mut [i64]) {
        let [target, byte_stage, time_stage] = self.limiter.values();
        row.copy_from_slice(&[target, byte_stage, time_stage, i64::from(self.saved.steps())]);
    }
}
