//! Work: messages that begin because others have ended, and times at which it goes on.
//!
//! Messages that end are collected, and the work is called once for all of an instant, after every other event of it. So it does not
//! matter in which order frames arrive, and a slot is never looked for while a frame is being delivered.
//!
//! The sender of a message hears of its end when an acknowledgement could be there: after the delays of the lines between. So in a
//! network in parts the news has the time to go from the part of the receiver to that of the sender. Each part has the work of its
//! hosts. Parts tell one another of messages that begin by letters, when they exchange frames.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use penstock_endpoint::transport::Sender;
use penstock_schemes::{Duration, Instant, Octets, Scheme};
use penstock_switch::Model;

use crate::engine::Sim;
use crate::engine::message_accounts::{MessageNumber, Share};
use crate::network::{Begun, FlowId, HopId, Work};
use crate::probe::Probe;
use crate::state::event::Event;

/// The work of a run, or of a part of the network.
#[derive(Debug)]
pub(crate) struct Employed {
    pub(crate) work: Box<dyn Work>,
    /// The messages that have ended at this instant.
    ended: Vec<MessageNumber>,
    /// When senders hear of the ends of messages.
    notices: BinaryHeap<Reverse<(Instant, MessageNumber)>>,
    /// Those whose senders have been acknowledged at this instant.
    acknowledged: Vec<MessageNumber>,
    /// The messages that begin at this instant. Empty between two events.
    begun: Vec<Begun>,
    /// When the frame was sent with which messages end now.
    last_sent_at: Instant,
    /// The earliest event that is scheduled for it.
    awaited: Option<Instant>,
    /// For other parts, or for one of them.
    letters: Vec<(Option<usize>, Letter)>,
}

