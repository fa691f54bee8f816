//! The path of one node.

use crate::models::registry::{Course, Mobility};
use crate::walk::WalkStart;
use crate::{Area, Piece, Vector};
use lightlag_core::{Instant, RandomStream};

/// The path of one node, computed up to the latest time that was requested.
///
/// Only the last two segments are stored. Times may therefore be requested in any order, as long as a request never
/// goes back by more than one segment.
///
/// A clone continues independently and yields the same path, because all random values come from the node's own random
/// stream.
#[derive(Clone, Debug)]
pub struct Motion {
    piece: Piece,
    before: Piece,
    course: Course,
}

impl Motion {
    /// Creates the path of the node called `node_name`. It starts at `position` or, if that is `None`, at a position
    /// that the model chooses.
    ///
    /// # Panics
    /// If [`Mobility::check`] rejects the area or the position.
    pub fn new(config: &Mobility, area: &Area, position: Option<Vector>, seed: u64, node_name: &str) -> Self {
        if let Err(refusal) = config.check(area, position) {
            panic!("{node_name}: {refusal}");
        }
        let random = RandomStream::new(seed, &format!("node {node_name} mobility"));
        let (course, piece) = Course::start(config, WalkStart { area, place: position, random, seed });
        Self { piece, before: piece, course }
    }

    /// Returns the segment at this instant, which must not be earlier than the last segment but one.
    pub fn piece(&mut self, time: Instant) -> &Piece {
        while time >= self.piece.until && self.piece.until < Instant::MAX {
            self.before = self.piece;
            self.piece = self.course.next(&self.piece);
        }
        if time >= self.piece.from {
            return &self.piece;
        }
        debug_assert!(time >= self.before.from, "{time} is before {}: the earlier path is discarded", self.before.from);
        &self.before
    }

    /// Returns the position at this instant.
    pub fn position(&mut self, time: Instant) -> Vector {
        self.piece(time).position(time)
    }

    /// Returns the velocity at this instant, in metres per second.
    pub fn velocity(&mut self, time: Instant) -> Vector {
        self.piece(time).velocity(time)
    }

    /// Returns an upper bound of the node's speed, in metres per second.
    pub fn max_speed(&self) -> f64 {
        self.course.max_speed()
    }
}
