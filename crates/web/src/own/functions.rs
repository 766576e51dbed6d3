//! The table of functions of a scheme of the reader's: each calls the method of its name, as for classes in Python.

use penstock_schemes::foreign::abi::{
    self, Ack, Call, Echo, Frame, Function, Functions, Limits, Place, Queue, Ramp, Release, Row, Setup, Signal, Tag,
    WORDS,
};
use penstock_script::{ACKNOWLEDGEMENT, Error, FRAME, Kind, PLACE, Program, QUEUE, RELEASE, Role, SIGNAL, Value};

use super::points::{Point, copy, free, make, method_of, send, with};

/// The functions of a program: of those that call a method, the ones whose method it has.
pub(super) fn table(program: &Program) -> Functions {
    /// The function, if there is a method to call.
    macro_rules! where_any {
        ($name:ident, $function:ident) => {
            method_of(Function::$name).and_then(|(role, name)| program.method(role, name)).map(|_| $function as _)
        };
    }
    Functions {
        cp_create: Some(cp_create),
        cp_configure: Some(cp_configure),
        cp_set_thresholds: where_any!(CpSetThresholds, cp_set_thresholds),
        cp_on_arrival: where_any!(CpOnArrival, cp_on_arrival),
        cp_mark: where_any!(CpMark, cp_mark),
        cp_on_transmission: where_any!(CpOnTransmission, cp_on_transmission),
        cp_on_departure: where_any!(CpOnDeparture, cp_on_departure),
        cp_on_probe_departure: where_any!(CpOnProbeDeparture, cp_on_probe_departure),
        cp_on_signal: where_any!(CpOnSignal, cp_on_signal),
        cp_on_timer: where_any!(CpOnTimer, cp_on_timer),
        cp_variables: where_any!(CpVariables, cp_variables),
        np_create: Some(np_create),
        np_configure: Some(np_configure),
        np_on_frame: where_any!(NpOnFrame, np_on_frame),
        np_acknowledge: where_any!(NpAcknowledge, np_acknowledge),
        np_on_signal: where_any!(NpOnSignal, np_on_signal),
        np_on_timer: where_any!(NpOnTimer, np_on_timer),
        rp_create: Some(rp_create),
        rp_configure: Some(rp_configure),
        rp_on_round_trip: where_any!(RpOnRoundTrip, rp_on_round_trip),
        rp_on_start: where_any!(RpOnStart, rp_on_start),
        rp_on_stop: where_any!(RpOnStop, rp_on_stop),
        rp_on_signal: where_any!(RpOnSignal, rp_on_signal),
        rp_on_ack: where_any!(RpOnAck, rp_on_ack),
        rp_on_silence: where_any!(RpOnSilence, rp_on_silence),
        rp_on_send: Some(rp_on_send),
        rp_on_timer: where_any!(RpOnTimer, rp_on_timer),
        rp_variables: where_any!(RpVariables, rp_variables),
        clone: Some(clone),
        destroy: Some(destroy),
    }
}

fn record(kind: &'static Kind, fields: impl IntoIterator<Item = Value>) -> Value {
    Value::Record(kind, fields.into_iter().collect())
}

fn int(number: impl Into<i128>) -> Value {
    Value::Int(number.into())
}

fn bit(own: u8) -> Value {
    Value::Bool(own != 0)
}

fn words(own: [u64; WORDS]) -> Value {
    Value::Tuple(own.into_iter().map(int).collect())
}

/// A random word, where the scheme takes them.
fn random(point: &Point, at: &mut Call<'_>) -> u32 {
    if point.loaded.random { (at.draw)(at) } else { 0 }
}

fn frame_of(now: u64, own: &Frame<'_>, random: u32) -> Value {
    record(
        &FRAME,
        [
            int(now),
            int(own.flow),
            int(own.octets),
            int(own.weight),
            int(own.seq),
            int(own.sent_at),
            bit(own.last),
            bit(own.trimmed),
            bit(own.dropped),
            bit(own.tag.marked),
            words(own.tag.word),
            int(random),
        ],
    )
}

fn queue_of(own: &Queue) -> Value {
    record(&QUEUE, [int(own.len), int(own.frames), int(own.sent), int(own.rate), bit(own.paused)])
}

fn signal_of(now: u64, flow: u32, own: &Signal, random: u32) -> Value {
    record(&SIGNAL, [int(now), int(flow), int(own.octets), int(own.kind), words(own.word), int(random)])
}

