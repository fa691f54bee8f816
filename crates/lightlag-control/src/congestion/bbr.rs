//! BBR, version 1: a model of the path instead of losses.
//!
//! Cardwell, Cheng, Gunn, Hassas Yeganeh, Jacobson, "BBR: Congestion-based congestion control", ACM Queue 14(5), 2016;
//! draft-cardwell-iccrg-bbr-congestion-control-00. Two estimates make the model: BtlBw, the largest delivery rate of
//! the last 10 rounds, and RTprop, the smallest round-trip time of the last 10 s. Then
//!
//! - pacing rate = pacing gain · 0.99 BtlBw, window = window gain · BtlBw · RTprop + 3 segments, at least 4;
//! - STARTUP: both gains 2/ln 2, until BtlBw grew by less than a quarter in three rounds;
//! - DRAIN: pacing gain ln 2/2, until the flight is at most BtlBw · RTprop;
//! - PROBE_BW: window gain 2, pacing gains 1.25, 0.75, 1, 1, 1, 1, 1, 1, about an RTprop each, from a random one
//!   but the second on;
//! - PROBE_RTT: window 4 for 200 ms and a round, if RTprop was not seen for 10 s.
//!
//! A loss does not lower the rate. In the first round of a recovery the window only replaces delivered data. After a
//! recovery, and after PROBE_RTT, the window returns to its earlier value. After a timeout it is one segment. If one
//! ACK ends a recovery and starts another, nothing has ended: BBR looks at the state once per ACK, at its end (Linux).
//! Otherwise steady losses on a long path would hold the window at the four segments of PROBE_RTT, until BtlBw is
//! forgotten.
//!
//! Four rules come from Linux (tcp_bbr.c), from which the draft was written: the 1 % below BtlBw, the two extra
//! segments at a gain of 1.25, an RTprop that only a smaller sample refreshes, [`policer`] and the window for
//! aggregated ACKs, over the last 5 to 10 rounds.
//!
//! The draft's three quanta are three segments without an offload that collects them (as in ns-3). A sender that makes
//! bursts (`tso`) has Linux's: a quantum is the data of 1/1024 s, at least two segments (one below 1.2 Mbit/s), at most
//! 64 KiB. Its windows are whole segments, an even number of them, and PROBE_BW and DRAIN compare the flight at the
//! moment at which pacing lets the next burst leave, less the whole segments delivered until then. Phases last by the
//! time of the last delivery, and PROBE_RTT comes and goes with the ticks of the clock. Its gains for 2/ln 2 and the inverse are 739/256 and 88/256, and its
//! BtlBw is the maximum of three rates (`bandwidth`), in whole segments per 2²⁴ µs.
//!
//! The variant `ns3` is ns-3's TcpBbr, which starves with delayed ACKs: see `bbr/ns3.rs`.
//!
//! `model` has the estimates of the path, `states` the gains and transitions, and `control` computes the pacing rate and
//! the window from both.

use super::internals::rate;
use super::path_model::{Aggregation, Rounds, Shallow};
use super::registry::{About, Algorithm};
use super::{
    Ack, Allowance, Cause, Congestion, CongestionControl, Departures, Internals, Lost, Needs, Phase, Sent, Start,
    Transmissions,
};
use bandwidth::Bandwidth;
use lightlag_core::params::Setting;
use lightlag_core::{Duration, Instant, RandomStream, Rate, Unit};
use policer::Policer;
use states::State;

mod bandwidth;
mod control;
mod model;
mod ns3;
pub mod policer;
mod states;

/// The least window in segments: four keep a path with delayed ACKs busy.
const LEAST: f64 = 4.0;

/// Below this rate, in bytes a second, a quantum may be one segment (Linux: 1.2 Mbit/s).
const SLOW: f64 = 150_000.0;

