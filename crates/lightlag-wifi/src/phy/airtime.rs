//! The duration of a PPDU.
//!
//! IEEE 802.11-2020 §17.4.3, §19.4.3 and §21.4.3: a PPDU consists of a preamble with headers, and `16 + 8·L + 6·N_ES`
//! bits in an integer number of symbols: the service field, the L bytes of the frame, and the tail of each encoder. At
//! 2.4 GHz, 6 µs of silence follow (the signal extension).

use super::mode::{Band, Format, Guard, PhyMode, Width};
use lightlag_core::{Bytes, Duration};

/// Maximum duration of an HT or VHT PPDU (IEEE 802.11-2020, aPPDUMaxTime of HT).
pub const LONGEST_PPDU: Duration = Duration::from_micros(5_484);

/// Maximum size of an HT A-MPDU.
pub const LONGEST_AGGREGATE: Bytes = Bytes(65_535);

/// Duration of the silence after a PPDU at 2.4 GHz (IEEE 802.11-2020 §18.3.2.4).
pub const SIGNAL_EXTENSION: Duration = Duration::from_micros(6);

/// Number of bits of the service field, before the frame.
const SERVICE_BITS: u64 = 16;
/// Number of tail bits, which return one encoder to its initial state.
const TAIL_BITS: u64 = 6;

/// A header of a PPDU, sent with BPSK and rate 1/2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PpduHeader {
    /// Time from the start of the PPDU to the start of the header.
    pub start: Duration,
    /// Time from the start of the PPDU to the end of the header.
    pub end: Duration,
    /// Number of bits.
    pub bits: u32,
}

impl PpduHeader {
    const fn new(start: u64, end: u64, bits: u32) -> Self {
        Self { start: Duration::from_micros(start), end: Duration::from_micros(end), bits }
    }
}

const L_SIG: PpduHeader = PpduHeader::new(16, 20, 24);
/// The HT-SIG or VHT-SIG-A field.
const SIG: PpduHeader = PpduHeader::new(20, 28, 48);

impl PhyMode {
    /// Returns the duration of the fields that train the receiver for each stream.
    fn training(self) -> Duration {
        // IEEE 802.11-2020, tables 19-13 and 21-13: three streams take four fields.
        let fields = if self.streams() == 3 { 4 } else { u64::from(self.streams()) };
        Duration::from_micros(4 * fields)
    }

    /// Returns the time before the data field: preamble, headers and training fields.
    pub fn header_duration(self) -> Duration {
        match self.format() {
            Format::Legacy => L_SIG.end,
            Format::Ht => SIG.end + Duration::from_micros(4) + self.training(),
            Format::Vht => SIG.end + Duration::from_micros(4) + self.training() + Duration::from_micros(4),
        }
    }

    /// Returns the headers in the order in which they are sent. All of them must be decoded before the data.
    #[inline]
    pub fn headers(self) -> impl Iterator<Item = PpduHeader> {
        let sig = (self.format() != Format::Legacy).then_some(SIG);
        let sig_b = (self.format() == Format::Vht).then(|| {
            let end = self.header_duration();
            let bits = match self.width() {
                Width::Mhz20 => 26,
                Width::Mhz40 => 27,
                Width::Mhz80 => 29,
            };
            PpduHeader { start: end.saturating_sub(Duration::from_micros(4)), end, bits }
        });
        [Some(L_SIG), sig, sig_b].into_iter().flatten()
    }

    /// Returns the duration of the silence that belongs to the PPDU.
    pub const fn extension(self) -> Duration {
        match self.band() {
            Band::Ghz2 => SIGNAL_EXTENSION,
            Band::Ghz5 => Duration::ZERO,
        }
    }

