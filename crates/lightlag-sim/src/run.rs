//! The event loop.

use crate::border::partitioning::Partitioning;
use crate::builder::build;
use crate::hosts::FlowOutcome;
use crate::hosts::tcp::Observed;
use crate::ids::FlowIndex;
use crate::partition::Threads;
use crate::partition::merge::Tables;
use crate::partition::plan::{self, NotPartitioned, Parallel};
use crate::partition::rounds::{Origin, Rounds, StepOutcome, WorkCounts};
use crate::results::Paths;
use crate::results::{Failed, Provenance, RunResult, WorldEnd};
use crate::table::{self, Filled};
use crate::tap::capture::{Output, Setup};
use crate::tap::passages::{PassageFilter, Passages, Watcher};
use crate::tap::record::{Acks, Drops, QueueSamples, Recorder, Trace};
use crate::tap::{Observers, Silent, Tap};
use crate::world::World;
use lightlag_core::{Instant, Rate};
use lightlag_scenario::{Network, Scenario, ScenarioError};
use std::collections::BTreeMap;
use std::io;

/// Progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now: Instant,
    /// Time when the run ends at the latest.
    pub end: Instant,
    /// Number of events handled.
    pub events: u64,
}

/// The decision of an observer whether the run continues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    /// Continue the run.
    Continue,
    /// End the run here, with the results so far.
    Stop,
}

/// A simulation run that can be advanced step by step.
pub struct Simulation {
    world: Watched,
    provenance: Provenance,
    /// The captures that the scenario configures; `None` once the caller has opened their files.
    setup: Option<Setup>,
    course: RunState,
    /// Reason why the network was not partitioned, if it was not.
    whole: Option<NotPartitioned>,
    /// Partitioning of the network and the work counts, if the partitions have been joined since.
    joined: Option<(Box<Partitioning>, WorkCounts)>,
    /// Whether the scenario uses a custom algorithm, which may fail.
    may_fail: bool,
}

/// The world, with or without observers of its packets, or in partitions.
enum Watched {
    By(Box<World<Silent>>),
    Closely(Box<World<Observers>>),
    InParts(Box<Rounds>, Threads),
}

/// Progress of a run, and its end.
#[derive(Clone, Copy, Debug)]
struct RunState {
    now: Instant,
    /// Time when the run ends at the latest.
    end: Instant,
    events: u64,
    /// Whether the run ends with its last transfer.
    ends_early: bool,
    is_over: bool,
}

/// The tables that have been recorded so far.
#[derive(Clone, Copy, Debug)]
pub struct RecordedTables<'a> {
    /// The state of senders over time.
    pub trace: &'a Trace,
    /// The packets in queues over time.
    pub queue: &'a QueueSamples,
    /// Dropped packets. A queue discipline makes decisions only when it is next called, so some rows are appended late.
    pub drops: &'a Drops,
    /// ACKs received, if they are recorded.
    pub acks: Option<&'a Acks>,
    /// Paths of flows over media or constellations, if there are any.
    pub paths: Option<&'a Paths>,
}

/// Number of rows that the caller has already received, by table name.
pub type SeenRows = BTreeMap<&'static str, usize>;

impl<'a> RecordedTables<'a> {
    /// Returns the rows that were added to each table since the last call with this `seen`, by table name.
    pub fn news(self, seen: &mut SeenRows) -> impl Iterator<Item = (&'static str, Vec<Filled>)> + use<'a, '_> {
        let Self { trace, queue, drops, acks, paths } = self;
        let tables: [(_, Option<&'a dyn table::GrowingTable>); 5] = [
            ("trace", Some(trace)),
            ("queue", Some(queue)),
            ("drops", Some(drops)),
            ("acks", acks.map(|acks| acks as _)),
            ("paths", paths.map(|paths| paths as _)),
        ];
        tables.into_iter().filter_map(move |(name, table)| {
            let count = table?.count();
            Some((name, table?.copied(seen.insert(name, count).unwrap_or(0)..count)))
        })
    }
}

/// Number of events between two calls of the observer.
const EVENTS_PER_REPORT: u64 = 1 << 16;

/// Number of events between two calls of the observer if there are custom algorithms, which may fail and then end the
/// run.
const EVENTS_BEFORE_FAILURE: u64 = 1 << 10;

impl Simulation {
    /// Builds the simulation of a scenario. `seed` replaces the seed of the scenario.
    pub fn new(scenario: &Scenario, seed: Option<u64>) -> Result<Self, Vec<ScenarioError>> {
        Self::parallel(scenario, seed, Parallel::ALONE)
    }

