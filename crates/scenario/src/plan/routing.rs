//! Routes: shortest paths by hops (one, or all of them as a tree where switches choose), the path that a flow lists, or a tree to several
//! destinations.
//!
//! Hosts never forward. If several neighbours are equally near to the destination, `ecmp` chooses one by a hash of the names of flow
//! and switch, and `d-mod-k` by the number of the destination. The hash does not depend on the seed of the run;
//! `network.ecmp_seed` changes it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::hash::hash;
use crate::keys::topology::{Layout, Routing};
use crate::limits::{Bounds, Excess};

/// What is wanted of the path of a flow.
pub(crate) struct Wanted<'a> {
    pub(crate) flow: &'a str,
    pub(crate) source: usize,
    pub(crate) destination: usize,
    /// The port of its first link, for one that has begun: a network interface does not move it to another.
    pub(crate) first: Option<usize>,
}

impl Wanted<'_> {
    /// Whether the link that it begins with, if that is settled, leads to its destination.
    fn can_begin(&self, layout: &Layout, distance: &Distances) -> bool {
        self.first.is_none_or(|port| {
            let peer = layout.ports[port].peer;
            let leads_on = !layout.is_host(peer) && distance.hops[peer] != NO_WAY;
            layout.nodes[self.source].ports.contains(&port) && (peer == self.destination || leads_on)
        })
    }
}

/// One link of a route. Routes list parents before children, and the children of a link together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Branch {
    pub(crate) port: usize,
    /// The link before, as an index into the route; `None` at the source.
    pub(crate) parent: Option<usize>,
}

/// A route without branches.
pub(crate) fn chain(ports: Vec<usize>) -> Vec<Branch> {
    ports.into_iter().enumerate().map(|(i, port)| Branch { port, parent: i.checked_sub(1) }).collect()
}

/// Whether a route has no branches.
pub(crate) fn is_chain(route: &[Branch]) -> bool {
    route.iter().enumerate().all(|(i, branch)| branch.parent == i.checked_sub(1))
}

/// How many paths a route has.
pub(crate) fn paths_of(route: &[Branch]) -> usize {
    let parents: BTreeSet<usize> = route.iter().filter_map(|branch| branch.parent).collect();
    route.len() - parents.len()
}

/// The route over those of `ports` that lead on from `root`; hosts other than the root do not forward.
pub(crate) fn ordered(layout: &Layout, root: usize, ports: &[usize]) -> Vec<Branch> {
    let mut leaving: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for port in ports {
        leaving.entry(layout.ports[*port].node).or_default().push(*port);
    }
    let mut route = Vec::with_capacity(ports.len());
    let mut waiting = VecDeque::from([(root, None)]);
    while let Some((node, parent)) = waiting.pop_front() {
        if node != root && layout.is_host(node) {
            continue;
        }
        for port in leaving.get(&node).into_iter().flatten() {
            waiting.push_back((layout.ports[*port].peer, Some(route.len())));
            route.push(Branch { port: *port, parent });
        }
    }
    route
}

/// A tree of shortest paths that grows member by member. A new branch leaves the tree as late as a shortest path can,
/// and goes on as a flow to that member alone would.
pub(crate) struct Growing<'a> {
    flow: &'a str,
    source: usize,
    /// Links in the order in which they were added; the first is the source's.
    links: Vec<Branch>,
    /// How many links lead to the end of each, itself included.
    depth: Vec<u32>,
}

impl<'a> Growing<'a> {
    pub(crate) fn new(flow: &'a str, source: usize) -> Self {
        Self { flow, source, links: Vec::new(), depth: Vec::new() }
    }

    /// Adds the path to `member`; false if there is none.
    pub(crate) fn reach(
        &mut self,
        layout: &Layout,
        member: usize,
        distance: &Distances,
        bounds: &Bounds<'_>,
    ) -> Result<bool, Excess> {
        bounds.search(self.links.len())?;
        let wanted = Wanted { flow: self.flow, source: self.source, destination: member, first: None };
        let end = |branch: &Branch| layout.ports[branch.port].peer;
        let mut last = None;
        if let Some(first) = self.links.first() {
            // A source sends each frame over one link: all paths begin with the first.
            let first = end(first);
            if layout.is_host(first) || distance.hops[first] == NO_WAY {
                return Ok(false);
            }
            let on_the_way = |i: &usize| {
                let node = end(&self.links[*i]);
                !layout.is_host(node)
                    && self.depth[*i] - 1 + u32::from(distance.hops[node]) == u32::from(distance.hops[first])
            };
            let latest = (0..self.links.len()).rev().filter(on_the_way).max_by_key(|i| self.depth[*i]);
            last = Some(latest.expect("the end of the first link is on the path"));
        }
        let mut shared = Vec::new();
        let mut link = last;
        while let Some(i) = link {
            shared.push(self.links[i].port);
            link = self.links[i].parent;
        }
        shared.reverse();
        let Some(ports) = walk(layout, &wanted, distance, &shared) else { return Ok(false) };
        bounds.add_hops(ports.len() - shared.len())?;
        for port in &ports[shared.len()..] {
            self.links.push(Branch { port: *port, parent: last });
            last = Some(self.links.len() - 1);
            self.depth.push(self.links[self.links.len() - 1].parent.map_or(0, |i| self.depth[i]) + 1);
        }
        Ok(true)
    }

