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
//!
//! A router from outside may choose the ways instead; it is asked at each look.

mod ephemeris;
pub mod own;
mod selection;
mod tree;

pub use selection::{Highest, Hysteresis, Keep, Selection, Shortest};

use crate::grid::square_of_sure_sight;
use crate::sky::{LIGHT, Sky};
use ephemeris::Ephemeris;
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Instant};
use lightlag_mobility::Vector;
use own::{Choosing, Fault};
use selection::Attachments;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
pub use tree::MOST_NODES;
use tree::{Crooked, Graph, Length, NONE, Number, Tree};

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

/// A longer way would not fit into the length of ways.
const MOST_PENALTY: Duration = Duration::from_millis(50);

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
            ).about("The measure by which the shortest way is chosen: its delay, or its number of links."),
            Setting::count("interfaces", |c: &mut Self| &mut c.interfaces, 64, "a number of satellites", "").about("The most satellites that a station uses at once, where it selects some."),
            Setting::time("interval", |c: &mut Self| &mut c.interval).about("Time between two looks."),
            Setting::flag("exact", |c: &mut Self| &mut c.exact).about("Whether a change is found to the millisecond, and not at the next look."),
            Setting::time_or_zero("load_penalty", |c: &mut Self| &mut c.load_penalty).about("The time by which a link between satellites counts as longer that was busy since the last look; one that was busy for a part of it counts as longer by this part. With zero the load does not matter.").checked(|c| {
                (c.load_penalty > MOST_PENALTY).then_some("is above 50 ms; a busy link would count as none")
            }),
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
#[derive(Debug)]
pub struct Planner {
    sky: Arc<Sky>,
    rules: Rules,
    units: Units,
    exits: Vec<Exit>,
    /// Stations that send, receive or relay, in ascending order.
    active: Vec<u32>,
    /// Those that relay. In trees they follow the satellites.
    relays: Vec<u32>,
    until: Instant,
    /// Up to when changes are known.
    looked: Instant,
    /// Changes that are known and have not come, in the order of time.
    ahead: VecDeque<Turn>,
    changes: Vec<Change>,
    graph: Graph,
    /// Of each link between satellites the part of the time since the last look in which it was busy, if that matters.
    loads: Vec<f64>,
    attachments: Attachments,
    view: View,
    /// Room for a tree.
    straight: Vec<Length>,
    ephemeris: Ephemeris,
    /// The router from outside that chooses the ways, if there is one.
    choosing: Option<Choosing>,
}

/// A station at which packets leave the sky.
#[derive(Clone, Debug)]
struct Exit {
    station: u32,
    /// The stations that send to it, or relay, as places among the active ones.
    senders: Vec<usize>,
    /// Those of them whose ways are used.
    used: Vec<u32>,
    /// The next node of each node, now.
    table: Vec<Number>,
    tree: Tree,
    /// Whether the tree is the one of the table.
    is_settled: bool,
}

/// A change of the table of an exit.
#[derive(Clone, Debug)]
struct Turn {
    at: Instant,
    exit: usize,
    entries: Vec<Entry>,
}

/// A node, and the next one that it has from then on.
type Entry = (Number, Number);

/// The entries in which a table differs from the one before.
fn differences(before: &[Number], after: &[Number]) -> Vec<Entry> {
    let pairs = (0..).zip(before.iter().zip(after));
    pairs.filter(|(_, (old, new))| old != new).map(|(node, (_, new))| (node, *new)).collect()
}

/// The sky at a time.
#[derive(Clone, Debug, Default)]
struct View {
    positions: Vec<Vector>,
    /// Of each link of the graph its length; [`Length::MAX`] while it is down.
    lengths: Vec<Length>,
    /// Of each active station the satellites that it may use, with their distances.
    usable: Vec<Vec<(u32, Length)>>,
}

/// The longest way that has a length, in distances of the highest satellite from the centre of the Earth: a geostationary satellite
/// is used up to four times.
const LONGEST: f64 = 8.0;
/// Units a metre where that leaves room for the longest way, up to 69,000 km: a unit is 16 mm.
const UNITS_A_METRE: f64 = 62.5;
/// Where links are counted, this is one link, and a unit is a metre, or more above 2,000 km: ways have up to 63 links, as many as a
/// TTL of 64 allows.
const HOP: Length = 1 << 26;

