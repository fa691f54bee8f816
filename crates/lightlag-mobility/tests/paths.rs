//! Property tests of the paths of all models.

use lightlag_core::{Duration, Instant};
use lightlag_mobility::models::paparazzi::Weights;
use lightlag_mobility::models::{
    GaussMarkov, Group, Leader, Paparazzi, RandomWaypoint, SmoothTurn, Static, Trace, Waypoints,
};
use lightlag_mobility::{Area, Fix, Mobility, Motion, Track, Vector};
use proptest::prelude::*;
use proptest::sample::select;

fn area() -> impl Strategy<Value = Area> {
    let side = || 1.0..1000.0;
    (side(), side(), select(vec![0.0, 1.0, 100.0]), -500.0..500.0).prop_map(|(x, y, z, corner)| {
        let least = Vector::new(corner, -corner, 10.0);
        Area::new(least, least + Vector::new(x, y, z)).unwrap()
    })
}

fn speeds() -> impl Strategy<Value = (f64, f64)> {
    (0.1..30.0, 1.0..3.0).prop_map(|(least, factor)| (least, least * factor))
}

fn times() -> impl Strategy<Value = (Duration, Duration)> {
    (0u64..5_000, 0u64..5_000)
        .prop_map(|(least, more)| (Duration::from_millis(least + 1), Duration::from_millis(least + more + 1)))
}

fn gauss_markov() -> impl Strategy<Value = Mobility> {
    let alpha = select(vec![0.0, 0.5, 0.85, 1.0]);
    let variances = (0.0..4.0, 0.0..2.0, 0.0..1.0);
    (alpha, speeds(), 1u64..2_000, variances).prop_map(|(alpha, (speed_min, speed_max), step, variances)| {
        let (speed_variance, direction_variance, pitch_variance) = variances;
        let time_step = Duration::from_millis(step);
        Mobility::GaussMarkov(GaussMarkov {
            alpha,
            time_step,
            speed_min,
            speed_max,
            speed_variance,
            direction_variance,
            pitch_variance,
            ..GaussMarkov::default()
        })
    })
}

fn random_waypoint() -> impl Strategy<Value = Mobility> {
    (speeds(), times(), any::<bool>(), any::<bool>()).prop_map(|(speeds, pauses, level, steady)| {
        let ((speed_min, speed_max), (pause_min, pause_max)) = (speeds, pauses);
        Mobility::RandomWaypoint(RandomWaypoint { speed_min, speed_max, pause_min, pause_max, level, steady })
    })
}

fn smooth_turn() -> impl Strategy<Value = Mobility> {
    (speeds(), 1u64..20_000, select(vec![0.0, 1e-9, 0.001, 0.01, 0.3])).prop_map(|(speeds, turn, curvature)| {
        let ((speed_min, speed_max), turn_time) = (speeds, Duration::from_millis(turn));
        Mobility::SmoothTurn(SmoothTurn { speed_min, speed_max, turn_time, curvature })
    })
}

fn paparazzi() -> impl Strategy<Value = Mobility> {
    let weight = || 0.0..1.0;
    let weights = (weight(), weight(), weight(), weight(), 0.01..1.0);
    (speeds(), times(), 0.5..200.0, 0.0..50.0, weights).prop_map(|(speeds, stays, radius, more, weights)| {
        let ((speed_min, speed_max), (stay_min, stay_max)) = (speeds, stays);
        let (stay_at, oval, scan, eight, waypoint) = weights;
        Mobility::Paparazzi(Paparazzi {
            speed_min,
            speed_max,
            radius_min: radius,
            radius_max: radius + more,
            stay_min,
            stay_max,
            weights: Weights { stay_at, oval, scan, eight, waypoint },
        })
    })
}

fn alone() -> impl Strategy<Value = Mobility> {
    prop_oneof![Just(Mobility::Static(Static)), gauss_markov(), random_waypoint(), smooth_turn(), paparazzi()]
}

fn any_model() -> impl Strategy<Value = Mobility> {
    let group = (alone(), area(), 0.1..300.0, 0.0..10.0).prop_map(|(mobility, area, radius, speed)| {
        let led = Some(Box::new(Leader { mobility, place: None, area }));
        Mobility::Group(Group { leader: "leader".to_owned(), radius, speed, led })
    });
    prop_oneof![3 => alone(), 1 => group]
}

/// Tolerance in metres for positions, because times are rounded to nanoseconds.
const ROUNDING: f64 = 1e-5;

fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn paths_are_continuous_within_the_area_and_the_speed(mobility in any_model(), area in area(), seed: u64) {
        let mut motion = Motion::new(&mobility, &area, None, seed, "a");
        let fastest = motion.max_speed() * (1.0 + 1e-9) + 1e-9;
        let mut from = Instant::ZERO;
        for _ in 0..300 {
            let piece = *motion.piece(from);
            prop_assert!(piece.from == from && piece.until > from, "{piece:?}");
            if piece.until == Instant::MAX {
                break;
            }
            let long = piece.until.since(from).as_nanos();
            for share in 0..=4 {
                let time = from + Duration::from_nanos(long / 4 * share);
                let (position, speed) = (piece.position(time), piece.velocity(time).length());
                prop_assert!(position.is_finite() && area.clamp(position).distance(position) < ROUNDING, "{position:?} {area:?}");
                prop_assert!(speed <= fastest, "{speed} above {fastest}: {piece:?}");
                if let Some((start, velocity)) = piece.line() {
                    let seconds = time.since(piece.from).as_secs_f64();
                    prop_assert!(position.distance(start + velocity * seconds) < ROUNDING);
                }
            }
            let next = *motion.piece(piece.until);
            let jump = next.position(piece.until).distance(piece.position(piece.until));
            prop_assert!(jump < ROUNDING, "{jump} m from {piece:?} to {next:?}");
            from = piece.until;
        }
    }

    #[test]
    fn the_path_does_not_depend_on_the_times_of_calls(
        mobility in any_model(), area in area(), seed: u64, mut times in prop::collection::vec(0u64..60_000_000_000, 1..40),
    ) {
        times.sort_unstable();
        let mut often = Motion::new(&mobility, &area, None, seed, "a");
        let mut rarely = often.clone();
        let mut same = Motion::new(&mobility, &area, None, seed, "a");
        for (index, time) in times.into_iter().map(at).enumerate() {
            let position = often.position(time);
            prop_assert_eq!(same.position(time), position);
            if index % 5 == 4 {
                prop_assert_eq!(rarely.position(time), position);
                prop_assert_eq!(rarely.velocity(time), often.velocity(time));
            }
        }
    }

    #[test]
    fn members_stay_near_their_leader(mobility in alone(), area in area(), seed: u64, radius in 0.1..300.0, speed in 0.0..10.0) {
        let mut leader = Motion::new(&mobility, &area, None, seed, "leader");
        let led = Some(Box::new(Leader { mobility, place: None, area }));
        let group = Mobility::Group(Group { leader: "leader".to_owned(), radius, speed, led });
        let mut member = Motion::new(&group, &area, None, seed, "member");
        for tenth in 0..200 {
            let time = at(tenth * 100_000_000);
            let distance = member.position(time).distance(leader.position(time));
            prop_assert!(distance < radius + ROUNDING, "{distance} m of {radius} m at {time}");
        }
    }

    #[test]
    fn tracks_pass_through_their_positions(
        legs in prop::collection::vec((1u64..20_000_000_000, 0.0..400.0, 0.0..400.0, 0.0..100.0), 1..20),
    ) {
        let mut time = 0;
        let fixes: Vec<Fix> = legs.iter().map(|(later, x, y, z)| {
            time += later;
            Fix { at: at(time), place: Vector::new(*x, *y, *z) }
        }).collect();
        let area = Area::new(Vector::ZERO, Vector::new(400.0, 400.0, 100.0)).unwrap();
        let track = Track::new(fixes.clone()).unwrap();
        let trace = Mobility::Trace(Trace { track: Some(track), ..Trace::default() });
        let rows = fixes.iter().map(|fix| vec![fix.at.as_secs_f64(), fix.place.x, fix.place.y, fix.place.z]).collect();
        let waypoints = Mobility::Waypoints(Waypoints { times: rows, ..Waypoints::default() });
        for mobility in [trace, waypoints] {
            let mut motion = Motion::new(&mobility, &area, None, 1, "a");
            for fix in &fixes {
                prop_assert!(motion.position(fix.at).distance(fix.place) < 1e-9);
                prop_assert!(motion.velocity(fix.at).length() <= motion.max_speed() * (1.0 + 1e-9));
            }
            let last = fixes[fixes.len() - 1];
            prop_assert_eq!(motion.position(Instant::MAX), last.place);
        }
    }
}

#[test]
fn names_and_seeds_give_paths_of_their_own() {
    let area = Area::new(Vector::ZERO, Vector::new(400.0, 400.0, 100.0)).unwrap();
    let mobility = Mobility::GaussMarkov(GaussMarkov::calm(20.0, 20.0));
    let position_of = |seed, name| Motion::new(&mobility, &area, None, seed, name).position(at(10_000_000_000));
    assert_ne!(position_of(1, "a"), position_of(2, "a"));
    assert_ne!(position_of(1, "a"), position_of(1, "b"));
}
