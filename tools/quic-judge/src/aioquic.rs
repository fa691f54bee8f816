//! Comparison with the logs of `aioquic_run.py`.

use crate::compare::{Outcome, compare, line};
use crate::examples::times;
use crate::lightlag::Lightlag;
use crate::network::{CLIENT, Logged, Progress, SERVER, run};
use crate::pattern::{CLASSES, Pattern, generate};
use lightlag_core::Codepoint;
use lightlag_quic::codec::{Context, decode};
use lightlag_quic::config::HandshakeSizes;
use lightlag_quic::frame::Frame;
use lightlag_quic::{Kind, Profile};
use std::fmt::Write;

/// Returns `count` patterns of each class but that of ECN marks: aioquic 1.2 does not use ECN.
pub fn patterns(count: u64) -> Vec<Pattern> {
    let classes = CLASSES.iter().filter(|(class, _)| *class != "ECN marks");
    classes.flat_map(|(class, _)| (0..count).map(|seed| generate(class, seed))).collect()
}

/// Reads a log: time, end, bytes, window, and whether the path dropped the datagram.
fn read(line: &str) -> Vec<Logged> {
    let rows: Vec<(u64, usize, String, u64, bool)> = serde_json::from_str(line).expect("a line of the logs");
    let mut largest = [[None; 3]; 2];
    rows.into_iter()
        .map(|(time, from, hex, window, dropped)| {
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
            let progress = Progress { window, lost: 0 };
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

/// Returns both logs of a pattern up to a few datagrams beyond the first difference.
pub fn listing(patterns: &str, logs: &str, index: usize) -> String {
    let patterns: Vec<Pattern> = serde_json::from_str(patterns).expect("patterns");
    let theirs = read(logs.lines().nth(index).expect("a log"));
    let ours = ours(&patterns[index], &theirs);
    let outcome = compare(&ours, &theirs);
    let mut text = String::new();
    for (name, log) in [("ours", &ours), ("theirs", &theirs)] {
        _ = writeln!(text, "{name}");
        log.iter().take(outcome.agreed + 6).for_each(|logged| _ = writeln!(text, "{}", line(logged)));
    }
    text + &outcome.difference.unwrap_or_default() + "\n"
}

fn ours(pattern: &Pattern, theirs: &[Logged]) -> Vec<Logged> {
    let config = Some(sizes(theirs, pattern));
    let mut ours = run(&mut Lightlag::with_sizes(pattern, Profile::Aioquic, config), pattern, &[]);
    ours.iter_mut().for_each(|logged| logged.progress.lost = 0);
    ours
}

/// Compares all patterns with their logs.
pub fn outcomes(patterns: &str, logs: &str) -> Vec<(Pattern, Outcome)> {
    let patterns: Vec<Pattern> = serde_json::from_str(patterns).expect("patterns");
    let pairs = patterns.into_iter().zip(logs.lines());
    pairs
        .map(|(pattern, line)| {
            let theirs = read(line);
            let outcome = compare(&ours(&pattern, &theirs), &theirs);
            (pattern, outcome)
        })
        .collect()
}

/// Compares the times of the transfers.
pub fn table(patterns: &str, logs: &str) -> String {
    let patterns: Vec<Pattern> = serde_json::from_str(patterns).expect("patterns");
    let mut text = String::from(
        "| class | patterns | time, ours / aioquic: median | 5 % | 95 % | first byte: median | datagrams alike |\n\
         |---|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut rows: Vec<(String, f64, f64, usize)> = Vec::new();
    for (pattern, line) in patterns.iter().zip(logs.lines()) {
        let theirs = read(line);
        let ours = ours(pattern, &theirs);
        let (a, b) = (times(pattern, &ours), times(pattern, &theirs));
        let agreed = compare(&ours, &theirs).agreed;
        if a.last > 0.0 && b.last > 0.0 {
            rows.push((pattern.class.clone(), a.last / b.last, a.first / b.first, agreed));
        }
    }
    for (class, _) in CLASSES {
        let of_class: Vec<_> = rows.iter().filter(|row| row.0 == class).collect();
        let sorted = |value: fn(&(String, f64, f64, usize)) -> f64| {
            let mut values: Vec<f64> = of_class.iter().map(|row| value(row)).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let (last, first) = (sorted(|row| row.1), sorted(|row| row.2));
        let Some(top) = last.len().checked_sub(1) else { continue };
        let at = |values: &[f64], part: f64| values[(top as f64 * part).round() as usize];
        let alike: usize = of_class.iter().map(|row| row.3).sum();
        _ = writeln!(
            text,
            "| {class} | {} | {:.3} | {:.3} | {:.3} | {:.3} | {alike} |",
            last.len(),
            at(&last, 0.5),
            at(&last, 0.05),
            at(&last, 0.95),
            at(&first, 0.5)
        );
    }
    text
}
