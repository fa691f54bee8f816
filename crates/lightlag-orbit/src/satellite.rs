//! One satellite.

use crate::propagate::Propagator;

/// A satellite.
#[derive(Clone, Debug)]
pub struct Satellite {
    /// Its name.
    pub name: String,
    /// Its orbit.
    pub orbit: Propagator,
}
