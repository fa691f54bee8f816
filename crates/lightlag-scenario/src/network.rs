//! The network that a scenario describes, as plain data: every node, link direction and flow, and the routes.

mod passages;

pub use passages::{Proxy, Split, Tunnel};

use crate::dynamics::LinkDynamics;
use crate::spec::{IpVersion, Line, LinkSide, QlogSchema, Reader, Transport};
pub use crate::spec::{MediumPlan, RandomAccessPlan, Rcs2Plan, WifiPlan};
use lightlag_control::congestion::Choice;
use lightlag_core::{Bytes, Dscp, Duration, Instant, Probability, RandomStream, Rate};
use lightlag_mobility::Doubt;
use lightlag_mobility::Motion;
use lightlag_net::queue::DisciplineConfig;
use lightlag_net::queue::custom::CustomDiscipline as CustomQueue;
use lightlag_net::{
    AdaptiveLink, Beam, BlockCode, Demand, FarEnd, Flight, InterfaceId, Jitter, LinkId, Loss, LossPlace, NO_EXIT,
    NodeId, Outage, Policer, QueueLimit, RatesByElevation, Reordering, Routes, StationId, Timetable,
};
use lightlag_orbit::grid::derived::FoundGrid;
use lightlag_orbit::satellite_routing::CustomSatelliteRouter;
use lightlag_orbit::{Handover, PathRules, Sky};
use lightlag_routing::{Router, arp};
use lightlag_tcp::Config;
use lightlag_traffic::{Setup, Traffic, WebPage};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

/// A network, ready to be built.
#[derive(Clone, Debug)]
pub struct Network {
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Link directions. Link `i` has the directions `2i` (forward) and `2i + 1` (backward). Listed links come first,
    /// then generated ones.
    pub links: Vec<LinkDirection>,
    /// Radio media. Their interfaces are numbered after the links, medium by medium.
    pub media: Vec<Medium>,
    /// The constellation, if there is one. Its links are numbered after wired links, and its satellites after the other
    /// nodes.
    pub space: Option<Space>,
    /// Implausible traces of nodes, each with its path in the scenario.
    pub doubts: Vec<(Doubt, String)>,
    /// Flows, listed ones first, then generated ones, then the connections of tunnels.
    pub flows: Vec<Flow>,
    /// Proxies, in the order of the scenario.
    pub proxies: Vec<Proxy>,
    /// Passages of flows through proxies, ordered by flow, and for each flow from its sender to its receiver.
    pub splits: Vec<Split>,
    /// Every passage of a QUIC flow through a proxy, which cannot split it.
    pub opaque: Vec<Split>,
    /// Tunnels, in the order of the scenario.
    pub tunnels: Vec<Tunnel>,
    /// Next link from every node to every other, and its changes over time.
    pub routes: Routes,
    /// Initial time to live of packets.
    pub ttl: u8,
    /// Version of IP.
    pub ip: IpVersion,
    /// Capture points of packets, if there are any.
    pub captures: Option<CapturePlan>,
}

/// A medium that several nodes share.
#[derive(Clone, Debug)]
pub struct Medium {
    /// Name of the medium, unique.
    pub name: String,
    /// Kind of the medium, with its settings.
    pub plan: MediumPlan,
    /// Routing protocol of the nodes on the medium.
    pub routing: Router,
    /// Whether and how the nodes resolve addresses on the medium.
    pub arp: arp::ResolutionMode,
    /// Whether TCP senders are notified when their route over the medium has broken (ELFN).
    pub elfn: bool,
    /// Nodes on the medium.
    pub members: Vec<MediumMember>,
}

impl Medium {
    /// Returns the motion of each member.
    pub fn motions(&self) -> impl Iterator<Item = &Motion> {
        (0..self.members.len()).map(|member| self.plan.motion(StationId::at(member)))
    }
}

