//! Packets that enter and leave tunnels.

use super::World;
use crate::body::Packet;
use crate::border::Border;
use crate::hosts::Hosts;
use crate::hosts::quic::Quic;
use crate::hosts::tunnels::{Settled, Tunnels};
use crate::tap::Tap;
use lightlag_core::Instant;
use lightlag_net::queue::{DropCause, Dropped};
use lightlag_net::{Exit, TunnelEndId};

/// Message of a failed expectation that tunnels exist.
const TUNNELS: &str = "a tunnel has state";

impl Hosts {
    fn tunnels_mut(&mut self) -> &mut Tunnels {
        self.tunnels.as_deref_mut().expect(TUNNELS)
    }
}

impl<T: Tap, B: Border> World<T, B> {
    /// Passes a packet to a tunnel, or to the link that the tunnel uses if its flow does not enter the tunnel.
    #[cold]
    pub(super) fn enter_tunnel(&mut self, now: Instant, id: TunnelEndId, packet: &Packet) {
        let (flow, _) = self.hosts.addressees().of(packet);
        let tunnels = self.hosts.tunnels.as_deref_mut().expect(TUNNELS);
        let end = tunnels.end_mut(id);
        let Some(len) = end.datagram(flow, packet) else {
            let next = tunnels.routes.next(tunnels.end(id).node, packet.destination);
            return self.transmit(now, next.expect("every destination was checked to be reachable"), packet);
        };
        end.counts.entered += 1;
        end.counts.entered_bytes += u64::from(packet.size);
        let (endpoint, tag) = (end.endpoint, end.store(packet));
        let sent = self.hosts.quic[endpoint].connection.send_datagram(tag, len);
        if let Err(error) = sent {
            let end = self.hosts.tunnels_mut().end_mut(id);
            end.forget(tag);
            end.reject(error);
            return self.drop_in_tunnel(now, id, packet);
        }
        self.settle_tunnel(now, id);
        self.serve::<Quic>(now, endpoint);
        self.settle_tunnel(now, id);
    }

    /// Handles what has arrived at an end of a tunnel, and the fates of what it has sent.
    #[cold]
    pub(super) fn tunnel_advances(&mut self, now: Instant, id: TunnelEndId) {
        self.settle_tunnel(now, id);
        let endpoint = self.hosts.tunnels_mut().end(id).endpoint;
        while let Some(datagram) = self.hosts.quic[endpoint].connection.poll_datagram() {
            let taken = self.hosts.tunnels_mut().end_mut(id.peer()).take(datagram.tag);
            let Some((packet, was_lost)) = taken else { continue };
            if was_lost {
                self.recorder.found_in_tunnel(&packet, self.hosts.addressees());
            }
            self.leave_tunnel(now, id, &packet);
        }
    }

    /// Handles a packet that leaves a tunnel.
    fn leave_tunnel(&mut self, now: Instant, id: TunnelEndId, packet: &Packet) {
        let node = self.hosts.tunnels_mut().end(id).node;
        if packet.destination == node {
            return self.deliver(now, packet);
        }
        let next = self.fabric.routes.next(node, packet.destination);
        let next = next.expect("every destination was checked to be reachable");
        self.tap.forwarded(now, node, next.unpack(), packet);
        self.transmit(now, next, packet);
    }

    /// Handles the fates of the datagrams that an end has sent.
    fn settle_tunnel(&mut self, now: Instant, id: TunnelEndId) {
        let Hosts { tunnels, quic, .. } = &mut self.hosts;
        for settled in tunnels.as_deref_mut().expect(TUNNELS).settle(id, quic) {
            match settled {
                Settled::Dropped(packet) => self.drop_in_tunnel(now, id, &packet),
                Settled::Lost(packet) => self.lose_in_tunnel(now, id, &packet),
                Settled::Forgotten(packet) => self.hosts.discard(&packet),
            }
        }
    }

    /// Reports a packet that a tunnel has dropped, and frees its contents.
    fn drop_in_tunnel(&mut self, now: Instant, id: TunnelEndId, packet: &Packet) {
        self.lose_in_tunnel(now, id, packet);
        self.hosts.discard(packet);
    }

    /// Reports a packet that is lost in a tunnel.
    fn lose_in_tunnel(&mut self, now: Instant, id: TunnelEndId, packet: &Packet) {
        let dropped = Dropped { at: now, packet: *packet, cause: DropCause::Queue };
        self.tap.dropped(Exit::Tunnel(id), &dropped);
        self.recorder.lost_in_tunnel(packet, self.hosts.addressees());
    }

    /// Ends the run for the tunnels. Returns the numbers of packets that are in tunnels, and that they have dropped.
    pub(super) fn finish_tunnels(&mut self, end: Instant) -> [u64; 2] {
        let Some(ids) = self.hosts.tunnels.as_deref().map(Tunnels::ids) else { return [0; 2] };
        for id in ids {
            self.settle_tunnel(end, id);
            for settled in self.hosts.tunnels_mut().end_mut(id).drop_all_lost() {
                if let Settled::Forgotten(packet) = settled {
                    self.hosts.discard(&packet);
                }
            }
        }
        self.hosts.tunnels_mut().counted()
    }
}
