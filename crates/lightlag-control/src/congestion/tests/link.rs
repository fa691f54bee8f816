//! One paced sender, one bottleneck with a queue, one ACK per segment: enough of a network for algorithms that measure
//! delivery rates. A lost segment is not retransmitted: the next new segment replaces it, and a recovery lasts until
//! this one is acknowledged.

use super::*;
use crate::delivery_rate::{RateSampler, Supply};
use std::collections::VecDeque;

/// The bottleneck and the path after it.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Conditions {
    /// Rate in bytes per second.
    pub rate: f64,
    /// Round-trip time without the queue.
    pub rtt: Duration,
    /// Maximum number of bytes in the queue.
    pub queue: f64,
    /// Probability that a segment is lost behind the bottleneck.
    pub loss: f64,
    /// ACKs are delayed to the next multiple of this time; zero: no delay.
    pub slot: Duration,
    /// Policer before the bottleneck: rate in bytes per second, and burst size in bytes.
    pub policer: Option<(f64, f64)>,
}

impl Conditions {
    pub fn new(rate: f64, rtt: Duration) -> Self {
        let queue = 3.0 * rate * rtt.as_secs_f64();
        Self { rate, rtt, queue, loss: 0.0, slot: Duration::ZERO, policer: None }
    }

    /// Returns the bandwidth-delay product in bytes.
    pub fn bdp(&self) -> f64 {
        self.rate * self.rtt.as_secs_f64()
    }
}

/// A segment in flight: when it was sent, and whether it was acknowledged or lost.
#[derive(Clone, Copy)]
struct Segment {
    sent: Instant,
    gone: bool,
}

pub(in super::super) struct Link<A> {
    pub algorithm: A,
    pub path: Conditions,
    pub now: Instant,
    /// Bytes acknowledged, and bytes lost.
    pub delivered: u64,
    pub lost: u64,
    /// Bytes in flight.
    pub inflight: u64,
    /// Rate of the last valid sample, in bytes per second.
    pub rate: f64,
    sampler: RateSampler,
    segments: VecDeque<Segment>,
    first: u64,
    /// Number of segments that the application has written, and the time of the next write.
    written: u64,
    next_write: Instant,
    write_every: Duration,
    next_send: Instant,
    /// Numbers of the segments at the bottleneck; the transmission of the first one ends at `served_at`.
    queue: VecDeque<u64>,
    served_at: Instant,
    acks: VecDeque<(Instant, u64)>,
    random: RandomStream,
    phase: Phase,
    recovery_end: u64,
    /// Number after the last segment that replaces one lost before `recovery_end`.
    repaired_at: u64,
    srtt: Duration,
    min_rtt: Duration,
    limited: bool,
    was_limited: bool,
    round_end: u64,
    last_ack: Instant,
    tokens: f64,
    tokens_at: Instant,
}

impl<A: CongestionControl + Departures + Transmissions> Link<A> {
    /// Creates a sender with unlimited data.
    pub fn new(algorithm: A, path: Conditions) -> Self {
        Self {
            algorithm,
            path,
            now: Instant::ZERO,
            delivered: 0,
            lost: 0,
            inflight: 0,
            rate: 0.0,
            sampler: RateSampler::new(0),
            segments: VecDeque::new(),
            first: 0,
            written: u64::MAX,
            next_write: Instant::MAX,
            write_every: Duration::ZERO,
            next_send: Instant::ZERO,
            queue: VecDeque::new(),
            served_at: Instant::MAX,
            acks: VecDeque::new(),
            random: RandomStream::new(7, "link"),
            phase: Phase::Open,
            recovery_end: 0,
            repaired_at: 0,
            srtt: path.rtt,
            min_rtt: Duration::MAX,
            limited: false,
            was_limited: false,
            round_end: 0,
            last_ack: Instant::ZERO,
            tokens: path.policer.map_or(0.0, |(_, bucket)| bucket),
            tokens_at: Instant::ZERO,
        }
    }

    fn next(&self) -> u64 {
        self.first + self.segments.len() as u64
    }

