//! Source flow control: a queue that is too long pauses the sources of the frames that come to it, each for a time.
//!
//! ```text
//!   congestion point, per frame of a flow f                             reaction point
//!   q > q_on, and f's pause has ended:                                  rate 0 until then,
//!     pause = (q - q_off) / line, at most max_pause  ----- f, pause -->  then the line's
//! ```
//!
//! Priority flow control stops the port before; this message goes to the source at once, so that no queue on its path fills, and
//! stops that flow alone. The pause is the time in which the queue falls to `q_off`. While it lasts the congestion point does not
//! repeat it: frames that arrive meanwhile were in flight.
//!
//! Reconstruction: IEEE P802.1Qdw is no published standard. Its scope says that the congested bridge tells the source, or the
//! bridge at the source's edge, to stop for a time; thresholds, the pause and the table of flows are chosen here.

use crate::info::values::{count, octets, us};
use crate::info::{Action, Forms, Info, Signals, Threshold, parameters};
use crate::parts::holds::Holds;
use crate::units::{BitRate, CpId, Duration, FlowKey, Instant};
use crate::{
    Allowance, Class, CongestionPoint, Draw, Fate, Frame, Message, Out, Place, Queue, ReactionPoint, Release, Scheme,
    Signal, To, Var,
};

/// Source flow control.
#[derive(Debug, Clone, Copy)]
pub struct SourceFlowControl;

parameters! {
    /// The parameters of source flow control.
    pub struct Config {
        /// A queue longer than this pauses the source of a frame that comes to it.
        q_on: Threshold {
            default: octets(60_000),
            range: octets(64)..=octets(1_000_000_000),
            at_least: q_off,
            source: "option, 48 us at 10 Gb/s",
        }
        /// The pause lasts until the queue has fallen to this length, if nothing else comes.
        q_off: Threshold {
            default: octets(30_000),
            range: octets(0)..=octets(1_000_000_000),
            source: "option, half of q_on",
        }
        /// The longest pause.
        max_pause: Duration {
            default: us(1_000),
            range: us(1)..=us(1_000_000),
            source: "option",
        }
        /// Size of the table of paused flows at a congestion point; a further flow is not paused until another's pause has ended.
        flow_table_size: u32 {
            default: count(512),
            range: count(1)..=count(65_536),
            source: "option",
        }
    }
}

impl Scheme for SourceFlowControl {
    const INFO: Info = Info {
        name: "sfc",
        title: "Source flow control (reconstruction)",
        source: "the published scope of IEEE P802.1Qdw; thresholds and pause are a reconstruction",
        description: "A queue that is too long tells the sources of the frames that come to it to stop until it has fallen.",
        parameters: Config::PARAMETERS,
        profiles: &[],
        set_point: None,
        signals: Some(Signals::backward(Pause::OCTETS)),
        actions: &[Action::Notifications, Action::Cuts, Action::Raises],
        tuned: &[&["q_on"], &["q_off"], &["max_pause"]],
        recovers_alone: true,
        raises_on_signal: false,
        integer_state: true,
        needs_order: false,
        forms: Forms { capture: true, testbed: false, fluid: None, cores: &[] },
    };
    type Config = Config;
    type Tag = ();
    type Echo = crate::Never;
    type Signal = Pause;
    type Cp = Cp;
    type Np = crate::none::Silent;
    type Rp = Rp;
}

/// A congestion point's word to a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// The congestion point.
    pub cp: CpId,
    /// For so long, from its arrival, the source sends nothing.
    pub time: Duration,
}

impl Pause {
    /// Length of the frame, padded to the shortest.
    pub const OCTETS: u16 = 64;
}

impl Signal for Pause {
    const VARS: &'static [Var] = &[Var { name: "pause_ps", description: "length of the pause, ps" }];

    fn octets(&self) -> u16 {
        Self::OCTETS
    }

    fn message(&self) -> Option<Message> {
        Some(Message::SourcePause { cp: self.cp, time: self.time })
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[self.time.0 as i64]);
    }
}

/// The congestion point of source flow control.
#[derive(Debug, Clone)]
pub struct Cp {
    id: CpId,
    q_on: u64,
    q_off: u64,
    max_pause: Duration,
    paused: Holds,
    sent: u64,
}

