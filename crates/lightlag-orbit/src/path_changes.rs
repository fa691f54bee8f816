//! Queries of a constellation: the passes over a station, and the paths between two stations over time.

use crate::plan::custom::{CustomSatelliteRouter, Fault, build};
use crate::plan::{PathRules, Planner};
use crate::sky::Sky;
use lightlag_core::{Duration, Instant};
use std::sync::Arc;

/// A pass: a period in which a satellite is visible from a station.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pass {
    /// The satellite.
    pub satellite: u32,
    /// Time in seconds when the satellite rises, or the start of the examined period if it was already visible then.
    pub rise: f64,
    /// Time in seconds when the satellite sets, or the end of the examined period if it is still visible then.
    pub set: f64,
    /// Maximum elevation in degrees, at a time accurate to a tenth of a second.
    pub elevation: f64,
}

/// A path between two stations, which is used from a given time.
#[derive(Clone, PartialEq, Debug)]
pub struct PathChange {
    /// Seconds since the start of the run.
    pub from: f64,
    /// The nodes of the path, endpoints included; empty if there is no path.
    pub nodes: Vec<u32>,
}

/// Interval of the search for passes, in seconds; shorter than the shortest pass of interest.
const SCAN: f64 = 10.0;
/// Accuracy of rise and set times, in seconds.
const EXACT: f64 = 1e-6;

fn instant(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds.max(0.0))
}

impl Sky {
    /// Returns true if a satellite is visible from a station at a time in seconds.
    fn is_seen(&self, station: usize, satellite: u32, seconds: f64) -> bool {
        let at = instant(seconds);
        self.position(satellite, at).is_some_and(|satellite| self.stations()[station].sees(satellite, at))
    }

    /// Returns the passes over a station up to a time in seconds, ordered by start time. Passes shorter than ten
    /// seconds may be missed.
    pub fn passes(&self, station: usize, until: f64) -> Vec<Pass> {
        let looks = libm::ceil(until / SCAN) as u64;
        let mut passes = Vec::new();
        for satellite in 0..self.satellites().len() as u32 {
            let mut risen = self.is_seen(station, satellite, 0.0).then_some(0.0);
            for look in 0..looks {
                let (before, now) = (look as f64 * SCAN, ((look + 1) as f64 * SCAN).min(until));
                let is_up = self.is_seen(station, satellite, now);
                match risen {
                    None if is_up => risen = Some(self.edge(station, satellite, before, now)),
                    Some(rise) if !is_up => {
                        passes.push(self.pass(station, satellite, rise, self.edge(station, satellite, before, now)));
                        risen = None;
                    }
                    _ => {}
                }
            }
            if let Some(rise) = risen {
                passes.push(self.pass(station, satellite, rise, until));
            }
        }
        passes.sort_by(|a, b| a.rise.total_cmp(&b.rise).then(a.satellite.cmp(&b.satellite)));
        passes
    }

    /// Returns the time between `lo` and `hi` when a satellite rises or sets, in seconds.
    fn edge(&self, station: usize, satellite: u32, mut lo: f64, mut hi: f64) -> f64 {
        let was_up = self.is_seen(station, satellite, lo);
        while hi - lo > EXACT {
            let middle = (lo + hi) / 2.0;
            if self.is_seen(station, satellite, middle) == was_up {
                lo = middle;
            } else {
                hi = middle;
            }
        }
        hi
    }

    /// Returns a pass with its maximum elevation, which is found by ternary search, because a satellite rises and sinks
    /// only once.
    fn pass(&self, station: usize, satellite: u32, rise: f64, set: f64) -> Pass {
        let height =
            |seconds: f64| self.look(station, satellite, instant(seconds)).map_or(-90.0, |look| look.elevation);
        let (mut lo, mut hi) = (rise, set);
        while hi - lo > 0.1 {
            let third = (hi - lo) / 3.0;
            if height(lo + third) < height(hi - third) {
                lo += third;
            } else {
                hi -= third;
            }
        }
        Pass { satellite, rise, set, elevation: height((lo + hi) / 2.0) }
    }
}

/// Returns the successive paths between two stations up to a time in seconds, each with its start time.
///
/// # Errors
/// If the custom router that chooses the paths fails.
pub fn courses(
    sky: &Arc<Sky>,
    from: u32,
    to: u32,
    rules: PathRules,
    router: Option<&CustomSatelliteRouter>,
    until: f64,
) -> Result<Vec<PathChange>, Fault> {
    let mut planner = planner(sky, &[(from, to)], rules, router, until);
    let way = |planner: &Planner| planner.way(from, 0).unwrap_or_default();
    let mut courses = vec![PathChange { from: 0.0, nodes: way(&planner) }];
    while let Some(change_time) = planner.next_change() {
        planner.advance();
        let nodes = way(&planner);
        if courses.last().is_none_or(|last| last.nodes != nodes) {
            courses.push(PathChange { from: change_time.as_secs_f64(), nodes });
        }
    }
    planner.fault().map_or(Ok(courses), |fault| Err(fault.clone()))
}

