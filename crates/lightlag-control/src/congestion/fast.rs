//! FAST: a fixed number of segments in the queue, reached by an equation instead of steps.
//!
//! Wei, Jin, Low, Hegde, "FAST TCP: motivation, architecture, algorithms, performance", IEEE/ACM Transactions on
//! Networking 14(6), 2006, equation (1), as generally known; the paper was not available. With base the smallest RTT
//! and RTT the mean, each update sets
//!
//! - W = min(2W, (1 − γ)·W + γ·(base/RTT·W + α)), γ = 1/2.
//!
//! In equilibrium α segments of the flow wait, W·(1 − base/RTT) = α. Flows share a link in proportion to their α,
//! whatever their RTT. α should be the data that the link carries in about 2 ms, at least 8: 200 for the 1 Gbit/s of
//! the paper. Each sample enters the mean RTT with the weight min(3/W, 1/4).
//!
//! An update takes place once a round trip, and at least `interval` = 20 ms apart, the prototype's clock; more often,
//! RTT would not yet show the effect of the last one. A rise is spread over the segments acknowledged in the round, a
//! fall is immediate. The paper multiplies W while there is no queueing delay. No measured delay is zero, so slow start
//! here lasts until more than α segments wait by the smallest sample of a round; the mean would count slow start's own
//! bursts as a queue. Loss: ssthresh = FlightSize/2, W = ssthresh; timeout: W = 1.

use super::hystart;
use super::registry::{About, Algorithm};
use super::round::{Round, Samples};
use super::window::window_based;
use super::{Ack, Congestion, CongestionControl, Phase, SlowStart, Start, Window};
use lightlag_core::params::Setting;
use lightlag_core::{Duration, Instant, Unit};

/// The least window while the equation applies.
const LEAST_WINDOW: f64 = 2.0;

/// Parameters of [`Fast`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// α in segments, 20.
    pub alpha: f64,
    /// γ, 0.5.
    pub gamma: f64,
    /// The least time between two updates, 20 ms.
    pub interval: Duration,
    /// An early end of slow start, off by default.
    pub hystart: hystart::Config,
}

impl Default for Config {
    fn default() -> Self {
        let interval = Duration::from_millis(20);
        Self { alpha: 20.0, gamma: 0.5, interval, hystart: hystart::Config::default() }
    }
}

/// FAST's window.
pub struct Fast {
    config: Config,
    window: Window,
    slow_start: SlowStart,
    round: Round,
    /// The mean RTT in seconds.
    mean: Option<f64>,
    next_update: Instant,
    /// The window after the last update, and the growth per acknowledged segment on the way to it.
    target: f64,
    step: f64,
}

impl Fast {
    /// FAST in slow start, at the initial window.
    pub fn new(config: &Config, start: &Start) -> Self {
        Self {
            config: config.clone(),
            window: Window::new(start),
            slow_start: SlowStart::new(&config.hystart, start),
            round: Round::default(),
            mean: None,
            next_update: Instant::ZERO,
            target: 0.0,
            step: 0.0,
        }
    }

    /// Takes a sample, and returns the mean RTT and base/RTT.
    fn measure(&mut self, ack: &Ack) -> Option<(f64, f64)> {
        if let Some(rtt) = ack.rtt {
            let (sample, weight) = (rtt.as_secs_f64(), (3.0 / self.window.segments()).min(0.25));
            let mean = self.mean.map_or(sample, |mean| mean + weight * (sample - mean));
            self.mean = Some(mean);
        }
        let mean = self.mean.filter(|mean| *mean > 0.0 && ack.min_rtt != Duration::MAX)?;
        Some((mean, (ack.min_rtt.as_secs_f64() / mean).min(1.0)))
    }

    /// Whether more than α segments wait by the smallest sample of a round.
    fn is_full(&self, round: &Samples, base: Duration) -> bool {
        round.count > 0 && self.window.segments() * (round.min.saturating_sub(base) / round.min) > self.config.alpha
    }

