//! The errors of frames: from the SINR of a piece of a frame to the probability that its bits survive.
//!
//! A model gives the probability p that one bit after decoding is wrong. The logarithm ln(1 − p) stands in a table over
//! the SINR, whose points are the floating-point numbers with 8 bits of mantissa; between them it is linear. A lookup
//! takes no logarithm and no power. Pieces of a frame add up, and one exponential gives their success.
//!
//! There is one file for each model: `nist`, `yans`, `table`.

mod curve;
mod nist;

use super::mode::{CodeRate, Mode, Modulation};
use curve::Curve;

/// A model of errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ErrorModel {
    /// Union bounds of the convolutional code over an AWGN channel, after Pei and Henderson (2010).
    #[default]
    Nist,
}

/// The error-correcting code of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Coding {
    /// The binary convolutional code.
    #[default]
    Bcc,
    /// Low-density parity checks.
    Ldpc,
}

/// Pieces better than this are certain, and pieces worse than [`HOPELESS`] are lost.
const CERTAIN: f64 = -1e-9;
const HOPELESS: f64 = -40.0;

/// The curves of a model, for all modes.
#[derive(Clone, Debug)]
pub struct ErrorCurves {
    curves: Vec<Curve>,
}

impl ErrorCurves {
    /// The curves of this model.
    pub fn new(model: ErrorModel) -> Self {
        let curves = match model {
            ErrorModel::Nist => SCHEMES.iter().map(|scheme| Curve::new(|sinr| nist::error(*scheme, sinr))).collect(),
        };
        Self { curves }
    }

    /// The logarithm of the probability that so many bits of a mode survive at this SINR, a ratio of powers: 0 if they
    /// certainly do, and minus infinity if they do not.
    #[inline]
    pub fn ln_success(&self, mode: Mode, sinr: f64, bits: u32) -> f64 {
        self.lookup(scheme_index(mode.scheme()), sinr, bits)
    }

    /// The same for the bits of a header.
    #[inline]
    pub fn ln_header_success(&self, sinr: f64, bits: u32) -> f64 {
        self.lookup(0, sinr, bits)
    }

    #[inline]
    fn lookup(&self, curve: usize, sinr: f64, bits: u32) -> f64 {
        certain_or_hopeless(f64::from(bits) * self.curves[curve].at(sinr))
    }
}

/// The probability of a logarithm, or of a sum of logarithms, from [`ErrorCurves::ln_success`].
pub fn success(ln: f64) -> f64 {
    match certain_or_hopeless(ln) {
        0.0 => 1.0,
        f64::NEG_INFINITY => 0.0,
        ln => libm::exp(ln),
    }
}

#[inline]
fn certain_or_hopeless(ln: f64) -> f64 {
    if ln > CERTAIN {
        0.0
    } else if ln < HOPELESS {
        f64::NEG_INFINITY
    } else {
        ln
    }
}

/// The modulations with their codes, in the order of [`scheme_index`].
const SCHEMES: [(Modulation, CodeRate); 11] = [
    (Modulation::Bpsk, CodeRate::Half),
    (Modulation::Bpsk, CodeRate::ThreeQuarters),
    (Modulation::Qpsk, CodeRate::Half),
    (Modulation::Qpsk, CodeRate::ThreeQuarters),
    (Modulation::Qam16, CodeRate::Half),
    (Modulation::Qam16, CodeRate::ThreeQuarters),
    (Modulation::Qam64, CodeRate::TwoThirds),
    (Modulation::Qam64, CodeRate::ThreeQuarters),
    (Modulation::Qam64, CodeRate::FiveSixths),
    (Modulation::Qam256, CodeRate::ThreeQuarters),
    (Modulation::Qam256, CodeRate::FiveSixths),
];

#[inline]
fn scheme_index((modulation, code): (Modulation, CodeRate)) -> usize {
    match (modulation, code) {
        (Modulation::Bpsk, CodeRate::Half) => 0,
        (Modulation::Bpsk, _) => 1,
        (Modulation::Qpsk, CodeRate::Half) => 2,
        (Modulation::Qpsk, _) => 3,
        (Modulation::Qam16, CodeRate::Half) => 4,
        (Modulation::Qam16, _) => 5,
        (Modulation::Qam64, CodeRate::ThreeQuarters) => 7,
        (Modulation::Qam64, CodeRate::FiveSixths) => 8,
        (Modulation::Qam64, _) => 6,
        (Modulation::Qam256, CodeRate::FiveSixths) => 10,
        (Modulation::Qam256, _) => 9,
    }
}

#[cfg(test)]
mod tests;
