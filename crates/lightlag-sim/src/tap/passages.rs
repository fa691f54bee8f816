//! The ways of single packets: when each left its sender, passed a node, and arrived or was dropped.
//!
//! Rows are taken out while the run goes on, so they need no more memory than the packets of one step.
//! They are no part of results: whether somebody watches changes nothing.

use crate::body::{Facts, Packet};
use crate::hosts::ends::{self, End, Numbers};
use crate::ids::FlowIndex;
use crate::table::{Names, recorded};
use lightlag_core::Instant;
use lightlag_net::{Exit, NodeId};
use lightlag_scenario::Network;

/// Names of events, by their numbers.
const EVENTS: [&str; 4] = ["sent", "forwarded", "received", "dropped"];

/// The number of no link and of no node.
const NOWHERE: u32 = u32::MAX;

recorded! {
    /// The way of a packet: a row is one packet at one place.
    pub struct Passages {
        /// Seconds since the start of the run.
        time_s: Vec<f64> ["s"],
        /// The same number for one copy of a packet on its whole way. Two packets that differ in nothing have the same.
        packet: Vec<u32> [""],
        /// Flow.
        flow: Vec<u32> ["", named(Names::Flows)],
        /// Node at which the packet is; of a dropped one, where the link starts.
        node: Vec<u32> ["", named(Names::Nodes)],
        /// The link direction onto which it goes, or on which it was dropped; 4294967295 at the end of its way.
        link: Vec<u32> [""],
        /// It left its sender, was passed on by a node, arrived at its end, or was dropped.
        event: Vec<u8> ["", named(Names::These(&EVENTS))],
        /// Whether it goes to the sender of the flow: an ACK, or the message of a station.
        backward: Vec<bool> [""],
        /// Its sequence number, or that of a datagram among those of its flow.
        seq: Vec<u32> [""],
        /// The sequence number that it acknowledges.
        ack: Vec<u32> [""],
        /// Bytes of payload.
        len: Vec<u32> ["B"],
    }
}

/// A wish to see packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Watch {
    /// Since when.
    pub from: Instant,
    /// Until when.
    pub until: Instant,
    /// The only flow to see, if not all.
    pub flow: Option<FlowIndex>,
    /// The most rows of a step; what comes behind them is left out.
    pub most: usize,
}

impl Watch {
    /// All packets of a run, at most so many rows a step.
    pub fn all(most: usize) -> Self {
        Self { from: Instant::ZERO, until: Instant::MAX, flow: None, most }
    }
}

/// Sees packets pass.
pub(crate) struct Watcher {
    watch: Watch,
    ends: Vec<End>,
    /// Number of links, after which tables count interfaces.
    links: u32,
    /// The nodes at which links start, and those of interfaces.
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
    pub(crate) fn new(network: &Network, watch: Watch) -> Self {
        let numbers = Numbers::new(network);
        let of_links = network.links.iter().map(|link| link.from);
        let of_radios = network.media.iter().flat_map(|medium| medium.members.iter().map(|member| member.node));
        Self {
            watch,
            ends: ends::of_connections(network, &numbers).chain(ends::of_datagrams(network, &numbers)).collect(),
            links: network.links.len() as u32,
            starts: of_links.chain(of_radios).collect(),
            passages: Passages::default(),
        }
    }

    /// The rows since the last call.
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

    pub(crate) fn dropped(&mut self, at: Instant, on: Exit, packet: &Packet) {
        self.note(at, self.start(on), Some(on), packet, Event::Dropped);
    }

    /// The node at which a link starts, or which has an interface.
    fn start(&self, on: Exit) -> Option<NodeId> {
        self.starts.get(on.number(self.links) as usize).copied()
    }

    #[cold]
    fn note(&mut self, now: Instant, node: Option<NodeId>, on: Option<Exit>, packet: &Packet, event: Event) {
        let Watch { from, until, flow, most } = self.watch;
        let end = &self.ends[packet.to.index()];
        if now < from || now >= until || flow.is_some_and(|flow| flow != end.flow) || self.passages.rows() >= most {
            return;
        }
        let Facts { seq, ack, len, stamp } = packet.body.facts();
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

/// FNV-1a over the facts.
fn name_of(facts: [u32; 5]) -> u32 {
    let bytes = facts.into_iter().flat_map(u32::to_le_bytes);
    bytes.fold(0x811c_9dc5, |name, byte| (name ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
