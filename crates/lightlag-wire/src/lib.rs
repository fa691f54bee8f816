//! Segments as packets of IPv4 and IPv6, and captures of them.
//!
//! A [`Segment`] counts its payload; here it becomes the bytes that travel between hosts, and bytes become a segment.
//!
//! - [`encode`]: a segment to a whole IP packet, with its lengths and checksums; [`encode_udp`]: a datagram.
//! - [`decode`]: a packet that a host received; [`decode_captured`]: one that a capture holds, perhaps in part.
//! - [`compressed::Decoder`]: packets of a capture one after the other, those with compressed headers too.
//! - [`icmp`]: the errors of the network that concern TCP; [`signal`]: what stations on the way tell of links.
//! - [`capture`]: files of packets, as other tools write and read them.
//! - [`analysis`]: what a capture says about its connections.

use lightlag_core::Codepoint;
use lightlag_tcp::{Segment, segment::Flags};
use std::net::SocketAddr;

pub mod analysis;
pub mod capture;
pub mod compressed;
mod decode;
mod encode;
pub mod icmp;
mod ip;
mod options;
pub mod replay;
pub mod signal;
#[cfg(test)]
mod tests;

pub use decode::{decode, decode_captured};
pub use encode::{encode, encode_udp};

/// The two ends of a packet: both of IPv4 or both of IPv6.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Addresses {
    /// Who sends.
    pub source: SocketAddr,
    /// Who receives.
    pub destination: SocketAddr,
}

impl Addresses {
    /// Those of an answer.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { source: self.destination, destination: self.source }
    }
}

/// What the IP header says beside addresses and lengths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IpFields {
    /// The ECN field (RFC 3168 §5).
    pub ecn: Codepoint,
    /// Time to live of IPv4, hop limit of IPv6. Default 64.
    pub ttl: u8,
    /// Identification of IPv4; IPv6 has none, and 0 here.
    pub identification: u16,
    /// DF of IPv4, default true; IPv6 behaves as if it were always set.
    pub dont_fragment: bool,
}

impl Default for IpFields {
    fn default() -> Self {
        Self { ecn: Codepoint::NotEct, ttl: 64, identification: 0, dont_fragment: true }
    }
}

/// What is known about the checksums of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checksum {
    /// They are right.
    Valid,
    /// One is wrong: damage, or a capture taken before the network card filled it in.
    Invalid,
    /// Not all the bytes that they cover are there.
    Unknown,
}

/// A TCP segment as it came in its IP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpPacket<'a> {
    /// The two ends.
    pub addresses: Addresses,
    /// The rest of the IP header.
    pub ip: IpFields,
    /// The segment. Its `len` is the length on the wire, also where `payload` is shorter.
    pub segment: Segment,
    /// The data; shorter than the segment's `len` where a capture cut the packet.
    pub payload: &'a [u8],
    /// The urgent pointer of a segment with the flag URG (RFC 9293 §3.1), which [`Segment::flags`] does not hold.
    pub urgent: Option<u16>,
    /// Options that a [`Segment`] has no place for.
    pub unknown_options: u8,
    /// Options with a length that is wrong, or that came twice. What follows a length that leads nowhere counts once.
    pub malformed_options: u8,
    /// Bytes of IP header with its options or extension headers, TCP header with its options, and data: on the wire, where
    /// a header may be compressed.
    pub wire_len: u32,
    /// The checksums of IP and TCP; always [`Checksum::Valid`] from [`decode`].
    pub checksum: Checksum,
}

/// Why bytes are not a TCP segment for a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PacketError {
    /// The bytes end before a header or the packet does.
    #[error("the packet is cut: {needed} bytes are needed and {present} are there")]
    Truncated {
        /// Bytes that the headers ask for.
        needed: usize,
        /// Bytes present.
        present: usize,
    },
    /// Neither version 4 nor 6.
    #[error("version {0} of IP is neither 4 nor 6")]
    NotIp(u8),
    /// A length that cannot be: of the IPv4 header, its total length, or the TCP header.
    #[error("the length of the {header} header says {length} bytes, which cannot be")]
    BadLength {
        /// Which header.
        header: &'static str,
        /// What its length field says, in bytes.
        length: usize,
    },
    /// The length field of IP is zero: a capture on a host that leaves segmentation to its network card.
    #[error("the length field of IP is zero, as in captures before segmentation by the network card")]
    ZeroLength,
    /// A jumbogram (RFC 2675).
    #[error("a jumbogram (RFC 2675) is longer than TCP here can be")]
    Jumbogram,
    /// Part of a packet: fragments are not put together.
    #[error("a fragment of a packet: fragments are not put together")]
    Fragment,
    /// Another protocol than TCP.
    #[error("IP protocol {0} is not TCP (6)")]
    NotTcp(u8),
    /// A compressed header of SCPS-TP that opens a connection, has the id 0 or an odd length, or has no sequence number for
    /// what it carries.
    #[error("the compressed header contradicts itself")]
    BadCompressedHeader,
    /// A compressed header of SCPS-TP with an id that no SYN offered.
    #[error("no SYN before this packet offered its connection id {0}")]
    UnknownConnection(u8),
    /// Another protocol than ICMP, from [`icmp::decode`].
    #[error("IP protocol {0} is not ICMP of its version (1 or 58)")]
    NotIcmp(u8),
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

/// The bit of URG in the header: TCP here has no urgent data.
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
