//! BBR version 1 on a simulated path: 1000 segments/s and 100 ms by default.

use super::super::tests::link::{Conditions, Link};
use super::super::tests::{SEGMENT, assert_within, start};
use super::*;
use crate::congestion::RateSample;

const RATE: f64 = 1_000_000.0;
const RTT: Duration = Duration::from_millis(100);

fn link(path: Conditions) -> Link<Bbr> {
    Link::new(Bbr::new(&Config::default(), &ConnectionStart { rtt: Some(path.rtt), ..start(10) }), path)
}

fn path() -> Conditions {
    Conditions::new(RATE, RTT)
}

/// Returns the states in order, with their start times.
fn states(link: &mut Link<Bbr>, seconds: f64) -> Vec<(f64, State)> {
    let mut seen = Vec::new();
    link.run_until(seconds, |link| {
        if seen.last().is_none_or(|(_, state)| *state != link.algorithm.state) {
            seen.push((link.now.as_secs_f64(), link.algorithm.state));
        }
    });
    seen
}

#[test]
fn startup_ends_when_the_path_is_full_with_its_bandwidth_measured() {
    let mut link = link(path());
    let mut at_end = None;
    link.run_until(3.0, |link| {
        if link.algorithm.filled && at_end.is_none() {
            at_end = Some((link.now, link.algorithm.bandwidth()));
        }
    });
    let (ended_at, bandwidth) = at_end.expect("startup ended");
    assert_within("bandwidth", bandwidth, RATE, 0.02);
    // From 10 to 200 segments in five doublings of about a round, and three rounds without growth.
    assert!(ended_at.as_secs_f64() < 2.0, "{ended_at:?}");
}

#[test]
fn the_states_follow_each_other() {
    let seen = states(&mut link(path()), 9.0);
    assert_eq!(seen[0].1, State::Startup);
    assert_eq!(seen[1].1, State::Drain);
    assert!(matches!(seen[2].1, State::ProbeBw(index) if index != 1));
    let indices: Vec<usize> = seen[2..]
        .iter()
        .map(|(_, state)| match state {
            State::ProbeBw(index) => *index,
            other => panic!("{other:?} in PROBE_BW"),
        })
        .collect();
    assert!(indices.len() > 40, "{}", indices.len());
    assert!(indices.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 8), "{indices:?}");
    // A cruising phase lasts an RTprop.
    for pair in seen[2..].windows(2) {
        if matches!(pair[0].1, State::ProbeBw(3..=7)) {
            assert!((pair[1].0 - pair[0].0 - 0.1).abs() < 0.006, "{pair:?}");
        }
    }
}

#[test]
fn the_phase_at_the_start_is_drawn_and_never_the_low_one() {
    let mut first = [false; 8];
    for seed in 0..200 {
        let mut bbr = Bbr::new(&Config::default(), &ConnectionStart { seed, ..start(10) });
        bbr.probe_bandwidth(Instant::ZERO);
        let State::ProbeBw(index) = bbr.state else { panic!("{:?}", bbr.state) };
        first[index] = true;
    }
    assert_eq!(first, [true, false, true, true, true, true, true, true]);
}

#[test]
fn the_window_is_two_bandwidth_delay_products() {
    let mut bbr = Bbr::new(&Config { ack_aggregation: false, ..Config::default() }, &start(10));
    bbr.min_rtt = RTT;
    bbr.filled = true;
    bbr.bandwidth.update(0, RATE, 10);
    bbr.state = State::ProbeBw(4);
    assert_within("target", bbr.target(), 203.0 * SEGMENT as f64, 1e-9);
    // Pacing 1250, 750, 1000 segments/s, less 1 %.
    for (index, rate) in [(0, 1237.5), (1, 742.5), (2, 990.0), (7, 990.0)] {
        bbr.state = State::ProbeBw(index);
        bbr.set_rate(bbr.pacing_gain());
        assert_within("rate", bbr.rate, rate * SEGMENT as f64, 1e-9);
    }
    bbr.state = State::Drain;
    assert_within("drain", bbr.pacing_gain(), 0.3466, 1e-3);
}

