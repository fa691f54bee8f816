use super::*;
use crate::congestion::cubic::CubicVariant;
use crate::congestion::tests::{SEGMENT, ack, assert_within, congestion, start};
use crate::congestion::{Phase, cubic};
use std::collections::VecDeque;

const RTT: Duration = Duration::from_millis(80);

fn inet(initial_window: u64) -> CubicInet {
    CubicInet::new(&cubic::Config::of(CubicVariant::Inet2023), &start(initial_window))
}

fn seconds(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds)
}

/// Returns the variant after a loss at 214 segments and the first ACK of congestion avoidance, which arrives at 1 s.
fn after_loss() -> CubicInet {
    let mut cubic = inet(214);
    cubic.on_congestion(&congestion(Cause::Loss, 100.0));
    cubic.on_ack(&ack(seconds(1.0), RTT));
    cubic.on_ack(&ack(seconds(1.0), RTT));
    cubic
}

#[test]
fn slow_start_adds_a_segment_an_ack_up_to_one_above_the_threshold() {
    let mut cubic = inet(1);
    cubic.on_ack(&Ack { growth: 2.0, newly_acked: 2 * SEGMENT, ..ack(seconds(1.0), RTT) });
    assert_eq!(cubic.window(), 2 * SEGMENT);
    cubic.ssthresh = 2 * SEGMENT;
    cubic.on_ack(&ack(seconds(1.0), RTT));
    assert_eq!(cubic.window(), 3 * SEGMENT);
    assert!(cubic.epoch().is_none());
    cubic.on_ack(&ack(seconds(1.0), RTT));
    assert!(cubic.epoch().is_some());
}

