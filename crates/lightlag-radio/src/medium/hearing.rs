//! A station's receiver.
//!
//! Each frame leaves a record at every station that hears it. A receiver notices a record 4 µs after its arrival, locks on
//! the strongest preamble of these 4 µs, and stays with it to its end. Everything else is interference (ns-3's
//! `ThresholdPreambleDetectionModel`).

use super::access::Access;
use crate::phy::timing::CCA_TIME;
use crate::phy::{ErrorCurves, Mode};
use lightlag_core::{Duration, Instant};

/// The trace of a frame at a station.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// The number of the frame.
    pub(super) frame: u64,
    pub(super) arrival: Instant,
    pub(super) end: Instant,
    /// In milliwatts.
    pub(super) power: f64,
}

/// Levels of a receiver, in milliwatts, and the ratio that a preamble needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thresholds {
    pub(super) sensitivity: f64,
    pub(super) detection: f64,
    pub(super) detection_ratio: f64,
    pub(super) energy: f64,
    pub(super) noise: f64,
}

#[derive(Debug)]
pub(super) struct Hearing {
    thresholds: Thresholds,
    /// Records in the order of their arrival; the first `noticed` have been noticed.
    records: Vec<Record>,
    noticed: usize,
    /// The frame on which it is locked.
    locked: Option<Record>,
    /// The times of its own transmissions.
    own: [(Instant, Instant); OWN],
    next_own: usize,
    /// The medium is reserved for others until then.
    reserved_until: Instant,
    /// A reservation by an RTS, which lapses if nothing starts before the first instant: until the second one.
    provisional: Option<(Instant, Instant)>,
    /// Room for the records that overlap a frame, and for their edges.
    others: Vec<Record>,
    edges: Vec<Instant>,
}

/// Transmissions of its own that a receiver remembers: no frame lasts as long as so many.
const OWN: usize = 4;

/// The end of a frame at a receiver.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum End {
    /// It was not locked on it, or lost it to its own transmission or in a header.
    Missed,
    /// It was locked on it since `arrival`; the probabilities that its headers and that all of it was understood, the ratio of
    /// its power to the noise, and whether others were on the air.
    Heard { arrival: Instant, headers: f64, success: f64, ratio: f64, overlapped: bool },
}

impl Hearing {
    pub(super) fn new(thresholds: Thresholds) -> Self {
        Self {
            thresholds,
            records: Vec::new(),
            noticed: 0,
            locked: None,
            own: [(Instant::ZERO, Instant::ZERO); OWN],
            next_own: 0,
            edges: Vec::new(),
            others: Vec::new(),
            reserved_until: Instant::ZERO,
            provisional: None,
        }
    }

    /// Whether a signal of this power is heard at all.
    pub(super) fn hears(&self, power: f64) -> bool {
        power >= self.thresholds.sensitivity
    }

    pub(super) fn noise(&self) -> f64 {
        self.thresholds.noise
    }

    /// Whether a preamble of this power is detected in silence.
    pub(super) fn detects(&self, power: f64) -> bool {
        power >= self.thresholds.detection && power >= self.thresholds.detection_ratio * self.thresholds.noise
    }

    /// A frame is on its way here. Returns whether the receiver may lock on it: then it has to be asked at its end.
    pub(super) fn add(&mut self, record: Record, now: Instant, access: &mut Access) -> bool {
        // Stations that only overhear are not asked at the ends of frames.
        if self.records.len() >= MANY {
            self.advance(now, access);
            self.forget(now);
        }
        let after = self.records.iter().rposition(|other| other.arrival <= record.arrival).map_or(0, |at| at + 1);
        self.records.insert(after.max(self.noticed), record);
        record.power >= self.thresholds.detection
    }

    /// It sends itself.
    pub(super) fn send(&mut self, from: Instant, until: Instant) {
        self.own[self.next_own] = (from, until);
        self.next_own = (self.next_own + 1) % OWN;
    }

    fn sends_between(&self, from: Instant, until: Instant) -> bool {
        self.own.iter().any(|(start, end)| *start < until && *end > from)
    }

    /// Notices everything up to `now`.
    pub(super) fn advance(&mut self, now: Instant, access: &mut Access) {
        while let Some(record) = self.records.get(self.noticed).copied()
            && record.arrival + CCA_TIME <= now
        {
            self.notice(record, access);
            self.noticed += 1;
        }
    }

    fn notice(&mut self, record: Record, access: &mut Access) {
        let at = record.arrival + CCA_TIME;
        let mut total = 0.0;
        for other in &self.records {
            if other.arrival > at {
                break;
            }
            if other.end > at {
                total += other.power;
            }
        }
        let Thresholds { detection, detection_ratio, energy, noise, .. } = self.thresholds;
        if record.power >= detection || total >= energy {
            access.occupy(at, record.end);
        }
        let is_locked = self.locked.is_some_and(|of| of.end > at && !self.sends_between(of.arrival, at));
        if is_locked || self.sends_between(record.arrival, at) {
            return;
        }
        let window = self.records[self.noticed..].iter().take_while(|other| other.arrival <= at);
        let strongest = window.fold(record, |best, other| if other.power > best.power { *other } else { best });
        let ratio = strongest.power / (noise + (total - strongest.power).max(0.0));
        if strongest.power >= detection && ratio >= detection_ratio {
            self.locked = Some(strongest);
            if let Some((_, until)) = self.provisional.take_if(|(lapses, _)| at <= *lapses) {
                self.reserve(at, until, access);
            }
        }
    }

