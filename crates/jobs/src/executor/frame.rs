//! Collectives that run: their messages, from the first member's begin to the last one's end.

use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::{Action, Detail, Executor, MessageId, Path, Shape, Step, Timer};
use crate::graph::GraphError;
use crate::matching::NONE;
use crate::schedule::{Message, Schedule};

/// In `waits`: the message is under way.
pub(super) const SENT: u32 = u32::MAX - 1;
/// In `waits`: the message has been delivered.
pub(super) const DELIVERED: u32 = u32::MAX;

/// A collective that runs.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// For each message those that it waits for, or one of the above.
    pub(super) waits: Vec<u32>,
    /// Whether each member has begun.
    pub(super) begun: Vec<bool>,
    /// For each member the messages to it that have not been delivered, and those from it that have not started. If it receives
    /// nothing, those from it count until it has heard of their delivery.
    left: Vec<u32>,
    /// Members that are run here and have not ended.
    members_left: u32,
    /// Times of messages, if paths are wanted.
    times: Option<Times>,
}

/// Times of the messages of a collective.
#[derive(Clone, Debug)]
pub(super) struct Times {
    pub(super) begin_ps: Vec<u64>,
    pub(super) end_ps: Vec<u64>,
    /// The message that let each one start; `NONE` is its sender's begin.
    pub(super) after: Vec<u32>,
    /// The message that was delivered last.
    last: u32,
}

/// What follows from an event of a collective.
#[derive(Debug, Default)]
struct Effects {
    /// Messages that start.
    start: Vec<u32>,
    /// Members that end.
    end: Vec<u32>,
}

impl Shape {
    /// Whether the sender of a message goes on when it hears that it has been delivered: with another message, or, if it receives
    /// nothing, with what follows the collective.
    pub(super) fn wants_notice(&self, message: u32) -> bool {
        let messages = self.schedule.messages();
        let Message { from, to, .. } = messages[message as usize];
        let waits = |&next: &u32| messages[next as usize].from == from;
        from != to && (!self.receives[from as usize] || self.schedule.waiting_for(message).iter().any(waits))
    }
}

impl Frame {
    /// A collective that begins, with `members_left` members that are run here.
    fn new(shape: &Shape, members_left: u32, paths: bool) -> Self {
        let (messages, members) = (shape.schedule.messages().len(), shape.left.len());
        let times = paths.then(|| Times {
            begin_ps: alloc::vec![0; messages],
            end_ps: alloc::vec![0; messages],
            after: alloc::vec![NONE; messages],
            last: NONE,
        });
        Self {
            waits: shape.schedule.waits().to_vec(),
            begun: alloc::vec![false; members],
            left: shape.left.clone(),
            members_left,
            times,
        }
    }

    /// A member takes part.
    fn begin(&mut self, shape: &Shape, member: u32, now_ps: u64) -> Effects {
        let schedule = &shape.schedule;
        let mut effects = Effects::default();
        self.begun[member as usize] = true;
        if self.left[member as usize] == 0 {
            effects.end.push(member);
        }
        for message in schedule.sent_by(member).filter(|&message| self.waits[message as usize] == 0).collect::<Vec<_>>()
        {
            if let Some(times) = &mut self.times {
                times.after[message as usize] = NONE;
            }
            self.start(shape, message, now_ps, &mut effects);
        }
        effects
    }

    /// A message waits for nothing more: it starts, or has no octets and joins others.
    fn start(&mut self, shape: &Shape, message: u32, now_ps: u64, effects: &mut Effects) {
        self.waits[message as usize] = SENT;
        if let Some(times) = &mut self.times {
            times.begin_ps[message as usize] = now_ps;
        }
        let Message { from, to, .. } = shape.schedule.messages()[message as usize];
        if from == to {
            self.deliver(shape, message, now_ps, effects);
            self.count(from, effects);
            return;
        }
        effects.start.push(message);
        // Its octets are the network interface's from now on.
        if shape.receives[from as usize] {
            self.count(from, effects);
        }
    }

