use super::*;
use crate::congestion::Phase;
use crate::congestion::cubic::CubicVariant;
use crate::congestion::tests::{SEGMENT, ack, congestion, start};

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn after_loss() -> CubicNs3 {
    let mut cubic = CubicNs3::new(&Config::of(CubicVariant::Ns3), &start(100));
    cubic.on_congestion(&congestion(Cause::Loss, 90.0));
    cubic
}

#[test]
fn a_loss_keeps_a_fraction_of_the_window_in_whole_segments() {
    assert_eq!(after_loss().window.segments(), 70.0);
}

#[test]
fn the_end_of_the_repair_counts_its_segments_for_later_increments() {
    let mut cubic = after_loss();
    let repair = Ack { newly_acked: 90 * SEGMENT, phase: Phase::Recovery, ..ack(at(100), Duration::from_millis(100)) };
    cubic.on_ack(&repair);
    cubic.on_recovered(at(100));
    // K = ∛(30/0.4) = 4.217 s. The target is 100 - ⌊0.4·4.117³⌋ = 73: ⌊70/3⌋ of the 90 are used.
    assert_eq!((cubic.window.segments(), cubic.count), (71.0, 67.0));
    // After 2 s it is 100 - ⌊0.4·2.117³⌋ = 97, ⌊71/26⌋ = 2; thereafter each ACK has enough.
    for window in [72.0, 73.0, 74.0] {
        cubic.on_ack(&ack(at(2100), Duration::from_millis(100)));
        assert_eq!(cubic.window.segments(), window);
    }
}

#[test]
fn nothing_is_as_fast_as_reno_for_its_own_sake() {
    let mut cubic = after_loss();
    cubic.count = 0.0;
    // Near K the target is not above the window: 100 W.
    cubic.curve = Some(Ns3Curve { start: at(0), k: 1.0, origin: 70.0 });
    for _ in 0..200 {
        cubic.on_ack(&ack(at(1000), Duration::from_millis(100)));
    }
    assert_eq!(cubic.window.segments(), 70.0);
}
