//! Careful Resume: jumps to a window that was used on the path before, at most half of it, paced, and with a safe
//! retreat.
//!
//! Kuhn, Stephan, Fairhurst, Secchi, Huitema, "Convergence of Congestion Control from Retained State", RFC 9959, in the
//! form of the last versions of draft-ietf-tsvwg-careful-resume (-23, -24), whose sections are cited below. The sender
//! starts with its normal congestion control. Once the initial data is acknowledged and the round-trip time resembles
//! the saved one, the window jumps:
//!
//! | phase | window | ends when |
//! |---|---|---|
//! | Reconnaissance §3.2 | normal | all initial data acknowledged: Unvalidated; congestion, or another RTT: Normal |
//! | Unvalidated §3.3 | min(max_jump, saved_cwnd/2), paced over an RTT | window filled, an RTT passed, or first unvalidated data acknowledged: Validating, or Normal with PipeSize if less than that is in flight; congestion, a shorter RTT: Safe Retreat |
//! | Validating §3.4 | flight, then normal | last unvalidated data acknowledged: Normal; congestion: Safe Retreat |
//! | Safe Retreat §3.5 | PipeSize/2, constant, without PRR | last unvalidated data acknowledged: Normal, ssthresh = β·PipeSize |
//! | Normal §3.7 | normal | |
//!
//! A timeout ends Careful Resume in every phase (§3.6). "Normal" is the behaviour of another algorithm, which Careful
//! Resume wraps. For each phase with a window of its own, the wrapped algorithm is rebuilt with that window, so that
//! none of its earlier measurements remain. β comes from the wrapped algorithm (§3.5: 0.5, for CUBIC 0.7).

use super::{
    Ack, Allowance, Cause, Choice, Congestion, CongestionControl, ConnectionStart, Departures, Diagnosis, GrowthEpoch,
    Internals, LEAST_BURST, Lost, Needs, Sent, Transmissions, build, custom,
};
use lightlag_core::params::refusal::{OptionError, error, in_range};
use lightlag_core::{Bytes, Duration, Instant, Rate};
use serde::{Deserialize, Serialize};

/// The saved state of a path, and how much of it is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Saved {
    /// The window that an earlier connection used on this path.
    #[serde(alias = "window")]
    pub saved_cwnd: Bytes,
    /// The smallest round-trip time of that connection.
    #[serde(alias = "rtt")]
    pub saved_rtt: Duration,
    /// Maximum window to jump to. Default: half of `saved_cwnd`, which is the upper bound in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_jump: Option<Bytes>,
    /// Source of the rules.
    #[serde(default, skip_serializing_if = "ResumeRule::is_default")]
    pub rule: ResumeRule,
}

/// Source of the rules by which saved state is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResumeRule {
    /// RFC 9959.
    #[default]
    Rfc9959,
    /// picoquic: the entire window, if the first round-trip sample differs by at most a quarter from the saved one.
    Picoquic,
}

impl ResumeRule {
    /// Returns true for RFC 9959.
    pub fn is_default(&self) -> bool {
        *self == Self::Rfc9959
    }
}

/// Largest window in bytes that can have been saved.
const MAX_SAVED: u64 = 1 << 40;

impl Saved {
    /// Checks the values, and that the algorithm has a window that can jump.
    ///
    /// # Errors
    /// If a value is outside its range or the algorithm is not based on a window.
    pub fn check(&self, congestion: &Choice) -> Result<(), OptionError> {
        self.check_values()?;
        if !self.rule.is_default() {
            let message = "picoquic is a rule of QUIC with profile = \"picoquic\"; remove it".to_owned();
            return error("careful_resume.rule", message);
        }
        if !congestion.is_window_based() {
            let name = congestion.name();
            let message = format!("{name} has no window that could jump; use \"cubic\" or \"newreno\", or remove it");
            return error("careful_resume", message);
        }
        Ok(())
    }