    /// A frame has ended here.
    pub(super) fn end(&mut self, frame: u64, mode: Mode, size: u32, curves: &ErrorCurves) -> End {
        let Some(record) = self.locked.take_if(|locked| locked.frame == frame) else { return End::Missed };
        if self.sends_between(record.arrival, record.end) {
            return End::Missed;
        }
        let Self { records, others, edges, .. } = self;
        others.clear();
        let overlaps =
            |other: &&Record| other.frame != frame && other.arrival < record.end && other.end > record.arrival;
        others.extend(records.iter().filter(overlaps));
        let overlapped = !others.is_empty();
        let noise = self.thresholds.noise;
        let mut ln = 0.0;
        for header in mode.headers() {
            let span = (record.arrival + header.start, record.arrival + header.end);
            ln += pieces(&record, noise, others, edges, span, |sinr, share| {
                curves.ln_header_success(sinr, (f64::from(header.bits) * share + 0.5) as u32)
            });
        }
        let headers = crate::phy::error_model::success(ln);
        let bits = f64::from(size) * 8.0;
        let span = (record.arrival + mode.header_duration(), record.end);
        ln += pieces(&record, noise, others, edges, span, |sinr, share| {
            curves.ln_success(mode, sinr, (bits * share + 0.5) as u32)
        });
        let success = crate::phy::error_model::success(ln);
        End::Heard { arrival: record.arrival, headers, success, ratio: record.power / noise, overlapped }
    }

    /// Whether it is in the middle of a frame on which it has locked.
    pub(super) fn is_receiving(&self, now: Instant) -> bool {
        self.locked.is_some_and(|of| !self.sends_between(of.arrival, now))
    }

    /// Others have reserved the medium from `from` to `until` (§10.3.2.4).
    pub(super) fn reserve(&mut self, from: Instant, until: Instant, access: &mut Access) {
        self.reserved_until = self.reserved_until.max(until);
        access.occupy(from.min(access.busy_until), until);
    }

    /// The same by an RTS: the reservation lapses if nothing starts until `lapses` (§10.3.2.4).
    pub(super) fn reserve_provisionally(
        &mut self,
        from: Instant,
        lapses: Instant,
        until: Instant,
        access: &mut Access,
    ) {
        access.occupy(from.min(access.busy_until), lapses.min(until));
        self.provisional = Some((lapses, until));
    }

    /// Whether others have reserved the medium.
    pub(super) fn is_reserved(&self, now: Instant) -> bool {
        self.reserved_until > now || self.provisional.is_some_and(|(lapses, until)| lapses.min(until) > now)
    }

    /// Forgets records that have ended and disturb nothing that is still on the air.
    pub(super) fn forget(&mut self, now: Instant) {
        let live = |record: &Record| record.end + LINGERING > now;
        let oldest = self.records.iter().find(|record| live(record)).map_or(now, |record| record.arrival);
        let over = |record: &Record| record.end <= oldest && !live(record);
        let forgotten = self.records[..self.noticed].iter().take_while(|record| over(record)).count();
        self.records.drain(..forgotten);
        self.noticed -= forgotten;
    }
}

/// Adds up what each piece of a span with the same interference contributes: its ratio of signal to interference and noise,
/// and its share of the time.
fn pieces(
    record: &Record,
    noise: f64,
    others: &[Record],
    edges: &mut Vec<Instant>,
    (from, until): (Instant, Instant),
    of: impl Fn(f64, f64) -> f64,
) -> f64 {
    edges.clear();
    edges.push(from);
    for edge in others.iter().flat_map(|other| [other.arrival, other.end]) {
        if edge > from && edge < until {
            edges.push(edge);
        }
    }
    edges.push(until);
    edges.sort_unstable();
    let whole = until.since(from).as_nanos() as f64;
    let mut sum = 0.0;
    for pair in edges.windows(2) {
        let (start, end) = (pair[0], pair[1]);
        if start < end {
            let on = others.iter().filter(|other| other.arrival <= start && other.end > start);
            let interference: f64 = on.map(|other| other.power).sum();
            sum += of(record.power / (noise + interference), end.since(start).as_nanos() as f64 / whole);
        }
    }
    sum
}

/// So many records are looked through for some to forget.
const MANY: usize = 16;

/// A frame ends at all of its hearers at once, a little after its end at the nearest: light takes as long over 30 km.
const LINGERING: Duration = Duration::from_micros(100);
