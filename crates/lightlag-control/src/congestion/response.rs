//! Custom loss responses: a classifier that wraps an algorithm and attributes each loss to a cause.
//!
//! A loss that the sender attributes to corruption is not reported to its congestion control, so that it neither
//! reduces the window nor doubles the timeout.

use super::custom::Fault;
use super::{
    Ack, Allowance, Cause, Congestion, CongestionControl, ConnectionStart, Departures, Diagnosis, GrowthEpoch,
    Internals, LowPriority, Steering, Transmissions,
};
use lightlag_core::custom::{Factory, Registry};
use lightlag_core::{Duration, Instant};
use std::sync::Arc;

/// A loss that the sender has detected: the start of a loss episode, whatever the number of lost segments, or a
/// timeout.
#[derive(Clone, Copy, Debug)]
pub struct LossEvent {
    /// Time when the loss was detected.
    pub now: Instant,
    /// Sign of the loss: [`Cause::Loss`] or [`Cause::Timeout`].
    pub cause: Cause,
    /// Time when the lowest lost segment was sent.
    pub sent: Option<Instant>,
    /// Outstanding bytes.
    pub inflight: u64,
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// The latest round-trip sample; zero before the first.
    pub rtt: Duration,
    /// SRTT (RFC 6298); zero before the first sample.
    pub srtt: Duration,
    /// The minimum sample so far; [`Duration::MAX`] before the first.
    pub min_rtt: Duration,
}

/// Attributes the losses of one sender to their causes.
pub trait LossResponse: Send {
    /// Processes an ACK, which the congestion control also receives.
    fn on_ack(&mut self, ack: &Ack);

    /// Returns true if a loss is due to transmission errors on a link rather than to congestion.
    fn is_corruption(&mut self, loss: &LossEvent) -> bool;

    /// Returns the error of a response that has failed. It is not called again after that.
    fn fault(&self) -> Option<&Fault>;
}

/// A custom loss response: builds an instance for each sender.
pub trait ResponseFactory: Factory {
    /// Builds an instance for a connection, with a value for each parameter.
    fn build(self: Arc<Self>, start: &ConnectionStart, values: &[f64]) -> Box<dyn LossResponse>;
}

/// A custom loss response, with the values of its parameters.
pub type CustomResponse = lightlag_core::custom::Custom<dyn ResponseFactory>;

/// The registered custom loss responses.
pub static CUSTOM: Registry<dyn ResponseFactory> = Registry::new();

/// An algorithm wrapped by a loss response.
pub struct Responding {
    algorithm: Box<dyn CongestionControl>,
    response: Box<dyn LossResponse>,
}

impl Responding {
    /// Wraps an algorithm with a response.
    pub fn new(custom: &CustomResponse, start: &ConnectionStart, algorithm: Box<dyn CongestionControl>) -> Self {
        let (maker, values) = custom.parts();
        Self { algorithm, response: Arc::clone(maker).build(start, values) }
    }
}

impl Allowance for Responding {
    fn window(&self) -> u64 {
        self.algorithm.window()
    }

    fn ssthresh(&self) -> u64 {
        self.algorithm.ssthresh()
    }

    fn restore(&mut self) {
        self.algorithm.restore();
    }

    fn restart(&mut self, window: u64, threshold: u64) {
        self.algorithm.restart(window, threshold);
    }
}

impl CongestionControl for Responding {
    fn on_ack(&mut self, ack: &Ack) {
        self.response.on_ack(ack);
        self.algorithm.on_ack(ack);
    }

    fn on_congestion(&mut self, event: &Congestion) {
        self.algorithm.on_congestion(event);
    }

    fn on_undo(&mut self, now: Instant) {
        self.algorithm.on_undo(now);
    }

    fn on_idle(&mut self, now: Instant, window: u64, threshold: u64) {
        self.algorithm.on_idle(now, window, threshold);
    }

    fn on_recovered(&mut self, now: Instant) {
        self.algorithm.on_recovered(now);
    }

    fn leave_slow_start(&mut self) {
        self.algorithm.leave_slow_start();
    }

    fn refuses_prr(&self) -> bool {
        self.algorithm.refuses_prr()
    }

    fn least_in_recovery(&self) -> u64 {
        self.algorithm.least_in_recovery()
    }

    fn epoch(&self) -> Option<GrowthEpoch> {
        self.algorithm.epoch()
    }

    fn internals(&self) -> Internals {
        self.algorithm.internals()
    }

    fn departures(&self) -> Option<&dyn Departures> {
        self.algorithm.departures()
    }

    fn transmissions(&mut self) -> Option<&mut dyn Transmissions> {
        self.algorithm.transmissions()
    }

    fn low_priority(&mut self) -> Option<&mut dyn LowPriority> {
        self.algorithm.low_priority()
    }

    fn diagnosis(&mut self) -> Option<&mut dyn Diagnosis> {
        self.algorithm.diagnosis()
    }

    fn loss_response(&mut self) -> Option<&mut dyn LossResponse> {
        Some(&mut *self.response)
    }

    fn steering(&mut self) -> Option<&mut dyn Steering> {
        self.algorithm.steering()
    }

    fn fault(&self) -> Option<&Fault> {
        self.response.fault().or_else(|| self.algorithm.fault())
    }
}
