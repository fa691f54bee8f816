use super::*;
use lightlag_core::Instant;
use lightlag_net::StationId;

const POWER: f64 = 16.0206;
const FREQUENCY: f64 = 5.18e9;

fn east(distance: f64) -> Vector {
    Vector::new(distance, 0.0, 0.0)
}

fn channel(loss: PathLoss) -> Channel {
    Channel::new(&Propagation { loss, ..Propagation::default() }, FREQUENCY, 1, "air")
}

fn at(number: u32, position: Vector) -> StationPosition {
    StationPosition { station: StationId(number), at: position }
}

/// Returns all path loss models, each with every option for the line of sight.
fn losses() -> Vec<PathLoss> {
    let of_areas = [Area::Rural, Area::UrbanMacro, Area::UrbanMicro]
        .map(|area| PathLoss::Tr36777(Tr36777 { area, line_of_sight: LineOfSight::Drawn, shadowing: false }));
    let of_environments = Environment::ALL
        .map(|environment| PathLoss::AirToGround(AirToGround { environment, line_of_sight: LineOfSight::Mean }));
    let simple = [PathLoss::default(), PathLoss::Friis(Friis {}), PathLoss::TwoRay(TwoRay::default())];
    simple.into_iter().chain(of_areas).chain(of_environments).collect()
}

fn log_distance(distance: f64) -> f64 {
    PathLoss::default().decibels(Vector::ZERO, east(distance), FREQUENCY)
}

#[test]
fn log_distance_powers_match_ns_3() {
    for (distance, power) in [(10.0, -60.66), (50.0, -81.63), (100.0, -90.66), (150.0, -95.94), (200.0, -99.69)] {
        assert!((POWER - log_distance(distance) - power).abs() < 0.006, "{distance} m");
    }
    assert_eq!(log_distance(0.0), 46.6777);
    assert_eq!(log_distance(0.5), 46.6777);
}

