//! Nodes with radios: where they are, how they move, and on which media they are.

use super::{Coordinates, Model, RadioChanges};
use crate::read::{Errors, FromValue, NodeName, Path, Table};
use lightlag_mobility::Mobility;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// A node with a radio, or with several. Nodes of links alone need no table.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct NodeSpec {
    /// Its name, to which links and flows refer.
    pub name: String,
    /// The media on which it has a radio; by default the only one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub media: Vec<String>,
    /// Its place at the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Coordinates>,
    /// The box in which it moves, from the origin on; by default that of the swarm, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub area: Option<Coordinates>,
    /// Its movement; by default it stays.
    #[schemars(default)]
    pub mobility: Model<Mobility>,
    /// Differences of its radios from the others of their media.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radio: Option<RadioChanges>,
}

impl FromValue for NodeSpec {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table = Table::open(value, at, "a table with name and at", errors)?;
        let name = table.required::<NodeName>("name", "name the node", errors);
        let media: Vec<String> = table.items::<NodeName>("media", errors).into_iter().map(|name| name.0).collect();
        let place = table.optional("at", errors);
        let area = table.optional("area", errors);
        let mobility = table.optional("mobility", errors).unwrap_or_default();
        let radio = table.optional("radio", errors);
        table.finish(errors);
        let node = Self { name: name?.0, media, at: place, area, mobility, radio };
        (errors.len() == before).then_some(node)
    }
}
