//! The way from a frame to the IP packet in it: link layers, tags, labels and tunnels, one after the other.
//!
//! Each layer has a function from its bytes to the next layer. Every step takes at least one byte, so the search is
//! linear in the length of the frame.
//!
//! The innermost IP packet counts, as in tshark: of a packet in a tunnel that is the one inside. If the contents of a
//! tunnel cannot be read, the packet around them is the result. Encrypted and multiplexed contents (ESP, L2TP of
//! version 3, pseudowires of MPLS) are not opened.

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

/// Contents of a frame that are not an IP packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Other {
    /// A protocol or a state, by its name.
    Named(&'static str),
    /// A type of Ethernet without a name here.
    EtherType(u16),
    /// A link type that is not read.
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
    /// A packet in a data frame of 802.11, whose repetitions the caller recognises.
    Wireless(Msdu<'a>, Bytes<'a>),
    Other(Other),
}

/// The bytes of a layer that the capture holds, and the number of bytes after them that it lacks.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a> {
    pub bytes: &'a [u8],
    pub missing: usize,
}

impl<'a> Bytes<'a> {
    /// Everything after the first `count` bytes.
    fn skip(self, count: usize) -> Result<Self, Stop> {
        Ok(Self { bytes: self.bytes.get(count..).ok_or(Stop::Unread)?, ..self })
    }

    fn u8(self, at: usize) -> Result<u8, Stop> {
        self.bytes.get(at).copied().ok_or(Stop::Unread)
    }

    /// The number at `at` in network byte order.
    fn u16(self, at: usize) -> Result<u16, Stop> {
        Ok(u16::from_be_bytes([self.u8(at)?, self.u8(at + 1)?]))
    }

    /// The number at `at` in little-endian byte order.
    fn u32_le(self, at: usize) -> Result<u32, Stop> {
        let bytes = self.bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map(u32::from_le_bytes).ok_or(Stop::Unread)
    }

    /// These bytes as a layer of `protocol`.
    fn of(self, protocol: Protocol) -> Step<'a> {
        Ok(Layer { protocol, bytes: self })
    }

    /// An IP packet, if the version is one of IP.
    fn ip(self) -> Step<'a> {
        if matches!(self.u8(0)? >> 4, 4 | 6) { self.of(Protocol::Ip) } else { Err(Stop::Unread) }
    }
}

/// The form of the bytes of a layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Protocol {
    /// A frame of this link type.
    Link(LinkType),
    /// From the destination's MAC address on.
    Ethernet,
    /// The layer that follows a type of Ethernet.
    EtherType(u16),
    /// LLC of 802.2.
    Llc,
    /// From the protocol of PPP on, perhaps with address and control in front.
    Ppp,
    /// HDLC of Cisco.
    CiscoHdlc,
    /// A stack of labels.
    Mpls,
    /// An IP packet.
    Ip,
    /// A frame of 802.11.
    Dot11,
    /// A frame of 802.11 after a header of radiotap.
    Radiotap,
}

pub(super) struct Layer<'a> {
    pub protocol: Protocol,
    pub bytes: Bytes<'a>,
}

/// The reasons why the search ends without an IP packet.
enum Stop {
    /// The bytes end within a header, or contradict it.
    Unread,
    Other(Other),
}

impl Stop {
    const fn named(name: &'static str) -> Self {
        Self::Other(Other::Named(name))
    }
}

type Step<'a> = Result<Layer<'a>, Stop>;

/// Follows the layers from `layer` on.
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
