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
//! - The lost ranges in a round of Startup are counted as ACKs, or timers, that mark a loss, one range each (as Linux).
//! - Every connection is assumed to have SACK.
//! - The draft names no reaction to a congestion mark. Here a mark is a loss in its round, and ends a probe like losses
//!   above the threshold.
//! - The state to return to after a spurious episode is saved at its first loss, not again in later rounds or at the
//!   start of recovery: that would lose the transition caused by a loss.
//! - A cautious probe compares the flight before the ACK with inflight_longterm, as in Linux.

use super::internals::rate;
use super::path_model::{Aggregation, MaxFilter, Rounds, Shallow};
use super::registry::{About, Algorithm};
use super::{
    Ack, Allowance, Cause, Congestion, CongestionControl, Departures, Internals, Lost, Needs, Phase, RateSample, Sent,
    Start, Transmissions,
};
use lightlag_core::params::Setting;
use lightlag_core::{Duration, Instant, RandomStream, Rate, Unit};
use loss::Undo;
use states::{AckPhase, State};

mod control;
mod loss;
mod model;
mod states;

/// 4 ln 2: the smallest gain that doubles the rate each round.
const STARTUP_PACING_GAIN: f64 = 2.77;
const DRAIN_PACING_GAIN: f64 = 0.5;
const DEFAULT_WINDOW_GAIN: f64 = 2.0;
const PROBE_RTT_WINDOW_GAIN: f64 = 0.5;
/// PacingMarginPercent: 1.
const PACED: f64 = 0.99;
/// MinPipeCwnd in segments.
const LEAST: f64 = 4.0;
/// MaxBwFilterLen in cycles.
const BANDWIDTH_CYCLES: u64 = 2;
/// ExtraAckedFilterLen in rounds.
const AGGREGATION_ROUNDS: u64 = 10;

/// Parameters of [`Bbr3`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// LossThresh, 2 %.
    pub loss_threshold: f64,
    /// Beta, 0.7.
    pub beta: f64,
    /// Headroom, 0.15.
    pub headroom: f64,
    /// MinRTTFilterLen, 10 s.
    pub rtt_window: Duration,
    /// ProbeRTTInterval, 5 s.
    pub probe_rtt_interval: Duration,
    /// ProbeRTTDuration, 200 ms.
    pub probe_rtt: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            loss_threshold: 0.02,
            beta: 0.7,
            headroom: 0.15,
            rtt_window: Duration::from_secs(10),
            probe_rtt_interval: Duration::from_secs(5),
            probe_rtt: Duration::from_millis(200),
        }
    }
}

/// The losses at a flight, according to an ACK or a lost segment: the draft's RS.
#[derive(Clone, Copy, Debug, Default)]
struct Evidence {
    /// Bytes lost since the segment left.
    lost: f64,
    /// Bytes in flight just after it left.
    tx_in_flight: f64,
    app_limited: bool,
}

/// The state of BBR, version 3. Sizes are in bytes, rates in bytes a second; a bound that is not set is infinite.
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

    drain_start_round: u64,
    ack_phase: AckPhase,
    /// Whether the data acknowledged now left while it probed for bandwidth.
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
    /// Whether the losses of the round that ended are too many for Startup.
    startup_lost_too_much: bool,
    undo: Undo,
    phase: Phase,
    evidence: Evidence,

    /// Bytes in flight, as last reported.
    inflight: f64,
    window: f64,
    prior_window: f64,
    rate: f64,
    rate_from_rtt: bool,
}

impl Bbr3 {
    /// BBR in Startup, at the initial window.
    pub fn new(config: &Config, start: &Start) -> Self {
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

    /// Starts the clocks at the first event, whose time [`Start`] does not contain.
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

    /// BBR has no threshold. It reports one below the least window after Startup, so that no one takes it for slow
    /// start.
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
        about: "BBR that heeds losses: it probes for bandwidth every two to three seconds, takes a flight at which more \
                than 2 % were lost as too high, and lowers rate and flight by 30 % a round with losses between probes. \
                Random losses above 2 % therefore cost it far more than version 1. Needs SACK.",
        equations: &[
            "max_bw = largest delivery rate of two probing cycles,  min_rtt = smallest RTT of 10 s",
            "pacing rate = pacing gain * 0.99 * min(max_bw, bw_shortterm)",
            "W = window gain * bw * min_rtt + aggregated ACKs, within inflight_longterm and inflight_shortterm, at least 4",
            "Startup:   gains 2.77, 2, until the rate grew by less than 25 % in 3 rounds, or too much was lost",
            "Drain:     gains 0.5, 2, until the flight is at most bw * min_rtt, or 3 rounds",
            "ProbeBW:   DOWN 0.9, CRUISE 1, REFILL 1 for a round, UP 1.25;  window gain 2, in UP 2.25",
            "ProbeRTT:  W = bw * min_rtt/2 for 200 ms and a round, if the RTT of the last 5 s is out of date",
            "probing, lost > 2 % of a flight:  inflight_longterm = max(that flight, 0.7 min(bw * min_rtt, W))",
            "else, a round with a loss:        bw_shortterm, inflight_shortterm = max(latest, 0.7 times)",
            "timeout:   W = flight + 1 segment",
        ],
        source: "draft-ietf-ccwg-bbr, working copy of August 2026 (Cardwell, Swett, Beshay)",
    };

    const DRAWS: bool = true;
    const NEEDS: Needs = Needs { rate: true, pacing: true, own_recovery: true, ..Needs::NONE };

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::quantity("loss_threshold", |config: &mut Self| &mut config.loss_threshold, Unit::Plain, 0.0, 0.9)
                .by_default("0.02")
                .about("LossThresh: the part of a flight whose loss makes that flight too high."),
            Setting::quantity("beta", |config: &mut Self| &mut config.beta, Unit::Plain, 0.1, 1.0)
                .by_default("0.7")
                .about("What a round with losses keeps of the short-term bounds, at least."),
            Setting::quantity("headroom", |config: &mut Self| &mut config.headroom, Unit::Plain, 0.0, 0.9)
                .by_default("0.15")
                .about("The part of inflight_longterm that it leaves to others while it cruises."),
            Setting::time_up_to("rtt_window", |config: &mut Self| &mut config.rtt_window, Duration::from_secs(86_400))
                .by_default("10 s")
                .unit("time")
                .about("MinRTTFilterLen: how long the smallest round-trip time lasts."),
            Setting::time_up_to(
                "probe_rtt_interval",
                |config: &mut Self| &mut config.probe_rtt_interval,
                Duration::from_secs(86_400),
            )
            .by_default("5 s")
            .unit("time")
            .about("How long a round-trip time lasts before ProbeRTT measures it again."),
            Setting::time_up_to("probe_rtt", |config: &mut Self| &mut config.probe_rtt, Duration::from_secs(60))
                .by_default("200 ms")
                .unit("time")
                .about(
                    "How long ProbeRTT keeps half of the flight; 0 s for no ProbeRTT, and the \
                          smallest round-trip time ever.",
                ),
        ]
    }

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

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Bbr3::new(self, start))
    }
}

#[cfg(test)]
mod tests;
