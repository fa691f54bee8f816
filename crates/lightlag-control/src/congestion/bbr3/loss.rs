//! The effects of losses (draft-ietf-ccwg-bbr §5.5.10, §5.5.11). During a probe, losses set the long-term bound of the
//! flight; between probes they set the short-term bounds. A spurious loss is undone.

use super::states::State;
use super::{Bbr3, Evidence, Lost};
use crate::congestion::Phase;

/// BBRStartupFullLossCnt: number of lost ranges in a round that ends Startup.
const STARTUP_RANGES: u32 = 6;

/// The state before a loss episode, which is restored if the losses were spurious.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// Whether the state was saved in this episode.
    pub(super) saved: bool,
    /// The state (Startup or UP) that the losses ended, if they ended one.
    pub(super) state: Option<State>,
    bw_shortterm: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
}

impl Bbr3 {
    /// Handles a segment that was marked as lost (HandleLostPacket).
    pub(super) fn handle_lost_segment(&mut self, lost: &Lost) {
        if !self.range_open {
            self.range_open = true;
            self.loss_ranges += 1;
        }
        self.note_loss();
        if !self.is_bw_probe_sample {
            return;
        }
        let evidence = Evidence {
            lost: lost.lost_since as f64,
            tx_in_flight: lost.tx_in_flight as f64,
            app_limited: lost.app_limited,
        };
        if self.is_inflight_too_high(&evidence) {
            let tx_in_flight = self.inflight_at_loss(&evidence, lost.bytes as f64);
            self.handle_inflight_too_high(&Evidence { tx_in_flight, ..evidence });
        }
    }

    /// Notes that the current round has a loss (NoteLoss).
    fn note_loss(&mut self) {
        if !self.is_loss_in_round {
            self.loss_round_delivered = self.delivered;
            self.loss_round_due = true;
        }
        self.save_state_upon_episode();
        self.is_loss_in_round = true;
    }

    /// Handles a congestion mark: it counts as a loss, and during a probe as too many losses.
    pub(super) fn note_mark(&mut self) {
        self.note_loss();
        self.loss_round_due = false;
        if self.is_bw_probe_sample {
            let evidence = self.evidence;
            self.handle_inflight_too_high(&evidence);
        }
    }

    /// Returns true if the losses at a flight exceed the threshold (IsInflightTooHigh).
    pub(super) fn is_inflight_too_high(&self, evidence: &Evidence) -> bool {
        evidence.lost > evidence.tx_in_flight * self.config.loss_threshold
    }

    /// Returns the bytes in flight, within this segment, when the losses exceeded the threshold (InflightAtLoss).
    fn inflight_at_loss(&self, evidence: &Evidence, size: f64) -> f64 {
        let threshold = self.config.loss_threshold;
        let (inflight, lost) = (evidence.tx_in_flight - size, evidence.lost - size);
        let prefix = (threshold * inflight - lost) / (1.0 - threshold);
        (inflight + prefix).max(0.0)
    }

    /// Ends a probe whose losses exceed the threshold, and lowers the long-term bound (HandleInflightTooHigh).
    fn handle_inflight_too_high(&mut self, evidence: &Evidence) {
        self.prev_probe_too_high = true;
        // Once a probe.
        self.is_bw_probe_sample = false;
        if !evidence.app_limited {
            self.inflight_longterm = evidence.tx_in_flight.max(self.target_inflight() * self.config.beta);
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down();
        }
    }

    /// Returns true if the losses of the round that ends now are too many for Startup: it was in recovery for a full
    /// round, the loss rate is above the threshold, and many ranges were lost (§5.3.1.3).
    pub(super) fn is_startup_loss_too_high(&self) -> bool {
        self.state == State::Startup
            && self.phase == Phase::Recovery
            && self.is_loss_in_round
            && self.loss_ranges >= STARTUP_RANGES
            && self.is_inflight_too_high(&self.evidence)
    }

    /// Leaves Startup if the losses of the last round were too many (CheckStartupHighLoss).
    pub(super) fn end_startup_for_loss(&mut self) {
        self.undo.state = Some(State::Startup);
        self.full_bw_now = true;
        self.full_bw_reached = true;
        self.inflight_longterm = self.bdp_multiple(self.bw, 1.0).max(self.inflight_latest);
    }

    /// Saves the state for an undo, once in an episode of losses (SaveStateUponLoss).
    pub(super) fn save_state_upon_episode(&mut self) {
        self.save_window();
        if self.undo.saved {
            return;
        }
        self.undo = Undo {
            saved: true,
            state: None,
            bw_shortterm: self.bw_shortterm,
            inflight_shortterm: self.inflight_shortterm,
            inflight_longterm: self.inflight_longterm,
        };
    }

    /// Restores the saved state after a spurious loss (HandleSpuriousLossDetection).
    pub(super) fn handle_spurious_loss(&mut self) {
        self.restore_window();
        self.is_loss_in_round = false;
        self.reset_full_bw();
        self.bw_shortterm = self.bw_shortterm.max(self.undo.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(self.undo.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(self.undo.inflight_longterm);
        match self.undo.state {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if self.state != State::Up && self.state != State::ProbeRtt => self.start_refill(),
            _ => {}
        }
        self.undo.state = None;
    }
}
