//! Several packets in one PPDU, an A-MPDU (IEEE 802.11-2020 §9.7 and §10.12).

use crate::phy::{Format, LONGEST_PPDU, PhyMode};
use lightlag_core::Bytes;

/// Bytes of the delimiter before each MPDU of an A-MPDU.
const DELIMITER: u32 = 4;

/// Maximum number of packets from one sender to one receiver that may be in transit, starting at the oldest without a
/// reply.
pub(super) const WINDOW: u64 = 64;

/// Bytes of a compressed block acknowledgement, and of a request for one (§9.3.1.8 and §9.3.1.7).
pub(super) const BLOCK_ACK_SIZE: u32 = 32;
pub(super) const BLOCK_ACK_REQUEST_SIZE: u32 = 24;

/// An MPDU of an A-MPDU.
#[derive(Clone, Debug)]
pub(super) struct Mpdu<P> {
    /// Index of the packet at its sender.
    pub(super) packet: u64,
    /// Sequence number of the packet, among those for its receiver.
    pub(super) sequence: u64,
    pub(super) is_retry: bool,
    /// Offset of the MPDU in the A-MPDU, and its bytes there, delimiter included.
    pub(super) offset: u32,
    pub(super) bytes: u32,
    /// The packet, if frames are being reported.
    pub(super) payload: Option<P>,
}

/// The length of an A-MPDU while MPDUs are being added.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AggregateLength {
    bytes: u32,
}

impl AggregateLength {
    /// Returns the offset of another MPDU of this size, and its bytes. All but the last MPDU are padded to a multiple
    /// of four bytes.
    pub(super) fn place(self, size: u32) -> (u32, u32) {
        (self.bytes.next_multiple_of(4), DELIMITER + size)
    }

    /// Returns the length with another MPDU of this size.
    pub(super) fn with(self, size: u32) -> Self {
        let (offset, bytes) = self.place(size);
        Self { bytes: offset + bytes }
    }

    pub(super) fn bytes(self) -> u32 {
        self.bytes
    }
}

/// Returns the bytes of a PPDU with a single MPDU. In VHT, this is also an A-MPDU (§10.12.7).
pub(super) fn alone(mode: PhyMode, size: u32) -> u32 {
    match mode.format() {
        Format::Legacy | Format::Ht => size,
        Format::Vht => AggregateLength::default().with(size).bytes(),
    }
}

/// Returns the maximum size of an A-MPDU of this mode in bytes, limited to `max`; `None` if the mode or the setting has
/// no A-MPDUs.
pub(super) fn most(mode: PhyMode, max: f64) -> Option<u32> {
    let Bytes(fits) = mode.largest(LONGEST_PPDU);
    (mode.aggregates() && max >= 1.0).then_some((max as u32).min(fits as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{Band, Guard, Width};

    #[test]
    fn mpdus_are_padded_to_four_bytes_except_for_the_last() {
        let two = AggregateLength::default().with(1538).with(1538);
        assert_eq!(two.bytes(), 1544 + 1542);
        assert_eq!(AggregateLength::default().with(1538).place(100), (1544, 104));
    }

    #[test]
    fn an_aggregate_ends_after_5_484_ms_and_at_legacy_rates_there_is_none() {
        let ht = |mcs| PhyMode::ht(mcs, Width::Mhz20, Guard::Long, Band::Ghz5).unwrap();
        assert_eq!(most(PhyMode::legacy(54, Band::Ghz5).unwrap(), 65_535.0), None);
        assert_eq!(most(ht(7), 0.0), None);
        assert_eq!(most(ht(7), 65_535.0).unwrap() / 1544, 28);
        // 36 + 4·1362 µs, 26 bits a symbol.
        assert_eq!(most(ht(0), 65_535.0), Some((1362 * 26 - 22) / 8));
    }
}
