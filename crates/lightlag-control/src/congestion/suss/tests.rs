use super::*;
use crate::congestion::tests::link::{Conditions, Link};
use crate::congestion::tests::{SEGMENT, ack as plain_ack, assert_within, congestion, start};
use crate::congestion::{Allowance, Choice, build};

const RTT: Duration = Duration::from_millis(100);

fn suss(config: &Config) -> Suss<Cubic> {
    let standard = hystart::Config::of(Policy::Standard);
    let cubic = cubic::Config { hystart: standard, ..cubic::Config::of(CubicVariant::Rfc9438) };
    Suss::new(Cubic::new(&cubic, &start(10)), config, &start(10))
}

fn link(rate: f64, config: &Config) -> Link<Suss<Cubic>> {
    Link::new(suss(config), Conditions::new(rate, RTT))
}

/// Returns the segments delivered up to shortly before the end of each round trip, in a transfer on a path of
/// `rate` bytes/s.
fn by_round(rate: f64, config: &Config, rounds: u32) -> Vec<u64> {
    let mut link = link(rate, config);
    let mut before = 0;
    let one = |round| {
        link.run_until(0.1 * f64::from(round) + 0.0995, |_| {});
        let delivered = link.delivered / SEGMENT;
        let of_round = delivered - before;
        before = delivered;
        of_round
    };
    (1..=rounds).map(one).collect()
}

#[test]
fn three_rounds_quadruple_the_window_and_the_next_doubles_it() {
    // 100 MB/s: a train of 640 segments lasts 6.4 ms.
    assert_eq!(by_round(1e8, &Config::default(), 5), [10, 40, 160, 640, 1280]);
    let of = |rounds| by_round(1e8, &Config { rounds, ..Config::default() }, 5);
    // The first of them is decided without the limit, as in the kernel.
    assert_eq!((of(1.0), of(2.0)), (vec![10, 40, 80, 160, 320], vec![10, 40, 160, 320, 640]));
}

#[test]
fn a_window_that_quadruples_near_the_capacity_ends_slow_start_there() {
    // 1000 segments/s and 100 ms: 100 segments. The trains of 10 last 10 ms, and after 40 the path is nearly full.
    let mut link = link(1e6, &Config::default());
    link.run_until(1.0, |_| {});
    let threshold = link.algorithm.cubic.ssthresh() as f64 / SEGMENT as f64;
    assert_eq!(link.algorithm.jumps, 1);
    assert!((60.0..160.0).contains(&threshold), "{threshold} segments");
    assert_eq!(link.lost, 0);
}

#[test]
fn a_train_of_a_quarter_of_the_round_trip_time_or_a_short_path_leaves_hystart_alone() {
    let round_two = |min_rtt_ms: u64, train_ms: u64| {
        let mut suss = suss(&Config::default());
        (suss.round, suss.min_rtt) = (2, Duration::from_millis(min_rtt_ms));
        (suss.predicts_growth(train_ms as f64 / 1e3), suss.stage)
    };
    assert_eq!(round_two(100, 24), (true, Stage::Clocked));
    assert_eq!(round_two(100, 25), (false, Stage::Plain));
    assert_eq!(round_two(10, 1), (false, Stage::Plain));
    assert_eq!(round_two(11, 1), (true, Stage::Clocked));
}

#[test]
fn the_next_train_has_to_fit_into_a_round_trip() {
    // Round 3: the blue half of the train lasts 10 ms, all of it 20 ms; the last one 5 ms. Four times as long again: 80 ms.
    let round_three = |blue_ms: f64, last_ms: f64| {
        let mut suss = suss(&Config::default());
        (suss.round, suss.min_rtt, suss.min_rtt_round, suss.last_train) = (3, RTT, 2, last_ms / 1e3);
        let ack = Ack { snd_una: 1000, snd_nxt: 100_000, ..plain_ack(Instant::ZERO, RTT) };
        suss.hystart.follow(&ack, 40.0);
        suss.hystart.sees_delay(RTT, RTT);
        suss.predicts_growth(blue_ms / 1e3)
    };
    assert!(round_three(10.0, 5.0));
    // (2 · 11.1)²/5 = 98.6 and (2 · 11.2)²/5 = 100.4.
    assert_eq!((round_three(11.1, 5.0), round_three(11.2, 5.0)), (true, false));
}

