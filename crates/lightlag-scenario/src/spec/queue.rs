//! Queues: limit and discipline.
//!
//! `lightlag-net` declares the disciplines and their keys; a custom discipline declares its own.

use super::model::settings;
use crate::read::{
    Errors, FromOutside, FromValue, Key, LimitForm, Omitted, Path, TableReader, described, not_one_of, written,
};
use lightlag_core::params::{Limit, Registered};
use lightlag_core::{Duration, Rate};
use lightlag_net::QueueLimit;
use lightlag_net::queue::custom::{CUSTOM, DisciplineFactory};
use lightlag_net::queue::{Choice, DisciplineConfig};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

const FROM_OUTSIDE: FromOutside<dyn DisciplineFactory> =
    FromOutside { registry: &CUSTOM, word: "discipline", what: "a discipline", beside: &["limit"] };

/// A queue: limit and discipline.
#[derive(Clone, PartialEq, Debug)]
pub struct Queue {
    /// Maximum queue length; `None` selects the default of the discipline.
    pub limit: Option<Limit>,
    /// Rules for drops, marks and the order of packets.
    pub discipline: Choice,
}

impl Default for Queue {
    /// Returns drop-tail with 1000 packets, the default length of a device queue in Linux.
    fn default() -> Self {
        Self { limit: Some(Limit::Packets(1000)), discipline: Choice::PLAIN }
    }
}

impl Queue {
    /// Returns the limit of the queue on a link of this rate. `round_trip` is the longest round-trip time of the flows
    /// that cross the link.
    pub(crate) fn limit(&self, rate: Rate, round_trip: Duration) -> QueueLimit {
        self.discipline.limit(self.limit, rate, round_trip)
    }

    /// Returns the discipline of the queue on such a link.
    pub(crate) fn discipline(&self, rate: Rate, round_trip: Duration) -> DisciplineConfig {
        self.discipline.on_link(rate, round_trip)
    }
}

impl Queue {
    /// Returns the discipline of this name with its defaults.
    fn named(name: &str, path: &Path, errors: &mut Errors) -> Option<Self> {
        let known = [Choice::NAMES, &CUSTOM.names()].concat();
        if known.contains(&name) {
            return Self::read(&json!({ "discipline": name }), path, errors);
        }
        let refused = not_one_of(name, "a queue", &known);
        errors.push(path, format!("{refused}; or a size, \"1000 packets\", \"64 kB\" or \"1 bdp\""));
        None
    }
}

impl FromValue for Queue {
    const IS_TABLE: bool = true;

    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        if let Value::String(name) = value
            && name.starts_with(|first: char| first.is_alphabetic())
            && !name.contains(' ')
        {
            return Self::named(name, path, errors);
        }
        if !value.is_object() {
            let limit = Limit::read(value, path, errors)?;
            return Some(Self { limit: Some(limit), discipline: Choice::PLAIN });
        }
        let before = errors.len();
        let mut table = TableReader::open(value, path, "a table such as { discipline = \"codel\" }", errors)?;
        let limit = table.optional("limit", errors);
        if let Some(custom) = FROM_OUTSIDE.read(value, path, errors)? {
            return (errors.len() == before).then_some(Self { limit, discipline: Choice::Custom(custom) });
        }
        let list = Choice::NAMES.join(", ");
        let name: String = table.required("discipline", &format!("name one of {list}"), errors)?;
        let Some(mut discipline) = Choice::named(&name) else {
            let known = [Choice::NAMES, &CUSTOM.names()].concat();
            errors.push(Path::Key(path, "discipline"), not_one_of(&name, "a queue discipline", &known));
            return None;
        };
        settings(&mut discipline, &mut table, path, errors);
        table.finish(errors);
        let limit = limit.or(discipline.is_drop_tail().then_some(Limit::Packets(1000)));
        if let Some((key, message)) = discipline.refuses(limit) {
            errors.push(Path::Key(path, key), message);
        }
        (errors.len() == before).then_some(Self { limit, discipline })
    }
}

impl Omitted for Queue {
    fn omitted() -> Option<Self> {
        Some(Self::default())
    }
}

impl Serialize for Queue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(limit) = self.limit
            && self.discipline == Choice::PLAIN
        {
            return serializer.serialize_str(&written(limit));
        }
        let mut table = match &self.discipline {
            Choice::Custom(custom) => Value::Object(FROM_OUTSIDE.written(custom)),
            discipline => json!({ "discipline": discipline.name() }),
        };
        if let Some(limit) = self.limit {
            table["limit"] = json!(written(limit));
        }
        for (index, parameter) in self.discipline.parameters().iter().enumerate() {
            let value = self.discipline.get(index);
            if !parameter.is_quiet || value != parameter.default {
                table[parameter.key] = Key(parameter).written(&value);
            }
        }
        table.serialize(serializer)
    }
}

impl JsonSchema for Queue {
    fn schema_name() -> Cow<'static, str> {
        "Queue".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let limit = json!(generator.subschema_for::<LimitForm>());
        let is_complete = |name: &&&str| {
            Choice::named(name).is_some_and(|choice| choice.parameters().iter().all(|key| key.required.is_none()))
        };
        let names: Vec<_> = Choice::NAMES.iter().filter(is_complete).collect();
        let mut forms = vec![limit.clone(), json!({ "enum": names, "description": "A discipline with its defaults." })];
        for discipline in Choice::all() {
            let mut properties = json!({
                "discipline": { "const": discipline.name() },
                "limit": described(&limit, "Maximum queue length.")
            });
            let mut required = vec!["discipline"];
            for parameter in &discipline.parameters() {
                properties[parameter.key] = Key(parameter).schema_with_default(generator);
                required.extend(parameter.required.map(|_| parameter.key));
            }
            forms.push(json!({
                "type": "object", "description": discipline.about(), "properties": properties, "required": required,
                "additionalProperties": false,
            }));
        }
        forms.extend(FROM_OUTSIDE.forms(&json!({ "limit": described(&limit, "Maximum queue length.") })));
        json_schema!({
            "description": "maximum queue length, and the discipline that drops or marks packets",
            "anyOf": forms
        })
    }
}
