//! The table of functions of schemes in Python: each calls the method of its name.

use penstock_schemes::foreign::abi::{
    Ack, Call, Echo, Frame, Functions, Limits, Place, Queue, Ramp, Release, Row, Setup, Signal, Tag, WORDS,
};
use pyo3::prelude::*;

use super::class::{Role, class};
use super::events::{PyAcknowledgement, PyFrame, PyPlace, PyQueue, PyRelease, PySignal};
use super::point::{After, ECN, RANDOM, SENDS, call, copy, free, make, run_out};

/// The functions of a class with these methods.
pub(super) fn table(has: &[Vec<bool>; 3]) -> Functions {
    let of = |role: Role, name: &str| {
        role.methods().iter().zip(&has[role as usize]).any(|(method, has)| *method == name && *has)
    };
    let (cp, np, rp) =
        (|name| of(Role::Congestion, name), |name| of(Role::Notification, name), |name| of(Role::Reaction, name));
    /// The function if the class has the method.
    macro_rules! where_any {
        ($has:expr, $function:ident) => {
            if $has { Some($function) } else { None }
        };
    }
    Functions {
        cp_create: Some(cp_create),
        cp_configure: Some(cp_configure),
        cp_set_thresholds: where_any!(cp("set_thresholds"), cp_set_thresholds),
        cp_on_arrival: where_any!(cp("on_arrival"), cp_on_arrival),
        cp_mark: where_any!(cp("mark"), cp_mark),
        cp_on_transmission: where_any!(cp("on_transmission"), cp_on_transmission),
        cp_on_departure: where_any!(cp("on_departure"), cp_on_departure),
        cp_on_probe_departure: where_any!(cp("on_probe_departure"), cp_on_probe_departure),
        cp_on_signal: where_any!(cp("on_signal"), cp_on_signal),
        cp_on_timer: where_any!(cp("on_timer"), cp_on_timer),
        cp_variables: where_any!(cp("variables"), variables),
        np_create: Some(np_create),
        np_configure: Some(np_configure),
        np_on_frame: where_any!(np("on_frame"), np_on_frame),
        np_acknowledge: where_any!(np("acknowledge"), np_acknowledge),
        np_on_signal: where_any!(np("on_signal"), np_on_signal),
        np_on_timer: where_any!(np("on_timer"), np_on_timer),
        rp_create: Some(rp_create),
        rp_configure: Some(rp_configure),
        rp_on_round_trip: where_any!(rp("on_round_trip"), rp_on_round_trip),
        rp_on_start: where_any!(rp("on_start"), rp_on_start),
        rp_on_stop: where_any!(rp("on_stop"), rp_on_stop),
        rp_on_signal: where_any!(rp("on_signal"), rp_on_signal),
        rp_on_ack: where_any!(rp("on_ack"), rp_on_ack),
        rp_on_silence: where_any!(rp("on_silence"), rp_on_silence),
        rp_on_send: Some(rp_on_send),
        rp_on_timer: where_any!(rp("on_timer"), rp_on_timer),
        rp_variables: where_any!(rp("variables"), variables),
        clone: Some(clone),
        destroy: Some(destroy),
    }
}

/// No answer.
fn none(_: Bound<'_, PyAny>) -> PyResult<()> {
    Ok(())
}

/// New content of a tag or an echo, or None.
fn words(answer: Bound<'_, PyAny>) -> PyResult<Option<[u64; WORDS]>> {
    let Some(given) = answer.extract::<Option<Vec<u64>>>()? else { return Ok(None) };
    let mut word = [0; WORDS];
    if given.len() > WORDS {
        let text = format!("{} numbers: a tag and an echo have at most {WORDS}", given.len());
        return Err(pyo3::exceptions::PyValueError::new_err(text));
    }
    word[..given.len()].copy_from_slice(&given);
    Ok(Some(word))
}

/// The echo of an acknowledgement: its content, or True for none; `None` where nothing is acknowledged.
fn echo_of(answer: Bound<'_, PyAny>) -> PyResult<Option<[u64; WORDS]>> {
    match answer.extract::<bool>() {
        Ok(acknowledged) => Ok(acknowledged.then_some([0; WORDS])),
        Err(_) => words(answer),
    }
}

/// A random word for a point whose class takes them.
fn random(number: u64, at: &mut Call<'_>) -> u32 {
    if number & RANDOM == 0 { 0 } else { (at.draw)(at) }
}

/// Edits the content of a tag.
fn write(tag: &mut Tag, answer: Option<Option<[u64; WORDS]>>) {
    if let Some(Some(word)) = answer {
        tag.word = word;
    }
}

