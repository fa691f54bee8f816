//! The packets of OLSR, RFC 3626 §3.3, §6.1 and §9.1.

use super::{Fields, RoutingError, put_node, put_nodes};
use lightlag_routing::olsr::{Body, Hello, LinkCode, Message, Packet, TopologyControl, Validity};

/// Types of messages.
const HELLO: u8 = 1;
const TOPOLOGY_CONTROL: u8 = 2;

/// Bytes of a message's header.
const MESSAGE_HEADER: u16 = 12;

/// Bytes in front of the neighbours that share a link code.
const LINK_HEADER: u16 = 4;

pub fn encode(out: &mut Vec<u8>, packet: &Packet) {
    out.extend_from_slice(&length(packet.size()).to_be_bytes());
    out.extend_from_slice(&packet.sequence.to_be_bytes());
    for message in &packet.messages {
        let kind = match message.body {
            Body::Hello(_) => HELLO,
            Body::TopologyControl(_) => TOPOLOGY_CONTROL,
        };
        out.extend_from_slice(&[kind, message.validity.0]);
        out.extend_from_slice(&length(message.size()).to_be_bytes());
        put_node(out, message.originator);
        out.extend_from_slice(&[message.ttl, message.hop_count]);
        out.extend_from_slice(&message.sequence.to_be_bytes());
        match &message.body {
            Body::Hello(hello) => put_hello(out, hello),
            Body::TopologyControl(topology) => {
                out.extend_from_slice(&topology.sequence.to_be_bytes());
                out.extend_from_slice(&[0; 2]);
                put_nodes(out, &topology.neighbours);
            }
        }
    }
}

fn put_hello(out: &mut Vec<u8>, hello: &Hello) {
    out.extend_from_slice(&[0, 0, hello.interval.0, hello.willingness]);
    for (code, nodes) in &hello.links {
        out.extend_from_slice(&[code.byte(), 0]);
        out.extend_from_slice(&length(u32::from(LINK_HEADER) + 4 * nodes.len() as u32).to_be_bytes());
        put_nodes(out, nodes);
    }
}

fn length(bytes: u32) -> u16 {
    u16::try_from(bytes).unwrap_or_else(|_| panic!("{bytes} bytes of OLSR are more than a packet holds"))
}

pub fn decode(mut fields: Fields<'_>) -> Result<Packet, RoutingError> {
    let (len, sequence) = (fields.u16()?, fields.u16()?);
    let mut all = match len.checked_sub(4) {
        Some(len) => fields.part(usize::from(len))?,
        None => return fields.refuse("packet length", len),
    };
    fields.end()?;
    let mut messages = Vec::new();
    while !all.rest.is_empty() {
        messages.push(message(&mut all)?);
    }
    Ok(Packet { sequence, messages })
}

fn message(all: &mut Fields<'_>) -> Result<Message, RoutingError> {
    let [kind, validity] = all.bytes()?;
    let size = all.u16()?;
    let Some(len) = size.checked_sub(4).filter(|_| size >= MESSAGE_HEADER) else {
        return all.refuse("message size", size);
    };
    let mut fields = all.part(usize::from(len))?;
    let originator = fields.node()?;
    let [ttl, hop_count] = fields.bytes()?;
    let sequence = fields.u16()?;
    let body = match kind {
        HELLO => Body::Hello(hello(fields)?),
        TOPOLOGY_CONTROL => {
            let (sequence, _reserved) = (fields.u16()?, fields.u16()?);
            Body::TopologyControl(TopologyControl { sequence, neighbours: fields.nodes()? })
        }
        other => return fields.refuse("message type", other),
    };
    Ok(Message { validity: Validity(validity), originator, ttl, hop_count, sequence, body })
}

fn hello(mut fields: Fields<'_>) -> Result<Hello, RoutingError> {
    let [_, _, interval, willingness] = fields.bytes()?;
    let mut links = Vec::new();
    while !fields.rest.is_empty() {
        let [code, _reserved] = fields.bytes()?;
        let size = fields.u16()?;
        let Some(code) = LinkCode::from_byte(code) else { return fields.refuse("link code", code) };
        let Some(len) = size.checked_sub(LINK_HEADER) else { return fields.refuse("link message size", size) };
        links.push((code, fields.part(usize::from(len))?.nodes()?));
    }
    Ok(Hello { interval: Validity(interval), willingness, links })
}
