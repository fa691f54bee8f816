//! Links as asked for: rate, delay, queue, loss and header of both directions.

use super::sides::sides;
use super::{
    Changes, Duplication, Fade, Fec, JitterSpec, LinkTrace, LossModel, OnDemand, OutageRule, Propagation, Queue,
    Reorder, Signals, TraceFormat,
};
use crate::read::{Errors, FromValue, Path, PerDirection, Table, leaf, share_part, shown};
use lightlag_core::{Bytes, Rate};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
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

sides! {
    /// Properties of one direction of a link.
    pub struct LinkSide;

    /// Properties of a link, in both directions.
    pub struct Line;

    needed {
        /// Rate at which bits leave.
        rate: Rate, "say how fast bits leave, such as \"10 Mbit/s\"";
        /// Propagation delay: a time, or the way that light travels.
        delay: Propagation, "say how long a bit travels, such as \"300 ms\"";
    }
    each {
        /// Differences in delay from packet to packet.
        jitter: JitterSpec;
        /// Upper limit of what waits for transmission, `"1000 packets"`, `"64 kB"` or `"1 bdp"`, or a table with a discipline.
        queue: Queue, shown;
        /// Losses other than those for want of room.
        loss: LossModel, shown;
        /// Forward error correction: repair packets that give lost packets back.
        fec: Fec;
        /// Packets that are held back, so that later ones pass.
        reorder: Reorder;
        /// Probability that a packet arrives twice.
        duplicate: Duplication;
        /// Properties of the link from some times on.
        changes: Changes;
        /// A file that says how the link changes, in the place of `changes`.
        trace: LinkTrace;
        /// Fate of packets in an outage.
        outage: OutageRule;
        /// Rain that drives the rate of the link.
        fade: Fade;
        /// A transmitter that must ask for bandwidth.
        on_demand: OnDemand;
    }
    shared {
        /// Messages of the stations at both ends to the ends of flows.
        signals: Signals;
        /// Link-layer header and trailer of every packet.
        header: Header, shown;
    }
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
        let line = Self::read_keys(table, errors)?;
        line.forward.check(table, errors);
        if line.backward != line.forward {
            line.backward.check(table, errors);
        }
        (errors.len() == before).then_some(line)
    }
}

impl LinkSide {
    /// Rejects keys that cannot be combined. A place is named once, also if both directions have the same error.
    fn check(&self, table: &Table, errors: &mut Errors) {
        let mut push = |key, message: &str| {
            let at = table.path(key);
            if !errors.any_at(&at) {
                errors.push(at, message);
            }
        };
        let (changes, traced) = (self.changes != Changes::default(), self.trace != LinkTrace::default());
        if changes && traced {
            push("trace", "a direction changes by a trace or by changes, not by both");
        }
        if self.fade.0.is_some() && (changes || traced) {
            push("fade", "a direction changes by rain, by changes or by a trace, not by two of them");
        }
        let is_delivered = self.trace.0.as_ref().is_some_and(|trace| trace.format == TraceFormat::Mahimahi);
        if self.on_demand.0.is_some() && is_delivered {
            push("on_demand", "a trace of deliveries says already what leaves when; leave one of the two out");
        }
        self.jitter.check(self.delay.0, &table.path("jitter"), errors);
        self.fec.check(&self.loss, self.reorder, self.duplicate, &table.path("fec"), errors);
        self.on_demand.check(self.rate, &table.path("on_demand"), errors);
    }
}

/// Link-layer header and trailer of a packet, zero by default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Header(pub Bytes);

/// The schema of a size, also by its name.
impl JsonSchema for Header {
    fn inline_schema() -> bool {
        Bytes::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        Bytes::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        Bytes::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Bytes::json_schema(generator)
    }
}

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
