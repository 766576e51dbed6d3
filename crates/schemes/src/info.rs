//! A scheme's description of itself: its parameters, profiles and properties. From here come the TOML keys, the JSON
//! schema, the output of `penstock schemes NAME` and the reference pages. The theory and the search for parameters know
//! a scheme by it too. Nothing of it is written twice.

mod alias;
mod declare;
mod settings;

use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::units::{BitRate, Duration, Octets, PS_PER_S};

pub use alias::{Alias, AliasUnit};
#[doc(hidden)]
pub use declare::{check, joined, sentence, total};
pub use declare::{choice, parameters, values};
pub use settings::Refused;

/// A scheme's entry in the registry.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// The one word for the scheme, everywhere: files, TOML, command line, reference pages.
    pub name: &'static str,
    /// The scheme's full name.
    pub title: &'static str,
    /// Where it is defined.
    pub source: &'static str,
    /// The working of the scheme, in a sentence or two.
    pub description: &'static str,
    /// Every parameter, in the order in which it is shown.
    pub parameters: &'static [Parameter],
    /// Named sets of parameter values.
    pub profiles: &'static [Profile],
    /// The parameter that says at which length the queue is to be held, a [`Unit::Threshold`]; `None` where none does.
    pub set_point: Option<&'static str>,
    /// How a source hears of its queue; `None` in a scheme without signals.
    pub signals: Option<Signals>,
    /// The scheme's actions when it works, in the order from congestion to its effect. Callers count them. None where the
    /// scheme leaves traffic alone.
    pub actions: &'static [Action],
    /// The numbers that an operator sets and that a search for better values varies: each entry is a parameter,
    /// followed by those that take its value too.
    pub tuned: &'static [&'static [&'static str]],
    /// Without signals, the rate returns to line rate by itself.
    pub recovers_alone: bool,
    /// A signal can raise the rate.
    pub raises_on_signal: bool,
    /// State is integer only, so that hardware can be held to it bit for bit.
    pub integer_state: bool,
    /// The scheme takes a late frame for a lost one, or assumes that all frames of a flow take one path. Switches may then spray
    /// frames only if a transport tolerates reordering.
    pub needs_order: bool,
    /// The forms that the scheme has besides these state machines.
    pub forms: Forms,
}

/// The forms that a scheme has besides its state machines, from which lists of schemes follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forms {
    /// Its signals, tags and echoes have formats of the wire: a capture of a run shows all that its frames carry.
    pub capture: bool,
    /// They are read back from frames ([`Signal::from_message`](crate::Signal::from_message), [`Scheme::from_label`](crate::Scheme::from_label)),
    /// and need no acknowledgements: the testbed runs it.
    pub testbed: bool,
    /// The module of its fluid models, in `penstock.theory.models`.
    pub fluid: Option<&'static str>,
    /// Its cores in SystemVerilog: folders of `rtl`.
    pub cores: &'static [&'static str],
}

impl Forms {
    /// State machines alone.
    pub const NONE: Self = Self { capture: false, testbed: false, fluid: None, cores: &[] };
}

/// An action of a scheme, as a caller sees it, whichever of the scheme's points takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Congestion signals reach their source.
    Notifications,
    /// Probes come back to their source with their answer.
    Replies,
    /// Signals of a congestion point reach the congestion point of the previous hop.
    NeighbourMessages,
    /// Frames reach their destination with a mark of congestion.
    Marks,
    /// A congestion point cuts frames down to their headers.
    Trims,
    /// A congestion point moves frames to another queue.
    Moves,
    /// A reaction point lowers its rate, or its window.
    Cuts,
    /// A reaction point raises its rate, or its window.
    Raises,
}

