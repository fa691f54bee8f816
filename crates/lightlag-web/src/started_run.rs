//! Runs in steps: the reply to a step contains the rows that were recorded since the last one.

use crate::answer::Reply;
use crate::charts;
use crate::request::{Packets, ScenarioRequest};
use crate::scenario::{Problem, expanded, failure};
use lightlag_core::{Duration, Instant};
use lightlag_sim::run::SeenRows;
use lightlag_sim::table::{Contents, GrowingTable};
use lightlag_sim::{FlowIndex, Parallel, PassageFilter, Simulation};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// A run that has started.
pub(crate) struct StartedRun {
    simulation: Simulation,
    seed: u64,
    /// The rows that were already returned.
    seen: SeenRows,
    is_watched: bool,
    captures: Vec<(String, MemoryFile)>,
}

impl StartedRun {
    /// Builds the run of a scenario.
    pub(crate) fn start(
        scenario_request: &ScenarioRequest,
        seed: Option<u64>,
        packets: Option<Packets>,
        captures: bool,
    ) -> Result<Result<Self, Vec<Problem>>, String> {
        let (mut scenario, network) = match expanded(scenario_request, seed) {
            Ok(both) => both,
            Err(errors) => return Ok(Err(errors)),
        };
        scenario.seed = seed.unwrap_or(scenario.seed);
        let watch = packets.map(watch);
        let copy = watch.is_some().then(|| network.clone());
        let mut simulation = Simulation::of(&scenario, network, Parallel::ALONE);
        if let (Some(watch), Some(network)) = (watch, &copy) {
            simulation = simulation.watching(network, watch);
        }
        let mut written = Vec::new();
        if captures {
            let mut open = |name: &str| {
                let memory = MemoryFile::default();
                written.push((name.to_owned(), memory.clone()));
                Ok(Box::new(memory) as lightlag_sim::Output)
            };
            simulation = simulation.capture_to(&mut open).map_err(|error| error.to_string())?;
        }
        Ok(Ok(Self {
            simulation,
            seed: scenario.seed,
            seen: SeenRows::new(),
            is_watched: watch.is_some(),
            captures: written,
        }))
    }

    /// Returns the names of flows, links and nodes, and the end time.
    pub(crate) fn about(&self) -> Value {
        json!({
            "end_s": self.simulation.progress().end.as_secs_f64(),
            "seed": self.seed,
            "flows": self.simulation.flow_names(),
            "links": self.simulation.link_names(),
            "nodes": self.simulation.node_names(),
        })
    }

    /// Continues the run up to a time, but for at most `events` events.
    pub(crate) fn step(&mut self, until_s: f64, events: Option<u64>) -> Reply {
        let until = instant(until_s);
        let goes_on = self.simulation.step(until, events.unwrap_or(u64::MAX));
        let failed = self.simulation.failed();
        let progress = self.simulation.progress();
        let mut answer = Reply::of(json!({
            "now_s": progress.now.as_secs_f64(),
            "events": progress.events,
            "over": !goes_on || failed.is_some(),
        }));
        self.tell(&mut answer);
        answer
    }

    /// Adds the rows that were recorded since the last step to a reply.
    fn tell(&mut self, answer: &mut Reply) {
        let news = self.simulation.recorded().news(&mut self.seen);
        news.for_each(|(name, columns)| answer.table(name, columns));
        if self.is_watched {
            answer.table("packets", self.simulation.passages().taken());
        }
    }

    /// Ends the run at the current time. The reply contains the charts if `whole` is set, and the outcome if `compared`
    /// is set.
    ///
    /// # Errors
    /// The errors of [`charts::timeline`].
    pub(crate) fn finish(self, whole: bool, compared: bool) -> Result<Reply, String> {
        let Self { simulation, captures, seen, .. } = self;
        let mut result = simulation.finish();
        let charts = whole.then(|| charts::timeline(&result)).transpose()?;
        let outcome = compared.then(|| charts::outcome(&result)).transpose()?;
        let failed = result.failed.as_ref().map(|failed| format!("{}, {}", failed.part, failure(&failed.fault)));
        let mut answer = Reply::of(json!({
            "summary": result.summary,
            "interrupted": result.interrupted,
            "failed": failed,
            "capture_failure": result.capture_failure,
            "charts": charts,
            "outcome": outcome,
        }));
        answer.name_objects(result.object_names().into_iter().map(str::to_owned).collect());
        for (name, contents) in result.tables() {
            let (Contents::Columns(table) | Contents::Packed(table)) = contents else { continue };
            // Tables that no step has returned are included if they have rows.
            if table.count() > 0 || seen.contains_key(name) {
                let first = if whole { 0 } else { seen.get(name).copied().unwrap_or(0) };
                answer.table(name, table.copied(first..table.count()));
            }
        }
        let captures = captures.into_iter().map(|(name, memory)| {
            let bytes = memory.take();
            json!({ "name": name, "at": answer.bytes(&bytes), "bytes": bytes.len() })
        });
        let captures: Vec<Value> = captures.collect();
        answer.set("captures", captures.into());
        Ok(answer)
    }
}

fn watch(packets: Packets) -> PassageFilter {
    let until = packets.to_s.map_or(Instant::MAX, instant);
    PassageFilter { from: instant(packets.from_s), until, flow: packets.flow.map(FlowIndex), most: packets.most }
}

/// Converts seconds to a time of the run; an invalid number gives the start.
pub(crate) fn instant(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(if seconds.is_finite() { seconds.max(0.0) } else { 0.0 })
}

/// A file in memory, shared by its writer and its reader.
#[derive(Clone, Default)]
struct MemoryFile(Arc<Mutex<Vec<u8>>>);

impl MemoryFile {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for MemoryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
