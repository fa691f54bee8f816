//! Tunnels: the QUIC connection of each, the flows whose packets it carries, and the size of the packets that fit.

use super::layout::{Draft, Layout};
use super::quic::QuicResolver;
use super::tcp::Resolver;
use crate::network::{Flow, FlowRole, LinkDirection, Network, QuicEnds, Split, Tunnel};
use crate::read::{Errors, nearest, shortened};
use crate::spec::{IpVersion, Routing, Scenario, Transport, TunnelPayload, TunnelSpec};
use lightlag_core::Bytes;
use lightlag_core::params::Limit;
use lightlag_net::{NodeId, RouteTable};
use lightlag_quic::config::{Config, DatagramQueue, MIN_DATAGRAM};
use lightlag_quic::contents::TAG;
use lightlag_quic::varint;
use lightlag_tcp::{Config as TcpConfig, Options as TcpOptions};
use lightlag_traffic::Traffic;
use std::sync::Arc;

/// Size of the packets that a tunnel's datagrams fill by default: the MTU of Ethernet.
const FULL_PACKET: u16 = 1_500;
/// Size of a UDP header.
const UDP: u16 = 8;
/// Size of the context ID in an HTTP datagram: 0 for packets without an extension (RFC 9298, RFC 9484).
const CONTEXT_ID: u64 = 1;
/// Size of the header of an HTTP datagram on the first stream: quarter stream ID 0 and context ID.
const HEADER: u8 = 2;
/// Type and length of a DATAGRAM frame with more than 63 bytes.
const FRAME: u16 = 3;
/// Maximum size of the header of a 1-RTT packet without its connection ID, and authentication tag.
const PACKET: u16 = 1 + 4 + TAG as u16;

impl Tunnel {
    /// Returns the size of the HTTP datagrams that the datagrams of both ends can carry: UDP payload less the largest
    /// header, the tag, and the frame's type and length.
    fn room(ends: &QuicEnds) -> u16 {
        let room = |own: &Config, peer: &Config| own.datagram.saturating_sub(PACKET + u16::from(peer.id_len) + FRAME);
        room(&ends.sender, &ends.receiver).min(room(&ends.receiver, &ends.sender))
    }

    /// Returns the size of the largest IP packet of a flow that enters the tunnel in both directions at its start;
    /// `None` if the tunnel does not carry the flow.
    pub(crate) fn max_packet(&self, network: &Network, flow: usize) -> Option<u16> {
        let header = u16::from(self.headers[flow]?);
        let ends = network.flows[self.flow as usize].quic.as_deref()?;
        Some(Self::room(ends).saturating_sub(header) + self.payload.stripped(network.ip))
    }

    /// Returns the UDP payload of the tunnel's packets that carries IP packets of `size` bytes of a flow.
    pub(crate) fn needed_datagram(&self, network: &Network, flow: usize, size: u64) -> u64 {
        let id = |config: &Config| u64::from(config.id_len);
        let ids = network.flows[self.flow as usize].quic.as_deref();
        let id = ids.map_or(0, |ends| id(&ends.sender).max(id(&ends.receiver)));
        let header = u64::from(self.headers[flow].unwrap_or_default());
        size + header + id + u64::from(PACKET + FRAME) - u64::from(self.payload.stripped(network.ip))
    }
}

impl TunnelPayload {
    /// Returns the number of bytes of an IP packet that do not enter the tunnel.
    pub fn stripped(self, ip: IpVersion) -> u16 {
        match self {
            Self::Ip => 0,
            Self::Udp => ip.header() as u16 + UDP,
        }
    }
}

/// The parts of a network that determine the paths of tunnels.
#[derive(Clone, Copy)]
struct Paths<'a> {
    routes: &'a RouteTable,
    links: &'a [LinkDirection],
    splits: &'a [Split],
}

impl Paths<'_> {
    /// Returns true if packets between two nodes pass the nodes `ends` in this order.
    fn pass(&self, [from, to]: [NodeId; 2], [near, far]: [NodeId; 2]) -> bool {
        let enters = from == near || self.routes.crosses(from, to, near);
        enters && self.routes.crosses(near, to, far)
    }

    /// Returns true if packets of a flow pass both ends of a tunnel, in any direction.
    fn carry(&self, flow: &Draft, [near, far]: [NodeId; 2]) -> bool {
        let ways = [[flow.from, flow.to], [flow.to, flow.from]];
        ways.into_iter().any(|way| self.pass(way, [near, far]) || self.pass(way, [far, near]))
    }
}

