//! Faults that implementations of QUIC have had. Each test is named after one.

mod path;

use lightlag_control::congestion::Choice;
use lightlag_core::{Duration, Instant, RandomStream};
use lightlag_quic::config::HandshakeSizes;
use lightlag_quic::contents::Part;
use lightlag_quic::credit::Tuning;
use lightlag_quic::{Config, Details, Kind, Profile};
use lightlag_transport::{Inspect, Stream};
use path::{CLIENT, Fate, Logged, Path, SERVER, at, ms};

fn has(logged: &Logged, test: impl Fn(&Part) -> bool) -> bool {
    logged.contents.parts.iter().any(test)
}

/// picoquic#1300, base-drafts#3395, base-drafts#4830, tquic#137.
#[test]
fn a_server_stuck_at_the_amplification_limit_is_freed_by_a_client_that_has_nothing_to_send() {
    for lost in [1..4, 2..5, 1..9] {
        let config = Config { handshake: HandshakeSizes::with_certificate(9_000), ..Config::default() };
        let mut count = 0;
        // The client's answers to the first flight are lost.
        let mut path = Path::new(config, 100).with_rule(move |logged| {
            count += u32::from(logged.from == CLIENT);
            if logged.from == CLIENT && lost.contains(&(count - 1)) { Fate::Drop } else { Fate::Deliver }
        });
        path.open();
        let end = path.run_while(at(29_000), |ends| ends.iter().any(|end| !end.is_confirmed()));
        assert!(end.is_some(), "{:#?}", path.ends[SERVER]);
    }
}

/// base-drafts#3395: the server's Handshake packets are lost after the client has discarded nothing yet; the client
/// keeps its Initial keys until it sends a Handshake packet, and probes until the rest arrives.
#[test]
fn initial_keys_dropped_too_soon() {
    let mut path = Path::new(Config::default(), 100).with_rule(|logged| {
        let is_first_flight = logged.from == SERVER && logged.time < at(150);
        if is_first_flight && !has(logged, |part| part.kind == Kind::Initial) { Fate::Drop } else { Fate::Deliver }
    });
    path.open();
    let end = path.run_while(at(5_000), |ends| ends.iter().any(|end| !end.is_confirmed()));
    assert!(end.is_some_and(|end| end < at(1_500)), "{end:?}");
}

/// base-drafts#4846: the timer is computed from the time of the last eliciting packet although none is in flight.
#[test]
fn anti_deadlock_timer_computed_from_time_0() {
    let mut answers = 0;
    let mut path =
        Path::new(Config { idle_timeout: Duration::ZERO, ..Config::default() }, 100).with_rule(move |logged| {
            answers += u32::from(logged.from == SERVER);
            // Only the first datagram arrives; the rest of the server's flight never does.
            if logged.from == SERVER && answers > 1 { Fate::Drop } else { Fate::Deliver }
        });
    path.open();
    path.run_until(at(60_000));
    assert!(!path.ends[CLIENT].is_confirmed());
    let times: Vec<Instant> = path.sent(CLIENT).map(|logged| logged.time).collect();
    let mut rounds = times.clone();
    rounds.dedup();
    // srtt 200 ms, first probe after 600 ms, then doubling: 0.6 · 2ⁿ < 60 s.
    assert!(rounds.len() <= 10 && times.len() <= 20, "{rounds:?}");
}

/// erlang_quic#263: datagrams whose packets are dropped also count.
#[test]
fn amplification_credit_not_counted_for_dropped_packets() {
    let config = Config { handshake: HandshakeSizes::with_certificate(9_000), ..Config::default() };
    let mut path =
        Path::new(config, 100).with_rule(|logged| if logged.from == CLIENT { Fate::Duplicate } else { Fate::Deliver });
    path.open();
    path.run_until(at(101));
    let (sent, received) = (path.ends[SERVER].counters().bytes_sent, path.ends[SERVER].counters().bytes_received);
    assert!(received >= 1_200 && sent <= 3 * received && sent > 3 * received - 1_200, "{sent} for {received}");
}

/// erlang_quic#263: the handshake flight is tracked for losses.
#[test]
fn handshake_flight_not_loss_tracked() {
    let mut count = 0;
    let mut path = Path::new(Config::default(), 100).with_rule(move |logged| {
        count += u32::from(logged.from == SERVER);
        // The second of three datagrams of the server's flight.
        if logged.from == SERVER && count == 2 { Fate::Drop } else { Fate::Deliver }
    });
    path.open();
    let end = path.run_while(at(5_000), |ends| !ends[CLIENT].is_confirmed()).expect("a handshake");
    // The third datagram is acknowledged at 300 ms; the loss is found by time, 9/8 of the round trip after 100 ms.
    assert!(end < at(700) && path.ends[SERVER].counters().lost >= 1, "{end:?}");
}