impl Action {
    /// Every action, in the order from congestion to its effect.
    pub const ALL: &'static [Self] = &[
        Self::Marks,
        Self::Trims,
        Self::Moves,
        Self::NeighbourMessages,
        Self::Notifications,
        Self::Replies,
        Self::Cuts,
        Self::Raises,
    ];

    /// The word for it in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Notifications => "notifications",
            Self::Replies => "replies",
            Self::NeighbourMessages => "neighbour messages",
            Self::Marks => "marks",
            Self::Trims => "trims",
            Self::Moves => "moves",
            Self::Cuts => "cuts",
            Self::Raises => "raises",
        }
    }

    /// The unit of its count.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Notifications => "congestion signals that reached a source",
            Self::Replies => "probes that came back to their source",
            Self::NeighbourMessages => "signals that reached the congestion point of the previous hop, or the source",
            Self::Marks => "frames that reached a destination with a mark of congestion",
            Self::Trims => "frames that were cut down to their headers",
            Self::Moves => "frames that were moved to another queue",
            Self::Cuts => "changes of a reaction point's rate or window that lowered it",
            Self::Raises => "changes of a reaction point's rate or window that raised it",
        }
    }

    /// Whether it answers congestion with an effect on traffic. All else prepares that, or takes it back.
    #[must_use]
    pub const fn is_effect(self) -> bool {
        matches!(self, Self::Cuts | Self::Trims | Self::Moves)
    }
}

/// How a source hears of its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signals {
    /// The path of the signals.
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

/// The path from a queue to the source.
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
    /// The unit of its value.
    pub unit: Unit,
    /// Value when neither profile nor scenario sets it.
    pub default: Value,
    /// Smallest legal value (for [`Unit::Choice`] and [`Unit::Switch`]: the default).
    pub minimum: Value,
    /// Largest legal value (for [`Unit::Choice`] and [`Unit::Switch`]: the default).
    pub maximum: Value,
    /// A limit set by another quantity, if there is one.
    pub bound: Option<Bound>,
    /// Where it has an effect; `None` for everywhere.
    pub when: Option<Condition>,
    /// The name that a vendor of network interfaces has for it.
    pub alias: Option<Alias>,
    /// Standard and clause, managed object, or paper and equation.
    pub source: &'static str,
    /// The effect of the parameter.
    pub description: &'static str,
}

/// A limit of a parameter besides its range. Scenarios refuse values beyond it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Not below this parameter of the same scheme, which is in the same unit.
    AtLeast(&'static str),
    /// A rate, for which thresholds are given: ports of other rates have thresholds in proportion, unless it is 0.
    ScalesThresholds,
    /// A rate, not above that of the fastest line on which a flow begins: no source could obey it.
    AtMostLine,
    /// The round-trip time of the empty network, or the octets that a line sends in it, which scenarios fill in for the word
    /// [`AUTO`](crate::info::AUTO). They refuse no other, and where it is `noted` they say that their flows have others.
    RoundTrip {
        /// Whether the scheme takes it to be exact.
        noted: bool,
    },
    /// A window, as the number of times that it holds this other parameter, a size. Scenarios fill in the bandwidth-delay product for the word
    /// [`AUTO`](crate::info::AUTO): the octets that the source's line sends in the round trip of the empty network, rounded up.
    Window(&'static str),
}

impl Info {
    /// The length of a threshold, `octets`, at a port whose line has rate `line`, under these values, one for each of the scheme's parameters.
    #[must_use]
    pub fn threshold_at(&self, octets: Octets, line: BitRate, values: &[Value]) -> Octets {
        Octets(scaled(octets.0, self.thresholds_at(values), line))
    }

    /// The rate of the lines for which thresholds are given under these values, 0 where they hold for all.
    #[must_use]
    pub fn thresholds_at(&self, values: &[Value]) -> BitRate {
        let mut given = self.parameters.iter().zip(values);
        let scales = |(parameter, value): (&Parameter, &Value)| match (parameter.bound, value) {
            (Some(Bound::ScalesThresholds), Value::Rate(at)) if self.has_effect(parameter, values) => Some(*at),
            _ => None,
        };
        given.find_map(scales).unwrap_or(BitRate::ZERO)
    }
}

/// A threshold given for lines of rate `at` (0: for all) at a port whose line has rate `line`.
#[must_use]
pub(crate) fn scaled(octets: u64, at: BitRate, line: BitRate) -> u64 {
    match u128::from(at.0) {
        0 => octets,
        at => (u128::from(octets) * u128::from(line.0) / at).try_into().unwrap_or(u64::MAX),
    }
}

/// The word for a value that follows from the network: see [`Bound::RoundTrip`] and [`Bound::Window`].
pub const AUTO: &str = "auto";

/// The condition that another parameter has one of the listed values.
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
    /// The source of the values.
    pub description: &'static str,
    /// The parameters that differ from the defaults.
    pub settings: &'static [(&'static str, Value)],
}

