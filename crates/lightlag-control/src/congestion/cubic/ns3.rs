//! CUBIC of ns-3.37 (`TcpCubic`), in whole segments, which uses only the smoothed RTT:
//!
//! - slow start counts segments;
//! - an epoch starts with the first ACK of avoidance: K = ∛((Wmax − W)/C) if W < Wmax, else K = 0 and Wmax = W;
//! - t = now + dMin − start, with dMin the smallest SRTT since the last timeout; samples in the first 10 ms of an epoch
//!   do not count;
//! - target = Wmax ∓ ⌊C·|t − K|³⌋; cnt = ⌊W/(target − W)⌋, or 100·W if the target is not above; cnt ≤ 20 before a loss
//!   and after a timeout, and cnt ≥ 2. There is no Reno-friendly region;
//! - each ACK adds its segments to a count, which a loss does not clear; if the count is at least cnt, W += 1 and cnt
//!   is subtracted. The ACK that ends fast recovery adds all the segments that it acknowledges, most of a window; until
//!   they are used up, each ACK increments W;
//! - loss, mark: Wmax = W, or ⌊W(1 + β)/2⌋ if W is below the last Wmax; ssthresh = ⌊β·W⌋, of the window, not of
//!   FlightSize.

use super::super::window::window_based;
use super::{Config, CubicConstants};
use crate::congestion::{Ack, Cause, Congestion, CongestionControl, ConnectionStart, SlowStart, Window};
use lightlag_core::{Duration, Instant};

/// The rules of this variant, as a part of the description of CUBIC.
pub(super) const ABOUT: &str = r#"
    TcpCubic of ns-3.37. As `linux`, with β = 0.7, C = 0.4, K not rounded, dMin the minimum SRTT outside of the first 10 ms of
    an epoch, and no Reno-friendly region. An ACK adds its segments to a count. If the count reaches cnt, W grows by one
    segment and cnt is subtracted. The count survives losses, and the ACK that ends fast recovery adds all that it
    acknowledges, about a window: after a loss each ACK increases W until the count is used up, which raises the goodput
    under random losses by about 10 %.
"#;

/// Time at the start of an epoch in which samples do not count for dMin.
const SETTLING: Duration = Duration::from_millis(10);
/// Maximum cnt before the first loss.
const SEARCH: f64 = 20.0;

/// State of the variant `ns3`.
pub(super) struct CubicNs3 {
    rules: CubicConstants,
    window: Window,
    slow_start: SlowStart,
    /// Wmax; zero before a loss and after a timeout.
    last_max: f64,
    /// dMin; [`Duration::MAX`] if unknown.
    delay_min: Duration,
    /// Segments counted towards the next increments.
    count: f64,
    curve: Option<Ns3Curve>,
    /// Segments that the last ACK acknowledged in fast recovery.
    repaired: f64,
}

/// An epoch: the time from the start of congestion avoidance to the next loss.
#[derive(Clone, Copy)]
struct Ns3Curve {
    start: Instant,
    /// K in seconds.
    k: f64,
    origin: f64,
}

impl CubicNs3 {
    pub(super) fn new(config: &Config, start: &ConnectionStart) -> Self {
        Self {
            rules: CubicConstants::of(config),
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

    fn begin_epoch(&mut self, now: Instant, window: f64) -> Ns3Curve {
        let missed = self.last_max > window;
        let k = if missed { libm::cbrt((self.last_max - window) / self.rules.c) } else { 0.0 };
        *self.curve.insert(Ns3Curve { start: now, k, origin: if missed { self.last_max } else { window } })
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
        let CubicConstants { beta, fast_convergence, .. } = self.rules;
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
