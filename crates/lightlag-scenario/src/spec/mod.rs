//! The keys of a scenario. Each file has the types of one table: how it is read, its schema, and the form in which it
//! is written again.

mod access;
mod application;
mod capture;
mod changes;
mod constellation;
mod coordinates;
mod demand;
mod disturbance;
mod extension;
mod fade;
mod fec;
mod flow;
mod iot;
mod jitter;
mod link;
mod loss;
mod medium;
mod modcods;
mod model;
mod mtu;
mod node;
mod places;
mod police;
mod propagation;
mod proxy;
mod queue;
mod record;
mod router;
mod routing;
mod satellite;
mod settings;
mod setup;
mod sides;
mod signals;
mod swarm;
mod topology;
mod trace;
mod traffic;
mod tunnel;
mod written;

pub use access::Access;
pub(crate) use access::{access, access_at, line_of, many, optional_many};
pub use application::Reader;
pub use capture::{IpVersion, Pcap, QlogSchema};
pub use changes::{Change, Changes, OutageRule};
pub use constellation::{Constellation, Grid, GroundStationSpec, SatelliteLink, ShellSpec, VisibilityLimit};
pub use coordinates::Coordinates;
pub use demand::{OnDemand, Terminal};
pub use disturbance::{Duplication, Reorder};
pub use extension::{Extension, LinkModelKeys};
pub use fade::{Fade, Rain, UplinkPower};
pub use fec::Fec;
pub use flow::{FlowSpec, FlowTemplate};
pub use iot::Iot;
pub use jitter::JitterSpec;
pub use link::{Line, LinkSide, LinkSpec};
pub use loss::LossModel;
pub(crate) use medium::MediumStationSpec as MediumStation;
pub(crate) use medium::StationChanges;
pub use medium::{
    MediumKind, MediumPlan, MediumSpec, RadioChanges, RandomAccessPlan, RandomAccessSpec, Rcs2Plan, Rcs2Spec,
    TerminalChanges, WifiPlan, WifiSpec,
};
pub use modcods::Modcods;
pub use model::Model;
pub use mtu::Mtu;
pub use node::NodeSpec;
pub use places::know_schema;
pub(crate) use places::{say_where_keys_belong, schema};
pub use police::Police;
pub(crate) use propagation::orbit;
pub use propagation::{Elevations, OrbitSpec, Propagation};
pub use proxy::{Crash, Opens, ProxyKind, ProxySpec, Reads};
pub use queue::Queue;
pub use record::{QueueMode, Record, TraceMode};
pub use routing::{FollowLinks, Routing};
pub use satellite::{GroundLink, Payload, PlainLink, Satellite, Terrestrial};
pub use setup::SetupSpec;
pub use signals::{CorruptionSignals, SignalSpec, Signals};
pub use swarm::Swarm;
pub(crate) use topology::MOST_LINKS;
pub use topology::{Chain, Dumbbell, PointToPoint, Star, Topology};
pub use trace::{LinkTrace, TraceFile, TraceFormat};
pub(crate) use traffic::Beside;
pub use traffic::{LARGEST_MESSAGE, Transport};
pub use tunnel::{TunnelPayload, TunnelSpec};
pub use written::WrittenScenario;

use crate::read::files::Files;
use crate::read::{Errors, FromValue, Path, TableReader, refusal_of_name, shortened};
use lightlag_control::congestion::Choice;
use lightlag_core::Duration;
use lightlag_tcp::Options;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// An experiment: a network, its flows, and the simulated time.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Scenario {
    /// Name of the scenario, also used for the results directory.
    #[schemars(default = "default_name")]
    pub name: String,
    /// Maximum duration of the run. The run ends earlier when every finite flow has finished.
    pub duration: Duration,
    /// Seed of all random streams.
    #[schemars(default = "default_seed", range(max = LARGEST_SEED))]
    pub seed: u64,
    /// Version of IP: v4 (the default) has headers of 20 bytes, v6 of 40 bytes. Captures show addresses of this
    /// version.
    #[serde(skip_serializing_if = "IpVersion::is_v4")]
    #[schemars(default)]
    pub ip: IpVersion,
    /// Rule for the computation of routes: once before the run, which is the default, or again whenever a link goes
    /// down, comes up or changes its delay (follow links).
    #[serde(skip_serializing_if = "Routing::is_static")]
    #[schemars(default)]
    pub routing: Routing,
    /// Defaults of flow settings.
    #[serde(skip_serializing_if = "Defaults::is_empty")]
    #[schemars(default)]
    pub defaults: Defaults,
    /// A generated network, in addition to listed links or instead of them.
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
    /// Satellites, and the rules by which ground stations use them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constellation: Option<Constellation>,
    /// Ground stations that use the satellites.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub stations: Vec<GroundStationSpec>,
    /// Full-duplex links.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub links: Arc<Vec<LinkSpec>>,
    /// Connections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub flows: Arc<Vec<FlowSpec>>,
    /// Proxies, which split the connections that cross their nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub proxies: Vec<ProxySpec>,
    /// Tunnels, which carry packets in DATAGRAM frames of QUIC connections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub tunnels: Vec<TunnelSpec>,
    /// Records of the run.
    #[schemars(default)]
    pub record: Record,
    /// Base directory of relative paths of files in the scenario.
    #[serde(skip)]
    pub files: Files,
}