/// base-drafts#3546: the client probes in every round trip, because ACKs of Initial packets end its back-off.
#[test]
fn client_resets_backoff_on_initial_acks() {
    // The server's datagrams arrive as far as they contain nothing but an ACK.
    let mut path = Path::new(Config { idle_timeout: Duration::ZERO, ..Config::default() }, 100).with_rule(|logged| {
        let is_useful = logged.contents.frames.iter().any(|frame| frame.is_eliciting());
        if logged.from == SERVER && is_useful { Fate::Drop } else { Fate::Deliver }
    });
    path.open();
    path.run_until(at(40_000));
    let mut rounds: Vec<Instant> = path.sent(CLIENT).map(|logged| logged.time).collect();
    rounds.dedup();
    assert!(rounds.len() < 15, "{} rounds: {rounds:?}", rounds.len());
}

/// asupersync#71: 71 % of the packets were falsely lost, because acknowledgements left out those that do not elicit
/// one.
#[test]
fn ack_only_packets_declared_lost_and_cut_the_window() {
    for profile in Profile::ALL {
        let mut random = RandomStream::new(11, "loss");
        // Half of the client's acknowledgements are lost.
        let mut path = Path::new(profile.config(), 50).with_rates(20.0, 20.0).with_rule(move |logged| {
            let is_ack = logged.contents.frames.is_empty();
            if logged.from == CLIENT && is_ack && random.uniform() < 0.5 { Fate::Drop } else { Fate::Deliver }
        });
        path.links[SERVER].max_queue = Duration::MAX;
        path.download(3_000_000, at(60_000)).expect("a download");
        let [client, server] = &path.ends;
        assert_eq!((client.counters().lost, server.counters().lost), (0, 0), "{profile:?}");
        assert_eq!((client.statistics().recoveries, server.statistics().recoveries), (0, 0), "{profile:?}");
    }
}

/// quicly#48: a round-trip sample needs a newly acknowledged packet that elicits an acknowledgement.
#[test]
fn rtt_sample_from_an_ack_of_ack_only_packets() {
    // quinn's server acknowledges the client's acknowledgements, along with its data.
    let mut path = Path::new(Profile::Quinn.config(), 50).with_rates(20.0, 20.0);
    path.ends[SERVER].write(u64::MAX);
    path.open();
    path.run_until(at(500));
    let samples = path.ends[CLIENT].statistics().rtt_count;
    path.run_until(at(2_000));
    let client = &path.ends[CLIENT];
    let acked =
        path.log.iter().filter(|logged| logged.from == SERVER && has(logged, |part| part.ack.is_some())).count();
    assert!(acked > 10, "{acked} acknowledgements from the server");
    // Credit updates elicit acknowledgements; there are few of them.
    let credit = path
        .sent(CLIENT)
        .filter(|logged| logged.time > at(350) && logged.contents.frames.iter().any(|frame| frame.is_eliciting()))
        .count();
    assert!(client.statistics().rtt_count - samples <= credit as u64, "{samples} and {credit}");
}

/// Returns a path whose links are cut from 2 s for `outage`, in the middle of a download.
fn outage(outage: Duration) -> Path {
    let mut path = Path::new(Config { idle_timeout: Duration::ZERO, ..Config::default() }, 100)
        .with_rates(10.0, 10.0)
        .with_rule(move |logged| {
            let cut = at(2_000)..at(2_000) + outage;
            if cut.contains(&logged.time) { Fate::Drop } else { Fate::Deliver }
        });
    path.ends[SERVER].write(u64::MAX);
    path.open();
    path
}

/// base-drafts#2255, xquic#947, vlang#27884: persistent congestion follows from the send times of lost packets, found
/// by an ACK, and includes max_ack_delay.
#[test]
fn persistent_congestion_from_pto_count_or_from_a_timer() {
    let mut path = outage(ms(20_000));
    path.run_until(at(21_999));
    let server = &path.ends[SERVER];
    assert!(server.pto_count() >= 4, "{}", server.pto_count());
    assert_eq!((server.counters().persistent, server.statistics().recoveries), (0, 0));
    let window = server.window();
    path.run_until(at(60_000));
    assert_eq!(path.ends[SERVER].counters().persistent, 1);
    assert!(window > 100_000);
}

