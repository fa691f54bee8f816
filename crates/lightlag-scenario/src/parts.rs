//! References inside a scenario that is broken elsewhere: what can be said of them is said in the same report.

use super::Scenario;
use super::error::{Errors, Path};
use super::flow::Resolver;
use super::layout::{Joins, Names};
use super::reader::FromValue;
use super::topology::{MOST_LINKS, Topology};
use serde_json::Value;

impl Scenario {
    /// Adds the errors of references. `self` holds the parts that could be read, `tree` everything.
    pub(super) fn check_parts(&self, tree: &Value, errors: &mut Errors) {
        let mut joins = Joins::default();
        let mut nodes_are_known = true;
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
        let mut names = Names::default();
        for (index, flow) in items(tree, "flows") {
            let at = format!("flows[{index}]");
            if let Some(name) = flow.get("name").and_then(Value::as_str) {
                names.take(name, &at, errors);
            }
            let end = |key| flow.get(key).and_then(Value::as_str).filter(|name| !name.is_empty());
            if nodes_are_known && let (Some(from), Some(to)) = (end("from"), end("to")) {
                joins.ends(from, to, &at, errors);
            }
        }
        let mut resolver = Resolver::new(&self.defaults.tcp, errors);
        for (index, flow) in items(tree, "flows") {
            if let Some(options) = flow.get("tcp").and_then(quietly) {
                resolver.resolve(&options, &format!("flows[{index}]"), errors);
            }
        }
    }
}

/// The tables of a list, with their places in it.
fn items<'a>(tree: &'a Value, key: &str) -> impl Iterator<Item = (usize, &'a Value)> {
    tree.get(key).and_then(Value::as_array).into_iter().flatten().enumerate()
}

/// A value whose errors are known already.
fn quietly<T: FromValue>(value: &Value) -> Option<T> {
    T::read(value, &Path::Root, &mut Errors::default())
}
