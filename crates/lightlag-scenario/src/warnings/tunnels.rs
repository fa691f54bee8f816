//! Warnings of packets that do not fit into the datagrams of a tunnel.

use super::{Found, Kind};
use crate::expand::{Sizes, flow_path};
use crate::network::{Flow, Network};
use crate::read::shortened;
use crate::spec::Transport;
use lightlag_core::Bytes;

/// Bytes by which the payload of a UDP datagram may exceed the segment size of its flow: both have packets of one size,
/// and a TCP header has 12 B more.
const UDP_GAIN: u64 = 12;

/// Warns of flows whose full packets are too large for a tunnel on their path.
pub(super) fn warn(network: &Network, findings: &mut Found) {
    for (index, tunnel) in network.tunnels.iter().enumerate() {
        for (number, flow) in network.own_flows().iter().enumerate() {
            let Some(max) = tunnel.max_packet(network, number).map(u64::from) else { continue };
            let size = full_packet(flow, network);
            if size <= max {
                continue;
            }
            let (key, now) = match &flow.quic {
                Some(ends) => (".quic.datagram", ends.sender.datagram),
                None => (".tcp.mss", flow.tcp.mss),
            };
            let fitting = u64::from(now).saturating_sub(size - max);
            findings.flow(Kind::PacketAboveTunnel, &flow_path(flow), key, || {
                let [near, far] = tunnel.ends.map(|node| shortened(&network.nodes[node.0 as usize]));
                format!(
                    "full packets have {}, and the tunnel between {near:?} and {far:?} drops those above {}; write at \
                     most {}, or raise tunnels[{index}].quic.datagram to {}",
                    Bytes(size),
                    Bytes(max),
                    Bytes(fitting),
                    Bytes(tunnel.needed_datagram(network, number, size))
                )
            });
        }
    }
}

/// Returns the size of the largest packets of a flow.
fn full_packet(flow: &Flow, network: &Network) -> u64 {
    if flow.transport != Transport::Udp {
        return Sizes::of_flow(flow, network.ip).segment.0;
    }
    let most = u64::from(flow.tcp.mss) + UDP_GAIN;
    let message = flow.traffic.stream().map_or(most, |stream| stream.size.0.min(most));
    u64::from(network.ip.header()) + 8 + message
}
