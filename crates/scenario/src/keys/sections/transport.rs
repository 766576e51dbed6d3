//! The keys `transport` and `acks` of `[[flow]]`.

use penstock_endpoint::transport::{TRANSPORTS, Transport, TransportInfo};
use penstock_schemes::Value;

use super::parameters::{self, Of};
use crate::error::Fault;
use crate::keys::declare::words;
use crate::keys::fields::{self, Either, Field};
use crate::keys::key::{Fallback, Key, Kind, Section};
use crate::keys::location::Location;
use crate::keys::read::{Entry, Given};
use crate::keys::tree::{Data, Node, Origin};
use crate::keys::write::{self, Written};

/// The transport of a flow: its name, or a table with the name and parameters.
pub(crate) type Carried = Either<TransportName, TransportTable>;

/// A transport at its defaults, by its name; or none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TransportName(pub(crate) Option<&'static TransportInfo>);

/// A transport with parameters.
#[derive(Debug, Clone)]
pub(crate) struct TransportTable {
    info: &'static TransportInfo,
    values: Vec<Entry<Value>>,
}

words! {
    pub(crate) enum AckClass { Control = "control" }
}

impl Field for TransportName {
    type Range = ();

    fn kind((): &()) -> Kind {
        Kind::Word(["none"].into_iter().chain(TRANSPORTS.iter().map(|info| info.name)).collect())
    }

    fn read((): &(), node: &Node, location: Location<'_>) -> Result<Self, Fault> {
        let all = TRANSPORTS.iter().map(|info| (info.name, Self(Some(info))));
        fields::word(&[("none", Self(None))].into_iter().chain(all).collect::<Vec<_>>(), node, location)
    }

    fn write(&self) -> Option<Written> {
        Some(Written::Line(write::quoted(self.0.map_or("none", |info| info.name))))
    }
}

impl TransportTable {
    fn section() -> Section {
        let key = |info: &'static TransportInfo| Key {
            name: info.name,
            kind: Kind::Table(Section {
                doc: info.title.to_owned(),
                keys: parameters::keys(info.parameters, Of::Transport).collect(),
            }),
            fallback: Fallback::None("another transport"),
            doc: String::new(),
        };
        Section { doc: "A transport with its parameters.".to_owned(), keys: TRANSPORTS.iter().map(key).collect() }
    }

    /// The transport at its defaults. Errors are at `by`, which names it.
    pub(crate) fn defaults(info: &'static TransportInfo, path: &str, by: Origin) -> Result<Self, Fault> {
        Self::of(info, &Node { origin: by, ..Node::EMPTY }, Location { path, origin: by })
    }

    fn of(info: &'static TransportInfo, node: &Node, location: Location<'_>) -> Result<Self, Fault> {
        let known: Vec<&'static str> = info.parameters.iter().map(|p| p.name).collect();
        let given = Given::new(node, location, &known)?;
        Ok(Self { info, values: parameters::read(info.parameters, &given, Of::Transport)? })
    }

    /// The transport, if its parameters agree with one another.
    pub(crate) fn make(&self) -> Result<Transport, Fault> {
        let values: Vec<Value> = self.values.iter().map(|value| **value).collect();
        parameters::check_order(self.info.parameters, &values, |i, message| self.values[i].fault(message))?;
        Ok(self.info.make(&values).expect("values are of their parameters' kinds"))
    }

    /// An error about the length of its segments.
    pub(crate) fn segment_fault(&self, message: String) -> Fault {
        self.values[0].fault(message)
    }
}

impl Field for TransportTable {
    type Range = ();

    fn kind((): &()) -> Kind {
        Kind::OneOf(Self::section())
    }

    fn read((): &(), node: &Node, location: Location<'_>) -> Result<Self, Fault> {
        let names: Vec<&'static str> = TRANSPORTS.iter().map(|info| info.name).collect();
        let given = Given::new(node, location, &names)?;
        let name = given.the_one("transport", &names)?;
        let info = TRANSPORTS.iter().find(|info| info.name == name).expect("it is one of the names");
        let Data::Table(entries) = &node.data else { return Err(location.unlike(&Self::kind(&()), node)) };
        let path = format!("{}.{name}", location.path);
        let own = &entries[0].1;
        Self::of(info, own, Location { path: &path, origin: own.origin })
    }

    fn write(&self) -> Option<Written> {
        let own = Written::Table(parameters::write(self.info.parameters, &self.values).collect());
        Some(Written::Table(vec![(self.info.name, own)]))
    }
}
