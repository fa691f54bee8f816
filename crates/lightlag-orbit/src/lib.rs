//! Constellations: where satellites are, who sees whom, and the ways through the sky.
//!
//! Positions are functions of time, in an Earth-fixed frame, so nothing happens while a satellite moves. Nodes of a sky are
//! numbered: satellites from 0 on, ground stations behind them.
//!
//! - [`mod@time`], UTC.
//! - [`frames`]: from the frame of SGP4 to that of the ground.
//! - [`site`]: ground stations.
//! - [`propagate`]: orbits: SGP4, its closed form without drag, circles with the drift of J2.
//! - [`element_set`]: the elements of a satellite.
//! - [`elements`]: files of orbital elements: two-line sets ([`tle`]) and OMM ([`omm`]).
//! - [`course`]: passes, and ways over time.
//! - [`cities`]: places of large cities.
//! - [`shell`]: Walker shells.
//! - [`grid`]: links between satellites.
//! - [`satellite`]: a name and an orbit.
//! - [`sky`]: all together.
//! - [`connections`]: which stations have a path to each other.
//! - [`handover`]: what a handover does to packets.
//! - [`plan`]: the ways through the sky, and when they change.

pub mod cities;
pub mod connections;
pub mod course;
pub mod element_set;
pub mod elements;
pub mod frames;
pub mod grid;
pub mod handover;
pub mod omm;
pub mod plan;
pub mod propagate;
pub mod satellite;
pub mod shell;
pub mod site;
pub mod sky;
pub mod time;
pub mod tle;

pub use handover::{Handover, Waiting};
pub use plan::own as own_ways;
pub use plan::{Change, MOST_NODES, Metric, Planner, Rules, Selection};
pub use satellite::Satellite;
pub use shell::{Phasing, Shell, ShellError};
pub use site::Site;
pub use sky::{Sky, Stand, Station, Visibility, Waypoint};
pub use time::Utc;
