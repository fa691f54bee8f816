//! The schema of a scenario, and the search for the table that a key belongs to.

use super::Scenario;
use crate::read::Errors;
use lightlag_core::Rate;
use serde_json::Value;
use std::cell::OnceCell;
use std::collections::VecDeque;
use std::sync::OnceLock;

/// Identifier of the schema, by which editors and other schemas refer to it. Nothing is loaded from this address.
const ID: &str = "urn:lightlag:scenario";

/// Returns the JSON Schema of a scenario.
pub(crate) fn schema() -> Value {
    let mut schema = schemars::schema_for!(Scenario).to_value();
    schema["$id"] = ID.into();
    describe_tags(&mut schema);
    schema
}

static KNOWN: OnceLock<Value> = OnceLock::new();

/// Sets the schema, for a program that stores it as a file and excludes the code that generates it.
pub fn know_schema(schema: Value) {
    // A second one is the same.
    let _ = KNOWN.set(schema);
}

/// Returns the schema, which is generated only once. In WebAssembly it is never generated, because the code for it
/// would be a fifth of the module: the page supplies it.
fn known() -> &'static Value {
    KNOWN.get_or_init(if cfg!(target_family = "wasm") { || Value::Null } else { schema })
}

/// Adds a description to each key that has a single value and so distinguishes its table from others, such as `kind =
/// "chain"`.
fn describe_tags(schema: &mut Value) {
    let Value::Object(entries) = schema else {
        schema.as_array_mut().into_iter().flatten().for_each(describe_tags);
        return;
    };
    let about = entries.get("description").and_then(Value::as_str).map(first_sentence).unwrap_or_default();
    for property in entries.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        let (_, Value::Object(property)) = property else { continue };
        if let Some(name) = property.get("const").and_then(Value::as_str)
            && !property.contains_key("description")
        {
            let description =
                if about.is_empty() { format!("Chooses {name}.") } else { format!("Chooses {name}: {about}") };
            property.insert("description".to_owned(), description.into());
        }
    }
    entries.values_mut().for_each(describe_tags);
}

fn first_sentence(text: &str) -> String {
    text.split_once(". ").map_or(text.to_owned(), |(first, _)| format!("{first}."))
}

/// Completes each error about an unknown key with the table that has the key.
pub(crate) fn say_where_keys_belong(tree: &Value, errors: &mut Errors) {
    let tables = OnceCell::new();
    errors.say_where(|key, path| {
        let tables: &Vec<ScenarioTable> = tables.get_or_init(|| all_tables(known()));
        let having: Vec<&ScenarioTable> =
            tables.iter().filter(|table| table.keys.iter().any(|own| own == key)).collect();
        // Tables that the scenario has come first, then those below the key, then those nearest to the root.
        let rank =
            |table: &&&ScenarioTable| (shown(tree, &table.path).is_none(), !is_below(&table.path, path), table.depth());
        let best = having.iter().min_by_key(rank)?;
        let name = |table: &ScenarioTable| last_key(table.path.iter().rev().map(String::as_str)).map(str::to_owned);
        // Another form of the same table has the key: the error names the keys of the form that was chosen.
        if name(best).as_deref() == last_key(path.rsplit(['.', '[']).skip(1)) {
            return None;
        }
        if best.path.is_empty() {
            return Some(("the top of the file, before its first [table]".to_owned(), true));
        }
        if let Some(location) = shown(tree, &best.path) {
            let several = if best.path == ["links", "[]"] { several_links(tree) } else { None };
            return Some((several.unwrap_or(location), true));
        }
        // If the scenario lacks several tables, any may be meant, so none is named.
        let is_clear = is_below(&best.path, path) || having.iter().all(|other| name(other) == name(best));
        is_clear.then(|| (best.path.join(".").replace(".[]", "[]"), false))
    });
}

/// Returns true if the table at `path` is below the table that contains the key at the path `key`, unless that is the
/// root.
fn is_below(path: &[String], key: &str) -> bool {
    let mut steps: Vec<&str> =
        key.split(['.', '[']).map(|step| if step.ends_with(']') { "[]" } else { step }).collect();
    steps.pop();
    !steps.is_empty() && path.len() > steps.len() && path.iter().zip(&steps).all(|(one, other)| one == other)
}

/// Returns the first of these steps that is a key, not an entry of a list.
fn last_key<'a>(mut steps: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    steps.find(|step| !step.ends_with(']'))
}

/// A table of a scenario: the path of keys to it, with `[]` for an entry of a list, and its own keys.
struct ScenarioTable {
    path: Vec<String>,
    keys: Vec<String>,
}

impl ScenarioTable {
    /// Returns the number of keys on the path, by which tables are sorted. For equal numbers, entries of lists (parts
    /// of the network) precede settings.
    fn depth(&self) -> (usize, bool) {
        let keys = self.path.iter().filter(|step| *step != "[]").count();
        (keys, self.path.last().is_none_or(|last| last != "[]"))
    }
}

/// Returns all tables of a scenario with their paths, those near the root first.
fn all_tables(root: &Value) -> Vec<ScenarioTable> {
    let mut tables: Vec<ScenarioTable> = Vec::new();
    let mut waiting = VecDeque::from([(Vec::new(), root, Vec::new())]);
    while let Some((path, schema, inside)) = waiting.pop_front() {
        if let Some(target) = schema.get("$ref").and_then(Value::as_str)
            && !inside.contains(&target)
            && let Some(table) = root.pointer(target.trim_start_matches('#'))
        {
            waiting.push_back((path.clone(), table, [inside.as_slice(), &[target]].concat()));
        }
        for form in ["anyOf", "oneOf", "allOf"] {
            for variant in schema.get(form).and_then(Value::as_array).into_iter().flatten() {
                waiting.push_back((path.clone(), variant, inside.clone()));
            }
        }
        let below = |step: &str| [path.as_slice(), &[step.to_owned()]].concat();
        if let Some(items) = schema.get("items") {
            waiting.push_back((below("[]"), items, inside.clone()));
        }
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            waiting.extend(properties.iter().map(|(key, schema)| (below(key), schema, inside.clone())));
            tables.push(ScenarioTable { path, keys: properties.keys().cloned().collect() });
        }
    }
    tables
}

/// Returns a text that names the links of a scenario that has several, and the slowest of them, whose rate and queue
/// are changed most often.
fn several_links(tree: &Value) -> Option<String> {
    let links = tree.get("links")?.as_array()?;
    let rate = |link: &Value| link.get("rate")?.as_str()?.parse::<Rate>().ok();
    let rates = links.iter().enumerate().filter_map(|(number, link)| Some((rate(link)?, number)));
    let (_, slowest) = rates.min()?;
    let last = links.len() - 1;
    (last > 0).then(|| format!("links[0] to links[{last}]; the slowest is links[{slowest}]"))
}

/// Returns the path in this scenario of the first table at a schema path, as errors show it: `links[0]`. `None` if the
/// scenario has no such table.
fn shown(tree: &Value, path: &[String]) -> Option<String> {
    let (mut node, mut text) = (tree, String::new());
    for step in path {
        if step == "[]" {
            node = node.as_array()?.first()?;
            text.push_str("[0]");
        } else {
            node = node.get(step)?;
            if !text.is_empty() {
                text.push('.');
            }
            text.push_str(step);
        }
    }
    node.is_object().then_some(text)
}