#[test]
fn ranges_end_where_the_power_does() {
    let reach = |exponent, threshold| {
        let loss = PathLoss::LogDistance(LogDistance { exponent, ..LogDistance::default() });
        channel(loss).reach(POWER, threshold)
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
    let loss_at = |distance| PathLoss::Friis(Friis {}).decibels(Vector::ZERO, east(distance), 5.15e9);
    assert!((loss_at(1.0) - 46.6839).abs() < 1e-3, "{}", loss_at(1.0));
    assert!((loss_at(100.0) - loss_at(1.0) - 40.0).abs() < 1e-8);
    assert_eq!(loss_at(0.0), loss_at(1.0));
}

#[test]
fn gains_are_the_losses_of_their_model() {
    for loss in [PathLoss::default(), PathLoss::Friis(Friis {})] {
        let channel = channel(loss);
        let here = StationPosition { station: StationId(0), at: Vector::ZERO };
        for distance in [0.0, 0.3, 1.0, 44.0, 1000.0] {
            let there = StationPosition { station: StationId(1), at: east(distance) };
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

#[test]
fn two_rays_are_free_space_up_to_their_crossover() {
    let loss = |height: f64, distance: f64| {
        let model = PathLoss::TwoRay(TwoRay { antenna_height: height });
        model.decibels(Vector::ZERO, east(distance), FREQUENCY)
    };
    let free = |distance| PathLoss::Friis(Friis {}).decibels(Vector::ZERO, east(distance), FREQUENCY);
    // 4π·1.5²·5.18e9/c = 488.5 m
    assert!((loss(1.5, 480.0) - free(480.0)).abs() < 1e-9);
    // 40·lg 1000 − 20·lg 2.25 = 112.9563
    assert!((loss(1.5, 1000.0) - 112.9563).abs() < 1e-4);
    // With antennas 50 m up the crossover is at 543 km.
    assert!((loss(50.0, 540e3) - free(540e3)).abs() < 1e-9);
    assert!(loss(50.0, 546e3) > free(546e3) + 0.01);
}

#[test]
fn no_frame_is_received_beyond_the_range() {
    let mut draws = Draws::new(3, "places").at(0, 0);
    for loss in losses() {
        for budget in [70.0, 90.0, 110.0, 130.0] {
            let reach = loss.reach(budget, FREQUENCY);
            for _ in 0..300 {
                let [x, y, z] = [(); 3].map(|()| draws.uniform() - 0.5);
                let direction = Vector::new(x, y, z);
                let far = direction * (reach * (1.0 + 3.0 * draws.uniform()) / direction.length());
                let from = Vector::new(0.0, 0.0, 300.0 * draws.uniform());
                let min_loss = match loss.sight(from, from + far, FREQUENCY) {
                    Some(of) if of.probability == 1.0 => of.clear,
                    Some(of) => of.clear.min(of.blocked),
                    None => loss.decibels(from, from + far, FREQUENCY),
                };
                assert!(min_loss > budget - 1e-6, "{loss:?}: {min_loss} dB at {reach} m for {budget} dB");
            }
        }
    }
}

#[test]
fn every_model_is_the_same_for_one_receiver_and_for_many() {
    let (x, y, z) = ([0.0, 10.0, 200.0, 3000.0], [0.0, 5.0, 100.0, 0.0], [1.5, 30.0, 120.0, 1.5]);
    let to = StationPositions { x: &x, y: &y, z: &z, stations: None };
    for loss in losses() {
        let shadowing = Shadowing { deviation: 4.0, ..Shadowing::default() };
        let channel = Channel::new(&Propagation { loss, shadowing, ..Propagation::default() }, FREQUENCY, 1, "air");
        let (from, now) = (at(2, Vector::new(200.0, 100.0, 120.0)), Instant::ZERO);
        let (mut squares, mut powers) = ([0.0; 4], [0.0; 4]);
        to.squares(from.at, &mut squares);
        channel.powers(from, 40.0, (to, &squares), now, &mut powers);
        for (index, power) in powers.into_iter().enumerate() {
            let gain = channel.gain(from, at(index as u32, Vector::new(x[index], y[index], z[index])), now);
            assert!((power / (40.0 * gain) - 1.0).abs() < 1e-12, "{loss:?}");
            let back = channel.gain(at(index as u32, Vector::new(x[index], y[index], z[index])), from, now);
            assert_eq!(gain, back, "{loss:?}");
        }
    }
}

#[test]
fn shadowing_is_normal_and_holds_for_an_epoch() {
    let shadowing = Shadowing { deviation: 6.0, epoch: Duration::from_millis(100) };
    let channel = Channel::new(&Propagation { shadowing, ..Propagation::default() }, FREQUENCY, 1, "air");
    let loss = |pair: u32, millis: u64| {
        let now = Instant::from_nanos(1_000_000 * millis);
        -decibels::decibels(channel.gain(at(pair, Vector::ZERO), at(pair + 1, east(100.0)), now)) - log_distance(100.0)
    };
    assert_eq!(loss(1, 0), loss(1, 99));
    assert_ne!(loss(1, 99), loss(1, 100));
    assert_ne!(loss(1, 0), loss(2, 0));
    let values: Vec<f64> = (0..50_000).map(|epoch| loss(1, 100 * epoch)).collect();
    let mean = values.iter().sum::<f64>() / 50_000.0;
    let variance = values.iter().map(|of| (of - mean) * (of - mean)).sum::<f64>() / 50_000.0;
    // Five standard errors: 5·6/√50000 = 0.13 and 5·36·√(2/50000) = 1.14.
    assert!(mean.abs() < 0.13 && (variance - 36.0).abs() < 1.14, "{mean} {variance}");
}

#[test]
fn a_drawn_line_of_sight_has_its_probability() {
    let drawn = AirToGround { environment: Environment::Urban, line_of_sight: LineOfSight::Drawn };
    let channel = channel(PathLoss::AirToGround(drawn));
    let up = Vector::new(100.0, 0.0, 100.0 * libm::tan(20f64.to_radians()));
    let clear = (0..40_000u64)
        .filter(|second| {
            let now = Instant::from_nanos(second * 1_000_000_000);
            let loss = -decibels::decibels(channel.gain(at(0, Vector::ZERO), at(1, up), now));
            let free = PathLoss::Friis(Friis {}).decibels(Vector::ZERO, up, FREQUENCY);
            let excess = loss - free;
            assert!((excess - 1.0).abs() < 1e-6 || (excess - 20.0).abs() < 1e-6, "{excess}");
            excess < 10.0
        })
        .count();
    // 0.354 at 20°; five standard errors are 0.012.
    assert!((clear as f64 / 40_000.0 - 0.354).abs() < 0.0125, "{clear}");
}

#[test]
fn a_frame_and_its_response_fade_together() {
    let fading = Fading::Rician(Rician { k: 6.0 });
    let channel = Channel::new(&Propagation { fading, ..Propagation::default() }, FREQUENCY, 1, "air");
    let (a, b, c) = (at(1, Vector::ZERO), at(2, east(50.0)), at(3, east(50.0)));
    assert_eq!(channel.fade(a, b, 7), channel.fade(b, a, 7));
    assert_ne!(channel.fade(a, b, 7), channel.fade(a, b, 8));
    assert_ne!(channel.fade(a, b, 7), channel.fade(a, c, 7));
    assert!(channel.fades() && channel.reach(POWER, -101.0) > 221.0);
}

#[test]
fn settings_of_every_model_are_in_the_registry() {
    use lightlag_core::params::Registered;
    assert_eq!(PathLoss::NAMES, ["log-distance", "friis", "two-ray", "air-to-ground", "tr36777"]);
    for name in PathLoss::NAMES {
        let loss = PathLoss::named(name).unwrap();
        assert_eq!(loss.name(), *name);
        let settings = loss.parameters();
        assert!((0..settings.len()).all(|index| loss.get(index) == settings[index].default));
        assert!(!loss.about().is_empty());
    }
    assert_eq!(Fading::NAMES, ["none", "rician", "nakagami"]);
    let mut fading = Fading::named("nakagami").unwrap();
    fading.set(4, lightlag_core::params::Value::Number(10.0));
    assert_eq!(fading.check(4), Some("must not be below distance1"));
}

#[test]
fn distances_alone_give_the_same_powers_or_none() {
    let (x, y, z) = ([0.0, 10.0, 200.0, 3000.0], [0.0, 5.0, 100.0, 0.0], [1.5, 30.0, 120.0, 1.5]);
    let to = StationPositions { x: &x, y: &y, z: &z, stations: None };
    let from = at(2, Vector::new(200.0, 100.0, 120.0));
    let mut squares = [0.0; 4];
    to.squares(from.at, &mut squares);
    for (loss, deviation) in losses().into_iter().flat_map(|loss| [(loss, 0.0), (loss, 4.0)]) {
        let shadowing = Shadowing { deviation, ..Shadowing::default() };
        let channel = Channel::new(&Propagation { loss, shadowing, ..Propagation::default() }, FREQUENCY, 1, "air");
        let (mut powers, mut by_distance) = ([0.0; 4], [0.0; 4]);
        channel.powers(from, 40.0, (to, &squares), Instant::ZERO, &mut powers);
        let decides = channel.powers_by_distance(40.0, &squares, &mut by_distance);
        assert_eq!(
            decides,
            deviation == 0.0 && matches!(loss, PathLoss::LogDistance(_) | PathLoss::Friis(_)),
            "{loss:?}"
        );
        assert_eq!(by_distance, if decides { powers } else { [0.0; 4] }, "{loss:?}");
    }
}
