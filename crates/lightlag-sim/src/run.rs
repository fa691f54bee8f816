//! The event loop.

use crate::border::cut::Cut;
use crate::builder::build;
use crate::hosts::Outcome;
use crate::hosts::tcp::Observed;
use crate::ids::FlowIndex;
use crate::partition::Threads;
use crate::partition::merge::Tables;
use crate::partition::plan::{self, Parallel, Whole};
use crate::partition::rounds::{Counts, Origin, Rounds, Step};
use crate::results::Paths;
use crate::results::{Failed, Parts, Provenance, RunResult};
use crate::tap::capture::{Output, Setup};
use crate::tap::passages::{Passages, Watch, Watcher};
use crate::tap::record::{Acks, Drops, QueueSamples, Recorder, Trace};
use crate::tap::{Observers, Silent, Tap};
use crate::world::World;
use lightlag_core::{Instant, Rate};
use lightlag_scenario::{Network, Scenario, ScenarioError};
use std::io;

/// Progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now: Instant,
    /// When the run ends at the latest.
    pub end: Instant,
    /// Events handled.
    pub events: u64,
}

/// An observer's wish.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    /// Go on.
    Continue,
    /// End the run here and keep what was recorded.
    Stop,
}

/// A run, step by step or at once.
pub struct Simulation {
    world: Watched,
    provenance: Provenance,
    /// The captures that the scenario asks for, until somebody says where to write them.
    setup: Option<Setup>,
    course: Course,
    /// Why the network was not cut, if it was not.
    whole: Option<Whole>,
    /// The cut and the counts of partitions that have been joined since.
    joined: Option<(Box<Cut>, Counts)>,
    /// Whether an algorithm comes from outside, and so may fail.
    may_fail: bool,
}

/// The world with its tap.
enum Watched {
    By(Box<World<Silent>>),
    Closely(Box<World<Observers>>),
    InParts(Box<Rounds>, Threads),
}

/// Progress of a run, and its end.
#[derive(Clone, Copy, Debug)]
struct Course {
    now: Instant,
    /// When it ends at the latest.
    end: Instant,
    events: u64,
    /// It ends with its last transfer.
    ends_early: bool,
    is_over: bool,
}

/// The tables recorded so far.
#[derive(Clone, Copy, Debug)]
pub struct Recorded<'a> {
    /// Senders over time.
    pub trace: &'a Trace,
    /// Queues over time.
    pub queue: &'a QueueSamples,
    /// Packets dropped. A queue discipline decides when it is next asked, so that some come late.
    pub drops: &'a Drops,
    /// ACKs taken.
    pub acks: &'a Acks,
    /// The ways of flows over media or through the sky, if there are such.
    pub paths: Option<&'a Paths>,
}

/// Events between two looks at the observer.
const EVENTS_PER_REPORT: u64 = 1 << 16;

/// The same with algorithms from outside, which may fail and so end the run.
const EVENTS_BEFORE_FAILURE: u64 = 1 << 10;

impl Simulation {
    /// Builds the world of a scenario; `seed` replaces the scenario's own.
    pub fn new(scenario: &Scenario, seed: Option<u64>) -> Result<Self, Vec<ScenarioError>> {
        Self::parallel(scenario, seed, Parallel::ALONE)
    }

    /// The same for several threads. If the network cannot be cut well, the run has one ([`Self::cut`]).
    pub fn parallel(scenario: &Scenario, seed: Option<u64>, how: Parallel) -> Result<Self, Vec<ScenarioError>> {
        let seed = seed.unwrap_or(scenario.seed);
        Ok(Self::seeded(scenario, scenario.expand_with(seed)?, seed, how))
    }

    /// Builds the world of the network to which a scenario was [expanded](Scenario::expand).
    pub fn of(scenario: &Scenario, network: Network, how: Parallel) -> Self {
        Self::seeded(scenario, network, scenario.seed, how)
    }