/// A constellation and its position among the nodes and links of the network.
#[derive(Clone, Debug)]
pub struct Space {
    /// Positions and visibility of its satellites and stations.
    pub sky: Arc<Sky>,
    /// Node that stands for the entire constellation: the next node of stations in route tables.
    pub hub: NodeId,
    /// Node of the first satellite; the others follow.
    pub first: NodeId,
    /// The node of each station.
    pub stations: Vec<NodeId>,
    /// Link index of the transmitter of the first station; the other stations follow.
    pub dishes: LinkId,
    /// Link index of the first transmitter of the first satellite to the ground; the others follow.
    pub antennas: LinkId,
    /// Whether each satellite has one transmitter per station, in the order of the stations, instead of a single one.
    pub has_antenna_for_each: bool,
    /// Link index of the first direction of the first link between satellites; the others follow.
    pub isls: LinkId,
    /// Directions of links between satellites, with the satellites at both ends. Sorted by these.
    pub crossings: Arc<[([u32; 2], LinkId)]>,
    /// Pairs of entry and exit stations between which packets cross the constellation.
    pub pairs: Vec<(u32, u32)>,
    /// Exit index of each destination: the index of its exit station in the ascending list of all exit stations.
    pub exits: Arc<[u32]>,
    /// Rates by elevation of each station's transmitter, and of the transmitters of all satellites; `None` if the rate
    /// is constant.
    pub rates: (Vec<Option<RatesByElevation>>, Option<RatesByElevation>),
    /// Rules that select the paths.
    pub rules: PathRules,
    /// Custom router that replaces the built-in one, if there is one.
    pub routing: Option<CustomSatelliteRouter>,
    /// Effects of a handover.
    pub handover: Handover,
    /// End of the run.
    pub until: Instant,
    /// Data about the satellites that come from a file.
    pub filed: Filed,
}

/// Data about the satellites that come from a file of orbital elements.
#[derive(Clone, Debug, Default)]
pub struct Filed {
    /// Maximum time in seconds between the start of the run and the epoch of any orbital elements; zero without a file.
    pub oldest: f64,
    /// Grid that was detected in the orbits, if one was requested.
    pub grid: Option<FoundGrid>,
}

impl Space {
    /// Returns the network node of a satellite or station, given by its index in the constellation.
    pub fn node(&self, number: u32) -> NodeId {
        match self.sky.station(number) {
            Some(station) => self.stations[station],
            None => NodeId(self.first.0 + number),
        }
    }

    /// Returns the link from one node of the constellation to another, both given by their index in the constellation.
    pub fn link(&self, from: u32, to: u32) -> Option<LinkId> {
        if let Some(station) = self.sky.station(from) {
            return Some(LinkId(self.dishes.0 + station as u32));
        }
        if let Some(station) = self.sky.station(to) {
            let among = if self.has_antenna_for_each { station as u32 } else { 0 };
            return Some(LinkId(self.antenna(from).0 + among));
        }
        let at = self.crossings.binary_search_by_key(&[from, to], |(ends, _)| *ends).ok()?;
        Some(self.crossings[at].1)
    }

    /// Returns the first link from a satellite to the ground.
    pub fn antenna(&self, satellite: u32) -> LinkId {
        LinkId(self.antennas.0 + satellite * self.antennas_of_each())
    }

    /// Returns true if a link leads from a satellite to the ground.
    pub fn is_antenna(&self, link: LinkId) -> bool {
        (self.antennas.0..self.isls.0).contains(&link.0)
    }

    fn antennas_of_each(&self) -> u32 {
        if self.has_antenna_for_each { self.stations.len() as u32 } else { 1 }
    }

    /// Returns the far ends of a link as a beam; `None` if the link does not belong to the constellation.
    pub fn beam(&self, link: LinkId) -> Option<Beam> {
        let index = link.0.checked_sub(self.dishes.0)?;
        let (stations, satellites) = (self.stations.len() as u32, self.sky.satellites().len() as u32);
        let antennas = satellites * self.antennas_of_each();
        let (up, down) = &self.rates;
        let sky = || -> Arc<dyn Flight> { self.sky.clone() };
        let by_exit = |from| Some(Beam::by_exit(sky(), from, self.exits.clone(), self.exits_in_all()));
        if index < stations {
            return by_exit(satellites + index).map(|beam| beam.at_rates(up[index as usize].clone()));
        }
        let antenna = index - stations;
        if antenna < antennas {
            return by_exit(antenna / self.antennas_of_each()).map(|beam| beam.at_rates(down.clone()));
        }
        let isl_direction = antenna - antennas;
        let isl = self.sky.isls().get(isl_direction as usize / 2)?;
        let [from, to] = if isl_direction.is_multiple_of(2) { isl.ends } else { [isl.ends[1], isl.ends[0]] };
        Some(Beam::between(sky(), from, self.far_end(to)))
    }

