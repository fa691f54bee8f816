//! Changes to a tree of plain values before it is read: values set with `--set`, shorthands, and paths of files.

use super::steps::{resolved, steps};
use super::text::plain;
use super::{Errors, Path, shortened, shown};
use serde_json::{Map, Value, json};

/// Replaces the value at a dotted path such as `flows.0.tcp.mss`; an empty text removes the key. Creates missing tables
/// on the path. Entries of lists may be given by name: `flows.web.transfer`, `links.a->b.loss`. `directed` are the keys
/// that may have a value for each direction of a link.
pub(crate) fn set(tree: &mut Value, (key, text): &(String, String), directed: &[&str], errors: &mut Errors) {
    let value = match text.parse::<toml::Value>() {
        Ok(value) => {
            let before = errors.len();
            let value = plain(value, &Path::Key(&Path::Root, key), errors);
            if errors.len() > before {
                return;
            }
            value
        }
        // Any text that is not a TOML value is a string without its quotes: --set duration="20 s".
        Err(_) => Value::String(text.clone()),
    };
    let Some(steps) = steps(key) else {
        errors.push(shortened(key), "is not a path of keys; write one such as flows.0.tcp.mss");
        return;
    };
    let mut steps = match resolved(tree, steps, directed) {
        Ok(steps) => steps,
        Err(reason) => {
            errors.push(shortened(key), reason);
            return;
        }
    };
    // A shorthand is resolved to the path of its value, so that it replaces the present one.
    let words: Vec<&str> = steps.iter().map(String::as_str).collect();
    let shorthand = match words.as_slice() {
        ["flows", _, "congestion", ..] | ["topology", "flow", "congestion", ..] => Some(2),
        ["topology", "terrestrial", "flow", "congestion", ..] => Some(3),
        _ => None,
    };
    if let Some(at) = shorthand {
        steps.insert(at, "tcp".to_owned());
    }
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    let done = if text.trim().is_empty() {
        remove(tree, &steps, directed)
    } else {
        place(tree, &steps, directed).map(|place| *place = value)
    };
    if let Err(reason) = done {
        errors.push(shortened(key), reason);
    }
}

/// Removes a key or an entry. A key that does not exist is set to null, which counts as absent: the reader can then
/// reject a key that is unknown.
fn remove(tree: &mut Value, steps: &[&str], directed: &[&str]) -> Result<(), String> {
    let mut node = tree;
    for (depth, step) in steps.iter().enumerate() {
        prepare(node, steps, depth, directed);
        let is_last = depth + 1 == steps.len();
        node = match node {
            Value::Object(entries) if is_last || !entries.contains_key(*step) => {
                if entries.remove(*step).is_none() {
                    entries.insert((*step).to_owned(), Value::Null);
                }
                return Ok(());
            }
            Value::Object(entries) => &mut entries[*step],
            Value::Array(items) => {
                let index = index(items, step, || steps[..depth].join("."))?;
                if is_last {
                    items.remove(index);
                    return Ok(());
                }
                &mut items[index]
            }
            Value::Null => return Ok(()),
            other => return Err(without_keys(other, step, &steps[..depth])),
        };
    }
    Ok(())
}

/// Returns the value at a path, which is created if it is missing.
fn place<'a>(tree: &'a mut Value, steps: &[&str], directed: &[&str]) -> Result<&'a mut Value, String> {
    let mut node = tree;
    for (depth, step) in steps.iter().enumerate() {
        let walked = || steps[..depth].join(".");
        prepare(node, steps, depth, directed);
        node = match node {
            Value::Object(entries) => entries.entry((*step).to_owned()).or_insert(Value::Null),
            Value::Array(items) => {
                let index = index(items, step, walked)?;
                &mut items[index]
            }
            absent @ Value::Null if !step.bytes().all(|byte| byte.is_ascii_digit()) => {
                *absent = Value::Object(Map::new());
                let Value::Object(entries) = absent else { unreachable!("it was made a table above") };
                entries.entry((*step).to_owned()).or_insert(Value::Null)
            }
            Value::Null => return Err(format!("there is no {}, so it has no entry {step}", walked())),
            other => return Err(without_keys(other, step, &steps[..depth])),
        };
    }
    Ok(node)
}

/// Converts a value so that it can have the next step of the path: a single value for both directions becomes one for
/// each, and a queue that is only a limit becomes a table, so that a discipline can be added.
fn prepare(value: &mut Value, steps: &[&str], depth: usize, directed: &[&str]) {
    let parent = depth.checked_sub(1).map_or("", |parent| steps[parent]);
    if matches!(steps[depth], "forward" | "backward") && directed.contains(&parent) {
        split_directions(value);
    } else if value.is_string() && is_queue_of_link(&steps[..depth]) {
        *value = json!({ "limit": *value });
    }
}

