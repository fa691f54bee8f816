//! A model of mobility: what each has, and why it may refuse an area or a place.

use crate::walk::{Start, Walk};
use crate::{Area, Piece, Vector};
use lightlag_core::params::Described;
use std::fmt;

/// The reason why a model does not go with an area or a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The key of the parameter, or `None` where the place is wrong.
    pub key: Option<&'static str>,
    /// The value and the remedy.
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

/// The parameters of a model, from which paths are made.
pub(crate) trait Model: Described {
    /// A node at work.
    type Walk: Walk;

    /// The reason why the parameters do not go with the area or the place, if there is one.
    fn check(&self, area: &Area, place: Option<Vector>) -> Result<(), Refusal> {
        in_area(area, place)
    }

    /// The path of a node, and its first piece, from the start of the run on.
    fn start(&self, start: Start<'_>) -> (Self::Walk, Piece);
}

/// Refuses a place outside the area.
pub(crate) fn in_area(area: &Area, place: Option<Vector>) -> Result<(), Refusal> {
    let Some(place) = place.filter(|place| !area.contains(*place)) else { return Ok(()) };
    Err(Refusal::place(format!("{} is outside {}; start inside", shown(place), extent(area))))
}

/// A place in a message.
pub(crate) fn shown(place: Vector) -> String {
    let Vector { x, y, z } = place;
    format!("({x}, {y}, {z}) m")
}

/// An area in a message.
pub(crate) fn extent(area: &Area) -> String {
    format!("the area from {} to {}", shown(area.least()), shown(area.most()))
}
