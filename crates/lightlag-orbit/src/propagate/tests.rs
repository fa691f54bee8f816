use super::*;
use sgp4::{Constants, MinutesSinceEpoch};

/// Returns the SGP4 constants of a satellite without drag, with the constants of the official verification.
fn official(elements: &Elements) -> Constants {
    let orbit = sgp4::Orbit::from_kozai_elements(
        &sgp4::WGS72,
        elements.inclination,
        elements.node,
        elements.eccentricity,
        elements.perigee,
        elements.anomaly,
        elements.motion * 60.0,
    );
    Constants::new(sgp4::WGS72, sgp4::afspc_epoch_to_sidereal_time, 26.0, 0.0, orbit.unwrap()).unwrap()
}

#[test]
fn the_closed_form_is_sgp4_without_drag() {
    for (height, inclination, eccentricity) in
        [(550e3, 53.0, 0.0), (630e3, 51.9, 1e-7), (780e3, 86.4, 0.002), (1_015e3, 98.98, 0.01), (1_200e3, 0.5, 0.0)]
    {
        let elements = Elements {
            motion: mean_motion(height),
            eccentricity,
            inclination: f64::to_radians(inclination),
            node: 1.1,
            perigee: 0.4,
            anomaly: 2.7,
        };
        let (closed, sgp4) = (ClosedForm::new(&elements), official(&elements));
        for minutes in [0.0, 1.0, 95.0, 333.3, 1440.0] {
            let [x, y, z] = sgp4.propagate_afspc_compatibility_mode(MinutesSinceEpoch(minutes)).unwrap().position;
            let apart = closed.position(minutes * 60.0, 0.0).distance(Vector::new(x, y, z) * 1e3);
            assert!(apart < 1e-5, "{height} m, {inclination}°, after {minutes} min: {apart} m");
        }
    }
}

#[test]
fn the_frame_may_turn() {
    let elements = Elements {
        motion: mean_motion(550e3),
        eccentricity: 0.0,
        inclination: 0.9,
        node: 0.3,
        perigee: 0.0,
        anomaly: 1.0,
    };
    let (sin, cos) = libm::sincos(0.7);
    for orbit in [Propagator::Closed(ClosedForm::new(&elements)), Propagator::Circular(Circular::new(&elements))] {
        let Vector { x, y, z } = orbit.position(1_000.0).unwrap();
        let turned = Vector::new(x * cos + y * sin, y * cos - x * sin, z);
        assert!(turned.distance(orbit.position_turned(1_000.0, 0.7).unwrap()) < 1e-6);
    }
}

#[test]
fn planes_drift_by_j2() {
    // Degrees per day: a = 550 km at 53°, 780 km at 86.4°, 1015 km at 98.98°.
    for (height, inclination, drift) in [(550e3, 53.0, -4.489), (780e3, 86.4, -0.418), (1_015e3, 98.98, 0.928)] {
        let elements = Elements {
            motion: mean_motion(height),
            eccentricity: 0.0,
            inclination: f64::to_radians(inclination),
            node: 0.0,
            perigee: 0.0,
            anomaly: 0.0,
        };
        let circular = (Circular::new(&elements).node[1] * 86_400.0).to_degrees();
        assert!((circular - drift).abs() < 2e-3, "{height} m: {circular}");
    }
}

#[test]
fn the_closed_form_stays_near_the_circle_for_an_orbit() {
    // SGP4 takes the mean motion of elements as one that holds J2 already, so the two part by 40 km a day along the
    // orbit.
    let motion = mean_motion(550e3);
    let elements = Elements { motion, eccentricity: 0.0, inclination: 0.925, node: 0.3, perigee: 0.0, anomaly: 1.0 };
    let (closed, circle) = (ClosedForm::new(&elements), Circular::new(&elements));
    let apart = |minutes: i32| {
        let seconds = f64::from(minutes) * 60.0;
        closed.position(seconds, 0.0).distance(circle.position(seconds, 0.0))
    };
    let (mean, most) = (0..96).map(apart).fold((0.0, 0.0_f64), |(sum, most), d| (sum + d / 96.0, most.max(d)));
    assert!(mean < 12e3 && most < 20e3, "mean {mean} m, most {most} m");
}

#[test]
fn the_apogee_matches_the_ellipse() {
    // A low orbit, a geostationary one, and one of twelve hours like Molniya's; near the perigee and elsewhere.
    for (height, eccentricity, tolerance) in [(550e3, 0.001, 0.003), (35_786e3, 0.0, 0.002), (20_200e3, 0.74, 0.005)] {
        for anomaly in [0.0, 0.3, 2.0] {
            let motion = mean_motion(height);
            let elements = Elements { motion, eccentricity, inclination: 1.1, node: 1.1, perigee: 4.7, anomaly };
            let orbit = Propagator::Sgp4(Box::new(official(&elements)), 0.0);
            let (found, expected) = (orbit.apogee().unwrap(), semi_major_axis(motion) * 1e3 * (1.0 + eccentricity));
            assert!((found / expected - 1.0).abs() < tolerance, "{height} m, {anomaly}: {found} m, not {expected} m");
        }
    }
}
