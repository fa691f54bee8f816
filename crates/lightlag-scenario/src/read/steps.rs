//! Splits dotted paths into steps, and resolves entries of lists by their names.

use super::{nearest, shortened};
use serde_json::Value;

/// Keys of a scenario that are lists of tables.
const LISTS: [&str; 7] = ["links", "flows", "nodes", "media", "stations", "proxies", "tunnels"];

/// Returns the steps of a path such as `flows.0.tcp.mss` or `links[0].loss`. A step in quotes or in brackets may
/// contain dots.
pub(crate) fn steps(key: &str) -> Option<Vec<String>> {
    let mut steps: Vec<String> = Vec::new();
    let mut rest = key.trim();
    loop {
        let quote = rest.chars().next().filter(|first| matches!(first, '"' | '\''));
        let (step, after) = match quote {
            Some(quote) => rest[1..].split_once(quote)?,
            None => rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len())),
        };
        steps.push(step.trim().to_owned());
        rest = after.trim_start();
        while let Some(inside) = rest.strip_prefix('[') {
            let (step, after) = inside.split_once(']')?;
            steps.push(step.trim().trim_matches(['"', '\'']).to_owned());
            rest = after.trim_start();
        }
        match rest.strip_prefix('.') {
            Some(next) => rest = next.trim_start(),
            None if rest.is_empty() => break,
            None => return None,
        }
    }
    steps.iter().all(|step| !step.is_empty()).then_some(steps)
}

/// Returns the steps with indices instead of names: `links.a->b.loss` becomes `links.0.loss.forward`, and
/// `links.a-b.loss`, which applies to both directions, becomes `links.0.loss`. `directed` are the keys that may have a
/// value for each direction.
pub(crate) fn resolved(tree: &Value, given: Vec<String>, directed: &[&str]) -> Result<Vec<String>, String> {
    let mut node = Some(tree);
    let mut path: Vec<String> = Vec::with_capacity(given.len() + 1);
    let mut side = None;
    for (depth, step) in given.iter().enumerate() {
        let is_name = step.parse::<usize>().is_err();
        match node {
            Some(Value::Array(items)) if is_name => {
                let entry = entry(items, step, &path.join("."))?;
                side = entry.side;
                path.push(entry.index.to_string());
                node = items.get(entry.index);
                continue;
            }
            None | Some(Value::Null) if depth == 1 && is_name && LISTS.contains(&given[0].as_str()) => {
                return Err(absent(tree, &given[0], step));
            }
            _ => {}
        }
        path.push(step.clone());
        node = node.and_then(|value| value.get(step)).or_else(|| node?.get(step.parse::<usize>().ok()?));
        if let Some(direction) = side.take().filter(|_| directed.contains(&step.as_str())) {
            let is_given = given.get(depth + 1).is_some_and(|next| matches!(next.as_str(), "forward" | "backward"));
            if !is_given {
                path.push(direction.to_owned());
                node = node.and_then(|value| value.get(direction).or(Some(value)));
            }
        }
    }
    Ok(path)
}

/// Returns the message for a name in a list that is missing in the scenario.
fn absent(tree: &Value, list: &str, name: &str) -> String {
    let name = shortened(name);
    match tree.get("topology").and_then(|topology| topology.get("kind")).and_then(Value::as_str) {
        Some(kind) if !matches!(list, "proxies" | "tunnels") => {
            format!(
                "there is no {list}, so none is named {name:?}: the topology {kind:?} generates them; change the keys \
                 of topology"
            )
        }
        _ => format!("there is no {list}, so none is named {name:?}; write the complete list, as {list} = [{{ … }}]"),
    }
}

/// Index of an entry in a list, and the link direction that its name refers to, if any.
struct ListEntry {
    index: usize,
    side: Option<&'static str>,
}

/// Returns the entry with this name. A link may also be given by the nodes that it connects, `a-b`, or as one of its
/// directions, `a->b`.
fn entry(items: &[Value], name: &str, list: &str) -> Result<ListEntry, String> {
    let named: Vec<(String, ListEntry)> =
        items.iter().enumerate().flat_map(|(index, item)| names(items, index, item)).collect();
    let mut matching = named.iter().filter(|(own, _)| own == name).map(|(_, entry)| entry);
    match (matching.next(), matching.next()) {
        (Some(one), None) => return Ok(ListEntry { ..*one }),
        (Some(one), Some(other)) => {
            let (one, other) = (one.index, other.index);
            return Err(format!("{name:?} is the name of {list}.{one} and of {list}.{other}; write the index"));
        }
        (None, _) => {}
    }
    let shown = shortened(name);
    if items.is_empty() {
        return Err(format!("{shown:?} does not exist: {list} is empty"));
    }
    let mut message = format!("{shown:?} is not an entry of {list}, which has 0 to {}", items.len() - 1);
    let candidates: Vec<&str> = named.iter().map(|(own, _)| own.as_str()).collect();
    if let Some(near) = nearest(name, &candidates) {
        message.push_str(&format!("; did you mean {near:?}?"));
    } else if !candidates.is_empty() {
        let few = &candidates[..candidates.len().min(8)];
        let more = if candidates.len() > few.len() { ", …" } else { "" };
        message.push_str(&format!(", with the names {}{more}", few.join(", ")));
    }
    Err(message)
}

