//! Congestion isolation (802.1Qcz): flows that congest a queue move to a separate queue, at this switch and at the previous hops.
//!
//! ```text
//!   previous hop                            congested port
//!   isolates the flow too  <--- CIM ---     monitored queue:  frame of f comes, picked with p(q):  f is isolated
//!                                           frames of f from here on ----> congesting queue
//!   its congesting queue   <--- PFC ---     congesting queue alone
//!   stops, no other
//! ```
//!
//! The congesting queue has a lower priority than the monitored one, so that the frames of a flow that wait there already go first:
//! no frame overtakes another one of its flow. A flow goes back when the monitored queue is short again and the congesting queue is
//! empty, which then holds none of its frames.
//!
//! A source that gets the message isolates the flow as well: the pause of the congesting priority then stops that flow, and no other
//! one of its priority.
//!
//! The standard's managed objects fix names, ranges and defaults. They leave open how the monitored queue picks flows; here it
//! does so as RED marks frames, with a probability that rises with the length.
//!
//! Sources: IEEE Std 802.1Qcz-2023, its YANG module ieee802-dot1q-congestion-isolation.

use alloc::vec::Vec;

use crate::info::values::{count, octets, us};
use crate::info::{Action, Forms, Info, Threshold, parameters};
use crate::none::Silent;
use crate::parts::marking::Ramp;
use crate::units::{BitRate, Duration, FlowKey, Instant};
use crate::{
    Allowance, Class, CongestionPoint, Draw, Fate, Frame, Message, Out, Place, PortView, Queue, ReactionPoint, Release,
    Scheme, Signal, To, Var, Verdict,
};

/// Congestion isolation.
#[derive(Debug, Clone, Copy)]
pub struct CongestionIsolation;

parameters! {
    /// Congestion isolation, but for the choice of flows.
    pub struct Isolation {
        /// Priority of the congesting queue, below that of the flows.
        congesting_priority: u32 {
            default: count(0),
            range: count(0)..=count(6),
            source: "option; 802.1Qcz, queue-map",
        }
        /// A congestion isolation message on a flow is sent at most so often while its entry lasts.
        max_cim_tx: u32 {
            default: count(3),
            range: count(0)..=count(255),
            source: "802.1Qcz, max-cim-tx",
        }
        /// Least time between two messages on a flow.
        cim_interval: Duration {
            default: us(50),
            range: us(1)..=us(1_000_000),
            source: "option",
        }
        /// Life of an entry that a message has made, after the congesting queue is no longer congested.
        max_flow_life: Duration {
            default: us(1_000_000),
            range: us(1)..=us(100_000_000),
            source: "802.1Qcz, ci-max-flow-life: 100 cs",
        }
        /// Octets of the frame that a message carries, headers first.
        min_header_octets: u32 {
            default: count(48),
            range: count(0)..=count(160),
            source: "802.1Qcz, min-header-octets",
        }
        /// Size of the flow table of a queue; flows beyond it are not isolated.
        stream_table_size: u32 {
            default: count(512),
            range: count(1)..=count(65_536),
            source: "option; the standard sets no limit",
        }
    }
}

parameters! {
    /// The parameters of congestion isolation.
    pub struct Config {
        ..isolation: Isolation;
        /// Length of the monitored queue up to which no flow is picked.
        k_min: Threshold {
            default: octets(20_000),
            range: octets(0)..=octets(2_147_483_647),
            source: "option; the standard leaves the AQM open",
        }
        /// Length above which the flow of every frame that comes is picked; in between the probability rises linearly.
        k_max: Threshold {
            default: octets(80_000),
            range: octets(100)..=octets(2_147_483_647),
            at_least: k_min,
            source: "option; the standard leaves the AQM open",
        }
    }
}

