//! The topology: names become numbers, and references to missing things become errors.

use super::joins::{Joins, Nodes};
use super::media::{self, Radios};
use super::space::Overhead;
use super::tcp::{Resolver, Turns};
use crate::network::{CapturePlan, Part, Proxy};
use crate::read::{Errors, shortened};
use crate::spec::{FlowTemplate, Line, MOST_LINKS, Reader, Scenario, Topology, TraceMode, Traffic, Transport, Varied};
use lightlag_core::{Bytes, Dscp, Duration};
use lightlag_net::NodeId;
use lightlag_tcp::Config;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

/// The most flows of a scenario.
pub(crate) const MOST_FLOWS: u64 = 2_000_000;
/// The most samples that a run may write into one table.
const MOST_SAMPLES: u64 = 200_000_000;

/// One flow per pair, unless a generator has a template.
static ONE_FLOW: LazyLock<FlowTemplate> = LazyLock::new(FlowTemplate::default);

/// A full-duplex link between numbered nodes.
pub(crate) struct Wire<'a> {
    pub(crate) ends: [NodeId; 2],
    pub(crate) line: &'a Line,
}

/// A flow between numbered nodes, before its arrivals are drawn.
#[derive(Clone)]
pub(crate) struct Draft {
    pub(crate) name: String,
    /// Index in the scenario's list, if it is listed.
    pub(crate) listed: Option<u32>,
    pub(crate) part: Part,
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) transport: Transport,
    pub(crate) traffic: Arc<Traffic>,
    pub(crate) transfer: Option<Bytes>,
    pub(crate) reader: Option<Reader>,
    pub(crate) start: Duration,
    /// The random time added for each seed, if there is one.
    pub(crate) drawn_start: Option<Arc<Varied<Duration>>>,
    pub(crate) dscp: Option<Dscp>,
    /// TCP of the end that sends.
    pub(crate) tcp: Arc<Config>,
    /// TCP of the end that receives.
    pub(crate) receiver_tcp: Arc<Config>,
}

impl Draft {
    /// Whether it is the flow of this name, or one of those for which that flow stands.
    pub(crate) fn is_of(&self, name: &str) -> bool {
        let number = match self.part {
            Part::Whole | Part::Connection(0) => return self.name == name,
            Part::Arrival(number) => number,
            Part::Connection(number) => number + 1,
        };
        self.name == name || self.name.strip_prefix(name).is_some_and(|rest| rest == format!(".{number}"))
    }

    /// Whether it stands for more than one connection.
    pub(crate) fn is_several(&self) -> bool {
        matches!(*self.traffic, Traffic::Transfers(_)) || self.traffic.connections() > 1
    }
}

/// Names flows: by their own name, or `from->to`, numbered from the second on.
#[derive(Default)]
pub(crate) struct Names {
    taken: BTreeMap<String, u64>,
}

impl Names {
    /// Registers a name that the scenario gives.
    pub(crate) fn take(&mut self, name: &str, at: &str, errors: &mut Errors) {
        if self.taken.insert(name.to_owned(), 1).is_some() {
            let name = shortened(name);
            errors.push(format_args!("{at}.name"), format!("{name:?} names another flow already; names are unique"));
        }
    }

    fn by_nodes(&mut self, from: &str, to: &str) -> String {
        let plain = format!("{from}->{to}");
        let Some(count) = self.taken.get(&plain).copied() else {
            self.taken.insert(plain.clone(), 1);
            return plain;
        };
        let free = (count + 1..).find(|number| !self.taken.contains_key(&format!("{plain} #{number}")));
        let number = free.expect("numbers do not end");
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
    pub(crate) space: Option<Overhead<'a>>,
    pub(crate) drafts: Vec<Draft>,
    pub(crate) proxies: Vec<Proxy>,
    pub(crate) captures: Option<CapturePlan>,
}

impl<'a> Layout<'a> {
    /// Builds the layout, with an error for each inconsistency. `None` if it would be too large.
    /// `seed` draws who sends to whom in a swarm.
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
        let space = Overhead::listed(scenario, &mut joins, errors);
        if wires.is_empty() && media.is_empty() && scenario.constellation.is_none() {
            errors.push("links", "there is no link; write [[links]] with between, rate and delay, or a [topology]");
        }
        joins.check_tables(errors);
        let mut resolver = Resolver::new(&scenario.defaults.tcp, errors);
        let drafts = drafts(scenario, seed, &joins, &mut resolver, errors);
        let mut nodes = joins.nodes;
        let space = space.map(|space| space.with_satellites(&mut nodes, errors));
        let mut proxies = Vec::with_capacity(scenario.proxies.len());
        for (index, proxy) in scenario.proxies.iter().enumerate() {
            proxies.extend(proxy.resolve(&format!("proxies[{index}]"), &nodes, &mut resolver, errors));
        }
        let pcap = scenario.record.pcap.as_ref();
        let captures = pcap.map(|pcap| pcap.plan(&nodes, &wires, &media, space.as_ref(), &drafts, errors));
        Some(Self { nodes, wires, media, space, drafts, proxies, captures })
    }
}

