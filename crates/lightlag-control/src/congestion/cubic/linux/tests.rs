use super::*;
use crate::congestion::tests::{SEGMENT, Steady, ack, assert_within, congestion, start};

const RTT: Duration = Duration::from_millis(100);

/// Returns `variant` without HyStart, in congestion avoidance at a window of `window` segments.
fn avoiding(window: u64, variant: CubicVariant) -> CubicLinux {
    let config = Config { hystart: crate::congestion::hystart::Config::default(), ..Config::of(variant) };
    let mut cubic = CubicLinux::new(&config, &start(window));
    cubic.window.leave_slow_start();
    cubic
}

fn at(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds)
}

#[test]
fn a_loss_keeps_whole_segments() {
    // 1000·717/1024 = 700.2 and 1000·819/1024 = 799.8; 800·(1 + β)/2 = 680.1 and 719.9.
    for (variant, left, lower) in [(CubicVariant::Linux, 700.0, 680), (CubicVariant::Linux26, 799.0, 719)] {
        let mut cubic = avoiding(1000, variant);
        cubic.on_congestion(&congestion(Cause::Loss, 500.0));
        assert_eq!((cubic.window.segments(), cubic.window.threshold(), cubic.last_max), (left, left, 1000));
        let mut cubic = avoiding(800, variant);
        cubic.last_max = 1000;
        cubic.on_congestion(&congestion(Cause::Mark, 800.0));
        assert_eq!(cubic.last_max, lower, "{variant:?}");
    }
}

#[test]
fn k_is_in_1024ths_of_a_second() {
    // C = 0.40039: ∛(300/C) = 9.0826 s, ∛(201/C) = 7.9474 s.
    for (variant, k) in [(CubicVariant::Linux, 9.0826), (CubicVariant::Linux26, 7.9474)] {
        let mut cubic = avoiding(1000, variant);
        cubic.on_congestion(&congestion(Cause::Loss, 1000.0));
        let curve = cubic.begin_epoch(at(1.0));
        assert!((curve.k as f64 / TICKS - k).abs() < 2.0 / TICKS, "{variant:?}: {}", curve.k);
        assert_eq!(curve.origin, 1000);
    }
    let mut cubic = avoiding(1000, CubicVariant::Linux);
    let curve = cubic.begin_epoch(at(1.0));
    assert_eq!((curve.k, curve.origin), (0, 1000));
}

#[test]
fn around_k_the_target_is_the_maximum() {
    let mut cubic = avoiding(1000, CubicVariant::Linux);
    cubic.on_congestion(&congestion(Cause::Loss, 1000.0));
    let curve = cubic.begin_epoch(at(0.0));
    // C·1.35³ = 0.985 is cut to zero, C·1.36³ = 1.007 is a segment: cnt = ⌊990/10⌋ and ⌊990/9⌋.
    let k = curve.k as f64 / TICKS;
    assert_eq!(cubic.count(&curve, at(k - 1.35), 990), 99);
    assert_eq!(cubic.count(&curve, at(k - 1.37), 990), 110);
    assert_eq!(cubic.count(&curve, at(k + 1.37), 990), 90);
    // Not above the window: one segment in 100 windows.
    assert_eq!(cubic.count(&curve, at(k), 1000), 100_000);
    // dMin looks ahead.
    cubic.delay_min = RTT;
    assert_eq!(cubic.count(&curve, at(k - 1.47), 990), 110);
}

