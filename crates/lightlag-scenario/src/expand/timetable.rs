//! Timetables of links that change, from a list of changes or from a trace file.

use crate::read::Errors;
use crate::read::files::Files;
use crate::read::trace_file::{Row, TraceError, TracedRate, read_csv, read_mahimahi};
use crate::spec::{Change, Changes, LinkSide, TraceFile, TraceFormat};
use lightlag_core::{Duration, Instant, Probability, Rate};
use lightlag_net::{Deliveries, Loss, Outage, Phase, Timetable};
use std::io::BufReader;
use std::sync::Arc;

/// Maximum number of rows of a repeating trace, in all repetitions during a run.
const MOST_ROWS: u64 = 40_000_000;

impl Changes {
    /// Returns the timetable of a direction; `None` if it is always up, with a constant rate and delay.
    pub(crate) fn timetable(&self, side: &LinkSide) -> Option<Timetable> {
        let first = Phase { from: Instant::ZERO, rate: side.rate, delay: side.delay.0, is_up: true, loses: false };
        let mut phases = Phases::new(first);
        for Change { at, rate, delay, down, .. } in &self.0 {
            phases.change(*at, *rate, *delay, *down);
        }
        let phases: Arc<[Phase]> = phases.into();
        (*phases != [first]).then(|| Timetable::new(phases, side.outage.0, side.reorder.overtakes))
    }

    /// Returns the losses of a direction over time, which start with `first`.
    pub(crate) fn loss(&self, first: Loss) -> Loss {
        let mut losses = vec![(Instant::ZERO, first)];
        for change in &self.0 {
            if let Some(loss) = &change.loss {
                let from = Instant::ZERO + change.at;
                losses.pop_if(|(last, _)| *last == from);
                losses.push((from, loss.model()));
            }
        }
        in_turn(losses)
    }
}

/// Returns a timetable without changes, with the rate and delay of the direction.
pub(crate) fn steady(side: &LinkSide) -> Timetable {
    Timetable::new([unchanged(side.rate, side.delay.0)], side.outage.0, side.reorder.overtakes)
}

/// Returns a timetable with a constant rate and delay.
pub(super) fn steady_at(rate: Rate, delay: Duration) -> Timetable {
    Timetable::new([unchanged(rate, delay)], Outage::Hold, false)
}

fn unchanged(rate: Rate, delay: Duration) -> Phase {
    Phase { from: Instant::ZERO, rate, delay, is_up: true, loses: false }
}

/// Combines loss models, each with its start time, into a sequence. The first one starts at zero. A single model never
/// changes.
pub(crate) fn in_turn(mut losses: Vec<(Instant, Loss)>) -> Loss {
    match losses.pop() {
        Some((_, only)) if losses.is_empty() => only,
        last => {
            losses.extend(last);
            Loss::Changing(losses.into())
        }
    }
}

/// Builds phases from successive changes.
pub(crate) struct Phases {
    before: Vec<Phase>,
    last: Phase,
}

impl Phases {
    pub(crate) fn new(first: Phase) -> Self {
        Self { before: Vec::new(), last: first }
    }

    /// Adds a change, which must not be before the last one.
    pub(crate) fn change(&mut self, offset: Duration, rate: Option<Rate>, delay: Option<Duration>, down: Option<bool>) {
        let last = self.last;
        let next = Phase {
            from: Instant::ZERO + offset,
            rate: rate.unwrap_or(last.rate),
            delay: delay.unwrap_or(last.delay),
            is_up: down.map_or(last.is_up, |down| !down),
            loses: false,
        };
        if next.from == last.from {
            self.last = next;
        } else if next != (Phase { from: next.from, ..last }) {
            self.before.push(last);
            self.last = next;
        }
    }
}

impl From<Phases> for Arc<[Phase]> {
    fn from(mut phases: Phases) -> Self {
        phases.before.push(phases.last);
        phases.before.into()
    }
}

/// The traces read so far. Each file is read once.
pub(crate) struct Traces<'a> {
    files: &'a Files,
    read: Vec<(FileRequest, Option<Traced>)>,
}

/// A trace file, and the properties of the direction that apply without it.
#[derive(Clone, PartialEq)]
struct FileRequest {
    trace: TraceFile,
    rate: Rate,
    delay: Duration,
    loss: Loss,
    /// End of the run.
    until: Duration,
}

/// Properties of a direction over time according to a trace.
#[derive(Clone)]
struct Traced {
    phases: Arc<[Phase]>,
    loss: Loss,
    deliveries: Option<Deliveries>,
}

impl<'a> Traces<'a> {
    pub(crate) fn of(files: &'a Files) -> Self {
        Self { files, read: Vec::new() }
    }

    /// Returns the timetable and the losses of a direction from its trace or its changes; `loss` applies at the start.
    /// A file that cannot be read is reported once, as an error of `table`.
    pub(crate) fn direction(
        &mut self,
        side: &LinkSide,
        loss: Loss,
        until: Duration,
        table: impl FnOnce() -> String,
        errors: &mut Errors,
    ) -> (Option<Timetable>, Loss) {
        let Some(trace) = &side.trace.0 else {
            return (side.changes.timetable(side), side.changes.loss(loss));
        };
        let request =
            FileRequest { trace: trace.clone(), rate: side.rate, delay: side.delay.0, loss: loss.clone(), until };
        let known = self.read.iter().find(|(other, _)| *other == request).map(|(_, traced)| traced.clone());
        let traced = known.unwrap_or_else(|| {
            let traced = read(self.files, &request);
            if let Err(message) = &traced {
                errors.push(format_args!("{}.trace", table()), format!("{}: {message}", request.trace.file));
            }
            self.read.push((request, traced.clone().ok()));
            traced.ok()
        });
        let Some(Traced { phases, loss, deliveries }) = traced else { return (None, loss) };
        let timetable = Timetable::new(phases, side.outage.0, side.reorder.overtakes);
        (Some(timetable.delivering(deliveries)), loss)
    }
}

fn read(files: &Files, file_request: &FileRequest) -> Result<Traced, String> {
    let FileRequest { trace, rate, delay, loss, until } = file_request;
    let first = Phase { from: Instant::ZERO, rate: *rate, delay: *delay, is_up: true, loses: false };
    let (file, _) = files.open(&trace.file)?;
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
    Ok(Traced { phases: phases.into(), loss: in_turn(losses), deliveries: None })
}

/// Returns the rows of all repetitions up to the end of a run.
fn repeated(rows: &[Row], until: Duration) -> Result<impl Iterator<Item = Row>, String> {
    let period = rows.last().map_or(Duration::ZERO, |last| last.at);
    if period.is_zero() {
        return Err("a trace that repeats has a last time above 0".to_owned());
    }
    let rounds = until.as_nanos().div_ceil(period.as_nanos());
    let max_rounds = MOST_ROWS / rows.len() as u64;
    if rounds > max_rounds {
        return Err(format!(
            "{rounds} repetitions of {period} in {until} are more than {max_rounds}; make the trace longer"
        ));
    }
    let round = move |number| rows.iter().map(move |row| Row { at: row.at + period * number, ..*row });
    Ok((0..rounds).flat_map(round))
}
