//! Adaptation of a terminal's waveform to its weather.
//!
//! The ten reference waveforms with long bursts (1,616 symbols, ETSI EN 301 545-2 annex A) fill the same slot with
//! different payloads. The NCC assigns the waveform together with a slot, from the Es/N0 that the gateway measured: the
//! highest one whose threshold plus margin is met, and a higher one than before only with the hysteresis. A burst is lost
//! if its Es/N0 is below the threshold of its waveform; below the lowest threshold the NCC lets a terminal send nothing.
//!
//! | ID | waveform | payload | Es/N0 |
//! |---:|---|---:|---:|
//! | 13 | QPSK 1/3 | 123 B | −0.4 dB |
//! | 14 | QPSK 1/2 | 188 B | 1.70 dB |
//! | 15 | QPSK 2/3 | 264 B | 3.69 dB |
//! | 16 | QPSK 3/4 | 298 B | 4.73 dB |
//! | 17 | QPSK 5/6 | 333 B | 5.95 dB |
//! | 18 | 8PSK 2/3 | 355 B | 7.57 dB |
//! | 19 | 8PSK 3/4 | 400 B | 8.82 dB |
//! | 20 | 8PSK 5/6 | 444 B | 10.20 dB |
//! | 21 | 16QAM 3/4 | 539 B | 10.71 dB |
//! | 22 | 16QAM 5/6 | 599 B | 12.05 dB |
//!
//! IDs and payloads come from SNS-3's file of waveforms. Thresholds are Eb/N0 for a packet error ratio of 10⁻⁵ in SNS-3's
//! link results, interpolated, plus 10 log₁₀ of the code rate times the bits per symbol. For ID 13 the file was not
//! available: its value is the short burst's (ID 3, 2.02 dB), less the difference between ID 4 and ID 14 (0.63 dB).

use lightlag_core::{Decibels, Duration, Instant, RandomStream, SymbolRate, Unit, settings};
use lightlag_net::{Adaptation, Adapted, AdaptiveLink, Modcod, RainFade};
use std::borrow::Cow;
use std::sync::Arc;

/// Symbol rate of the link of a terminal, without effect: rates follow from slots and payloads.
const SYMBOL_RATE: SymbolRate = SymbolRate::from_baud(1_000_000).unwrap();
/// Symbols of a long burst.
const SYMBOLS: f64 = 1616.0;

const REFUSAL: &str = "0 s is not a valid delay; omit it for the time of an assignment";

/// ID, name, payload in bytes and Es/N0 in dB of the waveforms with long bursts.
pub const WAVEFORMS: [(u8, &str, u32, f64); 10] = [
    (13, "QPSK 1/3", 123, -0.4),
    (14, "QPSK 1/2", 188, 1.70),
    (15, "QPSK 2/3", 264, 3.69),
    (16, "QPSK 3/4", 298, 4.73),
    (17, "QPSK 5/6", 333, 5.95),
    (18, "8PSK 2/3", 355, 7.57),
    (19, "8PSK 3/4", 400, 8.82),
    (20, "8PSK 5/6", 444, 10.20),
    (21, "16QAM 3/4", 539, 10.71),
    (22, "16QAM 5/6", 599, 12.05),
];

