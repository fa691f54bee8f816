use super::super::registry::{Choice, build};
use super::super::tests::{SEGMENT, ack, congestion, start};
use super::super::{Ack, Cause, CongestionControl, Phase};
use lightlag_core::{Duration, Instant};

/// Algorithms that have a module of Linux 2.6.
const MODULES: [&str; 7] = ["bic", "highspeed", "htcp", "scalable", "veno", "westwood", "yeah"];

/// Returns the time `millis` after the start, in milliseconds.
fn at(millis: u64) -> Instant {
    Instant::ZERO + ms(millis)
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Returns the module of an algorithm with a window of `window` segments, above ssthresh.
fn avoiding(name: &str, window: f64) -> Box<dyn CongestionControl> {
    let choice: Choice =
        serde_json::from_str(&format!(r#"{{ "algorithm": "{name}", "variant": "linux-2.6" }}"#)).unwrap();
    let mut module =
        build(&choice, &super::super::ConnectionStart { ssthresh: Some(window as u32 - 1), ..start(window as u64) });
    // A segment above ssthresh: no slow start.
    assert_eq!(module.window(), window as u64 * SEGMENT);
    module.on_ack(&ack(at(100), ms(100)));
    module
}

#[test]
fn windows_and_thresholds_are_whole_segments() {
    for name in MODULES {
        let mut module = avoiding(name, 101.0);
        for i in 1..2000 {
            let now = at(100 + i);
            module.on_ack(&ack(now, ms(100)));
            assert_eq!(module.window() % SEGMENT, 0, "{name}");
        }
        module.on_congestion(&congestion(Cause::Loss, 50.0));
        assert_eq!(module.ssthresh() % SEGMENT, 0, "{name}");
        assert_eq!(module.window() % SEGMENT, 0, "{name}");
    }
}

#[test]
fn a_loss_takes_a_part_of_the_window_whatever_is_in_flight() {
    // The window after a loss at 101 segments: BIC 819/1024 = 80, HighSpeed b = 112/256 takes 44, H-TCP a half,
    // Scalable 101 - 12, Veno 4/5 without a queue, Westwood+ a half, YeAH an eighth.
    let kept =
        [("bic", 80), ("highspeed", 57), ("htcp", 50), ("scalable", 89), ("veno", 80), ("westwood", 50), ("yeah", 89)];
    for (name, segments) in kept {
        let mut module = avoiding(name, 101.0);
        module.on_congestion(&congestion(Cause::Loss, 10.0));
        assert_eq!(module.ssthresh(), segments * SEGMENT, "{name}");
    }
}

#[test]
fn the_minimum_window_of_recovery_is_ssthresh_or_half_of_it() {
    let least = [("bic", 80), ("highspeed", 28), ("htcp", 50), ("scalable", 44), ("veno", 80), ("yeah", 44)];
    for (name, segments) in least {
        let mut module = avoiding(name, 101.0);
        module.on_congestion(&congestion(Cause::Loss, 101.0));
        assert_eq!(module.least_in_recovery(), segments * SEGMENT, "{name}");
    }
}

#[test]
fn each_timeout_has_its_own_threshold() {
    for name in MODULES {
        let mut module = avoiding(name, 101.0);
        module.on_congestion(&congestion(Cause::Timeout, 101.0));
        assert_eq!(module.window(), SEGMENT, "{name}");
        module.on_congestion(&congestion(Cause::RepeatedTimeout, 1.0));
        assert_eq!((module.window(), module.ssthresh()), (SEGMENT, 2 * SEGMENT), "{name}");
    }
}

#[test]
fn slow_start_also_applies_at_the_threshold() {
    for name in MODULES {
        let choice: Choice =
            serde_json::from_str(&format!(r#"{{ "algorithm": "{name}", "variant": "linux-2.6" }}"#)).unwrap();
        let mut module = build(&choice, &super::super::ConnectionStart { ssthresh: Some(4), ..start(2) });
        for i in 1..=4 {
            module.on_ack(&ack(at(100 * i), ms(100)));
        }
        // 2, 3, 4, and 5 by the ACK at the threshold; the next one counts.
        assert_eq!(module.window(), 5 * SEGMENT, "{name}");
    }
}

#[test]
fn fast_recovery_opens_no_window() {
    for name in MODULES {
        let mut module = avoiding(name, 10.0);
        for i in 1..100 {
            module.on_ack(&Ack { phase: Phase::Recovery, ..ack(at(100 + i), ms(100)) });
        }
        assert_eq!(module.window(), 10 * SEGMENT, "{name}");
    }
}
