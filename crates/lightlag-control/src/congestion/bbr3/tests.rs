//! BBR version 3 on a simulated path, by default with 1000 segments/s and 100 ms: the tests in the draft's appendix, as
//! far as they are possible with one flow.

use super::super::tests::link::{Conditions, Link};
use super::super::tests::{SEGMENT, assert_within, congestion, start};
use super::*;

const RATE: f64 = 1_000_000.0;
const RTT: Duration = Duration::from_millis(100);
const SIZE: f64 = SEGMENT as f64;

fn path() -> Conditions {
    Conditions::new(RATE, RTT)
}

fn flow(path: Conditions) -> Link<Bbr3> {
    Link::new(Bbr3::new(&Config::default(), &ConnectionStart { rtt: Some(path.rtt), ..start(10) }), path)
}

/// Runs the flow until BBR is in `state`, for at most 20 s.
fn run_to(link: &mut Link<Bbr3>, state: State) {
    let end = link.now.as_secs_f64() + 20.0;
    while link.algorithm.state != state {
        assert!(link.now.as_secs_f64() < end, "{state:?} never came: {:?}", link.algorithm.state);
        link.run_until(link.now.as_secs_f64() + 0.001, |_| {});
    }
}

/// Runs the flow until BBR has left `state`, for at most 20 s.
fn leave(link: &mut Link<Bbr3>, state: State) {
    let end = link.now.as_secs_f64() + 20.0;
    while link.algorithm.state == state {
        assert!(link.now.as_secs_f64() < end, "{state:?} does not end");
        link.run_until(link.now.as_secs_f64() + 0.001, |_| {});
    }
}

/// Returns the states in the next `seconds`, with their start times.
fn states(link: &mut Link<Bbr3>, seconds: f64) -> Vec<(f64, State)> {
    let mut seen: Vec<(f64, State)> = Vec::new();
    link.run_until(link.now.as_secs_f64() + seconds, |link| {
        if seen.last().is_none_or(|(_, state)| *state != link.algorithm.state) {
            seen.push((link.now.as_secs_f64(), link.algorithm.state));
        }
    });
    seen
}

fn lost(link: &Link<Bbr3>, in_flight: u64, lost_since: u64) -> Lost {
    let (tx_in_flight, lost_since) = (in_flight * SEGMENT, lost_since * SEGMENT);
    Lost { now: link.now, bytes: SEGMENT, tx_in_flight, lost_since, app_limited: false }
}

#[test]
fn startup_ends_on_a_plateau_with_the_bandwidth_measured() {
    let mut link = flow(path());
    let mut counts = Vec::new();
    while !link.algorithm.full_bw_reached {
        link.run_until(link.now.as_secs_f64() + 0.001, |link| counts.push(link.algorithm.full_bw_count));
        assert!(link.now.as_secs_f64() < 3.0);
    }
    assert!(counts.contains(&1) && counts.contains(&2) && link.algorithm.full_bw_count == 3);
    assert!(link.algorithm.full_bw_now);
    assert_within("max_bw", link.algorithm.max_bw.max(), RATE, 0.02);
    assert_eq!(link.algorithm.state, State::Drain);
    assert_eq!(link.algorithm.pacing_gain(), 0.5);
}

#[test]
fn drain_ends_when_the_flight_is_the_bandwidth_delay_product() {
    let mut link = flow(path());
    run_to(&mut link, State::Drain);
    assert!(link.algorithm.inflight > path().bdp());
    leave(&mut link, State::Drain);
    assert!(link.algorithm.is_in_probe_bw());
    assert!(link.algorithm.inflight <= 1.03 * path().bdp(), "{}", link.algorithm.inflight);
    assert!(link.algorithm.rounds.count <= link.algorithm.drain_start_round + 3);
}

#[test]
fn drain_ends_after_three_rounds_at_the_latest() {
    let mut link = flow(path());
    run_to(&mut link, State::Drain);
    // The bandwidth falls, so that the flight stays above the one measured in Startup.
    link.path.rate = 0.45 * RATE;
    let (mut held, mut rounds) = (true, 0);
    link.run_until(link.now.as_secs_f64() + 3.0, |link| {
        if link.algorithm.state == State::Drain {
            held &= link.algorithm.inflight > link.algorithm.inflight_at(link.algorithm.bw, 1.0);
            rounds = link.algorithm.rounds.count - link.algorithm.drain_start_round;
        }
    });
    assert_ne!(link.algorithm.state, State::Drain);
    assert!(held && rounds == 3, "{held} {rounds}");
}

