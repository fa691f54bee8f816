//! The receive buffer, as written in a scenario: a size, or automatic.

use super::Config;
use super::options::{OptionError, error, in_range};
use lightlag_core::Bytes;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};

/// The largest window that can be advertised (RFC 7323 §2.3).
const LARGEST: u64 = 65_535 << 14;

/// The receive buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveBuffer {
    /// Of this size.
    Fixed(Bytes),
    /// It grows from the first size to at most the second with what the application reads.
    Auto(AutoBuffer),
}

/// The first buffer of Linux: of its 131,072 bytes of memory 5/8 are payload in full segments, of which one is not yet
/// read when its ACK leaves, as its windows show.
pub(crate) const INITIAL: Bytes = Bytes(131_072 / 8 * 5 - UNREAD);

/// Less than a segment, in bytes: windows have units of 1,024 there.
const UNREAD: u64 = 1_024;

impl Config {
    /// The largest first window, in bytes. An automatic buffer promises the data that it holds if half of its memory is
    /// payload, until segments show that 5/8 of it are (`tcp_win_from_space`).
    pub fn first_window(&self) -> u64 {
        match self.receive_buffer_initial {
            Some(initial) => ((initial.0 + UNREAD) / 5 * 4).min(initial.0),
            None => self.receive_buffer.0,
        }
    }
}

/// The bounds of an automatic buffer. What is left out: 80,896 bytes, and 16 MiB, as Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AutoBuffer {
    /// At the begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<Bytes>,
    /// At most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Bytes>,
}

impl ReceiveBuffer {
    /// The largest buffer, and its first size if it is automatic.
    pub(super) fn resolve(self) -> Result<(Bytes, Option<Bytes>), OptionError> {
        match self {
            Self::Fixed(size) => Ok((Bytes(in_range("receive_buffer", size.0, 64, LARGEST, " B")?), None)),
            Self::Auto(AutoBuffer { initial, max }) => {
                let initial = initial.unwrap_or(INITIAL);
                let max = max.unwrap_or(Bytes((16 << 20).max(initial.0)));
                in_range("receive_buffer.initial", initial.0, 64, LARGEST, " B")?;
                in_range("receive_buffer.max", max.0, 64, LARGEST, " B")?;
                if initial > max {
                    let message = format!("{initial} is above receive_buffer.max, which is {max}: make it smaller");
                    return error("receive_buffer.initial", message);
                }
                Ok((max, Some(initial)))
            }
        }
    }
}

impl<'de> Deserialize<'de> for ReceiveBuffer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Buffer;
        impl<'de> Visitor<'de> for Buffer {
            type Value = ReceiveBuffer;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a size such as \"4 MB\", \"auto\", or { auto = { initial = \"64 kB\", max = \"16 MB\" } }")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                if text == "auto" {
                    return Ok(ReceiveBuffer::Auto(AutoBuffer::default()));
                }
                text.parse().map(ReceiveBuffer::Fixed).map_err(E::custom)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                #[derive(Deserialize)]
                #[serde(deny_unknown_fields)]
                struct Bounds {
                    auto: AutoBuffer,
                }
                Bounds::deserialize(MapAccessDeserializer::new(map)).map(|bounds| ReceiveBuffer::Auto(bounds.auto))
            }
        }
        deserializer.deserialize_any(Buffer)
    }
}

impl Serialize for ReceiveBuffer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fixed(size) => size.serialize(serializer),
            Self::Auto(bounds) if *bounds == AutoBuffer::default() => serializer.serialize_str("auto"),
            Self::Auto(bounds) => {
                let mut table = serializer.serialize_struct("ReceiveBuffer", 1)?;
                table.serialize_field("auto", bounds)?;
                table.end()
            }
        }
    }
}

impl JsonSchema for ReceiveBuffer {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ReceiveBuffer".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (size, mut bounds) = (generator.subschema_for::<Bytes>(), generator.subschema_for::<AutoBuffer>());
        bounds.insert("description".to_owned(), "The bounds between which it tunes itself.".into());
        schemars::json_schema!({
            "description": "The receive buffer: a size, or that it tunes itself.",
            "anyOf": [
                size,
                { "const": "auto" },
                { "type": "object", "properties": { "auto": bounds }, "required": ["auto"], "additionalProperties": false }
            ]
        })
    }
}
