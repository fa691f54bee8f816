//! WestwoodBR: a Westwood that distinguishes errors from congestion, and repeats all outstanding data at once after an
//! error.
//!
//! Yang, Wang, Sanadidi, Gerla, "TCP Westwood with bulk repeat" (TCPW-BR), about 2002. Established by its summaries are
//! four mechanisms: a loss discrimination by the rate gap and by spikes of the RTT, bulk repeat (BR), a fixed
//! retransmission timeout (FRTO) and an intelligent window adjustment (IWA). **Reconstructed** are their rules; the
//! paper was not available. B is the bandwidth of [`westwood`](super::westwood), W the window in segments:
//!
//! - a loss or timeout is an error if B·RTTmin ≥ θ·W, θ = 0.8 (the rate does not lag behind the window), outside a
//!   spike;
//! - a spike (the scheme of Tobe and others, with the constants of Cen, Cosman, Voelker 2003) starts at RTTmin +
//!   (RTTmax − RTTmin)/2 and ends below RTTmin + (RTTmax − RTTmin)/3; there is none while RTTmax − RTTmin is below
//!   `spike_floor` = 10 ms, because delayed ACKs alone move the RTT;
//! - error: W and ssthresh stay (IWA), all outstanding data that is not SACKed leaves again at once (BR), and a timeout
//!   is not doubled (FRTO);
//! - congestion, mark: as Westwood.
//!
//! Silence lowers B, so timeouts without any ACK soon count as congestion.

use super::hystart;
use super::registry::{About, Algorithm, Provenance};
use super::westwood::{Tustin, Westwood};
use super::{Ack, Cause, Congestion, CongestionControl, Diagnosis, Needs, Start, Window, WindowBased};
use lightlag_core::params::Setting;
use lightlag_core::{Duration, Unit};

/// Parameters of WestwoodBR.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// τ: the time constant of Westwood's filter.
    pub filter_time: Duration,
    /// θ: the part of the window that the rate must fill for a loss to be an error.
    pub rate_gap: f64,
    /// The part of the RTT's range at which a spike starts.
    pub spike_start: f64,
    /// The part of the RTT's range below which it ends.
    pub spike_end: f64,
    /// The smallest range of the RTT in which spikes exist.
    pub spike_floor: Duration,
    /// Slow start.
    pub hystart: hystart::Config,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            filter_time: Duration::from_millis(500),
            rate_gap: 0.8,
            spike_start: 0.5,
            spike_end: 1.0 / 3.0,
            spike_floor: Duration::from_millis(10),
            hystart: hystart::Config::default(),
        }
    }
}

/// Whether the RTT is near its largest.
#[derive(Clone, Copy, Debug, Default)]
struct Spike {
    max_rtt: Duration,
    on: bool,
}

impl Spike {
    fn on_sample(&mut self, rtt: Duration, min_rtt: Duration, config: &Config) {
        self.max_rtt = self.max_rtt.max(rtt);
        let range = self.max_rtt.saturating_sub(min_rtt);
        if range < config.spike_floor {
            self.on = false;
            return;
        }
        let level = rtt.saturating_sub(min_rtt) / range;
        let border = if self.on { config.spike_end } else { config.spike_start };
        self.on = level >= border;
    }
}

/// The window of WestwoodBR: that of Westwood, except after an error.
pub struct WestwoodBr {
    config: Config,
    westwood: Westwood<Tustin>,
    spike: Spike,
    /// The last episode came from errors.
    error: bool,
}

impl WestwoodBr {
    /// WestwoodBR in slow start, at the initial window.
    pub fn new(config: &Config, start: &Start) -> Self {
        Self {
            westwood: Westwood::new(Tustin::new(config.filter_time), 0.0, &config.hystart, start),
            spike: Spike::default(),
            error: false,
            config: config.clone(),
        }
    }
}

impl WindowBased for WestwoodBr {
    fn shared(&self) -> &Window {
        self.westwood.shared()
    }

    fn shared_mut(&mut self) -> &mut Window {
        self.westwood.shared_mut()
    }
}

