//! Homa: messages begin blindly, receivers grant the rest of the shortest ones, and priorities of switches serve short messages first.
//!
//! ```text
//!   source                            switch                     destination               its host
//!   credit = unscheduled octets
//!   frame, at the level of its size > queues by level -------->  arrived + octets  ------> messages, shortest first
//!   credit + octets <-------------- grant: octets, level ------  one of the first few <--- place among them
//!                                                                nothing comes for long:
//!   octets again, or busy <-------- resend --------------------  octets that are missing
//! ```
//!
//! A receiver grants `overcommitment` messages at a time, so that its line is busy although one of their sources is. Each of them may have `rtt_octets`
//! under way. Scheduled frames of the shortest of them have the highest of the levels that are in use, from the lowest upwards, so that a shorter
//! message that comes finds a level above them. Unscheduled frames have the levels above all these, by the size of their message.
//!
//! Octets are those of frames, and count since the start of a flow. Which of them a frame carries, and which are sent again, is its transport's affair.
//!
//! Sources: Montazeri, Li, Alizadeh, Ousterhout 2018, *Homa: A Receiver-Driven Low-Latency Transport Protocol Using Network Priorities* (SIGCOMM); the
//! authors' simulator, github.com/PlatformLab/HomaSimulation ("HomaSimulation").

use crate::info::values::{count, octets, us};
use crate::info::{Forms, Info, Profile, Signals, parameters};
use crate::none::Absent;
use crate::units::{BitRate, Duration, FlowKey, Instant, Octets};
use crate::{
    Allowance, Class, Draw, Frame, HEADER, Never, NotificationPoint, Out, Rank, ReactionPoint, Release, Scheme, Signal,
    SignalKind, To, Var,
};

/// Homa.
#[derive(Debug, Clone, Copy)]
pub struct Homa;

parameters! {
    /// Homa's parameters.
    pub struct Config {
        /// RTTbytes: octets of a message that its source sends before a grant, and that may be under way afterwards.
        rtt_octets: Octets {
            default: octets(9_700),
            range: octets(64)..=octets(1_000_000_000),
            about: some_round_trip,
            source: "Montazeri et al. 2018, section 5.2, at 10 Gb/s",
        }
        /// Priorities of granted frames.
        scheduled_levels: u32 {
            default: count(4),
            range: count(1)..=count(7),
            source: "chosen here: flows of priority 3, as RoCE has it, leave room for no more; HomaSimulation has 7",
        }
        /// Priorities above these, of frames that are sent before a grant.
        unscheduled_levels: u32 {
            default: count(1),
            range: count(1)..=count(7),
            source: "HomaSimulation, prioResolverPrioLevels for W4 and W5",
        }
        /// Messages that a receiver grants at a time; those beyond the scheduled priorities share the lowest.
        overcommitment: u32 {
            default: count(7),
            range: count(1)..=count(1_000),
            source: "Montazeri et al. 2018, section 3.5: as many as scheduled priorities",
        }
        /// The longest message whose unscheduled frames have the highest priority.
        cutoff_1: Octets {
            default: octets(300),
            range: octets(1)..=octets(1_000_000_000_000),
            source: "option",
        }
        /// That of the next one.
        cutoff_2: Octets {
            default: octets(600),
            range: octets(1)..=octets(1_000_000_000_000),
            source: "option",
        }
        /// That of the third.
        cutoff_3: Octets {
            default: octets(1_200),
            range: octets(1)..=octets(1_000_000_000_000),
            source: "option",
        }
        /// That of the fourth.
        cutoff_4: Octets {
            default: octets(2_400),
            range: octets(1)..=octets(1_000_000_000_000),
            source: "option",
        }
        /// That of the fifth.
        cutoff_5: Octets {
            default: octets(4_800),
            range: octets(1)..=octets(1_000_000_000_000),
            source: "option",
        }
        /// That of the sixth; longer ones have the lowest of the unscheduled priorities.
        cutoff_6: Octets {
            default: octets(9_600),
            range: octets(1)..=octets(1_000_000_000_000),
            source: "option",
        }
        /// Octets at the end of a message that are granted at the unscheduled priority of a message of that size.
        boosted_tail: Octets {
            default: octets(0),
            range: octets(0)..=octets(1_000_000_000),
            source: "HomaSimulation, boostTailBytesPrio; the paper has none",
        }
        /// Time without a frame after which a receiver asks for those that are missing, and without a grant after which a source sends one.
        resend: Duration {
            default: us(2_000),
            range: us(1)..=us(10_000_000),
            source: "Montazeri et al. 2018, section 3.7: a few milliseconds",
        }
        /// How often a receiver asks without an answer before it forgets the message.
        resends: u32 {
            default: count(5),
            range: count(1)..=count(1_000),
            source: "HomaModule, timeout_resends",
        }
    }
}

