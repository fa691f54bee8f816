//! Where nodes are: positions as functions of time.
//!
//! A model of mobility yields a path piece by piece. Each piece has a closed form, so nothing happens while a node moves:
//! a position is computed when it is asked for.
//!
//! - [`vector`]: places and velocities.
//! - [`area`]: the box in which nodes move.
//! - [`placement`]: where nodes start.
//! - [`piece`]: a part of a path, straight or on an arc.
//! - [`model`]: what each model has, and why it may refuse an area or a place.
//! - [`models`]: a file for each model, their registry, and the path of a node.
//! - [`track`]: paths through given places.
//! - [`paths`]: files of paths.

pub mod area;
pub mod model;
pub mod models;
pub mod paths;
pub mod piece;
pub mod placement;
pub mod track;
pub mod vector;
mod walk;

pub use area::{Area, AreaError};
pub use model::Refusal;
pub use models::{Mobility, Motion};
pub use paths::{Doubt, Path, PathError, Paths};
pub use piece::Piece;
pub use placement::Placement;
pub use track::{Fix, Track};
pub use vector::Vector;
