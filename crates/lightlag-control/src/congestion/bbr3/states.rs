//! The states and their transitions (draft-ietf-ccwg-bbr §5.3, §5.4).

use super::{
    Ack, Bbr3, DEFAULT_WINDOW_GAIN, DRAIN_PACING_GAIN, PROBE_RTT_WINDOW_GAIN, RateSample, STARTUP_PACING_GAIN,
};
use crate::congestion::PathState;

/// Maximum number of rounds between two probes; the bound gives Reno flows their share.
const MOST_ROUNDS: f64 = 63.0;

/// The states of the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// Startup: doubles the rate each round.
    Startup,
    /// Drain: empties the queue that Startup made.
    Drain,
    /// ProbeBW_DOWN: sends below the bandwidth, until there is room.
    Down,
    /// ProbeBW_CRUISE: sends at the bandwidth, until it is time to probe.
    Cruise,
    /// ProbeBW_REFILL: fills the pipe for a round.
    Refill,
    /// ProbeBW_UP: sends above the bandwidth.
    Up,
    /// ProbeRTT: halves the flight, to measure the round-trip time.
    ProbeRtt,
}

/// Relation of the current ACKs to the last probe for bandwidth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AckPhase {
    /// There was no probe yet, or the feedback of the last probe has been evaluated.
    Init,
    /// REFILL is in progress.
    Refilling,
    /// UP has started, but the ACKs acknowledge data sent before UP.
    ProbeStarting,
    /// The ACKs acknowledge data sent in UP.
    ProbeFeedback,
    /// UP is over, but the ACKs still acknowledge data sent in UP.
    ProbeStopping,
}

impl State {
    /// Returns the name of the state in traces.
    pub(super) fn name(self) -> PathState {
        match self {
            Self::Startup => PathState::Startup,
            Self::Drain => PathState::Drain,
            Self::Down => PathState::ProbeBwDown,
            Self::Cruise => PathState::ProbeBwCruise,
            Self::Refill => PathState::ProbeBwRefill,
            Self::Up => PathState::ProbeBwUp,
            Self::ProbeRtt => PathState::ProbeRtt,
        }
    }
}

