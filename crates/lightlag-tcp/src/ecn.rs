//! Explicit congestion notification: the agreement of two ends, and the way of marks back to the sender.
//!
//! - [`Mode::Classic`], RFC 3168: a packet marked CE sets ECE on every ACK until CWR arrives. If the congestion control
//!   needs exact marks, ECE follows the marks instead, with an ACK at each change (RFC 8257 §3.2).
//! - [`Mode::Accecn`], RFC 9768: the three bits AE, CWR and ECE become the counter ACE of packets marked CE, and the
//!   AccECN option counts bytes. For an ACK without that option the safest increase is assumed that the three bits and
//!   the delivered packets allow (§3.2.2.5.2).

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

/// Which form of ECN an end asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// None.
    #[default]
    Off,
    /// RFC 3168.
    Classic,
    /// RFC 9768; RFC 3168 with a peer that knows only that.
    Accecn,
}

/// Which codepoint says that a packet can be marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ect {
    /// ECT(0), as everywhere but in L4S.
    #[default]
    Ect0,
    /// ECT(1) (RFC 9331).
    Ect1,
}

/// When the AccECN option leaves, once the peer's was seen (RFC 9768 §3.2.3.3; `tcp_ecn_option` 0, 1, 2 of Linux).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AccecnOption {
    /// Never.
    #[default]
    Off,
    /// After the handshake, at a change of the counter that grows, after CE, and three times a round trip, where a segment
    /// has room.
    Sparse,
    /// On every segment that has room; full segments carry 12 bytes less, so that they have.
    Always,
}

/// The information of an ACK about marks. The bytes follow once the delivered data is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Marks {
    /// Nothing exact.
    #[default]
    None,
    /// All data that it delivers was marked (RFC 8257 §3.3).
    All,
    /// The counter of marked packets advanced by this, modulo 8 (RFC 9768 §3.2.2.5).
    Counter(u8),
    /// The same, and the byte counters of the AccECN option.
    Told {
        /// Advance of the counter of marked packets, modulo 8.
        moved: u8,
        /// The byte counters as received.
        bytes: EcnBytes,
    },
}

/// The first value of both counters (RFC 9768 §3.2.2): not 0, which a meddling middlebox would write.
const FIRST_COUNT: u8 = 5;

/// The most packets with CE that wait for an ACK while data waits for one, too (RFC 9768 §3.2.2.5.1, n).
const MARKS_AN_ACK: u8 = 2;

/// The same if no data waits, so that two ends do not answer each other's pure ACKs for ever.
const MARKS_AN_ACK_OF_ACKS: u8 = 3;

/// The agreement of the ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Agreed {
    /// None yet.
    Nothing,
    Classic,
    /// ECE follows the marks (RFC 8257).
    Exact,
    Accurate,
}

/// ECN at one end of a connection, both as sender and as receiver.
#[derive(Debug)]
pub(crate) struct Ecn {
    agreed: Agreed,
    mode: Mode,
    /// The congestion control needs each mark, and all packets can carry them (RFC 8257).
    exact: bool,
    ect: Codepoint,
    /// With AccECN every segment after the handshake is ECN-capable, not only new data.
    control: bool,
    /// The AccECN option, both ways.
    bytes: ByteCounters,
    /// The codepoint of the last segment sent.
    leaving: Codepoint,
    /// The codepoint of the segment being handled.
    arriving: Codepoint,
    /// Receiver: ECE is due (RFC 3168 §6.1.3), or the last data was marked (DCTCP.CE).
    echo: bool,
    /// Receiver: packets with CE, modulo 8 (r.cep).
    received: u8,
    /// Receiver: packets with CE that no ACK has reported yet.
    untold: u8,
    /// Sender: the peer's counter as last seen, modulo 8 (s.cep).
    seen: u8,
    /// The codepoint with which the peer's SYN or SYN-ACK arrived.
    heard: Codepoint,
    /// The next ACK ends the handshake: its ACE field tells the codepoint of the SYN-ACK (RFC 9768 §3.2.2.1).
    greet: bool,
    /// Number of times that the SYN or SYN-ACK was sent.
    offers: u8,
    /// Something on the path clears the bits: nothing leaves as ECN-capable.
    mangled: bool,
    /// No more marks are reported.
    silent: bool,
    /// An ACK of everything below this offset leaves first, with the state before a change (RFC 8257 §3.2).
    prior: Option<(u64, bool)>,
}

