//! State of an endpoint that sends flights as aioquic 1.2.0 does: all datagrams that the window and the pacer permit, up
//! to the last byte of the window, with one sequence of packet numbers for all spaces.
//!
//! Times are seconds in floating point, as in aioquic: its pacer compares a bucket with sums of rounded quotients, and
//! the last bit decides about a datagram.

use crate::config::{Config, FlowRules, ProbeRules};
use crate::packet::Packet;
use crate::received::AckRules;
use lightlag_core::Instant;
use std::collections::VecDeque;

/// Minimum sample of the round-trip time, granularity of the variance, and the limits of the time for a datagram.
const MIN_RTT: f64 = 0.001;
const GRANULARITY: f64 = 0.001;
const MIN_PACKET_TIME: f64 = 1e-6;
const MAX_PACKET_TIME: f64 = 1.0;
/// Maximum delay of acknowledgements that is assumed and announced.
const MAX_ACK_DELAY: f64 = 0.025;
/// Time threshold of loss detection.
const TIME_THRESHOLD: f64 = 9.0 / 8.0;

/// Returns the first instant of the clock after a time in seconds.
pub(crate) fn after(seconds: f64) -> Instant {
    Instant::from_nanos((seconds * 1e9) as u64 + 1)
}

/// The token bucket, in seconds of transmission.
#[derive(Debug)]
pub(crate) struct Pacer {
    datagram: f64,
    bucket: f64,
    max: f64,
    evaluated: f64,
    /// Time for a datagram; `None` before the first estimate of the rate.
    packet: Option<f64>,
}

impl Pacer {
    fn new(datagram: u16) -> Self {
        Self { datagram: datagram.into(), bucket: 0.0, max: 0.0, evaluated: 0.0, packet: None }
    }

    fn fill(&mut self, now: f64) {
        if now > self.evaluated {
            self.bucket = (self.bucket + (now - self.evaluated)).min(self.max);
            self.evaluated = now;
        }
    }

    /// Returns the time of the next packet if none may leave now. The bucket need not hold a datagram, only more than
    /// nothing.
    pub(crate) fn next(&mut self, now: f64) -> Option<f64> {
        let packet = self.packet?;
        self.fill(now);
        (self.bucket <= 0.0).then_some(now + packet)
    }

    /// Takes the tokens of a packet, of any size, that is sent. A deficit is forgotten.
    pub(crate) fn sent(&mut self, now: f64) {
        let Some(packet) = self.packet else { return };
        self.fill(now);
        self.bucket = if self.bucket < packet { 0.0 } else { self.bucket - packet };
    }

    fn set_rate(&mut self, window: u64, smoothed: f64) {
        let rate = window as f64 / smoothed.max(MIN_PACKET_TIME);
        self.packet = Some((self.datagram / rate).clamp(MIN_PACKET_TIME, MAX_PACKET_TIME));
        self.max = ((window / 4) as f64).min(16.0 * self.datagram).max(2.0 * self.datagram) / rate;
        self.bucket = self.bucket.min(self.max);
    }
}

/// Round-trip estimate in seconds.
#[derive(Debug, Default)]
pub(crate) struct Estimate {
    pub(crate) latest: f64,
    pub(crate) min: f64,
    pub(crate) smoothed: f64,
    pub(crate) variance: f64,
    pub(crate) has_sample: bool,
}

/// State of the acknowledgements and losses of a packet number space.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlightSpace {
    /// Time when an acknowledgement is due.
    pub(crate) ack_at: Option<f64>,
    /// Arrival time of the packet with the maximum number.
    pub(crate) largest_at: f64,
    /// Time when the oldest packet below the largest acknowledged one is lost.
    pub(crate) loss_at: Option<f64>,
}