impl Scenario {
    /// Returns the tunnels, and appends their connections to the flows of the layout.
    pub(super) fn tunnels(
        &self,
        layout: &mut Layout,
        (routes, links, splits): (&RouteTable, &[LinkDirection], &[Split]),
        errors: &mut Errors,
    ) -> Vec<Tunnel> {
        if self.tunnels.is_empty() || !self.suits_tunnels(layout, links, errors) {
            return Vec::new();
        }
        let paths = Paths { routes, links, splits };
        let resolver = QuicResolver::new(&self.defaults, &mut Errors::default());
        let mut tunnels: Vec<Tunnel> = Vec::new();
        let tcp = Resolver::new(&TcpOptions::default(), errors).resolve_at(&TcpOptions::default(), "tunnels", errors);
        let Some(tcp) = tcp else { return tunnels };
        let flows = layout.drafts.len();
        for (index, spec) in self.tunnels.iter().enumerate() {
            let key = format!("tunnels[{index}]");
            let Some(ends) = spec.ends(&key, layout, &paths, &tunnels, errors) else { continue };
            let Some(headers) = spec.carried(&key, &layout.drafts[..flows], layout, ends, &paths, errors) else {
                continue;
            };
            let full = FULL_PACKET - self.ip.header() as u16 - UDP;
            let Some(quic) = resolver.of_tunnel(&spec.quic, full, &key, errors) else { continue };
            let [client, server] = [quic.client, quic.server].map(|end| Arc::new(spec.with_queue(&end)));
            let quic = QuicEnds { sender: client, receiver: server };
            spec.check_mtu(&key, layout, ends, (self.ip, &paths), &quic, errors);
            spec.check_room(&key, &layout.drafts[..flows], (&headers, Tunnel::room(&quic)), self.ip, errors);
            let flow = layout.drafts.len() as u32;
            let name = unused_name(&layout.drafts, &spec.between);
            layout.drafts.push(draft(name, index as u32, ends, spec, (&tcp, quic)));
            if let Some(captures) = &mut layout.captures {
                captures.flows.push(self.record.pcap.as_ref().is_some_and(|pcap| pcap.flows.is_empty()));
            }
            tunnels.push(Tunnel { ends, flow, payload: spec.payload, headers });
        }
        // The connection of a tunnel around another one passes through that one, unless that one lists its flows.
        let connections = &layout.drafts[flows..];
        for (index, tunnel) in tunnels.iter_mut().enumerate() {
            let carries_all = self.tunnels.get(index).is_some_and(|spec| spec.flows.is_none());
            tunnel.headers.extend(connections.iter().map(|connection| {
                let is_other = [connection.from, connection.to] != tunnel.ends;
                (carries_all && is_other && paths.carry(connection, tunnel.ends)).then_some(HEADER)
            }));
        }
        tunnels
    }

    /// Rejects features that tunnels do not support.
    fn suits_tunnels(&self, layout: &Layout, links: &[LinkDirection], errors: &mut Errors) -> bool {
        let obstacles = [
            (!layout.media.is_empty(), "media: radio nodes route by their own protocols"),
            (layout.space.is_some(), "constellation: its paths change"),
            (self.routing != Routing::Static, "routing: the path between the ends changes"),
            (
                links.iter().any(|link| link.signals.is_some()),
                "signals: a station cannot read the segments inside a tunnel",
            ),
        ];
        let found = obstacles.into_iter().find(|(is_there, _)| *is_there);
        if let Some((_, obstacle)) = found {
            errors.push("tunnels", format!("cannot be combined with {obstacle}; remove one of the two"));
        }
        found.is_none()
    }
}

impl TunnelSpec {
    /// Returns the nodes of the client and the server.
    fn ends(
        &self,
        key: &str,
        layout: &Layout,
        paths: &Paths,
        others: &[Tunnel],
        errors: &mut Errors,
    ) -> Option<[NodeId; 2]> {
        let find = |index: usize, errors: &mut Errors| {
            layout.nodes.find(&self.between[index], format_args!("{key}.between[{index}]"), errors)
        };
        let (client, server) = (find(0, errors), find(1, errors));
        let ends @ [client, server] = [client?, server?];
        let mut refuse = |message: String| {
            errors.push(format_args!("{key}.between"), message);
            None
        };
        let [a, b] = self.between.each_ref().map(|name| shortened(name));
        if client == server {
            return refuse(format!("{a:?} is both ends of the tunnel; write two different nodes"));
        }
        if !paths.routes.reaches(client, server) {
            return refuse(format!("there is no path from {a:?} to {b:?}; add a link that connects them"));
        }
        for (index, other) in others.iter().enumerate() {
            let [first, second] = other.ends;
            if ends == [first, second] || ends == [second, first] {
                return refuse(format!(
                    "tunnels[{index}] already connects {a:?} and {b:?}; remove one of them, or give one tunnel the \
                     flows of both"
                ));
            }
            for ([near, far], [other_near, other_far]) in
                both(ends).into_iter().zip(both(other.ends)).chain(both(ends).into_iter().zip(both([second, first])))
            {
                let overlaps =
                    || paths.routes.crosses(near, other_far, far) || paths.routes.crosses(near, far, other_far);
                if near == other_near && overlaps() {
                    return refuse(format!(
                        "tunnels[{index}] starts at {:?} and leads the same way; two tunnels from a node must lead in \
                         different directions",
                        shortened(layout.nodes.name(near))
                    ));
                }
            }
        }
        Some(ends)
    }

