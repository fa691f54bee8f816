//! What applications make the world do: writes in the course of time, and datagrams.

use super::{Endpoint, Outcome, Task, World};
use crate::application::Application;
use crate::body::{Body, Datagram, Packet, UDP_HEADER};
use lightlag_core::Instant;
use lightlag_net::{Ecn, PacketFlags};
use lightlag_tcp::State;

impl World {
    /// The application at an endpoint writes what is due, and closes behind the last of it.
    #[cold]
    pub(super) fn write(&mut self, now: Instant, at: usize) {
        let Endpoint { connection, application, peer, .. } = &mut self.endpoints[at];
        let Some(Application::Writes(source)) = application.as_deref_mut() else { return };
        if connection.state() == State::Closed {
            return;
        }
        let mut bytes = 0;
        while source.next().is_some_and(|due| due <= now) {
            bytes += source.take();
        }
        if bytes > 0 {
            connection.write(bytes);
        }
        if source.next().is_none() && !source.is_done() {
            source.finish();
            connection.close();
            let (total, peer) = (source.taken(), *peer as usize);
            let receiver = &mut self.endpoints[peer].task;
            if let Task::Receive { transfer } = receiver {
                *transfer = total;
                if total == 0 {
                    // The connection closes before it is open.
                    *receiver = Task::Idle;
                    let flow = self.endpoints[at].flow as usize;
                    self.outcomes[flow] = Outcome::Finished(now);
                    self.open_transfers -= 1;
                }
            }
        }
    }

    /// The sender of datagrams has a message.
    #[cold]
    pub(super) fn datagrams_leave<const CAPTURED: bool>(&mut self, now: Instant, at: usize) {
        while let Some(Application::Sends(sender)) = self.endpoints[at].application.as_deref_mut()
            && let Some(datagram) = sender.poll(now)
        {
            self.send_datagram::<CAPTURED>(now, at, datagram);
        }
        let deadline = self.endpoints[at].deadline();
        self.queue.settle(self.endpoint_entity(at), deadline);
    }

    fn send_datagram<const CAPTURED: bool>(&mut self, now: Instant, at: usize, datagram: Datagram) {
        let Endpoint { peer_node, peer, out, .. } = self.endpoints[at];
        let size = self.ip_header + UDP_HEADER + u32::from(datagram.len);
        let packet = Packet {
            destination: peer_node,
            flow: peer,
            size: size as u16,
            flags: PacketFlags::new(true),
            ecn: Ecn::NotEct,
            body: Body::Datagram(datagram),
        };
        self.sent += 1;
        if CAPTURED {
            self.recorder.captures().sent(now, &self.routes, out, &packet, None);
        }
        self.transmit::<CAPTURED>(now, out, &packet);
    }

    /// A datagram arrives at its destination.
    #[cold]
    pub(super) fn datagram_arrives<const CAPTURED: bool>(
        &mut self,
        now: Instant,
        packet: &Packet,
        datagram: &Datagram,
    ) {
        if CAPTURED {
            self.recorder.captures().received(now, &self.routes, packet, None);
        }
        if let Some(Application::Receives(receiver)) = self.endpoints[packet.flow as usize].application.as_deref_mut() {
            receiver.receive(now, datagram);
        }
    }
}
