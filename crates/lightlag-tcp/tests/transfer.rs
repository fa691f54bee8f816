//! Transfers over a path: packet counts, fast retransmit, SACK recovery, timeouts, the handshake and the close.

mod path;

use lightlag_control::congestion::{Cause, Needs, Phase};
use lightlag_core::{Duration, Instant};
use lightlag_tcp::config::{DelayedAck, Scheme};
use lightlag_tcp::segment::{Flags, SeqNumber};
use lightlag_tcp::{Config, Failure, Profile, State};
use path::{CLIENT, Fixed, Halving, Path, SERVER, plain};

fn ms(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

/// Returns a path whose client uses [`Halving`], Reno's window, and ten segments of 1000 bytes initially.
fn halving(config: Config, delay_ms: u64) -> Path {
    let mut path = Path::new(config.clone(), delay_ms);
    let client = lightlag_tcp::Connection::client(config.into(), SeqNumber(1_000));
    path.ends[CLIENT] = client.with_congestion(Box::new(Halving::new(1_000, 10)), Needs::NONE);
    path
}

fn fixed(config: Config, delay_ms: u64, window: u64) -> (Path, Fixed) {
    let mut path = Path::new(config.clone(), delay_ms);
    let algorithm = Fixed { window, ..Fixed::default() };
    let client = lightlag_tcp::Connection::client(config.into(), SeqNumber(1_000));
    path.ends[CLIENT] = client.with_congestion(Box::new(algorithm.clone()), Needs::NONE);
    (path, algorithm)
}

fn sack() -> Config {
    Config { sack: true, recovery: Scheme::Sack, ..plain() }
}

fn flags(path: &Path, from: usize) -> Vec<Flags> {
    path.log.iter().filter(|sent| sent.from == from && sent.segment.len == 0).map(|sent| sent.segment.flags).collect()
}

#[test]
fn open_and_close_take_the_segments_of_the_book() {
    let mut path = Path::new(plain(), 50);
    path.ends[CLIENT].open(path.now);
    path.flush(CLIENT);
    path.run_until(ms(100));
    path.ends[CLIENT].close();
    path.flush(CLIENT);
    path.run();
    let fin = Flags::FIN.with(Flags::ACK);
    assert_eq!(flags(&path, CLIENT), [Flags::SYN, Flags::ACK, fin, Flags::ACK]);
    assert_eq!(flags(&path, SERVER), [Flags::SYN.with(Flags::ACK), Flags::ACK, fin]);
    assert_eq!(path.ends[SERVER].state(), State::Closed);
    // SYN 0, SYN-ACK 50, FIN 100, ACK and FIN 150, ACK 200; TIME-WAIT ends four minutes after.
    assert_eq!(path.now, ms(200 + 240_000));
    assert_eq!(path.ends[CLIENT].state(), State::Closed);
    assert_eq!(path.ends[CLIENT].statistics().failure, None);
}

#[test]
fn every_segment_is_acknowledged_without_delayed_acks_and_every_second_with_them() {
    for (delayed, acks) in [(None, 100), (Some(2), 50), (Some(4), 25)] {
        let delayed_ack = delayed.map(|segments| DelayedAck {
            segments,
            timeout: Duration::from_millis(200),
            quick: 0,
            adaptive: false,
        });
        let mut path = halving(Config { delayed_ack, ..plain() }, 50);
        path.ends[CLIENT].open(Instant::ZERO);
        path.ends[CLIENT].write(100_000);
        path.flush(CLIENT);
        path.run_until(ms(10_000));
        assert_eq!(path.data(CLIENT).len(), 100);
        assert_eq!(path.ends[SERVER].received(), 100_000);
        assert_eq!(path.pure_acks(SERVER).len(), acks);
    }
}

#[test]
fn the_odd_segment_waits_for_the_timer() {
    let delayed_ack = Some(DelayedAck { segments: 2, timeout: Duration::from_millis(200), quick: 0, adaptive: false });
    let mut path = halving(Config { delayed_ack, ..plain() }, 50);
    path.ends[CLIENT].open(Instant::ZERO);
    path.ends[CLIENT].write(3_000);
    path.flush(CLIENT);
    path.run_until(ms(10_000));
    let acks: Vec<Instant> = path.pure_acks(SERVER).iter().map(|ack| ack.at).collect();
    // Data is sent at 100 ms and arrives at 150 ms.
    assert_eq!(acks, [ms(150), ms(350)]);
}

#[test]
fn fast_retransmit_after_the_third_duplicate() {
    let mut path = halving(plain(), 50).lose(&[3]);
    path.transfer(30_000);
    path.run_until(ms(299));
    // 3 ACKs open the window by 3 and release 6; then dup 1 and 2 release one new segment each, dup 3 the fourth.
    // FlightSize without the segments of limited transmit: 16 − 3 = 13.
    let order = path.order(1_000);
    assert_eq!(&order[..16], (0..16).collect::<Vec<_>>());
    assert_eq!(&order[16..19], [16, 17, 3]);
    let snapshot = path.ends[CLIENT].snapshot();
    assert_eq!((snapshot.phase, snapshot.ssthresh), (Phase::Recovery, 6_500));
    path.run();
    assert_eq!(path.ends[SERVER].received(), 30_000);
    let statistics = path.ends[CLIENT].statistics();
    assert_eq!((statistics.retransmitted_segments, statistics.recoveries, statistics.timeouts), (1, 1, 0));
}

#[test]
fn two_losses_with_sack_are_repaired_in_one_round_trip() {
    let mut path = halving(sack(), 50).lose(&[2, 4]);
    path.transfer(30_000);
    let mut max_excess = 0;
    while path.step() {
        let snapshot = path.ends[CLIENT].snapshot();
        if snapshot.phase == Phase::Recovery {
            max_excess = max_excess.max(snapshot.inflight.saturating_sub(snapshot.cwnd.max(12_000)));
        }
    }
    assert_eq!(max_excess, 0, "the pipe never exceeds the window");
    let statistics = path.ends[CLIENT].statistics();
    assert_eq!((statistics.retransmitted_segments, statistics.recoveries, statistics.timeouts), (2, 1, 0));
    let resent: Vec<_> =
        path.data(CLIENT).into_iter().filter(|sent| [2, 4].contains(&((sent.segment.seq.0 - 1_001) / 1_000))).collect();
    assert_eq!(resent.iter().map(|sent| (sent.segment.seq.0 - 1_001) / 1_000).collect::<Vec<_>>(), [2, 4, 2, 4]);
    assert!(resent[3].at.since(resent[2].at) <= Duration::from_millis(100));
    assert_eq!(path.ends[SERVER].received(), 30_000);
}

#[test]
fn the_acks_of_one_loss_have_real_sizes() {
    // Ten segments, the first lost: nine duplicate ACKs, one cumulative.
    let (path, _) = fixed(Config { timestamps: true, ..sack() }, 50, 10_000);
    let mut path = path.lose(&[0]);
    path.ends[CLIENT].open(Instant::ZERO);
    path.ends[CLIENT].write(10_000);
    path.flush(CLIENT);
    path.run_until(ms(5_000));
    let acks = path.pure_acks(SERVER);
    assert_eq!(acks.len(), 10);
    // 20 TCP + 12 timestamps + 4 + 8 for one block.
    assert!(acks[..9].iter().all(|ack| ack.segment.header_len() == 44 && ack.segment.sack().len() == 1));
    assert_eq!(acks[9].segment.header_len(), 32);
    assert_eq!(path.ends[CLIENT].statistics().retransmitted_segments, 1);
}

#[test]
fn a_lost_syn_is_retransmitted_after_a_second_and_data_starts_with_three() {
    let mut first = true;
    let mut path =
        halving(plain(), 50).bend(move |_, delay| if std::mem::take(&mut first) { vec![] } else { vec![delay] });
    path.transfer(1_000);
    path.run_until(ms(1_100));
    assert_eq!(
        path.log.iter().filter(|sent| sent.segment.flags == Flags::SYN).map(|sent| sent.at).collect::<Vec<_>>(),
        [ms(0), ms(1_000)]
    );
    assert_eq!(path.ends[CLIENT].snapshot().rto, Duration::from_secs(3));
    path.run();
    assert_eq!(path.ends[SERVER].received(), 1_000);
}

#[test]
fn an_unanswered_syn_aborts_with_its_reason() {
    let mut path = halving(plain(), 50).bend(|_, _| vec![]);
    path.transfer(1_000);
    path.run();
    assert_eq!(path.ends[CLIENT].state(), State::Closed);
    assert_eq!(path.ends[CLIENT].statistics().failure, Some(Failure::SynTimeout));
    // 1 + 2 + 4 + 8 + 16 + 32 + 60 (the maximum of RFC 6298 in the profile).
    assert_eq!(path.now, ms(123_000));
}

#[test]
fn unacknowledged_data_aborts_with_its_reason() {
    let mut path = halving(plain(), 50).bend(|sent, delay| if sent.segment.len > 0 { vec![] } else { vec![delay] });
    path.transfer(1_000);
    path.run();
    assert_eq!(path.ends[CLIENT].statistics().failure, Some(Failure::Timeout));
    assert_eq!(path.data(CLIENT).len(), 16);
}

#[test]
fn a_timeout_repairs_under_slow_start_and_a_second_one_is_a_repeated_one() {
    let (path, algorithm) = fixed(sack(), 50, 4_000);
    let mut path = path.lose(&[0, 1, 2, 3, 4]);
    path.transfer(20_000);
    path.run();
    assert_eq!(path.ends[SERVER].received(), 20_000);
    let recorded = algorithm.told.lock().unwrap();
    let causes: Vec<Cause> = recorded.congestions.iter().map(|event| event.cause).collect();
    assert_eq!(causes[..2], [Cause::Timeout, Cause::RepeatedTimeout]);
    assert_eq!(recorded.congestions[0].flight, 4_000);
    assert_eq!(recorded.recovered.len(), 1);
}

#[test]
fn the_end_of_a_transfer_is_lost_and_retransmitted() {
    for config in [plain(), sack(), Profile::Linux.config(), Profile::Inet.config(), Profile::Ns3.config()] {
        let size = u64::from(config.mss);
        let mut path = Path::new(config, 50).lose(&[9]);
        path.transfer(10 * size - 500);
        path.run();
        assert_eq!(path.ends[SERVER].received(), 10 * size - 500);
        assert_eq!(path.ends[SERVER].state(), State::Closed);
    }
}

#[test]
fn all_limits_sum_to_the_time_since_open() {
    let mut path = halving(sack(), 50).lose(&[5, 40, 41, 42, 43, 44, 45, 46, 47, 80]);
    path.transfer(200_000);
    path.run_until(ms(9_000));
    let limited = path.ends[CLIENT].limited(path.now);
    let sum = [limited.cwnd, limited.rwnd, limited.application, limited.pacing, limited.recovery, limited.timeout]
        .into_iter()
        .fold(Duration::ZERO, |sum, part| sum + part);
    assert_eq!(sum, Duration::from_secs(9));
    assert!(!limited.cwnd.is_zero() && !limited.recovery.is_zero());
}

#[test]
fn initial_numbers_just_before_the_wrap_change_nothing() {
    let trace = |client: u32, server: u32| {
        let config = Profile::Linux.config();
        let mut path = Path::with_numbers(config, 50, SeqNumber(client), SeqNumber(server)).lose(&[3, 17, 18, 40]);
        path.transfer(200_000);
        path.run();
        assert_eq!(path.ends[SERVER].received(), 200_000);
        path.log
            .iter()
            .map(|sent| (sent.at, sent.from, sent.segment.len, sent.segment.sack().len()))
            .collect::<Vec<_>>()
    };
    assert_eq!(trace(0u32.wrapping_sub(5_000), 0), trace(0, 0u32.wrapping_sub(1)));
}
