//! The rules of draft-ietf-ccwg-bbr §4.1, one by one.

use super::*;

const SIZE: u64 = 1000;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

const RTT: Duration = Duration::from_millis(100);

/// A sender on a path of 100 ms. `next` and `first`: numbers of the next new and of the first unacknowledged segment.
/// `pipe`: bytes in flight.
struct Flow {
    sampler: RateSampler,
    next: u64,
    first: u64,
    pipe: u64,
}

impl Flow {
    fn new() -> Self {
        Self { sampler: RateSampler::new(0), next: 0, first: 0, pipe: 0 }
    }

    /// Creates a sender that measures like ns-3, after a handshake of 100 ms.
    fn of_ns3() -> Self {
        let mut sampler = RateSampler::of_ns3(0);
        sampler.smoothed(RTT);
        Self { sampler, ..Self::new() }
    }

    fn send(&mut self, ms: u64) -> Sent {
        self.next += 1;
        let sent = self.sampler.sent(at(ms), self.next - 1, SIZE, self.pipe);
        self.pipe += SIZE;
        sent
    }

    /// Returns the sample of an ACK for these segments. Then all segments below `first` are acknowledged.
    fn ack(&mut self, ms: u64, segments: impl IntoIterator<Item = u64>, first: u64) -> RateSample {
        for number in segments {
            self.sampler.delivered(at(ms), number, SIZE);
            self.pipe -= SIZE;
        }
        self.first = first;
        self.sampler.finish(first, RTT).expect("a sample")
    }
}

fn rate(sample: &RateSample) -> f64 {
    sample.bytes_per_second().expect("a valid sample")
}

#[test]
fn a_steady_flow_is_measured_at_its_rate() {
    // A segment every 10 ms, acknowledged 100 ms later: 100 kB/s after the first round trip.
    let mut flow = Flow::new();
    (0..10).for_each(|n| {
        flow.send(10 * n);
    });
    for n in 0..30 {
        let sample = flow.ack(100 + 10 * n, [n], n + 1);
        flow.send(100 + 10 * n);
        if n >= 10 {
            assert_eq!(sample.delivered, 10 * SIZE, "{n}");
            assert_eq!(sample.interval, RTT);
            assert_eq!(sample.tx_in_flight, 10 * SIZE);
            assert!((rate(&sample) - 100_000.0).abs() < 1e-6);
        }
        assert_eq!(sample.total_delivered, (n + 1) * SIZE);
    }
}

#[test]
fn the_first_segment_after_idle_starts_the_interval() {
    let mut flow = Flow::new();
    flow.send(0);
    flow.ack(100, [0], 1);
    flow.send(5000);
    let sample = flow.ack(5100, [1], 2);
    assert_eq!((sample.delivered, sample.interval), (SIZE, RTT));
    assert_eq!(sample.prior_delivered, SIZE);
}

#[test]
fn compressed_acks_are_measured_by_the_time_to_send() {
    // Sent over 90 ms and acknowledged by a single ACK: 10 segments in 100 ms, not in no time.
    let mut flow = Flow::new();
    (0..10).for_each(|n| {
        flow.send(10 * n);
    });
    flow.ack(100, [0], 1);
    (10..20).for_each(|n| {
        flow.send(10 * n);
    });
    flow.ack(200, 1..10, 10);
    // The ACKs of the second ten arrive together at 290 ms: sending took 190 ms from the first departure.
    let sample = flow.ack(290, 10..20, 20);
    assert_eq!(sample.interval, Duration::from_millis(190), "from 0 to 190 ms on the sending side");
    assert_eq!(sample.delivered, 19 * SIZE);
}

#[test]
fn a_burst_is_measured_by_the_time_to_acknowledge() {
    // 10 segments are sent together; the bottleneck delivers one every 20 ms.
    let mut flow = Flow::new();
    (0..10).for_each(|_| {
        flow.send(0);
    });
    for n in 0..10 {
        let sample = flow.ack(100 + 20 * n, [n], n + 1);
        assert_eq!(sample.interval, Duration::from_millis(100 + 20 * n));
        assert_eq!(sample.delivered, (n + 1) * SIZE);
    }
}

#[test]
fn the_newest_segment_of_an_ack_gives_the_sample() {
    let mut flow = Flow::new();
    flow.send(0);
    flow.ack(100, [0], 1);
    for n in 1..5 {
        flow.send(100 + 5 * n);
    }
    // The order in which the scoreboard reports them does not matter.
    let sample = flow.ack(220, [4, 1, 3, 2], 5);
    assert_eq!(sample.tx_in_flight, 4 * SIZE);
    assert_eq!(sample.delivered, 4 * SIZE);
}

