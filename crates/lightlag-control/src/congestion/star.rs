//! STAR: keeps the window at the estimated capacity of the path, during and after errors of a satellite link.
//!
//! Obata, Ishida, Takeuchi, Hanasaki, "TCP-STAR: TCP congestion control method for satellite internet", IEICE
//! Transactions on Communications E89-B(6), 2006. Its abstract establishes three mechanisms at the sender: congestion
//! window setting (CWS), lift window control (LWC) and acknowledgement error notification (AEN). Their rules are
//! **reconstructed**; the paper was not available. W in segments, R the estimate of [`jersey`](super::jersey):
//!
//! - ownd = R·RTTmin;
//! - CWS: loss, mark: ssthresh = max(ownd, W/2), W = min(W, ssthresh); timeout: ssthresh = ownd, W = 1;
//! - LWC: in avoidance each counted segment adds max(1/W, min(1, (ownd − W)/W)): growth at least as in Reno, and at
//!   most as in slow start while W is below the capacity of the path;
//! - AEN: a timeout may come from lost or late ACKs. If there was no other sign of a loss, the timer waits once more,
//!   for its margin over SRTT, 4·RTTVAR (`timeout_grace`). If the connection detects that a timeout was spurious
//!   (`eifel`, `dsack_undo`, `frto`), its reduction is undone and the remaining data is not retransmitted.

use super::about::{About, Deviation, Provenance, Signal};
use super::hystart;
use super::jersey::AckRate;
use super::registry::Algorithm;
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, ConnectionStart, Diagnosis, Needs, SlowStart, Window};
use lightlag_core::{Unit, settings};

settings! {
    /// Parameters of STAR.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// K: window of the rate estimate.
        estimate_rtts: f64 = 1.0 => quantity(Unit::Plain, 0.01, 1000.0).unit("round trips");
        /// Whether a timeout without any other sign of a loss waits once more for 4 RTTVAR.
        timeout_grace: bool = true => flag();
        + /// Slow start.
        hystart: hystart::Config = hystart::Config::default() => hystart::settings("standard");
    }
}

/// State of STAR.
pub struct Star {
    window: Window,
    slow_start: SlowStart,
    estimate: AckRate,
    /// Whether a timeout has been postponed since the last ACK of new data.
    waited: bool,
}

impl Star {
    /// Creates STAR in slow start, with the initial window.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
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
        about: "For satellite links with errors. A loss sets the window to the capacity of the path, estimated from \
                the ACKs (CWS), growth quickly raises the window to that value (LWC), and a timeout without any sign \
                of a loss is postponed once (AEN).",
        equations: &[
            "ACK of L:  R = (Tw R + L)/(t + Tw), t since the last ACK, Tw = K SRTT;  ownd = R RTTmin",
            "CWS:       loss, mark: ssthresh = max(ownd, W/2, 2), W = min(W, ssthresh)",
            "LWC:       avoidance, per counted segment: W += max(1/W, min(1, (ownd - W)/W))",
            "AEN:       first timeout, no duplicate ACK, nothing SACKed: 4 RTTVAR later",
            "timeout:   ssthresh = max(ownd, 2), W = 1",
        ],
        source: "Obata, Ishida, Takeuchi, Hanasaki, \"TCP-STAR: TCP congestion control method for satellite internet\", \
                 IEICE Transactions on Communications E89-B(6), 2006",
        year: 2006,
        signal: Signal::LossAndRate,
        details: r#"
            The abstract establishes three mechanisms at the sender and the purpose of each: congestion window setting
            (CWS), lift window control (LWC) and acknowledgement error notification (AEN). R is the estimate of `jersey`.

            AEN adds the margin of the timeout over SRTT once more, 4 RTTVAR with the floors of the profile
            (`timeout_grace`). A postponed timeout is never earlier than RFC 6298 requires. The other half of AEN belongs
            to the connection: it undoes a spurious timeout and does not retransmit the rest (`eifel`, `dsack_undo`,
            `frto`).
        "#,
        variants: &[],
        deviations: &[
            Deviation {
                scope: "",
                source: "the rules of the three mechanisms are not in the abstract",
                here: "the rules above",
                reason: "the paper was not available",
            },
            Deviation {
                scope: "",
                source: "a reaction sets W to ownd",
                here: "W is never larger than before",
                reason: "a loss must not increase the rate",
            },
        ],
        checks: "The vector 1.25 MB/s · 0.5 s = 625 of 700 segments; LWC at its bounds; the timeout segment by segment; over \
                 550 ms and 10 Mbit/s at 10⁻³ more goodput than `jersey` and `westwoodbr`, as the abstract claims: 0.69 of the \
                 link as the mean of five seeds, against 0.54 each and 0.12 of NewReno.",
        not_modelled: "",
    };

    fn check(&self) -> Result<(), String> {
        self.hystart.check()
    }

    fn needs(&self, _ecn: bool) -> Needs {
        Needs { patience: self.timeout_grace, ..Needs::NONE }
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        Box::new(Star::new(self, start))
    }
}

#[cfg(test)]
mod tests;