/// The urgency of the answer to a received mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Urgency {
    /// The ACK policy continues.
    Usual,
    /// An ACK leaves now.
    Now,
}

impl Ecn {
    /// An end with this `mode`, which is not off.
    pub(crate) fn new(mode: Mode, ect: Ect, exact: bool) -> Self {
        Self {
            agreed: Agreed::Nothing,
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

    /// With AccECN the option leaves according to `option`, and with `control` every segment after the handshake is
    /// ECN-capable.
    #[must_use]
    pub(crate) fn with_accecn(mut self, option: AccecnOption, control: bool) -> Self {
        self.bytes = ByteCounters::new(option);
        self.control = control;
        self
    }

    /// Notes the codepoint of a packet whose segment is about to be handled.
    pub(crate) fn arrives(&mut self, codepoint: Codepoint) {
        self.arriving = codepoint;
    }

    /// The codepoint of the last segment sent.
    pub(crate) fn leaving(&self) -> Codepoint {
        self.leaving
    }

    /// The flags of the local SYN. Its retransmissions request less, because a path that drops such SYNs must not
    /// prevent the connection (RFC 3168 §6.1.1.1; RFC 9768 §3.1.4.1 tries a second time).
    pub(crate) fn offer(&mut self) -> Flags {
        self.leaving = self.capable(self.exact);
        let retries = self.offers;
        self.offers = self.offers.saturating_add(1);
        match self.mode {
            Mode::Classic if retries == 0 => Flags::ECE.with(Flags::CWR),
            Mode::Accecn if retries <= 1 => Flags::ECE.with(Flags::CWR).with(Flags::AE),
            _ => Flags::default(),
        }
    }

    /// Reads the peer's SYN (RFC 3168 §6.1.1, RFC 9768 §3.1.2 and table 2). False if there will be no ECN. An agreement
    /// on AccECN outlives a repeated SYN without it, but then nothing leaves as ECN-capable (as in Linux).
    pub(crate) fn take_syn(&mut self, flags: Flags) -> bool {
        if self.agreed == Agreed::Accurate {
            self.mangled |= flags.ace() == 0;
            self.hear();
            return true;
        }
        self.agreed = match (flags.ace(), self.mode) {
            (0b000, _) => return false,
            // AE is a reserved bit to an end that knows only RFC 3168.
            (bits, Mode::Classic) if bits & 0b011 != 0b011 => return false,
            (0b011, _) | (_, Mode::Classic) => self.classic(),
            // Any other combination counts as 111, for later extensions (RFC 9768 §3.1.3).
            _ => Agreed::Accurate,
        };
        self.hear();
        true
    }

    /// Ends the reports of marks: ACKs leave without them from now on.
    pub(crate) fn fall_silent(&mut self) {
        self.silent = true;
    }

    /// Whether both ends use AccECN.
    pub(crate) fn is_accurate(&self) -> bool {
        self.agreed == Agreed::Accurate
    }

    /// Lets the next ACK report the codepoint of a repeated SYN or SYN-ACK, as the first one did.
    pub(crate) fn hear_again(&mut self) {
        if self.agreed == Agreed::Accurate {
            self.heard = self.arriving;
            self.greet = true;
        }
    }

    fn hear(&mut self) {
        self.heard = self.arriving;
        self.received = FIRST_COUNT + u8::from(self.heard == Codepoint::Ce);
    }

    /// The flags of the local SYN-ACK, and the AccECN option. The first repetition leaves without the option, further
    /// ones without ECN, in case something on the path drops them (RFC 9768 §3.2.3.2.2, §3.1.4.2; as in Linux).
    pub(crate) fn answer(&mut self) -> (Flags, Option<EcnBytes>) {
        self.leaving = self.capable(self.exact);
        let retries = self.offers;
        self.offers = self.offers.saturating_add(1);
        match self.agreed {
            Agreed::Nothing => Default::default(),
            Agreed::Classic | Agreed::Exact => (Flags::ECE, None),
            Agreed::Accurate if retries > 1 => Default::default(),
            Agreed::Accurate => {
                let option = self.bytes.initial().filter(|_| retries == 0);
                (Flags::from_ace(encoded(self.heard)), option)
            }
        }
    }

    /// Reads the peer's SYN-ACK (RFC 9768 table 2). False if there will be no ECN.
    pub(crate) fn take_answer(&mut self, flags: Flags) -> bool {
        self.agreed = match (flags.ace(), self.mode) {
            // 101 is reserved, and counts as AccECN without information on the SYN's codepoint (RFC 9768 §3.1.3).
            (0b010..=0b110, Mode::Accecn) => Agreed::Accurate,
            (0b001 | 0b101, _) => self.classic(),
            _ => return false,
        };
        if self.agreed == Agreed::Accurate {
            self.hear();
            self.greet = true;
            self.seen = FIRST_COUNT + u8::from(flags.ace() == 0b110);
        }
        true
    }

    /// Reads the ACE field of the ACK that ended the handshake, if that carried no data (RFC 9768 table 4). Returns
    /// whether it reports a mark on the local SYN-ACK.
    pub(crate) fn take_greeting(&mut self, flags: Flags) -> bool {
        if self.agreed != Agreed::Accurate {
            return false;
        }
        let marked = flags.ace() == 0b110;
        self.mangled |= flags.ace() == 0;
        self.seen = FIRST_COUNT + u8::from(marked);
        marked
    }

    /// Notes whether the peer sends the AccECN option; only such a peer gets ours (as in Linux). `in_time`: the size of
    /// segments is not settled yet.
    pub(crate) fn look_for_bytes(&mut self, segment: &Segment, in_time: bool) {
        if self.agreed == Agreed::Accurate {
            self.bytes.see(segment, in_time);
        }
    }

    /// Whether full segments leave room for the AccECN option.
    pub(crate) fn needs_room(&self) -> bool {
        self.agreed == Agreed::Accurate && self.bytes.needs_room()
    }

    /// Whether an ACK has counters to report, and so leaves before full segments rather than in one.
    pub(crate) fn demands_bytes(&self) -> bool {
        self.agreed == Agreed::Accurate && self.bytes.is_demanded()
    }

    /// The AccECN option of a segment that leaves now, and the least number of its fields. `None` if the segment may
    /// leave without it.
    pub(crate) fn bytes_due(&self, now: Instant, srtt: Duration) -> Option<(EcnBytes, u8)> {
        if self.agreed == Agreed::Accurate && !self.silent { self.bytes.due(now, srtt) } else { None }
    }

    /// Notes that the AccECN option was sent, beside the report of a duplicate that starts at this number, if any.
    pub(crate) fn bytes_left(&mut self, now: Instant, duplicate: Option<SeqNumber>) {
        self.bytes.told(now, duplicate);
    }

    /// Notes that a segment was sent without the AccECN option.
    pub(crate) fn bytes_stay(&mut self) {
        self.bytes.stay();
    }

    /// Data that starts at this number arrived again: the AccECN option is no longer sent if it left with the report of
    /// the same duplicate.
    pub(crate) fn suspect_option(&mut self, start: SeqNumber) {
        self.bytes.suspect(start);
    }

    /// Arrivals as counted by the AccECN option: bytes with ECT(1), CE and ECT(0); and packets with CE.
    pub(crate) fn arrived(&self) -> ([u64; 3], u64) {
        (self.bytes.counts(), self.bytes.marked_packets())
    }

    fn classic(&self) -> Agreed {
        if self.exact { Agreed::Exact } else { Agreed::Classic }
    }

    fn capable(&self, capable: bool) -> Codepoint {
        if capable && !self.mangled { self.ect } else { Codepoint::NotEct }
    }

    /// The flags of a segment with an acknowledgement. It leaves without ECT, unless the congestion control or AccECN
    /// wants it on every packet.
    pub(crate) fn echo(&mut self) -> Flags {
        self.leaving = self.capable(self.exact || self.control && self.agreed == Agreed::Accurate);
        self.untold = 0;
        match self.agreed {
            _ if self.silent => Flags::default(),
            Agreed::Classic | Agreed::Exact if self.echo => Flags::ECE,
            Agreed::Accurate if std::mem::take(&mut self.greet) => Flags::from_ace(encoded(self.heard)),
            Agreed::Accurate => Flags::from_ace(self.received),
            _ => Flags::default(),
        }
    }

    /// A segment of low priority leaves like a retransmission.
    pub(crate) fn low_priority(&mut self) {
        self.leaving = self.capable(self.exact || self.control && self.agreed == Agreed::Accurate);
    }

    /// The flags of a segment with new data. It leaves with ECT, and with CWR if the window was `reduced` (RFC 3168
    /// §6.1.2). In AccECN that bit is part of the counter.
    pub(crate) fn new_data(&mut self, reduced: bool) -> Flags {
        self.leaving = self.capable(true);
        if reduced && self.agreed != Agreed::Accurate { Flags::CWR } else { Flags::default() }
    }

    /// Receiver: takes in an acceptable segment with `len` bytes of data. `delayed`: an ACK of data before `nxt` was
    /// being delayed.
    pub(crate) fn received(&mut self, flags: Flags, len: u16, nxt: u64, delayed: bool) -> Urgency {
        let marked = self.arriving == Codepoint::Ce;
        let urgent = match self.agreed {
            Agreed::Accurate => self.count(marked, len, delayed),
            // Pure ACKs are not ECN-capable (RFC 3168 §6.1.4).
            _ if len == 0 => false,
            Agreed::Exact => self.follow(marked, nxt, delayed),
            _ => {
                // CWR ends the echo; a mark on the same packet restarts it (RFC 3168 §6.1.3).
                let told = self.echo && !flags.has(Flags::CWR);
                self.echo = told || marked;
                marked && !told
            }
        };
        if urgent { Urgency::Now } else { Urgency::Usual }
    }

    /// RFC 8257 §3.2: at a change, earlier data is acknowledged with the earlier state.
    fn follow(&mut self, marked: bool, nxt: u64, delayed: bool) -> bool {
        let changed = marked != self.echo;
        if changed {
            self.prior = delayed.then_some((nxt, self.echo));
            self.echo = marked;
        }
        changed
    }

    /// RFC 9768 §3.2.2.5.1: an ACK at once if another counter grows than before, and for every second mark.
    fn count(&mut self, marked: bool, len: u16, delayed: bool) -> bool {
        if marked {
            self.received = (self.received + 1) % 8;
            self.untold = self.untold.saturating_add(1);
        }
        let changed = self.bytes.count(self.arriving, len);
        let most = if delayed || len > 0 { MARKS_AN_ACK } else { MARKS_AN_ACK_OF_ACKS };
        changed && len > 0 || self.untold >= most
    }

    /// Whether an ACK must leave before any other.
    pub(crate) fn owes_prior(&self) -> bool {
        self.prior.is_some()
    }

    /// The ACK that must leave before any other: its number, and whether it carries ECE.
    pub(crate) fn take_prior(&mut self) -> Option<(u64, bool)> {
        self.prior.take()
    }

    /// Sender: takes in an ACK, which is `newer` than all before. Returns whether it echoes a mark, and its exact
    /// counters.
    pub(crate) fn echoed(&mut self, segment: &Segment, newer: bool) -> (bool, Marks) {
        let flags = segment.flags;
        match self.agreed {
            Agreed::Nothing => (false, Marks::None),
            Agreed::Classic => (flags.has(Flags::ECE), Marks::None),
            Agreed::Exact if flags.has(Flags::ECE) => (true, Marks::All),
            Agreed::Exact => (false, Marks::None),
            Agreed::Accurate if !newer => (false, Marks::None),
            Agreed::Accurate => {
                let moved = flags.ace().wrapping_sub(self.seen) % 8;
                self.seen = flags.ace();
                match self.bytes.read(segment, moved > 0) {
                    (more, Some(bytes)) => (moved > 0 || more, Marks::Told { moved, bytes }),
                    (_, None) => (moved > 0, Marks::Counter(moved)),
                }
            }
        }
    }
}

/// The encoding of the codepoint with which a SYN or SYN-ACK arrived in AccECN (RFC 9768 tables 2 and 3).
fn encoded(codepoint: Codepoint) -> u8 {
    match codepoint {
        Codepoint::NotEct => 0b010,
        Codepoint::Ect1 => 0b011,
        Codepoint::Ect0 => 0b100,
        Codepoint::Ce => 0b110,
    }
}
