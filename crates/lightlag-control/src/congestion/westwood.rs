//! Westwood: after a loss, the window follows the rate at which ACKs return.
//!
//! Casetti, Gerla, Mascolo, Sanadidi, Wang, "TCP Westwood: end-to-end congestion control for wired/wireless networks",
//! Wireless Networks 8(5), 2002. Growth as NewReno; W in segments, B in segments a second:
//!
//! - sample of an ACK: b = acknowledged/Δ, Δ since the ACK before it; acknowledged is 1 for a duplicate ACK, and for
//!   a cumulative one the segments it covers less those that duplicates were counted for, at least 1;
//! - filter (Tustin): B = ((2τ − Δ)·B + Δ·(b + last b))/(2τ + Δ), τ = 500 ms; a sample of zero for every τ/2 without an
//!   ACK;
//! - loss, mark: ssthresh = B·RTTmin, W = min(W, ssthresh);
//! - timeout: the same ssthresh, W = 1.
//!
//! The variant `linux-2.6` is that of ns-2, which is Westwood+: see `westwood/linux26.rs`.
//!
//! B starts at zero. ACKs that arrive at the same instant make one sample. ns-2 and INET let an ACK count for at most
//! two segments (`ack_limit`). INET filters with a constant Δ = τ/10, and divides ssthresh by a number that grows with
//! losses in slow start, which the paper does not have. The paper's counting and τ are those generally known; its text
//! was not available.

mod linux26;

use super::hystart;
use super::linux26::{Agent, Choosable, Variant};
use super::registry::{About, Algorithm};
use super::window::window_based;
use super::{Ack, Congestion, CongestionControl, SlowStart, Start, Window};
use lightlag_core::params::Setting;
use lightlag_core::{Duration, Instant, Unit};

/// Parameters of Westwood.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The source of the rules.
    pub variant: Variant,
    /// τ: the time constant of the filter, 500 ms.
    pub filter_time: Duration,
    /// The most segments that an ACK counts for; 0 means no limit.
    pub ack_limit: f64,
    /// Slow start.
    pub hystart: hystart::Config,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            variant: Variant::default(),
            filter_time: Duration::from_millis(500),
            ack_limit: 0.0,
            hystart: hystart::Config::default(),
        }
    }
}

impl Config {
    /// Whether the parameters of the filter are the defaults.
    fn keeps_filter(&self) -> bool {
        let Self { filter_time, ack_limit, .. } = Self::default();
        (self.filter_time, self.ack_limit) == (filter_time, ack_limit)
    }
}

impl Choosable for Config {
    fn variant(&self) -> Variant {
        self.variant
    }

    fn choose(&mut self, variant: Variant) {
        self.variant = variant;
    }
}

/// An estimator of bandwidth from ACKs.
pub(super) trait Estimator: Send {
    /// Takes in `acked` acknowledged segments.
    fn on_ack(&mut self, ack: &Ack, acked: f64);

    /// The bandwidth in segments a second.
    fn bandwidth(&mut self, now: Instant) -> f64;
}

/// The window of Westwood, Westwood+ and, after congestion, WestwoodBR.
pub(super) struct Westwood<E> {
    window: Window,
    slow_start: SlowStart,
    count: Count,
    estimator: E,
}

impl<E: Estimator> Westwood<E> {
    /// The algorithm in slow start, at the initial window.
    pub(super) fn new(estimator: E, ack_limit: f64, hystart: &hystart::Config, start: &Start) -> Self {
        Self {
            window: Window::new(start),
            slow_start: SlowStart::new(hystart, start),
            count: Count::new(ack_limit),
            estimator,
        }
    }

    /// The segments that the path holds: the estimated bandwidth over the smallest round-trip time.
    pub(super) fn path(&mut self, event: &Congestion) -> f64 {
        let bandwidth = self.estimator.bandwidth(event.now);
        // Before the first sample there is no bandwidth either.
        let min_rtt = if event.min_rtt == Duration::MAX { 0.0 } else { event.min_rtt.as_secs_f64() };
        bandwidth * min_rtt
    }
}

/// The count of segments that an ACK acknowledges.
struct Count {
    /// Segments counted for duplicate ACKs that no cumulative one has covered.
    accounted: f64,
    limit: f64,
}

impl Count {
    /// A count with at most `limit` segments for an ACK; 0 means no limit.
    fn new(limit: f64) -> Self {
        Self { accounted: 0.0, limit }
    }

    fn take(&mut self, ack: &Ack, window: &Window) -> f64 {
        if ack.newly_acked == 0 {
            if !ack.duplicate {
                return 0.0;
            }
            self.accounted += 1.0;
            return 1.0;
        }
        let covered = window.in_segments(ack.newly_acked);
        if covered <= 1.0 {
            return covered;
        }
        let known = self.accounted.min(covered);
        self.accounted -= known;
        let new = (covered - known).max(1.0);
        if self.limit > 0.0 { new.min(self.limit) } else { new }
    }
}

window_based!(Westwood<E: Estimator>);

