//! Construction of a world from a scenario.

use crate::body::UDP_HEADER;
use crate::border::WholeNetwork;
use crate::fabric::Fabric;
use crate::hosts::application::{Application, Exchange, Forwarding, Reading, Waking};
use crate::hosts::collector::Collector;
use crate::hosts::datagrams::{self, DatagramTarget, Datagrams};
use crate::hosts::endpoints::{self, EndpointIds, EndpointSpec, Role};
use crate::hosts::quic::{self as of_quic, Quic};
use crate::hosts::relay::{Pooled, Relay};
use crate::hosts::session::Session;
use crate::hosts::socket::{Port, Socket, Task};
use crate::hosts::source::TrafficSource;
use crate::hosts::tcp::{self, Shared, Tcp};
use crate::hosts::transport::Sockets;
use crate::hosts::tunnels::Tunnels;
use crate::hosts::{Hosts, Outcomes};
use crate::housekeeping::epochs::Departures;
use crate::housekeeping::sources::Sources;
use crate::housekeeping::stations::Stations;
use crate::housekeeping::{Clerks, Crash};
use crate::ids::{FlowIndex, UdpIndex};
use crate::media::Media;
use crate::scheduler::{Agenda, ScheduledEvent, before};
use crate::tap::Silent;
use crate::tap::record::Recorder;
use crate::world::World;
use lightlag_core::{Instant, Probability, RandomStream};
use lightlag_net::{EndpointId, InterfaceId, NodeId, RouteTable};
use lightlag_quic as quic;
use lightlag_scenario::{CapturePlace, Flow, FlowRole, Network, Record, Split, Transport};
use lightlag_tcp::Connection;
use lightlag_transport::{Endpoint, Stream};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Builds the world of a validated network.
pub(crate) fn build(mut network: Network, record: &Record, seed: u64) -> World<Silent> {
    let mut fabric = Fabric::new(&network, seed);
    if record.queueing {
        fabric.hops.iter_mut().for_each(|hop| hop.link.measure_waits());
    }
    let mut media = Media::new(&network, seed).map(Box::new);
    if let Some(media) = media.as_deref_mut() {
        let captured = network.captures.iter().flat_map(|plan| &plan.places).filter_map(|place| match place {
            CapturePlace::Interface(interface) => Some(*interface),
            CapturePlace::Node(_) | CapturePlace::Link(_) => None,
        });
        let captured: Vec<InterfaceId> = captured.collect();
        if !captured.is_empty() {
            media.watch(&captured);
        }
        media.start();
    }
    let sources = Sources::new(&network);
    let links = std::mem::take(&mut network.links);
    let stations = Stations::new(&links, &fabric.hops, network.flows.len(), sources.is_some());
    let duplicates = links.iter().any(|link| link.duplicate != Probability::ZERO);
    // No later step uses them, and the connections are large.
    drop(links);
    let numbers = EndpointIds::new(&network);
    // The exact number, not the next power of two: a socket is large.
    let mut sockets = Vec::with_capacity(numbers.of_tcp() as usize);
    let ends = (0..).map(EndpointId).zip(endpoints::of_connections(&network, &numbers));
    let of_tcp = ends.take(numbers.of_tcp() as usize);
    sockets.extend(of_tcp.map(|(at, end)| socket(at, end, &network, &numbers, seed)));
    let mut tcp = Sockets::new(EndpointId(0), sockets);
    let shared = Shared::new(&mut tcp, &network, seed);
    let mut quic = quic_sockets(&network, &numbers, seed);
    if duplicates {
        quic.arena_mut().retain();
    }
    let datagrams = datagrams(&network, &numbers, seed);
    let prefetching = prefetching(&network);
    let tunnels = Tunnels::new(&network, |flow| {
        let flow = FlowIndex(flow);
        [numbers.sender(flow), numbers.receiver(flow)]
    });
    let Network { flows, proxies, splits, ip, ttl, .. } = network;
    let relay = |(index, split): (usize, &Split)| {
        let ends = [numbers.entry(index), numbers.exit(index)];
        let is_dialogue = flows[split.flow as usize].traffic.is_dialogue();
        // Both ends of a leg must pool. The client of a dialogue is at the end of the path.
        let is_pooled = |from: Option<usize>| {
            let pair = from.and_then(|from| splits.get(from..from + 2));
            let pools = |other: &Split| other.flow == split.flow && proxies[other.proxy as usize].pool;
            pair.is_some_and(|pair| pair.iter().all(pools))
        };
        let [before, after] = [is_pooled(index.checked_sub(1)), is_pooled(Some(index))];
        let [first, second] = if is_dialogue { [after, before] } else { [before, after] };
        let proxy = &proxies[split.proxy as usize];
        let pooled = Pooled { first, second };
        let mut relay = Relay::new(ends, split.proxy, proxy.buffer.0, is_dialogue, pooled, proxy.opens);
        relay.read_at_most(proxy.reads.map(|reads| reads.size.0));
        if quic.get(ends[0]).is_some_and(|entry| entry.connection.has_several_streams()) {
            relay.serve_several();
        }
        relay
    };
    let relays: Vec<Relay> = splits.iter().enumerate().map(relay).collect();
    let mut crashes: Vec<Crash> = (0_u32..).zip(&proxies).filter_map(|(proxy, of)| Some((of.crash?, proxy))).collect();
    crashes.sort_unstable_by(|a, b| b.cmp(a));
    let recorder = Recorder::new(
        record,
        fabric.hops.len(),
        numbers.of_connections() as usize / 2,
        legs(&numbers, &splits),
        datagrams.len(),
        if stations.is_some() { flows.len() } else { 0 },
    );
    let mut hosts = Hosts {
        outcomes: Outcomes::new(flows.len()),
        endings: BTreeMap::new(),
        open_transfers: flows.iter().filter(|flow| flow.is_finite()).count(),
        tcp,
        shared,
        quic,
        datagrams,
        numbers,
        relays,
        collectors: Vec::new(),
        dialogues: Vec::new(),
        tunnels,
    };
    hosts.dialogues = dialogues(&flows, &mut hosts, seed);
    prefetch(&prefetching, &mut hosts);
    if let Some(routes) = hosts.tunnels.as_deref().map(Tunnels::routes) {
        enter_tunnels(&flows, &routes, &mut hosts);
        fabric.routes = routes;
    }
    hosts.collectors = collectors(&flows, &mut hosts);
    let departures = fabric.next_epoch().is_some().then(|| Box::new(departures(&hosts, &flows)));
    let mut world = World {
        agenda: Agenda::empty(),
        fabric,
        hosts,
        media,
        clerks: Clerks { crashes, stations, sources, departures },
        recorder,
        tap: Silent,
        border: WholeNetwork,
        ip_header: ip.header(),
        ttl,
        sent: 0,
        received: 0,
        expired: 0,
    };
    world.agenda = Agenda::new(world.parts());
    world.arm_interfaces();
    for endpoint in world.hosts.ids() {
        let socket = world.hosts.socket(endpoint);
        let start = match socket.port() {
            Port { task: Task::Open { .. } | Task::Begin, flow, .. } => Some(flows[flow.index()].start),
            _ => socket.application_due(),
        };
        if let Some(start) = start {
            world.agenda.arm(ScheduledEvent::Connection(endpoint), start);
        }
    }
    for opener in world.hosts.relays.iter().filter_map(Relay::pool_opener) {
        world.agenda.arm(ScheduledEvent::Connection(opener), Instant::ZERO);
    }
    for (flow, sender) in (0..).map(UdpIndex).zip(&world.hosts.datagrams.senders) {
        if let Some(start) = sender.next() {
            world.agenda.arm(ScheduledEvent::Datagrams(flow), start);
        }
    }
    if world.recorder.samples() {
        world.agenda.arm(ScheduledEvent::Sampler, Instant::ZERO);
    }
    if let Some((time, _)) = world.clerks.crashes.last() {
        world.agenda.arm(ScheduledEvent::Crash, *time);
    }
    if let Some(due) = world.clerks.stations.as_ref().and_then(|stations| stations.next()) {
        world.agenda.arm(ScheduledEvent::Stations, due);
    }
    if let Some(epoch) = world.fabric.next_epoch() {
        world.agenda.arm(ScheduledEvent::Epoch, before(epoch));
    }
    world
}