extern "C" fn cp_create(cp: &mut u64, setup: &Setup<'_>, place: &Place, timeout: &mut u64) {
    let class = class(setup.user);
    let arguments = |py: Python<'_>| Ok((class.values(py, setup.values)?, PyPlace::new(place)));
    *cp = make(&class, Role::Congestion, arguments, After::Timer(timeout));
}

extern "C" fn cp_configure(cp: &mut u64, setup: &Setup<'_>, _: &Place, timeout: &mut u64) {
    let class = class(setup.user);
    call(*cp, "configure", |py| Ok((class.values(py, setup.values)?,)), none, After::Timer(timeout));
}

extern "C" fn cp_set_thresholds(cp: &mut u64, ramp: &Ramp) {
    let seen = (ramp.k_min, ramp.k_max, ramp.p_max as f64 / 4_294_967_296.0);
    call(*cp, "set_thresholds", |_| Ok(seen), none, After::Nothing);
}

extern "C" fn cp_on_arrival(cp: &mut u64, at: &mut Call<'_>, frame: &mut Frame<'_>, queue: &Queue, timeout: &mut u64) {
    let seen = (PyFrame::new(at.now, frame, random(*cp, at)), PyQueue::new(queue));
    let answer = call(*cp, "on_arrival", |_| Ok(seen), words, After::SignalsAndTimer(at, timeout));
    write(frame.tag, answer);
}

extern "C" fn cp_mark(cp: &mut u64, at: &mut Call<'_>, frame: &mut Frame<'_>, len: u64) -> u32 {
    let seen = (PyFrame::new(at.now, frame, random(*cp, at)), len);
    let marked = call(*cp, "mark", |_| Ok(seen), |answer| answer.is_truthy(), After::Drawn(at)).unwrap_or(false);
    if marked {
        frame.tag.marked = 1;
        // That of a source that nothing controls has no label yet.
        frame.tag.label |= u8::from(*cp & ECN != 0);
    }
    marked.into()
}

extern "C" fn cp_on_transmission(cp: &mut u64, now: u64, frame: &mut Frame<'_>, queue: &Queue) {
    let seen = (PyFrame::new(now, frame, 0), PyQueue::new(queue));
    let answer = call(*cp, "on_transmission", |_| Ok(seen), words, After::Nothing);
    write(frame.tag, answer);
}

extern "C" fn cp_on_departure(cp: &mut u64, now: u64, frame: &mut Frame<'_>, queue: &Queue, timeout: &mut u64) {
    let seen = (PyFrame::new(now, frame, 0), PyQueue::new(queue));
    call(*cp, "on_departure", |_| Ok(seen), none, After::Timer(timeout));
}

extern "C" fn cp_on_probe_departure(cp: &mut u64, now: u64, signal: &mut Signal, queue: &Queue) {
    let seen = (PySignal::new(now, 0, signal, 0), PyQueue::new(queue));
    if let Some(Some(word)) = call(*cp, "on_probe_departure", |_| Ok(seen), words, After::Nothing) {
        signal.word = word;
    }
}

extern "C" fn cp_on_signal(
    cp: &mut u64,
    at: &mut Call<'_>,
    flow: u32,
    signal: &Signal,
    queue: &Queue,
    timeout: &mut u64,
) {
    let seen = (PySignal::new(at.now, flow, signal, random(*cp, at)), PyQueue::new(queue));
    call(*cp, "on_signal", |_| Ok(seen), none, After::SignalsAndTimer(at, timeout));
}

extern "C" fn cp_on_timer(cp: &mut u64, at: &mut Call<'_>, queue: &Queue, timeout: &mut u64) {
    let (now, queue) = (at.now, PyQueue::new(queue));
    run_out(*cp, now, |_| Ok((now, queue)), After::SignalsAndTimer(at, timeout));
}

extern "C" fn variables(point: &u64, row: &mut Row) {
    let read = |answer: Bound<'_, PyAny>| answer.extract::<Vec<i64>>();
    if let Some(values) = call(*point, "variables", |_| Ok(()), read, After::Nothing) {
        row.iter_mut().zip(values).for_each(|(column, value)| *column = value);
    }
}

extern "C" fn np_create(np: &mut u64, setup: &Setup<'_>, flow: u32, timeout: &mut u64) {
    let class = class(setup.user);
    let arguments = |py: Python<'_>| Ok((class.values(py, setup.values)?, flow));
    *np = make(&class, Role::Notification, arguments, After::Timer(timeout));
}

extern "C" fn np_configure(np: &mut u64, setup: &Setup<'_>, timeout: &mut u64) {
    let class = class(setup.user);
    call(*np, "configure", |py| Ok((class.values(py, setup.values)?,)), none, After::Timer(timeout));
}

