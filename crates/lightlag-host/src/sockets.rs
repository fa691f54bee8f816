//! The calls of the socket interface.

use crate::error::SocketError;
use crate::fast_open::FirstSyn;
use crate::info::TcpInfo;
use crate::options::{Settings, SocketOption};
use crate::stack::Stack;
use crate::stream::{Stream, Traffic, Writing};
use crate::table::{Listener, Socket, SocketId, SocketKind};
use lightlag_core::{Bytes, Duration, Instant};
use lightlag_tcp::{Connection, State, Statistics};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// The directions in which a connection is shut down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shutdown {
    /// Reading ends. Arriving data is still acknowledged, but reading returns the end of the stream once the received
    /// data has been read.
    Read,
    /// Writing ends: a FIN follows the data.
    Write,
    /// Reading and writing end.
    Both,
}

/// The operations for which a socket is ready (poll(2)).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Readiness {
    /// Reading returns data, the end of the stream or an error; accepting returns a connection.
    pub readable: bool,
    /// Writing is possible, because a third of the send buffer is free and less than half of the unsent limit is used,
    /// or writing returns an error.
    pub writable: bool,
    /// The peer closed its direction (POLLRDHUP).
    pub peer_closed: bool,
    /// Both directions are closed (POLLHUP).
    pub hung_up: bool,
    /// An error is pending (POLLERR).
    pub error: bool,
    /// Number of arrivals and state changes. Each one notifies a reader; EPOLLET reports each one once.
    pub arrivals: u64,
    /// Number of times that space was released for a waiting writer, plus the number of state changes. Each one
    /// notifies a writer.
    pub releases: u64,
}

impl Stack {
    /// Creates a socket.
    pub fn socket(&mut self) -> SocketId {
        let settings = Settings {
            no_delay: false,
            congestion: self.config.tcp.congestion.clone(),
            max_segment: None,
            receive_buffer: None,
            send_buffer: None,
            not_sent_limit: Bytes::default(),
            user_timeout: Duration::ZERO,
            linger: None,
            fin_wait: None,
            defer_accept: 0,
            keep_alive: self.config.tcp.keep_alive.is_some(),
            keep_alive_timing: self.config.tcp.keep_alive.unwrap_or(self.config.keep_alive_timing),
            cork: false,
            quick_ack: self.config.tcp.delayed_ack.is_some_and(|delayed| delayed.quick > 0),
            syn_count: None,
            fast_open: None,
            fast_open_keys: None,
            fast_open_connect: false,
            fast_open_no_cookie: false,
        };
        self.table.insert(Socket::new(SocketKind::Fresh, settings))
    }

    /// Binds the socket to a local address: one of the host's addresses or the unspecified address. Port 0 selects a
    /// free port.
    pub fn bind(&mut self, id: SocketId, address: SocketAddr) -> Result<(), SocketError> {
        let socket = self.get(id)?;
        if !matches!(socket.kind, SocketKind::Fresh) || socket.local.is_some() {
            return Err(SocketError::Invalid);
        }
        if !address.ip().is_unspecified() && !self.config.addresses.contains(&address.ip()) {
            return Err(SocketError::AddressNotAvailable);
        }
        let port = match address.port() {
            0 => self.ephemeral_port(address.ip(), address).ok_or(SocketError::AddressInUse)?,
            port => port,
        };
        let address = SocketAddr::new(address.ip(), port);
        if self.is_taken(address) {
            return Err(SocketError::AddressInUse);
        }
        self.get_mut(id)?.local = Some(address);
        Ok(())
    }

    /// Makes a bound socket listen. As on Linux, up to `backlog` + 1 connections may wait to be accepted. The same
    /// number may be half open before the listener uses cookies.
    pub fn listen_on(&mut self, id: SocketId, backlog: usize) -> Result<(), SocketError> {
        let fast_open = self.usual_fast_open(backlog);
        let socket = self.get_mut(id)?;
        match &mut socket.kind {
            SocketKind::Listener(listener) => listener.backlog = backlog,
            SocketKind::Fresh if socket.local.is_some() && socket.deferred.is_none() => {
                socket.kind = SocketKind::Listener(Listener { backlog, fast_open, ..Listener::default() });
                self.listeners.push(id);
            }
            _ => return Err(SocketError::Invalid),
        }
        Ok(())
    }