    /// Builds the simulation of a scenario for several threads. If the network cannot be partitioned efficiently, the
    /// run uses one thread ([`Self::cut`]).
    pub fn parallel(scenario: &Scenario, seed: Option<u64>, how: Parallel) -> Result<Self, Vec<ScenarioError>> {
        let seed = seed.unwrap_or(scenario.seed);
        Ok(Self::seeded(scenario, scenario.expand_with(seed)?, seed, how))
    }

    /// Builds the simulation of a network, which must result from [expanding](Scenario::expand) the scenario.
    pub fn of(scenario: &Scenario, network: Network, how: Parallel) -> Self {
        Self::seeded(scenario, network, scenario.seed, how)
    }

    fn seeded(scenario: &Scenario, network: Network, seed: u64, how: Parallel) -> Self {
        let provenance = Provenance::new(scenario, &network, seed);
        let setup = Setup::new(&network);
        let may_fail = network.has_custom_algorithms();
        let copy = (how.lanes > 1).then(|| network.clone());
        let world = build(network, &scenario.record, seed);
        let course = RunState {
            now: Instant::ZERO,
            end: Instant::ZERO + scenario.duration,
            events: 0,
            ends_early: world.hosts.open_transfers > 0,
            is_over: false,
        };
        let mut whole = Some(NotPartitioned::Asked);
        let mut world = Watched::By(Box::new(world));
        if let (Some(network), Some(there), Watched::By(built)) = (copy, Threads::there_are(), &world) {
            match plan::cut(&network, &built.fabric, &built.hosts, how) {
                Err(reason) => whole = Some(reason),
                Ok(cut) => {
                    whole = None;
                    world = in_parts(
                        world,
                        &network,
                        cut,
                        (how.threads, there),
                        Origin { scenario: scenario.clone(), seed },
                    );
                }
            }
        }
        Self { world, provenance, setup, course, whole, joined: None, may_fail }
    }

    /// Returns how the network is partitioned, or the reason why it is not.
    pub fn cut(&self) -> Result<&Partitioning, NotPartitioned> {
        match (&self.world, &self.joined) {
            (Watched::InParts(rounds, _), _) => Ok(rounds.cut()),
            (_, Some((cut, _))) => Ok(cut),
            _ => Err(self.whole.unwrap_or(NotPartitioned::Asked)),
        }
    }

    /// Returns the work counts of the partitions so far.
    pub fn counts(&self) -> WorkCounts {
        match (&self.world, self.joined.as_ref()) {
            (Watched::InParts(rounds, _), _) => rounds.counts,
            (_, Some((_, counts))) => WorkCounts { alone: self.course.events - counts.events, ..*counts },
            _ => WorkCounts { alone: self.course.events, ..WorkCounts::default() },
        }
    }

    /// Returns true if the scenario configures captures.
    pub fn is_captured(&self) -> bool {
        self.setup.is_some()
    }

    /// Writes the captures that the scenario configures. `open` receives the name of each file. If this is not called,
    /// the run writes no captures.
    ///
    /// # Errors
    /// The first error of `open`, or of writing the start of a file.
    pub fn capture_to(mut self, open: &mut dyn FnMut(&str) -> io::Result<Output>) -> io::Result<Self> {
        let Some(setup) = self.setup.take() else { return Ok(self) };
        let captures = setup.open(open)?;
        self.world = observed(self.world, |observers| observers.captures = Some(captures));
        Ok(self)
    }

