//! Messages of the stations at the ends of a link, as asked for.

use crate::read::{Errors, FromValue, Omitted, Path, Table, described, not_one_of, shown};
use lightlag_core::Duration;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Messages of the stations at both ends of a link, if they send any.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Signals(pub Option<SignalSpec>);

/// Messages of stations to the ends of flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct SignalSpec {
    /// That the link is out, and that it is restored.
    pub outage: bool,
    /// That packets are corrupted, and to whom.
    pub corruption: CorruptionSignals,
    /// A sender whose last data is no older than this is told of an outage when it begins; the longest round trip across the link and at
    /// least a minute, if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recent: Option<Duration>,
    /// The same is told again after this time at the earliest.
    pub interval: Duration,
}

/// The end that is told that packets are corrupted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CorruptionSignals {
    /// Nobody.
    #[default]
    Off,
    /// The receiver of the packet: its ACKs tell the sender.
    Receiver,
    /// Its sender.
    Sender,
    /// Both.
    Both,
}

const WORDS: [&str; 4] = ["off", "outage", "corruption", "all"];
const TOLD: [&str; 4] = ["off", "receiver", "sender", "both"];

/// Half of the time for which news of corruption lasts at least.
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
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        match value.as_str() {
            Some("off") => return Some(Self::default()),
            Some("outage") => return Some(Self::of(true, CorruptionSignals::Off)),
            Some("corruption") => return Some(Self::of(false, CorruptionSignals::Receiver)),
            Some("all") => return Some(Self::of(true, CorruptionSignals::Receiver)),
            Some(other) => {
                errors.push(at, not_one_of(other, "what stations tell", &WORDS));
                return None;
            }
            None => {}
        }
        let before = errors.len();
        let what = "\"outage\", \"corruption\", \"all\", or a table such as { outage = true, corruption = \"sender\" }";
        let mut table = Table::open(value, at, what, errors)?;
        let outage: bool = table.optional("outage", errors).unwrap_or_default();
        let corruption: CorruptionSignals = table.optional("corruption", errors).unwrap_or_default();
        let recent = table.optional("recent", errors);
        let interval = table.optional("interval", errors).unwrap_or(INTERVAL);
        table.finish(errors);
        if errors.len() == before && !outage && corruption == CorruptionSignals::Off {
            errors.push(at, "tells nothing; give outage = true, or corruption = \"receiver\", \"sender\" or \"both\"");
        }
        (errors.len() == before).then_some(Self(Some(SignalSpec { outage, corruption, recent, interval })))
    }
}

impl FromValue for CorruptionSignals {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let Some(word) = value.as_str() else {
            errors.push(at, format!("{} is not \"receiver\", \"sender\", \"both\" or \"off\"", shown(value)));
            return None;
        };
        let found = Self::ALL.into_iter().find(|told| told.name() == word);
        if found.is_none() {
            errors.push(at, not_one_of(word, "who is told of corruption", &TOLD));
        }
        found
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
                "outage": { "type": "boolean", "description": "that the link is out, and that it is restored" },
                "corruption": { "enum": TOLD, "description": "who is told that a packet was corrupted" },
                "recent": described(&time, "Who has sent data within this time is told of an outage at its start."),
                "interval": described(&time, "Time after which the same is told again.")
            },
            "additionalProperties": false
        });
        json_schema!({
            "description": "what the stations at both ends of the link tell flows with SCPS-TP; who has sent data within the \
                            time recent is told of an outage at its start, and the same is told again after an interval",
            "anyOf": [{ "enum": WORDS }, table, { "type": "null" }]
        })
    }
}
