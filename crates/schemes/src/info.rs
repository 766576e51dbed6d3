//! What a scheme says of itself: its parameters, profiles and properties. From here come the TOML keys, the JSON schema,
//! `penstock schemes NAME`, the reference pages, and what the theory and the search for parameters know of a scheme; nothing
//! of it is written twice.

use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::units::{BitRate, Duration, Octets};

/// A scheme's entry in the registry.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// The one word for the scheme, everywhere: files, TOML, command line, reference pages.
    pub name: &'static str,
    /// The scheme's full name.
    pub title: &'static str,
    /// Where it is defined.
    pub source: &'static str,
    /// What it does, in a sentence or two.
    pub description: &'static str,
    /// Every parameter, in the order in which it is shown.
    pub parameters: &'static [Parameter],
    /// Named sets of parameter values.
    pub profiles: &'static [Profile],
    /// The parameter that says at which length the queue is to be held, a [`Unit::Threshold`]; `None` where none does.
    pub set_point: Option<&'static str>,
    /// How a source hears of its queue; `None` in a scheme without signals.
    pub signals: Option<Signals>,
    /// What an operator sets and a search for better values varies: each entry is a number among the parameters, followed by
    /// those that take its value too.
    pub tuned: &'static [&'static [&'static str]],
    /// Without signals, the rate returns to line rate by itself.
    pub recovers_alone: bool,
    /// A signal can raise the rate.
    pub raises_on_signal: bool,
    /// State is integer only, so that hardware can be held to it bit for bit.
    pub integer_state: bool,
}

/// How a source hears of its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signals {
    /// The way of what tells it.
    pub path: SignalPath,
    /// Length of the control frame that reaches the source, with FCS, without preamble and gap.
    pub octets: u16,
}

impl Signals {
    /// The congestion point sends the source signals of `octets`.
    #[must_use]
    pub const fn backward(octets: u16) -> Self {
        Self { path: SignalPath::Backward, octets }
    }

    /// The destination sends the source signals of `octets`.
    #[must_use]
    pub const fn by_destination(octets: u16) -> Self {
        Self { path: SignalPath::ByDestination, octets }
    }
}

/// The way from a queue to the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalPath {
    /// The congestion point sends a signal straight back.
    Backward,
    /// A data frame or a probe goes on to the destination, which sends a signal back.
    ByDestination,
}

/// One parameter of a scheme.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// The standard's name in snake case, or the paper's.
    pub name: &'static str,
    /// What the number counts.
    pub unit: Unit,
    /// Value when neither profile nor scenario sets it.
    pub default: Value,
    /// Smallest legal value (for [`Unit::Choice`] and [`Unit::Switch`]: the default).
    pub minimum: Value,
    /// Largest legal value (for [`Unit::Choice`] and [`Unit::Switch`]: the default).
    pub maximum: Value,
    /// What else holds it, if anything does.
    pub bound: Option<Bound>,
    /// Where it has an effect; `None` for everywhere.
    pub when: Option<Condition>,
    /// Standard and clause, managed object, or paper and equation.
    pub source: &'static str,
    /// What it does.
    pub description: &'static str,
}

/// What a parameter must fit to besides its range. Scenarios refuse what does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Not below this parameter of the same scheme, which is in the same unit.
    AtLeast(&'static str),
    /// A rate, not above that of the fastest line on which a flow begins: no source could obey it.
    AtMostLine,
}

/// That another parameter has one of some values.
#[derive(Debug, Clone, Copy)]
pub struct Condition {
    /// The other parameter of the same scheme: a choice or a switch.
    pub parameter: &'static str,
    /// Its values.
    pub values: &'static [Value],
}

/// A named set of parameter values, the same name wherever the set is meant.
#[derive(Debug, Clone, Copy)]
pub struct Profile {
    /// Such as `ieee-2010`.
    pub name: &'static str,
    /// Whose reading it is.
    pub description: &'static str,
    /// The parameters that differ from the defaults.
    pub settings: &'static [(&'static str, Value)],
}

