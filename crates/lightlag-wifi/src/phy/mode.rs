//! Modes: the rates of 802.11a, g, n and ac.
//!
//! IEEE 802.11-2020 §17 (OFDM), §18 (ERP), §19 (HT) and §21 (VHT). A symbol carries `data subcarriers × bits per
//! subcarrier × code rate × streams` bits. It takes 4 µs, or 3.6 µs with a short guard interval.

use lightlag_core::{Duration, Rate};

/// Amendment of 802.11 that a station follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standard {
    /// 802.11a: OFDM at 5 GHz.
    A,
    /// 802.11g without the rates of 802.11b: OFDM at 2.4 GHz.
    G,
    /// 802.11n: HT, in both bands.
    N,
    /// 802.11ac: VHT at 5 GHz.
    Ac,
}

/// Frequency band.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Band {
    /// 2.4 GHz.
    Ghz2,
    /// 5 GHz.
    Ghz5,
}

impl Band {
    /// Returns the reason why a standard cannot use a frequency, given in hertz; `None` if it can.
    pub fn refusal(standard: Standard, frequency: f64) -> Option<&'static str> {
        match (standard, Self::of(frequency)) {
            (_, None) => Some("is outside the 802.11 bands; use 2.4 to 2.5 or 4.9 to 5.925 GHz"),
            (Standard::G, Some(Self::Ghz5)) => {
                Some("is outside the 2.4 GHz band of 802.11g; use \"2.412 GHz\", or 802.11a")
            }
            (Standard::A, Some(Self::Ghz2)) => {
                Some("is outside the 5 GHz band of 802.11a; use \"5.18 GHz\", or 802.11g")
            }
            (Standard::Ac, Some(Self::Ghz2)) => {
                Some("is outside the 5 GHz band of 802.11ac; use \"5.18 GHz\", or 802.11n")
            }
            _ => None,
        }
    }

    /// Returns the band that contains a frequency in hertz; `None` if there is none.
    pub fn of(frequency: f64) -> Option<Self> {
        match frequency {
            2.4e9..=2.5e9 => Some(Self::Ghz2),
            4.9e9..=5.925e9 => Some(Self::Ghz5),
            _ => None,
        }
    }
}

/// Channel width.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Width {
    /// 20 MHz.
    Mhz20,
    /// 40 MHz.
    Mhz40,
    /// 80 MHz.
    Mhz80,
}

impl Width {
    /// All widths.
    pub const ALL: [Self; 3] = [Self::Mhz20, Self::Mhz40, Self::Mhz80];

    /// Returns the width in MHz.
    pub const fn mhz(self) -> u32 {
        match self {
            Self::Mhz20 => 20,
            Self::Mhz40 => 40,
            Self::Mhz80 => 80,
        }
    }

    /// Returns the width in hertz.
    pub fn hertz(self) -> f64 {
        f64::from(self.mhz()) * 1e6
    }

    /// Returns the number of HT or VHT subcarriers that carry data.
    const fn subcarriers(self) -> u32 {
        match self {
            Self::Mhz20 => 52,
            Self::Mhz40 => 108,
            Self::Mhz80 => 234,
        }
    }
}

/// Guard interval between OFDM symbols.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Guard {
    /// 0.8 µs.
    Long,
    /// 0.4 µs; the duration of a PPDU's data field is rounded up to a multiple of 4 µs (IEEE 802.11-2020 §19.4.3 and
    /// §21.4.3).
    Short,
    /// 0.4 µs; the duration of a PPDU's data field is a multiple of 3.6 µs, as in ns-3.
    ShortUnrounded,
}

/// Format of a PPDU.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Format {
    /// OFDM, as in 802.11a and g.
    Legacy,
    /// HT-mixed, as in 802.11n.
    Ht,
    /// VHT, as in 802.11ac.
    Vht,
}

/// The modulation of a subcarrier.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Modulation {
    /// 1 bit per subcarrier.
    Bpsk,
    /// 2 bits per subcarrier.
    Qpsk,
    /// 4 bits per subcarrier.
    Qam16,
    /// 6 bits per subcarrier.
    Qam64,
    /// 8 bits per subcarrier.
    Qam256,
}

