//! Algorithms from outside, as a table names them: by a file, or by the name under which the program has added one.

use super::{Errors, Path, Table, in_our_words};
use lightlag_core::own::{Origin, Outside, Own, Registry};
use lightlag_core::params::Plain as Given;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The keys of a table that name a file.
const FILES: [&str; 2] = ["plugin", "python"];

/// Reads algorithms from outside of one kind.
pub(crate) struct FromOutside<M: ?Sized + 'static> {
    pub(crate) registry: &'static Registry<M>,
    /// The key of a name in a table.
    pub(crate) word: &'static str,
    /// The kind of algorithm, after an article: "a discipline".
    pub(crate) what: &'static str,
    /// Keys of the table that are no parameters.
    pub(crate) beside: &'static [&'static str],
}

impl<M: Outside + ?Sized> FromOutside<M> {
    /// The algorithm from outside of a table, if the table names one; None after an error.
    pub(crate) fn read(&self, table: &Value, at: &Path, errors: &mut Errors) -> Option<Option<Own<M>>> {
        let Self { registry, word, what, .. } = self;
        let mut keys = [word].into_iter().chain(&FILES).copied().filter(|key| table.get(key).is_some());
        let (first, second) = (keys.next(), keys.next());
        if let (Some(first), Some(second)) = (first, second) {
            errors.push(at, format!("{first} and {second} both name {what}; keep one"));
            return None;
        }
        let Some(key) = first else { return Some(None) };
        let found = if key == *word {
            let Some(own) = table[key].as_str().and_then(|name| registry.named(name)) else { return Some(None) };
            Ok(own)
        } else {
            let file: String = Table::open(table, at, "a table", errors)?.required(key, "name a file", errors)?;
            registry.in_file(&if key == "plugin" { Origin::Plugin(file) } else { Origin::Python(file) })
        };
        let values = table.as_object().into_iter().flatten().filter(|(name, value)| {
            let is_parameter = *name != key && !self.beside.contains(&name.as_str());
            is_parameter && !value.is_null()
        });
        let value = |value| Given::deserialize(value).expect("it takes any value");
        let values = values.map(|(name, given)| (name.clone(), value(given))).collect();
        match found.map(|own| own.with(values)) {
            Ok(Ok(own)) => return Some(Some(own)),
            Ok(Err(message)) => errors.push(at, in_our_words(&message)),
            Err(message) => errors.push(Path::Key(at, key), message),
        }
        None
    }

    /// The table that names an algorithm.
    pub(crate) fn written(&self, own: &Own<M>) -> Map<String, Value> {
        own.entries(self.word).into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect()
    }

    /// The forms of such tables in the schema. `others` are the properties of the keys beside.
    pub(crate) fn forms(&self, others: &Value) -> [Value; 2] {
        let form = |(key, description, example): (&str, &str, &str)| {
            let mut properties = json!({
                key: { "type": "string", "description": description, "examples": [example] },
                "code": { "type": "string", "description": "A digest: another code is refused." },
            });
            for (key, schema) in others.as_object().into_iter().flatten() {
                properties[key] = schema.clone();
            }
            json!({
                "type": "object",
                "description": format!("{} from outside, with its parameters as further keys.", sentence(self.what)),
                "properties": properties,
                "required": [key],
            })
        };
        [
            ("plugin", "A library with the C interface of lightlag.", "libmine.so"),
            ("python", "A class in a file of Python, compiled or not.", "mine.py:Mine"),
        ]
        .map(form)
    }
}

/// Words as the start of a sentence.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