    /// Creates a socket that listens at this address.
    pub fn listen(&mut self, address: SocketAddr, backlog: usize) -> Result<SocketId, SocketError> {
        let id = self.socket();
        let done = self.bind(id, address).and_then(|()| self.listen_on(id, backlog));
        if let Err(error) = done {
            self.forget(id);
            return Err(error);
        }
        Ok(id)
    }

    /// Accepts an established connection from a listener.
    pub fn accept(&mut self, id: SocketId) -> Result<SocketId, SocketError> {
        let listener = self.get_mut(id)?.listener().ok_or(SocketError::Invalid)?;
        listener.waiting.pop_front().ok_or(SocketError::WouldBlock)
    }

    /// Starts to open a connection: the SYN is the next packet. The connection is open once [`Self::state`] is
    /// `Established` and the socket is writable. With TCP_FASTOPEN_CONNECT the first write sends the SYN, if the SYN
    /// can carry data.
    pub fn connect(&mut self, now: Instant, id: SocketId, remote: SocketAddr) -> Result<(), SocketError> {
        let ends = self.ends_towards(id, remote)?;
        let socket = self.get_mut(id)?;
        let settings = socket.settings.clone();
        let first = match settings.fast_open_connect {
            true => self.early(now, &settings, (ends.0.ip(), ends.1.ip()), 0),
            false => None,
        };
        if !self.register(ends.0, ends.1, id) {
            return Err(SocketError::AddressInUse);
        }
        if first.as_ref().is_some_and(|first| !first.asks()) {
            let socket = self.get_mut(id)?;
            (socket.local, socket.remote, socket.deferred) = (Some(ends.0), Some(ends.1), Some(ends.1));
            return Ok(());
        }
        self.open(now, id, ends, first.as_ref(), &[])
    }

    /// Opens a connection, with as much of `data` in the SYN as the peer is known to accept (MSG_FASTOPEN). Returns the
    /// number of bytes in the SYN. `remote` may be omitted if [`Self::connect`] deferred the SYN. `waits`: the caller
    /// writes the rest as soon as the connection is open.
    pub fn connect_with(
        &mut self,
        now: Instant,
        id: SocketId,
        remote: Option<SocketAddr>,
        data: &[u8],
        waits: bool,
    ) -> Result<usize, SocketError> {
        if !self.config.fast_open.client {
            return Err(SocketError::NotSupported);
        }
        let socket = self.get_mut(id)?;
        let ends = match (socket.local, socket.deferred) {
            (Some(local), Some(remote)) => (local, remote),
            _ => self.ends_towards(id, remote.ok_or(SocketError::NotConnected)?)?,
        };
        let settings = self.get(id)?.settings.clone();
        let mut first = self.early(now, &settings, (ends.0.ip(), ends.1.ip()), data.len());
        let len = first.as_ref().map_or(0, |first| first.early.len as usize);
        if let Some(first) = &mut first {
            first.rules.writer_waits = waits && len < data.len();
        }
        if self.get_mut(id)?.deferred.take().is_none() && !self.register(ends.0, ends.1, id) {
            return Err(SocketError::AddressInUse);
        }
        self.open(now, id, ends, first.as_ref(), &data[..len])?;
        Ok(len)
    }

    /// Dissolves the connection, so that the socket can connect again (`connect(2)` with AF_UNSPEC). The peer receives
    /// a reset.
    pub fn dissolve(&mut self, id: SocketId) -> Result<(), SocketError> {
        let socket = self.get_mut(id)?;
        match &mut socket.kind {
            SocketKind::Fresh => socket.deferred = None,
            SocketKind::Listener(_) => return Err(SocketError::NotSupported),
            SocketKind::Stream(stream) => {
                stream.connection.abort();
                socket.dissolved = true;
            }
        }
        self.enqueue(id);
        Ok(())
    }

    /// Returns true if the socket opens its connection with the first write.
    pub fn is_deferred(&self, id: SocketId) -> bool {
        self.table.get(id).is_some_and(|socket| socket.deferred.is_some())
    }

