//! Orbits as functions of time.
//!
//! - [`ClosedForm`]: SGP4 without drag and for periods below 225 minutes, for generated shells. Without drag all terms
//!   in powers of time vanish; what remains is a dozen constants per satellite and one Kepler equation (Hoots and
//!   Roehrich, *Spacetrack Report No. 3*, 1980, with the constants of WGS 72). An orbit with zero eccentricity is not
//!   exactly a circle: the Earth's third harmonic changes its height by up to 6 km.
//! - [`Circular`]: a circle whose plane and phase drift with J2 (Vallado, *Fundamentals of Astrodynamics*, §9.6).
//! - The `sgp4` crate is used for elements from files, with the constants of the official verification.
//!
//! Positions are in metres, in the frame of the true equator and mean equinox.

use lightlag_mobility::Vector;
use std::f64::consts::TAU;

/// WGS 72 constants as in SGP4: the equatorial radius in km, the gravitational parameter in km³/s², and the harmonics.
const RADIUS: f64 = 6_378.135;
const GRAVITY: f64 = 398_600.8;
const J2: f64 = 0.001_082_616;
const J3: f64 = -0.000_002_538_81;
const J4: f64 = -0.000_001_655_97;

/// Minimum eccentricity in SGP4.
const LEAST_ECCENTRICITY: f64 = 1e-6;

/// Returns the mean motion at a height in metres above the equator, in radians per second.
pub fn mean_motion(height: f64) -> f64 {
    let a = RADIUS + height / 1e3;
    libm::sqrt(GRAVITY / (a * a * a))
}

/// Returns the semi-major axis of an orbit with this mean motion, in km.
pub fn semi_major_axis(motion: f64) -> f64 {
    libm::cbrt(GRAVITY / (motion * motion))
}

/// Returns the height of an orbit with this mean motion above the equator, in metres.
pub fn height(motion: f64) -> f64 {
    (semi_major_axis(motion) - RADIUS) * 1e3
}

/// Mean orbital elements at the start of the run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Elements {
    /// Mean motion as defined by Kozai, in radians per second.
    pub motion: f64,
    /// Eccentricity.
    pub eccentricity: f64,
    /// Inclination in radians.
    pub inclination: f64,
    /// Right ascension of the ascending node, in radians.
    pub node: f64,
    /// Argument of perigee, in radians.
    pub perigee: f64,
    /// Mean anomaly, in radians.
    pub anomaly: f64,
}

/// The orbit of a satellite.
#[derive(Clone, Debug)]
pub enum Propagator {
    /// SGP4 without drag.
    Closed(ClosedForm),
    /// A circle that precesses due to J2.
    Circular(Circular),
    /// SGP4 or SDP4. The number is the time from the epoch of the elements to the start of the run, in seconds.
    Sgp4(Box<sgp4::Constants>, f64),
}

impl Propagator {
    /// Returns the satellite's position at a time in seconds after the start; `None` if it has decayed.
    pub fn position(&self, seconds: f64) -> Option<Vector> {
        match self {
            Self::Closed(orbit) => Some(orbit.position(seconds, 0.0)),
            Self::Circular(orbit) => Some(orbit.position(seconds, 0.0)),
            Self::Sgp4(constants, epoch) => propagated(constants, epoch + seconds),
        }
    }

    /// Returns the maximum distance from the centre of the Earth in metres, on the two-body orbit at the start; `None`
    /// if the satellite has decayed.
    pub fn apogee(&self) -> Option<f64> {
        let (first, second) = (self.position(0.0)?, self.position(1.0)?);
        let (position, velocity) = ((first + second) * 0.5, second - first);
        let gravity = GRAVITY * 1e9;
        let distance = libm::sqrt(position.square());
        let axis = 1.0 / (2.0 / distance - velocity.square() / gravity);
        let along = position.dot(velocity);
        let momentum = position.square() * velocity.square() - along * along;
        let eccentricity = libm::sqrt((1.0 - momentum / (gravity * axis)).max(0.0));
        Some(axis * (1.0 + eccentricity))
    }