#[test]
fn the_states_of_probe_bw_follow_each_other() {
    let seen = states(&mut flow(path()), 30.0);
    // Down lasts only until the ACK that ends Drain: there is room already.
    let first: Vec<State> = seen[..3].iter().map(|(_, state)| *state).collect();
    assert_eq!(first, [State::Startup, State::Drain, State::Cruise]);
    let mut probes = 0;
    for pair in seen[2..].windows(2) {
        let ((from, before), (to, after)) = (pair[0], pair[1]);
        let expected: &[State] = match before {
            State::Down => &[State::Cruise, State::ProbeRtt],
            State::Cruise => &[State::Refill, State::ProbeRtt],
            State::Refill => &[State::Up, State::ProbeRtt],
            State::Up => &[State::Down, State::ProbeRtt],
            State::ProbeRtt => &[State::Cruise],
            other => panic!("{other:?} in ProbeBW"),
        };
        assert!(expected.contains(&after), "{pair:?}");
        if (before, after) == (State::Refill, State::Up) {
            probes += 1;
            // One round.
            assert!((0.1..0.15).contains(&(to - from)), "{pair:?}");
        }
    }
    assert!((5..=12).contains(&probes), "{probes}");
}

#[test]
fn two_to_three_seconds_lie_between_probes() {
    let config = Config { probe_rtt: Duration::ZERO, ..Config::default() };
    let start = ConnectionStart { rtt: Some(RTT), ..start(10) };
    let mut waits = Vec::new();
    let mut before = State::Startup;
    Link::new(Bbr3::new(&config, &start), path()).run_until(40.0, |link| {
        if link.algorithm.state == State::Refill && before != State::Refill {
            waits.push(link.now.since(link.algorithm.cycle_at).as_secs_f64());
        }
        before = link.algorithm.state;
    });
    assert!(waits.len() > 8 && waits.iter().all(|wait| (2.0..3.02).contains(wait)), "{waits:?}");
    // On a short path Reno's pace decides: as many rounds as segments in flight, up to 63.
    let short = Conditions::new(RATE, Duration::from_millis(10));
    let start = ConnectionStart { rtt: Some(short.rtt), ..start };
    let seen = states(&mut Link::new(Bbr3::new(&config, &start), short), 5.0);
    let refills = seen.iter().filter(|(_, state)| *state == State::Refill).count();
    assert!(refills > 15, "{refills}");
}

#[test]
fn up_ends_on_a_plateau() {
    let mut link = flow(path());
    run_to(&mut link, State::Up);
    assert_eq!((link.algorithm.pacing_gain(), link.algorithm.window_gain()), (1.25, 2.25));
    run_to(&mut link, State::Down);
    assert!(link.algorithm.full_bw_now && !link.algorithm.prev_probe_too_high);
    assert_eq!(link.lost, 0);
    assert_eq!(link.algorithm.pacing_gain(), 0.9);
}

#[test]
fn down_ends_when_there_is_headroom() {
    let mut link = flow(path());
    run_to(&mut link, State::Up);
    run_to(&mut link, State::Down);
    assert!(!link.algorithm.is_time_to_cruise());
    run_to(&mut link, State::Cruise);
    assert!(link.algorithm.inflight <= 1.03 * path().bdp(), "{}", link.algorithm.inflight);
    // Room must remain below the bound for other flows.
    let bbr = &mut link.algorithm;
    bbr.inflight_longterm = 90.0 * SIZE;
    assert_within("headroom", bbr.inflight_with_headroom(), 76.5 * SIZE, 1e-9);
    for (flight, room) in [(80.0, false), (76.0, true)] {
        bbr.inflight = flight * SIZE;
        assert_eq!(bbr.is_time_to_cruise(), room);
    }
}

