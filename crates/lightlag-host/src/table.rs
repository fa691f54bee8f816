//! The sockets of a host by their names: number, address, pair of addresses.

use crate::error::SocketError;
use crate::fast_open::Pending;
use crate::options::Settings;
use crate::stream::Stream;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// Names a socket. A name is never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SocketId {
    index: u32,
    generation: u32,
}

/// What a socket is.
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
    /// How many connections may wait to be accepted.
    pub(crate) backlog: usize,
    /// Connections whose handshake is under way.
    pub(crate) opening: usize,
    /// Established and not accepted.
    pub(crate) waiting: VecDeque<SocketId>,
    /// How many there were.
    pub(crate) arrivals: u64,
    /// How many may wait for their client's ACK with data that came with a SYN, where no option says so.
    pub(crate) fast_open: usize,
    pub(crate) fast: Pending,
}

/// One socket.
pub(crate) struct Socket {
    pub(crate) kind: Kind,
    pub(crate) settings: Settings,
    pub(crate) local: Option<SocketAddr>,
    pub(crate) remote: Option<SocketAddr>,
    /// What the application has not been told yet.
    pub(crate) error: Option<SocketError>,
    /// What a router said since the peer was heard last: the reason if the connection times out.
    pub(crate) soft_error: Option<SocketError>,
    /// The listener that it is to be accepted from, until its handshake is over.
    pub(crate) parent: Option<SocketId>,
    /// The listener whose count of connections with early data it is in, until its client's ACK.
    pub(crate) fast_parent: Option<SocketId>,
    /// Where its first write connects to (TCP_FASTOPEN_CONNECT).
    pub(crate) deferred: Option<SocketAddr>,
    /// The application closed it.
    pub(crate) orphan: bool,
    /// The application reads no more.
    pub(crate) read_shut: bool,
    /// The application writes no more.
    pub(crate) write_shut: bool,
    /// Its connection ended, and the application would have been told why.
    pub(crate) ended: bool,
    /// It stands in the queue of those that may have something to send.
    pub(crate) queued: bool,
    /// The deadline it stands for in the queue of timers.
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
            orphan: false,
            read_shut: false,
            write_shut: false,
            ended: false,
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