    /// Returns the number of encoders of the binary convolutional code (N_ES), which follows from the rate with a short
    /// guard interval.
    fn encoders(self) -> u64 {
        // IEEE 802.11-2020 §19.5 and §21.5: one for each 320 Mbit/s of HT, or 600 Mbit/s of VHT.
        let bits_per_microsecond = |most: u64| u64::from(self.bits_per_symbol()) * 10 / (most * 36);
        match self.format() {
            Format::Legacy => 1,
            Format::Ht => bits_per_microsecond(320) + 1,
            Format::Vht => (u64::from(self.bits_per_symbol()) * 10).div_ceil(600 * 36),
        }
    }

    /// Returns the number of service and tail bits around the frame.
    fn overhead_bits(self) -> u64 {
        SERVICE_BITS + TAIL_BITS * self.encoders()
    }

    fn symbols(self, size: Bytes) -> u64 {
        (size.bits() + self.overhead_bits()).div_ceil(u64::from(self.bits_per_symbol()))
    }

    /// Returns the number of bits in the data field of a PPDU, including service, tail and padding.
    pub fn carried_bits(self, size: Bytes) -> u64 {
        self.symbols(size) * u64::from(self.bits_per_symbol())
    }

    /// Returns the duration of a PPDU that contains an MPDU or A-MPDU of this size, including preamble, headers and
    /// signal extension.
    pub fn duration(self, size: Bytes) -> Duration {
        let mut data = self.symbol() * self.symbols(size);
        if self.guard() == Guard::Short {
            data = Duration::from_micros(data.as_nanos().div_ceil(4_000) * 4);
        }
        self.header_duration() + data + self.extension()
    }

