//! CUBIC of ns-3.37 (`TcpCubic`), in whole segments, which sees only the smoothed RTT:
//!
//! - slow start counts segments;
//! - an epoch starts with the first ACK of avoidance: K = ∛((Wmax − W)/C) if W < Wmax, else K = 0 and Wmax = W;
//! - t = now + dMin − start, with dMin the smallest SRTT since the last timeout, outside the first 10 ms of an epoch;
//! - target = Wmax ∓ ⌊C·|t − K|³⌋; cnt = ⌊W/(target − W)⌋, or 100·W if the target is not above; cnt ≤ 20 before a loss and
//!   after a timeout, and cnt ≥ 2. There is no Reno-friendly region;
//! - each ACK adds its segments to a count, which a loss does not clear; if that is at least cnt, W += 1 and cnt is taken off.
//!   The ACK that ends fast recovery adds all the segments that it acknowledges, most of a window, and an increment an ACK
//!   follows while they last;
//! - loss, mark: Wmax = W, or ⌊W(1 + β)/2⌋ below the last one; ssthresh = ⌊β·W⌋, of the window.

use super::super::window::window_based;
use super::{Config, Rules};
use crate::congestion::{Ack, Cause, Congestion, CongestionControl, SlowStart, Start, Window};
use lightlag_core::{Duration, Instant};

/// Samples at the start of an epoch tell nothing about the path.
const SETTLING: Duration = Duration::from_millis(10);
/// The most segments to count for the next one before the first loss.
const SEARCH: f64 = 20.0;

/// The window.
pub(super) struct CubicNs3 {
    rules: Rules,
    window: Window,
    slow_start: SlowStart,
    /// Wmax; zero before a loss and after a timeout.
    last_max: f64,
    /// dMin; [`Duration::MAX`] without any.
    delay_min: Duration,
    /// Segments counted for increments.
    count: f64,
    curve: Option<Curve>,
    /// Segments that the last ACK acknowledged in fast recovery.
    repaired: f64,
}

/// An epoch.
#[derive(Clone, Copy)]
struct Curve {
    start: Instant,
    /// In seconds.
    k: f64,
    origin: f64,
}

impl CubicNs3 {
    pub(super) fn new(config: &Config, start: &Start) -> Self {
        Self {
            rules: Rules::of(config),
            window: Window::new(start),
            slow_start: SlowStart::new(&config.hystart, start),
            last_max: 0.0,
            delay_min: Duration::MAX,
            count: 0.0,
            curve: None,
            repaired: 0.0,
        }
    }

    fn sample(&mut self, ack: &Ack) {
        let settling = self.curve.is_some_and(|curve| ack.now.since(curve.start) < SETTLING);
        if !settling && !ack.srtt.is_zero() {
            self.delay_min = self.delay_min.min(ack.srtt);
        }
    }

    fn begin_epoch(&mut self, now: Instant, window: f64) -> Curve {
        let missed = self.last_max > window;
        let k = if missed { libm::cbrt((self.last_max - window) / self.rules.c) } else { 0.0 };
        *self.curve.insert(Curve { start: now, k, origin: if missed { self.last_max } else { window } })
    }

    fn avoid_congestion(&mut self, now: Instant, acked: f64) {
        self.count += acked;
        let window = self.window.segments().floor();
        let curve = self.curve.unwrap_or_else(|| self.begin_epoch(now, window));
        let ahead = if self.delay_min == Duration::MAX { Duration::ZERO } else { self.delay_min };
        let distance = (now.since(curve.start) + ahead).as_secs_f64() - curve.k;
        let delta = (self.rules.c * (distance * distance * distance).abs()).floor();
        let target = if distance < 0.0 { curve.origin - delta } else { curve.origin + delta };
        let mut needed = if target > window { (window / (target - window)).floor() } else { 100.0 * window };
        if self.last_max == 0.0 {
            needed = needed.min(SEARCH);
        }
        let needed = needed.max(2.0);
        if self.count >= needed {
            self.count -= needed;
            self.window.grow(1.0);
        }
    }
}

window_based!(CubicNs3);

impl CongestionControl for CubicNs3 {
    fn on_ack(&mut self, ack: &Ack) {
        self.sample(ack);
        self.repaired = self.window.in_segments(ack.newly_acked).floor();
        if ack.newly_acked == 0 || !ack.may_grow() {
            self.slow_start.observe(ack, &mut self.window);
            return;
        }
        let left = self.slow_start.grow(ack, &mut self.window, ack.growth, 1.0);
        if left > 0.0 {
            self.avoid_congestion(ack.now, left);
        }
    }

    fn on_recovered(&mut self, now: Instant) {
        if !self.window.in_slow_start() {
            self.avoid_congestion(now, self.repaired);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        let window = self.window.segments().floor();
        let Rules { beta, fast_convergence, .. } = self.rules;
        self.curve = None;
        let missed = fast_convergence && window < self.last_max;
        self.last_max = if missed { (window * (1.0 + beta) / 2.0).floor() } else { window };
        if matches!(event.cause, Cause::Timeout | Cause::RepeatedTimeout) {
            (self.last_max, self.delay_min) = (0.0, Duration::MAX);
        }
        self.window.react(event, libm::floor(beta * window));
    }
}

#[cfg(test)]
mod tests;
