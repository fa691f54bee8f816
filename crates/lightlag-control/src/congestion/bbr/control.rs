//! The pacing rate and the window, computed from model and state.

use super::states::State;
use super::{Bbr, LEAST};
use crate::congestion::path_model::whole;
use crate::congestion::{Ack, Departures, Phase};
use lightlag_core::Duration;

/// Ratio of the pacing rate to the bandwidth at a gain of 1; below 1, so that queues drain.
const PACED: f64 = 0.99;
/// Maximum extension of the window for aggregated ACKs: the data of this many seconds at BtlBw (Linux).
const MOST_AGGREGATED: f64 = 0.1;
/// Maximum size of a quantum in bytes (Linux: `GSO_LEGACY_MAX_SIZE` less headers).
const LARGEST_QUANTUM: f64 = 65_215.0;
/// Maximum size of a quantum in segments (Linux).
const MOST_OF_QUANTUM: f64 = 127.0;

impl Bbr {
    pub(super) fn start_rate(&mut self, rtt: Duration) {
        let paced = if self.tso { PACED } else { 1.0 };
        self.rate = self.high_gain() * paced * self.kept(self.initial_window / rtt.as_secs_f64().max(1e-9));
    }

    /// Returns the size of a burst in segments.
    pub(super) fn quantum(&self) -> f64 {
        if !self.tso {
            return 1.0;
        }
        let whole = libm::floor((self.rate / 1024.0).min(LARGEST_QUANTUM) / self.segment);
        whole.max(self.least_burst() as f64).min(MOST_OF_QUANTUM)
    }

    /// Returns the target flight for `gain`, quanta included. It follows from BtlBw even if a policer was detected
    /// (Linux).
    pub(super) fn inflight(&self, gain: f64) -> f64 {
        self.with_quanta(self.bandwidth_delay(gain, self.bandwidth.max()))
    }

    /// Returns `gain` times the bandwidth-delay product, in bytes; the initial window before the first round-trip time.
    pub(super) fn bandwidth_delay(&self, gain: f64, bandwidth: f64) -> f64 {
        if self.min_rtt == Duration::MAX {
            return self.initial_window;
        }
        let bytes = gain * bandwidth * self.min_rtt.as_secs_f64();
        if self.tso { libm::ceil(bytes / self.segment) * self.segment } else { bytes }
    }

    /// Adds three quanta to a flight: one for each end and one on the path.
    pub(super) fn with_quanta(&self, flight: f64) -> f64 {
        if self.min_rtt == Duration::MAX && !self.tso {
            return flight;
        }
        let probing = if self.state == State::ProbeBw(0) { 2.0 } else { 0.0 };
        let segments = flight / self.segment + 3.0 * self.quantum();
        // An even number delays fewer ACKs.
        let segments = if self.tso { 2.0 * libm::ceil(libm::floor(segments) / 2.0) } else { segments };
        (segments + probing) * self.segment
    }

    pub(super) fn target(&self) -> f64 {
        let excess = if self.config.ack_aggregation && self.filled {
            let most = whole(MOST_AGGREGATED * self.bandwidth(), if self.tso { self.segment } else { 0.0 });
            self.aggregation.excess().min(most)
        } else {
            0.0
        };
        self.with_quanta(self.bandwidth_delay(self.window_gain(), self.bandwidth()) + excess)
    }

    /// Returns the bytes that will be in flight when the next burst departs. Linux counts whole segments, and adds the
    /// burst only if the gain at the previous ACK was above 1 (`bbr_packets_in_net_at_edt`).
    pub(super) fn flight_at_departure(&self, ack: &Ack, flight: u64) -> f64 {
        if !self.tso {
            return flight as f64;
        }
        let delivered = whole(self.bandwidth() * ack.next_departure.since(ack.now).as_secs_f64(), self.segment);
        let next = if self.gain > 1.0 { self.quantum() * self.segment } else { 0.0 };
        (flight as f64 + next - delivered).max(0.0)
    }

    /// Saves the last window that neither a recovery nor PROBE_RTT had reduced.
    pub(super) fn save_window(&mut self) {
        let whole = self.phase == Phase::Open && self.state != State::ProbeRtt;
        self.prior_window = if whole { self.window } else { self.prior_window.max(self.window) };
    }

    pub(super) fn set_rate(&mut self, gain: f64) {
        let rate = gain * PACED * self.bandwidth();
        if self.filled || rate > self.rate {
            self.rate = rate;
        }
    }

    pub(super) fn set_window(&mut self, ack: &Ack) {
        let acked = ack.newly_delivered as f64;
        let flight = ack.inflight as f64;
        if acked == 0.0 {
            // An ACK that delivers nothing only applies the bounds of the window (Linux).
            return self.bound_for_probe_rtt();
        }
        if self.newly_lost > 0 {
            self.window = (self.window - self.newly_lost as f64).max(self.segment);
        }
        self.before = (self.window, acked);
        if ack.phase == Phase::Recovery && self.phase != Phase::Recovery {
            self.conserve = true;
            self.rounds.restart(self.delivered);
            self.window = flight + acked.max(self.segment);
        }
        self.phase = ack.phase;
        if self.conserve {
            self.window = self.window.max(flight + acked);
        } else {
            self.grow(acked);
        }
        self.bound_for_probe_rtt();
    }

    /// Moves the window towards the target, by at most the delivered bytes.
    pub(super) fn grow(&mut self, acked: f64) {
        let target = self.target();
        // Linux counts the SYN as delivered.
        let syn = if self.tso { self.segment } else { 0.0 };
        if self.filled {
            self.window = (self.window + acked).min(target);
        } else if self.window < target || self.delivered as f64 + syn < self.initial_window {
            self.window += acked;
        }
        self.window = self.window.max(LEAST * self.segment);
    }

    /// Returns the window of PROBE_RTT.
    pub(super) fn least_flight(&self) -> f64 {
        let least = LEAST * self.segment;
        if self.leo.is_some() { self.half_delay().max(least) } else { least }
    }

    pub(super) fn bound_for_probe_rtt(&mut self) {
        if self.state == State::ProbeRtt {
            self.window = self.window.min(self.least_flight());
        }
    }
}
