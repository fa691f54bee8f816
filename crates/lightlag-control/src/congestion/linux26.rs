//! The sender of TCP-Linux, an ns-2 agent that runs congestion control modules of Linux 2.6.22. Windows are whole
//! segments.
//!
//! The variant `linux-2.6` of an algorithm is a `Module`. It defines the increase above ssthresh, the ssthresh after a
//! loss, and the minimum window in recovery. The rest is the same for all modules (`LinuxTcpAgent`, `tcp_slow_start`):
//!
//! - each ACK of new data outside of fast recovery counts as one segment; slow start applies while W ≤ ssthresh;
//! - a loss sets ssthresh from the window, not from FlightSize, and clears the counts; so does each timeout, including
//!   a repeated one, and the window becomes one segment;
//! - in fast recovery the flight may fall to the module's minimum window; after it the window is ssthresh, or that
//!   minimum if it is larger.

use super::about::Deviation;
use super::hystart;
use super::{Ack, Cause, Congestion, CongestionControl, ConnectionStart, SlowStart, Window, WindowBased};
use lightlag_core::params::{Range, Setting, Word};
use lightlag_core::{Duration, Instant, words};

words! {
    /// Source of an algorithm's rules. Not every algorithm has every variant.
    pub enum Linux26Variant {
        /// `linux-2.6` in the profile `ns2-linux`; `ns3` in `ns3`, if the algorithm has this variant; otherwise
        /// `paper`.
        Profile = "profile",
        /// The paper or the RFC.
        Paper = "paper",
        /// Linux 2.6.22, as in ns-2's TCP-Linux.
        Linux26 = "linux-2.6",
        /// ns-3.
        Ns3 = "ns3",
    }
}

/// Deviation of all modules that do not limit the window themselves.
pub(super) const RECEIVE_BUFFER: Deviation = Deviation {
    scope: "linux-2.6",
    source: "`window_` of ns-2 limits the window",
    here: "the receive buffer limits it",
    reason: "the profile has no limit of its own",
};

/// Deviation of modules that start their measurements with the first ACK.
pub(super) const FIRST_ACK: Deviation = Deviation {
    scope: "linux-2.6",
    source: "the module starts with the ACK of ns-2's first packet",
    here: "it starts with the ACK of the first data, one round trip later",
    reason: "the handshake replaces that packet",
};

/// Defines the range and the meaning of the setting `variant`.
pub(super) trait VariantChoice {
    /// Sets the range and the meaning for an algorithm that has no variant `ns3`.
    fn rules(self) -> Self;

    /// Sets the range and the meaning for an algorithm that has the variant `ns3`.
    fn rules_with_ns3(self) -> Self;
}

impl<C: Clone + 'static> VariantChoice for Setting<C> {
    fn rules(mut self) -> Self {
        self.range = Range::Word { what: "a value", words: &Linux26Variant::NAMES[..3] };
        self.about(
            "Source of the rules: paper, or linux-2.6, the module of Linux 2.6.22 in ns-2, which counts ACKs and \
             whole segments; profile is linux-2.6 in profile ns2-linux, paper in the others.",
        )
    }

    fn rules_with_ns3(self) -> Self {
        self.about(
            "The source of the rules: paper, linux-2.6, the module of Linux 2.6.22 in ns-2, which counts ACKs and whole \
             segments, or ns3, the rules of ns-3, which uses the smoothed RTT; profile is linux-2.6 in profile ns2-linux, ns3 \
             in ns3, paper in the others.",
        )
    }
}

/// A congestion control module of Linux 2.6. Windows are whole segments.
pub(super) trait Module: Send {
    /// Processes an ACK of new data, before it may increase the window (`pkts_acked`, `cwnd_event`).
    fn measure(&mut self, _ack: &Ack, _sender: &Sender) {}

    /// Processes a duplicate ACK (`cwnd_event`).
    fn measure_duplicate(&mut self, _ack: &Ack) {}

    /// Processes an ACK that may increase a window above ssthresh (`cong_avoid`).
    fn avoid_congestion(&mut self, ack: &Ack, sender: &mut Sender);

    /// Called after an ACK that increased the window in slow start.
    fn after_slow_start(&mut self, _ack: &Ack, _sender: &mut Sender) {}

    /// Returns the new ssthresh for this window (`ssthresh`). Values below two segments are raised to two.
    fn threshold(&mut self, window: f64, event: &Congestion) -> f64;

    /// Starts a loss episode, after [`Self::threshold`] was called (`set_state`).
    fn begin(&mut self, _event: &Congestion) {}

    /// Called when recovery is complete (`set_state`).
    fn end(&mut self, _now: Instant) {}

