use super::*;
use crate::congestion::Allowance;
use crate::congestion::Cause;
use crate::congestion::tests::{SEGMENT, Steady, ack, assert_within, congestion, start};
use lightlag_core::Instant;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn after_one_ack(rtt: Duration) -> Hybla {
    let mut hybla = Hybla::new(&Config::default(), &start(1));
    hybla.on_ack(&ack(Instant::ZERO, rtt));
    hybla
}

/// Returns Hybla in congestion avoidance at a window of `window` segments.
fn avoiding(window: f64) -> Hybla {
    let mut hybla = Hybla::new(&Config::default(), &start(10));
    hybla.on_congestion(&congestion(Cause::Loss, 2.0 * window));
    hybla
}

#[test]
fn slow_start_adds_two_to_the_rho_less_one() {
    for (rtt, added) in [(10, 1.0), (25, 1.0), (50, 3.0), (100, 15.0), (250, 1023.0), (300, 4095.0)] {
        let window = after_one_ack(ms(rtt)).window.segments();
        assert!((window - 1.0 - added).abs() < 1e-9, "RTT {rtt} ms: {window}");
    }
    // 60/25 = 2.4, 2^2.4 = 5.278; 110/25 = 4.4, 2^4.4 = 21.112. Linux has eighths: 4.156 and 19.625.
    assert!((after_one_ack(ms(60)).window.segments() - 5.278).abs() < 0.001);
    assert!((after_one_ack(ms(110)).window.segments() - 21.112).abs() < 0.001);
}

#[test]
fn the_exponent_stays_at_16_and_the_window_at_the_clamp() {
    let hybla = after_one_ack(ms(600));
    assert_eq!(hybla.doubling, 65_535.0);
    assert_eq!(hybla.window.segments(), 65_535.0);
    let endless = after_one_ack(Duration::from_secs(2400));
    assert_eq!((endless.doubling, endless.window.segments()), (65_535.0, 65_535.0));
}

#[test]
fn avoidance_adds_rho_squared_a_window() {
    for (rtt, each_window) in [(25, 1.0), (50, 4.0), (100, 16.0), (300, 144.0), (600, 576.0)] {
        // 600/25 = 24, 24² = 576.
        let mut hybla = avoiding(10_000.0);
        (0..100).for_each(|_| hybla.on_ack(&ack(Instant::ZERO, ms(rtt))));
        let a_window = (hybla.window.segments() - 10_000.0) * 100.0;
        assert_within(&format!("at {rtt} ms"), a_window, each_window, 0.001);
    }
}

#[test]
fn slow_start_ends_at_the_threshold() {
    let mut hybla = avoiding(50.0);
    hybla.on_congestion(&congestion(Cause::Timeout, 50.0));
    hybla.on_ack(&ack(Instant::ZERO, ms(600)));
    assert_eq!(hybla.window.segments(), 25.0);
    // 576/25 = 23.04.
    hybla.on_ack(&ack(Instant::ZERO, ms(600)));
    assert!((hybla.window.segments() - 48.04).abs() < 1e-9, "{}", hybla.window.segments());
}

#[test]
fn the_window_starts_at_rho_times_the_initial_one() {
    let begin = |rtt| Hybla::new(&Config::default(), &ConnectionStart { rtt, ..start(10) }).window();
    assert_eq!(begin(None), 10 * SEGMENT);
    assert_eq!(begin(Some(ms(20))), 10 * SEGMENT);
    assert_eq!(begin(Some(ms(100))), 40 * SEGMENT);
    assert_eq!(begin(Some(ms(600))), 240 * SEGMENT);
}

#[test]
fn rho_follows_the_minimum_rtt_or_srtt() {
    for (rho_source, each) in [(RhoSource::MinRtt, 3.0), (RhoSource::Srtt, 15.0)] {
        let mut hybla = Hybla::new(&Config { rho_source, ..Config::default() }, &start(10));
        hybla.on_ack(&Ack { min_rtt: ms(50), srtt: ms(100), ..ack(Instant::ZERO, ms(80)) });
        assert_eq!(hybla.window.segments(), 10.0 + each, "{rho_source:?}");
    }
}

#[test]
fn delayed_acks_count_once_or_for_each_segment() {
    for (count, each) in [(Increment::Segments, 2.0), (Increment::Acks, 1.0)] {
        let mut hybla = Hybla::new(&Config { count, ..Config::default() }, &start(10));
        hybla.on_ack(&Ack { newly_acked: 2 * SEGMENT, ..ack(Instant::ZERO, ms(100)) });
        assert_eq!(hybla.window.segments(), 10.0 + 15.0 * each, "{count:?}");
    }
}

