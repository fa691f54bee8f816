//! Fetching ahead. In a network of many ends each event needs memory that nothing else has touched for a long time; while
//! the processor waits for it, it could handle several other events.
//!
//! The packets on a link say what will be needed: the one that arrives some places later, the link on which it goes on; one
//! that goes on to its destination, the end of the connection there.

use super::World;
use crate::agenda::Due;
use crate::body::Packet;
use crate::border::Border;
use crate::fabric::Hop;
use crate::tap::Tap;
use lightlag_core::prefetch;
use lightlag_net::{Link, LinkId, PackedExit};

/// From so many ends on it pays: the connections of fewer stay in the outer caches.
const MANY: usize = 1024;

/// Packets between the one for which a link is fetched and the one that arrives.
const LINK: usize = 8;

impl<T: Tap, B: Border> World<T, B> {
    /// Whether there are so many ends that their memory is fetched ahead.
    #[inline(always)]
    pub(super) fn is_large(&self) -> bool {
        self.hosts.len() >= MANY
    }

    /// A packet came out of this link: fetches what packets behind it need, and the parts of the connection at which it ends.
    #[inline(never)]
    pub(super) fn fetch_after(&self, on: LinkId, packet: &Packet) {
        if self.fabric.hops[on.0 as usize].link.to() == packet.destination
            && let Some(socket) = self.hosts.tcp.get(packet.to)
        {
            socket.connection.prefetch();
            if let Some(out) = socket.port.out.link() {
                prefetch(&self.fabric.hops[out.0 as usize]);
                self.agenda.prefetch(Due::Link(out));
            }
        }
        let Hop { link: Link::Computed(link) } = &self.fabric.hops[on.0 as usize] else { return };
        if let Some(next) = link.waiting(LINK).and_then(|packet| self.next_link(on, packet)) {
            prefetch(&self.fabric.hops[next.0 as usize]);
            self.agenda.prefetch(Due::Link(next));
        }
    }

    /// The link that a packet takes after this one, if it is not at its destination then.
    #[inline(always)]
    fn next_link(&self, on: LinkId, packet: &Packet) -> Option<LinkId> {
        let node = self.fabric.hops[on.0 as usize].link.to();
        if packet.destination == node { None } else { self.fabric.routes.next(node, packet.destination)?.link() }
    }

    /// A packet leaves a node: fetches the end of its connection, if a link leads there.
    #[inline(never)]
    pub(super) fn fetch_end(&self, out: PackedExit, packet: &Packet) {
        if out.link().is_some_and(|on| self.fabric.hops[on.0 as usize].link.to() == packet.destination)
            && let Some(socket) = self.hosts.tcp.get(packet.to)
        {
            socket.prefetch_for(packet);
            self.agenda.prefetch(Due::Connection(packet.to));
        }
    }
}
