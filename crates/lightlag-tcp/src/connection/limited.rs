//! What stands between a segment that wants to leave and the network: tokens, and the compression of its header.
//!
//! Whatever leaves takes tokens, ACKs too, and waits where there are none. Only then is it put together, so that an ACK
//! that had to wait tells the newest state.

use super::compressed::Compression;
use super::marks::ECN_BYTES_LEN;
use super::{Connection, State};
use crate::config::Config;
use crate::segment::{HEADER, Segment};
use lightlag_control::bucket::{Limiter, Route};
use lightlag_core::{Bytes, Instant, Rate};

/// Bytes of an IPv4 header.
const IPV4: u32 = 20;

/// Bytes of the timestamps option with its padding.
const STAMPS: u32 = 12;

/// Bytes of options at most.
const OPTIONS: u32 = 40;

/// Bytes of the option that tells of corruption with what comes before it, and its padding.
const CORRUPTION: u32 = 4;

/// Bytes of the record boundary option with its padding.
const BOUNDARY: u32 = 4;

/// What stands there. Where nothing does, there is none, and segments leave without a look at it.
#[derive(Debug, Default)]
pub(super) struct Gate {
    /// `None` where no tokens are needed.
    pub(super) limiter: Option<Limiter>,
    /// `None` where headers stay plain.
    pub(super) compression: Option<Compression>,
}

impl Connection {
    /// The bucket of an end with this configuration, which it shares with nobody.
    pub(super) fn gate_of(config: &Config, passive: bool) -> Option<Box<Gate>> {
        let (rate, size) = Self::bucket_of(config, passive)?;
        let limiter = Some(Limiter::new(Route::new(rate, size), IPV4));
        Some(Box::new(Gate { limiter, compression: None }))
    }

    fn bucket_of(config: &Config, passive: bool) -> Option<(Rate, Bytes)> {
        let control = config.rate_control?;
        let rate = control.ack_rate.filter(|_| passive).unwrap_or(control.rate);
        Some((rate, Bytes(control.size(config))))
    }

    /// What flows into the bucket of this end, and what it holds; `None` where nothing limits it.
    pub fn bucket(&self) -> Option<(Rate, Bytes)> {
        Self::bucket_of(&self.config, self.passive)
    }

    /// Takes its tokens from this route, together with others. An IP header has so many bytes.
    pub fn share(&mut self, route: Route, network_header: u32) {
        self.gate.get_or_insert_default().limiter = Some(Limiter::new(route, network_header));
    }

    /// The next segment, if there are tokens for it, with a compressed header where both ends agreed on that.
    #[cold]
    #[inline(never)]
    pub(super) fn poll_gate(&mut self, now: Instant) -> Option<Segment> {
        if self.has_nothing() {
            return None;
        }
        let asked = self.limiter().is_some().then(|| self.next_len(now)).flatten();
        if let (Some(bytes), Some(limiter)) = (asked, self.limiter())
            && let Err(ready) = limiter.ask(now, bytes)
        {
            self.sender.wait_for_tokens(now, ready, &self.config, &mut self.account);
            return None;
        }
        let segment = match self.state {
            State::Closed | State::Listen => self.poll_answer(now),
            State::SynSent | State::SynReceived => self.poll_syn(now),
            _ => self.poll_open_gate(now),
        };
        if let Some(limiter) = self.limiter() {
            let left = segment.as_ref().map(|segment| segment.header_len() + u32::from(segment.len));
            debug_assert!(left <= asked, "{left:?} B leave, asked for were {asked:?}");
            if left != asked {
                limiter.settle(asked, left);
            }
        }
        segment
    }

    /// Whether nothing can want to leave: the usual case of an end that only receives, between two ACKs.
    fn has_nothing(&self) -> bool {
        let due = self.handshake_due || self.receiver.ack_due() || self.receiver.owes_copies();
        let watched = self.ecn.is_some() || self.keep_alive.is_some() || self.answer.is_some();
        !due && !watched && self.sender.has_nothing() && !self.sender.wants_probe()
    }

    /// What leaves once there are tokens.
    fn poll_open_gate(&mut self, now: Instant) -> Option<Segment> {
        let id = self.compresses_with();
        // As without a gate: what sends is built once, and stays fast where there is none.
        let gate = self.gate.take();
        let segment = match id {
            Some(id) => self.poll_compressed(now, id),
            None => self.poll_segment(now),
        };
        self.gate = gate;
        segment
    }

    pub(super) fn limiter(&self) -> Option<&Limiter> {
        self.gate.as_ref()?.limiter.as_ref()
    }

    /// Bytes of the segment that wants to leave next, or a few more; `None` if none does. In the order in which they leave.
    fn next_len(&mut self, now: Instant) -> Option<u32> {
        let compressed = self.compresses();
        let usual = if self.timestamps { STAMPS } else { 0 } + if self.ecn.is_some() { ECN_BYTES_LEN } else { 0 };
        let reports = self.receiver.has_report();
        let bare = match compressed {
            // A FIN is the longest that reports nothing but corruption.
            true if !reports => self.largest_empty_header() + CORRUPTION,
            _ => HEADER + if reports || self.handshake_due { OPTIONS } else { usual + BOUNDARY },
        };
        match self.state {
            State::Closed | State::Listen => return self.answer.as_ref().map(|_| HEADER + STAMPS),
            State::SynSent | State::SynReceived => {
                let wants = self.handshake_due || self.answer.is_some() || self.receiver.ack_due();
                return wants.then_some(HEADER + OPTIONS);
            }
            _ => {}
        }
        let ack = self.receiver.ack_due();
        let prior = self.ecn.as_ref().is_some_and(|ecn| ecn.owes_prior());
        if self.handshake_due || self.receiver.owes_copies() || prior || ack && (reports || compressed) {
            return Some(bare);
        }
        let boundary = if self.sender.marks_records() { BOUNDARY } else { 0 };
        let header = if compressed { self.largest_data_header() } else { HEADER + usual + boundary };
        if let Some(len) = self.sender.next_len(now, &self.config) {
            // Where an idle time has just closed the window, an ACK may leave instead.
            return Some((header + len).max(bare));
        }
        if self.sender.wants_probe() && self.sender.tells_of_tail() {
            // The last byte of what left.
            return Some((header + 1).max(bare));
        }
        if ack || self.sender.wants_probe() {
            return Some(bare);
        }
        match self.sender.low_priority_len(now, self.account.statistics.low_priority_sent) {
            Some(len) => Some(HEADER + usual + len),
            None => self.keep_alive_due().then_some(bare),
        }
    }
}
