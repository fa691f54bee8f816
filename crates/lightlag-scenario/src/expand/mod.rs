//! From a scenario to its network: names become numbers, generators are carried out, arrivals are drawn.
//!
//! - `layout`: nodes, links and flows with numbers, listed and generated ones; `references` asks only whether they fit.
//! - `links`, `side`, `timetable`: each direction of a link, and how it changes.
//! - `space`, `aloft`: the constellation, its nodes, and then its links and exits.
//! - `media`, `flights`: the nodes on radio media, their places, and movements that refer to files or other nodes.
//! - `arrivals`, `tcp`: flows that are several; the TCP of each.
//! - `proxies`, `every_byte`: who passes through which proxy, and who cannot.
//! - `captures`: where packets are captured.
//! - `routing`: how routes follow the links.
//! - `way`, `route`, `rtt`: what a connection meets on its way, is told of it, and how it is made longer.
//! - `chance`: whether anything is drawn.
//! - `place`: where the parts of a network stand in the file.

mod aloft;
mod arrivals;
mod captures;
mod chance;
mod every_byte;
mod flights;
mod joins;
mod layout;
mod links;
mod media;
mod place;
mod proxies;
mod references;
mod route;
mod routing;
mod rtt;
mod space;
mod tcp;
mod timetable;
mod way;

pub(crate) use place::flow_path;
pub(crate) use way::{Sizes, Way};

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
    /// The network that the scenario describes.
    ///
    /// # Errors
    /// Every reference to something that is not there, every size out of bounds, and what is wrong with the files of traces.
    pub fn expand(&self) -> Result<Network, Vec<ScenarioError>> {
        self.expand_with(self.seed)
    }

    /// As [`Self::expand`], with what another seed draws.
    ///
    /// # Errors
    /// Those of [`Self::expand`].
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
        let splits = splits(&self.proxies, &layout.proxies, &layout.drafts, &table, &mut errors);
        every_byte::check(&layout, &splits, &mut errors);
        let round_trips = round_trips(&layout, &table, &mut errors);
        let mut links =
            links(&layout, &round_trips, self.duration, &self.files, |link| self.table_of(link), &mut errors);
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
        let mut network =
            Network { nodes, links, media, space, doubts, flows, proxies, splits, routes, ttl, ip: self.ip, captures };
        network.configure_routes(&mut errors);
        network.check_buckets(&mut errors);
        errors.or(Some(network))
    }

    /// Draws the flows of those that are several.
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
        let place = |draft: &Draft| match draft.listed {
            Some(index) => format!("flows[{index}]"),
            None => "topology.flow".to_owned(),
        };
        let arrivals = Arrivals { seed, duration: self.duration, slowest: &slowest };
        let drafts = arrivals.expand(drafts, &mut layout.captures, place, errors);
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
            tcp,
            receiver_tcp,
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
            tcp,
            receiver_tcp,
        }
    }
}
