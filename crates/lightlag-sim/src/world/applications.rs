//! Applications in the world: timed writes, datagrams and dialogues.

use super::World;
use crate::body::{Datagram, Other, Packet, PacketBody, UDP_HEADER};
use crate::border::Border;
use crate::fabric::Hop;
use crate::hosts::application::Application;
use crate::hosts::datagrams::DatagramTarget;
use crate::hosts::session::{SessionAction, StreamWrite};
use crate::hosts::socket::{Port, Socket, Task};
use crate::hosts::tcp::Tcp;
use crate::hosts::transport::Transport;
use crate::ids::{FlowIndex, UdpIndex};
use crate::scheduler::ScheduledEvent;
use crate::tap::Tap;
use lightlag_core::{Instant, prefetch};
use lightlag_net::{EndpointId, Link, PacketFlags};
use lightlag_transport::Inspect;

/// Number of bytes that a server with interleaved responses keeps unsent in its socket, in addition to those that the
/// window lets pass immediately: a frame of HTTP/2, and the value of TCP_NOTSENT_LOWAT that HTTP/2 servers set.
const UNSENT: i64 = 16_384;

/// Returns the number of bytes that a server may write, if it has written `written` bytes so far. Later responses may
/// overtake what it has not written.
fn room(connection: &impl Inspect, written: u64) -> i64 {
    let sender = connection.snapshot();
    let unsent = written.saturating_sub(sender.snd_nxt);
    sender.cwnd.saturating_sub(sender.inflight) as i64 + UNSENT - unsent as i64
}