    /// Writes logs of the QUIC connections whose endpoints are captured with comments, after
    /// [`capture_to`](Self::capture_to). `open` receives the name of their file. Each line is the number of a log and
    /// its next record of qlog 0.3 as a JSON text sequence. The number is twice the index of the flow, plus one for its
    /// receiver.
    ///
    /// # Errors
    /// The error of `open`.
    pub fn log_to(mut self, open: &mut dyn FnMut(&str) -> io::Result<Output>) -> io::Result<Self> {
        let Self { world: Watched::Closely(world), provenance, .. } = &mut self else { return Ok(self) };
        let Some(captures) = world.tap.captures.as_mut().filter(|captures| captures.can_log()) else {
            return Ok(self);
        };
        captures.log(open, provenance.log_titles())?;
        let sockets = world.hosts.quic.enumerated_mut();
        let logged = sockets.filter(|(endpoint, _)| captures.logs(*endpoint));
        logged.for_each(|(_, socket)| socket.connection.take_notes());
        Ok(self)
    }

    /// Enables recording of the hops of packets, for [`passages`](Self::passages). Partitioned networks record none.
    #[must_use]
    pub fn watching(mut self, network: &Network, watch: PassageFilter) -> Self {
        self.world = observed(self.world, |observers| observers.watcher = Some(Watcher::new(network, watch)));
        self
    }

    /// Returns the hops of packets since the last call. Recording must have been enabled with
    /// [`watching`](Self::watching).
    pub fn passages(&mut self) -> Passages {
        match &mut self.world {
            Watched::Closely(world) => world.tap.watcher.as_mut().map(Watcher::take).unwrap_or_default(),
            Watched::By(_) | Watched::InParts(..) => Passages::default(),
        }
    }

    /// Handles all events up to `time`, and returns true if the run continues. The run is over when every finite flow
    /// has finished, when its duration has passed or when no event is left; without finite flows it lasts for its
    /// entire duration.
    pub fn step_until(&mut self, time: Instant) -> bool {
        self.step(time, u64::MAX)
    }

    /// Handles up to `max` events that are due by `until`. [`Self::progress`] returns the time reached.
    pub fn step(&mut self, until: Instant, max: u64) -> bool {
        let last = self.course.events.saturating_add(max);
        if let Watched::InParts(rounds, _) = &mut self.world
            && let Some((world, events)) = advance_in_parts(rounds, &mut self.course, until, max)
        {
            self.joined = Some((Box::new(rounds.cut().clone()), rounds.counts));
            self.course.events = events;
            self.world = Watched::By(world);
        }
        let max_events = last.saturating_sub(self.course.events);
        match &mut self.world {
            Watched::By(world) => advance(world, &mut self.course, until, max_events),
            Watched::Closely(world) => advance(world, &mut self.course, until, max_events),
            Watched::InParts(..) => {}
        }
        !self.course.is_over
    }

    /// Returns the names of the flows, in the order of their indices in tables.
    pub fn flow_names(&self) -> Vec<String> {
        self.provenance.flow_names()
    }

    /// Returns the names of the link directions and of the interfaces to media, in the order of their indices in
    /// tables.
    pub fn link_names(&self) -> Vec<String> {
        self.provenance.link_names()
    }

    /// Returns the names of the nodes, in the order of their indices in tables.
    pub fn node_names(&self) -> Vec<String> {
        self.provenance.node_names()
    }

    /// Returns the progress of the run.
    pub fn progress(&self) -> Progress {
        let RunState { now, end, events, .. } = self.course;
        Progress { now, end, events }
    }

    /// Returns the tables recorded so far.
    pub fn recorded(&self) -> RecordedTables<'_> {
        let recorded = match &self.world {
            Watched::By(world) => recorded(world),
            Watched::Closely(world) => recorded(world),
            Watched::InParts(rounds, _) => {
                let Tables { trace, queue, drops, acks, .. } = &rounds.tables;
                RecordedTables { trace, queue, drops, acks: Some(acks), paths: None }
            }
        };
        RecordedTables { acks: recorded.acks.filter(|_| self.provenance.records_acks()), ..recorded }
    }

