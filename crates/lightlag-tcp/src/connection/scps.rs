//! SCPS-TP in a connection: the capabilities of both ends, and the contents of their options (CCSDS 714.0-B).
//!
//! A capability is used if both SYNs have its bit. With a peer that offers none, the connection works as without
//! SCPS-TP.
//!
//! SNACK options do not count actual segments, but units of a size that both ends can compute: the reporting end's MSS,
//! as given in its SYN, less the options on every segment (plus what compressed headers save). A hole starts at offset
//! ⌊(start - ACK) / unit⌋ and has ⌈length / unit⌉ units, so that no hole is rounded to nothing. Without a bit vector,
//! our receiver reports as many holes as fit, in ascending order starting at RCV.NXT, and our sender treats the data
//! between two reported holes as received. In a bit vector, a 1 stands for a unit that arrived completely, the highest
//! bit of the first byte is the unit after the hole, and nothing is implied about data after the last 1. These two
//! interpretations are ours: the text of the standard was not available.

use super::{Connection, State};
use crate::config::SnackForm;
use crate::recovery::SnackReport;
use crate::scoreboard::Range;
use crate::segment::{Capabilities, MAX_SNACKS, MAX_VECTOR, Segment, Snack};
use lightlag_core::{Duration, Instant};
use std::collections::VecDeque;

#[cfg(test)]
mod tests;

/// Maximum size of all options of a header, in bytes.
const MOST_OPTIONS: u32 = 40;

/// Minimum time for which ACKs report a corrupted packet.
const CORRUPTION_LIFE: Duration = Duration::from_secs(1);

/// Negotiated capabilities and state of SCPS-TP.
#[derive(Debug)]
pub(super) struct Agreement {
    /// Capability bits that both ends offered.
    common: u8,
    form: SnackForm,
    /// Sizes of a SNACK unit in bytes: in the reports of this end, and in the peer's.
    own_unit: u64,
    peer_unit: u64,
    /// Time until which local ACKs report corruption.
    corrupted_until: Instant,
    /// End of the last hole that was reported to the peer.
    reported: u64,
    /// Contents of the last SNACK options that were read; kept so that the memory is reused.
    report: Option<Box<SnackReport>>,
    pub(super) records: Records,
    /// The ID that replaces the peer's ports in compressed headers; 0 if there is none.
    pub(super) peer_id: u8,
    /// The window advertised in the peer's SYN, in bytes.
    pub(super) first_window: u16,
}

/// Records of the peer's application.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// Ends of the records that the local application has not read completely, in ascending order.
    ends: VecDeque<u64>,
    /// Number of records that the local application has read.
    read: u64,
    /// For each unread record with a hole, the start of its first hole.
    broken: VecDeque<u64>,
}

impl Records {
    fn note(&mut self, end: u64) {
        let index = self.ends.partition_point(|other| *other < end);
        if self.ends.get(index) != Some(&end) {
            self.ends.insert(index, end);
        }
    }

    /// Records a hole that starts at `start`. Holes are passed in ascending order.
    pub(super) fn break_at(&mut self, start: u64) {
        let last = self.broken.back().copied();
        if last.is_none_or(|last| self.ends.iter().any(|end| (last + 1..=start).contains(end))) {
            self.broken.push_back(start);
        }
    }

    /// Updates the records after the application has read up to `offset`.
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
    /// Returns the capability bits that both ends offered; `None` if the peer does not support SCPS-TP.
    pub fn common_capabilities(&self) -> Option<u8> {
        self.extras.scps().map(|agreement| agreement.common)
    }

    /// Handles the report of an interface or another node that a packet to this end was corrupted. ACKs report it to
    /// the peer for two round trips, but at least a second.
    #[cold]
    pub fn corruption_experienced(&mut self, now: Instant) {
        let life = (self.srtt() * 2).max(CORRUPTION_LIFE);
        if let Some(agreement) = self.extras.scps_mut() {
            agreement.corrupted_until = now + life;
        }
    }

    /// Handles a notification that packets which this end sent were corrupted.
    #[cold]
    pub fn corruption_told(&mut self, now: Instant) {
        awake!(self).corruption_told(now, &self.config);
    }

    /// Returns the number of the peer's records that the application has read completely. Unless
    /// [`Connection::read_later`] is called, records are read as they arrive. A record with a hole does not count.
    pub fn records(&self) -> u64 {
        self.extras.scps().map_or(0, |agreement| agreement.records.read)
    }

    /// Notes that the byte before `end` is the last one of a record.
    #[cold]
    pub(super) fn note_record(&mut self, end: u64) {
        let fits = self.receiver.read_so_far() < end && end <= self.receiver.edge();
        if let Some(agreement) = self.extras.scps_mut().filter(|_| fits) {
            agreement.records.note(end);
        }
    }

