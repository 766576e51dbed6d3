//! A scheme of the reader's: a text in a part of Python, which the engine carries as it carries any foreign scheme.
//!
//! ```text
//!   text --penstock-script--> Program --Described--> Definition, whose functions (functions.rs) call the program's methods
//!                                                     on objects by their number (points.rs)
//! ```
//!
//! A scenario names it as on the command line, by its file and class: `own.py:Halving`. The page has one such text at a time.

mod functions;
mod points;

use std::cell::RefCell;
use std::sync::Arc;

use penstock_foreign::define::{self, Described, Written, lasting};
use penstock_scenario::{catalogue, foreign};
use penstock_schemes::foreign::Definition;
use penstock_schemes::foreign::abi::VARIABLES;
use penstock_schemes::{Parameter, Var};
use penstock_script::{Declared, Error, Program, Role};

use crate::Refusal;
use points::Loaded;

pub(crate) use points::{begin, failure, steps};

/// The file of the text, in locations.
const FILE: &str = "own.py";
/// What actions are called, in the order of the bits of a description.
const ACTIONS: [&str; 7] = ["marks", "notifications", "replies", "cuts", "raises", "trims", "neighbour messages"];

/// The text that the page has, and what it is.
struct Current {
    text: String,
    location: String,
    definition: &'static Definition,
}

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let Error { at, message, hint } = error;
        let (line, column) = (Some(at.line), Some(at.column));
        Self { line, column, own: true, key: Some("scheme".to_owned()), message, hint: Some(hint) }
    }
}

/// Takes the text of a scheme, in the place of the one before, if it is right: its location, and its entry as those of
/// [`catalogue::schemes`].
///
/// # Errors
/// If the text is no scheme.
///
/// # Panics
/// Never: the scheme is found that has just been defined.
pub fn define(text: &str) -> Result<(String, String), Refusal> {
    foreign::install(load);
    let known = CURRENT.with_borrow(|own| own.as_ref().is_some_and(|own| own.text == text));
    if !known {
        let fresh = compile(text)?;
        CURRENT.set(Some(fresh));
    }
    let location = CURRENT.with_borrow(|own| own.as_ref().map(|own| own.location.clone()).unwrap_or_default());
    match catalogue::scheme(&location) {
        Ok(entry) => Ok((location, entry.expect("it is loaded"))),
        Err(foreign::Refusal { message, hint }) => {
            CURRENT.set(None);
            let place = Program::new(text).map(|program| program.place_of("name"));
            Err(Error::new(place.unwrap_or(penstock_script::At::START), message, hint).into())
        }
    }
}

/// The scheme at a location, for the scenarios that name it.
fn load(location: &str) -> Result<&'static Definition, foreign::Refusal> {
    CURRENT.with_borrow(|own| match own {
        Some(own) if own.location == location => Ok(own.definition),
        Some(own) if location.starts_with(FILE) => Err(foreign::Refusal {
            message: format!("\"{location}\" is not the scheme in the editor"),
            hint: format!("write \"{}\"", own.location),
        }),
        _ => Err(foreign::Refusal {
            message: format!("\"{location}\" is a file, and the page has one of a scheme in the editor alone"),
            hint: format!("write the scheme under \"Your own scheme\", and name it \"{FILE}:MyScheme\""),
        }),
    })
}

