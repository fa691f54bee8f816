//! The nodes of a network, and the pairs of nodes that links and media connect.

use crate::read::{Errors, nearest, shortened};
use lightlag_net::NodeId;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Display;

/// Maximum total number of entries of all routing tables, which take 400 MB.
const MOST_ROUTES: u64 = 100_000_000;

/// Nodes by name and by index.
#[derive(Default)]
pub(crate) struct Nodes {
    pub(crate) names: Vec<String>,
    ids: BTreeMap<String, NodeId>,
}

impl Nodes {
    pub(crate) fn add(&mut self, name: &str) -> NodeId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = NodeId(self.names.len() as u32);
        self.names.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        id
    }

    pub(crate) fn name(&self, id: NodeId) -> &str {
        &self.names[id.0 as usize]
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.ids.contains_key(name)
    }

    /// Returns the ID of a node. If there is no such node, reports an error that lists the existing ones.
    pub(crate) fn find(&self, name: &str, path: impl Display, errors: &mut Errors) -> Option<NodeId> {
        const SHOWN: usize = 8;
        let id = self.ids.get(name).copied();
        if id.is_none() {
            let some: Vec<&str> = self.names.iter().take(1000).map(String::as_str).collect();
            let guess = nearest(name, &some).map_or(String::new(), |near| format!("; did you mean {near:?}?"));
            let listed = some[..some.len().min(SHOWN)].join(", ");
            let more = if self.names.len() > SHOWN { ", …" } else { "" };
            let name = shortened(name);
            errors.push(path, format!("{name:?} is not a node of the network{guess} (its nodes: {listed}{more})"));
        }
        id
    }
}

/// The pairs of connected nodes. No pair is connected by two links.
#[derive(Default)]
pub(crate) struct Joins {
    pub(crate) nodes: Nodes,
    /// Index of the listed link of each pair; `None` for a generated link.
    pairs: BTreeMap<(NodeId, NodeId), Option<usize>>,
    /// Pairs of nodes that are connected by a medium.
    on_air: Vec<(NodeId, NodeId)>,
}

impl Joins {
    /// Connects two nodes by the listed link with this index, or by a generated link.
    pub(crate) fn join(&mut self, [a, b]: &[String; 2], listed: Option<usize>, errors: &mut Errors) -> [NodeId; 2] {
        let ends = [self.nodes.add(a), self.nodes.add(b)];
        let key = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        match self.pairs.entry(key) {
            Entry::Vacant(place) => {
                place.insert(listed);
            }
            Entry::Occupied(first) => {
                let first = first.get().map_or("a generated link".to_owned(), |index| format!("links[{index}]"));
                let path = listed.map_or("topology".to_owned(), |index| format!("links[{index}].between"));
                errors.push(
                    path,
                    format!(
                        "{a:?} and {b:?} are already joined by {first}, and routes would use only one of the two \
                         links; give one link {{ forward, backward }} values, or insert a node into the second path"
                    ),
                );
            }
        }
        ends
    }

    /// Returns the endpoints of the flow at the path `path`, if they exist and differ.
    pub(crate) fn ends(&self, from: &str, to: &str, path: &str, errors: &mut Errors) -> Option<(NodeId, NodeId)> {
        let ends = [("from", from), ("to", to)];
        let [a, b] = ends.map(|(key, name)| self.nodes.find(name, format_args!("{path}.{key}"), errors));
        let (a, b) = (a?, b?);
        if a == b {
            errors.push(
                format_args!("{path}.to"),
                format!("{to:?} is also the source of the flow; write two different nodes"),
            );
            return None;
        }
        Some((a, b))
    }

    /// Connects a node to the first node on the same medium.
    pub(crate) fn join_on_air(&mut self, first: NodeId, node: NodeId) {
        self.on_air.push((first, node));
    }

    /// Returns the component of each node: nodes that can reach each other have the same value.
    pub(super) fn islands(&self) -> Vec<u32> {
        fn root(islands: &mut [u32], mut node: u32) -> u32 {
            while islands[node as usize] != node {
                islands[node as usize] = islands[islands[node as usize] as usize];
                node = islands[node as usize];
            }
            node
        }
        let mut islands: Vec<u32> = (0..self.nodes.names.len() as u32).collect();
        for (a, b) in self.pairs.keys().chain(&self.on_air) {
            let (a, b) = (root(&mut islands, a.0), root(&mut islands, b.0));
            islands[a.max(b) as usize] = a.min(b);
        }
        (0..islands.len() as u32).map(|node| root(&mut islands, node)).collect()
    }

    /// Rejects networks whose routing tables would not fit in memory. Every node with more than one link has a table.
    pub(super) fn check_tables(&self, errors: &mut Errors) {
        let mut degree = vec![0_u32; self.nodes.names.len()];
        for (a, b) in self.pairs.keys() {
            degree[a.0 as usize] += 1;
            degree[b.0 as usize] += 1;
        }
        let routers = degree.iter().filter(|links| **links > 1).count() as u64;
        let entries = routers * degree.len() as u64;
        if entries > MOST_ROUTES {
            let nodes = degree.len();
            let message = format!(
                "{routers} nodes with several links in a network of {nodes} need {entries} routes, \
                 more than {MOST_ROUTES}; use fewer hops"
            );
            errors.push("links", message);
        }
    }
}
