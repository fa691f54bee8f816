//! Two connections and a path between them. A closure determines what the path does to each segment.

#![allow(dead_code, reason = "each test file uses its part")]

use lightlag_control::bucket::Bucket;
use lightlag_control::congestion::{Ack, Allowance, Cause, Congestion, CongestionControl};
use lightlag_core::{Codepoint, Duration, Instant};
use lightlag_tcp::segment::{Flags, SeqNumber};
use lightlag_tcp::{Config, Connection, Profile, Segment, State};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Index of the end that opens the connection; the other end is the server.
pub const CLIENT: usize = 0;
pub const SERVER: usize = 1;

/// A segment that was sent, as a capture at the sender shows it.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Time of transmission.
    pub at: Instant,
    /// Index of the end that sent it.
    pub from: usize,
    /// Index of this segment among the data segments of its end, starting at 0; meaningless without data.
    pub data_index: usize,
    /// Whether it continues the burst of the data segment before it; meaningless without data.
    pub continues: bool,
    /// The segment.
    pub segment: Segment,
}

/// Fate of a segment: the delay of each copy that arrives; empty if the segment is lost.
pub type Fate = Vec<Duration>;

/// Determines what happens to a segment, given the default delay of the path.
type Bend = Box<dyn FnMut(&Sent, Duration) -> Fate>;

/// Two ends, and the segments in transit between them.
pub struct Path {
    pub now: Instant,
    pub ends: [Connection; 2],
    pub log: Vec<Sent>,
    delay: Duration,
    data_sent: [usize; 2],
    flying: BTreeMap<(Instant, u64), (usize, Segment, Codepoint)>,
    count: u64,
    fate: Bend,
    mark: Box<dyn FnMut(&Sent) -> bool>,
    /// Token bucket of the client's route, if the client shares one.
    pub bucket: Option<Bucket>,
}

/// Returns a configuration with segments of 1000 bytes, no options, no delayed ACKs and an initial window of ten
/// segments.
pub fn plain() -> Config {
    Config {
        mss: 1000,
        mss_is_payload: true,
        timestamps: false,
        sack: false,
        delayed_ack: None,
        initial_window: 10,
        limited_transmit: true,
        prr: false,
        tlp: false,
        frto: false,
        eifel: false,
        dsack_undo: false,
        rtt_samples: Profile::Rfc.config().rtt_samples,
        ..Profile::Rfc.config()
    }
}

impl Path {
    /// Returns a path with a delay of `delay_ms` in each direction and no losses. Both ends have the same
    /// configuration.
    pub fn new(config: Config, delay_ms: u64) -> Self {
        Self::with_numbers(config, delay_ms, SeqNumber(1_000), SeqNumber(5_000))
    }

    /// Returns a path as [`Self::new`], with these initial sequence numbers.
    pub fn with_numbers(config: Config, delay_ms: u64, client: SeqNumber, server: SeqNumber) -> Self {
        let config = Arc::new(config);
        let mut ends = [Connection::client(config.clone(), client), Connection::server(config, server)];
        // Used if the configuration compresses headers.
        ends[CLIENT].set_connection_id(1);
        ends[SERVER].set_connection_id(2);
        Self {
            now: Instant::ZERO,
            ends,
            log: Vec::new(),
            delay: Duration::from_millis(delay_ms),
            data_sent: [0; 2],
            flying: BTreeMap::new(),
            count: 0,
            fate: Box::new(|_, delay| vec![delay]),
            mark: Box::new(|_| false),
            bucket: None,
        }
    }

    /// Lets `fate` determine for each segment what happens to it.
    pub fn bend(mut self, fate: impl FnMut(&Sent, Duration) -> Fate + 'static) -> Self {
        self.fate = Box::new(fate);
        self
    }

    /// Lets `mark` determine for each ECN-capable packet whether it is marked.
    pub fn mark(mut self, mark: impl FnMut(&Sent) -> bool + 'static) -> Self {
        self.mark = Box::new(mark);
        self
    }

    /// Loses the client's data segments with these indices; 0 is the first one sent.
    pub fn lose(self, indices: &'static [usize]) -> Self {
        self.bend(move |sent, delay| {
            let lost = sent.from == CLIENT && sent.segment.len > 0 && indices.contains(&sent.data_index);
            if lost { vec![] } else { vec![delay] }
        })
    }

    /// Makes the client open the connection, write `bytes`, and close.
    pub fn transfer(&mut self, bytes: u64) {
        self.ends[CLIENT].open(self.now);
        self.ends[CLIENT].write(bytes);
        self.ends[CLIENT].close();
        self.flush(CLIENT);
    }

    /// Sends all segments of this end that are due.
    pub fn flush(&mut self, from: usize) {
        loop {
            let segment = match &mut self.bucket {
                Some(bucket) if from == CLIENT => self.ends[from].poll_limited(self.now, bucket),
                _ => self.ends[from].poll_segment(self.now),
            };
            let Some(segment) = segment else { break };
            let continues = segment.len > 0 && self.ends[from].follows();
            let sent = Sent { at: self.now, from, data_index: self.data_sent[from], continues, segment };
            self.data_sent[from] += usize::from(segment.len > 0);
            self.log.push(sent);
            let codepoint = match self.ends[from].codepoint() {
                Codepoint::Ect0 | Codepoint::Ect1 if (self.mark)(&sent) => Codepoint::Ce,
                other => other,
            };
            for delay in (self.fate)(&sent, self.delay) {
                self.flying.insert((self.now + delay, self.count), (1 - from, segment, codepoint));
                self.count += 1;
            }
        }
    }

