//! Routes that adapt to changes of links: the changes of every link direction, and the resulting tables.

use crate::network::LinkDirection;
use crate::read::Errors;
use crate::spec::{FollowLinks, Routing, Scenario};
use lightlag_core::Instant;
use lightlag_net::{Edge, LinkChange, LinkId, RouteTable, Routes};

/// Maximum total number of routes to compute, one for each change, node and destination. That many take seconds.
const MOST_ROUTES: u64 = 50_000_000;

impl Scenario {
    /// Returns the routes of a run. `table` has the shortest paths over all links.
    pub(super) fn routes(
        &self,
        table: RouteTable,
        edges: &[Edge],
        links: &[LinkDirection],
        seed: u64,
        errors: &mut Errors,
    ) -> Routes {
        let Routing::FollowLinks(FollowLinks { convergence, .. }) = self.routing else { return Routes::fixed(table) };
        if self.constellation.is_some() {
            let message = "\"follow_links\" applies to terrestrial links, and paths over a constellation always follow \
                           the links; remove it";
            errors.push("routing", message);
            return Routes::fixed(table);
        }
        let mut changes = Vec::new();
        for (link, direction) in (0..).map(LinkId).zip(links) {
            changes_of(link, direction, seed, Instant::ZERO + self.duration, &mut changes);
        }
        changes.sort();
        let times = changes.chunk_by(|a, b| a.at == b.at).count() as u64;
        let each = table.entries();
        if times.saturating_mul(each) > MOST_ROUTES {
            let message = format!(
                "links change at {times} times, and {each} routes depend on each change, more than {MOST_ROUTES} in \
                 total; make fewer links change, or use \"static\""
            );
            errors.push("routing", message);
            return Routes::fixed(table);
        }
        Routes::following(table, edges, &changes, convergence)
    }
}

/// Collects the times during a run when a link direction goes down, comes up or changes its delay.
fn changes_of(link: LinkId, direction: &LinkDirection, seed: u64, end: Instant, changes: &mut Vec<LinkChange>) {
    let Some(timetable) = direction.timetable(seed) else { return };
    let mut last = Some(direction.delay);
    for phase in timetable.phases().iter().take_while(|phase| phase.from < end) {
        let delay = phase.is_up.then_some(phase.delay);
        if delay != last {
            changes.push(LinkChange { at: phase.from, link, delay });
            last = delay;
        }
    }
}
