//! The beacon and the header of GPSR. Their formats are specific to lightlag, since no standard specifies any.
//!
//! A coordinate is a signed 32-bit number of centimetres, so positions reach 21,474 km from the origin. A beacon holds
//! the sender's x, y and z. A header holds, in this order: the mode, the destination's x, y and z, the sender's x, y
//! and z, x and y of L_p and of L_f, and the two nodes of e_0 as addresses of 4 bytes: 1 + 12 + 12 + 8 + 8 + 8 = 49
//! bytes. In greedy mode L_p, L_f and e_0 are zero.

use super::{Fields, FormError, Kind, Payload};
use lightlag_mobility::Vector;
use lightlag_net::NodeId;

/// A position in integer centimetres.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GpsrPosition {
    /// Coordinate to the east.
    pub x: i32,
    /// Coordinate to the north.
    pub y: i32,
    /// Coordinate upwards.
    pub z: i32,
}

impl GpsrPosition {
    /// Returns the position, rounded to the nearest centimetre.
    pub fn new(position: Vector) -> Self {
        let centimetres = |metres: f64| libm::round(metres * 100.0) as i32;
        Self { x: centimetres(position.x), y: centimetres(position.y), z: centimetres(position.z) }
    }

    /// Returns the position in metres.
    pub fn vector(self) -> Vector {
        Vector::new(f64::from(self.x), f64::from(self.y), f64::from(self.z)) * 0.01
    }

    /// Appends the bytes of the position.
    pub fn put(self, out: &mut Vec<u8>) {
        for coordinate in [self.x, self.y, self.z] {
            out.extend_from_slice(&coordinate.to_be_bytes());
        }
    }

    /// Reads the bytes of a position.
    ///
    /// # Errors
    /// If bytes are missing.
    pub fn read(fields: &mut Fields<'_>) -> Result<Self, FormError> {
        let [x, y, z] = [fields.u32()?, fields.u32()?, fields.u32()?].map(u32::cast_signed);
        Ok(Self { x, y, z })
    }
}

/// A beacon: the position of its sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Beacon {
    /// The position.
    pub position: GpsrPosition,
}

impl Payload for Beacon {
    const PROTOCOL: &'static str = "GPSR";
    /// The UDP port, the same as in the GPSR module of the ns-3 community.
    const PORT: u16 = 666;

    fn size(&self) -> u32 {
        12
    }

    fn kinds(&self, mut each: impl FnMut(Kind, u32)) {
        each(Kind::Beacon, self.size());
    }

    fn encode(&self, out: &mut Vec<u8>) {
        self.position.put(out);
    }

    fn decode(mut fields: Fields<'_>, _ttl: u8) -> Result<Self, FormError> {
        let position = GpsrPosition::read(&mut fields)?;
        fields.end().map(|()| Self { position })
    }
}

/// The forwarding mode of a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ForwardingMode {
    /// Greedy mode: the packet goes to the neighbour nearest to the destination.
    Greedy,
    /// Perimeter mode: the packet goes around a face of the planar graph.
    Perimeter {
        /// L_p: position where the packet left greedy mode, projected on the ground.
        entered: GpsrPosition,
        /// L_f: position where the packet entered the current face, projected on the ground.
        face: GpsrPosition,
        /// e_0: the first edge on the current face.
        first_edge: (NodeId, NodeId),
    },
}

/// The header of a data packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GpsrHeader {
    /// The forwarding mode.
    pub mode: ForwardingMode,
    /// The position of the destination as known to the origin.
    pub destination: GpsrPosition,
    /// The position of the node that sent this copy.
    pub sender: GpsrPosition,
}

impl GpsrHeader {
    /// Size of the header in bytes.
    pub const SIZE: u32 = 49;
}