    /// Returns the state of a TCP flow whose congestion control is steered, with the report since the last call. `None`
    /// for other flows, and before the connection starts to send.
    pub fn observe(&mut self, flow: FlowIndex) -> Option<Observed> {
        match &mut self.world {
            Watched::By(world) => world.hosts.observe(flow),
            Watched::Closely(world) => world.hosts.observe(flow),
            Watched::InParts(..) => None,
        }
    }

    /// Sets the window in bytes and the pacing rate of a steered flow. The flow immediately sends what they allow.
    pub fn steer(&mut self, flow: FlowIndex, window: u64, pacing_rate: Option<Rate>) {
        let now = self.course.now;
        if self.course.is_over {
            return;
        }
        match &mut self.world {
            Watched::By(world) => world.steer(now, world.hosts.numbers.sender(flow), window, pacing_rate),
            Watched::Closely(world) => world.steer(now, world.hosts.numbers.sender(flow), window, pacing_rate),
            Watched::InParts(..) => {}
        }
    }

    /// Returns the custom algorithm that failed first, if one did. The results after the failure are meaningless.
    pub fn failed(&self) -> Option<Failed> {
        if !self.may_fail {
            return None;
        }
        match &self.world {
            Watched::By(world) => self.first_failure(world),
            Watched::Closely(world) => self.first_failure(world),
            Watched::InParts(..) => None,
        }
    }

    fn first_failure<T>(&self, world: &World<T>) -> Option<Failed> {
        let of_flow =
            world.hosts.fault().map(|(flow, fault)| (format!("flow {}", self.flow_names()[flow.index()]), fault));
        let of_link = world.fabric.fault().map(|(link, fault)| (format!("link {}", self.link_names()[link]), fault));
        let of_router =
            world.router_fault().map(|(radio, fault)| (format!("router {}", self.link_names()[radio]), fault));
        let of_ways = world.fabric.fault_of_ways().map(|fault| ("router of the constellation".to_owned(), fault));
        let all = [of_flow, of_link, of_router, of_ways].into_iter().flatten();
        let (part, fault) = all.min_by_key(|(_, fault)| fault.at)?;
        Some(Failed { part, fault: fault.clone() })
    }

    /// Runs to the end, or until the observer stops the run or a custom algorithm fails.
    ///
    /// # Panics
    /// If packets are not conserved, which is a defect of the simulator.
    pub fn run(mut self, observer: &mut dyn FnMut(Progress) -> Control) -> RunResult {
        let events = if self.may_fail { EVENTS_BEFORE_FAILURE } else { EVENTS_PER_REPORT };
        loop {
            let goes_on = self.step(self.course.end, events);
            let asked = observer(self.progress());
            if !goes_on || asked == Control::Stop || self.failed().is_some() {
                return self.finish();
            }
        }
    }

    /// Returns the results so far. They are marked as interrupted unless the run is over.
    ///
    /// # Panics
    /// As [`Self::run`].
    pub fn finish(self) -> RunResult {
        let failed = self.failed();
        let Self { world, provenance, mut course, .. } = self;
        let mut result = match world {
            Watched::InParts(rounds, _) => {
                let (mut world, events) = rounds.finish();
                course.events = events;
                results(&mut world, provenance, course, WorldEnd::Go)
            }
            Watched::By(mut world) => results(&mut world, provenance, course, WorldEnd::Go),
            Watched::Closely(mut world) => {
                let mut result = results(&mut world, provenance, course, WorldEnd::Stay);
                if course.is_over {
                    close_connections(&mut world, course.end);
                }
                if let Some(captures) = world.tap.captures {
                    let (names, failure) = captures.finish();
                    result.captures = names;
                    result.capture_failure = failure.map(|(name, error)| format!("{name}: {error}"));
                }
                result
            }
        };
        result.interrupted |= failed.is_some();
        result.failed = failed;
        result
    }
}

