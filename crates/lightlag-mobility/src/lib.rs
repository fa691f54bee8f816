//! Where nodes are: positions as functions of time.
//!
//! A model of mobility yields a path piece by piece. Each piece has a closed form, so nothing happens while a node moves:
//! whoever needs a position asks for it.

mod vector;

pub use vector::Vector;
