//! Conversations: the messages of a flow that stays, as its destination awaits them.
//!
//! A flow of [`Work`](crate::network::Work) that stays sends one message after the other, and keeps its limiter, its transport and the
//! state of its scheme between them. Of a transport the messages end in order. Without one each ends when all of its frames are there.

use std::collections::VecDeque;

use penstock_schemes::{FlowKey, Instant, Octets, ReactionPoint, Scheme};
use penstock_switch::Model;

use crate::engine::Sim;
use crate::engine::dynamic_flows::DynamicFlows;
use crate::hosts::generator::cut;
use crate::network::{FlowId, Message};
use crate::probe::Probe;

/// The messages of a flow that have not ended.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    process: u32,
    /// Octets of all messages so far: of data with a transport, else of frames with their tags.
    posted: u64,
    awaited: VecDeque<Awaited>,
    /// The last message has begun.
    all: bool,
}

#[derive(Debug)]
struct Awaited {
    number: u32,
    /// The octet of the flow with which it ends.
    end: u64,
    /// Its frames that have not come, without a transport.
    frames: u64,
}

impl Conversation {
    /// Data has arrived without a gap up to an octet. Returns the numbers of the messages that have ended.
    fn deliver(&mut self, to: Octets) -> Vec<u32> {
        let ended = self.awaited.partition_point(|message| message.end <= to.0);
        self.awaited.drain(..ended).map(|message| message.number).collect()
    }

    /// A frame has come whose first octet is the `seq`-th of the flow. Returns the number of the message that has ended.
    fn deliver_frame(&mut self, seq: Octets) -> Option<u32> {
        let in_first = self.awaited.front().is_some_and(|message| seq.0 < message.end);
        let at = if in_first { 0 } else { self.holding(seq) };
        let message = self.awaited.get_mut(at)?;
        message.frames -= 1;
        if message.frames > 0 {
            return None;
        }
        self.awaited.remove(at).map(|message| message.number)
    }

    /// The index of the message that has an octet: one without all of its frames.
    fn holding(&self, seq: Octets) -> usize {
        self.awaited.partition_point(|message| message.end <= seq.0)
    }

    /// Length of the frame from octet `seq` on, where full ones have `full` octets.
    pub(crate) fn frame_octets(&self, seq: Octets, full: u16) -> u16 {
        self.awaited.get(self.holding(seq)).map_or(full, |message| (message.end - seq.0).min(full.into()) as u16)
    }

    /// The octet with which the next message ends.
    fn next_end(&self) -> Option<Octets> {
        self.awaited.front().map(|message| Octets(message.end))
    }
}

impl<S: Scheme> DynamicFlows<S> {
    /// The messages of a flow; `None` if it has one alone.
    pub(crate) fn conversation(&self, flow: FlowId) -> Option<&Conversation> {
        self.conversations.get(self.slot(flow)?)?.as_deref()
    }
}

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    /// A flow that stays begins a message after those that it has. Returns the flow.
    pub(crate) fn post(&mut self, message: &Message) -> FlowId {
        let flow = self.flow_of_message(message);
        self.state.sources.flow_mut(flow).supply_mut().post(message.size, message.last);
        if S::Rp::RANKS {
            let payload = self.dynamic_flows.processes[message.process as usize].process.payload();
            self.announce(flow, self.state.sources.flow(flow).supply().extent_of(message.size, payload));
        }
        self.expect_message(flow, message);
        if self.state.sources.flow(flow).supply().connection.is_some() {
            self.wake_sender(flow);
            return flow;
        }
        let limiter = self.state.sources.flow(flow).limiter();
        self.with_limiter(limiter, |sources, now, host| sources.wake(now, limiter, host));
        flow
    }

    /// A message of a flow that stays has begun in another part. Returns the flow.
    pub(crate) fn expect_from_elsewhere(&mut self, message: &Message) -> FlowId {
        let flow = self.flow_of_message(message);
        self.expect_message(flow, message);
        flow
    }

    fn flow_of_message(&self, message: &Message) -> FlowId {
        let key = FlowKey(self.dynamic_flows.processes[message.process as usize].flow + message.flow);
        *self.dynamic_flows.slot_of.get(&key.0).expect("a flow stays until its last message has begun")
    }

    /// The destination of a flow that stays awaits a message, if it is here.
    pub(crate) fn expect_message(&mut self, flow: FlowId, message: &Message) {
        if !self.has_destination(flow) {
            return;
        }
        let index = self.dynamic_flows.index(flow);
        let process = &self.dynamic_flows.processes[message.process as usize].process;
        let (octets, frames) = if process.transport.is_some() {
            (message.size.0, 0)
        } else {
            let (frames, last) = cut(message.size, process.payload(), process.frame);
            let tags = frames * u64::from(self.state.sources.flow(flow).tag_octets());
            ((frames - 1) * u64::from(process.frame) + u64::from(last) + tags, frames)
        };
        let conversations = &mut self.dynamic_flows.conversations;
        conversations.resize_with(conversations.len().max(index + 1), || None);
        let conversation = conversations[index].get_or_insert_default();
        conversation.process = message.process;
        conversation.posted += octets;
        conversation.awaited.push_back(Awaited { number: message.number, end: conversation.posted, frames });
        conversation.all = message.last;
        let next = conversation.next_end();
        self.state.transports.expect(flow, next);
    }

    /// The frame [`ending`](Sim::ending) has come, which may complete its flow or a message of it.
    #[cold]
    pub(crate) fn complete_frame(&mut self, flow: FlowId) {
        let (seq, sent_at) = self.ending;
        let ended = self.conversation_mut(flow).map(|conversation| conversation.deliver_frame(seq));
        // Most frames of a flow that stays end no message.
        if ended == Some(None) {
            return;
        }
        self.note_last_frame(sent_at);
        self.tell_destination(flow);
        self.complete_messages(flow, ended.map(Option::into_iter));
    }

    /// The transport of a flow has delivered all data up to an octet, which completes it or messages of it, with a frame sent at `sent_at`.
    #[cold]
    pub(crate) fn complete_data(&mut self, flow: FlowId, to: Octets, sent_at: Instant) {
        self.note_last_frame(sent_at);
        self.tell_destination(flow);
        let ended = self.conversation_mut(flow).map(|conversation| conversation.deliver(to));
        self.complete_messages(flow, ended);
    }

    /// These messages of a flow have ended, or the flow if it has none.
    fn complete_messages(&mut self, flow: FlowId, ended: Option<impl IntoIterator<Item = u32>>) {
        let Some(ended) = ended else { return self.complete(flow) };
        let Some(&Conversation { process, .. }) = self.dynamic_flows.conversation(flow) else { return };
        for number in ended {
            self.report_message(flow, (process, number));
        }
        let Some(conversation) = self.dynamic_flows.conversation(flow) else { return };
        let (next, over) = (conversation.next_end(), conversation.all && conversation.awaited.is_empty());
        self.state.transports.expect(flow, next);
        if over {
            self.complete(flow);
        }
    }

    fn conversation_mut(&mut self, flow: FlowId) -> Option<&mut Conversation> {
        let slot = self.dynamic_flows.slot(flow)?;
        self.dynamic_flows.conversations.get_mut(slot)?.as_deref_mut()
    }
}
