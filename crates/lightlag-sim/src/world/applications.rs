//! The work of applications in the world: writes in the course of time, and datagrams.

use super::World;
use crate::agenda::Due;
use crate::body::{Body, Datagram, Other, Packet, UDP_HEADER};
use crate::border::Border;
use crate::fabric::Hop;
use crate::hosts::application::Application;
use crate::hosts::datagrams::Heading;
use crate::hosts::dialogue::Action;
use crate::hosts::socket::{Port, Socket, Task};
use crate::hosts::tcp::Tcp;
use crate::hosts::transport::Transport;
use crate::ids::{FlowIndex, UdpIndex};
use crate::tap::Tap;
use lightlag_core::{Instant, prefetch};
use lightlag_net::{EndpointId, Link, PacketFlags};
use lightlag_transport::Status;

impl<T: Tap, B: Border> World<T, B> {
    /// The application at an endpoint writes what is due, and closes behind the last of it; or a receiver was woken.
    #[cold]
    pub(super) fn write<E: Transport>(&mut self, now: Instant, at: EndpointId) {
        if let Task::Receive { transfer } = E::sockets(&self.hosts)[at].port.task {
            return self.pass_hole::<E>(now, at, transfer);
        }
        let Socket { port: Port { application, peer, .. }, connection } = &mut E::sockets_mut(&mut self.hosts)[at];
        let Some(Application::Writes(source)) = application.as_deref_mut() else { return };
        if connection.is_over() {
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
            let (total, peer) = (source.taken(), *peer);
            let receiver = &mut E::sockets_mut(&mut self.hosts)[peer].port.task;
            if let Task::Receive { transfer } = receiver {
                *transfer = total;
                if total == 0 {
                    // The connection closes before it is open.
                    *receiver = Task::Idle;
                    let flow = E::sockets(&self.hosts)[at].port.flow;
                    self.transfer_arrives(now, flow);
                }
            }
        }
    }

    /// A timer of a receiver may have fired that waits for a hole: the last of its data, or its end, may stand behind it.
    fn pass_hole<E: Transport>(&mut self, now: Instant, at: EndpointId, transfer: u64) {
        let socket = &mut E::sockets_mut(&mut self.hosts)[at];
        if socket.connection.received() >= transfer {
            socket.port.task = Task::Idle;
            let flow = socket.port.flow;
            self.transfer_arrives(now, flow);
        }
        let socket = &mut E::sockets_mut(&mut self.hosts)[at];
        if socket.connection.status() == Status::PeerClosed {
            socket.connection.close();
        }
    }

    /// The sender of a flow of UDP has a message.
    #[cold]
    pub(super) fn datagrams_leave(&mut self, now: Instant, flow: UdpIndex) {
        while let Some(datagram) = self.hosts.datagrams.senders[flow.index()].poll(now) {
            self.send_datagram(now, flow, datagram);
        }
        self.agenda.settle(Due::Datagrams(flow), self.hosts.datagrams.senders[flow.index()].next());
        self.prefetch_next(Due::Datagrams(flow));
    }

    /// Fetches what datagrams need that leave soon. Of senders that each send now and then nothing is in any cache: of the
    /// one that is next among few, all that is known to be needed; of the one that is next among more of them, for which
    /// this was done before, what only that says.
    #[inline(always)]
    fn prefetch_next(&self, after: Due) {
        let Some((among_more, among_few)) = self.agenda.soon_near(after) else { return };
        if let Due::Datagrams(flow) = among_few {
            let out = self.hosts.datagrams.heading(flow).out;
            prefetch(&self.hosts.datagrams.senders[flow.index()]);
            prefetch(&self.hosts.datagrams.receivers[flow.index()]);
            self.agenda.prefetch(among_few);
            if let Some(on) = out.link() {
                prefetch(&self.fabric.hops[on.0 as usize]);
                self.agenda.prefetch(Due::Link(on));
            }
        }
        if let Due::Datagrams(flow) = among_more
            && let Some(on) = self.hosts.datagrams.heading(flow).out.link()
            && let Hop { link: Link::Computed(link) } = &self.fabric.hops[on.0 as usize]
        {
            link.prefetch_place();
        }
    }

    fn send_datagram(&mut self, now: Instant, flow: UdpIndex, datagram: Datagram) {
        let Heading { out, peer_node, .. } = self.hosts.datagrams.heading(flow);
        let size = self.ip_header + UDP_HEADER + u32::from(datagram.len);
        let packet = Packet {
            destination: peer_node,
            to: self.hosts.datagrams.endpoint(flow),
            size: size as u16,
            flags: PacketFlags::new(true),
            ttl: self.ttl,
            body: Body::Other(Other::Datagram(datagram)),
        };
        self.sent += 1;
        self.tap.sent(now, out.unpack(), &packet, || None);
        self.transmit(now, out, &packet);
    }

