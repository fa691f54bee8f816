//! Media that nodes share: the kind of each medium, and the routing of its nodes.

mod random_access;
mod rcs2;
mod wifi;

pub use random_access::{RandomAccessPlan, RandomAccessSpec};
pub use rcs2::{Rcs2Plan, Rcs2Spec, TerminalChanges};
pub use wifi::{RadioChanges, WifiPlan, WifiSpec};

use super::model::Chosen;
use super::router;
use crate::read::{Errors, FromValue, NodeName, Path, TableReader, described, not_one_of, shown};
use lightlag_core::Rate;
use lightlag_mobility::{Mobility, Motion, Placement};
use lightlag_net::StationId;
use lightlag_routing::{Protocol, Router, arp};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Default name of a medium; also the name of the medium of a swarm.
pub(crate) const AIR: &str = "air";

/// A medium, and the routing of the nodes on it.
#[derive(Clone, PartialEq, Debug)]
pub struct MediumSpec {
    /// Name of the medium.
    pub name: String,
    /// Kind of the medium, with its settings.
    pub kind: MediumKind,
    /// Routing protocol of the nodes.
    pub routing: Router,
    /// Whether and how nodes resolve addresses on the medium.
    pub arp: arp::ResolutionMode,
    /// Whether TCP senders are notified when their route has broken, and when it is restored (ELFN).
    pub elfn: bool,
}

/// Settings of one kind of medium, as read from a scenario.
pub(crate) trait KindSpec: Sized {
    /// A medium with these settings and its stations.
    type Plan: KindPlan;

    /// Reads the keys of this kind from the table of a medium.
    fn read(table: &mut TableReader, path: &Path, errors: &mut Errors) -> Self;

    /// Reports an error for settings that cannot be combined.
    fn check(&self, path: &Path, errors: &mut Errors);

    /// Adds the keys of this kind to the table of a medium.
    fn write(&self, table: &mut Map<String, Value>);

    /// Adds the schemas of the keys.
    fn properties(properties: &mut Map<String, Value>, generator: &mut SchemaGenerator);

