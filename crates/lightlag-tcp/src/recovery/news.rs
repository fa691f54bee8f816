//! The rules of loss repair, the information in an ACK, and the consequences of the ACK.

use crate::config::{Reductions, Scheme};
use crate::scoreboard::{Delivery, Range};
use lightlag_core::{Duration, Instant};

/// Rules of a sender's loss repair. They do not change during the connection.
#[derive(Clone, Copy, Debug)]
pub struct RepairRules {
    /// Method of loss detection.
    pub scheme: Scheme,
    /// Whether new data is sent on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Whether fast recovery uses proportional rate reduction (RFC 9937). It requires SACK or [`Self::guesses`].
    pub prr: bool,
    /// Whether duplicate ACKs count as SACKs of unknown segments (Linux without SACK).
    pub guesses: bool,
    /// Whether fast recovery uses rate halving instead of proportional rate reduction.
    pub rate_halving: bool,
    /// Whether RACK measures the round trip of the delivered segment with the highest offset (Linux).
    pub rtt_by_offset: bool,
    /// Whether only the first partial ACK restarts the retransmission timer (RFC 6582 §4, "Impatient").
    pub impatient: bool,
    /// Base of the window reductions after a loss (FlightSize or the congestion window), and their frequency.
    pub reductions: Reductions,
    /// The signs of a spurious episode that are checked.
    pub signs: Signs,
}

/// Signs of a spurious recovery episode. Each can be turned on or off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signs {
    /// The ACK echoes a timestamp older than the first retransmission (RFC 3522).
    pub eifel: bool,
    /// D-SACK reports every retransmission as a duplicate (RFC 3708).
    pub dsack: bool,
    /// After a timeout, two ACKs acknowledge data that was not retransmitted (F-RTO, RFC 5682).
    pub frto: bool,
}

/// Information in an ACK.
#[derive(Clone, Copy, Debug)]
pub struct AckInfo<'a> {
    /// Time when the ACK arrived.
    pub now: Instant,
    /// Bytes acknowledged cumulatively for the first time.
    pub newly_acked: u64,
    /// Whether the ACK is a duplicate ACK (RFC 5681 §2); with SACK, whether it reports newly SACKed data (RFC 6675 §2).
    pub duplicate: bool,
    /// Data that the ACK newly acknowledges, cumulatively or by SACK.
    pub delivery: &'a Delivery,
    /// Range that the ACK reports as received twice (D-SACK, RFC 2883).
    pub dsack: Option<Range>,
    /// End of the clock tick whose timestamp the ACK echoes. Segments sent at this time or later carry a later
    /// timestamp.
    pub echoed: Option<Instant>,
    /// SRTT; zero before the first sample.
    pub srtt: Duration,
    /// Minimum round-trip sample.
    pub min_rtt: Duration,
    /// Holes that the ACK reports by SNACK.
    pub snack: Option<&'a SnackReport>,
}

/// Contents of SNACK options.
#[derive(Debug, Default)]
pub struct SnackReport {
    /// Missing ranges.
    pub missing: Vec<Range>,
    /// Received ranges.
    pub received: Vec<Range>,
    /// Time for which a repeated report of the same hole is ignored.
    pub guard: Duration,
}

/// Consequences of an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Whether an episode ended.
    pub ended: bool,
    /// FlightSize in bytes at the start of an episode; `None` if no episode started.
    pub began: Option<u64>,
    /// Whether the first segment must be retransmitted regardless of the window.
    pub resend_head: bool,
    /// Whether the retransmission timer keeps running although new data was acknowledged (RFC 6582 §4, "Impatient").
    pub keep_timer: bool,
    /// Whether the episode proved to be spurious, so that its reduction is undone.
    pub undone: bool,
}
