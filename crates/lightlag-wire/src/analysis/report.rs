//! The findings of an analysis, as plain data.

use super::spread::Spread;
use lightlag_core::Duration;
use lightlag_tcp::segment::Capabilities;
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The contents of a capture.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Packets of every kind.
    pub packets: u64,
    /// Bytes of IP packets that carry TCP.
    pub tcp_bytes: u64,
    /// Packets with a TCP segment.
    pub tcp_packets: u64,
    /// The time of the first packet, in nanoseconds since 1970 or since the start of a simulation.
    pub start_ns: Option<u64>,
    /// Seconds from the first to the last packet.
    pub duration_s: f64,
    /// Packets that are not TCP segments, by kind.
    pub others: BTreeMap<String, u64>,
    /// Connections in the order of their first packets.
    pub connections: Vec<Connection>,
    /// Connections beyond the limits: those with the fewest packets.
    pub omitted: Omitted,
}

/// The connections that are not listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Omitted {
    /// Their number.
    pub connections: u64,
    /// Their packets.
    pub packets: u64,
    /// Their payload in bytes.
    pub payload_bytes: u64,
}

/// One connection.
#[derive(Clone, Debug, Serialize)]
pub struct Connection {
    /// Its number, from 0 in the order of first packets: `tcp.stream` of tshark.
    pub number: u64,
    /// The end that opened it; without a handshake, the sender of the first packet.
    pub client: SocketAddr,
    /// The other end.
    pub server: SocketAddr,
    /// Seconds from the first packet of the capture to the first of the connection.
    pub start_s: f64,
    /// Seconds from its first to its last packet.
    pub duration_s: f64,
    /// Its end.
    pub state: State,
    /// Time from the SYN to the ACK that completes the handshake, in seconds; `None` if one of the three was sent
    /// twice.
    pub initial_rtt_s: Option<f64>,
    /// Whether the capture has a time for each of its packets. Without, rates and round trips are unknown.
    pub has_times: bool,
    /// The end at which the capture was taken, seen from the sender of more data; `None` if it does not show.
    pub vantage: Option<Vantage>,
    /// Typical round-trip time between the two ends in seconds, wherever the capture was taken; `None` if it does not
    /// show.
    pub rtt_s: Option<f64>,
    /// The shortest one in seconds: that of the handshake, or of data where that is less.
    pub min_rtt_s: Option<f64>,
    /// From the client to the server.
    pub forward: Direction,
    /// From the server to the client.
    pub backward: Direction,
}

/// The point of the path at which a capture was taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Vantage {
    /// At the sender, or close to it.
    Sender,
    /// Between the two.
    Between,
    /// At the receiver, or close to it.
    Receiver,
}

/// The end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Both ends said that they have no more data.
    Complete,
    /// The connection goes on after the end of the capture, or nobody closed it.
    Open,
    /// One end aborted it.
    Reset,
}

/// Options of the SYN of one side.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Handshake {
    /// The largest segment that it accepts, in bytes.
    pub mss: Option<u16>,
    /// Its window scale.
    pub window_scale: Option<u8>,
    /// Whether it accepts SACK blocks.
    pub sack_permitted: bool,
    /// Whether it sends timestamps.
    pub timestamps: bool,
    /// The ECN that it asks for or agrees to.
    pub ecn: EcnOffer,
    /// The capabilities that it offers in the option of SCPS-TP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scps: Option<ScpsOffer>,
    /// Bytes of its fast open cookie, 0 if it requests one (RFC 7413).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_open: Option<u8>,
    /// Bytes of data in the SYN.
    #[serde(skip_serializing_if = "is_zero")]
    pub data: u16,
    /// Its first window in bytes.
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
    /// SNACK options without bit vector (SNACK1).
    pub snack_short: bool,
    /// SNACK options with bit vector (SNACK2).
    pub snack_long: bool,
    /// Compressed headers.
    pub compression: bool,
    /// Timestamps of the network layer.
    pub network_timestamps: bool,
    /// The id that replaces the ports in compressed headers.
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

