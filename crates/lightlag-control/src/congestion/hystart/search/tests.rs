use super::*;
use crate::congestion::tests::bottleneck::Bottleneck;
use crate::congestion::tests::{SEGMENT, ack as plain_ack, assert_within, start};

const RTT: Duration = Duration::from_millis(100);
/// Length of a bin: 3.5 · 100 ms/10.
const BIN_MS: u64 = 35;

/// Returns the segments delivered `t` round-trip times after the path is full, with one segment per round-trip time at
/// t = 0 and a rate that doubles per round trip before.
fn delivered(t: f64) -> f64 {
    if t < 0.0 { libm::exp2(t) / core::f64::consts::LN_2 } else { 1.0 / core::f64::consts::LN_2 + t }
}

/// Returns the difference of SEARCH `t` round-trip times after the path is full, from the closed form.
fn closed_form(t: f64) -> f64 {
    let window = |end: f64| delivered(end) - delivered(end - 3.5);
    difference(2.0 * window(t - 1.0), window(t))
}

/// A sender whose deliveries follow [`delivered`], at most `full` segments in a round-trip time, with an ACK per ms.
struct Fluid {
    search: Search,
    window: Window,
    full: f64,
    /// Time in milliseconds until the path is full.
    full_at: f64,
    ms: u64,
    grows: bool,
}

impl Fluid {
    fn new(config: &Config, full: f64) -> Self {
        let search = Search::new(config, &start(10));
        let window = Window::new(&ConnectionStart { initial_window: 10, ..start(10) });
        // The first ACK arrives at 10 segments per round-trip time.
        Self { search, window, full, full_at: 100.0 * libm::log2(full / 10.0), ms: 0, grows: true }
    }

    fn segments(&self) -> f64 {
        let t = (self.ms as f64 - self.full_at) / 100.0;
        self.full * (delivered(t) - delivered(-self.full_at / 100.0))
    }

    /// Takes the next ACK, and returns the round-trip times since the path was full.
    fn step(&mut self) -> f64 {
        let before = self.segments();
        self.ms += 1;
        let acked = self.segments();
        let una = (acked * SEGMENT as f64) as u64;
        let ack = Ack {
            snd_una: una,
            snd_nxt: 2 * una + 10 * SEGMENT,
            newly_delivered: ((acked - before) * SEGMENT as f64) as u64,
            inflight: una + 10 * SEGMENT,
            ..plain_ack(Instant::ZERO + Duration::from_millis(self.ms), RTT)
        };
        self.grows = !self.search.watch(&ack, &mut self.window);
        if self.window.in_slow_start() && self.grows {
            self.window.grow(acked - before);
        }
        (self.ms as f64 - self.full_at) / 100.0
    }

    /// Returns the round-trip times from the full path to the end of slow start, or to the start of its drain.
    fn exit(&mut self) -> f64 {
        loop {
            let t = self.step();
            assert!(t < 20.0, "slow start continues");
            if !self.grows || !self.window.in_slow_start() {
                return t;
            }
        }
    }
}

fn config(exit: SearchExit, reference: SearchReference) -> Config {
    Config {
        search_exit: exit,
        search_reference: reference,
        search_threshold: reference.threshold(),
        ..Config::of(Policy::Search)
    }
}

#[test]
fn the_difference_is_that_of_the_draft() {
    // Section on THRESH: 1, 2, 4, 8, 16, 16 in rounds, with a window of four. Before: 2 + 4 + 8 + 16 = 30 = 2 · 15.
    assert_eq!(difference(2.0 * 15.0, 30.0), 0.0);
    // (60 − 44)/60 = 0.27 and, long after, (128 − 64)/128 = 0.5.
    assert_within("one round after", difference(2.0 * 30.0, 4.0 + 8.0 + 16.0 + 16.0), 0.27, 0.02);
    assert_eq!(difference(2.0 * 64.0, 64.0), 0.5);
    // The integral over the window of 3.5 round trips. One round trip after the path is full:
    // delivered 1 + (1 − 2^−2.5)/ln 2 = 2.188, before (1 − 2^−3.5)/ln 2 = 1.315, 1 − 2.188/2.630 = 0.168.
    assert_within("after 1", closed_form(1.0), 0.168, 0.005);
    // Two: 2 + (1 − 2^−1.5)/ln 2 = 2.933, before 2.188, 1 − 2.933/4.375 = 0.330.
    assert_within("after 2", closed_form(2.0), 0.330, 0.005);
    assert!(closed_form(0.0).abs() < 1e-12 && (closed_form(9.0) - 0.5).abs() < 1e-12);
}

