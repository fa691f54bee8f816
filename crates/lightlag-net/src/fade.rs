//! Rain fade and adaptive coding: the rate of a satellite link that follows the weather.
//!
//! **Attenuation.** X = ln A, A in dB, is an Ornstein-Uhlenbeck process, dX = −β (X − m) dt + σ √(2β) dW (Maseng and
//! Bakken 1981; ITU-R P.1853): normal with mean m and standard deviation σ, with an autocorrelation of e^(−βτ). Sampled
//! exactly: X(t + Δ) = m + (X(t) − m) e^(−βΔ) + σ √(1 − e^(−2βΔ)) N(0, 1), starting from the stationary distribution.
//! With an offset the attenuation is max(e^X − offset, 0): it rains only while e^X is above the offset (ITU-R P.1853-1
//! §2.2, where the offset follows from the probability of rain).
//!
//! **Power control.** The transmitter of an uplink raises its power by the attenuation of one delay earlier, up to its
//! range. The rest of the attenuation reduces C/N.
//!
//! **Adaptation.** C/N = C/N in clear weather − A. The receiver measures it at each step. One loop delay later the
//! transmitter uses the MODCOD that this C/N allows: the highest whose threshold plus margin is met. A higher MODCOD
//! than the current one also requires the hysteresis. The lowest MODCOD needs no margin. Below its threshold nothing is
//! sent: an outage.
//!
//! **Losses.** If C/N is below the threshold of the MODCOD in use, because the fade was faster than loop and margin,
//! every frame is lost; otherwise none is. The waterfall region of the DVB-S2 codes is only some tenths of a decibel
//! wide.

mod modcod;

pub use modcod::{DVB_S2, Modcod, ModcodTable, first_out_of_order, frontier};

use crate::link::{BasebandFrames, Outage, Phase, Timetable};
use lightlag_core::{Decibels, Duration, Instant, RandomStream, Rate, SymbolRate};
use std::collections::VecDeque;
use std::sync::Arc;

/// Rain attenuation as a random process.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RainFade {
    /// Mean of ln A, A in dB.
    pub mean: f64,
    /// Standard deviation of ln A.
    pub deviation: f64,
    /// 1/β: the time for the autocorrelation to fall to 1/e.
    pub correlation_time: Duration,
    /// Part of e^X, in dB, that does not attenuate: it does not rain below it.
    pub offset: Decibels,
}

/// Power control of an uplink.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PowerControl {
    /// Maximum increase of the power.
    pub range: Decibels,
    /// Time from an attenuation to the power that compensates it.
    pub delay: Duration,
}

/// A link with rain fade, whose transmitter adapts its modulation and coding.
#[derive(Clone, PartialEq, Debug)]
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
    /// MODCODs, at least one, by increasing threshold and efficiency.
    pub modcods: Arc<[Modcod]>,
    /// Power control of the transmitter, if it has any.
    pub power_control: Option<PowerControl>,
    /// Encapsulation of packets in baseband frames; without it, the rate is a stream of bits.
    pub frames: Option<BasebandFrames>,
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

impl Attenuations {
    /// Returns the attenuation at the next step.
    fn advance(&mut self) -> f64 {
        let RainFade { mean, deviation, offset, .. } = self.fade;
        let now = self.next;
        let noise = deviation * libm::sqrt(1.0 - self.decay * self.decay);
        self.next = mean + (now - mean) * self.decay + noise * self.random.normal();
        (libm::exp(now) - offset.value()).max(0.0)
    }
}

impl Iterator for Attenuations {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        Some(self.advance())
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

/// Attenuations of the past, as far back as power control reacts to them.
#[derive(Clone, Debug)]
struct Compensation {
    range: f64,
    steps: usize,
    past: VecDeque<f64>,
}

impl Compensation {
    fn new(control: PowerControl, step: Duration) -> Self {
        let steps = control.delay.as_nanos().div_ceil(step.as_nanos()) as usize;
        Self { range: control.range.value(), steps, past: VecDeque::new() }
    }

    /// Returns the attenuation in dB that remains after power control.
    fn rest(&mut self, attenuation: f64) -> f64 {
        self.past.push_back(attenuation);
        // Before the start the weather was the same as at the start.
        let seen = self.past[0];
        if self.past.len() > self.steps {
            self.past.pop_front();
        }
        attenuation - seen.min(self.range)
    }
}

impl AdaptiveLink {
    /// Returns the fraction of time in which C/N is below the threshold of the lowest MODCOD, so that nothing can be
    /// sent. The delays of adaptation and power control are neglected.
    pub fn outage_fraction(&self) -> f64 {
        let reserve = self.clear_sky.value() - self.modcods[0].threshold;
        if reserve < 0.0 {
            return 1.0;
        }
        let range = self.power_control.map_or(0.0, |control| control.range.value());
        let RainFade { mean, deviation, offset, .. } = self.fade;
        let above = libm::log(reserve + range + offset.value()) - mean;
        match deviation {
            0.0 => f64::from(u8::from(above < 0.0)),
            _ => 0.5 * libm::erfc(above / deviation / std::f64::consts::SQRT_2),
        }
    }

