//! The fabric: the links of a network and the routes over them, for simulated and emulated runs.
//!
//! A packet is offered to a link and taken from its far end. Both calls return the time of the link's next event, and
//! report the packets that the link has dropped. The fabric has neither clocks nor endpoints: its caller stores the
//! times, takes the packets that are due and offers them to the next link.

mod constellation;

pub(crate) use constellation::{Constellation, Turned};
use lightlag_core::custom::Fault;
use lightlag_core::{Instant, Probability};
use lightlag_net::queue::{DisciplineConfig, DropCause, Dropped};
use lightlag_net::{
    Beam, ComputedLink, Disturbance, Epoch, Link, LinkConfig, LinkConstants, LinkId, LossPlace, LossProcess, NodeId,
    Packet, PacketSpares, QueueFull, QueuedLink, RouteTable, Routes,
};
use lightlag_scenario::{LinkDirection, LinkDynamics, LinkProperties, Network};
use std::collections::VecDeque;
use std::sync::Arc;

/// The links and routes of a network.
pub(crate) struct Fabric<B> {
    /// One entry per direction of a link, in the order of the network.
    pub(crate) hops: Vec<Hop<B>>,
    /// Memory for packets that idle links have returned, and that other links reuse.
    spares: PacketSpares<B>,
    /// Routes of the current epoch.
    pub(crate) routes: RouteTable,
    /// All routes of the run, and the number of epochs that have started.
    plan: Routes,
    started: usize,
    /// Routing over the constellation, if there is one.
    pub(crate) overhead: Option<Box<Constellation>>,
}

/// One direction of a link.
// One and a half cache lines, aligned to lie in two.
#[repr(align(32))]
pub(crate) struct Hop<B> {
    pub(crate) link: Link<B>,
}

const _: () = assert!(size_of::<Hop<crate::body::PacketBody>>() == 96, "a link direction lies in two cache lines");

impl<B: Clone + Default + Send + 'static> Fabric<B> {
    /// Returns the fabric of a network with idle links; `seed` initialises their random streams.
    pub(crate) fn new(network: &Network, seed: u64) -> Self {
        let space = network.space.as_ref();
        let mut kinds = Kinds::default();
        let link = |(at, direction): (usize, &LinkDirection)| {
            let beam = space.and_then(|space| space.beam(LinkId(at as u32)));
            hop(direction, &mut kinds, beam, seed)
        };
        let hops = network.links.iter().enumerate().map(link).collect();
        let mut fabric = Self {
            hops,
            spares: PacketSpares::default(),
            routes: network.routes.at_start().clone(),
            plan: network.routes.clone(),
            started: 0,
            overhead: None,
        };
        if let Some(space) = space {
            let overhead = Constellation::new(space.clone(), network, &mut fabric.hops, &mut fabric.routes, seed);
            fabric.overhead = Some(Box::new(overhead));
        }
        fabric
    }
}

impl<B> Fabric<B> {
    /// Returns the start time of the next epoch of the routes, if there is one.
    pub(crate) fn next_epoch(&mut self) -> Option<Instant> {
        if let Some(overhead) = &mut self.overhead {
            return overhead.next_change();
        }
        self.plan.epochs().get(self.started).map(|epoch| epoch.from)
    }

    /// Starts the next epoch of the routes.
    pub(crate) fn start_epoch(&mut self) -> &Epoch {
        let epoch = &self.plan.epochs()[self.started];
        self.started += 1;
        self.routes.advance(epoch);
        epoch
    }

    /// Returns true if a node drops a packet because its TTL has expired. If the routes never change, they have no
    /// loops, and no path is too long. Packets may then always cross one more link.
    #[cold]
    pub(crate) fn expires(&self, packet: &mut Packet<B>) -> bool {
        packet.ttl = 1;
        !self.plan.epochs().is_empty() || self.overhead.is_some()
    }
}

impl<B: Clone + Default> Fabric<B> {
    /// Returns the failure of the router of a constellation, if it failed.
    pub(crate) fn fault_of_ways(&self) -> Option<&Fault> {
        self.overhead.as_ref()?.fault()
    }

    /// Returns the link whose queue discipline failed first, and the failure; `None` if none failed.
    pub(crate) fn fault(&self) -> Option<(usize, &Fault)> {
        let faults = self.hops.iter().enumerate().filter_map(|(at, hop)| Some((at, hop.link.fault()?)));
        faults.min_by_key(|(at, fault)| (fault.at, *at))
    }

