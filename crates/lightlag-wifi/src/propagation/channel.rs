//! A channel: the gain from a sender to one receiver, or to all of them together.

use super::decibels::ratio;
use super::draws::{Draw, Draws};
use super::formula::Formula;
use super::station_positions::{StationPosition, StationPositions};
use super::{Fading, PathLoss, Shadowing};
use lightlag_core::Instant;
use lightlag_net::StationId;

/// The propagation models of a medium.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Propagation {
    /// Path loss over the distance.
    pub loss: PathLoss,
    /// Shadowing: variation of the mean power of each pair of stations.
    pub shadowing: Shadowing,
    /// Fading: variation of the power of each frame around its mean.
    pub fading: Fading,
}

/// Number of standard deviations of shadowing that a reach covers; one draw in 3.5 million exceeds it.
const DEVIATIONS: f64 = 5.0;

/// The propagation of a medium at its frequency.
#[derive(Clone, Debug)]
pub struct Channel {
    propagation: Propagation,
    /// Frequency in hertz.
    frequency: f64,
    formula: Option<Formula>,
    sights: Draws,
    shadows: Draws,
    fades: Draws,
}

impl Channel {
    /// Returns the channel of the medium called `name` in a run with this `seed`; `frequency` is in hertz.
    pub fn new(propagation: &Propagation, frequency: f64, seed: u64, name: &str) -> Self {
        let draws = |purpose| Draws::new(seed, &format!("{name} {purpose}"));
        Self {
            propagation: *propagation,
            frequency,
            formula: propagation.loss.model().formula(frequency),
            sights: draws("line of sight"),
            shadows: draws("shadowing"),
            fades: draws("fading"),
        }
    }

    /// Returns the fraction of the transmitted power that is received at another position, without fading. It is the
    /// same in both directions.
    pub fn gain(&self, from: StationPosition, to: StationPosition, now: Instant) -> f64 {
        if let Some(formula) = self.formula {
            return formula.gain(from.at, to.at) * self.shadow(from.station, to.station, now, 0.0);
        }
        let loss = self.propagation.loss;
        let (decibels, deviation) = match loss.model().sight(from.at, to.at, self.frequency) {
            Some(sighted) => {
                let epoch = self.propagation.shadowing.epoch_at(now);
                sighted.choose(self.sights.between(from.station, to.station, epoch).uniform())
            }
            None => (loss.decibels(from.at, to.at, self.frequency), 0.0),
        };
        ratio(-decibels) * self.shadow(from.station, to.station, now, deviation)
    }

    /// Returns the shadowing factor between two stations. `deviation` is the standard deviation of the path loss model
    /// itself in dB, which is combined with the medium's.
    fn shadow(&self, a: StationId, b: StationId, now: Instant, deviation: f64) -> f64 {
        let shadowing = &self.propagation.shadowing;
        if shadowing.deviation == 0.0 && deviation == 0.0 {
            return 1.0;
        }
        let [normal, _] = self.shadows.between(a, b, shadowing.epoch_at(now)).normals();
        ratio(libm::hypot(shadowing.deviation, deviation) * normal)
    }

    /// Computes the power received at each position from a sender of `power`, in the same unit, without fading. The
    /// positions come with their squared distances ([`StationPositions::squares`]); both have at least the length of
    /// `out`, and may include the sender.
    pub fn powers(
        &self,
        from: StationPosition,
        power: f64,
        to: (StationPositions<'_>, &[f64]),
        now: Instant,
        out: &mut [f64],
    ) {
        let Some(formula) = self.formula else {
            for (index, out) in out.iter_mut().enumerate() {
                *out = power * self.gain(from, to.0.get(index), now);
            }
            return;
        };
        formula.powers(from.at, to, power, out);
        if self.propagation.shadowing.deviation > 0.0 {
            for (index, out) in out.iter_mut().enumerate() {
                *out *= self.shadow(from.station, to.0.get(index).station, now, 0.0);
            }
        }
    }

    /// Computes the power received at each squared distance, if the power depends only on the distance.
    ///
    /// Returns false, and writes nothing, if it also depends on the positions.
    pub fn powers_by_distance(&self, power: f64, squares: &[f64], out: &mut [f64]) -> bool {
        match self.formula {
            Some(Formula::Power(law)) if self.propagation.shadowing.deviation == 0.0 => {
                law.powers(squares, power, out);
                true
            }
            _ => false,
        }
    }

    /// Returns true if the power between two positions never changes, and is the same for all frames.
    pub fn is_steady(&self) -> bool {
        self.formula.is_some() && self.propagation.shadowing.deviation == 0.0 && !self.fades()
    }

    /// Returns true if the power of frames varies around its mean.
    pub fn fades(&self) -> bool {
        !matches!(self.propagation.fading, Fading::None(_))
    }

    /// Returns the fading factor for the power of the frames of an exchange. A frame and its reply need the same value
    /// of `exchange`, so that their factor is the same; different exchanges of a pair need different values.
    pub fn fade(&self, from: StationPosition, to: StationPosition, exchange: u64) -> f64 {
        if !self.fades() {
            return 1.0;
        }
        let draw: Draw = self.fades.between(from.station, to.station, exchange);
        self.propagation.fading.factor(from.at.distance(to.at), draw)
    }

    /// Returns the reach in metres: no receiver at a greater distance gets more than `min` dBm from a sender with
    /// `power` dBm, except for shadowing beyond five deviations and one in 10^8 fading draws.
    pub fn reach(&self, power: f64, min: f64) -> f64 {
        let Propagation { loss, shadowing, fading } = &self.propagation;
        let deviation = libm::hypot(shadowing.deviation, loss.model().deviation());
        let margin = fading.margin() + DEVIATIONS * deviation;
        loss.reach(power - min + margin, self.frequency)
    }
}
