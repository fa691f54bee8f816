//! Links: rate, delay, queue, losses and header in both directions.

use super::sides::sides;
use super::{
    Changes, Duplication, Extension, Fade, Fec, JitterSpec, LinkTrace, LossModel, Mtu, OnDemand, OutageRule, Police,
    Propagation, Queue, Reorder, Signals, TraceFormat,
};
use crate::read::{Errors, FromValue, Path, PerDirection, TableReader, leaf, share_part, shown};
use lightlag_core::{Bytes, Duration, Rate};
use lightlag_net::{Aggregate, Ramp, Slots, StateChannel};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// Maximum size of the link-layer header.
const LARGEST_HEADER: Bytes = Bytes(10_000);

/// A full-duplex link between two nodes. The forward direction starts at the first node.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(title = "Link", deny_unknown_fields)]
pub struct LinkSpec {
    /// The two nodes. A node is created when it is first named.
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
        /// Bit rate.
        rate: Rate, "specify the transmission rate, such as \"10 Mbit/s\"";
        /// Propagation delay: a time, or the path of a light signal.
        delay: Propagation, "specify the propagation delay, such as \"300 ms\"";
    }
    each {
        /// Jitter: a maximum deviation in either direction, `"5 ms"`, or a distribution.
        jitter: JitterSpec;
        /// Limit of the queue, `"1000 packets"`, `"64 kB"` or `"1 bdp"`; or a discipline with its keys, `{ discipline =
        /// "codel" }`.
        queue: Queue, shown;
        /// Packet loss other than queue overflow.
        loss: LossModel, shown;
        /// Forward error correction by repair packets, `{ data = 10, repair = 2 }`.
        fec: Fec;
        /// Random extra delay of packets, so that later ones overtake them, `{ probability = 0.01, delay = "5 ms" }`.
        reorder: Reorder;
        /// Probability that a packet arrives twice.
        duplicate: Duplication;
        /// Changes of the link at given times: rate, delay, outages (`down`) and losses.
        changes: Changes;
        /// File with the changes of the link over time, instead of `changes`.
        trace: LinkTrace;
        /// Fate of packets in an outage: they wait (hold), or the transmitter does not detect the outage and they are
        /// lost (lose).
        outage: OutageRule;
        /// Rain, which determines the rate of the link through the MODCODs of DVB-S2.
        fade: Fade;
        /// Bandwidth on demand: the transmitter must request capacity, `{ frame = "26.5 ms", latency = "560 ms" }`.
        on_demand: OnDemand;
        /// Policer before the queue: a token bucket that drops packets above a rate, `{ rate = "50 Mbit/s", burst =
        /// "64 kB" }`.
        police: Police;
        /// Largest IP packet that the link carries, 68 B to 65,535 B; larger ones are dropped without a notification.
        /// Default: no limit.
        mtu: Mtu;
        /// Grid of times when the state of the link changes: outages, steps of the delay, losses and lower rates,
        /// `{ period = "15 s", phase = "12 s", outage = "100 ms" }`.
        slots: Extension<Slots>;
        /// Channel whose bad state adds delay, loses packets and lowers the rate, `{ good = { mean_time = "10 s" },
        /// bad = { mean_time = "200 ms", delay = "30 ms", loss = 0.3 } }`.
        channel: Extension<StateChannel>;
        /// Capacity that follows demand: the rate at rest, and the time with a queue until the link has its rate,
        /// `{ idle = "100 Mbit/s", time = "400 ms" }`.
        ramp: Extension<Ramp>;
        /// Frames of a radio: packets wait for the next frame and are sent together, `{ interval = "1.33 ms" }`.
        aggregate: Extension<Aggregate>;
    }
    shared {
        /// Events that the stations at both ends report to flows with SCPS-TP: outages, corruption or both.
        signals: Signals;
        /// Link-layer header and trailer of every packet.
        header: Header, shown;
    }
}

impl FromValue for LinkSpec {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let mut table = TableReader::open(value, path, "a table with between, rate and delay", errors)?;
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
    /// Reads the keys of a link in a table that also has other keys.
    pub(crate) fn read_from(table: &mut TableReader, errors: &mut Errors) -> Option<Self> {
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
    /// Returns the minimum time that a bit takes: the propagation delay, and the wait for a grant.
    pub(crate) fn least_delay(&self) -> Duration {
        let wait = self.on_demand.demand(self.rate).map_or(Duration::ZERO, |demand| demand.least_wait());
        self.delay.0 + wait
    }

    /// Rejects keys that cannot be combined. If both directions have the same error, it is reported only once.
    fn check(&self, table: &TableReader, errors: &mut Errors) {
        let mut push = |key, message: &str| {
            let key_path = table.path(key);
            if !errors.any_at(&key_path) {
                errors.push(key_path, message);
            }
        };
        let (changes, traced) = (self.changes != Changes::default(), self.trace != LinkTrace::default());
        if changes && traced {
            push("trace", "cannot be combined with changes in the same direction; remove one");
        }
        if self.fade.0.is_some() && (changes || traced) {
            push("fade", "cannot be combined with changes or a trace in the same direction; remove one");
        }
        let is_delivered = self.trace.0.as_ref().is_some_and(|trace| trace.format == TraceFormat::Mahimahi);
        if self.on_demand.0.is_some() && is_delivered {
            push(
                "on_demand",
                "cannot be combined with a trace of deliveries, which already determines each transmission; remove one",
            );
        }
        self.check_frames(&mut push);
        self.check_dynamics(&mut push);
        self.check_ramp(&table.path("ramp"), errors);
        self.jitter.check(self.delay.0, &table.path("jitter"), errors);
        self.fec.check(&self.loss, self.reorder, self.duplicate, &table.path("fec"), errors);
        self.on_demand.check(self.rate, &table.path("on_demand"), errors);
    }
}

/// Size of the link-layer header and trailer of a packet, zero by default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Header(pub Bytes);

/// The schema of a size, under a separate name.
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
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let bytes: Bytes = leaf(value, path, errors)?;
        if bytes > LARGEST_HEADER {
            errors.push(path, format!("{} is above {LARGEST_HEADER}, the maximum link-layer header", shown(value)));
            return None;
        }
        Some(Self(bytes))
    }
}
