use super::*;
use crate::congestion::Allowance;
use crate::congestion::Cause;
use crate::congestion::tests::bottleneck::Bottleneck;
use crate::congestion::tests::{SEGMENT, ack, assert_within, congestion, start};

const BASE: Duration = Duration::from_millis(100);

/// Returns FAST in congestion avoidance at a window of `window` segments.
fn avoiding(window: f64) -> Fast {
    let mut fast = Fast::new(&Config::default(), &start(10));
    fast.on_congestion(&congestion(Cause::Loss, 2.0 * window));
    fast
}

/// Returns an ACK of one segment at `ms` after the start, with this RTT.
fn after(ms: u64, rtt_ms: u64) -> Ack {
    let rtt = Duration::from_millis(rtt_ms);
    Ack { min_rtt: BASE, ..ack(Instant::ZERO + Duration::from_millis(ms), rtt) }
}

#[test]
fn an_update_moves_half_of_the_distance() {
    // Nothing waits: 100 + 20/2. 20 of 120 wait: the equilibrium. 100 of 200: (200 + 100 + 20)/2.
    for (window, rtt, expected) in [(100.0, 100, 110.0), (120.0, 120, 120.0), (200.0, 200, 160.0), (10.0, 100, 20.0)] {
        let mut fast = avoiding(window);
        fast.on_ack(&after(0, rtt));
        assert_within("the aim", fast.target, expected, 1e-9);
    }
}

#[test]
fn a_rise_is_spread_over_the_round_and_a_fall_is_not() {
    let mut fast = avoiding(100.0);
    for n in 1..=100 {
        fast.on_ack(&after(n, 100));
        assert_within("window", fast.window.segments(), 100.0 + 0.1 * n as f64, 1e-9);
    }
    fast.on_ack(&after(100, 100));
    assert_within("window", fast.window.segments(), 110.0, 1e-9);
    let mut fast = avoiding(200.0);
    fast.on_ack(&after(0, 200));
    assert_eq!(fast.window(), 160 * SEGMENT);
}

#[test]
fn updates_occur_once_per_round_trip_and_not_too_often() {
    for (interval, rtt, expected) in [(20, 100, 100), (20, 5, 20), (250, 100, 250)] {
        let mut fast = avoiding(50.0);
        fast.config.interval = Duration::from_millis(interval);
        fast.on_ack(&Ack { min_rtt: Duration::from_millis(rtt), ..after(1, rtt) });
        let next = fast.next_update;
        assert_eq!(next, Instant::ZERO + Duration::from_millis(1 + expected));
        fast.on_ack(&after(expected, rtt));
        assert_eq!(fast.next_update, next);
    }
}

#[test]
fn an_application_limited_sender_shrinks_but_does_not_grow() {
    for (window, rtt, expected) in [(100.0, 100, 100), (200.0, 200, 160)] {
        let mut fast = avoiding(window);
        fast.on_ack(&Ack { cwnd_limited: false, ..after(0, rtt) });
        assert_eq!(fast.window(), expected * SEGMENT);
    }
}

#[test]
fn the_mean_rtt_weighs_a_sample_by_three_windows() {
    let mut fast = avoiding(100.0);
    fast.on_ack(&after(0, 100));
    fast.on_ack(&after(1, 200));
    let weight = 3.0 / 100.1;
    assert_within("mean", fast.mean.unwrap(), 0.1 + weight * 0.1, 1e-9);
    let mut small = avoiding(4.0);
    small.on_ack(&after(0, 100));
    small.on_ack(&after(1, 200));
    assert_within("mean", small.mean.unwrap(), 0.125, 1e-9);
}

#[test]
fn slow_start_ends_when_more_than_alpha_wait() {
    // 22.5 of 30 segments wait at 400 ms, and the update gives (30 + 7.5 + 20)/2. 15 wait at 200 ms.
    for (smallest, window, threshold) in [(400, 28_750, 28_750), (200, 30_000, u64::MAX)] {
        let mut fast = Fast::new(&Config::default(), &start(30));
        for (rtt, snd_una) in [(400, 0), (400, 0), (smallest, 0), (400, 1)] {
            assert_eq!(fast.window(), 30 * SEGMENT);
            fast.on_ack(&Ack { growth: 0.0, snd_una, snd_nxt: 1, ..after(0, rtt) });
        }
        assert_eq!(fast.ssthresh(), threshold);
        assert_eq!(fast.window(), window);
    }
}

#[test]
fn losses_halve_and_can_be_undone() {
    let mut fast = avoiding(100.0);
    fast.on_congestion(&congestion(Cause::Loss, 100.0));
    assert_eq!((fast.window(), fast.ssthresh()), (50 * SEGMENT, 50 * SEGMENT));
    fast.on_undo(Instant::ZERO);
    assert_eq!(fast.window(), 100 * SEGMENT);
    fast.on_congestion(&congestion(Cause::Timeout, 100.0));
    assert_eq!((fast.window(), fast.ssthresh()), (SEGMENT, 50 * SEGMENT));
    fast.on_ack(&after(0, 100));
    assert_eq!(fast.window(), 2 * SEGMENT);
}

#[test]
fn one_flow_keeps_alpha_segments_in_the_queue() {
    // μ base = 100 segments, W = 120; on the path of ten minutes 6000 and 6020.
    for (base, rate) in [(BASE, 1000.0), (Duration::from_secs(600), 10.0)] {
        let mut path = Bottleneck::new(rate, base);
        path.add(r#""fast""#);
        path.warm_up(base * 200);
        path.run(base * 50);
        assert_within("queue", path.mean_queue(), 20.0, 0.01);
        let window = path.flows[0].mean_window();
        assert_within("window", window, rate * base.as_secs_f64() + 20.0, 0.005);
        assert_within("utilisation", path.utilisation(base * 50), 1.0, 0.001);
        let rtt = base.as_secs_f64() + path.mean_queue() / rate;
        assert_within("w (1 - base/RTT)", window * (1.0 - base.as_secs_f64() / rtt), 20.0, 0.03);
    }
}

#[test]
fn flows_share_a_link_by_alpha_whatever_their_rtt() {
    let mut path = Bottleneck::new(2000.0, BASE);
    path.add(r#""fast""#);
    path.run(Duration::from_millis(30));
    path.add_far(r#"{ "algorithm": "fast", "alpha": 40 }"#, Duration::from_millis(100), true);
    path.warm_up(Duration::from_secs(120));
    path.run(Duration::from_secs(60));
    assert_within("queue", path.mean_queue(), 60.0, 0.1);
    let [one, other] = [0, 1].map(|index| path.flows[index].delivered as f64);
    assert_within("ratio", other / one, 2.0, 0.1);
    assert_within("sum", one + other, 120_000.0, 0.001);
}
