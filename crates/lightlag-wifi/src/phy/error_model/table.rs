//! Packet error rates from link simulations, by MCS.
//!
//! The curves come from simulations of single streams over an AWGN channel, which ns-3 has used since 3.33 (Patidar et
//! al., "Link-to-system mapping for ns-3 Wi-Fi OFDM error models", Workshop on ns-3, 2017). They give the packet error
//! rate (PER) of frames of 32 and of 1458 bytes. The knots below were fitted to the PER that ns-3.37 returns, by least
//! squares of ln(−ln(1 − PER)). This function is linear between the knots, which have a distance of 0.5 dB, and beyond
//! the last one. The largest difference is 0.04 in the PER, and 0.035 dB in the SNR where a tenth of all frames of 1536
//! bytes is lost. Frames of another length have `PER = 1 − (1 − p)^(L/L_ref)`. With BCC, parts shorter than 400 bytes
//! use the curve for 32 bytes.

use super::Coding;
use crate::propagation::decibels::decibels;

/// The SNR of the first knot in dB, and ln(−ln(1 − PER)) in hundredths at that knot and at every 0.5 dB after it.
type Knots = (f64, &'static [i16]);

const STEP: f64 = 0.5;

/// Minimum number of bits of a part that uses the curve of long frames; shorter parts use the curve of short frames.
pub(super) const SHORT: u32 = 8 * 400;

/// Sizes of the simulated frames in bytes.
const LONG_FRAME: f64 = 1458.0;
const SHORT_FRAME: f64 = 32.0;

/// Returns the probability that a bit of a part is wrong, for the single-stream MCS 0 to 9. Below the first knot, where
/// no simulated frame arrived, every part is lost.
pub(super) fn error(coding: Coding, length: LengthClass, mcs: usize, sinr: f64) -> f64 {
    let (knots, bytes) = match (coding, length) {
        (Coding::Bcc, LengthClass::Long) => (BCC[mcs], LONG_FRAME),
        (Coding::Bcc, LengthClass::Short) => (BCC_SHORT[mcs], SHORT_FRAME),
        (Coding::Ldpc, _) => (LDPC[mcs], LONG_FRAME),
    };
    let decibels = decibels(sinr);
    if decibels < knots.0 {
        return 1.0;
    }
    let frame = -libm::exp(between(knots, decibels));
    -libm::expm1(frame / (8.0 * bytes))
}

/// Whether a part is short or long, which selects its curve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LengthClass {
    Short,
    Long,
}

fn between((first, values): Knots, decibels: f64) -> f64 {
    let position = (decibels - first) / STEP;
    // A whole number of steps, at least 0; the cast of a negative number gives 0.
    let index = (position as usize).min(values.len() - 2);
    let [here, next] = [index, index + 1].map(|knot| f64::from(values[knot]) / 100.0);
    here + (position - index as f64) * (next - here)
}

/// Knots for BCC and frames of 1458 bytes.
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

/// Knots for BCC and frames of 32 bytes.
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

/// Knots for LDPC and frames of 1458 bytes.
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
