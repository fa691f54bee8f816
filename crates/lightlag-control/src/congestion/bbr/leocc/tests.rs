use super::super::states::GENTLE_GAIN;
use super::*;
use crate::congestion::RateSample;
use crate::congestion::tests::link::{Conditions, Link};
use crate::congestion::tests::{SEGMENT, ack, assert_within, start};

const RATE: f64 = 1_000_000.0;
const RTT: Duration = Duration::from_millis(50);

fn leocc(config: &Config) -> Bbr {
    Bbr::reconfigured(config, &ConnectionStart { rtt: Some(RTT), ..start(10) })
}

fn link() -> Link<Bbr> {
    Link::new(leocc(&Config::default()), Conditions::new(RATE, RTT))
}

fn at_ms(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// Returns the states up to `seconds`, with one entry for PROBE_BW, with their start times.
fn states(link: &mut Link<Bbr>, seconds: f64) -> Vec<(f64, &'static str)> {
    let mut seen: Vec<(f64, &str)> = Vec::new();
    link.run_until(seconds, |link| {
        let name = match link.algorithm.state {
            State::Startup => "startup",
            State::Drain => "drain",
            State::ProbeBw(_) => "cruise",
            State::ProbeRtt => "probe_rtt",
        };
        if seen.last().is_none_or(|(_, last)| *last != name) {
            seen.push((link.now.as_secs_f64(), name));
        }
    });
    seen
}

#[test]
fn a_reconfiguration_is_noted_in_the_100_ms_before_it() {
    let leo = Reconfigurations::new(&Config::default());
    for (millis, due) in [
        (0, false),
        (11_899, false),
        (11_900, true),
        (12_000, true),
        (12_001, false),
        (26_899, false),
        (26_900, true),
        (3_612_000, true),
    ] {
        assert_eq!(leo.is_due(at_ms(millis)), due, "{millis} ms");
    }
    // An offset beyond the period, and one within the 100 ms.
    let leo = |millis| Reconfigurations::new(&Config { offset: Duration::from_millis(millis), ..Config::default() });
    assert!(leo(27_000).is_due(at_ms(11_950)) && leo(50).is_due(at_ms(14_960)) && leo(50).is_due(at_ms(50)));
    assert!(!leo(50).is_due(at_ms(51)) && !leo(50).is_due(at_ms(14_949)));
}

#[test]
fn the_filters_have_the_integers_of_the_module() {
    let mut filter = Kalman::new();
    // p = 25 + 4, g = ⌊29 · 256/33⌋ = 224, p = ⌊32 · 29/256⌋ = 3; then g = ⌊7 · 256/11⌋ = 162, p = ⌊94 · 7/256⌋ = 2;
    // then g = ⌊6 · 256/10⌋ = 153 for good.
    let mut value = 0.0;
    for gain in [224.0, 162.0, 153.0, 153.0] {
        value += gain / 256.0 * (100.0 - value);
        filter.take(100.0);
        assert_within("filtered", filter.value, value, 1e-12);
    }
    assert_eq!(filter.variance, 2);
}

#[test]
fn the_path_is_measured_again_at_each_reconfiguration() {
    let seen = states(&mut link(), 41.0);
    let names: Vec<&str> = seen.iter().map(|(_, name)| *name).collect();
    let cycle = ["startup", "drain", "cruise", "probe_rtt"];
    assert_eq!(names, [&cycle[..], &cycle, &cycle[..3]].concat());
    // PROBE_RTT starts with the first ACK after 11.9 s and 26.9 s. No other occurs, as RTprop lasts 20 s.
    let probes: Vec<f64> = seen.iter().filter(|(_, name)| *name == "probe_rtt").map(|(at, _)| *at).collect();
    assert_eq!(probes.len(), 2);
    for (at, due) in probes.iter().zip([11.9, 26.9]) {
        assert!((due..due + 0.005).contains(at), "{probes:?}");
    }
    // It lasts a time for the flight to halve, 200 ms and a round.
    let after = seen.iter().find(|(at, name)| *name == "startup" && *at > 1.0).unwrap().0;
    assert!((0.2..0.45).contains(&(after - probes[0])), "{after}");
}

#[test]
fn probe_rtt_halves_the_flight() {
    let mut link = link();
    let mut windows = Vec::new();
    link.run_until(13.0, |link| {
        if link.algorithm.state == State::ProbeRtt {
            windows.push(link.algorithm.window);
        }
    });
    // BtlBw · RTprop is 51 segments: RTprop includes the transmission of one.
    let smallest = windows.iter().copied().fold(f64::INFINITY, f64::min);
    assert_within("window", smallest, 25.5 * SEGMENT as f64, 0.03);
}

#[test]
fn a_longer_path_becomes_the_minimum_and_a_slower_one_the_bandwidth() {
    // At less than half of the rate, half of the old flight would leave a queue, and RTprop would include it.
    for (rtt_ms, rate) in [(90, RATE), (20, RATE), (50, 0.6 * RATE), (50, 1.6 * RATE)] {
        let mut link = link();
        link.run_until(11.95, |_| {});
        link.path.rtt = Duration::from_millis(rtt_ms);
        link.path.rate = rate;
        link.run_until(15.0, |_| {});
        let transmission = SEGMENT as f64 / rate;
        assert_within("RTprop", link.algorithm.min_rtt.as_secs_f64(), rtt_ms as f64 / 1e3 + transmission, 0.05);
        assert_within("BtlBw", link.algorithm.bandwidth.max(), rate, 0.03);
    }
}

#[test]
fn bbr_keeps_the_old_path_for_ten_seconds() {
    // The contrast to LeoCC: RTprop stays at the shorter path.
    let of_bbr = Bbr::new(&BbrConfig::default(), &ConnectionStart { rtt: Some(RTT), ..start(10) });
    let mut link = Link::new(of_bbr, Conditions::new(RATE, RTT));
    link.run_until(11.95, |_| {});
    link.path.rtt = Duration::from_millis(90);
    link.run_until(15.0, |_| {});
    assert_within("RTprop", link.algorithm.min_rtt.as_secs_f64(), 0.051, 0.03);
}

#[test]
fn the_rate_before_a_much_shorter_sample_is_the_first_bandwidth() {
    let mut leocc = leocc(&Config::default());
    leocc.state = State::ProbeRtt;
    let leo = leocc.leo.as_mut().unwrap();
    (leo.rtt.value, leo.last_rate, leo.noted) = (0.100, 700.0, true);
    let of = |leocc: &Bbr| leocc.leo.as_ref().unwrap().new_rate;
    // 100 ms are above 54 + 45, but not above 55 + 45.
    leocc.take_rate(&ack(Instant::ZERO, Duration::from_millis(55)), 800.0);
    assert_eq!(of(&leocc), 0.0);
    leocc.take_rate(&ack(Instant::ZERO, Duration::from_millis(54)), 900.0);
    assert_eq!(of(&leocc), 800.0);
    leocc.start_again();
    assert_eq!((leocc.bandwidth.max(), leocc.filled, leocc.state), (800.0, false, State::Startup));
    // The end of STARTUP ends the reconfiguration.
    leocc.end_reconfiguration();
    assert!(!leocc.is_reconfigured() && of(&leocc) == 0.0);
}

#[test]
fn a_queue_replaces_the_maximum_by_the_filtered_rate() {
    let mut leocc = leocc(&Config::default());
    (leocc.state, leocc.min_rtt, leocc.filled) = (State::ProbeBw(0), RTT, true);
    leocc.bandwidth.update(0, RATE, 10);
    // Rounds of 600, 700 and 800 kB/s.
    for rate in [6e5, 7e5, 8e5] {
        let sample = RateSample {
            delivered: 1,
            interval: RTT,
            prior_delivered: u64::MAX,
            total_delivered: 0,
            lost: 0,
            tx_in_flight: 0,
            app_limited: false,
            retransmitted: false,
        };
        leocc.rounds.advance(&sample);
        leocc.take_rate(&ack(Instant::ZERO, RTT), rate);
    }
    // The third is not complete: 0, then 600 by 162/256, then 700 by 153/256.
    let first = 162.0 / 256.0 * 6e5;
    let filtered = first + 153.0 / 256.0 * (7e5 - first);
    let mut choose = |rtt_ms: f64| {
        leocc.leo.as_mut().unwrap().rtt = Kalman { value: rtt_ms / 1e3, variance: 2 };
        leocc.choose_estimate(&ack(Instant::ZERO, Duration::from_secs_f64(rtt_ms / 1e3)));
        let chosen = (leocc.bandwidth(), leocc.pacing_gain());
        leocc.forget_estimate();
        chosen
    };
    assert_eq!(choose(59.9), (RATE, 1.25));
    let (rate, gain) = choose(60.1);
    assert_within("filtered rate", rate, filtered, 1e-9);
    assert_eq!(gain, GENTLE_GAIN);
    assert_eq!(choose(59.9), (RATE, 1.25));
    // Not during a reconfiguration, nor in other states.
    leocc.leo.as_mut().unwrap().noted = true;
    leocc.choose_estimate(&ack(Instant::ZERO, Duration::from_millis(80)));
    assert_eq!(leocc.bandwidth(), RATE);
    leocc.leo.as_mut().unwrap().noted = false;
    leocc.state = State::Drain;
    leocc.choose_estimate(&ack(Instant::ZERO, Duration::from_millis(80)));
    assert_eq!(leocc.bandwidth(), RATE);
}

#[test]
fn a_lone_flow_uses_the_link() {
    let mut link = link();
    link.run_until(2.0, |_| {});
    let before = link.delivered;
    link.run_until(32.0, |_| {});
    let share = (link.delivered - before) as f64 / RATE / 30.0;
    // Two reconfigurations cost half a flight for a quarter of a second each.
    assert!((0.97..=1.0).contains(&share), "{share}");
}
