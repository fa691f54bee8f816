//! Greedy Perimeter Stateless Routing: Karp and Kung, MobiCom 2000.
//!
//! Nodes broadcast their positions in beacons, and each data packet carries the position of the node that forwards it.
//! A packet goes to the neighbour nearest to its destination, as long as one is nearer than the node itself. Where none
//! is, the packet goes around the void by the right-hand rule, along the edges of a planar graph that each node derives
//! from its neighbours, until it is nearer to the destination than the position where it left greedy mode. The planar
//! graph is one of:
//!
//! - Gabriel graph: the edge (u, v) stays unless a neighbour w has |uw|² + |vw|² < |uv|².
//! - Relative neighbourhood graph: it stays unless a neighbour w has max(|uw|, |vw|) < |uv|.
//!
//! L_p is the position where the packet left greedy mode, and L_f the point where it last changed faces. The packet
//! changes to the next face if its edge would cross the line from L_p to the destination at a point nearer to the
//! destination than L_f. It is dropped if it would traverse the first edge of a face again.
//!
//! The origin gets the destination's position from an oracle, optionally with an error and an age. Faces exist only in
//! the plane. Positions are projected on the ground, so a graph that is connected in space may not be planar in
//! projection, and a packet may then be lost although a path exists; `void = "drop"` uses only greedy mode, with
//! distances in space.

mod agent;
mod config;
mod plane;
#[cfg(test)]
mod tests;

pub use crate::messages::gpsr::{Beacon, ForwardingMode, GpsrHeader, GpsrPosition};
pub use config::{Config, Planar, Void};
