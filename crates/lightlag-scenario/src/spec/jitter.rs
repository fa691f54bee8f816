//! Jitter as asked for.

use crate::read::{Errors, FromValue, Omitted, Path, Table, not_one_of, probability};
use lightlag_core::{Duration, Probability};
use lightlag_net::{Distribution, Jitter};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// How delays differ from packet to packet, if they do.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct JitterSpec(pub Option<Jitter>);

const DISTRIBUTIONS: [&str; 2] = ["uniform", "normal"];
/// Where a normal distribution is cut off, in standard deviations, if nobody says.
const CUT_OFF: u64 = 3;

impl FromValue for JitterSpec {
    const IS_TABLE: bool = true;

    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        if value.is_string() {
            let most = Duration::read(value, at, errors)?;
            return Some(Self::of(Distribution::Uniform, most, Probability::ZERO));
        }
        let before = errors.len();
        let what = "a time such as \"5 ms\", or a table such as { distribution = \"normal\", deviation = \"2 ms\" }";
        let mut table = Table::open(value, at, what, errors)?;
        let name: Option<String> = table.required("distribution", "write uniform or normal", errors);
        let correlation =
            table.value("correlation").map(|value| probability(value, &Path::Key(at, "correlation"), errors));
        let most: Option<Duration> = table.optional("most", errors);
        let (distribution, most) = match name.as_deref() {
            Some("uniform") => {
                let most =
                    most.or_else(|| table.required("most", "say how large the deviation may be: \"5 ms\"", errors));
                (Some(Distribution::Uniform), most)
            }
            Some("normal") => {
                let remedy = "say how large the standard deviation is, such as \"2 ms\"";
                let deviation: Option<Duration> = table.required("deviation", remedy, errors);
                let most = most.or(deviation.map(|deviation| deviation * CUT_OFF));
                if let Some((most, deviation)) = most.zip(deviation).filter(|(most, deviation)| most < deviation) {
                    let message = format!("{most} is below the deviation of {deviation}; cut off at least there");
                    errors.push(Path::Key(at, "most"), message);
                }
                (deviation.map(Distribution::Normal), most)
            }
            Some(other) => {
                errors.push(Path::Key(at, "distribution"), not_one_of(other, "a distribution", &DISTRIBUTIONS));
                return None;
            }
            None => return None,
        };
        table.finish(errors);
        let correlation = correlation.unwrap_or(Some(Probability::ZERO));
        (errors.len() == before).then_some(Self::of(distribution?, most?, correlation?))
    }
}

impl JitterSpec {
    /// Nothing differs by nothing.
    fn of(distribution: Distribution, most: Duration, correlation: Probability) -> Self {
        Self((!most.is_zero()).then_some(Jitter { distribution, most, correlation }))
    }

    /// Refuses deviations that would take more than the delay.
    pub(crate) fn check(self, delay: Duration, at: &Path, errors: &mut Errors) {
        if let Some(jitter) = self.0.filter(|jitter| jitter.most > delay) {
            let message = format!(
                "up to {} would take more than the delay of {delay}; take less jitter, or more delay",
                jitter.most
            );
            errors.push(at, message);
        }
    }
}

impl Omitted for JitterSpec {
    fn omitted() -> Option<Self> {
        Some(Self::default())
    }
}

impl Serialize for JitterSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(Jitter { distribution, most, correlation }) = self.0 else { return serializer.serialize_none() };
        let mut table = match distribution {
            Distribution::Uniform if correlation == Probability::ZERO => return most.serialize(serializer),
            Distribution::Uniform => json!({ "distribution": "uniform", "most": most }),
            Distribution::Normal(deviation) => {
                json!({ "distribution": "normal", "deviation": deviation, "most": most })
            }
        };
        if correlation != Probability::ZERO {
            table["correlation"] = json!(correlation);
        }
        table.serialize(serializer)
    }
}

impl JsonSchema for JitterSpec {
    fn schema_name() -> Cow<'static, str> {
        "Jitter".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let time = generator.subschema_for::<Duration>();
        let correlation = generator.subschema_for::<Probability>();
        json_schema!({
            "description": "how delays differ from packet to packet, to either side of the delay",
            "anyOf": [
                time,
                {
                    "type": "object",
                    "description": "all deviations up to the largest are equally likely",
                    "properties": { "distribution": { "const": "uniform" }, "most": time, "correlation": correlation },
                    "required": ["distribution", "most"],
                    "additionalProperties": false
                },
                {
                    "type": "object",
                    "description": "normal with this standard deviation, cut off at the largest (three of them)",
                    "properties": {
                        "distribution": { "const": "normal" },
                        "deviation": time,
                        "most": time,
                        "correlation": correlation
                    },
                    "required": ["distribution", "deviation"],
                    "additionalProperties": false
                },
                { "type": "null" }
            ]
        })
    }
}
