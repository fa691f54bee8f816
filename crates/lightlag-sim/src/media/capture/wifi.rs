//! Frames of an 802.11 channel, as they are written to captures.

use crate::media::FramePayload;
use crate::media::air::interface;
use crate::tap::Tap;
use crate::tap::capture::air::{AirFrame, Content, FrameContents, Radio};
use lightlag_net::medium::Addressee;
use lightlag_net::{InterfaceId, NodeId, StationId};
use lightlag_routing::{Receiver, arp};
use lightlag_wifi::phy::{Format, Guard, PhyMode, Width};
use lightlag_wifi::{Aired, FrameKind, Wifi};
use lightlag_wire::arp::Operation;
use lightlag_wire::capture::Direction;
use lightlag_wire::dot11::radiotap::{self, Aggregate, Modulation};
use lightlag_wire::dot11::{AckPolicy, Qos, Sequence, Tid};

/// Reports the frames of watched stations to a tap. `number` is the index of the medium, `nodes` are the nodes of its
/// stations, and `first` is the interface of the first station.
pub(super) fn report(
    wifi: &mut Wifi<FramePayload>,
    number: usize,
    nodes: &[NodeId],
    first: InterfaceId,
    tap: &mut impl Tap,
) {
    while let Some(aired) = wifi.next_aired() {
        let channel = Channel { number, has_qos: wifi.has_classes(), frequency: wifi.frequency() };
        report_frame(&channel, nodes, interface(first, aired.at), &aired, tap);
    }
}

/// Properties of a channel that are visible in its frames.
struct Channel {
    /// Index of the medium, which determines the BSSID.
    number: usize,
    /// Whether data frames have a QoS class.
    has_qos: bool,
    /// Centre frequency of the channel in hertz.
    frequency: f64,
}

/// Reports a frame at an interface to a tap; `nodes` are the nodes of the stations.
fn report_frame(
    channel: &Channel,
    nodes: &[NodeId],
    interface: InterfaceId,
    aired: &Aired<FramePayload>,
    tap: &mut impl Tap,
) {
    let node = |station: StationId| nodes[station.index()];
    let to = match aired.to {
        Addressee::All => Receiver::All,
        Addressee::One(station) => Receiver::One(node(station)),
    };
    let content = match &aired.payload {
        Some(FramePayload::Packet(parcel)) => Some(Content::Packet(&parcel.packet, parcel.extra)),
        Some(FramePayload::Routing(message, ttl)) => Some(Content::Message(message, *ttl)),
        Some(FramePayload::Address(packet)) => {
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
        (FrameKind::Data, Some(content)) => {
            let ack = if aired.to == Addressee::All { AckPolicy::No } else { AckPolicy::Normal };
            let qos = channel.has_qos.then_some(Qos { tid, ack });
            FrameContents::Data { sequence: first, is_retry: aired.is_retry, qos, content }
        }
        (FrameKind::Data, None) => return,
        (FrameKind::BlockAckRequest, _) => FrameContents::BlockAckRequest { tid, start: first },
        (FrameKind::AddBlockAckRequest, _) => FrameContents::AddBlockAckRequest {
            sequence: Sequence::new(aired.bitmap),
            is_retry: aired.is_retry,
            tid,
            start: first,
        },
        (FrameKind::AddBlockAckResponse, _) => {
            FrameContents::AddBlockAckResponse { sequence: Sequence::new(aired.bitmap), is_retry: aired.is_retry, tid }
        }
        (FrameKind::BlockAck, _) => FrameContents::BlockAck { tid, start: first, bitmap: aired.bitmap },
        (FrameKind::Ack, _) => FrameContents::Ack,
        (FrameKind::Rts, _) => FrameContents::Rts,
        (FrameKind::Cts, _) => FrameContents::Cts,
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
    tap.aired(interface, &frame);
}

fn modulation(mode: PhyMode) -> Modulation {
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
