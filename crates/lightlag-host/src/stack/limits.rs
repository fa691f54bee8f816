//! Limits of the state that peers can create on a host: connections, TIME-WAIT, memory, and connections without
//! progress.
//!
//! A full host drops a SYN, as Linux does if the accept queue is full. It then resets the connection that has made no
//! progress for longest, if that is at least the configured time, so that idle connections do not block new ones. Only
//! connections that peers opened count.

use super::Stack;
use crate::error::SocketError;
use crate::table::{SocketId, SocketKind};
use lightlag_core::{Bytes, Duration, Instant};
use lightlag_tcp::State;

/// Limits for the connections that peers open at a host. By default there are none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Maximum number of connections, excluding those in TIME-WAIT.
    pub connections: usize,
    /// Maximum number of connections in TIME-WAIT; further ones end immediately (`tcp_max_tw_buckets` of Linux).
    pub time_wait: usize,
    /// Maximum total size of the buffers of all connections, excluding those in TIME-WAIT. If it is exceeded,
    /// connections are reset, starting with the one that has made no progress for longest.
    pub memory: Bytes,
    /// Maximum time without progress while the peer's window is closed and data waits; four round-trip times are added.
    pub closed_window: Duration,
    /// Time without progress before a connection of a full host may be reset for a new one.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: usize::MAX,
            time_wait: usize::MAX,
            memory: Bytes(u64::MAX),
            closed_window: Duration::MAX,
            idle: Duration::MAX,
        }
    }
}

/// Counts that are compared with the limits.
#[derive(Debug, Default)]
pub(super) struct ConnectionCounts {
    /// Number of sockets that peers opened.
    opened: usize,
    /// Number of sockets in TIME-WAIT.
    time_wait: usize,
    /// Number of SYNs that a full host dropped since the limits were last enforced.
    refused: usize,
}

/// A connection that may have to be reset.
struct Candidate {
    id: SocketId,
    since: Instant,
    memory: u64,
}

impl Stack {
    /// Counts a new connection that a peer opened.
    pub(super) fn note_opened_by_peer(&mut self) {
        self.held.opened += 1;
    }

    /// Removes a socket from the counts.
    pub(super) fn note_removed(&mut self, by_peer: bool, in_time_wait: bool) {
        self.held.opened -= usize::from(by_peer);
        self.held.time_wait -= usize::from(in_time_wait);
    }

    /// Returns true if the host may hold no further connection, and then counts the SYN as dropped.
    pub(super) fn refuses_more(&mut self) -> bool {
        let full = self.held.opened.saturating_sub(self.held.time_wait) >= self.config.limits.connections;
        if full {
            self.counters.refused_syns += 1;
            self.held.refused += 1;
        }
        full
    }

    /// Returns true if a closed connection may stay in TIME-WAIT.
    pub(super) fn may_wait(&mut self, id: SocketId) -> bool {
        let Some(socket) = self.table.get_mut(id) else { return false };
        if socket.in_time_wait {
            return true;
        }
        if self.held.time_wait >= self.config.limits.time_wait {
            return false;
        }
        socket.in_time_wait = socket.opened_by_peer;
        self.held.time_wait += usize::from(socket.in_time_wait);
        if let Some(stream) = socket.stream() {
            stream.release_memory();
        }
        true
    }

    /// Returns the number of connections in TIME-WAIT that peers opened.
    pub fn connections_in_time_wait(&self) -> usize {
        self.held.time_wait
    }

    /// Returns the time of a connection's last progress, which is when bytes were last acknowledged or received in
    /// order.
    pub fn progress_at(&self, id: SocketId) -> Option<Instant> {
        match &self.table.get(id)?.kind {
            SocketKind::Stream(stream) => Some(stream.progress_at()),
            _ => None,
        }
    }

    /// Resets connections that exceed the limits. Call it several times per second.
    pub fn enforce_limits(&mut self, now: Instant) {
        let limits = self.config.limits;
        let mut refused = std::mem::take(&mut self.held.refused);
        let (stalled, mut others) = self.candidates(now);
        for id in stalled {
            self.evict(id, SocketError::Stalled);
        }
        let mut memory: u64 = others.iter().map(|one| one.memory).sum();
        if memory > limits.memory.0 {
            self.release_memory(&mut others);
            memory = others.iter().map(|one| one.memory).sum();
        }
        if refused == 0 && memory <= limits.memory.0 {
            return;
        }
        others.sort_by_key(|one| (one.since, one.id));
        for one in others {
            let gives_way = refused > 0 && now.since(one.since) >= limits.idle;
            if gives_way || memory > limits.memory.0 && one.memory > 0 {
                refused = refused.saturating_sub(1);
                memory -= one.memory;
                self.evict(one.id, SocketError::Evicted);
            }
        }
    }

    /// Frees buffers that are empty.
    fn release_memory(&mut self, connections: &mut [Candidate]) {
        for one in connections {
            if let Some(stream) = self.stream_mut(one.id) {
                stream.release_memory();
                one.memory = stream.memory();
            }
        }
    }

    /// Returns the connections opened by peers: those whose window has been closed for too long, and the others.
    fn candidates(&self, now: Instant) -> (Vec<SocketId>, Vec<Candidate>) {
        let (mut stalled, mut others) = (Vec::new(), Vec::new());
        for (id, socket) in self.table.iter().filter(|(_, socket)| socket.opened_by_peer) {
            let SocketKind::Stream(stream) = &socket.kind else { continue };
            if matches!(stream.connection.state(), State::Closed | State::SynReceived | State::TimeWait) {
                continue;
            }
            let state = stream.connection.snapshot();
            let waits = state.peer_window == 0 && stream.unacknowledged() > 0;
            let allowed = self.config.limits.closed_window + state.srtt * 4;
            if waits && now.since(stream.progress_at()) >= allowed {
                stalled.push(id);
            } else {
                others.push(Candidate { id, since: stream.progress_at(), memory: stream.memory() });
            }
        }
        (stalled, others)
    }

    /// Resets a connection, and reports this reason to its application.
    fn evict(&mut self, id: SocketId, reason: SocketError) {
        let Some(socket) = self.table.get_mut(id) else { return };
        socket.error = Some(reason);
        if let Some(stream) = socket.stream() {
            stream.connection.abort();
        }
        self.counters.evicted += 1;
        self.enqueue(id);
    }
}