    /// The whole tree.
    pub(crate) fn route(&self, layout: &Layout) -> Vec<Branch> {
        let ports: Vec<usize> = self.links.iter().map(|branch| branch.port).collect();
        ordered(layout, self.source, &ports)
    }
}

/// The ports that each of `wanted` crosses, in the order of `wanted`; `None` if there is no path.
pub(crate) fn paths(
    layout: &Layout,
    wanted: &[Wanted<'_>],
    bounds: &Bounds<'_>,
) -> Result<Vec<Option<Vec<usize>>>, Excess> {
    each(layout, wanted, bounds, |w, distance| Ok(walk(layout, w, distance, &[])))
}

/// The route of each of `wanted`, likewise: a chain, or where switches choose the tree of all shortest paths.
pub(crate) fn routes(
    layout: &Layout,
    wanted: &[Wanted<'_>],
    bounds: &Bounds<'_>,
) -> Result<Vec<Option<Vec<Branch>>>, Excess> {
    each(layout, wanted, bounds, |w, distance| {
        if layout.spreads {
            path_tree(layout, w, distance, |_| bounds.search(BRANCHING).and_then(|()| bounds.add_hops(1)))
        } else {
            Ok(walk(layout, w, distance, &[]).map(chain))
        }
    })
}

/// The route of each of `wanted`, which `find` finds from the distances to its destination.
fn each<T: Clone>(
    layout: &Layout,
    wanted: &[Wanted<'_>],
    bounds: &Bounds<'_>,
    find: impl Fn(&Wanted<'_>, &Distances) -> Result<Option<T>, Excess>,
) -> Result<Vec<Option<T>>, Excess> {
    let mut routes = vec![None; wanted.len()];
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    let gate_of = |i: &usize| gate(layout, wanted[*i].destination);
    order.sort_by_cached_key(gate_of);
    let gates = order.chunk_by(|a, b| gate_of(a) == gate_of(b)).count();
    bounds.foresee(gates * layout.ports.len())?;
    for to_one in order.chunk_by(|a, b| gate_of(a) == gate_of(b)) {
        let distance = Distances::to(layout, wanted[to_one[0]].destination, bounds)?;
        for &i in to_one {
            let w = &wanted[i];
            if let Some(hops) = distance.between(w.source, w.destination) {
                bounds.add_hops(hops)?;
                bounds.search(hops)?;
            }
            routes[i] = find(w, &distance)?;
        }
    }
    Ok(routes)
}

/// The ports along a path of nodes, or an error's message and hint.
pub(crate) fn listed(layout: &Layout, names: &[String]) -> Result<Vec<usize>, (String, String)> {
    // Of parallel links one ends in its number.
    let node = |name: &str| layout.node(name.split('.').next().unwrap_or(name));
    for name in &names[1..names.len().max(2) - 1] {
        if node(name).is_some_and(|node| layout.is_host(node)) {
            return Err((format!("the host \"{name}\" does not forward"), "lead the path through switches".to_owned()));
        }
    }
    let mut ports = Vec::new();
    for pair in names.windows(2) {
        for end in pair {
            if node(end).is_none() {
                return Err((format!("there is no node \"{end}\""), layout.suggest_node(end)));
            }
        }
        let from = node(&pair[0]).expect("it has just been found");
        let name = format!("{}->{}", layout.nodes[from].name, pair[1]);
        ports.push(layout.port(&name).ok_or_else(|| {
            if layout.port(&format!("{name}.1")).is_some() {
                let message = format!("parallel links join \"{}\" and \"{}\"", layout.nodes[from].name, pair[1]);
                return (message, format!("say which one, as in \"{}.1\"", pair[1]));
            }
            let node = from;
            let peers = layout.nodes[node].ports.iter().map(|port| layout.ports[*port].peer);
            let message = format!("no link joins \"{}\" and \"{}\"", pair[0], pair[1]);
            (message, format!("links of {} lead to {}", pair[0], list(layout, peers)))
        })?);
    }
    let mut sorted = ports.clone();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(("it crosses a link twice".to_owned(), "a path has each link once".to_owned()));
    }
    Ok(ports)
}

/// Which hosts a host can reach, as text.
pub(crate) fn within_reach(layout: &Layout, source: usize) -> String {
    // Links are bidirectional, so the path to a node is the path from it.
    let hops = hops(layout, source);
    let hosts = (0..hops.len()).filter(|n| *n != source && hops[*n] != NO_WAY && layout.is_host(*n));
    format!("hosts do not forward; links and switches lead from there to {}", list(layout, hosts))
}

/// The names of nodes; of many, the first few.
fn list(layout: &Layout, nodes: impl Iterator<Item = usize>) -> String {
    const SHOWN: usize = 8;
    let names: Vec<&str> = nodes.map(|node| layout.nodes[node].name.as_str()).collect();
    match names.len() {
        0 => "nowhere".into(),
        n if n > SHOWN => format!("{} and {} more", names[..SHOWN].join(", "), n - SHOWN),
        _ => names.join(", "),
    }
}

/// The node to which the paths to `destination` are computed: for a host with one link the switch at its other end, so that all
/// hosts of a switch share them.
pub(crate) fn gate(layout: &Layout, destination: usize) -> usize {
    match layout.nodes[destination].ports[..] {
        [port] if layout.is_host(destination) && !layout.is_host(layout.ports[port].peer) => layout.ports[port].peer,
        _ => destination,
    }
}

/// Hops from each node to a destination's [gate](gate).
#[derive(Debug)]
pub(crate) struct Distances {
    gate: usize,
    /// [`NO_WAY`] where there is none.
    hops: Vec<u16>,
}

/// There is no path. Larger than any number of hops.
const NO_WAY: u16 = u16::MAX;

impl Distances {
    pub(crate) fn to(layout: &Layout, destination: usize, bounds: &Bounds<'_>) -> Result<Self, Excess> {
        bounds.search(layout.ports.len())?;
        let gate = gate(layout, destination);
        Ok(Self { gate, hops: hops(layout, gate) })
    }

    /// Hops from a node to a destination with this gate; `None` if there is no path.
    fn between(&self, source: usize, destination: usize) -> Option<usize> {
        let hops = usize::from(self.hops[source]) + usize::from(self.gate != destination);
        (self.hops[source] != NO_WAY).then_some(hops)
    }
}

/// The ports of `node` that lead nearer to the destination; those alone whose links are up, where there are any.
fn nearer(layout: &Layout, distance: &Distances, node: usize) -> Vec<usize> {
    let all = leading_nearer(layout, distance, node);
    let is_up = |port: &usize| !layout.down.contains(port) && !layout.down.contains(&(port ^ 1));
    if layout.down.is_empty() || all.iter().all(is_up) || !all.iter().any(is_up) {
        return all;
    }
    all.into_iter().filter(is_up).collect()
}

fn leading_nearer(layout: &Layout, Distances { gate, hops }: &Distances, node: usize) -> Vec<usize> {
    let (own, of_gate) = (&layout.nodes[node].ports, &layout.nodes[*gate].ports);
    if hops[node] == 1 && of_gate.len() < own.len() {
        // The gate alone is nearer, and has fewer ports to look at. Both ends of links are numbered in the same order.
        return of_gate.iter().map(|port| port ^ 1).filter(|&port| layout.ports[port].node == node).collect();
    }
    let is_nearer = |port: &&usize| {
        let peer = layout.ports[**port].peer;
        hops[peer] < hops[node] && (peer == *gate || !layout.is_host(peer))
    };
    own.iter().filter(is_nearer).copied().collect()
}

/// The steps of the search that found this path through `gate`: one per link, and one per eight ports examined.
pub(crate) fn effort(layout: &Layout, gate: usize, path: &[usize]) -> usize {
    let degree = |node: usize| layout.nodes[node].ports.len();
    let looked_at = |&port: &usize| match (layout.ports[port].node, layout.ports[port].peer) {
        (node, _) if node == gate => 0,
        (node, peer) if peer == gate => degree(node).min(degree(gate)),
        (node, _) => degree(node),
    };
    path.iter().map(|port| 1 + looked_at(port) / 8).sum()
}

/// Which of `n` ports of `node` a flow takes that keeps to one path; `quotient` is that of d-mod-k.
fn preferred(layout: &Layout, flow: &str, node: usize, quotient: u64, n: u64) -> usize {
    match layout.routing {
        Routing::Ecmp if n > 1 => (layout.hash(flow, node) % n) as usize,
        Routing::Ecmp | Routing::ByDestination => (quotient % n) as usize,
    }
}

/// Steps of the search for routes that a branch of a tree counts for: it takes as long as to look at that many links.
pub(crate) const BRANCHING: usize = 3;

/// All shortest paths of a flow as a tree, at each switch the one first that [`walk`] takes; `None` if there is none. The source sends over the
/// first link of that one. `grow` gets the length of the tree before each link is added.
pub(crate) fn path_tree(
    layout: &Layout,
    wanted: &Wanted<'_>,
    distance: &Distances,
    grow: impl Fn(usize) -> Result<(), Excess>,
) -> Result<Option<Vec<Branch>>, Excess> {
    let Some(path) = walk(layout, wanted, distance, &[]) else { return Ok(None) };
    let choices = nearer(layout, distance, wanted.source).len() as u64;
    let number = layout.nodes[wanted.destination].number;
    let mut tree = vec![Branch { port: path[0], parent: None }];
    let mut waiting = VecDeque::from([(layout.ports[path[0]].peer, number / choices.max(1), 0)]);
    while let Some((node, quotient, parent)) = waiting.pop_front() {
        let mut ports = match node {
            node if node == wanted.destination => continue,
            // The only link of the destination, from its other end.
            node if node == distance.gate => vec![layout.nodes[wanted.destination].ports[0] ^ 1],
            node => nearer(layout, distance, node),
        };
        let n = ports.len() as u64;
        let first = ports.remove(preferred(layout, wanted.flow, node, quotient, n));
        ports.insert(0, first);
        for port in ports {
            grow(tree.len())?;
            waiting.push_back((layout.ports[port].peer, quotient / n, tree.len()));
            tree.push(Branch { port, parent: Some(parent) });
        }
    }
    Ok(Some(tree))
}

/// Hops from each node to one; [`NO_WAY`] where there is none.
fn hops(layout: &Layout, to: usize) -> Vec<u16> {
    let mut hops = vec![NO_WAY; layout.nodes.len()];
    hops[to] = 0;
    let mut waiting = VecDeque::from([to]);
    while let Some(node) = waiting.pop_front() {
        if node != to && layout.is_host(node) {
            continue;
        }
        // Links are bidirectional, so the path to a node is the path from it.
        for port in &layout.nodes[node].ports {
            let peer = layout.ports[*port].peer;
            if hops[peer] == NO_WAY {
                hops[peer] = hops[node] + 1;
                waiting.push_back(peer);
            }
        }
    }
    hops
}

/// The ports from source to destination, the first of which are `shared`.
pub(crate) fn walk(layout: &Layout, wanted: &Wanted<'_>, distance: &Distances, shared: &[usize]) -> Option<Vec<usize>> {
    let Distances { gate, hops } = distance;
    let mut node = wanted.source;
    if hops[node] == NO_WAY || !wanted.can_begin(layout, distance) {
        return None;
    }
    let shared = if shared.is_empty() { wanted.first.as_slice() } else { shared };
    // The quotient that d-mod-k divides further at each choice.
    let mut quotient = layout.nodes[wanted.destination].number;
    let mut ports = Vec::new();
    while node != *gate {
        let candidates = nearer(layout, distance, node);
        let n = candidates.len() as u64;
        let port = match shared.get(ports.len()) {
            Some(port) => *port,
            None => candidates[preferred(layout, wanted.flow, node, quotient, n)],
        };
        quotient /= n.max(1);
        ports.push(port);
        node = layout.ports[port].peer;
    }
    if node != wanted.destination {
        // The only link of the destination, from its other end.
        ports.push(layout.nodes[wanted.destination].ports[0] ^ 1);
    }
    Some(ports)
}

impl Layout {
    /// The hash by which a switch chooses among shortest paths of a flow. Without a seed it is that of their names.
    fn hash(&self, flow: &str, node: usize) -> u64 {
        let switch = self.nodes[node].name.as_bytes();
        match self.ecmp_seed {
            Some(seed) => hash(flow.as_bytes(), &[switch, &[0], &seed.to_le_bytes()].concat()),
            None => hash(flow.as_bytes(), switch),
        }
    }
}
