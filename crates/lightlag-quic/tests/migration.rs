//! Migration, NAT rebinding, connection IDs, stateless reset, and numbers of streams.

mod path;

use lightlag_quic::frame::{Direction, Frame};
use lightlag_quic::{Config, Connection, Kind, Parameters, State};
use lightlag_transport::{Failure, Inspect, Stream};
use path::{CLIENT, Fate, Path, SERVER, at, ms};
use std::sync::Arc;

/// Returns a download at 3 s, whose path changes before the client's next packet.
fn moved(address_changed: bool) -> Path {
    let mut path = Path::new(Config::default(), 50).with_rates(10.0, 10.0);
    path.links[SERVER].max_queue = ms(100);
    path.ends[SERVER].write(u64::MAX);
    path.open();
    path.run_until(at(3_000));
    path.ends[CLIENT].rebind(address_changed);
    path
}

fn is_challenge(frame: &Frame) -> bool {
    matches!(frame, Frame::PathChallenge(_))
}

/// Runs until the server has noticed the change.
fn notice(path: &mut Path) {
    while path.ends[SERVER].counters().migrations == 0 {
        assert!(path.step(at(4_000)), "the server notices the other path");
    }
}

/// Worked example 10.
#[test]
fn a_migration_of_the_address_restarts_the_window_and_the_round_trip_time_and_one_of_the_port_keeps_them() {
    let mut path = moved(true);
    let config = Config::default();
    notice(&mut path);
    let server = &path.ends[SERVER];
    assert_eq!((server.window(), server.rtt().smoothed()), (12_000, config.initial_rtt));
    // The bytes of the old path do not count: only what was sent since.
    assert!(server.in_flight() <= 12_000);
    path.run_until(at(10_000));
    let server = &path.ends[SERVER];
    assert!(!server.is_validating() && server.is_unlimited());
    assert!(server.rtt().smoothed() < ms(1_500) && server.failure().is_none());

    let mut path = moved(false);
    let before = path.ends[SERVER].snapshot();
    notice(&mut path);
    let after = path.ends[SERVER].snapshot();
    assert!(before.cwnd > 100_000 && after.cwnd >= before.cwnd && after.srtt.abs_diff(before.srtt) < ms(10));
}

#[test]
fn a_path_is_validated_with_1200_bytes_within_three_times_the_received_bytes() {
    for address_changed in [true, false] {
        let mut path = moved(address_changed);
        let received = path.ends[SERVER].counters().bytes_received;
        notice(&mut path);
        let noticed = path.now;
        let sent = path.ends[SERVER].counters().bytes_sent;
        while path.ends[SERVER].is_validating() {
            assert!(path.step(at(20_000)), "the path is validated");
            let counters = path.ends[SERVER].counters();
            if path.ends[SERVER].is_validating() {
                assert!(counters.bytes_sent - sent <= 3 * (counters.bytes_received - received));
            }
        }
        let challenges: Vec<u32> = path
            .sent(SERVER)
            .filter(|logged| logged.time >= noticed && logged.contents.frames.iter().any(is_challenge))
            .map(|logged| logged.size)
            .collect();
        // The first one as large as the limit permits; an acknowledgement of 33 bytes gives 99.
        assert!(!challenges.is_empty() && challenges.iter().all(|size| *size <= 1_200), "{challenges:?}");
        let response = path
            .sent(CLIENT)
            .find(|logged| logged.contents.frames.iter().any(|frame| matches!(frame, Frame::PathResponse(_))));
        assert_eq!(response.map(|logged| logged.size), Some(1_200));
        assert_eq!(path.ends[SERVER].counters().failed_validations, 0);
    }
}

#[test]
fn a_validation_fails_after_three_probe_timeouts_and_the_server_returns_to_the_old_path() {
    let mut path = moved(true);
    path.rule = Box::new(|logged| {
        let answers = logged.contents.frames.iter().any(|frame| matches!(frame, Frame::PathResponse(_)));
        if answers { Fate::Drop } else { Fate::Deliver }
    });
    notice(&mut path);
    let noticed = path.now;
    // The initial probe timeout is 999 ms, and the current one as well.
    path.run_until(noticed + ms(2_990));
    assert!(path.ends[SERVER].is_validating());
    while path.ends[SERVER].counters().failed_validations == 0 {
        assert!(path.step(noticed + ms(4_000)), "the validation fails");
    }
    // max_ack_delay is a part of the probe timeout.
    assert!(path.now <= noticed + ms(3 * (999 + 25)), "{:?}", path.now);
}

