//! Warnings about a constellation: outdated elements, satellites without links, stations that no orbit passes over, and
//! pairs of stations without a path.

use super::{Found, Kind};
use crate::network::{Network, Space};
use crate::spec::{Grid, Scenario, ShellSpec};
use lightlag_core::Instant;
use lightlag_orbit::Selection;

/// Maximum age of elements in seconds: older ones are considered outdated. The error of SGP4 grows by one to three
/// kilometres per day (Vallado and Cefola, *Two-Line Element Sets: Practice and Use*, IAC-12-A6.6.11).
const OLD: f64 = 14.0 * DAY;
const DAY: f64 = 86_400.0;
/// Number of times, between the start and the end of a run, when paths are searched for.
const LOOKS: u64 = 25;
/// Equatorial radius of the Earth in metres.
const RADIUS: f64 = 6_378_137.0;

impl Scenario {
    pub(super) fn skies(&self, network: &Network, findings: &mut Found) {
        let (Some(spec), Some(space)) = (&self.constellation, &network.space) else { return };
        if space.filed.oldest > OLD {
            findings.flow(Kind::OldElements, "constellation", ".file", || {
                format!(
                    "elements are up to {:.0} days from the start, and the error of SGP4 grows by kilometres per day: \
                     use newer ones, or a start near their epoch",
                    space.filed.oldest / DAY
                )
            });
        }
        let is_down = |at: Instant| move |satellite: &u32| space.sky.position(*satellite, at).is_none();
        let satellites = space.sky.satellites().len() as u32;
        let decayed: Vec<u32> = (0..satellites).filter(is_down(space.until)).collect();
        if let Some(first) = decayed.first() {
            findings.flow(Kind::Decayed, "constellation", ".file", || {
                format!(
                    "{} of {satellites} satellites have no orbit until the end of the run, the first is {}: each is \
                     removed when SGP4 places it below the ground",
                    decayed.len(),
                    space.sky.satellites()[*first as usize].name
                )
            });
        }
        let relays = self.stations.iter().any(|station| station.relays);
        if spec.isls == Grid::None && !relays && !matches!(spec.selection.0, Selection::Shortest(_)) {
            findings.flow(Kind::OwnSatellites, "constellation", ".selection", || {
                "without links between satellites, two stations exchange packets over a satellite that both use, and \
                 each selects its own: they may have no path; \"shortest\" uses one that is visible to both"
                    .to_owned()
            });
        }
        let total = space.sky.satellites().len();
        if let Some(grid) = space.filed.grid.as_ref().filter(|grid| grid.left_out > 0) {
            findings.flow(Kind::UnlinkedSatellites, "constellation", ".isls", || {
                let shell = &grid.shells[0];
                format!(
                    "{} of {total} satellites have no link: they are in none of the planes that the grid joins ({} \
                     planes of {} satellites at {:.1} deg and {:.2} revolutions per day in the largest shell), such as \
                     spares",
                    grid.left_out, shell.planes, shell.satellites, shell.inclination, shell.revolutions
                )
            });
        }
        for (from, to) in never_connected(space) {
            let name = |station: u32| &self.stations[station as usize].name;
            findings.flow(Kind::NeverConnected, "constellation", "", || {
                format!(
                    "{} and {} are connected at none of {LOOKS} times of the run, over any number of the {} links between \
                     satellites: nothing can arrive; {}",
                    name(from),
                    name(to),
                    space.sky.isls().len(),
                    if spec.isls == Grid::None { "isls = \"grid\" joins satellites" } else { "use a longer run, or \
                        other stations" }
                )
            });
        }
        for (index, station) in self.stations.iter().enumerate().filter(|_| spec.file.is_none()) {
            let elevation = station.elevation.unwrap_or(spec.elevation);
            let site = station.site();
            let moves = station.course.len() > 1;
            if !moves && spec.shells.iter().all(|shell| is_beyond(shell, site.latitude, elevation)) {
                findings.flow(Kind::Uncovered, &format!("stations[{index}]"), "", || {
                    format!(
                        "no satellite ever reaches an elevation of {elevation} deg at {}, at {} deg of latitude: it \
                         has no path to any node",
                        station.name, site.latitude
                    )
                });
            }
        }
    }
}

/// Returns the pairs of stations with flows that have no path at any of the examined times. Each direction is a
/// separate pair.
fn never_connected(space: &Space) -> Vec<(u32, u32)> {
    let mut pairs: Vec<(u32, u32)> = space.pairs.iter().copied().filter(|(from, to)| from < to).collect();
    let length = space.until.since(Instant::ZERO);
    for look in 0..LOOKS {
        if pairs.is_empty() {
            break;
        }
        let connected = space.sky.connections(Instant::ZERO + length / (LOOKS - 1) * look);
        pairs.retain(|(from, to)| !connected.joins(*from as usize, *to as usize));
    }
    pairs
}

/// Returns true if no satellite of a shell ever reaches this elevation at this latitude, on a spherical Earth.
fn is_beyond(ShellSpec(shell): &ShellSpec, latitude: f64, elevation: f64) -> bool {
    let highest = shell.inclination.min(180.0 - shell.inclination);
    let elevation = elevation.to_radians();
    let reach = libm::acos(RADIUS * libm::cos(elevation) / (RADIUS + shell.height)) - elevation;
    libm::fabs(latitude) > highest + reach.to_degrees()
}
