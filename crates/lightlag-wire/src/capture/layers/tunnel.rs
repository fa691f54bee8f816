//! Tunnels, which carry packets or frames inside an IP packet.

use super::ethernet::{BRIDGED, next_protocol};
use super::{Bytes, LayerStep, Protocol, Stop};
use crate::ip::{Captured, parse_tunnel};

/// IP protocol numbers.
const IPV4: u8 = 4;
const TCP: u8 = 6;
const UDP: u8 = 17;
const IPV6: u8 = 41;
const GRE: u8 = 47;
const KA9Q: u8 = 94;
const ETHER_IP: u8 = 97;
const MPLS: u8 = 137;

/// Returns the layer inside a packet that belongs to a tunnel; `None` if it does not.
pub(super) fn inside(packet: Captured<'_>) -> Option<LayerStep<'_>> {
    // Most packets carry TCP, which this finds without reading more of the header.
    let protocol = match packet.bytes.first()? >> 4 {
        4 => packet.bytes.get(9),
        6 => packet.bytes.get(6),
        _ => None,
    };
    if *protocol? == TCP {
        return None;
    }
    let ip = parse_tunnel(packet).ok()?;
    let bytes = Bytes { bytes: ip.payload, missing: ip.len - ip.payload.len() };
    match ip.protocol {
        IPV4 | IPV6 | KA9Q => Some(bytes.ip()),
        GRE => Some(gre(bytes)),
        // Two bytes of version (RFC 3378).
        ETHER_IP => Some(bytes.skip(2).and_then(|frame| frame.of(Protocol::Ethernet))),
        MPLS => Some(bytes.of(Protocol::Mpls)),
        UDP => udp(bytes).transpose(),
        _ => None,
    }
}

/// Reads GRE (RFC 2784, RFC 2890), and its variant in PPTP (RFC 2637 §4.1).
fn gre(bytes: Bytes<'_>) -> LayerStep<'_> {
    const CHECKSUM: u16 = 0x8000;
    const ROUTING: u16 = 0x4000;
    const KEY: u16 = 0x2000;
    const SEQUENCE: u16 = 0x1000;
    const ACKNOWLEDGEMENT: u16 = 0x0080;
    const PPP: u16 = 0x880b;
    const WCCP: u16 = 0x883e;
    const ERSPAN_2: u16 = 0x88be;
    const ERSPAN_3: u16 = 0x22eb;
    let (flags, number) = (bytes.u16(0)?, bytes.u16(2)?);
    let has = |flag: u16| flags & flag != 0;
    if has(ROUTING) {
        return Err(Stop::named("GRE with source routes"));
    }
    let acknowledges = has(ACKNOWLEDGEMENT) && flags & 7 == 1;
    let fields = [has(CHECKSUM), has(KEY), has(SEQUENCE), acknowledges].into_iter().filter(|has| *has).count();
    let rest = bytes.skip(4 + 4 * fields)?;
    match number {
        // A frame that only acknowledges.
        PPP if rest.bytes.is_empty() => Err(Stop::named("GRE of PPTP without data")),
        PPP => rest.of(Protocol::Ppp),
        WCCP if rest.u8(0)? >> 4 != 4 => rest.skip(4)?.ip(),
        WCCP => rest.ip(),
        // Access points of Aruba send frames of 802.11.
        0x8200..=0x8210 | 0x9000 => rest.of(Protocol::Dot11),
        // The first form of ERSPAN has neither a number nor a header.
        ERSPAN_2 => rest.skip(if has(SEQUENCE) { 8 } else { 0 })?.of(Protocol::Ethernet),
        ERSPAN_3 => {
            let has_platform = rest.u8(11)? & 1 == 1;
            rest.skip(if has_platform { 20 } else { 12 })?.of(Protocol::Ethernet)
        }
        number => rest.of(Protocol::EtherType(number)),
    }
}

/// Reads a tunnel over UDP, which is recognised by its port. Returns `Ok(None)` if the ports belong to no tunnel.
fn udp(bytes: Bytes<'_>) -> Result<Option<super::Layer<'_>>, Stop> {
    const HEADER: usize = 8;
    let Ok(inside) = bytes.skip(HEADER) else { return Ok(None) };
    let (from, to) = (bytes.u16(0)?, bytes.u16(2)?);
    let layer = match (from, to) {
        (_, 4789 | 8472) => vxlan(inside),
        (_, 4790) => vxlan_gpe(inside),
        (_, 6081) => geneve(inside),
        (_, 6635) => inside.of(Protocol::Mpls),
        (_, 4754) => gre(inside),
        (5072, _) | (_, 5072) => ayiya(inside),
        (2152, _) | (_, 2152) => gtp(inside),
        (3544, _) | (_, 3544) => teredo(inside),
        (4341, _) | (_, 4341) => inside.skip(8)?.ip(),
        (1701, _) | (_, 1701) => l2tp(inside),
        (4500, _) | (_, 4500) => return nat_traversal(inside),
        _ => return Ok(None),
    };
    match layer {
        // The port of another protocol.
        Err(Stop::Unread) => Ok(None),
        layer => layer.map(Some),
    }
}

/// Reads VXLAN (RFC 7348 §5).
fn vxlan(bytes: Bytes<'_>) -> LayerStep<'_> {
    const HAS_NETWORK: u8 = 0x08;
    if bytes.u8(0)? & HAS_NETWORK == 0 {
        return Err(Stop::Unread);
    }
    bytes.skip(8)?.of(Protocol::Ethernet)
}

/// Reads VXLAN-GPE, which has a next-protocol field (draft-ietf-nvo3-vxlan-gpe §3).
fn vxlan_gpe(bytes: Bytes<'_>) -> LayerStep<'_> {
    next_protocol(bytes.u8(3)?, bytes.skip(8)?)
}

/// Reads Geneve (RFC 8926 §3.4).
fn geneve(bytes: Bytes<'_>) -> LayerStep<'_> {
    let first = bytes.u8(0)?;
    if first >> 6 != 0 {
        return Err(Stop::Unread);
    }
    let rest = bytes.skip(8 + 4 * usize::from(first & 0x3f))?;
    match bytes.u16(2)? {
        BRIDGED => rest.of(Protocol::Ethernet),
        number => rest.of(Protocol::EtherType(number)),
    }
}

/// Reads GTP-U (3GPP TS 29.281 §5): four more bytes if one of three flags is set, then extension headers.
fn gtp(bytes: Bytes<'_>) -> LayerStep<'_> {
    const VERSION_1: u8 = 0x30;
    const EXTENSION: u8 = 0x04;
    const MORE: u8 = 0x07;
    const USER_DATA: u8 = 255;
    let (flags, kind) = (bytes.u8(0)?, bytes.u8(1)?);
    if flags & 0xf0 != VERSION_1 {
        return Err(Stop::Unread);
    }
    if kind != USER_DATA {
        return Err(Stop::named("GTP-U without user data"));
    }
    if flags & MORE == 0 {
        return bytes.skip(8)?.ip();
    }
    let mut next = if flags & EXTENSION == 0 { 0 } else { bytes.u8(11)? };
    let mut offset = 12;
    while next != 0 {
        let len = 4 * usize::from(bytes.u8(offset)?);
        if len == 0 {
            return Err(Stop::Unread);
        }
        next = bytes.u8(offset + len - 1)?;
        offset += len;
    }
    bytes.skip(offset)?.ip()
}

/// Reads Teredo (RFC 4380 §5.1.1): optional authentication and origin fields, then IPv6.
fn teredo(mut bytes: Bytes<'_>) -> LayerStep<'_> {
    if bytes.u16(0)? == 1 {
        let (id, value) = (usize::from(bytes.u8(2)?), usize::from(bytes.u8(3)?));
        bytes = bytes.skip(4 + id + value + 9)?;
    }
    if bytes.u16(0)? == 0 {
        bytes = bytes.skip(8)?;
    }
    if bytes.u8(0)? >> 4 == 6 { bytes.of(Protocol::Ip) } else { Err(Stop::Unread) }
}

/// Reads AYIYA (draft-massar-v6ops-ayiya §4): the lengths of an identity and a signature, then IPv6.
fn ayiya(bytes: Bytes<'_>) -> LayerStep<'_> {
    const HEADER: usize = 8;
    let (identity, signature) = (1 << (bytes.u8(0)? >> 4), 4 * usize::from(bytes.u8(1)? >> 4));
    if bytes.u8(3)? != IPV6 {
        return Err(Stop::Unread);
    }
    bytes.skip(HEADER + identity + signature)?.ip()
}

/// Reads L2TP version 2 (RFC 2661 §3.1), which carries PPP.
fn l2tp(bytes: Bytes<'_>) -> LayerStep<'_> {
    const CONTROL: u16 = 0x8000;
    const LENGTH: u16 = 0x4000;
    const SEQUENCE: u16 = 0x0800;
    const OFFSET: u16 = 0x0200;
    let flags = bytes.u16(0)?;
    let has = |flag: u16| flags & flag != 0;
    match flags & 0xf {
        2 if !has(CONTROL) => {}
        2 | 3 => return Err(Stop::named("L2TP")),
        _ => return Err(Stop::Unread),
    }
    let mut offset = 6 + 2 * usize::from(has(LENGTH)) + 4 * usize::from(has(SEQUENCE));
    if has(OFFSET) {
        offset += 2 + usize::from(bytes.u16(offset)?);
    }
    bytes.skip(offset)?.of(Protocol::Ppp)
}

/// Reads ESP in UDP (RFC 3948 §2): four zero bytes precede the key exchange, and a single byte is a keep-alive.
fn nat_traversal(bytes: Bytes<'_>) -> Result<Option<super::Layer<'_>>, Stop> {
    match bytes.bytes {
        [0, 0, 0, 0, ..] | [_] | [] => Ok(None),
        _ => Err(Stop::named("ESP")),
    }
}
