//! TCP Fast Open at the sockets of a host: the first SYN of a client, and the connections of a listener that wait for
//! their client's ACK.

use super::Stack;
use crate::fast_open::{FastOpen, FirstSyn, Keys, cookie};
use crate::options::Settings;
use crate::table::{Socket, SocketId, SocketKind};
use lightlag_core::{Duration, Instant, RandomStream};
use lightlag_tcp::Failure;
use lightlag_tcp::fast_open::{CookieCache, FastOpenRules};
use lightlag_tcp::{Connection, Segment, State};
use lightlag_wire::Addresses;
use std::net::IpAddr;

/// Time for which a connection that was reset counts as waiting (`tcp_fastopen_queue_check`).
const RESET_COUNTS: Duration = Duration::from_secs(60);

impl Stack {
    /// Returns the cookie keys of a listener.
    fn keys(&self, settings: &Settings) -> Keys {
        settings.fast_open_keys.or(self.config.fast_open.keys).unwrap_or_else(|| {
            let mut secret = RandomStream::new(self.config.seed, "fast open key");
            Keys { primary: [secret.bits(), secret.bits()], backup: None }
        })
    }

    /// Discards the cached cookies and all other information about servers.
    pub fn forget_servers(&mut self) {
        self.fast_open.servers.clear();
    }

    /// Sets the settings of TCP Fast Open for later connections.
    pub fn set_fast_open(&mut self, fast_open: FastOpen) {
        self.config.fast_open = fast_open;
    }

    /// Returns the default limit of connections with early data on a listener with this backlog (`inet_listen`).
    pub(crate) fn usual_fast_open(&self, backlog: usize) -> usize {
        let all = self.config.fast_open.server && self.config.fast_open.all_listeners;
        if all { backlog } else { 0 }
    }

    /// Returns the first SYN of a client with these settings. `ends` are the local address and the server's. `None`:
    /// the SYN must be a plain one, because the path recently dropped a SYN with data.
    pub(crate) fn early(
        &mut self,
        now: Instant,
        settings: &Settings,
        ends: (IpAddr, IpAddr),
        waiting: usize,
    ) -> Option<FirstSyn> {
        if self.fast_open.rests(now, self.config.fast_open.rest) {
            return None;
        }
        let jar = self.fast_open.of(ends.0, ends.1);
        let without_cookie = self.config.fast_open.client_without_cookie || settings.fast_open_no_cookie;
        let rules = FastOpenRules { without_cookie, without_data: true, ..FastOpenRules::default() };
        let early = jar.early(&rules, waiting as u64, self.tcp_config(settings, ends.0).mss);
        Some(FirstSyn { jar, rules, early })
    }

    /// Enables fast open on a connection of a listener, if the SYN carries data or the fast-open option, and the limit
    /// of the listener allows it.
    pub(crate) fn prepare_early(
        &mut self,
        now: Instant,
        listener: SocketId,
        addresses: &Addresses,
        syn: &Segment,
        connection: &mut Connection,
    ) {
        if !self.config.fast_open.server || syn.len == 0 && syn.cookie().is_none() {
            return;
        }
        let Some(socket) = self.table.get_mut(listener) else { return };
        let settings = socket.settings.clone();
        let Some(queue) = socket.listener() else { return };
        queue.fast.reset.retain(|until| now < *until);
        let most = settings.fast_open.unwrap_or(queue.fast_open);
        if queue.fast.waiting + queue.fast.reset.len() >= most {
            return;
        }
        let keys = self.keys(&settings);
        let (client, server) = (addresses.source.ip(), addresses.destination.ip());
        let Some(given) = cookie(keys.primary, client, server) else { return };
        let without_cookie = self.config.fast_open.server_without_cookie || settings.fast_open_no_cookie;
        let retired = keys.backup.and_then(|key| cookie(key, client, server));
        let rules = FastOpenRules { without_cookie, without_data: true, retired, ..FastOpenRules::default() };
        connection.open_fast_by(CookieCache::new(given), rules);
    }