#[test]
fn a_rising_round_trip_time_stops_the_growth() {
    let rising = |rounds_since: u32, micros| {
        let mut suss = suss(&Config::default());
        (suss.round, suss.min_rtt, suss.min_rtt_round, suss.last_train) = (4, RTT, 4 - rounds_since, 1.0);
        let ack = Ack { snd_una: 1000, snd_nxt: 100_000, ..plain_ack(Instant::ZERO, RTT) };
        suss.hystart.follow(&ack, 40.0);
        suss.hystart.sees_delay(Duration::from_micros(micros), RTT);
        suss.predicts_growth(0.001)
    };
    // k = 2: 3 m ≤ 300 + 2 · 100/8 ms, m ≤ 108.33 ms. k = 0: no rise.
    assert_eq!((rising(2, 108_300), rising(2, 108_400)), (true, false));
    assert_eq!((rising(0, 100_000), rising(0, 100_001)), (true, false));
}

/// Returns SUSS after the blue ACKs of round 2, which arrived in `millis`, with the ACK that ended them.
fn after_blue(millis: u64) -> (Suss<Cubic>, Instant) {
    let mut suss = suss(&Config::default());
    let begin = Instant::ZERO + RTT;
    let mut now = begin;
    for n in 1..=10 {
        now = begin + Duration::from_micros(millis * 1000 * (n - 1) / 9);
        suss.on_ack(&Ack { snd_una: n * SEGMENT, snd_nxt: (8 + 2 * n) * SEGMENT, ..plain_ack(now, RTT) });
    }
    (suss, now)
}

#[test]
fn the_red_segments_are_paced_after_a_guard_interval() {
    let (mut suss, now) = after_blue(9);
    let red = suss.red.expect("red segments");
    // Ten ACKs at intervals of 1 ms last 10 ms: (100/2 − 10)/2 = 20 ms.
    assert_within("guard", red.start.since(now).as_secs_f64(), 0.020, 1e-6);
    // 20 red segments in addition to 20 blue ones, in 100 − 50 ms.
    assert_eq!((red.limit, red.rate), (40.0, 20_000.0 / 0.050));
    assert_eq!((red.blue, suss.segments()), (20.0, 40.0));
    // No pacing before the last blue segment has left. It takes the rest of the guard interval.
    let sent = |prior: u64, now| Sent { now, bytes: SEGMENT, prior_inflight: prior * SEGMENT, app_limited: false };
    suss.on_sent(&sent(18, now));
    assert_eq!(suss.pacing_rate(), None);
    suss.on_sent(&sent(19, now));
    assert_within("gap", 8000.0 / suss.pacing_rate().unwrap().as_bps() as f64, 0.020, 1e-4);
    suss.on_sent(&sent(20, red.start));
    assert_eq!(suss.pacing_rate(), Rate::from_bps(3_200_000));
    // Later rounds: D − D/4 and D − D/8, and 3 and 7 times the blue segments.
    for (round, segments, millis) in [(3, 120.0, 75.0), (4, 560.0, 87.5)] {
        (suss.round, suss.last_train, suss.min_rtt_round, suss.part) = (round, 0.0005, round, Part::Blue);
        (suss.blue, suss.round_start) = (10.0, now);
        suss.end_blue(&plain_ack(now, RTT));
        assert_within("rate", suss.red.unwrap().rate, segments * 1000.0 / (millis / 1e3), 1e-9);
    }
}

