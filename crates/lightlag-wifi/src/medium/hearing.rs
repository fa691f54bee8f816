//! A station's receiver.
//!
//! Each frame leaves a record at every station that hears it. A receiver notices a record 4 µs after its arrival, locks on
//! the strongest preamble of these 4 µs, and stays with it to its end. Everything else is interference (ns-3's
//! `ThresholdPreambleDetectionModel`).

use super::access::Access;
use super::aggregate::Mpdu;
use super::background::{Background, Ear};
use super::record::Record;
use crate::config::Radio;
use crate::phy::error_model::{SAFE, survives};
use crate::phy::timing::CCA_TIME;
use crate::phy::{ErrorCurves, Header, Mode, Width, noise_floor};
use crate::propagation::decibels::ratio;
use lightlag_core::{Duration, Instant, prefetch};
use lightlag_net::StationId;
use std::sync::Arc;

/// Levels of a receiver, in milliwatts, and the ratio that a preamble needs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Thresholds {
    detection: f64,
    detection_ratio: f64,
    /// How much stronger a frame is that takes the place of one that has just started, as a ratio.
    capture: Option<f64>,
    noise: f64,
    /// The least power that makes the medium busy, whether or not the frame is detected. Signals below it, taken together, do
    /// not.
    loud: f64,
    /// The least power that matters.
    noticeable: f64,
    /// The powers of frames that are heard and do not matter alone: from the first on, below the second.
    faint: [f64; 2],
}

impl Thresholds {
    pub(super) fn new(radio: &Radio, width: Width) -> Self {
        let (detection, carrier) = (ratio(radio.detection), ratio(radio.carrier_sense));
        let loud = carrier.min(ratio(radio.energy_detection));
        let (noticeable, sensitivity) = (detection.min(loud), ratio(radio.sensitivity));
        Self {
            detection,
            detection_ratio: ratio(radio.detection_snr),
            capture: radio.capture.then(|| ratio(radio.capture_margin)),
            noise: noise_floor(width, radio.noise_figure),
            loud,
            noticeable,
            faint: [sensitivity, noticeable.max(sensitivity)],
        }
    }
}

/// The fields that every frame on the air needs come first, in one cache line; those for its end are in the next one. The
/// thresholds of equal radios are the same in memory, so that a cache holds them.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Hearing {
    /// Records in the order of their arrival: those before `first` matter no more, those before `noticed` have been noticed.
    records: Vec<Record>,
    first: u32,
    noticed: u32,
    /// The latest arrival of a record.
    last: Instant,
    /// The end of the latest record, and when all others had ended.
    last_end: Instant,
    quiet_from: Instant,
    /// The end of its last transmission.
    own_until: Instant,
    thresholds: Arc<Thresholds>,
    /// The number of its station.
    station: StationId,
    next_own: u32,
    /// The frame on which it is locked.
    locked: Option<Record>,
    /// The medium is reserved for others until then.
    reserved_until: Instant,
    /// A reservation by an RTS, which lapses if nothing starts before the first instant: until the second one.
    provisional: Option<(Instant, Instant)>,
    /// The times of its own transmissions.
    own: [(Instant, Instant); OWN],
}

/// A frame, as far as its chances depend on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) mode: Mode,
    /// Bytes of its MPDU or A-MPDU.
    pub(super) size: u32,
    /// The bits of its data field, and the time of its headers.
    pub(super) bits: f64,
    pub(super) headers: Duration,
    /// The SINR from which on it survives every draw below `SAFE`, and that from which on its headers are never lost.
    pub(super) safe: f64,
    pub(super) certain_header: f64,
}

/// The time after its detection in which a frame gives way to a stronger one (ns-3's `SimpleFrameCaptureModel`).
const CAPTURE_TIME: Duration = Duration::from_micros(16);

/// Sums of powers in different orders differ by less.
const ROUNDING: f64 = 1e-9;

/// Records for which a receiver has room at first.
const SEVERAL: usize = 16;

/// Records that are fetched before a frame ends.
const FETCHED: usize = 4;

/// Transmissions of its own that a receiver remembers: no frame lasts as long as so many.
const OWN: usize = 4;

/// The end of a frame at a receiver.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum End {
    /// It was not locked on it, or lost it to its own transmission or in a header.
    Missed,
    /// It was locked on it since `arrival`: whether it understood its header, which of its MPDUs it understood, the ratio of its
    /// power to the noise, and whether others were on the air, which is known where it understood nothing.
    Heard { arrival: Instant, header: bool, arrived: u64, ratio: f64, overlapped: bool },
}

