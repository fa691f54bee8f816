//! Retransmissions, and the cases that need none: reordering, lost retransmissions, round-trip samples, window growth.

mod path;

use lightlag_control::congestion::{Ack, Cause, Needs, Phase};
use lightlag_core::{Bytes, Duration, Instant};
use lightlag_tcp::config::{DelayedAck, Growth, RttSamples, Scheme};
use lightlag_tcp::segment::SeqNumber;
use lightlag_tcp::{Config, Connection};
use path::{CLIENT, Fixed, Path, SERVER, plain};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + ms(millis)
}

fn sack() -> Config {
    Config { sack: true, recovery: Scheme::Sack, ..plain() }
}

/// Returns a path with a delay of 50 ms in each direction, and a client with a fixed window of `window` segments of
/// 1000 bytes.
fn fixed(config: Config, window: u64) -> (Path, Fixed) {
    let mut path = Path::new(config.clone(), 50);
    let algorithm = Fixed { window: window * 1_000, ..Fixed::default() };
    let client = Connection::client(config.into(), SeqNumber(1_000));
    path.ends[CLIENT] = client.with_congestion(Box::new(algorithm.clone()), Needs::NONE);
    (path, algorithm)
}

#[test]
fn neighbours_that_change_places_are_left_alone() {
    for config in [plain(), sack()] {
        let (path, algorithm) = fixed(config, 20);
        // Every fifth segment arrives after its two successors.
        let mut path = path.bend(|sent, delay| {
            let late = sent.segment.len > 0 && sent.data_index % 5 == 0;
            let spread = Duration::from_micros(sent.data_index as u64 * 10);
            vec![delay + spread + if late { Duration::from_micros(25) } else { Duration::ZERO }]
        });
        path.transfer(100_000);
        path.run();
        assert_eq!(path.ends[SERVER].received(), 100_000);
        assert_eq!(path.ends[CLIENT].statistics().retransmitted_segments, 0);
        assert!(algorithm.told.lock().unwrap().congestions.is_empty());
    }
}

#[test]
fn an_episode_after_another_reduces_no_more_than_the_window() {
    // Losses in every round trip, including lost repairs: one episode follows the other.
    let (path, algorithm) = fixed(sack(), 20);
    let mut path = path.bend(|sent, delay| {
        let hit = sent.segment.len > 0 && sent.data_index % 13 == 7;
        if hit { vec![] } else { vec![delay] }
    });
    path.transfer(400_000);
    path.run();
    assert_eq!(path.ends[SERVER].received(), 400_000);
    let told = algorithm.told.lock().unwrap();
    let flights: Vec<u64> = told.congestions.iter().map(|event| event.flight).collect();
    assert!(flights.len() > 5, "{flights:?}");
    // FlightSize would also count data SACKed above the hole, up to twice the window.
    assert!(flights.iter().all(|flight| *flight <= 20_000), "{flights:?}");
}

#[test]
fn a_lost_retransmission_costs_a_timeout() {
    // Segment 3 is lost, and so is its repair: with a window of ten and endless data, the fourteenth transmission.
    let (path, algorithm) = fixed(sack(), 10);
    let mut lost = 0;
    let mut path = path.bend(move |sent, delay| {
        let hit = sent.segment.len > 0 && sent.segment.seq == SeqNumber(1_001 + 3_000) && lost < 2;
        lost += u32::from(hit);
        if hit { vec![] } else { vec![delay] }
    });
    path.transfer(100_000);
    path.run();
    assert_eq!(path.ends[SERVER].received(), 100_000);
    let recorded = algorithm.told.lock().unwrap();
    let causes: Vec<Cause> = recorded.congestions.iter().map(|event| event.cause).collect();
    assert_eq!(causes, [Cause::Loss, Cause::Timeout]);
    // The window has ten segments, whatever data is SACKed above the hole.
    assert!(recorded.congestions[1].flight <= 10_000);
}

#[test]
fn episodes_are_announced_once_and_ended_once() {
    for (config, episodes) in [(sack(), 1), (plain(), 1), (Config { recovery: Scheme::Reno, ..plain() }, 2)] {
        let (path, algorithm) = fixed(config, 20);
        let mut path = path.lose(&[20, 25]);
        path.transfer(100_000);
        path.run();
        assert_eq!(path.ends[SERVER].received(), 100_000);
        let recorded = algorithm.told.lock().unwrap();
        assert_eq!(recorded.congestions.len(), episodes);
        assert_eq!(recorded.recovered.len(), episodes);
        assert_eq!(recorded.congestions[0].flight, 20_000);
        assert_eq!(path.ends[CLIENT].statistics().timeouts, 0);
    }
}

