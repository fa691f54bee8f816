//! The headers in front of an IP packet in a capture: link types (<https://www.tcpdump.org/linktypes.html>).

use crate::dot11::radiotap::{self, Flags};
use crate::dot11::{EtherType, FCS_LEN, Msdu, fcs};
use crate::routing::gpsr;
use std::fmt;

/// A link type, by its number in capture files.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkType(pub u16);

/// Ethernet types of tags of virtual networks: 802.1Q, 802.1ad, and an older one.
const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];

impl LinkType {
    /// BSD loopback: the address family in the byte order of the host.
    pub const NULL: Self = Self(0);
    /// Ethernet.
    pub const ETHERNET: Self = Self(1);
    /// IP without anything in front.
    pub const RAW: Self = Self(101);
    /// 802.11 without anything in front, and without a frame check sequence.
    pub const IEEE802_11: Self = Self(105);
    /// OpenBSD loopback: the address family in network byte order.
    pub const LOOP: Self = Self(108);
    /// `tcpdump -i any` of Linux, before libpcap 1.10.
    pub const LINUX_SLL: Self = Self(113);
    /// 802.11 after a header of radiotap.
    pub const IEEE802_11_RADIOTAP: Self = Self(127);
    /// IPv4 without anything in front.
    pub const IPV4: Self = Self(228);
    /// IPv6 without anything in front.
    pub const IPV6: Self = Self(229);
    /// `tcpdump -i any` of Linux.
    pub const LINUX_SLL2: Self = Self(276);

    /// The names of the supported link types.
    pub(super) const KNOWN: &'static str = "RAW, ETHERNET, IEEE802_11_RADIOTAP, IEEE802_11, LINUX_SLL, LINUX_SLL2, \
                                            NULL, LOOP, IPV4, IPV6";

    /// Whether frames are those of 802.11, whose packets [`LinkType::msdu`] finds.
    pub(super) fn is_wireless(self) -> bool {
        matches!(self, Self::IEEE802_11 | Self::IEEE802_11_RADIOTAP)
    }

    /// The packet in a frame of 802.11 that had `wire_len` bytes before it was cut. `None`: the frame holds something
    /// else, is damaged, or is not opened here.
    pub(super) fn msdu(self, frame: &[u8], wire_len: u32) -> Option<Msdu<'_>> {
        if self == Self::IEEE802_11 {
            return Msdu::find(frame, false).ok();
        }
        let (header, body) = radiotap::decode(frame).ok()?;
        let body = if header.flags.has(Flags::FCS) {
            let missing = (wire_len as usize).saturating_sub(frame.len());
            without_fcs(body, missing)?
        } else {
            body
        };
        Msdu::find(body, header.flags.has(Flags::PADDED)).ok().filter(|_| !header.flags.has(Flags::BAD_FCS))
    }

    /// The IP packet in a frame. `Err`: unknown link type; `None`: the frame holds something else.
    pub(super) fn ip(self, frame: &[u8]) -> Result<Option<&[u8]>, ()> {
        Ok(match self {
            // Some systems write 12 or 14 for RAW.
            Self::RAW | Self::IPV4 | Self::IPV6 | Self(12 | 14) => Some(frame),
            Self::ETHERNET => typed(frame, 12, 14),
            Self::LINUX_SLL => typed(frame, 14, 16),
            Self::LINUX_SLL2 => typed(frame, 0, 20),
            Self::NULL | Self::LOOP => frame.split_first_chunk().and_then(|(family, ip)| is_ip(*family).then_some(ip)),
            _ => return Err(()),
        })
    }
}

impl fmt::Display for LinkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The IP packet of a data frame, which GPSR may have given a header.
pub(super) fn packet<'a>(msdu: &Msdu<'a>) -> Option<&'a [u8]> {
    match msdu.ethertype {
        gpsr::ETHERTYPE => gpsr::decode(msdu.payload).ok().map(|(_, packet)| packet),
        ethertype => ethertype.is_ip().then_some(msdu.payload),
    }
}

/// A frame without its check sequence, if that is right or partly `missing`.
fn without_fcs(frame: &[u8], missing: usize) -> Option<&[u8]> {
    if missing > 0 {
        return Some(&frame[..frame.len().saturating_sub(FCS_LEN.saturating_sub(missing))]);
    }
    let (frame, sum) = frame.split_last_chunk()?;
    (u32::from_le_bytes(*sum) == fcs(frame)).then_some(frame)
}

/// The IP packet after a header with its type at `type_at`, and after any tags.
fn typed(frame: &[u8], type_at: usize, mut at: usize) -> Option<&[u8]> {
    let number = |at: usize| Some(u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]));
    let mut kind = number(type_at)?;
    while TAGS.contains(&kind) {
        kind = number(at + 2)?;
        at += 4;
    }
    if EtherType(kind).is_ip() { frame.get(at..) } else { None }
}

/// AF_INET is 2 everywhere; AF_INET6 is 10 (Linux), 24 (NetBSD, OpenBSD), 28 (FreeBSD) or 30 (macOS).
fn is_ip(family: [u8; 4]) -> bool {
    [u32::from_le_bytes(family), u32::from_be_bytes(family)].iter().any(|family| [2, 10, 24, 28, 30].contains(family))
}