    /// Checks the values alone.
    ///
    /// # Errors
    /// If a value is outside its range.
    pub fn check_values(&self) -> Result<(), OptionError> {
        in_range("careful_resume.saved_cwnd", self.saved_cwnd.0, 1, MAX_SAVED, " B")?;
        in_range("careful_resume.max_jump", self.max_jump.unwrap_or(Bytes(1)).0, 1, MAX_SAVED, " B")?;
        if self.saved_rtt.is_zero() || self.saved_rtt > Duration::from_secs(86_400) {
            return error("careful_resume.saved_rtt", format!("{} is not above 0 s and at most a day", self.saved_rtt));
        }
        Ok(())
    }

    /// Returns jump_cwnd, the window to jump to, in bytes (§3.3).
    fn jump(&self) -> u64 {
        let half = self.saved_cwnd.0 / 2;
        self.max_jump.map_or(half, |most| most.0.min(half))
    }

    /// Returns true if this round-trip time is too short for the saved path (§3.2, §4.2.1).
    fn is_too_short(&self, rtt: Duration) -> bool {
        rtt <= self.saved_rtt / 2
    }

    /// Returns true if this round-trip time is too long for the saved path (§4.2.1).
    fn is_too_long(&self, rtt: Duration) -> bool {
        rtt > self.saved_rtt * 10
    }
}

/// The phase of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Reconnaissance,
    /// Sending the data beyond the normal window. `since`: start of the phase. `rtt`: its maximum duration. `first`:
    /// stream offset of the first unvalidated data.
    Unvalidated {
        since: Instant,
        rtt: Duration,
        first: u64,
    },
    /// Waiting until the unvalidated data, which ends at this offset, is acknowledged.
    Validating {
        last: u64,
    },
    /// Reduced window until the unvalidated data, which ends at this offset, is acknowledged. The next ACK sets the
    /// offset.
    SafeRetreat {
        last: Option<u64>,
    },
    Normal,
}

/// An algorithm, wrapped by Careful Resume.
pub struct CarefulResume {
    saved: Saved,
    choice: Choice,
    start: ConnectionStart,
    normal: Box<dyn CongestionControl>,
    stage: Stage,
    /// Window in bytes, for the phases that have their own.
    window: u64,
    /// Pacing rate for unvalidated data.
    rate: Option<Rate>,
    /// Bytes in flight before the jump, and bytes delivered and lost since the jump.
    flight: u64,
    delivered: u64,
    lost: u64,
    /// Whether the last reaction was the Safe Retreat, which is not undone if the loss was spurious.
    retreated: bool,
}

impl CarefulResume {
    /// Creates the chosen algorithm and wraps it.
    pub fn new(saved: Saved, choice: &Choice, start: &ConnectionStart) -> Self {
        Self {
            saved,
            choice: choice.clone(),
            start: *start,
            normal: build(choice, start),
            stage: Stage::Reconnaissance,
            window: 0,
            rate: None,
            flight: 0,
            delivered: 0,
            lost: 0,
            retreated: false,
        }
    }

    /// Returns what this algorithm needs if the wrapped one needs `normal`.
    pub fn needs(normal: Needs) -> Needs {
        Needs { rate: true, pacing: true, ..normal }
    }

    fn initial(&self) -> u64 {
        self.start.initial_window * self.start.segment_size
    }

    /// Returns PipeSize: the bytes that the path has carried. The flight before the jump counts once, as its ACKs carry
    /// no new information (appendix B.4: 29 before the jump and 34 unvalidated ones are 63).
    fn pipe_size(&self) -> u64 {
        self.delivered.max(self.flight)
    }

    /// Returns PipeSize after repairs: data that was lost, and arrived only when it was retransmitted, does not count
    /// as carried.
    fn repaired_pipe_size(&self) -> u64 {
        self.delivered.saturating_sub(self.lost).max(self.flight)
    }

    /// Rebuilds the wrapped algorithm with a window of `bytes`.
    fn rebuild(&mut self, now: Instant, bytes: u64, srtt: Duration) {
        let rtt = Some(srtt).filter(|rtt| !rtt.is_zero());
        let segments = bytes.div_ceil(self.start.segment_size);
        self.normal = build(&self.choice, &ConnectionStart { initial_window: segments, rtt, ..self.start });
        // This overrides the algorithm's own choice of an initial window.
        self.normal.on_idle(now, bytes, 0);
    }

