//! The +Grid of satellites whose planes and slots are not given. Both are derived from the orbits.
//!
//! Satellites of a shell have nearly the same inclination and mean motion, so that they keep their relative positions.
//! Satellites of a plane have nearly the same right ascension Ω of the ascending node, and are ordered by their
//! argument of latitude u; both are calculated from position and velocity at the start of the run. A satellite is
//! linked to the satellite in the neighbouring plane that is ahead of it by the phase between the two planes, which is
//! less than a slot. In a Walker pattern these are the links of [`plus_grid`](super::plus_grid). If the satellites of
//! two planes have no common phase, the phase that gives the shortest links is used.
//!
//! Planes of fewer than three satellites, and satellites that are in no shell (spares, and those moving to another
//! height), have no links. There are also no links between planes that are too far from each other: at the seam of a
//! star, or at a gap in the pattern.

use super::{Isl, sees_above_the_air};
use crate::element_set::ElementSet;
use crate::satellite::Satellite;
use lightlag_mobility::Vector;
use std::f64::consts::TAU;

/// Tolerances within a shell: the difference in inclination between a satellite and the next one by inclination, in
/// degrees, and the range of the mean motions, in revolutions per day.
const INCLINATION: f64 = 0.3;
const REVOLUTIONS: f64 = 0.04;
/// Limits for satellites in planes: the minimum inclination in degrees, because the node of a nearly equatorial orbit
/// is arbitrary, and the maximum eccentricity, because satellites on eccentric orbits do not follow each other evenly.
const EQUATORIAL: f64 = 3.0;
const ROUND: f64 = 0.05;
/// Criteria for separating planes. Nodes that differ by at most `SAME_NODE` degrees are always in one plane, and the
/// gaps between planes must be at least `PARTED` times as wide as the gaps within planes.
const SAME_NODE: f64 = 0.05;
const PARTED: f64 = 3.0;
/// Minimum number of planes of a shell, and of satellites of a plane.
const LEAST: usize = 3;
/// Maximum distance between linked planes, as a multiple of the median distance.
const NEIGHBOURS: f64 = 2.5;
/// Tolerance of the phase, as a fraction of a slot: a satellite that lags by less than this still counts as ahead.
const TOLERANCE: f64 = 0.02;
/// Minimum regularity of the phases in a plane, from 0 to 1, for which the plane counts as divided into slots.
const REGULAR: f64 = 0.6;

/// A shell that was found among the satellites.
#[derive(Clone, PartialEq, Debug)]
pub struct FoundShell {
    /// Mean inclination in degrees.
    pub inclination: f64,
    /// Mean motion in revolutions per day.
    pub revolutions: f64,
    /// Number of planes with links.
    pub planes: usize,
    /// Number of satellites in these planes.
    pub satellites: usize,
    /// Number of links in the shell.
    pub links: usize,
}

/// The grid of satellites from a file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FoundGrid {
    /// The links of the grid.
    pub isls: Vec<Isl>,
    /// The shells, in descending order of size.
    pub shells: Vec<FoundShell>,
    /// Number of satellites without links.
    pub left_out: usize,
}

/// A satellite of a shell: its index in the constellation, and Ω and u in degrees at the start of the run.
#[derive(Clone, Copy, Debug)]
struct ShellSlot {
    number: u32,
    node: f64,
    along: f64,
    position: Vector,
}

/// Returns the +Grid of satellites; `first` is the index of the first one in the constellation.
///
/// # Errors
/// If no shell has three planes with three satellites each.
pub fn found_grid(sets: &[ElementSet], satellites: &[Satellite], first: u32) -> Result<FoundGrid, String> {
    let mut grid = FoundGrid::default();
    for members in shells(sets) {
        let places: Vec<ShellSlot> =
            members.iter().filter_map(|at| ShellSlot::of(&satellites[*at], first + *at as u32)).collect();
        let mean =
            |of: fn(&ElementSet) -> f64| members.iter().map(|at| of(&sets[*at])).sum::<f64>() / members.len() as f64;
        let inclination = mean(ElementSet::inclination);
        let Some((planes, links)) = linked(places, libm::cos(inclination.to_radians())) else { continue };
        // Trains of satellites after a launch, or planes by chance.
        if links.len() < planes.iter().map(Vec::len).sum() {
            continue;
        }
        grid.shells.push(FoundShell {
            inclination,
            revolutions: mean(ElementSet::revolutions),
            planes: planes.len(),
            satellites: planes.iter().map(Vec::len).sum(),
            links: links.len(),
        });
        grid.isls.extend(links);
    }
    if grid.isls.is_empty() {
        return Err(format!(
            "the {} satellites are in no three planes of three or more with one inclination and height, so no grid can be made; \
             write isls = \"none\", or pairs of names",
            satellites.len()
        ));
    }
    let mut has_link = vec![false; satellites.len()];
    for end in grid.isls.iter().flat_map(|isl| isl.ends) {
        has_link[(end - first) as usize] = true;
    }
    grid.left_out = has_link.iter().filter(|has| !**has).count();
    grid.shells.sort_by_key(|shell| std::cmp::Reverse(shell.satellites));
    Ok(grid)
}