impl Scheme for CongestionIsolation {
    const INFO: Info = Info {
        name: "ci",
        title: "Congestion isolation (802.1Qcz)",
        source: "IEEE Std 802.1Qcz-2023, YANG module ieee802-dot1q-congestion-isolation",
        description: "Flows that congest a queue are moved to a separate queue, and the previous hop is asked to do the same; \
                      priority flow control stops that queue alone.",
        parameters: Config::PARAMETERS,
        profiles: &[],
        set_point: None,
        signals: None,
        actions: &[Action::Moves, Action::NeighbourMessages],
        tuned: &[&["k_min"], &["k_max"], &["cim_interval"]],
        recovers_alone: true,
        raises_on_signal: false,
        integer_state: true,
        needs_order: true,
        forms: Forms { capture: true, testbed: false, fluid: None, cores: &[] },
    };
    type Config = Config;
    type Tag = ();
    type Echo = crate::Never;
    type Signal = Cim;
    type Cp = Cp;
    type Np = Silent;
    type Rp = Rp;

    fn moves_to(config: &Config) -> Option<u8> {
        u8::try_from(config.isolation.congesting_priority).ok()
    }
}

/// A congestion isolation message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cim {
    octets: u16,
    carried: u16,
    /// Messages on the flow before this one.
    count: u16,
}

impl Cim {
    /// Addresses 12, tag 4, type 2, version, stream entry and length 20, FCS 4: the layout of `penstock-wire`, since the standard's
    /// is not at hand.
    const HEADERS: u16 = 42;

    /// The first message on a flow. It carries the first `carried` octets of the flow's frame.
    fn new(carried: u32) -> Self {
        let carried = carried as u16;
        Self { octets: (Self::HEADERS + carried).max(64), carried, count: 0 }
    }
}

impl Signal for Cim {
    fn octets(&self) -> u16 {
        self.octets
    }

    fn message(&self) -> Option<Message> {
        Some(Message::Cim { count: self.count, carried: self.carried })
    }
}

/// The entry of a flow in the stream table.
#[derive(Debug, Clone, Copy)]
struct Stream {
    flow: FlowKey,
    isolated: bool,
    /// A message has made it, and not this queue: `create-mask`.
    by_cim: bool,
    /// Messages sent: `cim-count`.
    cims: u32,
    /// The next message may go from here on.
    next_cim: Instant,
    /// A message is to go now.
    due: bool,
    /// When the congesting queue was congested last, or the entry made.
    congested: Instant,
}

/// The congestion point of a monitored queue; that of the congesting queue does nothing.
#[derive(Debug, Clone)]
pub struct Cp {
    congesting: u8,
    /// The queue is a monitored one.
    monitors: bool,
    ramp: Ramp,
    most_cims: u32,
    interval: Duration,
    life: Duration,
    cim: Cim,
    /// In the order of keys.
    streams: Vec<Stream>,
    most_streams: usize,
    /// A message is due here.
    due: Instant,
    sent: u64,
}

impl Cp {
    fn index_of(&self, flow: FlowKey) -> Result<usize, usize> {
        self.streams.binary_search_by_key(&flow, |stream| stream.flow)
    }

    /// Whether `flow` is isolated here.
    pub(crate) fn isolates(&self, flow: FlowKey) -> bool {
        self.index_of(flow).is_ok_and(|index| self.streams[index].isolated)
    }

    /// The index of the entry of `flow`, which is added if it is missing; `None` if the table is full.
    fn entry(&mut self, now: Instant, flow: FlowKey) -> Option<usize> {
        if let Ok(index) = self.index_of(flow) {
            return Some(index);
        }
        if self.streams.len() == self.most_streams {
            let life = self.life;
            self.streams.retain(|stream| stream.isolated || now.since(stream.congested) < life);
        }
        if self.streams.len() == self.most_streams {
            return None;
        }
        let index = self.streams.partition_point(|stream| stream.flow < flow);
        let stream =
            Stream { flow, isolated: false, by_cim: false, cims: 0, next_cim: now, due: false, congested: now };
        self.streams.insert(index, stream);
        Some(index)
    }

