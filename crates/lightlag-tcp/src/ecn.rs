//! Explicit congestion notification: its negotiation, and the reports of marks to the sender.
//!
//! - [`EcnMode::Classic`], RFC 3168: after a packet marked CE, every ACK carries ECE until CWR arrives. If the
//!   congestion control needs exact marks, each ACK instead has ECE only if the data that it acknowledges was marked,
//!   and an ACK is sent at each change (RFC 8257 §3.2).
//! - [`EcnMode::Accecn`], RFC 9768: the three bits AE, CWR and ECE become ACE, a counter of packets marked CE, and the
//!   AccECN option counts bytes. For an ACK without that option, the sender assumes the maximum number of marks that is
//!   possible with the three bits and the number of delivered packets (§3.2.2.5.2).

use crate::segment::{EcnBytes, Flags, Segment, SeqNumber};
use lightlag_core::{Codepoint, Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod bytes;
mod delivered;
#[cfg(test)]
mod tests;

use bytes::ByteCounters;
pub use delivered::Delivered;

/// Variant of ECN that an end requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EcnMode {
    /// No ECN.
    #[default]
    Off,
    /// Classic ECN (RFC 3168).
    Classic,
    /// AccECN (RFC 9768), or classic ECN if the peer supports only that.
    Accecn,
}

/// ECN codepoint of ECN-capable packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ect {
    /// ECT(0), the standard codepoint except in L4S.
    #[default]
    Ect0,
    /// ECT(1), used by L4S (RFC 9331).
    Ect1,
}

/// When the AccECN option is sent, once the peer's option was seen (RFC 9768 §3.2.3.3; `tcp_ecn_option` 0, 1, 2 of
/// Linux).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AccecnOption {
    /// Never.
    #[default]
    Off,
    /// After the handshake, when a different counter starts to grow, after CE, and three times per round trip, if the
    /// option fits the segment.
    Sparse,
    /// On every segment that it fits. Full segments carry 12 bytes less, so that it fits them.
    Always,
}

/// The report of an ACK about congestion marks. The number of marked bytes follows once the delivered data is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MarkReport {
    /// The ACK has no exact information.
    #[default]
    None,
    /// All data that the ACK newly acknowledges was marked (RFC 8257 §3.3).
    All,
    /// Increase of the counter of marked packets, modulo 8 (RFC 9768 §3.2.2.5).
    Counter(u8),
    /// An ACE field with the byte counters of the AccECN option.
    Told {
        /// Increase of the counter of marked packets, modulo 8.
        moved: u8,
        /// The byte counters as received.
        bytes: EcnBytes,
    },
}

/// Initial value of the counters of marked packets at both ends (RFC 9768 §3.2.2). It is not 0, because middleboxes
/// that clear the field would write 0.
const FIRST_COUNT: u8 = 5;

/// Number of packets with CE that cause an immediate ACK, if data waits for an ACK (n in RFC 9768 §3.2.2.5.1).
const MARKS_AN_ACK: u8 = 2;

/// Number of packets with CE that cause an immediate ACK, if no data waits for one. It is larger, so that two ends do
/// not acknowledge each other's pure ACKs for ever.
const MARKS_AN_ACK_OF_ACKS: u8 = 3;

/// Result of the ECN negotiation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Negotiated {
    /// Not negotiated yet.
    Nothing,
    Classic,
    /// Classic ECN, but each ACK reports whether its data was marked (RFC 8257).
    Exact,
    Accurate,
}

