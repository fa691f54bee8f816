//! Changes of a link's properties: a list with their times, and the effect of an outage.

use super::{LossModel, Propagation};
use crate::read::{Errors, FromValue, Omitted, Path, TableReader, described, not_one_of, shown};
use lightlag_core::{Duration, Rate};
use lightlag_net::Outage;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;

/// Changes of a link's properties at given times. A property that a change does not mention is unchanged.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Changes(pub Vec<Change>);

/// One change of a link.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Change {
    /// Time of the change.
    pub at: Duration,
    /// Transmission rate from this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Propagation delay from this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// Whether an outage starts (true) or ends (false).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down: Option<bool>,
    /// Losses from this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossModel>,
}

/// Fate of packets in an outage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OutageRule(pub Outage);

const OUTAGES: [&str; 2] = ["hold", "lose"];

impl FromValue for Changes {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let Value::Array(items) = value else {
            let message = format!(
                "{} is not a list of changes, such as [{{ at = \"30 s\", rate = \"5 Mbit/s\" }}]",
                shown(value)
            );
            errors.push(path, message);
            return None;
        };
        let mut changes: Vec<Change> = Vec::with_capacity(items.len());
        let mut is_whole = true;
        for (index, item) in items.iter().enumerate() {
            let change_path = Path::Index(path, index);
            let Some(change) = Change::read(item, &change_path, errors) else {
                is_whole = false;
                continue;
            };
            if let Some(last) = changes.last().filter(|last| last.at > change.at) {
                let message = format!(
                    "{} is before the previous change at {}; write changes in ascending order of time",
                    change.at, last.at
                );
                errors.push(Path::Key(&change_path, "at"), message);
                is_whole = false;
            }
            changes.push(change);
        }
        is_whole.then_some(Self(changes))
    }
}

impl FromValue for Change {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table =
            TableReader::open(value, path, "a table such as { at = \"30 s\", rate = \"5 Mbit/s\" }", errors)?;
        let time = table.required("at", "specify the time, such as \"30 s\"", errors);
        let rate = table.optional("rate", errors);
        let delay = table.optional::<Propagation>("delay", errors).map(|delay| delay.0);
        let down = table.optional("down", errors);
        let elsewhere = "is not a key of a single change; set it in the loss of the link or in changes";
        let loss = LossModel::one_way(&mut table, path, elsewhere, errors);
        let loss_at = Path::Key(path, "loss");
        if value.get("loss").is_some_and(|loss| loss.get("where").is_some()) {
            errors.push(Path::Key(&loss_at, "where"), elsewhere);
        }
        if loss.as_ref().is_some_and(|loss| loss.law.names_packets()) {
            errors.push(
                loss_at,
                "single packets can be listed only in the loss of the link; write a rate or bursts here",
            );
        }
        table.finish(errors);
        let changes = rate.is_some() || delay.is_some() || down.is_some() || loss.is_some();
        if errors.len() == before && !changes {
            errors.push(path, "has no effect; write rate, delay, down or loss");
        }
        let at = time?;
        (errors.len() == before).then_some(Self { at, rate, delay, down, loss })
    }
}

impl FromValue for OutageRule {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        match value.as_str() {
            Some("hold") => Some(Self(Outage::Hold)),
            Some("lose") => Some(Self(Outage::Lose)),
            Some(other) => {
                errors.push(path, not_one_of(other, "an effect of an outage", &OUTAGES));
                None
            }
            None => {
                errors.push(path, format!("{} is not \"hold\" or \"lose\"", shown(value)));
                None
            }
        }
    }
}

impl Omitted for Changes {
    fn omitted() -> Option<Self> {
        Some(Self::default())
    }
}

impl Omitted for OutageRule {
    fn omitted() -> Option<Self> {
        Some(Self::default())
    }
}

impl Serialize for OutageRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        OUTAGES[usize::from(self.0 == Outage::Lose)].serialize(serializer)
    }
}

impl JsonSchema for OutageRule {
    fn schema_name() -> Cow<'static, str> {
        "Outage".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "effect of an outage: packets wait (hold), or the transmitter does not detect it and they \
                            are lost (lose)",
            "enum": OUTAGES
        })
    }
}

impl JsonSchema for Changes {
    fn schema_name() -> Cow<'static, str> {
        "Changes".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let time = generator.subschema_for::<Duration>();
        json_schema!({
            "description": "changes of the link, in ascending order of time; omitted parameters are unchanged",
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "at": described(time, "Time of the change, since the start of the run."),
                    "rate": described(generator.subschema_for::<Rate>(), "Rate after the change."),
                    "delay": described(generator.subschema_for::<Propagation>(), "Delay after the change."),
                    "down": { "type": "boolean", "description": "whether an outage starts or ends" },
                    "loss": described(generator.subschema_for::<LossModel>(), "Losses after the change.")
                },
                "required": ["at"],
                "minProperties": 2,
                "additionalProperties": false
            }
        })
    }
}
