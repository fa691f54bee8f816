//! Scenarios: text is read and checked, and expanded to a network. Nothing is simulated here.
//!
//! Quantities are strings with units, unknown keys are rejected, every error is reported with its path and fix, and the
//! serialised form reads back as the same value. Each module imports only from those before it:
//!
//! - `read`: text to a tree of plain values, and the tree to typed values.
//! - `spec`: the keys of a scenario, table by table.
//! - `dynamics`: the changes of a link direction that are drawn or depend on its traffic.
//! - `network`: the described network as plain data: every node, link direction and flow.
//! - `expand`: from `spec` to `network`.
//! - `warnings`: valid settings with surprising effects.

mod dynamics;
mod expand;
mod network;
mod prefetch;
mod read;
mod spec;
mod warnings;

pub use dynamics::LinkDynamics;
pub use network::{
    CapturePlace, CapturePlan, Crossing, DialoguePlan, Filed, Flow, FlowRole, Hop, LinkDirection, LinkProperties,
    Medium, MediumMember, MediumPlan, Network, Proxy, QuicEnds, RandomAccessPlan, Rcs2Plan, Rerouted, SignalPlan,
    Space, Split, Tunnel, Weather, WifiPlan,
};
pub use read::files::Files;
pub use read::{PerDirection, ScenarioError, page_file, path_file, trace_file};
pub use spec::{
    Access, Chain, Change, Changes, Constellation, Coordinates, CorruptionSignals, Crash, Defaults, Dumbbell,
    Duplication, Elevations, Extension, Fade, Fec, FlowSpec, FlowTemplate, FollowLinks, Grid, GroundLink,
    GroundStationSpec, Iot, IpVersion, JitterSpec, LARGEST_MESSAGE, Line, LinkModelKeys, LinkSpec, LinkTrace,
    LossModel, MediumKind, MediumSpec, Modcods, Model, NodeSpec, OnDemand, Opens, OrbitSpec, OutageRule, Payload, Pcap,
    PlainLink, PointToPoint, Police, ProxyKind, ProxySpec, QlogSchema, Queue, QueueMode, RadioChanges, Rain,
    RandomAccessSpec, Rcs2Spec, Reader, Reads, Record, Reorder, Routing, Satellite, SatelliteLink, Scenario, SetupSpec,
    ShellSpec, SignalSpec, Signals, Star, Swarm, Terminal, TerminalChanges, Terrestrial, Topology, TraceFile,
    TraceFormat, TraceMode, Transport, TunnelPayload, TunnelSpec, UplinkPower, VisibilityLimit, WrittenScenario,
    know_schema,
};
pub use warnings::{Kind as WarningKind, Warning};

use read::{Errors, text, tree};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Reads a scenario in TOML. `sets` are changes to it, each a dotted path and a new value, such as
/// (`flows.0.congestion`, `hybla`). A value that is not valid TOML is a string.
///
/// # Errors
/// All errors of the text.
pub fn parse_toml(text: &str, sets: &[(String, String)]) -> Result<Scenario, Vec<ScenarioError>> {
    parse_toml_in("", text, sets)
}

/// Works like [`parse_toml`], for a file in `folder`: relative paths of files start there.
///
/// # Errors
/// All errors of the text.
pub fn parse_toml_in(folder: &str, text: &str, sets: &[(String, String)]) -> Result<Scenario, Vec<ScenarioError>> {
    let mut errors = Errors::default();
    let tree = text::toml_tree(text, &mut errors);
    parse_tree(tree, folder, sets, errors)
}

/// Works like [`parse_toml`], for a scenario in JSON.
///
/// # Errors
/// All errors of the text.
pub fn parse_json(text: &str, sets: &[(String, String)]) -> Result<Scenario, Vec<ScenarioError>> {
    parse_json_in("", text, sets)
}

/// Works like [`parse_json`], for a file in `folder`: relative paths of files start there.
///
/// # Errors
/// All errors of the text.
pub fn parse_json_in(folder: &str, text: &str, sets: &[(String, String)]) -> Result<Scenario, Vec<ScenarioError>> {
    let mut errors = Errors::default();
    let tree = text::json_tree(text, &mut errors);
    parse_tree(tree, folder, sets, errors)
}

/// Returns the JSON Schema of a scenario.
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
    /// Reads a scenario. The error of an invalid one contains all errors, one per line.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let tree = Value::deserialize(deserializer)?;
        parse_tree(Some(tree), "", &[], Errors::default()).map_err(|errors| {
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            serde::de::Error::custom(lines.join("\n"))
        })
    }
}
