//! Parameters declared by a model: their declaration defines how they are read, written and described.

use super::limit::{LimitForm, written};
use super::{Errors, FromValue, LARGEST, Path, Table, shown};
use lightlag_core::{Bytes, Duration, Probability};
use lightlag_net::setting::{Parameter, Range, Value};
use schemars::SchemaGenerator;
use serde_json::json;

/// One key of a table, as a model declares it.
#[derive(Clone, Copy)]
pub(crate) struct Key(pub(crate) Parameter);

impl Key {
    /// Its value, if present and valid. An invalid one leaves an error.
    pub(crate) fn read(self, table: &mut Table, at: &Path, errors: &mut Errors) -> Option<Value> {
        let before = errors.len();
        let given = match self.0.required {
            Some(remedy) => table.required_value(self.0.key, remedy, errors)?,
            None => table.value(self.0.key)?,
        };
        let at = Path::Key(at, self.0.key);
        let value = match self.0.range {
            Range::Flag => Value::Flag(FromValue::read(given, &at, errors)?),
            Range::Count { most, what, note } => {
                let number = u64::read(given, &at, errors)?;
                match u32::try_from(number).ok().filter(|number| (1..=most).contains(number)) {
                    Some(number) => Value::Count(number),
                    None => {
                        errors.push(at, format!("{number} is not {what} from 1 to {most}{note}"));
                        return None;
                    }
                }
            }
            Range::Number { least, most } => {
                match given.as_f64().filter(|number| (f64::from(least)..=most).contains(number)) {
                    Some(number) => Value::Number(number),
                    None => {
                        let shown = shown(given);
                        let message =
                            format!("{shown} is not a number from {least} to {most}, such as {}", self.usual());
                        errors.push(at, message);
                        return None;
                    }
                }
            }
            Range::Time { .. } => Value::Time(FromValue::read(given, &at, errors)?),
            Range::Probability { .. } => Value::Probability(FromValue::read(given, &at, errors)?),
            Range::Size => Value::Size(FromValue::read(given, &at, errors)?),
            Range::Limit => Value::Limit(FromValue::read(given, &at, errors)?),
            Range::Word { what, words } => match words.iter().position(|word| given.as_str() == Some(word)) {
                Some(index) => Value::Word(index),
                None => {
                    let quoted: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
                    errors.push(at, format!("{} is not {what}; write {}", shown(given), quoted.join(" or ")));
                    return None;
                }
            },
        };
        if let Some(message) = self.refusal(value) {
            errors.push(at, message);
        }
        (errors.len() == before).then_some(value)
    }

    /// The reason why a value of the right type is out of range, if it is.
    fn refusal(self, value: Value) -> Option<String> {
        match (self.0.range, value) {
            (Range::Time { least }, Value::Time(time)) if time < least => {
                Some(format!("{time} is below {least}; write a time such as \"{}\"", self.usual()))
            }
            (Range::Probability { above_zero: true }, Value::Probability(Probability::ZERO)) => {
                Some(format!("0 is not above 0; write a number up to 1, such as {}", self.usual()))
            }
            (Range::Size, Value::Size(size)) if size == Bytes::ZERO || size > LARGEST => {
                Some(format!("{size} is not a size from 1 B to {LARGEST}, such as \"{}\"", self.usual()))
            }
            _ => None,
        }
    }

    /// Its default, as shown in a message.
    fn usual(self) -> String {
        match self.0.default {
            Value::Flag(on) => on.to_string(),
            Value::Count(number) => number.to_string(),
            Value::Number(number) => number.to_string(),
            Value::Time(time) => time.to_string(),
            Value::Probability(probability) => probability.to_string(),
            Value::Size(size) => size.to_string(),
            Value::Limit(limit) => written(limit),
            Value::Word(index) => match self.0.range {
                Range::Word { words, .. } => words[index].to_owned(),
                _ => index.to_string(),
            },
        }
    }

    /// The written form of a value.
    pub(crate) fn written(self, value: Value) -> serde_json::Value {
        match value {
            Value::Flag(on) => json!(on),
            Value::Count(number) => json!(number),
            Value::Number(number) => json!(number),
            Value::Time(time) => json!(time),
            Value::Probability(probability) => json!(probability),
            Value::Size(size) => json!(size),
            Value::Limit(limit) => json!(written(limit)),
            Value::Word(_) => json!(Self(Parameter { default: value, ..self.0 }).usual()),
        }
    }

    /// The schema of its values.
    pub(crate) fn schema(self, generator: &mut SchemaGenerator) -> serde_json::Value {
        match self.0.range {
            Range::Flag => json!({ "type": "boolean" }),
            Range::Count { most, .. } => json!({ "type": "integer", "minimum": 1, "maximum": most }),
            Range::Number { least, most } => json!({ "type": "number", "minimum": least, "maximum": most }),
            Range::Time { .. } => json!(generator.subschema_for::<Duration>()),
            Range::Probability { .. } => json!(generator.subschema_for::<Probability>()),
            Range::Size => json!(generator.subschema_for::<Bytes>()),
            Range::Limit => json!(generator.subschema_for::<LimitForm>()),
            Range::Word { words, .. } => json!({ "enum": words, "default": self.usual() }),
        }
    }
}