#[test]
fn down_ends_after_its_time_without_cruise() {
    let config = Config { probe_rtt: Duration::ZERO, ..Config::default() };
    let mut link = Link::new(Bbr3::new(&config, &ConnectionStart { rtt: Some(RTT), ..start(10) }), path());
    run_to(&mut link, State::Up);
    run_to(&mut link, State::Down);
    link.path.rate = 0.5 * RATE;
    let seen = states(&mut link, 3.1);
    assert_eq!(seen[1].1, State::Refill, "{seen:?}");
}

#[test]
fn probe_rtt_occurs_every_five_seconds_with_half_the_flight() {
    let mut link = flow(path());
    let (mut began, mut ended, mut smallest) = (Vec::new(), Vec::new(), u64::MAX);
    let mut before = false;
    link.run_until(40.0, |link| {
        let probing = link.algorithm.state == State::ProbeRtt;
        if probing {
            smallest = smallest.min(link.inflight);
            assert!(link.algorithm.window <= 51.0 * SIZE, "{}", link.algorithm.window);
        }
        if probing != before {
            (if probing { &mut began } else { &mut ended }).push(link.now.as_secs_f64());
        }
        before = probing;
    });
    assert!((6..=8).contains(&began.len()), "{began:?}");
    assert!((45 * SEGMENT..=51 * SEGMENT).contains(&smallest), "{smallest}");
    for pair in began.windows(2) {
        assert!((5.0..6.0).contains(&(pair[1] - pair[0])), "{began:?}");
    }
    for (began, ended) in began.iter().zip(&ended) {
        assert!((0.2..0.5).contains(&(ended - began)), "{began} to {ended}");
    }
}

#[test]
fn probe_rtt_in_startup_leads_back_to_it() {
    let mut link = flow(path());
    link.write_at(0.02 * RATE);
    let seen = states(&mut link, 12.0);
    let states: Vec<State> = seen.iter().map(|(_, state)| *state).collect();
    assert_eq!(states[..3], [State::Startup, State::ProbeRtt, State::Startup]);
}

#[test]
fn a_lone_flow_uses_the_link() {
    for (rtt, queue) in [(50, 3.0), (100, 1.0), (600, 1.0)] {
        let mut path = Conditions::new(RATE, Duration::from_millis(rtt));
        path.queue = queue * path.bdp();
        let config = Config { probe_rtt: Duration::ZERO, ..Config::default() };
        let mut link = Link::new(Bbr3::new(&config, &ConnectionStart { rtt: Some(path.rtt), ..start(10) }), path);
        link.run_until(12.0, |_| {});
        let before = link.delivered;
        link.run_until(42.0, |_| {});
        assert_within("without ProbeRTT", (link.delivered - before) as f64, 30.0 * RATE, 0.03);
        let mut link = flow(path);
        link.run_until(12.0, |_| {});
        let before = link.delivered;
        link.run_until(42.0, |_| {});
        let share = (link.delivered - before) as f64 / (30.0 * RATE);
        assert!(share > if rtt == 600 { 0.85 } else { 0.92 }, "{rtt} ms: {share}");
    }
}

#[test]
fn losses_of_one_percent_cost_little_and_of_five_much() {
    let goodput = |loss| {
        let mut link = flow(Conditions { loss, ..path() });
        link.run_until(12.0, |_| {});
        let before = link.delivered;
        link.run_until(42.0, |_| {});
        ((link.delivered - before) as f64 / (30.0 * RATE), link.algorithm.inflight_longterm)
    };
    let ((clean, unbounded), (one, _), (five, bounded)) = (goodput(0.0), goodput(0.01), goodput(0.05));
    assert!(clean > 0.92 && one > 0.75 && five < one, "{clean} {one} {five}");
    assert!(unbounded == f64::INFINITY && bounded < 2.0 * path().bdp(), "{unbounded} {bounded}");
}

#[test]
fn application_limited_samples_never_lower_the_bandwidth() {
    let mut link = flow(path());
    link.run_until(2.0, |_| {});
    link.write_at(0.1 * RATE);
    link.run_until(2.5, |_| {});
    let bandwidth = link.algorithm.max_bw.max();
    link.run_until(20.0, |link| assert!(link.algorithm.max_bw.max() >= bandwidth));
    assert!(link.rate < 0.2 * RATE, "the samples themselves are low: {}", link.rate);
}

