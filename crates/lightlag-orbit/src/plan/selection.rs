//! The choice of a station among the satellites above it.

use super::Rules;
use super::tree::Length;
use crate::sky::Sky;
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Instant, Unit};
use lightlag_mobility::Vector;

/// All that it sees: each packet takes the shortest way from end to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Shortest;

/// The highest above the horizon.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Highest {
    /// Time between two selections, counted from the start, as a global scheduler makes them; zero selects at every look. A satellite
    /// that has set is replaced at once.
    pub every: Duration,
}

/// The present one until another is so much higher.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Hysteresis {
    /// Degrees.
    pub margin: f64,
}

/// The present one until it sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Keep {
    /// Whether the one that stays longest follows, and not the highest.
    pub longest: bool,
}

impl Default for Hysteresis {
    fn default() -> Self {
        Self { margin: 5.0 }
    }
}

impl Described for Shortest {
    const ABOUT: &'static str =
        "A station uses every satellite that it sees: each packet takes the shortest way from end to end.";

    fn settings() -> Vec<Setting<Self>> {
        Vec::new()
    }
}

impl Described for Highest {
    const ABOUT: &'static str = "A station uses the satellite that stands highest. With `every` it selects only at multiples of \
        this time, as a global scheduler does (every 15 s in Starlink), and when its satellite has set.";

    fn settings() -> Vec<Setting<Self>> {
        vec![Setting::time_or_zero("every", |c: &mut Self| &mut c.every).about("Time between two selections, counted from the start, as a global scheduler makes them; zero selects at every look. A satellite that has set is replaced at once.")]
    }
}

impl Described for Hysteresis {
    const ABOUT: &'static str = "A station keeps its satellite until another stands higher by `margin`.";

    fn settings() -> Vec<Setting<Self>> {
        vec![Setting::quantity("margin", |c: &mut Self| &mut c.margin, Unit::Degree, 0.0, 90.0).about("Degrees.")]
    }
}

impl Described for Keep {
    const ABOUT: &'static str = "A station keeps its satellite until it sets. The highest follows, or with `longest` the one that \
        stays longest.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::flag("longest", |c: &mut Self| &mut c.longest)
                .about("Whether the one that stays longest follows, and not the highest."),
        ]
    }
}

lightlag_core::registry! {
    /// The satellites that a station uses of those it sees.
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
    /// Whether a station uses all that it sees.
    pub(super) fn takes_all(&self) -> bool {
        matches!(self, Self::Shortest(_))
    }
}

/// The satellites that stations use at present.
#[derive(Clone, Debug)]
pub(super) struct Attachments {
    of: Vec<Vec<u32>>,
}

/// Degrees by which another satellite must be higher at least: of two that rise and set as one, the last digit decides nothing.
const EQUAL: f64 = 1e-6;

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
        visible: &mut Vec<(u32, Length)>,
    ) {
        if rules.selection.takes_all() {
            return;
        }
        let kept = &mut self.of[station as usize];
        kept.retain(|satellite| visible.binary_search_by_key(satellite, |(number, _)| *number).is_ok());
        let site = sky.stations()[station as usize].site(at);
        let height = |satellite: u32| site.look(positions[satellite as usize]).elevation;
        let may_leave = match rules.selection {
            Selection::Highest(Highest { every }) => every.is_zero() || at.as_nanos().is_multiple_of(every.as_nanos()),
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
                        Selection::Keep(Keep { longest: true }) => stays(sky, station, *satellite, at),
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

/// For how many seconds from `at` on a station sees a satellite, to ten seconds.
fn stays(sky: &Sky, station: u32, satellite: u32, at: Instant) -> f64 {
    let ground = &sky.stations()[station as usize];
    let sees = |steps: &u64| {
        let time = at + Duration::from_nanos(STEP.as_nanos() * steps);
        sky.position(satellite, time).is_some_and(|position| ground.sees(position, time))
    };
    (0..FARTHEST).take_while(sees).count() as f64 * STEP.as_secs_f64()
}
