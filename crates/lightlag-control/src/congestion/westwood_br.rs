//! WestwoodBR: a variant of Westwood that distinguishes transmission errors from congestion, and immediately
//! retransmits all outstanding data after an error.
//!
//! Yang, Wang, Sanadidi, Gerla, "TCP Westwood with bulk repeat" (TCPW-BR), about 2002. Its summaries establish four
//! mechanisms: loss discrimination by the rate gap and by spikes of the RTT, bulk repeat (BR), a fixed retransmission
//! timeout (FRTO) and an intelligent window adjustment (IWA). Their rules are **reconstructed**; the paper was not
//! available. B is the bandwidth of [`westwood`](super::westwood), W the window in segments:
//!
//! - a loss or timeout outside a spike is attributed to errors if B·RTTmin ≥ θ·W, θ = 0.8, that is, if the rate does
//!   not lag behind the window;
//! - a spike (the scheme of Tobe and others, with the constants of Cen, Cosman, Voelker 2003) starts at RTTmin +
//!   (RTTmax − RTTmin)/2 and ends below RTTmin + (RTTmax − RTTmin)/3; there are no spikes while RTTmax − RTTmin is
//!   below `spike_floor` = 10 ms, because delayed ACKs alone change the RTT by this much;
//! - error: W and ssthresh stay (IWA), all outstanding data that is not SACKed is retransmitted immediately (BR), and a
//!   timeout is not doubled (FRTO);
//! - congestion, mark: as in Westwood.
//!
//! B falls while no ACK arrives, so repeated timeouts without an ACK soon count as congestion.

use super::about::{About, Deviation, Provenance, Signal};
use super::hystart;
use super::registry::Algorithm;
use super::westwood::{Tustin, Westwood};
use super::{Ack, Cause, Congestion, CongestionControl, ConnectionStart, Diagnosis, Needs, Window, WindowBased};
use lightlag_core::{Duration, Unit, settings};

settings! {
    /// Parameters of WestwoodBR.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// tau: time constant of the bandwidth filter.
        filter_time: Duration = Duration::from_millis(500) => time_up_to(Duration::from_secs(3600));
        /// Minimum ratio of the window that the rate fills to the actual window, for a loss to count as an error.
        rate_gap: f64 = 0.8 => quantity(Unit::Plain, 0.0, 10.0);
        /// Start of spikes in the range of round-trip times: 0 is the minimum, 1 the maximum. A loss in a spike is
        /// congestion.
        spike_start: f64 = 0.5 => quantity(Unit::Plain, 0.0, 1.0);
        /// End of spikes in the range of round-trip times: 0 is the minimum, 1 the maximum.
        spike_end: f64 = 1.0 / 3.0 => quantity(Unit::Plain, 0.0, 1.0).by_default("1/3");
        /// Minimum range of round-trip times in which there can be spikes.
        spike_floor: Duration = Duration::from_millis(10) => time_up_to(Duration::from_secs(3600));
        + /// Slow start.
        hystart: hystart::Config = hystart::Config::default() => hystart::settings("standard");
    }
}

/// Detector of spikes, in which the RTT is near its maximum.
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

/// State of WestwoodBR: as Westwood, except for its reaction to errors.
pub struct WestwoodBr {
    config: Config,
    westwood: Westwood<Tustin>,
    spike: Spike,
    /// Whether the last episode was attributed to errors.
    error: bool,
}

impl WestwoodBr {
    /// Creates WestwoodBR in slow start, with the initial window.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
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
        about: "Westwood that distinguishes link errors from congestion by the rate of the ACKs and by spikes of the \
                round-trip time. After an error the window stays, all outstanding data is retransmitted immediately, \
                and a timeout is not doubled. Under heavy losses many segments are retransmitted unnecessarily.",
        equations: &[
            "rate:        B by the filter of westwood",
            "spike:       starts at RTTmin + (RTTmax - RTTmin)/2, ends below RTTmin + (RTTmax - RTTmin)/3",
            "error:       no spike, and B RTTmin >= 0.8 W",
            "  loss:      W and ssthresh stay; all outstanding data without a SACK is retransmitted immediately",
            "  timeout:   the same, and the timeout is not doubled",
            "congestion:  ssthresh = max(B RTTmin, 2), W = min(W, ssthresh);  timeout: W = 1",
            "growth:      as newreno",
        ],
        source: "Yang, Wang, Sanadidi, Gerla, \"TCP Westwood with bulk repeat\", about 2002; spikes: Cen, Cosman, Voelker, \
                 \"End-to-end differentiation of congestion and wireless losses\", IEEE/ACM ToN 11(5), 2003",
        year: 2002,
        signal: Signal::LossAndRate,
        details: r#"
            Summaries of the paper establish four mechanisms: loss discrimination by rate gap and RTT spikes, bulk repeat
            (BR), a fixed retransmission timeout (FRTO) and an intelligent window adjustment (IWA). The paper was not
            available.

            1/2 and 1/3 are `spike_start` and `spike_end`, 0.8 is `rate_gap`. There is no spike while RTTmax − RTTmin is
            below `spike_floor` = 10 ms. A mark counts as congestion. B falls while no ACKs arrive, so that a timeout
            after such a time counts as congestion. Without SACK the repair of an error continues as after a timeout,
            with an unchanged window: duplicate ACKs carry no information about copies.

            One loss causes a window of retransmissions: over 550 ms and 10 Mbit/s they are a sixth of all segments at a
            loss rate of 10⁻³, and a quarter at 10⁻². For scattered losses with SACK its goodput there is lower than
            with `westwood`, which retransmits only lost data.
        "#,
        variants: &[],
        deviations: &[
            Deviation {
                scope: "",
                source: "the rules of the four mechanisms are not in the summaries",
                here: "the rules above; constants of spikes from Cen, Cosman, Voelker (2003)",
                reason: "the paper was not available",
            },
            Deviation {
                scope: "spikes",
                source: "one-way times detect a spike (Tobe and others)",
                here: "the RTT detects it",
                reason: "the sender has no other measurement",
            },
        ],
        checks: "Both conditions at their bounds; both repairs segment by segment; the cost of one loss in the simulator; over \
                 550 ms and 10 Mbit/s more than twice the goodput of NewReno at 10⁻³ and 10⁻², with each of five seeds.",
        not_modelled: "",
    };

    // After an error the window stays constant while the loss is repaired.
    const NEEDS: Needs = Needs { bulk_repeat: true, controls_recovery: true, ..Needs::NONE };

    fn check(&self) -> Result<(), String> {
        if self.filter_time < Duration::from_millis(1) {
            return Err(format!("filter_time: {} is below 1 ms", self.filter_time));
        }
        if self.spike_end > self.spike_start {
            return Err(format!("spike_end: {} is above spike_start, which is {}", self.spike_end, self.spike_start));
        }
        self.hystart.check()
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        Box::new(WestwoodBr::new(self, start))
    }
}

#[cfg(test)]
mod tests;
