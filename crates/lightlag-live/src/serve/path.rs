//! A simulated network between the device and the hosts: that of a scenario, as in `lightlag emulate`.

use crate::packet;
use lightlag_core::{Codepoint, Duration, Instant};
use lightlag_net::{NodeId, Packet, PacketFlags};
use lightlag_scenario::Network;
use std::net::IpAddr;
use std::sync::Arc;

/// The network, and the nodes of the device and of the hosts.
#[derive(Clone, Debug)]
pub struct PathConfig {
    network: Network,
    device: NodeId,
    hosts: Vec<(IpAddr, NodeId)>,
    seed: u64,
}

/// The place of a host.
#[derive(Clone, Debug)]
pub struct Site {
    /// Node of the scenario; without one, the end of its first flow.
    pub node: Option<String>,
    /// Address.
    pub address: IpAddr,
    /// Key of its node in messages.
    pub key: String,
}

/// An arrived packet, by its destination.
pub(super) enum Arrival {
    /// At the host with this number.
    Host(usize, Arc<[u8]>),
    /// At the device.
    Device(Arc<[u8]>),
}

/// The running network.
pub(super) struct EmulatedPath {
    path: lightlag_sim::Emulator<Arc<[u8]>>,
    device: NodeId,
    hosts: Vec<(IpAddr, NodeId)>,
    /// Origin of the network's time.
    begin: Instant,
    /// Packets other than IP, which do not enter.
    strange: u64,
    /// Packets of the device for none of the hosts.
    not_for_us: u64,
}

/// Counters of packets that did not arrive, and of marked ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Losses {
    /// Damaged by a link.
    pub(super) lost: u64,
    /// Dropped by queues.
    pub(super) dropped: u64,
    /// Marked by queues.
    pub(super) marked: u64,
    /// For none of the hosts.
    pub(super) not_for_us: u64,
}

impl PathConfig {
    /// Reads the network of a scenario in JSON. The device is at the node `device`, or at the start of the first flow.
    ///
    /// # Errors
    /// The scenario's errors, one a line; or a node that does not exist, is taken, or does not reach the device.
    pub fn of_scenario(json: &str, device: Option<&str>, sites: &[Site]) -> Result<Self, String> {
        let read =
            lightlag_scenario::parse_json(json, &[]).and_then(|scenario| Ok((scenario.expand()?, scenario.seed)));
        let (network, seed) =
            read.map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
        network.check_wired()?;
        let flow = network.flows.first().ok_or("flows: the path leads from the first flow's begin to its end")?;
        let device = device.map_or(Ok(flow.from), |name| node(&network, name, "--at"))?;
        let mut hosts: Vec<(IpAddr, NodeId)> = Vec::new();
        for Site { node: name, address, key } in sites {
            let at = name.as_ref().map_or(Ok(flow.to), |name| node(&network, name, key))?;
            let called = &network.nodes[at.0 as usize];
            if at == device {
                return Err(format!("{key}: {called:?} is the node of the device; give the host another one"));
            }
            if hosts.iter().any(|(_, taken)| *taken == at) {
                return Err(format!("{key}: {called:?} has a host already; give each a node of its own"));
            }
            hosts.push((*address, at));
        }
        let ends = || hosts.iter().map(|(_, node)| *node).chain([device]);
        let routes = network.routes.at_start();
        let apart = ends().flat_map(|from| ends().map(move |to| (from, to)));
        if let Some((from, to)) = apart.into_iter().find(|(from, to)| from != to && !routes.reaches(*from, *to)) {
            let [from, to] = [from, to].map(|node| &network.nodes[node.0 as usize]);
            return Err(format!("links: {to:?} cannot be reached from {from:?}; add a link that joins their parts"));
        }
        Ok(Self { network, device, hosts, seed })
    }
}

/// The node of this name.
fn node(network: &Network, name: &str, key: &str) -> Result<NodeId, String> {
    let found = network.nodes.iter().position(|node| node == name);
    found.map(|index| NodeId(index as u32)).ok_or_else(|| {
        let some: Vec<&str> = network.nodes.iter().take(8).map(String::as_str).collect();
        format!("{key}: there is no node {name:?} in the scenario; there are {}", some.join(", "))
    })
}

impl EmulatedPath {
    pub(super) fn new(config: &PathConfig, begin: Instant) -> Self {
        Self {
            path: lightlag_sim::Emulator::new(&config.network, config.seed),
            device: config.device,
            hosts: config.hosts.clone(),
            begin,
            strange: 0,
            not_for_us: 0,
        }
    }