    /// Offers a copy of a packet, made by `copy`, to a link. Returns the time of the link's next event, if it may be
    /// earlier than before. Calls `drop` for each packet that the link drops now.
    pub(crate) fn offer(
        &mut self,
        now: Instant,
        on: LinkId,
        packet: &Packet<B>,
        copy: impl Fn(&Packet<B>) -> Packet<B>,
        mut drop: impl FnMut(Dropped<B>),
    ) -> Option<Instant> {
        match self.offer_computed(now, on, packet, &copy) {
            Some(Ok(wake)) => wake,
            Some(Err(QueueFull)) => {
                drop(Dropped { at: now, packet: copy(packet), cause: DropCause::Queue });
                None
            }
            None => self.offer_queued(now, on, copy(packet), drop),
        }
    }

    /// Offers a packet to a computed link, which never drops any other packet. Returns `None` if the link is not
    /// computed.
    #[inline(always)]
    pub(crate) fn offer_computed(
        &mut self,
        now: Instant,
        on: LinkId,
        packet: &Packet<B>,
        copy: impl Fn(&Packet<B>) -> Packet<B>,
    ) -> Option<Result<Option<Instant>, QueueFull>> {
        let Hop { link: Link::Computed(link) } = &mut self.hops[on.0 as usize] else { return None };
        let was_idle = link.in_flight() == 0;
        if was_idle {
            link.furnish(&mut self.spares);
        }
        Some(link.send_by(now, packet, copy).map(|()| if was_idle { link.last_arrival() } else { None }))
    }

    /// Offers a packet to a queued link.
    #[cold]
    pub(crate) fn offer_queued(
        &mut self,
        now: Instant,
        on: LinkId,
        packet: Packet<B>,
        drop: impl FnMut(Dropped<B>),
    ) -> Option<Instant> {
        let link = self.hops[on.0 as usize].link.model_mut().expect("a link that is not computed has a model");
        link.send(now, packet);
        link.dropped().for_each(drop);
        link.next_wake()
    }

    /// Handles the event of a link. Returns the packet that arrives at its far end now, if there is one, the node at
    /// the far end, and the time of the link's next event. Calls `drop` for each packet that the link has dropped.
    pub(crate) fn take(
        &mut self,
        now: Instant,
        on: LinkId,
        drop: impl FnMut(Dropped<B>),
    ) -> (Option<Packet<B>>, NodeId, Option<Instant>) {
        match &mut self.hops[on.0 as usize] {
            Hop { link: Link::Computed(link) } => (Some(link.receive()), link.to(), link.next_arrival()),
            _ => self.take_queued(now, on, drop),
        }
    }

    /// Returns a link and the node at its far end, if the link is computed. The caller then takes a packet from the
    /// link.
    #[inline(always)]
    pub(crate) fn computed(&mut self, on: LinkId) -> Option<(&mut ComputedLink<B>, NodeId)> {
        let Hop { link: Link::Computed(link) } = &mut self.hops[on.0 as usize] else { return None };
        let to = link.to();
        Some((link, to))
    }

    /// Releases the memory of an idle link, because only few of many links carry packets at any time.
    #[inline(never)]
    pub(crate) fn rest(&mut self, on: LinkId) {
        if let Hop { link: Link::Computed(link) } = &mut self.hops[on.0 as usize] {
            link.rest(&mut self.spares);
        }
    }

    /// Handles the event of a queued link like [`Self::take`].
    #[cold]
    pub(crate) fn take_queued(
        &mut self,
        now: Instant,
        on: LinkId,
        drop: impl FnMut(Dropped<B>),
    ) -> (Option<Packet<B>>, NodeId, Option<Instant>) {
        let link = self.hops[on.0 as usize].link.model_mut().expect("a link that is not computed has a model");
        let arrived = link.receive_at(now);
        link.dropped().for_each(drop);
        let (packet, at) = arrived.map_or((None, None), |(packet, at)| (Some(packet), at));
        (packet, at.unwrap_or(link.to()), link.next_wake())
    }
}

/// Cache of the constants of recent link directions, by their properties.
#[derive(Default)]
struct Kinds(VecDeque<(Arc<LinkProperties>, Arc<LinkConstants>)>);

