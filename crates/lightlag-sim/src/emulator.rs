//! The network of a scenario for packets that come from outside: its links, queues and routes without its flows.
//!
//! Whatever a body is, it travels through the same links as a segment of a simulated connection, with the same random
//! streams: a program that has real packets (and a real clock) asks when the next one is due and takes it then.

use crate::fabric::Fabric;
use lightlag_core::{Entity, EventQueue, Instant};
use lightlag_net::queue::Backlog;
use lightlag_net::{LinkId, NodeId, Packet};
use lightlag_scenario::Network;

pub use lightlag_net::link::LinkCounters;

/// A network that carries bodies of any type.
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
    /// The time to live of packets that come from outside.
    ttl: u8,
    expired: u64,
}

impl<B: Clone + Default + Send + 'static> Emulator<B> {
    /// The idle links of a network without radio media; `seed` starts their random streams, as in a run.
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

    /// Sends a packet from a node. Everything that was due by `now` has been taken with
    /// [`next_delivery`](Self::next_delivery).
    ///
    /// # Panics
    /// If there is no way from the node to the packet's destination.
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

    /// When something next happens inside, at the latest; nothing is delivered before.
    pub fn next_event(&self) -> Option<Instant> {
        self.queue.next_until(Instant::MAX).map(|(due, _)| due)
    }

    /// Lets everything happen up to `until`, in the order of time, or to the first packet that reaches its
    /// destination: that packet, and when it arrives there.
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

    /// Packets that a node dropped because their TTL had run out.
    pub fn expired(&self) -> u64 {
        self.expired
    }

    /// Counters of each link direction, and the packets that wait there now; in the order of the network's.
    pub fn links(&mut self, now: Instant) -> impl Iterator<Item = (LinkCounters, Backlog)> + '_ {
        self.fabric.hops.iter_mut().map(move |hop| {
            let backlog = hop.link.backlog(now);
            (hop.link.counters(), backlog)
        })
    }
}

#[cfg(test)]
mod tests;
