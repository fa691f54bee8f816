//! Two endpoints and the path between them, in virtual time.

use crate::pattern::Pattern;
use lightlag_core::Codepoint;
use lightlag_quic::contents::Contents;
use std::collections::BTreeMap;

/// Index of the client.
pub const CLIENT: usize = 0;
/// Index of the server.
pub const SERVER: usize = 1;

/// Bytes of UDP and IPv4 headers, which also take time on a link.
const HEADERS: u64 = 28;

/// A datagram in transit.
#[derive(Clone, Debug)]
pub struct Datagram {
    /// UDP payload of quinn; for lightlag-quic the index of the packet.
    pub bytes: Vec<u8>,
    /// Bytes of UDP payload on the path.
    pub size: u64,
    /// ECN field.
    pub ecn: Codepoint,
    /// Packets and frames; empty without a log.
    pub contents: Contents,
}

/// State of an end when it sent a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Congestion window in bytes.
    pub window: u64,
    /// Bytes declared lost so far.
    pub lost: u64,
}

/// A datagram that was sent.
#[derive(Clone, Debug)]
pub struct Logged {
    /// Time in nanoseconds.
    pub time: u64,
    /// The end that sent it.
    pub from: usize,
    /// Bytes of UDP payload.
    pub size: u64,
    /// ECN field.
    pub ecn: Codepoint,
    /// Packets and frames.
    pub contents: Contents,
    /// State of the end.
    pub progress: Progress,
    /// Whether the path dropped it.
    pub dropped: bool,
}

/// Two endpoints of one implementation. Times are nanoseconds from the start.
pub trait Pair {
    /// Opens the connection of the client.
    fn open(&mut self);

    /// Delivers a datagram to an end.
    fn deliver(&mut self, now: u64, to: usize, datagram: Datagram);

    /// Lets the application of an end read and write.
    fn run_application(&mut self, now: u64, end: usize);

    /// Returns the next datagram of an end.
    fn transmit(&mut self, now: u64, from: usize) -> Option<Datagram>;

    /// Returns the time of the next timer of an end.
    fn timeout(&mut self, end: usize) -> Option<u64>;

    /// Handles the timers of an end that are due.
    fn expire(&mut self, now: u64, end: usize);

    /// Returns the state of an end.
    fn progress(&self, end: usize) -> Progress;

    /// Returns true if the client has the entire response.
    fn is_done(&self) -> bool;
}

/// Runs the transfer of `pattern`, and returns its log. At the given times, in ascending order, an end also tries to
/// send.
pub fn run(pair: &mut dyn Pair, pattern: &Pattern, wakes: &[(u64, usize)]) -> Vec<Logged> {
    let mut network = Network::new(pattern, true);
    network.carry(pair, wakes);
    network.log
}

/// Runs the transfer of `pattern` without a log, and returns the number of datagrams.
pub fn complete(pair: &mut dyn Pair, pattern: &Pattern) -> u64 {
    let mut network = Network::new(pattern, false);
    network.carry(pair, &[]);
    network.sent.iter().sum()
}
struct Network<'a> {
    pattern: &'a Pattern,
    now: u64,
    /// Time when each link has sent its queue.
    free: [u64; 2],
    /// Datagrams sent by each end.
    sent: [u64; 2],
    serial: u64,
    queue: BTreeMap<(u64, u64), (usize, Datagram)>,
    logs: bool,
    log: Vec<Logged>,
}

impl<'a> Network<'a> {
    fn new(pattern: &'a Pattern, logs: bool) -> Self {
        Self { pattern, now: 0, free: [0; 2], sent: [0; 2], serial: 0, queue: BTreeMap::new(), logs, log: vec![] }
    }

    fn carry(&mut self, pair: &mut dyn Pair, wakes: &[(u64, usize)]) {
        let mut wakes = wakes.iter().copied().peekable();
        pair.open();
        self.flush(pair, CLIENT);
        let (mut end, mut at_once) = (self.pattern.end_ms * 1_000_000, 0);
        let mut is_done = false;
        loop {
            let arrival = self.queue.keys().next().map(|(time, _)| *time);
            let mut timers = [pair.timeout(CLIENT), pair.timeout(SERVER)];
            if let Some((time, end)) = wakes.peek() {
                timers[*end] = Some(timers[*end].map_or(*time, |timer| timer.min(*time)));
            }
            let Some(time) = [arrival, timers[0], timers[1]].into_iter().flatten().min().filter(|time| *time <= end)
            else {
                break;
            };
            at_once = if time <= self.now { at_once + 1 } else { 0 };
            assert!(at_once < 100_000, "no progress at {} ns", self.now);
            self.now = self.now.max(time);
            let now = self.now;
            while wakes.next_if(|(time, _)| *time < now).is_some() {}
            if arrival.is_some_and(|arrival| arrival <= now) {
                let (_, (to, datagram)) = self.queue.pop_first().expect("an arrival");
                pair.deliver(now, to, datagram);
                self.flush(pair, to);
            } else {
                for (index, timer) in timers.into_iter().enumerate() {
                    if timer.is_some_and(|timer| timer <= now) {
                        wakes.next_if(|(time, end)| *time <= now && *end == index);
                        pair.expire(now, index);
                        self.flush(pair, index);
                    }
                }
            }
            if !is_done && pair.is_done() {
                is_done = true;
                end = end.min(self.now + 1_000_000_000);
            }
        }
    }

    fn flush(&mut self, pair: &mut dyn Pair, from: usize) {
        pair.run_application(self.now, from);
        let mut count = 0;
        while let Some(datagram) = pair.transmit(self.now, from) {
            self.send(from, datagram, pair.progress(from));
            pair.run_application(self.now, from);
            count += 1;
            assert!(count < 100_000, "an end sends for ever at {} ns", self.now);
        }
    }

    fn send(&mut self, from: usize, datagram: Datagram, progress: Progress) {
        let side = &self.pattern.sides[from];
        let index = self.sent[from];
        self.sent[from] += 1;
        let size = datagram.size;
        let start = self.free[from].max(self.now);
        let dropped = side.lost.contains(&index) || start - self.now > side.queue_ms * 1_000_000;
        if self.logs {
            self.log.push(Logged {
                time: self.now,
                from,
                size,
                ecn: datagram.ecn,
                contents: datagram.contents.clone(),
                progress,
                dropped,
            });
        }
        if dropped {
            return;
        }
        let end = start + (size + HEADERS) * 8_000_000_000 / side.rate;
        self.free[from] = end;
        let extra = side.late.get(&index).copied().unwrap_or(0);
        let arrival = end + side.delay_us * 1_000 + extra * 1_000;
        let mut datagram = datagram;
        if side.marked.contains(&index) && datagram.ecn != Codepoint::NotEct {
            datagram.ecn = Codepoint::Ce;
        }
        if let Some(gap) = side.repeated.get(&index) {
            self.enqueue(arrival + gap * 1_000, 1 - from, datagram.clone());
        }
        self.enqueue(arrival, 1 - from, datagram);
    }

    fn enqueue(&mut self, arrival: u64, to: usize, datagram: Datagram) {
        self.serial += 1;
        self.queue.insert((arrival, self.serial), (to, datagram));
    }
}
