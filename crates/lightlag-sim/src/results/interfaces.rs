//! Interfaces of nodes to media, and positions of nodes.

use crate::media::{AnyMedium, Interface, Media};
use crate::table::{Names, recorded, rows};
use lightlag_core::{Duration, Instant};
use lightlag_mobility::Motion;
use lightlag_routing::Kind;
use lightlag_scenario::Network;
use lightlag_wifi::{Class, ClassCounters};
use std::collections::BTreeMap;

rows! {
    /// A node's interface to a medium. Columns of access classes are there if some radio had packets of another class than best
    /// effort.
    pub struct InterfaceSummary, hashed by
        node, medium, sent_frames, received_frames, retries, collisions, utilisation
    {
        /// Name of the interface, `node@medium`.
        name: String ["", label],
        /// Node.
        node: String [""],
        /// Medium.
        medium: String [""],
        /// Frames sent: data and management, each attempt counted; no answers.
        sent_frames: u64 ["frames"],
        /// Frames received intact that were for the node, or for all.
        received_frames: u64 ["frames"],
        /// Attempts that repeat a frame.
        retries: u64 ["frames"],
        /// Frames that the receiver had locked on and lost while another frame was on the air there.
        collisions: u64 ["frames"],
        /// Frames that noise alone destroyed, after the receiver had locked on them.
        errors: u64 ["frames"],
        /// Share of the run in which the radio transmitted.
        utilisation: f64 [""],
        /// Share of the run in which the radio sensed the medium busy, its own transmissions included.
        busy: f64 [""],
        /// Seconds in which it sent frames for one station: packets, and messages of routing.
        unicast_airtime_s: f64 ["s"],
        /// Seconds in which it sent frames for all: messages of routing.
        broadcast_airtime_s: f64 ["s"],
        /// Seconds in which it sent answers and requests: ACK, RTS, CTS.
        control_airtime_s: f64 ["s"],
        /// Frames dropped because the queue was full.
        dropped_queue: u64 ["frames"],
        /// Frames given up after the last retry.
        dropped_retry: u64 ["frames"],
        /// Frames dropped because they had waited too long.
        dropped_lifetime: u64 ["frames"],
        /// Packets dropped because no route was found.
        dropped_no_route: u64 ["packets"],
        /// Frames in the queue, those being sent included, averaged over the run.
        mean_queue_packets: f64 ["frames"],
        /// The most frames in the queue at once, those being sent included.
        max_queue_packets: u64 ["frames"],
        /// A-MPDUs sent, each attempt counted.
        aggregates: u64 [""],
        /// Mean number of frames (MPDUs) in an A-MPDU; null if none was sent.
        mpdus_per_aggregate: Option<f64> ["frames"],
        /// Messages of routing sent: datagrams.
        routing_packets: u64 ["packets"],
        /// Their bytes, with the headers of UDP and IP.
        routing_bytes: u64 ["B"],
        /// Route requests sent, those of others passed on included.
        route_requests: u64 [""],
        /// Number of times that a route appeared, vanished, or got another next hop or length.
        route_changes: u64 [""],
        /// Links to neighbours that the agent was told were broken.
        broken_links: u64 [""],
        /// Frames of best effort, where there are several classes.
        #[serde(skip_serializing_if = "Option::is_none")]
        best_effort: Option<Box<ClassSummary>> ["best_effort_*"],
        /// Frames of the class background.
        #[serde(skip_serializing_if = "Option::is_none")]
        background: Option<Box<ClassSummary>> ["background_*"],
        /// Frames of the class video.
        #[serde(skip_serializing_if = "Option::is_none")]
        video: Option<Box<ClassSummary>> ["video_*"],
        /// Frames of the class voice.
        #[serde(skip_serializing_if = "Option::is_none")]
        voice: Option<Box<ClassSummary>> ["voice_*"],
    }
}

rows! {
    /// Frames of an access class at a radio.
    #[derive(Copy, PartialEq)]
    pub struct ClassSummary {
        /// Frames of this class sent, each attempt counted.
        sent_frames: u64 ["frames"],
        /// Frames of this class in their queue, averaged over the run.
        mean_queue_packets: f64 ["frames"],
        /// The most frames of this class in their queue at once.
        max_queue_packets: u64 ["frames"],
    }
}

impl ClassSummary {
    fn new(counters: ClassCounters, elapsed: f64) -> Self {
        Self {
            sent_frames: counters.sent,
            mean_queue_packets: counters.waited.as_secs_f64() / elapsed,
            max_queue_packets: counters.max_queue,
        }
    }
}

