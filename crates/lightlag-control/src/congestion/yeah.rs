//! YeAH: grows like Scalable TCP while the queue is short and like Reno otherwise, and drains the queue before it
//! overflows.
//!
//! Baiocchi, Castellani, Vacirca, "YeAH-TCP: yet another highspeed TCP", PFLDnet 2007. The rules and constants are from
//! tcp_yeah.c, which one of the authors wrote. Once per round, of at least three samples, with base the smallest RTT of
//! the connection and RTT the smallest RTT of the round:
//!
//! - Q = W·(RTT − base)/RTT is the number of segments in queues, L = (RTT − base)/base their effect on the RTT;
//! - fast mode if Q ≤ Qmax = 80 and L ≤ 1/φ = 1/8: each counted segment adds 1/min(W, 100);
//! - slow mode otherwise: each counted segment adds 1/W. If Q > Qmax, the queue is drained: W −= min(Q/γ, W/2^ε), but
//!   not below Wreno, and ssthresh = W (γ = 1, ε = 1);
//! - Wreno is the window that Reno would have: W/2 at the first slow round, plus 1 for each further one; after ζ = 50
//!   fast rounds it is reset to 2.
//!
//! A loss removes max(min(Q, W/2), W/8), or W/2 after ρ = 16 successive slow rounds, in which other flows fill the
//! queue; Wreno is halved. In these formulas W is FlightSize (RFC 5681 equation 4). A timeout has the same ssthresh.
//!
//! The variant `linux-2.6` follows ns-2: see `yeah/linux26.rs`.

mod linux26;

use super::about::{About, Deviation, Signal};
use super::hystart;
use super::linux26::{Agent, Linux26Variant, RECEIVE_BUFFER, VariantChoice};
use super::registry::Algorithm;
use super::round::{Round, Samples};
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, ConnectionStart, Phase, SlowStart, Window};
use lightlag_core::{Duration, Instant, Unit, settings};

/// Maximum number of samples in a round that may consist only of delayed ACKs.
const TOO_FEW_SAMPLES: u32 = 2;
/// Value of Wreno while it is unknown, in segments.
const LEAST_WINDOW: f64 = 2.0;
/// Inverse of Scalable TCP's increase per segment, 1/0.01: maximum number of segments to count for an increment.
const SCALABLE_COUNT: f64 = 100.0;

settings! {
    /// Parameters of [`Yeah`].
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// Source of the rules.
        variant: Linux26Variant = Linux26Variant::default() => choice("a value").rules();
        /// Qmax: maximum number of segments in the queue before the window is reduced to drain it.
        q_max: f64 = 80.0 => quantity(Unit::Plain, 1.0, 1e6).unit("segments");
        /// phi: fast growth up to a queueing delay of base/phi.
        phi: f64 = 8.0 => quantity(Unit::Plain, 0.01, 1e6);
        /// gamma: divisor of the queue in a reduction that drains it.
        gamma: f64 = 1.0 => quantity(Unit::Plain, 1.0, 1000.0);
        /// epsilon: exponent of the maximum reduction, W/2^epsilon.
        epsilon: f64 = 1.0 => quantity(Unit::Plain, 0.1, 30.0);
        /// delta: exponent of the minimum reduction after a loss, W/2^delta.
        delta: f64 = 3.0 => quantity(Unit::Plain, 1.0, 30.0);
        /// rho: number of successive slow rounds before a loss removes half of the window.
        rho: f64 = 16.0 => quantity(Unit::Plain, 0.0, 1e6).unit("RTTs");
        /// zeta: number of fast rounds before Reno's window is reset.
        zeta: f64 = 50.0 => quantity(Unit::Plain, 0.0, 1e6).unit("RTTs");
        + /// An early end of slow start, off by default.
        hystart: hystart::Config = hystart::Config::default() => hystart::settings("standard");
    }
}

