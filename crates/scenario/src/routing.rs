//! Routes: shortest paths by hops, or the path that a flow lists.
//!
//! Hosts never forward. Where several neighbours are equally near to the destination, `ecmp` takes one by a hash of the
//! flow's and the switch's names (it does not depend on the seed), `d-mod-k` by the number of the destination.

use std::collections::VecDeque;

use crate::topology::Fabric;

/// Which way a flow goes.
pub(crate) struct Wanted<'a> {
    pub(crate) flow: &'a str,
    pub(crate) source: usize,
    pub(crate) destination: usize,
}

/// The ports that each of `wanted` crosses, in the order of `wanted`; `None` where there is no way.
pub(crate) fn routes(fabric: &Fabric, wanted: &[Wanted<'_>]) -> Vec<Option<Vec<usize>>> {
    let mut routes = vec![None; wanted.len()];
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|i| wanted[*i].destination);
    let mut distances: (usize, Vec<u32>) = (usize::MAX, Vec::new());
    for i in order {
        let w = &wanted[i];
        if distances.0 != w.destination {
            distances = (w.destination, distances_to(fabric, w.destination));
        }
        routes[i] = walk(fabric, w, &distances.1);
    }
    routes
}

/// The ports along a path of nodes, or what is wrong with it.
pub(crate) fn listed(fabric: &Fabric, names: &[String]) -> Result<Vec<usize>, String> {
    for name in &names[1..names.len().max(2) - 1] {
        if fabric.node(name).is_some_and(|node| fabric.is_host(node)) {
            return Err(format!("the host \"{name}\" does not forward"));
        }
    }
    let mut ports = Vec::new();
    for pair in names.windows(2) {
        let name = format!("{}->{}", pair[0], pair[1]);
        for end in pair {
            if fabric.node(end).is_none() {
                return Err(format!("there is no node \"{end}\""));
            }
        }
        ports.push(fabric.port(&name).ok_or_else(|| {
            let node = fabric.node(&pair[0]).expect("it has just been found");
            let peers = fabric.nodes[node].ports.iter().map(|port| fabric.ports[*port].peer);
            format!("\"{}\" and \"{}\" are not joined; links of {0} lead to {}", pair[0], pair[1], list(fabric, peers))
        })?);
    }
    let mut sorted = ports.clone();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err("it crosses a link twice".into());
    }
    Ok(ports)
}

/// Which hosts a host can reach, in words.
pub(crate) fn within_reach(fabric: &Fabric, source: usize) -> String {
    // Links run both ways, so the way to a node is the way from it.
    let distance = distances_to(fabric, source);
    let hosts = (0..distance.len()).filter(|n| *n != source && distance[*n] != u32::MAX && fabric.is_host(*n));
    format!("hosts do not forward; links and switches lead from there to {}", list(fabric, hosts))
}

/// The names of nodes; of many, the first few.
fn list(fabric: &Fabric, nodes: impl Iterator<Item = usize>) -> String {
    const SHOWN: usize = 8;
    let names: Vec<&str> = nodes.map(|node| fabric.nodes[node].name.as_str()).collect();
    match names.len() {
        0 => "nowhere".into(),
        n if n > SHOWN => format!("{} and {} more", names[..SHOWN].join(", "), n - SHOWN),
        _ => names.join(", "),
    }
}

/// Hops from each node to `destination`; `u32::MAX` where there is no way.
fn distances_to(fabric: &Fabric, destination: usize) -> Vec<u32> {
    let mut distance = vec![u32::MAX; fabric.nodes.len()];
    distance[destination] = 0;
    let mut waiting = VecDeque::from([destination]);
    while let Some(node) = waiting.pop_front() {
        if node != destination && fabric.is_host(node) {
            continue;
        }
        // Links run both ways, so the way to a node is the way from it.
        for port in &fabric.nodes[node].ports {
            let peer = fabric.ports[*port].peer;
            if distance[peer] == u32::MAX {
                distance[peer] = distance[node] + 1;
                waiting.push_back(peer);
            }
        }
    }
    distance
}

fn walk(fabric: &Fabric, wanted: &Wanted<'_>, distance: &[u32]) -> Option<Vec<usize>> {
    let mut node = wanted.source;
    if distance[node] == u32::MAX {
        return None;
    }
    // The quotient that d-mod-k divides further at each choice.
    let mut quotient = fabric.nodes[wanted.destination].number;
    let mut ports = Vec::new();
    while node != wanted.destination {
        let nearer = |port: &&usize| {
            let peer = fabric.ports[**port].peer;
            distance[peer] < distance[node] && (peer == wanted.destination || !fabric.is_host(peer))
        };
        let candidates: Vec<usize> = fabric.nodes[node].ports.iter().filter(nearer).copied().collect();
        let n = candidates.len() as u64;
        let pick = if n == 1 {
            0
        } else if fabric.by_destination {
            let pick = quotient % n;
            quotient /= n;
            pick
        } else {
            hash(wanted.flow, &fabric.nodes[node].name) % n
        };
        let port = candidates[pick as usize];
        ports.push(port);
        node = fabric.ports[port].peer;
    }
    Some(ports)
}

/// FNV-1a over both names, its bits mixed once more so that names that differ in their last digit spread well.
fn hash(flow: &str, switch: &str) -> u64 {
    let octets = flow.bytes().chain([0]).chain(switch.bytes());
    let x = octets.fold(0xcbf2_9ce4_8422_2325_u64, |x, b| (x ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
