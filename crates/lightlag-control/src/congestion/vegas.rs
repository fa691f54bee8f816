//! Vegas: keeps a few segments in the queue, and no more.
//!
//! Brakmo, Peterson, "TCP Vegas: end to end congestion avoidance on a global Internet", IEEE Journal on Selected Areas
//! in Communications 13(8), 1995, §3.2 and §3.3. With base the smallest RTT, the expected rate is W/base and the actual
//! rate is W/RTT; their difference times base is the number of segments in queues:
//!
//! - diff = W·(1 − base/RTT);
//! - avoidance, once per round: W += 1 if diff < α = 2, W −= 1 if diff > β = 4;
//! - slow start: W doubles every other round, and ends with W −= W/8 if diff > γ = 1 after a round in which it was
//!   constant;
//! - loss: ssthresh = ¾ FlightSize; timeout: ssthresh = FlightSize/2, W = 2.
//!
//! Here, RTT is the mean of a round. The paper uses one segment per round, the authors' program the mean. W/8, ¾
//! FlightSize and W = 2 are also from that program, as in ns-2 and INET. The paper's retransmissions at the first
//! duplicate ACK (§3.1) are not modelled, because the recovery decides which data was lost.
//!
//! The variant `linux` follows tcp_vegas.c: diff = W·(RTT − base)/base, with RTT the minimum of a round that has at
//! least three samples; otherwise W grows as in NewReno. W doubles every round, ends slow start at min(W, W·base/RTT +
//! 1), and halves after a loss. After an idle time base is measured again.
//!
//! The variant `scps` follows the SCPS-TP reference implementation: α = 3, β = 5, γ = 4 by default. W doubles every
//! round; diff > β reduces it by 1 + min(W/2, (diff − β)/2); a loss halves W, a timeout leaves W = 1 and ssthresh =
//! max(2, W/2). It is assumed that diff is as in the paper, and that slow start ends at the current W \[R\]. As every
//! slow start here, this one also ends at the bandwidth-delay product of a configured route.
//!
//! The variant `linux-2.6` follows tcp_vegas.c from 2.6.16 to 2.6.22, which ns-2 contains: see `vegas/linux26.rs`.
//!
//! The variant `ns3` follows ns-3, which uses only the smoothed RTT: see `vegas/ns3.rs`.
//!
//! While a loss is repaired, all variants behave like NewReno. If base never rises, a sender starves when its route
//! becomes longer, for example after a satellite hand-over. With `rebase` = n, base is replaced after n successive
//! rounds with diff > β, each of which removed a segment without effect; the new base is the smallest RTT in them (the
//! idea of La, Walrand, Anantharam, "Issues in TCP Vegas", UCB/ERL M99/3, 1999; the rule is our own). Persistent queues
//! of other flows look the same.

mod linux26;
mod ns3;

use super::about::{About, Deviation, Signal};
use super::registry::Algorithm;
use super::round::{Round, Samples};
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, ConnectionStart, Phase, Window};
use lightlag_core::{Duration, Instant, Unit, settings, words};

/// Minimum W in segments while Vegas controls the window.
const LEAST_WINDOW: f64 = 2.0;
/// Linux: maximum number of samples in a round that may consist only of delayed ACKs.
const TOO_FEW_SAMPLES: u32 = 2;

settings! {
    /// Parameters of [`Vegas`].
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// Source of the rules: original is the paper, linux the kernel, linux-2.6 Linux 2.6.16 to 2.6.22 as in
        /// ns-2, ns3 the module of ns-3, which uses the smoothed RTT, scps the SCPS-TP reference implementation, which
        /// sets alpha, beta and gamma to 3, 5 and 4; profile is linux-2.6 in profile ns2-linux, original in the others.
        variant: VegasVariant = VegasVariant::default() => choice("a value")
            .implies(|config| {
                if config.variant == VegasVariant::Scps {
                    (config.alpha, config.beta, config.gamma) = SCPS;
                }
            });
        /// Lower threshold of queued segments; the window grows below it.
        alpha: f64 = 2.0 => quantity(Unit::Plain, 0.0, 1e6).unit("segments");
        /// Upper threshold of queued segments; the window shrinks above it.
        beta: f64 = 4.0 => quantity(Unit::Plain, 0.0, 1e6).unit("segments");
        /// Threshold of queued segments in slow start, which ends above it.
        gamma: f64 = 1.0 => quantity(Unit::Plain, 0.0, 1e6).unit("segments");
        /// Number of successive rounds that shrank the window before the path counts as a longer one and its minimum
        /// RTT is measured again; 0 disables this.
        rebase: f64 = 0.0 => quantity(Unit::Plain, 0.0, 1000.0).unit("RTTs");
    }
}

