//! Radio media: the physical layer, the MAC and the routing that the nodes on one share.

use super::model::Chosen;
use super::{Model, router, settings};
use crate::read::{Errors, FromValue, Key, NodeName, Path, Table, described, shown};
use lightlag_core::params::{self, Described};
use lightlag_mobility::{Mobility, Placement};
use lightlag_routing::{Protocol, Router, arp};
use lightlag_wifi::propagation::{Fading, Loss, Propagation, Shadowing};
use lightlag_wifi::rate::RateControl;
use lightlag_wifi::{MediumConfig, Radio};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// The name of a medium where nothing is said, and of that of a swarm.
pub(crate) const AIR: &str = "air";

/// A radio medium: a channel, the radios on it, and how their nodes find their ways.
#[derive(Clone, PartialEq, Debug)]
pub struct MediumSpec {
    /// Its name.
    pub name: String,
    /// The channel.
    pub config: MediumConfig,
    /// Whether the scenario names the standard, and a length of aggregates.
    pub names_standard: bool,
    /// See [`names_standard`](Self::names_standard).
    pub names_aggregation: bool,
    /// The radios, where a node says nothing else.
    pub radio: Radio,
    /// The routing protocol of the nodes.
    pub routing: Router,
    /// Whether nodes have to ask for addresses on the medium.
    pub arp: arp::Mode,
    /// Whether senders of TCP are told that their route broke, and that there is one again.
    pub elfn: bool,
}

/// Differences of a node's radios from the others of their media.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RadioChanges {
    /// Keys of a radio by their number, with their values.
    settings: Vec<(usize, params::Value)>,
    rate_control: Option<Model<RateControl>>,
}

impl RadioChanges {
    /// A radio with these differences.
    pub(crate) fn of(&self, mut radio: Radio, at: &Path, errors: &mut Errors) -> Radio {
        let settings = Radio::settings();
        for (index, value) in &self.settings {
            settings[*index].set(&mut radio, value.clone());
        }
        if let Some(Model(control)) = self.rate_control {
            radio.rate_control = control;
        }
        settings::refuse(&radio, at, errors);
        radio
    }
}

