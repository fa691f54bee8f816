//! Paths through given positions: straight lines between them. The node is at rest before the first and after the last.

use crate::walk::Walk;
use crate::{Piece, Vector};
use lightlag_core::{Duration, Instant};
use std::sync::Arc;

/// A position, and the time when the node is there.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fix {
    /// The time.
    pub at: Instant,
    /// The position.
    pub place: Vector,
}

/// Positions in order of time. Clones share the memory.
#[derive(Clone, PartialEq, Debug)]
pub struct Track(Arc<[Fix]>);

impl Track {
    /// Returns a track through these positions, or `None` if there are no positions, if a position is not finite, or if
    /// the times are not in ascending order.
    pub fn new(fixes: Vec<Fix>) -> Option<Self> {
        let is_right = !fixes.is_empty()
            && fixes.is_sorted_by(|a, b| a.at < b.at)
            && fixes.iter().all(|fix| fix.place.is_finite() && fix.at < Instant::MAX);
        is_right.then(|| Self(fixes.into()))
    }

    /// Returns the positions with their times.
    pub fn fixes(&self) -> &[Fix] {
        &self.0
    }

    /// Returns the maximum speed in metres per second, and the start time of the leg where it occurs.
    pub fn max_speed(&self) -> (f64, Instant) {
        let speeds = self.0.windows(2).map(|leg| (leg_speed(&leg[0], &leg[1]), leg[0].at));
        speeds.fold((0.0, self.0[0].at), |most, leg| if leg.0 > most.0 { leg } else { most })
    }
}

fn leg_speed(from: &Fix, to: &Fix) -> f64 {
    from.place.distance(to.place) / to.at.since(from.at).as_secs_f64()
}

/// A node that follows a track.
#[derive(Clone, Debug)]
pub struct Follower {
    track: Track,
    /// Index of the position where the next leg starts.
    next: usize,
    /// Time by which the track is delayed in the current repetition.
    shift: Duration,
    /// Whether the track starts again at its end; the node is then back at its first position at the end time.
    repeats: bool,
}

impl Follower {
    /// Returns a node on this track, and its first segment. Each repetition of the track is delayed by the length of
    /// the track.
    pub(crate) fn new(track: Track, repeats: bool) -> (Self, Piece) {
        let first = track.0[0];
        let mut follower = Self { track, next: 0, shift: Duration::ZERO, repeats };
        if first.at > Instant::ZERO {
            return (follower, Piece::rest(Instant::ZERO, first.at, first.place));
        }
        let piece = follower.leg(Instant::ZERO);
        (follower, piece)
    }

    fn leg(&mut self, from: Instant) -> Piece {
        let fixes = &self.track.0;
        let here = fixes[self.next];
        let Some(there) = fixes.get(self.next + 1) else {
            return Piece::rest(from, Instant::MAX, here.place);
        };
        let until = there.at + self.shift;
        let seconds = there.at.since(here.at).as_secs_f64();
        let velocity = (there.place - here.place) * (1.0 / seconds);
        self.next += 1;
        if self.repeats && self.next + 1 == fixes.len() {
            self.next = 0;
            self.shift = until.since(fixes[0].at);
        }
        Piece::straight(from, until, here.place, velocity)
    }
}

impl Walk for Follower {
    fn next(&mut self, last: &Piece) -> Piece {
        self.leg(last.until)
    }

    fn max_speed(&self) -> f64 {
        self.track.max_speed().0
    }
}
