//! Types of QUIC packets, and their number spaces.

/// Type of a QUIC packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
#[repr(u8)]
pub enum Kind {
    /// Long header, the first handshake messages.
    Initial,
    /// Long header, data under the keys of an earlier connection.
    ZeroRtt,
    /// Long header, the other handshake messages.
    Handshake,
    /// Long header, a token that the client has to return.
    Retry,
    /// Short header.
    #[default]
    OneRtt,
    /// A packet that looks like one with a short header, and ends a connection that its sender has lost.
    StatelessReset,
}

/// The three packet number spaces (RFC 9000 §12.3).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(usize)]
pub enum SpaceId {
    /// Initial packets.
    Initial,
    /// Handshake packets.
    Handshake,
    /// 0-RTT and 1-RTT packets.
    Application,
}

impl SpaceId {
    /// All spaces, in the order of their packets in a datagram.
    pub const ALL: [Self; 3] = [Self::Initial, Self::Handshake, Self::Application];
}

impl Kind {
    /// Returns the packet number space; `None` for packets without a number.
    #[inline(always)]
    pub fn space(self) -> Option<SpaceId> {
        match self {
            Self::Initial => Some(SpaceId::Initial),
            Self::Handshake => Some(SpaceId::Handshake),
            Self::ZeroRtt | Self::OneRtt => Some(SpaceId::Application),
            Self::Retry | Self::StatelessReset => None,
        }
    }

    /// Returns true if the packet has a long header.
    pub fn is_long(self) -> bool {
        !matches!(self, Self::OneRtt | Self::StatelessReset)
    }
}
