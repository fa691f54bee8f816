//! The pacing rate and the window, computed from model and state (draft-ietf-ccwg-bbr §5.6).

use super::states::State;
use super::{Bbr3, LEAST, PACED, PROBE_RTT_WINDOW_GAIN, STARTUP_PACING_GAIN};
use crate::congestion::Phase;
use lightlag_core::Duration;

impl Bbr3 {
    /// Sets the initial pacing rate from a round-trip time (InitPacingRate).
    pub(super) fn start_rate(&mut self, rtt: Duration) {
        self.rate = STARTUP_PACING_GAIN * self.initial_window / rtt.as_secs_f64().max(1e-9);
    }

    /// Sets the pacing rate for a gain. Until the path was full once, the rate only rises (SetPacingRateWithGain).
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * PACED * self.bw;
        if self.full_bw_reached || rate > self.rate {
            self.rate = rate;
        }
    }

    /// Sets the window after `acked` more bytes were delivered (SetCwnd).
    pub(super) fn set_window(&mut self, acked: f64) {
        let max_inflight = self.max_inflight();
        if self.full_bw_reached {
            self.window = (self.window + acked).min(max_inflight);
        } else if self.window < max_inflight || (self.delivered as f64) < self.initial_window {
            self.window += acked;
        }
        self.window = self.window.max(LEAST * self.segment);
        self.bound_window();
    }

    /// Returns the maximum bytes in flight, aggregation included (UpdateMaxInflight).
    pub(super) fn max_inflight(&self) -> f64 {
        self.with_budget(self.bdp_multiple(self.bw, self.window_gain()) + self.aggregation.excess())
    }

    /// Applies the bounds of ProbeRTT and of the model to the window (BoundCwndForProbeRTT, BoundCwndForModel).
    pub(super) fn bound_window(&mut self) {
        if self.state == State::ProbeRtt {
            self.window = self.window.min(self.probe_rtt_window());
        }
        let bound = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        let bound = bound.min(self.inflight_shortterm).max(LEAST * self.segment);
        self.window = self.window.min(bound);
    }

    /// Returns the window in ProbeRTT (ProbeRTTCwnd).
    pub(super) fn probe_rtt_window(&self) -> f64 {
        self.bdp_multiple(self.bw, PROBE_RTT_WINDOW_GAIN).max(LEAST * self.segment)
    }

    /// Saves the last window that neither a recovery nor ProbeRTT had reduced (SaveCwnd).
    pub(super) fn save_window(&mut self) {
        let whole = self.phase == Phase::Open && self.state != State::ProbeRtt;
        self.prior_window = if whole { self.window } else { self.prior_window.max(self.window) };
    }

    /// Restores the saved window if it is larger (RestoreCwnd).
    pub(super) fn restore_window(&mut self) {
        self.window = self.window.max(self.prior_window);
    }
}
