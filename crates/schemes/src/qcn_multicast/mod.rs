//! Enhanced QCN for multicast: of all congested branches of a tree, the most congested one speaks for the flow.
//!
//! With QCN every congested queue that a multicast frame is copied into answers its source. Here the source remembers
//! the largest |Fb| that it has heard, F^, and the queue that sent it. Its data frames carry both. A queue that is less
//! congested than F^ keeps silent.
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
//! Source: Mliki et al. 2016, section 3, algorithms 1 and 2. Values are compared in six bits. Nothing but 63 lowers F^,
//! so a large one mutes all milder congestion for as long as the rate limiter lives: see the test of the lock-up below.
//! The paper leaves three points open. Here frames carry the CPID together with F^ (their length is the same). Where
//! two queues tie, `tie` says which one answers. A rate limiter that is removed (the paper has permanent ones) takes F^
//! with it.

use crate::info::values::choice;
use crate::info::{Action, Forms, Info, Signals, choice, parameters};
use crate::none::Silent;
use crate::parts::notification::Cnm;
use crate::parts::quantiser::QntzFb;
use crate::parts::rate_limiter::{RateLimiter, RpConfig};
use crate::parts::sampling_cp::SamplingCp;
use crate::qcn::{self, PAN_10G, PAPER_MULTICAST, TUNED};
use crate::units::{BitRate, CpId, FlowKey, Instant};
use crate::{
    Allowance, Class, CongestionPoint, Draw, Fate, Frame, Label, Out, Place, Queue, ReactionPoint, Release, Scheme, To,
    Var,
};

/// Enhanced QCN for multicast.
#[derive(Debug, Clone, Copy)]
pub struct QcnMulticast;

choice! {
    /// The queue that answers a frame whose F^ is as large as the |Fb| of the queue.
    pub enum Tie {
        /// The queue whose CPID the frame carries. (Mliki et al. 2016, section 4)
        Cpid = "cpid",
        /// Every queue. (Mliki et al. 2016, algorithm 2 alone)
        All = "all",
    }
}

parameters! {
    /// The parameters of enhanced QCN for multicast.
    pub struct Config {
        ..qcn: qcn::Config;
        /// The queue that answers where |Fb| equals the saved value: the queue that sent the saved value, or every queue.
        tie: Tie {
            default: choice("cpid"),
            source: "Mliki et al. 2016 section 4; algorithm 2",
        }
    }
}

/// The field that data frames carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tag {
    /// F^, the largest |Fb| that the source has heard, in six bits; 0 before any.
    pub saved: u8,
    /// The congestion point that sent it.
    pub representative: CpId,
}

impl Scheme for QcnMulticast {
    const INFO: Info = Info {
        name: "qcn-multicast",
        title: "Enhanced QCN for multicast",
        source: "Mliki et al. 2016, algorithms 1 and 2",
        description: "QCN for multicast trees: data frames carry the largest |Fb| heard, and only the queue that is at least as \
                      congested answers.",
        parameters: Config::PARAMETERS,
        profiles: &[PAN_10G, PAPER_MULTICAST],
        set_point: Some("q_eq"),
        signals: Some(Signals::backward(Cnm::OCTETS)),
        actions: &[Action::Notifications, Action::Cuts, Action::Raises],
        tuned: TUNED,
        recovers_alone: true,
        raises_on_signal: false,
        integer_state: true,
        needs_order: false,
        forms: Forms::NONE,
    };
    type Config = Config;
    type Tag = Tag;
    type Echo = crate::Never;
    type Signal = Cnm;
    type Cp = Cp;
    type Np = Silent;
    type Rp = Rp;

    fn label(_tag: &Self::Tag) -> Label {
        Label::CnTag
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
        Var { name: "silenced_total", description: "messages that a larger saved value has silenced since the start" },
    ];

    fn new(config: &Config, place: Place) -> Self {
        Self { point: SamplingCp::new(&config.qcn.cp, place.cp), tie: config.tie, silenced: 0 }
    }

    fn configure(&mut self, config: &Config, _: Place) {
        self.point.configure(&config.qcn.cp);
        self.tie = config.tie;
    }

