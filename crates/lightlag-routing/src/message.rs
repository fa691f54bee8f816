//! The control messages of all protocols.

use crate::{aodv, dsdv, gpsr, olsr};
use std::sync::Arc;

/// The UDP port of messages of routers from outside: the first of those for experiments (RFC 4727 §6).
pub const OWN_PORT: u16 = 1021;

/// A control message.
#[derive(Clone, PartialEq, Debug)]
pub enum Message {
    /// A message of AODV, UDP port 654.
    Aodv(aodv::Message),
    /// A packet of OLSR, UDP port 698.
    Olsr(olsr::Packet),
    /// An update of DSDV, UDP port 269.
    Dsdv(dsdv::Update),
    /// A beacon of GPSR.
    Gpsr(gpsr::Beacon),
    /// A message of a router from outside, in its form, UDP port 1021.
    Own(Arc<[u8]>),
}

/// The kind of a control message, for counters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A route request of AODV.
    RouteRequest,
    /// A route reply of AODV.
    RouteReply,
    /// A route error of AODV.
    RouteError,
    /// The acknowledgement of a route reply of AODV.
    ReplyAck,
    /// A HELLO of AODV or OLSR.
    Hello,
    /// A TC of OLSR.
    TopologyControl,
    /// A full dump of DSDV.
    FullDump,
    /// An incremental update of DSDV.
    Update,
    /// A beacon of GPSR.
    Beacon,
    /// A message of a router from outside.
    Own,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::RouteRequest,
        Self::RouteReply,
        Self::RouteError,
        Self::ReplyAck,
        Self::Hello,
        Self::TopologyControl,
        Self::FullDump,
        Self::Update,
        Self::Beacon,
        Self::Own,
    ];

    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::RouteRequest => "rreq",
            Self::RouteReply => "rrep",
            Self::RouteError => "rerr",
            Self::ReplyAck => "rrep_ack",
            Self::Hello => "hello",
            Self::TopologyControl => "tc",
            Self::FullDump => "dump",
            Self::Update => "update",
            Self::Beacon => "beacon",
            Self::Own => "own",
        }
    }
}

impl Message {
    /// The payload of its UDP datagram, in bytes.
    pub fn size(&self) -> u32 {
        match self {
            Self::Aodv(message) => message.size(),
            Self::Olsr(packet) => packet.size(),
            Self::Dsdv(update) => update.size(),
            Self::Gpsr(_) => gpsr::Beacon::SIZE,
            Self::Own(payload) => payload.len() as u32,
        }
    }

    /// The port to and from which its datagram goes.
    pub fn port(&self) -> u16 {
        match self {
            Self::Aodv(_) => aodv::PORT,
            Self::Olsr(_) => olsr::PORT,
            Self::Dsdv(_) => dsdv::PORT,
            Self::Gpsr(_) => gpsr::PORT,
            Self::Own(_) => OWN_PORT,
        }
    }

    /// The kinds of the messages in its datagram, with the bytes of each.
    pub(crate) fn kinds(&self, mut each: impl FnMut(Kind, u32)) {
        match self {
            Self::Aodv(message) => each(message.kind(), message.size()),
            Self::Olsr(packet) => packet.messages.iter().for_each(|message| each(message.kind(), message.size())),
            Self::Dsdv(update) => each(update.kind(), update.size()),
            Self::Gpsr(_) => each(Kind::Beacon, gpsr::Beacon::SIZE),
            Self::Own(payload) => each(Kind::Own, payload.len() as u32),
        }
    }
}