/// ECN at one end of a connection, both as sender and as receiver.
#[derive(Debug)]
pub(crate) struct Ecn {
    agreed: Negotiated,
    mode: EcnMode,
    /// Whether the congestion control needs every mark, so that all packets are sent as ECN-capable (RFC 8257).
    exact: bool,
    ect: Codepoint,
    /// Whether, with AccECN, every segment after the handshake is ECN-capable, not only new data.
    control: bool,
    /// State of the AccECN option in both directions.
    bytes: ByteCounters,
    /// Codepoint of the last segment sent.
    leaving: Codepoint,
    /// Codepoint of the segment that is being handled.
    arriving: Codepoint,
    /// Receiver: whether ECE is due (RFC 3168 §6.1.3), or whether the last data was marked (DCTCP.CE).
    echo: bool,
    /// Receiver: number of packets that arrived with CE, modulo 8 (r.cep).
    received: u8,
    /// Receiver: number of packets with CE that no ACK has reported yet.
    untold: u8,
    /// Sender: last value of the peer's counter, modulo 8 (s.cep).
    seen: u8,
    /// Codepoint with which the peer's SYN or SYN-ACK arrived.
    heard: Codepoint,
    /// Whether the next ACK ends the handshake: its ACE field then encodes the codepoint of the SYN-ACK (RFC 9768
    /// §3.2.2.1).
    greet: bool,
    /// Number of times that the SYN or SYN-ACK was sent.
    offers: u8,
    /// Whether the path clears the ECN bits of the TCP header: no segment is then sent as ECN-capable.
    mangled: bool,
    /// Whether marks are no longer reported.
    silent: bool,
    /// Receiver: an ACK that must be sent before any other, for the data that arrived before a change of marks (RFC
    /// 8257 §3.2): its acknowledged offset, and whether it carries ECE.
    prior: Option<(u64, bool)>,
}

/// Urgency of the ACK for a received mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Urgency {
    /// The delayed-ACK policy decides as usual.
    Usual,
    /// An ACK is due immediately.
    Now,
}

impl Ecn {
    /// Returns the ECN state of an end that requests `mode`, which must not be off.
    pub(crate) fn new(mode: EcnMode, ect: Ect, exact: bool) -> Self {
        Self {
            agreed: Negotiated::Nothing,
            mode,
            exact,
            ect: match ect {
                Ect::Ect0 => Codepoint::Ect0,
                Ect::Ect1 => Codepoint::Ect1,
            },
            control: false,
            bytes: ByteCounters::new(AccecnOption::Off),
            leaving: Codepoint::NotEct,
            arriving: Codepoint::NotEct,
            echo: false,
            received: FIRST_COUNT,
            untold: 0,
            seen: FIRST_COUNT,
            heard: Codepoint::NotEct,
            greet: false,
            offers: 0,
            mangled: false,
            silent: false,
            prior: None,
        }
    }

    /// Sets when the AccECN option is sent. If `control` is true, every segment after the handshake is ECN-capable.
    #[must_use]
    pub(crate) fn with_accecn(mut self, option: AccecnOption, control: bool) -> Self {
        self.bytes = ByteCounters::new(option);
        self.control = control;
        self
    }

    /// Records the codepoint of a packet whose segment is about to be handled.
    pub(crate) fn arrives(&mut self, codepoint: Codepoint) {
        self.arriving = codepoint;
    }

    /// Returns the codepoint of the last segment sent.
    pub(crate) fn leaving(&self) -> Codepoint {
        self.leaving
    }

    /// Returns the ECN flags of the local SYN. A retransmitted SYN requests less, so that a path that drops ECN SYNs
    /// does not prevent the connection (RFC 3168 §6.1.1.1; RFC 9768 §3.1.4.1 allows a second AccECN attempt).
    pub(crate) fn offer(&mut self) -> Flags {
        self.leaving = self.capable(self.exact);
        let retries = self.offers;
        self.offers = self.offers.saturating_add(1);
        match self.mode {
            EcnMode::Classic if retries == 0 => Flags::ECE.with(Flags::CWR),
            EcnMode::Accecn if retries <= 1 => Flags::ECE.with(Flags::CWR).with(Flags::AE),
            _ => Flags::default(),
        }
    }

