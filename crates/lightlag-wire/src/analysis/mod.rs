//! Analyses the TCP connections of a capture in one pass, with a bounded state for each connection.
//!
//! ```no_run
//! use lightlag_wire::analysis::{Analysis, Limits};
//! use lightlag_wire::capture::Reader;
//!
//! let mut reader = Reader::open(std::fs::File::open("capture.pcapng")?)?;
//! let mut analysis = Analysis::new(Limits::default());
//! while let Some(packet) = reader.next_packet()? {
//!     if let Some(seen) = analysis.captured(&packet) {
//!         println!("{} {:?} {}..{}", packet.number, seen.kind, seen.start, seen.start + i64::from(seen.len));
//!     }
//! }
//! for connection in analysis.finish().connections {
//!     println!("{} {:?}", connection.client, connection.forward.goodput_bps);
//! }
//! # Ok::<(), lightlag_wire::capture::CaptureError>(())
//! ```
//!
//! Parts: `judge` classifies a segment; `half` is one direction, with its `flight` and the `ranges` seen; `counters`
//! are those of AccECN; `table` finds the connection of a packet; `seen` tells where the
//! capture was taken; `report` is the outcome; [`trace`] keeps the packets
//! of one connection.

mod connection;
mod counters;
mod flight;
mod half;
mod judge;
mod ranges;
mod report;
pub(crate) mod seen;
mod spread;
mod table;
#[cfg(test)]
mod tests;
pub mod trace;

pub use half::Cause;
pub use judge::{Kind, Observation, Side};
pub use report::{Connection, Counts, Direction, EcnOffer, Handshake, Measure, Omitted, Report, Rtt, State, Vantage};

use crate::compressed::Decoder;
use crate::{Captured, PacketError, capture};
use lightlag_core::Instant;
use table::Table;

/// Limits of the memory that an analysis takes, whatever the size of the capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Connections followed at the same time, default 16,384. If there are more, an idle one is closed; a later packet
    /// of it starts another.
    pub live: usize,
    /// Connections in the report beside these, default 20,000: those with the most packets.
    pub kept: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { live: 16_384, kept: 20_000 }
    }
}

/// An analysis in progress.
#[derive(Debug)]
pub struct Analysis {
    decoder: Decoder,
    table: Table,
    report: Report,
    end: Instant,
}

impl Analysis {
    /// Starts an analysis.
    ///
    /// # Panics
    /// If a limit is zero.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        assert!(limits.live > 0 && limits.kept > 0, "an analysis has room for a connection");
        // Each of the two ends has an id.
        let decoder = Decoder::new(limits.live.saturating_mul(2));
        Self { decoder, table: Table::new(limits), report: Report::default(), end: Instant::ZERO }
    }

    /// Takes in one packet of a capture. Returns the segment's description if it is TCP.
    pub fn captured(&mut self, packet: &capture::Packet) -> Option<Observation> {
        self.arrive(packet.at);
        match packet.content {
            Ok(ip) => self.ip(packet.at, ip, packet.has_time),
            Err(other) => self.other(other.to_string()),
        }
    }

    /// Takes in one packet: an IP packet, or `None` for a frame of something else. Returns the segment's description if
    /// it is TCP.
    pub fn packet(&mut self, at: Instant, ip: Option<&[u8]>) -> Option<Observation> {
        self.arrive(at);
        match ip {
            Some(ip) => self.ip(at, ip.into(), true),
            None => self.other("not IP".into()),
        }
    }

    fn arrive(&mut self, at: Instant) {
        self.report.packets += 1;
        self.report.start_ns.get_or_insert(at.as_nanos());
        self.end = self.end.max(at);
    }

    fn ip(&mut self, at: Instant, ip: Captured, has_time: bool) -> Option<Observation> {
        let packet = match self.decoder.captured(ip) {
            Ok(packet) => packet,
            Err(error) => return self.other(kind(error)),
        };
        self.report.tcp_packets += 1;
        self.report.tcp_bytes += u64::from(packet.wire_len);
        Some(self.table.segment(at, &packet, has_time))
    }

    fn other(&mut self, kind: String) -> Option<Observation> {
        *self.report.others.entry(kind).or_default() += 1;
        None
    }

    /// Packets so far.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.report.packets
    }

    /// Ends the analysis and returns its findings.
    #[must_use]
    pub fn finish(self) -> Report {
        let Self { table, mut report, end, .. } = self;
        let start = Instant::from_nanos(report.start_ns.unwrap_or(0));
        report.duration_s = end.since(start).as_secs_f64();
        (report.connections, report.omitted) = table.report();
        report
    }
}

/// The kind of a packet that is not TCP.
fn kind(error: PacketError) -> String {
    match error {
        PacketError::NotTcp(protocol) => match protocol {
            1 => "ICMP".into(),
            2 => "IGMP".into(),
            4 | 94 => "IP in IP".into(),
            17 => "UDP".into(),
            33 => "DCCP".into(),
            41 => "IPv6 in IP".into(),
            46 => "RSVP".into(),
            47 => "GRE".into(),
            50 => "ESP".into(),
            51 => "AH".into(),
            58 => "ICMPv6".into(),
            59 => "IPv6 without contents".into(),
            88 => "EIGRP".into(),
            89 => "OSPF".into(),
            97 => "EtherIP".into(),
            103 => "PIM".into(),
            108 => "IPComp".into(),
            112 => "VRRP".into(),
            115 => "L2TP".into(),
            132 => "SCTP".into(),
            136 => "UDP-Lite".into(),
            137 => "MPLS in IP".into(),
            number => format!("IP protocol {number}"),
        },
        PacketError::UnknownConnection(_) => "compressed TCP of an unknown connection".into(),
        PacketError::NotIp(_) => "not IP".into(),
        PacketError::Fragment => "fragment".into(),
        PacketError::Truncated { .. } => "cut header".into(),
        PacketError::ZeroLength => "length zero".into(),
        PacketError::Jumbogram => "jumbogram".into(),
        _ => "bad header".into(),
    }
}
