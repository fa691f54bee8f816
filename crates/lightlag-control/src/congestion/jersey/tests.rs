use super::*;
use crate::congestion::Allowance;
use crate::congestion::tests::{SEGMENT, ack, assert_within, congestion, start};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + ms(millis)
}

/// Returns Jersey after `count` ACKs of a segment each, `every_ms` apart, on a path of 100 ms; SRTT is 200 ms.
fn jersey(ecn: bool, window: u64, every_ms: u64, count: u64) -> Jersey {
    let mut jersey = Jersey::new(&Config::default(), &ConnectionStart { ecn, ..start(window) });
    for n in 0..count {
        let ready = ack(at(every_ms * n), ms(200));
        jersey.on_ack(&Ack { min_rtt: ms(100), cwnd_limited: false, ..ready });
    }
    jersey
}

fn warn(jersey: &mut Jersey) {
    jersey.on_ack(&Ack { ece: true, min_rtt: ms(100), newly_delivered: 0, newly_acked: 0, ..ack(at(9_999), ms(200)) });
}

fn event(cause: Cause) -> Congestion {
    Congestion { now: at(10_000), min_rtt: ms(100), srtt: ms(200), ..congestion(cause, 20.0) }
}

/// Returns the window and the threshold in segments.
fn state(jersey: &Jersey) -> (f64, f64) {
    (jersey.window() as f64 / SEGMENT as f64, jersey.window.threshold())
}

#[test]
fn the_estimate_has_its_values() {
    // Tw = 100 ms, an ACK of one segment each 10 ms: R = (0.1 R + 1)/0.11.
    let mut estimate = AckRate::new(1.0);
    let mut expected = 0.0;
    estimate.on_ack(&ack(at(0), ms(100)), 1.0);
    for n in 1..400 {
        estimate.on_ack(&ack(at(10 * n), ms(100)), 1.0);
        expected = (0.1 * expected + 1.0) / 0.11;
        assert_within("R", estimate.rate, expected, 1e-12);
        if n == 1 {
            assert_within("the first", estimate.rate, 9.0909, 1e-4);
        }
    }
    // Its fixed point is L/t = 100.
    assert_within("R", estimate.rate, 100.0, 1e-9);
    // A pause as long as the window halves R, and the ACK adds little: (0.1 · 100 + 1)/0.2.
    estimate.on_ack(&ack(at(10 * 399 + 100), ms(100)), 1.0);
    assert_within("R", estimate.rate, 55.0, 1e-9);
    // ACKs that deliver nothing change nothing.
    estimate.on_ack(&ack(at(10_000), ms(100)), 0.0);
    assert_within("R", estimate.rate, 55.0, 1e-9);
    assert_within("ownd", estimate.fills(ms(500)), 27.5, 1e-9);
    assert_eq!(estimate.fills(Duration::MAX), 0.0);
}

#[test]
fn ownd_of_a_satellite_path() {
    // 1.25 MB/s in segments of 1000 B on a path of 0.5 s.
    let estimate = AckRate { rate: 1_250.0, rtts: 1.0, last: None };
    assert_within("ownd", estimate.fills(ms(500)), 625.0, 1e-12);
}

#[test]
fn a_loss_without_a_warning_leaves_the_window() {
    let mut jersey = jersey(true, 20, 10, 1000);
    let before = state(&jersey);
    jersey.on_congestion(&event(Cause::Loss));
    assert_eq!(state(&jersey), before);
    jersey.on_undo(at(10_001));
    assert_eq!(state(&jersey), before);
}

#[test]
fn with_a_warning_the_window_is_what_the_path_holds() {
    // 100 segments per second for SRTT = 200 ms; the warning came before the loss.
    for cause in [Cause::Loss, Cause::Mark] {
        let mut jersey = jersey(true, 30, 10, 1000);
        warn(&mut jersey);
        jersey.on_congestion(&event(cause));
        assert_within("W", state(&jersey).0, 20.0, 1e-3);
        assert_within("ssthresh", state(&jersey).1, 20.0, 1e-3);
    }
    // No reaction opens the window.
    let mut small = jersey(true, 12, 10, 1000);
    warn(&mut small);
    small.on_congestion(&event(Cause::Loss));
    assert_eq!(state(&small).0, 12.0);
    assert_within("ssthresh", state(&small).1, 20.0, 1e-3);
}

#[test]
fn the_minimum_round_trip_time_empties_the_queue() {
    let config = Config { window_rtt: WindowRtt::Smallest, ..Config::default() };
    let mut jersey = Jersey::new(&config, &ConnectionStart { ecn: true, ..start(30) });
    (0..1000).for_each(|n| jersey.on_ack(&Ack { cwnd_limited: false, ..ack(at(10 * n), ms(200)) }));
    jersey.on_congestion(&event(Cause::Mark));
    assert_within("W", state(&jersey).0, 10.0, 1e-3);
}

#[test]
fn a_warning_stops_growth() {
    let mut jersey = jersey(true, 10, 10, 100);
    jersey.on_ack(&Ack { ece: true, ..ack(at(2_000), ms(200)) });
    assert_eq!(state(&jersey).0, 10.0);
    jersey.on_ack(&ack(at(2_010), ms(200)));
    assert_eq!(state(&jersey).0, 11.0);
}

#[test]
fn without_warnings_a_loss_leaves_what_the_path_holds_without_its_queue() {
    // 100 segments per second for RTTmin = 100 ms.
    let mut jersey = jersey(false, 30, 10, 1000);
    assert_eq!([false, true].map(|ecn| Config::default().needs(ecn).controls_recovery), [false, true]);
    jersey.on_congestion(&event(Cause::Loss));
    assert_within("W", state(&jersey).0, 10.0, 1e-3);
    jersey.on_undo(at(10_001));
    assert_eq!(state(&jersey), (30.0, f64::INFINITY));
}

#[test]
fn a_timeout_leaves_one_segment_and_the_estimate_as_threshold() {
    let mut jersey = jersey(true, 30, 10, 1000);
    jersey.on_congestion(&event(Cause::Timeout));
    assert_eq!(state(&jersey).0, 1.0);
    assert_within("ssthresh", state(&jersey).1, 20.0, 1e-3);
}
