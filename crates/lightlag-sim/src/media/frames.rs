//! The frames that interfaces pass to a medium, and the events that a medium reports about them.

use super::air::interface;
use super::code_points::code_point;
use super::packet::Unaddressed;
use super::{Air, FramePayload, Interface, Media, PacketOutcome};
use lightlag_core::{Instant, prefetch, prefetch_value};
use lightlag_net::InterfaceId;
use lightlag_net::StationId;
use lightlag_net::medium::{Addressee, Event, Outgoing, Precedence};
use lightlag_net::queue::DropCause;
use lightlag_routing::{Break, FailedPacketFate, PacketInfo, PrefetchStep, Receiver};

/// Number of interfaces whose agents certainly fit into the CPU cache.
const CACHED: usize = 64;

impl Media {
    /// Passes a frame for a neighbour to the medium.
    pub(super) fn offer(&mut self, now: Instant, interface: InterfaceId, frame: Unaddressed) {
        let Interface { medium, station, .. } = self.interfaces[interface.index()];
        let air = &mut self.shared[medium];
        let Some(to) = air.stations[frame.next.0 as usize] else { return self.drop_unaddressed(interface, frame) };
        let Unaddressed { size, load: payload, .. } = frame;
        let precedence = match &payload {
            FramePayload::Packet(parcel) => {
                code_point(&self.code_points, &parcel.packet).map_or(Precedence::Station, Precedence::Marked)
            }
            _ => Precedence::None,
        };
        air.medium.offer(now, station, Outgoing { to: Addressee::One(to), size, precedence, payload });
        self.listen(now, medium);
    }

    /// Passes a broadcast frame to the medium.
    pub(super) fn broadcast(&mut self, now: Instant, interface: InterfaceId, size: u32, payload: FramePayload) {
        let Interface { medium, station, .. } = self.interfaces[interface.index()];
        let packet = Outgoing { to: Addressee::All, size, precedence: Precedence::None, payload };
        self.shared[medium].medium.offer(now, station, packet);
        self.listen(now, medium);
    }

    /// Handles the events of a medium. Packets are queued to be forwarded; agents receive their events immediately.
    pub(super) fn listen(&mut self, now: Instant, medium: usize) {
        while let Some(event) = self.shared[medium].medium.poll_event() {
            if self.interfaces.len() > CACHED {
                self.fetch_next(medium);
            }
            match event {
                Event::Received { at, from, to, payload, snr_db } => {
                    let air = &self.shared[medium];
                    let (interface, from) = (air.interface(at), air.nodes[from.0 as usize]);
                    match payload {
                        FramePayload::Packet(mut parcel) => {
                            parcel.from = Some(from);
                            self.hops += 1;
                            self.outcomes.push_back(PacketOutcome::Arrived { interface, parcel });
                        }
                        FramePayload::Routing(message, _) => {
                            let to = if to == Addressee::All {
                                Receiver::All
                            } else {
                                Receiver::One(self.interfaces[interface.index()].node)
                            };
                            let Self { interfaces, shared, .. } = self;
                            interfaces[interface.index()].agent.hear(
                                now,
                                from,
                                to,
                                &message,
                                snr_db,
                                &mut shared[medium],
                            );
                            self.act(now, interface);
                        }
                        FramePayload::Address(packet) => {
                            self.interfaces[interface.index()].resolver.hear(now, &packet);
                            self.act(now, interface);
                        }
                    }
                }
                Event::Acknowledged { at, to, .. } => {
                    let air = &self.shared[medium];
                    let (interface, to) = (air.interface(at), air.nodes[to.0 as usize]);
                    self.interfaces[interface.index()].agent.sent(now, to);
                    self.act(now, interface);
                }
                Event::Dropped { at, to, payload, cause, arrived } => {
                    let interface = self.shared[medium].interface(at);
                    self.gave_up(now, interface, to, payload, cause, arrived);
                }
                Event::Unreachable { at, to, cause } => {
                    let interface = self.shared[medium].interface(at);
                    self.lose_link(now, interface, to, cause, None);
                    self.act(now, interface);
                }
            }
        }
    }

    /// Prefetches the agents that will next receive a message: first the pointer to an agent, then the agent, then the
    /// entries that it needs.
    fn fetch_next(&self, medium: usize) {
        let Air { medium, first, nodes, .. } = &self.shared[medium];
        let agent = |place| match medium.upcoming(place)? {
            Event::Received { at, from, payload: FramePayload::Routing(message, _), .. } => {
                let interface = &self.interfaces[interface(*first, *at).index()];
                Some((&interface.agent, nodes[from.0 as usize], message))
            }
            _ => None,
        };
        if let Some((agent, ..)) = agent(3) {
            prefetch(std::ptr::from_ref(agent));
        }
        if let Some((agent, ..)) = agent(2) {
            prefetch_value(agent.as_ref());
        }
        if let Some((agent, from, message)) = agent(1) {
            agent.prefetch(from, message, PrefetchStep::Place);
        }
        if let Some((agent, from, message)) = agent(0) {
            agent.prefetch(from, message, PrefetchStep::Value);
        }
    }

    /// Handles a frame that the MAC of an interface dropped. `arrived`: the frame was received, and only its
    /// acknowledgement was lost.
    fn gave_up(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        to: Addressee,
        load: FramePayload,
        cause: DropCause,
        arrived: bool,
    ) {
        let parcel = match load {
            FramePayload::Packet(parcel) => Some(parcel),
            FramePayload::Routing(..) | FramePayload::Address(_) => None,
        };
        let fate = match to {
            Addressee::All => FailedPacketFate::Lost,
            Addressee::One(to) => {
                self.lose_link(now, interface, to, cause, parcel.as_ref().map(|parcel| parcel.heading()))
            }
        };
        if let Some(parcel) = parcel.filter(|_| !arrived) {
            match fate {
                FailedPacketFate::Wait => self.keep(now, interface, parcel),
                FailedPacketFate::Again => self.route(now, interface, parcel),
                FailedPacketFate::Lost => {
                    self.outcomes.push_back(PacketOutcome::Dropped { interface, packet: parcel.packet, cause });
                }
            }
        }
        self.act(now, interface);
    }

    /// Notifies the agent of an interface that a frame to a station was dropped. Returns what happens to the packet in
    /// it.
    fn lose_link(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        to: StationId,
        cause: DropCause,
        heading: Option<PacketInfo>,
    ) -> FailedPacketFate {
        let reason = match cause {
            DropCause::Queue => Break::Queue,
            DropCause::Lifetime => Break::Lifetime,
            // The medium stopped sending the frame, for any other cause.
            _ => Break::Retry,
        };
        let to = self.shared[self.interfaces[interface.index()].medium].nodes[to.0 as usize];
        let state = &mut self.interfaces[interface.index()];
        state.broken += u64::from(reason == Break::Retry);
        state.agent.broken(now, to, reason, heading.as_ref())
    }
}
