use super::*;
use crate::congestion::Window;
use crate::congestion::tests::{SEGMENT, ack, start};
use lightlag_core::{Duration, Instant};

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn steady(rtt: u64, acks: u64) -> WestwoodLinux26 {
    let mut module = WestwoodLinux26::new(&start(2));
    let sender = Sender::at(Window::new(&start(2)));
    for i in 0..acks {
        module.measure(&ack(at(i), Duration::from_millis(rtt)), &sender);
    }
    module
}

#[test]
fn a_steady_rate_is_the_minimum_window_of_recovery() {
    // A segment of 1000 B a millisecond. The first sample has 100 of them in 101 ms, and the filters cut: ⌊(7·993 +
    // 1000)/8⌋ is 993. 990·100 B are 99 segments.
    let module = steady(100, 1000);
    assert_eq!(module.filtered, (993.0, 990.0));
    assert_eq!(module.least(10.0), 99.0);
}

#[test]
fn a_sample_lasts_longer_than_50_ms() {
    assert_eq!(steady(20, 51).filtered, (0.0, 0.0));
    assert_eq!(steady(20, 52).filtered, (980.0, 980.0));
}

#[test]
fn two_filters_follow_a_new_rate() {
    let mut module = steady(100, 102);
    let first = module.filtered.0;
    module.sample = Some((0.0, 0.0));
    module.count(200.0, 0.0);
    // 7/8 once, 7/8 of the rest and 1/8 of that.
    let once = (7.0 * first / 8.0).floor();
    assert_eq!(module.filtered, (once, ((7.0 * first + once) / 8.0).floor()));
}

#[test]
fn what_duplicates_counted_the_repair_does_not_count_again() {
    let mut module = steady(100, 1);
    let duplicate = Ack { newly_acked: 0, duplicate: true, phase: Phase::Recovery, ..ack(at(2), Duration::ZERO) };
    for _ in 0..3 {
        module.measure_duplicate(&duplicate);
    }
    let segment = SEGMENT as f64;
    assert_eq!(module.accounted, 3.0 * segment);
    assert_eq!(module.uncounted(5.0 * segment), 2.0 * segment);
    assert_eq!(module.uncounted(segment), segment);
}

#[test]
fn without_a_sample_two_segments_remain() {
    assert_eq!(WestwoodLinux26::new(&start(2)).least(1.0), 2.0);
}