/// Runs slow start with 20 ACKs per round, 10 ms apart so that they do not form an ACK train for HyStart. All samples
/// of a round have the same RTT, in ms from `rtts`. Returns the window in segments after each round.
fn rounds(policy: &str, rtts: &[u64]) -> Vec<u64> {
    let json = format!(r#"{{ "algorithm": "cubic", "variant": "inet2023", "slow_start": "{policy}" }}"#);
    let choice: crate::congestion::Choice = serde_json::from_str(&json).unwrap();
    let mut cubic = crate::congestion::build(&choice, &start(20));
    let (mut una, mut now) = (0, 1.0);
    let mut windows = Vec::new();
    for rtt in rtts {
        let nxt = una + 20 * SEGMENT;
        for _ in 0..20 {
            una += SEGMENT;
            now += 0.01;
            let min_rtt = Duration::from_millis(rtts[0]);
            let rtt = Duration::from_millis(*rtt);
            cubic.on_ack(&Ack { rtt: Some(rtt), min_rtt, snd_una: una, snd_nxt: nxt, ..ack(seconds(now), rtt) });
        }
        windows.push(cubic.window() / SEGMENT);
    }
    windows
}

#[test]
fn hystart_ends_slow_start_where_the_round_trip_rises_and_leaves_the_window() {
    // 20 segments per round, until the third round is 20 ms above the minimum of 100 ms: more than 100/8 = 12.5. Eight
    // samples are needed; the ninth ACK sets ssthresh and adds the last segment. Then an epoch with K = 0 starts.
    let flat = rounds("standard", &[100, 100, 120, 120]);
    assert_eq!(flat, [40, 60, 80, 100]);
    let ended = rounds("hystart", &[100, 100, 120, 120]);
    assert_eq!(ended[..2], flat[..2]);
    assert!((69..=71).contains(&ended[2]), "{ended:?}");
    assert!(ended[3] <= ended[2] + 2, "{ended:?}");
    assert_eq!(rounds("hystart", &[100, 100, 110, 110]), flat);
}

#[test]
fn k_starts_a_segment_above_the_threshold() {
    // ⌊0.8·214 000⌋ = 171 200 bytes, and a segment: ∛((214 − 172.2)/0.4) = ∛((0.2·214 − 1)/0.4) = 4.710 s.
    let cubic = after_loss();
    assert_eq!((cubic.ssthresh(), cubic.window()), (171_200, 172_200));
    let epoch = cubic.epoch().unwrap();
    assert_eq!((epoch.start, epoch.w_max), (seconds(1.0), 214.0));
    assert!((epoch.k.as_secs_f64() - 4.710).abs() < 5e-4, "{}", epoch.k);
}

#[test]
fn the_threshold_is_of_the_window_and_at_least_two_segments() {
    let mut cubic = inet(100);
    cubic.on_congestion(&congestion(Cause::Loss, 10.0));
    assert_eq!((cubic.ssthresh(), cubic.window()), (80 * SEGMENT, 80 * SEGMENT));
    let mut small = inet(2);
    small.on_congestion(&congestion(Cause::Loss, 2.0));
    assert_eq!(small.ssthresh(), 2 * SEGMENT);
}

#[test]
fn the_target_is_the_plateau_for_a_second_and_a_third_around_it() {
    let mut cubic = after_loss();
    let curve = cubic.curve.unwrap();
    cubic.cwnd = 213 * SEGMENT;
    // 0.4·1.357³ = 1: a target of 214 there, 213 and 215 outside; dMin = 80 ms is part of t.
    for (from_k, count) in [(-1.40, 21_300), (-1.30, 213), (0.0, 213), (1.30, 213), (1.40, 106)] {
        let now = curve.start + Duration::from_secs_f64(curve.k + from_k - 0.08);
        assert_eq!(cubic.count(&curve, now), count, "{from_k} s from K");
    }
}

#[test]
fn an_increment_takes_two_acks_more_than_the_count() {
    let mut cubic = after_loss();
    let curve = cubic.curve.unwrap();
    cubic.cwnd = 200 * SEGMENT;
    cubic.waited = 0;
    let now = curve.start + Duration::from_secs_f64(curve.k - 0.08);
    // ⌊200/(214 − 200)⌋ = 14.
    assert_eq!(cubic.count(&curve, now), 14);
    let acks = (1..=40).find(|_| {
        cubic.on_ack(&ack(now, RTT));
        cubic.cwnd > 200 * SEGMENT
    });
    assert_eq!(acks, Some(16));
}

#[test]
fn a_timeout_forgets_the_plateau_after_it_has_set_the_threshold() {
    let mut cubic = after_loss();
    cubic.on_congestion(&congestion(Cause::Timeout, 1.0));
    assert_eq!((cubic.window(), cubic.ssthresh()), (SEGMENT, 137_760));
    assert_eq!((cubic.last_max, cubic.min_rtt), (0, None));
    cubic.cwnd = 140 * SEGMENT;
    cubic.on_ack(&Ack { phase: Phase::Loss, ..ack(seconds(3.0), RTT) });
    let epoch = cubic.epoch().unwrap();
    assert_eq!((epoch.w_max, epoch.k), (140.0, Duration::ZERO));
}

#[test]
fn a_loss_below_the_last_plateau_aims_lower() {
    let mut cubic = after_loss();
    cubic.on_congestion(&congestion(Cause::Loss, 1.0));
    // 0.9·172 200.
    assert_eq!(cubic.last_max, 154_980);
}

/// A flow over a link of 5 Mbit/s with 40 ms each way. Segments carry 1024 B and 47 B of headers; each second segment
/// is acknowledged immediately, otherwise a segment is acknowledged after 200 ms. `arrivals` holds the arrival times of
/// the segments in flight; the ACKs follow from them in order.
struct PointToPoint {
    cubic: CubicInet,
    now: Instant,
    link_free: Instant,
    arrivals: VecDeque<Instant>,
    acked: u64,
    recovery_ends: Option<u64>,
}

impl PointToPoint {
    const MSS: u64 = 1024;
    const DELAY: Duration = Duration::from_millis(40);

    fn new() -> Self {
        let start = ConnectionStart { segment_size: Self::MSS, ..start(1) };
        let cubic = CubicInet::new(&cubic::Config::of(CubicVariant::Inet2023), &start);
        // It starts at 1.2 s; the handshake takes a round trip.
        let now = seconds(1.28);
        Self { cubic, now, link_free: now, arrivals: VecDeque::new(), acked: 0, recovery_ends: None }
    }

    fn send(&mut self) {
        let on_the_wire = Duration::from_secs_f64((1024.0 + 47.0) * 8.0 / 5e6);
        while (self.arrivals.len() as u64 + 1) * Self::MSS <= self.cubic.window() {
            self.link_free = self.link_free.max(self.now) + on_the_wire;
            self.arrivals.push_back(self.link_free + Self::DELAY);
        }
    }

    /// Advances the flow to the arrival of the next ACK.
    fn step(&mut self) {
        self.send();
        let timer = self.arrivals[0] + Duration::from_millis(200);
        let (sent, count) = match self.arrivals.get(1) {
            Some(second) if *second <= timer => (*second, 2),
            _ => (timer, 1),
        };
        let rtt = Self::DELAY * 2 + Duration::from_micros(1714);
        self.now = sent + Self::DELAY;
        self.arrivals.drain(..count);
        self.acked += count as u64;
        let repairing = self.recovery_ends.is_some();
        let phase = if repairing { Phase::Recovery } else { Phase::Open };
        let newly_acked = count as u64 * Self::MSS;
        self.cubic.on_ack(&Ack { newly_acked, phase, ..ack(self.now, rtt) });
        self.recovery_ends = self.recovery_ends.filter(|end| self.acked < *end);
    }

    fn lose(&mut self) {
        let flight = self.arrivals.len() as u64 * Self::MSS;
        let event = congestion(Cause::Loss, flight as f64 / SEGMENT as f64);
        self.cubic.on_congestion(&event);
        self.recovery_ends = Some(self.acked + self.arrivals.len() as u64);
    }
}

#[test]
fn the_published_run_has_its_first_four_switches() {
    let mut path = PointToPoint::new();
    for (switch_s, k) in [(2.90, 4.71), (8.72, 4.70), (16.32, 4.77), (26.16, 5.09)] {
        while path.now < seconds(switch_s) {
            path.step();
        }
        path.lose();
        while path.cubic.epoch().is_none() {
            path.step();
        }
        assert_within(&format!("K after {switch_s} s"), path.cubic.epoch().unwrap().k.as_secs_f64(), k, 0.04);
    }
}
