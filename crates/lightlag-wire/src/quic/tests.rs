use super::keys::{KeyUpdates, PacketKeys, initial_secret, null_keys, retry_tag};
use super::protect::{protect, unprotect};
use super::{Session, SessionSpec, Side, Version};
use lightlag_quic::config::{HandshakeSizes, ServerRules};
use lightlag_quic::contents::{Contents, HeaderLengths, Part, TAG};
use lightlag_quic::frame::{AckHeader, Frame};
use lightlag_quic::ranges::Range;
use lightlag_quic::{Config, Kind};
use proptest::prelude::*;

/// The destination ID of the examples of RFC 9001 and RFC 9369.
const DESTINATION: [u8; 8] = [0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08];

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let value = |digit: u8| (digit as char).to_digit(16).expect("a digit") as u8;
    digits.chunks(2).map(|pair| value(pair[0]) << 4 | value(pair[1])).collect()
}

fn keys(version: Version, side: Side) -> PacketKeys {
    PacketKeys::new(version, &initial_secret(version, side, &DESTINATION))
}

/// The payload of the client's Initial in RFC 9001 A.2 and RFC 9369 A.2, without padding.
const CLIENT_PAYLOAD: &str = "
    060040f1010000ed0303ebf8fa56f12939b9584a3896472ec40bb863cfd3e868 04fe3a47f06a2b69484c00000413011302010000c000000010
    000e00000b6578616d706c652e636f6dff01000100000a00080006001d00170018001000070005 04616c706e00050005010000000000330026
    0024001d00209370b2c9caa47fbabaf4559fedba753de171fa71f50f1ce15d43e994ec74d748002b0003020304000d0010000e040305030603
    0203080408050806002d00020101001c00024001003900320408ffffffffffffffff05048000ffff07048000ffff0801100104800075300901
    100f088394c8f03e51570806048000ffff";

/// The payload of the server's Initial in A.3.
const SERVER_PAYLOAD: &str = "
    02000000000600405a020000560303eefce7f7b37ba1d1632e96677825ddf73988cfc79825df566dc5430b9a045a1200130100002e00330024
    001d00209d3c940d89690b84d08a60993c144eca684d1081287c834d5311bcf32bb9da1a002b00020304";

/// Initial secrets of client and server (RFC 9001 A.1, RFC 9369 A.1).
#[test]
fn initial_secrets_are_those_of_the_rfcs() {
    for (version, side, secret) in [
        (Version::One, Side::Client, "c00cf151ca5be075ed0ebfb5c80323c42d6b7db67881289af4008f1f6c357aea"),
        (Version::One, Side::Server, "3c199828fd139efd216c155ad844cc81fb82fa8d7446fa7d78be803acdda951b"),
        (Version::Two, Side::Client, "14ec9d6eb9fd7af83bf5a668bc17a7e283766aade7ecd0891f70f9ff7f4bf47b"),
        (Version::Two, Side::Server, "0263db1782731bf4588e7e4d93b7463907cb8cd8200b5da55a8bd488eafc37c1"),
    ] {
        assert_eq!(initial_secret(version, side, &DESTINATION)[..], hex(secret), "{version:?} {side:?}");
    }
}

#[test]
fn header_protection_has_the_masks_of_the_rfcs() {
    for (version, side, sample, mask) in [
        (Version::One, Side::Client, "d1b1c98dd7689fb8ec11d242b123dc9b", "437b9aec36"),
        (Version::One, Side::Server, "2cd0991cd25b0aac406a5816b6394100", "2ec0d8356a"),
        (Version::Two, Side::Client, "ffe67b6abcdb4298b485dd04de806071", "94a0c95e80"),
    ] {
        let sample = hex(sample).try_into().expect("16 bytes");
        assert_eq!(keys(version, side).mask(sample)[..], hex(mask), "{version:?} {side:?}");
    }
}

/// An example: version, sender, header, payload, number, size, and the first and last bytes of the protected packet.
type Example<'a> = (Version, Side, &'a str, &'a str, u64, usize, &'a str, &'a str);