    /// Isolates a flow from its next frame on. An entry that has expired starts to count its messages from zero again.
    fn isolate(&mut self, now: Instant, flow: FlowKey, by_cim: bool) -> Option<usize> {
        let life = self.life;
        let index = self.entry(now, flow)?;
        let stream = &mut self.streams[index];
        if !stream.isolated {
            if now.since(stream.congested) >= life {
                stream.cims = 0;
            }
            (stream.isolated, stream.by_cim, stream.congested) = (true, by_cim, now);
        }
        Some(index)
    }

    /// Sends a message on the stream at `index`, unless it has had all of its messages, or one just now.
    fn tell(&mut self, now: Instant, index: usize, out: &mut impl Out<CongestionIsolation>) {
        let (most, interval) = (self.most_cims, self.interval);
        let stream = &mut self.streams[index];
        if stream.cims < most && now >= stream.next_cim {
            let cim = Cim { count: stream.cims.min(u32::from(u16::MAX)) as u16, ..self.cim };
            stream.cims += 1;
            stream.next_cim = now + interval;
            self.sent += 1;
            out.send(To::PreviousHop(stream.flow), Class::Control, cim);
        }
    }
}

impl CongestionPoint<CongestionIsolation> for Cp {
    const VARS: &'static [Var] = &[
        Var { name: "isolated_flows", description: "flows that wait in the congesting queue" },
        Var { name: "cims_sent_total", description: "congestion isolation messages sent since the start" },
    ];

    const ADMITS: bool = true;

    fn new(config: &Config, place: Place) -> Self {
        let Config { isolation, k_min, k_max } = config;
        let congesting = isolation.congesting_priority as u8;
        Self {
            congesting,
            monitors: place.cp.priority() > congesting,
            ramp: Ramp { k_min: k_min.0, k_max: k_max.0, p_max: 1 << 32 },
            most_cims: isolation.max_cim_tx,
            interval: isolation.cim_interval,
            life: isolation.max_flow_life,
            cim: Cim::new(isolation.min_header_octets),
            streams: Vec::with_capacity(isolation.stream_table_size as usize),
            most_streams: isolation.stream_table_size as usize,
            due: Instant::NEVER,
            sent: 0,
        }
    }

    /// Of streams for which the table has no room those go first that are not isolated: no frame of theirs waits in the congesting
    /// queue.
    fn configure(&mut self, config: &Config, place: Place) {
        let (due, sent) = (self.due, self.sent);
        let mut streams = core::mem::take(&mut self.streams);
        let mut fresh = Self::new(config, place);
        let mut excess = streams.len().saturating_sub(fresh.most_streams);
        streams.retain(|stream| {
            let goes = excess > 0 && !stream.isolated;
            excess -= usize::from(goes);
            !goes
        });
        streams.truncate(fresh.most_streams);
        fresh.streams.append(&mut streams);
        *self = Self { due, sent, ..fresh };
    }

    #[inline]
    fn admit(
        &mut self,
        now: Instant,
        frame: Frame<'_, ()>,
        _: bool,
        queue: &Queue,
        port: &impl PortView,
        _: &mut impl Draw,
    ) -> Verdict {
        if self.streams.is_empty() {
            return Verdict::Accept;
        }
        let (Ok(index), Some(congesting)) = (self.index_of(frame.flow), port.queue(self.congesting)) else {
            return Verdict::Accept;
        };
        let (most, life, k_min) = (self.most_cims, self.life, self.ramp.k_min);
        let stream = &mut self.streams[index];
        if !stream.isolated {
            return Verdict::Accept;
        }
        if congesting.len.0 > k_min {
            stream.congested = now;
            if stream.cims < most && now >= stream.next_cim {
                stream.due = true;
                self.due = now + Duration(1);
            }
        }
        let over = !stream.by_cim || now.since(stream.congested) >= life;
        let drained = congesting.frames == 0 && congesting.len.0 == 0;
        if over && drained && queue.len.0 <= k_min {
            stream.isolated = false;
            return Verdict::Accept;
        }
        Verdict::Move(self.congesting)
    }

    #[inline]
    fn on_arrival(
        &mut self,
        now: Instant,
        frame: Frame<'_, ()>,
        _: Fate,
        queue: &Queue,
        draw: &mut impl Draw,
        out: &mut impl Out<CongestionIsolation>,
    ) {
        if self.monitors
            && self.ramp.marks(queue.len.0, draw)
            && let Some(index) = self.isolate(now, frame.flow, false)
        {
            self.tell(now, index, out);
        }
    }

    fn on_signal(
        &mut self,
        now: Instant,
        flow: FlowKey,
        _: Cim,
        _: &Queue,
        _: &mut impl Draw,
        _: &mut impl Out<CongestionIsolation>,
    ) {
        if self.monitors {
            self.isolate(now, flow, true);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        (self.due != Instant::NEVER).then_some(self.due)
    }

    fn on_timeout(&mut self, now: Instant, _: &Queue, _: &mut impl Draw, out: &mut impl Out<CongestionIsolation>) {
        if now < self.due {
            return;
        }
        self.due = Instant::NEVER;
        for index in 0..self.streams.len() {
            if core::mem::take(&mut self.streams[index].due) {
                self.tell(now, index, out);
            }
        }
    }

    fn vars(&self, row: &mut [i64]) {
        let isolated = self.streams.iter().filter(|stream| stream.isolated).count();
        row.copy_from_slice(&[isolated as i64, self.sent as i64]);
    }
}

