//! Faint frames, which are so weak at a receiver that it would not notice them alone.
//!
//! In a large medium, a frame is faint at most stations in range, and few of these ever need it, so it leaves no
//! records at their receivers. Instead, the medium stores the power of the frame at each station, and the distance, as
//! long as the frame may disturb another one on the air. A receiver that has to compute interference looks them up.

use super::record::FrameReception;
use crate::propagation::delay;
use lightlag_core::{Duration, Instant};
use lightlag_net::StationId;

/// A frame that is faint at some stations.
#[derive(Debug)]
struct Faint {
    frame: u64,
    /// Start of the frame at its sender.
    start: Instant,
    end: Instant,
    /// A time by which the frame has ended at every station.
    gone: Instant,
    at: Levels,
}

/// The power of a frame at each station, and the distances.
#[derive(Default, Debug)]
pub(super) struct Levels {
    /// Power at each station in milliwatts: negative at the sender, and zero at stations that notice the frame.
    pub(super) powers: Vec<f64>,
    /// Squared distance of each station from the sender, in square metres.
    pub(super) squares: Vec<f64>,
}

/// The properties of a receiver that determine which faint frames it receives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ear {
    pub(super) station: StationId,
    /// Minimum received power that counts, in milliwatts.
    pub(super) sensitivity: f64,
}

/// All faint frames, in the order in which they were sent.
#[derive(Debug, Default)]
pub(super) struct Background {
    frames: Vec<Faint>,
    spare: Vec<Levels>,
    overlapping: Vec<FrameReception>,
}

impl Background {
    /// Returns true if no frame is faint anywhere.
    #[inline]
    pub(super) fn is_silent(&self) -> bool {
        self.frames.is_empty()
    }

    /// Returns storage for the levels of a frame, reused if possible.
    pub(super) fn room(&mut self) -> Levels {
        self.spare.pop().unwrap_or_default()
    }

    /// Adds a frame that is sent from `start` to `end`; `travels` is its maximum propagation delay.
    #[inline]
    pub(super) fn add(&mut self, frame: u64, (start, end): (Instant, Instant), travels: Duration, levels: Levels) {
        self.frames.push(Faint { frame, start, end, gone: end + travels, at: levels });
    }

    /// Removes frames that have ended at every station by this time.
    pub(super) fn forget(&mut self, until: Instant) {
        let Self { frames, spare, .. } = self;
        spare.extend(frames.extract_if(.., |frame| frame.gone <= until).map(|frame| frame.at));
    }

    /// Returns an upper bound of the total power of the faint frames at a receiver between two times.
    #[inline]
    pub(super) fn at_most(&self, ear: Ear, (after, before): (Instant, Instant)) -> f64 {
        let mut max_power = 0.0;
        for frame in &self.frames {
            if frame.start < before && frame.gone > after {
                let power = frame.at.powers[ear.station.index()];
                max_power += if power >= ear.sensitivity { power } else { 0.0 };
            }
        }
        max_power
    }

    /// Returns `records` and the records of the faint frames that arrive at a receiver before the second time and end
    /// after the first, ordered by arrival.
    pub(super) fn list_with_faint<'a>(
        &mut self,
        records: impl Iterator<Item = &'a FrameReception>,
        ear: Ear,
        (after, before): (Instant, Instant),
    ) -> &[FrameReception] {
        let Self { frames, overlapping, .. } = self;
        overlapping.clear();
        records.for_each(|record| overlapping.push(*record));
        let loud = overlapping.len();
        for frame in frames.iter() {
            if frame.start >= before || frame.gone <= after {
                continue;
            }
            let power = frame.at.powers[ear.station.index()];
            if power >= ear.sensitivity && power > 0.0 {
                let travels = delay(frame.at.squares[ear.station.index()].sqrt());
                let record = FrameReception {
                    frame: frame.frame,
                    arrival: frame.start + travels,
                    end: frame.end + travels,
                    power,
                };
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
