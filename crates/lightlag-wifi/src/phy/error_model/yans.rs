//! Errors of a convolutional code over an AWGN channel, by the first terms of the union bound.
//!
//! Lacage and Henderson, "Yet another network simulator", 2006, as implemented in ns-3. With the energy of a coded bit
//! e = s·B/R, where B is the width and R the rate of coded bits, the error probability of an uncoded bit is p = ½
//! erfc(√e) for BPSK, and for square QAM of M points p = (1 − (1 − z)²)/log2 M with z = (1 − 1/√M)·erfc(√(1.5·log2
//! M·e/(M − 1))). A path of weight d wins with P_d = Σ C(d, i)·p^i·(1 − p)^(d−i) over d/2 < i < d, and half of the term
//! at d/2. A decoded bit is wrong with probability p_e = a_d·P_d + a_(d+1)·P_(d+1). Like ns-3, this implementation
//! omits the term i = d.

use crate::phy::mode::{CodeRate, Modulation};

/// Returns the error probability of an uncoded bit, from the energy of a coded bit.
fn uncoded(modulation: Modulation, energy: f64) -> f64 {
    let points = match modulation {
        Modulation::Bpsk => return 0.5 * libm::erfc(libm::sqrt(energy)),
        Modulation::Qpsk => 4.0,
        Modulation::Qam16 => 16.0,
        Modulation::Qam64 => 64.0,
        Modulation::Qam256 => 256.0,
    };
    let bits = f64::from(modulation.bits());
    let z = (1.0 - 1.0 / libm::sqrt(points)) * libm::erfc(libm::sqrt(1.5 * bits * energy / (points - 1.0)));
    z * (2.0 - z) / bits
}

fn power(base: f64, exponent: u32) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * base)
}

fn choose(n: u32, k: u32) -> f64 {
    (0..k).fold(1.0, |product, i| product * f64::from(n - i) / f64::from(i + 1))
}

/// Returns the probability P_d that a wrong path of this weight is chosen.
fn path(weight: u32, p: f64) -> f64 {
    let term = |i| choose(weight, i) * power(p, i) * power(1.0 - p, weight - i);
    let middle = if weight.is_multiple_of(2) { 0.5 * term(weight / 2) } else { 0.0 };
    middle + (weight / 2 + 1..weight).map(term).sum::<f64>()
}

/// Returns the error probability of a decoded bit, from the energy of a coded bit.
pub(super) fn error((modulation, code): (Modulation, CodeRate), energy: f64) -> f64 {
    let p = uncoded(modulation, energy);
    let (weight, paths, longer) = match code {
        CodeRate::Half => (10, 11.0, 0.0),
        CodeRate::TwoThirds => (6, 1.0, 16.0),
        CodeRate::ThreeQuarters if modulation == Modulation::Bpsk => (5, 8.0, 0.0),
        CodeRate::ThreeQuarters => (5, 8.0, 31.0),
        CodeRate::FiveSixths => (4, 14.0, 69.0),
    };
    (paths * path(weight, p) + longer * path(weight + 1, p)).min(1.0)
}