#[test]
fn the_bounds_of_the_two() {
    // No loss yet: at most 20, and exactly 50, divided by the two segments that an ACK is assumed to acknowledge.
    let (now, then) = (avoiding(100, CubicVariant::Linux), avoiding(100, CubicVariant::Linux26));
    let mut curve = LinuxCurve { start: at(0.0), k: 0, origin: 100, reno: 100, counted: 0.0 };
    assert_eq!(now.bounded(&mut curve, 100, 10_000), 20);
    assert_eq!(now.bounded(&mut curve, 100, 1), 2);
    assert_eq!(then.bounded(&mut curve, 100, 10_000), 25);
    // After one: at least 2, and at least W/16 in 100 ms.
    let (mut now, mut then) = (now, then);
    (now.last_max, then.last_max) = (100, 100);
    assert_eq!(now.bounded(&mut curve, 100, 10_000), 10_000);
    assert_eq!(now.bounded(&mut curve, 100, 0), 2);
    for (rtt, cnt) in [(100, 62), (50, 125), (600, 10)] {
        then.delay_min = Duration::from_millis(rtt);
        assert_eq!(then.count(&curve, at(1000.0), 1000), cnt, "{rtt} ms");
    }
    now.delay_min = RTT;
    assert_eq!(now.count(&curve, at(1000.0), 1000), 0);
}

#[test]
fn renos_window_grows_by_one_for_each_scaled_window() {
    // ⌊8·1.7002/(3·0.2998)⌋ = 15 and ⌊8·1.7998/(3·0.2002)⌋ = 23: 187 and 287 segments for one at 100.
    for (variant, each) in [(CubicVariant::Linux, 187.0), (CubicVariant::Linux26, 287.0)] {
        let mut cubic = avoiding(100, variant);
        (cubic.last_max, cubic.delayed_ack) = (100, 16);
        let mut curve = LinuxCurve { start: at(0.0), k: 0, origin: 100, reno: 100, counted: each };
        assert_eq!(cubic.bounded(&mut curve, 100, 10_000), 10_000);
        curve.counted = 2.0 * each + 1.0;
        assert_eq!((cubic.bounded(&mut curve, 100, 10_000), curve.reno), (50, 102));
    }
}

#[test]
fn increments_are_whole_segments() {
    let mut cubic = avoiding(100, CubicVariant::Linux);
    cubic.cnt = 10;
    (0..9).for_each(|_| cubic.add_by_segments(1.0));
    assert_eq!(cubic.window.segments(), 100.0);
    cubic.add_by_segments(1.0);
    assert_eq!((cubic.window.segments(), cubic.credit), (101.0, 0.0));
    cubic.add_by_segments(25.0);
    assert_eq!((cubic.window.segments(), cubic.credit), (103.0, 5.0));
    // Credit for a larger cnt gives one segment.
    (cubic.cnt, cubic.credit) = (2, 9.0);
    cubic.add_by_segments(1.0);
    assert_eq!((cubic.window.segments(), cubic.credit), (104.0, 1.0));
    // 2.6.16 waits for one ACK more.
    let mut cubic = avoiding(100, CubicVariant::Linux26);
    cubic.cnt = 10;
    (0..10).for_each(|_| cubic.add_by_acks(1.0));
    assert_eq!(cubic.window.segments(), 100.0);
    cubic.add_by_acks(1.0);
    assert_eq!(cubic.window.segments(), 101.0);
}

