//! The variant `ns3`: TcpBbr of ns-3.37, with the delivery rates of its TcpRateLinux.
//!
//! States, gains and window are as in version 1, with the following differences. The names in brackets are ns-3's
//! classes and methods.
//!
//! - The ACK interval of a sample starts at the segment of the *previous* sample, not at its own
//!   (`TcpRateLinux::SkbDelivered`; see [`crate::delivery_rate`]). A flight that n ACKs cover is measured at about
//!   n/(n+1) of its rate. PROBE_BW, with its gain of 1.25, makes up for a quarter: with n ≥ 4 the estimate stays
//!   constant, with fewer ACKs it falls in each cycle. On a short path the window is five segments of 1448 B: five ACKs
//!   cover it if each segment is acknowledged, and two or three if every second one is. In the latter case BtlBw falls
//!   until every ACK waits for the delayed-ACK timer. PROBE_RTT, with four segments and a gain of 1, has the same
//!   effect even with an ACK for each segment.
//! - A rate stays in force until the next valid sample. The interval of the first sample, and of one that follows an
//!   invalid one, starts at the start of the simulation. An interval is too short if it is below the smallest
//!   *smoothed* round-trip time, which starts with the round-trip time of the handshake, including route discovery.
//! - RTprop is the smallest *smoothed* round-trip time, in ticks of 1 ms, and an equal one refreshes it. The first
//!   sample comes from the handshake; on a path of less than 1 ms it may be zero ticks, which count as 1 µs
//!   (`TcpSocketBase::EstimateRtt`).
//! - The gain of STARTUP is 2.89, the pacing rate has no margin below BtlBw, and the first window is not paced
//!   (`TcpSocketBase::IsPacingEnabled`). Until the first sample BtlBw is W/RTT, with an RTT in integer ms.
//! - PROBE_BW starts with the high gain or one of the last five.
//! - Aggregated ACKs: an epoch ends when it exceeds 4096 B, so that the excess is about the size of the largest ACK of
//!   the last rounds; the expected bytes are computed from whole seconds (`UpdateAckAggregation`).
//! - PROBE_RTT does not make samples application-limited, but after its first sample, segments sent when nothing is in
//!   flight count as sent after an idle time (`CwndEvent`).
//! - A recovery does not start a round, and ends with W = ssthresh (`TcpSocketBase::ProcessAck`), which is BtlBw ·
//!   RTprop at the start of DRAIN, and 2³²−1 bytes before. With the latter, the sum of W and the bytes that an ACK
//!   delivers overflows.
//! - Policers are not detected.
//!
//! Not modelled: ns-3 counts losses again when they are repaired, in the first segments after the first round of a
//! recovery.

use super::bandwidth::Bandwidth;
use super::states::{CYCLE, State, WINDOW_GAIN};
use super::{Config, LEAST};
use crate::congestion::internals::rate;
use crate::congestion::path_model::Rounds;
use crate::congestion::{
    Ack, Allowance, Cause, Congestion, CongestionControl, ConnectionStart, Departures, Internals, Lost, Phase,
    RateSample, Sent, Transmissions,
};
use lightlag_core::{Duration, Instant, RandomStream, Rate};

