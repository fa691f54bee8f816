//! The sockets of a host, by ID.

use crate::error::SocketError;
use crate::fast_open::Pending;
use crate::options::Settings;
use crate::stream::Stream;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// The ID of a socket. IDs are never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SocketId {
    index: u32,
    generation: u32,
}

/// The kind of a socket.
pub(crate) enum SocketKind {
    /// Neither connected nor listening yet.
    Fresh,
    /// A socket that listens for connections.
    Listener(Listener),
    /// A socket that is or was connected.
    Stream(Box<Stream>),
}

/// A listening socket.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    /// Number of connections that may wait to be accepted.
    pub(crate) backlog: usize,
    /// Connections whose handshake is in progress.
    pub(crate) opening: usize,
    /// Connections established and not yet accepted.
    pub(crate) waiting: VecDeque<SocketId>,
    /// Number of connections established so far.
    pub(crate) arrivals: u64,
    /// Maximum number of connections with early data that wait for their client's ACK, unless a socket option sets it.
    pub(crate) fast_open: usize,
    pub(crate) fast: Pending,
}

/// One socket.
pub(crate) struct Socket {
    pub(crate) kind: SocketKind,
    pub(crate) settings: Settings,
    pub(crate) local: Option<SocketAddr>,
    pub(crate) remote: Option<SocketAddr>,
    /// The error that has not been reported to the application yet.
    pub(crate) error: Option<SocketError>,
    /// The error that a router reported since the peer's last segment. If the connection times out, the application
    /// gets this error.
    pub(crate) soft_error: Option<SocketError>,
    /// The listener that the connection belongs to, until its handshake is complete.
    pub(crate) parent: Option<SocketId>,
    /// The listener that counts this connection as one with early data, until the client's ACK arrives.
    pub(crate) fast_parent: Option<SocketId>,
    /// The destination to connect to at the first write (TCP_FASTOPEN_CONNECT).
    pub(crate) deferred: Option<SocketAddr>,
    /// A peer opened the connection at a listener, so that it counts towards the limits of the host.
    pub(crate) opened_by_peer: bool,
    /// The socket counts as a connection in TIME-WAIT.
    pub(crate) in_time_wait: bool,
    /// The application closed the socket.
    pub(crate) orphan: bool,
    /// The application shut down reading.
    pub(crate) read_shut: bool,
    /// The application shut down writing.
    pub(crate) write_shut: bool,
    /// The connection has ended, and its reason was made available to the application.
    pub(crate) ended: bool,
    /// The connection was dissolved, so that the socket may connect again.
    pub(crate) dissolved: bool,
    /// The socket is in the queue of sockets that may have data to send.
    pub(crate) queued: bool,
    /// Deadline of the socket in the queue of timers.
    pub(crate) armed: Option<lightlag_core::Instant>,
}

impl Socket {
    pub(crate) fn new(kind: SocketKind, settings: Settings) -> Self {
        Self {
            kind,
            settings,
            local: None,
            remote: None,
            error: None,
            soft_error: None,
            parent: None,
            fast_parent: None,
            deferred: None,
            opened_by_peer: false,
            in_time_wait: false,
            orphan: false,
            read_shut: false,
            write_shut: false,
            ended: false,
            dissolved: false,
            queued: false,
            armed: None,
        }
    }

    pub(crate) fn stream(&mut self) -> Option<&mut Stream> {
        match &mut self.kind {
            SocketKind::Stream(stream) => Some(stream),
            _ => None,
        }
    }

    pub(crate) fn listener(&mut self) -> Option<&mut Listener> {
        match &mut self.kind {
            SocketKind::Listener(listener) => Some(listener),
            _ => None,
        }
    }
}

/// The sockets of a host by ID.
#[derive(Default)]
pub(crate) struct SocketTable {
    slots: Vec<(u32, Option<Socket>)>,
    free: Vec<u32>,
}

impl SocketTable {
    pub(crate) fn insert(&mut self, socket: Socket) -> SocketId {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push((0, None));
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[index as usize];
        slot.1 = Some(socket);
        SocketId { index, generation: slot.0 }
    }

    pub(crate) fn remove(&mut self, id: SocketId) -> Option<Socket> {
        let slot = self.slots.get_mut(id.index as usize).filter(|slot| slot.0 == id.generation)?;
        let socket = slot.1.take()?;
        slot.0 += 1;
        self.free.push(id.index);
        Some(socket)
    }

    pub(crate) fn get(&self, id: SocketId) -> Option<&Socket> {
        self.slots.get(id.index as usize).filter(|slot| slot.0 == id.generation)?.1.as_ref()
    }

    pub(crate) fn get_mut(&mut self, id: SocketId) -> Option<&mut Socket> {
        self.slots.get_mut(id.index as usize).filter(|slot| slot.0 == id.generation)?.1.as_mut()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (SocketId, &Socket)> {
        self.slots.iter().enumerate().filter_map(|(index, (generation, socket))| {
            let id = SocketId { index: index as u32, generation: *generation };
            Some((id, socket.as_ref()?))
        })
    }
}
