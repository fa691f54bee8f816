//! Links between satellites: the grid of a shell, and the conditions under which a link is up.
//!
//! In a *+Grid* each satellite has four links: two to its neighbours in its plane, and one to the nearest satellite in
//! each of the two neighbouring planes. In a delta pattern, a link from the last plane back to the first leads to the
//! nearest slot there, which is F slots further on. A star pattern has no such links, because its first and last plane
//! move in opposite directions. [`derived`] determines the planes and slots of satellites that are read from files.

pub mod derived;

use crate::shell::{Phasing, Shell};
use lightlag_mobility::Vector;

/// Minimum height of a light path above the equatorial radius, in metres; below it the atmosphere absorbs the light.
const GRAZING: f64 = 80e3;
/// Equatorial radius of the Earth, in metres.
const RADIUS: f64 = 6_378_137.0;

/// A link between two satellites.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Isl {
    /// The indices of the two satellites.
    pub ends: [u32; 2],
    /// Whether the link joins two planes; such links may be off near the poles.
    pub crosses: bool,
}

/// Returns the +Grid of a shell; `first` is the index of its first satellite.
///
/// # Errors
/// If a plane has fewer than three satellites, or there are fewer than three planes, because two links would then join
/// the same two satellites.
pub fn plus_grid(shell: &Shell, first: u32) -> Result<Vec<Isl>, String> {
    let (planes, slots) = (shell.planes, shell.slots);
    if planes < 3 || slots < 3 {
        return Err(format!(
            "a grid needs at least 3 planes of 3 satellites, the shell {:?} has {planes} of {slots}; use \"none\"",
            shell.name
        ));
    }
    let number = |plane: u32, slot: u32| first + plane * slots + slot % slots;
    let wrap = match shell.phasing {
        Phasing::Walker(f) => f,
        Phasing::Alternating => 0,
    };
    let mut links = Vec::new();
    for plane in 0..planes {
        for slot in 0..slots {
            let from = number(plane, slot);
            links.push(Isl { ends: [from, number(plane, slot + 1)], crosses: false });
            if plane + 1 < planes {
                links.push(Isl { ends: [from, number(plane + 1, slot)], crosses: true });
            } else if !shell.is_star() {
                links.push(Isl { ends: [from, number(0, slot + wrap)], crosses: true });
            }
        }
    }
    Ok(links)
}

/// Square of the minimum distance of a light path from the centre of the Earth, in m².
const LOWEST: f64 = (RADIUS + GRAZING) * (RADIUS + GRAZING);

/// Returns true if the line between two positions stays above the atmosphere.
pub fn sees_above_the_air(a: Vector, b: Vector) -> bool {
    let half_chord = |square: f64| libm::sqrt((square - LOWEST).max(0.0));
    a.distance(b) <= half_chord(a.square()) + half_chord(b.square())
}

/// Returns the square of a distance: positions that are nearer to each other certainly see each other above the
/// atmosphere. The distance is two half chords of the lowest position.
pub fn square_of_sure_sight(positions: &[Vector]) -> f64 {
    let lowest = positions.iter().map(|at| at.square()).fold(f64::INFINITY, f64::min);
    4.0 * (lowest - LOWEST)
}

/// Returns the sine of the geocentric latitude of a position.
pub fn sine_of_latitude(position: Vector) -> f64 {
    position.z / position.length()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::Motion;

    fn shell(planes: u32, slots: u32, phasing: Phasing, spread: f64) -> Shell {
        Shell {
            name: "s".to_owned(),
            height: 550e3,
            revolutions: None,
            inclination: 53.0,
            planes,
            slots,
            phasing,
            spread,
            motion: Motion::Circular,
            may_collide: false,
        }
    }

    #[test]
    fn every_satellite_of_a_delta_has_four_links_of_nearly_equal_lengths() {
        let shell = shell(72, 22, Phasing::Walker(39), 360.0);
        let links = plus_grid(&shell, 0).unwrap();
        assert_eq!(links.len(), 2 * 1584);
        let orbits = shell.orbits().unwrap();
        let mut degree = vec![0; 1584];
        let (mut shortest, mut longest) = (f64::MAX, 0.0_f64);
        for Isl { ends: [a, b], crosses } in links {
            degree[a as usize] += 1;
            degree[b as usize] += 1;
            let position_of = |end: u32| orbits[end as usize].position(1_234.0).unwrap();
            if crosses {
                shortest = shortest.min(position_of(a).distance(position_of(b)));
                longest = longest.max(position_of(a).distance(position_of(b)));
            }
        }
        assert!(degree.iter().all(|links| *links == 4));
        assert!(shortest > 1_400e3 && longest < 1_530e3, "{shortest} to {longest}: the wrap is as long as the others");
    }

    #[test]
    fn a_star_has_a_seam() {
        let links = plus_grid(&shell(6, 11, Phasing::Walker(0), 180.0), 100).unwrap();
        assert_eq!(links.len(), 66 + 55);
        assert!(links.iter().all(|link| link.ends.iter().all(|end| (100..166).contains(end))));
        assert!(plus_grid(&shell(2, 11, Phasing::Walker(0), 360.0), 0).unwrap_err().contains("at least 3 planes"));
    }

    #[test]
    fn the_longest_link_grazes_the_air() {
        // 2·√((R + h)² - (R + 80 km)²): 5,017 km at 550 km.
        let radius = RADIUS + 550e3;
        let point = |angle: f64| Vector::new(radius * libm::cos(angle), radius * libm::sin(angle), 0.0);
        let angle = |length: f64| 2.0 * libm::asin(length / 2.0 / radius);
        assert!(sees_above_the_air(point(0.0), point(angle(5_016e3))));
        assert!(!sees_above_the_air(point(0.0), point(angle(5_018e3))));
    }
}
