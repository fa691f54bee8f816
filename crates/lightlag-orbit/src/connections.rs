//! The pairs of stations that have a path to each other at a given time, over any number of satellites and relay
//! stations.

use crate::sky::Sky;
use lightlag_core::Instant;
use std::collections::BTreeSet;

/// The connected components of a constellation at a given time.
#[derive(Clone, Debug)]
pub struct Connections {
    /// For each station, the components of its visible satellites.
    parts: Vec<BTreeSet<u32>>,
}

impl Connections {
    /// Returns true if there is a path between the two stations.
    pub fn joins(&self, a: usize, b: usize) -> bool {
        !self.parts[a].is_disjoint(&self.parts[b])
    }
}

impl Sky {
    /// Returns which stations are connected at a given time.
    pub fn connections(&self, time: Instant) -> Connections {
        let mut positions = Vec::new();
        self.positions(time, &mut positions);
        let satellites = positions.len();
        let mut parts = Components((0..(satellites + self.stations().len()) as u32).collect());
        for isl in self.isls() {
            let [a, b] = isl.ends.map(|end| positions[end as usize]);
            if self.isl_is_up(isl, a, b) {
                parts.join(isl.ends);
            }
        }
        let stands: Vec<_> = self.stations().iter().map(|station| station.stand(time)).collect();
        let seen = |station: usize| {
            let stand = &stands[station];
            (0..satellites as u32).filter(|satellite| stand.sees(positions[*satellite as usize])).collect::<Vec<_>>()
        };
        let seen: Vec<Vec<u32>> = (0..stands.len()).map(seen).collect();
        for (station, seen) in seen.iter().enumerate().filter(|(station, _)| self.stations()[*station].is_relay()) {
            for satellite in seen {
                parts.join([(satellites + station) as u32, *satellite]);
            }
        }
        let parts = seen.iter().map(|seen| seen.iter().map(|satellite| parts.of(*satellite)).collect()).collect();
        Connections { parts }
    }
}

/// A union-find forest: nodes with the same root are in the same component.
struct Components(Vec<u32>);

impl Components {
    fn of(&mut self, node: u32) -> u32 {
        let mut node = node;
        while self.0[node as usize] != node {
            let above = self.0[self.0[node as usize] as usize];
            self.0[node as usize] = above;
            node = above;
        }
        node
    }

    fn join(&mut self, ends: [u32; 2]) {
        let [a, b] = ends.map(|end| self.of(end));
        self.0[a.max(b) as usize] = a.min(b);
    }
}