/// The units of lengths, which are whole numbers, so that their sums do not depend on the order.
#[derive(Clone, Copy, Debug)]
struct Units {
    of_link: Length,
    of_metre: f64,
}

impl Units {
    fn new(metric: Metric, sky: &Sky) -> Self {
        let longest = LONGEST * sky.apogee();
        match metric {
            Metric::Delay => Self { of_link: 0, of_metre: UNITS_A_METRE.min(f64::from(Length::MAX) / longest) },
            Metric::Hops => Self { of_link: HOP, of_metre: f64::min(1.0, f64::from(HOP) / longest) },
        }
    }

    /// The length of a link.
    fn length(self, metres: f64) -> Length {
        self.of_link.saturating_add(whole(metres * self.of_metre))
    }

    /// A detour of so many metres.
    fn detour(self, metres: f64) -> Length {
        whole(metres * self.of_metre)
    }
}

/// The nearest whole number.
fn whole(units: f64) -> Length {
    (units + 0.5) as Length
}

impl Planner {
    /// The ways at the start of a run. `pairs` are the stations that send, each with the station to which it does.
    ///
    /// # Panics
    /// If the sky has more than [`MOST_NODES`].
    pub fn new(sky: Arc<Sky>, pairs: &[(u32, u32)], rules: Rules, until: Instant) -> Self {
        Self::with(sky, pairs, rules, until, None)
    }

