//! SUSS: CUBIC with a slow start that quadruples its window while growth is predicted to continue.
//!
//! Arghavani, Zhang, Eyers, Arghavani, "SUSS: improving TCP performance by speeding up slow-start", SIGCOMM 2024. The
//! rules and constants follow the authors' kernel (tcp_cubic.c, tcp_input.c and tcp_output.c of Linux 6.8 with
//! SUSS). Rounds count from 1; D is the smallest RTT, W the window and IW the initial one, in segments.
//!
//! The ACKs of the first half of a round's growth clock it as usual: the *blue* data of round r, B = 2^(r − 1)·IW
//! segments, answers the first B/2 acknowledged segments. Δ is the duration of these ACKs, B/2 of them. Then:
//!
//! - round 2: the window quadruples if Δ < D/4 and D > 10 ms; otherwise SUSS ends, and HyStart continues alone;
//! - later: with δ = 2^(r − 2)·Δ, the length of the entire train, and δ' the length in the previous round, it quadruples if
//!   δ·(δ/δ') ≤ D, r < `rounds` + 2, and the smallest RTT m of the round satisfies (k + 1)·m ≤ (k + 1)·D + k·D/8, where
//!   k rounds have passed since D was measured. After a round that only doubles, all later ones do;
//! - a round that quadruples sends (2^(r − 1) − 1)·B *red* segments in addition, paced over D − D/2^(r − 1), after a
//!   guard interval of (D/2^(r − 1) − Δ)/2. ACKs of red segments do not increase the window meanwhile. The windows
//!   by round are IW, 4 IW, 16 IW and 64 IW;
//! - HyStart's train: a train of blue ACKs, extended by the factor 2^j for j rounds that quadrupled, ends slow start at
//!   W + (2^j − 1)·(blue segments acknowledged), if it is longer than (D + 1 ms)/2. HyStart's rise of the RTT ends it
//!   immediately. If j > 1, W is then the flight;
//! - a loss ends SUSS, with W = the flight before CUBIC's reaction.
//!
//! The pacing starts with the last blue segment. The window includes all red segments of a round starting with its last
//! blue ACK, and returns to the flight if they were not sent; in the kernel it grows as they are sent. After slow start the
//! window is CUBIC's.

use super::about::{About, Deviation, Signal};
use super::cubic::linux::CubicLinux;
use super::cubic::{self, Cubic, CubicVariant};
use super::hystart::{self, HyStart, Policy};
use super::registry::Algorithm;
use super::{
    Ack, Cause, Congestion, CongestionControl, ConnectionStart, Departures, GrowthEpoch, Needs, Sent, Transmissions,
    Window, WindowBased,
};
use lightlag_core::{Duration, Instant, Rate, Unit, settings, words};

/// Maximum round-trip time without SUSS.
const SHORT: Duration = Duration::from_millis(10);

words! {
    /// CUBIC after slow start.
    pub enum SussVariant {
        /// As set by the profile: `linux` in the profile `linux`, and `rfc9438` in the others.
        Profile = "profile",
        /// RFC 9438.
        Rfc9438 = "rfc9438",
        /// Linux 6.
        Linux = "linux",
    }
}

settings! {
    /// Parameters of SUSS.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// Rules of CUBIC after slow start. By default they follow from the profile of the connection: linux in profile
        /// linux, and rfc9438 in the others.
        variant: SussVariant = SussVariant::default() => choice("a value");
        /// Maximum number of rounds that quadruple the window.
        rounds: f64 = 3.0 => quantity(Unit::Plain, 1.0, 20.0);
    }
}

/// Phases of slow start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// ACKs clock the segments.
    Clocked,
    /// The red segments of the round are paced.
    Paced,
    /// SUSS has ended slow start, or a loss has.
    Ended,
    /// HyStart alone.
    Plain,
}

/// Parts of the ACKs of a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Blue,
    /// The ACK that ends the blue part.
    LastBlue,
    Red,
}