#[test]
fn slow_start_ends_two_round_trips_after_the_path_is_full() {
    for reference in [SearchReference::Sent, SearchReference::Delivered] {
        let limit = reference.threshold();
        let crossed = (0..400).map(|n| f64::from(n) / 100.0).find(|t| closed_form(*t) >= limit).unwrap();
        let t = Fluid::new(&config(SearchExit::Keep, reference), 1000.0).exit();
        // At the end of the first bin after that: within 0.35 round trips, and 1 ms.
        assert!((crossed - 0.02..crossed + 0.37).contains(&t), "{reference:?}: {t} round trips, {crossed} expected");
        // The draft: about two round trips, with its threshold of 0.35.
        assert!(reference == SearchReference::Sent || (crossed - 2.21).abs() < 0.02, "{crossed}");
    }
}

#[test]
fn a_rate_that_doubles_never_ends_slow_start() {
    let mut fluid = Fluid::new(&Config::of(Policy::Search), 1e7);
    while fluid.step() < 0.0 {
        assert!(fluid.grows && fluid.window.in_slow_start(), "at {} ms", fluid.ms);
    }
}

#[test]
fn the_flight_drains_to_the_data_of_a_round_trip() {
    let mut fluid = Fluid::new(&Config::of(Policy::Search), 1000.0);
    fluid.exit();
    let target = fluid.search.draining.as_ref().unwrap().target;
    // ⌈100/35⌉ = 3 bins of 35 ms at 1000 segments per 100 ms.
    assert_within("target", target, 1050.0, 0.005);
    let (mut search, mut window) = (fluid.search, fluid.window);
    let before = window.segments();
    let (mut flight, mut sent) = (before.floor(), 0);
    let mut acked = 0;
    while window.in_slow_start() {
        flight -= 1.0;
        acked += 1;
        let inflight = flight as u64 * SEGMENT;
        assert!(search.watch(&Ack { inflight, ..plain_ack(Instant::ZERO, RTT) }, &mut window));
        while flight + 1.0 <= window.segments() {
            flight += 1.0;
            sent += 1;
        }
    }
    // One is sent for sixteen.
    assert_eq!(sent, acked / 16);
    assert_within("acked", f64::from(acked), (before - target) * 16.0 / 15.0, 0.01);
    assert_within("window", window.segments(), target, 1e-9);
    assert_eq!(window.threshold(), window.segments());
}

#[test]
fn a_rollback_takes_the_data_of_two_round_trips() {
    let mut fluid = Fluid::new(&config(SearchExit::Rollback, SearchReference::Delivered), 1000.0);
    let mut before = 0.0;
    while fluid.window.in_slow_start() {
        before = fluid.window.segments();
        fluid.step();
    }
    // ⌊200/35⌋ = 5 bins, all of them after the path was full.
    assert_within("rollback", before - fluid.window.segments(), 1750.0, 0.01);
    assert_eq!(fluid.window.threshold(), fluid.window.segments());
    // Not below the initial window.
    let mut search = Search::new(&config(SearchExit::Rollback, SearchReference::Sent), &start(10));
    (search.bin, search.initial_rtt, search.index) = (Duration::from_millis(BIN_MS), RTT, Some(12));
    search.bins[12] = (1_000_000, 2_000_000);
    let mut window = Window::new(&ConnectionStart { initial_window: 50, ..start(10) });
    assert!(!search.exit(&mut window));
    assert_eq!((window.segments(), window.threshold()), (10.0, 10.0));
}

#[test]
fn the_first_decision_needs_a_window_a_round_trip_and_a_bin() {
    let search = |index, rtt_ms| {
        let mut search = Search::new(&config(SearchExit::Keep, SearchReference::Delivered), &start(10));
        (search.bin, search.initial_rtt, search.index) = (Duration::from_millis(BIN_MS), RTT, Some(index));
        (0..26).for_each(|bin| search.bins[bin] = (bin as u64, bin as u64));
        search.difference(Duration::from_millis(rtt_ms))
    };
    // A round trip of 100 ms reaches back 2 bins: 13 = 2 + 10 + 1.
    assert_eq!((search(12, 100), search(13, 100)), (None, Some(0.5)));
    // 15 bins of 35 ms do not reach back by 525 ms.
    assert_eq!((search(25, 524), search(25, 525)), (Some(0.5), None));
}

