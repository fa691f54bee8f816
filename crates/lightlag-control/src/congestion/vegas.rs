//! Vegas: keeps a few segments in the queue, and no more.
//!
//! Brakmo, Peterson, "TCP Vegas: end to end congestion avoidance on a global Internet", IEEE Journal on Selected Areas
//! in Communications 13(8), 1995, §3.2 and §3.3. With base the smallest RTT, the expected rate is W/base and the actual
//! one W/RTT; their difference times base is the number of segments in queues:
//!
//! - diff = W·(1 − base/RTT);
//! - avoidance, once a round: W += 1 if diff < α = 2, W −= 1 if diff > β = 4;
//! - slow start: W doubles every other round, and ends with W −= W/8 if diff > γ = 1 after a round in which it was
//!   constant;
//! - loss: ssthresh = ¾ FlightSize; timeout: ssthresh = FlightSize/2, W = 2.
//!
//! RTT is here the mean of a round. The paper uses that of one segment a round, the authors' program the mean. The
//! eighth, the three quarters and the 2 are also from that program, as ns-2 and INET have it. The paper's
//! retransmissions at the first duplicate ACK (§3.1) are not modelled, because the recovery decides which data was
//! lost.
//!
//! The variant `linux` is that of tcp_vegas.c: diff = W·(RTT − base)/base, with RTT the smallest of a round of at least
//! three samples; otherwise NewReno's growth. W doubles every round, ends slow start at min(W, W·base/RTT + 1), and
//! halves after a loss. An idle time forgets base.
//!
//! The variant `scps` is that of the SCPS-TP reference implementation: α = 3, β = 5, γ = 4 by default. W doubles every
//! round; diff > β reduces it by 1 + min(W/2, (diff − β)/2); a loss halves W, a timeout leaves W = 1 and ssthresh =
//! max(2, W/2). Its diff is assumed to be the paper's, and slow start to end at the current W \[R\]. Slow start also
//! ends at the bandwidth-delay product of a configured route, as every slow start here.
//!
//! The variant `linux-2.6` is that of tcp_vegas.c from 2.6.16 to 2.6.22, which ns-2 carries: see `vegas/linux26.rs`.
//!
//! The variant `ns3` is that of ns-3, which uses only the smoothed RTT: see `vegas/ns3.rs`.
//!
//! All are NewReno while a loss is repaired. A base that never rises starves a sender whose route became longer, for
//! example by a satellite hand-over. With `rebase` = n, after n rounds in a row with diff > β, each of which removed a
//! segment without effect, the smallest RTT in them becomes base (the idea of La, Walrand, Anantharam, "Issues in TCP
//! Vegas", UCB/ERL M99/3, 1999; the rule is our own). Persistent queues of other flows look the same.

mod linux26;
mod ns3;

use super::registry::{About, Algorithm};
use super::round::{Round, Samples};
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, Phase, Start, Window};
use lightlag_core::params::Setting;
use lightlag_core::{Duration, Instant, Unit};

/// The least W while Vegas decides.
const LEAST_WINDOW: f64 = 2.0;
/// Linux: a round with as many samples or fewer may have only delayed ACKs.
const TOO_FEW_SAMPLES: u32 = 2;

/// Parameters of [`Vegas`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The source of the rules.
    pub variant: Variant,
    /// α in segments, 2.
    pub alpha: f64,
    /// β in segments, 4.
    pub beta: f64,
    /// γ in segments, 1.
    pub gamma: f64,
    /// Rounds of decrease after which base is measured again; 0 is never.
    pub rebase: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self { variant: Variant::default(), alpha: 2.0, beta: 4.0, gamma: 1.0, rebase: 0.0 }
    }
}

/// The source of the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// `linux-2.6` with the profile `ns2-linux`, `original` with the others.
    #[default]
    Profile,
    /// Brakmo and Peterson, 1995.
    Original,
    /// tcp_vegas.c.
    Linux,
    /// The reference implementation of SCPS-TP.
    Scps,
    /// ns-3.
    Ns3,
    /// tcp_vegas.c of Linux 2.6.16 to 2.6.22.
    Linux26,
}

impl Variant {
    const ALL: [Self; 6] = [Self::Profile, Self::Original, Self::Linux, Self::Scps, Self::Ns3, Self::Linux26];
}

/// α, β and γ of the SCPS-TP reference implementation.
const SCPS: (f64, f64, f64) = (3.0, 5.0, 4.0);

/// Vegas' window.
pub struct Vegas {
    config: Config,
    window: Window,
    round: Round,
    /// The smallest RTT.
    base: Duration,
    /// Whether slow start grows in this round.
    grows: bool,
    /// Rounds in a row with diff > β, and the smallest RTT in them.
    crowded: (f64, Duration),
    /// For `linux-2.6`: the offsets that bound the last round's data, and W in whole segments at its start.
    sent: (u64, u64),
    held: f64,
}

impl Vegas {
    /// Vegas in slow start, at the initial window.
    pub fn new(config: &Config, start: &Start) -> Self {
        Self {
            config: config.clone(),
            window: Window::new(start),
            round: Round::default(),
            // ns-2 measures the 40 bytes of its first packet, as the handshake does here.
            base: start.rtt.filter(|_| config.variant == Variant::Linux26).unwrap_or(Duration::MAX),
            grows: true,
            crowded: (0.0, Duration::MAX),
            sent: (0, 0),
            held: 0.0,
        }
    }

