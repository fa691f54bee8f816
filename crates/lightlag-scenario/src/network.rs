//! The network that a scenario describes, as plain data: every node, link direction and flow by itself, with routes.

use crate::spec::{IpVersion, Line, LinkSide, Reader, Traffic, Transport};
use lightlag_core::{Bytes, Dscp, Duration, Instant, Probability, RandomStream, Rate};
use lightlag_mobility::Doubt;
use lightlag_mobility::Motion;
use lightlag_net::queue::DisciplineConfig;
use lightlag_net::queue::own::Own as OwnQueue;
use lightlag_net::{
    AdaptiveLink, Beam, BlockCode, Demand, FarEnd, Flight, InterfaceId, Jitter, LinkId, Loss, LossPlace, NO_EXIT,
    NodeId, Outage, QueueLimit, RatesByElevation, Reordering, Routes, Timetable,
};
use lightlag_orbit::grid::derived::FoundGrid;
use lightlag_orbit::own_ways::Own;
use lightlag_orbit::{Handover, Rules, Sky};
use lightlag_routing::{Router, arp};
use lightlag_tcp::Config;
use lightlag_wifi::{MediumConfig, StationConfig};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

/// A network, ready to be built.
#[derive(Clone, Debug)]
pub struct Network {
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Link directions: forward `2i` and backward `2i + 1` of link `i`, listed links first, then generated ones.
    pub links: Vec<LinkDirection>,
    /// Radio media. Their interfaces have the numbers behind those of links, medium by medium.
    pub media: Vec<Medium>,
    /// The constellation, if there is one. Its links come behind those of wires, its satellites behind the other nodes.
    pub space: Option<Space>,
    /// Doubts about paths of nodes that come from files, each with its place in the scenario.
    pub doubts: Vec<(Doubt, String)>,
    /// Flows, listed ones first, then generated ones.
    pub flows: Vec<Flow>,
    /// Proxies, in the order of the scenario.
    pub proxies: Vec<Proxy>,
    /// Flows at proxies: in the order of the flows, and for each flow from its sender to its receiver.
    pub splits: Vec<Split>,
    /// The next link from every node to every other, and when it changes.
    pub routes: Routes,
    /// The time to live of packets as they leave their host.
    pub ttl: u8,
    /// The version of IP.
    pub ip: IpVersion,
    /// Places where packets are captured, if there are any.
    pub captures: Option<CapturePlan>,
}

/// A medium that nodes share.
#[derive(Clone, Debug)]
pub struct Medium {
    /// Unique.
    pub name: String,
    /// Its kind, with the settings of the kind.
    pub plan: MediumPlan,
    /// The way in which the nodes on it find their routes.
    pub routing: Router,
    /// Whether these nodes have to ask for addresses on it.
    pub arp: arp::Mode,
    /// Whether senders of TCP are told that their route over it broke.
    pub elfn: bool,
    /// The nodes on it.
    pub members: Vec<Member>,
}

impl Medium {
    /// The way that each member takes.
    pub fn motions(&self) -> impl Iterator<Item = &Motion> {
        match &self.plan {
            MediumPlan::Wifi(wifi) => wifi.stations.iter().map(|station| &station.motion),
        }
    }

    /// The channel of 802.11 that it is, if it is one.
    pub fn wifi(&self) -> Option<&WifiPlan> {
        match &self.plan {
            MediumPlan::Wifi(wifi) => Some(wifi),
        }
    }
}

/// The kind of a medium, with its settings and those of its stations.
#[derive(Clone, Debug)]
pub enum MediumPlan {
    /// A channel of 802.11.
    Wifi(WifiPlan),
}

/// A channel of 802.11.
#[derive(Clone, Debug)]
pub struct WifiPlan {
    /// The channel.
    pub config: MediumConfig,
    /// The station of each member: its radio, and the way that it takes.
    pub stations: Vec<StationConfig>,
}

