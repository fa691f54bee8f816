use super::*;
use crate::congestion::Window;
use crate::congestion::linux26::Linux26Variant;
use crate::congestion::tests::{ack, congestion, start};
use lightlag_core::{Duration, Instant};

#[test]
fn fifty_one_acks_add_a_segment_to_any_large_window() {
    for (window, acks) in [(10, 11), (50, 51), (100, 51), (1000, 51)] {
        let mut module = ScalableLinux26::new(&Config::of(Linux26Variant::Linux26));
        let mut sender = Sender::at(Window::new(&start(window)));
        for _ in 1..acks {
            module.avoid_congestion(&ack(Instant::ZERO, Duration::ZERO), &mut sender);
        }
        assert_eq!(sender.whole(), window as f64);
        module.avoid_congestion(&ack(Instant::ZERO, Duration::ZERO), &mut sender);
        assert_eq!(sender.whole(), window as f64 + 1.0);
    }
}

#[test]
fn a_small_window_also_loses_an_eighth() {
    let mut module = ScalableLinux26::new(&Config::of(Linux26Variant::Linux26));
    for (window, left) in [(7.0, 7.0), (8.0, 7.0), (16.0, 14.0), (1000.0, 875.0)] {
        assert_eq!(module.threshold(window, &congestion(crate::congestion::Cause::Loss, 1.0)), left);
    }
}
