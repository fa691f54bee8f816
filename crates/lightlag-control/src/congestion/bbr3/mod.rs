//! BBR, version 3: the model of version 1, with bounds from losses.
//!
//! draft-ietf-ccwg-bbr, the working copy of August 2026; the code keeps its names where possible. The model of the path
//! (`model`) has a long-term part, max_bw and inflight_longterm, and a short-term one, bw_shortterm and
//! inflight_shortterm. Losses shrink both (`loss`). The states (`states`) select the gains and the bounds that apply,
//! and `control` computes the pacing rate and the window:
//!
//! | state | pacing gain | window gain | bandwidth at most | flight at most |
//! |---|---|---|---|---|
//! | Startup | 2.77 | 2 | - | - |
//! | Drain | 0.5 | 2 | bw_shortterm | inflight_shortterm |
//! | ProbeBW DOWN | 0.9 | 2 | bw_shortterm | inflight_longterm, inflight_shortterm |
//! | ProbeBW CRUISE | 1 | 2 | bw_shortterm | 0.85 inflight_longterm, inflight_shortterm |
//! | ProbeBW REFILL | 1 | 2 | - | inflight_longterm |
//! | ProbeBW UP | 1.25 | 2.25 | - | inflight_longterm |
//! | ProbeRTT | 1 | 0.5 | bw_shortterm | 0.85 inflight_longterm, inflight_shortterm |
//!
//! Decisions where the draft is open or contradicts itself:
//! - Drain: its table bounds the flight by inflight_longterm, its BoundCwndForModel does not. Here it does not.
//! - For the lost ranges in a round of Startup, each ACK or timer that marks a loss counts as one range (as in Linux).
//! - Every connection is assumed to have SACK.
//! - The draft names no reaction to a congestion mark. Here a mark counts as a loss in its round, and ends a probe like
//!   losses above the threshold.
//! - The state to return to after a spurious episode is saved at its first loss, not again in later rounds or at the
//!   start of recovery: that would lose the transition caused by a loss.
//! - A cautious probe compares the flight before the ACK with inflight_longterm, as in Linux.

use super::about::{About, Deviation, Signal};
use super::internals::rate;
use super::path_model::{Aggregation, MaxFilter, Rounds, Shallow};
use super::registry::Algorithm;
use super::{
    Ack, Allowance, Cause, Congestion, CongestionControl, ConnectionStart, Departures, Internals, Lost, Needs, Phase,
    RateSample, Sent, Startup, Transmissions,
};
use lightlag_core::{Duration, Instant, RandomStream, Rate, Unit, settings};
use loss::Undo;
use states::{AckPhase, State};

mod control;
mod loss;
mod model;
mod startup;
mod states;

/// 4 ln 2: the smallest gain that doubles the rate each round.
const STARTUP_PACING_GAIN: f64 = 2.77;
const DRAIN_PACING_GAIN: f64 = 0.5;
const DEFAULT_WINDOW_GAIN: f64 = 2.0;
const PROBE_RTT_WINDOW_GAIN: f64 = 0.5;
/// 1 − PacingMarginPercent, which is 1 %.
const PACED: f64 = 0.99;
/// MinPipeCwnd: minimum window in segments.
const LEAST: f64 = 4.0;
/// MaxBwFilterLen: cycles of ProbeBW for which a delivery rate counts.
const BANDWIDTH_CYCLES: u64 = 2;
/// ExtraAckedFilterLen: rounds for which the excess of aggregated ACKs counts.
const AGGREGATION_ROUNDS: u64 = 10;

settings! {
    /// Parameters of [`Bbr3`].
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// LossThresh: maximum fraction of a flight that may be lost before the flight counts as too large.
        loss_threshold: f64 = 0.02 => quantity(Unit::Plain, 0.0, 0.9);
        /// Minimum fraction of the short-term bounds that remains after a round with losses.
        beta: f64 = 0.7 => quantity(Unit::Plain, 0.1, 1.0);
        /// Fraction of inflight_longterm left to other flows while cruising.
        headroom: f64 = 0.15 => quantity(Unit::Plain, 0.0, 0.9);
        /// MinRTTFilterLen: lifetime of the minimum round-trip time.
        rtt_window: Duration = Duration::from_secs(10) => time_up_to(Duration::from_secs(86_400));
        /// Lifetime of a round-trip time before ProbeRTT measures it again.
        probe_rtt_interval: Duration = Duration::from_secs(5) => time_up_to(Duration::from_secs(86_400));
        /// Duration of ProbeRTT with half of the flight; 0 s disables ProbeRTT, and the minimum never expires.
        probe_rtt: Duration = Duration::from_millis(200) => time_up_to(Duration::from_secs(60));
    }
}