#[test]
fn segments_of_one_instant_are_ordered_by_their_number() {
    let mut flow = Flow::new();
    (0..4).for_each(|_| {
        flow.send(0);
    });
    assert_eq!(flow.ack(100, [2, 3, 0, 1], 4).tx_in_flight, 4 * SIZE);
}

#[test]
fn an_interval_below_the_minimum_rtt_gives_no_sample() {
    // Taken as lost and retransmitted at 150 and 165 ms; the ACKs of the first copies arrive at 160 and 170 ms.
    let mut flow = Flow::new();
    (0..3).for_each(|_| {
        flow.send(0);
    });
    flow.sampler.lost(at(150), 0, SIZE);
    flow.sampler.sent(at(150), 0, SIZE, 2 * SIZE);
    flow.ack(160, [0], 1);
    flow.sampler.lost(at(165), 1, SIZE);
    flow.sampler.sent(at(165), 1, SIZE, SIZE);
    let sample = flow.ack(170, [1], 2);
    assert!(sample.retransmitted);
    assert_eq!(sample.bytes_per_second(), None);
    assert_eq!((sample.delivered, sample.total_delivered), (SIZE, 2 * SIZE));
}

#[test]
fn a_timeout_does_not_restart_the_measurement() {
    // Delivered at 100 ms; a timeout at 300 ms takes all the rest as lost, and the ACK of its repair acknowledges that,
    // too.
    let mut flow = Flow::new();
    (0..10).for_each(|_| {
        flow.send(0);
    });
    flow.ack(100, [0], 1);
    (1..10).for_each(|number| {
        flow.sampler.lost(at(300), number, SIZE);
    });
    flow.sampler.sent(at(300), 1, SIZE, 0);
    flow.pipe = 9 * SIZE;
    let sample = flow.ack(400, 1..10, 10);
    assert_eq!((sample.delivered, sample.interval), (9 * SIZE, Duration::from_millis(300)));
    // With nothing outstanding, the next segment starts again.
    flow.send(500);
    assert_eq!(flow.ack(600, [10], 11).interval, RTT);
}

#[test]
fn losses_are_counted_from_the_sending_of_a_segment() {
    let mut flow = Flow::new();
    (0..10).for_each(|_| {
        flow.send(0);
    });
    let lost = flow.sampler.lost(at(110), 3, SIZE);
    assert_eq!((lost.lost_since, lost.tx_in_flight), (SIZE, 4 * SIZE));
    let lost = flow.sampler.lost(at(110), 6, SIZE);
    assert_eq!((lost.lost_since, lost.tx_in_flight), (2 * SIZE, 7 * SIZE));
    flow.pipe -= 2 * SIZE;
    flow.send(115);
    assert_eq!(flow.ack(120, [9], 0).lost, 2 * SIZE);
    // The segment that was sent after both losses has seen none.
    assert_eq!(flow.ack(220, [10], 0).lost, 0);
}

#[test]
fn a_gap_in_the_supply_marks_samples_for_a_round_trip() {
    let mut flow = Flow::new();
    (0..4).for_each(|_| {
        flow.send(0);
    });
    let supply = Supply { unsent: 0, in_flight: flow.pipe, window: 10 * SIZE, to_repair: 0 };
    flow.sampler.check_application_limited(&Supply { unsent: 1, ..supply });
    flow.sampler.check_application_limited(&Supply { to_repair: SIZE, ..supply });
    flow.sampler.check_application_limited(&Supply { window: flow.pipe, ..supply });
    assert!(!flow.sampler.is_application_limited());
    flow.sampler.check_application_limited(&supply);
    assert!(flow.sampler.is_application_limited());
    // Sent before the gap: not limited. After it: limited, until the four in flight then and one more are delivered.
    let sent = flow.send(50);
    assert!(!sent.app_limited, "data was in flight");
    assert!(!flow.ack(100, 0..4, 4).app_limited);
    assert!(flow.sampler.is_application_limited());
    assert!(flow.ack(150, [4], 5).app_limited);
    assert!(!flow.sampler.is_application_limited());
    flow.send(160);
    assert!(!flow.ack(260, [5], 6).app_limited);
}

#[test]
fn a_start_from_idle_is_marked() {
    let mut flow = Flow::new();
    flow.sampler.check_application_limited(&Supply { unsent: 0, in_flight: 0, window: SIZE, to_repair: 0 });
    assert!(flow.send(10).app_limited);
    assert!(!flow.send(10).app_limited);
}

