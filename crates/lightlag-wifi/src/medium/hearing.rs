//! The receiver of a station.
//!
//! Each frame leaves a record at every station in range. A receiver notices a record 4 µs after its arrival, locks on
//! the strongest preamble within these 4 µs, and stays locked until the frame ends. All other power counts as
//! interference (ns-3's `ThresholdPreambleDetectionModel`).

use super::access::Access;
use super::aggregate::Mpdu;
use super::background::{Background, Ear};
use super::record::FrameReception;
use crate::config::Radio;
use crate::phy::error_model::{SAFE, survives};
use crate::phy::timing::CCA_TIME;
use crate::phy::{ErrorCurves, PhyMode, PpduHeader, Width, noise_floor};
use crate::propagation::decibels::ratio;
use lightlag_core::{Duration, Instant, prefetch};
use lightlag_net::StationId;
use std::sync::Arc;

/// Thresholds of a receiver in milliwatts, or as ratios of powers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Thresholds {
    detection: f64,
    detection_ratio: f64,
    /// Minimum ratio of a new frame's power to the power of the frame being received, for the new frame to replace it;
    /// `None` without capture.
    capture: Option<f64>,
    noise: f64,
    /// Minimum power of a single signal that makes the medium busy, whether or not the frame is detected. Weaker
    /// signals do not, not even together.
    loud: f64,
    /// Minimum power of a frame that a receiver notices, because it may detect it or the medium becomes busy.
    noticeable: f64,
    /// Minimum received power that counts at all, at least as interference.
    sensitivity: f64,
}

impl Thresholds {
    pub(super) fn new(radio: &Radio, width: Width) -> Self {
        let (detection, carrier) = (ratio(radio.detection), ratio(radio.carrier_sense));
        let loud = carrier.min(ratio(radio.energy_detection));
        Self {
            detection,
            detection_ratio: ratio(radio.detection_snr),
            capture: radio.capture.then(|| ratio(radio.capture_margin)),
            noise: noise_floor(width, radio.noise_figure),
            loud,
            noticeable: detection.min(loud),
            sensitivity: ratio(radio.sensitivity),
        }
    }
}

/// A receiver. The fields that every frame on the air needs come first, in one cache line, and those for the end of a
/// frame are in the next. Radios with equal settings share their thresholds, so that these stay in the cache.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Hearing {
    /// Records in order of arrival. Those before `first` are no longer needed; those before `noticed` have been
    /// noticed.
    records: Vec<FrameReception>,
    first: u32,
    noticed: u32,
    /// Latest arrival time of a record.
    last: Instant,
    /// `last_end` is the end of the latest record, and `quiet_from` is when all earlier records have ended.
    last_end: Instant,
    quiet_from: Instant,
    /// End of the station's own last transmission.
    own_until: Instant,
    thresholds: Arc<Thresholds>,
    /// ID of its station.
    station: StationId,
    next_own: u32,
    /// The frame that it is locked on.
    locked: Option<FrameReception>,
    /// Time until which others have reserved the medium.
    reserved_until: Instant,
    /// A reservation by an RTS: if no frame starts before the first time, it lapses; otherwise it holds until the
    /// second.
    provisional: Option<(Instant, Instant)>,
    /// Start and end of the station's own latest transmissions.
    own: [(Instant, Instant); OWN],
}

/// The properties of a frame that determine its probability of reception.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) mode: PhyMode,
    /// Size of the MPDU or A-MPDU in bytes.
    pub(super) size: u32,
    /// `bits` is the number of bits in the data field, `headers` the duration of everything before it.
    pub(super) bits: f64,
    pub(super) headers: Duration,
    /// `safe` is the minimum SINR for which the frame survives every draw below `SAFE`, and `certain_header` the
    /// minimum SINR for which its headers are never lost.
    pub(super) safe: f64,
    pub(super) certain_header: f64,
}

/// Time after the detection of a frame during which a stronger one may replace it (ns-3's `SimpleFrameCaptureModel`).
const CAPTURE_TIME: Duration = Duration::from_micros(16);

/// Upper bound of the relative difference between sums of the same powers in different orders.
const ROUNDING: f64 = 1e-9;

/// Initial capacity of a receiver for records.
const SEVERAL: usize = 16;

/// Number of records that are prefetched before a frame ends.
const FETCHED: usize = 4;