#[test]
fn an_application_limited_startup_ends_only_by_losses() {
    let mut link = flow(path());
    link.write_at(0.5 * RATE);
    link.run_until(4.5, |link| assert_eq!(link.algorithm.state, State::Startup));
    assert!(!link.algorithm.full_bw_reached);
    link.path.loss = 0.1;
    leave(&mut link, State::Startup);
    assert!(link.algorithm.full_bw_now && link.algorithm.full_bw_reached);
    assert!(link.algorithm.inflight_longterm < f64::INFINITY);
    assert_eq!(link.algorithm.undo.state, Some(State::Startup));
}

#[test]
fn an_application_limited_probe_ends_only_by_losses() {
    let config = Config { probe_rtt: Duration::ZERO, ..Config::default() };
    let mut link = Link::new(Bbr3::new(&config, &ConnectionStart { rtt: Some(RTT), ..start(10) }), path());
    run_to(&mut link, State::Up);
    link.write_at(0.3 * RATE);
    let at = link.now.as_secs_f64();
    link.run_until(at + 5.0, |link| assert_eq!(link.algorithm.state, State::Up));
    link.path.loss = 0.2;
    run_to(&mut link, State::Down);
    assert!(link.algorithm.prev_probe_too_high);
}

#[test]
fn a_probe_that_loses_too_much_sets_the_bound_and_ends() {
    let mut link = flow(path());
    run_to(&mut link, State::Up);
    assert_eq!(link.algorithm.inflight_longterm, f64::INFINITY);
    link.algorithm.on_lost(&lost(&link, 120, 1));
    assert_eq!(link.algorithm.state, State::Up, "one of 120 is below 2 %");
    link.algorithm.on_lost(&lost(&link, 120, 3));
    assert_eq!(link.algorithm.state, State::Down);
    // 119 segments in flight before it, with two lost: the losses exceeded 2 % at 119 + (0.02 × 119 − 2)/0.98 segments.
    assert_within("inflight_longterm", link.algorithm.inflight_longterm, 119.388 * SIZE, 1e-4);
    assert!(link.algorithm.prev_probe_too_high);
    let bound = link.algorithm.inflight_longterm;
    link.algorithm.on_lost(&lost(&link, 50, 10));
    assert_eq!(link.algorithm.inflight_longterm, bound, "one reaction a probe");
}

#[test]
fn the_bound_falls_to_no_less_than_seventy_percent() {
    let mut link = flow(path());
    run_to(&mut link, State::Up);
    link.algorithm.on_lost(&lost(&link, 20, 5));
    assert_within("inflight_longterm", link.algorithm.inflight_longterm, 0.7 * path().bdp(), 0.03);
}

#[test]
fn after_a_probe_that_went_too_high_the_next_is_short_and_then_follows_another() {
    let config = Config { probe_rtt: Duration::ZERO, ..Config::default() };
    let mut link = Link::new(Bbr3::new(&config, &ConnectionStart { rtt: Some(RTT), ..start(10) }), path());
    run_to(&mut link, State::Up);
    link.algorithm.on_lost(&lost(&link, 110, 5));
    run_to(&mut link, State::Refill);
    let seen = states(&mut link, 1.2);
    let states: Vec<State> = seen.iter().map(|(_, state)| *state).collect();
    // Cautious: down at the bound. There are no losses there, so immediately up again.
    let again = [State::Refill, State::Up, State::Down, State::Refill, State::Up];
    let without_cruise: Vec<State> = states.into_iter().filter(|state| *state != State::Cruise).collect();
    assert_eq!(without_cruise[..5], again, "{seen:?}");
    let (up, down) = (seen[1].0, seen[2].0);
    assert!(down - up < 0.12, "{seen:?}");
}

