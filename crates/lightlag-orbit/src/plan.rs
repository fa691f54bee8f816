//! Paths through a constellation, and their changes.
//!
//! An *exit* is a station where packets leave the constellation. Each exit has a tree of shortest paths, which leads to
//! it from all satellites and from the stations that send to it. Stations forward packets only if they are relays. The
//! trees are computed at regular samples. If the path between a pair of stations has changed since the last sample, the
//! time of the change is narrowed down to a millisecond. Routing entries that no path uses change only at samples.
//!
//! A tree is derived from the previous one. The distances along its old branches are upper bounds; one pass over all
//! links finds the distances that are no longer the shortest, and only these are repaired. A new search would give the
//! same result, because the distances alone determine the next hop: among equal distances, the ground takes precedence
//! over satellites, and then the lowest index.
//!
//! A custom router may choose the paths instead; it is called at each sample.

pub mod custom;
mod ephemeris;
mod selection;
mod tree;

pub use selection::{Highest, Hysteresis, Keep, Selection, Shortest};

use crate::grid::square_of_sure_sight;
use crate::sky::{LIGHT, Sky};
use custom::{Choosing, Fault};
use ephemeris::Ephemeris;
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Instant, words};
use lightlag_mobility::Vector;
use selection::Attachments;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
pub use tree::MOST_NODES;
use tree::{Crooked, Graph, NONE, NodeIndex, PathLength, Tree};

words! {
    /// The metric that determines the length of a path.
    pub enum Metric {
        /// By distance, and thus by propagation delay.
        Delay = "delay",
        /// By number of links, and by distance if these numbers are equal.
        Hops = "hops",
    }
}

/// The rules by which paths are selected.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PathRules {
    /// The metric that determines the length of a path.
    pub metric: Metric,
    /// Selection of the satellites that a station uses among the visible ones.
    pub selection: Selection,
    /// Maximum number of satellites that a station uses at the same time, if it does not use all visible ones.
    pub interfaces: u32,
    /// Interval between two computations of the geometry.
    pub interval: Duration,
    /// Whether the time of a path change is determined to the millisecond, instead of at the next computation.
    pub exact: bool,
    /// Penalty for busy links between satellites: this time, multiplied by the fraction of time for which the link was
    /// busy since the last computation, is added to the link's delay. With zero the load has no effect.
    pub load_penalty: Duration,
}

impl Default for PathRules {
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

/// Maximum load penalty; a longer one would overflow the path lengths.
const MOST_PENALTY: Duration = Duration::from_millis(50);

impl Described for PathRules {
    const ABOUT: &'static str = "Rules that select the paths over a constellation.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::choice("shortest", |c: &mut Self| &mut c.metric, "a metric of paths")
                .about("Metric of the shortest path: its delay, or its number of links."),
            Setting::count("interfaces", |c: &mut Self| &mut c.interfaces, 64, "a number of satellites", "")
                .about("Maximum number of satellites that a station uses simultaneously, where it selects some."),
            Setting::time("interval", |c: &mut Self| &mut c.interval)
                .about("Time between two computations of the geometry."),
            Setting::flag("exact", |c: &mut Self| &mut c.exact)
                .about("Whether a change of a path is found to the millisecond, instead of at the next computation."),
            Setting::time_or_zero("load_penalty", |c: &mut Self| &mut c.load_penalty)
                .about(
                    "Time that is added to the delay of a link between satellites that was busy since the last \
                     computation, in proportion to its busy time. With zero the load has no effect.",
                )
                .checked(|c| {
                    (c.load_penalty > MOST_PENALTY).then_some("is above 50 ms; a busy link would never be used")
                }),
        ]
    }
}

/// A change of a node's next hop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// The node whose next hop changes.
    pub node: u32,
    /// Index of the exit.
    pub exit: usize,
    /// The new next hop towards the exit; `None` if there is no path.
    pub next: Option<u32>,
}

