//! Finds the IP packet in a frame, through link layers, tags, labels and tunnels.
//!
//! Each layer has a function that parses its header and returns the next layer. Every step consumes at least one byte,
//! so the time of the search is linear in the length of the frame.
//!
//! As in tshark, the innermost IP packet is the result, so for a tunnel it is the packet inside. If the contents of a
//! tunnel cannot be parsed, the outer packet is the result. Encrypted and multiplexed contents (ESP, L2TP version 3,
//! MPLS pseudowires) are not opened.

mod ethernet;
mod host;
mod ppp;
#[cfg(test)]
mod tests;
mod tunnel;

use super::LinkType;
use crate::PacketError;
use crate::dot11::Msdu;
use crate::ip::{Captured, parse_captured};
use std::fmt;

/// The contents of a frame without an IP packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Other {
    /// The name of a protocol, or of a state such as encryption.
    Named(&'static str),
    /// An EtherType without a known name.
    EtherType(u16),
    /// A link type that is not supported.
    Link(LinkType),
}

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::EtherType(number) => write!(f, "Ethernet type 0x{number:04x}"),
            Self::Link(link) => write!(f, "link type {link}"),
        }
    }
}

/// The contents of a frame.
pub(super) enum Content<'a> {
    Ip(Captured<'a>),
    /// A packet in an 802.11 data frame. The caller has to recognise retransmissions.
    Wireless(Msdu<'a>, Bytes<'a>),
    Other(Other),
}

/// The captured bytes of a layer, and the number of bytes after them that are missing from the capture.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a> {
    pub bytes: &'a [u8],
    pub missing: usize,
}

impl<'a> Bytes<'a> {
    /// Returns the bytes after the first `count`.
    fn skip(self, count: usize) -> Result<Self, Stop> {
        Ok(Self { bytes: self.bytes.get(count..).ok_or(Stop::Unread)?, ..self })
    }

    fn u8(self, index: usize) -> Result<u8, Stop> {
        self.bytes.get(index).copied().ok_or(Stop::Unread)
    }

    /// Returns the 16-bit number at `index`, in network byte order.
    fn u16(self, index: usize) -> Result<u16, Stop> {
        Ok(u16::from_be_bytes([self.u8(index)?, self.u8(index + 1)?]))
    }

    /// Returns the 32-bit number at `index`, in little-endian byte order.
    fn u32_le(self, index: usize) -> Result<u32, Stop> {
        let bytes = self.bytes.get(index..index + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map(u32::from_le_bytes).ok_or(Stop::Unread)
    }

    /// Returns these bytes as a layer of `protocol`.
    fn of(self, protocol: Protocol) -> LayerStep<'a> {
        Ok(Layer { protocol, bytes: self })
    }

    /// Returns these bytes as an IP packet, if the version is 4 or 6.
    fn ip(self) -> LayerStep<'a> {
        if matches!(self.u8(0)? >> 4, 4 | 6) { self.of(Protocol::Ip) } else { Err(Stop::Unread) }
    }
}

/// The protocol of a layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Protocol {
    /// A frame of this link type.
    Link(LinkType),
    /// Ethernet, starting at the destination's MAC address.
    Ethernet,
    /// The layer that follows this EtherType.
    EtherType(u16),
    /// 802.2 LLC.
    Llc,
    /// PPP, starting at the protocol or at the optional address and control fields.
    Ppp,
    /// Cisco HDLC.
    CiscoHdlc,
    /// An MPLS label stack.
    Mpls,
    /// An IP packet.
    Ip,
    /// An 802.11 frame.
    Dot11,
    /// An 802.11 frame after a radiotap header.
    Radiotap,
}

pub(super) struct Layer<'a> {
    pub protocol: Protocol,
    pub bytes: Bytes<'a>,
}

/// The reasons why the search for an IP packet ends.
enum Stop {
    /// The bytes end within a header, or are not valid.
    Unread,
    Other(Other),
}

impl Stop {
    const fn named(name: &'static str) -> Self {
        Self::Other(Other::Named(name))
    }
}

type LayerStep<'a> = Result<Layer<'a>, Stop>;

/// Parses layers, starting with `layer`, until an IP packet or other contents are found.
pub(super) fn content(mut layer: Layer<'_>) -> Content<'_> {
    let mut outer = None;
    loop {
        let bytes = layer.bytes;
        let step = match layer.protocol {
            Protocol::Link(link) => host::link(link, bytes),
            Protocol::Ethernet => ethernet::frame(bytes),
            Protocol::EtherType(number) => ethernet::typed(number, bytes),
            Protocol::Llc => ethernet::llc(bytes),
            Protocol::Ppp => ppp::ppp(bytes),
            Protocol::CiscoHdlc => ppp::cisco_hdlc(bytes),
            Protocol::Mpls => ethernet::mpls(bytes),
            Protocol::Dot11 | Protocol::Radiotap => match host::msdu(layer.protocol, bytes) {
                Ok(msdu) => return Content::Wireless(msdu, bytes),
                Err(stop) => Err(stop),
            },
            Protocol::Ip => {
                let packet = Captured { bytes: bytes.bytes, wire_len: bytes.bytes.len() + bytes.missing };
                // Inside a tunnel that only a port number shows, anything may look like a packet.
                let is_sound = outer.is_none() || matches!(parse_captured(packet), Ok(_) | Err(PacketError::Fragment));
                match tunnel::inside(packet) {
                    _ if !is_sound => Err(Stop::Unread),
                    None => return Content::Ip(packet),
                    Some(inside) => {
                        outer = Some(packet);
                        inside
                    }
                }
            }
        };
        match (step, outer) {
            (Ok(next), _) => layer = next,
            (Err(Stop::Other(other @ Other::Named(_))), _) | (Err(Stop::Other(other)), None) => {
                return Content::Other(other);
            }
            (Err(_), Some(outer)) => return Content::Ip(outer),
            (Err(Stop::Unread), None) => return Content::Other(Other::Named("cut or damaged frame")),
        }
    }
}
