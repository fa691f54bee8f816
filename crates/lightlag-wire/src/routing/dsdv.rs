//! The updates of DSDV as ns-3 has them: for each entry the destination, the hops and the sequence number.

use super::{Fields, RoutingError, put_node};
use lightlag_routing::dsdv::{Entry, Update};

pub fn encode(out: &mut Vec<u8>, update: &Update) {
    for entry in &update.entries {
        put_node(out, entry.destination);
        out.extend_from_slice(&entry.hops.to_be_bytes());
        out.extend_from_slice(&entry.sequence.to_be_bytes());
    }
}

pub fn decode(mut fields: Fields<'_>) -> Result<Update, RoutingError> {
    let mut entries = Vec::with_capacity(fields.rest.len() / 12);
    while !fields.rest.is_empty() {
        entries.push(Entry { destination: fields.node()?, hops: fields.u32()?, sequence: fields.u32()? });
    }
    Ok(Update { is_full: false, entries })
}
