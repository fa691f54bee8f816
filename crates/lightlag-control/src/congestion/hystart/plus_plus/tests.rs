use super::*;
use crate::congestion::hystart::Policy;
use crate::congestion::tests::{SEGMENT, Steady, ack as plain_ack, congestion, start};
use crate::congestion::{Cause, Choice, ConnectionStart, build};
use lightlag_core::Instant;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A sender with rounds of `acks` ACKs, each of one segment.
struct Rounds {
    policy: PlusPlus,
    window: Window,
    acks: u64,
    una: u64,
    end: u64,
}

impl Rounds {
    fn new(acks: u64) -> Self {
        let config = Config::of(Policy::PlusPlus);
        Self {
            policy: PlusPlus::new(&config, f64::INFINITY),
            window: Window::new(&ConnectionStart { initial_window: 100, ..start(100) }),
            acks,
            una: 0,
            end: acks,
        }
    }

    /// Returns the growth by an ACK with this sample that counts for `growth` segments.
    fn ack(&mut self, rtt: Duration, growth: f64) -> f64 {
        self.una += 1;
        if self.una > self.end {
            self.end = self.una - 1 + self.acks;
        }
        // The data in flight ends one round ahead.
        let next = if self.una == self.end { self.una + self.acks } else { self.end };
        let ack = Ack { snd_una: self.una * SEGMENT, snd_nxt: next * SEGMENT, ..plain_ack(Instant::ZERO, rtt) };
        let before = self.window.segments();
        self.policy.grow(&ack, &mut self.window, growth, 1.0);
        self.window.segments() - before
    }

    /// Runs a round with this RTT. Returns the growth by each of its ACKs.
    fn round(&mut self, rtt: Duration) -> Vec<f64> {
        (0..self.acks).map(|_| self.ack(rtt, 1.0)).collect()
    }

    fn is_conservative(&self) -> bool {
        self.policy.conservative.is_some()
    }
}

#[test]
fn a_rise_of_an_eighth_within_4_and_16_ms_starts_conservative_slow_start() {
    let half = Duration::from_micros(500);
    for (last, least) in [(ms(100), ms(112) + half), (ms(600), ms(616)), (ms(16), ms(20)), (ms(128), ms(144))] {
        for (rtt, slow) in [(least - Duration::from_nanos(1), false), (least, true)] {
            let mut rounds = Rounds::new(10);
            assert_eq!(rounds.round(last), [1.0; 10]);
            let growth = rounds.round(rtt);
            assert_eq!(rounds.is_conservative(), slow, "{rtt} after {last}");
            // The eighth sample of the round decides.
            assert_eq!(growth[..7], [1.0; 7]);
            assert_eq!(growth[7..], [if slow { 0.25 } else { 1.0 }; 3]);
        }
    }
}

#[test]
fn a_round_with_seven_samples_decides_nothing() {
    let mut rounds = Rounds::new(7);
    rounds.round(ms(100));
    rounds.round(ms(300));
    assert!(!rounds.is_conservative());
}

#[test]
fn five_rounds_with_the_one_it_began_in_end_slow_start() {
    let mut rounds = Rounds::new(10);
    rounds.round(ms(100));
    for n in 1..=5 {
        assert!(rounds.window.in_slow_start(), "before round {n}");
        rounds.round(ms(150));
    }
    assert!(!rounds.window.in_slow_start());
    // 100 + 10 + 7 + 3/4 + 39/4: the last ACK of the fifth round ends it without growth.
    assert!((rounds.window.threshold() - 127.5).abs() < 1e-9, "{}", rounds.window.threshold());
}

#[test]
fn an_rtt_below_the_baseline_resumes_slow_start() {
    let mut rounds = Rounds::new(10);
    rounds.round(ms(100));
    rounds.round(ms(150));
    assert!(rounds.is_conservative());
    let growth = rounds.round(ms(149));
    assert_eq!((growth[6], growth[7]), (0.25, 1.0));
    assert!(!rounds.is_conservative());
    // 149 + 16 ms start it again: it is still active.
    rounds.round(ms(165));
    assert!(rounds.is_conservative());
}

#[test]
fn an_ack_counts_for_a_maximum_of_eight_segments() {
    let mut rounds = Rounds::new(10);
    assert_eq!(rounds.ack(ms(100), 8.0), 8.0);
    assert_eq!(rounds.ack(ms(100), 50.0), 8.0);
    rounds.policy.rules = HystartParameters::new(&Config { limit: 1e9, ..Config::of(Policy::PlusPlus) });
    assert_eq!(rounds.ack(ms(100), 50.0), 50.0);
}

#[test]
fn only_the_first_slow_start_has_it() {
    let mut rounds = Rounds::new(10);
    rounds.round(ms(100));
    rounds.window.react(&congestion(Cause::Timeout, 100.0), 1000.0);
    rounds.round(ms(100));
    assert_eq!(rounds.round(ms(200)), [1.0; 10]);
    assert_eq!(rounds.ack(ms(200), 50.0), 50.0);
}

#[test]
fn every_window_based_algorithm_takes_it() {
    for name in ["newreno", "cubic", "hybla"] {
        let choice: Choice =
            serde_json::from_str(&format!(r#"{{ "algorithm": "{name}", "slow_start": "hystart++" }}"#)).unwrap();
        let mut algorithm = build(&choice, &start(100));
        // Rounds of 100 ACKs, the RTT of each 20 ms above the last: conservative starting with the second.
        for n in 0..800_u64 {
            let rtt = ms(25 + 20 * (n / 100));
            let ack = Ack {
                min_rtt: ms(25),
                snd_una: (n + 1) * SEGMENT,
                snd_nxt: (n / 100 + 1) * 100 * SEGMENT + if n % 100 == 99 { 100 * SEGMENT } else { 0 },
                ..plain_ack(Instant::ZERO, rtt)
            };
            algorithm.on_ack(&ack);
        }
        // 100 + 107 in slow start, then 4 rounds and 93 ACKs at a quarter, but the last.
        let expected = (207.0 + 492.0 / 4.0) * SEGMENT as f64;
        assert!((algorithm.ssthresh() as f64 - expected).abs() < 1.0, "{name}: {}", algorithm.ssthresh());
    }
}

#[test]
fn without_a_rise_it_is_slow_start() {
    let trace = |policy: &str| -> Vec<u64> {
        let mut path = Steady::new(&format!(r#"{{ "algorithm": "reno", "slow_start": "{policy}" }}"#), ms(100));
        (0..2000)
            .map(|_| {
                path.acknowledge();
                path.algorithm.window()
            })
            .collect()
    };
    assert_eq!(trace("standard"), trace("hystart++"));
}
