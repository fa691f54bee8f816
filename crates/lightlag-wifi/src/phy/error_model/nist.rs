//! Errors of a convolutional code over an AWGN channel, by union bounds.
//!
//! Pei and Henderson, "Validation of OFDM error rate model in ns-3", 2010, as ns-3 extends it to rate 5/6 and 256-QAM.
//! With the error p of an uncoded bit, D = √(4p(1 − p)) and p_e = 1/(2k) · Σ c_d · D^d, at most 1; k is the numerator
//! of the rate.

use crate::phy::mode::{CodeRate, Modulation};

/// The exponent of D in the first term, the step to the next exponent, and the coefficients c_d.
struct UnionBound {
    divisor: f64,
    first: u32,
    step: u32,
    coefficients: [f64; 10],
    terms: usize,
}

/// Coefficients for rate 1/2, from Frenger et al., "Multi-rate convolutional codes", 1998, and Pei and Henderson
/// (2010), table 1.
const HALF: UnionBound = UnionBound {
    divisor: 2.0,
    first: 10,
    step: 2,
    coefficients: [36.0, 211.0, 1404.0, 11633.0, 77433.0, 502_690.0, 3_322_763.0, 21_292_910.0, 134_365_911.0, 0.0],
    terms: 9,
};
const TWO_THIRDS: UnionBound = UnionBound {
    divisor: 4.0,
    first: 6,
    step: 1,
    coefficients: [3.0, 70.0, 285.0, 1276.0, 6160.0, 27128.0, 117_019.0, 498_860.0, 2_103_891.0, 8_784_123.0],
    terms: 10,
};
const THREE_QUARTERS: UnionBound = UnionBound {
    divisor: 6.0,
    first: 5,
    step: 1,
    coefficients: [
        42.0,
        201.0,
        1492.0,
        10469.0,
        62935.0,
        379_644.0,
        2_253_373.0,
        13_073_811.0,
        75_152_755.0,
        428_005_675.0,
    ],
    terms: 10,
};
const FIVE_SIXTHS: UnionBound = UnionBound {
    divisor: 10.0,
    first: 4,
    step: 1,
    coefficients: [
        92.0,
        528.0,
        8694.0,
        79453.0,
        792_114.0,
        7_375_573.0,
        67_884_974.0,
        610_875_423.0,
        5_427_275_376.0,
        47_664_215_639.0,
    ],
    terms: 10,
};

/// Returns the error probability of an uncoded bit.
fn uncoded(modulation: Modulation, sinr: f64) -> f64 {
    let erfc = |divisor: f64| libm::erfc(libm::sqrt(sinr / divisor));
    match modulation {
        Modulation::Bpsk => 0.5 * erfc(1.0),
        Modulation::Qpsk => 0.5 * erfc(2.0),
        Modulation::Qam16 => 0.75 * 0.5 * erfc(10.0),
        Modulation::Qam64 => 7.0 / 12.0 * 0.5 * erfc(42.0),
        Modulation::Qam256 => 15.0 / 32.0 * 0.5 * erfc(170.0),
    }
}

/// Returns the error probability of a decoded bit.
pub(super) fn error((modulation, code): (Modulation, CodeRate), sinr: f64) -> f64 {
    let p = uncoded(modulation, sinr);
    let bound = match code {
        CodeRate::Half => &HALF,
        CodeRate::TwoThirds => &TWO_THIRDS,
        CodeRate::ThreeQuarters => &THREE_QUARTERS,
        CodeRate::FiveSixths => &FIVE_SIXTHS,
    };
    let d = libm::sqrt(4.0 * p * (1.0 - p));
    let power = |exponent: u32| (0..exponent).fold(1.0, |product, _| product * d);
    let step = power(bound.step);
    let sum = bound.coefficients[..bound.terms].iter().rev().fold(0.0, |sum, c| sum * step + c);
    (sum * power(bound.first) / bound.divisor).min(1.0)
}
