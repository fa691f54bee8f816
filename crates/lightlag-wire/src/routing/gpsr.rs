//! The beacon of GPSR, and the header that it adds to packets of data. The forms are those of
//! [`lightlag_routing::gpsr`]: coordinates in centimetres, signed, 32 bits, in network byte order.
//!
//! The header stands between LLC and the IP packet, under the type 0x88b5, which IEEE 802 keeps for local experiments.
//! Its first byte is the mode: 0 greedy, 1 perimeter.

use super::{Fields, RoutingError, put_node};
use crate::dot11::EtherType;
use lightlag_routing::gpsr::{Beacon, Header, Mode, Place};

/// The type of a packet with the header in front.
pub const ETHERTYPE: EtherType = EtherType(0x88b5);

/// Values of the first byte.
const GREEDY: u8 = 0;
const PERIMETER: u8 = 1;

pub(super) fn encode_beacon(out: &mut Vec<u8>, beacon: &Beacon) {
    put_place(out, beacon.position);
}

pub(super) fn decode_beacon(mut fields: Fields<'_>) -> Result<Beacon, RoutingError> {
    let position = fields.place()?;
    fields.end().map(|()| Beacon { position })
}

/// Appends the bytes of a header to `out`. L_p and L_f lose their height, for which the header has no place.
pub fn encode(out: &mut Vec<u8>, header: &Header) {
    let start = out.len();
    out.push(if header.mode == Mode::Greedy { GREEDY } else { PERIMETER });
    put_place(out, header.destination);
    put_place(out, header.sender);
    if let Mode::Perimeter { entered, face, first_edge } = header.mode {
        for Place { x, y, .. } in [entered, face] {
            out.extend_from_slice(&x.to_be_bytes());
            out.extend_from_slice(&y.to_be_bytes());
        }
        put_node(out, first_edge.0);
        put_node(out, first_edge.1);
    }
    out.resize(start + Header::SIZE as usize, 0);
}

/// Reads the header in front of a packet, and returns the packet, too.
///
/// # Errors
/// If the bytes end within the header, or have another mode or the address of no node.
pub fn decode(packet: &[u8]) -> Result<(Header, &[u8]), RoutingError> {
    let mut fields = Fields { protocol: "GPSR", whole: packet.len(), rest: packet }.part(Header::SIZE as usize)?;
    let [mode] = fields.bytes()?;
    let (destination, sender) = (fields.place()?, fields.place()?);
    let mode = match mode {
        GREEDY => Mode::Greedy,
        PERIMETER => Mode::Perimeter {
            entered: fields.flat_place()?,
            face: fields.flat_place()?,
            first_edge: (fields.node()?, fields.node()?),
        },
        other => return fields.refuse("mode", other),
    };
    Ok((Header { mode, destination, sender }, &packet[Header::SIZE as usize..]))
}

impl Fields<'_> {
    fn place(&mut self) -> Result<Place, RoutingError> {
        let [x, y, z] = [self.u32()?, self.u32()?, self.u32()?].map(u32::cast_signed);
        Ok(Place { x, y, z })
    }

    fn flat_place(&mut self) -> Result<Place, RoutingError> {
        let [x, y] = [self.u32()?, self.u32()?].map(u32::cast_signed);
        Ok(Place { x, y, z: 0 })
    }
}

fn put_place(out: &mut Vec<u8>, place: Place) {
    for coordinate in [place.x, place.y, place.z] {
        out.extend_from_slice(&coordinate.to_be_bytes());
    }
}