    /// Handles the next arrival or timer; an arrival precedes a timer at the same time. Returns false if no event is
    /// left.
    pub fn step(&mut self) -> bool {
        let arrival = self.flying.keys().next().copied();
        let timers = [CLIENT, SERVER].map(|end| self.ends[end].poll_timeout());
        let timer = timers.iter().flatten().min().copied();
        match (arrival, timer) {
            (Some(key), timer) if timer.is_none_or(|timer| key.0 <= timer) => {
                self.now = self.now.max(key.0);
                let (to, segment, codepoint) = self.flying.remove(&key).unwrap();
                self.ends[to].handle_packet(self.now, &segment, codepoint);
                self.flush(to);
            }
            (_, Some(deadline)) => {
                self.now = self.now.max(deadline);
                for end in [CLIENT, SERVER] {
                    if timers[end] == Some(deadline) {
                        self.ends[end].handle_timeout(self.now);
                        self.flush(end);
                        let next = self.ends[end].poll_timeout();
                        assert!(next.is_none_or(|next| next > self.now), "a timer that fired is disarmed");
                    }
                }
            }
            _ => return false,
        }
        true
    }

    /// Runs until no event is left. The server closes once the client has, like an application that has read
    /// everything.
    pub fn run(&mut self) {
        for _ in 0..10_000_000 {
            if self.ends[SERVER].state() == State::CloseWait {
                self.ends[SERVER].close();
                self.flush(SERVER);
            }
            if !self.step() {
                return;
            }
        }
        panic!("no end after ten million steps");
    }

    /// Runs until the time `end`.
    pub fn run_until(&mut self, end: Instant) {
        loop {
            let arrival = self.flying.keys().next().map(|key| key.0);
            let timer = self.ends.iter().filter_map(Connection::poll_timeout).min();
            match arrival.into_iter().chain(timer).min() {
                Some(next) if next <= end => assert!(self.step()),
                _ => break,
            }
        }
        self.now = end;
    }

    /// Returns the data segments that this end has sent.
    pub fn data(&self, from: usize) -> Vec<Sent> {
        self.log.iter().filter(|sent| sent.from == from && sent.segment.len > 0).copied().collect()
    }

    /// Returns the segments of this end without data whose only flag is ACK.
    pub fn pure_acks(&self, from: usize) -> Vec<Sent> {
        let pure = |sent: &&Sent| sent.from == from && sent.segment.len == 0 && sent.segment.flags == Flags::ACK;
        self.log.iter().filter(pure).copied().collect()
    }

    /// Returns the payload offset of each of the client's data segments, as a number of segments of `size` bytes.
    pub fn order(&self, size: u32) -> Vec<u32> {
        self.data(CLIENT).iter().map(|sent| (sent.segment.seq.0.wrapping_sub(1_001)) / size).collect()
    }
}

/// A congestion control whose window never changes, and which records its notifications.
#[derive(Clone, Default)]
pub struct Fixed {
    pub window: u64,
    pub told: Arc<Mutex<Told>>,
}

/// Notifications that a congestion control received.
#[derive(Default)]
pub struct Told {
    pub acks: Vec<Ack>,
    pub congestions: Vec<Congestion>,
    pub recovered: Vec<Instant>,
}

impl Allowance for Fixed {
    fn window(&self) -> u64 {
        self.window
    }
    fn ssthresh(&self) -> u64 {
        u64::MAX
    }
}

impl CongestionControl for Fixed {
    fn on_ack(&mut self, ack: &Ack) {
        self.told.lock().unwrap().acks.push(*ack);
    }
    fn on_congestion(&mut self, event: &Congestion) {
        self.told.lock().unwrap().congestions.push(*event);
    }
    fn on_recovered(&mut self, now: Instant) {
        self.told.lock().unwrap().recovered.push(now);
    }
}

/// A window as in Reno, in bytes (RFC 5681 §3.1). In congestion avoidance it grows by a segment for each full window of
/// acknowledged bytes.
pub struct Halving {
    segment: f64,
    window: f64,
    threshold: f64,
}

impl Halving {
    pub fn new(segment: u64, initial: u64) -> Self {
        Self { segment: segment as f64, window: (segment * initial) as f64, threshold: f64::INFINITY }
    }
}

impl Allowance for Halving {
    fn window(&self) -> u64 {
        self.window as u64
    }
    fn ssthresh(&self) -> u64 {
        if self.threshold.is_finite() { self.threshold as u64 } else { u64::MAX }
    }
}

impl CongestionControl for Halving {
    fn on_ack(&mut self, ack: &Ack) {
        if ack.may_grow() {
            let slow_start = self.window < self.threshold;
            self.window += ack.growth * self.segment * if slow_start { 1.0 } else { self.segment / self.window };
        }
    }
    fn on_congestion(&mut self, event: &Congestion) {
        if event.cause != Cause::RepeatedTimeout {
            self.threshold = (event.flight as f64 / 2.0).max(2.0 * self.segment);
        }
        self.window = if event.cause == Cause::Loss { self.threshold } else { self.segment };
    }
}
