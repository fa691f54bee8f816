//! Positions of all satellites, many times per second.
//!
//! Orbits are evaluated every four seconds, and positions in between are interpolated by a cubic through four such
//! points. The fourth derivative of a satellite's position is below 10⁻⁵ m/s⁴ (v⁴/r³ above 500 km), so the cubic is
//! accurate to a tenth of a millimetre (remainder of the Lagrange interpolation).

use crate::sky::Sky;
use lightlag_core::Instant;
use lightlag_mobility::Vector;

const POINTS: usize = 4;
/// Interval between points, in nanoseconds.
const STEP: u64 = 4_000_000_000;

/// Positions of all satellites at four consecutive points.
#[derive(Clone, Debug, Default)]
pub(super) struct Ephemeris {
    /// Index of the first point.
    first: u64,
    points: [Vec<Vector>; POINTS],
    /// Whether any of the positions belongs to a decayed satellite.
    has_decayed: bool,
}

impl Ephemeris {
    /// Computes the positions of all satellites at a time, like [`Sky::positions`].
    pub(super) fn positions(&mut self, sky: &Sky, when: Instant, positions: &mut Vec<Vector>) {
        let nanos = when.as_nanos();
        // The time lies in the middle of the three intervals, but for the start of a run.
        let first = (nanos / STEP).saturating_sub(1);
        self.go_to(sky, first);
        let x = (nanos - first * STEP) as f64 / STEP as f64;
        let [a, b, c, d] = &self.points;
        let weights = [
            -(x - 1.0) * (x - 2.0) * (x - 3.0) / 6.0,
            x * (x - 2.0) * (x - 3.0) / 2.0,
            -x * (x - 1.0) * (x - 3.0) / 2.0,
            x * (x - 1.0) * (x - 2.0) / 6.0,
        ];
        positions.clear();
        positions.extend(a.iter().zip(b).zip(c).zip(d).map(|(((a, b), c), d)| {
            if self.has_decayed && [*a, *b, *c, *d].contains(&Vector::ZERO) {
                return Vector::ZERO;
            }
            *a * weights[0] + *b * weights[1] + *c * weights[2] + *d * weights[3]
        }));
    }

    /// Moves to the four points that start at the index `first`, and evaluates the orbits at the points that are new.
    fn go_to(&mut self, sky: &Sky, first: u64) {
        let is_known = !self.points[0].is_empty();
        if is_known && first == self.first {
            return;
        }
        let kept = if is_known && first == self.first + 1 { POINTS - 1 } else { 0 };
        self.points.rotate_left(1);
        self.first = first;
        for (number, points) in (first..).zip(&mut self.points).skip(kept) {
            sky.positions(Instant::from_nanos(number * STEP), points);
        }
        self.has_decayed = self.points.iter().any(|points| points.contains(&Vector::ZERO));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::satellite::Satellite;
    use crate::shell::Shell;
    use crate::time::Utc;
    use lightlag_core::Duration;

    #[test]
    fn positions_between_points_match_the_orbits() {
        let shell = Shell { height: 500e3, planes: 3, slots: 5, ..Shell::default() };
        let orbits = shell.orbits().unwrap().into_iter();
        let satellites = orbits.map(|orbit| Satellite { name: String::new(), orbit }).collect();
        let sky = Sky::new(Utc::Y2000, satellites, Vec::new(), 90.0, Vec::new());
        let (mut ephemeris, mut interpolated, mut exact) = (Ephemeris::default(), Vec::new(), Vec::new());
        // At the start, in steps, back, and far away.
        for millis in [0, 1, 1_999, 3_999, 4_000, 4_001, 6_700, 9_500, 15_999, 8_100, 86_400_123, 86_405_500] {
            let time = Instant::ZERO + Duration::from_millis(millis);
            ephemeris.positions(&sky, time, &mut interpolated);
            sky.positions(time, &mut exact);
            for (found, exact) in interpolated.iter().zip(&exact) {
                assert!(found.distance(*exact) < 1e-4, "{millis} ms: {}", found.distance(*exact));
            }
            assert_eq!(interpolated.len(), 15);
        }
    }
}
