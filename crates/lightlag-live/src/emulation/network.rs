//! The simulated network of an emulation, with devices and hosts at its nodes.

use super::directory::Edge;
use super::error::OptionsError;
use crate::packet::{self, Fault};
use crate::statistics::LinkSnapshot;
use lightlag_core::{Codepoint, Instant};
use lightlag_net::{EndpointId, LinkId, NodeId, Packet, PacketFlags};
use lightlag_scenario::Network;
use lightlag_sim::Emulator;
use std::sync::Arc;

/// The network of a scenario, and the nodes where devices and hosts are attached.
#[derive(Clone, Debug)]
pub struct NetworkPlan {
    name: String,
    network: Network,
    seed: u64,
    devices: Vec<NodeId>,
    hosts: Vec<NodeId>,
}

/// The node that was requested for a host.
#[derive(Clone, Debug)]
pub(super) struct Site {
    /// Name of the node; `None` means the end of the scenario's first flow.
    pub(super) node: Option<String>,
    /// Key that sets the node, for messages.
    pub(super) key: String,
}

impl NetworkPlan {
    /// Reads the network from a scenario in JSON. Devices without a node are attached to the ends of its first flow.
    ///
    /// # Errors
    /// The scenario's errors, or a node that does not exist, is already taken, or cannot be reached.
    pub(super) fn of_scenario(json: &str, devices: &[Option<String>], hosts: &[Site]) -> Result<Self, OptionsError> {
        let read = lightlag_scenario::parse_json(json, &[]).and_then(|scenario| Ok((scenario.expand()?, scenario)));
        let (network, scenario) = read.map_err(OptionsError::Scenario)?;
        network.check_wired()?;
        let flow = network.flows.first().ok_or("flows: is empty; add a flow, whose endpoints are the default nodes")?;
        let ends = [flow.from, flow.to];
        let mut taken: Vec<(NodeId, Edge)> = Vec::new();
        for (device, name) in devices.iter().enumerate() {
            let node = match name {
                Some(name) => node(&network, name, "--at")?,
                None => *ends.get(device).ok_or("--at: is missing; name the node of each device")?,
            };
            if taken.iter().any(|(other, _)| *other == node) {
                let name = &network.nodes[node.0 as usize];
                return Err(format!("both devices are at node {name:?}; name two nodes").into());
            }
            taken.push((node, Edge::Device(device)));
        }
        for (host, Site { node: name, key }) in hosts.iter().enumerate() {
            let node = name.as_ref().map_or(Ok(flow.to), |name| node(&network, name, key))?;
            let name = &network.nodes[node.0 as usize];
            match taken.iter().find(|(other, _)| *other == node) {
                Some((_, Edge::Device(_))) => {
                    return Err(format!("{key}: {name:?} is the node of a device; give the host another node").into());
                }
                Some((_, Edge::Host(_))) => {
                    return Err(format!("{key}: {name:?} already has a host; give each host its own node").into());
                }
                None => taken.push((node, Edge::Host(host))),
            }
        }
        let nodes: Vec<NodeId> = taken.into_iter().map(|(node, _)| node).collect();
        check_reachable(&network, &nodes)?;
        let (devices, hosts) = nodes.split_at(devices.len());
        let (devices, hosts) = (devices.to_vec(), hosts.to_vec());
        Ok(Self { name: scenario.name, network, seed: scenario.seed, devices, hosts })
    }

    /// Returns the name of the scenario.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the names of the devices' nodes.
    pub fn device_nodes(&self) -> impl Iterator<Item = &str> {
        self.devices.iter().map(|node| self.network.nodes[node.0 as usize].as_str())
    }

    /// Returns the names of the hosts' nodes.
    pub fn host_nodes(&self) -> impl Iterator<Item = &str> {
        self.hosts.iter().map(|node| self.network.nodes[node.0 as usize].as_str())
    }
}

fn node(network: &Network, name: &str, key: &str) -> Result<NodeId, String> {
    let index = network.nodes.iter().position(|node| node == name);
    index.map(|index| NodeId(index as u32)).ok_or_else(|| {
        let some: Vec<&str> = network.nodes.iter().take(8).map(String::as_str).collect();
        format!("{key}: there is no node {name:?} in the scenario; there are {}", some.join(", "))
    })
}

fn check_reachable(network: &Network, nodes: &[NodeId]) -> Result<(), String> {
    let routes = network.routes.at_start();
    match pairs(nodes).find(|(from, to)| !routes.reaches(*from, *to)) {
        None => Ok(()),
        Some(pair) => {
            let [from, to] = [pair.0, pair.1].map(|node| &network.nodes[node.0 as usize]);
            Err(format!("links: {to:?} cannot be reached from {from:?}; add a link that joins their parts"))
        }
    }
}

