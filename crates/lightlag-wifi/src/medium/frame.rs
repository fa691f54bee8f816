//! Frames and their contents.

use super::aggregate::Mpdu;
use super::hearing::Sent;
use crate::class::Class;
use crate::phy::PhyMode;
use lightlag_core::{Duration, Instant};
use lightlag_net::StationId;
use lightlag_net::medium::Addressee;
use std::cmp::{Ordering, Reverse};

/// Another station and a class of packets, which together have one block acknowledgement agreement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Peer {
    pub(super) station: StationId,
    pub(super) class: usize,
}

/// A packet that is handed to the medium.
#[derive(Clone, Debug)]
pub struct Msdu<P> {
    /// Destination of the packet on the medium: one station or all.
    pub to: Addressee,
    /// Size of the packet at the network layer, in bytes.
    pub size: u32,
    /// Access class of the packet; ignored without EDCA.
    pub class: Class,
    /// The packet.
    pub payload: P,
}

/// The kind of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameKind {
    /// Carries a packet.
    Data,
    /// Acknowledges a packet.
    Ack,
    /// Request to send: reserves the medium.
    Rts,
    /// Clear to send: grants the medium.
    Cts,
    /// Requests a block acknowledgement, and states the first packet that may still arrive.
    BlockAckRequest,
    /// Block acknowledgement: reports which packets have arrived.
    BlockAck,
    /// Requests a block acknowledgement agreement, starting at a sequence number.
    AddBlockAckRequest,
    /// Accepts a block acknowledgement agreement.
    AddBlockAckResponse,
}

/// A frame as a station sends or decodes it, for captures.
#[derive(Clone, Debug)]
pub struct Aired<P> {
    /// The station that sent or decoded the frame.
    pub at: StationId,
    /// The station that sent it.
    pub from: StationId,
    /// Destination of the frame.
    pub to: Addressee,
    /// Kind of the frame.
    pub kind: FrameKind,
    /// Access class of the frame.
    pub class: Class,
    /// Mode in which the frame was sent.
    pub mode: PhyMode,
    /// Start of the frame at the station `at`.
    pub start: Instant,
    /// Duration of the frame.
    pub length: Duration,
    /// Time after the frame for which it reserves the medium.
    pub reserves: Duration,
    /// Sequence number of the packet, starting at 1: among all packets of its sender, or among those for its receiver
    /// if block acknowledgements are used. In a block acknowledgement or a request for one, the first sequence number
    /// that it covers.
    pub packet: u64,
    /// In a block acknowledgement, bit n is set if the packet n after the first one arrived. In a frame that negotiates
    /// an agreement, the index among its sender's management frames.
    pub bitmap: u64,
    /// For an MPDU of an A-MPDU: ID of the A-MPDU, and whether the MPDU is its last.
    pub aggregate: Option<(u64, bool)>,
    /// Whether the frame is a retransmission.
    pub is_retry: bool,
    /// The packet in the frame, if it carries one.
    pub payload: Option<P>,
    /// Received power in dBm; `None` at the sender.
    pub power_dbm: Option<f64>,
    /// Noise power in dBm.
    pub noise_dbm: f64,
}

/// A frame on the air. The greatest in the order is the one that ends first, and among equal ones the one that was sent
/// first.
#[derive(Debug)]
pub(super) struct OnAir<P> {
    /// Start of the frame at its sender.
    pub(super) start: Instant,
    /// End of the frame at the last of its receivers.
    pub(super) end: Instant,
    /// Index of the frame among all frames of the medium.
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
    pub(super) kind: FrameKind,
    pub(super) sent: Sent,
    /// Index of the frame among the frames of its sender.
    pub(super) number: u64,
    /// Index of the packet at its sender; a retransmission has the same one.
    pub(super) packet: u64,
    /// Sequence number of the packet for its receiver if block acknowledgements are used, otherwise 0. In a block
    /// acknowledgement or a request for one, the first sequence number that it covers.
    pub(super) sequence: u64,
    pub(super) bitmap: u64,
    /// MPDUs of the frame, if it is an A-MPDU.
    pub(super) mpdus: Vec<Mpdu<P>>,
    /// Index of the access class.
    pub(super) class: usize,
    /// Signal-to-noise ratio of the frame that it answers, where that frame was received.
    pub(super) answered: Option<f64>,
    /// ID of the exchange; a frame and the reply to it have the same one.
    pub(super) exchange: u64,
    pub(super) length: Duration,
    pub(super) is_retry: bool,
    /// Time after the frame for which it reserves the medium.
    pub(super) reserves: Duration,
    /// The stations that receive the frame.
    pub(super) hearers: Vec<StationId>,
    /// The packet. Present if frames are reported, or if the frame is a broadcast, because its sender discards the
    /// packet before the frame has ended at all receivers.
    pub(super) payload: Option<P>,
}
