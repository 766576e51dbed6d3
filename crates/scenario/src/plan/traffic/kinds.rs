//! The kinds of traffic: when a flow's frames are generated. Some keys of `[[flow]]` are for some kinds alone.

use penstock_sim::network::Traffic;

use crate::error::Fault;
use crate::keys::read::Entry;
use crate::keys::sections::{Flow, TrafficKind};

/// A key of `[[flow]]` that not every kind of traffic has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Own {
    Rate,
    On,
    Off,
    Random,
}

/// Those of a kind.
fn keys(kind: TrafficKind) -> &'static [Own] {
    match kind {
        TrafficKind::Greedy => &[],
        TrafficKind::Constant | TrafficKind::Poisson => &[Own::Rate],
        TrafficKind::OnOff => &[Own::Rate, Own::On, Own::Off, Own::Random],
    }
}

/// The traffic that a flow's table describes.
pub(super) fn traffic(flow: &Flow) -> Result<Traffic, Fault> {
    let (kind, name) = (*flow.traffic, name(*flow.traffic));
    let (rate, on, off) = (&flow.rate, &flow.on, &flow.off);
    let needed_rate = || needed(rate, name, "rate = \"1 Gbps\"");
    let traffic = match kind {
        TrafficKind::Greedy => Traffic::Greedy,
        TrafficKind::Constant => Traffic::Constant(needed_rate()?),
        TrafficKind::Poisson => Traffic::Poisson(needed_rate()?),
        TrafficKind::OnOff => Traffic::OnOff {
            rate: needed_rate()?,
            on: needed(on, name, "on = \"1 ms\"")?,
            off: needed(off, name, "off = \"1 ms\"")?,
            random: *flow.random,
        },
    };
    let no_such_key = || format!("traffic = \"{name}\" has no such key");
    let refused = [
        (Own::Rate, rate.is_some(), rate.fault(no_such_key())),
        (Own::On, on.is_some(), on.fault(no_such_key())),
        (Own::Off, off.is_some(), off.fault(no_such_key())),
        (Own::Random, *flow.random, {
            flow.random.fault(format!("traffic = \"{name}\" has no on and off periods that could be random"))
        }),
    ];
    match refused.into_iter().find(|(key, given, _)| *given && !keys(kind).contains(key)) {
        Some((key, _, fault)) => Err(fault.with_hint(having(key))),
        None => Ok(traffic),
    }
}

/// The value of a key that the kind called `name` needs.
fn needed<T: Copy>(key: &Entry<Option<T>>, name: &str, example: &str) -> Result<T, Fault> {
    let missing = || key.fault(format!("missing; traffic = \"{name}\" needs it"));
    key.ok_or_else(|| missing().with_hint(format!("for instance {example}")))
}

/// The name of a kind in a file.
fn name(kind: TrafficKind) -> &'static str {
    TrafficKind::WORDS.iter().find(|(_, own)| *own == kind).map_or("", |(name, _)| *name)
}

/// Which kinds of traffic have a key, as text.
fn having(key: Own) -> String {
    let kinds = TrafficKind::WORDS.iter().filter(|(_, kind)| keys(*kind).contains(&key));
    let names: Vec<String> = kinds.map(|(name, _)| format!("\"{name}\"")).collect();
    match &names[..] {
        [.., last] if names.len() > 1 => format!("{} and {last} have", names[..names.len() - 1].join(", ")),
        names => format!("{} has", names.concat()),
    }
}
