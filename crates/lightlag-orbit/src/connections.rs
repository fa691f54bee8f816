//! The pairs of stations that have a path to each other at a moment, over any number of satellites and of stations that relay.

use crate::sky::Sky;
use lightlag_core::Instant;
use std::collections::BTreeSet;

/// The parts of a constellation that hang together at a moment.
#[derive(Clone, Debug)]
pub struct Connections {
    /// For each station, the parts that it sees or is in.
    parts: Vec<BTreeSet<u32>>,
}

impl Connections {
    /// Whether two stations have a path to each other.
    pub fn joins(&self, a: usize, b: usize) -> bool {
        !self.parts[a].is_disjoint(&self.parts[b])
    }
}

impl Sky {
    /// The connections at a time.
    pub fn connections(&self, at: Instant) -> Connections {
        let mut positions = Vec::new();
        self.positions(at, &mut positions);
        let satellites = positions.len();
        let mut parts = Parts((0..(satellites + self.stations().len()) as u32).collect());
        for isl in self.isls() {
            let [a, b] = isl.ends.map(|end| positions[end as usize]);
            if self.isl_is_up(isl, a, b) {
                parts.join(isl.ends);
            }
        }
        let stands: Vec<_> = self.stations().iter().map(|station| station.stand(at)).collect();
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

/// A forest of nodes: those with one root are a part.
struct Parts(Vec<u32>);

impl Parts {
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
