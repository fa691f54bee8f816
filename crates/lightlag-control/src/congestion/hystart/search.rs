//! SEARCH: ends slow start when the delivery rate stops growing.
//!
//! Chung, Kachooei, Li, Claypool, draft-chung-ccwg-search ("Slow start Exit At Right CHokepoint"); Kachooei et al.,
//! "Improving TCP slow start performance in wireless networks with SEARCH", WoWMoM 2024. A window of 3.5 initial
//! round-trip times slides over the connection in W = 10 bins; 15 further bins reach back by a round-trip time. When an
//! ACK arrives after the end of a bin:
//!
//! - delivered: bytes acknowledged in the last 10 bins;
//! - expected: bytes sent in the 10 bins that end one RTT earlier, which should be delivered now (version 4 of the
//!   algorithm, draft -09), or twice the bytes that were delivered then (version 3, drafts up to -06). A part of a bin
//!   is interpolated;
//! - slow start ends if (expected − delivered)/expected ≥ 0.26 (version 4) or 0.35 (version 3).
//!
//! While the window doubles the difference is 0; after the path is full it approaches 1/2. With a constant RTT it is
//! 0.17 one round-trip time later, and 0.33 after two. As a queue lengthens the RTT, the comparison reaches further
//! back: with an unlimited queue version 4 ends slow start 3.9 initial RTTs after the path is full, at 5.3 times its
//! capacity, and version 3 after 4.7 at 6.2 times. A shorter queue overflows before. An ACK that finds more than 2·⌈RTT/bin⌉ = 6 bins passed restarts the measurement, and
//! above 10 bins also measures the length of a bin again. [`SearchExit`] selects what happens to the window.
//!
//! The bins hold the offsets of acknowledged and sent data in full precision. The kernel module stores
//! cumulative counts in 16 bits with a common shift.

use super::{Config, HystartParameters, Policy};
use crate::congestion::{Ack, ConnectionStart, Window};
use lightlag_core::{Duration, Instant, words};

/// Number of bins in a window (W in the draft).
const BINS: usize = 10;
/// Number of bins beyond a window (EXTRA_BINS in the draft).
const EXTRA_BINS: usize = 15;
/// The measurement restarts if more bins passed than there are in this many initial round-trip times.
const MISSED_RTTS: u64 = 2;

words! {
    /// Number of bytes that should have been delivered.
    pub enum SearchReference {
        /// Bytes sent in the window one round-trip time earlier (version 4).
        Sent = "sent",
        /// Twice the bytes delivered in the window one round-trip time earlier (version 3).
        Delivered = "delivered",
    }
}

impl SearchReference {
    /// Returns the threshold of the version of the algorithm that has this reference.
    pub(super) const fn threshold(self) -> f64 {
        match self {
            Self::Sent => 0.26,
            Self::Delivered => 0.35,
        }
    }
}

words! {
    /// Window after the exit.
    pub enum SearchExit {
        /// The flight drains until it equals the bytes delivered in the last initial round-trip time, at least the
        /// initial window (version 4).
        Drain = "drain",
        /// The window loses the bytes delivered in the last two initial round-trip times, and is at least the initial
        /// window (version 3).
        Rollback = "rollback",
        /// The window stays.
        Keep = "keep",
    }
}

/// State of SEARCH in a slow start.
pub struct Search {
    rules: HystartParameters,
    /// Initial window in segments.
    initial_window: f64,
    /// Threshold of the slow start that is measured, in segments. Another threshold is another slow start.
    threshold: f64,
    /// Window after the last ACK, in segments. A repeated timeout reduces it, and leaves the threshold.
    window: f64,
    /// Length of a bin, and the round-trip time that determines it; zero before the first sample.
    bin: Duration,
    initial_rtt: Duration,
    bin_end: Instant,
    /// Number of the current bin; `None` before the first ACK.
    index: Option<u64>,
    /// Offsets of acknowledged and of sent data at the end of each bin.
    bins: [(u64, u64); BINS + EXTRA_BINS + 1],
    draining: Option<Drain>,
}

/// The phase after the exit, in which the queue drains.
struct Drain {
    /// Window at the end, in segments.
    target: f64,
    /// Acknowledged segments that were not yet exchanged for a new one.
    acked: f64,
}

