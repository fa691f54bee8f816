//! Links whose properties change, as asked for: a list of times, and what an outage does.

use super::{LossModel, Propagation};
use crate::read::{Errors, FromValue, Omitted, Path, Table, described, not_one_of, shown};
use lightlag_core::{Duration, Rate};
use lightlag_net::Outage;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;

/// Properties of a link from some times on. A property that a change does not mention stays as it is.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Changes(pub Vec<Change>);

/// One change of a link.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Change {
    /// When.
    pub at: Duration,
    /// Rate at which bits leave from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Propagation delay from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// Whether an outage begins, or ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down: Option<bool>,
    /// Losses from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossModel>,
}

/// Fate of packets in an outage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OutageRule(pub Outage);

const OUTAGES: [&str; 2] = ["hold", "lose"];

impl FromValue for Changes {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let Value::Array(items) = value else {
            let message = format!(
                "{} is not a list of changes, such as [{{ at = \"30 s\", rate = \"5 Mbit/s\" }}]",
                shown(value)
            );
            errors.push(at, message);
            return None;
        };
        let mut changes: Vec<Change> = Vec::with_capacity(items.len());
        let mut is_whole = true;
        for (index, item) in items.iter().enumerate() {
            let at = Path::Index(at, index);
            let Some(change) = Change::read(item, &at, errors) else {
                is_whole = false;
                continue;
            };
            if let Some(last) = changes.last().filter(|last| last.at > change.at) {
                let message =
                    format!("{} is before the {} above; write changes in the order of time", change.at, last.at);
                errors.push(Path::Key(&at, "at"), message);
                is_whole = false;
            }
            changes.push(change);
        }
        is_whole.then_some(Self(changes))
    }
}

impl FromValue for Change {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table = Table::open(value, at, "a table such as { at = \"30 s\", rate = \"5 Mbit/s\" }", errors)?;
        let time = table.required("at", "say when, such as \"30 s\"", errors);
        let rate = table.optional("rate", errors);
        let delay = table.optional::<Propagation>("delay", errors).map(|delay| delay.0);
        let down = table.optional("down", errors);
        let elsewhere = "is said once, by the loss of the link or by the whole of changes";
        let loss = LossModel::one_way(&mut table, at, elsewhere, errors);
        let loss_at = Path::Key(at, "loss");
        if value.get("loss").is_some_and(|loss| loss.get("where").is_some()) {
            errors.push(Path::Key(&loss_at, "where"), elsewhere);
        }
        if loss.as_ref().is_some_and(|loss| loss.law.names_packets()) {
            errors.push(loss_at, "single packets are named by the loss of the link; give a rate or bursts here");
        }
        table.finish(errors);
        let changes = rate.is_some() || delay.is_some() || down.is_some() || loss.is_some();
        if errors.len() == before && !changes {
            errors.push(at, "changes nothing; give rate, delay, down or loss");
        }
        let at = time?;
        (errors.len() == before).then_some(Self { at, rate, delay, down, loss })
    }
}

impl FromValue for OutageRule {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        match value.as_str() {
            Some("hold") => Some(Self(Outage::Hold)),
            Some("lose") => Some(Self(Outage::Lose)),
            Some(other) => {
                errors.push(at, not_one_of(other, "what an outage does", &OUTAGES));
                None
            }
            None => {
                errors.push(at, format!("{} is not \"hold\" or \"lose\"", shown(value)));
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
            "description": "during an outage packets wait (hold), or the transmitter does not notice and they are lost (lose)",
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
            "description": "what the link is like from some times on, in the order of time; the rest stays as it is",
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "at": described(time, "When it changes, from the start of the run."),
                    "rate": described(generator.subschema_for::<Rate>(), "The rate from then on."),
                    "delay": described(generator.subschema_for::<Propagation>(), "The delay from then on."),
                    "down": { "type": "boolean", "description": "whether an outage begins, or ends" },
                    "loss": described(generator.subschema_for::<LossModel>(), "The losses from then on.")
                },
                "required": ["at"],
                "minProperties": 2,
                "additionalProperties": false
            }
        })
    }
}