    /// Returns a node of the constellation, given by its index, as the far end of a link.
    pub fn far_end(&self, number: u32) -> FarEnd {
        FarEnd { number, node: self.node(number) }
    }

    /// Returns the number of exits.
    fn exits_in_all(&self) -> usize {
        self.exits.iter().filter(|exit| **exit != NO_EXIT).max().map_or(0, |last| *last as usize + 1)
    }

    /// Returns the exit index of packets to `node`; `None` if they do not cross the constellation.
    pub fn exit(&self, node: NodeId) -> Option<usize> {
        let exit = *self.exits.get(node.0 as usize)?;
        (exit != NO_EXIT).then_some(exit as usize)
    }
}

/// A segment of a path between two nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hop {
    /// A link direction.
    Link(LinkId),
    /// The crossing of a medium, in any number of hops.
    Air(Crossing),
    /// The crossing of the constellation, from one station to another, given by their indices.
    Sky([usize; 2]),
}

/// The crossing of a medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Crossing {
    /// Index of the medium.
    pub medium: usize,
    /// Index of the member where packets enter the medium.
    pub from: u32,
    /// Index of the member where packets leave the medium.
    pub to: u32,
}

/// A node on a medium.
#[derive(Clone, Debug)]
pub struct MediumMember {
    /// ID of the node.
    pub node: NodeId,
}

/// One direction of a link: its ends, and its properties, which are shared with directions that have equal ones.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkDirection {
    /// Name `from->to`, unique.
    pub name: String,
    /// Node at its start.
    pub from: NodeId,
    /// Node at its end.
    pub to: NodeId,
    /// All other properties. They are shared, because a network may have millions of generated link directions that
    /// differ only in their ends.
    pub properties: Arc<LinkProperties>,
}

impl Deref for LinkDirection {
    type Target = LinkProperties;

    fn deref(&self) -> &LinkProperties {
        &self.properties
    }
}

/// The properties of a link direction.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkProperties {
    /// Transmission rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// Maximum number of packets or bytes that wait.
    pub queue: QueueLimit,
    /// Queue discipline.
    pub discipline: DisciplineConfig,
    /// Losses other than queue overflow.
    pub loss: Loss,
    /// Whether losses are drawn before or after the queue.
    pub loss_place: LossPlace,
    /// Forward error correction, if there is any.
    pub code: Option<BlockCode>,
    /// Reordering rule, if there is one.
    pub reorder: Option<Reordering>,
    /// Probability that a packet arrives twice.
    pub duplicate: Probability,
    /// Changes of the rate and the delay, and outages, if there are any.
    pub timetable: Option<Timetable>,
    /// Variation of the delay between packets, if there is any. A link with jitter also has a timetable.
    pub jitter: Option<Jitter>,
    /// Rain that determines the rate, if there is any. A link with rain has no timetable, except for jitter.
    pub fade: Option<Weather>,
    /// Bandwidth on demand, if the transmitter must request capacity.
    pub on_demand: Option<Demand>,
    /// Policer before the queue, if there is one.
    pub police: Option<Policer>,
    /// Maximum size of an IP packet, if there is one.
    pub mtu: Option<Bytes>,
    /// Slots, states, demand-driven capacity and frames, if there are any. A link with slots or states also has a
    /// timetable.
    pub dynamics: Option<Box<LinkDynamics>>,
    /// Notifications from the stations at both ends, if they send any; the same for both directions of a link.
    pub signals: Option<SignalPlan>,
    /// Size of the link-layer header of every packet.
    pub header: Bytes,
}

/// Rain over a link direction. The weather is drawn when the simulation is built.
#[derive(Clone, PartialEq, Debug)]
pub struct Weather {
    /// The link, which adapts its rate to the rain.
    pub link: AdaptiveLink,
    /// End of the run.
    pub until: Duration,
    /// Fate of packets while nothing can be sent.
    pub outage: Outage,
    /// Whether packets may overtake, if there is jitter.
    pub overtaking: bool,
}