impl<T: Tap, B: Border> World<T, B> {
    /// Lets the application at an endpoint write the bytes that are due, and closes the connection after the last one.
    /// At a receiver, handles a timer instead.
    #[cold]
    pub(super) fn write<E: Transport>(&mut self, now: Instant, endpoint: EndpointId) {
        if let Task::Receive { transfer } = E::sockets(&self.hosts)[endpoint].port.task {
            return self.pass_hole::<E>(now, endpoint, transfer);
        }
        let Socket { port: Port { application, peer, .. }, connection } =
            &mut E::sockets_mut(&mut self.hosts)[endpoint];
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
                    let flow = E::sockets(&self.hosts)[endpoint].port.flow;
                    self.transfer_arrives(now, flow);
                }
            }
        }
    }

    /// Handles a timer of a receiver that waits for a hole. After the hole is skipped, its transfer may be complete, or
    /// the peer's FIN may follow.
    fn pass_hole<E: Transport>(&mut self, now: Instant, endpoint: EndpointId, transfer: u64) {
        let socket = &mut E::sockets_mut(&mut self.hosts)[endpoint];
        if socket.connection.received() >= transfer {
            socket.port.task = Task::Idle;
            let flow = socket.port.flow;
            self.transfer_arrives(now, flow);
        }
        let socket = &mut E::sockets_mut(&mut self.hosts)[endpoint];
        if socket.connection.waits_for_close() {
            socket.connection.close();
        }
    }

    /// Sends the datagrams of a UDP sender that are due.
    #[cold]
    pub(super) fn datagrams_leave(&mut self, now: Instant, flow: UdpIndex) {
        while let Some(datagram) = self.hosts.datagrams.senders[flow.index()].poll(now) {
            self.send_datagram(now, flow, datagram);
        }
        self.agenda.settle(ScheduledEvent::Datagrams(flow), self.hosts.datagrams.senders[flow.index()].next());
        self.prefetch_next(ScheduledEvent::Datagrams(flow));
    }

    /// Prefetches data for the next datagrams, because the state of a sender that rarely sends is in no cache. For the
    /// sender that is next among few neighbours, prefetches its state and its link. For the sender that is next among
    /// more neighbours, whose link was prefetched by an earlier call, prefetches the slot for the next packet on that
    /// link.
    #[inline(always)]
    fn prefetch_next(&self, after: ScheduledEvent) {
        let Some((among_more, among_few)) = self.agenda.soon_near(after) else { return };
        if let ScheduledEvent::Datagrams(flow) = among_few {
            let out = self.hosts.datagrams.heading(flow).out;
            prefetch(&self.hosts.datagrams.senders[flow.index()]);
            prefetch(&self.hosts.datagrams.receivers[flow.index()]);
            self.agenda.prefetch(among_few);
            if let Some(on) = out.link() {
                prefetch(&self.fabric.hops[on.0 as usize]);
                self.agenda.prefetch(ScheduledEvent::Link(on));
            }
        }
        if let ScheduledEvent::Datagrams(flow) = among_more
            && let Some(on) = self.hosts.datagrams.heading(flow).out.link()
            && let Hop { link: Link::Computed(link) } = &self.fabric.hops[on.0 as usize]
        {
            link.prefetch_place();
        }
    }

    fn send_datagram(&mut self, now: Instant, flow: UdpIndex, datagram: Datagram) {
        let DatagramTarget { out, peer_node, .. } = self.hosts.datagrams.heading(flow);
        let size = self.ip_header + UDP_HEADER + u32::from(datagram.len);
        let packet = Packet {
            destination: peer_node,
            to: self.hosts.datagrams.endpoint(flow),
            size: size as u16,
            flags: PacketFlags::new(true),
            ttl: self.ttl,
            body: PacketBody::Other(Other::Datagram(datagram)),
        };
        self.sent += 1;
        self.tap.sent(now, out.unpack(), &packet, || None);
        self.transmit(now, out, &packet);
    }

    /// Passes a message to the sink with this index.
    fn collect(&mut self, now: Instant, index: u32, message: &Datagram) {
        let collector = &mut self.hosts.collectors[index as usize];
        let sender = self.hosts.numbers.sender(collector.flow());
        if collector.collect(message, &mut self.hosts.tcp[sender].connection) {
            if collector.store().is_some() {
                self.forward_stored(now, sender);
            }
            self.serve::<Tcp>(now, sender);
        }
    }

    /// Lets a sink that stores messages write what it can to its connection.
    #[cold]
    fn forward_stored(&mut self, now: Instant, sender: EndpointId) {
        let Socket { port, connection } = &mut self.hosts.tcp[sender];
        if let Some(Application::Forwards(forwarding)) = port.application.as_deref_mut() {
            forwarding.due = self.hosts.collectors[forwarding.collector as usize].forward(now, connection);
        }
    }

    /// Handles a datagram that arrives at its destination.
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

    /// Handles a timer or an arrival at an endpoint of a dialogue, or at a sink that stores messages.
    #[cold]
    pub(super) fn converse<E: Transport>(&mut self, now: Instant, endpoint: EndpointId) {
        let Socket { port: Port { application, .. }, connection } = &mut E::sockets_mut(&mut self.hosts)[endpoint];
        let (talk, asks) = match application.as_deref_mut() {
            Some(Application::Asks(talk)) => (talk, true),
            Some(Application::Answers(talk)) => (talk, false),
            Some(Application::Forwards(_)) => return self.forward_stored(now, endpoint),
            Some(Application::Tunnels(end)) => {
                let end = *end;
                return self.tunnel_advances(now, end);
            }
            _ => return,
        };
        let is_due = talk.due.is_some_and(|due| due <= now);
        if is_due {
            talk.due = None;
        }
        if connection.multiplexed().is_some() {
            return self.converse_on_streams::<E>(now, endpoint, is_due);
        }
        let (index, line, received) = (talk.dialogue as usize, talk.line as usize, connection.received());
        let written = self.hosts.dialogues[index].interleaved(line).filter(|_| !asks);
        let room = written.map_or(0, |written| room(&E::sockets(&self.hosts)[endpoint].connection, written));
        let (dialogue, mut actions) = (&mut self.hosts.dialogues[index], Vec::new());
        if !asks {
            dialogue.server_hears(now, line, received, room, &mut actions);
        } else if is_due {
            dialogue.client_wakes(now, &mut actions);
        } else {
            dialogue.client_hears(now, line, received, &mut actions);
        }
        self.act::<E>(now, endpoint, index, &actions);
    }

    /// Handles a timer or an arrival at an endpoint of a dialogue that uses several streams. `is_due`: it has waited for
    /// this time.
    fn converse_on_streams<E: Transport>(&mut self, now: Instant, endpoint: EndpointId, is_due: bool) {
        let (sockets, _, dialogues) = E::parts(&mut self.hosts);
        let Socket { port: Port { application, .. }, connection } = &mut sockets[endpoint];
        let (Some(streams), Some(application)) = (connection.multiplexed(), application.as_deref()) else { return };
        let mut actions = Vec::new();
        let index = match application {
            Application::Asks(talk) => {
                let dialogue = &mut dialogues[talk.dialogue as usize];
                dialogue.client_hears_streams(now, talk.line as usize, streams, &mut actions);
                if is_due {
                    dialogue.client_wakes(now, &mut actions);
                }
                talk.dialogue
            }
            Application::Answers(talk) => {
                let dialogue = &mut dialogues[talk.dialogue as usize];
                dialogue.server_hears_streams(now, talk.line as usize, streams, &mut actions);
                talk.dialogue
            }
            _ => return,
        };
        self.act::<E>(now, endpoint, index as usize, &actions);
    }

    /// Executes the actions of a dialogue. The caller sends the packets of `endpoint` afterwards; the other endpoints
    /// send immediately.
    fn act<E: Transport>(&mut self, now: Instant, endpoint: EndpointId, dialogue: usize, actions: &[SessionAction]) {
        for action in actions {
            match *action {
                SessionAction::Open(end) => E::sockets_mut(&mut self.hosts)[end].connection.open(now),
                SessionAction::WriteOn(end, write) => {
                    let connection = &mut E::sockets_mut(&mut self.hosts)[end].connection;
                    if let Some(streams) = connection.multiplexed() {
                        streams.write_on(write.stream, write.bytes, write.is_last);
                        streams.prioritise(write.stream, write.priority);
                    }
                    self.prioritise_at_proxies::<E>(end, &write);
                }
                SessionAction::Write(end, bytes) => {
                    let connection = &mut E::sockets_mut(&mut self.hosts)[end].connection;
                    // A proxy may have reset the connection while the server prepared its response.
                    if !connection.is_over() {
                        connection.write(bytes);
                    }
                }
                SessionAction::Close(end) => E::sockets_mut(&mut self.hosts)[end].connection.close(),
                SessionAction::Wake(end, due) => {
                    if let Some(Application::Asks(talk) | Application::Answers(talk)) =
                        self.hosts.port_mut(end).application.as_deref_mut()
                    {
                        talk.due = Some(due);
                    }
                }
                SessionAction::Finish => self.dialogue_ends(now, dialogue),
            }
        }
        self.ask_early::<E>(now, actions);
        for action in actions {
            match *action {
                SessionAction::Open(end)
                | SessionAction::Write(end, _)
                | SessionAction::WriteOn(end, _)
                | SessionAction::Close(end)
                | SessionAction::Wake(end, _)
                    if end != endpoint =>
                {
                    self.serve::<E>(now, end);
                }
                _ => {}
            }
        }
    }

    /// Notifies the proxies of a flow of the priority of a response. The request, which they passed on, determines it.
    fn prioritise_at_proxies<E: Transport>(&mut self, writer: EndpointId, write: &StreamWrite) {
        let (sockets, relays, _) = E::parts(&mut self.hosts);
        if !sockets[writer].port.role.sends() {
            return;
        }
        let mut next = sockets[writer].port.peer;
        while let Task::Relay(relay) = sockets[next].port.task {
            let relay = &mut relays[relay as usize];
            relay.prioritise(write.stream, write.priority);
            next = sockets[relay.exit].port.peer;
        }
    }

    /// Sends the requests that may accompany the first packet of a connection that was just opened (0-RTT).
    fn ask_early<E: Transport>(&mut self, now: Instant, actions: &[SessionAction]) {
        for action in actions {
            if let SessionAction::Open(end) = *action
                && E::sockets_mut(&mut self.hosts)[end].connection.multiplexed().is_some()
            {
                self.converse_on_streams::<E>(now, end, false);
            }
        }
    }

    /// Passes what has arrived at the proxies that prefetch the objects of a dialogue.
    #[cold]
    pub(super) fn pass_objects<E: Transport>(&mut self, now: Instant, dialogue: u32) {
        let (sockets, relays, dialogues) = E::parts(&mut self.hosts);
        let changed = dialogues[dialogue as usize].pass_objects(now, sockets, relays);
        changed.into_iter().for_each(|endpoint| self.serve::<E>(now, endpoint));
    }

    /// Ends a dialogue whose pages have all arrived.
    fn dialogue_ends(&mut self, now: Instant, dialogue: usize) {
        let dialogue = &self.hosts.dialogues[dialogue];
        let leader = dialogue.flow();
        let flows = (leader.0..).map(FlowIndex).zip(dialogue.opened());
        let flows = flows.filter(|(flow, opened)| opened.is_some() || *flow == leader);
        let flows: Vec<FlowIndex> = flows.map(|(flow, _)| flow).collect();
        for flow in flows {
            self.flow_arrives(now, flow);
            if !self.hosts.relays.is_empty() {
                // All bytes of every leg have arrived, but the servers have not closed yet.
                self.hosts.senders_of(flow).into_iter().for_each(|sender| self.sender_ends(now, sender));
            }
        }
        let client = self.hosts.numbers.receiver(leader);
        let client = &mut self.hosts.port_mut(client).task;
        if let Task::Receive { .. } = client {
            *client = Task::Idle;
            self.closes(leader);
        }
    }

    /// Aborts the dialogue of an endpoint, because a dialogue ends when one of its connections fails. Returns the flow
    /// whose row in the results describes the dialogue.
    pub(super) fn give_up_dialogue(&mut self, endpoint: EndpointId) -> Option<FlowIndex> {
        let application = self.hosts.port(endpoint).application.as_deref();
        let Some(Application::Asks(talk) | Application::Answers(talk)) = application else { return None };
        let dialogue = talk.dialogue as usize;
        let dialogue = &mut self.hosts.dialogues[dialogue];
        dialogue.fail();
        Some(dialogue.flow())
    }
}