#[test]
fn new_reno_repairs_one_hole_per_round_trip_and_sack_all_of_them() {
    let repair = |config| {
        let (path, algorithm) = fixed(config, 40);
        let mut path = path.lose(&[40, 44, 48, 52, 56]);
        path.transfer(400_000);
        path.run();
        assert_eq!(path.ends[SERVER].received(), 400_000);
        assert_eq!(path.ends[CLIENT].statistics().retransmitted_segments, 5);
        let told = algorithm.told.lock().unwrap();
        told.recovered[0].since(told.congestions[0].now)
    };
    // Five holes, 100 ms per round trip.
    assert_eq!((repair(sack()), repair(plain())), (ms(100), ms(500)));
}

#[test]
fn nothing_grows_on_acks_of_fast_recovery() {
    let (path, algorithm) = fixed(sack(), 20);
    let mut path = path.lose(&[20]);
    path.transfer(60_000);
    path.run();
    let recorded = algorithm.told.lock().unwrap();
    let in_recovery = |ack: &&Ack| ack.phase == Phase::Recovery;
    let begin = recorded.acks.iter().position(|ack| in_recovery(&ack)).unwrap();
    let count = recorded.acks.iter().filter(in_recovery).count();
    // From the third duplicate to the ACK of all data outstanding then, inclusive.
    let episode = &recorded.acks[begin..begin + count];
    assert!(episode.iter().all(|ack| ack.phase == Phase::Recovery && !ack.may_grow()));
    // The second twenty segments, and two of limited transmit.
    assert_eq!(episode[count - 1].snd_una, 42_000);
    assert!(recorded.acks.iter().all(|ack| ack.newly_acked > 0 || ack.newly_delivered > 0));
    // Acknowledged or SACKed data is counted once.
    let delivered: u64 = recorded.acks.iter().map(|ack| ack.newly_delivered).sum();
    assert_eq!(delivered, 60_001, "60,000 bytes and the FIN");
}

#[test]
fn growth_counts_as_the_profile_specifies() {
    let delayed_ack = Some(DelayedAck { segments: 4, timeout: ms(200), quick: 0, adaptive: false });
    for (growth, each) in [(Growth::PerAck, 1.0), (Growth::PerSegment, 4.0), (Growth::Abc(2), 2.0)] {
        let (mut path, algorithm) = fixed(Config { growth, delayed_ack, ..plain() }, 40);
        path.ends[CLIENT].open(Instant::ZERO);
        path.ends[CLIENT].write(400_000);
        path.flush(CLIENT);
        path.run_until(at(5_000));
        let recorded = algorithm.told.lock().unwrap();
        assert_eq!(recorded.acks.len(), 100);
        assert!(recorded.acks.iter().all(|ack| ack.growth == each), "{growth:?}");
    }
}

#[test]
fn a_window_that_is_not_used_is_not_limiting() {
    let (mut path, algorithm) = fixed(plain(), 100);
    path.ends[CLIENT].open(Instant::ZERO);
    path.flush(CLIENT);
    for n in 1..50 {
        path.run_until(at(n * 200));
        path.ends[CLIENT].write(10_000);
        path.flush(CLIENT);
    }
    path.run_until(at(11_000));
    // Ten segments of a hundred: neither full nor half full.
    assert!(algorithm.told.lock().unwrap().acks.iter().all(|ack| !ack.cwnd_limited));
    let limited = path.ends[CLIENT].limited(path.now);
    assert_eq!(limited.application, Duration::from_secs(11));

    let (mut path, algorithm) = fixed(plain(), 10);
    path.transfer(100_000);
    path.run();
    assert!(algorithm.told.lock().unwrap().acks.iter().all(|ack| ack.cwnd_limited));
}

#[test]
fn the_receive_window_limits_where_it_is_the_minimum() {
    let (mut path, algorithm) = fixed(Config { receive_buffer: Bytes(5_000), ..plain() }, 100);
    path.transfer(100_000);
    let mut max_inflight = 0;
    while path.step() && path.ends[SERVER].received() < 100_000 {
        max_inflight = max_inflight.max(path.ends[CLIENT].snapshot().inflight);
    }
    assert_eq!(max_inflight, 5_000);
    assert!(algorithm.told.lock().unwrap().acks.iter().all(|ack| !ack.cwnd_limited));
    // 100 ms of handshake, then 20 windows of 100 ms, the last to the receiver only.
    let limited = path.ends[CLIENT].limited(path.now);
    assert_eq!((path.now, limited.rwnd), (at(2_050), ms(1_950)));
}

