//! Tunnels: packets in DATAGRAM frames of a QUIC connection between two nodes (RFC 9221, RFC 9297).
//!
//! A packet whose path crosses both ends leaves the network at one end and returns to it at the other end. Meanwhile
//! the end where it entered stores it, and the tag of its datagram has the index of its slot. It is lost if the
//! connection declares the datagram lost, and delivered after all if that proves wrong.
//!
//! An HTTP datagram has a quarter stream ID and a context ID before the payload (RFC 9297 §2.1). `ip` carries whole
//! packets (RFC 9484). `udp` carries the payload of UDP datagrams (RFC 9298); the proxy sends them with an ECN field of
//! Not-ECT, because the marks of the inner packets do not reach the other end.

use super::quic::Quic;
use super::transport::Sockets;
use crate::body::Packet;
use crate::ids::FlowIndex;
use lightlag_core::Codepoint;
use lightlag_net::{EndpointId, NodeId, RouteTable, TunnelEndId};
use lightlag_quic::connection::datagrams::{DatagramError, DatagramFate};
use lightlag_scenario::{Network, TunnelPayload};
use std::collections::VecDeque;

/// Maximum number of lost packets per direction that stay stored, in case they were only late. Ours.
const MAX_KEPT: usize = 1_024;

/// All tunnels of a network.
pub(crate) struct Tunnels {
    /// Routes without tunnels, for packets that do not enter one and for the connections themselves.
    pub(crate) routes: RouteTable,
    ends: Vec<TunnelEnd>,
}

/// One end of a tunnel, and the packets that have entered here.
pub(crate) struct TunnelEnd {
    /// Endpoint of the tunnel's connection, and its node.
    pub(crate) endpoint: EndpointId,
    pub(crate) node: NodeId,
    payload: TunnelPayload,
    /// Bytes of an IP packet that are not carried.
    stripped: u16,
    /// Bytes before the payload in the datagrams of each flow; `None` for flows that do not enter.
    headers: Vec<Option<u8>>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Tags of lost packets that are stored, the oldest first.
    lost: VecDeque<u64>,
    pub(crate) counts: TunnelCounts,
}

/// Numbers of packets in one direction of a tunnel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct TunnelCounts {
    /// Packets that entered, dropped ones included, and their bytes.
    pub(crate) entered: u64,
    pub(crate) entered_bytes: u64,
    /// Packets delivered at the other end, and their bytes.
    pub(crate) delivered: u64,
    pub(crate) delivered_bytes: u64,
    /// Packets dropped because newer ones filled the queue.
    pub(crate) dropped_queue: u64,
    /// Packets that do not fit into a datagram.
    pub(crate) dropped_size: u64,
    /// Packets dropped because the connection had ended.
    pub(crate) dropped_closed: u64,
    /// Packets whose datagrams were lost.
    pub(crate) lost: u64,
}

impl TunnelCounts {
    /// Returns the number of packets that will not reach the other end.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped_queue + self.dropped_size + self.dropped_closed + self.lost
    }
}

/// Slot of a packet in a tunnel.
struct Slot {
    packet: Packet,
    /// Number of packets that have had this slot, which distinguishes their tags.
    generation: u32,
    state: SlotState,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SlotState {
    Free,
    Taken,
    Lost,
}

/// A packet that will probably not reach the other end.
pub(crate) enum Settled {
    /// The packet is gone.
    Dropped(Packet),
    /// The packet was declared lost.
    Lost(Packet),
    /// The contents of a lost packet are no longer stored.
    Forgotten(Packet),
}

impl TunnelEnd {
    /// Returns the size of the datagram that carries a packet of a flow; `None` if the flow does not enter here.
    pub(crate) fn datagram(&self, flow: FlowIndex, packet: &Packet) -> Option<u16> {
        let header = u16::from(self.headers[flow.index()]?);
        Some(packet.size.saturating_sub(self.stripped).saturating_add(header))
    }