impl Default for MediumSpec {
    fn default() -> Self {
        Self {
            name: AIR.to_owned(),
            config: MediumConfig::default(),
            names_standard: false,
            names_aggregation: false,
            radio: Radio::default(),
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
        let [names_standard, names_aggregation] = ["standard", "aggregation"].map(|key| table.value(key).is_some());
        let mut config = settings::read(MediumConfig::default(), &mut table, at, errors);
        config.propagation = Propagation {
            loss: table.optional::<Model<Loss>>("propagation", errors).unwrap_or_default().0,
            fading: table.optional::<Model<Fading>>("fading", errors).unwrap_or_default().0,
            shadowing: table.optional::<ShadowingSpec>("shadowing", errors).unwrap_or_default().0,
        };
        let mut radio = settings::read(Radio::default(), &mut table, at, errors);
        radio.rate_control = table.optional::<Model<RateControl>>("rate_control", errors).unwrap_or_default().0;
        let routing = table.optional("routing", errors).unwrap_or_default();
        let arp = table.value("arp").and_then(|value| resolution(value, &Path::Key(at, "arp"), errors));
        let arp = arp.unwrap_or_default();
        let elfn = table.optional("elfn", errors).unwrap_or_default();
        table.finish(errors);
        if errors.len() == before
            && let Err((key, message)) = radio.check(&config)
        {
            errors.push(Path::Key(at, key), message);
        }
        if elfn && !matches!(routing, Router::Protocol(Protocol::Aodv(_))) {
            let message =
                format!("needs routing = \"aodv\": {} does not tell the source that its route broke", routing.name());
            errors.push(Path::Key(at, "elfn"), message);
        }
        let spec = Self { name, config, names_standard, names_aggregation, radio, routing, arp, elfn };
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

impl FromValue for RadioChanges {
    const IS_TABLE: bool = true;

    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table = Table::open(value, at, "a table such as { power = \"20 dBm\" }", errors)?;
        let parameters = params::parameters::<Radio>(Radio::settings());
        let read = |(index, parameter)| Some((index, Key(parameter).read(&mut table, at, errors)?));
        let settings = parameters.iter().enumerate().filter_map(read).collect();
        let rate_control = table.optional("rate_control", errors);
        table.finish(errors);
        (errors.len() == before).then_some(Self { settings, rate_control })
    }
}

impl Serialize for MediumSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let usual = Self::default();
        let mut table = Map::new();
        table.insert("name".to_owned(), json!(self.name));
        settings::write(&self.config, &usual.config, &mut table);
        if self.names_standard {
            table.insert("standard".to_owned(), json!(self.config.standard.to_string()));
        }
        let Propagation { loss, fading, shadowing } = self.config.propagation;
        table.insert("propagation".to_owned(), json!(Model(loss)));
        if fading != Fading::default() {
            table.insert("fading".to_owned(), json!(Model(fading)));
        }
        if shadowing != Shadowing::default() {
            table.insert("shadowing".to_owned(), json!(ShadowingSpec(shadowing)));
        }
        settings::write(&self.radio, &usual.radio, &mut table);
        if self.names_aggregation {
            table.insert("aggregation".to_owned(), json!(self.radio.aggregation));
        }
        if self.radio.rate_control != usual.radio.rate_control {
            table.insert("rate_control".to_owned(), json!(Model(self.radio.rate_control)));
        }
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

impl Serialize for RadioChanges {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parameters = params::parameters::<Radio>(Radio::settings());
        let written = |(index, value): &(usize, params::Value)| {
            let parameter = &parameters[*index];
            (parameter.key.to_owned(), Key(parameter).written(value))
        };
        let mut table: Map<_, _> = self.settings.iter().map(written).collect();
        if let Some(control) = &self.rate_control {
            table.insert("rate_control".to_owned(), json!(control));
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
        settings::properties::<MediumConfig>(&mut properties, generator);
        properties.insert(
            "propagation".to_owned(),
            described(generator.subschema_for::<Model<Loss>>(), "The loss of power with the distance."),
        );
        properties.insert(
            "fading".to_owned(),
            described(generator.subschema_for::<Model<Fading>>(), "Fast fading, from frame to frame."),
        );
        let mut shadowing = Map::new();
        settings::properties::<Shadowing>(&mut shadowing, generator);
        let about = Shadowing::ABOUT;
        properties.insert(
            "shadowing".to_owned(),
            json!({ "type": "object", "description": about, "properties": shadowing, "additionalProperties": false }),
        );
        settings::properties::<Radio>(&mut properties, generator);
        properties.insert(
            "rate_control".to_owned(),
            described(generator.subschema_for::<Model<RateControl>>(), "How a radio chooses the rate of data."),
        );
        properties.insert("routing".to_owned(), described(router::schema(generator), "How nodes find their ways."));
        properties.insert("arp".to_owned(), json!({ "enum": arp::Mode::NAMES, "default": usual.arp.name(), "description": "address resolution: none, or as in ns-3" }));
        properties.insert("elfn".to_owned(), json!({ "type": "boolean", "default": false, "description": "explicit link failure notification: whether a node that finds a broken route tells the sender, whose TCP then waits for the route" }));
        json_schema!({
            "description": "a radio medium: a channel, the radios on it, and the routing protocol of their nodes",
            "type": "object", "properties": properties, "additionalProperties": false
        })
    }
}

impl JsonSchema for RadioChanges {
    fn schema_name() -> Cow<'static, str> {
        "Radio".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = Map::new();
        settings::properties::<Radio>(&mut properties, generator);
        properties.insert(
            "rate_control".to_owned(),
            described(generator.subschema_for::<Model<RateControl>>(), "How a radio chooses the rate of data."),
        );
        json_schema!({
            "description": "properties of a node's radios that differ from those of their media",
            "type": "object", "properties": properties, "additionalProperties": false
        })
    }
}

/// Shadowing as asked for.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct ShadowingSpec(Shadowing);

impl FromValue for ShadowingSpec {
    const IS_TABLE: bool = true;

    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table = Table::open(value, at, "a table such as { deviation = \"4 dB\" }", errors)?;
        let shadowing = settings::read(Shadowing::default(), &mut table, at, errors);
        table.finish(errors);
        (errors.len() == before).then_some(Self(shadowing))
    }
}

impl Serialize for ShadowingSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = Map::new();
        settings::write(&self.0, &Shadowing::default(), &mut table);
        table.serialize(serializer)
    }
}

impl Chosen for Fading {
    const SCHEMA: &'static str = "Fading";
    const KEY: &'static str = "model";
    const WHAT: &'static str = "a model of fading";
    fn usual() -> Self {
        Self::default()
    }
}

impl Chosen for RateControl {
    const SCHEMA: &'static str = "RadioRateControl";
    const KEY: &'static str = "algorithm";
    const WHAT: &'static str = "a way to choose rates";
    fn usual() -> Self {
        Self::default()
    }
}

impl Chosen for Loss {
    const SCHEMA: &'static str = "Propagation";
    const KEY: &'static str = "model";
    const WHAT: &'static str = "a model of propagation";
    fn usual() -> Self {
        Self::default()
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
