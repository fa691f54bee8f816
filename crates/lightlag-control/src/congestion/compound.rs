//! Compound TCP: Reno's window, and a second one that follows the queueing delay.
//!
//! Tan, Song, Zhang, Sridharan, "A compound TCP approach for high-speed and long distance networks", INFOCOM 2006;
//! draft-sridharan-tcpm-ctcp-02. Both are used as generally known, as neither was available. The window is W = C + D.
//! In avoidance C grows by 1/W for each counted segment, which is Reno's segment a round. D changes once a round. With
//! diff = W·(1 − base/RTT) segments in queues,
//!
//! - D += max(α·W^k − 1, 0) if diff < γ: in total W grows by α·W^k, α = 1/8, k = 3/4, γ = 30;
//! - D = max(D − ζ·diff, 0) otherwise, ζ = 1;
//! - loss: C is halved and D = max((1 − β)·W − C, 0), β = 1/2; timeout: D = 0, W = 1, and base is measured again,
//!   from SRTT down (the draft).
//!
//! W is FlightSize at a loss (RFC 5681 equation 4). D is 0 in slow start and changes only from `low_window` = 38
//! segments on (the draft: 41). RTT is the mean of the round. The papers smooth with SRTT, which after many samples
//! reflects only the last of them. With `tune_gamma` γ follows the queue that Reno's part alone met at losses (the
//! draft): γ = (1 − λ)·γ + λ·¾·C·(1 − base/RTT), λ = 0.8, within 5 and 30, and 30 again after a timeout.

use super::hystart;
use super::registry::{About, Algorithm};
use super::round::{Round, Samples};
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, Phase, SlowStart, Start, Window};
use lightlag_core::params::Setting;
use lightlag_core::{Duration, Instant, Unit};

/// The draft: bounds of a tuned γ in segments, weight of a sample, and its share of Reno's queue.
const TUNED: (f64, f64) = (5.0, 30.0);
const TUNING_WEIGHT: f64 = 0.8;
const TUNING_PART: f64 = 0.75;

/// Parameters of [`Compound`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// α, 0.125.
    pub alpha: f64,
    /// β: the part of the window lost at a loss, 0.5.
    pub beta: f64,
    /// k, 0.75.
    pub k: f64,
    /// γ in segments, 30.
    pub gamma: f64,
    /// ζ, 1.
    pub zeta: f64,
    /// The least window in segments at which D changes, 38.
    pub low_window: f64,
    /// Whether γ follows the queue of Reno's part.
    pub tune_gamma: bool,
    /// Slow start's early end, off by default.
    pub hystart: hystart::Config,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            alpha: 0.125,
            beta: 0.5,
            k: 0.75,
            gamma: 30.0,
            zeta: 1.0,
            low_window: 38.0,
            tune_gamma: false,
            hystart: hystart::Config::default(),
        }
    }
}

/// Compound's windows.
pub struct Compound {
    config: Config,
    /// W.
    window: Window,
    /// D, a part of W.
    delay_window: f64,
    /// D before the last reaction.
    before: f64,
    slow_start: SlowStart,
    round: Round,
    /// The smallest RTT.
    base: Duration,
    gamma: f64,
    /// The part of C that waited in the last round; the loss that tunes γ uses it.
    reno_queue: Option<f64>,
}

impl Compound {
    /// Compound in slow start, at the initial window.
    pub fn new(config: &Config, start: &Start) -> Self {
        Self {
            config: config.clone(),
            window: Window::new(start),
            delay_window: 0.0,
            before: 0.0,
            slow_start: SlowStart::new(&config.hystart, start),
            round: Round::default(),
            base: Duration::MAX,
            gamma: config.gamma,
            reno_queue: None,
        }
    }

    /// C: the window that Reno would have.
    fn loss_window(&self) -> f64 {
        self.window.segments() - self.delay_window
    }

    fn end_round(&mut self, round: &Samples, may_grow: bool) {
        let Some(rtt) = round.mean() else { return };
        let (w, queued) = (self.window.segments(), rtt.saturating_sub(self.base) / rtt);
        self.reno_queue = Some(self.loss_window() * queued);
        let diff = w * queued;
        if diff >= self.gamma {
            self.change(-(self.config.zeta * diff).min(self.delay_window));
        } else if may_grow && w >= self.config.low_window {
            self.change((self.config.alpha * libm::pow(w, self.config.k) - 1.0).max(0.0));
        }
    }

    /// Changes D, and with it W.
    fn change(&mut self, segments: f64) {
        self.delay_window += segments;
        self.window.grow(segments);
        // A window that gives way must not restart slow start.
        if self.window.in_slow_start() {
            self.window.leave_slow_start();
        }
    }

    fn tune(&mut self) {
        if let Some(queue) = self.reno_queue.take().filter(|_| self.config.tune_gamma) {
            let tuned = (1.0 - TUNING_WEIGHT) * self.gamma + TUNING_WEIGHT * TUNING_PART * queue;
            self.gamma = tuned.clamp(TUNED.0, TUNED.1);
        }
    }
}

