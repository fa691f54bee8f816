//! Reads custom algorithms from a table that names a file, or an algorithm that the program has registered.

use super::{Errors, Path, TableReader, in_our_words};
use lightlag_core::custom::{Custom, Factory, Origin, Registry};
use lightlag_core::params::Plain as Given;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Keys of a table that refer to a file.
const FILES: [&str; 2] = ["plugin", "python"];

/// Reader of custom algorithms of one kind.
pub(crate) struct FromOutside<M: ?Sized + 'static> {
    pub(crate) registry: &'static Registry<M>,
    /// Key that holds the name of a registered algorithm.
    pub(crate) word: &'static str,
    /// Kind of algorithm, with an article: "a discipline".
    pub(crate) what: &'static str,
    /// Other keys of the table that are not parameters of the algorithm.
    pub(crate) beside: &'static [&'static str],
}

impl<M: Factory + ?Sized> FromOutside<M> {
    /// Returns the custom algorithm that the table refers to; `Some(None)` if there is none, and `None` after an error.
    pub(crate) fn read(&self, table: &Value, path: &Path, errors: &mut Errors) -> Option<Option<Custom<M>>> {
        let Self { registry, word, what, .. } = self;
        let mut keys = [word].into_iter().chain(&FILES).copied().filter(|key| table.get(key).is_some());
        let (first, second) = (keys.next(), keys.next());
        if let (Some(first), Some(second)) = (first, second) {
            errors.push(path, format!("{first} and {second} both name {what}; remove one"));
            return None;
        }
        let Some(key) = first else { return Some(None) };
        let algorithm = if key == *word {
            let Some(custom) = table[key].as_str().and_then(|name| registry.named(name)) else { return Some(None) };
            Ok(custom)
        } else {
            let file: String =
                TableReader::open(table, path, "a table", errors)?.required(key, "name a file", errors)?;
            registry.in_file(&if key == "plugin" { Origin::Plugin(file) } else { Origin::Python(file) })
        };
        let values = table.as_object().into_iter().flatten().filter(|(name, value)| {
            let is_parameter = *name != key && !self.beside.contains(&name.as_str());
            is_parameter && !value.is_null()
        });
        let value = |value| Given::deserialize(value).expect("every value is accepted");
        let values = values.map(|(name, given)| (name.clone(), value(given))).collect();
        match algorithm.map(|custom| custom.with(values)) {
            Ok(Ok(custom)) => return Some(Some(custom)),
            Ok(Err(message)) => errors.push(path, in_our_words(&message)),
            Err(message) => errors.push(Path::Key(path, key), message),
        }
        None
    }

    /// Returns a table that refers to the algorithm.
    pub(crate) fn written(&self, custom: &Custom<M>) -> Map<String, Value> {
        custom.entries(self.word).into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect()
    }

    /// Returns the schemas of such tables. `others` are the schemas of the other keys.
    pub(crate) fn forms(&self, others: &Value) -> [Value; 2] {
        let form = |(key, description, example): (&str, &str, &str)| {
            let mut properties = json!({
                key: { "type": "string", "description": description, "examples": [example] },
                "code": { "type": "string", "description": "A digest. A file with another digest is rejected." },
            });
            for (key, schema) in others.as_object().into_iter().flatten() {
                properties[key] = schema.clone();
            }
            json!({
                "type": "object",
                "description": format!("{} from a file, with its parameters as further keys.", sentence(self.what)),
                "properties": properties,
                "required": [key],
            })
        };
        [
            ("plugin", "A library with the C interface of lightlag.", "libmine.so"),
            ("python", "A class in a Python file, compiled or not.", "mine.py:Mine"),
        ]
        .map(form)
    }
}

/// Returns the text with a capital letter at its start.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
