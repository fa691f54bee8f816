use super::*;
use crate::congestion::Allowance;
use crate::congestion::tests::{SEGMENT, ack, assert_within, congestion, start};
use lightlag_core::Duration;
use lightlag_core::Instant;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(micros: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(micros)
}

/// Returns STAR on a path of 0.5 s, after 20 s with an ACK of a segment every 800 µs: 1.25 MB/s in segments of 1000 B.
fn star(window: u64) -> Star {
    let mut star = Star::new(&Config::default(), &start(window));
    (0..25_000).for_each(|n| star.on_ack(&Ack { cwnd_limited: false, ..ack(at(800 * n), ms(500)) }));
    star
}

fn event(cause: Cause) -> Congestion {
    Congestion { now: at(20_000_000), min_rtt: ms(500), srtt: ms(500), ..congestion(cause, 700.0) }
}

/// Returns the window and the threshold in segments.
fn state(star: &Star) -> (f64, f64) {
    (star.window() as f64 / SEGMENT as f64, star.window.threshold())
}

#[test]
fn a_loss_leaves_what_the_path_holds() {
    // 1.25 MB/s · 0.5 s = 625 segments, of 700.
    for cause in [Cause::Loss, Cause::Mark] {
        let mut star = star(700);
        star.on_congestion(&event(cause));
        assert_within("W", state(&star).0, 625.0, 1e-4);
        assert_within("ssthresh", state(&star).1, 625.0, 1e-4);
        star.on_undo(at(20_000_001));
        assert_eq!(state(&star), (700.0, f64::INFINITY));
    }
}

#[test]
fn a_loss_takes_no_more_than_half_of_the_window_and_never_raises_it() {
    // Half of 2000 is more than 625.
    let mut large = star(2000);
    large.on_congestion(&event(Cause::Loss));
    assert_eq!(state(&large), (1000.0, 1000.0));
    let mut small = star(100);
    small.on_congestion(&event(Cause::Loss));
    assert_eq!(state(&small).0, 100.0);
    assert_within("ssthresh", state(&small).1, 625.0, 1e-4);
}

#[test]
fn a_timeout_leaves_one_segment_and_the_estimate_as_threshold() {
    for window in [700, 2000] {
        let mut star = star(window);
        star.on_congestion(&event(Cause::Timeout));
        assert_eq!(state(&star).0, 1.0);
        assert_within("ssthresh", state(&star).1, 625.0, 1e-4);
    }
}

/// Returns the growth by an ACK in congestion avoidance at a window of `window` segments.
fn growth(window: u64) -> f64 {
    let mut star = star(window);
    star.window.leave_slow_start();
    star.on_ack(&ack(at(20_000_000), ms(500)));
    star.window.segments() - window as f64
}

#[test]
fn growth_lifts_the_window_to_what_the_path_holds() {
    // (625 − W)/W, at most 1, at least Reno's 1/W.
    for (window, expected) in
        [(100, 1.0), (500, 125.0 / 500.0), (600, 25.0 / 600.0), (625, 1.0 / 625.0), (900, 1.0 / 900.0)]
    {
        assert_within(&format!("growth at {window}"), growth(window), expected, 2e-3);
    }
}

#[test]
fn from_half_of_the_path_it_takes_as_long_as_an_exponential_does() {
    // With an ACK per segment the gap shrinks by its own size a round trip: dW = (ownd − W)/W for each of W ACKs. The
    // ACKs arrive at a constant 1250 per second: after W(0) = 320, (ownd − W) e^(W/ownd) …, or numerically:
    let mut star = star(320);
    star.window.leave_slow_start();
    let mut expected = 320.0_f64;
    for n in 0..2000 {
        star.on_ack(&ack(at(20_000_000 + 800 * n), ms(500)));
        expected += ((625.0 - expected) / expected).clamp(1.0 / expected, 1.0);
    }
    assert_within("W", state(&star).0, expected, 1e-2);
    assert!(expected > 600.0, "{expected}");
}

#[test]
fn silence_is_tolerated_once_until_an_ack_arrives() {
    let mut star = star(20);
    assert_eq!([star.bears_silence(), star.bears_silence(), star.bears_silence()], [true, false, false]);
    // A duplicate ACK has no new information.
    star.on_ack(&Ack { newly_acked: 0, duplicate: true, ..ack(at(20_000_000), ms(500)) });
    assert!(!star.bears_silence());
    star.on_ack(&ack(at(20_000_001), ms(500)));
    assert!(star.bears_silence());
    let impatient = Config { timeout_grace: false, ..Config::default() };
    assert_eq!([Config::default(), impatient].map(|config| config.needs(false).patience), [true, false]);
}
