//! MODCODs of DVB-S2 and DVB-S2X: thresholds as printed, efficiencies from the frame structure.
//!
//! **Efficiency.** A BBFRAME of K_bch bits carries K_bch − 80 bits of data after its header (EN 302 307-1 §5.1.6,
//! tables 5a and 5b; EN 302 307-2 tables 4 and 5). Its FECFRAME of n bits takes ⌈n / log₂ M⌉ symbols in S slots of 90;
//! a PLHEADER of 90 symbols precedes them, and with pilots a block of 36 symbols follows every 16 slots, except after
//! the last (§5.5.1): (K_bch − 80) / (90 (S + 1) + 36 ⌊(S − 1)/16⌋) bits per symbol. It holds for full
//! BBFRAMEs; padding and the encapsulation of packets are not counted.
//!
//! **VL-SNR.** Frames for very low signal-to-noise ratios (EN 302 307-2 §5.5.2.5) have a second header of 900 symbols
//! after the PLHEADER, are punctured, always have pilots, and are spread by a factor of 2 in two modes. Set 1 has
//! 30,780 symbols of data and set 2 has 14,976; with headers, pilots and additional pilots their frames are as long as
//! 360 and 180 slots with pilots: 33,282 and 16,686 symbols.
//!
//! **Thresholds.** Ideal Es/N0 on the AWGN channel, without pilots: EN 302 307-1 V1.4.1 table 13 (normal frames, a
//! packet error ratio of 10⁻⁷); EN 302 307-2 table 20a (normal frames) and 20b (short frames; both a frame error ratio of
//! 10⁻⁵). Table 13 adds 0.2 dB to 0.3 dB for short frames; here 0.3 dB. Thresholds of VL-SNR modes other than QPSK 2/9
//! (table 20c) are from memory.

use crate::FrameFormat;
use std::borrow::Cow;

/// Modulation and coding.
#[derive(Clone, PartialEq, Debug)]
pub struct Modcod {
    /// Name.
    pub name: Cow<'static, str>,
    /// Number of bits per symbol.
    pub bits_per_symbol: f64,
    /// Minimum Es/N0 in dB for decoding frames.
    pub threshold: f64,
    /// Format of its frames; `None` for a custom MODCOD.
    pub frame: Option<FrameFormat>,
}

/// Published set of MODCODs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModcodTable {
    /// DVB-S2 with normal FECFRAMEs of 64,800 bits.
    DvbS2,
    /// DVB-S2 with short FECFRAMEs of 16,200 bits.
    DvbS2Short,
    /// DVB-S2 and its extensions (DVB-S2X) with normal FECFRAMEs.
    DvbS2x,
    /// DVB-S2 and its extensions (DVB-S2X) with short FECFRAMEs.
    DvbS2xShort,
    /// DVB-S2X with normal FECFRAMEs, and its modes for very low signal-to-noise ratios (VL-SNR).
    DvbS2xVlSnr,
}

