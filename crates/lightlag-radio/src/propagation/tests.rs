use super::*;
use lightlag_core::Instant;

const POWER: f64 = 16.0206;
const FREQUENCY: f64 = 5.18e9;

fn east(distance: f64) -> Vector {
    Vector::new(distance, 0.0, 0.0)
}

fn log_distance(distance: f64) -> f64 {
    Loss::default().decibels(Vector::ZERO, east(distance), FREQUENCY)
}

#[test]
fn log_distance_powers_are_those_of_ns_3() {
    for (distance, power) in [(10.0, -60.66), (50.0, -81.63), (100.0, -90.66), (150.0, -95.94), (200.0, -99.69)] {
        assert!((POWER - log_distance(distance) - power).abs() < 0.006, "{distance} m");
    }
    assert_eq!(log_distance(0.0), 46.6777);
    assert_eq!(log_distance(0.5), 46.6777);
}

#[test]
fn ranges_end_where_the_power_does() {
    let reach = |exponent, least| {
        let loss = Loss::LogDistance(LogDistance { exponent, ..LogDistance::default() });
        Channel::new(&Propagation { loss }, FREQUENCY, 1, "air").reach(POWER, least)
    };
    assert!((reach(3.0, -82.0) - 51.5).abs() < 0.05);
    assert!((reach(3.0, -101.0) - 221.0).abs() < 0.5);
    assert!((reach(2.5, -101.0) - 651.0).abs() < 0.5);
    // 4 dB above the noise of −93.97 dBm
    assert!((reach(3.0, -89.97) - 94.8).abs() < 0.1);
    assert_eq!(reach(3.0, 0.0), 0.0);
}

#[test]
fn free_space_is_the_formula_of_friis() {
    // 20·lg(4π·5.15e9/3e8) = 46.678 dB with c = 3e8; 0.006 dB more with the speed of light.
    let at = |distance| Loss::Friis(Friis {}).decibels(Vector::ZERO, east(distance), 5.15e9);
    assert!((at(1.0) - 46.6839).abs() < 1e-3, "{}", at(1.0));
    assert!((at(100.0) - at(1.0) - 40.0).abs() < 1e-8);
    assert_eq!(at(0.0), at(1.0));
}

#[test]
fn gains_are_the_losses_of_their_model() {
    for loss in [Loss::default(), Loss::Friis(Friis {})] {
        let channel = Channel::new(&Propagation { loss }, FREQUENCY, 1, "air");
        let here = Place { station: 0, at: Vector::ZERO };
        for distance in [0.0, 0.3, 1.0, 44.0, 1000.0] {
            let there = Place { station: 1, at: east(distance) };
            let gain = channel.gain(here, there, Instant::ZERO);
            let loss = loss.decibels(here.at, there.at, FREQUENCY);
            assert!((decibels::decibels(gain) + loss).abs() < 1e-7, "{distance} m");
            assert_eq!(gain, channel.gain(there, here, Instant::ZERO));
        }
    }
}

#[test]
fn signals_travel_at_the_speed_of_light() {
    assert_eq!(delay(299.792_458), Duration::from_micros(1));
    assert_eq!(delay(0.0), Duration::ZERO);
    // 44 m / c = 146.77 ns
    assert_eq!(delay(44.0), Duration::from_nanos(147));
}
