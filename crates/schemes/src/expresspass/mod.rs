//! ExpressPass: every data frame needs a credit, and switches let no more credits through than the opposite direction of their link can carry data for.
//!
//! ```text
//!   source                      switch                                 destination
//!   request ------------------> --------------------------------------> credits at its rate, in turns of its host
//!   data frame <-- credit <---- credits: 84 octets of 1622, 8 wait <---- credit, numbered
//!   data frame, its number ---> data queue: nearly empty -------------> gaps in the numbers: credits lost
//!                                                                       once a round trip: rate up, or down by the loss
//! ```
//!
//! Credits take the path of the data backwards, so that a credit that is let through has room for its frame. Where credits of several flows meet they
//! are dropped instead of data, and the destination sees that in the numbers that come back with the frames.
//!
//! Rates are real numbers, as shares of the destination's line.
//!
//! Sources: Cho, Jang, Han 2017, *Credit-Scheduled Delay-Bounded Congestion Control for Datacenters* (SIGCOMM); the authors' agent for ns-2, `xpass.cc`
//! ("XPass"), whose names and constants these are.

use crate::info::values::{count, octets, real, us};
use crate::info::{Forms, Info, Profile, Signals, parameters};
use crate::none::Absent;
use crate::units::{BitRate, Duration, FlowKey, Instant, Octets};
use crate::{
    Allowance, Class, CreditLimit, Draw, Frame, HEADER, Never, NotificationPoint, Out, ReactionPoint, Release, Scheme,
    Signal, SignalKind, To, Var,
};

/// ExpressPass.
#[derive(Debug, Clone, Copy)]
pub struct ExpressPass;

parameters! {
    /// ExpressPass' parameters.
    pub struct Config {
        /// Credits that wait at a port; more are dropped.
        credit_queue: u32 {
            default: count(8),
            range: count(1)..=count(1_000),
            source: "XPass, creditBuffer",
        }
        /// Octets of the largest data frame, with FCS.
        frame: Octets {
            default: octets(1_518),
            range: octets(64)..=octets(16_384),
            source: "XPass, maxEthernetSize: 1538 with preamble and gap",
        }
        /// Share of the line at which a destination starts to send credits.
        initial: f64 {
            default: real(0.5),
            range: real(0.001)..=real(1.0),
            source: "XPass, alpha_",
        }
        /// Weight of the line's rate in an increase, at the start.
        w_init: f64 {
            default: real(0.0625),
            range: real(0.0)..=real(1.0),
            source: "XPass, w_init_",
        }
        /// The least weight.
        w_min: f64 {
            default: real(0.01),
            range: real(0.0)..=real(1.0),
            source: "XPass, min_w_",
        }
        /// The largest weight.
        w_max: f64 {
            default: real(0.5),
            range: real(0.0)..=real(1.0),
            at_least: w_min,
            source: "XPass, credit_feedback_control",
        }
        /// Growth of the weight from one increase to the next.
        w_step: f64 {
            default: real(0.05),
            range: real(0.0)..=real(1.0),
            source: "XPass, credit_feedback_control",
        }
        /// Share of credits that may be lost while the rate rises, at a rate of zero; in proportion to what is missing to the line's.
        target_loss: f64 {
            default: real(0.125),
            range: real(0.0)..=real(1.0),
            source: "XPass, target_loss_scaling_",
        }
        /// Spread of the gap between two credits, either way, as a share of it.
        jitter: f64 {
            default: real(0.1),
            range: real(0.0)..=real(1.0),
            source: "XPass, min_jitter_ and max_jitter_",
        }
        /// Time without a credit after which a source asks again.
        retry: Duration {
            default: us(100),
            range: us(1)..=us(1_000_000),
            source: "XPass, retransmit_timeout_",
        }
    }
}

/// Octets that a credit's turn takes besides its data frame: its own frame, preamble and gap.
const CREDIT: u64 = HEADER as u64 + 20;

const PROFILES: &[Profile] = &[Profile {
    name: "slow-start",
    description: "A first rate of a sixteenth of the line's, at any rate: fewer credits of short flows are wasted, and flows begin later.",
    settings: &[("initial", real(0.0625))],
}];

