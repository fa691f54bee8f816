//! Captures: packets with the time and place at which they were seen, in files that other tools read.
//!
//! [`Writer`] writes pcapng (draft-ietf-opsawg-pcapng); [`Reader`] reads pcapng and the older pcap
//! (draft-ietf-opsawg-pcap). Both hold one packet at a time, whatever the size of the file.
//!
//! The crate `pcap-file` is not used. Its version 2.0 reads every pcapng time as nanoseconds, although microseconds are
//! the default, and one comment that is not UTF-8 ends the reading of a file.

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

/// One of the interfaces of a capture, numbered from 0 in the order of the file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InterfaceId(pub u32);

/// A place at which packets were seen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interface {
    /// Its name, empty if the capture has none.
    pub name: String,
    /// The header in front of its IP packets.
    pub link: LinkType,
}

/// The direction of a packet at its interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Direction {
    /// The capture does not say.
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
    /// Its number in the file, from 1. Every frame counts, as in tshark.
    pub number: u64,
    /// The interface at which it was seen.
    pub interface: InterfaceId,
    /// Time since 1970-01-01 00:00 UTC, or since the start of a simulation; without a time, that of the packet before.
    pub at: Instant,
    /// Whether the capture has a time for it.
    pub has_time: bool,
    /// Its direction.
    pub direction: Direction,
    /// Bytes of the frame on the wire, including those that the capture does not hold.
    pub wire_len: u32,
    /// The captured part of the frame, starting with its link-layer header.
    pub frame: &'a [u8],
    /// The innermost IP packet in it, as far as the capture holds it; `None` if [`Packet::content`] is an error.
    pub ip: Option<&'a [u8]>,
    /// The same with its length on the wire, or what the frame holds instead: ARP, for example, or a frame of 802.11
    /// that is encrypted or was seen before.
    pub content: Result<Captured<'a>, Other>,
    /// The first comment.
    pub comment: Option<Cow<'a, str>>,
}

/// A file that ends in the middle of a packet or block. Everything before that was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the file is cut: what begins at byte {at} takes {needed} bytes, of which {present} are there")]
pub struct Cut {
    /// Position at which the incomplete packet or block starts, in bytes from the start of the file.
    pub at: u64,
    /// Bytes of the whole packet or block.
    pub needed: u64,
    /// Bytes present.
    pub present: u64,
}

/// The reasons why a file cannot be read, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file starts like no known format.
    #[error("not a capture: {0}")]
    NotACapture(&'static str),
    /// A file of a known form that is not read.
    #[error("the file is {what}, which is not read here: {fix}")]
    Foreign {
        /// The form.
        what: &'static str,
        /// The program or option that makes a capture of it.
        fix: &'static str,
    },
    /// No packet has a link type that is read. The first one:
    #[error(
        "interface {interface} ({name:?}) has link type {link}, which is not read here, and no other interface has \
         packets: record a network interface, with one of {known}",
        known = LinkType::KNOWN
    )]
    UnknownLink {
        /// Its interface.
        interface: u32,
        /// Its name.
        name: String,
        /// Its link type.
        link: LinkType,
    },
    /// The bytes contradict the format.
    #[error("damaged at byte {at}: {what}")]
    Damaged {
        /// Position at which the packet or block starts.
        at: u64,
        /// The contradiction.
        what: &'static str,
    },
}

/// The largest packet in bytes: 64 times the snap length of tcpdump. A larger length is damage.
const LARGEST_PACKET: u32 = 1 << 24;
