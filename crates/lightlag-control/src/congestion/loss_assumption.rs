//! The assumed cause of a loss: a keyword, or a custom loss response.

use super::response::{CUSTOM, CustomResponse, ResponseFactory};
use lightlag_core::custom::Origin;
use lightlag_core::forms;
use lightlag_core::params::PlainTable;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::{Serialize, Serializer};
use std::sync::Arc;

/// Assumed cause of a loss without evidence of its cause.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum LossAssumption {
    /// Congestion: the congestion control reacts.
    #[default]
    Congestion,
    /// Link errors: the segment is retransmitted, and the window is unchanged. Congestion marks still reduce it.
    Corruption,
    /// A custom loss response decides for each loss. Congestion marks still reduce the window.
    Custom(CustomResponse),
}

const WORDS: [&str; 2] = ["congestion", "corruption"];
/// Key of a table that names a registered response. [`SOURCES`] lists all keys that select a response: by its name, by
/// its library (`plugin`) or by its Python class (`python`).
const NAME: &str = "response";
const SOURCES: [&str; 3] = [NAME, "plugin", "python"];

/// Registers a custom loss response, replacing an earlier one of the same name.
///
/// # Errors
/// The name is `congestion` or `corruption`, which are built in.
pub fn register_response(maker: Arc<dyn ResponseFactory>) -> Result<(), String> {
    let name = maker.facts().name;
    if WORDS.contains(&name) {
        return Err(format!("{name:?} is the name of a built-in assumption; choose another"));
    }
    CUSTOM.add(maker);
    Ok(())
}

impl LossAssumption {
    fn named(name: &str) -> Result<Self, String> {
        match name {
            "congestion" => Ok(Self::Congestion),
            "corruption" => Ok(Self::Corruption),
            _ => CUSTOM
                .named(name)
                .map(Self::Custom)
                .ok_or_else(|| unknown(name, &[&WORDS[..], &CUSTOM.names()].concat())),
        }
    }

    fn from_table(mut table: PlainTable) -> Result<Self, String> {
        let Some((key, name)) = table.take_name(&SOURCES, "a loss response")? else {
            return Err("names no loss response, such as { python = \"mine.py:Mine\" }".to_owned());
        };
        let custom = match key {
            NAME => CUSTOM.named(&name).ok_or_else(|| unknown(&name, &CUSTOM.names()))?,
            "plugin" => CUSTOM.in_file(&Origin::Plugin(name))?,
            _ => CUSTOM.in_file(&Origin::Python(name))?,
        };
        custom.with(table.0).map(Self::Custom)
    }
}

/// Returns Serde's message for a keyword that is not in a list.
fn unknown(name: &str, known: &[&str]) -> String {
    if known.is_empty() {
        return format!("{name:?} is not the name of a registered loss response; none is registered");
    }
    let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    format!("unknown variant `{name}`, expected one of {}", known.join(", "))
}

forms! {
    LossAssumption, "\"congestion\", \"corruption\", or a table { python = \"mine.py:Mine\", … }";
    text LossAssumption::named;
    read PlainTable: LossAssumption::from_table;
}

impl Serialize for LossAssumption {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Congestion => serializer.serialize_str(WORDS[0]),
            Self::Corruption => serializer.serialize_str(WORDS[1]),
            Self::Custom(custom) => serializer.collect_map(custom.entries(NAME)),
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
                "code": { "type": "string", "description": "Digest of the code; other code is rejected." },
            });
            json_schema!({
                "type": "object",
                "description": "A custom loss response, with its parameters as further keys.",
                "properties": properties,
                "required": [key],
            })
        };
        json_schema!({
            "description": "Assumed cause of a loss without other evidence, or a custom loss response.",
            "anyOf": [
                { "type": "string", "enum": WORDS },
                { "type": "string", "description": "Name of a registered loss response." },
                form(NAME, "A registered loss response.", "mine"),
                form("plugin", "A library with lightlag's C interface.", "libmine.so"),
                form("python", "A class in a Python file, compiled or not.", "mine.py:Mine"),
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
    fn keywords_map_to_themselves() {
        for word in [LossAssumption::Congestion, LossAssumption::Corruption] {
            let written = serde_json::to_string(&word).unwrap();
            assert_eq!(read(&written), Ok(word));
        }
    }

    #[test]
    fn errors_are_named() {
        for (json, message) in [
            (r#""noise""#, "unknown variant `noise`, expected one of `congestion`, `corruption`"),
            ("3", "invalid type: integer `3`, expected \"congestion\", \"corruption\", or a table"),
            ("{}", "names no loss response, such as { python = \"mine.py:Mine\" }"),
            (r#"{ "python": 3 }"#, "python: 3 is not a name in quotes"),
            (r#"{ "python": "a.py:A", "plugin": "a.so" }"#, "plugin and python both name a loss response; remove one"),
            (r#"{ "response": "mine" }"#, "\"mine\" is not the name of a registered loss response; none is registered"),
        ] {
            let error = read(json).unwrap_err();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
