//! The simulated world: the agenda of events, the fabric of links, the endpoints, and the recorded tables.

use crate::body::{Other, Packet, PacketBody};
use crate::border::{Border, WholeNetwork};
use crate::fabric::{Fabric, Hop};
use crate::hosts::Hosts;
use crate::hosts::endpoints;
use crate::hosts::quic::Quic;
use crate::hosts::relay::Relay;
use crate::hosts::socket::{Socket, Task};
use crate::hosts::tcp::Tcp;
use crate::hosts::transport::{Enclosed, Transport};
use crate::housekeeping::Clerks;
use crate::ids::FlowIndex;
use crate::media::Media;
use crate::scheduler::{Agenda, PartCounts, ScheduledEvent, before};
use crate::tap::record::{DeliveryProgress, Recorder, SenderSample};
use crate::tap::{Silent, Tap};
use lightlag_core::custom::Fault;
use lightlag_core::{Instant, Rate};
use lightlag_net::queue::{DropCause, Dropped};
use lightlag_net::{EndpointId, Exit, LinkId, NodeId, PackedExit, QueueFull};
use lightlag_transport::{Failure, Status};

mod ahead;
mod applications;
mod border;
mod constellation;
mod endings;
mod media;
mod signals;
mod tunnels;
mod ways;

/// The world of a network, or of one of its partitions.
pub(crate) struct World<T, B = WholeNetwork> {
    pub(crate) agenda: Agenda,
    pub(crate) fabric: Fabric<PacketBody>,
    pub(crate) hosts: Hosts,
    /// Media and the interfaces of nodes to them, if there are any.
    pub(crate) media: Option<Box<Media>>,
    pub(crate) clerks: Clerks,
    pub(crate) recorder: Recorder,
    pub(crate) tap: T,
    pub(crate) border: B,
    /// Size of an IP header in bytes.
    pub(crate) ip_header: u32,
    /// Initial TTL of packets.
    pub(crate) ttl: u8,
    /// Numbers of packets that endpoints have sent, that endpoints have received, and that nodes have dropped because
    /// their TTL had expired or they had no route. They are needed to check that no packet is lost.
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) expired: u64,
}

impl World<Silent> {
    /// Returns the world with this tap.
    pub(crate) fn watched_by<T: Tap>(self, tap: T) -> World<T> {
        let Self { agenda, fabric, hosts, media, clerks, recorder, border, .. } = self;
        let Self { ip_header, ttl, sent, received, expired, .. } = self;
        World { agenda, fabric, hosts, media, clerks, recorder, tap, border, ip_header, ttl, sent, received, expired }
    }
}

impl<T, B> World<T, B> {
    /// Returns the radio interface whose router failed first, by its index in tables (after the links), and the
    /// failure.
    pub(crate) fn router_fault(&self) -> Option<(usize, &Fault)> {
        let (interface, fault) = self.media.as_deref()?.fault()?;
        Some((Exit::from(interface).number(self.fabric.hops.len() as u32) as usize, fault))
    }
}

impl<T: Tap, B: Border> World<T, B> {
    /// Handles the event of a part of the world.
    #[inline]
    pub(crate) fn handle(&mut self, now: Instant, part: ScheduledEvent) {
        match part {
            ScheduledEvent::Link(link) => self.packet_arrives(now, link),
            ScheduledEvent::Connection(at) if self.hosts.numbers.is_tcp(at) => self.endpoint_wakes::<Tcp>(now, at),
            ScheduledEvent::Connection(at) => self.endpoint_wakes::<Quic>(now, at),
            ScheduledEvent::Datagrams(flow) => self.datagrams_leave(now, flow),
            ScheduledEvent::Medium(medium) => self.frame_ends(now, medium),
            ScheduledEvent::Interface(interface) => self.interface_wakes(now, interface),
            ScheduledEvent::Sampler => self.sample(now),
            ScheduledEvent::Crash => self.crash(now),
            ScheduledEvent::Stations => self.stations_tell(now),
            ScheduledEvent::Epoch => self.routes_change(now),
        }
    }

