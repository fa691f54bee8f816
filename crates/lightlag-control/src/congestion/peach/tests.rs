use super::*;
use crate::congestion::Allowance;
use crate::congestion::tests::{SEGMENT, ack, congestion, start};

const RTT: Duration = Duration::from_millis(600);

fn peach(window: u64) -> Peach {
    let config: Config = Config::default();
    Peach::new(&config, &start(window))
}

fn path(now: Instant, window: u64) -> Probing {
    Probing { now, srtt: RTT, receive_window: window * SEGMENT }
}

fn segments(peach: &Peach) -> f64 {
    peach.window() as f64 / SEGMENT as f64
}

/// Sends all dummy segments that are due at `now`. Returns their number.
fn send(peach: &mut Peach, now: Instant) -> u64 {
    let mut sent = 0;
    while peach.next_probe(&path(now, 64)).is_some_and(|due| due <= now) {
        peach.on_probe_sent();
        sent += 1;
    }
    sent
}

/// Returns Peach after Sudden Start, with a window of 64 segments.
fn at_64() -> Peach {
    let mut peach = peach(64);
    assert_eq!(peach.next_probe(&path(Instant::ZERO, 64)), None);
    peach
}

/// Loses a segment, and then processes `acks` ACKs of a segment each. Returns the number of dummy segments that were
/// sent.
fn recover(peach: &mut Peach, acks: u64) -> u64 {
    peach.on_congestion(&congestion(Cause::Loss, 64.0));
    let during =
        Ack { phase: crate::congestion::Phase::Recovery, duplicate: true, newly_acked: 0, ..ack(Instant::ZERO, RTT) };
    (0..acks)
        .map(|_| {
            peach.on_ack(&during);
            send(peach, Instant::ZERO)
        })
        .sum()
}

#[test]
fn sudden_start_spreads_a_window_of_probes_over_the_first_round_trip() {
    let mut peach = peach(1);
    let mut now = Instant::ZERO;
    let gap = RTT / 64;
    for n in 1..=63 {
        let due = peach.next_probe(&path(now, 64)).unwrap();
        assert_eq!(due, now + gap, "probe {n}");
        now = due;
        peach.on_probe_sent();
    }
    assert_eq!(peach.next_probe(&path(now, 64)), None);
    assert!(now <= Instant::ZERO + RTT);
    assert_eq!(segments(&peach), 1.0);
    // 1 + 63, a round trip later.
    (0..63).for_each(|_| peach.on_probe_ack(now));
    assert_eq!(segments(&peach), 64.0);
}

#[test]
fn sudden_start_waits_for_a_round_trip_time_and_can_have_its_own_window() {
    let mut peach = Peach::new(&Config::<Original> { sudden_window: 20.0, ..Config::default() }, &start(10));
    let unknown = Probing { srtt: Duration::ZERO, ..path(Instant::ZERO, 64) };
    assert_eq!(peach.next_probe(&unknown), None);
    assert_eq!(peach.next_probe(&path(Instant::ZERO, 64)), Some(Instant::ZERO + RTT / 20));
    assert_eq!(send(&mut peach, Instant::ZERO + RTT), 10);
}

#[test]
fn sudden_start_continues_once_when_the_first_ack_offers_more_than_a_syn_can() {
    let mut peach = peach(1);
    let now = Instant::ZERO;
    assert_eq!(peach.next_probe(&path(now, 65)), Some(now + RTT / 65));
    (0..64).for_each(|_| peach.on_probe_sent());
    assert_eq!(peach.next_probe(&path(now, 65)), None);
    assert_eq!(peach.next_probe(&path(now, 300)), Some(now + RTT / 300));
    (0..235).for_each(|_| peach.on_probe_sent());
    assert_eq!(peach.next_probe(&path(now, 900)), None);
    (0..299).for_each(|_| peach.on_probe_ack(now));
    assert_eq!(segments(&peach), 300.0);
}

#[test]
fn a_loss_without_congestion_costs_nothing_in_the_end() {
    // W0 = 64: W = 32, two dummy segments for each of the first 32 ACKs, and 64 dummy ACKs: 32 prove nothing, 32 add
    // one.
    let mut peach = at_64();
    assert_eq!(recover(&mut peach, 63), 64);
    assert_eq!(segments(&peach), 32.0);
    (0..32).for_each(|_| peach.on_probe_ack(Instant::ZERO));
    assert_eq!(segments(&peach), 32.0);
    (0..32).for_each(|_| peach.on_probe_ack(Instant::ZERO));
    assert_eq!(segments(&peach), 64.0);
}

#[test]
fn a_congested_path_that_drops_half_of_the_probes_leaves_half_the_window() {
    let mut peach = at_64();
    recover(&mut peach, 63);
    (0..32).for_each(|_| peach.on_probe_ack(Instant::ZERO));
    assert_eq!(segments(&peach), 32.0);
    // Three quarters arrive: 48 − 32 = 16 segments more.
    (0..16).for_each(|_| peach.on_probe_ack(Instant::ZERO));
    assert_eq!(segments(&peach), 48.0);
}

#[test]
fn few_acks_release_few_probes_and_later_ones_the_rest() {
    let mut peach = at_64();
    assert_eq!(recover(&mut peach, 10), 20);
    let twice =
        Ack { newly_acked: 2 * SEGMENT, newly_delivered: 2 * SEGMENT, cwnd_limited: false, ..ack(Instant::ZERO, RTT) };
    peach.on_ack(&twice);
    assert_eq!(send(&mut peach, Instant::ZERO), 4);
    (0..100).for_each(|_| peach.on_ack(&twice));
    assert_eq!(send(&mut peach, Instant::ZERO), 40);
    assert_eq!(segments(&peach), 32.0);
}

#[test]
fn a_second_loss_restarts_from_the_window_of_that_time() {
    let mut peach = at_64();
    recover(&mut peach, 63);
    assert_eq!(recover(&mut peach, 31), 32);
    assert_eq!(segments(&peach), 16.0);
    (0..16).for_each(|_| peach.on_probe_ack(Instant::ZERO));
    assert_eq!(segments(&peach), 16.0);
    peach.on_probe_ack(Instant::ZERO);
    assert_eq!(segments(&peach), 17.0);
}

#[test]
fn avoidance_adds_a_segment_a_round_and_a_mark_halves_without_probes() {
    let mut peach = at_64();
    (0..64).for_each(|_| peach.on_ack(&ack(Instant::ZERO, RTT)));
    assert!((segments(&peach) - 65.0).abs() < 0.02, "{}", segments(&peach));
    peach.on_congestion(&congestion(Cause::Mark, 64.0));
    assert!((segments(&peach) - 32.5).abs() < 0.02);
    peach.on_ack(&ack(Instant::ZERO, RTT));
    assert_eq!(send(&mut peach, Instant::ZERO), 0);
}

#[test]
fn a_timeout_starts_with_one_segment_and_sudden_start() {
    let mut peach = at_64();
    recover(&mut peach, 5);
    peach.on_congestion(&congestion(Cause::Timeout, 64.0));
    assert_eq!(segments(&peach), 1.0);
    assert_eq!(send(&mut peach, Instant::ZERO), 0);
    assert_eq!(send(&mut peach, Instant::ZERO + RTT), 63);
    (0..63).for_each(|_| peach.on_probe_ack(Instant::ZERO));
    assert_eq!(segments(&peach), 64.0);
}

#[test]
fn both_kinds_declare_the_data_they_copy() {
    assert_eq!(<Config as Algorithm>::NEEDS.probes, Probes::Last);
    assert_eq!(plus::Config::NEEDS.probes, Probes::Outstanding);
}
