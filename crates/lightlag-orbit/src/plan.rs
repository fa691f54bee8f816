//! The ways through a sky, and when they change.
//!
//! For each *exit*, a station at which packets leave the sky, a tree leads there from all satellites and from the stations
//! that send to it. Trees are shortest paths, and stations pass nothing on. They are looked at ten times a second. Where
//! the way of a pair of stations has changed since the last look, the time is narrowed down to a millisecond; entries
//! that no way uses change at the looks.
//!
//! A tree is made from the one before: distances along its old branches are an upper bound, one pass over all links finds where
//! they are not the shortest any more, and only those are repaired. The result is that of a new search, because the next
//! node follows from the distances alone: the ground before satellites, and the lowest number among equals.

mod selection;
mod tree;

pub use selection::{Highest, Hysteresis, Keep, Selection, Shortest};

use crate::sky::Sky;
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
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            metric: Metric::Delay,
            selection: Selection::default(),
            interfaces: 1,
            interval: Duration::from_millis(100),
            exact: true,
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
    /// Stations that send or receive, in ascending order.
    active: Vec<u32>,
    /// The ways that are used: from a station to an exit.
    pairs: Vec<(u32, usize)>,
    until: Instant,
    /// Up to when nothing but what is pending changes.
    looked: Instant,
    pending: Option<Instant>,
    changes: Vec<Change>,
    graph: Graph,
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
    /// Of each link between satellites its length, millimetres; [`u64::MAX`] while it is down.
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
        let mut active: Vec<u32> = pairs.iter().flat_map(|(from, to)| [*from, *to]).collect();
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
            graph: Graph::new(satellites, sky.isls()),
            attachments: Attachments::new(sky.stations().len()),
            table: vec![NONE; nodes * exits.len()],
            fresh: vec![NONE; nodes * exits.len()],
            view: View::default(),
            trees: vec![Tree::new(satellites); exits.len()],
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
        while self.pending.is_none() {
            let interval = self.rules.interval.as_nanos();
            let next = Instant::from_nanos((self.looked.as_nanos() / interval + 1) * interval);
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

    /// Goes to the next change, and tells which entries change.
    pub fn advance(&mut self) -> &[Change] {
        self.changes.clear();
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
        let Self { view, trees, graph, fresh, exits, active, sky, .. } = self;
        for (exit, station) in exits.iter().enumerate() {
            let place = active.binary_search(station).unwrap_or_default();
            let end = sky.node_of_station(*station as usize);
            let tree = &mut trees[exit];
            tree.update(graph, &view.lengths, &view.usable[place]);
            for (satellite, next) in tree.next().iter().enumerate() {
                fresh[satellite * many + exit] = match *next {
                    tree::GROUND => end,
                    next => next,
                };
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
        let Self { view, sky, active, rules, attachments, .. } = self;
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
        usable.resize_with(active.len(), Vec::new);
        for (station, usable) in active.iter().zip(usable) {
            usable.clear();
            let ground = &sky.stations()[*station as usize];
            let sees = positions.iter().enumerate().filter(|(_, position)| ground.sees(**position));
            let here = ground.site().position();
            usable.extend(sees.map(|(satellite, position)| (satellite as u32, weight(position.distance(here)))));
            attachments.select(sky, *station, at, rules, positions, usable);
        }
    }
}

#[cfg(test)]
mod tests;