    fn seeded(scenario: &Scenario, network: Network, seed: u64, how: Parallel) -> Self {
        let provenance = Provenance::new(scenario, &network, seed);
        let setup = Setup::new(&network);
        let may_fail = network.has_own_algorithms();
        let copy = (how.lanes > 1).then(|| network.clone());
        let world = build(network, &scenario.record, seed);
        let course = Course {
            now: Instant::ZERO,
            end: Instant::ZERO + scenario.duration,
            events: 0,
            ends_early: world.hosts.open_transfers > 0,
            is_over: false,
        };
        let mut whole = Some(Whole::Asked);
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

    /// The cut of the network, or the reason for which there is none.
    pub fn cut(&self) -> Result<&Cut, Whole> {
        match (&self.world, &self.joined) {
            (Watched::InParts(rounds, _), _) => Ok(rounds.cut()),
            (_, Some((cut, _))) => Ok(cut),
            _ => Err(self.whole.unwrap_or(Whole::Asked)),
        }
    }

    /// Counts of the work of the partitions so far.
    pub fn counts(&self) -> Counts {
        match (&self.world, self.joined.as_ref()) {
            (Watched::InParts(rounds, _), _) => rounds.counts,
            (_, Some((_, counts))) => Counts { alone: self.course.events - counts.events, ..*counts },
            _ => Counts { alone: self.course.events, ..Counts::default() },
        }
    }

    /// Whether the scenario asks for captures.
    pub fn is_captured(&self) -> bool {
        self.setup.is_some()
    }

    /// The same run, which writes the captures that the scenario asks for: `open` is given the name of each file. Without
    /// this call a run writes none.
    ///
    /// # Errors
    /// The first of `open` or of writing the start of a file.
    pub fn capture_to(mut self, open: &mut dyn FnMut(&str) -> io::Result<Output>) -> io::Result<Self> {
        let Some(setup) = self.setup.take() else { return Ok(self) };
        let captures = setup.open(open)?;
        self.world = observed(self.world, |observers| observers.captures = Some(captures));
        Ok(self)
    }

    /// The same run, of which [`passages`](Self::passages) tells the ways of packets. Networks that were cut have none.
    #[must_use]
    pub fn watching(mut self, network: &Network, watch: Watch) -> Self {
        self.world = observed(self.world, |observers| observers.watcher = Some(Watcher::new(network, watch)));
        self
    }

    /// The ways of packets since the last call, of a run that is [watched](Self::watching).
    pub fn passages(&mut self) -> Passages {
        match &mut self.world {
            Watched::Closely(world) => world.tap.watcher.as_mut().map(Watcher::take).unwrap_or_default(),
            Watched::By(_) | Watched::InParts(..) => Passages::default(),
        }
    }

    /// Lets everything happen up to `time`, and returns whether the run goes on. It is over when every finite flow has
    /// finished, when its duration has passed or when nothing is left to happen; without finite flows it lasts its whole
    /// duration.
    pub fn step_until(&mut self, time: Instant) -> bool {
        self.step(time, u64::MAX)
    }

    /// The same with at most so many events: [`Self::progress`] says how far it came.
    pub fn step(&mut self, until: Instant, most: u64) -> bool {
        let last = self.course.events.saturating_add(most);
        if let Watched::InParts(rounds, _) = &mut self.world
            && let Some((world, events)) = advance_in_parts(rounds, &mut self.course, until, most)
        {
            self.joined = Some((Box::new(rounds.cut().clone()), rounds.counts));
            self.course.events = events;
            self.world = Watched::By(world);
        }
        let most = last.saturating_sub(self.course.events);
        match &mut self.world {
            Watched::By(world) => advance(world, &mut self.course, until, most),
            Watched::Closely(world) => advance(world, &mut self.course, until, most),
            Watched::InParts(..) => {}
        }
        !self.course.is_over
    }

    /// Names of the flows, in the order in which tables number them.
    pub fn flow_names(&self) -> Vec<String> {
        self.provenance.flow_names()
    }

    /// Names of the link directions and of interfaces to media, in the order in which tables number them.
    pub fn link_names(&self) -> Vec<String> {
        self.provenance.link_names()
    }

    /// Names of the nodes, in the order in which tables number them.
    pub fn node_names(&self) -> Vec<String> {
        self.provenance.node_names()
    }

    /// Progress of the run.
    pub fn progress(&self) -> Progress {
        let Course { now, end, events, .. } = self.course;
        Progress { now, end, events }
    }

    /// The tables recorded so far.
    pub fn recorded(&self) -> Recorded<'_> {
        match &self.world {
            Watched::By(world) => recorded(world),
            Watched::Closely(world) => recorded(world),
            Watched::InParts(rounds, _) => {
                let Tables { trace, queue, drops, acks, .. } = &rounds.tables;
                Recorded { trace, queue, drops, acks, paths: None }
            }
        }
    }