impl Modulation {
    /// Returns the number of bits per subcarrier.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Bpsk => 1,
            Self::Qpsk => 2,
            Self::Qam16 => 4,
            Self::Qam64 => 6,
            Self::Qam256 => 8,
        }
    }
}

/// Code rate of the error-correcting code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CodeRate {
    /// 1/2.
    Half,
    /// 2/3.
    TwoThirds,
    /// 3/4.
    ThreeQuarters,
    /// 5/6.
    FiveSixths,
}

impl CodeRate {
    /// Returns the numerator and the denominator.
    pub const fn fraction(self) -> (u32, u32) {
        match self {
            Self::Half => (1, 2),
            Self::TwoThirds => (2, 3),
            Self::ThreeQuarters => (3, 4),
            Self::FiveSixths => (5, 6),
        }
    }
}

/// Modulations and code rates of the OFDM rates 6 to 54 Mbit/s.
const LEGACY: [(Modulation, CodeRate); 8] = [
    (Modulation::Bpsk, CodeRate::Half),
    (Modulation::Bpsk, CodeRate::ThreeQuarters),
    (Modulation::Qpsk, CodeRate::Half),
    (Modulation::Qpsk, CodeRate::ThreeQuarters),
    (Modulation::Qam16, CodeRate::Half),
    (Modulation::Qam16, CodeRate::ThreeQuarters),
    (Modulation::Qam64, CodeRate::TwoThirds),
    (Modulation::Qam64, CodeRate::ThreeQuarters),
];

/// The OFDM rates in Mbit/s.
pub(crate) const LEGACY_MBPS: [u32; 8] = [6, 9, 12, 18, 24, 36, 48, 54];

/// Modulations and code rates of the MCSs of HT (the first eight) and VHT.
const MCS: [(Modulation, CodeRate); 10] = [
    (Modulation::Bpsk, CodeRate::Half),
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

/// A mode: the rate of a frame, and the format of its PPDU.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PhyMode {
    format: Format,
    /// Index of the OFDM rate, or of the MCS for one stream.
    index: u8,
    streams: u8,
    width: Width,
    guard: Guard,
    band: Band,
}

impl PhyMode {
    /// Returns the mode of an OFDM rate: 6, 9, 12, 18, 24, 36, 48 or 54 Mbit/s.
    pub fn legacy(mbps: u32, band: Band) -> Option<Self> {
        let index = LEGACY_MBPS.iter().position(|of| *of == mbps)? as u8;
        Some(Self::legacy_at(index, band))
    }

    /// Returns the mode of the OFDM rate with this index, 0 to 7.
    pub(crate) const fn legacy_at(index: u8, band: Band) -> Self {
        Self { format: Format::Legacy, index, streams: 1, width: Width::Mhz20, guard: Guard::Long, band }
    }

    /// Returns an HT mode by its MCS index, 0 to 31, where every eight indices add one stream. The width may be 20 or
    /// 40 MHz.
    pub fn ht(mcs: u8, width: Width, guard: Guard, band: Band) -> Option<Self> {
        let (index, streams) = (mcs % 8, mcs / 8 + 1);
        let exists = streams <= MOST_STREAMS && width != Width::Mhz80;
        exists.then_some(Self { format: Format::Ht, index, streams, width, guard, band })
    }

    /// Returns a VHT mode with MCS 0 to 9 and 1 to 4 streams; `None` if the standard does not define the combination.
    pub fn vht(mcs: u8, streams: u8, width: Width, guard: Guard) -> Option<Self> {
        // IEEE 802.11-2020 §21.5: combinations whose bits do not divide evenly are left out.
        let missing = match (width, mcs) {
            (Width::Mhz20, 9) => streams != 3,
            (Width::Mhz80, 6) => streams == 3,
            _ => false,
        };
        let exists = mcs < 10 && (1..=MOST_STREAMS).contains(&streams) && !missing;
        exists.then_some(Self { format: Format::Vht, index: mcs, streams, width, guard, band: Band::Ghz5 })
    }

    /// Returns the format of the mode's PPDUs.
    pub const fn format(self) -> Format {
        self.format
    }