/// Returns the world with an additional observer. A partitioned world is returned unchanged.
fn observed(world: Watched, add: impl FnOnce(&mut Observers)) -> Watched {
    let mut world = match world {
        Watched::By(world) => Box::new(world.watched_by(Observers::default())),
        Watched::Closely(world) => world,
        watched @ Watched::InParts(..) => return watched,
    };
    add(&mut world.tap);
    Watched::Closely(world)
}

/// Splits the world into partitions.
fn in_parts(
    world: Watched,
    network: &Network,
    cut: Partitioning,
    threads: (usize, Threads),
    origin: Origin,
) -> Watched {
    let Watched::By(world) = world else { return world };
    let guards = plan::guards(network, &world.fabric);
    let (count, there) = threads;
    Watched::InParts(Box::new(Rounds::new(*world, network, cut, guards, count, origin)), there)
}

/// Advances the partitions up to a time, or by about `max` events. If the partitions were joined, returns the world
/// that continues without them and the number of events so far.
fn advance_in_parts(
    rounds: &mut Rounds,
    course: &mut RunState,
    until: Instant,
    max: u64,
) -> Option<(Box<World<Silent>>, u64)> {
    if course.is_over {
        return None;
    }
    let until = until.min(course.end);
    match rounds.step(until, max) {
        StepOutcome::Joined(world, events) => return Some((world, events)),
        StepOutcome::Done => (course.now, course.is_over) = (until, until == course.end),
        StepOutcome::Paused(now) => course.now = now,
    }
    course.events = rounds.events();
    None
}

/// Handles up to `max` events that are due by `until`.
fn advance(world: &mut World<impl Tap>, course: &mut RunState, until: Instant, max: u64) {
    if course.is_over {
        return;
    }
    let RunState { mut now, end, events, ends_early, .. } = *course;
    let (until, last) = (until.min(end), events.saturating_add(max));
    let mut events = events;
    while events < last {
        let Some((time, part)) = world.agenda.next_until(until) else {
            course.is_over = until == end;
            now = until;
            break;
        };
        now = time;
        world.handle(now, part);
        events += 1;
        if ends_early && world.hosts.open_transfers == 0 {
            course.is_over = true;
            break;
        }
    }
    (course.now, course.events) = (now, events);
}

fn recorded<T>(world: &World<T>) -> RecordedTables<'_> {
    let Recorder { trace, queue, drops, acks, .. } = &world.recorder;
    let over_media = world.media.as_deref().map(|media| &media.paths);
    let paths = over_media.or_else(|| world.fabric.overhead.as_deref().map(|overhead| &overhead.paths));
    RecordedTables { trace, queue, drops, acks: Some(acks), paths }
}

fn results(world: &mut World<impl Tap>, provenance: Provenance, course: RunState, parts: WorldEnd) -> RunResult {
    world.finish(course.now);
    RunResult::new(world, provenance, course.now, course.events, !course.is_over, parts)
}

/// Continues the run, only for the captures, until the connections of finished flows are closed and their packets have
/// arrived, or until the end of the duration. The results contain none of this, and other flows are no longer captured.
fn close_connections(world: &mut World<Observers>, end: Instant) {
    world.recorder.end();
    let World { tap, hosts, .. } = world;
    let Some(captures) = &mut tap.captures else { return };
    tap.watcher = None;
    captures.keep_to(|flow| matches!(hosts.outcomes.of(flow), FlowOutcome::Finished(_)));
    let mut open = world.hosts.ends_of_finished_flows();
    loop {
        while open.pop_if(|endpoint| world.hosts.has_closed(*endpoint)).is_some() {}
        if open.is_empty() {
            return;
        }
        let Some((now, part)) = world.agenda.next_until(end) else { return };
        world.handle(now, part);
    }
}
