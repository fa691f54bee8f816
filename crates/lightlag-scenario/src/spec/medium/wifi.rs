//! The channel of 802.11 that a medium of the kind `wifi` is, and the radios on it.

use super::super::model::Chosen;
use super::super::{Model, settings};
use crate::read::{Errors, FromValue, Key, Path, Table, described};
use lightlag_core::params::{self, Described};
use lightlag_wifi::propagation::{Fading, Loss, Propagation, Shadowing};
use lightlag_wifi::rate::RateControl;
use lightlag_wifi::{MediumConfig, Radio};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// A channel of 802.11, and the radios on it where a node says nothing else.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WifiSpec {
    /// The channel.
    pub config: MediumConfig,
    /// Whether the scenario names the standard, and a length of aggregates.
    pub names_standard: bool,
    /// See [`names_standard`](Self::names_standard).
    pub names_aggregation: bool,
    /// The radios.
    pub radio: Radio,
}

impl WifiSpec {
    /// Reads its keys from the table of a medium.
    pub(super) fn read(table: &mut Table, at: &Path, errors: &mut Errors) -> Self {
        let [names_standard, names_aggregation] = ["standard", "aggregation"].map(|key| table.value(key).is_some());
        let mut config = settings::read(MediumConfig::default(), table, at, errors);
        config.propagation = Propagation {
            loss: table.optional::<Model<Loss>>("propagation", errors).unwrap_or_default().0,
            fading: table.optional::<Model<Fading>>("fading", errors).unwrap_or_default().0,
            shadowing: table.optional::<ShadowingSpec>("shadowing", errors).unwrap_or_default().0,
        };
        let mut radio = settings::read(Radio::default(), table, at, errors);
        radio.rate_control = table.optional::<Model<RateControl>>("rate_control", errors).unwrap_or_default().0;
        Self { config, names_standard, names_aggregation, radio }
    }

    /// Checks that the radios fit the channel.
    pub(super) fn check(&self, at: &Path, errors: &mut Errors) {
        if let Err((key, message)) = self.radio.check(&self.config) {
            errors.push(Path::Key(at, key), message);
        }
    }

    /// Adds its keys to the table of a medium.
    pub(super) fn write(&self, table: &mut Map<String, Value>) {
        let usual = Self::default();
        settings::write(&self.config, &usual.config, table);
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
        settings::write(&self.radio, &usual.radio, table);
        if self.names_aggregation {
            table.insert("aggregation".to_owned(), json!(self.radio.aggregation));
        }
        if self.radio.rate_control != usual.radio.rate_control {
            table.insert("rate_control".to_owned(), json!(Model(self.radio.rate_control)));
        }
    }

    /// Adds the schema of its keys.
    pub(super) fn properties(properties: &mut Map<String, Value>, generator: &mut SchemaGenerator) {
        settings::properties::<MediumConfig>(properties, generator);
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
        settings::properties::<Radio>(properties, generator);
        properties.insert(
            "rate_control".to_owned(),
            described(generator.subschema_for::<Model<RateControl>>(), "How a radio chooses the rate of data."),
        );
    }
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
