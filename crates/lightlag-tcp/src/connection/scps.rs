//! SCPS-TP at the connection's edge: the capabilities of both ends, and the contents of their options (CCSDS 714.0-B).
//!
//! A capability applies if both SYNs have its bit. With a peer that offers none, everything is as without SCPS-TP.
//!
//! SNACK options count in units of the reporting end's MSS without the usual options, as given in its SYN (with the
//! savings of compressed headers), not in actual segments: both ends know that number. A hole starts at offset
//! ⌊(start - ACK) / unit⌋ and has ⌈length / unit⌉ of them, so that none vanishes. Without bit vector our receiver reports its
//! holes in ascending order from RCV.NXT on, as many as fit, and our sender takes the data between two of them as
//! received. In a bit vector, 1 is a unit that arrived whole, the highest bit of the first byte is the unit after the
//! hole, and everything after the last 1 is left open. These two readings are ours: the text of the standard was not
//! available.

use super::{Connection, State};
use crate::config::SnackForm;
use crate::recovery::Report;
use crate::scoreboard::Range;
use crate::segment::{Capabilities, MAX_SNACKS, MAX_VECTOR, Segment, Snack};
use lightlag_core::{Duration, Instant};
use std::collections::VecDeque;

#[cfg(test)]
mod tests;

/// Bytes of options that a header can hold.
const MOST_OPTIONS: u32 = 40;

/// The shortest time for which an end reports a corrupted packet.
const CORRUPTION_LIFE: Duration = Duration::from_secs(1);

/// The mutual knowledge of both ends.
#[derive(Debug)]
pub(super) struct Agreement {
    /// The bits that both offered.
    common: u8,
    form: SnackForm,
    /// Bytes of a unit in local reports, and in the peer's.
    own_unit: u64,
    peer_unit: u64,
    /// Time until which local ACKs report corruption.
    corrupted_until: Instant,
    /// The end of the last hole that was reported.
    reported: u64,
    /// The contents of the last SNACK options; kept to reuse its memory.
    report: Option<Box<Report>>,
    pub(super) records: Records,
    /// The id that replaces the peer's ports in compressed headers; 0 without one.
    pub(super) peer_id: u8,
    /// The window of the peer's SYN.
    pub(super) first_window: u16,
}

/// Records of the peer's application.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// Ends of the records that the local application has not read completely, in ascending order.
    ends: VecDeque<u64>,
    /// Number of records that it has read.
    read: u64,
    /// Start of a hole in each of them that has one, as far as that matters.
    broken: VecDeque<u64>,
}

impl Records {
    fn note(&mut self, end: u64) {
        let place = self.ends.partition_point(|other| *other < end);
        if self.ends.get(place) != Some(&end) {
            self.ends.insert(place, end);
        }
    }

    /// Notes a hole that starts at `start`; no earlier one follows.
    pub(super) fn break_at(&mut self, start: u64) {
        let last = self.broken.back().copied();
        if last.is_none_or(|last| self.ends.iter().any(|end| (last + 1..=start).contains(end))) {
            self.broken.push_back(start);
        }
    }

    /// Notes that the application has read up to `offset`.
    fn settle(&mut self, offset: u64) {
        while let Some(end) = self.ends.front().copied().filter(|end| *end <= offset) {
            self.ends.pop_front();
            let mut whole = true;
            while self.broken.front().is_some_and(|start| *start < end) {
                self.broken.pop_front();
                whole = false;
            }
            self.read += u64::from(whole);
        }
    }
}

impl Connection {
    /// The capability bits that both ends have; `None` with a peer without SCPS-TP.
    pub fn common_capabilities(&self) -> Option<u8> {
        self.extras.scps().map(|agreement| agreement.common)
    }

    /// A packet to this end was corrupted, according to the interface or a station. ACKs report it to the peer for two
    /// round trips, at least a second.
    #[cold]
    pub fn corruption_experienced(&mut self, now: Instant) {
        let life = (self.srtt() * 2).max(CORRUPTION_LIFE);
        if let Some(agreement) = self.extras.scps_mut() {
            agreement.corrupted_until = now + life;
        }
    }

    /// A station reports that packets of this end are corrupted.
    #[cold]
    pub fn corruption_told(&mut self, now: Instant) {
        awake!(self).corruption_told(now, &self.config);
    }

