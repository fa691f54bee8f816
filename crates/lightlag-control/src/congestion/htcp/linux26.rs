//! H-TCP of Linux 2.6.22 (tcp_htcp.c), which ns-2's TCP-Linux contains, in whole segments and milliseconds:
//!
//! - Δ counts from the end of the last recovery; α = ⌊1 + 10(Δ − 1 s) + ((Δ − 1 s)/2)²⌋ after a second, else 1;
//! - α is scaled by the RTT: divided by ⌊0.8 s/RTTmin⌋/8 (at least 0.5 and at most 10), rounded down, at least 1; then
//!   multiplied by 2(1 − β);
//! - avoidance: W grows by a segment once the counted segments times α reach W; then the count restarts at 0 with a new
//!   α;
//! - RTT is SRTT. RTTmin and RTTmax are measured in avoidance only, RTTmax only from 3 RTTmin after the last recovery.
//!   RTTmax rises by at most 20 ms at a time; a loss reduces its distance from RTTmin by a twentieth;
//! - the throughput B is measured outside of recovery, each time over W − α segments and at least RTTmin; in its mean a
//!   new value has a weight of 1/4. If the largest values of B in two successive epochs differ by a fifth, β = 0.5,
//!   also at the loss after that;
//! - loss: ssthresh = ⌊β W⌋ with β in units of 1/128; in fast recovery the window does not fall below it. If RTTmin is
//!   at most 10 ms, β = 0.5.

use super::super::linux26::{Module, Sender, clock, jiffies};
use super::{Ack, Config, Congestion};
use crate::congestion::Phase;
use lightlag_core::Instant;

/// The value 1 in the fixed-point format of α and β.
const ONE: f64 = 128.0;
/// Minimum length of an epoch in RTTmin before its throughput and its largest RTT count.
const SETTLED: f64 = 3.0;
/// Maximum rise of RTTmax by one sample, in jiffies.
const MAX_RISE: f64 = 20.0;
/// Maximum RTTmin in jiffies for β = 0.5.
const SHORT: f64 = 10.0;

/// State of the module.
pub(super) struct HtcpLinux26 {
    config: Config,
    /// α, in units of 1/128.
    alpha: f64,
    beta: f64,
    /// Whether the throughput was steady at the last loss.
    is_steady: bool,
    /// Number of segments that the last ACK acknowledged.
    acked: f64,
    /// RTTmin in jiffies; zero before the first sample.
    min_rtt: f64,
    max_rtt: f64,
    /// End of the last recovery in jiffies; `None` before the first ACK.
    since: Option<f64>,
    throughput: Throughput,
}

/// Measurement of the throughput, in segments per second.
#[derive(Default)]
struct Throughput {
    mean: f64,
    max: f64,
    /// The largest mean in the previous epoch.
    last_max: f64,
    /// Segments of the current sample, and its start in jiffies.
    segments: f64,
    begin: f64,
}

