//! The topology of a scenario: resolves names to indices, and reports references to missing nodes or links.

use super::joins::{Joins, Nodes};
use super::media::{self, Radios};
use super::quic::{QuicFlow, QuicResolver, with_http};
use super::space::SpaceNetwork;
use super::tcp::{Resolver, Turns};
use crate::network::{CapturePlan, DialoguePlan, FlowRole, Proxy, QuicEnds};
use crate::read::{Errors, shortened};
use crate::spec::{
    FlowTemplate, Line, MOST_LINKS, MediumSpec, Reader, Scenario, SetupSpec, Topology, TraceMode, Transport,
};
use lightlag_core::{Bytes, Dscp, Duration, Varied};
use lightlag_net::NodeId;
use lightlag_tcp::Config;
use lightlag_traffic::Traffic;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

/// Maximum number of flows of a scenario.
pub(crate) const MOST_FLOWS: u64 = 2_000_000;
/// Maximum number of samples that a run may write into one table.
const MOST_SAMPLES: u64 = 200_000_000;

/// Default of the generated flows: one flow per pair of nodes.
static ONE_FLOW: LazyLock<FlowTemplate> = LazyLock::new(FlowTemplate::default);

/// A full-duplex link between two nodes, given by index.
pub(crate) struct Wire<'a> {
    pub(crate) ends: [NodeId; 2],
    pub(crate) line: &'a Line,
}

/// A flow between two nodes, given by index, before it is expanded.
#[derive(Clone)]
pub(crate) struct Draft {
    pub(crate) name: String,
    /// Index in the scenario's list of flows; `None` for a generated flow.
    pub(crate) listed: Option<u32>,
    pub(crate) part: FlowRole,
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) transport: Transport,
    pub(crate) traffic: Arc<Traffic>,
    pub(crate) transfer: Option<Bytes>,
    pub(crate) reader: Option<Reader>,
    pub(crate) start: Duration,
    /// Random time that is added to the start and drawn for each seed, if there is one.
    pub(crate) drawn_start: Option<Arc<Varied<Duration>>>,
    pub(crate) dscp: Option<Dscp>,
    /// Plan of the dialogue, for traffic with requests that has one.
    pub(crate) dialogue: Option<Arc<DialoguePlan>>,
    /// TCP configuration of the sender.
    pub(crate) tcp: Arc<Config>,
    /// TCP configuration of the receiver.
    pub(crate) receiver_tcp: Arc<Config>,
    /// QUIC configurations, for a QUIC flow.
    pub(crate) quic: Option<Arc<QuicEnds>>,
}

impl Draft {
    /// Returns true if the flow has this name, or was generated from the flow with this name.
    pub(crate) fn is_of(&self, name: &str) -> bool {
        let number = match self.part {
            FlowRole::Whole | FlowRole::Connection(0) | FlowRole::Tunnel(_) => return self.name == name,
            FlowRole::Arrival(number) => number,
            FlowRole::Connection(number) => number + 1,
        };
        self.name == name || self.name.strip_prefix(name).is_some_and(|rest| rest == format!(".{number}"))
    }

    /// Returns true if the flow stands for several connections.
    pub(crate) fn is_several(&self) -> bool {
        matches!(*self.traffic, Traffic::Transfers(_) | Traffic::Page(_)) || self.traffic.connections() > 1
    }
}

/// Assigns names to flows: the given name, or `from->to`. Further flows between the same nodes are numbered.
#[derive(Default)]
pub(crate) struct Names {
    taken: BTreeMap<String, u64>,
}

impl Names {
    /// Registers a name that is given in the scenario.
    pub(crate) fn take(&mut self, name: &str, key: &str, errors: &mut Errors) {
        if self.taken.insert(name.to_owned(), 1).is_some() {
            let name = shortened(name);
            errors.push(
                format_args!("{key}.name"),
                format!("{name:?} is already the name of another flow; names must be unique"),
            );
        }
    }

    fn by_nodes(&mut self, from: &str, to: &str) -> String {
        let plain = format!("{from}->{to}");
        let Some(count) = self.taken.get(&plain).copied() else {
            self.taken.insert(plain.clone(), 1);
            return plain;
        };
        let free = (count + 1..).find(|number| !self.taken.contains_key(&format!("{plain} #{number}")));
        let number = free.expect("the range is unbounded");
        let name = format!("{plain} #{number}");
        self.taken.insert(plain, number);
        self.taken.insert(name.clone(), 1);
        name
    }
}

