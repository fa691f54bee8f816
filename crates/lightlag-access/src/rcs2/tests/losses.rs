//! Bursts that the path loses, and the bursts that wait for them.

use super::*;
use lightlag_core::Probability;

#[test]
fn a_packet_is_lost_with_any_of_its_bursts() {
    let constant = Some(Rate::from_mbps(2));
    let burst_loss = Probability::new(0.05).unwrap();
    let terminal = Terminal { constant, burst_loss, ..Terminal::default() };
    let mut bench = Bench::new(&aloha(), &[terminal]);
    // 184 B of a burst carry packets: 50 B take one, and 500 B take three.
    for number in 0..8000 {
        bench.offer(at(100.0 * f64::from(number)), 1, 0, if number % 2 == 0 { 50 } else { 500 });
    }
    let end = at(900_000.0);
    bench.run(end);
    bench.check(end);
    let counters = bench.beam.station_counters(StationId(1), end);
    assert_eq!(counters.bursts, 4 * 4000);
    for (first, bursts) in [(0, 1), (1, 3)] {
        let lost = bench.dropped.keys().filter(|packet| *packet % 2 == first).count() as f64 / 4000.0;
        let expected = 1.0 - libm::pow(0.95, f64::from(bursts));
        let deviation = (expected * (1.0 - expected) / 4000.0).sqrt();
        assert!((lost - expected).abs() < 4.0 * deviation, "{lost} instead of {expected} with {bursts} bursts");
    }
    assert!(bench.dropped.values().all(|cause| *cause == DropCause::Error));
}

#[test]
fn packets_after_a_lost_burst_arrive_together() {
    let constant = Some(Rate::from_mbps(2));
    let burst_loss = Probability::new(0.05).unwrap();
    let terminal = Terminal { constant, burst_loss, ..Terminal::default() };
    let [plain, kept] = [0, 2].map(|resequencing| {
        let config = Rcs2Config { resequencing, ..aloha() };
        let mut bench = Bench::new(&config, std::slice::from_ref(&terminal));
        for number in 0..1000 {
            bench.offer(at(100.0 * f64::from(number)), 1, 0, 50);
            bench.check(at(100.0 * f64::from(number)));
        }
        bench.run(at(200_000.0));
        bench.check(at(200_000.0));
        bench
    });
    assert_eq!(plain.dropped, kept.dropped);
    // The first two packets after a lost one wait for the third.
    let mut late = 0;
    let mut waiting = Vec::new();
    for number in 0..1000 {
        let Some(usual) = plain.received.get(&number).map(|received| received.0) else {
            waiting.push(number);
            continue;
        };
        if waiting.is_empty() {
            assert_eq!(kept.received[&number].0, usual);
            continue;
        }
        waiting.push(number);
        let arrived = |number: &u32| plain.received.contains_key(number);
        if waiting.iter().filter(|number| arrived(number)).count() > 2 {
            let first = waiting.iter().position(arrived).unwrap();
            let length = waiting[first..].iter().take_while(|number| arrived(number)).count();
            for passed in waiting.drain(..first + length).skip(first) {
                assert_eq!(kept.received[&passed].0, usual, "{passed}");
                late += 1;
            }
        }
    }
    assert!(late > 100, "{late}");
}
