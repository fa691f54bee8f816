use super::*;
use crate::congestion::tests::{SEGMENT, assert_within, congestion, start};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn wave(dispersion: Dispersion) -> Wave {
    Wave::new(&Config { dispersion, ..Config::default() }, &start(10))
}

/// Returns a train of this many segments with 2 ms per segment; the RTT of its first ACK is `rtt` ms.
fn train(segments: f64, rtt: u64) -> Train {
    let span = Duration::from_secs_f64(0.002 * (segments - 1.0));
    Train { segments, rtt: Some(ms(rtt)), span, per_segment: Some(0.002) }
}

fn take(wave: &mut Wave, trains: &[Train]) {
    trains.iter().for_each(|train| wave.take(train));
}

#[test]
fn it_starts_with_ten_segments_every_half_second() {
    let wave = wave(Dispersion::Train);
    assert_eq!((wave.timer, wave.release(Instant::ZERO).segments), (0.5, 10));
    assert_eq!((wave.window(), wave.ssthresh()), (10 * SEGMENT, u64::MAX));
}

#[test]
fn alone_it_sends_at_ten_ninths_of_the_bottleneck_and_scaled_at_its_rate() {
    // 500 segments per second: nine gaps of 2 ms.
    for (dispersion, rate) in [(Dispersion::Train, 10.0 / 0.018), (Dispersion::Scaled, 500.0)] {
        let mut wave = wave(dispersion);
        take(&mut wave, &[train(10.0, 550)]);
        assert_within("the rate", 10.0 / wave.timer, rate, 1e-9);
    }
}

#[test]
fn half_of_the_queueing_delay_is_added_to_the_timer() {
    let mut wave = wave(Dispersion::Train);
    take(&mut wave, &[train(10.0, 550), train(10.0, 600)]);
    // a = 50/600; A = a · 550 + (1 − a) · 600 = 595.83; Δ = 45.83.
    assert_within("A", wave.average_rtt.unwrap(), 0.595_833_333, 1e-8);
    assert_within("the timer", wave.timer, 0.018 + 0.045_833_333 / 2.0, 1e-8);
    // In the steady state Δ = 2/μ = 4 ms: 18 ms + 2 ms are ten segments at 500 per second.
    let mut steady = super::Wave::new(&Config::default(), &start(10));
    take(&mut steady, &[train(10.0, 550)]);
    (0..20).for_each(|_| take(&mut steady, &[train(10.0, 554)]));
    assert_within("the rate", 10.0 / steady.timer, 500.0, 2e-3);
}

#[test]
fn a_long_queue_stops_nearly_everything_until_the_bursts_in_flight_are_back() {
    let mut wave = wave(Dispersion::Train);
    take(&mut wave, &[train(10.0, 550), train(10.0, 740)]);
    // a = 190/740; A = 691.2; Δ = 141.2 is still tracking.
    assert_within("the timer", wave.timer, 0.018 + 0.141_216_216 / 2.0, 1e-8);
    take(&mut wave, &[train(10.0, 740)]);
    // A = a · 691.2 + (1 − a) · 740 = 727.5; Δ = 177.5.
    let average: f64 = 0.727_465_303;
    assert_eq!(wave.timer, 0.5);
    assert_eq!(wave.stable_for, libm::floor(average / 0.018));
    assert_eq!(wave.stable_for, 40.0);
    assert_eq!((wave.min_rtt, wave.average_rtt), (None, Some(0.74)));
    // For 40 rounds only RTTmin and A change.
    (0..40).for_each(|_| take(&mut wave, &[train(10.0, 560)]));
    assert_eq!((wave.timer, wave.stable_for, wave.min_rtt), (0.5, 0.0, Some(0.56)));
    take(&mut wave, &[train(10.0, 560)]);
    assert_within("the timer", wave.timer, 0.018, 1e-9);
}

#[test]
fn the_timer_stays_within_a_millisecond_and_the_first_one() {
    let mut wave = wave(Dispersion::Train);
    take(&mut wave, &[Train { span: Duration::from_micros(3), ..train(10.0, 550) }]);
    assert_eq!(wave.timer, 0.001);
    take(&mut wave, &[Train { span: ms(900), ..train(10.0, 550) }]);
    assert_eq!(wave.timer, 0.5);
}

#[test]
fn without_a_dispersion_the_average_of_the_last_ones_counts() {
    let mut wave = wave(Dispersion::Train);
    let at_once = Train { span: Duration::ZERO, per_segment: None, ..train(10.0, 550) };
    take(&mut wave, &[at_once]);
    assert_eq!(wave.timer, 0.5);
    // 18 ms, then (18 + 30)/2 = 24 ms.
    take(&mut wave, &[train(10.0, 550), Train { span: ms(30), ..train(10.0, 550) }]);
    assert_within("the timer", wave.timer, 0.03, 1e-9);
    take(&mut wave, &[at_once]);
    assert_within("the timer", wave.timer, 0.024, 1e-9);
}

#[test]
fn a_truncated_burst_counts_as_a_complete_one_or_not_at_all() {
    let mut wave = wave(Dispersion::Train);
    // Up to three segments do not make a round.
    take(&mut wave, &[train(3.0, 500)]);
    assert_eq!((wave.timer, wave.min_rtt), (0.5, None));
    // Before any D is known: 8 ms · 10/5.
    take(&mut wave, &[train(5.0, 550)]);
    assert_within("the timer", wave.timer, 0.016, 1e-9);
    // Then the average; the round-trip time of the burst still counts.
    take(&mut wave, &[train(6.0, 540)]);
    assert_within("the timer", wave.timer, 0.016, 1e-9);
    assert_eq!(wave.min_rtt, Some(0.54));
}

#[test]
fn a_loss_changes_nothing_and_a_timeout_the_timer() {
    let mut wave = wave(Dispersion::Train);
    take(&mut wave, &[train(10.0, 550)]);
    for cause in [Cause::Loss, Cause::Mark] {
        wave.on_congestion(&congestion(cause, 10.0));
        assert_within("the timer", wave.timer, 0.018, 1e-9);
    }
    wave.on_congestion(&congestion(Cause::Timeout, 10.0));
    assert_eq!(wave.timer, 0.5);
}
