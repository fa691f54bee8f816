//! Media of the kind `wifi`: the 802.11 channel, and the radios on it.

use super::super::model::Chosen;
use super::super::{Model, settings};
use super::{KindPlan, KindSpec, MediumStationSpec, StationChanges};
use crate::read::{Errors, FromValue, Key, Path, TableReader, described};
use lightlag_core::Rate;
use lightlag_core::params::{self, Described};
use lightlag_mobility::Motion;
use lightlag_net::StationId;
use lightlag_wifi::propagation::{Fading, PathLoss, Propagation, Shadowing};
use lightlag_wifi::rate::RateControl;
use lightlag_wifi::{MediumConfig, Radio, StationConfig};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// An 802.11 channel, and the default settings of its radios.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WifiSpec {
    /// Settings of the channel.
    pub config: MediumConfig,
    /// Whether the scenario specifies the standard.
    pub names_standard: bool,
    /// Whether the scenario specifies the length of aggregates.
    pub names_aggregation: bool,
    /// Default settings of the radios.
    pub radio: Radio,
}

/// An 802.11 channel in a network.
#[derive(Clone, Debug)]
pub struct WifiPlan {
    /// Settings of the channel.
    pub config: MediumConfig,
    /// Station of each member: its radio and its trajectory.
    pub stations: Vec<StationConfig>,
}

/// Upper estimate of the combined traffic on a channel.
const BUSIEST: Rate = Rate::from_mbps(100);

impl KindPlan for WifiPlan {
    fn motion(&self, station: StationId) -> &Motion {
        &self.stations[station.index()].motion
    }

    fn data_rate(&self, station: StationId) -> Option<Rate> {
        let radio = &self.stations[station.index()].radio;
        radio.data_modes(&self.config).ok().map(|[_, fastest]| fastest.rate())
    }

    fn busiest_rate(&self) -> Rate {
        BUSIEST
    }
}

impl WifiSpec {
    /// Returns the radio of a station with these individual settings.
    fn radio(&self, changes: Option<&RadioChanges>) -> Radio {
        changes.map_or_else(|| self.radio.clone(), |changes| changes.of(self.radio.clone()))
    }
}

impl KindSpec for WifiSpec {
    type Plan = WifiPlan;

    fn read(table: &mut TableReader, path: &Path, errors: &mut Errors) -> Self {
        let [names_standard, names_aggregation] = ["standard", "aggregation"].map(|key| table.value(key).is_some());
        let mut config = settings::read(MediumConfig::default(), table, path, errors);
        config.propagation = Propagation {
            loss: table.optional::<Model<PathLoss>>("propagation", errors).unwrap_or_default().0,
            fading: table.optional::<Model<Fading>>("fading", errors).unwrap_or_default().0,
            shadowing: table.optional::<ShadowingSpec>("shadowing", errors).unwrap_or_default().0,
        };
        let mut radio = settings::read(Radio::default(), table, path, errors);
        radio.rate_control = table.optional::<Model<RateControl>>("rate_control", errors).unwrap_or_default().0;
        Self { config, names_standard, names_aggregation, radio }
    }

    fn check(&self, path: &Path, errors: &mut Errors) {
        if let Err((key, message)) = self.radio.check(&self.config) {
            errors.push(Path::Key(path, key), message);
        }
    }

    fn write(&self, table: &mut Map<String, Value>) {
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

    fn properties(properties: &mut Map<String, Value>, generator: &mut SchemaGenerator) {
        settings::properties::<MediumConfig>(properties, generator);
        properties.insert(
            "propagation".to_owned(),
            described(
                generator.subschema_for::<Model<PathLoss>>(),
                "Path loss over the distance; by default log-distance with an exponent of 3.",
            ),
        );
        properties.insert(
            "fading".to_owned(),
            described(generator.subschema_for::<Model<Fading>>(), "Fading from frame to frame; by default none."),
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
            described(generator.subschema_for::<Model<RateControl>>(), "Choice of the data rate, `\"minstrel-ht\"` or with its parameters `{ algorithm = \"arf\", successes = 5 }`; fixed by default."),
        );
    }

    fn admits(&self, changes: StationChanges<'_>, path: &Path, errors: &mut Errors) -> bool {
        changes.refuse_terminal("wifi", path, errors);
        let (radio, path) = (self.radio(changes.radio), &Path::Key(path, "radio"));
        settings::refuse(&radio, path, errors);
        let fits = radio.check(&self.config);
        if let Err((key, message)) = &fits {
            errors.push(Path::Key(path, key), message);
        }
        fits.is_ok() && changes.terminal.is_none()
    }

    fn plan(&self, stations: Vec<MediumStationSpec<'_>>) -> WifiPlan {
        let station = |MediumStationSpec { name, motion, changes }| {
            let radio = self.radio(changes.radio);
            StationConfig { name, motion, radio }
        };
        WifiPlan { config: self.config.clone(), stations: stations.into_iter().map(station).collect() }
    }
}

/// Individual settings of a node's radios, which override the settings of their media.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RadioChanges {
    /// Values of the settings, each with the index of the setting in [`Radio`].
    settings: Vec<(usize, params::Value)>,
    rate_control: Option<Model<RateControl>>,
}

impl RadioChanges {
    /// Returns the radio with these settings changed.
    fn of(&self, mut radio: Radio) -> Radio {
        let settings = Radio::settings();
        for (index, value) in &self.settings {
            settings[*index].set(&mut radio, value.clone());
        }
        if let Some(Model(control)) = self.rate_control {
            radio.rate_control = control;
        }
        radio
    }
}

impl FromValue for RadioChanges {
    const IS_TABLE: bool = true;

    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table = TableReader::open(value, path, "a table such as { power = \"20 dBm\" }", errors)?;
        let parameters = params::parameters::<Radio>(Radio::settings());
        let read = |(index, parameter)| Some((index, Key(parameter).read(&mut table, path, errors)?));
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
            described(generator.subschema_for::<Model<RateControl>>(), "Choice of the data rate, `\"minstrel-ht\"` or with its parameters `{ algorithm = \"arf\", successes = 5 }`; fixed by default."),
        );
        json_schema!({
            "description": "A radio: its power, its receiver and its MAC. Omitted keys of a medium have the defaults \
                            of ns-3.37; omitted keys of a node have the values of its medium.",
            "type": "object", "properties": properties, "additionalProperties": false
        })
    }
}

/// Shadowing, given by name or as a table.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct ShadowingSpec(Shadowing);

impl FromValue for ShadowingSpec {
    const IS_TABLE: bool = true;

    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table = TableReader::open(value, path, "a table such as { deviation = \"4 dB\" }", errors)?;
        let shadowing = settings::read(Shadowing::default(), &mut table, path, errors);
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
    const WHAT: &'static str = "a rate control algorithm";
    fn usual() -> Self {
        Self::default()
    }
}

impl Chosen for PathLoss {
    const SCHEMA: &'static str = "Propagation";
    const KEY: &'static str = "model";
    const WHAT: &'static str = "a model of propagation";
    fn usual() -> Self {
        Self::default()
    }
}
