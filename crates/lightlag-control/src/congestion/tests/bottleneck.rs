//! A bottleneck with a queue, packet by packet, for tests of delay-based algorithms.
//!
//! Flows that always have data share one server with a FIFO queue. The server takes 1/μ for a segment; the rest of the
//! round trip has a constant delay. A segment that finds the queue full is lost. The sender learns of the loss when the
//! ACK of that segment would have arrived, and reacts at most once per window.

use super::{SEGMENT, ack, start};
use crate::congestion::{Ack, Cause, Choice, Congestion, CongestionControl, Departures, build};
use lightlag_core::{Bytes, Duration, Instant};
use std::collections::BTreeMap;

/// Difference between the clocks of the two ends.
const CLOCK_OFFSET: Duration = Duration::from_millis(7_654_321);

pub struct Flow {
    pub algorithm: Box<dyn CongestionControl>,
    /// Segments delivered since the start of the statistics.
    pub delivered: u64,
    /// Sum of the windows in segments at all ACKs, and the number of ACKs.
    windows: (f64, u64),
    extra: Duration,
    timestamps: bool,
    srtt: f64,
    min_rtt: Duration,
    next: u64,
    acked: u64,
    recover: u64,
    may_send_at: Instant,
    waits_for_pace: bool,
}

enum Event {
    Send(usize),
    Ack { flow: usize, sent: Instant, one_way: Duration },
    Lost { flow: usize, sequence: u64 },
}

pub struct Bottleneck {
    pub now: Instant,
    pub flows: Vec<Flow>,
    /// Minimum round-trip time, including the time of one segment at the server.
    base: Duration,
    /// Time that the server takes for a segment, 1/μ.
    pub service: Duration,
    /// Maximum number of segments in the queue.
    pub limit: f64,
    free_at: Instant,
    events: BTreeMap<(Instant, u64), Event>,
    count: u64,
    /// Sum of the waiting times of all segments, and their number.
    waits: (f64, u64),
}

impl Bottleneck {
    /// Creates a server for `rate` segments per second on a path with the round-trip time `base`. The queue is
    /// unlimited.
    pub fn new(rate: f64, base: Duration) -> Self {
        Self {
            now: Instant::ZERO,
            flows: Vec::new(),
            base,
            service: Duration::from_secs_f64(1.0 / rate),
            limit: f64::INFINITY,
            free_at: Instant::ZERO,
            events: BTreeMap::new(),
            count: 0,
            waits: (0.0, 0),
        }
    }

    /// Adds a flow that starts now.
    pub fn add(&mut self, choice: &str) {
        self.add_far(choice, Duration::ZERO, true);
    }

    /// Adds a flow that starts now, with an `extra` round-trip time in addition to the path's.
    pub fn add_far(&mut self, choice: &str, extra: Duration, timestamps: bool) {
        let choice: Choice = serde_json::from_str(choice).unwrap();
        self.flows.push(Flow {
            algorithm: build(&choice, &start(10)),
            delivered: 0,
            windows: (0.0, 0),
            extra,
            timestamps,
            srtt: 0.0,
            min_rtt: Duration::MAX,
            next: 0,
            acked: 0,
            recover: 0,
            may_send_at: self.now,
            waits_for_pace: false,
        });
        self.send(self.flows.len() - 1);
    }

    /// Adds this time to the round-trip time of the path.
    pub fn lengthen(&mut self, by: Duration) {
        self.base += by;
    }

    /// Lets `time` pass, then restarts the statistics.
    pub fn warm_up(&mut self, time: Duration) {
        self.run(time);
        self.waits = (0.0, 0);
        for flow in &mut self.flows {
            (flow.delivered, flow.windows) = (0, (0.0, 0));
        }
    }

