//! The network that a scenario describes: every node, link direction and flow by itself, with routes.

use super::Scenario;
use super::application::Reader;
use super::arrivals::Arrivals;
use super::capture::{CapturePlan, IpVersion};
use super::chance::start;
use super::error::{Errors, ScenarioError};
use super::every_byte;
use super::layout::{Layout, Stream};
use super::link::Side;
use super::proxy::splits;
use super::trace::Traces;
use super::traffic::{Traffic, Transport};
use lightlag_core::{Bytes, Duration, Instant, Probability, Rate};
use lightlag_net::queue::DisciplineConfig;
use lightlag_net::{
    AdaptiveLink, Demand, Edge, Jitter, LinkId, Loss, LossPlace, NodeId, Outage, QueueLimit, Reordering, Routes,
    Timetable,
};
use lightlag_tcp::Config;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The most links that the ways of all flows may have together: beyond, preparing takes longer than running.
const MOST_STEPS: usize = 200_000_000;

/// A network, ready to be built.
#[derive(Clone, Debug)]
pub struct Network {
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Link directions: forward `2i` and backward `2i + 1` of link `i`, listed links first, then generated ones.
    pub links: Vec<LinkDirection>,
    /// Flows, listed ones first, then generated ones.
    pub flows: Vec<Flow>,
    /// Proxies, in the order of the scenario.
    pub proxies: Vec<Proxy>,
    /// Which flows pass through them: in the order of the flows, and for each from its sender to its receiver.
    pub splits: Vec<Split>,
    /// The next link from every node to every other.
    pub routes: Routes,
    /// The version of IP.
    pub ip: IpVersion,
    /// Where packets are captured, if anywhere.
    pub captures: Option<CapturePlan>,
}

/// One direction of a link.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkDirection {
    /// `from->to`, unique.
    pub name: String,
    /// Where it begins.
    pub from: NodeId,
    /// Where it ends.
    pub to: NodeId,
    /// How fast bits leave.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// How much may wait, in packets or bytes.
    pub queue: QueueLimit,
    /// What is dropped or marked, and what leaves next.
    pub discipline: DisciplineConfig,
    /// Which packets are lost, other than for want of room.
    pub loss: Loss,
    /// Where losses are drawn.
    pub loss_place: LossPlace,
    /// Which packets are held back, if any.
    pub reorder: Option<Reordering>,
    /// How likely a packet arrives twice.
    pub duplicate: Probability,
    /// How its rate and its delay change and when it is down, if they ever do.
    pub timetable: Option<Timetable>,
    /// How delays differ from packet to packet, if they do. Then there is a timetable, too.
    pub jitter: Option<Jitter>,
    /// How rain drives its rate, and up to when, if it does. Then it has no timetable but for jitter.
    pub fade: Option<Weather>,
    /// What its transmitter must ask for, if it must.
    pub on_demand: Option<Demand>,
    /// What the stations at its ends tell, if anything: the same for both directions of a link.
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
    /// What happens to packets where nothing is sent.
    pub outage: Outage,
    /// Whether packets may overtake, where there is jitter.
    pub overtaking: bool,
}

/// What the stations at both ends of a link tell the ends of flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SignalPlan {
    /// That the link is out, and that it is restored.
    pub outage: bool,
    /// That a packet was corrupted, to who was to receive it.
    pub to_receiver: bool,
    /// The same, to who sent it.
    pub to_sender: bool,
    /// Who has sent data so recently is told of an outage when it begins.
    pub recent: Duration,
    /// The same is told again after this time at the earliest.
    pub interval: Duration,
}

/// One connection that carries data.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Unique.
    pub name: String,
    /// Index in the list of the scenario, if it stands there.
    pub listed: Option<u32>,
    /// What it is of the flow that the scenario asks for.
    pub part: Part,
    /// Node that sends.
    pub from: NodeId,
    /// Node that receives.
    pub to: NodeId,
    /// How its bytes travel.
    pub transport: Transport,
    /// What its application sends, and when.
    pub traffic: Arc<Traffic>,
    /// Payload; `None` sends until the run ends.
    pub transfer: Option<Bytes>,
    /// How the receiving application reads; `None` reads at once.
    pub reader: Option<Reader>,
    /// When the connection is opened.
    pub start: Instant,
    /// TCP at both ends.
    pub tcp: Arc<Config>,
}

