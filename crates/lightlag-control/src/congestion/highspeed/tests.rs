use super::*;
use crate::congestion::Allowance;
use crate::congestion::tests::{SEGMENT, Steady, ack, assert_within, congestion, start};
use crate::congestion::{Cause, Choice, Phase};
use lightlag_core::{Duration, Instant};

const RTT: Duration = Duration::from_millis(100);

fn config(response: Response) -> Config {
    Config { response, ..Config::default() }
}

/// Returns HighSpeed TCP in congestion avoidance at a window of `window` segments.
fn avoiding(window: u64, response: Response) -> HighSpeed {
    let mut highspeed = HighSpeed::new(&config(response), &start(window));
    highspeed.window.leave_slow_start();
    highspeed
}

#[test]
fn the_formula_has_its_values() {
    // w = 1058: ln(1058/38)/ln(83000/38) = 0.43265; b = 0.5 − 0.4·0.43265 = 0.3269.
    for (w, a, b) in [(1058.0, 8.136, 0.3269), (10_000.0, 29.62, 0.2101), (83_000.0, 72.52, 0.1)] {
        let (increase, decrease) = Config::default().response(w);
        assert!((increase / a - 1.0).abs() < 5e-4 && (decrease - b).abs() < 5e-5, "{w}: {increase}, {decrease}");
    }
}

#[test]
fn up_to_38_segments_it_is_the_standard_tcp() {
    for response in [Response::Formula, Response::Table, Response::Linux] {
        for w in [1.0, 2.0, 20.0, 38.0] {
            assert_eq!(config(response).response(w), (1.0, 0.5), "{response:?} at {w}");
        }
    }
    // 39²·p(39)·2·0.4986/1.5014 = 0.98: not below one.
    assert_eq!(Config::default().response(39.0).0, 1.0);
    assert_eq!(Config::default().response(1e6).1, 0.1);
}

#[test]
fn the_exponent_of_the_response_matches_the_rfc() {
    // S = ln(83000/38)/ln(1e-7/1e-3) = −0.8348: w = 38·(p/1e-3)^S.
    let s = libm::log(83_000.0 / 38.0) / libm::log(1e-4);
    assert!((s + 0.8348).abs() < 5e-5, "{s}");
}

#[test]
fn the_table_is_built_as_in_appendix_b() {
    // p = 1/(12.8·w^1.2); a row for each window where a, cut to an integer, rises by one.
    let mut last = 1.0;
    let mut rows = TABLE[1..].iter();
    for w in 39..100_000 {
        let w = f64::from(w);
        let b = 0.5 - 0.4 * libm::log(w / 38.0) / libm::log(83_000.0 / 38.0);
        let a = w * w * 2.0 * b / ((2.0 - b) * 12.8 * libm::pow(w, 1.2));
        if a > last + 1.0 {
            last = a;
            let row = rows.next().expect("a row for each step");
            assert_eq!((row.0, row.1), (w, a.floor()));
            assert!((row.2 - b).abs() <= 0.005 + 1e-9, "{w}: {b}");
        }
    }
    assert_eq!(rows.next(), None);
}

#[test]
fn the_table_has_the_rows_of_the_rfc() {
    for row in [
        (118.0, 2.0, 0.44),
        (221.0, 3.0, 0.41),
        (347.0, 4.0, 0.38),
        (495.0, 5.0, 0.37),
        (663.0, 6.0, 0.35),
        (851.0, 7.0, 0.34),
        (1058.0, 8.0, 0.33),
        (1284.0, 9.0, 0.32),
        (1529.0, 10.0, 0.31),
        (1793.0, 11.0, 0.3),
        (10_661.0, 30.0, 0.21),
        (84_035.0, 71.0, 0.1),
    ] {
        assert!(TABLE.contains(&row), "{row:?}");
        assert_eq!(config(Response::Table).response(row.0), (row.1, row.2));
        assert_eq!(config(Response::Table).response(row.0 - 0.5).0, row.1 - 1.0);
        assert_eq!(config(Response::Linux).response(row.0), (row.1, row.2));
        assert_eq!(config(Response::Linux).response(row.0 + 0.5).0, row.1 + 1.0);
    }
    assert_eq!(config(Response::Linux).response(39.0).0, 2.0);
    assert_eq!(config(Response::Linux).response(1e9), (73.0, 0.09));
}

