//! Slots, and the interframe spaces.
//!
//! IEEE 802.11-2020, table 17-21 (5 GHz) and §18.4.5 (2.4 GHz, short slot), §10.3.2.3 (spaces).

use super::basic::BasicRates;
use super::mode::Band;
use lightlag_core::{Bytes, Duration};

/// The durations that medium access uses in a band.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// Duration of a slot.
    pub slot: Duration,
    /// Short interframe space (SIFS), before a reply.
    pub sifs: Duration,
    /// Extended interframe space (EIFS), after a frame that was not decoded.
    pub eifs: Duration,
}

/// Time that a station needs to detect that the medium is busy (CCA).
pub const CCA_TIME: Duration = Duration::from_micros(4);

/// Bytes of an ACK, including its frame check sequence.
pub const ACK_SIZE: Bytes = Bytes(14);

impl Timing {
    /// Returns the durations in a band. The slot at 2.4 GHz is the short one, for networks without 802.11b.
    pub fn new(band: Band) -> Self {
        let sifs = match band {
            Band::Ghz2 => Duration::from_micros(10),
            Band::Ghz5 => Duration::from_micros(16),
        };
        let timing = Self { slot: Duration::from_micros(9), sifs, eifs: Duration::ZERO };
        let ack = BasicRates::MANDATORY.lowest(band).duration(ACK_SIZE);
        Self { eifs: sifs + ack + timing.difs(), ..timing }
    }

    /// Returns PIFS, the interframe space before a beacon: SIFS and one slot.
    pub fn pifs(self) -> Duration {
        self.aifs(1)
    }

    /// Returns DIFS, the interframe space before a frame without an access class: SIFS and two slots.
    pub fn difs(self) -> Duration {
        self.aifs(2)
    }

    /// Returns AIFS, the interframe space before a frame of an access class: SIFS and the given number of slots.
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
