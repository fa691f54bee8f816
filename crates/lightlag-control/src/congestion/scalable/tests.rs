use super::*;
use crate::congestion::Allowance;
use crate::congestion::tests::{SEGMENT, Steady, ack, assert_within, congestion, start};
use crate::congestion::{Cause, Phase};
use lightlag_core::{Duration, Instant};

const RTT: Duration = Duration::from_millis(100);

/// Returns Scalable TCP in congestion avoidance at a window of `window` segments.
fn avoiding(window: u64) -> Scalable {
    let mut scalable = Scalable::new(&Config::default(), &start(window));
    scalable.window.leave_slow_start();
    scalable
}

#[test]
fn each_ack_adds_a_hundredth_above_the_legacy_window() {
    for (window, after) in [(1000, 1001.0), (100, 101.0), (17, 18.0)] {
        let mut scalable = avoiding(window);
        (0..100).for_each(|_| scalable.on_ack(&ack(Instant::ZERO, RTT)));
        assert!((scalable.window.segments() - after).abs() < 1e-9, "{window}: {}", scalable.window.segments());
    }
    // Two counted segments add twice as much.
    let mut scalable = avoiding(1000);
    scalable.on_ack(&Ack { growth: 2.0, ..ack(Instant::ZERO, RTT) });
    assert!((scalable.window.segments() - 1000.02).abs() < 1e-9);
}

#[test]
fn up_to_the_legacy_window_it_is_newreno() {
    // 16 + 1/16; 16 is still legacy, the next window is not: 16.0625 + 0.01.
    let mut scalable = avoiding(16);
    scalable.on_ack(&ack(Instant::ZERO, RTT));
    assert_eq!(scalable.window.segments(), 16.0625);
    scalable.on_ack(&ack(Instant::ZERO, RTT));
    assert!((scalable.window.segments() - 16.0725).abs() < 1e-12);
    let mut scalable = avoiding(16);
    scalable.on_congestion(&congestion(Cause::Loss, 16.0));
    assert_eq!(scalable.window(), 8 * SEGMENT);
}

#[test]
fn a_loss_keeps_seven_eighths() {
    let mut scalable = avoiding(1000);
    scalable.on_congestion(&congestion(Cause::Loss, 1000.0));
    assert_eq!((scalable.window(), scalable.ssthresh()), (875 * SEGMENT, 875 * SEGMENT));
}

#[test]
fn a_timeout_leaves_one_segment_and_a_repeated_one_the_threshold() {
    let mut scalable = avoiding(80);
    for cause in [Cause::Timeout, Cause::RepeatedTimeout] {
        scalable.on_congestion(&congestion(cause, 80.0));
        assert_eq!((scalable.window(), scalable.ssthresh()), (SEGMENT, 70 * SEGMENT), "{cause:?}");
    }
    let mut scalable = avoiding(3);
    scalable.on_congestion(&congestion(Cause::Timeout, 3.0));
    assert_eq!((scalable.window(), scalable.ssthresh()), (SEGMENT, 2 * SEGMENT));
}

#[test]
fn the_window_doubles_in_70_round_trips_and_recovers_in_13() {
    // ln 2/ln 1.01 = 69.66; −ln 0.875/ln 1.01 = 13.42, at any window. In rounds of W ACKs, W·e^0.01: 69.3 and 13.35.
    for window in [200.0, 5000.0] {
        let mut path = Steady::new(r#""scalable""#, RTT);
        while path.window() < window {
            path.acknowledge();
        }
        let full = path.window();
        path.react(Cause::Loss);
        let begin = path.now;
        while path.window() < full {
            path.acknowledge();
        }
        assert_within("rounds to recover", path.now.since(begin) / RTT, 13.42, 0.01);
        let begin = path.now;
        while path.window() < 2.0 * full {
            path.acknowledge();
        }
        assert_within("rounds to double", path.now.since(begin) / RTT, 69.66, 0.01);
    }
}

#[test]
fn the_mean_window_under_random_loss_is_inverse_to_it() {
    for p in [1e-3, 1e-4] {
        let (mean, p) = Steady::new(r#""scalable""#, RTT).lose_at_random(p, 3000);
        // Over segments a/(b·p) = 0.08/p; over time a/(−ln(1 − b)·p) = 0.01/0.13353/p = 0.0749/p.
        assert_within(&format!("mean window at {p:.2e}"), mean, 0.08 / p, 0.1);
        assert_within(&format!("mean window over time at {p:.2e}"), mean, 0.0749 / p, 0.05);
    }
}

#[test]
fn it_grows_only_where_it_may() {
    let ready = ack(Instant::ZERO, RTT);
    for held in
        [Ack { cwnd_limited: false, ..ready }, Ack { phase: Phase::Recovery, ..ready }, Ack { newly_acked: 0, ..ready }]
    {
        let mut scalable = avoiding(100);
        scalable.on_ack(&held);
        assert_eq!(scalable.window.segments(), 100.0);
    }
}
