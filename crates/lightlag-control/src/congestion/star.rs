//! STAR: the window that the path holds, during and after errors of a satellite link.
//!
//! Obata, Ishida, Takeuchi, Hanasaki, "TCP-STAR: TCP congestion control method for satellite internet", IEICE
//! Transactions on Communications E89-B(6), 2006. Established by its abstract are three mechanisms at the sender:
//! congestion window setting (CWS), lift window control (LWC) and acknowledgement error notification (AEN).
//! **Reconstructed** are their rules; the paper was not available. W in segments, R the estimate of
//! [`jersey`](super::jersey):
//!
//! - ownd = R·RTTmin;
//! - CWS: loss, mark: ssthresh = max(ownd, W/2), W = min(W, ssthresh); timeout: ssthresh = ownd, W = 1;
//! - LWC: in avoidance each counted segment adds max(1/W, min(1, (ownd − W)/W)): at least Reno's growth, and at most
//!   that of slow start while the path holds more;
//! - AEN: a timeout may come from lost or late ACKs. While no sign of a loss has come, the timer waits once more for
//!   its margin over SRTT, 4·RTTVAR (`ack_patience`). A timeout that proves spurious by the signs that the connection
//!   looks for (`eifel`, `dsack_undo`, `frto`) is undone with its reduction, and the remaining data is not sent again.

use super::hystart;
use super::jersey::AckRate;
use super::registry::{About, Algorithm, Provenance};
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, Diagnosis, Needs, SlowStart, Start, Window};
use lightlag_core::Unit;
use lightlag_core::params::Setting;

/// Parameters of STAR.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The estimator's window in round-trip times.
    pub estimate_rtts: f64,
    /// Whether a timeout waits once more for ACKs.
    pub ack_patience: bool,
    /// Slow start.
    pub hystart: hystart::Config,
}

impl Default for Config {
    fn default() -> Self {
        Self { estimate_rtts: 1.0, ack_patience: true, hystart: hystart::Config::default() }
    }
}

/// The window of STAR.
pub struct Star {
    window: Window,
    slow_start: SlowStart,
    estimate: AckRate,
    /// A timeout has waited since the last new ACK.
    waited: bool,
}

impl Star {
    /// STAR in slow start, at the initial window.
    pub fn new(config: &Config, start: &Start) -> Self {
        Self {
            window: Window::new(start),
            slow_start: SlowStart::new(&config.hystart, start),
            estimate: AckRate::new(config.estimate_rtts),
            waited: false,
        }
    }
}

window_based!(Star);

impl CongestionControl for Star {
    fn on_ack(&mut self, ack: &Ack) {
        self.estimate.on_ack(ack, self.window.in_segments(ack.newly_delivered));
        if ack.newly_acked > 0 {
            self.waited = false;
        }
        if !ack.may_grow() {
            return;
        }
        let left = self.slow_start.grow(ack, &mut self.window, ack.growth, 1.0);
        if left > 0.0 {
            let window = self.window.segments();
            let room = (self.estimate.fills(ack.min_rtt) - window) / window;
            self.window.grow(left * room.min(1.0).max(1.0 / window));
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        let path = self.estimate.fills(event.min_rtt);
        let lost = matches!(event.cause, Cause::Loss | Cause::Mark);
        let least = if lost { self.window.segments() / 2.0 } else { 0.0 };
        self.window.reduce(event, path.max(least));
    }

    fn leave_slow_start(&mut self) {
        self.window.leave_slow_start();
    }

    fn diagnosis(&mut self) -> Option<&mut dyn Diagnosis> {
        Some(self)
    }
}

impl Diagnosis for Star {
    fn bears_silence(&mut self) -> bool {
        !std::mem::replace(&mut self.waited, true)
    }
}

impl Algorithm for Config {
    const PROVENANCE: Provenance = Provenance::Reconstructed;
    const ABOUT: About = About {
        about: "For satellite links with errors: a loss leaves what the ACKs say the path holds (CWS), growth \
                lifts the window quickly to that (LWC), and a timeout waits once more while nothing but silence says that \
                something is lost (AEN). Established are the three mechanisms and what each is for; their rules are ours. \
                What AEN takes back after a timeout depends on the connection: eifel, dsack_undo, frto.",
        equations: &[
            "ACK of L:  R = (Tw R + L)/(t + Tw), t since the last ACK, Tw = K SRTT;  ownd = R RTTmin",
            "CWS:       loss, mark: ssthresh = max(ownd, W/2, 2), W = min(W, ssthresh)",
            "LWC:       avoidance, per counted segment: W += max(1/W, min(1, (ownd - W)/W))",
            "AEN:       first timeout, no duplicate ACK, nothing SACKed: 4 RTTVAR later",
            "timeout:   ssthresh = max(ownd, 2), W = 1",
        ],
        source: "Obata, Ishida, Takeuchi, Hanasaki, \"TCP-STAR: TCP congestion control method for satellite internet\", \
                 IEICE Transactions on Communications E89-B(6), 2006",
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
            Setting::flag("ack_patience", |config: &mut Self| &mut config.ack_patience)
                .by_default("true")
                .about("Whether a timeout without any sign of a loss waits once more for 4 RTTVAR."),
        ];
        [own, hystart::settings("standard")].concat()
    }

    fn check(&self) -> Result<(), String> {
        self.hystart.check()
    }

    fn needs(&self, _ecn: bool) -> Needs {
        Needs { patience: self.ack_patience, ..Needs::NONE }
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Star::new(self, start))
    }
}

impl hystart::Choosable for Config {
    fn hystart(&mut self) -> &mut hystart::Config {
        &mut self.hystart
    }
}

#[cfg(test)]
mod tests;
