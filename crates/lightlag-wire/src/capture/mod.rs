//! Captures: packets with their times and interfaces, in files that other tools can read and write.
//!
//! [`Writer`] writes pcapng (draft-ietf-opsawg-pcapng); [`Reader`] reads pcapng and the older pcap
//! (draft-ietf-opsawg-pcap). Both store only one packet at a time, whatever the size of the file.
//!
//! The crate `pcap-file` is not used. Its version 2.0 reads every pcapng time as nanoseconds, although microseconds are
//! the default, and it stops reading a file at the first comment that is not UTF-8.

use crate::ip::Captured;
use lightlag_core::Instant;
use std::borrow::Cow;
use std::io;

mod classic;
mod input;
mod layers;
mod link;
mod pcapng;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use layers::Other;
pub use link::LinkType;
pub use reader::Reader;
pub use writer::Writer;

/// ID of an interface of a capture: interfaces are numbered from 0 in file order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InterfaceId(pub u32);

/// An interface of a capture, where packets were captured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interface {
    /// Name of the interface; empty if the capture has none.
    pub name: String,
    /// Link type of the interface, which determines the header before its IP packets.
    pub link: LinkType,
}

/// The direction of a packet, seen from its interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Direction {
    /// The capture does not contain it.
    #[default]
    Unknown,
    /// The host received it.
    Inbound,
    /// The host sent it.
    Outbound,
}

/// One packet of a capture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packet<'a> {
    /// Index of the packet in the file, from 1. As in tshark, every frame is counted.
    pub number: u64,
    /// Interface that captured the packet.
    pub interface: InterfaceId,
    /// Time since 1970-01-01 00:00 UTC, or since the start of a simulation. A packet without a time gets the time of
    /// the previous packet.
    pub at: Instant,
    /// Whether the capture has a time for the packet.
    pub has_time: bool,
    /// Direction of the packet.
    pub direction: Direction,
    /// Length of the frame on the wire in bytes, including bytes that the capture does not contain.
    pub wire_len: u32,
    /// The captured part of the frame, starting with its link-layer header.
    pub frame: &'a [u8],
    /// The captured bytes of the innermost IP packet in the frame; `None` if [`Packet::content`] is an error.
    pub ip: Option<&'a [u8]>,
    /// The innermost IP packet with its length on the wire. An error is any other content of the frame, such as ARP, or
    /// an 802.11 frame that is encrypted or a retransmission.
    pub content: Result<Captured<'a>, Other>,
    /// The first comment of the packet.
    pub comment: Option<Cow<'a, str>>,
}

/// A file that ends within a packet or block. Everything before it was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the file is cut: the packet or block at byte {at} needs {needed} bytes, but only {present} are present")]
pub struct TruncatedFile {
    /// Position of the incomplete packet or block in the file, in bytes.
    pub at: u64,
    /// Length of the entire packet or block in bytes.
    pub needed: u64,
    /// Number of bytes present.
    pub present: u64,
}

/// The reasons why a file cannot be read, or not up to its end.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file does not start like any known format.
    #[error("not a capture: {0}")]
    NotACapture(&'static str),
    /// The format of the file is known, but not supported.
    #[error("the file is {what}, which is not supported: {fix}")]
    Foreign {
        /// Name of the format.
        what: &'static str,
        /// Instructions for converting the file to a capture.
        fix: &'static str,
    },
    /// No packet has a supported link type. The fields describe the interface of the first packet.
    #[error(
        "interface {interface} ({name:?}) has link type {link}, which is not supported, and no other interface has \
         packets: record a network interface with one of {known}",
        known = LinkType::KNOWN
    )]
    UnknownLink {
        /// Index of the interface.
        interface: u32,
        /// Name of the interface.
        name: String,
        /// Link type of the interface.
        link: LinkType,
    },
    /// The contents of the file contradict its format.
    #[error("damaged at byte {at}: {what}")]
    Damaged {
        /// Position of the packet or block in the file, in bytes.
        at: u64,
        /// Description of the contradiction.
        what: &'static str,
    },
}

/// Maximum length of a packet in bytes, 64 times the snap length of tcpdump. A larger length means that the file is
/// damaged.
const LARGEST_PACKET: u32 = 1 << 24;
