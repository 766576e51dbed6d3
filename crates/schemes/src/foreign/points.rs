//! The points of a foreign scheme: each holds the memory of a point, calls the functions, and checks their answers.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use super::abi::{self, Call, Echo, Function, Limits, Signal, Tag};
use super::watch::{Fault, Rule, Watch};
use super::{Config, Definition, Foreign};
use crate::parts::marking::Ramp;
use crate::units::{BitRate, Duration, FlowKey, Instant, Octets};
use crate::{
    Ack, Allowance, CongestionPoint, Draw, Fate, Frame, Gap, Gate, NotificationPoint, Out, Place, Queue, ReactionPoint,
    Release,
};

/// The memory of a point, and what is the same for all points.
struct Point {
    definition: &'static Definition,
    watch: Arc<Watch>,
    memory: Vec<u64>,
}

impl Point {
    fn new(config: &Config, role: usize) -> Self {
        let definition = config.definition;
        let words = definition.memory[role].div_ceil(8).max(1) as usize;
        Self { definition, watch: Arc::clone(&config.watch), memory: vec![0; words] }
    }

    /// Calls a function of the table with the point's memory, unless the run has failed. `None` if it is not called.
    #[inline(always)]
    fn call<F, R>(&mut self, name: Function, function: Option<F>, call: impl FnOnce(F, &mut u64) -> R) -> Option<R> {
        let function = function?;
        if self.watch.has_failed() {
            return None;
        }
        self.watch.enter(name);
        let answer = call(function, &mut self.memory[0]);
        self.watch.leave();
        Some(answer)
    }

    /// The timer after a call: it lies ahead, where the call was that of a timer.
    #[inline(always)]
    fn check_timer(&self, function: Function, now: Instant, timeout: &mut u64) {
        if *timeout <= now.0 {
            self.watch.fail(Fault { function, rule: Rule::Timer, value: *timeout as i64 });
            *timeout = abi::NEVER;
        }
    }
}

impl fmt::Debug for Point {
    /// The state alone: the watch counts the calls of all points.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(self.definition.info.name).field(&self.memory).finish()
    }
}

impl Clone for Point {
    fn clone(&self) -> Self {
        let &Self { definition, ref watch, ref memory } = self;
        let mut copy = Self { definition, watch: Arc::clone(watch), memory: memory.clone() };
        copy.call(Function::Clone, definition.functions.clone, |clone, memory| clone(memory));
        copy
    }
}

impl Drop for Point {
    fn drop(&mut self) {
        // Also after a fault: what a point holds outside of its memory is freed.
        if let Some(destroy) = self.definition.functions.destroy {
            self.watch.enter(Function::Destroy);
            destroy(&mut self.memory[0]);
            self.watch.leave();
        }
    }
}

#[inline(always)]
fn timer(timeout: u64) -> Option<Instant> {
    (timeout != abi::NEVER).then_some(Instant(timeout))
}