impl CongestionControl for WestwoodBr {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.spike.on_sample(rtt, ack.min_rtt, &self.config);
        }
        self.westwood.on_ack(ack);
    }

    fn on_congestion(&mut self, event: &Congestion) {
        let full = self.westwood.path(event) >= self.config.rate_gap * self.shared().segments();
        self.error = event.cause != Cause::Mark && !self.spike.on && full;
        if self.error {
            self.shared_mut().keep();
        } else {
            self.westwood.on_congestion(event);
        }
    }

    fn diagnosis(&mut self) -> Option<&mut dyn Diagnosis> {
        Some(self)
    }
}

impl Diagnosis for WestwoodBr {
    fn blames_errors(&self) -> bool {
        self.error
    }
}

impl Algorithm for Config {
    const PROVENANCE: Provenance = Provenance::Reconstructed;
    const ABOUT: About = About {
        about: "Westwood that tells errors of the path from congestion: by whether the rate of the ACKs fills \
                the window, and whether the round-trip time is near its largest. After an error the window stays (IWA), \
                everything outstanding leaves again at once (BR), and a timeout is not doubled (FRTO). Established are the \
                four mechanisms; their rules and constants are ours. It pays for heavy losses with copies that nobody needs.",
        equations: &[
            "rate:        B by the filter of westwood",
            "spike:       on from RTTmin + (RTTmax - RTTmin)/2 on, off below RTTmin + (RTTmax - RTTmin)/3",
            "error:       no spike, and B RTTmin >= 0.8 W",
            "  loss:      W and ssthresh stay; all that is outstanding and not SACKed leaves again at once",
            "  timeout:   the same, and the timeout is not doubled",
            "congestion:  ssthresh = max(B RTTmin, 2), W = min(W, ssthresh);  timeout: W = 1",
            "growth:      as newreno",
        ],
        source: "Yang, Wang, Sanadidi, Gerla, \"TCP Westwood with bulk repeat\", about 2002; spikes: Cen, Cosman, Voelker, \
                 \"End-to-end differentiation of congestion and wireless losses\", IEEE/ACM ToN 11(5), 2003",
    };

    // After an error the window stays constant while the loss is repaired.
    const NEEDS: Needs = Needs { bulk_repeat: true, own_recovery: true, ..Needs::NONE };

    fn settings() -> Vec<Setting<Self>> {
        let own: Vec<Setting<Self>> = vec![
            Setting::time_up_to("filter_time", |config: &mut Self| &mut config.filter_time, Duration::from_secs(3600))
                .by_default("500 ms")
                .unit("time")
                .about("tau: the time constant of the bandwidth filter."),
            Setting::quantity("rate_gap", |config: &mut Self| &mut config.rate_gap, Unit::Plain, 0.0, 10.0)
                .by_default("0.8")
                .about("The part of the window that the rate must fill in a loss by error."),
            Setting::quantity("spike_start", |config: &mut Self| &mut config.spike_start, Unit::Plain, 0.0, 1.0)
                .by_default("0.5")
                .about("The part of the range of round-trip times from which on a loss is congestion."),
            Setting::quantity("spike_end", |config: &mut Self| &mut config.spike_end, Unit::Plain, 0.0, 1.0)
                .by_default("1/3")
                .about("The part of that range below which it is none any more."),
            Setting::time_up_to("spike_floor", |config: &mut Self| &mut config.spike_floor, Duration::from_secs(3600))
                .by_default("10 ms")
                .unit("time")
                .about("A smaller range has no spikes."),
        ];
        [own, hystart::settings("standard")].concat()
    }

    fn check(&self) -> Result<(), String> {
        if self.filter_time < Duration::from_millis(1) {
            return Err(format!("filter_time: {} is below 1 ms", self.filter_time));
        }
        if self.spike_end > self.spike_start {
            return Err(format!("spike_end: {} is above spike_start, which is {}", self.spike_end, self.spike_start));
        }
        self.hystart.check()
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(WestwoodBr::new(self, start))
    }
}

impl hystart::Choosable for Config {
    fn hystart(&mut self) -> &mut hystart::Config {
        &mut self.hystart
    }
}

#[cfg(test)]
mod tests;