/// Sets the first exits of all endpoints to the routes with tunnels, except for the endpoints of the tunnels.
fn enter_tunnels(flows: &[Flow], routes: &RouteTable, hosts: &mut Hosts) {
    for endpoint in hosts.ids() {
        let port = hosts.port_mut(endpoint);
        if !flows[port.flow.index()].part.is_tunnel() {
            port.out = routes.next(port.node, port.peer_node).expect(REACHABLE);
        }
    }
    let senders: Vec<NodeId> =
        flows.iter().filter(|flow| flow.transport == Transport::Udp).map(|flow| flow.from).collect();
    for (flow, from) in (0..).map(UdpIndex).zip(senders) {
        hosts.datagrams.reroute(flow, |to| routes.next(from, to));
    }
    let Hosts { tunnels, quic, .. } = hosts;
    let Some(tunnels) = tunnels else { return };
    for id in tunnels.ids() {
        let port = &mut quic[tunnels.end(id).endpoint].port;
        port.application = Some(Box::new(Application::Tunnels(id)));
    }
}

/// Returns the endpoints by node, with UDP flows listed at the nodes of their senders.
fn departures(hosts: &Hosts, flows: &[Flow]) -> Departures {
    let datagrams = flows.iter().filter(|flow| flow.transport == Transport::Udp);
    Departures::new(hosts, datagrams.map(|flow| flow.from))
}

