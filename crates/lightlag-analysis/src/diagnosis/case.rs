//! A scenario as JSON, and one of its flows: where its options and its path are.

use crate::summary::Flow;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Kinds of traffic whose data goes mostly to the node that opens the connection.
const REPLYING: [&str; 3] = ["requests", "web", "page"];

/// Direction of a link, as in the keys of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// From the first node of a link to the second one.
    Forward,
    /// From the second node of a link to the first one.
    Backward,
}

impl Direction {
    pub(super) const BOTH: [Self; 2] = [Self::Forward, Self::Backward];

    pub(super) fn reversed(self) -> Self {
        match self {
            Self::Forward => Self::Backward,
            Self::Backward => Self::Forward,
        }
    }

    fn key(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Backward => "backward",
        }
    }
}

/// A link on the path of the flow's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathLink {
    /// JSON pointer to its table in the scenario.
    table: String,
    /// Direction of the data.
    pub(super) data: Direction,
}

impl PathLink {
    /// Returns the direction of the ACKs.
    pub(super) fn acks(&self) -> Direction {
        self.data.reversed()
    }
}

/// A scenario that may be changed, and one of its flows.
pub(super) struct Case<'a> {
    pub(super) scenario: Value,
    /// Index of the flow in the scenario; `None` for a flow of a topology.
    flow: Option<usize>,
    /// Result of the flow.
    pub(super) row: &'a Flow,
}

impl<'a> Case<'a> {
    /// Finds a flow by its result.
    pub(super) fn of(scenario: &Value, row: &'a Flow) -> Self {
        let flow = names(flows_of(scenario)).iter().position(|name| *name == row.name);
        Self { scenario: scenario.clone(), flow, row }
    }

    /// Returns the flow's own table; `None` for a flow of a topology.
    pub(super) fn flow(&self) -> Option<&Map<String, Value>> {
        flows_of(&self.scenario).get(self.flow?)?.as_object()
    }

    /// Returns the flow's own table, which may be changed.
    pub(super) fn flow_mut(&mut self) -> Option<&mut Map<String, Value>> {
        self.table_mut(&format!("/flows/{}", self.flow?))
    }

    fn table_mut(&mut self, pointer: &str) -> Option<&mut Map<String, Value>> {
        self.scenario.pointer_mut(pointer)?.as_object_mut()
    }

    /// Returns "tcp", "quic" or "udp".
    pub(super) fn transport(&self) -> &str {
        transport_of(&self.scenario, self.flow())
    }

    /// Returns the pointers to the tables with options of the flow's transport, the weakest first.
    fn tables(&self) -> Vec<String> {
        let mut found = Vec::new();
        let owners = ["/defaults".to_owned(), "/topology/flow".to_owned()];
        for owner in owners.into_iter().chain(self.flow.map(|flow| format!("/flows/{flow}"))) {
            for name in [self.transport(), "client", "server"] {
                let table = format!("{owner}/{name}");
                if self.is_table(&table) {
                    let ends = ["client", "server"].map(|end| format!("{table}/{end}"));
                    found.push(table);
                    found.extend(ends.into_iter().filter(|end| self.is_table(end)));
                }
            }
        }
        found
    }

    fn is_table(&self, pointer: &str) -> bool {
        self.scenario.pointer(pointer).is_some_and(Value::is_object)
    }

    /// Returns the value of an option that the scenario sets; `None` if it sets none.
    pub(super) fn option(&self, key: &str) -> Option<&Value> {
        let tables = self.tables();
        let value = tables.iter().rev().find_map(|table| self.scenario.pointer(table)?.get(key))?;
        (!value.is_null()).then_some(value)
    }

    /// Removes an option from all tables; returns false if it was in none.
    pub(super) fn drop_option(&mut self, key: &str) -> bool {
        let mut is_removed = false;
        for table in self.tables() {
            is_removed |= self.table_mut(&table).is_some_and(|table| removed(table, key));
        }
        is_removed
    }

