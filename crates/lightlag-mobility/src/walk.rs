//! A node at work: the interface of the models.

use crate::{Area, Piece, Vector};
use lightlag_core::RandomStream;

/// The start of a model: where, and the stream that it draws from.
pub(crate) struct Start<'a> {
    pub(crate) area: &'a Area,
    /// `None` leaves the choice to the model.
    pub(crate) place: Option<Vector>,
    pub(crate) random: RandomStream,
    /// The seed of the run, for the paths of other nodes.
    pub(crate) seed: u64,
}

impl Start<'_> {
    /// The given place, or one drawn uniformly.
    pub(crate) fn place(&mut self) -> Vector {
        self.place.unwrap_or_else(|| self.area.draw(&mut self.random))
    }
}

/// A node at work: the parts of its path, one after another.
pub(crate) trait Walk: Clone {
    /// The piece after `last`, which starts where `last` ends.
    fn next(&mut self, last: &Piece) -> Piece;

    /// An upper bound of the speed, in metres per second.
    fn max_speed(&self) -> f64;
}
