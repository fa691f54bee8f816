//! Shared helpers of the algorithms' tests: a path without a network, and properties of every algorithm.

use super::*;
use lightlag_core::RandomStream;
use proptest::prelude::*;

pub(super) mod bottleneck;
pub(super) mod link;

/// Payload of a full segment in these tests.
pub(super) const SEGMENT: u64 = 1000;

/// Returns the facts at the start of a connection with an initial window of `segments`.
pub(super) fn start(segments: u64) -> ConnectionStart {
    ConnectionStart {
        segment_size: SEGMENT,
        initial_window: segments,
        rtt: None,
        pipe: None,
        ssthresh: None,
        max_window: None,
        whole: false,
        timestamps: true,
        abe: false,
        ecn: false,
        tso: false,
        paces: false,
        seed: 0,
    }
}

/// Returns the start of an episode with `flight` segments in flight.
pub(super) fn congestion(cause: Cause, flight: f64) -> Congestion {
    let flight = (flight * SEGMENT as f64).round() as u64;
    Congestion { now: Instant::ZERO, cause, flight, srtt: Duration::ZERO, min_rtt: Duration::MAX }
}

/// Returns an ACK of one segment at `now` with the round-trip time `rtt`.
pub(super) fn ack(now: Instant, rtt: Duration) -> Ack {
    Ack {
        now,
        newly_acked: SEGMENT,
        newly_delivered: SEGMENT,
        newly_lost: 0,
        newly_marked: 0,
        duplicate: false,
        ece: false,
        one_way: None,
        growth: 1.0,
        rtt: Some(rtt),
        srtt: rtt,
        min_rtt: rtt,
        inflight: 0,
        prior_inflight: SEGMENT,
        snd_una: 0,
        snd_nxt: 0,
        phase: Phase::Open,
        cwnd_limited: true,
        next_departure: now,
        rate: None,
    }
}

/// A sender that always has data, on a path with a constant round-trip time and no queue. Each segment is acknowledged,
/// and a window of segments per round trip. The reaction to a loss takes no time.
pub(super) struct Steady {
    pub algorithm: Box<dyn CongestionControl>,
    pub segment: u64,
    pub rtt: Duration,
    pub now: Instant,
    /// Number of acknowledged segments.
    pub acked: u64,
}

impl Steady {
    pub fn new(choice: &str, rtt: Duration) -> Self {
        Self::with_segment(choice, rtt, SEGMENT)
    }

    pub fn with_segment(choice: &str, rtt: Duration, segment: u64) -> Self {
        let choice: Choice = serde_json::from_str(choice).unwrap();
        let start = ConnectionStart { segment_size: segment, ..start(10) };
        Self { algorithm: build(&choice, &start), segment, rtt, now: Instant::ZERO, acked: 0 }
    }

    /// Returns the window in segments.
    pub fn window(&self) -> f64 {
        self.algorithm.window() as f64 / self.segment as f64
    }

    /// Acknowledges a segment, after a round-trip time divided by the window in segments.
    pub fn acknowledge(&mut self) {
        self.now += Duration::from_secs_f64(self.rtt.as_secs_f64() / self.window());
        self.acked += 1;
        let una = self.acked * self.segment;
        let ack = Ack {
            newly_acked: self.segment,
            newly_delivered: self.segment,
            prior_inflight: self.algorithm.window(),
            snd_una: una,
            snd_nxt: una + self.algorithm.window(),
            ..ack(self.now, self.rtt)
        };
        self.algorithm.on_ack(&ack);
    }

    pub fn react(&mut self, cause: Cause) {
        let (rtt, flight) = (self.rtt, self.algorithm.window());
        self.algorithm.on_congestion(&Congestion { now: self.now, cause, flight, srtt: rtt, min_rtt: rtt });
    }

    /// Starts congestion avoidance at `window` segments.
    pub fn avoid_from(&mut self, window: f64) {
        let flight = (2.0 * window * self.segment as f64).round() as u64;
        let (now, rtt) = (self.now, self.rtt);
        self.algorithm.on_congestion(&Congestion { now, cause: Cause::Loss, flight, srtt: rtt, min_rtt: rtt });
    }

    /// Loses each segment with `probability`, but at most one per window, until there were `losses` losses. Returns the
    /// mean window over time and the number of losses per segment.
    pub fn lose_at_random(&mut self, probability: f64, losses: u64) -> (f64, f64) {
        let mut random = RandomStream::new(1, "losses");
        let mut protected = 0;
        // The first losses end slow start and its after-effects.
        for warm_up in [true, false] {
            let (begin, first) = (self.now, self.acked);
            let max_losses = if warm_up { 50 } else { losses };
            let mut seen = 0;
            while seen < max_losses {
                self.acknowledge();
                if random.uniform() < probability && self.acked >= protected {
                    protected = self.acked + self.window() as u64;
                    self.react(Cause::Loss);
                    seen += 1;
                }
            }
            if !warm_up {
                let segments = (self.acked - first) as f64;
                return (segments * (self.rtt / self.now.since(begin)), seen as f64 / segments);
            }
        }
        unreachable!("the second turn returns")
    }
}

