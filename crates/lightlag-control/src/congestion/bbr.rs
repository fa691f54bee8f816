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
//! moment at which pacing lets the next burst leave.

use super::parameters::{Place, Setting};
use super::path_model::{Aggregation, MaxFilter, Rounds, Shallow};
use super::registry::{About, Algorithm};
use super::{
    Ack, Allowance, Cause, Congestion, CongestionControl, Departures, Lost, Needs, Phase, RateSample, Sent, Start,
    Transmissions,
};
use lightlag_core::{Duration, Instant, RandomStream, Rate};
use policer::Policer;

pub mod policer;

/// 2/ln 2: the smallest gain that doubles the rate each round.
const HIGH_GAIN: f64 = 2.885;
/// The cycle of pacing gains in PROBE_BW.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// The window gain in PROBE_BW.
const WINDOW_GAIN: f64 = 2.0;
/// The margin below the bandwidth, so that queues drain.
const PACED: f64 = 0.99;
/// The least window in segments: four keep a path with delayed ACKs busy.
const LEAST: f64 = 4.0;
/// The longest time whose bandwidth the window for aggregated ACKs may cover, in seconds (Linux).
const MOST_AGGREGATED: f64 = 0.1;
/// Rounds of each of the two halves in which aggregated ACKs are remembered (Linux).
const AGGREGATED_ROUNDS: u64 = 5;
/// The most bytes collected for an offload (Linux: `GSO_LEGACY_MAX_SIZE` less headers).
const LARGEST_QUANTUM: f64 = 65_215.0;
/// The most segments in a quantum (Linux).
const MOST_OF_QUANTUM: f64 = 127.0;
/// Below this rate, in bytes a second, a quantum may be one segment (Linux: 1.2 Mbit/s).
const SLOW: f64 = 150_000.0;

/// Parameters of [`Bbr`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
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
            bandwidth_rounds: 10.0,
            rtt_window: Duration::from_secs(10),
            probe_rtt: Duration::from_millis(200),
            ack_aggregation: true,
            policer: true,
        }
    }
}