/// Flows that a generator makes.
pub(crate) struct Generated<'a> {
    /// Their place in the file.
    place: &'static str,
    pub(crate) template: &'a FlowTemplate,
    pairs: Box<dyn Iterator<Item = [String; 2]> + 'a>,
}

/// Refuses sinks without traffic, and a second sink at a node.
fn check_collectors(drafts: &[Draft], nodes: &Nodes, errors: &mut Errors) {
    let is_sink = |draft: &&Draft| draft.traffic.collects().is_some();
    if !drafts.iter().any(|draft| is_sink(&draft)) {
        return;
    }
    let ends = drafts.iter().filter(|draft| draft.transport == Transport::Udp).map(|draft| draft.to);
    let ends: BTreeSet<NodeId> = ends.collect();
    let mut sinks = BTreeSet::new();
    for sink in drafts.iter().filter(is_sink) {
        let at = sink.listed.map_or("topology.flow".to_owned(), |index| format!("flows[{index}]"));
        let node = nodes.name(sink.from);
        if !ends.contains(&sink.from) {
            let message =
                format!("collects messages at {node:?}, where none arrives; add a flow to it with transport = \"udp\"");
            errors.push(format_args!("{at}.traffic"), message);
        } else if !sinks.insert(sink.from) {
            let message = format!("collects at {node:?}, where another flow does already; one of a node can");
            errors.push(format_args!("{at}.traffic"), message);
        }
    }
}

/// Returns the TCP of the end that sends and of the end that receives. The sender opens the connection, unless it answers
/// requests.
fn by_direction([client, server]: [Arc<Config>; 2], traffic: &Traffic) -> [Arc<Config>; 2] {
    if traffic.is_dialogue() { [server, client] } else { [client, server] }
}

