//! A channel: the gain from a sender to one receiver, or to all of them at once.

use super::Loss;
use super::decibels::ratio;
use super::power_law::PowerLaw;
use lightlag_core::Instant;
use lightlag_mobility::Vector;

/// The models of propagation of a medium.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Propagation {
    /// The loss over the distance.
    pub loss: Loss,
}

/// A station and its place.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Place {
    /// The number of the station.
    pub station: u32,
    /// Its place.
    pub at: Vector,
}

/// The places of many stations, by coordinate.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// To the east, in metres.
    pub x: &'a [f64],
    /// To the north, in metres.
    pub y: &'a [f64],
    /// Up, in metres.
    pub z: &'a [f64],
    /// The numbers of the stations; without them each has its index.
    pub stations: Option<&'a [u32]>,
}

impl Places<'_> {
    fn get(&self, index: usize) -> Place {
        let station = self.stations.map_or(index as u32, |stations| stations[index]);
        Place { station, at: Vector::new(self.x[index], self.y[index], self.z[index]) }
    }
}

/// The propagation of a medium at its frequency.
#[derive(Clone, Debug)]
pub struct Channel {
    loss: Loss,
    /// In hertz.
    frequency: f64,
    power_law: Option<PowerLaw>,
}

impl Channel {
    /// The channel of the medium called `name` in the run with this `seed`; the frequency is in hertz.
    pub fn new(propagation: &Propagation, frequency: f64, _seed: u64, _name: &str) -> Self {
        let loss = propagation.loss;
        Self { loss, frequency, power_law: loss.model().power_law(frequency) }
    }

    /// The share of the power of a sender at one place that reaches the other: the same in both directions.
    pub fn gain(&self, from: Place, to: Place, _now: Instant) -> f64 {
        match self.power_law {
            Some(law) => law.gain((to.at - from.at).square()),
            None => ratio(-self.loss.decibels(from.at, to.at, self.frequency)),
        }
    }

    /// The power that reaches each place from a sender of `power`, in the same unit. Each of the coordinates must be as
    /// long as `out` at least; the sender may be among the places.
    pub fn powers(&self, from: Place, power: f64, to: Places<'_>, now: Instant, out: &mut [f64]) {
        match self.power_law {
            Some(law) => law.powers(from.at, to, power, out),
            None => {
                for (index, out) in out.iter_mut().enumerate() {
                    *out = power * self.gain(from, to.get(index), now);
                }
            }
        }
    }

    /// A distance in metres beyond which no receiver gets more than `least` of a sender's `power`, both in dBm.
    pub fn reach(&self, power: f64, least: f64) -> f64 {
        self.loss.reach(power - least, self.frequency)
    }
}
