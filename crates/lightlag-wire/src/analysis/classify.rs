//! Classifies a segment from the earlier segments of its connection.
//!
//! A capture does not show why a segment was sent. The rules for retransmissions, duplicate ACKs, zero windows, probes
//! and keep-alives give the same counts as Wireshark's analysis of sequence numbers. A segment that starts below the
//! highest sequence number seen was either retransmitted or overtaken; Wireshark spreads both over four labels. Here
//! the captured data distinguishes them. Data that was seen twice was retransmitted. Data that fills a hole was
//! overtaken if the hole is younger than a round trip; otherwise it was lost before the capture and retransmitted.

use super::half::{Cause, Half, Last};
use super::ranges::Since;
use crate::TcpPacket;
use lightlag_core::{Duration, Instant};
use lightlag_tcp::segment::{Flags, Timestamps};

/// Maximum time in nanoseconds from a report of a hole to a retransmission that counts as triggered by it.
const ANSWER: u64 = 1_000_000;

/// One of the two endpoints of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The client; its direction is forward.
    Client,
    /// The server; its direction is backward.
    Server,
}

/// The classes of segments. If several apply, the first one in this order is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentKind {
    /// Data, SYN or FIN seen for the first time.
    New,
    /// Retransmitted data, SYN or FIN.
    Retransmission(Cause),
    /// Data that was overtaken by later data.
    OutOfOrder,
    /// One byte sent into a closed window.
    WindowProbe,
    /// At most one byte below the next offset, sent to make the other end reply.
    KeepAlive,
    /// An ACK that repeats the previous ACK.
    DuplicateAck,
    /// An ACK that changes only the window.
    WindowUpdate,
    /// Any other segment without data.
    Ack,
}

/// One segment of a connection. An offset counts the bytes of a direction: the SYN has offset 0, and data starts at 1.
/// If the SYN is missing, the first sequence number seen has offset 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Observation {
    /// Index of the connection.
    pub connection: u64,
    /// The side that sent the segment.
    pub side: Side,
    /// Time of the segment in the capture.
    pub at: Instant,
    /// Offset of the first byte.
    pub start: i64,
    /// Number of data bytes.
    pub len: u32,
    /// Control bits.
    pub flags: Flags,
    /// Class of the segment.
    pub kind: SegmentKind,
    /// Number of data bytes that were not seen before.
    pub unique: u32,
    /// Offset in the other direction that the segment acknowledges.
    pub ack: Option<i64>,
    /// Data of the other direction that arrived twice, according to a D-SACK block in this segment.
    pub twice: Option<(i64, i64)>,
    /// The advertised window in bytes; `None` if the capture lacks the handshake.
    pub window: Option<u64>,
    /// The timestamps (RFC 7323 §3).
    pub timestamps: Option<Timestamps>,
    /// Time from a packet of the other end to this segment, which replies to it: the round-trip time between the
    /// capture and this segment's sender.
    pub rtt: Option<Duration>,
    /// Bytes that the sender of this segment has in flight after it.
    pub in_flight: u64,
    /// Bytes that the other end has in flight after this segment, which are the data that it does not acknowledge.
    pub other_in_flight: u64,
}

/// Maximum delay of overtaken data if the round-trip time is unknown (Wireshark's value).
const OVERTAKEN: Duration = Duration::from_millis(3);

/// A segment and its position in its direction.
struct Placed<'a> {
    packet: &'a TcpPacket<'a>,
    at: u64,
    start: i64,
    len: u32,
    /// Offset after the segment's SYN, data and FIN.
    end: i64,
    /// Whether the segment has SYN, FIN or RST.
    control: bool,
}

impl Placed<'_> {
    fn now(&self) -> Since {
        Since { at: self.at, stamp: self.packet.segment.timestamps().map(|stamps| stamps.value) }
    }
}

/// A class that follows from the header fields alone, by comparison with the last packet of each direction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Note {
    Plain,
    Probe,
    KeepAlive,
    /// The reply to a keep-alive or a probe, which does not count as a duplicate ACK.
    Answer,
    Update,
    Duplicate,
}