/// The ECN offer of a SYN.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EcnOffer {
    /// No ECN.
    No,
    /// RFC 3168.
    Classic,
    /// RFC 9768.
    Accurate,
}

/// Plain counts of one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counts {
    /// Packets.
    pub packets: u64,
    /// Packets with data.
    pub data_segments: u64,
    /// Bytes of data, including repetitions.
    pub payload_bytes: u64,
    /// Bytes of data seen for the first time.
    pub unique_bytes: u64,
    /// Bytes of data that had been seen before: `payload_bytes` minus `unique_bytes`.
    pub repeated_bytes: u64,
    /// Segments with data, SYN or FIN that had been sent before.
    pub retransmitted_segments: u64,
    /// Of these: SYN and FIN without data.
    pub retransmitted_controls: u64,
    /// Of these: duplicate ACKs or SACK blocks asked for them.
    pub fast_retransmissions: u64,
    /// Of these: after a timeout, including those that follow from it.
    pub timeout_retransmissions: u64,
    /// Of these: tail loss probes.
    pub tail_probes: u64,
    /// Of these: the capture never saw the first copy, which was lost before it reached the capture.
    pub lost_before: u64,
    /// Unnecessary retransmissions, according to D-SACK blocks.
    pub spurious_retransmissions: u64,
    /// Segments that arrived after later ones, without having been sent again.
    pub out_of_order: u64,
    /// ACKs without data that repeat number and window of the previous one (RFC 5681 §2).
    pub duplicate_acks: u64,
    /// ACKs that change only the window.
    pub window_updates: u64,
    /// SACK blocks.
    pub sack_blocks: u64,
    /// Of these: D-SACK (RFC 2883), which report data that arrived twice.
    pub dsack_blocks: u64,
    /// SNACK options of SCPS-TP: reported holes.
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
    /// The most bytes in flight.
    pub max_in_flight_bytes: u64,
    /// ECN-capable packets (ECT).
    pub ect_packets: u64,
    /// Packets marked by a queue (CE).
    pub ce_packets: u64,
    /// Segments with ECE after the handshake. With accurate ECN these bits are a counter and not counted here.
    pub ece_segments: u64,
    /// Segments with CWR, likewise.
    pub cwr_segments: u64,
    /// Segments with the AccECN option (RFC 9768 §3.2.3).
    pub accecn_options: u64,
    /// Bytes of the other side's data that these report as arrived with CE.
    pub reported_ce_bytes: u64,
    /// Likewise with ECT(0).
    pub reported_ect0_bytes: u64,
    /// Likewise with ECT(1).
    pub reported_ect1_bytes: u64,
    /// Packets with a wrong checksum. Packets that a host sends may lack it until the network card fills it in.
    pub checksum_errors: u64,
    /// Options with a wrong length, or that came twice.
    pub malformed_options: u64,
    /// Packets that the capture cut within their TCP options.
    pub cut_headers: u64,
}

/// One direction of a connection.
#[derive(Clone, Debug, Serialize)]
pub struct Direction {
    /// The SYN, if the capture has it.
    pub handshake: Option<Handshake>,
    /// Plain counts.
    #[serde(flatten)]
    pub counts: Counts,
    /// Unique data in bit/s, from the first data to the last ACK.
    pub goodput_bps: Option<f64>,
    /// Time from the first data to its last ACK, in seconds.
    pub data_s: Option<f64>,
    /// The mean of the bytes in flight while there are any.
    pub mean_in_flight_bytes: Option<f64>,
    /// Gaps: stretches of acknowledged data that the capture does not hold.
    pub gaps: u64,
    /// Bytes in them.
    pub gap_bytes: u64,
    /// Time from the capture to the receiver of this direction and back.
    pub rtt: Option<Rtt>,
}

/// The ways to measure a round-trip time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// From a segment to its ACK, if it was sent once (Karn).
    Ack,
    /// From a timestamp to its first echo, where that gives far more samples: for a side that sends little.
    /// Echoes that may have waited for data of the other side do not count.
    Timestamp,
}

/// Round-trip times in seconds. Median and 95th percentile are exact to 0.8 %.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
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
