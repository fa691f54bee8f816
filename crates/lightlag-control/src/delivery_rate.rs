//! The delivery rate of the network: the sampler of draft-ietf-ccwg-bbr §4.1.2.
//!
//! When a segment is sent, it records the bytes that the connection has delivered so far, and the time of the last
//! delivery. Its ACK gives a sample: the data delivered since then, divided by the time in which that data was sent or
//! the time in which it was acknowledged, whichever is longer. Neither a burst of ACKs nor a burst of segments then
//! looks like bandwidth:
//!
//! ```text
//! send_elapsed = P.send_time - P.first_send_time      first_send_time: of the segment delivered last before P left
//! ack_elapsed  = now         - P.delivered_time       delivered_time:  when that was delivered
//! rate         = (delivered - P.delivered) / max(send_elapsed, ack_elapsed)
//! ```
//!
//! P is the segment that was sent last among those that an ACK acknowledges. An interval below the smallest round-trip
//! time gives no sample, because the ACK was sent for an earlier transmission of the segment.
//!
//! [`RateSampler::of_ns3`] measures like TcpRateLinux of ns-3.37 (`SkbDelivered`, `GenerateSample`). A sample is
//! replaced only when a segment is delivered that was sent later than P, after the count of delivered data had risen.
//! Q is the segment P of the previous sample:
//!
//! ```text
//! ack_elapsed = now - Q.delivered_time
//! ```
//!
//! If there is no Q, or if its interval was too short, `ack_elapsed` counts from time zero.
//!
//! With n ACKs per flight, a sample is therefore about n/(n+1) of the actual rate. Later versions of ns-3 use the time
//! of P itself. The interval is compared with the smallest *smoothed* round-trip time (`TcpSocketBase::EstimateRtt`).
//! This starts with the round-trip time of the handshake, which includes route discovery, and falls slowly. A flow on a
//! short path therefore loses its first samples; each lost sample is followed by one whose interval starts at time
//! zero, and STARTUP ends early.
//!
//! A connection has a sampler only if its algorithm [needs](crate::congestion::Needs) one. Segments are numbered as in
//! the sender's scoreboard, and the snapshots are stored in a ring in parallel to its records. The sender calls
//!
//! 1. [`RateSampler::check_application_limited`] when the application writes and, other than in Linux, at the start of
//!    an ACK and of a timer;
//! 2. [`RateSampler::sent`] for each segment that is sent, new or retransmitted, once its pacing permits it;
//! 3. [`RateSampler::delivered`] for each segment acknowledged or SACKed for the first time, and
//!    [`RateSampler::lost`] for each marked lost;
//! 4. [`RateSampler::finish`] once an ACK is fully processed, losses included.

use crate::congestion::{Lost, RateSample, Sent};
use lightlag_core::{Duration, Instant};
use std::collections::VecDeque;

/// State of the connection when a segment was sent (the draft's per-packet state).
#[derive(Clone, Copy, Debug)]
struct Snapshot {
    sent: Instant,
    first_sent: Instant,
    delivered_at: Instant,
    delivered: u64,
    lost: u64,
    /// Bytes in flight, including the segment.
    in_flight: u64,
    application_limited: bool,
    retransmitted: bool,
}

/// The segment that was sent last among those that an ACK acknowledges.
#[derive(Clone, Copy, Debug)]
struct Newest {
    number: u64,
    of: Snapshot,
    ack_elapsed: Duration,
    /// Whether its interval was long enough for a sample.
    valid: bool,
}

/// The amounts that show whether the sender has run out of data (the draft's CheckIfApplicationLimited).
#[derive(Clone, Copy, Debug)]
pub struct Supply {
    /// Bytes written by the application and not sent yet.
    pub unsent: u64,
    /// Bytes in flight (RFC 6675 pipe).
    pub in_flight: u64,
    /// Congestion window in bytes.
    pub window: u64,
    /// Bytes marked as lost and not yet retransmitted.
    pub to_repair: u64,
}

