use super::*;
use crate::congestion::Window;
use crate::congestion::bic::BicVariant;
use crate::congestion::tests::{congestion, start};

fn module() -> BicLinux26 {
    BicLinux26::new(&Config::of(BicVariant::Linux26))
}

fn after_loss(window: f64) -> BicLinux26 {
    let mut module = module();
    module.threshold(window, &congestion(Cause::Loss, window));
    module
}

#[test]
fn the_count_follows_the_distance_from_the_last_loss() {
    let module = after_loss(400.0);
    // 14 and less; (400 - 100)/4 = 75 > 16: 100/16; (400 - 360)/4 = 10: 360/10; (400 - 394)/4 = 1: 5 W.
    for (window, count) in [(14.0, 14.0), (100.0, 6.0), (360.0, 36.0), (394.0, 1970.0)] {
        assert_eq!(module.wanted(window), count, "{window}");
    }
    // Above: 5 W for 4 segments, 3 W/above up to 48, then W/16.
    for (window, count) in [(403.0, 2015.0), (410.0, 123.0), (447.0, 28.0), (448.0, 28.0)] {
        assert_eq!(module.wanted(window), count, "{window}");
    }
}

#[test]
fn an_ack_for_each_segment_almost_halves_the_count() {
    let mut module = after_loss(400.0);
    let sender = Sender::at(Window::new(&start(100)));
    module
        .measure(&crate::congestion::tests::ack(lightlag_core::Instant::ZERO, lightlag_core::Duration::ZERO), &sender);
    // ⌊16·36/31⌋ = 18
    module.update(360.0, 1.0);
    assert_eq!((module.delayed_ack, module.count), (31.0, 18.0));
}

#[test]
fn the_count_is_unchanged_for_31_ms_while_the_window_is() {
    let mut module = after_loss(400.0);
    module.update(360.0, 0.0);
    let kept = module.count;
    module.last_max = 1000.0;
    module.update(360.0, 31.0);
    assert_eq!(module.count, kept);
    module.update(360.0, 32.0);
    assert_ne!(module.count, kept);
}

#[test]
fn a_timeout_forgets_the_last_loss() {
    let mut module = after_loss(400.0);
    module.begin(&congestion(Cause::Timeout, 1.0));
    assert_eq!((module.last_max, module.has_lost), (0.0, false));
    // At most 20, and half of it: 10.
    module.update(1000.0, 0.0);
    assert_eq!(module.count, 10.0);
}
