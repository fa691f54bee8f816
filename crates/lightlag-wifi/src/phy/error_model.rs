//! The errors of frames: from the SINR of a piece of a frame to the probability that its bits survive.
//!
//! A model gives the probability p that one bit after decoding is wrong. The logarithm ln(1 − p) stands in a table over
//! the SINR, whose points are the floating-point numbers with 8 bits of mantissa; between them it is linear. A lookup
//! takes no logarithm and no power. Pieces of a frame add up, and one exponential gives their success.
//!
//! There is one file for each model: `nist`, `yans`, `table`.

mod curve;
mod nist;
mod table;
mod yans;

use super::mode::{CodeRate, Mode, Modulation};
use curve::Curve;
use table::Length;

/// A model of errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ErrorModel {
    /// Union bounds of the convolutional code over an AWGN channel, after Pei and Henderson (2010).
    #[default]
    Nist,
    /// The first terms of the union bound, after Lacage and Henderson (2006).
    Yans,
    /// Fitted to link simulations, as ns-3 does since 3.33.
    Table(Coding),
}

impl ErrorModel {
    /// The names that a scenario uses, in the order of [`ErrorModel::ALL`].
    pub const NAMES: [&'static str; 4] = ["nist", "yans", "table-bcc", "table-ldpc"];
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Nist, Self::Yans, Self::Table(Coding::Bcc), Self::Table(Coding::Ldpc)];
}

/// A release of ns-3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Release {
    /// 3.30.1.
    Ns3_30,
    /// 3.37.
    Ns3_37,
}

impl ErrorModel {
    /// The model that the Wi-Fi helpers of a release of ns-3 take: they changed it in 3.33. The powers and thresholds of
    /// radios are the same in both.
    pub const fn of_ns3(release: Release) -> Self {
        match release {
            Release::Ns3_30 => Self::Nist,
            Release::Ns3_37 => Self::Table(Coding::Bcc),
        }
    }
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

/// A number drawn from [0, 1) is below it more often than not: 63 times of 64.
pub const SAFE: f64 = 1.0 - 1.0 / 64.0;

/// The curves of a model, for all modes.
#[derive(Clone, Debug)]
pub struct ErrorCurves {
    /// By [`scheme_index`].
    curves: Vec<Curve>,
    /// Those of pieces with fewer than [`table::SHORT`] bits, where they differ.
    short: Vec<Curve>,
    /// Whether the curves are over the energy of a coded bit, not over the SINR.
    by_energy: bool,
}

impl ErrorCurves {
    /// The curves of this model.
    pub fn new(model: ErrorModel) -> Self {
        let all = |curve: &dyn Fn(usize) -> Curve| (0..SCHEMES.len()).map(curve).collect();
        let table = |coding, length| all(&|index| simulated(coding, length, index));
        let curves = match model {
            ErrorModel::Nist => all(&|index| Curve::new(|sinr| nist::error(SCHEMES[index], sinr))),
            ErrorModel::Yans => all(&|index| Curve::new(|energy| yans::error(SCHEMES[index], energy))),
            ErrorModel::Table(coding) => table(coding, Length::Long),
        };
        let short = match model {
            ErrorModel::Table(Coding::Bcc) => table(Coding::Bcc, Length::Short),
            _ => Vec::new(),
        };
        Self { curves, short, by_energy: model == ErrorModel::Yans }
    }

    /// The logarithm of the probability that so many bits of a mode survive at this SINR, a ratio of powers: 0 if they
    /// certainly do, and minus infinity if they do not.
    #[inline]
    pub fn ln_success(&self, mode: Mode, sinr: f64, bits: u32) -> f64 {
        let level = if self.by_energy { sinr * energy(mode) } else { sinr };
        self.lookup(scheme_index(mode.scheme()), level, bits)
    }

    /// The least SINR, a ratio of powers, at which so many bits survive with this probability.
    pub fn needed_sinr(&self, mode: Mode, bits: u32, probability: f64) -> f64 {
        let ln = libm::log(probability);
        least(|sinr| self.ln_success(mode, sinr, bits) >= ln)
    }

    /// The least SINR, a ratio of powers, from which on the headers of a frame of this mode certainly survive.
    pub fn certain_header_sinr(&self, mode: Mode) -> f64 {
        let bits: u32 = mode.headers().map(|header| header.bits).sum();
        least(|sinr| self.ln_header_success(sinr, bits) == 0.0)
    }

