//! The ECN field of the IP header: the only field of a packet that queues and transports both read and write.

/// The ECN field of the IP header (RFC 3168 §5).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Codepoint {
    /// The transport does not support ECN: a queue can only drop.
    #[default]
    NotEct = 0b00,
    /// ECT(1): understands marks and requests the low-latency treatment of L4S (RFC 9331 §2).
    Ect1 = 0b01,
    /// ECT(0): understands marks.
    Ect0 = 0b10,
    /// A queue on the path has marked the packet.
    Ce = 0b11,
}

impl Codepoint {
    /// Returns true if a queue may mark the packet instead of dropping it.
    pub fn is_capable(self) -> bool {
        self != Self::NotEct
    }

    /// Returns true if the packet belongs in a low-latency queue: ECT(1), and CE, which may have been ECT(1) (RFC 9331
    /// §5.1).
    pub fn is_low_latency(self) -> bool {
        matches!(self, Self::Ect1 | Self::Ce)
    }
}
