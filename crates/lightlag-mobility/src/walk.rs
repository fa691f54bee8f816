//! The state of a moving node: the interface that the models implement.

use crate::{Area, Piece, Vector};
use lightlag_core::RandomStream;

/// The input of a model for the start of a node.
pub(crate) struct WalkStart<'a> {
    pub(crate) area: &'a Area,
    /// The start position; `None` if the model chooses it.
    pub(crate) place: Option<Vector>,
    pub(crate) random: RandomStream,
    /// The seed of the run, which also determines the paths of other nodes.
    pub(crate) seed: u64,
}

impl WalkStart<'_> {
    /// Returns the given position, or a random one, uniformly distributed.
    pub(crate) fn place(&mut self) -> Vector {
        self.place.unwrap_or_else(|| self.area.draw(&mut self.random))
    }
}

/// The state of a moving node, which generates the segments of its path one after another.
pub(crate) trait Walk: Clone {
    /// Returns the segment after `last`, which starts where `last` ends.
    fn next(&mut self, last: &Piece) -> Piece;

    /// Returns an upper bound of the speed, in metres per second.
    fn max_speed(&self) -> f64;
}
