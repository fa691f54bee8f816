//! Frames, and what travels in them.

use super::aggregate::Mpdu;
use super::hearing::Sent;
use crate::class::Class;
use crate::phy::Mode;
use lightlag_core::{Duration, Instant};
use lightlag_net::StationId;
use lightlag_net::medium::Addressee;
use std::cmp::{Ordering, Reverse};

/// Another station, and a class of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Peer {
    pub(super) station: StationId,
    pub(super) class: usize,
}

/// A packet for the medium.
#[derive(Clone, Debug)]
pub struct Msdu<P> {
    /// Its addressee.
    pub to: Addressee,
    /// Bytes of the packet at the network layer.
    pub size: u32,
    /// Its access class; without EDCA all are the same.
    pub class: Class,
    /// The packet.
    pub payload: P,
}

/// The kind of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It carries a packet.
    Data,
    /// It acknowledges one.
    Ack,
    /// It asks for the medium.
    Rts,
    /// It grants it.
    Cts,
    /// It asks which packets have arrived, and tells the first one that may still come.
    BlockAckRequest,
    /// It tells which have.
    BlockAck,
    /// It asks for an agreement about block acknowledgements, from a sequence number on.
    AddBlockAckRequest,
    /// It accepts one.
    AddBlockAckResponse,
}

/// A frame as a station sends or understands it, for captures.
#[derive(Clone, Debug)]
pub struct Aired<P> {
    /// This station.
    pub at: StationId,
    /// The station that sent it.
    pub from: StationId,
    /// Its addressee.
    pub to: Addressee,
    /// Its kind.
    pub kind: Kind,
    /// Its access class.
    pub class: Class,
    /// Its rate.
    pub mode: Mode,
    /// When it starts at this station.
    pub start: Instant,
    /// How long it takes.
    pub length: Duration,
    /// How long the medium is reserved behind it.
    pub reserves: Duration,
    /// The number of the packet among those of its sender, or for its receiver under block acknowledgements, from 1 on; the
    /// first one that a block acknowledgement, or a request for one, is about.
    pub packet: u64,
    /// Bit n of a block acknowledgement: whether the packet n after the first one arrived. Of a frame about an agreement: its
    /// number among those of its sender.
    pub bitmap: u64,
    /// The number of the A-MPDU of which it is a part, and whether it is the last there.
    pub aggregate: Option<(u64, bool)>,
    /// Whether it repeats one.
    pub is_retry: bool,
    /// The packet.
    pub payload: Option<P>,
    /// Power at which it was received, in dBm; none where it was sent.
    pub power_dbm: Option<f64>,
    /// Power of the noise, in dBm.
    pub noise_dbm: f64,
}

/// A frame on the air. The greatest is the one that ends first, and of those the first that was sent.
#[derive(Debug)]
pub(super) struct OnAir<P> {
    /// When it starts at its sender.
    pub(super) start: Instant,
    /// When it ends at the last of its hearers.
    pub(super) end: Instant,
    /// Its number among all frames.
    pub(super) number: u64,
    pub(super) frame: Box<Frame<P>>,
}

impl<P> OnAir<P> {
    fn order(&self) -> Reverse<(Instant, u64)> {
        Reverse((self.end, self.number))
    }
}

impl<P> PartialEq for OnAir<P> {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl<P> Eq for OnAir<P> {}

impl<P> PartialOrd for OnAir<P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<P> Ord for OnAir<P> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

/// A frame on the air, with its sender and its receivers.
#[derive(Clone, Debug)]
pub(super) struct Frame<P> {
    pub(super) from: StationId,
    pub(super) to: Addressee,
    pub(super) kind: Kind,
    pub(super) sent: Sent,
    /// Its number among the frames of its sender.
    pub(super) number: u64,
    /// The number of the packet among those of its sender, the same for each try.
    pub(super) packet: u64,
    /// Its number among those for its receiver under a block acknowledgement, and 0 otherwise; the first one that a block
    /// acknowledgement, or a request for one, is about.
    pub(super) sequence: u64,
    pub(super) bitmap: u64,
    /// The MPDUs of an A-MPDU.
    pub(super) mpdus: Vec<Mpdu<P>>,
    /// The index of its class.
    pub(super) class: usize,
    /// The ratio of signal to noise with which the frame that it answers arrived.
    pub(super) answered: Option<f64>,
    /// The number of its exchange, the same as that of the frame that it answers.
    pub(super) exchange: u64,
    pub(super) length: Duration,
    pub(super) is_retry: bool,
    /// How long the medium is reserved behind it.
    pub(super) reserves: Duration,
    /// The stations that hear it.
    pub(super) hearers: Vec<StationId>,
    /// The packet, if it is for all, whose sender has forgotten it when the frame ends elsewhere, or if somebody watches.
    pub(super) payload: Option<P>,
}
