//! DCQCN (Zhu et al. 2015): its parameters, as tests of its cores begin from them.

use penstock_schemes::dcqcn::Config;
use penstock_schemes::{SCHEMES, SchemeConfig, Value};

/// The default parameters.
///
/// # Panics
/// Never: defaults fit their parameters.
#[must_use]
pub fn defaults() -> Config {
    let info = SCHEMES.iter().find(|info| info.name == "dcqcn").expect("it is there");
    let values: Vec<Value> = info.parameters.iter().map(|p| p.default).collect();
    match SchemeConfig::new("dcqcn", &values) {
        Some(SchemeConfig::Dcqcn(config)) => config,
        _ => unreachable!("defaults fit"),
    }
}
