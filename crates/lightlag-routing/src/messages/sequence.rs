//! Sequence numbers of AODV (RFC 3561 §6.1): 32 bits that wrap around. Two numbers are compared by their signed
//! difference.

/// A sequence number of a destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sequence(pub u32);

impl Sequence {
    /// Returns true if it is newer than another.
    pub fn is_newer_than(self, other: Self) -> bool {
        (self.0.wrapping_sub(other.0) as i32) > 0
    }

    /// Returns the newer of the two numbers.
    #[must_use]
    pub fn newer(self, other: Self) -> Self {
        if other.is_newer_than(self) { other } else { self }
    }

    /// Returns the next number.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_and_stay_in_order() {
        assert!(Sequence(1).is_newer_than(Sequence(u32::MAX)));
        assert!(Sequence(u32::MAX).next().is_newer_than(Sequence(u32::MAX)));
        assert!(!Sequence(7).is_newer_than(Sequence(7)));
        assert!(Sequence(0x7fff_ffff).is_newer_than(Sequence(0)));
        // RFC 3561 §6.1: a difference of 2^31 or more is negative.
        assert!(!Sequence(0x8000_0000).is_newer_than(Sequence(0)));
        assert_eq!(Sequence(3).newer(Sequence(u32::MAX)), Sequence(3));
    }
}