/// The draft's RS: the losses that an ACK or a lost segment reports, and the bytes that were in flight.
#[derive(Clone, Copy, Debug, Default)]
struct Evidence {
    /// Bytes lost since the segment was sent.
    lost: f64,
    /// Bytes in flight just after the segment was sent.
    tx_in_flight: f64,
    app_limited: bool,
}

/// The state of BBR, version 3. Sizes are in bytes, rates in bytes per second; a bound that is not set is infinite.
pub struct Bbr3 {
    config: Config,
    segment: f64,
    initial_window: f64,
    random: RandomStream,
    state: State,
    now: Instant,
    begun: bool,

    rounds: Rounds,
    delivered: u64,
    max_bw: MaxFilter,
    cycle: u64,
    bw: f64,
    bw_latest: f64,
    bw_shortterm: f64,
    inflight_latest: f64,
    inflight_longterm: f64,
    inflight_shortterm: f64,
    aggregation: Aggregation,
    min_rtt: Duration,
    min_rtt_at: Instant,

    full_bw: f64,
    full_bw_count: u8,
    full_bw_now: bool,
    full_bw_reached: bool,
    /// Whether the caller replaces Startup.
    is_held: bool,
    /// Maximum round-trip time with constant intervals between probes; on longer paths they grow with it.
    long_rtt: Duration,

    drain_start_round: u64,
    ack_phase: AckPhase,
    /// Whether the data acknowledged now was sent while BBR probed for bandwidth.
    is_bw_probe_sample: bool,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    bw_probe_wait: Duration,
    rounds_since_probe_up: u64,
    bw_probe_up_rounds: u32,
    bw_probe_up_acked: f64,
    probe_up_acked_per_inc: f64,
    cycle_at: Instant,

    probe_rtt_min_delay: Duration,
    probe_rtt_min_at: Instant,
    probe_rtt_expired: bool,
    probe_rtt_until: Option<Instant>,
    probe_rtt_round_done: bool,
    shallow: Shallow,
    idle_restart: bool,

    is_loss_in_round: bool,
    loss_round_delivered: u64,
    loss_round_start: bool,
    /// Whether a loss of the current ACK started the loss round, which then starts with the data delivered by that ACK.
    loss_round_due: bool,
    /// Lost ranges in the loss round, and whether the last one belongs to the current ACK.
    loss_ranges: u32,
    range_open: bool,
    /// Whether the losses of the last complete round are too many for Startup.
    startup_lost_too_much: bool,
    undo: Undo,
    phase: Phase,
    evidence: Evidence,

    /// Bytes in flight at the last report.
    inflight: f64,
    window: f64,
    prior_window: f64,
    rate: f64,
    rate_from_rtt: bool,
}

