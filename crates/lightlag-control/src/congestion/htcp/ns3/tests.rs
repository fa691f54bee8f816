use super::*;
use crate::congestion::Cause;
use crate::congestion::tests::{SEGMENT, ack, congestion, start};

fn at(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

#[test]
fn alpha_is_a_number_of_bytes() {
    let mut htcp = HtcpNs3::new(&Config::default(), &ConnectionStart { ssthresh: Some(50), ..start(100) });
    htcp.on_ack(&ack(at(3), Duration::from_millis(100)));
    // α = 1 + 10·2 + 1 = 22 bytes of a segment of 1000, and a fraction of 1/100.
    assert!((htcp.window.segments() - 100.032).abs() < 1e-9);
}

#[test]
fn a_loss_keeps_the_ratio_of_the_round_trip_times_if_the_throughput_rose() {
    // Per second: 10 segments, then 15, 15 and 30.
    for (segments, kept) in [(15, 0.625), (10, 0.5), (20, 0.5)] {
        let mut htcp = HtcpNs3::new(&Config::default(), &start(100));
        let mut lose = |second: u64, segments: u64| {
            for rtt in [100, 160] {
                let half = Ack { newly_acked: segments * SEGMENT / 2, ..ack(at(second), Duration::from_millis(rtt)) };
                htcp.on_ack(&half);
            }
            htcp.on_congestion(&crate::congestion::Congestion { now: at(second), ..congestion(Cause::Loss, 80.0) });
            htcp.beta
        };
        assert_eq!(lose(1, 10), 0.5, "the first has nothing to compare with");
        assert_eq!(lose(2, segments), kept, "{segments}");
    }
}
