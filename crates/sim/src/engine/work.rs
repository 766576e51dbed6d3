//! Work: messages that begin because others have ended, and times at which it goes on.
//!
//! Messages that end are collected, and the work is called once for all of an instant, after every other event of it. So it does not
//! matter in which order frames arrive, and a slot is never looked for while a frame is being delivered.

use std::collections::BTreeMap;

use penstock_endpoint::transport::Sender;
use penstock_schemes::{Instant, Octets, Scheme};
use penstock_switch::Model;

use crate::engine::Sim;
use crate::engine::message_accounts::Opening;
use crate::network::{Begun, FlowId, Work};
use crate::probe::Probe;
use crate::state::event::Event;

/// The work of a run.
#[derive(Debug)]
pub(crate) struct Employed {
    pub(crate) work: Box<dyn Work>,
    /// The messages that have ended at this instant: process, and number in it.
    ended: Vec<(u32, u32)>,
    /// Those whose senders have been acknowledged at this instant.
    acknowledged: Vec<(u32, u32)>,
    /// The messages that begin at this instant. Empty between two events.
    begun: Vec<Begun>,
    /// The accounts of the messages under way, where the work wants them.
    openings: BTreeMap<(u32, u32), Opening>,
    /// When the frame was sent with which messages end now.
    last_sent_at: Instant,
    /// The earliest event that is scheduled for it.
    awaited: Option<Instant>,
}

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    /// The flows of processes [of work](crate::network::Process::of_work) come from `work`. To be called before the run begins, of a network that is
    /// not in parts.
    ///
    /// # Panics
    /// If the network is in parts.
    pub fn employ(&mut self, work: Box<dyn Work>) {
        assert!(self.part.is_none(), "work is for a network that is simulated as a whole");
        assert!(M::FULL || !work.wants_acknowledgements(), "the full engine alone reports acknowledgements to work");
        self.employed = Some(Box::new(Employed {
            work,
            ended: Vec::new(),
            acknowledged: Vec::new(),
            begun: Vec::new(),
            openings: BTreeMap::new(),
            last_sent_at: Instant::ZERO,
            awaited: None,
        }));
        self.await_work();
    }

    /// Schedules the next event of the work, unless it has one by then. To be called between two slices, too, if the work has something
    /// to do that it did not have before.
    pub fn await_work(&mut self) {
        let now = self.state.fabric.now;
        let Some(employed) = &mut self.employed else { return };
        let reports = !employed.ended.is_empty() || !employed.acknowledged.is_empty();
        let next = if reports { Some(now) } else { employed.work.next_wake() };
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
        self.report_message(number);
        true
    }

    /// Messages end with a frame that was sent at `sent_at`.
    pub(crate) fn note_last_frame(&mut self, sent_at: Instant) {
        if let Some(employed) = &mut self.employed {
            employed.last_sent_at = sent_at;
        }
    }

    /// A message has ended: `number` is its process, and its number in it.
    pub(crate) fn report_message(&mut self, number: (u32, u32)) {
        let employed = self.employed.as_mut();
        let opening = employed.and_then(|own| Some((own.openings.remove(&number)?, own.last_sent_at)));
        let account = opening.map(|(opening, sent_at)| self.close_account(&opening, sent_at));
        if let Some(employed) = &mut self.employed {
            if let Some(account) = account {
                employed.work.account(number.0, number.1, account);
            }
            employed.ended.push(number);
        }
        self.await_work();
    }

    /// The sender of a flow is to report when a message of it is acknowledged, if it has a transport.
    fn await_acknowledgement(&mut self, flow: FlowId, number: (u32, u32), size: Octets) {
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
        let now = self.state.fabric.now;
        let Some(mut employed) = self.employed.take() else { return };
        if employed.awaited.is_some_and(|at| at <= now) {
            employed.awaited = None;
        }
        let Employed { work, ended, acknowledged, begun, openings, .. } = &mut *employed;
        let (accounts, acknowledgements) = (work.wants_accounts(), work.wants_acknowledgements());
        acknowledged.sort_unstable();
        acknowledged.drain(..).for_each(|(process, number)| work.acknowledged(process, number));
        ended.sort_unstable();
        ended.drain(..).for_each(|(process, number)| work.ended(process, number, now, begun));
        if work.next_wake().is_some_and(|at| at <= now) {
            work.wake(now, begun);
        }
        self.charge(begun.len() as u64);
        for begun in begun.drain(..) {
            let (number, size, flow) = match begun {
                Begun::Flow(arrival) => ((arrival.process, arrival.number), arrival.size, self.admit(&arrival)),
                Begun::Message(message) => ((message.process, message.number), message.size, self.post(&message)),
            };
            if acknowledgements {
                self.await_acknowledgement(flow, number, size);
            }
            if accounts {
                openings.insert(number, self.open_account(flow));
            }
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
}
