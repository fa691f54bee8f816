//! Minstrel-HT: chooses rates by their past success, as described in Linux (`net/mac80211/rc80211_minstrel_ht.c`).

use super::{Choice, Controller, PpduOutcome};
use crate::phy::PhyMode;
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Bytes, Duration, Instant, RandomStream};

/// Settings of Minstrel-HT.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MinstrelHt {
    /// Duration of a window of statistics. At its end they are merged with the earlier ones.
    pub window: Duration,
    /// Weight of the earlier windows in the moving average, in percent.
    pub memory: f64,
    /// Number of frames between two probes of other rates, in addition to two A-MPDUs (`minstrel_ht_tx_status`).
    pub sampling: u32,
}

impl Default for MinstrelHt {
    fn default() -> Self {
        Self { window: Duration::from_millis(50), memory: 75.0, sampling: 16 }
    }
}

impl Described for MinstrelHt {
    const ABOUT: &'static str = "The rate with the best throughput, by the success ratio of each rate in windows of \
         50 ms with a moving average; the second best after two failures in a row, the most reliable after four. \
         Single frames probe other rates (Minstrel-HT of Linux).";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::time("window", |c: &mut Self| &mut c.window).about("Length of a window of statistics."),
            Setting::number("memory", |c: &mut Self| &mut c.memory, 0, 99.0)
                .about("Weight of earlier windows in the moving average, in percent."),
            Setting::count("sampling", |c: &mut Self| &mut c.sampling, 1000, "a number of frames", "").about(
                "Number of frames between two probes of other rates, in addition to two A-MPDUs \
                     (minstrel_ht_tx_status).",
            ),
        ]
    }
}

/// Frame size in bytes with which durations are compared (`AVG_PKT_SIZE`).
const USUAL: u32 = 1200;

/// A rate with a success ratio below `POOR` has no throughput, and a ratio above `ENOUGH` counts as `ENOUGH`
/// (`minstrel_ht_get_tp_avg`).
const POOR: f64 = 0.1;
const ENOUGH: f64 = 0.9;

/// A rate with a success ratio above `CERTAIN` is not probed (`minstrel_ht_sample_rate`). A rate slower than the
/// current ones is probed only after `PATIENCE` others were passed over.
const CERTAIN: f64 = 0.95;
const PATIENCE: u32 = 20;

/// Number of frames between two probes while some rates have never been used.
const AT_FIRST: f64 = 2.0;

/// Time around the frames of a PPDU in nanoseconds: interframe space, backoff, headers and acknowledgement.
const AROUND: f64 = 170e3;

#[derive(Debug)]
struct Rate {
    mode: PhyMode,
    /// Duration of the data of a typical frame, in nanoseconds.
    time: f64,
    /// Number of frames sent and of frames that arrived in this window.
    sent: u32,
    arrived: u32,
    success: Option<f64>,
}

#[derive(Debug)]
pub(super) struct State {
    config: MinstrelHt,
    rates: Vec<Rate>,
    random: RandomStream,
    /// `best` has the two rates with the best throughput, `reliable` is the most reliable rate.
    best: [usize; 2],
    reliable: usize,
    window_ends: Option<Instant>,
    /// Mean number of frames per PPDU.
    together: f64,
    /// Number of consecutive PPDUs without a reply.
    unanswered: u32,
    /// `until_trial` is the number of frames until the next probe, `passed` the number of rates that were passed over
    /// since the last slow one.
    until_trial: f64,
    passed: u32,
    /// Rates in the order in which they will be probed.
    order: Vec<usize>,
}

impl State {
    pub(super) fn new(config: MinstrelHt, modes: &[PhyMode], random: RandomStream) -> Self {
        let rate = |mode: &PhyMode| {
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

    /// Returns the expected throughput of a rate in frames per nanosecond.
    fn throughput(&self, rate: usize) -> f64 {
        let entry = &self.rates[rate];
        match entry.success {
            Some(success) if success >= POOR => success.min(ENOUGH) / (AROUND / self.together + entry.time),
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
        // The fastest of those that nearly always arrive, or else the one that most often does
        // (`minstrel_ht_set_best_prob_rate`).
        self.reliable = (1..self.rates.len()).fold(0, |reliable, rate| {
            let is_better = if success(rate) > CERTAIN && success(reliable) > CERTAIN {
                self.throughput(rate) > self.throughput(reliable)
            } else {
                success(rate) > success(reliable)
            };
            if is_better { rate } else { reliable }
        });
    }

    /// Returns the next rate that is worth probing.
    fn trial(&mut self) -> Option<usize> {
        if self.order.is_empty() {
            self.order = (0..self.rates.len()).collect();
            for last in (1..self.order.len()).rev() {
                let with = (self.random.uniform() * (last + 1) as f64) as usize;
                self.order.swap(last, with.min(last));
            }
        }
        let rate = self.order.pop()?;
        let entry = &self.rates[rate];
        let is_known = entry.success.is_some_and(|success| success > CERTAIN);
        if self.best.contains(&rate) || rate == self.reliable || is_known {
            return None;
        }
        let is_slow = entry.time >= self.rates[self.best[1]].time && entry.time >= self.rates[self.reliable].time;
        if is_slow && entry.success.is_some() {
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

    fn learn(&mut self, PpduOutcome { mode, sent, arrived, .. }: PpduOutcome) {
        if let Some(rate) = self.rates.iter_mut().find(|rate| rate.mode == mode) {
            rate.sent += sent;
            rate.arrived += arrived;
        }
        self.until_trial -= f64::from(sent);
        self.together += (f64::from(sent) - self.together) / 8.0;
        self.unanswered = if arrived == 0 { self.unanswered + 1 } else { 0 };
    }
}
