//! The results of an analysis, as plain data.

use super::spread::Spread;
use lightlag_core::Duration;
use lightlag_tcp::segment::Capabilities;
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// Results for a capture.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CaptureReport {
    /// Number of packets of any kind.
    pub packets: u64,
    /// Total bytes of the IP packets that carry TCP.
    pub tcp_bytes: u64,
    /// Number of packets with a TCP segment.
    pub tcp_packets: u64,
    /// Time of the first packet, in nanoseconds since 1970 or since the start of a simulation.
    pub start_ns: Option<u64>,
    /// Time from the first to the last packet, in seconds.
    pub duration_s: f64,
    /// Number of packets that are not TCP segments, by kind.
    pub others: BTreeMap<String, u64>,
    /// Connections, in the order of their first packets.
    pub connections: Vec<ConnectionReport>,
    /// Connections that exceed the limits, which are those with the fewest packets.
    pub omitted: Omitted,
}

/// Totals of the connections that are not listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Omitted {
    /// Number of connections.
    pub connections: u64,
    /// Number of packets.
    pub packets: u64,
    /// Payload in bytes.
    pub payload_bytes: u64,
}

/// Results for one connection.
#[derive(Clone, Debug, Serialize)]
pub struct ConnectionReport {
    /// Index of the connection, from 0 in the order of first packets, like `tcp.stream` in tshark.
    pub number: u64,
    /// Address of the end that opened the connection; without a handshake, of the sender of the first packet.
    pub client: SocketAddr,
    /// Address of the other end.
    pub server: SocketAddr,
    /// Time from the first packet of the capture to the first packet of the connection, in seconds.
    pub start_s: f64,
    /// Time from the first to the last packet of the connection, in seconds.
    pub duration_s: f64,
    /// The state of the connection at the end of the capture.
    pub state: State,
    /// Time from the SYN to the ACK that completes the handshake, in seconds; `None` if a SYN was sent more than once.
    pub initial_rtt_s: Option<f64>,
    /// Whether the capture has a time for each packet of the connection. If not, rates and round-trip times are
    /// unknown.
    pub has_times: bool,
    /// The capture point, relative to the side that sent more data; `None` if it cannot be determined.
    pub vantage: Option<Vantage>,
    /// Typical round-trip time between the two ends in seconds, wherever the capture was taken; `None` if it cannot be
    /// determined.
    pub rtt_s: Option<f64>,
    /// Minimum round-trip time in seconds, from the handshake, or from data if that gives less.
    pub min_rtt_s: Option<f64>,
    /// Direction from the client to the server.
    pub forward: DirectionReport,
    /// Direction from the server to the client.
    pub backward: DirectionReport,
}

/// The position of a capture on the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Vantage {
    /// At the sender, or close to it.
    Sender,
    /// Between the two ends.
    Between,
    /// At the receiver, or close to it.
    Receiver,
}

/// The state of a connection at the end of a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Both ends closed their direction.
    Complete,
    /// At least one direction was not closed, so the connection may continue after the end of the capture.
    Open,
    /// One end aborted it.
    Reset,
}

/// Options and fields in the SYN of one side.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Handshake {
    /// Maximum segment size that the side accepts, in bytes.
    pub mss: Option<u16>,
    /// Window scale of the side.
    pub window_scale: Option<u8>,
    /// Whether the side accepts SACK blocks.
    pub sack_permitted: bool,
    /// Whether the side sends timestamps.
    pub timestamps: bool,
    /// The ECN variant that the side requests or accepts.
    pub ecn: EcnOffer,
    /// The capabilities that the side offers in the SCPS-TP option.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scps: Option<ScpsOffer>,
    /// Length of the fast open cookie in bytes; 0 if the SYN requests a cookie (RFC 7413).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_open: Option<u8>,
    /// Number of data bytes in the SYN.
    #[serde(skip_serializing_if = "is_zero")]
    pub data: u16,
    /// Window in the SYN, in bytes.
    pub window: u16,
}

fn is_zero(bytes: &u16) -> bool {
    *bytes == 0
}

/// The capabilities option of SCPS-TP.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct ScpsOffer {
    /// Partial reliability (BETS).
    pub bets: bool,
    /// SNACK options without a bit vector (SNACK1).
    pub snack_short: bool,
    /// SNACK options with a bit vector (SNACK2).
    pub snack_long: bool,
    /// Compressed headers.
    pub compression: bool,
    /// Timestamps in the network layer.
    pub network_timestamps: bool,
    /// The ID that replaces the ports in compressed headers.
    pub connection_id: u8,
}

impl From<Capabilities> for ScpsOffer {
    fn from(Capabilities { bitmap, connection_id }: Capabilities) -> Self {
        let has = |bit| bitmap & bit != 0;
        Self {
            bets: has(Capabilities::BETS),
            snack_short: has(Capabilities::SNACK_SHORT),
            snack_long: has(Capabilities::SNACK_LONG),
            compression: has(Capabilities::COMPRESSION),
            network_timestamps: has(Capabilities::NETWORK_TIMESTAMPS),
            connection_id,
        }
    }
}

/// The ECN variant in a SYN.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EcnOffer {
    /// No ECN.
    No,
    /// Classic ECN (RFC 3168).
    Classic,
    /// Accurate ECN (RFC 9768).
    Accurate,
}

