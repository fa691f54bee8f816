//! The sockets of a host by number, by address and by pair of addresses.

use crate::error::SocketError;
use crate::fast_open::Pending;
use crate::options::Settings;
use crate::stream::Stream;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// The id of a socket. An id is never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SocketId {
    index: u32,
    generation: u32,
}

/// The kind of a socket.
pub(crate) enum Kind {
    /// Neither connected nor listening yet.
    Fresh,
    /// It waits for connections.
    Listener(Listener),
    /// It is or was connected.
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
    /// Number of connections so far.
    pub(crate) arrivals: u64,
    /// Number of connections with early data that may wait for their client's ACK, unless an option sets it.
    pub(crate) fast_open: usize,
    pub(crate) fast: Pending,
}

/// One socket.
pub(crate) struct Socket {
    pub(crate) kind: Kind,
    pub(crate) settings: Settings,
    pub(crate) local: Option<SocketAddr>,
    pub(crate) remote: Option<SocketAddr>,
    /// The error that the application has not seen yet.
    pub(crate) error: Option<SocketError>,
    /// The error that a router reported since the peer was last heard: the reason if the connection times out.
    pub(crate) soft_error: Option<SocketError>,
    /// The listener that will accept it, until its handshake is complete.
    pub(crate) parent: Option<SocketId>,
    /// The listener that counts its early data, until its client's ACK.
    pub(crate) fast_parent: Option<SocketId>,
    /// The address to which its first write connects (TCP_FASTOPEN_CONNECT).
    pub(crate) deferred: Option<SocketAddr>,
    /// A peer opened it at a listener, so that it counts for the limits of the host.
    pub(crate) opened_by_peer: bool,
    /// It counts as a connection in TIME-WAIT.
    pub(crate) in_time_wait: bool,
    /// The application closed it.
    pub(crate) orphan: bool,
    /// The application reads no more.
    pub(crate) read_shut: bool,
    /// The application writes no more.
    pub(crate) write_shut: bool,
    /// Its connection ended, and the application would have been told the reason.
    pub(crate) ended: bool,
    /// Its connection was dissolved, so that it may connect again.
    pub(crate) dissolved: bool,
    /// It is in the queue of sockets that may have something to send.
    pub(crate) queued: bool,
    /// Its deadline in the queue of timers.
    pub(crate) armed: Option<lightlag_core::Instant>,
}

impl Socket {
    pub(crate) fn new(kind: Kind, settings: Settings) -> Self {
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
            Kind::Stream(stream) => Some(stream),
            _ => None,
        }
    }

    pub(crate) fn listener(&mut self) -> Option<&mut Listener> {
        match &mut self.kind {
            Kind::Listener(listener) => Some(listener),
            _ => None,
        }
    }
}

/// Sockets by number.
#[derive(Default)]
pub(crate) struct Table {
    slots: Vec<(u32, Option<Socket>)>,
    free: Vec<u32>,
}

impl Table {
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
