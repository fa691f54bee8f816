//! Frames of 802.11 (IEEE 802.11-2020) as they stand on the air and in captures.
//!
//! A [`Frame`] holds the fields that an ad hoc network uses: data with and without QoS, RTS, CTS, ACK, block
//! acknowledgement, and the action frames that agree on it. [`encode`] writes the bytes with a correct frame check
//! sequence, [`decode`] reads them. [`radiotap`] is the header that captures put in front of a frame.
//!
//! [`Msdu::find`] finds the network packet in a captured data frame of any network, with an access point or without;
//! [`Duplicates`] tells retransmitted frames from new ones, [`Relayed`] packets that others pass on.
//!
//! Fragments, frames of several packets (A-MSDU) and encrypted frames are not opened.

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
    /// Every station.
    pub const BROADCAST: Self = Self([0xff; 6]);

    /// The address of the node with this number, from 0: 02:00:00:00:00:01 for the first, as its IPv4 address is
    /// 10.0.0.1. The address is administered locally (§9.2.2 of IEEE 802-2014).
    #[must_use]
    pub const fn of_node(number: u32) -> Self {
        let [a, b, c, d] = (number.wrapping_add(1)).to_be_bytes();
        Self([2, 0, a, b, c, d])
    }

    /// The BSSID of the ad hoc network with this number: an individual, locally administered address, as §9.2.4.3.4
    /// asks of an IBSS.
    #[must_use]
    pub const fn of_network(number: u32) -> Self {
        let [a, b, c, d] = number.to_be_bytes();
        Self([6, 0, a, b, c, d])
    }

    /// Whether it addresses several stations.
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

/// A sequence number of 802.11, of 12 bits (§9.2.4.4.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Sequence(u16);

impl Sequence {
    /// The sequence number of the frame with this number from 0, which is taken modulo 4096.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self((number % 4096) as u16)
    }

    /// Its value.
    #[must_use]
    pub const fn value(self) -> u16 {
        self.0
    }

    /// Its distance from an earlier number, modulo 4096.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u16 {
        self.0.wrapping_sub(earlier.0) % 4096
    }
}

/// A traffic identifier (§9.2.4.5.2): 0 to 7 are user priorities, 8 to 15 name streams.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Tid(u8);

impl Tid {
    /// `None` above 15.
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        if number < 16 { Some(Self(number)) } else { None }
    }

    /// Its value.
    #[must_use]
    pub const fn value(self) -> u8 {
        self.0
    }
}

/// A frame of an ad hoc network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame<'a> {
    /// The time for which the frame reserves the medium after its end: whole microseconds on the air, rounded up
    /// (§9.2.5), at most [`Frame::LONGEST`].
    pub duration: Duration,
    /// The station that the frame addresses.
    pub receiver: Address,
    /// The rest, by the kind of the frame.
    pub body: Body<'a>,
}

impl Frame<'_> {
    /// The longest reservation (§9.2.4.2).
    pub const LONGEST: Duration = Duration::from_micros(32_767);
}

/// The parts of a frame that depend on its kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body<'a> {
    /// Data (§9.3.2.1).
    Data {
        /// The fields that data and management frames share.
        header: Header,
        /// The QoS control field; a frame without it is of the older subtype.
        qos: Option<Qos>,
        /// The type of the payload.
        ethertype: EtherType,
        /// The packet after the header of LLC and SNAP.
        payload: &'a [u8],
    },
    /// A management frame that asks for, or answers, a block acknowledgement agreement (§9.6.4).
    Action {
        /// The fields that data and management frames share.
        header: Header,
        /// Its contents.
        action: Action,
    },
    /// Request to send (§9.3.1.2).
    Rts {
        /// The station that sends it.
        transmitter: Address,
    },
    /// Clear to send (§9.3.1.3).
    Cts,
    /// Acknowledgement (§9.3.1.4).
    Ack,
    /// Request for a compressed block acknowledgement (§9.3.1.7).
    BlockAckRequest {
        /// The station that sends it.
        transmitter: Address,
        /// The traffic that it is about.
        tid: Tid,
        /// The first frame whose fate is asked for.
        start: Sequence,
    },
    /// Compressed block acknowledgement (§9.3.1.8).
    BlockAck {
        /// The station that sends it.
        transmitter: Address,
        /// The traffic that it is about.
        tid: Tid,
        /// The frame of the lowest bit.
        start: Sequence,
        /// Bit n is set if the frame n after `start` arrived.
        bitmap: u64,
    },
}

/// The header fields that data and management frames share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// The station that sends the frame.
    pub transmitter: Address,
    /// The network.
    pub bssid: Address,
    /// The number of the packet in it.
    pub sequence: Sequence,
    /// Whether the frame was sent before.
    pub is_retry: bool,
}

/// The QoS control field (§9.2.4.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Qos {
    /// The traffic to which the frame belongs.
    pub tid: Tid,
    /// The answer that its receiver gives.
    pub ack: AckPolicy,
}

/// The answer that a QoS data frame asks for (table 9-9).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AckPolicy {
    /// An ACK; in an A-MPDU a block acknowledgement.
    Normal,
    /// None.
    No,
    /// None that the field describes (PSMP).
    Other,
    /// The receiver records the frame and answers a later request.
    Block,
}

/// An action frame of category block ack (§9.6.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// ADDBA request: proposes an agreement with immediate block acknowledgement.
    Request {
        /// It links the response to the request.
        token: u8,
        /// The terms.
        agreement: Agreement,
        /// The first frame under the agreement.
        start: Sequence,
    },
    /// ADDBA response.
    Response {
        /// The token of the request.
        token: u8,
        /// Status 0: accepted (§9.4.1.9).
        status: u16,
        /// The terms.
        agreement: Agreement,
    },
}

/// The terms of a block acknowledgement agreement (§9.4.1.13).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Agreement {
    /// The traffic under it.
    pub tid: Tid,
    /// The number of frames that the receiver can hold, below 1024.
    pub buffer: u16,
    /// The time without traffic after which it ends, in units of 1024 µs; 0: never.
    pub timeout: u16,
}

/// The reasons why bytes are not a [`Frame`] or an [`Msdu`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FrameError {
    /// The bytes end within a header or a field.
    #[error("the frame is cut: {needed} bytes are needed and {present} are there")]
    Truncated {
        /// Bytes that the header announces.
        needed: usize,
        /// Bytes present.
        present: usize,
    },
    /// The frame check sequence is wrong.
    #[error("the frame check sequence is {found:08x}, but that of the bytes before it is {right:08x}")]
    BadFcs {
        /// The value in the frame.
        found: u32,
        /// The right value.
        right: u32,
    },
    /// A protocol version other than 0.
    #[error("version {0} of 802.11 is not 0")]
    Version(u8),
    /// A type of frame that is not read.
    #[error("a frame of type {kind} and subtype {subtype} is not read here")]
    Unknown {
        /// Its type: 0 management, 1 control, 2 data.
        kind: u8,
        /// Its subtype.
        subtype: u8,
    },
    /// A frame whose contents are not read.
    #[error("the frame is {0}, which is not read here")]
    Unread(&'static str),
    /// A radiotap header of an impossible length, or of another version than 0.
    #[error("the radiotap header is {0}")]
    Radiotap(&'static str),
}
