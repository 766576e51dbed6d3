//! The objects of JSON that programs read, as data: their keys with types, units and descriptions. The reference page, and the types
//! in Python and TypeScript, follow from that.
//!
//! `entry!` declares an object that is written, key by key. Those of a summary, which are read again too, are declared in
//! `penstock_results`.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// An object.
#[derive(Debug, Clone, Copy)]
pub struct Object {
    /// Its type's name.
    pub name: &'static str,
    /// Description of the object.
    pub description: &'static str,
    /// The object whose keys it has before its own.
    pub base: Option<&'static str>,
    /// Its keys, in the order in which they are written.
    pub keys: &'static [Key],
}

/// A key of an object.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its name, ending in the unit where there is one.
    pub name: &'static str,
    /// The unit; empty for names and plain numbers.
    pub unit: &'static str,
    /// Description of its value.
    pub description: &'static str,
    /// The type of its value.
    pub shape: Shape,
    /// Some runs do not have the key; the description says which do.
    pub optional: bool,
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A text.
    Text,
    /// One of these texts.
    Word(&'static [&'static str]),
    /// A whole number.
    Whole,
    /// A number.
    Real,
    /// True or false.
    Switch,
    /// A value of a scenario file that is no table: a number, a text, true or false.
    Plain,
    /// The object of this name.
    Object(&'static str),
    /// A list of such values.
    List(&'static Shape),
    /// Such values by name.
    Map(&'static Shape),
    /// Such a value, or null.
    Maybe(&'static Shape),
}

/// A Rust type that a key can have.
pub trait Shaped {
    /// Its shape.
    const SHAPE: Shape;
}

/// The name of a scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(transparent)]
pub(crate) struct SchemeName(pub(crate) &'static str);

/// A number of any type.
#[derive(Debug, Clone, serde::Serialize)]
#[serde(transparent)]
pub(crate) struct Number(pub(crate) serde_json::Value);

macro_rules! shaped {
    ($($type:ty: $shape:expr),+ $(,)?) => { $(impl Shaped for $type { const SHAPE: Shape = $shape; })+ };
}
shaped!(
    String: Shape::Text,
    &str: Shape::Text,
    Cow<'_, str>: Shape::Text,
    // The list of names is the catalogue's.
    SchemeName: Shape::Object("SchemeName"),
    u8: Shape::Whole,
    u16: Shape::Whole,
    u32: Shape::Whole,
    u64: Shape::Whole,
    usize: Shape::Whole,
    f64: Shape::Real,
    Number: Shape::Real,
    bool: Shape::Switch,
    serde_json::Value: Shape::Plain,
);

impl<T: Shaped> Shaped for Vec<T> {
    const SHAPE: Shape = Shape::List(&T::SHAPE);
}

impl<T: Shaped> Shaped for &[T] {
    const SHAPE: Shape = Shape::List(&T::SHAPE);
}

impl<T: Shaped> Shaped for BTreeMap<&str, T> {
    const SHAPE: Shape = Shape::Map(&T::SHAPE);
}

impl<T: Shaped> Shaped for Option<T> {
    const SHAPE: Shape = Shape::Maybe(&T::SHAPE);
}

/// Declares an object that is written, `Type as Name in other languages { key: Type, "unit"; … }`, after its description. One that
/// has the keys of another before its own names it: `Type as Name, after field: Other`.
macro_rules! entry {
    (
        $(#[doc = $doc:literal])+
        $vis:vis $type:ident $(<$life:lifetime>)? as $name:ident $(, after $field:ident: $base:ty)? {
            $( $(#[doc = $text:literal])+ $key:ident: $value:ty, $unit:literal; )+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(serde::Serialize)]
        $vis struct $type $(<$life>)? {
            $(#[serde(flatten)] $field: $base,)?
            $($(#[doc = $text])+ $key: $value,)+
        }

        impl $(<$life>)? $type $(<$life>)? {
            /// The object as data.
            pub(crate) const OBJECT: $crate::declared::Object = $crate::declared::Object {
                name: stringify!($name),
                description: concat!($($doc),+),
                base: $crate::declared::first(&[$(<$base>::OBJECT.name)?]),
                keys: &[$($crate::declared::Key {
                    name: stringify!($key),
                    unit: $unit,
                    description: concat!($($text),+),
                    shape: <$value as $crate::declared::Shaped>::SHAPE,
                    optional: false,
                }),+],
            };
        }

        impl $(<$life>)? $crate::declared::Shaped for $type $(<$life>)? {
            const SHAPE: $crate::declared::Shape = $crate::declared::Shape::Object(stringify!($name));
        }
    };
}

/// Declares texts of which a value is one: `Type { Variant = "text", … }`.
macro_rules! words {
    ($(#[doc = $doc:literal])+ $type:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        $(#[doc = $doc])+
        #[derive(serde::Serialize)]
        enum $type { $(#[serde(rename = $word)] $variant),+ }

        impl $crate::declared::Shaped for $type {
            const SHAPE: $crate::declared::Shape = $crate::declared::Shape::Word(&[$($word),+]);
        }
    };
}

pub(crate) use {entry, words};

/// The first of `list`.
pub(crate) const fn first(list: &[&'static str]) -> Option<&'static str> {
    if list.is_empty() { None } else { Some(list[0]) }
}
