//! TCP Fast Open at the sockets of a host: the first SYN of a client, and the connections of a listener that wait for
//! their client's ACK.

use super::Stack;
use crate::fast_open::{FastOpen, FirstSyn, Keys, cookie};
use crate::options::Settings;
use crate::table::{Kind, Socket, SocketId};
use lightlag_core::{Duration, Instant, RandomStream};
use lightlag_tcp::Failure;
use lightlag_tcp::fast_open::{Jar, Rules};
use lightlag_tcp::{Connection, Segment, State};
use lightlag_wire::Addresses;
use std::net::IpAddr;

/// The time for which a reset connection counts as waiting (`tcp_fastopen_queue_check`).
const RESET_COUNTS: Duration = Duration::from_secs(60);

impl Stack {
    /// The keys of a listener.
    fn keys(&self, settings: &Settings) -> Keys {
        settings.fast_open_keys.or(self.config.fast_open.keys).unwrap_or_else(|| {
            let mut secret = RandomStream::new(self.config.seed, "fast open key");
            Keys { primary: [secret.bits(), secret.bits()], backup: None }
        })
    }

    /// Forgets everything learned about servers.
    pub fn forget_servers(&mut self) {
        self.fast_open.servers.clear();
    }

    /// Sets the use of fast open from now on.
    pub fn set_fast_open(&mut self, fast_open: FastOpen) {
        self.config.fast_open = fast_open;
    }

    /// The default number of connections that may have early data on a listener with this backlog (`inet_listen`).
    pub(crate) fn usual_fast_open(&self, backlog: usize) -> usize {
        let all = self.config.fast_open.server && self.config.fast_open.all_listeners;
        if all { backlog } else { 0 }
    }

    /// The first SYN of a client with these settings between these `ends`, the local and the server's. `None`: a plain
    /// SYN, because data was swallowed lately.
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
        let rules = Rules { without_cookie, without_data: true, ..Rules::default() };
        let early = jar.early(&rules, waiting as u64, self.tcp_config(settings, ends.0).mss);
        Some(FirstSyn { jar, rules, early })
    }

    /// Prepares a listener's connection for the options of a SYN.
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
        let rules = Rules { without_cookie, without_data: true, retired, ..Rules::default() };
        connection.open_fast_by(Jar::new(given), rules);
    }

    /// Notes an event at a connection whose SYN brought data: its client may have been heard, or it may have ended.
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

    /// Notes that a connection ended by itself.
    pub(crate) fn leave_early(&mut self, id: SocketId) {
        let Some(listener) = self.table.get_mut(id).and_then(|socket| socket.fast_parent.take()) else { return };
        if let Some(queue) = self.table.get_mut(listener).and_then(Socket::listener) {
            queue.fast.waiting -= 1;
        }
    }

    /// Notes that a connection of the listener has data before its client's ACK.
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

    /// Whether the connection has data, but neither its client's ACK nor an application that accepted it.
    pub(crate) fn waits_unconfirmed(&self, id: SocketId) -> bool {
        let Some(listener) = self.table.get(id).and_then(|socket| socket.fast_parent) else { return false };
        match self.table.get(listener).map(|socket| &socket.kind) {
            Some(Kind::Listener(queue)) => queue.waiting.contains(&id),
            _ => false,
        }
    }

    /// Notes a timeout. Too many in a row at a connection that was opened fast make the host pause
    /// (`tcp_fastopen_active_detect_blackhole`).
    pub(crate) fn note_silence(&mut self, now: Instant, id: SocketId) {
        let Some(stream) = self.stream_mut(id) else { return };
        let swallowed = stream.connection.fast_open_outcome().swallowed;
        if swallowed && !std::mem::replace(&mut stream.blamed, true) {
            let times = self.fast_open.swallowed.map_or(0, |(_, times)| times);
            self.fast_open.swallowed = Some((now, times.saturating_add(1)));
        }
    }

    /// Notes the arrival of a segment. A SYN-ACK may bring a cookie, and one that acknowledges data of the SYN shows
    /// that the path lets such data through.
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
