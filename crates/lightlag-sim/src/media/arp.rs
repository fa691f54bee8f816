//! Address resolution (ARP): frames wait until the address of their receiver is known.

use super::packet::Unaddressed;
use super::{FramePayload, Interface, Media};
use lightlag_core::Instant;
use lightlag_net::{InterfaceId, NodeId};
use lightlag_routing::{Receiver, arp};

impl Media {
    /// Sends a frame to a neighbour as soon as the neighbour's address is known.
    pub(super) fn address(&mut self, now: Instant, interface: InterfaceId, frame: Unaddressed) {
        let state = &mut self.interfaces[interface.index()];
        match state.resolver.ask(now, frame.next) {
            arp::Resolution::Known => self.offer(now, interface, frame),
            arp::Resolution::Wait => state.unaddressed.push(frame),
            arp::Resolution::Drop => self.drop_unaddressed(interface, frame),
        }
    }

    pub(super) fn drop_unaddressed(&mut self, interface: InterfaceId, frame: Unaddressed) {
        if let FramePayload::Packet(parcel) = frame.load {
            self.drop_unrouted(interface, &parcel);
        }
    }

    pub(super) fn resolve_as_asked(&mut self, now: Instant, interface: InterfaceId, action: arp::ArpAction) {
        let state = &mut self.interfaces[interface.index()];
        let for_neighbour = |of: &mut Interface, next: NodeId| -> Vec<Unaddressed> {
            of.unaddressed.extract_if(.., |frame| frame.next == next).collect()
        };
        match action {
            arp::ArpAction::Send { to, packet } => {
                let (size, load) = (arp::ArpPacket::SIZE, FramePayload::Address(packet));
                match to {
                    Receiver::All => self.broadcast(now, interface, size, load),
                    Receiver::One(next) => self.offer(now, interface, Unaddressed { next, size, load }),
                }
            }
            arp::ArpAction::Release { neighbour } => {
                for frame in for_neighbour(state, neighbour) {
                    self.offer(now, interface, frame);
                }
            }
            arp::ArpAction::Discard { neighbour } => {
                for frame in for_neighbour(state, neighbour) {
                    self.drop_unaddressed(interface, frame);
                }
            }
        }
    }
}
