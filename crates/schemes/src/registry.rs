//! The one list of schemes, and the only module where a name becomes a type. Lists of schemes elsewhere (README, documentation,
//! testbed, theory) follow from it and from each scheme's `INFO`.

use crate::Scheme;
use crate::info::{Configuration, Info, Value};

/// Calls a macro with the list of schemes: the one line that a scheme needs outside of its folder, beside the `pub mod` of
/// `lib.rs`. (That is no part of the macro, since rustfmt formats no module that a macro declares.) Parameters are shown, and schemes
/// listed, in this order.
macro_rules! for_each_scheme {
    ($callback:ident) => {
        $callback! {
            None: crate::none::NoControl,
            Bcn: crate::bcn::BackwardCongestionNotification,
            Fecn: crate::fecn::ForwardExplicitRate,
            Efecn: crate::efecn::EnhancedForwardExplicitRate,
            E2cm: crate::e2cm::ExtendedEcm,
            Qcn: crate::qcn::Qcn,
            QcnMulticast: crate::qcn_multicast::QcnMulticast,
            QcnBs: crate::qcn_bs::QcnBs,
            QcnAdaptive: crate::qcn_adaptive::QcnAdaptive,
            QcnBsAdaptive: crate::qcn_bs_adaptive::QcnBsAdaptive,
            AfQcn: crate::af_qcn::AfQcn,
            Fqcn: crate::fqcn::Fqcn,
            Smcc: crate::smcc::Smcc,
            Dcqcn: crate::dcqcn::Dcqcn,
            DcqcnWindow: crate::dcqcn_window::DcqcnWindow,
            FastCnp: crate::fast_cnp::FastCnp,
            Timely: crate::timely::Timely,
            Dctcp: crate::dctcp::Dctcp,
            Swift: crate::swift::Swift,
            Hpcc: crate::hpcc::Hpcc,
            PowerTcp: crate::powertcp::PowerTcp,
            ThetaPowerTcp: crate::theta_powertcp::ThetaPowerTcp,
            Rocc: crate::rocc::Rocc,
            Annulus: crate::annulus::Annulus,
            Nscc: crate::nscc::Nscc,
            Ndp: crate::ndp::Ndp,
            ExpressPass: crate::expresspass::ExpressPass,
            Homa: crate::homa::Homa,
            Ci: crate::ci::CongestionIsolation,
            Ici: crate::ici::ImprovedCongestionIsolation,
            Sfc: crate::sfc::SourceFlowControl,
            // The last: it stands for schemes that are not listed.
            Foreign: crate::foreign::Foreign,
        }
    };
}
pub(crate) use for_each_scheme;

macro_rules! schemes {
    ($($variant:ident: $scheme:ty),+ $(,)?) => {
        const ALL: &[Info] = &[$(<$scheme as Scheme>::INFO.checked()),+];

        /// Every scheme, in the order in which they are listed.
        pub const SCHEMES: &[Info] = ALL.split_at(ALL.len() - 1).0;

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
                match self { $(Self::$variant(config) => <$scheme as Scheme>::info(config)),+ }
            }
        }
    };
}

for_each_scheme!(schemes);

impl SchemeConfig {
    /// The scheme called `name` with every parameter at its default.
    #[must_use]
    pub fn with_defaults(name: &str) -> Option<Self> {
        let info = SCHEMES.iter().find(|info| info.name == name)?;
        let values: alloc::vec::Vec<Value> = info.parameters.iter().map(|p| p.default).collect();
        Self::new(name, &values)
    }
}
