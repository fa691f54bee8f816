//! The ways through a sky, and when they change.
//!
//! For each *exit*, a station at which packets leave the sky, a tree leads there from all satellites and from the stations
//! that send to it. Trees are shortest paths, and stations pass nothing on unless they relay. They are looked at ten times a second. Where
//! the way of a pair of stations has changed since the last look, the time is narrowed down to a millisecond; entries
//! that no way uses change at the looks.
//!
//! A tree is made from the one before: distances along its old branches are an upper bound, one pass over all links finds where
//! they are not the shortest any more, and only those are repaired. The result is that of a new search, because the next
//! node follows from the distances alone: the ground before satellites, and the lowest number among equals.

mod selection;
mod tree;

pub use selection::{Highest, Hysteresis, Keep, Selection, Shortest};

use crate::sky::{LIGHT, Sky};
use lightlag_core::{Duration, Instant};
use lightlag_mobility::Vector;
use lightlag_net::setting::{Described, Setting};
use selection::Attachments;
use std::sync::Arc;
use tree::{Graph, NONE, Tree};

/// The length of a way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Metric {
    /// Metres, and so the time of light.
    #[default]
    Delay,
    /// The number of links, and among equals metres.
    Hops,
}

/// Rules by which ways are chosen.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rules {
    /// The length of a way.
    pub metric: Metric,
    /// The satellites that a station uses of those it sees.
    pub selection: Selection,
    /// The most satellites that a station uses at once, where it selects some.
    pub interfaces: u32,
    /// Time between two looks.
    pub interval: Duration,
    /// Whether a change is found to the millisecond, and not at the next look.
    pub exact: bool,
    /// The time by which a link between satellites counts as longer that was busy since the last look; one that was busy for a
    /// part of it counts as longer by this part. With zero the load does not matter.
    pub load_penalty: Duration,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            metric: Metric::Delay,
            selection: Selection::default(),
            interfaces: 1,
            interval: Duration::from_millis(100),
            exact: true,
            load_penalty: Duration::ZERO,
        }
    }
}

impl Described for Rules {
    const ABOUT: &'static str = "Rules by which ways through the sky are chosen.";

    fn settings() -> Vec<Setting<Self>> {
        const METRICS: [Metric; 2] = [Metric::Delay, Metric::Hops];
        vec![
            Setting::word(
                "shortest",
                "a measure of ways",
                &["delay", "hops"],
                |c: &Self| METRICS.iter().position(|metric| *metric == c.metric).unwrap_or_default(),
                |c, word| c.metric = METRICS[word],
            ),
            Setting::count("interfaces", |c: &mut Self| &mut c.interfaces, 64, "a number of satellites", ""),
            Setting::time("interval", |c: &mut Self| &mut c.interval),
            Setting::flag("exact", |c: &mut Self| &mut c.exact),
            Setting::time_or_zero("load_penalty", |c: &mut Self| &mut c.load_penalty),
        ]
    }
}

/// A node sends another way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// The node.
    pub node: u32,
    /// The number of the exit.
    pub exit: usize,
    /// The next node on the way to it, if there is a way.
    pub next: Option<u32>,
}

/// The ways to some exits, as time goes on.
#[derive(Clone, Debug)]
pub struct Planner {
    sky: Arc<Sky>,
    rules: Rules,
    /// The station of each exit.
    exits: Vec<u32>,
    /// Stations that send, receive or relay, in ascending order.
    active: Vec<u32>,
    /// Those that relay. In trees they follow the satellites.
    relays: Vec<u32>,
    /// The ways that are used: from a station to an exit.
    pairs: Vec<(u32, usize)>,
    until: Instant,
    /// Up to when nothing but what is pending changes.
    looked: Instant,
    pending: Option<Instant>,
    changes: Vec<Change>,
    graph: Graph,
    /// Of each link between satellites the part of the time since the last look in which it was busy, if that matters.
    loads: Vec<f64>,
    attachments: Attachments,
    /// By node and exit: the next node, now and at the time that was looked at last.
    table: Vec<u32>,
    fresh: Vec<u32>,
    view: View,
    trees: Vec<Tree>,
}

/// The sky at a time.
#[derive(Clone, Debug, Default)]
struct View {
    positions: Vec<Vector>,
    /// Of each link of the graph its length, millimetres; [`u64::MAX`] while it is down.
    lengths: Vec<u64>,
    /// Of each active station the satellites that it may use, with their distances in millimetres.
    usable: Vec<Vec<(u32, u64)>>,
}

/// A way costs this much for each link where links are counted: more millimetres than any way has.
const HOP: u64 = 1 << 44;

