//! Fast open, as written in a scenario.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// Whether data leaves with the SYN (RFC 7413).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FastOpen {
    /// Never.
    #[default]
    Off,
    /// The first connection between two hosts asks for a cookie, later ones send data with it.
    On,
    /// The client knows the server's cookie from before.
    CookieKnown,
}

const KNOWN: &str = "cookie known";

impl Serialize for FastOpen {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_bool(false),
            Self::On => serializer.serialize_bool(true),
            Self::CookieKnown => serializer.serialize_str(KNOWN),
        }
    }
}

impl<'de> Deserialize<'de> for FastOpen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Word;
        impl Visitor<'_> for Word {
            type Value = FastOpen;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "true, false or \"{KNOWN}\"")
            }
            fn visit_bool<E: Error>(self, on: bool) -> Result<Self::Value, E> {
                Ok(if on { FastOpen::On } else { FastOpen::Off })
            }
            fn visit_str<E: Error>(self, word: &str) -> Result<Self::Value, E> {
                if word == KNOWN {
                    return Ok(FastOpen::CookieKnown);
                }
                Err(E::invalid_value(Unexpected::Str(word), &self))
            }
        }
        deserializer.deserialize_any(Word)
    }
}

impl JsonSchema for FastOpen {
    fn schema_name() -> Cow<'static, str> {
        "FastOpen".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Whether data leaves with the SYN.",
            "anyOf": [{ "type": "boolean" }, { "const": KNOWN }]
        })
    }
}