/// The rules of this variant, as a part of the description of BBR.
pub(super) const ABOUT: &str = r#"
    TcpBbr of ns-3.37, with the delivery rates of its TcpRateLinux. **It starves**, earliest with delayed ACKs, for three
    reasons:

    - The interval of a sample starts at the segment of the *previous* sample. n ACKs per flight then give about n/(n+1)
      of the rate. The gain of 1.25 in each cycle compensates for a factor of 4/5, so that BtlBw is stable with n ≥ 4,
      and falls from cycle to cycle with fewer ACKs.
    - On a short path the window is five segments of 1448 B: three segments, plus an excess of aggregated ACKs that is
      about the size of the largest ACK in the last rounds, because an epoch ends after 4096 B. So n is 5 if each
      segment is acknowledged, and 2 or 3 if every second one is. After ten seconds PROBE_RTT holds the window at four
      segments with a gain of 1; if the flight then gives fewer than four ACKs, it does not recover, even if each
      segment is acknowledged.
    - A sample is too short if its interval is below the minimum *smoothed* RTT. The smoothed RTT starts with the RTT of
      the handshake, which may have waited for a route, and each ACK reduces it by an eighth of the difference. A sample
      that is too short gives no rate, and the interval of the next one starts at time zero. STARTUP then measures no
      growth and ends with a window of eight segments.

    One hop of 24 Mbit/s; medians in Mbit/s with minimum and maximum, over ten seeds (over five for the runs of 60 s
    with a changed ns-3). Each row of ns-3 makes one change to 3.37:

    | | each segment acknowledged, 10 s | every second, 10 s | each, 60 s | every second, 60 s |
    |---|---:|---:|---:|---:|
    | ns-3.37 | 12.91 | 2.34 (1.02 to 11.68) | 2.42 | 0.41 (0.19 to 1.98) |
    | the interval starts at the sample's own segment | 12.88 | 14.79 (14.73 to 14.81) | 12.82 | 14.79 (14.78 to 14.80) |
    | an epoch of aggregated ACKs has 128 KiB | 12.78 | 14.78 (14.75 to 14.82) | 2.42 | 2.54 (2.54 to 2.55) |
    | no PROBE_RTT | 12.91 | 2.34 (1.02 to 11.68) | 12.90 | 0.42 (0.31 to 2.00) |
    | RTprop is the minimum sample, by an exact clock | 12.90 | 1.68 (0.71 to 5.48) | | |
    | delayed ACKs after 5 ms instead of 200 | 12.91 | 2.50 (1.20 to 11.66) | | |
    | an initial window of one segment | 12.90 | 1.67 (0.57 to 8.48) | | |
    | `variant = "ns3"` | 12.91 | 1.92 (0.81 to 5.20) | 2.43 | 0.34 (0.15 to 0.89) |
    | `variant = "linux"` | 12.87 | 14.77 | 12.84 | 14.78 |

    Two stations send to each other over AODV for 10 s, with every second segment acknowledged. The second row removes
    only the third reason: the bound on the interval is the minimum sample, 1 ms (`TcpRateLinux::GenerateSample` with
    that as `minRtt`). Goodputs in Mbit/s of `ns3-air-swarm --power=49.6206 --nodes=2 --flows=2 --speed=0
    --algorithm=TcpBbr --seconds=10 --aggregate=0`:

    | `--seed=` | 2 | 3 | 4 |
    |---|---:|---:|---:|
    | ns-3.37 | 0.59, 0.37 | 0.35, 3.15 | 0.38, 1.16 |
    | the bound is the minimum sample | 11.81, 2.63 | 1.77, 12.11 | 2.92, 10.99 |

    Over 20 s and eight seeds, each with its own swarm, the median of a flow is 0.42 Mbit/s in ns-3 and 0.30 in the
    model. On one hop both stay at five segments for a time that depends on the seed. Then segments are sent at the rate
    of a falling BtlBw, with a window of seven, until every second segment waits for the delayed-ACK timer of 200 ms:
    0.17 to 0.19 Mbit/s with an SRTT of 60 ms in both.

    Further differences from `linux`:

    - RTprop is the minimum smoothed RTT in ticks of 1 ms, and an equal one refreshes it.
    - The gain of STARTUP is 2.89, the pacing rate is BtlBw without the factor 0.99, and the first window is not paced. Until
      the first sample BtlBw is W/RTT with an RTT in integer ms.
    - PROBE_BW starts with the high gain or one of the last five.
    - PROBE_RTT does not make samples application-limited, but after its first sample, segments that are sent with nothing
      in flight count as segments after an idle time.
    - A recovery starts no round and ends with W = ssthresh, which is the window at gain 1 when DRAIN started, and 2³²−1 bytes before. A loss in
      STARTUP therefore opens the window without bound, and the sum of 2³²−1 bytes and an ACK overflows, as in ns-3.
    - Policers are not detected.

    At 200 ms and 10 Mbit/s without losses the goodput is 2.4 to 2.5 Mbit/s in ns-3 and 2.5 to 4.7 in the model.