/// State of an endpoint that sends flights.
#[derive(Debug)]
pub(crate) struct Flights {
    /// Datagrams of the last flight that were not polled.
    pub(crate) queue: VecDeque<Packet>,
    /// Whether an event makes a flight due, and the time of the last flight.
    pub(crate) is_due: bool,
    pub(crate) built: Option<Instant>,
    /// Time when timers were handled last.
    pub(crate) handled: Option<Instant>,
    /// Number of the next packet in any space.
    pub(crate) number: u64,
    pub(crate) spaces: [FlightSpace; 3],
    pub(crate) pacer: Option<Pacer>,
    pub(crate) pacing_at: Option<f64>,
    pub(crate) rtt: Estimate,
    initial_rtt: f64,
    /// Time of the last eliciting packet in any space.
    pub(crate) last_eliciting: f64,
    /// Whether a probe waits.
    pub(crate) probes: bool,
    /// Whether handshake data was retransmitted before a timeout, which happens once.
    pub(crate) has_repeated: bool,
    /// Streams in the order in which they send, and those that were seen.
    pub(crate) streams: Vec<u64>,
    pub(crate) known: u64,
}

impl Flights {
    /// Returns the state, if the profile sends flights and nothing else that aioquic does not have is configured.
    pub(crate) fn new(config: &Config) -> Option<Box<Self>> {
        if !config.details.flights {
            return None;
        }
        let usual = config.profile.config();
        let like = Config {
            congestion: config.congestion.clone(),
            datagram: config.datagram,
            initial_window: config.initial_window,
            initial_rtt: config.initial_rtt,
            // The first timeout is always twice the initial round-trip time.
            probes: ProbeRules { first: config.probes.first, ..usual.probes },
            ack: AckRules { max_delay: config.ack.max_delay, ..usual.ack },
            flow: FlowRules {
                stream_tuning: usual.flow.stream_tuning,
                connection_tuning: usual.flow.connection_tuning,
                ..config.flow
            },
            idle_timeout: config.idle_timeout,
            keep_alive: config.keep_alive,
            handshake: config.handshake,
            active_ids: config.active_ids,
            id_len: config.id_len,
            max_datagram_frame: config.max_datagram_frame,
            datagram_queue: config.datagram_queue,
            ..usual
        };
        let unpaced = Config { pacing: None, ..like.clone() };
        (*config == like || *config == unpaced).then(|| {
            Box::new(Self {
                queue: VecDeque::new(),
                is_due: true,
                built: None,
                handled: None,
                number: 0,
                spaces: [FlightSpace::default(); 3],
                pacer: config.pacing.map(|_| Pacer::new(config.datagram)),
                pacing_at: None,
                rtt: Estimate { min: f64::INFINITY, ..Estimate::default() },
                initial_rtt: config.initial_rtt.as_secs_f64(),
                last_eliciting: 0.0,
                probes: false,
                has_repeated: false,
                streams: Vec::new(),
                known: 0,
            })
        })
    }

    /// Adds a round-trip sample, in seconds. `ack_delay` is the delay that the peer reports.
    pub(crate) fn sample(&mut self, latest: f64, ack_delay: f64) {
        let ack_delay = ack_delay.min(MAX_ACK_DELAY);
        let rtt = &mut self.rtt;
        rtt.latest = latest.max(MIN_RTT);
        rtt.min = rtt.min.min(rtt.latest);
        if rtt.latest > rtt.min + ack_delay {
            rtt.latest -= ack_delay;
        }
        if rtt.has_sample {
            rtt.variance = 3.0 / 4.0 * rtt.variance + 1.0 / 4.0 * (rtt.min - rtt.latest).abs();
            rtt.smoothed = 7.0 / 8.0 * rtt.smoothed + 1.0 / 8.0 * rtt.latest;
        } else {
            rtt.has_sample = true;
            (rtt.variance, rtt.smoothed) = (latest / 2.0, latest);
        }
    }

    /// Forgets the round-trip time, on another path.
    pub(crate) fn restart(&mut self) {
        self.rtt = Estimate { min: f64::INFINITY, ..Estimate::default() };
    }

    /// Adapts the pacer to a window, after a round-trip sample or a loss.
    pub(crate) fn set_rate(&mut self, window: u64) {
        if let Some(pacer) = &mut self.pacer {
            pacer.set_rate(window, self.rtt.smoothed);
        }
    }

