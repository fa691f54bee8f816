//! The constellation of a network with resolved indices: its links, pairs of stations and exits.

use super::layout::Layout;
use super::links::Shared;
use super::space::SpaceNetwork;
use super::timetable::steady_at;
use crate::network::{LinkDirection, LinkProperties, Space, Weather};
use crate::spec::SatelliteLink;
use lightlag_core::{Duration, Instant};
use lightlag_net::{LinkId, NO_EXIT, NodeId, Outage, RatesByElevation, RouteTable};
use lightlag_orbit::grid::Isl;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Nominal round-trip time that converts queue sizes in bandwidth-delay products, because the actual one changes all
/// the time.
const ROUND_TRIP: Duration = Duration::from_millis(100);

impl SpaceNetwork<'_> {
    /// Returns the constellation with resolved indices, the route table that includes its satellites, and its link
    /// directions.
    pub(super) fn built(
        &self,
        layout: &Layout,
        table: RouteTable,
        until: Duration,
    ) -> (Space, RouteTable, Vec<LinkDirection>) {
        let first = 2 * layout.wires.len() as u32;
        let dishes = LinkId(first);
        let antennas = LinkId(dishes.0 + self.stations.len() as u32);
        let isls = LinkId(antennas.0 + self.antennas() as u32);
        let pairs = self.pairs(layout, &table);
        let receivers: BTreeSet<u32> = pairs.iter().map(|(_, to)| *to).collect();
        let receivers: Vec<u32> = receivers.into_iter().collect();
        let exit = |node: u32| {
            let station = self.exit(&table, NodeId(node))?;
            receivers.binary_search(&station).ok()
        };
        let nodes = layout.nodes.names.len() as u32;
        let exits: Arc<[u32]> = (0..nodes)
            .map(|node| if node < self.first.0 { exit(node).map_or(NO_EXIT, |exit| exit as u32) } else { NO_EXIT })
            .collect();
        let mut crossings: Vec<([u32; 2], LinkId)> = Vec::with_capacity(2 * self.sky.isls().len());
        for (index, Isl { ends: [a, b], .. }) in (0..).zip(self.sky.isls()) {
            crossings.push(([*a, *b], LinkId(isls.0 + 2 * index)));
            crossings.push(([*b, *a], LinkId(isls.0 + 2 * index + 1)));
        }
        crossings.sort_unstable();
        let satellites: Vec<NodeId> =
            (0..self.sky.satellites().len() as u32).map(|at| NodeId(self.first.0 + at)).collect();
        let table = table.with_satellites(&satellites, exits.clone(), receivers.len());
        let space = Space {
            sky: self.sky.clone(),
            hub: self.hub,
            first: self.first,
            stations: self.stations.clone(),
            dishes,
            antennas,
            has_antenna_for_each: !self.spec.downlink.is_shared,
            isls,
            crossings: crossings.into(),
            pairs,
            exits,
            rates: (self.uplinks().map(by_elevation).collect(), by_elevation(&self.spec.downlink)),
            rules: lightlag_orbit::PathRules { selection: self.spec.selection.0, ..self.spec.rules },
            routing: self.spec.routing.clone(),
            handover: self.spec.handover,
            until: Instant::ZERO + until,
            filed: self.filed.clone(),
        };
        let links = self.links(layout, until);
        (space, table, links)
    }

    /// Returns the index of the exit station of packets to `node`.
    fn exit(&self, table: &RouteTable, node: NodeId) -> Option<u32> {
        let leaves = if self.stations.contains(&node) { node } else { table.neighbour(self.hub, node)? };
        self.stations.iter().position(|station| *station == leaves).map(|station| station as u32)
    }

    /// Returns the index of the entry station of packets from one node to another; `None` if they do not cross the
    /// constellation.
    fn entry(&self, table: &RouteTable, from: NodeId, to: NodeId) -> Option<u32> {
        let mut node = from;
        for _ in 0..=self.first.0 {
            let next = table.neighbour(node, to)?;
            if next == self.hub {
                return self.stations.iter().position(|station| *station == node).map(|station| station as u32);
            }
            if next == to {
                return None;
            }
            node = next;
        }
        None
    }

    /// Returns the pairs of entry and exit stations of all flows that cross the constellation, for data and for ACKs.
    fn pairs(&self, layout: &Layout, table: &RouteTable) -> Vec<(u32, u32)> {
        let ends: BTreeSet<(NodeId, NodeId)> = layout.drafts.iter().map(|draft| (draft.from, draft.to)).collect();
        let mut pairs = BTreeSet::new();
        for (from, to) in ends.into_iter().flat_map(|(from, to)| [(from, to), (to, from)]) {
            if let (Some(entry), Some(exit)) = (self.entry(table, from, to), self.exit(table, to)) {
                pairs.insert((entry, exit));
            }
        }
        pairs.into_iter().collect()
    }

    fn links(&self, layout: &Layout, until: Duration) -> Vec<LinkDirection> {
        let satellite = |at: u32| NodeId(self.first.0 + at);
        let dishes = self.stations.iter().zip(self.uplinks()).map(|(station, line)| (*station, self.hub, line));
        let ends = if self.spec.downlink.is_shared { &[self.ground] } else { &self.stations[..] };
        let antennas = (0..self.sky.satellites().len() as u32)
            .flat_map(|at| ends.iter().map(move |end| (satellite(at), *end, &self.spec.downlink)));
        let isls = self.sky.isls().iter().flat_map(|Isl { ends: [a, b], .. }| {
            [(satellite(*a), satellite(*b), &self.spec.isl), (satellite(*b), satellite(*a), &self.spec.isl)]
        });
        let mut shared = Shared::default();
        let direction = |(from, to, line): (NodeId, NodeId, &SatelliteLink)| {
            let name = format!("{}->{}", layout.nodes.name(from), layout.nodes.name(to));
            LinkDirection { name, from, to, properties: shared.of(properties(line, until)) }
        };
        dishes.chain(antennas).chain(isls).map(direction).collect()
    }
}

/// Returns the rates of a link by the sine of the elevation; `None` if its rate is constant.
fn by_elevation(line: &SatelliteLink) -> Option<RatesByElevation> {
    let rates = line.rates.iter().map(|(degrees, rate)| (libm::sin(degrees.to_radians()), *rate));
    (!line.rates.is_empty()).then(|| rates.collect())
}

/// Returns the properties of a link. Its delay does not include the propagation of light between its moving ends, which
/// is added during the run.
fn properties(line: &SatelliteLink, until: Duration) -> LinkProperties {
    // Queues are made for the highest rate.
    let rate = line.rates.iter().map(|(_, rate)| *rate).max().unwrap_or(line.rate);
    LinkProperties {
        queue: line.queue.limit(rate, ROUND_TRIP),
        discipline: line.queue.discipline(rate, ROUND_TRIP),
        loss: line.loss.model(),
        loss_place: line.loss.place,
        timetable: line.jitter.0.map(|_| steady_at(rate, line.delay)),
        jitter: line.jitter.0,
        fade: line.fade.link(ROUND_TRIP).map(|link| Weather { link, until, outage: Outage::Hold, overtaking: false }),
        ..LinkProperties::plain(rate, line.delay)
    }
}