const PROFILES: &[Profile] = &[Profile {
    name: "homasimulation-w5",
    description: "HomaSimulation, W4 and W5 at 10 Gb/s: 9328 octets of data unscheduled, one unscheduled priority, seven scheduled, a boosted tail.",
    settings: &[("rtt_octets", octets(9_820)), ("scheduled_levels", count(7)), ("boosted_tail", octets(10_000))],
}];

impl Config {
    /// The level of unscheduled frames of a message.
    fn unscheduled_level(&self, message: u64) -> u8 {
        let cutoffs =
            [self.cutoff_1, self.cutoff_2, self.cutoff_3, self.cutoff_4, self.cutoff_5, self.cutoff_6].map(|own| own.0);
        let longer = cutoffs[..self.unscheduled_levels as usize - 1].iter().filter(|cutoff| message > **cutoff);
        (self.scheduled_levels + self.unscheduled_levels - 1) as u8 - longer.count() as u8
    }

    /// The level of granted frames of a message at `place` among `of` that are granted.
    fn scheduled_level(&self, place: u32, of: u32) -> u8 {
        (of - 1 - place).min(self.scheduled_levels - 1) as u8
    }
}

impl Scheme for Homa {
    const INFO: Info = Info {
        name: "homa",
        title: "Homa",
        source: "Montazeri et al. 2018; HomaSimulation",
        description: "Sources send the first octets of each message blindly, receivers grant the rest of the shortest messages and choose the \
                      priorities of their frames.",
        parameters: Config::PARAMETERS,
        profiles: PROFILES,
        set_point: None,
        signals: Some(Signals::by_destination(Message::OCTETS)),
        actions: &[],
        tuned: &[&["overcommitment"], &["rtt_octets"]],
        recovers_alone: false,
        raises_on_signal: false,
        integer_state: true,
        needs_order: false,
        forms: Forms::NONE,
    };
    type Config = Config;
    type Tag = Tag;
    type Echo = Never;
    type Signal = Message;
    type Cp = Absent;
    type Np = Np;
    type Rp = Rp;

    fn levels(config: &Config) -> u8 {
        (config.scheduled_levels + config.unscheduled_levels) as u8
    }
}

/// What a data frame says of its message, in its header, so that it adds no octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tag {
    /// Octets of all messages of the flow so far, this one included.
    pub posted: u64,
    /// Those of them that need no grant.
    pub unscheduled: u64,
}

/// A control frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    /// A destination lets its source send.
    Grant {
        /// Octets that it has granted since the start of the flow.
        to: u64,
        /// How many of them by this grant.
        octets: u64,
        /// The level of their frames.
        level: u8,
    },
    /// Frames are missing.
    Resend {
        /// Octets that the destination has granted since the start of the flow.
        to: u64,
        /// Octets that have been sent or may have been, and have not come.
        missing: u64,
    },
    /// The source has not sent these frames yet, for others go first.
    Busy,
}

impl Message {
    /// Length of the frame, the shortest.
    pub const OCTETS: u16 = 64;
}

impl Signal for Message {
    const VARS: &'static [Var] = &[
        Var { name: "granted_octets", description: "octets that this frame lets go, for the first time or again" },
        Var { name: "level", description: "level of these frames; -1 for a frame that grants none" },
    ];

    fn octets(&self) -> u16 {
        Self::OCTETS
    }

    fn kind(&self) -> SignalKind {
        if *self == Self::Busy { SignalKind::Probe } else { SignalKind::Notification }
    }

    fn message(&self) -> Option<crate::Message> {
        Some(match *self {
            Self::Grant { to, octets, level } => {
                crate::Message::Grant { offset: to, octets, level, resend: false, busy: false }
            }
            Self::Resend { to, missing } => {
                crate::Message::Grant { offset: to, octets: missing, level: 0, resend: true, busy: false }
            }
            Self::Busy => crate::Message::Grant { offset: 0, octets: 0, level: 0, resend: false, busy: true },
        })
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&match *self {
            Self::Grant { octets, level, .. } => [octets as i64, i64::from(level)],
            Self::Resend { missing, .. } => [missing as i64, -1],
            Self::Busy => [0, -1],
        });
    }
}

