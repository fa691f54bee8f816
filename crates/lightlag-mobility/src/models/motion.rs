//! The path of one node.

use crate::models::registry::{Course, Mobility};
use crate::walk::Start;
use crate::{Area, Piece, Vector};
use lightlag_core::{Instant, RandomStream};

/// The path of one node, worked out as far as it was asked for.
///
/// Times may be asked for in any order within the last two pieces, but a time before them is forgotten. A caller whose
/// times never go back by more than a piece may thus ask freely.
///
/// A clone goes on by itself and yields the same path: everything drawn comes from a stream of the node's own.
#[derive(Clone, Debug)]
pub struct Motion {
    piece: Piece,
    before: Piece,
    course: Course,
}

impl Motion {
    /// The path of the node called `node_name`, from `place` on or, without a place, from one that the model draws.
    ///
    /// # Panics
    /// If [`Mobility::check`] refuses the area or the place.
    pub fn new(config: &Mobility, area: &Area, place: Option<Vector>, seed: u64, node_name: &str) -> Self {
        if let Err(refusal) = config.check(area, place) {
            panic!("{node_name}: {refusal}");
        }
        let random = RandomStream::new(seed, &format!("node {node_name} mobility"));
        let (course, piece) = Course::start(config, Start { area, place, random, seed });
        Self { piece, before: piece, course }
    }

    /// The piece at this instant, which is not before the last piece but one.
    pub fn piece(&mut self, at: Instant) -> &Piece {
        while at >= self.piece.until && self.piece.until < Instant::MAX {
            self.before = self.piece;
            self.piece = self.course.next(&self.piece);
        }
        if at >= self.piece.from {
            return &self.piece;
        }
        debug_assert!(at >= self.before.from, "{at} is before {}: the path is forgotten", self.before.from);
        &self.before
    }

    /// The place at this instant.
    pub fn position(&mut self, at: Instant) -> Vector {
        self.piece(at).position(at)
    }

    /// The velocity at this instant, in metres per second.
    pub fn velocity(&mut self, at: Instant) -> Vector {
        self.piece(at).velocity(at)
    }

    /// An upper bound of the speed at any time, in metres per second.
    pub fn max_speed(&self) -> f64 {
        self.course.max_speed()
    }
}
