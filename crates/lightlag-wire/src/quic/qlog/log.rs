//! The records of one endpoint.

use super::events::{Event, write_event, write_transfer};
use super::frames::Form;
use super::json::Object;
use super::schema::Schema;
use crate::quic::spec::SessionSpec;
use lightlag_core::Instant;
use lightlag_quic::streams::Side;

/// URN of the events of [`Schema::Current`]. The number of the draft is required until there is an RFC.
const EVENTS: &str = "urn:ietf:params:qlog:events:quic-13";

/// Separator before each record (RFC 7464 §2.2).
const SEPARATOR: char = '\x1e';

/// Names in the first record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Titles<'a> {
    /// Title of the trace.
    pub title: &'a str,
    /// Description of the trace.
    pub description: &'a str,
    /// Name of the endpoint.
    pub name: &'a str,
}

/// Writes the records of one endpoint.
#[derive(Clone, Debug)]
pub struct Log {
    schema: Schema,
    vantage: Side,
    spec: SessionSpec,
}

impl Log {
    /// Creates a log of the endpoint `vantage` of a connection.
    pub fn new(schema: Schema, vantage: Side, spec: SessionSpec) -> Self {
        Self { schema, vantage, spec }
    }

    /// Appends the first record.
    pub fn header(&self, out: &mut String, titles: &Titles<'_>) {
        out.push(SEPARATOR);
        Object::write(out, |header| {
            match self.schema {
                Schema::V03 => {
                    header.text("qlog_version", "0.3");
                    header.text("qlog_format", "JSON-SEQ");
                }
                Schema::Current => {
                    header.text("file_schema", "urn:ietf:params:qlog:file:sequential");
                    header.text("serialization_format", "application/qlog+json-seq");
                }
            }
            header.text("title", titles.title);
            header.text("description", titles.description);
            header.object("trace", |trace| self.trace(trace, titles));
        });
        out.push('\n');
    }

    fn trace(&self, trace: &mut Object<'_>, titles: &Titles<'_>) {
        trace.text("title", titles.title);
        trace.text("description", titles.description);
        if self.schema == Schema::Current {
            trace.texts("event_schemas", &[EVENTS]);
        }
        trace.object("vantage_point", |vantage| {
            vantage.text("name", titles.name);
            vantage.text("type", side(self.vantage));
        });
        trace.object("common_fields", |common| match self.schema {
            Schema::V03 => {
                common.text("time_format", "relative");
                common.number("reference_time", 0);
                common.texts("protocol_type", &["QUIC"]);
            }
            Schema::Current => {
                common.text("time_format", "relative_to_epoch");
                // main-schema §7.1: a clock without a relation to the time of day.
                common.object("reference_time", |time| {
                    time.text("clock_type", "monotonic");
                    time.text("epoch", "unknown");
                });
            }
        });
    }

    /// Appends the records of an event: one, or one for each packet of a datagram.
    pub fn record(&self, out: &mut String, time: Instant, event: &Event<'_>) {
        match event {
            Event::Sent { contents, .. } | Event::Received { contents } => {
                let is_sent = matches!(event, Event::Sent { .. });
                let sender = if is_sent { self.vantage } else { self.vantage.peer() };
                let form = Form { schema: self.schema, spec: &self.spec, sender };
                for view in contents.iter() {
                    self.line(out, time, event, |data| write_transfer(data, event, &form, &view));
                }
            }
            _ => self.line(out, time, event, |data| write_event(data, event, self.schema)),
        }
    }

    fn line(&self, out: &mut String, time: Instant, event: &Event<'_>, fill: impl FnOnce(&mut Object<'_>)) {
        let Some(name) = event.name(self.schema) else { return };
        out.push(SEPARATOR);
        Object::write(out, |record| {
            record.millis("time", time.since(Instant::ZERO));
            record.text("name", name);
            record.object("data", fill);
        });
        out.push('\n');
    }
}

fn side(side: Side) -> &'static str {
    match side {
        Side::Client => "client",
        Side::Server => "server",
    }
}