/// The unit of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Octets, as [`Value::Int`].
    Octets,
    /// A queue length in octets, as [`Value::Int`]; scenarios refuse one beyond the smallest queue that the scheme watches.
    Threshold,
    /// A duration in picoseconds, as [`Value::Int`].
    Time,
    /// Bits per second, as [`Value::Int`].
    BitRate,
    /// A plain whole number, as [`Value::Int`].
    Count,
    /// A plain number, as [`Value::Real`].
    Ratio,
    /// One of these words, as [`Value::Choice`].
    Choice(&'static [&'static str]),
    /// True or false, as [`Value::Switch`].
    Switch,
}

/// The value of a parameter, in the base unit of its [`Unit`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// Octets, picoseconds, bits per second or a count.
    Int(u64),
    /// A ratio.
    Real(f64),
    /// A word.
    Choice(&'static str),
    /// On or off.
    Switch(bool),
}

impl Parameter {
    /// Whether `value` is of this parameter's kind and within its range.
    #[must_use]
    pub fn accepts(&self, value: Value) -> bool {
        match (self.unit, value, self.minimum, self.maximum) {
            (Unit::Choice(words), Value::Choice(w), ..) => words.contains(&w),
            (Unit::Switch, Value::Switch(_), ..) => true,
            (Unit::Ratio, Value::Real(x), Value::Real(low), Value::Real(high)) => low <= x && x <= high,
            (
                Unit::Octets | Unit::Threshold | Unit::Time | Unit::BitRate | Unit::Count,
                Value::Int(x),
                Value::Int(low),
                Value::Int(high),
            ) => low <= x && x <= high,
            _ => false,
        }
    }

    /// What it does, and where it has an effect, as text for people.
    #[must_use]
    pub fn meaning(&self) -> String {
        match self.when {
            Some(condition) => format!("{} Has an effect only where {condition}.", self.description),
            None => self.description.into(),
        }
    }
}

impl fmt::Display for Condition {
    /// As text for people: `` `sampling` is `probability` or `step` ``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is ", self.parameter)?;
        for (i, value) in self.values.iter().enumerate() {
            let or = if i == 0 { "" } else { " or " };
            match value {
                Value::Choice(word) => write!(f, "{or}`{word}`")?,
                Value::Switch(on) => write!(f, "{or}`{on}`")?,
                Value::Int(number) => write!(f, "{or}`{number}`")?,
                Value::Real(number) => write!(f, "{or}`{number}`")?,
            }
        }
        Ok(())
    }
}

impl Info {
    /// The parameter called `name`.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|p| p.name == name)
    }

    /// The profile called `name`.
    #[must_use]
    pub fn profile(&self, name: &str) -> Option<&'static Profile> {
        self.profiles.iter().find(|p| p.name == name)
    }

    /// The length at which the queue is to be held under `values`, one for each parameter in their order.
    #[must_use]
    pub fn set_point(&self, values: &[Value]) -> Option<Octets> {
        let name = self.set_point?;
        let at = self.parameters.iter().position(|p| p.name == name)?;
        Threshold::read(*values.get(at)?).map(|Threshold(octets)| Octets(octets))
    }
}

/// A Rust type that a parameter can have.
pub trait Field: Sized {
    /// Its unit.
    const UNIT: Unit;
    /// The typed value, or `None` if `value` is of another kind.
    fn read(value: Value) -> Option<Self>;
}

impl Field for Octets {
    const UNIT: Unit = Unit::Octets;
    fn read(value: Value) -> Option<Self> {
        if let Value::Int(x) = value { Some(Self(x)) } else { None }
    }
}

/// A queue length at which a scheme acts, in octets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Threshold(pub u64);

impl Field for Threshold {
    const UNIT: Unit = Unit::Threshold;
    fn read(value: Value) -> Option<Self> {
        if let Value::Int(x) = value { Some(Self(x)) } else { None }
    }
}

impl Field for Duration {
    const UNIT: Unit = Unit::Time;
    fn read(value: Value) -> Option<Self> {
        if let Value::Int(x) = value { Some(Self(x)) } else { None }
    }
}

impl Field for BitRate {
    const UNIT: Unit = Unit::BitRate;
    fn read(value: Value) -> Option<Self> {
        if let Value::Int(x) = value { Some(Self(x)) } else { None }
    }
}

impl Field for u32 {
    const UNIT: Unit = Unit::Count;
    fn read(value: Value) -> Option<Self> {
        if let Value::Int(x) = value { Self::try_from(x).ok() } else { None }
    }
}

