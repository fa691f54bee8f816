//! Modes: the rates of 802.11a, g, n and ac.
//!
//! IEEE 802.11-2020 §17 (OFDM), §18 (ERP), §19 (HT) and §21 (VHT). A symbol carries
//! `data subcarriers × bits of a subcarrier × code rate × streams` bits in 4 µs, or in 3.6 µs with a short guard interval.

use lightlag_core::{Duration, Rate};

/// An amendment of 802.11.
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

/// A band.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Band {
    /// 2.4 GHz.
    Ghz2,
    /// 5 GHz.
    Ghz5,
}

impl Band {
    /// The reason why a standard does not have a frequency in hertz, if it does not.
    pub fn refusal(standard: Standard, frequency: f64) -> Option<&'static str> {
        match (standard, Self::of(frequency)) {
            (_, None) => Some("is in no band of 802.11; take 2.4 to 2.5 or 4.9 to 5.925 GHz"),
            (Standard::G, Some(Self::Ghz5)) => Some("is not at 2.4 GHz, as 802.11g is; take \"2.412 GHz\", or 802.11a"),
            (Standard::A, Some(Self::Ghz2)) => Some("is not at 5 GHz, as 802.11a is; take \"5.18 GHz\", or 802.11g"),
            (Standard::Ac, Some(Self::Ghz2)) => Some("is not at 5 GHz, as 802.11ac is; take \"5.18 GHz\", or 802.11n"),
            _ => None,
        }
    }

    /// The band of a frequency in hertz, if it is in one.
    pub fn of(frequency: f64) -> Option<Self> {
        match frequency {
            2.4e9..=2.5e9 => Some(Self::Ghz2),
            4.9e9..=5.925e9 => Some(Self::Ghz5),
            _ => None,
        }
    }
}

/// The width of a channel.
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

    /// In MHz.
    pub const fn mhz(self) -> u32 {
        match self {
            Self::Mhz20 => 20,
            Self::Mhz40 => 40,
            Self::Mhz80 => 80,
        }
    }

    /// In hertz.
    pub fn hertz(self) -> f64 {
        f64::from(self.mhz()) * 1e6
    }

    /// The subcarriers of HT and VHT that carry data.
    const fn subcarriers(self) -> u32 {
        match self {
            Self::Mhz20 => 52,
            Self::Mhz40 => 108,
            Self::Mhz80 => 234,
        }
    }
}

/// The guard interval between symbols.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Guard {
    /// 0.8 µs.
    Long,
    /// 0.4 µs; the data of a PPDU takes a multiple of 4 µs (IEEE 802.11-2020 §19.4.3 and §21.4.3).
    Short,
    /// 0.4 µs; the data of a PPDU takes a multiple of 3.6 µs, as in ns-3.
    ShortUnrounded,
}

/// The form of a PPDU.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Format {
    /// OFDM of 802.11a and g.
    Legacy,
    /// HT-mixed of 802.11n.
    Ht,
    /// VHT of 802.11ac.
    Vht,
}

/// The modulation of a subcarrier.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Modulation {
    /// 1 bit.
    Bpsk,
    /// 2 bits.
    Qpsk,
    /// 4 bits.
    Qam16,
    /// 6 bits.
    Qam64,
    /// 8 bits.
    Qam256,
}

impl Modulation {
    /// The bits of a subcarrier.
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

/// The rate of the error-correcting code.
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
    /// Numerator and denominator.
    pub const fn fraction(self) -> (u32, u32) {
        match self {
            Self::Half => (1, 2),
            Self::TwoThirds => (2, 3),
            Self::ThreeQuarters => (3, 4),
            Self::FiveSixths => (5, 6),
        }
    }
}

/// The rates of OFDM, 6 to 54 Mbit/s.
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

/// The rates of OFDM in Mbit/s.
pub(crate) const LEGACY_MBPS: [u32; 8] = [6, 9, 12, 18, 24, 36, 48, 54];

