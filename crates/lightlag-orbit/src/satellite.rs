//! A satellite: its name and its orbit.

use crate::propagate::Propagator;

/// A satellite.
#[derive(Clone, Debug)]
pub struct Satellite {
    /// Name of the satellite.
    pub name: String,
    /// Orbit of the satellite.
    pub orbit: Propagator,
}
