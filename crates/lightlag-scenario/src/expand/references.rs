//! Checks whether the parts of a scenario are consistent. If the scenario has other errors, inconsistent references are
//! reported together with them.

use super::joins::Joins;
use super::layout::{Layout, Names};
use super::tcp::Resolver;
use crate::read::{Errors, FromValue, Path};
use crate::spec::{MOST_LINKS, Scenario, Topology};
use lightlag_tcp::Options;
use serde_json::Value;

impl Scenario {
    /// Adds an error for each inconsistency.
    pub(crate) fn check(&self, errors: &mut Errors) {
        let _ = Layout::new(self, self.seed, errors);
    }

    /// Adds an error for each invalid reference. `self` contains the parts that could be read, `tree` all parts.
    pub(crate) fn check_references(&self, tree: &Value, errors: &mut Errors) {
        let mut joins = Joins::default();
        // A part that is not a list, such as [links] for [[links]], may name any node.
        let mut nodes_are_known = ["links", "nodes", "stations"]
            .iter()
            .all(|key| tree.get(key).is_none_or(|part| part.is_array() || part.is_null()));
        for (index, link) in items(tree, "links") {
            match link.get("between").and_then(quietly::<[String; 2]>) {
                Some(between) => {
                    joins.join(&between, Some(index), errors);
                }
                None => nodes_are_known = false,
            }
        }
        match &self.topology {
            Some(topology) if topology.link_count() <= MOST_LINKS => {
                for (ends, _) in Topology::links(topology) {
                    joins.join(&ends, None, errors);
                }
            }
            _ => nodes_are_known &= tree.get("topology").is_none_or(Value::is_null),
        }
        if let Some(Topology::Swarm(swarm)) = &self.topology {
            (0..swarm.nodes).for_each(|at| _ = joins.nodes.add(&swarm.node(at)));
        }
        for (_, node) in items(tree, "nodes") {
            match node.get("name").and_then(Value::as_str) {
                Some(name) => _ = joins.nodes.add(name),
                None => nodes_are_known = false,
            }
        }
        let mut first = None;
        for (_, station) in items(tree, "stations") {
            match station.get("name").and_then(Value::as_str) {
                Some(name) => {
                    let id = joins.nodes.add(name);
                    joins.join_on_air(*first.get_or_insert(id), id);
                }
                None => nodes_are_known = false,
            }
        }
        let mut names = Names::default();
        for (index, flow) in items(tree, "flows") {
            let path = format!("flows[{index}]");
            if let Some(name) = flow.get("name").and_then(Value::as_str) {
                names.take(name, &path, errors);
            }
            let end = |key| flow.get(key).and_then(Value::as_str).filter(|name| !name.is_empty());
            if nodes_are_known && let (Some(from), Some(to)) = (end("from"), end("to")) {
                joins.ends(from, to, &path, errors);
            }
        }
        let mut resolver = Resolver::new(&self.defaults.tcp, errors);
        for (index, flow) in items(tree, "flows") {
            let table = |key| flow.get(key).map_or(Some(Options::default()), quietly);
            if let (Some(both), Some(client), Some(server)) = (table("tcp"), table("client"), table("server")) {
                resolver.resolve_ends(&both, [&client, &server], &format!("flows[{index}]"), errors);
            }
        }
    }
}

/// Returns the tables in a list, with their indices.
fn items<'a>(tree: &'a Value, key: &str) -> impl Iterator<Item = (usize, &'a Value)> {
    tree.get(key).and_then(Value::as_array).into_iter().flatten().enumerate()
}

/// Reads a value whose errors were reported before, without reporting them again.
fn quietly<T: FromValue>(value: &Value) -> Option<T> {
    T::read(value, &Path::Root, &mut Errors::default())
}