/// A node that splits the connections which cross it.
#[derive(Clone, Debug)]
pub struct Proxy {
    /// Where.
    pub node: NodeId,
    /// How much of each flow it keeps at most.
    pub buffer: Bytes,
    /// TCP of its end toward the sender.
    pub client: Arc<Config>,
    /// TCP of its end toward the receiver.
    pub server: Arc<Config>,
    /// When it crashes, if it does.
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

impl Scenario {
    /// The network that the scenario describes.
    ///
    /// # Errors
    /// Every reference to something that is not there, every size out of bounds, and what is wrong with the files of traces.
    pub fn expand(&self) -> Result<Network, Vec<ScenarioError>> {
        self.expand_with(self.seed)
    }

    /// As [`Self::expand`], with what another seed draws.
    ///
    /// # Errors
    /// Those of [`Self::expand`].
    pub fn expand_with(&self, seed: u64) -> Result<Network, Vec<ScenarioError>> {
        let mut errors = Errors::default();
        let layout = Layout::new(self, &mut errors);
        let mut layout = errors.or(layout)?;
        let mut errors = Errors::default();
        let routes = Routes::shortest(layout.nodes.names.len(), &edges(&layout));
        self.arrive(seed, &mut layout, &routes, &mut errors);
        let splits = splits(&self.proxies, &layout.proxies, &layout.streams, &routes, &edges(&layout), &mut errors);
        every_byte::check(&layout, &splits, &mut errors);
        let round_trips = round_trips(&layout, &routes, &mut errors);
        let links = links(&layout, &round_trips, self.duration, |link| self.table_of(link), &mut errors);
        let Layout { nodes, streams, proxies, captures, .. } = layout;
        let flows = streams.into_iter().map(Flow::from).collect();
        let mut network = Network { nodes: nodes.names, links, flows, proxies, splits, routes, ip: self.ip, captures };
        network.configure_routes(&mut errors);
        network.check_buckets(&mut errors);
        errors.or(Some(network))
    }
}

impl LinkDirection {
    /// Whether bits leave at the same rate in a run that lasts until `end`.
    pub fn is_steady(&self, end: Instant) -> bool {
        self.timetable.as_ref().is_none_or(|timetable| timetable.keeps_rate(end))
            && self.fade.is_none()
            && self.on_demand.is_none()
    }
}

impl Network {
    /// Finds the slowest link direction on the way of a flow, by the rates at the start.
    pub fn slowest_links(&self) -> impl FnMut(&Flow) -> Option<LinkId> + '_ {
        let mut known: BTreeMap<(u32, u32), Option<LinkId>> = BTreeMap::new();
        move |flow| {
            let rate = |link: &LinkId| self.links[link.0 as usize].rate;
            let find = || self.routes.path(flow.from, flow.to)?.into_iter().min_by_key(|link| (rate(link), *link));
            *known.entry((flow.from.0, flow.to.0)).or_insert_with(find)
        }
    }
}

/// What a flow is of the one that a scenario asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// All of it.
    Whole,
    /// The transfer of this number, from 1 on.
    Arrival(u64),
    /// The connection of this number, from 0 on.
    Connection(u64),
}

impl Part {
    /// Whether it arrived at a time that was drawn.
    pub(super) fn is_arrival(self) -> bool {
        matches!(self, Self::Arrival(_))
    }

    /// Which connection of a browser it is: 0 for the first, and for every other flow.
    pub fn connection(self) -> u64 {
        if let Self::Connection(number) = self { number } else { 0 }
    }
}

impl Flow {
    /// Whether it finishes by itself: a run waits for that.
    pub fn is_finite(&self) -> bool {
        let ends = self.transfer.is_some() || self.traffic.ends();
        self.transport == Transport::Tcp && self.part.connection() == 0 && ends
    }
}

impl Scenario {
    /// Draws the flows of those that are several.
    fn arrive(&self, seed: u64, layout: &mut Layout, routes: &Routes, errors: &mut Errors) {
        let mut streams = std::mem::take(&mut layout.streams);
        for stream in &mut streams {
            if let Some(law) = stream.drawn_start.take() {
                stream.start = start(&law, &stream.name, stream.start, seed);
            }
        }
        let rate = |link: &LinkId| {
            let rate = &layout.wires[link.0 as usize / 2].line.rate;
            if link.0.is_multiple_of(2) { rate.forward } else { rate.backward }
        };
        let slowest = |stream: &Stream| routes.path(stream.from, stream.to)?.iter().map(rate).min();
        let place = |stream: &Stream| match stream.listed {
            Some(index) => format!("flows[{index}]"),
            None => "topology.flow".to_owned(),
        };
        let arrivals = Arrivals { seed, duration: self.duration, slowest: &slowest };
        let streams = arrivals.expand(streams, &mut layout.captures, place, errors);
        layout.streams = streams;
    }
}

