//! Constellations: positions of satellites, visibility, and the paths through the constellation.
//!
//! Positions are functions of time, in an Earth-fixed frame, so nothing happens while a satellite moves. Nodes of a
//! constellation are numbered: satellites start at 0, ground stations follow.
//!
//! - [`mod@time`]: Coordinated Universal Time (UTC).
//! - [`frames`]: transformation from the frame of SGP4 to the Earth-fixed frame.
//! - [`site`]: ground stations.
//! - [`propagate`]: orbits: SGP4, its closed form without drag, and circles that precess due to J2.
//! - [`element_set`]: the elements of a satellite.
//! - [`elements`]: files of orbital elements: two-line sets ([`tle`]) and OMM ([`omm`]).
//! - [`path_changes`]: passes over stations, and paths over time.
//! - [`cities`]: coordinates of large cities.
//! - [`shell`]: Walker shells.
//! - [`grid`]: links between satellites.
//! - [`satellite`]: a name and an orbit.
//! - [`sky`]: a constellation: satellites, links and stations.
//! - [`connections`]: which stations have a path to each other.
//! - [`handover`]: what a handover does to packets.
//! - [`plan`]: the paths through the constellation, and their changes.

pub mod cities;
pub mod connections;
pub mod element_set;
pub mod elements;
pub mod frames;
pub mod grid;
pub mod handover;
pub mod omm;
pub mod path_changes;
pub mod plan;
pub mod propagate;
pub mod satellite;
pub mod shell;
pub mod site;
pub mod sky;
pub mod time;
pub mod tle;

pub use handover::{Handover, WaitingPackets};
pub use plan::custom as satellite_routing;
pub use plan::{Change, MOST_NODES, Metric, PathRules, Planner, Selection};
pub use satellite::Satellite;
pub use shell::{Phasing, Shell, ShellError};
pub use site::Site;
pub use sky::{Sky, Stand, Station, Visibility, Waypoint};
pub use time::Utc;