/// Defaults of flow settings.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, default)]
pub struct Defaults {
    /// Transport protocol of flows that do not specify one, `"tcp"` or `"quic"`; by default TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Connected>")]
    pub transport: Option<Transport>,
    /// TCP options of both endpoints, for all flows.
    pub tcp: Options,
    /// QUIC options, for all flows with `transport = "quic"`.
    #[serde(skip_serializing_if = "is_plain")]
    pub quic: lightlag_quic::Options,
    /// Congestion controls that are assigned in turn to flows that do not specify one, instead of `tcp.congestion`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub congestion: Vec<Choice>,
    /// Set-up of the connections of flows with requests that do not specify one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<SetupSpec>,
}

/// Transport of flows that do not specify one, in the schema: UDP needs traffic with a rate.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
enum Connected {
    /// A TCP connection.
    Tcp,
    /// A QUIC connection (RFC 9000).
    Quic,
}

impl Defaults {
    fn is_empty(&self) -> bool {
        self.transport.is_none()
            && is_empty(&self.tcp)
            && is_plain(&self.quic)
            && self.congestion.is_empty()
            && self.setup.is_none()
    }
}

/// Returns true if no TCP option is set.
pub(crate) fn is_empty(options: &Options) -> bool {
    *options == Options::default()
}

/// Returns true if no QUIC option is set.
pub(crate) fn is_plain(options: &lightlag_quic::Options) -> bool {
    *options == lightlag_quic::Options::default()
}

fn default_name() -> String {
    "scenario".to_owned()
}

/// Maximum seed, the largest integer in TOML.
const LARGEST_SEED: u64 = i64::MAX as u64;

fn default_seed() -> u64 {
    1
}

impl Scenario {
    /// Reads the keys of a scenario. A value that cannot be read is reported and omitted. The consistency of the others
    /// is not checked here.
    pub(crate) fn read(tree: &Value, errors: &mut Errors) -> Option<Self> {
        let at = Path::Root;
        let mut table = TableReader::open(tree, &at, "a table with duration, links and flows", errors)?;
        let name = table.optional("name", errors).unwrap_or_else(default_name);
        check_name(&name, errors);
        let duration = table.required("duration", "specify the maximum simulated time, such as \"60 s\"", errors);
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
        let stations: Vec<GroundStationSpec> = table.items("stations", errors);
        let links = Arc::new(table.items("links", errors));
        let flows = Arc::new(table.items("flows", errors));
        let proxies = table.items("proxies", errors);
        let tunnels = table.items("tunnels", errors);
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
            tunnels,
            record,
            files: Files::Disk,
        })
    }
}

fn check_name(name: &str, errors: &mut Errors) {
    let reason = match refusal_of_name(name) {
        None if name.contains(['/', '\\']) || name.starts_with('.') => {
            Some("it names a directory, so it must not contain / or start with a dot")
        }
        reason => reason,
    };
    if let Some(reason) = reason {
        errors.push("name", format!("{:?} is not a valid scenario name: {reason}", shortened(name)));
    }
}

impl FromValue for Defaults {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let mut table = TableReader::open(value, path, "a table such as { tcp = { … } }", errors)?;
        let transport: Option<Transport> = table.optional("transport", errors);
        if transport == Some(Transport::Udp) {
            let message = "\"udp\" needs traffic with a rate; write transport = \"udp\" at the flows that have it";
            errors.push(Path::Key(path, "transport"), message);
        }
        let tcp = table.optional("tcp", errors).unwrap_or_default();
        let quic = table.optional("quic", errors).unwrap_or_default();
        let congestion = table.optional("congestion", errors).unwrap_or_default();
        let setup = table.optional("setup", errors);
        table.finish(errors);
        Some(Self { transport, tcp, quic, congestion, setup })
    }
}
