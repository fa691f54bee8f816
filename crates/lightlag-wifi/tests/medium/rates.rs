//! Rate control algorithms, compared with the best fixed rate.

use crate::bench::{Bench, Saturated, at, config, place};
use lightlag_core::params::Registered;
use lightlag_mobility::Vector;
use lightlag_net::StationId;
use lightlag_net::medium::Addressee;
use lightlag_wifi::Radio;
use lightlag_wifi::phy::Standard;
use lightlag_wifi::rate::RateControl;

/// Returns the number of packets of 1500 B that are delivered in 10 s over a distance in metres.
fn goodput(standard: Standard, radio: &Radio, metres: f64) -> f64 {
    let mut bench = Bench::new(&config(standard), radio, &[Vector::ZERO, place(metres)], 1);
    bench.saturate(at(0.0), Saturated { from: 1, to: 0, size: 1500 }, 100);
    bench.run(at(10e6));
    bench.acknowledged() as f64
}

fn fixed(standard: Standard, metres: f64) -> f64 {
    let rates = match standard {
        Standard::A => ["6", "9", "12", "18", "24", "36", "48", "54"].map(|rate| format!("{rate} Mbit/s")).to_vec(),
        _ => (0..8).map(|mcs| format!("mcs{mcs}")).collect(),
    };
    let of = |rate: String| goodput(standard, &Radio { rate, ..Radio::default() }, metres);
    rates.into_iter().map(of).fold(0.0, f64::max)
}

fn controlled(name: &str) -> Radio {
    Radio { rate_control: RateControl::named(name).unwrap(), ..Radio::default() }
}

fn beside_the_best(name: &str, standard: Standard, min: f64) {
    for metres in [5.0, 18.0, 25.0, 32.0, 40.0, 48.0] {
        let share = goodput(standard, &controlled(name), metres) / fixed(standard, metres);
        assert!(share >= min, "{name}, {standard}, {metres} m: {share} of the best fixed rate");
        assert!(share < 1.05, "{name}, {standard}, {metres} m: {share} of the best fixed rate");
    }
}

#[test]
fn minstrel_is_near_the_best_fixed_rate() {
    beside_the_best("minstrel-ht", Standard::N, 0.95);
    beside_the_best("minstrel-ht", Standard::A, 0.95);
}

#[test]
fn ideal_is_near_the_best_fixed_rate() {
    beside_the_best("ideal", Standard::A, 0.94);
    beside_the_best("ideal", Standard::N, 0.8);
}

#[test]
fn arf_keeps_trying() {
    beside_the_best("arf", Standard::A, 0.85);
}

#[test]
fn a_control_finds_a_rate_for_each_receiver() {
    for name in ["arf", "ideal", "minstrel-ht"] {
        let places = [Vector::ZERO, place(5.0), place(-48.0)];
        let mut bench = Bench::new(&config(Standard::N), &controlled(name), &places, 1);
        for packet in 0..300 {
            bench.run(at(f64::from(packet) * 3e3));
            for to in [1, 2] {
                bench.offer(at(f64::from(packet) * 3e3), 0, Addressee::One(StationId(to)), 1000);
            }
        }
        bench.run(at(2e6));
        // Each has its own: the far one fails at the rate of the near one.
        assert!(bench.acknowledged() > 570, "{name}: {} of 600", bench.acknowledged());
        let counters = bench.medium.station_counters(StationId(0), at(2e6));
        assert!(counters.unicast_airtime.as_secs_f64() < 0.9, "{name}: {counters:?}");
    }
}
