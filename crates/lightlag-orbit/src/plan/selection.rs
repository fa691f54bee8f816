//! The selection of the satellites that a station uses among the visible ones.

use super::PathRules;
use super::tree::PathLength;
use crate::sky::Sky;
use lightlag_core::params::Described;
use lightlag_core::{Duration, Instant, Unit, settings};
use lightlag_mobility::Vector;

/// Uses all visible satellites: each packet takes the shortest path from end to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Shortest;

settings! {
    /// Uses the satellite with the highest elevation.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Highest {
        about "A station uses the satellite with the highest elevation. With `every` it selects only at multiples of \
               this time, as a global scheduler does (every 15 s in Starlink), and when its satellite has set.";

        /// Interval between selections, counted from the start, as with a global scheduler. With zero a station selects
        /// at every sample. A satellite that has set is replaced immediately.
        every: Duration = Duration::ZERO => time_or_zero();
    }
}

settings! {
    /// Uses the current satellite until another one is higher by a margin.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Hysteresis {
        about "A station keeps its satellite until another is higher by `margin`.";

        /// Margin of the elevation, in degrees.
        margin: f64 = 5.0 => quantity(Unit::Degree, 0.0, 90.0);
    }
}

settings! {
    /// Uses the current satellite until it sets.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Keep {
        about "A station keeps its satellite until it sets. The highest follows, or with `longest` the one that \
            stays longest.";

        /// Whether the next satellite is the one that stays visible longest, instead of the highest.
        longest: bool = false => flag();
    }
}

impl Described for Shortest {
    const ABOUT: &'static str =
        "A station uses every visible satellite: each packet takes the shortest path from end to end.";
}

lightlag_core::registry! {
    /// The rule by which a station selects the satellites that it uses among the visible ones.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum Selection {
        Shortest, "shortest", Shortest;
        Highest, "highest", Highest;
        Hysteresis, "hysteresis", Hysteresis;
        Keep, "keep", Keep;
    }
}

impl Default for Selection {
    fn default() -> Self {
        Self::Shortest(Shortest)
    }
}

impl Selection {
    /// Returns true if stations use all visible satellites.
    pub(super) fn takes_all(&self) -> bool {
        matches!(self, Self::Shortest(_))
    }
}

/// The satellites that each station currently uses.
#[derive(Clone, Debug)]
pub(super) struct Attachments {
    of: Vec<Vec<u32>>,
}

/// Minimum difference in elevation, in degrees, by which a satellite counts as higher. Rounding errors must not decide
/// between satellites that rise and set together.
const EQUAL: f64 = 1e-6;

/// Interval of the checks whether a satellite has set, and the maximum number of checks.
const STEP: Duration = Duration::from_secs(10);
const FARTHEST: u64 = 6 * 3600 / 10;

impl Attachments {
    pub(super) fn new(stations: usize) -> Self {
        Self { of: vec![Vec::new(); stations] }
    }

    /// Reduces the list of visible satellites to the station's selection at a time. The times of successive calls must
    /// not decrease.
    pub(super) fn select(
        &mut self,
        sky: &Sky,
        station: u32,
        time: Instant,
        rules: &PathRules,
        positions: &[Vector],
        visible: &mut Vec<(u32, PathLength)>,
    ) {
        if rules.selection.takes_all() {
            return;
        }
        let kept = &mut self.of[station as usize];
        kept.retain(|satellite| visible.binary_search_by_key(satellite, |(number, _)| *number).is_ok());
        let site = sky.stations()[station as usize].site(time);
        let height = |satellite: u32| site.look(positions[satellite as usize]).elevation;
        let may_leave = match rules.selection {
            Selection::Highest(Highest { every }) => {
                every.is_zero() || time.as_nanos().is_multiple_of(every.as_nanos())
            }
            Selection::Hysteresis(_) => true,
            Selection::Shortest(_) | Selection::Keep(_) => false,
        };
        if may_leave || kept.len() < rules.interfaces as usize {
            let bonus = if let Selection::Hysteresis(Hysteresis { margin }) = rules.selection { margin } else { EQUAL };
            let mut ranked: Vec<(f64, u32)> = visible
                .iter()
                .map(|(satellite, _)| {
                    let is_kept = kept.contains(satellite);
                    let worth = match rules.selection {
                        Selection::Keep(Keep { longest: true }) => stays(sky, station, *satellite, time),
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
            kept.extend(ranked.into_iter().take(rules.interfaces as usize).map(|(_, satellite)| satellite));
        }
        visible.retain(|(satellite, _)| kept.contains(satellite));
    }
}

/// Returns how long a satellite stays visible from a station after `when`, in seconds, checked every ten seconds.
fn stays(sky: &Sky, station: u32, satellite: u32, when: Instant) -> f64 {
    let ground = &sky.stations()[station as usize];
    let sees = |steps: &u64| {
        let time = when + Duration::from_nanos(STEP.as_nanos() * steps);
        sky.position(satellite, time).is_some_and(|position| ground.sees(position, time))
    };
    (0..FARTHEST).take_while(sees).count() as f64 * STEP.as_secs_f64()
}