impl Scheme for ExpressPass {
    const INFO: Info = Info {
        name: "expresspass",
        title: "ExpressPass",
        source: "Cho et al. 2017",
        description: "Destinations send a credit for each data frame, switches drop credits instead of data, and destinations adjust the rate of \
                      credits to their loss.",
        parameters: Config::PARAMETERS,
        profiles: PROFILES,
        set_point: None,
        signals: Some(Signals::by_destination(Message::OCTETS)),
        actions: &[],
        tuned: &[&["initial"], &["w_init"], &["target_loss"], &["jitter"]],
        recovers_alone: false,
        raises_on_signal: false,
        integer_state: false,
        needs_order: true,
        forms: Forms { fluid: Some("expresspass"), ..Forms::NONE },
    };
    type Config = Config;
    type Tag = Echo;
    type Echo = Never;
    type Signal = Message;
    type Cp = Absent;
    type Np = Np;
    type Rp = Rp;

    fn credit_limit(config: &Config) -> Option<CreditLimit> {
        Some(CreditLimit { frame: config.frame, waiting: config.credit_queue })
    }
}

/// The number of the credit that a data frame uses; in its header, so that it adds no octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Echo(pub Option<u32>);

/// A control frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    /// A source has data.
    Request,
    /// A destination lets it send a frame. Credits of a flow are numbered from 0, modulo 2^32.
    Credit(u32),
}

impl Message {
    /// Length of the frame, the shortest.
    pub const OCTETS: u16 = 64;
}

impl Signal for Message {
    const VARS: &'static [Var] = &[Var { name: "credit", description: "number of the credit; -1 for a request" }];

    fn octets(&self) -> u16 {
        Self::OCTETS
    }

    fn kind(&self) -> SignalKind {
        match self {
            Self::Request => SignalKind::Probe,
            Self::Credit(_) => SignalKind::Notification,
        }
    }

    fn message(&self) -> Option<crate::Message> {
        Some(match *self {
            Self::Request => crate::Message::CreditRequest,
            Self::Credit(number) => crate::Message::Credit { number },
        })
    }

    fn vars(&self, row: &mut [i64]) {
        row[0] = if let Self::Credit(number) = *self { i64::from(number) } else { -1 };
    }
}

/// ExpressPass' notification point: sends credits and adjusts their rate.
#[derive(Debug, Clone)]
pub struct Np {
    flow: FlowKey,
    config: Config,
    /// The source has asked, and not all has come.
    active: bool,
    /// A credit is due now, or at a time.
    due: bool,
    next: Option<Instant>,
    /// Share of the line, and the weight of the next increase.
    rate: f64,
    weight: f64,
    raised: bool,
    /// The number of the next credit, and that of the next one to be answered.
    number: u32,
    expected: u32,
    /// A credit whose answer is timed, and when it went.
    timed: Option<(u32, Instant)>,
    /// Smoothed, ps; 0 before the first.
    round_trip: f64,
    /// Since the last change of the rate: credits that were answered, and those before them that were not.
    answered: u32,
    lost: u32,
    changed: Instant,
    /// When the last frame or request came.
    heard: Instant,
}

impl Np {
    /// The source has data: the rate is the first again where there was none.
    fn begin(&mut self, now: Instant) {
        self.heard = now;
        if !self.active {
            (self.active, self.due) = (true, true);
            (self.rate, self.weight, self.raised) = (self.config.initial, self.config.w_init, false);
            (self.answered, self.lost, self.changed, self.timed) = (0, 0, now, None);
        }
    }

    /// Credits end. Those that are on their way count for nothing.
    fn end(&mut self) {
        (self.active, self.due, self.next) = (false, false, None);
        self.expected = self.number;
    }

    fn send(&mut self, out: &mut impl Out<ExpressPass>) {
        out.send(To::Source(self.flow), Class::Control, Message::Credit(self.number));
        self.number = self.number.wrapping_add(1);
    }

    /// `update_rtt`.
    fn time(&mut self, number: u32, now: Instant) {
        if let Some((timed, sent_at)) = self.timed
            && number.wrapping_sub(timed) <= u32::MAX / 2
        {
            self.timed = None;
            if number == timed {
                let sample = now.since(sent_at).0 as f64;
                self.round_trip = if self.round_trip == 0.0 { sample } else { 0.8 * self.round_trip + 0.2 * sample };
            }
        }
    }