/// The frame as the functions get it.
#[inline(always)]
fn foreign(frame: Frame<'_, Tag>, dropped: bool) -> abi::Frame<'_> {
    let Frame { flow, octets, weight, seq, last, trimmed, sent_at, tag } = frame;
    abi::Frame {
        seq: seq.0,
        sent_at: sent_at.0,
        tag,
        flow: flow.0,
        octets,
        weight,
        last: last.into(),
        trimmed: trimmed.into(),
        dropped: dropped.into(),
        reserved: [0; 5],
    }
}

#[inline(always)]
fn foreign_queue(queue: &Queue) -> abi::Queue {
    let &Queue { len, frames, rate, sent, paused } = queue;
    abi::Queue { len: len.0, sent: sent.0, rate: rate.0, frames, paused: paused.into(), reserved: [0; 3] }
}

fn foreign_place(place: Place) -> abi::Place {
    abi::Place { cp: place.cp.0, line: place.line.0, capacity: place.capacity.0, phase: place.phase.0 }
}

/// A foreign congestion point.
#[derive(Debug, Clone)]
pub struct Cp {
    point: Point,
    timeout: u64,
}

impl CongestionPoint<Foreign> for Cp {
    const MARKS: bool = true;
    const STAMPS: bool = true;

    fn new(config: &Config, place: Place) -> Self {
        let (mut point, mut timeout, place) = (Point::new(config, 0), abi::NEVER, foreign_place(place));
        let create = point.definition.functions.cp_create;
        point.call(Function::CpCreate, create, |f, memory| f(memory, &config.setup(), &place, &mut timeout));
        Self { point, timeout }
    }

    fn configure(&mut self, config: &Config, place: Place) {
        let (Self { point, timeout }, place) = (self, foreign_place(place));
        point.watch = Arc::clone(&config.watch);
        let configure = point.definition.functions.cp_configure;
        point.call(Function::CpConfigure, configure, |f, memory| f(memory, &config.setup(), &place, timeout));
    }

    fn set_thresholds(&mut self, ramp: Ramp) {
        let (point, Ramp { k_min, k_max, p_max }) = (&mut self.point, ramp);
        let function = point.definition.functions.cp_set_thresholds;
        point.call(Function::CpSetThresholds, function, |f, memory| f(memory, &abi::Ramp { k_min, k_max, p_max }));
    }

    fn remembers_flows(config: &Config) -> bool {
        config.definition.remembers_flows
    }

    fn on_arrival(
        &mut self,
        now: Instant,
        frame: Frame<'_, Tag>,
        fate: Fate,
        queue: &Queue,
        draw: &mut impl Draw,
        out: &mut impl Out<Foreign>,
    ) {
        let Self { point, timeout } = self;
        point.call(Function::CpOnArrival, point.definition.functions.cp_on_arrival, |f, memory| {
            let mut frame = foreign(frame, fate == Fate::Dropped);
            f(memory, &mut Call::new(now, draw, out), &mut frame, &foreign_queue(queue), timeout);
        });
    }

    fn mark(&mut self, now: Instant, frame: Frame<'_, Tag>, len: Octets, draw: &mut impl Draw) -> bool {
        let point = &mut self.point;
        let marked = point.call(Function::CpMark, point.definition.functions.cp_mark, |f, memory| {
            f(memory, &mut Call::new(now, draw, &mut Silent), &mut foreign(frame, false), len.0)
        });
        marked.is_some_and(|marked| marked != 0)
    }

    fn on_transmission(&mut self, now: Instant, frame: Frame<'_, Tag>, queue: &Queue) {
        let point = &mut self.point;
        point.call(Function::CpOnTransmission, point.definition.functions.cp_on_transmission, |f, memory| {
            f(memory, now.0, &mut foreign(frame, false), &foreign_queue(queue));
        });
    }

    fn on_departure(&mut self, now: Instant, frame: Frame<'_, Tag>, queue: &Queue) {
        let Self { point, timeout } = self;
        point.call(Function::CpOnDeparture, point.definition.functions.cp_on_departure, |f, memory| {
            f(memory, now.0, &mut foreign(frame, false), &foreign_queue(queue), timeout);
        });
    }

    fn on_probe_departure(&mut self, now: Instant, signal: &mut Signal, queue: &Queue) {
        let point = &mut self.point;
        point.call(Function::CpOnProbeDeparture, point.definition.functions.cp_on_probe_departure, |f, memory| {
            f(memory, now.0, signal, &foreign_queue(queue));
        });
    }

    fn on_signal(
        &mut self,
        now: Instant,
        flow: FlowKey,
        signal: Signal,
        queue: &Queue,
        draw: &mut impl Draw,
        out: &mut impl Out<Foreign>,
    ) {
        let Self { point, timeout } = self;
        point.call(Function::CpOnSignal, point.definition.functions.cp_on_signal, |f, memory| {
            f(memory, &mut Call::new(now, draw, out), flow.0, &signal, &foreign_queue(queue), timeout);
        });
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        timer(self.timeout)
    }

    fn on_timeout(&mut self, now: Instant, queue: &Queue, draw: &mut impl Draw, out: &mut impl Out<Foreign>) {
        let Self { point, timeout } = self;
        if now.0 < *timeout {
            return;
        }
        *timeout = abi::NEVER;
        point.call(Function::CpOnTimer, point.definition.functions.cp_on_timer, |f, memory| {
            f(memory, &mut Call::new(now, draw, out), &foreign_queue(queue), timeout);
        });
        point.check_timer(Function::CpOnTimer, now, timeout);
    }

    fn vars(&self, row: &mut [i64]) {
        variables(&self.point, Function::CpVariables, self.point.definition.functions.cp_variables, row);
    }
}

/// Takes signals where none may be sent.
struct Silent;

impl Out<Foreign> for Silent {
    fn send(&mut self, _: crate::To, _: crate::Class, _: Signal) {}
}

/// Writes variables.
fn variables(point: &Point, name: Function, function: Option<extern "C" fn(&u64, &mut abi::Row)>, row: &mut [i64]) {
    if row.is_empty() || point.watch.has_failed() {
        return;
    }
    let mut values = [0; abi::VARIABLES];
    if let Some(function) = function {
        point.watch.enter(name);
        function(&point.memory[0], &mut values);
        point.watch.leave();
    }
    row.iter_mut().zip(values).for_each(|(value, written)| *value = written);
}

/// A foreign notification point.
#[derive(Debug, Clone)]
pub struct Np {
    point: Point,
    timeout: u64,
}

impl NotificationPoint<Foreign> for Np {
    fn new(config: &Config, flow: FlowKey) -> Self {
        let (mut point, mut timeout) = (Point::new(config, 1), abi::NEVER);
        let create = point.definition.functions.np_create;
        point.call(Function::NpCreate, create, |f, memory| f(memory, &config.setup(), flow.0, &mut timeout));
        Self { point, timeout }
    }

    fn configure(&mut self, config: &Config) {
        let Self { point, timeout } = self;
        point.watch = Arc::clone(&config.watch);
        let configure = point.definition.functions.np_configure;
        point.call(Function::NpConfigure, configure, |f, memory| f(memory, &config.setup(), timeout));
    }

    fn on_frame(&mut self, now: Instant, frame: Frame<'_, Tag>, draw: &mut impl Draw, out: &mut impl Out<Foreign>) {
        let Self { point, timeout } = self;
        point.call(Function::NpOnFrame, point.definition.functions.np_on_frame, |f, memory| {
            f(memory, &mut Call::new(now, draw, out), &mut foreign(frame, false), timeout);
        });
    }

    fn acknowledge(&mut self, now: Instant, frame: Frame<'_, Tag>) -> Option<Echo> {
        let (mut echo, point) = (Echo::default(), &mut self.point);
        let sent = point.call(Function::NpAcknowledge, point.definition.functions.np_acknowledge, |f, memory| {
            f(memory, now.0, &mut foreign(frame, false), &mut echo)
        });
        sent.is_some_and(|sent| sent != 0).then_some(echo)
    }

    fn on_signal(
        &mut self,
        now: Instant,
        flow: FlowKey,
        signal: Signal,
        draw: &mut impl Draw,
        out: &mut impl Out<Foreign>,
    ) {
        let Self { point, timeout } = self;
        point.call(Function::NpOnSignal, point.definition.functions.np_on_signal, |f, memory| {
            f(memory, &mut Call::new(now, draw, out), flow.0, &signal, timeout);
        });
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        timer(self.timeout)
    }

    fn on_timeout(&mut self, now: Instant, draw: &mut impl Draw, out: &mut impl Out<Foreign>) {
        let Self { point, timeout } = self;
        if now.0 < *timeout {
            return;
        }
        *timeout = abi::NEVER;
        point.call(Function::NpOnTimer, point.definition.functions.np_on_timer, |f, memory| {
            f(memory, &mut Call::new(now, draw, out), timeout);
        });
        point.check_timer(Function::NpOnTimer, now, timeout);
    }
}

/// A foreign reaction point.
#[derive(Debug, Clone)]
pub struct Rp {
    point: Point,
    line: i64,
    limits: Limits,
}

impl Rp {
    /// Calls a function, and checks what the point allows from now on.
    #[inline(always)]
    fn call<F>(&mut self, name: Function, function: Option<F>, call: impl FnOnce(F, &mut u64, &mut Limits)) {
        let Self { point, line, limits } = self;
        if point.call(name, function, |f, memory| call(f, memory, limits)).is_none() {
            return;
        }
        if limits.rate < 0 || limits.rate > *line {
            point.watch.fail(Fault { function: name, rule: Rule::Rate, value: limits.rate });
            limits.rate = *line;
        }
        if limits.window < -1 {
            point.watch.fail(Fault { function: name, rule: Rule::Window, value: limits.window });
            limits.window = -1;
        }
    }
}

impl ReactionPoint<Foreign> for Rp {
    const LEARNS_ROUND_TRIP: bool = true;

    fn new(config: &Config, line: BitRate) -> Self {
        let rate = i64::try_from(line.0).unwrap_or(i64::MAX);
        let limits = Limits { rate, window: -1, timeout: abi::NEVER, limiting: 0, gate: 0, gap: 0, reserved: [0; 5] };
        let mut rp = Self { point: Point::new(config, 2), line: rate, limits };
        let create = rp.point.definition.functions.rp_create;
        rp.call(Function::RpCreate, create, |f, memory, limits| f(memory, &config.setup(), line.0, limits));
        rp
    }

    fn configure(&mut self, config: &Config, line: BitRate) {
        self.point.watch = Arc::clone(&config.watch);
        let configure = self.point.definition.functions.rp_configure;
        self.call(Function::RpConfigure, configure, |f, memory, limits| f(memory, &config.setup(), line.0, limits));
    }

    fn learn_round_trip(&mut self, round_trip: Duration) {
        let function = self.point.definition.functions.rp_on_round_trip;
        self.call(Function::RpOnRoundTrip, function, |f, memory, limits| f(memory, round_trip.0, limits));
    }

    fn on_start(&mut self, now: Instant, flow: FlowKey, draw: &mut impl Draw, out: &mut impl Out<Foreign>) {
        self.call(Function::RpOnStart, self.point.definition.functions.rp_on_start, |f, memory, limits| {
            f(memory, &mut Call::new(now, draw, out), flow.0, limits);
        });
    }

    fn on_stop(&mut self, now: Instant, flow: FlowKey) {
        let function = self.point.definition.functions.rp_on_stop;
        self.call(Function::RpOnStop, function, |f, memory, limits| f(memory, now.0, flow.0, limits));
    }

    fn on_signal(
        &mut self,
        now: Instant,
        flow: FlowKey,
        signal: Signal,
        draw: &mut impl Draw,
        out: &mut impl Out<Foreign>,
    ) {
        self.call(Function::RpOnSignal, self.point.definition.functions.rp_on_signal, |f, memory, limits| {
            f(memory, &mut Call::new(now, draw, out), flow.0, &signal, limits);
        });
    }

    fn on_ack(
        &mut self,
        now: Instant,
        flow: FlowKey,
        ack: &Ack<Echo>,
        draw: &mut impl Draw,
        out: &mut impl Out<Foreign>,
    ) {
        self.call(Function::RpOnAck, self.point.definition.functions.rp_on_ack, |f, memory, limits| {
            let &Ack { acked, lost, rtt, echo } = ack;
            let ack = abi::Ack { acked: acked.0, lost: lost.0, rtt: rtt.0, echo };
            f(memory, &mut Call::new(now, draw, out), flow.0, &ack, limits);
        });
    }

    fn on_silence(&mut self, now: Instant, flow: FlowKey, lost: Octets) {
        let function = self.point.definition.functions.rp_on_silence;
        self.call(Function::RpOnSilence, function, |f, memory, limits| f(memory, now.0, flow.0, lost.0, limits));
    }

    fn on_send(&mut self, now: Instant, frame: Release, draw: &mut impl Draw, out: &mut impl Out<Foreign>) -> Tag {
        let mut tag = Tag::default();
        self.call(Function::RpOnSend, self.point.definition.functions.rp_on_send, |f, memory, limits| {
            let Release { flow, octets, seq, last } = frame;
            let release = abi::Release { seq: seq.0, flow: flow.0, octets, last: last.into(), reserved: 0 };
            f(memory, &mut Call::new(now, draw, out), &release, &mut tag, limits);
        });
        tag
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        timer(self.limits.timeout)
    }

    fn on_timeout(&mut self, now: Instant, draw: &mut impl Draw, out: &mut impl Out<Foreign>) {
        if now.0 < self.limits.timeout {
            return;
        }
        self.limits.timeout = abi::NEVER;
        self.call(Function::RpOnTimer, self.point.definition.functions.rp_on_timer, |f, memory, limits| {
            f(memory, &mut Call::new(now, draw, out), limits);
        });
        self.point.check_timer(Function::RpOnTimer, now, &mut self.limits.timeout);
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        let Limits { rate, window, .. } = self.limits;
        Allowance { rate: BitRate(rate as u64), window: (window >= 0).then_some(Octets(window as u64)) }
    }

    #[inline]
    fn gate(&self) -> Gate {
        if self.limits.gate == 0 { Gate::Whole } else { Gate::Open }
    }

    #[inline]
    fn gap(&self) -> Gap {
        if self.limits.gap == 0 { Gap::Rest } else { Gap::Whole }
    }

    fn limiting(&self) -> bool {
        self.limits.limiting != 0
    }

    fn vars(&self, row: &mut [i64]) {
        variables(&self.point, Function::RpVariables, self.point.definition.functions.rp_variables, row);
    }
}