/// All flows, listed and generated.
fn drafts(scenario: &Scenario, seed: u64, joins: &Joins, resolver: &mut Resolver, errors: &mut Errors) -> Vec<Draft> {
    let mut drafts = Vec::with_capacity(scenario.flow_count() as usize);
    let mut names = Names::default();
    let mut turns = Turns::new(&scenario.defaults.congestion);
    let islands = joins.islands();
    for (index, flow) in scenario.flows.iter().enumerate() {
        if let Some(name) = &flow.name {
            names.take(name, &format!("flows[{index}]"), errors);
        }
    }
    for (index, flow) in scenario.flows.iter().enumerate() {
        let at = format!("flows[{index}]");
        let tcp = resolver.resolve_ends(&turns.next(&flow.tcp), [&flow.client, &flow.server], &at, errors);
        let Some((from, to)) = joins.ends(&flow.from, &flow.to, &at, errors) else { continue };
        if islands[from.0 as usize] != islands[to.0 as usize] {
            let message =
                format!("{:?} is unreachable from {:?}; add a link that joins their parts", flow.to, flow.from);
            errors.push(format_args!("{at}.to"), message);
        }
        let name = flow.name.clone().unwrap_or_else(|| names.by_nodes(&flow.from, &flow.to));
        let Some([tcp, receiver_tcp]) = tcp.map(|tcp| by_direction(tcp, &flow.traffic)) else { continue };
        drafts.push(Draft {
            name,
            listed: Some(index as u32),
            part: Part::Whole,
            from,
            to,
            transport: flow.transport,
            traffic: flow.traffic.clone(),
            transfer: flow.transfer,
            reader: flow.reader,
            start: flow.start.fixed(),
            drawn_start: flow.start.is_random().then(|| Arc::new(flow.start.clone())),
            dscp: flow.dscp,
            tcp,
            receiver_tcp,
        });
    }
    for Generated { place, template, pairs } in scenario.generated_flows(seed) {
        let traffic = Arc::new(template.traffic.clone());
        let mut start = template.start.fixed();
        let drawn_start = template.start.is_random().then(|| Arc::new(template.start.clone()));
        for [from, to] in pairs {
            for _ in 0..template.count {
                let own = [&template.client, &template.server];
                let tcp = resolver.resolve_ends(&turns.next(&template.tcp), own, place, errors);
                let ends = joins.ends(&from, &to, place, errors);
                let (Some((from_id, to_id)), Some(tcp)) = (ends, tcp) else { return drafts };
                let [tcp, receiver_tcp] = by_direction(tcp, &traffic);
                let name = names.by_nodes(&from, &to);
                drafts.push(Draft {
                    name,
                    listed: None,
                    part: Part::Whole,
                    from: from_id,
                    to: to_id,
                    transport: template.transport,
                    traffic: traffic.clone(),
                    transfer: template.transfer,
                    reader: template.reader,
                    start,
                    drawn_start: drawn_start.clone(),
                    dscp: template.dscp,
                    tcp,
                    receiver_tcp,
                });
                start += template.stagger;
            }
        }
    }
    if drafts.is_empty() && scenario.flows.is_empty() && scenario.radio_count() == 0 {
        errors.push("flows", "there is no flow; write [[flows]] with from and to");
    }
    check_collectors(&drafts, &joins.nodes, errors);
    drafts
}

impl Scenario {
    /// Number of links that it describes.
    pub fn link_count(&self) -> u64 {
        self.links.len() as u64 + self.topology.as_ref().map_or(0, Topology::link_count)
    }

    /// Number of flows that it describes.
    pub fn flow_count(&self) -> u64 {
        self.count_flows(|_| true)
    }

    /// Number of flows with this transport.
    pub fn flows_by(&self, transport: Transport) -> u64 {
        self.count_flows(|other| other == transport)
    }

    fn count_flows(&self, counts: impl Fn(Transport) -> bool) -> u64 {
        let count = |template: &FlowTemplate| if counts(template.transport) { template.count } else { 0 };
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
        generated.saturating_add(self.flows.iter().filter(|flow| counts(flow.transport)).count() as u64)
    }

    /// Number of the radios of its nodes, listed and generated ones.
    pub fn radio_count(&self) -> u64 {
        let swarm = if let Some(Topology::Swarm(swarm)) = &self.topology { swarm.nodes } else { 0 };
        self.nodes.iter().fold(swarm, |sum, node| sum + node.media.len().max(1) as u64)
    }

    /// The flows of a generator: the configured ones, or one per pair if no flow is listed.
    pub(crate) fn template(&self) -> Option<&FlowTemplate> {
        let topology = self.topology.as_ref()?;
        topology.template().or_else(|| self.flows.is_empty().then_some(&*ONE_FLOW))
    }

    /// The flows that a generator makes.
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

    /// Whether the network and its samples can be held in memory at all.
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
            errors.push("record.interval", "0 s between samples never ends; write a time such as \"100 ms\"");
        } else {
            let samples = self.duration.as_nanos() / self.record.interval.as_nanos();
            let traced = if self.record.trace == TraceMode::Off { 0 } else { flows };
            let watched = if self.record.queue.is_on() { links.saturating_mul(2) } else { 0 };
            let rows = samples.saturating_mul(traced.max(watched));
            if rows > MOST_SAMPLES {
                let message = format!(
                    "{} for {} is up to {rows} samples, more than {MOST_SAMPLES}; take a longer interval, a shorter \
                     duration, or switch trace or queue off",
                    self.record.interval, self.duration
                );
                errors.push("record.interval", message);
            }
        }
        errors.len() == before
    }
}