/// base-drafts#4172: the duration always includes max_ack_delay.
#[test]
fn persistent_congestion_without_max_ack_delay() {
    // Losses of some hundred milliseconds: far below 3 · (srtt + 4 rttvar + 25 ms).
    for milliseconds in [50, 300] {
        let mut path = outage(ms(milliseconds));
        path.run_until(at(30_000));
        let server = &path.ends[SERVER];
        assert!(server.counters().lost > 0 && server.counters().persistent == 0, "{milliseconds}");
    }
}

/// erlang_quic#59: the window was clamped as an absolute offset, so that a connection stalled for good after 8 MB.
#[test]
fn window_doubling_clamped_as_an_absolute_offset() {
    for profile in [Profile::Quiche, Profile::Msquic] {
        let mut path = Path::new(profile.config(), 10).with_rates(200.0, 200.0);
        path.logs = false;
        assert!(path.download(60_000_000, at(60_000)).is_some(), "{profile:?}");
    }
}

/// honk#120, neqo#733, go-libp2p#2290: credit that grows with goodput never exceeds the goodput that it permits.
#[test]
fn credit_tuned_from_goodput_that_credit_itself_limits() {
    for profile in [Profile::Quiche, Profile::Msquic, Profile::Aioquic, Profile::Picoquic] {
        // BDP 100 Mbit/s · 200 ms = 2.5 MB, more than the initial credit. Without the handshake timeout of aioquic,
        // which reduces the window.
        let mut config = Config { details: Details::default(), ..profile.config() };
        config.probes.marks_crypto = false;
        let mut path = Path::new(config, 100).with_rates(100.0, 100.0);
        path.logs = false;
        path.ends[SERVER].write(u64::MAX);
        path.open();
        path.run_until(at(20_000));
        let before = path.ends[CLIENT].received();
        path.run_until(at(25_000));
        let rate = (path.ends[CLIENT].received() - before) as f64 * 8.0 / 5e6;
        assert!(rate > 85.0, "{profile:?}: {rate} Mbit/s");
    }
}

/// picoquic#873: the window must not grow while credit limits the sender, or a burst follows when credit comes.
#[test]
fn slow_start_grows_while_credit_limited() {
    let mut config = Config::default();
    (config.flow.stream, config.flow.stream_tuning) = (30_000, Tuning::Fixed(2));
    let mut path = Path::new(config, 100).with_rates(100.0, 100.0);
    path.ends[SERVER].write(u64::MAX);
    path.open();
    path.run_until(at(20_000));
    let window = path.ends[SERVER].window();
    assert!(window <= 4 * 30_000, "{window}");
    // Updates by half of the credit give at least 15 kB per round trip, 1.5 MB in 20 s.
    let received = path.ends[CLIENT].received();
    assert!(received >= 1_500_000, "{received} with {window}");
}

/// picoquic#1692: a long path is not recognised by a constant such as 610 ms.
#[test]
fn geo_constants_hard_coded() {
    for profile in Profile::ALL {
        let rounds = |delay: u64| {
            let mut path = Path::new(profile.config(), delay);
            path.logs = false;
            let time = path.download(300_000, at(60_000)).expect("a download");
            time.as_secs_f64() / (2.0 * delay as f64 / 1e3)
        };
        // The initial round-trip time and delays of acknowledgements are constants as well.
        // aioquic's first timeouts expire after 0.2 and 0.6 s, and each reduces the window.
        let (low, high) = if profile == Profile::Aioquic { (310, 320) } else { (300, 310) };
        let (below, above) = (rounds(low), rounds(high));
        assert!((below / above - 1.0).abs() < 0.02, "{profile:?}: {below} and {above} round trips");
    }
}

/// picoquic#1221, picoquic#1222, haproxy 67bf1d6c: one lost packet costs one reduction, which is undone if the packet
/// was only late.
#[test]
fn isolated_random_loss_treated_as_congestion() {
    let mut count = 0;
    let config = Config { congestion: Choice::named("cubic"), ..Config::default() };
    let mut path = Path::new(config, 50).with_rates(20.0, 20.0).with_rule(move |logged| {
        count += u32::from(logged.from == SERVER);
        // Later than the three packets after it, but not lost.
        if logged.from == SERVER && count == 200 { Fate::Delay(ms(20)) } else { Fate::Deliver }
    });
    path.download(2_000_000, at(60_000)).expect("a download");
    let server = &path.ends[SERVER];
    assert_eq!((server.counters().lost, server.counters().spurious), (1, 1));
    assert_eq!((server.statistics().recoveries, server.statistics().undone), (1, 1));
}