/// Processes a segment of the direction `own`; `other` is the opposite direction.
pub(super) fn segment(
    own: &mut Half,
    other: &mut Half,
    time_ns: u64,
    packet: &TcpPacket,
    initial_rtt: Option<Duration>,
) -> Observation {
    let segment = &packet.segment;
    let flags = segment.flags;
    let (syn, fin, acks) = (flags.has(Flags::SYN), flags.has(Flags::FIN), flags.has(Flags::ACK));
    // A data packet with a compressed header carries neither an ACK nor a window.
    let silent = segment.is_compressed() && !acks;
    own.initial.get_or_insert(segment.seq.0.wrapping_sub(u32::from(!syn)));
    if acks {
        other.initial.get_or_insert(segment.ack.0.wrapping_sub(1));
    }
    let start = own.offset(segment.seq.0);
    let len = packet.payload_len;
    let placed = Placed {
        packet,
        at: time_ns,
        start,
        len,
        end: start + i64::from(packet.sequence_len()),
        control: syn || fin || flags.has(Flags::RST),
    };
    let window = window_bytes(own, other, packet).filter(|_| !silent);
    let note = note(own, other, &placed);
    let late = own.duplicates > 0;
    if !silent && own.last.is_none_or(|last| last.ack != segment.ack.0) {
        own.duplicates = 0;
    }
    let ack = acks.then(|| acknowledge(own, other, &placed, late));
    let (kind, unique) = data(own, other, &placed, note, initial_rtt);
    let said = own.last.filter(|_| silent);
    own.last = Some(Last {
        ack: said.map_or(segment.ack.0, |last| last.ack),
        window: said.map_or(segment.window, |last| last.window),
        window_bytes: said.map_or(window, |last| last.window_bytes),
        kept_alive: note == Note::KeepAlive,
        probed: note == Note::Probe,
    });
    if let Some(stamps) = segment.timestamps() {
        own.stamp(stamps.value, time_ns);
        if acks {
            other.echoed(stamps.echo, time_ns, own.stream.continues());
        }
    }
    if len > 0 {
        own.stream.sent(flags.has(Flags::PSH));
    }
    Observation {
        connection: 0,
        side: Side::Client,
        at: Instant::ZERO,
        start: start + i64::from(syn),
        len,
        flags: Flags(flags.0 & crate::FLAGS),
        kind,
        unique,
        ack: ack.map(|(ack, _)| ack),
        twice: ack.and_then(|(_, twice)| twice),
        window,
        timestamps: segment.timestamps(),
        rtt: other.completed.take(),
        in_flight: own.in_flight(),
        other_in_flight: other.in_flight(),
    }
}

/// Returns the window in bytes (RFC 7323 §2.2): the window of a SYN is never scaled, and later ones are scaled if both
/// sides sent the option.
fn window_bytes(own: &Half, other: &Half, packet: &TcpPacket) -> Option<u64> {
    let window = u64::from(packet.segment.window);
    if packet.segment.flags.has(Flags::SYN) {
        return Some(window);
    }
    let (own, other) = (own.handshake?.window_scale, other.handshake?.window_scale);
    Some(own.filter(|_| other.is_some()).map_or(window, |scale| window << scale))
}

fn note(own: &mut Half, other: &mut Half, placed: &Placed) -> Note {
    let (segment, len, start) = (&placed.packet.segment, placed.len, placed.start);
    if len == 1 && own.next == Some(start) && other.last.is_some_and(|last| last.window == 0) {
        own.counts.window_probes += 1;
        return Note::Probe;
    }
    let says_window = !segment.is_compressed() || segment.flags.has(Flags::ACK);
    own.counts.zero_windows += u64::from(segment.window == 0 && says_window && !placed.control);
    let edge = other.last.and_then(|last| Some(own.offset(last.ack) + last.window_bytes? as i64));
    own.counts.window_full += u64::from(len > 0 && !placed.control && edge == Some(placed.end));
    if placed.control {
        return Note::Plain;
    }
    if len <= 1 && own.next == Some(start + 1) {
        own.counts.keep_alives += 1;
        return Note::KeepAlive;
    }
    let Some(last) = own.last.filter(|_| len == 0 && own.next == Some(start)) else { return Note::Plain };
    let same_ack = last.ack == segment.ack.0;
    let same_window = last.window == segment.window;
    let (kept_alive, probed) = other.last.map_or((false, false), |last| (last.kept_alive, last.probed));
    if probed && segment.ack.0 == last.ack.wrapping_add(1) {
        // The receiver accepted the byte of the probe. If its window is open, the sender may not know that yet and send
        // the byte again; the next segment shows it.
        other.last.iter_mut().for_each(|last| last.probed = false);
        other.taken = other.next;
        if segment.window == 0 {
            other.count_taken();
        }
        return if same_window && segment.window == 0 { Note::Answer } else { Note::Plain };
    }
    match (same_ack, same_window, segment.window) {
        (true, false, 1..) => {
            own.counts.window_updates += 1;
            Note::Update
        }
        (true, true, 1..) if kept_alive => Note::Answer,
        (true, true, 0) if probed => Note::Answer,
        (true, true, 1..) => {
            own.duplicates += 1;
            own.counts.duplicate_acks += 1;
            Note::Duplicate
        }
        _ => Note::Plain,
    }
}

