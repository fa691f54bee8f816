//! The contents of a scenario, key by key: each file has the types of one table, how it is read, its schema, and the form in
//! which it is written again.

mod access;
mod application;
mod capture;
mod changes;
mod constellation;
mod coordinates;
mod demand;
mod disturbance;
mod fade;
mod fec;
mod flow;
mod iot;
mod jitter;
mod link;
mod loss;
mod medium;
mod model;
mod node;
mod places;
mod propagation;
mod proxy;
mod queue;
mod record;
mod router;
mod routing;
mod satellite;
mod settings;
mod sides;
mod signals;
mod swarm;
mod topology;
mod trace;
mod traffic;
mod varied;
mod written;

pub use access::Access;
pub(crate) use access::{access, access_at, line_of, many, optional_many};
pub use application::Reader;
pub use capture::{IpVersion, Pcap};
pub use changes::{Change, Changes, OutageRule};
pub use constellation::{Constellation, Grid, ShellSpec, Sight, SkyLine, StationSpec};
pub use coordinates::Coordinates;
pub use demand::{OnDemand, Terminal};
pub use disturbance::{Duplication, Reorder};
pub use fade::{Fade, Rain};
pub use fec::Fec;
pub use flow::{FlowSpec, FlowTemplate};
pub use iot::Iot;
pub use jitter::JitterSpec;
pub use link::{Line, LinkSide, LinkSpec};
pub use loss::LossModel;
pub use medium::{MediumKind, MediumSpec, RadioChanges, WifiSpec};
pub use model::Model;
pub use node::NodeSpec;
pub use places::know_schema;
pub(crate) use places::{say_where_keys_belong, schema};
pub(crate) use propagation::orbit;
pub use propagation::{Elevations, OrbitSpec, Propagation};
pub use proxy::{Crash, ProxyKind, ProxySpec};
pub use queue::Queue;
pub use record::{QueueMode, Record, TraceMode};
pub use routing::{FollowLinks, Routing};
pub use satellite::{GroundLink, Payload, PlainLink, Satellite, Terrestrial};
pub use signals::{CorruptionSignals, SignalSpec, Signals};
pub use swarm::Swarm;
pub(crate) use topology::MOST_LINKS;
pub use topology::{Chain, Dumbbell, PointToPoint, Star, Topology};
pub use trace::{LinkTrace, TraceFile, TraceFormat};
pub(crate) use traffic::Beside;
pub use traffic::own as own_traffic;
pub use traffic::{
    Burst, Collect, Constant, Http, LARGEST_MESSAGE, OnOff, OwnTraffic, Periodic, Poisson, Requests, Traffic,
    Transfers, Transport, Web,
};
pub use varied::{Quantity, Varied};
pub use written::Written;

use crate::read::files::Files;
use crate::read::{Errors, FromValue, Path, Table, refusal_of_name, shortened};
use lightlag_control::congestion::Choice;
use lightlag_core::Duration;
use lightlag_tcp::Options;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

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
    /// Rule by which nodes find their routes.
    #[serde(skip_serializing_if = "Routing::is_static")]
    #[schemars(default)]
    pub routing: Routing,
    /// Defaults of flows.
    #[serde(skip_serializing_if = "Defaults::is_empty")]
    #[schemars(default)]
    pub defaults: Defaults,
    /// A generated network, beside or instead of listed links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology: Option<Topology>,
    /// Radio media.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub media: Vec<MediumSpec>,
    /// Nodes with radios.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub nodes: Vec<NodeSpec>,
    /// Satellites.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constellation: Option<Constellation>,
    /// Stations on the ground that use the satellites.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub stations: Vec<StationSpec>,
    /// Full-duplex links.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub links: Arc<Vec<LinkSpec>>,
    /// Connections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub flows: Arc<Vec<FlowSpec>>,
    /// Nodes that split the connections which cross them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub proxies: Vec<ProxySpec>,
    /// Records of the run.
    #[schemars(default)]
    pub record: Record,
    /// The place where the files are that it names.
    #[serde(skip)]
    pub files: Files,
}

/// Defaults of flows.
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
        is_empty(&self.tcp) && self.congestion.is_empty()
    }
}

/// Whether no option is set.
pub(crate) fn is_empty(options: &Options) -> bool {
    *options == Options::default()
}

fn default_name() -> String {
    "scenario".to_owned()
}

/// The largest seed: TOML has no larger whole number.
const LARGEST_SEED: u64 = i64::MAX as u64;

fn default_seed() -> u64 {
    1
}

impl Scenario {
    /// Reads the keys of a scenario. What cannot be read leaves an error and is left out; whether the rest fits together is
    /// not asked here.
    pub(crate) fn read(tree: &Value, errors: &mut Errors) -> Option<Self> {
        let at = Path::Root;
        let mut table = Table::open(tree, &at, "a table with duration, links and flows", errors)?;
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
        let routing = table.optional("routing", errors).unwrap_or_default();
        let defaults = table.optional("defaults", errors).unwrap_or_default();
        let topology = table.optional("topology", errors);
        let media = table.items("media", errors);
        let nodes = table.items("nodes", errors);
        let constellation: Option<Constellation> = table.optional("constellation", errors);
        let stations: Vec<StationSpec> = table.items("stations", errors);
        let links = Arc::new(table.items("links", errors));
        let flows = Arc::new(table.items("flows", errors));
        let proxies = table.items("proxies", errors);
        let record = table.optional("record", errors).unwrap_or_default();
        table.finish(errors);
        Some(Self {
            name,
            duration: duration.unwrap_or_default(),
            seed,
            ip,
            routing,
            defaults,
            topology,
            media,
            nodes,
            constellation,
            stations,
            links,
            flows,
            proxies,
            record,
            files: Files::Disk,
        })
    }
}

fn check_name(name: &str, errors: &mut Errors) {
    let reason = match refusal_of_name(name) {
        None if name.contains(['/', '\\']) || name.starts_with('.') => {
            Some("it names a folder, so no / and no dot in front")
        }
        reason => reason,
    };
    if let Some(reason) = reason {
        errors.push("name", format!("{:?} is no name for a scenario: {reason}", shortened(name)));
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
