//! The kinds of traffic: when a flow's frames are generated. Each has its own file; the list has all of them.

pub(crate) mod constant;
pub(crate) mod greedy;
pub(crate) mod on_off;
pub(crate) mod poisson;

use penstock_schemes::{BitRate, Duration};
use penstock_sim::network::Traffic;

use crate::error::Fault;
use crate::fields::{self, Field};
use crate::read::{Entry, Location};
use crate::sections::Flow;
use crate::tree::Node;
use crate::write::{self, Written};

const KINDS: &[&Kind] = &[&greedy::KIND, &constant::KIND, &poisson::KIND, &on_off::KIND];

/// A kind of traffic.
#[derive(Debug)]
pub(crate) struct Kind {
    /// Its name in a file.
    word: &'static str,
    /// How frames come about.
    doc: &'static str,
    /// Those keys of `[[flow]]` that are for some kinds of traffic alone, and for this one.
    keys: &'static [Own],
    /// Makes the traffic that the engine runs.
    traffic: fn(&Keys<'_>) -> Result<Traffic, Fault>,
}

/// A key of `[[flow]]` that not every kind of traffic has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Own {
    Rate,
    On,
    Off,
    Random,
}

/// A kind of traffic, by its name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KindName(pub(crate) &'static Kind);

impl Field for KindName {
    type Range = ();

    fn kind((): &()) -> crate::keys::Kind {
        crate::keys::Kind::Word(KINDS.iter().map(|kind| kind.word).collect())
    }

    fn read((): &(), node: &Node, place: Location<'_>) -> Result<Self, Fault> {
        let words: Vec<_> = KINDS.iter().map(|kind| (kind.word, Self(kind))).collect();
        fields::word(&words, node, place)
    }

    fn write(&self) -> Option<Written> {
        Some(Written::Line(write::quoted(self.0.word)))
    }
}

/// Description of the key `traffic`.
pub(crate) fn description() -> String {
    let docs: Vec<&str> = KINDS.iter().map(|kind| kind.doc).collect();
    format!("How frames come about: {}.", docs.join("; "))
}

/// The traffic that a flow's table describes.
pub(crate) fn traffic(flow: &Flow) -> Result<Traffic, Fault> {
    let kind = flow.traffic.0;
    let traffic = (kind.traffic)(&Keys { flow, kind })?;
    let (rate, on, off) = (&flow.rate, &flow.on, &flow.off);
    let has = |key: Own| kind.keys.contains(&key);
    let refused = [
        (Own::Rate, rate.is_some(), rate.fault(no_such_key(kind))),
        (Own::On, on.is_some(), on.fault(no_such_key(kind))),
        (Own::Off, off.is_some(), off.fault(no_such_key(kind))),
        (Own::Random, *flow.random, {
            flow.random.fault(format!("traffic = \"{}\" has no on and off periods that could be random", kind.word))
        }),
    ];
    match refused.into_iter().find(|(key, given, _)| *given && !has(*key)) {
        Some((key, _, fault)) => Err(fault.with_hint(having(key))),
        None => Ok(traffic),
    }
}

fn no_such_key(kind: &Kind) -> String {
    format!("traffic = \"{}\" has no such key", kind.word)
}

/// Which kinds of traffic have a key, as text.
fn having(key: Own) -> String {
    let kinds = KINDS.iter().filter(|kind| kind.keys.contains(&key));
    let words: Vec<String> = kinds.map(|kind| format!("\"{}\"", kind.word)).collect();
    match &words[..] {
        [.., last] if words.len() > 1 => format!("{} and {last} have", words[..words.len() - 1].join(", ")),
        words => format!("{} has", words.concat()),
    }
}

/// The keys of a flow's table, for a kind of traffic to ask for.
struct Keys<'a> {
    flow: &'a Flow,
    kind: &'static Kind,
}

impl Keys<'_> {
    fn rate(&self) -> Result<BitRate, Fault> {
        self.needed(&self.flow.rate, "rate = \"1 Gbps\"")
    }

    fn on(&self) -> Result<Duration, Fault> {
        self.needed(&self.flow.on, "on = \"1 ms\"")
    }

    fn off(&self) -> Result<Duration, Fault> {
        self.needed(&self.flow.off, "off = \"1 ms\"")
    }

    fn random(&self) -> bool {
        *self.flow.random
    }

    fn needed<T: Copy>(&self, key: &Entry<Option<T>>, example: &str) -> Result<T, Fault> {
        let missing = || key.fault(format!("missing; traffic = \"{}\" needs it", self.kind.word));
        key.ok_or_else(|| missing().with_hint(format!("for instance {example}")))
    }
}
