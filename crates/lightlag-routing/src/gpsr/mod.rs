//! Greedy Perimeter Stateless Routing: Karp and Kung, MobiCom 2000.
//!
//! Nodes beacon their positions, and data carry the position of the node that sends them on. A packet goes to the neighbour
//! nearest to its destination, as long as one is nearer than the node itself. Where none is, the packet goes around the
//! void by the right-hand rule, on the edges of a planar graph that each node finds among its neighbours, until it is nearer
//! to the destination than where it left greedy mode:
//!
//! - Gabriel graph: the edge (u, v) stays unless a neighbour w has |uw|² + |vw|² < |uv|².
//! - Relative neighbourhood graph: unless max(|uw|, |vw|) < |uv|.
//!
//! The packet changes to the next face where its edge would cut the line from L_p, where it left greedy mode, to the
//! destination, nearer to the destination than L_f, the last such cut. It is dropped when it would take the first edge of a
//! face again.
//!
//! The origin gets the destination's position from an oracle, with an error and an age on request. Faces exist in the plane
//! alone. Positions are projected on the ground, so a graph that is connected in space may not be planar in projection, and
//! a packet may then be lost that a way exists for; `void = "drop"` is greedy mode alone, with distances in space.

mod agent;
mod config;
mod plane;
#[cfg(test)]
mod tests;

pub use crate::messages::gpsr::{Beacon, Header, Mode, PORT, Place};
pub use config::{Config, Planar, Void};
