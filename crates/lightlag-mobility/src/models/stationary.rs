//! Nodes that stay where they are.

use crate::Piece;
use crate::motion::{Model, Start};
use crate::registry::Rules;
use lightlag_core::Instant;
use lightlag_net::setting::{Described, Setting};

/// Nodes that stay where they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Static;

impl Described for Static {
    const ABOUT: &'static str = "A node stays where it starts.";

    fn settings() -> Vec<Setting<Self>> {
        Vec::new()
    }
}

impl Rules for Static {}

impl Model for Static {
    type Config = Self;

    fn start(_: &Self, mut start: Start<'_>) -> (Self, Piece) {
        (Self, Piece::rest(Instant::ZERO, Instant::MAX, start.place()))
    }

    fn next(&mut self, last: &Piece) -> Piece {
        *last
    }

    fn max_speed(&self) -> f64 {
        0.0
    }
}
