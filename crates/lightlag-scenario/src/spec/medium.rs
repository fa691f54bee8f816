//! Media that nodes share: the kind of each medium, and the routing of its nodes.

mod wifi;

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

    /// Returns true if a station may have these individual settings, which the scenario gives at `path`. Reports an
    /// error if it may not.
    fn admits(&self, changes: Option<&RadioChanges>, path: &Path, errors: &mut Errors) -> bool;

    /// Returns the medium with these stations. Their individual settings have been checked by [`Self::admits`].
    fn plan(&self, stations: Vec<MediumStationSpec<'_>>) -> Self::Plan;
}

/// A station of a medium.
pub(crate) struct MediumStationSpec<'a> {
    /// Name of the node.
    pub(crate) name: String,
    /// Trajectory of its node.
    pub(crate) motion: Motion,
    /// Individual settings of the station, if it has any.
    pub(crate) changes: Option<&'a RadioChanges>,
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
            pub(crate) fn admits(&self, changes: Option<&RadioChanges>, path: &Path, errors: &mut Errors) -> bool {
                match self {
                    $(Self::$variant(spec) => spec.admits(changes, path, errors),)+
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
        let routing = table.optional("routing", errors).unwrap_or_default();
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
        table.insert("routing".to_owned(), router::written(&self.routing));
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
            json!({ "enum": MediumKind::NAMES, "default": MediumKind::NAMES[0], "description": "Kind of the medium: wifi is a channel of 802.11." }),
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
            "description": "A radio medium: a channel, the radios on it where a node specifies nothing else, and the routing of their nodes.",
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
