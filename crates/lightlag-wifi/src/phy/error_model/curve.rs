//! A function of the SINR as a table over floating-point numbers with 8 bits of mantissa.

/// Bits of a number below the 8 bits of mantissa that choose a point.
const REST: u32 = 52 - 8;

/// ln(1 − p) per bit, over the SINR.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    /// The point of the first value: the upper bits of its SINR.
    first: u64,
    values: Vec<f64>,
}

/// The SINRs that a table may cover: 2^-10 to 2^14, −30 to 42 dB.
const LEAST: f64 = 1.0 / 1024.0;
const MOST: f64 = 16_384.0;

/// The value where a bit is surely lost: one bit alone loses the frame.
const LOST: f64 = -50.0;

/// Errors rarer than this do not concern the largest frame.
const NEGLIGIBLE: f64 = 1e-17;

fn point(sinr: f64) -> u64 {
    sinr.to_bits() >> REST
}

fn sinr(point: u64) -> f64 {
    f64::from_bits(point << REST)
}

/// The first of the points from `low` to `high` at which `is_past` holds, which then holds for all that follow.
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

impl Curve {
    /// The table of an error probability per bit, which falls with the SINR.
    pub(super) fn new(error: impl Fn(f64) -> f64) -> Self {
        let value = |at: u64| libm::log1p(-error(sinr(at)).min(1.0)).max(LOST);
        let (least, most) = (point(LEAST), point(MOST));
        let hopeful = first_point(least, most, |at| value(at) > LOST);
        let end = first_point(hopeful, most, |at| value(at) > -NEGLIGIBLE);
        let first = hopeful.saturating_sub(1).max(least);
        Self { first, values: (first..=end).map(value).collect() }
    }

    /// The value at a SINR: that of its first point below it, and zero above its last.
    #[inline]
    pub(super) fn at(&self, sinr: f64) -> f64 {
        let at = point(sinr);
        if at < self.first || sinr < 0.0 {
            return LOST;
        }
        let index = (at - self.first) as usize;
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
        let curve = Curve::new(error);
        for sinr in [1.0, 1.25, 3.0, 30.0] {
            assert_eq!(curve.at(sinr), libm::log1p(-error(sinr)), "{sinr}");
        }
        // The points next to 1.25 + 1/512 are 1.25 and 1.25 + 1/256.
        let mean = 0.5 * (curve.at(1.25) + curve.at(1.25 + 1.0 / 256.0));
        assert!((curve.at(1.25 + 1.0 / 512.0) - mean).abs() < 1e-15);
    }

    #[test]
    fn beyond_the_table_bits_are_lost_or_certain() {
        let curve = Curve::new(|sinr| if sinr < 1.0 { 1.0 } else { libm::exp(-10.0 * sinr) });
        assert_eq!([-1.0, 0.0, 1e-300, 0.5].map(|sinr| curve.at(sinr)), [LOST; 4]);
        assert_eq!([1e3, 1e30, f64::INFINITY].map(|sinr| curve.at(sinr)), [0.0; 3]);
    }
}
