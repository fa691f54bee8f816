//! The window that window-based algorithms share, with its slow-start threshold.
//!
//! Window and threshold are stored in segments, including fractions (RFC 5681 §3.1 allows bytes or segments). The
//! arithmetic then follows the papers, and does not depend on the size of a segment.

use super::about::Deviation;
use super::{Allowance, Cause, Congestion, ConnectionStart};

/// Deviation of algorithms that reduce the window, not FlightSize, after a loss.
pub(super) const REDUCES_WINDOW: Deviation = Deviation {
    scope: "",
    source: "RFC 5681: a loss reduces FlightSize",
    here: "a loss reduces the window",
    reason: "the algorithm's own paper, and Linux",
};

/// A congestion window and its slow-start threshold.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    segments: f64,
    threshold: f64,
    /// Window and threshold in segments before the last reaction, for an undo.
    before: (f64, f64),
    /// Payload of a full segment in bytes.
    segment_size: u16,
    /// Maximum window in segments; if there is no limit, `u32::MAX`, which no window reaches.
    limit: u32,
    /// Whether windows are whole segments after a reduction.
    whole: bool,
}

impl Window {
    /// Creates a window of the initial size, with the [first threshold](Self::first_threshold).
    ///
    /// # Panics
    ///
    /// If the payload of a segment does not fit in 16 bits.
    pub fn new(start: &ConnectionStart) -> Self {
        let limit = start.max_window.unwrap_or(u32::MAX);
        Self {
            segments: f64::from(limit).min(start.initial_window as f64),
            threshold: Self::first_threshold(start),
            before: (0.0, 0.0),
            segment_size: u16::try_from(start.segment_size).expect("a packet counts its payload in 16 bits"),
            limit,
            whole: start.whole,
        }
    }

    /// Returns the first slow-start threshold in segments: infinite (RFC 5681 §3.1: arbitrarily high), the configured
    /// value, or the capacity of a known route, as slow start does not have to find that by a loss.
    pub fn first_threshold(start: &ConnectionStart) -> f64 {
        let capacity = |bytes| (bytes as f64 / start.segment_size as f64).max(2.0);
        let first = start.pipe.map_or(f64::INFINITY, capacity);
        start.ssthresh.map_or(first, |segments| first.min(f64::from(segments)))
    }

    /// Returns the window in segments.
    pub fn segments(&self) -> f64 {
        self.segments
    }

    /// Returns the slow-start threshold in segments; infinite before the first congestion on an unknown route.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Returns true if the window is below the threshold.
    pub fn in_slow_start(&self) -> bool {
        self.segments < self.threshold
    }

    /// Converts `bytes` of payload to segments.
    pub fn in_segments(&self, bytes: u64) -> f64 {
        bytes as f64 / f64::from(self.segment_size)
    }

    fn limit(&self) -> f64 {
        f64::from(self.limit)
    }

    /// Adds `segments`, up to the limit.
    pub fn grow(&mut self, segments: f64) {
        self.segments = self.limit().min(self.segments + segments);
    }

    /// Raises the window to `segments` if it is smaller, up to the limit.
    pub fn raise_to(&mut self, segments: f64) {
        self.segments = self.segments.max(self.limit().min(segments));
    }

    /// Lowers the window to `segments` if it is larger.
    pub fn clamp_to(&mut self, segments: f64) {
        self.segments = self.segments.min(segments);
    }

    /// Adds `each` for every one of `acked` segments, up to the threshold and the limit. Returns the number of `acked`
    /// segments that remain for congestion avoidance.
    pub fn slow_start(&mut self, acked: f64, each: f64) -> f64 {
        let room = self.threshold - self.segments;
        if room <= 0.0 {
            return acked;
        }
        let growth = acked * each;
        if growth < room {
            self.segments = self.limit().min(self.segments + growth);
            return 0.0;
        }
        self.segments = self.limit().min(self.threshold);
        (growth - room) / each
    }

