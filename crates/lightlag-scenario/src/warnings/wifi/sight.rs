//! Reach on a medium: the stations that each one reaches, at times in their order.

use super::wifi;
use crate::network::{Medium, WifiPlan};
use lightlag_core::Instant;
use lightlag_mobility::Vector;
use lightlag_net::{Medium as _, StationId};
use lightlag_wifi::Wifi;
use lightlag_wifi::rate::RateControl;
use std::collections::VecDeque;

/// The links of a medium at one time.
pub(super) struct Sight {
    /// Of each station those that reach it and that it reaches.
    neighbours: Vec<Vec<u32>>,
    /// Stations that reach each other over any number of hops have the same number.
    parts: Vec<u32>,
}

impl Sight {
    /// The state of the medium at this time.
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

    /// Tells of each station that can be reached from one, the nearest ones first, and from where it is reached.
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

    /// The stations of a shortest way, both ends included. Of several ways it starts at the neighbour with the lowest number,
    /// as static routes do.
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

    /// Whether there is a way.
    pub(super) fn joins(&self, from: u32, to: u32) -> bool {
        self.parts[from as usize] == self.parts[to as usize]
    }

    /// Whether one hop is enough.
    pub(super) fn is_hop(&self, from: u32, to: u32) -> bool {
        self.neighbours[from as usize].binary_search(&to).is_ok()
    }

    /// Share of the pairs that are joined.
    pub(super) fn joined_share(&self) -> f64 {
        let mut sizes = vec![0_u64; self.parts.len()];
        self.parts.iter().for_each(|part| sizes[*part as usize] += 1);
        let pairs = |size: u64| (size * size.saturating_sub(1)) as f64;
        sizes.into_iter().map(pairs).sum::<f64>() / pairs(self.parts.len() as u64)
    }

    /// Number of pairs that are one hop from each other.
    pub(super) fn hops(&self) -> usize {
        self.neighbours.iter().map(Vec::len).sum::<usize>() / 2
    }
}

/// The medium as runs with this seed have it, with all radios at their rates of broadcasts if it is asked for.
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

/// Where a station is.
pub(super) fn position(air: &mut Wifi<()>, station: u32, now: Instant) -> Vector {
    let [x, y, z] = air.position(StationId(station), now);
    Vector::new(x, y, z)
}

/// Mean distance of a station to the nearest other one.
pub(super) fn spacing(air: &mut Wifi<()>, stations: usize, now: Instant) -> f64 {
    let places: Vec<Vector> = (0..stations as u32).map(|station| position(air, station, now)).collect();
    let nearest = |at: usize| {
        let others = places.iter().enumerate().filter(|(other, _)| *other != at);
        others.map(|(_, place)| place.distance(places[at])).fold(f64::INFINITY, f64::min)
    };
    (0..stations).map(nearest).sum::<f64>() / stations as f64
}
