//! Basic rates, and the rates of answers.

use super::mode::{Band, Format, LEGACY_MBPS, Mode};

/// A set of OFDM rates that every station of a network understands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BasicRates(u8);

impl BasicRates {
    /// The rates that every station must have: 6, 12 and 24 Mbit/s (IEEE 802.11-2020 §17.1).
    pub const MANDATORY: Self = Self(0b0001_0101);

    /// A set of rates in Mbit/s; `None` if it is empty or one of them is no rate of OFDM.
    pub fn new(mbps: &[u32]) -> Option<Self> {
        let bit = |rate: &u32| LEGACY_MBPS.iter().position(|of| of == rate).map(|index| 1u8 << index);
        let set = mbps.iter().try_fold(0, |set, rate| bit(rate).map(|bit| set | bit))?;
        (set != 0).then_some(Self(set))
    }

    /// Whether a rate is in the set.
    pub fn contains(self, mode: Mode) -> bool {
        mode.format() == Format::Legacy && self.0 >> mode.index() & 1 == 1
    }

    /// The slowest rate, at which broadcasts leave.
    pub fn lowest(self, band: Band) -> Mode {
        Mode::legacy_at(self.0.trailing_zeros() as u8, band)
    }

    /// The rate of the ACK, CTS or BlockAck that answers a frame: the fastest in the set that is no faster than the frame.
    ///
    /// IEEE 802.11-2020 §10.6.6: an HT or VHT frame counts as the OFDM rate of its modulation and code. If all are
    /// faster, the mandatory rates take the place of the set.
    pub fn answer(self, mode: Mode) -> Mode {
        let up_to = u8::MAX >> (7 - reference(mode));
        let usable = if self.0 & up_to != 0 { self.0 & up_to } else { Self::MANDATORY.0 & up_to };
        Mode::legacy_at(7 - usable.leading_zeros() as u8, mode.band())
    }
}

/// The OFDM rate with the modulation and the code of a mode (IEEE 802.11-2020 §10.6.11).
fn reference(mode: Mode) -> u8 {
    match mode.format() {
        Format::Legacy => mode.index() as u8,
        Format::Ht | Format::Vht => [0, 2, 3, 4, 5, 6, 7, 7, 7, 7][mode.index()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::mode::{Guard, Width};

    fn mbps(mode: Mode) -> u64 {
        mode.rate().as_bps() / 1_000_000
    }

    #[test]
    fn answers_take_the_fastest_basic_rate_below_the_frame() {
        let answer = |rate| mbps(BasicRates::MANDATORY.answer(Mode::legacy(rate, Band::Ghz5).unwrap()));
        assert_eq!([6, 9, 12, 18, 24, 36, 48, 54].map(answer), [6, 6, 12, 12, 24, 24, 24, 24]);
    }

    #[test]
    fn an_mcs_counts_as_the_rate_of_its_modulation() {
        let answer =
            |mcs| mbps(BasicRates::MANDATORY.answer(Mode::ht(mcs, Width::Mhz40, Guard::Short, Band::Ghz5).unwrap()));
        assert_eq!([0, 1, 2, 3, 4, 7, 8, 15].map(answer), [6, 12, 12, 24, 24, 24, 6, 24]);
        let all = BasicRates::new(&[6, 9, 12, 18, 24, 36, 48, 54]).unwrap();
        assert_eq!(mbps(all.answer(Mode::vht(9, 1, Width::Mhz80, Guard::Long).unwrap())), 54);
    }

    #[test]
    fn a_set_without_a_slow_rate_falls_back_to_the_mandatory_ones() {
        let fast = BasicRates::new(&[24, 54]).unwrap();
        assert_eq!(mbps(fast.answer(Mode::legacy(18, Band::Ghz5).unwrap())), 12);
        assert_eq!(mbps(fast.lowest(Band::Ghz5)), 24);
        assert!(fast.contains(Mode::legacy(54, Band::Ghz5).unwrap()));
        assert!(!fast.contains(Mode::legacy(48, Band::Ghz5).unwrap()));
    }

    #[test]
    fn a_set_has_only_rates_of_ofdm_and_at_least_one() {
        assert_eq!(BasicRates::new(&[]), None);
        assert_eq!(BasicRates::new(&[6, 11]), None);
    }
}