    /// Returns the number of parts of each kind.
    pub(crate) fn parts(&self) -> PartCounts {
        let media = self.media.as_deref();
        PartCounts {
            links: self.fabric.hops.len(),
            connections: self.hosts.len(),
            datagrams: self.hosts.datagrams.len(),
            media: media.map_or(0, |media| media.shared.len()),
            interfaces: media.map_or(0, |media| media.interfaces.len()),
        }
    }

    #[inline]
    fn packet_arrives(&mut self, now: Instant, on: LinkId) {
        let Some((link, node)) = self.fabric.computed(on) else { return self.queued_link_wakes(now, on) };
        let mut packet = *link.receive_in_place();
        self.agenda.settle(ScheduledEvent::Link(on), link.next_arrival());
        if self.is_large() {
            self.fetch_after(on, &packet);
            self.fabric.rest(on);
        }
        self.arrive(now, on, node, &mut packet);
    }

    #[cold]
    fn queued_link_wakes(&mut self, now: Instant, on: LinkId) {
        let Self { fabric, recorder, tap, hosts, .. } = self;
        let (packet, node, wake) = fabric.take_queued(now, on, |dropped| {
            lose(tap, recorder, hosts, on.into(), &dropped);
        });
        self.agenda.settle(ScheduledEvent::Link(on), wake);
        if self.border.of().is_some() && !self.arrives_here(on, packet.as_ref()) {
            return;
        }
        if let Some(mut packet) = packet {
            self.arrive(now, on, node, &mut packet);
        }
    }

    /// Handles a packet that arrives at `node` over a link.
    // Always: it has two callers, and a call costs the packets of computed links 20 instructions.
    #[inline(always)]
    fn arrive(&mut self, now: Instant, on: LinkId, node: NodeId, packet: &mut Packet) {
        if packet.flags.is_corrupted() {
            return self.arrives_damaged(now, on, node, packet);
        }
        self.tap.arrived(on, packet);
        if packet.destination == node {
            self.deliver(now, packet);
        } else {
            if packet.ttl == 0 && self.fabric.expires(packet) {
                return self.drop_expired(now, on, node, packet);
            }
            let Some(next) = self.fabric.routes.next(node, packet.destination) else {
                return self.drop_without_route(now, on, packet);
            };
            self.tap.forwarded(now, node, next.unpack(), packet);
            self.transmit(now, next, packet);
            if self.is_large() {
                self.fetch_end(next, packet);
            }
        }
    }

    /// Drops a packet that a node received over the link `on`, because its TTL has expired.
    #[cold]
    fn drop_expired(&mut self, now: Instant, on: LinkId, node: NodeId, packet: &Packet) {
        let dropped = Dropped { at: now, packet: *packet, cause: DropCause::Ttl };
        self.expired += 1;
        self.tap.expired(now, node, packet);
        self.recorder.dropped(on.into(), &dropped, self.hosts.addressees());
        self.hosts.discard(packet);
    }

    /// Drops a packet whose destination cannot be reached from a satellite at present. On the ground, every destination
    /// was checked to be reachable.
    #[cold]
    fn drop_without_route(&mut self, now: Instant, on: LinkId, packet: &Packet) {
        self.expired += 1;
        self.drop(now, on, packet, DropCause::NoRoute);
    }

    /// Starts the next epoch of the routes. Its routes apply to packets that arrive a nanosecond later.
    #[cold]
    fn routes_change(&mut self, now: Instant) {
        if self.fabric.overhead.is_some() {
            return self.sky_turns(now);
        }
        let Self { fabric, hosts, clerks, .. } = self;
        let nodes: Vec<NodeId> = fabric.start_epoch().nodes().collect();
        let departures = clerks.departures.as_ref().expect("a change of routes has departures");
        for node in nodes {
            departures.reroute(node, &fabric.routes, hosts);
        }
        self.ways_change(now);
        self.agenda.settle(ScheduledEvent::Epoch, self.fabric.next_epoch().map(before));
    }

