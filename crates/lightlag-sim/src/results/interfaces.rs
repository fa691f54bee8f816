//! Interfaces of nodes to media, and positions of nodes. Each kind of medium has its own group of columns, in a file of
//! its own.

mod access;
mod wifi;

pub use access::AccessSummary;
pub use wifi::ClassSummary;

use crate::media::{AnyMedium, Interface, Media};
use crate::table::{NameTable, recorded, rows};
use lightlag_core::{Duration, Instant};
use lightlag_mobility::Motion;
use lightlag_net::StationId;
use lightlag_routing::Kind;
use lightlag_scenario::Network;
use std::collections::BTreeMap;

rows! {
    /// A node's interface to a medium. The columns of access classes are present if a radio had packets of a class
    /// other than best effort.
    #[derive(Default)]
    pub struct InterfaceSummary, hashed by
        node, medium, sent_frames, received_frames, retries, collisions, utilisation
    {
        /// Name of the interface, `node@medium`.
        name: String ["", label],
        /// Node that the interface belongs to.
        node: String [""],
        /// Medium that the interface belongs to.
        medium: String [""],
        /// Data and management frames sent, counting every attempt; excludes control responses.
        sent_frames: u64 ["frames"],
        /// Frames received intact and addressed to the node or broadcast.
        received_frames: u64 ["frames"],
        /// Retransmissions of frames.
        retries: u64 ["frames"],
        /// Frames that the receiver had locked onto and that were then lost because of another frame on the air.
        collisions: u64 ["frames"],
        /// Frames that the receiver had locked onto and that were then lost because of noise alone.
        errors: u64 ["frames"],
        /// Fraction of the run during which the radio transmitted.
        utilisation: f64 [""],
        /// Fraction of the run during which the radio sensed the medium busy, including its own transmissions.
        busy: f64 [""],
        /// Airtime of the unicast frames sent, which carry packets and routing messages.
        unicast_airtime_s: f64 ["s"],
        /// Airtime of the broadcast frames sent, which carry routing messages.
        broadcast_airtime_s: f64 ["s"],
        /// Airtime of control frames sent: ACK, RTS, CTS.
        control_airtime_s: f64 ["s"],
        /// Frames dropped because the queue was full.
        dropped_queue: u64 ["frames"],
        /// Frames dropped after the last retry.
        dropped_retry: u64 ["frames"],
        /// Frames dropped because their lifetime expired.
        dropped_lifetime: u64 ["frames"],
        /// Packets dropped because no route was found.
        dropped_no_route: u64 ["packets"],
        /// Mean number of frames in the queue over the run, including frames being sent.
        mean_queue_packets: f64 ["frames"],
        /// Maximum number of frames in the queue, including frames being sent.
        max_queue_packets: u64 ["frames"],
        /// A-MPDUs sent, counting every attempt.
        aggregates: u64 [""],
        /// Mean number of frames (MPDUs) in an A-MPDU; null if none was sent.
        mpdus_per_aggregate: Option<f64> ["frames"],
        /// Datagrams with routing messages that were sent.
        routing_packets: u64 ["packets"],
        /// Total size of the routing messages sent, including UDP and IP headers.
        routing_bytes: u64 ["B"],
        /// Route requests sent, including forwarded requests.
        route_requests: u64 [""],
        /// Number of times that a route appeared, disappeared, or changed its next hop or length.
        route_changes: u64 [""],
        /// Broken links to neighbours that were reported to the routing agent.
        broken_links: u64 [""],
        /// Frames of the best-effort class, if there are several classes.
        #[serde(skip_serializing_if = "Option::is_none")]
        best_effort: Option<Box<ClassSummary>> ["best_effort_*"],
        /// Frames of the background class.
        #[serde(skip_serializing_if = "Option::is_none")]
        background: Option<Box<ClassSummary>> ["background_*"],
        /// Frames of the video class.
        #[serde(skip_serializing_if = "Option::is_none")]
        video: Option<Box<ClassSummary>> ["video_*"],
        /// Frames of the voice class.
        #[serde(skip_serializing_if = "Option::is_none")]
        voice: Option<Box<ClassSummary>> ["voice_*"],
        /// Access to a satellite, if the medium is a beam or has random access.
        #[serde(skip_serializing_if = "Option::is_none")]
        access: Option<Box<AccessSummary>> ["access_*"],
    }
}