/// Returns all ordered pairs of two different nodes.
fn pairs(nodes: &[NodeId]) -> impl Iterator<Item = (NodeId, NodeId)> {
    nodes.iter().flat_map(move |from| nodes.iter().map(move |to| (*from, *to))).filter(|(from, to)| from != to)
}

/// A link direction whose counters are reported, because packets of devices or hosts cross it.
struct Watched {
    link: LinkId,
    name: String,
    /// Index of the device whose packets to the other device cross it; `None` if only packets of hosts do.
    direction: Option<usize>,
}

/// A real packet, and the index of the device or host that sent it.
#[derive(Clone, Default)]
struct RealPacket {
    source: usize,
    bytes: Arc<[u8]>,
}

/// A packet that has arrived at its destination.
pub(super) struct Arrival {
    /// Time of arrival.
    pub(super) due: Instant,
    /// Index of the device or host that sent it.
    pub(super) source: usize,
    /// Its destination.
    pub(super) to: Edge,
    /// The packet, with the CE mark if a queue marked it.
    pub(super) bytes: Arc<[u8]>,
}

/// The running network.
pub(super) struct EmulatedNetwork {
    emulator: Emulator<RealPacket>,
    devices: Vec<NodeId>,
    hosts: Vec<NodeId>,
    /// Device or host at each node, if there is one.
    edges: Vec<Option<Edge>>,
    watched: Vec<Watched>,
}

/// Number of packets that were lost, dropped or marked in the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Losses {
    /// Lost or damaged by links.
    pub(super) lost: u64,
    /// Dropped by queues, or because the TTL reached 0.
    pub(super) dropped: u64,
    /// Marked with CE by queues.
    pub(super) marked: u64,
}

impl EmulatedNetwork {
    pub(super) fn new(plan: &NetworkPlan) -> Self {
        let mut edges = vec![None; plan.network.nodes.len()];
        for (device, node) in plan.devices.iter().enumerate() {
            edges[node.0 as usize] = Some(Edge::Device(device));
        }
        for (host, node) in plan.hosts.iter().enumerate() {
            edges[node.0 as usize] = Some(Edge::Host(host));
        }
        Self {
            emulator: Emulator::new(&plan.network, plan.seed),
            devices: plan.devices.clone(),
            hosts: plan.hosts.clone(),
            edges,
            watched: watched(plan),
        }
    }

    fn node(&self, edge: Edge) -> NodeId {
        match edge {
            Edge::Device(device) => self.devices[device],
            Edge::Host(host) => self.hosts[host],
        }
    }

    /// Sends a packet. The caller has already taken every packet due by `now` with [`receive`](Self::receive).
    ///
    /// # Errors
    /// If it is not a complete IP packet.
    pub(super) fn send(
        &mut self,
        now: Instant,
        from: Edge,
        to: Edge,
        source: usize,
        bytes: &[u8],
    ) -> Result<(), Fault> {
        let envelope = packet::envelope(bytes)?;
        let size = u16::try_from(bytes.len()).expect("an IP packet has at most 65,535 bytes");
        let flags = PacketFlags::new(envelope.carries_payload).with_ecn(envelope.ecn);
        let body = RealPacket { source, bytes: Arc::from(bytes) };
        let packet = Packet::new(self.node(to), EndpointId(envelope.flow), size, flags, body);
        self.emulator.send(now, self.node(from), packet);
        Ok(())
    }

    /// Returns the next packet that has arrived by `now`.
    pub(super) fn receive(&mut self, now: Instant) -> Option<Arrival> {
        let (due, packet) = self.emulator.next_delivery(now)?;
        let RealPacket { source, mut bytes } = packet.body;
        if packet.flags.ecn() == Codepoint::Ce {
            packet::mark(Arc::make_mut(&mut bytes));
        }
        let to = self.edges[packet.destination.0 as usize].expect("packets are sent to devices and hosts only");
        Some(Arrival { due, source, to, bytes })
    }

    /// Returns the time of the next event in the network; no packet arrives earlier. `None` if there is no event.
    pub(super) fn next_event(&self) -> Option<Instant> {
        self.emulator.next_event()
    }

    /// Returns the counters of the entire network.
    pub(super) fn losses(&mut self, now: Instant) -> Losses {
        let expired = Losses { dropped: self.emulator.expired(), ..Losses::default() };
        self.emulator.links(now).fold(expired, |sum, (counters, _)| Losses {
            lost: sum.lost + counters.dropped_error + counters.dropped_outage,
            dropped: sum.dropped
                + counters.dropped_queue
                + counters.dropped_aqm
                + counters.dropped_police
                + counters.dropped_mtu,
            marked: sum.marked + counters.marked,
        })
    }

