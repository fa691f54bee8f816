//! Parameters declared by a model: their declaration defines how they are read, written and described.

use super::limit::{LimitForm, written};
use super::{Errors, FromValue, LARGEST, Path, TableReader, shown};
use lightlag_core::params::{Parameter, Range, Value};
use lightlag_core::schema::described;
use lightlag_core::{Bytes, Duration, Probability, Rate, Unit, Varied};
use schemars::SchemaGenerator;
use serde_json::json;

/// One key of a table, as a model declares it.
#[derive(Clone, Copy)]
pub(crate) struct Key<'a>(pub(crate) &'a Parameter);

impl Key<'_> {
    /// Returns the value of the key, if it is present and valid. Reports an error if it is invalid.
    pub(crate) fn read(self, table: &mut TableReader, path: &Path, errors: &mut Errors) -> Option<Value> {
        let given = match self.0.required {
            Some(remedy) => table.required_value(self.0.key, remedy, errors)?,
            None => table.value(self.0.key)?,
        };
        self.value(given, &Path::Key(path, self.0.key), errors)
    }

    /// Returns the value given at `path`, if it is valid. Reports an error if it is invalid.
    pub(crate) fn value(self, given: &serde_json::Value, path: &Path, errors: &mut Errors) -> Option<Value> {
        let before = errors.len();
        let value = self.typed(given, path, errors)?;
        if let Some(message) = self.refusal(&value) {
            errors.push(path, message);
        }
        (errors.len() == before).then_some(value)
    }

    /// Returns the value if it has the right type, even if it is out of range.
    fn typed(self, given: &serde_json::Value, path: &Path, errors: &mut Errors) -> Option<Value> {
        Some(match self.0.range {
            Range::Flag => Value::Flag(FromValue::read(given, path, errors)?),
            Range::Count { least, most, what, note } => {
                let number = u64::read(given, path, errors)?;
                match u32::try_from(number).ok().filter(|number| (least..=most).contains(number)) {
                    Some(number) => Value::Count(number),
                    None => {
                        errors.push(path, format!("{number} is not {what} from {least} to {most}{note}"));
                        return None;
                    }
                }
            }
            Range::Number { least, most } => {
                match given.as_f64().filter(|number| (f64::from(least)..=most).contains(number)) {
                    Some(number) => Value::Number(number),
                    None => {
                        let such = match self.0.default {
                            Value::Nothing => String::new(),
                            _ => format!(", such as {}", self.usual()),
                        };
                        errors.push(path, format!("{} is not a number from {least} to {most}{such}", shown(given)));
                        return None;
                    }
                }
            }
            Range::Whole { least, most } => {
                let whole = |number: &f64| number.fract() == 0.0 && (least..=most).contains(number);
                match given.as_f64().filter(whole) {
                    Some(number) => Value::Number(number),
                    None => {
                        errors.push(path, format!("{} is not {}", shown(given), self.0.range.in_words()));
                        return None;
                    }
                }
            }
            Range::AtLeast { least, what } => match given.as_f64().filter(|number| *number >= f64::from(least)) {
                Some(number) => Value::Number(number),
                None => {
                    let shown = shown(given);
                    errors.push(path, format!("{shown} is not {what}, {least} or more, such as {}", self.usual()));
                    return None;
                }
            },
            Range::Time { .. } => Value::Time(FromValue::read(given, path, errors)?),
            Range::Probability { .. } => Value::Probability(FromValue::read(given, path, errors)?),
            Range::Size => Value::Size(FromValue::read(given, path, errors)?),
            Range::Rate => Value::Rate(FromValue::read(given, path, errors)?),
            Range::Amount { .. } => Value::Amount(FromValue::read(given, path, errors)?),
            Range::DrawnSize => Value::DrawnSize(FromValue::read(given, path, errors)?),
            Range::DrawnTime { .. } => Value::DrawnTime(FromValue::read(given, path, errors)?),
            Range::DrawnAmount => Value::DrawnAmount(FromValue::read(given, path, errors)?),
            Range::Limit => Value::Limit(FromValue::read(given, path, errors)?),
            Range::Word { what, words } => match words.iter().position(|word| given.as_str() == Some(word)) {
                Some(index) => Value::Word(index),
                None => {
                    let quoted: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
                    errors.push(path, format!("{} is not {what}; write {}", shown(given), quoted.join(" or ")));
                    return None;
                }
            },
            Range::Times => Value::Times(times(given, path, errors)?),
            Range::Packets { most } => Value::Packets(packets(given, most, path, errors)?),
            Range::Table { parameters, example } => Value::Table(nested(given, &parameters(), example, path, errors)?),
            Range::Quantity { unit, least, most } => Value::Number(quantity(given, unit, (least, most), path, errors)?),
            Range::Text { what } => match given.as_str().filter(|text| !text.is_empty()) {
                Some(text) => Value::Text(text.to_owned()),
                None => {
                    errors.push(path, format!("{} is not {what}; write it in quotes", shown(given)));
                    return None;
                }
            },
            Range::Rows { columns, example } => Value::Rows(rows(given, columns, example, path, errors)?),
        })
    }

    /// Returns the reason why a value of the right type is out of range; `None` if it is in range.
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
            (Range::Amount { refusal }, Value::Amount(0)) => Some(refusal.to_owned()),
            (Range::DrawnTime { least }, Value::DrawnTime(time)) if time.law().mean() < least.as_nanos() as f64 => {
                Some(format!("is shorter than {least} on average; write a longer time such as \"1 s\""))
            }
            _ => None,
        }
    }

    /// Returns the default of the key, as shown in a message.
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

    /// Returns the error message for a value that cannot be combined with others. The message starts with the value,
    /// unless that is a list or a table.
    pub(crate) fn refused(self, value: &Value, reason: &str) -> String {
        match self.written(value) {
            serde_json::Value::Null | serde_json::Value::Array(_) | serde_json::Value::Object(_) => reason.to_owned(),
            plain => format!("{} {reason}", shown(&plain)),
        }
    }

    /// Returns the written form of a value.
    pub(crate) fn written(self, value: &Value) -> serde_json::Value {
        match (value, self.0.range) {
            (Value::Nothing, _) => serde_json::Value::Null,
            (Value::Flag(on), _) => json!(on),
            (Value::Count(number), _) => json!(number),
            (Value::Number(number), Range::Quantity { unit, .. }) if unit != Unit::Plain => {
                json!(unit.show(*number).to_string())
            }
            (Value::Number(number), _) => json!(number),
            (Value::Time(time), _) => json!(time),
            (Value::Probability(probability), _) => json!(probability),
            (Value::Size(size), _) => json!(size),
            (Value::Rate(rate), _) => json!(rate),
            (Value::Amount(number), _) => json!(number),
            (Value::DrawnSize(size), _) => json!(size),
            (Value::DrawnTime(time), _) => json!(time),
            (Value::DrawnAmount(number), _) => json!(number),
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

    /// Returns the schema of the key's values, with its description.
    pub(crate) fn schema(self, generator: &mut SchemaGenerator) -> serde_json::Value {
        let form = self.form(generator);
        let form = if self.0.default == Value::Nothing { or_nothing(form) } else { form };
        described(form, self.0.about)
    }

    /// Works like [`Self::schema`], and adds the default of an optional key.
    pub(crate) fn schema_with_default(self, generator: &mut SchemaGenerator) -> serde_json::Value {
        let mut schema = self.schema(generator);
        if self.0.required.is_none() && self.0.default != Value::Nothing {
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
            Range::Rate => json!(generator.subschema_for::<Rate>()),
            Range::Amount { .. } => json!({ "type": "integer", "minimum": 1 }),
            Range::DrawnSize => json!(generator.subschema_for::<Varied<Bytes>>()),
            Range::DrawnTime { .. } => json!(generator.subschema_for::<Varied<Duration>>()),
            Range::DrawnAmount => json!(generator.subschema_for::<Varied<u64>>()),
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

/// Returns the schema of a value that may be null.
fn or_nothing(mut schema: serde_json::Value) -> serde_json::Value {
    match schema.get("type").cloned() {
        Some(kind) => schema["type"] = json!([kind, "null"]),
        None => schema = json!({ "anyOf": [schema, { "type": "null" }] }),
    }
    schema
}

/// Reads the parameters of a table. Values that cannot be read are reported first, then values of the right type that
/// are invalid.
fn nested(
    given: &serde_json::Value,
    parameters: &[Parameter],
    example: &str,
    path: &Path,
    errors: &mut Errors,
) -> Option<Vec<Value>> {
    let before = errors.len();
    let mut table = TableReader::open(given, path, &format!("a table such as {example}"), errors)?;
    let mut values = Vec::with_capacity(parameters.len());
    for parameter in parameters {
        let given = match parameter.required {
            Some(remedy) => table.required_value(parameter.key, remedy, errors),
            None => table.value(parameter.key),
        };
        let read = given.and_then(|given| Key(parameter).typed(given, &Path::Key(path, parameter.key), errors));
        values.push(read);
    }
    table.finish(errors);
    for (parameter, value) in parameters.iter().zip(&values) {
        if let Some(message) = value.as_ref().and_then(|value| Key(parameter).refusal(value)) {
            errors.push(Path::Key(path, parameter.key), message);
        }
    }
    let or_default =
        |(parameter, value): (&Parameter, Option<Value>)| value.unwrap_or_else(|| parameter.default.clone());
    (errors.len() == before).then(|| parameters.iter().zip(values).map(or_default).collect())
}

/// Reads a real number with this unit, within these bounds.
pub(crate) fn quantity(
    given: &serde_json::Value,
    unit: Unit,
    (min, max): (f64, f64),
    path: &Path,
    errors: &mut Errors,
) -> Option<f64> {
    let read = match (unit, given) {
        (Unit::Plain, _) => given.as_f64().ok_or_else(|| format!("{} is not {}", shown(given), unit.expected())),
        (_, serde_json::Value::String(text)) => unit.parse(text).map_err(|error| error.to_string()),
        _ => Err(format!("{} is not {}", shown(given), unit.expected())),
    };
    let number = read.map_err(|message| errors.push(path, message)).ok()?;
    if !(min..=max).contains(&number) {
        let (least, most) = (unit.show(min), unit.show(max));
        errors.push(path, format!("{} is not from {least} to {most}", shown(given)));
        return None;
    }
    Some(number)
}

fn rows(
    given: &serde_json::Value,
    columns: &[&str],
    example: &str,
    path: &Path,
    errors: &mut Errors,
) -> Option<Vec<Vec<f64>>> {
    let form = || format!("a list of rows [{}], such as {example}", columns.join(", "));
    let Some(rows) = given.as_array().filter(|rows| !rows.is_empty()) else {
        errors.push(path, format!("{} is not {}", shown(given), form()));
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
                errors.push(Path::Index(path, index), format!("{} is not a row of {}", shown(given), form()));
                return None;
            }
        }
    }
    Some(read)
}

fn packets(given: &serde_json::Value, max: usize, path: &Path, errors: &mut Errors) -> Option<Vec<u64>> {
    let serde_json::Value::Array(items) = given else {
        errors.push(path, format!("{} is not a list of packet numbers, such as [1000, 1003]", shown(given)));
        return None;
    };
    if items.len() > max {
        errors.push(path, format!("{} packets are more than {max}; use rate instead", items.len()));
        return None;
    }
    let mut read = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        match item.as_u64().filter(|number| *number > 0) {
            Some(number) => read.push(number),
            None => {
                let message =
                    format!("{} is not a valid packet number; packets with payload are counted from 1", shown(item));
                errors.push(Path::Index(path, index), message);
                return None;
            }
        }
    }
    Some(read)
}

fn times(given: &serde_json::Value, path: &Path, errors: &mut Errors) -> Option<Vec<Duration>> {
    let serde_json::Value::Array(times) = given else {
        errors.push(path, format!("{} is not a list of times, such as [\"2.9 s\"]", shown(given)));
        return None;
    };
    let read = |(index, time)| Duration::read(time, &Path::Index(path, index), errors);
    let read: Vec<Option<Duration>> = times.iter().enumerate().map(read).collect();
    read.into_iter().collect()
}
