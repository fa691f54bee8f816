//! Facts about a connection: the part of a step after a bar, separated by commas.
//!
//! - sizes in segments or bytes: `cwnd`, `ssthresh` (or `ssthresh none`), `inflight`, `window` (the peer's), `una`,
//!   `nxt`, `received`, `unread`, `duplicate`;
//! - times, which agree to a microsecond: `rto`, `srtt`, `rtt`, `min_rtt`, and `timer`, the time until one fires (or
//!   `timer none`);
//! - counts: `timeouts`, `recoveries`, `probes`, `retransmitted`, `undone`, `tail_probes`, `mark_reactions`,
//!   `delivered_ce` (packets), `ce_bytes`, `e0_bytes`, `e1_bytes`;
//! - keywords: `phase open|recovery|loss`, `state established` and so on, `failure none|syn|timeout|reset` and so on.

use super::segment::Number;
use super::words::{Words, duration, whole};
use lightlag_control::congestion::Phase;
use lightlag_core::{Duration, Instant};
use lightlag_tcp::{Connection, Failure, State};

/// A statement that must hold for a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    name: String,
    value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Size(Number),
    NoThreshold,
    Time(Duration),
    NoTimer,
    Count(u64),
    Phase(Phase),
    State(State),
    Failure(Option<Failure>),
}

const NAMES: &str = "cwnd, ssthresh, inflight, window, una, nxt, received, unread, duplicate (sizes), rto, srtt, rtt, min_rtt, \
                     timer (times), timeouts, recoveries, probes, retransmitted, undone, tail_probes, \
                     mark_reactions, delivered_ce, ce_bytes, e0_bytes, e1_bytes (counts), phase, state, failure";

const STATES: [(&str, State); 11] = [
    ("closed", State::Closed),
    ("listen", State::Listen),
    ("syn-sent", State::SynSent),
    ("syn-received", State::SynReceived),
    ("established", State::Established),
    ("fin-wait-1", State::FinWait1),
    ("fin-wait-2", State::FinWait2),
    ("close-wait", State::CloseWait),
    ("closing", State::Closing),
    ("last-ack", State::LastAck),
    ("time-wait", State::TimeWait),
];
const PHASES: [(&str, Phase); 3] = [("open", Phase::Open), ("recovery", Phase::Recovery), ("loss", Phase::Loss)];
const FAILURES: [(&str, Option<Failure>); 9] = [
    ("none", None),
    ("syn", Some(Failure::SynTimeout)),
    ("timeout", Some(Failure::Timeout)),
    ("reset", Some(Failure::Reset)),
    ("refused", Some(Failure::Refused)),
    ("aborted", Some(Failure::Aborted)),
    ("keep-alive", Some(Failure::KeepAlive)),
    ("probes", Some(Failure::ProbeTimeout)),
    ("fin-wait", Some(Failure::FinWait)),
];

/// Reads facts that are separated by commas.
pub fn facts(text: &str) -> Result<Vec<Fact>, String> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    text.split(',').map(fact).collect()
}

fn fact(text: &str) -> Result<Fact, String> {
    let mut words = Words::new(text);
    let name = words.word("a fact such as cwnd 10 or phase recovery")?;
    let value = match name {
        "ssthresh" if words.take("none") => Value::NoThreshold,
        "cwnd" | "ssthresh" | "inflight" | "window" | "una" | "nxt" | "received" | "unread" | "duplicate" => {
            Value::Size(Number::read(&mut words)?)
        }
        "timer" if words.take("none") => Value::NoTimer,
        "rto" | "srtt" | "rtt" | "min_rtt" | "timer" => Value::Time(duration(&mut words)?),
        "timeouts" | "recoveries" | "probes" | "retransmitted" | "undone" | "tail_probes" | "mark_reactions"
        | "delivered_ce" | "ce_bytes" | "e0_bytes" | "e1_bytes" => {
            Value::Count(whole(&mut words, "a count, such as 3")?)
        }
        "phase" => Value::Phase(one_of(&mut words, &PHASES)?),
        "state" => Value::State(one_of(&mut words, &STATES)?),
        "failure" => Value::Failure(one_of(&mut words, &FAILURES)?),
        _ => return Err(format!("\"{name}\" is not a valid fact; there are {NAMES}")),
    };
    words.end()?;
    Ok(Fact { name: name.to_owned(), value })
}

fn one_of<T: Copy>(words: &mut Words<'_>, names: &[(&str, T)]) -> Result<T, String> {
    let known = || names.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let word = words.word(&format!("one of {}", known()))?;
    let found = names.iter().find(|(name, _)| *name == word);
    found.map(|(_, value)| *value).ok_or_else(|| format!("\"{word}\" is not one of {}", known()))
}

