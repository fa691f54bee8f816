//! Nodes that stay where they are.

use crate::Piece;
use crate::model::Model;
use crate::walk::{Start, Walk};
use lightlag_core::Instant;
use lightlag_core::params::{Described, Setting};

/// Nodes that stay where they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Static;

impl Described for Static {
    const ABOUT: &'static str = "A node stays where it starts.";

    fn settings() -> Vec<Setting<Self>> {
        Vec::new()
    }
}

/// A node that rests.
#[derive(Clone, Copy, Debug)]
pub struct Rest;

impl Model for Static {
    type Walk = Rest;

    fn start(&self, mut start: Start<'_>) -> (Rest, Piece) {
        (Rest, Piece::rest(Instant::ZERO, Instant::MAX, start.place()))
    }
}

impl Walk for Rest {
    fn next(&mut self, last: &Piece) -> Piece {
        *last
    }

    fn max_speed(&self) -> f64 {
        0.0
    }
}
