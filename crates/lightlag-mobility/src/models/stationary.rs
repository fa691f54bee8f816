//! Nodes that stay where they are.

use crate::Piece;
use crate::model::Model;
use crate::walk::{Walk, WalkStart};
use lightlag_core::Instant;
use lightlag_core::params::Described;

/// Nodes that stay where they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Static;

impl Described for Static {
    const ABOUT: &'static str = "A node stays where it starts.";
}

/// A node that does not move.
#[derive(Clone, Copy, Debug)]
pub struct Stationary;

impl Model for Static {
    type Walk = Stationary;

    fn start(&self, mut start: WalkStart<'_>) -> (Stationary, Piece) {
        (Stationary, Piece::rest(Instant::ZERO, Instant::MAX, start.place()))
    }
}

impl Walk for Stationary {
    fn next(&mut self, last: &Piece) -> Piece {
        *last
    }

    fn max_speed(&self) -> f64 {
        0.0
    }
}
