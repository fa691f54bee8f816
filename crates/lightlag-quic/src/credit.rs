//! Credit that a receiver gives for a stream or the connection, and its adaptation to the path.
//!
//! A limit is an absolute offset. Updates depend on data that the application has consumed and never wait for a BLOCKED
//! frame (RFC 9000 §4.2). With the receiver's window W, the rules of the implementations are:
//!
//! ```text
//! fixed     limit = consumed + W, once that adds W/n (quinn: n = 8)
//! quiche    when less than W/2 is left; W doubles if the last update was less than 2 srtt ago
//! msquic    per W/4 consumed; W doubles if that took no longer than srtt/4, the time at the rate of the window
//! aioquic   limit doubles when more than half of it is used
//! picoquic  as aioquic; the increment grows with the round-trip time above 100 ms, up to 6.1 times
//! ```

use lightlag_core::{Duration, Instant};

/// Rule for updates of a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tuning {
    /// The window is constant; an update adds at least this fraction of it, given by its divisor.
    Fixed(u64),
    /// quiche's rule, with this maximum window.
    Quiche(u64),
    /// msquic's rule, with this maximum window.
    Msquic(u64),
    /// aioquic's rule.
    Aioquic,
    /// picoquic's rule.
    Picoquic,
}

/// Minimum round-trip time for larger increments in picoquic.
const PICOQUIC_RTT: Duration = Duration::from_millis(100);
/// Maximum factor of picoquic's increments.
const PICOQUIC_FACTOR: f64 = 6.1;

/// The credit of a stream or a connection, on the receiver's side.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    limit: u64,
    window: u64,
    tuning: Tuning,
    updated: Option<Instant>,
    /// Consumed bytes at the last update.
    consumed: u64,
    /// Consumed bytes, or received ones for aioquic and picoquic, that make the next update due.
    due_at: u64,
    /// Limit in the last frame, if limits are reviewed when packets are built.
    announced: Option<u64>,
}

/// Largest limit, which counts as unlimited.
pub const UNLIMITED: u64 = crate::varint::MAX;

impl Credit {
    /// Creates a credit of `window` bytes.
    pub fn new(window: u64, tuning: Tuning) -> Self {
        let mut credit = Self {
            limit: window.min(UNLIMITED),
            window,
            tuning,
            updated: None,
            consumed: 0,
            due_at: u64::MAX,
            announced: None,
        };
        credit.plan();
        credit
    }

    /// Makes limits rise when packets are built, not when data arrives.
    pub(crate) fn review_later(&mut self) {
        (self.announced, self.due_at) = (Some(self.limit), u64::MAX);
    }

    /// Doubles the limit once if more than half of it is used. Returns the limit if no frame has announced it.
    pub(crate) fn review(&mut self, received: u64) -> Option<u64> {
        if received * 2 > self.limit {
            self.limit = (self.limit * 2).min(UNLIMITED);
        }
        Some(self.limit).filter(|limit| self.announced != Some(*limit))
    }

    /// Notes that a frame announces the limit.
    pub(crate) fn announce(&mut self) {
        self.announced = Some(self.limit);
    }

    /// Notes that a frame with the limit was lost.
    pub(crate) fn forget_announcement(&mut self) {
        self.announced = Some(0);
    }

    /// Determines when the next update is due.
    fn plan(&mut self) {
        self.due_at = match self.tuning {
            _ if self.announced.is_some() => u64::MAX,
            _ if self.limit >= UNLIMITED => u64::MAX,
            Tuning::Fixed(parts) => (self.limit + (self.window / parts).max(1)).saturating_sub(self.window),
            Tuning::Quiche(_) => (self.limit + 1).saturating_sub(self.window / 2),
            Tuning::Msquic(_) => self.consumed + self.window / 4,
            Tuning::Aioquic | Tuning::Picoquic => self.limit / 2 + 1,
        };
    }

    /// Returns the first offset that the peer may not send.
    #[inline(always)]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns the current window in bytes.
    pub fn window(&self) -> u64 {
        self.window
    }

    /// Raises the window to at least `window` bytes, up to `max`.
    pub fn raise_window(&mut self, window: u64, max: u64) {
        self.window = self.window.max(window.min(max));
        self.plan();
    }

    /// Raises a constant window's limit to `consumed` + W, for a frame that is sent anyway.
    pub fn refresh(&mut self, consumed: u64) {
        if matches!(self.tuning, Tuning::Fixed(_)) {
            self.limit = (consumed + self.window).clamp(self.limit, UNLIMITED);
            self.plan();
        }
    }

    /// Returns the new limit if an update is due. `received` is the highest offset received, `consumed` the number of
    /// bytes that the application has read.
    #[inline]
    pub fn update(&mut self, now: Instant, received: u64, consumed: u64, srtt: Duration) -> Option<u64> {
        let progress = match self.tuning {
            Tuning::Aioquic | Tuning::Picoquic => received,
            _ => consumed,
        };
        if progress < self.due_at { None } else { Some(self.raise(now, consumed, srtt)) }
    }

