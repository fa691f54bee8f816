use super::*;
use crate::congestion::tests::ack as plain_ack;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn hystart() -> HyStart {
    HyStart::new(&Config::of(Policy::HyStart), false)
}

/// Returns an ACK in the round that ends at the stream offset 1,000,000.
fn ack(at_ms: u64, rtt: Duration, min_rtt: Duration) -> Ack {
    let now = Instant::ZERO + ms(1000 + at_ms);
    Ack { min_rtt, snd_una: 1000, snd_nxt: 1_000_000, ..plain_ack(now, rtt) }
}

/// Sends ACKs 10 ms apart. Returns the number of the first one that ends slow start, if one does.
fn ends_at(rtt: Duration, min_rtt: Duration) -> Option<u64> {
    let mut hystart = hystart();
    (1..=50).find(|n| hystart.ends_slow_start(&ack(10 * n, rtt, min_rtt), 20.0))
}

#[test]
fn a_rise_of_an_eighth_within_4_and_16_ms_ends_slow_start() {
    for (min_rtt, rise) in [(16, 4), (100, 12), (128, 16), (600, 16)] {
        let threshold = ms(min_rtt) + ms(rise) + if min_rtt == 100 { Duration::from_micros(500) } else { ms(0) };
        assert_eq!(ends_at(threshold, ms(min_rtt)), None, "RTT {threshold}, smallest {min_rtt} ms");
        let more = threshold + Duration::from_nanos(1);
        // The ninth ACK arrives after the eight samples.
        assert_eq!(ends_at(more, ms(min_rtt)), Some(9), "RTT {more}, smallest {min_rtt} ms");
    }
}

#[test]
fn one_sample_without_delay_clears_the_round() {
    let mut hystart = hystart();
    for n in 0..50 {
        let rtt = if n == 3 { ms(101) } else { ms(200) };
        assert!(!hystart.ends_slow_start(&ack(10 * n, rtt, ms(100)), 20.0));
    }
}

#[test]
fn a_train_longer_than_half_the_minimum_rtt_ends_slow_start() {
    let mut hystart = hystart();
    // (100 + 1)/2 = 50.5 ms after the start of the round.
    for at in (0..=50).step_by(2) {
        assert!(!hystart.ends_slow_start(&ack(at, ms(100), ms(100)), 20.0), "{at} ms");
    }
    assert!(hystart.ends_slow_start(&ack(52, ms(100), ms(100)), 20.0));
}

#[test]
fn a_sender_that_paces_is_given_a_whole_round_trip() {
    // As in tcp_cubic.c: the threshold is halved only without pacing.
    let mut hystart = HyStart::new(&Config::of(Policy::HyStart), true);
    for at in (0..=100).step_by(2) {
        assert!(!hystart.ends_slow_start(&ack(at, ms(100), ms(100)), 20.0), "{at} ms");
    }
    assert!(hystart.ends_slow_start(&ack(102, ms(100), ms(100)), 20.0));
}

#[test]
fn a_gap_breaks_the_train() {
    let mut hystart = hystart();
    for at in (0..=20).chain(23..100) {
        assert!(!hystart.ends_slow_start(&ack(at, ms(100), ms(100)), 20.0), "{at} ms");
    }
}

#[test]
fn a_new_round_starts_when_its_data_is_acknowledged() {
    let mut hystart = hystart();
    assert!(!hystart.ends_slow_start(&ack(0, ms(100), ms(100)), 20.0));
    let next = |at| Ack { snd_una: 1_000_001, snd_nxt: 2_000_000, ..ack(at, ms(100), ms(100)) };
    assert!(!hystart.ends_slow_start(&next(100), 40.0));
    assert_eq!((hystart.round_start, hystart.round_end), (next(100).now, 2_000_000));
}

#[test]
fn a_small_window_is_left_alone() {
    let mut hystart = hystart();
    for n in 0..50 {
        assert!(!hystart.ends_slow_start(&ack(n, ms(200), ms(100)), 15.9));
    }
}

#[test]
fn rounds_count_from_the_first_ack() {
    // Linux 6.18 over 10 Mbit/s and 200 ms: rounds start with the flights of 10, 20, 40 segments. If they started at a
    // window of 16, amid a flight, they would see the queue of its second half and end slow start a round too early.
    let mut hystart = hystart();
    let round = |at, una, nxt| Ack { snd_una: una, snd_nxt: nxt, ..ack(at, ms(200), ms(200)) };
    for (at, una, nxt, window) in [(400, 1, 10, 10.0), (409, 10, 28, 19.0), (600, 11, 30, 20.0), (803, 31, 70, 40.0)] {
        assert!(!hystart.ends_slow_start(&round(at, una, nxt), window));
    }
    assert_eq!((hystart.round_start, hystart.round_end), (round(803, 31, 70).now, 70));
}

#[test]
fn late_rounds_start_at_the_low_window() {
    let mut hystart = HyStart::new(&Config { late_rounds: true, ..Config::of(Policy::HyStart) }, false);
    let round = |at, una, nxt| Ack { snd_una: una, snd_nxt: nxt, ..ack(at, ms(200), ms(200)) };
    for (at, una, nxt, window) in [(400, 1, 10, 10.0), (405, 6, 20, 15.0)] {
        assert!(!hystart.ends_slow_start(&round(at, una, nxt), window));
        assert!(!hystart.started);
    }
    assert!(!hystart.ends_slow_start(&round(407, 7, 22), 16.0));
    assert_eq!((hystart.round_start, hystart.round_end), (round(407, 7, 22).now, 22));
}

#[test]
fn slow_start_ends_at_the_window() {
    let mut window = Window::new(&crate::congestion::tests::start(20));
    let mut watching = hystart();
    for n in 1..=9 {
        watching.watch(&ack(10 * n, ms(200), ms(100)), &mut window);
    }
    assert_eq!((window.threshold(), window.segments()), (20.0, 20.0));
    assert!(!window.in_slow_start());
}

#[test]
fn after_a_timeout_an_outage_does_not_count_as_a_queue() {
    // Linux 6.18, an outage of 4 s on a path of 600 ms that is undone: round trips of 4.6 s, 1 ms apart, 1.3 s after
    // the timeout, end slow start neither as a delay above 600 ms nor as a train that is longer than half of that.
    let mut hystart = hystart();
    assert!(!hystart.ends_slow_start(&ack(0, ms(600), ms(600)), 100.0));
    hystart.time_out(Instant::ZERO + ms(1000 + 3_300));
    for n in 0..50 {
        assert!(!hystart.ends_slow_start(&ack(4_600 + n, ms(4_600), ms(600)), 100.0), "{n}");
    }
    assert_eq!(hystart.round_end, 1_000_000, "the round lasts as long as the data outstanding at the timeout");
    // The next round measures by the new smallest round trip.
    let next = |at, rtt| Ack { snd_una: 1_000_001, snd_nxt: 2_000_000, ..ack(at, rtt, ms(600)) };
    assert!(!hystart.ends_slow_start(&next(5_200, ms(600)), 150.0));
    let ended = (0..400).find(|n| hystart.ends_slow_start(&next(5_200 + n, ms(600)), 150.0));
    // (600 + 1)/2 = 300.5 ms.
    assert_eq!(ended, Some(301));
}