    /// Sets the rate of the application in bytes per second; zero stops it.
    pub fn write_at(&mut self, rate: f64) {
        self.written = self.next();
        self.write_every = Duration::from_secs_f64(SEGMENT as f64 / rate);
        self.next_write = if rate > 0.0 { self.now + self.write_every } else { Instant::MAX };
    }

    /// Gives the application unlimited data.
    pub fn write_without_end(&mut self) {
        self.check_supply();
        self.written = u64::MAX;
        self.next_write = Instant::MAX;
    }

    fn check_supply(&mut self) {
        let (unsent, window) = (self.written - self.next().min(self.written), self.algorithm.window());
        let supply = Supply { unsent, in_flight: self.inflight, window, to_repair: 0 };
        self.sampler.check_application_limited(&supply);
    }

    /// Runs until `seconds` after the start, and calls `watch` after every ACK.
    pub fn run_until(&mut self, seconds: f64, mut watch: impl FnMut(&Self)) {
        let end = Instant::ZERO + Duration::from_secs_f64(seconds);
        loop {
            self.send();
            let may_send = self.written > self.next() && self.inflight + SEGMENT <= self.algorithm.window();
            let send = if may_send { self.next_send } else { Instant::MAX };
            let ack = self.acks.front().map_or(Instant::MAX, |(at, _)| *at);
            let patience = Duration::from_millis(1000) + self.srtt * 3;
            let timeout = if self.inflight > 0 { self.last_ack + patience } else { Instant::MAX };
            let next = send.min(ack).min(self.next_write).min(self.served_at).min(timeout);
            if next > end {
                self.now = end;
                return;
            }
            self.now = next;
            if next == self.next_write {
                self.check_supply();
                self.written += 1;
                self.next_write = self.now + self.write_every;
            }
            if next == self.served_at {
                self.serve();
            }
            if next == ack {
                self.acknowledge();
                watch(self);
            } else if next == timeout {
                self.time_out();
            }
        }
    }

    fn send(&mut self) {
        while self.written > self.next() {
            if self.inflight + SEGMENT > self.algorithm.window() {
                self.limited = true;
                return;
            }
            if self.next_send > self.now {
                return;
            }
            let sent = self.sampler.sent(self.now, self.next(), SEGMENT, self.inflight);
            self.algorithm.on_sent(&sent);
            if self.inflight == 0 {
                self.last_ack = self.now;
            }
            self.forward(self.next());
            self.segments.push_back(Segment { sent: self.now, gone: false });
            self.inflight += SEGMENT;
            let gap = self
                .algorithm
                .pacing_rate()
                .map_or(Duration::ZERO, |rate| Duration::from_secs_f64(8.0 * SEGMENT as f64 / rate.as_bps() as f64));
            self.next_send = self.next_send.max(self.now) + gap;
        }
    }

    /// Lets the segment pass the bottleneck, or drops it.
    fn forward(&mut self, number: u64) {
        let size = SEGMENT as f64;
        if let Some((rate, bucket)) = self.path.policer {
            let filled = rate * self.now.since(self.tokens_at).as_secs_f64();
            self.tokens = (self.tokens + filled).min(bucket);
            self.tokens_at = self.now;
            if self.tokens < size {
                return;
            }
            self.tokens -= size;
        }
        // One segment is being served.
        if self.queue.len() as f64 * size > self.path.queue {
            return;
        }
        self.queue.push_back(number);
        if self.queue.len() == 1 {
            self.served_at = self.now + Duration::from_secs_f64(size / self.path.rate);
        }
    }

    /// Starts the transmission of the first segment at the bottleneck.
    fn serve(&mut self) {
        let number = self.queue.pop_front().expect("one is served");
        let time = Duration::from_secs_f64(SEGMENT as f64 / self.path.rate);
        self.served_at = if self.queue.is_empty() { Instant::MAX } else { self.now + time };
        if self.random.uniform() < self.path.loss {
            return;
        }
        let mut arrival = self.now + self.path.rtt;
        if !self.path.slot.is_zero() {
            let slot = self.path.slot.as_nanos();
            arrival = Instant::from_nanos(arrival.as_nanos().div_ceil(slot) * slot);
        }
        self.acks.push_back((arrival, number));
    }

