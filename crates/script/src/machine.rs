//! Calls: a method runs on an object, for a limited number of steps.

use crate::code::{Class, Does, Expr, Function, Method, Named, Stmt, Target, Unary, What};
use crate::value::{Binary, Comparison, Value, binary, compare};
use crate::{At, Error, field};

/// The most steps of a call: expressions and statements that it evaluates.
pub const FUEL: u32 = 50_000;
/// The deepest nesting of calls, blocks and expressions of a call.
const DEEPEST: u32 = 200;

/// The state of a point: its fields, and where those that the engine reads were set last.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    pub(crate) fields: Vec<Value>,
    pub(crate) set: [At; field::NAMES.len()],
}

impl Object {
    /// A field that every point has, by its number in [`field`], and where it was set last.
    #[must_use]
    pub fn field(&self, slot: usize) -> (&Value, At) {
        (&self.fields[slot], self.set[slot])
    }

    /// Sets such a field from outside.
    pub fn set_field(&mut self, slot: usize, value: Value) {
        self.fields[slot] = value;
    }
}

/// A signal that a method has sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// 0 to the source, 1 to the destination, 2 to the previous hop.
    pub to: u32,
    /// The flow.
    pub flow: u32,
    /// It goes in the queue of control frames.
    pub control: bool,
    /// 0 a notification, 1 a probe, 2 a reply.
    pub kind: u8,
    /// Length of the frame with FCS.
    pub octets: u16,
    /// Its content.
    pub word: [u64; 4],
}

/// How a statement ends.
enum Flow {
    Next,
    Break,
    Continue,
    Return(Value),
}

pub(crate) struct Machine<'a> {
    pub(crate) class: &'a Class,
    /// The parameters' names and values.
    pub(crate) names: &'a [String],
    pub(crate) values: &'a [Value],
    pub(crate) object: &'a mut Object,
    pub(crate) fuel: u32,
    pub(crate) depth: u32,
    pub(crate) sent: Vec<Sent>,
}

