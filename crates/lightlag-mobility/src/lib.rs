//! Mobility of nodes: their positions as functions of time.
//!
//! A mobility model generates a path segment by segment. Each segment has a closed form, so no event occurs while a
//! node moves: a position is computed on request.
//!
//! - [`vector`]: positions and velocities.
//! - [`area`]: the box that contains the nodes.
//! - [`placement`]: initial positions of nodes.
//! - [`piece`]: a segment of a path, straight or on an arc.
//! - [`model`]: the interface of models, and the reasons to reject an area or a position.
//! - [`models`]: the models, one file each, their registry, and the path of a node.
//! - [`track`]: paths through given positions.
//! - [`paths`]: files that contain paths.

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