#[test]
fn a_part_of_a_bin_is_interpolated() {
    let mut search = Search::new(&config(SearchExit::Keep, SearchReference::Sent), &start(10));
    (search.bin, search.initial_rtt, search.index) = (Duration::from_millis(BIN_MS), RTT, Some(20));
    // Quadratic: between bins 10 and 11 the window of ten bins contains 10² = 100 and 11² − 1² = 120.
    (0..26).for_each(|bin| search.bins[bin].1 = (bin * bin) as u64);
    assert_within("half", search.earlier(11, 0.5, |bin| bin.1), 110.0, 1e-9);
    assert_within("a quarter", search.earlier(11, 0.25, |bin| bin.1), 115.0, 1e-9);
}

#[test]
fn missed_bins_repeat_the_last_one_and_too_many_restart() {
    let at = |ms, rtt_ms| Ack {
        snd_una: ms * SEGMENT,
        snd_nxt: 2 * ms * SEGMENT,
        ..plain_ack(Instant::ZERO + Duration::from_millis(ms), Duration::from_millis(rtt_ms))
    };
    let after = |gap_ms: u64| {
        let mut search = Search::new(&Config::of(Policy::Search), &start(10));
        let mut window = Window::new(&start(10));
        search.watch(&at(1000, 100), &mut window);
        search.watch(&at(1000 + gap_ms, 200), &mut window);
        search
    };
    // 2 · ⌈100/35⌉ = 6 bins of 35 ms.
    let search = after(6 * BIN_MS);
    assert_eq!(search.index, Some(6));
    assert!((0..6).all(|bin| search.bins[bin].0 == 1000 * SEGMENT) && search.bins[6].0 == 1210 * SEGMENT);
    assert_eq!(search.bin_end, Instant::ZERO + Duration::from_millis(1000 + 7 * BIN_MS));
    // Seven restart with bins of the same length, and eleven with bins for the new round-trip time.
    for (bins, length) in [(7, BIN_MS), (10, BIN_MS), (11, 2 * BIN_MS)] {
        let search = after(bins * BIN_MS);
        assert_eq!((search.index, search.bin), (Some(0), Duration::from_millis(length)), "{bins} bins");
    }
}

#[test]
fn another_slow_start_is_measured_from_its_start() {
    let mut fluid = Fluid::new(&Config::of(Policy::Search), 1000.0);
    fluid.exit();
    assert!(fluid.search.draining.is_some());
    // A loss ends the drain with the slow start; a timeout brings another threshold.
    fluid.window = Window::new(&ConnectionStart { ssthresh: Some(500), ..start(10) });
    fluid.step();
    assert!(fluid.search.draining.is_none() && fluid.search.index == Some(0) && fluid.grows);
}

#[test]
fn on_a_path_with_a_queue_slow_start_ends_at_its_capacity() {
    // 2000 segments/s and 600 ms: 1200 segments, as on a geostationary path.
    for (rate, rtt) in [(1000.0, 100), (2000.0, 600), (5000.0, 40)] {
        let base = Duration::from_millis(rtt);
        let capacity = rate * base.as_secs_f64();
        let mut path = Bottleneck::new(rate, base);
        path.add(r#"{ "algorithm": "newreno", "slow_start": "search" }"#);
        let mut peak = 0;
        while path.flows[0].algorithm.ssthresh() == u64::MAX {
            path.run(base / 20);
            peak = peak.max(path.flows[0].algorithm.window());
        }
        // Three bins are 1.05 round-trip times.
        let threshold = path.flows[0].algorithm.ssthresh() as f64 / SEGMENT as f64;
        assert_within("threshold", threshold, 1.05 * capacity, 0.03);
        // The queue lengthens the round-trip time, so that the comparison reaches further back: a fluid model of a
        // queue without a limit ends at 5.3 times the capacity, 3.9 round-trip times after the path is full.
        let overshoot = peak as f64 / SEGMENT as f64 / capacity;
        assert!((4.5..6.1).contains(&overshoot), "{rate}, {rtt} ms: {overshoot} times the capacity");
    }
}
