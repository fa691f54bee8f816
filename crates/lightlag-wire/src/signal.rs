//! Notifications from stations to the endpoints of a flow (SCPS-TP): a link is out or restored, or a packet was
//! corrupted. A gateway to a radio medium uses the same format to notify senders about a route (ELFN).
//!
//! A notification consists of an IP header, eight bytes of ICMP, and the first eight bytes of the TCP header of the
//! packet that it is about: 36 bytes over IPv4, 56 over IPv6. SCPS has such messages in its own network protocol, where
//! the reference implementation uses type 19 (corruption), type 3 code 16 (link out) and type 5 code 4 (link available
//! again). ICMP has no such types, so this crate uses the experimental types 253 (RFC 4727 §4) and, for ICMPv6, 200
//! (RFC 4443 §2.1), with a code for each kind of notification. The four bytes after the checksum are the last four of
//! the address of the flow's other end. Over IPv4 this is the entire address, so that the message has all four values
//! that identify a connection at an endpoint. These choices are our own.

use crate::icmp::begun;
use crate::ip::{self, sums_up};
use crate::{Addresses, IpFields, PacketError};
use etherparse::ip_number::{ICMP, IPV6_ICMP};
use lightlag_tcp::segment::SeqNumber;
use std::net::IpAddr;

/// The kinds of notifications. The discriminants are the codes in the messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum NotificationKind {
    /// A packet was corrupted.
    Corruption = 0,
    /// A link is out.
    LinkOut = 1,
    /// The link is available again.
    LinkRestored = 2,
    /// The route over a medium broke.
    RouteLost = 3,
    /// A route over the medium was found again.
    RouteFound = 4,
}

impl NotificationKind {
    /// All kinds, in the order of their codes.
    pub const ALL: [Self; 5] = [Self::Corruption, Self::LinkOut, Self::LinkRestored, Self::RouteLost, Self::RouteFound];
}

/// A notification to be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signal {
    /// Address of the station that sends it.
    pub station: IpAddr,
    /// The kind of notification.
    pub news: NotificationKind,
    /// Addresses of the packet that it is about, in the direction in which the packet was sent.
    pub about: Addresses,
    /// Sequence number of that packet.
    pub seq: SeqNumber,
    /// Whether the notification goes to the sender of that packet, instead of its receiver.
    pub to_sender: bool,
}

/// Length of a notification after the IP header, in bytes.
pub const LEN: usize = 16;

/// Message types in ICMP and in ICMPv6.
const TYPES: (u8, u8) = (253, 200);

/// Writes the packet of a notification to `out`, which is cleared first.
///
/// # Panics
/// If the addresses have different IP versions.
pub fn encode(out: &mut Vec<u8>, fields: &IpFields, signal: &Signal) {
    let Signal { station, news, about, seq, to_sender } = *signal;
    let (notified, other) =
        if to_sender { (about.source, about.destination) } else { (about.destination, about.source) };
    let v6 = station.is_ipv6();
    let protocol = if v6 { IPV6_ICMP } else { ICMP };
    out.clear();
    ip::write(out, station, notified.ip(), fields, protocol, LEN);
    let start = out.len();
    out.extend_from_slice(&[if v6 { TYPES.1 } else { TYPES.0 }, news as u8, 0, 0]);
    out.extend_from_slice(&last_four(other.ip()));
    out.extend_from_slice(&about.source.port().to_be_bytes());
    out.extend_from_slice(&about.destination.port().to_be_bytes());
    out.extend_from_slice(&seq.0.to_be_bytes());
    let sum = begun(station, notified.ip(), protocol, LEN).add_slice(&out[start..]).ones_complement();
    out[start + 2..start + 4].copy_from_slice(&sum.to_ne_bytes());
}

/// A received notification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Notification {
    /// Address of the station that sent it.
    pub station: IpAddr,
    /// Address of the host that received it.
    pub destination: IpAddr,
    /// The last four bytes of the address of the flow's other end.
    pub other: [u8; 4],
    /// The kind of notification.
    pub news: NotificationKind,
    /// Source and destination port of the packet that it is about.
    pub ports: [u16; 2],
    /// Sequence number of that packet.
    pub seq: SeqNumber,
}