    /// Returns the local and remote address of the connection that the socket is to open.
    fn ends_towards(&mut self, id: SocketId, remote: SocketAddr) -> Result<(SocketAddr, SocketAddr), SocketError> {
        let socket = self.get_mut(id)?;
        match &mut socket.kind {
            SocketKind::Fresh if socket.deferred.is_some() => return Err(SocketError::AlreadyConnected),
            SocketKind::Fresh => {}
            SocketKind::Listener(_) => return Err(SocketError::NotSupported),
            SocketKind::Stream(_) if socket.dissolved => {}
            SocketKind::Stream(stream) => {
                return Err(match stream.connection.state() {
                    State::SynSent | State::SynReceived => SocketError::InProgress,
                    _ => SocketError::AlreadyConnected,
                });
            }
        }
        // An accepted socket was never bound itself.
        let bound = socket.local.filter(|_| !(socket.dissolved && socket.opened_by_peer));
        Ok((self.local_towards(bound, remote)?, remote))
    }

    /// Opens a connection between these addresses, which must be registered.
    fn open(
        &mut self,
        now: Instant,
        id: SocketId,
        (local, remote): (SocketAddr, SocketAddr),
        first: Option<&FirstSyn>,
        data: &[u8],
    ) -> Result<(), SocketError> {
        let settings = self.get(id)?.settings.clone();
        let initial = self.initial_number(now, local, remote);
        let mut config = self.tcp_config(&settings, local.ip());
        if let Some(ecn) = self.config.connecting_ecn {
            Arc::make_mut(&mut config).ecn = ecn;
        }
        let mut connection = Connection::client(config, initial);
        if let Some(FirstSyn { jar, rules, .. }) = first {
            connection.open_fast_by(*jar, *rules);
        }
        connection.open(now);
        let mut stream = self.stream(connection, &settings);
        if !data.is_empty() {
            stream.write_early(now, data);
        }
        let socket = self.get_mut(id)?;
        socket.kind = SocketKind::Stream(Box::new(stream));
        (socket.local, socket.remote) = (Some(local), Some(remote));
        (socket.error, socket.ended, socket.dissolved) = (None, false, false);
        (socket.read_shut, socket.write_shut) = (false, false);
        self.enqueue(id);
        Ok(())
    }

    /// Returns the local address for a connection to `remote`.
    fn local_towards(&mut self, bound: Option<SocketAddr>, remote: SocketAddr) -> Result<SocketAddr, SocketError> {
        if remote.port() == 0 || remote.ip().is_unspecified() || remote.ip().is_multicast() {
            return Err(SocketError::Invalid);
        }
        if self.config.addresses.contains(&remote.ip()) {
            // A packet that leaves loopback never comes back.
            return Err(SocketError::NetworkUnreachable);
        }
        let same_family = |address: &IpAddr| address.is_ipv4() == remote.is_ipv4();
        let ip = match bound {
            Some(bound) if !same_family(&bound.ip()) => return Err(SocketError::AddressNotAvailable),
            Some(bound) if !bound.ip().is_unspecified() => bound.ip(),
            _ => {
                let mut addresses = self.config.addresses.iter().copied();
                addresses.find(same_family).ok_or(SocketError::NetworkUnreachable)?
            }
        };
        let port = match bound {
            Some(bound) => bound.port(),
            None => self.ephemeral_port(ip, remote).ok_or(SocketError::AddressInUse)?,
        };
        Ok(SocketAddr::new(ip, port))
    }

    /// Writes as much of `data` as the send buffer accepts, and returns that number of bytes.
    pub fn write(&mut self, now: Instant, id: SocketId, data: &[u8]) -> Result<usize, SocketError> {
        self.write_with(now, id, data, Writing::default())
    }

    /// Writes data like [`Self::write`], with flags.
    pub fn write_with(&mut self, now: Instant, id: SocketId, data: &[u8], how: Writing) -> Result<usize, SocketError> {
        if self.is_deferred(id) {
            let len = self.connect_with(now, id, None, data, false)?;
            return if len > 0 { Ok(len) } else { Err(SocketError::WouldBlock) };
        }
        let socket = self.get_mut(id)?;
        if let Some(error) = socket.error.take() {
            return Err(error);
        }
        let shut = socket.write_shut;
        let stream = socket.stream().ok_or(SocketError::NotConnected)?;
        if matches!(stream.connection.state(), State::SynSent | State::SynReceived) && !shut {
            return Err(SocketError::WouldBlock);
        }
        if shut || !stream.may_write() {
            return Err(SocketError::BrokenPipe);
        }
        let len = stream.write(now, data, how);
        if len == 0 && !data.is_empty() {
            return Err(SocketError::WouldBlock);
        }
        self.enqueue(id);
        Ok(len)
    }