impl Weather {
    /// Returns the timetable of a link direction with this propagation delay, with the weather drawn from `random`.
    fn timetable(&self, delay: Duration, random: RandomStream) -> Timetable {
        self.link.timetable((delay, self.until), random, self.outage, self.overtaking)
    }
}

/// Notifications from the stations at both ends of a link to the endpoints of flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SignalPlan {
    /// Whether the stations notify senders of the start and the end of an outage.
    pub outage: bool,
    /// Whether the stations notify the receiver of a corrupted packet about the corruption.
    pub to_receiver: bool,
    /// Whether the stations notify the sender of a corrupted packet about the corruption.
    pub to_sender: bool,
    /// When an outage starts, a sender is notified only if its last data is not older than this.
    pub recent: Duration,
    /// Minimum time between two equal notifications.
    pub interval: Duration,
}

/// Properties of a dialogue, shared by its connections. Most flows have none, so a flow has one pointer to them.
#[derive(Clone, Debug, Default)]
pub struct DialoguePlan {
    /// Set-up of the connections.
    pub setup: Option<Setup>,
    /// Page that is loaded from a file.
    pub page: Option<Arc<WebPage>>,
}

/// One connection that carries data.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Name of the connection, unique.
    pub name: String,
    /// Index in the list of the scenario; `None` for a generated flow.
    pub listed: Option<u32>,
    /// Role of the connection in the flow that the scenario describes.
    pub part: FlowRole,
    /// Node that sends.
    pub from: NodeId,
    /// Node that receives.
    pub to: NodeId,
    /// Transport protocol.
    pub transport: Transport,
    /// Traffic of the application.
    pub traffic: Arc<Traffic>,
    /// Size of the payload; `None` if the connection sends until the run ends.
    pub transfer: Option<Bytes>,
    /// Reading rate of the receiving application; `None` reads immediately.
    pub reader: Option<Reader>,
    /// Time when the connection is opened.
    pub start: Instant,
    /// Code point of the packets in both directions.
    pub dscp: Option<Dscp>,
    /// Plan of the dialogue, for traffic with requests that has one.
    pub dialogue: Option<Arc<DialoguePlan>>,
    /// TCP configuration of the sender.
    pub tcp: Arc<Config>,
    /// TCP configuration of the receiver; the same value unless the scenario configures the endpoints differently.
    pub receiver_tcp: Arc<Config>,
    /// QUIC configurations of the sender and the receiver; only with QUIC.
    pub quic: Option<Arc<QuicEnds>>,
}

/// QUIC configurations of the endpoints of a flow.
#[derive(Clone, PartialEq, Debug)]
pub struct QuicEnds {
    /// Configuration of the sender.
    pub sender: Arc<lightlag_quic::Config>,
    /// Configuration of the receiver.
    pub receiver: Arc<lightlag_quic::Config>,
}

impl Flow {
    /// Returns the congestion control of the sender; `None` for datagrams.
    pub fn congestion(&self) -> Option<&Choice> {
        match (self.transport, &self.quic) {
            (Transport::Udp, _) => None,
            (_, Some(quic)) => Some(&quic.sender.congestion),
            (_, None) => Some(&self.tcp.congestion),
        }
    }

    /// Returns the set-up of the connection, if it has one.
    pub fn setup(&self) -> Option<Setup> {
        self.dialogue.as_ref()?.setup
    }

    /// Returns the page that the flow loads from a file, if it does.
    pub fn page(&self) -> Option<&Arc<WebPage>> {
        self.dialogue.as_ref()?.page.as_ref()
    }

    /// Returns the key of the table that contains the receiver's TCP settings in a scenario.
    pub(crate) fn receiver_table(&self) -> &'static str {
        match (Arc::ptr_eq(&self.tcp, &self.receiver_tcp), self.traffic.is_dialogue()) {
            (true, _) => "tcp",
            (false, true) => "client",
            (false, false) => "server",
        }
    }

    /// Returns the TCP configurations of the endpoints: a single one, or two if they differ.
    pub fn configs(&self) -> impl Iterator<Item = &Arc<Config>> {
        let other = (!Arc::ptr_eq(&self.tcp, &self.receiver_tcp)).then_some(&self.receiver_tcp);
        std::iter::once(&self.tcp).chain(other)
    }
}

