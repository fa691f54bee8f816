//! Jitter of a link.

use super::model::settings;
use crate::read::{Errors, FromValue, Key, Omitted, Path, TableReader, described, not_one_of, probability};
use lightlag_core::params::Registered;
use lightlag_core::{Duration, Probability};
use lightlag_net::{Distribution, Jitter, Uniform};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Variation of the delay between packets, if there is any.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct JitterSpec(pub Option<Jitter>);

impl FromValue for JitterSpec {
    const IS_TABLE: bool = true;

    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        if value.is_string() {
            let most = Duration::read(value, path, errors)?;
            return Some(Self::of(Distribution::Uniform(Uniform), most, Probability::ZERO));
        }
        let before = errors.len();
        let what = "a time such as \"5 ms\", or a table such as { distribution = \"normal\", deviation = \"2 ms\" }";
        let mut table = TableReader::open(value, path, what, errors)?;
        let remedy = format!("write {}", Distribution::NAMES.join(" or "));
        let name: Option<String> = table.required("distribution", &remedy, errors);
        let correlation =
            table.value("correlation").map(|value| probability(value, &Path::Key(path, "correlation"), errors));
        let max_value = table.value("max");
        let max_read = max_value.map(|value| Duration::read(value, &Path::Key(path, "max"), errors));
        let name = name?;
        let Some(mut distribution) = Distribution::named(&name) else {
            let message = not_one_of(&name, "a distribution", Distribution::NAMES);
            errors.push(Path::Key(path, "distribution"), message);
            return None;
        };
        settings(&mut distribution, &mut table, path, errors);
        if max_read.is_none() && distribution.usual_most().is_none() {
            errors.push(Path::Key(path, "max"), "is missing; specify the maximum deviation, such as \"5 ms\"");
        }
        let max = max_read.unwrap_or(distribution.usual_most());
        if let Some(message) = max.and_then(|most| distribution.refuses(most)) {
            errors.push(Path::Key(path, "max"), message);
        }
        table.finish(errors);
        let correlation = correlation.unwrap_or(Some(Probability::ZERO));
        (errors.len() == before).then_some(Self::of(distribution, max?, correlation?))
    }
}

impl JitterSpec {
    /// Returns the jitter; none if the maximum deviation is zero.
    fn of(distribution: Distribution, max: Duration, correlation: Probability) -> Self {
        Self((!max.is_zero()).then_some(Jitter { distribution, most: max, correlation }))
    }

    /// Rejects a maximum deviation that exceeds the delay.
    pub(crate) fn check(self, delay: Duration, path: &Path, errors: &mut Errors) {
        if let Some(jitter) = self.0.filter(|jitter| jitter.most > delay) {
            let message = format!(
                "up to {} is more than the delay of {delay}; reduce the jitter, or increase the delay",
                jitter.most
            );
            errors.push(path, message);
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
        if (distribution, correlation) == (Distribution::Uniform(Uniform), Probability::ZERO) {
            return most.serialize(serializer);
        }
        let mut table = json!({ "distribution": distribution.name(), "max": most });
        for (index, parameter) in distribution.parameters().iter().enumerate() {
            table[parameter.key] = Key(parameter).written(&distribution.get(index));
        }
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
        let time = json!(generator.subschema_for::<Duration>());
        let correlation = generator.subschema_for::<Probability>();
        let mut forms = vec![time.clone()];
        for distribution in Distribution::all() {
            let name = distribution.name();
            let mut properties = json!({
                "distribution": { "const": name },
                "max": described(&time, "Maximum deviation from the delay of the link, above and below."),
                "correlation": described(&correlation, "Correlation with the deviation of the previous packet.")
            });
            let mut required = vec!["distribution"];
            for parameter in &distribution.parameters() {
                properties[parameter.key] = Key(parameter).schema(generator);
                required.extend(parameter.required.map(|_| parameter.key));
            }
            required.extend(distribution.usual_most().is_none().then_some("max"));
            forms.push(json!({
                "type": "object", "description": distribution.about(), "properties": properties, "required": required,
                "additionalProperties": false,
            }));
        }
        forms.push(json!({ "type": "null" }));
        json_schema!({
            "description": "variation of the delay between packets, above and below the delay of the link",
            "anyOf": forms
        })
    }
}
