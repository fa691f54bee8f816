//! Rain fade and adaptive coding: the rate of a satellite link that follows the weather.
//!
//! **Attenuation.** X = ln A, A in dB, is an Ornstein-Uhlenbeck process, dX = −β (X − m) dt + σ √(2β) dW (Maseng and
//! Bakken 1981; ITU-R P.1853): normal with mean m and standard deviation σ, with an autocorrelation of e^(−βτ). Sampled
//! exactly: X(t + Δ) = m + (X(t) − m) e^(−βΔ) + σ √(1 − e^(−2βΔ)) N(0, 1), starting from the stationary distribution.
//!
//! **Adaptation.** C/N = C/N in clear weather − A. The receiver measures it at each step. One loop delay later the
//! transmitter uses the MODCOD that this C/N allows: the highest whose threshold plus margin is met. A higher MODCOD
//! than the current one also requires the hysteresis. The lowest MODCOD needs no margin. Below its threshold nothing is
//! sent: an outage.
//!
//! **Losses.** If C/N is below the threshold of the MODCOD in use, because the fade was faster than loop and margin,
//! every frame is lost; otherwise none is. The waterfall region of the DVB-S2 codes is only some tenths of a decibel
//! wide.

use crate::link::Phase;
use lightlag_core::{Decibels, Duration, Instant, RandomStream, Rate, SymbolRate};
use std::collections::VecDeque;

/// Modulation and coding.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Modcod {
    /// Name.
    pub name: &'static str,
    /// Number of bits per symbol.
    pub bits_per_symbol: f64,
    /// Minimum Es/N0 in dB for decoding frames.
    pub threshold: f64,
}

const fn modcod(name: &'static str, bits_per_symbol: f64, threshold: f64) -> Modcod {
    Modcod { name, bits_per_symbol, threshold }
}

/// Some MODCODs of DVB-S2 (ETSI EN 302 307 table 13, normal frames, quasi error-free), the most robust first.
pub const DVB_S2: [Modcod; 8] = [
    modcod("QPSK 1/4", 0.490, -2.35),
    modcod("QPSK 1/2", 0.989, 1.00),
    modcod("QPSK 3/4", 1.487, 4.03),
    modcod("8PSK 3/5", 1.780, 5.50),
    modcod("8PSK 3/4", 2.228, 7.91),
    modcod("16APSK 3/4", 2.967, 10.21),
    modcod("32APSK 3/4", 3.703, 12.73),
    modcod("32APSK 9/10", 4.453, 16.05),
];

/// Rain attenuation as a random process.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RainFade {
    /// Mean of ln A, A in dB.
    pub mean: f64,
    /// Standard deviation of ln A.
    pub deviation: f64,
    /// 1/β: the time for the autocorrelation to fall to 1/e.
    pub correlation_time: Duration,
}

/// A link with rain fade, whose transmitter adapts its modulation and coding.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AdaptiveLink {
    /// Rain fade of the link.
    pub fade: RainFade,
    /// C/N (Es/N0) without rain.
    pub clear_sky: Decibels,
    /// Symbols per second.
    pub symbol_rate: SymbolRate,
    /// Required margin above the threshold of a MODCOD.
    pub margin: Decibels,
    /// Additional margin required for a higher MODCOD than the current one.
    pub hysteresis: Decibels,
    /// Time from a measurement to the transmission that uses it.
    pub loop_delay: Duration,
    /// Time from one measurement to the next.
    pub step: Duration,
}

/// Endless series of attenuations in dB, at equal time steps.
#[derive(Clone, Debug)]
pub struct Attenuations {
    fade: RainFade,
    /// e^(−βΔ).
    decay: f64,
    /// ln A of the next step.
    next: f64,
    random: RandomStream,
}

impl RainFade {
    /// Returns the attenuations at multiples of `step`, drawn from `random`.
    pub fn attenuations(self, step: Duration, mut random: RandomStream) -> Attenuations {
        let decay = libm::exp(-step.as_secs_f64() / self.correlation_time.as_secs_f64());
        let next = self.mean + self.deviation * random.normal();
        Attenuations { fade: self, decay, next, random }
    }
}

impl Iterator for Attenuations {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        let RainFade { mean, deviation, .. } = self.fade;
        let now = self.next;
        let noise = deviation * libm::sqrt(1.0 - self.decay * self.decay);
        self.next = mean + (now - mean) * self.decay + noise * self.random.normal();
        Some(libm::exp(now))
    }
}

/// The transmitter's choice for one step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sending {
    /// No transmission.
    Silent,
    /// Transmission with the MODCOD of this index.
    With(usize),
}

impl AdaptiveLink {
    /// Returns the choice for a measured C/N; `present` is the current choice.
    fn choose(&self, measured: f64, present: Sending) -> Sending {
        let Some(allowed) = Self::highest(measured, self.margin.value()) else { return Sending::Silent };
        match present {
            // Not above the one that the hysteresis allows, unless it is already in use.
            Sending::With(present) if allowed > present => {
                let steady = Self::highest(measured, self.margin.value() + self.hysteresis.value());
                Sending::With(steady.map_or(present, |steady| steady.max(present)))
            }
            _ => Sending::With(allowed),
        }
    }

    /// Returns the highest MODCOD whose threshold plus `margin` is met; the lowest needs no margin.
    fn highest(measured: f64, margin: f64) -> Option<usize> {
        let lowest = DVB_S2[0].threshold;
        let above = DVB_S2.iter().rposition(|modcod| measured >= modcod.threshold + margin);
        above.or((measured >= lowest).then_some(0))
    }

    /// Returns the rate of a MODCOD.
    fn rate(&self, modcod: usize) -> Rate {
        self.symbol_rate.carrying(DVB_S2[modcod].bits_per_symbol)
    }

    /// Returns the phases up to `end` of a link with this delay, with the weather drawn from `random`. The last phase
    /// also applies after `end`.
    pub fn phases(&self, delay: Duration, end: Duration, random: RandomStream) -> Vec<Phase> {
        let clear_sky = self.clear_sky.value();
        let measures = self.fade.attenuations(self.step, random).map(|attenuation| clear_sky - attenuation);
        let steps = end.as_nanos() / self.step.as_nanos() + 1;
        // Before the start the weather was the same as at the start.
        let late = self.loop_delay.as_nanos().div_ceil(self.step.as_nanos()) as usize;
        let mut known = VecDeque::new();
        let mut present = Sending::Silent;
        let mut phases: Vec<Phase> = Vec::new();
        for (number, now) in (0..steps).zip(measures) {
            known.push_back(now);
            let measured = known[0];
            if known.len() > late {
                known.pop_front();
            }
            present = self.choose(measured, present);
            let last = phases.last().map_or(self.rate(0), |last| last.rate);
            let (rate, is_up, loses) = match present {
                Sending::Silent => (last, false, false),
                Sending::With(modcod) => (self.rate(modcod), true, now < DVB_S2[modcod].threshold),
            };
            let phase = Phase { from: Instant::ZERO + self.step * number, rate, delay, is_up, loses };
            if phases.last().is_none_or(|last| *last != (Phase { from: last.from, ..phase })) {
                phases.push(phase);
            }
        }
        phases
    }
}

#[cfg(test)]
mod tests;
