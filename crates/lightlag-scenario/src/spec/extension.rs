//! Optional tables of a link whose keys a model declares.

use super::settings;
use crate::read::{Errors, FromValue, Key, Omitted, Path, TableReader};
use lightlag_core::params::{Described, parameters};
use lightlag_net::{Aggregate, BasebandFrames, Ramp, Slots, StateChannel};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// A model that a table of a link configures.
pub trait LinkModelKeys: Described + PartialEq {
    /// Name of the table in the schema.
    const NAME: &'static str;
    /// Description of a valid value, for messages.
    const EXAMPLE: &'static str;
}

impl LinkModelKeys for Slots {
    const NAME: &'static str = "Slots";
    const EXAMPLE: &'static str = "a table such as { period = \"15 s\", outage = \"100 ms\" }";
}

impl LinkModelKeys for StateChannel {
    const NAME: &'static str = "Channel";
    const EXAMPLE: &'static str =
        "a table such as { good = { mean_time = \"10 s\" }, bad = { mean_time = \"200 ms\", delay = \"30 ms\" } }";
}

impl LinkModelKeys for Ramp {
    const NAME: &'static str = "Ramp";
    const EXAMPLE: &'static str = "a table such as { idle = \"100 Mbit/s\", time = \"400 ms\" }";
}

impl LinkModelKeys for Aggregate {
    const NAME: &'static str = "Aggregate";
    const EXAMPLE: &'static str = "a table such as { interval = \"1.33 ms\" }";
}

impl LinkModelKeys for BasebandFrames {
    const NAME: &'static str = "BasebandFrames";
    const EXAMPLE: &'static str = "a table such as { label = 6 }";
}

/// The model of a link direction, if it has one.
#[derive(Clone, PartialEq, Debug)]
pub struct Extension<C>(pub Option<C>);

// Not derived, because a derived implementation would have a table by default.
impl<C> Default for Extension<C> {
    fn default() -> Self {
        Self(None)
    }
}

impl<C: LinkModelKeys> FromValue for Extension<C> {
    const IS_TABLE: bool = true;

    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table = TableReader::open(value, path, C::EXAMPLE, errors)?;
        let model = settings::read(C::default(), &mut table, path, errors);
        table.finish(errors);
        (errors.len() == before).then_some(Self(Some(model)))
    }
}

impl<C> Omitted for Extension<C> {
    fn omitted() -> Option<Self> {
        Some(Self::default())
    }
}

impl<C: LinkModelKeys> Serialize for Extension<C> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(model) = &self.0 else { return serializer.serialize_none() };
        let mut table = Map::new();
        for (setting, parameter) in C::settings().iter().zip(parameters::<C>(C::settings())) {
            let value = setting.get(model);
            if parameter.required.is_some() || value != parameter.default {
                table.insert(setting.key.to_owned(), Key(&parameter).written(&value));
            }
        }
        table.serialize(serializer)
    }
}

impl<C: LinkModelKeys> JsonSchema for Extension<C> {
    fn schema_name() -> Cow<'static, str> {
        C::NAME.into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = Map::new();
        settings::properties::<C>(&mut properties, generator);
        let parameters = parameters::<C>(C::settings());
        let required: Vec<&str> = parameters.iter().filter_map(|of| of.required.map(|_| of.key)).collect();
        json_schema!({
            "description": C::ABOUT,
            "anyOf": [
                json!({
                    "type": "object", "properties": properties, "required": required, "additionalProperties": false
                }),
                { "type": "null" }
            ]
        })
    }
}
