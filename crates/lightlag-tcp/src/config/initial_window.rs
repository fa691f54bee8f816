//! The initial window, as it is written in a scenario.

use super::Config;
use super::options::{OptionError, in_range};
use lightlag_core::{Bytes, forms};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// Maximum initial window in segments.
const MOST: u64 = 1_000;

/// Amount of data that may be sent before the first ACK arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWindow {
    /// The given number of segments.
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

forms! {
    InitialWindow, format_args!("a number of segments from 1 to {MOST}, or \"rfc3390\"");
    number InitialWindow::Segments;
    word |word| (word == "rfc3390").then_some(InitialWindow::Rfc3390);
}

impl JsonSchema for InitialWindow {
    fn schema_name() -> Cow<'static, str> {
        "InitialWindow".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Maximum amount of data sent before the first ACK.",
            "anyOf": [{ "type": "integer", "minimum": 1, "maximum": MOST }, { "const": "rfc3390" }]
        })
    }
}
