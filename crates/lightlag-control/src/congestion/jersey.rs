//! Jersey (TCP-J): the ACK rate gives the capacity of the path, and marking routers tell whether a loss is congestion.
//!
//! Xu, Tian, Ansari, "TCP-Jersey for wireless IP communications", IEEE JSAC 22(4), 2004. **Reconstructed** from its
//! abstract, from a public ns-3 port, and from the form of its estimator that later papers quote; the paper was not
//! available. W in segments, R in segments a second:
//!
//! - estimate at an ACK of L segments, t after the last: R = (Tw·R + L)/(t + Tw), Tw = K·RTT, K = 1; from zero;
//! - ownd = R·RTT;
//! - congestion warning (CW): routers mark all packets while their average queue exceeds a threshold (the discipline `step`
//!   with a `weight`), and ACKs echo the mark (`ecn = "classic"`);
//! - growth as NewReno, but none while a warning is echoed;
//! - warning without a loss, once a window: ssthresh = ownd, W goes down to it;
//! - loss while a warning is echoed: ssthresh = W = ownd; loss without one: an error of the path, W stays;
//! - timeout: ssthresh = ownd, W = 1.
//!
//! RTT is SRTT. With RTTmin (`window_rtt`) a warning also empties the queue that SRTT contains.
//!
//! Two rules are ours. A reaction never opens the window. If the ends have no ECN, so that no router can warn, each
//! loss sets W = min(W, R·RTTmin), as in Westwood: otherwise only a timeout would ever reduce the window. With ECN on a
//! path whose bottleneck does not mark, only a timeout does; the protocol requires marks from the routers.

use super::hystart;
use super::registry::{About, Algorithm, Provenance};
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, Needs, SlowStart, Start, Window};
use lightlag_core::params::Setting;
use lightlag_core::{Duration, Instant, Unit};

/// The round-trip time in ownd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowRtt {
    /// SRTT.
    #[default]
    Smoothed,
    /// The smallest.
    Smallest,
}

impl WindowRtt {
    const ALL: [Self; 2] = [Self::Smoothed, Self::Smallest];
    const NAMES: [&'static str; 2] = ["srtt", "min_rtt"];
}

/// Parameters of Jersey.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// K: the estimator's window in round-trip times.
    pub estimate_rtts: f64,
    /// The round-trip time in ownd.
    pub window_rtt: WindowRtt,
    /// Slow start.
    pub hystart: hystart::Config,
}

impl Default for Config {
    fn default() -> Self {
        Self { estimate_rtts: 1.0, window_rtt: WindowRtt::Smoothed, hystart: hystart::Config::default() }
    }
}

/// The estimate of the available rate, in segments a second (ABE).
#[derive(Clone, Copy, Debug)]
pub(super) struct AckRate {
    rate: f64,
    rtts: f64,
    last: Option<Instant>,
}

impl AckRate {
    /// Starts at zero, with a window of this many round-trip times.
    pub(super) fn new(rtts: f64) -> Self {
        Self { rate: 0.0, rtts, last: None }
    }

    /// Takes in `acked` segments, acknowledged or SACKed.
    pub(super) fn on_ack(&mut self, ack: &Ack, acked: f64) {
        if acked == 0.0 || ack.srtt.is_zero() {
            return;
        }
        if let Some(last) = self.last.replace(ack.now) {
            let window = self.rtts * ack.srtt.as_secs_f64();
            self.rate = (window * self.rate + acked) / (ack.now.since(last).as_secs_f64() + window);
        }
    }

    /// Segments that fill a path with this round-trip time.
    pub(super) fn fills(&self, rtt: Duration) -> f64 {
        // Before the first sample there is no rate either.
        if rtt == Duration::MAX { 0.0 } else { self.rate * rtt.as_secs_f64() }
    }
}

/// The window of Jersey.
pub struct Jersey {
    config: Config,
    window: Window,
    slow_start: SlowStart,
    estimate: AckRate,
    /// The ends agreed on ECN.
    warnings: bool,
    /// The newest ACK echoes a mark.
    warned: bool,
}

impl Jersey {
    /// Jersey in slow start, at the initial window.
    pub fn new(config: &Config, start: &Start) -> Self {
        Self {
            window: Window::new(start),
            slow_start: SlowStart::new(&config.hystart, start),
            estimate: AckRate::new(config.estimate_rtts),
            warnings: start.ecn,
            warned: false,
            config: config.clone(),
        }
    }

    /// ownd.
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
        about: "The rate of the ACKs says what the path holds, and routers say whether a loss is congestion: \
                they mark all packets while their average queue is long (discipline step with a weight, ecn = \"classic\"). \
                Loss with a warning: the window becomes what the path holds. Loss without: it stays. Established are the \
                estimator and the two kinds of loss. Where the ends have no ECN each loss takes the window down to what the \
                path holds, which is ours.",
        equations: &[
            "ACK of L:  R = (Tw R + L)/(t + Tw), t since the last ACK, Tw = K RTT;  ownd = R RTT",
            "growth:    as newreno, none while a warning is echoed",
            "warning:   without a loss, once a window: ssthresh = max(ownd, 2), W = min(W, ssthresh)",
            "loss:      with a warning: the same; without one: W stays",
            "no ECN:    loss: ssthresh = max(R RTTmin, 2), W = min(W, ssthresh)",
            "timeout:   ssthresh = max(ownd, 2), W = 1",
        ],
        source: "Xu, Tian, Ansari, \"TCP-Jersey for wireless IP communications\", IEEE JSAC 22(4), 2004",
    };

    fn settings() -> Vec<Setting<Self>> {
        let own: Vec<Setting<Self>> = vec![
            Setting::quantity(
                "estimate_rtts",
                |config: &mut Self| &mut config.estimate_rtts,
                Unit::Plain,
                0.01,
                1000.0,
            )
            .by_default("1")
            .unit("round trips")
            .about("K: the window of the rate estimate."),
            Setting::word(
                "window_rtt",
                "a value",
                &WindowRtt::NAMES,
                |config: &Self| config.window_rtt as usize,
                |config: &mut Self, word| config.window_rtt = WindowRtt::ALL[word],
            )
            .by_default("srtt")
            .about("The round-trip time in ownd; with min_rtt a warning also empties the queue."),
        ];
        [own, hystart::settings("standard")].concat()
    }

    fn check(&self) -> Result<(), String> {
        self.hystart.check()
    }

    fn needs(&self, ecn: bool) -> Needs {
        // Without a warning the window stays constant while a loss is repaired.
        Needs { own_recovery: ecn, ..Needs::NONE }
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Jersey::new(self, start))
    }
}

impl hystart::Choosable for Config {
    fn hystart(&mut self) -> &mut hystart::Config {
        &mut self.hystart
    }
}

#[cfg(test)]
mod tests;