#[test]
fn an_even_window_is_raised_by_three_bursts() {
    let mut bbr =
        Bbr::new(&Config { ack_aggregation: false, ..Config::default() }, &ConnectionStart { tso: true, ..start(10) });
    bbr.min_rtt = RTT;
    bbr.filled = true;
    bbr.bandwidth.update(0, RATE, 10);
    bbr.state = State::ProbeBw(4);
    bbr.set_rate(1.0);
    bbr.state = State::Drain;
    assert_within("drain", bbr.pacing_gain(), 0.34375, 1e-12);
    bbr.state = State::ProbeBw(4);
    // 990 kB/s carry less than a segment in 1/1024 s: 200 + 3 · 2.
    assert_within("target", bbr.target(), 206.0 * SEGMENT as f64, 1e-9);
    bbr.state = State::ProbeBw(0);
    assert_within("probing", bbr.target(), 208.0 * SEGMENT as f64, 1e-9);
    // 9.9 MB/s carry 9667 B: 2000 + 3 · 9, and one more to be even.
    bbr.bandwidth.update(0, 10.0 * RATE, 10);
    bbr.state = State::ProbeBw(4);
    bbr.set_rate(1.0);
    assert_within("faster", bbr.target(), 2028.0 * SEGMENT as f64, 1e-9);
    // Below 1.2 Mbit/s a burst may be one segment.
    bbr.rate = 149_999.0;
    assert_eq!((bbr.least_burst(), bbr.quantum()), (1, 1.0));
    bbr.rate = 150_001.0;
    assert_eq!((bbr.least_burst(), bbr.quantum()), (2, 2.0));
}

#[test]
fn without_a_round_trip_time_the_first_rate_assumes_a_millisecond() {
    let bbr = Bbr::new(&Config::default(), &start(10));
    assert_within("rate", bbr.rate, 2.885 * 10.0 * SEGMENT as f64 / 0.001, 1e-9);
    assert_eq!(bbr.window(), 10 * SEGMENT);
}

#[test]
fn probe_rtt_occurs_every_ten_seconds_with_four_segments() {
    let mut link = link(path());
    let (mut smallest, mut windows) = (u64::MAX, Vec::new());
    let seen = states(&mut link, 10.0);
    assert!(seen.iter().all(|(_, state)| *state != State::ProbeRtt));
    let mut began = Vec::new();
    let mut before = false;
    link.run_until(45.0, |link| {
        let probing = link.algorithm.state == State::ProbeRtt;
        if probing {
            windows.push(link.algorithm.window());
            smallest = smallest.min(link.inflight);
        }
        if probing && !before {
            began.push(link.now.as_secs_f64());
        }
        before = probing;
    });
    assert!(windows.iter().all(|window| *window == 4 * SEGMENT));
    assert!(smallest <= 4 * SEGMENT);
    assert!((3..=4).contains(&began.len()), "{began:?}");
    for pair in began.windows(2) {
        assert!((10.0..11.0).contains(&(pair[1] - pair[0])), "{began:?}");
    }
}

#[test]
fn a_lone_flow_uses_the_link() {
    for (rtt, queue) in [(50, 3.0), (100, 1.0), (600, 1.0)] {
        let mut path = Conditions::new(RATE, Duration::from_millis(rtt));
        path.queue = queue * path.bdp();
        let mut link = link(path);
        // From PROBE_BW to before the first PROBE_RTT, and over several of these.
        link.run_until(9.0, |_| {});
        let before = link.delivered;
        link.run_until(9.9, |_| {});
        assert_within("PROBE_BW", (link.delivered - before) as f64, 0.9 * RATE, 0.03);
        let before = link.delivered;
        link.run_until(49.9, |_| {});
        let share = (link.delivered - before) as f64 / (40.0 * RATE);
        let least = if rtt == 600 { 0.87 } else { 0.93 };
        assert!(share > least, "{rtt} ms: {share}");
    }
}

#[test]
fn random_losses_cost_no_more_than_the_lost_data() {
    for loss in [0.01, 0.05] {
        let mut link = link(Conditions { loss, ..path() });
        link.run_until(9.9, |_| {});
        assert_within("goodput", link.delivered as f64 / (9.0 * RATE), 1.0 - loss, 0.08);
    }
}

