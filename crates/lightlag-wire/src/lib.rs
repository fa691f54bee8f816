//! Segments as packets of IPv4 and IPv6, and captures of them.
//!
//! A [`Segment`] counts its payload. This crate turns it into the bytes that travel between hosts, and bytes into a
//! segment.
//!
//! - [`encode`]: a segment to a whole IP packet, with its lengths and checksums; [`encode_udp`]: a datagram.
//! - [`decode`]: a packet that a host received; [`decode_captured`]: one that a capture holds, perhaps in part.
//! - [`compressed::Decoder`]: the packets of a capture one after the other, including those with compressed headers.
//! - [`icmp`]: network errors that concern TCP; [`signal`]: messages of stations about links.
//! - [`dot11`]: frames of 802.11; [`arp`]: packets that ask for a MAC address.
//! - [`routing`]: messages of AODV, OLSR, DSDV and GPSR.
//! - [`capture`]: files of packets, as other tools write and read them.
//! - [`analysis`]: the connections of a capture.

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
pub mod replay;
pub mod routing;
pub mod signal;
#[cfg(test)]
mod tests;

pub use decode::{decode, decode_captured};
pub use encode::{encode, encode_udp};
pub use ip::Captured;

/// The addresses of a packet's two ends: both of IPv4 or both of IPv6.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Addresses {
    /// The sender.
    pub source: SocketAddr,
    /// The receiver.
    pub destination: SocketAddr,
}

impl Addresses {
    /// The addresses of an answer.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { source: self.destination, destination: self.source }
    }
}

/// The fields of the IP header beside addresses and lengths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IpFields {
    /// The code point of differentiated services (RFC 2474 §3).
    pub dscp: Dscp,
    /// The ECN field (RFC 3168 §5).
    pub ecn: Codepoint,
    /// Time to live of IPv4, hop limit of IPv6. Default 64.
    pub ttl: u8,
    /// Identification of IPv4. IPv6 has none; the field is 0.
    pub identification: u16,
    /// DF of IPv4, default true. IPv6 behaves as if it were always set.
    pub dont_fragment: bool,
}

impl Default for IpFields {
    fn default() -> Self {
        Self { dscp: Dscp::default(), ecn: Codepoint::NotEct, ttl: 64, identification: 0, dont_fragment: true }
    }
}

/// The state of a packet's checksums.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checksum {
    /// All are right.
    Valid,
    /// One is wrong, through damage or because the capture was taken before the network card filled it in.
    Invalid,
    /// Some of the bytes that they cover are missing.
    Unknown,
}

/// A TCP segment with its IP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpPacket<'a> {
    /// The two ends.
    pub addresses: Addresses,
    /// The rest of the IP header.
    pub ip: IpFields,
    /// The segment. Its `len` is the length on the wire, even if `payload` is shorter, and at most 65,535.
    pub segment: Segment,
    /// Bytes of data on the wire; more than 65,535 only in a capture before segmentation by the network card.
    pub payload_len: u32,
    /// The data; shorter than `payload_len` if a capture cut the packet.
    pub payload: &'a [u8],
    /// The urgent pointer of a segment with the URG flag (RFC 9293 §3.1), which [`Segment::flags`] does not hold.
    pub urgent: Option<u16>,
    /// Number of options that a [`Segment`] has no field for.
    pub unknown_options: u8,
    /// Number of options with a wrong length, or that came twice. All bytes after an invalid length count as one.
    pub malformed_options: u8,
    /// Whether a capture cut the packet within the options, of which those before the cut are read.
    pub options_cut: bool,
    /// Length on the wire: the IP header with its options or extension headers, the TCP header with its options, and
    /// the data. A header may be compressed.
    pub wire_len: u32,
    /// The checksums of IP and TCP; always [`Checksum::Valid`] from [`decode`].
    pub checksum: Checksum,
}

impl TcpPacket<'_> {
    /// Sequence space that the segment takes: its data, SYN and FIN.
    #[must_use]
    pub fn sequence_len(&self) -> u32 {
        let flags = self.segment.flags;
        self.payload_len.saturating_add(u32::from(flags.has(Flags::SYN)) + u32::from(flags.has(Flags::FIN)))
    }
}

/// The reasons why bytes are not a TCP segment for a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PacketError {
    /// The bytes end within a header or within the packet.
    #[error("the packet is cut: {needed} bytes are needed and {present} are there")]
    Truncated {
        /// Bytes that the headers announce.
        needed: usize,
        /// Bytes present.
        present: usize,
    },
    /// Neither version 4 nor version 6.
    #[error("version {0} of IP is neither 4 nor 6")]
    NotIp(u8),
    /// An impossible length: of the IPv4 header, its total length, or the TCP header.
    #[error("the length of the {header} header says {length} bytes, which cannot be")]
    BadLength {
        /// The header.
        header: &'static str,
        /// The value of its length field, in bytes.
        length: usize,
    },
    /// The length field of IP is zero: a capture on a host that leaves segmentation to its network card.
    #[error("the length field of IP is zero, as in captures before segmentation by the network card")]
    ZeroLength,
    /// A jumbogram (RFC 2675).
    #[error("a jumbogram (RFC 2675) is longer than TCP here can be")]
    Jumbogram,
    /// A fragment of a packet. Fragments are not reassembled.
    #[error("a fragment of a packet: fragments are not put together")]
    Fragment,
    /// A protocol other than TCP.
    #[error("IP protocol {0} is not TCP (6)")]
    NotTcp(u8),
    /// A compressed header of SCPS-TP that opens a connection, has the id 0 or an odd length, or lacks a sequence
    /// number that its contents need.
    #[error("the compressed header contradicts itself")]
    BadCompressedHeader,
    /// A compressed header of SCPS-TP with an id that no SYN offered.
    #[error("no SYN before this packet offered its connection id {0}")]
    UnknownConnection(u8),
    /// A protocol other than ICMP, from [`icmp::decode`].
    #[error("IP protocol {0} is not ICMP of its version (1 or 58)")]
    NotIcmp(u8),
    /// Not ARP for IPv4 over Ethernet, or neither a request nor a reply, from [`arp::Arp::decode`].
    #[error("not a request or reply of ARP for IPv4 over Ethernet")]
    NotArp,
    /// The checksum of the IPv4 header is wrong.
    #[error("the checksum of the IPv4 header is wrong")]
    BadHeaderChecksum,
    /// The checksum of TCP is wrong.
    #[error("the checksum of TCP is wrong")]
    BadTcpChecksum,
    /// The checksum of ICMP is wrong.
    #[error("the checksum of ICMP is wrong")]
    BadIcmpChecksum,
}

/// The URG bit of the header. TCP has no urgent data here.
const URG: u16 = 0x20;

/// The flags that a [`Segment`] holds.
const FLAGS: u16 = Flags::FIN.0
    | Flags::SYN.0
    | Flags::RST.0
    | Flags::PSH.0
    | Flags::ACK.0
    | Flags::ECE.0
    | Flags::CWR.0
    | Flags::AE.0
    | Flags::LOW.0;
