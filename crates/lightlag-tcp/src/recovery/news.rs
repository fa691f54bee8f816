//! The rules of a repair, the news that an ACK brings it, and the verdict that follows.

use super::undo::Signs;
use crate::config::{Reductions, Scheme};
use crate::scoreboard::{Delivery, Range};
use lightlag_core::{Duration, Instant};

/// How a sender repairs, for its whole life.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The sign that a segment is lost.
    pub scheme: Scheme,
    /// New data on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Proportional rate reduction (RFC 9937), with SACK or with guesses.
    pub prr: bool,
    /// Duplicate ACKs count as SACKs of unknown segments (Linux without SACK).
    pub guesses: bool,
    /// Rate halving in its place.
    pub rate_halving: bool,
    /// RACK's round trip is that of the segment delivered last in the order of offsets (Linux).
    pub rtt_by_offset: bool,
    /// Restart the retransmission timer with the first partial ACK only (RFC 6582 §4, "Impatient").
    pub impatient: bool,
    /// The value that a loss reduces, and how often.
    pub reductions: Reductions,
    /// The signs that an episode was spurious.
    pub signs: Signs,
}

/// The news of an ACK.
#[derive(Clone, Copy, Debug)]
pub struct News<'a> {
    /// When it came.
    pub now: Instant,
    /// Bytes acknowledged cumulatively for the first time.
    pub newly_acked: u64,
    /// Whether it is a duplicate ACK: RFC 5681 §2; with SACK one that reports new data (RFC 6675 §2).
    pub duplicate: bool,
    /// Data that it took out of the network.
    pub delivery: &'a Delivery,
    /// The range that it reports as received twice (RFC 2883).
    pub dsack: Option<Range>,
    /// The end of the tick whose timestamp it echoes: what left at or after it carried a later one.
    pub echoed: Option<Instant>,
    /// SRTT; zero before the first sample.
    pub srtt: Duration,
    /// The smallest sample.
    pub min_rtt: Duration,
    /// Holes that it reports with SNACK.
    pub snack: Option<&'a Report>,
}

/// What SNACK options say.
#[derive(Debug, Default)]
pub struct Report {
    /// What is missing.
    pub missing: Vec<Range>,
    /// What was received.
    pub received: Vec<Range>,
    /// How long a report of the same hole says nothing new.
    pub guard: Duration,
}

/// What follows from an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// An episode ended.
    pub ended: bool,
    /// An episode began, with this FlightSize in bytes.
    pub began: Option<u64>,
    /// The first segment leaves again whatever the window says.
    pub resend_head: bool,
    /// New data was acknowledged, but the retransmission timer goes on (RFC 6582 §3.2, the impatient variant).
    pub keep_timer: bool,
    /// The episode was spurious: what it cost is to be given back.
    pub undone: bool,
}