/// What one part tells another. It is there before the other can feel anything of it.
#[derive(Debug, Clone)]
pub(crate) enum Letter {
    /// A message has begun in a part.
    Begun { at: Instant, part: usize, begun: Begun },
    /// The sender of a message hears of its end at that time.
    Notice(Instant, MessageNumber),
    /// A message has ended, whose last frame was on its path for that time.
    Ended(Instant, MessageNumber, Duration),
    /// A share of a message's account, for the part of its sender.
    Share(MessageNumber, Share),
}

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    /// The flows of processes [of work](crate::network::Process::of_work) come from `work`. To be called before the run begins. In
    /// a network in parts each part has the work of the hosts there.
    ///
    /// # Panics
    /// If the work wants acknowledgements, and the engine does not report them.
    pub fn employ(&mut self, work: Box<dyn Work>) {
        assert!(M::FULL || !work.wants_acknowledgements(), "the full engine alone reports acknowledgements to work");
        self.dynamic_flows.accounts.wanted = work.wants_accounts();
        self.employed = Some(Box::new(Employed {
            work,
            ended: Vec::new(),
            notices: BinaryHeap::new(),
            acknowledged: Vec::new(),
            begun: Vec::new(),
            last_sent_at: Instant::ZERO,
            awaited: None,
            letters: Vec::new(),
        }));
        self.await_work();
    }

    /// Schedules the next event of the work, unless it has one by then. To be called between two slices, too, if the work has something
    /// to do that it did not have before.
    pub fn await_work(&mut self) {
        let now = self.state.fabric.now;
        let Some(employed) = &mut self.employed else { return };
        let reports = !employed.ended.is_empty() || !employed.acknowledged.is_empty();
        let notice = employed.notices.peek().map(|&Reverse((at, _))| at);
        let visit = self.dynamic_flows.accounts.next_visit();
        let next =
            if reports { Some(now) } else { [employed.work.next_wake(), notice, visit].into_iter().flatten().min() };
        if let Some(at) = next.filter(|&at| employed.awaited.is_none_or(|awaited| at < awaited)) {
            employed.awaited = Some(at);
            self.state.fabric.events.schedule(at.max(now), Event::Work);
        }
    }

    /// A flow of a process has ended: whether it is one of the work.
    #[cold]
    pub(crate) fn report_to_work(&mut self, flow: FlowId) -> bool {
        if self.employed.is_none() {
            return false;
        }
        // The messages of a flow that stays are reported one by one.
        if self.dynamic_flows.conversation(flow).is_some() {
            return true;
        }
        let Some(number) = self.dynamic_flows.number_in_work(flow) else { return false };
        self.report_message(flow, number);
        true
    }

    /// Messages end with a frame that was sent at `sent_at`.
    pub(crate) fn note_last_frame(&mut self, sent_at: Instant) {
        if let Some(employed) = &mut self.employed {
            employed.last_sent_at = sent_at;
        }
    }

    /// A message of a flow has ended.
    pub(crate) fn report_message(&mut self, flow: FlowId, number: MessageNumber) {
        let now = self.state.fabric.now;
        let heard_at = now + self.way_back(flow);
        let sender = self.part_of_source(flow);
        let Some(employed) = &mut self.employed else { return };
        employed.ended.push(number);
        let last = now.since(employed.last_sent_at);
        if employed.work.wants_notice(number.0, number.1) {
            match sender {
                Some(part) => employed.letters.push((Some(part), Letter::Notice(heard_at, number))),
                None => employed.notices.push(Reverse((heard_at, number))),
            }
        }
        if self.dynamic_flows.accounts.wanted {
            if self.part.is_some() {
                employed.letters.push((None, Letter::Ended(now, number, last)));
            }
            self.end_account(number, now, last);
        }
        self.await_work();
    }

    /// The delays of the lines from the destination of a flow to its source, along its first path.
    fn way_back(&self, flow: FlowId) -> Duration {
        let mut delay = Duration::ZERO;
        let mut hop = Some(self.dynamic_flows.root(flow));
        while let Some(HopId(index)) = hop {
            let on_path = &self.hops[index as usize];
            delay = delay + self.state.fabric.port(on_path.port).latency;
            hop = (on_path.children > 0).then_some(on_path.first_child);
        }
        delay
    }

    /// The part of the source of a flow of a process, if it is another one.
    pub(crate) fn part_of_source(&self, flow: FlowId) -> Option<usize> {
        let part = self.part.as_ref()?;
        let source = part.partition.of_port(self.hops[self.dynamic_flows.root(flow).index()].port);
        (source != part.own).then_some(source)
    }

    /// The sender of a flow is to report when a message of it is acknowledged, if it has a transport.
    fn await_acknowledgement(&mut self, flow: FlowId, number: MessageNumber, size: Octets) {
        if let Some(connection) = &mut self.state.sources.flow_mut(flow).supply_mut().connection {
            connection.unacknowledged.get_or_insert_default().push(number, size);
        }
    }

    /// Messages of a flow are acknowledged up to an octet.
    #[cold]
    pub(crate) fn report_acknowledgements(&mut self, flow: FlowId) {
        let Some(connection) = &mut self.state.sources.flow_mut(flow).supply_mut().connection else { return };
        let to = connection.sender.acknowledged();
        let (Some(waiting), Some(employed)) = (&mut connection.unacknowledged, &mut self.employed) else { return };
        let before = employed.acknowledged.len();
        employed.acknowledged.extend(std::iter::from_fn(|| waiting.pop(to)));
        if employed.acknowledged.len() > before {
            self.await_work();
        }
    }

    /// The work goes on. An event that another one has overtaken finds nothing to do.
    #[cold]
    pub(crate) fn work_on(&mut self) {
        // How many there are depends on the parts.
        self.housekeeping += 1;
        let now = self.state.fabric.now;
        self.visit_stations();
        let Some(mut employed) = self.employed.take() else { return };
        if employed.awaited.is_some_and(|at| at <= now) {
            employed.awaited = None;
        }
        let Employed { work, ended, notices, acknowledged, begun, .. } = &mut *employed;
        let acknowledgements = work.wants_acknowledgements();
        acknowledged.sort_unstable();
        acknowledged.drain(..).for_each(|(process, number)| work.acknowledged(process, number));
        ended.sort_unstable();
        ended.drain(..).for_each(|(process, number)| work.ended(process, number, now, begun));
        while let Some(&Reverse((at, (process, number)))) = notices.peek()
            && at <= now
        {
            notices.pop();
            work.heard(process, number, now, begun);
        }
        if work.next_wake().is_some_and(|at| at <= now) {
            work.wake(now, begun);
        }
        self.charge(begun.len() as u64);
        for begun in employed.begun.drain(..) {
            if let Some(part) = &self.part {
                let letter = Letter::Begun { at: now, part: part.own, begun: begun.clone() };
                employed.letters.push((None, letter));
            }
            let number = begun.message();
            let (size, flow) = match begun {
                Begun::Flow(arrival) => (arrival.size, self.admit_work(&arrival)),
                Begun::Message(message) => (message.size, self.post(&message)),
            };
            if acknowledgements {
                self.await_acknowledgement(flow, number, size);
            }
            self.open_account(flow, number, now);
        }
        let pauses = employed.work.pauses();
        self.employed = Some(employed);
        self.await_work();
        self.end_if_complete();
        if pauses {
            // No work is left for this slice.
            self.charge(u64::MAX);
        }
    }

    /// What this part has to tell: all others, or one of them.
    pub(crate) fn take_letters(&mut self) -> Vec<(Option<usize>, Letter)> {
        let Some(employed) = &mut self.employed else { return Vec::new() };
        let mut letters = std::mem::take(&mut employed.letters);
        // The end of a message comes before what its queues add.
        let shares = self.dynamic_flows.accounts.shares.drain(..);
        letters.extend(shares.map(|(part, number, share)| (Some(part), Letter::Share(number, share))));
        letters
    }

    /// Reads what another part has written.
    pub(crate) fn read_letter(&mut self, letter: Letter) {
        match letter {
            Letter::Begun { at, part, begun } => {
                let number = begun.message();
                let flow = match &begun {
                    Begun::Flow(arrival) => self.admit_elsewhere(arrival, part),
                    Begun::Message(message) => self.expect_from_elsewhere(message),
                };
                if self.has_destination(flow)
                    && let Some(employed) = &mut self.employed
                {
                    employed.work.begins_elsewhere(&begun, at);
                }
                self.open_account(flow, number, at);
            }
            Letter::Notice(at, number) => {
                if let Some(employed) = &mut self.employed {
                    employed.notices.push(Reverse((at, number)));
                }
            }
            Letter::Ended(at, number, last) => self.end_account(number, at, last),
            Letter::Share(number, share) => self.add_share(number, &share),
        }
        self.await_work();
    }
}
