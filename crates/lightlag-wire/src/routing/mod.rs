//! Messages of routing protocols in their packets: AODV (RFC 3561), OLSR (RFC 3626), DSDV in the form of ns-3, and GPSR
//! in a form of our own.
//!
//! A message travels in a UDP datagram over IPv4, from and to the port of its protocol. Nodes are known by their IPv4
//! addresses, [`address`], whatever version of IP the network's other packets have. A packet of data under GPSR has a
//! header of its own between LLC and IP, see [`gpsr`].

use crate::ip::{self, pseudo_header, sums_up};
use crate::{Addresses, IpFields, PacketError, encode_udp};
use etherparse::ip_number::UDP;
use lightlag_net::NodeId;
use lightlag_routing::{Message, Receiver};
use std::net::{IpAddr, Ipv4Addr};

mod aodv;
mod dsdv;
pub mod gpsr;
mod olsr;
#[cfg(test)]
mod tests;

/// A message with the fields of its packet that concern routing.
#[derive(Clone, PartialEq, Debug)]
pub struct Datagram {
    /// The node that sends it.
    pub from: NodeId,
    /// Its addressee.
    pub to: Receiver,
    /// The time to live of its IP header.
    pub ttl: u8,
    /// The message.
    pub message: Message,
}

/// The reasons why a packet is not a message of a routing protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RoutingError {
    /// The IP packet is refused.
    #[error("{0}")]
    Packet(#[from] PacketError),
    /// The packet is not of UDP over IPv4.
    #[error("routing messages travel over IPv4 and UDP, which this packet is not")]
    NotUdp,
    /// The length field or the checksum of UDP is wrong.
    #[error("the length or the checksum of UDP is wrong")]
    BadUdp,
    /// The port belongs to no routing protocol.
    #[error("port {0} is not that of AODV (654), OLSR (698), DSDV (269) or GPSR (666)")]
    Port(u16),
    /// A message ends too early.
    #[error("the {protocol} message is cut: {needed} bytes are needed and {present} are there")]
    Truncated {
        /// Its protocol.
        protocol: &'static str,
        /// Bytes that its fields take.
        needed: usize,
        /// Bytes present.
        present: usize,
    },
    /// A length contradicts the bytes.
    #[error("the {protocol} message has {left} bytes behind its end")]
    Longer {
        /// Its protocol.
        protocol: &'static str,
        /// Bytes that belong to no field.
        left: usize,
    },
    /// A field has a value that no message here has.
    #[error("a message of {protocol} has the {field} {value}, which is not read here")]
    Value {
        /// Its protocol.
        protocol: &'static str,
        /// The field.
        field: &'static str,
        /// Its value.
        value: u32,
    },
    /// An address belongs to no node.
    #[error("{0} is not the address of a node (10.0.0.1 and on)")]
    Address(Ipv4Addr),
}

/// The IPv4 address of a node: 10.0.0.1 for the first, and on from there.
///
/// # Panics
/// If the number is above 16,777,213: then 10.0.0.0/8 has no address left.
#[must_use]
pub fn address(node: NodeId) -> Ipv4Addr {
    assert!(node.0 < LAST - FIRST, "10.0.0.0/8 has no address for node {}", node.0);
    Ipv4Addr::from_bits(FIRST + node.0)
}

/// The first address of 10.0.0.0/8, and the last, which is a broadcast address.
const FIRST: u32 = 10 << 24 | 1;
const LAST: u32 = 10 << 24 | 0x00ff_ffff;

fn node(address: Ipv4Addr) -> Result<NodeId, RoutingError> {
    match address.to_bits() {
        bits @ FIRST..LAST => Ok(NodeId(bits - FIRST)),
        _ => Err(RoutingError::Address(address)),
    }
}

/// Writes the packet of a message to `out`, which is cleared first. A message to all nodes goes to 255.255.255.255.
///
/// # Panics
/// If the message is longer than a packet, or a field of it than its place.
pub fn encode(out: &mut Vec<u8>, datagram: &Datagram) {
    let Datagram { from, to, ttl, message } = datagram;
    let to = match to {
        Receiver::All => Ipv4Addr::BROADCAST,
        Receiver::One(node) => address(*node),
    };
    let port = message.port();
    let addresses = Addresses { source: (address(*from), port).into(), destination: (to, port).into() };
    let mut payload = Vec::with_capacity(message.size() as usize);
    match message {
        Message::Aodv(message) => aodv::encode(&mut payload, message),
        Message::Olsr(packet) => olsr::encode(&mut payload, packet),
        Message::Dsdv(update) => dsdv::encode(&mut payload, update),
        Message::Gpsr(beacon) => gpsr::encode_beacon(&mut payload, beacon),
        Message::Own(own) => payload.extend_from_slice(own),
    }
    assert_eq!(payload.len(), message.size() as usize, "a message is as long as its protocol counts: {message:?}");
    encode_udp(out, &addresses, &IpFields { ttl: *ttl, ..IpFields::default() }, &payload);
}