    #[inline(always)]
    fn transmit(&mut self, now: Instant, out: PackedExit, packet: &Packet) {
        let exit = out.unpack();
        self.tap.offered(now, exit, packet);
        let on = match exit {
            Exit::Link(on) => on,
            Exit::Interface(interface) => return self.transmit_on_air(now, interface, packet),
            Exit::Tunnel(end) => return self.enter_tunnel(now, end, packet),
        };
        if let Some(part) = self.border.part()
            && let Some(to) = part.exit(on)
        {
            return part.offer(to, on, packet, &mut self.hosts, &self.recorder);
        }
        match self.fabric.offer_computed(now, on, packet, |packet| *packet) {
            Some(Ok(None)) => {}
            Some(Ok(Some(wake))) => self.agenda.arm(ScheduledEvent::Link(on), wake),
            Some(Err(QueueFull)) => self.drop(now, on, packet, DropCause::Queue),
            None => self.transmit_queued(now, on, packet),
        }
    }

    #[cold]
    fn transmit_queued(&mut self, now: Instant, on: LinkId, packet: &Packet) {
        let Self { fabric, recorder, tap, hosts, .. } = self;
        let wake = fabric.offer_queued(now, on, *packet, |dropped| {
            lose(tap, recorder, hosts, on.into(), &dropped);
        });
        if let Some(wake) = wake {
            self.agenda.arm(ScheduledEvent::Link(on), wake);
        }
        if self.clerks.stations.is_some() {
            self.note_user(now, on, packet);
        }
    }

    #[cold]
    fn drop(&mut self, time: Instant, on: LinkId, packet: &Packet, cause: DropCause) {
        let dropped = Dropped { at: time, packet: *packet, cause };
        lose(&mut self.tap, &mut self.recorder, &mut self.hosts, on.into(), &dropped);
    }

    #[inline(always)]
    fn deliver(&mut self, now: Instant, packet: &Packet) {
        self.received += 1;
        match &packet.body {
            PacketBody::Segment(segment) => self.hand_over_to::<Tcp>(now, packet, segment),
            PacketBody::Other(Other::Quic(datagram)) => self.hand_over_to::<Quic>(now, packet, datagram),
            PacketBody::Other(Other::Datagram(datagram)) => self.datagram_arrives(now, packet, datagram),
            PacketBody::Other(Other::Signal(signal)) => self.signal_arrives(now, packet, *signal),
        }
    }

    /// Delivers a packet to its destination endpoint. `inner` is the segment or other contents of the packet.
    #[inline(always)]
    fn hand_over_to<E: Transport>(&mut self, now: Instant, packet: &Packet, inner: &E::Packet) {
        let endpoint = packet.to;
        self.before(endpoint);
        let (socket, arena) = E::sockets_mut(&mut self.hosts).with_arena(endpoint);
        socket.read(now);
        socket.connection.handle_packet(now, inner, packet.ecn(), arena);
        let state = || socket.port.role.sends().then(|| socket.connection.snapshot());
        self.tap.received(now, packet, state);
        self.tap.changed(now, endpoint, Some(packet), || socket.connection.quic());
        if socket.port.application.is_some() {
            self.converse::<E>(now, endpoint);
        }
        let socket = &mut E::sockets_mut(&mut self.hosts)[endpoint];
        match socket.port.task {
            Task::Receive { transfer } if socket.connection.received() >= transfer => {
                socket.port.task = Task::Idle;
                let flow = socket.port.flow;
                self.transfer_arrives(now, flow);
            }
            Task::Relay(relay) => return self.relay_hears::<E>(now, endpoint, relay),
            Task::Collected(collector) => {
                let received = socket.connection.received();
                self.hosts.collectors[collector as usize].arrived(now, received);
            }
            _ => {}
        }
        let socket = &mut E::sockets_mut(&mut self.hosts)[endpoint];
        if socket.connection.waits_for_close() {
            // The application has no data to send: it closes as soon as its peer has.
            socket.connection.close();
        }
        self.flush::<E>(now, endpoint, true);
        if let Some(deadline) = E::sockets(&self.hosts)[endpoint].deadline() {
            self.agenda.arm(ScheduledEvent::Connection(endpoint), deadline);
        }
        self.after(endpoint);
    }