    fn local(&self, now: Instant) -> Instant {
        Instant::ZERO + now.since(self.begin)
    }

    /// Sends a packet of the device to the host that has its destination address. A single host gets every packet and
    /// counts those for others.
    pub(super) fn send_from_device(&mut self, now: Instant, bytes: &[u8]) {
        let to = match &self.hosts[..] {
            [(_, only)] => Some(*only),
            _ => self.node_of(bytes),
        };
        match to {
            Some(to) => self.send(now, self.device, to, bytes),
            None => self.not_for_us += 1,
        }
    }

    /// Sends a packet of a host to another host, or to the device.
    pub(super) fn send_from_host(&mut self, now: Instant, host: usize, bytes: &[u8]) {
        let own = self.hosts[host].1;
        let to = self.node_of(bytes).filter(|to| *to != own).unwrap_or(self.device);
        self.send(now, own, to, bytes);
    }

    /// The node of the host to which a packet is addressed.
    fn node_of(&self, bytes: &[u8]) -> Option<NodeId> {
        let destination = packet::destination(bytes)?;
        self.hosts.iter().find(|(address, _)| *address == destination).map(|(_, node)| *node)
    }

    fn send(&mut self, now: Instant, from: NodeId, to: NodeId, bytes: &[u8]) {
        let (Ok(envelope), Ok(size)) = (packet::envelope(bytes), u16::try_from(bytes.len())) else {
            self.strange += 1;
            return;
        };
        let flags = PacketFlags::new(envelope.carries_payload).with_ecn(envelope.ecn);
        let packet = Packet::new(to, envelope.flow, size, flags, Arc::from(bytes));
        self.path.send(self.local(now), from, packet);
    }

    /// The next packet that has arrived by now. Take all of them before sending another.
    pub(super) fn receive(&mut self, now: Instant) -> Option<Arrival> {
        let (_, packet) = self.path.next_delivery(self.local(now))?;
        let mut bytes = packet.body;
        if packet.flags.ecn() == Codepoint::Ce {
            packet::mark(Arc::make_mut(&mut bytes));
        }
        let host = self.hosts.iter().position(|(_, node)| *node == packet.destination);
        Some(match host {
            Some(host) => Arrival::Host(host, bytes),
            None => Arrival::Device(bytes),
        })
    }

    pub(super) fn next_event(&self) -> Option<Instant> {
        self.path.next_event().map(|event| self.begin + event.since(Instant::ZERO).max(Duration::ZERO))
    }

