//! A part of a path with a closed form: a straight line or an arc, each at a constant speed.
//!
//! With t since the start, a place is p(t) = p₀ + v t + R(ω t) a − a, where a is the arm from the centre of a horizontal
//! circle to p₀, R a rotation about the vertical, and v the drift of the centre. A line has no arm.

use crate::{Area, Vector};
use lightlag_core::{Duration, Instant};

/// A part of a path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Piece {
    /// Its start.
    pub from: Instant,
    /// Its end, which belongs to the next piece. The last piece of a path ends at [`Instant::MAX`].
    pub until: Instant,
    place: Vector,
    drift: Vector,
    turn: Option<Turn>,
    walls: Option<Area>,
}

/// A turn about a vertical axis.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Turn {
    /// From the axis to the place at the start.
    arm: (f64, f64),
    /// In radians a second, counterclockwise seen from above.
    rate: f64,
}

impl Piece {
    /// A straight line from `place` on.
    pub const fn straight(from: Instant, until: Instant, place: Vector, velocity: Vector) -> Self {
        Self { from, until, place, drift: velocity, turn: None, walls: None }
    }

    /// Rest at `place`.
    pub const fn rest(from: Instant, until: Instant, place: Vector) -> Self {
        Self::straight(from, until, place, Vector::ZERO)
    }

    /// A straight flight to `goal` at `speed` metres per second.
    pub(crate) fn flight(from: Instant, place: Vector, goal: Vector, speed: f64) -> Self {
        let time = flight_time(place.distance(goal), speed);
        Self::straight(from, from + time, place, (goal - place) * (1.0 / time.as_secs_f64()))
    }

    /// A horizontal arc from `place` on about `centre`, at `rate` radians a second counterclockwise seen from above.
    pub fn arc(from: Instant, until: Instant, place: Vector, centre: Vector, rate: f64) -> Self {
        let turn = Turn { arm: (place.x - centre.x, place.y - centre.y), rate };
        Self { from, until, place, drift: Vector::ZERO, turn: Some(turn), walls: None }
    }

    /// The same path up to this instant, if it does not end before.
    #[must_use]
    pub fn ending(self, until: Instant) -> Self {
        Self { until: self.until.min(until), ..self }
    }

    /// The same path, pressed against the walls of `area` where it would leave it.
    #[must_use]
    pub fn within(self, area: Area) -> Self {
        Self { walls: Some(area), ..self }
    }

    /// The path of a node that moves along `offset` relative to this one. It lasts while both do.
    #[must_use]
    pub fn carrying(&self, offset: &Self) -> Self {
        let from = self.from.max(offset.from);
        let turn = self.turn.map(|turn| {
            let (sin, cos) = self.rotation(turn, from);
            let (x, y) = turn.arm;
            Turn { arm: (x * cos - y * sin, x * sin + y * cos), rate: turn.rate }
        });
        Self {
            from,
            until: self.until.min(offset.until),
            place: self.position(from) + offset.position(from),
            drift: self.drift + offset.drift,
            turn,
            walls: None,
        }
    }

    /// The place at an instant between its start and its end.
    pub fn position(&self, at: Instant) -> Vector {
        let seconds = self.seconds(at);
        let mut place = self.place + self.drift * seconds;
        if let Some(turn) = self.turn {
            let (sin, cos) = self.rotation(turn, at);
            let (x, y) = turn.arm;
            place.x += x * (cos - 1.0) - y * sin;
            place.y += x * sin + y * (cos - 1.0);
        }
        self.walls.map_or(place, |walls| walls.clamp(place))
    }

    /// The velocity at an instant between its start and its end, in metres per second.
    pub fn velocity(&self, at: Instant) -> Vector {
        let mut velocity = self.drift;
        if let Some(turn) = self.turn {
            let (sin, cos) = self.rotation(turn, at);
            let (x, y) = turn.arm;
            velocity.x -= turn.rate * (x * sin + y * cos);
            velocity.y += turn.rate * (x * cos - y * sin);
        }
        let Some(walls) = self.walls else { return velocity };
        let free = Self { walls: None, ..*self }.position(at);
        let pressed = walls.clamp(free);
        let along = |free: f64, pressed: f64, velocity: f64| if free == pressed { velocity } else { 0.0 };
        Vector::new(
            along(free.x, pressed.x, velocity.x),
            along(free.y, pressed.y, velocity.y),
            along(free.z, pressed.z, velocity.z),
        )
    }

