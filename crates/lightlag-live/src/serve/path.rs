//! A simulated network between the device and the local host: that of a scenario, as in `lightlag emulate`.

use crate::packet;
use lightlag_core::{Codepoint, Duration, Instant};
use lightlag_net::{NodeId, Packet, PacketFlags};
use lightlag_scenario::Network;
use std::sync::Arc;

/// The network, and the positions of the two ends.
#[derive(Clone, Debug)]
pub struct PathConfig {
    network: Network,
    /// The nodes of the device and of the local host: the ends of the scenario's first flow.
    ends: [NodeId; 2],
    seed: u64,
}

/// An arrived packet, by its destination.
pub(super) enum Arrival {
    /// At the local host.
    Host(Arc<[u8]>),
    /// At the device.
    Device(Arc<[u8]>),
}

/// The running network.
pub(super) struct EmulatedPath {
    path: lightlag_sim::Emulator<Arc<[u8]>>,
    ends: [NodeId; 2],
    /// Origin of the network's time.
    begin: Instant,
    /// Packets other than IP, which do not enter.
    strange: u64,
}

/// Counters of lost and marked packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Losses {
    /// Damaged by a link.
    pub(super) lost: u64,
    /// Dropped by queues.
    pub(super) dropped: u64,
    /// Marked by queues.
    pub(super) marked: u64,
}

impl PathConfig {
    /// Reads the network of a scenario in JSON.
    ///
    /// # Errors
    /// The scenario's errors, one a line.
    pub fn of_scenario(json: &str) -> Result<Self, String> {
        let read =
            lightlag_scenario::parse_json(json, &[]).and_then(|scenario| Ok((scenario.expand()?, scenario.seed)));
        let (network, seed) =
            read.map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
        network.check_wired()?;
        let flow = network.flows.first().ok_or("flows: the path leads from the first flow's begin to its end")?;
        let ends = [flow.from, flow.to];
        let routes = network.routes.at_start();
        if !(routes.reaches(ends[0], ends[1]) && routes.reaches(ends[1], ends[0])) {
            return Err("flows.0: its ends do not reach each other".to_owned());
        }
        Ok(Self { network, ends, seed })
    }
}

impl EmulatedPath {
    pub(super) fn new(config: &PathConfig, begin: Instant) -> Self {
        Self { path: lightlag_sim::Emulator::new(&config.network, config.seed), ends: config.ends, begin, strange: 0 }
    }

    fn local(&self, now: Instant) -> Instant {
        Instant::ZERO + now.since(self.begin)
    }

    /// Sends a packet of the device to the local host.
    pub(super) fn send_to_host(&mut self, now: Instant, bytes: &[u8]) {
        self.send(now, 0, bytes);
    }

    /// Sends a packet of the local host to the device.
    pub(super) fn send_to_device(&mut self, now: Instant, bytes: &[u8]) {
        self.send(now, 1, bytes);
    }

    fn send(&mut self, now: Instant, from: usize, bytes: &[u8]) {
        let (Ok(envelope), Ok(size)) = (packet::envelope(bytes), u16::try_from(bytes.len())) else {
            self.strange += 1;
            return;
        };
        let flags = PacketFlags::new(envelope.carries_payload).with_ecn(envelope.ecn);
        let packet = Packet::new(self.ends[1 - from], envelope.flow, size, flags, Arc::from(bytes));
        self.path.send(self.local(now), self.ends[from], packet);
    }

    /// The next packet that has arrived by now. Take all of them before sending another.
    pub(super) fn receive(&mut self, now: Instant) -> Option<Arrival> {
        let (_, packet) = self.path.next_delivery(self.local(now))?;
        let mut bytes = packet.body;
        if packet.flags.ecn() == Codepoint::Ce {
            packet::mark(Arc::make_mut(&mut bytes));
        }
        Some(if packet.destination == self.ends[1] { Arrival::Host(bytes) } else { Arrival::Device(bytes) })
    }

    pub(super) fn next_event(&self) -> Option<Instant> {
        self.path.next_event().map(|event| self.begin + event.since(Instant::ZERO).max(Duration::ZERO))
    }

    pub(super) fn losses(&mut self, now: Instant) -> Losses {
        let strange = Losses { dropped: self.strange + self.path.expired(), ..Losses::default() };
        self.path.links(self.local(now)).fold(strange, |sum, (counters, _)| Losses {
            lost: sum.lost + counters.dropped_error + counters.dropped_outage,
            dropped: sum.dropped + counters.dropped_queue + counters.dropped_aqm,
            marked: sum.marked + counters.marked,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_tcp::segment::{Flags, SeqNumber};
    use lightlag_wire::{Addresses, IpFields};

    const BEGIN: Instant = Instant::from_nanos(1_000_000_000);

    fn path(loss: &str) -> EmulatedPath {
        let text = format!(
            r#"{{"name": "p", "duration": "1 s", "links": [{{"between": ["a", "b"], "rate": "8 Mbit/s",
            "delay": "10 ms", "queue": "2 packets", "loss": {loss}}}], "flows": [{{"from": "a", "to": "b"}}]}}"#
        );
        EmulatedPath::new(&PathConfig::of_scenario(&text).unwrap(), BEGIN)
    }

    fn packet(len: u16) -> Vec<u8> {
        let mut bytes = Vec::new();
        let ends = Addresses { source: ([10, 0, 0, 1], 1).into(), destination: ([10, 0, 0, 2], 2).into() };
        let mut segment = lightlag_tcp::Segment::new(SeqNumber(0), SeqNumber(0), 0, Flags::ACK);
        segment.len = len;
        lightlag_wire::encode(&mut bytes, &ends, &IpFields::default(), &segment, &vec![0; usize::from(len)]);
        bytes
    }

    #[test]
    fn a_packet_arrives_after_serialisation_and_delay() {
        let mut path = path("0");
        path.send_to_host(BEGIN, &packet(960));
        // 1000 bytes at 8 Mbit/s, and 10 ms.
        let arrival = BEGIN + Duration::from_millis(11);
        assert_eq!(path.next_event(), Some(arrival));
        assert!(path.receive(BEGIN).is_none());
        assert!(matches!(path.receive(arrival), Some(Arrival::Host(bytes)) if *bytes == *packet(960)));
    }

    #[test]
    fn losses_and_drops_are_counted() {
        let mut path = path("0.5");
        for _ in 0..4 {
            path.send_to_device(BEGIN, &packet(960));
        }
        let later = BEGIN + Duration::from_secs(1);
        let arrived = std::iter::from_fn(|| path.receive(later)).filter(|found| matches!(found, Arrival::Device(_)));
        let arrived = arrived.count() as u64;
        let losses = path.losses(later);
        assert_eq!((arrived + losses.lost, losses.dropped), (3, 1), "one in transmission, two wait, one is dropped");
    }

    #[test]
    fn what_is_wrong_with_a_scenario_is_said() {
        let error = PathConfig::of_scenario(r#"{"links": [{"between": ["a", "b"], "rate": "fast"}]}"#).unwrap_err();
        assert!(error.contains("links.0.rate") || error.contains("links[0].rate"), "{error}");
    }

    #[test]
    fn a_radio_medium_carries_no_real_packets() {
        let text = r#"{"duration": "1 s", "topology": {"kind": "swarm", "nodes": 2}}"#;
        let error = PathConfig::of_scenario(text).unwrap_err();
        assert!(error.starts_with("the radio medium \"air\" cannot carry real packets; take"), "{error}");
    }
}
