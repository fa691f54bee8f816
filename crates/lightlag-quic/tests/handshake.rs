//! Handshakes: times, sizes, Retry, 0-RTT, timeouts and the end of a connection.

mod path;

use lightlag_core::{Duration, Instant};
use lightlag_quic::codec::{self, Ids, Version};
use lightlag_quic::config::{HandshakeSizes, ServerRules};
use lightlag_quic::connection::EarlyData;
use lightlag_quic::frame::Frame;
use lightlag_quic::{Config, Kind, Profile, State};
use lightlag_transport::{Failure, Inspect, Stream};
use path::{CLIENT, Fate, Path, SERVER, at, ms};

fn geo(config: Config) -> Path {
    Path::new(config, 300).with_rates(2.0, 20.0)
}

fn with_certificate(bytes: u16) -> Config {
    Config { handshake: HandshakeSizes::with_certificate(bytes), ..Config::default() }
}

/// Returns the times of the client's Initial packets before the server's answer, in seconds.
fn initials(path: &Path) -> Vec<f64> {
    let is_initial = |kind: Kind| kind == Kind::Initial;
    let mut times: Vec<f64> = path
        .sent(CLIENT)
        .filter(|logged| is_initial(logged.contents.parts[0].kind))
        .map(|logged| logged.time.as_secs_f64())
        .collect();
    times.dedup();
    times
}

#[test]
fn the_handshake_takes_a_round_trip_and_two_if_the_flight_exceeds_the_amplification_limit() {
    for (certificate, expected) in [(900, 0.605), (2_707, 0.606), (3_507, 1.211)] {
        let mut path = geo(with_certificate(certificate));
        path.open();
        path.run_until(at(5_000));
        let time = path.ends[CLIENT].completed().expect("a handshake").as_secs_f64();
        // Our headers and the upload of the client's answer differ by up to 5 ms from aioquic's.
        assert!((time - expected).abs() < 0.006, "{certificate}: {time}");
        assert!(path.ends[SERVER].is_confirmed() && path.ends[CLIENT].is_confirmed());
    }
}

#[test]
fn the_first_flights_have_their_sizes() {
    let mut path = geo(with_certificate(2_000));
    path.open();
    path.run_until(at(5_000));
    for logged in path.sent(CLIENT).filter(|logged| logged.contents.parts[0].kind == Kind::Initial) {
        assert!(logged.size >= 1_200);
    }
    let hello = path.sent(CLIENT).next().expect("a packet");
    // 8-byte IDs: header 27, CRYPTO header 4, ClientHello 476, tag 16, padding.
    assert_eq!(
        hello.contents.frames,
        [Frame::Crypto { offset: 0, len: 476 }, Frame::Padding(1_200 - 27 - 4 - 476 - 16)]
    );
    let answer = path.sent(SERVER).next().expect("a packet");
    let kinds: Vec<Kind> = answer.contents.parts.iter().map(|part| part.kind).collect();
    assert_eq!((kinds, answer.size), (vec![Kind::Initial, Kind::Handshake], 1_200));
    // ServerHello 123 and the flight of 2,249 bytes: two datagrams and a little more.
    let flight = path.sent(SERVER).take_while(|logged| logged.time < at(600)).count();
    assert_eq!(flight, 3);
}

#[test]
fn initials_are_repeated_at_the_times_of_the_probe_timeout() {
    // (RTT, sends): 1 + floor(log2(RTT / 0.999 + 1)) rounds.
    for (rtt, rounds) in [(600, 1), (10_000, 4), (120_000, 7), (2_400_000, 12)] {
        let mut path = Path::new(Config { idle_timeout: Duration::ZERO, ..Config::default() }, rtt / 2);
        path.open();
        path.run_until(Instant::from_nanos(rtt * 1_000_000 - 1));
        assert_eq!(initials(&path).len(), rounds, "{rtt}: {:?}", initials(&path));
    }
    let mut path = geo(Profile::Aioquic.config());
    path.open();
    path.run_until(at(604));
    // Its timers expire a nanosecond later.
    let times: Vec<f64> = initials(&path).iter().map(|time| (time * 1e6).round() / 1e6).collect();
    assert_eq!(times, [0.0, 0.2, 0.6]);
}

#[test]
fn a_retry_costs_a_round_trip_and_packet_numbers_continue() {
    let config = Config { server: ServerRules { retry: true, ..ServerRules::default() }, ..with_certificate(3_507) };
    let mut path = geo(config);
    path.open();
    path.run_until(at(5_000));
    let client = &path.ends[CLIENT];
    // The token validates the address, so that the flight needs no second round trip.
    let time = client.completed().expect("a handshake").as_secs_f64();
    assert!(client.was_retried() && (time - 1.21).abs() < 0.01, "{time}");
    let second = path.sent(CLIENT).nth(1).expect("a second Initial");
    let part = second.contents.parts[0];
    assert_eq!((part.kind, part.number, part.token), (Kind::Initial, 1, 64));
    assert_eq!(path.sent(SERVER).next().map(|logged| logged.contents.parts[0].kind), Some(Kind::Retry));
}