    #[cold]
    fn raise(&mut self, now: Instant, consumed: u64, srtt: Duration) -> u64 {
        let limit = match self.tuning {
            Tuning::Fixed(_) => consumed + self.window,
            Tuning::Quiche(max) => {
                if self.updated.is_some_and(|updated| now.since(updated) < srtt * 2) {
                    self.window = (self.window * 2).min(max.max(self.window));
                }
                consumed + self.window
            }
            Tuning::Msquic(max) => {
                let delivered = consumed - self.consumed;
                let quarters = delivered as f64 / (self.window / 4).max(1) as f64;
                let allowed = srtt.as_nanos() as f64 * quarters;
                if self.updated.is_some_and(|updated| now.since(updated).as_nanos() as f64 <= allowed) {
                    self.window = (self.window * 2).min(max.max(self.window));
                }
                consumed + self.window
            }
            Tuning::Aioquic => self.limit * 2,
            Tuning::Picoquic => {
                let factor = (srtt.as_nanos() as f64 / PICOQUIC_RTT.as_nanos() as f64).clamp(1.0, PICOQUIC_FACTOR);
                self.limit + (self.limit as f64 * factor) as u64
            }
        };
        (self.updated, self.consumed) = (Some(now), consumed);
        self.limit = limit.clamp(self.limit, UNLIMITED);
        self.plan();
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    const RTT: Duration = Duration::from_millis(100);

    #[test]
    fn quinn_updates_after_an_eighth_of_the_window() {
        let mut credit = Credit::new(1_250_000, Tuning::Fixed(8));
        assert_eq!(credit.update(at(1), 156_249, 156_249, RTT), None);
        assert_eq!(credit.update(at(1), 156_250, 156_250, RTT), Some(1_406_250));
        // Data that is not consumed gives no credit.
        assert_eq!(credit.update(at(2), 1_406_250, 156_250, RTT), None);
    }

    #[test]
    fn quiche_doubles_the_window_if_two_updates_are_close() {
        let mut credit = Credit::new(1_000, Tuning::Quiche(16_000));
        assert_eq!(credit.update(at(0), 500, 500, RTT), None);
        assert_eq!(credit.update(at(0), 501, 501, RTT), Some(1_501));
        assert_eq!(credit.update(at(199), 1_002, 1_002, RTT), Some(1_002 + 2_000));
        assert_eq!(credit.update(at(399), 2_003, 2_003, RTT), Some(2_003 + 2_000));
        // The window is limited, not the offset: credit continues beyond the maximum.
        let (mut consumed, mut now) = (2_003, 400);
        for _ in 0..100 {
            consumed = credit.limit() - 1;
            now += 10;
            assert!(credit.update(at(now), consumed, consumed, RTT).is_some());
        }
        assert!(credit.window() == 16_000 && consumed > 1_000_000);
    }

    #[test]
    fn msquic_doubles_the_window_if_a_quarter_takes_less_than_the_round_trip() {
        let mut credit = Credit::new(64 << 10, Tuning::Msquic(16 << 20));
        assert_eq!(credit.update(at(0), 16 << 10, 16 << 10, RTT), Some(80 << 10));
        assert_eq!(credit.update(at(101), 32 << 10, 32 << 10, RTT), Some(96 << 10));
        assert_eq!(credit.update(at(201), 48 << 10, 48 << 10, RTT), Some((48 << 10) + (128 << 10)));
    }

    #[test]
    fn aioquic_and_picoquic_double_the_limit() {
        let mut credit = Credit::new(1 << 20, Tuning::Aioquic);
        assert_eq!(credit.update(at(0), 1 << 19, 0, RTT), None);
        assert_eq!(credit.update(at(0), (1 << 19) + 1, 0, RTT), Some(2 << 20));
        let mut credit = Credit::new(1 << 20, Tuning::Picoquic);
        assert_eq!(credit.update(at(0), 1 << 20, 0, Duration::from_millis(600)), Some(7 << 20));
    }

    #[test]
    fn a_credit_that_is_reviewed_doubles_once_per_packet_and_is_announced_again_after_a_loss() {
        let mut credit = Credit::new(1_000, Tuning::Aioquic);
        credit.review_later();
        assert_eq!(credit.update(at(0), 900, 900, RTT), None);
        assert_eq!((credit.review(500), credit.review(501)), (None, Some(2_000)));
        credit.announce();
        assert_eq!(credit.review(1_000), None);
        credit.forget_announcement();
        assert_eq!((credit.review(1_000), credit.review(5_000)), (Some(2_000), Some(4_000)));
    }

    #[test]
    fn an_unlimited_credit_has_no_updates() {
        let mut credit = Credit::new(UNLIMITED, Tuning::Fixed(8));
        assert_eq!(credit.update(at(0), 1 << 40, 1 << 40, RTT), None);
    }
}
