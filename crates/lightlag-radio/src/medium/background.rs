//! Faint frames: those that a receiver hears and would not notice alone.
//!
//! In a large medium a frame is faint at most stations that hear it, and few of them ever ask for it. So it leaves no
//! records there. The medium keeps its powers and distances at all stations while a frame that it may disturb is on the
//! air; a receiver that has to know the interference looks them up.

use super::record::Record;
use crate::propagation::delay;
use lightlag_core::{Duration, Instant};

/// A frame at the stations at which it is faint.
#[derive(Debug)]
struct Faint {
    frame: u64,
    /// At its sender.
    start: Instant,
    end: Instant,
    /// Not before its end at any station.
    gone: Instant,
    at: Vec<AtStation>,
}

/// A faint frame at a station.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct AtStation {
    /// In milliwatts; zero where the frame is not faint.
    pub(super) power: f64,
    /// The square of the distance from the sender, in square metres.
    pub(super) square: f64,
}

/// All faint frames, in the order in which they were sent.
#[derive(Debug, Default)]
pub(super) struct Background {
    frames: Vec<Faint>,
    spare: Vec<Vec<AtStation>>,
    overlapping: Vec<Record>,
}

impl Background {
    /// Whether no frame is faint anywhere.
    #[inline]
    pub(super) fn is_silent(&self) -> bool {
        self.frames.is_empty()
    }

    /// Room for a frame at all stations.
    pub(super) fn room(&mut self) -> Vec<AtStation> {
        self.spare.pop().unwrap_or_default()
    }

    /// A frame is sent from `start` to `end`, and travels at most so long.
    pub(super) fn add(&mut self, frame: u64, (start, end): (Instant, Instant), travels: Duration, at: Vec<AtStation>) {
        self.frames.push(Faint { frame, start, end, gone: end + travels, at });
    }

    /// Forgets frames that were over everywhere at this instant.
    pub(super) fn forget(&mut self, until: Instant) {
        let Self { frames, spare, .. } = self;
        spare.extend(frames.extract_if(.., |frame| frame.gone <= until).map(|frame| frame.at));
    }

    /// A bound of the power of all frames that are faint at a station in this span.
    #[inline]
    pub(super) fn at_most(&self, station: u32, (after, before): (Instant, Instant)) -> f64 {
        let overlapping = self.frames.iter().filter(|of| of.start < before && of.gone > after);
        overlapping.map(|of| of.at[station as usize].power).sum()
    }

    /// Lists these records and those of faint frames that end at a station after one instant and arrive before the other, in
    /// the order of their arrival.
    pub(super) fn list_with_faint<'a>(
        &mut self,
        records: impl Iterator<Item = &'a Record>,
        station: u32,
        (after, before): (Instant, Instant),
    ) -> &[Record] {
        let Self { frames, overlapping, .. } = self;
        overlapping.clear();
        overlapping.extend(records);
        let loud = overlapping.len();
        for of in frames.iter().filter(|of| of.start < before && of.gone > after) {
            let AtStation { power, square } = of.at[station as usize];
            if power > 0.0 {
                let travels = delay(square.sqrt());
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
