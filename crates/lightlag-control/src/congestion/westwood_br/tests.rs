use super::*;
use crate::congestion::Allowance;
use crate::congestion::tests::{SEGMENT, ack, assert_within, congestion, start};
use lightlag_core::Instant;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + ms(millis)
}

/// Returns WestwoodBR on a path of 100 ms that holds 10 segments, after 20 s with an ACK of a segment every 10 ms (100
/// segments per second).
fn on_a_path_of_ten(window: u64) -> WestwoodBr {
    let mut westwood = WestwoodBr::new(&Config::default(), &start(window));
    (0..2000).for_each(|n| westwood.on_ack(&Ack { cwnd_limited: false, ..ack(at(10 * n), ms(100)) }));
    westwood
}

/// Processes an ACK with a round-trip time of `rtt` ms on this path.
fn sample(westwood: &mut WestwoodBr, rtt: u64) {
    westwood.on_ack(&Ack { cwnd_limited: false, min_rtt: ms(100), ..ack(at(19_990), ms(rtt)) });
}

fn event(cause: Cause) -> Congestion {
    Congestion { now: at(19_990), min_rtt: ms(100), srtt: ms(100), ..congestion(cause, 20.0) }
}

/// Returns the window and the threshold in segments.
fn state(westwood: &WestwoodBr) -> (f64, f64) {
    (westwood.window() as f64 / SEGMENT as f64, westwood.shared().threshold())
}

#[test]
fn a_loss_at_a_full_rate_is_an_error_and_costs_nothing() {
    // 10 ≥ 0.8 · 12.
    for cause in [Cause::Loss, Cause::Timeout] {
        let mut westwood = on_a_path_of_ten(12);
        westwood.on_congestion(&event(cause));
        assert!(westwood.blames_errors());
        assert_eq!(state(&westwood), (12.0, f64::INFINITY));
        westwood.on_undo(at(20_000));
        assert_eq!(state(&westwood), (12.0, f64::INFINITY));
    }
}

#[test]
fn a_rate_below_the_window_is_congestion() {
    // 10 < 0.8 · 13.
    let mut westwood = on_a_path_of_ten(13);
    westwood.on_congestion(&event(Cause::Loss));
    assert!(!westwood.blames_errors());
    assert_within("W", state(&westwood).0, 10.0, 1e-4);
    let mut westwood = on_a_path_of_ten(13);
    westwood.on_congestion(&event(Cause::Timeout));
    assert!(!westwood.blames_errors());
    assert_eq!(state(&westwood).0, 1.0);
    assert_within("ssthresh", state(&westwood).1, 10.0, 1e-4);
}

#[test]
fn a_mark_is_congestion() {
    let mut westwood = on_a_path_of_ten(11);
    westwood.on_congestion(&event(Cause::Mark));
    assert!(!westwood.blames_errors());
    assert_within("W", state(&westwood).0, 10.0, 1e-4);
}

#[test]
fn a_spike_of_the_round_trip_time_is_congestion() {
    // From 100 to 220 ms: a spike starts at 160 ms and ends below 140 ms.
    for (samples, error) in [
        (vec![220], false),
        (vec![220, 140], false),
        (vec![220, 139], true),
        (vec![220, 100, 159], true),
        (vec![220, 100, 160], false),
        // Below the floor of 10 ms there is no spike.
        (vec![109], true),
        (vec![110], false),
    ] {
        let mut westwood = on_a_path_of_ten(11);
        samples.iter().for_each(|rtt| sample(&mut westwood, *rtt));
        westwood.on_congestion(&event(Cause::Loss));
        assert_eq!(westwood.blames_errors(), error, "{samples:?}");
    }
}

#[test]
fn silence_makes_errors_congestion() {
    let mut westwood = on_a_path_of_ten(11);
    // A second without ACKs: B falls to 0.8 · 0.6³ of what it was.
    westwood.on_congestion(&Congestion { now: at(21_000), ..event(Cause::Timeout) });
    assert!(!westwood.blames_errors());
    assert_eq!(state(&westwood).0, 1.0);
    assert!(state(&westwood).1 < 3.0, "{}", state(&westwood).1);
}

#[test]
fn without_an_estimate_every_loss_is_congestion() {
    let mut westwood = WestwoodBr::new(&Config::default(), &start(20));
    westwood.on_congestion(&congestion(Cause::Loss, 20.0));
    assert!(!westwood.blames_errors());
    assert_eq!(state(&westwood), (2.0, 2.0));
}
