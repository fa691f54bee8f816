//! The contents of a datagram: its QUIC packets, their frames and their ACK ranges.

use crate::frame::{AckHeader, Frame, ack_size};
use crate::kind::Kind;
use crate::ranges::Range;
use crate::varint;

/// Bytes that authenticated encryption adds to a packet (RFC 9001 §5.3).
pub const TAG: u64 = 16;

/// A QUIC packet inside a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Part {
    /// Packet type.
    pub kind: Kind,
    /// Packet number.
    pub number: u64,
    /// Bytes of the packet number in the header, 1 to 4. Zero for a packet that a [`Packet`](crate::Packet) holds
    /// itself and for packets without a number.
    pub number_len: u8,
    /// Bytes of the QUIC packet in the datagram.
    pub size: u16,
    /// Bytes of the token of an Initial or a Retry.
    pub token: u16,
    /// The spin bit.
    pub spin: bool,
    /// The key phase bit.
    pub key_phase: bool,
    /// The ACK frame, if there is one; its ranges are in [`Contents::ranges`].
    pub ack: Option<AckHeader>,
    /// Number of frames, which follow the frames of the previous part in [`Contents::frames`].
    pub frames: u16,
    /// Number of ACK ranges, which follow the ranges of the previous part.
    pub ranges: u16,
}

/// The contents of a datagram. The memory is reused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// QUIC packets in the order of the datagram.
    pub parts: Vec<Part>,
    /// Frames of all parts other than ACK.
    pub frames: Vec<Frame>,
    /// ACK ranges of all parts, each in descending order.
    pub ranges: Vec<Range>,
}

/// A part with its frames and ACK ranges.
#[derive(Clone, Copy, Debug)]
pub struct PartView<'a> {
    /// The part.
    pub part: &'a Part,
    /// Its frames other than ACK.
    pub frames: &'a [Frame],
    /// Its ACK ranges in descending order.
    pub ranges: &'a [Range],
}

impl Contents {
    /// Removes everything; the memory stays allocated.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.parts.clear();
        self.frames.clear();
        self.ranges.clear();
    }

    /// Returns the parts with their frames and ranges.
    pub fn iter(&self) -> impl Iterator<Item = PartView<'_>> {
        let (mut frame, mut range) = (0, 0);
        self.parts.iter().map(move |part| {
            let frames = &self.frames[frame..frame + usize::from(part.frames)];
            let ranges = &self.ranges[range..range + usize::from(part.ranges)];
            (frame, range) = (frame + frames.len(), range + ranges.len());
            PartView { part, frames, ranges }
        })
    }

    /// Returns the UDP payload in bytes.
    pub fn size(&self) -> u64 {
        self.parts.iter().map(|part| u64::from(part.size)).sum()
    }
}

impl PartView<'_> {
    /// Returns true if the packet has to be acknowledged.
    #[inline]
    pub fn is_eliciting(&self) -> bool {
        self.frames.iter().any(Frame::is_eliciting)
    }

    /// Returns the bytes of all frames.
    pub fn payload(&self) -> u64 {
        let ack = self.part.ack.map_or(0, |ack| ack_size(&ack, self.ranges));
        ack + self.frames.iter().map(Frame::size).sum::<u64>()
    }
}

/// Lengths in the headers of one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HeaderLengths {
    /// Length of the destination connection ID, 0 to 20 bytes.
    pub destination: u8,
    /// Length of the source connection ID, 0 to 20 bytes.
    pub source: u8,
    /// Length of the token in Initial packets.
    pub token: u16,
}

impl HeaderLengths {
    /// Returns the size of a packet's header, including the packet number.
    #[inline]
    pub fn header(&self, kind: Kind, number_len: u8) -> u64 {
        let (destination, source) = (u64::from(self.destination), u64::from(self.source));
        let token = u64::from(self.token);
        match kind {
            Kind::OneRtt => 1 + destination + u64::from(number_len),
            Kind::StatelessReset => 1 + 4,
            Kind::Retry => 1 + 4 + 1 + destination + 1 + source + token,
            Kind::Initial => 9 + destination + source + u64::from(number_len) + varint::size(token) + token,
            Kind::ZeroRtt | Kind::Handshake => 9 + destination + source + u64::from(number_len),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_have_the_sizes_of_the_reference() {
        let lengths = HeaderLengths { destination: 8, source: 8, token: 0 };
        assert_eq!(lengths.header(Kind::OneRtt, 2), 11);
        assert_eq!(lengths.header(Kind::OneRtt, 2) + TAG, 27);
        assert_eq!((lengths.header(Kind::Initial, 1), lengths.header(Kind::Handshake, 1)), (27, 26));
        // RFC 9001 A.2 has an 8-byte destination ID, no source ID and a 4-byte number: 22 bytes; the server's Initial
        // of A.3 has only a source ID of 8 bytes and a 2-byte number: 20 bytes.
        assert_eq!(HeaderLengths { destination: 8, source: 0, token: 0 }.header(Kind::Initial, 4), 22);
        assert_eq!(HeaderLengths { destination: 0, source: 8, token: 0 }.header(Kind::Initial, 2), 20);
    }

    #[test]
    fn datagrams_carry_the_share_of_the_reference() {
        let lengths = HeaderLengths { destination: 8, source: 8, token: 0 };
        let payload = |datagram: u64| datagram - lengths.header(Kind::OneRtt, 2) - TAG - 6;
        assert_eq!((payload(1_200), payload(1_452)), (1_167, 1_419));
        // ACK-only IPv4 packet: 28 + 11 + 7 + 16.
        assert_eq!(28 + lengths.header(Kind::OneRtt, 2) + 7 + TAG, 62);
    }
}
