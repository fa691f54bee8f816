//! The engine alone: links and the event queue, with packets whose contents do not matter.

use crate::measure::{Sample, cpu_seconds, max_rss_kib};
use lightlag_core::{Duration, Entity, EventQueue, Instant, RandomStream, Rate};
use lightlag_net::{ComputedLink, EndpointId, LinkConfig, Loss, LossProcess, NodeId, Packet, PacketFlags, QueueLimit};
use std::hint::black_box;

/// A body as large as a TCP segment.
type Body = [u32; 13];

const SIZE: u16 = 1500;
const OPERATIONS: u64 = 2_000_000;

/// Links with the same number of packets on each. Every packet that arrives is sent over the next link of its own
/// route.
struct Roundabout {
    links: Vec<ComputedLink<Body>>,
    queue: EventQueue,
}

impl Roundabout {
    fn new(links: u32, packets: u32) -> Self {
        let serialisation = Duration::from_micros(12);
        let config = LinkConfig {
            rate: Rate::from_mbps(1000),
            // Half of the capacity: a packet travels for twice the time in which a link sends all its packets.
            delay: serialisation * u64::from(2 * packets),
            queue: QueueLimit::Packets(u64::MAX),
            header: 0,
        };
        let mut random = RandomStream::new(1, "roundabout");
        let mut world = Self { links: Vec::new(), queue: EventQueue::new(links as usize) };
        for id in 0..links {
            let mut link = ComputedLink::new(config, LossProcess::new(&Loss::None, RandomStream::new(1, "no loss")));
            let mut now = Instant::from_nanos(random.bits() % 1_000_000);
            for _ in 0..packets {
                // Its stride: number of links by which it moves on each time.
                let flow = 1 + (random.bits() % u64::from(links.max(2) - 1)) as u32;
                let packet = Packet::new(NodeId(0), EndpointId(flow), SIZE, PacketFlags::new(true), [flow; 13]);
                link.send(now, &packet).expect("the queue takes everything");
                now += serialisation * 2;
            }
            world.queue.arm(Entity(id), link.next_arrival().expect("a packet is in transit"));
            world.links.push(link);
        }
        world
    }

    fn run(&mut self, hops: u64) {
        let links = self.links.len() as u32;
        for _ in 0..hops {
            let (now, entity) = self.queue.next_until(Instant::MAX).expect("packets go round for ever");
            let link = &mut self.links[entity.0 as usize];
            let mut packet = link.receive();
            self.queue.settle(entity, link.next_arrival());
            packet.body[0] = packet.body[0].wrapping_add(1);
            let next = (entity.0 + packet.to.0) % links;
            let link = &mut self.links[next as usize];
            let was_idle = link.in_flight() == 0;
            link.send(now, &packet).expect("the queue takes everything");
            if was_idle && let Some(arrival) = link.next_arrival() {
                self.queue.arm(Entity(next), arrival);
            }
        }
    }
}

/// Measures the engine with 10, 100 or 1000 links and as many packets on each.
pub fn measure(side: u32) -> Sample {
    let mut world = Roundabout::new(side, side);
    world.run(OPERATIONS);
    let begin = cpu_seconds();
    world.run(OPERATIONS);
    let cpu_s = cpu_seconds() - begin;
    black_box(world.links.iter().map(ComputedLink::in_flight).sum::<usize>());
    Sample { packet_hops: OPERATIONS, events: OPERATIONS, cpu_s, entities: u64::from(side), max_rss_kib: max_rss_kib() }
}

/// Measures only the event queue, with this many entities: the earliest entity is removed and inserted again.
pub fn floor(entities: u64) -> Sample {
    let mut queue = EventQueue::new(entities as usize);
    let mut random = RandomStream::new(1, "floor");
    let delays: Vec<Duration> =
        (0..entities).map(|_| Duration::from_nanos(12_000 + random.bits() % 1_200_000)).collect();
    for (id, delay) in delays.iter().enumerate() {
        queue.arm(Entity(id as u32), Instant::ZERO + *delay);
    }
    let mut turn = || {
        for _ in 0..OPERATIONS {
            let (now, entity) = queue.next_until(Instant::MAX).expect("everybody is pending");
            queue.settle(entity, Some(now + delays[entity.0 as usize]));
        }
    };
    turn();
    let begin = cpu_seconds();
    turn();
    let cpu_s = cpu_seconds() - begin;
    Sample { packet_hops: OPERATIONS, events: OPERATIONS, cpu_s, entities, max_rss_kib: max_rss_kib() }
}