/// The MCSs of HT (the first eight) and VHT.
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

/// The rate at which a frame is sent, and the form of its PPDU.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Mode {
    format: Format,
    /// Among the rates of OFDM, or the MCS of one stream.
    index: u8,
    streams: u8,
    width: Width,
    guard: Guard,
    band: Band,
}

impl Mode {
    /// A rate of OFDM: 6, 9, 12, 18, 24, 36, 48 or 54 Mbit/s.
    pub fn legacy(mbps: u32, band: Band) -> Option<Self> {
        let index = LEGACY_MBPS.iter().position(|of| *of == mbps)? as u8;
        Some(Self::legacy_at(index, band))
    }

    /// The rate of OFDM with this index, 0 to 7.
    pub(crate) const fn legacy_at(index: u8, band: Band) -> Self {
        Self { format: Format::Legacy, index, streams: 1, width: Width::Mhz20, guard: Guard::Long, band }
    }

    /// An MCS of HT by its number, 0 to 31; each eight have one stream more. 20 or 40 MHz.
    pub fn ht(mcs: u8, width: Width, guard: Guard, band: Band) -> Option<Self> {
        let (index, streams) = (mcs % 8, mcs / 8 + 1);
        let exists = streams <= MOST_STREAMS && width != Width::Mhz80;
        exists.then_some(Self { format: Format::Ht, index, streams, width, guard, band })
    }

    /// An MCS of VHT, 0 to 9, for 1 to 4 streams, where the standard has it.
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

    /// The form of its PPDUs.
    pub const fn format(self) -> Format {
        self.format
    }

    /// The rate of OFDM, 0 to 7, or the MCS of one stream, 0 to 9.
    pub const fn index(self) -> usize {
        self.index as usize
    }

    /// Spatial streams.
    pub const fn streams(self) -> u32 {
        self.streams as u32
    }

    /// The width of the channel.
    pub const fn width(self) -> Width {
        self.width
    }

    /// The guard interval.
    pub const fn guard(self) -> Guard {
        self.guard
    }

    /// The band.
    pub const fn band(self) -> Band {
        self.band
    }

    /// Whether frames of this mode may be aggregated.
    pub const fn aggregates(self) -> bool {
        !matches!(self.format, Format::Legacy)
    }

    /// The modulation of a subcarrier and the rate of the code.
    pub const fn scheme(self) -> (Modulation, CodeRate) {
        match self.format {
            Format::Legacy => LEGACY[self.index as usize],
            Format::Ht | Format::Vht => MCS[self.index as usize],
        }
    }

    /// The bits of one symbol with those of the code (N_CBPS).
    pub const fn coded_bits_per_symbol(self) -> u32 {
        let subcarriers = match self.format {
            Format::Legacy => 48,
            Format::Ht | Format::Vht => self.width.subcarriers(),
        };
        subcarriers * self.scheme().0.bits() * self.streams()
    }

    /// The data bits of one symbol (N_DBPS).
    pub const fn bits_per_symbol(self) -> u32 {
        let (numerator, denominator) = self.scheme().1.fraction();
        self.coded_bits_per_symbol() * numerator / denominator
    }

    /// The time of one symbol.
    pub const fn symbol(self) -> Duration {
        match self.guard {
            Guard::Long => Duration::from_nanos(4_000),
            Guard::Short | Guard::ShortUnrounded => Duration::from_nanos(3_600),
        }
    }

    /// Data bits per second.
    pub fn rate(self) -> Rate {
        let bits = u64::from(self.bits_per_symbol()) * 1_000_000_000 / self.symbol().as_nanos();
        Rate::from_bps(bits).expect("a symbol carries bits")
    }
}

/// The most streams of a mode.
pub const MOST_STREAMS: u8 = 4;