    /// Returns the probe timeout without back-off in seconds.
    pub(crate) fn probe_timeout(&self) -> f64 {
        if !self.rtt.has_sample {
            return 2.0 * self.initial_rtt;
        }
        self.rtt.smoothed + (4.0 * self.rtt.variance).max(GRANULARITY) + MAX_ACK_DELAY
    }

    /// Returns the time for which a packet may be unacknowledged below an acknowledged one.
    pub(crate) fn loss_delay(&self) -> f64 {
        let rtt = &self.rtt;
        TIME_THRESHOLD * if rtt.has_sample { rtt.latest.max(rtt.smoothed) } else { self.initial_rtt }
    }

    /// Returns the space whose loss timer expires first, and the time.
    pub(crate) fn first_loss(&self) -> Option<(usize, f64)> {
        let mut first: Option<(usize, f64)> = None;
        for (index, space) in self.spaces.iter().enumerate() {
            if let Some(time) = space.loss_at
                && first.is_none_or(|(_, earliest)| time < earliest)
            {
                first = Some((index, time));
            }
        }
        first
    }

    /// Forgets the timers of a space whose keys are discarded.
    pub(crate) fn discard(&mut self, index: usize) {
        self.spaces[index] = FlightSpace::default();
    }

    /// Returns the earliest timer of acknowledgements and pacing that the last flight has not handled: one that has
    /// passed cannot send before another event.
    pub(crate) fn send_timer(&self) -> Option<Instant> {
        let times = self.spaces.iter().filter_map(|space| space.ack_at).chain(self.pacing_at);
        let is_open = |time: &Instant| self.built.is_none_or(|built| *time > built);
        times.map(after).filter(is_open).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    #[test]
    fn a_datagram_leaves_while_the_bucket_is_not_empty_and_the_deficit_is_forgotten() {
        let mut pacer = Pacer::new(1_200);
        assert_eq!(pacer.next(1.0), None, "without a rate");
        // 12,000 B in 100 ms: 10 ms for a datagram; a quarter of the window takes 25 ms.
        pacer.set_rate(12_000, 0.1);
        for _ in 0..3 {
            assert_eq!(pacer.next(1.0), None);
            pacer.sent(1.0);
        }
        assert_eq!(pacer.next(1.0), Some(1.01));
        // 1 ms later the bucket holds 1 ms, a tenth of a datagram.
        assert_eq!(pacer.next(1.001), None);
        pacer.sent(1.001);
        assert_eq!(pacer.next(1.001), Some(1.011));
    }

    #[test]
    fn an_acknowledgement_delay_is_subtracted_and_the_deviation_counts_from_the_minimum() {
        let mut flights = Flights::new(&Profile::Aioquic.config()).expect("flights");
        assert!((flights.probe_timeout() - 0.2).abs() < 1e-12 && (flights.loss_delay() - 0.1125).abs() < 1e-12);
        flights.sample(0.1, 0.0);
        // 140 - 20 = 120 ms; 3/4 · 50 + 20/4 = 42.5 ms; 7/8 · 100 + 120/8 = 102.5 ms.
        flights.sample(0.14, 0.02);
        assert!((flights.rtt.variance - 0.0425).abs() < 1e-12 && (flights.rtt.smoothed - 0.1025).abs() < 1e-12);
        // 102.5 + 4 · 42.5 + 25 ms.
        assert!((flights.probe_timeout() - 0.2975).abs() < 1e-12);
    }

    #[test]
    fn options_that_aioquic_does_not_have_turn_flights_off() {
        let base = Profile::Aioquic.config();
        let flights = |config: Config| Flights::new(&config).is_some();
        assert!(flights(Config { pacing: None, ..base.clone() }));
        assert!(flights(Config { probes: ProbeRules { first: None, ..base.probes }, ..base.clone() }));
        assert!(flights(Config { flow: FlowRules { stream: 4 << 20, ..base.flow }, ..base.clone() }));
        assert!(!flights(Config { ack: AckRules { threshold: 1, ..base.ack }, ..base.clone() }));
        assert!(!flights(Config { ecn: lightlag_core::Codepoint::Ect0, ..base.clone() }));
        assert!(!flights(Config::default()));
    }
}
