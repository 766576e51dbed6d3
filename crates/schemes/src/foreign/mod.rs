//! Foreign schemes: those that are no Rust type of this crate, but a table of functions over plain structures. A shared library has
//! such a table (`penstock_scheme.h`), and a class in Python gets one.
//!
//! ```text
//!   engine --on_ack--> Rp of Foreign --rp_on_ack(memory, call, flow, ack, limits)--> the library's function
//!                      memory of the point, limits <-- rate, window, timer
//! ```
//!
//! One type carries them all. A point's memory belongs to the engine, as large as the definition says: making one, copying one and
//! moving one to another thread need no call. After each call the carrier checks rate, window and timer; [`watch`] has the rule that was
//! broken. A point whose run has failed calls its functions no more.
//!
//! `Foreign` is not listed: its schemes have names, parameters and variables of their definitions.

pub mod abi;
pub mod description;
mod points;
pub mod watch;

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::any::Any;
use core::fmt;

use crate::info::{Configuration, Info, Value};
use crate::{Label, Scheme, SignalKind, Var};

pub use points::{Cp, Np, Rp};

use abi::{Echo, Functions, Setup, Signal, Tag, Values};
use watch::Watch;

/// The schemes of tables.
#[derive(Debug, Clone, Copy)]
pub struct Foreign;

/// A scheme as its library, or its class, describes it.
#[derive(Debug, Clone, Copy)]
pub struct Definition {
    /// Name, parameters, properties.
    pub info: &'static Info,
    /// Where it comes from, as the user wrote it: `./libmine.so`, `my.py:MyScheme`.
    pub location: &'static str,
    /// The word that its points get in [`Setup::user`].
    pub user: u64,
    /// Its functions.
    pub functions: Functions,
    /// Memory of a congestion, a notification and a reaction point, octets.
    pub memory: [u32; 3],
    /// The variables of congestion points, reaction points and signals.
    pub variables: [&'static [Var]; 3],
    /// Octets by which a tag lengthens a data frame.
    pub tag_octets: u16,
    /// Octets by which an echo lengthens an acknowledgement.
    pub echo_octets: u16,
    /// Destinations acknowledge.
    pub acknowledges: bool,
    /// A congestion point may signal other flows than that of the frame it handles.
    pub remembers_flows: bool,
    /// Switches trim.
    pub needs_trimming: bool,
    /// The language that runs its functions, where that can do more for them than a library can for its own.
    pub carrier: Option<Carrier>,
    /// What is done for each run: its answer is kept until the run ends.
    pub guard: Option<Guard>,
}

/// Looks after a run of a definition, whose points have this watch.
pub type Guard = fn(&'static Definition, &Arc<Watch>) -> Box<dyn Any + Send>;

/// A function that runs for longer than this, in seconds, does not return.
pub const LONGEST_S: u64 = 10;

/// What a language does for the functions that it runs.
#[derive(Debug, Clone, Copy)]
pub struct Carrier {
    /// A run begins on this thread: a name for the thread.
    pub begin: fn() -> u64,
    /// Makes the function return that runs on the thread of this name. Called from another one.
    pub interrupt: fn(u64),
    /// Whether a function has failed on this thread since the run began.
    pub failed: fn() -> bool,
}

/// A foreign scheme, its parameters and the watch over its points.
#[derive(Clone)]
pub struct Config {
    definition: &'static Definition,
    values: Arc<Values>,
    watch: Arc<Watch>,
}

impl Config {
    /// The scheme with `values`, one for each of its parameters in their order; `None` if their number or a kind is another one.
    #[must_use]
    pub fn new(definition: &'static Definition, values: &[Value]) -> Option<Self> {
        let parameters = definition.info.parameters;
        let mut words = [0; abi::PARAMETERS];
        if parameters.len() != values.len() || values.len() > words.len() {
            return None;
        }
        for ((word, parameter), value) in words.iter_mut().zip(parameters).zip(values) {
            *word = match *value {
                Value::Octets(octets) => octets.0,
                Value::Time(time) => time.0,
                Value::Rate(rate) => rate.0,
                Value::Count(n) => n,
                Value::Real(x) => x.to_bits(),
                Value::Switch(on) => on.into(),
                Value::Choice(word) => match parameter.unit {
                    crate::Unit::Choice(words) => words.iter().position(|known| *known == word)? as u64,
                    _ => return None,
                },
                Value::PerGbps(_) => return None,
            };
        }
        Some(Self { definition, values: Arc::new(words), watch: Arc::default() })
    }

    /// The same under another watch.
    #[must_use]
    pub fn watched_by(self, watch: &Arc<Watch>) -> Self {
        Self { watch: Arc::clone(watch), ..self }
    }

    /// The definition.
    #[must_use]
    pub fn definition(&self) -> &'static Definition {
        self.definition
    }

    /// The watch over the points that are made from this configuration.
    #[must_use]
    pub fn watch(&self) -> &Arc<Watch> {
        &self.watch
    }

    fn setup(&self) -> Setup<'_> {
        Setup { user: self.definition.user, values: &self.values }
    }
}

impl fmt::Debug for Config {
    /// The scheme and the words of its parameters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.definition.info;
        let mut written = f.debug_struct(info.name);
        for (parameter, word) in info.parameters.iter().zip(self.values.iter()) {
            written.field(parameter.name, word);
        }
        written.finish()
    }
}

impl Configuration for Config {
    /// None can be made from values alone: [`Config::new`] needs a definition as well.
    fn from_values(_: &[Value]) -> Option<Self> {
        None
    }
}

impl Scheme for Foreign {
    const INFO: Info = Info {
        name: "foreign",
        title: "A scheme of a shared library, or of a class in Python",
        source: "penstock_scheme.h",
        description: "The scheme is a table of functions.",
        ..Info::UNLISTED
    };
    type Config = Config;
    type Tag = Tag;
    type Echo = Echo;
    type Signal = Signal;
    type Cp = Cp;
    type Np = Np;
    type Rp = Rp;

    fn info(config: &Config) -> &'static Info {
        config.definition.info
    }

    fn variables(config: &Config) -> [&'static [Var]; 3] {
        config.definition.variables
    }

    fn tag_octets(config: &Config) -> u16 {
        config.definition.tag_octets
    }

    fn echo_octets(config: &Config) -> u16 {
        config.definition.echo_octets
    }

    #[inline]
    fn label(tag: &Tag) -> Label {
        match tag.label {
            1 => Label::Ecn(tag.marked != 0),
            2 => Label::Roce(tag.marked != 0),
            3 => Label::CnTag,
            _ => Label::Bare,
        }
    }

    #[inline]
    fn echoes_mark(echo: &Echo) -> bool {
        echo.marked != 0
    }

    fn needs_trimming(config: &Config) -> bool {
        config.definition.needs_trimming
    }

    fn acknowledges(config: &Config) -> bool {
        config.definition.acknowledges
    }
}

impl crate::Signal for Signal {
    fn octets(&self) -> u16 {
        self.octets
    }

    fn kind(&self) -> SignalKind {
        match self.kind {
            1 => SignalKind::Probe,
            2 => SignalKind::Reply,
            _ => SignalKind::Notification,
        }
    }

    fn vars(&self, row: &mut [i64]) {
        row.iter_mut().zip(self.word).for_each(|(value, word)| *value = word as i64);
    }
}