    /// Returns the satellite's position in a frame that is rotated by `turned` radians about the Earth's axis.
    pub fn position_turned(&self, seconds: f64, turned: f64) -> Option<Vector> {
        match self {
            Self::Closed(orbit) => Some(orbit.position(seconds, turned)),
            Self::Circular(orbit) => Some(orbit.position(seconds, turned)),
            Self::Sgp4(constants, epoch) => {
                let Vector { x, y, z } = propagated(constants, epoch + seconds)?;
                let (sin, cos) = libm::sincos(turned);
                Some(Vector::new(x * cos + y * sin, y * cos - x * sin, z))
            }
        }
    }
}

/// Returns the position according to SGP4; `None` if SGP4 fails or the position is inside the Earth.
fn propagated(constants: &sgp4::Constants, seconds: f64) -> Option<Vector> {
    let [x, y, z] = constants.propagate(sgp4::MinutesSinceEpoch(seconds / 60.0)).ok()?.position;
    let position = Vector::new(x, y, z) * 1e3;
    // Below the ground it has decayed, also where the equations continue.
    (position.is_finite() && position.length() > RADIUS * 1e3).then_some(position)
}

/// SGP4 without drag. Lengths are in Earth radii.
#[derive(Clone, Copy, Debug)]
pub struct ClosedForm {
    /// Mean anomaly at the start in radians, and its rate per second; likewise for perigee and node.
    anomaly: [f64; 2],
    perigee: [f64; 2],
    node: [f64; 2],
    eccentricity: f64,
    /// Semi-major axis.
    a: f64,
    inclination: f64,
    cos: f64,
    sin: f64,
    /// Coefficients of the third-harmonic terms.
    lift: f64,
    shift: f64,
}

impl ClosedForm {
    /// Returns the orbit with these elements at the start.
    pub fn new(elements: &Elements) -> Self {
        let (s, c) = libm::sincos(elements.inclination);
        let xke = 60.0 / libm::sqrt(RADIUS * RADIUS * RADIUS / GRAVITY);
        let kozai = elements.motion * 60.0;
        let e0 = elements.eccentricity;
        // Kozai's mean motion and semi-major axis are converted to Brouwer's.
        let ak = two_thirds(xke / kozai);
        let d = 0.75 * J2 * (3.0 * c * c - 1.0) / libm::pow(1.0 - e0 * e0, 1.5);
        let x = d / (ak * ak);
        let ad = ak * (1.0 - x * x - x * (1.0 / 3.0 + 134.0 * x * x / 81.0));
        let n = kozai / (1.0 + d / (ad * ad));
        let a = two_thirds(xke / n);
        let e = e0.max(LEAST_ECCENTRICITY);
        let beta = 1.0 - e * e;
        let k = 1.0 / (a * beta);
        // Secular rates of J2, J2² and J4.
        let q = k * k;
        let (c2, c4) = (c * c, c * c * c * c);
        let t1 = 1.5 * J2 * q * n;
        let t2 = 0.5 * t1 * J2 * q;
        let t3 = -0.468_75 * J4 * q * q * n;
        let anomaly = n
            + 0.5 * t1 * libm::sqrt(beta) * (3.0 * c2 - 1.0)
            + t2 * libm::sqrt(beta) * (13.0 - 78.0 * c2 + 137.0 * c4) / 16.0;
        let perigee = -0.5 * t1 * (1.0 - 5.0 * c2)
            + t2 * (7.0 - 114.0 * c2 + 395.0 * c4) / 16.0
            + t3 * (3.0 - 36.0 * c2 + 49.0 * c4);
        let node = -t1 * c + (0.5 * t2 * (4.0 - 19.0 * c2) + 2.0 * t3 * (3.0 - 7.0 * c2)) * c;
        let ratio = J3 / J2;
        // At 180° the divisor vanishes; the official code keeps it from zero.
        let divisor = if libm::fabs(1.0 + c) > 1.5e-12 { 1.0 + c } else { 1.5e-12 };
        Self {
            anomaly: [elements.anomaly, anomaly / 60.0],
            perigee: [elements.perigee, perigee / 60.0],
            node: [elements.node, node / 60.0],
            eccentricity: e,
            a,
            inclination: elements.inclination,
            cos: c,
            sin: s,
            lift: -0.5 * ratio * s * k,
            shift: -0.25 * ratio * s * (3.0 + 5.0 * c) / divisor * k,
        }
    }

