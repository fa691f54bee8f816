//! The receive buffer, as it is written in a scenario: a size, or automatic.

use super::Config;
use super::options::{OptionError, error, in_range};
use lightlag_core::{Bytes, forms};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};

/// Maximum window that can be advertised, in bytes (RFC 7323 §2.3).
const LARGEST: u64 = 65_535 << 14;

/// The receive buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveBuffer {
    /// A fixed size.
    Fixed(Bytes),
    /// A size that grows with the data that the application reads.
    Auto(AutoBuffer),
}

/// Initial buffer in Linux. It has 131,072 bytes of memory, and 5/8 of that are payload if segments are full; one
/// segment is still unread when its ACK is sent, as Linux's advertised windows show.
pub(crate) const INITIAL: Bytes = Bytes(131_072 / 8 * 5 - UNREAD);

/// Size of the unread data in bytes. It is smaller than a segment, because Linux advertises windows in units of 1,024
/// bytes here.
const UNREAD: u64 = 1_024;

impl Config {
    /// Returns the maximum initial window, in bytes. An automatic buffer advertises what it can store if half of its
    /// memory is payload, until the arriving segments show that 5/8 of it are (`tcp_win_from_space`).
    pub fn first_window(&self) -> u64 {
        match self.receive_buffer_initial {
            Some(initial) => ((initial.0 + UNREAD) / 5 * 4).min(initial.0),
            None => self.receive_buffer.0,
        }
    }
}

/// The bounds of an automatic buffer. Default: 80,896 bytes and 16 MiB, as in Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AutoBuffer {
    /// Initial size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<Bytes>,
    /// Maximum size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Bytes>,
}

impl ReceiveBuffer {
    /// Returns the maximum buffer, and its initial size if it is automatic.
    pub(super) fn resolve(self) -> Result<(Bytes, Option<Bytes>), OptionError> {
        match self {
            Self::Fixed(size) => Ok((Bytes(in_range("receive_buffer", size.0, 64, LARGEST, " B")?), None)),
            Self::Auto(AutoBuffer { initial, max }) => {
                let initial = initial.unwrap_or(INITIAL);
                let max = max.unwrap_or(Bytes((16 << 20).max(initial.0)));
                in_range("receive_buffer.initial", initial.0, 64, LARGEST, " B")?;
                in_range("receive_buffer.max", max.0, 64, LARGEST, " B")?;
                if initial > max {
                    let message = format!("{initial} is above receive_buffer.max, which is {max}: reduce it");
                    return error("receive_buffer.initial", message);
                }
                Ok((max, Some(initial)))
            }
        }
    }
}

/// The table of an automatic buffer.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bounds {
    auto: AutoBuffer,
}

forms! {
    ReceiveBuffer, "a size such as \"4 MB\", \"auto\", or { auto = { initial = \"64 kB\", max = \"16 MB\" } }";
    text |text: &str| match text {
        "auto" => Ok(ReceiveBuffer::Auto(AutoBuffer::default())),
        size => size.parse().map(ReceiveBuffer::Fixed),
    };
    table Bounds: |bounds: Bounds| ReceiveBuffer::Auto(bounds.auto);
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
        bounds.insert("description".to_owned(), "Bounds of automatic tuning.".into());
        schemars::json_schema!({
            "description": "Receive buffer: a fixed size, or automatic tuning.",
            "anyOf": [
                size,
                { "const": "auto" },
                { "type": "object", "properties": { "auto": bounds }, "required": ["auto"], "additionalProperties": false }
            ]
        })
    }
}
