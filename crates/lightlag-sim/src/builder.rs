//! From a scenario to a world.

use crate::application::Reading;
use crate::ends::{self, End, Role, ends};
use crate::record::Recorder;
use crate::relay::Relay;
use crate::scenario::{LinkDirection, Network, Record, Split};
use crate::world::{Crash, Endpoint, Hop, Outcome, Task, World};
use lightlag_core::{EventQueue, Probability, RandomStream};
use lightlag_net::queue::DisciplineConfig;
use lightlag_net::{ComputedLink, Disturbance, Link, LinkConfig, LossPlace, LossProcess, QueuedLink};
use lightlag_tcp::Connection;
use lightlag_tcp::segment::SeqNumber;

/// Builds the world of a network that has been checked.
pub(crate) fn build(network: Network, record: &Record, seed: u64) -> World {
    let mut hops: Vec<_> = network.links.iter().map(|link| hop(link, seed)).collect();
    if record.queueing {
        hops.iter_mut().for_each(|hop: &mut Hop<_>| hop.link.measure_waits());
    }
    let endpoints: Vec<_> = ends(&network).enumerate().map(|(at, end)| endpoint(at, end, &network, seed)).collect();
    let Network { flows, proxies, splits, routes, ip, .. } = network;
    let relay = |(at, split): (usize, &Split)| {
        let ends = [ends::entry(flows.len(), at), ends::exit(flows.len(), at)].map(|end| end as u32);
        Relay::new(ends, split.proxy, proxies[split.proxy as usize].buffer.0)
    };
    let relays: Vec<Relay> = splits.iter().enumerate().map(relay).collect();
    let mut crashes: Vec<Crash> = (0_u32..).zip(&proxies).filter_map(|(proxy, of)| Some((of.crash?, proxy))).collect();
    crashes.sort_unstable_by(|a, b| b.cmp(a));
    let recorder = Recorder::new(record, flows.len());
    let mut world = World {
        queue: EventQueue::new(hops.len() + endpoints.len() + 2),
        outcomes: vec![Outcome::Unfinished; flows.len()],
        relays,
        crashes,
        open_transfers: flows.iter().filter(|flow| flow.transfer.is_some()).count(),
        sent: 0,
        received: 0,
        hops,
        endpoints,
        routes,
        recorder,
        ip_header: ip.header(),
    };
    for at in 0..world.endpoints.len() {
        if let Task::Open { start, .. } = world.endpoints[at].task {
            world.queue.arm(world.endpoint_entity(at), start);
        }
    }
    if world.recorder.samples() {
        world.queue.arm(world.sampler_entity(), lightlag_core::Instant::ZERO);
    }
    if let Some((at, _)) = world.crashes.last() {
        world.queue.arm(world.crash_entity(), *at);
    }
    world
}

/// An idle link direction.
pub(crate) fn hop<B: Clone + Send + 'static>(direction: &LinkDirection, seed: u64) -> Hop<B> {
    let LinkDirection { rate, delay, queue, discipline, reorder, duplicate, .. } = *direction;
    let config = LinkConfig { rate, delay, queue, header: direction.header.0 };
    let random = |purpose| RandomStream::new(seed, &format!("link {} {purpose}", direction.name));
    let loss = LossProcess::new(&direction.loss, random("loss")).at(direction.loss_place);
    let is_steady = reorder.is_none() && duplicate == Probability::ZERO && direction.timetable.is_none();
    let in_transmission = loss.place() == LossPlace::AfterQueue;
    let link = if discipline == DisciplineConfig::DropTail && is_steady && in_transmission {
        Link::Computed(ComputedLink::new(config, loss))
    } else {
        let mut disturbance = Disturbance::none();
        if let Some(reordering) = reorder {
            disturbance = disturbance.reordering(reordering, random("reorder"));
        }
        if duplicate != Probability::ZERO {
            disturbance = disturbance.duplicating(duplicate, random("duplicate"));
        }
        let discipline = discipline.build(&config, random("queue"));
        let link = QueuedLink::new(config, discipline, loss, disturbance);
        Link::Queued(Box::new(match (&direction.timetable, direction.jitter) {
            (Some(timetable), Some(jitter)) => link.jittering(timetable.clone(), jitter, random("jitter")),
            (Some(timetable), None) => link.changing(timetable.clone()),
            (None, _) => link,
        }))
    };
    Hop { link, to: direction.to }
}

/// The endpoint with this number, and what its application has to do.
fn endpoint(number: usize, end: End, network: &Network, seed: u64) -> Endpoint {
    let flow = &network.flows[end.flow as usize];
    let transfer = flow.transfer.map(|bytes| bytes.0);
    let split = || number / 2 - network.flows.len();
    let proxy = || &network.proxies[network.splits[split()].proxy as usize];
    let (tcp, task) = match end.role {
        Role::Sender => (&flow.tcp, Task::Open { start: flow.start, transfer }),
        Role::Receiver => (&flow.tcp, transfer.map_or(Task::Idle, |transfer| Task::Receive { transfer })),
        Role::Entry => (&proxy().client, Task::Relay(split() as u32)),
        Role::Exit => (&proxy().server, Task::Relay(split() as u32)),
    };
    let initial = initial_number(end, network, seed);
    let mut connection = match end.role {
        Role::Sender | Role::Exit => Connection::client(tcp.clone(), initial),
        Role::Receiver | Role::Entry => Connection::server(tcp.clone(), initial),
    };
    let reading = match (end.role, flow.reader) {
        (Role::Receiver, Some(reader)) => Some(Box::new(Reading::new(reader, flow.start))),
        _ => None,
    };
    if reading.is_some() || end.role == Role::Entry {
        connection.read_later();
    }
    let out = network.routes.next(end.node, end.peer_node).expect("every destination was checked to be reachable");
    Endpoint { reading, ..Endpoint::new(end, out, connection, task) }
}

/// The initial sequence number of an endpoint.
fn initial_number(end: End, network: &Network, seed: u64) -> SeqNumber {
    let flow = &network.flows[end.flow as usize].name;
    let purpose = match end.role {
        Role::Sender | Role::Receiver => format!("flow {flow} initial sequence numbers"),
        Role::Entry | Role::Exit => {
            format!("proxy {} flow {flow} initial sequence numbers", network.nodes[end.node.0 as usize])
        }
    };
    let mut random = RandomStream::new(seed, &purpose);
    let [first, second] = [random.bits(), random.bits()];
    SeqNumber(if matches!(end.role, Role::Sender | Role::Entry) { first } else { second } as u32)
}