"#;

/// 2/ln 2, as ns-3 rounds it.
const HIGH_GAIN: f64 = 2.89;
/// Resolution of the timestamp clock.
const TICK: Duration = Duration::from_millis(1);
/// Round-trip time of an echo that arrives within the same tick.
const NO_TICK: Duration = Duration::from_micros(1);
/// Maximum size of an epoch of aggregated ACKs, in bytes.
const EPOCH: u32 = 4096;
/// Number of rounds in each of the two halves of the window over which aggregated ACKs are remembered.
const AGGREGATED_ROUNDS: u8 = 5;
/// Maximum extension of the window for aggregated ACKs: the data of this many seconds at BtlBw.
const MOST_AGGREGATED: f64 = 0.1;
/// Number of gains in PROBE_BW that can be the first one; it is picked at random.
const STARTS: f64 = 6.0;

/// Excess of aggregated ACKs: bytes that they delivered beyond BtlBw.
#[derive(Clone, Copy, Debug, Default)]
struct Excess {
    since: Instant,
    acked: u32,
    /// Largest excess in each of two halves of a window of rounds, the index of the current half, and its rounds so
    /// far.
    most: [u32; 2],
    half: usize,
    rounds: u8,
}

/// Model and state. The window is in bytes, and overflows like ns-3's 32-bit integer; rates are in bytes per second.
pub(super) struct Ns3 {
    config: Config,
    segment: u32,
    initial_window: u32,
    random: RandomStream,
    state: State,
    rounds: Rounds,
    bandwidth: Bandwidth,
    /// BtlBw until there is a sample, computed from the initial window.
    nominal: f64,
    /// The rate of the last valid sample.
    sampled: f64,
    /// The round-trip time of the handshake, until the first segment is sent.
    handshake: Option<Duration>,
    /// Whether the initial pacing rate was computed from a measured round-trip time.
    rate_from_rtt: bool,
    /// Smoothed round-trip time; zero before the first sample.
    srtt: Duration,
    min_rtt: Duration,
    min_rtt_at: Instant,
    excess: Excess,
    full: f64,
    full_rounds: u8,
    filled: bool,
    phase_at: Instant,
    probe_rtt_until: Option<Instant>,
    probe_rtt_round: bool,
    /// Whether PROBE_RTT was entered at least once.
    probed_rtt: bool,
    idle: bool,
    phase: Phase,
    conserve: bool,
    ssthresh: u32,
    prior_window: u32,
    window: u32,
    /// Bytes that the last ACK delivered.
    acked: u32,
    rate: f64,
    sent: u64,
    delivered: u64,
    newly_lost: u32,
}

impl Ns3 {
    pub(super) fn new(config: &Config, start: &ConnectionStart) -> Self {
        let segment = start.segment_size as u32;
        let window = start.initial_window as u32 * segment;
        let mut bbr = Self {
            config: config.clone(),
            segment,
            initial_window: window,
            random: RandomStream::new(start.seed, "bbr"),
            state: State::Startup,
            rounds: Rounds::default(),
            bandwidth: Bandwidth::new(true),
            nominal: 0.0,
            sampled: 0.0,
            handshake: start.rtt,
            rate_from_rtt: start.rtt.is_some(),
            srtt: Duration::ZERO,
            min_rtt: Duration::ZERO,
            min_rtt_at: Instant::ZERO,
            excess: Excess::default(),
            full: 0.0,
            full_rounds: 0,
            filled: false,
            phase_at: Instant::ZERO,
            probe_rtt_until: None,
            probe_rtt_round: false,
            probed_rtt: false,
            idle: false,
            phase: Phase::Open,
            conserve: false,
            ssthresh: u32::MAX,
            prior_window: window,
            window,
            acked: 0,
            rate: 0.0,
            sent: 0,
            delivered: 0,
            newly_lost: 0,
        };
        bbr.start_rate(start.rtt.unwrap_or(TICK));
        bbr
    }