impl<E: Estimator> CongestionControl for Westwood<E> {
    fn on_ack(&mut self, ack: &Ack) {
        let acked = self.count.take(ack, &self.window);
        self.estimator.on_ack(ack, acked);
        if ack.may_grow() {
            self.slow_start.grow_as_reno(ack, &mut self.window);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        let path = self.path(event);
        self.window.reduce(event, path);
    }
}

/// The filter of the paper.
pub(super) struct Tustin {
    tau: f64,
    bandwidth: f64,
    last_sample: f64,
    last_ack: Option<Instant>,
    /// Time of the last sample, real or zero.
    filtered: Instant,
    /// Segments acknowledged at the instant of `last_ack`, after its sample.
    waiting: f64,
}

impl Tustin {
    pub(super) fn new(filter_time: Duration) -> Self {
        Self {
            tau: filter_time.as_secs_f64(),
            bandwidth: 0.0,
            last_sample: 0.0,
            last_ack: None,
            filtered: Instant::ZERO,
            waiting: 0.0,
        }
    }

    fn filter(&mut self, sample: f64, delta: f64) {
        let sum = sample + self.last_sample;
        self.bandwidth = ((2.0 * self.tau - delta) * self.bandwidth + delta * sum) / (2.0 * self.tau + delta);
        self.last_sample = sample;
    }

    /// Adds a sample of zero for each τ/2 before `now`.
    fn be_silent_until(&mut self, now: Instant) {
        let half = Duration::from_secs_f64(self.tau / 2.0);
        while now.since(self.filtered) > half && (self.bandwidth > 1e-9 || self.last_sample > 0.0) {
            self.filter(0.0, self.tau / 2.0);
            self.filtered += half;
        }
        if now.since(self.filtered) > half {
            // The estimate has decayed to nothing.
            self.bandwidth = 0.0;
            self.filtered = now;
        }
    }
}

impl Estimator for Tustin {
    fn on_ack(&mut self, ack: &Ack, acked: f64) {
        if acked == 0.0 {
            return;
        }
        let Some(last) = self.last_ack else {
            (self.last_ack, self.filtered) = (Some(ack.now), ack.now);
            return;
        };
        self.waiting += acked;
        let since = ack.now.since(last).as_secs_f64();
        if since == 0.0 {
            return;
        }
        self.be_silent_until(ack.now);
        let delta = ack.now.since(self.filtered).as_secs_f64();
        self.filter(self.waiting / since, delta);
        self.waiting = 0.0;
        (self.last_ack, self.filtered) = (Some(ack.now), ack.now);
    }

    fn bandwidth(&mut self, now: Instant) -> f64 {
        if self.last_ack.is_some() {
            self.be_silent_until(now);
        }
        self.bandwidth
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "NewReno that does not halve: the rate at which ACKs come back says what the path carries, and a loss \
                sets the window to that rate times the smallest round-trip time, so that an error of the link costs \
                little. ACKs that a queue has pushed together make the estimate too large.",
        equations: &[
            "sample of an ACK:  b = acknowledged/D, D since the last ACK; a sample of 0 after tau/2 without one",
            "filter:   B = ((2 tau - D) B + D (b + last b))/(2 tau + D)",
            "growth:   as newreno",
            "loss:     ssthresh = max(B RTTmin, 2), W = min(W, ssthresh)",
            "linux-2.6: B as in westwood+;  loss: ssthresh = W/2, W = max(B RTTmin, ssthresh);  timeout: W/2, W = 1",
            "timeout:  the same ssthresh, W = 1",
        ],
        source: "Casetti, Gerla, Mascolo, Sanadidi, Wang, \"TCP Westwood: end-to-end congestion control for \
                 wired/wireless networks\", Wireless Networks 8(5), 2002",
    };

    fn settings() -> Vec<Setting<Self>> {
        let own: Vec<Setting<Self>> = vec![
            super::linux26::setting(),
            Setting::time_up_to("filter_time", |config: &mut Self| &mut config.filter_time, Duration::from_secs(3600))
                .by_default("500 ms")
                .unit("time")
                .about("tau: the time constant of the bandwidth filter."),
            Setting::quantity("ack_limit", |config: &mut Self| &mut config.ack_limit, Unit::Plain, 0.0, 1e9)
                .by_default("0")
                .unit("segments")
                .about("The most that an ACK counts for in the estimate; 0 is no limit (ns-2, INET: 2)."),
        ];
        [own, hystart::settings("standard")].concat()
    }

    fn check(&self) -> Result<(), String> {
        if self.variant == Variant::Linux26 && !self.keeps_filter() {
            let why = "variant = \"linux-2.6\" has another filter: leave both out";
            return Err(format!("filter_time, ack_limit: {why}"));
        }
        if self.filter_time < Duration::from_millis(1) {
            return Err(format!("filter_time: {} is below 1 ms", self.filter_time));
        }
        self.hystart.check()
    }

    fn in_linux26(&self) -> Self {
        // A filter of the scenario's own stays.
        let is_free = self.variant == Variant::Profile && self.keeps_filter();
        Self { variant: if is_free { Variant::Linux26 } else { self.variant }, ..self.clone() }
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        if self.variant == Variant::Linux26 {
            return Box::new(Agent::new(linux26::Module26::new(start), &self.hystart, start));
        }
        Box::new(Westwood::new(Tustin::new(self.filter_time), self.ack_limit, &self.hystart, start))
    }
}

impl hystart::Choosable for Config {
    fn hystart(&mut self) -> &mut hystart::Config {
        &mut self.hystart
    }
}

#[cfg(test)]
mod tests;
