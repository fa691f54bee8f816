//! YeAH: Scalable's growth while the queue is short, Reno's otherwise, and draining of the queue before it overflows.
//!
//! Baiocchi, Castellani, Vacirca, "YeAH-TCP: yet another highspeed TCP", PFLDnet 2007. The rules and constants are
//! those of tcp_yeah.c, which one of the authors wrote. Once a round, of at least three samples, with base the smallest
//! RTT of the connection and RTT that of the round:
//!
//! - Q = W·(RTT − base)/RTT is the number of segments in queues, L = (RTT − base)/base their effect on the RTT;
//! - fast mode if Q ≤ Qmax = 80 and L ≤ 1/φ = 1/8: each counted segment adds 1/min(W, 100);
//! - slow mode otherwise: each adds 1/W. If Q > Qmax the window gives the queue back: W −= min(Q/γ, W/2^ε), but not
//!   below Wreno, and ssthresh = W (γ = 1, ε = 1);
//! - Wreno is the window that Reno would have: W/2 at the first slow round, plus 1 with each; after ζ = 50 fast rounds
//!   it is reset to 2.
//!
//! A loss removes max(min(Q, W/2), W/8), or W/2 after ρ = 16 slow rounds in a row, when other flows fill the queue;
//! Wreno is halved. W is FlightSize there (RFC 5681 equation 4). A timeout has the same ssthresh.
//!
//! The variant `linux-2.6` is that of ns-2: see `yeah/linux26.rs`.

mod linux26;

use super::hystart;
use super::linux26::{Agent, Choosable, Variant};
use super::registry::{About, Algorithm};
use super::round::{Round, Samples};
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, Phase, SlowStart, Start, Window};
use lightlag_core::params::Setting;
use lightlag_core::{Duration, Instant, Unit};

/// A round with as many samples or fewer may have only delayed ACKs.
const TOO_FEW_SAMPLES: u32 = 2;
/// Reno's window while it is unknown.
const LEAST_WINDOW: f64 = 2.0;
/// Scalable's gain: one segment for this many, 1/0.01.
const SCALABLE_COUNT: f64 = 100.0;

/// Parameters of [`Yeah`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The source of the rules.
    pub variant: Variant,
    /// Qmax in segments, 80.
    pub q_max: f64,
    /// φ, 8.
    pub phi: f64,
    /// γ, 1.
    pub gamma: f64,
    /// ε, 1.
    pub epsilon: f64,
    /// The power of two whose inverse is the smallest reduction at a loss, 3.
    pub delta: f64,
    /// ρ in rounds, 16.
    pub rho: f64,
    /// ζ in rounds, 50.
    pub zeta: f64,
    /// An early end of slow start, off by default.
    pub hystart: hystart::Config,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            variant: Variant::default(),
            q_max: 80.0,
            phi: 8.0,
            gamma: 1.0,
            epsilon: 1.0,
            delta: 3.0,
            rho: 16.0,
            zeta: 50.0,
            hystart: hystart::Config::default(),
        }
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

/// The rounds on which the price of a loss and the least window depend.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Memory {
    /// Slow rounds in a row.
    slow: f64,
    /// Fast rounds since the last loss.
    fast: f64,
    /// Wreno.
    reno: f64,
}

/// YeAH's window.
pub struct Yeah {
    config: Config,
    window: Window,
    slow_start: SlowStart,
    round: Round,
    /// Q of the last round.
    queue: f64,
    memory: Memory,
    /// The memory before the last reaction.
    before: Memory,
}

impl Yeah {
    /// YeAH in slow start, at the initial window.
    pub fn new(config: &Config, start: &Start) -> Self {
        let memory = Memory { slow: 0.0, fast: 0.0, reno: LEAST_WINDOW };
        Self {
            config: config.clone(),
            window: Window::new(start),
            slow_start: SlowStart::new(&config.hystart, start),
            round: Round::default(),
            queue: 0.0,
            memory,
            before: memory,
        }
    }

    fn end_round(&mut self, round: &Samples, base: Duration) {
        if round.count <= TOO_FEW_SAMPLES {
            return;
        }
        let excess = round.min.saturating_sub(base);
        self.queue = self.window.segments() * (excess / round.min);
        if self.queue <= self.config.q_max && excess / base <= 1.0 / self.config.phi {
            self.memory.slow = 0.0;
            self.memory.fast += 1.0;
            if self.memory.fast > self.config.zeta {
                (self.memory.reno, self.memory.fast) = (LEAST_WINDOW, 0.0);
            }
            return;
        }
        if self.queue > self.config.q_max && self.window.segments() > self.memory.reno {
            self.drain();
        }
        self.memory.slow += 1.0;
        self.memory.reno = if self.memory.reno <= LEAST_WINDOW {
            (self.window.segments() / 2.0).max(LEAST_WINDOW)
        } else {
            self.memory.reno + 1.0
        };
    }

    fn drain(&mut self) {
        let w = self.window.segments();
        let most = w / libm::exp2(self.config.epsilon);
        let rest = w - (self.queue / self.config.gamma).min(most);
        self.window.clamp_to(rest.max(self.memory.reno));
        self.window.leave_slow_start();
    }