/// The states of the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Startup,
    Drain,
    /// With the index of its pacing gain.
    ProbeBw(usize),
    ProbeRtt,
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
    bandwidth: MaxFilter,
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
            bandwidth: MaxFilter::default(),
            min_rtt: start.rtt.unwrap_or(Duration::MAX),
            min_rtt_at: None,
            aggregation: Aggregation::default(),
            policer: Policer::default(),
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
            rate_from_rtt: start.rtt.is_some(),
            delivered: 0,
            delivered_at: Instant::ZERO,
            newly_lost: 0,
            lost: 0,
        };
        bbr.start_rate(start.rtt.unwrap_or(Duration::from_millis(1)));
        bbr
    }

    fn start_rate(&mut self, rtt: Duration) {
        let paced = if self.tso { PACED } else { 1.0 };
        self.rate = HIGH_GAIN * paced * self.initial_window / rtt.as_secs_f64().max(1e-9);
    }

    /// A burst, in segments.
    fn quantum(&self) -> f64 {
        if !self.tso {
            return 1.0;
        }
        let whole = libm::floor((self.rate / 1024.0).min(LARGEST_QUANTUM) / self.segment);
        whole.max(self.least_burst() as f64).min(MOST_OF_QUANTUM)
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => HIGH_GAIN,
            State::Drain => 1.0 / HIGH_GAIN,
            State::ProbeBw(_) if self.policer.rate().is_some() => 1.0,
            State::ProbeBw(index) => CYCLE[index],
            State::ProbeRtt => 1.0,
        }
    }

    fn window_gain(&self) -> f64 {
        match self.state {
            State::Startup | State::Drain => HIGH_GAIN,
            State::ProbeBw(_) => WINDOW_GAIN,
            State::ProbeRtt => 1.0,
        }
    }

    /// BtlBw, or the rate of a policer.
    fn bandwidth(&self) -> f64 {
        self.policer.rate().unwrap_or_else(|| self.bandwidth.max())
    }

    /// The flight for `gain`, including quanta.
    fn inflight(&self, gain: f64) -> f64 {
        self.with_quanta(self.bandwidth_delay(gain, self.bandwidth()))
    }

    /// `gain` times the capacity of the path without a queue.
    fn bandwidth_delay(&self, gain: f64, bandwidth: f64) -> f64 {
        if self.min_rtt == Duration::MAX {
            return self.initial_window;
        }
        let bytes = gain * bandwidth * self.min_rtt.as_secs_f64();
        if self.tso { libm::ceil(bytes / self.segment) * self.segment } else { bytes }
    }

    /// Adds room for three quanta: one at each end and one on the path.
    fn with_quanta(&self, flight: f64) -> f64 {
        if self.min_rtt == Duration::MAX && !self.tso {
            return flight;
        }
        let probing = if self.state == State::ProbeBw(0) { 2.0 } else { 0.0 };
        let segments = flight / self.segment + 3.0 * self.quantum();
        // An even number delays fewer ACKs.
        let segments = if self.tso { 2.0 * libm::ceil(libm::floor(segments) / 2.0) } else { segments };
        (segments + probing) * self.segment
    }

    fn target(&self) -> f64 {
        let excess = if self.config.ack_aggregation && self.filled {
            self.aggregation.excess().min(MOST_AGGREGATED * self.bandwidth())
        } else {
            0.0
        };
        self.with_quanta(self.bandwidth_delay(self.window_gain(), self.bandwidth()) + excess)
    }

    /// The part of `flight` that will remain when pacing lets the next burst leave. It matters only if the flight is to
    /// grow.
    fn flight_at_departure(&self, ack: &Ack, flight: u64) -> f64 {
        if !self.tso {
            return flight as f64;
        }
        let delivered = self.bandwidth() * ack.next_departure.since(ack.now).as_secs_f64();
        let next = if self.pacing_gain() > 1.0 { self.quantum() * self.segment } else { 0.0 };
        (flight as f64 + next - delivered).max(0.0)
    }

    fn count_delivered(&mut self, ack: &Ack) {
        self.delivered =
            ack.rate.as_ref().map_or(self.delivered + ack.newly_delivered, |sample| sample.total_delivered);
        if ack.newly_delivered > 0 {
            self.delivered_at = ack.now;
        }
    }

    /// Updates the model from a valid sample. A sample shorter than a round trip tells nothing about the rate (Linux).
    fn learn(&mut self, ack: &Ack, sample: &RateSample, rate: f64) {
        if self.rounds.advance(sample) {
            self.conserve = false;
        }
        let limited = sample.app_limited || self.shallow.covers(sample);
        self.watch_policer(self.newly_lost > 0, self.rounds.started, limited, ack.now);
        if !limited || rate >= self.bandwidth.max() {
            self.bandwidth.update(self.rounds.count, rate, self.config.bandwidth_rounds as u64);
        }
        let (bandwidth, acked) = (self.bandwidth(), ack.newly_delivered as f64);
        // Two halves count: the current one and the one before.
        let half = self.rounds.count / AGGREGATED_ROUNDS;
        self.aggregation.note(ack.now, acked, bandwidth, self.window, half, 2);
        self.check_full(limited);
    }

    fn watch_policer(&mut self, newly_lost: bool, round: bool, limited: bool, now: Instant) {
        if !self.config.policer {
            return;
        }
        let news = policer::News {
            at: self.delivered_at,
            delivered: self.delivered,
            lost: self.lost,
            newly_lost,
            round,
            limited,
            probing: matches!(self.state, State::ProbeBw(_)),
        };
        if self.policer.watch(&news) == policer::Finding::Forgotten {
            self.probe_bandwidth(now);
        }
    }

    /// Advances PROBE_BW to its next gain after an RTprop. The high gain also waits for its flight or for a loss; the
    /// low one ends early once the queue is gone.
    fn check_phase(&mut self, ack: &Ack) {
        let State::ProbeBw(index) = self.state else { return };
        let (gain, flight) = (self.pacing_gain(), self.flight_at_departure(ack, ack.prior_inflight));
        let full_length = ack.now.since(self.phase_at) > self.min_rtt;
        let next = if gain > 1.0 {
            full_length && (self.newly_lost > 0 || flight >= self.inflight(gain))
        } else if gain < 1.0 {
            full_length || flight <= self.inflight(1.0)
        } else {
            full_length
        };
        if next {
            self.state = State::ProbeBw((index + 1) % CYCLE.len());
            self.phase_at = ack.now;
        }
    }

    fn check_full(&mut self, limited: bool) {
        if self.filled || !self.rounds.started || limited {
            return;
        }
        if self.bandwidth.max() >= 1.25 * self.full {
            self.full = self.bandwidth.max();
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.filled = self.full_rounds >= 3;
    }

    fn check_drained(&mut self, ack: &Ack) {
        if self.state == State::Startup && self.filled {
            self.state = State::Drain;
        }
        if self.state == State::Drain && self.flight_at_departure(ack, ack.inflight) <= self.inflight(1.0) {
            self.probe_bandwidth(ack.now);
        }
    }

    /// Enters PROBE_BW with any gain but the low one.
    fn probe_bandwidth(&mut self, now: Instant) {
        let drawn = (self.random.uniform() * 7.0) as usize;
        self.state = State::ProbeBw((CYCLE.len() - drawn) % CYCLE.len());
        self.phase_at = now;
    }

    /// Updates RTprop, and enters PROBE_RTT if it is out of date.
    fn check_rtt(&mut self, ack: &Ack) {
        let at = self.min_rtt_at.unwrap_or(ack.now);
        // Without PROBE_RTT nothing would empty the queue for a new measurement, so the smallest sample ever counts.
        let expired = ack.now > at + self.config.rtt_window && !self.config.probe_rtt.is_zero();
        if let Some(rtt) = ack.rtt
            && (rtt < self.min_rtt || expired)
        {
            self.min_rtt = rtt;
            self.min_rtt_at = Some(ack.now);
        }
        if self.state != State::ProbeRtt && expired && !self.idle {
            self.state = State::ProbeRtt;
            self.save_window();
            self.probe_rtt_until = None;
        }
        if self.state == State::ProbeRtt {
            self.probe_rtt(ack);
        }
        self.idle &= ack.rate.is_none();
    }

    fn probe_rtt(&mut self, ack: &Ack) {
        self.shallow.mark(self.delivered, ack.inflight);
        match self.probe_rtt_until {
            None if ack.inflight as f64 <= LEAST * self.segment => {
                self.probe_rtt_until = Some(ack.now + self.config.probe_rtt);
                self.probe_rtt_round = false;
                self.rounds.restart(self.delivered);
            }
            None => {}
            Some(_) => {
                self.probe_rtt_round |= self.rounds.started;
                if self.probe_rtt_round {
                    self.leave_probe_rtt(ack.now);
                }
            }
        }
    }

    /// Leaves PROBE_RTT if it has lasted long enough.
    fn leave_probe_rtt(&mut self, now: Instant) {
        if self.probe_rtt_until.is_some_and(|until| now > until) {
            self.min_rtt_at = Some(now);
            self.window = self.window.max(self.prior_window);
            if self.filled {
                self.probe_bandwidth(now);
            } else {
                self.state = State::Startup;
            }
        }
    }

    /// Saves the last window that neither a recovery nor PROBE_RTT had reduced.
    fn save_window(&mut self) {
        let whole = self.phase == Phase::Open && self.state != State::ProbeRtt;
        self.prior_window = if whole { self.window } else { self.prior_window.max(self.window) };
    }

    fn set_rate(&mut self, gain: f64) {
        let rate = gain * PACED * self.bandwidth();
        if self.filled || rate > self.rate {
            self.rate = rate;
        }
    }

    fn set_window(&mut self, ack: &Ack) {
        let acked = ack.newly_delivered as f64;
        let flight = ack.inflight as f64;
        if acked == 0.0 {
            // An ACK that delivers nothing only applies the bounds of the window (Linux).
            return self.bound_for_probe_rtt();
        }
        if self.newly_lost > 0 {
            self.window = (self.window - self.newly_lost as f64).max(self.segment);
        }
        self.before = (self.window, acked);
        if ack.phase == Phase::Recovery && self.phase != Phase::Recovery {
            self.conserve = true;
            self.rounds.restart(self.delivered);
            self.window = flight + acked.max(self.segment);
        }
        self.phase = ack.phase;
        if self.conserve {
            self.window = self.window.max(flight + acked);
        } else {
            self.grow(acked);
        }
        self.bound_for_probe_rtt();
    }

    /// Moves the window towards the target by the delivered data.
    fn grow(&mut self, acked: f64) {
        let target = self.target();
        if self.filled {
            self.window = (self.window + acked).min(target);
        } else if self.window < target || (self.delivered as f64) < self.initial_window {
            self.window += acked;
        }
        self.window = self.window.max(LEAST * self.segment);
    }

    fn bound_for_probe_rtt(&mut self) {
        if self.state == State::ProbeRtt {
            self.window = self.window.min(LEAST * self.segment);
        }
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
        self.set_rate(self.pacing_gain());
        self.set_window(ack);
        self.newly_lost = 0;
    }

    fn on_congestion(&mut self, event: &Congestion) {
        match event.cause {
            Cause::Timeout | Cause::RepeatedTimeout => {
                self.save_window();
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
        self.policer = Policer::default();
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
        if !sent.app_limited {
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
        ],
        source: "Cardwell et al., ACM Queue 14(5), 2016; draft-cardwell-iccrg-bbr-congestion-control-00; Linux tcp_bbr.c \
                 for the rules on policers and aggregation",
    };

    const NEEDS: Needs = Needs { rate: true, pacing: true, own_recovery: true, ..Needs::NONE };

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting {
                name: "bandwidth_rounds",
                default: "10",
                unit: "rounds",
                meaning: "How many rounds a delivery rate counts for the bandwidth.",
                place: Place::Number { at: |config| &mut config.bandwidth_rounds, least: 1.0, most: 1000.0 },
            },
            Setting {
                name: "rtt_window",
                default: "10 s",
                unit: "time",
                meaning: "How long the smallest round-trip time lasts before PROBE_RTT measures it again.",
                place: Place::Time { at: |config| &mut config.rtt_window, most: Duration::from_secs(86_400) },
            },
            Setting {
                name: "probe_rtt",
                default: "200 ms",
                unit: "time",
                meaning: "How long PROBE_RTT keeps the window at four segments; 0 s for no PROBE_RTT, and \
                          the smallest round-trip time ever.",
                place: Place::Time { at: |config| &mut config.probe_rtt, most: Duration::from_secs(60) },
            },
            Setting {
                name: "ack_aggregation",
                default: "true",
                unit: "",
                meaning: "Adds what the ACKs deliver at once to the window, as Linux does and the draft does not.",
                place: Place::Flag(|config| &mut config.ack_aggregation),
            },
            Setting {
                name: "policer",
                default: "true",
                unit: "",
                meaning: "Takes a steady rate with losses of 20 % for a policer's and keeps to it, as Linux does.",
                place: Place::Flag(|config| &mut config.policer),
            },
        ]
    }

    fn check(&self) -> Result<(), String> {
        if self.rtt_window < Duration::from_millis(1) {
            return Err(format!("rtt_window: {} is below 1 ms", self.rtt_window));
        }
        Ok(())
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Bbr::new(self, start))
    }
}

#[cfg(test)]
mod tests;