impl Hearing {
    pub(super) fn new(thresholds: Arc<Thresholds>, station: StationId) -> Self {
        Self {
            thresholds,
            station,
            records: Vec::with_capacity(SEVERAL),
            first: 0,
            noticed: 0,
            last: Instant::ZERO,
            last_end: Instant::ZERO,
            quiet_from: Instant::ZERO,
            locked: None,
            own: [(Instant::ZERO, Instant::ZERO); OWN],
            next_own: 0,
            own_until: Instant::ZERO,
            reserved_until: Instant::ZERO,
            provisional: None,
        }
    }

    /// Fetches the place of the next record from memory.
    #[inline(always)]
    pub(super) fn prefetch_place(&self) {
        prefetch(self.records.as_ptr().wrapping_add(self.records.len()));
    }

    /// Fetches records that have not been noticed.
    #[inline(always)]
    pub(super) fn prefetch_records(&self) {
        prefetch(self.records.as_ptr().wrapping_add(self.noticed as usize).cast::<[Record; FETCHED]>());
    }

    /// Whether a frame of this power makes the medium busy, whether or not it is detected.
    pub(super) fn is_loud(&self, power: f64) -> bool {
        power >= self.thresholds.loud
    }

    pub(super) fn noticeable(&self) -> f64 {
        self.thresholds.noticeable
    }

    fn ear(&self) -> Ear {
        Ear { station: self.station, faint: self.thresholds.faint }
    }

    pub(super) fn noise(&self) -> f64 {
        self.thresholds.noise
    }

    /// Whether a preamble of this power is detected in silence.
    pub(super) fn detects(&self, power: f64) -> bool {
        power >= self.thresholds.detection && power >= self.thresholds.detection_ratio * self.thresholds.noise
    }

    /// A frame is on its way here. Returns whether the receiver may lock on it: then it has to be asked at its end.
    #[inline]
    pub(super) fn add(
        &mut self,
        record: Record,
        now: Instant,
        access: &mut Access,
        background: &mut Background,
    ) -> bool {
        if self.records.len() == self.records.capacity() {
            self.advance(now, access, background);
            self.forget(now);
        }
        self.quiet_from = self.quiet_from.max(self.last_end);
        self.last_end = record.end;
        if self.last > record.arrival {
            self.quiet_from = self.quiet_from.max(record.end);
            let after = self.records.iter().rposition(|other| other.arrival <= record.arrival);
            self.records.insert(after.map_or(0, |at| at + 1).max(self.noticed as usize), record);
        } else {
            self.last = record.arrival;
            self.records.push(record);
        }
        record.power >= self.thresholds.noticeable && record.power >= self.thresholds.detection
    }

    /// It sends itself.
    pub(super) fn send(&mut self, from: Instant, until: Instant) {
        self.own[self.next_own as usize] = (from, until);
        self.next_own = (self.next_own + 1) % OWN as u32;
        self.own_until = until;
    }

    #[inline]
    fn sends_between(&self, from: Instant, until: Instant) -> bool {
        self.own_until > from && self.own.iter().any(|(start, end)| *start < until && *end > from)
    }

    /// Notices everything up to `now`.
    #[inline]
    pub(super) fn advance(&mut self, now: Instant, access: &mut Access, background: &mut Background) {
        while let Some(record) = self.records.get(self.noticed as usize)
            && record.arrival + CCA_TIME <= now
        {
            if record.power >= self.thresholds.noticeable {
                self.notice(*record, access, background);
            }
            self.noticed += 1;
        }
    }

    fn notice(&mut self, record: Record, access: &mut Access, background: &mut Background) {
        let at = record.arrival + CCA_TIME;
        if record.power >= self.thresholds.loud {
            access.occupy(at, record.end);
        }
        let is_captured = |locked: &Record, margin: f64| {
            record.arrival <= locked.arrival + CCA_TIME + CAPTURE_TIME && record.power > margin * locked.power
        };
        if let (Some(locked), Some(margin)) = (&self.locked, self.thresholds.capture)
            && is_captured(locked, margin)
        {
            self.locked = None;
        }
        let is_locked = self.locked.as_ref().is_some_and(|of| of.end > at && !self.sends_between(of.arrival, at));
        if is_locked || self.sends_between(record.arrival, at) {
            return;
        }
        let (mut strongest, mut total) = (&record, 0.0);
        for other in &self.records[self.first as usize..] {
            if other.arrival > at {
                break;
            }
            if other.end > at {
                total += other.power;
                if other.arrival >= record.arrival && other.power > strongest.power {
                    strongest = other;
                }
            }
        }
        let Thresholds { detection, detection_ratio, noise, .. } = *self.thresholds;
        let interference = |total: f64| (total - strongest.power).max(0.0);
        let needed = |total: f64| detection_ratio * (noise + interference(total));
        // More interference does not help. Only between both bounds, with a margin for rounding, it has to be added up.
        let is_detected = strongest.power >= detection && {
            let span = (at, at + Duration::from_nanos(1));
            let most = total + background.at_most(self.ear(), span);
            strongest.power >= needed(most * (1.0 + ROUNDING)) * (1.0 + ROUNDING)
                || strongest.power >= needed(total * (1.0 - ROUNDING)) * (1.0 - ROUNDING) && {
                    let on_air = self.records[self.first as usize..].iter().take_while(|other| other.arrival <= at);
                    let on_air = on_air.filter(|other| other.end > at);
                    let all = background.list_with_faint(on_air, self.ear(), span).iter();
                    let total = all.fold(0.0, |total, other| total + other.power);
                    strongest.power / (noise + interference(total)) >= detection_ratio
                }
        };
        if is_detected {
            access.occupy(at, strongest.end);
            self.locked = Some(*strongest);
            if self.provisional.is_some()
                && let Some((_, until)) = self.provisional.take_if(|(lapses, _)| at <= *lapses)
            {
                self.reserve(at, until, access);
            }
        }
    }