/// A constellation and its place among the nodes and links of the network.
#[derive(Clone, Debug)]
pub struct Space {
    /// Where its satellites and stations are, and who sees whom.
    pub sky: Arc<Sky>,
    /// The node to which stations send in route tables: the sky as a whole.
    pub hub: NodeId,
    /// The first satellite; the others follow.
    pub first: NodeId,
    /// The node of each station.
    pub stations: Vec<NodeId>,
    /// The transmitter of the first station, of the first satellite to the ground, and the first direction of the first link
    /// between satellites; the others follow.
    pub dishes: LinkId,
    /// See [`dishes`](Self::dishes).
    pub antennas: LinkId,
    /// Whether a satellite has a transmitter for each station, in their order, and not one for all.
    pub has_antenna_for_each: bool,
    /// See [`dishes`](Self::dishes).
    pub isls: LinkId,
    /// Directions of links between satellites by their ends, in ascending order.
    pub crossings: Arc<[([u32; 2], LinkId)]>,
    /// Stations that send, each with the one to which it does.
    pub pairs: Vec<(u32, u32)>,
    /// By destination the number of the exit at which packets leave the sky, in the ascending order of the stations that
    /// receive.
    pub exits: Arc<[u32]>,
    /// Rates of each dish, and of all antennas, by elevation, where they depend on it.
    pub rates: (Vec<Option<RatesByElevation>>, Option<RatesByElevation>),
    /// Rules by which ways are chosen.
    pub rules: Rules,
    /// The router from outside that chooses them instead, if there is one.
    pub routing: Option<Own>,
    /// Effects of a handover.
    pub handover: Handover,
    /// The end of the run.
    pub until: Instant,
    /// The satellites of a file.
    pub filed: Filed,
}

/// The satellites of a file of elements.
#[derive(Clone, Debug, Default)]
pub struct Filed {
    /// Seconds between the start and the epoch of the elements that are farthest from it; zero without a file.
    pub oldest: f64,
    /// The grid that was found in their orbits, if one was asked for.
    pub grid: Option<FoundGrid>,
}

impl Space {
    /// The node of the network that has this number in the sky.
    pub fn node(&self, number: u32) -> NodeId {
        match self.sky.station(number) {
            Some(station) => self.stations[station],
            None => NodeId(self.first.0 + number),
        }
    }

    /// The link on which a node of the sky sends to another.
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

    /// The first transmitter of a satellite to the ground.
    pub fn antenna(&self, satellite: u32) -> LinkId {
        LinkId(self.antennas.0 + satellite * self.antennas_of_each())
    }

    /// Whether a link leads from a satellite to the ground.
    pub fn is_antenna(&self, link: LinkId) -> bool {
        (self.antennas.0..self.isls.0).contains(&link.0)
    }

    fn antennas_of_each(&self) -> u32 {
        if self.has_antenna_for_each { self.stations.len() as u32 } else { 1 }
    }

    /// The far ends of a link, if it is one of the constellation.
    pub fn beam(&self, link: LinkId) -> Option<Beam> {
        let at = link.0.checked_sub(self.dishes.0)?;
        let (stations, satellites) = (self.stations.len() as u32, self.sky.satellites().len() as u32);
        let antennas = satellites * self.antennas_of_each();
        let (up, down) = &self.rates;
        let sky = || -> Arc<dyn Flight> { self.sky.clone() };
        let by_exit = |from| Some(Beam::by_exit(sky(), from, self.exits.clone(), self.exits_in_all()));
        if at < stations {
            return by_exit(satellites + at).map(|beam| beam.at_rates(up[at as usize].clone()));
        }
        let at = at - stations;
        if at < antennas {
            return by_exit(at / self.antennas_of_each()).map(|beam| beam.at_rates(down.clone()));
        }
        let at = at - antennas;
        let isl = self.sky.isls().get(at as usize / 2)?;
        let [from, to] = if at.is_multiple_of(2) { isl.ends } else { [isl.ends[1], isl.ends[0]] };
        Some(Beam::between(sky(), from, self.far_end(to)))
    }

    /// A node of the sky as the far end of a link.
    pub fn far_end(&self, number: u32) -> FarEnd {
        FarEnd { number, node: self.node(number) }
    }