#[test]
fn an_ack_of_nothing_new_gives_no_sample() {
    let mut flow = Flow::new();
    flow.send(0);
    assert_eq!(flow.sampler.finish(0, RTT), None);
    flow.ack(100, [0], 1);
    assert_eq!(flow.sampler.finish(1, RTT), None);
}

#[test]
fn parts_of_a_segment_count_once_each() {
    let mut flow = Flow::new();
    flow.send(0);
    flow.sampler.delivered(at(100), 0, 400);
    assert_eq!(flow.sampler.finish(0, RTT).expect("a sample").delivered, 400);
    flow.sampler.delivered(at(110), 0, 600);
    assert_eq!(flow.sampler.finish(1, RTT).expect("a sample").total_delivered, SIZE);
    assert!(flow.sampler.snapshots.is_empty());
}

/// Returns the rates of a steady flow of 100 kB/s with ten segments in flight and an ACK for every `every` segments.
fn steady_rates(mut flow: Flow, every: u64) -> Vec<f64> {
    (0..10).for_each(|n| {
        flow.send(10 * n);
    });
    let mut rates = Vec::new();
    for ack in 1..100 / every {
        let (first, ms) = (ack * every, 100 + 10 * (ack * every - 1));
        let sample = flow.ack(ms, first - every..first, first);
        rates.push(rate(&sample));
        (0..every).for_each(|_| {
            flow.send(ms);
        });
    }
    rates
}

#[test]
fn ns3_measures_too_little_where_few_acks_cover_a_flight() {
    // Ten, five and two ACKs in a flight.
    for (every, ratio) in [(1, 10.0 / 11.0), (2, 5.0 / 6.0), (5, 2.0 / 3.0)] {
        let of_ns3 = steady_rates(Flow::of_ns3(), every);
        let exact = steady_rates(Flow::new(), every);
        let (last, exact) = (of_ns3[of_ns3.len() - 1], exact[exact.len() - 1]);
        assert!((last / exact - ratio).abs() < 0.002, "{every}: {last} of {exact}");
    }
}

#[test]
fn a_sample_of_ns3_lasts_and_starts_at_the_time_of_the_simulation() {
    let mut flow = Flow::of_ns3();
    (0..4).for_each(|_| {
        flow.send(1000);
    });
    let first = flow.ack(1100, [0], 1);
    assert_eq!((first.delivered, first.interval.as_nanos()), (SIZE, 1_100_000_000));
    // Segments of the same flight are newer while nothing had been delivered.
    let second = flow.ack(1110, [1], 2);
    assert_eq!((second.delivered, second.interval.as_nanos()), (2 * SIZE, 110_000_000));
    flow.send(1110);
    let third = flow.ack(1210, [2, 3, 4], 5);
    assert_eq!((third.delivered, third.prior_delivered), (3 * SIZE, 2 * SIZE));
    // An ACK that delivers nothing still has it.
    assert_eq!(flow.sampler.finish(5, RTT), Some(third));
}

#[test]
fn intervals_of_ns3_are_compared_with_the_minimum_smoothed_round_trip_time() {
    let mut flow = Flow { sampler: RateSampler::of_ns3(0), ..Flow::new() };
    // The handshake waited for a route. The minimum sample, RTT, does not matter.
    flow.sampler.smoothed(Duration::from_millis(300));
    flow.send(1000);
    assert_eq!(flow.ack(1100, [0], 1).interval.as_nanos(), 1_100_000_000);
    (0..2).for_each(|_| {
        flow.send(1100);
    });
    // 275 ms = (7 · 300 + 100) / 8, and 200 ms since the first segment was sent.
    flow.sampler.smoothed(Duration::from_millis(275));
    let short = flow.ack(1200, [1], 2);
    assert_eq!((short.bytes_per_second(), short.delivered), (None, SIZE));
    // Until a newer segment is delivered there is neither a rate nor an amount.
    let none = flow.ack(1210, [2], 3);
    assert_eq!((none.bytes_per_second(), none.delivered), (None, 0));
    // The next time is again the time of the simulation.
    flow.send(1210);
    flow.sampler.smoothed(Duration::from_millis(290));
    assert_eq!(flow.ack(1310, [3], 4).interval.as_nanos(), 1_310_000_000);
    // A smoothed time that rises again changes nothing.
    flow.send(1310);
    assert_eq!(flow.ack(1498, [4], 5).interval.as_nanos(), 288_000_000);
}
