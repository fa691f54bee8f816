//! Faint frames: those that a receiver hears and would not notice alone.
//!
//! In a large medium a frame is faint at most stations that hear it, and few of them ever ask for it. So it leaves no
//! records there. The medium keeps its powers and distances at all stations while a frame that it may disturb is on the
//! air; a receiver that has to know the interference looks them up, and tells the powers at which a frame is faint there.

use super::record::Record;
use crate::propagation::delay;
use lightlag_core::{Duration, Instant};
use lightlag_net::StationId;

/// A frame that is faint at some stations.
#[derive(Debug)]
struct Faint {
    frame: u64,
    /// At its sender.
    start: Instant,
    end: Instant,
    /// Not before its end at any station.
    gone: Instant,
    at: Levels,
}

/// A frame at all stations.
#[derive(Default, Debug)]
pub(super) struct Levels {
    /// In milliwatts; below zero at its sender.
    pub(super) powers: Vec<f64>,
    /// The squares of the distances from the sender, in square metres.
    pub(super) squares: Vec<f64>,
}

/// A receiver, as far as faint frames concern it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ear {
    pub(super) station: StationId,
    /// The powers of frames that are faint there, in milliwatts: from the first on, below the second.
    pub(super) faint: [f64; 2],
}

impl Ear {
    fn is_faint(self, power: f64) -> bool {
        let [least, noticeable] = self.faint;
        (power >= least) & (power < noticeable)
    }
}

/// All faint frames, in the order in which they were sent.
#[derive(Debug, Default)]
pub(super) struct Background {
    frames: Vec<Faint>,
    spare: Vec<Levels>,
    overlapping: Vec<Record>,
}

impl Background {
    /// Whether no frame is faint anywhere.
    #[inline]
    pub(super) fn is_silent(&self) -> bool {
        self.frames.is_empty()
    }

    /// Room for a frame at all stations.
    pub(super) fn room(&mut self) -> Levels {
        self.spare.pop().unwrap_or_default()
    }

    /// A frame is sent from `start` to `end`, and travels at most so long.
    pub(super) fn add(&mut self, frame: u64, (start, end): (Instant, Instant), travels: Duration, at: Levels) {
        self.frames.push(Faint { frame, start, end, gone: end + travels, at });
    }

    /// Forgets frames that were over everywhere at this instant.
    pub(super) fn forget(&mut self, until: Instant) {
        let Self { frames, spare, .. } = self;
        spare.extend(frames.extract_if(.., |frame| frame.gone <= until).map(|frame| frame.at));
    }

    /// A bound of the power of all frames that are faint at a station in this span.
    #[inline]
    pub(super) fn at_most(&self, ear: Ear, (after, before): (Instant, Instant)) -> f64 {
        let mut most = 0.0;
        for of in &self.frames {
            if of.start < before && of.gone > after {
                let power = of.at.powers[ear.station.index()];
                most += if ear.is_faint(power) { power } else { 0.0 };
            }
        }
        most
    }

    /// Lists these records and those of faint frames that end at a station after one instant and arrive before the other, in
    /// the order of their arrival.
    pub(super) fn list_with_faint<'a>(
        &mut self,
        records: impl Iterator<Item = &'a Record>,
        ear: Ear,
        (after, before): (Instant, Instant),
    ) -> &[Record] {
        let Self { frames, overlapping, .. } = self;
        overlapping.clear();
        records.for_each(|record| overlapping.push(*record));
        let loud = overlapping.len();
        for of in frames.iter() {
            if of.start >= before || of.gone <= after {
                continue;
            }
            let power = of.at.powers[ear.station.index()];
            if ear.is_faint(power) && power > 0.0 {
                let travels = delay(of.at.squares[ear.station.index()].sqrt());
                let record = Record { frame: of.frame, arrival: of.start + travels, end: of.end + travels, power };
                if record.arrival < before && record.end > after {
                    overlapping.push(record);
                }
            }
        }
        if overlapping.len() > loud {
            overlapping.sort_unstable_by_key(|record| (record.arrival, record.frame));
        }
        overlapping
    }
}
