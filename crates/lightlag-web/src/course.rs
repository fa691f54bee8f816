//! Runs, step by step: a step answers with the rows recorded since the last one.

use crate::answer::Answer;
use crate::request::{Asked, Packets};
use crate::scenario::{Problem, expanded, failure};
use lightlag_core::{Duration, Instant};
use lightlag_sim::{FlowIndex, Parallel, RunResult, Simulation, Watch};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// A run that was started.
pub(crate) struct Course {
    simulation: Simulation,
    records_acks: bool,
    seed: u64,
    /// Rows already told of the trace, the queues, the drops, the ACKs and the paths.
    rows: [usize; 5],
    is_watched: bool,
    captures: Vec<(String, Memory)>,
}

impl Course {
    /// Builds the world of a scenario.
    pub(crate) fn start(
        asked: &Asked,
        seed: Option<u64>,
        packets: Option<Packets>,
        captures: bool,
    ) -> Result<Result<Self, Vec<Problem>>, String> {
        let (mut scenario, network) = match expanded(asked, seed) {
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
                let memory = Memory::default();
                written.push((name.to_owned(), memory.clone()));
                Ok(Box::new(memory) as lightlag_sim::Output)
            };
            simulation = simulation.capture_to(&mut open).map_err(|error| error.to_string())?;
        }
        Ok(Ok(Self {
            simulation,
            records_acks: scenario.record.acks,
            seed: scenario.seed,
            rows: [0; 5],
            is_watched: watch.is_some(),
            captures: written,
        }))
    }

    /// Its names and its end.
    pub(crate) fn about(&self) -> Value {
        json!({
            "end_s": self.simulation.progress().end.as_secs_f64(),
            "seed": self.seed,
            "flows": self.simulation.flow_names(),
            "links": self.simulation.link_names(),
            "nodes": self.simulation.node_names(),
        })
    }

    /// Goes on to a time, with at most so many events.
    pub(crate) fn step(&mut self, until_s: f64, events: Option<u64>) -> Answer {
        let until = instant(until_s);
        let goes_on = self.simulation.step(until, events.unwrap_or(u64::MAX));
        let failed = self.simulation.failed();
        let progress = self.simulation.progress();
        let mut answer = Answer::of(json!({
            "now_s": progress.now.as_secs_f64(),
            "events": progress.events,
            "over": !goes_on || failed.is_some(),
        }));
        self.tell(&mut answer);
        answer
    }

    /// Adds the rows since the last step.
    fn tell(&mut self, answer: &mut Answer) {
        let recorded = self.simulation.recorded();
        let [trace, queue, drops, acks, paths] = self.rows;
        answer.table("trace", recorded.trace.tail(trace));
        answer.table("queue", recorded.queue.tail(queue));
        answer.table("drops", recorded.drops.tail(drops));
        if self.records_acks {
            answer.table("acks", recorded.acks.tail(acks));
        }
        if let Some(all) = recorded.paths {
            answer.table("paths", all.tail(paths));
        }
        self.rows = [
            recorded.trace.rows(),
            recorded.queue.rows(),
            recorded.drops.rows(),
            recorded.acks.rows(),
            recorded.paths.map_or(0, |paths| paths.rows()),
        ];
        if self.is_watched {
            answer.table("packets", self.simulation.passages());
        }
    }

    /// Ends the run where it is.
    pub(crate) fn finish(self, whole: bool) -> Answer {
        let Self { simulation, records_acks, captures, rows, .. } = self;
        let RunResult {
            summary,
            trace,
            queue,
            drops,
            acks,
            responses,
            paths,
            positions,
            interrupted,
            failed,
            capture_failure,
            ..
        } = simulation.finish();
        let failed = failed.map(|failed| format!("{}, {}", failed.part, failure(&failed.fault)));
        let mut answer = Answer::of(json!({
            "summary": summary,
            "interrupted": interrupted,
            "failed": failed,
            "capture_failure": capture_failure,
        }));
        let from = |row: usize| if whole { 0 } else { row };
        answer.table("trace", trace.tail(from(rows[0])));
        answer.table("queue", queue.tail(from(rows[1])));
        answer.table("drops", drops.tail(from(rows[2])));
        if records_acks {
            answer.table("acks", acks.tail(from(rows[3])));
        }
        if paths.rows() > 0 {
            answer.table("paths", paths.tail(from(rows[4])));
        }
        if responses.rows() > 0 {
            answer.table("responses", responses);
        }
        if positions.rows() > 0 {
            answer.table("positions", positions);
        }
        let captures = captures.into_iter().map(|(name, memory)| {
            let bytes = memory.take();
            json!({ "name": name, "at": answer.bytes(&bytes), "bytes": bytes.len() })
        });
        let captures: Vec<Value> = captures.collect();
        answer.set("captures", captures.into());
        answer
    }
}

fn watch(packets: Packets) -> Watch {
    let until = packets.to_s.map_or(Instant::MAX, instant);
    Watch { from: instant(packets.from_s), until, flow: packets.flow.map(FlowIndex), most: packets.most }
}

/// A time of the run; what is no time is its start.
pub(crate) fn instant(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(if seconds.is_finite() { seconds.max(0.0) } else { 0.0 })
}

/// A file in memory, of which its writer and its reader each have one end.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Memory {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