    fn endpoint_wakes<E: Transport>(&mut self, now: Instant, endpoint: EndpointId) {
        self.before(endpoint);
        let socket = &mut E::sockets_mut(&mut self.hosts)[endpoint];
        socket.read(now);
        let Socket { port, connection } = socket;
        if let Task::Open { transfer } = port.task {
            port.task = Task::Idle;
            connection.open(now);
            connection.write(transfer.unwrap_or(u64::MAX));
            if transfer.is_some() {
                connection.close();
            }
        } else if let Task::Begin = port.task {
            port.task = Task::Idle;
            connection.open(now);
        } else if connection.poll_timeout().is_some_and(|deadline| deadline <= now) {
            connection.handle_timeout(now);
        }
        self.tap.changed(now, endpoint, None, || connection.quic());
        match port.task {
            Task::Relay(relay) => self.relay_hears::<E>(now, endpoint, relay),
            _ => {
                if port.application.is_some() {
                    self.write::<E>(now, endpoint);
                    self.converse::<E>(now, endpoint);
                }
                self.flush::<E>(now, endpoint, false);
            }
        }
        let socket = &E::sockets(&self.hosts)[endpoint];
        let deadline = socket.deadline();
        debug_assert!(deadline.is_none_or(|deadline| deadline > now), "a timer that fired is disarmed");
        if socket.connection.poll_timeout().is_none() && socket.connection.status() == Status::Closed {
            self.connection_ended(now, endpoint);
        }
        self.agenda.settle(ScheduledEvent::Connection(endpoint), deadline);
        self.after(endpoint);
    }

    /// Sends the packets of an endpoint after a change that was not caused by a packet or a timer.
    fn serve<E: Transport>(&mut self, now: Instant, endpoint: EndpointId) {
        self.flush::<E>(now, endpoint, false);
        if let Some(deadline) = E::sockets(&self.hosts)[endpoint].deadline() {
            self.agenda.arm(ScheduledEvent::Connection(endpoint), deadline);
        }
    }

    /// Sets the window and the pacing rate of a steered sender, and sends what they allow.
    pub(crate) fn steer(&mut self, now: Instant, endpoint: EndpointId, window: u64, pacing_rate: Option<Rate>) {
        if self.hosts.steer(now, endpoint, window, pacing_rate) {
            self.serve::<Tcp>(now, endpoint);
        }
    }

    /// Handles the end of a connection. If it was aborted before its transfer was complete, the flow has failed.
    fn connection_ended(&mut self, now: Instant, endpoint: EndpointId) {
        if let Some(failure) = self.hosts.socket(endpoint).inspect().failure() {
            self.flow_fails(now, self.hosts.port(endpoint).flow, failure);
            if let Some(leader) = self.give_up_dialogue(endpoint) {
                self.flow_fails(now, leader, failure);
            }
        }
    }

    /// Records that a flow has failed at a proxy. Its dialogue, if it has one, ends.
    #[cold]
    fn split_flow_fails(&mut self, now: Instant, flow: FlowIndex, failure: Failure) {
        self.flow_fails(now, flow, failure);
        if let Some(leader) = self.give_up_dialogue(self.hosts.numbers.receiver(flow)) {
            self.flow_fails(now, leader, failure);
        }
    }

    /// Handles an event of an endpoint of a relay, whose program may run later.
    #[inline]
    fn relay_hears<E: Transport>(&mut self, now: Instant, endpoint: EndpointId, relay: u32) {
        if E::sockets_mut(&mut self.hosts)[endpoint].puts_off(now) {
            self.serve::<E>(now, endpoint);
        } else {
            self.relay::<E>(now, relay);
        }
    }

    /// Handles an event of a connection of a relay.
    #[inline(never)]
    fn relay<E: Transport>(&mut self, now: Instant, relay: u32) {
        self.relay_once::<E>(now, relay);
        while self.hosts.relays[relay as usize].reads_on() {
            self.relay_once::<E>(now, relay);
        }
    }

