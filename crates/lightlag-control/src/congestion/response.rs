//! Loss responses from outside: a judge in front of an algorithm, which says what a loss comes from.
//!
//! A sender that blames a loss on corruption does not tell its congestion control, so that neither the window nor the back-off
//! pays for it.

use super::own::Fault;
use super::{
    Ack, Allowance, Cause, Congestion, CongestionControl, Departures, Diagnosis, Epoch, Internals, LowPriority, Start,
    Steering, Transmissions,
};
use lightlag_core::own::{Outside, Registry};
use lightlag_core::{Duration, Instant};
use std::sync::Arc;

/// A loss that was found: the start of an episode, whatever the number of lost segments, or a timeout.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// Its time.
    pub now: Instant,
    /// The sign of it: [`Cause::Loss`] or [`Cause::Timeout`].
    pub cause: Cause,
    /// Time at which the lowest lost segment left.
    pub sent: Option<Instant>,
    /// Outstanding data in bytes.
    pub inflight: u64,
    /// The congestion window in bytes.
    pub cwnd: u64,
    /// The latest round-trip sample; zero before the first.
    pub rtt: Duration,
    /// SRTT (RFC 6298); zero before the first sample.
    pub srtt: Duration,
    /// The smallest sample so far; [`Duration::MAX`] before the first.
    pub min_rtt: Duration,
}

/// Says for one sender what its losses come from.
pub trait LossResponse: Send {
    /// An ACK came, of which the congestion control is told, too.
    fn on_ack(&mut self, ack: &Ack);

    /// Whether a loss comes from an error of a link rather than from congestion.
    fn is_corruption(&mut self, loss: &Loss) -> bool;

    /// Its failure. From then on it is not asked any more.
    fn fault(&self) -> Option<&Fault>;
}

/// A loss response from outside, which builds those of senders.
pub trait Maker: Outside {
    /// Builds it for a connection, with a value for each parameter.
    fn build(self: Arc<Self>, start: &Start, values: &[f64]) -> Box<dyn LossResponse>;
}

/// A loss response from outside with the values of its parameters.
pub type Own = lightlag_core::own::Own<dyn Maker>;

/// The loss responses from outside.
pub static OUTSIDE: Registry<dyn Maker> = Registry::new();

/// An algorithm with a loss response in front of it.
pub struct Responding {
    algorithm: Box<dyn CongestionControl>,
    response: Box<dyn LossResponse>,
}

impl Responding {
    /// Puts a response in front of an algorithm.
    pub fn new(own: &Own, start: &Start, algorithm: Box<dyn CongestionControl>) -> Self {
        let (maker, values) = own.parts();
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

    fn epoch(&self) -> Option<Epoch> {
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