    /// Returns the choice for a measured C/N; `present` is the current choice.
    fn choose(&self, measured: f64, present: Sending) -> Sending {
        let Some(allowed) = self.highest(measured, self.margin.value()) else { return Sending::Silent };
        match present {
            // Not above the one that the hysteresis allows, unless it is already in use.
            Sending::With(present) if allowed > present => {
                let steady = self.highest(measured, self.margin.value() + self.hysteresis.value());
                Sending::With(steady.map_or(present, |steady| steady.max(present)))
            }
            _ => Sending::With(allowed),
        }
    }

    /// Returns the highest MODCOD whose threshold plus `margin` is met; the lowest needs no margin.
    fn highest(&self, measured: f64, margin: f64) -> Option<usize> {
        let lowest = self.modcods[0].threshold;
        let above = self.modcods.iter().rposition(|modcod| measured >= modcod.threshold + margin);
        above.or((measured >= lowest).then_some(0))
    }

    /// Returns the rate of a MODCOD.
    fn rate(&self, modcod: usize) -> Rate {
        self.symbol_rate.carrying(self.modcods[modcod].bits_per_symbol)
    }

    /// Returns the phases up to `end` of a link with this delay, with the weather drawn from `random`. The last phase
    /// also applies after `end`.
    pub fn phases(&self, delay: Duration, end: Duration, random: RandomStream) -> Vec<Phase> {
        self.adapt(delay, end, random).into_iter().map(|(phase, _)| phase).collect()
    }

    /// Returns the timetable of [`phases`](Self::phases), with the formats of frames if packets are sent in frames.
    pub fn timetable(
        &self,
        (delay, end): (Duration, Duration),
        random: RandomStream,
        outage: Outage,
        overtaking: bool,
    ) -> Timetable {
        let (phases, modcods): (Vec<_>, Vec<_>) = self.adapt(delay, end, random).into_iter().unzip();
        let timetable = Timetable::new(phases, outage, overtaking).keeping_rates();
        if self.frames.is_none() {
            return timetable;
        }
        let format = |modcod: usize| self.modcods[modcod].frame.expect("only MODCODs of a standard have frames");
        let formats = modcods.into_iter().map(format);
        timetable.framed(formats.collect::<Vec<_>>())
    }

    /// Returns the phases, and the index of the MODCOD in each of them.
    fn adapt(&self, delay: Duration, end: Duration, random: RandomStream) -> Vec<(Phase, usize)> {
        let steps = end.as_nanos() / self.step.as_nanos() + 1;
        let mut adaptation = Adaptation::new(self, random);
        let mut phases: Vec<(Phase, usize)> = Vec::new();
        for number in 0..steps {
            let Adapted { modcod, ratio } = adaptation.step(self);
            let last = phases.last().map_or(0, |(_, modcod)| *modcod);
            let (modcod, is_up, loses) = match modcod {
                None => (last, false, false),
                Some(modcod) => (modcod, true, ratio < self.modcods[modcod].threshold),
            };
            let rate = self.rate(modcod);
            let phase = Phase { from: Instant::ZERO + self.step * number, rate, delay, is_up, loses };
            if phases.last().is_none_or(|(last, of)| *of != modcod || *last != (Phase { from: last.from, ..phase })) {
                phases.push((phase, modcod));
            }
        }
        phases
    }
}

/// State of a link with rain during one step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Adapted {
    /// Index of the MODCOD in use; `None` in an outage.
    pub modcod: Option<usize>,
    /// C/N in dB.
    pub ratio: f64,
}

/// Adaptation of an [`AdaptiveLink`] to its weather, step by step.
#[derive(Clone, Debug)]
pub struct Adaptation {
    attenuations: Attenuations,
    control: Option<Compensation>,
    /// Measurements that have not been used yet.
    known: VecDeque<f64>,
    /// Number of steps from a measurement to its use.
    late: usize,
    present: Sending,
}

impl Adaptation {
    /// Returns the adaptation of a link before its first step, with the weather drawn from `random`.
    pub fn new(link: &AdaptiveLink, random: RandomStream) -> Self {
        Self {
            attenuations: link.fade.attenuations(link.step, random),
            control: link.power_control.map(|control| Compensation::new(control, link.step)),
            known: VecDeque::new(),
            late: link.loop_delay.as_nanos().div_ceil(link.step.as_nanos()) as usize,
            present: Sending::Silent,
        }
    }

    /// Advances by one step of the link. The first call returns the state at time zero.
    pub fn step(&mut self, link: &AdaptiveLink) -> Adapted {
        let attenuation = self.attenuations.advance();
        let rest = self.control.as_mut().map_or(attenuation, |control| control.rest(attenuation));
        let ratio = link.clear_sky.value() - rest;
        self.known.push_back(ratio);
        // Before the start the weather was the same as at the start.
        let measured = self.known[0];
        if self.known.len() > self.late {
            self.known.pop_front();
        }
        self.present = link.choose(measured, self.present);
        let modcod = match self.present {
            Sending::Silent => None,
            Sending::With(modcod) => Some(modcod),
        };
        Adapted { modcod, ratio }
    }
}

#[cfg(test)]
mod tests;
