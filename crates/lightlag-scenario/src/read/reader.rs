//! Reads typed values from a tree of plain values. All errors are collected, instead of stopping at the first.
//!
//! Each key is read independently. A value that cannot be read results in an error at its path, and in `None`.

use super::error::{Errors, Path, not_one_of, shortened};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::sync::Arc;

/// A type that can be read from a tree of values.
pub(crate) trait FromValue: Sized {
    /// Whether the type can be written as a table.
    const IS_TABLE: bool = false;

    /// Reads the value, or reports at least one error and returns `None`.
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self>;

    /// Replaces parts of the value by equal parts of earlier entries of the same list, so that they are in memory once.
    fn share(&mut self, _earlier: &[Self]) {}
}

/// Number of previous entries of a list with which an entry may share parts.
const COMPARED: usize = 8;

/// Replaces `part` by an equal part of the latest of the `earlier` entries that has one.
pub(crate) fn share_part<'a, T: PartialEq + 'a>(
    part: &mut Arc<T>,
    earlier: impl DoubleEndedIterator<Item = &'a Arc<T>>,
) {
    if let Some(equal) = earlier.rev().find(|equal| *equal == part) {
        *part = equal.clone();
    }
}

/// Reader of the keys of a table.
pub(crate) struct TableReader<'a> {
    entries: &'a Map<String, Value>,
    at: &'a Path<'a>,
    known: Vec<&'static str>,
}

impl<'a> TableReader<'a> {
    /// Opens a table. `what` describes it in the error if the value is not a table.
    pub(crate) fn open(value: &'a Value, path: &'a Path<'a>, what: &str, errors: &mut Errors) -> Option<Self> {
        match value {
            Value::Object(entries) => Some(Self { entries, at: path, known: Vec::new() }),
            other => {
                errors.push(path, format!("{} is not {what}", shown(other)));
                None
            }
        }
    }

    /// Returns the path of a key.
    pub(crate) fn path(&self, key: &'static str) -> Path<'_> {
        Path::Key(self.at, key)
    }

    /// Returns the value of a key, if present. A null counts as an absent key.
    pub(crate) fn value(&mut self, key: &'static str) -> Option<&'a Value> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        self.entries.get(key).filter(|value| !value.is_null())
    }

    /// Reads an optional key. Returns `None` if it is absent or cannot be read.
    pub(crate) fn optional<T: FromValue>(&mut self, key: &'static str, errors: &mut Errors) -> Option<T> {
        let value = self.value(key)?;
        T::read(value, &Path::Key(self.at, key), errors)
    }

    /// Reads a required key. `remedy` follows "is missing; " in the error message.
    pub(crate) fn required<T: FromValue>(&mut self, key: &'static str, remedy: &str, errors: &mut Errors) -> Option<T> {
        self.required_value(key, remedy, errors).and_then(|value| T::read(value, &Path::Key(self.at, key), errors))
    }

    /// Reads the value of a required key.
    pub(crate) fn required_value(&mut self, key: &'static str, remedy: &str, errors: &mut Errors) -> Option<&'a Value> {
        let value = self.value(key);
        let key_path = Path::Key(self.at, key);
        if value.is_none() && !errors.any_at(&key_path) {
            errors.push(key_path, format!("is missing; {remedy}"));
        }
        value
    }

    /// Reads an array of tables independently of each other. A table that cannot be read is omitted.
    pub(crate) fn items<T: FromValue>(&mut self, key: &'static str, errors: &mut Errors) -> Vec<T> {
        let path = Path::Key(self.at, key);
        match self.value(key) {
            None => Vec::new(),
            Some(Value::Array(items)) => {
                let mut entries: Vec<T> = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    if let Some(mut entry) = T::read(item, &Path::Index(&path, index), errors) {
                        entry.share(&entries[entries.len().saturating_sub(COMPARED)..]);
                        entries.push(entry);
                    }
                }
                entries
            }
            Some(other) => {
                errors.push(path, format!("{} is not a list; write one [[{path}]] for each", shown(other)));
                Vec::new()
            }
        }
    }

    /// Rejects all keys that were not read.
    pub(crate) fn finish(self, errors: &mut Errors) {
        for key in self.entries.keys().filter(|key| !self.known.contains(&key.as_str())) {
            let name = shortened(key);
            errors.unknown_key(Path::Key(self.at, &name), key, &self.known);
        }
    }
}

/// Reads a value with serde.
pub(crate) fn leaf<T: DeserializeOwned>(value: &Value, key_path: &Path, errors: &mut Errors) -> Option<T> {
    match serde_path_to_error::deserialize::<_, T>(value) {
        Ok(read) => Some(read),
        Err(error) => {
            let (inner, message) = (error.path().to_string(), error.inner().to_string());
            let location = match inner.as_str() {
                "." => key_path.to_string(),
                deeper => format!("{key_path}{}{deeper}", if deeper.starts_with('[') { "" } else { "." }),
            };
            match unknown(&message, "unknown field ") {
                Some((key, known)) => errors.unknown_key(location, key, &known),
                None => errors.push(location, in_our_words(&message)),
            }
            None
        }
    }
}

/// Returns a JSON or TOML value as it appears in a message.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{:?}", shortened(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a table".to_owned(),
        Value::Null => "nothing".to_owned(),
        plain => plain.to_string(),
    }
}

/// Converts a standard message of serde to our wording: the value comes first, and a misspelt word has a suggestion.
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

/// Returns the word that serde does not recognise, and those that it expects.
fn unknown<'a>(message: &'a str, phrase: &str) -> Option<(&'a str, Vec<&'a str>)> {
    let (word, expected) = message.strip_prefix(phrase)?.split_once(", expected ")?;
    Some((word.trim_matches('`'), expected.split('`').skip(1).step_by(2).collect()))
}

/// Simplifies serde's description of a value: "integer `10`" becomes 10, "string \"x\"" becomes "x", and a map a table.
fn plain(description: &str) -> String {
    match description {
        "map" => return "a table".to_owned(),
        "sequence" => return "a list".to_owned(),
        _ => {}
    }
    match description.split_once(' ') {
        Some(("integer" | "boolean" | "float" | "string", value)) => value.trim_matches('`').to_owned(),
        Some(("floating", value)) => value.trim_start_matches("point ").trim_matches('`').to_owned(),
        _ => description.to_owned(),
    }
}

/// Returns a type that serde expects in the terms of a scenario.
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
