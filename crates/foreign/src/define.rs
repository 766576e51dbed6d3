//! From the description of a scheme to its [`Definition`]: names, ranges and functions are checked.

use penstock_scenario::foreign::Refusal;
use penstock_schemes::foreign::abi::{Function, Functions};
use penstock_schemes::foreign::{Carrier, Definition, Guard};
use penstock_schemes::quantity::Unreadable;
use penstock_schemes::{
    Action, Bound, Condition, Forms, Info, Parameter, Profile, SignalPath, Signals, Unit, Value, Var,
};

/// Destinations acknowledge data frames.
pub const ACKNOWLEDGES: u32 = 1;
/// Congestion points send signals to sources.
pub const SIGNALS_BACKWARD: u32 = 2;
/// Destinations send signals to sources.
pub const SIGNALS_FORWARD: u32 = 4;
/// A congestion point may signal another flow than that of its frame.
pub const REMEMBERS_FLOWS: u32 = 8;
/// Switches cut frames down that find no room.
pub const NEEDS_TRIMMING: u32 = 16;
/// A late frame counts as lost.
pub const NEEDS_ORDER: u32 = 32;
/// Without signals the rate returns to the line's.
pub const RECOVERS_ALONE: u32 = 64;
/// A signal can raise the rate.
pub const RAISES_ON_SIGNAL: u32 = 128;
/// No floating point.
pub const INTEGER_STATE: u32 = 256;

/// The actions of the header, by their bits from the lowest.
pub const ACTIONS: [Action; 7] = [
    Action::Marks,
    Action::Notifications,
    Action::Replies,
    Action::Cuts,
    Action::Raises,
    Action::Trims,
    Action::NeighbourMessages,
];

/// A scheme's description, in texts and lists that last.
#[derive(Debug, Clone)]
pub struct Described {
    /// The name in files.
    pub name: &'static str,
    /// The full name.
    pub title: &'static str,
    /// Where it is defined.
    pub source: &'static str,
    /// How it works.
    pub description: &'static str,
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// The profiles.
    pub profiles: Vec<Profile>,
    /// Variables of congestion points, reaction points and signals.
    pub variables: [Vec<Var>; 3],
    /// The threshold at which the queue is to be held.
    pub set_point: Option<&'static str>,
    /// The word that points get.
    pub user: u64,
    /// Memory of a congestion point, a notification point and a reaction point, octets.
    pub memory: [u32; 3],
    /// Bits of [`ACKNOWLEDGES`] and its neighbours.
    pub properties: u32,
    /// Bits of [`ACTIONS`].
    pub actions: u32,
    /// Octets of a tag.
    pub tag_octets: u16,
    /// Octets of an echo.
    pub echo_octets: u16,
    /// Octets of a signal.
    pub signal_octets: u16,
    /// The functions.
    pub functions: Functions,
    /// The language that runs them.
    pub carrier: Option<Carrier>,
    /// What is done for each run.
    pub guard: Option<Guard>,
}

/// The limit that a text stands for: `at least NAME` or `at most line`.
///
/// # Errors
/// If it is neither.
pub fn limit_of(text: &str) -> Result<Bound, String> {
    match text.strip_prefix("at least ") {
        Some(name) => Ok(Bound::AtLeast(lasting(name.trim()))),
        None if text == "at most line" => Ok(Bound::AtMostLine),
        None => Err(format!("\"{text}\" is no bound")),
    }
}

/// The condition that a text stands for: `NAME = WORD | WORD`. That it names a parameter and its values is checked with the description.
///
/// # Errors
/// If it is of another form.
pub fn condition_of(text: &str) -> Result<Condition, String> {
    let Some((name, words)) = text.split_once('=') else { return Err(format!("\"{text}\" is no condition")) };
    let value = |word: &str| match word.trim() {
        "true" => Value::Switch(true),
        "false" => Value::Switch(false),
        word => Value::Choice(lasting(word)),
    };
    let values: Vec<Value> = words.split('|').map(value).collect();
    Ok(Condition { parameter: lasting(name.trim()), values: values.leak() })
}

/// Why a description is not taken.
pub(crate) fn refused(location: &str, message: impl std::fmt::Display, hint: &str) -> Refusal {
    Refusal { message: format!("{location}: {message}"), hint: hint.to_owned() }
}