/// Processes the ACK and the SACK blocks of a segment, which are about the direction `other`. Returns the acknowledged
/// offset, and data that arrived twice.
fn acknowledge(own: &mut Half, other: &mut Half, placed: &Placed, late: bool) -> (i64, Option<(i64, i64)>) {
    let segment = &placed.packet.segment;
    let offset = other.offset(segment.ack.0);
    other.acknowledge(offset, placed.at, late);
    other.lacks = segment.snack().is_some();
    if other.lacks {
        other.reported_at = placed.at;
    }
    let blocks = segment.sack();
    own.counts.sack_blocks += blocks.len() as u64;
    let ranges: Vec<(i64, i64)> =
        blocks.iter().map(|block| (other.offset(block.start.0), other.offset(block.end.0))).collect();
    let within = |inner: (i64, i64), outer: (i64, i64)| outer.0 <= inner.0 && inner.1 <= outer.1;
    // RFC 2883 §4: the first block reports a duplicate if it lies below the ACK or inside the second block.
    let twice = match ranges[..] {
        [first, ..] if first.1 <= offset => Some(first),
        [first, second, ..] if within(first, second) => Some(first),
        _ => None,
    };
    if twice.is_some() {
        own.counts.dsack_blocks += 1;
        let counts = &mut other.counts;
        // Data that was never retransmitted was duplicated by the network.
        counts.spurious_retransmissions =
            (counts.spurious_retransmissions + 1).min(counts.retransmitted_segments - counts.lost_before);
    }
    for &(start, end) in &ranges[usize::from(twice.is_some())..] {
        other.report(start.max(offset), end, placed.at);
    }
    (offset, twice)
}

/// Classifies the data, SYN or FIN of a segment. Also returns how many bytes of its data are new.
fn data(
    own: &mut Half,
    other: &Half,
    placed: &Placed,
    note: Note,
    initial_rtt: Option<Duration>,
) -> (SegmentKind, u32) {
    let &Placed { at: time_ns, start, len, end, .. } = placed;
    own.counts.payload_bytes += u64::from(len);
    own.counts.data_segments += u64::from(len > 0);
    if note == Note::Probe {
        own.counts.repeated_bytes += 1;
        return (SegmentKind::WindowProbe, 0);
    }
    let before = own.next;
    if note == Note::KeepAlive {
        own.counts.repeated_bytes += u64::from(len);
        return (SegmentKind::KeepAlive, 0);
    }
    if start == end {
        if own.taken.is_some_and(|taken| start > taken) {
            own.count_taken();
        }
        own.see(start, start, placed.now());
        let kind = match note {
            Note::Duplicate => SegmentKind::DuplicateAck,
            Note::Update => SegmentKind::WindowUpdate,
            _ => SegmentKind::Ack,
        };
        return (kind, 0);
    }
    own.before_sending(time_ns);
    if own.taken.is_some_and(|taken| start > taken) {
        own.count_taken();
    }
    if len > 0 {
        own.first_data.get_or_insert(time_ns);
        own.last_data = own.last_data.max(time_ns);
    }
    let body = start + i64::from(placed.packet.segment.flags.has(Flags::SYN));
    let behind_body = body + i64::from(len);
    let parts =
        [(start, body), (body, behind_body), (behind_body, end)].map(|(from, to)| own.see(from, to, placed.now()));
    let unique = parts[1].0 as u32;
    own.counts.unique_bytes += u64::from(unique);
    own.counts.repeated_bytes += u64::from(len - unique);
    let unseen = parts.iter().map(|part| part.0).sum::<u64>() == (end - start) as u64;
    let hole = parts.iter().filter_map(|part| part.1).min();
    let kind = match sent_before(own, other, placed, before) {
        false => SegmentKind::New,
        true if unseen && hole.is_none_or(|hole| overtaken(own, other, hole, placed.now(), initial_rtt)) => {
            SegmentKind::OutOfOrder
        }
        true => {
            own.counts.lost_before += u64::from(unseen);
            SegmentKind::Retransmission(again(own, other, placed, before))
        }
    };
    match kind {
        SegmentKind::New if body == start => own.flight.send(start, end, time_ns),
        SegmentKind::OutOfOrder => own.counts.out_of_order += 1,
        _ => {}
    }
    own.counts.max_in_flight_bytes = own.counts.max_in_flight_bytes.max(own.in_flight());
    (kind, unique)
}