    /// Number of the peer's records that the application has read completely; it reads them at once by default. A
    /// record with a hole does not count.
    pub fn records(&self) -> u64 {
        self.extras.scps().map_or(0, |agreement| agreement.records.read)
    }

    /// Notes that the next accepted segment ends a record with the byte before `end`.
    #[cold]
    pub(super) fn note_record(&mut self, end: u64) {
        let fits = self.receiver.read_so_far() < end && end <= self.receiver.edge();
        if let Some(agreement) = self.extras.scps_mut().filter(|_| fits) {
            agreement.records.note(end);
        }
    }

    /// Settles records and holes after data was accepted.
    #[cold]
    pub(super) fn settle_scps(&mut self, now: Instant) {
        self.settle_holes(now);
        self.settle_records();
    }

    /// Settles records after the application may have read more.
    #[cold]
    pub(super) fn settle_records(&mut self) {
        let read = self.receiver.read_so_far();
        if let Some(agreement) = self.extras.scps_mut() {
            agreement.records.settle(read);
        }
    }

    /// As [`Self::read`], but at most to the end of a record.
    pub fn read_record(&mut self, bytes: u64) -> u64 {
        let read = self.receiver.read_so_far();
        let end = self.extras.scps().and_then(|agreement| agreement.records.ends.front());
        let left = end.map_or(u64::MAX, |end| end - read);
        self.read(bytes.min(left))
    }

    /// A station reports that a link is out: only probes leave until the peer is heard a round trip later or after
    /// that, or until [`Self::link_restored`].
    #[cold]
    pub fn link_lost(&mut self, now: Instant) {
        self.predicts = false;
        if self.carries_data() {
            awake!(self).outage_told(now);
        }
    }

    /// The route of this end's packets broke (explicit link failure notification): as [`Self::link_lost`], but probes leave at
    /// once and at equal times.
    #[cold]
    pub fn route_lost(&mut self, now: Instant) {
        self.predicts = false;
        if self.carries_data() {
            awake!(self).route_lost(now);
        }
    }

    /// A station reports that the link is available again.
    #[cold]
    pub fn link_restored(&mut self, now: Instant) {
        if !self.in_outage() {
            return;
        }
        self.begin_event();
        awake!(self).end_outage(now, &self.config);
    }

    /// Takes in a segment during an outage. It need not be acceptable: the probe of an outage is not, and two ends that
    /// both wait for a link, each with a window full of data, send nothing else.
    #[cold]
    #[inline(never)]
    pub(super) fn hear_in_outage(&mut self, now: Instant, segment: &Segment) {
        let paused = awake!(self).heard_in_outage(now, &self.config);
        self.handle_segment(now, segment);
        if let Some(paused) = paused.filter(|_| self.carries_data()) {
            awake!(self).go_on_with_outage(now, &paused);
        }
    }

    fn carries_data(&self) -> bool {
        !matches!(
            self.state,
            State::Closed | State::Listen | State::SynSent | State::SynReceived | State::FinWait2 | State::TimeWait
        )
    }

    /// Adds the offer to a SYN.
    pub(super) fn offer_scps(&self, segment: Segment) -> Segment {
        let Some(scps) = self.config.scps else { return segment };
        let bitmap = match scps.snack {
            SnackForm::Off => 0,
            SnackForm::Short => Capabilities::SNACK_SHORT,
            SnackForm::Long => Capabilities::SNACK_SHORT | Capabilities::SNACK_LONG,
        };
        let connection_id = self.offered_id();
        let compression = if connection_id == 0 { 0 } else { Capabilities::COMPRESSION };
        let bets = if scps.bets.is_some() { Capabilities::BETS } else { 0 };
        segment.with_capabilities(Capabilities { bitmap: bitmap | compression | bets, connection_id })
    }

