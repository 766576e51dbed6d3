//! The keys of `[schemes.NAME]`: the parameters that each scheme declares, for all of the run or from a time on.

use penstock_schemes::{Info, Profile, SCHEMES, Value};

use super::parameters::{self, Of};
use crate::error::Fault;
use crate::foreign;
use crate::keys::fields::{self, Field, Table};
use crate::keys::key::{Fallback, Key, Kind, Section};
use crate::keys::location::Location;
use crate::keys::read::{Entry, Given};
use crate::keys::tree::{Data, Node, Origin};
use crate::keys::write::{self, Written};

/// A scheme, by its name or its location.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SchemeName(pub(crate) &'static Info);

impl Field for SchemeName {
    type Range = ();

    fn kind((): &()) -> Kind {
        Kind::Either(vec![Kind::Word(SCHEMES.iter().map(|info| info.name).collect()), Kind::Location])
    }

    fn read((): &(), node: &Node, location: Location<'_>) -> Result<Self, Fault> {
        if let Data::Text(text) = &node.data
            && let Some(info) = foreign::at(text)
        {
            return Ok(Self(info));
        }
        let words: Vec<_> = SCHEMES.iter().map(|info| (info.name, Self(info))).collect();
        fields::word(&words, node, location)
    }

    fn write(&self) -> Option<Written> {
        Some(Written::Line(write::quoted(foreign::written(self.0))))
    }
}

/// The settings of all schemes, in the order of the registry.
#[derive(Debug, Clone)]
pub(crate) struct Schemes(Vec<(&'static Info, Entry<Option<Settings>>)>);

/// The settings of one scheme.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// A profile to start from. A scheme without profiles has no such key.
    pub(crate) profile: Option<Entry<Option<ProfileName>>>,
    /// The parameters, in the order in which the scheme declares them.
    pub(crate) values: Vec<Entry<Value>>,
    info: &'static Info,
}

/// A profile of a scheme.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProfileName(pub(crate) &'static Profile);

impl Schemes {
    /// Each scheme with its settings.
    pub(crate) fn all(&mut self) -> impl Iterator<Item = (&'static Info, &mut Option<Settings>)> {
        self.0.iter_mut().map(|(info, settings)| (*info, settings.inner()))
    }

    /// The settings of a scheme, which [`Schemes::fill`] has made sure of.
    pub(crate) fn of(&self, info: &Info) -> &Settings {
        let settings = self.0.iter().find(|(known, _)| known.name == info.name);
        settings.and_then(|(_, settings)| settings.as_ref()).expect("a scheme that runs has settings")
    }

    /// Gives a scheme without a table one with its defaults. If these do not fit, the error is at `by`, which names
    /// the scheme.
    pub(crate) fn fill(&mut self, info: &'static Info, by: Origin) -> Result<(), Fault> {
        for (known, settings) in &mut self.0 {
            if known.name == info.name && settings.is_none() {
                let path = settings.path();
                let defaults =
                    Settings::read(info, &Node { origin: by, ..Node::EMPTY }, Location { path: &path, origin: by })?;
                settings.replace(Some(defaults));
            }
        }
        Ok(())
    }
}

impl Table for Schemes {
    fn section() -> Section {
        let key = |info: &'static Info| Key {
            name: info.name,
            kind: Kind::Table(Settings::section(info)),
            fallback: Fallback::None("every parameter at its default"),
            doc: String::new(),
        };
        Section {
            doc: "Settings of the schemes. A scheme without a table runs at its defaults. A size may be the time in which a port's line sends it, as in \
                  \"32 us\"; a size or a rate may be for each Gb/s of the line, as in \"4 KB per Gbps\"."
                .to_owned(),
            keys: SCHEMES.iter().map(key).collect(),
        }
    }

    fn read(node: &Node, location: Location<'_>) -> Result<Self, Fault> {
        let all = foreign::known();
        let known: Vec<&'static str> = all.iter().map(|info| info.name).collect();
        let given = Given::new(node, location, &known)?;
        let settings = |info: &'static Info| {
            let read = |node: &Node, location: Location<'_>| Settings::read(info, node, location).map(Some);
            given.or_else(info.name, || None, read).map(|settings| (info, settings))
        };
        all.into_iter().map(settings).collect::<Result<_, _>>().map(Self)
    }

    fn write(&self) -> Vec<(&'static str, Written)> {
        let written = |(info, settings): &(&'static Info, Entry<Option<Settings>>)| {
            Some((info.name, Written::Table((**settings).as_ref()?.write())))
        };
        self.0.iter().filter_map(written).collect()
    }
}

