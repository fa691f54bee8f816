//! Frame errors: the probability that the bits of a part of a frame survive, from the SINR during that part.
//!
//! A model gives the probability p that a bit is wrong after decoding. ln(1 − p) is stored in a table over the SINR.
//! The points of the table are the floating-point numbers with 8 bits of mantissa, and values in between are
//! interpolated linearly, so a lookup needs no logarithm and no power. The logarithms of a frame's parts are added, and
//! one exponential gives the probability of success.
//!
//! Each model has its own file: `nist`, `yans`, `table`.

mod curve;
mod nist;
mod table;
mod yans;

use super::mode::{CodeRate, Modulation, PhyMode};
use curve::ErrorCurve;
use table::LengthClass;

/// A model of frame errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ErrorModel {
    /// Union bounds for the convolutional code over an AWGN channel (Pei and Henderson 2010).
    #[default]
    Nist,
    /// The first terms of the union bound (Lacage and Henderson 2006).
    Yans,
    /// Curves fitted to link simulations, which ns-3 has used since 3.33.
    Table(Coding),
}

impl ErrorModel {
    /// Names of the models in scenarios, in the order of [`ErrorModel::ALL`].
    pub const NAMES: [&'static str; 4] = ["nist", "yans", "table-bcc", "table-ldpc"];
    /// All models.
    pub const ALL: [Self; 4] = [Self::Nist, Self::Yans, Self::Table(Coding::Bcc), Self::Table(Coding::Ldpc)];
}

/// A release of ns-3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Release {
    /// ns-3.30.1.
    Ns3_30,
    /// ns-3.37.
    Ns3_37,
}

impl ErrorModel {
    /// Returns the default model of the Wi-Fi helpers in a release of ns-3, which changed in 3.33. Powers and
    /// thresholds of radios are the same in both releases.
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
    /// Low-density parity-check code.
    Ldpc,
}

/// Log probabilities above `CERTAIN` count as certain success, and those below `HOPELESS` as certain loss.
const CERTAIN: f64 = -1e-9;
const HOPELESS: f64 = -40.0;

/// Threshold that 63 of 64 random numbers from [0, 1) are below.
pub const SAFE: f64 = 1.0 - 1.0 / 64.0;

/// The error curves of a model, for all modes.
#[derive(Clone, Debug)]
pub struct ErrorCurves {
    /// Curves by [`scheme_index`].
    curves: Vec<ErrorCurve>,
    /// Curves for parts with fewer than [`table::SHORT`] bits, if the model has separate ones.
    short: Vec<ErrorCurve>,
    /// Whether the curves are over the energy of a coded bit instead of the SINR.
    by_energy: bool,
}

impl ErrorCurves {
    /// Computes the curves of a model.
    pub fn new(model: ErrorModel) -> Self {
        let all = |curve: &dyn Fn(usize) -> ErrorCurve| (0..SCHEMES.len()).map(curve).collect();
        let table = |coding, length| all(&|index| simulated(coding, length, index));
        let curves = match model {
            ErrorModel::Nist => all(&|index| ErrorCurve::new(|sinr| nist::error(SCHEMES[index], sinr))),
            ErrorModel::Yans => all(&|index| ErrorCurve::new(|energy| yans::error(SCHEMES[index], energy))),
            ErrorModel::Table(coding) => table(coding, LengthClass::Long),
        };
        let short = match model {
            ErrorModel::Table(Coding::Bcc) => table(Coding::Bcc, LengthClass::Short),
            _ => Vec::new(),
        };
        Self { curves, short, by_energy: model == ErrorModel::Yans }
    }

    /// Returns the logarithm of the probability that this number of bits of a mode survive at an SINR, given as a ratio
    /// of powers: 0 if they certainly survive, and minus infinity if they certainly do not.
    #[inline]
    pub fn ln_success(&self, mode: PhyMode, sinr: f64, bits: u32) -> f64 {
        let level = if self.by_energy { sinr * energy(mode) } else { sinr };
        self.lookup(scheme_index(mode.scheme()), level, bits)
    }

