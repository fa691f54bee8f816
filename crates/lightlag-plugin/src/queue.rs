//! Records that are passed between lightlag and a queue discipline.

use crate::records::uniform;

/// Start of the record of a queue. lightlag sets all fields; the discipline may change only `random` and `fault`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    /// Number of queued packets, without the arriving or departing one.
    pub packets: i64,
    /// Bytes of the queued packets.
    pub bytes: i64,
    /// Maximum number of queued packets; infinite if the limit is in bytes.
    pub limit_packets: f64,
    /// Maximum number of queued bytes; infinite if the limit is in packets.
    pub limit_bytes: f64,
    /// Rate of the link in bytes per second.
    pub rate: f64,
    /// State of the random numbers of this queue, derived from the seed of the run.
    pub random: u64,
    /// Error of the discipline; any value except 0 ends the run.
    pub fault: i64,
}

/// A packet that arrives, or the packet at the head before it is sent.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Packet {
    /// Time in nanoseconds since the start of the run.
    pub now_ns: i64,
    /// Size at the network layer in bytes.
    pub size: i64,
    /// Number that identifies the flow and its direction.
    pub flow: i64,
    /// ECN field (RFC 3168 section 5): 0 if the packet cannot be marked, 1 for ECT(1), 2 for ECT(0), 3 for CE.
    pub ecn: i64,
    /// Waiting time in nanoseconds; 0 for an arriving packet.
    pub waited_ns: i64,
    /// Whether the packet carries payload; a pure ACK or SYN does not.
    pub carries_payload: i64,
    /// Whether the packet arrives at a full queue, which drops it even if the discipline lets it pass.
    pub full: i64,
}

/// Decisions about a packet.
pub mod verdict {
    /// The packet is queued, or leaves.
    pub const PASS: i64 = 0;
    /// The packet is dropped.
    pub const DROP: i64 = 1;
    /// The packet is marked, or dropped if it cannot be marked. The value equals the codepoint of CE.
    pub const MARK: i64 = 3;
}

impl Queue {
    /// An initial record.
    pub const NONE: Self = Self {
        packets: 0,
        bytes: 0,
        limit_packets: f64::INFINITY,
        limit_bytes: f64::INFINITY,
        rate: 0.0,
        random: 0,
        fault: 0,
    };

    /// Returns the next random number, at least 0 and below 1.
    pub fn uniform(&mut self) -> f64 {
        uniform(&mut self.random)
    }
}
