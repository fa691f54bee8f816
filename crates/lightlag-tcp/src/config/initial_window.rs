//! The initial window, as written in a scenario.

use super::Config;
use super::options::{OptionError, in_range};
use lightlag_core::Bytes;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// The most segments of an initial window.
const MOST: u64 = 1_000;

/// How much leaves before the first ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWindow {
    /// So many segments.
    Segments(u64),
    /// RFC 3390: min(4 MSS, max(2 MSS, 4380 B)).
    Rfc3390,
}

impl InitialWindow {
    pub(super) fn apply(self, config: &mut Config) -> Result<(), OptionError> {
        (config.initial_window, config.initial_window_bytes) = match self {
            Self::Segments(segments) => (in_range("initial_window", segments, 1, MOST, " segments")? as u32, None),
            Self::Rfc3390 => (4, Some(Bytes(4_380))),
        };
        Ok(())
    }
}

impl Serialize for InitialWindow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Segments(segments) => serializer.serialize_u64(*segments),
            Self::Rfc3390 => serializer.serialize_str("rfc3390"),
        }
    }
}

impl<'de> Deserialize<'de> for InitialWindow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Window;
        impl Visitor<'_> for Window {
            type Value = InitialWindow;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a number of segments from 1 to {MOST}, or \"rfc3390\"")
            }
            fn visit_u64<E: Error>(self, segments: u64) -> Result<Self::Value, E> {
                Ok(InitialWindow::Segments(segments))
            }
            fn visit_i64<E: Error>(self, segments: i64) -> Result<Self::Value, E> {
                u64::try_from(segments)
                    .map(InitialWindow::Segments)
                    .map_err(|_| E::invalid_value(Unexpected::Signed(segments), &self))
            }
            fn visit_str<E: Error>(self, word: &str) -> Result<Self::Value, E> {
                match word {
                    "rfc3390" => Ok(InitialWindow::Rfc3390),
                    _ => Err(E::invalid_value(Unexpected::Str(word), &self)),
                }
            }
        }
        deserializer.deserialize_any(Window)
    }
}

impl JsonSchema for InitialWindow {
    fn schema_name() -> Cow<'static, str> {
        "InitialWindow".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "How much leaves before the first ACK.",
            "anyOf": [{ "type": "integer", "minimum": 1, "maximum": MOST }, { "const": "rfc3390" }]
        })
    }
}
