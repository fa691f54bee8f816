//! Packet errors of link simulations, by MCS.
//!
//! Simulations of single streams over an AWGN channel, which ns-3 has used since 3.33 (Patidar et al., "Link-to-system
//! mapping for ns-3 Wi-Fi OFDM error models", Workshop on ns-3, 2017), give the share of lost frames of 32 and of 1458
//! bytes. The knots below were fitted to that share as ns-3.37 returns it: least squares of ln(−ln(1 − PER)), which is
//! linear between knots 0.5 dB apart and beyond the last. The largest difference is 0.04 in the PER, and 0.035 dB in
//! the SNR at which a tenth of all frames of 1536 bytes is lost. Frames of another length have
//! `PER = 1 − (1 − p)^(L/L_ref)`. With BCC, pieces below 400 bytes take the curve of 32.

use super::Coding;
use crate::propagation::decibels::decibels;

/// The first SNR in dB, and ln(−ln(1 − PER)) there and at each 0.5 dB after it.
type Knots = (f64, &'static [f64]);

const STEP: f64 = 0.5;

/// Pieces of fewer bits take the curves of short frames.
pub(super) const SHORT: u32 = 8 * 400;

/// The bytes of the simulated frames.
const LONG_FRAME: f64 = 1458.0;
const SHORT_FRAME: f64 = 32.0;

/// The probability that a bit of a piece is wrong, for an MCS of one stream from 0 to 9. Below the first knot, where no
/// simulated frame arrived, every piece is lost.
pub(super) fn error(coding: Coding, length: Length, mcs: usize, sinr: f64) -> f64 {
    let (knots, bytes) = match (coding, length) {
        (Coding::Bcc, Length::Long) => (BCC[mcs], LONG_FRAME),
        (Coding::Bcc, Length::Short) => (BCC_SHORT[mcs], SHORT_FRAME),
        (Coding::Ldpc, _) => (LDPC[mcs], LONG_FRAME),
    };
    let decibels = decibels(sinr);
    if decibels < knots.0 {
        return 1.0;
    }
    let frame = -libm::exp(between(knots, decibels));
    -libm::expm1(frame / (8.0 * bytes))
}

/// The length of a piece, by which its curve is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Length {
    Short,
    Long,
}

fn between((first, values): Knots, decibels: f64) -> f64 {
    let at = (decibels - first) / STEP;
    // A whole number of steps, at least 0; the cast of a negative number gives 0.
    let index = (at as usize).min(values.len() - 2);
    values[index] + (at - index as f64) * (values[index + 1] - values[index])
}

/// BCC, frames of 1458 bytes.
#[rustfmt::skip]
const BCC: [Knots; 10] = [
    (-1.0, &[2.2, 1.29, 0.51, -0.95, -2.47, -4.23, -6.04, -7.87]),
    (2.0, &[2.39, 1.27, 0.44, -0.92, -2.41, -4.1, -5.92, -7.77, -9.61]),
    (4.5, &[2.49, 1.23, 0.33, -0.92, -2.45, -4.18, -5.88, -7.59, -9.3]),
    (7.5, &[2.18, 1.33, 0.57, -0.52, -1.8, -2.97, -4.54, -6.1, -7.67, -9.24]),
    (11.0, &[1.59, 0.86, -0.31, -1.49, -2.78, -4.34, -5.85, -7.38, -8.91]),
    (14.5, &[2.44, 1.68, 0.97, 0.07, -0.96, -2.14, -3.16, -4.52, -5.88, -7.24, -8.6]),
    (16.0, &[2.17, 1.41, 0.7, -0.32, -1.34, -2.57, -3.88, -5.19, -6.52, -7.86, -9.2]),
    (17.5, &[1.93, 1.14, 0.28, -0.82, -1.98, -3.04, -4.46, -5.85, -7.25, -8.66]),
    (21.0, &[2.26, 1.61, 0.94, 0.1, -0.78, -1.86, -2.85, -4.06, -5.21, -6.39, -7.58, -8.77]),
    (22.5, &[2.43, 1.69, 0.99, 0.13, -0.87, -1.97, -2.96, -4.24, -5.51, -6.82, -8.14]),
];

/// BCC, frames of 32 bytes.
#[rustfmt::skip]
const BCC_SHORT: [Knots; 10] = [
    (-3.5, &[2.08, 1.52, 1.01, 0.54, -0.11, -0.96, -1.92, -3.16, -4.61, -6.2, -7.82, -9.43]),
    (-0.5, &[1.91, 1.56, 1.16, 0.56, -0.12, -0.92, -1.96, -3.16, -4.57, -6.17, -7.79, -9.42]),
    (2.0, &[2.0, 1.56, 1.12, 0.62, -0.09, -0.94, -1.98, -3.21, -4.64, -6.21, -7.79, -9.38]),
    (4.0, &[2.15, 1.97, 1.69, 1.2, 0.75, 0.29, -0.46, -1.18, -2.09, -3.14, -4.32, -5.61, -6.91, -8.22]),
    (8.0, &[2.41, 1.63, 1.03, 0.46, -0.1, -0.86, -1.7, -2.76, -4.0, -5.33, -6.66, -7.99, -9.32]),
    (11.5, &[2.2, 1.65, 1.18, 0.8, 0.26, -0.28, -0.98, -1.72, -2.62, -3.63, -4.74, -5.96, -7.17, -8.37]),
    (13.0, &[1.87, 1.52, 1.13, 0.59, 0.15, -0.46, -1.2, -2.04, -2.98, -4.03, -5.17, -6.34, -7.53, -8.73]),
    (14.0, &[2.05, 1.72, 1.38, 1.03, 0.62, 0.0, -0.54, -1.33, -2.1, -3.01, -3.99, -5.07, -6.2, -7.33, -8.47]),
    (17.5, &[2.02, 1.67, 1.33, 0.95, 0.54, 0.12, -0.53, -1.15, -1.89, -2.73, -3.63, -4.61, -5.66, -6.73, -7.81, -8.89]),
    (19.0, &[2.1, 1.79, 1.48, 1.14, 0.72, 0.27, -0.31, -0.99, -1.75, -2.65, -3.61, -4.66, -5.75, -6.81, -7.89]),
];

/// LDPC, frames of 1458 bytes.
#[rustfmt::skip]
const LDPC: [Knots; 10] = [
    (-1.5, &[2.15, -0.06, -3.0, -6.28, -9.57]),
    (1.5, &[2.07, 0.0, -2.91, -6.24, -9.58]),
    (4.0, &[2.16, 0.0, -3.21, -6.72, -10.23]),
    (6.75, &[2.34, 0.97, -1.31, -4.18, -7.14, -10.1]),
    (10.0, &[2.08, 0.23, -2.61, -6.09, -9.58]),
    (14.0, &[2.13, 0.91, -1.54, -4.43, -7.39, -10.36]),
    (15.5, &[1.89, 0.35, -2.26, -5.48, -8.7]),
    (17.0, &[1.89, 0.33, -2.18, -4.87, -7.6]),
    (20.5, &[2.06, 0.81, -1.28, -4.07, -6.95, -9.84]),
    (22.25, &[2.32, 0.97, -1.03, -3.61, -6.31, -9.03]),
];