    /// Removes options from all tables; returns false if none was in any.
    pub(super) fn drop_options(&mut self, keys: &[&str]) -> bool {
        let mut is_removed = false;
        for key in keys {
            is_removed |= self.drop_option(key);
        }
        is_removed
    }

    /// Sets an option of both endpoints of the flow.
    pub(super) fn set_option(&mut self, key: &str, value: impl Into<Value>) {
        self.drop_option(key);
        let transport = self.transport().to_owned();
        let has_template =
            self.scenario.pointer("/topology/flow").and_then(Value::as_object).is_some_and(|t| !t.is_empty());
        let owner = match self.flow {
            Some(flow) => format!("/flows/{flow}"),
            None if has_template => "/topology/flow".to_owned(),
            None => {
                if let Some(scenario) = self.scenario.as_object_mut() {
                    scenario.entry("defaults").or_insert_with(|| Map::new().into());
                }
                "/defaults".to_owned()
            }
        };
        let Some(owner) = self.table_mut(&owner) else { return };
        if let Some(options) = owner.entry(transport).or_insert_with(|| Map::new().into()).as_object_mut() {
            options.insert(key.to_owned(), value.into());
        }
    }

    /// Returns true if most data goes to the node that opens the connection.
    pub(super) fn replies(&self) -> bool {
        let kind = self.flow().and_then(|flow| flow.get("traffic")?.get("kind")?.as_str());
        kind.is_some_and(|kind| REPLYING.contains(&kind))
    }

    /// Returns the links of the forward path of the data; for a topology, all tables that describe its links.
    pub(super) fn path(&self) -> Vec<PathLink> {
        let forward = |table| PathLink { table, data: Direction::Forward };
        if let (None, Some(topology)) = (self.flow, self.scenario.get("topology").and_then(Value::as_object)) {
            let links = topology.iter().filter(|(_, value)| is_link(value));
            let links = links.map(|(key, _)| forward(format!("/topology/{key}")));
            return std::iter::once(forward("/topology".to_owned())).chain(links).collect();
        }
        let mut links = self.hops();
        if self.replies() {
            links.iter_mut().for_each(|link| link.data = link.data.reversed());
        }
        links
    }

    /// Returns the links of a shortest path from the flow's first node to its last one.
    fn hops(&self) -> Vec<PathLink> {
        let (from, to) = (self.row.from.as_str(), self.row.to.as_str());
        let links = self.scenario.get("links").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let ends: Vec<(usize, &str, &str)> = links
            .iter()
            .enumerate()
            .filter_map(|(index, link)| {
                let (first, second) = ends_of(link)?;
                Some((index, first, second))
            })
            .collect();
        let mut arrivals: BTreeMap<&str, (&str, PathLink)> = BTreeMap::new();
        let mut queue = VecDeque::from([from]);
        let mut seen = BTreeSet::from([from]);
        while let Some(node) = queue.pop_front() {
            if seen.contains(to) {
                break;
            }
            for (index, first, second) in &ends {
                for (here, there, data) in
                    [(*first, *second, Direction::Forward), (*second, *first, Direction::Backward)]
                {
                    if here == node && seen.insert(there) {
                        arrivals.insert(there, (node, PathLink { table: format!("/links/{index}"), data }));
                        queue.push_back(there);
                    }
                }
            }
        }
        let mut hops = Vec::new();
        let mut node = to;
        while let Some((before, link)) = arrivals.get(node) {
            hops.push(link.clone());
            node = before;
        }
        hops.reverse();
        hops
    }

    /// Returns the link of the path that is the flow's bottleneck in the results.
    pub(super) fn bottleneck(&self) -> Option<PathLink> {
        let mut path = self.path().into_iter();
        if self.flow.is_none() {
            return path
                .find(|link| self.scenario.pointer(&link.table).is_some_and(|values| values.get("rate").is_some()));
        }
        let (first, second) = self.row.bottleneck.as_deref()?.split_once("->")?;
        path.find(|link| {
            let ends = self.scenario.pointer(&link.table).and_then(ends_of);
            ends == Some((first, second)) || ends == Some((second, first))
        })
    }

