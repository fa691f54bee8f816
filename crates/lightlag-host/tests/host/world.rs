//! Two hosts, and a pipe that loses, duplicates and reorders packets.

use lightlag_core::{Duration, Instant, RandomStream};
use lightlag_host::{HostConfig, SocketError, SocketId, Stack};
use lightlag_tcp::State;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// Index of the host that connects.
pub const CLIENT: usize = 0;
/// Index of the host that listens.
pub const SERVER: usize = 1;

/// The effects of the pipe on packets.
#[derive(Clone, Copy, Debug)]
pub struct Pipe {
    /// One-way delay.
    pub delay: Duration,
    /// Maximum random extra delay. Packets may overtake each other.
    pub jitter: Duration,
    /// Probability that a packet is lost.
    pub loss: f64,
    /// Probability that a packet is duplicated.
    pub twice: f64,
}

impl Pipe {
    /// A pipe with a delay of 10 ms, and without loss, jitter or duplicates.
    pub const CLEAN: Self = Self { delay: Duration::from_millis(10), jitter: Duration::ZERO, loss: 0.0, twice: 0.0 };
}

/// Two hosts, the pipe between them and the clock.
pub struct World {
    pub stacks: [Stack; 2],
    pub now: Instant,
    pub pipe: Pipe,
    /// For each host, whether packets to it arrive.
    pub connected: [bool; 2],
    under_way: BTreeMap<(Instant, u64), (usize, Vec<u8>)>,
    count: u64,
    random: RandomStream,
}

pub fn address(host: usize, v6: bool) -> IpAddr {
    let last = 1 + host as u16;
    if v6 { IpAddr::from([0xfd00, 0, 0, 0, 0, 0, 0, last]) } else { IpAddr::from([10, 9, 0, last as u8]) }
}

pub fn socket_address(host: usize, port: u16) -> SocketAddr {
    SocketAddr::new(address(host, false), port)
}

impl World {
    pub fn new(pipe: Pipe, change: impl Fn(usize, &mut HostConfig)) -> Self {
        let stack = |host: usize| {
            let addresses = vec![address(host, false), address(host, true)];
            let mut config = HostConfig { seed: host as u64, ..HostConfig::new(addresses) };
            change(host, &mut config);
            Stack::new(config)
        };
        Self {
            stacks: [stack(CLIENT), stack(SERVER)],
            now: Instant::from_nanos(1_000_000_000),
            pipe,
            connected: [true; 2],
            under_way: BTreeMap::new(),
            count: 0,
            random: RandomStream::new(7, "pipe"),
        }
    }

    pub fn with_seed(mut self, seed: u64) -> Self {
        self.random = RandomStream::new(seed, "pipe");
        self
    }

    /// Moves waiting packets from the stacks into the pipe.
    pub fn flush(&mut self) {
        let mut packet = Vec::new();
        for from in [CLIENT, SERVER] {
            while self.stacks[from].poll_packet(self.now, &mut packet) {
                let copies = 1 + u32::from(self.random.uniform() < self.pipe.twice);
                for _ in 0..copies {
                    if self.random.uniform() >= self.pipe.loss {
                        let jitter = self.pipe.jitter.as_secs_f64() * self.random.uniform();
                        let arrival = self.now + self.pipe.delay + Duration::from_secs_f64(jitter);
                        self.count += 1;
                        self.under_way.insert((arrival, self.count), (1 - from, packet.clone()));
                    }
                }
            }
        }
    }

    /// Returns the time of the next event.
    pub fn next(&self) -> Option<Instant> {
        let arrival = self.under_way.first_key_value().map(|((at, _), _)| *at);
        let timers = self.stacks.iter().filter_map(Stack::poll_timeout);
        arrival.into_iter().chain(timers).min()
    }

    /// Advances to the next event. Returns false if there is none before `end`.
    pub fn step(&mut self, end: Instant) -> bool {
        self.flush();
        let Some(next) = self.next().filter(|next| *next <= end) else {
            self.now = end;
            return false;
        };
        self.now = self.now.max(next);
        while let Some(entry) = self.under_way.first_entry()
            && entry.key().0 <= self.now
        {
            let (to, packet) = entry.remove();
            if self.connected[to] {
                self.stacks[to].packet_in(self.now, &packet);
            }
        }
        for stack in &mut self.stacks {
            stack.handle_timeout(self.now);
        }
        self.flush();
        true
    }

    pub fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.step(end) {}
    }

    /// Opens a connection from the client to port 80 of the server. Returns the client's socket, the accepted socket
    /// and the listener.
    pub fn connect(&mut self, v6: bool) -> (SocketId, SocketId, SocketId) {
        let to = SocketAddr::new(address(SERVER, v6), 80);
        let listener = self.stacks[SERVER].listen(to, 5).unwrap();
        let client = self.stacks[CLIENT].socket();
        self.stacks[CLIENT].connect(self.now, client, to).unwrap();
        let end = self.now + Duration::from_secs(600);
        let server = loop {
            match self.stacks[SERVER].accept(listener) {
                Ok(server) if self.stacks[CLIENT].state(client) == Ok(State::Established) => break server,
                Ok(server) => {
                    // The SYN-ACK was overtaken or lost; the server's data shows the client that the connection is
                    // open.
                    while self.stacks[CLIENT].state(client) != Ok(State::Established) && self.step(end) {}
                    break server;
                }
                Err(SocketError::WouldBlock) => assert!(self.step(end), "no connection"),
                Err(error) => panic!("{error}"),
            }
        };
        (client, server, listener)
    }

    /// Writes all of `data`, and advances the time. Returns the data that arrives at the other end until that end
    /// closes.
    pub fn send(&mut self, from: (usize, SocketId), to: (usize, SocketId), data: &[u8]) -> Vec<u8> {
        let mut arrived = Vec::new();
        let mut written = 0;
        let end = self.now + Duration::from_secs(36_000);
        let mut buffer = [0; 10_000];
        let mut shut = false;
        loop {
            if written < data.len() {
                match self.stacks[from.0].write(self.now, from.1, &data[written..]) {
                    Ok(len) => written += len,
                    Err(SocketError::WouldBlock) => {}
                    Err(error) => panic!("{error}"),
                }
            } else if !shut {
                self.stacks[from.0].shutdown(from.1, lightlag_host::Shutdown::Write).unwrap();
                shut = true;
            }
            match self.stacks[to.0].read(to.1, &mut buffer) {
                Ok(0) => return arrived,
                Ok(len) => arrived.extend_from_slice(&buffer[..len]),
                Err(SocketError::WouldBlock) => assert!(self.step(end), "{written} written, {} read", arrived.len()),
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// Returns `len` bytes of a pattern with a long period.
pub fn pattern(len: usize, seed: u64) -> Vec<u8> {
    let mut random = RandomStream::new(seed, "pattern");
    let mut data: Vec<u8> = (0..len.div_ceil(8)).flat_map(|_| random.bits().to_le_bytes()).collect();
    data.truncate(len);
    data
}
