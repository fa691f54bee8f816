//! The fields of TCP_INFO (tcp(7), `struct tcp_info`) that this TCP knows.

use crate::stream::Stream;
use lightlag_control::congestion::Phase;
use lightlag_core::{Duration, Instant, Rate};
use lightlag_tcp::State;
use lightlag_tcp::ecn::Delivered;
use lightlag_tcp::fast_open::Refusal;

/// The state of a connection in the terms of Linux. The fields of Linux that are unknown here: `probes`, `fackets`,
/// `rcv_rtt`, `rcv_space`, `delivery_rate`, `rehash`, `total_rto_recoveries`, `total_rto_time` and the failures of
/// AccECN.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TcpInfo {
    /// tcpi_state.
    pub state: State,
    /// tcpi_ca_state: the kind of recovery.
    pub phase: Phase,
    /// tcpi_ca_state: data is out of order, and nothing is being repaired yet.
    pub disorder: bool,
    /// tcpi_ca_state: a congestion mark was answered less than a round trip ago.
    pub reduced: bool,
    /// tcpi_reordering: the degree of reordering seen, in segments.
    pub reordering: u32,
    /// tcpi_reord_seen: the number of ACKs that showed reordering.
    pub reord_seen: u32,
    /// tcpi_dsack_dups: ACKs that reported data as received twice.
    pub dsack_dups: u64,
    /// tcpi_rcv_ooopack: segments with payload that arrived above a hole.
    pub rcv_ooopack: u64,
    /// tcpi_last_data_sent: the time since payload left; zero if none did.
    pub last_data_sent: Duration,
    /// tcpi_last_data_recv: the time since payload arrived; zero if none did.
    pub last_data_recv: Duration,
    /// tcpi_last_ack_recv: the time since an ACK arrived; zero if none did.
    pub last_ack_recv: Duration,
    /// tcpi_retransmits: timeouts in a row without progress.
    pub retransmits: u8,
    /// tcpi_options: timestamps were agreed on.
    pub timestamps: bool,
    /// tcpi_options: SACK was agreed on.
    pub sack: bool,
    /// tcpi_options: ECN was agreed on.
    pub ecn: bool,
    /// tcpi_options: data in the SYN was accepted.
    pub syn_data: bool,
    /// tcpi_fastopen_client_fail: the reason why data in the SYN did not help.
    pub fast_open_refusal: Refusal,
    /// tcpi_snd_wscale and tcpi_rcv_wscale, if window scaling was agreed on.
    pub scales: Option<(u8, u8)>,
    /// tcpi_rto.
    pub rto: Duration,
    /// tcpi_ato: the longest delay of an ACK.
    pub ato: Duration,
    /// tcpi_snd_mss: payload of a full segment.
    pub snd_mss: u32,
    /// tcpi_rcv_mss: the largest payload that arrived.
    pub rcv_mss: u32,
    /// tcpi_advmss: the MSS of the local SYN, less the options of every segment.
    pub advmss: u32,
    /// tcpi_unacked, in segments.
    pub unacked: u32,
    /// tcpi_sacked, in segments.
    pub sacked: u32,
    /// tcpi_lost, in segments.
    pub lost: u32,
    /// tcpi_retrans: retransmitted segments in flight.
    pub retrans: u32,
    /// tcpi_total_retrans, in segments.
    pub total_retrans: u64,
    /// tcpi_rtt: SRTT; zero before the first sample.
    pub rtt: Duration,
    /// tcpi_rttvar.
    pub rttvar: Duration,
    /// tcpi_min_rtt; [`Duration::MAX`] before the first sample.
    pub min_rtt: Duration,
    /// tcpi_snd_ssthresh in segments; [`u32::MAX`] before the first loss.
    pub snd_ssthresh: u32,
    /// tcpi_snd_cwnd in segments.
    pub snd_cwnd: u32,
    /// tcpi_snd_wnd: the peer's window in bytes.
    pub snd_wnd: u64,
    /// tcpi_rcv_wnd: the local window in bytes.
    pub rcv_wnd: u64,
    /// The current receive buffer, in bytes of payload.
    pub receive_buffer: u64,
    /// tcpi_pacing_rate, if the congestion control has one.
    pub pacing_rate: Option<Rate>,
    /// tcpi_bytes_acked.
    pub bytes_acked: u64,
    /// tcpi_bytes_received, in order.
    pub bytes_received: u64,
    /// tcpi_bytes_sent, retransmissions included.
    pub bytes_sent: u64,
    /// tcpi_bytes_retrans.
    pub bytes_retrans: u64,
    /// tcpi_notsent_bytes: written and never sent.
    pub notsent_bytes: u64,
    /// tcpi_segs_out.
    pub segs_out: u64,
    /// tcpi_segs_in.
    pub segs_in: u64,
    /// tcpi_data_segs_out.
    pub data_segs_out: u64,
    /// tcpi_data_segs_in.
    pub data_segs_in: u64,
    /// tcpi_delivered: segments that were acknowledged or reported by SACK, including the SYN.
    pub delivered: u64,
    /// tcpi_delivered_ce, and tcpi_delivered_e1_bytes, _e0_bytes and _ce_bytes.
    pub delivered_marks: Delivered,
    /// tcpi_received_ce: packets that arrived with CE, as counted by AccECN.
    pub received_ce: u64,
    /// tcpi_received_e1_bytes, _ce_bytes and _e0_bytes, in this order.
    pub received_ecn_bytes: [u64; 3],
    /// The current send buffer, in bytes of payload and overhead.
    pub send_buffer: u64,
    /// tcpi_busy_time: time during which data was unacknowledged.
    pub busy_time: Duration,
    /// tcpi_sndbuf_limited: the part of it in which an application waited for room in the send buffer while the window
    /// had some.
    pub sndbuf_limited: Duration,
    /// tcpi_rwnd_limited: the part of it in which only the peer's window held the sender back.
    pub rwnd_limited: Duration,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
}

