//! Tests of each difference of the variant `ns3` from version 1.

use super::super::BbrVariant;
use super::*;
use crate::congestion::tests::{SEGMENT, ack, assert_within, start};

const MS: Duration = Duration::from_millis(1);

fn at(ms: u64) -> Instant {
    Instant::ZERO + MS * ms
}

fn config() -> Config {
    Config { variant: BbrVariant::Ns3, ..Config::default() }
}

/// Returns a connection whose handshake took `rtt` and whose first segment is sent half a tick after a full second.
fn started(rtt: Duration) -> Ns3 {
    let mut bbr = Ns3::new(&config(), &ConnectionStart { rtt: Some(rtt), ..start(10) });
    send(&mut bbr, Instant::from_nanos(1_000_500_000), 0);
    bbr
}

fn send(bbr: &mut Ns3, now: Instant, prior_inflight: u64) {
    bbr.on_sent(&Sent { now, bytes: SEGMENT, prior_inflight, app_limited: false });
}

/// Returns a connection in PROBE_BW with this BtlBw, in bytes per second, and RTprop.
fn probing(bandwidth: f64, rtt: Duration) -> Ns3 {
    let mut bbr = started(rtt);
    bbr.sampled = bandwidth;
    bbr.bandwidth.update(0, bandwidth, 10);
    bbr.filled = true;
    bbr.state = State::ProbeBw(4);
    bbr
}

/// Returns an ACK of two segments with a sample of this rate over `interval`.
fn two(bbr: &Ns3, now: Instant, rate: f64, interval: Duration) -> Ack {
    let sample = RateSample {
        delivered: (rate * interval.as_secs_f64()) as u64,
        interval,
        prior_delivered: bbr.delivered,
        total_delivered: bbr.delivered + 2 * SEGMENT,
        lost: 0,
        tx_in_flight: 0,
        app_limited: false,
        retransmitted: false,
    };
    Ack { newly_delivered: 2 * SEGMENT, newly_acked: 2 * SEGMENT, rate: Some(sample), ..ack(now, bbr.srtt) }
}

#[test]
fn rtprop_is_the_smoothed_time_in_ticks_and_none_counts_as_a_microsecond() {
    // Both ends of the handshake in one tick; and in two.
    let mut bbr = started(Duration::from_micros(400));
    assert_eq!(bbr.min_rtt, NO_TICK);
    assert_eq!(started(Duration::from_micros(600)).min_rtt, MS);
    assert_eq!(started(Duration::from_micros(2600)).min_rtt, MS * 3);
    let sample = two(&bbr, at(1004), 1e6, MS * 4);
    bbr.on_ack(&Ack { rtt: Some(MS * 4), ..sample });
    assert_eq!((bbr.srtt.as_nanos(), bbr.min_rtt), (500_875, NO_TICK));
    // After ten seconds it is what it is then.
    let sample = two(&bbr, at(12_000), 1e6, MS * 4);
    bbr.on_ack(&Ack { rtt: Some(MS * 4), ..sample });
    assert_eq!((bbr.min_rtt, bbr.state), (bbr.srtt, State::ProbeRtt));
}

#[test]
fn the_first_window_is_sent_immediately_and_then_the_nominal_rate_holds() {
    let mut bbr = started(MS * 20);
    for _ in 1..10 {
        assert_eq!(bbr.pacing_rate(), None);
        send(&mut bbr, at(1001), SEGMENT);
    }
    assert_eq!(bbr.pacing_rate(), None);
    send(&mut bbr, at(1001), SEGMENT);
    let rate = bbr.pacing_rate().expect("it paces").as_bps() as f64;
    assert_within("rate", rate, 2.89 * 10.0 * 8.0 * SEGMENT as f64 / 0.02, 1e-6);
    // The first sample replaces the nominal bandwidth, however small it is, and STARTUP keeps its rate.
    let sample = two(&bbr, at(1022), 1000.0, MS * 1022);
    bbr.on_ack(&sample);
    assert_within("bandwidth", bbr.max_bandwidth(), 1000.0, 1e-2);
    assert_eq!(bbr.pacing_rate().map(|rate| rate.as_bps() as f64), Some(rate));
}

#[test]
fn the_window_of_a_short_path_is_three_segments_and_the_excess() {
    let mut bbr = probing(1e6, Duration::from_micros(400));
    for n in 0..20 {
        bbr.state = State::ProbeBw(4);
        bbr.phase_at = at(1001 + n);
        let sample = two(&bbr, at(1001 + n), 1e6, MS * 4);
        bbr.on_ack(&sample);
    }
    // Two ACKs of these small segments fit in an epoch; a bandwidth-delay product has 2 B. One ACK of 1448 B fits, and
    // the window is five segments.
    assert_eq!(bbr.window, 7 * SEGMENT as u32 + 2);
    bbr.state = State::ProbeBw(0);
    assert_within("with the high gain", bbr.inflight(1.25), 5.0 * SEGMENT as f64, 1e-3);
}

#[test]
fn a_rate_that_every_cycle_measures_too_small_by_a_third_starves() {
    // Two ACKs in a flight give 2/3 of the rate; the high gain of a cycle makes up for 5/4.
    let starved = |share: f64| {
        let mut bbr = probing(1e6, Duration::from_micros(400));
        for n in 0..500 {
            let rate = share * bbr.rate.min(1e6);
            let sample = two(&bbr, at(1001 + 5 * n), rate, MS * 4);
            bbr.on_ack(&Ack { rtt: Some(MS * 4), inflight: 4 * SEGMENT, prior_inflight: 6 * SEGMENT, ..sample });
        }
        bbr.max_bandwidth() / 1e6
    };
    assert!(starved(2.0 / 3.0) < 0.05, "{}", starved(2.0 / 3.0));
    assert!(starved(5.0 / 6.0) > 0.8, "{}", starved(5.0 / 6.0));
}