/// Returns groups of satellites that keep their relative positions. Satellites are first grouped by inclination; within
/// a group, the range of mean motions with the most satellites is the first shell.
fn shells(sets: &[ElementSet]) -> Vec<Vec<usize>> {
    let has_planes = |set: &ElementSet| {
        let inclination = set.inclination();
        inclination.min(180.0 - inclination) >= EQUATORIAL && set.eccentricity() <= ROUND
    };
    let mut order: Vec<usize> = (0..sets.len()).filter(|at| has_planes(&sets[*at])).collect();
    order.sort_by(|a, b| sets[*a].inclination().total_cmp(&sets[*b].inclination()));
    let mut shells = Vec::new();
    for group in order.chunk_by(|a, b| sets[*b].inclination() - sets[*a].inclination() < INCLINATION) {
        let mut left = group.to_vec();
        left.sort_by(|a, b| sets[*a].revolutions().total_cmp(&sets[*b].revolutions()));
        while left.len() >= LEAST * LEAST {
            let end = |start: usize| {
                let most = sets[left[start]].revolutions() + REVOLUTIONS;
                left.partition_point(|at| sets[*at].revolutions() <= most)
            };
            let start = (0..left.len()).max_by_key(|start| (end(*start) - start, std::cmp::Reverse(*start)));
            let Some(start) = start else { break };
            let end = end(start);
            if end - start < LEAST * LEAST {
                break;
            }
            let mut shell: Vec<usize> = left.drain(start..end).collect();
            shell.sort_unstable();
            shells.push(shell);
        }
    }
    shells
}

impl ShellSlot {
    /// Returns the orbital position of a satellite at the start of the run; `None` if the satellite has decayed.
    fn of(satellite: &Satellite, number: u32) -> Option<Self> {
        let (before, position) = (satellite.orbit.position(-0.5)?, satellite.orbit.position(0.5)?);
        let normal = cross(before, position);
        let normal = normal * (1.0 / normal.length());
        let node = libm::atan2(normal.x, -normal.y);
        let (sin, cos) = libm::sincos(node);
        let ascending = Vector::new(cos, sin, 0.0);
        let along = libm::atan2(cross(normal, ascending).dot(position), ascending.dot(position));
        let position = (before + position) * 0.5;
        Some(Self { number, node: degrees(node), along: degrees(along), position })
    }
}

