use super::*;
use crate::congestion::tests::{SEGMENT, congestion, start};

#[test]
fn the_initial_window_is_in_segments_and_bytes() {
    let window = Window::new(&start(10));
    assert_eq!((window.segments(), window.bytes()), (10.0, 10 * SEGMENT));
    assert_eq!((window.threshold(), window.threshold_bytes()), (f64::INFINITY, u64::MAX));
    assert!(window.in_slow_start());
}

#[test]
fn slow_start_stops_at_the_threshold_and_leaves_the_rest() {
    let mut window = Window::new(&start(10));
    window.react(&congestion(Cause::Timeout, 10.0), 4.5);
    assert_eq!(window.slow_start(2.0, 1.0), 0.0);
    assert_eq!(window.segments(), 3.0);
    // Space for 1.5 of 2 segments.
    assert_eq!(window.slow_start(2.0, 1.0), 0.5);
    assert_eq!(window.segments(), 4.5);
    assert_eq!(window.slow_start(2.0, 1.0), 2.0);
    assert_eq!(window.segments(), 4.5);
}

#[test]
fn the_rest_counts_acknowledged_segments_not_increments() {
    let mut window = Window::new(&start(10));
    window.react(&congestion(Cause::Timeout, 10.0), 31.0);
    // Two segments of 15 each have space for 30.
    assert_eq!(window.slow_start(3.0, 15.0), 1.0);
    assert_eq!(window.segments(), 31.0);
}

#[test]
fn the_threshold_stays_at_two_segments() {
    let mut window = Window::new(&start(3));
    window.react(&congestion(Cause::Loss, 3.0), 1.5);
    assert_eq!((window.segments(), window.threshold()), (2.0, 2.0));
    window.react(&congestion(Cause::Timeout, 1.0), 0.5);
    assert_eq!((window.segments(), window.threshold()), (1.0, 2.0));
}

#[test]
fn bytes_are_rounded_to_the_nearest() {
    let mut window = Window::new(&ConnectionStart { segment_size: 1460, ..start(1) });
    // Three thirds of a segment are not quite one in binary.
    (0..3).for_each(|_| window.grow(1.0 / 3.0));
    assert!(window.segments() < 2.0);
    assert_eq!(window.bytes(), 2 * 1460);
}

#[test]
fn no_kind_of_growth_goes_beyond_the_limit() {
    let limited = |initial| Window::new(&ConnectionStart { max_window: Some(20), ..start(initial) });
    assert_eq!(limited(30).segments(), 20.0);
    let mut window = limited(10);
    assert_eq!((window.slow_start(15.0, 1.0), window.segments()), (0.0, 20.0));
    window.react(&congestion(Cause::Loss, 20.0), 10.0);
    window.grow(100.0);
    assert_eq!(window.segments(), 20.0);
    window.react(&congestion(Cause::Loss, 20.0), 10.0);
    window.raise_to(15.0);
    assert_eq!(window.segments(), 15.0);
    window.raise_to(25.0);
    assert_eq!(window.segments(), 20.0);
    // A threshold above the limit is not reached.
    let mut window = Window::new(&ConnectionStart { max_window: Some(20), ssthresh: Some(50), ..start(10) });
    window.slow_start(100.0, 1.0);
    assert_eq!(window.segments(), 20.0);
}

#[test]
fn a_configured_route_ends_slow_start_without_a_loss() {
    let known = |bytes| Window::new(&ConnectionStart { pipe: Some(bytes), ..crate::congestion::tests::start(4) });
    let size = crate::congestion::tests::SEGMENT;
    let mut window = known(20 * size);
    assert!(window.in_slow_start());
    assert_eq!((window.slow_start(20.0, 1.0), window.segments()), (4.0, 20.0));
    assert_eq!(known(1).threshold(), 2.0, "two segments at least");
}