    fn acknowledge(&mut self) {
        self.check_supply();
        let (prior_inflight, now) = (self.inflight, self.now);
        let (mut newest, mut newly_delivered) = (0, 0);
        while let Some((at, number)) = self.acks.front().copied()
            && at == now
        {
            self.acks.pop_front();
            // Segments that a timeout abandoned stay lost.
            if number < self.first || self.segments[(number - self.first) as usize].gone {
                continue;
            }
            self.segments[(number - self.first) as usize].gone = true;
            self.sampler.delivered(now, number, SEGMENT);
            self.inflight -= SEGMENT;
            newly_delivered += SEGMENT;
            newest = number;
        }
        if newly_delivered == 0 {
            return;
        }
        self.delivered += newly_delivered;
        self.last_ack = now;
        let rtt = now.since(self.segments[(newest - self.first) as usize].sent);
        self.min_rtt = self.min_rtt.min(rtt);
        self.srtt = (self.srtt * 7 + rtt) / 8;
        let newly_lost = self.lose_below(newest.saturating_sub(2));
        if newly_lost > 0 && (self.phase == Phase::Open || newest <= self.recovery_end + 2) {
            self.repaired_at = self.next() + newly_lost / SEGMENT;
        }
        let began = newly_lost > 0 && self.phase == Phase::Open;
        if began {
            self.recovery_end = self.next();
        }
        let ended = self.phase != Phase::Open && self.first >= self.recovery_end.max(self.repaired_at);
        let phase = if began { Phase::Recovery } else { self.phase };
        if newest >= self.round_end {
            (self.was_limited, self.limited, self.round_end) = (self.limited, false, self.next());
        }
        let rate = self.sampler.finish(self.first, self.min_rtt);
        self.rate = rate.and_then(|sample| sample.bytes_per_second()).unwrap_or(self.rate);
        self.algorithm.on_ack(&Ack {
            newly_delivered,
            newly_acked: newly_delivered,
            newly_lost,
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            inflight: self.inflight,
            prior_inflight,
            snd_una: self.first * SEGMENT,
            snd_nxt: self.next() * SEGMENT,
            phase,
            cwnd_limited: self.limited || self.was_limited,
            rate,
            ..ack(now, rtt)
        });
        self.phase = phase;
        if ended {
            self.phase = Phase::Open;
            self.algorithm.on_recovered(now);
        }
        if began {
            self.tell(Cause::Loss, prior_inflight);
        }
    }

    /// Marks all outstanding data below the segment `number` as lost. Returns its bytes.
    fn lose_below(&mut self, number: u64) -> u64 {
        let mut newly_lost = 0;
        for segment_number in self.first..number.max(self.first) {
            let segment = &mut self.segments[(segment_number - self.first) as usize];
            if !segment.gone {
                segment.gone = true;
                self.inflight -= SEGMENT;
                newly_lost += SEGMENT;
                let lost = self.sampler.lost(self.now, segment_number, SEGMENT);
                self.algorithm.on_lost(&lost);
            }
        }
        while self.segments.front().is_some_and(|segment| segment.gone) {
            self.segments.pop_front();
            self.first += 1;
        }
        self.lost += newly_lost;
        newly_lost
    }

    /// Handles a timeout.
    fn time_out(&mut self) {
        let flight = self.inflight;
        self.lose_below(self.next());
        self.sampler.finish(self.first, self.min_rtt);
        self.phase = Phase::Loss;
        self.recovery_end = self.next();
        self.last_ack = self.now;
        self.tell(Cause::Timeout, flight);
    }

    fn tell(&mut self, cause: Cause, flight: u64) {
        let (now, srtt, min_rtt) = (self.now, self.srtt, self.min_rtt);
        self.algorithm.on_congestion(&Congestion { now, cause, flight, srtt, min_rtt });
    }
}