    fn relay_once<E: Transport>(&mut self, now: Instant, relay: u32) {
        let Relay { entry, exit, reader, .. } = self.hosts.relays[relay as usize];
        let ends = [entry, exit];
        if let Some(part) = self.border.part() {
            ends.into_iter().for_each(|end| part.before(&self.hosts, end));
        }
        let (sockets, relays, _) = E::parts(&mut self.hosts);
        let [entry, exit] = sockets.pair_mut(ends);
        let flow = entry.port.flow;
        let failure = relays[relay as usize].advance(now, &mut entry.connection, &mut exit.connection);
        if let (Some(entry), Some(exit)) = (entry.connection.multiplexed(), exit.connection.multiplexed()) {
            relays[relay as usize].pass_streams(now, entry, exit);
        }
        let arrived = entry.connection.peer_closed().then_some(entry.port.peer);
        if let Some(failure) = failure {
            self.split_flow_fails(now, flow, failure);
        }
        if let Some(sender) = arrived {
            self.sender_ends(now, sender);
        }
        if let Some(dialogue) = reader {
            self.pass_objects::<E>(now, dialogue);
        }
        ends.into_iter().for_each(|at| self.serve::<E>(now, at));
    }

    /// Crashes a proxy. Flows whose connections it loses have failed, because the rest of their data never arrives.
    #[cold]
    fn crash(&mut self, now: Instant) {
        let (_, proxy) = self.clerks.crashes.pop().expect("a crash event has a crash");
        for index in 0..self.hosts.relays.len() {
            let relay = &self.hosts.relays[index];
            if relay.proxy != proxy {
                continue;
            }
            if self.hosts.numbers.is_tcp(relay.entry) {
                self.crash_relay::<Tcp>(now, index);
            } else {
                self.crash_relay::<Quic>(now, index);
            }
        }
        self.agenda.settle(ScheduledEvent::Crash, self.clerks.crashes.last().map(|(at, _)| *at));
    }

    /// Crashes the connections of a relay.
    fn crash_relay<E: Transport>(&mut self, now: Instant, index: usize) {
        let (sockets, relays, _) = E::parts(&mut self.hosts);
        let relay = &mut relays[index];
        let ends = [relay.entry, relay.exit];
        let [entry, exit] = sockets.pair_mut(ends);
        let flow = entry.port.flow;
        if relay.crash(now, &mut entry.connection, &mut exit.connection) {
            self.split_flow_fails(now, flow, Failure::Crashed);
            let of_tcp = ends.map(|end| self.hosts.numbers.is_tcp(end).then_some(end));
            of_tcp.into_iter().flatten().for_each(|end| self.hosts.vacate(end));
        }
    }

    /// Sends the packets of an endpoint, and records what changed. `received`: a segment arrived before.
    #[inline]
    fn flush<E: Transport>(&mut self, now: Instant, endpoint: EndpointId, received: bool) {
        while let Some(packet) = E::poll(&mut self.hosts, now, endpoint) {
            // Read after the call instead of before the loop, so that no value must be saved across it.
            if let Some((packet, arena)) = E::stored(&self.hosts, &packet) {
                self.tap.stored(packet, arena);
            }
            let Socket { port, connection } = &E::sockets(&self.hosts)[endpoint];
            let Enclosed { size, flags, body } = connection.enclose(packet);
            let (out, role) = (port.out, port.role);
            let packet = Packet {
                destination: port.peer_node,
                to: port.peer,
                size: (self.ip_header + size) as u16,
                flags,
                ttl: self.ttl,
                body,
            };
            self.sent += 1;
            let state = || role.sends().then(|| E::sockets(&self.hosts)[endpoint].connection.snapshot());
            self.tap.sent(now, out.unpack(), &packet, state);
            self.transmit(now, out, &packet);
        }
        self.tap.changed(now, endpoint, None, || E::sockets_mut(&mut self.hosts)[endpoint].connection.quic());
        let Socket { port, connection } = &E::sockets(&self.hosts)[endpoint];
        if self.recorder.follows() && port.role.sends() {
            let sample = SenderSample { flow: port.flow, sender: endpoints::number_of_sender(endpoint) };
            let receiver = self.hosts.numbers.receiver(port.flow);
            let progress = || DeliveryProgress::of(self.hosts.socket(receiver).stream());
            self.recorder.follow(now, sample, connection, progress, received);
        }
    }