/// The modes that a station may send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capabilities {
    /// The amendment.
    pub standard: Standard,
    /// The band.
    pub band: Band,
    /// The width of the channel.
    pub width: Width,
    /// The guard interval of HT and VHT.
    pub guard: Guard,
    /// The most spatial streams, 1 to 4.
    pub streams: u8,
}

impl Capabilities {
    /// The rates of OFDM, the slowest first.
    pub fn legacy(self) -> impl Iterator<Item = Mode> {
        (0..8).map(move |index| Mode::legacy_at(index, self.band))
    }

    /// The MCSs of HT or VHT, in the order of streams and then MCSs; none for 802.11a and g.
    pub fn high_throughput(self) -> impl Iterator<Item = Mode> {
        let Self { standard, band, width, guard, .. } = self;
        let per_stream = if standard == Standard::Ac { 10 } else { 8 };
        let streams = if matches!(standard, Standard::A | Standard::G) { 0 } else { self.streams };
        (0..streams * per_stream).filter_map(move |number| match standard {
            Standard::Ac => Mode::vht(number % per_stream, number / per_stream + 1, width, guard),
            _ => Mode::ht(number, width, guard, band),
        })
    }

    /// The modes for data: the MCSs of HT or VHT, or else the rates of OFDM.
    pub fn data_modes(self) -> Vec<Mode> {
        match self.standard {
            Standard::A | Standard::G => self.legacy().collect(),
            Standard::N | Standard::Ac => self.high_throughput().collect(),
        }
    }

    /// All modes: the rates of OFDM, and then those of HT or VHT.
    pub fn modes(self) -> Vec<Mode> {
        self.legacy().chain(self.high_throughput()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(modes: impl Iterator<Item = Mode>) -> Vec<u32> {
        modes.map(Mode::bits_per_symbol).collect()
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
        // MCS 8 has 312 bits; 52 × 8 × 5/6 is no whole number, so there is no MCS 9 of one stream at 20 MHz.
        let ac20 = capabilities(Standard::Ac, Width::Mhz20);
        assert_eq!(symbols(ac20.high_throughput()), [26, 52, 78, 104, 156, 208, 234, 260, 312]);
        // 117 × {1, 2, 3, 4, 6, 8, 9, 10, 12, 13⅓}
        let ac80 = capabilities(Standard::Ac, Width::Mhz80);
        assert_eq!(symbols(ac80.high_throughput()), [117, 234, 351, 468, 702, 936, 1053, 1170, 1404, 1560]);
    }

    #[test]
    fn rates_are_those_of_the_standard() {
        let n = capabilities(Standard::N, Width::Mhz20);
        let mbps: Vec<f64> = n.high_throughput().map(|mode| mode.rate().as_bps() as f64 / 1e6).collect();
        assert_eq!(mbps, [6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0]);
        let legacy: Vec<u64> = n.legacy().map(|mode| mode.rate().as_bps() / 1_000_000).collect();
        assert_eq!(legacy, LEGACY_MBPS.map(u64::from));
        // 65 Mbit/s × 4 / 3.6 = 72.2 Mbit/s
        let short = Mode::ht(7, Width::Mhz20, Guard::Short, Band::Ghz5).unwrap();
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
        assert!(Band::refusal(Standard::N, 3e9).unwrap().contains("in no band"));
    }

    #[test]
    fn combinations_that_the_standard_lacks_do_not_exist() {
        assert_eq!(Mode::ht(0, Width::Mhz80, Guard::Long, Band::Ghz5), None);
        assert_eq!(Mode::ht(32, Width::Mhz20, Guard::Long, Band::Ghz5), None);
        assert_eq!(Mode::vht(9, 1, Width::Mhz20, Guard::Long), None);
        assert!(Mode::vht(9, 3, Width::Mhz20, Guard::Long).is_some());
        assert_eq!(Mode::vht(6, 3, Width::Mhz80, Guard::Long), None);
        assert_eq!(Mode::legacy(11, Band::Ghz2), None);
    }
}