#[test]
fn after_a_timeout_a_jump_counts_what_the_connection_counts() {
    let mut hybla = avoiding(1000.0);
    hybla.on_congestion(&congestion(Cause::Timeout, 1000.0));
    hybla.on_ack(&Ack { newly_acked: 90 * SEGMENT, phase: Phase::Loss, ..ack(Instant::ZERO, ms(50)) });
    assert_eq!(hybla.window.segments(), 4.0);
}

#[test]
fn the_window_over_the_rtt_does_not_depend_on_the_rtt() {
    // W = ρ·(20 + t/RTT0): after 10 s 420 segments for each 25 ms.
    for rtt in [25, 50, 100, 200, 400, 600] {
        let mut path = Steady::new(r#""hybla""#, ms(rtt));
        let rho = rtt as f64 / 25.0;
        path.avoid_from(20.0 * rho);
        while path.now < Instant::ZERO + Duration::from_secs(10) {
            path.acknowledge();
        }
        assert_within(&format!("W/ρ at {rtt} ms"), path.window() / rho, 420.0, 0.01);
    }
}

#[test]
fn the_mean_window_under_random_loss_is_rho_times_the_one_of_newreno() {
    for rtt in [25, 100, 600] {
        let (mean, p) = Steady::new(r#""hybla""#, ms(rtt)).lose_at_random(2e-4, 3000);
        let rho = rtt as f64 / 25.0;
        assert_within(&format!("mean window at {rtt} ms"), mean, rho * (1.5 / p).sqrt(), 0.1);
    }
}

fn linux26(start: &ConnectionStart) -> Hybla {
    Hybla::new(&Config { variant: Linux26Variant::Linux26, count: Increment::Acks, ..Config::default() }, start)
}

#[test]
fn linux_26_starts_with_rho_in_whole_segments() {
    for (rtt, window) in [(25, 1), (110, 4), (600, 24)] {
        let begins = ConnectionStart { rtt: Some(ms(rtt)), ..start(10) };
        assert_eq!(linux26(&begins).window(), window * SEGMENT, "at {rtt} ms");
    }
    // 110/25 = 4.4, in eighths 4.375: 2^4.375 - 1 = 19.75.
    let mut hybla = linux26(&start(1));
    hybla.on_ack(&ack(Instant::ZERO, ms(110)));
    assert!((hybla.window.segments() - 20.749).abs() < 0.001, "{}", hybla.window.segments());
}

#[test]
fn linux_26_cuts_what_it_adds_to_128ths() {
    // 128/87 = 1.47: a 128th an ACK, so 128 ACKs for a segment. Above 128 segments nothing.
    for (window, acks) in [(87.0, 128), (64.0, 64)] {
        let mut hybla = linux26(&start(10));
        hybla.on_congestion(&congestion(Cause::Loss, 2.0 * window));
        (1..acks).for_each(|_| hybla.on_ack(&ack(Instant::ZERO, ms(25))));
        assert_eq!(hybla.window.segments(), window);
        hybla.on_ack(&ack(Instant::ZERO, ms(25)));
        assert_eq!(hybla.window.segments(), window + 1.0);
    }
    let mut hybla = linux26(&start(10));
    hybla.on_congestion(&congestion(Cause::Loss, 400.0));
    (0..10_000).for_each(|_| hybla.on_ack(&ack(Instant::ZERO, ms(25))));
    assert_eq!(hybla.window.segments(), 200.0);
}

#[test]
fn linux_26_keeps_its_part_of_a_segment_through_a_loss_and_grows_as_newreno_after_a_timeout() {
    let mut hybla = linux26(&start(10));
    hybla.on_congestion(&congestion(Cause::Loss, 40.0));
    // 128 · 16/20 = 102.4 of 128.
    hybla.on_ack(&ack(Instant::ZERO, ms(100)));
    assert_eq!((hybla.window.segments(), hybla.part), (20.0, 102.0 / 128.0));
    hybla.on_congestion(&congestion(Cause::Loss, 40.0));
    hybla.on_ack(&ack(Instant::ZERO, ms(100)));
    assert_eq!((hybla.window.segments(), hybla.part), (21.0, 76.0 / 128.0));
    hybla.on_congestion(&congestion(Cause::Timeout, 20.0));
    (0..3).for_each(|_| hybla.on_ack(&Ack { phase: Phase::Loss, ..ack(Instant::ZERO, ms(100)) }));
    assert_eq!(hybla.window.segments(), 4.0);
}