impl Planner {
    /// The ways at the start of a run. `pairs` are the stations that send, each with the station to which it does.
    pub fn new(sky: Arc<Sky>, pairs: &[(u32, u32)], rules: Rules, until: Instant) -> Self {
        let mut exits: Vec<u32> = pairs.iter().map(|(_, to)| *to).collect();
        exits.sort_unstable();
        exits.dedup();
        let relays: Vec<u32> = (0..).zip(sky.stations()).filter(|(_, of)| of.is_relay()).map(|(at, _)| at).collect();
        let mut active: Vec<u32> = pairs.iter().flat_map(|(from, to)| [*from, *to]).chain(relays.clone()).collect();
        active.sort_unstable();
        active.dedup();
        let exit_of = |station: u32| exits.binary_search(&station).unwrap_or_default();
        let mut used: Vec<(u32, usize)> = pairs.iter().map(|(from, to)| (*from, exit_of(*to))).collect();
        used.sort_unstable();
        used.dedup();
        let satellites = sky.satellites().len();
        let nodes = satellites + sky.stations().len();
        let mut planner = Self {
            rules,
            active,
            pairs: used,
            until,
            looked: Instant::ZERO,
            pending: None,
            changes: Vec::new(),
            graph: Graph::new(satellites, &ends_of(&sky)),
            loads: Vec::new(),
            attachments: Attachments::new(sky.stations().len()),
            table: vec![NONE; nodes * exits.len()],
            fresh: vec![NONE; nodes * exits.len()],
            view: View::default(),
            trees: vec![Tree::new(satellites + relays.len()); exits.len()],
            relays,
            exits,
            sky,
        };
        planner.look(Instant::ZERO);
        planner.table.clone_from(&planner.fresh);
        planner
    }

    /// The stations of the exits.
    pub fn exits(&self) -> &[u32] {
        &self.exits
    }

    /// The next node on the way from a node to an exit, now.
    pub fn next(&self, node: u32, exit: usize) -> Option<u32> {
        let next = self.table[node as usize * self.exits.len() + exit];
        (next != NONE).then_some(next)
    }

    /// The nodes on the way from a station to an exit now, both ends included; `None` if there is no way.
    pub fn way(&self, from: u32, exit: usize) -> Option<Vec<u32>> {
        let end = self.sky.node_of_station(self.exits[exit] as usize);
        let mut way = vec![self.sky.node_of_station(from as usize)];
        while let Some(last) = way.last().filter(|last| **last != end) {
            way.push(self.next(*last, exit)?);
        }
        Some(way)
    }

    /// The time of the next change, up to the end of the run.
    pub fn next_change(&mut self) -> Option<Instant> {
        if self.weighs_load() {
            // The load is known when the time has come.
            return Some(self.next_look()).filter(|next| *next <= self.until);
        }
        while self.pending.is_none() {
            let next = self.next_look();
            if next > self.until {
                return None;
            }
            self.look(next);
            if self.fresh != self.table {
                let at = if self.is_exact() && self.ways_change() { self.narrowed(next) } else { next };
                self.pending = Some(at);
                self.looked = at;
            } else {
                self.looked = next;
            }
        }
        self.pending
    }

    fn next_look(&self) -> Instant {
        let interval = self.rules.interval.as_nanos();
        Instant::from_nanos((self.looked.as_nanos() / interval + 1) * interval)
    }

    /// Whether the load of links matters.
    pub fn weighs_load(&self) -> bool {
        !self.rules.load_penalty.is_zero()
    }

    /// Notes for each link between satellites the part of the time since the last look in which it was busy.
    pub fn load(&mut self, loads: impl IntoIterator<Item = f64>) {
        self.loads.clear();
        self.loads.extend(loads);
    }

    /// Goes to the next change, and tells which entries change.
    pub fn advance(&mut self) -> &[Change] {
        self.changes.clear();
        if self.weighs_load() {
            self.looked = self.next_look();
            self.look(self.looked);
            self.pending = Some(self.looked);
        }
        if self.pending.take().is_some() {
            let many = self.exits.len();
            for (at, (old, new)) in self.table.iter_mut().zip(&self.fresh).enumerate().filter(|(_, (a, b))| a != b) {
                *old = *new;
                let next = (*new != NONE).then_some(*new);
                self.changes.push(Change { node: (at / many) as u32, exit: at % many, next });
            }
        }
        &self.changes
    }

    /// Whether changes are narrowed down. Stations that select satellites do so at looks.
    fn is_exact(&self) -> bool {
        self.rules.exact && self.rules.selection.takes_all()
    }