/// The delivery-rate sampler of a connection. Sizes are in bytes.
#[derive(Debug)]
pub struct RateSampler {
    snapshots: VecDeque<Snapshot>,
    /// The first snapshot belongs to the segment with this number.
    first: u64,
    delivered: u64,
    delivered_at: Instant,
    /// Time when the segment that was delivered last was sent; after an idle time, when the first segment was sent.
    first_sent: Instant,
    lost: u64,
    /// Samples are application-limited until more than this many bytes are delivered; 0 while the sender has data.
    limited_until: u64,
    newest: Option<Newest>,
    /// Smallest smoothed round-trip time, for a sampler that measures like ns-3.
    min_smoothed: Option<Duration>,
}

impl RateSampler {
    /// Creates a sampler before any segment is sent. `first`: number of the first segment.
    pub fn new(first: u64) -> Self {
        Self {
            snapshots: VecDeque::new(),
            first,
            delivered: 0,
            delivered_at: Instant::ZERO,
            first_sent: Instant::ZERO,
            lost: 0,
            limited_until: 0,
            newest: None,
            min_smoothed: None,
        }
    }

    /// Creates a sampler that measures like TcpRateLinux of ns-3.37.
    pub fn of_ns3(first: u64) -> Self {
        Self { min_smoothed: Some(Duration::MAX), ..Self::new(first) }
    }

    /// Notes the smoothed round-trip time of the handshake or of an ACK.
    pub fn smoothed(&mut self, srtt: Duration) {
        if let Some(min) = self.min_smoothed.as_mut().filter(|_| !srtt.is_zero()) {
            *min = srtt.min(*min);
        }
    }

    /// Returns the bytes acknowledged or SACKed so far.
    pub fn total_delivered(&self) -> u64 {
        self.delivered
    }

    /// Returns true if samples of segments that are sent now reflect the application rather than the path.
    pub fn is_application_limited(&self) -> bool {
        self.limited_until > 0
    }

    /// Checks whether the sender has run out of data: nothing unsent, nothing to repair, and space in the window. If
    /// so, data that is in flight now, and data sent until all of it has been delivered, gives application-limited
    /// samples.
    pub fn check_application_limited(&mut self, supply: &Supply) {
        if supply.unsent == 0 && supply.to_repair == 0 && supply.in_flight < supply.window {
            self.limited_until = (self.delivered + supply.in_flight).max(1);
        }
    }

    /// Notes that the segment `number` is sent, for the first time or again. `in_flight`: bytes outstanding before it.
    ///
    /// # Panics
    /// If the segment is neither outstanding nor the next one.
    pub fn sent(&mut self, now: Instant, number: u64, bytes: u64, in_flight: u64) -> Sent {
        // Linux, tcp_rate_skb_sent; the draft checks the flight instead. A timeout only guesses that nothing is in
        // flight. ns-3 also checks the flight.
        if self.snapshots.is_empty() || self.min_smoothed.is_some() && in_flight == 0 {
            self.first_sent = now;
            self.delivered_at = now;
        }
        let index = (number - self.first) as usize;
        let snapshot = Snapshot {
            sent: now,
            first_sent: self.first_sent,
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            lost: self.lost,
            in_flight: in_flight + bytes,
            application_limited: self.is_application_limited(),
            retransmitted: index < self.snapshots.len(),
        };
        match self.snapshots.get_mut(index) {
            Some(earlier) => *earlier = snapshot,
            None => {
                assert_eq!(index, self.snapshots.len(), "segments are sent in order");
                self.snapshots.push_back(snapshot);
            }
        }
        let app_limited = in_flight == 0 && self.is_application_limited();
        Sent { now, bytes, prior_inflight: in_flight, app_limited }
    }

    /// Notes delivered bytes without knowing which segments they belong to. `known` of the bytes that were just
    /// reported by [`Self::delivered`] had been counted in this way before.
    pub fn guessed(&mut self, now: Instant, bytes: u64, known: u64) {
        self.delivered = self.delivered + bytes - known;
        if bytes > 0 {
            self.delivered_at = now;
        }
    }