    /// Lowers the threshold to `segments` if it is higher, so that slow start ends there.
    pub fn limit_slow_start(&mut self, segments: f64) {
        self.threshold = self.threshold.min(segments);
    }

    /// Raises the threshold to `segments` if it is lower, so that slow start continues up to there.
    pub fn raise_threshold(&mut self, segments: f64) {
        self.threshold = self.threshold.max(segments);
    }

    /// Ends slow start at the current window.
    pub fn leave_slow_start(&mut self) {
        self.threshold = self.segments;
    }

    /// Reacts to congestion with a new threshold in segments, which is at least 2 (RFC 5681 §3.1 equation 4, §3.2).
    /// After a loss the window equals the threshold, after a timeout it is one segment. A repeated timeout for the same
    /// data does not change the threshold. A mark reduces as much as a loss (RFC 3168 §6.1.2).
    pub fn react(&mut self, event: &Congestion, threshold: f64) {
        if event.cause != Cause::RepeatedTimeout {
            self.before = (self.segments, self.threshold);
            self.threshold = if self.whole { libm::floor(threshold) } else { threshold }.max(2.0);
        }
        self.segments = if matches!(event.cause, Cause::Loss | Cause::Mark) { self.threshold } else { 1.0 };
    }

    /// As [`Self::react`], with a threshold that comes from an estimate: if it exceeds the window, the window does not
    /// grow.
    pub fn reduce(&mut self, event: &Congestion, threshold: f64) {
        let window = self.segments;
        self.react(event, threshold);
        self.clamp_to(window.max(2.0));
    }

    /// Notes a loss without a reaction, so that a later undo has no effect.
    pub fn keep(&mut self) {
        self.before = (self.segments, self.threshold);
    }

    /// Undoes the last reaction: window and threshold return to at least their values before it.
    pub fn undo(&mut self) {
        self.segments = self.segments.max(self.before.0);
        self.threshold = self.threshold.max(self.before.1);
    }

    /// Restarts after an idle time, with a window of at most `window` bytes and a threshold of at least `threshold`
    /// bytes (RFC 5681 §4.1, RFC 2861 §3, RFC 7661 §4.4).
    pub fn restart(&mut self, window: u64, threshold: u64) {
        self.segments = self.segments.min(self.in_segments(window)).max(1.0);
        self.threshold = self.threshold.max(self.in_segments(threshold));
    }

    /// Returns the window in bytes, rounded to the nearest byte; at least one segment.
    pub fn bytes(&self) -> u64 {
        (self.segments.max(1.0) * f64::from(self.segment_size) + 0.5) as u64
    }

    /// Returns the threshold in bytes; [`u64::MAX`] if there is none.
    pub fn threshold_bytes(&self) -> u64 {
        (self.threshold * f64::from(self.segment_size) + 0.5) as u64
    }
}

/// An algorithm with a [`Window`]. [`Allowance`](crate::congestion::Allowance) is implemented once for all of them.
pub trait WindowBased {
    /// Returns the window.
    fn shared(&self) -> &Window;

    /// Returns the window, for changes.
    fn shared_mut(&mut self) -> &mut Window;
}

impl<T: WindowBased> Allowance for T {
    fn window(&self) -> u64 {
        self.shared().bytes()
    }

    fn ssthresh(&self) -> u64 {
        self.shared().threshold_bytes()
    }

    fn restore(&mut self) {
        self.shared_mut().undo();
    }

    fn restart(&mut self, window: u64, threshold: u64) {
        self.shared_mut().restart(window, threshold);
    }
}

/// Implements [`WindowBased`] for an algorithm with a field `window`.
macro_rules! window_based {
    ($algorithm:ident $(<$parameter:ident: $bound:path>)?) => {
        impl $(<$parameter: $bound>)? $crate::congestion::WindowBased for $algorithm $(<$parameter>)? {
            fn shared(&self) -> &$crate::congestion::Window {
                &self.window
            }

            fn shared_mut(&mut self) -> &mut $crate::congestion::Window {
                &mut self.window
            }
        }
    };
}

pub(super) use window_based;

#[cfg(test)]
mod tests;