    pub fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(entry) = self.events.first_entry().filter(|entry| entry.key().0 <= end) {
            let ((now, _), event) = entry.remove_entry();
            self.now = now;
            match event {
                Event::Send(flow) => {
                    self.flows[flow].waits_for_pace = false;
                    self.send(flow);
                }
                Event::Ack { flow, sent, one_way } => self.acknowledge(flow, sent, one_way),
                Event::Lost { flow, sequence } => self.lose(flow, sequence),
            }
        }
        self.now = end;
    }

    /// Returns the mean number of segments that a segment finds in the queue.
    pub fn mean_queue(&self) -> f64 {
        self.waits.0 / self.waits.1 as f64 / self.service.as_secs_f64()
    }

    /// Returns the fraction of the server's time used in `time`.
    pub fn utilisation(&self, time: Duration) -> f64 {
        let segments: u64 = self.flows.iter().map(|flow| flow.delivered).sum();
        segments as f64 * (self.service / time)
    }

    fn at(&mut self, time: Instant, event: Event) {
        self.count += 1;
        self.events.insert((time, self.count), event);
    }

    fn send(&mut self, index: usize) {
        loop {
            let flow = &mut self.flows[index];
            if (flow.next - flow.acked) * SEGMENT + SEGMENT > flow.algorithm.window() {
                return;
            }
            if flow.may_send_at > self.now {
                if !flow.waits_for_pace {
                    flow.waits_for_pace = true;
                    let time = flow.may_send_at;
                    self.at(time, Event::Send(index));
                }
                return;
            }
            if let Some(rate) = flow.algorithm.departures().and_then(Departures::pacing_rate) {
                flow.may_send_at = self.now + rate.time_to_send(Bytes(SEGMENT));
            }
            let sequence = flow.next;
            flow.next += 1;
            let extra = flow.extra;
            self.enqueue(index, sequence, extra);
        }
    }

    fn enqueue(&mut self, flow: usize, sequence: u64, extra: Duration) {
        let wait = self.free_at.since(self.now);
        let rest = self.base - self.service + extra;
        if wait / self.service > self.limit {
            self.at(self.now + wait + self.service + rest, Event::Lost { flow, sequence });
            return;
        }
        self.waits.0 += wait.as_secs_f64();
        self.waits.1 += 1;
        self.free_at = self.now + wait + self.service;
        let event = Event::Ack { flow, sent: self.now, one_way: wait + self.service + rest / 2 };
        self.at(self.free_at + rest, event);
    }

    fn acknowledge(&mut self, index: usize, sent: Instant, one_way: Duration) {
        let rtt = self.now.since(sent);
        let flow = &mut self.flows[index];
        flow.min_rtt = flow.min_rtt.min(rtt);
        let sample = rtt.as_secs_f64();
        flow.srtt = if flow.srtt == 0.0 { sample } else { 0.875 * flow.srtt + 0.125 * sample };
        let prior_inflight = (flow.next - flow.acked) * SEGMENT;
        flow.acked += 1;
        flow.delivered += 1;
        // Timestamps have ticks of 1 ms.
        let ticks = (CLOCK_OFFSET + one_way).as_nanos() / 1_000_000;
        flow.algorithm.on_ack(&Ack {
            one_way: flow.timestamps.then(|| Duration::from_millis(ticks)),
            srtt: Duration::from_secs_f64(flow.srtt),
            min_rtt: flow.min_rtt,
            inflight: prior_inflight - SEGMENT,
            prior_inflight,
            snd_una: flow.acked * SEGMENT,
            snd_nxt: flow.next * SEGMENT,
            ..ack(self.now, rtt)
        });
        flow.windows.0 += flow.algorithm.window() as f64 / SEGMENT as f64;
        flow.windows.1 += 1;
        self.send(index);
    }

    fn lose(&mut self, index: usize, sequence: u64) {
        let flow = &mut self.flows[index];
        let flight = (flow.next - flow.acked) * SEGMENT;
        flow.acked += 1;
        if sequence >= flow.recover {
            flow.recover = flow.next;
            let (srtt, min_rtt) = (Duration::from_secs_f64(flow.srtt), flow.min_rtt);
            flow.algorithm.on_congestion(&Congestion { now: self.now, cause: Cause::Loss, flight, srtt, min_rtt });
        }
        self.send(index);
    }
}

impl Flow {
    /// Returns the mean window in segments.
    pub fn mean_window(&self) -> f64 {
        self.windows.0 / self.windows.1 as f64
    }
}
