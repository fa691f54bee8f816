//! The records that pass between lightlag and a queue discipline.

use crate::records::uniform;

/// The start of the record of a queue. lightlag sets all of it but `random` and `fault`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    /// Packets that wait, without the one that comes or is about to leave.
    pub packets: i64,
    /// Their bytes.
    pub bytes: i64,
    /// The most packets that may wait; infinite if the limit is in bytes.
    pub limit_packets: f64,
    /// The most bytes that may wait; infinite if the limit is in packets.
    pub limit_bytes: f64,
    /// The rate of the link in bytes a second.
    pub rate: f64,
    /// The state of the random numbers of this queue, which start from the seed of the run.
    pub random: u64,
    /// Anything but 0 ends the run: the discipline has failed.
    pub fault: i64,
}

/// A packet that comes, or that is about to leave.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Packet {
    /// The time, in nanoseconds since the start of the run.
    pub now_ns: i64,
    /// Bytes at the network layer.
    pub size: i64,
    /// A number that tells flows apart, and the directions of each.
    pub flow: i64,
    /// Its ECN field (RFC 3168 section 5): 0 if it cannot be marked, 1 for ECT(1), 2 for ECT(0), 3 for CE.
    pub ecn: i64,
    /// How long it has waited; 0 for one that comes.
    pub waited_ns: i64,
    /// Whether it carries payload: an ACK or a SYN alone does not.
    pub carries_payload: i64,
    /// Whether it comes to a full queue, which drops it if it passes.
    pub full: i64,
}

/// Decisions about a packet.
pub mod verdict {
    /// It stays, or leaves.
    pub const PASS: i64 = 0;
    /// It is dropped.
    pub const DROP: i64 = 1;
    /// It is marked, or dropped if it cannot be marked. The number is that of CE.
    pub const MARK: i64 = 3;
}

impl Queue {
    /// The record before the start.
    pub const NONE: Self = Self {
        packets: 0,
        bytes: 0,
        limit_packets: f64::INFINITY,
        limit_bytes: f64::INFINITY,
        rate: 0.0,
        random: 0,
        fault: 0,
    };

    /// The next random number, from 0 up to but not including 1.
    pub fn uniform(&mut self) -> f64 {
        uniform(&mut self.random)
    }
}