/// Homa's notification point: what has come of a message, and what is granted of it.
#[derive(Debug, Clone)]
pub struct Np {
    flow: FlowKey,
    config: Config,
    /// As the frames say: see [`Tag`]. What is complete, or given up, counts as posted no longer.
    posted: u64,
    unscheduled: u64,
    granted: u64,
    arrived: u64,
    /// The longest whole frame that has come.
    longest: u16,
    /// How often it has asked for missing frames without an answer.
    asked: u32,
    deadline: Instant,
}

impl Np {
    /// Octets that may have been sent.
    fn allowed(&self) -> u64 {
        self.posted.min(self.unscheduled.saturating_add(self.granted))
    }

    /// Octets that may be under way.
    fn under_way(&self) -> u64 {
        self.allowed().saturating_sub(self.arrived)
    }

    fn hear(&mut self, now: Instant) {
        (self.asked, self.deadline) = (0, now + self.config.resend);
    }
}

impl NotificationPoint<Homa> for Np {
    const RANKS: bool = true;

    fn new(config: &Config, flow: FlowKey) -> Self {
        Self {
            flow,
            config: config.clone(),
            posted: 0,
            unscheduled: 0,
            granted: 0,
            arrived: 0,
            longest: HEADER,
            asked: 0,
            deadline: Instant::NEVER,
        }
    }

    fn configure(&mut self, config: &Config) {
        self.config = config.clone();
    }

    fn on_frame(&mut self, now: Instant, frame: Frame<'_, Tag>, _: &mut impl Draw, _: &mut impl Out<Homa>) {
        self.posted = self.posted.max(frame.tag.posted);
        self.unscheduled = self.unscheduled.max(frame.tag.unscheduled);
        if !frame.trimmed {
            self.arrived = self.arrived.saturating_add(frame.octets.into());
            self.longest = self.longest.max(frame.octets);
        }
        self.hear(now);
    }

    fn on_complete(&mut self, _: Instant, _: &mut impl Out<Homa>) {
        self.posted = self.posted.min(self.arrived);
    }

    fn left_to_grant(&self) -> Option<u64> {
        let left = self.posted.saturating_sub(self.unscheduled.saturating_add(self.granted));
        (left > 0).then_some(left)
    }

    fn grant_ranked(&mut self, now: Instant, place: u32, of: u32, out: &mut impl Out<Homa>) -> bool {
        let Some(left) = self.left_to_grant() else { return true };
        let most = self.config.overcommitment;
        if place >= most {
            return false;
        }
        let octets = self.config.rtt_octets.0.saturating_sub(self.under_way()).min(left);
        if octets >= left.min(self.longest.into()) {
            if self.under_way() == 0 {
                self.hear(now);
            }
            let level = if left <= self.config.boosted_tail.0 {
                self.config.unscheduled_level(left)
            } else {
                self.config.scheduled_level(place, of.min(most))
            };
            self.granted = self.granted.saturating_add(octets);
            let grant = Message::Grant { to: self.granted, octets, level };
            out.send(To::Source(self.flow), Class::Control, grant);
        }
        place + 1 < most
    }

    fn on_signal(&mut self, now: Instant, _: FlowKey, signal: Message, _: &mut impl Draw, _: &mut impl Out<Homa>) {
        if signal == Message::Busy {
            self.hear(now);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        (self.under_way() > 0).then_some(self.deadline)
    }

    fn on_timeout(&mut self, now: Instant, _: &mut impl Draw, out: &mut impl Out<Homa>) {
        if self.next_timeout().is_none_or(|at| at > now) {
            return;
        }
        if self.asked == self.config.resends {
            self.posted = self.posted.min(self.arrived);
            return;
        }
        self.asked += 1;
        self.deadline = now + self.config.resend;
        let resend = Message::Resend { to: self.granted, missing: self.under_way() };
        out.send(To::Source(self.flow), Class::Control, resend);
    }
}

/// Homa's reaction point: octets that may go.
#[derive(Debug, Clone)]
pub struct Rp {
    line: BitRate,
    config: Config,
    /// Flows that have started and not ended.
    flows: u32,
    /// The one flow that has started so far, and what its grants have come to. Those of several destinations cannot be distinguished, so that with
    /// several flows a grant is worth its own octets.
    alone: Option<(FlowKey, u64)>,
    several: bool,
    /// A flow without end has started.
    endless: bool,
    /// Octets of all messages so far, those of them that need no grant, and those that have been sent.
    posted: u64,
    unscheduled: u64,
    sent: u64,
    /// The size of the last message, and how much of its unscheduled part has not been sent.
    message: u64,
    blind: u64,
    /// Octets that may go, less what the last frame took too much; the same for those that are missing.
    credit: i64,
    again: i64,
    /// The level of granted frames.
    level: u8,
    /// When a frame goes without a grant.
    deadline: Instant,
}

impl Rp {
    fn post(&mut self, octets: u64) {
        let first = octets.min(self.config.rtt_octets.0);
        self.posted = self.posted.saturating_add(octets);
        self.unscheduled = self.unscheduled.saturating_add(first);
        (self.message, self.blind) = (octets, self.blind.saturating_add(first));
        self.credit = self.credit.saturating_add(first as i64);
    }