/// New content of a tag or an echo; `None` where the answer is None.
fn content(point: &Point, function: Function, answer: &Value) -> Result<Option<[u64; WORDS]>, Error> {
    let wrong = || {
        let name = method_of(function).map_or("", |(_, name)| name);
        let message = format!("{name} returns {}", answer.written());
        Error::new(
            point.place_of(function),
            message,
            format!("return None, or up to {WORDS} whole numbers, as in (n, 0)"),
        )
    };
    let all = match answer {
        Value::None => return Ok(None),
        Value::Tuple(all) if all.len() <= WORDS => all,
        _ => return Err(wrong()),
    };
    let mut content = [0; WORDS];
    for (word, value) in content.iter_mut().zip(all.iter()) {
        *word = value.whole().and_then(|own| own.try_into().ok()).ok_or_else(wrong)?;
    }
    Ok(Some(content))
}

/// Calls a method whose answer is new content of a frame's tag.
fn edit(point: &mut Point, function: Function, arguments: &[Value], tag: &mut Tag) -> Result<(), Error> {
    if let Some(answer) = point.call(function, arguments)?
        && let Some(word) = content(point, function, &answer.value)?
    {
        tag.word = word;
    }
    Ok(())
}

extern "C" fn cp_create(cp: &mut u64, setup: &Setup<'_>, place: &Place, timeout: &mut u64) {
    let place = record(&PLACE, [int(place.cp), int(place.line), int(place.capacity), int(place.phase)]);
    *cp = make(setup, Role::Congestion, place, |point| {
        *timeout = point.timeout()?;
        Ok(())
    });
}

/// New parameters for a point of any role, and what it does about them.
fn configure(number: u64, setup: &Setup<'_>, function: Function, after: impl FnOnce(&Point) -> Result<(), Error>) {
    with(number, |point| {
        point.set_values(setup);
        point.call(function, &[Value::Parameters])?;
        after(point)
    });
}

extern "C" fn cp_configure(cp: &mut u64, setup: &Setup<'_>, _: &Place, timeout: &mut u64) {
    configure(*cp, setup, Function::CpConfigure, |point| {
        *timeout = point.timeout()?;
        Ok(())
    });
}

extern "C" fn cp_set_thresholds(cp: &mut u64, ramp: &Ramp) {
    let probability = Value::Float(ramp.p_max as f64 / 4_294_967_296.0);
    with(*cp, |point| {
        point.call(Function::CpSetThresholds, &[int(ramp.k_min), int(ramp.k_max), probability]).map(|_| ())
    });
}

extern "C" fn cp_on_arrival(cp: &mut u64, at: &mut Call<'_>, frame: &mut Frame<'_>, queue: &Queue, timeout: &mut u64) {
    with(*cp, |point| {
        let arguments = [frame_of(at.now, frame, random(point, at)), queue_of(queue)];
        let answer = point.call(Function::CpOnArrival, &arguments)?;
        send(answer.as_ref(), at);
        if let Some(answer) = answer
            && let Some(word) = content(point, Function::CpOnArrival, &answer.value)?
        {
            frame.tag.word = word;
        }
        *timeout = point.timeout()?;
        Ok(())
    });
}

extern "C" fn cp_mark(cp: &mut u64, at: &mut Call<'_>, frame: &mut Frame<'_>, len: u64) -> u32 {
    let marked = with(*cp, |point| {
        let arguments = [frame_of(at.now, frame, random(point, at)), int(len)];
        let answer = point.call(Function::CpMark, &arguments)?;
        Ok((answer.is_some_and(|answer| answer.value.is_true()), point.loaded.ecn))
    });
    let Some((true, ecn)) = marked else { return 0 };
    frame.tag.marked = 1;
    // That of a source that nothing controls has no label yet.
    frame.tag.label |= u8::from(ecn);
    1
}

extern "C" fn cp_on_transmission(cp: &mut u64, now: u64, frame: &mut Frame<'_>, queue: &Queue) {
    let arguments = [frame_of(now, frame, 0), queue_of(queue)];
    with(*cp, |point| edit(point, Function::CpOnTransmission, &arguments, frame.tag));
}

extern "C" fn cp_on_departure(cp: &mut u64, now: u64, frame: &mut Frame<'_>, queue: &Queue, timeout: &mut u64) {
    let arguments = [frame_of(now, frame, 0), queue_of(queue)];
    with(*cp, |point| {
        point.call(Function::CpOnDeparture, &arguments)?;
        *timeout = point.timeout()?;
        Ok(())
    });
}

