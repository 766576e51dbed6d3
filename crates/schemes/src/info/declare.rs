//! How parameters are declared: values with their units, the macros, and the checks that the compiler makes of a declaration.

use super::{Parameter, Profile, Unit, Value};

/// Values as parameter declarations write them.
pub mod values {
    use crate::info::Value;
    use crate::units::{BitRate, Duration, Octets};

    /// Octets.
    #[must_use]
    pub const fn octets(n: u64) -> Value {
        Value::Octets(Octets(n))
    }
    /// Microseconds.
    #[must_use]
    pub const fn us(n: u64) -> Value {
        Value::Time(Duration::from_us(n))
    }
    /// Bits per second.
    #[must_use]
    pub const fn bps(n: u64) -> Value {
        Value::Rate(BitRate(n))
    }
    /// Kilobits (1000 bits) per second.
    #[must_use]
    pub const fn kbps(n: u64) -> Value {
        bps(n * 1000)
    }
    /// Megabits per second.
    #[must_use]
    pub const fn mbps(n: u64) -> Value {
        bps(n * 1_000_000)
    }
    /// A whole number.
    #[must_use]
    pub const fn count(n: u64) -> Value {
        Value::Count(n)
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

/// Declares a typed configuration and its parameter list at once: for each parameter its meaning as a comment, its name and
/// type, and a line for each other fact.
///
/// ```
/// use penstock_schemes::info::values::{choice, octets, us};
/// use penstock_schemes::*;
///
/// choice! {
///     /// How the rate comes back.
///     pub enum Raise {
///         /// By a timer.
///         Timer = "timer",
///         /// By a count of octets.
///         Octets = "octets",
///     }
/// }
///
/// parameters! {
///     /// Settings of a scheme.
///     pub struct Config {
///         /// How the rate comes back.
///         raise: Raise {
///             default: choice("timer"),
///             source: "example",
///         }
///         /// Length of a cycle of the timer.
///         rpg_time_reset: Duration {
///             default: us(10),
///             range: us(1)..=us(1000),
///             source: "example",
///             when: raise = "timer",
///         }
///     }
/// }
/// assert_eq!(Config::PARAMETERS[1].default.to_string(), "10 us");
/// ```
///
/// - `default` holds where neither profile nor scenario sets the parameter.
/// - `range` has the smallest and the largest legal value. Words and switches have none.
/// - `at_least: OTHER`, `at_most: line`, `about: round_trip`, `about: some_round_trip` or `scales: thresholds` is a [`Bound`].
/// - `window: OTHER` is a [`Bound`] of a number of [`OTHER`](crate::info::Bound::Window), `alias: NAME in UNIT` an [`Alias`](crate::info::Alias).
/// - `source` is standard and clause, managed object, or paper and equation.
/// - `when: OTHER = "word" | "another word"`, or `when: OTHER = true`, is a [`Condition`].
///
/// Lines `..part: List;` at the head take in the parameters of another declaration, as a field `part`: parameters that
/// two schemes share are declared once.
///
/// A default that is in another unit than its parameter, or out of its range, does not compile:
///
/// ```compile_fail,E0080
/// use penstock_schemes::info::values::{octets, us};
/// use penstock_schemes::*;
///
/// parameters! {
///     /// Settings of a scheme.
///     pub struct Config {
///         /// Length of a cycle of the timer.
///         rpg_time_reset: Duration {
///             default: octets(10),
///             range: us(1)..=us(1000),
///             source: "example",
///         }
///     }
/// }
/// ```
#[macro_export]
macro_rules! parameters {
    (@range $default:expr,) => { ($default, $default) };
    (@range $default:expr, $range:expr) => {{
        let range = $range;
        (*range.start(), *range.end())
    }};
    (@bound) => { None };
    (@bound at_least $other:ident) => { Some($crate::info::Bound::AtLeast(stringify!($other))) };
    (@bound about round_trip) => { Some($crate::info::Bound::RoundTrip { noted: true }) };
    (@bound about some_round_trip) => { Some($crate::info::Bound::RoundTrip { noted: false }) };
    (@bound scales thresholds) => { Some($crate::info::Bound::ScalesThresholds) };
    (@bound window $unit:ident) => { Some($crate::info::Bound::Window(stringify!($unit))) };
    (@alias) => { None };
    (@alias $name:ident $unit:ident $($words:expr)?) => {
        Some($crate::info::Alias { name: stringify!($name), unit: $crate::info::AliasUnit::$unit $(($words))? })
    };
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
        $($(#[doc = $text:literal])+ $name:ident : $type:ty {
            default: $default:expr,
            $(range: $range:expr,)?
            $(at_least: $least:ident,)?
            $(at_most: $most:ident,)?
            $(about: $about:ident,)?
            $(scales: $scaled:ident,)?
            $(window: $window:ident,)?
            $(alias: $alias:ident in $bare:ident $(($words:expr))?,)?
            source: $source:literal,
            $(when: $key:ident = $($value:tt)|+,)?
        })*
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $config {
            $(#[doc = concat!("The parameters of `", stringify!($list), "`.")] pub $part: $list,)*
            $($(#[doc = $text])+ pub $name: $type,)*
        }
        impl $config {
            /// Every parameter, in the order of the fields.
            pub const PARAMETERS: &'static [$crate::info::Parameter] = {
                const OWN: &[$crate::info::Parameter] = &[$({
                    let (minimum, maximum) = $crate::parameters!(@range $default, $($range)?);
                    $crate::info::Parameter {
                        name: stringify!($name),
                        unit: <$type as $crate::info::Field>::UNIT,
                        default: $default,
                        minimum,
                        maximum,
                        bound: $crate::parameters!(@bound $(at_least $least)? $(at_most $most)? $(about $about)? $(scales $scaled)? $(window $window)?),
                        alias: $crate::parameters!(@alias $($alias $bare $($words)?)?),
                        when: $crate::parameters!(@when $($key $($value)+)?),
                        source: $source,
                        description: $crate::info::sentence(concat!($($text),+)),
                    }
                },)*];
                const LISTS: &[&[$crate::info::Parameter]] = &[$(<$list>::PARAMETERS,)* OWN];
                &$crate::info::joined::<{ $crate::info::total(LISTS) }>(LISTS)
            };
        }
        const _: () = $crate::info::check(<$config>::PARAMETERS);
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

/// The text of a comment: its lines, each of which begins with a space, without the first space.
#[doc(hidden)]
#[must_use]
pub const fn sentence(comment: &'static str) -> &'static str {
    if let [b' ', ..] = comment.as_bytes() { comment.split_at(1).1 } else { comment }
}

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
    // Every element of the array is overwritten below.
    const BLANK: Parameter = Parameter {
        name: "",
        unit: Unit::Count,
        default: Value::Count(0),
        minimum: Value::Count(0),
        maximum: Value::Count(0),
        bound: None,
        when: None,
        alias: None,
        source: "",
        description: "",
    };
    let mut all = [BLANK; N];
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

/// Refuses, while compiling, parameters that contradict themselves: a default, a bound or an end of a range in another unit, or
/// a default out of its range.
#[doc(hidden)]
pub const fn check(parameters: &[Parameter]) {
    let mut i = 0;
    while i < parameters.len() {
        let p = &parameters[i];
        let units = p.default.is_in(p.unit) && p.minimum.is_in(p.unit) && p.maximum.is_in(p.unit);
        if !units {
            refuse(&["default and range of `", p.name, "` are not in its unit: write ", constructor(p.unit)]);
        }
        if !p.accepts(p.default) {
            refuse(&["the default of `", p.name, "` is out of its range"]);
        }
        i += 1;
    }
}

/// Refuses, while compiling, a profile with a name that is no parameter of the scheme, or with a value in another unit
/// or out of range.
pub(super) const fn check_profile(profile: &Profile, parameters: &[Parameter]) {
    let mut i = 0;
    while i < profile.settings.len() {
        let (name, value) = profile.settings[i];
        let mut at = 0;
        while at < parameters.len() && !same(parameters[at].name, name) {
            at += 1;
        }
        if at == parameters.len() {
            refuse(&["profile ", profile.name, " sets `", name, "`, which is no parameter of the scheme"]);
        }
        let p = &parameters[at];
        if !value.is_in(p.unit) {
            refuse(&["profile ", profile.name, ": `", name, "` is not in its unit: write ", constructor(p.unit)]);
        }
        if !p.accepts(value) {
            refuse(&["profile ", profile.name, ": `", name, "` is out of its range"]);
        }
        i += 1;
    }
}

/// How a declaration writes a value in `unit`.
const fn constructor(unit: Unit) -> &'static str {
    match unit {
        Unit::Octets | Unit::Threshold => "octets(...)",
        Unit::Time => "us(...)",
        Unit::Rate => "bps(...), kbps(...) or mbps(...)",
        Unit::Count => "count(...)",
        Unit::Real => "real(...)",
        Unit::Choice(_) => "choice(...) with one of its words",
        Unit::Switch => "switch(...)",
    }
}

/// Ends with these words, cut at 200 octets.
const fn refuse(words: &[&str]) -> ! {
    let (mut text, mut length, mut word) = ([b' '; 200], 0, 0);
    while word < words.len() {
        let (octets, mut i) = (words[word].as_bytes(), 0);
        while i < octets.len() && length < text.len() {
            text[length] = octets[i];
            (length, i) = (length + 1, i + 1);
        }
        word += 1;
    }
    match core::str::from_utf8(text.split_at(length).0) {
        Ok(text) => panic!("{}", text),
        Err(_) => panic!("a parameter or a profile has a value in another unit, or out of range"),
    }
}

/// Whether two texts are the same.
pub(super) const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}
