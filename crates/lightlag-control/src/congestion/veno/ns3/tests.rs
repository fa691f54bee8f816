use super::*;
use crate::congestion::Cause;
use crate::congestion::tests::{SEGMENT, ack, congestion, start};
use lightlag_core::Instant;

fn veno(rtt: u64) -> VenoNs3 {
    let begin = ConnectionStart { ssthresh: Some(50), rtt: Some(Duration::from_millis(100)), ..start(100) };
    let mut veno = VenoNs3::new(&Config::default(), &begin);
    // Two segments, as a delayed ACK has.
    let ack = Ack { newly_acked: 2 * SEGMENT, growth: 2.0, ..ack(Instant::ZERO, Duration::from_millis(rtt)) };
    veno.on_ack(&ack);
    veno
}

#[test]
fn an_ack_adds_a_fraction_whatever_it_acknowledges() {
    assert_eq!(veno(100).window.segments(), 100.01);
    assert_eq!(veno(200).window.segments(), 100.01);
}

#[test]
fn a_loss_keeps_four_fifths_of_the_flight_without_a_queue() {
    // 100 - ⌊100/1.02⌋ = 2, 100 - ⌊100/1.03⌋ = 3
    for (rtt, kept) in [(102, 40), (103, 25)] {
        let mut veno = veno(rtt);
        veno.on_congestion(&congestion(Cause::Loss, 50.0));
        assert_eq!(veno.window.bytes(), kept * SEGMENT, "{rtt}");
    }
}