impl Search {
    /// Creates the state before the first ACK.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
        Self {
            rules: HystartParameters::new(config),
            initial_window: start.initial_window as f64,
            threshold: Window::first_threshold(start),
            window: 0.0,
            bin: Duration::ZERO,
            initial_rtt: Duration::ZERO,
            bin_end: Instant::ZERO,
            index: None,
            bins: [(0, 0); BINS + EXTRA_BINS + 1],
            draining: None,
        }
    }

    /// Forgets everything. The next ACK starts the first bin.
    pub fn restart(&mut self) {
        (self.bin, self.index, self.draining) = (Duration::ZERO, None, None);
    }

    /// Examines an ACK in slow start, and changes `window` at the exit. Returns true while the window drains, so that
    /// it must not grow.
    pub fn watch(&mut self, ack: &Ack, window: &mut Window) -> bool {
        if window.threshold() != self.threshold || window.segments() < self.window {
            self.restart();
        }
        let drains = if self.draining.is_some() {
            self.drain(ack, window);
            true
        } else {
            self.measure(ack, window)
        };
        (self.threshold, self.window) = (window.threshold(), window.segments());
        drains
    }

    /// Returns true if this ACK starts to drain the queue; otherwise it may have ended slow start.
    fn measure(&mut self, ack: &Ack, window: &mut Window) -> bool {
        let Some(rtt) = ack.rtt.filter(|rtt| !rtt.is_zero()) else { return false };
        if self.index.is_none() {
            self.begin(ack, rtt);
            return false;
        }
        if ack.now < self.bin_end || !self.advance(ack, rtt) {
            return false;
        }
        let limit = self.rules.of(Policy::Search).search_threshold;
        self.difference(rtt).is_some_and(|difference| difference >= limit) && self.exit(window)
    }

    fn begin(&mut self, ack: &Ack, rtt: Duration) {
        if self.bin.is_zero() {
            let window = rtt.as_secs_f64() * self.rules.of(Policy::Search).search_window;
            self.bin = Duration::from_secs_f64(window / BINS as f64).max(Duration::from_nanos(1));
            self.initial_rtt = rtt;
        }
        self.bin_end = ack.now + self.bin;
        self.index = Some(0);
        self.bins[0] = (ack.snd_una, ack.snd_nxt);
    }

    /// Fills the bins that have passed. Returns false if there are too many, so that the measurement restarts.
    fn advance(&mut self, ack: &Ack, rtt: Duration) -> bool {
        let Some(index) = self.index else { return false };
        let passed = ack.now.since(self.bin_end).as_nanos() / self.bin.as_nanos() + 1;
        if passed > MISSED_RTTS * self.in_bins(self.initial_rtt).div_ceil(1_000_000) {
            if passed > BINS as u64 {
                self.bin = Duration::ZERO;
            }
            self.begin(ack, rtt);
            return false;
        }
        let last = self.at(index);
        for missed in index + 1..index + passed {
            self.store(missed, last);
        }
        self.store(index + passed, (ack.snd_una, ack.snd_nxt));
        self.bin_end += self.bin * passed;
        self.index = Some(index + passed);
        true
    }

    /// Returns `time` in millionths of a bin.
    fn in_bins(&self, time: Duration) -> u64 {
        (u128::from(time.as_nanos()) * 1_000_000 / u128::from(self.bin.as_nanos())) as u64
    }

    fn at(&self, index: u64) -> (u64, u64) {
        self.bins[index as usize % self.bins.len()]
    }

    fn store(&mut self, index: u64, offsets: (u64, u64)) {
        let length = self.bins.len();
        self.bins[index as usize % length] = offsets;
    }

    /// Returns the bytes delivered in the `bins` bins up to the current one.
    fn delivered(&self, bins: u64) -> f64 {
        let index = self.index.unwrap_or(0);
        self.at(index).0.saturating_sub(self.at(index.saturating_sub(bins)).0) as f64
    }

    /// Returns the relative difference of the bytes delivered now and those expected; `None` if there are too few bins.
    fn difference(&self, rtt: Duration) -> Option<f64> {
        let index = self.index?;
        let back = self.in_bins(rtt);
        let (whole, part) = (back / 1_000_000, (back % 1_000_000) as f64 / 1e6);
        // The bin before the earlier window is needed for the interpolation.
        if whole >= EXTRA_BINS as u64 || index < whole + BINS as u64 + 1 {
            return None;
        }
        let expected = match self.rules.of(Policy::Search).search_reference {
            SearchReference::Sent => self.earlier(index - whole, part, |bin| bin.1),
            SearchReference::Delivered => 2.0 * self.earlier(index - whole, part, |bin| bin.0),
        };
        (expected > 0.0).then(|| difference(expected, self.delivered(BINS as u64)))
    }

    /// Returns the bytes of the window that ends with bin `index`, shifted back by a `part` of a bin.
    fn earlier(&self, index: u64, part: f64, of: impl Fn((u64, u64)) -> u64) -> f64 {
        let within = |right: u64| of(self.at(right)).saturating_sub(of(self.at(right - BINS as u64))) as f64;
        (1.0 - part) * within(index) + part * within(index - 1)
    }

    /// Ends slow start, or starts to drain the queue. Returns true in the second case.
    fn exit(&mut self, window: &mut Window) -> bool {
        let in_segments = |bytes: f64| window.in_segments(bytes as u64);
        match self.rules.of(Policy::Search).search_exit {
            SearchExit::Drain => {
                let bins = self.in_bins(self.initial_rtt).div_ceil(1_000_000);
                let target = in_segments(self.delivered(bins)).max(self.initial_window);
                if window.segments() > target {
                    self.draining = Some(Drain { target, acked: 0.0 });
                    return true;
                }
            }
            SearchExit::Rollback => {
                let overshoot = in_segments(self.delivered(self.in_bins(self.initial_rtt * 2) / 1_000_000));
                window.clamp_to((window.segments() - overshoot).max(self.initial_window));
            }
            SearchExit::Keep => {}
        }
        window.leave_slow_start();
        self.restart();
        false
    }

    /// Lets the flight shrink: a segment is sent for every [`Config::search_drain`] acknowledged ones.
    fn drain(&mut self, ack: &Ack, window: &mut Window) {
        let each = self.rules.of(Policy::Search).search_drain;
        let Some(drain) = &mut self.draining else { return };
        drain.acked += window.in_segments(ack.newly_delivered);
        let sent = libm::floor(drain.acked / each);
        drain.acked -= sent * each;
        window.clamp_to((window.in_segments(ack.inflight) + sent).max(drain.target));
        if window.segments() <= drain.target {
            window.leave_slow_start();
            self.restart();
        }
    }
}

/// Returns the difference of `expected` and `delivered` bytes, normalised by the former.
fn difference(expected: f64, delivered: f64) -> f64 {
    (expected - delivered) / expected
}

#[cfg(test)]
mod tests;
