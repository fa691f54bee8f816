//! The gate through which segments pass before they are sent: they take tokens, and their headers are compressed.
//!
//! Every outgoing segment takes tokens, including ACKs, and waits if there are not enough. It is assembled only when it
//! has its tokens, so an ACK that had to wait reports the newest state.

use super::compressed::Compression;
use super::marks::ECN_BYTES_LEN;
use super::{Connection, State};
use crate::config::{Config, TokenRelease};
use crate::segment::{HEADER, Segment};
use crate::sender::Sender;
use lightlag_control::bucket::{Bucket, BucketUser};
use lightlag_core::{Bytes, Instant, Rate};

/// Size of an IPv4 header in bytes.
const IPV4: u32 = 20;

/// Size of the timestamps option with its padding, in bytes.
const STAMPS: u32 = 12;

/// Maximum size of all options of a header, in bytes.
const OPTIONS: u32 = 40;

/// Size of the corruption option with the preceding bytes and its padding, in bytes.
const CORRUPTION: u32 = 4;

/// Size of the record boundary option with its padding, in bytes.
const BOUNDARY: u32 = 4;

/// A check on all outgoing segments. Most connections have no gate and send without this check.
#[derive(Debug, Default)]
pub(super) struct Gate {
    /// The connection's membership in a token bucket; `None` if no tokens are needed.
    pub(super) limiter: Option<Limiter>,
    /// Compression of headers; `None` if it is not used.
    pub(super) compression: Option<Compression>,
}

/// Membership of a connection in a token bucket.
#[derive(Debug)]
pub(super) struct Limiter {
    member: BucketUser,
    /// The bucket, if it belongs to this connection alone. A shared bucket is passed in for each segment.
    own: Option<Box<Bucket>>,
    /// Whether the connection leaves the bucket at the next poll.
    leaves: bool,
}

impl Limiter {
    /// Leaves the bucket if the connection is over. Returns the ID of this member.
    fn vacate(&mut self, bucket: &mut Bucket) -> BucketUser {
        if std::mem::take(&mut self.leaves) {
            bucket.leave(self.member);
        }
        self.member
    }
}

impl Connection {
    /// Returns a gate with the connection's own bucket; `None` if the configuration has no bucket.
    pub(super) fn gate_of(config: &Config, passive: bool) -> Option<Box<Gate>> {
        let (rate, size) = Self::bucket_of(config, passive)?;
        let mut bucket = Box::new(Bucket::new(rate, size));
        let limiter = Limiter { member: bucket.join(IPV4), own: Some(bucket), leaves: false };
        Some(Box::new(Gate { limiter: Some(limiter), compression: None }))
    }

    fn bucket_of(config: &Config, passive: bool) -> Option<(Rate, Bytes)> {
        let control = config.rate_control?;
        let rate = control.ack_rate.filter(|_| passive).unwrap_or(control.rate);
        Some((rate, Bytes(control.size(config))))
    }

    /// Returns the rate and size of this end's bucket; `None` if it has no bucket.
    pub fn bucket(&self) -> Option<(Rate, Bytes)> {
        Self::bucket_of(&self.config, self.passive)
    }

    /// Lets the connection share this token bucket with others: segments are then sent by [`Self::poll_limited`]
    /// instead of [`Self::poll_segment`]. `network_header` is the size of an IP header in bytes.
    pub fn share(&mut self, bucket: &mut Bucket, network_header: u32) {
        self.predicts = false;
        let limiter = Limiter { member: bucket.join(network_header), own: None, leaves: false };
        self.extras.build_gate().limiter = Some(limiter);
    }

    /// Returns the next segment of a connection that [shares](Self::share) this bucket. Call it until it returns none.
    pub fn poll_limited(&mut self, now: Instant, bucket: &mut Bucket) -> Option<Segment> {
        self.poll_gate(now, Some(bucket))
    }

    /// Leaves the bucket if the connection is over, so that other members need not wait for it. Needed only if the
    /// connection will not be polled again.
    pub fn vacate(&mut self, bucket: &mut Bucket) {
        if let Some(limiter) = self.extras.gate_mut().and_then(|gate| gate.limiter.as_mut()) {
            limiter.vacate(bucket);
        }
    }

    /// Leaves the bucket at the next poll, because the connection is over.
    pub(super) fn leave_bucket(&mut self) {
        if let Some(limiter) = self.extras.gate_mut().and_then(|gate| gate.limiter.as_mut()) {
            limiter.leaves = true;
        }
    }

    /// Returns the next segment, if there are tokens for it. Its header is compressed if that was negotiated.
    #[cold]
    #[inline(never)]
    pub(super) fn poll_gate(&mut self, now: Instant, shared: Option<&mut Bucket>) -> Option<Segment> {
        let Some(limiter) = self.extras.gate_mut().and_then(|gate| gate.limiter.as_mut()) else {
            return if self.has_nothing() { None } else { self.poll_through(now) };
        };
        let mut own = limiter.own.take();
        let bucket = own.as_deref_mut().or(shared).expect("a connection that shares its bucket is polled with it");
        let member = limiter.vacate(bucket);
        let segment = if self.has_nothing() { None } else { self.poll_with_tokens(now, bucket, member) };
        if let Some(limiter) = self.extras.gate_mut().and_then(|gate| gate.limiter.as_mut()) {
            limiter.own = own;
        }
        segment
    }