/// Returns, for each sender of a connection, its position on the path of its flow, starting at 1. Empty if no flow
/// passes a proxy.
fn legs(numbers: &EndpointIds, splits: &[Split]) -> Vec<u8> {
    if splits.is_empty() {
        return Vec::new();
    }
    let of_flow = |at: usize| splits[..at].iter().rev().take_while(|split| split.flow == splits[at].flow).count();
    let leg = |split: Option<usize>| split.map_or(1, |at| u8::try_from(of_flow(at) + 2).unwrap_or(u8::MAX));
    numbers.splits_of_senders().map(leg).collect()
}

/// Message of a failed expectation that the endpoints of a flow can reach each other.
const REACHABLE: &str = "every destination was checked to be reachable";

/// Minimum size of a TCP header in bytes. A datagram with its header of 8 bytes may be as long as a segment with a
/// header of this size.
const TCP_HEADER: u16 = 20;

/// Returns the socket of an endpoint, with the task of its application.
fn socket(number: EndpointId, end: EndpointSpec, network: &Network, numbers: &EndpointIds, seed: u64) -> Socket<Tcp> {
    let flow = &network.flows[end.flow.index()];
    let proxy = || &network.proxies[network.splits[numbers.split(number)].proxy as usize];
    let tcp = match end.role {
        Role::Sender => &flow.tcp,
        Role::Receiver => &flow.receiver_tcp,
        Role::Entry => &proxy().client,
        Role::Exit => &proxy().server,
    };
    let initial = tcp::initial_number(end, network, seed);
    let new = if of_quic::opens(&end, flow) { Connection::client } else { Connection::server };
    let connection = new(tcp.clone(), initial);
    with_task(connection, number, end, network, numbers, seed)
}

/// Returns the QUIC sockets.
fn quic_sockets(network: &Network, numbers: &EndpointIds, seed: u64) -> Sockets<Quic> {
    let first = numbers.of_tcp();
    let ends: Vec<EndpointSpec> = endpoints::of_connections(network, numbers).skip(first as usize).collect();
    let config = |at: EndpointId| of_quic::config(at, &ends[(at.0 - first) as usize], network, numbers);
    let mut list = Vec::with_capacity(ends.len());
    list.extend((first..).map(EndpointId).zip(&ends).map(|(at, end)| {
        let configs = [config(at), config(end.peer)];
        quic_socket(at, *end, configs, network, numbers, seed)
    }));
    Sockets::new(EndpointId(first), list)
}