    fn end(&mut self) {
        self.flows = self.flows.saturating_sub(1);
        if self.flows == 0 {
            (self.credit, self.again, self.blind) = (0, 0, 0);
            self.sent = self.posted;
        }
    }

    /// Octets that grants up to `to` bring beyond those before.
    fn brought(&mut self, flow: FlowKey, to: u64, octets: u64) -> u64 {
        match &mut self.alone {
            Some((own, seen)) if *own == flow => {
                let more = to.saturating_sub(*seen);
                *seen = to.max(*seen);
                more
            }
            _ => octets,
        }
    }
}

impl ReactionPoint<Homa> for Rp {
    const VARS: &'static [Var] = &[
        Var { name: "credit_octets", description: "octets that may go" },
        Var { name: "left_octets", description: "octets of announced messages that have not been sent" },
        Var { name: "level", description: "level of the frames that grants let go" },
    ];

    fn new(config: &Config, line: BitRate) -> Self {
        Self {
            line,
            config: config.clone(),
            flows: 0,
            alone: None,
            several: false,
            endless: false,
            posted: 0,
            unscheduled: 0,
            sent: 0,
            message: 0,
            blind: 0,
            credit: 0,
            again: 0,
            level: 0,
            deadline: Instant::NEVER,
        }
    }

    fn configure(&mut self, config: &Config, _: BitRate) {
        self.config = config.clone();
    }

    fn on_message(&mut self, _: FlowKey, octets: Octets) {
        self.post(octets.0);
    }

    fn on_start(&mut self, now: Instant, flow: FlowKey, _: &mut impl Draw, _: &mut impl Out<Homa>) {
        self.flows += 1;
        self.several |= self.alone.is_some_and(|(own, _)| own != flow);
        if self.several {
            self.alone = None;
        } else {
            self.alone.get_or_insert((flow, 0));
        }
        // Nobody has announced a size.
        if self.posted == self.sent {
            self.endless = true;
            self.post(i64::MAX as u64 / 2);
        }
        self.deadline = now + self.config.resend;
    }

    fn on_stop(&mut self, _: Instant, _: FlowKey) {
        self.end();
    }

    fn on_signal(&mut self, now: Instant, flow: FlowKey, signal: Message, _: &mut impl Draw, out: &mut impl Out<Homa>) {
        self.deadline = now + self.config.resend;
        match signal {
            _ if self.flows == 0 => {}
            Message::Grant { to, octets, level } => {
                self.level = level;
                let more = self.brought(flow, to, octets);
                self.credit = self.credit.saturating_add_unsigned(more);
            }
            Message::Resend { to, missing } => {
                let more = self.brought(flow, to, 0);
                self.credit = self.credit.saturating_add_unsigned(more);
                if self.credit > 0 {
                    out.send(To::Destination(flow), Class::Control, Message::Busy);
                } else {
                    self.again = self.again.max(missing.min(i64::MAX as u64) as i64);
                }
            }
            Message::Busy => {}
        }
    }

    fn on_send(&mut self, now: Instant, frame: Release, _: &mut impl Draw, _: &mut impl Out<Homa>) -> Tag {
        let octets = i64::from(frame.octets);
        self.deadline = now + self.config.resend;
        if self.credit > 0 {
            self.credit -= octets;
            self.sent = self.sent.saturating_add(frame.octets.into());
            self.blind = self.blind.saturating_sub(frame.octets.into());
        } else {
            self.again = (self.again - octets).max(0);
        }
        let tag = Tag { posted: self.posted, unscheduled: self.unscheduled };
        if frame.last {
            self.end();
        }
        tag
    }