    /// A flow of TCP whose congestion control is steered, as its sender sees it, and its report since the last call. None before
    /// its connection starts to send, and for other flows.
    pub fn observe(&mut self, flow: FlowIndex) -> Option<Observed> {
        match &mut self.world {
            Watched::By(world) => world.hosts.observe(flow),
            Watched::Closely(world) => world.hosts.observe(flow),
            Watched::InParts(..) => None,
        }
    }

    /// Sets the window in bytes and the pacing rate of such a flow, which sends at once what they allow.
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

    /// The algorithm from outside that failed first. What happens after that means nothing.
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

    /// Runs to the end, or until the observer stops it or an algorithm from outside fails.
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

    /// The results so far: of the whole run if it is over, and of an interrupted one if it is not.
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
                results(&mut world, provenance, course, Parts::Go)
            }
            Watched::By(mut world) => results(&mut world, provenance, course, Parts::Go),
            Watched::Closely(mut world) => {
                let mut result = results(&mut world, provenance, course, Parts::Stay);
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

/// The same world with one more observer. A network whose packets are seen is not cut.
fn observed(world: Watched, add: impl FnOnce(&mut Observers)) -> Watched {
    let mut world = match world {
        Watched::By(world) => Box::new(world.watched_by(Observers::default())),
        Watched::Closely(world) => world,
        watched @ Watched::InParts(..) => return watched,
    };
    add(&mut world.tap);
    Watched::Closely(world)
}

/// The same world in partitions.
fn in_parts(world: Watched, network: &Network, cut: Cut, threads: (usize, Threads), origin: Origin) -> Watched {
    let Watched::By(world) = world else { return world };
    let guards = plan::guards(network, &world.fabric);
    let (count, there) = threads;
    Watched::InParts(Box::new(Rounds::new(*world, network, cut, guards, count, origin)), there)
}

/// Lets partitions handle events up to a time, about so many. Returns the world that goes on alone, and the events so far, if
/// they were joined.
fn advance_in_parts(
    rounds: &mut Rounds,
    course: &mut Course,
    until: Instant,
    most: u64,
) -> Option<(Box<World<Silent>>, u64)> {
    if course.is_over {
        return None;
    }
    let until = until.min(course.end);
    match rounds.step(until, most) {
        Step::Joined(world, events) => return Some((world, events)),
        Step::Done => (course.now, course.is_over) = (until, until == course.end),
        Step::Paused(now) => course.now = now,
    }
    course.events = rounds.events();
    None
}

/// Handles events up to a time, at most so many.
fn advance(world: &mut World<impl Tap>, course: &mut Course, until: Instant, most: u64) {
    if course.is_over {
        return;
    }
    let Course { mut now, end, events, ends_early, .. } = *course;
    let (until, last) = (until.min(end), events.saturating_add(most));
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

fn recorded<T>(world: &World<T>) -> Recorded<'_> {
    let Recorder { trace, queue, drops, acks, .. } = &world.recorder;
    let over_media = world.media.as_deref().map(|media| &media.paths);
    let paths = over_media.or_else(|| world.fabric.overhead.as_deref().map(|overhead| &overhead.paths));
    Recorded { trace, queue, drops, acks, paths }
}

fn results(world: &mut World<impl Tap>, provenance: Provenance, course: Course, parts: Parts) -> RunResult {
    world.finish(course.now);
    RunResult::new(world, provenance, course.now, course.events, !course.is_over, parts)
}

/// Goes on for the captures alone until the connections of finished flows are closed and what they sent has arrived:
/// nothing of it is in the result. At the latest it ends with the duration. Other flows are seen no longer.
fn close_connections(world: &mut World<Observers>, end: Instant) {
    world.recorder.end();
    let World { tap, hosts, .. } = world;
    let Some(captures) = &mut tap.captures else { return };
    tap.watcher = None;
    captures.keep_to(|flow| matches!(hosts.outcomes.of(flow), Outcome::Finished(_)));
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
