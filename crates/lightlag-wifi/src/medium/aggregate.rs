//! Packets that go together in one PPDU, an A-MPDU (IEEE 802.11-2020 §9.7 and §10.12).

use crate::phy::{Format, LONGEST_PPDU, Mode};
use lightlag_core::Bytes;

/// The delimiter in front of each MPDU of an A-MPDU.
const DELIMITER: u32 = 4;

/// The packets of one sender and one receiver that may be on their way, from the oldest without an answer on.
pub(super) const WINDOW: u64 = 64;

/// A compressed block acknowledgement, and a request for one (§9.3.1.8 and §9.3.1.7).
pub(super) const BLOCK_ACK_SIZE: u32 = 32;
pub(super) const BLOCK_ACK_REQUEST_SIZE: u32 = 24;

/// An MPDU of an A-MPDU.
#[derive(Clone, Debug)]
pub(super) struct Mpdu<P> {
    /// The number of the packet among those of its sender.
    pub(super) packet: u64,
    /// Its number among the packets for its receiver.
    pub(super) sequence: u64,
    pub(super) is_retry: bool,
    /// Where it starts in the A-MPDU, and its bytes there with the delimiter.
    pub(super) offset: u32,
    pub(super) bytes: u32,
    /// The packet, if somebody watches.
    pub(super) payload: Option<P>,
}

/// The bytes of an A-MPDU, as MPDUs are put into it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Length {
    bytes: u32,
}

impl Length {
    /// The place of another MPDU of this size, and the bytes that it takes: all but the last are padded to four.
    pub(super) fn place(self, size: u32) -> (u32, u32) {
        (self.bytes.next_multiple_of(4), DELIMITER + size)
    }

    /// With another MPDU.
    pub(super) fn with(self, size: u32) -> Self {
        let (offset, bytes) = self.place(size);
        Self { bytes: offset + bytes }
    }

    pub(super) fn bytes(self) -> u32 {
        self.bytes
    }
}

/// The bytes of a PPDU with one MPDU: of VHT it is an A-MPDU all the same (§10.12.7).
pub(super) fn alone(mode: Mode, size: u32) -> u32 {
    match mode.format() {
        Format::Legacy | Format::Ht => size,
        Format::Vht => Length::default().with(size).bytes(),
    }
}

/// The most bytes of an A-MPDU of this mode, at most `most`; none if frames of the mode do not go together.
pub(super) fn most(mode: Mode, most: f64) -> Option<u32> {
    let Bytes(fits) = mode.largest(LONGEST_PPDU);
    (mode.aggregates() && most >= 1.0).then_some((most as u32).min(fits as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{Band, Guard, Width};

    #[test]
    fn mpdus_are_padded_to_four_bytes_except_for_the_last() {
        let two = Length::default().with(1538).with(1538);
        assert_eq!(two.bytes(), 1544 + 1542);
        assert_eq!(Length::default().with(1538).place(100), (1544, 104));
    }

    #[test]
    fn an_aggregate_ends_after_5_484_ms_and_at_legacy_rates_there_is_none() {
        let ht = |mcs| Mode::ht(mcs, Width::Mhz20, Guard::Long, Band::Ghz5).unwrap();
        assert_eq!(most(Mode::legacy(54, Band::Ghz5).unwrap(), 65_535.0), None);
        assert_eq!(most(ht(7), 0.0), None);
        assert_eq!(most(ht(7), 65_535.0).unwrap() / 1544, 28);
        // 36 + 4·1362 µs, 26 bits a symbol.
        assert_eq!(most(ht(0), 65_535.0), Some((1362 * 26 - 22) / 8));
    }
}
