//! A simulated host: its stack, and the application of each of its connections.

use super::iperf::{Client, Server};
use super::report::ConnectionReport;
use super::session::{CHUNK, Session};
use super::{Event, HostError, HostPlan, HostTask, Role};
use crate::statistics::HostCounters;
use lightlag_core::{Duration, Instant};
use lightlag_host::{Counters, SocketError, SocketId, SocketOption, Stack};
use std::io;
use std::net::SocketAddr;

/// Maximum length of a listener's accept queue. Connections are accepted immediately.
const BACKLOG: usize = 128;

/// Time on the host's clock when the emulation starts. It is not 0, because some peers treat a timestamp of 0 as
/// missing.
const BEGIN: Duration = Duration::from_secs(1);

/// A running host. Its public methods take the time since the start of the emulation.
pub(crate) struct Host {
    plan: HostPlan,
    stack: Stack,
    listener: Option<SocketId>,
    /// Time when it opens its first connection, until then.
    connects_at: Option<Instant>,
    /// The connection that it opens, during its handshake.
    opening: Option<SocketId>,
    sessions: Vec<Session>,
    server: Server,
    client: Option<Client>,
    connections: u64,
    /// Buffer for the bytes that an application reads.
    chunk: Vec<u8>,
}

impl Host {
    /// Creates the host that a plan describes.
    ///
    /// # Errors
    /// If a file to be sent cannot be opened.
    pub(crate) fn new(plan: &HostPlan) -> Result<Self, HostError> {
        if let HostTask::Listen { role: Role::Send(source), .. } | HostTask::Connect { role: Role::Send(source), .. } =
            &plan.action
        {
            source.open()?;
        }
        Ok(Self {
            plan: plan.clone(),
            stack: Stack::new(plan.host.clone()),
            listener: None,
            connects_at: None,
            opening: None,
            sessions: Vec::new(),
            server: Server::default(),
            client: None,
            connections: 0,
            chunk: vec![0; CHUNK],
        })
    }

    /// Starts listening, or schedules the first connection. Returns the local address of a listener, or the remote
    /// address of a client.
    ///
    /// # Errors
    /// If the address or port cannot be used.
    pub(crate) fn begin(&mut self, now: Instant) -> Result<SocketAddr, HostError> {
        match &self.plan.action {
            HostTask::Listen { port, .. } => {
                let address = SocketAddr::new(self.plan.address(), *port);
                let listened = self.stack.listen(address, BACKLOG);
                self.listener = Some(listened.map_err(|error| HostError::Socket { address, error })?);
                Ok(address)
            }
            HostTask::Connect { remote, start, .. } => {
                self.connects_at = Some(now + BEGIN + *start);
                Ok(*remote)
            }
        }
    }

    /// Processes a packet from the network.
    pub(crate) fn packet_in(&mut self, now: Instant, packet: &[u8]) {
        self.stack.packet_in(now + BEGIN, packet);
    }

    /// Writes the next packet of the host to `packet`. Returns false if there is none.
    pub(crate) fn poll_packet(&mut self, now: Instant, packet: &mut Vec<u8>) -> bool {
        self.stack.poll_packet(now + BEGIN, packet)
    }

    /// Resets connections that exceed the limits. Called several times a second.
    pub(crate) fn enforce_limits(&mut self, now: Instant) {
        self.stack.enforce_limits(now + BEGIN);
    }

    /// Opens a connection. If a sender may put data in its SYN, the SYN is delayed until its first write.
    fn connect(&mut self, now: Instant) -> Result<(), HostError> {
        let HostTask::Connect { remote: address, role, .. } = &self.plan.action else { return Ok(()) };
        let (address, sends, socket) = (*address, matches!(role, Role::Send(_)), self.stack.socket());
        let opened = match self.plan.early {
            true if sends => {
                let put_off = self.stack.set_option(now, socket, &SocketOption::FastOpenConnect(true));
                put_off.and_then(|()| self.stack.connect(now, socket, address))
            }
            true => self.stack.connect_with(now, socket, Some(address), &[], false).map(|_| ()),
            false => self.stack.connect(now, socket, address),
        };
        opened.map_err(|error| HostError::Socket { address, error })?;
        self.opening = Some(socket);
        Ok(())
    }

    /// Handles timers and runs the application of each connection. `report` is called for each event.
    ///
    /// # Errors
    /// If a connection is rejected, a test of iperf3 fails, or a file cannot be read.
    pub(crate) fn drive(&mut self, now: Instant, report: &mut dyn FnMut(Event)) -> Result<(), HostError> {
        let now = now + BEGIN;
        self.stack.handle_timeout(now);
        if self.connects_at.is_some_and(|time| time <= now) {
            self.connects_at = None;
            self.connect(now)?;
        }
        for socket in self.newly_open()? {
            let ends = self.stack.addresses(socket).unwrap_or_default();
            let [local, remote] = [ends.0, ends.1].map(|end| end.map_or_else(String::new, |end| end.to_string()));
            self.employ(now, socket)?;
            report(Event::Opened { local, remote });
        }
        for closed in self.work(now)? {
            self.connections += 1;
            report(Event::Closed(Box::new(closed)));
            if matches!(self.plan.action, HostTask::Connect { connections, .. } if self.connections < connections) {
                self.connect(now)?;
            }
        }
        Ok(())
    }

