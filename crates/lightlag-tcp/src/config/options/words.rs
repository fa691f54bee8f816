//! Keys that are a word, a switch or a table.

use super::super::Growth;
use super::{DelayedAckOptions, DelayedAckSwitch};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use std::fmt;

impl DelayedAckSwitch {
    pub(super) fn merge(self, over: Self) -> Self {
        match (self, over) {
            (Self::On(base), Self::On(over)) => Self::On(base.merge(&over)),
            (Self::On(base), Self::Switch(true)) => Self::On(base),
            _ => over,
        }
    }
}

impl<'de> Deserialize<'de> for DelayedAckSwitch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Switch;
        impl<'de> Visitor<'de> for Switch {
            type Value = DelayedAckSwitch;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("false or a table such as { segments = 2, timeout = \"200 ms\" }")
            }
            fn visit_bool<E: Error>(self, on: bool) -> Result<Self::Value, E> {
                Ok(DelayedAckSwitch::Switch(on))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                DelayedAckOptions::deserialize(MapAccessDeserializer::new(map)).map(DelayedAckSwitch::On)
            }
        }
        deserializer.deserialize_any(Switch)
    }
}

impl<'de> Deserialize<'de> for Growth {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Limit {
            abc: u8,
        }
        struct Rule;
        impl<'de> Visitor<'de> for Rule {
            type Value = Growth;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"per_ack\", \"per_segment\" or { abc = 2 }")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
                match name {
                    "per_ack" => Ok(Growth::PerAck),
                    "per_segment" => Ok(Growth::PerSegment),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(name), &self)),
                }
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Limit::deserialize(MapAccessDeserializer::new(map)).map(|limit| Growth::Abc(limit.abc))
            }
        }
        deserializer.deserialize_any(Rule)
    }
}

impl JsonSchema for Growth {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Growth".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "What an ACK counts for the growth of the window.",
            "anyOf": [
                { "enum": ["per_ack", "per_segment"] },
                {
                    "type": "object",
                    "properties": { "abc": {
                        "type": "integer", "minimum": 1, "maximum": 255,
                        "description": "L of appropriate byte counting (RFC 3465): segments by which an ACK grows the window at most."
                    } },
                    "required": ["abc"],
                    "additionalProperties": false
                }
            ]
        })
    }
}
