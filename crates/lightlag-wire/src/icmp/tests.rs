use super::*;
use lightlag_tcp::Segment;

const ERRORS: [Error; 8] = [
    Error::NetworkUnreachable,
    Error::HostUnreachable,
    Error::ProtocolUnreachable,
    Error::PortUnreachable,
    Error::Prohibited,
    Error::PacketTooBig { mtu: 1_400 },
    Error::PacketTooBig { mtu: 0 },
    Error::TimeExceeded,
];

fn sent(v6: bool, len: u16) -> (Addresses, Vec<u8>) {
    let (source, destination) =
        if v6 { ("[fd00::1]:40000", "[fd00::2]:80") } else { ("10.0.0.1:40000", "10.0.0.2:80") };
    let addresses = Addresses { source: source.parse().unwrap(), destination: destination.parse().unwrap() };
    let mut segment = Segment::default();
    segment.seq = SeqNumber(0xdead_beef);
    segment.len = len;
    let mut packet = Vec::new();
    crate::encode(&mut packet, &addresses, &IpFields::default(), &segment, &vec![0; usize::from(len)]);
    (addresses, packet)
}

fn router(v6: bool) -> IpAddr {
    if v6 { "fd00::99" } else { "10.0.0.99" }.parse().unwrap()
}

#[test]
fn every_error_survives_with_its_subject() {
    for v6 in [false, true] {
        for len in [0, 1, 1_400] {
            let (addresses, packet) = sent(v6, len);
            for error in ERRORS {
                let mut out = Vec::new();
                encode(&mut out, router(v6), error, &packet).unwrap();
                let expected = IcmpError {
                    source: router(v6),
                    destination: addresses.source.ip(),
                    error,
                    addresses,
                    seq: SeqNumber(0xdead_beef),
                };
                assert_eq!(decode(&out), Ok(Some(expected)));
                assert!(out.len() <= if v6 { 1_280 } else { 576 }, "{}", out.len());
            }
        }
    }
}

#[test]
fn fragmentation_needed_as_rfc_1191_draws_it() {
    let (_, packet) = sent(false, 0);
    let mut out = Vec::new();
    encode(&mut out, router(false), Error::PacketTooBig { mtu: 1_400 }, &packet).unwrap();
    // Type 3, code 4; the MTU in the last 16 of the 32 bits after the checksum; then the packet itself.
    assert_eq!(out[20..22], [3, 4]);
    assert_eq!(out[24..28], [0, 0, 0x05, 0x78]);
    assert_eq!(out[28..], packet);
}

#[test]
fn eight_bytes_of_tcp_are_enough() {
    let (addresses, packet) = sent(false, 100);
    let mut out = Vec::new();
    encode(&mut out, router(false), Error::PortUnreachable, &packet[..28]).unwrap();
    assert_eq!(decode(&out).unwrap().unwrap().addresses, addresses);
    encode(&mut out, router(false), Error::PortUnreachable, &packet[..27]).unwrap();
    assert_eq!(decode(&out), Ok(None));
}

#[test]
fn damage_and_cuts_are_found() {
    let (_, packet) = sent(false, 10);
    let mut out = Vec::new();
    encode(&mut out, router(false), Error::TimeExceeded, &packet).unwrap();
    for len in 0..out.len() {
        assert!(matches!(decode(&out[..len]), Err(PacketError::Truncated { .. })), "{len}");
    }
    out[30] ^= 1;
    assert_eq!(decode(&out), Err(PacketError::BadIcmpChecksum));
    assert_eq!(decode(&packet), Err(PacketError::NotIcmp(6)));
}

#[test]
fn an_echo_is_not_an_error() {
    let (_, packet) = sent(false, 0);
    let mut out = Vec::new();
    encode(&mut out, router(false), Error::TimeExceeded, &packet).unwrap();
    // Type 11 becomes 8, and the sum of the first 16 bits smaller by 3 · 256.
    out[20] = 8;
    let sum = u16::from_be_bytes([out[22], out[23]]);
    let sum = u32::from(sum) + 0x300;
    out[22..24].copy_from_slice(&((sum & 0xffff) as u16 + (sum >> 16) as u16).to_be_bytes());
    assert_eq!(decode(&out), Ok(None));
}
