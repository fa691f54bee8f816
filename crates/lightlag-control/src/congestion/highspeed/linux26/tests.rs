use super::*;
use crate::congestion::tests::{ack, congestion, start};
use crate::congestion::{Cause, Window};
use lightlag_core::{Duration, Instant};

#[test]
fn the_decreases_match_the_rfc_truncated_to_256ths() {
    // RFC 3649, appendix B: b = 0.50, 0.44, 0.37, 0.33, 0.24 and 0.10 next to these windows, rounded there.
    let mut module = HighSpeedLinux26::new(&Config::default());
    for (row, decrease) in [(0, 128.0), (1, 112.0), (4, 93.0), (7, 83.0), (20, 61.0), (70, 25.0)] {
        module.row = row;
        assert_eq!(module.decrease(), decrease, "{}", TABLE[row].0);
    }
}

#[test]
fn each_ack_counts_a_and_the_rest_of_a_window_remains() {
    let mut module = HighSpeedLinux26::new(&Config::default());
    let mut sender = Sender::at(Window::new(&start(100)));
    let mut acks = 0;
    while sender.whole() < 102.0 {
        module.avoid_congestion(&ack(Instant::ZERO, Duration::ZERO), &mut sender);
        acks += 1;
    }
    // a = 2 up to 118 segments: 50 ACKs for 100, 51 for 101 with what remains of 102.
    assert_eq!((module.row, acks), (1, 101));
}

#[test]
fn a_loss_in_slow_start_keeps_the_last_entry() {
    let mut module = HighSpeedLinux26::new(&Config::default());
    assert_eq!(module.threshold(1000.0, &congestion(Cause::Loss, 1.0)), 500.0);
}