/// Counts of the last rounds, for the reduction after a loss and the minimum window.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ReductionHistory {
    /// Number of successive slow rounds.
    slow: f64,
    /// Number of fast rounds since the last loss.
    fast: f64,
    /// Wreno, in segments.
    reno: f64,
}

/// State of YeAH.
pub struct Yeah {
    config: Config,
    window: Window,
    slow_start: SlowStart,
    round: Round,
    /// Q in the last round, in segments.
    queue: f64,
    memory: ReductionHistory,
    /// History before the last reaction, for an undo.
    before: ReductionHistory,
}

impl Yeah {
    /// Creates YeAH in slow start, with the initial window.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
        let memory = ReductionHistory { slow: 0.0, fast: 0.0, reno: LEAST_WINDOW };
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

    /// Returns the number of segments by which a loss reduces `flight`.
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
        about: "Grows as Scalable TCP while the queue is short and as Reno while it is long, and drains its queue when \
                that exceeds 80 segments. A loss removes what is in the queue, and half of the window only if other \
                flows keep the queue full.",
        equations: &[
            "per round:  Q = W (RTT - base)/RTT, L = (RTT - base)/base;  RTT = smallest of the round",
            "fast, Q <= 80 and L <= 1/8, per counted segment:  W += 1/min(W, 100)",
            "slow, otherwise, per counted segment:             W += 1/W",
            "Q > 80:   W -= min(Q, W/2), not below Wreno;  ssthresh = W",
            "Wreno = W/2 with the first slow round, + 1 with each further, 2 after 50 fast rounds, halved by a loss",
            "loss:     ssthresh = F - max(min(Q, F/2), F/8), or F/2 after 16 slow rounds;  F = FlightSize",
            "timeout:  the same ssthresh, W = 1",
        ],
        source: "Baiocchi, Castellani, Vacirca, \"YeAH-TCP: yet another highspeed TCP\", PFLDnet 2007; tcp_yeah.c by \
                 the second author",
        year: 2007,
        signal: Signal::LossAndDelay,
        details: r#"
            A round counts if it has at least three samples. base is the minimum RTT of the connection. 80 is `q_max`, 1/8
            is 1/`phi`, Q is divided by `gamma` = 1, W/2 is W/2^`epsilon`, F/8 is F/2^`delta`; 16 and 50 rounds are `rho`
            and `zeta`.

            Wreno prevents the sender from yielding to flows that do not yield. It also rises without competing flows: if
            slow start leaves a queue that never overflows, or if L > 1/8 long before Q > 80 (below 640 segments of μ base),
            Wreno can reach W, and the queue then stays until a loss.
        "#,
        variants: &[
            ("paper", "The equations above. The default, except in the profile `ns2-linux`."),
            (
                "linux-2.6",
                r#"
                tcp_yeah.c of Linux 2.6.22, as in ns-2; used by the profile `ns2-linux`. It uses W instead of F, whole
                segments, and rounds as in `vegas` with that variant.
            "#,
            ),
        ],
        deviations: &[
            Deviation {
                scope: "paper",
                source: "a loss reduces W (Linux)",
                here: "a loss reduces FlightSize",
                reason: "RFC 5681 §3.1",
            },
            Deviation {
                scope: "paper",
                source: "1/8 is computed with integers, so that any queue counts as long (ns-3)",
                here: "computed with fractions",
                reason: "the rule of the paper",
            },
            RECEIVE_BUFFER,
        ],
        checks: "The border between the modes; the reduction and its floor; the three reductions after a loss; on a path of \
                 1000 segments the window of one flow moves between 1000 and 1080 plus the growth of a round, and uses 98 % \
                 of the link.",
        not_modelled: "",
    };

    fn check(&self) -> Result<(), String> {
        self.hystart.check()
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        if self.variant == Linux26Variant::Linux26 {
            return Box::new(Agent::new(linux26::YeahLinux26::new(self, start), &self.hystart, start));
        }
        Box::new(Yeah::new(self, start))
    }
}
#[cfg(test)]
mod tests;
