//! The transports of the simulation: where their sockets are stored, and how their packets are sent.

use super::Hosts;
use super::relay::{Connections, Relay};
use super::session::Session;
use super::socket::Socket;
use crate::body::PacketBody;
use lightlag_core::Instant;
use lightlag_net::{EndpointId, PacketFlags};
use lightlag_quic as quic;
use lightlag_transport::{Endpoint, Multiplexed, Status, Stream};
use std::ops::{Index, IndexMut};

/// An endpoint of a transport, whose sockets are stored in [`Hosts`]. The code of the world is monomorphised for each
/// transport.
pub(crate) trait Transport: Endpoint + Stream + Sized + 'static {
    /// Whether the endpoint IDs of this transport start at 0. A socket is then found without a subtraction.
    const IS_FIRST: bool = false;

    fn sockets(hosts: &Hosts) -> &Sockets<Self>;

    /// Returns mutable references to the sockets of the transport, to the relays between some of them, and to the
    /// dialogues.
    fn parts(hosts: &mut Hosts) -> (&mut Sockets<Self>, &mut [Relay], &mut [Session]);

    #[inline(always)]
    fn sockets_mut(hosts: &mut Hosts) -> &mut Sockets<Self> {
        Self::parts(hosts).0
    }

    /// Returns the next packet of an endpoint, or `None` if there is none.
    #[inline(always)]
    fn poll(hosts: &mut Hosts, now: Instant, endpoint: EndpointId) -> Option<Self::Packet> {
        let (socket, arena) = Self::sockets_mut(hosts).with_arena(endpoint);
        socket.connection.poll_packet(now, arena)
    }

    /// Returns true if the peer has closed its direction of the connection, and this end has not closed its own.
    #[inline(always)]
    fn waits_for_close(&self) -> bool {
        self.status() == Status::PeerClosed
    }

    /// Returns the interface for several streams; `None` for a connection with one in each direction.
    #[inline(always)]
    fn multiplexed(&mut self) -> Option<&mut dyn Multiplexed> {
        None
    }

    /// Returns a packet of QUIC with the arena that may store its contents; `None` for other transports.
    #[inline(always)]
    fn stored<'a>(_: &'a Hosts, _: &'a Self::Packet) -> Option<(&'a quic::Packet, &'a quic::Arena)> {
        None
    }

    /// Returns the connection if it is one of QUIC; `None` for other transports.
    #[inline(always)]
    fn quic(&mut self) -> Option<&mut quic::Connection> {
        None
    }

    /// Encloses a packet that [`Self::poll`] has just returned in a body, with its size and flags.
    fn enclose(&self, packet: Self::Packet) -> Enclosed;
}

/// A packet of a transport, without its addresses.
pub(crate) struct Enclosed {
    /// Size of the transport's header and the payload in bytes.
    pub(crate) size: u32,
    pub(crate) flags: PacketFlags,
    pub(crate) body: PacketBody,
}

/// Sockets of a transport, with consecutive endpoint IDs.
pub(crate) struct Sockets<E: Endpoint> {
    first: EndpointId,
    list: Vec<Socket<E>>,
    /// Parts of packets in transit that the packets cannot hold.
    arena: E::Arena,
}

impl<E: Transport> Sockets<E> {
    /// Returns the sockets, whose endpoint IDs start at `first`.
    ///
    /// # Panics
    /// If [`Transport::IS_FIRST`] is set and `first` is not 0.
    pub(crate) fn new(first: EndpointId, list: Vec<Socket<E>>) -> Self {
        assert!(!E::IS_FIRST || first == EndpointId(0), "the first transport has the first IDs");
        Self { first, list, arena: E::Arena::default() }
    }

    /// Returns the number of sockets.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    #[inline(always)]
    fn place(&self, endpoint: EndpointId) -> usize {
        if E::IS_FIRST { endpoint.index() } else { endpoint.index().wrapping_sub(self.first.index()) }
    }

    /// Returns the socket with this ID; `None` if it belongs to another transport.
    #[inline]
    pub(crate) fn get(&self, endpoint: EndpointId) -> Option<&Socket<E>> {
        self.list.get(self.place(endpoint))
    }

    /// Returns mutable references to a socket and the arena.
    #[inline(always)]
    pub(crate) fn with_arena(&mut self, endpoint: EndpointId) -> (&mut Socket<E>, &mut E::Arena) {
        let place = self.place(endpoint);
        (&mut self.list[place], &mut self.arena)
    }

    /// Returns the arena.
    pub(crate) fn arena(&self) -> &E::Arena {
        &self.arena
    }

    /// Returns a mutable reference to the arena.
    pub(crate) fn arena_mut(&mut self) -> &mut E::Arena {
        &mut self.arena
    }

    /// Returns mutable references to two different sockets.
    ///
    /// # Panics
    /// If both IDs are the same.
    #[inline]
    pub(crate) fn pair_mut(&mut self, ends: [EndpointId; 2]) -> [&mut Socket<E>; 2] {
        let places = ends.map(|at| self.place(at));
        self.list.get_disjoint_mut(places).expect("two endpoints are two sockets")
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Socket<E>> {
        self.list.iter()
    }

    /// Returns the sockets with their IDs.
    pub(crate) fn enumerated_mut(&mut self) -> impl Iterator<Item = (EndpointId, &mut Socket<E>)> {
        (self.first.0..).map(EndpointId).zip(&mut self.list)
    }

    /// Drops the socket with this ID and all later ones.
    pub(crate) fn truncate(&mut self, from: EndpointId) {
        let place = self.place(from);
        self.list.truncate(place);
    }

    /// Exchanges a socket with the same one of another partition.
    pub(crate) fn swap(&mut self, other: &mut Self, endpoint: EndpointId) {
        std::mem::swap(&mut self[endpoint], &mut other[endpoint]);
    }

    /// Drops all sockets, and frees the memory of their list.
    pub(crate) fn clear(&mut self) {
        self.list = Vec::new();
    }
}

impl<E: Transport> Connections for Sockets<E> {
    type Connection = E;

    fn connection(&self, endpoint: EndpointId) -> &E {
        &self[endpoint].connection
    }

    fn connection_mut(&mut self, endpoint: EndpointId) -> &mut E {
        &mut self[endpoint].connection
    }

    fn connections_mut(&mut self, ends: [EndpointId; 2]) -> [&mut E; 2] {
        self.pair_mut(ends).map(|socket| &mut socket.connection)
    }
}

impl<E: Transport> Index<EndpointId> for Sockets<E> {
    type Output = Socket<E>;

    #[inline(always)]
    fn index(&self, endpoint: EndpointId) -> &Socket<E> {
        &self.list[self.place(endpoint)]
    }
}

impl<E: Transport> IndexMut<EndpointId> for Sockets<E> {
    #[inline(always)]
    fn index_mut(&mut self, endpoint: EndpointId) -> &mut Socket<E> {
        let place = self.place(endpoint);
        &mut self.list[place]
    }
}