    /// Reads up to `data.len()` bytes and returns their number. 0 means that the peer has closed its direction and all
    /// data was read.
    pub fn read(&mut self, id: SocketId, data: &mut [u8]) -> Result<usize, SocketError> {
        self.take_data(id, data, true)
    }

    /// Reads without removing the bytes (MSG_PEEK).
    pub fn peek(&mut self, id: SocketId, data: &mut [u8]) -> Result<usize, SocketError> {
        self.take_data(id, data, false)
    }

    fn take_data(&mut self, id: SocketId, data: &mut [u8], consume: bool) -> Result<usize, SocketError> {
        let socket = self.get_mut(id)?;
        if socket.deferred.is_some() {
            return Err(SocketError::WouldBlock);
        }
        let (ended, read_shut) = (socket.ended, socket.read_shut);
        let stream = socket.stream().ok_or(SocketError::NotConnected)?;
        if stream.unread() > 0 {
            let len = if consume { stream.read(data) } else { stream.peek(data) };
            if consume {
                self.enqueue(id);
            }
            return Ok(len);
        }
        let finished = stream.at_end() || ended || read_shut;
        if let Some(error) = socket.error.take() {
            return Err(error);
        }
        if finished { Ok(0) } else { Err(SocketError::WouldBlock) }
    }

    /// Shuts down one or both directions of a connection.
    pub fn shutdown(&mut self, id: SocketId, how: Shutdown) -> Result<(), SocketError> {
        let socket = self.get_mut(id)?;
        let stream = socket.stream().ok_or(SocketError::NotConnected)?;
        if matches!(stream.connection.state(), State::Closed | State::SynSent) {
            return Err(SocketError::NotConnected);
        }
        if how != Shutdown::Read {
            stream.finish();
            socket.write_shut = true;
        }
        socket.read_shut |= how != Shutdown::Write;
        self.enqueue(id);
        Ok(())
    }

    /// Closes the socket: its ID becomes invalid, except for [`Self::lingers`]. The connection sends the written data
    /// and a FIN. It is reset instead if received data was not read (RFC 2525 §2.17) or SO_LINGER is 0 s. If SO_LINGER
    /// is longer, a blocking caller waits while [`Self::lingers`] is true, until the returned time.
    pub fn close(&mut self, now: Instant, id: SocketId) -> Result<Option<Instant>, SocketError> {
        let socket = self.get_mut(id)?;
        let linger = socket.settings.linger;
        socket.orphan = true;
        let Some(stream) = socket.stream() else {
            let children = self.children(id);
            self.forget(id);
            for child in children {
                self.discard(child);
            }
            return Ok(None);
        };
        let at_once = linger.is_some_and(Duration::is_zero);
        if at_once || stream.unread() > 0 || stream.connection.state() == State::SynSent {
            stream.connection.abort();
        } else {
            stream.finish();
            stream.connection.release(now);
        }
        self.enqueue(id);
        Ok(linger.filter(|time| !time.is_zero()).map(|time| now + time))
    }

    /// Returns true if a closed socket still waits for the acknowledgement of its data.
    pub fn lingers(&self, id: SocketId) -> bool {
        self.table.get(id).is_some_and(|socket| match &socket.kind {
            SocketKind::Stream(stream) => {
                stream.connection.state() != State::Closed && !stream.connection.all_acknowledged()
            }
            _ => false,
        })
    }

    /// Resets the connection of a socket, or closes a socket without connection.
    pub fn abort(&mut self, now: Instant, id: SocketId) -> Result<(), SocketError> {
        if let Some(stream) = self.get_mut(id)?.stream() {
            stream.connection.abort();
        }
        self.close(now, id).map(|_| ())
    }

