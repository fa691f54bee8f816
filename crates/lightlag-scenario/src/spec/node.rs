//! Nodes with radios: their positions, movements and media.

use super::{Coordinates, Model, RadioChanges, TerminalChanges};
use crate::read::{Errors, FromValue, NodeName, Path, TableReader};
use lightlag_mobility::Mobility;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// A node with one or several radios. Nodes without radios need no such table.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(title = "Node", deny_unknown_fields)]
pub struct NodeSpec {
    /// Name, as used by links and flows.
    pub name: String,
    /// Media of the node's radios; may be omitted if there is only one medium.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub media: Vec<String>,
    /// Initial position as coordinates to the east, to the north and up: `["10 m", "0 m", "1.5 m"]`. A node of a
    /// satellite beam needs none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Coordinates>,
    /// Box in which the node moves, with a corner at the origin; by default the box of the swarm, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub area: Option<Coordinates>,
    /// Mobility model, `{ model = "random-waypoint" }`; by default the node does not move.
    #[schemars(default)]
    pub mobility: Model<Mobility>,
    /// Settings of the node's radios that override the settings of their media.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radio: Option<RadioChanges>,
    /// Settings of the node's terminal that override the settings of its medium, which is of the kind `rcs2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal: Option<TerminalChanges>,
}

impl FromValue for NodeSpec {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table = TableReader::open(value, path, "a table with name and at", errors)?;
        let name = table.required::<NodeName>("name", "name the node", errors);
        let media: Vec<String> = table.items::<NodeName>("media", errors).into_iter().map(|name| name.0).collect();
        let position = table.optional("at", errors);
        let area = table.optional("area", errors);
        let mobility = table.optional("mobility", errors).unwrap_or_default();
        let radio = table.optional("radio", errors);
        let terminal = table.optional("terminal", errors);
        table.finish(errors);
        let node = Self { name: name?.0, media, at: position, area, mobility, radio, terminal };
        (errors.len() == before).then_some(node)
    }
}