fn planner(
    sky: &Arc<Sky>,
    pairs: &[(u32, u32)],
    rules: PathRules,
    router: Option<&CustomSatelliteRouter>,
    until: f64,
) -> Planner {
    // Without a run there is no seed.
    let router = router.map(|custom| (custom.name(), build(custom, 0)));
    Planner::with(sky.clone(), pairs, rules, instant(until), router)
}

/// Statistics of the paths between two stations.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pair {
    /// The two stations.
    pub ends: [u32; 2],
    /// Minimum and maximum path length over all samples in metres; `None` if there was never a path.
    pub lengths: Option<(f64, f64)>,
    /// Number of samples whose path differs from the previous sample. The loss and the return of a path count as
    /// changes.
    pub changes: u32,
    /// Number of samples without a path.
    pub outages: u32,
}

/// Returns the statistics of all pairs of stations, sampled at the interval of the rules, from the start up to but not
/// including a time in seconds.
///
/// # Errors
/// If the custom router that chooses the paths fails.
pub fn all_pairs(
    sky: &Arc<Sky>,
    rules: PathRules,
    router: Option<&CustomSatelliteRouter>,
    until: f64,
) -> Result<Vec<Pair>, Fault> {
    let many = sky.stations().len() as u32;
    let ends: Vec<(u32, u32)> = (0..many).flat_map(|from| (from + 1..many).map(move |to| (from, to))).collect();
    let rules = PathRules { exact: false, ..rules };
    let mut planner = planner(sky, &ends, rules, router, until);
    let mut pairs: Vec<Pair> =
        ends.iter().map(|(a, b)| Pair { ends: [*a, *b], lengths: None, changes: 0, outages: 0 }).collect();
    let mut ways: Vec<Option<Vec<u32>>> = vec![None; pairs.len()];
    let (mut time, mut is_first) = (Instant::ZERO, true);
    let mut next = planner.next_change();
    while time < instant(until) {
        if next.is_some_and(|next| next <= time) {
            planner.advance();
            next = planner.next_change();
        }
        let mut positions = Vec::new();
        sky.positions(time, &mut positions);
        positions.extend(sky.stations().iter().map(|station| station.stand(time).position()));
        for (pair, last) in pairs.iter_mut().zip(&mut ways) {
            // The first station sends to none, so exits are numbered starting at the second.
            let way = planner.way(pair.ends[0], pair.ends[1] as usize - 1);
            if let Some(way) = &way {
                let place = |node: u32| positions[node as usize];
                let metres: f64 = way.windows(2).map(|hop| place(hop[0]).distance(place(hop[1]))).sum();
                let (least, most) = pair.lengths.unwrap_or((metres, metres));
                pair.lengths = Some((least.min(metres), most.max(metres)));
            } else {
                pair.outages += 1;
            }
            pair.changes += u32::from(!is_first && *last != way);
            *last = way;
        }
        (time, is_first) = (time + rules.interval, false);
    }
    planner.fault().map_or(Ok(pairs), |fault| Err(fault.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::satellite::Satellite;
    use crate::shell::{Motion, Phasing, Shell};
    use crate::site::Site;
    use crate::sky::{Station, Visibility};
    use crate::time::Utc;

    fn sky(latitude: f64) -> Sky {
        let shell = Shell {
            height: 550e3,
            inclination: 53.0,
            planes: 72,
            slots: 22,
            phasing: Phasing::Walker(39),
            motion: Motion::Circular,
            ..Shell::default()
        };
        let orbits = shell.orbits().unwrap().into_iter();
        let satellites = orbits.map(|orbit| Satellite { name: String::new(), orbit }).collect();
        let station = Station::new(Site { latitude, longitude: 10.0, height: 0.0 }, Visibility::Elevation(25.0));
        Sky::new(Utc::Y2000, satellites, Vec::new(), 90.0, vec![station])
    }

    #[test]
    fn number_and_length_of_passes_match_the_geometry() {
        // Visible on average and mean length of a pass at 25° (constellations.md §3): 6.9 and 214 s at the equator,
        // 18.5 and 252 s at 51.5°, found over 5000 s; tolerance 5 %.
        for (latitude, visible, length) in [(0.0, 6.9, 214.0), (51.5, 18.5, 252.0)] {
            let passes = sky(latitude).passes(0, 5_000.0);
            let seconds: f64 = passes.iter().map(|pass| pass.set - pass.rise).sum();
            let mean = seconds / 5_000.0;
            assert!((mean / visible - 1.0).abs() < 0.05, "{latitude}°: {mean} visible");
            let whole: Vec<&Pass> = passes.iter().filter(|pass| pass.rise > 0.0 && pass.set < 5_000.0).collect();
            let lengths = whole.iter().map(|pass| pass.set - pass.rise).sum::<f64>() / whole.len() as f64;
            assert!((lengths / length - 1.0).abs() < 0.05, "{latitude}°: {lengths} s");
            assert!(whole.iter().all(|pass| pass.elevation >= 25.0 && pass.set - pass.rise < 290.0));
        }
    }

    #[test]
    fn a_satellite_rises_at_the_mask() {
        let sky = sky(40.0);
        for pass in sky.passes(0, 600.0).iter().filter(|pass| pass.rise > 0.0) {
            let look = sky.look(0, pass.satellite, instant(pass.rise)).unwrap();
            assert!((look.elevation - 25.0).abs() < 1e-4, "{look:?}");
        }
    }
}
