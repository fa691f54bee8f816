use super::*;
use crate::congestion::tests::{SEGMENT, ack, assert_within, congestion, start};
use crate::congestion::{Cause, Choice, build};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + ms(millis)
}

fn covering(segments: u64) -> Ack {
    Ack { newly_acked: segments * SEGMENT, duplicate: segments == 0, ..ack(at(0), ms(100)) }
}

#[test]
fn the_filter_has_its_values() {
    // Samples of 1 every τ/10: 19/21 of the old value, 1/21 of the two samples.
    let mut filter = Tustin::new(ms(500));
    for expected in [1.0 / 21.0, 0.1383, 0.2204] {
        filter.filter(1.0, 0.05);
        assert!((filter.bandwidth - expected).abs() < 5e-5, "{}", filter.bandwidth);
    }
    (0..200).for_each(|_| filter.filter(1.0, 0.05));
    assert!((filter.bandwidth - 1.0).abs() < 1e-6);
}

#[test]
fn regular_acks_are_their_rate() {
    let mut filter = Tustin::new(ms(500));
    // Two segments every 20 ms: 100 per second.
    for n in 0..400 {
        filter.on_ack(&ack(at(20 * n), ms(100)), 2.0);
    }
    assert_within("the bandwidth", filter.bandwidth(at(20 * 399)), 100.0, 1e-6);
    // Two simultaneous ACKs are one sample.
    for n in 400..800 {
        filter.on_ack(&ack(at(20 * n), ms(100)), 1.0);
        filter.on_ack(&ack(at(20 * n), ms(100)), 1.0);
    }
    assert_within("the bandwidth", filter.bandwidth(at(20 * 799)), 100.0, 1e-6);
}

#[test]
fn bunches_of_acks_raise_the_estimate() {
    // Ten ACKs within 0.9 ms every 100 ms are 100 segments per second. A sample of 10,000 lasts into the gap after it.
    let mut filter = Tustin::new(ms(500));
    for n in 0..2000 {
        let now = at(100 * (n / 10)) + Duration::from_micros(100 * (n % 10));
        filter.on_ack(&ack(now, ms(100)), 1.0);
    }
    assert!(filter.bandwidth(at(19_901)) > 1000.0, "{}", filter.bandwidth);
}

#[test]
fn silence_is_samples_of_zero() {
    let mut filter = Tustin::new(ms(500));
    (0..400).for_each(|n| filter.on_ack(&ack(at(20 * n), ms(100)), 2.0));
    let last = 20 * 399;
    // Every 250 ms: 3/5 of the old value; the first still contains half of the last sample, 1/5·100.
    assert_within("250 ms", filter.bandwidth(at(last + 250)), 100.0, 1e-6);
    assert_within("251 ms", filter.bandwidth(at(last + 251)), 80.0, 1e-6);
    assert_within("501 ms", filter.bandwidth(at(last + 501)), 48.0, 1e-6);
    assert_within("751 ms", filter.bandwidth(at(last + 751)), 28.8, 1e-6);
    assert_eq!(filter.bandwidth(at(last + 3_600_000)), 0.0);
}

#[test]
fn a_cumulative_ack_does_not_count_what_duplicates_counted() {
    let window = Window::new(&start(10));
    let mut counted = AckedSegments::new(0.0);
    assert_eq!(counted.take(&covering(1), &window), 1.0);
    assert_eq!(counted.take(&covering(2), &window), 2.0);
    (0..3).for_each(|_| assert_eq!(counted.take(&covering(0), &window), 1.0));
    assert_eq!(counted.take(&covering(5), &window), 2.0);
    (0..5).for_each(|_| assert_eq!(counted.take(&covering(0), &window), 1.0));
    // Three of the five are covered here, the other two by the next ACK.
    assert_eq!(counted.take(&covering(3), &window), 1.0);
    assert_eq!(counted.take(&covering(4), &window), 2.0);
    assert_eq!(counted.take(&Ack { duplicate: false, ..covering(0) }, &window), 0.0);
    assert_eq!(counted.take(&covering(9), &window), 9.0);
    assert_eq!(AckedSegments::new(2.0).take(&covering(9), &window), 2.0);
}

/// Returns an algorithm with a window of at least `segments`, after 10 s with an ACK every 10 ms.
fn on_a_path_of_100_a_second(segments: u64) -> Box<dyn CongestionControl> {
    let mut westwood = build(&Choice::named("westwood"), &start(segments));
    for n in 0..1000 {
        westwood.on_ack(&Ack { min_rtt: ms(100), cwnd_limited: false, ..ack(at(10 * n), ms(200)) });
    }
    westwood
}

fn event(cause: Cause) -> Congestion {
    Congestion { now: at(9990), min_rtt: ms(100), ..congestion(cause, 20.0) }
}

#[test]
fn a_loss_leaves_what_the_path_holds() {
    // 100 segments per second for 100 ms.
    for cause in [Cause::Loss, Cause::Mark] {
        let mut westwood = on_a_path_of_100_a_second(20);
        westwood.on_congestion(&event(cause));
        assert_eq!((westwood.window(), westwood.ssthresh()), (10 * SEGMENT, 10 * SEGMENT));
        westwood.on_undo(at(9990));
        assert_eq!((westwood.window(), westwood.ssthresh()), (20 * SEGMENT, u64::MAX));
    }
    let mut westwood = on_a_path_of_100_a_second(20);
    westwood.on_congestion(&event(Cause::Timeout));
    assert_eq!((westwood.window(), westwood.ssthresh()), (SEGMENT, 10 * SEGMENT));
}

#[test]
fn a_loss_never_opens_the_window() {
    let mut westwood = on_a_path_of_100_a_second(6);
    westwood.on_congestion(&event(Cause::Loss));
    assert_eq!((westwood.window(), westwood.ssthresh()), (6 * SEGMENT, 10 * SEGMENT));
}

#[test]
fn without_an_estimate_two_segments_are_left() {
    let mut westwood = build(&Choice::named("westwood"), &start(20));
    westwood.on_congestion(&congestion(Cause::Loss, 20.0));
    assert_eq!((westwood.window(), westwood.ssthresh()), (2 * SEGMENT, 2 * SEGMENT));
}