    /// The place at its start and the velocity, if it is straight and touches no wall.
    pub fn line(&self) -> Option<(Vector, Vector)> {
        let is_free = self.walls.is_none_or(|walls| {
            let end = self.place + self.drift * self.seconds(self.until);
            // A box is convex: a line between two places in it is in it.
            walls.contains(self.place) && walls.contains(end)
        });
        (self.turn.is_none() && is_free).then_some((self.place, self.drift))
    }

    fn seconds(&self, at: Instant) -> f64 {
        at.since(self.from).as_secs_f64()
    }

    fn rotation(&self, turn: Turn, at: Instant) -> (f64, f64) {
        libm::sincos(turn.rate * self.seconds(at))
    }
}

/// The time of a flight over this distance in metres, rounded up to a nanosecond, so that nothing exceeds its speed.
pub(crate) fn flight_time(distance: f64, speed: f64) -> Duration {
    // `as` saturates.
    Duration::from_nanos(libm::ceil(distance / speed * 1e9) as u64).max(Duration::from_nanos(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn at(seconds: f64) -> Instant {
        Instant::ZERO + Duration::from_secs_f64(seconds)
    }

    fn near(a: Vector, b: Vector) -> bool {
        a.distance(b) < 1e-9
    }

    #[test]
    fn a_line_is_left_at_its_velocity() {
        let piece = Piece::straight(at(2.0), at(5.0), Vector::new(1.0, 2.0, 3.0), Vector::new(1.0, 0.0, -0.5));
        assert_eq!(piece.position(at(4.0)), Vector::new(3.0, 2.0, 2.0));
        assert_eq!(piece.line(), Some((Vector::new(1.0, 2.0, 3.0), Vector::new(1.0, 0.0, -0.5))));
    }

    #[test]
    fn a_half_circle_ends_opposite() {
        // Radius 10, a quarter turn a second.
        let piece = Piece::arc(at(1.0), at(3.0), Vector::new(30.0, 5.0, 7.0), Vector::new(20.0, 5.0, 7.0), PI / 2.0);
        assert!(near(piece.position(at(2.0)), Vector::new(20.0, 15.0, 7.0)));
        assert!(near(piece.position(at(3.0)), Vector::new(10.0, 5.0, 7.0)));
        assert!(near(piece.velocity(at(1.0)), Vector::new(0.0, 5.0 * PI, 0.0)));
        assert!(near(piece.velocity(at(2.0)), Vector::new(-5.0 * PI, 0.0, 0.0)));
        assert_eq!(piece.line(), None);
    }

    #[test]
    fn a_carried_piece_is_the_sum_of_two() {
        let arc = Piece::arc(at(1.0), at(9.0), Vector::new(30.0, 5.0, 7.0), Vector::new(20.0, 5.0, 7.0), 0.3);
        let offset = Piece::straight(at(3.0), at(6.0), Vector::new(1.0, 1.0, 1.0), Vector::new(0.1, -0.2, 0.3));
        let sum = arc.carrying(&offset);
        assert_eq!((sum.from, sum.until), (at(3.0), at(6.0)));
        for time in [3.0, 4.5, 6.0] {
            assert!(near(sum.position(at(time)), arc.position(at(time)) + offset.position(at(time))));
            assert!(near(sum.velocity(at(time)), arc.velocity(at(time)) + offset.velocity(at(time))));
        }
    }

    #[test]
    fn walls_stop_what_would_pass_them() {
        let area = Area::new(Vector::ZERO, Vector::new(10.0, 10.0, 10.0)).unwrap();
        let piece =
            Piece::straight(at(0.0), at(4.0), Vector::new(5.0, 5.0, 5.0), Vector::new(2.0, 1.0, 0.0)).within(area);
        assert_eq!(piece.position(at(4.0)), Vector::new(10.0, 9.0, 5.0));
        assert_eq!(piece.velocity(at(1.0)), Vector::new(2.0, 1.0, 0.0));
        assert_eq!(piece.velocity(at(4.0)), Vector::new(0.0, 1.0, 0.0));
        assert_eq!(piece.line(), None);
        assert!(Piece { until: at(2.0), ..piece }.line().is_some());
    }
}
