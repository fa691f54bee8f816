use super::*;
use crate::congestion::Allowance;
use crate::congestion::tests::{SEGMENT, Steady, ack, assert_within, congestion, start};
use crate::congestion::{Cause, Choice, Phase, build};
use lightlag_core::{Duration, Instant};

const RTT: Duration = Duration::from_millis(100);

fn read(json: &str) -> Choice {
    serde_json::from_str(json).expect("the keys exist")
}

/// Returns Reno in congestion avoidance at a window of `window` segments.
fn avoiding(increase: Increase, window: f64) -> Additive {
    let mut reno = Additive::new(&Config::<Reno> { increase, ..Config::default() }, &start(10));
    reno.on_congestion(&congestion(Cause::Loss, 2.0 * window));
    reno
}

#[test]
fn slow_start_adds_what_the_ack_counts() {
    let mut reno = Additive::new(&Config::<Reno>::default(), &start(10));
    reno.on_ack(&ack(Instant::ZERO, RTT));
    assert_eq!(reno.window(), 11 * SEGMENT);
    reno.on_ack(&Ack { growth: 2.0, ..ack(Instant::ZERO, RTT) });
    assert_eq!(reno.window(), 13 * SEGMENT);
}

#[test]
fn avoidance_adds_a_segment_a_window() {
    // W += 1/W ten times, starting at 10: W² grows by about 2 each, √(100 + 20) = 10.95.
    let mut fraction = avoiding(Increase::Fraction, 10.0);
    let mut whole = avoiding(Increase::Whole, 10.0);
    for n in 0..10 {
        assert_eq!(whole.window(), 10 * SEGMENT, "after {n} ACKs");
        fraction.on_ack(&ack(Instant::ZERO, RTT));
        whole.on_ack(&ack(Instant::ZERO, RTT));
    }
    assert!((fraction.window.segments() - 10.96).abs() < 0.005, "{}", fraction.window.segments());
    assert_eq!(whole.window(), 11 * SEGMENT);
}

#[test]
fn integral_windows_stay_integral() {
    // Half of 21 segments is 10; 25 acknowledged together add ⌊25/10⌋ = 2, and five count on.
    let mut whole = avoiding(Increase::Whole, 10.5);
    assert_eq!((whole.window(), whole.ssthresh()), (10 * SEGMENT, 10 * SEGMENT));
    whole.on_ack(&Ack { growth: 25.0, ..ack(Instant::ZERO, RTT) });
    assert_eq!(whole.window(), 12 * SEGMENT);
    whole.on_ack(&Ack { growth: 6.0, ..ack(Instant::ZERO, RTT) });
    assert_eq!(whole.window(), 12 * SEGMENT);
    whole.on_ack(&ack(Instant::ZERO, RTT));
    assert_eq!(whole.window(), 13 * SEGMENT);
}

#[test]
fn a_loss_halves_the_flight_not_the_window() {
    // RFC 5681 equation 4 with 10 segments in flight: 5.
    let mut reno = avoiding(Increase::Fraction, 20.0);
    reno.on_congestion(&congestion(Cause::Loss, 10.0));
    assert_eq!((reno.window(), reno.ssthresh()), (5 * SEGMENT, 5 * SEGMENT));
    reno.on_congestion(&congestion(Cause::Loss, 3.0));
    assert_eq!((reno.window(), reno.ssthresh()), (2 * SEGMENT, 2 * SEGMENT));
}

#[test]
fn slow_start_follows_a_timeout_up_to_the_threshold() {
    let mut reno = avoiding(Increase::Fraction, 20.0);
    reno.on_congestion(&congestion(Cause::Timeout, 20.0));
    let windows: Vec<u64> = (0..10)
        .map(|_| {
            reno.on_ack(&Ack { phase: Phase::Loss, ..ack(Instant::ZERO, RTT) });
            reno.window() / SEGMENT
        })
        .collect();
    assert_eq!(windows, [2, 3, 4, 5, 6, 7, 8, 9, 10, 10]);
}

