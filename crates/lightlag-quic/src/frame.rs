//! Frames as values, with their exact sizes (RFC 9000 §19). Payload is counted, not carried.

use crate::varint;

/// Initiator and direction of a stream, in the two low bits of its ID (RFC 9000 §2.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Data in both directions.
    Bidirectional,
    /// Data only from the initiator.
    Unidirectional,
}

/// A frame other than ACK, whose ranges are stored next to the frames of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Frame {
    /// The given number of PADDING frames. Counts as in flight, but does not elicit an acknowledgement.
    Padding(u16),
    /// PING.
    Ping,
    /// RESET_STREAM.
    ResetStream {
        /// Stream ID.
        stream: u64,
        /// Error code of the application.
        code: u64,
        /// Final size of the stream in bytes.
        final_size: u64,
    },
    /// STOP_SENDING.
    StopSending {
        /// Stream ID.
        stream: u64,
        /// Error code of the application.
        code: u64,
    },
    /// CRYPTO.
    Crypto {
        /// Offset in the handshake data of the packet number space.
        offset: u64,
        /// Bytes of handshake data.
        len: u16,
    },
    /// NEW_TOKEN with a token of this many bytes.
    NewToken(u16),
    /// STREAM.
    Stream {
        /// Stream ID.
        stream: u64,
        /// Offset of the data.
        offset: u64,
        /// Bytes of data.
        len: u16,
        /// Whether the stream ends with this data.
        fin: bool,
        /// Whether the data extends to the end of the packet, so that the frame has no length field.
        to_end: bool,
    },
    /// MAX_DATA: credit of the connection.
    MaxData(u64),
    /// MAX_STREAM_DATA: credit of a stream.
    MaxStreamData {
        /// Stream ID.
        stream: u64,
        /// First offset that may not be sent.
        limit: u64,
    },
    /// MAX_STREAMS: number of streams that the peer may open in total.
    MaxStreams(Direction, u64),
    /// DATA_BLOCKED: the limit that blocks the connection.
    DataBlocked(u64),
    /// STREAM_DATA_BLOCKED: the limit that blocks a stream.
    StreamDataBlocked {
        /// Stream ID.
        stream: u64,
        /// The limit.
        limit: u64,
    },
    /// STREAMS_BLOCKED: the limit that prevents another stream.
    StreamsBlocked(Direction, u64),
    /// NEW_CONNECTION_ID.
    NewConnectionId {
        /// Sequence number of the ID.
        sequence: u64,
        /// IDs below this sequence number are to be retired.
        retire_prior: u64,
        /// Length of the ID, 1 to 20 bytes.
        len: u8,
    },
    /// RETIRE_CONNECTION_ID with the sequence number of the ID.
    RetireConnectionId(u64),
    /// PATH_CHALLENGE with its data.
    PathChallenge(u64),
    /// PATH_RESPONSE with the data of the challenge.
    PathResponse(u64),
    /// CONNECTION_CLOSE of the transport.
    Close {
        /// Error code (RFC 9000 §20.1).
        code: u64,
        /// Type of the frame that caused the error; 0 if none did.
        frame_type: u64,
        /// Length of the reason in bytes.
        reason: u16,
    },
    /// CONNECTION_CLOSE of the application.
    ApplicationClose {
        /// Error code of the application.
        code: u64,
        /// Length of the reason in bytes.
        reason: u16,
    },
    /// HANDSHAKE_DONE.
    HandshakeDone,
    /// DATAGRAM (RFC 9221).
    Datagram {
        /// Tag of the data, which stands for the payload. It has no bytes, so a decoded frame has tag 0.
        tag: u64,
        /// Bytes of data.
        len: u16,
        /// Whether the data extends to the end of the packet, so that the frame has no length field.
        to_end: bool,
    },
    /// ACK_FREQUENCY (draft-ietf-quic-ack-frequency-14).
    AckFrequency {
        /// Sequence number of the frame.
        sequence: u64,
        /// Number of ack-eliciting packets that may arrive without an acknowledgement.
        threshold: u64,
        /// Requested maximum delay of an acknowledgement in microseconds.
        max_delay_us: u64,
        /// Reordering threshold; 0 turns immediate acknowledgements off.
        reordering: u64,
    },
    /// IMMEDIATE_ACK (draft-ietf-quic-ack-frequency-14).
    ImmediateAck,
}

/// Bytes of a stateless reset token.
pub const RESET_TOKEN: u64 = 16;

