//! A transport in the world: where its sockets are, and how its packets travel.

use super::Hosts;
use super::relay::Relay;
use super::socket::Socket;
use crate::body::Body;
use lightlag_core::Instant;
use lightlag_net::{EndpointId, PacketFlags};
use lightlag_transport::{Endpoint, Stream};
use std::ops::{Index, IndexMut};

/// An endpoint whose sockets are a table of [`Hosts`]. The world has code of its own for each.
pub(crate) trait Transport: Endpoint + Stream + Sized + 'static {
    /// Whether its endpoints have the first numbers of all. Finding a socket then costs no subtraction.
    const IS_FIRST: bool = false;

    fn sockets(hosts: &Hosts) -> &Sockets<Self>;

    /// Returns its sockets, to be changed, and the relays between some of them.
    fn parts(hosts: &mut Hosts) -> (&mut Sockets<Self>, &mut [Relay]);

    #[inline(always)]
    fn sockets_mut(hosts: &mut Hosts) -> &mut Sockets<Self> {
        Self::parts(hosts).0
    }

    /// Returns the next packet of an endpoint, until there is none.
    fn poll(hosts: &mut Hosts, now: Instant, at: EndpointId) -> Option<Self::Packet> {
        Self::sockets_mut(hosts)[at].connection.poll_packet(now)
    }

    /// Puts a packet that [`Self::poll`] has just returned into the form in which it travels.
    fn enclose(&self, packet: Self::Packet) -> Enclosed;
}

/// A packet of a transport, without its addresses.
pub(crate) struct Enclosed {
    /// Bytes of the transport's header and of payload.
    pub(crate) size: u32,
    pub(crate) flags: PacketFlags,
    pub(crate) body: Body,
}

/// The sockets of a transport, whose endpoints are numbered without a gap.
pub(crate) struct Sockets<E> {
    first: EndpointId,
    list: Vec<Socket<E>>,
}

impl<E: Transport> Sockets<E> {
    /// Sockets whose endpoints are numbered from `first`.
    ///
    /// # Panics
    /// If these are not the first numbers and [`Transport::IS_FIRST`] says so.
    pub(crate) fn new(first: EndpointId, list: Vec<Socket<E>>) -> Self {
        assert!(!E::IS_FIRST || first == EndpointId(0), "the first transport has the first numbers");
        Self { first, list }
    }

    /// Returns the number of sockets.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    #[inline(always)]
    fn place(&self, at: EndpointId) -> usize {
        if E::IS_FIRST { at.index() } else { at.index().wrapping_sub(self.first.index()) }
    }

    /// Returns the socket with this number; `None` if it is not one of these.
    #[inline]
    pub(crate) fn get(&self, at: EndpointId) -> Option<&Socket<E>> {
        self.list.get(self.place(at))
    }

    /// Returns two sockets.
    ///
    /// # Panics
    /// If they are one.
    #[inline]
    pub(crate) fn pair_mut(&mut self, ends: [EndpointId; 2]) -> [&mut Socket<E>; 2] {
        let places = ends.map(|at| self.place(at));
        self.list.get_disjoint_mut(places).expect("two ends are two sockets")
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Socket<E>> {
        self.list.iter()
    }

    /// Returns the sockets with their numbers.
    pub(crate) fn enumerated_mut(&mut self) -> impl Iterator<Item = (EndpointId, &mut Socket<E>)> {
        (self.first.0..).map(EndpointId).zip(&mut self.list)
    }

    /// Drops the sockets from this one on.
    pub(crate) fn truncate(&mut self, from: EndpointId) {
        let place = self.place(from);
        self.list.truncate(place);
    }

    /// Drops all sockets and their list.
    pub(crate) fn clear(&mut self) {
        self.list = Vec::new();
    }
}

impl<E: Transport> Index<EndpointId> for Sockets<E> {
    type Output = Socket<E>;

    #[inline(always)]
    fn index(&self, at: EndpointId) -> &Socket<E> {
        &self.list[self.place(at)]
    }
}

impl<E: Transport> IndexMut<EndpointId> for Sockets<E> {
    #[inline(always)]
    fn index_mut(&mut self, at: EndpointId) -> &mut Socket<E> {
        let place = self.place(at);
        &mut self.list[place]
    }
}