    /// Handles an event of a connection whose SYN carried data: a segment of its client arrived, or the connection
    /// ended. Once the client is confirmed or the connection has ended, it no longer counts as waiting for the ACK.
    pub(crate) fn note_confirmation(&mut self, now: Instant, id: SocketId) {
        let Some(socket) = self.table.get_mut(id) else { return };
        let Some(listener) = socket.fast_parent else { return };
        let Some(connection) = socket.stream().map(|stream| &stream.connection) else { return };
        let closed = connection.state() == State::Closed;
        if connection.is_unconfirmed() && !closed {
            return;
        }
        let reset = closed && connection.failure() == Some(Failure::Reset);
        socket.fast_parent = None;
        if let Some(queue) = self.table.get_mut(listener).and_then(Socket::listener) {
            queue.fast.waiting -= 1;
            if reset {
                queue.fast.reset.push(now + RESET_COUNTS);
            }
        }
    }

    /// Records that a connection ended locally, so that it no longer counts as waiting for its client's ACK.
    pub(crate) fn leave_early(&mut self, id: SocketId) {
        let Some(listener) = self.table.get_mut(id).and_then(|socket| socket.fast_parent.take()) else { return };
        if let Some(queue) = self.table.get_mut(listener).and_then(Socket::listener) {
            queue.fast.waiting -= 1;
        }
    }

    /// Records that a connection of the listener has received data before its client's ACK, and waits for it.
    pub(crate) fn note_early(&mut self, listener: SocketId, id: SocketId) {
        let unconfirmed = self.stream_mut(id).is_some_and(|stream| stream.connection.is_unconfirmed());
        if !unconfirmed {
            return;
        }
        if let Some(queue) = self.table.get_mut(listener).and_then(Socket::listener) {
            queue.fast.waiting += 1;
        }
        if let Some(socket) = self.table.get_mut(id) {
            socket.fast_parent = Some(listener);
        }
    }

    /// Returns true if the connection has early data, still waits for its client's ACK, and was not accepted by the
    /// application.
    pub(crate) fn waits_unconfirmed(&self, id: SocketId) -> bool {
        let Some(listener) = self.table.get(id).and_then(|socket| socket.fast_parent) else { return false };
        match self.table.get(listener).map(|socket| &socket.kind) {
            Some(SocketKind::Listener(queue)) => queue.waiting.contains(&id),
            _ => false,
        }
    }

    /// Handles a timeout. If too many occur in a row on a connection that was opened fast, the host pauses fast open
    /// (`tcp_fastopen_active_detect_blackhole`).
    pub(crate) fn note_silence(&mut self, now: Instant, id: SocketId) {
        let Some(stream) = self.stream_mut(id) else { return };
        let swallowed = stream.connection.fast_open_outcome().swallowed;
        if swallowed && !std::mem::replace(&mut stream.blamed, true) {
            let times = self.fast_open.swallowed.map_or(0, |(_, times)| times);
            self.fast_open.swallowed = Some((now, times.saturating_add(1)));
        }
    }

    /// Handles a segment that arrives. A SYN-ACK may carry a cookie, which is cached. One that acknowledges data of the
    /// SYN shows that the path forwards such SYNs, and ends the pauses.
    pub(crate) fn note_success(&mut self, id: SocketId, ends: (IpAddr, IpAddr)) {
        let lesson = self.stream_mut(id).and_then(|stream| stream.connection.take_lesson());
        if let (Some(lesson), Some(jar)) = (lesson, self.fast_open.servers.get_mut(&ends)) {
            jar.take(lesson);
        }
        if self.fast_open.swallowed.is_none() {
            return;
        }
        let outcome = self.stream_mut(id).map(|stream| stream.connection.fast_open_outcome());
        if outcome.is_some_and(|outcome| outcome.sent > 0 && outcome.taken) {
            self.fast_open.swallowed = None;
        }
    }
}
