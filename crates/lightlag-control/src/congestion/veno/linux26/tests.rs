use super::*;
use crate::congestion::tests::{ack, congestion, start};
use crate::congestion::{Cause, Window};

/// Returns a module and its sender after this many ACKs at a window of 100 segments, with an RTTmin of 100 ms.
fn after(acks: u64, rtt: u64) -> (VenoLinux26, Sender) {
    let begin = ConnectionStart { rtt: Some(Duration::from_millis(100)), ssthresh: Some(50), ..start(100) };
    let mut module = VenoLinux26::new(&Config::default(), &begin);
    let mut sender = Sender::at(Window::new(&begin));
    for i in 0..acks {
        let ack = ack(Instant::ZERO + Duration::from_millis(i), Duration::from_millis(rtt));
        module.measure(&ack, &sender);
        module.avoid_congestion(&ack, &mut sender);
    }
    (module, sender)
}

#[test]
fn the_queue_is_counted_in_half_segments() {
    // 100 - ⌊200/1.02⌋/2 = 2, 100 - ⌊200/1.03⌋/2 = 3
    assert_eq!(after(10, 102).0.queued, 2.0);
    assert_eq!(after(10, 103).0.queued, 3.0);
}

#[test]
fn a_window_and_an_ack_add_a_segment_or_twice_as_many_with_a_queue() {
    // The first ACK and the handshake are too few samples. 1 + 101, then 102 without and 102 with a segment.
    let cases = [(100, 101, 100.0), (100, 102, 101.0), (110, 102, 101.0), (110, 305, 101.0), (110, 306, 102.0)];
    for (rtt, acks, window) in cases {
        assert_eq!(after(acks, rtt).1.whole(), window, "{acks} at {rtt} ms");
    }
}

#[test]
fn a_loss_without_a_queue_keeps_four_fifths() {
    for (rtt, kept) in [(102, 80.0), (103, 50.0)] {
        assert_eq!(after(10, rtt).0.threshold(100.0, &congestion(Cause::Loss, 1.0)), kept);
    }
}