    /// A message is at its receiver. Joins follow each other at most once a phase of the collective, so calls are not
    /// deep.
    fn deliver(&mut self, shape: &Shape, message: u32, now_ps: u64, effects: &mut Effects) {
        assert_ne!(self.waits[message as usize], DELIVERED, "message {message} of a collective is not under way");
        self.waits[message as usize] = DELIVERED;
        let Message { from, to, .. } = shape.schedule.messages()[message as usize];
        if let Some(times) = &mut self.times {
            times.end_ps[message as usize] = now_ps;
            if from != to {
                times.last = message;
            }
        }
        self.release(shape, message, to, now_ps, effects);
        self.count(to, effects);
    }

    /// The sender of a message has heard that it has been delivered.
    fn hear(&mut self, shape: &Shape, message: u32, now_ps: u64, effects: &mut Effects) {
        let Message { from, .. } = shape.schedule.messages()[message as usize];
        self.release(shape, message, from, now_ps, effects);
        if !shape.receives[from as usize] {
            self.count(from, effects);
        }
    }

    /// The messages of a member that wait for `message` wait for one less.
    fn release(&mut self, shape: &Shape, message: u32, member: u32, now_ps: u64, effects: &mut Effects) {
        let schedule = &shape.schedule;
        let of_member = |next: &&u32| schedule.messages()[**next as usize].from == member;
        for &next in schedule.waiting_for(message).iter().filter(of_member) {
            let waits = &mut self.waits[next as usize];
            *waits -= 1;
            let starts = *waits == 0 && self.begun[member as usize];
            if let Some(times) = &mut self.times {
                times.after[next as usize] = message;
            }
            if starts {
                self.start(shape, next, now_ps, effects);
            }
        }
    }

    /// A member has one message less to wait for.
    fn count(&mut self, member: u32, effects: &mut Effects) {
        let left = &mut self.left[member as usize];
        *left -= 1;
        if *left == 0 && self.begun[member as usize] {
            effects.end.push(member);
        }
    }
}

impl Executor {
    /// Plans the messages of all collectives, once for those that are alike.
    pub(super) fn plan_collectives(&mut self) -> Result<(), GraphError> {
        let mut keys = Vec::new();
        for instance in &self.matching.instances {
            let key = (instance.collective, instance.nodes.len());
            let shape = keys.iter().position(|known| *known == key).unwrap_or(keys.len());
            if shape == keys.len() {
                let collective = &self.graph.collectives()[instance.collective as usize];
                let schedule = Schedule::new(collective, instance.nodes.len() as u32).ok_or_else(|| {
                    let node = instance.nodes[0];
                    let message =
                        format!("{} has 2^32 messages or more: fewer chunks or channels", self.graph.describe(node));
                    GraphError::new(Some(node), message)
                })?;
                let mut left = alloc::vec![0; instance.nodes.len()];
                let mut receives = alloc::vec![false; instance.nodes.len()];
                for message in schedule.messages() {
                    left[message.from as usize] += 1;
                    left[message.to as usize] += 1;
                    receives[message.to as usize] |= message.from != message.to;
                }
                keys.push(key);
                let step_latency_ps = collective.step_latency_ps;
                self.shapes.push(Arc::new(Shape { schedule, left, receives, step_latency_ps }));
            }
            self.shape_of.push(shape as u32);
            self.first_message.push(self.messages_per_iteration);
            self.messages_per_iteration += self.shapes[shape].schedule.messages().len() as u64;
        }
        Ok(())
    }

    /// The collective of a message that is not a send's, and the message's number in it.
    pub(super) fn of_collective(&self, at: u64) -> (u32, u32) {
        let instance = self.first_message.partition_point(|&first| first <= at) - 1;
        (instance as u32, (at - self.first_message[instance]) as u32)
    }

    /// A member begins its part of a collective.
    pub(super) fn begin_member(&mut self, instance: u32, member: u32, now_ps: u64, out: &mut Vec<Action>) {
        let node = self.matching.instances[instance as usize].nodes[member as usize];
        let iteration = self.ranks[self.graph.rank(node) as usize].iteration;
        let shape = Arc::clone(&self.shapes[self.shape_of[instance as usize] as usize]);
        let effects = self.frame(iteration, instance).begin(&shape, member, now_ps);
        self.follow(iteration, instance, effects, None, now_ps, out);
    }