    /// Sets BtlBw and the pacing rate from this round-trip time while there is no sample (`InitPacingRate`).
    fn start_rate(&mut self, rtt: Duration) {
        let ticks = (rtt.as_nanos() / TICK.as_nanos()).max(1);
        self.nominal = f64::from(self.window) / (TICK * ticks).as_secs_f64();
        self.rate = self.pacing_gain() * self.nominal;
        self.bandwidth = Bandwidth::new(true);
    }

    fn max_bandwidth(&self) -> f64 {
        if self.bandwidth.max() > 0.0 { self.bandwidth.max() } else { self.nominal }
    }

    fn least(&self) -> u32 {
        LEAST as u32 * self.segment
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => HIGH_GAIN,
            State::Drain => 1.0 / HIGH_GAIN,
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

    /// Returns the target flight for a gain: three segments are added, and two more in the phase of PROBE_BW with the
    /// high gain.
    fn inflight(&self, gain: f64) -> f64 {
        let segments = if self.state == State::ProbeBw(0) { 5.0 } else { 3.0 };
        gain * self.max_bandwidth() * self.min_rtt.as_secs_f64() + segments * f64::from(self.segment)
    }

    /// At the first segment, initialises SRTT and RTprop with the round-trip time of the handshake, in ticks.
    fn take_handshake(&mut self, now: Instant) {
        let Some(rtt) = self.handshake.take() else { return };
        let tick = TICK.as_nanos();
        let sent = now.as_nanos().saturating_sub(rtt.as_nanos());
        let ticks = now.as_nanos() / tick - sent / tick;
        self.srtt = if ticks == 0 { NO_TICK } else { TICK * ticks };
        (self.min_rtt, self.min_rtt_at) = (self.srtt, now);
        self.excess.since = now;
    }

    fn take_sample(&mut self, sample: &RateSample) {
        if let Some(rate) = sample.bytes_per_second()
            && (!sample.app_limited || rate >= self.sampled)
        {
            self.sampled = rate;
        }
        if self.sampled == 0.0 {
            return;
        }
        if self.rounds.advance(sample) {
            self.conserve = false;
        }
        if !sample.app_limited || self.sampled >= self.max_bandwidth() {
            self.bandwidth.update(self.rounds.count, self.sampled, self.config.bandwidth_rounds as u64);
        }
    }

    fn note_excess(&mut self, now: Instant) {
        let bandwidth = self.max_bandwidth();
        let excess = &mut self.excess;
        if self.rounds.started {
            excess.rounds += 1;
            if excess.rounds >= AGGREGATED_ROUNDS {
                excess.rounds = 0;
                excess.half = 1 - excess.half;
                excess.most[excess.half] = 0;
            }
        }
        let seconds = now.since(excess.since).as_secs_f64();
        let mut expected = (bandwidth * libm::floor(seconds)) as u32;
        if excess.acked <= expected || excess.acked + self.acked >= EPOCH {
            (excess.acked, excess.since, expected) = (0, now, 0);
        }
        excess.acked += self.acked;
        let most = &mut excess.most[excess.half];
        *most = (*most).max((excess.acked - expected).min(self.window));
    }

    fn check_phase(&mut self, ack: &Ack) {
        let State::ProbeBw(index) = self.state else { return };
        let (gain, flight) = (self.pacing_gain(), ack.prior_inflight as f64);
        let full_length = ack.now.since(self.phase_at) > self.min_rtt;
        let next = if gain > 1.0 {
            full_length && (self.newly_lost > 0 || flight >= self.inflight(gain))
        } else {
            full_length || gain < 1.0 && flight <= self.inflight(1.0)
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
        if self.max_bandwidth() >= 1.25 * self.full {
            self.full = self.max_bandwidth();
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.filled = self.full_rounds >= 3;
    }

    fn check_drained(&mut self, ack: &Ack) {
        if self.state == State::Startup && self.filled {
            self.state = State::Drain;
            self.ssthresh = self.inflight(1.0) as u32;
        }
        if self.state == State::Drain && ack.inflight as f64 <= self.inflight(1.0) {
            self.probe_bandwidth(ack.now);
        }
    }

    fn probe_bandwidth(&mut self, now: Instant) {
        let drawn = (self.random.uniform() * STARTS) as usize;
        self.state = State::ProbeBw((CYCLE.len() - drawn) % CYCLE.len());
        self.phase_at = now;
    }

    fn check_rtt(&mut self, ack: &Ack) {
        let expired = ack.now > self.min_rtt_at + self.config.rtt_window && !self.config.probe_rtt.is_zero();
        if self.srtt <= self.min_rtt || expired {
            (self.min_rtt, self.min_rtt_at) = (self.srtt, ack.now);
        }
        if self.state != State::ProbeRtt && expired && !self.idle {
            self.state = State::ProbeRtt;
            self.save_window();
            self.probe_rtt_until = None;
        }
        if self.state == State::ProbeRtt {
            self.probe_rtt(ack);
        }
        self.idle = false;
    }

    fn probe_rtt(&mut self, ack: &Ack) {
        self.probed_rtt = true;
        match self.probe_rtt_until {
            None if ack.inflight <= u64::from(self.least()) => {
                self.probe_rtt_until = Some(ack.now + self.config.probe_rtt);
                self.probe_rtt_round = false;
                self.rounds.restart(self.delivered);
            }
            None => {}
            Some(_) => {
                self.probe_rtt_round |= self.rounds.started;
                self.leave_probe_rtt(ack.now);
            }
        }
    }

    fn leave_probe_rtt(&mut self, now: Instant) {
        if !self.probe_rtt_round || self.probe_rtt_until.is_none_or(|until| now <= until) {
            return;
        }
        self.min_rtt_at = now;
        self.window = self.window.max(self.prior_window);
        if self.filled {
            self.probe_bandwidth(now);
        } else {
            self.state = State::Startup;
        }
    }

    fn save_window(&mut self) {
        let whole = self.phase != Phase::Recovery && self.state != State::ProbeRtt;
        self.prior_window = if whole { self.window } else { self.prior_window.max(self.window) };
    }

    fn begin_recovery(&mut self, flight: u64) {
        self.save_window();
        self.phase = Phase::Recovery;
        self.window = (flight as u32).wrapping_add(self.acked.max(self.segment));
        self.save_window();
        self.conserve = true;
    }

    fn set_rate(&mut self, gain: f64) {
        let rate = gain * self.max_bandwidth();
        if !self.rate_from_rtt && !self.srtt.is_zero() {
            self.rate_from_rtt = true;
            self.start_rate(self.srtt);
        }
        if self.filled || rate > self.rate {
            self.rate = rate;
        }
    }

    fn set_window(&mut self, ack: &Ack) {
        if self.acked > 0 {
            let conserves = self.phase == Phase::Recovery && {
                if self.newly_lost > 0 {
                    self.window = self.window.saturating_sub(self.newly_lost).max(self.segment);
                }
                self.conserve
            };
            if conserves {
                self.window = self.window.max((ack.inflight as u32).wrapping_add(self.acked));
            } else {
                self.grow();
            }
        }
        self.bound_for_probe_rtt();
    }

    fn grow(&mut self) {
        let excess = if self.config.ack_aggregation && self.filled {
            let most = self.excess.most[0].max(self.excess.most[1]);
            f64::from(most).min(MOST_AGGREGATED * self.max_bandwidth())
        } else {
            0.0
        };
        let target = (self.inflight(self.window_gain()) + excess) as u32;
        if self.filled {
            self.window = self.window.wrapping_add(self.acked).min(target);
        } else if self.window < target || self.delivered < u64::from(self.initial_window) {
            self.window = self.window.wrapping_add(self.acked);
        }
        self.window = self.window.max(self.least());
    }

    fn bound_for_probe_rtt(&mut self) {
        if self.state == State::ProbeRtt {
            self.window = self.window.min(self.least());
        }
    }
}

impl Allowance for Ns3 {
    fn window(&self) -> u64 {
        self.window.max(self.segment).into()
    }

    fn ssthresh(&self) -> u64 {
        if self.filled { self.least().into() } else { u64::MAX }
    }
}

impl CongestionControl for Ns3 {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.srtt = if self.srtt.is_zero() { rtt } else { (self.srtt * 7 + rtt) / 8 };
        }
        self.acked = ack.newly_delivered as u32;
        if ack.phase == Phase::Recovery && self.phase != Phase::Recovery {
            self.begin_recovery(ack.inflight);
        }
        let sample = ack.rate.as_ref();
        self.delivered = sample.map_or(self.delivered + ack.newly_delivered, |sample| sample.total_delivered);
        if let Some(sample) = sample {
            self.take_sample(sample);
        }
        // A sample that lasts after its interval was too short has no amount (`rs.m_delivered` is -1).
        let amount = sample.is_none_or(|sample| sample.delivered > 0);
        if self.config.ack_aggregation && self.acked > 0 && amount {
            self.note_excess(ack.now);
        }
        self.check_phase(ack);
        self.check_full(sample.is_some_and(|sample| sample.app_limited));
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
                self.rounds.started = true;
                self.newly_lost = 0;
                self.window = self.segment;
            }
            Cause::Loss if self.phase != Phase::Recovery => self.begin_recovery(event.flight),
            Cause::Loss | Cause::Mark => {}
        }
    }

    /// Does nothing: no reaction is undone.
    fn on_undo(&mut self, _now: Instant) {}

    fn on_recovered(&mut self, _now: Instant) {
        if self.phase == Phase::Recovery {
            self.conserve = false;
            self.window = self.ssthresh;
            // The ACK that ends a recovery already grows the window.
            self.phase = Phase::Open;
            self.grow();
            self.bound_for_probe_rtt();
        }
        self.phase = Phase::Open;
    }

    fn internals(&self) -> Internals {
        Internals {
            state: Some(self.state.name()),
            bottleneck_rate: rate(self.max_bandwidth()),
            propagation: Some(self.min_rtt).filter(|rtt| !rtt.is_zero()),
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

impl Departures for Ns3 {
    fn pacing_rate(&self) -> Option<Rate> {
        let paced = self.sent > u64::from(self.initial_window);
        paced.then(|| Rate::from_bps((8.0 * self.rate).max(1.0) as u64)).flatten()
    }
}

impl Transmissions for Ns3 {
    fn on_sent(&mut self, sent: &Sent) {
        self.take_handshake(sent.now);
        self.sent += sent.bytes;
        if sent.prior_inflight > 0 || !self.probed_rtt {
            return;
        }
        self.idle = true;
        (self.excess.since, self.excess.acked) = (sent.now, 0);
        match self.state {
            State::ProbeBw(_) => self.set_rate(1.0),
            State::ProbeRtt => self.leave_probe_rtt(sent.now),
            State::Startup | State::Drain => {}
        }
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.newly_lost = self.newly_lost.saturating_add(lost.bytes as u32);
    }
}

#[cfg(test)]
mod tests;
