//! The orbital elements of a satellite, from a file.

use crate::propagate::Propagator;
use crate::satellite::Satellite;
use crate::time::Utc;

/// Maximum number of revolutions per day. No orbit above the ground has more.
pub(crate) const MOST_REVOLUTIONS: f64 = 17.0;

/// The orbital elements of a satellite.
#[derive(Clone, Debug)]
pub struct ElementSet {
    /// The position of the set in its file.
    pub place: String,
    elements: sgp4::Elements,
}

/// An error in a file of orbital elements.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}: {message}")]
pub struct ElementsError {
    /// The position of the error, such as `line 3`.
    pub place: String,
    /// The error, and the correct form.
    pub message: String,
}

impl ElementSet {
    pub(crate) fn new(location: String, elements: sgp4::Elements) -> Self {
        Self { place: location, elements }
    }

    /// Returns the catalogue number.
    pub fn number(&self) -> u64 {
        self.elements.norad_id
    }

    /// Returns the name of the satellite, or its catalogue number if it has no name.
    pub fn name(&self) -> String {
        self.elements.object_name.clone().unwrap_or_else(|| format!("{:05}", self.number()))
    }

    /// Returns the inclination in degrees.
    pub fn inclination(&self) -> f64 {
        self.elements.inclination
    }

    /// Returns the mean motion in revolutions per day.
    pub fn revolutions(&self) -> f64 {
        self.elements.mean_motion
    }

    /// Returns the eccentricity.
    pub fn eccentricity(&self) -> f64 {
        self.elements.eccentricity
    }

    /// Returns the epoch of the elements.
    pub fn epoch(&self) -> Utc {
        use sgp4::chrono::{Datelike, Timelike};
        let time = self.elements.datetime;
        let seconds = u64::from(time.num_seconds_from_midnight());
        let nanos = seconds * 1_000_000_000 + u64::from(time.nanosecond() % 1_000_000_000);
        Utc::new(time.year(), time.month(), time.day(), nanos).unwrap_or(Utc::Y2000)
    }

    /// Returns the satellite for runs that start at `start`.
    ///
    /// # Errors
    /// If SGP4 cannot derive an orbit from the elements.
    pub fn satellite(&self, start: Utc) -> Result<Satellite, ElementsError> {
        let constants = sgp4::Constants::from_elements_afspc_compatibility_mode(&self.elements);
        let constants = constants.map_err(|fault| ElementsError {
            place: self.place.clone(),
            message: format!("SGP4 rejects these elements: {fault}"),
        })?;
        let orbit = Propagator::Sgp4(Box::new(constants), start.since(self.epoch()));
        Ok(Satellite { name: self.name(), orbit })
    }
}
