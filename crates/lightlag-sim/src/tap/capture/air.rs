//! Frames on the air: 802.11 after a header of radiotap, in a file for each radio.

use super::{Captures, Record, Seen};
use crate::body::Packet;
use lightlag_core::{Duration, Instant};
use lightlag_net::{InterfaceId, NodeId};
use lightlag_routing::{Extra, Message, Receiver};
use lightlag_scenario::IpVersion;
use lightlag_wire::arp::{Arp, Operation};
use lightlag_wire::capture::Direction;
use lightlag_wire::dot11::radiotap::{self, Aggregate, Modulation, Radiotap};
use lightlag_wire::dot11::{Action, Address, Agreement, Body, EtherType, Frame, Header, Qos, Sequence, Tid};
use lightlag_wire::routing::{self, Datagram};

/// A frame, as a node sends or hears it.
#[derive(Clone, Copy)]
pub(crate) struct AirFrame<'a> {
    /// The instant at which it starts at the node.
    pub(crate) start: Instant,
    /// The time that it takes on the air, preamble included.
    pub(crate) length: Duration,
    /// Whether the node sends or hears it.
    pub(crate) direction: Direction,
    /// The number of the ad hoc network, for its BSSID.
    pub(crate) network: u32,
    /// The node that sends it.
    pub(crate) from: NodeId,
    /// The addressee.
    pub(crate) to: Receiver,
    /// The time that its duration field reserves after its end.
    pub(crate) reserves: Duration,
    /// The radio's view of it.
    pub(crate) radio: Radio,
    /// Its kind.
    pub(crate) form: Form<'a>,
}

/// The properties of a frame that a radio knows.
#[derive(Clone, Copy)]
pub(crate) struct Radio {
    /// Centre frequency of the channel in MHz.
    pub(crate) frequency_mhz: u16,
    pub(crate) modulation: Modulation,
    /// Received power in dBm; `None` for a frame that the node sends.
    pub(crate) signal_dbm: Option<f64>,
    /// Power of the noise in dBm.
    pub(crate) noise_dbm: f64,
    /// The A-MPDU that the frame is a part of.
    pub(crate) aggregate: Option<Aggregate>,
}

/// The kinds of frames.
#[derive(Clone, Copy)]
pub(crate) enum Form<'a> {
    Data { sequence: Sequence, is_retry: bool, qos: Option<Qos>, content: Content<'a> },
    Rts,
    Cts,
    Ack,
    BlockAckRequest { tid: Tid, start: Sequence },
    BlockAck { tid: Tid, start: Sequence, bitmap: u64 },
    AddBlockAckRequest { sequence: Sequence, is_retry: bool, tid: Tid, start: Sequence },
    AddBlockAckResponse { sequence: Sequence, is_retry: bool, tid: Tid },
}