    /// Notes that `bytes` of the segment `number`, all of it or the rest, were acknowledged or SACKed for the first
    /// time.
    pub fn delivered(&mut self, now: Instant, number: u64, bytes: u64) {
        let snapshot = self.snapshots[(number - self.first) as usize];
        self.delivered += bytes;
        self.delivered_at = now;
        if self.min_smoothed.is_some() {
            return self.delivered_in_ns3(now, number, snapshot);
        }
        let newer = self.newest.is_none_or(|newest| {
            snapshot.sent > self.first_sent || (snapshot.sent == self.first_sent && number > newest.number)
        });
        if newer {
            self.newest =
                Some(Newest { number, of: snapshot, ack_elapsed: now.since(snapshot.delivered_at), valid: true });
            self.first_sent = snapshot.sent;
        }
    }

    fn delivered_in_ns3(&mut self, now: Instant, number: u64, snapshot: Snapshot) {
        if self.newest.is_some_and(|newest| newest.of.delivered > 0 && snapshot.delivered <= newest.of.delivered) {
            return;
        }
        let since = self.newest.filter(|newest| newest.valid).map_or(Instant::ZERO, |newest| newest.of.delivered_at);
        self.newest = Some(Newest { number, of: snapshot, ack_elapsed: now.since(since), valid: true });
        self.first_sent = snapshot.sent;
    }

    /// Notes that the last transmission of the segment `number`, with this many `bytes`, was marked as lost.
    pub fn lost(&mut self, now: Instant, number: u64, bytes: u64) -> Lost {
        let snapshot = &self.snapshots[(number - self.first) as usize];
        self.lost += bytes;
        Lost {
            now,
            bytes,
            tx_in_flight: snapshot.in_flight,
            lost_since: self.lost - snapshot.lost,
            app_limited: snapshot.application_limited,
        }
    }

    /// Notes that the outstanding segments were split; `pieces` has the number of parts of each.
    pub fn recut(&mut self, pieces: &[usize]) {
        let old = std::mem::take(&mut self.snapshots);
        self.snapshots =
            old.into_iter().zip(pieces).flat_map(|(of, pieces)| std::iter::repeat_n(of, *pieces)).collect();
    }

    /// Ends an ACK; segments with numbers below `first` are acknowledged cumulatively. Returns a sample if the ACK
    /// delivered anything. A sampler that measures like ns-3 ignores `min_rtt`; its last sample stays in force, but
    /// delivers zero bytes if its interval was too short.
    pub fn finish(&mut self, first: u64, min_rtt: Duration) -> Option<RateSample> {
        let gone = first.saturating_sub(self.first) as usize;
        self.snapshots.drain(..gone.min(self.snapshots.len()));
        self.first = self.first.max(first);
        if self.delivered > self.limited_until {
            self.limited_until = 0;
        }
        let ns3 = self.min_smoothed.is_some();
        let Newest { of: snapshot, ack_elapsed, valid: timed, .. } =
            if ns3 { self.newest? } else { self.newest.take()? };
        let interval = snapshot.sent.since(snapshot.first_sent).max(ack_elapsed);
        let valid = timed && interval >= self.min_smoothed.unwrap_or(min_rtt);
        if let Some(newest) = &mut self.newest {
            newest.valid = valid;
        }
        Some(RateSample {
            delivered: if timed { self.delivered - snapshot.delivered } else { 0 },
            interval: if valid { interval } else { Duration::ZERO },
            prior_delivered: snapshot.delivered,
            total_delivered: self.delivered,
            lost: self.lost - snapshot.lost,
            tx_in_flight: snapshot.in_flight,
            app_limited: snapshot.application_limited,
            retransmitted: snapshot.retransmitted,
        })
    }
}

#[cfg(test)]
mod tests;