    /// Returns the index of the OFDM rate, 0 to 7, or of the single-stream MCS, 0 to 9.
    pub const fn index(self) -> usize {
        self.index as usize
    }

    /// Returns the number of spatial streams.
    pub const fn streams(self) -> u32 {
        self.streams as u32
    }

    /// Returns the width of the channel.
    pub const fn width(self) -> Width {
        self.width
    }

    /// Returns the guard interval.
    pub const fn guard(self) -> Guard {
        self.guard
    }

    /// Returns the frequency band of the mode.
    pub const fn band(self) -> Band {
        self.band
    }

    /// Returns true if frames of this mode can be aggregated.
    pub const fn aggregates(self) -> bool {
        !matches!(self.format, Format::Legacy)
    }

    /// Returns the modulation of a subcarrier, and the code rate.
    pub const fn scheme(self) -> (Modulation, CodeRate) {
        match self.format {
            Format::Legacy => LEGACY[self.index as usize],
            Format::Ht | Format::Vht => MCS[self.index as usize],
        }
    }

    /// Returns the number of coded bits per symbol (N_CBPS).
    pub const fn coded_bits_per_symbol(self) -> u32 {
        let subcarriers = match self.format {
            Format::Legacy => 48,
            Format::Ht | Format::Vht => self.width.subcarriers(),
        };
        subcarriers * self.scheme().0.bits() * self.streams()
    }

    /// Returns the number of data bits per symbol (N_DBPS).
    pub const fn bits_per_symbol(self) -> u32 {
        let (numerator, denominator) = self.scheme().1.fraction();
        self.coded_bits_per_symbol() * numerator / denominator
    }

    /// Returns the duration of a symbol.
    pub const fn symbol(self) -> Duration {
        match self.guard {
            Guard::Long => Duration::from_nanos(4_000),
            Guard::Short | Guard::ShortUnrounded => Duration::from_nanos(3_600),
        }
    }

    /// Returns the data rate.
    pub fn rate(self) -> Rate {
        let bits = u64::from(self.bits_per_symbol()) * 1_000_000_000 / self.symbol().as_nanos();
        Rate::from_bps(bits).expect("a symbol carries bits")
    }
}

/// Maximum number of streams of a mode.
pub const MOST_STREAMS: u8 = 4;

/// The modes that a station can send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capabilities {
    /// Amendment of 802.11.
    pub standard: Standard,
    /// Frequency band.
    pub band: Band,
    /// Channel width.
    pub width: Width,
    /// Guard interval, for HT and VHT.
    pub guard: Guard,
    /// Maximum number of spatial streams, 1 to 4.
    pub streams: u8,
}

impl Capabilities {
    /// Returns the OFDM rates, slowest first.
    pub fn legacy(self) -> impl Iterator<Item = PhyMode> {
        (0..8).map(move |index| PhyMode::legacy_at(index, self.band))
    }

    /// Returns the HT or VHT modes, ordered by streams and then by MCS; none for 802.11a and g.
    pub fn high_throughput(self) -> impl Iterator<Item = PhyMode> {
        let Self { standard, band, width, guard, .. } = self;
        let per_stream = if standard == Standard::Ac { 10 } else { 8 };
        let streams = if matches!(standard, Standard::A | Standard::G) { 0 } else { self.streams };
        (0..streams * per_stream).filter_map(move |number| match standard {
            Standard::Ac => PhyMode::vht(number % per_stream, number / per_stream + 1, width, guard),
            _ => PhyMode::ht(number, width, guard, band),
        })
    }

    /// Returns the modes for data: HT or VHT modes if there are any, otherwise OFDM rates.
    pub fn data_modes(self) -> Vec<PhyMode> {
        match self.standard {
            Standard::A | Standard::G => self.legacy().collect(),
            Standard::N | Standard::Ac => self.high_throughput().collect(),
        }
    }