/// A text that lasts as long as the process.
#[must_use]
pub fn lasting(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

/// A parameter of a class, with its values as text.
#[derive(Debug, Clone, Copy)]
pub struct Written<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its unit: one of [`Unit::named`], `threshold`, `choice` or `switch`.
    pub unit: &'a str,
    /// The words of a choice.
    pub words: &'a [String],
    /// Default, minimum and maximum.
    pub range: [&'a str; 3],
    /// As [`limit_of`] reads it.
    pub bound: Option<&'a str>,
    /// As [`condition_of`] reads it.
    pub when: Option<&'a str>,
    /// Where it is from.
    pub source: &'a str,
    /// Its effect.
    pub description: &'a str,
}

impl Written<'_> {
    /// The parameter, with texts that last.
    ///
    /// # Errors
    /// If its unit is not known, or a text is none of this unit, no bound or no condition: the mistake and what to write.
    pub fn read(&self) -> Result<Parameter, (String, String)> {
        let Self { name, unit, words, range: [default, minimum, maximum], bound, when, source, description } = *self;
        let of = format!("parameter {name}");
        let unit = match unit {
            "threshold" => Unit::Threshold,
            "switch" => Unit::Switch,
            "choice" => Unit::Choice(words.iter().map(|word| lasting(word)).collect::<Vec<_>>().leak()),
            other => Unit::named(other).ok_or_else(|| {
                let hint = "octets, threshold, s, bit/s, count, ratio, choice or switch";
                (format!("{of}: \"{other}\" is no unit"), hint.to_owned())
            })?,
        };
        let wrong = |message: String| {
            let hint = "bound = \"at least NAME\" or \"at most line\"; when = \"NAME = WORD | WORD\"";
            (format!("{of}: {message}"), hint.to_owned())
        };
        Ok(Parameter {
            name: lasting(name),
            unit,
            default: value(unit, default, &of)?,
            minimum: value(unit, minimum, &of)?,
            maximum: value(unit, maximum, &of)?,
            bound: bound.map(limit_of).transpose().map_err(wrong)?,
            when: when.map(condition_of).transpose().map_err(wrong)?,
            alias: None,
            source: lasting(source),
            description: lasting(description),
        })
    }
}

/// A value in a unit from its text; `of` names what it is of.
///
/// # Errors
/// If it is none: the mistake and what to write.
pub fn value(unit: Unit, text: &str, of: &str) -> Result<Value, (String, String)> {
    match unit {
        Unit::Switch => Ok(Value::Switch(text == "true")),
        Unit::Choice(words) => match words.iter().find(|word| **word == text) {
            Some(word) => Ok(Value::Choice(word)),
            None => Err((format!("{of}: \"{text}\" is none of its words"), words.join(", "))),
        },
        _ => unit.read(text).map_err(|Unreadable { message, hint }| {
            let hint = hint.unwrap_or_else(|| "write a number with its unit, as in \"33 KB\"".to_owned());
            (format!("{of}: {message}"), hint)
        }),
    }
}

impl Described {
    /// The definition, which lasts as long as the process. `location` is where the scheme comes from.
    ///
    /// # Errors
    /// If a name, a range or a set of functions is not legal.
    pub fn define(self, location: &str) -> Result<&'static Definition, Refusal> {
        self.check().map_err(|(message, hint)| refused(location, message, &hint))?;
        let Self { name, title, source, description, set_point, signal_octets, functions, .. } = self;
        let has = |property: u32| self.properties & property != 0;
        let path = match (has(SIGNALS_BACKWARD), has(SIGNALS_FORWARD)) {
            (true, _) => Some(SignalPath::Backward),
            (false, true) => Some(SignalPath::ByDestination),
            (false, false) => None,
        };
        let acts = |action: &&Action| {
            ACTIONS.iter().position(|own| own == *action).is_some_and(|i| self.actions >> i & 1 == 1)
        };
        let actions: Vec<Action> = Action::ALL.iter().filter(acts).copied().collect();
        let info = Info {
            name,
            title,
            source,
            description,
            parameters: self.parameters.leak(),
            profiles: self.profiles.leak(),
            set_point,
            signals: path.map(|path| Signals { path, octets: signal_octets }),
            actions: actions.leak(),
            tuned: &[],
            recovers_alone: has(RECOVERS_ALONE),
            raises_on_signal: has(RAISES_ON_SIGNAL),
            integer_state: has(INTEGER_STATE),
            needs_order: has(NEEDS_ORDER),
            forms: Forms::NONE,
        };
        Ok(Box::leak(Box::new(Definition {
            info: Box::leak(Box::new(info)),
            location: lasting(location),
            user: self.user,
            functions,
            memory: self.memory,
            variables: self.variables.map(|all| -> &'static [Var] { all.leak() }),
            tag_octets: self.tag_octets,
            echo_octets: self.echo_octets,
            acknowledges: has(ACKNOWLEDGES),
            remembers_flows: has(REMEMBERS_FLOWS),
            needs_trimming: has(NEEDS_TRIMMING),
            carrier: self.carrier,
            guard: self.guard,
        })))
    }

