//! Ethernet and its payload types, 802.2 with SNAP (RFC 1042), and MPLS labels (RFC 3032).

use super::{Bytes, LayerStep, Other, Protocol, Stop};
use crate::dot11::EtherType;
use crate::routing::gpsr;

/// Maximum value of the type field that is a length instead (IEEE 802.3 §3.2.6).
const LONGEST: u16 = 1500;
/// Length of the two MAC addresses in bytes.
const ADDRESSES: usize = 12;

const PPPOE_SESSION: u16 = 0x8864;
pub(super) const MPLS: [u16; 2] = [0x8847, 0x8848];
/// EtherType of Ethernet frames that are bridged through tunnels.
pub(super) const BRIDGED: u16 = 0x6558;
const MACSEC: u16 = 0x88e5;
const FABRIC_PATH: u16 = 0x8903;
const PROVIDER_BACKBONE: u16 = 0x88e7;
const SERVICE_HEADER: u16 = 0x894f;

/// Tags by EtherType, with the number of bytes before the next EtherType.
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

/// Names of EtherTypes that carry no IP.
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

/// Reads an Ethernet frame, starting at its addresses.
pub(super) fn frame(bytes: Bytes<'_>) -> LayerStep<'_> {
    type_or_length(bytes.skip(ADDRESSES)?)
}

/// Reads an EtherType, or the length of an 802.3 frame.
fn type_or_length(bytes: Bytes<'_>) -> LayerStep<'_> {
    let (number, rest) = (bytes.u16(0)?, bytes.skip(2)?);
    if number <= LONGEST { rest.of(Protocol::Llc) } else { rest.of(Protocol::EtherType(number)) }
}

/// Returns the layer that follows an EtherType.
pub(super) fn typed(number: u16, bytes: Bytes<'_>) -> LayerStep<'_> {
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

/// Reads a MACsec header without encryption (IEEE 802.1AE §9.3): control bits, a length, a number, an optional channel
/// identifier, then an EtherType.
fn macsec(bytes: Bytes<'_>) -> LayerStep<'_> {
    const HAS_CHANNEL: u8 = 0x20;
    const ENCRYPTED_OR_CHANGED: u8 = 0x0c;
    let control = bytes.u8(0)?;
    if control & ENCRYPTED_OR_CHANGED != 0 {
        return Err(Stop::named("MACsec"));
    }
    type_or_length(bytes.skip(if control & HAS_CHANNEL == 0 { 6 } else { 14 })?)
}

/// Reads a network service header (RFC 8300 §2).
pub(super) fn service_header(bytes: Bytes<'_>) -> LayerStep<'_> {
    let len = 4 * usize::from(bytes.u8(1)? & 0x3f);
    next_protocol(bytes.u8(3)?, bytes.skip(len.max(8))?)
}

/// Returns the layer for a next-protocol number of NSH or VXLAN-GPE.
pub(super) fn next_protocol(number: u8, bytes: Bytes<'_>) -> LayerStep<'_> {
    match number {
        1 | 2 => bytes.ip(),
        3 => bytes.of(Protocol::Ethernet),
        4 => service_header(bytes),
        5 => bytes.of(Protocol::Mpls),
        _ => Err(Stop::Unread),
    }
}

/// Reads an 802.2 LLC header, with or without SNAP.
pub(super) fn llc(bytes: Bytes<'_>) -> LayerStep<'_> {
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

/// Reads the organisation and protocol of a SNAP header (IEEE 802 §9.2.4).
pub(super) fn snap(bytes: Bytes<'_>) -> LayerStep<'_> {
    let organisation = [bytes.u8(0)?, bytes.u8(1)?, bytes.u8(2)?];
    let (number, rest) = (bytes.u16(3)?, bytes.skip(5)?);
    match (organisation, number) {
        ([0, 0, 0] | [0, 0, 0xf8], _) => rest.of(Protocol::EtherType(number)),
        // RFC 2684 §5.3: bridged Ethernet, after two bytes of padding.
        ([0, 0x80, 0xc2], 1 | 7) => rest.skip(2)?.of(Protocol::Ethernet),
        ([0, 0, 0x0c], 0x2000) => Err(Stop::named("CDP")),
        _ => Err(Stop::named("SNAP with another organisation code")),
    }
}

/// Reads an MPLS label stack, in which a bit marks the last label. The packet after it has no type: a version number
/// identifies IP, and 0 the control word of a pseudowire (RFC 4385 §2).
pub(super) fn mpls(bytes: Bytes<'_>) -> LayerStep<'_> {
    const LAST: u8 = 1;
    let mut offset = 0;
    while bytes.u8(offset + 2)? & LAST == 0 {
        offset += 4;
    }
    let inside = bytes.skip(offset + 4)?;
    inside.ip().map_err(|_| Stop::named("MPLS pseudowire"))
}