    /// Returns all modes: first the OFDM rates, then the HT or VHT modes.
    pub fn modes(self) -> Vec<PhyMode> {
        self.legacy().chain(self.high_throughput()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(modes: impl Iterator<Item = PhyMode>) -> Vec<u32> {
        modes.map(PhyMode::bits_per_symbol).collect()
    }

    fn capabilities(standard: Standard, width: Width) -> Capabilities {
        Capabilities { standard, band: Band::Ghz5, width, guard: Guard::Long, streams: 1 }
    }

    #[test]
    fn symbols_carry_the_bits_of_the_standard() {
        let n20 = capabilities(Standard::N, Width::Mhz20);
        assert_eq!(symbols(n20.legacy()), [24, 36, 48, 72, 96, 144, 192, 216]);
        assert_eq!(symbols(n20.high_throughput()), [26, 52, 78, 104, 156, 208, 234, 260]);
        let n40 = capabilities(Standard::N, Width::Mhz40);
        assert_eq!(symbols(n40.high_throughput()), [54, 108, 162, 216, 324, 432, 486, 540]);
        // MCS 8 has 312 bits; 52 × 8 × 5/6 is not an integer, so there is no MCS 9 of one stream at 20 MHz.
        let ac20 = capabilities(Standard::Ac, Width::Mhz20);
        assert_eq!(symbols(ac20.high_throughput()), [26, 52, 78, 104, 156, 208, 234, 260, 312]);
        // 117 × {1, 2, 3, 4, 6, 8, 9, 10, 12, 13⅓}
        let ac80 = capabilities(Standard::Ac, Width::Mhz80);
        assert_eq!(symbols(ac80.high_throughput()), [117, 234, 351, 468, 702, 936, 1053, 1170, 1404, 1560]);
    }

    #[test]
    fn rates_match_the_standard() {
        let n = capabilities(Standard::N, Width::Mhz20);
        let mbps: Vec<f64> = n.high_throughput().map(|mode| mode.rate().as_bps() as f64 / 1e6).collect();
        assert_eq!(mbps, [6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0]);
        let legacy: Vec<u64> = n.legacy().map(|mode| mode.rate().as_bps() / 1_000_000).collect();
        assert_eq!(legacy, LEGACY_MBPS.map(u64::from));
        // 65 Mbit/s × 4 / 3.6 = 72.2 Mbit/s
        let short = PhyMode::ht(7, Width::Mhz20, Guard::Short, Band::Ghz5).unwrap();
        assert_eq!(short.rate().as_bps(), 72_222_222);
    }

    #[test]
    fn streams_multiply_the_bits() {
        let two = Capabilities { streams: 2, ..capabilities(Standard::N, Width::Mhz20) };
        assert_eq!(two.data_modes().len(), 16);
        assert_eq!(two.data_modes()[15].bits_per_symbol(), 520);
        assert_eq!(two.data_modes()[15].streams(), 2);
    }

    #[test]
    fn a_standard_has_its_bands_alone() {
        assert_eq!(Band::refusal(Standard::N, 2.412e9), None);
        assert_eq!(Band::refusal(Standard::N, 5.18e9), None);
        assert_eq!(Band::refusal(Standard::G, 2.412e9), None);
        assert_eq!(Band::refusal(Standard::A, 5.18e9), None);
        assert!(Band::refusal(Standard::G, 5.18e9).unwrap().contains("2.412 GHz"));
        assert!(Band::refusal(Standard::A, 2.412e9).unwrap().contains("5.18 GHz"));
        assert!(Band::refusal(Standard::Ac, 2.412e9).unwrap().contains("5.18 GHz"));
        assert!(Band::refusal(Standard::N, 3e9).unwrap().contains("outside the 802.11 bands"));
    }

    #[test]
    fn combinations_that_the_standard_lacks_do_not_exist() {
        assert_eq!(PhyMode::ht(0, Width::Mhz80, Guard::Long, Band::Ghz5), None);
        assert_eq!(PhyMode::ht(32, Width::Mhz20, Guard::Long, Band::Ghz5), None);
        assert_eq!(PhyMode::vht(9, 1, Width::Mhz20, Guard::Long), None);
        assert!(PhyMode::vht(9, 3, Width::Mhz20, Guard::Long).is_some());
        assert_eq!(PhyMode::vht(6, 3, Width::Mhz80, Guard::Long), None);
        assert_eq!(PhyMode::legacy(11, Band::Ghz2), None);
    }
}