/// Counts for one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct DirectionCounts {
    /// Packets.
    pub packets: u64,
    /// Packets with data.
    pub data_segments: u64,
    /// Bytes of data, including repeated ones.
    pub payload_bytes: u64,
    /// Bytes of data seen for the first time.
    pub unique_bytes: u64,
    /// Bytes of data that had been seen before: `payload_bytes` minus `unique_bytes`.
    pub repeated_bytes: u64,
    /// Retransmitted segments with data, SYN or FIN.
    pub retransmitted_segments: u64,
    /// SYN and FIN segments without data, included in the retransmitted segments.
    pub retransmitted_controls: u64,
    /// Segments requested by duplicate ACKs or SACK blocks, included in the retransmitted segments.
    pub fast_retransmissions: u64,
    /// Segments retransmitted after a timeout, or as its consequence, included in the retransmitted segments.
    pub timeout_retransmissions: u64,
    /// Tail loss probes, included in the retransmitted segments.
    pub tail_probes: u64,
    /// Segments whose earlier copy was lost before it reached the capture, included in the retransmitted segments.
    pub lost_before: u64,
    /// Unnecessary retransmissions, as reported by D-SACK blocks.
    pub spurious_retransmissions: u64,
    /// Segments that arrived after later ones without being retransmissions.
    pub out_of_order: u64,
    /// ACKs without data that repeat the ACK number and the window of the previous one (RFC 5681 §2).
    pub duplicate_acks: u64,
    /// ACKs that change only the window.
    pub window_updates: u64,
    /// SACK blocks.
    pub sack_blocks: u64,
    /// D-SACK blocks (RFC 2883), which report data that arrived twice, included in the SACK blocks.
    pub dsack_blocks: u64,
    /// SNACK options (SCPS-TP), which report holes.
    pub snack_options: u64,
    /// Segments that report a corrupted packet (SCPS-TP).
    pub corruption_options: u64,
    /// Segments that end a record of the application (SCPS-TP).
    pub record_boundaries: u64,
    /// Packets with a compressed header (SCPS-TP).
    pub compressed_headers: u64,
    /// Packets that advertise a window of zero.
    pub zero_windows: u64,
    /// Segments that fill the other side's window exactly.
    pub window_full: u64,
    /// Probes of a closed window.
    pub window_probes: u64,
    /// Keep-alive segments.
    pub keep_alives: u64,
    /// Maximum number of bytes in flight.
    pub max_in_flight_bytes: u64,
    /// ECN-capable packets (ECT).
    pub ect_packets: u64,
    /// Packets marked by a queue (CE).
    pub ce_packets: u64,
    /// Segments with ECE after the handshake; 0 with accurate ECN, where these bits are a counter.
    pub ece_segments: u64,
    /// Segments with CWR after the handshake; 0 with accurate ECN, where these bits are a counter.
    pub cwr_segments: u64,
    /// Segments with the AccECN option (RFC 9768 §3.2.3).
    pub accecn_options: u64,
    /// Bytes of the other side's data that AccECN options of this direction report as received with CE.
    pub reported_ce_bytes: u64,
    /// Bytes of the other side's data that AccECN options of this direction report as received with ECT(0).
    pub reported_ect0_bytes: u64,
    /// Bytes of the other side's data that AccECN options of this direction report as received with ECT(1).
    pub reported_ect1_bytes: u64,
    /// Packets with a wrong checksum. Packets captured at their sender may have none until the network card fills it
    /// in.
    pub checksum_errors: u64,
    /// Options that have a wrong length or occur twice in a packet.
    pub malformed_options: u64,
    /// Packets that the capture truncated within their TCP options.
    pub cut_headers: u64,
}

/// Results for one direction of a connection.
#[derive(Clone, Debug, Serialize)]
pub struct DirectionReport {
    /// Options and fields of the SYN, if the capture has it.
    pub handshake: Option<Handshake>,
    /// Counts for the direction.
    #[serde(flatten)]
    pub counts: DirectionCounts,
    /// Unique data in bit/s, from the first data to the last ACK.
    pub goodput_bps: Option<f64>,
    /// Time from the first data to its last ACK, in seconds.
    pub data_s: Option<f64>,
    /// Mean number of bytes in flight, over the time during which there are any.
    pub mean_in_flight_bytes: Option<f64>,
    /// Number of gaps, which are intervals of acknowledged data that is missing from the capture.
    pub gaps: u64,
    /// Total bytes in the gaps.
    pub gap_bytes: u64,
    /// Round-trip time from the capture to the receiver of this direction and back.
    pub rtt: Option<Rtt>,
}

/// The method of measuring a round-trip time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// From a segment to its ACK, for segments that were sent only once (Karn).
    Ack,
    /// From a timestamp to its first echo. Used if it gives far more samples, which is the case for a side that sends
    /// little. Echoes that may have waited for data of the other side are not counted.
    Timestamp,
}

/// Round-trip times in seconds. The median and the 95th percentile are accurate to 0.8 %.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct Rtt {
    pub by: Measure,
    pub samples: u64,
    pub min_s: f64,
    pub median_s: f64,
    pub mean_s: f64,
    pub p95_s: f64,
    pub max_s: f64,
}

impl Rtt {
    pub(super) fn new(by: Measure, spread: &Spread) -> Option<Self> {
        let seconds = |duration: Duration| duration.as_secs_f64();
        Some(Self {
            by,
            samples: spread.count(),
            min_s: seconds(spread.least()?),
            median_s: seconds(spread.quantile(50)?),
            mean_s: seconds(spread.mean()?),
            p95_s: seconds(spread.quantile(95)?),
            max_s: seconds(spread.greatest()?),
        })
    }
}
