//! Parses TOML and JSON text to a tree of plain values.

use super::{Errors, Path, shortened};
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value};
use std::fmt;

/// Returns the tree of a TOML text.
pub(crate) fn toml_tree(text: &str, errors: &mut Errors) -> Option<Value> {
    // Parses straight to the tree, which takes half the time. Values that a tree cannot hold are reported with their
    // path below.
    if let Ok(Unique(tree)) = toml::from_str(text) {
        return Some(tree);
    }
    match text.parse::<toml::Table>() {
        Ok(table) => Some(plain(toml::Value::Table(table), &Path::Root, errors)),
        Err(error) => {
            let start = error.span().map_or(0, |span| span.start);
            errors.push(line_and_column(text, start), format!("not TOML: {}", one_line(error.message())));
            None
        }
    }
}

/// Returns the tree of a JSON text.
pub(crate) fn json_tree(text: &str, errors: &mut Errors) -> Option<Value> {
    match serde_json::from_str(text) {
        Ok(Unique(tree)) => Some(tree),
        Err(error) => {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            errors
                .push(format_args!("line {}, column {}", error.line(), error.column()), format!("not JSON: {message}"));
            None
        }
    }
}

/// The only key of the table that `toml` uses to represent a date.
const DATE: &str = "$__toml_private_datetime";

/// A JSON or TOML value that is valid in a tree: numbers are finite, there are no dates, and the keys of a table are
/// unique.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Unique;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a plain value")
            }
            fn visit_unit<E>(self) -> Result<Unique, E> {
                Ok(Unique(Value::Null))
            }
            fn visit_bool<E>(self, value: bool) -> Result<Unique, E> {
                Ok(Unique(value.into()))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Unique, E> {
                Ok(Unique(value.into()))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Unique, E> {
                Ok(Unique(value.into()))
            }
            fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Unique, E> {
                let number = Number::from_f64(value).ok_or_else(|| E::custom("a number that is not finite"))?;
                Ok(Unique(Value::Number(number)))
            }
            fn visit_str<E>(self, value: &str) -> Result<Unique, E> {
                Ok(Unique(value.into()))
            }
            fn visit_string<E>(self, value: String) -> Result<Unique, E> {
                Ok(Unique(value.into()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Unique, A::Error> {
                let mut list = Vec::new();
                while let Some(Unique(item)) = items.next_element()? {
                    list.push(item);
                }
                Ok(Unique(Value::Array(list)))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut given: A) -> Result<Unique, A::Error> {
                let mut entries = Map::new();
                while let Some(key) = given.next_key::<String>()? {
                    if key == DATE {
                        return Err(A::Error::custom("a date"));
                    }
                    if entries.contains_key(&key) {
                        let message = format_args!("the key {:?} is duplicated; remove one", shortened(&key));
                        return Err(A::Error::custom(message));
                    }
                    let Unique(value) = given.next_value()?;
                    entries.insert(key, value);
                }
                Ok(Unique(Value::Object(entries)))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

fn line_and_column(text: &str, offset: usize) -> String {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("line {line}, column {column}")
}

fn one_line(message: &str) -> String {
    message.lines().collect::<Vec<_>>().join("; ")
}

/// Rejects TOML's dates and non-finite numbers, which a scenario cannot contain.
pub(crate) fn plain(value: toml::Value, path: &Path, errors: &mut Errors) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::Number(number.into()),
        toml::Value::Boolean(yes) => Value::Bool(yes),
        toml::Value::Float(number) => Number::from_f64(number).map_or_else(
            || {
                errors.push(path, format!("{number} is not a finite number; write one such as 1e-4"));
                Value::Null
            },
            Value::Number,
        ),
        toml::Value::Datetime(date) => {
            errors.push(
                path,
                format!("{date} is a date, which scenarios do not use; write times as texts such as \"300 ms\""),
            );
            Value::Null
        }
        toml::Value::Array(items) => {
            let items = items.into_iter().enumerate();
            Value::Array(items.map(|(index, item)| plain(item, &Path::Index(path, index), errors)).collect())
        }
        toml::Value::Table(table) => {
            let mut entries = Map::new();
            for (key, value) in table {
                let value = plain(value, &Path::Key(path, &key), errors);
                entries.insert(key, value);
            }
            Value::Object(entries)
        }
    }
}