    /// Notices everything up to `now`, when a frame has ended here, and tells what became of it. `drawn` gives numbers in
    /// [0, 1): the first for a single frame or the headers of an A-MPDU, the others for its MPDUs.
    #[inline]
    pub(super) fn end_at<P>(
        &mut self,
        now: Instant,
        frame: u64,
        access: &mut Access,
        (on, mpdus): (&Sent, &[Mpdu<P>]),
        (curves, background): (&ErrorCurves, &mut Background),
        drawn: impl Fn(u64) -> f64,
    ) -> End {
        if let Some(record) = self.only(frame)
            && let faint = background.at_most(self.ear(), (record.arrival, record.end))
            && let Thresholds { noise, detection_ratio, .. } = *self.thresholds
            && record.power >= detection_ratio * (noise + faint) * (1.0 + ROUNDING)
            && let ratio = record.power / noise
            && let Some(is_intact) = if is_safe((on, mpdus), record.power, noise + faint, &drawn) {
                Some(true)
            } else if faint == 0.0 && mpdus.is_empty() && ratio >= on.certain_header {
                // One piece, as below.
                Some(survives(curves.ln_success(on.mode, ratio, (on.bits + 0.5) as u32), drawn(0)))
            } else {
                None
            }
        {
            self.first = self.noticed;
            self.noticed += 1;
            access.occupy(record.arrival + CCA_TIME, record.end);
            let arrived = if is_intact { u64::MAX } else { 0 };
            return End::Heard { arrival: record.arrival, header: true, arrived, ratio, overlapped: faint > 0.0 };
        }
        self.advance(now, access, background);
        self.end(frame, (on, mpdus), (curves, background), drawn)
    }

    /// The record of this frame, if it is detected where nothing but faint frames disturbs it: the receiver was idle and noticed
    /// nothing else until its end.
    #[inline]
    fn only(&self, frame: u64) -> Option<Record> {
        let record = *self.records.last()?;
        let is_only = record.frame == frame
            && self.noticed as usize + 1 == self.records.len()
            && self.quiet_from <= record.arrival
            && self.own_until <= record.arrival
            && self.locked.is_none()
            && self.provisional.is_none();
        let Thresholds { detection, noticeable, .. } = *self.thresholds;
        (is_only && record.power >= detection && record.power >= noticeable).then_some(record)
    }

    /// A frame has ended here.
    #[inline]
    fn end<P>(
        &mut self,
        frame: u64,
        (on, mpdus): (&Sent, &[Mpdu<P>]),
        (curves, background): (&ErrorCurves, &mut Background),
        drawn: impl Fn(u64) -> f64,
    ) -> End {
        let record = match &self.locked {
            Some(locked) if locked.frame == frame => *locked,
            _ => return End::Missed,
        };
        self.locked = None;
        if self.sends_between(record.arrival, record.end) {
            return End::Missed;
        }
        self.skip(record.arrival);
        let mut loud = 0.0;
        for other in &self.records[self.first as usize..] {
            if other.arrival >= record.end {
                break;
            }
            if other.end > record.arrival && other.frame != frame {
                loud += other.power;
            }
        }
        let most = loud + background.at_most(self.ear(), (record.arrival, record.end));
        let noise = self.thresholds.noise;
        if is_safe((on, mpdus), record.power, noise + most, &drawn) {
            let (arrival, ratio) = (record.arrival, record.power / noise);
            return End::Heard { arrival, header: true, arrived: u64::MAX, ratio, overlapped: most > 0.0 };
        }
        self.judge((record, most == 0.0), (on, mpdus), (curves, background), drawn)
    }

