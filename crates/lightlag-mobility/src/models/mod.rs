//! The models, a file each.

pub mod gauss_markov;
pub mod stationary;
pub mod waypoints;

pub use gauss_markov::GaussMarkov;
pub use stationary::Static;
pub use waypoints::Waypoints;