extern "C" fn cp_on_probe_departure(cp: &mut u64, now: u64, signal: &mut Signal, queue: &Queue) {
    let arguments = [signal_of(now, 0, signal, 0), queue_of(queue)];
    with(*cp, |point| {
        let function = Function::CpOnProbeDeparture;
        if let Some(answer) = point.call(function, &arguments)?
            && let Some(word) = content(point, function, &answer.value)?
        {
            signal.word = word;
        }
        Ok(())
    });
}

extern "C" fn cp_on_signal(
    cp: &mut u64,
    at: &mut Call<'_>,
    flow: u32,
    signal: &Signal,
    queue: &Queue,
    timeout: &mut u64,
) {
    with(*cp, |point| {
        let arguments = [signal_of(at.now, flow, signal, random(point, at)), queue_of(queue)];
        send(point.call(Function::CpOnSignal, &arguments)?.as_ref(), at);
        *timeout = point.timeout()?;
        Ok(())
    });
}

extern "C" fn cp_on_timer(cp: &mut u64, at: &mut Call<'_>, queue: &Queue, timeout: &mut u64) {
    with(*cp, |point| {
        point.clear_timeout();
        send(point.call(Function::CpOnTimer, &[int(at.now), queue_of(queue)])?.as_ref(), at);
        *timeout = point.next_timeout(at.now)?;
        Ok(())
    });
}

/// The numbers that a method `variables` returns.
fn variables(number: u64, function: Function, row: &mut Row) {
    with(number, |point| {
        let Some(answer) = point.call(function, &[])? else { return Ok(()) };
        let wrong = |own: &Value| {
            let message = format!("variables returns {}", own.written());
            Error::new(point.place_of(function), message, "return whole numbers, as in (int(self.window),)")
        };
        let Value::Tuple(all) = &answer.value else { return Err(wrong(&answer.value)) };
        for (column, own) in row.iter_mut().zip(all.iter()) {
            *column = own.whole().and_then(|own| own.try_into().ok()).ok_or_else(|| wrong(own))?;
        }
        Ok(())
    });
}

extern "C" fn cp_variables(cp: &u64, row: &mut Row) {
    variables(*cp, Function::CpVariables, row);
}

extern "C" fn rp_variables(rp: &u64, row: &mut Row) {
    variables(*rp, Function::RpVariables, row);
}

extern "C" fn np_create(np: &mut u64, setup: &Setup<'_>, flow: u32, timeout: &mut u64) {
    *np = make(setup, Role::Notification, int(flow), |point| {
        *timeout = point.timeout()?;
        Ok(())
    });
}

extern "C" fn np_configure(np: &mut u64, setup: &Setup<'_>, timeout: &mut u64) {
    configure(*np, setup, Function::NpConfigure, |point| {
        *timeout = point.timeout()?;
        Ok(())
    });
}

extern "C" fn np_on_frame(np: &mut u64, at: &mut Call<'_>, frame: &mut Frame<'_>, timeout: &mut u64) {
    with(*np, |point| {
        let arguments = [frame_of(at.now, frame, random(point, at))];
        send(point.call(Function::NpOnFrame, &arguments)?.as_ref(), at);
        *timeout = point.timeout()?;
        Ok(())
    });
}

extern "C" fn np_acknowledge(np: &mut u64, now: u64, frame: &mut Frame<'_>, echo: &mut Echo) -> u32 {
    let arguments = [frame_of(now, frame, 0)];
    echo.marked = frame.tag.marked;
    let word = with(*np, |point| {
        let Some(answer) = point.call(Function::NpAcknowledge, &arguments)? else { return Ok(None) };
        match answer.value {
            Value::Bool(acknowledged) => Ok(acknowledged.then_some([0; WORDS])),
            other => content(point, Function::NpAcknowledge, &other),
        }
    });
    let Some(Some(word)) = word else { return 0 };
    echo.word = word;
    1
}

extern "C" fn np_on_signal(np: &mut u64, at: &mut Call<'_>, flow: u32, signal: &Signal, timeout: &mut u64) {
    with(*np, |point| {
        let arguments = [signal_of(at.now, flow, signal, random(point, at))];
        send(point.call(Function::NpOnSignal, &arguments)?.as_ref(), at);
        *timeout = point.timeout()?;
        Ok(())
    });
}