#[test]
fn samples_are_exact_or_ticks_as_the_profile_specifies() {
    // 50.4 ms in each direction.
    let rtt = |rtt_samples| {
        let (path, algorithm) = fixed(Config { timestamps: true, rtt_samples, ..sack() }, 10);
        let mut path = path.bend(|_, delay| vec![delay + Duration::from_micros(400)]);
        path.transfer(50_000);
        path.run();
        let told = algorithm.told.lock().unwrap();
        told.acks.iter().filter_map(|ack| ack.rtt).collect::<Vec<_>>()
    };
    assert!(rtt(RttSamples::SendTime).iter().all(|rtt| *rtt == Duration::from_micros(100_800)));
    assert!(rtt(RttSamples::Timestamp).iter().all(|rtt| [ms(100), ms(101)].contains(rtt)));
}

#[test]
fn karn_takes_no_sample_from_retransmitted_data() {
    let (path, algorithm) = fixed(plain(), 10);
    // The third flight is late by 2 s: the timer of 1 s fires, and everything is retransmitted.
    let mut path = path.bend(|sent, delay| {
        let late = sent.segment.len > 0 && (20..30).contains(&sent.data_index);
        vec![if late { delay + ms(2_000) } else { delay }]
    });
    path.transfer(60_000);
    path.run();
    assert_eq!(path.ends[SERVER].received(), 60_000);
    let told = algorithm.told.lock().unwrap();
    assert!(told.acks.iter().filter_map(|ack| ack.rtt).all(|rtt| rtt == ms(100)));
    assert!(path.ends[CLIENT].statistics().timeouts > 0);
}

#[test]
fn one_sample_a_round_moves_the_rto_slower_than_one_an_ack() {
    let rto = |rtt_samples| {
        let (mut path, _) = fixed(Config { rtt_samples, ..plain() }, 10);
        let mut rto = path.ends[CLIENT].snapshot().rto;
        path.transfer(40_000);
        while path.step() && path.ends[SERVER].received() < 30_000 {
            rto = path.ends[CLIENT].snapshot().rto;
        }
        rto
    };
    // Both are at the minimum of 1 s here; below it the variance would distinguish them.
    assert_eq!((rto(RttSamples::SendTime), rto(RttSamples::OnePerRound)), (ms(1_000), ms(1_000)));
    let fine = |rtt_samples, scaled_gains| {
        let mut config = Config { rtt_samples, ..plain() };
        config.rto.min = ms(1);
        config.rto.scaled_gains = scaled_gains;
        let (mut path, _) = fixed(config, 10);
        path.transfer(40_000);
        path.run_until(at(310));
        path.ends[CLIENT].snapshot().rto
    };
    // Handshake: variance 50 ms. One per round: 50 · (3/4)² = 28.125 ms after two rounds, RTO 100 + 112.5 ms.
    assert_eq!(fine(RttSamples::OnePerRound, false), Duration::from_micros(212_500));
    // Twenty samples: 50 · (3/4)²⁰ = 0.1586 ms, below the floor of 1 ms: 4 · 0.1586 < 1.
    assert_eq!(fine(RttSamples::SendTime, false), ms(101));
    // With ten in flight five are expected: 50 · (1 - 1/20)²⁰ = 17.924 ms; two per round trip give the history of one.
    assert_eq!(fine(RttSamples::SendTime, true).as_nanos() / 1_000, 171_697);
    assert_eq!(fine(RttSamples::OnePerRound, true), Duration::from_micros(212_500));
}

#[test]
fn a_stall_before_a_timeout_counts_as_waiting_for_it() {
    let (path, _) = fixed(plain(), 4);
    let mut path = path.lose(&[4, 5, 6, 7]);
    path.ends[CLIENT].open(Instant::ZERO);
    path.ends[CLIENT].write(40_000);
    path.flush(CLIENT);
    path.run_until(at(3_000));
    // Segments 0 to 3 are acknowledged at 200 ms; the timer of 1 s fires at 1.2 s; the repair ends at 1.3 s.
    let limited = path.ends[CLIENT].limited(path.now);
    assert_eq!(limited.timeout, ms(1_100));
    assert_eq!(path.ends[CLIENT].statistics().timeouts, 1);
}
