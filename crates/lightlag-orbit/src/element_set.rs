//! The orbital elements of a satellite, from a file.

use crate::propagate::Propagator;
use crate::satellite::Satellite;
use crate::time::Utc;

/// More revolutions a day than anything has that stays above the ground.
pub(crate) const MOST_REVOLUTIONS: f64 = 17.0;

/// The elements of a satellite.
#[derive(Clone, Debug)]
pub struct ElementSet {
    /// Where it stands in the file.
    pub place: String,
    elements: sgp4::Elements,
}

/// A fault in a file of elements.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}: {message}")]
pub struct ElementsError {
    /// Its place, such as `line 3`.
    pub place: String,
    /// The fault, and what would be right.
    pub message: String,
}

impl ElementSet {
    pub(crate) fn new(place: String, elements: sgp4::Elements) -> Self {
        Self { place, elements }
    }

    /// The number in the catalogue.
    pub fn number(&self) -> u64 {
        self.elements.norad_id
    }

    /// The name, or the number where there is none.
    pub fn name(&self) -> String {
        self.elements.object_name.clone().unwrap_or_else(|| format!("{:05}", self.number()))
    }

    /// The inclination, degrees.
    pub fn inclination(&self) -> f64 {
        self.elements.inclination
    }

    /// The mean motion, revolutions a day.
    pub fn revolutions(&self) -> f64 {
        self.elements.mean_motion
    }

    /// The eccentricity.
    pub fn eccentricity(&self) -> f64 {
        self.elements.eccentricity
    }

    /// The time for which they hold.
    pub fn epoch(&self) -> Utc {
        use sgp4::chrono::{Datelike, Timelike};
        let time = self.elements.datetime;
        let seconds = u64::from(time.num_seconds_from_midnight());
        let nanos = seconds * 1_000_000_000 + u64::from(time.nanosecond() % 1_000_000_000);
        Utc::new(time.year(), time.month(), time.day(), nanos).unwrap_or(Utc::Y2000)
    }

    /// The satellite in runs that start at `start`.
    ///
    /// # Errors
    /// Elements from which SGP4 makes no orbit.
    pub fn satellite(&self, start: Utc) -> Result<Satellite, ElementsError> {
        let constants = sgp4::Constants::from_elements_afspc_compatibility_mode(&self.elements);
        let constants = constants.map_err(|fault| ElementsError {
            place: self.place.clone(),
            message: format!("SGP4 makes no orbit of these elements: {fault}"),
        })?;
        let orbit = Propagator::Sgp4(Box::new(constants), start.since(self.epoch()));
        Ok(Satellite { name: self.name(), orbit })
    }
}
