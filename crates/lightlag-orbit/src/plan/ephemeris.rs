//! Positions of all satellites, many times a second.
//!
//! Orbits are evaluated every four seconds, and a cubic through four such points gives what lies between. The fourth derivative of
//! a satellite's position is below 10⁻⁵ m/s⁴ (v⁴/r³ above 500 km), so the cubic is right to a tenth of a millimetre (the remainder
//! of Lagrange's interpolation).

use crate::sky::Sky;
use lightlag_core::Instant;
use lightlag_mobility::Vector;

const POINTS: usize = 4;
/// Nanoseconds from one point to the next.
const STEP: u64 = 4_000_000_000;

/// Positions at four points in a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Ephemeris {
    /// The number of the first.
    first: u64,
    points: [Vec<Vector>; POINTS],
    /// Whether one of them is that of a satellite that has decayed.
    has_decayed: bool,
}

impl Ephemeris {
    /// The positions of all satellites at a time, as [`Sky::positions`] gives them.
    pub(super) fn positions(&mut self, sky: &Sky, at: Instant, positions: &mut Vec<Vector>) {
        let nanos = at.as_nanos();
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

    /// Evaluates the orbits at those of four points, from this one on, that are not known.
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
    fn positions_between_points_are_those_of_the_orbits() {
        let shell = Shell { height: 500e3, planes: 3, slots: 5, ..Shell::default() };
        let orbits = shell.orbits().unwrap().into_iter();
        let satellites = orbits.map(|orbit| Satellite { name: String::new(), orbit }).collect();
        let sky = Sky::new(Utc::Y2000, satellites, Vec::new(), 90.0, Vec::new());
        let (mut ephemeris, mut found, mut exact) = (Ephemeris::default(), Vec::new(), Vec::new());
        // At the start, in steps, back, and far away.
        for millis in [0, 1, 1_999, 3_999, 4_000, 4_001, 6_700, 9_500, 15_999, 8_100, 86_400_123, 86_405_500] {
            let at = Instant::ZERO + Duration::from_millis(millis);
            ephemeris.positions(&sky, at, &mut found);
            sky.positions(at, &mut exact);
            for (found, exact) in found.iter().zip(&exact) {
                assert!(found.distance(*exact) < 1e-4, "{millis} ms: {}", found.distance(*exact));
            }
            assert_eq!(found.len(), 15);
        }
    }
}
