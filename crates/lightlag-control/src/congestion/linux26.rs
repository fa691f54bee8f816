//! The sender of TCP-Linux, the agent of ns-2 that carries congestion modules of Linux 2.6.22, with windows in whole
//! segments.
//!
//! A variant `linux-2.6` is a `Module`: its increase above ssthresh, its ssthresh, its least window in recovery. The
//! rest is the same for all (`LinuxTcpAgent`, `tcp_slow_start`):
//!
//! - each ACK of new data outside of fast recovery counts as one; slow start applies up to ssthresh and at it;
//! - a loss sets ssthresh from the window, not from FlightSize, and forgets what was counted; a timeout, a repeated one
//!   too, does the same and leaves a window of one segment;
//! - fast recovery lowers the flight to the module's least, and ends at ssthresh, or at that least if it is larger.

use super::hystart;
use super::{Ack, Cause, Congestion, CongestionControl, SlowStart, Start, Window, WindowBased};
use lightlag_core::params::Setting;
use lightlag_core::{Duration, Instant};

/// The source of an algorithm's rules. Not every algorithm has every variant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// Linux 2.6 with the profile `ns2-linux`, ns-3 with `ns3` where there is such a variant, the paper with the others.
    #[default]
    Profile,
    /// The paper or the RFC.
    Paper,
    /// Linux 2.6.22, as in ns-2's TCP-Linux.
    Linux26,
    /// ns-3.
    Ns3,
}

/// A configuration with a [`Variant`].
pub(super) trait Choosable {
    /// Whether there is a variant of ns-3.
    const HAS_NS3: bool = false;

    fn variant(&self) -> Variant;

    /// Sets the variant, with its numbers.
    fn choose(&mut self, variant: Variant);
}

/// The setting `variant`.
pub(super) fn setting<C: Choosable>() -> Setting<C> {
    Setting::word("variant", "a value", if C::HAS_NS3 {
                &["profile", "paper", "linux-2.6", "ns3"]
            } else {
                &["profile", "paper", "linux-2.6"]
            }, |config: &C| config.variant() as usize, |config: &mut C, word| {
                config.choose([Variant::Profile, Variant::Paper, Variant::Linux26, Variant::Ns3][word])
            }).by_default("profile").about(if C::HAS_NS3 {
            "The source of the rules: paper, linux-2.6, the module of Linux 2.6.22 in ns-2, which counts ACKs and whole \
             segments, or ns3, that of ns-3, which sees the smoothed RTT; profile is linux-2.6 in profile ns2-linux, ns3 \
             in ns3, paper in the others."
        } else {
            "The source of the rules: paper, or linux-2.6, the module of Linux 2.6.22 in ns-2, which counts ACKs and \
             whole segments; profile is linux-2.6 in profile ns2-linux, paper in the others."
        })
}

/// A congestion module of Linux 2.6. Windows are whole segments.
pub(super) trait Module: Send {
    /// An ACK of new data, before it may open the window (`pkts_acked`, `cwnd_event`).
    fn measure(&mut self, _ack: &Ack, _sender: &Sender) {}

    /// A duplicate ACK (`cwnd_event`).
    fn measure_duplicate(&mut self, _ack: &Ack) {}

    /// An ACK that may open a window above ssthresh (`cong_avoid`).
    fn avoid_congestion(&mut self, ack: &Ack, sender: &mut Sender);

    /// An ACK that opened the window in slow start.
    fn after_slow_start(&mut self, _ack: &Ack, _sender: &mut Sender) {}

    /// The new ssthresh at this window (`ssthresh`). At least two segments are left in any case.
    fn threshold(&mut self, window: f64, event: &Congestion) -> f64;

    /// An episode begins, after its ssthresh was asked for (`set_state`).
    fn begin(&mut self, _event: &Congestion) {}

    /// The repair is complete (`set_state`).
    fn end(&mut self, _now: Instant) {}

    /// The least window in fast recovery with this ssthresh (`min_cwnd`): by default that of Reno, half of it.
    fn least(&self, threshold: f64) -> f64 {
        (threshold / 2.0).floor()
    }
}

/// A window with its counts.
pub(super) struct Sender {
    pub window: Window,
    /// ACKs counted for the next segment (`snd_cwnd_cnt`).
    pub count: f64,
    /// Segments acknowledged since slow start, the last reaction or the last whole window (`bytes_acked`).
    acked: f64,
}

impl Sender {
    /// A sender with this window that has counted nothing.
    pub(super) fn at(window: Window) -> Self {
        Self { window, count: 0.0, acked: 0.0 }
    }

    /// The window in whole segments.
    pub(super) fn whole(&self) -> f64 {
        self.window.segments().floor()
    }

    /// Whether the window is at most ssthresh.
    pub(super) fn is_starting(&self) -> bool {
        self.whole() <= self.window.threshold()
    }

    /// Adds a segment for the ACK after `needed` ones, and otherwise counts `acks`.
    pub(super) fn count_up_to(&mut self, needed: f64, acks: f64) {
        if self.count >= needed {
            self.window.grow(1.0);
            self.count = 0.0;
        } else {
            self.count += acks;
        }
    }

    /// Adds a segment once a window was acknowledged (`tcp_reno_cong_avoid` with `tcp_abc`), or one for an ACK of slow
    /// start.
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

/// The sender with a module.
pub(super) struct Agent<M> {
    sender: Sender,
    slow_start: SlowStart,
    module: M,
    /// The module's least window in the present episode.
    least: f64,
}

impl<M: Module> Agent<M> {
    /// The module in slow start, at the initial window.
    pub(super) fn new(module: M, hystart: &hystart::Config, start: &Start) -> Self {
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

/// A time in whole milliseconds, the jiffies of ns-2.
pub(super) fn jiffies(time: Duration) -> f64 {
    (time.as_nanos() / 1_000_000) as f64
}

/// Time since the start in jiffies.
pub(super) fn clock(now: Instant) -> f64 {
    jiffies(now.since(Instant::ZERO))
}

#[cfg(test)]
mod tests;