    pub(super) fn losses(&mut self, now: Instant) -> Losses {
        let (dropped, not_for_us) = (self.strange + self.path.expired(), self.not_for_us);
        let strange = Losses { dropped, not_for_us, ..Losses::default() };
        self.path.links(self.local(now)).fold(strange, |sum, (counters, _)| Losses {
            lost: sum.lost + counters.dropped_error + counters.dropped_outage,
            dropped: sum.dropped + counters.dropped_queue + counters.dropped_aqm,
            marked: sum.marked + counters.marked,
            ..sum
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_tcp::segment::{Flags, SeqNumber};
    use lightlag_wire::{Addresses, IpFields};

    const BEGIN: Instant = Instant::from_nanos(1_000_000_000);

    /// A host with the address 10.0.0.`last`.
    fn site(node: Option<&str>, last: u8) -> Site {
        let address = IpAddr::from([10, 0, 0, last]);
        Site { node: node.map(str::to_owned), address, key: format!("hosts[{}].node", last - 2) }
    }

    fn path(loss: &str) -> EmulatedPath {
        let text = format!(
            r#"{{"name": "p", "duration": "1 s", "links": [{{"between": ["a", "b"], "rate": "8 Mbit/s",
            "delay": "10 ms", "queue": "2 packets", "loss": {loss}}}], "flows": [{{"from": "a", "to": "b"}}]}}"#
        );
        EmulatedPath::new(&PathConfig::of_scenario(&text, None, &[site(None, 2)]).unwrap(), BEGIN)
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
        path.send_from_device(BEGIN, &packet(960));
        // 1000 bytes at 8 Mbit/s, and 10 ms.
        let arrival = BEGIN + Duration::from_millis(11);
        assert_eq!(path.next_event(), Some(arrival));
        assert!(path.receive(BEGIN).is_none());
        assert!(matches!(path.receive(arrival), Some(Arrival::Host(0, bytes)) if *bytes == *packet(960)));
    }

    #[test]
    fn losses_and_drops_are_counted() {
        let mut path = path("0.5");
        for _ in 0..4 {
            path.send_from_host(BEGIN, 0, &packet(960));
        }
        let later = BEGIN + Duration::from_secs(1);
        let arrived = std::iter::from_fn(|| path.receive(later)).filter(|found| matches!(found, Arrival::Device(_)));
        let arrived = arrived.count() as u64;
        let losses = path.losses(later);
        assert_eq!((arrived + losses.lost, losses.dropped), (3, 1), "one in transmission, two wait, one is dropped");
    }

    #[test]
    fn what_is_wrong_with_a_scenario_is_said() {
        let error =
            PathConfig::of_scenario(r#"{"links": [{"between": ["a", "b"], "rate": "fast"}]}"#, None, &[]).unwrap_err();
        assert!(error.contains("links.0.rate") || error.contains("links[0].rate"), "{error}");
    }

    #[test]
    fn a_radio_medium_carries_no_real_packets() {
        let text = r#"{"duration": "1 s", "topology": {"kind": "swarm", "nodes": 2}}"#;
        let error = PathConfig::of_scenario(text, None, &[]).unwrap_err();
        assert!(error.starts_with("the radio medium \"air\" cannot carry real packets; take"), "{error}");
    }

    /// Two hosts and a device around a router.
    const STAR: &str = r#"{"duration": "1 s", "links": [
        {"between": ["client", "router"], "rate": "8 Mbit/s", "delay": "1 ms"},
        {"between": ["server", "router"], "rate": "8 Mbit/s", "delay": "2 ms"},
        {"between": ["router", "outside"], "rate": "8 Mbit/s", "delay": "4 ms"},
        {"between": ["far", "away"], "rate": "8 Mbit/s", "delay": "4 ms"}],
        "flows": [{"from": "client", "to": "outside"}, {"from": "far", "to": "away"}]}"#;

    fn between(from: u8, to: u8) -> Vec<u8> {
        let mut bytes = Vec::new();
        let [source, destination] = [from, to].map(|last| (IpAddr::from([10, 0, 0, last]), 9).into());
        let segment = lightlag_tcp::Segment::new(SeqNumber(0), SeqNumber(0), 0, Flags::ACK);
        let ends = Addresses { source, destination };
        lightlag_wire::encode(&mut bytes, &ends, &IpFields::default(), &segment, &[]);
        bytes
    }

    #[test]
    fn packets_find_their_host_by_its_address() {
        let sites = [site(Some("client"), 2), site(Some("server"), 3)];
        let config = PathConfig::of_scenario(STAR, Some("outside"), &sites).unwrap();
        let mut path = EmulatedPath::new(&config, BEGIN);
        path.send_from_device(BEGIN, &between(1, 2));
        path.send_from_device(BEGIN, &between(1, 3));
        path.send_from_device(BEGIN, &between(1, 9));
        path.send_from_host(BEGIN, 0, &between(2, 3));
        path.send_from_host(BEGIN, 1, &between(3, 1));
        let later = BEGIN + Duration::from_secs(1);
        let place = |arrival| match arrival {
            Arrival::Host(host, bytes) => (Some(host), bytes[15]),
            Arrival::Device(bytes) => (None, bytes[15]),
        };
        let arrived: Vec<_> = std::iter::from_fn(|| path.receive(later)).map(place).collect();
        // 40 bytes take 40 µs on each link: 3, 5, 6 and 6 ms of propagation; the second waits for the first.
        assert_eq!(arrived, [(Some(1), 2), (Some(0), 1), (None, 3), (Some(1), 1)]);
        assert_eq!(path.losses(later).not_for_us, 1);
    }

    #[test]
    fn a_node_that_cannot_have_a_host_is_named() {
        for (device, sites, expected) in [
            (
                Some("nowhere"),
                vec![site(Some("client"), 2)],
                "--at: there is no node \"nowhere\" in the scenario; there",
            ),
            (
                None,
                vec![site(Some("x"), 2)],
                "hosts[0].node: there is no node \"x\" in the scenario; there are client,",
            ),
            (None, vec![site(Some("client"), 2)], "hosts[0].node: \"client\" is the node of the device; give the host"),
            (
                Some("outside"),
                vec![site(Some("client"), 2), site(Some("client"), 3)],
                "hosts[1].node: \"client\" has a host already",
            ),
            (Some("outside"), vec![site(Some("far"), 2)], "links: \"outside\" cannot be reached from \"far\""),
        ] {
            let error = PathConfig::of_scenario(STAR, device, &sites).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
