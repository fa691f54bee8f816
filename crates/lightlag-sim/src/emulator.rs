//! The network of a scenario for packets of external programs: its links, queues and routes, without its flows.
//!
//! Packets may have a body of any type. They travel through the same links as the segments of simulated connections,
//! with the same random streams. A program with real packets and a real clock queries the time of the next packet, and
//! takes the packet at that time.

use crate::fabric::Fabric;
use lightlag_core::{Entity, EventQueue, Instant};
use lightlag_net::queue::Backlog;
use lightlag_net::{LinkId, NodeId, Packet};
use lightlag_scenario::Network;

pub use lightlag_net::link::LinkCounters;

/// A network for packets with a body of any type, such as packets of an external program.
///
/// ```
/// use lightlag_core::Instant;
/// use lightlag_net::{EndpointId, NodeId, Packet, PacketFlags};
/// use lightlag_sim::Emulator;
/// let text = r#"
///     duration = "1 s"
///     [[links]]
///     between = ["a", "b"]
///     rate = "12 Mbit/s"
///     delay = "5 ms"
///     [[flows]]
///     from = "a"
///     to = "b"
/// "#;
/// let scenario = lightlag_scenario::parse_toml(text, &[]).unwrap();
/// let mut path = Emulator::new(&scenario.expand().unwrap(), 1);
/// let packet = Packet::new(NodeId(1), EndpointId(0), 1500, PacketFlags::new(true), "hello");
/// path.send(Instant::ZERO, NodeId(0), packet);
/// // 1500 · 8 / 12 Mbit/s = 1 ms, and 5 ms of propagation.
/// let (due, packet) = path.next_delivery(Instant::MAX).unwrap();
/// assert_eq!((due.as_nanos(), packet.body), (6_000_000, "hello"));
/// ```
pub struct Emulator<B> {
    fabric: Fabric<B>,
    queue: EventQueue,
    /// Initial TTL of the packets of external programs.
    ttl: u8,
    expired: u64,
}

impl<B: Clone + Default + Send + 'static> Emulator<B> {
    /// Returns the network with idle links, without radio media. `seed` initialises the random streams of the links, as
    /// in a run.
    ///
    /// # Panics
    /// If the network has radio media.
    pub fn new(network: &Network, seed: u64) -> Self {
        network.check_wired().expect("links alone join the nodes");
        Self {
            queue: EventQueue::new(network.links.len()),
            fabric: Fabric::new(network, seed),
            ttl: network.ttl,
            expired: 0,
        }
    }

    /// Sends a packet from a node. The caller must first have taken all packets that were due by `now` with
    /// [`next_delivery`](Self::next_delivery).
    ///
    /// # Panics
    /// If there is no path from the node to the packet's destination.
    pub fn send(&mut self, now: Instant, from: NodeId, mut packet: Packet<B>) {
        packet.ttl = self.ttl;
        self.forward(now, from, packet);
    }

    fn forward(&mut self, now: Instant, from: NodeId, packet: Packet<B>) {
        while self.fabric.next_epoch().is_some_and(|start| start <= now) {
            self.fabric.start_epoch();
        }
        let on = self.fabric.routes.next(from, packet.destination).expect("the destination can be reached");
        let on = on.link().expect("links alone join the nodes");
        self.transmit(now, on, packet);
    }

    /// Returns the time of the next internal event, if there is one. No packet is delivered before it.
    pub fn next_event(&self) -> Option<Instant> {
        self.queue.next_until(Instant::MAX).map(|(due, _)| due)
    }

    /// Handles all events up to `until` in the order of time, but stops at the first packet that reaches its
    /// destination. Returns that packet and its arrival time.
    pub fn next_delivery(&mut self, until: Instant) -> Option<(Instant, Packet<B>)> {
        while let Some((now, entity)) = self.queue.next_until(until) {
            let (arrived, node, next) = self.fabric.take(now, LinkId(entity.0), drop);
            self.queue.settle(entity, next);
            match arrived {
                Some(packet) if packet.flags.is_corrupted() => {}
                Some(packet) if packet.destination == node => return Some((now, packet)),
                Some(mut packet) => {
                    if packet.ttl == 0 && self.fabric.expires(&mut packet) {
                        self.expired += 1;
                        continue;
                    }
                    self.forward(now, node, packet);
                }
                None => {}
            }
        }
        None
    }

    fn transmit(&mut self, now: Instant, on: LinkId, packet: Packet<B>) {
        // The link counts what it drops.
        let wake = self.fabric.offer(now, on, &packet, Packet::clone, drop);
        if let Some(wake) = wake {
            self.queue.arm(Entity(on.0), wake);
        }
    }

    /// Returns the number of packets that nodes dropped because their TTL had expired.
    pub fn expired(&self) -> u64 {
        self.expired
    }

    /// Returns the counters of each link direction and the number of packets that wait there now, in the order of the
    /// network's links.
    pub fn links(&mut self, now: Instant) -> impl Iterator<Item = (LinkCounters, Backlog)> + '_ {
        self.fabric.hops.iter_mut().map(move |hop| {
            let backlog = hop.link.backlog(now);
            (hop.link.counters(), backlog)
        })
    }
}

#[cfg(test)]
mod tests;
