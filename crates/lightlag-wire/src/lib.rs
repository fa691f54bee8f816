//! Encodes segments as IPv4 and IPv6 packets, parses them, and reads and writes captures.
//!
//! A [`Segment`] has only the length of its payload. This crate converts it to the bytes of a packet, and bytes to a
//! segment.
//!
//! - [`encode`]: writes a segment as a complete IP packet, with lengths and checksums; [`encode_udp`]: writes a
//!   datagram.
//! - [`decode`]: parses a packet that a host received; [`decode_captured`]: parses a captured packet, which may be
//!   incomplete.
//! - [`compressed::Decoder`]: parses the packets of a capture in order, including those with compressed headers.
//! - [`icmp`]: network errors that concern TCP; [`signal`]: notifications from stations about links.
//! - [`dot11`]: 802.11 frames; [`arp`]: requests for MAC addresses, and replies.
//! - [`routing`]: messages of AODV, OLSR, DSDV and GPSR.
//! - [`quic`]: protected packets of QUIC, and logs of its packets.
//! - [`capture`]: capture files, compatible with other tools.
//! - [`analysis`]: analysis of the TCP connections in a capture.

use lightlag_core::{Codepoint, Dscp};
use lightlag_tcp::{Segment, segment::Flags};
use std::net::SocketAddr;

pub mod analysis;
pub mod arp;
pub mod capture;
pub mod compressed;
mod decode;
pub mod dot11;
mod encode;
pub mod icmp;
mod ip;
mod options;
pub mod quic;
pub mod replay;
pub mod routing;
pub mod signal;
#[cfg(test)]
mod tests;

pub use decode::{decode, decode_captured};
pub use encode::{encode, encode_udp};
pub use ip::Captured;

/// Source and destination of a packet, which have the same IP version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Addresses {
    /// Address and port of the sender.
    pub source: SocketAddr,
    /// Address and port of the receiver.
    pub destination: SocketAddr,
}

impl Addresses {
    /// Returns the addresses of a reply, with source and destination exchanged.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { source: self.destination, destination: self.source }
    }
}

/// The fields of an IP header other than addresses and lengths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IpFields {
    /// The differentiated services code point, DSCP (RFC 2474 §3).
    pub dscp: Dscp,
    /// The ECN field (RFC 3168 §5).
    pub ecn: Codepoint,
    /// Time to live of IPv4, or hop limit of IPv6. Default 64.
    pub ttl: u8,
    /// Identification field of IPv4; 0 for IPv6, which has none.
    pub identification: u16,
    /// The DF flag of IPv4, default true. IPv6 behaves as if it were always set.
    pub dont_fragment: bool,
}

impl Default for IpFields {
    fn default() -> Self {
        Self { dscp: Dscp::default(), ecn: Codepoint::NotEct, ttl: 64, identification: 0, dont_fragment: true }
    }
}

/// Whether the checksums of a packet are correct.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checksum {
    /// All checksums are correct.
    Valid,
    /// A checksum is wrong, because of damage, or because the packet was captured before the network card filled it in.
    Invalid,
    /// Some of the bytes that the checksums cover are missing.
    Unknown,
}

/// A TCP segment and the IP packet that carries it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpPacket<'a> {
    /// Addresses and ports of both ends.
    pub addresses: Addresses,
    /// The other fields of the IP header.
    pub ip: IpFields,
    /// The segment. Its `len` is the length on the wire, even if `payload` is shorter, and at most 65,535.
    pub segment: Segment,
    /// Length of the data on the wire in bytes. It exceeds 65,535 only in captures taken before segmentation by the
    /// network card.
    pub payload_len: u32,
    /// The data; shorter than `payload_len` if a capture truncated the packet.
    pub payload: &'a [u8],
    /// The urgent pointer of a segment with the URG flag (RFC 9293 §3.1), which is not in [`Segment::flags`].
    pub urgent: Option<u16>,
    /// Number of options for which [`Segment`] has no field.
    pub unknown_options: u8,
    /// Number of options that have a wrong length or occur twice. All bytes after an invalid length count as one
    /// option.
    pub malformed_options: u8,
    /// Whether a capture truncated the packet within its options. Those before the cut are parsed.
    pub options_cut: bool,
    /// Length on the wire in bytes: the IP header with its options or extension headers, the TCP header with its
    /// options (or the compressed header), and the data.
    pub wire_len: u32,
    /// State of the IP and TCP checksums; always [`Checksum::Valid`] from [`decode`].
    pub checksum: Checksum,
}

