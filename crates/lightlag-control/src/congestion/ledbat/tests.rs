use super::*;
use crate::congestion::Allowance;
use crate::congestion::Cause;
use crate::congestion::tests::bottleneck::Bottleneck;
use crate::congestion::tests::{SEGMENT, ack, assert_within, congestion, start};

const BASE: Duration = Duration::from_millis(100);

/// Returns LEDBAT at a window of `window` segments.
fn ledbat(window: f64) -> Ledbat {
    let mut ledbat = Ledbat::new(&Config::default(), &start(10));
    ledbat.window.raise_to(window);
    ledbat
}

/// Returns an ACK at `ms` for a segment with the one-way delay `one_way_ms`. The sender has 50 segments in flight.
fn took(ms: u64, one_way_ms: u64) -> Ack {
    Ack {
        one_way: Some(Duration::from_millis(one_way_ms)),
        prior_inflight: 50 * SEGMENT,
        ..ack(Instant::ZERO + Duration::from_millis(ms), BASE)
    }
}

/// Returns 50 times the growth by the last of these one-way delays, at a window of about 50 segments.
fn change(delays: &[u64]) -> f64 {
    let mut ledbat = ledbat(50.0);
    let mut before = 50.0;
    for (n, delay) in delays.iter().enumerate() {
        before = ledbat.window.segments();
        // Each is in a separate round, so that the filter has one.
        ledbat.on_ack(&took(200 * n as u64, *delay));
    }
    (ledbat.window.segments() - before) * before
}

#[test]
fn the_window_follows_the_distance_to_the_target() {
    for (delay, expected) in [(0, 1.0), (50, 0.5), (75, 0.25), (100, 0.0), (200, -1.0), (400, -3.0)] {
        assert!((change(&[1000, 1000 + delay]) - expected).abs() < 1e-9, "{delay}");
    }
    // The clock's 32 bits of milliseconds wrap in between.
    assert!((change(&[u64::from(u32::MAX) - 20, 29]) - 0.5).abs() < 1e-9);
}

#[test]
fn the_minimum_of_four_samples_of_a_round_counts() {
    let mut ledbat = ledbat(50.0);
    let mut measure = |ms, delay| ledbat.delays.measure(&took(ms, delay), &Config::default()).unwrap();
    assert_eq!(measure(0, 10), 0.0);
    assert_eq!([1, 2, 3].map(|ms| measure(ms, 60)), [0.0; 3]);
    assert_eq!(measure(4, 60), 0.05);
    assert_eq!(measure(5, 30), 0.02);
    // Older than a round trip.
    assert_eq!(measure(105, 80), 0.02);
    assert_eq!(measure(106, 80), 0.07);
}

#[test]
fn a_minimum_delay_counts_for_ten_minutes_or_ten_rounds() {
    for (rtt, bin) in [(BASE, 60), (Duration::from_secs(600), 600)] {
        let mut ledbat = ledbat(50.0);
        let mut after = |seconds: u64, delay| {
            let now = Instant::ZERO + Duration::from_secs(seconds);
            let one_way = Some(Duration::from_millis(delay));
            ledbat.delays.measure(&Ack { now, one_way, srtt: rtt, ..took(0, delay) }, &Config::default()).unwrap()
        };
        after(0, 10);
        for minute in 1..10 {
            let queued = after(minute * bin, 60);
            assert!(queued == 0.05 || minute == 1, "{queued}");
        }
        assert_eq!(after(10 * bin - 1, 60), 0.05);
        assert_eq!(after(10 * bin, 60), 0.0);
        assert_eq!(after(10 * bin + 1, 110), if bin == 60 { 0.05 } else { 0.0 });
    }
}

#[test]
fn bounds_are_two_segments_and_where_it_is_not_used_one_more_than_in_flight() {
    let mut ledbat = Ledbat::new(&Config::default(), &start(10));
    assert_eq!(ledbat.window(), 2 * SEGMENT);
    ledbat.window.raise_to(50.0);
    let part = |ack: Ack, cwnd_limited| Ack { prior_inflight: 30 * SEGMENT, cwnd_limited, ..ack };
    ledbat.on_ack(&part(took(0, 10), true));
    assert!(ledbat.window() >= 50 * SEGMENT, "a sender that waits to send in bursts uses it");
    // 1 ms above the target.
    for n in 1..=4 {
        ledbat.on_ack(&part(took(200 * n, 111), false));
    }
    assert!((30 * SEGMENT..=31 * SEGMENT).contains(&ledbat.window()), "{}", ledbat.window());
    for n in 4..200 {
        ledbat.on_ack(&took(200 * (n + 1), 500));
    }
    assert_eq!(ledbat.window(), 2 * SEGMENT);
}