window_based!(Compound);

impl CongestionControl for Compound {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.base = self.base.min(rtt);
        }
        let ended = self.round.on_ack(ack);
        if ack.phase != Phase::Open {
            self.round.forget();
        } else if let Some(samples) = ended.filter(|_| !self.window.in_slow_start()) {
            self.end_round(&samples, ack.may_grow());
        }
        if ack.may_grow() {
            self.slow_start.grow_as_reno(ack, &mut self.window);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        let flight = self.window.in_segments(event.flight);
        let loss_window = self.loss_window().min(flight) / 2.0;
        self.window.react(event, (flight * (1.0 - self.config.beta)).max(loss_window));
        if event.cause != Cause::RepeatedTimeout {
            self.before = self.delay_window;
        }
        self.round.forget();
        if matches!(event.cause, Cause::Timeout | Cause::RepeatedTimeout) {
            self.delay_window = 0.0;
            self.gamma = self.config.gamma;
            self.reno_queue = None;
            if !event.srtt.is_zero() {
                self.base = event.srtt;
            }
        } else {
            self.delay_window = (self.window.segments() - loss_window).max(0.0).min(self.window.segments());
            self.tune();
        }
    }

    fn on_undo(&mut self, _now: Instant) {
        self.window.undo();
        self.delay_window = self.before;
    }

    fn on_idle(&mut self, _now: Instant, window: u64, threshold: u64) {
        let loss_window = self.loss_window();
        self.window.restart(window, threshold);
        self.delay_window = (self.window.segments() - loss_window).max(0.0);
        self.round = Round::default();
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "Adds a second window to Reno's, which grows fast while the queue is short and gives way as it grows. \
                It fills long paths soon and is Reno where the queue is kept by somebody else.",
        equations: &[
            "W = C + D;  diff = W (1 - base/RTT), base = smallest RTT, RTT = mean of the round",
            "avoidance, per counted segment:  C += 1/W",
            "per round:  D += max(alpha W^k - 1, 0) if diff < gamma, D = max(D - zeta diff, 0) otherwise",
            "slow start as newreno with D = 0;  D changes only from W = low_window on",
            "loss:     C = C/2, D = max((1 - beta) FlightSize - C, 0), ssthresh = W, at least 2",
            "timeout:  the same ssthresh, W = 1, D = 0;  base = SRTT",
            "mean window, losses every 1/p segments, no queue:  0.729 (0.270/p)^0.8 segments",
        ],
        source: "Tan, Song, Zhang, Sridharan, \"A compound TCP approach for high-speed and long distance networks\", \
                 INFOCOM 2006; draft-sridharan-tcpm-ctcp-02",
    };

    fn settings() -> Vec<Setting<Self>> {
        [growth_settings(), queue_settings(), hystart::settings("standard")].concat()
    }

    fn check(&self) -> Result<(), String> {
        self.hystart.check()
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Compound::new(self, start))
    }
}

fn growth_settings() -> Vec<Setting<Config>> {
    vec![
        Setting::quantity("alpha", |config: &mut Config| &mut config.alpha, Unit::Plain, 0.0, 10.0)
            .by_default("0.125")
            .about("A round without a queue adds alpha W^k."),
        Setting::quantity("beta", |config: &mut Config| &mut config.beta, Unit::Plain, 0.01, 0.99)
            .by_default("0.5")
            .about("The part of the window that a loss takes."),
        Setting::quantity("k", |config: &mut Config| &mut config.k, Unit::Plain, 0.0, 1.0)
            .by_default("0.75")
            .about("The power of the window by which it grows."),
        Setting::quantity("low_window", |config: &mut Config| &mut config.low_window, Unit::Plain, 0.0, 1e6)
            .by_default("38")
            .unit("segments")
            .about("The window from which on the second window grows (the draft: 41)."),
    ]
}

fn queue_settings() -> Vec<Setting<Config>> {
    vec![
        Setting::quantity("gamma", |config: &mut Config| &mut config.gamma, Unit::Plain, 1.0, 1e6)
            .by_default("30")
            .unit("segments")
            .about("With as many in the queue the second window gives way."),
        Setting::quantity("zeta", |config: &mut Config| &mut config.zeta, Unit::Plain, 0.0, 100.0)
            .by_default("1")
            .about("How much of the queue the second window gives back in a round."),
        Setting::flag("tune_gamma", |config: &mut Config| &mut config.tune_gamma)
            .by_default("false")
            .about("Let gamma follow, between 5 and 30 segments, the queue that Reno's part alone met at losses."),
    ]
}

impl hystart::Choosable for Config {
    fn hystart(&mut self) -> &mut hystart::Config {
        &mut self.hystart
    }
}

#[cfg(test)]
mod tests;