/// Number of own transmissions that a receiver remembers. No frame lasts longer than that many transmissions.
const OWN: usize = 4;

/// Outcome of a frame at a receiver.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum ReceptionEnd {
    /// The receiver was not locked on the frame, or could not receive it while transmitting.
    Missed,
    /// The receiver was locked on the frame, which arrived at `arrival`. `header` is whether it decoded the header,
    /// `arrived` has a bit for each MPDU that it decoded, and `ratio` is the signal-to-noise ratio. `overlapped` is
    /// whether other frames were on the air; it is only exact if nothing was decoded.
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

    /// Prefetches the slot of the next record from memory.
    #[inline(always)]
    pub(super) fn prefetch_place(&self) {
        prefetch(self.records.as_ptr().wrapping_add(self.records.len()));
    }

    /// Prefetches the records that have not been noticed.
    #[inline(always)]
    pub(super) fn prefetch_records(&self) {
        prefetch(self.records.as_ptr().wrapping_add(self.noticed as usize).cast::<[FrameReception; FETCHED]>());
    }

    /// Returns true if a frame of this power makes the medium busy, whether or not it is detected.
    pub(super) fn is_loud(&self, power: f64) -> bool {
        power >= self.thresholds.loud
    }

    pub(super) fn noticeable(&self) -> f64 {
        self.thresholds.noticeable
    }

    fn ear(&self) -> Ear {
        Ear { station: self.station, sensitivity: self.thresholds.sensitivity }
    }

    pub(super) fn noise(&self) -> f64 {
        self.thresholds.noise
    }

    /// Returns true if the receiver detects a preamble of this power when there is no interference.
    pub(super) fn detects(&self, power: f64) -> bool {
        power >= self.thresholds.detection && power >= self.thresholds.detection_ratio * self.thresholds.noise
    }

    /// Adds a frame that is about to arrive. Returns true if the receiver may lock on it; in that case the end of the
    /// frame must be reported as well.
    #[inline]
    pub(super) fn add(
        &mut self,
        record: FrameReception,
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

    /// Records the time of an own transmission.
    pub(super) fn send(&mut self, from: Instant, until: Instant) {
        self.own[self.next_own as usize] = (from, until);
        self.next_own = (self.next_own + 1) % OWN as u32;
        self.own_until = until;
    }

    #[inline]
    fn sends_between(&self, from: Instant, until: Instant) -> bool {
        self.own_until > from && self.own.iter().any(|(start, end)| *start < until && *end > from)
    }

    /// Notices every record that is due by `now`.
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

    #[inline(never)]
    fn notice(&mut self, record: FrameReception, access: &mut Access, background: &mut Background) {
        let time = record.arrival + CCA_TIME;
        if record.power >= self.thresholds.loud {
            access.occupy(time, record.end);
        }
        let is_captured = |locked: &FrameReception, margin: f64| {
            record.arrival <= locked.arrival + CCA_TIME + CAPTURE_TIME && record.power > margin * locked.power
        };
        if let (Some(locked), Some(margin)) = (&self.locked, self.thresholds.capture)
            && is_captured(locked, margin)
        {
            self.locked = None;
        }
        let is_locked = self.locked.as_ref().is_some_and(|of| of.end > time && !self.sends_between(of.arrival, time));
        if is_locked || self.sends_between(record.arrival, time) {
            return;
        }
        let (mut strongest, mut total) = (&record, 0.0);
        for other in &self.records[self.first as usize..] {
            if other.arrival > time {
                break;
            }
            if other.end > time {
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
            let span = (time, time + Duration::from_nanos(1));
            let most = total + background.at_most(self.ear(), span);
            strongest.power >= needed(most * (1.0 + ROUNDING)) * (1.0 + ROUNDING)
                || strongest.power >= needed(total * (1.0 - ROUNDING)) * (1.0 - ROUNDING) && {
                    let on_air = self.records[self.first as usize..].iter().take_while(|other| other.arrival <= time);
                    let on_air = on_air.filter(|other| other.end > time);
                    let all = background.list_with_faint(on_air, self.ear(), span).iter();
                    let total = all.fold(0.0, |total, other| total + other.power);
                    strongest.power / (noise + interference(total)) >= detection_ratio
                }
        };
        if is_detected {
            access.occupy(time, strongest.end);
            self.locked = Some(*strongest);
            if self.provisional.is_some()
                && let Some((_, until)) = self.provisional.take_if(|(lapses, _)| time <= *lapses)
            {
                self.reserve(time, until, access);
            }
        }
    }

    /// Processes everything up to `now`, when a frame has ended here, and returns its outcome. `drawn` returns random
    /// numbers in [0, 1): index 0 is for a single frame or for the headers of an A-MPDU, the others are for its MPDUs.
    #[inline]
    pub(super) fn end_at<P>(
        &mut self,
        now: Instant,
        frame: u64,
        access: &mut Access,
        (on, mpdus): (&Sent, &[Mpdu<P>]),
        (curves, background): (&ErrorCurves, &mut Background),
        drawn: impl Fn(u64) -> f64,
    ) -> ReceptionEnd {
        if let Some(record) = self.only(frame)
            && let faint = background.at_most(self.ear(), (record.arrival, record.end))
            && let Thresholds { noise, detection_ratio, .. } = *self.thresholds
            && record.power >= detection_ratio * (noise + faint) * (1.0 + ROUNDING)
            && let ratio = record.power / noise
            && let Some(is_intact) = if is_safe((on, mpdus), record.power, noise + faint, &drawn) {
                Some(true)
            } else if faint == 0.0 && mpdus.is_empty() && ratio >= on.certain_header {
                // One part, as below.
                Some(survives(curves.ln_success(on.mode, ratio, (on.bits + 0.5) as u32), drawn(0)))
            } else {
                None
            }
        {
            self.first = self.noticed;
            self.noticed += 1;
            access.occupy(record.arrival + CCA_TIME, record.end);
            let arrived = if is_intact { u64::MAX } else { 0 };
            return ReceptionEnd::Heard {
                arrival: record.arrival,
                header: true,
                arrived,
                ratio,
                overlapped: faint > 0.0,
            };
        }
        self.advance(now, access, background);
        self.end(frame, (on, mpdus), (curves, background), drawn)
    }

    /// Returns the record of this frame, if it is detected and disturbed by at most faint frames: the receiver was idle
    /// when it arrived, and noticed nothing else until its end.
    #[inline]
    fn only(&self, frame: u64) -> Option<FrameReception> {
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

    /// Returns the outcome of a frame that has ended.
    #[inline]
    fn end<P>(
        &mut self,
        frame: u64,
        (on, mpdus): (&Sent, &[Mpdu<P>]),
        (curves, background): (&ErrorCurves, &mut Background),
        drawn: impl Fn(u64) -> f64,
    ) -> ReceptionEnd {
        let record = match &self.locked {
            Some(locked) if locked.frame == frame => *locked,
            _ => return ReceptionEnd::Missed,
        };
        self.locked = None;
        if self.sends_between(record.arrival, record.end) {
            return ReceptionEnd::Missed;
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
        let max_interference = loud + background.at_most(self.ear(), (record.arrival, record.end));
        let noise = self.thresholds.noise;
        if is_safe((on, mpdus), record.power, noise + max_interference, &drawn) {
            let (arrival, ratio) = (record.arrival, record.power / noise);
            return ReceptionEnd::Heard {
                arrival,
                header: true,
                arrived: u64::MAX,
                ratio,
                overlapped: max_interference > 0.0,
            };
        }
        self.judge((record, max_interference == 0.0), (on, mpdus), (curves, background), drawn)
    }

    /// Returns the outcome of a frame that the receiver was locked on, from the interference during each part of it.
    /// `is_alone`: there was none.
    #[inline(never)]
    fn judge<P>(
        &self,
        (record, is_alone): (FrameReception, bool),
        (on, mpdus): (&Sent, &[Mpdu<P>]),
        (curves, background): (&ErrorCurves, &mut Background),
        drawn: impl Fn(u64) -> f64,
    ) -> ReceptionEnd {
        let (noise, arrival) = (self.thresholds.noise, record.arrival);
        let others = self.records[self.first as usize..].iter().take_while(|other| other.arrival < record.end);
        let others = others.filter(|other| other.frame != record.frame && other.end > arrival);
        let others = match is_alone {
            true => &[],
            false => background.list_with_faint(others, self.ear(), (arrival, record.end)),
        };
        let interference: f64 = others.iter().map(|other| other.power).sum();
        let (ratio, overlapped) = (record.power / noise, interference > 0.0);
        let heard = |header, arrived| ReceptionEnd::Heard { arrival, header, arrived, ratio, overlapped };
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
        let ln_success = |bits: f64, span| {
            sinr.pieces(span, |sinr, share| curves.ln_success(on.mode, sinr, (bits * share + 0.5) as u32))
        };
        if mpdus.is_empty() {
            // All bits of the data field have to be right, as in ns-3: for an ACK at 24 Mbit/s 192 instead of 112.
            let all = survives(ln + ln_success(on.bits, (data, record.end)), first);
            return heard(true, if all { u64::MAX } else { 0 });
        }
        let nanos = record.end.since(data).as_nanos();
        let time_at = |bytes: u32| data + Duration::from_nanos(nanos * u64::from(bytes) / u64::from(on.size));
        let arrived = mpdus.iter().zip(0u64..).fold(0, |arrived, (mpdu, index)| {
            let ln = ln_success(f64::from(mpdu.bytes) * 8.0, (time_at(mpdu.offset), time_at(mpdu.offset + mpdu.bytes)));
            arrived | u64::from(survives(ln, drawn(index + 1))) << index
        });
        heard(true, arrived)
    }

    /// Returns true if the receiver is locked on a frame, and no own transmission has interrupted the reception.
    pub(super) fn is_receiving(&self, now: Instant) -> bool {
        self.locked.is_some_and(|of| !self.sends_between(of.arrival, now))
    }

    /// Records that others have reserved the medium from `from` to `until` (§10.3.2.4).
    #[inline]
    pub(super) fn reserve(&mut self, from: Instant, until: Instant, access: &mut Access) {
        self.reserved_until = self.reserved_until.max(until);
        access.occupy(from.min(access.busy_until), until);
    }

    /// Records a reservation by an RTS from `from` to `until`, which lapses if no frame starts before `lapses`
    /// (§10.3.2.4).
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

    /// Returns true if others have reserved the medium at `now`.
    pub(super) fn is_reserved(&self, now: Instant) -> bool {
        self.reserved_until > now || self.provisional.is_some_and(|(lapses, until)| lapses.min(until) > now)
    }

    /// Skips noticed records at the front that ended by this time.
    #[inline]
    fn skip(&mut self, until: Instant) {
        while self.first < self.noticed && self.records[self.first as usize].end <= until {
            self.first += 1;
        }
    }

    /// Removes records that can disturb neither the locked frame nor a frame that has not been noticed yet.
    fn forget(&mut self, now: Instant) {
        let locked = self.locked.map_or(Instant::MAX, |locked| locked.arrival);
        let noticed = self.records.get(self.noticed as usize).map_or(now, |record| record.arrival.min(now));
        self.skip(locked.min(noticed));
        self.records.drain(..self.first as usize);
        self.noticed -= self.first;
        self.first = 0;
    }
}

/// Returns true if a frame of this power is certainly received completely, without computing probabilities: its SINR is
/// always high enough, and no draw is above `SAFE`. `max` is an upper bound of noise and interference, except for
/// rounding.
#[inline]
fn is_safe<P>((on, mpdus): (&Sent, &[Mpdu<P>]), power: f64, max: f64, drawn: &impl Fn(u64) -> f64) -> bool {
    power >= on.safe * max * (1.0 + ROUNDING) && (0..=mpdus.len() as u64).all(|index| drawn(index) < SAFE)
}

/// A frame, with the noise and the other frames that disturb it.
struct Sinr<'a> {
    record: FrameReception,
    noise: f64,
    others: &'a [FrameReception],
}

impl Sinr<'_> {
    fn of_header(&self, header: PpduHeader, curves: &ErrorCurves) -> f64 {
        let arrival = self.record.arrival;
        self.pieces((arrival + header.start, arrival + header.end), |sinr, share| {
            curves.ln_header_success(sinr, (f64::from(header.bits) * share + 0.5) as u32)
        })
    }

    /// Sums `weighted` over the intervals of constant interference between two times. Its arguments are the SINR in the
    /// interval and the interval's fraction of the time.
    fn pieces(&self, (from, until): (Instant, Instant), weighted: impl Fn(f64, f64) -> f64) -> f64 {
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
            sum += weighted(sinr, nanos(start, end) / whole);
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