/// Padded bytes of the timestamps option.
const TIMESTAMPS_LEN: u32 = 12;

impl TcpInfo {
    pub(crate) fn of(now: Instant, stream: &Stream) -> Self {
        let (connection, traffic) = (&stream.connection, &stream.traffic);
        let (details, snapshot, config) = (connection.details(), connection.snapshot(), connection.config());
        let (statistics, chronograph) = (connection.statistics(), stream.chronograph());
        let size = snapshot.segment_size.max(1);
        let segments = |bytes: u64| (bytes / size).min(u64::from(u32::MAX)) as u32;
        let since = |at: Instant| if at == Instant::ZERO { Duration::ZERO } else { now.since(at) };
        let options = if details.timestamps && !config.mss_is_payload { TIMESTAMPS_LEN } else { 0 };
        Self {
            state: match connection.state() {
                State::Closed => State::Closed,
                _ if connection.is_unconfirmed() => State::SynReceived,
                state => state,
            },
            phase: details.phase,
            disorder: details.disorder,
            reordering: details.reordering,
            reord_seen: details.reordering_seen,
            dsack_dups: statistics.dsacks,
            rcv_ooopack: traffic.out_of_order_in,
            last_data_sent: since(traffic.data_out_at),
            last_data_recv: since(traffic.data_in_at),
            last_ack_recv: since(traffic.ack_in_at),
            reduced: details.reduced,
            retransmits: details.retries,
            timestamps: details.timestamps,
            sack: details.sack,
            ecn: details.ecn,
            syn_data: connection.fast_open_outcome().taken,
            fast_open_refusal: connection.fast_open_outcome().refusal,
            scales: details.scales,
            rto: snapshot.rto,
            ato: config.delayed_ack.map_or(Duration::ZERO, |delayed| delayed.timeout),
            snd_mss: snapshot.segment_size as u32,
            rcv_mss: u32::from(traffic.largest_in),
            advmss: u32::from(config.mss).saturating_sub(options),
            unacked: details.counts.unacked,
            sacked: details.counts.sacked,
            lost: details.counts.lost,
            retrans: details.counts.retransmitted,
            total_retrans: statistics.retransmitted_segments,
            rtt: snapshot.srtt,
            rttvar: details.rtt_variance,
            min_rtt: snapshot.min_rtt,
            snd_ssthresh: if snapshot.ssthresh == u64::MAX { u32::MAX } else { segments(snapshot.ssthresh) },
            snd_cwnd: segments(snapshot.cwnd),
            snd_wnd: details.peer_window,
            rcv_wnd: details.window,
            receive_buffer: details.receive_buffer,
            pacing_rate: details.pacing_rate,
            bytes_acked: connection.acknowledged(),
            bytes_received: connection.received(),
            bytes_sent: traffic.bytes_sent,
            bytes_retrans: traffic.bytes_retransmitted,
            notsent_bytes: stream.unsent(),
            segs_out: traffic.segments_out,
            segs_in: traffic.segments_in,
            data_segs_out: traffic.data_segments_out,
            data_segs_in: traffic.data_segments_in,
            delivered: details.delivered_segments,
            delivered_marks: connection.delivered_marks(),
            received_ce: details.ce_packets,
            received_ecn_bytes: details.ecn_bytes,
            send_buffer: stream.space.limit(),
            busy_time: chronograph.busy.total(now),
            sndbuf_limited: chronograph.starved.total(now),
            rwnd_limited: chronograph.refused.total(now),
            timeouts: statistics.timeouts,
        }
    }
}
