//! Scenarios: a text is read and checked, and expands to a network. Nothing here runs.
//!
//! Units are texts, unknown keys are refused, every mistake is reported with its place and its remedy, and the serialised
//! form reads back as the same value. Each room imports only from those before it:
//!
//! - `read`: how a text becomes a tree of plain values, and the tree typed values.
//! - `spec`: what a scenario may say, table by table.
//! - `network`: what it describes, as plain data: every node, link direction and flow by itself.
//! - `expand`: from the one to the other.
//! - `warnings`: what is legal and will surprise.

mod expand;
mod network;
mod read;
mod spec;
mod warnings;

pub use network::{
    CapturePlace, CapturePlan, Crossing, Filed, Flow, Hop, LinkDirection, LinkProperties, Medium, MediumPlan, Member,
    Network, Part, Proxy, Rerouted, SignalPlan, Space, Split, Weather, WifiPlan,
};
pub use read::files::Files;
pub use read::{PerDirection, ScenarioError, path_file, trace_file};
pub use spec::{
    Access, Burst, Chain, Change, Changes, Collect, Constant, Constellation, Coordinates, CorruptionSignals, Crash,
    Defaults, Dumbbell, Duplication, Elevations, Fade, Fec, FlowSpec, FlowTemplate, FollowLinks, Grid, GroundLink,
    Http, Iot, IpVersion, JitterSpec, LARGEST_MESSAGE, Line, LinkSpec, LinkTrace, LossModel, MediumKind, MediumSpec,
    Model, NodeSpec, OnDemand, OnOff, OrbitSpec, OutageRule, OwnTraffic, Payload, Pcap, Periodic, PlainLink,
    PointToPoint, Poisson, ProxyKind, ProxySpec, Quantity, Queue, QueueMode, RadioChanges, Rain, Reader, Record,
    Reorder, Requests, Routing, Satellite, Scenario, ShellSpec, Sight, SignalSpec, Signals, SkyLine, Star, StationSpec,
    Swarm, Terminal, Terrestrial, Topology, TraceFile, TraceFormat, TraceMode, Traffic, Transfers, Transport, Varied,
    Web, Written, know_schema, own_traffic,
};
pub use warnings::{Kind as WarningKind, Warning};

use read::{Errors, text, tree};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Reads a scenario in TOML. `sets` are changes to it, dotted path and new value, such as
/// (`flows.0.congestion`, `hybla`); what is not a TOML value is a text.
///
/// # Errors
/// Every mistake of the text.
pub fn parse_toml(text: &str, sets: &[(String, String)]) -> Result<Scenario, Vec<ScenarioError>> {
    parse_toml_in("", text, sets)
}

/// As [`parse_toml`], of a file in `folder`: the paths of traces begin there.
///
/// # Errors
/// Every mistake of the text.
pub fn parse_toml_in(folder: &str, text: &str, sets: &[(String, String)]) -> Result<Scenario, Vec<ScenarioError>> {
    let mut errors = Errors::default();
    let tree = text::toml_tree(text, &mut errors);
    parse_tree(tree, folder, sets, errors)
}

/// Reads a scenario in JSON; the same as [`parse_toml`] otherwise.
///
/// # Errors
/// Every mistake of the text.
pub fn parse_json(text: &str, sets: &[(String, String)]) -> Result<Scenario, Vec<ScenarioError>> {
    parse_json_in("", text, sets)
}

/// As [`parse_json`], of a file in `folder`: the paths of traces begin there.
///
/// # Errors
/// Every mistake of the text.
pub fn parse_json_in(folder: &str, text: &str, sets: &[(String, String)]) -> Result<Scenario, Vec<ScenarioError>> {
    let mut errors = Errors::default();
    let tree = text::json_tree(text, &mut errors);
    parse_tree(tree, folder, sets, errors)
}

/// The JSON Schema of a scenario.
pub fn schema() -> Value {
    spec::schema()
}

fn parse_tree(
    mut tree: Option<Value>,
    folder: &str,
    sets: &[(String, String)],
    mut errors: Errors,
) -> Result<Scenario, Vec<ScenarioError>> {
    if let Some(tree) = &mut tree {
        if sets.iter().any(|(key, _)| tree::is_of_flows(key)) {
            tree::expand_shorthands(tree);
        }
        tree::resolve(tree, folder);
        for change in sets {
            tree::set(tree, change, spec::Line::DIRECTED, &mut errors);
        }
    }
    let scenario = tree.as_ref().and_then(|tree| {
        let before = errors.len();
        let scenario = Scenario::read(tree, &mut errors)?;
        if errors.len() == before {
            scenario.check(&mut errors);
        } else {
            scenario.check_references(tree, &mut errors);
        }
        Some(scenario)
    });
    if let Some(tree) = &tree {
        spec::say_where_keys_belong(tree, &mut errors);
    }
    errors.or(scenario)
}

impl<'de> Deserialize<'de> for Scenario {
    /// Only what is right can be read; the error tells every mistake, one a line.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let tree = Value::deserialize(deserializer)?;
        parse_tree(Some(tree), "", &[], Errors::default()).map_err(|errors| {
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            serde::de::Error::custom(lines.join("\n"))
        })
    }
}
