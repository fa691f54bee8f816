//! Links as asked for: rate, delay, queue, loss and header of both directions.

use super::{
    Changes, Duplication, Fade, Fec, JitterSpec, LinkTrace, LossModel, OnDemand, OutageRule, Propagation, Queue,
    Reorder, Signals, TraceFormat,
};
use crate::read::{Errors, FromValue, Path, PerDirection, Table, leaf, share_part, shown};
use lightlag_core::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// The largest link-layer header.
const LARGEST_HEADER: Bytes = Bytes(10_000);

/// A full-duplex link between two nodes. The first is where `forward` begins.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct LinkSpec {
    /// The two nodes. A node exists by being named here.
    pub between: [String; 2],
    /// Properties of the link.
    #[serde(flatten)]
    pub line: Arc<Line>,
}

/// Properties of a link, in both directions.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Line {
    /// Rate at which bits leave.
    pub rate: PerDirection<Rate>,
    /// Propagation delay: a time, or the way that light travels.
    #[schemars(with = "PerDirection<Propagation>")]
    pub delay: PerDirection<Duration>,
    /// Differences in delay from packet to packet.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(default)]
    pub jitter: PerDirection<JitterSpec>,
    /// Upper limit of what waits for transmission, `"1000 packets"`, `"64 kB"` or `"1 bdp"`, or a table with a discipline.
    #[schemars(default)]
    pub queue: PerDirection<Queue>,
    /// Losses other than those for want of room.
    #[schemars(default)]
    pub loss: PerDirection<LossModel>,
    /// Forward error correction: repair packets that give lost packets back.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(default)]
    pub fec: PerDirection<Fec>,
    /// Packets that are held back, so that later ones pass.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(default)]
    pub reorder: PerDirection<Reorder>,
    /// Probability that a packet arrives twice.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(default)]
    pub duplicate: PerDirection<Duplication>,
    /// Properties of the link from some times on.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(default)]
    pub changes: PerDirection<Changes>,
    /// A file that says how the link changes, in the place of `changes`.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(default)]
    pub trace: PerDirection<LinkTrace>,
    /// Fate of packets in an outage.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(default)]
    pub outage: PerDirection<OutageRule>,
    /// Rain that drives the rate of the link.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(default)]
    pub fade: PerDirection<Fade>,
    /// A transmitter that must ask for bandwidth.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(default)]
    pub on_demand: PerDirection<OnDemand>,
    /// Messages of the stations at both ends to the ends of flows.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(default)]
    pub signals: Signals,
    /// Link-layer header and trailer of every packet.
    #[schemars(default)]
    pub header: Bytes,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl FromValue for LinkSpec {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let mut table = Table::open(value, at, "a table with between, rate and delay", errors)?;
        let between = table.required("between", "name the two nodes, such as [\"client\", \"server\"]", errors);
        let line = Line::read_from(&mut table, errors);
        table.finish(errors);
        Some(Self { between: between?, line: Arc::new(line?) })
    }

    fn share(&mut self, earlier: &[Self]) {
        share_part(&mut self.line, earlier.iter().map(|link| &link.line));
    }
}

