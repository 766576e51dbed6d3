//! The points of a scheme: objects by their number, which is all that a point's memory in the engine holds.
//!
//! A browser has one thread, and so has a session: what the points hold belongs to the thread.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use penstock_schemes::Unit;
use penstock_schemes::foreign::abi::{Call, Function, Limits, NEVER, Setup, Signal};
use penstock_script::{Answer, At, Error, Object, Program, Role, Value, field};

/// A program, with its methods by the functions that call them.
pub(super) struct Loaded {
    pub(super) program: Program,
    units: Vec<Unit>,
    methods: Vec<Option<usize>>,
    pub(super) random: bool,
    pub(super) ecn: bool,
}

/// An object of a point.
#[derive(Clone)]
pub(super) struct Point {
    pub(super) loaded: Arc<Loaded>,
    role: Role,
    object: Object,
    values: Arc<[Value]>,
}

/// The objects of all runs. A number is 1 + index; 0 stands for a point whose making has failed.
#[derive(Default)]
struct Slots {
    all: Vec<Option<Point>>,
    free: Vec<usize>,
}

thread_local! {
    static PROGRAMS: RefCell<Vec<Arc<Loaded>>> = const { RefCell::new(Vec::new()) };
    static POINTS: RefCell<Slots> = const { RefCell::new(Slots { all: Vec::new(), free: Vec::new() }) };
    static FAILURE: RefCell<Option<Error>> = const { RefCell::new(None) };
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// The role of a function, and the name of the method that it calls.
pub(super) fn method_of(function: Function) -> Option<(Role, &'static str)> {
    let (point, name) = function.name().split_once('_')?;
    let role = match point {
        "cp" => Role::Congestion,
        "np" => Role::Notification,
        "rp" => Role::Reaction,
        _ => return None,
    };
    Some((role, name))
}

impl Loaded {
    /// A program whose parameters have these units.
    pub(super) fn new(program: Program, units: Vec<Unit>) -> Self {
        let method = |function: &Function| {
            let (role, name) = method_of(*function)?;
            program.method(role, name)
        };
        let methods = Function::ALL.iter().map(method).collect();
        let (random, ecn) = (program.switch("random", false), program.switch("ecn", false));
        Self { program, units, methods, random, ecn }
    }

    /// The parameters as methods have them: octets, ps, bit/s, counts, numbers, True and False, texts.
    fn values(&self, setup: &Setup<'_>) -> Arc<[Value]> {
        let value = |(unit, &word): (&Unit, &u64)| match unit {
            Unit::Real => Value::Float(f64::from_bits(word)),
            Unit::Switch => Value::Bool(word != 0),
            Unit::Choice(words) => Value::Text(words[word as usize].into()),
            _ => Value::Int(word.into()),
        };
        let values: Vec<Value> = self.units.iter().zip(setup.values).map(value).collect();
        self.program.arrange(&values).into()
    }
}

/// Keeps a program: the word that its definition has for its points.
pub(super) fn keep(loaded: Arc<Loaded>) -> u64 {
    PROGRAMS.with_borrow_mut(|all| {
        all.push(loaded);
        all.len() as u64 - 1
    })
}

/// A call of a session begins: nothing has failed in it.
pub(crate) fn begin() {
    FAILURE.take();
    STEPS.set(0);
}

/// Takes the mistake that a method made since [`begin`].
pub(crate) fn failure() -> Option<Error> {
    FAILURE.take()
}

/// Steps of methods since [`begin`].
pub(crate) fn steps() -> u64 {
    STEPS.get()
}

fn fail(error: Error) {
    FAILURE.with_borrow_mut(|failure| {
        failure.get_or_insert(error);
    });
}

fn put(point: Point) -> u64 {
    POINTS.with_borrow_mut(|points| {
        let at = points.free.pop().unwrap_or_else(|| {
            points.all.push(None);
            points.all.len() - 1
        });
        points.all[at] = Some(point);
        at as u64 + 1
    })
}

fn index(number: u64) -> Option<usize> {
    usize::try_from(number).ok()?.checked_sub(1)
}

/// Frees an object.
pub(super) fn free(number: u64) {
    // A thread that ends may have freed all of them.
    let _ = POINTS.try_with(|points| {
        let mut points = points.borrow_mut();
        if let Some(at) = index(number)
            && points.all.get_mut(at).and_then(Option::take).is_some()
        {
            points.free.push(at);
        }
    });
}

/// Copies an object: the number of the copy.
pub(super) fn copy(number: u64) -> u64 {
    let copied = POINTS.with_borrow(|points| points.all.get(index(number)?)?.clone());
    copied.map_or(0, put)
}

/// Makes an object, of which `after` reads what it allows: its number.
pub(super) fn make(
    setup: &Setup<'_>,
    role: Role,
    argument: Value,
    after: impl FnOnce(&Point) -> Result<(), Error>,
) -> u64 {
    let Some(loaded) = PROGRAMS.with_borrow(|all| all.get(setup.user as usize).cloned()) else { return 0 };
    if has_failed() {
        return 0;
    }
    let values = loaded.values(setup);
    let made = loaded.program.make(role, &values, argument).and_then(|object| {
        let point = Point { loaded: Arc::clone(&loaded), role, object, values };
        after(&point)?;
        Ok(point)
    });
    match made {
        Ok(point) => put(point),
        Err(error) => {
            fail(error);
            0
        }
    }
}

fn has_failed() -> bool {
    FAILURE.with_borrow(Option::is_some)
}

/// Lends an object to `act`, unless something has failed; an error ends the run.
pub(super) fn with<R>(number: u64, act: impl FnOnce(&mut Point) -> Result<R, Error>) -> Option<R> {
    if has_failed() {
        return None;
    }
    let at = index(number)?;
    let mut point = POINTS.with_borrow_mut(|points| points.all.get_mut(at)?.take())?;
    let answer = act(&mut point);
    POINTS.with_borrow_mut(|points| points.all[at] = Some(point));
    answer.map_err(fail).ok()
}

impl Point {
    /// Calls the method of a function, if the class has it.
    pub(super) fn call(&mut self, function: Function, arguments: &[Value]) -> Result<Option<Answer>, Error> {
        let Self { loaded, role, object, values } = self;
        let Some(method) = loaded.methods[function as usize] else { return Ok(None) };
        let answer = loaded.program.call(*role, method, object, values, arguments)?;
        STEPS.set(STEPS.get() + u64::from(answer.steps));
        Ok(Some(answer))
    }

    /// New parameters.
    pub(super) fn set_values(&mut self, setup: &Setup<'_>) {
        self.values = self.loaded.values(setup);
    }

    /// The place of a function's method.
    pub(super) fn place_of(&self, function: Function) -> At {
        let method = self.loaded.methods[function as usize];
        method.map_or(self.loaded.program.at, |method| self.loaded.program.place_of_method(self.role, method))
    }

    /// The timer is about to call its method.
    pub(super) fn clear_timeout(&mut self) {
        self.object.set_field(field::TIMEOUT, Value::None);
    }

    /// When the timer is due.
    pub(super) fn timeout(&self) -> Result<u64, Error> {
        let (value, at) = self.object.field(field::TIMEOUT);
        match (value, value.whole()) {
            (Value::None, _) => Ok(NEVER),
            (_, Some(whole)) if (0..i128::from(NEVER)).contains(&whole) => Ok(whole as u64),
            _ => {
                let message = format!("self.timeout is {}", value.written());
                Err(Error::new(at, message, "a whole number of picoseconds from the start of the run, or None"))
            }
        }
    }

    /// The same, where the timer has just run out.
    pub(super) fn next_timeout(&self, now: u64) -> Result<u64, Error> {
        let timeout = self.timeout()?;
        if timeout <= now {
            let message = format!("self.timeout is {timeout}, which is not later than now, {now}");
            return Err(Error::new(self.object.field(field::TIMEOUT).1, message, "write now + the time to wait"));
        }
        Ok(timeout)
    }

    /// What a reaction point allows.
    pub(super) fn limits(&self, limits: &mut Limits) -> Result<(), Error> {
        let line = self.object.field(field::LINE).0.whole().unwrap_or(0);
        let whole = |slot: usize, most: i128, hint: &str| {
            let (value, at) = self.object.field(slot);
            // As from Python: towards zero, and what is beyond 64 bits is their end.
            let whole = match value {
                Value::Float(own) => (!own.is_nan()).then_some((*own as i64).into()),
                _ => value.whole(),
            };
            match whole {
                Some(whole) if (0..=most).contains(&whole) => Ok(whole as i64),
                _ => {
                    let message = format!("self.{} is {}: it is from 0 to {most}", field::NAMES[slot], value.written());
                    Err(Error::new(at, message, hint))
                }
            }
        };
        limits.rate = whole(field::RATE, line, "write min(max(…, 0), self.line)")?;
        limits.window = match self.object.field(field::WINDOW).0 {
            Value::None => -1,
            _ => whole(field::WINDOW, i64::MAX.into(), "write max(…, 0), or None for no window")?,
        };
        limits.limiting = self.object.field(field::LIMITING).0.is_true().into();
        limits.timeout = self.timeout()?;
        Ok(())
    }
}

/// Sends the signals of an answer.
pub(super) fn send(answer: Option<&Answer>, call: &mut Call<'_>) {
    for own in answer.into_iter().flat_map(|answer| &answer.sent) {
        let signal = Signal { word: own.word, octets: own.octets, kind: own.kind, reserved: [0; 5] };
        (call.send)(call, own.to, own.flow, own.control.into(), &signal);
    }
}
