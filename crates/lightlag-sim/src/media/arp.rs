//! Addresses of neighbours: frames wait until the address of their receiver is known.

use super::parcel::Unaddressed;
use super::{Interface, Load, Media};
use lightlag_core::Instant;
use lightlag_net::{InterfaceId, NodeId};
use lightlag_routing::{Receiver, arp};

impl Media {
    /// Sends a frame to a neighbour as soon as its address is known.
    pub(super) fn address(&mut self, now: Instant, interface: InterfaceId, frame: Unaddressed) {
        let of = &mut self.interfaces[interface.index()];
        match of.resolver.ask(now, frame.next) {
            arp::Answer::Known => self.offer(now, interface, frame),
            arp::Answer::Wait => of.unaddressed.push(frame),
            arp::Answer::Drop => self.drop_unaddressed(interface, frame),
        }
    }

    pub(super) fn drop_unaddressed(&mut self, interface: InterfaceId, frame: Unaddressed) {
        if let Load::Packet(parcel) = frame.load {
            self.drop_unrouted(interface, &parcel);
        }
    }

    pub(super) fn resolve_as_asked(&mut self, now: Instant, interface: InterfaceId, action: arp::Action) {
        let of = &mut self.interfaces[interface.index()];
        let for_neighbour = |of: &mut Interface, next: NodeId| -> Vec<Unaddressed> {
            of.unaddressed.extract_if(.., |frame| frame.next == next).collect()
        };
        match action {
            arp::Action::Send { to, packet } => {
                let (size, load) = (arp::Packet::SIZE, Load::Address(packet));
                match to {
                    Receiver::All => self.broadcast(now, interface, size, load),
                    Receiver::One(next) => self.offer(now, interface, Unaddressed { next, size, load }),
                }
            }
            arp::Action::Release { neighbour } => {
                for frame in for_neighbour(of, neighbour) {
                    self.offer(now, interface, frame);
                }
            }
            arp::Action::Discard { neighbour } => {
                for frame in for_neighbour(of, neighbour) {
                    self.drop_unaddressed(interface, frame);
                }
            }
        }
    }
}