impl From<Stream> for Flow {
    fn from(stream: Stream) -> Self {
        let Stream { name, listed, part, from, to, transport, traffic, transfer, reader, start, tcp, drawn_start: _ } =
            stream;
        Self { name, listed, part, from, to, transport, traffic, transfer, reader, start: Instant::ZERO + start, tcp }
    }
}

/// Both directions of every link, for routing.
fn edges(layout: &Layout) -> Vec<Edge> {
    let both = |wire: &super::layout::Wire| {
        let [a, b] = wire.ends;
        let delay = &wire.line.delay;
        [Edge { from: a, to: b, delay: delay.forward }, Edge { from: b, to: a, delay: delay.backward }]
    };
    layout.wires.iter().flat_map(both).collect()
}

/// For each link direction, how long a bit takes at least: propagation, and what a request takes to be granted.
fn least_delays(layout: &Layout) -> Vec<Duration> {
    let wait = |side: &Side| side.on_demand.demand(side.rate).map_or(Duration::ZERO, |demand| demand.least_wait());
    let least = |side: Side<'_>| side.delay + wait(&side);
    layout.wires.iter().flat_map(|wire| [least(wire.line.forward()), least(wire.line.backward())]).collect()
}

/// For each link direction, the longest round trip (propagation and requests) of the flows whose data or ACKs cross it;
/// zero where no flow passes.
fn round_trips(layout: &Layout, routes: &Routes, errors: &mut Errors) -> Vec<Duration> {
    let least = least_delays(layout);
    let mut longest = vec![Duration::ZERO; least.len()];
    let mut steps = 0;
    let pairs: BTreeSet<(u32, u32)> = layout.streams.iter().map(|stream| (stream.from.0, stream.to.0)).collect();
    for (from, to) in pairs {
        let mut way = routes.path(NodeId(from), NodeId(to)).unwrap_or_default();
        way.extend(routes.path(NodeId(to), NodeId(from)).unwrap_or_default());
        steps += way.len();
        if steps > MOST_STEPS {
            errors
                .push("flows", format!("their ways have more than {MOST_STEPS} links in all; use fewer flows or hops"));
            break;
        }
        let delay = |total: Duration, link: &LinkId| total + least[link.0 as usize];
        let round_trip = way.iter().fold(Duration::ZERO, delay);
        for link in way {
            let longest = &mut longest[link.0 as usize];
            *longest = round_trip.max(*longest);
        }
    }
    longest
}

fn links(
    layout: &Layout,
    round_trips: &[Duration],
    until: Duration,
    table_of: impl Fn(usize) -> String,
    errors: &mut Errors,
) -> Vec<LinkDirection> {
    let mut links = Vec::with_capacity(2 * layout.wires.len());
    let mut traces = Traces::default();
    for (index, (wire, crossing)) in layout.wires.iter().zip(round_trips.chunks_exact(2)).enumerate() {
        let line = wire.line;
        let [a, b] = wire.ends;
        let directions = [(a, b, line.forward()), (b, a, line.backward())];
        let signals = line.signals.plan(crossing[0].max(crossing[1]));
        for ((from, to, side), crossing) in directions.into_iter().zip(crossing) {
            let round_trip = if crossing.is_zero() { side.delay * 2 } else { *crossing };
            let on_demand = side.on_demand.demand(side.rate);
            let served = on_demand.map_or(side.rate, |demand| demand.most);
            side.fade.check_steps(until, || format!("{}.fade.step", table_of(index)), errors);
            let (timetable, loss) = traces.direction(&side, side.loss.model(), until, || table_of(index), errors);
            links.push(LinkDirection {
                name: format!("{}->{}", layout.nodes.name(from), layout.nodes.name(to)),
                from,
                to,
                rate: side.rate,
                delay: side.delay,
                queue: side.queue.limit(served, round_trip),
                discipline: side.queue.discipline(served, round_trip),
                loss,
                loss_place: side.loss.place,
                reorder: side.reorder.reordering(),
                duplicate: side.duplicate.0,
                timetable: timetable.or_else(|| side.jitter.0.map(|_| super::changes::steady(&side))),
                jitter: side.jitter.0,
                fade: side.fade.link(round_trip).map(|link| Weather {
                    link,
                    until,
                    outage: side.outage.0,
                    overtaking: side.reorder.overtakes,
                }),
                on_demand,
                signals,
                header: line.header,
            });
        }
    }
    links
}