/// A scenario with resolved names and expanded generators.
pub(crate) struct Layout<'a> {
    pub(crate) nodes: Nodes,
    pub(crate) wires: Vec<Wire<'a>>,
    pub(crate) media: Vec<Radios<'a>>,
    pub(crate) space: Option<SpaceNetwork<'a>>,
    pub(crate) drafts: Vec<Draft>,
    pub(crate) proxies: Vec<Proxy>,
    pub(crate) captures: Option<CapturePlan>,
}

impl<'a> Layout<'a> {
    /// Builds the layout, with an error for each inconsistency; `None` if it would be too large. `seed` determines the
    /// random endpoints of flows in a swarm.
    pub(crate) fn new(scenario: &'a Scenario, seed: u64, errors: &mut Errors) -> Option<Self> {
        if !scenario.sizes_are_sane(errors) {
            return None;
        }
        let mut joins = Joins::default();
        let mut wires = Vec::with_capacity(scenario.link_count() as usize);
        for (index, link) in scenario.links.iter().enumerate() {
            wires.push(Wire { ends: joins.join(&link.between, Some(index), errors), line: &link.line });
        }
        for (ends, line) in scenario.topology.iter().flat_map(Topology::links) {
            wires.push(Wire { ends: joins.join(&ends, None, errors), line });
        }
        let media = media::listed(scenario, &mut joins, errors);
        let space = SpaceNetwork::listed(scenario, &mut joins, errors);
        if wires.is_empty() && media.is_empty() && scenario.constellation.is_none() {
            errors.push("links", "there is no link; write [[links]] with between, rate and delay, or a [topology]");
        }
        joins.check_tables(errors);
        let mut resolver = Resolver::new(&scenario.defaults.tcp, errors);
        let mut quic_resolver = QuicResolver::new(&scenario.defaults, errors);
        let drafts = drafts(scenario, seed, &joins, (&mut resolver, &mut quic_resolver), errors);
        let mut nodes = joins.nodes;
        let space = space.map(|space| space.with_satellites(&mut nodes, errors));
        let mut proxies = Vec::with_capacity(scenario.proxies.len());
        for (index, proxy) in scenario.proxies.iter().enumerate() {
            proxies.extend(proxy.resolve(&format!("proxies[{index}]"), &nodes, &mut resolver, &quic_resolver, errors));
        }
        let pcap = scenario.record.pcap.as_ref();
        let captures = pcap.map(|pcap| pcap.plan(&nodes, &wires, &media, space.as_ref(), &drafts, errors));
        Some(Self { nodes, wires, media, space, drafts, proxies, captures })
    }
}

/// Flows that a topology generates.
pub(crate) struct Generated<'a> {
    /// Path of their settings in the file.
    place: &'static str,
    pub(crate) template: &'a FlowTemplate,
    pairs: Box<dyn Iterator<Item = [String; 2]> + 'a>,
}

/// Rejects sinks that receive no traffic, and a second sink at the same node.
fn check_collectors(drafts: &[Draft], nodes: &Nodes, errors: &mut Errors) {
    let is_sink = |draft: &&Draft| draft.traffic.collects().is_some();
    if !drafts.iter().any(|draft| is_sink(&draft)) {
        return;
    }
    let ends = drafts.iter().filter(|draft| draft.transport == Transport::Udp).map(|draft| draft.to);
    let ends: BTreeSet<NodeId> = ends.collect();
    let mut sinks = BTreeSet::new();
    for sink in drafts.iter().filter(is_sink) {
        let path = sink.listed.map_or("topology.flow".to_owned(), |index| format!("flows[{index}]"));
        let node = nodes.name(sink.from);
        if !ends.contains(&sink.from) {
            let message = format!(
                "collects messages at {node:?}, but no message arrives there; add a flow to this node with transport = \
                 \"udp\""
            );
            errors.push(format_args!("{path}.traffic"), message);
        } else if !sinks.insert(sink.from) {
            let message = format!(
                "collects at {node:?}, where another flow already collects; only one flow per node can collect"
            );
            errors.push(format_args!("{path}.traffic"), message);
        }
    }
}

/// Returns the TCP configurations of the sender and the receiver. The sender is the client, which opens the connection,
/// unless it answers requests.
fn by_direction([client, server]: [Arc<Config>; 2], traffic: &Traffic) -> [Arc<Config>; 2] {
    if traffic.is_dialogue() { [server, client] } else { [client, server] }
}