#[test]
fn a_client_adopts_the_length_of_the_id_in_a_retry() {
    let retry = ServerRules { retry: true, ..ServerRules::default() };
    let config = Config { server: retry, id_len: 4, ..with_certificate(2_000) };
    let mut path = geo(config);
    path.open();
    path.run_until(at(5_000));
    let encoded = |index: usize, destination: &[u8]| {
        let mut bytes = Vec::new();
        let ids = Ids { destination, source: &[1; 4], version: Version::One };
        codec::encode(&mut bytes, &path.sent(CLIENT).nth(index).expect("an Initial").contents, &ids);
        bytes.len()
    };
    // The first ID is the client's, of 8 bytes (RFC 9000 §7.2); encoding checks the sizes.
    assert_eq!((encoded(0, &[2; 8]), encoded(1, &[3; 4])), (1_200, 1_200));
}

fn early(accepted: bool) -> Path {
    let mut server = with_certificate(1_000);
    server.server.reject_early_data = !accepted;
    let client = Config { ticket: Some(server.remembered()), ..server.clone() };
    Path::between(client, server, 300).with_rates(2.0, 20.0)
}

#[test]
fn early_data_is_answered_after_a_round_trip_and_is_sent_again_if_it_is_rejected() {
    for (accepted, expected, state) in [(true, 0.3, EarlyData::Accepted), (false, 0.9, EarlyData::Rejected)] {
        let mut path = early(accepted);
        path.ends[CLIENT].write(500);
        path.ends[CLIENT].close();
        path.open();
        assert_eq!(path.log[0].contents.parts.len(), 2, "the ClientHello and the request share a datagram");
        let time = path.run_while(at(5_000), |ends| ends[SERVER].received() < 500).expect("the request arrives");
        assert!((time.as_secs_f64() - expected).abs() < 0.02, "{time:?}");
        path.run_until(at(10_000));
        assert_eq!(path.ends[CLIENT].early_data(), state);
        assert!(path.ends[CLIENT].all_acknowledged() && path.ends[CLIENT].in_flight() == 0);
        assert_eq!(path.ends[CLIENT].counters().lost, 0, "rejected packets leave flight without a loss");
    }
}

#[test]
fn an_unanswered_client_gives_up_after_the_idle_timeout() {
    let mut path = geo(Config::default()).with_rule(|_| Fate::Drop);
    path.open();
    path.run_until(at(120_000));
    let client = &path.ends[CLIENT];
    assert_eq!((client.state(), client.failure()), (State::Closed, Some(Failure::SynTimeout)));
    assert_eq!(path.ends[SERVER].state(), State::Idle);
}

#[test]
fn the_idle_timeout_is_the_smaller_one_and_starts_with_the_last_packet() {
    let client = Config { idle_timeout: ms(20_000), ..Config::default() };
    let mut path = Path::between(client, Config::default(), 50);
    path.open();
    let quiet = path.run_while(at(100_000), |ends| ends[CLIENT].state() != State::Closed).expect("it ends");
    let last = path.sent(SERVER).last().expect("a packet").time;
    assert_eq!(quiet, last + ms(50 + 20_000));
    assert_eq!(path.ends[CLIENT].failure(), Some(Failure::Timeout));
}

#[test]
fn a_close_drains_the_peer_and_both_ends_forget_the_connection() {
    let mut path = Path::new(Config::default(), 50);
    path.open();
    path.run_until(at(1_000));
    path.ends[CLIENT].close_with(at(1_000), 0);
    path.flush(CLIENT);
    path.run_until(at(1_060));
    assert_eq!((path.ends[CLIENT].state(), path.ends[SERVER].state()), (State::Closing, State::Draining));
    path.run_until(at(10_000));
    assert!(path.ends.iter().all(|end| end.state() == State::Closed && end.failure().is_none()));
    assert_eq!(path.arena.used(), 0);
}

#[test]
fn a_closing_end_answers_packets_ever_more_rarely() {
    let mut path = Path::new(Config::default(), 50);
    path.ends[SERVER].write(u64::MAX);
    path.open();
    path.run_until(at(300));
    path.logs = true;
    path.log.clear();
    path.ends[CLIENT].close_with(path.now, 0);
    // All CLOSE frames are lost, so that the server continues until its idle timeout.
    path.rule = Box::new(|logged| if logged.from == CLIENT { Fate::Drop } else { Fate::Deliver });
    path.flush(CLIENT);
    path.run_until(at(600));
    let (answers, packets) = (path.sent(CLIENT).count(), path.sent(SERVER).count());
    // Packets in transit when the log was cleared count too, at most as many again.
    assert!(answers >= 2 && 1 << (answers - 2) <= 2 * packets, "{answers} answers to {packets} packets");
}