recorded! {
    /// The positions of nodes over time.
    pub struct Positions, hashed by time_s, node, x_m, y_m, z_m {
        /// Seconds since the start of the run.
        time_s: Vec<f64> ["s"],
        /// Node.
        node: Vec<u32> ["", named(Names::Nodes)],
        /// To the east.
        x_m: Vec<f64> ["m"],
        /// To the north.
        y_m: Vec<f64> ["m"],
        /// Up.
        z_m: Vec<f64> ["m"],
    }
}

/// Facts of a result about an interface beside numbers, and the path of its node.
pub(super) struct InterfaceIdentity {
    pub(super) name: String,
    node: String,
    medium: String,
    /// The number of its node, and the way that the node takes.
    number: u32,
    motion: Motion,
}

impl InterfaceIdentity {
    /// The interfaces to all media, in the order of the media and of the nodes on each.
    pub(super) fn all(network: &Network) -> Vec<Self> {
        let of = |medium: &lightlag_scenario::Medium| -> Vec<Self> {
            let member = |(member, motion): (&lightlag_scenario::Member, &Motion)| {
                let node = network.nodes[member.node.0 as usize].clone();
                Self {
                    name: format!("{node}@{}", medium.name),
                    node,
                    medium: medium.name.clone(),
                    number: member.node.0,
                    motion: motion.clone(),
                }
            };
            medium.members.iter().zip(medium.motions()).map(member).collect()
        };
        network.media.iter().flat_map(of).collect()
    }
}

/// The positions of all nodes on media, at the start and once each interval.
pub(super) fn positions(interfaces: &[InterfaceIdentity], interval: Option<Duration>, end: Instant) -> Positions {
    let mut positions = Positions::default();
    let Some(interval) = interval else { return positions };
    let mut nodes = BTreeMap::new();
    for interface in interfaces {
        nodes.entry(interface.number).or_insert_with(|| interface.motion.clone());
    }
    let mut now = Instant::ZERO;
    while now <= end && !nodes.is_empty() {
        for (node, motion) in &mut nodes {
            let place = motion.position(now);
            positions.time_s.push(now.as_secs_f64());
            positions.node.push(*node);
            positions.x_m.push(place.x);
            positions.y_m.push(place.y);
            positions.z_m.push(place.z);
        }
        now += interval;
    }
    positions
}

/// One for each interface.
pub(super) fn interface_summaries(
    media: Option<&Media>,
    identities: Vec<InterfaceIdentity>,
    end: Instant,
) -> Vec<InterfaceSummary> {
    let Some(media) = media else { return Vec::new() };
    let elapsed = end.as_secs_f64().max(1e-9);
    let summary = |(interface, identity): (&Interface, InterfaceIdentity)| {
        let AnyMedium::Wifi(wifi) = &media.shared[interface.medium].medium;
        let counters = wifi.station_counters(interface.station, end);
        let traffic = interface.agent.traffic();
        let of_class = |class| wifi.class_counters(interface.station, class, end);
        let classes = Class::ALL.map(of_class);
        let waited = classes.iter().flatten().map(|of| of.waited.as_secs_f64()).sum::<f64>();
        let is_one = classes[1..].iter().all(Option::is_none);
        let [best_effort, background, video, voice] =
            classes.map(|of| of.filter(|_| !is_one).map(|of| Box::new(ClassSummary::new(of, elapsed))));
        InterfaceSummary {
            name: identity.name,
            node: identity.node,
            medium: identity.medium,
            routing_packets: traffic.datagrams(),
            routing_bytes: traffic.payload() + traffic.datagrams() * u64::from(media.message_header()),
            route_requests: traffic.messages(Kind::RouteRequest),
            route_changes: interface.agent.changes(),
            broken_links: interface.broken,
            dropped_no_route: interface.no_route,
            sent_frames: counters.sent,
            received_frames: counters.received,
            retries: counters.retries,
            collisions: counters.collisions,
            errors: counters.errors,
            utilisation: counters.airtime().as_secs_f64() / elapsed,
            busy: counters.busy.as_secs_f64() / elapsed,
            unicast_airtime_s: counters.unicast_airtime.as_secs_f64(),
            broadcast_airtime_s: counters.broadcast_airtime.as_secs_f64(),
            control_airtime_s: counters.control_airtime.as_secs_f64(),
            dropped_queue: counters.dropped_queue,
            dropped_retry: counters.dropped_retry,
            dropped_lifetime: counters.dropped_lifetime,
            mean_queue_packets: waited / elapsed,
            max_queue_packets: counters.max_queue,
            aggregates: counters.aggregates,
            mpdus_per_aggregate: (counters.aggregates > 0)
                .then(|| counters.aggregated as f64 / counters.aggregates as f64),
            best_effort,
            background,
            video,
            voice,
        }
    };
    media.interfaces.iter().zip(identities).map(summary).collect()
}