    /// The fate of a frame on which it was locked, from the interference in each piece of it, if it is not alone.
    #[inline(never)]
    fn judge<P>(
        &self,
        (record, is_alone): (Record, bool),
        (on, mpdus): (&Sent, &[Mpdu<P>]),
        (curves, background): (&ErrorCurves, &mut Background),
        drawn: impl Fn(u64) -> f64,
    ) -> End {
        let (noise, arrival) = (self.thresholds.noise, record.arrival);
        let others = self.records[self.first as usize..].iter().take_while(|other| other.arrival < record.end);
        let others = others.filter(|other| other.frame != record.frame && other.end > arrival);
        let others = match is_alone {
            true => &[],
            false => background.list_with_faint(others, self.ear(), (arrival, record.end)),
        };
        let interference: f64 = others.iter().map(|other| other.power).sum();
        let (ratio, overlapped) = (record.power / noise, interference > 0.0);
        let heard = |header, arrived| End::Heard { arrival, header, arrived, ratio, overlapped };
        let sinr = Sinr { record, noise, others };
        let first = drawn(0);
        let ln = if record.power / (noise + interference) >= on.certain_header {
            0.0
        } else {
            on.mode.headers().map(|of| sinr.of_header(of, curves)).sum()
        };
        if !survives(ln, first) {
            return heard(false, 0);
        }
        let data = arrival + on.headers;
        let of = |bits: f64, span| {
            sinr.pieces(span, |sinr, share| curves.ln_success(on.mode, sinr, (bits * share + 0.5) as u32))
        };
        if mpdus.is_empty() {
            // All bits of the data field have to be right, as in ns-3: for an ACK at 24 Mbit/s 192 instead of 112.
            let all = survives(ln + of(on.bits, (data, record.end)), first);
            return heard(true, if all { u64::MAX } else { 0 });
        }
        let nanos = record.end.since(data).as_nanos();
        let at = |bytes: u32| data + Duration::from_nanos(nanos * u64::from(bytes) / u64::from(on.size));
        let arrived = mpdus.iter().zip(0u64..).fold(0, |arrived, (mpdu, index)| {
            let ln = of(f64::from(mpdu.bytes) * 8.0, (at(mpdu.offset), at(mpdu.offset + mpdu.bytes)));
            arrived | u64::from(survives(ln, drawn(index + 1))) << index
        });
        heard(true, arrived)
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

    /// Leaves out records at the front that ended before this instant and have been noticed.
    #[inline]
    fn skip(&mut self, until: Instant) {
        while self.first < self.noticed && self.records[self.first as usize].end <= until {
            self.first += 1;
        }
    }

    /// Forgets records that disturb neither the frame on which it is locked nor any that has not been noticed yet.
    fn forget(&mut self, now: Instant) {
        let locked = self.locked.map_or(Instant::MAX, |locked| locked.arrival);
        let noticed = self.records.get(self.noticed as usize).map_or(now, |record| record.arrival.min(now));
        self.skip(locked.min(noticed));
        self.records.drain(..self.first as usize);
        self.noticed -= self.first;
        self.first = 0;
    }
}

/// Whether nothing of a frame of this power is lost, because its SINR is so high at all times that most draws need no
/// probability; `most`: a bound of what disturbs it, less rounding.
#[inline]
fn is_safe<P>((on, mpdus): (&Sent, &[Mpdu<P>]), power: f64, most: f64, drawn: &impl Fn(u64) -> f64) -> bool {
    power >= on.safe * most * (1.0 + ROUNDING) && (0..=mpdus.len() as u64).all(|index| drawn(index) < SAFE)
}

/// A frame and what disturbs it.
struct Sinr<'a> {
    record: Record,
    noise: f64,
    others: &'a [Record],
}

impl Sinr<'_> {
    fn of_header(&self, header: Header, curves: &ErrorCurves) -> f64 {
        let arrival = self.record.arrival;
        self.pieces((arrival + header.start, arrival + header.end), |sinr, share| {
            curves.ln_header_success(sinr, (f64::from(header.bits) * share + 0.5) as u32)
        })
    }

    /// Adds up what each piece of a span with the same interference contributes: its ratio of signal to interference and
    /// noise, and its share of the time.
    fn pieces(&self, (from, until): (Instant, Instant), of: impl Fn(f64, f64) -> f64) -> f64 {
        // A signed number is what the processor converts.
        let nanos = |from, until: Instant| until.since(from).as_nanos() as i64 as f64;
        let whole = nanos(from, until);
        let (mut start, mut sum) = (from, 0.0);
        while start < until {
            let (mut end, mut interference) = (until, 0.0);
            for other in self.others {
                if other.arrival > start {
                    end = end.min(other.arrival);
                } else if other.end > start {
                    interference += other.power;
                    end = end.min(other.end);
                }
            }
            let sinr = self.record.power / (self.noise + interference);
            sum += of(sinr, nanos(start, end) / whole);
            if sum == f64::NEG_INFINITY {
                break;
            }
            start = end;
        }
        sum
    }
}

#[cfg(test)]
mod tests;
