//! Names of nodes and of other parts of a network.

use super::{Errors, FromValue, Path, shown};
use serde_json::Value;

impl FromValue for [String; 2] {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        match value.as_array().map(Vec::as_slice) {
            Some([a, b]) => {
                let names = [a, b].map(|name| NodeName::read(name, path, errors));
                let [Some(a), Some(b)] = names else { return None };
                if a.0 == b.0 {
                    errors.push(path, format!("{:?} twice: a link joins two different nodes", a.0));
                    return None;
                }
                Some([a.0, b.0])
            }
            Some(other) => {
                errors.push(path, format!("{} names where there must be two, such as [\"a\", \"b\"]", other.len()));
                None
            }
            None => {
                errors.push(path, format!("{} is not a list of two nodes, such as [\"a\", \"b\"]", shown(value)));
                None
            }
        }
    }
}

/// The name of a node.
pub(crate) struct NodeName(pub(crate) String);

impl FromValue for NodeName {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let name = String::read(value, path, errors)?;
        match refusal_of_name(&name) {
            Some(reason) => {
                errors.push(path, format!("{} is not a valid node name: {reason}", shown(value)));
                None
            }
            None => Some(Self(name)),
        }
    }
}

/// Returns the reason why a text cannot be the name of a part of a network; `None` if it can.
pub(crate) fn refusal_of_name(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("it is empty")
    } else if name.trim() != name {
        Some("it starts or ends with a space")
    } else if name.chars().any(char::is_control) {
        Some("it has a control character")
    } else if name.chars().count() > 100 {
        Some("it is longer than 100 characters")
    } else if name.contains("->") {
        Some("-> separates the nodes of a link")
    } else {
        None
    }
}

/// A list of names.
impl FromValue for Vec<String> {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        match value {
            Value::Array(names) => {
                let read = |(index, name)| String::read(name, &Path::Index(path, index), errors);
                Some(names.iter().enumerate().filter_map(read).collect())
            }
            other => {
                errors.push(path, format!("{} is not a list of names; write [\"…\", \"…\"]", shown(other)));
                None
            }
        }
    }
}
