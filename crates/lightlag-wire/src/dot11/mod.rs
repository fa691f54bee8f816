//! 802.11 frames (IEEE 802.11-2020), as on the air and in captures.
//!
//! A [`Frame`] represents the frames that an ad hoc network uses: data with and without QoS, RTS, CTS, ACK, block
//! acknowledgement, and the action frames that negotiate it. [`encode`] writes a frame with a correct frame check
//! sequence, and [`decode`] parses it. [`radiotap`] has the header that captures add before a frame.
//!
//! [`Msdu::find`] finds the network packet in a captured data frame of any network, with an access point or without;
//! [`Duplicates`] recognises retransmitted frames, and [`Relayed`] recognises relayed packets.
//!
//! Fragments, frames with several packets (A-MSDU) and encrypted frames are not parsed.

use lightlag_core::Duration;
use std::fmt;

mod duplicates;
mod fcs;
mod msdu;
pub mod radiotap;
mod read;
mod relayed;
#[cfg(test)]
mod tests;
mod write;

pub use duplicates::Duplicates;
pub use fcs::{FCS_LEN, fcs};
pub use msdu::{EtherType, Msdu};
pub use read::decode;
pub use relayed::Relayed;
pub use write::encode;

/// A MAC address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Address(pub [u8; 6]);

impl Address {
    /// The broadcast address.
    pub const BROADCAST: Self = Self([0xff; 6]);

    /// Returns the address of the node with this index, from 0: 02:00:00:00:00:01 for the first node, whose IPv4
    /// address is 10.0.0.1. The address is locally administered (§9.2.2 of IEEE 802-2014).
    #[must_use]
    pub const fn of_node(number: u32) -> Self {
        let [a, b, c, d] = (number.wrapping_add(1)).to_be_bytes();
        Self([2, 0, a, b, c, d])
    }

    /// Returns the BSSID of the ad hoc network with this index. It is an individual, locally administered address, as
    /// §9.2.4.3.4 requires for an IBSS.
    #[must_use]
    pub const fn of_network(number: u32) -> Self {
        let [a, b, c, d] = number.to_be_bytes();
        Self([6, 0, a, b, c, d])
    }

    /// Returns true if it is a group address.
    #[must_use]
    pub const fn is_group(self) -> bool {
        self.0[0] & 1 != 0
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// An 802.11 sequence number of 12 bits (§9.2.4.4.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Sequence(u16);

impl Sequence {
    /// Returns the sequence number of the frame with this index from 0, modulo 4096.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self((number % 4096) as u16)
    }

    /// Returns the value, 0 to 4095.
    #[must_use]
    pub const fn value(self) -> u16 {
        self.0
    }

    /// Returns the distance from an earlier sequence number, modulo 4096.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u16 {
        self.0.wrapping_sub(earlier.0) % 4096
    }
}

/// A traffic identifier (§9.2.4.5.2): 0 to 7 are user priorities, 8 to 15 identify streams.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Tid(u8);

impl Tid {
    /// Returns the identifier with this value; `None` if it is above 15.
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        if number < 16 { Some(Self(number)) } else { None }
    }

    /// Returns the value, 0 to 15.
    #[must_use]
    pub const fn value(self) -> u8 {
        self.0
    }
}

/// A frame of an ad hoc network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame<'a> {
    /// Time for which the frame reserves the medium after its end, at most [`Frame::LONGEST`]. On the air, it is
    /// rounded up to integer microseconds (§9.2.5).
    pub duration: Duration,
    /// Address of the receiving station.
    pub receiver: Address,
    /// The fields that depend on the kind of frame.
    pub body: FrameBody<'a>,
}

impl Frame<'_> {
    /// Maximum reservation of the medium (§9.2.4.2).
    pub const LONGEST: Duration = Duration::from_micros(32_767);
}