    /// §3.2: jumps once the path is confirmed, if there is more data than the normal window allows.
    fn reconnoitre(&mut self, ack: &Ack) {
        if ack.snd_una < self.initial() || !ack.cwnd_limited {
            return;
        }
        let differs = self.saved.is_too_short(ack.min_rtt) || self.saved.is_too_long(ack.min_rtt);
        let jump = self.saved.jump();
        if differs || jump <= self.normal.window() {
            self.stage = Stage::Normal;
            return;
        }
        let rtt = ack.rtt.unwrap_or(ack.srtt);
        self.flight = ack.snd_nxt - ack.snd_una;
        self.window = jump;
        // §4.3.2: the window over the current round trip.
        let bits = jump as f64 * 8.0 / rtt.as_secs_f64().max(1e-9);
        self.rate = Rate::from_bps(bits as u64);
        self.stage = Stage::Unvalidated { since: ack.now, rtt, first: ack.snd_nxt };
    }

    /// §3.3: handles an ACK while unvalidated data is sent.
    fn try_out(&mut self, ack: &Ack, since: Instant, rtt: Duration, first: u64) {
        if ack.newly_lost > 0 || ack.ece {
            // The episode that starts now leads to Safe Retreat.
            return;
        }
        if ack.rtt.is_some_and(|rtt| self.saved.is_too_short(rtt)) {
            return self.retreat();
        }
        let flight = ack.snd_nxt - ack.snd_una;
        let filled = flight + ack.newly_acked + self.start.segment_size > self.window;
        if !filled && ack.snd_una <= first && ack.now.since(since) <= rtt {
            return;
        }
        let pipe_size = self.pipe_size();
        if flight < self.initial() || flight <= pipe_size {
            self.rebuild(ack.now, pipe_size.max(self.initial()), ack.srtt);
            self.stage = Stage::Normal;
        } else {
            self.rebuild(ack.now, flight, ack.srtt);
            self.stage = Stage::Validating { last: ack.snd_nxt };
        }
    }

    /// §3.4: ends the validation, in which nothing was lost. The normal algorithm leaves slow start (§4.6).
    fn validated(&mut self) {
        self.normal.leave_slow_start();
        self.stage = Stage::Normal;
    }

    /// §3.5: starts the Safe Retreat.
    fn retreat(&mut self) {
        self.window = (self.pipe_size() / 2).max(2 * self.start.segment_size);
        self.stage = Stage::SafeRetreat { last: None };
        self.retreated = true;
    }

    /// §3.5: ends the Safe Retreat, as all unvalidated data is acknowledged.
    fn end_retreat(&mut self, ack: &Ack) {
        let pipe_size = self.repaired_pipe_size();
        self.rebuild(ack.now, pipe_size, ack.srtt);
        let (now, srtt, min_rtt) = (ack.now, ack.srtt, ack.min_rtt);
        self.normal.on_congestion(&Congestion { now, cause: Cause::Loss, flight: pipe_size, srtt, min_rtt });
        self.normal.on_recovered(now);
        self.normal.on_idle(now, self.window, 0);
        self.stage = Stage::Normal;
    }

    /// Returns true if the wrapped algorithm controls the window.
    fn is_normal(&self) -> bool {
        matches!(self.stage, Stage::Reconnaissance | Stage::Validating { .. } | Stage::Normal)
    }
}

impl Allowance for CarefulResume {
    fn window(&self) -> u64 {
        if self.is_normal() { self.normal.window() } else { self.window }
    }

    fn ssthresh(&self) -> u64 {
        match self.stage {
            Stage::Unvalidated { .. } => u64::MAX,
            Stage::SafeRetreat { .. } => self.window,
            _ => self.normal.ssthresh(),
        }
    }
}

