//! Basic rates, and the rates of replies that follow from them.

use super::mode::{Band, Format, LEGACY_MBPS, PhyMode};

/// A set of OFDM rates that every station of a network supports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BasicRates(u8);

impl BasicRates {
    /// The rates that are mandatory for every station: 6, 12 and 24 Mbit/s (IEEE 802.11-2020 §17.1).
    pub const MANDATORY: Self = Self(0b0001_0101);

    /// Returns a set of rates in Mbit/s; `None` if it is empty or contains a rate that OFDM does not have.
    pub fn new(mbps: &[u32]) -> Option<Self> {
        let bit = |rate: &u32| LEGACY_MBPS.iter().position(|of| of == rate).map(|index| 1u8 << index);
        let set = mbps.iter().try_fold(0, |set, rate| bit(rate).map(|bit| set | bit))?;
        (set != 0).then_some(Self(set))
    }

    /// Returns true if a rate is in the set.
    pub fn contains(self, mode: PhyMode) -> bool {
        mode.format() == Format::Legacy && self.0 >> mode.index() & 1 == 1
    }

    /// Returns the slowest rate of the set, which is used for broadcasts.
    pub fn lowest(self, band: Band) -> PhyMode {
        PhyMode::legacy_at(self.0.trailing_zeros() as u8, band)
    }

    /// Returns the rate of the ACK, CTS or BlockAck that replies to a frame: the fastest rate in the set that is no
    /// faster than the frame.
    ///
    /// IEEE 802.11-2020 §10.6.6: an HT or VHT frame counts with the OFDM rate that has its modulation and code rate. If
    /// all rates of the set are faster, the mandatory rates are used instead.
    pub fn answer(self, mode: PhyMode) -> PhyMode {
        let up_to = u8::MAX >> (7 - reference(mode));
        let usable = if self.0 & up_to != 0 { self.0 & up_to } else { Self::MANDATORY.0 & up_to };
        PhyMode::legacy_at(7 - usable.leading_zeros() as u8, mode.band())
    }
}

/// Returns the OFDM rate with the modulation and code rate of a mode (IEEE 802.11-2020 §10.6.11).
fn reference(mode: PhyMode) -> u8 {
    match mode.format() {
        Format::Legacy => mode.index() as u8,
        Format::Ht | Format::Vht => [0, 2, 3, 4, 5, 6, 7, 7, 7, 7][mode.index()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::mode::{Guard, Width};

    fn mbps(mode: PhyMode) -> u64 {
        mode.rate().as_bps() / 1_000_000
    }

    #[test]
    fn responses_take_the_fastest_basic_rate_below_the_frame() {
        let answer = |rate| mbps(BasicRates::MANDATORY.answer(PhyMode::legacy(rate, Band::Ghz5).unwrap()));
        assert_eq!([6, 9, 12, 18, 24, 36, 48, 54].map(answer), [6, 6, 12, 12, 24, 24, 24, 24]);
    }

    #[test]
    fn an_mcs_counts_as_the_rate_of_its_modulation() {
        let answer =
            |mcs| mbps(BasicRates::MANDATORY.answer(PhyMode::ht(mcs, Width::Mhz40, Guard::Short, Band::Ghz5).unwrap()));
        assert_eq!([0, 1, 2, 3, 4, 7, 8, 15].map(answer), [6, 12, 12, 24, 24, 24, 6, 24]);
        let all = BasicRates::new(&[6, 9, 12, 18, 24, 36, 48, 54]).unwrap();
        assert_eq!(mbps(all.answer(PhyMode::vht(9, 1, Width::Mhz80, Guard::Long).unwrap())), 54);
    }

    #[test]
    fn a_set_without_a_slow_rate_falls_back_to_the_mandatory_ones() {
        let fast = BasicRates::new(&[24, 54]).unwrap();
        assert_eq!(mbps(fast.answer(PhyMode::legacy(18, Band::Ghz5).unwrap())), 12);
        assert_eq!(mbps(fast.lowest(Band::Ghz5)), 24);
        assert!(fast.contains(PhyMode::legacy(54, Band::Ghz5).unwrap()));
        assert!(!fast.contains(PhyMode::legacy(48, Band::Ghz5).unwrap()));
    }

    #[test]
    fn a_set_has_only_rates_of_ofdm_and_at_least_one() {
        assert_eq!(BasicRates::new(&[]), None);
        assert_eq!(BasicRates::new(&[6, 11]), None);
    }
}
