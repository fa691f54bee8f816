//! Positions of all stations, in one array per coordinate so that the compiler can vectorise the computation.

use crate::propagation::{StationPosition, StationPositions};
use lightlag_core::Instant;
use lightlag_mobility::{Motion, Vector};
use lightlag_net::StationId;

/// The movements of all stations, with straight segments as arrays, and all positions at one time.
#[derive(Debug)]
pub(super) struct Tracks {
    motions: Vec<Motion>,
    /// Current segment of each station: start position, velocity, start time and end.
    start: [Vec<f64>; 3],
    velocity: [Vec<f64>; 3],
    /// Start of each segment in nanoseconds, which a `f64` holds exactly for 104 days.
    from: Vec<f64>,
    /// Seconds since the start of each segment.
    seconds: Vec<f64>,
    until: Vec<Instant>,
    /// The earliest end of a current segment.
    earliest: Instant,
    /// Stations whose current segment is not a straight line.
    curved: Vec<StationId>,
    places: [Vec<f64>; 3],
    /// Time of the stored positions.
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

    /// Computes all positions at this time.
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
            let index = station.index();
            let position = self.motions[index].position(now);
            (self.places[0][index], self.places[1][index], self.places[2][index]) =
                (position.x, position.y, position.z);
        }
    }

    /// Computes the squared distance between a station and each station at this time, in square metres. The positions
    /// are not stored, which is faster.
    pub(super) fn squares(&mut self, from: StationId, now: Instant, out: &mut [f64]) {
        if now >= self.earliest {
            self.take_pieces(now);
        }
        let nanos = now.as_nanos() as f64;
        let position = if self.curved.contains(&from) {
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
            let dx = start_x[i] + x[i] * seconds - position.x;
            let dy = start_y[i] + y[i] * seconds - position.y;
            let dz = start_z[i] + z[i] * seconds - position.z;
            out[i] = dx * dx + dy * dy + dz * dz;
        }
        for station in &self.curved {
            out[station.index()] = (self.motions[station.index()].position(now) - position).square();
        }
    }

    #[cold]
    fn take_pieces(&mut self, now: Instant) {
        self.curved.clear();
        for (index, motion) in self.motions.iter_mut().enumerate() {
            let piece = *motion.piece(now);
            self.until[index] = piece.until;
            self.from[index] = piece.from.as_nanos() as f64;
            let (start, velocity) = piece.line().unwrap_or_else(|| {
                self.curved.push(StationId::at(index));
                (Vector::ZERO, Vector::ZERO)
            });
            (self.start[0][index], self.start[1][index], self.start[2][index]) = (start.x, start.y, start.z);
            (self.velocity[0][index], self.velocity[1][index], self.velocity[2][index]) =
                (velocity.x, velocity.y, velocity.z);
        }
        self.earliest = self.until.iter().copied().min().unwrap_or(Instant::MAX);
    }

    /// Returns true if no station ever moves.
    pub(super) fn stay(&self) -> bool {
        let is_still = |velocity: &f64| *velocity == 0.0;
        self.earliest == Instant::MAX && self.curved.is_empty() && self.velocity.iter().flatten().all(is_still)
    }

    /// Returns the position of a station at the time of the last [`Self::advance`].
    pub(super) fn at(&self, station: StationId) -> Vector {
        let ([x, y, z], at) = (&self.places, station.index());
        Vector::new(x[at], y[at], z[at])
    }

    pub(super) fn place(&self, station: StationId) -> StationPosition {
        StationPosition { station, at: self.at(station) }
    }

    pub(super) fn places(&self) -> StationPositions<'_> {
        let [x, y, z] = &self.places;
        StationPositions { x, y, z, stations: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_core::Duration;
    use lightlag_core::params::Registered;
    use lightlag_mobility::{Area, Mobility};

    #[test]
    fn distances_are_measured_between_positions() {
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
