//! Recording of a run: tables of samples and drops ([`record`]), and taps, which observe packets.

use crate::body::{Packet, PacketBody};
use capture::Captures;
use capture::air::AirFrame;
use lightlag_core::Instant;
use lightlag_net::queue::Dropped;
use lightlag_net::{EndpointId, Exit, InterfaceId, LinkId, NodeId};
use lightlag_quic as quic;
use lightlag_transport::Snapshot;
use passages::Watcher;

pub(crate) mod capture;
pub(crate) mod passages;
pub(crate) mod record;

/// An observer of packets. The world has monomorphised code for each kind of tap, so that a run without an observer has
/// no overhead.
pub(crate) trait Tap {
    /// Called when an endpoint sends a packet on a link. `state` returns the state of the connection if the endpoint
    /// sends its data.
    fn sent(&mut self, now: Instant, on: Exit, packet: &Packet, state: impl FnOnce() -> Option<Snapshot>);

    /// Called before [`Self::sent`] for a QUIC packet, whose contents may be stored in an arena.
    fn stored(&mut self, packet: &quic::Packet, arena: &quic::Arena);

    /// Called when a node forwards a packet to a link.
    fn forwarded(&mut self, now: Instant, node: NodeId, on: Exit, packet: &Packet);

    /// Called when a node drops a packet whose TTL has expired.
    fn expired(&mut self, now: Instant, node: NodeId, packet: &Packet);

    /// Called when a packet is offered to a link.
    fn offered(&mut self, now: Instant, on: Exit, packet: &Packet);

    /// Called when a packet has arrived at the far end of a link.
    fn arrived(&mut self, on: LinkId, packet: &Packet);

    /// Called when a node receives a packet for one of its endpoints. `state` returns the same as in [`Self::sent`],
    /// after the packet was processed.
    fn received(&mut self, now: Instant, packet: &Packet, state: impl FnOnce() -> Option<Snapshot>);

    /// Called when an endpoint has handled `packet`, has handled a timer or has sent packets. `connection` returns its
    /// connection if it is one of QUIC.
    fn changed<'a>(
        &mut self,
        now: Instant,
        endpoint: EndpointId,
        packet: Option<&Packet>,
        connection: impl FnOnce() -> Option<&'a mut quic::Connection>,
    );

    /// Called when a link has dropped a packet.
    fn dropped(&mut self, on: Exit, dropped: &Dropped<PacketBody>);

    /// Called when a packet that waited at a link is rerouted.
    fn withdrawn(&mut self, on: LinkId, packet: &Packet);

    /// Called when an interface has sent or decoded a frame on its medium.
    fn aired(&mut self, on: InterfaceId, frame: &AirFrame<'_>);
}

/// The tap of a run without observers.
pub(crate) struct Silent;

impl Tap for Silent {
    #[inline(always)]
    fn sent(&mut self, _: Instant, _: Exit, _: &Packet, _: impl FnOnce() -> Option<Snapshot>) {}

    #[inline(always)]
    fn stored(&mut self, _: &quic::Packet, _: &quic::Arena) {}

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
    fn changed<'a>(
        &mut self,
        _: Instant,
        _: EndpointId,
        _: Option<&Packet>,
        _: impl FnOnce() -> Option<&'a mut quic::Connection>,
    ) {
    }

    #[inline(always)]
    fn dropped(&mut self, _: Exit, _: &Dropped<PacketBody>) {}

    #[inline(always)]
    fn withdrawn(&mut self, _: LinkId, _: &Packet) {}

    #[inline(always)]
    fn aired(&mut self, _: InterfaceId, _: &AirFrame<'_>) {}
}

/// The captures, the watcher, or both. They share one type, so that the code of a world is compiled only twice: with
/// and without observers.
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
    fn stored(&mut self, packet: &quic::Packet, arena: &quic::Arena) {
        if let Some(captures) = &mut self.captures {
            captures.stored(packet, arena);
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
    fn changed<'a>(
        &mut self,
        now: Instant,
        endpoint: EndpointId,
        packet: Option<&Packet>,
        connection: impl FnOnce() -> Option<&'a mut quic::Connection>,
    ) {
        if let Some(captures) = &mut self.captures
            && captures.logs(endpoint)
            && let Some(connection) = connection()
        {
            captures.changed(now, endpoint, connection, packet);
        }
    }

    #[cold]
    fn dropped(&mut self, on: Exit, dropped: &Dropped<PacketBody>) {
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
