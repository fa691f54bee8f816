use super::*;
use crate::congestion::Allowance;
use crate::congestion::tests::{SEGMENT, Steady, ack, assert_within, congestion, start};
use lightlag_core::Duration;

const RTT: Duration = Duration::from_millis(100);

/// Returns BIC in congestion avoidance at a window of `window` segments.
fn avoiding(window: u64, variant: BicVariant) -> Bic {
    let mut bic = Bic::new(&Config::of(variant), &start(window));
    bic.window.leave_slow_start();
    bic
}

#[test]
fn the_paper_moves_half_of_the_distance_within_its_bounds() {
    let config = Config::of(BicVariant::Paper);
    for (window, step) in [
        (13.9, 1.0),
        (14.0, 32.0),
        (900.0, 32.0),
        (936.0, 32.0),
        (940.0, 30.0),
        (999.0, 0.5),
        (999.99, 0.01),
        // For W ≥ Wmax: 1 up to 1001, 2 up to 1003, 4 up to 1007, …
        (1000.0, 1.0),
        (1000.9, 1.0),
        (1001.0, 2.0),
        (1003.0, 4.0),
        (1007.0, 8.0),
        (1015.0, 16.0),
        (1031.0, 32.0),
        (5000.0, 32.0),
    ] {
        assert_eq!(config.step(window, Some(1000.0)), step, "{window}");
    }
    assert_eq!(config.step(100.0, None), 32.0);
}

#[test]
fn linux_moves_a_quarter_of_the_distance_and_slowly_around_it() {
    let config = Config::of(BicVariant::Linux);
    for (window, step) in [
        (14.0, 1.0),
        (900.0, 16.0),
        (936.0, 16.0),
        (940.0, 15.0),
        (991.0, 2.0),
        (993.0, 0.2),
        (1000.0, 0.2),
        (1003.9, 0.2),
        (1006.0, 2.0),
        (1030.0, 10.0),
        (1048.0, 16.0),
        (5000.0, 16.0),
    ] {
        assert_eq!(config.step(window, Some(1000.0)), step, "{window}");
    }
    // Without a loss: (W − 0)/3 below 48, then 16, or W/20.
    for (window, step) in [(30.0, 10.0), (48.0, 16.0), (320.0, 16.0), (1000.0, 50.0)] {
        assert_eq!(config.step(window, None), step, "{window}");
    }
}

#[test]
fn a_loss_keeps_beta_and_remembers_the_window() {
    for (variant, window, left) in [
        (BicVariant::Paper, 1000, 875.0),
        (BicVariant::Linux, 1000, 800.0),
        (BicVariant::Paper, 13, 6.5),
        (BicVariant::Paper, 14, 12.25),
        (BicVariant::Linux, 14, 7.0),
        (BicVariant::Paper, 3, 2.0),
    ] {
        for cause in [Cause::Loss, Cause::Mark] {
            let mut bic = avoiding(window, variant);
            bic.on_congestion(&congestion(cause, window as f64));
            assert_eq!((bic.window.segments(), bic.window.threshold()), (left, left), "{variant:?} {window}");
            let forgotten = variant == BicVariant::Paper && window < 14;
            assert_eq!(bic.w_max, (!forgotten).then_some(window as f64));
        }
    }
}

#[test]
fn fast_convergence_aims_lower_after_a_loss_below_the_last() {
    // 800·(1 + 0.875)/2 = 750 and 800·(1 + 0.8)/2 = 720.
    for (variant, lower) in [(BicVariant::Paper, 750.0), (BicVariant::Linux, 720.0)] {
        let config = Config::of(variant);
        assert_eq!(config.next_w_max(800.0, Some(1000.0)), Some(lower));
        assert_eq!(config.next_w_max(1000.0, Some(1000.0)), Some(1000.0));
        assert_eq!(config.next_w_max(800.0, None), Some(800.0));
        let off = Config { fast_convergence: false, ..config };
        assert_eq!(off.next_w_max(800.0, Some(1000.0)), Some(800.0));
    }
}

#[test]
fn a_timeout_forgets_the_maximum_and_a_false_alarm_brings_it_back() {
    let mut bic = avoiding(1000, BicVariant::Paper);
    bic.on_congestion(&congestion(Cause::Loss, 1000.0));
    for cause in [Cause::Timeout, Cause::RepeatedTimeout] {
        bic.on_congestion(&congestion(cause, 875.0));
        assert_eq!((bic.window(), bic.w_max), (SEGMENT, None), "{cause:?}");
        assert_eq!(bic.window.threshold(), 765.625, "{cause:?}");
    }
    bic.on_undo(Instant::ZERO);
    assert_eq!((bic.window.segments(), bic.w_max), (875.0, Some(1000.0)));
}

/// Returns the number of round trips from a loss at about `window` segments until the window is back there.
fn rounds_to_recover(variant: &str, window: f64) -> f64 {
    let mut path = Steady::new(&format!(r#"{{ "algorithm": "bic", "variant": "{variant}" }}"#), RTT);
    while path.window() < window {
        path.acknowledge();
    }
    let full = path.window();
    path.react(Cause::Loss);
    let begin = path.now;
    while path.window() < full - 0.01 {
        path.acknowledge();
    }
    path.now.since(begin) / RTT
}

#[test]
fn the_time_to_recover_is_the_search() {
    for window in [1000.0, 4000.0] {
        // β·W removes W/8: in steps of 32 up to 64 below Wmax, then dx/dn = −x/2 down to 0.02, then 0.01 a round.
        let paper = (window / 8.0 - 64.0) / 32.0 + 2.0 * libm::log(64.0 / 0.02) + 1.0;
        assert_within("paper", rounds_to_recover("paper", window), paper, 0.02);
        // W/5: in steps of 16 up to 64 below; 4 segments at each of 15, 14, … 2 a round; the last 8 at 0.2.
        let quarters: f64 = (2..16).map(|step| 4.0 / f64::from(step)).sum();
        let linux = (window / 5.0 - 64.0) / 16.0 + quarters + 40.0;
        assert_within("linux", rounds_to_recover("linux", window), linux, 0.02);
    }
}

#[test]
fn an_ack_adds_its_fraction_of_the_step() {
    let mut bic = avoiding(400, BicVariant::Paper);
    bic.on_ack(&ack(Instant::ZERO, RTT));
    assert_eq!(bic.window.segments(), 400.0 + 32.0 / 400.0);
    bic.on_ack(&Ack { cwnd_limited: false, ..ack(Instant::ZERO, RTT) });
    assert_eq!(bic.window.segments(), 400.0 + 32.0 / 400.0);
}
