//! The ways of flows that cross media: over links, media and the sky in turn.
//!
//! A packet tells how it crossed a medium when it leaves it. The parts of its way before and behind follow from the routes.

use super::World;
use crate::body::Body;
use crate::border::Border;
use crate::fabric::Fabric;
use crate::ids::FlowIndex;
use crate::media::{Media, Parcel, Way};
use crate::tap::Tap;
use lightlag_core::Instant;
use lightlag_net::{Exit, InterfaceId, NodeId};

impl<T: Tap, B: Border> World<T, B> {
    /// A packet leaves a medium: if it is data, and crossed it elsewhere than the one before, it has another way.
    pub(super) fn leaves_air(&mut self, now: Instant, interface: InterfaceId, parcel: &Parcel) {
        let (flow, backward) = self.hosts.addressees().of(&parcel.packet);
        let media = self.media.as_deref_mut().expect("an interface has a node");
        if !backward && media.left(interface, parcel, flow) {
            self.note_way(now, flow, |_, _| true);
        }
    }

    /// Routes have changed: those over the sky alone are told with the others, and those that lead from media on may be other
    /// ones.
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

    /// Notes the way of a flow, if all of it is known and `is_news` compared with the one that was noted last.
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

/// The nodes of a flow's way and its hops; it ends at a station from which nothing leads through the sky now. None if it
/// crosses no medium, or one that its data has not left yet.
fn way(fabric: &Fabric<Body>, media: &Media, flow: FlowIndex) -> Option<(Vec<NodeId>, u32)> {
    let journey = &media.journeys[flow.index()];
    let (mut way, mut hops, mut crosses_air) = (vec![journey.stops[0]], 0, false);
    // Routes that change may go in circles for a while.
    let mut parts_left = fabric.hops.len() + media.interfaces.len();
    for stop in &journey.stops[1..] {
        while let Some(node) = way.last().copied().filter(|node| node != stop) {
            parts_left = parts_left.checked_sub(1)?;
            match fabric.routes.next(node, *stop)?.unpack() {
                Exit::Interface(interface) => {
                    let toward = media.exit(interface, *stop, &fabric.routes);
                    let crossed = journey.crossing(Way { interface, toward })?;
                    way.extend(crossed.trail.nodes().skip(1).chain([crossed.exit]));
                    hops += crossed.trail.hops();
                    crosses_air = true;
                }
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
