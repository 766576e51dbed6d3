//! Work: messages that begin because others have ended, and times at which it goes on.
//!
//! Messages that end are collected, and the work is called once for all of an instant, after every other event of it. So it does not
//! matter in which order frames arrive, and a slot is never looked for while a frame is being delivered.

use std::collections::BTreeMap;

use penstock_schemes::{Instant, Scheme};
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
        let (ended, begun, openings) = (Vec::new(), Vec::new(), BTreeMap::new());
        self.employed =
            Some(Box::new(Employed { work, ended, begun, openings, last_sent_at: Instant::ZERO, awaited: None }));
        self.await_work();
    }

    /// Schedules the next event of the work, unless it has one by then.
    fn await_work(&mut self) {
        let now = self.state.fabric.now;
        let Some(employed) = &mut self.employed else { return };
        let next = if employed.ended.is_empty() { employed.work.next_wake() } else { Some(now) };
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

    /// The work goes on. An event that another one has overtaken finds nothing to do.
    #[cold]
    pub(crate) fn work_on(&mut self) {
        let now = self.state.fabric.now;
        let Some(mut employed) = self.employed.take() else { return };
        if employed.awaited.is_some_and(|at| at <= now) {
            employed.awaited = None;
        }
        let Employed { work, ended, begun, openings, .. } = &mut *employed;
        let accounts = work.wants_accounts();
        ended.sort_unstable();
        ended.drain(..).for_each(|(process, number)| work.ended(process, number, now, begun));
        if work.next_wake().is_some_and(|at| at <= now) {
            work.wake(now, begun);
        }
        self.charge(begun.len() as u64);
        for begun in begun.drain(..) {
            let (number, flow) = match begun {
                Begun::Flow(arrival) => ((arrival.process, arrival.number), self.admit(&arrival)),
                Begun::Message(message) => ((message.process, message.number), self.post(&message)),
            };
            if accounts {
                openings.insert(number, self.open_account(flow));
            }
        }
        self.employed = Some(employed);
        self.await_work();
        self.end_if_complete();
    }
}
