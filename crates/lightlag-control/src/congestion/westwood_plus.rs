//! Westwood+: Westwood with one bandwidth sample per round trip, so that bunched ACKs do not disturb the estimate.
//!
//! Grieco, Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP congestion control",
//! ACM CCR 34(2), 2004. The window and the counting of ACKs are as in [`westwood`](super::westwood):
//!
//! - sample, once per SRTT: b = segments acknowledged since the last sample, divided by the time since then;
//! - filter: B = 7/8·B + 1/8·b, from zero;
//! - loss, mark: ssthresh = B·RTTmin, W = min(W, ssthresh); timeout: the same ssthresh, W = 1.
//!
//! The filter `linux` follows tcp_westwood.c: the first sample is used unfiltered, the others pass the filter twice,
//! and a sample spans more than the newest RTT and more than 50 ms. The filter `ns3` follows ns-3: B = 0.9·B + 0.1·(b +
//! last b)/2. The kernel reduces the window to half at a loss and to B·RTTmin only when recovery ends, and measures
//! RTTmin again after a timeout. Here the reaction is as in the paper, and RTTmin is the minimum of the connection.

use super::about::{About, Signal};
use super::hystart;
use super::registry::Algorithm;
use super::westwood::{ESTIMATE, ESTIMATE_CHECKS, Estimator, Westwood};
use super::{Ack, CongestionControl, ConnectionStart};
use lightlag_core::{Duration, Instant, settings, words};

/// Linux: minimum duration of a sample.
const LEAST_SPAN: Duration = Duration::from_millis(50);

settings! {
    /// Parameters of Westwood+.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// Source of the bandwidth filter: the paper, linux or ns3.
        filter: Filter = Filter::default() => choice("a value");
        + /// Slow start.
        hystart: hystart::Config = hystart::Config::default() => hystart::settings("standard");
    }
}

words! {
    /// Specification or program that defines the filter.
    pub enum Filter {
        /// One pass, with 7/8 of the old value and 1/8 of the new one.
        Paper = "paper",
        /// Two such passes, on samples over at least 50 ms.
        Linux = "linux",
        /// 9/10 of the old value, and 1/10 of the mean of the last two samples.
        Ns3 = "ns3",
    }
}

/// Bandwidth estimate with one sample per round trip.
struct RoundSamples {
    filter: Filter,
    begin: Option<Instant>,
    acked: f64,
    bandwidth: f64,
    /// Intermediate value of the filter: its output after the first pass (linux), or the last sample (ns3).
    between: f64,
    is_first: bool,
}

impl RoundSamples {
    fn new(filter: Filter) -> Self {
        Self { filter, begin: None, acked: 0.0, bandwidth: 0.0, between: 0.0, is_first: true }
    }

    fn is_over(&self, ack: &Ack, since: Duration) -> bool {
        match self.filter {
            Filter::Linux => ack.rtt.is_some_and(|rtt| since > rtt.max(LEAST_SPAN)),
            Filter::Paper | Filter::Ns3 => !ack.srtt.is_zero() && since >= ack.srtt,
        }
    }

    fn take(&mut self, sample: f64) {
        let eighth = |old: f64, new: f64| 0.875 * old + 0.125 * new;
        match self.filter {
            Filter::Paper => self.bandwidth = eighth(self.bandwidth, sample),
            Filter::Linux if self.is_first => (self.between, self.bandwidth) = (sample, sample),
            Filter::Linux => {
                self.between = eighth(self.between, sample);
                self.bandwidth = eighth(self.bandwidth, self.between);
            }
            Filter::Ns3 => {
                self.bandwidth = 0.9 * self.bandwidth + 0.1 * (sample + self.between) / 2.0;
                self.between = sample;
            }
        }
        self.is_first = false;
    }
}

impl Estimator for RoundSamples {
    fn on_ack(&mut self, ack: &Ack, acked: f64) {
        let Some(begin) = self.begin else {
            self.begin = Some(ack.now);
            return;
        };
        self.acked += acked;
        let since = ack.now.since(begin);
        if self.is_over(ack, since) {
            self.take(self.acked / since.as_secs_f64());
            self.acked = 0.0;
            self.begin = Some(ack.now);
        }
    }

    fn bandwidth(&mut self, _now: Instant) -> f64 {
        self.bandwidth
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "Westwood with one bandwidth sample per round trip, so that ACKs in bunches do not make the estimate too \
                large. A loss sets the window to the estimate times the minimum round-trip time.",
        equations: &[
            "sample, once per SRTT:  b = acknowledged/time;  filter:  B = 7/8 B + 1/8 b",
            "growth:   as newreno",
            "loss:     ssthresh = max(B RTTmin, 2), W = min(W, ssthresh)",
            "timeout:  the same ssthresh, W = 1",
            "filter = \"linux\":  the filter twice;  filter = \"ns3\":  B = 0.9 B + 0.1 (b + last b)/2",
        ],
        source: "Grieco, Mascolo, \"Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP \
                 congestion control\", ACM CCR 34(2), 2004",
        year: 2004,
        signal: Signal::LossAndRate,
        details: ESTIMATE,
        variants: &[
            ("paper", "The filter of the equations."),
            (
                "linux",
                "The filter twice in succession. The first sample is used unchanged; a sample covers more than the \
                       newest RTT and 50 ms.",
            ),
            ("ns3", "B = 0.9 B + 0.1 (b + last b)/2."),
        ],
        deviations: &[],
        checks: ESTIMATE_CHECKS,
        not_modelled: "Two rules of the kernel: it resets RTTmin after a timeout, and it reduces the window to B RTTmin when \
                       the recovery ends.",
    };

    fn check(&self) -> Result<(), String> {
        self.hystart.check()
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        Box::new(Westwood::new(RoundSamples::new(self.filter), 0.0, &self.hystart, start))
    }
}

#[cfg(test)]
mod tests;