impl TcpPacket<'_> {
    /// Returns the sequence space that the segment occupies: its data, SYN and FIN.
    #[must_use]
    pub fn sequence_len(&self) -> u32 {
        let flags = self.segment.flags;
        self.payload_len.saturating_add(u32::from(flags.has(Flags::SYN)) + u32::from(flags.has(Flags::FIN)))
    }
}

/// The reasons why bytes are not a TCP segment that a host accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PacketError {
    /// The bytes end within a header or within the packet.
    #[error("the packet is cut: {needed} bytes are needed, but only {present} are present")]
    Truncated {
        /// Number of bytes that the headers require.
        needed: usize,
        /// Number of bytes present.
        present: usize,
    },
    /// The IP version is neither 4 nor 6.
    #[error("version {0} of IP is neither 4 nor 6")]
    NotIp(u8),
    /// An invalid length: in the IPv4 header, its total length, or the TCP header.
    #[error("the {header} header has the invalid length {length} bytes")]
    BadLength {
        /// Name of the header.
        header: &'static str,
        /// Value of its length field, in bytes.
        length: usize,
    },
    /// The length field of IP is zero, because the packet was captured on a host that leaves segmentation to its
    /// network card.
    #[error("the length field of IP is zero, as in captures before segmentation by the network card")]
    ZeroLength,
    /// A jumbogram (RFC 2675).
    #[error("a jumbogram (RFC 2675) is longer than the supported TCP packets")]
    Jumbogram,
    /// A fragment of a packet. Fragments are not reassembled.
    #[error("a fragment of a packet: fragments are not reassembled")]
    Fragment,
    /// A protocol other than TCP.
    #[error("IP protocol {0} is not TCP (6)")]
    NotTcp(u8),
    /// A contradictory compressed header of SCPS-TP: it opens a connection, has ID 0 or an odd length, or lacks a
    /// sequence number that its contents need.
    #[error("the compressed header contradicts itself")]
    BadCompressedHeader,
    /// A compressed header of SCPS-TP with a connection ID that no SYN offered.
    #[error("no SYN before this packet offered its connection id {0}")]
    UnknownConnection(u8),
    /// A protocol other than ICMP (from [`icmp::decode`]).
    #[error("IP protocol {0} is not the ICMP of its IP version (1 or 58)")]
    NotIcmp(u8),
    /// Not an ARP request or reply for IPv4 over Ethernet (from [`arp::Arp::decode`]).
    #[error("not an ARP request or reply for IPv4 over Ethernet")]
    NotArp,
    /// The checksum of the IPv4 header is wrong.
    #[error("the IPv4 header checksum is wrong")]
    BadHeaderChecksum,
    /// The checksum of TCP is wrong.
    #[error("the TCP checksum is wrong")]
    BadTcpChecksum,
    /// The checksum of ICMP is wrong.
    #[error("the ICMP checksum is wrong")]
    BadIcmpChecksum,
}

/// The URG bit of the TCP header. Urgent data is not supported.
const URG: u16 = 0x20;

/// The flags that [`Segment`] has.
const FLAGS: u16 = Flags::FIN.0
    | Flags::SYN.0
    | Flags::RST.0
    | Flags::PSH.0
    | Flags::ACK.0
    | Flags::ECE.0
    | Flags::CWR.0
    | Flags::AE.0
    | Flags::LOW.0;