#[test]
fn a_migration_uses_a_fresh_connection_id_on_both_sides() {
    let mut path = Path::new(Config::default(), 50).with_rates(10.0, 10.0);
    path.ends[SERVER].write(u64::MAX);
    path.open();
    path.run_until(at(2_000));
    assert_eq!((path.ends[CLIENT].peer_ids(), path.ends[SERVER].peer_ids()), ((2, 0), (2, 0)));
    for round in 1..4 {
        let now = path.now;
        assert!(path.ends[CLIENT].migrate(now));
        // A second one has to wait for another ID.
        assert!(!path.ends[CLIENT].migrate(now));
        path.flush(CLIENT);
        path.run_until(now + ms(3_000));
        assert_eq!((path.ends[CLIENT].peer_ids(), path.ends[SERVER].peer_ids()), ((2, round), (2, round)));
        assert_eq!(path.ends[SERVER].counters().migrations, round);
    }
    assert!(path.ends.iter().all(|end| end.failure().is_none()));
    // Without connection IDs there is nothing to exchange.
    let mut path = Path::new(Config { id_len: 0, ..Config::default() }, 50);
    path.open();
    path.run_until(at(1_000));
    let now = path.now;
    assert!(path.ends[CLIENT].migrate(now));
}

#[test]
fn an_endpoint_without_state_resets_the_connection_of_its_peer() {
    let mut path = Path::new(Config::default(), 50);
    path.ends[CLIENT].write(10_000);
    path.open();
    path.run_until(at(1_000));
    path.ends[SERVER].crash();
    path.run_until(at(2_000));
    assert_eq!(path.ends[CLIENT].state(), State::Complete);
    path.ends[CLIENT].write(10_000);
    path.flush(CLIENT);
    path.run_until(at(2_099));
    assert_eq!((path.ends[CLIENT].state(), path.ends[CLIENT].failure()), (State::Complete, None));
    path.run_until(at(2_200));
    assert_eq!((path.ends[CLIENT].state(), path.ends[CLIENT].failure()), (State::Draining, Some(Failure::Reset)));
    let reset = path.sent(SERVER).last().expect("a reset");
    assert_eq!((reset.contents.parts[0].kind, reset.size), (Kind::StatelessReset, 43));
    path.run_until(at(30_000));
    assert_eq!(path.ends[CLIENT].state(), State::Closed);
}

#[test]
fn the_spin_bit_is_off_on_one_of_16_connections() {
    let off = (0..1_600)
        .filter(|seed| {
            let config = Config::default();
            let parameters = Parameters::of(&config);
            !Connection::client(Arc::new(config), parameters, *seed).uses_spin()
        })
        .count();
    // 100, with a standard deviation of 9.7.
    assert!((70..130).contains(&off), "{off}");
}

#[test]
fn the_peer_may_open_a_stream_for_each_that_has_finished() {
    let mut config = Config::default();
    (config.flow.bidirectional, config.flow.unidirectional) = (4, 4);
    let mut path = Path::new(config, 20);
    path.open();
    path.run_until(at(500));
    let mut opened = 0;
    let mut now = path.now;
    while opened < 60 {
        while let Some(id) = path.ends[CLIENT].open_stream(Direction::Unidirectional) {
            path.ends[CLIENT].write_stream(id, 100);
            path.ends[CLIENT].finish_stream(id);
            opened += 1;
        }
        path.flush(CLIENT);
        now += ms(100);
        path.run_until(now);
        assert!(now < at(5_000), "{opened} streams");
    }
    let limits = path.sent(SERVER).flat_map(|logged| &logged.contents.frames).filter_map(|frame| match frame {
        Frame::MaxStreams(Direction::Unidirectional, limit) => Some(*limit),
        _ => None,
    });
    assert!(limits.last().is_some_and(|limit| limit >= 60));
    assert!(path.ends.iter().all(|end| end.failure().is_none()));
}

#[test]
fn a_token_of_an_earlier_connection_avoids_retry_and_the_amplification_limit() {
    let handshake = lightlag_quic::config::HandshakeSizes::with_certificate(9_000);
    let mut server = Config { handshake, ..Config::default() };
    server.handshake.new_token = 48;
    server.server.retry = true;
    for (token, round_trips, retried) in [(48, 1.0, false), (0, 3.0, true)] {
        let mut ticket = server.remembered();
        ticket.token = token;
        let client = Config { ticket: Some(ticket), ..Config::default() };
        let mut path = Path::between(client, server.clone(), 100);
        path.open();
        path.run_until(at(5_000));
        let time = path.ends[CLIENT].completed().expect("a handshake").as_secs_f64() / 0.2;
        assert_eq!(path.ends[SERVER].was_retried(), retried);
        assert!(time <= round_trips + 0.1, "{token}: {time} round trips");
    }
}