    /// Returns the connections of a listener that have not been accepted yet.
    fn children(&self, listener: SocketId) -> Vec<SocketId> {
        let waiting = match self.table.get(listener).map(|socket| &socket.kind) {
            Some(SocketKind::Listener(listener)) => listener.waiting.iter().copied().collect(),
            _ => Vec::new(),
        };
        let opening = self.table.iter().filter(|(_, socket)| socket.parent == Some(listener)).map(|(id, _)| id);
        waiting.into_iter().chain(opening).collect()
    }

    /// Ends a connection that will not be accepted. A peer whose handshake is in progress receives a reset only when it
    /// sends its next segment (as in Linux).
    fn discard(&mut self, id: SocketId) {
        let Some(socket) = self.table.get_mut(id) else { return };
        (socket.orphan, socket.parent) = (true, None);
        if let Some(stream) = socket.stream() {
            match stream.connection.state() {
                State::SynReceived => stream.connection.crash(),
                _ => stream.connection.abort(),
            }
        }
        self.enqueue(id);
    }

    /// Changes a setting of a socket.
    pub fn set_option(&mut self, now: Instant, id: SocketId, option: &SocketOption) -> Result<(), SocketError> {
        if matches!(option, SocketOption::FastOpenConnect(_)) {
            self.may_defer(id)?;
        }
        let mut settings = self.get(id)?.settings.clone();
        settings.take(option).ok_or(SocketError::BadOption)?;
        let not_sent_limit = self.not_sent_limit(&settings);
        let fin_wait = settings.fin_wait.or(self.config.tcp.fin_wait);
        let socket = self.get_mut(id)?;
        if let Some(stream) = socket.stream() {
            let connection = &mut stream.connection;
            match option {
                SocketOption::NoDelay(on) => {
                    connection.set_nagle(!on);
                    if *on {
                        stream.push();
                    }
                }
                SocketOption::Congestion(choice) => {
                    let same = connection.config().congestion == *choice;
                    if !same && !connection.choose_congestion(choice.clone()) {
                        return Err(SocketError::NotSupported);
                    }
                }
                SocketOption::ReceiveBuffer(_) => {
                    connection.set_receive_buffer(settings.receive_buffer.unwrap_or_default());
                }
                SocketOption::KeepAlive(_)
                | SocketOption::KeepIdle(_)
                | SocketOption::KeepInterval(_)
                | SocketOption::KeepCount(_) => connection.set_keep_alive(now, settings.probing()),
                SocketOption::Cork(on) => stream.set_cork(now, *on),
                SocketOption::QuickAck(on) => {
                    let some = connection.config().delayed_ack.map_or(0, |delayed| delayed.quick.max(QUICK));
                    connection.acknowledge_at_once(if *on { some } else { 0 });
                }
                SocketOption::MaxSegment(_) => return Err(SocketError::Invalid),
                SocketOption::SendBuffer(_) => stream.space.fix(settings.send_buffer.unwrap_or_default().0),
                SocketOption::NotSentLimit(_) => stream.space.limit_unsent(not_sent_limit),
                SocketOption::FinWait(_) => connection.set_fin_wait(fin_wait),
                SocketOption::UserTimeout(time) => connection.set_user_timeout(*time),
                SocketOption::SynCount(count) => connection.set_syn_retries(*count),
                SocketOption::FastOpen(_) | SocketOption::FastOpenConnect(_) | SocketOption::FastOpenNoCookie(_) => {
                    return Err(SocketError::Invalid);
                }
                SocketOption::Linger(_) | SocketOption::FastOpenKeys(_) | SocketOption::DeferAccept(_) => {}
            }
        }
        socket.settings = settings;
        self.enqueue(id);
        Ok(())
    }

    /// Returns an error if the SYN may not be deferred: fast open is off for clients, or the socket already listens or
    /// has a connection.
    fn may_defer(&self, id: SocketId) -> Result<(), SocketError> {
        match self.get(id)?.kind {
            _ if !self.config.fast_open.client => Err(SocketError::NotSupported),
            SocketKind::Fresh => Ok(()),
            _ => Err(SocketError::Invalid),
        }
    }

