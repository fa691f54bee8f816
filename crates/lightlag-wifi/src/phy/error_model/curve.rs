//! A function of the SINR, stored as a table whose points are floating-point numbers with 8 bits of mantissa.

/// Number of mantissa bits below the 8 that select a point.
const REST: u32 = 52 - 8;

/// The logarithm ln(1 − p) of a bit's success, as a table over the SINR.
#[derive(Clone, Debug)]
pub(super) struct ErrorCurve {
    /// The point of the first value, which is the upper bits of its SINR.
    first: u64,
    values: Vec<f64>,
}

/// Minimum and maximum SINR of a table: 2^-10 and 2^14, or −30 and 42 dB.
const LEAST: f64 = 1.0 / 1024.0;
const MOST: f64 = 16_384.0;

/// Value for a bit that is certainly lost, so that a single bit loses the frame.
const LOST: f64 = -50.0;

/// Error probability per bit that is too small to affect even the largest frame.
const NEGLIGIBLE: f64 = 1e-17;

fn point(sinr: f64) -> u64 {
    sinr.to_bits() >> REST
}

fn sinr(point: u64) -> f64 {
    f64::from_bits(point << REST)
}

/// Returns the first point from `low` to `high` for which `is_past` returns true. It must return true for all points
/// after that.
fn first_point(mut low: u64, mut high: u64, is_past: impl Fn(u64) -> bool) -> u64 {
    while low < high {
        let middle = low + (high - low) / 2;
        if is_past(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

impl ErrorCurve {
    /// Returns the table for an error probability per bit, which has to decrease with the SINR.
    pub(super) fn new(error: impl Fn(f64) -> f64) -> Self {
        let value = |at: u64| libm::log1p(-error(sinr(at)).min(1.0)).max(LOST);
        let (min, max) = (point(LEAST), point(MOST));
        let hopeful = first_point(min, max, |at| value(at) > LOST);
        let end = first_point(hopeful, max, |at| value(at) > -NEGLIGIBLE);
        let first = hopeful.saturating_sub(1).max(min);
        Self { first, values: (first..=end).map(value).collect() }
    }

    /// Returns the value at an SINR: `LOST` below the first point, zero above the last, and interpolated linearly in
    /// between.
    #[inline]
    pub(super) fn at(&self, sinr: f64) -> f64 {
        let position = point(sinr);
        if position < self.first || sinr < 0.0 {
            return LOST;
        }
        let index = (position - self.first) as usize;
        let [here, next] = match self.values.get(index..index + 2) {
            Some(pair) => [pair[0], pair[1]],
            None => return 0.0,
        };
        // The mantissa below the point, as a number from 1 to 2.
        let fraction = f64::from_bits(1.0f64.to_bits() | (sinr.to_bits() << 8 & ((1 << 52) - 1))) - 1.0;
        here + fraction * (next - here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_exact_at_its_points_and_linear_between() {
        let error = |sinr: f64| libm::exp(-sinr);
        let curve = ErrorCurve::new(error);
        for sinr in [1.0, 1.25, 3.0, 30.0] {
            assert_eq!(curve.at(sinr), libm::log1p(-error(sinr)), "{sinr}");
        }
        // The points next to 1.25 + 1/512 are 1.25 and 1.25 + 1/256.
        let mean = 0.5 * (curve.at(1.25) + curve.at(1.25 + 1.0 / 256.0));
        assert!((curve.at(1.25 + 1.0 / 512.0) - mean).abs() < 1e-15);
    }

    #[test]
    fn beyond_the_table_bits_are_lost_or_certain() {
        let curve = ErrorCurve::new(|sinr| if sinr < 1.0 { 1.0 } else { libm::exp(-10.0 * sinr) });
        assert_eq!([-1.0, 0.0, 1e-300, 0.5].map(|sinr| curve.at(sinr)), [LOST; 4]);
        assert_eq!([1e3, 1e30, f64::INFINITY].map(|sinr| curve.at(sinr)), [0.0; 3]);
    }
}