impl LinkDirection {
    /// Returns a random stream for one purpose on this link direction, in runs with this seed.
    pub fn random(&self, seed: u64, purpose: &str) -> RandomStream {
        RandomStream::new(seed, &format!("link {} {purpose}", self.name))
    }

    /// Returns the changes of the rate and the delay, and the outages, in a run with this seed, if there are any.
    pub fn timetable(&self, seed: u64) -> Option<Timetable> {
        match (&self.fade, &self.dynamics, &self.timetable) {
            (Some(weather), ..) => Some(weather.timetable(self.delay, self.random(seed, "fade"))),
            (None, Some(dynamics), Some(base)) => Some(dynamics.timetable(base, |purpose| self.random(seed, purpose))),
            (None, _, timetable) => timetable.clone(),
        }
    }

    /// Returns the losses other than queue overflow in a run with this seed.
    pub fn losses(&self, seed: u64) -> Cow<'_, Loss> {
        match &self.dynamics {
            Some(dynamics) => dynamics.losses(&self.loss, |purpose| self.random(seed, purpose)),
            None => Cow::Borrowed(&self.loss),
        }
    }
}

impl LinkProperties {
    /// Returns a direction with this rate and delay, a queue of 1000 packets, and no losses or other disturbances.
    pub fn plain(rate: Rate, delay: Duration) -> Self {
        Self {
            rate,
            delay,
            queue: QueueLimit::Packets(1000),
            discipline: DisciplineConfig::DropTail,
            loss: Loss::None,
            loss_place: LossPlace::AfterQueue,
            code: None,
            reorder: None,
            duplicate: Probability::ZERO,
            timetable: None,
            jitter: None,
            fade: None,
            on_demand: None,
            police: None,
            mtu: None,
            dynamics: None,
            signals: None,
            header: Bytes::ZERO,
        }
    }

    /// Returns a link direction for a run that lasts until `until`. `round_trip` is the longest round-trip time of the
    /// flows that cross it. The timetable and the losses come from its changes or its trace.
    pub(crate) fn of(
        line: &Line,
        side: &LinkSide,
        round_trip: Duration,
        until: Duration,
        (timetable, loss): (Option<Timetable>, Loss),
    ) -> Self {
        let on_demand = side.on_demand.demand(side.rate);
        let served = side.fec.data_rate(on_demand.map_or(side.rate, |demand| demand.most));
        Self {
            queue: side.queue.limit(served, round_trip),
            discipline: side.queue.discipline(served, round_trip),
            loss,
            loss_place: side.loss.place,
            code: side.fec.code(),
            reorder: side.reorder.reordering(),
            duplicate: side.duplicate.0,
            timetable,
            jitter: side.jitter.0,
            fade: side.fade.link(round_trip).map(|link| Weather {
                link,
                until,
                outage: side.outage.0,
                overtaking: side.reorder.overtakes,
            }),
            on_demand,
            police: side.police.0,
            mtu: side.mtu.0,
            dynamics: LinkDynamics::of(side, until),
            header: line.header.0,
            ..Self::plain(side.rate, side.delay.0)
        }
    }

    /// Returns true if the fate of a packet is random. `several` is true if several flows cross the link.
    pub(crate) fn draws(&self, several: bool) -> bool {
        // Names every field, so that a new property does not compile before someone decides whether it draws.
        let Self {
            rate: _,
            delay: _,
            queue: _,
            discipline,
            loss,
            loss_place: _,
            code: _,
            reorder,
            duplicate,
            timetable: _,
            jitter,
            fade,
            on_demand: _,
            police: _,
            mtu: _,
            dynamics,
            signals: _,
            header: _,
        } = self;
        discipline.draws(several)
            || loss.draws()
            || reorder.is_some()
            || *duplicate != Probability::ZERO
            || jitter.is_some()
            || fade.is_some()
            || dynamics.as_ref().is_some_and(|dynamics| dynamics.draws())
    }