pub(super) fn assert_within(what: &str, value: f64, expected: f64, tolerance: f64) {
    let off = value / expected - 1.0;
    assert!(off.abs() <= tolerance, "{what}: {value}, expected {expected}, {:+.2} %", 100.0 * off);
}

/// Every algorithm, in every variant.
pub(super) const ALL: &[&str] = &[
    r#""tahoe""#,
    r#""reno""#,
    r#""newreno""#,
    r#"{ "algorithm": "newreno", "increase": "whole" }"#,
    r#"{ "algorithm": "newreno", "slow_start": "hystart++" }"#,
    r#"{ "algorithm": "newreno", "slow_start": "search" }"#,
    r#""bic""#,
    r#"{ "algorithm": "bic", "variant": "linux" }"#,
    r#""cubic""#,
    r#"{ "algorithm": "cubic", "variant": "rfc8312" }"#,
    r#"{ "algorithm": "cubic", "variant": "paper2008" }"#,
    r#"{ "algorithm": "cubic", "variant": "linux" }"#,
    r#"{ "algorithm": "cubic", "variant": "linux-2.6" }"#,
    r#"{ "algorithm": "cubic", "variant": "inet2023" }"#,
    r#""suss""#,
    r#"{ "algorithm": "suss", "variant": "linux" }"#,
    r#""highspeed""#,
    r#"{ "algorithm": "highspeed", "response": "table" }"#,
    r#"{ "algorithm": "highspeed", "response": "linux" }"#,
    r#""scalable""#,
    r#""htcp""#,
    r#""illinois""#,
    r#""vegas""#,
    r#"{ "algorithm": "vegas", "variant": "linux", "rebase": 8 }"#,
    r#""veno""#,
    r#"{ "algorithm": "veno", "rtt_source": "sample" }"#,
    r#""westwood""#,
    r#""westwood+""#,
    r#"{ "algorithm": "westwood+", "filter": "linux" }"#,
    r#"{ "algorithm": "westwood+", "filter": "ns3" }"#,
    r#""westwoodbr""#,
    r#""jersey""#,
    r#"{ "algorithm": "jersey", "window_rtt": "min_rtt" }"#,
    r#""star""#,
    r#""yeah""#,
    r#""fast""#,
    r#""ledbat""#,
    r#"{ "algorithm": "ledbat", "initial_slow_start": true }"#,
    r#""compound""#,
    r#"{ "algorithm": "compound", "tune_gamma": true }"#,
    r#""dctcp""#,
    r#""hybla""#,
    r#"{ "algorithm": "hybla", "rho_source": "srtt", "count": "acks", "slow_start": "hystart" }"#,
];

/// Algorithms that also grow during recovery and ignore a loss, in every variant.
pub(super) const OWN_MODEL: &[&str] = &[r#""copa""#, r#"{ "algorithm": "copa", "mode": "default" }"#];

/// Returns all algorithms, in every variant.
fn everyone() -> Vec<&'static str> {
    [ALL, OWN_MODEL].concat()
}

#[test]
fn nothing_grows_while_the_application_or_a_recovery_holds_the_sender() {
    for choice in ALL {
        let mut path = Steady::new(choice, Duration::from_millis(100));
        for phase in [Phase::Open, Phase::Recovery, Phase::Loss] {
            let before = path.algorithm.window();
            let (cwnd_limited, ready) = (phase == Phase::Recovery, ack(path.now, path.rtt));
            path.algorithm.on_ack(&Ack { phase, cwnd_limited, prior_inflight: before, ..ready });
            assert_eq!(path.algorithm.window(), before, "{choice} {phase:?}");
        }
    }
}

/// Returns the window after a timeout in segments: one, except for algorithms whose authors start with two.
fn least_window(choice: &str) -> u64 {
    if choice == r#""vegas""# { 2 } else { 1 }
}

#[test]
fn after_a_timeout_the_window_is_one_segment() {
    for choice in everyone() {
        let mut path = Steady::new(choice, Duration::from_millis(100));
        path.acknowledge();
        path.react(Cause::Timeout);
        assert_eq!(path.algorithm.window(), least_window(choice) * SEGMENT, "{choice}");
    }
}

#[test]
fn a_repeated_timeout_keeps_the_threshold() {
    // Except in the published program, which computes it from a window of one segment: at least 2.
    for choice in everyone() {
        let mut path = Steady::new(choice, Duration::from_millis(100));
        path.avoid_from(50.0);
        path.react(Cause::Timeout);
        let threshold = path.algorithm.ssthresh();
        path.react(Cause::RepeatedTimeout);
        let expected = if choice.contains("inet2023") { 2 * SEGMENT } else { threshold };
        assert_eq!(path.algorithm.ssthresh(), expected, "{choice}");
        assert_eq!(path.algorithm.window(), least_window(choice) * SEGMENT, "{choice}");
    }
}