#[test]
fn acks_of_red_segments_do_not_increase_the_window() {
    let (mut suss, now) = after_blue(9);
    // The next round starts beyond the 10 segments sent before round 2.
    suss.part = Part::Red;
    let ack = |una: u64| Ack { snd_una: una * SEGMENT, snd_nxt: 50 * SEGMENT, ..plain_ack(now, RTT) };
    suss.on_ack(&ack(10));
    assert_eq!((suss.segments(), suss.stage), (40.0, Stage::Paced));
    // No red segment was sent, so that the window shrinks.
    suss.on_ack(&ack(11));
    assert_eq!((suss.segments(), suss.stage, suss.round), (21.0, Stage::Clocked, 3));
}

#[test]
fn a_long_train_caps_the_window() {
    let mut suss = suss(&Config::default());
    (suss.min_rtt, suss.round, suss.jumps, suss.part, suss.blue) = (RTT, 3, 1, Part::Blue, 12.0);
    suss.cubic.shared_mut().raise_to(52.0);
    let ack = |ms: u64| Ack {
        snd_una: 1000,
        snd_nxt: 1_000_000,
        inflight: 30 * SEGMENT,
        cwnd_limited: false,
        ..plain_ack(Instant::ZERO + Duration::from_millis(1000 + ms), RTT)
    };
    // Twice the train, once quadrupled, exceeds (100 + 1)/2 ms after 25.25 ms.
    for ms in (0..=24).step_by(2) {
        suss.watch(&ack(ms));
        assert_eq!(suss.cap, None, "{ms} ms");
    }
    suss.watch(&ack(26));
    // 52 + (2 − 1) · 12.
    assert_eq!(suss.cap, Some(64.0));
    suss.cubic.shared_mut().raise_to(64.0);
    suss.watch(&ack(28));
    assert!(suss.is_active());
    suss.cubic.shared_mut().raise_to(65.0);
    suss.watch(&ack(30));
    assert_eq!((suss.stage, suss.segments(), suss.cubic.ssthresh()), (Stage::Ended, 65.0, 65 * SEGMENT));
    // After two rounds that quadrupled, the window is the flight.
    (suss.stage, suss.jumps) = (Stage::Clocked, 2);
    suss.end(&ack(32));
    assert_eq!(suss.segments(), 30.0);
}

#[test]
fn a_loss_ends_it_with_the_flight() {
    let (mut suss, _) = after_blue(9);
    suss.cubic.shared_mut().raise_to(40.0);
    suss.on_congestion(&congestion(Cause::Loss, 20.0));
    assert_eq!((suss.stage, suss.pacing_rate()), (Stage::Ended, None));
    // 0.7 of the flight.
    assert_eq!(suss.segments(), 14.0);
    suss.on_congestion(&congestion(Cause::Timeout, 14.0));
    assert_eq!((suss.stage, suss.segments()), (Stage::Plain, 1.0));
}

#[test]
fn without_a_jump_the_exit_is_that_of_hystart() {
    // ACKs at intervals of 3 ms: the train of the first ten lasts 30 ms, more than a quarter of the round-trip time.
    let exit = |choice: &str| {
        let choice: Choice = serde_json::from_str(choice).unwrap();
        let mut algorithm = build(&choice, &start(10));
        let (mut una, mut now) = (0, Instant::ZERO + RTT);
        while algorithm.ssthresh() == u64::MAX {
            una += SEGMENT;
            now += Duration::from_millis(3);
            let snd_nxt = una + algorithm.window();
            let rtt = RTT + Duration::from_millis(una / SEGMENT);
            algorithm.on_ack(&Ack { snd_una: una, snd_nxt, min_rtt: RTT, ..plain_ack(now, rtt) });
        }
        algorithm.ssthresh()
    };
    let slow = |name: &str| exit(&format!(r#"{{ "algorithm": "{name}", "variant": "linux" }}"#));
    assert_eq!(exit(r#""suss""#), exit(r#""cubic""#));
    assert_eq!(slow("suss"), slow("cubic"));
}