words! {
    /// Specification or program that defines the rules.
    pub enum VegasVariant {
        /// `linux-2.6` in the profile `ns2-linux`, `original` in the others.
        Profile = "profile",
        /// Brakmo and Peterson 1995.
        Original = "original",
        /// tcp_vegas.c of current Linux.
        Linux = "linux",
        /// The reference implementation of SCPS-TP.
        Scps = "scps",
        /// ns-3.
        Ns3 = "ns3",
        /// tcp_vegas.c of Linux 2.6.16 to 2.6.22.
        Linux26 = "linux-2.6",
    }
}

/// α, β and γ of the SCPS-TP reference implementation.
const SCPS: (f64, f64, f64) = (3.0, 5.0, 4.0);

/// State of Vegas.
pub struct Vegas {
    config: Config,
    window: Window,
    round: Round,
    /// Smallest round-trip time.
    base: Duration,
    /// Whether the window grows in this round of slow start.
    grows: bool,
    /// Number of successive rounds with diff > β, and the smallest RTT in them.
    crowded: (f64, Duration),
    /// For `linux-2.6`: start and end offset of the data of the last round, and W in whole segments at its start.
    sent: (u64, u64),
    held: f64,
}

impl Vegas {
    /// Creates Vegas in slow start, with the initial window.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
        Self {
            config: config.clone(),
            window: Window::new(start),
            round: Round::default(),
            // ns-2 measures the 40 bytes of its first packet, as the handshake does here.
            base: start.rtt.filter(|_| config.variant == VegasVariant::Linux26).unwrap_or(Duration::MAX),
            grows: true,
            crowded: (0.0, Duration::MAX),
            sent: (0, 0),
            held: 0.0,
        }
    }

    fn is_linux(&self) -> bool {
        self.config.variant == VegasVariant::Linux
    }

    fn is_original(&self) -> bool {
        matches!(self.config.variant, VegasVariant::Profile | VegasVariant::Original)
    }

    /// Returns the reduction in segments by a round with `diff` segments in queues.
    fn step_down(&self, diff: f64) -> f64 {
        if self.config.variant != VegasVariant::Scps {
            return 1.0;
        }
        1.0 + (self.window.segments() / 2.0).min((diff - self.config.beta) / 2.0)
    }

    /// Returns the number of segments in queues, and base/RTT; `None` if the round had too few samples.
    fn waiting(&self, round: &Samples) -> Option<(f64, f64)> {
        let rtt = if self.is_linux() { (round.count > TOO_FEW_SAMPLES).then_some(round.min)? } else { round.mean()? };
        let (excess, w) = (rtt.saturating_sub(self.base), self.window.segments());
        let diff = w * (excess / if self.is_linux() { self.base } else { rtt });
        Some((diff, self.base / rtt))
    }

    fn end_round(&mut self, round: &Samples, ack: &Ack) {
        let Some((diff, ratio)) = self.waiting(round) else {
            if ack.may_grow() && !self.window.in_slow_start() {
                self.grow_as_newreno(ack.growth);
            }
            return;
        };
        if self.window.in_slow_start() {
            self.end_slow_start_round(diff, ratio);
            return;
        }
        if diff > self.config.beta {
            self.window.clamp_to((self.window.segments() - self.step_down(diff)).max(LEAST_WINDOW));
            if self.window.in_slow_start() {
                self.window.leave_slow_start();
            }
            self.watch_route(round.min);
            return;
        }
        self.forget_route();
        if diff < self.config.alpha && ack.may_grow() {
            self.window.grow(1.0);
        }
    }

    fn end_slow_start_round(&mut self, diff: f64, ratio: f64) {
        // Only a round with a constant W shows the effect of W.
        let tells = !self.is_original() || !self.grows;
        self.grows = !self.grows;
        if !tells || diff <= self.config.gamma {
            return;
        }
        let w = self.window.segments();
        let end = match self.config.variant {
            VegasVariant::Profile | VegasVariant::Original => w - w / 8.0,
            VegasVariant::Linux => w * ratio + 1.0,
            VegasVariant::Scps | VegasVariant::Ns3 | VegasVariant::Linux26 => w,
        };
        self.window.clamp_to(end.max(LEAST_WINDOW));
        self.window.leave_slow_start();
    }

    /// Replaces base by the smallest RTT of the last rounds, if W fell in enough of them.
    fn watch_route(&mut self, smallest: Duration) {
        self.crowded = (self.crowded.0 + 1.0, self.crowded.1.min(smallest));
        if self.config.rebase > 0.0 && self.crowded.0 >= self.config.rebase {
            self.base = self.crowded.1;
            self.forget_route();
        }
    }

    fn forget_route(&mut self) {
        self.crowded = (0.0, Duration::MAX);
    }

    fn grow_as_newreno(&mut self, acked: f64) {
        let left = self.window.slow_start(acked, 1.0);
        if left > 0.0 {
            self.window.grow(left / self.window.segments());
        }
    }
}