impl Settings {
    fn section(info: &Info) -> Section {
        let mut keys = Vec::new();
        if !info.profiles.is_empty() {
            keys.push(Key {
                name: "profile",
                kind: Kind::Word(info.profiles.iter().map(|p| p.name).collect()),
                fallback: Fallback::None("no profile"),
                doc: "A named set of values to start from; single keys go before it.".to_owned(),
            });
        }
        keys.extend(parameters::keys(info.parameters, Of::Scheme));
        Section { doc: info.title.to_owned(), keys }
    }

    /// Reads the table of a scheme.
    pub(crate) fn read(info: &'static Info, node: &Node, location: Location<'_>) -> Result<Self, Fault> {
        let profile = (!info.profiles.is_empty()).then_some("profile");
        let known: Vec<&'static str> = profile.into_iter().chain(parameters::names(info.parameters)).collect();
        let given = Given::new(node, location, &known)?;
        let words: Vec<_> = info.profiles.iter().map(|profile| (profile.name, ProfileName(profile))).collect();
        let named = |node: &Node, location: Location<'_>| fields::word(&words, node, location).map(Some);
        let profile = profile.map(|key| given.or_else(key, || None, named)).transpose()?;
        let values = parameters::read(info.parameters, &given, Of::Scheme)?;
        Ok(Self { profile, values, info })
    }

    /// The values of the parameters.
    pub(crate) fn values(&self) -> Vec<Value> {
        self.values.iter().map(|value| **value).collect()
    }

    /// The profile that the table names.
    pub(crate) fn profile(&self) -> Option<&'static Profile> {
        self.profile.as_ref().and_then(|profile| **profile).map(|ProfileName(profile)| profile)
    }

    fn write(&self) -> Vec<(&'static str, Written)> {
        let profile = self.profile().map(|profile| ("profile", Written::Line(write::quoted(profile.name))));
        profile.into_iter().chain(parameters::write(self.info.parameters, &self.values)).collect()
    }
}

/// New values of parameters, scheme by scheme in the order of the registry.
#[derive(Debug, Clone)]
pub(crate) struct NewValues(Vec<(&'static Info, Entry<Option<New>>)>);

/// New values of parameters of one scheme, in the order in which it declares them.
pub(crate) type New = Vec<Entry<Option<Value>>>;

impl NewValues {
    /// Those of a scheme.
    pub(crate) fn of(&self, info: &Info) -> Option<&New> {
        self.0.iter().find(|(known, _)| known.name == info.name).and_then(|(_, new)| (**new).as_ref())
    }

    /// The schemes of which there are any.
    pub(crate) fn schemes(&self) -> impl Iterator<Item = &'static Info> {
        let some = |new: &New| new.iter().any(|value| value.is_some());
        self.0.iter().filter(move |(_, new)| (**new).as_ref().is_some_and(some)).map(|(info, _)| *info)
    }

    fn section() -> Section {
        let key = |info: &'static Info| Key {
            name: info.name,
            kind: Kind::Table(Section {
                doc: info.title.to_owned(),
                keys: parameters::new_keys(info.parameters).collect(),
            }),
            fallback: Fallback::None("as before"),
            doc: String::new(),
        };
        Section { doc: String::new(), keys: SCHEMES.iter().map(key).collect() }
    }
}

impl Field for NewValues {
    type Range = ();

    fn kind((): &()) -> Kind {
        Kind::Parameters(Self::section())
    }

    fn read((): &(), node: &Node, location: Location<'_>) -> Result<Self, Fault> {
        let all = foreign::known();
        let known: Vec<&'static str> = all.iter().map(|info| info.name).collect();
        let given = Given::new(node, location, &known)?;
        let new = |info: &'static Info| {
            let known: Vec<&'static str> = parameters::names(info.parameters).collect();
            let read = |node: &Node, location: Location<'_>| {
                parameters::read_new(info.parameters, &Given::new(node, location, &known)?).map(Some)
            };
            given.or_else(info.name, || None, read).map(|new| (info, new))
        };
        all.into_iter().map(new).collect::<Result<_, _>>().map(Self)
    }

    fn write(&self) -> Option<Written> {
        let written = |(info, new): &(&'static Info, Entry<Option<New>>)| {
            let new = (**new).as_ref()?;
            Some((info.name, Written::Table(parameters::write_new(info.parameters, new).collect())))
        };
        Some(Written::Table(self.0.iter().filter_map(written).collect()))
    }
}
