//! lightlag's TCP as a host of its own on a TUN device, in real time: it serves real clients, and connects to real
//! servers.
//!
//! A single thread takes packets from the device, hands them to the [`Stack`], lets the application of each connection
//! do its work, and sends the stack's packets. It sleeps until a packet comes or a timer is due.

mod http;
mod iperf;
mod options;
mod path;
mod payload;
mod report;
mod session;

pub use http::Http;
pub use options::ServeOptions;
pub use path::PathConfig;
pub use payload::Source;
pub use report::Report;
pub use session::{Pause, Role};

use crate::clock::Clock;
use crate::priority::{self, Priority};
use crate::tun::{LARGEST_PACKET, Tun, TunConfig, TunError, Written};
use iperf::Iperf;
use lightlag_core::{Duration, Instant};
use lightlag_host::{Counters, HostConfig, SocketError, SocketId, SocketOption, Stack};
use path::{Arrival, EmulatedPath, Losses};
use serde::Serialize;
use session::{CHUNK, Session};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;

/// The task of the host.
#[derive(Clone, Debug)]
pub enum Action {
    /// Listens at a port and does the same with each connection.
    Listen {
        /// The port.
        port: u16,
        /// The application of each connection.
        role: Role,
        /// Number of connections after which the host ends.
        connections: Option<u64>,
    },
    /// Opens connections, one after the other.
    Connect {
        /// The address of the server.
        remote: SocketAddr,
        /// The application of each connection.
        role: Role,
        /// Number of connections.
        connections: u64,
    },
}

/// A host on a TUN device.
#[derive(Clone, Debug)]
pub struct ServeConfig {
    /// The device; its addresses are those of the kernel's side.
    pub tun: TunConfig,
    /// The local host.
    pub host: HostConfig,
    /// The task of the host.
    pub action: Action,
    /// Connecting sockets request a cookie, and send data in their SYN if possible.
    pub early: bool,
    /// The reader stops once for a while.
    pub pause: Option<Pause>,
    /// The simulated path between the device and the local host, if any.
    pub path: Option<PathConfig>,
    /// The priority of the calling thread, which also keeps it: pacing needs to be on time.
    pub priority: Priority,
}

/// Events of a host, reported as they happen.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// The device exists, and the host listens or connects.
    Ready {
        /// The device.
        tun: String,
        /// The address at which it listens, or to which it connects.
        address: String,
    },
    /// A connection is open.
    Opened {
        /// The local address.
        local: String,
        /// The peer's.
        remote: String,
    },
    /// A connection is over.
    Closed(Box<Report>),
    /// A chance to stop, several times a second.
    Tick,
}

/// The caller's wish after an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    /// Continue.
    Continue,
    /// Reset open connections, and end.
    Stop,
}

/// Counters of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Summary {
    /// Packets read from the device.
    pub packets_in: u64,
    /// Packets written to the device.
    pub packets_out: u64,
    /// Dropped: cut, malformed, a fragment, or with a wrong checksum.
    pub bad_packets: u64,
    /// Dropped: neither TCP nor an ICMP error about it.
    pub other_protocols: u64,
    /// Dropped: for another address.
    pub not_for_us: u64,
    /// Dropped: a SYN while the queue of the listener was full, or while the host was at its limit of connections.
    pub refused_syns: u64,
    /// Connections that were reset because of a limit.
    pub evicted: u64,
    /// Resets that answered segments without a connection.
    pub resets: u64,
    /// Packets that the device refused.
    pub refused_by_device: u64,
    /// Packets that the simulated path lost.
    pub lost_on_path: u64,
    /// Packets that its queues dropped.
    pub dropped_by_queue: u64,
    /// Packets that its queues marked.
    pub marked_by_queue: u64,
    /// Connections that ended.
    pub connections: u64,
}

