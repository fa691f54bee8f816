//! A simulated host: its stack, and the application of each of its connections.

use super::iperf::{Client, Server};
use super::session::{CHUNK, Session};
use super::{Action, Control, Event, HostPlan, Role, ServeError, Summary};
use lightlag_core::Instant;
use lightlag_host::{Counters, SocketError, SocketId, SocketOption, Stack};
use std::io;
use std::net::{IpAddr, SocketAddr};

/// Connections that may wait to be accepted. They are accepted at once.
const BACKLOG: usize = 128;

/// A running host.
pub(super) struct Host {
    plan: HostPlan,
    pub(super) stack: Stack,
    listener: Option<SocketId>,
    /// The connection in its handshake.
    opening: Option<SocketId>,
    sessions: Vec<Session>,
    server: Server,
    client: Option<Client>,
    connections: u64,
    /// Bytes that an application has just read.
    chunk: Vec<u8>,
}

impl Host {
    /// The host of a plan.
    ///
    /// # Errors
    /// If a file to be sent cannot be opened.
    pub(super) fn new(plan: &HostPlan) -> io::Result<Self> {
        if let Action::Listen { role: Role::Send(source), .. } | Action::Connect { role: Role::Send(source), .. } =
            &plan.action
        {
            source.open()?;
        }
        Ok(Self {
            plan: plan.clone(),
            stack: Stack::new(plan.host.clone()),
            listener: None,
            opening: None,
            sessions: Vec::new(),
            server: Server::default(),
            client: None,
            connections: 0,
            chunk: vec![0; CHUNK],
        })
    }

    /// Starts to listen or to connect. Returns the address at which it listens, or to which it connects.
    ///
    /// # Errors
    /// If the address or port cannot be used.
    pub(super) fn begin(&mut self, now: Instant) -> Result<SocketAddr, ServeError> {
        match &self.plan.action {
            Action::Listen { port, .. } => {
                let ip = self.plan.host.addresses.first().copied().unwrap_or(IpAddr::from([0, 0, 0, 0]));
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
        let Action::Connect { remote: address, role, .. } = &self.plan.action else { return Ok(()) };
        let (address, sends, socket) = (*address, matches!(role, Role::Send(_)), self.stack.socket());
        let opened = match self.plan.early {
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

    /// Lets the application of each connection do its work.
    ///
    /// # Errors
    /// If a connection is refused, a test of iperf3 fails, or a file cannot be read.
    pub(super) fn drive(
        &mut self,
        now: Instant,
        watch: &mut dyn FnMut(&Event) -> Control,
    ) -> Result<Control, ServeError> {
        for socket in self.newly_open()? {
            let ends = self.stack.addresses(socket).unwrap_or_default();
            let [local, remote] = [ends.0, ends.1].map(|end| end.map_or_else(String::new, |end| end.to_string()));
            self.employ(now, socket)?;
            if watch(&Event::Opened { local, remote }) == Control::Stop {
                return Ok(Control::Stop);
            }
        }
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
            if matches!(self.plan.action, Action::Connect { connections, .. } if self.connections < connections) {
                self.connect(now)?;
            }
        }
        Ok(Control::Continue)
    }

    /// Starts the application of an open connection.
    fn employ(&mut self, now: Instant, socket: SocketId) -> io::Result<()> {
        let (Action::Listen { role, .. } | Action::Connect { role, .. }) = &self.plan.action;
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

    /// Connections whose handshake is over.
    fn newly_open(&mut self) -> Result<Vec<SocketId>, ServeError> {
        let mut open = Vec::new();
        while let Some(Ok(socket)) = self.listener.map(|listener| self.stack.accept(listener)) {
            open.push(socket);
        }
        if let Some(socket) = self.opening {
            let ready = self.stack.readiness(socket).unwrap_or_default();
            if ready.error {
                let Action::Connect { remote: address, .. } = self.plan.action else { return Ok(open) };
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

    /// The next time at which the stack or an application has something to do.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let sessions = self.sessions.iter().filter_map(Session::deadline);
        let client = self.client.as_ref().and_then(Client::deadline);
        self.stack.poll_timeout().into_iter().chain(sessions).chain(client).min()
    }

    /// Returns true if the task is done.
    pub(super) fn is_done(&self) -> bool {
        let enough = match &self.plan.action {
            Action::Listen { connections, .. } => connections.is_some_and(|most| self.connections >= most),
            Action::Connect { .. } => self.opening.is_none(),
        };
        enough && self.sessions.is_empty() && self.server.is_idle() && self.client.is_none()
    }

    /// Resets all open connections.
    pub(super) fn reset(&mut self, now: Instant) {
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

    /// Adds its counters.
    pub(super) fn add_to(&self, summary: &mut Summary) {
        let Counters { packets_in, packets_out, .. } = *self.stack.counters();
        let Counters { bad_packets, other_protocols, not_for_us, refused_syns, evicted, resets, .. } =
            *self.stack.counters();
        summary.packets_in += packets_in;
        summary.packets_out += packets_out;
        summary.bad_packets += bad_packets;
        summary.other_protocols += other_protocols;
        summary.not_for_us += not_for_us;
        summary.refused_syns += refused_syns;
        summary.evicted += evicted;
        summary.resets += resets;
        summary.connections += self.connections;
    }
}
