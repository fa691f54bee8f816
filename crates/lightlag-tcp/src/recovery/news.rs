//! The rules of a repair, the news in an ACK, and the resulting verdict.

use crate::config::{Reductions, Scheme};
use crate::scoreboard::{Delivery, Range};
use lightlag_core::{Duration, Instant};

/// The rules by which a sender repairs, for its whole life.
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
    /// The value that a loss reduces, and the number of reductions.
    pub reductions: Reductions,
    /// The signs that an episode was spurious.
    pub signs: Signs,
}

/// The signs of a spurious episode that are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signs {
    /// Timestamps older than the first retransmission (RFC 3522).
    pub eifel: bool,
    /// D-SACK for every retransmission (RFC 3708).
    pub dsack: bool,
    /// Two acknowledgements of data that a timeout did not send again (RFC 5682).
    pub frto: bool,
}

/// The news of an ACK.
#[derive(Clone, Copy, Debug)]
pub struct News<'a> {
    /// Time at which it came.
    pub now: Instant,
    /// Bytes acknowledged cumulatively for the first time.
    pub newly_acked: u64,
    /// Whether it is a duplicate ACK: RFC 5681 §2; with SACK one that reports new data (RFC 6675 §2).
    pub duplicate: bool,
    /// Data that it took out of the network.
    pub delivery: &'a Delivery,
    /// The range that it reports as received twice (RFC 2883).
    pub dsack: Option<Range>,
    /// The end of the tick whose timestamp it echoes: segments that left at or after it carried a later one.
    pub echoed: Option<Instant>,
    /// SRTT; zero before the first sample.
    pub srtt: Duration,
    /// The smallest sample.
    pub min_rtt: Duration,
    /// Holes that it reports with SNACK.
    pub snack: Option<&'a Report>,
}

/// The contents of SNACK options.
#[derive(Debug, Default)]
pub struct Report {
    /// Missing ranges.
    pub missing: Vec<Range>,
    /// Received ranges.
    pub received: Vec<Range>,
    /// Time in which another report of the same hole is ignored.
    pub guard: Duration,
}

/// The consequences of an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// An episode ended.
    pub ended: bool,
    /// An episode started, with this FlightSize in bytes.
    pub began: Option<u64>,
    /// The first segment leaves again, whatever the window.
    pub resend_head: bool,
    /// New data was acknowledged, but the retransmission timer continues (RFC 6582 §3.2, the impatient variant).
    pub keep_timer: bool,
    /// The episode was spurious: its reaction is to be undone.
    pub undone: bool,
}
