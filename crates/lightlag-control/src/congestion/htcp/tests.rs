use super::*;
use crate::congestion::Allowance;
use crate::congestion::tests::{SEGMENT, Steady, ack, assert_within, congestion, start};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds)
}

/// Returns H-TCP in congestion avoidance after rounds of `window` segments at 100 ms; the RTT of the last ACK is
/// `largest`.
fn after_rounds(window: u64, largest: Duration) -> Htcp {
    let mut htcp = Htcp::new(&Config::default(), &start(window));
    htcp.window.leave_slow_start();
    rounds(&mut htcp, 0.0, window, largest);
    htcp
}

/// Runs three rounds from the time `begin`, in which the window does not grow.
fn rounds(htcp: &mut Htcp, begin: f64, window: u64, largest: Duration) {
    for n in 0..=3 * window {
        let rtt = if n == 3 * window { largest } else { ms(100) };
        let base = (begin * 1e6) as u64;
        htcp.on_ack(&Ack {
            snd_una: base + n * SEGMENT,
            snd_nxt: base + (n + window) * SEGMENT,
            min_rtt: ms(100),
            cwnd_limited: false,
            ..ack(at(begin + 0.1 * n as f64 / window as f64), rtt)
        });
    }
}

fn loss(htcp: &mut Htcp, seconds: f64) -> f64 {
    let event = Congestion { now: at(seconds), min_rtt: ms(100), ..congestion(Cause::Loss, 10.0) };
    htcp.on_congestion(&event);
    htcp.epoch.beta
}

#[test]
fn alpha_has_its_values() {
    let config = Config::default();
    for (since, alpha) in
        [(0.0, 1.0), (1.0, 1.0), (1.5, 6.0625), (2.0, 11.25), (3.0, 22.0), (6.0, 57.25), (11.0, 126.0)]
    {
        let since = Duration::from_secs_f64(since);
        assert_eq!(config.alpha(since), alpha, "{since}");
        assert_eq!(config.scaled_alpha(since, 0.5), alpha, "{since}");
        // 2·(1 − 0.8) = 0.4, and never below 1.
        assert!((config.scaled_alpha(since, 0.8) - (0.4 * alpha).max(1.0)).abs() < 1e-9, "{since}");
    }
}

#[test]
fn beta_is_the_ratio_of_the_round_trip_times_within_its_bounds() {
    for (largest, beta) in [(ms(160), 0.625), (ms(125), 0.8), (ms(110), 0.8), (ms(200), 0.5), (ms(400), 0.5)] {
        let mut htcp = after_rounds(100, largest);
        // The first loss has no throughput to compare with.
        assert_eq!(loss(&mut htcp, 0.4), 0.5);
        rounds(&mut htcp, 1.0, 100, largest);
        assert!((loss(&mut htcp, 1.4) - beta).abs() < 1e-9, "{largest}: {}", htcp.epoch.beta);
    }
}

#[test]
fn a_throughput_that_changed_by_more_than_a_fifth_halves() {
    for (window, beta) in [(100, 0.625), (119, 0.625), (81, 0.625), (121, 0.5), (79, 0.5)] {
        let mut htcp = after_rounds(100, ms(160));
        loss(&mut htcp, 0.4);
        rounds(&mut htcp, 1.0, window, ms(160));
        assert_eq!(loss(&mut htcp, 1.4), beta, "{window}");
    }
}

#[test]
fn a_loss_keeps_beta_of_the_window() {
    let mut htcp = after_rounds(100, ms(160));
    loss(&mut htcp, 0.4);
    assert_eq!(htcp.window.segments(), 50.0);
    rounds(&mut htcp, 1.0, 100, ms(160));
    loss(&mut htcp, 1.4);
    assert_eq!((htcp.window.segments(), htcp.window.threshold()), (31.25, 31.25));
    let memory = htcp.epoch;
    htcp.on_congestion(&Congestion { now: at(1.5), ..congestion(Cause::Timeout, 30.0) });
    assert_eq!(htcp.window(), SEGMENT);
    htcp.on_undo(at(1.6));
    assert_eq!((htcp.window.segments(), htcp.epoch.begin, htcp.epoch.beta), (31.25, memory.begin, memory.beta));
}

#[test]
fn the_window_is_the_integral_of_alpha() {
    // ∫α dΔ over 11 s = 1 + 10 + 5·10² + 10³/12 = 594.33; over RTT 0.1 s: 5943 segments.
    let mut path = Steady::new(r#""htcp""#, ms(100));
    path.avoid_from(100.0);
    path.react(Cause::Loss);
    let (begin, first) = (path.now, path.window());
    while path.now < begin + Duration::from_secs(11) {
        path.acknowledge();
    }
    assert_within("the window", path.window() - first, 5943.3, 0.005);
}

#[test]
fn an_idle_time_restarts_as_after_a_loss() {
    let mut htcp = after_rounds(100, ms(100));
    loss(&mut htcp, 0.4);
    htcp.on_idle(at(20.0), 10 * SEGMENT, 10 * SEGMENT);
    assert_eq!(htcp.window.segments(), 10.0);
    htcp.window.leave_slow_start();
    htcp.on_ack(&ack(at(20.5), ms(100)));
    assert_eq!(htcp.window.segments(), 10.1);
}
