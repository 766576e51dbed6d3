//! The points of schemes in Python: objects by their number, which is all that a point's memory in the engine holds.
#![allow(clippy::disallowed_types, reason = "the time spent in Python is a matter of the wall clock")]

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use penstock_schemes::foreign::abi::{Call, Limits, NEVER, Signal};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::class::{Class, Role};
use super::failure;

/// An object of a point, with its methods in the order of [`Role::methods`]; those that its class does not have are none.
pub(super) struct Point {
    pub(super) class: Arc<Class>,
    role: Role,
    pub(super) object: Py<PyAny>,
    methods: Vec<Option<Py<PyAny>>>,
    /// The rate of a reaction point's line, bit/s.
    line: i64,
}

/// Bits of a number above the index: the class takes random words, its frames carry ECN, it has a method for released frames.
pub(super) const RANDOM: u64 = 1 << 63;
pub(super) const ECN: u64 = 1 << 62;
pub(super) const SENDS: u64 = 1 << 61;

/// The objects of all runs. A number is 1 + index; 0 stands for a point whose making has failed.
static POINTS: Mutex<Slots> = Mutex::new(Slots { all: Vec::new(), free: Vec::new() });

struct Slots {
    all: Vec<Option<Arc<Point>>>,
    free: Vec<usize>,
}

/// Keeps an object: its number.
fn keep(point: Point) -> u64 {
    let sends = point.role == Role::Reaction && point.method("on_send").is_some();
    let bit = |has: bool, bit: u64| if has { bit } else { 0 };
    let bits = bit(point.class.random, RANDOM) | bit(point.class.ecn, ECN) | bit(sends, SENDS);
    let mut points = POINTS.lock().unwrap_or_else(PoisonError::into_inner);
    let at = points.free.pop().unwrap_or_else(|| {
        points.all.push(None);
        points.all.len() - 1
    });
    points.all[at] = Some(Arc::new(point));
    (at as u64 + 1) | bits
}

fn index(number: u64) -> Option<usize> {
    usize::try_from(number & !(RANDOM | ECN | SENDS)).ok()?.checked_sub(1)
}

fn find(number: u64) -> Option<Arc<Point>> {
    let at = index(number)?;
    POINTS.lock().unwrap_or_else(PoisonError::into_inner).all.get(at)?.clone()
}

/// Frees an object.
pub(super) fn free(number: u64) {
    let Some(at) = index(number) else { return };
    let mut points = POINTS.lock().unwrap_or_else(PoisonError::into_inner);
    let freed = points.all.get_mut(at).and_then(Option::take);
    if freed.is_some() {
        points.free.push(at);
    }
    drop(points);
    drop(freed);
}

impl Point {
    fn new(py: Python<'_>, class: Arc<Class>, role: Role, object: Py<PyAny>, line: i64) -> PyResult<Self> {
        let has = class.has(role);
        let method = |(name, has): (&&str, &bool)| has.then(|| object.getattr(py, *name)).transpose();
        let methods = role.methods().iter().zip(has).map(method).collect::<PyResult<_>>()?;
        Ok(Self { class, role, object, methods, line })
    }

    pub(super) fn method(&self, name: &str) -> Option<&Py<PyAny>> {
        let at = self.role.methods().iter().position(|own| *own == name)?;
        self.methods[at].as_ref()
    }

    /// Takes what a reaction point allows from its object.
    fn read_limits(&self, py: Python<'_>, limits: &mut Limits) -> PyResult<()> {
        let object = self.object.bind(py);
        let whole = |value: Bound<'_, PyAny>, name: &str, most: i64| -> PyResult<i64> {
            let read = value
                .extract::<i64>()
                .or_else(|_| value.extract::<f64>().map(|x| if x.is_nan() { -1 } else { x as i64 }));
            match read {
                Ok(number) if (0..=most).contains(&number) => Ok(number),
                _ => Err(PyValueError::new_err(format!("{name} is {value}: a number from 0 to {most}"))),
            }
        };
        limits.rate = whole(object.getattr(intern!(py, "rate"))?, "rate", self.line)?;
        let window = object.getattr(intern!(py, "window"))?;
        limits.window = if window.is_none() { -1 } else { whole(window, "window", i64::MAX)? };
        limits.limiting = object.getattr(intern!(py, "limiting"))?.is_truthy()?.into();
        limits.timeout = self.read_timeout(py)?;
        Ok(())
    }

    fn read_timeout(&self, py: Python<'_>) -> PyResult<u64> {
        let timeout = self.object.bind(py).getattr(intern!(py, "timeout"))?;
        if timeout.is_none() {
            return Ok(NEVER);
        }
        timeout.extract().map_err(|_| PyValueError::new_err(format!("timeout is {timeout}: a time in ps, or None")))
    }

    /// Hands the object words of the point's stream, as many as a method may draw. Those that are left are the next method's: their sequence
    /// is that of a point which draws when it needs one.
    fn offer_words(&self, py: Python<'_>, call: &mut Call<'_>) -> PyResult<()> {
        let words = self.object.bind(py).getattr(intern!(py, "_words"))?.cast_into::<PyList>()?;
        for _ in words.len()..self.class.draws {
            words.append((call.draw)(call))?;
        }
        Ok(())
    }

    /// Sends the signals that the object has gathered.
    fn send(&self, py: Python<'_>, call: &mut Call<'_>) -> PyResult<()> {
        let list = self.object.bind(py).getattr(intern!(py, "_signals"))?.cast_into::<PyList>()?;
        if list.is_empty() {
            return Ok(());
        }
        for signal in list.iter() {
            let (to, flow, queue, kind, octets, word): (u32, u32, u32, u8, u16, [u64; 4]) = signal.extract()?;
            (call.send)(call, to, flow, queue, &Signal { word, octets, kind, reserved: [0; 5] });
        }
        list.call_method0(intern!(py, "clear"))?;
        Ok(())
    }
}

