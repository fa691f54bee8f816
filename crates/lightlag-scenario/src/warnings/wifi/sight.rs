//! Connectivity of a medium: the stations that each station reaches, at several times in ascending order.

use super::wifi;
use crate::network::{Medium, WifiPlan};
use lightlag_core::Instant;
use lightlag_mobility::Vector;
use lightlag_net::{Medium as _, StationId};
use lightlag_wifi::Wifi;
use lightlag_wifi::rate::RateControl;
use std::collections::VecDeque;

/// The links of a medium at one time.
pub(super) struct LinkSnapshot {
    /// Neighbours of each station: the stations with which it can exchange frames in both directions.
    neighbours: Vec<Vec<u32>>,
    /// Component of each station: stations that reach each other over any number of hops have the same value.
    parts: Vec<u32>,
}

impl LinkSnapshot {
    /// Returns the state of the medium at this time.
    pub(super) fn at(air: &mut Wifi<()>, plan: &Medium, now: Instant) -> Self {
        let (stations, min_delivery) = (plan.members.len(), plan.routing.min_delivery());
        let mut reached = vec![Vec::new(); stations];
        for (station, reached) in (0..).zip(&mut reached) {
            air.neighbours(StationId(station), now, min_delivery, &mut |other| reached.push(other.0));
            reached.sort_unstable();
        }
        let both = |(station, to): (u32, &Vec<u32>)| {
            let answers = |other: &&u32| reached[**other as usize].binary_search(&station).is_ok();
            to.iter().filter(answers).copied().collect()
        };
        let neighbours: Vec<Vec<u32>> = (0..).zip(&reached).map(both).collect();
        let mut sight = Self { parts: vec![u32::MAX; stations], neighbours };
        for station in 0..stations as u32 {
            if sight.parts[station as usize] == u32::MAX {
                sight.search(station, |sight, reached, _| sight.parts[reached as usize] = station);
            }
        }
        sight
    }

    /// Calls `tell` for each station that is reachable from `from`, nearest first, with the previous station on the
    /// path.
    fn search(&mut self, from: u32, mut tell: impl FnMut(&mut Self, u32, u32)) {
        let mut known = vec![false; self.neighbours.len()];
        let mut queue = VecDeque::from([from]);
        known[from as usize] = true;
        tell(self, from, from);
        while let Some(station) = queue.pop_front() {
            for place in 0..self.neighbours[station as usize].len() {
                let next = self.neighbours[station as usize][place];
                if !std::mem::replace(&mut known[next as usize], true) {
                    tell(self, next, station);
                    queue.push_back(next);
                }
            }
        }
    }

    /// Returns the stations on a shortest path, including both ends. Among several paths it takes the one whose first
    /// neighbour has the lowest index, as static routes do.
    pub(super) fn way(&mut self, from: u32, to: u32) -> Option<Vec<u32>> {
        let mut before = vec![None; self.neighbours.len()];
        self.search(from, |_, station, reached_from| before[station as usize] = Some(reached_from));
        let mut way = vec![to];
        while let Some(station) = way.last().copied().filter(|station| *station != from) {
            way.push(before[station as usize]?);
        }
        way.reverse();
        Some(way)
    }

    /// Returns true if there is a path between the stations.
    pub(super) fn joins(&self, from: u32, to: u32) -> bool {
        self.parts[from as usize] == self.parts[to as usize]
    }

    /// Returns true if the stations are neighbours.
    pub(super) fn is_hop(&self, from: u32, to: u32) -> bool {
        self.neighbours[from as usize].binary_search(&to).is_ok()
    }

    /// Returns the fraction of pairs of stations between which there is a path.
    pub(super) fn joined_share(&self) -> f64 {
        let mut sizes = vec![0_u64; self.parts.len()];
        self.parts.iter().for_each(|part| sizes[*part as usize] += 1);
        let pairs = |size: u64| (size * size.saturating_sub(1)) as f64;
        sizes.into_iter().map(pairs).sum::<f64>() / pairs(self.parts.len() as u64)
    }

    /// Returns the number of pairs of stations that are neighbours.
    pub(super) fn hops(&self) -> usize {
        self.neighbours.iter().map(Vec::len).sum::<usize>() / 2
    }
}

/// Returns the medium as it is in runs with this seed. With `as_broadcasts`, all radios use their broadcast rates.
pub(super) fn air(plan: &Medium, seed: u64, as_broadcasts: bool) -> Wifi<()> {
    let WifiPlan { config, stations } = wifi(plan);
    let stations = stations.iter().cloned().map(|mut station| {
        if as_broadcasts {
            station.radio.rate.clone_from(&station.radio.broadcast_rate);
            station.radio.rate_control = RateControl::default();
        }
        station
    });
    Wifi::new(config, stations.collect(), seed, &plan.name)
}

/// Returns the position of a station.
pub(super) fn position(air: &mut Wifi<()>, station: u32, now: Instant) -> Vector {
    let [x, y, z] = air.position(StationId(station), now);
    Vector::new(x, y, z)
}

/// Returns the mean distance from a station to its nearest neighbour in metres.
pub(super) fn spacing(air: &mut Wifi<()>, stations: usize, now: Instant) -> f64 {
    let places: Vec<Vector> = (0..stations as u32).map(|station| position(air, station, now)).collect();
    let nearest = |at: usize| {
        let others = places.iter().enumerate().filter(|(other, _)| *other != at);
        others.map(|(_, place)| place.distance(places[at])).fold(f64::INFINITY, f64::min)
    };
    (0..stations).map(nearest).sum::<f64>() / stations as f64
}