impl HtcpLinux26 {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            config: config.clone(),
            alpha: ONE,
            beta: ONE * config.beta_min,
            is_steady: false,
            acked: 1.0,
            min_rtt: 0.0,
            max_rtt: 0.0,
            since: None,
            throughput: Throughput::default(),
        }
    }

    fn is_settled(&self, now: f64) -> bool {
        self.min_rtt > 0.0 && (self.time(now) / self.min_rtt).floor() > SETTLED
    }

    /// Returns Δ in jiffies.
    fn time(&self, now: f64) -> f64 {
        now - self.since.unwrap_or(now)
    }

    fn measure_rtt(&mut self, ack: &Ack, now: f64) {
        let rtt = jiffies(ack.srtt);
        if self.min_rtt > rtt || self.min_rtt == 0.0 {
            self.min_rtt = rtt;
        }
        if ack.phase == Phase::Open && self.is_settled(now) {
            self.max_rtt = self.max_rtt.max(self.min_rtt);
            if rtt <= self.max_rtt + MAX_RISE {
                self.max_rtt = self.max_rtt.max(rtt);
            }
        }
    }

    fn measure_throughput(&mut self, acked: f64, window: f64, now: f64) {
        let whole = (self.alpha / ONE).floor().max(1.0);
        let (is_settled, min_rtt) = (self.is_settled(now), self.min_rtt);
        let Throughput { mean, max, segments, begin, .. } = &mut self.throughput;
        *segments += acked;
        let time = now - *begin;
        if window < whole || *segments < window - whole || min_rtt == 0.0 || time < min_rtt {
            return;
        }
        let sample = (*segments * 1000.0 / time).floor();
        if is_settled {
            *mean = ((3.0 * *mean + sample) / 4.0).floor();
            *max = max.max(*mean);
        } else {
            (*mean, *max) = (sample, sample);
        }
        (*segments, *begin) = (0.0, now);
    }

    fn update_alpha(&mut self, now: f64) {
        let slow = jiffies(self.config.low_speed_time);
        let time = self.time(now);
        let mut factor = 1.0;
        if time > slow {
            let x = time - slow;
            let half = (x / 2.0).floor();
            factor += ((10.0 * x + (half * half / 1000.0).floor()) / 1000.0).floor();
        }
        if self.min_rtt > 0.0 {
            let scale = (8000.0 / (10.0 * self.min_rtt)).floor().clamp(4.0, 80.0);
            factor = (8.0 * factor / scale).floor().max(1.0);
        }
        self.alpha = 2.0 * factor * (ONE - self.beta);
    }

    fn update_beta(&mut self) {
        let Config { beta_min, beta_max, throughput_change, .. } = self.config;
        let (min_beta, max_beta) = ((ONE * beta_min).floor(), (ONE * beta_max).floor());
        let Throughput { max, last_max, .. } = self.throughput;
        self.throughput.last_max = max;
        self.beta = min_beta;
        if (max - last_max).abs() > throughput_change * last_max {
            self.is_steady = false;
        } else if self.is_steady && self.min_rtt > SHORT && self.max_rtt > 0.0 {
            self.beta = (self.min_rtt * ONE / self.max_rtt).floor().clamp(min_beta, max_beta);
        } else {
            self.is_steady = true;
        }
    }
}

impl Module for HtcpLinux26 {
    fn measure(&mut self, ack: &Ack, sender: &Sender) {
        let now = clock(ack.now);
        self.since.get_or_insert(now);
        if ack.phase == Phase::Open {
            self.acked = sender.window.in_segments(ack.newly_acked).floor();
            self.measure_throughput(self.acked, sender.whole(), now);
        } else {
            (self.throughput.segments, self.throughput.begin) = (0.0, now);
        }
    }

    fn avoid_congestion(&mut self, ack: &Ack, sender: &mut Sender) {
        let now = clock(ack.now);
        self.measure_rtt(ack, now);
        if (sender.count * self.alpha / ONE).floor() >= sender.whole() {
            sender.window.grow(1.0);
            sender.count = 0.0;
            self.update_alpha(now);
        } else {
            sender.count += self.acked;
        }
        self.acked = 1.0;
    }

    fn threshold(&mut self, window: f64, event: &Congestion) -> f64 {
        self.update_beta();
        self.update_alpha(clock(event.now));
        if self.min_rtt > 0.0 && self.max_rtt > self.min_rtt {
            self.max_rtt = self.min_rtt + ((self.max_rtt - self.min_rtt) * 0.95).floor();
        }
        window * self.beta / ONE
    }

    fn begin(&mut self, event: &Congestion) {
        self.since = Some(clock(event.now));
    }

    fn end(&mut self, now: Instant) {
        self.since = Some(clock(now));
    }

    fn least(&self, threshold: f64) -> f64 {
        threshold
    }
}

#[cfg(test)]
mod tests;
