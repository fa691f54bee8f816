//! A segment of a path with a closed form: a straight line or an arc, at a constant speed.
//!
//! With t the time since its start, the position is p(t) = p₀ + v t + R(ω t) a − a. Here a is the vector from the
//! centre of a horizontal circle to p₀, R a rotation about the vertical axis, and v the velocity of the centre. A
//! straight line has no a.

use crate::{Area, Vector};
use lightlag_core::{Duration, Instant};

/// A segment of a path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Piece {
    /// Start time.
    pub from: Instant,
    /// End time; this instant already belongs to the next segment. The last segment of a path ends at [`Instant::MAX`].
    pub until: Instant,
    place: Vector,
    drift: Vector,
    turn: Option<Turn>,
    walls: Option<Area>,
}

/// A turn about a vertical axis.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Turn {
    /// Horizontal vector from the axis to the initial position, in metres.
    arm: (f64, f64),
    /// Angular velocity in radians per second, counterclockwise seen from above.
    rate: f64,
}

impl Piece {
    /// Returns a straight line that starts at `position`.
    pub const fn straight(from: Instant, until: Instant, position: Vector, velocity: Vector) -> Self {
        Self { from, until, place: position, drift: velocity, turn: None, walls: None }
    }

    /// Returns a segment in which the node stays at `position`.
    pub const fn rest(from: Instant, until: Instant, position: Vector) -> Self {
        Self::straight(from, until, position, Vector::ZERO)
    }

    /// Returns a straight flight to `goal` at `speed` metres per second.
    pub(crate) fn flight(from: Instant, position: Vector, goal: Vector, speed: f64) -> Self {
        let time = flight_time(position.distance(goal), speed);
        Self::straight(from, from + time, position, (goal - position) * (1.0 / time.as_secs_f64()))
    }

    /// Returns a horizontal arc about `centre` that starts at `position`, at `rate` radians per second,
    /// counterclockwise seen from above.
    pub fn arc(from: Instant, until: Instant, position: Vector, centre: Vector, rate: f64) -> Self {
        let turn = Turn { arm: (position.x - centre.x, position.y - centre.y), rate };
        Self { from, until, place: position, drift: Vector::ZERO, turn: Some(turn), walls: None }
    }

    /// Returns the same segment, but ending at this instant if it would end later.
    #[must_use]
    pub fn ending(self, until: Instant) -> Self {
        Self { until: self.until.min(until), ..self }
    }

    /// Returns the same segment, limited to `area`: where it would leave the area, it slides along the walls.
    #[must_use]
    pub fn within(self, area: Area) -> Self {
        Self { walls: Some(area), ..self }
    }

    /// Returns the path of a node whose position relative to this segment is `offset`. It lasts as long as both
    /// segments do.
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

    /// Returns the position at an instant within the segment.
    pub fn position(&self, time: Instant) -> Vector {
        let seconds = self.seconds(time);
        let mut position = self.place + self.drift * seconds;
        if let Some(turn) = self.turn {
            let (sin, cos) = self.rotation(turn, time);
            let (x, y) = turn.arm;
            position.x += x * (cos - 1.0) - y * sin;
            position.y += x * sin + y * (cos - 1.0);
        }
        self.walls.map_or(position, |walls| walls.clamp(position))
    }

    /// Returns the velocity at an instant within the segment, in metres per second.
    pub fn velocity(&self, time: Instant) -> Vector {
        let mut velocity = self.drift;
        if let Some(turn) = self.turn {
            let (sin, cos) = self.rotation(turn, time);
            let (x, y) = turn.arm;
            velocity.x -= turn.rate * (x * sin + y * cos);
            velocity.y += turn.rate * (x * cos - y * sin);
        }
        let Some(walls) = self.walls else { return velocity };
        let free = Self { walls: None, ..*self }.position(time);
        let pressed = walls.clamp(free);
        let along = |free: f64, pressed: f64, velocity: f64| if free == pressed { velocity } else { 0.0 };
        Vector::new(
            along(free.x, pressed.x, velocity.x),
            along(free.y, pressed.y, velocity.y),
            along(free.z, pressed.z, velocity.z),
        )
    }

    /// Returns the initial position and the velocity, if the segment is straight and touches no wall.
    pub fn line(&self) -> Option<(Vector, Vector)> {
        let is_free = self.walls.is_none_or(|walls| {
            let end = self.place + self.drift * self.seconds(self.until);
            // A box is convex: a line between two places in it is in it.
            walls.contains(self.place) && walls.contains(end)
        });
        (self.turn.is_none() && is_free).then_some((self.place, self.drift))
    }

    fn seconds(&self, time: Instant) -> f64 {
        time.since(self.from).as_secs_f64()
    }

    fn rotation(&self, turn: Turn, time: Instant) -> (f64, f64) {
        libm::sincos(turn.rate * self.seconds(time))
    }
}

/// Returns the duration of a flight over this distance in metres, rounded up to a nanosecond, so that the resulting
/// speed never exceeds `speed`.
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
    fn a_carried_segment_is_the_sum_of_both() {
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
    fn walls_stop_nodes() {
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
