//! A library's description, read: from addresses of C to texts and lists that last.

use std::ffi::{CStr, c_char};
use std::path::Path;

use libloading::{Library, Symbol};
use penstock_scenario::foreign::Refusal;
use penstock_schemes::foreign::Definition;
use penstock_schemes::foreign::abi::{PARAMETERS, VARIABLES, VERSION, WORDS};
use penstock_schemes::foreign::description::{self, Description};
use penstock_schemes::{BitRate, Duration, Octets, Parameter, Unit, Value, Var};

use crate::define::{Described, lasting, refused};

/// The function that a library exports.
const SYMBOL: &str = "penstock_scheme_describe";

/// Loads a library and reads its description.
#[allow(unsafe_code, reason = "a shared library runs its own start code, and what it returns is its own")]
pub(crate) fn of_library(path: &Path, location: &str) -> Result<&'static Definition, Refusal> {
    // SAFETY: the start code of a library is as trusted as the library, which the user has named.
    let library = unsafe { Library::new(path) }.map_err(|error| {
        refused(location, format!("cannot be loaded: {error}"), "build it as a shared library for this machine")
    })?;
    let library = Box::leak(Box::new(library));
    // SAFETY: the header gives the function of this name this type.
    let describe: Result<Symbol<'_, extern "C" fn() -> *const Description>, _> = unsafe { library.get(SYMBOL) };
    let describe = describe.map_err(|_| {
        refused(location, format!("has no function {SYMBOL}"), "export it as penstock_scheme.h declares it")
    })?;
    let description = describe();
    if description.is_null() || !description.is_aligned() {
        return Err(refused(location, format!("{SYMBOL} returns no description"), "return the address of a constant"));
    }
    // SAFETY: the two numbers at the head of a description are the same in every version.
    let (version, size) = unsafe { ((*description).version, (*description).size) };
    if version != VERSION {
        let age = if version < VERSION { "an older" } else { "a newer" };
        let message = format!("is built for {age} interface: version {version}, and this Penstock has {VERSION}");
        return Err(refused(location, message, "build it again with the penstock_scheme.h of this Penstock"));
    }
    if size as usize != size_of::<Description>() {
        let message = format!("its description has {size} octets instead of {}", size_of::<Description>());
        return Err(refused(location, message, "write .size = sizeof(penstock_scheme)"));
    }
    // SAFETY: version and size are ours, and the header says that it lasts as long as the process.
    parts(unsafe { &*description }, location)?.define(location)
}

/// The parts of a description in the layout of C, as texts and lists that last.
fn parts(about: &Description, location: &str) -> Result<Described, Refusal> {
    let counts = [about.cp_variable_count, about.rp_variable_count, about.signal_variable_count];
    let most = [VARIABLES, VARIABLES, WORDS];
    if let Some(i) = (0..3).find(|&i| counts[i] as usize > most[i]) {
        let of = ["congestion points", "reaction points", "signals"][i];
        return Err(refused(location, format!("{} variables of {of}", counts[i]), &format!("at most {}", most[i])));
    }
    if about.parameter_count as usize > PARAMETERS {
        let hint = format!("at most {PARAMETERS}");
        return Err(refused(location, format!("{} parameters", about.parameter_count), &hint));
    }
    let own = list(about.parameters, about.parameter_count).iter();
    let set_point = if about.set_point.is_null() { None } else { Some(text(about.set_point, "set_point", location)?) };
    Ok(Described {
        name: text(about.name, "name", location)?,
        title: text(about.title, "title", location)?,
        source: text(about.source, "source", location)?,
        description: text(about.description, "description", location)?,
        parameters: own.map(|own| parameter(own, location)).collect::<Result<_, _>>()?,
        variables: [
            variables(about.cp_variables, counts[0], location)?,
            variables(about.rp_variables, counts[1], location)?,
            variables(about.signal_variables, counts[2], location)?,
        ],
        set_point,
        user: about.user,
        memory: about.memory,
        properties: about.properties,
        actions: about.actions,
        tag_octets: about.tag_octets,
        echo_octets: about.echo_octets,
        signal_octets: about.signal_octets,
        functions: about.functions,
        carrier: None,
    })
}

fn parameter(own: &description::Parameter, location: &str) -> Result<Parameter, Refusal> {
    let name = text(own.name, "name of a parameter", location)?;
    let error = |message: String, hint: &str| refused(location, format!("parameter {name}: {message}"), hint);
    let unit = match own.unit {
        0 => Unit::Octets,
        1 => Unit::Threshold,
        2 => Unit::Time,
        3 => Unit::Rate,
        4 => Unit::Count,
        5 => Unit::Real,
        6 => {
            let words: Vec<&'static str> = text(own.words, "words of a choice", location)?.split('|').collect();
            Unit::Choice(words.leak())
        }
        7 => Unit::Switch,
        other => return Err(error(format!("{other} is no unit"), "use one of PENSTOCK_OCTETS to PENSTOCK_SWITCH")),
    };
    let value = |word: u64| match unit {
        Unit::Octets | Unit::Threshold => Some(Value::Octets(Octets(word))),
        Unit::Time => Some(Value::Time(Duration(word))),
        Unit::Rate => Some(Value::Rate(BitRate(word))),
        Unit::Count => Some(Value::Count(word)),
        Unit::Real => Some(Value::Real(f64::from_bits(word))),
        Unit::Choice(words) => words.get(usize::try_from(word).ok()?).map(|word| Value::Choice(word)),
        Unit::Switch => (word <= 1).then_some(Value::Switch(word == 1)),
    };
    let words = matches!(unit, Unit::Choice(_) | Unit::Switch);
    let [default, minimum, maximum] =
        [own.standard, if words { own.standard } else { own.minimum }, if words { own.standard } else { own.maximum }];
    let (Some(default), Some(minimum), Some(maximum)) = (value(default), value(minimum), value(maximum)) else {
        return Err(error("its standard value is none of its words".to_owned(), "write the index of one of them"));
    };
    let (source, description) =
        (text(own.source, "source of a parameter", location)?, text(own.description, "description", location)?);
    Ok(Parameter { name, unit, default, minimum, maximum, bound: None, when: None, alias: None, source, description })
}

fn variables(first: *const description::Variable, count: u32, location: &str) -> Result<Vec<Var>, Refusal> {
    let read = |own: &description::Variable| {
        let name = text(own.name, "name of a variable", location)?;
        Ok(Var { name, description: text(own.description, "description of a variable", location)? })
    };
    list(first, count).iter().map(read).collect()
}

#[allow(unsafe_code, reason = "a list of C is an address and a length")]
fn list<'a, T>(first: *const T, count: u32) -> &'a [T] {
    if first.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the description says how long the list is, and lasts as long as the process.
    unsafe { std::slice::from_raw_parts(first, count as usize) }
}

/// A text of C as one that lasts.
#[allow(unsafe_code, reason = "a text of C ends with an octet of zero")]
fn text(text: *const c_char, of: &str, location: &str) -> Result<&'static str, Refusal> {
    if text.is_null() {
        return Err(refused(location, format!("its description has no {of}"), "write a text"));
    }
    // SAFETY: the header asks for a text that ends with zero.
    let octets = unsafe { CStr::from_ptr(text) };
    match octets.to_str() {
        Ok(text) if !text.trim().is_empty() => Ok(lasting(text)),
        _ => Err(refused(location, format!("the {of} is empty, or not UTF-8"), "write a text")),
    }
}