    /// A message of a collective has arrived.
    pub(super) fn arrive_in_collective(
        &mut self,
        iteration: u32,
        instance: u32,
        message: u32,
        now_ps: u64,
        out: &mut Vec<Action>,
    ) {
        let shape = Arc::clone(&self.shapes[self.shape_of[instance as usize] as usize]);
        let mut effects = Effects::default();
        self.frame(iteration, instance).deliver(&shape, message, now_ps, &mut effects);
        let message = self.number(iteration, instance, message);
        self.follow(iteration, instance, effects, Some(message), now_ps, out);
    }

    /// The sender of a message of a collective has heard that it has arrived.
    pub(super) fn hear_in_collective(
        &mut self,
        iteration: u32,
        instance: u32,
        message: u32,
        now_ps: u64,
        out: &mut Vec<Action>,
    ) {
        let shape = Arc::clone(&self.shapes[self.shape_of[instance as usize] as usize]);
        // Nobody waits for it where all members have ended.
        let Some(frame) = self.frames.get_mut(&(iteration, instance)) else { return };
        let mut effects = Effects::default();
        frame.hear(&shape, message, now_ps, &mut effects);
        let message = self.number(iteration, instance, message);
        self.follow(iteration, instance, effects, Some(message), now_ps, out);
    }

    /// A collective that runs. It begins with its first member, or with the first message to one of those that are run here.
    fn frame(&mut self, iteration: u32, instance: u32) -> &mut Frame {
        let shape = &self.shapes[self.shape_of[instance as usize] as usize];
        let nodes = &self.matching.instances[instance as usize].nodes;
        let (graph, own, paths) = (&self.graph, &self.own, self.settings.detail >= Detail::Paths);
        self.frames.entry((iteration, instance)).or_insert_with(|| {
            let members = nodes.iter().filter(|&&node| own[graph.rank(node) as usize]).count();
            Frame::new(shape, members as u32, paths)
        })
    }

    /// The number of a collective's message in the job.
    pub(super) fn number(&self, iteration: u32, instance: u32, message: u32) -> MessageId {
        let first = self.first_message[instance as usize];
        MessageId(u64::from(iteration) * self.messages_per_iteration + first + u64::from(message))
    }

    /// Starts messages and ends members.
    fn follow(
        &mut self,
        iteration: u32,
        instance: u32,
        effects: Effects,
        cause: Option<MessageId>,
        now_ps: u64,
        out: &mut Vec<Action>,
    ) {
        let latency_ps = self.shapes[self.shape_of[instance as usize] as usize].step_latency_ps;
        for message in effects.start {
            let message = self.number(iteration, instance, message);
            if latency_ps == 0 {
                self.send(message, now_ps, out);
            } else {
                self.timers.push(Reverse((now_ps.saturating_add(latency_ps), Timer::Leave(message))));
            }
        }
        let frame = self.frames.get_mut(&(iteration, instance)).expect("the collective runs");
        frame.members_left -= effects.end.len() as u32;
        if frame.members_left == 0
            && let Some(frame) = self.frames.remove(&(iteration, instance))
        {
            if self.own.iter().all(|own| *own) {
                self.paths.extend(frame.times.as_ref().and_then(|times| self.path(iteration, instance, times)));
            }
            if self.settings.detail >= Detail::Job {
                self.ended.extend(frame.times.map(|times| ((iteration, instance), times)));
            }
        }
        for member in effects.end {
            let node = self.matching.instances[instance as usize].nodes[member as usize];
            self.end(node, cause, now_ps, out);
        }
    }

    /// The messages up to the last one; none if there were no messages.
    fn path(&self, iteration: u32, instance: u32, times: &Times) -> Option<Path> {
        let mut steps = Vec::new();
        let mut at = times.last;
        while at != NONE {
            let message = self.number(iteration, instance, at);
            let origin = self.origin(message);
            if origin.from != origin.to {
                let (begin_ps, end_ps) = (times.begin_ps[at as usize], times.end_ps[at as usize]);
                let (from, to, octets) = (origin.from, origin.to, origin.octets);
                steps.push(Step { message, from, to, octets, begin_ps, end_ps });
            }
            at = times.after[at as usize];
        }
        steps.reverse();
        let first = self.origin(steps.first()?.message).node;
        let instance = &self.matching.instances[instance as usize];
        let last = self.graph.member(instance.group, steps.last()?.to)?;
        Some(Path { iteration, first, last: instance.nodes[last as usize], steps })
    }
}
