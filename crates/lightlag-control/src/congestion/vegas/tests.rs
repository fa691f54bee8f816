use super::*;
use crate::congestion::Allowance;
use crate::congestion::tests::bottleneck::Bottleneck;
use crate::congestion::tests::{SEGMENT, ack, assert_within, congestion, start};

const BASE: Duration = Duration::from_millis(100);
const VARIANTS: [VegasVariant; 2] = [VegasVariant::Original, VegasVariant::Linux];

fn vegas(variant: VegasVariant) -> Vegas {
    Vegas::new(&Config { variant, ..Config::default() }, &start(10))
}

/// Returns Vegas in congestion avoidance at a window of `window` segments, with base known.
fn avoiding(variant: VegasVariant, window: f64) -> Vegas {
    let mut vegas = vegas(variant);
    let kept = if variant == VegasVariant::Linux { 0.5 } else { 0.75 };
    vegas.on_congestion(&congestion(Cause::Loss, window / kept));
    vegas.on_ack(&Ack { snd_nxt: 1, ..ack(Instant::ZERO, BASE) });
    vegas
}

/// Runs a round of four samples of `rtt_ms`; `template` gives the other fields of the ACKs.
fn round(vegas: &mut Vegas, rtt_ms: u64, template: Ack) {
    for (snd_una, snd_nxt) in [(0, 1), (0, 1), (0, 1), (1, 1)] {
        let rtt = Some(Duration::from_millis(rtt_ms));
        vegas.on_ack(&Ack { snd_una, snd_nxt, rtt, ..template });
    }
}

#[test]
fn a_round_adds_or_takes_a_segment_by_the_backlog() {
    // diff is 0, 2.14 and 4.6 (Linux: 0, 2.4 and 6).
    for variant in VARIANTS {
        for (rtt, expected) in [(100, 21), (109, 21), (112, 20), (118, 20), (130, 19)] {
            let mut vegas = avoiding(variant, 20.0);
            round(&mut vegas, rtt, ack(Instant::ZERO, BASE));
            assert_eq!(vegas.window(), expected * SEGMENT, "{variant:?} at {rtt} ms");
        }
    }
    let diff = |variant, rtt| {
        let mut vegas = avoiding(variant, 20.0);
        vegas.round = Round::default();
        vegas.round.on_ack(&Ack { snd_nxt: 4, ..ack(Instant::ZERO, BASE) });
        (1..4).for_each(|snd_una| assert_eq!(vegas.round.on_ack(&Ack { snd_una, ..ack(Instant::ZERO, rtt) }), None));
        let samples = vegas.round.on_ack(&Ack { snd_una: 4, ..ack(Instant::ZERO, rtt) }).unwrap();
        vegas.waiting(&samples).unwrap().0
    };
    for (rtt, original, linux) in [(100, 0.0, 0.0), (112, 2.1429, 2.4), (130, 4.6154, 6.0)] {
        for (variant, expected) in [(VegasVariant::Original, original), (VegasVariant::Linux, linux)] {
            let value = diff(variant, Duration::from_millis(rtt));
            assert!((value - expected).abs() < 1e-4, "{variant:?}: {value}, expected {expected}");
        }
    }
}

#[test]
fn an_application_limited_sender_shrinks_but_does_not_grow() {
    for variant in VARIANTS {
        for (rtt, expected) in [(100, 20), (130, 19)] {
            let mut vegas = avoiding(variant, 20.0);
            round(&mut vegas, rtt, Ack { cwnd_limited: false, ..ack(Instant::ZERO, BASE) });
            assert_eq!(vegas.window(), expected * SEGMENT);
        }
    }
}