impl Line {
    /// Reads the keys of a line beside others of the same table.
    pub(crate) fn read_from(table: &mut Table, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let rate: Option<PerDirection<Rate>> =
            table.required("rate", "say how fast bits leave, such as \"10 Mbit/s\"", errors);
        let delay: Option<PerDirection<Propagation>> =
            table.required("delay", "say how long a bit travels, such as \"300 ms\"", errors);
        let delay = delay.map(|delay| PerDirection { forward: delay.forward.0, backward: delay.backward.0 });
        let jitter: PerDirection<JitterSpec> = table.optional("jitter", errors).unwrap_or_default();
        if let Some(PerDirection { forward, backward }) = delay {
            let at = table.path("jitter");
            jitter.forward.check(forward, &at, errors);
            if jitter.backward != jitter.forward || backward != forward {
                jitter.backward.check(backward, &at, errors);
            }
        }
        let queue = table.optional("queue", errors).unwrap_or_default();
        let loss = table.optional("loss", errors).unwrap_or_default();
        let fec = table.optional("fec", errors).unwrap_or_default();
        let reorder = table.optional("reorder", errors).unwrap_or_default();
        let duplicate = table.optional("duplicate", errors).unwrap_or_default();
        check_fec(&fec, &loss, (&reorder, &duplicate), &table.path("fec"), errors);
        let changes: PerDirection<Changes> = table.optional("changes", errors).unwrap_or_default();
        let trace: PerDirection<LinkTrace> = table.optional("trace", errors).unwrap_or_default();
        let both =
            |changes: &Changes, trace: &LinkTrace| *changes != Changes::default() && *trace != LinkTrace::default();
        if both(&changes.forward, &trace.forward) || both(&changes.backward, &trace.backward) {
            errors.push(table.path("trace"), "a direction changes by a trace or by changes, not by both");
        }
        let outage = table.optional("outage", errors).unwrap_or_default();
        let fade: PerDirection<Fade> = table.optional("fade", errors).unwrap_or_default();
        let changes_too = |fade: &Fade, changes: &Changes, trace: &LinkTrace| {
            fade.0.is_some() && (*changes != Changes::default() || *trace != LinkTrace::default())
        };
        if changes_too(&fade.forward, &changes.forward, &trace.forward)
            || changes_too(&fade.backward, &changes.backward, &trace.backward)
        {
            errors
                .push(table.path("fade"), "a direction changes by rain, by changes or by a trace, not by two of them");
        }
        let on_demand = on_demand(table, rate.as_ref(), &trace, errors);
        let signals = table.optional("signals", errors).unwrap_or_default();
        let header = header(table, errors);
        let line = Self {
            rate: rate?,
            delay: delay?,
            jitter,
            queue,
            loss,
            fec,
            reorder,
            duplicate,
            changes,
            trace,
            outage,
            fade,
            on_demand,
            signals,
            header,
        };
        (errors.len() == before).then_some(line)
    }
}

/// Refuses codes that do not go with the rest of the link.
fn check_fec(
    fec: &PerDirection<Fec>,
    loss: &PerDirection<LossModel>,
    (reorder, duplicate): (&PerDirection<Reorder>, &PerDirection<Duplication>),
    at: &Path,
    errors: &mut Errors,
) {
    fec.forward.check(&loss.forward, reorder.forward, duplicate.forward, at, errors);
    fec.backward.check(&loss.backward, reorder.backward, duplicate.backward, at, errors);
}

/// Bandwidth on demand, as far as the rate and the trace of the link allow it.
fn on_demand(
    table: &mut Table,
    rate: Option<&PerDirection<Rate>>,
    trace: &PerDirection<LinkTrace>,
    errors: &mut Errors,
) -> PerDirection<OnDemand> {
    let both: PerDirection<OnDemand> = table.optional("on_demand", errors).unwrap_or_default();
    let at = table.path("on_demand");
    if let Some(PerDirection { forward, backward }) = rate {
        both.forward.check(*forward, &at, errors);
        if both.backward != both.forward || backward != forward {
            both.backward.check(*backward, &at, errors);
        }
    }
    let is_delivered = |trace: &LinkTrace| trace.0.as_ref().is_some_and(|trace| trace.format == TraceFormat::Mahimahi);
    let sides = [(both.forward, &trace.forward), (both.backward, &trace.backward)];
    if sides.into_iter().any(|(demand, trace)| demand.0.is_some() && is_delivered(trace)) {
        errors.push(at, "a trace of deliveries says already what leaves when; leave one of the two out");
    }
    both
}

/// The link-layer header of a table, zero by default.
fn header(table: &mut Table, errors: &mut Errors) -> Bytes {
    table.optional::<Header>("header", errors).map_or(Bytes::ZERO, |header| header.0)
}

struct Header(Bytes);

impl FromValue for Header {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let bytes: Bytes = leaf(value, at, errors)?;
        if bytes > LARGEST_HEADER {
            errors.push(at, format!("{} is above {LARGEST_HEADER}, the largest link-layer header", shown(value)));
            return None;
        }
        Some(Self(bytes))
    }
}
