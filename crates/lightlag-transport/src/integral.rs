//! A 128-bit integral over time.

/// A 128-bit sum, stored as two 64-bit halves. A `u128` would align the data of each sender to 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Integral {
    low: u64,
    high: u64,
}

impl Integral {
    /// Returns the sum so far.
    pub fn get(self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }

    /// Adds `value` × `nanos`: a value that was constant for `nanos` nanoseconds.
    pub fn add(&mut self, value: u64, nanos: u64) {
        let sum = self.get() + u128::from(value) * u128::from(nanos);
        (self.low, self.high) = (sum as u64, (sum >> 64) as u64);
    }
}

impl std::fmt::Debug for Integral {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.get().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_halves_carry() {
        let mut integral = Integral::default();
        // Twice 2⁶³, and 1 B for 1 ns.
        integral.add(1 << 31, 1 << 32);
        integral.add(1 << 31, 1 << 32);
        integral.add(1, 1);
        assert_eq!((integral.get(), integral.high, integral.low), ((1 << 64) + 1, 1, 1));
    }
}
