//! The mobility models, one file each.

pub mod gauss_markov;
pub mod group;
pub mod motion;
pub mod paparazzi;
pub mod random_waypoint;
pub mod registry;
pub mod smooth_turn;
pub mod stationary;
pub mod trace;
pub mod waypoints;

pub use gauss_markov::GaussMarkov;
pub use group::{Group, Leader};
pub use motion::Motion;
pub use paparazzi::Paparazzi;
pub use random_waypoint::RandomWaypoint;
pub use registry::Mobility;
pub use smooth_turn::SmoothTurn;
pub use stationary::Static;
pub use trace::Trace;
pub use waypoints::Waypoints;
