//! Westwood+ of Linux 2.6.22 (tcp_westwood.c), which ns-2's TCP-Linux contains under the name `westwood`:
//!
//! - as in Reno: growth, and ssthresh = ⌊W/2⌋ after a loss or a timeout;
//! - after a loss W = max(B·RTTmin, ssthresh): B·RTTmin, at least 2, is the minimum window in fast recovery, and
//!   remains the window after it if it is above ssthresh;
//! - a sample of B ends when both SRTT and 50 ms have passed since the last one. Its value is the number of
//!   acknowledged bytes divided by the time in ms, rounded down. It passes two filters, each with 7/8 of the old value
//!   and 1/8 of the new one, rounded down;
//! - an ACK of new data counts for its bytes. In a loss episode a duplicate ACK counts for a segment, which the next
//!   cumulative ACK does not count again;
//! - RTTmin is the smallest SRTT in integer ms.
//!
//! Linux also sets ssthresh to B·RTTmin at the end of fast recovery. ns-2 does not announce that end to its modules.

use super::super::linux26::{Module, Sender, clock, jiffies};
use super::{Ack, Congestion};
use crate::congestion::{ConnectionStart, Phase};

/// Minimum duration of a sample in jiffies.
const LEAST_SAMPLE: f64 = 50.0;

/// State of the module.
pub(super) struct WestwoodLinux26 {
    segment: f64,
    /// Outputs of the first and of the second filter, in bytes per jiffy.
    filtered: (f64, f64),
    /// Start of the current sample in jiffies, and its bytes; `None` before the first ACK.
    sample: Option<(f64, f64)>,
    /// Bytes that were counted for duplicate ACKs, and that no cumulative ACK has covered yet.
    accounted: f64,
    /// SRTT, and its smallest value, in jiffies.
    rtt: f64,
    min_rtt: f64,
}

impl WestwoodLinux26 {
    pub(super) fn new(start: &ConnectionStart) -> Self {
        Self {
            segment: start.segment_size as f64,
            filtered: (0.0, 0.0),
            sample: None,
            accounted: 0.0,
            rtt: 0.0,
            min_rtt: f64::INFINITY,
        }
    }

    /// Ends the sample if it has lasted long enough, and counts `bytes` for the next one.
    fn count(&mut self, now: f64, bytes: f64) {
        // The first ACK only starts a sample.
        let Some((begin, counted)) = &mut self.sample else {
            self.sample = Some((now, 0.0));
            self.min_rtt = self.rtt;
            return;
        };
        let time = now - *begin;
        if self.rtt > 0.0 && time > self.rtt.max(LEAST_SAMPLE) {
            let rate = (*counted / time).floor();
            let mix = |old: f64, new: f64| ((7.0 * old + new) / 8.0).floor();
            self.filtered = if self.filtered == (0.0, 0.0) {
                (rate, rate)
            } else {
                let first = mix(self.filtered.0, rate);
                (first, mix(self.filtered.1, first))
            };
            (*begin, *counted) = (now, 0.0);
        }
        *counted += bytes;
        self.min_rtt = self.min_rtt.min(self.rtt);
    }

    /// Returns the bytes of an ACK that were not counted for duplicate ACKs before.
    fn uncounted(&mut self, acked: f64) -> f64 {
        if acked <= self.segment {
            acked
        } else if self.accounted >= acked {
            self.accounted -= acked;
            self.segment
        } else {
            acked - std::mem::take(&mut self.accounted)
        }
    }
}

impl Module for WestwoodLinux26 {
    fn measure(&mut self, ack: &Ack, _sender: &Sender) {
        self.rtt = jiffies(ack.srtt);
        let acked = ack.newly_acked as f64;
        let bytes = if ack.phase == Phase::Open { acked } else { self.uncounted(acked) };
        self.count(clock(ack.now), bytes);
    }

    fn measure_duplicate(&mut self, ack: &Ack) {
        if ack.duplicate {
            self.accounted += self.segment;
            self.count(clock(ack.now), self.segment);
        }
    }

    fn avoid_congestion(&mut self, ack: &Ack, sender: &mut Sender) {
        sender.grow_as_reno(ack.growth);
    }

    fn threshold(&mut self, window: f64, _event: &Congestion) -> f64 {
        window / 2.0
    }

    fn least(&self, _threshold: f64) -> f64 {
        let path = if self.min_rtt.is_finite() { self.filtered.1 * self.min_rtt } else { 0.0 };
        (path / self.segment).floor().max(2.0)
    }
}

#[cfg(test)]
mod tests;
