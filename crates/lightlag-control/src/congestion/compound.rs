//! Compound TCP: Reno's window, and a second one that follows the queueing delay.
//!
//! Tan, Song, Zhang, Sridharan, "A compound TCP approach for high-speed and long distance networks", INFOCOM 2006;
//! draft-sridharan-tcpm-ctcp-02. Neither was available; their rules are used as generally known. The window is W = C +
//! D. In avoidance C grows by 1/W for each counted segment, which is Reno's segment per round. D changes once per
//! round. With base the smallest RTT, diff = W·(1 − base/RTT) segments are in queues, and
//!
//! - D += max(α·W^k − 1, 0) if diff < γ: in total W grows by α·W^k, α = 1/8, k = 3/4, γ = 30;
//! - D = max(D − ζ·diff, 0) otherwise, ζ = 1;
//! - loss: C is halved and D = max((1 − β)·W − C, 0), β = 1/2; timeout: D = 0, W = 1, and base is measured again,
//!   from SRTT down (the draft).
//!
//! At a loss, W stands for FlightSize (RFC 5681 equation 4). D is 0 in slow start, and changes only if W is at least
//! `low_window` = 38 segments (the draft: 41). RTT is the mean of the round. The papers use SRTT, but in a round with
//! many samples SRTT reflects only the last ones. With `tune_gamma` γ follows the queue that C, the part of Reno, alone
//! has caused when losses occur (the draft): γ = (1 − λ)·γ + λ·¾·C·(1 − base/RTT), λ = 0.8, within 5 and 30, and 30
//! again after a timeout.

use super::about::{About, Deviation, Signal};
use super::hystart;
use super::registry::Algorithm;
use super::round::{Round, Samples};
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, ConnectionStart, Phase, SlowStart, Window};
use lightlag_core::{Duration, Instant, Unit, settings};

/// The draft's tuning of γ: its bounds in segments, the weight of a sample, and the fraction of Reno's queue.
const TUNED: (f64, f64) = (5.0, 30.0);
const TUNING_WEIGHT: f64 = 0.8;
const TUNING_PART: f64 = 0.75;

settings! {
    /// Parameters of [`Compound`].
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// Factor alpha of the growth alpha W^k in a round without a queue.
        alpha: f64 = 0.125 => quantity(Unit::Plain, 0.0, 10.0);
        /// Fraction of the window removed by a loss.
        beta: f64 = 0.5 => quantity(Unit::Plain, 0.01, 0.99);
        /// Exponent k of the growth alpha W^k.
        k: f64 = 0.75 => quantity(Unit::Plain, 0.0, 1.0);
        /// Minimum window for the growth of the second window (the draft: 41).
        low_window: f64 = 38.0 => quantity(Unit::Plain, 0.0, 1e6).unit("segments");
        /// Minimum number of segments in the queue that makes the second window shrink.
        gamma: f64 = 30.0 => quantity(Unit::Plain, 1.0, 1e6).unit("segments");
        /// Fraction of the queue by which the second window shrinks in a round.
        zeta: f64 = 1.0 => quantity(Unit::Plain, 0.0, 100.0);
        /// Whether gamma follows the queue that Reno's part alone has caused when losses occur, between 5 and 30
        /// segments.
        tune_gamma: bool = false => flag();
        + /// Early end of slow start, off by default.
        hystart: hystart::Config = hystart::Config::default() => hystart::settings("standard");
    }
}

/// State of Compound TCP.
pub struct Compound {
    config: Config,
    /// W, the total window.
    window: Window,
    /// D, the delay-based part of W, in segments.
    delay_window: f64,
    /// D before the last reaction, for an undo.
    before: f64,
    slow_start: SlowStart,
    round: Round,
    /// Smallest round-trip time.
    base: Duration,
    gamma: f64,
    /// Number of segments of C that were queued in the last round; at a loss this value tunes γ.
    reno_queue: Option<f64>,
}

impl Compound {
    /// Creates Compound in slow start, with the initial window.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
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

    /// Returns C, the loss-based part of the window, in segments.
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

    /// Changes D by this many segments, and W with it.
    fn change(&mut self, segments: f64) {
        self.delay_window += segments;
        self.window.grow(segments);
        // A window that shrinks must not restart slow start.
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
        about: "Adds a second window to Reno's. It grows fast while the queue is short and shrinks as the queue grows, so \
                that Compound fills long paths quickly and behaves as Reno if other flows keep the queue full.",
        equations: &[
            "W = C + D;  diff = W (1 - base/RTT), base = smallest RTT, RTT = mean of the round",
            "avoidance, per counted segment:  C += 1/W",
            "per round, W >= 38:  D += max(W^(3/4)/8 - 1, 0) if diff < 30, D = max(D - diff, 0) otherwise",
            "slow start as newreno with D = 0",
            "loss:     C = C/2, D = max(FlightSize/2 - C, 0), ssthresh = W, at least 2",
            "timeout:  ssthresh = max(FlightSize/2, 2), W = 1, D = 0;  base = SRTT",
            "mean window, losses every 1/p segments, no queue:  0.729 (0.270/p)^0.8 segments",
        ],
        source: "Tan, Song, Zhang, Sridharan, \"A compound TCP approach for high-speed and long distance networks\", \
                 INFOCOM 2006; draft-sridharan-tcpm-ctcp-02",
        year: 2006,
        signal: Signal::LossAndDelay,
        details: r#"
            1/8, 3/4 and 30 are `alpha`, `k` and `gamma`; diff is multiplied by `zeta` = 1; a loss removes `beta` = 1/2
            of FlightSize; 38 is `low_window`. With `tune_gamma`, γ follows three quarters of the queue that C alone
            caused before losses; a new value has the weight 0.8, and γ stays between 5 and 30.
        "#,
        variants: &[],
        deviations: &[
            Deviation {
                scope: "",
                source: "RTT is SRTT",
                here: "the mean of the round",
                reason: "SRTT with one sample per ACK covers only the last few samples",
            },
            Deviation {
                scope: "",
                source: "D changes from 41 segments (draft) or 38 (paper)",
                here: "38 (`low_window`)",
                reason: "the paper",
            },
        ],
        checks: "One round at W = 100 (D grows by 2.953) and 10,000; γ, its tuning and the reduction by a queue; loss and \
                 timeout; the mean window at p = 10⁻⁴ and 10⁻⁵, to 3 %; on a path of 1000 segments the window stays below \
                 1090 and 98 % of the link is used.",
        not_modelled: "",
    };

    fn check(&self) -> Result<(), String> {
        self.hystart.check()
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        Box::new(Compound::new(self, start))
    }
}
#[cfg(test)]
mod tests;
