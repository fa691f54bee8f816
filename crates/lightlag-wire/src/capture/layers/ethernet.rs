//! Ethernet and what its types name, 802.2 with SNAP (RFC 1042), and labels of MPLS (RFC 3032).

use super::{Bytes, Other, Protocol, Step, Stop};
use crate::dot11::EtherType;
use crate::routing::gpsr;

/// Types up to this one are lengths (IEEE 802.3 §3.2.6).
const LONGEST: u16 = 1500;
/// Bytes of the two addresses.
const ADDRESSES: usize = 12;

const PPPOE_SESSION: u16 = 0x8864;
pub(super) const MPLS: [u16; 2] = [0x8847, 0x8848];
/// Bridged Ethernet, in tunnels.
pub(super) const BRIDGED: u16 = 0x6558;
const MACSEC: u16 = 0x88e5;
const FABRIC_PATH: u16 = 0x8903;
const PROVIDER_BACKBONE: u16 = 0x88e7;
const SERVICE_HEADER: u16 = 0x894f;

/// Tags, by type: bytes in front of the next type.
const TAGS: [(u16, usize); 10] = [
    (0x8100, 2), // 802.1Q
    (0x88a8, 2), // 802.1ad
    (0x9100, 2),
    (0x9200, 2),
    (0x9300, 2),
    (0x8926, 4), // VN-Tag
    (0x893f, 6), // 802.1BR
    (0xf1c1, 4), // 802.1CB
    (0x892f, 4), // HSR (IEC 62439-3)
    (0x8909, 6), // metadata of Cisco
];

/// Names of types that carry no IP.
const NAMES: [(u16, &str); 18] = [
    (0x0806, "ARP"),
    (0x8035, "RARP"),
    (0x8137, "IPX"),
    (0x809b, "AppleTalk"),
    (0x80f3, "AppleTalk ARP"),
    (0x8808, "Ethernet flow control"),
    (0x8809, "LACP"),
    (0x8863, "PPPoE discovery"),
    (0x888e, "EAPOL"),
    (0x8892, "PROFINET"),
    (0x88cc, "LLDP"),
    (0x88f7, "PTP"),
    (0x8902, "CFM"),
    (0x9000, "Ethernet loopback"),
    (0x22f0, "AVTP"),
    (0x6003, "DECnet"),
    (0x2001, "NHRP"),
    (0x00fe, "OSI"),
];