settings! {
    /// Weather of a terminal, and its adaptation.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Climate {
        about "Adaptation of a terminal's waveform to its weather.";

        /// Whether the waveform of the terminal follows its weather; slot_payload then applies to its constant capacity
        /// only.
        adaptive: bool = false => flag();
        /// Es/N0 of the terminal's bursts without rain.
        clear_sky: f64 = 12.0 => quantity(Unit::Decibel, -30.0, 60.0);
        /// Median of the attenuation by rain in the time of the run; ln A is an Ornstein-Uhlenbeck process.
        rain_median: f64 = 0.0 => quantity(Unit::Decibel, 0.0, 60.0);
        /// Standard deviation of ln A, where A is the attenuation in dB.
        rain_deviation: f64 = 1.2 => number(0, 10.0);
        /// Part of the attenuation that is subtracted: no rain below it.
        rain_offset: f64 = 0.0 => quantity(Unit::Decibel, 0.0, 60.0);
        /// Time until the autocorrelation of ln A has fallen to 1/e.
        rain_correlation: Duration = Duration::from_secs(5_000) => time();
        /// Required margin above the threshold of a waveform.
        acm_margin: f64 = 1.0 => quantity(Unit::Decibel, 0.0, 30.0);
        /// Additional margin that is required for a higher waveform than the current one.
        acm_hysteresis: f64 = 0.3 => quantity(Unit::Decibel, 0.0, 30.0);
        /// Delay from a measurement to the burst whose waveform it determines.
        acm_delay: Option<Duration> = None => time_above_zero(REFUSAL).by_default("the time of an assignment");
        /// Time between two values of the attenuation.
        acm_step: Duration = Duration::from_secs(1) => time().checked(|of| {
            (of.acm_step < Duration::from_millis(1)).then_some("is below 1 ms, the minimum step")
        });
    }
}

impl Climate {
    /// Returns the link of a terminal whose measurements take effect after `delay`, unless it is specified.
    pub fn link(&self, delay: Duration) -> AdaptiveLink {
        let decibels = |value| Decibels::new(value).unwrap_or_default();
        AdaptiveLink {
            fade: RainFade {
                // Without rain e^X is negligible.
                mean: if self.rain_median > 0.0 { libm::log(self.rain_median) } else { -50.0 },
                deviation: if self.rain_median > 0.0 { self.rain_deviation } else { 0.0 },
                correlation_time: self.rain_correlation,
                offset: decibels(self.rain_offset),
            },
            clear_sky: decibels(self.clear_sky),
            symbol_rate: SYMBOL_RATE,
            margin: decibels(self.acm_margin),
            hysteresis: decibels(self.acm_hysteresis),
            loop_delay: self.acm_delay.unwrap_or(delay),
            step: self.acm_step,
            modcods: waveforms(),
            power_control: None,
            frames: None,
        }
    }
}

/// Returns the waveforms by increasing threshold.
fn waveforms() -> Arc<[Modcod]> {
    let waveform = |&(_, name, payload, threshold): &(u8, &'static str, u32, f64)| Modcod {
        name: Cow::Borrowed(name),
        bits_per_symbol: f64::from(payload * 8) / SYMBOLS,
        threshold,
        frame: None,
    };
    WAVEFORMS.iter().map(waveform).collect()
}

/// Waveform of a terminal over time. Steps are drawn when the terminal sends.
#[derive(Clone, Debug)]
pub(super) struct Weather {
    link: AdaptiveLink,
    adaptation: Adaptation,
    /// Number of steps that were drawn, at least one.
    steps: u64,
    present: Adapted,
}

impl Weather {
    /// Returns the weather at time zero, drawn from `random`.
    pub(super) fn new(link: AdaptiveLink, random: RandomStream) -> Self {
        let mut adaptation = Adaptation::new(&link, random);
        let present = adaptation.step(&link);
        Self { link, adaptation, steps: 1, present }
    }

    /// Advances to `now`, which never decreases.
    pub(super) fn advance(&mut self, now: Instant) {
        while self.next_step() <= now {
            self.present = self.adaptation.step(&self.link);
            self.steps += 1;
        }
    }

    /// Returns the start of the next step.
    pub(super) fn next_step(&self) -> Instant {
        Instant::ZERO + self.link.step * self.steps
    }

    /// Returns the payload of the current waveform in bytes; `None` in an outage.
    pub(super) fn payload(&self) -> Option<u32> {
        self.present.modcod.map(|index| WAVEFORMS[index].2)
    }

    /// Returns true if a burst with the current waveform is decoded.
    pub(super) fn is_decoded(&self) -> bool {
        self.present.modcod.is_some_and(|index| self.present.ratio >= WAVEFORMS[index].3)
    }