extern "C" fn np_on_timer(np: &mut u64, at: &mut Call<'_>, timeout: &mut u64) {
    with(*np, |point| {
        point.clear_timeout();
        send(point.call(Function::NpOnTimer, &[int(at.now)])?.as_ref(), at);
        *timeout = point.next_timeout(at.now)?;
        Ok(())
    });
}

extern "C" fn rp_create(rp: &mut u64, setup: &Setup<'_>, line: u64, limits: &mut Limits) {
    *rp = make(setup, Role::Reaction, int(line), |point| point.limits(limits));
}

extern "C" fn rp_configure(rp: &mut u64, setup: &Setup<'_>, _: u64, limits: &mut Limits) {
    configure(*rp, setup, Function::RpConfigure, |point| point.limits(limits));
}

/// Calls a method of a reaction point that sends nothing.
fn react(rp: u64, function: Function, arguments: &[Value], limits: &mut Limits) {
    with(rp, |point| {
        point.call(function, arguments)?;
        point.limits(limits)
    });
}

extern "C" fn rp_on_round_trip(rp: &mut u64, round_trip: u64, limits: &mut Limits) {
    react(*rp, Function::RpOnRoundTrip, &[int(round_trip)], limits);
}

extern "C" fn rp_on_stop(rp: &mut u64, now: u64, flow: u32, limits: &mut Limits) {
    react(*rp, Function::RpOnStop, &[int(now), int(flow)], limits);
}

extern "C" fn rp_on_silence(rp: &mut u64, now: u64, flow: u32, lost: u64, limits: &mut Limits) {
    react(*rp, Function::RpOnSilence, &[int(now), int(flow), int(lost)], limits);
}

/// Calls a method of a reaction point that may send.
fn react_and_send(point: &mut Point, function: Function, arguments: &[Value], at: &mut Call<'_>) -> Result<(), Error> {
    send(point.call(function, arguments)?.as_ref(), at);
    Ok(())
}

extern "C" fn rp_on_start(rp: &mut u64, at: &mut Call<'_>, flow: u32, limits: &mut Limits) {
    with(*rp, |point| {
        react_and_send(point, Function::RpOnStart, &[int(at.now), int(flow)], at)?;
        point.limits(limits)
    });
}

extern "C" fn rp_on_signal(rp: &mut u64, at: &mut Call<'_>, flow: u32, signal: &Signal, limits: &mut Limits) {
    with(*rp, |point| {
        let arguments = [signal_of(at.now, flow, signal, random(point, at))];
        react_and_send(point, Function::RpOnSignal, &arguments, at)?;
        point.limits(limits)
    });
}

extern "C" fn rp_on_ack(rp: &mut u64, at: &mut Call<'_>, flow: u32, ack: &Ack, limits: &mut Limits) {
    with(*rp, |point| {
        let &abi::Ack { acked, lost, rtt, echo } = ack;
        let random = random(point, at);
        let fields = [int(at.now), int(flow), int(acked), int(lost), int(rtt), bit(echo.marked), words(echo.word)];
        let own = record(&ACKNOWLEDGEMENT, fields.into_iter().chain([int(random)]));
        react_and_send(point, Function::RpOnAck, &[own], at)?;
        point.limits(limits)
    });
}

extern "C" fn rp_on_send(rp: &mut u64, at: &mut Call<'_>, release: &Release, tag: &mut Tag, limits: &mut Limits) {
    with(*rp, |point| {
        tag.label = u8::from(point.loaded.ecn);
        let &abi::Release { seq, flow, octets, last, .. } = release;
        let random = random(point, at);
        let fields = [int(at.now), int(flow), int(octets), int(seq), bit(last), int(random)];
        let Some(answer) = point.call(Function::RpOnSend, &[record(&RELEASE, fields)])? else { return Ok(()) };
        send(Some(&answer), at);
        if let Some(word) = content(point, Function::RpOnSend, &answer.value)? {
            tag.word = word;
        }
        point.limits(limits)
    });
}

extern "C" fn rp_on_timer(rp: &mut u64, at: &mut Call<'_>, limits: &mut Limits) {
    with(*rp, |point| {
        point.clear_timeout();
        react_and_send(point, Function::RpOnTimer, &[int(at.now)], at)?;
        point.next_timeout(at.now)?;
        point.limits(limits)
    });
}

extern "C" fn clone(point: &mut u64) {
    *point = copy(*point);
}

extern "C" fn destroy(point: &mut u64) {
    free(*point);
}