    /// Refuses names that files cannot have, values out of their range, and missing functions; with a remedy.
    fn check(&self) -> Result<(), (String, String)> {
        let refuse = |message: String, hint: &str| Err((message, hint.to_owned()));
        if !is_plain(self.name, '-') {
            let message = format!("the name \"{}\" is not legal", self.name);
            return refuse(message, "small letters, digits and '-', at most 40");
        }
        for (i, own) in self.parameters.iter().enumerate() {
            let taken = self.parameters[..i].iter().any(|known| known.name == own.name);
            if !is_plain(own.name, '_') || own.name == "profile" || taken {
                let message = format!("the name \"{}\" of a parameter is not legal, or taken", own.name);
                return refuse(message, "small letters, digits and '_', at most 40; not \"profile\"");
            }
            if !own.accepts(own.default) {
                let Parameter { name, default, minimum, maximum, .. } = own;
                let message = format!("parameter {name}: {default} is not within {minimum} to {maximum}");
                return refuse(message, "widen the range, or move the value into it");
            }
        }
        self.check_limits()?;
        let is_threshold = |name: &str| self.parameters.iter().any(|p| p.name == name && p.unit == Unit::Threshold);
        if let Some(name) = self.set_point.filter(|name| !is_threshold(name)) {
            return refuse(format!("set_point \"{name}\" is no threshold among its parameters"), "name one, or none");
        }
        match self.missing() {
            Some((function, who)) => refuse(
                format!("the function {} is missing, which {who} needs", function.name()),
                "set it in .functions of the description",
            ),
            None => Ok(()),
        }
    }

    /// Refuses bounds, conditions and profiles that name no parameter, or a value that it cannot have.
    fn check_limits(&self) -> Result<(), (String, String)> {
        let refuse = |message: String, hint: &str| Err((message, hint.to_owned()));
        let named = |name: &str| self.parameters.iter().find(|p| p.name == name);
        for own in &self.parameters {
            let fits = match own.bound {
                Some(Bound::AtLeast(other)) => named(other).is_some_and(|p| p.unit == own.unit && p.name != own.name),
                Some(Bound::AtMostLine) => own.unit == Unit::Rate,
                _ => true,
            };
            if !fits {
                let message = format!("the bound of parameter {} does not fit it", own.name);
                return refuse(message, "\"at least NAME\" of another one in its unit; \"at most line\" of a rate");
            }
            let Some(Condition { parameter, values }) = own.when else { continue };
            let words = |p: &&Parameter| matches!(p.unit, Unit::Choice(_) | Unit::Switch);
            if !named(parameter).filter(words).is_some_and(|p| values.iter().all(|value| p.accepts(*value))) {
                let message = format!("the condition of parameter {} names no choice, or none of its words", own.name);
                return refuse(message, "NAME = WORD | WORD, with true and false for a switch");
            }
        }
        for (i, Profile { name, settings, .. }) in self.profiles.iter().enumerate() {
            let taken = self.profiles[..i].iter().any(|known| known.name == *name);
            if !is_plain(name, '-') || taken {
                let message = format!("the name \"{name}\" of a profile is not legal, or taken");
                return refuse(message, "small letters, digits and '-', at most 40");
            }
            let wrong = settings.iter().find(|(name, value)| !named(name).is_some_and(|p| p.accepts(*value)));
            if let Some((set, value)) = wrong {
                let message = format!("profile {name}: {set} = {value} is no parameter, or beyond its range");
                return refuse(message, "name a parameter of the description, and a value within its range");
            }
        }
        Ok(())
    }

    /// A function that the description needs and lacks, and why it needs it.
    fn missing(&self) -> Option<(Function, &'static str)> {
        let f = &self.functions;
        let acknowledges = self.properties & ACKNOWLEDGES != 0;
        let signals = self.properties & (SIGNALS_BACKWARD | SIGNALS_FORWARD) != 0;
        let [cp_variables, rp_variables, _] = &self.variables;
        let made = "a point that is made with parameters";
        [
            (Function::CpConfigure, f.cp_create.is_some() && f.cp_configure.is_none(), made),
            (Function::NpConfigure, f.np_create.is_some() && f.np_configure.is_none(), made),
            (Function::RpConfigure, f.rp_create.is_some() && f.rp_configure.is_none(), made),
            (Function::NpAcknowledge, acknowledges && f.np_acknowledge.is_none(), "a scheme that acknowledges"),
            (Function::RpOnAck, acknowledges && f.rp_on_ack.is_none(), "a scheme that acknowledges"),
            (Function::RpOnSignal, signals && f.rp_on_signal.is_none(), "a scheme with signals"),
            (Function::CpVariables, !cp_variables.is_empty() && f.cp_variables.is_none(), "a point with variables"),
            (Function::RpVariables, !rp_variables.is_empty() && f.rp_variables.is_none(), "a point with variables"),
        ]
        .into_iter()
        .find_map(|(function, missing, who)| missing.then_some((function, who)))
    }
}

/// Whether a name has small letters, digits and `more` alone.
fn is_plain(name: &str, more: char) -> bool {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == more;
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.len() <= 40 && name.chars().all(letter)
}