/// Returns all names of an entry.
fn names(items: &[Value], index: usize, item: &Value) -> Vec<(String, ListEntry)> {
    let whole = |name: String| (name, ListEntry { index, side: None });
    let text = |key| item.get(key).and_then(Value::as_str);
    if let Some(name) = text("name").or_else(|| text("node")) {
        return vec![whole(name.to_owned())];
    }
    if let (Some(from), Some(to)) = (text("from"), text("to")) {
        // Flows without a name are numbered from the second between the same nodes on, as in results.
        let before = items[..index].iter().filter(|other| {
            other.get("name").is_none() && other.get("from") == item.get("from") && other.get("to") == item.get("to")
        });
        return match before.count() {
            0 => vec![whole(format!("{from}->{to}"))],
            more => vec![whole(format!("{from}->{to} #{}", more + 1))],
        };
    }
    let ends: Option<&[Value]> = item.get("between").and_then(Value::as_array).map(Vec::as_slice);
    let Some([Value::String(a), Value::String(b)]) = ends else { return Vec::new() };
    vec![
        (format!("{a}->{b}"), ListEntry { index, side: Some("forward") }),
        (format!("{b}->{a}"), ListEntry { index, side: Some("backward") }),
        whole(format!("{a}-{b}")),
        whole(format!("{b}-{a}")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn quotes_and_brackets_hold_a_step_together() {
        let joined = |key: &str| steps(key).map(|steps| steps.join("|"));
        for (key, expected) in [
            ("flows.0.tcp.mss", "flows|0|tcp|mss"),
            ("links[1].loss", "links|1|loss"),
            ("a[0][1]", "a|0|1"),
            (" links . 0 . loss ", "links|0|loss"),
            ("links.\"10.0.0.1->b\".loss", "links|10.0.0.1->b|loss"),
            ("links[10.0.0.1->b].loss", "links|10.0.0.1->b|loss"),
        ] {
            assert_eq!(joined(key).as_deref(), Some(expected), "{key}");
        }
        for key in ["", ".", "a.", "a..b", "a[0", "a[0]b", "a[].b", "\"a"] {
            assert_eq!(joined(key), None, "{key}");
        }
    }

    fn scenario() -> Value {
        json!({
            "links": [{ "between": ["a", "b"], "loss": 0.1 }, { "between": ["b", "c"] }, { "between": ["c", "b"] }],
            "flows": [{ "from": "a", "to": "c" }, { "from": "a", "to": "c" }, { "name": "web", "from": "c", "to": "a" }],
            "proxies": [{ "node": "b" }],
        })
    }

    fn of(key: &str) -> Result<String, String> {
        resolved(&scenario(), steps(key).unwrap(), &["delay", "loss", "queue"]).map(|steps| steps.join("."))
    }

    #[test]
    fn an_entry_has_a_name_and_a_link_two_directions() {
        for (key, expected) in [
            ("links.a->b.loss", "links.0.loss.forward"),
            ("links.b->a.queue.limit", "links.0.queue.backward.limit"),
            ("links.b->a.delay.forward", "links.0.delay.forward"),
            ("links.b-a.loss", "links.0.loss"),
            ("links.a->b.header", "links.0.header"),
            ("links.0.loss", "links.0.loss"),
            ("flows.a->c.transfer", "flows.0.transfer"),
            ("flows.a->c #2.transfer", "flows.1.transfer"),
            ("flows.web.tcp.mss", "flows.2.tcp.mss"),
            ("proxies.b.buffer", "proxies.0.buffer"),
            ("topology.nodes", "topology.nodes"),
        ] {
            assert_eq!(of(key).as_deref(), Ok(expected), "{key}");
        }
    }

    #[test]
    fn an_unknown_or_ambiguous_name_is_rejected() {
        for (key, part) in [
            ("links.b-c.loss", "\"b-c\" is the name of links.1 and of links.2; write the index"),
            ("links.a->bb.loss", "did you mean \"a->b\"?"),
            ("flows.mail.start", "which has 0 to 2, with the names a->c, a->c #2, web"),
            ("nodes.uav1.at", "there is no nodes, so none is named \"uav1\"; write the complete list"),
        ] {
            let error = of(key).unwrap_err();
            assert!(error.contains(part), "{key}: {error}");
        }
    }
}