/// The unit of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// An amount of data, as [`Value::Octets`].
    Octets,
    /// A queue length, as [`Value::Octets`]; scenarios refuse one beyond the smallest queue that the scheme watches.
    Threshold,
    /// A duration, as [`Value::Time`].
    Time,
    /// A rate, as [`Value::Rate`].
    Rate,
    /// A whole number without a unit, as [`Value::Count`].
    Count,
    /// A number without a unit, as [`Value::Real`].
    Real,
    /// One of these words, as [`Value::Choice`].
    Choice(&'static [&'static str]),
    /// True or false, as [`Value::Switch`].
    Switch,
}

/// The value of a parameter. It carries its unit, so that no value passes for one of another unit; how it is read and written
/// as text is in [`quantity`](crate::quantity).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// An amount of data, or the length of a queue.
    Octets(Octets),
    /// A duration.
    Time(Duration),
    /// A rate.
    Rate(BitRate),
    /// A whole number.
    Count(u64),
    /// A number.
    Real(f64),
    /// A word.
    Choice(&'static str),
    /// On or off.
    Switch(bool),
    /// A rate that follows a line's: this much for each Gb/s. No scheme gets it: see [`Parameter::on_line`].
    PerGbps(BitRate),
}

impl Value {
    /// Whether it is a value in `unit`, one of its words where it has words.
    #[must_use]
    pub const fn is_in(self, unit: Unit) -> bool {
        match (unit, self) {
            (Unit::Octets | Unit::Threshold, Self::Octets(_))
            | (Unit::Time, Self::Time(_))
            | (Unit::Rate, Self::Rate(_))
            | (Unit::Count, Self::Count(_))
            | (Unit::Real, Self::Real(_))
            | (Unit::Switch, Self::Switch(_)) => true,
            (Unit::Choice(words), Self::Choice(word)) => {
                let mut i = 0;
                while i < words.len() && !declare::same(words[i], word) {
                    i += 1;
                }
                i < words.len()
            }
            _ => false,
        }
    }
}

impl Parameter {
    /// Whether `value` is in this parameter's unit and within its range.
    #[must_use]
    pub const fn accepts(&self, value: Value) -> bool {
        if !value.is_in(self.unit) {
            return false;
        }
        match (value, self.minimum, self.maximum) {
            (Value::Octets(x), Value::Octets(low), Value::Octets(high)) => low.0 <= x.0 && x.0 <= high.0,
            (Value::Time(x), Value::Time(low), Value::Time(high)) => low.0 <= x.0 && x.0 <= high.0,
            (Value::Rate(x), Value::Rate(low), Value::Rate(high)) => low.0 <= x.0 && x.0 <= high.0,
            (Value::Count(x), Value::Count(low), Value::Count(high)) => low <= x && x <= high,
            (Value::Real(x), Value::Real(low), Value::Real(high)) => low <= x && x <= high,
            // Words and switches have no range.
            (Value::Choice(_) | Value::Switch(_), ..) => true,
            _ => false,
        }
    }

    /// Whether `value` stands for one that follows the rate of a port's line: a size by the time in which the line sends it, a rate for each Gb/s.
    #[must_use]
    pub const fn follows_line(&self, value: Value) -> bool {
        matches!((self.unit, value), (Unit::Octets | Unit::Threshold, Value::Time(_)) | (Unit::Rate, Value::PerGbps(_)))
    }

