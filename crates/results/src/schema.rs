//! The objects of a summary as data: their keys with types, units and descriptions, as `penstock_scenario::declared` has them.
//!
//! [`record!`](record) declares an object key by key; [`object!`](object) declares one whose keys are metrics, out of the
//! declaration in `penstock_sim::metrics`. Both make the type that is written and read, and its [`Object`], from which the
//! reference page and Python's types follow.

pub(crate) use penstock_scenario::declared::Shaped;
pub use penstock_scenario::declared::{Key, Object, Shape};

/// Declares an object: `key: Type, "unit";` after its description. A key that some runs do not have says in the end which
/// function finds it absent: `key: Option<f64>, "s", unless "Option::is_none";`.
macro_rules! record {
    (
        $(#[doc = $doc:literal])+
        $name:ident { $( $(#[doc = $text:literal])+ $key:ident: $type:ty, $unit:literal $(, unless $absent:literal)?; )+ }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        pub struct $name { $(
            $(#[doc = $text])+
            $(#[serde(default, skip_serializing_if = $absent)])?
            pub $key: $type,
        )+ }

        impl $name {
            /// The object as data.
            pub const OBJECT: Object = Object {
                name: stringify!($name),
                description: concat!($($doc),+),
                base: None,
                keys: &[$(Key {
                    name: stringify!($key),
                    unit: $unit,
                    description: concat!($($text),+),
                    shape: <$type as Shaped>::SHAPE,
                    optional: $crate::schema::any(&[$($absent)?]),
                }),+],
            };
        }

        impl Shaped for $name {
            const SHAPE: Shape = Shape::Object(stringify!($name));
        }
    };
}

/// Declares an object of metrics, `object!((Name of Source, "description") entries)`. A metric of the engine is read from the
/// field `outcome` of `Source`; any other metric, and whether a run has it, is a method of `Source` with its name.
macro_rules! object {
    (
        ($name:ident of $from:ident, $doc:literal)
        $({ $source:ident $scope:ident $metric:ident: $type:ty, $unit:literal, $text:literal $(, where $when:ident)? })+
    ) => {
        #[doc = $doc]
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        pub struct $name { $(
            #[doc = $text]
            $(#[doc = condition!($when)] #[serde(default, skip_serializing_if = "Option::is_none")])?
            pub $metric: value_type!($type $(, $when)?),
        )+ }

        impl $name {
            /// The object as data.
            pub const OBJECT: Object = Object {
                name: stringify!($name),
                description: $doc,
                base: None,
                keys: &[$(Key {
                    name: stringify!($metric),
                    unit: $unit,
                    description: concat!($text $(, condition!($when))?),
                    shape: <$type as Shaped>::SHAPE,
                    optional: $crate::schema::any(&[$(condition!($when))?]),
                }),+],
            };

            fn new(from: &$from<'_>) -> Self {
                Self { $($metric: value!(from $source $metric $($when)?)),+ }
            }
        }

        impl Shaped for $name {
            const SHAPE: Shape = Shape::Object(stringify!($name));
        }
    };
}

/// Which runs have a metric.
macro_rules! condition {
    (probing) => {
        " Present only where sources send probes."
    };
    (uncontrolled) => {
        " Present only where some flow has no congestion management."
    };
    (finite) => {
        " Present only where some flow of a `[[flow]]` table has a size."
    };
    (transported) => {
        " Present only where some flow has a transport."
    };
    (path_states) => {
        " Present only where sources keep states of entropy values (`network.load_balancing`)."
    };
    (trimming) => {
        " Present only where switches trim."
    };
    (queued) => {
        " Present only where hosts have transmit queues."
    };
    (slow_receivers) => {
        " Present only where hosts process what they receive slowly (`[[host]]`)."
    };
    (impaired) => {
        " Present only where links lose frames at random."
    };
    (credited) => {
        " Present only where links have credits (`[[credits]]`)."
    };
    (retried) => {
        " Present only where links have link-level retry (`[[retry]]`)."
    };
    (watched) => {
        " Present only where flow control has a watchdog."
    };
    (classes) => {
        " Present only where some priority has a weight or a shaper."
    };
    (percentiles) => {
        " Present only where the run keeps histograms (`record.percentiles`)."
    };
    (pause_percentiles) => {
        " Present only where the run keeps histograms (`record.percentiles`), and the network has priority flow control."
    };
    (ingress_pools) => {
        " Present only where the network has priority flow control and pools (`[[buffer]]`)."
    };
    (flow_control) => {
        " Present only where the network has priority flow control."
    };
}

/// The type of a metric that every run has, or of one that some have.
macro_rules! value_type {
    ($type:ty) => { $type };
    ($type:ty, $when:ident) => { Option<$type> };
}

/// The value of a metric.
macro_rules! value {
    ($from:ident runner $metric:ident) => { $from.$metric() };
    ($from:ident $engine:ident $metric:ident) => { $from.outcome.$metric };
    ($from:ident $source:ident $metric:ident $when:ident) => {
        if $from.$when() { Some(value!($from $source $metric)) } else { None }
    };
}

pub(crate) use {condition, object, record, value, value_type};

/// Whether there is anything in `list`.
pub(crate) const fn any(list: &[&str]) -> bool {
    !list.is_empty()
}