/// Pacing of red segments.
#[derive(Clone, Copy, Debug)]
struct RedTrain {
    /// Departure of the first one.
    start: Instant,
    /// Window of the blue segments, and of both. The first is zero until the last blue ACK was processed.
    blue: f64,
    limit: f64,
    /// Bytes per second.
    rate: f64,
    /// Whether the blue segments have left.
    begun: bool,
    /// Rate that delays the next segment until `start`.
    until_start: Option<f64>,
}

/// State of SUSS over an implementation of CUBIC.
pub struct Suss<C> {
    cubic: C,
    rounds: u32,
    segment: f64,
    initial_window: f64,
    hystart: HyStart,
    stage: Stage,
    part: Part,
    /// D, and the round in which it was measured.
    min_rtt: Duration,
    min_rtt_round: u32,
    /// Number of the current round, and the time of its first ACK.
    round: u32,
    round_start: Instant,
    /// An ACK beyond the first offset starts a round, and one beyond the second ends the blue part.
    head: u64,
    tail: u64,
    /// Segments acknowledged in the blue part.
    blue: f64,
    /// Whether all rounds have quadrupled the window so far, and their number.
    quadruples: bool,
    jumps: u32,
    /// Length of the last train in seconds.
    last_train: f64,
    /// Window at the end of slow start, if a train was too long.
    cap: Option<f64>,
    red: Option<RedTrain>,
}

impl<C: CongestionControl + WindowBased> Suss<C> {
    /// Creates SUSS in slow start. `cubic` must have no condition for the end of slow start of its own.
    pub fn new(cubic: C, config: &Config, start: &ConnectionStart) -> Self {
        Self {
            cubic,
            rounds: config.rounds as u32,
            segment: start.segment_size as f64,
            initial_window: start.initial_window as f64,
            hystart: HyStart::new(&hystart::Config::of(Policy::HyStart), start.paces),
            stage: Stage::Clocked,
            part: Part::Red,
            min_rtt: Duration::MAX,
            min_rtt_round: 1,
            round: 1,
            round_start: Instant::ZERO,
            head: 0,
            tail: (start.initial_window * start.segment_size).saturating_sub(1),
            blue: 0.0,
            quadruples: true,
            jumps: 0,
            last_train: 0.0,
            cap: None,
            red: None,
        }
    }

    fn is_active(&self) -> bool {
        matches!(self.stage, Stage::Clocked | Stage::Paced)
    }

    fn segments(&self) -> f64 {
        self.cubic.shared().segments()
    }

    /// Examines an ACK in slow start for signs of a full path.
    fn watch(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt.filter(|rtt| *rtt < self.min_rtt) {
            (self.min_rtt, self.min_rtt_round) = (rtt, self.round);
        }
        if !self.cubic.shared().in_slow_start() || self.stage == Stage::Ended {
            return;
        }
        let window = self.segments();
        if self.stage == Stage::Plain {
            if self.hystart.ends_slow_start(ack, window) {
                self.cubic.shared_mut().leave_slow_start();
            }
            return;
        }
        let Some((rtt, min_rtt)) = self.hystart.follow(ack, window) else { return };
        match self.cap {
            Some(cap) if window > cap => self.end(ack),
            Some(_) => {}
            None => self.extend_train(ack.now, window),
        }
        if self.hystart.sees_delay(rtt, min_rtt) && self.is_active() {
            self.end(ack);
        }
    }

    /// Limits slow start to a window if the train of blue ACKs predicts a full path.
    fn extend_train(&mut self, now: Instant, window: f64) {
        if self.part == Part::Red || !self.hystart.extends_train(now) {
            return;
        }
        let factor = 1_u64 << self.jumps;
        if now.since(self.hystart.round().0) * factor > self.hystart.longest_train(self.min_rtt) {
            self.cap = Some(window + self.blue * (factor - 1) as f64);
        }
    }

    /// Ends slow start at the current window, or at the flight if the window was quadrupled more than once.
    fn end(&mut self, ack: &Ack) {
        self.stage = Stage::Ended;
        self.end_red(ack);
        let window = self.cubic.shared_mut();
        if self.jumps > 1 {
            window.clamp_to(window.in_segments(ack.inflight).max(2.0));
        }
        window.leave_slow_start();
    }