    fn next_timeout(&self) -> Option<Instant> {
        (self.flows > 0 && !self.granted()).then_some(self.deadline)
    }

    fn on_timeout(&mut self, now: Instant, _: &mut impl Draw, _: &mut impl Out<Homa>) {
        if self.next_timeout().is_some_and(|at| at <= now) {
            self.again = 1;
        }
    }

    fn allowance(&self) -> Allowance {
        Allowance { rate: self.line, window: None }
    }

    const NEEDS_GRANTS: bool = true;

    fn granted(&self) -> bool {
        self.credit > 0 || self.again > 0
    }

    const RANKS: bool = true;

    fn rank(&self) -> Option<Rank> {
        let level = if self.blind > 0 { self.config.unscheduled_level(self.message) } else { self.level };
        Some(Rank { level: level.min(Homa::levels(&self.config) - 1), left: self.posted.saturating_sub(self.sent) })
    }

    fn limiting(&self) -> bool {
        true
    }

    fn vars(&self, row: &mut [i64]) {
        let left = if self.endless { 0 } else { self.posted.saturating_sub(self.sent) };
        row.copy_from_slice(&[self.credit, left as i64, i64::from(self.level)]);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::testing::{Middle, Sent, at, config, frame_of};

    const FLOW: FlowKey = FlowKey(7);

    /// RTTbytes of three frames of 1500 octets; two unscheduled levels above three.
    fn small() -> Config {
        let changes = [
            ("rtt_octets", octets(4_500)),
            ("scheduled_levels", count(3)),
            ("unscheduled_levels", count(2)),
            ("overcommitment", count(2)),
            ("cutoff_1", octets(6_000)),
            ("resend", us(100)),
        ];
        config::<Homa>("", &changes)
    }

    /// A source that has started a message.
    fn source(octets: u64) -> Rp {
        let mut rp = Rp::new(&small(), BitRate::from_gbps(10));
        rp.on_message(FLOW, Octets(octets));
        rp.on_start(at(0), FLOW, &mut Middle, &mut Sent::default());
        rp
    }

    /// Sends as many frames as may go; their levels.
    fn send_all(rp: &mut Rp, us: u64) -> Vec<u8> {
        let mut levels = Vec::new();
        while rp.granted() {
            levels.push(rp.rank().expect("frames have ranks").level);
            let frame = Release { flow: FLOW, octets: 1500, seq: Octets(0), last: false };
            rp.on_send(at(us), frame, &mut Middle, &mut Sent::default());
        }
        levels
    }

    fn hear(rp: &mut Rp, us: u64, signal: Message) -> Vec<(To, Message)> {
        let mut sent = Sent::default();
        rp.on_signal(at(us), FLOW, signal, &mut Middle, &mut sent);
        sent.0
    }

    #[test]
    fn the_first_octets_go_blindly_at_the_level_of_their_message() {
        // Levels 0 to 2 are for granted frames, 3 for messages above 6000 octets, 4 for shorter ones.
        assert_eq!(send_all(&mut source(3_000), 0), [4, 4]);
        let mut rp = source(9_000);
        assert_eq!(rp.rank(), Some(Rank { level: 3, left: 9_000 }));
        assert_eq!(send_all(&mut rp, 0), [3, 3, 3]);
        hear(&mut rp, 10, Message::Grant { to: 1_500, octets: 1_500, level: 2 });
        assert_eq!(rp.rank(), Some(Rank { level: 2, left: 4_500 }));
        assert_eq!(send_all(&mut rp, 10), [2]);
        // The second grant is lost, and the third stands for both. One that comes late brings nothing.
        hear(&mut rp, 20, Message::Grant { to: 4_500, octets: 1_500, level: 1 });
        assert_eq!(send_all(&mut rp, 20), [1, 1]);
        hear(&mut rp, 21, Message::Grant { to: 3_000, octets: 1_500, level: 0 });
        assert!(!rp.granted());
    }

    #[test]
    fn a_source_that_is_asked_again_sends_again_or_is_busy() {
        let mut rp = source(9_000);
        let resend = Message::Resend { to: 0, missing: 3_000 };
        assert_eq!(hear(&mut rp, 1, resend), [(To::Destination(FLOW), Message::Busy)]);
        assert_eq!(send_all(&mut rp, 2).len(), 3);
        assert_eq!(hear(&mut rp, 3, resend), []);
        assert_eq!(send_all(&mut rp, 3).len(), 2);
        // Nothing comes for 100 us: one frame.
        assert_eq!(rp.next_timeout(), Some(at(103)));
        rp.on_timeout(at(102), &mut Middle, &mut Sent::default());
        assert!(!rp.granted());
        rp.on_timeout(at(103), &mut Middle, &mut Sent::default());
        assert_eq!(send_all(&mut rp, 103).len(), 1);
        rp.on_stop(at(104), FLOW);
        assert_eq!(rp.next_timeout(), None);
    }

    fn come(np: &mut Np, us: u64, posted: u64) {
        let mut tag = Tag { posted, unscheduled: posted.min(4_500) };
        np.on_frame(at(us), frame_of(FLOW, at(0), &mut tag), &mut Middle, &mut Sent::default());
    }

    /// What the point grants at a place, and whether the next one may grant.
    fn grant(np: &mut Np, place: u32, of: u32) -> (Vec<Message>, bool) {
        let mut sent = Sent::default();
        let goes_on = np.grant_ranked(at(9), place, of, &mut sent);
        (sent.0.iter().map(|(_, message)| *message).collect(), goes_on)
    }

    #[test]
    fn a_destination_keeps_rtt_octets_under_way_while_it_has_a_place() {
        let mut np = Np::new(&small(), FLOW);
        assert_eq!(np.left_to_grant(), None);
        come(&mut np, 1, 9_000);
        assert_eq!(np.left_to_grant(), Some(4_500));
        // Two messages are granted: the third waits, and so do those after it.
        assert_eq!(grant(&mut np, 2, 5), (Vec::new(), false));
        // Of two, the second has the lowest level; alone, the first has, too.
        let first = Message::Grant { to: 1_500, octets: 1_500, level: 0 };
        assert_eq!(grant(&mut np.clone(), 0, 1), ([first].into(), true));
        assert_eq!(grant(&mut np.clone(), 1, 5), ([first].into(), false));
        let higher = Message::Grant { to: 1_500, octets: 1_500, level: 1 };
        assert_eq!(grant(&mut np, 0, 5), ([higher].into(), true));
        assert_eq!(grant(&mut np, 0, 5), (Vec::new(), true));
        come(&mut np, 2, 9_000);
        come(&mut np, 3, 9_000);
        let rest = Message::Grant { to: 4_500, octets: 3_000, level: 0 };
        assert_eq!(grant(&mut np, 0, 1), ([rest].into(), true));
        assert_eq!(np.left_to_grant(), None);
        (0..3).for_each(|n| come(&mut np, 4 + n, 9_000));
        assert_eq!(np.next_timeout(), None);
    }

    #[test]
    fn the_end_of_a_message_may_have_an_unscheduled_level() {
        let mut np = Np::new(&small(), FLOW);
        np.config.boosted_tail = Octets(3_000);
        come(&mut np, 1, 9_000);
        come(&mut np, 1, 9_000);
        come(&mut np, 1, 9_000);
        // 4500 octets are left before the first grant, which is for all of them.
        assert_eq!(grant(&mut np.clone(), 0, 1).0, [Message::Grant { to: 4_500, octets: 4_500, level: 0 }]);
        np.granted = 1_500;
        np.arrived += 1_500;
        assert_eq!(grant(&mut np, 0, 1).0, [Message::Grant { to: 4_500, octets: 3_000, level: 4 }]);
    }

    #[test]
    fn a_destination_asks_for_what_is_missing_and_gives_up() {
        let mut np = Np::new(&small(), FLOW);
        np.config.resends = 2;
        come(&mut np, 0, 4_500);
        let mut sent = Sent::default();
        assert_eq!(np.next_timeout(), Some(at(100)));
        np.on_timeout(at(100), &mut Middle, &mut sent);
        np.on_signal(at(150), FLOW, Message::Busy, &mut Middle, &mut sent);
        assert_eq!(np.next_timeout(), Some(at(250)));
        (1..4).for_each(|n| np.on_timeout(at(150 + 100 * n), &mut Middle, &mut sent));
        let asked = (To::Source(FLOW), Message::Resend { to: 0, missing: 3_000 });
        assert_eq!(sent.0, [asked; 3]);
        assert_eq!(np.next_timeout(), None);
        // A frame that comes after all brings the message back.
        come(&mut np, 500, 4_500);
        assert_eq!(np.next_timeout(), Some(at(600)));
    }
}
