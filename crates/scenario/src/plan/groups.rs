//! Multicast groups: from `[[group]]` tables to members and their trees.
//!
//! A group that lists the links of its tree has one tree for all sources. A source that is not the root reaches
//! it by a shortest path, as senders reach the rendezvous point of a shared tree. Without a list, each source
//! has a separate tree of shortest paths ([`routing::Growing`]).

use std::collections::{BTreeMap, BTreeSet};

use super::routing::{self, Branch, Wanted};
use crate::error::Fault;
use crate::error::nearest;
use crate::keys::fields::{List, Names};
use crate::keys::read::Entry;
use crate::keys::sections;
use crate::keys::topology::Layout;
use crate::limits::{Bounds, Excess, FLOWS};
use crate::names;

/// All groups of a scenario.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    pub(crate) list: Vec<Group>,
    names: BTreeMap<String, usize>,
}

/// A multicast group.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: String,
    /// Hosts, in the order of the file.
    pub(crate) members: Vec<usize>,
    tree: Option<Tree>,
}

/// The tree that a group lists: a root from which the links lead to each member and nowhere else.
#[derive(Debug)]
struct Tree {
    root: usize,
    links: Vec<usize>,
}

impl Groups {
    pub(crate) fn read(tables: &[sections::Group], layout: &Layout, bounds: &Bounds<'_>) -> Result<Self, Fault> {
        let mut groups = Self::default();
        for table in tables {
            let name = String::clone(&table.name);
            names::check(&name).map_err(|e| table.name.excess(e))?;
            if layout.node(&name).is_some() {
                let message = format!("a node is called \"{name}\" already");
                return Err(table.name.fault(message).with_hint("give the group a different name"));
            }
            if groups.names.insert(name.clone(), groups.list.len()).is_some() {
                let message = format!("the name \"{name}\" is used twice");
                return Err(table.name.fault(message).with_hint("give each group a different name"));
            }
            let members = members(&table.members, layout, bounds)?;
            let tree = (*table.links).as_ref().map(|links| tree(&table.links, links, &members, layout)).transpose()?;
            groups.list.push(Group { name, members, tree });
        }
        Ok(groups)
    }

    /// Index of the group called `name`.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// Which group may be meant by a name that is neither a host's nor a group's.
    pub(crate) fn suggestion(&self, name: &str) -> Option<String> {
        nearest(name, self.names.keys().map(String::as_str))
    }
}

fn members(key: &Entry<Names>, layout: &Layout, bounds: &Bounds<'_>) -> Result<Vec<usize>, Fault> {
    let names = names::expand_all(key, bounds.most(FLOWS)).map_err(|e| key.excess(e))?;
    let mut members = Vec::with_capacity(names.len());
    let mut seen = BTreeSet::new();
    for name in names {
        let host = layout.host(&name).map_err(|e| key.excess(e))?;
        if !seen.insert(host) {
            let message = format!("\"{name}\" is a member twice");
            return Err(key.fault(message).with_hint("list each member once"));
        }
        members.push(host);
    }
    Ok(members)
}