    /// Returns the value of a link's key in a direction; `None` if it is absent.
    pub(super) fn side(&self, link: &PathLink, key: &str, direction: Direction) -> Option<&Value> {
        let value = self.scenario.pointer(&link.table)?.get(key)?;
        let value = if is_split(value) { value.get(direction.key())? } else { value };
        (!value.is_null()).then_some(value)
    }

    /// Sets the value of a link's key in one direction.
    pub(super) fn set_side(&mut self, link: &PathLink, key: &str, direction: Direction, value: impl Into<Value>) {
        let other = direction.reversed();
        let mut sides = Map::new();
        if let Some(kept) = self.side(link, key, other) {
            sides.insert(other.key().to_owned(), kept.clone());
        }
        sides.insert(direction.key().to_owned(), value.into());
        self.set(link, key, Value::Object(sides));
    }

    /// Sets a key of a link.
    pub(super) fn set(&mut self, link: &PathLink, key: &str, value: Value) {
        if let Some(table) = self.table_mut(&link.table) {
            table.insert(key.to_owned(), value);
        }
    }

    /// Removes a key of a link; returns false if it was absent.
    pub(super) fn drop(&mut self, link: &PathLink, key: &str) -> bool {
        self.table_mut(&link.table).is_some_and(|table| removed(table, key))
    }

    /// Removes keys from all links of the path; returns false if all were absent.
    pub(super) fn drop_from_path(&mut self, keys: &[&str]) -> bool {
        let mut is_removed = false;
        for link in self.path() {
            for key in keys {
                is_removed |= self.drop(&link, key);
            }
        }
        is_removed
    }
}

/// Returns the transport of each result of a flow of a scenario, in the order of the results.
pub(super) fn transports<'a>(scenario: &'a Value, rows: &[Flow]) -> Vec<&'a str> {
    let flows = flows_of(scenario);
    let named: BTreeMap<String, &Value> = names(flows).into_iter().zip(flows).rev().collect();
    let own = |row: &Flow| named.get(&row.name).and_then(|flow| flow.as_object());
    rows.iter().map(|row| transport_of(scenario, own(row))).collect()
}

fn transport_of<'a>(scenario: &'a Value, flow: Option<&'a Map<String, Value>>) -> &'a str {
    let own = flow.and_then(|flow| flow.get("transport"));
    let places = [own, scenario.pointer("/topology/flow/transport"), scenario.pointer("/defaults/transport")];
    places.into_iter().flatten().find_map(Value::as_str).unwrap_or("tcp")
}

fn flows_of(scenario: &Value) -> &[Value] {
    scenario.get("flows").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the names of flows in the results: a later flow without a name between the same nodes is numbered.
fn names(flows: &[Value]) -> Vec<String> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let text = |flow: &Value, key: &str| flow.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut name = |flow: &Value| {
        let own = text(flow, "name");
        if !own.is_empty() {
            return own;
        }
        let pair = format!("{}->{}", text(flow, "from"), text(flow, "to"));
        let count = counts.entry(pair.clone()).or_default();
        *count += 1;
        if *count == 1 { pair } else { format!("{pair} #{count}") }
    };
    flows.iter().map(&mut name).collect()
}

/// Returns the nodes of a link.
fn ends_of(link: &Value) -> Option<(&str, &str)> {
    match link.get("between")?.as_array()?.as_slice() {
        [first, second] => Some((first.as_str()?, second.as_str()?)),
        _ => None,
    }
}

/// Removes a key of a table; returns false if it was absent.
pub(super) fn removed(table: &mut Map<String, Value>, key: &str) -> bool {
    table.remove(key).is_some_and(|value| !value.is_null())
}

/// Returns true if a value has a part for each direction, or for one.
fn is_split(value: &Value) -> bool {
    value
        .as_object()
        .is_some_and(|sides| !sides.is_empty() && sides.keys().all(|key| key == "forward" || key == "backward"))
}