    /// Stores a packet. Returns its tag.
    pub(crate) fn store(&mut self, packet: &Packet) -> u64 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { packet: *packet, generation: 0, state: SlotState::Free });
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[index as usize];
        slot.packet = *packet;
        slot.generation = slot.generation.wrapping_add(1);
        slot.state = SlotState::Taken;
        u64::from(slot.generation) << 32 | u64::from(index)
    }

    fn slot(&mut self, tag: u64) -> Option<(u32, &mut Slot)> {
        let index = tag as u32;
        let slot = self.slots.get_mut(index as usize)?;
        let is_there = slot.generation == (tag >> 32) as u32 && slot.state != SlotState::Free;
        is_there.then_some((index, slot))
    }

    /// Counts a packet that the connection rejected.
    pub(crate) fn reject(&mut self, error: DatagramError) {
        match error {
            DatagramError::Unsupported | DatagramError::TooLarge(_) => self.counts.dropped_size += 1,
            DatagramError::Closed => self.counts.dropped_closed += 1,
        }
    }

    /// Frees the slot of a packet that the connection rejected.
    pub(crate) fn forget(&mut self, tag: u64) {
        if let Some((index, slot)) = self.slot(tag) {
            slot.state = SlotState::Free;
            self.free.push(index);
        }
    }

    /// Takes a packet whose datagram has arrived at the other end. The second value is true if it was declared lost
    /// before. `None` if it was lost too long ago.
    pub(crate) fn take(&mut self, tag: u64) -> Option<(Packet, bool)> {
        let payload = self.payload;
        let (index, slot) = self.slot(tag)?;
        let mut packet = slot.packet;
        let was_lost = slot.state == SlotState::Lost;
        slot.state = SlotState::Free;
        self.free.push(index);
        self.counts.lost -= u64::from(was_lost);
        self.counts.delivered += 1;
        self.counts.delivered_bytes += u64::from(packet.size);
        if payload == TunnelPayload::Udp {
            // RFC 9298 on ECN marks: the proxy sends Not-ECT, and ignores the ECN field of what it receives.
            packet.flags = packet.flags.with_ecn(Codepoint::NotEct);
        }
        Some((packet, was_lost))
    }

    /// Notes the fate of a datagram. `is_open`: its connection has not ended.
    pub(crate) fn settle(&mut self, tag: u64, fate: DatagramFate, is_open: bool, settled: &mut Vec<Settled>) {
        // The slot of a packet that has arrived is free.
        let Some((index, slot)) = self.slot(tag) else { return };
        let packet = slot.packet;
        match fate {
            DatagramFate::Delivered => {}
            DatagramFate::Dropped => {
                slot.state = SlotState::Free;
                self.free.push(index);
                *if is_open { &mut self.counts.dropped_queue } else { &mut self.counts.dropped_closed } += 1;
                settled.push(Settled::Dropped(packet));
            }
            DatagramFate::Lost => {
                slot.state = SlotState::Lost;
                self.counts.lost += 1;
                self.lost.push_back(tag);
                settled.push(Settled::Lost(packet));
                while self.lost.len() > MAX_KEPT {
                    settled.extend(self.drop_lost());
                }
            }
        }
    }

    /// Frees the slot of the packet that was lost first, unless it has arrived meanwhile.
    fn drop_lost(&mut self) -> Option<Settled> {
        let tag = self.lost.pop_front()?;
        let (index, slot) = self.slot(tag).filter(|(_, slot)| slot.state == SlotState::Lost)?;
        slot.state = SlotState::Free;
        let packet = slot.packet;
        self.free.push(index);
        Some(Settled::Forgotten(packet))
    }

    /// Frees the slots of all lost packets, at the end of a run.
    pub(crate) fn drop_all_lost(&mut self) -> Vec<Settled> {
        let mut settled = Vec::new();
        while !self.lost.is_empty() {
            settled.extend(self.drop_lost());
        }
        settled
    }

    /// Returns the number of packets in the tunnel.
    pub(crate) fn in_flight(&self) -> u64 {
        self.counts.entered - self.counts.delivered - self.counts.dropped()
    }

    /// Returns the number of stored packets that are not lost, to check the counts.
    fn taken(&self) -> u64 {
        self.slots.iter().filter(|slot| slot.state == SlotState::Taken).count() as u64
    }
}

impl Tunnels {
    /// Returns the tunnels of a network; `None` if there are none.
    pub(crate) fn new(network: &Network, endpoints: impl Fn(u32) -> [EndpointId; 2]) -> Option<Box<Self>> {
        if network.tunnels.is_empty() {
            return None;
        }
        let ends = network.tunnels.iter().flat_map(|tunnel| {
            let [client, server] = endpoints(tunnel.flow);
            [(client, tunnel.ends[0]), (server, tunnel.ends[1])].map(|(endpoint, node)| TunnelEnd {
                endpoint,
                node,
                payload: tunnel.payload,
                stripped: tunnel.payload.stripped(network.ip),
                headers: tunnel.headers.clone(),
                slots: Vec::new(),
                free: Vec::new(),
                lost: VecDeque::new(),
                counts: TunnelCounts::default(),
            })
        });
        Some(Box::new(Self { routes: network.routes.at_start().clone(), ends: ends.collect() }))
    }

    /// Returns the routes with the tunnels.
    pub(crate) fn routes(&self) -> RouteTable {
        let mut routes = self.routes.clone();
        for (id, end) in self.ids().zip(&self.ends) {
            routes.enter_tunnel(&self.routes, end.node, self.end(id.peer()).node, id);
        }
        routes
    }

    /// Returns the IDs of all ends.
    pub(crate) fn ids(&self) -> impl Iterator<Item = TunnelEndId> + use<> {
        (0..self.ends.len() as u32).map(TunnelEndId)
    }

    /// Returns an end.
    pub(crate) fn end(&self, id: TunnelEndId) -> &TunnelEnd {
        &self.ends[id.index()]
    }

    /// Returns a mutable reference to an end.
    pub(crate) fn end_mut(&mut self, id: TunnelEndId) -> &mut TunnelEnd {
        &mut self.ends[id.index()]
    }

    /// Returns the number of tunnels.
    pub(crate) fn len(&self) -> usize {
        self.ends.len() / 2
    }

    /// Applies the fates of the datagrams that an end has sent to the packets in them. Returns the packets that will
    /// not reach the other end.
    pub(crate) fn settle(&mut self, id: TunnelEndId, sockets: &mut Sockets<Quic>) -> Vec<Settled> {
        let end = &mut self.ends[id.index()];
        let connection = &mut sockets[end.endpoint].connection;
        let mut settled = Vec::new();
        while let Some((tag, fate)) = connection.poll_datagram_fate() {
            end.settle(tag, fate, connection.state().can_send(), &mut settled);
        }
        settled
    }

    /// Returns the numbers of packets in the tunnels, and of packets that were dropped there.
    ///
    /// # Panics
    /// If the counts differ from the stored packets.
    pub(crate) fn counted(&self) -> [u64; 2] {
        let mut sums = [0; 2];
        for end in &self.ends {
            assert_eq!(end.in_flight(), end.taken(), "the packet counters of a tunnel do not add up");
            sums[0] += end.in_flight();
            sums[1] += end.counts.dropped();
        }
        sums
    }
}
