//! Reordering and duplication on a link.

use crate::read::{Errors, FromValue, Omitted, Path, TableReader, described, probability, shown};
use lightlag_core::{Duration, Probability};
use lightlag_net::Reordering;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Reordering on a link: each packet has a probability of an extra delay from `least` to `most`. Without it, later
/// packets may still overtake when the delay of the link decreases, if `overtakes` is set.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Reorder {
    /// Probability that a packet is delayed.
    pub probability: Probability,
    /// Minimum extra delay.
    pub least: Duration,
    /// Maximum extra delay.
    pub most: Duration,
    /// Whether packets may overtake when the delay of the link decreases.
    pub overtakes: bool,
}

/// Probability that a packet arrives twice.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Duplication(pub Probability);

impl Reorder {
    /// Returns the reordering of a link, if it has any.
    pub(crate) fn reordering(self) -> Option<Reordering> {
        let Self { probability, least, most, .. } = self;
        (probability != Probability::ZERO && !most.is_zero()).then_some(Reordering { probability, least, most })
    }
}

impl FromValue for Reorder {
    const IS_TABLE: bool = true;

    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        if let Value::Bool(overtakes) = *value {
            return Some(Self { overtakes, ..Self::default() });
        }
        let what = "a table such as { probability = 0.01, delay = \"5 ms\" }, or true";
        let mut table = TableReader::open(value, path, what, errors)?;
        let probability =
            table.required("probability", "specify the probability that a packet is delayed, such as 0.01", errors);
        let remedy = "specify the extra delay of a packet, such as \"5 ms\" or [\"1 ms\", \"10 ms\"]";
        let delay = table.required("delay", remedy, errors);
        let overtakes = table.optional("overtakes", errors).unwrap_or_default();
        table.finish(errors);
        let ExtraDelay { least, most } = delay?;
        Some(Self { probability: probability?, least, most, overtakes })
    }
}

/// An extra delay: a single time, or a minimum and a maximum.
struct ExtraDelay {
    least: Duration,
    most: Duration,
}

impl FromValue for ExtraDelay {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let Value::Array(times) = value else {
            let time = Duration::read(value, path, errors)?;
            return Some(Self { least: time, most: time });
        };
        let [min, max] = times.as_slice() else {
            errors.push(path, format!("{} times where there must be two, such as [\"1 ms\", \"10 ms\"]", times.len()));
            return None;
        };
        let read = [(0, min), (1, max)].map(|(index, time)| Duration::read(time, &Path::Index(path, index), errors));
        let [Some(first), Some(second)] = read else { return None };
        if first > second {
            errors.push(path, format!("{} is above {}; write the smaller time first", shown(min), shown(max)));
            return None;
        }
        Some(Self { least: first, most: second })
    }
}

impl FromValue for Duplication {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        probability(value, path, errors).map(Self)
    }
}

impl Omitted for Reorder {
    fn omitted() -> Option<Self> {
        Some(Self::default())
    }
}

impl Omitted for Duplication {
    fn omitted() -> Option<Self> {
        Some(Self::default())
    }
}

impl Serialize for Reorder {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let delay = if self.least == self.most { json!(self.most) } else { json!([self.least, self.most]) };
        if *self == (Self { overtakes: true, ..Self::default() }) {
            return true.serialize(serializer);
        }
        let mut table = json!({ "probability": self.probability, "delay": delay });
        if self.overtakes {
            table["overtakes"] = json!(true);
        }
        table.serialize(serializer)
    }
}

impl JsonSchema for Reorder {
    fn schema_name() -> Cow<'static, str> {
        "Reorder".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let time = generator.subschema_for::<Duration>();
        json_schema!({
            "description": "packets with an extra delay, so that later packets overtake them",
            "anyOf": [
                {
                    "type": "boolean",
                    "description": "whether packets overtake when the delay of the link decreases"
                },
                {
                    "type": "object",
                    "properties": {
                        "probability": described(
                            generator.subschema_for::<Probability>(),
                            "Probability that a packet is delayed."
                        ),
                        "delay": {
                            "description": "the extra delay, or its minimum and maximum",
                            "anyOf": [time, { "type": "array", "items": time, "minItems": 2, "maxItems": 2 }]
                        },
                        "overtakes": {
                            "type": "boolean",
                            "description": "whether packets overtake when the delay of the link decreases"
                        }
                    },
                    "required": ["probability", "delay"],
                    "additionalProperties": false
                }
            ]
        })
    }
}

impl JsonSchema for Duplication {
    fn schema_name() -> Cow<'static, str> {
        "Duplication".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Probability::json_schema(generator);
        schema.insert("description".to_owned(), json!("probability that a packet arrives twice"));
        schema
    }
}
