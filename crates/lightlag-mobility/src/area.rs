//! The box within which the nodes move.

use crate::Vector;
use lightlag_core::RandomStream;
use std::fmt;

/// A box with walls parallel to the axes. It may be flat: all z coordinates are then equal.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Area {
    least: Vector,
    most: Vector,
}

/// The reason why two corners do not form a box.
#[derive(Clone, PartialEq, Debug)]
pub struct AreaError {
    /// The axis of the wrong coordinates.
    pub axis: char,
    least: f64,
    most: f64,
}

impl fmt::Display for AreaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { axis, least, most } = self;
        let demand = if *axis == 'z' { "must not be smaller" } else { "must be larger" };
        write!(f, "the area reaches from {least} m to {most} m in {axis}; the second number {demand}")
    }
}

impl std::error::Error for AreaError {}

impl Area {
    /// Returns the box between two corners, each in metres.
    ///
    /// # Errors
    /// If a coordinate is not finite, if x or y has no extent, or if a coordinate of the second corner is smaller.
    pub fn new(min: Vector, max: Vector) -> Result<Self, AreaError> {
        let axes = [('x', min.x, max.x), ('y', min.y, max.y), ('z', min.z, max.z)];
        for (axis, low, high) in axes {
            let is_right = (high - low).is_finite() && (low < high || (axis == 'z' && low == high));
            if !is_right {
                return Err(AreaError { axis, least: low, most: high });
            }
        }
        Ok(Self { least: min, most: max })
    }

    /// Returns the corner with the smallest coordinates.
    pub const fn least(&self) -> Vector {
        self.least
    }

    /// Returns the corner with the largest coordinates.
    pub const fn most(&self) -> Vector {
        self.most
    }

    /// Returns the extents of the box along x, y and z.
    pub fn size(&self) -> Vector {
        self.most - self.least
    }

    /// Returns the centre of the box.
    pub fn centre(&self) -> Vector {
        self.least + self.size() * 0.5
    }

    /// Returns true if a position is inside the box or on its walls.
    pub fn contains(&self, position: Vector) -> bool {
        self.clamp(position) == position
    }

    /// Returns the position in the box that is nearest to `position`.
    pub fn clamp(&self, position: Vector) -> Vector {
        let Self { least, most } = *self;
        Vector::new(
            position.x.clamp(least.x, most.x),
            position.y.clamp(least.y, most.y),
            position.z.clamp(least.z, most.z),
        )
    }

    /// Returns the cross-section of the box at height `z`.
    #[must_use]
    pub fn at_height(&self, z: f64) -> Self {
        let Self { least, most } = *self;
        Self { least: Vector { z, ..least }, most: Vector { z, ..most } }
    }

    /// Returns a random position in the box, uniformly distributed.
    pub fn draw(&self, random: &mut RandomStream) -> Vector {
        let size = self.size();
        let (x, y, z) = (random.uniform(), random.uniform(), random.uniform());
        self.clamp(self.least + Vector::new(size.x * x, size.y * y, size.z * z))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_has_an_extent_in_x_and_y() {
        let corner = |x, y, z| Area::new(Vector::ZERO, Vector::new(x, y, z));
        assert!(corner(1.0, 1.0, 0.0).is_ok());
        let message = corner(400.0, 0.0, 1.0).unwrap_err().to_string();
        assert_eq!(message, "the area reaches from 0 m to 0 m in y; the second number must be larger");
        let message = corner(400.0, 1.0, -1.0).unwrap_err().to_string();
        assert_eq!(message, "the area reaches from 0 m to -1 m in z; the second number must not be smaller");
        assert_eq!(corner(f64::NAN, 1.0, 1.0).unwrap_err().axis, 'x');
        assert_eq!(corner(f64::INFINITY, 1.0, 1.0).unwrap_err().axis, 'x');
    }

    #[test]
    fn places_are_drawn_everywhere_in_it() {
        let area = Area::new(Vector::new(-10.0, 5.0, 3.0), Vector::new(30.0, 7.0, 3.0)).unwrap();
        let mut random = RandomStream::new(1, "area");
        let places: Vec<Vector> = (0..10_000).map(|_| area.draw(&mut random)).collect();
        assert!(places.iter().all(|place| area.contains(*place) && place.z == 3.0));
        let mean = places.iter().fold(Vector::ZERO, |sum, place| sum + *place) * 1e-4;
        // Five standard deviations of the mean: 5 · 40 / √12 / 100 = 0.58.
        assert!((mean.x - 10.0).abs() < 0.58 && (mean.y - 6.0).abs() < 0.03, "{mean:?}");
        assert_eq!(area.clamp(Vector::new(99.0, 0.0, 4.0)), Vector::new(30.0, 5.0, 3.0));
    }
}