impl Bbr3 {
    pub(super) fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => STARTUP_PACING_GAIN,
            State::Drain => DRAIN_PACING_GAIN,
            State::Down => 0.9,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
            State::Up => 1.25,
        }
    }

    pub(super) fn window_gain(&self) -> f64 {
        match self.state {
            State::Up => 2.25,
            State::ProbeRtt => PROBE_RTT_WINDOW_GAIN,
            _ => DEFAULT_WINDOW_GAIN,
        }
    }

    /// Returns true in the four states of ProbeBW (IsInAProbeBWState).
    pub(super) fn is_in_probe_bw(&self) -> bool {
        matches!(self.state, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// Returns true in the states that probe for bandwidth (IsProbingBW).
    pub(super) fn is_probing_bw(&self) -> bool {
        matches!(self.state, State::Startup | State::Refill | State::Up)
    }

    /// Ends Startup if the path is full (CheckStartupDone).
    pub(super) fn check_startup_done(&mut self) {
        if self.is_held {
            return;
        }
        if self.startup_lost_too_much {
            self.startup_lost_too_much = false;
            self.end_startup_for_loss();
        }
        if self.state == State::Startup && self.full_bw_reached {
            self.state = State::Drain;
            self.drain_start_round = self.rounds.count;
        }
    }

    /// Ends Drain if the queue is empty, or after three rounds (CheckDrainDone).
    pub(super) fn check_drain_done(&mut self) {
        if self.state == State::Drain
            && (self.inflight <= self.inflight_at(self.bw, 1.0) || self.rounds.count > self.drain_start_round + 3)
        {
            self.start_down();
        }
    }

    /// Enters DOWN (StartProbeBW_DOWN).
    pub(super) fn start_down(&mut self) {
        self.reset_congestion_signals();
        self.probe_up_acked_per_inc = f64::INFINITY;
        // PickProbeWait.
        self.rounds_since_probe_up = self.random.bits() & 1;
        let random = self.random.uniform();
        self.bw_probe_wait = self.probe_wait(random);
        self.cycle_at = self.now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.rounds.restart(self.delivered);
        self.state = State::Down;
    }

    /// Enters REFILL (StartProbeBW_REFILL).
    pub(super) fn start_refill(&mut self) {
        self.reset_short_term_model();
        self.bw_probe_up_rounds = 0;
        self.bw_probe_up_acked = 0.0;
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.rounds.restart(self.delivered);
        self.state = State::Refill;
    }

    /// Enters UP (StartProbeBW_UP).
    fn start_up(&mut self, rate: f64) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.rounds.restart(self.delivered);
        self.reset_full_bw();
        self.full_bw = rate;
        self.state = State::Up;
        self.raise_inflight_longterm_slope();
    }

    /// Advances the cycle of ProbeBW (UpdateProbeBWCyclePhase).
    pub(super) fn update_probe_bw_cycle_phase(&mut self, ack: &Ack, rate: f64) {
        if !self.full_bw_reached || self.adapt_long_term_model(ack) {
            return;
        }
        let state = self.state;
        match state {
            State::Down => {
                if self.is_time_to_probe() {
                    self.start_refill();
                } else if self.is_time_to_cruise() {
                    self.state = State::Cruise;
                }
            }
            State::Cruise if self.is_time_to_probe() => self.start_refill(),
            State::Refill if self.rounds.started => {
                self.is_bw_probe_sample = true;
                self.start_up(rate);
            }
            State::Up if self.is_time_to_go_down(ack, rate) => {
                self.prev_probe_too_high = false;
                self.start_down();
            }
            _ => {}
        }
    }

    /// Adapts the long-term bounds to the feedback of a probe (AdaptLongTermModel). Returns true if it changed the
    /// state.
    fn adapt_long_term_model(&mut self, ack: &Ack) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.rounds.started {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.rounds.started {
            self.is_bw_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.is_in_probe_bw() && !self.evidence.app_limited {
                self.cycle += 1;
            }
            if self.is_in_probe_bw() && self.prev_probe_precautionary && !self.prev_probe_too_high {
                self.start_refill();
                return true;
            }
        }
        if self.inflight_longterm < f64::INFINITY && !self.is_inflight_too_high(&self.evidence) {
            self.inflight_longterm = self.inflight_longterm.max(self.evidence.tx_in_flight);
            if self.state == State::Up {
                self.probe_inflight_longterm_upward(ack);
            }
        }
        false
    }

    /// Returns true if it is time to probe (IsTimeToProbeBW, including IsRenoCoexistenceProbeTime).
    fn is_time_to_probe(&self) -> bool {
        let rounds = (self.target_inflight() / self.segment).min(MOST_ROUNDS);
        self.now > self.cycle_at + self.bw_probe_wait || self.rounds_since_probe_up as f64 >= rounds
    }

    /// Returns true if DOWN may end (IsTimeToCruise).
    pub(super) fn is_time_to_cruise(&self) -> bool {
        self.inflight <= self.inflight_with_headroom() && self.inflight <= self.inflight_at(self.max_bw.max(), 1.0)
    }

    /// Returns true if UP has to end (IsTimeToGoDown). The flight before the ACK is compared, as in Linux. It counts as
    /// at the bound if no further segment fits, because the bound is not a whole number of segments.
    fn is_time_to_go_down(&mut self, ack: &Ack, rate: f64) -> bool {
        if self.prev_probe_too_high && ack.prior_inflight as f64 + self.segment > self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if ack.cwnd_limited && self.window >= self.inflight_longterm {
            self.reset_full_bw();
            self.full_bw = rate;
            return false;
        }
        self.full_bw_now
    }

    /// Doubles the number of segments by which the bound rises in the next round of UP (RaiseInflightLongtermSlope).
    pub(super) fn raise_inflight_longterm_slope(&mut self) {
        let growth = f64::from(1_u32 << self.bw_probe_up_rounds);
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(30);
        self.probe_up_acked_per_inc = (self.window / growth).max(self.segment);
    }

    /// Raises the long-term bound in UP (ProbeInflightLongtermUpward).
    fn probe_inflight_longterm_upward(&mut self, ack: &Ack) {
        if !ack.cwnd_limited || self.window < self.inflight_longterm {
            return;
        }
        self.bw_probe_up_acked += ack.newly_delivered as f64;
        let segments = libm::floor(self.bw_probe_up_acked / self.probe_up_acked_per_inc);
        if segments >= 1.0 {
            self.bw_probe_up_acked -= segments * self.probe_up_acked_per_inc;
            self.inflight_longterm += segments * self.segment;
        }
        if self.rounds.started {
            self.raise_inflight_longterm_slope();
        }
    }

    /// Enters ProbeRTT if the minimum round-trip time is out of date, and advances it (CheckProbeRTT).
    pub(super) fn check_probe_rtt(&mut self, ack: &Ack, sample: &RateSample) {
        if self.state != State::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.state = State::ProbeRtt;
            self.save_window();
            self.probe_rtt_until = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.rounds.restart(self.delivered);
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(ack);
        }
        if sample.delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// Advances ProbeRTT (HandleProbeRTT).
    fn handle_probe_rtt(&mut self, ack: &Ack) {
        self.shallow.mark(self.delivered, ack.inflight);
        match self.probe_rtt_until {
            None if self.inflight <= self.probe_rtt_window() => {
                self.probe_rtt_until = Some(ack.now + self.config.probe_rtt);
                self.probe_rtt_round_done = false;
                self.rounds.restart(self.delivered);
            }
            None => {}
            Some(_) => {
                self.probe_rtt_round_done |= self.rounds.started;
                if self.probe_rtt_round_done {
                    self.check_probe_rtt_done();
                }
            }
        }
    }

    /// Leaves ProbeRTT once it has lasted long enough (CheckProbeRTTDone, ExitProbeRTT).
    fn check_probe_rtt_done(&mut self) {
        if self.probe_rtt_until.is_none_or(|until| self.now <= until) {
            return;
        }
        self.probe_rtt_min_at = self.now;
        self.restore_window();
        self.reset_short_term_model();
        if self.full_bw_reached {
            self.start_down();
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    /// Adjusts rate and state at the first transmission after an idle time (HandleRestartFromIdle).
    pub(super) fn restart_from_idle(&mut self) {
        self.idle_restart = true;
        self.aggregation.restart(self.now);
        if self.is_in_probe_bw() {
            self.set_pacing_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done();
        }
    }
}
