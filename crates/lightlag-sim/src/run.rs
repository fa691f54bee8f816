//! The event loop.

use crate::builder::build;
use crate::hosts::Outcome;
use crate::results::{Provenance, RunResult};
use crate::scenario::{Scenario, ScenarioError};
use crate::tap::capture::{Captures, Output, Setup};
use crate::tap::{Silent, Tap};
use crate::world::World;
use lightlag_core::Instant;
use std::io;

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now: Instant,
    /// When the run ends at the latest.
    pub end: Instant,
    /// Events handled.
    pub events: u64,
}

/// What an observer wants next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    /// Go on.
    Continue,
    /// End the run here and keep what was recorded.
    Stop,
}

/// A world that is ready to run.
pub struct Simulation {
    world: World<Silent>,
    provenance: Provenance,
    /// The captures that the scenario asks for, until somebody says where to write them.
    setup: Option<Setup>,
    captures: Option<Captures>,
    end: Instant,
}

/// Events between two looks at the observer.
const EVENTS_PER_REPORT: u64 = 1 << 16;

impl Simulation {
    /// Builds the world of a scenario; `seed` replaces the scenario's own.
    pub fn new(scenario: &Scenario, seed: Option<u64>) -> Result<Self, Vec<ScenarioError>> {
        let seed = seed.unwrap_or(scenario.seed);
        let network = scenario.expand_with(seed)?;
        let provenance = Provenance::new(scenario, &network, seed);
        let setup = Setup::new(&network);
        let world = build(network, &scenario.record, seed);
        Ok(Self { world, provenance, setup, captures: None, end: Instant::ZERO + scenario.duration })
    }

    /// Whether the scenario asks for captures.
    pub fn is_captured(&self) -> bool {
        self.setup.is_some()
    }

    /// Writes the captures that the scenario asks for: `open` is given the name of each file. Without this call a run
    /// writes none.
    ///
    /// # Errors
    /// The first of `open` or of writing the begin of a file.
    pub fn capture_to(&mut self, open: &mut dyn FnMut(&str) -> io::Result<Output>) -> io::Result<()> {
        if let Some(setup) = self.setup.take() {
            self.captures = Some(setup.open(open)?);
        }
        Ok(())
    }

    /// Runs until every finite flow has finished, the duration is over, nothing is left to happen, or the
    /// observer stops it. Without finite flows the run lasts its whole duration.
    ///
    /// # Panics
    /// If packets are not conserved, which is a defect of the simulator.
    pub fn run(self, observer: &mut dyn FnMut(Progress) -> Control) -> RunResult {
        let Self { mut world, provenance, captures, end, .. } = self;
        let Some(captures) = captures else {
            let stop = events(&mut world, end, observer);
            return finish(&mut world, provenance, stop);
        };
        let mut world = world.watched_by(captures);
        let stop = events(&mut world, end, observer);
        let mut result = finish(&mut world, provenance, stop);
        if !stop.early {
            close_connections(&mut world, end);
        }
        let (names, failure) = world.tap.finish();
        result.captures = names;
        result.capture_failure = failure.map(|(name, error)| format!("{name}: {error}"));
        result
    }
}

/// How a run ended.
#[derive(Clone, Copy)]
struct Stop {
    at: Instant,
    events: u64,
    /// The observer stopped it.
    early: bool,
}

fn events<T: Tap>(world: &mut World<T>, end: Instant, observer: &mut dyn FnMut(Progress) -> Control) -> Stop {
    let has_transfers = world.hosts.open_transfers > 0;
    let (mut now, mut events, mut early) = (Instant::ZERO, 0_u64, false);
    let at = loop {
        let Some((time, part)) = world.agenda.next_until(end) else { break end };
        now = time;
        world.handle(now, part);
        events += 1;
        if has_transfers && world.hosts.open_transfers == 0 {
            break now;
        }
        if events.is_multiple_of(EVENTS_PER_REPORT) && observer(Progress { now, end, events }) == Control::Stop {
            early = true;
            break now;
        }
    };
    observer(Progress { now, end, events });
    Stop { at, events, early }
}

fn finish(world: &mut World<impl Tap>, provenance: Provenance, stop: Stop) -> RunResult {
    world.finish(stop.at);
    RunResult::new(world, provenance, stop.at, stop.events, stop.early)
}

/// Goes on for the captures alone until the connections of finished flows are closed and what they sent has arrived:
/// nothing of it is in the result. At the latest it ends with the duration. Other flows are seen no longer.
fn close_connections(world: &mut World<Captures>, end: Instant) {
    world.recorder.end();
    let World { tap, hosts, .. } = world;
    tap.keep_to(|flow| matches!(hosts.outcomes[flow], Outcome::Finished(_)));
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
