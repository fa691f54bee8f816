use super::*;
use crate::congestion::Allowance;
use crate::congestion::tests::{SEGMENT, Steady, ack, assert_within, congestion, start};
use proptest::prelude::*;

const RTT: Duration = Duration::from_millis(100);

/// Returns the parameters of `variant` with this β, without HyStart.
fn config(variant: CubicVariant, beta: f64) -> Config {
    Config { beta, hystart: hystart::Config::default(), ..Config::of(variant) }
}

/// Returns CUBIC in congestion avoidance at a window of `window` segments.
fn at(window: f64, config: &Config) -> Cubic {
    let mut cubic = Cubic::new(config, &start(10));
    cubic.on_congestion(&congestion(Cause::Timeout, window / config.beta));
    cubic.window.raise_to(window);
    cubic.window.leave_slow_start();
    cubic.prior = 0.0;
    cubic
}

/// Returns CUBIC after a loss at `window` segments, with the epoch that starts then.
fn epoch_after_loss(window: f64, config: &Config) -> (Cubic, CubicEpoch) {
    let mut cubic = at(window, config);
    cubic.on_congestion(&congestion(Cause::Loss, window));
    let curve = cubic.begin_epoch(Instant::ZERO);
    (cubic, curve)
}

fn seconds(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds)
}

#[test]
fn k_is_the_cube_root_of_what_the_loss_took() {
    for (w_max, k_02, k_03) in [
        (10.0, 1.7100, 1.9574),
        (100.0, 3.6840, 4.2172),
        (200.0, 4.6416, 5.3133),
        (500.0, 6.2996, 7.2112),
        (1000.0, 7.9370, 9.0856),
        (10_000.0, 17.100, 19.574),
    ] {
        for variant in [CubicVariant::Rfc9438, CubicVariant::Rfc8312, CubicVariant::Paper2008] {
            for (beta, k) in [(0.8, k_02), (0.7, k_03)] {
                let (_, curve) = epoch_after_loss(w_max, &config(variant, beta));
                assert!((curve.k / k - 1.0).abs() < 2e-5, "{variant:?}, {w_max}: {}, {k}", curve.k);
                assert_eq!(curve.w_max, w_max);
            }
        }
    }
}

#[test]
fn the_curve_has_its_values() {
    for (beta, values) in [
        (0.8, [(0.0, 80.0), (1.0, 92.266), (2.0, 98.090), (3.0, 99.872), (5.0, 100.912), (6.0, 104.969)]),
        (0.7, [(0.0, 70.0), (1.0, 86.681), (2.0, 95.640), (4.0, 99.996), (6.0, 102.267), (8.0, 121.653)]),
    ] {
        let (_, curve) = epoch_after_loss(100.0, &config(CubicVariant::Rfc9438, beta));
        for (t, window) in values {
            assert!((curve.at(t, 0.4) - window).abs() < 6e-4, "W({t}) = {}, {window}", curve.at(t, 0.4));
        }
        assert_eq!(curve.at(curve.k, 0.4), 100.0);
    }
}

#[test]
fn alpha_matches_the_rate_of_reno() {
    // 3·0.2/1.8 and 3·0.3/1.7.
    assert!((Cubic::new(&config(CubicVariant::Paper2008, 0.8), &start(1)).alpha - 0.3333).abs() < 1e-4);
    assert!((Cubic::new(&config(CubicVariant::Rfc9438, 0.7), &start(1)).alpha - 0.5294).abs() < 1e-4);
}

#[test]
fn renos_estimate_grows_by_alpha_a_round() {
    // t = 1 s is 10 rounds: 80 + 3.33 and 70 + 5.29.
    for (variant, beta, window) in [(CubicVariant::Paper2008, 0.8, 83.33), (CubicVariant::Rfc8312, 0.7, 75.29)] {
        let (cubic, curve) = epoch_after_loss(100.0, &config(variant, beta));
        assert!((curve.reno + cubic.alpha * rounds(1.0, 0.1) - window).abs() < 0.005, "{variant:?}");
    }
}

#[test]
fn fast_convergence_aims_lower_after_a_loss_below_the_last() {
    for (beta, lower) in [(0.8, 72.0), (0.7, 68.0)] {
        assert!(
            (CubicConstants::of(&config(CubicVariant::Rfc9438, beta)).next_w_max(80.0, 100.0) - lower).abs() < 1e-9
        );
    }
    let off = Config { fast_convergence: false, ..Config::default() };
    assert_eq!(CubicConstants::of(&off).next_w_max(80.0, 100.0), 80.0);
    assert_eq!(CubicConstants::of(&Config::default()).next_w_max(100.0, 100.0), 100.0);
}