impl CongestionControl for CarefulResume {
    fn on_ack(&mut self, ack: &Ack) {
        self.delivered += ack.newly_delivered;
        match self.stage {
            Stage::Normal => self.normal.on_ack(ack),
            Stage::Reconnaissance => {
                self.normal.on_ack(ack);
                (self.delivered, self.lost) = (0, 0);
                self.reconnoitre(ack);
            }
            Stage::Unvalidated { since, rtt, first } => self.try_out(ack, since, rtt, first),
            Stage::Validating { last } => {
                self.normal.on_ack(ack);
                if ack.snd_una >= last {
                    self.validated();
                }
            }
            Stage::SafeRetreat { last } => {
                let last = last.unwrap_or(ack.snd_nxt);
                self.stage = Stage::SafeRetreat { last: Some(last) };
                if ack.snd_una >= last {
                    self.end_retreat(ack);
                }
            }
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        let timeout = matches!(event.cause, Cause::Timeout | Cause::RepeatedTimeout);
        match self.stage {
            Stage::Unvalidated { .. } | Stage::Validating { .. } if !timeout => self.retreat(),
            Stage::SafeRetreat { .. } if !timeout => {}
            Stage::Unvalidated { .. } | Stage::Validating { .. } | Stage::SafeRetreat { .. } => {
                // §3.6. Unvalidated data in flight does not measure the path.
                let flight = event.flight.min(self.repaired_pipe_size());
                self.normal.on_congestion(&Congestion { flight, ..*event });
                self.stage = Stage::Normal;
            }
            Stage::Reconnaissance | Stage::Normal => {
                self.stage = Stage::Normal;
                self.retreated = false;
                self.normal.on_congestion(event);
            }
        }
    }

    fn on_undo(&mut self, now: Instant) {
        if !self.retreated {
            self.normal.on_undo(now);
        }
    }

    fn on_idle(&mut self, now: Instant, window: u64, threshold: u64) {
        if !self.is_normal() {
            // Nothing is in flight: the path has carried the delivered data.
            self.rebuild(now, self.repaired_pipe_size(), Duration::ZERO);
        }
        self.stage = Stage::Normal;
        self.normal.on_idle(now, window, threshold);
    }

    fn on_recovered(&mut self, now: Instant) {
        if self.is_normal() {
            self.normal.on_recovered(now);
        }
    }

    fn refuses_prr(&self) -> bool {
        matches!(self.stage, Stage::SafeRetreat { .. })
    }

    fn internals(&self) -> Internals {
        if self.is_normal() { self.normal.internals() } else { Internals::default() }
    }

    fn epoch(&self) -> Option<GrowthEpoch> {
        if self.is_normal() { self.normal.epoch() } else { None }
    }

    fn departures(&self) -> Option<&dyn Departures> {
        Some(self)
    }

    fn transmissions(&mut self) -> Option<&mut dyn Transmissions> {
        Some(self)
    }

    fn diagnosis(&mut self) -> Option<&mut dyn Diagnosis> {
        Some(self)
    }

    fn fault(&self) -> Option<&custom::Fault> {
        self.normal.fault()
    }
}

impl Departures for CarefulResume {
    fn pacing_rate(&self) -> Option<Rate> {
        match self.stage {
            Stage::Unvalidated { .. } => self.rate,
            _ => self.normal.departures()?.pacing_rate(),
        }
    }

    fn least_burst(&self) -> u64 {
        self.normal.departures().map_or(LEAST_BURST, Departures::least_burst)
    }
}

impl Transmissions for CarefulResume {
    fn on_sent(&mut self, sent: &Sent) {
        if let Some(normal) = self.normal.transmissions() {
            normal.on_sent(sent);
        }
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.lost += lost.bytes;
        if let Some(normal) = self.normal.transmissions() {
            normal.on_lost(lost);
        }
    }
}

impl Diagnosis for CarefulResume {
    fn bears_silence(&mut self) -> bool {
        self.is_normal() && self.normal.diagnosis().is_some_and(Diagnosis::bears_silence)
    }
}

#[cfg(test)]
mod tests;