    /// Returns true if a burst with the lowest waveform is decoded.
    pub(super) fn is_robust(&self) -> bool {
        self.present.ratio >= WAVEFORMS[0].3
    }
}

/// Payload of the lowest waveform in bytes, which random access and control slots use.
pub(super) const ROBUST_PAYLOAD: u32 = WAVEFORMS[0].2;

#[cfg(test)]
mod tests {
    use super::*;

    fn weather(climate: &Climate, name: &str) -> Weather {
        Weather::new(climate.link(Duration::from_millis(260)), RandomStream::new(1, name))
    }

    #[test]
    fn waveforms_carry_more_at_higher_thresholds_below_the_capacity_of_the_channel() {
        for pair in WAVEFORMS.windows(2) {
            assert!(pair[0].0 < pair[1].0 && pair[0].2 < pair[1].2 && pair[0].3 < pair[1].3, "{pair:?}");
        }
        for (id, name, payload, threshold) in WAVEFORMS {
            let efficiency = f64::from(payload * 8) / SYMBOLS;
            let limit = libm::log2(1.0 + libm::pow(10.0, threshold / 10.0));
            assert!(efficiency < limit, "{id} {name}: {efficiency} bit/symbol of {limit}");
        }
    }

    #[test]
    fn without_rain_the_waveform_follows_from_the_clear_sky() {
        for (clear_sky, payload) in
            [(-0.5, None), (0.0, Some(123)), (2.7, Some(188)), (10.0, Some(400)), (30.0, Some(599))]
        {
            let climate = Climate { clear_sky, ..Climate::default() };
            let mut weather = weather(&climate, "clear");
            assert_eq!(weather.payload(), payload, "{clear_sky} dB");
            weather.advance(Instant::ZERO + Duration::from_secs(1000));
            assert_eq!((weather.payload(), weather.is_decoded()), (payload, payload.is_some()), "{clear_sky} dB");
        }
    }

    #[test]
    fn each_waveform_is_used_as_often_as_the_distribution_of_rain_says() {
        let climate = Climate {
            clear_sky: 12.0,
            rain_median: 3.0,
            rain_deviation: 0.8,
            rain_correlation: Duration::from_secs(20),
            acm_margin: 0.0,
            acm_hysteresis: 0.0,
            ..Climate::default()
        };
        let mut weather = weather(&climate, "rain");
        // Steps of half a correlation time: 200,000 s are 10⁴ correlation times.
        let (count, step) = (20_000_u32, Duration::from_secs(10));
        let mut used = [0_u32; 11];
        for number in 0..count {
            weather.advance(Instant::ZERO + step * u64::from(number));
            let index = weather
                .payload()
                .map_or(0, |payload| 1 + WAVEFORMS.iter().position(|waveform| waveform.2 == payload).unwrap());
            used[index] += 1;
        }
        // P(A ≤ a) = Φ(ln(a / 3) / 0.8), a = 12 dB - threshold.
        let reached = |threshold: f64| match 12.0 - threshold {
            reserve if reserve > 0.0 => 0.5 * libm::erfc(-libm::log(reserve / 3.0) / 0.8 / std::f64::consts::SQRT_2),
            _ => 0.0,
        };
        for (index, many) in used.iter().enumerate() {
            let at_least = if index == 0 { 1.0 } else { reached(WAVEFORMS[index - 1].3) };
            let expected = at_least - WAVEFORMS.get(index).map_or(0.0, |next| reached(next.3));
            let measured = f64::from(*many) / f64::from(count);
            // Steps have a correlation of e^(−1/2) and below: at most (1 + ρ)/(1 − ρ) = 4.1 times the variance of
            // independent ones. Four deviations.
            let deviation = libm::sqrt(expected * (1.0 - expected) * 4.1 / f64::from(count));
            assert!((measured - expected).abs() < 4.0 * deviation + 1e-6, "{index}: {measured}, not {expected}");
        }
    }
}