    /// Returns the minimum SINR, as a ratio of powers, for which `bits` survive with this probability.
    pub fn needed_sinr(&self, mode: PhyMode, bits: u32, probability: f64) -> f64 {
        let ln = libm::log(probability);
        least(|sinr| self.ln_success(mode, sinr, bits) >= ln)
    }

    /// Returns the minimum SINR, as a ratio of powers, for which the headers of a frame of this mode certainly survive.
    pub fn certain_header_sinr(&self, mode: PhyMode) -> f64 {
        let bits: u32 = mode.headers().map(|header| header.bits).sum();
        least(|sinr| self.ln_header_success(sinr, bits) == 0.0)
    }

    /// Returns a sufficient SINR, as a ratio of powers, for a frame of this mode with at most `bits` bits to survive
    /// every draw below [`SAFE`], together with its headers and however the frame is partitioned.
    pub fn safe_sinr(&self, mode: PhyMode, bits: u32) -> f64 {
        /// Maximum loss probability of the headers, and of the data: a sixteenth of what `SAFE` permits, because the
        /// numbers of bits of the parts are rounded.
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

    /// Returns the same logarithm as [`Self::ln_success`] for bits of a header.
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

/// Returns the minimum SINR between −40 and 60 dB, as a ratio of powers, for which `is_good` returns true.
fn least(is_good: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (1e-4, 1e6);
    // Each step halves the distance in the logarithm: 2^−50 of 100 dB are left.
    for _ in 0..50 {
        let middle = libm::sqrt(low * high);
        if is_good(middle) { high = middle } else { low = middle }
    }
    high
}

/// Returns a curve of the link simulations. They do not include 9 Mbit/s, for which ns-3 uses the model of 2006.
fn simulated(coding: Coding, length: LengthClass, index: usize) -> ErrorCurve {
    match index {
        0 => ErrorCurve::new(|sinr| table::error(coding, length, 0, sinr)),
        1 => ErrorCurve::new(|sinr| yans::error(SCHEMES[1], sinr * SLOWEST_ENERGY)),
        _ => ErrorCurve::new(|sinr| table::error(coding, length, index - 1, sinr)),
    }
}

/// Returns the factor from the SINR to the energy of a coded bit: the channel width multiplied by the duration of a
/// coded bit.
fn energy(mode: PhyMode) -> f64 {
    let width_by_symbol = u64::from(mode.width().mhz()) * mode.symbol().as_nanos();
    width_by_symbol as f64 / (1e3 * f64::from(mode.coded_bits_per_symbol()))
}

/// Factor from the SINR to the energy of a coded bit at 6 Mbit/s, the rate of headers, and at 9 Mbit/s: 20 MHz · 4 µs /
/// 48.
const SLOWEST_ENERGY: f64 = 20.0 * 4.0 / 48.0;

/// Returns the probability for a logarithm, or a sum of logarithms, from [`ErrorCurves::ln_success`].
pub fn success(ln: f64) -> f64 {
    match certain_or_hopeless(ln) {
        0.0 => 1.0,
        f64::NEG_INFINITY => 0.0,
        ln => libm::exp(ln),
    }
}

/// Returns true if the random number `drawn` from [0, 1) is below the probability whose logarithm is `ln`.
#[inline]
pub fn survives(ln: f64, drawn: f64) -> bool {
    /// 1.5 · 2^52: adding it to a small number rounds that to an integer, which is then in the lowest bits.
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    /// Maximum difference between the chord from one power of two to the next and the exponential, with a margin for
    /// rounding.
    const CHORD: f64 = 0.0861;
    const MARGIN: f64 = 1e-6;
    match certain_or_hopeless(ln) {
        0.0 => true,
        f64::NEG_INFINITY => false,
        ln => {
            let power = ln * std::f64::consts::LOG2_E;
            let shifted = power - 0.5 + WHOLE;
            // From −½ to ½ beyond the middle between two integer powers.
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

/// Modulations with their code rates, in the order of [`scheme_index`].
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