    /// Returns the settings of a socket.
    pub fn settings(&self, id: SocketId) -> Result<&Settings, SocketError> {
        Ok(&self.get(id)?.settings)
    }

    /// Returns the state of the socket's connection; LISTEN or CLOSED if it has none.
    pub fn state(&self, id: SocketId) -> Result<State, SocketError> {
        Ok(match &self.get(id)?.kind {
            SocketKind::Fresh if self.is_deferred(id) => State::SynSent,
            SocketKind::Fresh => State::Closed,
            SocketKind::Listener(_) => State::Listen,
            SocketKind::Stream(stream) => stream.connection.state(),
        })
    }

    /// Returns and clears the error that ended the connection (SO_ERROR).
    pub fn take_error(&mut self, id: SocketId) -> Result<Option<SocketError>, SocketError> {
        Ok(self.get_mut(id)?.error.take())
    }

    /// Returns the operations for which the socket is ready. If it is not writable, the caller counts as waiting for
    /// space, as with poll(2).
    pub fn readiness(&mut self, id: SocketId) -> Result<Readiness, SocketError> {
        let socket = self.get_mut(id)?;
        let error = socket.error.is_some();
        let (read_shut, write_shut, ended) = (socket.read_shut, socket.write_shut, socket.ended);
        let deferred = socket.deferred.is_some();
        Ok(match &mut socket.kind {
            SocketKind::Fresh if deferred => Readiness { writable: true, ..Readiness::default() },
            SocketKind::Fresh => Readiness { hung_up: true, ..Readiness::default() },
            SocketKind::Listener(listener) => {
                let (readable, arrivals) = (!listener.waiting.is_empty(), listener.arrivals);
                Readiness { readable, arrivals, ..Readiness::default() }
            }
            SocketKind::Stream(stream) => {
                let peer_closed = stream.connection.peer_closed() || ended;
                let (arrivals, releases) = stream.wakes();
                Readiness {
                    readable: stream.unread() > 0 || stream.at_end() || read_shut || ended || error,
                    writable: error || ended || write_shut || stream.may_write() && stream.finds_room(),
                    peer_closed,
                    hung_up: ended || peer_closed && write_shut,
                    error,
                    arrivals,
                    releases,
                }
            }
        })
    }

    /// Returns the local and remote address of the socket, as far as they are set.
    pub fn addresses(&self, id: SocketId) -> Result<(Option<SocketAddr>, Option<SocketAddr>), SocketError> {
        let socket = self.get(id)?;
        Ok((socket.local, socket.remote))
    }

    /// Returns the state of the socket's connection as in TCP_INFO.
    pub fn info(&self, now: Instant, id: SocketId) -> Result<TcpInfo, SocketError> {
        self.stream_of(id).map(|stream| TcpInfo::of(now, stream))
    }

    /// Returns the counters of the socket's connection.
    pub fn statistics(&self, id: SocketId) -> Result<(Statistics, Traffic), SocketError> {
        self.stream_of(id).map(|stream| (stream.connection.statistics(), stream.traffic))
    }

    /// Returns the number of bytes to read, and of written bytes that the peer has not acknowledged (SIOCINQ,
    /// SIOCOUTQ).
    pub fn queued(&self, id: SocketId) -> Result<(u64, u64), SocketError> {
        self.stream_of(id).map(|stream| (stream.unread(), stream.unacknowledged()))
    }

    fn stream_of(&self, id: SocketId) -> Result<&Stream, SocketError> {
        match &self.get(id)?.kind {
            SocketKind::Stream(stream) => Ok(stream),
            _ => Err(SocketError::NotConnected),
        }
    }

    /// Returns the socket with this id, if the application still holds it.
    fn get(&self, id: SocketId) -> Result<&Socket, SocketError> {
        self.table.get(id).filter(|socket| !socket.orphan).ok_or(SocketError::BadSocket)
    }

    fn get_mut(&mut self, id: SocketId) -> Result<&mut Socket, SocketError> {
        self.table.get_mut(id).filter(|socket| !socket.orphan).ok_or(SocketError::BadSocket)
    }
}

/// Minimum number of segments that are acknowledged immediately after TCP_QUICKACK was set (TCP_MAX_QUICKACKS of
/// Linux).
const QUICK: u16 = 16;
