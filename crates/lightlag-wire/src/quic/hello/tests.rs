use super::*;
use crate::quic::tests::config;
use lightlag_quic::codec::Version;
use lightlag_quic::config::HandshakeSizes;
use lightlag_quic::{Config, config::Ticket};
use proptest::prelude::*;

fn spec(sizes: HandshakeSizes, ticket: Option<Ticket>) -> SessionSpec {
    let server = Config { handshake: sizes, ..config() };
    let client = Config { ticket, ..server.clone() };
    SessionSpec::new(3, Version::One, &client, &server)
}

/// Returns type and content of each message in a byte stream, which they fill.
fn split(mut bytes: &[u8]) -> Vec<(u8, &[u8])> {
    let mut found = Vec::new();
    while let [kind, a, b, c, rest @ ..] = bytes {
        let len = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        assert!(len <= rest.len(), "message {kind} of {len} bytes, {} present", rest.len());
        found.push((*kind, &rest[..len]));
        bytes = &rest[len..];
    }
    assert!(bytes.is_empty());
    found
}

/// Returns type and content of each extension in a vector.
fn extensions_of(bytes: &[u8]) -> Vec<(u16, &[u8])> {
    let len = u16::from_be_bytes([bytes[0], bytes[1]]);
    let mut rest = &bytes[2..];
    assert_eq!(usize::from(len), rest.len());
    let mut found = Vec::new();
    while let [a, b, high, low, tail @ ..] = rest {
        let len = usize::from(u16::from_be_bytes([*high, *low]));
        found.push((u16::from_be_bytes([*a, *b]), &tail[..len]));
        rest = &tail[len..];
    }
    assert!(rest.is_empty());
    found
}

/// Bytes of a ClientHello before its extensions: version, random, empty session ID, one suite, one compression method.
const BEFORE_EXTENSIONS: usize = 2 + 32 + 1 + 4 + 2;

#[test]
fn the_hellos_have_a_suite_a_random_and_the_transport_parameters() {
    let spec = spec(HandshakeSizes::with_certificate(2_000), None);
    let hello = messages(&spec, Side::Client, SpaceId::Initial);
    assert_eq!(hello.len(), 476);
    let [(tls::CLIENT_HELLO, body)] = split(&hello)[..] else { panic!("one ClientHello") };
    assert_eq!((&body[..2], &body[2..34], &body[35..39]), (&[3, 3][..], &client_random(&spec)[..], &[0, 2, 19, 1][..]));
    let extensions = extensions_of(&body[BEFORE_EXTENSIONS..]);
    let parameters = extensions.iter().find(|(kind, _)| *kind == tls::TRANSPORT_PARAMETERS).expect("parameters").1;
    // initial_max_data, with its value as a variable-length integer.
    let mut expected = List::default();
    expected.integer(4, spec.client.limits.connection);
    assert!(parameters.windows(expected.0.len()).any(|window| window == expected.0), "{parameters:02x?}");
    // RFC 9001 A.3: a ServerHello with a key of x25519 has 90 bytes. With P-256 it has 33 more.
    let answer = messages(&spec, Side::Server, SpaceId::Initial);
    let [(tls::SERVER_HELLO, body)] = split(&answer)[..] else { panic!("one ServerHello") };
    assert_eq!((answer.len(), &body[34..38]), (123, &[0, 19, 1, 0][..]));
    assert_eq!(extensions_of(&body[38..])[1].1[..5], [0, 0x17, 0, 65, 4]);
}

#[test]
fn the_flight_of_a_server_has_its_four_messages() {
    let full = messages(&spec(HandshakeSizes::with_certificate(2_000), None), Side::Server, SpaceId::Handshake);
    let kinds: Vec<u8> = split(&full).iter().map(|message| message.0).collect();
    assert_eq!((kinds, full.len()), (vec![8, 11, 15, 20], 2_249));
    let sizes = HandshakeSizes::with_certificate(2_000);
    let ticket = Config { handshake: sizes, ..config() }.remembered();
    let resumed = messages(&spec(sizes, Some(ticket)), Side::Server, SpaceId::Handshake);
    let kinds: Vec<u8> = split(&resumed).iter().map(|message| message.0).collect();
    assert_eq!((kinds, resumed.len()), (vec![8, 20], 170));
}

#[test]
fn a_resuming_client_ends_its_hello_with_the_session() {
    let sizes = HandshakeSizes::with_certificate(2_000);
    let ticket = Config { handshake: sizes, ..config() }.remembered();
    let hello = messages(&spec(sizes, Some(ticket)), Side::Client, SpaceId::Initial);
    let extensions = extensions_of(&split(&hello)[0].1[BEFORE_EXTENSIONS..]);
    assert_eq!(extensions.last().map(|extension| extension.0), Some(tls::PRE_SHARED_KEY));
    assert!(extensions.iter().any(|extension| extension.0 == tls::EARLY_DATA));
}

proptest! {
    #[test]
    fn messages_have_the_sizes_that_are_counted(
        (client_hello, server_hello) in (0u16..2_500, 0u16..1_500),
        (server_flight, resumed_flight) in (0u16..9_000, 0u16..600),
        (client_finished, ticket) in (0u16..100, 0u16..700),
        resumes in any::<bool>(),
    ) {
        let sizes = HandshakeSizes {
            client_hello, server_hello, server_flight, resumed_flight, client_finished, ticket,
            ..HandshakeSizes::with_certificate(0)
        };
        let remembered = resumes.then(|| Config { handshake: sizes, ..config() }.remembered());
        let spec = spec(sizes, remembered);
        let len = |side, space| messages(&spec, side, space).len();
        prop_assert_eq!(len(Side::Client, SpaceId::Initial), usize::from(client_hello));
        prop_assert_eq!(len(Side::Server, SpaceId::Initial), usize::from(server_hello));
        let flight = if resumes { resumed_flight } else { server_flight };
        prop_assert_eq!(len(Side::Server, SpaceId::Handshake), usize::from(flight));
        prop_assert_eq!(len(Side::Client, SpaceId::Handshake), usize::from(client_finished));
        prop_assert_eq!(len(Side::Server, SpaceId::Application), usize::from(ticket));
    }

    /// A ClientHello of at least 250 bytes is not cut, nor is a flight of at least 500 bytes.
    #[test]
    fn messages_of_usual_sizes_are_complete(
        (client_hello, server_hello) in (250u16..2_500, 59u16..600),
        server_flight in 500u16..9_000,
    ) {
        let sizes = HandshakeSizes {
            client_hello, server_hello, server_flight, ..HandshakeSizes::with_certificate(0)
        };
        let spec = spec(sizes, None);
        let hello = messages(&spec, Side::Client, SpaceId::Initial);
        let kinds: Vec<u16> =
            extensions_of(&split(&hello)[0].1[BEFORE_EXTENSIONS..]).iter().map(|extension| extension.0).collect();
        for needed in [tls::SUPPORTED_VERSIONS, tls::TRANSPORT_PARAMETERS, tls::KEY_SHARE] {
            prop_assert!(kinds.contains(&needed));
        }
        let flight = messages(&spec, Side::Server, SpaceId::Handshake);
        let kinds: Vec<u8> = split(&flight).iter().map(|message| message.0).collect();
        prop_assert_eq!(kinds, vec![8, 11, 15, 20]);
    }
}
