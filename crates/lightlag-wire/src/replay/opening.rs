//! The opening of a connection: messages that an application exchanges before it starts to send, such as the cookie of
//! iperf3, the greeting of a mail server, or the keys of TLS.
//!
//! Data belongs to the opening if it is short, does not fill its last segment, was acknowledged before more data was
//! sent, and is followed by much more data. In that case the window did not limit its sender.

use crate::analysis::{Observation, SegmentKind, Side};
use lightlag_core::Instant;

/// Upper bound, exclusive, of the data of one round trip in an opening, in full segments.
const FEW_SEGMENTS: i64 = 4;
/// Maximum number of round trips of an opening.
const MOST_ROUNDS: usize = 6;
/// Minimum ratio of the transfer to the opening, in bytes.
const PART: i64 = 4;

/// Data that was sent for the first time within one round trip.
struct Round {
    start: i64,
    end: i64,
    begun: Instant,
    /// Whether all data of the round was acknowledged before the next round.
    is_acked: bool,
}

/// Returns the length of the opening in bytes; 0 if there is none.
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

/// Returns the first rounds of new data, up to the first retransmission.
fn rounds(rows: &[Observation], sender: Side, base_rtt: f64) -> Vec<Round> {
    let mut rounds: Vec<Round> = Vec::new();
    for row in rows {
        if rounds.len() > MOST_ROUNDS
            || matches!(row.kind, SegmentKind::Retransmission(_) | SegmentKind::OutOfOrder) && row.len > 0
        {
            break;
        }
        let last = rounds.last_mut();
        if row.side != sender {
            if let Some(last) = last {
                last.is_acked |= row.ack.is_some_and(|ack| ack >= last.end);
            }
        } else if row.len > 0 && row.kind == SegmentKind::New {
            let end = row.start + i64::from(row.len);
            match last.filter(|last| row.at.since(last.begun).as_secs_f64() < 0.95 * base_rtt) {
                Some(last) => (last.end, last.is_acked) = (end, false),
                None => rounds.push(Round { start: row.start, end, begun: row.at, is_acked: false }),
            }
        }
    }
    rounds
}
