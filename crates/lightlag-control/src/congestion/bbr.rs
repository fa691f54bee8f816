//! BBR, version 1: a model of the path instead of losses.
//!
//! Cardwell, Cheng, Gunn, Hassas Yeganeh, Jacobson, "BBR: Congestion-based congestion control", ACM Queue 14(5), 2016;
//! draft-cardwell-iccrg-bbr-congestion-control-00. The model consists of two estimates: BtlBw, the largest delivery
//! rate of the last 10 rounds, and RTprop, the smallest round-trip time of the last 10 s. Then
//!
//! - pacing rate = pacing gain · 0.99 BtlBw, window = window gain · BtlBw · RTprop + 3 segments, at least 4;
//! - STARTUP: both gains 2/ln 2, until BtlBw has grown by less than a quarter in three successive rounds;
//! - DRAIN: pacing gain ln 2/2, until the flight is at most BtlBw · RTprop;
//! - PROBE_BW: window gain 2, pacing gains 1.25, 0.75, 1, 1, 1, 1, 1, 1 in turn, each for about an RTprop; the first
//!   one is picked at random, but is never 0.75;
//! - PROBE_RTT: a window of 4 segments for 200 ms and a round, if no sample was as small as RTprop for 10 s.
//!
//! A loss does not lower the rate. In the first round of a recovery the window only replaces delivered data. After a
//! recovery, and after PROBE_RTT, the window returns to its earlier value. After a timeout it is one segment. If one
//! ACK ends a recovery and starts another, BBR does not see an end: as in Linux, it inspects the state once per ACK,
//! when the ACK was processed completely. Otherwise steady losses on a long path would keep the window at the four
//! segments of PROBE_RTT until BtlBw expires.
//!
//! Five rules come from Linux (tcp_bbr.c), the basis of the draft: the pacing rate is 1 % below BtlBw; two extra
//! segments are allowed at a gain of 1.25; only a smaller sample refreshes RTprop; policers are detected ([`policer`]);
//! and the window is extended by what aggregated ACKs delivered in the last 5 to 10 rounds.
//!
//! The draft adds three quanta to the window. Without segmentation offload a quantum is one segment (as in ns-3). If
//! the sender makes bursts (`tso`), a quantum is as in Linux: the data sent in 1/1024 s, at least two segments (one
//! below 1.2 Mbit/s), at most 64 KiB. The windows of such a sender are even numbers of whole segments. PROBE_BW and
//! DRAIN compare the flight as it will be when the next burst departs, that is, less the whole segments delivered until
//! then. The length of a phase is measured by the time of the last delivery, and PROBE_RTT starts and ends at clock
//! ticks. The gains for 2/ln 2 and its inverse are 739/256 and 88/256, and BtlBw is the maximum of three rates
//! (`bandwidth`), in whole segments per 2²⁴ µs.
//!
//! The variant `ns3` is ns-3's TcpBbr, which starves with delayed ACKs: see `bbr/ns3.rs`.
//!
//! `model` estimates the path, `states` has the gains and transitions, and `control` computes the pacing rate and the
//! window from both.

use super::about::{About, Deviation, Signal};
use super::internals::rate;
use super::path_model::{Aggregation, Rounds, Shallow};
use super::registry::Algorithm;
use super::{
    Ack, Allowance, Cause, Congestion, CongestionControl, ConnectionStart, Departures, Internals, Lost, Needs, Phase,
    Sent, Startup, Transmissions,
};
use bandwidth::Bandwidth;
use lightlag_core::{Duration, Instant, RandomStream, Rate, Unit, settings, words};
use policer::Policer;
use states::State;

mod bandwidth;
mod control;
pub mod leocc;
mod model;
mod ns3;
pub mod policer;
pub mod satpipe;
mod states;

/// The minimum window in segments: four keep a path with delayed ACKs busy.
const LEAST: f64 = 4.0;

/// Below this rate, in bytes per second, a quantum may be one segment (Linux: 1.2 Mbit/s).
const SLOW: f64 = 150_000.0;