fn is_link(value: &Value) -> bool {
    value.is_object() && value.get("rate").is_some() && value.get("delay").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(value: Value) -> Flow {
        let rest = json!({ "name": "a->c", "from": "a", "to": "c", "congestion": "cubic", "goodput_bps": 1.0 });
        let Value::Object(mut whole) = rest else { unreachable!() };
        whole.extend(value.as_object().unwrap().clone());
        serde_json::from_value(whole.into()).unwrap()
    }

    #[test]
    fn the_path_has_the_direction_of_the_data() {
        let mut scenario = json!({
            "links": [{ "between": ["a", "b"] }, { "between": ["c", "b"] }, { "between": ["b", "d"] }],
            "flows": [{ "from": "a", "to": "c" }],
        });
        let row = row(json!({ "bottleneck": "b->c" }));
        let case = Case::of(&scenario, &row);
        let link = |index: usize, data| PathLink { table: format!("/links/{index}"), data };
        assert_eq!(case.path(), [link(0, Direction::Forward), link(1, Direction::Backward)]);
        assert_eq!(case.bottleneck(), Some(link(1, Direction::Backward)));
        scenario["flows"][0]["traffic"] = json!({ "kind": "requests" });
        let case = Case::of(&scenario, &row);
        assert_eq!(case.path(), [link(0, Direction::Backward), link(1, Direction::Forward)]);
    }

    #[test]
    fn an_option_is_replaced_wherever_it_is_set() {
        let scenario = json!({
            "defaults": { "tcp": { "sack": false } },
            "flows": [{
                "from": "a", "to": "c", "tcp": { "sack": false }, "client": { "sack": false, "mss": "500 B" },
            }],
        });
        let row = row(json!({}));
        let mut case = Case::of(&scenario, &row);
        assert_eq!(case.option("sack"), Some(&json!(false)));
        case.set_option("sack", true);
        assert_eq!(case.option("sack"), Some(&json!(true)));
        assert_eq!(case.scenario["flows"][0]["tcp"], json!({ "sack": true }));
        assert_eq!(case.scenario["flows"][0]["client"], json!({ "mss": "500 B" }));
        assert_eq!(case.scenario["defaults"]["tcp"], json!({}));
    }

    #[test]
    fn an_option_of_a_flow_of_a_topology_is_set_in_its_template_or_in_the_defaults() {
        let row = row(json!({}));
        let template = json!({ "topology": { "flow": { "transport": "quic" } } });
        let mut case = Case::of(&template, &row);
        case.set_option("pacing", true);
        assert_eq!(case.scenario["topology"]["flow"], json!({ "transport": "quic", "quic": { "pacing": true } }));
        let mut case = Case::of(&json!({ "topology": { "flow": {} } }), &row);
        case.set_option("pacing", true);
        assert_eq!(case.scenario["defaults"], json!({ "tcp": { "pacing": true } }));
    }

    #[test]
    fn flows_between_the_same_nodes_are_numbered() {
        let flow = json!({ "from": "a", "to": "c" });
        let named = json!({ "from": "a", "to": "c", "name": "x", "transport": "udp" });
        let scenario = json!({ "flows": [flow, named, flow] });
        assert_eq!(names(flows_of(&scenario)), ["a->c", "x", "a->c #2"]);
        let rows = ["a->c", "x", "a->c #2", "other"].map(|name| row(json!({ "name": name })));
        assert_eq!(transports(&scenario, &rows), ["tcp", "udp", "tcp", "tcp"]);
    }

    #[test]
    fn a_side_keeps_the_other_one() {
        let scenario =
            json!({ "links": [{ "between": ["a", "c"], "loss": 0.1 }], "flows": [{ "from": "a", "to": "c" }] });
        let row = row(json!({}));
        let mut case = Case::of(&scenario, &row);
        let link = case.path().remove(0);
        case.set_side(&link, "loss", Direction::Forward, 0.0);
        assert_eq!(case.scenario["links"][0]["loss"], json!({ "forward": 0.0, "backward": 0.1 }));
        assert_eq!(case.side(&link, "loss", Direction::Backward), Some(&json!(0.1)));
    }
}
