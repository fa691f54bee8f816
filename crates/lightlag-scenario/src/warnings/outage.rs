//! Warnings of outages without an end, and of the flows that they stop.

use super::{Found, Kind, Warning, seconds};
use crate::expand::ConnectionPath;
use crate::network::{Flow, LinkDirection, Network};
use crate::spec::{LinkTrace, Scenario};
use lightlag_core::Instant;
use std::collections::{BTreeMap, BTreeSet};

impl Scenario {
    /// Warns of finite flows that must cross a link which goes down during the run and does not come up again.
    pub(super) fn outages(&self, network: &Network, ways: &[Option<ConnectionPath>], findings: &mut Found) {
        let end = Instant::ZERO + self.duration;
        let mut down: BTreeMap<usize, (Instant, usize)> = BTreeMap::new();
        for (direction, link) in network.links.iter().enumerate() {
            if let Some(from) = last_outage(link).filter(|from| *from < end) {
                let first = down.entry(direction / 2).or_insert((from, direction));
                *first = (from, direction).min(*first);
            }
        }
        if down.is_empty() {
            return;
        }
        let mut stopped: BTreeMap<usize, (Warning, u64)> = BTreeMap::new();
        for (flow, way) in network.flows.iter().zip(ways) {
            let (Some(way), Some(transfer)) = (way, flow.transfer) else { continue };
            let earliest = flow.start + way.rate.time_to_send(transfer) + way.round_trip;
            for link in crossed(network, flow) {
                let Some((from, direction)) = down.get(&link) else { continue };
                let warning = || (self.outage(network, *direction, *from, flow, earliest), 0);
                stopped.entry(link).and_modify(|(_, more)| *more += 1).or_insert_with(warning);
            }
        }
        findings.warnings.extend(stopped.into_values());
    }

    fn outage(&self, network: &Network, direction: usize, from: Instant, flow: &Flow, earliest: Instant) -> Warning {
        let name = &network.links[direction].name;
        let key = match self.line_of(direction / 2) {
            Some((_, line))
                if line.forward.trace != LinkTrace::default() || line.backward.trace != LinkTrace::default() =>
            {
                "trace"
            }
            _ => "changes",
        };
        let chance = if earliest > from {
            format!("it cannot finish before, at {} at the earliest", seconds(earliest.since(Instant::ZERO)))
        } else {
            "if it has not finished by then it never will".to_owned()
        };
        let message = format!(
            "the outage of {name} that starts at {} never ends, and {} of {} must cross it: {chance}; end the outage \
             with down = false, or give the flow another path",
            seconds(from.since(Instant::ZERO)),
            flow.name,
            flow.transfer.unwrap_or_default()
        );
        Warning { kind: Kind::EndlessOutage, path: format!("{}.{key}", self.table_of(direction / 2)), message }
    }
}

/// Returns the start of the outage that never ends, if there is one.
fn last_outage(link: &LinkDirection) -> Option<Instant> {
    let phases = link.timetable.as_ref()?.phases();
    let up = phases.iter().rposition(|phase| phase.is_up);
    phases.get(up.map_or(0, |up| up + 1)).map(|phase| phase.from)
}

/// Returns the indices of the links that a flow's data and ACKs cross.
pub(super) fn crossed(network: &Network, flow: &Flow) -> BTreeSet<usize> {
    let way = |from, to| network.routes.at_start().path(from, to).unwrap_or_default();
    way(flow.from, flow.to).into_iter().chain(way(flow.to, flow.from)).map(|link| link.0 as usize / 2).collect()
}
