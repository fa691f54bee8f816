//! Two endpoints and a link in each direction, in virtual time.

#![allow(dead_code, reason = "each test uses a part of it")]

pub mod random;

use lightlag_core::{Codepoint, Duration, Instant};
use lightlag_quic::contents::Contents;
use lightlag_quic::{Arena, Config, Connection, Packet, Parameters};
use lightlag_transport::Stream;
use std::collections::BTreeMap;
use std::sync::Arc;

pub const CLIENT: usize = 0;
pub const SERVER: usize = 1;

pub fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub fn at(millis: u64) -> Instant {
    Instant::ZERO + ms(millis)
}

/// Fate of a datagram on a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Deliver,
    Drop,
    Mark,
    /// Arrives this much later than it should.
    Delay(Duration),
    Duplicate,
}

/// One direction of a link.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub delay: Duration,
    /// Bits per second; 0 for no limit.
    pub rate: u64,
    /// Maximum time in the queue; later datagrams are dropped.
    pub max_queue: Duration,
    /// Bytes of UDP and IP headers.
    pub overhead: u64,
    free: Instant,
}

impl Link {
    pub fn new(delay: Duration, rate: u64) -> Self {
        Self { delay, rate, max_queue: Duration::MAX, overhead: 28, free: Instant::ZERO }
    }
}

/// A datagram that was sent.
#[derive(Clone, PartialEq, Debug)]
pub struct Logged {
    pub time: Instant,
    pub from: usize,
    pub size: u32,
    pub fate: Fate,
    pub contents: Contents,
}

type Rule = Box<dyn FnMut(&Logged) -> Fate>;
type Check = Box<dyn FnMut(&[Connection; 2], Instant)>;

pub struct Path {
    pub ends: [Connection; 2],
    pub arena: Arena,
    pub now: Instant,
    pub links: [Link; 2],
    pub rule: Rule,
    /// Whether contents are stored in the log.
    pub logs: bool,
    pub log: Vec<Logged>,
    queue: BTreeMap<(Instant, u64), (usize, Packet, Codepoint)>,
    serial: u64,
    at_once: u32,
    /// Called after each event.
    pub check: Option<Check>,
}

impl Path {
    /// Creates a path whose both ends have the same configuration.
    pub fn new(config: Config, delay_ms: u64) -> Self {
        Self::between(config.clone(), config, delay_ms)
    }

    pub fn between(client: Config, server: Config, delay_ms: u64) -> Self {
        Self::with_seeds(client, server, delay_ms, [0; 2])
    }

    /// Creates a path whose ends make random decisions by these seeds.
    pub fn with_seeds(client: Config, server: Config, delay_ms: u64, seeds: [u64; 2]) -> Self {
        client.check().expect("a valid configuration");
        server.check().expect("a valid configuration");
        let (of_client, of_server) = (Parameters::of(&client), Parameters::of(&server));
        let link = Link::new(ms(delay_ms), 0);
        Self {
            ends: [
                Connection::client(Arc::new(client), of_server, seeds[CLIENT]),
                Connection::server(Arc::new(server), of_client, seeds[SERVER]),
            ],
            arena: Arena::new(),
            now: Instant::ZERO,
            links: [link; 2],
            rule: Box::new(|_| Fate::Deliver),
            logs: true,
            log: Vec::new(),
            queue: BTreeMap::new(),
            serial: 0,
            at_once: 0,
            check: None,
        }
    }

    /// Sets rates in Mbit/s from the client and from the server.
    pub fn with_rates(mut self, up: f64, down: f64) -> Self {
        (self.links[CLIENT].rate, self.links[SERVER].rate) = ((up * 1e6) as u64, (down * 1e6) as u64);
        self
    }

    pub fn with_rule(mut self, rule: impl FnMut(&Logged) -> Fate + 'static) -> Self {
        self.rule = Box::new(rule);
        self
    }

    pub fn open(&mut self) {
        self.ends[CLIENT].open(self.now);
        self.flush(CLIENT);
    }