#[test]
fn initials_have_the_bytes_of_the_rfcs() {
    // The tag, the last 16 bytes, covers all others.
    let examples: [Example<'_>; 4] = [
        (
            Version::One,
            Side::Client,
            "c300000001088394c8f03e5157080000449e00000002",
            CLIENT_PAYLOAD,
            2,
            1_200,
            "c000000001088394c8f03e5157080000449e7b9aec34d1b1c98dd7689fb8ec11",
            "7e78bfe706ca4cf5e9c5453e9f7cfd2b8b4c8d169a44e55c88d4a9a7f9474241 e221af44860018ab0856972e194cd934",
        ),
        (
            Version::One,
            Side::Server,
            "c1000000010008f067a5502a4262b50040750001",
            SERVER_PAYLOAD,
            1,
            135,
            "cf000000010008f067a5502a4262b5004075c0d95a482cd0991cd25b0aac406a",
            "022f8ef4cdd93795d77d06edbb7aaf2f58891850abbdca3d20398c276456cbc4 2158407dd074ee",
        ),
        (
            Version::Two,
            Side::Client,
            "d36b3343cf088394c8f03e5157080000449e00000002",
            CLIENT_PAYLOAD,
            2,
            1_200,
            "d76b3343cf088394c8f03e5157080000449ea0c95e82ffe67b6abcdb4298b485",
            "9a37ddec600545473cfb5a05e08d0b209973b2172b4d21fb69745a262ccde96b a18b2faa745b6fe189cf772a9f84cbfc",
        ),
        (
            Version::Two,
            Side::Server,
            "d16b3343cf0008f067a5502a4262b50040750001",
            SERVER_PAYLOAD,
            1,
            135,
            "dc6b3343cf0008f067a5502a4262b5004075d92faaf16f05d8a4398c47089698",
            "c984c707f0a0812d8cd5a6881eaf21ceda98f4bd23f6fe1a3e2c43edd9ce7ca8 4bed8521e2e140",
        ),
    ];
    for (version, side, header, payload, number, size, first, last) in examples {
        let mut packet = [hex(header), hex(payload)].concat();
        packet.resize(size, 0);
        let plain = packet.clone();
        let keys = keys(version, side);
        protect(&mut packet, 18, number, &keys);
        assert!(packet.starts_with(&hex(first)) && packet.ends_with(&hex(last)), "{version:?} {side:?}: {packet:02x?}");
        assert!(unprotect(&mut packet, 18, number, &keys));
        assert_eq!(packet[..size - TAG as usize], plain[..size - TAG as usize]);
        packet[30] ^= 1;
        protect(&mut packet, 18, number, &keys);
        packet[40] ^= 1;
        assert!(!unprotect(&mut packet, 18, number, &keys), "a changed packet is rejected");
    }
}

#[test]
fn retry_packets_have_the_tags_of_the_rfcs() {
    for (version, packet, tag) in [
        (Version::One, "ff000000010008f067a5502a4262b5746f6b656e", "04a265ba2eff4d829058fb3f0f2496ba"),
        (Version::Two, "cf6b3343cf0008f067a5502a4262b5746f6b656e", "c8646ce8bfe33952d955543665dcc7b6"),
    ] {
        assert_eq!(retry_tag(version, &DESTINATION, &hex(packet))[..], hex(tag));
    }
}

pub(super) fn config() -> Config {
    Config { handshake: HandshakeSizes::with_certificate(2_000), ..Config::default() }
}

fn spec(client: &Config, server: &Config) -> SessionSpec {
    SessionSpec::new(7, Version::One, client, server)
}

/// Returns contents with one part, of the size that its header, frames and tag take.
fn single(mut part: Part, frames: Vec<Frame>, ranges: Vec<Range>, destination: u8, source: u8) -> Contents {
    (part.frames, part.ranges) = (frames.len() as u16, ranges.len() as u16);
    let mut contents = Contents { parts: vec![part], frames, ranges };
    let payload = contents.iter().next().expect("a part").payload();
    let lengths = HeaderLengths { destination, source, token: part.token };
    contents.parts[0].size = (lengths.header(part.kind, part.number_len) + payload + TAG) as u16;
    contents
}

