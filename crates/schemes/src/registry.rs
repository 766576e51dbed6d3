//! The one list of schemes, and the one place where a name becomes a type.

use crate::info::{Configuration, Info, Value};
use crate::{
    Scheme, af_qcn, bcn, dcqcn, e2cm, efecn, fecn, fqcn, none, qcn, qcn_adaptive, qcn_bs, qcn_bs_adaptive,
    qcn_multicast, smcc,
};

/// Something that can be done with any scheme: build a simulator, list columns, run the conformance suite.
pub trait Visitor {
    /// What it gives back.
    type Output;
    /// Does it for scheme `S`, with its parameters for each priority.
    fn visit<S: Scheme>(self, configs: &[S::Config]) -> Self::Output;
}

macro_rules! schemes {
    ($($variant:ident: $scheme:ty),+ $(,)?) => {
        /// Every scheme, in the order in which they are listed.
        pub const SCHEMES: &[Info] = &[$(<$scheme as Scheme>::INFO),+];

        /// A scheme and its parameters.
        #[derive(Debug, Clone)]
        pub enum SchemeConfig {
            $(#[doc = concat!("`", stringify!($scheme), "`")] $variant(<$scheme as Scheme>::Config)),+
        }

        impl SchemeConfig {
            /// The scheme called `name` with `values`, one for each of its parameters in their order; `None` if there
            /// is no such scheme, or if a value's kind is not its parameter's.
            #[must_use]
            pub fn new(name: &str, values: &[Value]) -> Option<Self> {
                $(if name == <$scheme as Scheme>::INFO.name {
                    return <$scheme as Scheme>::Config::from_values(values).map(Self::$variant);
                })+
                None
            }

            /// The scheme's entry.
            #[must_use]
            pub fn info(&self) -> &'static Info {
                let name = match self { $(Self::$variant(_) => <$scheme as Scheme>::INFO.name),+ };
                SCHEMES.iter().find(|info| info.name == name).expect("a variant stands for a listed scheme")
            }

            /// Calls `visitor` with the type of the scheme that `configs` have in common.
            ///
            /// # Panics
            /// If they are of several schemes, or none.
            pub fn visit<V: Visitor>(configs: &[Self], visitor: V) -> V::Output {
                $(
                    let own = configs.iter().map_while(|c| if let Self::$variant(c) = c { Some(c.clone()) } else { None });
                    let own: alloc::vec::Vec<_> = own.collect();
                    if !configs.is_empty() && own.len() == configs.len() {
                        return visitor.visit::<$scheme>(&own);
                    }
                )+
                panic!("schemes of {} priorities have no common type", configs.len())
            }
        }
    };
}

schemes! {
    None: none::NoControl,
    Bcn: bcn::BackwardCongestionNotification,
    Fecn: fecn::ForwardExplicitRate,
    Efecn: efecn::EnhancedForwardExplicitRate,
    E2cm: e2cm::ExtendedEcm,
    Qcn: qcn::Qcn,
    QcnMulticast: qcn_multicast::QcnMulticast,
    QcnBs: qcn_bs::QcnBs,
    QcnAdaptive: qcn_adaptive::QcnAdaptive,
    QcnBsAdaptive: qcn_bs_adaptive::QcnBsAdaptive,
    AfQcn: af_qcn::AfQcn,
    Fqcn: fqcn::Fqcn,
    Smcc: smcc::Smcc,
    Dcqcn: dcqcn::Dcqcn,
}

impl SchemeConfig {
    /// The scheme called `name` with every parameter at its default.
    #[must_use]
    pub fn with_defaults(name: &str) -> Option<Self> {
        let info = SCHEMES.iter().find(|info| info.name == name)?;
        let values: alloc::vec::Vec<Value> = info.parameters.iter().map(|p| p.default).collect();
        Self::new(name, &values)
    }
}