#[test]
fn a_false_alarm_gives_window_and_threshold_back() {
    for choice in ALL {
        for cause in [Cause::Loss, Cause::Timeout] {
            let mut path = Steady::new(choice, Duration::from_millis(100));
            path.avoid_from(50.0);
            (0..200).for_each(|_| path.acknowledge());
            let before = (path.algorithm.window(), path.algorithm.ssthresh());
            path.react(cause);
            path.algorithm.on_undo(path.now);
            let after = (path.algorithm.window(), path.algorithm.ssthresh());
            assert!(after.0 >= before.0 && after.1 >= before.1, "{choice} {cause:?}: {before:?}, {after:?}");
        }
    }
}

#[test]
fn after_an_idle_time_the_window_does_not_exceed_the_limit() {
    for choice in ALL {
        let mut path = Steady::new(choice, Duration::from_millis(100));
        if path.algorithm.departures().is_some() {
            continue;
        }
        path.avoid_from(50.0);
        (0..200).for_each(|_| path.acknowledge());
        path.now += Duration::from_secs(5);
        path.algorithm.on_idle(path.now, 10 * SEGMENT, 30 * SEGMENT);
        assert!((SEGMENT..=10 * SEGMENT).contains(&path.algorithm.window()), "{choice}: {}", path.window());
        assert!(path.algorithm.ssthresh() >= 30 * SEGMENT, "{choice}");
    }
}

#[test]
fn a_mark_leaves_no_more_than_there_was_and_with_abe_no_less_than_a_loss() {
    for choice in ALL {
        let reaction = |abe, cause| {
            let mut algorithm = build(&serde_json::from_str(choice).unwrap(), &ConnectionStart { abe, ..start(50) });
            let before = algorithm.window();
            algorithm.on_congestion(&congestion(cause, 50.0));
            assert!(algorithm.window() <= before, "{choice} {cause:?}");
            algorithm.window()
        };
        assert!(reaction(true, Cause::Mark) >= reaction(false, Cause::Mark), "{choice}");
        assert!(reaction(false, Cause::Mark) >= reaction(false, Cause::Loss), "{choice}");
        assert_eq!(reaction(true, Cause::Loss), reaction(false, Cause::Loss), "{choice}");
    }
}

#[test]
fn a_segment_of_1000_and_of_1460_bytes_give_the_same_trace() {
    for choice in everyone() {
        let trace = |segment| -> Vec<f64> {
            let mut path = Steady::with_segment(choice, Duration::from_millis(50), segment);
            (0..3000)
                .map(|n| {
                    path.acknowledge();
                    match n % 700 {
                        400 => path.react(Cause::Loss),
                        650 => path.react(Cause::Timeout),
                        _ => {}
                    }
                    path.window()
                })
                .collect()
        };
        for (n, (small, large)) in trace(1000).into_iter().zip(trace(1460)).enumerate() {
            assert!((small / large - 1.0).abs() < 1e-3, "{choice}: {small} and {large} after {n} ACKs");
        }
    }
}

#[test]
fn the_same_acks_give_the_same_windows() {
    for choice in ALL {
        let run = || Steady::new(choice, Duration::from_millis(80)).lose_at_random(0.01, 50);
        assert_eq!(run(), run(), "{choice}");
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Acks(u16),
    Idle(u16),
    Congestion(u8, u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (1_u16..200).prop_map(Step::Acks),
        (1_u16..5000).prop_map(Step::Idle),
        (0_u8..3, 0_u32..2_000_000).prop_map(|(cause, flight)| Step::Congestion(cause, flight)),
    ];
    prop::collection::vec(step, 1..40)
}

proptest! {
    /// RFC 5681 §3.1: ssthresh at least 2 segments, the window at least one.
    #[test]
    fn floors_hold_whatever_happens(steps in steps(), choice in prop::sample::select(everyone()), rtt in 1_u64..3000) {
        let mut path = Steady::new(choice, Duration::from_millis(rtt));
        for step in steps {
            match step {
                Step::Acks(count) => (0..count).for_each(|_| path.acknowledge()),
                Step::Idle(ms) => path.now += Duration::from_millis(ms.into()),
                Step::Congestion(cause, flight) => {
                    let cause = [Cause::Loss, Cause::Timeout, Cause::RepeatedTimeout][usize::from(cause)];
                    let (now, rtt) = (path.now, path.rtt);
                    let event = Congestion { now, cause, flight: flight.into(), srtt: rtt, min_rtt: rtt };
                    path.algorithm.on_congestion(&event);
                }
            }
            prop_assert!(path.algorithm.window() >= SEGMENT);
            prop_assert!(path.algorithm.ssthresh() >= 2 * SEGMENT);
            prop_assert!(path.window() < 1e9, "{} segments", path.window());
        }
    }

    /// An ACK never reduces the window.
    #[test]
    fn acks_never_shrink_the_window(choice in prop::sample::select(everyone()), losses in 1_u16..300, rtt in 1_u64..1000) {
        let mut path = Steady::new(choice, Duration::from_millis(rtt));
        for n in 0..1000 {
            let before = path.algorithm.window();
            path.acknowledge();
            prop_assert!(path.algorithm.window() >= before);
            if n % losses == 0 {
                path.react(Cause::Loss);
            }
        }
    }
}
