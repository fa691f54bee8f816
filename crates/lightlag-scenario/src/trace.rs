//! Traces of links as asked for: which file, and what it makes of a direction.

use super::changes::Phases;
use super::error::{Errors, Path, not_one_of};
use super::link::{Omitted, Side};
use super::reader::{FromValue, Table, shown};
use crate::trace_file::{Row, TraceError, TracedRate, read_csv, read_mahimahi};
use lightlag_core::{Duration, Instant, Probability, Rate};
use lightlag_net::{Deliveries, Loss, Phase, Timetable};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fs::File;
use std::io::BufReader;
use std::sync::Arc;

/// A file that says how a direction changes, if there is one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace(pub Option<TraceFile>);

/// A file that says how a direction changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceFile {
    /// Its path, from the folder in which the program runs.
    pub file: String,
    /// How it is to be read.
    pub format: TraceFormat,
    /// Whether rows begin again after the last one, with its time as zero.
    pub repeats: bool,
}

/// The format of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceFormat {
    /// Rows of rate, delay and loss.
    Csv,
    /// Opportunities to deliver 1500 bytes.
    Mahimahi,
}

const FORMATS: [&str; 2] = ["csv", "mahimahi"];
/// The most rows of a trace that repeats, all rounds of a run together.
const MOST_ROWS: u64 = 40_000_000;
const WHAT: &str = "the path of a CSV file, such as \"cell.csv\", or { file = \"cell.down\", format = \"mahimahi\" }";

/// Traces that have been read, each file once.
#[derive(Default)]
pub(super) struct Traces {
    read: Vec<(Asked, Option<Traced>)>,
}

/// A file, and what a direction is like without it.
#[derive(Clone, PartialEq)]
struct Asked {
    trace: TraceFile,
    rate: Rate,
    delay: Duration,
    loss: Loss,
    /// The end of the run.
    until: Duration,
}

/// What a trace makes of a direction.
#[derive(Clone)]
struct Traced {
    phases: Arc<[Phase]>,
    loss: Loss,
    deliveries: Option<Deliveries>,
}

impl Traces {
    /// The timetable and the losses of a direction that begins with `loss`: of its trace, or of its changes. A file that
    /// cannot be read is an error of `table`, once.
    pub(super) fn direction(
        &mut self,
        side: &Side,
        loss: Loss,
        until: Duration,
        table: impl FnOnce() -> String,
        errors: &mut Errors,
    ) -> (Option<Timetable>, Loss) {
        let Some(trace) = &side.trace.0 else {
            return (side.changes.timetable(side), side.changes.loss(loss));
        };
        let asked = Asked { trace: trace.clone(), rate: side.rate, delay: side.delay, loss: loss.clone(), until };
        let known = self.read.iter().find(|(other, _)| *other == asked).map(|(_, traced)| traced.clone());
        let traced = known.unwrap_or_else(|| {
            let traced = read(&asked);
            if let Err(message) = &traced {
                errors.push(format_args!("{}.trace", table()), format!("{}: {message}", asked.trace.file));
            }
            self.read.push((asked, traced.clone().ok()));
            traced.ok()
        });
        let Some(Traced { phases, loss, deliveries }) = traced else { return (None, loss) };
        let timetable = Timetable::new(phases, side.outage.0, side.reorder.overtakes);
        (Some(timetable.delivering(deliveries)), loss)
    }
}

fn read(asked: &Asked) -> Result<Traced, String> {
    let Asked { trace, rate, delay, loss, until } = asked;
    let first = Phase { from: Instant::ZERO, rate: *rate, delay: *delay, is_up: true, loses: false };
    let metadata = std::fs::metadata(&trace.file).map_err(|error| format!("cannot be read: {error}"))?;
    if !metadata.is_file() {
        return Err("is not a file".to_owned());
    }
    let file = File::open(&trace.file).map_err(|error| format!("cannot be read: {error}"))?;
    let text = BufReader::new(file);
    let at_line = |error: TraceError| error.to_string();
    if trace.format == TraceFormat::Mahimahi {
        let deliveries = Deliveries::new(read_mahimahi(text).map_err(at_line)?);
        return Ok(Traced { phases: [first].into(), loss: loss.clone(), deliveries: Some(deliveries) });
    }
    let mut phases = Phases::new(first);
    let mut losses = vec![(Instant::ZERO, loss.clone())];
    let mut take = |row: Row| {
        let (rate, down) = match row.rate {
            Some(TracedRate::Down) => (None, Some(true)),
            Some(TracedRate::Up(rate)) => (Some(rate), Some(false)),
            None => (None, None),
        };
        phases.change(row.at, rate, row.delay, down);
        if let Some(probability) = row.loss {
            let loss = if probability == Probability::ZERO { Loss::None } else { Loss::Packet(probability) };
            let from = Instant::ZERO + row.at;
            losses.pop_if(|(last, _)| *last == from);
            if losses.last().is_none_or(|(_, last)| *last != loss) {
                losses.push((from, loss));
            }
        }
    };
    if trace.repeats {
        let mut rows = Vec::new();
        read_csv(text, |row| rows.push(row)).map_err(at_line)?;
        repeated(&rows, *until)?.for_each(take);
    } else {
        read_csv(text, &mut take).map_err(at_line)?;
    }
    Ok(Traced { phases: phases.into(), loss: super::changes::in_turn(losses), deliveries: None })
}