fn compile(text: &str) -> Result<Current, Refusal> {
    let program = Program::new(text)?;
    let location = format!("{FILE}:{}", program.class);
    let parameters = program.parameters.iter().map(parameter).collect::<Result<Vec<_>, Error>>()?;
    let units = parameters.iter().map(|own| own.unit).collect();
    let name =
        program.text("name").filter(|name| !name.is_empty()).map_or_else(|| name_of(&program.class), str::to_owned);
    let description = if program.description.is_empty() { "A scheme of the reader's." } else { &program.description };
    let var = |(name, meaning): &(String, String)| Var { name: lasting(name), description: lasting(meaning) };
    let variables = [&program.variables[0], &program.variables[1]].map(|own| own.iter().map(var).collect::<Vec<_>>());
    if variables.iter().any(|own| own.len() > VARIABLES) {
        return Err(
            Error::new(program.at, format!("more than {VARIABLES} variables of a point"), "record fewer").into()
        );
    }
    let [cp, rp] = variables;
    let described = Described {
        name: lasting(&name),
        title: lasting(description.lines().next().unwrap_or_default()),
        source: lasting(program.text("source").unwrap_or("a class in Python")),
        description: lasting(description),
        parameters,
        profiles: Vec::new(),
        variables: [cp, rp, Vec::new()],
        set_point: program.text("set_point").map(lasting),
        user: 0,
        // The number of an object.
        memory: [8; 3],
        properties: properties(&program),
        actions: actions(&program)?,
        tag_octets: program.octets("tag_octets", 0),
        echo_octets: program.octets("echo_octets", 0),
        signal_octets: program.octets("signal_octets", 64).max(64),
        functions: functions::table(&program),
        carrier: None,
        guard: None,
    };
    let at = program.place_of("name");
    let user = points::keep(Arc::new(Loaded::new(program, units)));
    let described = Described { user, ..described };
    let definition = described.define(&location).map_err(|foreign::Refusal { message, hint }| {
        let own = message.strip_prefix(&format!("{location}: ")).unwrap_or(&message).to_owned();
        Error::new(at, own, hint)
    })?;
    Ok(Current { text: text.to_owned(), location, definition })
}

/// As `penstock.Scheme` makes a name from that of the class: `MyScheme` is "my-scheme".
fn name_of(class: &str) -> String {
    let letter = |letter: char| {
        let small = letter.to_lowercase();
        if letter.is_uppercase() { format!("-{small}") } else { letter.to_string() }
    };
    class.chars().map(letter).collect::<String>().trim_matches(['-', '_']).to_owned()
}

fn parameter(own: &Declared) -> Result<Parameter, Error> {
    let [default, minimum, maximum] = &own.range;
    let or_default = |text: &'_ String| if text.is_empty() { default.clone() } else { text.clone() };
    let (minimum, maximum) = (or_default(minimum), or_default(maximum));
    let source = if own.source.is_empty() { "the scheme's file" } else { &own.source };
    let description = if own.description.is_empty() { &own.name } else { &own.description };
    let range = [default.as_str(), minimum.as_str(), maximum.as_str()];
    let written = Written {
        name: &own.name,
        unit: &own.unit,
        words: &own.words,
        range,
        bound: None,
        when: None,
        source,
        description,
    };
    let read = written.read().map_err(|(message, hint)| Error::new(own.at, message, hint))?;
    if !read.accepts(read.default) {
        let message = format!("parameter {}: {default} is not within {minimum} to {maximum}", own.name);
        return Err(Error::new(own.at, message, "widen the range, or move the value into it"));
    }
    Ok(read)
}

fn properties(program: &Program) -> u32 {
    let signals = program.text("signals").unwrap_or("");
    let all = [
        (program.method(Role::Notification, "acknowledge").is_some(), define::ACKNOWLEDGES),
        (signals == "backward", define::SIGNALS_BACKWARD),
        (signals == "by destination", define::SIGNALS_FORWARD),
        (program.switch("remembers_flows", false), define::REMEMBERS_FLOWS),
        (program.switch("needs_trimming", false), define::NEEDS_TRIMMING),
        (program.switch("needs_order", true), define::NEEDS_ORDER),
        (program.switch("recovers_alone", false), define::RECOVERS_ALONE),
        (program.switch("raises_on_signal", true), define::RAISES_ON_SIGNAL),
    ];
    all.into_iter().filter(|(has, _)| *has).map(|(_, bit)| bit).sum()
}

fn actions(program: &Program) -> Result<u32, Error> {
    let mut bits = 0;
    for own in program.actions().unwrap_or_else(|| vec!["cuts", "raises"]) {
        let Some(place) = ACTIONS.iter().position(|known| *known == own) else {
            let hint = format!("the actions are {}", ACTIONS.join(", "));
            return Err(Error::new(program.place_of("actions"), format!("\"{own}\" is no action"), hint));
        };
        bits |= 1 << place;
    }
    Ok(bits)
}
