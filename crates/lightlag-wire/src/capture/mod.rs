//! Captures: packets with the time and place at which somebody saw them, in files that other tools read.
//!
//! [`Writer`] writes pcapng (draft-ietf-opsawg-pcapng); [`Reader`] reads pcapng and the older pcap
//! (draft-ietf-opsawg-pcap). Both hold one packet at a time, whatever the size of the file.
//!
//! The crate `pcap-file` is not used: its 2.0 takes every pcapng time for nanoseconds, where microseconds are the
//! default, and one comment that is not UTF-8 ends the reading of a file.

use lightlag_core::Instant;
use std::borrow::Cow;
use std::io;

mod classic;
mod input;
mod link;
mod pcapng;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use link::LinkType;
pub use reader::Reader;
pub use writer::Writer;

/// One of the interfaces of a capture, numbered from 0 in the order of the file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InterfaceId(pub u32);

/// A place at which packets were seen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interface {
    /// Its name, empty where the capture has none.
    pub name: String,
    /// What stands in front of the IP packet.
    pub link: LinkType,
}

/// Which way a packet went at its interface.
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
    /// Its number in the file, from 1, as tshark counts: every frame counts.
    pub number: u64,
    /// Where it was seen.
    pub interface: InterfaceId,
    /// When: since 1970-01-01 00:00 UTC, or since the begin of a simulation.
    pub at: Instant,
    /// Which way it went.
    pub direction: Direction,
    /// Bytes of the frame on the wire, with those that the capture does not hold.
    pub wire_len: u32,
    /// What the capture holds of the frame, from its link-layer header on.
    pub frame: &'a [u8],
    /// The IP packet in it; `None` for a frame of something else (ARP, for example).
    pub ip: Option<&'a [u8]>,
    /// The first comment.
    pub comment: Option<Cow<'a, str>>,
}

/// A file that ends in the middle of something. Everything before that was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the file is cut: what begins at byte {at} takes {needed} bytes, of which {present} are there")]
pub struct Cut {
    /// Where the packet or block begins that is not whole, in bytes from the begin of the file.
    pub at: u64,
    /// Bytes that it takes.
    pub needed: u64,
    /// Those that are there.
    pub present: u64,
}

/// Why a file cannot be read, or not further.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The file system says no.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It begins like nothing that is known here.
    #[error("not a capture: {0}")]
    NotACapture(&'static str),
    /// What stands in front of the IP packets is not known here.
    #[error(
        "interface {interface} ({name:?}) has link type {link}, which is not read here: capture with `-i any`, or \
         convert to one of {known}",
        known = LinkType::KNOWN
    )]
    UnknownLink {
        /// The interface of the packet.
        interface: u32,
        /// Its name.
        name: String,
        /// Its link type.
        link: LinkType,
    },
    /// The bytes contradict the format.
    #[error("damaged at byte {at}: {what}")]
    Damaged {
        /// Where the packet or block begins.
        at: u64,
        /// What is wrong with it.
        what: &'static str,
    },
}

/// The most that one packet may take, in bytes: 64 times what tcpdump keeps. What says more is damaged.
const LARGEST_PACKET: u32 = 1 << 24;
