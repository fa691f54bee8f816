//! The stack: its sockets, the packets that they send, and their timers.
//!
//! - `arrivals`: handles packets that arrive.
//! - `addresses`: the addresses and ports of the host, and the sockets that use them.
//! - `config`: the configuration of the host, and the resulting TCP configuration of a socket.
//! - `counters`: counters of packets.
//! - `fast_open`: TCP Fast Open at sockets.
//! - `limits`: limits of the state that peers can create on the host.

mod addresses;
mod arrivals;
mod config;
mod counters;
mod fast_open;
mod limits;

pub use config::{HostConfig, SynCookies};
pub use counters::Counters;
pub use limits::Limits;

use crate::cookies::Cookies;
use crate::error::SocketError;
use crate::fast_open::FastOpenCache;
use crate::stream::Stream;
use crate::table::{Socket, SocketId, SocketKind, SocketTable};
use addresses::EPHEMERAL;
use lightlag_core::{Codepoint, Instant, RandomStream};
use lightlag_tcp::State;
use lightlag_wire::{Addresses, IpFields};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;

/// A host without I/O.
pub struct Stack {
    pub(crate) config: HostConfig,
    pub(crate) table: SocketTable,
    /// Connected sockets by local and remote address.
    connections: BTreeMap<(SocketAddr, SocketAddr), SocketId>,
    /// Sockets that listen.
    pub(crate) listeners: Vec<SocketId>,
    /// Sockets that may have data to send.
    ready: VecDeque<SocketId>,
    /// Complete packets that belong to no socket.
    replies: VecDeque<Vec<u8>>,
    timers: BTreeSet<(Instant, SocketId)>,
    counters: Counters,
    held: limits::ConnectionCounts,
    cookies: Cookies,
    pub(crate) fast_open: FastOpenCache,
    next_port: u16,
    identification: u16,
    payload: Vec<u8>,
}

impl Stack {
    /// Creates a host without sockets.
    pub fn new(config: HostConfig) -> Self {
        let span = u64::from(EPHEMERAL.end - EPHEMERAL.start);
        let first = RandomStream::new(config.seed, "ephemeral ports").bits() % span;
        Self {
            cookies: Cookies::new(config.seed),
            fast_open: FastOpenCache::default(),
            config,
            table: SocketTable::default(),
            connections: BTreeMap::new(),
            listeners: Vec::new(),
            ready: VecDeque::new(),
            replies: VecDeque::new(),
            timers: BTreeSet::new(),
            counters: Counters::default(),
            held: limits::ConnectionCounts::default(),
            next_port: EPHEMERAL.start + first as u16,
            identification: 0,
            payload: Vec::new(),
        }
    }

    /// Returns the counters of the packets so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the configuration.
    pub fn config(&self) -> &HostConfig {
        &self.config
    }

    fn ip_fields(&mut self, ecn: Codepoint) -> IpFields {
        self.identification = self.identification.wrapping_add(1);
        IpFields { ecn, ttl: self.config.ttl, identification: self.identification, ..IpFields::default() }
    }

    /// Writes the next packet to `out`; returns false if there is none now. Call it after every event until it returns
    /// false.
    pub fn poll_packet(&mut self, now: Instant, out: &mut Vec<u8>) -> bool {
        if let Some(reply) = self.replies.pop_front() {
            *out = reply;
            self.counters.packets_out += 1;
            return true;
        }
        let mut payload = std::mem::take(&mut self.payload);
        let mut is_ready = false;
        while let Some(id) = self.ready.front().copied() {
            if self.poll_socket(now, id, &mut payload, out) {
                is_ready = true;
                break;
            }
            self.ready.pop_front();
            if let Some(socket) = self.table.get_mut(id) {
                socket.queued = false;
            }
            self.settle(id);
        }
        self.payload = payload;
        is_ready
    }

    fn poll_socket(&mut self, now: Instant, id: SocketId, payload: &mut Vec<u8>, out: &mut Vec<u8>) -> bool {
        let Some(socket) = self.table.get_mut(id) else { return false };
        let (Some(source), Some(destination)) = (socket.local, socket.remote) else { return false };
        let SocketKind::Stream(stream) = &mut socket.kind else { return false };
        let Some((segment, ecn)) = stream.poll(now, payload) else { return false };
        let fields = self.ip_fields(ecn);
        lightlag_wire::encode(out, &Addresses { source, destination }, &fields, &segment, payload);
        self.counters.packets_out += 1;
        true
    }