impl Kinds {
    /// Maximum number of entries: enough for the kinds of directions that alternate in a generated network.
    const MOST: usize = 8;

    /// Returns the constants of a direction, which are shared with an earlier direction that has the same properties.
    fn of(&mut self, direction: &LinkDirection) -> Arc<LinkConstants> {
        let properties = &direction.properties;
        if let Some((_, constants)) = self.0.iter().find(|(known, _)| Arc::ptr_eq(known, properties)) {
            return constants.clone();
        }
        let LinkProperties { rate, delay, queue, header, .. } = **properties;
        let constants = Arc::new(LinkConstants::new(LinkConfig { rate, delay, queue, header: header.0 }));
        self.0.truncate(Self::MOST - 1);
        self.0.push_front((properties.clone(), constants.clone()));
        constants
    }
}

/// Returns an idle link direction.
fn hop<B: Clone + Default + Send + 'static>(
    direction: &LinkDirection,
    kinds: &mut Kinds,
    beam: Option<Beam>,
    seed: u64,
) -> Hop<B> {
    let LinkProperties { ref discipline, reorder, duplicate, .. } = **direction;
    let constants = kinds.of(direction);
    let random = |purpose| direction.random(seed, purpose);
    let loss = LossProcess::new(&direction.losses(seed), random("loss")).at(direction.loss_place);
    let is_steady = reorder.is_none()
        && beam.as_ref().is_none_or(Beam::has_one_end)
        && duplicate == Probability::ZERO
        && direction.timetable.is_none()
        && direction.fade.is_none()
        && direction.on_demand.is_none()
        && direction.police.is_none()
        && direction.mtu.is_none()
        && direction.dynamics.is_none()
        && direction.code.is_none()
        // Stations require links of the other kind.
        && direction.signals.is_none_or(|plan| !plan.outage);
    let in_transmission = loss.place() == LossPlace::AfterQueue;
    let link = if *discipline == DisciplineConfig::DropTail && is_steady && in_transmission {
        let link = ComputedLink::sharing(constants, loss).leading_to(direction.to);
        Link::Computed(match beam {
            Some(beam) => link.beaming(beam),
            None => link,
        })
    } else {
        let mut disturbance = Disturbance::none();
        if let Some(reordering) = reorder {
            disturbance = disturbance.reordering(reordering, random("reorder"));
        }
        if duplicate != Probability::ZERO {
            disturbance = disturbance.duplicating(duplicate, random("duplicate"));
        }
        let discipline = discipline.build(constants.config(), random("queue"));
        let link = QueuedLink::new(*constants.config(), discipline, loss, disturbance).leading_to(direction.to);
        let link = match (direction.timetable(seed), direction.jitter) {
            (Some(timetable), Some(jitter)) => link.jittering(timetable, jitter, random("jitter")),
            (Some(timetable), None) => link.changing(timetable),
            (None, _) => link,
        };
        let link = match (direction.on_demand, beam) {
            (Some(demand), _) => link.on_demand(demand),
            (None, Some(beam)) => link.beaming(beam),
            (None, None) => link,
        };
        let link = match direction.fade.as_ref().and_then(|weather| weather.link.frames.zip(Some(weather))) {
            Some((frames, weather)) => link.framing(frames, weather.link.symbol_rate),
            None => link,
        };
        let link = match direction.police {
            Some(policer) => link.policed(policer),
            None => link,
        };
        let link = match direction.mtu {
            Some(mtu) => link.limited(mtu),
            None => link,
        };
        let link = match &direction.dynamics {
            Some(dynamics) => with_frames(link, dynamics),
            None => link,
        };
        Link::Modelled(Box::new(match direction.code {
            Some(code) => link.coded(code),
            None => link,
        }))
    };
    Hop { link }
}

/// Returns the link with the rate and the frames of its dynamics.
fn with_frames<B: Clone + Default>(link: QueuedLink<B>, dynamics: &LinkDynamics) -> QueuedLink<B> {
    let link = match dynamics.ramp {
        Some(ramp) => link.ramping(ramp, dynamics.slots.as_ref()),
        None => link,
    };
    match dynamics.aggregate {
        Some(frames) => link.aggregating(frames),
        None => link,
    }
}