/// Returns the index of an entry of a list.
fn index(items: &[Value], step: &str, walked: impl Fn() -> String) -> Result<usize, String> {
    let index = step.parse::<usize>().ok().filter(|index| *index < items.len());
    index.ok_or_else(|| match items.len() {
        0 => format!("{step:?} does not exist: {} is empty", walked()),
        count => format!("{step:?} is not an entry of {}, which has 0 to {}", walked(), count - 1),
    })
}

fn without_keys(value: &Value, step: &str, walked: &[&str]) -> String {
    format!("{} is {}, which has no key {step:?}; end the path there", walked.join("."), shown(value))
}

/// Returns true if a path leads to the queue of a link or of one of its directions.
fn is_queue_of_link(path: &[&str]) -> bool {
    let path = match path {
        [link @ .., "forward" | "backward"] => link,
        link => link,
    };
    path.last() == Some(&"queue") && path.first() != Some(&"record")
}

/// Converts one value for both directions of a link, or for the direction that it names, to a value for each direction.
fn split_directions(value: &mut Value) {
    let is_split =
        value.as_object().is_some_and(|sides| sides.contains_key("forward") || sides.contains_key("backward"));
    if is_split || value.is_null() {
        return;
    }
    let only = value.as_object_mut().and_then(|table| table.remove("direction"));
    *value = match only {
        Some(Value::String(side)) => json!({ side: *value }),
        _ => json!({ "forward": *value, "backward": *value }),
    };
}

/// Returns true if a change applies to flows, which may be given by name.
pub(crate) fn is_of_flows(key: &str) -> bool {
    matches!(steps(key).as_deref(), Some([first, ..]) if first == "flows" || first == "topology")
}

/// Moves `congestion` of flows into their `tcp` table, unless both are given, so that changes have a single path for
/// it.
pub(crate) fn expand_shorthands(tree: &mut Value) {
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

/// Keys of a scenario whose values contain links.
const LISTS: [&str; 3] = ["links", "nodes", "topology"];

/// Keys of a topology that contain links, in addition to its own link.
const PARTS: [&str; 6] = ["access", "uplink", "downlink", "isl", "bottleneck", "terrestrial"];

/// Resolves the paths of traces, of pages and of algorithm files relative to `folder`, the directory of the scenario.
pub(crate) fn resolve(tree: &mut Value, folder: &str) {
    if folder.is_empty() {
        return;
    }
    resolve_algorithms(tree, folder, false);
    if let Some(Value::String(file)) = tree.get_mut("constellation").and_then(|sky| sky.get_mut("file")) {
        *file = std::path::Path::new(folder).join(&*file).to_string_lossy().into_owned();
    }
    for key in LISTS {
        match tree.get_mut(key) {
            Some(Value::Array(links)) => links.iter_mut().for_each(|link| resolve_link(link, folder)),
            Some(link) => {
                resolve_link(link, folder);
                for part in PARTS {
                    if let Some(line) = link.get_mut(part) {
                        resolve_link(line, folder);
                    }
                }
            }
            None => {}
        }
    }
}

/// Keys whose tables may refer to an algorithm in a file.
const OF_ALGORITHMS: [&str; 4] = ["congestion", "queue", "traffic", "routing"];

/// Resolves the paths of `plugin` and `python` in the table at such a key, with or without a direction in between, and
/// the file of a page.
fn resolve_algorithms(node: &mut Value, folder: &str, is_algorithm: bool) {
    match node {
        Value::Object(entries) => {
            let is_page = is_algorithm && entries.get("kind").and_then(Value::as_str) == Some("page");
            for (key, value) in entries {
                match value {
                    Value::String(file)
                        if is_algorithm && (key == "plugin" || key == "python" || is_page && key == "file") =>
                    {
                        *file = std::path::Path::new(folder).join(&*file).to_string_lossy().into_owned();
                    }
                    _ => {
                        let is_side = is_algorithm && matches!(key.as_str(), "forward" | "backward");
                        resolve_algorithms(value, folder, is_side || OF_ALGORITHMS.contains(&key.as_str()));
                    }
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| resolve_algorithms(item, folder, is_algorithm)),
        _ => {}
    }
}

fn resolve_link(link: &mut Value, folder: &str) {
    fn file(trace: &mut Value, folder: &str) {
        match trace {
            Value::String(path) => *path = std::path::Path::new(folder).join(&*path).to_string_lossy().into_owned(),
            Value::Object(table) => {
                for key in ["file", "forward", "backward"] {
                    if let Some(inner) = table.get_mut(key) {
                        file(inner, folder);
                    }
                }
            }
            _ => {}
        }
    }
    if let Some(trace) = link.get_mut("trace") {
        file(trace, folder);
    }
    if let Some(Value::Object(mobility)) = link.get_mut("mobility")
        && let Some(path) = mobility.get_mut("file")
    {
        file(path, folder);
    }
}
