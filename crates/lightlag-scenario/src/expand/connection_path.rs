//! The path of a connection with empty queues: its round-trip time, and its slowest links.

use crate::network::{Flow, LinkDirection, Network};
use crate::spec::IpVersion;
use lightlag_core::{Bytes, Duration, Rate};
use lightlag_net::{LinkId, NodeId};
use lightlag_tcp::Config;

/// The path of a connection.
#[derive(Clone, Copy)]
pub(crate) struct ConnectionPath {
    /// Round-trip time: propagation in both directions, and the transmission of a segment and its ACK on every link.
    pub(crate) round_trip: Duration,
    /// Slowest link on the path of the data.
    pub(crate) bottleneck: LinkId,
    pub(crate) rate: Rate,
    /// Slowest link on the path of the ACKs.
    pub(crate) return_bottleneck: LinkId,
    pub(crate) return_rate: Rate,
    /// Link with the smallest MTU on the path of the data, if any has one.
    pub(crate) narrowest: Option<LinkId>,
}

/// Sizes of a flow's packets.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) payload: u64,
    pub(crate) segment: Bytes,
    pub(crate) ack: Bytes,
}

/// Bytes of a 1-RTT packet with an acknowledgement of one range, for a packet number of two bytes: header without
/// connection ID, frame and authentication tag.
const QUIC_ACK: u64 = 3 + 7 + 16;
/// Bytes around the data of a STREAM frame in a full 1-RTT packet: header without connection ID, tag, and frame header.
const QUIC_AROUND: u64 = 3 + 16 + 6;
/// Size of a UDP header.
const UDP: u64 = 8;

impl Sizes {
    /// Returns the sizes of the packets of a flow.
    pub(crate) fn of_flow(flow: &Flow, ip: IpVersion) -> Self {
        let Some(ends) = &flow.quic else { return Self::of(&flow.tcp, ip) };
        let header = u64::from(ip.header()) + UDP;
        let datagram = u64::from(ends.sender.datagram);
        Self {
            payload: datagram - QUIC_AROUND - u64::from(ends.receiver.id_len),
            segment: Bytes(header + datagram),
            ack: Bytes(header + QUIC_ACK + u64::from(ends.sender.id_len)),
        }
    }

    pub(crate) fn of(tcp: &Config, ip: IpVersion) -> Self {
        let [data, ack] = tcp.usual_headers().map(|header| u64::from(ip.header() + header));
        let payload = tcp.usual_payload().into();
        Self { payload, segment: Bytes(payload + data), ack: Bytes(ack) }
    }
}

impl ConnectionPath {
    /// Returns the path between two nodes for packets of these sizes; `None` if there is no route.
    pub(crate) fn between(network: &Network, from: NodeId, to: NodeId, sizes: Sizes) -> Option<Self> {
        let data = network.routes.at_start().path(from, to)?;
        let acks = network.routes.at_start().path(to, from)?;
        let link = |id: &LinkId| &network.links[id.0 as usize];
        let rate = |id: &LinkId| link(id).data_rate();
        let time = |ids: &[LinkId], size: Bytes| {
            let one = |link: &LinkDirection| {
                link.delay + link.rate.time_to_send(Bytes(size.0 + link.header.0)) + link.least_wait()
            };
            ids.iter().map(link).fold(Duration::ZERO, |sum, link| sum + one(link))
        };
        let slowest = |ids: &[LinkId]| ids.iter().copied().min_by_key(|id| (rate(id), *id));
        let (bottleneck, return_bottleneck) = (slowest(&data)?, slowest(&acks)?);
        Some(Self {
            round_trip: time(&data, sizes.segment) + time(&acks, sizes.ack),
            bottleneck,
            rate: rate(&bottleneck),
            return_bottleneck,
            return_rate: rate(&return_bottleneck),
            narrowest: data.iter().copied().filter(|id| link(id).mtu.is_some()).min_by_key(|id| (link(id).mtu, *id)),
        })
    }
}
