//! Jersey (TCP-J): estimates the capacity of the path from the rate of ACKs, and uses ECN marks to distinguish
//! congestion losses from others.
//!
//! Xu, Tian, Ansari, "TCP-Jersey for wireless IP communications", IEEE JSAC 22(4), 2004. **Reconstructed** from its
//! abstract, from a public ns-3 port, and from the form of its estimator that later papers quote; the paper was not
//! available. W in segments, R in segments per second:
//!
//! - estimate at an ACK of L segments, a time t after the last ACK: R = (Tw·R + L)/(t + Tw), Tw = K·RTT, K = 1; R
//!   starts at zero;
//! - ownd = R·RTT;
//! - congestion warning (CW): routers mark all packets while their average queue exceeds a threshold (the discipline
//!   `step` with a `weight`), and ACKs echo the mark (`ecn = "classic"`);
//! - growth as NewReno, but none while a warning is echoed;
//! - warning without a loss, once per window: ssthresh = ownd, W = min(W, ownd);
//! - loss while a warning is echoed: ssthresh = W = ownd; loss without a warning: counts as a transmission error, W
//!   stays;
//! - timeout: ssthresh = ownd, W = 1.
//!
//! RTT is SRTT by default. With RTTmin (`window_rtt`) a warning also drains the queue, whose delay is a part of SRTT.
//!
//! Two rules are our own. A reaction never increases the window. If the endpoints did not negotiate ECN, so that no
//! router can warn, each loss sets W = min(W, R·RTTmin), as in Westwood: otherwise only a timeout would ever reduce the
//! window. If they did, but the bottleneck does not mark, only a timeout reduces the window; the protocol requires
//! routers that mark.

use super::about::{About, Deviation, Provenance, Signal};
use super::hystart;
use super::registry::Algorithm;
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, ConnectionStart, Needs, SlowStart, Window};
use lightlag_core::{Duration, Instant, Unit, settings, words};

words! {
    /// Round-trip time used in ownd.
    pub enum WindowRtt {
        /// SRTT.
        Smoothed = "srtt",
        /// The minimum round-trip sample.
        Smallest = "min_rtt",
    }
}

settings! {
    /// Parameters of Jersey.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// K: window of the rate estimate.
        estimate_rtts: f64 = 1.0 => quantity(Unit::Plain, 0.01, 1000.0).unit("round trips");
        /// Round-trip time in ownd; with min_rtt a warning also drains the queue.
        window_rtt: WindowRtt = WindowRtt::Smoothed => choice("a value");
        + /// Slow start.
        hystart: hystart::Config = hystart::Config::default() => hystart::settings("standard");
    }
}

/// Estimate of the available rate in segments per second: ABE, available bandwidth estimation.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckRate {
    rate: f64,
    rtts: f64,
    last: Option<Instant>,
}

impl AckRate {
    /// Creates an estimate of zero, with a filter window of this many round-trip times.
    pub(super) fn new(rtts: f64) -> Self {
        Self { rate: 0.0, rtts, last: None }
    }

    /// Adds an ACK; `acked` is the number of segments that it acknowledged or SACKed.
    pub(super) fn on_ack(&mut self, ack: &Ack, acked: f64) {
        if acked == 0.0 || ack.srtt.is_zero() {
            return;
        }
        if let Some(last) = self.last.replace(ack.now) {
            let window = self.rtts * ack.srtt.as_secs_f64();
            self.rate = (window * self.rate + acked) / (ack.now.since(last).as_secs_f64() + window);
        }
    }

    /// Returns the number of segments that fill a path with this round-trip time.
    pub(super) fn fills(&self, rtt: Duration) -> f64 {
        // Before the first sample there is no rate either.
        if rtt == Duration::MAX { 0.0 } else { self.rate * rtt.as_secs_f64() }
    }
}

/// State of Jersey.
pub struct Jersey {
    config: Config,
    window: Window,
    slow_start: SlowStart,
    estimate: AckRate,
    /// Whether the endpoints negotiated ECN, so that routers can warn.
    warnings: bool,
    /// Whether the newest ACK echoed a mark.
    warned: bool,
}

