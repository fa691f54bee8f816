//! H-TCP of ns-3 (`TcpHtcp`), which uses only the smoothed RTT:
//!
//! - avoidance: an ACK adds 1/W segments and α bytes, not α/W segments, so that α hardly counts;
//! - B = the data acknowledged outside of recovery since the last loss, divided by the time since then;
//! - loss, timeout: β = RTTmin/RTTmax, the extremes of SRTT since the last loss, if B is above its value at the last
//!   loss and less than twice as large (ns-3 divides integers); otherwise β = 0.5. ssthresh = β times the flight.

use super::super::window::window_based;
use super::{Ack, Config, Congestion, CongestionControl, ConnectionStart, SlowStart, Window};
use crate::congestion::Phase;
use lightlag_core::{Duration, Instant};

/// State of the variant `ns3`.
pub(super) struct HtcpNs3 {
    config: Config,
    window: Window,
    slow_start: SlowStart,
    /// Size of a segment in bytes.
    segment: f64,
    beta: f64,
    min_rtt: Duration,
    max_rtt: Duration,
    /// Time of the last loss.
    since: Instant,
    /// Bytes acknowledged outside of recovery since the last loss.
    acked: f64,
    /// Throughput B in bytes per second, now and at the last loss.
    throughput: f64,
    last_throughput: f64,
}

impl HtcpNs3 {
    pub(super) fn new(config: &Config, start: &ConnectionStart) -> Self {
        Self {
            config: config.clone(),
            window: Window::new(start),
            slow_start: SlowStart::new(&config.hystart, start),
            segment: start.segment_size as f64,
            beta: config.beta_min,
            min_rtt: Duration::MAX,
            max_rtt: Duration::ZERO,
            since: Instant::ZERO,
            acked: 0.0,
            throughput: 0.0,
            last_throughput: 0.0,
        }
    }

    fn measure(&mut self, ack: &Ack) {
        if ack.phase == Phase::Open {
            self.acked += ack.newly_acked as f64;
        }
        let time = ack.now.since(self.since).as_secs_f64();
        if time > 0.0 {
            self.throughput = (self.acked / time).floor();
        }
        if !ack.srtt.is_zero() {
            self.min_rtt = self.min_rtt.min(ack.srtt);
            self.max_rtt = self.max_rtt.max(ack.srtt);
        }
    }

    fn backoff(&self) -> f64 {
        let (now, last) = (self.throughput, self.last_throughput);
        let change = if last > 0.0 { ((now - last) / last).floor() } else { f64::INFINITY };
        if now <= last || change > self.config.throughput_change || self.max_rtt.is_zero() {
            return self.config.beta_min;
        }
        self.min_rtt / self.max_rtt
    }
}

window_based!(HtcpNs3);

impl CongestionControl for HtcpNs3 {
    fn on_ack(&mut self, ack: &Ack) {
        self.measure(ack);
        if ack.newly_acked == 0 || !ack.may_grow() {
            return;
        }
        let left = self.slow_start.grow(ack, &mut self.window, 1.0, 1.0);
        if left > 0.0 {
            let alpha = self.config.scaled_alpha(ack.now.since(self.since), self.beta);
            self.window.grow(left * (1.0 / self.window.segments() + alpha / self.segment));
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        self.beta = self.backoff();
        self.last_throughput = self.throughput;
        (self.throughput, self.acked) = (0.0, 0.0);
        (self.min_rtt, self.max_rtt) = (Duration::MAX, Duration::ZERO);
        self.since = event.now;
        self.window.react(event, self.beta * self.window.in_segments(event.flight));
    }
}

#[cfg(test)]
mod tests;
