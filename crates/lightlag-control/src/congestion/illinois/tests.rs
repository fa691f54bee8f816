use super::*;
use crate::congestion::Allowance;
use crate::congestion::tests::{SEGMENT, Steady, ack, assert_within, congestion, start};
use crate::congestion::{Choice, Phase};

/// Returns Illinois in congestion avoidance at a window of `window` segments.
fn avoiding(window: f64) -> Illinois {
    let mut illinois = Illinois::new(&Config::default(), &start(10));
    illinois.on_congestion(&congestion(Cause::Loss, 2.0 * window));
    illinois
}

/// Runs rounds of one sample each, whose RTTs are these multiples of `base`. The window does not grow.
fn rounds(illinois: &mut Illinois, base: Duration, multiples: &[f64]) {
    for multiple in multiples {
        let rtt = Duration::from_secs_f64(base.as_secs_f64() * multiple);
        // Beyond the end of the last round, as `linux-2.6` requires.
        illinois.on_ack(&Ack { min_rtt: base, cwnd_limited: false, snd_una: 1, snd_nxt: 0, ..ack(Instant::ZERO, rtt) });
    }
}

#[test]
fn alpha_and_beta_have_their_values() {
    // Also where the queue is 20 minutes long: no sample is cut.
    for base in [Duration::from_millis(100), Duration::from_secs(1200)] {
        for (delay, alpha, beta) in [
            (0.0, 10.0, 0.125),
            (0.02, 7.538, 0.125),
            (0.05, 4.336, 0.125),
            (0.1, 2.5385, 0.125),
            (0.2, 1.3879, 0.1786),
            (0.5, 0.5881, 0.3393),
            (0.8, 0.3731, 0.5),
            (1.0, 0.3, 0.5),
        ] {
            let mut illinois = avoiding(40.0);
            // The maximum delay equals the base; then α must return to its maximum, for the vector at 0.
            rounds(&mut illinois, base, &[1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0 + delay]);
            assert_within(&format!("alpha at {delay}"), illinois.slopes.alpha, alpha, 2e-4);
            assert_within(&format!("beta at {delay}"), illinois.slopes.decrease, beta, 4e-4);
        }
    }
}

#[test]
fn the_delay_of_a_round_is_the_mean_of_its_samples() {
    let mut illinois = avoiding(40.0);
    let base = Duration::from_millis(100);
    rounds(&mut illinois, base, &[1.0, 2.0]);
    let sample = |rtt, snd_una| {
        let rtt = Duration::from_millis(rtt);
        Ack { min_rtt: base, cwnd_limited: false, snd_una, snd_nxt: 9000, ..ack(Instant::ZERO, rtt) }
    };
    // The first ends the round that started at 0 and starts one up to 9000; 20 and 80 % of the maximum delay follow.
    for (rtt, una) in [(200, 1000), (120, 5000), (180, 9000)] {
        illinois.on_ack(&sample(rtt, una));
    }
    assert_within("alpha at the mean", illinois.slopes.alpha, 0.5881, 2e-4);
    assert_within("beta at the mean", illinois.slopes.decrease, 0.3393, 4e-4);
}

#[test]
fn alpha_is_its_maximum_until_there_was_a_queue_and_five_rounds_after_it() {
    let base = Duration::from_millis(100);
    let mut illinois = avoiding(40.0);
    rounds(&mut illinois, base, &[1.0; 4]);
    assert_eq!(illinois.slopes.alpha, 10.0);
    rounds(&mut illinois, base, &[2.0]);
    assert_within("alpha at the maximum delay", illinois.slopes.alpha, 0.3, 1e-9);
    rounds(&mut illinois, base, &[1.0; 4]);
    assert_within("alpha after 4 rounds", illinois.slopes.alpha, 0.3, 1e-9);
    rounds(&mut illinois, base, &[1.005]);
    assert_eq!(illinois.slopes.alpha, 10.0);
}

#[test]
fn a_round_adds_alpha_and_a_loss_takes_beta() {
    // W² grows by 2α an ACK: 40 ACKs at 40 and α = 10, √(1600 + 800) = 48.99.
    let mut illinois = avoiding(40.0);
    for _ in 0..40 {
        illinois.on_ack(&ack(Instant::ZERO, Duration::from_millis(100)));
    }
    assert_within("the window after a round", illinois.window.segments(), 49.0, 0.01);
    assert_eq!(illinois.slopes.decrease, 0.125);
    illinois.on_congestion(&congestion(Cause::Loss, 48.0));
    assert_eq!((illinois.window(), illinois.ssthresh()), (42 * SEGMENT, 42 * SEGMENT));
}

#[test]
fn a_small_window_is_newreno_s() {
    let mut illinois = avoiding(10.0);
    rounds(&mut illinois, Duration::from_millis(100), &[1.0; 3]);
    let before = illinois.window.segments();
    illinois.on_ack(&ack(Instant::ZERO, Duration::from_millis(100)));
    assert!((illinois.window.segments() - before - 1.0 / before).abs() < 1e-12);
    illinois.on_congestion(&congestion(Cause::Loss, 10.0));
    assert_eq!(illinois.window(), 5 * SEGMENT);
}