    /// Returns the counters of the link directions that packets of devices or hosts cross.
    pub(super) fn links(&mut self, now: Instant) -> Vec<LinkSnapshot> {
        let counted: Vec<_> = self.emulator.links(now).collect();
        let links = self.watched.iter().map(|Watched { link, name, direction }| {
            let (counters, backlog) = counted[link.0 as usize];
            LinkSnapshot {
                name: name.clone(),
                direction: *direction,
                offered: counters.offered,
                delivered: counters.delivered,
                dropped_queue: counters.dropped_queue,
                dropped_aqm: counters.dropped_aqm,
                dropped_police: counters.dropped_police,
                dropped_mtu: counters.dropped_mtu,
                dropped_error: counters.dropped_error + counters.dropped_outage,
                marked: counters.marked,
                duplicated: counters.duplicated,
                reordered: counters.reordered,
                queue_packets: backlog.packets,
                max_queue_packets: counters.max_queue,
            }
        });
        links.collect()
    }
}

/// Returns the link directions on the paths between the devices, in path order, followed by those that only hosts use.
fn watched(plan: &NetworkPlan) -> Vec<Watched> {
    let NetworkPlan { network, devices, hosts, .. } = plan;
    let path = |from, to| network.routes.at_start().path(from, to).expect("devices and hosts can reach each other");
    let mut watched: Vec<Watched> = Vec::new();
    let mut watch = |links: Vec<LinkId>, direction: Option<usize>| {
        for link in links {
            if !watched.iter().any(|known| known.link == link) {
                watched.push(Watched { link, name: network.links[link.0 as usize].name.clone(), direction });
            }
        }
    };
    for (direction, (from, to)) in pairs(devices).enumerate() {
        watch(path(from, to), Some(direction));
    }
    let nodes: Vec<NodeId> = devices.iter().chain(hosts).copied().collect();
    pairs(&nodes).for_each(|(from, to)| watch(path(from, to), None));
    watched
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_core::Duration;
    use lightlag_tcp::segment::{Flags, SeqNumber};
    use lightlag_wire::{Addresses, IpFields};
    use std::net::IpAddr;

    /// Returns the request of a host for this node.
    fn site(node: Option<&str>, index: usize) -> Site {
        Site { node: node.map(str::to_owned), key: format!("hosts[{index}].node") }
    }

    fn plan(json: &str, devices: &[Option<&str>], hosts: &[Site]) -> Result<NetworkPlan, String> {
        let devices: Vec<_> = devices.iter().map(|node| node.map(str::to_owned)).collect();
        NetworkPlan::of_scenario(json, &devices, hosts).map_err(|error| error.to_string())
    }

    fn link(loss: &str) -> EmulatedNetwork {
        let text = format!(
            r#"{{"name": "p", "duration": "1 s", "links": [{{"between": ["a", "b"], "rate": "8 Mbit/s",
            "delay": "10 ms", "queue": "2 packets", "loss": {loss}}}], "flows": [{{"from": "a", "to": "b"}}]}}"#
        );
        EmulatedNetwork::new(&plan(&text, &[None], &[site(None, 0)]).unwrap())
    }

    fn packet(len: u16) -> Vec<u8> {
        let mut bytes = Vec::new();
        let [source, destination] = [1, 2].map(|last| (IpAddr::from([10, 0, 0, last]), 9).into());
        let mut segment = lightlag_tcp::Segment::new(SeqNumber(0), SeqNumber(0), 0, Flags::ACK);
        segment.len = len;
        let ends = Addresses { source, destination };
        lightlag_wire::encode(&mut bytes, &ends, &IpFields::default(), &segment, &vec![0; usize::from(len)]);
        bytes
    }

    fn after(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn a_packet_arrives_after_serialisation_and_delay() {
        let mut network = link("0");
        network.send(Instant::ZERO, Edge::Device(0), Edge::Host(0), 7, &packet(960)).unwrap();
        // 1000 bytes at 8 Mbit/s, and 10 ms.
        assert_eq!(network.next_event(), Some(after(11)));
        assert!(network.receive(after(10)).is_none());
        let arrival = network.receive(after(20)).unwrap();
        assert_eq!((arrival.due, arrival.to, arrival.source), (after(11), Edge::Host(0), 7));
        assert_eq!(*arrival.bytes, *packet(960));
    }

    #[test]
    fn losses_and_drops_are_counted() {
        let mut network = link("0.5");
        for _ in 0..4 {
            network.send(Instant::ZERO, Edge::Host(0), Edge::Device(0), 0, &packet(960)).unwrap();
        }
        let arrived = std::iter::from_fn(|| network.receive(after(1000))).filter(|one| one.to == Edge::Device(0));
        let arrived = arrived.count() as u64;
        let losses = network.losses(after(1000));
        assert_eq!((arrived + losses.lost, losses.dropped), (3, 1), "one in transmission, two wait, one is dropped");
    }

    #[test]
    fn errors_of_a_scenario_are_named() {
        let error =
            plan(r#"{"links": [{"between": ["a", "b"], "rate": "fast"}]}"#, &[None], &[site(None, 0)]).unwrap_err();
        assert!(error.contains("links[0].rate"), "{error}");
    }

    #[test]
    fn a_radio_medium_carries_no_real_packets() {
        let text = r#"{"duration": "1 s", "topology": {"kind": "swarm", "nodes": 2}}"#;
        let error = plan(text, &[None], &[site(None, 0)]).unwrap_err();
        assert!(error.starts_with("the radio medium \"air\" cannot carry real packets; use"), "{error}");
    }

    /// A network with two hosts and a device around a router.
    const STAR: &str = r#"{"duration": "1 s", "links": [
        {"between": ["client", "router"], "rate": "8 Mbit/s", "delay": "1 ms"},
        {"between": ["server", "router"], "rate": "8 Mbit/s", "delay": "2 ms"},
        {"between": ["router", "outside"], "rate": "8 Mbit/s", "delay": "4 ms"},
        {"between": ["far", "away"], "rate": "8 Mbit/s", "delay": "4 ms"}],
        "flows": [{"from": "client", "to": "outside"}, {"from": "far", "to": "away"}]}"#;

    #[test]
    fn hosts_and_a_device_share_the_links_of_a_router() {
        let sites = [site(Some("client"), 0), site(Some("server"), 1)];
        let mut network = EmulatedNetwork::new(&plan(STAR, &[Some("outside")], &sites).unwrap());
        let (outside, client, server) = (Edge::Device(0), Edge::Host(0), Edge::Host(1));
        for (source, (from, to)) in
            [(outside, client), (outside, server), (client, server), (server, outside)].into_iter().enumerate()
        {
            network.send(Instant::ZERO, from, to, source, &packet(0)).unwrap();
        }
        let arrived: Vec<_> =
            std::iter::from_fn(|| network.receive(after(1000))).map(|one| (one.source, one.to)).collect();
        // 40 bytes take 40 µs on each link: 3, 5, 6 and 6 ms of propagation; the second waits for the first.
        assert_eq!(arrived, [(2, server), (0, client), (3, outside), (1, server)]);
        let links: Vec<_> = network.links(after(1000)).into_iter().map(|link| (link.name, link.offered)).collect();
        assert!(links.contains(&("outside->router".to_owned(), 2)), "{links:?}");
        assert!(!links.iter().any(|(name, _)| name.contains("far")));
    }

    #[test]
    fn a_host_may_be_at_the_router() {
        let sites = [site(Some("client"), 0), site(Some("router"), 1)];
        let mut network = EmulatedNetwork::new(&plan(STAR, &[Some("outside")], &sites).unwrap());
        network.send(Instant::ZERO, Edge::Device(0), Edge::Host(1), 0, &packet(0)).unwrap();
        network.send(Instant::ZERO, Edge::Device(0), Edge::Host(0), 1, &packet(0)).unwrap();
        let arrived: Vec<_> = std::iter::from_fn(|| network.receive(after(1000))).map(|one| one.to).collect();
        assert_eq!(arrived, [Edge::Host(1), Edge::Host(0)]);
    }

    #[test]
    fn a_node_that_cannot_have_a_device_or_host_is_named() {
        let client = || vec![site(Some("client"), 0)];
        for (devices, sites, expected) in [
            (vec![Some("nowhere")], client(), "--at: there is no node \"nowhere\" in the scenario; there are client,"),
            (vec![None], vec![site(Some("x"), 0)], "hosts[0].node: there is no node \"x\" in the scenario; there are"),
            (vec![None], client(), "hosts[0].node: \"client\" is the node of a device; give the host another node"),
            (vec![None, None], vec![site(Some("outside"), 0)], "hosts[0].node: \"outside\" is the node of a device"),
            (
                vec![Some("outside")],
                vec![site(Some("client"), 0), site(Some("client"), 1)],
                "hosts[1].node: \"client\" already has a host",
            ),
            (vec![Some("outside")], vec![site(Some("far"), 0)], "links: \"far\" cannot be reached from \"outside\""),
            (vec![Some("client"), Some("far")], vec![], "links: \"far\" cannot be reached from \"client\""),
            (vec![Some("client"), Some("client")], vec![], "both devices are at node \"client\"; name two nodes"),
        ] {
            let error = plan(STAR, &devices, &sites).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