/// Returns the size of a STREAM frame without its data and without a length field.
#[inline(always)]
pub fn stream_header(stream: u64, offset: u64) -> u64 {
    1 + varint::size(stream) + if offset > 0 { varint::size(offset) } else { 0 }
}

impl Frame {
    /// Returns the frame type. The six types of STREAM depend on the fields.
    pub fn type_code(&self) -> u64 {
        match *self {
            Self::Padding(_) => 0x00,
            Self::Ping => 0x01,
            Self::ResetStream { .. } => 0x04,
            Self::StopSending { .. } => 0x05,
            Self::Crypto { .. } => 0x06,
            Self::NewToken(_) => 0x07,
            Self::Stream { offset, fin, to_end, .. } => {
                0x08 | u64::from(offset > 0) << 2 | u64::from(!to_end) << 1 | u64::from(fin)
            }
            Self::MaxData(_) => 0x10,
            Self::MaxStreamData { .. } => 0x11,
            Self::MaxStreams(Direction::Bidirectional, _) => 0x12,
            Self::MaxStreams(Direction::Unidirectional, _) => 0x13,
            Self::DataBlocked(_) => 0x14,
            Self::StreamDataBlocked { .. } => 0x15,
            Self::StreamsBlocked(Direction::Bidirectional, _) => 0x16,
            Self::StreamsBlocked(Direction::Unidirectional, _) => 0x17,
            Self::NewConnectionId { .. } => 0x18,
            Self::RetireConnectionId(_) => 0x19,
            Self::PathChallenge(_) => 0x1a,
            Self::PathResponse(_) => 0x1b,
            Self::Close { .. } => 0x1c,
            Self::ApplicationClose { .. } => 0x1d,
            Self::HandshakeDone => 0x1e,
            Self::ImmediateAck => 0x1f,
            Self::Datagram { to_end, .. } => 0x30 | u64::from(!to_end),
            Self::AckFrequency { .. } => 0xaf,
        }
    }

    /// Returns the size in bytes, including its data.
    pub fn size(&self) -> u64 {
        use varint::size as v;
        match *self {
            Self::Padding(count) => count.into(),
            Self::Ping | Self::HandshakeDone | Self::ImmediateAck => 1,
            Self::ResetStream { stream, code, final_size } => 1 + v(stream) + v(code) + v(final_size),
            Self::StopSending { stream, code } => 1 + v(stream) + v(code),
            Self::Crypto { offset, len } => 1 + v(offset) + v(len.into()) + u64::from(len),
            Self::NewToken(len) => 1 + v(len.into()) + u64::from(len),
            Self::Stream { stream, offset, len, to_end, .. } => {
                stream_header(stream, offset) + if to_end { 0 } else { v(len.into()) } + u64::from(len)
            }
            Self::MaxData(value)
            | Self::MaxStreams(_, value)
            | Self::DataBlocked(value)
            | Self::StreamsBlocked(_, value)
            | Self::RetireConnectionId(value) => 1 + v(value),
            Self::MaxStreamData { stream, limit } | Self::StreamDataBlocked { stream, limit } => {
                1 + v(stream) + v(limit)
            }
            Self::NewConnectionId { sequence, retire_prior, len } => {
                1 + v(sequence) + v(retire_prior) + 1 + u64::from(len) + RESET_TOKEN
            }
            Self::PathChallenge(_) | Self::PathResponse(_) => 9,
            Self::Close { code, frame_type, reason } => {
                1 + v(code) + v(frame_type) + v(reason.into()) + u64::from(reason)
            }
            Self::ApplicationClose { code, reason } => 1 + v(code) + v(reason.into()) + u64::from(reason),
            Self::Datagram { len, to_end, .. } => 1 + if to_end { 0 } else { v(len.into()) } + u64::from(len),
            Self::AckFrequency { sequence, threshold, max_delay_us, reordering } => {
                2 + v(sequence) + v(threshold) + v(max_delay_us) + v(reordering)
            }
        }
    }

    /// Returns the bytes of streams, datagrams or handshake messages that the frame carries.
    pub fn payload_len(&self) -> u64 {
        match *self {
            Self::Stream { len, .. } | Self::Datagram { len, .. } | Self::Crypto { len, .. } => len.into(),
            _ => 0,
        }
    }

    /// Returns true if a packet with this frame has to be acknowledged (RFC 9000 §1.2).
    #[inline(always)]
    pub fn is_eliciting(&self) -> bool {
        !matches!(self, Self::Padding(_) | Self::Close { .. } | Self::ApplicationClose { .. })
    }