fn cross(a: Vector, b: Vector) -> Vector {
    Vector::new(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
}

/// Converts radians to degrees, from 0 to 360.
fn degrees(radians: f64) -> f64 {
    wrapped(radians.to_degrees(), 360.0)
}

/// Returns a number modulo `turn`, from 0 up to `turn`.
fn wrapped(number: f64, turn: f64) -> f64 {
    let rest = number - turn * libm::floor(number / turn);
    if rest < turn { rest } else { 0.0 }
}

/// Returns the planes of a shell, ordered by their nodes, and the links within and between them; `None` if there are
/// fewer than three planes.
fn linked(slots: Vec<ShellSlot>, cos: f64) -> Option<(Vec<Vec<ShellSlot>>, Vec<Isl>)> {
    let planes: Vec<Vec<ShellSlot>> = planes(slots).into_iter().filter(|plane| plane.len() >= LEAST).collect();
    if planes.len() < LEAST {
        return None;
    }
    let mut links = Vec::new();
    for plane in &planes {
        for (index, satellite) in plane.iter().enumerate() {
            let next = &plane[(index + 1) % plane.len()];
            // Across a gap of the plane no satellite is in sight, now or later.
            if sees_above_the_air(satellite.position, next.position) {
                links.push(Isl { ends: [satellite.number, next.number], crosses: false });
            }
        }
    }
    let slot = slot(&planes);
    let apart: Vec<f64> = (0..planes.len())
        .map(|index| wrapped(middle(&planes[(index + 1) % planes.len()]) - middle(&planes[index]), 360.0))
        .collect();
    let usual = median(apart.clone());
    for (index, apart) in apart.into_iter().enumerate() {
        if apart <= NEIGHBOURS * usual {
            links.extend(between(&planes[index], &planes[(index + 1) % planes.len()], slot, cos));
        }
    }
    Some((planes, links))
}

/// Groups satellites into planes, each ordered by argument of latitude.
fn planes(mut slots: Vec<ShellSlot>) -> Vec<Vec<ShellSlot>> {
    slots.sort_by(|a, b| a.node.total_cmp(&b.node));
    let count = slots.len();
    let gap = |at: usize| wrapped(slots[(at + 1) % count].node - slots[at].node, 360.0);
    let limit = parting((0..count).map(gap).collect());
    // The first plane starts after a gap.
    let Some(last) = (0..count).find(|at| gap(*at) > limit) else { return vec![slots] };
    slots.rotate_left((last + 1) % count);
    let mut planes: Vec<Vec<ShellSlot>> =
        slots.chunk_by(|a, b| wrapped(b.node - a.node, 360.0) <= limit).map(<[ShellSlot]>::to_vec).collect();
    for plane in &mut planes {
        plane.sort_by(|a, b| a.along.total_cmp(&b.along));
    }
    planes.sort_by(|a, b| middle(a).total_cmp(&middle(b)));
    planes
}

/// Returns the threshold that separates planes, for the differences between consecutive nodes in degrees. It is the
/// geometric mean of the two values at the largest step in the sorted differences.
fn parting(mut gaps: Vec<f64>) -> f64 {
    gaps.sort_by(f64::total_cmp);
    let steps = gaps.windows(2).map(|pair| (pair[0].max(SAME_NODE), pair[1]));
    let widest = steps.max_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
    match widest {
        Some((within, between)) if between / within >= PARTED => libm::sqrt(within * between),
        // Each satellite is a plane of its own, or all are in one.
        _ => SAME_NODE,
    }
}

/// Returns the mean right ascension of the nodes of a plane, in degrees.
fn middle(plane: &[ShellSlot]) -> f64 {
    let (sin, cos) = sum(plane.iter().map(|place| place.node), 360.0);
    degrees(libm::atan2(sin, cos))
}

/// Returns the sum of the unit vectors in the given directions, where `turn` is a full turn.
fn sum(parts: impl Iterator<Item = f64>, turn: f64) -> (f64, f64) {
    parts.map(|part| libm::sincos(TAU * part / turn)).fold((0.0, 0.0), |(x, y), (a, b)| (x + a, y + b))
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Returns the width of a slot in degrees: the median distance between consecutive satellites of a plane.
fn slot(planes: &[Vec<ShellSlot>]) -> f64 {
    let gaps = planes.iter().flat_map(|plane| {
        (0..plane.len()).map(|at| wrapped(plane[(at + 1) % plane.len()].along - plane[at].along, 360.0))
    });
    360.0 / libm::round(360.0 / median(gaps.collect()).max(0.1)).max(1.0)
}

/// Returns the links from the satellites of a plane to the satellites of the next one, at most one for each satellite.
fn between(from: &[ShellSlot], to: &[ShellSlot], slot: f64, cos: f64) -> Vec<Isl> {
    let phase = phase(from, to, slot, cos);
    let mut pairs: Vec<(f64, u32, u32)> = Vec::new();
    for a in from {
        for b in to {
            let off = wrapped(b.along - a.along - phase + 180.0, 360.0) - 180.0;
            if libm::fabs(off) < slot / 2.0 {
                pairs.push((libm::fabs(off), a.number, b.number));
            }
        }
    }
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let (mut used, mut links) = (std::collections::BTreeSet::new(), Vec::new());
    for (_, a, b) in pairs {
        if !used.contains(&a) && !used.contains(&b) {
            used.extend([a, b]);
            links.push(Isl { ends: [a, b], crosses: true });
        }
    }
    links.sort_by_key(|link| link.ends);
    links
}

/// Returns the phase in degrees by which the satellites of one plane are ahead of the previous plane. It is less than a
/// slot if both planes have slots; otherwise it is the phase that makes the links short. `cos` is the cosine of the
/// inclination.
fn phase(from: &[ShellSlot], to: &[ShellSlot], slot: f64, cos: f64) -> f64 {
    let phase_of = |plane: &[ShellSlot]| {
        let (sin, cos) = sum(plane.iter().map(|place| place.along), slot);
        (libm::atan2(sin, cos) / TAU * slot, libm::hypot(sin, cos) / plane.len() as f64)
    };
    let ((first, agreement), (second, other)) = (phase_of(from), phase_of(to));
    if agreement.min(other) >= REGULAR {
        let tolerance = TOLERANCE * slot;
        return wrapped(second - first + tolerance, slot) - tolerance;
    }
    -wrapped(middle(to) - middle(from), 360.0) * cos
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::plus_grid;
    use crate::shell::{Motion, Phasing, Shell};
    use crate::time::Utc;
    use crate::{elements, tle};
    use std::collections::BTreeSet;
    use std::fmt::Write;

    /// Returns the two-line element sets of a shell at 2000-01-01 00:00; `change` adds to Ω and u of each satellite, or
    /// removes it.
    fn written(shell: &Shell, change: impl Fn(u32, u32) -> Option<(f64, f64)>) -> String {
        let mut text = String::new();
        let motion = 86_400.0 / shell.period();
        for plane in 0..shell.planes {
            for slot in 0..shell.slots {
                let Some((more_node, more_along)) = change(plane, slot) else { continue };
                let (node, along) = shell.place(plane, slot);
                let number = plane * shell.slots + slot + 1;
                writeln!(text, "1 {number:05}U 26001A   00001.00000000  .00000000  00000-0  00000-0 0  999").unwrap();
                writeln!(
                    text,
                    "2 {number:05} {:8.4} {:8.4} 0000010   0.0000 {:8.4} {motion:11.8}    0",
                    shell.inclination,
                    wrapped(node.to_degrees() + more_node, 360.0),
                    wrapped(along.to_degrees() + more_along, 360.0)
                )
                .unwrap();
            }
        }
        text
    }

    fn found(text: &str, start: Utc) -> Result<(FoundGrid, usize), String> {
        let sets = tle::read(text).unwrap();
        let satellites: Vec<Satellite> = sets.iter().map(|set| set.satellite(start).unwrap()).collect();
        found_grid(&sets, &satellites, 0).map(|grid| (grid, satellites.len()))
    }

    fn pairs(links: &[Isl]) -> BTreeSet<([u32; 2], bool)> {
        let pair = |isl: &Isl| ([isl.ends[0].min(isl.ends[1]), isl.ends[0].max(isl.ends[1])], isl.crosses);
        links.iter().map(pair).collect()
    }

    /// Returns the shells of the presets.
    fn presets() -> Vec<Shell> {
        let shell = |height, inclination, planes, slots, phasing, spread| Shell {
            height,
            inclination,
            planes,
            slots,
            phasing: Phasing::Walker(phasing),
            spread,
            motion: Motion::Circular,
            ..Shell::default()
        };
        vec![
            shell(550e3, 53.0, 72, 22, 39, 360.0),
            shell(630e3, 51.9, 34, 34, 7, 360.0),
            shell(1015e3, 98.98, 27, 13, 26, 360.0),
            shell(1200e3, 87.9, 12, 49, 10, 180.0),
            shell(780e3, 86.4, 6, 11, 3, 189.6),
            shell(1200e3, 50.0, 6, 8, 1, 360.0),
            shell(550e3, 53.0, 3, 12, 0, 360.0),
        ]
    }

    #[test]
    fn a_walker_pattern_gets_the_links_of_its_grid() {
        for shell in presets() {
            let expected = pairs(&plus_grid(&shell, 0).unwrap());
            // Also a day after the epoch, and before it.
            for day in ["2000-01-01", "2000-01-02T07:00:00", "1999-12-31"] {
                let (grid, _) = found(&written(&shell, |_, _| Some((0.0, 0.0))), day.parse().unwrap()).unwrap();
                assert_eq!(pairs(&grid.isls), expected, "{} × {} at {day}", shell.planes, shell.slots);
                assert_eq!((grid.shells.len(), grid.left_out), (1, 0));
                assert_eq!(grid.shells[0].planes, shell.planes as usize);
            }
        }
    }

    #[test]
    fn satellites_that_drift_keep_their_links_and_gaps_have_none() {
        for shell in presets() {
            // Up to 0.2° of Ω and a thirtieth of a slot of u, and every seventh satellite of the second plane is
            // missing.
            let noise = |plane: u32, slot: u32| f64::from((plane * 7919 + slot * 104_729) % 1000) / 1000.0 - 0.5;
            let of_slot = 360.0 / f64::from(shell.slots) / 30.0;
            let change = |plane, slot| {
                let is_there = plane != 1 || slot % 7 != 3;
                is_there.then(|| (0.4 * noise(plane, slot), of_slot * noise(slot, plane)))
            };
            let text = written(&shell, change);
            let (grid, count) = found(&text, Utc::Y2000).unwrap();
            assert!(most_links(&grid, count) <= 4);
            let numbers: Vec<u32> = tle::read(&text).unwrap().iter().map(|set| set.number() as u32 - 1).collect();
            let named = |isl: &Isl| Isl { ends: isl.ends.map(|end| numbers[end as usize]), ..*isl };
            let links = pairs(&grid.isls.iter().map(named).collect::<Vec<_>>());
            let there: BTreeSet<u32> = numbers.iter().copied().collect();
            let expected = pairs(&plus_grid(&shell, 0).unwrap());
            let expected: BTreeSet<_> =
                expected.into_iter().filter(|(ends, _)| ends.iter().all(|end| there.contains(end))).collect();
            // A missing satellite is skipped along its plane.
            let more: Vec<_> = links.difference(&expected).collect();
            assert!(expected.is_subset(&links) && more.iter().all(|(_, crosses)| !crosses), "{more:?}");
        }
    }

    #[test]
    fn satellites_of_another_height_have_no_links() {
        let shell = &presets()[4];
        let mut text = written(shell, |_, _| Some((0.0, 0.0)));
        // A spare 20 km lower, in a plane.
        text.push_str("1 00900U 26001A   00001.00000000  .00000000  00000-0  00000-0 0  999\n");
        text.push_str("2 00900  86.4000   0.0000 0000010   0.0000   5.0000 14.43000000    0\n");
        let (grid, _) = found(&text, Utc::Y2000).unwrap();
        assert_eq!((grid.left_out, grid.shells[0].satellites, grid.isls.len()), (1, 66, 121));
    }

    #[test]
    fn satellites_without_planes_are_rejected() {
        let one = Shell { planes: 2, slots: 20, ..Shell::default() };
        let refused = found(&written(&one, |_, _| Some((0.0, 0.0))), Utc::Y2000).unwrap_err();
        assert!(refused.starts_with("the 40 satellites are in no three planes"), "{refused}");
        let scattered = |plane: u32, slot: u32| Some((f64::from((plane * 7919 + slot * 104_729) % 3600) / 10.0, 0.0));
        assert!(found(&written(&Shell { planes: 6, slots: 6, ..Shell::default() }, scattered), Utc::Y2000).is_err());
    }

    fn most_links(grid: &FoundGrid, satellites: usize) -> usize {
        let mut degree = vec![0; satellites];
        for end in grid.isls.iter().flat_map(|isl| isl.ends) {
            degree[end as usize] += 1;
        }
        degree.into_iter().max().unwrap_or(0)
    }

    #[test]
    fn the_catalogue_of_iridium_has_six_planes_and_spares() {
        let sets = elements::read(include_str!("data/iridium-2023.tle")).unwrap();
        let start = "2023-08-10".parse().unwrap();
        let satellites: Vec<Satellite> = sets.iter().map(|set| set.satellite(start).unwrap()).collect();
        let grid = found_grid(&sets, &satellites, 0).unwrap();
        // 66 satellites and a spare at their height; 13 others are lower. Six rings, and five pairs of planes of
        // eleven.
        assert_eq!((satellites.len(), grid.left_out, grid.isls.len()), (80, 13, 67 + 55));
        assert_eq!((grid.shells[0].planes, grid.shells.len(), most_links(&grid, 80)), (6, 1, 4));
        let position_of = |end: u32| satellites[end as usize].orbit.position(0.0).unwrap();
        for isl in &grid.isls {
            assert!(sees_above_the_air(position_of(isl.ends[0]), position_of(isl.ends[1])), "{isl:?}");
        }
    }
}