    /// Returns the number of connections that are not in TIME-WAIT.
    pub fn active_connections(&self) -> usize {
        let busy = |socket: &Socket| match &socket.kind {
            SocketKind::Stream(stream) => !matches!(stream.connection.state(), State::Closed | State::TimeWait),
            _ => false,
        };
        self.table.iter().filter(|(_, socket)| busy(socket)).count()
    }

    /// Returns the time of the next call of [`Self::handle_timeout`], if any.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.timers.first().map(|(time, _)| *time)
    }

    /// Handles the timers that have expired. Call it when the clock reaches [`Self::poll_timeout`].
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some((time, id)) = self.timers.first().copied()
            && time <= now
        {
            self.timers.pop_first();
            if let Some(socket) = self.table.get_mut(id) {
                socket.armed = None;
                if let Some(stream) = socket.stream() {
                    stream.handle_timeout(now);
                }
                self.note_silence(now, id);
                self.enqueue(id);
            }
        }
    }

    /// Queues a socket that may have data to send, and updates its listener and its error immediately.
    pub(crate) fn enqueue(&mut self, id: SocketId) {
        if let Some(socket) = self.table.get_mut(id)
            && !socket.queued
        {
            socket.queued = true;
            self.ready.push_back(id);
        }
        self.note_state(id);
    }

    /// Updates the listener and the pending error of a socket after the state of its connection changed.
    fn note_state(&mut self, id: SocketId) {
        let Some(socket) = self.table.get_mut(id) else { return };
        let Some(state) = socket.stream().map(|stream| stream.connection.state()) else { return };
        let opening = matches!(state, State::SynReceived | State::SynSent);
        if let Some(parent) = socket.parent.filter(|_| !opening) {
            socket.parent = None;
            let alive = !matches!(state, State::Closed | State::Listen);
            socket.orphan = !alive;
            if let Some(listener) = self.table.get_mut(parent).and_then(Socket::listener) {
                listener.opening -= 1;
                if alive {
                    listener.waiting.push_back(id);
                    listener.arrivals += 1;
                }
            }
        }
        let Some(socket) = self.table.get_mut(id) else { return };
        if matches!(state, State::Closed) && !socket.ended {
            socket.ended = true;
            let failure = socket.stream().and_then(|stream| stream.connection.failure());
            let failure = failure.map(SocketError::from);
            let told = if failure == Some(SocketError::TimedOut) { socket.soft_error.or(failure) } else { failure };
            socket.error = socket.error.or(told);
        }
    }

    /// Called when the socket has no packet to send: sets the timer, or removes a dead socket.
    fn settle(&mut self, id: SocketId) {
        self.note_state(id);
        let Some(socket) = self.table.get_mut(id) else { return };
        let orphan = socket.orphan;
        let Some(stream) = socket.stream() else { return };
        let state = stream.connection.state();
        let deadline = stream.poll_timeout();
        if matches!(state, State::Closed | State::Listen) {
            self.leave_early(id);
            self.disconnect(id);
            if orphan {
                self.forget(id);
                return;
            }
        }
        if matches!(state, State::TimeWait) && orphan && !self.may_wait(id) {
            self.forget(id);
            return;
        }
        self.arm(id, deadline);
    }

    fn arm(&mut self, id: SocketId, deadline: Option<Instant>) {
        let Some(socket) = self.table.get_mut(id) else { return };
        if socket.armed != deadline {
            if let Some(old) = socket.armed {
                self.timers.remove(&(old, id));
            }
            socket.armed = deadline;
            if let Some(deadline) = deadline {
                self.timers.insert((deadline, id));
            }
        }
    }

    /// Removes the socket.
    pub(crate) fn forget(&mut self, id: SocketId) {
        self.arm(id, None);
        self.disconnect(id);
        let Some(removed) = self.table.remove(id) else { return };
        self.note_removed(removed.opened_by_peer, removed.in_time_wait);
        if matches!(removed.kind, SocketKind::Listener(_)) {
            self.listeners.retain(|listener| *listener != id);
        }
    }

    pub(crate) fn stream_mut(&mut self, id: SocketId) -> Option<&mut Stream> {
        self.table.get_mut(id)?.stream()
    }
}
