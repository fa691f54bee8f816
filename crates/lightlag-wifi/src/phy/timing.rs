//! Slots, and the spaces between frames.
//!
//! IEEE 802.11-2020, table 17-21 (5 GHz) and §18.4.5 (2.4 GHz, short slot), §10.3.2.3 (spaces).

use super::basic::BasicRates;
use super::mode::Band;
use lightlag_core::{Bytes, Duration};

/// The times of the medium access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// A slot.
    pub slot: Duration,
    /// The short space: before an answer.
    pub sifs: Duration,
    /// The space after a frame that was not understood.
    pub eifs: Duration,
}

/// The time that a station needs to see that the medium is busy.
pub const CCA_TIME: Duration = Duration::from_micros(4);

/// An ACK, with its check sum.
pub const ACK_SIZE: Bytes = Bytes(14);

impl Timing {
    /// The times of a band. The slot at 2.4 GHz is the short one of a network without 802.11b.
    pub fn new(band: Band) -> Self {
        let sifs = match band {
            Band::Ghz2 => Duration::from_micros(10),
            Band::Ghz5 => Duration::from_micros(16),
        };
        let timing = Self { slot: Duration::from_micros(9), sifs, eifs: Duration::ZERO };
        let ack = BasicRates::MANDATORY.lowest(band).duration(ACK_SIZE);
        Self { eifs: sifs + ack + timing.difs(), ..timing }
    }

    /// The space before a beacon: SIFS and one slot.
    pub fn pifs(self) -> Duration {
        self.aifs(1)
    }

    /// The space before a frame without a class: SIFS and two slots.
    pub fn difs(self) -> Duration {
        self.aifs(2)
    }

    /// The space before a frame of a class: SIFS and so many slots.
    pub fn aifs(self, slots: u32) -> Duration {
        self.sifs + self.slot * u64::from(slots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_at_5_ghz() {
        let timing = Timing::new(Band::Ghz5);
        let spaces = [timing.slot, timing.sifs, timing.pifs(), timing.difs(), timing.aifs(3), timing.eifs];
        assert_eq!(spaces, [9, 16, 25, 34, 43, 94].map(Duration::from_micros));
    }

    #[test]
    fn spaces_at_2_4_ghz() {
        let timing = Timing::new(Band::Ghz2);
        // EIFS = 10 + (44 + 6) + 28
        assert_eq!([timing.sifs, timing.difs(), timing.eifs], [10, 28, 88].map(Duration::from_micros));
    }
}
