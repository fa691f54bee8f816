//! The body of a packet: a TCP segment, a datagram of QUIC or UDP, or a station's notification.

use lightlag_core::Instant;
use lightlag_net::NodeId;
use lightlag_quic as quic;
use lightlag_tcp::Segment;
pub(crate) use lightlag_tcp::segment::SeqNumber;
use lightlag_wire::signal::NotificationKind;

/// Size of a UDP header in bytes (RFC 768).
pub(crate) const UDP_HEADER: u32 = 8;

/// A packet of a run.
pub(crate) type Packet = lightlag_net::Packet<PacketBody>;

/// The body of a packet. It is no larger than a segment, so that a packet has 64 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PacketBody {
    /// A TCP segment.
    Segment(Segment),
    /// Another packet. All others are combined because the memory layout of a segment has space for only one
    /// alternative.
    Other(Other),
}

impl Default for PacketBody {
    /// Returns an empty segment, which fills the unused slots of a link.
    fn default() -> Self {
        Self::Segment(Segment::default())
    }
}

impl PacketBody {
    /// Returns true for a station's notification, which is not part of the traffic between the endpoints of a flow.
    pub(crate) fn is_signal(&self) -> bool {
        matches!(self, Self::Other(Other::Signal(_)))
    }

    /// Returns numbers that identify the packet, in nearly all cases, among the packets to the same endpoint on a link.
    pub(crate) fn look(&self) -> [u64; 3] {
        let pair = |high: u32, low: u32| whole([high, low]);
        match self {
            Self::Segment(segment) => {
                let clock = segment.timestamps().map_or(0, |timestamps| pair(timestamps.value, timestamps.echo));
                let block = segment.sack().first().map_or(0, |block| pair(block.start.0, block.end.0));
                [pair(segment.seq.0, segment.ack.0), clock, block]
            }
            Self::Other(Other::Quic(packet)) => packet.look(),
            Self::Other(Other::Datagram(datagram)) => [datagram.number(), datagram.sent().as_nanos(), 0],
            Self::Other(Other::Signal(signal)) => [u64::from(signal.seq.0), u64::from(signal.station.0), 0],
        }
    }

    /// Returns the transport fields for a user who follows single packets.
    pub(crate) fn facts(&self) -> TransportInfo {
        match self {
            Self::Segment(segment) => TransportInfo {
                seq: segment.seq.0,
                ack: segment.ack.0,
                len: segment.len.into(),
                stamp: segment.timestamps().map_or(0, |stamps| stamps.value),
            },
            Self::Other(Other::Quic(packet)) => {
                let [seq, ack, len] = packet.numbers();
                TransportInfo { seq, ack, len, stamp: 0 }
            }
            Self::Other(Other::Datagram(datagram)) => {
                TransportInfo { seq: datagram.number() as u32, ack: 0, len: datagram.len.into(), stamp: 0 }
            }
            Self::Other(Other::Signal(signal)) => {
                TransportInfo { seq: signal.seq.0, ack: 0, len: 0, stamp: signal.station.0 }
            }
        }
    }
}

/// Transport fields of a packet, for a user who follows single packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TransportInfo {
    /// Sequence number of a segment, number of a QUIC packet, or index of a datagram in its flow.
    pub(crate) seq: u32,
    /// Acknowledged sequence number, or largest acknowledged number of QUIC; 0 for datagrams and notifications.
    pub(crate) ack: u32,
    /// Payload in bytes.
    pub(crate) len: u32,
    /// Another number that distinguishes packets with equal sequence numbers: the timestamp of a segment, or the
    /// station of a notification; otherwise 0.
    pub(crate) stamp: u32,
}

/// The body of a packet that is not a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Other {
    /// A UDP datagram with packets of QUIC.
    Quic(quic::Packet),
    /// A UDP datagram.
    Datagram(Datagram),
    /// Notification from a station on the path.
    Signal(Signal),
}

/// Notification from a station on the path to an endpoint of a flow, about a link that the flow uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Signal {
    /// Content of the notification.
    pub(crate) news: NotificationKind,
    /// Whether the notification is for the sender or the receiver of the packet that it is about.
    pub(crate) to_sender: bool,
    /// Node that sends the notification.
    pub(crate) station: NodeId,
    /// Sequence number of the packet that the notification is about.
    pub(crate) seq: SeqNumber,
}

/// A datagram (RFC 768) without its payload: bytes are counted, not carried.
// Two 32-bit halves, so that it has the alignment of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Datagram {
    number: [u32; 2],
    sent: [u32; 2],
    /// Payload in bytes.
    pub(crate) len: u16,
}

impl Datagram {
    /// Returns a datagram; `number` is its index in its flow, starting at 0.
    pub(crate) fn new(number: u64, sent: Instant, len: u16) -> Self {
        Self { number: halves(number), sent: halves(sent.as_nanos()), len }
    }

    /// Returns the index of the datagram in its flow.
    pub(crate) fn number(&self) -> u64 {
        whole(self.number)
    }

    /// Returns the sending time.
    pub(crate) fn sent(&self) -> Instant {
        Instant::from_nanos(whole(self.sent))
    }
}

fn halves(value: u64) -> [u32; 2] {
    [(value >> 32) as u32, value as u32]
}

fn whole([high, low]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_a_cache_line() {
        assert_eq!(size_of::<PacketBody>(), size_of::<Segment>());
        assert_eq!(size_of::<Packet>(), 64);
    }

    #[test]
    fn a_datagram_keeps_its_content() {
        let sent = Instant::from_nanos(u64::MAX / 3);
        let datagram = Datagram::new(u64::MAX - 5, sent, 1472);
        assert_eq!((datagram.number(), datagram.sent(), datagram.len), (u64::MAX - 5, sent, 1472));
    }
}
