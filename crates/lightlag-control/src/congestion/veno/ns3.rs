//! Veno of ns-3 (`TcpVeno`), which uses only the smoothed RTT:
//!
//! - each ACK restarts the count of samples, so that there are never enough for Veno's increase: an ACK adds 1/W
//!   segments, as in ns-3's NewReno, and in slow start a segment;
//! - N = W − ⌊W·RTTmin/RTT⌋ in whole segments, with SRTT for both, at each ACK that may increase the window;
//! - loss, timeout: ssthresh = 0.8 of the flight if N < 3, half of it otherwise.

use super::super::window::window_based;
use super::{Ack, Config, Congestion, CongestionControl, ConnectionStart, SlowStart, Window};
use lightlag_core::Duration;

/// State of the variant `ns3`.
pub(super) struct VenoNs3 {
    config: Config,
    window: Window,
    slow_start: SlowStart,
    min_rtt: Duration,
    /// N, in segments.
    queued: f64,
}

impl VenoNs3 {
    pub(super) fn new(config: &Config, start: &ConnectionStart) -> Self {
        Self {
            config: config.clone(),
            window: Window::new(start),
            slow_start: SlowStart::new(&config.hystart, start),
            min_rtt: start.rtt.unwrap_or(Duration::MAX),
            queued: 0.0,
        }
    }
}

window_based!(VenoNs3);

impl CongestionControl for VenoNs3 {
    fn on_ack(&mut self, ack: &Ack) {
        if !ack.srtt.is_zero() {
            self.min_rtt = self.min_rtt.min(ack.srtt);
        }
        if ack.newly_acked == 0 || !ack.may_grow() {
            return;
        }
        let window = self.window.segments().floor();
        if !ack.srtt.is_zero() {
            self.queued = window - (window * (self.min_rtt / ack.srtt)).floor();
        }
        let left = self.slow_start.grow(ack, &mut self.window, 1.0, 1.0);
        if left > 0.0 {
            self.window.grow(left / self.window.segments());
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        let kept = if self.queued < self.config.backlog { self.config.beta } else { 0.5 };
        self.window.react(event, kept * self.window.in_segments(event.flight));
    }
}

#[cfg(test)]
mod tests;