/// MODCOD of a standard: its name, K_bch in bits, log₂ M, and its threshold in dB.
type Row = (&'static str, u32, u32, f64);

/// Symbols of a slot, and of a PLHEADER.
const SLOT: u32 = 90;
/// Symbols of a block of pilots.
const PILOTS: u32 = 36;
/// Slots between two blocks of pilots.
const PILOT_PERIOD: u32 = 16;
/// Bits of the header of a BBFRAME.
const BBHEADER: u32 = 80;
/// Bits of a normal FECFRAME.
const NORMAL: u32 = 64_800;
/// Bits of a short FECFRAME.
const SHORT: u32 = 16_200;
/// Degradation of short frames of DVB-S2 in dB (EN 302 307-1 table 13, note).
const SHORT_LOSS: f64 = 0.3;

/// EN 302 307-1 table 13, with K_bch of table 5a.
const S2_NORMAL: [Row; 28] = [
    ("QPSK 1/4", 16_008, 2, -2.35),
    ("QPSK 1/3", 21_408, 2, -1.24),
    ("QPSK 2/5", 25_728, 2, -0.30),
    ("QPSK 1/2", 32_208, 2, 1.00),
    ("QPSK 3/5", 38_688, 2, 2.23),
    ("QPSK 2/3", 43_040, 2, 3.10),
    ("QPSK 3/4", 48_408, 2, 4.03),
    ("QPSK 4/5", 51_648, 2, 4.68),
    ("QPSK 5/6", 53_840, 2, 5.18),
    ("QPSK 8/9", 57_472, 2, 6.20),
    ("QPSK 9/10", 58_192, 2, 6.42),
    ("8PSK 3/5", 38_688, 3, 5.50),
    ("8PSK 2/3", 43_040, 3, 6.62),
    ("8PSK 3/4", 48_408, 3, 7.91),
    ("8PSK 5/6", 53_840, 3, 9.35),
    ("8PSK 8/9", 57_472, 3, 10.69),
    ("8PSK 9/10", 58_192, 3, 10.98),
    ("16APSK 2/3", 43_040, 4, 8.97),
    ("16APSK 3/4", 48_408, 4, 10.21),
    ("16APSK 4/5", 51_648, 4, 11.03),
    ("16APSK 5/6", 53_840, 4, 11.61),
    ("16APSK 8/9", 57_472, 4, 12.89),
    ("16APSK 9/10", 58_192, 4, 13.13),
    ("32APSK 3/4", 48_408, 5, 12.73),
    ("32APSK 4/5", 51_648, 5, 13.64),
    ("32APSK 5/6", 53_840, 5, 14.28),
    ("32APSK 8/9", 57_472, 5, 15.69),
    ("32APSK 9/10", 58_192, 5, 16.05),
];

/// K_bch of short frames by the nominal code rate (EN 302 307-1 table 5b); 9/10 has none.
const S2_SHORT_BITS: [(&str, u32); 10] = [
    ("1/4", 3_072),
    ("1/3", 5_232),
    ("2/5", 6_312),
    ("1/2", 7_032),
    ("3/5", 9_552),
    ("2/3", 10_632),
    ("3/4", 11_712),
    ("4/5", 12_432),
    ("5/6", 13_152),
    ("8/9", 14_232),
];

/// EN 302 307-2 table 20a, with K_bch of table 4, without QPSK 2/9, whose frames are VL-SNR frames.
const S2X_NORMAL: [Row; 38] = [
    ("QPSK 13/45", 18_528, 2, -2.03),
    ("QPSK 9/20", 28_968, 2, 0.22),
    ("QPSK 11/20", 35_448, 2, 1.45),
    ("8APSK 5/9-L", 35_808, 3, 4.73),
    ("8APSK 26/45-L", 37_248, 3, 5.13),
    ("8PSK 23/36", 41_208, 3, 6.12),
    ("8PSK 25/36", 44_808, 3, 7.02),
    ("8PSK 13/18", 46_608, 3, 7.49),
    ("16APSK 1/2-L", 32_208, 4, 5.97),
    ("16APSK 8/15-L", 34_368, 4, 6.55),
    ("16APSK 5/9-L", 35_808, 4, 6.84),
    ("16APSK 26/45", 37_248, 4, 7.51),
    ("16APSK 3/5", 38_688, 4, 7.80),
    ("16APSK 3/5-L", 38_688, 4, 7.41),
    ("16APSK 28/45", 40_128, 4, 8.10),
    ("16APSK 23/36", 41_208, 4, 8.38),
    ("16APSK 2/3-L", 43_008, 4, 8.43),
    ("16APSK 25/36", 44_808, 4, 9.27),
    ("16APSK 13/18", 46_608, 4, 9.71),
    ("16APSK 7/9", 50_208, 4, 10.65),
    ("16APSK 77/90", 55_248, 4, 11.99),
    ("32APSK 2/3-L", 43_040, 5, 11.10),
    ("32APSK 32/45", 45_888, 5, 11.75),
    ("32APSK 11/15", 47_328, 5, 12.17),
    ("32APSK 7/9", 50_208, 5, 13.05),
    ("64APSK 32/45-L", 45_888, 6, 13.98),
    ("64APSK 11/15", 47_328, 6, 14.81),
    ("64APSK 7/9", 50_208, 6, 15.47),
    ("64APSK 4/5", 51_648, 6, 15.87),
    ("64APSK 5/6", 53_840, 6, 16.55),
    ("128APSK 3/4", 48_408, 7, 17.73),
    ("128APSK 7/9", 50_208, 7, 18.53),
    ("256APSK 29/45-L", 41_568, 8, 16.98),
    ("256APSK 2/3-L", 43_008, 8, 17.24),
    ("256APSK 31/45-L", 44_448, 8, 18.10),
    ("256APSK 32/45", 45_888, 8, 18.59),
    ("256APSK 11/15-L", 47_328, 8, 18.84),
    ("256APSK 3/4", 48_408, 8, 19.57),
];

/// EN 302 307-2 table 20b, with K_bch of table 5.
const S2X_SHORT: [Row; 17] = [
    ("QPSK 11/45", 3_792, 2, -2.50),
    ("QPSK 4/15", 4_152, 2, -2.24),
    ("QPSK 14/45", 4_872, 2, -1.46),
    ("QPSK 7/15", 7_392, 2, 0.60),
    ("QPSK 8/15", 8_472, 2, 1.45),
    ("QPSK 32/45", 11_352, 2, 3.66),
    ("8PSK 7/15", 7_392, 3, 3.83),
    ("8PSK 8/15", 8_472, 3, 4.71),
    ("8PSK 26/45", 9_192, 3, 5.52),
    ("8PSK 32/45", 11_352, 3, 7.54),
    ("16APSK 7/15", 7_392, 4, 5.99),
    ("16APSK 8/15", 8_472, 4, 6.93),
    ("16APSK 26/45", 9_192, 4, 7.66),
    ("16APSK 3/5", 9_552, 4, 8.10),
    ("16APSK 32/45", 11_352, 4, 9.81),
    ("32APSK 2/3", 10_632, 5, 11.41),
    ("32APSK 32/45", 11_352, 5, 12.18),
];

/// Symbols of a VL-SNR frame of set 1.
const VL_SNR_SET_1: u32 = 33_282;
/// Symbols of a VL-SNR frame of set 2.
const VL_SNR_SET_2: u32 = 16_686;

/// QPSK 2/9 of EN 302 307-2 table 20a.
const QPSK_2_9: Modcod = vl_snr("QPSK 2/9", 14_208, VL_SNR_SET_1, -2.85);

/// The other VL-SNR modes (EN 302 307-2 tables 18a and 20c), with K_bch after shortening. "-S" is spread by a factor
/// of 2. Thresholds are from memory.
const VL_SNR: [Modcod; 8] = [
    vl_snr("BPSK-S 1/5", 2_512, VL_SNR_SET_1, -9.90),
    vl_snr("BPSK-S 11/45", 3_792, VL_SNR_SET_1, -8.30),
    vl_snr("BPSK 1/5 medium", 5_660, VL_SNR_SET_1, -6.85),
    vl_snr("BPSK 1/5 short", 3_072, VL_SNR_SET_2, -6.10),
    vl_snr("BPSK 11/45 medium", 7_740, VL_SNR_SET_1, -5.50),
    vl_snr("BPSK 4/15 short", 4_152, VL_SNR_SET_2, -4.90),
    vl_snr("BPSK 1/3 medium", 10_620, VL_SNR_SET_1, -4.00),
    vl_snr("BPSK 1/3 short", 5_232, VL_SNR_SET_2, -3.72),
];

const fn vl_snr(name: &'static str, bch: u32, symbols: u32, threshold: f64) -> Modcod {
    let data_bits = bch - BBHEADER;
    let frame = Some(FrameFormat { data_bits, symbols });
    Modcod { name: Cow::Borrowed(name), bits_per_symbol: data_bits as f64 / symbols as f64, threshold, frame }
}

const fn eighth(name: &'static str, bch: u32, bits: u32, bits_per_symbol: f64, threshold: f64) -> Modcod {
    Modcod { name: Cow::Borrowed(name), bits_per_symbol, threshold, frame: Some(format(bch, bits, NORMAL, false)) }
}

/// Eight MODCODs of DVB-S2 (EN 302 307-1 table 13), the most robust first: the default of a link. Their efficiencies are
/// rounded to three decimals.
pub const DVB_S2: [Modcod; 8] = [
    eighth("QPSK 1/4", 16_008, 2, 0.490, -2.35),
    eighth("QPSK 1/2", 32_208, 2, 0.989, 1.00),
    eighth("QPSK 3/4", 48_408, 2, 1.487, 4.03),
    eighth("8PSK 3/5", 38_688, 3, 1.780, 5.50),
    eighth("8PSK 3/4", 48_408, 3, 2.228, 7.91),
    eighth("16APSK 3/4", 48_408, 4, 2.967, 10.21),
    eighth("32APSK 3/4", 48_408, 5, 3.703, 12.73),
    eighth("32APSK 9/10", 58_192, 5, 4.453, 16.05),
];

/// Returns the format of frames of `coded` bits that carry `bch` bits with 2^`bits` points.
const fn format(bch: u32, bits: u32, coded: u32, pilots: bool) -> FrameFormat {
    let slots = coded.div_ceil(bits).div_ceil(SLOT);
    let blocks = if pilots { (slots - 1) / PILOT_PERIOD } else { 0 };
    FrameFormat { data_bits: bch - BBHEADER, symbols: SLOT * (slots + 1) + PILOTS * blocks }
}

/// Returns K_bch of a short frame of DVB-S2, or `None` if the code rate of this name has none.
fn short_bits(name: &str) -> Option<u32> {
    let (_, rate) = name.split_once(' ')?;
    S2_SHORT_BITS.iter().find(|(short, _)| *short == rate).map(|(_, bch)| *bch)
}

impl ModcodTable {
    /// Every table.
    pub const ALL: [Self; 5] = [Self::DvbS2, Self::DvbS2Short, Self::DvbS2x, Self::DvbS2xShort, Self::DvbS2xVlSnr];

    /// Returns the name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DvbS2 => "dvb-s2",
            Self::DvbS2Short => "dvb-s2 short",
            Self::DvbS2x => "dvb-s2x",
            Self::DvbS2xShort => "dvb-s2x short",
            Self::DvbS2xVlSnr => "dvb-s2x vl-snr",
        }
    }

    /// Returns the MODCODs as listed in the standard, with or without pilots. Frames of VL-SNR modes always have pilots.
    pub fn modcods(self, pilots: bool) -> Vec<Modcod> {
        let frame = |coded: u32| {
            move |&(name, bch, bits, threshold): &Row| {
                let frame = format(bch, bits, coded, pilots);
                let bits_per_symbol = frame.efficiency();
                Modcod { name: Cow::Borrowed(name), bits_per_symbol, threshold, frame: Some(frame) }
            }
        };
        let shortened = |&(name, _, bits, threshold): &Row| {
            Some((name, short_bits(name)?, bits, f64::round((threshold + SHORT_LOSS) * 100.0) / 100.0))
        };
        let normal = S2_NORMAL.iter().map(frame(NORMAL));
        let short = S2_NORMAL.iter().filter_map(shortened).map(|row| frame(SHORT)(&row));
        match self {
            Self::DvbS2 => normal.collect(),
            Self::DvbS2Short => short.collect(),
            Self::DvbS2x => normal.chain([QPSK_2_9]).chain(S2X_NORMAL.iter().map(frame(NORMAL))).collect(),
            Self::DvbS2xVlSnr => Self::DvbS2x.modcods(pilots).into_iter().chain(VL_SNR).collect(),
            Self::DvbS2xShort => short.chain(S2X_SHORT.iter().map(frame(SHORT))).collect(),
        }
    }
}

/// Returns the MODCODs that adaptation may choose, by increasing threshold: those without another one that carries at
/// least as much at a lower threshold.
pub fn frontier(mut modcods: Vec<Modcod>) -> Vec<Modcod> {
    modcods.sort_by(|a, b| a.threshold.total_cmp(&b.threshold).then(b.bits_per_symbol.total_cmp(&a.bits_per_symbol)));
    let mut most = 0.0;
    modcods.retain(|modcod| {
        let is_better = modcod.bits_per_symbol > most;
        most = modcod.bits_per_symbol.max(most);
        is_better
    });
    modcods
}

/// Returns the index of the first MODCOD that is out of order: its threshold or its efficiency is not above the
/// previous one's.
pub fn first_out_of_order(modcods: &[Modcod]) -> Option<usize> {
    let is_ordered =
        |pair: &[Modcod]| pair[0].threshold < pair[1].threshold && pair[0].bits_per_symbol < pair[1].bits_per_symbol;
    modcods.windows(2).position(|pair| !is_ordered(pair)).map(|at| at + 1)
}

#[cfg(test)]
mod tests;