impl Field for f64 {
    const UNIT: Unit = Unit::Ratio;
    fn read(value: Value) -> Option<Self> {
        if let Value::Real(x) = value { Some(x) } else { None }
    }
}

impl Field for bool {
    const UNIT: Unit = Unit::Switch;
    fn read(value: Value) -> Option<Self> {
        if let Value::Switch(x) = value { Some(x) } else { None }
    }
}

/// Values as parameter declarations write them.
pub mod values {
    use super::Value;

    /// Octets.
    #[must_use]
    pub const fn octets(n: u64) -> Value {
        Value::Int(n)
    }
    /// Microseconds.
    #[must_use]
    pub const fn us(n: u64) -> Value {
        Value::Int(n * 1_000_000)
    }
    /// Bits per second.
    #[must_use]
    pub const fn bps(n: u64) -> Value {
        Value::Int(n)
    }
    /// Kilobits (1000 bits) per second.
    #[must_use]
    pub const fn kbps(n: u64) -> Value {
        Value::Int(n * 1000)
    }
    /// Megabits per second.
    #[must_use]
    pub const fn mbps(n: u64) -> Value {
        Value::Int(n * 1_000_000)
    }
    /// A whole number.
    #[must_use]
    pub const fn count(n: u64) -> Value {
        Value::Int(n)
    }
    /// A number.
    #[must_use]
    pub const fn real(x: f64) -> Value {
        Value::Real(x)
    }
    /// One of a parameter's words.
    #[must_use]
    pub const fn choice(word: &'static str) -> Value {
        Value::Choice(word)
    }
    /// True or false.
    #[must_use]
    pub const fn switch(on: bool) -> Value {
        Value::Switch(on)
    }
}