fn name_of<T: Copy + PartialEq>(value: T, names: &[(&'static str, T)]) -> &'static str {
    names.iter().find(|(_, known)| *known == value).map_or("unknown", |(name, _)| name)
}

/// Formats bytes in the syntax of a script.
pub fn size(bytes: i64, unit: u32) -> String {
    let unit = i64::from(unit);
    if bytes % unit == 0 {
        format!("{}", bytes / unit)
    } else if bytes > unit {
        format!("{}+{}B", bytes / unit, bytes % unit)
    } else {
        format!("{bytes}B")
    }
}

impl Fact {
    /// Checks the fact. The error is the actual value.
    pub fn check(&self, connection: &Connection, now: Instant, unit: u32) -> Result<(), String> {
        let actual = self.found(connection, now);
        let wanted = match self.value {
            Value::Size(number) => Found::Size(number.bytes(unit).unsigned_abs()),
            Value::NoThreshold => Found::Size(u64::MAX),
            Value::Time(time) => Found::Time(time),
            Value::NoTimer => Found::Time(Duration::MAX),
            Value::Count(count) => Found::Count(count),
            Value::Phase(phase) => Found::Word(name_of(phase, &PHASES)),
            Value::State(state) => Found::Word(name_of(state, &STATES)),
            Value::Failure(failure) => Found::Word(name_of(failure, &FAILURES)),
        };
        if wanted.is(&actual) {
            return Ok(());
        }
        Err(format!("expected {} {}, found {}", self.name, wanted.text(unit), actual.text(unit)))
    }

    fn found(&self, connection: &Connection, now: Instant) -> Found {
        let (snapshot, statistics) = (connection.snapshot(), connection.statistics());
        match self.name.as_str() {
            "cwnd" => Found::Size(snapshot.cwnd),
            "ssthresh" => Found::Size(snapshot.ssthresh),
            "inflight" => Found::Size(snapshot.inflight),
            "window" => Found::Size(snapshot.peer_window),
            "una" => Found::Size(snapshot.snd_una),
            "nxt" => Found::Size(snapshot.snd_nxt),
            "received" => Found::Size(connection.received()),
            "unread" => Found::Size(connection.unread()),
            "duplicate" => Found::Size(statistics.duplicate_bytes),
            "rto" => Found::Time(snapshot.rto),
            "srtt" => Found::Time(snapshot.srtt),
            "rtt" => Found::Time(snapshot.rtt),
            "min_rtt" => Found::Time(snapshot.min_rtt),
            "timer" => Found::Time(connection.poll_timeout().map_or(Duration::MAX, |at| at.since(now))),
            "timeouts" => Found::Count(statistics.timeouts),
            "recoveries" => Found::Count(statistics.recoveries),
            "probes" => Found::Count(statistics.probes),
            "retransmitted" => Found::Count(statistics.retransmitted_segments),
            "undone" => Found::Count(statistics.undone),
            "tail_probes" => Found::Count(statistics.tail_probes),
            "mark_reactions" => Found::Count(statistics.mark_reactions),
            "delivered_ce" => Found::Count(connection.delivered_marks().ce_packets),
            "ce_bytes" => Found::Count(connection.delivered_marks().ce_bytes),
            "e0_bytes" => Found::Count(connection.delivered_marks().ect0_bytes),
            "e1_bytes" => Found::Count(connection.delivered_marks().ect1_bytes),
            "phase" => Found::Word(name_of(snapshot.phase, &PHASES)),
            "state" => Found::Word(name_of(connection.state(), &STATES)),
            _ => Found::Word(name_of(statistics.failure, &FAILURES)),
        }
    }
}

/// Describes the connection in one line, for messages.
pub fn summary(connection: &Connection, unit: u32) -> String {
    let snapshot = connection.snapshot();
    let word = |bytes: u64| if bytes == u64::MAX { "none".to_owned() } else { size(bytes as i64, unit) };
    format!(
        "state {}, phase {}, cwnd {}, ssthresh {}, inflight {}, una {}, nxt {}, window {}, srtt {}, rto {}",
        name_of(connection.state(), &STATES),
        name_of(snapshot.phase, &PHASES),
        word(snapshot.cwnd),
        word(snapshot.ssthresh),
        word(snapshot.inflight),
        word(snapshot.snd_una),
        word(snapshot.snd_nxt),
        word(snapshot.peer_window),
        snapshot.srtt,
        snapshot.rto,
    )
}

#[derive(PartialEq)]
enum Found {
    Size(u64),
    Time(Duration),
    Count(u64),
    Word(&'static str),
}

impl Found {
    /// Returns true if both facts are equal; times may differ by a microsecond.
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Time(wanted), Self::Time(found)) => wanted.abs_diff(*found) <= Duration::from_micros(1),
            _ => self == other,
        }
    }

    fn text(&self, unit: u32) -> String {
        match self {
            Self::Size(u64::MAX) | Self::Time(Duration::MAX) => "none".to_owned(),
            Self::Size(bytes) => size(*bytes as i64, unit),
            Self::Time(time) => time.to_string(),
            Self::Count(count) => count.to_string(),
            Self::Word(word) => (*word).to_owned(),
        }
    }
}