impl Bbr3 {
    /// Creates BBR in Startup, with the initial window.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
        let segment = start.segment_size as f64;
        let initial_window = start.initial_window as f64 * segment;
        let rtt = start.rtt.unwrap_or(Duration::MAX);
        let mut bbr = Self {
            config: config.clone(),
            segment,
            initial_window,
            random: RandomStream::new(start.seed, "bbr3"),
            state: State::Startup,
            now: Instant::ZERO,
            begun: false,
            rounds: Rounds::default(),
            delivered: 0,
            max_bw: MaxFilter::default(),
            cycle: 0,
            bw: 0.0,
            bw_latest: 0.0,
            bw_shortterm: f64::INFINITY,
            inflight_latest: 0.0,
            inflight_longterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            aggregation: Aggregation::default(),
            min_rtt: rtt,
            min_rtt_at: Instant::ZERO,
            full_bw: 0.0,
            full_bw_count: 0,
            full_bw_now: false,
            full_bw_reached: false,
            is_held: false,
            long_rtt: Duration::MAX,
            drain_start_round: 0,
            ack_phase: AckPhase::Init,
            is_bw_probe_sample: false,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            bw_probe_wait: Duration::ZERO,
            rounds_since_probe_up: 0,
            bw_probe_up_rounds: 0,
            bw_probe_up_acked: 0.0,
            probe_up_acked_per_inc: f64::INFINITY,
            cycle_at: Instant::ZERO,
            probe_rtt_min_delay: rtt,
            probe_rtt_min_at: Instant::ZERO,
            probe_rtt_expired: false,
            probe_rtt_until: None,
            probe_rtt_round_done: false,
            shallow: Shallow::default(),
            idle_restart: false,
            is_loss_in_round: false,
            loss_round_delivered: 0,
            loss_round_start: false,
            loss_round_due: false,
            loss_ranges: 0,
            range_open: false,
            startup_lost_too_much: false,
            undo: Undo::default(),
            phase: Phase::Open,
            evidence: Evidence::default(),
            inflight: 0.0,
            window: initial_window,
            prior_window: 0.0,
            rate: 0.0,
            rate_from_rtt: start.rtt.is_some(),
        };
        bbr.start_rate(start.rtt.unwrap_or(Duration::from_millis(1)));
        bbr
    }

    /// Starts the clocks at the first event; the time is not known before.
    fn begin(&mut self, now: Instant) {
        self.now = now;
        if !self.begun {
            self.begun = true;
            (self.min_rtt_at, self.probe_rtt_min_at) = (now, now);
        }
    }

    fn update_model_and_state(&mut self, ack: &Ack, sample: &RateSample) {
        let limited = sample.app_limited || self.shallow.covers(sample);
        let rate = sample.bytes_per_second().unwrap_or(0.0);
        self.evidence =
            Evidence { lost: sample.lost as f64, tx_in_flight: sample.tx_in_flight as f64, app_limited: limited };
        self.update_latest_delivery_signals(sample, rate);
        self.update_congestion_signals(sample, rate, limited);
        self.update_aggregation(ack);
        self.check_full_bw_reached(rate, limited);
        self.check_startup_done();
        self.check_drain_done();
        self.update_probe_bw_cycle_phase(ack, rate);
        self.update_min_rtt(ack);
        self.check_probe_rtt(ack, sample);
        self.advance_latest_delivery_signals(sample, rate);
        self.bw = self.max_bw.max().min(self.bw_shortterm);
    }
}

impl Allowance for Bbr3 {
    fn window(&self) -> u64 {
        (self.window.max(self.segment) + 0.5) as u64
    }

    /// Returns a nominal threshold, as BBR has none: after Startup a value below the minimum window, so that BBR does
    /// not appear to be in slow start.
    fn ssthresh(&self) -> u64 {
        if self.full_bw_reached { (LEAST * self.segment) as u64 } else { u64::MAX }
    }
}

impl CongestionControl for Bbr3 {
    fn on_ack(&mut self, ack: &Ack) {
        self.begin(ack.now);
        self.inflight = ack.inflight as f64;
        self.phase = ack.phase;
        if !self.rate_from_rtt && !ack.srtt.is_zero() {
            self.rate_from_rtt = true;
            self.start_rate(ack.srtt);
        }
        if let Some(sample) = &ack.rate {
            self.delivered = sample.total_delivered;
            if std::mem::take(&mut self.loss_round_due) {
                self.loss_round_delivered = self.delivered;
            }
            self.update_model_and_state(ack, sample);
        }
        self.range_open = false;
        self.set_pacing_rate(self.pacing_gain());
        self.set_window(ack.newly_delivered as f64);
    }

    fn on_congestion(&mut self, event: &Congestion) {
        self.begin(event.now);
        self.loss_round_due = false;
        self.range_open = false;
        match event.cause {
            Cause::Loss => {
                self.save_state_upon_episode();
                self.phase = Phase::Recovery;
            }
            Cause::Timeout | Cause::RepeatedTimeout => {
                self.save_state_upon_episode();
                self.phase = Phase::Loss;
                self.window = self.inflight + self.segment;
            }
            Cause::Mark => self.note_mark(),
        }
    }