proptest! {
    /// IDs of any length, and any ACK, survive protection and its removal.
    #[test]
    fn a_packet_is_recovered_with_the_keys(
        kind in prop::sample::select(&[Kind::ZeroRtt, Kind::Handshake, Kind::OneRtt][..]),
        (client_id, server_id) in (0u8..=20, 0u8..=20),
        number in 0u64..1 << 32,
        number_len in 1u8..=4,
        key_phase in any::<bool>(),
        two in any::<bool>(),
        (len, largest) in (0u16..1_200, 0u64..1 << 40),
    ) {
        let client = Config { id_len: client_id, ..config() };
        let server = Config { id_len: server_id, ..config() };
        let version = if two { Version::Two } else { Version::One };
        let session = Session::new(SessionSpec { version, ..spec(&client, &server) });
        let ack = (kind != Kind::ZeroRtt).then_some(AckHeader { delay: 9, ecn: None });
        let ranges = ack.map(|_| Range { start: 0, end: largest + 1 }).into_iter().collect();
        let frames = vec![Frame::Stream { stream: 4, offset: 1 << 20, len, fin: false, to_end: true }];
        let key_phase = key_phase && kind == Kind::OneRtt;
        let part = Part { kind, number, number_len, key_phase, ack, ..Part::default() };
        let contents = single(part, frames, ranges, server_id, client_id);
        let mut bytes = Vec::new();
        session.encode(&mut bytes, Side::Client, 0, &contents);
        prop_assert_eq!(bytes.len() as u64, contents.size());
        let payload = contents.iter().next().expect("a part").payload();
        let number_at = bytes.len() - (payload + TAG) as usize - usize::from(number_len);
        prop_assert!(unprotect(&mut bytes, number_at, number, null_keys(version, contents.parts[0].key_phase)));
        let context = lightlag_quic::codec::Context {
            id_len: server_id.into(), largest: [Some(number.saturating_sub(1)); 3],
        };
        let decoded = lightlag_quic::codec::decode(&bytes, &context);
        prop_assert_eq!(decoded, Ok(contents));
    }
}

#[test]
fn a_new_key_phase_changes_the_payload_and_not_the_header_key() {
    let (first, second) = (null_keys(Version::One, false), null_keys(Version::One, true));
    assert_eq!(first.mask([9; 16]), second.mask([9; 16]));
    let sealed = |keys: &PacketKeys| keys.seal(0, &[], &mut [0; 20]);
    assert_ne!(sealed(first), sealed(second));
}

#[test]
fn each_key_update_has_keys_of_its_own() {
    let mut updates = KeyUpdates::default();
    let sealed = |keys: &PacketKeys| keys.seal(0, &[], &mut [0; 20]);
    let before = sealed(updates.keys(Version::One, 5, false));
    [10, 20, 30].into_iter().for_each(|number| updates.add(Version::One, number));
    let tags: Vec<_> = [9, 10, 19, 20, 29, 30].map(|number| sealed(updates.keys(Version::One, number, false))).into();
    assert_eq!((tags[0], tags[1], tags[3]), (before, tags[2], tags[4]));
    let distinct: std::collections::BTreeSet<_> = [tags[0], tags[1], tags[3], tags[5]].into();
    assert_eq!((distinct.len(), updates.phase()), (4, true));
    assert_eq!(tags[1], sealed(null_keys(Version::One, true)));
}

#[test]
fn a_client_uses_the_ids_in_their_order() {
    let server = Config { server: ServerRules { retry: true, ..ServerRules::default() }, ..config() };
    let session = Session::new(spec(&config(), &server));
    let id = |part: Part, frames: Vec<Frame>, ranges: Vec<Range>| {
        let mut bytes = Vec::new();
        session.encode(&mut bytes, Side::Client, 0, &single(part, frames, ranges, 8, 8));
        bytes[6] >> 6
    };
    let initial = Part { kind: Kind::Initial, number_len: 1, ..Part::default() };
    let hello = || vec![Frame::Crypto { offset: 0, len: 476 }];
    // Roles: 0 made up by the client, 3 of the Retry packet, 2 of the server.
    assert_eq!(id(initial, hello(), vec![]), 0);
    assert_eq!(id(Part { token: 64, ..initial }, hello(), vec![]), 3);
    let acked = Part { token: 64, ack: Some(AckHeader::default()), ..initial };
    assert_eq!(id(acked, vec![], vec![Range { start: 0, end: 1 }]), 2);
    let handshake = Part { kind: Kind::Handshake, number_len: 1, ..Part::default() };
    assert_eq!(id(handshake, vec![Frame::Crypto { offset: 0, len: 52 }], vec![]), 2);
}

#[test]
fn a_stateless_reset_ends_with_the_token_of_the_server() {
    let session = Session::new(spec(&config(), &config()));
    for size in [5, 21, 43] {
        let part = Part { kind: Kind::StatelessReset, size, ..Part::default() };
        let mut bytes = Vec::new();
        session.encode(&mut bytes, Side::Server, 0, &Contents { parts: vec![part], ..Contents::default() });
        assert_eq!((bytes.len(), bytes[0] >> 6), (size.into(), 1));
        let token = super::ids::reset_token(7, super::ids::Role::Server, 0);
        let shown = (bytes.len() - 1).min(16);
        assert_eq!(bytes[bytes.len() - shown..], token[16 - shown..]);
    }
}

mod exchange;
