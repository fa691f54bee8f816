//! A channel: the gain from a sender to one receiver, or to all of them at once.

use super::decibels::ratio;
use super::draws::{Draw, Draws};
use super::formula::Formula;
use super::places::{Place, Places};
use super::{Fading, Loss, Shadowing};
use lightlag_core::Instant;
use lightlag_net::StationId;

/// The models of propagation of a medium.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Propagation {
    /// The loss over the distance.
    pub loss: Loss,
    /// Its deviations.
    pub shadowing: Shadowing,
    /// The power of each frame around its mean.
    pub fading: Fading,
}

/// Shadowing beyond so many deviations is left out of a reach: one draw in 3.5 million.
const DEVIATIONS: f64 = 5.0;

/// The propagation of a medium at its frequency.
#[derive(Clone, Debug)]
pub struct Channel {
    propagation: Propagation,
    /// In hertz.
    frequency: f64,
    formula: Option<Formula>,
    sights: Draws,
    shadows: Draws,
    fades: Draws,
}

impl Channel {
    /// The channel of the medium called `name` in the run with this `seed`; the frequency is in hertz.
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

    /// The share of the power of a sender at one place that reaches the other, without fading. It is the same in both
    /// directions.
    pub fn gain(&self, from: Place, to: Place, now: Instant) -> f64 {
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

    /// The factor of shadowing between two stations, with the deviation of a model in dB beside that of the medium.
    fn shadow(&self, a: StationId, b: StationId, now: Instant, deviation: f64) -> f64 {
        let shadowing = &self.propagation.shadowing;
        if shadowing.deviation == 0.0 && deviation == 0.0 {
            return 1.0;
        }
        let [normal, _] = self.shadows.between(a, b, shadowing.epoch_at(now)).normals();
        ratio(libm::hypot(shadowing.deviation, deviation) * normal)
    }

    /// The power that reaches each place from a sender of `power`, in the same unit, without fading. The places come with
    /// the squares of their distances ([`Places::squares`]), all as long as `out` at least; the sender may be among them.
    pub fn powers(&self, from: Place, power: f64, to: (Places<'_>, &[f64]), now: Instant, out: &mut [f64]) {
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

    /// The same from the squares of the distances alone. Where they do not decide, nothing is written.
    ///
    /// Returns whether they do.
    pub fn powers_by_distance(&self, power: f64, squares: &[f64], out: &mut [f64]) -> bool {
        match self.formula {
            Some(Formula::Power(law)) if self.propagation.shadowing.deviation == 0.0 => {
                law.powers(squares, power, out);
                true
            }
            _ => false,
        }
    }

    /// Whether the power between two places is the same at all times, and for all frames.
    pub fn is_steady(&self) -> bool {
        self.formula.is_some() && self.propagation.shadowing.deviation == 0.0 && !self.fades()
    }

    /// Whether frames differ in power from their mean.
    pub fn fades(&self) -> bool {
        !matches!(self.propagation.fading, Fading::None(_))
    }

    /// The factor of fading on the power of the frames of an exchange. A frame and its answer share one, so they need the
    /// same number for `exchange`; no two exchanges of a pair should.
    pub fn fade(&self, from: Place, to: Place, exchange: u64) -> f64 {
        if !self.fades() {
            return 1.0;
        }
        let draw: Draw = self.fades.between(from.station, to.station, exchange);
        self.propagation.fading.factor(from.at.distance(to.at), draw)
    }

    /// A distance in metres beyond which no receiver gets more than `least` of a sender's `power`, both in dBm: with
    /// shadowing up to five deviations and all but one in 10^8 draws of fading.
    pub fn reach(&self, power: f64, least: f64) -> f64 {
        let Propagation { loss, shadowing, fading } = &self.propagation;
        let deviation = libm::hypot(shadowing.deviation, loss.model().deviation());
        let margin = fading.margin() + DEVIATIONS * deviation;
        loss.reach(power - least + margin, self.frequency)
    }
}