    /// Runs the applications. Returns the reports of connections that have ended.
    fn work(&mut self, now: Instant) -> Result<Vec<ConnectionReport>, HostError> {
        let mut reports = self.server.drive(now, &mut self.stack, &mut self.chunk)?;
        if let Some(client) = &mut self.client {
            let report = client.drive(now, &mut self.stack, &mut self.chunk)?;
            let wants_stream = client.takes_stream();
            if report.is_some() {
                self.client = None;
            }
            reports.extend(report);
            if wants_stream {
                self.connect(now)?;
            }
        }
        let mut index = 0;
        while let Some(session) = self.sessions.get_mut(index) {
            match session.drive(now, &mut self.stack, &mut self.chunk)? {
                None => index += 1,
                Some(report) => {
                    self.sessions.swap_remove(index);
                    reports.push(report);
                }
            }
        }
        Ok(reports)
    }

    /// Starts the application of a new open connection.
    fn employ(&mut self, now: Instant, socket: SocketId) -> io::Result<()> {
        let (HostTask::Listen { role, .. } | HostTask::Connect { role, .. }) = &self.plan.action;
        match (role, &mut self.client) {
            (Role::Iperf, _) => self.server.accept(socket),
            (Role::Test(test), None) => {
                let seed = self.plan.host.seed.wrapping_add(self.connections);
                self.client = Some(Client::new(now, socket, *test, seed));
            }
            (Role::Test(_), Some(client)) => client.add(now, socket, &mut self.stack)?,
            (role, _) => self.sessions.push(Session::new(now, socket, role, self.plan.pause)?),
        }
        Ok(())
    }

    /// Returns the connections whose handshake has just completed.
    fn newly_open(&mut self) -> Result<Vec<SocketId>, HostError> {
        let mut open = Vec::new();
        while let Some(Ok(socket)) = self.listener.map(|listener| self.stack.accept(listener)) {
            open.push(socket);
        }
        if let Some(socket) = self.opening {
            let ready = self.stack.readiness(socket).unwrap_or_default();
            if ready.error {
                let HostTask::Connect { remote: address, .. } = self.plan.action else { return Ok(open) };
                let error = self.stack.take_error(socket).ok().flatten().unwrap_or(SocketError::TimedOut);
                return Err(HostError::Socket { address, error });
            }
            if ready.writable || ready.readable {
                self.opening = None;
                open.push(socket);
            }
        }
        Ok(open)
    }

    /// Returns the next time when the stack or an application has work to do.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let sessions = self.sessions.iter().filter_map(Session::deadline);
        let client = self.client.as_ref().and_then(Client::deadline);
        let deadlines = self.stack.poll_timeout().into_iter().chain(sessions).chain(client).chain(self.connects_at);
        deadlines.min().map(|time| Instant::ZERO + time.since(Instant::ZERO + BEGIN))
    }

    /// Returns true if the host has finished its task.
    pub(crate) fn is_done(&self) -> bool {
        let is_served = match &self.plan.action {
            HostTask::Listen { connections, .. } => connections.is_some_and(|most| self.connections >= most),
            HostTask::Connect { .. } => self.connects_at.is_none() && self.opening.is_none(),
        };
        is_served && self.sessions.is_empty() && self.server.is_idle() && self.client.is_none()
    }

    /// Returns true if no connection is open or still waits for its last segments to be acknowledged.
    pub(crate) fn is_quiet(&self) -> bool {
        self.stack.active_connections() == 0
    }

    /// Resets all open connections.
    pub(crate) fn reset(&mut self, now: Instant) {
        let now = now + BEGIN;
        for session in std::mem::take(&mut self.sessions) {
            let _ = self.stack.abort(now, session.socket);
        }
        let client = self.client.take();
        let of_client = client.iter().flat_map(Client::sockets);
        for socket in self.server.sockets().into_iter().chain(of_client).chain(self.opening.take()) {
            let _ = self.stack.abort(now, socket);
        }
        if let Some(listener) = self.listener.take() {
            let _ = self.stack.close(now, listener);
        }
    }

    /// Adds the counters of the host to `counters`.
    pub(crate) fn add_to(&self, counters: &mut HostCounters) {
        let Counters { packets_in, packets_out, .. } = *self.stack.counters();
        let Counters { bad_packets, other_protocols, not_for_us, refused_syns, evicted, resets, .. } =
            *self.stack.counters();
        counters.packets_in += packets_in;
        counters.packets_out += packets_out;
        counters.bad_packets += bad_packets;
        counters.other_protocols += other_protocols;
        counters.not_for_us += not_for_us;
        counters.refused_syns += refused_syns;
        counters.evicted += evicted;
        counters.resets += resets;
        counters.connections += self.connections;
    }
}