    /// Ends the pacing. Red segments that were not sent leave the window.
    fn end_red(&mut self, ack: &Ack) {
        if let Some(red) = self.red.take() {
            let window = self.cubic.shared_mut();
            window.clamp_to(red.blue.max(window.in_segments(ack.inflight) + 2.0));
        }
    }

    /// Counts rounds, and starts to pace red segments. Returns true if this ACK must not increase the window.
    fn measure(&mut self, ack: &Ack) -> bool {
        if self.part == Part::LastBlue {
            self.part = Part::Red;
        }
        if ack.snd_una > self.head {
            (self.part, self.blue) = (Part::Blue, 0.0);
            self.round += 1;
            self.round_start = ack.now;
            self.head = ack.snd_nxt;
            self.stage = Stage::Clocked;
            self.end_red(ack);
        }
        if ack.snd_una > self.tail {
            self.end_blue(ack);
        }
        if self.part != Part::Red {
            self.blue += self.cubic.shared().in_segments(ack.newly_acked);
        }
        self.part == Part::Red && self.stage == Stage::Paced
    }

    /// Decides about the rest of the round, at the end of its blue part.
    fn end_blue(&mut self, ack: &Ack) {
        self.part = Part::LastBlue;
        let doublings = self.round - 1;
        let blue = self.initial_window * libm::exp2(doublings.into());
        self.tail = self.head.saturating_add((blue * self.segment) as u64 - 1);
        let elapsed = ack.now.since(self.round_start).as_secs_f64();
        let train = if self.blue > 0.0 { elapsed * blue / (2.0 * self.blue) } else { 0.0 };
        // The window started this round with half of the blue part; if it is smaller, it has not doubled in each round,
        // because the application limits it.
        self.quadruples = self.quadruples && blue <= 2.0 * self.segments() && self.predicts_growth(train);
        if !self.quadruples {
            return;
        }
        self.last_train = train;
        let red = blue * libm::exp2(doublings.into()) - blue;
        let red_acked = (blue * libm::exp2((doublings - 1).into()) - blue) / 2.0;
        let min_rtt = self.min_rtt.as_secs_f64();
        let slack = min_rtt / libm::exp2(doublings.into());
        if slack <= train {
            return;
        }
        self.stage = Stage::Paced;
        self.jumps += 1;
        self.red = Some(RedTrain {
            start: ack.now + Duration::from_secs_f64((slack - train) / 2.0),
            limit: self.segments() + self.cubic.shared().in_segments(ack.newly_acked) + red - red_acked,
            rate: red * self.segment / (min_rtt - slack),
            blue: 0.0,
            begun: false,
            until_start: None,
        });
    }

    /// Adds the red segments to the window.
    fn add_red(&mut self, ack: &Ack) {
        let window = self.cubic.shared_mut();
        match &mut self.red {
            Some(red) if red.blue == 0.0 && ack.cwnd_limited && window.in_slow_start() => {
                red.blue = window.segments();
                window.raise_to(red.limit.min(window.threshold()));
            }
            Some(red) if red.blue == 0.0 => {
                (self.stage, self.red) = (Stage::Clocked, None);
                self.jumps -= 1;
            }
            _ => {}
        }
    }

    /// Returns true if the window is predicted to quadruple without filling the path. `train`: length of the blue
    /// train in seconds.
    fn predicts_growth(&mut self, train: f64) -> bool {
        let min_rtt = self.min_rtt.as_secs_f64();
        if self.round == 2 {
            let fits = self.min_rtt > SHORT && train < min_rtt / 4.0;
            if !fits {
                self.stage = Stage::Plain;
            }
            return fits;
        }
        let whole = train * libm::exp2((self.round - 2).into());
        let last = self.last_train * libm::exp2((self.round - 3).into());
        let next = if whole > 0.0 { whole * whole / last } else { 0.0 };
        let rounds = f64::from(self.round - self.min_rtt_round);
        let (_, smallest) = self.hystart.round();
        let rise = (rounds + 1.0) * smallest.as_secs_f64();
        next <= min_rtt && self.round < self.rounds + 2 && rise <= (rounds + 1.0) * min_rtt + rounds * min_rtt / 8.0
    }
}