    fn is_linux(&self) -> bool {
        self.config.variant == Variant::Linux
    }

    fn is_original(&self) -> bool {
        matches!(self.config.variant, Variant::Profile | Variant::Original)
    }

    /// The reduction by a round with this many segments in queues.
    fn step_down(&self, diff: f64) -> f64 {
        if self.config.variant != Variant::Scps {
            return 1.0;
        }
        1.0 + (self.window.segments() / 2.0).min((diff - self.config.beta) / 2.0)
    }

    /// The segments in queues, and base/RTT; none if the round had too few samples.
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
            Variant::Profile | Variant::Original => w - w / 8.0,
            Variant::Linux => w * ratio + 1.0,
            Variant::Scps | Variant::Ns3 | Variant::Linux26 => w,
        };
        self.window.clamp_to(end.max(LEAST_WINDOW));
        self.window.leave_slow_start();
    }

    /// Measures base again after enough rounds in which W fell.
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
            Variant::Ns3 => return self.on_ack_ns3(ack),
            Variant::Linux26 => return self.on_ack_linux26(ack),
            Variant::Profile | Variant::Original | Variant::Linux | Variant::Scps => {}
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
            Variant::Scps => kept * self.window.segments(),
            Variant::Ns3 => self.lowered().min(self.window.threshold()),
            Variant::Profile | Variant::Original | Variant::Linux | Variant::Linux26 => kept * flight,
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
        about: "Watches the round-trip time and keeps two to four segments in the queue of the bottleneck: no losses \
                and short queues among its like. Algorithms that fill queues take the path from it, and a route that \
                becomes longer looks like a queue to it, unless rebase is set.",
        equations: &[
            "diff = W (1 - base/RTT): what waits in queues;  base = smallest RTT, RTT = mean of the round",
            "avoidance, per round:  W += 1 if diff < alpha, W -= 1 if diff > beta",
            "slow start:  W doubles every other round;  ends with W -= W/8 if diff > gamma",
            "loss:     ssthresh = max(3/4 FlightSize, 2), W = ssthresh",
            "timeout:  ssthresh = max(FlightSize/2, 2), W = 2",
            "scps:     slow start doubles every round, ends at W;  avoidance: W -= 1 + min(W/2, (diff - beta)/2) if diff > beta;",
            "          loss: W/2;  timeout: ssthresh = max(W/2, 2), W = 1;  alpha = 3, beta = 5, gamma = 4",
            "linux:    diff = W (RTT - base)/base, RTT = smallest of the round;  slow start as newreno, ends at",
            "          min(W, W base/RTT + 1);  loss and timeout as newreno",
            "linux-2.6: diff = W (1 - base/RTT) in half segments, W as it was a round before;  W += 1 every second round",
            "ns3:      as linux in whole segments, RTT = SRTT;  a reduction lowers ssthresh to W - 1;  loss: W = ssthresh",
            "window of one flow on a path of mu segments/s:  mu base + alpha <= W <= mu base + beta",
        ],
        source: "Brakmo, Peterson, \"TCP Vegas: end to end congestion avoidance on a global Internet\", IEEE JSAC \
                 13(8), 1995; the variants linux and linux-2.6: tcp_vegas.c; ns3: its TcpVegas; scps: the MITRE SCPS reference implementation",
    };

    fn settings() -> Vec<Setting<Self>> {
        let variant: Setting<Self> = Setting::word("variant", "a value", &["profile", "original", "linux", "scps", "ns3", "linux-2.6"], |config: &Self| config.variant as usize, |config: &mut Self, word| {
                    config.variant = Variant::ALL[word];
                    if config.variant == Variant::Scps {
                        (config.alpha, config.beta, config.gamma) = SCPS;
                    }
                }).by_default("profile").about("The source of the rules: original is the paper, linux the kernel, linux-2.6 Linux 2.6.16 to 2.6.22 as \
                      in ns-2, ns3 that of ns-3, which sees the smoothed RTT, scps the SCPS-TP reference implementation, \
                      which sets alpha, beta and gamma to 3, 5 and 4; profile is linux-2.6 in profile ns2-linux, \
                      original in the others.");
        vec![
            variant,
            Setting::quantity("alpha", |config: &mut Self| &mut config.alpha, Unit::Plain, 0.0, 1e6)
                .by_default("2")
                .unit("segments")
                .about("The window grows while fewer segments wait."),
            Setting::quantity("beta", |config: &mut Self| &mut config.beta, Unit::Plain, 0.0, 1e6)
                .by_default("4")
                .unit("segments")
                .about("The window shrinks while more segments wait."),
            Setting::quantity("gamma", |config: &mut Self| &mut config.gamma, Unit::Plain, 0.0, 1e6)
                .by_default("1")
                .unit("segments")
                .about("Slow start ends when more segments wait."),
            Setting::quantity("rebase", |config: &mut Self| &mut config.rebase, Unit::Plain, 0.0, 1000.0)
                .by_default("0")
                .unit("RTTs")
                .about(
                    "After so many rounds in a row that shrank the window, the path counts as a longer one and \
                          its smallest RTT is measured again; 0 never does that.",
                ),
        ]
    }

    fn check(&self) -> Result<(), String> {
        if self.alpha <= self.beta {
            return Ok(());
        }
        Err(format!("alpha: {} is above beta, which is {}: make it smaller", self.alpha, self.beta))
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Vegas::new(self, start))
    }
}

#[cfg(test)]
mod tests;