/// Parameters of [`Bbr`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The source of the rules.
    pub variant: Variant,
    /// Rounds over which BtlBw is the largest delivery rate, 10.
    pub bandwidth_rounds: f64,
    /// Time after which RTprop needs PROBE_RTT, 10 s.
    pub rtt_window: Duration,
    /// Time for which PROBE_RTT keeps the window at four segments, 200 ms.
    pub probe_rtt: Duration,
    /// Whether the window grows with aggregated ACKs.
    pub ack_aggregation: bool,
    /// Whether steady heavy losses are attributed to a policer.
    pub policer: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            variant: Variant::default(),
            bandwidth_rounds: 10.0,
            rtt_window: Duration::from_secs(10),
            probe_rtt: Duration::from_millis(200),
            ack_aggregation: true,
            policer: true,
        }
    }
}

/// The source of the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// The draft and tcp_bbr.c.
    #[default]
    Linux,
    /// TcpBbr of ns-3.37.
    Ns3,
}

/// BBR's model and state. Sizes are in bytes, rates in bytes a second.
pub struct Bbr {
    config: Config,
    segment: f64,
    initial_window: f64,
    /// The sender makes bursts.
    tso: bool,
    random: RandomStream,
    state: State,
    rounds: Rounds,
    /// BtlBw.
    bandwidth: Bandwidth,
    /// RTprop, and the time at which it was measured.
    min_rtt: Duration,
    min_rtt_at: Option<Instant>,
    aggregation: Aggregation,
    policer: Policer,
    /// Bandwidth at the last growth by a quarter, rounds since, and whether the path is known to be full.
    full: f64,
    full_rounds: u8,
    filled: bool,
    /// Start of the current gain of PROBE_BW.
    phase_at: Instant,
    /// Time at which PROBE_RTT may end, once the flight was small enough, and whether a round has passed since.
    probe_rtt_until: Option<Instant>,
    probe_rtt_round: bool,
    shallow: Shallow,
    /// The sender was idle for want of data.
    idle: bool,
    /// The losses that the sender repairs.
    phase: Phase,
    /// The window only replaces delivered data: the first round of a recovery.
    conserve: bool,
    /// The end of a recovery at the last ACK: its time, and the former values of [`Self::conserve`] and the window.
    recovering: Option<(Instant, bool, f64)>,
    prior_window: f64,
    window: f64,
    /// The window before the last ACK, less the losses that it reported, and the bytes that it delivered.
    before: (f64, f64),
    rate: f64,
    /// The pacing gain of the last ACK.
    gain: f64,
    /// Whether the first rate came from a round-trip time.
    rate_from_rtt: bool,
    delivered: u64,
    /// Time of the last of them.
    delivered_at: Instant,
    /// Bytes lost since the last ACK, and ever.
    newly_lost: u64,
    lost: u64,
}

impl Bbr {
    /// BBR in STARTUP, at the initial window.
    pub fn new(config: &Config, start: &Start) -> Self {
        let segment = start.segment_size as f64;
        let initial_window = start.initial_window as f64 * segment;
        let mut bbr = Self {
            config: config.clone(),
            segment,
            initial_window,
            tso: start.tso,
            random: RandomStream::new(start.seed, "bbr"),
            state: State::Startup,
            rounds: Rounds::default(),
            bandwidth: Bandwidth::new(start.tso),
            min_rtt: start.rtt.unwrap_or(Duration::MAX),
            min_rtt_at: None,
            aggregation: if start.tso { Aggregation::of_whole(segment) } else { Aggregation::default() },
            policer: Policer::new(start.tso),
            full: 0.0,
            full_rounds: 0,
            filled: false,
            phase_at: Instant::ZERO,
            probe_rtt_until: None,
            probe_rtt_round: false,
            shallow: Shallow::default(),
            idle: false,
            phase: Phase::Open,
            conserve: false,
            recovering: None,
            prior_window: 0.0,
            window: initial_window,
            before: (initial_window, 0.0),
            rate: 0.0,
            gain: 1.0,
            rate_from_rtt: start.rtt.is_some(),
            delivered: 0,
            delivered_at: Instant::ZERO,
            newly_lost: 0,
            lost: 0,
        };
        bbr.start_rate(start.rtt.unwrap_or(Duration::from_millis(1)));
        bbr
    }
}

impl Allowance for Bbr {
    fn window(&self) -> u64 {
        (self.window.max(self.segment) + 0.5) as u64
    }

