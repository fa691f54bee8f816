//! Warnings of packets that are larger than the MTU of a link.

use super::{Found, Kind};
use crate::expand::{ConnectionPath, Sizes};
use crate::network::{Flow, Network};
use crate::spec::Transport;
use lightlag_core::Bytes;

/// Warns of a flow whose full packets never pass a link. A QUIC connection that searches for the path MTU starts with
/// its base.
pub(super) fn warn(network: &Network, flow: &Flow, way: &ConnectionPath, path: &str, findings: &mut Found) {
    let key = match flow.transport {
        Transport::Tcp => ".tcp.mss",
        Transport::Quic => ".quic.datagram",
        Transport::Udp => return,
    };
    let Some(link) = way.narrowest.map(|id| &network.links[id.0 as usize]) else { return };
    let (Some(mtu), size) = (link.mtu, Sizes::of_flow(flow, network.ip).segment) else { return };
    if size > mtu {
        findings.flow(Kind::PacketAboveMtu, path, key, || {
            format!(
                "full packets have {size}, and {} drops those above its mtu of {mtu} without a notification, so no \
                 data arrives; reduce it by {}",
                link.name,
                Bytes(size.0 - mtu.0)
            )
        });
    }
}