/// Returns the socket of a QUIC endpoint, with the task of its application. `own` and `peer` are its configuration and
/// the configuration of its peer.
fn quic_socket(
    at: EndpointId,
    end: EndpointSpec,
    [own, peer]: [&Arc<quic::Config>; 2],
    network: &Network,
    numbers: &EndpointIds,
    seed: u64,
) -> Socket<Quic> {
    let flow = &network.flows[end.flow.index()];
    let opens = of_quic::opens(&end, flow);
    let new = if opens { quic::Connection::client } else { quic::Connection::server };
    let node = &network.nodes[end.node.0 as usize];
    let purpose = format!("flow {} quic at {node} {}", flow.name, if opens { "client" } else { "server" });
    let mut connection = new(own.clone(), quic::Parameters::of(peer), RandomStream::new(seed, &purpose).bits());
    if of_quic::uses_several_streams(end.flow, network) {
        connection = connection.with_several_streams();
    }
    with_task(connection, at, end, network, numbers, seed)
}

/// Returns the socket of a connection, with the task of its application.
fn with_task<E: Endpoint + Stream>(
    connection: E,
    at: EndpointId,
    end: EndpointSpec,
    network: &Network,
    numbers: &EndpointIds,
    seed: u64,
) -> Socket<E> {
    let flow = &network.flows[end.flow.index()];
    let out = network.routes.at_start().next(end.node, end.peer_node).expect(REACHABLE);
    let mut socket = Socket::new(end, out, connection, Task::Idle);
    match end.role {
        Role::Sender => sender(socket, flow, seed),
        Role::Receiver => receiver(socket, flow),
        Role::Entry | Role::Exit => {
            socket.port.task = Task::Relay(numbers.split(at) as u32);
            if end.role == Role::Entry || flow.traffic.is_dialogue() {
                socket.connection.read_later();
            }
            let proxy = &network.proxies[network.splits[numbers.split(at)].proxy as usize];
            if let Some(reads) = proxy.reads {
                let waking = Waking { after: reads.after, due: None };
                socket.port.application = Some(Box::new(Application::Wakes(waking)));
            }
            socket
        }
    }
}

/// Returns the endpoints of the UDP flows.
fn datagrams(network: &Network, numbers: &EndpointIds, seed: u64) -> Datagrams {
    let mut datagrams = Datagrams::new(EndpointId(numbers.of_connections()), numbers.of_datagrams());
    for end in endpoints::of_datagrams(network, numbers) {
        let flow = &network.flows[end.flow.index()];
        let out = network.routes.at_start().next(flow.from, flow.to).expect(REACHABLE);
        let source = TrafficSource::new(flow, seed).expect("a flow of datagrams has a traffic source");
        let most = flow.tcp.mss + TCP_HEADER - UDP_HEADER as u16;
        datagrams.add(datagrams::Sender::new(source, most), DatagramTarget { out, peer_node: flow.to, flow: end.flow });
    }
    datagrams
}

/// Returns the dialogues, and registers each endpoint with its dialogue and connection.
fn dialogues(flows: &[Flow], hosts: &mut Hosts, seed: u64) -> Vec<Session> {
    let mut dialogues = Vec::new();
    for (index, flow) in (0..).map(FlowIndex).zip(flows).filter(|(_, flow)| flow.traffic.is_dialogue()) {
        // The connections of a browser have adjacent indices.
        let line = flow.part.connection() as usize;
        let others = flows[index.index()..].iter().zip(0..).take_while(|(flow, line)| flow.part.connection() == *line);
        let lines = if flow.part == FlowRole::Whole { 1 } else { others.count() };
        let ends = (index.0..index.0 + lines as u32)
            .map(FlowIndex)
            .map(|flow| [hosts.numbers.receiver(flow), hosts.numbers.sender(flow)]);
        let has_streams =
            hosts.quic.get(hosts.numbers.receiver(index)).is_some_and(|of| of.connection.has_several_streams());
        dialogues.extend(Session::new(index, flow, seed, ends, has_streams));
        let due = (line == 0).then_some(flow.start);
        let talk = Exchange { dialogue: dialogues.len() as u32 - 1, line: line as u32, due: None };
        let [server, client] = [hosts.numbers.sender(index), hosts.numbers.receiver(index)];
        hosts.port_mut(server).application = Some(Box::new(Application::Answers(talk)));
        hosts.port_mut(client).application = Some(Box::new(Application::Asks(Exchange { due, ..talk })));
    }
    dialogues
}