    /// Returns the minimum window in fast recovery for this ssthresh (`min_cwnd`). Default: half of ssthresh, as for
    /// Reno.
    fn least(&self, threshold: f64) -> f64 {
        (threshold / 2.0).floor()
    }
}

/// The window, and what was counted towards its next increment.
pub(super) struct Sender {
    pub window: Window,
    /// ACKs counted for the next segment (`snd_cwnd_cnt`).
    pub count: f64,
    /// Segments acknowledged since slow start, since the last reaction or since the last complete window
    /// (`bytes_acked`).
    acked: f64,
}

impl Sender {
    /// Creates a sender with this window and counts of zero.
    pub(super) fn at(window: Window) -> Self {
        Self { window, count: 0.0, acked: 0.0 }
    }

    /// Returns the window in whole segments.
    pub(super) fn whole(&self) -> f64 {
        self.window.segments().floor()
    }

    /// Returns true if the window is at most ssthresh.
    pub(super) fn is_starting(&self) -> bool {
        self.whole() <= self.window.threshold()
    }

    /// Adds a segment to the window if at least `needed` ACKs have been counted; otherwise counts `acks` more.
    pub(super) fn count_up_to(&mut self, needed: f64, acks: f64) {
        if self.count >= needed {
            self.window.grow(1.0);
            self.count = 0.0;
        } else {
            self.count += acks;
        }
    }

    /// Adds a segment when an entire window was acknowledged (`tcp_reno_cong_avoid` with `tcp_abc`). In slow start adds
    /// `growth` segments.
    pub(super) fn grow_as_reno(&mut self, growth: f64) {
        let window = self.whole();
        if self.is_starting() {
            self.start(growth);
        } else if self.acked >= window {
            self.acked -= window;
            self.window.grow(1.0);
        }
    }

    fn start(&mut self, growth: f64) {
        self.acked = 0.0;
        self.window.grow(growth);
    }
}

/// The sender, with a module.
pub(super) struct Agent<M> {
    sender: Sender,
    slow_start: SlowStart,
    module: M,
    /// Minimum window in the current loss episode, in segments.
    least: f64,
}

impl<M: Module> Agent<M> {
    /// Creates a sender with this module in slow start, with the initial window.
    pub(super) fn new(module: M, hystart: &hystart::Config, start: &ConnectionStart) -> Self {
        let sender = Sender::at(Window::new(start));
        Self { sender, slow_start: SlowStart::new(hystart, start), module, least: 0.0 }
    }
}

impl<M> WindowBased for Agent<M> {
    fn shared(&self) -> &Window {
        &self.sender.window
    }

    fn shared_mut(&mut self) -> &mut Window {
        &mut self.sender.window
    }
}

impl<M: Module> CongestionControl for Agent<M> {
    fn on_ack(&mut self, ack: &Ack) {
        if ack.newly_acked == 0 {
            return self.module.measure_duplicate(ack);
        }
        let Self { sender, slow_start, module, .. } = self;
        sender.acked += sender.window.in_segments(ack.newly_acked);
        module.measure(ack, sender);
        if !ack.may_grow() {
            return;
        }
        if sender.is_starting() {
            let left = slow_start.grow(ack, &mut sender.window, ack.growth, 1.0);
            sender.start(left);
            module.after_slow_start(ack, sender);
        } else {
            module.avoid_congestion(ack, sender);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        let Self { sender, module, least, .. } = self;
        let threshold = module.threshold(sender.whole(), event).floor().max(2.0);
        (sender.count, sender.acked) = (0.0, 0.0);
        // Each timeout has its own ssthresh: no kind of event leaves the last one.
        let cause = if event.cause == Cause::RepeatedTimeout { Cause::Timeout } else { event.cause };
        sender.window.react(&Congestion { cause, ..*event }, threshold);
        *least = module.least(threshold);
        if matches!(cause, Cause::Loss | Cause::Mark) {
            sender.window.raise_to(*least);
        }
        module.begin(event);
    }

    fn on_recovered(&mut self, now: Instant) {
        self.module.end(now);
    }

    fn least_in_recovery(&self) -> u64 {
        let segment = self.sender.window.bytes() as f64 / self.sender.window.segments().max(1.0);
        (self.least * segment + 0.5) as u64
    }
}

/// Returns a time in integer milliseconds, the jiffies of ns-2.
pub(super) fn jiffies(time: Duration) -> f64 {
    (time.as_nanos() / 1_000_000) as f64
}

/// Returns the time since the start in jiffies.
pub(super) fn clock(now: Instant) -> f64 {
    jiffies(now.since(Instant::ZERO))
}

#[cfg(test)]
mod tests;
