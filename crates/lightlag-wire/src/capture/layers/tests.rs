use super::*;
use proptest::prelude::*;

/// Returns an IPv4 packet with this protocol number and payload.
fn ip(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    packet.extend(payload);
    let len = packet.len() as u16;
    packet[2..4].copy_from_slice(&len.to_be_bytes());
    packet
}

fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let mut datagram = vec![0xc0, 0];
    datagram.extend(port.to_be_bytes());
    datagram.extend((8 + payload.len() as u16).to_be_bytes());
    datagram.extend([0, 0]);
    datagram.extend(payload);
    ip(17, &datagram)
}

fn found(link: LinkType, bytes: &[u8]) -> Result<Vec<u8>, String> {
    match content(Layer { protocol: Protocol::Link(link), bytes: Bytes { bytes, missing: 0 } }) {
        Content::Ip(packet) => Ok(packet.bytes.to_vec()),
        Content::Other(other) => Err(other.to_string()),
        Content::Wireless(msdu, _) => Ok(msdu.payload.to_vec()),
    }
}

fn ethernet(number: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![2; 12];
    frame.extend(number.to_be_bytes());
    frame.extend(payload);
    frame
}

#[test]
fn other_protocols_than_ip_have_a_name() {
    for (number, payload, name) in [
        (0x0806, &[0; 28][..], "ARP"),
        (0x88cc, &[2, 7], "LLDP"),
        (0x8863, &[0x11, 9, 0, 0, 0, 0], "PPPoE discovery"),
        (0x8864, &[0x11, 0, 0, 1, 0, 4, 0xc0, 0x21, 1, 1], "PPP control"),
        (0x8847, &[0, 1, 1, 64, 0, 0, 0, 0, 2, 2], "MPLS pseudowire"),
        (0x88e5, &[0x0c, 0, 0, 0, 0, 1], "MACsec"),
        (0x1234, &[0; 10], "Ethernet type 0x1234"),
        (38, &[0x42, 0x42, 3, 0, 0], "STP"),
        (38, &[0xaa, 0xaa, 3, 0, 0, 0x0c, 0x20, 0], "CDP"),
        (0x8100, &[0], "cut or damaged frame"),
    ] {
        assert_eq!(found(LinkType::ETHERNET, &ethernet(number, payload)), Err(name.into()), "{number:#x}");
    }
    assert_eq!(found(LinkType::ETHERNET, &[0; 5]), Err("cut or damaged frame".into()));
    assert_eq!(found(LinkType(189), &[0; 50]), Err("link type 189 (USB)".into()));
    assert_eq!(found(LinkType::USER2, &[0; 120]), Err("link type 149 (of a user (DLT_USER))".into()));
}

#[test]
fn a_port_alone_makes_no_tunnel() {
    for port in [2152, 3544, 4341, 4500, 4789, 4790, 6081, 6635] {
        for payload in [&[0; 60][..], &[0x55; 60], b"GET / HTTP/1.1", b""] {
            let packet = udp(port, payload);
            let inner = found(LinkType::RAW, &packet);
            let is_named = inner.as_ref().is_err_and(|name| name == "ESP" || name == "MPLS pseudowire");
            assert!(inner == Ok(packet) || is_named, "{port} {inner:?}");
        }
    }
}

#[test]
fn encrypted_tunnels_are_named() {
    assert_eq!(found(LinkType::RAW, &udp(4500, &[1, 2, 3, 4, 5, 6])), Err("ESP".into()));
    // The key exchange is datagrams of UDP.
    assert!(found(LinkType::RAW, &udp(4500, &[0, 0, 0, 0, 5, 6])).is_ok());
    assert_eq!(found(LinkType::RAW, &udp(1701, &[0xc8, 2, 0, 12])), Err("L2TP".into()));
    assert_eq!(found(LinkType::RAW, &udp(1701, &[0, 3, 0, 0])), Err("L2TP".into()));
}

#[test]
fn the_innermost_packet_of_nested_tunnels_counts() {
    let inner = ip(6, &[7; 20]);
    let mut packet = inner.clone();
    for _ in 0..100 {
        packet = ip(4, &packet);
    }
    assert_eq!(found(LinkType::RAW, &packet), Ok(inner));
}

#[test]
fn the_first_fragment_of_a_tunnel_shows_the_packet_inside() {
    let inner = ip(6, &[7; 100]);
    let mut first = ip(4, &inner[..60]);
    first[6] = 0x20;
    assert_eq!(found(LinkType::RAW, &first), Ok(inner[..60].to_vec()));
    let mut later = ip(4, &inner[60..]);
    later[7] = 10;
    assert_eq!(found(LinkType::RAW, &later), Ok(later.clone()));
}

#[test]
fn teredo_is_decoded_after_authentication_and_origin() {
    let mut inner = vec![0x60, 0, 0, 0, 0, 20, 6, 64];
    inner.extend([0xfd; 32]);
    inner.extend([7; 20]);
    let origin = [0, 0, 1, 2, 3, 4, 5, 6];
    let mut authentication = vec![0, 1, 2, 1];
    authentication.extend([9; 2 + 1 + 9]);
    let payloads = [inner.clone(), [&origin[..], &inner].concat(), [&authentication[..], &origin, &inner].concat()];
    for payload in payloads {
        assert_eq!(found(LinkType::RAW, &udp(3544, &payload)), Ok(inner.clone()));
    }
}

proptest! {
    #[test]
    fn any_bytes_of_any_link_type_end(
        link in (0_u16..300).prop_map(LinkType),
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        missing in 0_usize..100_000,
    ) {
        let layer = Layer { protocol: Protocol::Link(link), bytes: Bytes { bytes: &bytes, missing } };
        if let Content::Ip(packet) = content(layer) {
            prop_assert!(packet.bytes.len() <= bytes.len() && packet.bytes.len() <= packet.wire_len);
        }
    }
}