/// Declares an enum whose variants are the words of a parameter.
#[macro_export]
macro_rules! choice {
    ($(#[$doc:meta])* pub enum $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }
        impl $crate::info::Field for $name {
            const UNIT: $crate::info::Unit = $crate::info::Unit::Choice(&[$($word),+]);
            fn read(value: $crate::info::Value) -> Option<Self> {
                match value {
                    $($crate::info::Value::Choice($word) => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}
pub use choice;

/// Declares a typed configuration and its parameter list at once:
/// `name: Type = default, minimum => maximum; "source", "description";` (words and switches have no range). A range may
/// be followed by a [`Bound`]: `at_least OTHER` or `at_most line`. The description may be followed by a [`Condition`]:
/// `when OTHER = "word" | "another word"`, or `when OTHER = true`.
///
/// Lines `..part: List;` at the head take in the parameters of another declaration, as a field `part`: what two schemes
/// share is declared once.
#[macro_export]
macro_rules! parameters {
    (@range $default:expr,) => { ($default, $default) };
    (@range $default:expr, $min:expr, $max:expr) => { ($min, $max) };
    (@bound) => { None };
    (@bound at_least $other:ident) => { Some($crate::info::Bound::AtLeast(stringify!($other))) };
    (@bound at_most line) => { Some($crate::info::Bound::AtMostLine) };
    (@when) => { None };
    (@when $key:ident $($value:tt)+) => {
        Some($crate::info::Condition {
            parameter: stringify!($key),
            values: &[$($crate::parameters!(@value $value)),+],
        })
    };
    (@value true) => { $crate::info::Value::Switch(true) };
    (@value false) => { $crate::info::Value::Switch(false) };
    (@value $word:literal) => { $crate::info::Value::Choice($word) };
    ($(#[$doc:meta])* pub struct $config:ident {
        $(..$part:ident : $list:ty;)*
        $($name:ident : $type:ty = $default:expr $(, $min:expr => $max:expr $(, $bound:ident $other:ident)?)?;
            $source:literal, $text:literal $(, when $key:ident = $($value:tt)|+)?;)*
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $config {
            $(#[doc = concat!("The parameters of `", stringify!($list), "`.")] pub $part: $list,)*
            $(#[doc = $text] pub $name: $type,)*
        }
        impl $config {
            /// Every parameter, in the order of the fields.
            pub const PARAMETERS: &'static [$crate::info::Parameter] = {
                const OWN: &[$crate::info::Parameter] = &[$({
                    let (minimum, maximum) = $crate::parameters!(@range $default, $($min, $max)?);
                    $crate::info::Parameter {
                        name: stringify!($name),
                        unit: <$type as $crate::info::Field>::UNIT,
                        default: $default,
                        minimum,
                        maximum,
                        bound: $crate::parameters!(@bound $($($bound $other)?)?),
                        when: $crate::parameters!(@when $($key $($value)+)?),
                        source: $source,
                        description: $text,
                    }
                },)*];
                const LISTS: &[&[$crate::info::Parameter]] = &[$(<$list>::PARAMETERS,)* OWN];
                &$crate::info::joined::<{ $crate::info::total(LISTS) }>(LISTS)
            };
        }
        impl $crate::info::Configuration for $config {
            fn from_values(values: &[$crate::info::Value]) -> Option<Self> {
                $(let ($part, values) = values.split_at_checked(<$list>::PARAMETERS.len())?;)*
                let mut values = values.iter().copied();
                let config = Self {
                    $($part: $crate::info::Configuration::from_values($part)?,)*
                    $($name: $crate::info::Field::read(values.next()?)?,)*
                };
                values.next().is_none().then_some(config)
            }
        }
    };
}
pub use parameters;

/// How many parameters `lists` have together.
#[doc(hidden)]
pub const fn total(lists: &[&[Parameter]]) -> usize {
    let (mut sum, mut list) = (0, 0);
    while list < lists.len() {
        sum += lists[list].len();
        list += 1;
    }
    sum
}

/// The parameters of `lists`, one list after the other; `N` is their [`total`].
#[doc(hidden)]
pub const fn joined<const N: usize>(lists: &[&[Parameter]]) -> [Parameter; N] {
    // Each place is overwritten below.
    const PLACE: Parameter = Parameter {
        name: "",
        unit: Unit::Count,
        default: Value::Int(0),
        minimum: Value::Int(0),
        maximum: Value::Int(0),
        bound: None,
        when: None,
        source: "",
        description: "",
    };
    let mut all = [PLACE; N];
    let (mut at, mut list) = (0, 0);
    while list < lists.len() {
        let mut i = 0;
        while i < lists[list].len() {
            all[at] = lists[list][i];
            at += 1;
            i += 1;
        }
        list += 1;
    }
    all
}

/// A configuration that can be made from one value per parameter.
pub trait Configuration: Sized {
    /// `values` in the order of the parameters; `None` if their number or kinds differ.
    fn from_values(values: &[Value]) -> Option<Self>;
}

#[cfg(test)]
mod tests {
    #![allow(unreachable_pub, reason = "the macro declares public types")]

    use super::values::{count, switch};
    use super::{Condition, Configuration, Value};

    parameters! {
        /// What two schemes share.
        pub struct Shared {
            a: u32 = count(1), count(0) => count(9); "here", "First.";
            b: bool = switch(false); "here", "Second.";
        }
    }

    parameters! {
        /// A scheme's own.
        pub struct Own {
            ..shared: Shared;
            c: u32 = count(3), count(0) => count(9); "here", "Third.", when b = true;
        }
    }

    #[test]
    fn a_parameter_says_where_it_has_an_effect() {
        let [a, _, c] = Own::PARAMETERS else { panic!("three parameters") };
        assert_eq!(a.meaning(), "First.");
        assert_eq!(c.meaning(), "Third. Has an effect only where `b` is `true`.");
        let words = Condition { parameter: "how", values: &[Value::Choice("so"), Value::Choice("otherwise")] };
        assert_eq!(alloc::format!("{words}"), "`how` is `so` or `otherwise`");
    }

    #[test]
    fn lists_that_are_taken_in_come_first() {
        assert!(Own::PARAMETERS.iter().map(|p| p.name).eq(["a", "b", "c"]));
        let values = [count(5), switch(true), count(7)];
        assert_eq!(Own::from_values(&values), Some(Own { shared: Shared { a: 5, b: true }, c: 7 }));
        assert_eq!(Own::from_values(&values[..2]), None, "too few");
        assert_eq!(Own::from_values(&[values[0], values[1], values[2], values[2]]), None, "too many");
        assert_eq!(Own::from_values(&[Value::Switch(true), values[1], values[2]]), None, "another kind");
        assert_eq!(Own::from_values(&[]), None);
    }
}
