//! From the configurations of a network's priorities to the type of the scheme that its engine is compiled for.

use crate::mixed::Mixed;
use crate::registry::{SchemeConfig, for_each_scheme};
use crate::{CreditLimit, Scheme};

/// Something that can be done with any scheme: build a simulator, list columns, run the conformance suite.
pub trait Visitor {
    /// The result of a visit.
    type Output;
    /// Does it for scheme `S`, with its parameters for each priority.
    fn visit<S: Scheme>(self, configs: &[S::Config]) -> Self::Output;
}

impl SchemeConfig {
    /// Octets by which tags lengthen each controlled data frame, from its source to its destination.
    #[must_use]
    pub fn tag_octets(&self) -> u16 {
        Mixed::tag_octets(self)
    }

    /// The priority to whose queues it moves frames of others.
    #[must_use]
    pub fn moves_to(&self) -> Option<u8> {
        Mixed::moves_to(self)
    }

    /// Whether a language runs it that has one thread at a time ([`Carrier`](crate::foreign::Carrier)).
    #[must_use]
    pub fn is_carried(&self) -> bool {
        matches!(self, Self::Foreign(config) if config.definition().carrier.is_some())
    }

    /// The part of each line that its signals may take, where they are credits.
    #[must_use]
    pub fn credit_limit(&self) -> Option<CreditLimit> {
        Mixed::credit_limit(self)
    }

    /// How many priorities its frames have, from that of their flow upwards.
    #[must_use]
    pub fn levels(&self) -> u8 {
        Mixed::levels(self)
    }

    /// Whether it needs switches that trim.
    #[must_use]
    pub fn needs_trimming(&self) -> bool {
        Mixed::needs_trimming(self)
    }
}

/// Something that can be done with the type of a scheme alone.
pub trait TypeVisitor {
    /// The result of a visit.
    type Output;
    /// Does it for scheme `S`.
    fn visit<S: Scheme>(self) -> Self::Output;
}

/// Whether a scheme is among those that [`visit_type`] knows: all, or where the environment of the build has `PENSTOCK_SCHEMES` those that it
/// names, with commas between them. A library for a small machine has no room for more.
const fn is_built(name: &str) -> bool {
    let Some(wanted) = option_env!("PENSTOCK_SCHEMES") else { return true };
    let (wanted, name) = (wanted.as_bytes(), name.as_bytes());
    let (mut i, mut same) = (0, 0);
    while i <= wanted.len() {
        if i == wanted.len() || wanted[i] == b',' {
            if same == name.len() {
                return true;
            }
            same = 0;
        } else if same < name.len() && wanted[i] == name[same] {
            same += 1;
        } else {
            same = usize::MAX;
        }
        i += 1;
    }
    false
}

macro_rules! visit {
    ($($variant:ident: $scheme:ty),+ $(,)?) => {
        /// Calls `visitor` with the type of the scheme called `name`; `None` if there is no such scheme, or if it was not built.
        pub fn visit_type<V: TypeVisitor>(name: &str, visitor: V) -> Option<V::Output> {
            $(if const { is_built(<$scheme as Scheme>::INFO.name) } && name == <$scheme as Scheme>::INFO.name {
                return Some(visitor.visit::<$scheme>());
            })+
            None
        }

        impl SchemeConfig {
            /// Calls `visitor` with the type of the scheme that `configs` have in common, or with [`Mixed`] where they are
            /// of several schemes.
            ///
            /// # Panics
            /// If there are none.
            pub fn visit<V: Visitor>(configs: &[Self], visitor: V) -> V::Output {
                assert!(!configs.is_empty(), "a network has a priority, and a priority a scheme");
                $({
                    let own = configs.iter().map_while(|c| if let Self::$variant(c) = c { Some(c.clone()) } else { None });
                    let own: alloc::vec::Vec<_> = own.collect();
                    if own.len() == configs.len() {
                        return visitor.visit::<$scheme>(&own);
                    }
                })+
                visitor.visit::<Mixed>(configs)
            }

            /// The same for a visitor that compiles an engine, of which there is one for all schemes with the feature
            /// `one-engine`: compiled once, it gives the same results, a fifth slower.
            ///
            /// # Panics
            /// As [`visit`](Self::visit).
            pub fn visit_engine<V: Visitor>(configs: &[Self], visitor: V) -> V::Output {
                #[cfg(feature = "one-engine")]
                {
                    assert!(!configs.is_empty(), "a network has a priority, and a priority a scheme");
                    visitor.visit::<Mixed>(configs)
                }
                #[cfg(not(feature = "one-engine"))]
                Self::visit(configs, visitor)
            }
        }
    };
}

for_each_scheme!(visit);