    /// The time, to the millisecond, from which on a way is another: not after `hi`, where one is. The tables are those of then.
    fn narrowed(&mut self, mut hi: Instant) -> Instant {
        const MILLI: u64 = 1_000_000;
        let mut lo = self.looked;
        let mut seen = hi;
        while hi.since(lo).as_nanos() > MILLI {
            let half = Duration::from_nanos((hi.since(lo).as_nanos() / 2).next_multiple_of(MILLI));
            let middle = lo + half;
            if middle >= hi {
                break;
            }
            self.look(middle);
            seen = middle;
            if self.ways_change() {
                hi = middle;
            } else {
                lo = middle;
            }
        }
        if seen != hi {
            self.look(hi);
        }
        hi
    }

    /// Whether a way that is used is another in the fresh table.
    fn ways_change(&self) -> bool {
        let many = self.exits.len();
        let differs = |(from, exit): &(u32, usize)| {
            let end = self.sky.node_of_station(self.exits[*exit] as usize);
            let mut node = self.sky.node_of_station(*from as usize);
            while node != end {
                let at = node as usize * many + exit;
                if self.table[at] != self.fresh[at] {
                    return true;
                }
                if self.table[at] == NONE {
                    return false;
                }
                node = self.table[at];
            }
            false
        };
        self.pairs.iter().any(differs)
    }

    /// Makes the fresh table of a time.
    fn look(&mut self, at: Instant) {
        self.see(at);
        let many = self.exits.len();
        let satellites = self.sky.satellites().len();
        let Self { view, trees, graph, fresh, exits, active, relays, sky, .. } = self;
        for (exit, station) in exits.iter().enumerate() {
            let place = active.binary_search(station).unwrap_or_default();
            let end = sky.node_of_station(*station as usize);
            let tree = &mut trees[exit];
            tree.update(graph, &view.lengths, &view.usable[place]);
            for (satellite, next) in tree.next().iter().enumerate() {
                // The rows of relays follow below, with those of other stations.
                if satellite < satellites {
                    fresh[satellite * many + exit] = match *next {
                        tree::GROUND => end,
                        tree::NONE => NONE,
                        next => match (next as usize).checked_sub(satellites) {
                            Some(relay) => sky.node_of_station(relays[relay] as usize),
                            None => next,
                        },
                    };
                }
            }
        }
        for (place, station) in active.iter().enumerate() {
            let row = (satellites + *station as usize) * many;
            for (exit, tree) in trees.iter().enumerate().filter(|(exit, _)| exits[*exit] != *station) {
                let ways = view.usable[place].iter().filter_map(|(satellite, length)| {
                    let rest = tree.distance(*satellite)?;
                    Some((length + rest, *satellite))
                });
                fresh[row + exit] = ways.min().map_or(NONE, |(_, satellite)| satellite);
            }
        }
    }

    /// Sees the sky at a time.
    fn see(&mut self, at: Instant) {
        let Self { view, sky, active, relays, rules, attachments, graph, loads, .. } = self;
        let View { positions, lengths, usable } = view;
        sky.positions(at, positions);
        let weight = |metres: f64| {
            let millimetres = libm::round(metres * 1e3) as u64;
            if rules.metric == Metric::Hops { HOP + millimetres } else { millimetres }
        };
        lengths.clear();
        lengths.extend(sky.isls().iter().map(|isl| {
            let [a, b] = isl.ends.map(|end| positions[end as usize]);
            if sky.isl_is_up(isl, a, b) { weight(a.distance(b)) } else { u64::MAX }
        }));
        let penalty = rules.load_penalty.as_secs_f64() * LIGHT * 1e3;
        for (length, load) in lengths.iter_mut().zip(loads) {
            *length = length.saturating_add(libm::round(penalty * *load) as u64);
        }
        usable.resize_with(active.len(), Vec::new);
        for (station, usable) in active.iter().zip(&mut *usable) {
            usable.clear();
            let ground = sky.stations()[*station as usize].stand(at);
            let sees = positions.iter().enumerate().filter(|(_, position)| ground.sees(**position));
            let here = ground.position();
            usable.extend(sees.map(|(satellite, position)| (satellite as u32, weight(position.distance(here)))));
            if relays.binary_search(station).is_err() {
                attachments.select(sky, *station, at, rules, positions, usable);
            }
        }
        if relays.is_empty() {
            return;
        }
        let mut ends = ends_of(sky);
        for (node, relay) in (positions.len() as u32..).zip(&*relays) {
            let place = active.binary_search(relay).unwrap_or_default();
            ends.extend(usable[place].iter().map(|(satellite, _)| [*satellite, node]));
            lengths.extend(usable[place].iter().map(|(_, length)| *length));
        }
        *graph = Graph::new(positions.len() + relays.len(), &ends);
    }
}

/// The ends of the links between satellites.
fn ends_of(sky: &Sky) -> Vec<[u32; 2]> {
    sky.isls().iter().map(|isl| isl.ends).collect()
}

#[cfg(test)]
mod tests;