    /// Reads the peer's SYN (RFC 3168 §6.1.1, RFC 9768 §3.1.2 and table 2). Returns false if ECN is not used. If AccECN
    /// was negotiated and the peer retransmits its SYN without AccECN, AccECN remains in use, but no further segment is
    /// sent as ECN-capable (as in Linux).
    pub(crate) fn take_syn(&mut self, flags: Flags) -> bool {
        if self.agreed == Negotiated::Accurate {
            self.mangled |= flags.ace() == 0;
            self.hear();
            return true;
        }
        self.agreed = match (flags.ace(), self.mode) {
            (0b000, _) => return false,
            // AE is a reserved bit to an end that supports only RFC 3168.
            (bits, EcnMode::Classic) if bits & 0b011 != 0b011 => return false,
            (0b011, _) | (_, EcnMode::Classic) => self.classic(),
            // Any other combination counts as 111, for later extensions (RFC 9768 §3.1.3).
            _ => Negotiated::Accurate,
        };
        self.hear();
        true
    }

    /// Stops reporting marks: later ACKs carry no ECN feedback.
    pub(crate) fn fall_silent(&mut self) {
        self.silent = true;
    }

    /// Returns true if both ends use AccECN.
    pub(crate) fn is_accurate(&self) -> bool {
        self.agreed == Negotiated::Accurate
    }

    /// Makes the next ACK report the codepoint of a retransmitted SYN or SYN-ACK, as it did for the first one.
    pub(crate) fn hear_again(&mut self) {
        if self.agreed == Negotiated::Accurate {
            self.heard = self.arriving;
            self.greet = true;
        }
    }

    fn hear(&mut self) {
        self.heard = self.arriving;
        self.received = FIRST_COUNT + u8::from(self.heard == Codepoint::Ce);
    }

    /// Returns the ECN flags of the local SYN-ACK, and its AccECN option. The first retransmission has no option,
    /// further ones have no ECN flags either, in case a middlebox drops them (RFC 9768 §3.2.3.2.2, §3.1.4.2; as in
    /// Linux).
    pub(crate) fn answer(&mut self) -> (Flags, Option<EcnBytes>) {
        self.leaving = self.capable(self.exact);
        let retries = self.offers;
        self.offers = self.offers.saturating_add(1);
        match self.agreed {
            Negotiated::Nothing => Default::default(),
            Negotiated::Classic | Negotiated::Exact => (Flags::ECE, None),
            Negotiated::Accurate if retries > 1 => Default::default(),
            Negotiated::Accurate => {
                let option = self.bytes.initial().filter(|_| retries == 0);
                (Flags::from_ace(encoded(self.heard)), option)
            }
        }
    }

    /// Reads the peer's SYN-ACK (RFC 9768 table 2). Returns false if ECN is not used.
    pub(crate) fn take_answer(&mut self, flags: Flags) -> bool {
        self.agreed = match (flags.ace(), self.mode) {
            // 101 is reserved, and counts as AccECN without information on the SYN's codepoint (RFC 9768 §3.1.3).
            (0b010..=0b110, EcnMode::Accecn) => Negotiated::Accurate,
            (0b001 | 0b101, _) => self.classic(),
            _ => return false,
        };
        if self.agreed == Negotiated::Accurate {
            self.hear();
            self.greet = true;
            self.seen = FIRST_COUNT + u8::from(flags.ace() == 0b110);
        }
        true
    }

    /// Reads the ACE field of the ACK that ends the handshake, if this ACK carries no data (RFC 9768 table 4). Returns
    /// true if it reports that the local SYN-ACK was marked.
    pub(crate) fn take_greeting(&mut self, flags: Flags) -> bool {
        if self.agreed != Negotiated::Accurate {
            return false;
        }
        let marked = flags.ace() == 0b110;
        self.mangled |= flags.ace() == 0;
        self.seen = FIRST_COUNT + u8::from(marked);
        marked
    }

