//! The hops of single packets: when each packet was sent, was forwarded by a node, and arrived or was dropped.
//!
//! Rows are removed during the run, so that they need no more memory than the packets of one step. They are not part of
//! the results, and recording them does not change the results.

use crate::body::{Packet, TransportInfo};
use crate::hosts::endpoints::{self, EndpointIds, EndpointSpec};
use crate::ids::FlowIndex;
use crate::table::{NameTable, recorded};
use lightlag_core::Instant;
use lightlag_net::{Exit, NodeId};
use lightlag_scenario::Network;

/// Names of the events, in the order of their indices.
const EVENTS: [&str; 4] = ["sent", "forwarded", "received", "dropped"];

/// Value that stands for the absence of a link or node.
const NOWHERE: u32 = u32::MAX;

recorded! {
    /// The paths of packets: one row for each node that a packet passes, and for each drop.
    pub struct Passages {
        /// Seconds since the start of the run.
        time_s: Vec<f64> ["s"],
        /// ID of a packet, which is constant along its path. Packets with equal contents have the same ID.
        packet: Vec<u32> [""],
        /// Flow that the packet belongs to.
        flow: Vec<u32> ["", named(NameTable::Flows)],
        /// Node where the packet is. For a dropped packet, the node where the link starts.
        node: Vec<u32> ["", named(NameTable::Nodes)],
        /// Link direction that the packet is sent over, or that dropped it; 4294967295 at the end of the packet's path.
        link: Vec<u32> [""],
        /// Event: sent by its sender, forwarded by a node, arrived at its destination, or dropped.
        event: Vec<u8> ["", named(NameTable::These(&EVENTS))],
        /// Whether the packet travels towards the sender of the flow, as an ACK or a station's notification does.
        backward: Vec<bool> [""],
        /// Sequence number of the segment, or index of the datagram within its flow.
        seq: Vec<u32> [""],
        /// Acknowledged sequence number.
        ack: Vec<u32> [""],
        /// Payload in bytes.
        len: Vec<u32> ["B"],
    }
}

/// Selects the packets to record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PassageFilter {
    /// Time when the recording starts.
    pub from: Instant,
    /// Time when the recording ends.
    pub until: Instant,
    /// Flow to record; `None` for all.
    pub flow: Option<FlowIndex>,
    /// Maximum number of rows per step; further rows are omitted.
    pub most: usize,
}

impl PassageFilter {
    /// Selects all packets of a run, with a maximum of `max` rows per step.
    pub fn all(max: usize) -> Self {
        Self { from: Instant::ZERO, until: Instant::MAX, flow: None, most: max }
    }
}

/// Records the hops of packets.
pub(crate) struct Watcher {
    watch: PassageFilter,
    ends: Vec<EndpointSpec>,
    /// Number of links. In tables the indices of interfaces follow the indices of links.
    links: u32,
    /// Node where each link starts, followed by the node of each interface.
    starts: Vec<NodeId>,
    passages: Passages,
}

#[derive(Clone, Copy)]
enum Event {
    Sent,
    Forwarded,
    Received,
    Dropped,
}

impl Watcher {
    pub(crate) fn new(network: &Network, watch: PassageFilter) -> Self {
        let numbers = EndpointIds::new(network);
        let of_links = network.links.iter().map(|link| link.from);
        let of_radios = network.media.iter().flat_map(|medium| medium.members.iter().map(|member| member.node));
        Self {
            watch,
            ends: endpoints::of_connections(network, &numbers)
                .chain(endpoints::of_datagrams(network, &numbers))
                .collect(),
            links: network.links.len() as u32,
            starts: of_links.chain(of_radios).collect(),
            passages: Passages::default(),
        }
    }

    /// Returns and removes the rows since the last call.
    pub(crate) fn take(&mut self) -> Passages {
        std::mem::take(&mut self.passages)
    }

    pub(crate) fn sent(&mut self, now: Instant, on: Exit, packet: &Packet) {
        self.note(now, self.start(on), Some(on), packet, Event::Sent);
    }

    pub(crate) fn forwarded(&mut self, now: Instant, node: NodeId, on: Exit, packet: &Packet) {
        self.note(now, Some(node), Some(on), packet, Event::Forwarded);
    }

    pub(crate) fn received(&mut self, now: Instant, packet: &Packet) {
        self.note(now, Some(packet.destination), None, packet, Event::Received);
    }

    pub(crate) fn expired(&mut self, now: Instant, node: NodeId, packet: &Packet) {
        self.note(now, Some(node), None, packet, Event::Dropped);
    }

    pub(crate) fn dropped(&mut self, time: Instant, on: Exit, packet: &Packet) {
        self.note(time, self.start(on), Some(on), packet, Event::Dropped);
    }

    /// Returns the node where a link starts, or the node of an interface.
    fn start(&self, on: Exit) -> Option<NodeId> {
        self.starts.get(on.number(self.links) as usize).copied()
    }

    #[cold]
    fn note(&mut self, now: Instant, node: Option<NodeId>, on: Option<Exit>, packet: &Packet, event: Event) {
        let PassageFilter { from, until, flow, most } = self.watch;
        let end = &self.ends[packet.to.index()];
        if now < from || now >= until || flow.is_some_and(|flow| flow != end.flow) || self.passages.rows() >= most {
            return;
        }
        let TransportInfo { seq, ack, len, stamp } = packet.body.facts();
        let passages = &mut self.passages;
        passages.time_s.push(now.as_secs_f64());
        passages.packet.push(name_of([packet.to.0, seq, ack, len, stamp]));
        passages.flow.push(end.flow.0);
        passages.node.push(node.map_or(NOWHERE, |node| node.0));
        passages.link.push(on.map_or(NOWHERE, |on| on.number(self.links)));
        passages.event.push(event as u8);
        passages.backward.push(end.role.sends());
        passages.seq.push(seq);
        passages.ack.push(ack);
        passages.len.push(len);
    }
}

/// Returns the FNV-1a hash of these numbers, which is used as the ID of a packet.
fn name_of(facts: [u32; 5]) -> u32 {
    let bytes = facts.into_iter().flat_map(u32::to_le_bytes);
    bytes.fold(0x811c_9dc5, |name, byte| (name ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