/// Computes the paths to some exits over time.
#[derive(Debug)]
pub struct Planner {
    sky: Arc<Sky>,
    rules: PathRules,
    units: Units,
    exits: Vec<Exit>,
    /// Stations that send, receive or relay, in ascending order.
    active: Vec<u32>,
    /// The active stations that are relays. In trees they are numbered after the satellites.
    relays: Vec<u32>,
    until: Instant,
    /// End of the time span whose changes have been computed.
    looked: Instant,
    /// Changes that are computed but still in the future, ordered by time.
    ahead: VecDeque<TableChange>,
    changes: Vec<Change>,
    graph: Graph,
    /// Fraction of the time since the last sample for which each link between satellites was busy; empty if it is not
    /// used.
    loads: Vec<f64>,
    attachments: Attachments,
    view: View,
    /// Buffer for the computation of a tree.
    straight: Vec<PathLength>,
    ephemeris: Ephemeris,
    /// The custom router that chooses the paths, if there is one.
    choosing: Option<Choosing>,
}

/// A station where packets leave the constellation.
#[derive(Clone, Debug)]
struct Exit {
    station: u32,
    /// The stations that send to this exit, and the relays, as indices into the active stations.
    senders: Vec<usize>,
    /// The stations whose paths to this exit are in use.
    used: Vec<u32>,
    /// The current next hop of each node.
    table: Vec<NodeIndex>,
    tree: Tree,
    /// Whether the tree agrees with the table.
    is_settled: bool,
}

/// A change in the table of an exit.
#[derive(Clone, Debug)]
struct TableChange {
    at: Instant,
    exit: usize,
    entries: Vec<NextHopEntry>,
}

/// A node and its new next hop.
type NextHopEntry = (NodeIndex, NodeIndex);

/// Returns the entries of a table that differ from the previous table.
fn differences(before: &[NodeIndex], after: &[NodeIndex]) -> Vec<NextHopEntry> {
    let pairs = (0..).zip(before.iter().zip(after));
    pairs.filter(|(_, (old, new))| old != new).map(|(node, (_, new))| (node, *new)).collect()
}

/// The state of the constellation at a given time.
#[derive(Clone, Debug, Default)]
struct View {
    positions: Vec<Vector>,
    /// Length of each link of the graph; [`PathLength::MAX`] while the link is down.
    lengths: Vec<PathLength>,
    /// For each active station, the satellites that it may use, with their distances.
    usable: Vec<Vec<(u32, PathLength)>>,
}

/// Longest path that the length units can hold, as a multiple of the greatest distance of a satellite from the centre
/// of the Earth. It is enough for four hops up to and down from geostationary satellites.
const LONGEST: f64 = 8.0;
/// Length units per metre, unless paths are longer than 69,000 km. A unit is 16 mm.
const UNITS_A_METRE: f64 = 62.5;
/// Length of a link in units if links are counted. It leaves space for 63 links, the limit with a TTL of 64, and for
/// the distance, in units of a metre, or more above a height of 2,000 km.
const HOP: PathLength = 1 << 26;

/// The units of path lengths. Lengths are whole numbers, so their sums do not depend on the order of addition.
#[derive(Clone, Copy, Debug)]
struct Units {
    of_link: PathLength,
    of_metre: f64,
}

impl Units {
    fn new(metric: Metric, sky: &Sky) -> Self {
        let longest = LONGEST * sky.apogee();
        match metric {
            Metric::Delay => Self { of_link: 0, of_metre: UNITS_A_METRE.min(f64::from(PathLength::MAX) / longest) },
            Metric::Hops => Self { of_link: HOP, of_metre: f64::min(1.0, f64::from(HOP) / longest) },
        }
    }

    /// Returns the length of a link in units.
    fn length(self, metres: f64) -> PathLength {
        self.of_link.saturating_add(whole(metres * self.of_metre))
    }

    /// Returns the length of a detour in units.
    fn detour(self, metres: f64) -> PathLength {
        whole(metres * self.of_metre)
    }
}

/// Rounds to the nearest whole number.
fn whole(units: f64) -> PathLength {
    (units + 0.5) as PathLength
}

impl Planner {
    /// Creates a planner with the paths at the start of a run. `pairs` contains pairs of a sending and a receiving
    /// station.
    ///
    /// # Panics
    /// If the constellation has more than [`MOST_NODES`].
    pub fn new(sky: Arc<Sky>, pairs: &[(u32, u32)], rules: PathRules, until: Instant) -> Self {
        Self::with(sky, pairs, rules, until, None)
    }