impl Cp {
    /// The time in which a line of `rate` sends what the queue holds beyond `q_off`.
    fn pause(&self, len: u64, rate: BitRate) -> Duration {
        if rate == BitRate::ZERO {
            return self.max_pause;
        }
        let (time, rest) = rate.serialisation(len.saturating_sub(self.q_off));
        Duration(time.0 + u64::from(rest > 0)).min(self.max_pause)
    }
}

impl CongestionPoint<SourceFlowControl> for Cp {
    const VARS: &'static [Var] =
        &[Var { name: "pauses_sent_total", description: "pauses that the congestion point has sent since the start" }];

    fn new(config: &Config, place: Place) -> Self {
        Self {
            id: place.cp,
            q_on: config.q_on.0,
            q_off: config.q_off.0,
            max_pause: config.max_pause,
            paused: Holds::new(config.flow_table_size),
            sent: 0,
        }
    }

    fn configure(&mut self, config: &Config, place: Place) {
        let mut paused = core::mem::replace(&mut self.paused, Holds::new(0));
        paused.resize(config.flow_table_size);
        *self = Self { paused, sent: self.sent, ..Self::new(config, place) };
    }

    fn remembers_flows(_config: &Config) -> bool {
        false
    }

    #[inline]
    fn on_arrival(
        &mut self,
        now: Instant,
        frame: Frame<'_, ()>,
        _: Fate,
        queue: &Queue,
        _: &mut impl Draw,
        out: &mut impl Out<SourceFlowControl>,
    ) {
        if queue.len.0 <= self.q_on {
            return;
        }
        let time = self.pause(queue.len.0, queue.rate);
        if time > Duration::ZERO && self.paused.hold(now, frame.flow, now + time) {
            self.sent += 1;
            out.send(To::Source(frame.flow), Class::Control, Pause { cp: self.id, time });
        }
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[self.sent as i64]);
    }
}

/// The reaction point of source flow control.
#[derive(Debug, Clone)]
pub struct Rp {
    line: BitRate,
    /// The pause ends here; never while there is none.
    until: Instant,
}

impl ReactionPoint<SourceFlowControl> for Rp {
    fn new(_: &Config, line: BitRate) -> Self {
        Self { line, until: Instant::NEVER }
    }

    /// Pauses are the congestion point's.
    fn configure(&mut self, _: &Config, _: BitRate) {}

    /// A pause never shortens another one.
    fn on_signal(
        &mut self,
        now: Instant,
        _: FlowKey,
        signal: Pause,
        _: &mut impl Draw,
        _: &mut impl Out<SourceFlowControl>,
    ) {
        let until = now + signal.time;
        if until > now && (self.until == Instant::NEVER || until > self.until) {
            self.until = until;
        }
    }

    #[inline]
    fn on_send(&mut self, _: Instant, _: Release, _: &mut impl Draw, _: &mut impl Out<SourceFlowControl>) {}

    fn next_timeout(&self) -> Option<Instant> {
        self.limiting().then_some(self.until)
    }