    /// Returns the maximum data rate: the rate of the link, or of the grants if capacity must be requested, minus the
    /// rate of repair packets.
    pub fn data_rate(&self) -> Rate {
        let rate = self.on_demand.map_or(self.rate, |demand| demand.most);
        self.code.map_or(rate, |code| code.data_rate(rate))
    }

    /// Returns the minimum time between the arrival of a packet at the link and the start of its transmission.
    pub(crate) fn least_wait(&self) -> Duration {
        self.on_demand.map_or(Duration::ZERO, |demand| demand.least_wait())
    }

    /// Returns true if the transmission rate is constant in a run that lasts until `end`.
    pub fn is_steady(&self, end: Instant) -> bool {
        self.timetable.as_ref().is_none_or(|timetable| timetable.keeps_rate(end))
            && self.fade.is_none()
            && self.on_demand.is_none()
            && self.dynamics.is_none()
    }
}

impl Network {
    /// Returns the node that represents a medium in route tables. These nodes follow the nodes of the network.
    pub fn hub(&self, medium: usize) -> NodeId {
        NodeId((self.nodes.len() + medium) as u32)
    }

    /// Returns the path from one node to another according to the initial routes, as a sequence of links and crossings
    /// of media. `None` if the routes form a loop.
    pub fn way(&self, from: NodeId, to: NodeId) -> Option<Vec<Hop>> {
        let table = self.routes.at_start();
        let station = |medium: usize, node: NodeId| {
            let members = &self.media[medium].members;
            // Most media have nodes with consecutive numbers.
            let guess = node.0.wrapping_sub(members.first()?.node.0);
            if members.get(guess as usize).is_some_and(|member| member.node == node) {
                return Some(guess);
            }
            members.iter().position(|member| member.node == node).map(|at| at as u32)
        };
        let (mut way, mut node) = (Vec::new(), from);
        for _ in 0..=self.nodes.len() {
            if node == to {
                return Some(way);
            }
            let next = table.neighbour(node, to)?;
            if let Some(space) = self.space.as_ref().filter(|space| space.hub == next) {
                let exit = if space.stations.contains(&to) { to } else { table.neighbour(next, to)? };
                let station = |node: NodeId| space.stations.iter().position(|station| *station == node);
                way.push(Hop::Sky([station(node)?, station(exit)?]));
                node = exit;
                continue;
            }
            let Some(medium) = (next.0 as usize).checked_sub(self.nodes.len()) else {
                way.push(Hop::Link(table.next(node, to)?.link()?));
                node = next;
                continue;
            };
            let start = station(medium, node)?;
            let exit = if station(medium, to).is_some() { to } else { table.neighbour(next, to)? };
            way.push(Hop::Air(Crossing { medium, from: start, to: station(medium, exit)? }));
            node = exit;
        }
        None
    }

    /// Returns the custom queue disciplines.
    pub(crate) fn custom_disciplines(&self) -> impl Iterator<Item = &CustomQueue> {
        self.links.iter().filter_map(|link| match &link.discipline {
            DisciplineConfig::Custom(custom) => Some(custom),
            _ => None,
        })
    }

    /// Checks that only links connect the nodes, and that no queue discipline can fail, as emulation with real packets
    /// requires.
    ///
    /// # Errors
    /// The message names the first medium, the first such queue or a tunnel, and the fix.
    pub fn check_wired(&self) -> Result<(), String> {
        if self.space.is_some() {
            return Err(
                "a constellation cannot carry real packets; use a scenario whose nodes are joined only by links"
                    .to_owned(),
            );
        }
        if let Some(custom) = self.custom_disciplines().next() {
            return Err(format!(
                "the queue discipline {} is custom and cannot serve real packets; use a built-in one",
                custom.name()
            ));
        }
        if !self.tunnels.is_empty() {
            return Err("a tunnel cannot carry real packets; remove tunnels".to_owned());
        }
        let Some(medium) = self.media.first() else { return Ok(()) };
        Err(format!(
            "the radio medium {:?} cannot carry real packets; use a scenario whose nodes are joined only by links",
            medium.name
        ))
    }