impl<C: WindowBased> WindowBased for Suss<C> {
    fn shared(&self) -> &Window {
        self.cubic.shared()
    }

    fn shared_mut(&mut self) -> &mut Window {
        self.cubic.shared_mut()
    }
}

impl<C: CongestionControl + WindowBased> CongestionControl for Suss<C> {
    fn on_ack(&mut self, ack: &Ack) {
        if ack.newly_acked > 0 && self.stage != Stage::Ended {
            self.watch(ack);
        }
        let holds = ack.newly_acked > 0 && self.is_active() && self.cap.is_none() && self.measure(ack);
        let before = self.segments();
        self.cubic.on_ack(ack);
        if holds {
            self.cubic.shared_mut().clamp_to(before);
        }
        self.add_red(ack);
    }

    fn on_congestion(&mut self, event: &Congestion) {
        if self.is_active() {
            let window = self.cubic.shared_mut();
            window.clamp_to(window.in_segments(event.flight).max(2.0));
            (self.stage, self.red) = (Stage::Ended, None);
        }
        if matches!(event.cause, Cause::Timeout | Cause::RepeatedTimeout) {
            self.stage = Stage::Plain;
            self.min_rtt = Duration::MAX;
            self.hystart.time_out(event.now);
        }
        self.cubic.on_congestion(event);
    }

    fn on_undo(&mut self, now: Instant) {
        self.cubic.on_undo(now);
    }

    fn on_idle(&mut self, now: Instant, window: u64, threshold: u64) {
        self.cubic.on_idle(now, window, threshold);
    }

    fn leave_slow_start(&mut self) {
        self.cubic.leave_slow_start();
    }

    fn least_in_recovery(&self) -> u64 {
        self.cubic.least_in_recovery()
    }

    fn epoch(&self) -> Option<GrowthEpoch> {
        self.cubic.epoch()
    }

    fn departures(&self) -> Option<&dyn Departures> {
        Some(self)
    }

    fn transmissions(&mut self) -> Option<&mut dyn Transmissions> {
        Some(self)
    }
}

impl<C: CongestionControl + WindowBased> Departures for Suss<C> {
    fn pacing_rate(&self) -> Option<Rate> {
        let red = self.red.as_ref().filter(|red| red.begun)?;
        Rate::from_bps((8.0 * red.until_start.unwrap_or(red.rate)).max(1.0) as u64)
    }
}