    #[cold]
    fn sample(&mut self, now: Instant) {
        let exits = (0..self.hosts.relays.len()).map(|relay| self.hosts.relays[relay].exit);
        for endpoint in self.hosts.numbers.senders().chain(exits) {
            if self.border.of().is_some_and(|part| !part.has_endpoint(endpoint)) {
                continue;
            }
            let (sender, flow) = (self.hosts.socket(endpoint).inspect(), self.hosts.port(endpoint).flow);
            // A server without a connection has no state to record.
            if !matches!(sender.status(), Status::Closed | Status::Listening) {
                let progress = DeliveryProgress::of(self.hosts.socket(self.hosts.numbers.receiver(flow)).stream());
                let place = SenderSample { flow, sender: endpoints::number_of_sender(endpoint) };
                self.recorder.trace_sample(now, place, &sender.snapshot(), progress);
            }
        }
        let sky = self.fabric.overhead.as_ref().map_or(0..0, |overhead| overhead.links());
        for (index, hop) in self.fabric.hops.iter_mut().enumerate() {
            if self.border.of().is_some_and(|part| !part.has_link(LinkId(index as u32))) {
                continue;
            }
            if sky.contains(&index) && hop.link.counters().offered == 0 {
                continue;
            }
            self.recorder.queue_sample(now, LinkId(index as u32), || hop.link.backlog(now));
        }
        self.agenda.settle(ScheduledEvent::Sampler, Some(now + self.recorder.interval()));
    }

    /// Ends the run: queues make the decisions that are due, and all packets are counted.
    ///
    /// # Panics
    /// If a packet was neither delivered, nor dropped with a cause, nor is in flight, which is a defect of the
    /// simulator.
    pub(crate) fn finish(&mut self, end: Instant) {
        let (mut made, mut dropped, mut in_flight) = (self.sent, self.expired, 0);
        let Self { fabric, tap, recorder, hosts, .. } = self;
        for (at, Hop { link }) in fabric.hops.iter_mut().enumerate() {
            if let Some(link) = link.model_mut() {
                link.catch_up(end);
                for dropped in link.dropped() {
                    lose(tap, recorder, hosts, LinkId(at as u32).into(), &dropped);
                }
            }
            let c = link.counters();
            let damaged = c.dropped_error + c.dropped_outage;
            let lost = c.dropped_queue
                + c.dropped_aqm
                + c.dropped_police
                + c.dropped_mtu
                + damaged
                + c.dropped_acks
                + c.dropped_route;
            let on_link = link.in_flight() as u64;
            assert_eq!(
                c.offered + c.duplicated,
                lost + c.delivered + c.withdrawn + on_link,
                "the packet counters of a link do not add up"
            );
            made += c.duplicated;
            dropped += lost;
            in_flight += on_link;
        }
        if let Some(media) = self.media.as_deref_mut() {
            media.settle(end);
            media.check();
            dropped += media.dropped;
            in_flight += media.in_flight();
        }
        let [in_tunnels, dropped_there] = self.finish_tunnels(end);
        dropped += dropped_there;
        in_flight += in_tunnels;
        assert_eq!(made, self.received + dropped + in_flight, "packets are conserved");
        let stored = self.hosts.quic.arena().used() as u64;
        assert!(stored <= in_flight, "the contents of a packet that has arrived or was dropped are freed");
        self.recorder.sort_drops();
    }
}

/// Reports a packet that was dropped, and frees its contents.
#[cold]
fn lose(tap: &mut impl Tap, recorder: &mut Recorder, hosts: &mut Hosts, on: Exit, dropped: &Dropped<PacketBody>) {
    tap.dropped(on, dropped);
    recorder.dropped(on, dropped, hosts.addressees());
    hosts.discard(&dropped.packet);
}
