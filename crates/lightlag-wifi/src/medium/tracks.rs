//! Where all stations are, by coordinate, so that the compiler works on several at once.

use crate::propagation::{Place, Places};
use lightlag_core::Instant;
use lightlag_mobility::{Motion, Vector};
use lightlag_net::StationId;

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
    curved: Vec<StationId>,
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
            let at = station.index();
            let place = self.motions[at].position(now);
            (self.places[0][at], self.places[1][at], self.places[2][at]) = (place.x, place.y, place.z);
        }
    }

    /// The squares of the distances between a station and each one at this instant, in square metres. All other places stay
    /// unknown, which is less work.
    pub(super) fn squares(&mut self, from: StationId, now: Instant, out: &mut [f64]) {
        if now >= self.earliest {
            self.take_pieces(now);
        }
        let nanos = now.as_nanos() as f64;
        let at = if self.curved.contains(&from) {
            self.motions[from.index()].position(now)
        } else {
            let seconds = (nanos - self.from[from.index()]) * 1e-9;
            let [x, y, z] = std::array::from_fn(|axis| {
                self.start[axis][from.index()] + self.velocity[axis][from.index()] * seconds
            });
            Vector::new(x, y, z)
        };
        let (count, since) = (out.len(), &self.from[..out.len()]);
        let [start_x, start_y, start_z] = [0, 1, 2].map(|axis| &self.start[axis][..count]);
        let [x, y, z] = [0, 1, 2].map(|axis| &self.velocity[axis][..count]);
        for i in 0..count {
            let seconds = (nanos - since[i]) * 1e-9;
            let dx = start_x[i] + x[i] * seconds - at.x;
            let dy = start_y[i] + y[i] * seconds - at.y;
            let dz = start_z[i] + z[i] * seconds - at.z;
            out[i] = dx * dx + dy * dy + dz * dz;
        }
        for station in &self.curved {
            out[station.index()] = (self.motions[station.index()].position(now) - at).square();
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
                self.curved.push(StationId::at(at));
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
    pub(super) fn at(&self, station: StationId) -> Vector {
        let ([x, y, z], at) = (&self.places, station.index());
        Vector::new(x[at], y[at], z[at])
    }

    pub(super) fn place(&self, station: StationId) -> Place {
        Place { station, at: self.at(station) }
    }

    pub(super) fn places(&self) -> Places<'_> {
        let [x, y, z] = &self.places;
        Places { x, y, z, stations: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_core::Duration;
    use lightlag_core::params::Registered;
    use lightlag_mobility::{Area, Mobility};

    #[test]
    fn distances_are_those_between_the_places() {
        let area = Area::new(Vector::ZERO, Vector::new(500.0, 400.0, 100.0)).unwrap();
        let names = ["gauss-markov", "smooth-turn", "static", "random-waypoint", "paparazzi"];
        let motion = |name: &str| Motion::new(&Mobility::named(name).unwrap(), &area, None, 1, name);
        let motions: Vec<Motion> = names.into_iter().map(motion).collect();
        let (mut tracks, mut others) = (Tracks::new(motions.clone()), Tracks::new(motions));
        for step in 0..500 {
            let now = Instant::ZERO + Duration::from_micros(step * 71_003);
            others.advance(now);
            for from in 0..names.len() {
                let (mut squares, mut same) = ([0.0; 5], [0.0; 5]);
                tracks.squares(StationId::at(from), now, &mut squares);
                others.places().squares(others.at(StationId::at(from)), &mut same);
                assert_eq!(squares, same, "{from} at {now:?}");
            }
        }
    }
}