impl<C: CongestionControl + WindowBased> Transmissions for Suss<C> {
    fn on_sent(&mut self, sent: &Sent) {
        let flight = self.cubic.shared().in_segments(sent.prior_inflight + sent.bytes);
        let Some(red) = &mut self.red else { return };
        red.begun |= red.blue <= flight;
        let wait = red.start.since(sent.now).as_secs_f64();
        red.until_start = (red.begun && wait > 0.0).then(|| sent.bytes as f64 / wait);
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "CUBIC with a faster slow start. While the length of the trains of ACKs and the round-trip time predict that \
                the path is far from full, a round quadruples the window instead of doubling it; the additional segments \
                are paced. Shortens transfers of up to a few megabytes on long paths.",
        equations: &[
            "round r:  B = 2^(r-1) IW segments are sent for the first B/2 acknowledged ones;  D = smallest RTT",
            "round 2:  quadruples if D > 10 ms and the train of these ACKs is shorter than D/4; otherwise HyStart",
            "later:    train t = 2^(r-2) (duration of these ACKs);  quadruples if t (t/last t) <= D, r < 5,",
            "          and (k+1) (smallest RTT of the round) <= (k+1) D + k D/8,  k rounds after D was measured",
            "quadruple: (2^(r-1) - 1) B more segments, paced over D (1 - 2^(1-r)), after a guard interval",
            "guard:    (D 2^(1-r) - duration of the ACKs)/2",
            "exit:     the train times 2^(quadrupled rounds) is longer than (D + 1 ms)/2, or HyStart's rise of the RTT",
            "avoidance and losses:  CUBIC",
        ],
        source: "Arghavani, Zhang, Eyers, Arghavani, \"SUSS: improving TCP performance by speeding up slow-start\", ACM \
                 SIGCOMM 2024; the authors' kernel (github.com/SUSSdeveloper/SUSS, linux-6.8) for rules and constants",
        year: 2024,
        signal: Signal::Loss,
        details: r#"
            The windows by round are IW, 4 IW, 16 IW and 64 IW instead of IW, 2 IW, 4 IW and 8 IW. `rounds` is the maximum
            number of rounds that quadruple the window (`suss_max`). After a round that only doubles the window, all later
            ones do the same. If a train of blue ACKs is too long, slow start ends when W has grown by (2^j − 1) times the blue
            segments acknowledged so far, where j rounds quadrupled. After two of them, W at the end of slow start is
            the flight.

            SUSS paces only the additional segments; the ACK clock releases the others. With `tso` the first two
            additional segments are not delayed by the guard interval.

            The large windows need a receive window of the same size: the automatic buffer of the profile `linux` starts
            with 65.5 kB.
        "#,
        variants: &[
            ("rfc9438", "CUBIC of RFC 9438 after slow start. The default, except in the profile `linux`."),
            ("linux", "CUBIC of Linux 6 after slow start, in whole segments."),
        ],
        deviations: &[
            Deviation {
                scope: "",
                source: "rules of the paper",
                here: "rules of the authors' kernel",
                reason: "the text of the paper was not available when the model was written",
            },
            Deviation {
                scope: "",
                source: "the sender uses at least 2^r IW of the peer's receive window, even if that is smaller",
                here: "the receive window limits the sender",
                reason: "RFC 9293 does not allow to send beyond the window",
            },
            Deviation {
                scope: "",
                source: "quadruples whatever the window is",
                here: "not if the window is below half of the blue part of the round",
                reason: "it has then not doubled in each round, because the application limits it; the counts assume that",
            },
            Deviation {
                scope: "",
                source: "the window grows by two segments whenever the red segments fill it",
                here: "it grows by all of them at the last blue ACK, and shrinks if they were not sent",
                reason: "the sender reads the window after ACKs; pacing sends the same segments at the same times",
            },
            Deviation {
                scope: "",
                source: "only connections of port 80, and only if they are not paced",
                here: "all connections",
                reason: "switches of the experiment",
            },
            Deviation {
                scope: "",
                source: "after a timeout with a window of 40 segments or more, HyStart has no trains",
                here: "HyStart is complete after each timeout",
                reason: "the flag of SUSS is not cleared in the kernel",
            },
        ],
        checks: "The windows by round in whole segments on a path of 100 MB/s and 100 ms; each condition at its bound; pacing \
                 interval, rate and guard interval of rounds 2 to 4; the cap; the exit of HyStart without a quadrupled round.",
        not_modelled: "The prediction over more than one round (`suss_kmax`), which the kernel does not use.",
    };

    const NEEDS: Needs = Needs { rate: true, pacing: true, ..Needs::NONE };

    fn in_linux(&self) -> Self {
        super::registry::in_variant(self, "linux")
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        let of =
            |variant| cubic::Config { hystart: hystart::Config::of(Policy::Standard), ..cubic::Config::of(variant) };
        match self.variant {
            SussVariant::Linux => {
                let cubic = CubicLinux::new(&of(CubicVariant::Linux), start);
                Box::new(Suss::new(cubic, self, start))
            }
            SussVariant::Profile | SussVariant::Rfc9438 => {
                Box::new(Suss::new(Cubic::new(&of(CubicVariant::Rfc9438), start), self, start))
            }
        }
    }
}

#[cfg(test)]
mod tests;
