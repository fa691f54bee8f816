use super::*;
use crate::congestion::Allowance;
use crate::congestion::Phase;
use crate::congestion::tests::bottleneck::Bottleneck;
use crate::congestion::tests::{SEGMENT, ack, assert_within, congestion, start};

const BASE: Duration = Duration::from_millis(100);

/// Returns Copa after slow start, with a window of `window` segments and a known RTTmin.
fn copa(window: f64) -> Copa {
    let mut copa = Copa::new(&Config::default(), &start(10));
    copa.on_ack(&Ack { newly_delivered: 0, snd_nxt: u64::MAX, ..at(0, 100) });
    copa.window.raise_to(window);
    copa.slow_start = false;
    copa.course = WindowDirection::from(window);
    copa
}

/// Returns an ACK `ms` after the start with this RTT; SRTT is 100 ms.
fn at(ms: u64, rtt_ms: u64) -> Ack {
    let now = Instant::ZERO + Duration::from_millis(ms);
    Ack { srtt: BASE, min_rtt: BASE, ..ack(now, Duration::from_millis(rtt_ms)) }
}

#[test]
fn a_segment_moves_the_window_towards_the_target_rate() {
    // dq = 10 ms: λt = 200/s, that is 22 segments at 110 ms.
    for (window, expected) in [(10.0, 10.2), (21.9, 21.9 + 2.0 / 21.9), (22.1, 22.1 - 2.0 / 22.1), (40.0, 39.95)] {
        let mut copa = copa(window);
        copa.on_ack(&at(51, 110));
        assert_within(&format!("the window from {window}"), copa.window.segments(), expected, 1e-9);
    }
    // The smallest of the last SRTT/2 counts.
    let mut copa = copa(40.0);
    copa.on_ack(&at(30, 150));
    assert!(copa.window.segments() > 40.0);
}

#[test]
fn slow_start_ends_above_the_target_rate() {
    let mut copa = Copa::new(&Config::default(), &start(10));
    for _ in 0..10 {
        copa.on_ack(&at(0, 100));
    }
    assert_eq!((copa.window(), copa.slow_start), (20 * SEGMENT, true));
    // 22 segments are on target at 110 ms.
    for (ms, window) in [(51, 21), (52, 22), (53, 23)] {
        copa.on_ack(&at(ms, 110));
        assert_eq!((copa.window(), copa.slow_start), (window * SEGMENT, true));
    }
    copa.on_ack(&at(54, 110));
    assert!(!copa.slow_start);
    assert_within("window", copa.window.segments(), 23.0 - 2.0 / 23.0, 1e-9);
}

#[test]
fn the_velocity_doubles_after_three_rounds_in_a_direction() {
    let mut course = WindowDirection::from(100.0);
    let mut velocities = Vec::new();
    for window in [101.0, 102.0, 103.0, 105.0, 109.0, 108.0, 107.0, 106.0, 105.0, 103.0, 110.0] {
        course.end_round(window);
        velocities.push(course.velocity);
    }
    assert_eq!(velocities, [1.0, 1.0, 2.0, 4.0, 8.0, 1.0, 1.0, 1.0, 2.0, 4.0, 1.0]);
    // Each delivered segment adds at most one.
    let mut copa = copa(10.0);
    copa.course.velocity = 64.0;
    copa.on_ack(&at(51, 100));
    assert_within("window", copa.window.segments(), 11.0, 1e-9);
}

#[test]
fn a_step_in_the_other_direction_ends_a_velocity() {
    let mut course = WindowDirection { up: false, rounds: 5, velocity: 8.0, start: 50.0 };
    assert!(!course.turn(false, 30.0));
    assert_eq!(course.velocity, 8.0);
    assert!(course.turn(true, 30.0));
    assert_eq!(course, WindowDirection { up: true, rounds: 0, velocity: 1.0, start: 30.0 });
}