/// A frame of Ethernet from its addresses on.
pub(super) fn frame(bytes: Bytes<'_>) -> Step<'_> {
    type_or_length(bytes.skip(ADDRESSES)?)
}

/// A type, or the length of a frame of 802.3.
fn type_or_length(bytes: Bytes<'_>) -> Step<'_> {
    let (number, rest) = (bytes.u16(0)?, bytes.skip(2)?);
    if number <= LONGEST { rest.of(Protocol::Llc) } else { rest.of(Protocol::EtherType(number)) }
}

/// The contents after an Ethernet type.
pub(super) fn typed(number: u16, bytes: Bytes<'_>) -> Step<'_> {
    if let Some((_, before)) = TAGS.iter().find(|(tag, _)| *tag == number) {
        return type_or_length(bytes.skip(*before)?);
    }
    match number {
        _ if EtherType(number).is_ip() => bytes.of(Protocol::Ip),
        _ if MPLS.contains(&number) => bytes.of(Protocol::Mpls),
        // Version and type, code, session, length (RFC 2516 §4).
        PPPOE_SESSION => bytes.skip(6)?.of(Protocol::Ppp),
        BRIDGED => bytes.of(Protocol::Ethernet),
        // The tag of 802.1ah, then the customer's frame.
        PROVIDER_BACKBONE => bytes.skip(4)?.of(Protocol::Ethernet),
        // A tag of two bytes, then the frame inside.
        FABRIC_PATH => bytes.skip(2)?.of(Protocol::Ethernet),
        MACSEC => macsec(bytes),
        SERVICE_HEADER => service_header(bytes),
        _ if EtherType(number) == gpsr::ETHERTYPE => match gpsr::decode(bytes.bytes) {
            Ok((_, packet)) => Bytes { bytes: packet, ..bytes }.of(Protocol::Ip),
            Err(_) => Err(Stop::Other(Other::EtherType(number))),
        },
        _ => {
            let name = NAMES.iter().find(|(named, _)| *named == number);
            Err(Stop::Other(name.map_or(Other::EtherType(number), |(_, name)| Other::Named(name))))
        }
    }
}

/// MACsec without encryption (IEEE 802.1AE §9.3): control bits, a length, a number, perhaps a channel, then a type.
fn macsec(bytes: Bytes<'_>) -> Step<'_> {
    const HAS_CHANNEL: u8 = 0x20;
    const ENCRYPTED_OR_CHANGED: u8 = 0x0c;
    let control = bytes.u8(0)?;
    if control & ENCRYPTED_OR_CHANGED != 0 {
        return Err(Stop::named("MACsec"));
    }
    type_or_length(bytes.skip(if control & HAS_CHANNEL == 0 { 6 } else { 14 })?)
}

/// A network service header (RFC 8300 §2).
pub(super) fn service_header(bytes: Bytes<'_>) -> Step<'_> {
    let len = 4 * usize::from(bytes.u8(1)? & 0x3f);
    next_protocol(bytes.u8(3)?, bytes.skip(len.max(8))?)
}

/// The next protocol of NSH and of VXLAN-GPE.
pub(super) fn next_protocol(number: u8, bytes: Bytes<'_>) -> Step<'_> {
    match number {
        1 | 2 => bytes.ip(),
        3 => bytes.of(Protocol::Ethernet),
        4 => service_header(bytes),
        5 => bytes.of(Protocol::Mpls),
        _ => Err(Stop::Unread),
    }
}

/// LLC of 802.2, with or without SNAP.
pub(super) fn llc(bytes: Bytes<'_>) -> Step<'_> {
    match (bytes.u8(0)?, bytes.u8(1)?) {
        (0xaa, 0xaa) => snap(bytes.skip(3)?),
        (0x06, 0x06) => bytes.skip(3)?.ip(),
        (0x42, 0x42) => Err(Stop::named("STP")),
        (0xe0, 0xe0) | (0xff, 0xff) => Err(Stop::named("IPX")),
        (0xf0, 0xf0) => Err(Stop::named("NetBIOS")),
        (0xfe, 0xfe) => match (bytes.u8(2)?, bytes.u8(3)?) {
            // RFC 2684 §5.2: a network protocol by its identifier.
            (3, 0xcc | 0x8e) => bytes.skip(4)?.ip(),
            _ => Err(Stop::named("OSI")),
        },
        _ => Err(Stop::named("LLC")),
    }
}

/// An organisation and a protocol (IEEE 802 §9.2.4).
pub(super) fn snap(bytes: Bytes<'_>) -> Step<'_> {
    let organisation = [bytes.u8(0)?, bytes.u8(1)?, bytes.u8(2)?];
    let (number, rest) = (bytes.u16(3)?, bytes.skip(5)?);
    match (organisation, number) {
        ([0, 0, 0] | [0, 0, 0xf8], _) => rest.of(Protocol::EtherType(number)),
        // RFC 2684 §5.3: bridged Ethernet, after two bytes of padding.
        ([0, 0x80, 0xc2], 1 | 7) => rest.skip(2)?.of(Protocol::Ethernet),
        ([0, 0, 0x0c], 0x2000) => Err(Stop::named("CDP")),
        _ => Err(Stop::named("SNAP of another organisation")),
    }
}

/// A stack of labels, whose last one has a bit. The packet after it has no type: IP shows by its version, and 0 starts
/// the control word of a pseudowire (RFC 4385 §2).
pub(super) fn mpls(bytes: Bytes<'_>) -> Step<'_> {
    const LAST: u8 = 1;
    let mut at = 0;
    while bytes.u8(at + 2)? & LAST == 0 {
        at += 4;
    }
    let inside = bytes.skip(at + 4)?;
    inside.ip().map_err(|_| Stop::named("MPLS pseudowire"))
}