    /// Returns the data rate of the radios on a medium; if the rate adapts, the highest rate.
    pub fn rate_on_air(&self, crossing: Crossing) -> Option<Rate> {
        self.media[crossing.medium].plan.data_rate(StationId(crossing.from))
    }

    /// Returns a function that finds the slowest link direction on the path of a flow, according to the initial rates.
    pub fn slowest_links(&self) -> impl FnMut(&Flow) -> Option<LinkId> + '_ {
        let mut known: BTreeMap<(u32, u32), Option<LinkId>> = BTreeMap::new();
        move |flow| {
            let rate = |link: &LinkId| self.links[link.0 as usize].rate;
            let find =
                || self.routes.at_start().path(flow.from, flow.to)?.into_iter().min_by_key(|link| (rate(link), *link));
            *known.entry((flow.from.0, flow.to.0)).or_insert_with(find)
        }
    }
}

/// The path of a flow in one epoch of the routes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rerouted {
    /// Start of the epoch.
    pub from: Instant,
    /// Index of the flow.
    pub flow: u32,
    /// Nodes on the path of the flow's data, including both endpoints; `None` if the path is a routing loop.
    pub nodes: Option<Vec<NodeId>>,
}

impl Network {
    /// Returns the paths of flows at the start and at each change, in the order of time, once for all flows between the
    /// same nodes. Empty if routes never change.
    pub fn rerouted(&self) -> impl Iterator<Item = Rerouted> + '_ {
        let mut pairs = BTreeMap::new();
        for (index, flow) in (0..).zip(&self.flows) {
            pairs.entry((flow.from, flow.to)).or_insert((index, None));
        }
        let tables = self.routes.tables().filter(|_| !self.routes.epochs().is_empty());
        tables.flat_map(move |(from, table)| {
            let moved = pairs.iter_mut().filter_map(|((first, last), (flow, before))| {
                let links = table.path(*first, *last);
                let to = |link: &LinkId| self.links[link.0 as usize].to;
                let nodes = links.map(|links| std::iter::once(*first).chain(links.iter().map(to)).collect());
                let moves = before.as_ref() != Some(&nodes);
                *before = Some(nodes.clone());
                moves.then_some(Rerouted { from, flow: *flow, nodes })
            });
            moved.collect::<Vec<_>>()
        })
    }
}

/// Role of a connection in the flow that a scenario describes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlowRole {
    /// The connection is the entire flow.
    Whole,
    /// A transfer that arrived at a random time, with its index, starting at 1.
    Arrival(u32),
    /// One of several connections, with its index, starting at 0.
    Connection(u32),
    /// The connection of a tunnel, with the index of the tunnel. It carries packets of other flows.
    Tunnel(u32),
}

impl FlowRole {
    /// Returns true for a transfer that arrived at a random time.
    pub(crate) fn is_arrival(self) -> bool {
        matches!(self, Self::Arrival(_))
    }

    /// Returns true for the connection of a tunnel.
    pub fn is_tunnel(self) -> bool {
        matches!(self, Self::Tunnel(_))
    }

    /// Returns the index among the connections of a browser; 0 for every other flow.
    pub fn connection(self) -> u32 {
        if let Self::Connection(number) = self { number } else { 0 }
    }
}

impl Flow {
    /// Returns true if the flow finishes by itself, so that a run waits for it.
    pub fn is_finite(&self) -> bool {
        let ends = self.transfer.is_some() || self.traffic.ends();
        self.transport.has_connections() && self.part.connection() == 0 && ends
    }
}

/// Capture point.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CapturePlace {
    /// A node, with all packets that it sends, receives and forwards.
    Node(NodeId),
    /// A link direction, with all packets that enter it.
    Link(LinkId),
    /// The interface of a node to a medium, with all frames that it sends and decodes.
    Interface(InterfaceId),
}

/// The settings of `record.pcap` with resolved indices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CapturePlan {
    /// Capture points. Each becomes a file.
    pub places: Vec<CapturePlace>,
    /// Whether each flow is captured.
    pub flows: Vec<bool>,
    /// Whether packets are annotated with comments.
    pub comments: bool,
    /// Form of the logs of QUIC.
    pub qlog: QlogSchema,
}