extern "C" fn np_on_frame(np: &mut u64, at: &mut Call<'_>, frame: &mut Frame<'_>, timeout: &mut u64) {
    let seen = (PyFrame::new(at.now, frame, random(*np, at)),);
    call(*np, "on_frame", |_| Ok(seen), none, After::SignalsAndTimer(at, timeout));
}

extern "C" fn np_acknowledge(np: &mut u64, now: u64, frame: &mut Frame<'_>, echo: &mut Echo) -> u32 {
    let seen = (PyFrame::new(now, frame, 0),);
    echo.marked = frame.tag.marked;
    match call(*np, "acknowledge", |_| Ok(seen), echo_of, After::Nothing) {
        Some(Some(word)) => {
            echo.word = word;
            1
        }
        _ => 0,
    }
}

extern "C" fn np_on_signal(np: &mut u64, at: &mut Call<'_>, flow: u32, signal: &Signal, timeout: &mut u64) {
    let seen = (PySignal::new(at.now, flow, signal, random(*np, at)),);
    call(*np, "on_signal", |_| Ok(seen), none, After::SignalsAndTimer(at, timeout));
}

extern "C" fn np_on_timer(np: &mut u64, at: &mut Call<'_>, timeout: &mut u64) {
    let now = at.now;
    run_out(*np, now, |_| Ok((now,)), After::SignalsAndTimer(at, timeout));
}

extern "C" fn rp_create(rp: &mut u64, setup: &Setup<'_>, line: u64, limits: &mut Limits) {
    let class = class(setup.user);
    let arguments = |py: Python<'_>| Ok((class.values(py, setup.values)?, line));
    *rp = make(&class, Role::Reaction, arguments, After::Limits(limits));
}

extern "C" fn rp_configure(rp: &mut u64, setup: &Setup<'_>, _: u64, limits: &mut Limits) {
    let class = class(setup.user);
    call(*rp, "configure", |py| Ok((class.values(py, setup.values)?,)), none, After::Limits(limits));
}

extern "C" fn rp_on_round_trip(rp: &mut u64, round_trip: u64, limits: &mut Limits) {
    call(*rp, "on_round_trip", |_| Ok((round_trip,)), none, After::Limits(limits));
}

extern "C" fn rp_on_start(rp: &mut u64, at: &mut Call<'_>, flow: u32, limits: &mut Limits) {
    let seen = (at.now, flow);
    call(*rp, "on_start", |_| Ok(seen), none, After::SignalsAndLimits(at, limits));
}

extern "C" fn rp_on_stop(rp: &mut u64, now: u64, flow: u32, limits: &mut Limits) {
    call(*rp, "on_stop", |_| Ok((now, flow)), none, After::Limits(limits));
}

extern "C" fn rp_on_signal(rp: &mut u64, at: &mut Call<'_>, flow: u32, signal: &Signal, limits: &mut Limits) {
    let seen = (PySignal::new(at.now, flow, signal, random(*rp, at)),);
    call(*rp, "on_signal", |_| Ok(seen), none, After::SignalsAndLimits(at, limits));
}

extern "C" fn rp_on_ack(rp: &mut u64, at: &mut Call<'_>, flow: u32, ack: &Ack, limits: &mut Limits) {
    let seen = (PyAcknowledgement::new(at.now, flow, ack, random(*rp, at)),);
    call(*rp, "on_ack", |_| Ok(seen), none, After::SignalsAndLimits(at, limits));
}

extern "C" fn rp_on_silence(rp: &mut u64, now: u64, flow: u32, lost: u64, limits: &mut Limits) {
    call(*rp, "on_silence", |_| Ok((now, flow, lost)), none, After::Limits(limits));
}

extern "C" fn rp_on_send(rp: &mut u64, at: &mut Call<'_>, release: &Release, tag: &mut Tag, limits: &mut Limits) {
    tag.label = u8::from(*rp & ECN != 0);
    if *rp & SENDS == 0 {
        return;
    }
    let seen = (PyRelease::new(at.now, release, random(*rp, at)),);
    let answer = call(*rp, "on_send", |_| Ok(seen), words, After::SignalsAndLimits(at, limits));
    write(tag, answer);
}

extern "C" fn rp_on_timer(rp: &mut u64, at: &mut Call<'_>, limits: &mut Limits) {
    let now = at.now;
    run_out(*rp, now, |_| Ok((now,)), After::SignalsAndLimits(at, limits));
}

extern "C" fn clone(point: &mut u64) {
    *point = copy(*point);
}

extern "C" fn destroy(point: &mut u64) {
    free(*point);
}
