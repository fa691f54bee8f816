//! Parameters declared by a model: their declaration defines how they are read, written and described.

use super::limit::{LimitForm, written};
use super::{Errors, FromValue, LARGEST, Path, Table, shown};
use lightlag_core::params::{Parameter, Range, Value};
use lightlag_core::{Bytes, Duration, Probability, Unit};
use schemars::SchemaGenerator;
use serde_json::json;

/// One key of a table, as a model declares it.
#[derive(Clone, Copy)]
pub(crate) struct Key<'a>(pub(crate) &'a Parameter);

impl Key<'_> {
    /// Its value, if present and valid. An invalid one leaves an error.
    pub(crate) fn read(self, table: &mut Table, at: &Path, errors: &mut Errors) -> Option<Value> {
        let given = match self.0.required {
            Some(remedy) => table.required_value(self.0.key, remedy, errors)?,
            None => table.value(self.0.key)?,
        };
        self.value(given, &Path::Key(at, self.0.key), errors)
    }

    /// The value that is given at `at`, if it is valid. An invalid one leaves an error.
    pub(crate) fn value(self, given: &serde_json::Value, at: &Path, errors: &mut Errors) -> Option<Value> {
        let before = errors.len();
        let value = self.typed(given, at, errors)?;
        if let Some(message) = self.refusal(&value) {
            errors.push(at, message);
        }
        (errors.len() == before).then_some(value)
    }

    /// A value of the right type, in its range or not.
    fn typed(self, given: &serde_json::Value, at: &Path, errors: &mut Errors) -> Option<Value> {
        Some(match self.0.range {
            Range::Flag => Value::Flag(FromValue::read(given, at, errors)?),
            Range::Count { least, most, what, note } => {
                let number = u64::read(given, at, errors)?;
                match u32::try_from(number).ok().filter(|number| (least..=most).contains(number)) {
                    Some(number) => Value::Count(number),
                    None => {
                        errors.push(at, format!("{number} is not {what} from {least} to {most}{note}"));
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
            Range::Whole { least, most } => {
                let whole = |number: &f64| number.fract() == 0.0 && (least..=most).contains(number);
                match given.as_f64().filter(whole) {
                    Some(number) => Value::Number(number),
                    None => {
                        errors.push(at, format!("{} is not {}", shown(given), self.0.range.in_words()));
                        return None;
                    }
                }
            }
            Range::AtLeast { least, what } => match given.as_f64().filter(|number| *number >= f64::from(least)) {
                Some(number) => Value::Number(number),
                None => {
                    let shown = shown(given);
                    errors.push(at, format!("{shown} is not {what}, {least} or more, such as {}", self.usual()));
                    return None;
                }
            },
            Range::Time { .. } => Value::Time(FromValue::read(given, at, errors)?),
            Range::Probability { .. } => Value::Probability(FromValue::read(given, at, errors)?),
            Range::Size => Value::Size(FromValue::read(given, at, errors)?),
            Range::Limit => Value::Limit(FromValue::read(given, at, errors)?),
            Range::Word { what, words } => match words.iter().position(|word| given.as_str() == Some(word)) {
                Some(index) => Value::Word(index),
                None => {
                    let quoted: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
                    errors.push(at, format!("{} is not {what}; write {}", shown(given), quoted.join(" or ")));
                    return None;
                }
            },
            Range::Times => Value::Times(times(given, at, errors)?),
            Range::Packets { most } => Value::Packets(packets(given, most, at, errors)?),
            Range::Table { parameters, example } => Value::Table(nested(given, &parameters(), example, at, errors)?),
            Range::Quantity { unit, least, most } => Value::Number(quantity(given, unit, (least, most), at, errors)?),
            Range::Text { what } => match given.as_str().filter(|text| !text.is_empty()) {
                Some(text) => Value::Text(text.to_owned()),
                None => {
                    errors.push(at, format!("{} is not {what}; write it in quotes", shown(given)));
                    return None;
                }
            },
            Range::Rows { columns, example } => Value::Rows(rows(given, columns, example, at, errors)?),
        })
    }

    /// The reason why a value of the right type is out of range, if it is.
    fn refusal(self, value: &Value) -> Option<String> {
        match (self.0.range, value) {
            (Range::Time { least, refusal, .. }, Value::Time(time)) if *time < least => Some(match refusal {
                Some(refusal) => refusal.to_owned(),
                None => format!("{time} is below {least}; write a time such as \"{}\"", self.usual()),
            }),
            (Range::Time { most: Some(most), .. }, Value::Time(time)) if *time > most => {
                Some(format!("{time} is above {most}; write a time such as \"{}\"", self.usual()))
            }
            (Range::Probability { above_zero: true }, Value::Probability(Probability::ZERO)) => {
                Some(format!("0 is not above 0; write a number up to 1, such as {}", self.usual()))
            }
            (Range::Size, Value::Size(size)) if *size == Bytes::ZERO || *size > LARGEST => {
                Some(format!("{size} is not a size from 1 B to {LARGEST}, such as \"{}\"", self.usual()))
            }
            _ => None,
        }
    }

    /// Its default, as shown in a message.
    fn usual(self) -> String {
        match &self.0.default {
            Value::Flag(on) => on.to_string(),
            Value::Count(number) => number.to_string(),
            Value::Number(number) if !matches!(self.0.range, Range::Quantity { .. }) => number.to_string(),
            Value::Time(time) => time.to_string(),
            Value::Probability(probability) => probability.to_string(),
            Value::Size(size) => size.to_string(),
            other => match self.written(other) {
                serde_json::Value::String(text) => text,
                composed => composed.to_string(),
            },
        }
    }

    /// The refusal of a value that does not go with others: a number or a text stands before the reason.
    pub(crate) fn refused(self, value: &Value, reason: &str) -> String {
        match self.written(value) {
            serde_json::Value::Array(_) | serde_json::Value::Object(_) => reason.to_owned(),
            plain => format!("{} {reason}", shown(&plain)),
        }
    }

    /// The written form of a value.
    pub(crate) fn written(self, value: &Value) -> serde_json::Value {
        match (value, self.0.range) {
            (Value::Flag(on), _) => json!(on),
            (Value::Count(number), _) => json!(number),
            (Value::Number(number), Range::Quantity { unit, .. }) if unit != Unit::Plain => {
                json!(unit.show(*number).to_string())
            }
            (Value::Number(number), _) => json!(number),
            (Value::Time(time), _) => json!(time),
            (Value::Probability(probability), _) => json!(probability),
            (Value::Size(size), _) => json!(size),
            (Value::Limit(limit), _) => json!(written(*limit)),
            (Value::Word(index), Range::Word { words, .. }) => json!(words[*index]),
            (Value::Word(index), _) => json!(index),
            (Value::Times(times), _) => json!(times),
            (Value::Packets(numbers), _) => json!(numbers),
            (Value::Table(values), Range::Table { parameters, .. }) => {
                let parameters = parameters();
                let entry = |(of, value): (&Parameter, &Value)| (of.key.to_owned(), Key(of).written(value));
                parameters.iter().zip(values).map(entry).collect()
            }
            (Value::Table(_), _) => json!({}),
            (Value::Text(text), _) => json!(text),
            (Value::Rows(rows), _) => json!(rows),
        }
    }

    /// The schema of its values, with its meaning.
    pub(crate) fn schema(self, generator: &mut SchemaGenerator) -> serde_json::Value {
        described(self.form(generator), self.0.about)
    }

    /// As [`Self::schema`], with the default of a key that may be left out.
    pub(crate) fn schema_with_default(self, generator: &mut SchemaGenerator) -> serde_json::Value {
        let mut schema = self.schema(generator);
        if self.0.required.is_none() {
            schema["default"] = self.written(&self.0.default);
        }
        schema
    }

    fn form(self, generator: &mut SchemaGenerator) -> serde_json::Value {
        match self.0.range {
            Range::Flag => json!({ "type": "boolean" }),
            Range::Count { least, most, .. } => json!({ "type": "integer", "minimum": least, "maximum": most }),
            Range::Number { least, most } => json!({ "type": "number", "minimum": least, "maximum": most }),
            Range::Whole { least, most } => json!({ "type": "integer", "minimum": least, "maximum": most }),
            Range::AtLeast { least, .. } => json!({ "type": "number", "minimum": least }),
            Range::Time { .. } => json!(generator.subschema_for::<Duration>()),
            Range::Probability { .. } => json!(generator.subschema_for::<Probability>()),
            Range::Size => json!(generator.subschema_for::<Bytes>()),
            Range::Limit => json!(generator.subschema_for::<LimitForm>()),
            Range::Word { words, .. } => json!({ "enum": words, "default": self.usual() }),
            Range::Times => json!({ "type": "array", "items": generator.subschema_for::<Duration>() }),
            Range::Packets { .. } => json!({ "type": "array", "items": { "type": "integer", "minimum": 1 } }),
            Range::Table { parameters, .. } => {
                let parameters = parameters();
                let properties: serde_json::Map<_, _> =
                    parameters.iter().map(|of| (of.key.to_owned(), Key(of).schema(generator))).collect();
                let required: Vec<&str> = parameters.iter().filter_map(|of| of.required.map(|_| of.key)).collect();
                json!({
                    "type": "object", "properties": properties, "required": required, "additionalProperties": false
                })
            }
            Range::Quantity { unit: Unit::Plain, least, most } => {
                json!({ "type": "number", "minimum": least, "maximum": most })
            }
            Range::Quantity { unit, .. } => json!({ "type": "string", "description": unit.expected() }),
            Range::Text { what } => json!({ "type": "string", "minLength": 1, "description": what }),
            Range::Rows { columns, .. } => json!({
                "type": "array",
                "items": { "type": "array", "items": { "type": "number" }, "minItems": columns.len(), "maxItems": columns.len() }
            }),
        }
    }
}

/// A schema with a description, which a description of its own follows.
pub(crate) fn described(schema: impl serde::Serialize, about: &str) -> serde_json::Value {
    let mut schema = json!(schema);
    if let Some(own) = schema.get_mut("description") {
        *own = json!(format!("{} {}", about.trim(), own.as_str().unwrap_or_default()).trim());
    } else {
        schema["description"] = json!(about);
    }
    schema
}

/// The values of a table's parameters. What is wrong with a value of the right type is said behind what cannot be read.
fn nested(
    given: &serde_json::Value,
    parameters: &[Parameter],
    example: &str,
    at: &Path,
    errors: &mut Errors,
) -> Option<Vec<Value>> {
    let before = errors.len();
    let mut table = Table::open(given, at, &format!("a table such as {example}"), errors)?;
    let mut values = Vec::with_capacity(parameters.len());
    for parameter in parameters {
        let given = match parameter.required {
            Some(remedy) => table.required_value(parameter.key, remedy, errors),
            None => table.value(parameter.key),
        };
        let read = given.and_then(|given| Key(parameter).typed(given, &Path::Key(at, parameter.key), errors));
        values.push(read);
    }
    table.finish(errors);
    for (parameter, value) in parameters.iter().zip(&values) {
        if let Some(message) = value.as_ref().and_then(|value| Key(parameter).refusal(value)) {
            errors.push(Path::Key(at, parameter.key), message);
        }
    }
    let or_default =
        |(parameter, value): (&Parameter, Option<Value>)| value.unwrap_or_else(|| parameter.default.clone());
    (errors.len() == before).then(|| parameters.iter().zip(values).map(or_default).collect())
}

/// A real number of this unit within these bounds.
pub(crate) fn quantity(
    given: &serde_json::Value,
    unit: Unit,
    (least, most): (f64, f64),
    at: &Path,
    errors: &mut Errors,
) -> Option<f64> {
    let read = match (unit, given) {
        (Unit::Plain, _) => given.as_f64().ok_or_else(|| format!("{} is not {}", shown(given), unit.expected())),
        (_, serde_json::Value::String(text)) => unit.parse(text).map_err(|error| error.to_string()),
        _ => Err(format!("{} is not {}", shown(given), unit.expected())),
    };
    let number = read.map_err(|message| errors.push(at, message)).ok()?;
    if !(least..=most).contains(&number) {
        let (least, most) = (unit.show(least), unit.show(most));
        errors.push(at, format!("{} is not from {least} to {most}", shown(given)));
        return None;
    }
    Some(number)
}

fn rows(
    given: &serde_json::Value,
    columns: &[&str],
    example: &str,
    at: &Path,
    errors: &mut Errors,
) -> Option<Vec<Vec<f64>>> {
    let form = || format!("a list of rows [{}], such as {example}", columns.join(", "));
    let Some(rows) = given.as_array().filter(|rows| !rows.is_empty()) else {
        errors.push(at, format!("{} is not {}", shown(given), form()));
        return None;
    };
    let row = |row: &serde_json::Value| -> Option<Vec<f64>> {
        let numbers: Vec<f64> = row.as_array()?.iter().map(serde_json::Value::as_f64).collect::<Option<_>>()?;
        (numbers.len() == columns.len()).then_some(numbers)
    };
    let mut read = Vec::with_capacity(rows.len());
    for (index, given) in rows.iter().enumerate() {
        match row(given) {
            Some(row) => read.push(row),
            None => {
                errors.push(Path::Index(at, index), format!("{} is not a row of {}", shown(given), form()));
                return None;
            }
        }
    }
    Some(read)
}

fn packets(given: &serde_json::Value, most: usize, at: &Path, errors: &mut Errors) -> Option<Vec<u64>> {
    let serde_json::Value::Array(items) = given else {
        errors.push(at, format!("{} is not a list of packet numbers, such as [1000, 1003]", shown(given)));
        return None;
    };
    if items.len() > most {
        errors.push(at, format!("{} packets are more than {most}; use rate for so many losses", items.len()));
        return None;
    }
    let mut read = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        match item.as_u64().filter(|number| *number > 0) {
            Some(number) => read.push(number),
            None => {
                let message = format!("{} is no packet number; packets with payload are counted from 1", shown(item));
                errors.push(Path::Index(at, index), message);
                return None;
            }
        }
    }
    Some(read)
}

fn times(given: &serde_json::Value, at: &Path, errors: &mut Errors) -> Option<Vec<Duration>> {
    let serde_json::Value::Array(times) = given else {
        errors.push(at, format!("{} is not a list of times, such as [\"2.9 s\"]", shown(given)));
        return None;
    };
    let read = |(index, time)| Duration::read(time, &Path::Index(at, index), errors);
    let read: Vec<Option<Duration>> = times.iter().enumerate().map(read).collect();
    read.into_iter().collect()
}
