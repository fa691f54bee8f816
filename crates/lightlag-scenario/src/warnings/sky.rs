//! Surprises of a constellation: old elements, stations below no orbit, satellites that two stations do not share.

use super::{Found, Kind};
use crate::network::Network;
use crate::spec::{Grid, Scenario, ShellSpec};
use lightlag_core::Instant;
use lightlag_orbit::Selection;

/// Elements that are further away are doubted: SGP4 errs by one to three kilometres a day (Vallado and Cefola, *Two-Line
/// Element Sets: Practice and Use*, IAC-12-A6.6.11).
const OLD: f64 = 14.0 * DAY;
const DAY: f64 = 86_400.0;
/// The equatorial radius, metres.
const RADIUS: f64 = 6_378_137.0;

impl Scenario {
    pub(super) fn skies(&self, network: &Network, found: &mut Found) {
        let (Some(spec), Some(space)) = (&self.constellation, &network.space) else { return };
        if space.oldest > OLD {
            found.flow(Kind::OldElements, "constellation", ".file", || {
                format!(
                    "elements are up to {:.0} days away from the start, and SGP4 errs by kilometres a day: take newer ones, or a \
                     start near their epoch",
                    space.oldest / DAY
                )
            });
        }
        let is_down = |at: Instant| move |satellite: &u32| space.sky.position(*satellite, at).is_none();
        let satellites = space.sky.satellites().len() as u32;
        let decayed: Vec<u32> = (0..satellites).filter(is_down(space.until)).collect();
        if let Some(first) = decayed.first() {
            found.flow(Kind::Decayed, "constellation", ".file", || {
                format!(
                    "{} of {satellites} satellites have no orbit up to the end of the run, the first is {}: each leaves the sky when                      SGP4 finds it below the ground",
                    decayed.len(),
                    space.sky.satellites()[*first as usize].name
                )
            });
        }
        let relays = self.stations.iter().any(|station| station.relays);
        if spec.isls == Grid::None && !relays && !matches!(spec.selection.0, Selection::Shortest(_)) {
            found.flow(Kind::OwnSatellites, "constellation", ".selection", || {
                "without links between satellites two stations exchange packets over one that both use, and each selects its \
                 own: they may have no way; \"shortest\" takes one that both see"
                    .to_owned()
            });
        }
        for (index, station) in self.stations.iter().enumerate().filter(|_| spec.file.is_none()) {
            let elevation = station.elevation.unwrap_or(spec.elevation);
            let site = station.site();
            let moves = station.course.len() > 1;
            if !moves && spec.shells.iter().all(|shell| is_beyond(shell, site.latitude, elevation)) {
                found.flow(Kind::Uncovered, &format!("stations[{index}]"), "", || {
                    format!(
                        "no satellite ever stands {elevation} deg above {} at {} deg of latitude: it has no way to anybody",
                        station.name, site.latitude
                    )
                });
            }
        }
    }
}

/// Whether no satellite of a shell ever stands that high above a place at this latitude, on a sphere.
fn is_beyond(ShellSpec(shell): &ShellSpec, latitude: f64, elevation: f64) -> bool {
    let highest = shell.inclination.min(180.0 - shell.inclination);
    let elevation = elevation.to_radians();
    let reach = libm::acos(RADIUS * libm::cos(elevation) / (RADIUS + shell.height)) - elevation;
    libm::fabs(latitude) > highest + reach.to_degrees()
}