    /// Checks whether a segment has the peer's first AccECN option, because this end sends its own only to such a peer
    /// (as in Linux). `in_time` is true while the segment size can still be changed.
    pub(crate) fn look_for_bytes(&mut self, segment: &Segment, in_time: bool) {
        if self.agreed == Negotiated::Accurate {
            self.bytes.see(segment, in_time);
        }
    }

    /// Returns true if full segments reserve space for the AccECN option.
    pub(crate) fn needs_room(&self) -> bool {
        self.agreed == Negotiated::Accurate && self.bytes.needs_room()
    }

    /// Returns true if AccECN counters must be reported. An ACK with them is then sent before full segments that have
    /// no space for the option.
    pub(crate) fn demands_bytes(&self) -> bool {
        self.agreed == Negotiated::Accurate && self.bytes.is_demanded()
    }

    /// Returns the AccECN option for a segment that is about to be sent, and the minimum number of fields that it must
    /// keep; `None` if no option is due.
    pub(crate) fn bytes_due(&self, now: Instant, srtt: Duration) -> Option<(EcnBytes, u8)> {
        if self.agreed == Negotiated::Accurate && !self.silent { self.bytes.due(now, srtt) } else { None }
    }

    /// Records that the AccECN option was sent, and the start of the duplicate data that the same segment reported, if
    /// any.
    pub(crate) fn bytes_left(&mut self, now: Instant, duplicate: Option<SeqNumber>) {
        self.bytes.told(now, duplicate);
    }

    /// Records that a segment was sent without the AccECN option.
    pub(crate) fn bytes_stay(&mut self) {
        self.bytes.stay();
    }

    /// Handles a duplicate of data that starts at `start`. If the previous report of this duplicate carried the AccECN
    /// option, the option is no longer sent: the path seems to drop it.
    pub(crate) fn suspect_option(&mut self, start: SeqNumber) {
        self.bytes.suspect(start);
    }

    /// Returns the AccECN counters of what arrived: bytes with ECT(1), CE and ECT(0); and packets with CE.
    pub(crate) fn arrived(&self) -> ([u64; 3], u64) {
        (self.bytes.counts(), self.bytes.marked_packets())
    }

    fn classic(&self) -> Negotiated {
        if self.exact { Negotiated::Exact } else { Negotiated::Classic }
    }

    fn capable(&self, capable: bool) -> Codepoint {
        if capable && !self.mangled { self.ect } else { Codepoint::NotEct }
    }

    /// Returns the ECN flags of a segment without new data. The segment is sent with ECT only if the congestion control
    /// or AccECN requires ECT on every packet.
    pub(crate) fn echo(&mut self) -> Flags {
        self.leaving = self.capable(self.exact || self.control && self.agreed == Negotiated::Accurate);
        self.untold = 0;
        match self.agreed {
            _ if self.silent => Flags::default(),
            Negotiated::Classic | Negotiated::Exact if self.echo => Flags::ECE,
            Negotiated::Accurate if std::mem::take(&mut self.greet) => Flags::from_ace(encoded(self.heard)),
            Negotiated::Accurate => Flags::from_ace(self.received),
            _ => Flags::default(),
        }
    }

    /// Sets the codepoint for a low-priority segment, which is the one for a retransmission.
    pub(crate) fn low_priority(&mut self) {
        self.leaving = self.capable(self.exact || self.control && self.agreed == Negotiated::Accurate);
    }

    /// Returns the ECN flags of a segment with new data. The segment is sent with ECT, and with CWR if the window was
    /// `reduced` (RFC 3168 §6.1.2). With AccECN, the CWR bit is part of the counter.
    pub(crate) fn new_data(&mut self, reduced: bool) -> Flags {
        self.leaving = self.capable(true);
        if reduced && self.agreed != Negotiated::Accurate { Flags::CWR } else { Flags::default() }
    }