    /// The segments that a loss removes from `flight`.
    fn price(&self, flight: f64) -> f64 {
        let half = (flight / 2.0).max(2.0);
        if self.memory.slow >= self.config.rho {
            return half;
        }
        self.queue.min(half).max(flight / libm::exp2(self.config.delta))
    }
}

window_based!(Yeah);

impl CongestionControl for Yeah {
    fn on_ack(&mut self, ack: &Ack) {
        let ended = self.round.on_ack(ack);
        if ack.phase != Phase::Open {
            self.round.forget();
        } else if let Some(samples) = ended {
            self.end_round(&samples, ack.min_rtt);
        }
        if !ack.may_grow() {
            return;
        }
        let left = self.slow_start.grow(ack, &mut self.window, ack.growth, 1.0);
        if left > 0.0 {
            let w = self.window.segments();
            self.window.grow(left / if self.memory.slow > 0.0 { w } else { w.min(SCALABLE_COUNT) });
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        let flight = self.window.in_segments(event.flight);
        self.window.react(event, flight - self.price(flight));
        self.round.forget();
        if event.cause != Cause::RepeatedTimeout {
            self.before = self.memory;
            self.memory.fast = 0.0;
            self.memory.reno = (self.memory.reno / 2.0).max(LEAST_WINDOW);
        }
    }

    fn on_undo(&mut self, _now: Instant) {
        self.window.undo();
        self.memory = self.before;
    }

    fn on_idle(&mut self, _now: Instant, window: u64, threshold: u64) {
        self.window.restart(window, threshold);
        self.round = Round::default();
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "Grows as Scalable TCP while the queue is short, as Reno while it is long, and gives the queue back \
                before it is 80 segments long. A loss takes what waits in the queue, and half of the window only \
                where somebody else keeps the queue full.",
        equations: &[
            "per round:  Q = W (RTT - base)/RTT, L = (RTT - base)/base;  RTT = smallest of the round",
            "fast, Q <= q_max and L <= 1/phi, per counted segment:  W += 1/min(W, 100)",
            "slow, otherwise, per counted segment:                  W += 1/W",
            "Q > q_max:  W -= min(Q/gamma, W/2^epsilon), not below Wreno;  ssthresh = W",
            "Wreno = W/2 with the first slow round, + 1 with each further, 2 after zeta fast rounds, halved by a loss",
            "loss:     ssthresh = F - max(min(Q, F/2), F/2^delta), or F/2 after rho slow rounds;  F = FlightSize",
            "timeout:  the same ssthresh, W = 1",
            "linux-2.6: F = W;  W and Q in whole segments, which increments are counted for",
        ],
        source: "Baiocchi, Castellani, Vacirca, \"YeAH-TCP: yet another highspeed TCP\", PFLDnet 2007; tcp_yeah.c by \
                 the second author",
    };

    fn settings() -> Vec<Setting<Self>> {
        [vec![super::linux26::setting()], queue_settings(), round_settings(), hystart::settings("standard")].concat()
    }

    fn check(&self) -> Result<(), String> {
        self.hystart.check()
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        if self.variant == Variant::Linux26 {
            return Box::new(Agent::new(linux26::Module26::new(self, start), &self.hystart, start));
        }
        Box::new(Yeah::new(self, start))
    }
}

fn queue_settings() -> Vec<Setting<Config>> {
    vec![
        Setting::quantity("q_max", |config: &mut Config| &mut config.q_max, Unit::Plain, 1.0, 1e6)
            .by_default("80")
            .unit("segments")
            .about("Qmax: with more in the queue the window gives it back."),
        Setting::quantity("phi", |config: &mut Config| &mut config.phi, Unit::Plain, 0.01, 1e6)
            .by_default("8")
            .about("The window grows fast while queueing adds at most base/phi to the round-trip time."),
        Setting::quantity("gamma", |config: &mut Config| &mut config.gamma, Unit::Plain, 1.0, 1000.0)
            .by_default("1")
            .about("The window gives back the queue divided by this."),
        Setting::quantity("epsilon", |config: &mut Config| &mut config.epsilon, Unit::Plain, 0.1, 30.0)
            .by_default("1")
            .about("The window gives back W/2^epsilon at most."),
        Setting::quantity("delta", |config: &mut Config| &mut config.delta, Unit::Plain, 1.0, 30.0)
            .by_default("3")
            .about("A loss takes W/2^delta at least."),
    ]
}

fn round_settings() -> Vec<Setting<Config>> {
    vec![
        Setting::quantity("rho", |config: &mut Config| &mut config.rho, Unit::Plain, 0.0, 1e6)
            .by_default("16")
            .unit("RTTs")
            .about("After so many slow rounds in a row a loss takes half of the window."),
        Setting::quantity("zeta", |config: &mut Config| &mut config.zeta, Unit::Plain, 0.0, 1e6)
            .by_default("50")
            .unit("RTTs")
            .about("After so many fast rounds what Reno would have is forgotten."),
    ]
}

impl hystart::Choosable for Config {
    fn hystart(&mut self) -> &mut hystart::Config {
        &mut self.hystart
    }
}

#[cfg(test)]
mod tests;
