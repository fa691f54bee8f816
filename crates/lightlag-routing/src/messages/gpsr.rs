//! The beacon and the header of GPSR. Their forms are our own, since no standard gives any.
//!
//! A coordinate is a signed number of 32 bits in centimetres, so positions reach 21,474 km from the origin. A beacon
//! holds the sender's x, y and z. A header holds, in this order: the mode, the destination's x, y and z, the sender's x, y
//! and z, x and y of L_p and of L_f, and the two nodes of e_0 as addresses of 4 bytes: 1 + 12 + 12 + 8 + 8 + 8 = 49 bytes.
//! In greedy mode the last three are zero.

use lightlag_mobility::Vector;
use lightlag_net::NodeId;

/// The UDP port of beacons; the GPSR of the ns-3 community uses this one, too.
pub const PORT: u16 = 666;

/// A position in whole centimetres.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// To the east.
    pub x: i32,
    /// To the north.
    pub y: i32,
    /// Up.
    pub z: i32,
}

impl Place {
    /// The position to the nearest centimetre.
    pub fn new(position: Vector) -> Self {
        let centimetres = |metres: f64| libm::round(metres * 100.0) as i32;
        Self { x: centimetres(position.x), y: centimetres(position.y), z: centimetres(position.z) }
    }

    /// The position in metres.
    pub fn vector(self) -> Vector {
        Vector::new(f64::from(self.x), f64::from(self.y), f64::from(self.z)) * 0.01
    }
}

/// A beacon: the position of its sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Beacon {
    /// The position.
    pub position: Place,
}

impl Beacon {
    /// Its size in bytes.
    pub const SIZE: u32 = 12;
}

/// The way in which a packet is forwarded.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Mode {
    /// To the neighbour nearest to the destination.
    Greedy,
    /// Around a face of the planar graph.
    Perimeter {
        /// L_p: where the packet left greedy mode, on the ground.
        entered: Place,
        /// L_f: where it entered the present face, on the ground.
        face: Place,
        /// e_0: the first edge on the present face.
        first_edge: (NodeId, NodeId),
    },
}

/// The header of a packet of data.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Header {
    /// The mode.
    pub mode: Mode,
    /// The position of the destination, as the origin knows it.
    pub destination: Place,
    /// The position of the node that sent this copy.
    pub sender: Place,
}

impl Header {
    /// Its size in bytes.
    pub const SIZE: u32 = 49;
}
