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
//! Modules: `classify` classifies a segment; `half` has the state of one direction, with its `flight` and the `ranges`
//! seen; `counters` has the counters of AccECN; `table` finds the connection of a packet; `vantage` infers the capture
//! point; `report` has the results; [`trace`] stores the packets of one connection.

mod classify;
mod connection;
mod counters;
mod flight;
mod half;
mod ranges;
mod report;
mod spread;
mod table;
#[cfg(test)]
mod tests;
pub mod trace;
pub(crate) mod vantage;

pub use classify::{Observation, SegmentKind, Side};
pub use half::Cause;
pub use report::{
    CaptureReport, ConnectionReport, DirectionCounts, DirectionReport, EcnOffer, Handshake, Measure, Omitted, Rtt,
    State, Vantage,
};

use crate::compressed::Decoder;
use crate::{Captured, PacketError, capture};
use lightlag_core::Instant;
use table::ConnectionTable;

/// Limits that bound the memory of an analysis, whatever the size of the capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Maximum number of connections that are followed at the same time. Default 16,384. Beyond it, an idle connection
    /// is closed; a later packet of that one counts as a new connection.
    pub live: usize,
    /// Maximum number of closed connections in the report; those with most packets are included. Default 20,000.
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
    table: ConnectionTable,
    report: CaptureReport,
    end: Instant,
}

impl Analysis {
    /// Starts an analysis.
    ///
    /// # Panics
    /// If a limit is zero.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        assert!(limits.live > 0 && limits.kept > 0, "an analysis stores at least one connection");
        // Each of the two ends has an id.
        let decoder = Decoder::new(limits.live.saturating_mul(2));
        Self { decoder, table: ConnectionTable::new(limits), report: CaptureReport::default(), end: Instant::ZERO }
    }

    /// Processes one packet of a capture. Returns an observation if it is a TCP segment.
    pub fn captured(&mut self, packet: &capture::Packet) -> Option<Observation> {
        self.arrive(packet.at);
        match packet.content {
            Ok(ip) => self.ip(packet.at, ip, packet.has_time),
            Err(other) => self.other(other.to_string()),
        }
    }

    /// Processes one packet: an IP packet, or `None` for any other frame. Returns an observation if it is a TCP
    /// segment.
    pub fn packet(&mut self, time: Instant, ip: Option<&[u8]>) -> Option<Observation> {
        self.arrive(time);
        match ip {
            Some(ip) => self.ip(time, ip.into(), true),
            None => self.other("not IP".into()),
        }
    }

    fn arrive(&mut self, time: Instant) {
        self.report.packets += 1;
        self.report.start_ns.get_or_insert(time.as_nanos());
        self.end = self.end.max(time);
    }

    fn ip(&mut self, time: Instant, ip: Captured, has_time: bool) -> Option<Observation> {
        let packet = match self.decoder.captured(ip) {
            Ok(packet) => packet,
            Err(error) => return self.other(kind(error)),
        };
        self.report.tcp_packets += 1;
        self.report.tcp_bytes += u64::from(packet.wire_len);
        Some(self.table.segment(time, &packet, has_time))
    }

    fn other(&mut self, kind: String) -> Option<Observation> {
        *self.report.others.entry(kind).or_default() += 1;
        None
    }

    /// Returns the number of packets so far.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.report.packets
    }

    /// Ends the analysis and returns its results.
    #[must_use]
    pub fn finish(self) -> CaptureReport {
        let Self { table, mut report, end, .. } = self;
        let start = Instant::from_nanos(report.start_ns.unwrap_or(0));
        report.duration_s = end.since(start).as_secs_f64();
        (report.connections, report.omitted) = table.report();
        report
    }
}

/// Returns the kind of a packet that is not TCP.
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
            59 => "IPv6 without payload".into(),
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
