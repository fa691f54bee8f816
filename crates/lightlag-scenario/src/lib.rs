//! Scenarios: a text is read and checked, and expands to a network. Nothing here runs.
//!
//! A text becomes a tree of plain values (`text`), the tree becomes typed values key by key, so that every mistake
//! is reported with its place and its remedy (`reader`), and the typed values expand to a [`Network`].
//! Units are texts, unknown keys are refused, and the serialised form reads back as the same value.

mod application;
mod arrivals;
mod capture;
mod chance;
mod changes;
mod demand;
mod disturbance;
mod error;
mod every_byte;
mod fade;
mod flow;
mod iot;
mod jitter;
mod layout;
mod link;
mod loss;
mod network;
mod parts;
mod propagation;
mod proxy;
mod queue;
mod reader;
mod record;
mod route;
mod rtt;
mod satellite;
mod signals;
mod text;
mod topology;
mod trace;
pub mod trace_file;
mod traffic;
mod varied;
mod warnings;
mod way;

pub use application::Reader;
pub use capture::{CapturePlace, CapturePlan, IpVersion, Pcap};
pub use changes::{Change, Changes, OutageRule};
pub use demand::{OnDemand, Terminal};
pub use disturbance::{Duplication, Reorder};
pub use error::{ScenarioError, Warning};
pub use fade::{Fade, Rain};
pub use flow::{FlowSpec, FlowTemplate};
pub use iot::Iot;
pub use jitter::JitterSpec;
pub use link::{Line, LinkSpec, PerDirection};
pub use loss::{Bursts, ChannelState, LossLaw, LossModel};
pub use network::{Flow, LinkDirection, Network, Part, Proxy, SignalPlan, Split, Weather};
pub use propagation::{Elevations, OrbitSpec};
pub use proxy::{Crash, ProxyKind, ProxySpec};
pub use queue::{Discipline, Limit, Queue};
pub use record::{QueueMode, Record, TraceMode};
pub use satellite::{Hop, Payload, PlainLink, Satellite, Terrestrial};
pub use signals::{CorruptionSignals, SignalSpec, Signals};
pub use topology::{Access, Chain, Dumbbell, PointToPoint, Star, Topology};
pub use trace::{Trace, TraceFile, TraceFormat};
pub use traffic::LARGEST_MESSAGE;
pub use traffic::{
    Burst, Collect, Constant, Http, OnOff, Periodic, Poisson, Requests, Traffic, Transfers, Transport, Web,
};
pub use varied::{Quantity, Varied};

use error::{Errors, Path};
use lightlag_control::congestion::Choice;
use lightlag_core::Duration;
use lightlag_tcp::Options;
use reader::{FromValue, Table};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// An experiment: a network, its flows, and how long to watch them.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Scenario {
    /// Name, also of the results folder.
    #[schemars(default = "default_name")]
    pub name: String,
    /// Upper bound; the run ends earlier when every finite flow has finished.
    pub duration: Duration,
    /// Start of every random stream.
    #[schemars(default = "default_seed", range(max = LARGEST_SEED))]
    pub seed: u64,
    /// The version of IP, which decides how long its headers are and what addresses captures show.
    #[serde(skip_serializing_if = "IpVersion::is_v4")]
    #[schemars(default)]
    pub ip: IpVersion,
    /// What holds where a flow says nothing.
    #[serde(skip_serializing_if = "Defaults::is_empty")]
    #[schemars(default)]
    pub defaults: Defaults,
    /// A generated network, beside or instead of listed links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology: Option<Topology>,
    /// Full-duplex links.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub links: Vec<LinkSpec>,
    /// Connections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub flows: Vec<FlowSpec>,
    /// Nodes that split the connections which cross them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub proxies: Vec<ProxySpec>,
    /// What the run writes down.
    #[schemars(default)]
    pub record: Record,
}

/// What holds where a flow says nothing.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, default)]
pub struct Defaults {
    /// TCP at both ends of every flow.
    pub tcp: Options,
    /// Congestion controls of the flows that name none, in turn, in the place of `tcp.congestion`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub congestion: Vec<Choice>,
}

impl Defaults {
    fn is_empty(&self) -> bool {
        flow::is_empty(&self.tcp) && self.congestion.is_empty()
    }
}

fn default_name() -> String {
    "scenario".to_owned()
}

/// The largest seed: TOML has no larger whole number.
const LARGEST_SEED: u64 = i64::MAX as u64;

fn default_seed() -> u64 {
    1
}

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
    schemars::schema_for!(Scenario).to_value()
}

fn parse_tree(
    tree: Option<Value>,
    folder: &str,
    sets: &[(String, String)],
    mut errors: Errors,
) -> Result<Scenario, Vec<ScenarioError>> {
    let scenario = tree.and_then(|mut tree| {
        text::expand_shorthands(&mut tree);
        trace::resolve(&mut tree, folder);
        for change in sets {
            text::set(&mut tree, change, &mut errors);
        }
        Scenario::read(&tree, &Path::Root, &mut errors)
    });
    errors.or(scenario)
}

impl Scenario {
    /// The complete form in JSON: [`parse_json`] makes the same scenario of it.
    ///
    /// # Panics
    /// Never: a scenario is plain data.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("a scenario is plain data")
    }
}

impl FromValue for Scenario {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table = Table::open(value, at, "a table with duration, links and flows", errors)?;
        let name = table.optional("name", errors).unwrap_or_else(default_name);
        check_name(&name, errors);
        let duration = table.required("duration", "say how long to simulate at most, such as \"60 s\"", errors);
        if duration == Some(Duration::ZERO) {
            errors.push("duration", "0 s leaves no time to simulate; write a time such as \"60 s\"");
        }
        let seed = table.optional("seed", errors).unwrap_or_else(default_seed);
        if seed > LARGEST_SEED {
            errors.push("seed", format!("{seed} is not a whole number from 0 to {LARGEST_SEED}"));
        }
        let ip = table.optional("ip", errors).unwrap_or_default();
        let defaults = table.optional("defaults", errors).unwrap_or_default();
        let topology = table.optional("topology", errors);
        let links = table.items("links", errors);
        let flows = table.items("flows", errors);
        let proxies = table.items("proxies", errors);
        let record = table.optional("record", errors).unwrap_or_default();
        table.finish(errors);
        let is_whole = errors.len() == before;
        let scenario = Self {
            name,
            duration: duration.unwrap_or_default(),
            seed,
            ip,
            defaults,
            topology,
            links,
            flows,
            proxies,
            record,
        };
        if is_whole {
            scenario.check(errors);
        } else {
            scenario.check_parts(value, errors);
        }
        (errors.len() == before).then_some(scenario)
    }
}

fn check_name(name: &str, errors: &mut Errors) {
    let reason = match link::refusal_of_name(name) {
        None if name.contains(['/', '\\']) || name.starts_with('.') => {
            Some("it names a folder, so no / and no dot in front")
        }
        reason => reason,
    };
    if let Some(reason) = reason {
        errors.push("name", format!("{:?} is no name for a scenario: {reason}", error::shortened(name)));
    }
}

impl FromValue for Defaults {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let mut table = Table::open(value, at, "a table such as { tcp = { … } }", errors)?;
        let tcp = table.optional("tcp", errors).unwrap_or_default();
        let congestion = table.optional("congestion", errors).unwrap_or_default();
        table.finish(errors);
        Some(Self { tcp, congestion })
    }
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
