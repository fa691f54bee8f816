//! Positions and velocities.

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

/// A position or a velocity in local coordinates: x to the east, y to the north, z up, in metres or metres per second.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Vector {
    /// Component to the east.
    pub x: f64,
    /// Component to the north.
    pub y: f64,
    /// Component upwards.
    pub z: f64,
}

impl Vector {
    /// The zero vector: the origin, or the velocity of a node at rest.
    pub const ZERO: Self = Self::new(0.0, 0.0, 0.0);

    /// Creates a vector from its components.
    pub const fn new(x: f64, y: f64, z: f64) -> Self {
        Self { x, y, z }
    }

    /// Returns the scalar product.
    #[inline]
    pub fn dot(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    /// Returns the square of the vector's length.
    #[inline]
    pub fn square(self) -> f64 {
        self.dot(self)
    }

    /// Returns the length of the vector.
    #[inline]
    pub fn length(self) -> f64 {
        self.square().sqrt()
    }

    /// Returns the distance to another position.
    #[inline]
    pub fn distance(self, other: Self) -> f64 {
        (self - other).length()
    }

    /// Returns true if all components are finite.
    pub fn is_finite(self) -> bool {
        self.x.is_finite() && self.y.is_finite() && self.z.is_finite()
    }
}

impl Add for Vector {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.x + other.x, self.y + other.y, self.z + other.z)
    }
}

impl AddAssign for Vector {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Vector {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::new(self.x - other.x, self.y - other.y, self.z - other.z)
    }
}

impl Mul<f64> for Vector {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self::new(self.x * factor, self.y * factor, self.z * factor)
    }
}

impl Neg for Vector {
    type Output = Self;
    fn neg(self) -> Self {
        self * -1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_euclidean() {
        let (a, b) = (Vector::new(1.0, 2.0, 3.0), Vector::new(3.0, 5.0, 9.0));
        assert_eq!(a.distance(b), 7.0);
        assert_eq!((b - a).square(), 49.0);
        assert_eq!(a + (b - a) * 0.5, Vector::new(2.0, 3.5, 6.0));
        assert_eq!(a.dot(-b), -40.0);
    }
}