    /// The value at a line of rate `line`, rounded down, where `value` [follows](Self::follows_line) the line; any other is as it is. `None` if it is
    /// beyond 64 bits.
    #[must_use]
    pub fn on_line(&self, value: Value, line: BitRate) -> Option<Value> {
        let times = |x: u64, parts: u128| u64::try_from(u128::from(x) * u128::from(line.0) / parts).ok();
        match (self.unit, value) {
            (Unit::Octets | Unit::Threshold, Value::Time(Duration(ps))) => {
                times(ps, 8 * u128::from(PS_PER_S)).map(|octets| Value::Octets(Octets(octets)))
            }
            (Unit::Rate, Value::PerGbps(BitRate(bps))) => {
                times(bps, 1_000_000_000).map(|bps| Value::Rate(BitRate(bps)))
            }
            _ => Some(value),
        }
    }

    /// The effect of the parameter, the condition under which it has one, and a vendor's name of it, as text for people.
    #[must_use]
    pub fn meaning(&self) -> String {
        let mut text: String = self.description.into();
        if let Some(condition) = self.when {
            text += &format!(" Has an effect only where {condition}.");
        }
        if let Some(Alias { name, unit }) = self.alias {
            text += &format!(" NVIDIA calls it `{name}` ({}).", unit.name());
        }
        text
    }
}

impl fmt::Display for Condition {
    /// As text for people: `` `sampling` is `probability` or `step` ``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is ", self.parameter)?;
        for (i, value) in self.values.iter().enumerate() {
            let or = if i == 0 { "" } else { " or " };
            write!(f, "{or}`{value}`")?;
        }
        Ok(())
    }
}

impl Info {
    /// The entry of a type that carries other schemes and is not listed: it says nothing of them.
    pub(crate) const UNLISTED: Self = Self {
        name: "",
        title: "",
        source: "",
        description: "",
        parameters: &[],
        profiles: &[],
        set_point: None,
        signals: None,
        actions: &[],
        tuned: &[],
        recovers_alone: false,
        raises_on_signal: true,
        integer_state: false,
        needs_order: false,
        forms: Forms::NONE,
    };

    /// The parameter called `name`.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|p| p.name == name)
    }

    /// Whether a parameter of the scheme has an effect under these values, one for each of its parameters.
    #[must_use]
    pub fn has_effect(&self, parameter: &Parameter, values: &[Value]) -> bool {
        parameter.when.is_none_or(|condition| {
            let mut all = self.parameters.iter().zip(values);
            all.any(|(other, value)| other.name == condition.parameter && condition.values.contains(value))
        })
    }

    /// The profile called `name`.
    #[must_use]
    pub fn profile(&self, name: &str) -> Option<&'static Profile> {
        self.profiles.iter().find(|p| p.name == name)
    }

    /// The same, with its profiles checked: each sets parameters of the scheme, to values in their units and ranges. In
    /// a constant, a wrong profile does not compile. The registry calls this for every scheme in its list.
    ///
    /// ```
    /// # use penstock_schemes::info::values::us;
    /// # use penstock_schemes::*;
    /// const INFO: Info = Info {
    ///     profiles: &[Profile {
    ///         name: "quick",
    ///         description: "A short cycle.",
    ///         settings: &[("rpg_time_reset", us(10))],
    ///     }],
    ///     ..qcn::Qcn::INFO
    /// }
    /// .checked();
    /// ```
    ///
    /// The same with octets:
    ///
    /// ```compile_fail,E0080
    /// # use penstock_schemes::info::values::octets;
    /// # use penstock_schemes::*;
    /// const INFO: Info = Info {
    ///     profiles: &[Profile {
    ///         name: "quick",
    ///         description: "A short cycle.",
    ///         settings: &[("rpg_time_reset", octets(10))],
    ///     }],
    ///     ..qcn::Qcn::INFO
    /// }
    /// .checked();
    /// ```
    ///
    /// # Panics
    /// If a profile is wrong; the message names profile and parameter.
    #[must_use]
    pub const fn checked(self) -> Self {
        let mut profile = 0;
        while profile < self.profiles.len() {
            declare::check_profile(&self.profiles[profile], self.parameters);
            profile += 1;
        }
        self
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
        if let Value::Octets(x) = value { Some(x) } else { None }
    }
}