    fn on_undo(&mut self, now: Instant) {
        self.begin(now);
        self.handle_spurious_loss();
        self.bound_window();
    }

    fn on_recovered(&mut self, now: Instant) {
        self.begin(now);
        self.phase = Phase::Open;
        self.undo.saved = false;
        self.restore_window();
        self.bound_window();
    }

    fn internals(&self) -> Internals {
        Internals {
            state: Some(self.state.name()),
            bottleneck_rate: rate(self.bw),
            propagation: Some(self.min_rtt).filter(|rtt| *rtt != Duration::MAX),
            pacing_gain: Some(self.pacing_gain()),
            window_gain: Some(self.window_gain()),
            rho: None,
        }
    }

    fn departures(&self) -> Option<&dyn Departures> {
        Some(self)
    }

    fn transmissions(&mut self) -> Option<&mut dyn Transmissions> {
        Some(self)
    }

    fn startup(&mut self) -> Option<&mut dyn Startup> {
        Some(self)
    }
}

impl Departures for Bbr3 {
    fn pacing_rate(&self) -> Option<Rate> {
        Rate::from_bps((8.0 * self.rate).max(1.0) as u64)
    }
}

impl Transmissions for Bbr3 {
    fn on_sent(&mut self, sent: &Sent) {
        self.begin(sent.now);
        if sent.app_limited {
            self.restart_from_idle();
        }
        self.inflight = (sent.prior_inflight + sent.bytes) as f64;
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.begin(lost.now);
        self.inflight = (self.inflight - lost.bytes as f64).max(0.0);
        self.handle_lost_segment(lost);
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "BBR with a reaction to losses. It probes for bandwidth every two to three seconds, treats a flight \
                with more than 2 % loss as too large, and between probes reduces rate and flight by 30 % per round \
                with losses. Random losses above 2 % therefore cost much more than in version 1. Needs SACK.",
        equations: &[
            "max_bw = largest delivery rate of two probing cycles,  min_rtt = smallest RTT of 10 s",
            "bw = min(max_bw, bw_shortterm);  pacing rate = pacing gain * 0.99 * bw",
            "W = window gain * bw * min_rtt + aggregated ACKs, within inflight_longterm and inflight_shortterm, at least 4",
            "Startup:   gains 2.77, 2, until the rate grew by less than 25 % in each of 3 rounds, or too much was lost",
            "Drain:     gains 0.5, 2, until the flight is at most bw * min_rtt, or 3 rounds",
            "ProbeBW:   DOWN 0.9, CRUISE 1, REFILL 1 for a round, UP 1.25;  window gain 2, in UP 2.25",
            "ProbeRTT:  W = bw * min_rtt/2 for 200 ms and a round, if 5 s brought no smaller RTT",
            "probing, lost > 2 % of a flight:  inflight_longterm = max(that flight, 0.7 min(bw * min_rtt, W)), to DOWN",
            "else, a round with a loss:        bw_shortterm, inflight_shortterm = max(latest, 0.7 times)",
            "timeout:   W = flight + 1 segment; after the repair its previous value",
            "undo:      bounds, window and state as before the losses",
        ],
        source: "draft-ietf-ccwg-bbr, working copy of August 2026 (Cardwell, Swett, Beshay)",
        year: 2024,
        signal: Signal::PathModel,
        details: r#"
            Version 3 is complete except for offload. In addition to max_bw and min_rtt it has bounds that losses set:
            inflight_longterm for all data in flight, and bw_shortterm and inflight_shortterm until the next probe. max_bw
            covers this probing cycle and the last one.

            | state | pacing gain | window gain | maximum bandwidth | maximum flight | until |
            |---|---|---|---|---|---|
            | Startup | 2.77 = 4 ln 2 | 2 | | | the rate grew by less than 25 % in each of 3 rounds; or a round in recovery lost more than 2 % in 6 ranges |
            | Drain | 0.5 | 2 | bw_shortterm | inflight_shortterm | the flight is at most bw · min_rtt; or 3 rounds |
            | DOWN | 0.9 | 2 | bw_shortterm | both | the flight is at most bw · min_rtt and 0.85 inflight_longterm |
            | CRUISE | 1 | 2 | bw_shortterm | 0.85 inflight_longterm, inflight_shortterm | 2 to 3 s (random) since the start of DOWN, or as many rounds as the flight has segments, at most 63 |
            | REFILL | 1 | 2 | | inflight_longterm | one round |
            | UP | 1.25 | 2.25 | | inflight_longterm | the rate does not grow in 3 rounds; more than 2 % lost; or at inflight_longterm, if the last probe lost too much |
            | ProbeRTT | 1 | 0.5 | bw_shortterm | 0.85 inflight_longterm, inflight_shortterm | 200 ms and a round |

            In UP with W at inflight_longterm, inflight_longterm grows by 1, 2, 4, … segments per round. 2 % is
            `loss_threshold`, 0.7 is `beta`, 0.15 is `headroom`; 10 s, 5 s and 200 ms are `rtt_window`,
            `probe_rtt_interval` and `probe_rtt`. A mark counts as a loss of its round and ends a probe.

            With one lost segment, a flight of 42 segments already counts as too large, and 42 segments fill a link of
            10 Mbit/s at an RTT of 50 ms. Goodput of complete connections over 10 Mbit/s with a queue of 1000 packets,
            in percent of the link's payload minus losses (130 s without the first 10 s):

            | | 50 ms; 0, 1, 5 % lost | 600 ms; 0, 1, 5 % lost |
            |---|---|---|
            | `bbr3` | 96.6, 72, 14 | 89.9, 86.2, 5 |
            | `bbr3`, `probe_rtt = "0 s"` | 99.2, 72, – | 100, 99.9, – |
            | `bbr` | 97.6, 97.5, 94.7 | 88.4, 87.2, 82 |

            Delivery rates are described on the page of `bbr`. With `internals = true` in `[record]` the trace has `state`,
            `bottleneck_rate_bps`, `rtprop_s`, `pacing_rate_bps`, `pacing_gain` and `cwnd_gain`.
        "#,
        variants: &[],
        deviations: &[
            Deviation {
                scope: "Drain",
                source: "bounded by inflight_longterm in the table, but not in the pseudocode",
                here: "not bounded",
                reason: "as in the pseudocode and in Linux",
            },
            Deviation {
                scope: "Startup",
                source: "counts the ranges lost in a round",
                here: "counts each ACK or timer that marks a loss as one range",
                reason: "as Linux",
            },
            Deviation {
                scope: "undo",
                source: "the state is saved in each round with a loss",
                here: "once per episode, at its first loss",
                reason: "later rounds would save the values that the losses had changed",
            },
            Deviation {
                scope: "marks",
                source: "a reaction to marks is required but not specified",
                here: "as a loss in its round; a mark ends a probe",
                reason: "the draft leaves it open",
            },
            Deviation {
                scope: "SACK",
                source: "without SACK one loss ends a probe",
                here: "every connection is assumed to have SACK",
                reason: "the draft requires SACK",
            },
            Deviation {
                scope: "UP",
                source: "a cautious probe ends at a flight of at least inflight_longterm",
                here: "it ends when no further segment fits below that bound, before the ACK",
                reason: "the bound is not an integer number of segments",
            },
        ],
        checks: "On a closed path with a queue, the cases of the draft's appendix that a single flow can show: max_bw within 2 % \
                 at the end of Startup; the cycle; ProbeRTT every 5 s with half of the flight; exits by plateau, by losses and \
                 by time; the cautious probe; undo; idle times; ten times and a tenth of the bandwidth; a policer; aggregated \
                 ACKs; a path of less than one segment.",
        not_modelled: "Segmentation offload.",
    };

    const DRAWS: bool = true;
    const NEEDS: Needs = Needs { rate: true, pacing: true, controls_recovery: true, ..Needs::NONE };

    fn check(&self) -> Result<(), String> {
        if self.probe_rtt_interval < Duration::from_millis(1) {
            return Err(format!("probe_rtt_interval: {} is below 1 ms", self.probe_rtt_interval));
        }
        if self.rtt_window < self.probe_rtt_interval {
            return Err(format!(
                "rtt_window: {} is below probe_rtt_interval, {}",
                self.rtt_window, self.probe_rtt_interval
            ));
        }
        Ok(())
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        Box::new(Bbr3::new(self, start))
    }
}

#[cfg(test)]
mod tests;
