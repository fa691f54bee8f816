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

/// The first SNR in dB, and ln(−ln(1 − PER)) in hundredths there and at each 0.5 dB after it.
type Knots = (f64, &'static [i16]);

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
    let [here, next] = [index, index + 1].map(|knot| f64::from(values[knot]) / 100.0);
    here + (at - index as f64) * (next - here)
}

/// BCC, frames of 1458 bytes.
#[rustfmt::skip]
const BCC: [Knots; 10] = [
    (-1.0, &[220, 129, 51, -95, -247, -423, -604, -787]),
    (2.0, &[239, 127, 44, -92, -241, -410, -592, -777, -961]),
    (4.5, &[249, 123, 33, -92, -245, -418, -588, -759, -930]),
    (7.5, &[218, 133, 57, -52, -180, -297, -454, -610, -767, -924]),
    (11.0, &[159, 86, -31, -149, -278, -434, -585, -738, -891]),
    (14.5, &[244, 168, 97, 7, -96, -214, -316, -452, -588, -724, -860]),
    (16.0, &[217, 141, 70, -32, -134, -257, -388, -519, -652, -786, -920]),
    (17.5, &[193, 114, 28, -82, -198, -304, -446, -585, -725, -866]),
    (21.0, &[226, 161, 94, 10, -78, -186, -285, -406, -521, -639, -758, -877]),
    (22.5, &[243, 169, 99, 13, -87, -197, -296, -424, -551, -682, -814]),
];

/// BCC, frames of 32 bytes.
#[rustfmt::skip]
const BCC_SHORT: [Knots; 10] = [
    (-3.5, &[208, 152, 101, 54, -11, -96, -192, -316, -461, -620, -782, -943]),
    (-0.5, &[191, 156, 116, 56, -12, -92, -196, -316, -457, -617, -779, -942]),
    (2.0, &[200, 156, 112, 62, -9, -94, -198, -321, -464, -621, -779, -938]),
    (4.0, &[215, 197, 169, 120, 75, 29, -46, -118, -209, -314, -432, -561, -691, -822]),
    (8.0, &[241, 163, 103, 46, -10, -86, -170, -276, -400, -533, -666, -799, -932]),
    (11.5, &[220, 165, 118, 80, 26, -28, -98, -172, -262, -363, -474, -596, -717, -837]),
    (13.0, &[187, 152, 113, 59, 15, -46, -120, -204, -298, -403, -517, -634, -753, -873]),
    (14.0, &[205, 172, 138, 103, 62, 0, -54, -133, -210, -301, -399, -507, -620, -733, -847]),
    (17.5, &[202, 167, 133, 95, 54, 12, -53, -115, -189, -273, -363, -461, -566, -673, -781, -889]),
    (19.0, &[210, 179, 148, 114, 72, 27, -31, -99, -175, -265, -361, -466, -575, -681, -789]),
];

/// LDPC, frames of 1458 bytes.
#[rustfmt::skip]
const LDPC: [Knots; 10] = [
    (-1.5, &[215, -6, -300, -628, -957]),
    (1.5, &[207, 0, -291, -624, -958]),
    (4.0, &[216, 0, -321, -672, -1023]),
    (6.75, &[234, 97, -131, -418, -714, -1010]),
    (10.0, &[208, 23, -261, -609, -958]),
    (14.0, &[213, 91, -154, -443, -739, -1036]),
    (15.5, &[189, 35, -226, -548, -870]),
    (17.0, &[189, 33, -218, -487, -760]),
    (20.5, &[206, 81, -128, -407, -695, -984]),
    (22.25, &[232, 97, -103, -361, -631, -903]),
];
