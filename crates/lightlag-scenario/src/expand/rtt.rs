//! The round-trip time of a path as a quantity that can be set, by changing the delay of a link.

use crate::network::Network;
use crate::read::{Errors, ScenarioError};
use crate::spec::{Scenario, Topology};
use lightlag_core::Duration;
use lightlag_net::LinkId;
use std::collections::BTreeMap;

/// A table in the file that sets the delay of links on the paths of flows.
struct DelayTable {
    /// Number of times that the delay counts in one direction, forward or return.
    times: u64,
    /// Total contribution of this delay to the round-trip time.
    delay: Duration,
    /// Whether both directions have the same delay.
    is_even: bool,
    /// Whether the delay changes during a run.
    changes: bool,
}

impl Scenario {
    /// Returns the changes, as keys and values, that give every flow this round-trip time: propagation in both
    /// directions, without queues and transmission. Changes the maximum delay on the path, to the same value in both
    /// directions; other delays are unchanged.
    ///
    /// # Errors
    /// If the scenario cannot be run, if flows have paths of different lengths, if the delay to set changes during a
    /// run or follows from an orbit of a topology, or if the other links alone exceed the round-trip time.
    pub fn changes_for_rtt(&self, rtt: Duration) -> Result<Vec<(String, String)>, Vec<ScenarioError>> {
        let network = self.expand()?;
        let mut errors = Errors::default();
        let change = self.change_for_rtt(&network, rtt).map_err(|message| errors.push("rtt", message)).ok();
        errors.or(change.map(|change| vec![change]))
    }

    fn change_for_rtt(&self, network: &Network, rtt: Duration) -> Result<(String, String), String> {
        let mut ways: BTreeMap<(u32, u32), Duration> = BTreeMap::new();
        for flow in &network.flows {
            ways.entry((flow.from.0, flow.to.0))
                .or_insert_with(|| round_trip(&way(network, flow.from, flow.to), network));
        }
        let shortest = ways.iter().min_by_key(|(_, rtt)| **rtt).ok_or("there is no flow")?;
        let longest = ways.iter().max_by_key(|(_, rtt)| **rtt).ok_or("there is no flow")?;
        if shortest.1 != longest.1 {
            let name =
                |way: &(u32, u32)| format!("{}->{}", network.nodes[way.0 as usize], network.nodes[way.1 as usize]);
            return Err(format!(
                "flows have paths of different lengths, {} {} and {} {}, so no single round trip can be set; vary the \
                 delay of a link",
                name(shortest.0),
                shortest.1,
                name(longest.0),
                longest.1
            ));
        }
        let mut change: Option<(String, Duration)> = None;
        for (from, to) in ways.keys() {
            let links = way(network, lightlag_net::NodeId(*from), lightlag_net::NodeId(*to));
            let (table, delay) = self.delay_for(&links, network, rtt)?;
            match &change {
                Some((other, same)) if *other != table || *same != delay => {
                    return Err(format!(
                        "the link with the maximum delay is {table} for one flow and {other} for another; vary the \
                         delay of one of them"
                    ));
                }
                _ => change = Some((table, delay)),
            }
        }
        let (table, delay) = change.ok_or("there is no flow")?;
        Ok((format!("{}.delay", dotted(&table)), format!("{} ns", delay.as_nanos())))
    }

    /// Returns the path of the table whose delay must be set, and the delay.
    fn delay_for(&self, links: &[LinkId], network: &Network, rtt: Duration) -> Result<(String, Duration), String> {
        let mut tables: BTreeMap<String, DelayTable> = BTreeMap::new();
        for link in links {
            let direction = &network.links[link.0 as usize];
            let other = &network.links[(link.0 ^ 1) as usize];
            let table = self.table_of(link.0 as usize / 2);
            let entry = tables.entry(table).or_insert(DelayTable {
                times: 0,
                delay: Duration::ZERO,
                is_even: true,
                changes: false,
            });
            entry.times += 1;
            entry.delay += direction.delay;
            entry.is_even &= direction.delay == other.delay;
            entry.changes |= direction.timetable.as_ref().is_some_and(|timetable| !timetable.keeps_delay());
        }
        let (name, longest) = tables.iter().max_by_key(|(_, table)| table.delay).ok_or("a flow has no path")?;
        let rest = tables.values().fold(Duration::ZERO, |sum, table| sum + table.delay).saturating_sub(longest.delay);
        if matches!(self.topology, Some(Topology::Satellite(_))) && name.starts_with("topology") {
            return Err(format!(
                "the delay of {name} follows from the orbit; vary topology.orbit or topology.elevation"
            ));
        }
        if longest.changes {
            return Err(format!(
                "the delay of {name} changes during the run; vary {name}.delay and its changes by hand"
            ));
        }
        if !longest.is_even {
            return Err(format!(
                "the directions of {name} have different delays; vary {name}.delay.forward or backward"
            ));
        }
        if rest > rtt {
            return Err(format!("{rtt} is less than the {rest} of the links other than {name}; use a longer one"));
        }
        let nanos = (rtt.saturating_sub(rest)).as_nanos() / longest.times;
        Ok((name.clone(), Duration::from_nanos(nanos)))
    }
}

/// Returns the links of the forward path, followed by the links of the return path.
fn way(network: &Network, from: lightlag_net::NodeId, to: lightlag_net::NodeId) -> Vec<LinkId> {
    let path = |from, to| network.routes.at_start().path(from, to).unwrap_or_default();
    path(from, to).into_iter().chain(path(to, from)).collect()
}

fn round_trip(links: &[LinkId], network: &Network) -> Duration {
    links.iter().fold(Duration::ZERO, |sum, link| sum + network.links[link.0 as usize].delay)
}

/// Converts a path such as `links[1]` to a dotted key, `links.1`.
fn dotted(table: &str) -> String {
    table.replace('[', ".").replace(']', "")
}
