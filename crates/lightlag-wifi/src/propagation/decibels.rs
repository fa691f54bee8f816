//! Decibels and powers of two, computed without the mathematics library.
//!
//! Logarithm and exponential are sums of products, so the compiler can vectorise them, and the results have the same
//! bits on every machine. The logarithm has an error of at most 1e-9, which is 3e-9 dB, and the exponential the same
//! relative error.

/// log2(10) / 10: factor from decibels to a power of two.
const TWO_PER_DECIBEL: f64 = std::f64::consts::LOG2_10 / 10.0;

/// 2^52, whose lowest mantissa bit has the value 1.
const ONES: f64 = 4_503_599_627_370_496.0;
/// 1.5 · 2^52: adding it to a number of magnitude up to 2^51 rounds that number to an integer.
const WHOLE: f64 = 6_755_399_441_055_744.0;

/// Returns the logarithm to base 2 of a positive, normal number.
#[inline(always)]
pub fn log2(number: f64) -> f64 {
    // Mantissa in [√½, √2): the bits of √½ come off, and the exponent is what is left above the mantissa.
    const ROOT: u64 = 0x3fe6_a09e_667f_3bcd;
    const ABOVE: u64 = 1024 << 52;
    let shifted = number.to_bits().wrapping_add(ABOVE).wrapping_sub(ROOT);
    // Exponent + 1024, as a number through the mantissa of 2^52.
    let exponent = f64::from_bits(shifted >> 52 | ONES.to_bits()) - (ONES + 1024.0);
    let mantissa = f64::from_bits((shifted & ((1 << 52) - 1)).wrapping_add(ROOT));
    // ln m = 2 artanh((m − 1)/(m + 1)), a series in odd powers of at most 0.1716.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let s2 = s * s;
    let series = 1.0 + s2 * (1.0 / 3.0 + s2 * (1.0 / 5.0 + s2 * (1.0 / 7.0 + s2 * (1.0 / 9.0 + s2 * (1.0 / 11.0)))));
    exponent + 2.0 * std::f64::consts::LOG2_E * s * series
}

/// Returns 2 to a power, which is limited to −1022 to 1023.
#[inline(always)]
pub fn exp2(power: f64) -> f64 {
    let power = power.clamp(-1022.0, 1023.0);
    let shifted = power + WHOLE;
    let whole = shifted - WHOLE;
    // The exponential series of at most ½·ln 2 in size.
    let x = (power - whole) * std::f64::consts::LN_2;
    let tail = 1.0 / 720.0 + x * (1.0 / 5040.0 + x * (1.0 / 40_320.0 + x * (1.0 / 362_880.0)));
    let series = 1.0 + x * (1.0 + x * (0.5 + x * (1.0 / 6.0 + x * (1.0 / 24.0 + x * (1.0 / 120.0 + x * tail)))));
    f64::from_bits(series.to_bits().wrapping_add(shifted.to_bits() << 52))
}

/// Returns a value in decibels as a ratio of powers.
pub fn ratio(decibels: f64) -> f64 {
    exp2(decibels * TWO_PER_DECIBEL)
}

/// Returns a positive ratio of powers in decibels.
#[inline]
pub fn decibels(ratio: f64) -> f64 {
    log2(ratio) / TWO_PER_DECIBEL
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn logarithm_and_exponential_agree_with_libm(number in 1e-300f64..1e300, power in -1000f64..1000.0) {
            prop_assert!((log2(number) - libm::log2(number)).abs() < 1e-9 + 1e-15 * libm::log2(number).abs());
            prop_assert!((exp2(power) / libm::exp2(power) - 1.0).abs() < 1e-9);
        }

        #[test]
        fn small_logarithms_are_accurate(number in 1e-6f64..1e6) {
            prop_assert!((log2(number) - libm::log2(number)).abs() < 1e-9);
        }
    }

    #[test]
    fn decibels_of_known_ratios() {
        for (number, power) in [(1.0, 0.0), (2.0, 1.0), (0.5, -1.0), (1024.0, 10.0)] {
            assert_eq!((log2(number), exp2(power)), (power, number));
        }
        assert!((ratio(20.0) - 100.0).abs() < 1e-7 && (decibels(1000.0) - 30.0).abs() < 1e-8);
        assert!(ratio(-1e9) > 0.0 && ratio(-1e9) < 1e-300);
    }
}
