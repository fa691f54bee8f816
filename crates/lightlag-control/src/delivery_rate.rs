//! The delivery rate of the network: the sampler of draft-ietf-ccwg-bbr §4.1.2.
//!
//! Each segment records the delivered bytes of the connection and their time at the moment it leaves. Its ACK gives a
//! sample: the data delivered meanwhile, over the longer of the time to send that data and the time to have it
//! acknowledged. Neither a burst of ACKs nor a burst of segments then looks like bandwidth:
//!
//! ```text
//! send_elapsed = P.send_time - P.first_send_time      first_send_time: of the segment delivered last before P left
//! ack_elapsed  = now         - P.delivered_time       delivered_time:  when that was delivered
//! rate         = (delivered - P.delivered) / max(send_elapsed, ack_elapsed)
//! ```
//!
//! P is the segment of an ACK that was sent last. An interval below the smallest round-trip time is not a sample: the
//! ACK was that of an earlier copy.
//!
//! [`RateSampler::of_ns3`] measures as TcpRateLinux of ns-3.37 (`SkbDelivered`, `GenerateSample`). A sample lasts until
//! a segment is delivered that left after more data had been delivered. Q is the P of the sample before:
//!
//! ```text
//! ack_elapsed = now - Q.delivered_time        without Q, or where its interval was too short: since time zero
//! ```
//!
//! so that n ACKs in a flight give about n/(n+1) of its rate. Later versions of ns-3 take P's own time. The interval is
//! compared with the smallest *smoothed* round-trip time (`TcpSocketBase::EstimateRtt`). That starts with the handshake,
//! which includes the discovery of a route, and falls slowly, so that a flow on a short path loses its first samples;
//! each is followed by one that lasts since time zero, and STARTUP ends early.
//!
//! A connection has a sampler only if its algorithm [needs](crate::congestion::Needs) one. Segments have the running
//! numbers of their sender's scoreboard, and the snapshots are a ring beside its records. The sender calls
//!
//! 1. [`RateSampler::check_application_limited`] when the application writes and, other than in Linux, at the start of
//!    an ACK and of a timer;
//! 2. [`RateSampler::sent`] for each segment that leaves, new or retransmitted, once its pacing lets it go;
//! 3. [`RateSampler::delivered`] for each segment acknowledged or SACKed for the first time, and
//!    [`RateSampler::lost`] for each marked lost;
//! 4. [`RateSampler::finish`] once an ACK is fully processed, losses included.

use crate::congestion::{Lost, RateSample, Sent};
use lightlag_core::{Duration, Instant};
use std::collections::VecDeque;

/// The delivery state of the connection when a segment left (the draft's per-packet state).
#[derive(Clone, Copy, Debug)]
struct Snapshot {
    sent: Instant,
    first_sent: Instant,
    delivered_at: Instant,
    delivered: u64,
    lost: u64,
    /// Bytes in flight, the segment included.
    in_flight: u64,
    application_limited: bool,
    retransmitted: bool,
}

/// The segment of an ACK that was sent last.
#[derive(Clone, Copy, Debug)]
struct Newest {
    number: u64,
    of: Snapshot,
    ack_elapsed: Duration,
    /// Its interval was long enough.
    valid: bool,
}

/// The supply of data, which shows whether the sender has run out of it (the draft's CheckIfApplicationLimited).
#[derive(Clone, Copy, Debug)]
pub struct Supply {
    /// Bytes written and not sent yet.
    pub unsent: u64,
    /// Bytes in flight (RFC 6675 pipe).
    pub in_flight: u64,
    /// The congestion window.
    pub window: u64,
    /// Bytes marked lost and not yet sent again.
    pub to_repair: u64,
}

/// The delivery-rate sampler of one connection. Its sizes are in bytes.
#[derive(Debug)]
pub struct RateSampler {
    snapshots: VecDeque<Snapshot>,
    /// Number of the first snapshot.
    first: u64,
    delivered: u64,
    delivered_at: Instant,
    /// Departure of the segment delivered last, or of the first one after an idle time.
    first_sent: Instant,
    lost: u64,
    /// Samples are application-limited until more than this is delivered; 0 while the supply lasts.
    limited_until: u64,
    newest: Option<Newest>,
    /// The smallest smoothed round-trip time, if it measures as ns-3.
    min_smoothed: Option<Duration>,
}

impl RateSampler {
    /// A sampler before any segment; the first one has the number `first`.
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

    /// The same, measuring as TcpRateLinux of ns-3.37.
    pub fn of_ns3(first: u64) -> Self {
        Self { min_smoothed: Some(Duration::MAX), ..Self::new(first) }
    }

    /// Notes the smoothed round-trip time of the handshake or of an ACK.
    pub fn smoothed(&mut self, srtt: Duration) {
        if let Some(min) = self.min_smoothed.as_mut().filter(|_| !srtt.is_zero()) {
            *min = srtt.min(*min);
        }
    }

    /// Bytes acknowledged or SACKed so far.
    pub fn total_delivered(&self) -> u64 {
        self.delivered
    }

    /// Whether the samples of segments sent now reflect the application rather than the path.
    pub fn is_application_limited(&self) -> bool {
        self.limited_until > 0
    }

