//! Packets of routing protocols: AODV (RFC 3561), OLSR (RFC 3626), DSDV in the format of ns-3, and GPSR in a format of
//! our own.
//!
//! A message is carried in a UDP datagram over IPv4; both ports are the port of its protocol. Nodes are identified by
//! their IPv4 addresses ([`address`]), even if the other packets of the network use IPv6. With GPSR, a data packet has
//! an additional header between LLC and IP; see [`gpsr`].

use crate::ip::{self, pseudo_header, sums_up};
use crate::{Addresses, IpFields, PacketError, encode_udp};
use etherparse::ip_number::UDP;
use lightlag_net::NodeId;
pub use lightlag_routing::Message;
use lightlag_routing::Receiver;
pub use lightlag_routing::messages::address;
use lightlag_routing::messages::{FormError, node};
use std::net::{IpAddr, Ipv4Addr};

pub mod gpsr;
#[cfg(test)]
mod tests;

/// A routing message, with the fields of its packet that concern routing.
#[derive(Clone, PartialEq, Debug)]
pub struct Datagram {
    /// The node that sends the message.
    pub from: NodeId,
    /// Receiver of the message: one node or all.
    pub to: Receiver,
    /// Time to live in the IP header.
    pub ttl: u8,
    /// The message.
    pub message: Message,
}

/// The reasons why a packet is not a routing message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RoutingError {
    /// The IP packet is not valid.
    #[error("{0}")]
    Packet(#[from] PacketError),
    /// The packet is not a UDP packet over IPv4.
    #[error("routing messages use IPv4 and UDP, but this packet does not")]
    NotUdp,
    /// The UDP length or checksum is wrong.
    #[error("the length or the checksum of UDP is wrong")]
    BadUdp,
    /// The port does not belong to a routing protocol.
    #[error("port {0} is not the port of {ports}", ports = ports())]
    Port(u16),
    /// The payload is not a message of the protocol, or an address in it belongs to no node.
    #[error("{0}")]
    Form(#[from] FormError),
}

/// Returns a list of the protocols with their ports, for a message.
fn ports() -> String {
    let ports: Vec<String> = Message::PROTOCOLS.iter().map(|(name, port)| format!("{name} ({port})")).collect();
    let (last, others) = ports.split_last().expect("there are protocols");
    format!("{} or {last}", others.join(", "))
}

/// Writes the packet of a message to `out`, which is cleared first. A message to all nodes is sent to 255.255.255.255.
///
/// # Panics
/// If the message is too long for a packet, or a value is too large for its field.
pub fn encode(out: &mut Vec<u8>, datagram: &Datagram) {
    let Datagram { from, to, ttl, message } = datagram;
    let to = match to {
        Receiver::All => Ipv4Addr::BROADCAST,
        Receiver::One(node) => address(*node),
    };
    let port = message.port();
    let addresses = Addresses { source: (address(*from), port).into(), destination: (to, port).into() };
    let mut payload = Vec::with_capacity(message.size() as usize);
    message.encode(&mut payload);
    assert_eq!(payload.len(), message.size() as usize, "the length of a message matches its encoding: {message:?}");
    encode_udp(out, &addresses, &IpFields { ttl: *ttl, ..IpFields::default() }, &payload);
}

/// Parses the packet of a message. Two properties of messages are in no field. Whether a DSDV update holds the entire
/// table is read as false, and the time to live of a route request or reply is taken from the IP header.
///
/// # Errors
/// If the packet is damaged or truncated, or does not contain a supported message; see [`RoutingError`].
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
    let port = number(2);
    let message = Message::decode(port, payload, ttl).ok_or(RoutingError::Port(port))??;
    let to = match destination {
        Ipv4Addr::BROADCAST => Receiver::All,
        one => Receiver::One(node(one)?),
    };
    Ok(Datagram { from: node(source)?, to, ttl, message })
}