    /// Sends everything that an end can send now.
    pub fn flush(&mut self, from: usize) {
        let mut count = 0;
        while let Some(packet) = self.ends[from].poll_packet(self.now, &mut self.arena) {
            self.send(from, packet);
            count += 1;
            assert!(count < 100_000, "an end sends for ever at {:?}", self.now);
        }
        // Neither the window nor pacing holds back an acknowledgement, except in quinn.
        let due = self.ends[from].ack_due();
        let waits = self.ends[from].config().details.acks_wait;
        assert!(waits || due.is_none_or(|due| due > self.now), "an acknowledgement is overdue at {:?}", self.now);
    }

    fn send(&mut self, from: usize, packet: Packet) {
        let contents = if self.logs { self.arena.copy(&packet) } else { Contents::default() };
        let mut logged = Logged { time: self.now, from, size: packet.size(), fate: Fate::Deliver, contents };
        logged.fate = (self.rule)(&logged);
        let link = &mut self.links[from];
        let mut fate = logged.fate;
        let start = link.free.max(self.now);
        if fate != Fate::Drop && start.since(self.now) > link.max_queue {
            fate = Fate::Drop;
            logged.fate = fate;
        }
        if self.logs {
            self.log.push(logged);
        }
        if fate == Fate::Drop {
            self.arena.release(&packet);
            return;
        }
        let bits = (u64::from(packet.size()) + link.overhead) * 8 * 1_000_000_000;
        let end = start + Duration::from_nanos(bits.checked_div(link.rate).unwrap_or(0));
        link.free = end;
        let mut arrival = end + link.delay;
        let mut ecn = packet.codepoint();
        match fate {
            Fate::Delay(extra) => arrival += extra,
            Fate::Mark if ecn.is_capable() => ecn = Codepoint::Ce,
            Fate::Duplicate if packet.handle().is_none() => {
                self.serial += 1;
                self.queue.insert((arrival, self.serial), (1 - from, packet, ecn));
            }
            _ => {}
        }
        self.serial += 1;
        self.queue.insert((arrival, self.serial), (1 - from, packet, ecn));
    }

    /// Returns the time of the next event.
    pub fn next_event(&self) -> Option<Instant> {
        let arrival = self.queue.keys().next().map(|(time, _)| *time);
        [arrival, self.ends[0].poll_timeout(), self.ends[1].poll_timeout()].into_iter().flatten().min()
    }

    /// Handles one event. Returns false if there is none up to `end`.
    pub fn step(&mut self, end: Instant) -> bool {
        let Some(time) = self.next_event().filter(|time| *time <= end) else { return false };
        self.at_once = if time <= self.now { self.at_once + 1 } else { 0 };
        assert!(self.at_once < 10_000, "no progress at {:?}", self.now);
        self.now = self.now.max(time);
        if self.queue.keys().next().is_some_and(|(arrival, _)| *arrival <= self.now) {
            let (_, (to, packet, ecn)) = self.queue.pop_first().expect("an arrival");
            self.ends[to].handle_packet(self.now, &packet, ecn, &mut self.arena);
            self.flush(to);
        } else {
            for end in [CLIENT, SERVER] {
                if self.ends[end].poll_timeout().is_some_and(|timer| timer <= self.now) {
                    self.ends[end].handle_timeout(self.now);
                    self.flush(end);
                }
            }
        }
        if let Some(mut check) = self.check.take() {
            check(&self.ends, self.now);
            self.check = Some(check);
        }
        true
    }

    /// Runs until `end`.
    pub fn run_until(&mut self, end: Instant) {
        while self.step(end) {}
        self.now = self.now.max(end);
    }

    /// Runs until `done` or `end`. Returns the time of `done`.
    pub fn run_while(&mut self, end: Instant, mut goes_on: impl FnMut(&[Connection; 2]) -> bool) -> Option<Instant> {
        while goes_on(&self.ends) {
            if !self.step(end) {
                return None;
            }
        }
        Some(self.now)
    }

    /// Runs until the server's stream of `bytes` has arrived. Returns the time.
    pub fn download(&mut self, bytes: u64, end: Instant) -> Option<Instant> {
        self.ends[SERVER].write(bytes);
        self.ends[SERVER].close();
        self.open();
        self.run_while(end, |ends| ends[CLIENT].received() < bytes)
    }

    /// Returns the logged datagrams of one end.
    pub fn sent(&self, from: usize) -> impl Iterator<Item = &Logged> {
        self.log.iter().filter(move |logged| logged.from == from)
    }
}
