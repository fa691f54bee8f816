use super::*;
use crate::congestion::Allowance;
use crate::congestion::tests::bottleneck::Bottleneck;
use crate::congestion::tests::{SEGMENT, ack, assert_within, congestion, start};

const BASE: Duration = Duration::from_millis(100);

/// Returns YeAH in congestion avoidance at a window of `window` segments, at the start of a round.
fn avoiding(window: f64) -> Yeah {
    let mut yeah = Yeah::new(&Config::default(), &start(10));
    yeah.on_congestion(&congestion(Cause::Loss, 4.0));
    yeah.window.raise_to(window);
    yeah.on_ack(&held(100, 0));
    yeah
}

/// Returns an ACK that does not grow the window; one with `snd_una` 1 ends a round.
fn held(rtt_ms: u64, snd_una: u64) -> Ack {
    let rtt = Duration::from_millis(rtt_ms);
    Ack { snd_una, snd_nxt: 1, min_rtt: BASE, cwnd_limited: false, ..ack(Instant::ZERO, rtt) }
}

fn rounds(yeah: &mut Yeah, rtt_ms: u64, count: usize) {
    for _ in 0..count {
        for snd_una in [0, 0, 1] {
            yeah.on_ack(&held(rtt_ms, snd_una));
        }
    }
}

/// Processes an ACK. Returns the growth in segments.
fn growth(yeah: &mut Yeah) -> f64 {
    let before = yeah.window.segments();
    yeah.on_ack(&Ack { min_rtt: BASE, snd_nxt: 1, ..ack(Instant::ZERO, BASE) });
    yeah.window.segments() - before
}

#[test]
fn growth_is_scalable_s_while_the_queue_is_short_and_reno_s_otherwise() {
    // L is 0.12 and 0.13; 1/φ is 0.125. Q is 43 and 46 segments of 400.
    let mut yeah = avoiding(400.0);
    rounds(&mut yeah, 112, 1);
    assert!((growth(&mut yeah) - 0.01).abs() < 1e-9);
    rounds(&mut yeah, 113, 2);
    assert!((growth(&mut yeah) - 1.0 / 400.01).abs() < 1e-9);
    let mut small = avoiding(50.0);
    assert!((growth(&mut small) - 0.02).abs() < 1e-9, "at least one segment per round");
}

#[test]
fn a_long_queue_is_given_back_but_not_what_reno_would_have() {
    // Q = 200 * 80/180 = 88.9.
    let mut yeah = avoiding(200.0);
    rounds(&mut yeah, 180, 1);
    assert_within("window", yeah.window.segments(), 200.0 - 88.889, 1e-5);
    assert_eq!(yeah.window(), yeah.ssthresh());
    // At most half of it: Q = 200 * 300/400 = 150. Then Wreno is half of the rest.
    let mut yeah = avoiding(200.0);
    rounds(&mut yeah, 400, 1);
    assert_eq!((yeah.window.segments(), yeah.memory.reno), (100.0, 50.0));
    // Q = 300 * 700/800 again gives half, but after 120 slow rounds Reno would have 170.
    let mut yeah = avoiding(300.0);
    yeah.memory.reno = 50.0;
    rounds(&mut yeah, 113, 120);
    assert_eq!(yeah.memory.reno, 170.0);
    rounds(&mut yeah, 800, 1);
    assert_eq!(yeah.window.segments(), 170.0);
}

#[test]
fn a_loss_takes_the_queue_or_an_eighth_or_half() {
    // Q = 100 * (RTT − 100)/RTT.
    for (rtt, window) in [(125, 80.0), (105, 87.5), (400, 50.0)] {
        let mut yeah = avoiding(100.0);
        yeah.config.q_max = 1000.0;
        rounds(&mut yeah, rtt, 1);
        yeah.on_congestion(&congestion(Cause::Loss, 100.0));
        assert_within(&format!("window after a loss at {rtt} ms"), yeah.window.segments(), window, 1e-9);
    }
    // Sixteen slow rounds: other flows fill the queue.
    for (slow, window) in [(15, 80.0), (16, 50.0)] {
        let mut yeah = avoiding(100.0);
        rounds(&mut yeah, 125, slow);
        yeah.on_congestion(&congestion(Cause::Loss, 100.0));
        assert_within("window", yeah.window.segments(), window, 1e-9);
    }
}

#[test]
fn fast_rounds_forget_reno_and_losses_halve_it() {
    let mut yeah = avoiding(100.0);
    rounds(&mut yeah, 125, 11);
    assert_eq!(yeah.memory.reno, 60.0);
    rounds(&mut yeah, 100, 50);
    assert_eq!(yeah.memory, ReductionHistory { slow: 0.0, fast: 50.0, reno: 60.0 });
    let before = (yeah.window(), yeah.memory);
    yeah.on_congestion(&congestion(Cause::Timeout, 100.0));
    assert_eq!(yeah.window(), SEGMENT);
    assert_eq!(yeah.memory, ReductionHistory { slow: 0.0, fast: 0.0, reno: 30.0 });
    yeah.on_undo(Instant::ZERO);
    assert_eq!((yeah.window(), yeah.memory), before);
    rounds(&mut yeah, 100, 1);
    assert_eq!(yeah.memory, ReductionHistory { slow: 0.0, fast: 0.0, reno: 2.0 });
}

#[test]
fn two_samples_decide_nothing() {
    let mut yeah = avoiding(200.0);
    yeah.on_ack(&held(300, 0));
    yeah.on_ack(&held(300, 1));
    assert_eq!((yeah.window.segments(), yeah.queue), (200.0, 0.0));
}

#[test]
fn one_flow_gives_the_queue_back_before_it_is_longer_than_its_bound() {
    // μ base = 1000 segments: L is 8 % at Q = 80, so no round is slow before. A fast round adds 11. The decision is one
    // round late, and the data in flight then may cause a second one.
    let mut path = Bottleneck::new(10_000.0, BASE);
    path.limit = 500.0;
    path.add(r#""yeah""#);
    path.warm_up(Duration::from_secs(60));
    let mut windows = Vec::new();
    for _ in 0..600 {
        path.run(Duration::from_millis(100));
        windows.push(path.flows[0].algorithm.window() as f64 / SEGMENT as f64);
    }
    let (min, max) = windows.iter().fold((f64::MAX, 0.0_f64), |(min, max), w| (min.min(*w), max.max(*w)));
    assert!((1080.0..1110.0).contains(&max), "{max}");
    assert!((920.0..1010.0).contains(&min), "{min}");
    assert!((20.0..60.0).contains(&path.mean_queue()), "{}", path.mean_queue());
    assert_within("utilisation", path.utilisation(Duration::from_secs(60)), 1.0, 0.03);
}