/// The fields of a frame that depend on its kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameBody<'a> {
    /// Data (§9.3.2.1).
    Data {
        /// The header fields that data and management frames share.
        header: FrameHeader,
        /// The QoS control field; `None` for a frame without QoS.
        qos: Option<Qos>,
        /// EtherType of the payload.
        ethertype: EtherType,
        /// The packet after the LLC and SNAP headers.
        payload: &'a [u8],
    },
    /// A management frame that requests, or replies to, a block acknowledgement agreement (§9.6.4).
    Action {
        /// The header fields that data and management frames share.
        header: FrameHeader,
        /// Contents of the action frame.
        action: ActionFrame,
    },
    /// Request to send (§9.3.1.2).
    Rts {
        /// Address of the sending station.
        transmitter: Address,
    },
    /// Clear to send (§9.3.1.3).
    Cts,
    /// Acknowledgement (§9.3.1.4).
    Ack,
    /// Request for a compressed block acknowledgement (§9.3.1.7).
    BlockAckRequest {
        /// Address of the sending station.
        transmitter: Address,
        /// Traffic identifier of the requested frames.
        tid: Tid,
        /// Sequence number of the first requested frame.
        start: Sequence,
    },
    /// Compressed block acknowledgement (§9.3.1.8).
    BlockAck {
        /// Address of the sending station.
        transmitter: Address,
        /// Traffic identifier of the acknowledged frames.
        tid: Tid,
        /// Sequence number of the frame that bit 0 stands for.
        start: Sequence,
        /// Bitmap: bit n is set if the frame n after `start` has arrived.
        bitmap: u64,
    },
}

/// The header fields that data and management frames share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameHeader {
    /// Address of the sending station.
    pub transmitter: Address,
    /// BSSID of the network.
    pub bssid: Address,
    /// Sequence number of the packet in the frame.
    pub sequence: Sequence,
    /// Whether the frame is a retransmission.
    pub is_retry: bool,
}

/// The QoS control field (§9.2.4.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Qos {
    /// Traffic identifier of the frame.
    pub tid: Tid,
    /// The acknowledgement that the frame requests.
    pub ack: AckPolicy,
}

/// The acknowledgement that a QoS data frame requests (table 9-9).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AckPolicy {
    /// An ACK or, in an A-MPDU, a block acknowledgement.
    Normal,
    /// No acknowledgement.
    No,
    /// No explicit acknowledgement, or PSMP.
    Other,
    /// A block acknowledgement: the receiver records the frame, and replies to a later request.
    Block,
}

/// An action frame in the category block ack (§9.6.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ActionFrame {
    /// ADDBA request: proposes an agreement with immediate block acknowledgement.
    Request {
        /// Dialog token, which associates the response with the request.
        token: u8,
        /// Proposed terms.
        agreement: Agreement,
        /// Sequence number of the first frame under the agreement.
        start: Sequence,
    },
    /// ADDBA response, which accepts or rejects a request.
    Response {
        /// Dialog token of the request.
        token: u8,
        /// Status code; 0 means accepted (§9.4.1.9).
        status: u16,
        /// Terms of the agreement.
        agreement: Agreement,
    },
}

/// The terms of a block acknowledgement agreement (§9.4.1.13).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Agreement {
    /// Traffic identifier of the frames under the agreement.
    pub tid: Tid,
    /// Number of frames that the receiver can buffer, below 1024.
    pub buffer: u16,
    /// Time without traffic before the agreement ends, in units of 1024 µs; 0 means never.
    pub timeout: u16,
}

/// The reasons why bytes are not a [`Frame`] or an [`Msdu`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FrameError {
    /// The bytes end within a header or a field.
    #[error("the frame is cut: {needed} bytes are needed, but only {present} are present")]
    Truncated {
        /// Number of bytes that the header requires.
        needed: usize,
        /// Number of bytes present.
        present: usize,
    },
    /// The frame check sequence is wrong.
    #[error("the frame check sequence is {found:08x}, but the frame requires {right:08x}")]
    BadFcs {
        /// The value in the frame.
        found: u32,
        /// The correct value.
        right: u32,
    },
    /// The protocol version is not 0.
    #[error("802.11 version {0} is not 0")]
    Version(u8),
    /// A frame of an unsupported type.
    #[error("a frame of type {kind} and subtype {subtype} is not supported")]
    Unknown {
        /// Type of the frame: 0 management, 1 control, 2 data.
        kind: u8,
        /// Subtype of the frame.
        subtype: u8,
    },
    /// A frame with unsupported contents.
    #[error("the frame is {0}, which is not supported")]
    Unread(&'static str),
    /// A radiotap header with an impossible length, or with a version other than 0.
    #[error("the radiotap header is {0}")]
    Radiotap(&'static str),
}