/// Reads the packet of a message. Two properties of messages are in no field: whether an update of DSDV holds the whole
/// table, which is read as false, and the time to live of a route request or reply, which is that of the packet.
///
/// # Errors
/// If the packet is damaged or cut, or has no message that is read here; see [`RoutingError`].
pub fn decode(packet: &[u8]) -> Result<Datagram, RoutingError> {
    let ip = ip::parse(packet)?;
    let (IpAddr::V4(source), IpAddr::V4(destination)) = (ip.source, ip.destination) else {
        return Err(RoutingError::NotUdp);
    };
    if ip.protocol != UDP.0 {
        return Err(RoutingError::NotUdp);
    }
    let (needed, present) = (ip.header_len + ip.len, ip.header_len + ip.payload.len());
    if present < needed {
        return Err(PacketError::Truncated { needed, present }.into());
    }
    if !ip.checksum_is_right {
        return Err(PacketError::BadHeaderChecksum.into());
    }
    let Some((header, payload)) = ip.payload.split_first_chunk::<8>() else { return Err(RoutingError::BadUdp) };
    let number = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    // RFC 768: a checksum of 0 is none.
    let is_right = number(6) == 0 || sums_up(pseudo_header(ip.source, ip.destination, UDP, ip.len), ip.payload);
    if usize::from(number(4)) != ip.len || !is_right {
        return Err(RoutingError::BadUdp);
    }
    let ttl = ip.fields.ttl;
    let fields = |protocol| Fields { protocol, whole: payload.len(), rest: payload };
    let message = match number(2) {
        lightlag_routing::aodv::PORT => Message::Aodv(aodv::decode(fields("AODV"), ttl)?),
        lightlag_routing::olsr::PORT => Message::Olsr(olsr::decode(fields("OLSR"))?),
        lightlag_routing::dsdv::PORT => Message::Dsdv(dsdv::decode(fields("DSDV"))?),
        lightlag_routing::gpsr::PORT => Message::Gpsr(gpsr::decode_beacon(fields("GPSR"))?),
        lightlag_routing::OWN_PORT => Message::Own(payload.into()),
        other => return Err(RoutingError::Port(other)),
    };
    let to = match destination {
        Ipv4Addr::BROADCAST => Receiver::All,
        one => Receiver::One(node(one)?),
    };
    Ok(Datagram { from: node(source)?, to, ttl, message })
}

/// The fields of a message, in network byte order, read from the front.
#[derive(Clone, Copy)]
struct Fields<'a> {
    protocol: &'static str,
    /// Bytes of the whole message.
    whole: usize,
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], RoutingError> {
        let (bytes, rest) = self.rest.split_first_chunk::<N>().ok_or_else(|| self.truncated(N))?;
        self.rest = rest;
        Ok(*bytes)
    }

    /// The next `len` bytes, as a message of its own.
    fn part(&mut self, len: usize) -> Result<Self, RoutingError> {
        let (part, rest) = self.rest.split_at_checked(len).ok_or_else(|| self.truncated(len))?;
        self.rest = rest;
        Ok(Self { protocol: self.protocol, whole: len, rest: part })
    }

    fn truncated(&self, next: usize) -> RoutingError {
        let needed = self.whole - self.rest.len() + next;
        RoutingError::Truncated { protocol: self.protocol, needed, present: self.whole }
    }

    fn u16(&mut self) -> Result<u16, RoutingError> {
        self.bytes().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Result<u32, RoutingError> {
        self.bytes().map(u32::from_be_bytes)
    }

    fn node(&mut self) -> Result<NodeId, RoutingError> {
        node(Ipv4Addr::from(self.bytes::<4>()?))
    }

    /// All nodes up to the end.
    fn nodes(&mut self) -> Result<Vec<NodeId>, RoutingError> {
        let mut nodes = Vec::with_capacity(self.rest.len() / 4);
        while !self.rest.is_empty() {
            nodes.push(self.node()?);
        }
        Ok(nodes)
    }

    fn end(&self) -> Result<(), RoutingError> {
        match self.rest.len() {
            0 => Ok(()),
            left => Err(RoutingError::Longer { protocol: self.protocol, left }),
        }
    }

    fn refuse<T>(&self, field: &'static str, value: impl Into<u32>) -> Result<T, RoutingError> {
        Err(RoutingError::Value { protocol: self.protocol, field, value: value.into() })
    }
}

fn put_node(out: &mut Vec<u8>, node: NodeId) {
    out.extend_from_slice(&address(node).octets());
}

fn put_nodes(out: &mut Vec<u8>, nodes: &[NodeId]) {
    for node in nodes {
        put_node(out, *node);
    }
}