/// The contents of a data frame.
#[derive(Clone, Copy)]
pub(crate) enum Content<'a> {
    /// A packet of a flow with the header that routing adds. Its TTL is that of its IP header on the air.
    Packet(&'a Packet, Extra),
    /// A message of a routing protocol, with the TTL of its IP header.
    Message(&'a Message, u8),
    /// A request or reply of ARP: the node that is asked for, or that asked.
    Arp(Operation, NodeId),
}

/// The token of all requests for agreements: a station has one at a time.
const TOKEN: u8 = 1;
/// The status of a response that accepts (IEEE 802.11-2020 §9.4.1.9).
const ACCEPTED: u16 = 0;

/// The terms of an agreement: 64 packets, for ever.
fn agreement(tid: Tid) -> Agreement {
    Agreement { tid, buffer: 64, timeout: 0 }
}

impl Captures {
    /// Takes a frame that a radio sends or hears. One that it sends is written with the time of its start, one that it
    /// hears with the time of its end. Frames of captured flows, of routing and of the MAC are written.
    #[cold]
    pub(crate) fn on_air(&mut self, on: InterfaceId, frame: &AirFrame<'_>) {
        let Some(file) = self.on_air[on.index()].filter(|_| self.error.is_none()) else { return };
        if let Form::Data { content: Content::Packet(packet, _), .. } = frame.form
            && !self.wants(packet.to)
        {
            return;
        }
        let at = match frame.direction {
            Direction::Inbound => frame.start + frame.length,
            _ => frame.start,
        };
        let record = Record::Frame(self.record(frame));
        let (direction, comment) = (frame.direction, String::new());
        self.files[file].pending.add(Seen { at, direction, record, comment, awaits: None });
        self.write_known(file);
    }

    /// The bytes of a frame after its header of radiotap.
    fn record(&mut self, frame: &AirFrame<'_>) -> Vec<u8> {
        let transmitter = Address::of_node(frame.from.0);
        let header = |sequence, is_retry| {
            let bssid = Address::of_network(frame.network);
            Header { transmitter, bssid, sequence, is_retry }
        };
        let mut payload = Vec::new();
        let body = match frame.form {
            Form::Data { sequence, is_retry, qos, content } => {
                let ethertype = self.payload_of(frame, content, &mut payload);
                Body::Data { header: header(sequence, is_retry), qos, ethertype, payload: &payload }
            }
            Form::Rts => Body::Rts { transmitter },
            Form::Cts => Body::Cts,
            Form::Ack => Body::Ack,
            Form::BlockAckRequest { tid, start } => Body::BlockAckRequest { transmitter, tid, start },
            Form::BlockAck { tid, start, bitmap } => Body::BlockAck { transmitter, tid, start, bitmap },
            Form::AddBlockAckRequest { sequence, is_retry, tid, start } => {
                let action = Action::Request { token: TOKEN, agreement: agreement(tid), start };
                Body::Action { header: header(sequence, is_retry), action }
            }
            Form::AddBlockAckResponse { sequence, is_retry, tid } => {
                let action = Action::Response { token: TOKEN, status: ACCEPTED, agreement: agreement(tid) };
                Body::Action { header: header(sequence, is_retry), action }
            }
        };
        let receiver = match frame.to {
            Receiver::All => Address::BROADCAST,
            Receiver::One(node) => Address::of_node(node.0),
        };
        let Radio { frequency_mhz, modulation, signal_dbm, noise_dbm, aggregate } = frame.radio;
        let header = Radiotap {
            at: Some(frame.start),
            frequency_mhz: Some(frequency_mhz),
            modulation: Some(modulation),
            signal_dbm: signal_dbm.map(whole_dbm),
            noise_dbm: Some(whole_dbm(noise_dbm)),
            aggregate,
            ..Radiotap::default()
        };
        let mut bytes = Vec::new();
        radiotap::record(&mut bytes, &header, &Frame { duration: frame.reserves, receiver, body });
        bytes
    }

    /// Puts the contents of a data frame in `payload`, and returns their type.
    fn payload_of(&mut self, frame: &AirFrame<'_>, content: Content<'_>, payload: &mut Vec<u8>) -> EtherType {
        match content {
            Content::Packet(packet, extra) => {
                let mut ethertype = match self.ip {
                    IpVersion::V4 => EtherType::IPV4,
                    IpVersion::V6 => EtherType::IPV6,
                };
                if let Extra::Gpsr(header) = extra {
                    routing::gpsr::encode(payload, &header);
                    ethertype = routing::gpsr::ETHERTYPE;
                }
                self.put(packet, packet.ttl);
                payload.extend_from_slice(&self.bytes);
                ethertype
            }
            Content::Message(message, ttl) => {
                let datagram = Datagram { from: frame.from, to: frame.to, ttl, message: message.clone() };
                routing::encode(payload, &datagram);
                EtherType::IPV4
            }
            Content::Arp(operation, other) => {
                let [sender, target] =
                    [frame.from, other].map(|node| (Address::of_node(node.0), routing::address(node)));
                let asked = match operation {
                    Operation::Request => Address([0; 6]),
                    Operation::Reply => target.0,
                };
                let arp = Arp { operation, sender, target: (asked, target.1) };
                payload.extend_from_slice(&arp.encode());
                EtherType::ARP
            }
        }
    }
}

/// To the nearest of the whole numbers that a field of radiotap holds.
fn whole_dbm(dbm: f64) -> i8 {
    libm::round(dbm).clamp(f64::from(i8::MIN), f64::from(i8::MAX)) as i8
}

#[cfg(test)]
mod tests;