    /// Returns the size of the HTTP header of each flow that the tunnel carries.
    fn carried(
        &self,
        key: &str,
        drafts: &[Draft],
        layout: &Layout,
        ends: [NodeId; 2],
        paths: &Paths,
        errors: &mut Errors,
    ) -> Option<Vec<Option<u8>>> {
        let before = errors.len();
        let [near, far] = ends;
        let passes = |draft: &Draft| paths.carry(draft, ends);
        self.check_names(key, drafts, (ends, paths), errors);
        let is_named =
            |draft: &Draft| self.flows.as_ref().is_none_or(|names| names.iter().any(|name| draft.is_of(name)));
        // A flow of datagrams has a stream of its own; all IP packets share one.
        let mut stream = 0;
        let mut header = |draft: &Draft| {
            (is_named(draft) && self.suits(draft) && passes(draft)).then(|| {
                let quarter = stream;
                stream += u64::from(self.payload == TunnelPayload::Udp);
                (varint::size(quarter) + CONTEXT_ID) as u8
            })
        };
        let headers: Vec<Option<u8>> = drafts.iter().map(&mut header).collect();
        if errors.len() == before && headers.iter().all(Option::is_none) {
            let what = if self.payload == TunnelPayload::Udp { "QUIC or UDP flow" } else { "flow" };
            let message = format!(
                "no {what} passes {:?} and {:?}, so the tunnel carries nothing; name two nodes on the path of a flow",
                shortened(&self.between[0]),
                shortened(&self.between[1])
            );
            errors.push(format_args!("{key}.between"), message);
        }
        let is_inside = |node: NodeId| {
            ends.iter().all(|end| *end != node)
                && (paths.routes.crosses(near, far, node) || paths.routes.crosses(far, near, node))
        };
        let inside = paths.splits.iter().find(|split| {
            headers[split.flow as usize].is_some() && is_inside(layout.proxies[split.proxy as usize].node)
        });
        if let Some(split) = inside {
            let node = layout.nodes.name(layout.proxies[split.proxy as usize].node);
            let message = format!(
                "proxies[{}] at {:?} splits the flow {:?} between the ends of the tunnel, where its packets are \
                 encrypted; move the proxy to an end of the tunnel or beyond it",
                split.proxy,
                shortened(node),
                shortened(&drafts[split.flow as usize].name)
            );
            errors.push(format_args!("{key}.between"), message);
        }
        (errors.len() == before).then_some(headers)
    }

    /// Returns true if the datagrams of the tunnel can carry the packets of a flow.
    fn suits(&self, draft: &Draft) -> bool {
        self.payload == TunnelPayload::Ip || draft.transport != Transport::Tcp
    }

    /// Rejects names of flows that do not exist, and of flows that the tunnel cannot carry.
    fn check_names(&self, key: &str, drafts: &[Draft], (ends, paths): ([NodeId; 2], &Paths), errors: &mut Errors) {
        for (index, name) in self.flows.iter().flatten().enumerate() {
            let of_name: Vec<&Draft> = drafts.iter().filter(|draft| draft.is_of(name)).collect();
            let mut refuse = |message: String| errors.push(format_args!("{key}.flows[{index}]"), message);
            let shown = shortened(name);
            if of_name.is_empty() {
                let names: Vec<&str> = drafts.iter().take(1_000).map(|draft| draft.name.as_str()).collect();
                let guess = nearest(name, &names).map_or(String::new(), |near| format!("; did you mean {near:?}?"));
                refuse(format!("{shown:?} is not a flow{guess}"));
            } else if !of_name.iter().all(|draft| self.suits(draft)) {
                refuse(format!(
                    "{shown:?} uses TCP, and payload = \"udp\" carries only UDP datagrams; write payload = \"ip\", or \
                     remove the flow"
                ));
            } else if !of_name.iter().any(|draft| paths.carry(draft, ends)) {
                let [a, b] = self.between.each_ref().map(|name| shortened(name));
                refuse(format!(
                    "{shown:?} does not pass {a:?} and {b:?}; name two nodes on its path, or remove the flow"
                ));
            }
        }
    }