    /// Receiver: handles the codepoint and flags of an acceptable segment with `len` bytes of data. `delayed` is true
    /// if an ACK for data below `nxt` is being delayed.
    pub(crate) fn received(&mut self, flags: Flags, len: u16, nxt: u64, delayed: bool) -> Urgency {
        let marked = self.arriving == Codepoint::Ce;
        let urgent = match self.agreed {
            Negotiated::Accurate => self.count(marked, len, delayed),
            // Pure ACKs are not ECN-capable (RFC 3168 §6.1.4).
            _ if len == 0 => false,
            Negotiated::Exact => self.follow(marked, nxt, delayed),
            _ => {
                // CWR ends the echo; a mark on the same packet restarts it (RFC 3168 §6.1.3).
                let echoed = self.echo && !flags.has(Flags::CWR);
                self.echo = echoed || marked;
                marked && !echoed
            }
        };
        if urgent { Urgency::Now } else { Urgency::Usual }
    }

    /// Updates the DCTCP state: when marks start or stop, data that arrived before is first acknowledged with the
    /// earlier state (RFC 8257 §3.2). Returns true if they did.
    fn follow(&mut self, marked: bool, nxt: u64, delayed: bool) -> bool {
        let changed = marked != self.echo;
        if changed {
            self.prior = delayed.then_some((nxt, self.echo));
            self.echo = marked;
        }
        changed
    }

    /// Counts a packet for AccECN. Returns true if an ACK must be sent immediately: when a different byte counter than
    /// before grows, and for every second mark (RFC 9768 §3.2.2.5.1).
    fn count(&mut self, marked: bool, len: u16, delayed: bool) -> bool {
        if marked {
            self.received = (self.received + 1) % 8;
            self.untold = self.untold.saturating_add(1);
        }
        let changed = self.bytes.count(self.arriving, len);
        let most = if delayed || len > 0 { MARKS_AN_ACK } else { MARKS_AN_ACK_OF_ACKS };
        changed && len > 0 || self.untold >= most
    }

    /// Returns true if an ACK must be sent before any other.
    pub(crate) fn owes_prior(&self) -> bool {
        self.prior.is_some()
    }

    /// Takes the ACK that must be sent before any other: its acknowledged offset, and whether it carries ECE.
    pub(crate) fn take_prior(&mut self) -> Option<(u64, bool)> {
        self.prior.take()
    }

    /// Sender: reads the ECN feedback of an ACK; `newer` is true if no later ACK arrived before it. Returns whether the
    /// ACK reports a mark, and its exact counters.
    pub(crate) fn echoed(&mut self, segment: &Segment, newer: bool) -> (bool, MarkReport) {
        let flags = segment.flags;
        match self.agreed {
            Negotiated::Nothing => (false, MarkReport::None),
            Negotiated::Classic => (flags.has(Flags::ECE), MarkReport::None),
            Negotiated::Exact if flags.has(Flags::ECE) => (true, MarkReport::All),
            Negotiated::Exact => (false, MarkReport::None),
            Negotiated::Accurate if !newer => (false, MarkReport::None),
            Negotiated::Accurate => {
                let moved = flags.ace().wrapping_sub(self.seen) % 8;
                self.seen = flags.ace();
                match self.bytes.read(segment, moved > 0) {
                    (more, Some(bytes)) => (moved > 0 || more, MarkReport::Told { moved, bytes }),
                    (_, None) => (moved > 0, MarkReport::Counter(moved)),
                }
            }
        }
    }
}

/// Returns the AccECN encoding of the codepoint with which a SYN or SYN-ACK was received (RFC 9768 tables 2 and 3).
fn encoded(codepoint: Codepoint) -> u8 {
    match codepoint {
        Codepoint::NotEct => 0b010,
        Codepoint::Ect1 => 0b011,
        Codepoint::Ect0 => 0b100,
        Codepoint::Ce => 0b110,
    }
}