    /// BBR has no threshold. It reports one below the least window after STARTUP, so that no one takes it for slow
    /// start.
    fn ssthresh(&self) -> u64 {
        if self.filled { (LEAST * self.segment) as u64 } else { u64::MAX }
    }
}

impl CongestionControl for Bbr {
    fn on_ack(&mut self, ack: &Ack) {
        self.recovering = None;
        self.min_rtt_at.get_or_insert(ack.now);
        if !self.rate_from_rtt && !ack.srtt.is_zero() {
            self.rate_from_rtt = true;
            self.start_rate(ack.srtt);
        }
        if self.phase == Phase::Open && ack.phase == Phase::Recovery {
            self.save_window();
        }
        self.count_delivered(ack);
        self.rounds.started = false;
        if let Some((sample, rate)) = ack.rate.as_ref().and_then(|sample| Some((sample, sample.bytes_per_second()?))) {
            self.learn(ack, sample, rate);
        }
        // Duplicate ACKs without SACK bring no sample, but they still advance the state.
        self.check_phase(ack);
        self.check_drained(ack);
        self.check_rtt(ack);
        self.gain = self.pacing_gain();
        self.set_rate(self.gain);
        self.set_window(ack);
        self.newly_lost = 0;
    }

    fn on_congestion(&mut self, event: &Congestion) {
        match event.cause {
            Cause::Timeout | Cause::RepeatedTimeout => {
                // Linux, tcp_enter_loss: `bbr_ssthresh` is called for data that no reaction has covered.
                if event.cause == Cause::Timeout {
                    self.save_window();
                }
                self.phase = Phase::Loss;
                // A timeout ends a round of the search for a policer (Linux: `bbr_set_state`).
                self.watch_policer(true, true, false, event.now);
                self.newly_lost = 0;
                // The growth measured so far does not apply after a timeout (Linux).
                self.full = 0.0;
                self.window = self.segment;
            }
            // The next ACK brings the window of a recovery, unless one is in progress; marks do not count.
            Cause::Loss => {
                if let Some((at, conserve, window)) = self.recovering.take()
                    && at == event.now
                {
                    (self.phase, self.conserve, self.window) = (Phase::Recovery, conserve, window);
                    self.save_window();
                }
            }
            Cause::Mark => {}
        }
    }

    fn on_undo(&mut self, _now: Instant) {
        self.full = 0.0;
        self.full_rounds = 0;
        self.policer.forget();
        self.window = self.window.max(self.prior_window);
        self.bound_for_probe_rtt();
    }

    fn on_recovered(&mut self, now: Instant) {
        if self.phase == Phase::Open {
            // A tail loss probe repaired a loss, and no recovery had started.
            return;
        }
        self.recovering = Some((now, self.conserve, self.window));
        self.phase = Phase::Open;
        self.conserve = false;
        // The ACK that ends a recovery already grows the window (Linux).
        let (before, acked) = self.before;
        self.window = before.max(self.prior_window);
        self.grow(acked);
        self.bound_for_probe_rtt();
    }

