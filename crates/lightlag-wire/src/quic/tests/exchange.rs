//! Exchanges between two endpoints: the peer of each sender decrypts its packets with the keys of the RFCs.

use super::super::keys::{PacketKeys, initial_secret, null_keys};
use super::super::protect::unprotect;
use super::super::{Session, SessionSpec, Side, Version};
use lightlag_core::{Duration, Instant};
use lightlag_quic::codec::{self, Context};
use lightlag_quic::config::{HandshakeSizes, ServerRules};
use lightlag_quic::contents::{Contents, TAG};
use lightlag_quic::frame::Frame;
use lightlag_quic::{Arena, Config, Connection, Kind, Packet, Parameters, SpaceId};
use lightlag_transport::Stream;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

const SIDES: [Side; 2] = [Side::Client, Side::Server];
const DELAY: Duration = Duration::from_millis(40);

/// A reader of packets with the secrets of a connection.
struct Observer {
    session: Session,
    version: Version,
    id_lens: [u8; 2],
    /// Destination ID of the client's first Initial packet, or of the first one with a token after a Retry packet.
    first: Option<Vec<u8>>,
    retried: bool,
}

impl Observer {
    /// Encodes a datagram, decrypts it, and compares its contents.
    fn check(&mut self, sender: Side, contents: &Contents) {
        let mut bytes = Vec::new();
        self.session.encode(&mut bytes, sender, 0, contents);
        assert_eq!(bytes.len() as u64, contents.size());
        let mut again = Vec::new();
        self.session.encode(&mut again, sender, 0, contents);
        assert_eq!(bytes, again);
        let mut start = 0;
        for view in contents.iter() {
            let end = start + usize::from(view.part.size);
            let packet = &mut bytes[start..end];
            start = end;
            if view.part.kind == Kind::Retry {
                self.retried = true;
                self.first = None;
                continue;
            }
            let initial;
            let keys = if view.part.kind == Kind::Initial {
                if sender == Side::Client && self.first.is_none() {
                    self.first = Some(packet[6..6 + usize::from(packet[5])].to_vec());
                }
                let first = self.first.as_ref().expect("an Initial of the client");
                initial = PacketKeys::new(self.version, &initial_secret(self.version, sender, first));
                &initial
            } else {
                null_keys(self.version, view.part.key_phase)
            };
            let payload = (view.payload() + TAG) as usize;
            // The length of the packet number is protected; a long header states it in its length field.
            let number_len = match view.part.number_len {
                0 => packet.len() - payload - 1 - usize::from(self.id_lens[1 - sender as usize]),
                len => len.into(),
            };
            let number_at = packet.len() - payload - number_len;
            assert!(unprotect(packet, number_at, view.part.number, keys), "{sender:?} {view:?}");
        }
        let largest = |space: SpaceId| {
            let numbers = contents.parts.iter().filter(|part| part.kind.space() == Some(space));
            numbers.map(|part| part.number).min().and_then(|number| number.checked_sub(1))
        };
        let context = Context { id_len: self.id_lens[1 - sender as usize].into(), largest: SpaceId::ALL.map(largest) };
        let decoded = codec::decode(&bytes, &context).expect("decrypted packets");
        let plain = |contents: &Contents| {
            let parts: Vec<_> =
                contents.parts.iter().map(|part| (part.kind, part.number, part.size, part.ack)).collect();
            let frames = contents.frames.iter().copied().filter(|frame| !matches!(frame, Frame::Padding(_)));
            (parts, frames.collect::<Vec<_>>(), contents.ranges.clone())
        };
        assert_eq!(plain(&decoded), plain(contents));
    }
}

/// Runs an exchange in which one in `loses` datagrams is lost. Returns the number of datagrams.
fn run(version: Version, configs: [Config; 2], data: [u64; 2], loses: u64) -> u64 {
    let [client, server] = &configs;
    let session = Session::new(SessionSpec::new(9, version, client, server));
    let id_lens = [client.id_len, server.id_len];
    let mut observer = Observer { session, version, id_lens, first: None, retried: false };
    let (of_client, of_server) = (Parameters::of(client), Parameters::of(server));
    let expects_retry = server.server.retry && client.ticket.is_none_or(|ticket| ticket.token == 0);
    let [client, server] = configs.map(Arc::new);
    let mut ends = [Connection::client(client, of_server, 0), Connection::server(server, of_client, 0)];
    ends.iter_mut().zip(data).for_each(|(end, bytes)| {
        end.write(bytes);
        end.close();
    });
    let (mut arena, mut now, mut sent) = (Arena::new(), Instant::ZERO, 0);
    let mut queue: BTreeMap<(Instant, u64), (usize, Packet)> = BTreeMap::new();
    ends[0].open(now);
    loop {
        for from in 0..2 {
            while let Some(packet) = ends[from].poll_packet(now, &mut arena) {
                observer.check(SIDES[from], &arena.copy(&packet));
                sent += 1;
                if sent % loses == 0 {
                    arena.release(&packet);
                } else {
                    queue.insert((now + DELAY, sent), (1 - from, packet));
                }
            }
        }
        if ends.iter().all(Stream::all_acknowledged) && queue.is_empty() {
            break;
        }
        let arrival = queue.keys().next().map(|(time, _)| *time);
        let timers = ends.iter().map(Connection::poll_timeout);
        let Some(next) = timers.chain([arrival]).flatten().min() else { break };
        now = now.max(next);
        if arrival.is_some_and(|arrival| arrival <= now) {
            let (_, (to, packet)) = queue.pop_first().expect("an arrival");
            ends[to].handle_packet(now, &packet, packet.codepoint(), &mut arena);
        } else {
            ends.iter_mut().for_each(|end| end.handle_timeout(now));
        }
    }
    assert_eq!(observer.retried, expects_retry && sent > 1);
    sent
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_packet_of_an_exchange_is_decrypted(
        (client_id, server_id) in (0u8..=20, 0u8..=20),
        (retry, resumes, rejects, two) in any::<(bool, bool, bool, bool)>(),
        (client_hello, server_hello, certificate) in (200u16..3_000, 90u16..1_300, 400u16..6_000),
        token in prop::sample::select(&[0u16, 40][..]),
        (upload, download) in (0u64..20_000, 0u64..60_000),
        loses in 4u64..40,
    ) {
        let handshake = HandshakeSizes {
            client_hello, server_hello, new_token: token, ..HandshakeSizes::with_certificate(certificate)
        };
        let rules = ServerRules { retry, reject_early_data: rejects };
        let server = Config { handshake, id_len: server_id, server: rules, ..Config::default() };
        let ticket = resumes.then(|| server.remembered());
        let client = Config { id_len: client_id, ticket, server: ServerRules::default(), ..server.clone() };
        let version = if two { Version::Two } else { Version::One };
        prop_assert!(run(version, [client, server], [upload, download], loses) > 3);
    }
}