    /// Returns a configuration that accepts datagrams, with the limit of the tunnel's queue.
    fn with_queue(&self, config: &Config) -> Config {
        let queue = match self.queue {
            Some(Limit::Packets(packets)) => DatagramQueue::Datagrams(packets),
            Some(Limit::Bytes(bytes)) => DatagramQueue::Bytes(bytes.0),
            Some(Limit::Bdp(_)) | None => DatagramQueue::default(),
        };
        Config { datagram_queue: queue, max_datagram_frame: u16::MAX, ..config.clone() }
    }

    /// Rejects packets of the tunnel that a link between its ends drops.
    fn check_mtu(
        &self,
        key: &str,
        layout: &Layout,
        ends: [NodeId; 2],
        (ip, paths): (IpVersion, &Paths),
        quic: &QuicEnds,
        errors: &mut Errors,
    ) {
        let headers = u64::from(ip.header()) + u64::from(UDP);
        let datagram = u64::from(quic.sender.datagram.max(quic.receiver.datagram));
        let ways = both(ends).into_iter().filter_map(|[from, to]| paths.routes.path(from, to));
        let links = ways.flatten().map(|link| &paths.links[link.0 as usize]);
        let narrowest = links.filter_map(|link| Some((link.mtu?, link))).min_by_key(|(mtu, _)| *mtu);
        let Some((mtu, link)) = narrowest.filter(|(mtu, _)| datagram + headers > mtu.0) else { return };
        let max = mtu.0.saturating_sub(headers);
        let remedy = if max < MIN_DATAGRAM.into() {
            format!("QUIC needs {} (RFC 9000 §14); raise the mtu", Bytes(headers + u64::from(MIN_DATAGRAM)))
        } else {
            format!("write at most {}", Bytes(max))
        };
        let [from, to] = [link.from, link.to].map(|node| layout.nodes.name(node));
        let message = format!(
            "packets of {} are above the mtu of {mtu} of {}->{}; {remedy}",
            Bytes(datagram + headers),
            shortened(from),
            shortened(to)
        );
        errors.push(format_args!("{key}.quic.datagram"), message);
    }

    /// Rejects a tunnel whose datagrams are too short for the smallest full packet of a QUIC flow.
    fn check_room(
        &self,
        key: &str,
        drafts: &[Draft],
        (headers, room): (&[Option<u8>], u16),
        ip: IpVersion,
        errors: &mut Errors,
    ) {
        let carried = drafts.iter().zip(headers).filter_map(|(draft, header)| Some((draft, (*header)?)));
        let mut quic = carried.filter(|(draft, _)| draft.transport == Transport::Quic);
        let packet = ip.header() as u16 + UDP + MIN_DATAGRAM;
        let inner = |header: u8| packet - self.payload.stripped(ip) + u16::from(header);
        let Some((draft, header)) = quic.find(|(_, header)| inner(*header) > room) else { return };
        let message = format!(
            "leaves {} for a packet of the QUIC flow {:?}, whose packets have at least {} (RFC 9000 §14); raise it by {}",
            Bytes((room + self.payload.stripped(ip)).saturating_sub(header.into()).into()),
            shortened(&draft.name),
            Bytes(packet.into()),
            Bytes((inner(header) - room).into())
        );
        errors.push(format_args!("{key}.quic.datagram"), message);
    }
}

/// Returns the two directions between a pair of nodes.
fn both([a, b]: [NodeId; 2]) -> [[NodeId; 2]; 2] {
    [[a, b], [b, a]]
}

/// Returns a name for the connection of a tunnel that no flow has.
fn unused_name(drafts: &[Draft], [client, server]: &[String; 2]) -> String {
    let plain = format!("tunnel {client}-{server}");
    let is_used = |name: &str| drafts.iter().any(|draft| draft.name == name);
    if !is_used(&plain) {
        return plain;
    }
    (2_u32..).map(|number| format!("{plain} {number}")).find(|name| !is_used(name)).unwrap_or(plain)
}

/// Returns the flow that stands for the connection of a tunnel.
fn draft(
    name: String,
    index: u32,
    [from, to]: [NodeId; 2],
    spec: &TunnelSpec,
    (tcp, quic): (&Arc<TcpConfig>, QuicEnds),
) -> Draft {
    Draft {
        name,
        listed: None,
        part: FlowRole::Tunnel(index),
        from,
        to,
        transport: Transport::Quic,
        traffic: Arc::new(Traffic::default()),
        transfer: None,
        reader: None,
        start: spec.start,
        drawn_start: None,
        dscp: None,
        dialogue: None,
        tcp: tcp.clone(),
        receiver_tcp: tcp.clone(),
        quic: Some(Arc::new(quic)),
    }
}

impl Network {
    /// Returns the flows of the scenario, without the connections of tunnels.
    pub fn own_flows(&self) -> &[Flow] {
        &self.flows[..self.flows.len() - self.tunnels.len()]
    }
}