    fn position(&self, seconds: f64, turned: f64) -> Vector {
        let angle_at = |[start, rate]: [f64; 2]| start + rate * seconds;
        let (perigee, node) = (angle_at(self.perigee), angle_at(self.node) - turned);
        let (sin_w, cos_w) = libm::sincos(perigee);
        let (ax, ay) = (self.eccentricity * cos_w, self.eccentricity * sin_w + self.lift);
        let u = angle_at(self.anomaly) + perigee + self.shift * ax;
        let u = u - TAU * libm::floor(u / TAU);
        // Kepler's equation by Newton's method: with an eccentricity near 0.001 three steps reach the last digit.
        let mut anomaly = u;
        let (mut sin_e, mut cos_e) = libm::sincos(anomaly);
        for _ in 0..10 {
            let step = (u - ay * cos_e + ax * sin_e - anomaly) / (1.0 - ax * cos_e - ay * sin_e);
            anomaly += step;
            (sin_e, cos_e) = libm::sincos(anomaly);
            if libm::fabs(step) < 1e-12 {
                break;
            }
        }
        let (ec, es) = (ax * cos_e + ay * sin_e, ax * sin_e - ay * cos_e);
        let l2 = ax * ax + ay * ay;
        let (b, p) = (libm::sqrt(1.0 - l2), self.a * (1.0 - l2));
        let r = self.a * (1.0 - ec);
        let part = es / (1.0 + b);
        let (sin_u, cos_u) = (self.a / r * (sin_e - ay - ax * part), self.a / r * (cos_e - ax + ay * part));
        let (sin_2u, cos_2u) = (2.0 * sin_u * cos_u, 1.0 - 2.0 * sin_u * sin_u);
        // Short-period terms of J2. They turn the node, the inclination and the place along the orbit by less than
        // 0.002.
        let (g1, c2) = (0.5 * J2 / p, self.cos * self.cos);
        let g2 = g1 / p;
        let r = r * (1.0 - 1.5 * g2 * b * (3.0 * c2 - 1.0)) + 0.5 * g1 * self.sin * self.sin * cos_2u;
        let along = libm::atan2(sin_u, cos_u) - 0.25 * g2 * (7.0 * c2 - 1.0) * sin_2u;
        let node = node + 1.5 * g2 * self.cos * sin_2u;
        let inclination = self.inclination + 1.5 * g2 * self.cos * self.sin * cos_2u;
        on_orbit(r * RADIUS * 1e3, along, node, inclination)
    }
}

fn two_thirds(x: f64) -> f64 {
    let root = libm::cbrt(x);
    root * root
}

/// Returns the position for a distance from the centre, an angle from the ascending node, the node's right ascension
/// and an inclination.
fn on_orbit(radius: f64, along: f64, node: f64, inclination: f64) -> Vector {
    let (sin_u, cos_u) = libm::sincos(along);
    let (sin_n, cos_n) = libm::sincos(node);
    let (sin_i, cos_i) = libm::sincos(inclination);
    Vector::new(
        radius * (cos_u * cos_n - sin_u * cos_i * sin_n),
        radius * (cos_u * sin_n + sin_u * cos_i * cos_n),
        radius * (sin_u * sin_i),
    )
}

/// A circle. J2 rotates its plane, and lets the satellite drift slightly along it.
#[derive(Clone, Copy, Debug)]
pub struct Circular {
    /// Radius in metres.
    radius: f64,
    inclination: f64,
    /// Angle from the node at the start in radians, and its rate per second; likewise for the node.
    along: [f64; 2],
    node: [f64; 2],
}

impl Circular {
    /// Returns the circular orbit with these elements at the start; the eccentricity is ignored.
    pub fn new(elements: &Elements) -> Self {
        let n = elements.motion;
        let radius = semi_major_axis(n);
        let c = libm::cos(elements.inclination);
        let f = 1.5 * J2 * (RADIUS / radius) * (RADIUS / radius) * n;
        let perigee = 0.5 * f * (5.0 * c * c - 1.0);
        let anomaly = n + 0.5 * f * (3.0 * c * c - 1.0);
        Self {
            radius: radius * 1e3,
            inclination: elements.inclination,
            along: [elements.perigee + elements.anomaly, anomaly + perigee],
            node: [elements.node, -f * c],
        }
    }

    fn position(&self, seconds: f64, turned: f64) -> Vector {
        let at = |[start, rate]: [f64; 2]| start + rate * seconds;
        on_orbit(self.radius, at(self.along), at(self.node) - turned, self.inclination)
    }
}

#[cfg(test)]
mod tests;