settings! {
    /// Parameters of [`Bbr`].
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// Source of the rules: the draft and Linux, or ns-3, which underestimates the bandwidth where few ACKs arrive
        /// in a round trip and starves with delayed ACKs.
        variant: BbrVariant = BbrVariant::default() => choice("a value");
        /// Number of rounds for which a delivery rate counts towards the bandwidth estimate.
        bandwidth_rounds: f64 = 10.0 => quantity(Unit::Plain, 1.0, 1000.0).unit("rounds");
        /// Lifetime of the minimum round-trip time before PROBE_RTT measures it again.
        rtt_window: Duration = Duration::from_secs(10) => time_up_to(Duration::from_secs(86_400));
        /// Duration of PROBE_RTT with a window of four segments; 0 s disables PROBE_RTT, and the minimum never expires.
        probe_rtt: Duration = Duration::from_millis(200) => time_up_to(Duration::from_secs(60));
        /// Whether data delivered by aggregated ACKs extends the window, as in Linux but not in the draft.
        ack_aggregation: bool = true => flag();
        /// Whether a steady rate with losses of 20 % counts as the rate of a policer and becomes the limit, as in
        /// Linux. The variant ns3 does not detect policers.
        policer: bool = true => flag();
    }
}

words! {
    /// Implementation whose rules are followed.
    pub enum BbrVariant {
        /// The draft, and tcp_bbr.c of Linux.
        Linux = "linux",
        /// TcpBbr of ns-3.37.
        Ns3 = "ns3",
    }
}

/// BBR's model and state. Sizes are in bytes, rates in bytes per second.
pub struct Bbr {
    config: Config,
    segment: f64,
    initial_window: f64,
    /// Whether the sender makes bursts (TSO).
    tso: bool,
    random: RandomStream,
    state: State,
    rounds: Rounds,
    /// BtlBw, in bytes per second.
    bandwidth: Bandwidth,
    /// RTprop, and the time when it was measured.
    min_rtt: Duration,
    min_rtt_at: Option<Instant>,
    aggregation: Aggregation,
    policer: Policer,
    /// BtlBw when it last grew by a quarter, the number of rounds since then, and whether the path is known to be full.
    full: f64,
    full_rounds: u8,
    filled: bool,
    /// Whether the caller replaces STARTUP.
    is_held: bool,
    /// Start of the current gain of PROBE_BW.
    phase_at: Instant,
    /// Time when PROBE_RTT may end (set once the flight is small enough), and whether a round has passed since it was
    /// set.
    probe_rtt_until: Option<Instant>,
    probe_rtt_round: bool,
    shallow: Shallow,
    /// Whether the sender was idle because it had no data.
    idle: bool,
    /// Loss phase of the sender at the last ACK.
    phase: Phase,
    /// Whether the window only replaces delivered data, as in the first round of a recovery.
    conserve: bool,
    /// If the last ACK ended a recovery: its time, and the values of [`Self::conserve`] and of the window before it.
    recovering: Option<(Instant, bool, f64)>,
    prior_window: f64,
    window: f64,
    /// The window before the last ACK, less the bytes that this ACK reported lost; and the bytes that it delivered.
    before: (f64, f64),
    rate: f64,
    /// Pacing gain at the last ACK.
    gain: f64,
    /// Whether the initial pacing rate was computed from a measured round-trip time.
    rate_from_rtt: bool,
    delivered: u64,
    /// Time of the last delivery.
    delivered_at: Instant,
    /// Bytes lost since the last ACK, and in total.
    newly_lost: u64,
    lost: u64,
    /// Additions of LeoCC; `None` for BBR itself.
    leo: Option<Box<leocc::Reconfigurations>>,
    /// Schedule of SatPipe; `None` for BBR itself.
    handovers: Option<Box<satpipe::Handovers>>,
}

impl Bbr {
    /// Creates BBR in STARTUP, with the initial window.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
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
            is_held: false,
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
            leo: None,
            handovers: None,
        };
        bbr.start_rate(start.rtt.unwrap_or(Duration::from_millis(1)));
        bbr
    }
}

impl Allowance for Bbr {
    fn window(&self) -> u64 {
        (self.window.max(self.segment) + 0.5) as u64
    }

    /// Returns a nominal threshold, as BBR has none: after STARTUP a value below the minimum window, so that BBR does
    /// not appear to be in slow start.
    fn ssthresh(&self) -> u64 {
        if self.filled { (LEAST * self.segment) as u64 } else { u64::MAX }
    }
}

impl CongestionControl for Bbr {
    fn on_ack(&mut self, ack: &Ack) {
        self.recovering = None;
        self.min_rtt_at.get_or_insert(ack.now);
        self.await_reconfiguration(ack.now);
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
        self.choose_estimate(ack);
        self.set_rate(self.gain);
        self.set_window(ack);
        self.forget_estimate();
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

    fn startup(&mut self) -> Option<&mut dyn Startup> {
        Some(self)
    }
}

impl Startup for Bbr {
    fn hold_startup(&mut self) {
        self.is_held = true;
    }

