//! Paths of flows that cross media. Such a path may use links, media and the constellation in turn.
//!
//! A packet records its path over a medium, which is evaluated when the packet leaves the medium. The parts of the path
//! before and after the medium follow from the routes.

use super::World;
use crate::body::PacketBody;
use crate::border::Border;
use crate::fabric::Fabric;
use crate::ids::FlowIndex;
use crate::media::{Media, MediumPacket, MediumPath};
use crate::tap::Tap;
use lightlag_core::Instant;
use lightlag_net::{Exit, InterfaceId, NodeId};

impl<T: Tap, B: Border> World<T, B> {
    /// Handles a packet that leaves a medium. If it carries data, and its path over the medium differs from the
    /// previous one, the flow has a new path.
    pub(super) fn leaves_air(&mut self, now: Instant, interface: InterfaceId, parcel: &MediumPacket) {
        let (flow, backward) = self.hosts.addressees().of(&parcel.packet);
        let media = self.media.as_deref_mut().expect("an interface has a node");
        if !backward && media.left(interface, parcel, flow) {
            self.note_way(now, flow, |_, _| true);
        }
    }

    /// Handles a change of routes. Paths that use only the constellation are moved into the common table, and paths
    /// that use media are recorded if they have changed.
    pub(super) fn ways_change(&mut self, now: Instant) {
        let Some(media) = self.media.as_deref_mut() else { return };
        if let Some(overhead) = self.fabric.overhead.as_deref_mut() {
            media.paths.append(&overhead.paths, 0..overhead.paths.rows());
            overhead.paths.clear();
        }
        for flow in (0..media.journeys.len() as u32).map(FlowIndex) {
            self.note_way(now, flow, |before, now| before != now);
        }
    }

    /// Records the path of a flow, if all parts of it are known, and `is_news` returns true for the last recorded path
    /// and this one.
    fn note_way(&mut self, now: Instant, flow: FlowIndex, is_news: impl Fn(&[NodeId], &[NodeId]) -> bool) {
        let Self { fabric, media, .. } = self;
        let Some(media) = media.as_deref_mut() else { return };
        let Some((way, hops)) = way(fabric, media, flow) else { return };
        let journey = &mut media.journeys[flow.index()];
        if is_news(&journey.noted, &way) {
            media.paths.note(now, flow, way.iter().copied(), hops);
            journey.noted = way;
        }
    }
}

/// Returns the nodes of a flow's path and its number of hops. The path ends at a station if that has no current path
/// through the constellation. Returns `None` if the path crosses no medium, or a medium that the flow's data has not
/// left yet.
fn way(fabric: &Fabric<PacketBody>, media: &Media, flow: FlowIndex) -> Option<(Vec<NodeId>, u32)> {
    let journey = &media.journeys[flow.index()];
    let (mut way, mut hops, mut crosses_air) = (vec![journey.stops[0]], 0, false);
    // Changing routes may loop for a while.
    let mut parts_left = fabric.hops.len() + media.interfaces.len();
    for stop in &journey.stops[1..] {
        while let Some(node) = way.last().copied().filter(|node| node != stop) {
            parts_left = parts_left.checked_sub(1)?;
            match fabric.routes.next(node, *stop)?.unpack() {
                Exit::Interface(interface) => {
                    let toward = media.exit(interface, *stop, &fabric.routes);
                    let crossed = journey.crossing(MediumPath { interface, toward })?;
                    way.extend(crossed.trail.nodes().skip(1).chain([crossed.exit]));
                    hops += crossed.trail.hops();
                    crosses_air = true;
                }
                // Tunnels and media exclude each other.
                Exit::Tunnel(_) => return None,
                Exit::Link(link) => {
                    let before = way.len();
                    match fabric.overhead.as_deref().filter(|overhead| overhead.is_dish(link)) {
                        Some(overhead) => match overhead.way(node, *stop) {
                            Some(nodes) => way.extend(nodes),
                            None => return crosses_air.then_some((way, hops)),
                        },
                        None => way.push(fabric.routes.neighbour(node, *stop)?),
                    }
                    hops += (way.len() - before) as u32;
                }
            }
        }
    }
    crosses_air.then_some((way, hops))
}