    /// Updates the records and holes after data was accepted.
    #[cold]
    pub(super) fn settle_scps(&mut self, now: Instant) {
        self.settle_holes(now);
        self.settle_records();
    }

    /// Updates the records after the application may have read more data.
    #[cold]
    pub(super) fn settle_records(&mut self) {
        let read = self.receiver.read_so_far();
        if let Some(agreement) = self.extras.scps_mut() {
            agreement.records.settle(read);
        }
    }

    /// Reads like [`Self::read`], but not beyond the end of a record.
    pub fn read_record(&mut self, bytes: u64) -> u64 {
        let read = self.receiver.read_so_far();
        let end = self.extras.scps().and_then(|agreement| agreement.records.ends.front());
        let left = end.map_or(u64::MAX, |end| end - read);
        self.read(bytes.min(left))
    }

    /// Handles a notification that a link on the path is down: only probes are sent until a segment of the peer
    /// arrives, at least one round trip after the notification, or until [`Self::link_restored`] is called.
    #[cold]
    pub fn link_lost(&mut self, now: Instant) {
        self.predicts = false;
        if self.carries_data() {
            awake!(self).outage_told(now);
        }
    }

    /// Handles a notification that the route of this end's packets is broken (explicit link failure notification). As
    /// [`Self::link_lost`], but probes start immediately and are sent at a constant interval.
    #[cold]
    pub fn route_lost(&mut self, now: Instant) {
        self.predicts = false;
        if self.carries_data() {
            awake!(self).route_lost(now);
        }
    }

    /// Handles a notification that the link is up again.
    #[cold]
    pub fn link_restored(&mut self, now: Instant) {
        if !self.in_outage() {
            return;
        }
        self.begin_event();
        awake!(self).end_outage(now, &self.config);
    }

    /// Handles a segment that arrives during an outage. It need not be acceptable: the probes of an outage are not, and
    /// if both ends wait for a link, each with a full window in flight, they send nothing else.
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

    /// Adds the capabilities that this end offers to a SYN.
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

    /// Reads the capabilities that the peer's SYN offers. Call it after its other options have been read.
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
            // Their options share slots.
            self.sack = false;
        }
        if let Some(bets) = scps.bets.filter(|_| both(Capabilities::BETS)) {
            self.receiver.skip_holes(bets.receive_timeout, bets.hold.map(|hold| hold.0));
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
        // Computed only now, because compression changes it.
        let [own_unit, peer_unit] = [self.config.mss, peer_mss].map(|mss| self.payload_of(mss).into());
        if let Some(agreement) = self.extras.scps_mut() {
            (agreement.own_unit, agreement.peer_unit) = (own_unit, peer_unit);
        }
    }

    /// Returns true if compressed headers were negotiated.
    pub(super) fn agreed_on_compression(&self) -> bool {
        self.extras.scps().is_some_and(|agreement| agreement.peer_id != 0)
    }

    /// Returns true if SNACK options were negotiated.
    pub(super) fn agreed_on_snack(&self) -> bool {
        self.extras.scps().is_some_and(|agreement| agreement.form != SnackForm::Off)
    }

    /// Returns the ACK with the SCPS-TP options that are due.
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
        let marked = segment.with_corruption();
        match marked.sack() {
            [kept @ .., _] if marked.options_len() > MOST_OPTIONS => marked.with_sack(kept),
            _ => marked,
        }
    }

    /// Returns the holes to report. If the receiver skips holes, a hole that no retransmission can fill in time is
    /// reported only once, so that the sender learns of the loss; after that, later holes take precedence.
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

    /// Reads the missing and the received data from the options of an ACK up to `ack`. `None` if the options report
    /// nothing.
    #[cold]
    pub(super) fn take_scps(&mut self, now: Instant, segment: &Segment, ack: u64) -> Option<Box<SnackReport>> {
        if segment.experienced_corruption() {
            awake!(self).corruption_told(now, &self.config);
        }
        segment.snack()?;
        let agreement = self.extras.scps_mut()?;
        let mut report = agreement.report.take().unwrap_or_default();
        let SnackReport { missing, received, guard } = &mut *report;
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
            // A hole that is not a multiple of a segment may end up to a unit later.
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

    /// Keeps the report, so that its memory is reused.
    #[cold]
    pub(super) fn keep_report(&mut self, report: Option<Box<SnackReport>>) {
        if let Some(agreement) = self.extras.scps_mut() {
            agreement.report = report;
        }
    }
}

/// Returns the option for a hole; `None` if the hole's offset is too large for the option.
fn snack(nxt: u64, hole: Range, unit: u64) -> Option<Snack> {
    let offset = u16::try_from((hole.start - nxt) / unit).ok()?;
    let size = (hole.end - hole.start).div_ceil(unit).min(u16::MAX.into()) as u16;
    Some(Snack { offset, size })
}

/// Reads a bit vector. Runs of ones were received; runs of zeros before the last one are missing. Nothing beyond `nxt`
/// is reported.
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
