//! Prefetching. In a network with many endpoints, each event needs memory that no other event has accessed for a long
//! time. While the processor waits for this memory, it could handle several other events.
//!
//! The packets on a link predict the memory that will be needed: the next link of a packet that arrives some positions
//! later, and the endpoint of a packet that continues to its destination.

use super::World;
use crate::body::Packet;
use crate::border::Border;
use crate::fabric::Hop;
use crate::scheduler::ScheduledEvent;
use crate::tap::Tap;
use lightlag_core::prefetch;
use lightlag_net::{Link, LinkId, PackedExit};

/// Minimum number of endpoints for prefetching. The state of fewer connections stays in the outer caches.
const MANY: usize = 1024;

/// Number of packets between the packet that arrives and the one whose next link is prefetched.
const LINK: usize = 8;

impl<T: Tap, B: Border> World<T, B> {
    /// Returns true if the network is so large that memory is prefetched.
    #[inline(always)]
    pub(super) fn is_large(&self) -> bool {
        self.hosts.len() >= MANY
    }

    /// Prefetches what a later packet on this link needs, and the connection of the packet that arrives.
    #[inline(never)]
    pub(super) fn fetch_after(&self, on: LinkId, packet: &Packet) {
        if self.fabric.hops[on.0 as usize].link.to() == packet.destination
            && let Some(socket) = self.hosts.tcp.get(packet.to)
        {
            socket.connection.prefetch();
            if let Some(out) = socket.port.out.link() {
                prefetch(&self.fabric.hops[out.0 as usize]);
                self.agenda.prefetch(ScheduledEvent::Link(out));
            }
        }
        let Hop { link: Link::Computed(link) } = &self.fabric.hops[on.0 as usize] else { return };
        if let Some(next) = link.waiting(LINK).and_then(|packet| self.next_link(on, packet)) {
            prefetch(&self.fabric.hops[next.0 as usize]);
            self.agenda.prefetch(ScheduledEvent::Link(next));
        }
    }

    /// Returns the next link of a packet after the link `on`; `None` if the packet is then at its destination.
    #[inline(always)]
    fn next_link(&self, on: LinkId, packet: &Packet) -> Option<LinkId> {
        let node = self.fabric.hops[on.0 as usize].link.to();
        if packet.destination == node { None } else { self.fabric.routes.next(node, packet.destination)?.link() }
    }

    /// Prefetches the endpoint of a packet, if the link `out` leads to its destination.
    #[inline(never)]
    pub(super) fn fetch_end(&self, out: PackedExit, packet: &Packet) {
        if out.link().is_some_and(|on| self.fabric.hops[on.0 as usize].link.to() == packet.destination)
            && let Some(socket) = self.hosts.tcp.get(packet.to)
        {
            socket.prefetch_for(packet);
            self.agenda.prefetch(ScheduledEvent::Connection(packet.to));
        }
    }
}