#[test]
fn the_long_term_bound_rises_ever_faster_while_it_probes() {
    let mut link = flow(path());
    run_to(&mut link, State::Up);
    link.algorithm.on_lost(&lost(&link, 60, 5));
    let low = link.algorithm.inflight_longterm;
    link.run_until(link.now.as_secs_f64() + 15.0, |_| {});
    assert!(link.algorithm.inflight_longterm > 1.2 * low, "{} from {low}", link.algorithm.inflight_longterm);
    // 1, 2, 4, … segments per round.
    let mut bbr = Bbr3::new(&Config::default(), &start(64));
    let each: Vec<f64> = (0..8)
        .map(|_| {
            bbr.raise_inflight_longterm_slope();
            bbr.window / bbr.probe_up_acked_per_inc
        })
        .collect();
    assert_eq!(each, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 64.0]);
}

#[test]
fn between_probes_a_round_with_losses_lowers_the_short_term_bounds() {
    let mut link = flow(path());
    run_to(&mut link, State::Cruise);
    let bbr = &mut link.algorithm;
    assert_eq!(bbr.bw_shortterm, f64::INFINITY);
    let (max_bw, window) = (bbr.max_bw.max(), bbr.window);
    bbr.is_loss_in_round = true;
    (bbr.bw_latest, bbr.inflight_latest) = (0.5 * max_bw, 0.9 * window);
    let sample = RateSample {
        delivered: 0,
        interval: Duration::ZERO,
        prior_delivered: u64::MAX,
        total_delivered: bbr.delivered,
        lost: 0,
        tx_in_flight: 0,
        app_limited: true,
        retransmitted: false,
    };
    bbr.loss_round_start = true;
    bbr.update_congestion_signals(&sample, 0.0, true);
    assert_within("bw_shortterm", bbr.bw_shortterm, 0.7 * max_bw, 1e-9);
    assert_within("inflight_shortterm", bbr.inflight_shortterm, 0.9 * window, 1e-9);
    assert!(!bbr.is_loss_in_round);
    run_to(&mut link, State::Refill);
    assert_eq!(link.algorithm.bw_shortterm, f64::INFINITY);
}

#[test]
fn a_spurious_episode_is_taken_back() {
    let mut link = flow(path());
    run_to(&mut link, State::Up);
    let window = link.algorithm.window;
    (0..5).for_each(|n| link.algorithm.on_lost(&lost(&link, 80, n + 1)));
    link.algorithm.on_congestion(&congestion(Cause::Loss, 100.0));
    assert_eq!(link.algorithm.state, State::Down);
    assert!(link.algorithm.inflight_longterm < f64::INFINITY);
    link.algorithm.on_undo(link.now);
    assert_eq!(link.algorithm.state, State::Refill);
    assert_eq!(link.algorithm.inflight_longterm, f64::INFINITY);
    assert!(link.algorithm.window >= window);
}

#[test]
fn a_spurious_timeout_in_startup_leads_back_to_it() {
    let mut link = flow(path());
    link.run_until(0.35, |_| {});
    let window = link.algorithm.window;
    link.algorithm.on_lost(&lost(&link, 20, 1));
    let left = link.algorithm.inflight;
    link.algorithm.on_congestion(&congestion(Cause::Timeout, 20.0));
    assert_eq!(link.algorithm.window, left + SIZE);
    link.algorithm.end_startup_for_loss();
    link.algorithm.check_startup_done();
    assert_eq!(link.algorithm.state, State::Drain);
    link.algorithm.on_undo(link.now);
    assert_eq!(link.algorithm.state, State::Startup);
    assert!(!link.algorithm.full_bw_reached && link.algorithm.window >= window);
}

#[test]
fn after_a_repair_the_window_returns() {
    let mut link = flow(path());
    run_to(&mut link, State::Cruise);
    let window = link.algorithm.window;
    link.algorithm.on_congestion(&congestion(Cause::Timeout, 100.0));
    link.algorithm.window = SIZE;
    link.algorithm.on_recovered(link.now);
    assert_eq!(link.algorithm.window, window);
}

#[test]
fn idleness_replaces_probe_rtt() {
    let mut link = flow(path());
    link.run_until(4.0, |_| {});
    link.write_at(0.0);
    link.run_until(20.0, |_| {});
    assert_eq!(link.inflight, 0);
    link.write_without_end();
    let mut first_rate = 0.0;
    link.run_until(20.5, |link| {
        assert_ne!(link.algorithm.state, State::ProbeRtt);
        first_rate = if first_rate == 0.0 { link.algorithm.rate } else { first_rate };
    });
    assert!(first_rate > 0.85 * RATE, "{first_rate}");
}

