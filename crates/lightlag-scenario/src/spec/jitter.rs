//! Jitter as asked for.

use super::model::settings;
use crate::read::{Errors, FromValue, Key, Omitted, Path, Table, described, not_one_of, probability};
use lightlag_core::params::Registered;
use lightlag_core::{Duration, Probability};
use lightlag_net::{Distribution, Jitter, Uniform};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Differences in delay from packet to packet, if there are any.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct JitterSpec(pub Option<Jitter>);

impl FromValue for JitterSpec {
    const IS_TABLE: bool = true;

    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        if value.is_string() {
            let most = Duration::read(value, at, errors)?;
            return Some(Self::of(Distribution::Uniform(Uniform), most, Probability::ZERO));
        }
        let before = errors.len();
        let what = "a time such as \"5 ms\", or a table such as { distribution = \"normal\", deviation = \"2 ms\" }";
        let mut table = Table::open(value, at, what, errors)?;
        let remedy = format!("write {}", Distribution::NAMES.join(" or "));
        let name: Option<String> = table.required("distribution", &remedy, errors);
        let correlation =
            table.value("correlation").map(|value| probability(value, &Path::Key(at, "correlation"), errors));
        let most = table.value("most");
        let most = most.map(|value| Duration::read(value, &Path::Key(at, "most"), errors));
        let name = name?;
        let Some(mut distribution) = Distribution::named(&name) else {
            let message = not_one_of(&name, "a distribution", Distribution::NAMES);
            errors.push(Path::Key(at, "distribution"), message);
            return None;
        };
        settings(&mut distribution, &mut table, at, errors);
        if most.is_none() && distribution.usual_most().is_none() {
            errors.push(Path::Key(at, "most"), "is missing; say how large the deviation may be: \"5 ms\"");
        }
        let most = most.unwrap_or(distribution.usual_most());
        if let Some(message) = most.and_then(|most| distribution.refuses(most)) {
            errors.push(Path::Key(at, "most"), message);
        }
        table.finish(errors);
        let correlation = correlation.unwrap_or(Some(Probability::ZERO));
        (errors.len() == before).then_some(Self::of(distribution, most?, correlation?))
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
        if (distribution, correlation) == (Distribution::Uniform(Uniform), Probability::ZERO) {
            return most.serialize(serializer);
        }
        let mut table = json!({ "distribution": distribution.name(), "most": most });
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
                "most": described(&time, "The largest deviation from the delay of the link, in both senses."),
                "correlation": described(&correlation, "Correlation with the deviation of the packet before.")
            });
            let mut required = vec!["distribution"];
            for parameter in &distribution.parameters() {
                properties[parameter.key] = Key(parameter).schema(generator);
                required.extend(parameter.required.map(|_| parameter.key));
            }
            required.extend(distribution.usual_most().is_none().then_some("most"));
            forms.push(json!({
                "type": "object", "description": distribution.about(), "properties": properties, "required": required,
                "additionalProperties": false,
            }));
        }
        forms.push(json!({ "type": "null" }));
        json_schema!({
            "description": "how delays differ from packet to packet, to either side of the delay",
            "anyOf": forms
        })
    }
}
