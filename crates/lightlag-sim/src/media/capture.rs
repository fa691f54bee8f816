//! Frames of a medium, as captures write them.

use super::air::interface;
use super::{Air, AnyMedium, Load, Media};
use crate::tap::Tap;
use crate::tap::capture::air::{AirFrame, Content, Form, Radio};
use lightlag_net::medium::Addressee;
use lightlag_net::{InterfaceId, NodeId, StationId};
use lightlag_routing::{Receiver, arp};
use lightlag_wifi::phy::{Format, Guard, Mode, Width};
use lightlag_wifi::{Aired, Kind};
use lightlag_wire::arp::Operation;
use lightlag_wire::capture::Direction;
use lightlag_wire::dot11::radiotap::{self, Aggregate, Modulation};
use lightlag_wire::dot11::{AckPolicy, Qos, Sequence, Tid};

impl Media {
    /// Lets the media report the frames of these interfaces.
    pub(crate) fn watch(&mut self, interfaces: &[InterfaceId]) {
        for (number, air) in self.shared.iter_mut().enumerate() {
            let here = interfaces.iter().map(|interface| &self.interfaces[interface.index()]);
            air.medium.watch(here.filter(|interface| interface.medium == number).map(|interface| interface.station));
        }
    }

    /// Reports the frames of interfaces that are watched to a tap.
    pub(crate) fn report_frames(&mut self, tap: &mut impl Tap) {
        for (number, air) in self.shared.iter_mut().enumerate() {
            let Air { medium: AnyMedium::Wifi(wifi), nodes, first, .. } = air;
            while let Some(aired) = wifi.next_aired() {
                let channel = Channel { number, has_qos: wifi.has_classes(), frequency: wifi.frequency() };
                report(&channel, nodes, interface(*first, aired.at), &aired, tap);
            }
        }
    }
}

/// Facts of a channel that its frames show.
struct Channel {
    /// Its number among media, for its BSSID.
    number: usize,
    /// Whether frames of data name a class.
    has_qos: bool,
    /// The centre of the channel, in hertz.
    frequency: f64,
}

/// Reports a frame at an interface to a tap; `nodes` are those of the stations.
fn report(channel: &Channel, nodes: &[NodeId], at: InterfaceId, aired: &Aired<Load>, tap: &mut impl Tap) {
    let node = |station: StationId| nodes[station.index()];
    let to = match aired.to {
        Addressee::All => Receiver::All,
        Addressee::One(station) => Receiver::One(node(station)),
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
            let ack = if aired.to == Addressee::All { AckPolicy::No } else { AckPolicy::Normal };
            let qos = channel.has_qos.then_some(Qos { tid, ack });
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
        frequency_mhz: (channel.frequency / 1e6) as u16,
        modulation: modulation(aired.mode),
        signal_dbm: aired.power_dbm,
        noise_dbm: aired.noise_dbm,
        aggregate: aired.aggregate.map(|(number, is_last)| Aggregate { number: number as u32, is_last }),
    };
    let frame = AirFrame {
        start: aired.start,
        length: aired.length,
        direction: if aired.power_dbm.is_none() { Direction::Outbound } else { Direction::Inbound },
        network: channel.number as u32,
        from: node(aired.from),
        to,
        reserves: aired.reserves,
        radio,
        form,
    };
    tap.aired(at, &frame);
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