/// The reason why the host ended early.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The device failed.
    #[error(transparent)]
    Tun(#[from] TunError),
    /// The host cannot use the local address or port.
    #[error("{address}: {error}")]
    Listen {
        /// The address at which it was to listen or from which it was to connect.
        address: SocketAddr,
        /// The error.
        error: SocketError,
    },
    /// A file to be sent cannot be read.
    #[error("{0}")]
    File(#[from] io::Error),
}

/// Start of the host's time: some peers take a timestamp of 0 for none.
const BEGIN: Instant = Instant::from_nanos(1_000_000_000);

/// The period in which the caller is asked whether to continue.
const TICK: Duration = Duration::from_millis(100);

/// The time in which the last segments of closed connections are handled at the end.
const GRACE: Duration = Duration::from_secs(5);

/// Packets handled in a row before the caller is asked.
const BATCH: usize = 256;

/// Connections that may wait to be accepted. They are accepted at once.
const BACKLOG: usize = 128;

/// Runs a host until its task is done, the caller stops it, or the device vanishes.
///
/// # Errors
/// If the device cannot be opened or vanishes, the address is invalid, or a file cannot be read.
pub fn serve(config: &ServeConfig, watch: &mut dyn FnMut(&Event) -> Control) -> Result<Summary, ServeError> {
    let mut server = Server::new(config)?;
    priority::raise(config.priority);
    let result = server.run(watch);
    let now = server.now();
    let Losses { lost, dropped, marked } = server.path.as_mut().map(|path| path.losses(now)).unwrap_or_default();
    server.finish();
    result.map(|()| Summary {
        lost_on_path: lost,
        dropped_by_queue: dropped,
        marked_by_queue: marked,
        ..server.summary()
    })
}

struct Server {
    config: ServeConfig,
    tun: Tun,
    stack: Stack,
    clock: Clock,
    path: Option<EmulatedPath>,
    listener: Option<SocketId>,
    /// The connection in its handshake.
    opening: Option<SocketId>,
    sessions: Vec<Session>,
    iperf: Iperf,
    connections: u64,
    refused_by_device: u64,
    packet: Vec<u8>,
    buffer: Vec<u8>,
    /// Bytes that an application has just read.
    chunk: Vec<u8>,
}

impl Server {
    fn new(config: &ServeConfig) -> Result<Self, ServeError> {
        if let Action::Listen { role: Role::Send(source), .. } | Action::Connect { role: Role::Send(source), .. } =
            &config.action
        {
            source.open()?;
        }
        Ok(Self {
            config: config.clone(),
            tun: Tun::open(&config.tun)?,
            stack: Stack::new(config.host.clone()),
            clock: Clock::start(),
            path: config.path.as_ref().map(|path| EmulatedPath::new(path, BEGIN)),
            listener: None,
            opening: None,
            sessions: Vec::new(),
            iperf: Iperf::default(),
            connections: 0,
            refused_by_device: 0,
            packet: Vec::new(),
            buffer: vec![0; LARGEST_PACKET],
            chunk: vec![0; CHUNK],
        })
    }

    fn now(&self) -> Instant {
        BEGIN + self.clock.now().since(Instant::ZERO)
    }

    fn begin(&mut self) -> Result<SocketAddr, ServeError> {
        let now = self.now();
        match &self.config.action {
            Action::Listen { port, .. } => {
                let ip = self.config.host.addresses.first().copied().unwrap_or(IpAddr::from([0, 0, 0, 0]));
                let address = SocketAddr::new(ip, *port);
                let listened = self.stack.listen(address, BACKLOG);
                self.listener = Some(listened.map_err(|error| ServeError::Listen { address, error })?);
                Ok(address)
            }
            Action::Connect { remote, .. } => {
                let address = *remote;
                self.connect(now)?;
                Ok(address)
            }
        }
    }

    /// Opens a connection. A sender whose data may leave with the SYN opens it with its first data.
    fn connect(&mut self, now: Instant) -> Result<(), ServeError> {
        let Action::Connect { remote: address, role, .. } = &self.config.action else { return Ok(()) };
        let (address, sends, socket) = (*address, matches!(role, Role::Send(_)), self.stack.socket());
        let opened = match self.config.early {
            true if sends => {
                let put_off = self.stack.set_option(now, socket, &SocketOption::FastOpenConnect(true));
                put_off.and_then(|()| self.stack.connect(now, socket, address))
            }
            true => self.stack.connect_with(now, socket, Some(address), &[], false).map(|_| ()),
            false => self.stack.connect(now, socket, address),
        };
        opened.map_err(|error| ServeError::Listen { address, error })?;
        self.opening = Some(socket);
        Ok(())
    }

    fn run(&mut self, watch: &mut dyn FnMut(&Event) -> Control) -> Result<(), ServeError> {
        let address = self.begin()?.to_string();
        if watch(&Event::Ready { tun: self.tun.place().to_owned(), address }) == Control::Stop {
            return Ok(());
        }
        let mut next_tick = Instant::ZERO;
        let mut done_since = None;
        loop {
            let busy = self.receive()?;
            let now = self.now();
            self.stack.handle_timeout(now);
            if self.applications(now, watch)? == Control::Stop {
                return Ok(());
            }
            self.transmit(now)?;
            if now >= next_tick {
                next_tick = now + TICK;
                self.stack.enforce_limits(now);
                self.tun.check()?;
                if watch(&Event::Tick) == Control::Stop {
                    return Ok(());
                }
            }
            if self.is_done() {
                let since = *done_since.get_or_insert(now);
                if self.stack.active_connections() == 0 || now.since(since) > GRACE {
                    return Ok(());
                }
            }
            if !busy {
                self.sleep(next_tick);
            }
        }
    }

    /// Waits for a packet or a deadline.
    fn sleep(&self, next_tick: Instant) {
        let sessions = self.sessions.iter().filter_map(Session::deadline);
        let path = self.path.as_ref().and_then(EmulatedPath::next_event);
        let next = self.stack.poll_timeout().into_iter().chain(sessions).chain(path).fold(next_tick, Instant::min);
        let now = self.now();
        self.clock.wait([self.tun.as_fd()], self.clock.now() + next.since(now));
    }

    /// Takes packets from the device. Answers leave in between, as a kernel's would. Returns whether there may be more.
    fn receive(&mut self) -> Result<bool, ServeError> {
        for _ in 0..BATCH {
            let Some(size) = self.tun.read(&mut self.buffer)? else { return Ok(false) };
            let now = self.now();
            // Everything due before it came has happened before.
            self.transmit(now)?;
            match &mut self.path {
                Some(path) => path.send_to_host(now, &self.buffer[..size]),
                None => self.stack.packet_in(now, &self.buffer[..size]),
            }
            self.transmit(now)?;
        }
        Ok(true)
    }

    /// Delivers packets that arrived through the path, and sends those of the stack.
    fn transmit(&mut self, now: Instant) -> Result<(), ServeError> {
        let mut answers = Vec::new();
        while let Some(arrival) = self.path.as_mut().and_then(|path| path.receive(now)) {
            match arrival {
                Arrival::Device(packet) => self.write(&packet)?,
                Arrival::Host(packet) => {
                    self.stack.packet_in(now, &packet);
                    // They leave at once, but enter the path when it is up to date.
                    let mut answer = Vec::new();
                    while self.stack.poll_packet(now, &mut answer) {
                        answers.push(std::mem::take(&mut answer));
                    }
                }
            }
        }
        let mut packet = std::mem::take(&mut self.packet);
        for answer in &answers {
            self.send(now, answer)?;
        }
        while self.stack.poll_packet(now, &mut packet) {
            self.send(now, &packet)?;
        }
        self.packet = packet;
        Ok(())
    }

    fn send(&mut self, now: Instant, packet: &[u8]) -> Result<(), ServeError> {
        match &mut self.path {
            Some(path) => path.send_to_device(now, packet),
            None => self.write(packet)?,
        }
        Ok(())
    }

    fn write(&mut self, packet: &[u8]) -> Result<(), ServeError> {
        if self.tun.write(packet)? == Written::Refused {
            self.refused_by_device += 1;
        }
        Ok(())
    }

    fn applications(&mut self, now: Instant, watch: &mut dyn FnMut(&Event) -> Control) -> Result<Control, ServeError> {
        for socket in self.newly_open()? {
            let (Action::Listen { role, .. } | Action::Connect { role, .. }) = &self.config.action;
            let session = match role {
                Role::Iperf => None,
                role => Some(Session::new(now, socket, role, self.config.pause)?),
            };
            let ends = self.stack.addresses(socket).unwrap_or_default();
            let [local, remote] = [ends.0, ends.1].map(|end| end.map_or_else(String::new, |end| end.to_string()));
            match session {
                Some(session) => self.sessions.push(session),
                None => self.iperf.accept(socket),
            }
            if watch(&Event::Opened { local, remote }) == Control::Stop {
                return Ok(Control::Stop);
            }
        }
        let mut reports = self.iperf.drive(now, &mut self.stack, &mut self.chunk)?;
        let mut at = 0;
        while let Some(session) = self.sessions.get_mut(at) {
            match session.drive(now, &mut self.stack, &mut self.chunk)? {
                None => at += 1,
                Some(report) => {
                    self.sessions.swap_remove(at);
                    reports.push(report);
                }
            }
        }
        for report in reports {
            self.connections += 1;
            if watch(&Event::Closed(Box::new(report))) == Control::Stop {
                return Ok(Control::Stop);
            }
            if matches!(self.config.action, Action::Connect { connections, .. } if self.connections < connections) {
                self.connect(now)?;
            }
        }
        Ok(Control::Continue)
    }

    /// Connections whose handshake is over.
    fn newly_open(&mut self) -> Result<Vec<SocketId>, ServeError> {
        let mut open = Vec::new();
        while let Some(Ok(socket)) = self.listener.map(|listener| self.stack.accept(listener)) {
            open.push(socket);
        }
        if let Some(socket) = self.opening {
            let ready = self.stack.readiness(socket).unwrap_or_default();
            if ready.error {
                let Action::Connect { remote: address, .. } = self.config.action else { return Ok(open) };
                let error = self.stack.take_error(socket).ok().flatten().unwrap_or(SocketError::TimedOut);
                return Err(ServeError::Listen { address, error });
            }
            if ready.writable || ready.readable {
                self.opening = None;
                open.push(socket);
            }
        }
        Ok(open)
    }

    fn is_done(&self) -> bool {
        let enough = match &self.config.action {
            Action::Listen { connections, .. } => connections.is_some_and(|most| self.connections >= most),
            Action::Connect { .. } => self.opening.is_none(),
        };
        enough && self.sessions.is_empty() && self.iperf.is_idle()
    }

    /// Resets all open connections.
    fn finish(&mut self) {
        let now = self.now();
        for session in std::mem::take(&mut self.sessions) {
            let _ = self.stack.abort(now, session.socket);
        }
        for socket in self.iperf.sockets().into_iter().chain(self.opening.take()) {
            let _ = self.stack.abort(now, socket);
        }
        if let Some(listener) = self.listener.take() {
            let _ = self.stack.close(now, listener);
        }
        // The resets do not wait for the path. If the device is gone, no peer can be told.
        self.path = None;
        let _ = self.transmit(now);
    }

    fn summary(&self) -> Summary {
        let Counters { packets_in, packets_out, .. } = *self.stack.counters();
        let Counters { bad_packets, other_protocols, not_for_us, refused_syns, evicted, resets, .. } =
            *self.stack.counters();
        Summary {
            packets_in,
            packets_out,
            bad_packets,
            other_protocols,
            not_for_us,
            refused_syns,
            evicted,
            resets,
            refused_by_device: self.refused_by_device,
            connections: self.connections,
            ..Summary::default()
        }
    }
}