    /// The number of exits.
    fn exits_in_all(&self) -> usize {
        self.exits.iter().filter(|exit| **exit != NO_EXIT).max().map_or(0, |last| *last as usize + 1)
    }

    /// The number of the exit of packets for a node.
    pub fn exit(&self, node: NodeId) -> Option<usize> {
        let exit = *self.exits.get(node.0 as usize)?;
        (exit != NO_EXIT).then_some(exit as usize)
    }
}

/// A part of a way between two nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hop {
    /// Over a link direction.
    Link(LinkId),
    /// Over a medium, in any number of hops.
    Air(Crossing),
    /// Through the sky, from one station to another, by their numbers.
    Sky([usize; 2]),
}

/// The crossing of a medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Crossing {
    /// Index of the medium.
    pub medium: usize,
    /// Its member at which packets come to it.
    pub from: u32,
    /// The one at which they leave it.
    pub to: u32,
}

/// A node on a medium.
#[derive(Clone, Debug)]
pub struct Member {
    /// The node.
    pub node: NodeId,
}

/// One direction of a link: its place, and its properties, which it shares with the directions that have the same.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkDirection {
    /// `from->to`, unique.
    pub name: String,
    /// Node at its start.
    pub from: NodeId,
    /// Node at its end.
    pub to: NodeId,
    /// Everything else. The directions of generated links differ in nothing more than their places, and a network may have
    /// millions of them.
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
    /// Rate at which bits leave.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// Upper limit of the packets or bytes that wait.
    pub queue: QueueLimit,
    /// Rules by which packets are dropped or marked, and by which the next one is chosen.
    pub discipline: DisciplineConfig,
    /// Losses other than those at a full queue.
    pub loss: Loss,
    /// Place where losses are drawn.
    pub loss_place: LossPlace,
    /// Forward error correction, if it has any.
    pub code: Option<BlockCode>,
    /// Rule by which packets are held back, if any are.
    pub reorder: Option<Reordering>,
    /// Probability that a packet arrives twice.
    pub duplicate: Probability,
    /// Changes of its rate and its delay, and its outages, if there are any.
    pub timetable: Option<Timetable>,
    /// Differences in delay from packet to packet, if there are any. Then there is a timetable, too.
    pub jitter: Option<Jitter>,
    /// Rain that drives its rate, if there is any. Then it has no timetable but for jitter.
    pub fade: Option<Weather>,
    /// Capacity that its transmitter must request, if it must.
    pub on_demand: Option<Demand>,
    /// Messages of the stations at its ends, if they send any: the same for both directions of a link.
    pub signals: Option<SignalPlan>,
    /// Link-layer header of every packet.
    pub header: Bytes,
}

/// Rain over a link direction, to be drawn when the world is built.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Weather {
    /// The link under it.
    pub link: AdaptiveLink,
    /// The end of the run.
    pub until: Duration,
    /// The fate of packets while nothing is sent.
    pub outage: Outage,
    /// Whether packets may overtake, where there is jitter.
    pub overtaking: bool,
}

impl Weather {
    /// The timetable of a link direction with this propagation delay under the rain.
    fn timetable(&self, delay: Duration, random: RandomStream) -> Timetable {
        let phases = self.link.phases(delay, self.until, random);
        Timetable::new(phases, self.outage, self.overtaking).keeping_rates()
    }
}

/// Messages of the stations at both ends of a link to the ends of flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SignalPlan {
    /// Whether they tell that the link is out, and that it is restored.
    pub outage: bool,
    /// Whether they tell the receiver of a packet that it was corrupted.
    pub to_receiver: bool,
    /// Whether they tell its sender.
    pub to_sender: bool,
    /// Senders of data are told of an outage when it starts if their last data is no older than this.
    pub recent: Duration,
    /// Least time before the same message is sent again.
    pub interval: Duration,
}