window_based!(Vegas);

impl CongestionControl for Vegas {
    fn on_ack(&mut self, ack: &Ack) {
        match self.config.variant {
            VegasVariant::Ns3 => return self.on_ack_ns3(ack),
            VegasVariant::Linux26 => return self.on_ack_linux26(ack),
            VegasVariant::Profile | VegasVariant::Original | VegasVariant::Linux | VegasVariant::Scps => {}
        }
        if let Some(rtt) = ack.rtt {
            self.base = self.base.min(rtt);
        }
        let ended = self.round.on_ack(ack);
        if ack.phase != Phase::Open {
            self.round.forget();
            if ack.may_grow() {
                self.grow_as_newreno(ack.growth);
            }
            return;
        }
        if ack.may_grow() && (!self.is_original() || self.grows) {
            self.window.slow_start(ack.growth, 1.0);
        }
        if let Some(samples) = ended {
            self.end_round(&samples, ack);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        let timeout = matches!(event.cause, Cause::Timeout | Cause::RepeatedTimeout);
        let kept = if timeout || !self.is_original() { 0.5 } else { 0.75 };
        let flight = self.window.in_segments(event.flight);
        let threshold = match self.config.variant {
            VegasVariant::Scps => kept * self.window.segments(),
            VegasVariant::Ns3 => self.lowered().min(self.window.threshold()),
            VegasVariant::Profile | VegasVariant::Original | VegasVariant::Linux | VegasVariant::Linux26 => {
                kept * flight
            }
        };
        self.window.react(event, threshold);
        if timeout && self.is_original() {
            self.window.raise_to(2.0);
        }
        self.grows = true;
        self.round.forget();
        self.forget_route();
    }

    fn on_idle(&mut self, _now: Instant, window: u64, threshold: u64) {
        self.window.restart(window, threshold);
        self.round = Round::default();
        self.grows = true;
        self.forget_route();
        if self.is_linux() {
            self.base = Duration::MAX;
        }
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "Compares the round-trip time with its minimum and keeps two to four segments in the queue of the \
                bottleneck. Vegas flows among themselves have short queues and no losses. Algorithms that fill queues \
                take the bandwidth from it, and a route that becomes longer looks like a queue, unless rebase is \
                set.",
        equations: &[
            "diff = W (1 - base/RTT): segments in queues;  base = smallest RTT, RTT = mean of the round",
            "avoidance, per round:  W += 1 if diff < alpha, W -= 1 if diff > beta",
            "slow start:  W doubles every other round; after a round with a constant W and diff > gamma",
            "             it ends with W -= W/8",
            "loss:     ssthresh = max(3/4 FlightSize, 2), W = ssthresh",
            "timeout:  ssthresh = max(FlightSize/2, 2), W = 2",
            "window of one flow on a path of mu segments/s:  mu base + alpha <= W <= mu base + beta",
        ],
        source: "Brakmo, Peterson, \"TCP Vegas: end to end congestion avoidance on a global Internet\", IEEE JSAC \
                 13(8), 1995; the variants linux and linux-2.6: tcp_vegas.c; ns3: its TcpVegas; scps: the MITRE SCPS reference implementation",
        year: 1995,
        signal: Signal::Delay,
        details: r#"
            The paper leaves four rules open: the RTT is the mean of the round, slow start ends with W − W/8, a loss
            leaves ¾ FlightSize, and a timeout leaves W = 2. They come from the authors' program, as in ns-2 and INET.
            All variants behave as NewReno while a loss is repaired. n flows keep 2n to 4n segments in the queue.

            Because base never rises, a longer route looks like a queue, and the sender shrinks to 2 segments. `rebase = 8`
            measures base again after 8 successive rounds that reduced the window. The idea is from La, Walrand,
            Anantharam, "Issues in TCP Vegas", 1999; the rule is our own. It is off by default, as in all sources. Next to
            flows that fill the queue use it with care: their queue then counts as part of the path.

            By default (`variant = "profile"`) the rules are `linux-2.6` in the profile `ns2-linux`, `ns3` in `ns3`, and
            `original` in the others. The profile `scps` also takes `original`, as the text of the standard describes it.
        "#,
        variants: &[
            (
                "original",
                r#"
                The equations above, next to the other variants. [R] marks gaps in the manual of the SCPS-TP reference
                implementation that we filled.

                | | `original` | `linux` | `scps` | `ns3` |
                |---|---|---|---|---|
                | α, β, γ | 2, 4, 1 | 2, 4, 1 | 3, 5, 4 | 2, 4, 1 |
                | diff | W (1 − base/RTT) | W (RTT − base)/base | as `original` [R] | W − ⌊W base/RTT⌋, W in whole segments |
                | RTT of a round | mean | minimum of at least 3 samples; NewReno with fewer | as `original` [R] | as `linux`, of SRTT after each ACK; base is the minimum SRTT |
                | slow start doubles W | every other round | every round | every round | every round |
                | W at its end | W − W/8 | min(W, W base/RTT + 1) | W [R] | min(W, ⌊W base/RTT⌋ + 1) |
                | reduction if diff > β | 1 | 1 | 1 + min(W/2, (diff − β)/2) | 1; then ssthresh ≤ W − 1, and ≥ ¾ W after each round |
                | ssthresh after a loss | ¾ FlightSize | ½ FlightSize | W/2 | W − 1, if the old ssthresh is not lower |
                | timeout | ½ FlightSize, W = 2 | ½ FlightSize, W = 1 | W/2, W = 1 | as after a loss, W = 1 |
                | idle time | keeps base | discards base | keeps base | keeps base |
            "#,
            ),
            ("linux", "tcp_vegas.c of current Linux; see the table of `original`."),
            ("scps", "The SCPS-TP reference implementation; see the table of `original`."),
            (
                "ns3",
                "TcpVegas of ns-3, which uses the smoothed RTT; used by the profile `ns3`. See the table of `original`.",
            ),
            (
                "linux-2.6",
                r#"
                The module of Linux 2.6.16 to 2.6.22, as in ns-2; used by the profile `ns2-linux`. The window has whole
                segments. diff is W' (1 − base/RTT), rounded up to half segments, where W' is the number of segments
                that were outstanding one round earlier. Avoidance moves W towards V ± 1, where V is W at the start of
                the round, so that W grows by one segment every second round. Slow start ends with ssthresh = 2 at min(W,
                ⌊W' base/RTT⌋ + 1). A round ends with the first ACK of data that was sent in it.

                base starts with the RTT of the handshake. ns-2 measures it with its first packet, which has 40 bytes, and
                the longer transmission time of later packets then counts as a queue.
            "#,
            ),
        ],
        deviations: &[
            Deviation {
                scope: "ns3",
                source: "a duplicate ACK counts as a sample, and the window grows while it is not used",
                here: "neither",
                reason: "rules for all algorithms",
            },
            Deviation {
                scope: "linux",
                source: "ssthresh is at least three quarters of W after each round",
                here: "no such bound",
                reason: "it has no effect: ssthresh is not above W there",
            },
        ],
        checks: "diff and the reaction at RTTs of 100, 112 and 130 ms; slow start round by round; the queue and the window of \
                 one flow; the queue and the division of the rate between four flows; a route that becomes 100 ms longer, \
                 with and without `rebase`; the steps of `scps` at four RTTs.",
        not_modelled: "The paper's retransmission at the first duplicate ACK of an overdue segment (§3.1): the recovery \
                       decides which data was lost.",
    };

    fn check(&self) -> Result<(), String> {
        if self.alpha <= self.beta {
            return Ok(());
        }
        Err(format!("alpha: {} is above beta, which is {}: reduce it", self.alpha, self.beta))
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        Box::new(Vegas::new(self, start))
    }
}

#[cfg(test)]
mod tests;