    /// Reads the offer in the peer's SYN; its other offers are known.
    pub(super) fn agree_on_scps(&mut self, syn: &Segment, peer_mss: u16) {
        let (Some(scps), Some(peer)) = (self.config.scps, syn.capabilities()) else { return };
        let both = |bit: u8| peer.bitmap & bit != 0;
        let form = match scps.snack {
            SnackForm::Long if both(Capabilities::SNACK_LONG) => SnackForm::Long,
            SnackForm::Short | SnackForm::Long if both(Capabilities::SNACK_SHORT) => SnackForm::Short,
            _ => SnackForm::Off,
        };
        let own = self.offer_scps(Segment::default()).capabilities().unwrap_or_default();
        let compressed = Self::agree_on_compression(own, peer);
        let mut common = own.bitmap & peer.bitmap;
        if !compressed {
            common &= !Capabilities::COMPRESSION;
        }
        if form != SnackForm::Off {
            // Their options share a place.
            self.sack = false;
        }
        if let Some(bets) = scps.bets.filter(|_| both(Capabilities::BETS)) {
            self.receiver.skip_holes(bets.patience, bets.hold.map(|hold| hold.0));
        }
        self.extras.put_scps(Some(Box::new(Agreement {
            common,
            form,
            own_unit: 1,
            peer_unit: 1,
            corrupted_until: Instant::ZERO,
            reported: 0,
            report: None,
            records: Records::default(),
            peer_id: if compressed { peer.connection_id } else { 0 },
            first_window: syn.window,
        })));
        // Computed only now, because the agreement matters.
        let [own_unit, peer_unit] = [self.config.mss, peer_mss].map(|mss| self.payload_of(mss).into());
        if let Some(agreement) = self.extras.scps_mut() {
            (agreement.own_unit, agreement.peer_unit) = (own_unit, peer_unit);
        }
    }

    /// Whether compressed headers were agreed on.
    pub(super) fn agreed_on_compression(&self) -> bool {
        self.extras.scps().is_some_and(|agreement| agreement.peer_id != 0)
    }

    /// Whether SNACK options were agreed on.
    pub(super) fn agreed_on_snack(&self) -> bool {
        self.extras.scps().is_some_and(|agreement| agreement.form != SnackForm::Off)
    }

    /// The ACK with the reports of SCPS-TP.
    #[cold]
    pub(super) fn add_scps(&mut self, now: Instant, segment: Segment) -> Segment {
        let segment = if self.sack { self.add_sack(segment) } else { segment };
        let Some(agreement) = self.extras.scps() else { return segment };
        let unit = agreement.own_unit;
        let segment = match agreement.form {
            _ if !self.receiver.has_holes() => segment,
            SnackForm::Off => segment,
            SnackForm::Short => self.add_holes(now, segment, unit),
            SnackForm::Long => self.add_vector(now, segment, unit),
        };
        if self.extras.scps().is_none_or(|agreement| now >= agreement.corrupted_until) {
            return segment;
        }
        let told = segment.with_corruption();
        match told.sack() {
            [kept @ .., _] if told.options_len() > MOST_OPTIONS => told.with_sack(kept),
            _ => told,
        }
    }

