//! Comparison with the logs of `aioquic_run.py`.

use crate::compare::{Outcome, compare, line};
use crate::fixture::Record;
use crate::lightlag::Lightlag;
use crate::network::{CLIENT, Logged, Progress, SERVER, run};
use crate::pattern::{CLASSES, Pattern, generate};
use lightlag_core::Codepoint;
use lightlag_quic::codec::{Context, decode};
use lightlag_quic::config::HandshakeSizes;
use lightlag_quic::frame::Frame;
use lightlag_quic::{Kind, Profile};
use std::fmt::Write;

/// Returns `count` patterns of each class except "ECN marks": aioquic 1.2 does not use ECN.
pub fn patterns(count: u64) -> Vec<Pattern> {
    let classes = CLASSES.iter().filter(|(class, _)| *class != "ECN marks");
    classes.flat_map(|(class, _)| (0..count).map(|seed| generate(class, seed))).collect()
}

/// Reads the patterns and the logs of `aioquic_run.py`.
///
/// # Panics
/// If they are not what this program and `aioquic_run.py` write.
pub fn records(patterns: &str, logs: &str) -> Vec<Record> {
    let patterns: Vec<Pattern> = serde_json::from_str(patterns).expect("patterns");
    let pairs = patterns.into_iter().zip(logs.lines());
    pairs
        .map(|(pattern, text)| {
            let log = read(text);
            let sizes = sizes(&log, &pattern);
            Record { pattern, sizes, log }
        })
        .collect()
}

/// Reads a log: time, end, bytes, window, lost bytes, and whether the path dropped the datagram.
fn read(text: &str) -> Vec<Logged> {
    let rows: Vec<(u64, usize, String, u64, u64, bool)> = serde_json::from_str(text).expect("a line of the logs");
    let mut largest = [[None; 3]; 2];
    rows.into_iter()
        .map(|(time, from, hex, window, lost, dropped)| {
            let bytes: Vec<u8> = (0..hex.len() / 2)
                .map(|index| u8::from_str_radix(&hex[2 * index..2 * index + 2], 16).expect("two digits"))
                .collect();
            let context = Context { id_len: 8, largest: largest[from] };
            let size = bytes.len() as u64;
            // aioquic pads datagrams with zeros after the last packet.
            let contents = decode(&bytes, &context)
                .or_else(|error| decode(&bytes[..error.position.saturating_sub(1)], &context))
                .unwrap_or_else(|error| panic!("a datagram of aioquic: {error}"));
            for part in &contents.parts {
                if let Some(space) = part.kind.space() {
                    let slot = &mut largest[from][space as usize];
                    *slot = (*slot).max(Some(part.number));
                }
            }
            let progress = Progress { window, lost };
            Logged { time, from, size, ecn: Codepoint::NotEct, contents, progress, dropped }
        })
        .collect()
}

/// Returns the sizes of the handshake messages in a log.
fn sizes(log: &[Logged], pattern: &Pattern) -> HandshakeSizes {
    let crypto = |from: usize, kind: Kind| {
        let frames = log.iter().filter(|logged| logged.from == from).flat_map(|logged| {
            let parts = logged.contents.iter().filter(|view| view.part.kind == kind);
            parts.flat_map(|view| view.frames.to_vec()).collect::<Vec<_>>()
        });
        let ends = frames.filter_map(|frame| match frame {
            Frame::Crypto { offset, len } => Some(offset as u16 + len),
            _ => None,
        });
        ends.max()
    };
    let usual = pattern.sizes();
    HandshakeSizes {
        client_hello: crypto(CLIENT, Kind::Initial).unwrap_or(usual.client_hello),
        server_hello: crypto(SERVER, Kind::Initial).unwrap_or(usual.server_hello),
        server_flight: crypto(SERVER, Kind::Handshake).unwrap_or(usual.server_flight),
        client_finished: crypto(CLIENT, Kind::Handshake).unwrap_or(usual.client_finished),
        ticket: crypto(SERVER, Kind::OneRtt).unwrap_or(0),
        ..usual
    }
}

/// Returns our log of a pattern.
fn ours(record: &Record) -> Vec<Logged> {
    let mut ends = Lightlag::with_sizes(&record.pattern, Profile::Aioquic, Some(record.sizes));
    run(&mut ends, &record.pattern, &[])
}

/// Compares all patterns with their logs.
pub fn outcomes(records: Vec<Record>) -> Vec<(Pattern, Outcome)> {
    let outcome = |record: Record| {
        let outcome = compare(&ours(&record), &record.log);
        (record.pattern, outcome)
    };
    records.into_iter().map(outcome).collect()
}

/// Returns both logs of a pattern, up to a few datagrams beyond the first difference.
pub fn listing(record: &Record) -> String {
    let ours = ours(record);
    let outcome = compare(&ours, &record.log);
    let mut text = String::new();
    for (name, log) in [("ours", &ours), ("theirs", &record.log)] {
        _ = writeln!(text, "{name}");
        log.iter().take(outcome.agreed + 6).for_each(|logged| _ = writeln!(text, "{}", line(logged)));
    }
    text + &outcome.difference.unwrap_or_default() + "\n"
}