    fn internals(&self) -> Internals {
        Internals {
            state: Some(self.state.name()),
            bottleneck_rate: rate(self.bandwidth()),
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

impl Departures for Bbr {
    fn pacing_rate(&self) -> Option<Rate> {
        Rate::from_bps((8.0 * self.rate).max(1.0) as u64)
    }

    fn least_burst(&self) -> u64 {
        if self.rate < SLOW { 1 } else { 2 }
    }
}

impl Transmissions for Bbr {
    fn on_sent(&mut self, sent: &Sent) {
        self.min_rtt_at.get_or_insert(sent.now);
        // In Linux one mark stands for a lack of data and for PROBE_RTT.
        let shallow = self.tso && sent.prior_inflight == 0 && self.shallow.lasts(self.delivered);
        if !sent.app_limited && !shallow {
            return;
        }
        self.idle = true;
        self.aggregation.restart(sent.now);
        match self.state {
            State::ProbeBw(_) => self.set_rate(1.0),
            State::ProbeRtt => self.leave_probe_rtt(sent.now),
            State::Startup | State::Drain => {}
        }
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.newly_lost += lost.bytes;
        self.lost += lost.bytes;
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "Measures the bandwidth and the round-trip time of the path and sends at that rate, whatever is lost; a \
                fifth of the packets must be lost before that costs throughput. Needs SACK. Flows with long round-trip \
                times get more than their share; shallow queues lose many packets to it.",
        equations: &[
            "BtlBw = largest delivery rate of 10 rounds,  RTprop = smallest RTT of 10 s",
            "pacing rate = pacing gain * 0.99 * BtlBw",
            "W = window gain * BtlBw * RTprop + 3 segments (+ aggregated ACKs), at least 4 segments",
            "STARTUP:   gains 2.885, 2.885, until BtlBw grew by less than 25 % in 3 rounds",
            "DRAIN:     gains 0.347, 2.885, until the flight is at most BtlBw * RTprop",
            "PROBE_BW:  pacing gains 1.25, 0.75, 1 x 6, an RTprop each;  window gain 2",
            "PROBE_RTT: W = 4 for 200 ms and a round, if RTprop is older than 10 s",
            "loss:      W = flight for a round, then as before;  timeout:  W = 1",
            "ns3:       a rate counts the time since the sample before: n ACKs in a flight give n/(n+1) of it;",
            "           RTprop = smallest SRTT in ms;  gains 2.89;  pacing rate = pacing gain * BtlBw;",
            "           after a recovery W = BtlBw * RTprop + 3 segments as of DRAIN",
        ],
        source: "Cardwell et al., ACM Queue 14(5), 2016; draft-cardwell-iccrg-bbr-congestion-control-00; Linux tcp_bbr.c \
                 for the rules on policers and aggregation; the variant ns3: TcpBbr and TcpRateLinux of ns-3.37",
    };

    const DRAWS: bool = true;
    const NEEDS: Needs = Needs { rate: true, pacing: true, own_recovery: true, ..Needs::NONE };

    fn needs(&self, _ecn: bool) -> Needs {
        Needs { rate_as_ns3: self.variant == Variant::Ns3, ..Self::NEEDS }
    }

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::word(
                "variant",
                "a value",
                &["linux", "ns3"],
                |config: &Self| config.variant as usize,
                |config: &mut Self, word| config.variant = [Variant::Linux, Variant::Ns3][word],
            )
            .by_default("linux")
            .about(
                "Whose BBR: that of the draft and Linux, or ns-3's, which underestimates the bandwidth where \
                          few ACKs come in a round trip and starves with delayed ACKs.",
            ),
            Setting::quantity(
                "bandwidth_rounds",
                |config: &mut Self| &mut config.bandwidth_rounds,
                Unit::Plain,
                1.0,
                1000.0,
            )
            .by_default("10")
            .unit("rounds")
            .about("How many rounds a delivery rate counts for the bandwidth."),
            Setting::time_up_to("rtt_window", |config: &mut Self| &mut config.rtt_window, Duration::from_secs(86_400))
                .by_default("10 s")
                .unit("time")
                .about("How long the smallest round-trip time lasts before PROBE_RTT measures it again."),
            Setting::time_up_to("probe_rtt", |config: &mut Self| &mut config.probe_rtt, Duration::from_secs(60))
                .by_default("200 ms")
                .unit("time")
                .about(
                    "How long PROBE_RTT keeps the window at four segments; 0 s for no PROBE_RTT, and \
                          the smallest round-trip time ever.",
                ),
            Setting::flag("ack_aggregation", |config: &mut Self| &mut config.ack_aggregation)
                .by_default("true")
                .about("Adds what the ACKs deliver at once to the window, as Linux does and the draft does not."),
            Setting::flag("policer", |config: &mut Self| &mut config.policer).by_default("true").about(
                "Takes a steady rate with losses of 20 % for a policer's and keeps to it, as Linux does; the \
                          variant ns3 looks for none.",
            ),
        ]
    }

    fn check(&self) -> Result<(), String> {
        if self.rtt_window < Duration::from_millis(1) {
            return Err(format!("rtt_window: {} is below 1 ms", self.rtt_window));
        }
        Ok(())
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        match self.variant {
            Variant::Linux => Box::new(Bbr::new(self, start)),
            Variant::Ns3 => Box::new(ns3::Ns3::new(self, start)),
        }
    }
}

#[cfg(test)]
mod tests;
