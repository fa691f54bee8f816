//! Westwood+: Westwood with one sample per round trip, which bunched ACKs do not disturb.
//!
//! Grieco, Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP congestion control",
//! ACM CCR 34(2), 2004. The window and the count of ACKs are those of [`westwood`](super::westwood):
//!
//! - sample, once per SRTT: b = segments acknowledged since the last sample, over that time;
//! - filter: B = 7/8·B + 1/8·b, from zero;
//! - loss, mark: ssthresh = B·RTTmin, W = min(W, ssthresh); timeout: the same ssthresh, W = 1.
//!
//! `linux` is the estimate of tcp_westwood.c: the first sample is used unfiltered, the others pass the filter twice,
//! and a sample spans more than the newest RTT and 50 ms. `ns3` is that of ns-3: B = 0.9·B + 0.1·(b + last b)/2. The
//! kernel reduces to that window when the recovery ends, and to half before, and measures RTTmin anew after a timeout.
//! Here the reaction is the paper's, and RTTmin the connection's.

use super::hystart;
use super::registry::{About, Algorithm};
use super::westwood::{Estimator, Westwood};
use super::{Ack, CongestionControl, Start};
use lightlag_core::params::Setting;
use lightlag_core::{Duration, Instant};

/// Linux: the shortest span of a sample.
const LEAST_SPAN: Duration = Duration::from_millis(50);

/// Parameters of Westwood+.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// The source of the filter.
    pub filter: Filter,
    /// Slow start.
    pub hystart: hystart::Config,
}

/// The source of the filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// 7/8 of the old value, once.
    #[default]
    Paper,
    /// The same twice, on samples of at least 50 ms.
    Linux,
    /// 9/10 of the old value, and the mean of two samples.
    Ns3,
}

/// The estimate of one sample a round trip.
struct Rounds {
    filter: Filter,
    begin: Option<Instant>,
    acked: f64,
    bandwidth: f64,
    /// The intermediate value of the filter: after one pass, or the last sample.
    between: f64,
    is_first: bool,
}

impl Rounds {
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

impl Estimator for Rounds {
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
        about: "Westwood with one bandwidth sample each round trip, so that ACKs which a queue has pushed together do \
                not make the estimate too large. A loss sets the window to that bandwidth times the smallest \
                round-trip time.",
        equations: &[
            "sample, once an RTT:  b = acknowledged/time;  filter:  B = 7/8 B + 1/8 b",
            "linux: the filter twice, samples of at least 50 ms;  ns3: B = 0.9 B + 0.1 (b + last b)/2",
            "growth:   as newreno",
            "loss:     ssthresh = max(B RTTmin, 2), W = min(W, ssthresh)",
            "timeout:  the same ssthresh, W = 1",
        ],
        source: "Grieco, Mascolo, \"Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP \
                 congestion control\", ACM CCR 34(2), 2004",
    };

    fn settings() -> Vec<Setting<Self>> {
        let filter: Setting<Self> = Setting::word(
            "filter",
            "a value",
            &["paper", "linux", "ns3"],
            |config: &Self| config.filter as usize,
            |config: &mut Self, word| config.filter = [Filter::Paper, Filter::Linux, Filter::Ns3][word],
        )
        .by_default("paper")
        .about("Whose bandwidth filter: the paper's, that of linux, or that of ns3.");
        [vec![filter], hystart::settings("standard")].concat()
    }

    fn check(&self) -> Result<(), String> {
        self.hystart.check()
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Westwood::new(Rounds::new(self.filter), 0.0, &self.hystart, start))
    }
}

impl hystart::Choosable for Config {
    fn hystart(&mut self) -> &mut hystart::Config {
        &mut self.hystart
    }
}

#[cfg(test)]
mod tests;