    /// Returns the maximum size of the MPDU or A-MPDU in a PPDU that lasts at most `limit`.
    pub fn largest(self, limit: Duration) -> Bytes {
        let around = self.header_duration() + self.extension();
        let mut data = limit.saturating_sub(around).as_nanos();
        if self.guard() == Guard::Short {
            data -= data % 4_000;
        }
        let symbols = data / self.symbol().as_nanos();
        let bits = symbols * u64::from(self.bits_per_symbol());
        Bytes(bits.saturating_sub(self.overhead_bits()) / 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn micros(mode: PhyMode, size: u64) -> f64 {
        mode.duration(Bytes(size)).as_nanos() as f64 / 1e3
    }

    fn legacy(mbps: u32) -> PhyMode {
        PhyMode::legacy(mbps, Band::Ghz5).unwrap()
    }

    fn ht(mcs: u8, guard: Guard) -> PhyMode {
        PhyMode::ht(mcs, Width::Mhz20, guard, Band::Ghz5).unwrap()
    }

    #[test]
    fn the_data_field_carries_full_symbols() {
        let mode = PhyMode::legacy(24, Band::Ghz5).unwrap();
        // 16 + 8 · 14 + 6 bits are two symbols of 96.
        assert_eq!((mode.carried_bits(Bytes(14)), mode.carried_bits(Bytes(1538))), (192, 129 * 96));
    }

    #[test]
    fn legacy_frames_take_full_symbols_after_twenty_microseconds() {
        // 20 + 4·ceil((16 + 8·1536 + 6) / 96) = 20 + 4·129
        assert_eq!(micros(legacy(24), 1536), 536.0);
        assert_eq!(micros(legacy(24), 1538), 536.0);
        assert_eq!(micros(legacy(24), 76), 48.0);
        assert_eq!(micros(legacy(24), 14), 28.0);
        assert_eq!(micros(legacy(6), 14), 44.0);
        assert_eq!(micros(legacy(24), 20), 28.0);
        assert_eq!(micros(legacy(6), 1536), 2072.0);
        assert_eq!(micros(legacy(24), 32), 32.0);
        assert_eq!(micros(legacy(6), 88), 144.0);
    }

    #[test]
    fn a_frame_at_2_4_ghz_has_a_signal_extension() {
        assert_eq!(micros(PhyMode::legacy(24, Band::Ghz2).unwrap(), 1536), 542.0);
        assert_eq!(micros(PhyMode::ht(7, Width::Mhz20, Guard::Long, Band::Ghz2).unwrap(), 1538), 234.0);
    }

    #[test]
    fn ht_frames_have_headers_of_36_microseconds() {
        let times: Vec<f64> = [0, 3, 7].map(|mcs| micros(ht(mcs, Guard::Long), 1538)).to_vec();
        // 36 + 4·ceil((16 + 8·1538 + 6) / 26) = 36 + 4·475 for MCS 0
        assert_eq!(times, [1936.0, 512.0, 228.0]);
    }

    #[test]
    fn vht_frames_have_headers_of_40_microseconds() {
        // 40 + 4·ceil(12326 / 312) = 40 + 4·40
        assert_eq!(micros(PhyMode::vht(8, 1, Width::Mhz20, Guard::Long).unwrap(), 1538), 200.0);
        assert_eq!(PhyMode::vht(8, 2, Width::Mhz20, Guard::Long).unwrap().header_duration(), Duration::from_micros(44));
    }

    #[test]
    fn a_short_guard_interval_is_rounded_as_the_standard_or_ns_3_do() {
        // ceil(12326 / 260) = 48 symbols of 3.6 µs are 172.8 µs, rounded up 176 µs.
        assert_eq!(micros(ht(7, Guard::Short), 1538), 36.0 + 176.0);
        assert_eq!(micros(ht(7, Guard::ShortUnrounded), 1538), 36.0 + 172.8);
    }

    #[test]
    fn the_longest_ht_ppdu_holds_28_frames_of_1538_bytes() {
        // A subframe has 4 bytes more and is padded to 4: 1544 B. 28 of them fit into 5.484 ms at 65 Mbit/s.
        let frames = |guard| ht(7, guard).largest(LONGEST_PPDU).0 / 1544;
        assert_eq!((frames(Guard::Long), frames(Guard::Short)), (28, 31));
    }

    #[test]
    fn headers_end_where_the_data_starts() {
        let ends = |mode: PhyMode| mode.headers().map(|of| (of.end.as_nanos() / 1000, of.bits)).collect::<Vec<_>>();
        assert_eq!(ends(legacy(24)), [(20, 24)]);
        assert_eq!(ends(ht(3, Guard::Long)), [(20, 24), (28, 48)]);
        assert_eq!(ends(PhyMode::vht(3, 1, Width::Mhz40, Guard::Long).unwrap()), [(20, 24), (28, 48), (40, 27)]);
    }

    #[test]
    fn fast_modes_have_several_encoders() {
        let encoders = |mcs| PhyMode::ht(mcs, Width::Mhz40, Guard::Long, Band::Ghz5).unwrap().encoders();
        // IEEE 802.11-2020 §19.5: 40 MHz, MCS 20 has one encoder, MCS 21 and 28 have two.
        assert_eq!([7, 20, 21, 28, 31].map(encoders), [1, 1, 2, 2, 2]);
        let vht = |mcs, streams| PhyMode::vht(mcs, streams, Width::Mhz80, Guard::Long).unwrap().encoders();
        // IEEE 802.11-2020 §21.5, 80 MHz: MCS 9 of 1 to 4 streams.
        assert_eq!([vht(9, 1), vht(9, 2), vht(9, 3), vht(9, 4)], [1, 2, 3, 3]);
    }

    proptest! {
        #[test]
        fn the_largest_size_fits_and_one_more_byte_does_not(mcs in 0u8..32, guard in 0usize..3, limit in 100u64..5484) {
            let guard = [Guard::Long, Guard::Short, Guard::ShortUnrounded][guard];
            let (mode, limit) = (ht(mcs, guard), Duration::from_micros(limit));
            let max_size = mode.largest(limit);
            prop_assert!(mode.duration(max_size) <= limit);
            prop_assert!(mode.duration(max_size + Bytes(1)) > limit);
        }
    }
}