recorded! {
    /// The positions of nodes over time.
    pub struct Positions, hashed by time_s, node, x_m, y_m, z_m {
        /// Seconds since the start of the run.
        time_s: Vec<f64> ["s"],
        /// Node that has this position.
        node: Vec<u32> ["", named(NameTable::Nodes)],
        /// Coordinate towards the east.
        x_m: Vec<f64> ["m"],
        /// Coordinate towards the north.
        y_m: Vec<f64> ["m"],
        /// Coordinate upwards (height).
        z_m: Vec<f64> ["m"],
    }
}

/// Names of an interface, its node and its medium, and the motion of the node, as needed for results.
pub(super) struct InterfaceIdentity {
    pub(super) name: String,
    node: String,
    medium: String,
    /// Index of the node, and its motion on a medium where positions matter.
    number: u32,
    motion: Option<Motion>,
}

impl InterfaceIdentity {
    /// Returns the interfaces to all media, ordered by medium and by node.
    pub(super) fn all(network: &Network) -> Vec<Self> {
        let interfaces_of = |medium: &lightlag_scenario::Medium| -> Vec<Self> {
            let member = |(member, motion): (&lightlag_scenario::MediumMember, &Motion)| {
                let node = network.nodes[member.node.0 as usize].clone();
                Self {
                    name: format!("{node}@{}", medium.name),
                    node,
                    medium: medium.name.clone(),
                    number: member.node.0,
                    motion: medium.plan.wifi().map(|_| motion.clone()),
                }
            };
            medium.members.iter().zip(medium.motions()).map(member).collect()
        };
        network.media.iter().flat_map(interfaces_of).collect()
    }
}

/// Returns the table of the positions of all nodes on media of 802.11, at the start and once per interval.
pub(super) fn positions(interfaces: &[InterfaceIdentity], interval: Option<Duration>, end: Instant) -> Positions {
    let mut positions = Positions::default();
    let Some(interval) = interval else { return positions };
    let mut nodes = BTreeMap::new();
    for interface in interfaces {
        if let Some(motion) = &interface.motion {
            nodes.entry(interface.number).or_insert_with(|| motion.clone());
        }
    }
    let mut now = Instant::ZERO;
    while now <= end && !nodes.is_empty() {
        for (node, motion) in &mut nodes {
            let position = motion.position(now);
            positions.time_s.push(now.as_secs_f64());
            positions.node.push(*node);
            positions.x_m.push(position.x);
            positions.y_m.push(position.y);
            positions.z_m.push(position.z);
        }
        now += interval;
    }
    positions
}

/// Returns the summary of each interface.
pub(super) fn interface_summaries(
    media: Option<&Media>,
    identities: Vec<InterfaceIdentity>,
    end: Instant,
) -> Vec<InterfaceSummary> {
    let Some(media) = media else { return Vec::new() };
    let summary = |(interface, identity): (&Interface, InterfaceIdentity)| {
        let traffic = interface.agent.traffic();
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
            ..of_station(&media.shared[interface.medium].medium, interface.station, end)
        }
    };
    media.interfaces.iter().zip(identities).map(summary).collect()
}

/// Returns the columns that a medium provides about one of its stations. Counters that this kind of medium does not
/// have are zero.
fn of_station(medium: &AnyMedium, station: StationId, end: Instant) -> InterfaceSummary {
    match medium {
        AnyMedium::Wifi(wifi) => wifi::of_station(wifi, station, end),
        AnyMedium::Rcs2(beam) => access::of_station(beam.station_counters(station, end), None, end),
        AnyMedium::RandomAccess(medium) => {
            access::of_station(medium.station_counters(station), Some(medium.energy_mj(station)), end)
        }
    }
}