/// Returns all flows, listed and generated.
fn drafts(
    scenario: &Scenario,
    seed: u64,
    joins: &Joins,
    (resolver, quic_resolver): (&mut Resolver, &mut QuicResolver),
    errors: &mut Errors,
) -> Vec<Draft> {
    let mut drafts = Vec::with_capacity(scenario.flow_count() as usize);
    let mut names = Names::default();
    let mut turns = Turns::new(&scenario.defaults.congestion);
    let islands = joins.islands();
    let dialogue = |given: Option<SetupSpec>, traffic: &Traffic| {
        given
            .or(scenario.defaults.setup)
            .filter(|_| traffic.is_dialogue())
            .map(|SetupSpec(setup)| Arc::new(DialoguePlan { setup: Some(setup), page: None }))
    };
    for (index, flow) in scenario.flows.iter().enumerate() {
        if let Some(name) = &flow.name {
            names.take(name, &format!("flows[{index}]"), errors);
        }
    }
    for (index, flow) in scenario.flows.iter().enumerate() {
        let path = format!("flows[{index}]");
        let both = turns.next(&flow.tcp);
        let transport = scenario.transport(flow.transport);
        let tcp = resolver.resolve_ends(&both, [&flow.client, &flow.server], &path, errors);
        let traffic = with_http(transport, &flow.traffic, &path, errors);
        let setup = flow.setup.or(scenario.defaults.setup).map(|SetupSpec(setup)| setup);
        let quic_flow = QuicFlow { transport, own: &flow.quic, tcp: &both, traffic: &traffic, setup };
        let quic = quic_resolver.ends(quic_flow, &path, errors);
        let Some((from, to)) = joins.ends(&flow.from, &flow.to, &path, errors) else { continue };
        if islands[from.0 as usize] != islands[to.0 as usize] {
            let message = format!("{:?} is unreachable from {:?}; add a link that connects them", flow.to, flow.from);
            errors.push(format_args!("{path}.to"), message);
        }
        let name = flow.name.clone().unwrap_or_else(|| names.by_nodes(&flow.from, &flow.to));
        let Some([tcp, receiver_tcp]) = tcp.map(|tcp| by_direction(tcp, &flow.traffic)) else { continue };
        drafts.push(Draft {
            name,
            listed: Some(index as u32),
            part: FlowRole::Whole,
            from,
            to,
            transport,
            traffic,
            transfer: flow.transfer,
            reader: flow.reader,
            start: flow.start.fixed(),
            drawn_start: flow.start.is_random().then(|| Arc::new(flow.start.clone())),
            dscp: flow.dscp,
            dialogue: dialogue(flow.setup, &flow.traffic),
            tcp,
            receiver_tcp,
            quic,
        });
    }
    for Generated { place, template, pairs } in scenario.generated_flows(seed) {
        let transport = scenario.transport(template.transport);
        let traffic = with_http(transport, &Arc::new(template.traffic.clone()), place, errors);
        let setup = template.setup.or(scenario.defaults.setup).map(|SetupSpec(setup)| setup);
        let mut start = template.start.fixed();
        let drawn_start = template.start.is_random().then(|| Arc::new(template.start.clone()));
        for [from, to] in pairs {
            for _ in 0..template.count {
                let own = [&template.client, &template.server];
                let both = turns.next(&template.tcp);
                let tcp = resolver.resolve_ends(&both, own, place, errors);
                let quic_flow = QuicFlow { transport, own: &template.quic, tcp: &both, traffic: &traffic, setup };
                let quic = quic_resolver.ends(quic_flow, place, errors);
                let ends = joins.ends(&from, &to, place, errors);
                let (Some((from_id, to_id)), Some(tcp)) = (ends, tcp) else { return drafts };
                let [tcp, receiver_tcp] = by_direction(tcp, &traffic);
                let name = names.by_nodes(&from, &to);
                drafts.push(Draft {
                    name,
                    listed: None,
                    part: FlowRole::Whole,
                    from: from_id,
                    to: to_id,
                    transport,
                    traffic: traffic.clone(),
                    transfer: template.transfer,
                    reader: template.reader,
                    start,
                    drawn_start: drawn_start.clone(),
                    dscp: template.dscp,
                    dialogue: dialogue(template.setup, &traffic),
                    tcp,
                    receiver_tcp,
                    quic,
                });
                start += template.stagger;
            }
        }
    }
    let has_radios = !scenario.nodes.is_empty() || matches!(scenario.topology, Some(Topology::Swarm(_)));
    if drafts.is_empty() && scenario.flows.is_empty() && !has_radios {
        errors.push("flows", "there is no flow; write [[flows]] with from and to");
    }
    check_collectors(&drafts, &joins.nodes, errors);
    drafts
}

impl Scenario {
    /// Returns the number of links in the scenario, including generated ones.
    pub fn link_count(&self) -> u64 {
        self.links.len() as u64 + self.topology.as_ref().map_or(0, Topology::link_count)
    }

    /// Returns the number of flows in the scenario, including generated ones.
    pub fn flow_count(&self) -> u64 {
        self.count_flows(|_| true)
    }