    /// The holes to report. If holes are skipped, one that no repair can fill in time is reported once: it tells the
    /// cause of a reaction, and then gives way to later ones.
    fn reportable(&self, now: Instant) -> impl Iterator<Item = Range> + '_ {
        let worthwhile = self.receiver.repairable_from(now + self.srtt());
        let told = self.extras.scps().map_or(0, |agreement| agreement.reported).min(worthwhile);
        self.receiver.holes().skip_while(move |hole| hole.start < told)
    }

    fn add_holes(&mut self, now: Instant, segment: Segment, unit: u64) -> Segment {
        let nxt = self.receiver.nxt();
        let mut snacks = [Snack::default(); MAX_SNACKS];
        let (mut count, mut end) = (0, 0);
        let holes = self.reportable(now).map_while(|hole| snack(nxt, hole, unit).map(|snack| (snack, hole.end)));
        for (place, (hole, up_to)) in snacks.iter_mut().zip(holes) {
            *place = hole;
            (count, end) = (count + 1, up_to);
        }
        self.note_reported(end);
        if count > 0 { segment.with_snacks(&snacks[..count]) } else { segment }
    }

    fn note_reported(&mut self, end: u64) {
        if let Some(agreement) = self.extras.scps_mut() {
            agreement.reported = agreement.reported.max(end);
        }
    }

    fn add_vector(&mut self, now: Instant, segment: Segment, unit: u64) -> Segment {
        let nxt = self.receiver.nxt();
        let mut holes = self.reportable(now);
        let Some(first) = holes.next().and_then(|hole| snack(nxt, hole, unit)) else { return segment };
        let base = nxt + (u64::from(first.offset) + u64::from(first.size)) * unit;
        let top = self.receiver.highest();
        let mut vector = [0_u8; MAX_VECTOR];
        let mut hole = holes.next();
        for bit in 0..8 * MAX_VECTOR as u64 {
            let (start, end) = (base + bit * unit, base + (bit + 1) * unit);
            if end > top {
                break;
            }
            while hole.is_some_and(|hole| hole.end <= start) {
                hole = holes.next();
            }
            if hole.is_none_or(|hole| hole.start >= end) {
                vector[bit as usize / 8] |= 0x80 >> (bit % 8);
            }
        }
        drop(holes);
        self.note_reported(top.min(base + 8 * MAX_VECTOR as u64 * unit));
        segment.with_snack_vector(first, &vector)
    }

    /// Reads the options of an ACK up to `ack`: missing and received data. `None` if they report nothing.
    #[cold]
    pub(super) fn take_scps(&mut self, now: Instant, segment: &Segment, ack: u64) -> Option<Box<Report>> {
        if segment.experienced_corruption() {
            awake!(self).corruption_told(now, &self.config);
        }
        segment.snack()?;
        let agreement = self.extras.scps_mut()?;
        let mut report = agreement.report.take().unwrap_or_default();
        let Report { missing, received, guard } = &mut *report;
        missing.clear();
        received.clear();
        let sender = awake!(self);
        let (rtt, delay) = (sender.rtt(), self.config.scps.map_or(Duration::ZERO, |scps| scps.snack_delay));
        *guard = rtt.srtt().max(rtt.latest()).max(delay);
        let (unit, uses_snack) = (agreement.peer_unit, sender.uses_snack());
        let board = sender.board();
        let (una, nxt) = (board.una(), board.nxt());
        let mut known = None;
        let mut ignored = 0;
        for Snack { offset, size } in segment.snacks() {
            let start = ack + u64::from(offset) * unit;
            let hole = Range { start, end: start + u64::from(size) * unit };
            if hole.start >= nxt || hole.end <= una || agreement.form == SnackForm::Off {
                ignored += 1;
                continue;
            }
            if !uses_snack {
                continue;
            }
            if let Some(known) = known.filter(|known| *known < hole.start) {
                received.push(Range { start: known, end: hole.start });
            }
            missing.push(Range { start: hole.start.max(una), end: hole.end.min(nxt) });
            // A hole that is not a whole number of segments may end up to a unit later.
            known = Some(if board.is_cut_at(hole, size.into()) { hole.end } else { hole.end + unit });
        }
        if let (Some(hole), true) = (segment.snack().filter(|_| segment.snacks().count() == 1), uses_snack) {
            let base = ack + (u64::from(hole.offset) + u64::from(hole.size)) * unit;
            read_vector(&segment.snack_vector(), base, unit, nxt, missing, received);
        }
        if ignored > 0 {
            sender.account.rare().snacks_ignored += ignored;
        }
        Some(report)
    }

    /// Returns the report for reuse.
    #[cold]
    pub(super) fn keep_report(&mut self, report: Option<Box<Report>>) {
        if let Some(agreement) = self.extras.scps_mut() {
            agreement.report = report;
        }
    }
}

/// A hole as an option; `None` if its offset is too large for one.
fn snack(nxt: u64, hole: Range, unit: u64) -> Option<Snack> {
    let offset = u16::try_from((hole.start - nxt) / unit).ok()?;
    let size = (hole.end - hole.start).div_ceil(unit).min(u16::MAX.into()) as u16;
    Some(Snack { offset, size })
}

/// Reads a vector: runs of ones were received, and runs of zeros before the last one are missing, as far as `nxt`.
fn read_vector(vector: &[u8], base: u64, unit: u64, nxt: u64, missing: &mut Vec<Range>, received: &mut Vec<Range>) {
    let bits = || (0..8 * vector.len() as u64).map(|bit| vector[bit as usize / 8] & 0x80 >> (bit % 8) != 0);
    let Some(last) = bits().enumerate().filter(|(_, one)| *one).last().map(|(bit, _)| bit) else { return };
    let mut run: Option<(bool, Range)> = None;
    for (one, bit) in bits().take(last + 1).zip(0..) {
        let block = Range { start: base + bit * unit, end: (base + (bit + 1) * unit).min(nxt) };
        if block.start >= nxt {
            break;
        }
        match &mut run {
            Some((same, range)) if *same == one => range.end = block.end,
            _ => {
                if let Some((one, range)) = run.replace((one, block)) {
                    if one { received.push(range) } else { missing.push(range) }
                }
            }
        }
    }
    if let Some((one, range)) = run {
        if one { received.push(range) } else { missing.push(range) }
    }
}
