//! Which of the satellites above it a station uses.

use super::Rules;
use crate::sky::Sky;
use lightlag_core::{Duration, Instant};
use lightlag_mobility::Vector;

/// The rule by which a station selects satellites.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Selection {
    /// All that it sees: each packet takes the shortest way from end to end.
    #[default]
    Shortest,
    /// The highest above the horizon.
    Highest,
    /// The highest when the time since the start is a multiple of this one, as a global scheduler does it; a satellite that has set
    /// is replaced at once.
    HighestEvery(Duration),
    /// The present one until another is so many degrees higher.
    Hysteresis(f64),
    /// The present one until it sets, then the highest.
    KeepThenHighest,
    /// The present one until it sets, then the one that stays longest.
    KeepThenLongest,
}

/// The satellites that stations use at present.
#[derive(Clone, Debug)]
pub(super) struct Attachments {
    of: Vec<Vec<u32>>,
}

/// Step and limit with which a satellite is followed until it sets.
const STEP: Duration = Duration::from_secs(10);
const FARTHEST: u64 = 6 * 3600 / 10;

impl Attachments {
    pub(super) fn new(stations: usize) -> Self {
        Self { of: vec![Vec::new(); stations] }
    }

    /// Leaves those of the visible satellites that a station selects at a time, not before the last call for it.
    pub(super) fn select(
        &mut self,
        sky: &Sky,
        station: u32,
        at: Instant,
        rules: &Rules,
        positions: &[Vector],
        visible: &mut Vec<(u32, u64)>,
    ) {
        if rules.selection == Selection::Shortest {
            return;
        }
        let kept = &mut self.of[station as usize];
        kept.retain(|satellite| visible.binary_search_by_key(satellite, |(number, _)| *number).is_ok());
        let site = sky.stations()[station as usize].site();
        let height = |satellite: u32| site.look(positions[satellite as usize]).elevation;
        let may_leave = match rules.selection {
            Selection::Highest | Selection::Hysteresis(_) => true,
            Selection::HighestEvery(period) => at.as_nanos().is_multiple_of(period.as_nanos().max(1)),
            Selection::Shortest | Selection::KeepThenHighest | Selection::KeepThenLongest => false,
        };
        if may_leave || kept.len() < rules.interfaces {
            let bonus = if let Selection::Hysteresis(degrees) = rules.selection { degrees } else { 0.0 };
            let mut ranked: Vec<(f64, u32)> = visible
                .iter()
                .map(|(satellite, _)| {
                    let is_kept = kept.contains(satellite);
                    let worth = match rules.selection {
                        Selection::KeepThenLongest => stays(sky, station, *satellite, at),
                        _ => height(*satellite),
                    };
                    let loyalty = if !is_kept {
                        0.0
                    } else if may_leave {
                        bonus
                    } else {
                        f64::INFINITY
                    };
                    (worth + loyalty, *satellite)
                })
                .collect();
            ranked.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.cmp(other)));
            kept.clear();
            kept.extend(ranked.into_iter().take(rules.interfaces).map(|(_, satellite)| satellite));
        }
        visible.retain(|(satellite, _)| kept.contains(satellite));
    }
}

/// For how many seconds from `at` on a station sees a satellite, to ten seconds.
fn stays(sky: &Sky, station: u32, satellite: u32, at: Instant) -> f64 {
    let ground = &sky.stations()[station as usize];
    let sees = |steps: &u64| {
        let time = at + Duration::from_nanos(STEP.as_nanos() * steps);
        sky.position(satellite, time).is_some_and(|position| ground.sees(position))
    };
    (0..FARTHEST).take_while(sees).count() as f64 * STEP.as_secs_f64()
}