#[test]
fn application_limited_samples_never_lower_the_bandwidth() {
    let mut link = link(path());
    link.run_until(3.0, |_| {});
    link.write_at(0.1 * RATE);
    // The data in flight brings its own samples first.
    link.run_until(3.5, |_| {});
    let bandwidth = link.algorithm.bandwidth();
    link.run_until(9.0, |link| assert!(link.algorithm.bandwidth() >= bandwidth));
    assert!(link.rate < 0.2 * RATE, "the samples themselves are low: {}", link.rate);
}

#[test]
fn an_application_limited_startup_does_not_end() {
    let mut link = link(path());
    link.write_at(0.05 * RATE);
    link.run_until(9.0, |link| assert_eq!(link.algorithm.state, State::Startup));
}

#[test]
fn after_idle_it_resumes_at_the_bandwidth_without_probe_rtt() {
    let mut link = link(path());
    link.run_until(5.0, |_| {});
    link.write_at(0.0);
    link.run_until(30.0, |_| {});
    assert_eq!(link.inflight, 0);
    link.write_without_end();
    let mut rates = Vec::new();
    link.run_until(30.3, |link| {
        assert_ne!(link.algorithm.state, State::ProbeRtt);
        rates.push(link.algorithm.rate);
    });
    assert!(rates[0] > 0.7 * RATE);
}

#[test]
fn a_loss_conserves_packets_for_a_round_and_then_the_window_returns() {
    let mut link = link(path());
    link.run_until(5.0, |_| {});
    let window = link.algorithm.window;
    link.path.loss = 0.5;
    link.run_until(5.01, |_| {});
    link.path.loss = 0.0;
    let mut conserved = false;
    link.run_until(6.0, |link| {
        if link.algorithm.conserve {
            conserved = true;
            let flight = (link.inflight + 2 * SEGMENT) as f64;
            assert!(link.algorithm.window <= flight.max(0.99 * window), "{} over {flight}", link.algorithm.window);
        }
    });
    assert!(conserved);
    assert_within("window", link.algorithm.window, window, 0.05);
    assert_within("bandwidth", link.algorithm.bandwidth(), RATE, 0.02);
}

#[test]
fn a_recovery_that_immediately_follows_another_continues_it() {
    let mut link = link(path());
    link.run_until(5.0, |_| {});
    let (now, bbr) = (link.now, &mut link.algorithm);
    let segments = |n: u64| (n * SEGMENT) as f64;
    (bbr.phase, bbr.conserve, bbr.window, bbr.prior_window) = (Phase::Recovery, false, segments(50), segments(100));
    bbr.before = (segments(50), segments(1));
    let loss = Congestion { now, ..super::super::tests::congestion(Cause::Loss, 50.0) };
    bbr.on_recovered(now);
    bbr.on_congestion(&loss);
    assert_eq!((bbr.phase, bbr.conserve, bbr.window), (Phase::Recovery, false, segments(50)));
    // A timer that starts one later starts a new one.
    bbr.on_recovered(now);
    bbr.on_congestion(&Congestion { now: now + Duration::from_millis(1), ..loss });
    // The bytes that the last ACK delivered are added to the earlier window.
    assert_eq!((bbr.phase, bbr.window), (Phase::Open, segments(101)));
}

#[test]
fn a_timeout_leaves_a_segment_and_the_bandwidth() {
    let mut link = link(path());
    link.run_until(5.0, |_| {});
    let congestion = super::super::tests::congestion(Cause::Timeout, 100.0);
    link.algorithm.on_congestion(&congestion);
    assert_eq!(link.algorithm.window(), SEGMENT);
    assert_within("bandwidth", link.algorithm.bandwidth(), RATE, 0.02);
    link.algorithm.on_recovered(link.now);
    assert!(link.algorithm.window() > 150 * SEGMENT);
}

