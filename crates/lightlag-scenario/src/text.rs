//! From text to a tree of plain values: TOML, JSON, and the changes that `--set` makes.

use super::error::{Errors, Path, shortened};
use super::reader::shown;
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value, json};
use std::fmt;

/// The tree of a TOML text.
pub(super) fn toml_tree(text: &str, errors: &mut Errors) -> Option<Value> {
    match text.parse::<toml::Table>() {
        Ok(table) => Some(plain(toml::Value::Table(table), &Path::Root, errors)),
        Err(error) => {
            let start = error.span().map_or(0, |span| span.start);
            errors.push(line_and_column(text, start), format!("not TOML: {}", one_line(error.message())));
            None
        }
    }
}

/// The tree of a JSON text.
pub(super) fn json_tree(text: &str, errors: &mut Errors) -> Option<Value> {
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

/// A value of JSON none of whose tables names a key twice.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Unique;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value of JSON")
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
            fn visit_f64<E>(self, value: f64) -> Result<Unique, E> {
                Ok(Unique(value.into()))
            }
            fn visit_str<E>(self, value: &str) -> Result<Unique, E> {
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
                    if entries.contains_key(&key) {
                        let message = format_args!("the key {:?} is there twice; keep one", shortened(&key));
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

/// TOML's dates and its numbers that are none have no place in a scenario.
fn plain(value: toml::Value, at: &Path, errors: &mut Errors) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::Number(number.into()),
        toml::Value::Boolean(yes) => Value::Bool(yes),
        toml::Value::Float(number) => Number::from_f64(number).map_or_else(
            || {
                errors.push(at, format!("{number} is not a finite number; write one such as 1e-4"));
                Value::Null
            },
            Value::Number,
        ),
        toml::Value::Datetime(date) => {
            errors.push(
                at,
                format!("{date} is a date, which a scenario has no use for; times are texts such as \"300 ms\""),
            );
            Value::Null
        }
        toml::Value::Array(items) => {
            let items = items.into_iter().enumerate();
            Value::Array(items.map(|(index, item)| plain(item, &Path::Index(at, index), errors)).collect())
        }
        toml::Value::Table(table) => {
            let mut entries = Map::new();
            for (key, value) in table {
                let value = plain(value, &Path::Key(at, &key), errors);
                entries.insert(key, value);
            }
            Value::Object(entries)
        }
    }
}

/// Replaces the value at a dotted path such as `flows.0.tcp.mss`; tables on the way are made where they are missing.
pub(super) fn set(tree: &mut Value, (key, text): &(String, String), errors: &mut Errors) {
    let value = match text.parse::<toml::Value>() {
        Ok(value) => {
            let before = errors.len();
            let value = plain(value, &Path::Key(&Path::Root, key), errors);
            if errors.len() > before {
                return;
            }
            value
        }
        // What is not a TOML value is a text without its quotes: --set duration="20 s".
        Err(_) => Value::String(text.clone()),
    };
    let dotted = key.replace('[', ".").replace(']', "");
    let mut steps: Vec<&str> = dotted.split('.').map(str::trim).collect();
    if steps.iter().any(|step| step.is_empty()) {
        errors.push(shortened(key), "is not a path of keys; write one such as flows.0.tcp.mss");
        return;
    }
    // The shorthand goes where the value lives, so that it replaces what is there.
    match steps.as_slice() {
        ["flows", _, "congestion", ..] | ["topology", "flow", "congestion", ..] => steps.insert(2, "tcp"),
        ["topology", "terrestrial", "flow", "congestion", ..] => steps.insert(3, "tcp"),
        _ => {}
    }
    match place(tree, &steps) {
        Ok(place) => *place = value,
        Err(reason) => errors.push(shortened(key), reason),
    }
}

/// The value at a path, made if it is missing.
fn place<'a>(tree: &'a mut Value, steps: &[&str]) -> Result<&'a mut Value, String> {
    let mut at = tree;
    for (depth, step) in steps.iter().enumerate() {
        let walked = || steps[..depth].join(".");
        let parent = depth.checked_sub(1).map_or("", |parent| steps[parent]);
        if matches!(*step, "forward" | "backward")
            && matches!(parent, "rate" | "delay" | "queue" | "loss" | "reorder" | "duplicate" | "fade" | "on_demand")
        {
            split_directions(at);
        } else if at.is_string() && is_queue_of_link(&steps[..depth]) {
            // A queue that was only a limit gets a discipline.
            *at = json!({ "limit": *at });
        }
        at = match at {
            Value::Object(entries) => entries.entry((*step).to_owned()).or_insert(Value::Null),
            Value::Array(items) => {
                let count = items.len();
                let index = step.parse::<usize>().ok();
                index.and_then(|index| items.get_mut(index)).ok_or_else(|| match count {
                    0 => format!("{step:?} is not there: {} is empty", walked()),
                    _ => format!("{step:?} is not an entry of {}, which has 0 to {}", walked(), count - 1),
                })?
            }
            absent @ Value::Null if !step.bytes().all(|byte| byte.is_ascii_digit()) => {
                *absent = Value::Object(Map::new());
                let Value::Object(entries) = absent else { unreachable!("it was made a table above") };
                entries.entry((*step).to_owned()).or_insert(Value::Null)
            }
            Value::Null => return Err(format!("there is no {}, so it has no entry {step}", walked())),
            other => {
                return Err(format!("{} is {}, which has no key {step:?}; end the path there", walked(), shown(other)));
            }
        };
    }
    Ok(at)
}

/// Whether a path leads to the queue of a link, or to that of one of its directions.
fn is_queue_of_link(path: &[&str]) -> bool {
    let path = match path {
        [link @ .., "forward" | "backward"] => link,
        link => link,
    };
    path.last() == Some(&"queue") && path.first() != Some(&"record")
}

/// Turns one value for both directions of a link into one each.
fn split_directions(at: &mut Value) {
    let is_split = at.as_object().is_some_and(|sides| sides.contains_key("forward") || sides.contains_key("backward"));
    if !is_split && !at.is_null() {
        *at = json!({ "forward": *at, "backward": *at });
    }
}

/// Moves `congestion` of flows into their `tcp` table, unless both say something.
pub(super) fn expand_shorthands(tree: &mut Value) {
    let move_in = |flow: &mut Value| {
        let Value::Object(entries) = flow else { return };
        let tcp = entries.get("tcp");
        let free = tcp.is_none_or(|tcp| tcp.as_object().is_some_and(|tcp| !tcp.contains_key("congestion")));
        if free && let Some(choice) = entries.remove("congestion") {
            let tcp = entries.entry("tcp").or_insert_with(|| Value::Object(Map::new()));
            tcp["congestion"] = choice;
        }
    };
    if let Some(Value::Array(flows)) = tree.get_mut("flows") {
        flows.iter_mut().for_each(move_in);
    }
    for place in ["/topology/flow", "/topology/sensor", "/topology/terrestrial/flow"] {
        if let Some(flow) = tree.pointer_mut(place) {
            move_in(flow);
        }
    }
}