    /// `credit_feedback_control`, where a credit every `gap` ps fills the line.
    fn adjust(&mut self, now: Instant, gap: f64) {
        let elapsed = now.since(self.changed).0 as f64;
        let credits = self.answered + self.lost;
        if self.round_trip == 0.0 || elapsed < self.round_trip || credits == 0 {
            return;
        }
        let loss = f64::from(self.lost) / f64::from(credits);
        let target = (1.0 - self.rate) * self.config.target_loss;
        let raised = loss <= target;
        if raised {
            if self.raised {
                self.weight = (self.weight + self.config.w_step).min(self.config.w_max);
            }
            self.rate += self.weight * (1.0 - self.rate);
        } else {
            let got = f64::from(self.answered) * gap / elapsed;
            self.rate = self.rate.min(got * (1.0 + target));
            self.weight = (0.5 * self.weight).max(self.config.w_min);
        }
        self.raised = raised;
        self.rate = self.rate.max(gap / self.round_trip).min(1.0);
        (self.answered, self.lost, self.changed) = (0, 0, now);
    }
}

impl NotificationPoint<ExpressPass> for Np {
    const GRANTS: bool = true;

    fn new(config: &Config, flow: FlowKey) -> Self {
        Self {
            flow,
            config: config.clone(),
            active: false,
            due: false,
            next: None,
            rate: config.initial,
            weight: config.w_init,
            raised: false,
            number: 0,
            expected: 0,
            timed: None,
            round_trip: 0.0,
            answered: 0,
            lost: 0,
            changed: Instant::ZERO,
            heard: Instant::ZERO,
        }
    }

    fn configure(&mut self, config: &Config) {
        self.config = config.clone();
        if !self.active && self.number == 0 {
            (self.rate, self.weight) = (config.initial, config.w_init);
        }
    }

    fn on_frame(&mut self, now: Instant, frame: Frame<'_, Echo>, _: &mut impl Draw, _: &mut impl Out<ExpressPass>) {
        let Some(number) = frame.tag.0 else { return };
        let skipped = number.wrapping_sub(self.expected);
        if skipped > u32::MAX / 2 {
            return;
        }
        self.begin(now);
        self.expected = number.wrapping_add(1);
        self.lost = self.lost.saturating_add(skipped);
        self.answered = self.answered.saturating_add(1);
        self.time(number, now);
    }

    fn on_signal(
        &mut self,
        now: Instant,
        _: FlowKey,
        signal: Message,
        _: &mut impl Draw,
        _: &mut impl Out<ExpressPass>,
    ) {
        if signal == Message::Request {
            self.begin(now);
        }
    }

    /// One more credit, for the first frame of a next message: that begins credits again.
    fn on_complete(&mut self, _: Instant, out: &mut impl Out<ExpressPass>) {
        self.end();
        self.send(out);
    }

    fn asks(&self) -> bool {
        self.due
    }

    fn grant(&mut self, now: Instant, line: BitRate, draw: &mut impl Draw, out: &mut impl Out<ExpressPass>) -> u16 {
        if !self.due {
            return 0;
        }
        let octets = self.config.frame.0 + CREDIT;
        let gap = line.serialisation(octets).0.0 as f64;
        self.adjust(now, gap);
        self.timed.get_or_insert((self.number, now));
        self.send(out);
        self.due = false;
        let spread = self.config.jitter * (f64::from(draw.draw()) / 2_147_483_648.0 - 1.0);
        self.next = Some(now + Duration(((gap / self.rate * (1.0 + spread)) as u64).max(1)));
        octets.min(u64::from(u16::MAX)) as u16
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.next
    }

    fn on_timeout(&mut self, now: Instant, _: &mut impl Draw, _: &mut impl Out<ExpressPass>) {
        if self.next.is_some_and(|at| at <= now) {
            (self.due, self.next) = (true, None);
            // Of a source that is gone.
            if now.since(self.heard).0 > SILENT * self.config.retry.0 {
                self.end();
            }
        }
    }
}

/// Times without a credit after which a source asks again; after this number of them a destination that hears nothing sends no more.
const SILENT: u64 = 10;

/// Credits that a source keeps while its line is busy, or while it has no data.
const KEPT: usize = 8;

/// ExpressPass' reaction point: the credits that have come and that no frame has used.
#[derive(Debug, Clone)]
pub struct Rp {
    line: BitRate,
    retry: Duration,
    /// Flows that have started and not ended, and the last one to start.
    flows: u32,
    flow: FlowKey,
    /// The flows and numbers of `kept` credits, the oldest first.
    credits: [(FlowKey, u32); KEPT],
    kept: usize,
    unused: i64,
    /// When a source without credits asks for them.
    asks: Instant,
}