    /// A SINR, a ratio of powers, from which on a frame of this mode with at most so many bits, and its headers, survive every
    /// draw below [`SAFE`], in how many pieces of any length it may be looked at.
    pub fn safe_sinr(&self, mode: Mode, bits: u32) -> f64 {
        /// A sixteenth of what `SAFE` allows for the headers, and as much for the rest: the bits of a piece are rounded.
        const RARELY: f64 = (1.0 - SAFE) / 16.0;
        let header_bits: u32 = mode.headers().map(|header| header.bits).sum();
        let rate = if self.by_energy { energy(mode) } else { 1.0 };
        let header_rate = if self.by_energy { SLOWEST_ENERGY } else { 1.0 };
        let survives = |bits: u32, curve: usize, level: f64| {
            let mut curves = [&self.curves, &self.short].into_iter().filter(|curves| !curves.is_empty());
            curves.all(|curves| f64::from(bits) * curves[curve].at(level) >= -RARELY)
        };
        let data = scheme_index(mode.scheme());
        least(|sinr| survives(header_bits, 0, sinr * header_rate) && survives(bits, data, sinr * rate))
    }

    /// The same as [`Self::ln_success`] for the bits of a header.
    #[inline]
    pub fn ln_header_success(&self, sinr: f64, bits: u32) -> f64 {
        let level = if self.by_energy { sinr * SLOWEST_ENERGY } else { sinr };
        self.lookup(0, level, bits)
    }

    #[inline]
    fn lookup(&self, curve: usize, level: f64, bits: u32) -> f64 {
        let is_short = bits < table::SHORT && !self.short.is_empty();
        let curves = if is_short { &self.short } else { &self.curves };
        certain_or_hopeless(f64::from(bits) * curves[curve].at(level))
    }
}

/// The least SINR, a ratio of powers from −40 to 60 dB, that is good.
fn least(is_good: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (1e-4, 1e6);
    // Each step halves the distance in the logarithm: 2^−50 of 100 dB are left.
    for _ in 0..50 {
        let middle = libm::sqrt(low * high);
        if is_good(middle) { high = middle } else { low = middle }
    }
    high
}

/// The curve of the link simulations. They have no rate of 9 Mbit/s, where ns-3 takes the model of 2006.
fn simulated(coding: Coding, length: Length, index: usize) -> Curve {
    match index {
        0 => Curve::new(|sinr| table::error(coding, length, 0, sinr)),
        1 => Curve::new(|sinr| yans::error(SCHEMES[1], sinr * SLOWEST_ENERGY)),
        _ => Curve::new(|sinr| table::error(coding, length, index - 1, sinr)),
    }
}

/// The energy of a coded bit over the SINR: the width times the time of a coded bit.
fn energy(mode: Mode) -> f64 {
    let width_by_symbol = u64::from(mode.width().mhz()) * mode.symbol().as_nanos();
    width_by_symbol as f64 / (1e3 * f64::from(mode.coded_bits_per_symbol()))
}

/// That of 6 Mbit/s, at which headers are sent, and of 9 Mbit/s: 20 MHz · 4 µs / 48.
const SLOWEST_ENERGY: f64 = 20.0 * 4.0 / 48.0;

/// The probability of a logarithm, or of a sum of logarithms, from [`ErrorCurves::ln_success`].
pub fn success(ln: f64) -> f64 {
    match certain_or_hopeless(ln) {
        0.0 => 1.0,
        f64::NEG_INFINITY => 0.0,
        ln => libm::exp(ln),
    }
}

/// Whether a number drawn from [0, 1) is below the probability of a logarithm.
#[inline]
pub fn survives(ln: f64, drawn: f64) -> bool {
    /// 1.5 · 2^52: a small number added to it is rounded to a whole one, which stands in the lowest bits.
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    /// How far the chord between two powers of two lies above the power, at most, and a margin for rounding.
    const CHORD: f64 = 0.0861;
    const MARGIN: f64 = 1e-6;
    match certain_or_hopeless(ln) {
        0.0 => true,
        f64::NEG_INFINITY => false,
        ln => {
            let power = ln * std::f64::consts::LOG2_E;
            let shifted = power - 0.5 + WHOLE;
            // From −½ to ½ beyond the middle between two whole powers.
            let beyond = power - 0.5 - (shifted - WHOLE);
            let below = f64::from_bits(1.0f64.to_bits().wrapping_add(shifted.to_bits() << 52));
            let chord = below * (1.5 + beyond);
            if drawn > chord + MARGIN * below {
                false
            } else if drawn < chord - (CHORD + MARGIN) * below {
                true
            } else {
                drawn < libm::exp(ln)
            }
        }
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