    /// Returns the next segment, if this bucket has enough tokens for it.
    fn poll_with_tokens(&mut self, now: Instant, bucket: &mut Bucket, member: BucketUser) -> Option<Segment> {
        let requested = self.next_len(now);
        if let Some(Err(ready)) = requested.map(|bytes| bucket.ask(now, member, bytes)) {
            let by_acks = self.is_released_by_acks();
            if by_acks {
                bucket.leave(member);
            }
            awake!(self).wait_for_tokens(now, (!by_acks).then_some(ready), &self.config);
            return None;
        }
        let segment = self.poll_through(now);
        let left = segment.as_ref().map(|segment| segment.header_len() + u32::from(segment.len));
        debug_assert!(left <= requested, "{left:?} B are sent, {requested:?} were requested");
        if left != requested {
            bucket.settle(member, requested, left);
        }
        segment
    }

    /// Returns true if data that waits for tokens is sent at the next ACK or timeout, instead of as soon as there are
    /// enough tokens.
    ///
    /// The data does not wait for ever: if no ACK arrives, the timeout expires.
    fn is_released_by_acks(&self) -> bool {
        let owes = self.handshake_due || self.receiver.ack_due() || self.receiver.owes_copies();
        self.config.rate_control.is_some_and(|control| control.release == TokenRelease::Acks)
            && !owes
            && self.sending.awake().is_some_and(Sender::awaits_ack)
    }

    fn poll_through(&mut self, now: Instant) -> Option<Segment> {
        match self.state {
            State::Closed | State::Listen => self.poll_answer(now),
            State::SynSent | State::SynReceived => self.poll_syn(now),
            _ => self.poll_open_gate(now),
        }
    }

    /// Returns true if certainly no segment is due. This is typical for an end that only receives, between two ACKs.
    fn has_nothing(&self) -> bool {
        let due = self.handshake_due || self.receiver.ack_due() || self.receiver.owes_copies();
        let watched =
            self.extras.ecn().is_some() || self.extras.keep_alive().is_some() || self.extras.answer().is_some();
        !due && !watched && self.sending.awake().is_none_or(|sender| sender.has_nothing() && !sender.wants_probe())
    }

    /// Returns the next segment. Its tokens have already been taken.
    fn poll_open_gate(&mut self, now: Instant) -> Option<Segment> {
        let id = self.compresses_with();
        // As without a gate: the sending code is compiled once, and stays fast if there is none.
        let gate = self.extras.put_gate(None);
        let segment = match id {
            Some(id) => self.poll_compressed(now, id),
            None => self.poll_segment(now),
        };
        self.extras.put_gate(gate);
        segment
    }

    /// Returns an upper bound on the size of the next segment in bytes, close to the actual size; `None` if none is
    /// due. Candidates are checked in the order in which they are sent.
    fn next_len(&mut self, now: Instant) -> Option<u32> {
        let compressed = self.compresses();
        let usual =
            if self.timestamps { STAMPS } else { 0 } + if self.extras.ecn().is_some() { ECN_BYTES_LEN } else { 0 };
        let reports = self.receiver.has_report();
        let bare = match compressed {
            // A FIN is the longest segment that reports only corruption.
            true if !reports => self.largest_empty_header() + CORRUPTION,
            _ => HEADER + if reports || self.handshake_due { OPTIONS } else { usual + BOUNDARY },
        };
        match self.state {
            State::Closed | State::Listen => return self.extras.answer().map(|_| HEADER + STAMPS),
            State::SynSent | State::SynReceived => {
                let wants = self.handshake_due || self.extras.answer().is_some() || self.receiver.ack_due();
                return wants.then_some(HEADER + OPTIONS);
            }
            _ => {}
        }
        let ack = self.receiver.ack_due();
        let prior = self.extras.ecn().is_some_and(|ecn| ecn.owes_prior());
        if self.handshake_due || self.receiver.owes_copies() || prior || ack && (reports || compressed) {
            return Some(bare);
        }
        let boundary = if self.sending.awake().is_some_and(|sender| sender.marks_records()) { BOUNDARY } else { 0 };
        let header = if compressed { self.largest_data_header() } else { HEADER + usual + boundary };
        if let Some(len) = self.sending.awake_mut().and_then(|sender| sender.next_len(now, &self.config)) {
            // If an idle time has just closed the window, an ACK may be sent instead.
            return Some((header + len).max(bare));
        }
        let wants_probe = self.sending.awake().is_some_and(|sender| sender.wants_probe());
        if wants_probe && self.sending.awake().is_some_and(|sender| sender.tells_of_tail()) {
            // The last byte sent.
            return Some((header + 1).max(bare));
        }
        if ack || wants_probe {
            return Some(bare);
        }
        match self.sending.awake_mut().and_then(|sender| sender.low_priority_len(now)) {
            Some(len) => Some(HEADER + usual + len),
            None => self.keep_alive_due().then_some(bare),
        }
    }
}