    /// Returns the transport of a flow that specifies `own`.
    fn transport(&self, own: Option<Transport>) -> Transport {
        own.or(self.defaults.transport).unwrap_or_default()
    }

    /// Returns the number of flows with this transport, including generated ones.
    pub fn flows_by(&self, transport: Transport) -> u64 {
        self.count_flows(|other| other == transport)
    }

    fn count_flows(&self, counts: impl Fn(Transport) -> bool) -> u64 {
        let count =
            |template: &FlowTemplate| if counts(self.transport(template.transport)) { template.count } else { 0 };
        let generated = match (&self.topology, self.template()) {
            (Some(Topology::Iot(iot)), _) => iot.flow_count(count),
            (Some(Topology::Satellite(satellite)), template) => {
                let flows =
                    |pairs: u64, template: Option<&FlowTemplate>| pairs.saturating_mul(template.map_or(0, count));
                let ground = flows(satellite.ground_count(), satellite.ground_template().or(template));
                flows(satellite.pairs, template).saturating_add(ground)
            }
            (Some(topology), Some(template)) => topology.pair_count().saturating_mul(count(template)),
            _ => 0,
        };
        generated.saturating_add(self.flows.iter().filter(|flow| counts(self.transport(flow.transport))).count() as u64)
    }

    /// Returns the media, each with its number of nodes, both listed and generated.
    pub fn station_counts(&self) -> Vec<(&MediumSpec, u64)> {
        let mut counts: Vec<(&MediumSpec, u64)> = self.media.iter().map(|medium| (medium, 0)).collect();
        if let Some(Topology::Swarm(swarm)) = &self.topology {
            counts.push((&swarm.medium, swarm.nodes));
        }
        for node in &self.nodes {
            let is_on = |medium: &MediumSpec| node.media.is_empty() || node.media.contains(&medium.name);
            counts.iter_mut().filter(|(medium, _)| is_on(medium)).for_each(|(_, count)| *count += 1);
        }
        counts
    }

    /// Returns the settings of the flows that the topology generates: the configured ones, or one flow per pair if no
    /// flow is listed.
    pub(crate) fn template(&self) -> Option<&FlowTemplate> {
        let topology = self.topology.as_ref()?;
        topology.template().or_else(|| self.flows.is_empty().then_some(&*ONE_FLOW))
    }

    /// Returns the flows that the topology generates.
    pub(crate) fn generated_flows(&self, seed: u64) -> Vec<Generated<'_>> {
        let mut generated = Vec::new();
        let ground = match &self.topology {
            Some(Topology::Satellite(satellite)) => {
                let own = satellite.ground_template().map(|template| ("topology.terrestrial.flow", template));
                let of_ground = own.or(self.template().map(|template| ("topology.flow", template)));
                of_ground.map(|(place, template)| Generated {
                    place,
                    template,
                    pairs: Box::new(satellite.ground_pairs()),
                })
            }
            _ => None,
        };
        let Some((topology, template)) = self.topology.as_ref().zip(self.template()) else {
            return ground.into_iter().collect();
        };
        if let Topology::Iot(iot) = topology {
            let pairs = Box::new(iot.sensor_pairs());
            generated.push(Generated { place: "topology.sensor", template: &iot.sensor, pairs });
        }
        generated.push(Generated { place: "topology.flow", template, pairs: topology.pairs(seed) });
        generated.extend(ground);
        generated
    }

    /// Returns true if the network and its samples are small enough to be held in memory.
    fn sizes_are_sane(&self, errors: &mut Errors) -> bool {
        let before = errors.len();
        let (links, flows) = (self.link_count(), self.flow_count());
        if links > MOST_LINKS {
            errors.push("links", format!("{links} links are more than {MOST_LINKS}; use fewer"));
        }
        if flows > MOST_FLOWS {
            errors.push("flows", format!("{flows} flows are more than {MOST_FLOWS}; use fewer"));
        }
        if errors.len() > before {
            return false;
        }
        if self.record.interval.is_zero() {
            errors.push("record.interval", "0 s is not a valid sampling interval; write a time such as \"100 ms\"");
        } else {
            let samples = self.duration.as_nanos() / self.record.interval.as_nanos();
            let traced = if self.record.trace == TraceMode::Off { 0 } else { flows };
            let watched = if self.record.queue.is_on() { links.saturating_mul(2) } else { 0 };
            let rows = samples.saturating_mul(traced.max(watched));
            if rows > MOST_SAMPLES {
                let message = format!(
                    "{} for {} is up to {rows} samples, more than {MOST_SAMPLES}; increase interval, reduce duration, \
                     or switch trace or queue off",
                    self.record.interval, self.duration
                );
                errors.push("record.interval", message);
            }
        }
        errors.len() == before
    }
}