/// A queue length at which a scheme acts, in octets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Threshold(pub u64);

impl Field for Threshold {
    const UNIT: Unit = Unit::Threshold;
    fn read(value: Value) -> Option<Self> {
        if let Value::Octets(x) = value { Some(Self(x.0)) } else { None }
    }
}

impl Field for Duration {
    const UNIT: Unit = Unit::Time;
    fn read(value: Value) -> Option<Self> {
        if let Value::Time(x) = value { Some(x) } else { None }
    }
}

impl Field for BitRate {
    const UNIT: Unit = Unit::Rate;
    fn read(value: Value) -> Option<Self> {
        if let Value::Rate(x) = value { Some(x) } else { None }
    }
}

impl Field for u32 {
    const UNIT: Unit = Unit::Count;
    fn read(value: Value) -> Option<Self> {
        if let Value::Count(x) = value { Self::try_from(x).ok() } else { None }
    }
}

impl Field for f64 {
    const UNIT: Unit = Unit::Real;
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

/// A configuration that can be made from one value per parameter.
pub trait Configuration: Sized {
    /// `values` in the order of the parameters; `None` if their number or kinds differ.
    fn from_values(values: &[Value]) -> Option<Self>;
}

#[cfg(test)]
mod tests {
    #![allow(unreachable_pub, reason = "the macro declares public types")]

    use super::values::{count, mbps, octets, switch, us};
    use super::{BitRate, Condition, Configuration, Duration, Parameter, Unit, Value, parameters};

    parameters! {
        /// The keys that two schemes share.
        pub struct Shared {
            /// First.
            a: u32 {
                default: count(1),
                range: count(0)..=count(9),
                source: "here",
            }
            /// Second.
            b: bool {
                default: switch(false),
                source: "here",
            }
        }
    }

    parameters! {
        /// A scheme's own.
        pub struct Own {
            ..shared: Shared;
            /// Third,
            /// in two lines.
            c: u32 {
                default: count(3),
                range: count(0)..=count(9),
                source: "here",
                when: b = true,
            }
        }
    }

    #[test]
    fn a_parameter_says_where_it_has_an_effect() {
        let [a, _, c] = Own::PARAMETERS else { panic!("three parameters") };
        assert_eq!(a.meaning(), "First.");
        assert_eq!(c.meaning(), "Third, in two lines. Has an effect only where `b` is `true`.");
        let words = Condition { parameter: "how", values: &[Value::Choice("so"), Value::Choice("otherwise")] };
        assert_eq!(alloc::format!("{words}"), "`how` is `so` or `otherwise`");
    }

    /// 32 us of 100 Gb/s are 3.2 Mbit, 400 000 octets; 0.2 Mb/s for each Gb/s are 20 Mb/s. 1 ns of 10 Gb/s is 1.25 octets.
    #[test]
    fn a_value_that_follows_the_line() {
        let of = |unit, value, gbps| Parameter { unit, ..Own::PARAMETERS[0] }.on_line(value, BitRate::from_gbps(gbps));
        assert_eq!(of(Unit::Threshold, us(32), 100), Some(octets(400_000)));
        assert_eq!(of(Unit::Octets, Value::Time(Duration(1000)), 10), Some(octets(1)), "rounded down");
        assert_eq!(of(Unit::Rate, Value::PerGbps(BitRate(200_000)), 100), Some(mbps(20)));
        assert_eq!(of(Unit::Octets, Value::Time(Duration(u64::MAX)), 10_000), None, "beyond 64 bits");
        assert_eq!(of(Unit::Time, us(32), 100), Some(us(32)), "a time stays a time");
        assert_eq!(of(Unit::Octets, octets(7), 100), Some(octets(7)));
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
