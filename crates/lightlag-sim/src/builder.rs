//! From a scenario to a world.

use crate::application::Reading;
use crate::ends::{End, Role, ends};
use crate::record::Recorder;
use crate::scenario::{Flow, LinkDirection, Network, Record};
use crate::world::{Endpoint, Hop, Outcome, Task, World};
use lightlag_core::{EventQueue, Probability, RandomStream};
use lightlag_net::queue::DisciplineConfig;
use lightlag_net::{ComputedLink, Disturbance, Link, LinkConfig, LossPlace, LossProcess, QueuedLink, Routes};
use lightlag_tcp::Connection;
use lightlag_tcp::segment::SeqNumber;

/// Builds the world of a network that has been checked.
pub(crate) fn build(network: Network, record: &Record, seed: u64) -> World {
    let Network { links, flows, routes, ip, .. } = network;
    let mut hops: Vec<_> = links.iter().map(|link| hop(link, seed)).collect();
    if record.queueing {
        hops.iter_mut().for_each(|hop: &mut Hop<_>| hop.link.measure_waits());
    }
    let endpoints: Vec<_> = ends(&flows).map(|end| endpoint(end, &flows[end.flow as usize], &routes, seed)).collect();
    let recorder = Recorder::new(record, flows.len());
    let mut world = World {
        queue: EventQueue::new(hops.len() + endpoints.len() + usize::from(recorder.samples())),
        outcomes: vec![Outcome::Unfinished; flows.len()],
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

/// An end of a flow and what its application has to do.
fn endpoint(end: End, flow: &Flow, routes: &Routes, seed: u64) -> Endpoint {
    let mut random = RandomStream::new(seed, &format!("flow {} initial sequence numbers", flow.name));
    let [of_sender, of_receiver] = [random.bits(), random.bits()].map(|bits| SeqNumber(bits as u32));
    let transfer = flow.transfer.map(|bytes| bytes.0);
    let (connection, task) = match end.role {
        Role::Sender => {
            let open = Task::Open { start: flow.start, transfer };
            (Connection::client(flow.tcp.clone(), of_sender), open)
        }
        Role::Receiver => {
            let receive = transfer.map_or(Task::Idle, |transfer| Task::Receive { transfer });
            (Connection::server(flow.tcp.clone(), of_receiver), receive)
        }
    };
    let out = routes.next(end.node, end.peer_node).expect("every destination was checked to be reachable");
    let mut endpoint = Endpoint::new(end, out, connection, task);
    if let (Role::Receiver, Some(reader)) = (end.role, flow.reader) {
        endpoint.connection.read_later();
        endpoint.reading = Some(Box::new(Reading::new(reader, flow.start)));
    }
    endpoint
}
