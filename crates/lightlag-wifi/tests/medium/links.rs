//! Losses on one link by its length, and a pair of stations that send simultaneously.
//!
//! The fractions of lost frames are from ns-3.37: `benchmarks/simulators/ns3/air.json`, `ns3-air-chain --gap=…
//! --errors=nist --preamble=1 --traffic=udp`, as failed attempts over all attempts.

use crate::bench::{Bench, Event, Saturated, at, config, place};
use lightlag_mobility::Vector;
use lightlag_net::StationId;
use lightlag_net::medium::Addressee;
use lightlag_wifi::Radio;
use lightlag_wifi::phy::Standard;

/// Runs a link of this length that is always busy, for 5 s and without a limit on attempts. Returns the number of
/// frames that arrived and of attempts.
fn busy(metres: f64, radio: &Radio) -> (f64, f64) {
    let mut bench = Bench::new(&config(Standard::A), radio, &[Vector::ZERO, place(metres)], 1);
    bench.saturate(at(0.0), Saturated { from: 0, to: 1, size: 1500 }, 2);
    bench.run(at(5e6));
    (bench.acknowledged() as f64, bench.attempts() as f64)
}

#[test]
fn frames_are_lost_over_the_distance_as_in_ns_3() {
    let radio = Radio { max_attempts: 255, ..Radio::default() };
    let lost = |acked: f64, failed: f64| failed / (acked + failed);
    for (metres, share) in [
        (41.0, 0.001),
        (43.0, lost(7165.0, 62.0)),
        (44.0, lost(7076.0, 142.0)),
        (45.0, lost(6796.0, 393.0)),
        (46.0, lost(6122.0, 957.0)),
        (47.0, lost(4799.0, 1977.0)),
        (48.0, lost(2484.0, 3209.0)),
    ] {
        let (acknowledged, attempts) = busy(metres, &radio);
        let ours = 1.0 - acknowledged / attempts;
        assert!((ours - share).abs() < 0.02, "{metres} m: {ours} beside {share}");
    }
}

#[test]
fn preambles_end_links() {
    // -82 dBm are 51.5 m, 4 dB above the noise 94.8 m. At 6 Mbit/s frames of 100 B get through as far as that.
    let slow = Radio { rate: "6 Mbit/s".to_owned(), ..Radio::default() };
    let heard = |radio: &Radio, metres: f64| {
        let mut bench = Bench::new(&config(Standard::A), radio, &[Vector::ZERO, place(metres)], 1);
        for frame in 0..100 {
            bench.run(at(f64::from(frame) * 1e4));
            bench.offer(at(f64::from(frame) * 1e4), 0, Addressee::All, 64);
        }
        bench.run(at(1e7));
        bench.count(|event| matches!(event, Event::Received { .. }))
    };
    assert_eq!((heard(&slow, 51.4), heard(&slow, 51.6)), (100, 0));
    let sensitive = Radio { detection: -101.0, ..slow };
    assert!(heard(&sensitive, 94.7) > 90);
    assert_eq!(heard(&sensitive, 95.0), 0);
}

/// Two stations that start to send before either detects the other. If their signals are equally strong, both frames
/// are lost; if one is much stronger, its frame arrives, even without capture.
#[test]
fn only_a_much_stronger_one_of_simultaneous_frames_arrives() {
    for (metres, arrive) in [(10.0, 0), (3.0, 1)] {
        let places = [Vector::ZERO, place(10.0), place(-metres)];
        let mut bench = Bench::new(&config(Standard::A), &Radio::default(), &places, 1);
        for from in [1, 2] {
            bench.offer(at(1000.0), from, Addressee::All, 1000);
        }
        bench.run(at(1e5));
        let received = bench.count(|event| matches!(event, Event::Received { at: 0, .. }));
        assert_eq!(received, arrive, "the other one at {metres} m");
    }
}

/// If attempts fail with probability p, their number is geometrically distributed: a fraction p of the frames that
/// failed once fail twice, and so on, and a fraction p^7 is dropped.
#[test]
fn tries_are_geometric() {
    let places = crate::bench::circle(10);
    let mut bench = Bench::new(&config(Standard::A), &Radio::default(), &places, 1);
    bench.medium.watch((1..=10).map(StationId));
    for from in 1..=10 {
        bench.saturate(at(0.0), Saturated { from, to: 0, size: 1500 }, 2);
    }
    let mut tries = std::collections::BTreeMap::new();
    for second in 1..=20 {
        bench.run(at(1e6 * f64::from(second)));
        while let Some(aired) = bench.medium.next_aired() {
            let is_data = aired.from == aired.at && aired.from != StationId(0) && aired.payload.is_some();
            if let Some(packet) = aired.payload.filter(|_| is_data) {
                *tries.entry(packet).or_insert(0usize) += 1;
            }
        }
    }
    // Frames with at least this number of attempts.
    let at_least = |min: usize| tries.values().filter(|count| **count >= min).count() as f64;
    let attempts: usize = tries.values().sum();
    let acknowledged = bench.acknowledged() as f64;
    let p = 1.0 - acknowledged / attempts as f64;
    assert!((p - 0.354).abs() < 0.015, "{p} of the attempts fail");
    for number in 1..=4 {
        let ratio = at_least(number + 1) / at_least(number);
        // Windows that have grown meet fewer frames.
        assert!((ratio - p).abs() < 0.08, "{number} tries: {ratio} continue, {p} of all attempts fail");
    }
    assert!(tries.values().all(|count| *count <= 7), "{:?}", tries.values().max());
    let dropped = bench.count(|event| matches!(event, Event::Dropped { .. })) as f64;
    let share = dropped / (dropped + acknowledged);
    let expected = libm::pow(p, 7.0);
    assert!(share > expected / 2.0 && share < expected * 2.0, "{share} are dropped, p^7 = {expected}");
}