#[test]
fn slow_start_doubles_every_other_round_or_with_linux_every_round() {
    // A path so fast that bursts do not wait. A round ends before the ACK that ends it releases new data, so the first
    // of that data counts for the next round.
    for (name, expected) in [("original", [20.0, 20.0, 40.0, 40.0, 80.0]), ("linux", [20.0, 40.0, 80.0, 160.0, 320.0])]
    {
        let mut path = Bottleneck::new(1e6, BASE);
        path.add(&format!(r#"{{ "algorithm": "vegas", "variant": "{name}" }}"#));
        path.run(Duration::from_millis(50));
        for window in expected {
            path.run(BASE);
            let segments = path.flows[0].algorithm.window() as f64 / SEGMENT as f64;
            assert_within(name, segments, window, 0.2);
        }
    }
}

#[test]
fn slow_start_ends_when_more_than_gamma_waits() {
    let mut original = vegas(VegasVariant::Original);
    original.on_ack(&Ack { snd_nxt: 1, growth: 30.0, ..ack(Instant::ZERO, BASE) });
    round(&mut original, 150, Ack { growth: 0.0, ..ack(Instant::ZERO, BASE) });
    assert_eq!((original.window(), original.ssthresh()), (40 * SEGMENT, u64::MAX), "this round grew");
    round(&mut original, 102, ack(Instant::ZERO, BASE));
    assert_eq!((original.window(), original.ssthresh()), (40 * SEGMENT, u64::MAX), "diff is 0.78");
    round(&mut original, 150, Ack { growth: 0.0, ..ack(Instant::ZERO, BASE) });
    round(&mut original, 103, ack(Instant::ZERO, BASE));
    assert_eq!((original.window(), original.ssthresh()), (35 * SEGMENT, 35 * SEGMENT), "diff is 1.17");
    let mut linux = vegas(VegasVariant::Linux);
    linux.on_ack(&Ack { snd_nxt: 1, growth: 30.0, ..ack(Instant::ZERO, BASE) });
    round(&mut linux, 125, Ack { growth: 0.0, ..ack(Instant::ZERO, BASE) });
    assert_eq!((linux.window(), linux.ssthresh()), (33 * SEGMENT, 33 * SEGMENT), "40 * 100/125 + 1");
}

#[test]
fn linux_grows_as_newreno_on_a_round_of_two_samples() {
    let mut linux = avoiding(VegasVariant::Linux, 20.0);
    let slow = ack(Instant::ZERO, Duration::from_millis(300));
    linux.on_ack(&Ack { snd_nxt: 1, ..slow });
    linux.on_ack(&Ack { snd_una: 1, snd_nxt: 2, ..slow });
    assert_eq!(linux.window(), 20 * SEGMENT + SEGMENT / 20);
}

#[test]
fn losses_and_timeouts_cost_what_the_variant_specifies() {
    for (variant, loss, timeout) in [(VegasVariant::Original, 30, 2), (VegasVariant::Linux, 20, 1)] {
        let mut vegas = avoiding(variant, 40.0);
        vegas.on_congestion(&congestion(Cause::Loss, 40.0));
        assert_eq!((vegas.window(), vegas.ssthresh()), (loss * SEGMENT, loss * SEGMENT));
        vegas.on_undo(Instant::ZERO);
        assert_eq!(vegas.window(), 40 * SEGMENT);
        vegas.on_congestion(&congestion(Cause::Timeout, 40.0));
        assert_eq!((vegas.window(), vegas.ssthresh()), (timeout * SEGMENT, 20 * SEGMENT));
        // Slow start repairs it, in every round.
        for _ in 0..5 {
            vegas.on_ack(&Ack { phase: Phase::Loss, ..ack(Instant::ZERO, BASE) });
        }
        assert_eq!(vegas.window(), (timeout + 5) * SEGMENT);
    }
}

#[test]
fn an_idle_time_makes_linux_forget_the_base() {
    for (variant, base) in [(VegasVariant::Original, BASE), (VegasVariant::Linux, Duration::MAX)] {
        let mut vegas = avoiding(variant, 40.0);
        vegas.on_idle(Instant::ZERO, 10 * SEGMENT, 30 * SEGMENT);
        assert_eq!((vegas.window(), vegas.base), (10 * SEGMENT, base));
    }
}

/// Returns a bottleneck of 1000 segments/s on a path of 100 ms: 100 segments fill it without a queue.
fn bottleneck(variant: &str, flows: usize) -> Bottleneck {
    let mut path = Bottleneck::new(1000.0, BASE);
    for _ in 0..flows {
        path.add(&format!(r#"{{ "algorithm": "vegas", "variant": "{variant}" }}"#));
        // The first bursts do not meet: each flow measures the path without a queue.
        path.run(Duration::from_millis(100 / flows as u64));
    }
    path
}

#[test]
fn one_flow_keeps_alpha_to_beta_segments_in_the_queue() {
    for variant in ["original", "linux", "ns3"] {
        let mut path = bottleneck(variant, 1);
        path.warm_up(Duration::from_secs(60));
        path.run(Duration::from_secs(60));
        let window = path.flows[0].mean_window();
        assert!((102.0..=104.0).contains(&window), "{variant}: {window}");
        let queue = path.mean_queue();
        assert!((2.0..=4.0).contains(&queue), "{variant}: {queue}");
        assert_within("utilisation", path.utilisation(Duration::from_secs(60)), 1.0, 0.001);
    }
}

#[test]
fn equal_flows_keep_as_many_each() {
    for variant in ["original", "linux"] {
        let mut path = bottleneck(variant, 4);
        path.warm_up(Duration::from_secs(120));
        path.run(Duration::from_secs(60));
        let queue = path.mean_queue();
        assert!((8.0..=16.0).contains(&queue), "{variant}: {queue}");
        // 2 to 4 segments of each: from 2 of 14 to 4 of 10 of all.
        for flow in &path.flows {
            let share = flow.delivered as f64 / 60_000.0;
            assert!((2.0 / 14.0..=4.0 / 10.0).contains(&share), "{variant}: {share}");
        }
    }
}

#[test]
fn a_longer_route_starves_it_unless_the_base_is_measured_again() {
    for (rebase, min, max) in [(0, 0.0, 0.15), (8, 0.99, 1.0)] {
        let mut path = Bottleneck::new(1000.0, BASE);
        path.add(&format!(r#"{{ "algorithm": "vegas", "rebase": {rebase} }}"#));
        path.run(Duration::from_secs(30));
        path.lengthen(Duration::from_millis(100));
        path.warm_up(Duration::from_secs(120));
        path.run(Duration::from_secs(60));
        let used = path.utilisation(Duration::from_secs(60));
        assert!((min..=max).contains(&used), "rebase {rebase}: {used}");
    }
}

/// Returns the variant `scps` in congestion avoidance at a window of `window` segments.
fn scps(window: f64) -> Vegas {
    let choice = serde_json::from_str(r#"{ "algorithm": "vegas", "variant": "scps" }"#).unwrap();
    let crate::congestion::Choice::Vegas(config) = choice else { panic!("{choice:?}") };
    assert_eq!((config.alpha, config.beta, config.gamma), (3.0, 5.0, 4.0));
    let mut vegas = Vegas::new(&config, &start(2 * window as u64));
    vegas.on_congestion(&congestion(Cause::Loss, 1.0));
    vegas.on_ack(&Ack { snd_nxt: 1, ..ack(Instant::ZERO, BASE) });
    vegas
}

#[test]
fn vegas_of_scps_falls_by_half_of_its_excess_backlog() {
    // diff = 40 (1 - 100/RTT): 2.9 and 3.6 below and above alpha, 8 at 125 ms takes 1 + (8 - 5)/2, 30 at 400 ms 1 +
    // 25/2.
    for (rtt, expected) in [(107, 41.0), (110, 40.0), (125, 37.5), (400, 26.5)] {
        let mut vegas = scps(40.0);
        round(&mut vegas, rtt, ack(Instant::ZERO, BASE));
        assert_eq!(vegas.window.segments(), expected, "at {rtt} ms");
    }
}

#[test]
fn vegas_of_scps_halves_its_window_and_restarts_at_one() {
    let mut vegas = scps(40.0);
    assert_eq!((vegas.window(), vegas.ssthresh()), (40 * SEGMENT, 40 * SEGMENT));
    vegas.on_congestion(&congestion(Cause::Timeout, 4.0));
    assert_eq!((vegas.window(), vegas.ssthresh()), (SEGMENT, 20 * SEGMENT));
    // The window doubles every round.
    for (una, window) in [(2, 2), (3, 4), (4, 8)] {
        let growth = vegas.window.segments();
        vegas.on_ack(&Ack { snd_una: una, snd_nxt: una + 1, growth, ..ack(Instant::ZERO, BASE) });
        assert_eq!(vegas.window(), window * SEGMENT);
    }
}

#[test]
fn slow_start_ends_where_the_route_is_full() {
    for (variant, pipe) in [
        (VegasVariant::Original, 24.0),
        (VegasVariant::Linux, 24.0),
        (VegasVariant::Scps, 24.0),
        (VegasVariant::Ns3, 24.0),
    ] {
        let start = ConnectionStart { pipe: Some(24 * SEGMENT), ..start(16) };
        let mut vegas = Vegas::new(&Config { variant, ..Config::default() }, &start);
        vegas.on_ack(&Ack { growth: 16.0, ..ack(Instant::ZERO, BASE) });
        assert_eq!((vegas.window.segments(), vegas.window.in_slow_start()), (pipe, false), "{variant:?}");
    }
}

/// Returns the variant `ns3` in slow start at 20 segments, at the start of a round, with base known.
fn ns3() -> Vegas {
    let mut vegas = Vegas::new(&Config { variant: VegasVariant::Ns3, ..Config::default() }, &start(20));
    vegas.on_ack(&Ack { snd_nxt: 1, growth: 0.0, ..smoothed(100) });
    vegas
}

/// Returns an ACK with this SRTT, and a sample that differs from it.
fn smoothed(srtt_ms: u64) -> Ack {
    Ack { srtt: Duration::from_millis(srtt_ms), growth: 0.0, ..ack(Instant::ZERO, Duration::from_millis(1)) }
}

/// Runs a round of this many ACKs with this SRTT.
fn smoothed_round(vegas: &mut Vegas, srtt_ms: u64, acks: u32) {
    for ack in 1..=acks {
        let growth = f64::from(u8::from(ack == acks));
        vegas.on_ack(&Ack { snd_una: u64::from(ack == acks), snd_nxt: 1, growth, ..smoothed(srtt_ms) });
    }
}

#[test]
fn vegas_of_ns3_ends_slow_start_by_the_smoothed_rtt_in_whole_segments() {
    // 20 · 100/112 = 17.86: the target is 17, 3 wait, W = 18 and ssthresh one less.
    let mut vegas = ns3();
    smoothed_round(&mut vegas, 112, 3);
    assert_eq!((vegas.window.segments(), vegas.window.threshold()), (18.0, 17.0));
    // 20 · 100/105 = 19.05: one waits, which is not more than gamma.
    let mut vegas = ns3();
    smoothed_round(&mut vegas, 105, 3);
    assert_eq!((vegas.window.segments(), vegas.window.in_slow_start()), (21.0, true));
    // Two ACKs are too few.
    let mut vegas = ns3();
    smoothed_round(&mut vegas, 300, 2);
    assert_eq!((vegas.window.segments(), vegas.window.in_slow_start()), (21.0, true));
}

#[test]
fn vegas_of_ns3_keeps_two_to_four_segments_waiting() {
    // W = 18: targets 17, 15 and 13 with one, three and five waiting.
    for (srtt, window, threshold) in [(103, 19.0, 17.0), (115, 18.0, 17.0), (132, 17.0, 16.0)] {
        let mut vegas = ns3();
        smoothed_round(&mut vegas, 112, 3);
        smoothed_round(&mut vegas, srtt, 3);
        assert_eq!((vegas.window.segments(), vegas.window.threshold()), (window, threshold), "at {srtt} ms");
    }
}

#[test]
fn a_loss_costs_vegas_of_ns3_a_segment() {
    let mut vegas = ns3();
    vegas.on_congestion(&congestion(Cause::Loss, 20.0));
    assert_eq!((vegas.window.segments(), vegas.window.threshold()), (19.0, 19.0));
    // A lower threshold stays.
    vegas.window.grow(6.0);
    vegas.on_congestion(&congestion(Cause::Loss, 25.0));
    assert_eq!(vegas.window.segments(), 19.0);
    vegas.on_congestion(&congestion(Cause::Timeout, 19.0));
    assert_eq!((vegas.window.segments(), vegas.window.threshold()), (1.0, 18.0));
}

/// Runs rounds of four ACKs with this RTT and a window in flight, as the kernel of 2.6.22 processes them. Returns the
/// window after each round.
fn linux26_rounds(vegas: &mut Vegas, rtt: Duration, rounds: u64, nxt: &mut u64) -> Vec<u64> {
    let mut each = |vegas: &mut Vegas| {
        let end = *nxt;
        *nxt += vegas.window();
        for snd_una in [end - 2, end - 1, end, end + 1] {
            vegas.on_ack(&Ack { snd_una, snd_nxt: *nxt, ..ack(Instant::ZERO, rtt) });
        }
        vegas.window() / SEGMENT
    };
    (0..rounds).map(|_| each(vegas)).collect()
}

#[test]
fn linux_26_adds_a_segment_every_second_round() {
    let mut vegas = vegas(VegasVariant::Linux26);
    vegas.on_congestion(&congestion(Cause::Loss, 40.0));
    let mut nxt = 100 * SEGMENT;
    let windows = linux26_rounds(&mut vegas, BASE, 9, &mut nxt);
    // The first rounds reflect the time before the loss.
    assert_eq!(windows[2..], [22, 22, 23, 23, 24, 24, 25]);
}

#[test]
fn linux_26_starts_its_base_with_the_handshake() {
    // 20 segments and 5 % of them waiting: less than α. By a base of 90 ms a tenth and more: between α and β.
    for (handshake, grows) in [(None, true), (Some(Duration::from_millis(87)), false)] {
        let config = Config { variant: VegasVariant::Linux26, ..Config::default() };
        let mut vegas = Vegas::new(&config, &ConnectionStart { rtt: handshake, ..start(10) });
        vegas.on_congestion(&congestion(Cause::Loss, 40.0));
        let mut nxt = 100 * SEGMENT;
        let windows = linux26_rounds(&mut vegas, BASE, 12, &mut nxt);
        assert_eq!(windows[11] > windows[3], grows, "{windows:?}");
    }
}
