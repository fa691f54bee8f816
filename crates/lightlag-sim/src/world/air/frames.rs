//! Frames of a medium, as captures write them.

use crate::media::{Load, Nodes};
use crate::tap::Tap;
use crate::tap::capture::air::{AirFrame, Content, Form, Radio};
use lightlag_routing::{Receiver, arp};
use lightlag_wifi::phy::{Format, Guard, Mode, Width};
use lightlag_wifi::{Aired, Kind, To};
use lightlag_wire::arp::Operation;
use lightlag_wire::capture::Direction;
use lightlag_wire::dot11::radiotap::{self, Aggregate, Modulation};
use lightlag_wire::dot11::{AckPolicy, Qos, Sequence, Tid};

/// Tells a tap of a frame.
pub(super) fn tell(nodes: &Nodes, medium: usize, aired: &Aired<Load>, tap: &mut impl Tap) {
    let node = |station| nodes.node(medium, station);
    let to = match aired.to {
        To::All => Receiver::All,
        To::One(station) => Receiver::One(node(station)),
    };
    let content = match &aired.payload {
        Some(Load::Packet(parcel)) => Some(Content::Packet(&parcel.packet, parcel.extra)),
        Some(Load::Routing(message, ttl)) => Some(Content::Message(message, *ttl)),
        Some(Load::Address(packet)) => {
            let operation = match packet.operation {
                arp::Operation::Request => Operation::Request,
                arp::Operation::Reply => Operation::Reply,
            };
            Some(Content::Arp(operation, packet.target))
        }
        None => None,
    };
    let tid = Tid::new(aired.class.priority()).expect("a priority is a TID");
    let first = Sequence::new(aired.packet);
    let form = match (aired.kind, content) {
        (Kind::Data, Some(content)) => {
            let ack = if aired.to == To::All { AckPolicy::No } else { AckPolicy::Normal };
            let qos = nodes.has_qos(medium).then_some(Qos { tid, ack });
            Form::Data { sequence: first, is_retry: aired.is_retry, qos, content }
        }
        (Kind::Data, None) => return,
        (Kind::BlockAckRequest, _) => Form::BlockAckRequest { tid, start: first },
        (Kind::AddBlockAckRequest, _) => Form::AddBlockAckRequest {
            sequence: Sequence::new(aired.bitmap),
            is_retry: aired.is_retry,
            tid,
            start: first,
        },
        (Kind::AddBlockAckResponse, _) => {
            Form::AddBlockAckResponse { sequence: Sequence::new(aired.bitmap), is_retry: aired.is_retry, tid }
        }
        (Kind::BlockAck, _) => Form::BlockAck { tid, start: first, bitmap: aired.bitmap },
        (Kind::Ack, _) => Form::Ack,
        (Kind::Rts, _) => Form::Rts,
        (Kind::Cts, _) => Form::Cts,
    };
    let radio = Radio {
        frequency_mhz: (nodes.media[medium].medium.frequency() / 1e6) as u16,
        modulation: modulation(aired.mode),
        signal_dbm: aired.power_dbm,
        noise_dbm: aired.noise_dbm,
        aggregate: aired.aggregate.map(|(number, is_last)| Aggregate { number: number as u32, is_last }),
    };
    let frame = AirFrame {
        start: aired.start,
        length: aired.length,
        direction: if aired.power_dbm.is_none() { Direction::Outbound } else { Direction::Inbound },
        network: medium as u32,
        from: node(aired.from),
        to,
        reserves: aired.reserves,
        radio,
        form,
    };
    tap.aired(nodes.interface(medium, aired.at), &frame);
}

fn modulation(mode: Mode) -> Modulation {
    let width = match mode.width() {
        Width::Mhz20 => radiotap::Width::Mhz20,
        Width::Mhz40 => radiotap::Width::Mhz40,
        Width::Mhz80 => radiotap::Width::Mhz80,
    };
    let guard = match mode.guard() {
        Guard::Long => radiotap::Guard::Long,
        Guard::Short | Guard::ShortUnrounded => radiotap::Guard::Short,
    };
    let (index, streams, coding) = (mode.index() as u8, mode.streams() as u8, radiotap::Coding::Bcc);
    match mode.format() {
        Format::Legacy => Modulation::Legacy(mode.rate()),
        Format::Ht => Modulation::Ht { mcs: index + 8 * (streams - 1), width, guard, coding },
        Format::Vht => Modulation::Vht { mcs: index, streams, width, guard, coding },
    }
}
