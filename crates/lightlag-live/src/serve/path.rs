//! A path between the device and our host: the link of the simulator, once for each direction.

use lightlag_core::{Duration, Instant, Probability, RandomStream, Rate};
use lightlag_net::{ComputedLink, LinkConfig, Loss, LossProcess, NodeId, Packet, QueueLimit};
use std::collections::VecDeque;

/// Which way a packet goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Towards {
    /// From the device to our host.
    Host,
    /// From our host to the device.
    Device,
}

/// What lies between the device and our host, both ways alike.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PathConfig {
    /// How fast bits leave.
    pub rate: Rate,
    /// One way.
    pub delay: Duration,
    /// Packets that may wait.
    pub queue: u64,
    /// How likely a packet is lost.
    pub loss: Probability,
    /// What losses are drawn from.
    pub seed: u64,
}

/// The packets of one direction on their way.
struct Line {
    link: ComputedLink<()>,
    /// In the order of the link, which is first in, first out.
    packets: VecDeque<Vec<u8>>,
}

/// Both directions.
pub(super) struct Path {
    lines: [Line; 2],
}

impl Line {
    fn new(config: &PathConfig, name: &str) -> Self {
        let link = LinkConfig {
            rate: config.rate,
            delay: config.delay,
            queue: QueueLimit::Packets(config.queue.max(1)),
            header: 0,
        };
        let random = RandomStream::new(config.seed, name);
        let loss = LossProcess::new(&Loss::Packet(config.loss), random);
        Self { link: ComputedLink::new(link, loss), packets: VecDeque::new() }
    }

    fn send(&mut self, now: Instant, bytes: &[u8]) {
        let packet = Packet {
            destination: NodeId(0),
            flow: 0,
            size: u16::try_from(bytes.len()).unwrap_or(u16::MAX),
            flags: lightlag_net::PacketFlags::new(true),
            ecn: lightlag_net::Ecn::NotEct,
            body: (),
        };
        if self.link.send(now, packet).is_ok() {
            self.packets.push_back(bytes.to_vec());
        }
    }

    fn receive(&mut self, now: Instant) -> Option<Vec<u8>> {
        while self.link.next_arrival().is_some_and(|arrival| arrival <= now) {
            let corrupted = self.link.receive().flags.is_corrupted();
            let packet = self.packets.pop_front();
            if !corrupted {
                return packet;
            }
        }
        None
    }
}

impl Path {
    pub(super) fn new(config: &PathConfig) -> Self {
        Self { lines: [Line::new(config, "towards the host"), Line::new(config, "towards the device")] }
    }

    pub(super) fn send(&mut self, now: Instant, towards: Towards, packet: &[u8]) {
        self.lines[towards as usize].send(now, packet);
    }

    /// The next packet that has arrived.
    pub(super) fn receive(&mut self, now: Instant, towards: Towards) -> Option<Vec<u8>> {
        self.lines[towards as usize].receive(now)
    }

    pub(super) fn next_arrival(&self) -> Option<Instant> {
        self.lines.iter().filter_map(|line| line.link.next_arrival()).min()
    }

    /// Packets lost on the way, and dropped by a full queue.
    pub(super) fn losses(&self) -> (u64, u64) {
        self.lines
            .iter()
            .map(|line| line.link.counters())
            .fold((0, 0), |(lost, dropped), counters| (lost + counters.dropped_error, dropped + counters.dropped_queue))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(loss: f64) -> Path {
        Path::new(&PathConfig {
            rate: "12 Mbit/s".parse().unwrap(),
            delay: Duration::from_millis(10),
            queue: 2,
            loss: Probability::new(loss).unwrap(),
            seed: 1,
        })
    }

    #[test]
    fn a_packet_arrives_after_serialisation_and_delay() {
        let mut path = path(0.0);
        path.send(Instant::ZERO, Towards::Host, &[1; 1500]);
        let arrival = Instant::from_nanos(11_000_000);
        assert_eq!(path.next_arrival(), Some(arrival));
        assert_eq!(path.receive(arrival, Towards::Device), None);
        assert_eq!(path.receive(arrival, Towards::Host), Some(vec![1; 1500]));
        assert_eq!(path.next_arrival(), None);
    }

    #[test]
    fn losses_and_drops_are_counted_and_the_rest_stays_in_order() {
        let mut path = path(0.5);
        for number in 0..4 {
            path.send(Instant::ZERO, Towards::Device, &[number; 1500]);
        }
        assert_eq!(path.losses().1, 1, "one in transmission, two wait");
        let mut seen = Vec::new();
        while let Some(packet) = path.receive(Instant::from_nanos(1 << 40), Towards::Device) {
            seen.push(packet[0]);
        }
        assert_eq!(seen.len() as u64 + path.losses().0, 3);
        assert!(seen.is_sorted());
    }
}