    /// Returns true if a station may have these individual settings of the node at `path`. Reports an error if it may
    /// not.
    fn admits(&self, changes: StationChanges<'_>, path: &Path, errors: &mut Errors) -> bool;

    /// Returns true if the stations form a star around a gateway, wherever they are.
    fn is_star(&self) -> bool {
        false
    }

    /// Reports an error if the medium at `path` cannot have these stations.
    fn check_stations(&self, _stations: &[MediumStationSpec<'_>], _path: &str, _errors: &mut Errors) {}

    /// Returns the medium with these stations. Their individual settings have been checked by [`Self::admits`].
    fn plan(&self, stations: Vec<MediumStationSpec<'_>>) -> Self::Plan;
}

/// A station of a medium.
pub(crate) struct MediumStationSpec<'a> {
    /// Name of the node.
    pub(crate) name: String,
    /// Trajectory of its node.
    pub(crate) motion: Motion,
    /// Individual settings of the station.
    pub(crate) changes: StationChanges<'a>,
}

/// Individual settings of a station, by the key of its node.
#[derive(Clone, Copy, Default)]
pub(crate) struct StationChanges<'a> {
    /// Settings of radios.
    pub(crate) radio: Option<&'a RadioChanges>,
    /// Settings of terminals.
    pub(crate) terminal: Option<&'a TerminalChanges>,
}

impl StationChanges<'_> {
    /// Reports an error if there are settings of radios, which this kind of medium does not have.
    fn refuse_radio(&self, kind: &str, path: &Path, errors: &mut Errors) {
        if self.radio.is_some() {
            errors
                .push(Path::Key(path, "radio"), format!("the medium is of the kind {kind}, which has none; remove it"));
        }
    }

    /// Reports an error if there are settings of terminals, which this kind of medium does not have.
    fn refuse_terminal(&self, kind: &str, path: &Path, errors: &mut Errors) {
        if self.terminal.is_some() {
            let message = format!("the medium is of the kind {kind}, which has none; remove it");
            errors.push(Path::Key(path, "terminal"), message);
        }
    }
}

/// Returns the index of the station called `gateway`, or the first one if there is no such name. Reports an error if no
/// station has this name, or if there is no other station.
fn hub(gateway: Option<&str>, stations: &[MediumStationSpec<'_>], path: &str, errors: &mut Errors) -> usize {
    let names: Vec<&str> = stations.iter().map(|station| station.name.as_str()).collect();
    if names.len() < 2 {
        errors.push(path, format!("has {} nodes; it needs a gateway and at least one other node", names.len()));
    }
    let Some(gateway) = gateway else { return 0 };
    names.iter().position(|name| *name == gateway).unwrap_or_else(|| {
        let shown = &names[..names.len().min(8)];
        errors.push(format_args!("{path}.gateway"), not_one_of(gateway, "a node on the medium", shown));
        0
    })
}

/// One kind of medium in a network: its settings and its stations.
pub(crate) trait KindPlan {
    /// Returns the trajectory of a station.
    fn motion(&self, station: StationId) -> &Motion;

    /// Returns the data rate of a station; if the rate adapts, the highest rate.
    fn data_rate(&self, station: StationId) -> Option<Rate>;

    /// Returns an upper estimate of the combined traffic near a station.
    fn busiest_rate(&self) -> Rate;
}

/// Declares the kinds of media, with one line each: name in a scenario, variant, type of the settings, type of the
/// plan.
macro_rules! kinds {
    ($($(#[$about:meta])* $name:ident => $variant:ident($spec:ty, $plan:ty);)+) => {
        /// Kind of a medium, with its settings.
        #[derive(Clone, PartialEq, Debug)]
        pub enum MediumKind {
            $($(#[$about])* $variant($spec),)+
        }

        impl MediumKind {
            /// Names of all kinds. The first one is the default.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),+];

            /// Returns the name of the kind in a scenario.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => stringify!($name),)+
                }
            }

            $(
                /// Returns the settings, if the medium is of this kind.
                pub fn $name(&self) -> Option<&$spec> {
                    match self {
                        Self::$variant(spec) => Some(spec),
                        #[allow(unreachable_patterns, reason = "there may be one kind")]
                        _ => None,
                    }
                }
            )+

            /// Reads the keys of the kind with this name; `None` if there is no such kind.
            fn read(name: &str, table: &mut TableReader, path: &Path, errors: &mut Errors) -> Option<Self> {
                $(
                    if name == stringify!($name) {
                        return Some(Self::$variant(KindSpec::read(table, path, errors)));
                    }
                )+
                None
            }

            fn check(&self, path: &Path, errors: &mut Errors) {
                match self {
                    $(Self::$variant(spec) => spec.check(path, errors),)+
                }
            }

            fn write(&self, table: &mut Map<String, Value>) {
                match self {
                    $(Self::$variant(spec) => spec.write(table),)+
                }
            }

            fn properties(properties: &mut Map<String, Value>, generator: &mut SchemaGenerator) {
                $(<$spec>::properties(properties, generator);)+
            }

            /// See [`KindSpec::admits`].
            pub(crate) fn admits(&self, changes: StationChanges<'_>, path: &Path, errors: &mut Errors) -> bool {
                match self {
                    $(Self::$variant(spec) => spec.admits(changes, path, errors),)+
                }
            }

            /// Returns true if the stations form a star around a gateway, wherever they are.
            pub fn is_star(&self) -> bool {
                match self {
                    $(Self::$variant(spec) => spec.is_star(),)+
                }
            }

            /// See [`KindSpec::check_stations`].
            pub(crate) fn check_stations(&self, stations: &[MediumStationSpec<'_>], path: &str, errors: &mut Errors) {
                match self {
                    $(Self::$variant(spec) => spec.check_stations(stations, path, errors),)+
                }
            }

            /// See [`KindSpec::plan`].
            pub(crate) fn plan(&self, stations: Vec<MediumStationSpec<'_>>) -> MediumPlan {
                match self {
                    $(Self::$variant(spec) => MediumPlan::$variant(spec.plan(stations)),)+
                }
            }
        }

        /// Kind of a medium, with its settings and its stations.
        #[derive(Clone, Debug)]
        pub enum MediumPlan {
            $($(#[$about])* $variant($plan),)+
        }

        impl MediumPlan {
            $(
                /// Returns the plan, if the medium is of this kind.
                pub fn $name(&self) -> Option<&$plan> {
                    match self {
                        Self::$variant(plan) => Some(plan),
                        #[allow(unreachable_patterns, reason = "there may be one kind")]
                        _ => None,
                    }
                }
            )+

            fn any(&self) -> &dyn KindPlan {
                match self {
                    $(Self::$variant(plan) => plan,)+
                }
            }
        }
    };
}

kinds! {
    /// An 802.11 channel.
    wifi => Wifi(WifiSpec, WifiPlan);
    /// The return link of a satellite beam.
    rcs2 => Rcs2(Rcs2Spec, Rcs2Plan);
    /// Random access to a satellite.
    random_access => RandomAccess(RandomAccessSpec, RandomAccessPlan);
}

impl Default for MediumKind {
    fn default() -> Self {
        Self::Wifi(WifiSpec::default())
    }
}

impl MediumPlan {
    /// Returns the trajectory of a station.
    pub fn motion(&self, station: StationId) -> &Motion {
        self.any().motion(station)
    }

    /// Returns the data rate of a station; if the rate adapts, the highest rate.
    pub fn data_rate(&self, station: StationId) -> Option<Rate> {
        self.any().data_rate(station)
    }

    /// Returns an upper estimate of the combined traffic near a station.
    pub fn busiest_rate(&self) -> Rate {
        self.any().busiest_rate()
    }
}

impl Default for MediumSpec {
    fn default() -> Self {
        Self {
            name: AIR.to_owned(),
            kind: MediumKind::default(),
            routing: Router::default(),
            arp: arp::ResolutionMode::Off,
            elfn: false,
        }
    }
}

impl FromValue for MediumSpec {
    const IS_TABLE: bool = true;

    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table = TableReader::open(value, path, "a table such as { standard = \"802.11n\" }", errors)?;
        let name = table.optional::<NodeName>("name", errors).map_or_else(|| AIR.to_owned(), |name| name.0);
        let kind = table.optional::<String>("kind", errors).unwrap_or_else(|| MediumKind::NAMES[0].to_owned());
        let Some(kind) = MediumKind::read(&kind, &mut table, path, errors) else {
            errors.push(Path::Key(path, "kind"), not_one_of(&kind, "a kind of medium", MediumKind::NAMES));
            return None;
        };
        let routing = routing(&kind, &mut table, path, errors);
        let arp = table.value("arp").and_then(|value| resolution(value, &Path::Key(path, "arp"), errors));
        let arp = arp.unwrap_or_default();
        let elfn = table.optional("elfn", errors).unwrap_or_default();
        table.finish(errors);
        if errors.len() == before {
            kind.check(path, errors);
        }
        if elfn && !matches!(routing, Router::Protocol(Protocol::Aodv(_))) {
            let message =
                format!("needs routing = \"aodv\": {} does not notify the source that its route broke", routing.name());
            errors.push(Path::Key(path, "elfn"), message);
        }
        let spec = Self { name, kind, routing, arp, elfn };
        (errors.len() == before).then_some(spec)
    }
}

/// Reads the routing of the nodes. In a star there is none.
fn routing(kind: &MediumKind, table: &mut TableReader, path: &Path, errors: &mut Errors) -> Router {
    if !kind.is_star() {
        return table.optional("routing", errors).unwrap_or_default();
    }
    for key in ["routing", "arp"] {
        if table.value(key).is_some() {
            let message = format!("does not apply to {}, whose nodes send to the gateway; remove it", kind.name());
            errors.push(Path::Key(path, key), message);
        }
    }
    Router::Star
}

fn resolution(value: &Value, path: &Path, errors: &mut Errors) -> Option<arp::ResolutionMode> {
    let mode = value.as_str().and_then(arp::ResolutionMode::named);
    if mode.is_none() {
        errors.push(path, format!("{} is not a valid address resolution; write \"off\" or \"ns3\"", shown(value)));
    }
    mode
}

impl Serialize for MediumSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let usual = Self::default();
        let mut table = Map::new();
        table.insert("name".to_owned(), json!(self.name));
        if self.kind.name() != MediumKind::NAMES[0] {
            table.insert("kind".to_owned(), json!(self.kind.name()));
        }
        self.kind.write(&mut table);
        if self.routing != Router::Star {
            table.insert("routing".to_owned(), router::written(&self.routing));
        }
        if self.arp != usual.arp {
            table.insert("arp".to_owned(), json!(self.arp.name()));
        }
        if self.elfn {
            table.insert("elfn".to_owned(), json!(true));
        }
        table.serialize(serializer)
    }
}

impl JsonSchema for MediumSpec {
    fn schema_name() -> Cow<'static, str> {
        "Medium".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (usual, mut properties) = (Self::default(), Map::new());
        properties.insert(
            "name".to_owned(),
            json!({ "type": "string", "default": AIR, "description": "Name of the medium." }),
        );
        properties.insert(
            "kind".to_owned(),
            json!({ "enum": MediumKind::NAMES, "default": MediumKind::NAMES[0], "description": "Kind of the medium: wifi is a channel of 802.11, rcs2 the return link of a satellite beam, random_access sensors that send to a satellite without coordination." }),
        );
        MediumKind::properties(&mut properties, generator);
        properties.insert("routing".to_owned(), described(router::schema(generator), "Routing protocol, `\"aodv\"`, which is the default, or with its parameters `{ protocol = \"olsr\", hello_interval = \"1 s\" }`; or a custom router."));
        properties.insert("arp".to_owned(), json!({ "enum": arp::ResolutionMode::NAMES, "default": usual.arp.name(), "description": "Address resolution: none (nodes know the addresses), or as in ns-3." }));
        properties.insert(
            "elfn".to_owned(),
            json!({
                "type": "boolean",
                "default": false,
                "description": "Explicit link failure notification: whether TCP senders are notified when their route \
                                breaks, and wait for a route exists again; needs AODV."
            }),
        );
        json_schema!({
            "description": "A medium that nodes share: a radio channel, the radios on it where a node specifies nothing else, and the routing of their nodes; or a satellite beam.",
            "type": "object", "properties": properties, "additionalProperties": false
        })
    }
}

impl Chosen for Mobility {
    const SCHEMA: &'static str = "Mobility";
    const KEY: &'static str = "model";
    const WHAT: &'static str = "a model of mobility";
    fn usual() -> Self {
        Self::Static(Default::default())
    }
}

impl Chosen for Placement {
    const SCHEMA: &'static str = "Placement";
    const KEY: &'static str = "kind";
    const WHAT: &'static str = "a placement";
    fn usual() -> Self {
        Self::Uniform(Default::default())
    }
}