#[test]
fn after_fast_convergence_k_is_to_the_lower_plateau() {
    // 80 below 100: Wmax = 68, the window 56: ∛(12/0.4) = 3.1072. RFC 8312 starts below the window: ∛(20.4/0.4).
    for (variant, k) in [(CubicVariant::Rfc9438, 3.1072), (CubicVariant::Rfc8312, 3.7084)] {
        let mut cubic = at(80.0, &config(variant, 0.7));
        cubic.w_max = 100.0;
        cubic.on_congestion(&congestion(Cause::Loss, 80.0));
        let curve = cubic.begin_epoch(Instant::ZERO);
        assert!((curve.k - k).abs() < 1e-4 && (curve.w_max - 68.0).abs() < 1e-9, "{variant:?}: {}", curve.k);
    }
}

#[test]
fn rfc9438_reduces_the_flight_the_older_texts_the_window() {
    for (variant, beta, threshold) in
        [(CubicVariant::Rfc9438, 0.7, 35.0), (CubicVariant::Rfc8312, 0.7, 70.0), (CubicVariant::Paper2008, 0.8, 80.0)]
    {
        let mut cubic = at(100.0, &config(variant, beta));
        cubic.on_congestion(&congestion(Cause::Loss, 50.0));
        assert!((cubic.window.segments() - threshold).abs() < 1e-9, "{variant:?}");
        assert!((cubic.window.threshold() - threshold).abs() < 1e-9, "{variant:?}");
    }
}

#[test]
fn after_a_timeout_the_curve_starts_at_its_plateau() {
    for variant in [CubicVariant::Rfc9438, CubicVariant::Rfc8312, CubicVariant::Paper2008] {
        let mut cubic = at(100.0, &config(variant, 0.7));
        cubic.on_congestion(&congestion(Cause::Timeout, 100.0));
        assert_eq!((cubic.window(), cubic.ssthresh()), (SEGMENT, 70 * SEGMENT), "{variant:?}");
        while cubic.curve.is_none() {
            cubic.on_ack(&ack(Instant::ZERO, RTT));
        }
        let curve = cubic.curve.unwrap();
        assert_eq!(curve.k, 0.0, "{variant:?}");
        assert!((curve.w_max - 70.0).abs() < 1e-9, "{variant:?}: {}", curve.w_max);
    }
}

#[test]
fn alpha_is_one_only_from_the_window_before_the_loss_on() {
    let mut cubic = at(100.0, &config(CubicVariant::Rfc9438, 0.7));
    cubic.on_congestion(&congestion(Cause::Loss, 100.0));
    let mut curve = cubic.begin_epoch(Instant::ZERO);
    cubic.grow_as_rfc9438(&mut curve, 0.0, 0.1, 70.0);
    assert!((curve.reno - 70.529).abs() < 1e-3, "{}", curve.reno);
    curve.reno = 100.0;
    cubic.grow_as_rfc9438(&mut curve, 0.0, 0.1, cubic.window.segments());
    assert!((curve.reno - 101.0).abs() < 1e-9, "{}", curve.reno);
}

#[test]
fn the_target_is_limited_to_half_as_much_again() {
    let mut cubic = at(100.0, &config(CubicVariant::Rfc9438, 0.7));
    let mut curve = cubic.begin_epoch(Instant::ZERO);
    // 0.4·20³ = 3200 segments ahead; an ACK adds (150 − 100)/100.
    cubic.grow_as_rfc9438(&mut curve, 20.0, 0.0, 1.0);
    assert!((cubic.window.segments() - 100.5).abs() < 1e-9);
}

#[test]
fn time_without_use_of_the_window_does_not_count() {
    let mut cubic = at(100.0, &config(CubicVariant::Rfc9438, 0.7));
    cubic.on_congestion(&congestion(Cause::Loss, 100.0));
    cubic.on_ack(&ack(seconds(1.0), RTT));
    assert_eq!(cubic.epoch().unwrap().start, seconds(1.0));
    cubic.on_ack(&Ack { cwnd_limited: false, ..ack(seconds(2.0), RTT) });
    cubic.on_ack(&Ack { cwnd_limited: false, ..ack(seconds(4.0), RTT) });
    cubic.on_ack(&ack(seconds(5.0), RTT));
    // One second of the five counts.
    assert_eq!(cubic.epoch().unwrap().start, seconds(4.0));
}