#[test]
fn a_path_of_less_than_a_segment_keeps_four_in_flight() {
    let slow = Conditions { queue: 20_000.0, ..Conditions::new(20_000.0, Duration::from_millis(20)) };
    let mut link = flow(slow);
    link.run_until(20.0, |link| assert!(link.algorithm.window() >= 4 * SEGMENT));
    let before = link.delivered;
    link.run_until(60.0, |_| {});
    assert_within("throughput", (link.delivered - before) as f64, 40.0 * 20_000.0, 0.03);
    assert_within("rate", link.algorithm.max_bw.max(), 20_000.0, 0.1);
}

#[test]
fn ten_times_the_bandwidth_is_found() {
    let mut link = flow(path());
    run_to(&mut link, State::Cruise);
    link.path.rate *= 10.0;
    link.path.queue *= 10.0;
    link.run_until(link.now.as_secs_f64() + 30.0, |_| {});
    assert!(link.algorithm.max_bw.max() > 9.0 * RATE, "{}", link.algorithm.max_bw.max());
}

#[test]
fn a_tenth_of_the_bandwidth_is_noticed_within_a_few_cycles() {
    let mut link = flow(Conditions { queue: 20.0 * SIZE, ..path() });
    run_to(&mut link, State::Cruise);
    link.path.rate /= 10.0;
    let mut lowered = false;
    link.run_until(link.now.as_secs_f64() + 30.0, |link| lowered |= link.algorithm.bw_shortterm < RATE);
    assert!(lowered);
    assert!(link.algorithm.max_bw.max() < 0.2 * RATE, "{}", link.algorithm.max_bw.max());
}

#[test]
fn losses_become_rare_with_a_policer() {
    let mut link = flow(Conditions { policer: Some((0.3 * RATE, 30_000.0)), ..path() });
    link.run_until(20.0, |_| {});
    let (delivered, lost) = (link.delivered, link.lost);
    link.run_until(60.0, |_| {});
    let (delivered, lost) = ((link.delivered - delivered) as f64, (link.lost - lost) as f64);
    assert!(delivered > 0.6 * 40.0 * 0.3 * RATE, "{delivered}");
    assert!(lost < 0.1 * delivered, "{lost} of {delivered}");
}

#[test]
fn aggregated_acks_widen_the_window() {
    let slotted = Conditions { slot: Duration::from_millis(50), ..Conditions::new(RATE, Duration::from_millis(50)) };
    let mut link = flow(slotted);
    let mut widest = 0.0;
    link.run_until(4.9, |link| widest = f64::max(widest, link.algorithm.window));
    assert!(widest > 2.0 * slotted.bdp() + 20.0 * SIZE, "{widest}");
    assert_within("bandwidth", link.algorithm.max_bw.max(), RATE, 0.15);
    let before = link.delivered;
    link.run_until(20.0, |_| {});
    assert!((link.delivered - before) as f64 > 0.9 * 15.1 * RATE);
}

#[test]
fn a_mark_counts_as_a_loss() {
    let mut link = flow(path());
    run_to(&mut link, State::Up);
    link.algorithm.on_congestion(&congestion(Cause::Mark, 100.0));
    assert_eq!(link.algorithm.state, State::Down);
    assert!(link.algorithm.inflight_longterm < f64::INFINITY);
    run_to(&mut link, State::Cruise);
    link.algorithm.on_congestion(&congestion(Cause::Mark, 100.0));
    assert!(link.algorithm.is_loss_in_round);
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let trace = |seed| {
        let start = ConnectionStart { rtt: Some(RTT), seed, ..start(10) };
        let mut link = Link::new(Bbr3::new(&Config::default(), &start), Conditions { loss: 0.01, ..path() });
        let mut windows = Vec::new();
        link.run_until(8.0, |link| windows.push((link.now, link.algorithm.window(), link.algorithm.rate.to_bits())));
        windows
    };
    let first = trace(0);
    assert!(trace(0) == first);
    assert!(trace(1) != first);
}
