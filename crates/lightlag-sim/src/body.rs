//! The bodies of packets: a segment of TCP, or in its place a datagram of UDP or the message of a station.

use lightlag_core::Instant;
use lightlag_net::NodeId;
use lightlag_tcp::Segment;
pub(crate) use lightlag_tcp::segment::SeqNumber;
use lightlag_wire::signal::News;

/// Bytes of a UDP header (RFC 768).
pub(crate) const UDP_HEADER: u32 = 8;

/// A packet of a run.
pub(crate) type Packet = lightlag_net::Packet<Body>;

/// The body of a packet. It is as long as a segment, so that a packet is 64 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Body {
    /// A segment of TCP.
    Segment(Segment),
    /// Anything else: a segment leaves room for one alternative.
    Other(Other),
}

impl Default for Body {
    /// A segment that says nothing, for the places of a link that no packet has had yet.
    fn default() -> Self {
        Self::Segment(Segment::default())
    }
}

impl Body {
    /// Returns true for the message of a station, which is not part of the traffic between the ends of a flow.
    pub(crate) fn is_signal(&self) -> bool {
        matches!(self, Self::Other(Other::Signal(_)))
    }

    /// Returns the numbers that identify it among those to the same endpoint on a link, nearly always.
    pub(crate) fn look(&self) -> [u64; 3] {
        let pair = |high: u32, low: u32| whole([high, low]);
        match self {
            Self::Segment(segment) => {
                let clock = segment.timestamps().map_or(0, |timestamps| pair(timestamps.value, timestamps.echo));
                let block = segment.sack().first().map_or(0, |block| pair(block.start.0, block.end.0));
                [pair(segment.seq.0, segment.ack.0), clock, block]
            }
            Self::Other(Other::Datagram(datagram)) => [datagram.number(), datagram.sent().as_nanos(), 0],
            Self::Other(Other::Signal(signal)) => [u64::from(signal.seq.0), u64::from(signal.station.0), 0],
        }
    }

    /// Returns its facts for a user who follows single packets.
    pub(crate) fn facts(&self) -> Facts {
        match self {
            Self::Segment(segment) => Facts {
                seq: segment.seq.0,
                ack: segment.ack.0,
                len: segment.len.into(),
                stamp: segment.timestamps().map_or(0, |stamps| stamps.value),
            },
            Self::Other(Other::Datagram(datagram)) => {
                Facts { seq: datagram.number() as u32, ack: 0, len: datagram.len.into(), stamp: 0 }
            }
            Self::Other(Other::Signal(signal)) => Facts { seq: signal.seq.0, ack: 0, len: 0, stamp: signal.station.0 },
        }
    }
}

/// The facts of a packet that its transport knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Facts {
    /// Sequence number, or that of a datagram among those of its flow.
    pub(crate) seq: u32,
    /// Acknowledged sequence number; 0 without one.
    pub(crate) ack: u32,
    /// Payload in bytes.
    pub(crate) len: u32,
    /// A number that tells it from others with the same numbers, as far as there is one.
    pub(crate) stamp: u32,
}

/// A body that is no segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Other {
    /// A datagram of UDP.
    Datagram(Datagram),
    /// The message of a station on the way.
    Signal(Signal),
}

/// A message from a station on the way to an end of a flow, about a link that the flow uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Signal {
    /// Its content.
    pub(crate) news: News,
    /// Whether it goes to the sender of the packet that it is about, or to its receiver.
    pub(crate) to_sender: bool,
    /// Node that it comes from.
    pub(crate) station: NodeId,
    /// The sequence number of the packet that it is about.
    pub(crate) seq: SeqNumber,
}

/// A datagram (RFC 768) without its payload: bytes are counted, not carried.
// In halves, so that it is aligned as a segment is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Datagram {
    number: [u32; 2],
    sent: [u32; 2],
    /// Bytes of payload.
    pub(crate) len: u16,
}

impl Datagram {
    /// The datagram with this number of its sender, which counts from 0.
    pub(crate) fn new(number: u64, sent: Instant, len: u16) -> Self {
        Self { number: halves(number), sent: halves(sent.as_nanos()), len }
    }

    /// Its number among those of its sender.
    pub(crate) fn number(&self) -> u64 {
        whole(self.number)
    }

    /// Instant at which it left its sender.
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
        assert_eq!(size_of::<Body>(), size_of::<Segment>());
        assert_eq!(size_of::<Packet>(), 64);
    }

    #[test]
    fn a_datagram_keeps_what_it_is_given() {
        let sent = Instant::from_nanos(u64::MAX / 3);
        let datagram = Datagram::new(u64::MAX - 5, sent, 1472);
        assert_eq!((datagram.number(), datagram.sent(), datagram.len), (u64::MAX - 5, sent, 1472));
    }
}