#[test]
fn aggregated_acks_widen_the_window() {
    let slotted = Conditions { slot: Duration::from_millis(40), ..Conditions::new(RATE, Duration::from_millis(40)) };
    let share = |ack_aggregation| {
        let config = Config { ack_aggregation, ..Config::default() };
        let start = ConnectionStart { rtt: Some(slotted.rtt), ..start(10) };
        let mut link = Link::new(Bbr::new(&config, &start), slotted);
        link.run_until(9.0, |_| {});
        (link.delivered as f64 / (9.0 * RATE), link.algorithm.target())
    };
    let ((with, wide), (_, narrow)) = (share(true), share(false));
    assert!(with > 0.9, "{with}");
    assert!(wide > narrow + 10.0 * SEGMENT as f64, "{wide} and {narrow}");
}

#[test]
fn a_policer_is_detected_and_its_rate_used() {
    let policed = Conditions { policer: Some((0.2 * RATE, 20_000.0)), ..path() };
    let losses = |policer| {
        let start = ConnectionStart { rtt: Some(policed.rtt), ..start(10) };
        let mut link = Link::new(Bbr::new(&Config { policer, ..Config::default() }, &start), policed);
        let mut is_detected = false;
        link.run_until(9.5, |link| is_detected |= link.algorithm.policer.rate().is_some());
        if is_detected {
            let rate = link.algorithm.policer.rate().unwrap_or(0.2 * RATE);
            assert_within("policer", rate, 0.2 * RATE, 0.15);
        }
        (is_detected, link.lost as f64 / (link.lost + link.delivered) as f64)
    };
    let ((found, with), (not, without)) = (losses(true), losses(false));
    assert!(found && !not);
    assert!(with < without, "{with} and {without}");
}

#[test]
fn timeouts_end_intervals_of_the_search_for_a_policer() {
    let mut link = link(path());
    link.run_until(5.0, |_| {});
    let timeout = Congestion { now: link.now, ..super::super::tests::congestion(Cause::Timeout, 100.0) };
    let bbr = &mut link.algorithm;
    // Two times four timeouts with the same share delivered and lost in between, and never an ACK.
    for _ in 0..2 * 4 {
        assert!(bbr.policer.rate().is_none());
        bbr.delivered += SEGMENT;
        bbr.delivered_at = bbr.delivered_at.max(link.now) + Duration::from_millis(200);
        bbr.lost += SEGMENT;
        bbr.on_congestion(&timeout);
    }
    assert_within("policer", bbr.policer.rate().expect("found"), SEGMENT as f64 / 0.2, 0.01);
}

#[test]
fn an_ack_without_a_sample_moves_the_state_but_no_round() {
    let mut link = link(path());
    link.run_until(5.0, |_| {});
    let (now, bbr) = (link.now + RTT + RTT, &mut link.algorithm);
    let (rounds, bandwidth, delivered) = (bbr.rounds.count, bbr.bandwidth(), bbr.delivered);
    bbr.state = State::ProbeBw(0);
    bbr.on_lost(&Lost { now, bytes: SEGMENT, tx_in_flight: SEGMENT, lost_since: SEGMENT, app_limited: false });
    // A duplicate ACK without SACK, and one whose sample is shorter than a round trip.
    let short = RateSample {
        delivered: 100 * SEGMENT,
        interval: Duration::ZERO,
        prior_delivered: delivered,
        total_delivered: delivered + 2 * SEGMENT,
        lost: SEGMENT,
        tx_in_flight: SEGMENT,
        app_limited: false,
        retransmitted: false,
    };
    for (acks, rate) in [(1, None), (2, Some(short))] {
        let ack = super::super::tests::ack(now, RTT);
        bbr.on_ack(&Ack { rate, rtt: None, newly_delivered: SEGMENT, ..ack });
        assert_eq!((bbr.rounds.count, bbr.rounds.started, bbr.bandwidth()), (rounds, false, bandwidth));
        assert_eq!(bbr.delivered, delivered + acks * SEGMENT);
        // The loss ends the phase that probes, and the empty path ends the one that drains.
        assert_eq!(bbr.state, State::ProbeBw(acks as usize));
    }
}

