//! Reads typed values from a tree of plain values. It collects every error instead of stopping at the first.
//!
//! Each key is read on its own. An unreadable value leaves an error at its path and no value.

use super::error::{Errors, Path, not_one_of, shortened};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::sync::Arc;

/// A type that can be read from a tree of values.
pub(crate) trait FromValue: Sized {
    /// Whether it can be written as a table.
    const IS_TABLE: bool = false;

    /// Reads the value, or returns `None` with at least one error.
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self>;

    /// Takes over the parts of earlier entries of the same list that equal its own, so that they are in memory once.
    fn share(&mut self, _earlier: &[Self]) {}
}

/// The last entries of a list with which an entry may share parts.
const COMPARED: usize = 8;

/// Replaces a part of an entry with the equal one of the latest of `earlier` entries that has one.
pub(crate) fn share_part<'a, T: PartialEq + 'a>(
    part: &mut Arc<T>,
    earlier: impl DoubleEndedIterator<Item = &'a Arc<T>>,
) {
    if let Some(equal) = earlier.rev().find(|equal| *equal == part) {
        *part = equal.clone();
    }
}

/// One table while its keys are read.
pub(crate) struct Table<'a> {
    entries: &'a Map<String, Value>,
    at: &'a Path<'a>,
    known: Vec<&'static str>,
}

impl<'a> Table<'a> {
    /// Opens a table; `what` names it in the error for anything else.
    pub(crate) fn open(value: &'a Value, at: &'a Path<'a>, what: &str, errors: &mut Errors) -> Option<Self> {
        match value {
            Value::Object(entries) => Some(Self { entries, at, known: Vec::new() }),
            other => {
                errors.push(at, format!("{} is not {what}", shown(other)));
                None
            }
        }
    }

    /// The place of a key.
    pub(crate) fn path(&self, key: &'static str) -> Path<'_> {
        Path::Key(self.at, key)
    }

    /// The value of a key, if present. A null counts as absent.
    pub(crate) fn value(&mut self, key: &'static str) -> Option<&'a Value> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        self.entries.get(key).filter(|value| !value.is_null())
    }

    /// An optional key; also `None` if it cannot be read.
    pub(crate) fn optional<T: FromValue>(&mut self, key: &'static str, errors: &mut Errors) -> Option<T> {
        let value = self.value(key)?;
        T::read(value, &Path::Key(self.at, key), errors)
    }

    /// A required key; `remedy` completes "is missing; ".
    pub(crate) fn required<T: FromValue>(&mut self, key: &'static str, remedy: &str, errors: &mut Errors) -> Option<T> {
        self.required_value(key, remedy, errors).and_then(|value| T::read(value, &Path::Key(self.at, key), errors))
    }

    /// The value of a required key.
    pub(crate) fn required_value(&mut self, key: &'static str, remedy: &str, errors: &mut Errors) -> Option<&'a Value> {
        let value = self.value(key);
        let at = Path::Key(self.at, key);
        if value.is_none() && !errors.any_at(&at) {
            errors.push(at, format!("is missing; {remedy}"));
        }
        value
    }

    /// An array of tables, each read on its own. An unreadable item is left out.
    pub(crate) fn items<T: FromValue>(&mut self, key: &'static str, errors: &mut Errors) -> Vec<T> {
        let at = Path::Key(self.at, key);
        match self.value(key) {
            None => Vec::new(),
            Some(Value::Array(items)) => {
                let mut entries: Vec<T> = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    if let Some(mut entry) = T::read(item, &Path::Index(&at, index), errors) {
                        entry.share(&entries[entries.len().saturating_sub(COMPARED)..]);
                        entries.push(entry);
                    }
                }
                entries
            }
            Some(other) => {
                errors.push(at, format!("{} is not a list; write one [[{at}]] for each", shown(other)));
                Vec::new()
            }
        }
    }

    /// Refuses all keys that were not read.
    pub(crate) fn finish(self, errors: &mut Errors) {
        for key in self.entries.keys().filter(|key| !self.known.contains(&key.as_str())) {
            let name = shortened(key);
            errors.unknown_key(Path::Key(self.at, &name), key, &self.known);
        }
    }
}

/// Reads a value through serde.
pub(crate) fn leaf<T: DeserializeOwned>(value: &Value, at: &Path, errors: &mut Errors) -> Option<T> {
    match serde_path_to_error::deserialize::<_, T>(value) {
        Ok(read) => Some(read),
        Err(error) => {
            let (inner, message) = (error.path().to_string(), error.inner().to_string());
            let place = match inner.as_str() {
                "." => at.to_string(),
                deeper => format!("{at}{}{deeper}", if deeper.starts_with('[') { "" } else { "." }),
            };
            match unknown(&message, "unknown field ") {
                Some((key, known)) => errors.unknown_key(place, key, &known),
                None => errors.push(place, in_our_words(&message)),
            }
            None
        }
    }
}

/// A value of JSON or TOML, as it appears in a message.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{:?}", shortened(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a table".to_owned(),
        Value::Null => "nothing".to_owned(),
        plain => plain.to_string(),
    }
}

/// Serde's fixed phrases, with the value first and a suggestion for a misspelt word.
pub(crate) fn in_our_words(message: &str) -> String {
    for (phrase, what) in [("unknown field ", "a key here"), ("unknown variant ", "known")] {
        if let Some((word, candidates)) = unknown(message, phrase) {
            return not_one_of(word, what, &candidates);
        }
    }
    for phrase in ["invalid type: ", "invalid value: "] {
        if let Some((found, expected)) = message.strip_prefix(phrase).and_then(|rest| rest.split_once(", expected ")) {
            return format!("{} is not {}", plain(found), article(expected));
        }
    }
    if let Some(key) = message.strip_prefix("missing field ") {
        return format!("the key {} is missing", key.replace('`', "\""));
    }
    message.to_owned()
}

/// The word that serde does not know, and those that it expects.
fn unknown<'a>(message: &'a str, phrase: &str) -> Option<(&'a str, Vec<&'a str>)> {
    let (word, expected) = message.strip_prefix(phrase)?.split_once(", expected ")?;
    Some((word.trim_matches('`'), expected.split('`').skip(1).step_by(2).collect()))
}

/// "integer `10`" is 10, "string \"x\"" is "x", a map is a table.
fn plain(found: &str) -> String {
    match found {
        "map" => return "a table".to_owned(),
        "sequence" => return "a list".to_owned(),
        _ => {}
    }
    match found.split_once(' ') {
        Some(("integer" | "boolean" | "float" | "string", value)) => value.trim_matches('`').to_owned(),
        Some(("floating", value)) => value.trim_start_matches("point ").trim_matches('`').to_owned(),
        _ => found.to_owned(),
    }
}

/// The type names of Rust in the words of a scenario.
fn article(expected: &str) -> String {
    match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, zero or more, without quotes".to_owned(),
        "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" => "a text in quotes".to_owned(),
        other if other.starts_with("struct ") => "a table of keys, { key = value, … }".to_owned(),
        other => other.to_owned(),
    }
}