/// The rows of all rounds up to the end of a run.
fn repeated(rows: &[Row], until: Duration) -> Result<impl Iterator<Item = Row>, String> {
    let period = rows.last().map_or(Duration::ZERO, |last| last.at);
    if period.is_zero() {
        return Err("a trace that repeats has a last time above 0".to_owned());
    }
    let rounds = until.as_nanos().div_ceil(period.as_nanos());
    let most = MOST_ROWS / rows.len() as u64;
    if rounds > most {
        return Err(format!("{rounds} rounds of {period} in {until} are more than {most}; make the trace longer"));
    }
    let round = move |number| rows.iter().map(move |row| Row { at: row.at + period * number, ..*row });
    Ok((0..rounds).flat_map(round))
}

/// The keys under which a scenario has links.
const LISTS: [&str; 2] = ["links", "topology"];

/// The keys under which a generator has links beside its own.
const PARTS: [&str; 6] = ["access", "uplink", "downlink", "isl", "bottleneck", "terrestrial"];

/// Lets the paths of traces begin at `folder`, where the scenario stands.
pub(super) fn resolve(tree: &mut Value, folder: &str) {
    if folder.is_empty() {
        return;
    }
    for key in LISTS {
        match tree.get_mut(key) {
            Some(Value::Array(links)) => links.iter_mut().for_each(|link| resolve_link(link, folder)),
            Some(link) => {
                resolve_link(link, folder);
                for part in PARTS {
                    if let Some(line) = link.get_mut(part) {
                        resolve_link(line, folder);
                    }
                }
            }
            None => {}
        }
    }
}

fn resolve_link(link: &mut Value, folder: &str) {
    fn file(trace: &mut Value, folder: &str) {
        match trace {
            Value::String(path) => *path = std::path::Path::new(folder).join(&*path).to_string_lossy().into_owned(),
            Value::Object(table) => {
                for key in ["file", "forward", "backward"] {
                    if let Some(inner) = table.get_mut(key) {
                        file(inner, folder);
                    }
                }
            }
            _ => {}
        }
    }
    if let Some(trace) = link.get_mut("trace") {
        file(trace, folder);
    }
}

impl FromValue for Trace {
    const IS_TABLE: bool = true;

    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let (file, format, repeats) = if let Value::String(file) = value {
            (file.clone(), TraceFormat::Csv, false)
        } else {
            let mut table = Table::open(value, at, WHAT, errors)?;
            let file = table.required("file", "write the path of the trace, such as \"cell.csv\"", errors);
            let format = table.optional("format", errors).unwrap_or(TraceFormat::Csv);
            let repeats = table.optional("repeat", errors).unwrap_or_default();
            table.finish(errors);
            if repeats && format == TraceFormat::Mahimahi {
                errors.push(Path::Key(at, "repeat"), "a trace of deliveries always repeats; leave the key out");
                return None;
            }
            (file?, format, repeats)
        };
        if file.is_empty() {
            errors.push(at, "the path of the trace is empty");
            return None;
        }
        Some(Self(Some(TraceFile { file, format, repeats })))
    }
}

impl FromValue for TraceFormat {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        match value.as_str() {
            Some("csv") => Some(Self::Csv),
            Some("mahimahi") => Some(Self::Mahimahi),
            Some(other) => {
                errors.push(at, not_one_of(other, "a format of traces", &FORMATS));
                None
            }
            None => {
                errors.push(at, format!("{} is not \"csv\" or \"mahimahi\"", shown(value)));
                None
            }
        }
    }
}

impl Omitted for Trace {
    fn omitted() -> Option<Self> {
        Some(Self::default())
    }
}

impl Serialize for Trace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            None => serializer.serialize_none(),
            Some(TraceFile { file, format: TraceFormat::Csv, repeats: false }) => file.serialize(serializer),
            Some(TraceFile { file, format: TraceFormat::Csv, repeats: true }) => {
                json!({ "file": file, "repeat": true }).serialize(serializer)
            }
            Some(TraceFile { file, format: TraceFormat::Mahimahi, .. }) => {
                json!({ "file": file, "format": FORMATS[1] }).serialize(serializer)
            }
        }
    }
}

impl JsonSchema for Trace {
    fn schema_name() -> Cow<'static, str> {
        "Trace".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "a file that says how the link changes; its path begins where the scenario stands",
            "anyOf": [
                { "type": "string", "minLength": 1, "description": "CSV: time_s and any of rate_bps, delay_s, loss" },
                {
                    "type": "object",
                    "properties": {
                        "file": { "type": "string", "minLength": 1 },
                        "format": {
                            "enum": FORMATS,
                            "description": "csv, or a time in milliseconds for each opportunity to deliver 1500 bytes"
                        },
                        "repeat": {
                            "type": "boolean",
                            "description": "begin again after the last row of a CSV file, with its time as zero"
                        }
                    },
                    "required": ["file"],
                    "additionalProperties": false
                },
                { "type": "null" }
            ]
        })
    }
}
