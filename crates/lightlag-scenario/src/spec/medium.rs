//! Media that nodes share: their kind, and the routing of the nodes on one.

mod wifi;

pub use wifi::{RadioChanges, WifiSpec};

use super::model::Chosen;
use super::router;
use crate::read::{Errors, FromValue, NodeName, Path, Table, described, not_one_of, shown};
use lightlag_mobility::{Mobility, Placement};
use lightlag_routing::{Protocol, Router, arp};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// The name of a medium where nothing is said, and of that of a swarm.
pub(crate) const AIR: &str = "air";

/// A medium, and how the nodes on it find their ways.
#[derive(Clone, PartialEq, Debug)]
pub struct MediumSpec {
    /// Its name.
    pub name: String,
    /// Its kind, with the settings of the kind.
    pub kind: MediumKind,
    /// The routing protocol of the nodes.
    pub routing: Router,
    /// Whether nodes have to ask for addresses on the medium.
    pub arp: arp::Mode,
    /// Whether senders of TCP are told that their route broke, and that there is one again.
    pub elfn: bool,
}

/// Declares the kinds of media: the variant of each, the settings of its own, and its name in a scenario.
macro_rules! kinds {
    ($($(#[$about:meta])* $variant:ident($spec:ty) = $name:literal),+ $(,)?) => {
        /// The kind of a medium, with the settings of its own.
        #[derive(Clone, PartialEq, Debug)]
        pub enum MediumKind {
            $($(#[$about])* $variant($spec),)+
        }

        impl MediumKind {
            /// The names of all kinds; the first one is the default.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// Its name in a scenario.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)+
                }
            }

            /// Reads the kind of this name and its keys. No kind has another name.
            fn read(name: &str, table: &mut Table, at: &Path, errors: &mut Errors) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant(<$spec>::read(table, at, errors))),)+
                    _ => None,
                }
            }

            fn check(&self, at: &Path, errors: &mut Errors) {
                match self {
                    $(Self::$variant(spec) => spec.check(at, errors),)+
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
        }
    };
}

kinds! {
    /// A channel of 802.11.
    Wifi(WifiSpec) = "wifi",
}

impl Default for MediumKind {
    fn default() -> Self {
        Self::Wifi(WifiSpec::default())
    }
}

impl MediumSpec {
    /// Its settings as a channel of 802.11, if it is one.
    pub(crate) fn wifi(&self) -> Option<&WifiSpec> {
        match &self.kind {
            MediumKind::Wifi(wifi) => Some(wifi),
        }
    }
}

impl Default for MediumSpec {
    fn default() -> Self {
        Self {
            name: AIR.to_owned(),
            kind: MediumKind::default(),
            routing: Router::default(),
            arp: arp::Mode::Off,
            elfn: false,
        }
    }
}

impl FromValue for MediumSpec {
    const IS_TABLE: bool = true;

    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table = Table::open(value, at, "a table such as { standard = \"802.11n\" }", errors)?;
        let name = table.optional::<NodeName>("name", errors).map_or_else(|| AIR.to_owned(), |name| name.0);
        let kind = table.optional::<String>("kind", errors).unwrap_or_else(|| MediumKind::NAMES[0].to_owned());
        let Some(kind) = MediumKind::read(&kind, &mut table, at, errors) else {
            errors.push(Path::Key(at, "kind"), not_one_of(&kind, "a kind of medium", MediumKind::NAMES));
            return None;
        };
        let routing = table.optional("routing", errors).unwrap_or_default();
        let arp = table.value("arp").and_then(|value| resolution(value, &Path::Key(at, "arp"), errors));
        let arp = arp.unwrap_or_default();
        let elfn = table.optional("elfn", errors).unwrap_or_default();
        table.finish(errors);
        if errors.len() == before {
            kind.check(at, errors);
        }
        if elfn && !matches!(routing, Router::Protocol(Protocol::Aodv(_))) {
            let message =
                format!("needs routing = \"aodv\": {} does not tell the source that its route broke", routing.name());
            errors.push(Path::Key(at, "elfn"), message);
        }
        let spec = Self { name, kind, routing, arp, elfn };
        (errors.len() == before).then_some(spec)
    }
}

fn resolution(value: &Value, at: &Path, errors: &mut Errors) -> Option<arp::Mode> {
    let mode = value.as_str().and_then(arp::Mode::named);
    if mode.is_none() {
        errors.push(at, format!("{} is not a way to find addresses; write \"off\" or \"ns3\"", shown(value)));
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
            json!({ "type": "string", "default": AIR, "description": "the name of the medium" }),
        );
        properties.insert(
            "kind".to_owned(),
            json!({ "enum": MediumKind::NAMES, "default": MediumKind::NAMES[0], "description": "the kind of the medium: wifi is a channel of 802.11" }),
        );
        MediumKind::properties(&mut properties, generator);
        properties.insert("routing".to_owned(), described(router::schema(generator), "How nodes find their ways."));
        properties.insert("arp".to_owned(), json!({ "enum": arp::Mode::NAMES, "default": usual.arp.name(), "description": "address resolution: none, or as in ns-3" }));
        properties.insert("elfn".to_owned(), json!({ "type": "boolean", "default": false, "description": "explicit link failure notification: whether a node that finds a broken route tells the sender, whose TCP then waits for the route" }));
        json_schema!({
            "description": "a radio medium: a channel, the radios on it, and the routing protocol of their nodes",
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