    /// The same with ways that a router from outside chooses, if there is one. Its stations do not relay.
    ///
    /// # Panics
    /// As [`Self::new`].
    pub fn with(
        sky: Arc<Sky>,
        pairs: &[(u32, u32)],
        rules: Rules,
        until: Instant,
        router: Option<(&'static str, Box<dyn own::Router>)>,
    ) -> Self {
        let relays: Vec<u32> = (0..).zip(sky.stations()).filter(|(_, of)| of.is_relay()).map(|(at, _)| at).collect();
        let mut active: Vec<u32> = pairs.iter().flat_map(|(from, to)| [*from, *to]).chain(relays.clone()).collect();
        active.sort_unstable();
        active.dedup();
        let satellites = sky.satellites().len();
        let nodes = satellites + sky.stations().len();
        assert!(nodes <= MOST_NODES, "a table holds numbers of {MOST_NODES} nodes");
        let receivers: BTreeSet<u32> = pairs.iter().map(|(_, to)| *to).collect();
        let exit = |station: u32| {
            let used: BTreeSet<u32> = pairs.iter().filter(|(_, to)| *to == station).map(|(from, _)| *from).collect();
            let senders: BTreeSet<u32> = used.iter().chain(&relays).copied().filter(|from| *from != station).collect();
            let place = |station: u32| active.binary_search(&station).unwrap_or_default();
            Exit {
                station,
                senders: senders.into_iter().map(place).collect(),
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

    /// The number of exits.
    pub fn exits(&self) -> usize {
        self.exits.len()
    }

    /// The station of an exit.
    pub fn station(&self, exit: usize) -> u32 {
        self.exits[exit].station
    }

    /// The next node on the way from a node to an exit, now.
    pub fn next(&self, node: u32, exit: usize) -> Option<u32> {
        let next = self.exits[exit].table[node as usize];
        (next != NONE).then_some(u32::from(next))
    }

    /// The nodes on the way from a station to an exit now, both ends included; `None` if there is no way.
    pub fn way(&self, from: u32, exit: usize) -> Option<Vec<u32>> {
        let end = self.sky.node_of_station(self.exits[exit].station as usize);
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

    /// Whether the load of links matters.
    pub fn weighs_load(&self) -> bool {
        !self.rules.load_penalty.is_zero() || self.choosing.is_some()
    }

    /// The failure of a router from outside. From then on its last ways hold.
    pub fn fault(&self) -> Option<&Fault> {
        self.choosing.as_ref()?.fault.as_deref()
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
            self.look_ahead(self.next_look());
        }
        let Some(now) = self.ahead.front().map(|turn| turn.at) else { return &self.changes };
        while self.ahead.front().is_some_and(|turn| turn.at == now)
            && let Some(Turn { exit, entries, .. }) = self.ahead.pop_front()
        {
            for (node, next) in entries {
                self.exits[exit].table[node as usize] = next;
                let next = (next != NONE).then_some(u32::from(next));
                self.changes.push(Change { node: u32::from(node), exit, next });
            }
        }
        &self.changes
    }

    /// Whether changes are narrowed down. Stations that select satellites do so at looks, and loads are known then.
    fn is_exact(&self) -> bool {
        self.rules.exact && self.rules.selection.takes_all() && !self.weighs_load()
    }

    /// Finds the changes up to a time, the next look.
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
                self.ahead.push_back(Turn { at: until, exit, entries });
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

    /// Finds the times, to the millisecond, at which ways to an exit that are used change before `until`, when `last` is its table.
    fn narrow(&mut self, exit: usize, from: Instant, until: Instant, last: &[Number]) {
        const MILLI: u64 = 1_000_000;
        let mut before = self.exits[exit].table.clone();
        let mut from = from;
        while self.ways_differ(exit, &before, last) {
            let (mut lo, mut hi, mut found) = (from, until, None);
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
                    (hi, found) = (middle, Some(table));
                } else {
                    lo = middle;
                }
            }
            let Some(table) = found else { break };
            self.ahead.push_back(Turn { at: hi, exit, entries: differences(&before, &table) });
            (before, from) = (table, hi);
        }
        let entries = differences(&before, last);
        if !entries.is_empty() {
            self.ahead.push_back(Turn { at: until, exit, entries });
        }
    }

    /// Whether a way to an exit that is used differs between two tables.
    fn ways_differ(&self, exit: usize, one: &[Number], other: &[Number]) -> bool {
        let Exit { station, used, .. } = &self.exits[exit];
        let end = self.sky.node_of_station(*station as usize);
        let differs = |from: &u32| {
            let mut node = self.sky.node_of_station(*from as usize);
            while node != end {
                let at = node as usize;
                if one[at] != other[at] {
                    return true;
                }
                if one[at] == NONE {
                    return false;
                }
                node = u32::from(one[at]);
            }
            false
        };
        used.iter().any(differs)
    }

    /// Makes the tree of an exit for what was seen last. Returns false only if it leads as before.
    fn grow(&mut self, exit: usize) -> bool {
        if self.choosing.is_some() {
            return self.let_choose(exit);
        }
        let Self { view, exits, active, graph, straight, .. } = self;
        let Exit { station, tree, .. } = &mut exits[exit];
        let usable = &view.usable[active.binary_search(station).unwrap_or_default()];
        tree.update(graph, &view.lengths, usable, straight)
    }

    /// Asks the router from outside for the ways to an exit.
    fn let_choose(&mut self, exit: usize) -> bool {
        let now = self.looked;
        let Self { view, exits, active, graph, loads, choosing, sky, .. } = self;
        let Some(choosing) = choosing.as_mut().filter(|choosing| choosing.fault.is_none()) else { return false };
        let Exit { station, tree, .. } = &mut exits[exit];
        let View { positions, lengths, usable } = view;
        let links = ends_of(sky);
        let between = |ends: &[u32; 2]| positions[ends[0] as usize].distance(positions[ends[1] as usize]);
        let metres =
            |(ends, length): (&[u32; 2], &Length)| if *length == Length::MAX { f64::INFINITY } else { between(ends) };
        let metres: Vec<f64> = links.iter().zip(&*lengths).map(metres).collect();
        let usable = &usable[active.binary_search(station).unwrap_or_default()];
        let here = sky.stations()[*station as usize].stand(now).position();
        let entry = |(satellite, _): &(u32, Length)| (*satellite, positions[*satellite as usize].distance(here));
        let entries: Vec<(u32, f64)> = usable.iter().map(entry).collect();
        loads.resize(links.len(), 0.0);
        let look =
            own::Look { now, station: *station, positions, links: &links, lengths: &metres, loads, entries: &entries };
        let followed = choosing.router.next_hops(&look).and_then(|next| {
            if next.len() != positions.len() {
                return Err(format!("returned {} next hops for {} satellites", next.len(), positions.len()));
            }
            let number = |(satellite, next): (usize, &own::Next)| {
                let number = next.number(positions.len());
                number.ok_or_else(|| format!("sends from satellite {satellite} to {next}, which there is not"))
            };
            let next: Vec<Number> = next.iter().enumerate().map(number).collect::<Result<_, _>>()?;
            tree.follow(graph, lengths, usable, &next).map_err(|crooked| {
                let (what, from, to) = match crooked {
                    Crooked::NoLink(from, to) => ("no link leads now", from, to),
                    Crooked::Circle(from, to) => ("ways lead in a circle", from, to),
                };
                let name = |number: Number| match number {
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

    /// The satellite to which a station, by its place among the active ones, sends for an exit.
    fn entry(&self, exit: usize, sender: usize) -> Number {
        let tree = &self.exits[exit].tree;
        let ways = self.view.usable[sender].iter().filter_map(|(satellite, length)| {
            let rest = tree.distance(*satellite)?;
            Some((length.checked_add(rest)?, *satellite))
        });
        ways.min().map_or(NONE, |(_, satellite)| satellite as Number)
    }

    /// Whether the stations that send to an exit use the satellites of its table.
    fn entries_hold(&self, exit: usize) -> bool {
        let Exit { senders, table, .. } = &self.exits[exit];
        let node = |sender: usize| self.sky.node_of_station(self.active[sender] as usize) as usize;
        senders.iter().all(|sender| table[node(*sender)] == self.entry(exit, *sender))
    }

    /// The table of an exit by its tree.
    fn table(&self, exit: usize) -> Vec<Number> {
        let Self { exits, active, relays, sky, .. } = self;
        let Exit { station, senders, tree, .. } = &exits[exit];
        let (satellites, end) = (sky.satellites().len(), sky.node_of_station(*station as usize));
        let node = |next: Number| match next {
            tree::GROUND => end as Number,
            tree::NONE => NONE,
            next => match (next as usize).checked_sub(satellites) {
                Some(relay) => sky.node_of_station(relays[relay] as usize) as Number,
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

    /// Sees the sky at a time; for one exit only what it concerns.
    fn see(&mut self, at: Instant, only: Option<usize>) {
        let Self { view, sky, active, relays, rules, units, attachments, graph, loads, exits, ephemeris, .. } = self;
        let View { positions, lengths, usable } = view;
        ephemeris.positions(sky, at, positions);
        lengths.clear();
        // Most links are shorter, and need no look at the air between.
        let sure = if sky.has_polar_zones() { f64::NEG_INFINITY } else { square_of_sure_sight(positions) };
        lengths.extend(sky.isls().iter().map(|isl| {
            let [a, b] = isl.ends.map(|end| positions[end as usize]);
            let square = (a - b).square();
            if square <= sure || sky.isl_is_up(isl, a, b) { units.length(libm::sqrt(square)) } else { Length::MAX }
        }));
        let penalty = rules.load_penalty.as_secs_f64() * LIGHT;
        for (length, load) in lengths.iter_mut().zip(loads) {
            *length = length.saturating_add(units.detour(penalty * *load));
        }
        usable.resize_with(active.len(), Vec::new);
        let concerns = |place: usize, station: u32| {
            only.is_none_or(|exit| exits[exit].station == station || exits[exit].senders.contains(&place))
        };
        for (place, station) in active.iter().enumerate().filter(|(place, station)| concerns(*place, **station)) {
            let usable = &mut usable[place];
            usable.clear();
            let ground = sky.stations()[*station as usize].stand(at);
            let sees = positions.iter().enumerate().filter(|(_, position)| ground.sees(**position));
            let here = ground.position();
            usable.extend(sees.map(|(satellite, position)| (satellite as u32, units.length(position.distance(here)))));
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
