//! Minstrel-HT: rates by the success that they had, after its description in Linux (`net/mac80211/rc80211_minstrel_ht.c`).

use super::{Choice, Controller, Outcome};
use crate::phy::Mode;
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Bytes, Duration, Instant, RandomStream};

/// The window and the memory of its statistics.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MinstrelHt {
    /// The time after which the statistics of a window join those before.
    pub window: Duration,
    /// The weight of those before, in percent.
    pub memory: f64,
    /// Frames between two trials of other rates, besides two A-MPDUs (`minstrel_ht_tx_status`).
    pub sampling: u32,
}

impl Default for MinstrelHt {
    fn default() -> Self {
        Self { window: Duration::from_millis(50), memory: 75.0, sampling: 16 }
    }
}

impl Described for MinstrelHt {
    const ABOUT: &'static str = "The rate with the best throughput, from the success of each rate in windows of 50 ms with a moving average; the \
         second best after two failures in a row, the most reliable after four. Single frames try other rates out (Minstrel-HT of Linux).";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::time("window", |c: &mut Self| &mut c.window)
                .about("The time after which the statistics of a window join those before."),
            Setting::number("memory", |c: &mut Self| &mut c.memory, 0, 99.0)
                .about("The weight of those before, in percent."),
            Setting::count("sampling", |c: &mut Self| &mut c.sampling, 1000, "a number of frames", "")
                .about("Frames between two trials of other rates, besides two A-MPDUs (minstrel_ht_tx_status)."),
        ]
    }
}

/// The size of a frame by which times are compared (`AVG_PKT_SIZE`).
const USUAL: u32 = 1200;

/// Rates of a lower success carry nothing, and more than `ENOUGH` counts as that (`minstrel_ht_get_tp_avg`).
const POOR: f64 = 0.1;
const ENOUGH: f64 = 0.9;

/// A rate of more success needs no trial (`minstrel_ht_sample_rate`), and one that is slower than the present ones is tried
/// out only after so many others.
const CERTAIN: f64 = 0.95;
const PATIENCE: u32 = 20;

/// Frames between two trials while rates have not been tried out yet.
const AT_FIRST: f64 = 2.0;

/// The time around the frames of a PPDU: space, backoff, headers and acknowledgement.
const AROUND: f64 = 170e3;

#[derive(Debug)]
struct Rate {
    mode: Mode,
    /// The time of the data of a usual frame, in nanoseconds.
    time: f64,
    /// Frames in this window.
    sent: u32,
    arrived: u32,
    success: Option<f64>,
}

#[derive(Debug)]
pub(super) struct State {
    config: MinstrelHt,
    rates: Vec<Rate>,
    random: RandomStream,
    /// The rates with the best throughput, and the most reliable one.
    best: [usize; 2],
    reliable: usize,
    window_ends: Option<Instant>,
    /// The mean number of frames in a PPDU.
    together: f64,
    /// PPDUs in a row without an answer.
    unanswered: u32,
    /// Frames until the next trial, and rates that were passed over since the last slow one.
    until_trial: f64,
    passed: u32,
    /// Rates in the order in which they are tried out next.
    order: Vec<usize>,
}

impl State {
    pub(super) fn new(config: MinstrelHt, modes: &[Mode], random: RandomStream) -> Self {
        let rate = |mode: &Mode| {
            let time = mode.duration(Bytes(USUAL.into())).saturating_sub(mode.header_duration());
            Rate { mode: *mode, time: time.as_nanos() as f64, sent: 0, arrived: 0, success: None }
        };
        Self {
            config,
            rates: modes.iter().map(rate).collect(),
            random,
            best: [0, 0],
            reliable: 0,
            window_ends: None,
            together: 1.0,
            unanswered: 0,
            until_trial: 0.0,
            passed: 0,
            order: Vec::new(),
        }
    }

    /// Frames per nanosecond.
    fn throughput(&self, rate: usize) -> f64 {
        let of = &self.rates[rate];
        match of.success {
            Some(success) if success >= POOR => success.min(ENOUGH) / (AROUND / self.together + of.time),
            _ => 0.0,
        }
    }

    fn update(&mut self) {
        let memory = self.config.memory / 100.0;
        for rate in self.rates.iter_mut().filter(|rate| rate.sent > 0) {
            let now = f64::from(rate.arrived) / f64::from(rate.sent);
            rate.success = Some(rate.success.map_or(now, |before| memory * before + (1.0 - memory) * now));
            (rate.sent, rate.arrived) = (0, 0);
        }
        // Among equals, the slower rate.
        let mut best = [0, 0];
        for rate in 1..self.rates.len() {
            if self.throughput(rate) > self.throughput(best[0]) {
                best = [rate, best[0]];
            } else if best[1] == best[0] || self.throughput(rate) > self.throughput(best[1]) {
                best[1] = rate;
            }
        }
        self.best = best;
        let success = |rate: usize| self.rates[rate].success.unwrap_or(0.0);
        // The fastest of those that nearly always arrive, or else the one that most often does (`minstrel_ht_set_best_prob_rate`).
        self.reliable = (1..self.rates.len()).fold(0, |reliable, rate| {
            let is_better = if success(rate) > CERTAIN && success(reliable) > CERTAIN {
                self.throughput(rate) > self.throughput(reliable)
            } else {
                success(rate) > success(reliable)
            };
            if is_better { rate } else { reliable }
        });
    }

    /// The next rate that is worth a trial.
    fn trial(&mut self) -> Option<usize> {
        if self.order.is_empty() {
            self.order = (0..self.rates.len()).collect();
            for last in (1..self.order.len()).rev() {
                let with = (self.random.uniform() * (last + 1) as f64) as usize;
                self.order.swap(last, with.min(last));
            }
        }
        let rate = self.order.pop()?;
        let of = &self.rates[rate];
        let is_known = of.success.is_some_and(|success| success > CERTAIN);
        if self.best.contains(&rate) || rate == self.reliable || is_known {
            return None;
        }
        let is_slow = of.time >= self.rates[self.best[1]].time && of.time >= self.rates[self.reliable].time;
        if is_slow && of.success.is_some() {
            self.passed += 1;
            if self.passed < PATIENCE {
                return None;
            }
            self.passed = 0;
        }
        Some(rate)
    }
}

impl Controller for State {
    fn choose(&mut self, now: Instant) -> Choice {
        if self.window_ends.is_none_or(|end| now >= end) {
            self.update();
            self.window_ends = Some(now + self.config.window);
        }
        if self.until_trial <= 0.0 && self.unanswered == 0 {
            let is_new = self.rates.iter().any(|rate| rate.success.is_none());
            self.until_trial = if is_new { AT_FIRST } else { f64::from(self.config.sampling) + 2.0 * self.together };
            if let Some(rate) = self.trial() {
                return Choice { mode: self.rates[rate].mode, is_probe: true };
            }
        }
        let rate = match self.unanswered {
            0 | 1 => self.best[0],
            2 | 3 => self.best[1],
            _ => self.reliable,
        };
        Choice { mode: self.rates[rate].mode, is_probe: false }
    }

    fn learn(&mut self, Outcome { mode, sent, arrived, .. }: Outcome) {
        if let Some(rate) = self.rates.iter_mut().find(|rate| rate.mode == mode) {
            rate.sent += sent;
            rate.arrived += arrived;
        }
        self.until_trial -= f64::from(sent);
        self.together += (f64::from(sent) - self.together) / 8.0;
        self.unanswered = if arrived == 0 { self.unanswered + 1 } else { 0 };
    }
}
