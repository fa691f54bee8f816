//! The window that window-based algorithms share, with its slow-start threshold.
//!
//! Both are kept in segments, including fractions (RFC 5681 §3.1 allows either unit). The arithmetic is then that of
//! the papers, and does not depend on the size of a segment.

use super::{Allowance, Cause, Congestion, Start};

/// A congestion window and its slow-start threshold.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    segments: f64,
    threshold: f64,
    /// Window and threshold before the last reaction.
    before: (f64, f64),
    /// Payload of a full segment in bytes.
    segment_size: u16,
    /// Segments beyond which the window does not grow; `u32::MAX`, which no window reaches, without a limit.
    limit: u32,
    /// Whether a reduction leaves whole segments.
    whole: bool,
}

impl Window {
    /// The initial window, with the [first threshold](Self::first_threshold).
    ///
    /// # Panics
    ///
    /// If the payload of a segment does not fit in 16 bits.
    pub fn new(start: &Start) -> Self {
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

    /// The threshold of a new window in segments. It is infinite (RFC 5681 §3.1: arbitrarily high), or the configured
    /// one, or the capacity of a known route: slow start need not find that by a loss.
    pub fn first_threshold(start: &Start) -> f64 {
        let capacity = |bytes| (bytes as f64 / start.segment_size as f64).max(2.0);
        let first = start.pipe.map_or(f64::INFINITY, capacity);
        start.ssthresh.map_or(first, |segments| first.min(f64::from(segments)))
    }

    /// The window in segments.
    pub fn segments(&self) -> f64 {
        self.segments
    }

    /// The slow-start threshold in segments, infinite before the first congestion on an unknown route.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Whether the window is below the threshold.
    pub fn in_slow_start(&self) -> bool {
        self.segments < self.threshold
    }

    /// `bytes` of payload in segments.
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

    /// Raises the window to `segments`, if it is below, up to the limit.
    pub fn raise_to(&mut self, segments: f64) {
        self.segments = self.segments.max(self.limit().min(segments));
    }

    /// Lowers the window to `segments`, if it is above.
    pub fn clamp_to(&mut self, segments: f64) {
        self.segments = self.segments.min(segments);
    }

    /// Adds `each` for every one of `acked` segments, up to the threshold and the limit. Returns the number of `acked`
    /// segments left for congestion avoidance.
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

    /// Makes slow start end at `segments`, if it would end later.
    pub fn limit_slow_start(&mut self, segments: f64) {
        self.threshold = self.threshold.min(segments);
    }

    /// Lets slow start continue up to `segments`, if it would end before.
    pub fn raise_threshold(&mut self, segments: f64) {
        self.threshold = self.threshold.max(segments);
    }

    /// Ends slow start here.
    pub fn leave_slow_start(&mut self) {
        self.threshold = self.segments;
    }

    /// Reacts to congestion with a new threshold in segments, which is at least 2 (RFC 5681 §3.1 equation 4, §3.2). The
    /// window equals it after a loss, and is one segment after a timeout. A timeout for the same data leaves the
    /// threshold alone. A mark costs as much as a loss (RFC 3168 §6.1.2).
    pub fn react(&mut self, event: &Congestion, threshold: f64) {
        if event.cause != Cause::RepeatedTimeout {
            self.before = (self.segments, self.threshold);
            self.threshold = if self.whole { libm::floor(threshold) } else { threshold }.max(2.0);
        }
        self.segments = if matches!(event.cause, Cause::Loss | Cause::Mark) { self.threshold } else { 1.0 };
    }

    /// As [`Self::react`], for a threshold from an estimate: the window does not grow to a larger one.
    pub fn reduce(&mut self, event: &Congestion, threshold: f64) {
        let window = self.segments;
        self.react(event, threshold);
        self.clamp_to(window.max(2.0));
    }

    /// Notes a loss without a reaction, so that an undo has no effect.
    pub fn keep(&mut self) {
        self.before = (self.segments, self.threshold);
    }

    /// Undoes the last reaction: the window and the threshold return to their values before it, or more.
    pub fn undo(&mut self) {
        self.segments = self.segments.max(self.before.0);
        self.threshold = self.threshold.max(self.before.1);
    }

    /// Restarts after an idle time: with at most `window` bytes, and slow start up to at least `threshold` bytes (RFC
    /// 5681 §4.1, RFC 2861 §3, RFC 7661 §4.4).
    pub fn restart(&mut self, window: u64, threshold: u64) {
        self.segments = self.segments.min(self.in_segments(window)).max(1.0);
        self.threshold = self.threshold.max(self.in_segments(threshold));
    }

    /// The window in bytes, to the nearest; at least one segment.
    pub fn bytes(&self) -> u64 {
        (self.segments.max(1.0) * f64::from(self.segment_size) + 0.5) as u64
    }

    /// The threshold in bytes; [`u64::MAX`] without one.
    pub fn threshold_bytes(&self) -> u64 {
        (self.threshold * f64::from(self.segment_size) + 0.5) as u64
    }
}

/// An algorithm with a [`Window`]: the answers about the flight are written once for all of them.
pub trait WindowBased {
    /// Its window.
    fn shared(&self) -> &Window;

    /// Its window, to be changed.
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

/// Implements [`Allowance`](crate::congestion::Allowance) by the field `window`.
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
