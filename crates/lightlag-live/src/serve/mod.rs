//! Simulated hosts behind a TUN device, in real time: they serve real clients, and connect to real servers.
//!
//! A single thread takes packets from the device, hands them to the [`Stack`](lightlag_host::Stack) of a host, lets the
//! application of each connection do its work, and sends the packets of the stacks. It sleeps until a packet comes or a
//! timer is due. Several hosts stand at nodes of one simulated network, whose links and queues they share.

mod host;
mod http;
mod iperf;
mod options;
mod path;
mod payload;
mod report;
mod session;

pub use http::Http;
pub use iperf::Test;
pub use options::ServeOptions;
pub use path::{PathConfig, Site};
pub use payload::Source;
pub use report::Report;
pub use session::{Pause, Role};

use crate::clock::Clock;
use crate::priority::{self, Priority};
use crate::tun::{LARGEST_PACKET, Tun, TunConfig, TunError, Written};
use host::Host;
use lightlag_core::{Duration, Instant};
use lightlag_host::{HostConfig, SocketError};
use path::{Arrival, EmulatedPath, Losses};
use serde::Serialize;
use std::io;
use std::net::SocketAddr;
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

/// A simulated host: its TCP, and its task.
#[derive(Clone, Debug)]
pub struct HostPlan {
    /// Its addresses and its TCP.
    pub host: HostConfig,
    /// Its task.
    pub action: Action,
    /// Connecting sockets request a cookie, and send data in their SYN if possible.
    pub early: bool,
    /// The reader stops once for a while.
    pub pause: Option<Pause>,
}

/// Simulated hosts behind a TUN device.
#[derive(Clone, Debug)]
pub struct ServeConfig {
    /// The device; its addresses are those of the kernel's side.
    pub tun: TunConfig,
    /// The hosts: one, or several on the nodes of the path.
    pub hosts: Vec<HostPlan>,
    /// The simulated network between the device and the hosts, if any.
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
    /// A file to be sent cannot be read, or a test of iperf3 failed.
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

/// Runs the hosts until their tasks are done, the caller stops them, or the device vanishes.
///
/// # Errors
/// If the device cannot be opened or vanishes, an address is invalid, a test of iperf3 fails, or a file cannot be read.
pub fn serve(config: &ServeConfig, watch: &mut dyn FnMut(&Event) -> Control) -> Result<Summary, ServeError> {
    let mut server = Server::new(config)?;
    priority::raise(config.priority);
    let result = server.run(watch);
    let now = server.now();
    let Losses { lost, dropped, marked, not_for_us } =
        server.path.as_mut().map(|path| path.losses(now)).unwrap_or_default();
    server.finish();
    result.map(|()| {
        let mut summary = Summary {
            lost_on_path: lost,
            dropped_by_queue: dropped,
            marked_by_queue: marked,
            not_for_us,
            refused_by_device: server.refused_by_device,
            ..Summary::default()
        };
        server.hosts.iter().for_each(|host| host.add_to(&mut summary));
        summary
    })
}

struct Server {
    tun: Tun,
    clock: Clock,
    path: Option<EmulatedPath>,
    /// In the order of the path's sites.
    hosts: Vec<Host>,
    refused_by_device: u64,
    packet: Vec<u8>,
    buffer: Vec<u8>,
}

impl Server {
    fn new(config: &ServeConfig) -> Result<Self, ServeError> {
        let hosts = config.hosts.iter().map(Host::new).collect::<io::Result<Vec<_>>>()?;
        Ok(Self {
            tun: Tun::open(&config.tun)?,
            clock: Clock::start(),
            path: config.path.as_ref().map(|path| EmulatedPath::new(path, BEGIN)),
            hosts,
            refused_by_device: 0,
            packet: Vec::new(),
            buffer: vec![0; LARGEST_PACKET],
        })
    }

    fn now(&self) -> Instant {
        BEGIN + self.clock.now().since(Instant::ZERO)
    }

    fn run(&mut self, watch: &mut dyn FnMut(&Event) -> Control) -> Result<(), ServeError> {
        let now = self.now();
        let begun: Vec<SocketAddr> =
            self.hosts.iter_mut().map(|host| host.begin(now)).collect::<Result<_, ServeError>>()?;
        for address in begun {
            let ready = Event::Ready { tun: self.tun.place().to_owned(), address: address.to_string() };
            if watch(&ready) == Control::Stop {
                return Ok(());
            }
        }
        let mut next_tick = Instant::ZERO;
        let mut done_since = None;
        loop {
            let busy = self.receive()?;
            let now = self.now();
            for host in &mut self.hosts {
                host.stack.handle_timeout(now);
                if host.drive(now, watch)? == Control::Stop {
                    return Ok(());
                }
            }
            self.transmit(now)?;
            if now >= next_tick {
                next_tick = now + TICK;
                self.hosts.iter_mut().for_each(|host| host.stack.enforce_limits(now));
                self.tun.check()?;
                if watch(&Event::Tick) == Control::Stop {
                    return Ok(());
                }
            }
            if self.hosts.iter().all(Host::is_done) {
                let since = *done_since.get_or_insert(now);
                let is_quiet = self.hosts.iter().all(|host| host.stack.active_connections() == 0);
                if is_quiet || now.since(since) > GRACE {
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
        let hosts = self.hosts.iter().filter_map(Host::deadline);
        let path = self.path.as_ref().and_then(EmulatedPath::next_event);
        let next = hosts.chain(path).fold(next_tick, Instant::min);
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
            let packet = &self.buffer[..size];
            match (&mut self.path, self.hosts.first_mut()) {
                (Some(path), _) => path.send_from_device(now, packet),
                (None, Some(host)) => host.stack.packet_in(now, packet),
                (None, None) => {}
            }
            self.transmit(now)?;
        }
        Ok(true)
    }

    /// Delivers packets that arrived through the path, and sends those of the hosts.
    fn transmit(&mut self, now: Instant) -> Result<(), ServeError> {
        let mut answers = Vec::new();
        while let Some(arrival) = self.path.as_mut().and_then(|path| path.receive(now)) {
            match arrival {
                Arrival::Device(packet) => self.write(&packet)?,
                Arrival::Host(site, packet) => {
                    let stack = &mut self.hosts[site].stack;
                    stack.packet_in(now, &packet);
                    // They leave at once, but enter the path when it is up to date.
                    let mut answer = Vec::new();
                    while stack.poll_packet(now, &mut answer) {
                        answers.push((site, std::mem::take(&mut answer)));
                    }
                }
            }
        }
        for (site, answer) in &answers {
            self.send(now, *site, answer)?;
        }
        let mut packet = std::mem::take(&mut self.packet);
        for site in 0..self.hosts.len() {
            while self.hosts[site].stack.poll_packet(now, &mut packet) {
                self.send(now, site, &packet)?;
            }
        }
        self.packet = packet;
        Ok(())
    }

    /// Sends a packet of a host.
    fn send(&mut self, now: Instant, site: usize, packet: &[u8]) -> Result<(), ServeError> {
        match &mut self.path {
            Some(path) => path.send_from_host(now, site, packet),
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

    /// Resets all open connections.
    fn finish(&mut self) {
        let now = self.now();
        self.hosts.iter_mut().for_each(|host| host.reset(now));
        // The resets do not wait for the path. If the device is gone, no peer can be told.
        self.path = None;
        let _ = self.transmit(now);
    }
}