    fn release_startup(&mut self) {
        self.is_held = false;
    }

    fn end_startup(&mut self, window: u64) {
        (self.is_held, self.filled) = (false, true);
        (self.full, self.full_rounds) = (self.bandwidth.max(), 3);
        self.window = window as f64;
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
        about: "Measures the bandwidth and the round-trip time of the path and sends at that rate. Losses do not \
                reduce the rate; they reduce the throughput only if about a fifth of the packets is lost. Needs SACK. \
                Flows with long round-trip times get more than their share, and BBR causes many losses in shallow \
                queues.",
        equations: &[
            "BtlBw = largest delivery rate of 10 rounds,  RTprop = smallest RTT of 10 s",
            "pacing rate = pacing gain * 0.99 * BtlBw",
            "W = window gain * BtlBw * RTprop + 3 segments (5 at gain 1.25) + aggregated ACKs, at least 4 segments",
            "STARTUP:   gains 2.885, 2.885, until BtlBw grew by less than 25 % in each of 3 rounds",
            "DRAIN:     gains 0.347, 2.885, until the flight is at most BtlBw * RTprop",
            "PROBE_BW:  pacing gains 1.25, 0.75, 1 x 6, an RTprop each;  window gain 2",
            "PROBE_RTT: W = 4 for 200 ms and a round, if RTprop is older than 10 s",
            "loss:      for a round W only replaces delivered data, then W as before;  timeout:  W = 1",
        ],
        source: "Cardwell, Cheng, Gunn, Hassas Yeganeh, Jacobson, ACM Queue 14(5), 2016; \
                 draft-cardwell-iccrg-bbr-congestion-control-00; Linux tcp_bbr.c for the rules on policers and aggregation; \
                 the variant ns3: TcpBbr and TcpRateLinux of ns-3.37",
        year: 2016,
        signal: Signal::PathModel,
        details: r#"
            2.885 = 2/ln 2 and 0.347 is its inverse. The phase with gain 1.25 lasts at least an RTprop, until a loss
            occurs or the flight has reached its target; the phase with gain 0.75 lasts an RTprop, or less if the queue
            is empty earlier. The first phase of PROBE_BW is picked at random (from the seed of the connection), but is
            never the one with 0.75. Rounds are counted by delivered data. Application-limited samples count only if
            they raise BtlBw.

            Losses: in the first round of a recovery W only replaces delivered data; at its end W has its previous
            value. After a timeout W is one segment and grows by the delivered data; when the recovery ends, W returns
            to its value before the timeout.

            **Bursts.** A quantum is one segment. If the sender makes bursts (`tso`, profile `linux`), the rules are
            Linux's: a quantum is the data sent in 1/1024 s, at least two segments (one below 1.2 Mbit/s) and at most 64
            KiB; W is an even number of segments (2 more at gain 1.25); the first rate is also 1 % below 2.885 · IW/RTT;
            PROBE_BW and DRAIN use the flight at the time when pacing allows the next burst; the gains of STARTUP and
            DRAIN are 739/256 and 88/256; a rate counts for BtlBw in 11 rounds, and two smaller rates are stored in
            addition to the largest (`minmax_running_max`); rates are whole segments per 2²⁴ µs (`BW_UNIT`), which is
            0.2 % less than 10 segments in 600 ms. The RTT of the handshake is the first RTprop.

            **From Linux.** `ack_aggregation` adds to W the largest excess of acknowledged data over BtlBw in the last 5
            to 10 rounds, at most the data of 100 ms at BtlBw. With `policer`, a policer is assumed if two successive
            intervals of 4 to 16 rounds have the same rate and a fifth of the data is lost in each; BBR then sends at
            this rate for 48 rounds.

            **Delivery rates** follow draft-ietf-ccwg-bbr §4.1 and are computed only for algorithms that need them. When
            a segment is sent, it records the amount of data delivered so far and the time of the last delivery. If an
            ACK acknowledges several segments, the one sent last gives the rate: the amount delivered since it was sent,
            divided by the time in which this data was sent or the time in which it was acknowledged, whichever is
            longer. Times below the minimum RTT give no sample. Samples are application-limited if their segment was
            sent when the application had run out of data, or before the data in flight at that time was delivered.

            **Cost of PROBE_RTT.** Complete connections over 10 Mbit/s with a queue of 1000 packets, goodput in percent of
            the link's payload minus losses (130 s without the first 10 s):

            | | 50 ms; 0, 1, 5 % lost | 600 ms; 0, 1, 5 % lost |
            |---|---|---|
            | `bbr` | 97.6, 97.5, 94.7 | 88.4, 87.2, 82 |
            | `bbr`, `probe_rtt = "0 s"` | 100, 99.8, 97.0 | 99.3, 98.6, 93.4 |
            | `bbr3` | 96.6, 72, 14 | 89.9, 86.2, 5 |
            | `bbr3`, `probe_rtt = "0 s"` | 99.2, 72, – | 100, 99.9, – |

            On a geostationary path PROBE_RTT costs a tenth: the path empties and fills again, one round trip each, and
            with losses it delays the repair. With 10 Mbit/s, 600 ms and 5 % loss, bbr of Linux 6.18 over a TUN device
            uses 91 % of such a link from the tenth to the sixtieth second (mean of three runs); the model uses 81 %,
            with three timeouts in the queue that STARTUP leaves.

            The frequency of PROBE_RTT depends on noise, because only a smaller sample refreshes RTprop. On an idle path
            of 20 Mbit/s, Linux 6.18 enters PROBE_RTT 11 times in 120 s at an RTT of 40 ms, as often as the model, but 6
            times at 200 ms, where the model enters it 11 times: simulated round-trip times are equal to the nanosecond.
            With a jitter of 10, 50 or 200 µs on the link (`jitter = "10 us"`), the model enters it 7 times.

            With `internals = true` in `[record]` the trace has `state`, `bottleneck_rate_bps` (BtlBw), `rtprop_s`,
            `pacing_rate_bps`, `pacing_gain` and `cwnd_gain`.
        "#,
        variants: &[("linux", "The equations and rules above. The default."), ("ns3", ns3::ABOUT)],
        deviations: &[
            Deviation {
                scope: "linux",
                source: "quanta of one to many segments, by the rate",
                here: "one segment without `tso`",
                reason: "segments are not collected for segmentation offload; ns-3 does the same",
            },
            Deviation {
                scope: "linux",
                source: "an equal sample also refreshes RTprop (draft)",
                here: "only a smaller one",
                reason: "as in Linux; without noise there would be no PROBE_RTT",
            },
            Deviation {
                scope: "linux",
                source: "packet conservation after a timeout (draft)",
                here: "W grows by the delivered data",
                reason: "as Linux",
            },
            Deviation {
                scope: "linux",
                source: "an approximate filter of BtlBw, and 739/256 and 88/256 for 2/ln 2 and its inverse (Linux)",
                here: "the same with `tso`; otherwise the exact maximum, 2.885 and 1/2.885 (draft)",
                reason: "each profile follows its source",
            },
            Deviation {
                scope: "ns3",
                source: "repairs count again as losses in `ModulateCwndForRecovery`",
                here: "they do not",
                reason: "a sender reports each loss once",
            },
        ],
        checks: "On a closed path with a queue: the state sequence and the length of each phase; BtlBw within 2 % at the end \
                 of STARTUP; PROBE_RTT every 10 s with 4 segments; 97 % of the link in PROBE_BW at 50, 100 and 600 ms; goodput \
                 of (1 − p) of that under 1 and 5 % random losses; application-limited samples never lower BtlBw; restart \
                 from idle; a policer detected and respected. `ns3`: over links of 10 and 24 Mbit/s without losses, the goodput \
                 of ns-3, to 2 %, at RTTs of 1 to 50 ms.",
        not_modelled: "In the variant `ns3`, losses that count again when they are repaired.",
    };

    const DRAWS: bool = true;
    const NEEDS: Needs = Needs { rate: true, pacing: true, controls_recovery: true, ..Needs::NONE };

    fn needs(&self, _ecn: bool) -> Needs {
        Needs { rate_as_ns3: self.variant == BbrVariant::Ns3, ..Self::NEEDS }
    }

    fn check(&self) -> Result<(), String> {
        if self.rtt_window < Duration::from_millis(1) {
            return Err(format!("rtt_window: {} is below 1 ms", self.rtt_window));
        }
        Ok(())
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        match self.variant {
            BbrVariant::Linux => Box::new(Bbr::new(self, start)),
            BbrVariant::Ns3 => Box::new(ns3::Ns3::new(self, start)),
        }
    }
}

#[cfg(test)]
mod tests;