impl Rp {
    /// Takes out the oldest credit of `flow`, or of another one behind the same limiter, which brings in no number.
    fn take(&mut self, flow: FlowKey) -> Option<u32> {
        let own = self.credits[..self.kept].iter().position(|credit| credit.0 == flow);
        let number = own.map(|place| self.credits[place].1);
        self.drop(own.unwrap_or(0));
        number
    }

    fn drop(&mut self, place: usize) {
        self.credits.copy_within(place + 1.., place);
        self.kept = self.kept.saturating_sub(1);
    }

    fn ask(&mut self, now: Instant, out: &mut impl Out<ExpressPass>) {
        out.send(To::Destination(self.flow), Class::Data, Message::Request);
        self.asks = now + self.retry;
    }
}

impl ReactionPoint<ExpressPass> for Rp {
    const VARS: &'static [Var] = &[
        Var { name: "credits", description: "credits that no frame has used so far" },
        Var {
            name: "credits_unused_total",
            description: "credits that came while as many were kept as there is room for, since the start",
        },
    ];

    fn new(config: &Config, line: BitRate) -> Self {
        Self {
            line,
            retry: config.retry,
            flows: 0,
            flow: FlowKey(0),
            credits: [(FlowKey(0), 0); KEPT],
            kept: 0,
            unused: 0,
            asks: Instant::NEVER,
        }
    }

    fn configure(&mut self, config: &Config, _: BitRate) {
        self.retry = config.retry;
    }

    fn on_start(&mut self, now: Instant, flow: FlowKey, _: &mut impl Draw, out: &mut impl Out<ExpressPass>) {
        self.flows += 1;
        self.flow = flow;
        self.ask(now, out);
    }

    fn on_stop(&mut self, _: Instant, _: FlowKey) {
        self.flows = self.flows.saturating_sub(1);
    }

    fn on_signal(
        &mut self,
        now: Instant,
        flow: FlowKey,
        signal: Message,
        _: &mut impl Draw,
        _: &mut impl Out<ExpressPass>,
    ) {
        let Message::Credit(number) = signal else { return };
        if self.kept == KEPT {
            self.drop(0);
            self.unused += 1;
        }
        self.credits[self.kept] = (flow, number);
        self.kept += 1;
        self.asks = now + self.retry;
    }

    fn on_send(&mut self, now: Instant, frame: Release, _: &mut impl Draw, _: &mut impl Out<ExpressPass>) -> Echo {
        self.asks = now + self.retry;
        if frame.last {
            self.flows = self.flows.saturating_sub(1);
        }
        Echo(self.take(frame.flow))
    }

    fn next_timeout(&self) -> Option<Instant> {
        (self.flows > 0 && self.kept == 0).then_some(self.asks)
    }

    fn on_timeout(&mut self, now: Instant, _: &mut impl Draw, out: &mut impl Out<ExpressPass>) {
        if self.next_timeout().is_some_and(|at| at <= now) {
            self.ask(now, out);
        }
    }

    fn allowance(&self) -> Allowance {
        Allowance { rate: self.line, window: None }
    }

    const NEEDS_GRANTS: bool = true;

    fn granted(&self) -> bool {
        self.kept > 0
    }

    fn limiting(&self) -> bool {
        true
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[self.kept as i64, self.unused]);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::testing::{Middle, Sent, at, close, config, frame_of};

    const FLOW: FlowKey = FlowKey(7);
    /// 1518 and 84 octets at 12.816 Gb/s take 1 us.
    const LINE: BitRate = BitRate(12_816_000_000);

    /// Takes requests, which go with data, too.
    #[derive(Default)]
    struct Heard(Vec<(To, Message)>);

    impl Out<ExpressPass> for Heard {
        fn send(&mut self, to: To, class: Class, message: Message) {
            assert_eq!(class == Class::Data, message == Message::Request);
            self.0.push((to, message));
        }
    }

    fn started() -> Np {
        let mut np = Np::new(&config::<ExpressPass>("", &[]), FLOW);
        np.on_signal(at(0), FLOW, Message::Request, &mut Middle, &mut Heard::default());
        np
    }

    /// Its turn comes, and it sends a credit; when the next one is due.
    fn turn(np: &mut Np, us: u64) -> Option<Instant> {
        assert!(np.asks());
        let mut sent = Sent::default();
        assert_eq!(np.grant(at(us), LINE, &mut Middle, &mut sent), 1602);
        assert_eq!(sent.0.len(), 1);
        np.next_timeout()
    }

    fn answer(np: &mut Np, us: u64, number: u32) {
        let mut tag = Echo(Some(number));
        np.on_frame(at(us), frame_of(FLOW, at(0), &mut tag), &mut Middle, &mut Heard::default());
    }

    fn due(np: &mut Np, us: u64) {
        np.on_timeout(at(us), &mut Middle, &mut Heard::default());
    }

    /// The first rate is half of the line's: a credit each 2 us. After a round trip of 10 us without loss it grows by a sixteenth of the rest.
    #[test]
    fn the_rate_rises_while_nothing_is_lost() {
        let mut np = started();
        assert_eq!(turn(&mut np, 0), Some(at(2)));
        due(&mut np, 1);
        assert!(!np.asks(), "it is early");
        due(&mut np, 2);
        turn(&mut np, 2);
        answer(&mut np, 10, 0);
        close(np.round_trip, 10e6);
        due(&mut np, 12);
        turn(&mut np, 12);
        close(np.rate, 0.5 + 0.0625 * 0.5);
        // The weight grows where the rate rose the last time too.
        answer(&mut np, 13, 1);
        due(&mut np, 24);
        turn(&mut np, 24);
        close(np.weight, 0.1125);
        close(np.rate, 0.53125 + 0.1125 * 0.46875);
    }

    /// Of eight credits in 20 us four are lost: four a 20 us are a fifth of the line's 20, and 1/16 more where the rate is a half.
    #[test]
    fn the_rate_falls_to_what_arrived() {
        let mut np = started();
        turn(&mut np, 0);
        np.round_trip = 10e6;
        for number in [1, 3, 5, 7] {
            answer(&mut np, 10, number);
        }
        due(&mut np, 20);
        turn(&mut np, 20);
        close(np.rate, 0.2 * (1.0 + 0.5 * 0.125));
        close(np.weight, 0.03125);
        // All that was sent is lost but one: never below a credit each round trip.
        answer(&mut np, 21, 1000);
        due(&mut np, 120);
        turn(&mut np, 120);
        close(np.rate, 0.1);
    }

    #[test]
    fn credits_end_with_the_data_and_begin_with_a_next_message() {
        let mut np = started();
        turn(&mut np, 0);
        let mut heard = Heard::default();
        np.on_complete(at(5), &mut heard);
        assert_eq!(heard.0, [(To::Source(FLOW), Message::Credit(1))]);
        assert_eq!((np.asks(), np.next_timeout()), (false, None));
        answer(&mut np, 6, 0);
        assert!(!np.asks(), "it used a credit from before");
        answer(&mut np, 50, 1);
        assert!(np.asks());
        // A source that says nothing for a millisecond is gone.
        turn(&mut np, 51);
        due(&mut np, 1051);
        assert_eq!((np.asks(), np.next_timeout()), (false, None));
    }

    #[test]
    fn a_source_uses_the_credits_that_it_has() {
        let (mut rp, mut heard) = (Rp::new(&config::<ExpressPass>("", &[]), LINE), Heard::default());
        rp.on_start(at(0), FLOW, &mut Middle, &mut heard);
        assert_eq!((rp.granted(), rp.next_timeout()), (false, Some(at(100))));
        rp.on_timeout(at(100), &mut Middle, &mut heard);
        assert_eq!(heard.0, [(To::Destination(FLOW), Message::Request); 2]);
        // Ten credits come while the line is busy: the last eight are kept.
        for number in 0..10 {
            rp.on_signal(at(101), FLOW, Message::Credit(number), &mut Middle, &mut heard);
        }
        assert_eq!((rp.kept, rp.unused, rp.next_timeout()), (8, 2, None));
        let send = |rp: &mut Rp, flow| {
            let frame = Release { flow, octets: 1500, seq: Octets(0), last: false };
            rp.on_send(at(102), frame, &mut Middle, &mut Heard::default()).0
        };
        assert_eq!(send(&mut rp, FLOW), Some(2));
        assert_eq!(send(&mut rp, FlowKey(9)), None, "another flow's");
        assert_eq!((send(&mut rp, FLOW), rp.kept), (Some(4), 5));
        rp.on_stop(at(103), FLOW);
        (0..5).for_each(|_| assert!(send(&mut rp, FLOW).is_some()));
        assert_eq!((rp.granted(), rp.next_timeout()), (false, None));
    }
}