/// Parses a notification. Returns `Ok(None)` for any other ICMP message.
///
/// # Errors
/// If the packet is damaged, truncated or not ICMP.
pub fn decode(packet: &[u8]) -> Result<Option<Notification>, PacketError> {
    let ip = ip::parse(packet)?;
    let v6 = ip.source.is_ipv6();
    let protocol = if v6 { IPV6_ICMP } else { ICMP };
    if ip.protocol != protocol.0 {
        return Err(PacketError::NotIcmp(ip.protocol));
    }
    let needed = ip.header_len + ip.len;
    if ip.payload.len() < ip.len {
        return Err(PacketError::Truncated { needed, present: ip.header_len + ip.payload.len() });
    }
    if !ip.checksum_is_right {
        return Err(PacketError::BadHeaderChecksum);
    }
    if !sums_up(begun(ip.source, ip.destination, protocol, ip.len), ip.payload) {
        return Err(PacketError::BadIcmpChecksum);
    }
    let Ok(bytes) = <[u8; LEN]>::try_from(ip.payload) else { return Ok(None) };
    let [kind, code, _, _, a, b, c, d, from_high, from_low, to_high, to_low, seq @ ..] = bytes;
    let news = NotificationKind::ALL.into_iter().find(|news| *news as u8 == code);
    let is_one = kind == if v6 { TYPES.1 } else { TYPES.0 };
    Ok(news.filter(|_| is_one).map(|news| Notification {
        station: ip.source,
        destination: ip.destination,
        other: [a, b, c, d],
        news,
        ports: [u16::from_be_bytes([from_high, from_low]), u16::from_be_bytes([to_high, to_low])],
        seq: SeqNumber(u32::from_be_bytes(seq)),
    }))
}

fn last_four(address: IpAddr) -> [u8; 4] {
    match address {
        IpAddr::V4(address) => address.octets(),
        IpAddr::V6(address) => {
            let [.., a, b, c, d] = address.octets();
            [a, b, c, d]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signal(v6: bool, news: NotificationKind, to_sender: bool) -> Signal {
        let [source, destination, station] = if v6 {
            ["[fd00::1]:40000", "[fd00::2]:9", "fd00::7"]
        } else {
            ["10.0.0.1:40000", "10.0.0.2:9", "10.0.0.7"]
        };
        let about = Addresses { source: source.parse().unwrap(), destination: destination.parse().unwrap() };
        Signal { station: station.parse().unwrap(), news, about, seq: SeqNumber(0xdead_beef), to_sender }
    }

    #[test]
    fn a_message_survives_a_round_trip() {
        for v6 in [false, true] {
            for news in NotificationKind::ALL {
                for to_sender in [false, true] {
                    let signal = signal(v6, news, to_sender);
                    let mut out = Vec::new();
                    encode(&mut out, &IpFields::default(), &signal);
                    assert_eq!(out.len(), if v6 { 56 } else { 36 });
                    let decoded = decode(&out).unwrap().unwrap();
                    let Addresses { source, destination } = signal.about;
                    let ends = if to_sender { [source, destination] } else { [destination, source] };
                    assert_eq!((decoded.station, decoded.destination), (signal.station, ends[0].ip()));
                    assert_eq!((decoded.other, decoded.news), (last_four(ends[1].ip()), news));
                    assert_eq!((decoded.ports, decoded.seq), ([source.port(), destination.port()], signal.seq));
                    // It is not an error that concerns TCP.
                    assert_eq!(crate::icmp::decode(&out), Ok(None));
                }
            }
        }
    }

    #[test]
    fn the_bytes_match_the_description() {
        let mut out = Vec::new();
        encode(&mut out, &IpFields::default(), &signal(false, NotificationKind::LinkOut, true));
        assert_eq!((out[9], &out[12..20]), (1, &[10, 0, 0, 7, 10, 0, 0, 1][..]));
        assert_eq!(out[20..22], [253, 1]);
        assert_eq!(out[24..], [10, 0, 0, 2, 0x9c, 0x40, 0, 9, 0xde, 0xad, 0xbe, 0xef]);
    }

    #[test]
    fn damage_cuts_and_strangers_are_found() {
        let mut out = Vec::new();
        encode(&mut out, &IpFields::default(), &signal(false, NotificationKind::RouteFound, true));
        for len in 0..out.len() {
            assert!(matches!(decode(&out[..len]), Err(PacketError::Truncated { .. })), "{len}");
        }
        let mut bent = out.clone();
        bent[30] ^= 1;
        assert_eq!(decode(&bent), Err(PacketError::BadIcmpChecksum));
        // Code 5 is unknown; the sum of the words stays right.
        let mut strange = out.clone();
        strange[21] += 1;
        let sum = u16::from_be_bytes([out[22], out[23]]) - 1;
        strange[22..24].copy_from_slice(&sum.to_be_bytes());
        assert_eq!(decode(&strange), Ok(None));
    }
}