#[test]
fn avoidance_adds_a_segments_a_window() {
    for (response, window, added) in [
        (Response::Formula, 1058, 8.136),
        (Response::Formula, 10_000, 29.62),
        (Response::Formula, 20, 1.0),
        (Response::Table, 1058, 8.0),
        (Response::Linux, 1057, 8.0),
    ] {
        let mut highspeed = avoiding(window, response);
        (0..window / 20).for_each(|_| highspeed.on_ack(&ack(Instant::ZERO, RTT)));
        // A twentieth of a window, without the growth of w itself.
        let added_now = 20.0 * (highspeed.window.segments() - window as f64);
        let whole = window as f64 / (window / 20) as f64 / 20.0;
        assert_within(&format!("{response:?} at {window}"), added_now * whole, added, 0.003);
    }
}

#[test]
fn the_increase_follows_the_window() {
    // The stored a(w) lags by at most a segment.
    let mut highspeed = avoiding(100, Response::Formula);
    for _ in 0..100_000 {
        highspeed.on_ack(&ack(Instant::ZERO, RTT));
        let (a, _) = highspeed.config.response(highspeed.window.segments());
        assert!((highspeed.a / a - 1.0).abs() < 0.01, "{} {a}", highspeed.a);
    }
    assert!(highspeed.window.segments() > 1000.0);
}

#[test]
fn a_loss_takes_b_of_the_window() {
    // 10,000·(1 − 0.2101) = 7899; 38/2 = 19.
    for (window, left) in [(10_000, 7899.0), (83_000, 74_700.0), (38, 19.0), (3, 2.0)] {
        let mut highspeed = avoiding(window, Response::Formula);
        highspeed.on_congestion(&congestion(Cause::Loss, window as f64));
        assert_within(&format!("after a loss at {window}"), highspeed.window.segments(), left, 1e-4);
        assert_eq!(highspeed.window(), highspeed.ssthresh());
    }
}

#[test]
fn a_timeout_leaves_one_segment_and_a_repeated_one_the_threshold() {
    let mut highspeed = avoiding(83_000, Response::Formula);
    for cause in [Cause::Timeout, Cause::RepeatedTimeout] {
        highspeed.on_congestion(&congestion(cause, 83_000.0));
        assert_eq!((highspeed.window(), highspeed.ssthresh()), (SEGMENT, 74_700 * SEGMENT), "{cause:?}");
    }
}

/// Returns the mean window if every `1/p`-th segment is lost.
fn mean_under_regular_loss(p: f64) -> f64 {
    let mut path = Steady::new(r#""highspeed""#, RTT);
    let expected = 0.12 / libm::pow(p, 0.835);
    while path.window() < expected {
        path.acknowledge();
    }
    let mut begin = (path.now, path.acked);
    for n in 0..150 {
        if n == 100 {
            begin = (path.now, path.acked);
        }
        (0..(1.0 / p).round() as u64).for_each(|_| path.acknowledge());
        path.react(Cause::Loss);
    }
    (path.acked - begin.1) as f64 * (path.rtt / path.now.since(begin.0))
}

#[test]
fn the_mean_window_follows_the_response_function() {
    // The response function assumes regular losses. A model of a(w) and b(w) alone, with exponential gaps, has a mean
    // 1.163 and 1.027 times as large: at 10⁻³ long gaps lead above 38 segments, where it grows faster.
    for (p, expected, more) in [(1e-3, 38.4, 1.163), (1e-4, 263.0, 1.027)] {
        assert_within("the response function", 0.12 / libm::pow(p, 0.835), expected, 0.005);
        assert_within(&format!("regular losses at {p}"), mean_under_regular_loss(p), expected, 0.1);
        let (mean, p) = Steady::new(r#""highspeed""#, RTT).lose_at_random(p, 3000);
        assert_within(&format!("random losses at {p:.2e}"), mean, more * 0.12 / libm::pow(p, 0.835), 0.05);
    }
}

#[test]
fn it_grows_only_where_it_may() {
    let ready = ack(Instant::ZERO, RTT);
    for held in
        [Ack { cwnd_limited: false, ..ready }, Ack { phase: Phase::Recovery, ..ready }, Ack { newly_acked: 0, ..ready }]
    {
        let mut highspeed = avoiding(100, Response::Formula);
        highspeed.on_ack(&held);
        assert_eq!(highspeed.window.segments(), 100.0);
    }
}

#[test]
fn contradictory_settings_are_rejected() {
    for (json, part) in [
        (r#"{ "algorithm": "highspeed", "low_window": 1000, "high_window": 900 }"#, "low_window: 1000"),
        (r#"{ "algorithm": "highspeed", "low_p": 1e-8 }"#, "high_p: 0.0000001"),
        (r#"{ "algorithm": "highspeed", "response": "table", "low_window": 30 }"#, "response: the tables"),
    ] {
        let message = serde_json::from_str::<Choice>(json).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}
