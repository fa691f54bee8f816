//! The assumed cause of a loss: a word, or a judge from outside.

use lightlag_control::congestion::response::{Maker, OUTSIDE, Own};
use lightlag_core::own::Origin;
use lightlag_core::params::Plain;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The cause of a loss where nothing has told it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum LossAssumption {
    /// Too much traffic: the congestion control reacts.
    #[default]
    Congestion,
    /// Errors of a link: the segment leaves again, and that is all. Congestion marks still count.
    Corruption,
    /// A loss response from outside decides for each loss. Congestion marks still count.
    Own(Own),
}

const WORDS: [&str; 2] = ["congestion", "corruption"];
/// The keys of a table that name a response: a registered one, the library of one, its Python class.
const NAME: &str = "response";
const SOURCES: [&str; 3] = [NAME, "plugin", "python"];

/// Makes a loss response from outside known by its name, in place of an earlier one with that name.
///
/// # Errors
/// If the name is one of the two assumptions.
pub fn register_response(maker: Arc<dyn Maker>) -> Result<(), String> {
    let name = maker.facts().name;
    if WORDS.contains(&name) {
        return Err(format!("{name:?} is the name of an assumption of lightlag; choose another"));
    }
    OUTSIDE.add(maker);
    Ok(())
}

impl LossAssumption {
    fn named(name: &str) -> Result<Self, String> {
        match name {
            "congestion" => Ok(Self::Congestion),
            "corruption" => Ok(Self::Corruption),
            _ => OUTSIDE
                .named(name)
                .map(Self::Own)
                .ok_or_else(|| unknown(name, &[&WORDS[..], &OUTSIDE.names()].concat())),
        }
    }

    fn from_table(mut table: BTreeMap<String, Plain>) -> Result<Self, String> {
        let mut named = SOURCES.iter().filter_map(|key| Some((*key, table.remove(*key)?)));
        let (first, second) = (named.next(), named.next());
        drop(named);
        let (key, name) = match (first, second) {
            (Some((key, _)), Some((other, _))) => {
                return Err(format!("{key} and {other} both name a loss response; keep one"));
            }
            (Some((key, Plain::Text(name))), None) => (key, name),
            (Some((key, other)), None) => return Err(format!("{key}: {other} is not a name in quotes")),
            (None, _) => return Err("names no loss response, such as { python = \"mine.py:Mine\" }".to_owned()),
        };
        let own = match key {
            NAME => OUTSIDE.named(&name).ok_or_else(|| unknown(&name, &OUTSIDE.names()))?,
            "plugin" => OUTSIDE.in_file(&Origin::Plugin(name))?,
            _ => OUTSIDE.in_file(&Origin::Python(name))?,
        };
        own.with(table).map(Self::Own)
    }
}

/// Serde's phrase for a word that is not in a list.
fn unknown(name: &str, known: &[&str]) -> String {
    if known.is_empty() {
        return format!("{name:?} is not the name of a registered loss response; none is registered");
    }
    let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    format!("unknown variant `{name}`, expected one of {}", known.join(", "))
}

impl<'de> Deserialize<'de> for LossAssumption {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WordOrTable;
        impl<'de> Visitor<'de> for WordOrTable {
            type Value = LossAssumption;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"congestion\", \"corruption\", or a table { python = \"mine.py:Mine\", … }")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<LossAssumption, E> {
                LossAssumption::named(name).map_err(E::custom)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LossAssumption, A::Error> {
                let mut table = BTreeMap::new();
                while let Some((key, value)) = map.next_entry::<String, Plain>()? {
                    if table.insert(key.clone(), value).is_some() {
                        return Err(A::Error::custom(format_args!("the key {key:?} is there twice")));
                    }
                }
                LossAssumption::from_table(table).map_err(A::Error::custom)
            }
        }
        deserializer.deserialize_any(WordOrTable)
    }
}

impl Serialize for LossAssumption {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Congestion => serializer.serialize_str(WORDS[0]),
            Self::Corruption => serializer.serialize_str(WORDS[1]),
            Self::Own(own) => serializer.collect_map(own.entries(NAME)),
        }
    }
}

impl JsonSchema for LossAssumption {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "LossAssumption".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let form = |key: &str, description: &str, example: &str| {
            let properties = json_schema!({
                key: { "type": "string", "description": description, "examples": [example] },
                "code": { "type": "string", "description": "A digest: another code is refused." },
            });
            json_schema!({
                "type": "object",
                "description": "A loss response from outside, with its parameters as further keys.",
                "properties": properties,
                "required": [key],
            })
        };
        json_schema!({
            "description": "The cause of a loss where nothing has told it, or who decides for each loss.",
            "anyOf": [
                { "type": "string", "enum": WORDS },
                { "type": "string", "description": "The name of a registered loss response." },
                form(NAME, "A registered loss response.", "mine"),
                form("plugin", "A library with the C interface of lightlag.", "libmine.so"),
                form("python", "A class in a file of Python, compiled or not.", "mine.py:Mine"),
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<LossAssumption, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn words_stand_for_themselves() {
        for word in [LossAssumption::Congestion, LossAssumption::Corruption] {
            let written = serde_json::to_string(&word).unwrap();
            assert_eq!(read(&written), Ok(word));
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (json, message) in [
            (r#""noise""#, "unknown variant `noise`, expected one of `congestion`, `corruption`"),
            ("3", "invalid type: integer `3`, expected \"congestion\", \"corruption\", or a table"),
            ("{}", "names no loss response, such as { python = \"mine.py:Mine\" }"),
            (r#"{ "python": 3 }"#, "python: 3 is not a name in quotes"),
            (r#"{ "python": "a.py:A", "plugin": "a.so" }"#, "plugin and python both name a loss response; keep one"),
            (r#"{ "response": "mine" }"#, "\"mine\" is not the name of a registered loss response; none is registered"),
        ] {
            let error = read(json).unwrap_err();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
