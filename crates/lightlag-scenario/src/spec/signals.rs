//! Notifications from the stations at the ends of a link.

use crate::read::{Errors, FromValue, Omitted, Path, TableReader, described, not_one_of, shown};
use lightlag_core::Duration;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Notifications from the stations at both ends of a link, if they send any.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Signals(pub Option<SignalSpec>);

/// Notifications from stations to the endpoints of flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct SignalSpec {
    /// Whether the stations notify senders of the start and the end of an outage.
    pub outage: bool,
    /// Endpoint that is notified of corrupted packets.
    pub corruption: CorruptionSignals,
    /// When an outage starts, a sender is notified only if its last data is not older than this; by default the longest
    /// round-trip time across the link, at least a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recent: Option<Duration>,
    /// Minimum time between two equal notifications.
    pub interval: Duration,
}

/// The endpoint that is notified of corrupted packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CorruptionSignals {
    /// No notification.
    #[default]
    Off,
    /// The receiver of the packet, which reports the corruption to the sender in its ACKs.
    Receiver,
    /// The sender of the packet.
    Sender,
    /// The receiver and the sender of the packet.
    Both,
}

const WORDS: [&str; 4] = ["off", "outage", "corruption", "all"];
const TOLD: [&str; 4] = ["off", "receiver", "sender", "both"];

/// Default interval: half of the minimum time for which a notification of corruption is valid.
const INTERVAL: Duration = Duration::from_millis(500);

impl CorruptionSignals {
    const ALL: [Self; 4] = [Self::Off, Self::Receiver, Self::Sender, Self::Both];

    fn name(self) -> &'static str {
        TOLD[self as usize]
    }
}

impl Signals {
    fn of(outage: bool, corruption: CorruptionSignals) -> Self {
        Self(Some(SignalSpec { outage, corruption, recent: None, interval: INTERVAL }))
    }
}

impl FromValue for Signals {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        match value.as_str() {
            Some("off") => return Some(Self::default()),
            Some("outage") => return Some(Self::of(true, CorruptionSignals::Off)),
            Some("corruption") => return Some(Self::of(false, CorruptionSignals::Receiver)),
            Some("all") => return Some(Self::of(true, CorruptionSignals::Receiver)),
            Some(other) => {
                errors.push(path, not_one_of(other, "a set of notifications", &WORDS));
                return None;
            }
            None => {}
        }
        let before = errors.len();
        let what = "\"outage\", \"corruption\", \"all\", or a table such as { outage = true, corruption = \"sender\" }";
        let mut table = TableReader::open(value, path, what, errors)?;
        let outage: bool = table.optional("outage", errors).unwrap_or_default();
        let corruption: CorruptionSignals = table.optional("corruption", errors).unwrap_or_default();
        let recent = table.optional("recent", errors);
        let interval = table.optional("interval", errors).unwrap_or(INTERVAL);
        table.finish(errors);
        if errors.len() == before && !outage && corruption == CorruptionSignals::Off {
            errors.push(
                path,
                "enables no notification; set outage = true, or corruption = \"receiver\", \"sender\" or \"both\"",
            );
        }
        (errors.len() == before).then_some(Self(Some(SignalSpec { outage, corruption, recent, interval })))
    }
}

impl FromValue for CorruptionSignals {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let Some(word) = value.as_str() else {
            errors.push(path, format!("{} is not \"receiver\", \"sender\", \"both\" or \"off\"", shown(value)));
            return None;
        };
        let recipient = Self::ALL.into_iter().find(|told| told.name() == word);
        if recipient.is_none() {
            errors.push(path, not_one_of(word, "a recipient of corruption notifications", &TOLD));
        }
        recipient
    }
}

impl Omitted for Signals {
    fn omitted() -> Option<Self> {
        Some(Self::default())
    }
}

impl Serialize for Signals {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl Serialize for CorruptionSignals {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.name().serialize(serializer)
    }
}

impl JsonSchema for Signals {
    fn schema_name() -> Cow<'static, str> {
        "Signals".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let time = generator.subschema_for::<Duration>();
        let table = json!({
            "type": "object",
            "properties": {
                "outage": {
                    "type": "boolean",
                    "description": "notifications that the link is out, and that it is restored"
                },
                "corruption": { "enum": TOLD, "description": "endpoints that are notified of a corrupted packet" },
                "recent": described(&time, "Senders of data within this time are notified of an outage at its start."),
                "interval": described(&time, "Interval between repeated notifications.")
            },
            "additionalProperties": false
        });
        json_schema!({
            "description": "notifications from the stations at both ends of the link to flows with SCPS-TP; senders of \
                            data within the time recent are notified of an outage at its start, and a notification is \
                            repeated after an interval",
            "anyOf": [{ "enum": WORDS }, table, { "type": "null" }]
        })
    }
}