/// The tree of the links listed; an error says why they form none.
fn tree(key: &Entry<Option<List>>, names: &[String], members: &[usize], layout: &Layout) -> Result<Tree, Fault> {
    let wrong = |message: String| key.fault(message);
    let node = |index: usize| &layout.nodes[index].name;
    let mut links = Vec::with_capacity(names.len());
    // By which listed link a node is reached.
    let mut path_in: BTreeMap<usize, usize> = BTreeMap::new();
    for name in names {
        let link = layout
            .port(name)
            .ok_or_else(|| wrong(format!("there is no link \"{name}\"")).with_hint(layout.suggest_port(name)))?;
        let port = &layout.ports[link];
        let above = against(port.node, &path_in, layout);
        if let Some(at) = above.iter().position(|above| *above == port.peer) {
            let round = above[..=at].iter().rev().chain([&port.peer]).map(|n| node(*n).as_str());
            let message = format!("the links run in a loop: {}", round.collect::<Vec<_>>().join("->"));
            return Err(wrong(message).with_hint("a tree has no loop: remove one of the links"));
        }
        match path_in.insert(port.peer, link) {
            Some(other) if other == link => {
                return Err(wrong(format!("the link \"{name}\" is listed twice")).with_hint("list each link once"));
            }
            Some(other) => {
                let other = layout.port_name(other);
                let message = format!("two links lead to \"{}\": {other} and {name}", node(port.peer));
                return Err(wrong(message).with_hint("a tree has one link to each node; remove one of the two"));
            }
            None => links.push(link),
        }
    }
    let root = against(layout.ports[links[0]].node, &path_in, layout).pop().expect("the node itself at least");
    let route = routing::ordered(layout, root, &links);
    if route.len() < links.len() {
        let reached: BTreeSet<usize> = route.iter().map(|branch| branch.port).collect();
        let apart = links.iter().find(|link| !reached.contains(link)).expect("a link is missing");
        let message = format!("\"{}\" cannot be reached from \"{}\"", layout.port_name(*apart), node(root));
        return Err(wrong(message).with_hint("the links of a tree are connected, and hosts do not forward"));
    }
    let forwards: BTreeSet<usize> = links.iter().map(|link| layout.ports[*link].node).collect();
    let ends = links.iter().map(|link| layout.ports[*link].peer).filter(|node| !forwards.contains(node));
    if let Some(end) = ends.into_iter().find(|end| !members.contains(end)) {
        let message = format!("a branch ends at \"{}\", which is no member", node(end));
        return Err(wrong(message).with_hint("each branch of a tree ends at a member"));
    }
    if let Some(member) = members.iter().find(|member| !path_in.contains_key(member)) {
        let message = format!("no link leads to the member \"{}\"", node(*member));
        return Err(wrong(message).with_hint("the tree reaches each member"));
    }
    Ok(Tree { root, links })
}

/// The nodes from `node` against the links, to where they begin.
fn against(node: usize, path_in: &BTreeMap<usize, usize>, layout: &Layout) -> Vec<usize> {
    let mut nodes = vec![node];
    let mut at = node;
    while let Some(link) = path_in.get(&at) {
        at = layout.ports[*link].node;
        nodes.push(at);
    }
    nodes
}

impl Group {
    /// Whether it lists the links of its tree.
    pub(crate) fn has_tree(&self) -> bool {
        self.tree.is_some()
    }

    /// The path from `source` to the members over the tree that the group lists, or an error's message and hint.
    ///
    /// # Panics
    /// If it lists none.
    pub(crate) fn listed(
        &self,
        layout: &Layout,
        flow: &str,
        source: usize,
        bounds: &Bounds<'_>,
    ) -> Result<Vec<Branch>, Excess> {
        let tree = self.tree.as_ref().expect("the group lists the links of its tree");
        bounds.add_hops(tree.links.len())?;
        let (from, root) = (&layout.nodes[source].name, &layout.nodes[tree.root].name);
        let mut links = tree.links.clone();
        if source != tree.root {
            if layout.is_host(tree.root) {
                let message = format!("the tree of \"{}\" begins at the host \"{root}\", not at \"{from}\"", self.name);
                return Err((message, "let it begin at a switch; sources reach that by shortest paths".to_owned()));
            }
            let wanted = Wanted { flow, source, destination: tree.root, first: None };
            let Some(path) = routing::paths(layout, &[wanted], bounds)?.pop().flatten() else {
                let message = format!("\"{root}\", where the tree of \"{}\" begins, cannot be reached", self.name);
                return Err((format!("{message} from \"{from}\""), routing::within_reach(layout, source)));
            };
            bounds.search(tree.links.len() * path.len())?;
            let inside = |link: &usize| tree.links.iter().any(|l| layout.ports[*l].peer == layout.ports[*link].peer);
            if let Some(link) = path.iter().find(|link| inside(link)) {
                let node = &layout.nodes[layout.ports[*link].peer].name;
                let message =
                    format!("the path from \"{from}\" to \"{root}\", where the tree of \"{}\" begins", self.name);
                let hint = "let the tree begin at the first of its switches on that path".to_owned();
                return Err((format!("{message}, runs through \"{node}\" in the tree"), hint));
            }
            links.extend(path);
        }
        if links.iter().filter(|link| layout.ports[**link].node == source).count() > 1 {
            let message = format!("the tree of \"{}\" leaves its source \"{from}\" over several links", self.name);
            return Err((message, "a source sends a frame once; let the tree branch at a switch".to_owned()));
        }
        Ok(routing::ordered(layout, source, &links))
    }
}
