//! Frames on the air: 802.11 frames with a radiotap header, in one file per radio.

use super::{CaptureRecord, CapturedPacket, Captures};
use crate::body::Packet;
use lightlag_core::{Duration, Instant};
use lightlag_net::{InterfaceId, NodeId};
use lightlag_routing::{Message, Receiver, RoutingHeader};
use lightlag_scenario::IpVersion;
use lightlag_wire::arp::{Arp, Operation};
use lightlag_wire::capture::Direction;
use lightlag_wire::dot11::radiotap::{self, Aggregate, Modulation, Radiotap};
use lightlag_wire::dot11::{
    ActionFrame, Address, Agreement, EtherType, Frame, FrameBody, FrameHeader, Qos, Sequence, Tid,
};
use lightlag_wire::routing::{self, Datagram};

/// A frame that a node sends or receives.
#[derive(Clone, Copy)]
pub(crate) struct AirFrame<'a> {
    /// Time when the frame starts at the node.
    pub(crate) start: Instant,
    /// Airtime of the frame, including its preamble.
    pub(crate) length: Duration,
    /// Direction: sent or received.
    pub(crate) direction: Direction,
    /// Index of the ad hoc network, which determines the BSSID.
    pub(crate) network: u32,
    /// Sending node.
    pub(crate) from: NodeId,
    /// Node that the frame is addressed to, or all nodes.
    pub(crate) to: Receiver,
    /// Time after the end of the frame that its duration field reserves.
    pub(crate) reserves: Duration,
    /// Properties measured by the radio.
    pub(crate) radio: Radio,
    /// Kind and contents of the frame.
    pub(crate) form: FrameContents<'a>,
}

/// Properties of a frame as measured by a radio.
#[derive(Clone, Copy)]
pub(crate) struct Radio {
    /// Centre frequency of the channel in MHz.
    pub(crate) frequency_mhz: u16,
    pub(crate) modulation: Modulation,
    /// Received power in dBm; `None` for a frame that the node sends.
    pub(crate) signal_dbm: Option<f64>,
    /// Noise power in dBm.
    pub(crate) noise_dbm: f64,
    /// The A-MPDU that the frame is part of, if there is one.
    pub(crate) aggregate: Option<Aggregate>,
}

/// The kinds of frames, with their contents.
#[derive(Clone, Copy)]
pub(crate) enum FrameContents<'a> {
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
    /// A packet of a flow with the header that routing adds. Its TTL is the one in its IP header on the air.
    Packet(&'a Packet, RoutingHeader),
    /// A message of a routing protocol, with the TTL of its IP header.
    Message(&'a Message, u8),
    /// An ARP request or reply; then the requested node or the node that sent the request.
    Arp(Operation, NodeId),
}

/// Dialog token of all requests for block-acknowledgement agreements. It can be constant, because a station negotiates
/// one agreement at a time.
const TOKEN: u8 = 1;
/// Status code of a successful response (IEEE 802.11-2020 §9.4.1.9).
const ACCEPTED: u16 = 0;

/// Returns the parameters of a block-acknowledgement agreement: 64 packets, no timeout.
fn agreement(tid: Tid) -> Agreement {
    Agreement { tid, buffer: 64, timeout: 0 }
}

impl Captures {
    /// Captures a frame that a radio sends or receives. The record has the time of the frame's start if it is sent, and
    /// of its end if it is received. Only data frames of captured flows are written, but all frames of routing and of
    /// the MAC.
    #[cold]
    pub(crate) fn on_air(&mut self, on: InterfaceId, frame: &AirFrame<'_>) {
        let Some(file) = self.on_air[on.index()].filter(|_| self.error.is_none()) else { return };
        if let FrameContents::Data { content: Content::Packet(packet, _), .. } = frame.form {
            if !self.wants(packet.to) {
                return;
            }
            if let Err(error) = self.write_secrets(file, packet) {
                self.error = Some((self.files[file].name.clone(), error));
                return;
            }
        }
        let time = match frame.direction {
            Direction::Inbound => frame.start + frame.length,
            _ => frame.start,
        };
        let record = CaptureRecord::Frame(self.record(frame));
        let (direction, comment) = (frame.direction, String::new());
        self.files[file].pending.add(CapturedPacket { at: time, direction, record, comment, awaits: None });
        self.write_known(file);
    }

    /// Returns the bytes of a frame after its radiotap header.
    fn record(&mut self, frame: &AirFrame<'_>) -> Vec<u8> {
        let transmitter = Address::of_node(frame.from.0);
        let header = |sequence, is_retry| {
            let bssid = Address::of_network(frame.network);
            FrameHeader { transmitter, bssid, sequence, is_retry }
        };
        let mut payload = Vec::new();
        let body = match frame.form {
            FrameContents::Data { sequence, is_retry, qos, content } => {
                let ethertype = self.payload_of(frame, content, &mut payload);
                FrameBody::Data { header: header(sequence, is_retry), qos, ethertype, payload: &payload }
            }
            FrameContents::Rts => FrameBody::Rts { transmitter },
            FrameContents::Cts => FrameBody::Cts,
            FrameContents::Ack => FrameBody::Ack,
            FrameContents::BlockAckRequest { tid, start } => FrameBody::BlockAckRequest { transmitter, tid, start },
            FrameContents::BlockAck { tid, start, bitmap } => FrameBody::BlockAck { transmitter, tid, start, bitmap },
            FrameContents::AddBlockAckRequest { sequence, is_retry, tid, start } => {
                let action = ActionFrame::Request { token: TOKEN, agreement: agreement(tid), start };
                FrameBody::Action { header: header(sequence, is_retry), action }
            }
            FrameContents::AddBlockAckResponse { sequence, is_retry, tid } => {
                let action = ActionFrame::Response { token: TOKEN, status: ACCEPTED, agreement: agreement(tid) };
                FrameBody::Action { header: header(sequence, is_retry), action }
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

    /// Encodes the contents of a data frame into `payload`, and returns their type.
    fn payload_of(&mut self, frame: &AirFrame<'_>, content: Content<'_>, payload: &mut Vec<u8>) -> EtherType {
        match content {
            Content::Packet(packet, extra) => {
                let mut ethertype = match self.ip {
                    IpVersion::V4 => EtherType::IPV4,
                    IpVersion::V6 => EtherType::IPV6,
                };
                if let RoutingHeader::Gpsr(header) = extra {
                    routing::gpsr::encode(payload, &header);
                    ethertype = routing::gpsr::ETHERTYPE;
                }
                let contents = self.quic.as_ref().and_then(|quic| quic.contents(packet));
                self.put(packet, contents.as_ref(), packet.ttl);
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
                let mac = match operation {
                    Operation::Request => Address([0; 6]),
                    Operation::Reply => target.0,
                };
                let arp = Arp { operation, sender, target: (mac, target.1) };
                payload.extend_from_slice(&arp.encode());
                EtherType::ARP
            }
        }
    }
}

/// Rounds a power in dBm to an integer, for a field of the radiotap header.
fn whole_dbm(dbm: f64) -> i8 {
    libm::round(dbm).clamp(f64::from(i8::MIN), f64::from(i8::MAX)) as i8
}

#[cfg(test)]
mod tests;