/// One connection that carries data.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Unique.
    pub name: String,
    /// Index in the list of the scenario, if it stands there.
    pub listed: Option<u32>,
    /// Its part in the flow that the scenario describes.
    pub part: Part,
    /// Node that sends.
    pub from: NodeId,
    /// Node that receives.
    pub to: NodeId,
    /// Transport protocol.
    pub transport: Transport,
    /// Traffic of its application.
    pub traffic: Arc<Traffic>,
    /// Payload; `None` sends until the run ends.
    pub transfer: Option<Bytes>,
    /// Pace at which the receiving application reads; `None` reads at once.
    pub reader: Option<Reader>,
    /// Instant at which the connection is opened.
    pub start: Instant,
    /// Code point of its packets, in both directions.
    pub dscp: Option<Dscp>,
    /// TCP of the end that sends.
    pub tcp: Arc<Config>,
    /// TCP of the end that receives; the same value unless the scenario tells the ends apart.
    pub receiver_tcp: Arc<Config>,
}

impl Flow {
    /// Key of the table that holds the receiver's TCP in a scenario.
    pub(crate) fn receiver_table(&self) -> &'static str {
        match (Arc::ptr_eq(&self.tcp, &self.receiver_tcp), self.traffic.is_dialogue()) {
            (true, _) => "tcp",
            (false, true) => "client",
            (false, false) => "server",
        }
    }

    /// The TCP of its ends: one configuration, or two if they differ.
    pub fn configs(&self) -> impl Iterator<Item = &Arc<Config>> {
        let other = (!Arc::ptr_eq(&self.tcp, &self.receiver_tcp)).then_some(&self.receiver_tcp);
        std::iter::once(&self.tcp).chain(other)
    }
}

/// A node that splits the connections which cross it.
#[derive(Clone, Debug)]
pub struct Proxy {
    /// Node at which it stands.
    pub node: NodeId,
    /// Upper limit of the bytes that it keeps of each flow.
    pub buffer: Bytes,
    /// TCP of its end toward the sender.
    pub client: Arc<Config>,
    /// TCP of its end toward the receiver.
    pub server: Arc<Config>,
    /// Instant at which it crashes, if it does.
    pub crash: Option<Instant>,
}

/// A flow that passes through a proxy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Split {
    /// Index of the flow.
    pub flow: u32,
    /// Index of the proxy.
    pub proxy: u32,
}

impl LinkDirection {
    /// A stream of random numbers for one purpose, in runs with this seed.
    pub fn random(&self, seed: u64, purpose: &str) -> RandomStream {
        RandomStream::new(seed, &format!("link {} {purpose}", self.name))
    }

    /// Changes of its rate and its delay, and its outages, in a run with this seed, if there are any.
    pub fn timetable(&self, seed: u64) -> Option<Timetable> {
        match &self.fade {
            Some(weather) => Some(weather.timetable(self.delay, self.random(seed, "fade"))),
            None => self.timetable.clone(),
        }
    }
}

impl LinkProperties {
    /// A direction with this rate and delay, a queue of 1000 packets, and nothing else that could change a packet's fate.
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
            signals: None,
            header: Bytes::ZERO,
        }
    }

    /// A direction of a link in a run that lasts until `until`, with the longest round trip of the flows that cross it. `timetable`
    /// and `loss` are what its changes or its trace make of it.
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
            header: line.header.0,
            ..Self::plain(side.rate, side.delay.0)
        }
    }

    /// Whether chance decides the fate of a packet; `several` flows cross the link.
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
            signals: _,
            header: _,
        } = self;
        discipline.draws(several)
            || loss.draws()
            || reorder.is_some()
            || *duplicate != Probability::ZERO
            || jitter.is_some()
            || fade.is_some()
    }

    /// Maximum rate of data: that of the grants, if it must request capacity, less the repair packets of its code.
    pub fn data_rate(&self) -> Rate {
        let rate = self.on_demand.map_or(self.rate, |demand| demand.most);
        self.code.map_or(rate, |code| code.data_rate(rate))
    }

    /// Whether bits leave at the same rate in a run that lasts until `end`.
    pub fn is_steady(&self, end: Instant) -> bool {
        self.timetable.as_ref().is_none_or(|timetable| timetable.keeps_rate(end))
            && self.fade.is_none()
            && self.on_demand.is_none()
    }
}