    /// Returns true if the frame only probes a path, so that it does not migrate the connection (RFC 9000 §9.1).
    pub fn is_probing(&self) -> bool {
        matches!(self, Self::Padding(_) | Self::PathChallenge(_) | Self::PathResponse(_) | Self::NewConnectionId { .. })
    }

    /// Returns true if the frame is retransmitted after its packet was lost (RFC 9000 §13.3). Credit then has its
    /// newest value, and only unacknowledged stream data is retransmitted.
    pub fn is_repaired(&self) -> bool {
        !matches!(
            self,
            Self::Padding(_)
                | Self::Ping
                | Self::PathChallenge(_)
                | Self::PathResponse(_)
                | Self::Close { .. }
                | Self::ApplicationClose { .. }
                | Self::Datagram { .. }
                | Self::ImmediateAck
        )
    }
}

/// The counts of packets that arrived with ECT(0), ECT(1) and CE, as an ACK frame reports them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EcnCounts {
    /// Packets with ECT(0).
    pub ect0: u64,
    /// Packets with ECT(1).
    pub ect1: u64,
    /// Packets with CE.
    pub ce: u64,
}

/// The fields of an ACK frame other than its ranges.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AckHeader {
    /// Delay in units of 2^exponent microseconds.
    pub delay: u64,
    /// ECN counts, if the frame reports any.
    pub ecn: Option<EcnCounts>,
}

/// Returns the size of an ACK frame. `ranges` are the acknowledged numbers in descending order.
pub fn ack_size(header: &AckHeader, ranges: &[crate::ranges::Range]) -> u64 {
    use varint::size as v;
    let Some(first) = ranges.first() else { return 0 };
    // RFC 9000 §19.3.1: the next largest is smallest − gap − 2.
    let pairs = ranges.windows(2).map(|pair| v(pair[0].start - pair[1].end - 1) + v(pair[1].len() - 1));
    ack_size_with(header, *first, ranges.len(), pairs.sum())
}

/// Returns the size of an ACK frame of `count` ranges. `first` is the highest one, and `pairs` is the size of the gaps
/// and lengths of the others.
#[inline]
pub(crate) fn ack_size_with(header: &AckHeader, first: crate::ranges::Range, count: usize, pairs: u64) -> u64 {
    use varint::size as v;
    let mut size = 1 + v(first.end - 1) + v(header.delay) + v(count as u64 - 1) + v(first.len() - 1) + pairs;
    if let Some(ecn) = header.ecn {
        size += v(ecn.ect0) + v(ecn.ect1) + v(ecn.ce);
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranges::Range;

    fn range(first: u64, last: u64) -> Range {
        Range { start: first, end: last + 1 }
    }

    #[test]
    fn acks_have_the_sizes_of_the_reference() {
        // Delay below 16 ms: less than 2000 units of 8 µs, 2 bytes.
        let header = AckHeader { delay: 1_999, ecn: None };
        assert_eq!(ack_size(&header, &[range(8_990, 9_000)]), 7);
        assert_eq!(ack_size(&header, &[range(8_990, 9_000), range(8_950, 8_980), range(8_900, 8_940)]), 11);
        let counts = EcnCounts { ect0: 63, ect1: 0, ce: 64 };
        assert_eq!(ack_size(&AckHeader { delay: 0, ecn: Some(counts) }, &[range(0, 3)]), 5 + 4);
    }

    #[test]
    fn a_stream_header_has_the_size_of_the_reference() {
        assert_eq!(stream_header(4, 1 << 14), 6);
        assert_eq!(stream_header(0, 0), 2);
        let frame = Frame::Stream { stream: 4, offset: 1 << 20, len: 1_000, fin: false, to_end: false };
        assert_eq!((frame.size(), frame.type_code()), (6 + 2 + 1_000, 0x0e));
    }

    #[test]
    fn control_frames_have_their_sizes() {
        assert_eq!(Frame::MaxData(1_250_000).size(), 5);
        assert_eq!(Frame::MaxStreamData { stream: 0, limit: 16_000 }.size(), 4);
        assert_eq!(Frame::NewConnectionId { sequence: 1, retire_prior: 0, len: 8 }.size(), 1 + 1 + 1 + 1 + 8 + 16);
        assert_eq!(Frame::PathChallenge(7).size(), 9);
        assert_eq!(Frame::AckFrequency { sequence: 0, threshold: 10, max_delay_us: 25_000, reordering: 1 }.size(), 9);
    }
}