#[test]
fn hystart_starts_the_curve_at_the_window() {
    let mut path = Steady::new(r#""cubic""#, Duration::from_millis(600));
    while path.algorithm.epoch().is_none() {
        path.acknowledge();
        assert!(path.window() < 1e4, "the train of a full window ends slow start");
    }
    let epoch = path.algorithm.epoch().unwrap();
    assert_eq!(epoch.k, Duration::ZERO);
    assert!((epoch.w_max - path.algorithm.ssthresh() as f64 / SEGMENT as f64).abs() < 0.01);
}

#[test]
fn the_window_follows_the_curve() {
    for (variant, beta) in [("rfc9438", 0.7), ("rfc8312", 0.7), ("paper2008", 0.8)] {
        let choice = format!(r#"{{ "algorithm": "cubic", "variant": "{variant}", "slow_start": "standard" }}"#);
        let mut path = Steady::new(&choice, RTT);
        while path.window() < 400.0 {
            path.acknowledge();
        }
        let (w_max, begin) = (path.window(), path.now);
        path.react(Cause::Loss);
        let k = libm::cbrt(w_max * (1.0 - beta) / 0.4);
        while path.now < begin + Duration::from_secs(12) {
            path.acknowledge();
            let t = path.now.since(begin).as_secs_f64();
            let closed_form = 0.4 * (t - k) * (t - k) * (t - k) + w_max;
            assert!((path.window() - closed_form).abs() < 2.0, "{variant}: {} at {t} s, {closed_form}", path.window());
        }
    }
}

/// Returns the mean window at the loss rate p: [C(3 + β)/(4(1 − β))]^(1/4)·(RTT/p)^(3/4) (RFC 9438 §5.1).
fn mean_window(beta: f64, rtt: f64, p: f64) -> f64 {
    libm::pow(0.4 * (3.0 + beta) / (4.0 * (1.0 - beta)), 0.25) * libm::pow(rtt / p, 0.75)
}

/// Returns the mean window if every `1/p`-th segment is lost. `w_max`: window in segments at the first loss. It has to
/// be near the result, because the window converges very slowly.
fn mean_under_regular_loss(choice: &str, p: f64, w_max: f64) -> f64 {
    let mut path = Steady::new(choice, RTT);
    path.avoid_from(w_max / 1.4);
    path.react(Cause::Loss);
    for _ in 0..20 {
        (0..(1.0 / p).round() as u64).for_each(|_| path.acknowledge());
        path.react(Cause::Loss);
    }
    path.acked as f64 * (path.rtt / path.now.since(Instant::ZERO))
}

#[test]
fn the_mean_window_follows_the_response_function() {
    let pure =
        r#"{ "algorithm": "cubic", "reno_friendly": false, "fast_convergence": false, "slow_start": "standard" }"#;
    for (p, expected) in [(1e-3, 33.3), (1e-4, 187.4)] {
        assert_within("the response function", mean_window(0.7, 0.1, p), expected, 0.002);
        // The mean of an epoch that ends at its plateau is (1 − 0.3/4)·Wmax.
        let mean = mean_under_regular_loss(pure, p, expected / 0.925);
        assert_within(&format!("regular losses at {p}"), mean, expected, 0.03);
    }
}

#[test]
fn random_losses_let_the_window_grow_by_a_quarter_more() {
    // The response function assumes regular losses. Long gaps between random ones lead far up the convex part: a model
    // of the curve alone, with exponential gaps, has a mean 1.24 times as large at both rates.
    let pure =
        r#"{ "algorithm": "cubic", "reno_friendly": false, "fast_convergence": false, "slow_start": "standard" }"#;
    for p in [1e-3, 1e-4] {
        let (mean, p) = Steady::new(pure, RTT).lose_at_random(p, 4000);
        assert_within(&format!("random losses at {p:.2e}"), mean, 1.24 * mean_window(0.7, 0.1, p), 0.1);
    }
}

#[test]
fn with_many_losses_the_mean_window_matches_reno() {
    // RFC 9438 §5.1, RTT 0.1 s: 12 and 38; the curve alone gives 6 and 33.
    let friendly = r#"{ "algorithm": "cubic", "fast_convergence": false, "slow_start": "standard" }"#;
    for (p, expected) in [(1e-2, 12.0), (1e-3, 38.0)] {
        let mean = mean_under_regular_loss(friendly, p, expected);
        assert_within(&format!("regular losses at {p}"), mean, expected, 0.1);
    }
}

proptest! {
    /// W(K + x) and W(K − x) are equally far from the plateau.
    #[test]
    fn growth_is_symmetric_around_k(w_max in 10.0_f64..1e5, share in 0.0_f64..1.0, beta in 0.5_f64..0.9) {
        let (_, curve) = epoch_after_loss(w_max, &config(CubicVariant::Rfc9438, beta));
        let x = share * curve.k;
        let (below, above) = (w_max - curve.at(curve.k - x, 0.4), curve.at(curve.k + x, 0.4) - w_max);
        prop_assert!((below - above).abs() <= 1e-9 * w_max);
        // At its start the curve meets the window that the loss left.
        prop_assert!((curve.at(0.0, 0.4) - beta * w_max).abs() <= 1e-3 * w_max);
    }
}

#[test]
fn with_abe_a_mark_keeps_085() {
    // RFC 8511 §3, in every variant but the published program, which ignores marks.
    for variant in ["rfc9438", "rfc8312", "paper2008", "linux", "linux-2.6"] {
        let choice = serde_json::from_str(&format!(r#"{{ "algorithm": "cubic", "variant": "{variant}" }}"#)).unwrap();
        let mut cubic = crate::congestion::build(&choice, &ConnectionStart { abe: true, ..start(100) });
        cubic.on_congestion(&congestion(Cause::Mark, 100.0));
        assert_eq!((cubic.window(), cubic.ssthresh()), (85 * SEGMENT, 85 * SEGMENT), "{variant}");
    }
}