impl Jersey {
    /// Creates Jersey in slow start, with the initial window.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
        Self {
            window: Window::new(start),
            slow_start: SlowStart::new(&config.hystart, start),
            estimate: AckRate::new(config.estimate_rtts),
            warnings: start.ecn,
            warned: false,
            config: config.clone(),
        }
    }

    /// Returns ownd in segments.
    fn path(&self, event: &Congestion) -> f64 {
        let smoothed = self.warnings && self.config.window_rtt == WindowRtt::Smoothed;
        self.estimate.fills(if smoothed { event.srtt } else { event.min_rtt })
    }
}

window_based!(Jersey);

impl CongestionControl for Jersey {
    fn on_ack(&mut self, ack: &Ack) {
        self.warned = ack.ece;
        self.estimate.on_ack(ack, self.window.in_segments(ack.newly_delivered));
        if ack.may_grow() {
            self.slow_start.grow_as_reno(ack, &mut self.window);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        if event.cause == Cause::Loss && self.warnings && !self.warned {
            return self.window.keep();
        }
        self.window.reduce(event, self.path(event));
    }

    fn leave_slow_start(&mut self) {
        self.window.leave_slow_start();
    }
}

impl Algorithm for Config {
    const PROVENANCE: Provenance = Provenance::Reconstructed;
    const ABOUT: About = About {
        about: "Sets the window from the rate of the ACKs, and lets routers report congestion: they mark all packets \
                while their average queue is long (discipline step with a weight, ecn = \"classic\"). A loss with a \
                warning sets the window to the estimated capacity of the path; a loss without a warning leaves it \
                unchanged.",
        equations: &[
            "ACK of L:  R = (Tw R + L)/(t + Tw), t since the last ACK, Tw = K SRTT, K = 1;  ownd = R SRTT",
            "growth:    as newreno, none while a warning is echoed",
            "warning:   without a loss, once per window: ssthresh = max(ownd, 2), W = min(W, ssthresh)",
            "loss:      with a warning: the same; without one: W and ssthresh stay",
            "no ECN:    loss: ssthresh = max(R RTTmin, 2), W = min(W, ssthresh)",
            "timeout:   ssthresh = max(ownd, 2), W = 1",
        ],
        source: "Xu, Tian, Ansari, \"TCP-Jersey for wireless IP communications\", IEEE JSAC 22(4), 2004",
        year: 2004,
        signal: Signal::LossAndRate,
        details: r#"
            Later papers establish the estimator, congestion warnings, and that a loss without a warning is an error. The
            paper was not available. K is `estimate_rtts`; R starts at zero. `window_rtt = "min_rtt"` uses the minimum RTT
            in ownd, which also empties the queue.

            Routers warn by marking all packets while their average queue is above a threshold, and ACKs echo the mark:

            <!-- part of: geo -->
            ```toml
            [[links]]
            queue = { discipline = "step", limit = "500 packets", threshold = "50 packets", weight = 0.02 }

            [[flows]]
            tcp = { congestion = "jersey", ecn = "classic" }
            ```

            With ECN and a bottleneck that does **not** mark, only a timeout reduces the window, and the queue stays full:
            the protocol relies on marking routers.
        "#,
        variants: &[],
        deviations: &[
            Deviation {
                scope: "",
                source: "a reaction sets W to ownd",
                here: "W is never larger than before",
                reason: "a loss must not increase the rate",
            },
            Deviation {
                scope: "no ECN",
                source: "paths without ECN are not specified",
                here: "each loss sets ssthresh = max(R RTTmin, 2), as in `westwood`",
                reason: "otherwise only a timeout would reduce W",
            },
            Deviation {
                scope: "",
                source: "R is updated after each ACK",
                here: "not after ACKs that deliver nothing",
                reason: "a duplicate ACK without SACK carries no amount",
            },
        ],
        checks: "The estimator; every reaction; growth; over 550 ms and 10 Mbit/s with the queue above, the queue stays below \
                 60 packets without a loss, and a loss of 10⁻² leaves 0.69 of the link (0.17 without warnings).",
        not_modelled: "",
    };

    fn check(&self) -> Result<(), String> {
        self.hystart.check()
    }

    fn needs(&self, ecn: bool) -> Needs {
        // Without a warning the window stays constant while a loss is repaired.
        Needs { controls_recovery: ecn, ..Needs::NONE }
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        Box::new(Jersey::new(self, start))
    }
}

#[cfg(test)]
mod tests;