#[test]
fn ten_times_the_bandwidth_is_found_in_a_few_cycles() {
    let mut link = link(path());
    link.run_until(3.0, |_| {});
    link.path.rate *= 10.0;
    // A cycle of eight RTTs multiplies by 1.25.
    link.run_until(3.0 + 0.8 * 12.0, |_| {});
    assert!(link.algorithm.bandwidth() > 7.0 * RATE, "{}", link.algorithm.bandwidth());
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let trace = |seed| {
        let start = ConnectionStart { rtt: Some(RTT), seed, ..start(10) };
        let mut link = Link::new(Bbr::new(&Config::default(), &start), Conditions { loss: 0.01, ..path() });
        let mut windows = Vec::new();
        link.run_until(5.0, |link| windows.push((link.now, link.algorithm.window(), link.algorithm.rate.to_bits())));
        windows
    };
    let first = trace(0);
    assert!(trace(0) == first);
    assert!((1..6).any(|seed| trace(seed) != first));
}

/// Returns BBR with Linux's rules, in PROBE_BW on the path of these tests.
fn linux() -> Bbr {
    let mut bbr = Bbr::new(&Config::default(), &ConnectionStart { tso: true, rtt: Some(RTT), ..start(10) });
    bbr.bandwidth.update(0, RATE, 10);
    bbr.filled = true;
    bbr.state = State::ProbeBw(2);
    bbr.set_rate(1.0);
    bbr
}

#[test]
fn linux_subtracts_whole_segments_from_the_flight_at_departure() {
    let mut bbr = linux();
    // A segment takes 1 ms.
    for (wait_us, gain, flight) in [(0, 1.25, 30), (999, 1.25, 30), (1001, 1.25, 29), (2500, 1.25, 28), (999, 0.75, 28)]
    {
        bbr.gain = gain;
        let now = Instant::ZERO + RTT;
        let next_departure = now + Duration::from_micros(wait_us);
        let ack = Ack { next_departure, ..super::super::tests::ack(now, RTT) };
        let found = bbr.flight_at_departure(&ack, 28 * SEGMENT);
        assert_within("flight", found, (flight * SEGMENT) as f64, 1e-9);
    }
}

#[test]
fn linux_compares_the_flight_with_the_gain_of_the_ack_before() {
    let mut bbr = linux();
    bbr.state = State::Startup;
    bbr.gain = bbr.pacing_gain();
    // DRAIN ends at 106 segments. The first ACK of it still adds a burst of two, as in STARTUP.
    let ack = Ack { inflight: 105 * SEGMENT, ..super::super::tests::ack(Instant::ZERO + RTT, RTT) };
    bbr.on_ack(&ack);
    assert_eq!(bbr.state, State::Drain);
    bbr.on_ack(&ack);
    assert!(matches!(bbr.state, State::ProbeBw(_)), "{:?}", bbr.state);
}

#[test]
fn the_flight_of_a_phase_does_not_count_for_a_policer() {
    let mut bbr = linux();
    let before = bbr.inflight(1.0);
    let news = policer::PolicerSample {
        at: Instant::ZERO,
        delivered: 0,
        lost: 0,
        newly_lost: true,
        round: true,
        limited: false,
        probing: true,
    };
    for n in 0..11 {
        let time = Instant::ZERO + RTT * n;
        let sent = n * SEGMENT;
        bbr.policer.watch(&policer::PolicerSample { at: time, delivered: sent, lost: sent, ..news });
    }
    assert_within("policer", bbr.bandwidth(), SEGMENT as f64 / 0.1, 1e-9);
    assert_eq!(bbr.inflight(1.0), before);
}

#[test]
fn linux_measures_a_policer_in_whole_milliseconds() {
    for (linux, first, second) in [(true, 0.4, 0.401), (false, 0.4008, 0.4008)] {
        let mut policer = Policer::new(linux);
        // Every 100.2 ms, a round in which one segment is lost and another one delivered.
        for n in 0..9 {
            assert_eq!(policer.rate(), None);
            policer.watch(&policer::PolicerSample {
                at: Instant::ZERO + Duration::from_nanos(100_200_000 * n),
                delivered: SEGMENT * n,
                lost: SEGMENT * n,
                newly_lost: true,
                round: n > 0,
                limited: false,
                probing: true,
            });
        }
        let mean = 4.0 * SEGMENT as f64 * f64::midpoint(1.0 / first, 1.0 / second);
        assert_within("rate", policer.rate().expect("found"), mean, 1e-9);
    }
}

