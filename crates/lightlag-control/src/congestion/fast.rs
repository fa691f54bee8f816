//! FAST: keeps a fixed number of segments in the queue; computes the window from an equation instead of approaching it
//! in steps.
//!
//! Wei, Jin, Low, Hegde, "FAST TCP: motivation, architecture, algorithms, performance", IEEE/ACM Transactions on
//! Networking 14(6), 2006, equation (1), as generally known; the paper was not available. With base the smallest RTT
//! and RTT the mean, each update sets
//!
//! - W = min(2W, (1 − γ)·W + γ·(base/RTT·W + α)), γ = 1/2.
//!
//! In equilibrium α segments of the flow are queued: W·(1 − base/RTT) = α. Flows share a link in proportion to their α,
//! whatever their RTT. α should be the number of segments that the link carries in about 2 ms, at least 8: 200 for the
//! 1 Gbit/s of the paper. Each sample has the weight min(3/W, 1/4) in the mean RTT.
//!
//! Updates take place once per round trip, and at least `interval` = 20 ms apart, as in the prototype; if they were
//! more frequent, RTT would not yet show the effect of the last update. A rise is spread over the segments acknowledged
//! in the round, a fall is immediate. The paper multiplies W while there is no queueing delay. A measured delay is
//! never exactly zero, so slow start here lasts until more than α segments are queued according to the minimum sample
//! of a round; the mean would count the bursts of slow start itself as a queue. Loss: ssthresh = FlightSize/2, W =
//! ssthresh; timeout: W = 1.

use super::about::{About, Deviation, Signal};
use super::hystart;
use super::registry::Algorithm;
use super::round::{Round, Samples};
use super::window::window_based;
use super::{Ack, Congestion, CongestionControl, ConnectionStart, Phase, SlowStart, Window};
use lightlag_core::{Duration, Instant, Unit, settings};

/// The minimum window while the equation applies.
const LEAST_WINDOW: f64 = 2.0;

settings! {
    /// Parameters of [`Fast`].
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// Number of segments that the flow keeps in the queue: about what the link carries in 2 ms, at least 8.
        alpha: f64 = 20.0 => quantity(Unit::Plain, 1.0, 1e6).unit("segments");
        /// Fraction of the distance to its target that the window covers in an update.
        gamma: f64 = 0.5 => quantity(Unit::Plain, 0.01, 1.0);
        /// Minimum time between two updates if the round-trip time is shorter.
        interval: Duration = Duration::from_millis(20) => time_up_to(Duration::from_secs(3600));
        + /// An early end of slow start, off by default.
        hystart: hystart::Config = hystart::Config::default() => hystart::settings("standard");
    }
}

/// State of FAST.
pub struct Fast {
    config: Config,
    window: Window,
    slow_start: SlowStart,
    round: Round,
    /// Mean round-trip time in seconds; `None` before the first sample.
    mean: Option<f64>,
    next_update: Instant,
    /// Window after the last update, and the growth per acknowledged segment until the window reaches it.
    target: f64,
    step: f64,
}

impl Fast {
    /// Creates FAST in slow start, with the initial window.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
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

    /// Adds the round-trip sample of an ACK. Returns the mean RTT and base/RTT.
    fn measure(&mut self, ack: &Ack) -> Option<(f64, f64)> {
        if let Some(rtt) = ack.rtt {
            let (sample, weight) = (rtt.as_secs_f64(), (3.0 / self.window.segments()).min(0.25));
            let mean = self.mean.map_or(sample, |mean| mean + weight * (sample - mean));
            self.mean = Some(mean);
        }
        let mean = self.mean.filter(|mean| *mean > 0.0 && ack.min_rtt != Duration::MAX)?;
        Some((mean, (ack.min_rtt.as_secs_f64() / mean).min(1.0)))
    }

    /// Returns true if more than α segments are queued, according to the minimum sample of the round.
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
        about: "Keeps alpha segments of each flow in the queue. The window approaches this target by an equation with large \
                steps far from it and small steps near it: fast, stable and fair at any round-trip time. Algorithms that \
                fill queues take the bandwidth from it.",
        equations: &[
            "update, once per round:  W = min(2 W, (1 - gamma) W + gamma (base/RTT W + alpha)),  gamma = 1/2, alpha = 20",
            "base = smallest RTT, RTT = mean with the weight min(3/W, 1/4) for each sample",
            "slow start as newreno, until W (1 - base/RTT) > alpha with the smallest RTT of a round",
            "loss:     ssthresh = max(FlightSize/2, 2), W = ssthresh",
            "timeout:  the same ssthresh, W = 1",
            "equilibrium:  W (1 - base/RTT) = alpha;  queue = sum of alpha, rates proportional to alpha",
        ],
        source: "Wei, Jin, Low, Hegde, \"FAST TCP: motivation, architecture, algorithms, performance\", IEEE/ACM \
                 Transactions on Networking 14(6), 2006",
        year: 2006,
        signal: Signal::Delay,
        details: r#"
            The paper was not available; the equations are generally known. Set α to the segments that the link carries in
            about 2 ms, at least 8 (200 at 1 Gbit/s). In slow start RTT is the minimum of a round, because the mean would
            count the bursts of slow start as a queue. An increase is spread over the segments acknowledged in the round.

            A flow that starts while there is a queue counts it as part of the path, adds α segments of its own, and gets
            more than its fair share.
        "#,
        variants: &[],
        deviations: &[
            Deviation {
                scope: "slow start",
                source: "exponential growth while the queueing delay is zero",
                here: "slow start until more than α segments are in the queue",
                reason: "a measured delay is never exactly zero",
            },
            Deviation {
                scope: "",
                source: "an update every 20 ms (prototype)",
                here: "one update per round trip, and at most one in 20 ms (`interval`)",
                reason: "before that the RTT does not show the effect of the last update, and long paths would \
                         overshoot",
            },
        ],
        checks: "The equation at four points; queue and window of one flow, to 1 %, for RTTs of 100 ms and ten minutes; two \
                 flows with α of 20 and 40 and RTTs of 100 and 200 ms share the link 1:2, to 10 %.",
        not_modelled: "The prototype's control of bursts.",
    };

    fn check(&self) -> Result<(), String> {
        self.hystart.check()
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        Box::new(Fast::new(self, start))
    }
}

#[cfg(test)]
mod tests;