#[test]
fn every_nth_loss_makes_a_sawtooth_between_half_and_full() {
    // A tooth from W/2 to W takes W/2 rounds of 3W/4 segments: n = 3W²/8. W = 40: 600.
    let mut path = Steady::new(r#""reno""#, RTT);
    path.avoid_from(20.0);
    let mut peaks = Vec::new();
    for n in 1..=20 * 600 {
        path.acknowledge();
        if n % 600 == 0 {
            peaks.push(path.window());
            path.react(Cause::Loss);
        }
    }
    assert_within("the last peak", peaks[19], 40.0, 0.01);
    assert!(peaks[10..].windows(2).all(|pair| (pair[0] - pair[1]).abs() < 0.01), "{peaks:?}");
    assert_within("the bottom", path.window(), 20.0, 0.01);
}

#[test]
fn the_mean_window_under_random_loss_follows_the_square_root() {
    for p in [1e-2, 1e-3, 1e-4] {
        let (mean, p) = Steady::new(r#""reno""#, RTT).lose_at_random(p, 4000);
        // Mathis 1997 with one ACK per segment: √(3/(2p)) for regular losses.
        assert_within(&format!("mean window at {p:.2e}"), mean, (1.5 / p).sqrt(), 0.1);
    }
}

#[test]
fn beta_sets_the_remaining_part_of_the_flight() {
    for (beta, abe, cause, left) in [
        (0.7, false, Cause::Loss, 7),
        (0.7, false, Cause::Timeout, 7),
        (0.7, false, Cause::Mark, 7),
        (0.7, true, Cause::Mark, 8),
        (0.9, true, Cause::Mark, 9),
        (0.1, false, Cause::Loss, 2),
    ] {
        for name in ["reno", "newreno", "tahoe"] {
            let choice = read(&format!(r#"{{ "algorithm": "{name}", "beta": {beta} }}"#));
            let mut algorithm = build(&choice, &ConnectionStart { abe, ..start(10) });
            algorithm.on_congestion(&congestion(cause, 10.0));
            assert_eq!(algorithm.ssthresh(), left * SEGMENT, "{name}, {beta}, {abe}, {cause:?}");
        }
    }
    // Whole segments: ⌊0.7 · 21⌋ = 14.
    let config = Config::<Reno> { increase: Increase::Whole, beta: 0.7, ..Config::default() };
    let mut whole = Additive::new(&config, &start(10));
    whole.on_congestion(&congestion(Cause::Loss, 21.0));
    assert_eq!(whole.ssthresh(), 14 * SEGMENT);
}

#[test]
fn the_default_beta_is_the_algorithm_without_it() {
    for name in ["reno", "newreno", "tahoe"] {
        assert_eq!(read(&format!(r#"{{ "algorithm": "{name}", "beta": 0.5 }}"#)), Choice::named(name));
    }
}

#[test]
fn with_another_beta_sawtooth_and_mean_follow_its_formulas() {
    let text = r#"{ "algorithm": "newreno", "beta": 0.7 }"#;
    // A tooth from βW to W has (1 − β²) W²/2 segments. W = 40: 408.
    let mut path = Steady::new(text, RTT);
    path.avoid_from(28.0);
    let mut peaks = Vec::new();
    for n in 1..=20 * 408 {
        path.acknowledge();
        if n % 408 == 0 {
            peaks.push(path.window());
            path.react(Cause::Loss);
        }
    }
    assert_within("the last peak", peaks[19], 40.0, 0.01);
    assert_within("the bottom", path.window(), 28.0, 0.01);
    for p in [1e-2, 1e-3, 1e-4] {
        let (mean, p) = Steady::new(text, RTT).lose_at_random(p, 4000);
        // One loss every 1/p segments gives W = √(2/((1 − β²) p)) and the mean (1 + β) W/2.
        assert_within(&format!("mean window at {p:.2e}"), mean, (1.7 / (0.6 * p)).sqrt(), 0.1);
    }
}

#[test]
fn with_abe_a_mark_keeps_four_fifths_and_a_loss_half() {
    // RFC 8511 §3.
    for name in ["reno", "newreno", "tahoe"] {
        for (abe, cause, left) in [(true, Cause::Mark, 8), (false, Cause::Mark, 5), (true, Cause::Loss, 5)] {
            let mut algorithm = build(&Choice::named(name), &ConnectionStart { abe, ..start(10) });
            algorithm.on_congestion(&congestion(cause, 10.0));
            assert_eq!(algorithm.ssthresh(), left * SEGMENT, "{name}, {abe}, {cause:?}");
        }
    }
}

#[test]
fn linux_26_counts_what_the_repair_acknowledged() {
    let mut reno = avoiding(Increase::Linux26, 10.5);
    assert_eq!(reno.window(), 10 * SEGMENT);
    let repairing = Ack { phase: Phase::Recovery, newly_acked: 25 * SEGMENT, ..ack(Instant::ZERO, RTT) };
    reno.on_ack(&repairing);
    assert_eq!(reno.window(), 10 * SEGMENT);
    // The first ACK belongs to slow start, which applies at ssthresh and uses up the count.
    reno.on_ack(&ack(Instant::ZERO, RTT));
    assert_eq!(reno.window(), 11 * SEGMENT);
    reno.on_ack(&repairing);
    for window in [12, 13, 13] {
        reno.on_ack(&ack(Instant::ZERO, RTT));
        assert_eq!(reno.window(), window * SEGMENT);
    }
}