/// Returns the index of the first proxy's relay for each flow whose objects a pair of proxies prefetches.
fn prefetching(network: &Network) -> BTreeMap<FlowIndex, usize> {
    if !network.proxies.iter().any(|proxy| proxy.prefetch) {
        return BTreeMap::new();
    }
    let flows = 0..network.flows.len() as u32;
    flows.filter_map(|flow| Some((FlowIndex(flow), network.prefetching_split(flow)?))).collect()
}

/// Makes the proxies of dialogues prefetch.
fn prefetch(prefetching: &BTreeMap<FlowIndex, usize>, hosts: &mut Hosts) {
    let Hosts { dialogues, relays, .. } = hosts;
    for (index, dialogue) in (0..).zip(dialogues) {
        let first = dialogue.flow();
        let end = FlowIndex(first.0 + dialogue.opened().count() as u32);
        let of_lines: Vec<usize> = prefetching.range(first..end).map(|(_, relay)| *relay).collect();
        let Some(relay) = of_lines.first() else { continue };
        let limit = relays[relay + 1].limit();
        for relay in of_lines.iter().flat_map(|first| [*first, first + 1]) {
            relays[relay].reader = Some(index);
        }
        dialogue.prefetch_at(of_lines, limit);
    }
}

/// Returns the collectors of messages, and registers them with the endpoints.
fn collectors(flows: &[Flow], hosts: &mut Hosts) -> Vec<Collector> {
    let mut sources: BTreeMap<NodeId, Vec<FlowIndex>> = BTreeMap::new();
    if flows.iter().any(|flow| flow.traffic.collects().is_some()) {
        for (index, flow) in (0..).map(FlowIndex).zip(flows).filter(|(_, flow)| flow.transport == Transport::Udp) {
            sources.entry(flow.to).or_default().push(index);
        }
    }
    let mut collectors = Vec::new();
    for (index, flow) in (0..).map(FlowIndex).zip(flows) {
        let Some(settings) = flow.traffic.collects() else { continue };
        let sources = sources.remove(&flow.from).unwrap_or_default();
        let collector = collectors.len() as u32;
        for source in &sources {
            if let Some(of_udp) = hosts.numbers.datagrams(*source) {
                hosts.datagrams.receivers[of_udp.index()].hand_to(collector);
            }
        }
        let far_end = hosts.numbers.receiver(index);
        hosts.port_mut(far_end).task = Task::Collected(collector);
        if settings.stores() {
            let forwarding = Forwarding { collector, due: None };
            let sender = hosts.numbers.sender(index);
            hosts.port_mut(sender).application = Some(Box::new(Application::Forwards(forwarding)));
        }
        collectors.push(Collector::new(index, sources, settings));
    }
    collectors
}

/// Adds the application of a sender to the socket of its connection.
fn sender<E: Endpoint + Stream>(mut socket: Socket<E>, flow: &Flow, seed: u64) -> Socket<E> {
    if flow.traffic.is_dialogue() {
        return socket;
    }
    if flow.traffic.collects().is_some() || flow.part.is_tunnel() {
        socket.port.task = Task::Begin;
        return socket;
    }
    match TrafficSource::new(flow, seed) {
        None => socket.port.task = Task::Open { transfer: flow.transfer.map(|bytes| bytes.0) },
        Some(source) => {
            socket.port.task = Task::Begin;
            socket.port.application = Some(Box::new(Application::Writes(source)));
        }
    }
    socket
}

/// Adds the application of a receiver to the socket of its connection.
fn receiver<E: Endpoint + Stream>(mut socket: Socket<E>, flow: &Flow) -> Socket<E> {
    if flow.is_finite() {
        // The number of bytes that an application writes is known only afterwards.
        let transfer = flow.transfer.filter(|_| flow.traffic.is_bulk()).map_or(u64::MAX, |bytes| bytes.0);
        socket.port.task = Task::Receive { transfer };
    }
    if let Some(reader) = flow.reader {
        socket.connection.read_later();
        socket.port.application = Some(Box::new(Application::Reads(Reading::new(reader, flow.start))));
    } else if flow.transport == Transport::Tcp && tcp::skips_holes(&flow.receiver_tcp) {
        socket.port.application = Some(Box::new(Application::Skips));
    }
    socket
}