    fn on_timeout(&mut self, now: Instant, _: &mut impl Draw, _: &mut impl Out<SourceFlowControl>) {
        if now >= self.until {
            self.until = Instant::NEVER;
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance { rate: if self.limiting() { BitRate::ZERO } else { self.line }, window: None }
    }

    fn limiting(&self) -> bool {
        self.until != Instant::NEVER
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::Value;
    use crate::testing::{Middle, Sent, at, config, frame_of};
    use crate::units::Octets;

    const ID: CpId = CpId(0xaa);

    fn cp(changes: &[(&str, Value)]) -> Cp {
        let place = Place { cp: ID, line: BitRate::from_gbps(10), capacity: Octets(150_000), phase: Duration::ZERO };
        Cp::new(&config::<SourceFlowControl>("", changes), place)
    }

    /// A frame of `flow` comes to a queue that is `len` long with it; the pause that is sent to its source, in ns.
    fn arrive(cp: &mut Cp, now: Instant, flow: u32, len: u64) -> Option<u64> {
        let (mut tag, mut sent) = ((), Sent::default());
        let frame = frame_of(FlowKey(flow), Instant::ZERO, &mut tag);
        let queue = Queue { len: Octets(len), rate: BitRate::from_gbps(10), ..Queue::default() };
        cp.on_arrival(now, frame, Fate::Queued, &queue, &mut Middle, &mut sent);
        let pause_ns = |(to, signal): &(To, Pause)| {
            assert_eq!((*to, signal.cp), (To::Source(FlowKey(flow)), ID));
            signal.time.0 / 1000
        };
        assert!(sent.0.len() < 2);
        sent.0.first().map(pause_ns)
    }

    /// 61 500 octets are 31 500 beyond `q_off`: 25.2 us at 10 Gb/s. At 60 000 octets there is no pause.
    #[test]
    fn the_pause_is_the_time_in_which_the_queue_falls() {
        let mut cp = cp(&[]);
        assert_eq!(arrive(&mut cp, at(1), 1, 60_000), None);
        assert_eq!(arrive(&mut cp, at(1), 1, 61_500), Some(25_200));
        assert_eq!(arrive(&mut cp, at(1), 2, 142_500), Some(90_000), "another flow, a longer queue");
    }

    /// Frames that were in flight when the source stopped do not stop it again.
    #[test]
    fn a_flow_is_paused_again_when_its_pause_has_ended() {
        let mut cp = cp(&[]);
        assert_eq!(arrive(&mut cp, at(10), 1, 61_500), Some(25_200));
        assert_eq!(arrive(&mut cp, at(20), 1, 90_000), None);
        assert_eq!(arrive(&mut cp, at(36), 1, 90_000), Some(48_000), "25.2 us later");
    }

    #[test]
    fn no_pause_is_longer_than_the_longest() {
        let mut cp = cp(&[("max_pause", us(20))]);
        assert_eq!(arrive(&mut cp, at(1), 1, 61_500), Some(20_000));
    }

    /// A full table forgets pauses that are over, and has no room before.
    #[test]
    fn a_full_table_pauses_no_further_flow() {
        let mut cp = cp(&[("flow_table_size", count(2))]);
        assert_eq!(arrive(&mut cp, at(1), 5, 61_500), Some(25_200));
        assert_eq!(arrive(&mut cp, at(2), 3, 61_500), Some(25_200));
        assert_eq!(arrive(&mut cp, at(3), 4, 61_500), None);
        assert_eq!(arrive(&mut cp, at(27), 4, 61_500), Some(25_200), "that of 5 ended at 26.2 us");
        assert_eq!(cp.paused.flows(), [3, 4]);
    }

    /// Sends `us` of pause to a source, and gives its rate and the end of its pause.
    fn tell(rp: &mut Rp, now: Instant, time: u64) -> (BitRate, Option<Instant>) {
        let signal = Pause { cp: ID, time: Duration::from_us(time) };
        rp.on_signal(now, FlowKey(7), signal, &mut Middle, &mut Sent::default());
        (rp.allowance().rate, rp.next_timeout())
    }

    #[test]
    fn a_source_stops_until_the_longest_pause_is_over() {
        let mut rp = Rp::new(&config::<SourceFlowControl>("", &[]), BitRate::from_gbps(10));
        assert_eq!((rp.allowance().rate, rp.limiting()), (BitRate::from_gbps(10), false));
        assert_eq!(tell(&mut rp, at(10), 25), (BitRate::ZERO, Some(at(35))));
        assert_eq!(tell(&mut rp, at(12), 10), (BitRate::ZERO, Some(at(35))), "a shorter one");
        assert_eq!(tell(&mut rp, at(12), 40), (BitRate::ZERO, Some(at(52))));
        rp.on_timeout(at(35), &mut Middle, &mut Sent::default());
        assert!(rp.limiting(), "too early");
        rp.on_timeout(at(52), &mut Middle, &mut Sent::default());
        assert_eq!((rp.allowance().rate, rp.next_timeout()), (BitRate::from_gbps(10), None));
    }

    #[test]
    fn a_table_that_becomes_smaller_keeps_the_pauses_that_end_last() {
        let place = Place { cp: ID, line: BitRate::from_gbps(10), capacity: Octets(150_000), phase: Duration::ZERO };
        let mut cp = cp(&[]);
        for (flow, us) in [(5, 3), (4, 1), (3, 2)] {
            assert_eq!(arrive(&mut cp, at(us), flow, 61_500), Some(25_200));
        }
        cp.configure(&config::<SourceFlowControl>("", &[("flow_table_size", count(2))]), place);
        assert_eq!(cp.paused.flows(), [3, 5]);
        assert_eq!(arrive(&mut cp, at(4), 5, 61_500), None, "it is still paused");
    }
}
