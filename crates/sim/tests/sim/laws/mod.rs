//! Laws that are held for every scheme of the registry, and the law of DCTCP's sawtooth. With the engine of all schemes: a scheme that is
//! added is held to them without a line here.

mod dcqcn;
mod fairness;
mod hpcc;
mod sawtooth;

use penstock_schemes::mixed::Mixed;
use penstock_schemes::{Instant, SchemeConfig};
use penstock_sim::network::Network;
use penstock_sim::{Full, Lean, Model, Outcome, Sim};

use crate::common::{Looking, suited};

/// Runs to `end` with one scheme, and measures from `warmup` on.
fn run(network: &Network, config: &SchemeConfig, warmup: Instant, end: Instant) -> Outcome {
    let configs = vec![config.clone(); network.priorities.len()];
    let network = suited(network, &configs);
    if network.needs_flow_control() {
        measured(Sim::<Mixed, _, Full>::new(&network, &configs, 1, Looking::none()), warmup, end)
    } else {
        measured(Sim::<Mixed, _, Lean>::new(&network, &configs, 1, Looking::none()), warmup, end)
    }
}

fn measured<M: Model>(mut sim: Sim<Mixed, Looking<'static, Mixed>, M>, warmup: Instant, end: Instant) -> Outcome {
    sim.run_until(warmup);
    sim.start_measuring();
    sim.run_until(end);
    sim.finish().0
}

/// A scheme's parameters: the defaults with these changes.
fn configured(name: &str, changes: &[(&str, penstock_schemes::Value)]) -> SchemeConfig {
    let info = penstock_schemes::SCHEMES.iter().find(|info| info.name == name).expect("a scheme of the registry");
    let changed = |name: &str| changes.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
    let values: Vec<_> = info.parameters.iter().map(|p| changed(p.name).unwrap_or(p.default)).collect();
    SchemeConfig::new(name, &values).expect("values are of their parameters' kinds")
}

fn ms(n: u64) -> Instant {
    Instant::ZERO + penstock_schemes::Duration::from_ms(n)
}