#[test]
fn a_timeout_makes_a_newreno_of_it_until_the_round_ends_and_can_be_undone() {
    let base = Duration::from_millis(100);
    let mut illinois = avoiding(40.0);
    rounds(&mut illinois, base, &[1.0; 3]);
    illinois.on_congestion(&congestion(Cause::Timeout, 40.0));
    assert_eq!((illinois.window(), illinois.ssthresh()), (SEGMENT, 35 * SEGMENT));
    assert_eq!((illinois.slopes.alpha, illinois.slopes.decrease), (1.0, 0.5));
    illinois.on_undo(Instant::ZERO);
    assert_eq!((illinois.window(), illinois.ssthresh()), (40 * SEGMENT, 40 * SEGMENT));
    assert_eq!((illinois.slopes.alpha, illinois.slopes.decrease), (10.0, 0.125));
    illinois.on_congestion(&congestion(Cause::Timeout, 40.0));
    illinois.on_ack(&Ack { phase: Phase::Loss, ..ack(Instant::ZERO, base) });
    assert_eq!((illinois.slopes.alpha, illinois.slopes.decrease), (10.0, 0.125));
}

#[test]
fn without_a_queue_random_losses_leave_the_window_of_ten_segments_a_round_and_an_eighth() {
    // AIMD(α = 10, kept 7/8): √(α(1 + 7/8)/(2p/8)) (RFC 9438 §4.3 equation 3) = 274 segments at p = 1e-3.
    let (mean, p) = Steady::new(r#""illinois""#, Duration::from_millis(100)).lose_at_random(1e-3, 3000);
    assert_within("mean window", mean, (10.0 * 1.875 / (0.25 * p)).sqrt(), 0.1);
}

#[test]
fn relations_between_parameters_are_checked_when_all_are_set() {
    let read = |table: &str| serde_json::from_str::<Choice>(table);
    for (low, high) in [("eta2", "eta3"), ("alpha_min", "alpha_max"), ("decrease_min", "decrease_max")] {
        // Each exceeds the default of the other bound: only both together are in order.
        for (min, max) in [(0.85, 0.9), (0.05, 0.08)] {
            for (first, second) in [((low, min), (high, max)), ((high, max), (low, min))] {
                let table = format!(
                    r#"{{ "algorithm": "illinois", "{}": {}, "{}": {} }}"#,
                    first.0, first.1, second.0, second.1
                );
                read(&table).unwrap_or_else(|error| panic!("{table}: {error}"));
            }
            let table = format!(r#"{{ "algorithm": "illinois", "{low}": {max}, "{high}": {min} }}"#);
            let error = read(&table).unwrap_err().to_string();
            assert!(error.contains(&format!("{low}: {max} is above {high}, which is {min}")), "{error}");
        }
    }
    read(r#"{ "algorithm": "illinois", "eta2": 0.99, "eta3": 1 }"#).unwrap();
}

#[test]
fn linux_26_keeps_what_a_loss_should_take() {
    let config = Config { variant: Linux26Variant::Linux26, ..Config::default() };
    let mut illinois = Illinois::new(&config, &start(10));
    illinois.on_congestion(&congestion(Cause::Loss, 80.0));
    assert_eq!(illinois.window(), 40 * SEGMENT, "an equal part before anything is known");
    let base = Duration::from_millis(100);
    rounds(&mut illinois, base, &[1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    assert_eq!(illinois.slopes.decrease, 0.125);
    illinois.on_congestion(&congestion(Cause::Loss, 40.0));
    assert_eq!(illinois.window(), 5 * SEGMENT);
    // Below 15 segments α changes at the end of the round.
    assert_eq!(illinois.slopes.alpha, 10.0);
    rounds(&mut illinois, base, &[1.0]);
    assert_eq!((illinois.slopes.alpha, illinois.slopes.decrease), (1.0, 0.5));
}

#[test]
fn linux_26_grows_by_whole_segments() {
    let config = Config { variant: Linux26Variant::Linux26, ..Config::default() };
    let mut illinois = Illinois::new(&config, &start(10));
    illinois.on_congestion(&congestion(Cause::Loss, 66.0));
    // Slow start holds at ssthresh; then 4 ACKs of α = 10 make 40, and W is 34.
    let sample = Ack { snd_nxt: 1, ..ack(Instant::ZERO, Duration::from_millis(100)) };
    let windows: Vec<u64> = (0..5)
        .map(|_| {
            illinois.on_ack(&sample);
            illinois.window() / SEGMENT
        })
        .collect();
    assert_eq!(windows, [34, 34, 34, 34, 35]);
}

#[test]
fn linux_26_ends_no_round_in_fast_recovery() {
    let config = Config { variant: Linux26Variant::Linux26, ..Config::default() };
    let mut illinois = Illinois::new(&config, &start(10));
    illinois.on_congestion(&congestion(Cause::Loss, 80.0));
    let base = Duration::from_millis(100);
    rounds(&mut illinois, base, &[1.0, 2.0]);
    assert_within("alpha at the maximum delay", illinois.slopes.alpha, 0.3, 2e-4);
    let sample = |phase, rtt_ms| {
        let rtt = Duration::from_millis(rtt_ms);
        Ack { min_rtt: base, cwnd_limited: false, snd_una: 1, snd_nxt: 0, phase, ..ack(Instant::ZERO, rtt) }
    };
    illinois.on_ack(&sample(Phase::Recovery, 120));
    assert_within("alpha at the maximum delay", illinois.slopes.alpha, 0.3, 2e-4);
    // The next ACK ends the round, with the samples of the repair.
    illinois.on_ack(&sample(Phase::Open, 180));
    assert_within("alpha at the mean", illinois.slopes.alpha, 0.5881, 2e-4);
}
