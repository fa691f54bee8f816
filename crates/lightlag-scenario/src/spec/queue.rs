//! Queues as asked for: how much may wait, and which discipline decides.
//!
//! The disciplines and their keys are those that `lightlag-net` declares, or those of a user's discipline.

use crate::read::{Errors, FromValue, Key, LimitForm, Omitted, Path, Table, in_our_words, not_one_of, written};
use lightlag_core::own::{self, Origin};
use lightlag_core::{Duration, Rate};
use lightlag_net::QueueLimit;
use lightlag_net::queue::own::{OUTSIDE, Own};
use lightlag_net::queue::{Choice, DisciplineConfig, Limit};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// The keys of a table that name a discipline: lightlag's or a registered one, the library of one, its Python class.
const SOURCES: [&str; 3] = ["discipline", "plugin", "python"];

/// A queue as asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct Queue {
    /// Upper limit of what waits; `None` leaves it to the discipline.
    pub limit: Option<Limit>,
    /// Rules for drops, marks and the packet that leaves next.
    pub discipline: Choice,
}

impl Default for Queue {
    /// 1000 packets, the length of a Linux device queue, drop-tail.
    fn default() -> Self {
        Self { limit: Some(Limit::Packets(1000)), discipline: Choice::PLAIN }
    }
}

impl Queue {
    /// The limit of a link of this rate, with the longest round trip of the flows that cross it.
    pub(crate) fn limit(&self, rate: Rate, round_trip: Duration) -> QueueLimit {
        self.discipline.limit(self.limit, rate, round_trip)
    }

    /// The discipline of such a link.
    pub(crate) fn discipline(&self, rate: Rate, round_trip: Duration) -> DisciplineConfig {
        self.discipline.on_link(rate, round_trip)
    }
}

impl FromValue for Queue {
    const IS_TABLE: bool = true;

    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        if !value.is_object() {
            let limit = Limit::read(value, at, errors)?;
            return Some(Self { limit: Some(limit), discipline: Choice::PLAIN });
        }
        let before = errors.len();
        let mut table = Table::open(value, at, "a table such as { discipline = \"codel\" }", errors)?;
        let limit = table.optional("limit", errors);
        if let Some(key) = file_key(value, at, errors)? {
            let file: String = table.required(key, "name a file", errors)?;
            let origin = if key == "plugin" { Origin::Plugin(file) } else { Origin::Python(file) };
            return from_outside(OUTSIDE.in_file(&origin), (value, key), limit, at, errors);
        }
        let list = Choice::NAMES.join(", ");
        let name: String = table.required("discipline", &format!("name one of {list}"), errors)?;
        let Some(mut discipline) = Choice::named(&name) else {
            if let Some(own) = OUTSIDE.named(&name) {
                return from_outside(Ok(own), (value, "discipline"), limit, at, errors);
            }
            let known = [Choice::NAMES, &OUTSIDE.names()].concat();
            errors.push(Path::Key(at, "discipline"), not_one_of(&name, "a queue discipline", &known));
            return None;
        };
        settings(&mut discipline, &mut table, at, errors);
        table.finish(errors);
        let limit = limit.or(discipline.is_drop_tail().then_some(Limit::Packets(1000)));
        if let Some((key, message)) = discipline.refuses(limit) {
            errors.push(Path::Key(at, key), message);
        }
        (errors.len() == before).then_some(Self { limit, discipline })
    }
}

/// The key of a table that names the file of a discipline from outside, if there is one; None after an error.
fn file_key(table: &Value, at: &Path, errors: &mut Errors) -> Option<Option<&'static str>> {
    let mut keys = SOURCES.iter().copied().filter(|key| table.get(key).is_some());
    let (first, second) = (keys.next(), keys.next());
    if let (Some(first), Some(second)) = (first, second) {
        errors.push(at, format!("{first} and {second} both name a discipline; keep one"));
        return None;
    }
    Some(first.filter(|key| *key != "discipline"))
}

/// A discipline from outside with the values of a table, in which `key` names it.
fn from_outside(
    found: Result<Own, String>,
    (table, key): (&Value, &str),
    limit: Option<Limit>,
    at: &Path,
    errors: &mut Errors,
) -> Option<Queue> {
    let values = table.as_object().into_iter().flatten().filter(|(name, value)| {
        let is_parameter = *name != key && *name != "limit";
        is_parameter && !value.is_null()
    });
    let value = |value| own::Value::deserialize(value).expect("it takes any value");
    let values = values.map(|(name, given)| (name.clone(), value(given))).collect();
    match found.map(|own| own.with(values)) {
        Ok(Ok(own)) => return Some(Queue { limit, discipline: Choice::Own(own) }),
        Ok(Err(message)) => errors.push(at, in_our_words(&message)),
        Err(message) => errors.push(Path::Key(at, key), message),
    }
    None
}

/// Reads the keys of a discipline. What cannot be read leaves an error and the default.
fn settings(discipline: &mut Choice, table: &mut Table, at: &Path, errors: &mut Errors) {
    let before = errors.len();
    for (index, parameter) in discipline.parameters().iter().enumerate() {
        if let Some(value) = Key(parameter).read(table, at, errors) {
            discipline.set(index, value);
        }
        if errors.len() == before
            && let Some(message) = discipline.check(index)
        {
            errors.push(Path::Key(at, parameter.key), message);
        }
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
            Choice::Own(own) => own.entries("discipline").into_iter().map(|(key, value)| (key, json!(value))).collect(),
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
        let mut forms = vec![limit.clone()];
        for discipline in Choice::NAMES.iter().filter_map(|name| Choice::named(name)) {
            let mut properties = json!({ "discipline": { "const": discipline.name() }, "limit": limit });
            let mut required = vec!["discipline"];
            for parameter in &discipline.parameters() {
                properties[parameter.key] = Key(parameter).schema(generator);
                required.extend(parameter.required.map(|_| parameter.key));
            }
            forms.push(json!({
                "type": "object", "description": discipline.about(), "properties": properties, "required": required,
                "additionalProperties": false,
            }));
        }
        for (key, description, example) in [
            ("plugin", "A library with the C interface of lightlag.", "libmine.so"),
            ("python", "A class in a file of Python, compiled or not.", "mine.py:Mine"),
        ] {
            forms.push(json!({
                "type": "object",
                "description": "A discipline from outside, with its parameters as further keys.",
                "properties": {
                    key: { "type": "string", "description": description, "examples": [example] },
                    "code": { "type": "string", "description": "A digest: another code is refused." },
                    "limit": limit,
                },
                "required": [key],
            }));
        }
        json_schema!({
            "description": "how much may wait for transmission, and the discipline that decides what is dropped or marked",
            "anyOf": forms
        })
    }
}
