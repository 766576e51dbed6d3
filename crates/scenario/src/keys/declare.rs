//! The declarations: a table of keys, a word of several, one table of several. Each becomes a type that holds the values,
//! with the reader and the writer of it, and the description of its keys.

/// Declares a table of a scenario. A line is `key: Type [range] = default;`:
///
/// - without a default, the key must be written;
/// - `= value` is its value where it is not written;
/// - `=> "words"` describes its value there, and the type is an `Option`;
/// - `{}` stands for a table whose keys all have defaults.
///
/// The range is left out where the type has none. Comments of documentation become the descriptions.
macro_rules! section {
    (@range) => { Default::default() };
    (@range $range:expr) => { $range };
    (@fallback $type:ty) => { $crate::keys::key::Fallback::Required };
    (@fallback $type:ty = $default:expr) => {
        $crate::keys::key::Fallback::Value($crate::keys::write::declared(<$type as $crate::keys::fields::Field>::write(&$default)))
    };
    (@fallback $type:ty => $otherwise:literal) => { $crate::keys::key::Fallback::None($otherwise) };
    (@fallback $type:ty {}) => { $crate::keys::key::Fallback::Value("{}".to_owned()) };
    (@read $given:ident $key:ident $range:ident) => { $given.required(stringify!($key), $range) };
    (@read $given:ident $key:ident $range:ident = $default:expr) => {
        $given.or_else(stringify!($key), || $default, |node, location| $crate::keys::fields::Field::read($range, node, location))
    };
    (@read $given:ident $key:ident $range:ident => $otherwise:literal) => {
        $given.or_else(stringify!($key), || None, |node, location| $crate::keys::fields::Field::read($range, node, location))
    };
    (@read $given:ident $key:ident $range:ident {}) => {{
        let () = $range;
        $given.or_defaults(stringify!($key))
    }};
    ($(#[doc = $doc:expr])* pub(crate) struct $name:ident {
        $($(#[doc = $text:expr])* $key:ident : $type:ty
            $([$range:expr])? $({$($empty:tt)?})? $(= $default:expr)? $(=> $otherwise:literal)?;)*
    }) => {
        #[derive(Debug, Clone)]
        pub(crate) struct $name {
            $(pub(crate) $key: $crate::keys::read::Entry<$type>,)*
        }

        impl $crate::keys::fields::Table for $name {
            fn section() -> $crate::keys::key::Section {
                let keys = vec![$({
                    let range: <$type as $crate::keys::fields::Field>::Range = section!(@range $($range)?);
                    $crate::keys::key::Key {
                        name: stringify!($key),
                        kind: <$type as $crate::keys::fields::Field>::kind(&range),
                        fallback: section!(@fallback $type $({$($empty)?})? $(= $default)? $(=> $otherwise)?),
                        doc: $crate::keys::key::description(&[$(&$text),*]),
                    }
                }),*];
                $crate::keys::key::Section { doc: $crate::keys::key::description(&[$(&$doc),*]), keys }
            }

            fn read(node: &$crate::keys::tree::Node, location: $crate::keys::location::Location<'_>) -> Result<Self, $crate::error::Fault> {
                let given = $crate::keys::read::Given::new(node, location, &[$(stringify!($key)),*])?;
                Ok(Self {
                    $($key: {
                        let range: &<$type as $crate::keys::fields::Field>::Range = &section!(@range $($range)?);
                        section!(@read given $key range $({$($empty)?})? $(= $default)? $(=> $otherwise)?)?
                    },)*
                })
            }

            fn write(&self) -> Vec<(&'static str, $crate::keys::write::Written)> {
                let keys = [$((stringify!($key), $crate::keys::fields::Field::write(&*self.$key))),*];
                keys.into_iter().filter_map(|(key, written)| Some((key, written?))).collect()
            }
        }
    };
}

/// Declares an enum whose variants are the values that a key can have.
macro_rules! words {
    ($(#[$doc:meta])* pub(crate) enum $name:ident { $($(#[$text:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $name { $($(#[$text])* $variant),+ }

        impl $name {
            pub(crate) const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),+];
        }

        impl $crate::keys::fields::Field for $name {
            type Range = ();

            fn kind((): &()) -> $crate::keys::key::Kind {
                $crate::keys::key::Kind::Word(vec![$($word),+])
            }

            fn read((): &(), node: &$crate::keys::tree::Node, location: $crate::keys::location::Location<'_>)
                -> Result<Self, $crate::error::Fault>
            {
                $crate::keys::fields::word(Self::WORDS, node, location)
            }

            fn write(&self) -> Option<$crate::keys::write::Written> {
                let word = match self { $(Self::$variant => $word),+ };
                Some($crate::keys::write::Written::Line($crate::keys::write::quoted(word)))
            }
        }
    };
}

/// Declares a table with exactly one of several keys, `noun` for all of them. Each key's value implements the trait.
macro_rules! one_of {
    ($(#[doc = $doc:expr])* pub(crate) enum $name:ident: dyn $trait:ident, $noun:literal {
        $($word:literal = $variant:ident($type:ty) $([$range:expr])?),+ $(,)?
    }) => {
        #[derive(Debug, Clone)]
        pub(crate) enum $name { $($variant($crate::keys::read::Entry<$type>)),+ }

        impl $name {
            /// The one that was given.
            pub(crate) fn given(&self) -> &dyn $trait {
                match self { $(Self::$variant(given) => &**given),+ }
            }

            /// A fault of the one that was given.
            pub(crate) fn fault(&self, message: impl Into<String>) -> $crate::error::Fault {
                match self { $(Self::$variant(given) => given.fault(message)),+ }
            }
        }

        impl $crate::keys::fields::Field for $name {
            type Range = ();

            fn kind((): &()) -> $crate::keys::key::Kind {
                let keys = vec![$({
                    let range: <$type as $crate::keys::fields::Field>::Range = section!(@range $($range)?);
                    $crate::keys::key::Key {
                        name: $word,
                        kind: <$type as $crate::keys::fields::Field>::kind(&range),
                        fallback: $crate::keys::key::Fallback::None(concat!("another ", $noun)),
                        doc: String::new(),
                    }
                }),+];
                $crate::keys::key::Kind::OneOf($crate::keys::key::Section { doc: $crate::keys::key::description(&[$(&$doc),*]), keys })
            }

            fn read((): &(), node: &$crate::keys::tree::Node, location: $crate::keys::location::Location<'_>)
                -> Result<Self, $crate::error::Fault>
            {
                if !matches!(node.data, $crate::keys::tree::Data::Table(_)) {
                    return Err(location.unlike(&Self::kind(&()), node));
                }
                let given = $crate::keys::read::Given::new(node, location, &[$($word),+])?;
                let one = given.the_one($noun, &[$($word),+])?;
                $(if one == $word {
                    let range: &<$type as $crate::keys::fields::Field>::Range = &section!(@range $($range)?);
                    return Ok(Self::$variant(given.required($word, range)?));
                })+
                unreachable!("{one} is one of the keys")
            }

            fn write(&self) -> Option<$crate::keys::write::Written> {
                let (key, written) = match self {
                    $(Self::$variant(given) => ($word, $crate::keys::fields::Field::write(&**given)),)+
                };
                Some($crate::keys::write::Written::Table(written.map(|written| (key, written)).into_iter().collect()))
            }
        }
    };
}

pub(crate) use {one_of, section, words};
