//! The complete form of a scenario in JSON: as a tree, or serialised part by part if a network is large.

use super::{FlowSpec, LinkSpec, Scenario};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Scenario {
    /// Returns the complete form in JSON, which [`crate::parse_json`] reads back as the same scenario.
    ///
    /// # Panics
    /// Never: a scenario is plain data.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("a scenario is plain data")
    }

    /// Returns the scenario without its links and flows.
    #[must_use]
    pub fn head(&self) -> Self {
        Self { links: Arc::default(), flows: Arc::default(), ..self.clone() }
    }

    /// Returns a value that is serialised like [`Self::to_json`], but without building the entire tree, which takes 500
    /// MB for 100,000 flows.
    pub fn written(&self) -> WrittenScenario<'_> {
        WrittenScenario(self)
    }
}

/// A scenario that is serialised entry by entry, with the same bytes as [`Scenario::to_json`].
#[derive(Clone, Copy, Debug)]
pub struct WrittenScenario<'a>(&'a Scenario);

impl Serialize for WrittenScenario<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(scenario) = self;
        let head = scenario.head().to_json();
        let head = head.as_object().into_iter().flatten().map(|(key, value)| (key.as_str(), WrittenValue::Tree(value)));
        let links = (!scenario.links.is_empty()).then_some(("links", WrittenValue::Links(&scenario.links)));
        let flows = (!scenario.flows.is_empty()).then_some(("flows", WrittenValue::Flows(&scenario.flows)));
        let parts: BTreeMap<&str, WrittenValue> = head.chain(links).chain(flows).collect();
        serializer.collect_map(parts)
    }
}

/// Value of a key. The entries of lists are converted to trees one at a time.
enum WrittenValue<'a> {
    Tree(&'a Value),
    Links(&'a [LinkSpec]),
    Flows(&'a [FlowSpec]),
}

impl Serialize for WrittenValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Tree(value) => value.serialize(serializer),
            Self::Links(links) => serializer.collect_seq(links.iter().map(tree)),
            Self::Flows(flows) => serializer.collect_seq(flows.iter().map(tree)),
        }
    }
}

/// Returns an entry of a list in its complete form.
fn tree(entry: &impl Serialize) -> Value {
    serde_json::to_value(entry).expect("an entry is plain data")
}

impl LinkSpec {
    /// Returns the complete form in JSON, as in [`Scenario::to_json`].
    pub fn to_json(&self) -> Value {
        tree(self)
    }
}

impl FlowSpec {
    /// Returns the complete form in JSON, as in [`Scenario::to_json`].
    pub fn to_json(&self) -> Value {
        tree(self)
    }
}

#[cfg(test)]
mod tests {
    use crate::parse_toml;

    const LISTED: &str = r#"
        duration = "1 s"
        seed = 7
        links = [
            { between = ["a", "b"], rate = "1 Mbit/s", delay = "10 ms", loss = 1e-7 },
            { between = ["b", "c"], rate = "1 Mbit/s", delay = { forward = "1 ms", backward = "2 ms" } },
        ]
        flows = [{ from = "a", to = "c", transfer = "1 kB", tcp = { sack = false }, client = { mss = "500 B" } }]
    "#;
    const GENERATED: &str = r#"
        duration = "1 s"
        topology = { kind = "dumbbell", pairs = 2, rate = "1 Mbit/s", delay = "10 ms", access = { rate = "1 Gbit/s", delay = "0 s" } }
    "#;

    #[test]
    fn a_scenario_is_written_part_by_part_with_the_bytes_of_its_tree() {
        for text in [LISTED, GENERATED] {
            let scenario = parse_toml(text, &[]).unwrap();
            let [whole, parts] = [
                serde_json::to_string_pretty(&scenario.to_json()).unwrap(),
                serde_json::to_string_pretty(&scenario.written()).unwrap(),
            ];
            assert_eq!(parts, whole);
        }
    }

    #[test]
    fn links_and_flows_that_are_equal_share_their_settings() {
        let link = |from| format!("{{ between = [\"{from}\", \"hub\"], rate = \"1 Mbit/s\", delay = \"1 ms\" }}");
        let flow = |from, tcp| format!("{{ from = \"{from}\", to = \"hub\", tcp = {{ sack = {tcp} }} }}");
        let text = format!(
            "duration = \"1 s\"\nlinks = [{}, {}]\nflows = [{}, {}, {}]\n",
            link("a"),
            link("b"),
            flow("a", true),
            flow("b", false),
            flow("a", true),
        );
        let scenario = parse_toml(&text, &[]).unwrap();
        let [first, second] = &scenario.links[..] else { panic!("two links") };
        assert!(std::sync::Arc::ptr_eq(&first.line, &second.line));
        let [first, other, third] = &scenario.flows[..] else { panic!("three flows") };
        assert!(std::sync::Arc::ptr_eq(&first.tcp, &third.tcp) && first.tcp != other.tcp);
        assert!(std::sync::Arc::ptr_eq(&first.traffic, &other.traffic));
    }
}
