//! Encodes a segment or a datagram as an IP packet.

use crate::ip::{self, pseudo_header};
use crate::{Addresses, IpFields};
use etherparse::ip_number::{TCP, UDP};
use lightlag_tcp::Segment;

/// Maximum length of the options in a TCP header, in bytes (RFC 9293 §3.1: the data offset has four bits).
const MOST_OPTIONS: u32 = 40;

/// Writes a complete IP packet with `segment` and its `payload` to `out`, which is cleared first. Lengths and checksums
/// are correct, and the options are in the same order as in Linux. A segment with a compressed header becomes a packet
/// of [`compressed::PROTOCOL`](crate::compressed::PROTOCOL).
///
/// SYN options and timestamps come first, then as many SACK blocks or SNACK options as fit. The AccECN option and then
/// a cookie follow, and are omitted if no space remains for them.
///
/// # Panics
/// If the length of `payload` differs from the segment's, if the addresses have different IP versions, or if the packet
/// is longer than 65,535 bytes.
pub fn encode(out: &mut Vec<u8>, addresses: &Addresses, ip: &IpFields, segment: &Segment, payload: &[u8]) {
    assert_eq!(payload.len(), usize::from(segment.len), "the payload has the length that the segment declares");
    out.clear();
    if segment.is_compressed() {
        return crate::compressed::encode(out, addresses, ip, segment, payload);
    }
    let segment = with_options_that_fit(*segment);
    let (source, destination) = (addresses.source.ip(), addresses.destination.ip());
    let options = segment.option_bytes();
    let len = 20 + options.len() + payload.len();
    out.reserve(40 + len);
    ip::write(out, source, destination, ip, TCP, len);
    let start = out.len();
    out.extend_from_slice(&addresses.source.port().to_be_bytes());
    out.extend_from_slice(&addresses.destination.port().to_be_bytes());
    out.extend_from_slice(&segment.seq.0.to_be_bytes());
    out.extend_from_slice(&segment.ack.0.to_be_bytes());
    let offset = (5 + options.len() as u16 / 4) << 12;
    out.extend_from_slice(&(offset | segment.flags.0 & crate::FLAGS).to_be_bytes());
    out.extend_from_slice(&segment.window.to_be_bytes());
    // Checksum and urgent pointer.
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&options);
    out.extend_from_slice(payload);
    let sum = pseudo_header(source, destination, TCP, len).add_slice(&out[start..]).ones_complement();
    out[start + 16..start + 18].copy_from_slice(&sum.to_ne_bytes());
}

/// Writes the packet of a UDP datagram (RFC 768) with its `payload` to `out`, which is cleared first. Lengths and
/// checksums are correct.
///
/// # Panics
/// If the addresses have different IP versions, or if the packet is longer than 65,535 bytes.
pub fn encode_udp(out: &mut Vec<u8>, addresses: &Addresses, ip: &IpFields, payload: &[u8]) {
    let (source, destination) = (addresses.source.ip(), addresses.destination.ip());
    let len = 8 + payload.len();
    out.clear();
    out.reserve(40 + len);
    ip::write(out, source, destination, ip, UDP, len);
    let start = out.len();
    out.extend_from_slice(&addresses.source.port().to_be_bytes());
    out.extend_from_slice(&addresses.destination.port().to_be_bytes());
    // Writing the IP header proved that the length fits.
    out.extend_from_slice(&(len as u16).to_be_bytes());
    out.extend_from_slice(&[0; 2]);
    out.extend_from_slice(payload);
    let sum = pseudo_header(source, destination, UDP, len).add_slice(&out[start..]).ones_complement();
    // RFC 768: 0 means no checksum, so a sum of 0 is sent in its other form.
    let sum = if sum == 0 { u16::MAX } else { sum };
    out[start + 6..start + 8].copy_from_slice(&sum.to_ne_bytes());
}

fn with_options_that_fit(segment: Segment) -> Segment {
    let mut fitting = segment;
    while fitting.options_len() > MOST_OPTIONS {
        fitting = match fitting.sack() {
            _ if fitting.ecn_bytes().is_some() => fitting.without_ecn_bytes(),
            [] if fitting.cookie().is_some() => fitting.without_cookie(),
            [] => fitting.with_fewer_snacks(),
            blocks => fitting.with_sack(&blocks[..blocks.len() - 1]),
        };
    }
    fitting
}
