//! The control messages of all protocols.

pub mod aodv;
pub mod dsdv;
pub mod gpsr;
mod kind;
pub mod olsr;
mod sequence;

pub use kind::Kind;
pub use sequence::Sequence;

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
