//! Messages that an application exchanges before it starts to send: the cookie of iperf3, the greeting of a mail server, the
//! keys of TLS.
//!
//! Data belongs to the opening if it is short and not full, was acknowledged before more was sent, and much more
//! follows. Its sender waited for something else than its window.

use crate::analysis::{Kind, Observation, Side};
use lightlag_core::Instant;

/// Fewer full segments than these, sent in one round trip, may belong to an opening.
const FEW_SEGMENTS: i64 = 4;
/// The most rounds of an opening.
const MOST_ROUNDS: usize = 6;
/// An opening is shorter than this part of the transfer.
const PART: i64 = 4;

/// One round trip of data sent for the first time.
struct Round {
    start: i64,
    end: i64,
    begun: Instant,
    /// Whether everything in it was acknowledged before the next one.
    is_acked: bool,
}

/// Bytes of data in the opening, 0 if there is none.
pub(super) fn len(rows: &[Observation], sender: Side, full_segment: u32, base_rtt: f64) -> i64 {
    let full = i64::from(full_segment);
    let end = rows.iter().filter(|row| row.side == sender).map(|row| row.start + i64::from(row.len)).max().unwrap_or(1);
    let rounds = rounds(rows, sender, base_rtt);
    let is_short = |round: &Round| {
        let len = round.end - round.start;
        round.is_acked && len < FEW_SEGMENTS * full && len % full != 0
    };
    let opening = rounds.iter().take(MOST_ROUNDS).take_while(|round| is_short(round)).last();
    let len = opening.map_or(0, |last| last.end - 1);
    // The rest must be a transfer: more than the opening, and more than a message.
    if (end - 1 - len) > (PART * len).max(FEW_SEGMENTS * full) { len } else { 0 }
}

/// The first rounds of new data, up to one that a retransmission follows.
fn rounds(rows: &[Observation], sender: Side, base_rtt: f64) -> Vec<Round> {
    let mut rounds: Vec<Round> = Vec::new();
    for row in rows {
        if rounds.len() > MOST_ROUNDS || matches!(row.kind, Kind::Retransmission(_) | Kind::OutOfOrder) && row.len > 0 {
            break;
        }
        let last = rounds.last_mut();
        if row.side != sender {
            if let Some(last) = last {
                last.is_acked |= row.ack.is_some_and(|ack| ack >= last.end);
            }
        } else if row.len > 0 && row.kind == Kind::New {
            let end = row.start + i64::from(row.len);
            match last.filter(|last| row.at.since(last.begun).as_secs_f64() < 0.95 * base_rtt) {
                Some(last) => (last.end, last.is_acked) = (end, false),
                None => rounds.push(Round { start: row.start, end, begun: row.at, is_acked: false }),
            }
        }
    }
    rounds
}