#[test]
fn linux_measures_phases_at_deliveries() {
    let mut bbr = linux();
    let now = Instant::ZERO + RTT;
    bbr.on_ack(&super::super::tests::ack(now, RTT));
    bbr.probe_bandwidth(now);
    let state = State::ProbeBw(3);
    bbr.state = state;
    // Duplicate ACKs that deliver nothing move no phase, however late they come.
    let late = now + RTT + RTT;
    bbr.on_ack(&Ack { newly_delivered: 0, rtt: None, ..super::super::tests::ack(late, RTT) });
    assert_eq!(bbr.state, state);
    bbr.on_ack(&Ack { rtt: None, ..super::super::tests::ack(late, RTT) });
    assert_eq!((bbr.state, bbr.phase_at), (State::ProbeBw(4), late));
}

#[test]
fn linux_leaves_probe_rtt_with_the_tick_after_its_end() {
    for (linux, stays_us) in [(true, 3_999), (false, 0)] {
        let mut bbr = Bbr::new(&Config::default(), &ConnectionStart { tso: linux, ..start(10) });
        let until = Instant::from_nanos(1_000_000_000);
        (bbr.state, bbr.probe_rtt_until, bbr.filled) = (State::ProbeRtt, Some(until), true);
        bbr.leave_probe_rtt(until + Duration::from_micros(stays_us));
        assert_eq!(bbr.state, State::ProbeRtt);
        bbr.leave_probe_rtt(until + Duration::from_micros(stays_us + 1));
        assert!(matches!(bbr.state, State::ProbeBw(_)));
    }
}

#[test]
fn only_a_timeout_of_data_without_an_earlier_reaction_saves_the_window() {
    for (cause, prior) in [(Cause::Timeout, 118.0), (Cause::RepeatedTimeout, 59.0)] {
        let mut bbr = linux();
        let segment = SEGMENT as f64;
        (bbr.phase, bbr.window, bbr.prior_window) = (Phase::Recovery, 118.0 * segment, 59.0 * segment);
        bbr.on_congestion(&super::super::tests::congestion(cause, 100.0));
        assert_within("saved", bbr.prior_window, prior * segment, 1e-9);
        assert_eq!(bbr.window(), SEGMENT);
    }
}

#[test]
fn linux_counts_the_syn_among_the_segments_that_always_grow_the_window() {
    for (linux, delivered, grows) in [(true, 8, true), (true, 9, false), (false, 9, true), (false, 10, false)] {
        let mut bbr = Bbr::new(&Config::default(), &ConnectionStart { tso: linux, rtt: Some(RTT), ..start(10) });
        // A hundredth of a segment on the path: the target is below the window.
        bbr.bandwidth.update(0, 100.0, 10);
        bbr.delivered = delivered * SEGMENT;
        let before = bbr.window;
        bbr.grow(SEGMENT as f64);
        assert_eq!(bbr.window > before, grows, "{linux}, {delivered}");
    }
}

#[test]
fn in_linux_probe_rtt_marks_what_a_timeout_sends_as_a_start_from_idle() {
    for (prior_inflight, idle) in [(0, true), (SEGMENT, false)] {
        let mut bbr = linux();
        bbr.shallow.mark(bbr.delivered, 4 * SEGMENT);
        bbr.on_sent(&Sent { now: Instant::ZERO, bytes: SEGMENT, prior_inflight, app_limited: false });
        assert_eq!(bbr.idle, idle);
    }
}

#[test]
fn linux_keeps_rates_in_whole_segments_per_2_to_the_24_us() {
    // 10 segments in 600 ms are 279.6 of these units, kept are 279.
    let unit = SEGMENT as f64 / 16.777_216;
    let first = |tso| Bbr::new(&Config::default(), &ConnectionStart { tso, rtt: Some(RTT * 6), ..start(10) });
    assert_within("linux", first(true).rate, 739.0 / 256.0 * 0.99 * 279.0 * unit, 1e-9);
    assert_within("draft", first(false).rate, 2.885 * 10.0 * SEGMENT as f64 / 0.6, 1e-9);
    assert_within("a sample", first(true).kept(14_491.9 * unit), 14_491.0 * unit, 1e-9);
}