/// The most flows that a source isolates.
const MOST_AT_SOURCE: usize = 64;

/// A source: sends at the rate of its line, and isolates the flows on which it gets messages.
#[derive(Debug, Clone)]
pub struct Rp {
    line: BitRate,
    congesting: u8,
    /// In the order of keys.
    isolated: Vec<FlowKey>,
}

impl ReactionPoint<CongestionIsolation> for Rp {
    fn new(config: &Config, line: BitRate) -> Self {
        Self {
            line,
            congesting: config.isolation.congesting_priority as u8,
            isolated: Vec::with_capacity(MOST_AT_SOURCE),
        }
    }

    fn configure(&mut self, config: &Config, _: BitRate) {
        self.congesting = config.isolation.congesting_priority as u8;
    }

    fn on_stop(&mut self, _: Instant, flow: FlowKey) {
        self.isolated.retain(|&other| other != flow);
    }

    fn on_signal(
        &mut self,
        _: Instant,
        flow: FlowKey,
        _: Cim,
        _: &mut impl Draw,
        _: &mut impl Out<CongestionIsolation>,
    ) {
        if let Err(index) = self.isolated.binary_search(&flow)
            && self.isolated.len() < MOST_AT_SOURCE
        {
            self.isolated.insert(index, flow);
        }
    }

    fn stopped_by(&self, flow: FlowKey) -> Option<u8> {
        self.isolated.binary_search(&flow).is_ok().then_some(self.congesting)
    }

    #[inline]
    fn on_send(&mut self, _: Instant, frame: Release, _: &mut impl Draw, _: &mut impl Out<CongestionIsolation>) {
        if frame.last {
            self.isolated.retain(|&other| other != frame.flow);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        None
    }

    fn on_timeout(&mut self, _: Instant, _: &mut impl Draw, _: &mut impl Out<CongestionIsolation>) {}

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance { rate: self.line, window: None }
    }