#[test]
fn a_rate_without_a_valid_sample_counts_again() {
    let mut bbr = probing(1e6, MS * 10);
    bbr.sampled = 3e6;
    let mut none = two(&bbr, at(1010), 1.0, Duration::ZERO);
    bbr.on_ack(&none);
    assert_eq!(bbr.max_bandwidth(), 3e6);
    // A smaller one of a sender without data does not replace it.
    none = two(&bbr, at(1020), 1e6, MS * 10);
    none.rate.as_mut().expect("a sample").app_limited = true;
    bbr.on_ack(&none);
    assert_eq!((bbr.sampled, bbr.max_bandwidth()), (3e6, 3e6));
}

#[test]
fn the_excess_is_the_largest_ack_and_expected_bytes_count_in_whole_seconds() {
    let mut bbr = probing(1e6, MS * 10);
    let mut excess_after = |now, segments: u32| {
        bbr.acked = segments * SEGMENT as u32;
        bbr.rounds.started = false;
        bbr.note_excess(now);
        bbr.excess.most[0].max(bbr.excess.most[1])
    };
    let size = SEGMENT as u32;
    assert_eq!(excess_after(at(1001), 2), 2 * size);
    assert_eq!(excess_after(at(1900), 2), 4 * size);
    // A fifth segment would exceed the epoch.
    assert_eq!(excess_after(at(1900), 1), 4 * size);
    assert_eq!(excess_after(at(1901), 7), 7 * size);
}

#[test]
fn probe_bw_starts_high_or_in_one_of_the_last_five() {
    let mut first = [false; 8];
    for seed in 0..200 {
        let mut bbr = Ns3::new(&config(), &ConnectionStart { seed, ..start(10) });
        bbr.probe_bandwidth(at(0));
        let State::ProbeBw(index) = bbr.state else { panic!("{:?}", bbr.state) };
        first[index] = true;
    }
    assert_eq!(first, [true, false, false, true, true, true, true, true]);
}

#[test]
fn a_recovery_in_startup_opens_the_window_and_its_sum_overflows() {
    let mut bbr = started(MS * 10);
    bbr.delivered = 100 * SEGMENT;
    let sample = two(&bbr, at(1010), 1e6, MS * 10);
    bbr.on_ack(&Ack { phase: Phase::Recovery, inflight: 8 * SEGMENT, ..sample });
    // Flight and ACK, and growth: the same ACK starts a round, which ends the conservation.
    assert_eq!(bbr.window, 12 * SEGMENT as u32);
    let sample = two(&bbr, at(1020), 1e6, MS * 10);
    bbr.on_ack(&Ack { phase: Phase::Recovery, ..sample });
    bbr.on_recovered(at(1020));
    assert_eq!(bbr.window, u32::MAX);
    bbr.filled = true;
    bbr.state = State::ProbeBw(4);
    bbr.on_ack(&two(&bbr, at(1030), 1e6, MS * 10));
    assert_eq!(bbr.window, 4 * SEGMENT as u32);
}

#[test]
fn a_recovery_ends_at_the_flight_of_drain() {
    let mut bbr = started(MS * 10);
    bbr.bandwidth.update(0, 1e6, 10);
    bbr.filled = true;
    bbr.check_drained(&Ack { inflight: 1000 * SEGMENT, ..ack(at(1010), MS * 10) });
    // 10 kB between the ends, in three segments more.
    assert_eq!((bbr.state, bbr.ssthresh), (State::Drain, 10_000 + 3 * SEGMENT as u32));
    bbr.window = 30 * SEGMENT as u32;
    bbr.on_congestion(&congestion(Cause::Loss, 20 * SEGMENT));
    assert_eq!(bbr.window, 21 * SEGMENT as u32);
    bbr.acked = 0;
    bbr.on_recovered(at(1030));
    assert_eq!((bbr.window, bbr.phase), (bbr.ssthresh, Phase::Open));
}

#[test]
fn a_timeout_leaves_one_segment_and_the_next_ack_four() {
    let mut bbr = probing(1e5, MS * 10);
    bbr.on_congestion(&congestion(Cause::Timeout, 10 * SEGMENT));
    assert_eq!(bbr.window(), SEGMENT);
    let sample = two(&bbr, at(2000), 1e5, MS * 10);
    bbr.on_ack(&Ack { phase: Phase::Loss, ..sample });
    assert_eq!(bbr.window(), 4 * SEGMENT);
}

#[test]
fn after_probe_rtt_an_empty_flight_counts_as_idle() {
    let mut bbr = probing(1e6, MS * 10);
    bbr.set_rate(1.25);
    send(&mut bbr, at(1100), 0);
    assert_eq!((bbr.idle, bbr.rate), (false, 1.25e6));
    bbr.probed_rtt = true;
    send(&mut bbr, at(1200), SEGMENT);
    assert!(!bbr.idle);
    send(&mut bbr, at(1200), 0);
    assert_eq!((bbr.idle, bbr.rate), (true, 1e6));
}

fn congestion(cause: Cause, flight: u64) -> Congestion {
    Congestion { now: at(1500), cause, flight, srtt: MS * 10, min_rtt: MS * 10 }
}