#[test]
fn losses_halve_and_a_timeout_leaves_one_segment() {
    let mut ledbat = ledbat(50.0);
    ledbat.on_congestion(&congestion(Cause::Loss, 50.0));
    assert_eq!(ledbat.window(), 25 * SEGMENT);
    ledbat.on_undo(Instant::ZERO);
    assert_eq!(ledbat.window(), 50 * SEGMENT);
    ledbat.on_congestion(&congestion(Cause::Timeout, 50.0));
    assert_eq!((ledbat.window(), ledbat.ssthresh()), (SEGMENT, 25 * SEGMENT));
    ledbat.on_ack(&Ack { phase: Phase::Loss, ..took(0, 10) });
    assert_eq!(ledbat.window(), 2 * SEGMENT);
}

#[test]
fn round_trips_count_only_without_timestamps() {
    let mut ledbat = ledbat(50.0);
    let rtt = |ms: u64| Ack { one_way: None, ..ack(Instant::ZERO, Duration::from_millis(ms)) };
    assert_eq!(ledbat.delays.measure(&rtt(100), &Config::default()), Some(0.0));
    let config = Config { current_filter: 1.0, ..Config::default() };
    assert_eq!(ledbat.delays.measure(&rtt(150), &config), Some(0.05));
    assert_eq!(ledbat.delays.measure(&took(0, 5000), &config), Some(0.0));
    assert_eq!(ledbat.delays.measure(&rtt(900), &config), None);
}

#[test]
fn a_flow_alone_keeps_a_queue_of_the_target() {
    for (timestamps, target) in [(true, 100), (false, 100), (true, 25)] {
        let mut path = Bottleneck::new(1000.0, BASE);
        let choice = format!(r#"{{ "algorithm": "ledbat", "target": "{target} ms" }}"#);
        path.add_far(&choice, Duration::ZERO, timestamps);
        path.warm_up(Duration::from_secs(200));
        path.run(Duration::from_secs(60));
        assert_within(&format!("queue for {target} ms"), path.mean_queue(), f64::from(target), 0.03);
        assert_within("utilisation", path.utilisation(Duration::from_secs(60)), 1.0, 0.001);
    }
}

#[test]
fn slow_start_fills_the_path_in_seconds_if_wanted() {
    // 100 segments without a queue: by a segment per round only after ten seconds.
    for (wanted, range) in [(true, 100.0..400.0), (false, 30.0..60.0)] {
        let mut path = Bottleneck::new(1000.0, BASE);
        path.add(&format!(r#"{{ "algorithm": "ledbat", "initial_slow_start": {wanted} }}"#));
        path.run(Duration::from_secs(4));
        let window = path.flows[0].algorithm.window() as f64 / SEGMENT as f64;
        assert!(range.contains(&window), "{wanted}: {window}");
    }
}

#[test]
fn it_yields_to_newreno_and_a_latecomer_gets_more() {
    let mut path = Bottleneck::new(1000.0, BASE);
    path.limit = 300.0;
    path.add(r#""ledbat""#);
    path.run(Duration::from_secs(60));
    path.add(r#""newreno""#);
    path.warm_up(Duration::from_secs(120));
    path.run(Duration::from_secs(120));
    let share = path.flows[0].delivered as f64 / 120_000.0;
    assert!(share < 0.1, "{share}");
    let mut path = Bottleneck::new(1000.0, BASE);
    path.add(r#""ledbat""#);
    path.run(Duration::from_secs(100));
    path.add(r#""ledbat""#);
    path.warm_up(Duration::from_secs(200));
    path.run(Duration::from_secs(60));
    let share = path.flows[1].delivered as f64 / 60_000.0;
    assert!(share > 0.7, "{share}");
}
