use super::*;
use crate::congestion::tests::{SEGMENT, Steady, ack, assert_within, congestion, start};
use crate::congestion::{Cause, Choice, Congestion, build};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + ms(millis)
}

#[test]
fn the_filters_have_their_values() {
    let (mut paper, mut linux, mut ns3) =
        (RoundSamples::new(Filter::Paper), RoundSamples::new(Filter::Linux), RoundSamples::new(Filter::Ns3));
    for n in 1..=30 {
        for rounds in [&mut paper, &mut linux, &mut ns3] {
            rounds.take(1.0);
        }
        assert!((paper.bandwidth - (1.0 - libm::pow(0.875, f64::from(n)))).abs() < 1e-12, "after {n}");
        assert_eq!(linux.bandwidth, 1.0);
        // The first sample has a mean of a half.
        let expected = 1.0 - libm::pow(0.9, f64::from(n)) - 0.05 * libm::pow(0.9, f64::from(n - 1));
        assert!((ns3.bandwidth - expected).abs() < 1e-12, "after {n}");
    }
    // Twice: 1/8 of a step shows as 1/64 immediately, then 7/8·1/64 + 1/8·(1/8 + 7/64) more.
    linux.take(2.0);
    assert!((linux.bandwidth - 1.015625).abs() < 1e-12);
    linux.take(2.0);
    assert!((linux.bandwidth - (1.0 + 0.875 / 64.0 + 0.125 * (0.125 + 0.875 * 0.125))).abs() < 1e-12);
}

/// Returns the number of samples in a second, if ACKs with this RTT arrive every 10 ms.
fn samples(filter: Filter, rtt: Duration) -> usize {
    let mut rounds = RoundSamples::new(filter);
    let mut begins = Vec::new();
    for n in 0..=100 {
        rounds.on_ack(&ack(at(10 * n), rtt), 1.0);
        begins.push(rounds.begin);
    }
    begins.dedup();
    begins.len() - 1
}

#[test]
fn a_sample_is_taken_once_per_round_trip() {
    assert_eq!(samples(Filter::Paper, ms(100)), 10);
    assert_eq!(samples(Filter::Paper, ms(20)), 50);
    // Later than 100 ms and 50 ms.
    assert_eq!(samples(Filter::Linux, ms(100)), 9);
    assert_eq!(samples(Filter::Linux, ms(20)), 16);
    assert_eq!(samples(Filter::Ns3, ms(100)), 10);
}

#[test]
fn bunches_of_acks_do_not_raise_the_estimate() {
    // Ten ACKs within 1 ms every 100 ms: 100 segments per second; a sample may end within a bunch.
    for filter in [Filter::Paper, Filter::Linux, Filter::Ns3] {
        let mut rounds = RoundSamples::new(filter);
        for n in 0..2000 {
            let now = at(100 * (n / 10)) + Duration::from_micros(100 * (n % 10));
            rounds.on_ack(&ack(now, ms(100)), 1.0);
        }
        assert_within(&format!("{filter:?}"), rounds.bandwidth(at(20_000)), 100.0, 0.05);
    }
}

#[test]
fn a_loss_leaves_what_the_path_holds() {
    for filter in ["paper", "linux", "ns3"] {
        let choice: Choice =
            serde_json::from_str(&format!(r#"{{ "algorithm": "westwood+", "filter": "{filter}" }}"#)).unwrap();
        let mut westwood = build(&choice, &start(20));
        for n in 0..3000 {
            westwood.on_ack(&Ack { min_rtt: ms(100), cwnd_limited: false, ..ack(at(10 * n), ms(200)) });
        }
        westwood.on_congestion(&Congestion { now: at(30_000), min_rtt: ms(100), ..congestion(Cause::Loss, 20.0) });
        assert_within(filter, westwood.window() as f64 / SEGMENT as f64, 10.0, 0.01);
        assert_eq!(westwood.window(), westwood.ssthresh());
    }
}

#[test]
fn random_losses_on_a_path_without_a_queue_cost_little() {
    // B·RTTmin is the window of some rounds ago: at a loss every 1000 segments far more than half of it stays.
    let mut path = Steady::new(r#""westwood+""#, ms(100));
    path.avoid_from(50.0);
    (0..20_000).for_each(|_| path.acknowledge());
    let before = path.window();
    path.react(Cause::Loss);
    // The filter lags by 7 rounds for a window that grows by one per round.
    assert_within("window after the loss", path.window(), before - 7.5, 0.01);
}