impl Machine<'_> {
    pub(crate) fn call(&mut self, method: &Method, arguments: &[Value]) -> Result<Value, Error> {
        let mut locals: Vec<Value> = method.locals.iter().map(|(_, value)| value.clone()).collect();
        locals[..arguments.len()].clone_from_slice(arguments);
        match self.block(&method.body, method, &mut locals)? {
            Flow::Return(value) => Ok(value),
            _ => Ok(Value::None),
        }
    }

    fn step(&mut self, at: At) -> Result<(), Error> {
        match self.fuel.checked_sub(1) {
            Some(left) => self.fuel = left,
            None => {
                let message = format!("after {FUEL} steps the method has not returned");
                return Err(Error::new(at, message, "end the loop: a method runs at a frame or a timer"));
            }
        }
        Ok(())
    }

    fn deeper(&mut self, at: At) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Error::new(at, "methods call one another without an end", "use a loop"));
        }
        self.step(at)
    }

    fn block(&mut self, body: &[Stmt], method: &Method, locals: &mut [Value]) -> Result<Flow, Error> {
        for own in body {
            self.deeper(own.at)?;
            let flow = self.statement(own, method, locals)?;
            self.depth -= 1;
            if !matches!(flow, Flow::Next) {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, own: &Stmt, method: &Method, locals: &mut [Value]) -> Result<Flow, Error> {
        match &own.what {
            Does::Value(expr) => drop(self.value(expr, method, locals)?),
            Does::Assign(targets, expr) => {
                let value = self.value(expr, method, locals)?;
                for target in targets {
                    self.assign(target, value.clone(), own.at, locals)?;
                }
            }
            Does::Augment(target, op, expr) => {
                let before = match target {
                    Target::Local(slot) => local(method, locals, *slot, own.at)?,
                    Target::Field(slot, at) => self.field(*slot, *at)?,
                    Target::Parameters | Target::Tuple(_) => {
                        return Err(Error::new(own.at, "no arithmetic with several values", "assign them one by one"));
                    }
                };
                let value = self.value(expr, method, locals)?;
                let value = self.binary(*op, &before, &value, own.at)?;
                self.assign(target, value, own.at, locals)?;
            }
            Does::If(branches, otherwise) => {
                for (condition, body) in branches {
                    if self.value(condition, method, locals)?.is_true() {
                        return self.block(body, method, locals);
                    }
                }
                return self.block(otherwise, method, locals);
            }
            Does::While(condition, body) => {
                while self.value(condition, method, locals)?.is_true() {
                    match self.block(body, method, locals)? {
                        Flow::Break => break,
                        returned @ Flow::Return(_) => return Ok(returned),
                        Flow::Next | Flow::Continue => {}
                    }
                }
            }
            Does::For(slot, arguments, body) => return self.for_range(*slot, arguments, body, own.at, method, locals),
            Does::Break => return Ok(Flow::Break),
            Does::Continue => return Ok(Flow::Continue),
            Does::Return(None) => return Ok(Flow::Return(Value::None)),
            Does::Return(Some(expr)) => return Ok(Flow::Return(self.value(expr, method, locals)?)),
            Does::Pass => {}
        }
        Ok(Flow::Next)
    }

    fn for_range(
        &mut self,
        slot: usize,
        arguments: &[Expr],
        body: &[Stmt],
        at: At,
        method: &Method,
        locals: &mut [Value],
    ) -> Result<Flow, Error> {
        let mut bounds = [0, 0, 1];
        for (i, expr) in arguments.iter().enumerate() {
            let value = self.value(expr, method, locals)?;
            let Some(whole) = value.whole() else {
                let message = format!("a range of {}", value.kind());
                return Err(Error::new(expr.at, message, "write a whole number, or int(…)"));
            };
            bounds[if arguments.len() == 1 { 1 } else { i }] = whole;
        }
        let [mut next, end, step] = bounds;
        if step == 0 {
            return Err(Error::new(at, "a range with steps of zero", "write another step"));
        }
        while if step > 0 { next < end } else { next > end } {
            self.step(at)?;
            locals[slot] = Value::Int(next);
            match self.block(body, method, locals)? {
                Flow::Break => break,
                returned @ Flow::Return(_) => return Ok(returned),
                Flow::Next | Flow::Continue => {}
            }
            next = next.saturating_add(step);
        }
        Ok(Flow::Next)
    }

    fn assign(&mut self, target: &Target, value: Value, at: At, locals: &mut [Value]) -> Result<(), Error> {
        match target {
            Target::Local(slot) => locals[*slot] = value,
            Target::Field(slot, at) => {
                if let Some(set) = self.object.set.get_mut(*slot) {
                    *set = *at;
                }
                self.object.fields[*slot] = value;
            }
            Target::Parameters => {
                if value != Value::Parameters {
                    return Err(Error::new(at, "self.p is that of the parameters", "take another name"));
                }
            }
            Target::Tuple(targets) => {
                let Value::Tuple(values) = &value else {
                    let message = format!("{} for {} names", value.kind(), targets.len());
                    return Err(Error::new(at, message, "write as many values, with commas between them"));
                };
                if values.len() != targets.len() {
                    let message = format!("{} values for {} names", values.len(), targets.len());
                    return Err(Error::new(at, message, "write as many values as names"));
                }
                for (target, value) in targets.iter().zip(values.iter()) {
                    self.assign(target, value.clone(), at, locals)?;
                }
            }
        }
        Ok(())
    }

    fn field(&self, slot: usize, at: At) -> Result<Value, Error> {
        match &self.object.fields[slot] {
            Value::Unset => {
                let message = format!("self.{} is read before it is set", self.class.fields[slot].0);
                Err(Error::new(at, message, "set it in the class or in __init__"))
            }
            value => Ok(value.clone()),
        }
    }

    fn binary(&self, op: Binary, left: &Value, right: &Value, at: At) -> Result<Value, Error> {
        binary(op, left, right).map_err(|message| {
            let hint = match op {
                Binary::Power => "multiply, or write math.sqrt(…)",
                _ if message.contains("zero") => "ask first whether it is zero, or write max(…, 1)",
                _ if message.contains("2^127") => "divide before you multiply, or calculate with float(…)",
                _ => "numbers are what operators take",
            };
            Error::new(at, message, hint)
        })
    }

    pub(crate) fn value(&mut self, own: &Expr, method: &Method, locals: &mut [Value]) -> Result<Value, Error> {
        self.deeper(own.at)?;
        let value = self.value_of(own, method, locals)?;
        self.depth -= 1;
        Ok(value)
    }

    fn value_of(&mut self, own: &Expr, method: &Method, locals: &mut [Value]) -> Result<Value, Error> {
        let at = own.at;
        match &own.what {
            What::Constant(value) => Ok(value.clone()),
            What::Local(slot) => local(method, locals, *slot, at),
            What::Field(slot) => self.field(*slot, at),
            What::Parameters => Ok(Value::Parameters),
            What::Parameter(slot) => Ok(self.values[*slot].clone()),
            What::Attribute(inner, name) => {
                // Most are of a local variable, which need not be copied.
                if let What::Local(slot) = &inner.what {
                    return self.attribute(&locals[*slot], name, at);
                }
                let inner = self.value(inner, method, locals)?;
                self.attribute(&inner, name, at)
            }
            What::Index(both) => {
                let (whole, index) = (self.value(&both.0, method, locals)?, self.value(&both.1, method, locals)?);
                let (Value::Tuple(values), Some(index)) = (&whole, index.whole()) else {
                    let message = format!("{} at a place in {}", index.kind(), whole.kind());
                    return Err(Error::new(at, message, "write a whole number, and before it several values"));
                };
                let length = values.len() as i128;
                let place = if index < 0 { index + length } else { index };
                let value = usize::try_from(place).ok().and_then(|place| values.get(place));
                value.cloned().ok_or_else(|| {
                    let message = format!("place {index} of {length} values");
                    Error::new(at, message, "the first one is at place 0")
                })
            }
            What::Binary(op, both) => {
                let (left, right) = (self.value(&both.0, method, locals)?, self.value(&both.1, method, locals)?);
                self.binary(*op, &left, &right, at)
            }
            What::Unary(op, inner) => {
                let value = self.value(inner, method, locals)?;
                unary(*op, &value, at)
            }
            What::And(both) => {
                let left = self.value(&both.0, method, locals)?;
                if left.is_true() { self.value(&both.1, method, locals) } else { Ok(left) }
            }
            What::Or(both) => {
                let left = self.value(&both.0, method, locals)?;
                if left.is_true() { Ok(left) } else { self.value(&both.1, method, locals) }
            }
            What::Compare(first, rest) => {
                let mut left = self.value(first, method, locals)?;
                for (op, expr) in rest {
                    let right = self.value(expr, method, locals)?;
                    let hint = "numbers have an order; ask with \"is None\" whether there is one";
                    if !compare(*op, &left, &right).map_err(|message| Error::new(at, message, hint))? {
                        return Ok(Value::Bool(false));
                    }
                    left = right;
                }
                Ok(Value::Bool(true))
            }
            What::Choose(three) => {
                let (condition, value, other) = &**three;
                let holds = self.value(condition, method, locals)?.is_true();
                self.value(if holds { value } else { other }, method, locals)
            }
            What::Tuple(all) => Ok(Value::Tuple(self.values(all, method, locals)?.into())),
            What::Call(function, all) => {
                let values = self.values(all, method, locals)?;
                let wrong = |message| Error::new(at, message, "write numbers");
                apply(*function, &values).map_err(wrong)
            }
            What::Method(slot, all) => {
                let values = self.values(all, method, locals)?;
                let class = self.class;
                self.call(&class.methods[*slot], &values)
            }
            What::Send(all, named) => {
                let values = self.values(all, method, locals)?;
                let named = named.iter().map(|(which, expr)| Ok((*which, self.value(expr, method, locals)?)));
                let named = named.collect::<Result<Vec<_>, Error>>()?;
                let sent = signal(&values, &named).map_err(|(message, hint)| Error::new(at, message, hint))?;
                self.sent.push(sent);
                Ok(Value::None)
            }
            What::Keep(slot, expr) => {
                let value = self.value(expr, method, locals)?;
                locals[*slot] = value.clone();
                Ok(value)
            }
        }
    }

    fn values(&mut self, all: &[Expr], method: &Method, locals: &mut [Value]) -> Result<Vec<Value>, Error> {
        all.iter().map(|own| self.value(own, method, locals)).collect()
    }

    fn attribute(&self, own: &Value, name: &str, at: At) -> Result<Value, Error> {
        let (place, fields) = match own {
            Value::Record(kind, values) => {
                let place = kind.fields.iter().position(|field| *field == name);
                (place.map(|place| values[place].clone()), kind.fields.join(", "))
            }
            Value::Parameters => {
                let place = self.names.iter().position(|known| known == name);
                (place.map(|place| self.values[place].clone()), self.names.join(", "))
            }
            _ => (None, String::new()),
        };
        place.ok_or_else(|| {
            let hint = if fields.is_empty() { "it has no fields".to_owned() } else { format!("it has {fields}") };
            Error::new(at, format!("{} has no field {name}", own.kind()), hint)
        })
    }
}

fn local(method: &Method, locals: &[Value], slot: usize, at: At) -> Result<Value, Error> {
    match &locals[slot] {
        Value::Unset => {
            let message = format!("the variable {} is read before it is set", method.locals[slot].0);
            Err(Error::new(at, message, "set it on every way to this line"))
        }
        value => Ok(value.clone()),
    }
}

fn unary(op: Unary, value: &Value, at: At) -> Result<Value, Error> {
    let wrong = || Error::new(at, format!("no arithmetic with {}", value.kind()), "write a number");
    match (op, value.whole(), value) {
        (Unary::Not, ..) => Ok(Value::Bool(!value.is_true())),
        (Unary::Plus, Some(own), _) => Ok(Value::Int(own)),
        (Unary::Minus, Some(own), _) => own.checked_neg().map(Value::Int).ok_or_else(wrong),
        (Unary::Invert, Some(own), _) => Ok(Value::Int(!own)),
        (Unary::Plus, None, Value::Float(own)) => Ok(Value::Float(*own)),
        (Unary::Minus, None, Value::Float(own)) => Ok(Value::Float(-own)),
        _ => Err(wrong()),
    }
}

fn apply(function: Function, values: &[Value]) -> Result<Value, String> {
    let [first, ..] = values else { return Err("no value".to_owned()) };
    let wrong = || format!("a number is to stand where {} stands", first.kind());
    let whole = |own: f64| {
        if own.abs() < 2f64.powi(126) { Ok(Value::Int(own as i128)) } else { Err(format!("{own} as a whole number")) }
    };
    match function {
        Function::Min | Function::Max => {
            let all = match first {
                Value::Tuple(own) if values.len() == 1 => own,
                _ => values,
            };
            let mut rest = all.iter();
            let Some(mut best) = rest.next() else { return Err("no value".to_owned()) };
            let op = if function == Function::Min { Comparison::Less } else { Comparison::Greater };
            for own in rest {
                if compare(op, own, best)? {
                    best = own;
                }
            }
            Ok(best.clone())
        }
        Function::Abs => match first {
            Value::Float(own) => Ok(Value::Float(own.abs())),
            _ => first.whole().and_then(i128::checked_abs).map(Value::Int).ok_or_else(wrong),
        },
        Function::Int | Function::Round | Function::FloorOf | Function::CeilOf => match first {
            Value::Float(own) => whole(match function {
                Function::Int => own.trunc(),
                Function::Round => own.round_ties_even(),
                Function::FloorOf => own.floor(),
                _ => own.ceil(),
            }),
            _ => first.whole().map(Value::Int).ok_or_else(wrong),
        },
        Function::Float => first.real().map(Value::Float).ok_or_else(wrong),
        Function::Bool => Ok(Value::Bool(first.is_true())),
        Function::Len => match first {
            Value::Tuple(own) => Ok(Value::Int(own.len() as i128)),
            _ => Err(format!("{} has no length", first.kind())),
        },
        Function::Sqrt => match first.real() {
            Some(own) if own >= 0.0 => Ok(Value::Float(own.sqrt())),
            Some(own) => Err(format!("the root of {own}")),
            None => Err(wrong()),
        },
    }
}

/// The signal of `self.send(flow, *word, …)`; else the mistake, and what to write.
fn signal(values: &[Value], named: &[(Named, Value)]) -> Result<Sent, (String, String)> {
    let number = |value: &Value, what: &str, least: i128, most: i128| match value.whole() {
        Some(own) if (least..=most).contains(&own) => Ok(own),
        _ => Err((format!("{what} is {}", value.written()), format!("a whole number from {least} to {most}"))),
    };
    let one_of = |value: &Value, what: &str, words: &[&str]| {
        let place = words.iter().position(|word| matches!(value, Value::Text(own) if **own == **word));
        place.ok_or_else(|| (format!("{what} is {}", value.written()), format!("one of {}", words.join(", "))))
    };
    let [flow, words @ ..] = values else { return Err(("no flow".to_owned(), "give one".to_owned())) };
    let flow = number(flow, "the flow", 0, u32::MAX.into())? as u32;
    let mut sent = Sent { to: 0, flow, control: true, kind: 0, octets: 64, word: [0; 4] };
    for (word, value) in sent.word.iter_mut().zip(words) {
        *word = number(value, "a number of the signal", 0, u64::MAX.into())? as u64;
    }
    for (which, value) in named {
        match which {
            Named::To => sent.to = one_of(value, "to", &["source", "destination", "previous hop"])? as u32,
            Named::Kind => sent.kind = one_of(value, "kind", &["notification", "probe", "reply"])? as u8,
            Named::Octets => sent.octets = number(value, "octets", 64, 1522)? as u16,
            Named::Control => sent.control = value.is_true(),
        }
    }
    Ok(sent)
}