    /// Notes a gap in the supply: nothing unsent, nothing to repair, and room in the window. Data in flight then, and
    /// data sent until the gap has left the path, gives application-limited samples.
    pub fn check_application_limited(&mut self, supply: &Supply) {
        if supply.unsent == 0 && supply.to_repair == 0 && supply.in_flight < supply.window {
            self.limited_until = (self.delivered + supply.in_flight).max(1);
        }
    }

    /// The segment `number` leaves, for the first time or again, with `in_flight` bytes outstanding before it.
    ///
    /// # Panics
    /// If it is neither outstanding nor the next one.
    pub fn sent(&mut self, now: Instant, number: u64, bytes: u64, in_flight: u64) -> Sent {
        // Linux, tcp_rate_skb_sent; the draft asks for the flight instead. A timeout only guesses that nothing is in
        // flight. ns-3 asks for the flight, too.
        if self.snapshots.is_empty() || self.min_smoothed.is_some() && in_flight == 0 {
            self.first_sent = now;
            self.delivered_at = now;
        }
        let at = (number - self.first) as usize;
        let snapshot = Snapshot {
            sent: now,
            first_sent: self.first_sent,
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            lost: self.lost,
            in_flight: in_flight + bytes,
            application_limited: self.is_application_limited(),
            retransmitted: at < self.snapshots.len(),
        };
        match self.snapshots.get_mut(at) {
            Some(earlier) => *earlier = snapshot,
            None => {
                assert_eq!(at, self.snapshots.len(), "segments leave in order");
                self.snapshots.push_back(snapshot);
            }
        }
        let app_limited = in_flight == 0 && self.is_application_limited();
        Sent { now, bytes, prior_inflight: in_flight, app_limited }
    }

    /// Notes bytes that were delivered without knowing which. Of the bytes reported as delivered just now, `known` had
    /// been counted in this way before.
    pub fn guessed(&mut self, now: Instant, bytes: u64, known: u64) {
        self.delivered = self.delivered + bytes - known;
        if bytes > 0 {
            self.delivered_at = now;
        }
    }

    /// `bytes` of the segment `number`, all or the rest of it, were acknowledged or SACKed for the first time.
    pub fn delivered(&mut self, now: Instant, number: u64, bytes: u64) {
        let of = self.snapshots[(number - self.first) as usize];
        self.delivered += bytes;
        self.delivered_at = now;
        if self.min_smoothed.is_some() {
            return self.delivered_in_ns3(now, number, of);
        }
        let newer = self
            .newest
            .is_none_or(|newest| of.sent > self.first_sent || (of.sent == self.first_sent && number > newest.number));
        if newer {
            self.newest = Some(Newest { number, of, ack_elapsed: now.since(of.delivered_at), valid: true });
            self.first_sent = of.sent;
        }
    }

    fn delivered_in_ns3(&mut self, now: Instant, number: u64, of: Snapshot) {
        if self.newest.is_some_and(|newest| newest.of.delivered > 0 && of.delivered <= newest.of.delivered) {
            return;
        }
        let since = self.newest.filter(|newest| newest.valid).map_or(Instant::ZERO, |newest| newest.of.delivered_at);
        self.newest = Some(Newest { number, of, ack_elapsed: now.since(since), valid: true });
        self.first_sent = of.sent;
    }

    /// The last copy of the segment `number`, with this many `bytes`, was marked lost.
    pub fn lost(&mut self, now: Instant, number: u64, bytes: u64) -> Lost {
        let of = &self.snapshots[(number - self.first) as usize];
        self.lost += bytes;
        Lost {
            now,
            bytes,
            tx_in_flight: of.in_flight,
            lost_since: self.lost - of.lost,
            app_limited: of.application_limited,
        }
    }

    /// The outstanding segments were cut into this many pieces each.
    pub fn recut(&mut self, pieces: &[usize]) {
        let old = std::mem::take(&mut self.snapshots);
        self.snapshots =
            old.into_iter().zip(pieces).flat_map(|(of, pieces)| std::iter::repeat_n(of, *pieces)).collect();
    }

    /// Ends an ACK; the segments below the number `first` are acknowledged cumulatively. Returns its sample if it
    /// delivered anything. As ns-3, the sampler ignores `min_rtt`; its sample lasts, and delivers nothing after its interval
    /// was too short.
    pub fn finish(&mut self, first: u64, min_rtt: Duration) -> Option<RateSample> {
        let gone = first.saturating_sub(self.first) as usize;
        self.snapshots.drain(..gone.min(self.snapshots.len()));
        self.first = self.first.max(first);
        if self.delivered > self.limited_until {
            self.limited_until = 0;
        }
        let ns3 = self.min_smoothed.is_some();
        let Newest { of, ack_elapsed, valid: timed, .. } = if ns3 { self.newest? } else { self.newest.take()? };
        let interval = of.sent.since(of.first_sent).max(ack_elapsed);
        let valid = timed && interval >= self.min_smoothed.unwrap_or(min_rtt);
        if let Some(newest) = &mut self.newest {
            newest.valid = valid;
        }
        Some(RateSample {
            delivered: if timed { self.delivered - of.delivered } else { 0 },
            interval: if valid { interval } else { Duration::ZERO },
            prior_delivered: of.delivered,
            total_delivered: self.delivered,
            lost: self.lost - of.lost,
            tx_in_flight: of.in_flight,
            app_limited: of.application_limited,
            retransmitted: of.retransmitted,
        })
    }
}

#[cfg(test)]
mod tests;
