//! Expands a scenario to its network: resolves names to indices, generates nodes and flows, and draws arrivals.
//!
//! - `layout`, `joins`: indexed nodes, links and flows, listed and generated. `references` only checks whether they are
//!   consistent.
//! - `links`, `timetable`: each direction of a link, and its changes.
//! - `space`, `aloft`: the constellation, its nodes, and then its links and exits.
//! - `media`, `flights`: the nodes on radio media, their positions, and movements that refer to files or other nodes.
//! - `arrivals`, `tcp`, `quic`: groups of flows, and the configuration of the transport of each flow.
//! - `proxies`, `every_byte`: the proxies of each flow, and the flows that cannot use one.
//! - `tunnels`: the connection of each tunnel, and the flows whose packets it carries.
//! - `captures`: locations of packet captures.
//! - `routing`: the reaction of routes to changes of links.
//! - `connection_path`, `route`, `rtt`: the path of a connection, the TCP configuration that follows from it, and
//!   changes that give it a certain round-trip time.
//! - `chance`: whether the run draws random numbers.
//! - `place`: the paths in the file where the parts of a network are described.

mod aloft;
mod arrivals;
mod captures;
mod chance;
mod connection_path;
mod every_byte;
mod flights;
mod joins;
mod layout;
mod links;
mod media;
mod place;
mod proxies;
mod quic;
mod references;
mod route;
mod routing;
mod rtt;
mod space;
mod tcp;
mod timetable;
mod tunnels;

pub(crate) use connection_path::{ConnectionPath, Sizes};
pub(crate) use place::flow_path;

use crate::network::{Flow, Network};
use crate::read::{Errors, ScenarioError};
use crate::spec::{Routing, Scenario};
use arrivals::Arrivals;
use chance::start;
use layout::{Draft, Layout};
use lightlag_core::Instant;
use lightlag_net::{LinkId, RouteTable, TTL};
use links::{edges, links, round_trips};
use proxies::splits;

impl Scenario {
    /// Returns the network that the scenario describes.
    ///
    /// # Errors
    /// Every dangling reference, every size out of bounds, and all errors of trace files.
    pub fn expand(&self) -> Result<Network, Vec<ScenarioError>> {
        self.expand_with(self.seed)
    }

    /// Works like [`Self::expand`], with the random draws of another seed.
    ///
    /// # Errors
    /// The same as for [`Self::expand`].
    pub fn expand_with(&self, seed: u64) -> Result<Network, Vec<ScenarioError>> {
        let mut errors = Errors::default();
        let layout = Layout::new(self, seed, &mut errors);
        let mut layout = errors.or(layout)?;
        let mut errors = Errors::default();
        let edges = edges(&layout);
        let nodes = layout.nodes.names.len() + layout.media.len();
        let wires = 2 * layout.wires.len();
        let mut table = RouteTable::shortest(nodes, &edges).with_links(wires);
        if let Some(space) = &layout.space {
            table = table.with_gap(wires + space.stations.len(), space.links_aloft());
        }
        self.arrive(seed, &mut layout, &table, &mut errors);
        let (splits, opaque) = splits(&self.proxies, &layout.proxies, &layout.drafts, &table, &mut errors);
        every_byte::check(&layout, &splits, &mut errors);
        let round_trips = round_trips(&layout, &table, &mut errors);
        let mut links =
            links(&layout, &round_trips, self.duration, &self.files, |link| self.table_of(link), &mut errors);
        let tunnels = self.tunnels(&mut layout, (&table, &links, &splits), &mut errors);
        let space = layout.space.as_ref().map(|space| {
            let (space, table_aloft, aloft) = space.built(&layout, table.clone(), self.duration);
            table = table_aloft;
            links.extend(aloft);
            space
        });
        let interfaces = layout.media.iter().map(|medium| medium.nodes().count()).sum::<usize>();
        let routes = self.routes(table, &edges, &links, seed, &mut errors);
        let routes = routes.with_interfaces(links.len() as u32, interfaces as u32);
        let ttl = if let Routing::FollowLinks(follow) = self.routing { follow.ttl } else { TTL };
        let (media, doubts) = media::built(self, &layout.media, &layout.nodes, seed, &mut errors);
        let Layout { nodes, drafts, proxies, captures, .. } = layout;
        let flows = drafts.into_iter().map(Flow::from).collect();
        let nodes = nodes.names;
        let mut network = Network {
            nodes,
            links,
            media,
            space,
            doubts,
            flows,
            proxies,
            splits,
            opaque,
            tunnels,
            routes,
            ttl,
            ip: self.ip,
            captures,
        };
        network.configure_routes(&mut errors);
        network.check_buckets(&mut errors);
        errors.or(Some(network))
    }

    /// Expands the flows that stand for several flows.
    fn arrive(&self, seed: u64, layout: &mut Layout, routes: &RouteTable, errors: &mut Errors) {
        let mut drafts = std::mem::take(&mut layout.drafts);
        for draft in &mut drafts {
            if let Some(law) = draft.drawn_start.take() {
                draft.start = start(&law, &draft.name, draft.start, seed);
            }
        }
        let rate = |link: &LinkId| {
            let line = layout.wires[link.0 as usize / 2].line;
            if link.0.is_multiple_of(2) { line.forward.rate } else { line.backward.rate }
        };
        let slowest = |draft: &Draft| routes.path(draft.from, draft.to)?.iter().map(rate).min();
        let path_of = |draft: &Draft| match draft.listed {
            Some(index) => format!("flows[{index}]"),
            None => "topology.flow".to_owned(),
        };
        let arrivals = Arrivals { seed, duration: self.duration, slowest: &slowest, files: &self.files };
        let drafts = arrivals.expand(drafts, &mut layout.captures, path_of, errors);
        layout.drafts = drafts;
    }
}

impl From<Draft> for Flow {
    fn from(draft: Draft) -> Self {
        let Draft {
            name,
            listed,
            part,
            from,
            to,
            transport,
            traffic,
            transfer,
            reader,
            start,
            dscp,
            dialogue,
            tcp,
            receiver_tcp,
            quic,
            drawn_start: _,
        } = draft;
        Self {
            name,
            listed,
            part,
            from,
            to,
            transport,
            traffic,
            transfer,
            reader,
            start: Instant::ZERO + start,
            dscp,
            dialogue,
            tcp,
            receiver_tcp,
            quic,
        }
    }
}
