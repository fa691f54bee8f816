//! Comparison of two logs.

use crate::network::Logged;
use lightlag_quic::contents::PartView;
use lightlag_quic::frame::Frame;
use std::fmt::Write;

/// Limit for the difference of two times, in nanoseconds.
pub const TOLERANCE: u64 = 1_000_000;

/// Outcome for one pattern.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Datagrams that agree before the first difference.
    pub agreed: usize,
    /// Maximum difference of the times of these, in nanoseconds.
    pub worst: u64,
    /// The first difference.
    pub difference: Option<String>,
}

/// Returns a packet in words: its frames in a fixed order, without the ACK delay, the spin bit and padding.
fn describe_part(view: &PartView<'_>) -> String {
    let mut text = format!("{:?} {}:", view.part.kind, view.part.number);
    if let Some(ack) = &view.part.ack {
        text.push_str(" ACK");
        for range in view.ranges {
            _ = write!(text, " {}-{}", range.start, range.end - 1);
        }
        if let Some(ecn) = ack.ecn {
            _ = write!(text, " ({} {} {})", ecn.ect0, ecn.ect1, ecn.ce);
        }
    }
    let mut frames: Vec<String> = view
        .frames
        .iter()
        .filter(|frame| !matches!(frame, Frame::Padding(_)))
        .map(|frame| match frame {
            Frame::Stream { stream, offset, len, fin, .. } => {
                format!("STREAM {stream} {offset}+{len}{}", if *fin { " FIN" } else { "" })
            }
            Frame::Crypto { offset, len } => format!("CRYPTO {offset}+{len}"),
            frame => format!("{frame:?}"),
        })
        .collect();
    frames.sort();
    for frame in frames {
        _ = write!(text, " [{frame}]");
    }
    text
}

/// Returns a datagram in words.
pub fn describe(logged: &Logged) -> String {
    let parts: Vec<String> = logged.contents.iter().map(|view| describe_part(&view)).collect();
    format!("{} B {:?} {}", logged.size, logged.ecn, parts.join(" | "))
}

/// Returns the line of a datagram in a listing.
pub fn line(logged: &Logged) -> String {
    let arrow = if logged.from == 0 { "->" } else { "<-" };
    let fate = if logged.dropped { " LOST" } else { "" };
    format!(
        "{:12.6} {arrow}{fate} {} [window {}, lost {}]",
        logged.time as f64 / 1e6,
        describe(logged),
        logged.progress.window,
        logged.progress.lost
    )
}

/// Compares two logs, each direction by itself: times, sizes, ECN fields, packets, frames, windows and lost bytes.
pub fn compare(ours: &[Logged], theirs: &[Logged]) -> Outcome {
    let mut outcome = Outcome { agreed: 0, worst: 0, difference: None };
    let mut first: Option<(u64, String)> = None;
    for from in [0, 1] {
        let (mut left, mut right) =
            (ours.iter().filter(|logged| logged.from == from), theirs.iter().filter(|logged| logged.from == from));
        loop {
            let difference = match (left.next(), right.next()) {
                (None, None) => break,
                (Some(a), Some(b)) => {
                    let distance = a.time.abs_diff(b.time);
                    let same = distance <= TOLERANCE && describe(a) == describe(b) && a.progress == b.progress;
                    if same {
                        outcome.agreed += 1;
                        outcome.worst = outcome.worst.max(distance);
                        continue;
                    }
                    (a.time.min(b.time), format!("ours   {}\ntheirs {}", line(a), line(b)))
                }
                (Some(a), None) => (a.time, format!("ours   {}\ntheirs nothing", line(a))),
                (None, Some(b)) => (b.time, format!("ours   nothing\ntheirs {}", line(b))),
            };
            if first.as_ref().is_none_or(|(time, _)| difference.0 < *time) {
                first = Some(difference);
            }
            break;
        }
    }
    outcome.difference = first.map(|(_, text)| text);
    outcome
}
