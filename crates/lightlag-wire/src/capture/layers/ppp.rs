//! Point-to-point links: PPP (RFC 1661, RFC 1662), Cisco HDLC, Frame Relay (RFC 2427), SLIP.

use super::ethernet::snap;
use super::{Bytes, LayerStep, Protocol, Stop};

/// Address (all stations) and control (unnumbered information), the first two bytes of a PPP frame in HDLC-like framing
/// (RFC 1662 §3.1).
pub(super) const ADDRESS_AND_CONTROL: [u8; 2] = [0xff, 0x03];

/// Reads the protocol, after address and control if they are present. A protocol number of one byte is odd (RFC 1661
/// §6.5).
pub(super) fn ppp(bytes: Bytes<'_>) -> LayerStep<'_> {
    let bytes = if bytes.bytes.starts_with(&ADDRESS_AND_CONTROL) { bytes.skip(2)? } else { bytes };
    let first = bytes.u8(0)?;
    let (number, rest) =
        if first & 1 == 1 { (u16::from(first), bytes.skip(1)?) } else { (bytes.u16(0)?, bytes.skip(2)?) };
    match number {
        0x0021 | 0x0057 => rest.of(Protocol::Ip),
        0x0281 | 0x0283 => rest.of(Protocol::Mpls),
        0x002d | 0x002f => Err(Stop::named("TCP compressed by Van Jacobson's method")),
        0x003d => Err(Stop::named("PPP multilink")),
        0x00fd => Err(Stop::named("compressed PPP")),
        0x0053 => Err(Stop::named("encrypted PPP")),
        0x8000.. => Err(Stop::named("PPP control")),
        _ => Err(Stop::named("PPP with another protocol")),
    }
}

/// Reads Cisco HDLC: address, control, and an EtherType.
pub(super) fn cisco_hdlc(bytes: Bytes<'_>) -> LayerStep<'_> {
    match (bytes.u8(0)?, bytes.u16(2)?) {
        (0xff, _) => bytes.of(Protocol::Ppp),
        (_, 0x8035) => Err(Stop::named("SLARP")),
        (_, 0x2000) => Err(Stop::named("CDP")),
        (_, number) => bytes.skip(4)?.of(Protocol::EtherType(number)),
    }
}

/// Reads Frame Relay: an address of two to four bytes, then a control byte and an identifier (RFC 2427 §3), or an
/// EtherType in Cisco's variant.
pub(super) fn frame_relay(bytes: Bytes<'_>) -> LayerStep<'_> {
    const LAST: u8 = 1;
    let ends = (1..4).find(|at| bytes.u8(*at).is_ok_and(|byte| byte & LAST != 0)).ok_or(Stop::Unread)?;
    let rest = bytes.skip(ends + 1)?;
    if rest.u8(0)? != 0x03 {
        let number = rest.u16(0)?;
        return rest.skip(2)?.of(Protocol::EtherType(number));
    }
    let rest = rest.skip(if rest.u8(1)? == 0 { 2 } else { 1 })?;
    match rest.u8(0)? {
        0xcc | 0x8e => rest.skip(1)?.ip(),
        0x80 => snap(rest.skip(1)?),
        0xcf => rest.skip(1)?.of(Protocol::Ppp),
        _ => Err(Stop::named("Frame Relay with another protocol")),
    }
}

/// Reads SLIP. libpcap adds 16 bytes before the packet, a direction (0 or 1) and the compressed header; other programs
/// add nothing.
pub(super) fn slip(bytes: Bytes<'_>) -> LayerStep<'_> {
    const HEADER: usize = 16;
    let packet = if bytes.u8(0)? <= 1 { bytes.skip(HEADER)? } else { bytes };
    packet.ip().map_err(|_| Stop::named("SLIP without IP"))
}