    /// A message comes to a sink.
    fn collect(&mut self, now: Instant, at: u32, message: &Datagram) {
        let collector = &mut self.hosts.collectors[at as usize];
        let sender = self.hosts.numbers.sender(collector.flow());
        if collector.collect(message, &mut self.hosts.tcp[sender].connection) {
            self.serve::<Tcp>(now, sender);
        }
    }

    /// A datagram arrives at its destination.
    #[cold]
    pub(super) fn datagram_arrives(&mut self, now: Instant, packet: &Packet, datagram: &Datagram) {
        self.tap.received(now, packet, || None);
        let Some(flow) = self.hosts.datagrams.of_endpoint(packet.to) else { return };
        let receiver = &mut self.hosts.datagrams.receivers[flow.index()];
        receiver.receive(now, datagram);
        if let Some(at) = receiver.collector() {
            self.collect(now, at, datagram);
        }
    }

    /// An end of a dialogue was woken, or something arrived there.
    #[cold]
    pub(super) fn converse<E: Transport>(&mut self, now: Instant, at: EndpointId) {
        let Socket { port: Port { application, .. }, connection } = &mut E::sockets_mut(&mut self.hosts)[at];
        let (talk, asks) = match application.as_deref_mut() {
            Some(Application::Asks(talk)) => (talk, true),
            Some(Application::Answers(talk)) => (talk, false),
            _ => return,
        };
        let is_due = talk.due.is_some_and(|due| due <= now);
        if is_due {
            talk.due = None;
        }
        let (of, line, received) = (talk.dialogue as usize, talk.line as usize, connection.received());
        let (dialogue, mut actions) = (&mut self.hosts.dialogues[of], Vec::new());
        if !asks {
            dialogue.server_hears(now, line, received, &mut actions);
        } else if is_due {
            dialogue.begin_page(now, &mut actions);
        } else {
            dialogue.client_hears(now, line, received, &mut actions);
        }
        self.act::<E>(now, at, of, &actions);
    }

    /// Does what a dialogue asks for. The endpoint `at` sends afterwards, by its caller; the others do at once.
    fn act<E: Transport>(&mut self, now: Instant, at: EndpointId, dialogue: usize, actions: &[Action]) {
        for action in actions {
            match *action {
                Action::Open(end) => E::sockets_mut(&mut self.hosts)[end].connection.open(now),
                Action::Write(end, bytes) => E::sockets_mut(&mut self.hosts)[end].connection.write(bytes),
                Action::Close(end) => E::sockets_mut(&mut self.hosts)[end].connection.close(),
                Action::Wake(end, due) => {
                    if let Some(Application::Asks(talk) | Application::Answers(talk)) =
                        self.hosts.port_mut(end).application.as_deref_mut()
                    {
                        talk.due = Some(due);
                    }
                }
                Action::Finish => self.dialogue_ends(now, dialogue),
            }
        }
        for action in actions {
            match *action {
                Action::Open(end) | Action::Write(end, _) | Action::Close(end) | Action::Wake(end, _) if end != at => {
                    self.serve::<E>(now, end);
                }
                _ => {}
            }
        }
    }

    /// All pages are there.
    fn dialogue_ends(&mut self, now: Instant, dialogue: usize) {
        let dialogue = &self.hosts.dialogues[dialogue];
        let leader = dialogue.flow();
        let flows = (leader.0..).map(FlowIndex).zip(dialogue.opened());
        let flows = flows.filter(|(flow, opened)| *opened || *flow == leader);
        let flows: Vec<FlowIndex> = flows.map(|(flow, _)| flow).collect();
        for flow in flows {
            self.flow_arrives(now, flow);
        }
        let client = self.hosts.numbers.receiver(leader);
        let client = &mut self.hosts.port_mut(client).task;
        if let Task::Receive { .. } = client {
            *client = Task::Idle;
            self.closes(leader);
        }
    }

    /// The flow in whose row stands what an endpoint takes part in: a dialogue does not survive one of its connections.
    pub(super) fn give_up_dialogue(&mut self, at: EndpointId) -> Option<FlowIndex> {
        let application = self.hosts.port(at).application.as_deref();
        let Some(Application::Asks(talk) | Application::Answers(talk)) = application else { return None };
        let dialogue = talk.dialogue as usize;
        let dialogue = &mut self.hosts.dialogues[dialogue];
        dialogue.fail();
        Some(dialogue.flow())
    }
}
