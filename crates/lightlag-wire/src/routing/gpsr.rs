//! The header that GPSR adds to data packets. [`lightlag_routing::messages::gpsr`] defines its fields: coordinates are
//! in centimetres, as signed 32-bit numbers in network byte order.
//!
//! The header is between LLC and the IP packet. Its EtherType is 0x88b5, which IEEE 802 reserves for local experiments.
//! Its first byte is the mode: 0 greedy, 1 perimeter.

use crate::dot11::EtherType;
use lightlag_routing::gpsr::{ForwardingMode, GpsrHeader, GpsrPosition};
use lightlag_routing::messages::{Fields, FormError, put_node};

/// EtherType of a packet that starts with the header.
pub const ETHERTYPE: EtherType = EtherType(0x88b5);

/// Values of the first byte, the mode.
const GREEDY: u8 = 0;
const PERIMETER: u8 = 1;

/// Appends the bytes of a header to `out`. The heights of L_p and L_f are dropped, because the header has no field for
/// them.
pub fn encode(out: &mut Vec<u8>, header: &GpsrHeader) {
    let start = out.len();
    out.push(if header.mode == ForwardingMode::Greedy { GREEDY } else { PERIMETER });
    header.destination.put(out);
    header.sender.put(out);
    if let ForwardingMode::Perimeter { entered, face, first_edge } = header.mode {
        for GpsrPosition { x, y, .. } in [entered, face] {
            out.extend_from_slice(&x.to_be_bytes());
            out.extend_from_slice(&y.to_be_bytes());
        }
        put_node(out, first_edge.0);
        put_node(out, first_edge.1);
    }
    out.resize(start + GpsrHeader::SIZE as usize, 0);
}

/// Parses the header before a packet, and also returns the packet.
///
/// # Errors
/// If the bytes end within the header, or contain an unknown mode or an address that belongs to no node.
pub fn decode(packet: &[u8]) -> Result<(GpsrHeader, &[u8]), FormError> {
    let mut fields = Fields::new("GPSR", packet).part(GpsrHeader::SIZE as usize)?;
    let [mode] = fields.bytes()?;
    let (destination, sender) = (GpsrPosition::read(&mut fields)?, GpsrPosition::read(&mut fields)?);
    let mode = match mode {
        GREEDY => ForwardingMode::Greedy,
        PERIMETER => ForwardingMode::Perimeter {
            entered: flat_place(&mut fields)?,
            face: flat_place(&mut fields)?,
            first_edge: (fields.node()?, fields.node()?),
        },
        other => return fields.refuse("mode", other),
    };
    Ok((GpsrHeader { mode, destination, sender }, &packet[GpsrHeader::SIZE as usize..]))
}

fn flat_place(fields: &mut Fields<'_>) -> Result<GpsrPosition, FormError> {
    let [x, y] = [fields.u32()?, fields.u32()?].map(u32::cast_signed);
    Ok(GpsrPosition { x, y, z: 0 })
}
