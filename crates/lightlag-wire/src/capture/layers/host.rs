//! Link types: headers that a capture adds to packets of a host or a radio.

use super::ppp::{ADDRESS_AND_CONTROL, frame_relay, slip};
use super::{Bytes, LayerStep, Other, Protocol, Stop};
use crate::capture::LinkType;
use crate::dot11::radiotap::{self, Flags};
use crate::dot11::{FCS_LEN, FrameError, Msdu, fcs};

/// Returns the first layer in a frame of this link type.
pub(super) fn link(link: LinkType, bytes: Bytes<'_>) -> LayerStep<'_> {
    match link {
        // Some systems write 12 or 14 for RAW.
        LinkType::RAW | LinkType::IPV4 | LinkType::IPV6 | LinkType(12 | 14) => bytes.of(Protocol::Ip),
        LinkType::ETHERNET => bytes.of(Protocol::Ethernet),
        LinkType::LINUX_SLL => cooked(bytes.u16(2)?, bytes.u16(14)?, bytes.skip(16)?),
        LinkType::LINUX_SLL2 => cooked(bytes.u16(8)?, bytes.u16(0)?, bytes.skip(20)?),
        LinkType::NULL | LinkType::LOOP => loopback(bytes),
        LinkType::PPP => bytes.of(Protocol::Ppp),
        LinkType::PPP_HDLC | LinkType::C_HDLC => bytes.of(Protocol::CiscoHdlc),
        LinkType::PPP_ETHER => bytes.skip(6)?.of(Protocol::Ppp),
        LinkType::PPP_WITH_DIRECTION => bytes.skip(1)?.of(Protocol::Ppp),
        // The direction replaces the address.
        LinkType::LINUX_PPP => {
            bytes.skip(if bytes.u8(1)? == ADDRESS_AND_CONTROL[1] { 2 } else { 0 })?.of(Protocol::Ppp)
        }
        LinkType::C_HDLC_WITH_DIRECTION => bytes.skip(1)?.of(Protocol::CiscoHdlc),
        LinkType::FRAME_RELAY => frame_relay(bytes),
        LinkType::FRAME_RELAY_WITH_DIRECTION => frame_relay(bytes.skip(1)?),
        LinkType::SLIP => slip(bytes),
        LinkType::NFLOG => netfilter_log(bytes),
        LinkType::PKTAP | LinkType::USER2 => packet_tap(link, bytes),
        LinkType::IEEE802_11 => bytes.of(Protocol::Dot11),
        LinkType::IEEE802_11_RADIOTAP => bytes.of(Protocol::Radiotap),
        LinkType::PRISM => bytes.skip(bytes.u32_le(4)? as usize)?.of(Protocol::Dot11),
        LinkType::AVS => bytes.skip(bytes.u32_le(4)?.swap_bytes() as usize)?.of(Protocol::Dot11),
        LinkType::PPI => per_packet_information(bytes),
        // RFC 2684: LLC, or the packet alone on a circuit of its own.
        LinkType::ATM_RFC1483 | LinkType::ATM_CLIP => match bytes.u8(0)? {
            0xaa | 0xfe => bytes.of(Protocol::Llc),
            _ => bytes.ip(),
        },
        LinkType::FDDI => bytes.skip(13)?.of(Protocol::Llc),
        LinkType::IP_OVER_FC => bytes.skip(16)?.of(Protocol::Llc),
        LinkType::FIREWIRE => {
            let number = bytes.u16(16)?;
            bytes.skip(18)?.of(Protocol::EtherType(number))
        }
        LinkType::IPOIB => {
            let number = bytes.u16(40)?;
            bytes.skip(44)?.of(Protocol::EtherType(number))
        }
        LinkType::ENC => bytes.skip(12)?.ip(),
        LinkType::PFLOG => bytes.skip(usize::from(bytes.u8(0)?).next_multiple_of(4))?.ip(),
        LinkType::NETANALYZER => bytes.skip(4)?.of(Protocol::Ethernet),
        LinkType::MPACKET => bytes.skip(8)?.of(Protocol::Ethernet),
        _ => Err(Stop::Other(Other::Link(link))),
    }
}

/// Returns the layer in a Linux "cooked" capture, from the type of the device and the protocol.
fn cooked(device: u16, protocol: u16, bytes: Bytes<'_>) -> LayerStep<'_> {
    const RADIOTAP: u16 = 803;
    const NETLINK: u16 = 824;
    const LLC: u16 = 4;
    match (device, protocol) {
        (RADIOTAP, _) => bytes.of(Protocol::Radiotap),
        (NETLINK, _) => Err(Stop::named("netlink")),
        (_, LLC) => bytes.of(Protocol::Llc),
        (_, 0..=1500) => Err(Stop::named("not IP")),
        (_, number) => bytes.of(Protocol::EtherType(number)),
    }
}

/// Reads an address family in the byte order of the capturing host, which is unknown. AF_INET is 2 everywhere; AF_INET6
/// is 10 (Linux), 24 (NetBSD, OpenBSD), 28 (FreeBSD) or 30 (macOS).
fn loopback(bytes: Bytes<'_>) -> LayerStep<'_> {
    if bytes.bytes.starts_with(&ADDRESS_AND_CONTROL) {
        return bytes.of(Protocol::Ppp);
    }
    let family = bytes.u32_le(0)?;
    let is_ip = [family, family.swap_bytes()].iter().any(|family| matches!(family, 2 | 10 | 24 | 28 | 30));
    if is_ip { bytes.skip(4)?.of(Protocol::Ip) } else { Err(Stop::named("not IP")) }
}

/// Reads a frame of the Linux packet filter log: a family, a version and a number, then attributes with a length and a
/// type, one of which is the packet.
fn netfilter_log(bytes: Bytes<'_>) -> LayerStep<'_> {
    const HEADER: usize = 4;
    const PAYLOAD: u16 = 9;
    let mut rest = bytes.skip(HEADER)?;
    loop {
        // The byte order is the host's. A type is below 256, so its bytes show which.
        let [a, b, c, d] = [rest.u8(0)?, rest.u8(1)?, rest.u8(2)?, rest.u8(3)?];
        let (len, kind) = if d == 0 {
            (u16::from_le_bytes([a, b]), u16::from(c))
        } else {
            (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]))
        };
        let len = usize::from(len);
        if len < HEADER {
            return Err(Stop::Unread);
        }
        if kind == PAYLOAD {
            return rest.skip(HEADER)?.ip();
        }
        rest = rest.skip(len.next_multiple_of(4))?;
    }
}

/// Reads the header of Darwin's `pktap` devices: its length, a kind, and the link type of what follows. Link type 149
/// may be used by anyone, so the header is accepted only if its length is possible.
fn packet_tap(link: LinkType, bytes: Bytes<'_>) -> LayerStep<'_> {
    const SHORTEST: usize = 108;
    let unknown = Stop::Other(Other::Link(link));
    let (len, inner) = (bytes.u32_le(0)? as usize, bytes.u32_le(8)?);
    match u16::try_from(inner) {
        Ok(inner) if (SHORTEST..=bytes.bytes.len()).contains(&len) => {
            bytes.skip(len)?.of(Protocol::Link(LinkType(inner)))
        }
        _ => Err(unknown),
    }
}

/// Reads a PPI header: a version, flags, its length, and the link type of what follows.
fn per_packet_information(bytes: Bytes<'_>) -> LayerStep<'_> {
    const SHORTEST: usize = 8;
    let len = usize::from(bytes.u16(2)?.swap_bytes());
    let inner = bytes.u32_le(4)?;
    match u16::try_from(inner) {
        Ok(inner) if len >= SHORTEST => bytes.skip(len)?.of(Protocol::Link(LinkType(inner))),
        _ => Err(Stop::Unread),
    }
}

/// Reads the packet in an 802.11 frame, which may be preceded by a radiotap header.
pub(super) fn msdu(protocol: Protocol, bytes: Bytes<'_>) -> Result<Msdu<'_>, Stop> {
    let (body, padded) = match protocol {
        Protocol::Radiotap => after_radiotap(bytes)?,
        _ => (bytes.bytes, false),
    };
    // Frames of control are shorter than the header of data.
    match body.first().map(|first| first >> 2 & 3) {
        Some(0) => return Err(Stop::named("802.11 management")),
        Some(1) => return Err(Stop::named("802.11 control")),
        _ => {}
    }
    Msdu::find(body, padded).map_err(|error| match error {
        FrameError::Unknown { .. } => Stop::named("802.11 without data"),
        FrameError::Unread("encrypted") => Stop::named("encrypted 802.11"),
        FrameError::Unread("an A-MSDU") => Stop::named("802.11 with multiple packets (A-MSDU)"),
        FrameError::Unread("a fragment") => Stop::named("fragment of 802.11"),
        _ => Stop::named("cut or damaged frame"),
    })
}

/// Strips the radiotap header and the frame check sequence; also returns whether the 802.11 header is padded.
fn after_radiotap(bytes: Bytes<'_>) -> Result<(&[u8], bool), Stop> {
    let damaged = || Stop::named("cut or damaged frame");
    let (header, body) = radiotap::decode(bytes.bytes).map_err(|_| damaged())?;
    if header.flags.has(Flags::BAD_FCS) {
        return Err(damaged());
    }
    let body = if header.flags.has(Flags::FCS) { without_fcs(body, bytes.missing).ok_or_else(damaged)? } else { body };
    Ok((body, header.flags.has(Flags::PADDED)))
}

/// Strips the frame check sequence. Returns `None` if it is complete and wrong; `missing` is the number of bytes that
/// the capture lacks.
fn without_fcs(frame: &[u8], missing: usize) -> Option<&[u8]> {
    if missing > 0 {
        return Some(&frame[..frame.len().saturating_sub(FCS_LEN.saturating_sub(missing))]);
    }
    let (frame, sum) = frame.split_last_chunk()?;
    (u32::from_le_bytes(*sum) == fcs(frame)).then_some(frame)
}