    fn remembers_flows(_config: &Config) -> bool {
        false
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

    fn configure(&mut self, config: &Config, line: BitRate) {
        self.limiter.configure(config.qcn.rate_limiter(line));
    }

    fn on_start(&mut self, now: Instant, _flow: FlowKey, draw: &mut impl Draw, _out: &mut impl Out<QcnMulticast>) {
        self.limiter.start(now, draw);
    }

    /// Algorithm 1.
    fn on_signal(
        &mut self,
        now: Instant,
        _flow: FlowKey,
        signal: Cnm,
        draw: &mut impl Draw,
        _out: &mut impl Out<QcnMulticast>,
    ) {
        let larger = signal.fb.steps() > self.saved.steps() || self.saved.is_zero();
        let fb = if larger { signal.fb } else { self.saved };
        if !self.limiter.notify(now, fb, signal.q_off, draw) {
            return;
        }
        if larger {
            self.saved = signal.fb;
            self.representative = signal.cp;
        }
        // Nothing is larger than 63: the choice of a representative starts again.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;
    use crate::info::values::{octets, real};
    use crate::testing::{Middle, Sent, config, frame_of};
    use crate::units::{Duration, Octets};
    use proptest::prelude::*;

    const AT: Instant = Instant(1_000_000);
    const LINE: BitRate = BitRate(1_000_000_000);
    const FRAME: Release = Release { flow: FlowKey(0), octets: 1500, seq: Octets(0), last: false };
    const R1: CpId = CpId::new(0xaa, 1, 0);
    const R2: CpId = CpId::new(0xaa, 2, 0);

    fn rp(profile: &str) -> Rp {
        let mut rp = Rp::new(&config::<QcnMulticast>(profile, &[]), LINE);
        rp.on_start(Instant::ZERO, FlowKey(0), &mut Middle, &mut Sent::default());
        rp
    }

    fn notify(rp: &mut Rp, fb: u8, cp: CpId) {
        let cnm = Cnm { fb: QntzFb::from_steps(fb), cp, q_off: 1000, q_delta: 0 };
        rp.on_signal(AT, FRAME.flow, cnm, &mut Middle, &mut Sent::default());
    }

    fn send(rp: &mut Rp) -> (u8, CpId) {
        let tag = rp.on_send(AT, FRAME, &mut Middle, &mut Sent::default());
        (tag.saved, tag.representative)
    }

    fn cp(changes: &[(&str, Value)]) -> Cp {
        let all = [changes, &[("sampling", choice("every-frame")), ("w", real(0.0))]].concat();
        let place = Place { cp: R1, line: LINE, capacity: Octets(150_000), phase: Duration::ZERO };
        Cp::new(&config::<QcnMulticast>("paper-multicast", &all), place)
    }

    /// The |Fb| that the queue answers a frame with, if it does. With w = 0, |Fb|max is Qeq.
    fn answer(cp: &mut Cp, len: u64, saved: u8, representative: CpId) -> Option<u8> {
        let mut sent = Sent::default();
        let queue = Queue { len: Octets(len), ..Queue::default() };
        let mut tag = Tag { saved, representative };
        let frame = frame_of(FlowKey(7), AT, &mut tag);
        cp.on_arrival(AT, frame, Fate::Queued, &queue, &mut Middle, &mut sent);
        sent.0.first().map(|(_, cnm)| cnm.fb.steps())
    }

    #[test]
    fn the_source_remembers_the_largest_value() {
        let mut rp = rp("paper-multicast");
        assert_eq!(send(&mut rp), (0, CpId(0)));
        notify(&mut rp, 21, R1); // 1 Gb/s × (1 - 21/126)
        assert_eq!(rp.allowance().rate, BitRate(833_333_333));
        assert_eq!(send(&mut rp), (21, R1));
        notify(&mut rp, 10, R2); // by the saved 21: 833 333 333 × 105/126
        assert_eq!(rp.allowance().rate, BitRate(694_444_444));
        assert_eq!(send(&mut rp), (21, R1));
        notify(&mut rp, 42, R2);
        assert_eq!(send(&mut rp), (42, R2));
        notify(&mut rp, 42, R1);
        assert_eq!(send(&mut rp), (42, R2), "an equal value does not change the representative");
        notify(&mut rp, 63, R1);
        assert_eq!(send(&mut rp), (0, CpId(0)), "63 starts again");
    }

    #[test]
    fn a_removed_limiter_takes_the_saved_value_with_it() {
        let mut rp = rp("pan-10g");
        notify(&mut rp, 1, R1);
        assert_eq!(send(&mut rp), (1, R1));
        for _ in 0..10_000 {
            send(&mut rp);
        }
        assert!(!rp.limiting());
        assert_eq!(send(&mut rp), (0, CpId(0)));
        let below = Cnm { fb: QntzFb::from_steps(9), cp: R1, q_off: -64, q_delta: 0 };
        rp.on_signal(AT, FRAME.flow, below, &mut Middle, &mut Sent::default());
        assert_eq!(send(&mut rp), (0, CpId(0)), "a notification that makes no limiter is not remembered");
    }

    /// Qeq is 37 500: a queue of 37 500 + n × 37 500 / 63 has |Fb| = n, rounded up to be safe.
    #[test]
    fn the_less_congested_keep_silent() {
        let len = |fb: u64| 37_500 + (fb * 37_500).div_ceil(63);
        for (tie, same, other) in [("cpid", Some(20), None), ("all", Some(20), Some(20))] {
            let mut cp = cp(&[("tie", choice(tie))]);
            assert_eq!(answer(&mut cp, len(20), 0, CpId(0)), Some(20), "nobody speaks for the flow yet");
            assert_eq!(answer(&mut cp, len(20), 19, R2), Some(20));
            assert_eq!(answer(&mut cp, len(20), 20, R1), same);
            assert_eq!(answer(&mut cp, len(20), 20, R2), other, "{tie}");
            assert_eq!(answer(&mut cp, len(20), 21, R1), None, "not even the representative answers with less");
            assert_eq!(answer(&mut cp, 37_500, 0, CpId(0)), None, "no congestion");
        }
    }

    /// Nothing but 63 lowers the saved value, and at Qeq = 75 of 100 frames 63 is out of reach: with w = 2,
    /// |Fb|max = (2w + 1) Qeq = 375 frames, a full queue is 25 frames above Qeq, and so the queue would have to grow by
    /// (375 - 25) / 2 = 175 frames from one sample to the next, more than it holds. At most, from empty to full, |Fb| is
    /// 25 + 2 × 100 = 225 frames, that is 225 × 63 / 375 = 37 (rounded down). After that every queue that fills more
    /// slowly is mute for ever: a queue that stays full has |Fb| = 25 frames, 4 of 63, and no longer answers. Hence the
    /// paper's higher loss at 75. At Qeq = 25, 100 × 63 / 125 frames are 63 already with ΔQ = 25 frames.
    #[test]
    fn a_large_saved_value_locks_up() {
        let frames = |n: u64| n * 1500;
        let settings = [("q_eq", octets(frames(75))), ("w", real(2.0))];
        let mut cp = cp(&settings);
        let strongest = answer(&mut cp, frames(100), 0, CpId(0));
        assert_eq!(strongest, Some(37), "from empty to full in one sample");
        let mut rp = rp("paper-multicast");
        notify(&mut rp, 37, R1);
        let (saved, representative) = send(&mut rp);
        for _ in 0..1000 {
            assert_eq!(answer(&mut cp, frames(100), saved, representative), None, "full, and mute");
        }
        assert_eq!(cp.silenced, 1000);
        assert_eq!(answer(&mut cp, frames(100), 0, CpId(0)), Some(4), "QCN would answer");
        // At Qeq = 25 frames a full queue that grew by 25 frames reaches 63, and the source starts again.
        let mut quick = self::cp(&[("q_eq", octets(frames(25))), ("w", real(2.0))]);
        answer(&mut quick, frames(75), 0, CpId(0));
        assert_eq!(answer(&mut quick, frames(100), 62, R2), Some(63));
    }

    proptest! {
        /// The saved value only grows until 63, and the rate never rises on a signal.
        #[test]
        fn the_saved_value_grows_until_63(values in proptest::collection::vec((0u8..64, any::<bool>()), 1..200)) {
            let mut rp = rp("paper-multicast");
            for (fb, first) in values {
                let (saved, _) = send(&mut rp);
                let before = rp.allowance().rate;
                notify(&mut rp, fb, if first { R1 } else { R2 });
                let (now, _) = send(&mut rp);
                prop_assert_eq!(now, if fb == 63 { 0 } else { saved.max(fb) });
                prop_assert!(rp.allowance().rate <= before);
            }
        }

        /// Every answer of a queue is one that QCN would have given too.
        #[test]
        fn answers_are_among_qcns(lens in proptest::collection::vec((0u64..150_000, 0u8..63), 1..100)) {
            let (mut ours, mut qcn) = (cp(&[]), cp(&[("tie", choice("all"))]));
            for (len, saved) in lens {
                let said = answer(&mut ours, len, saved, R2);
                let all = answer(&mut qcn, len, 0, CpId(0));
                prop_assert!(said.is_none() || said == all && said > Some(saved));
            }
        }
    }
}
