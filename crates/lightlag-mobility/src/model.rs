//! The interface of mobility models, and the reasons to reject an area or a position.

use crate::walk::{Walk, WalkStart};
use crate::{Area, Piece, Vector};
use lightlag_core::params::Described;
use std::fmt;

/// The reason why a model is not compatible with an area or a position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The key of the parameter that is wrong, or `None` if the position is wrong.
    pub key: Option<&'static str>,
    /// The value and the fix, as text.
    pub message: String,
}

impl Refusal {
    pub(crate) fn place(message: String) -> Self {
        Self { key: None, message }
    }

    pub(crate) fn of(key: &'static str, message: String) -> Self {
        Self { key: Some(key), message }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.key {
            Some(key) => write!(f, "{key}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// The parameters of a model; they define the paths of its nodes.
pub(crate) trait Model: Described {
    /// The state of a node that follows the model.
    type Walk: Walk;

    /// Returns the reason why the parameters are not compatible with the area or the position, if there is one.
    fn check(&self, area: &Area, position: Option<Vector>) -> Result<(), Refusal> {
        in_area(area, position)
    }

    /// Returns the state of a node, and the first segment of its path, which starts at the start of the run.
    fn start(&self, start: WalkStart<'_>) -> (Self::Walk, Piece);
}

/// Rejects a position outside the area.
pub(crate) fn in_area(area: &Area, position: Option<Vector>) -> Result<(), Refusal> {
    let Some(place) = position.filter(|place| !area.contains(*place)) else { return Ok(()) };
    Err(Refusal::place(format!("{} is outside {}; start inside", shown(place), extent(area))))
}

/// Formats a position for a message.
pub(crate) fn shown(position: Vector) -> String {
    let Vector { x, y, z } = position;
    format!("({x}, {y}, {z}) m")
}

/// Formats the extents of an area for a message.
pub(crate) fn extent(area: &Area) -> String {
    format!("the area from {} to {}", shown(area.least()), shown(area.most()))
}