/// Calls with an object and Python's lock, unless the run has failed; an exception ends the run. The time counts as spent in Python.
fn with<R>(number: u64, name: &str, call: impl FnOnce(Python<'_>, &Point) -> PyResult<R>) -> Option<R> {
    if failure::failed() {
        return None;
    }
    let began = Instant::now();
    let answer = Python::attach(|py| {
        let point = find(number)?;
        call(py, &point)
            .map_err(|error| {
                let method = point.method(name).map(|method| method.clone_ref(py));
                failure::fail(error, &point.class.location, method);
            })
            .ok()
    });
    failure::spend(began.elapsed());
    answer
}

/// What a method's answer goes to, besides the object's own fields.
pub(super) enum After<'a, 'b> {
    Nothing,
    Drawn(&'a mut Call<'b>),
    Timer(&'a mut u64),
    Limits(&'a mut Limits),
    SignalsAndTimer(&'a mut Call<'b>, &'a mut u64),
    SignalsAndLimits(&'a mut Call<'b>, &'a mut Limits),
}

impl After<'_, '_> {
    /// Words for a class that draws, before its method is called.
    fn offer_words(&mut self, py: Python<'_>, point: &Point) -> PyResult<()> {
        match self {
            Self::Drawn(call) | Self::SignalsAndTimer(call, _) | Self::SignalsAndLimits(call, _)
                if point.class.draws > 0 =>
            {
                point.offer_words(py, call)
            }
            _ => Ok(()),
        }
    }

    fn take(self, py: Python<'_>, point: &Point) -> PyResult<()> {
        match self {
            Self::Nothing | Self::Drawn(_) => {}
            Self::Timer(timeout) => *timeout = point.read_timeout(py)?,
            Self::Limits(limits) => point.read_limits(py, limits)?,
            Self::SignalsAndTimer(call, timeout) => {
                point.send(py, call)?;
                *timeout = point.read_timeout(py)?;
            }
            Self::SignalsAndLimits(call, limits) => {
                point.send(py, call)?;
                point.read_limits(py, limits)?;
            }
        }
        Ok(())
    }
}

/// Calls a method with some arguments, takes its answer, and then what the object allows.
pub(super) fn call<A, R>(
    number: u64,
    name: &'static str,
    arguments: impl FnOnce(Python<'_>) -> PyResult<A>,
    answer: impl FnOnce(Bound<'_, PyAny>) -> PyResult<R>,
    mut after: After<'_, '_>,
) -> Option<R>
where
    A: for<'py> pyo3::call::PyCallArgs<'py>,
{
    with(number, name, |py, point| {
        let method = point.method(name).expect("a function is in the table where the class has the method");
        if name == "on_timer" {
            // One that the method does not set again is off.
            point.object.setattr(py, intern!(py, "timeout"), py.None())?;
        }
        after.offer_words(py, point)?;
        let answer = answer(method.bind(py).call1(arguments(py)?)?)?;
        after.take(py, point)?;
        Ok(answer)
    })
}

/// Calls the method of a timer that has run out at `now`: the timer is cleared first, and is set to a later time or to none.
pub(super) fn run_out<A>(
    number: u64,
    now: u64,
    arguments: impl FnOnce(Python<'_>) -> PyResult<A>,
    mut after: After<'_, '_>,
) where
    A: for<'py> pyo3::call::PyCallArgs<'py>,
{
    with(number, "on_timer", |py, point| {
        point.object.bind(py).setattr(intern!(py, "timeout"), py.None())?;
        let method = point.method("on_timer").expect("a function is in the table where the class has the method");
        after.offer_words(py, point)?;
        method.bind(py).call1(arguments(py)?)?;
        after.take(py, point)?;
        match point.read_timeout(py)? {
            timeout if timeout <= now => {
                Err(PyValueError::new_err(format!("timeout is {timeout}: a time later than now, {now} ps, or None")))
            }
            _ => Ok(()),
        }
    });
}

/// Makes an object of a role's class, and keeps it.
pub(super) fn make<A>(
    class: &Arc<Class>,
    role: Role,
    arguments: impl FnOnce(Python<'_>) -> PyResult<A>,
    after: After<'_, '_>,
) -> u64
where
    A: for<'py> pyo3::call::PyCallArgs<'py>,
{
    if failure::failed() {
        return 0;
    }
    let made = |py: Python<'_>| {
        let object = class.role(role).bind(py).call1(arguments(py)?)?.unbind();
        let line = if let After::Limits(limits) = &after { limits.rate } else { 0 };
        let point = Point::new(py, Arc::clone(class), role, object, line)?;
        after.take(py, &point)?;
        Ok(keep(point))
    };
    Python::attach(|py| made(py).map_err(|error| failure::fail(error, &class.location, None)).unwrap_or(0))
}

/// Copies an object as deep as it is: the number of the copy.
pub(super) fn copy(number: u64) -> u64 {
    let copied = |py: Python<'_>, point: &Point| {
        let object = py.import("copy")?.call_method1("deepcopy", (&point.object,))?.unbind();
        Ok(keep(Point::new(py, Arc::clone(&point.class), point.role, object, point.line)?))
    };
    with(number, "clone", copied).unwrap_or(0)
}
