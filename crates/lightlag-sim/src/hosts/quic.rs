//! QUIC endpoints, and the contents of their packets in transit.

use super::Hosts;
use super::endpoints::{EndpointIds, EndpointSpec, Role};
use super::relay::Relay;
use super::session::Session;
use super::transport::{Enclosed, Sockets, Transport};
use crate::body::{Other, Packet, PacketBody, UDP_HEADER};
use crate::ids::FlowIndex;
use lightlag_net::{EndpointId, PacketFlags};
use lightlag_quic::contents::Contents;
use lightlag_quic::{Arena, Config, Connection, Packet as Datagram};
use lightlag_scenario::{Flow, Network};
use lightlag_transport::{Inspect, Multiplexed, Status, Stream};
use std::sync::Arc;

/// A QUIC endpoint.
pub(crate) type Quic = Connection;

impl Transport for Quic {
    #[inline(always)]
    fn sockets(hosts: &Hosts) -> &Sockets<Self> {
        &hosts.quic
    }

    #[inline(always)]
    fn parts(hosts: &mut Hosts) -> (&mut Sockets<Self>, &mut [Relay], &mut [Session]) {
        (&mut hosts.quic, &mut hosts.relays, &mut hosts.dialogues)
    }

    #[inline(always)]
    fn waits_for_close(&self) -> bool {
        // The first condition is false for most packets, and costs less.
        self.peer_closed() && self.status() == Status::PeerClosed
    }

    #[inline(always)]
    fn multiplexed(&mut self) -> Option<&mut dyn Multiplexed> {
        self.has_several_streams().then_some(self)
    }

    #[inline(always)]
    fn stored<'a>(hosts: &'a Hosts, datagram: &'a Datagram) -> Option<(&'a Datagram, &'a Arena)> {
        Some((datagram, hosts.quic.arena()))
    }

    #[inline(always)]
    fn quic(&mut self) -> Option<&mut Connection> {
        Some(self)
    }

    #[inline(always)]
    fn enclose(&self, datagram: Datagram) -> Enclosed {
        Enclosed {
            size: UDP_HEADER + datagram.size(),
            flags: PacketFlags::new(datagram.carries_data()).with_ecn(datagram.codepoint()),
            body: PacketBody::Other(Other::Quic(datagram)),
        }
    }
}

impl Hosts {
    /// Returns the contents of a packet that crosses to another partition, which are no longer stored here.
    pub(crate) fn detach(&mut self, packet: &Packet) -> Option<Box<Contents>> {
        match &packet.body {
            PacketBody::Other(Other::Quic(datagram)) => self.quic.arena_mut().detach(datagram),
            _ => None,
        }
    }

    /// Returns a copy of the stored contents of a packet, for another partition.
    pub(crate) fn copy_contents(&self, packet: &Packet) -> Option<Box<Contents>> {
        match &packet.body {
            PacketBody::Other(Other::Quic(datagram)) => self.quic.arena().detach_copy(datagram),
            _ => None,
        }
    }

    /// Stores the contents of a packet from another partition.
    pub(crate) fn attach(&mut self, packet: &mut Packet, contents: Option<Box<Contents>>) {
        if let (PacketBody::Other(Other::Quic(datagram)), Some(contents)) = (&mut packet.body, contents) {
            *datagram = self.quic.arena_mut().attach(datagram, contents);
        }
    }

    /// Frees the contents of a packet that was dropped.
    pub(crate) fn discard(&mut self, packet: &Packet) {
        if let PacketBody::Other(Other::Quic(datagram)) = &packet.body {
            self.quic.arena_mut().release(datagram);
        }
    }
}

/// Returns true if the endpoint opens its connection: the sender of the data, except in a dialogue.
pub(crate) fn opens(end: &EndpointSpec, flow: &Flow) -> bool {
    end.role.sends() != flow.traffic.is_dialogue()
}

/// Returns true if the connections of a flow carry the objects of a dialogue on streams of their own. Objects share one
/// stream if a proxy has a pool of connections, in which the header of a flow precedes its data.
pub(crate) fn uses_several_streams(flow: FlowIndex, network: &Network) -> bool {
    let first = network.splits.partition_point(|split| split.flow < flow.0);
    let mut splits = network.splits[first..].iter().take_while(|split| split.flow == flow.0);
    let is_quic = network.flows[flow.index()].quic.is_some();
    let has_pool = splits.any(|split| network.proxies[split.proxy as usize].pool);
    is_quic && network.flows[flow.index()].traffic.is_dialogue() && !has_pool
}

/// Returns the configuration of a QUIC endpoint.
pub(crate) fn config<'a>(
    at: EndpointId,
    end: &EndpointSpec,
    network: &'a Network,
    numbers: &EndpointIds,
) -> &'a Arc<Config> {
    let flow = &network.flows[end.flow.index()];
    let ends = flow.quic.as_deref().expect("a QUIC flow has configurations");
    match end.role {
        Role::Sender => &ends.sender,
        Role::Receiver => &ends.receiver,
        Role::Entry | Role::Exit => {
            let proxy = &network.proxies[network.splits[numbers.split(at)].proxy as usize];
            let ends = proxy.quic.as_deref().expect("a proxy of QUIC has configurations");
            if opens(end, flow) { &ends.client } else { &ends.server }
        }
    }
}