    fn limiting(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::Value;
    use crate::testing::{Middle, Sent, at, config, frame_of};
    use crate::units::{CpId, Octets};

    const FLOW: FlowKey = FlowKey(7);

    /// The congestion point of priority 3, whose congesting queue has priority 0.
    fn cp(changes: &[(&str, Value)]) -> Cp {
        let id = CpId::new(0xaa, 1, 3);
        let place = Place { cp: id, line: BitRate::from_gbps(10), capacity: Octets(150_000), phase: Duration::ZERO };
        Cp::new(&config::<CongestionIsolation>("", changes), place)
    }

    /// The congesting queue of a port.
    struct Congesting(u64);

    impl PortView for Congesting {
        fn queue(&self, priority: u8) -> Option<Queue> {
            let queue = Queue { len: Octets(self.0), frames: (self.0 / 1500) as u32, ..Queue::default() };
            (priority == 0).then_some(queue)
        }
    }

    /// A frame of [`FLOW`] arrives when the monitored and the congesting queue hold `monitored` and `congesting` octets.
    fn comes(cp: &mut Cp, us: u64, monitored: u64, congesting: u64) -> Verdict {
        let mut tag = ();
        let queue = Queue { len: Octets(monitored), ..Queue::default() };
        let frame = frame_of(FLOW, Instant::ZERO, &mut tag);
        cp.admit(at(us), frame, true, &queue, &Congesting(congesting), &mut Middle)
    }

    /// The same with an empty monitored queue.
    fn admit(cp: &mut Cp, us: u64, congesting: u64) -> Verdict {
        comes(cp, us, 0, congesting)
    }

    /// The same frame joins the monitored queue, which is `len` long with it; the number of messages.
    fn join(cp: &mut Cp, us: u64, len: u64) -> usize {
        let (mut tag, mut sent) = ((), Sent::default());
        let queue = Queue { len: Octets(len), ..Queue::default() };
        let frame = frame_of(FLOW, Instant::ZERO, &mut tag);
        cp.on_arrival(at(us), frame, Fate::Queued, &queue, &mut Middle, &mut sent);
        assert!(sent.0.iter().all(|&(to, cim)| to == To::PreviousHop(FLOW) && cim.octets() == 90));
        sent.0.len()
    }

    /// Lets the timer run out; the number of messages.
    fn fire(cp: &mut Cp) -> usize {
        let Some(now) = cp.next_timeout() else { return 0 };
        let mut sent = Sent::default();
        cp.on_timeout(now, &Queue::default(), &mut Middle, &mut sent);
        sent.0.len()
    }

    /// With a word in the middle of its range: half-way between the thresholds, at 50 000 octets.
    #[test]
    fn the_flow_of_a_frame_that_is_picked_is_isolated_from_its_next_frame_on() {
        let mut cp = cp(&[]);
        assert_eq!((admit(&mut cp, 1, 0), join(&mut cp, 1, 49_000)), (Verdict::Accept, 0));
        assert_eq!((admit(&mut cp, 2, 0), join(&mut cp, 2, 51_000)), (Verdict::Accept, 1));
        assert_eq!(admit(&mut cp, 3, 1_500), Verdict::Move(0));
    }

    /// The congesting queue is empty at first, and when none of the flow's frames is left there.
    #[test]
    fn a_flow_goes_back_when_both_queues_are_short() {
        let mut cp = cp(&[]);
        join(&mut cp, 1, 100_000);
        assert_eq!(comes(&mut cp, 2, 100_000, 0), Verdict::Move(0));
        assert_eq!(comes(&mut cp, 3, 20_000, 1_500), Verdict::Move(0));
        assert_eq!(comes(&mut cp, 4, 20_001, 0), Verdict::Move(0));
        assert_eq!(comes(&mut cp, 5, 20_000, 0), Verdict::Accept);
        assert_eq!(comes(&mut cp, 6, 100_000, 0), Verdict::Accept, "it is picked again or not");
    }

    /// 50 us apart, while the congesting queue is congested, also over several times of isolation.
    #[test]
    fn a_flow_has_three_messages_at_most_in_the_life_of_its_entry() {
        let mut cp = cp(&[]);
        assert_eq!(join(&mut cp, 1, 100_000), 1);
        admit(&mut cp, 40, 30_000);
        assert_eq!(fire(&mut cp), 0, "too soon");
        admit(&mut cp, 60, 10_000);
        assert_eq!(fire(&mut cp), 0, "not congested");
        admit(&mut cp, 60, 30_000);
        assert_eq!(fire(&mut cp), 1);
        assert_eq!(admit(&mut cp, 200, 0), Verdict::Accept);
        assert_eq!(join(&mut cp, 201, 100_000), 1);
        for us in [300, 400, 500] {
            admit(&mut cp, us, 30_000);
            assert_eq!(fire(&mut cp), 0, "three have gone");
        }
        assert_eq!(admit(&mut cp, 600, 0), Verdict::Accept);
        assert_eq!(join(&mut cp, 1_000_600, 100_000), 1, "1 s after it was congested last the entry is a new one");
    }

    /// 50 us apart; the fourth does not go.
    #[test]
    fn a_message_says_how_many_have_gone_before_it() {
        let (mut cp, mut sent) = (cp(&[]), Sent::default());
        let index = cp.isolate(at(1), FLOW, false).unwrap();
        for us in [1, 60, 120, 180] {
            cp.tell(at(us), index, &mut sent);
        }
        let messages: Vec<_> = sent.0.iter().map(|(_, cim)| cim.message()).collect();
        assert_eq!(messages, [0, 1, 2].map(|count| Some(Message::Cim { count, carried: 48 })));
    }

    /// A hop before the congested one: it isolates the flow for 1 s after its own congesting queue is short, and tells the hop before it
    /// when it is not.
    #[test]
    fn a_message_isolates_for_its_life() {
        let mut cp = cp(&[]);
        let cim = Cim::new(48);
        cp.on_signal(at(10), FLOW, cim, &Queue::default(), &mut Middle, &mut Sent::default());
        assert_eq!(admit(&mut cp, 11, 0), Verdict::Move(0));
        assert_eq!((admit(&mut cp, 12, 20_000), fire(&mut cp)), (Verdict::Move(0), 0));
        assert_eq!((admit(&mut cp, 20, 21_500), fire(&mut cp)), (Verdict::Move(0), 1));
        assert_eq!(admit(&mut cp, 1_000_019, 0), Verdict::Move(0));
        assert_eq!(admit(&mut cp, 1_000_020, 0), Verdict::Accept);
    }

    /// At priorities that are not above the congesting queue's, order could not be kept.
    #[test]
    fn the_congesting_queue_is_not_monitored() {
        let mut cp = cp(&[("congesting_priority", count(3))]);
        assert_eq!(join(&mut cp, 1, 100_000), 0);
        assert_eq!(admit(&mut cp, 2, 1_500), Verdict::Accept);
    }

    #[test]
    fn a_full_table_isolates_no_further_flow() {
        let mut cp = cp(&[("stream_table_size", count(1))]);
        cp.on_signal(at(1), FlowKey(3), Cim::new(48), &Queue::default(), &mut Middle, &mut Sent::default());
        assert_eq!(join(&mut cp, 2, 100_000), 0);
        assert_eq!(admit(&mut cp, 3, 0), Verdict::Accept);
    }

    #[test]
    fn a_source_isolates_the_flow_of_the_message_until_it_ends() {
        let mut rp = Rp::new(&config::<CongestionIsolation>("", &[]), BitRate::from_gbps(10));
        assert_eq!(rp.stopped_by(FLOW), None);
        rp.on_signal(at(1), FLOW, Cim::new(48), &mut Middle, &mut Sent::default());
        assert_eq!((rp.stopped_by(FLOW), rp.stopped_by(FlowKey(8))), (Some(0), None));
        assert_eq!(rp.allowance().rate, BitRate::from_gbps(10));
        rp.on_stop(at(2), FLOW);
        assert_eq!(rp.stopped_by(FLOW), None);
    }

    /// Of two streams one is isolated; the other one was, and counts its messages.
    #[test]
    fn a_table_that_becomes_smaller_keeps_isolated_streams() {
        let id = CpId::new(0xaa, 1, 3);
        let place = Place { cp: id, line: BitRate::from_gbps(10), capacity: Octets(150_000), phase: Duration::ZERO };
        let mut cp = cp(&[]);
        cp.isolate(at(1), FlowKey(6), false);
        cp.streams[0].isolated = false;
        assert_eq!(join(&mut cp, 2, 100_000), 1);
        cp.configure(
            &config::<CongestionIsolation>("", &[("stream_table_size", count(1)), ("k_min", octets(0))]),
            place,
        );
        assert_eq!(cp.streams.iter().map(|stream| (stream.flow, stream.isolated)).collect::<Vec<_>>(), [(FLOW, true)]);
        assert_eq!(cp.sent, 1);
    }
}