/// Returns true if data that fills a hole was overtaken by later data, false if it was retransmitted because of the
/// hole. Retransmitted data has a later timestamp, and arrives at least a round trip later.
fn overtaken(own: &Half, other: &Half, hole: Since, now: Since, initial_rtt: Option<Duration>) -> bool {
    if let (Some(then), Some(now)) = (hole.stamp, now.stamp)
        && then != now
    {
        return (now.wrapping_sub(then) as i32) < 0;
    }
    let backward = other.rtt.least().min(other.echo.least()).or(other.rtt.least()).or(other.echo.least());
    let both = own.rtt.least().zip(backward).map(|(there, back)| there.as_nanos().saturating_add(back.as_nanos()));
    let initial = initial_rtt.map_or(OVERTAKEN.as_nanos(), Duration::as_nanos);
    now.at.saturating_sub(hole.at) < both.map_or(initial, |both| both.min(initial)) / 10 * 9
}

/// Returns true if a segment starts below `next`, or if its data is already acknowledged.
fn sent_before(own: &Half, other: &Half, placed: &Placed, next: Option<i64>) -> bool {
    // A byte that probed a closed window is repeated together with the data after it.
    let below = next.is_some_and(|next| placed.start < next && !(placed.len > 1 && placed.start + 1 == next));
    let acked = other.last.map(|last| own.offset(last.ack));
    below || placed.len > 0 && acked.is_some_and(|acked| placed.start + i64::from(placed.len) <= acked)
}

/// Counts a retransmission and returns its cause.
fn again(own: &mut Half, other: &Half, placed: &Placed, next: Option<i64>) -> Cause {
    let &Placed { at: time_ns, start, end, .. } = placed;
    let twice = own.flight.was_sent_again(start);
    if let Some(next) = next.filter(|next| *next < end) {
        own.flight.send(next, end, time_ns);
    }
    let left = own.flight.send_again(start, end, time_ns);
    let cause = cause(own, other, placed, left.filter(|_| own.acked.is_some()), twice);
    let counts = &mut own.counts;
    counts.retransmitted_segments += 1;
    counts.retransmitted_controls += u64::from(placed.len == 0);
    match cause {
        Cause::Fast => counts.fast_retransmissions += 1,
        Cause::Timeout => counts.timeout_retransmissions += 1,
        Cause::TailProbe => counts.tail_probes += 1,
        Cause::Unknown => {}
    }
    cause
}

/// Returns the cause of a retransmission. `left` is when its data was last sent; `twice` is whether the data was
/// retransmitted before.
fn cause(own: &mut Half, other: &Half, placed: &Placed, left: Option<u64>, twice: bool) -> Cause {
    let &Placed { at: time_ns, start, end, .. } = placed;
    if placed.packet.segment.flags.has(Flags::SYN) {
        return Cause::Timeout;
    }
    let next = own.next.unwrap_or(end);
    let reported = own.lacks || own.flight.sacked().highest().is_some_and(|highest| highest > start);
    let waited = left.map(|left| time_ns.saturating_sub(left.max(own.acked_at)));
    let srtt = own.smoothed.srtt().unwrap_or(0);
    let least_timeout = own.smoothed.least_timeout();
    // RFC 8985 §7.2: a probe is sent after 2·SRTT, plus the maximum delay of an ACK if one segment is in flight. If
    // more are in flight, it may leave as early as the timer would have expired; a timeout repeats the first segment.
    let probe = (srtt / 2).saturating_mul(3)..=srtt.saturating_mul(2).saturating_add(250_000_000);
    let first = own.acked.is_some_and(|acked| start <= acked);
    let last = end >= next && !reported && !twice && own.recovery.is_none();
    if last && waited.is_some_and(|time| !first || probe.contains(&time)) {
        return Cause::TailProbe;
    }
    let answers = reported && time_ns.saturating_sub(own.reported_at) < ANSWER;
    if first && !answers && waited.is_some_and(|time| time >= least_timeout) {
        own.recovery = Some((next, Cause::Timeout));
    }
    match own.recovery {
        Some((end, cause)) if start < end => cause,
        _ if reported || other.duplicates >= 2 && own.acked == Some(start) => {
            own.recovery = Some((next, Cause::Fast));
            Cause::Fast
        }
        _ => Cause::Unknown,
    }
}