impl Network {
    /// The node that stands for a medium in route tables: those of media come behind the nodes of the network.
    pub fn hub(&self, medium: usize) -> NodeId {
        NodeId((self.nodes.len() + medium) as u32)
    }

    /// The way from one node to another by the routes at the start: links, and the crossings of media between them. `None` if
    /// it goes in circles.
    pub fn way(&self, from: NodeId, to: NodeId) -> Option<Vec<Hop>> {
        let table = self.routes.at_start();
        let station = |medium: usize, node: NodeId| {
            let members = &self.media[medium].members;
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

    /// The queue disciplines from outside.
    pub(crate) fn own_disciplines(&self) -> impl Iterator<Item = &OwnQueue> {
        self.links.iter().filter_map(|link| match &link.discipline {
            DisciplineConfig::Own(own) => Some(own),
            _ => None,
        })
    }

    /// Checks that links alone join the nodes, with queues that cannot fail, as whoever sends real packets through the network needs
    /// it.
    ///
    /// # Errors
    /// The first medium or such queue, and the remedy.
    pub fn check_wired(&self) -> Result<(), String> {
        if self.space.is_some() {
            return Err(
                "a constellation cannot carry real packets; take a scenario in which links alone join the nodes"
                    .to_owned(),
            );
        }
        if let Some(own) = self.own_disciplines().next() {
            return Err(format!(
                "the queue discipline {} is not lightlag's and cannot serve real packets; name one of lightlag's",
                own.name()
            ));
        }
        let Some(medium) = self.media.first() else { return Ok(()) };
        Err(format!(
            "the radio medium {:?} cannot carry real packets; take a scenario in which links alone join the nodes",
            medium.name
        ))
    }

    /// The rate of data of the radios on a medium, the fastest if they choose it.
    pub fn rate_on_air(&self, crossing: Crossing) -> Option<Rate> {
        let medium = &self.media[crossing.medium];
        let wifi = medium.wifi()?;
        let radio = &wifi.stations[crossing.from as usize].radio;
        radio.data_modes(&wifi.config).ok().map(|[_, fastest]| fastest.rate())
    }

    /// Finds the slowest link direction on the way of a flow, by the rates at the start.
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

/// The way of a flow in one epoch of the routes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rerouted {
    /// When the epoch starts.
    pub from: Instant,
    /// Index of the flow.
    pub flow: u32,
    /// The nodes that its data crosses, both ends included; `None` if it goes in circles.
    pub nodes: Option<Vec<NodeId>>,
}

impl Network {
    /// The ways of flows at the start and whenever they change, in the order of time, one for all flows between the same
    /// nodes. Empty if routes never change.
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

/// The part of a connection in the flow that a scenario describes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The whole flow.
    Whole,
    /// The transfer with this number, counted from 1.
    Arrival(u64),
    /// The connection with this number, counted from 0.
    Connection(u64),
}

impl Part {
    /// Whether it arrived at a time that was drawn.
    pub(crate) fn is_arrival(self) -> bool {
        matches!(self, Self::Arrival(_))
    }

    /// Its number among the connections of a browser: 0 for the first, and for every other flow.
    pub fn connection(self) -> u64 {
        if let Self::Connection(number) = self { number } else { 0 }
    }
}

impl Flow {
    /// Whether it finishes by itself: a run waits for that.
    pub fn is_finite(&self) -> bool {
        let ends = self.transfer.is_some() || self.traffic.ends();
        self.transport.has_connections() && self.part.connection() == 0 && ends
    }
}

/// A place where packets are captured.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CapturePlace {
    /// A node, with all that it sends, receives and forwards.
    Node(NodeId),
    /// A link direction, with all that is given to it.
    Link(LinkId),
    /// The interface of a node to a medium, with all frames that it sends and understands.
    Interface(InterfaceId),
}

/// The request of `record.pcap`, with numbers in place of names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CapturePlan {
    /// Each becomes a file.
    pub places: Vec<CapturePlace>,
    /// Whether each flow is captured.
    pub flows: Vec<bool>,
    /// Whether packets have comments.
    pub comments: bool,
}
