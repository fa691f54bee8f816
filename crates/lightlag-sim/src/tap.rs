//! The records of a run: [`record`], samples and drops as columns, and taps, which watch packets.

use crate::body::{Body, Packet};
use capture::Captures;
use capture::air::AirFrame;
use lightlag_core::Instant;
use lightlag_net::queue::Dropped;
use lightlag_net::{Exit, InterfaceId, LinkId, NodeId};
use lightlag_transport::Snapshot;
use passages::Watcher;

pub(crate) mod capture;
pub(crate) mod passages;
pub(crate) mod record;

/// Watches packets on their way. Each run has code of its own for its kind of tap, so that a run that nobody watches never
/// looks.
pub(crate) trait Tap {
    /// An endpoint sends a packet on a link; `state`: of the connection, if data leaves from it.
    fn sent(&mut self, now: Instant, on: Exit, packet: &Packet, state: impl FnOnce() -> Option<Snapshot>);

    /// A node passes a packet on to a link.
    fn forwarded(&mut self, now: Instant, node: NodeId, on: Exit, packet: &Packet);

    /// A node drops a packet whose TTL has run out.
    fn expired(&mut self, now: Instant, node: NodeId, packet: &Packet);

    /// A packet is given to a link.
    fn offered(&mut self, now: Instant, on: Exit, packet: &Packet);

    /// A packet has arrived at the far end of a link.
    fn arrived(&mut self, on: LinkId, packet: &Packet);

    /// A node receives a packet for one of its endpoints; `state`: as in [`Self::sent`], after the packet was heard.
    fn received(&mut self, now: Instant, packet: &Packet, state: impl FnOnce() -> Option<Snapshot>);

    /// A link has dropped a packet.
    fn dropped(&mut self, on: Exit, dropped: &Dropped<Body>);

    /// A packet that waited at a link goes another way.
    fn withdrawn(&mut self, on: LinkId, packet: &Packet);

    /// An interface has sent a frame on its medium, or understood one.
    fn aired(&mut self, on: InterfaceId, frame: &AirFrame<'_>);
}

/// Nobody watches.
pub(crate) struct Silent;

impl Tap for Silent {
    #[inline(always)]
    fn sent(&mut self, _: Instant, _: Exit, _: &Packet, _: impl FnOnce() -> Option<Snapshot>) {}

    #[inline(always)]
    fn forwarded(&mut self, _: Instant, _: NodeId, _: Exit, _: &Packet) {}

    #[inline(always)]
    fn expired(&mut self, _: Instant, _: NodeId, _: &Packet) {}

    #[inline(always)]
    fn offered(&mut self, _: Instant, _: Exit, _: &Packet) {}

    #[inline(always)]
    fn arrived(&mut self, _: LinkId, _: &Packet) {}

    #[inline(always)]
    fn received(&mut self, _: Instant, _: &Packet, _: impl FnOnce() -> Option<Snapshot>) {}

    #[inline(always)]
    fn dropped(&mut self, _: Exit, _: &Dropped<Body>) {}

    #[inline(always)]
    fn withdrawn(&mut self, _: LinkId, _: &Packet) {}

    #[inline(always)]
    fn aired(&mut self, _: InterfaceId, _: &AirFrame<'_>) {}
}

/// Captures, a watcher, or both. A run has the code of a world twice, and not once more for each kind of tap.
#[derive(Default)]
pub(crate) struct Observers {
    pub(crate) captures: Option<Captures>,
    pub(crate) watcher: Option<Watcher>,
}

impl Tap for Observers {
    #[cold]
    fn sent(&mut self, now: Instant, on: Exit, packet: &Packet, state: impl FnOnce() -> Option<Snapshot>) {
        if let Some(watcher) = &mut self.watcher {
            watcher.sent(now, on, packet);
        }
        if let Some(captures) = &mut self.captures {
            captures.sent(now, on, packet, state);
        }
    }

    #[cold]
    fn forwarded(&mut self, now: Instant, node: NodeId, on: Exit, packet: &Packet) {
        if let Some(watcher) = &mut self.watcher {
            watcher.forwarded(now, node, on, packet);
        }
        if let Some(captures) = &mut self.captures {
            captures.forwarded(now, node, on, packet);
        }
    }

    #[cold]
    fn expired(&mut self, now: Instant, node: NodeId, packet: &Packet) {
        if let Some(watcher) = &mut self.watcher {
            watcher.expired(now, node, packet);
        }
        if let Some(captures) = &mut self.captures {
            captures.expired(now, node, packet);
        }
    }

    #[cold]
    fn offered(&mut self, now: Instant, on: Exit, packet: &Packet) {
        if let Some(captures) = &mut self.captures {
            captures.offered(now, on, packet);
        }
    }

    #[cold]
    fn arrived(&mut self, on: LinkId, packet: &Packet) {
        if let Some(captures) = &mut self.captures {
            captures.arrived(on, packet);
        }
    }

    #[cold]
    fn received(&mut self, now: Instant, packet: &Packet, state: impl FnOnce() -> Option<Snapshot>) {
        if let Some(watcher) = &mut self.watcher {
            watcher.received(now, packet);
        }
        if let Some(captures) = &mut self.captures {
            captures.received(now, packet, state);
        }
    }

    #[cold]
    fn dropped(&mut self, on: Exit, dropped: &Dropped<Body>) {
        if let Some(watcher) = &mut self.watcher {
            watcher.dropped(dropped.at, on, &dropped.packet);
        }
        if let Some(captures) = &mut self.captures {
            captures.dropped(on, dropped);
        }
    }

    #[cold]
    fn withdrawn(&mut self, on: LinkId, packet: &Packet) {
        if let Some(captures) = &mut self.captures {
            captures.withdrawn(on, packet);
        }
    }

    #[cold]
    fn aired(&mut self, on: InterfaceId, frame: &AirFrame<'_>) {
        if let Some(captures) = &mut self.captures {
            captures.aired(on, frame);
        }
    }
}
