//! Where all stations are, by coordinate, so that the compiler works on several at once.

use crate::propagation::{Place, Places};
use lightlag_core::Instant;
use lightlag_mobility::{Motion, Vector};

/// The ways of all stations, straight pieces as arrays, and their places at one instant.
#[derive(Debug)]
pub(super) struct Tracks {
    motions: Vec<Motion>,
    /// Of the present piece of each station: where and when it starts, its velocity, and its end.
    start: [Vec<f64>; 3],
    velocity: [Vec<f64>; 3],
    /// In nanoseconds, which are whole numbers in a `f64` for 104 days.
    from: Vec<f64>,
    /// In seconds, since then.
    seconds: Vec<f64>,
    until: Vec<Instant>,
    /// The first end of a piece.
    earliest: Instant,
    /// Stations whose present piece is no straight line.
    curved: Vec<u32>,
    places: [Vec<f64>; 3],
    /// The instant of these places.
    now: Option<Instant>,
}

impl Tracks {
    pub(super) fn new(motions: Vec<Motion>) -> Self {
        let room = || vec![0.0; motions.len()];
        let rooms = || [room(), room(), room()];
        let mut tracks = Self {
            start: rooms(),
            velocity: rooms(),
            places: rooms(),
            from: vec![0.0; motions.len()],
            seconds: vec![0.0; motions.len()],
            until: vec![Instant::ZERO; motions.len()],
            earliest: Instant::ZERO,
            curved: Vec::new(),
            now: None,
            motions,
        };
        tracks.advance(Instant::ZERO);
        tracks
    }

    /// Brings all places to this instant.
    pub(super) fn advance(&mut self, now: Instant) {
        if self.now == Some(now) {
            return;
        }
        self.now = Some(now);
        if now >= self.earliest {
            self.take_pieces(now);
        }
        let nanos = now.as_nanos() as f64;
        for (seconds, from) in self.seconds.iter_mut().zip(&self.from) {
            *seconds = (nanos - from) * 1e-9;
        }
        for axis in 0..3 {
            let (start, velocity) = (&self.start[axis], &self.velocity[axis]);
            let ways = self.places[axis].iter_mut().zip(start).zip(velocity).zip(&self.seconds);
            for (((place, start), velocity), seconds) in ways {
                *place = start + velocity * seconds;
            }
        }
        for station in &self.curved {
            let at = *station as usize;
            let place = self.motions[at].position(now);
            (self.places[0][at], self.places[1][at], self.places[2][at]) = (place.x, place.y, place.z);
        }
    }

    #[cold]
    fn take_pieces(&mut self, now: Instant) {
        self.curved.clear();
        for (at, motion) in self.motions.iter_mut().enumerate() {
            let piece = *motion.piece(now);
            self.until[at] = piece.until;
            self.from[at] = piece.from.as_nanos() as f64;
            let (start, velocity) = piece.line().unwrap_or_else(|| {
                self.curved.push(at as u32);
                (Vector::ZERO, Vector::ZERO)
            });
            (self.start[0][at], self.start[1][at], self.start[2][at]) = (start.x, start.y, start.z);
            (self.velocity[0][at], self.velocity[1][at], self.velocity[2][at]) = (velocity.x, velocity.y, velocity.z);
        }
        self.earliest = self.until.iter().copied().min().unwrap_or(Instant::MAX);
    }

    /// Whether no station ever moves.
    pub(super) fn stay(&self) -> bool {
        let is_still = |velocity: &f64| *velocity == 0.0;
        self.earliest == Instant::MAX && self.curved.is_empty() && self.velocity.iter().flatten().all(is_still)
    }

    /// Where a station is, at the instant of the last [`Self::advance`].
    pub(super) fn at(&self, station: usize) -> Vector {
        let [x, y, z] = &self.places;
        Vector::new(x[station], y[station], z[station])
    }

    /// The squares of the distances between a station and each one.
    pub(super) fn squares(&self, from: usize, out: &mut [f64]) {
        let (from, count) = (self.at(from), out.len());
        let [x, y, z] = &self.places;
        let (x, y, z) = (&x[..count], &y[..count], &z[..count]);
        for i in 0..count {
            let (dx, dy, dz) = (x[i] - from.x, y[i] - from.y, z[i] - from.z);
            out[i] = dx * dx + dy * dy + dz * dz;
        }
    }

    pub(super) fn place(&self, station: usize) -> Place {
        Place { station: station as u32, at: self.at(station) }
    }

    pub(super) fn places(&self) -> Places<'_> {
        let [x, y, z] = &self.places;
        Places { x, y, z, stations: None }
    }
}