    /// Like [`Self::new`], but a custom router, if given, chooses the paths. Stations then do not relay.
    ///
    /// # Panics
    /// See [`Self::new`].
    pub fn with(
        sky: Arc<Sky>,
        pairs: &[(u32, u32)],
        rules: PathRules,
        until: Instant,
        router: Option<(&'static str, Box<dyn custom::PathChooser>)>,
    ) -> Self {
        let relays: Vec<u32> = (0..).zip(sky.stations()).filter(|(_, of)| of.is_relay()).map(|(at, _)| at).collect();
        let mut active: Vec<u32> = pairs.iter().flat_map(|(from, to)| [*from, *to]).chain(relays.clone()).collect();
        active.sort_unstable();
        active.dedup();
        let satellites = sky.satellites().len();
        let nodes = satellites + sky.stations().len();
        assert!(nodes <= MOST_NODES, "a table holds the indices of {MOST_NODES} nodes");
        let receivers: BTreeSet<u32> = pairs.iter().map(|(_, to)| *to).collect();
        let exit = |station: u32| {
            let used: BTreeSet<u32> = pairs.iter().filter(|(_, to)| *to == station).map(|(from, _)| *from).collect();
            let senders: BTreeSet<u32> = used.iter().chain(&relays).copied().filter(|from| *from != station).collect();
            let index_of = |station: u32| active.binary_search(&station).unwrap_or_default();
            Exit {
                station,
                senders: senders.into_iter().map(index_of).collect(),
                used: used.into_iter().collect(),
                table: vec![NONE; nodes],
                tree: Tree::new(satellites + relays.len()),
                is_settled: false,
            }
        };
        let mut planner = Self {
            units: Units::new(rules.metric, &sky),
            rules,
            exits: receivers.into_iter().map(exit).collect(),
            active,
            until,
            looked: Instant::ZERO,
            ahead: VecDeque::new(),
            changes: Vec::new(),
            graph: Graph::new(satellites, &ends_of(&sky)),
            loads: Vec::new(),
            attachments: Attachments::new(sky.stations().len()),
            view: View::default(),
            straight: Vec::new(),
            ephemeris: Ephemeris::default(),
            choosing: router.map(|(name, router)| Choosing { name, router, fault: None }),
            relays,
            sky,
        };
        planner.see(Instant::ZERO, None);
        for exit in 0..planner.exits.len() {
            planner.grow(exit);
            planner.exits[exit].table = planner.table(exit);
        }
        planner
    }

    /// Returns the number of exits.
    pub fn exits(&self) -> usize {
        self.exits.len()
    }

    /// Returns the index of an exit's station.
    pub fn station(&self, exit: usize) -> u32 {
        self.exits[exit].station
    }

    /// Returns the current next hop from a node to an exit.
    pub fn next(&self, node: u32, exit: usize) -> Option<u32> {
        let next = self.exits[exit].table[node as usize];
        (next != NONE).then_some(u32::from(next))
    }

    /// Returns the current path from a station to an exit, endpoints included; `None` if there is no path.
    pub fn way(&self, from: u32, exit: usize) -> Option<Vec<u32>> {
        let end = self.sky.node_of_station(self.exits[exit].station as usize);
        let mut way = vec![self.sky.node_of_station(from as usize)];
        while let Some(last) = way.last().filter(|last| **last != end) {
            way.push(self.next(*last, exit)?);
        }
        Some(way)
    }

    /// Returns the time of the next change, up to the end of the run.
    pub fn next_change(&mut self) -> Option<Instant> {
        if self.weighs_load() {
            // The load is known when the time has come.
            return Some(self.next_look()).filter(|next| *next <= self.until);
        }
        while self.ahead.is_empty() {
            let next = self.next_look();
            if next > self.until {
                return None;
            }
            self.look_ahead(next);
        }
        self.ahead.front().map(|turn| turn.at)
    }

    fn next_look(&self) -> Instant {
        let interval = self.rules.interval.as_nanos();
        Instant::from_nanos((self.looked.as_nanos() / interval + 1) * interval)
    }

    /// Returns true if the planner needs the loads of links, because of the load penalty or a custom router.
    pub fn weighs_load(&self) -> bool {
        !self.rules.load_penalty.is_zero() || self.choosing.is_some()
    }

    /// Returns the failure of the custom router, if it has failed. The last paths that it chose then remain in use.
    pub fn fault(&self) -> Option<&Fault> {
        self.choosing.as_ref()?.fault.as_deref()
    }

    /// Sets the load of each link between satellites: the fraction of the time since the last sample for which it was
    /// busy.
    pub fn load(&mut self, loads: impl IntoIterator<Item = f64>) {
        self.loads.clear();
        self.loads.extend(loads);
    }

    /// Advances to the next change, and returns the next hops that change.
    pub fn advance(&mut self) -> &[Change] {
        self.changes.clear();
        if self.weighs_load() {
            self.look_ahead(self.next_look());
        }
        let Some(now) = self.ahead.front().map(|turn| turn.at) else { return &self.changes };
        while self.ahead.front().is_some_and(|turn| turn.at == now)
            && let Some(TableChange { exit, entries, .. }) = self.ahead.pop_front()
        {
            for (node, next) in entries {
                self.exits[exit].table[node as usize] = next;
                let next = (next != NONE).then_some(u32::from(next));
                self.changes.push(Change { node: u32::from(node), exit, next });
            }
        }
        &self.changes
    }

    /// Returns true if the times of changes are narrowed down. This is not possible if stations select satellites or if
    /// loads are used, because both are only updated at samples.
    fn is_exact(&self) -> bool {
        self.rules.exact && self.rules.selection.takes_all() && !self.weighs_load()
    }

    /// Finds the changes up to the next sample, at `until`.
    fn look_ahead(&mut self, until: Instant) {
        let from = std::mem::replace(&mut self.looked, until);
        self.see(until, None);
        let mut differing = Vec::new();
        for exit in 0..self.exits.len() {
            let tree_changes = self.grow(exit);
            if !tree_changes && self.exits[exit].is_settled && self.entries_hold(exit) {
                continue;
            }
            let entries = differences(&self.exits[exit].table, &self.table(exit));
            self.exits[exit].is_settled = entries.is_empty();
            if !entries.is_empty() {
                differing.push((exit, entries));
            }
        }
        for (exit, entries) in differing {
            if !self.is_exact() {
                self.ahead.push_back(TableChange { at: until, exit, entries });
                continue;
            }
            let mut table = self.exits[exit].table.clone();
            for (node, next) in entries {
                table[node as usize] = next;
            }
            self.narrow(exit, from, until, &table);
        }
        self.ahead.make_contiguous().sort_by_key(|turn| turn.at);
    }

    /// Finds the times, to the millisecond, when used paths to an exit change before `until`; `last` is the exit's
    /// table at `until`.
    fn narrow(&mut self, exit: usize, from: Instant, until: Instant, last: &[NodeIndex]) {
        const MILLI: u64 = 1_000_000;
        let mut before = self.exits[exit].table.clone();
        let mut from = from;
        while self.ways_differ(exit, &before, last) {
            let (mut lo, mut hi, mut changed) = (from, until, None);
            while hi.since(lo).as_nanos() > MILLI {
                let half = Duration::from_nanos((hi.since(lo).as_nanos() / 2).next_multiple_of(MILLI));
                let middle = lo + half;
                if middle >= hi {
                    break;
                }
                self.see(middle, Some(exit));
                self.grow(exit);
                let table = self.table(exit);
                if self.ways_differ(exit, &before, &table) {
                    (hi, changed) = (middle, Some(table));
                } else {
                    lo = middle;
                }
            }
            let Some(table) = changed else { break };
            self.ahead.push_back(TableChange { at: hi, exit, entries: differences(&before, &table) });
            (before, from) = (table, hi);
        }
        let entries = differences(&before, last);
        if !entries.is_empty() {
            self.ahead.push_back(TableChange { at: until, exit, entries });
        }
    }

    /// Returns true if a used path to an exit differs between the two tables.
    fn ways_differ(&self, exit: usize, one: &[NodeIndex], other: &[NodeIndex]) -> bool {
        let Exit { station, used, .. } = &self.exits[exit];
        let end = self.sky.node_of_station(*station as usize);
        let differs = |from: &u32| {
            let mut node = self.sky.node_of_station(*from as usize);
            while node != end {
                let index = node as usize;
                if one[index] != other[index] {
                    return true;
                }
                if one[index] == NONE {
                    return false;
                }
                node = u32::from(one[index]);
            }
            false
        };
        used.iter().any(differs)
    }

    /// Updates the tree of an exit to the state computed last. Returns false only if no next hop has changed.
    fn grow(&mut self, exit: usize) -> bool {
        if self.choosing.is_some() {
            return self.let_choose(exit);
        }
        let Self { view, exits, active, graph, straight, .. } = self;
        let Exit { station, tree, .. } = &mut exits[exit];
        let usable = &view.usable[active.binary_search(station).unwrap_or_default()];
        tree.update(graph, &view.lengths, usable, straight)
    }

    /// Calls the custom router for the paths to an exit. Returns false only if no next hop has changed.
    fn let_choose(&mut self, exit: usize) -> bool {
        let now = self.looked;
        let Self { view, exits, active, graph, loads, choosing, sky, .. } = self;
        let Some(choosing) = choosing.as_mut().filter(|choosing| choosing.fault.is_none()) else { return false };
        let Exit { station, tree, .. } = &mut exits[exit];
        let View { positions, lengths, usable } = view;
        let links = ends_of(sky);
        let between = |ends: &[u32; 2]| positions[ends[0] as usize].distance(positions[ends[1] as usize]);
        let metres = |(ends, length): (&[u32; 2], &PathLength)| {
            if *length == PathLength::MAX { f64::INFINITY } else { between(ends) }
        };
        let metres: Vec<f64> = links.iter().zip(&*lengths).map(metres).collect();
        let usable = &usable[active.binary_search(station).unwrap_or_default()];
        let here = sky.stations()[*station as usize].stand(now).position();
        let entry = |(satellite, _): &(u32, PathLength)| (*satellite, positions[*satellite as usize].distance(here));
        let entries: Vec<(u32, f64)> = usable.iter().map(entry).collect();
        loads.resize(links.len(), 0.0);
        let look = custom::ConstellationView {
            now,
            station: *station,
            positions,
            links: &links,
            lengths: &metres,
            loads,
            entries: &entries,
        };
        let followed = choosing.router.next_hops(&look).and_then(|next| {
            if next.len() != positions.len() {
                return Err(format!("returned {} next hops for {} satellites", next.len(), positions.len()));
            }
            let number = |(satellite, next): (usize, &custom::Next)| {
                let number = next.number(positions.len());
                number.ok_or_else(|| format!("sends from satellite {satellite} to {next}, which does not exist"))
            };
            let next: Vec<NodeIndex> = next.iter().enumerate().map(number).collect::<Result<_, _>>()?;
            tree.follow(graph, lengths, usable, &next).map_err(|crooked| {
                let (what, from, to) = match crooked {
                    Crooked::NoLink(from, to) => ("there is no link now", from, to),
                    Crooked::Circle(from, to) => ("the paths form a loop", from, to),
                };
                let name = |number: NodeIndex| match number {
                    tree::GROUND => format!("the station {station}"),
                    other => format!("satellite {other} ({})", sky.satellites()[other as usize].name),
                };
                format!("sends from {} to {}, where {what}", name(from), name(to))
            })
        });
        followed.unwrap_or_else(|message| {
            let message = format!("{}: next_hops: {message}", choosing.name);
            choosing.fault = Some(Box::new(Fault { at: now, message }));
            false
        })
    }

    /// Returns the satellite that receives a station's packets for an exit. `sender` is the station's index among the
    /// active ones.
    fn entry(&self, exit: usize, sender: usize) -> NodeIndex {
        let tree = &self.exits[exit].tree;
        let ways = self.view.usable[sender].iter().filter_map(|(satellite, length)| {
            let rest = tree.distance(*satellite)?;
            Some((length.checked_add(rest)?, *satellite))
        });
        ways.min().map_or(NONE, |(_, satellite)| satellite as NodeIndex)
    }

    /// Returns true if the stations that send to an exit still use the satellites in its table.
    fn entries_hold(&self, exit: usize) -> bool {
        let Exit { senders, table, .. } = &self.exits[exit];
        let node = |sender: usize| self.sky.node_of_station(self.active[sender] as usize) as usize;
        senders.iter().all(|sender| table[node(*sender)] == self.entry(exit, *sender))
    }

    /// Returns the table of an exit that corresponds to its tree.
    fn table(&self, exit: usize) -> Vec<NodeIndex> {
        let Self { exits, active, relays, sky, .. } = self;
        let Exit { station, senders, tree, .. } = &exits[exit];
        let (satellites, end) = (sky.satellites().len(), sky.node_of_station(*station as usize));
        let node = |next: NodeIndex| match next {
            tree::GROUND => end as NodeIndex,
            tree::NONE => NONE,
            next => match (next as usize).checked_sub(satellites) {
                Some(relay) => sky.node_of_station(relays[relay] as usize) as NodeIndex,
                None => next,
            },
        };
        let mut table = Vec::with_capacity(satellites + sky.stations().len());
        table.extend(tree.next()[..satellites].iter().map(|next| node(*next)));
        table.resize(satellites + sky.stations().len(), NONE);
        for sender in senders {
            table[satellites + active[*sender] as usize] = self.entry(exit, *sender);
        }
        table
    }

    /// Computes the state of the constellation at a time. With `only`, computes just the part that this exit needs.
    fn see(&mut self, time: Instant, only: Option<usize>) {
        let Self { view, sky, active, relays, rules, units, attachments, graph, loads, exits, ephemeris, .. } = self;
        let View { positions, lengths, usable } = view;
        ephemeris.positions(sky, time, positions);
        lengths.clear();
        // Most links are shorter and need no check of the air between.
        let sure = if sky.has_polar_zones() { f64::NEG_INFINITY } else { square_of_sure_sight(positions) };
        lengths.extend(sky.isls().iter().map(|isl| {
            let [a, b] = isl.ends.map(|end| positions[end as usize]);
            let square = (a - b).square();
            if square <= sure || sky.isl_is_up(isl, a, b) { units.length(libm::sqrt(square)) } else { PathLength::MAX }
        }));
        let penalty = rules.load_penalty.as_secs_f64() * LIGHT;
        for (length, load) in lengths.iter_mut().zip(loads) {
            *length = length.saturating_add(units.detour(penalty * *load));
        }
        usable.resize_with(active.len(), Vec::new);
        let concerns = |place: usize, station: u32| {
            only.is_none_or(|exit| exits[exit].station == station || exits[exit].senders.contains(&place))
        };
        for (index, station) in active.iter().enumerate().filter(|(place, station)| concerns(*place, **station)) {
            let usable = &mut usable[index];
            usable.clear();
            let ground = sky.stations()[*station as usize].stand(time);
            let sees = positions.iter().enumerate().filter(|(_, position)| ground.sees(**position));
            let here = ground.position();
            usable.extend(sees.map(|(satellite, position)| (satellite as u32, units.length(position.distance(here)))));
            if relays.binary_search(station).is_err() {
                attachments.select(sky, *station, time, rules, positions, usable);
            }
        }
        if relays.is_empty() {
            return;
        }
        let mut ends = ends_of(sky);
        for (node, relay) in (positions.len() as u32..).zip(&*relays) {
            let relay_index = active.binary_search(relay).unwrap_or_default();
            ends.extend(usable[relay_index].iter().map(|(satellite, _)| [*satellite, node]));
            lengths.extend(usable[relay_index].iter().map(|(_, length)| *length));
        }
        *graph = Graph::new(positions.len() + relays.len(), &ends);
    }
}

/// Returns the endpoints of the links between satellites.
fn ends_of(sky: &Sky) -> Vec<[u32; 2]> {
    sky.isls().iter().map(|isl| isl.ends).collect()
}

#[cfg(test)]
mod tests;
