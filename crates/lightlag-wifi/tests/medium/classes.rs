//! EDCA access classes, compared with the sums of their times.

use crate::bench::{Bench, Event, Saturated, at, circle, config};
use lightlag_net::StationId;
use lightlag_net::medium::Addressee;
use lightlag_wifi::class::Parameters;
use lightlag_wifi::phy::Standard;
use lightlag_wifi::{Class, Edca, Radio};

fn radio(rate: &str) -> Radio {
    Radio { rate: rate.to_owned(), aggregation: 0.0, ..Radio::default() }
}

/// Runs one station per class, each of which always has packets of 1500 B to send at 24 Mbit/s.
fn saturated(standard: Standard, classes: &[Class], seconds: f64) -> Bench {
    let mut bench = Bench::new(&config(standard), &radio("24 Mbit/s"), &circle(classes.len() as u32), 1);
    for (from, class) in (1..).zip(classes) {
        bench.class[from as usize] = *class;
        bench.saturate(at(0.0), Saturated { from, to: 0, size: 1500 }, 20);
    }
    bench.run(at(seconds * 1e6));
    bench
}

fn of(bench: &Bench, station: u32) -> f64 {
    bench.count(|event| matches!(event, Event::Acknowledged { packet } if packet.0 == station)) as f64
}

#[test]
fn one_station_takes_the_sum_of_the_times_of_its_class() {
    // Data 536, SIFS 16, ACK 28, and SIFS before the next of a burst: 3 exchanges in 2080 µs, 6 in 4096 µs.
    let exchange = |packets: f64| packets * 580.0 + (packets - 1.0) * 16.0;
    for (class, space, backoff, packets) in [
        (Class::Background, 79.0, 67.5, 1.0),
        (Class::BestEffort, 43.0, 67.5, 1.0),
        (Class::Video, 34.0, 31.5, 6.0),
        (Class::Voice, 34.0, 13.5, 3.0),
    ] {
        let acknowledged = of(&saturated(Standard::N, &[class], 10.0), 1);
        let expected = 10e6 * packets / (space + backoff + exchange(packets));
        assert!((acknowledged / expected - 1.0).abs() < 0.003, "{class:?}: {acknowledged} beside {expected}");
    }
}

#[test]
fn a_station_takes_the_sum_of_the_times_that_it_is_given() {
    // One exchange of 580 µs in a TXOP that holds no two, or not even one; two in 1.2 ms, with SIFS between them.
    for (aifsn, cw, txop, packets) in [(2, 1, 0, 1.0), (9, 31, 32, 1.0), (4, 63, 1200, 2.0), (15, 1, 1100, 1.0)] {
        let txop = lightlag_core::Duration::from_micros(txop);
        let parameters = Parameters { aifsn, cw_min: cw, cw_max: cw, txop };
        let radio = Radio { edca: Edca::default().with(Class::Video, parameters), ..radio("24 Mbit/s") };
        let mut bench = Bench::new(&config(Standard::N), &radio, &circle(1), 1);
        bench.class[1] = Class::Video;
        bench.saturate(at(0.0), Saturated { from: 1, to: 0, size: 1500 }, 20);
        bench.run(at(10e6));
        let cycle = 16.0 + 9.0 * f64::from(aifsn) + 4.5 * f64::from(cw) + packets * 580.0 + (packets - 1.0) * 16.0;
        let (acknowledged, expected) = (of(&bench, 1), 10e6 * packets / cycle);
        assert!((acknowledged / expected - 1.0).abs() < 0.003, "{parameters:?}: {acknowledged} beside {expected}");
    }
}

#[test]
fn without_edca_classes_are_alike() {
    let bench = saturated(Standard::A, &[Class::Background, Class::Voice], 5.0);
    assert!((of(&bench, 1) / of(&bench, 2) - 1.0).abs() < 0.1);
}

#[test]
fn higher_classes_take_more_of_the_medium() {
    let bench = saturated(Standard::N, &[Class::Background, Class::BestEffort, Class::Video], 10.0);
    let [background, best_effort, video] = [1, 2, 3].map(|at| of(&bench, at));
    assert!(background * 1.5 < best_effort, "{background} beside {best_effort}");
    assert!(best_effort * 5.0 < video, "{best_effort} beside {video}");
}

#[test]
fn a_station_sends_its_voice_first() {
    let mut bench = Bench::new(&config(Standard::N), &radio("24 Mbit/s"), &circle(1), 1);
    for class in [Class::Background, Class::BestEffort, Class::Video, Class::Voice] {
        bench.class[1] = class;
        bench.offer(at(0.0), 1, Addressee::One(StationId(0)), 1000);
    }
    bench.run(at(1e5));
    let received: Vec<u64> = bench
        .events
        .iter()
        .filter_map(|(_, event)| match event {
            Event::Received { packet, .. } => Some(packet.1),
            _ => None,
        })
        .collect();
    assert_eq!(received, [4, 3, 2, 1]);
    // Losers of the collisions inside the station send nothing.
    assert_eq!(bench.attempts(), 4);
}
