//! Notes about packets, for a log of the connection.

use super::Connection;
use crate::kind::{Kind, SpaceId};
use crate::sent::{SentFlags, SentPacket};
use lightlag_core::Instant;

/// Rule by which a packet was declared lost (RFC 9002 §6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossRule {
    /// A packet sent sufficiently later was acknowledged.
    PacketThreshold,
    /// A later packet was acknowledged, and the packet was sent too long ago.
    TimeThreshold,
    /// A probe timeout declares the packet lost.
    ProbeTimeout,
}

/// A packet that was declared lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LostPacket {
    /// Packet type.
    pub kind: Kind,
    /// Packet number.
    pub number: u64,
    /// Rule that detected the loss.
    pub rule: LossRule,
}

/// Notes since the owner last cleared them.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// Packets declared lost, including probes of the path MTU.
    pub lost: Vec<LostPacket>,
    /// For each QUIC packet that arrived, whether it was processed. Packets without stored contents, and those that
    /// arrive after the end of the connection, have no entry.
    pub processed: Vec<bool>,
}

impl Connection {
    /// Enables [`Notes`]. The owner has to clear them regularly.
    pub fn take_notes(&mut self) {
        self.notes = Some(Box::default());
    }

    /// Returns the notes; `None` without [`Self::take_notes`].
    pub fn notes_mut(&mut self) -> Option<&mut Notes> {
        self.notes.as_deref_mut()
    }

    /// Returns the parameters of the peer; `None` until its first handshake message has arrived.
    pub fn peer_parameters(&self) -> Option<&super::Parameters> {
        self.knows_peer.then_some(&self.peer)
    }

    /// Notes that a packet is declared lost.
    #[cold]
    pub(super) fn note_loss(&mut self, now: Instant, id: SpaceId, number: u64, packet: &SentPacket) {
        let largest = self.spaces[id as usize].sent.largest_acked().filter(|largest| *largest > number);
        let rule = match largest {
            Some(largest) if largest >= number + self.packet_threshold => LossRule::PacketThreshold,
            Some(_) if packet.time + self.loss_delay() <= now => LossRule::TimeThreshold,
            _ => LossRule::ProbeTimeout,
        };
        let kind = match id {
            SpaceId::Initial => Kind::Initial,
            SpaceId::Handshake => Kind::Handshake,
            SpaceId::Application if packet.flags.has(SentFlags::EARLY) => Kind::ZeroRtt,
            SpaceId::Application => Kind::OneRtt,
        };
        if let Some(notes) = &mut self.notes {
            notes.lost.push(LostPacket { kind, number, rule });
        }
    }
}