    fn update(&mut self, now: Instant, mean: f64, ratio: f64) {
        if now < self.next_update {
            return;
        }
        self.next_update = now + self.config.interval.max(Duration::from_secs_f64(mean));
        let Config { alpha, gamma, .. } = self.config;
        let w = self.window.segments();
        self.target = (2.0 * w).min((1.0 - gamma) * w + gamma * (ratio * w + alpha)).max(LEAST_WINDOW);
        self.step = (self.target - w).max(0.0) / w;
        self.window.clamp_to(self.target);
        if self.window.in_slow_start() {
            self.window.leave_slow_start();
        }
    }

    fn approach_target(&mut self, acked: f64) {
        let w = self.window.segments();
        if w < self.target {
            self.window.grow((acked * self.step).min(self.target - w));
        }
    }

    fn forget_target(&mut self) {
        (self.target, self.step) = (0.0, 0.0);
    }
}

window_based!(Fast);

impl CongestionControl for Fast {
    fn on_ack(&mut self, ack: &Ack) {
        let Some((mean, ratio)) = self.measure(ack) else { return };
        let ended = self.round.on_ack(ack);
        if self.window.in_slow_start() {
            let full = ended.is_some_and(|round| self.is_full(&round, ack.min_rtt));
            if ack.phase != Phase::Open || !full {
                if ack.may_grow() {
                    self.slow_start.grow(ack, &mut self.window, ack.growth, 1.0);
                }
                return;
            }
            self.window.leave_slow_start();
        }
        if ack.phase == Phase::Open {
            self.update(ack.now, mean, ratio);
        }
        if ack.may_grow() {
            // A cumulative ACK may cover data that arrived long ago: then the connection's limit applies.
            let jumps = ack.phase == Phase::Loss;
            let acked = if jumps { ack.growth } else { self.window.in_segments(ack.newly_acked) };
            self.approach_target(acked);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        self.window.react(event, self.window.in_segments(event.flight) / 2.0);
        self.forget_target();
    }

    fn on_idle(&mut self, _now: Instant, window: u64, threshold: u64) {
        self.window.restart(window, threshold);
        self.forget_target();
        self.mean = None;
        self.round = Round::default();
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "Aims at alpha segments of each flow in the queue, and approaches them by an equation that takes large \
                steps far away and small ones nearby: fast, stable, and fair whatever the round-trip times. Set alpha \
                to what the link carries in about 2 ms. Algorithms that fill queues take the path from it.",
        equations: &[
            "update, once a round:  W = min(2 W, (1 - gamma) W + gamma (base/RTT W + alpha))",
            "base = smallest RTT, RTT = mean with the weight min(3/W, 1/4) for each sample",
            "slow start as newreno, until W (1 - base/RTT) > alpha with the smallest RTT of a round",
            "loss:     ssthresh = max(FlightSize/2, 2), W = ssthresh",
            "timeout:  the same ssthresh, W = 1",
            "equilibrium:  W (1 - base/RTT) = alpha;  the queue is the sum of alpha, rates are as alpha",
        ],
        source: "Wei, Jin, Low, Hegde, \"FAST TCP: motivation, architecture, algorithms, performance\", IEEE/ACM \
                 Transactions on Networking 14(6), 2006",
    };

    fn settings() -> Vec<Setting<Self>> {
        let own: Vec<Setting<Self>> = vec![
            Setting::quantity("alpha", |config: &mut Self| &mut config.alpha, Unit::Plain, 1.0, 1e6)
                .by_default("20")
                .unit("segments")
                .about("What the flow keeps in the queue: about what the link carries in 2 ms, at least 8."),
            Setting::quantity("gamma", |config: &mut Self| &mut config.gamma, Unit::Plain, 0.01, 1.0)
                .by_default("0.5")
                .about("How much of the way to its aim the window goes with an update."),
            Setting::time_up_to("interval", |config: &mut Self| &mut config.interval, Duration::from_secs(3600))
                .by_default("20 ms")
                .unit("time")
                .about("The least time between two updates, where the round-trip time is shorter."),
        ];
        [own, hystart::settings("standard")].concat()
    }

    fn check(&self) -> Result<(), String> {
        self.hystart.check()
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Fast::new(self, start))
    }
}

impl hystart::Choosable for Config {
    fn hystart(&mut self) -> &mut hystart::Config {
        &mut self.hystart
    }
}

#[cfg(test)]
mod tests;
