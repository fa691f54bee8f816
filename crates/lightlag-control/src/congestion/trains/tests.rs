use super::*;
use crate::congestion::tests::{SEGMENT, ack};

fn at(micros: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(micros)
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

const INTERVAL: Duration = ms(50);

/// Sends a segment when `in_flight` segments are in flight.
fn send(trains: &mut Trains, micros: u64, in_flight: u64, burst: u32) {
    let prior_inflight = in_flight * SEGMENT;
    let sent = Sent { now: at(micros), bytes: SEGMENT, prior_inflight, app_limited: false };
    trains.on_sent(&sent, burst, INTERVAL);
}

/// Processes an ACK of `acked` segments that leaves `in_flight` segments in flight.
fn come(trains: &mut Trains, micros: u64, acked: u64, in_flight: u64) {
    // Its burst left 100 ms before or slightly later, with bursts every 50 ms.
    let rtt = if micros < 100_000 { 7_000 } else { 100_000 + micros % 50_000 };
    come_after(trains, micros, Duration::from_micros(rtt), acked, in_flight);
}

/// Processes an ACK with this round-trip time.
fn come_after(trains: &mut Trains, micros: u64, rtt: Duration, acked: u64, in_flight: u64) {
    lose(trains, micros, rtt, acked, 0, in_flight);
}

/// Processes an ACK with this round-trip time that marks `lost` segments as lost.
fn lose(trains: &mut Trains, micros: u64, rtt: Duration, acked: u64, lost: u64, in_flight: u64) {
    let (newly_delivered, newly_lost) = (acked * SEGMENT, lost * SEGMENT);
    trains.on_ack(&Ack { newly_delivered, newly_lost, inflight: in_flight * SEGMENT, ..ack(at(micros), rtt) });
}

/// Returns the state after two bursts of four segments, 50 ms apart.
fn two_bursts() -> Trains {
    let mut trains = Trains::new(SEGMENT);
    for burst in 0..2 {
        (0..4).for_each(|n| send(&mut trains, 50_000 * burst, 4 * burst + n, 4));
    }
    trains
}

#[test]
fn a_burst_is_sent_immediately_and_the_next_after_the_interval() {
    let mut trains = Trains::new(SEGMENT);
    assert_eq!(trains.release(at(0), 3).segments, 3);
    for left in [2, 1, 0] {
        send(&mut trains, 0, 2 - left, 3);
        assert_eq!(trains.release(at(0), 3).segments, left as u32);
    }
    assert_eq!(trains.release(at(49_999), 3), Release { segments: 0, next: at(50_000) });
    assert_eq!(trains.release(at(50_000), 3).segments, 3);
    // Unused segments are not added to the next burst, and a late burst moves the following ones.
    send(&mut trains, 60_000, 3, 3);
    assert_eq!(trains.release(at(61_000), 3), Release { segments: 2, next: at(110_000) });
    assert_eq!(trains.release(at(110_000), 3).segments, 3);
    assert_eq!(trains.window(3), 7 * SEGMENT);
}

#[test]
fn a_train_is_the_acks_of_its_burst() {
    let mut trains = two_bursts();
    for n in 0..8 {
        come(&mut trains, 100_000 + 2_000 * n + if n < 4 { 0 } else { 42_000 }, 1, 7 - n);
    }
    for _ in 0..2 {
        let train = trains.next().unwrap();
        assert_eq!((train.segments, train.rtt, train.span), (4.0, Some(ms(100)), ms(6)));
        // From the first three ACKs.
        assert!((train.per_segment.unwrap() - 0.002).abs() < 1e-12);
    }
    assert_eq!(trains.next(), None);
}

#[test]
fn an_ack_for_two_bursts_does_not_end_the_first_one() {
    let mut trains = two_bursts();
    // Every second segment, starting at the second: 1, 3, then 5 with the second burst.
    come(&mut trains, 100_000, 1, 7);
    come(&mut trains, 104_000, 2, 5);
    come(&mut trains, 150_000, 2, 3);
    let train = trains.next().unwrap();
    // 2 ms per segment, three of them after the first ACK.
    assert_eq!((train.segments, train.span), (4.0, ms(6)));
    come(&mut trains, 154_000, 2, 1);
    come(&mut trains, 190_000, 1, 0);
    let train = trains.next().unwrap();
    // The delayed ACK of the last counts in the span, not in the spacing.
    assert_eq!((train.segments, train.span), (4.0, ms(40)));
    assert!((train.per_segment.unwrap() - 0.002).abs() < 1e-12);
}

#[test]
fn losses_do_not_shift_trains() {
    let mut trains = two_bursts();
    // The last segment of the first burst is lost, as the third ACK of the second shows. It is retransmitted in a third
    // burst.
    let rtt = ms(100);
    for n in 0..3 {
        come_after(&mut trains, 100_000 + 2_000 * n, rtt, 1, 7 - n);
    }
    // The first segment of the second burst, sent after 50 ms, is the fourth by the count, but has no information about
    // the first burst.
    come_after(&mut trains, 150_000, rtt, 1, 4);
    let first = trains.next().unwrap();
    assert_eq!((first.segments, first.rtt, first.span), (4.0, Some(rtt), ms(6)));
    assert_eq!(trains.next(), None);
    come_after(&mut trains, 152_000, rtt, 1, 3);
    lose(&mut trains, 154_000, rtt, 1, 1, 1);
    send(&mut trains, 154_000, 1, 4);
    come_after(&mut trains, 156_000, rtt, 1, 1);
    let second = trains.next().unwrap();
    // Without the ACK that counted for the first burst.
    assert_eq!((second.segments, second.span), (4.0, ms(4)));
    assert_eq!(trains.next(), None);
}

#[test]
fn a_burst_that_may_still_grow_is_not_complete() {
    let mut trains = Trains::new(SEGMENT);
    send(&mut trains, 0, 0, 3);
    come(&mut trains, 7_000, 1, 0);
    assert_eq!(trains.next(), None);
    send(&mut trains, 60_000, 0, 3);
    come(&mut trains, 67_000, 1, 0);
    assert_eq!(trains.next().map(|train| train.segments), Some(1.0));
    assert_eq!(trains.next(), None);
}

#[test]
fn one_ack_may_complete_several_bursts() {
    let mut trains = two_bursts();
    come(&mut trains, 157_000, 8, 0);
    for _ in 0..2 {
        let train = trains.next().unwrap();
        assert_eq!((train.segments, train.span, train.per_segment), (4.0, Duration::ZERO, None));
    }
    assert_eq!(trains.next(), None);
}

#[test]
fn after_a_timeout_a_burst_may_be_sent_immediately_and_old_trains_are_forgotten() {
    let mut trains = two_bursts();
    trains.forget();
    assert_eq!(trains.release(at(50_001), 4).segments, 4);
    (0..4).for_each(|n| send(&mut trains, 60_000, n, 4));
    for n in 0..4 {
        come(&mut trains, 67_000 + 1_000 * n, 1, 3 - n);
    }
    assert_eq!(trains.next().map(|train| (train.segments, train.span)), Some((4.0, ms(3))));
    assert_eq!(trains.next(), None);
}