#[test]
fn the_first_slow_start_of_2_6_goes_to_101() {
    let mut path = Steady::new(r#"{ "algorithm": "cubic", "variant": "linux-2.6" }"#, RTT);
    assert_eq!(path.algorithm.ssthresh(), 100 * SEGMENT);
    (0..91).for_each(|_| path.acknowledge());
    assert_eq!((path.window(), path.algorithm.epoch()), (101.0, None));
    path.acknowledge();
    assert_eq!(path.algorithm.epoch().unwrap().w_max, 101.0);
    // cnt = ⌊50·16/31⌋: 26 ACKs for one segment.
    let before = path.window();
    (0..520).for_each(|_| path.acknowledge());
    assert_eq!(path.window() - before, 20.0);
}

#[test]
fn samples_of_the_first_second_of_an_epoch_do_not_count() {
    let mut cubic = avoiding(100, CubicVariant::Linux);
    cubic.on_ack(&ack(at(1.0), RTT));
    assert_eq!(cubic.delay_min, RTT);
    cubic.on_ack(&ack(at(1.9), RTT / 2));
    assert_eq!(cubic.delay_min, RTT);
    cubic.on_ack(&ack(at(2.0), RTT / 2));
    assert_eq!(cubic.delay_min, RTT / 2);
    cubic.on_congestion(&congestion(Cause::Timeout, 100.0));
    assert_eq!((cubic.delay_min, cubic.last_max), (Duration::MAX, 0));
}

#[test]
fn an_idle_time_does_not_count() {
    let mut cubic = avoiding(100, CubicVariant::Linux);
    cubic.on_ack(&ack(at(1.0), RTT));
    cubic.on_ack(&ack(at(3.0), RTT));
    cubic.on_idle(at(13.0), 100 * SEGMENT, 100 * SEGMENT);
    assert_eq!(cubic.epoch().unwrap().start, at(11.0));
}

#[test]
fn the_window_follows_the_curve() {
    for (variant, beta) in [("linux", 717.0 / 1024.0), ("linux-2.6", 819.0 / 1024.0)] {
        let choice = format!(r#"{{ "algorithm": "cubic", "variant": "{variant}", "slow_start": "standard" }}"#);
        let mut path = Steady::new(&choice, RTT);
        while path.window() < 400.0 {
            path.acknowledge();
        }
        let (w_max, begin) = (path.window(), path.now);
        path.react(Cause::Loss);
        let c = 410.0 / 1024.0;
        let k = libm::cbrt(w_max * (1.0 - beta) / c);
        while path.now < begin + Duration::from_secs(10) {
            path.acknowledge();
            let t = path.now.since(begin).as_secs_f64();
            let closed_form = c * (t - k) * (t - k) * (t - k) + w_max;
            assert!((path.window() - closed_form).abs() < 4.0, "{variant}: {} at {t} s, {closed_form}", path.window());
        }
    }
}

#[test]
fn with_regular_losses_the_mean_window_matches_the_rfc() {
    // RFC 9438 §5.1 at 100 ms and p = 10⁻⁴: 187, without Reno's region.
    let choice = r#"{ "algorithm": "cubic", "variant": "linux", "slow_start": "standard", "fast_convergence": false }"#;
    let mut path = Steady::new(choice, RTT);
    while path.window() < 187.0 / 0.925 {
        path.acknowledge();
    }
    path.react(Cause::Loss);
    let (begin, first) = (path.now, path.acked);
    for _ in 0..20 {
        (0..10_000).for_each(|_| path.acknowledge());
        path.react(Cause::Loss);
    }
    let mean = (path.acked - first) as f64 * (path.rtt / path.now.since(begin));
    assert_within("the mean window", mean, 187.4, 0.05);
}

#[test]
fn a_window_is_small() {
    // Each of 100,000 senders has one; an allocation of 200 bytes and its header fills complete units of 16.
    assert!(size_of::<CubicLinux>() <= 200, "{}", size_of::<CubicLinux>());
}

#[test]
fn a_target_serves_all_segments_of_a_tick() {
    // K = 1.709 s: at 0.4 s the target is 6 segments, cnt = ⌊4/2⌋ = 2 at a window of 4 and ⌊5/1⌋ = 5 at one of 5.
    let grown = |times: [f64; 3]| {
        let mut cubic = avoiding(4, CubicVariant::Linux);
        cubic.last_max = 6;
        cubic.avoid_congestion(at(0.0), 1.0);
        for time in times {
            cubic.avoid_congestion(at(time), 1.0);
        }
        cubic.window.segments()
    };
    assert_eq!(grown([0.4, 0.401, 0.402]), 6.0);
    assert_eq!(grown([0.4, 0.404, 0.408]), 5.0);
}

#[test]
fn a_target_holds_for_full_ticks() {
    // 7 ticks of 4 ms are HZ/32; 1/32 s are 31.25 ms.
    let mut cubic = avoiding(100, CubicVariant::Linux);
    cubic.avoid_congestion(at(0.003), 1.0);
    assert!(!cubic.is_held_longer(at(0.0319)));
    assert!(cubic.is_held_longer(at(0.032)));
}
