//! Paths through given places: straight between two, at rest before the first and after the last.

use crate::walk::Walk;
use crate::{Piece, Vector};
use lightlag_core::{Duration, Instant};
use std::sync::Arc;

/// A place at an instant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fix {
    /// The instant.
    pub at: Instant,
    /// The place.
    pub place: Vector,
}

/// Places in the order of time. Clones share them.
#[derive(Clone, PartialEq, Debug)]
pub struct Track(Arc<[Fix]>);

impl Track {
    /// A track through these places, or `None` if there is none, if a place is not finite or if an instant is not after
    /// the one before it.
    pub fn new(fixes: Vec<Fix>) -> Option<Self> {
        let is_right = !fixes.is_empty()
            && fixes.is_sorted_by(|a, b| a.at < b.at)
            && fixes.iter().all(|fix| fix.place.is_finite() && fix.at < Instant::MAX);
        is_right.then(|| Self(fixes.into()))
    }

    /// Its places.
    pub fn fixes(&self) -> &[Fix] {
        &self.0
    }

    /// The greatest speed, in metres per second, with the start of the leg that has it.
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
    /// The fix that the next piece starts from.
    next: usize,
    /// The time by which the track is late in this repetition.
    shift: Duration,
    /// Whether the track starts again at its end, with its first fix at that instant.
    repeats: bool,
}

impl Follower {
    /// A node on this track, and its first piece. A track that repeats is late by its length in each repetition.
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