#[test]
fn nothing_grows_while_the_application_holds_the_sender() {
    let mut copa = copa(40.0);
    copa.on_ack(&Ack { cwnd_limited: false, ..at(51, 100) });
    copa.on_ack(&Ack { ece: true, ..at(52, 100) });
    assert_eq!(copa.window(), 40 * SEGMENT);
    copa.on_ack(&Ack { phase: Phase::Recovery, ..at(53, 100) });
    assert!(copa.window() > 40 * SEGMENT, "its window also moves during recovery");
}

#[test]
fn it_paces_at_twice_the_window_a_round_trip() {
    let copa = copa(40.0);
    // 2 · 40 segments of 1000 bytes in 100 ms.
    assert_eq!(copa.pacing_rate(), Rate::from_bps(6_400_000));
    let mut fresh = Copa::new(&Config::default(), &start(10));
    assert_eq!(fresh.pacing_rate(), None);
    fresh.handshake = Some(BASE);
    assert_eq!(fresh.pacing_rate(), Rate::from_bps(1_600_000));
}

#[test]
fn a_queue_that_does_not_empty_makes_it_compete() {
    let mut copa = copa(1000.0);
    copa.on_ack(&Ack { newly_delivered: 0, ..at(0, 200) });
    for ms in (60..=500).step_by(20) {
        copa.on_ack(&at(ms, 180));
        assert_eq!(copa.inverse_delta, 2.0, "after {ms} ms");
    }
    // 5 SRTT without an empty queue: then 1/δ grows by one each round, and a loss halves it.
    let mut seen = Vec::new();
    for ms in (520..=1120).step_by(100) {
        copa.on_ack(&at(ms, 180));
        seen.push(copa.inverse_delta);
    }
    assert_eq!(seen, [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    let event = Congestion { now: at(1130, 180).now, ..congestion(Cause::Loss, 1000.0) };
    let window = copa.window();
    copa.on_congestion(&event);
    assert_eq!((copa.inverse_delta, copa.window()), (4.0, window));
    copa.on_undo(event.now);
    assert_eq!(copa.inverse_delta, 8.0);
    copa.on_congestion(&event);
    copa.on_congestion(&event);
    copa.on_congestion(&event);
    assert_eq!(copa.inverse_delta, 2.0);
    // Nearly empty: 20 of a range of 80 ms.
    copa.inverse_delta = 8.0;
    copa.on_ack(&at(1140, 121));
    assert_eq!(copa.inverse_delta, 8.0);
    copa.on_ack(&at(1200, 120));
    assert_eq!(copa.inverse_delta, 2.0);
}

#[test]
fn losses_reduce_the_window_only_if_they_are_very_frequent() {
    for (lost, expected) in [(29, 100), (31, 70)] {
        let mut copa = copa(100.0);
        copa.on_congestion(&congestion(Cause::Loss, 100.0));
        assert_eq!(copa.window(), 100 * SEGMENT);
        for n in 0..100 {
            let newly_lost = if n < lost { SEGMENT } else { 0 };
            let newly_delivered = SEGMENT - newly_lost;
            let ack = at(n, 100);
            copa.on_ack(&Ack { newly_lost, newly_delivered, cwnd_limited: false, phase: Phase::Recovery, ..ack });
        }
        copa.on_ack(&Ack { newly_delivered: 0, ..at(201, 100) });
        assert_eq!(copa.window(), expected * SEGMENT);
    }
}

#[test]
fn a_timeout_restarts_and_can_be_undone() {
    let mut copa = copa(50.0);
    copa.on_congestion(&congestion(Cause::Timeout, 50.0));
    assert_eq!((copa.window(), copa.ssthresh(), copa.slow_start), (SEGMENT, u64::MAX, true));
    copa.on_undo(Instant::ZERO);
    assert_eq!((copa.window(), copa.slow_start), (50 * SEGMENT, false));
    copa.on_idle(Instant::ZERO, SEGMENT, SEGMENT);
    assert_eq!(copa.window(), 50 * SEGMENT);
}

#[test]
fn one_flow_keeps_one_to_two_and_a_half_inverse_deltas_in_the_queue() {
    for (base, rate) in [(BASE, 1000.0), (Duration::from_secs(600), 0.5)] {
        for delta in [0.5, 0.1] {
            let mut path = Bottleneck::new(rate, base);
            path.add(&format!(r#"{{ "algorithm": "copa", "delta": {delta} }}"#));
            path.warm_up(base * 100);
            path.run(base * 200);
            let queue = path.mean_queue() * delta;
            assert!((0.8..=2.5).contains(&queue), "{base}: {queue} of 1/{delta}");
            assert_within("utilisation", path.utilisation(base * 200), 1.0, 0.05);
        }
    }
}

#[test]
fn equal_flows_share_the_link_whatever_their_rtt() {
    // RTTstanding looks back SRTT/2, and the queue rises by n/δ in an RTT. If two flows have RTTs of 100 and 200 ms,
    // the second underestimates dq by (n/δ)/4 in the mean, half of the time by a round of the first. That is a quarter
    // of the mean queue, and of its share.
    for (extras, tolerance) in [([0, 0, 0, 0], 0.05), ([0, 0, 50, 100], 0.3)] {
        let mut path = Bottleneck::new(2000.0, BASE);
        for (n, extra) in extras.into_iter().enumerate() {
            path.add_far(r#""copa""#, Duration::from_millis(extra), true);
            path.run(Duration::from_secs(1 + n as u64));
        }
        // The last one starts with the window of the path; v is 1 then, and it takes a minute to give half of it back.
        path.warm_up(Duration::from_secs(120));
        path.run(Duration::from_secs(120));
        // 1.25/δ of each, and more where their periods differ.
        assert!((8.0..=20.0).contains(&path.mean_queue()), "{extras:?}: {}", path.mean_queue());
        for flow in &path.flows {
            assert_within("share", flow.delivered as f64, 60_000.0, tolerance);
        }
    }
}

#[test]
fn flows_do_not_take_each_other_for_somebody_else() {
    for rate in [1000.0, 1175.0] {
        for extras in [&[0, 0][..], &[0, 25], &[0, 0, 0, 0], &[0, 25, 50, 75]] {
            let mut path = Bottleneck::new(rate, BASE);
            for (n, extra) in extras.iter().enumerate() {
                path.add_far(r#""copa""#, Duration::from_millis(*extra), true);
                path.run(Duration::from_millis(1000 + 137 * n as u64));
            }
            path.warm_up(Duration::from_secs(60));
            path.run(Duration::from_secs(60));
            // 1/δ = 2 of each, 1.25 times as much in the mean.
            let queue = path.mean_queue() / extras.len() as f64;
            assert!((2.0..=3.0).contains(&queue), "{rate}, {extras:?}: {queue}");
            assert_within("utilisation", path.utilisation(Duration::from_secs(60)), 1.0, 0.01);
            for flow in &path.flows {
                let share = flow.delivered as f64 / rate / 60.0 * extras.len() as f64;
                assert_within("share", share, 1.0, 0.15);
            }
        }
    }
}

#[test]
fn an_overshoot_of_slow_start_is_drained_without_competing() {
    // 1000 segments without a queue: slow start ends at about 1900.
    let mut path = Bottleneck::new(10_000.0, BASE);
    path.add(r#""copa""#);
    path.warm_up(Duration::from_secs(20));
    path.run(Duration::from_secs(20));
    assert!((2.0..=5.0).contains(&path.mean_queue()), "{}", path.mean_queue());
    assert_within("utilisation", path.utilisation(Duration::from_secs(20)), 1.0, 0.01);
}

#[test]
fn it_competes_with_newreno_only_in_its_competitive_mode() {
    for (mode, range) in [("auto", 0.3..0.8), ("default", 0.0..0.2)] {
        let mut path = Bottleneck::new(1000.0, BASE);
        path.limit = 200.0;
        path.add(&format!(r#"{{ "algorithm": "copa", "mode": "{mode}" }}"#));
        path.run(Duration::from_secs(10));
        path.add(r#""newreno""#);
        path.warm_up(Duration::from_secs(60));
        path.run(Duration::from_secs(300));
        let share = path.flows[0].delivered as f64 / 300_000.0;
        assert!(range.contains(&share), "{mode}: {share}");
    }
}
