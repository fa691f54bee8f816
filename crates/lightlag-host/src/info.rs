//! The supported fields of TCP_INFO (tcp(7), `struct tcp_info`).

use crate::stream::Stream;
use lightlag_control::congestion::Phase;
use lightlag_core::{Duration, Instant, Rate};
use lightlag_tcp::State;
use lightlag_tcp::ecn::Delivered;
use lightlag_tcp::fast_open::Refusal;

/// The state of a connection as in Linux's `tcp_info`. Fields of Linux that are not supported: `probes`, `fackets`,
/// `rcv_rtt`, `rcv_space`, `delivery_rate`, `rehash`, `total_rto_recoveries`, `total_rto_time` and the failures of
/// AccECN.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TcpInfo {
    /// tcpi_state: the state of the TCP state machine.
    pub state: State,
    /// tcpi_ca_state: the kind of recovery.
    pub phase: Phase,
    /// tcpi_ca_state: data arrived out of order, but no loss is being repaired yet.
    pub disorder: bool,
    /// tcpi_ca_state: the window was reduced for a congestion mark less than a round trip ago.
    pub reduced: bool,
    /// tcpi_reordering: the observed degree of reordering, in segments.
    pub reordering: u32,
    /// tcpi_reord_seen: the number of ACKs that revealed reordering.
    pub reord_seen: u32,
    /// tcpi_dsack_dups: the number of ACKs that reported data as received twice.
    pub dsack_dups: u64,
    /// tcpi_rcv_ooopack: the number of segments with payload that arrived above a hole.
    pub rcv_ooopack: u64,
    /// tcpi_last_data_sent: the time since payload was last sent; zero if none was.
    pub last_data_sent: Duration,
    /// tcpi_last_data_recv: the time since payload last arrived; zero if none has.
    pub last_data_recv: Duration,
    /// tcpi_last_ack_recv: the time since an ACK last arrived; zero if none has.
    pub last_ack_recv: Duration,
    /// tcpi_retransmits: the number of consecutive timeouts without progress.
    pub retransmits: u8,
    /// tcpi_options: timestamps were negotiated.
    pub timestamps: bool,
    /// tcpi_options: SACK was negotiated.
    pub sack: bool,
    /// tcpi_options: ECN was negotiated.
    pub ecn: bool,
    /// tcpi_options: data in the SYN was accepted.
    pub syn_data: bool,
    /// tcpi_fastopen_client_fail: the reason why sending data in the SYN failed, if it did.
    pub fast_open_refusal: Refusal,
    /// tcpi_snd_wscale and tcpi_rcv_wscale; `None` if window scaling was not negotiated.
    pub scales: Option<(u8, u8)>,
    /// tcpi_rto: the retransmission timeout.
    pub rto: Duration,
    /// tcpi_ato: maximum delay of an ACK.
    pub ato: Duration,
    /// tcpi_snd_mss: payload of a full segment.
    pub snd_mss: u32,
    /// tcpi_rcv_mss: the largest payload that arrived.
    pub rcv_mss: u32,
    /// tcpi_advmss: the MSS of the local SYN, less the options that every segment carries.
    pub advmss: u32,
    /// tcpi_unacked: segments that were sent and are not cumulatively acknowledged.
    pub unacked: u32,
    /// tcpi_sacked: segments that SACK reported as received.
    pub sacked: u32,
    /// tcpi_lost: segments that are considered lost.
    pub lost: u32,
    /// tcpi_retrans: retransmitted segments in flight.
    pub retrans: u32,
    /// tcpi_total_retrans: segments retransmitted so far.
    pub total_retrans: u64,
    /// tcpi_rtt: SRTT; zero before the first sample.
    pub rtt: Duration,
    /// tcpi_rttvar: the variation of the round-trip time.
    pub rttvar: Duration,
    /// tcpi_min_rtt: the minimum round-trip time; [`Duration::MAX`] before the first sample.
    pub min_rtt: Duration,
    /// tcpi_snd_ssthresh: the slow-start threshold in segments; [`u32::MAX`] before the first loss.
    pub snd_ssthresh: u32,
    /// tcpi_snd_cwnd: the congestion window in segments.
    pub snd_cwnd: u32,
    /// tcpi_snd_wnd: the peer's window in bytes.
    pub snd_wnd: u64,
    /// tcpi_rcv_wnd: the local window in bytes.
    pub rcv_wnd: u64,
    /// The size of the receive buffer, in bytes of payload.
    pub receive_buffer: u64,
    /// tcpi_pacing_rate; `None` if the congestion control does not pace.
    pub pacing_rate: Option<Rate>,
    /// tcpi_bytes_acked: bytes that the peer has acknowledged.
    pub bytes_acked: u64,
    /// tcpi_bytes_received: bytes that were received in order.
    pub bytes_received: u64,
    /// tcpi_bytes_sent: bytes of payload that were sent, retransmissions included.
    pub bytes_sent: u64,
    /// tcpi_bytes_retrans: retransmitted bytes of payload.
    pub bytes_retrans: u64,
    /// tcpi_notsent_bytes: bytes that were written and never sent.
    pub notsent_bytes: u64,
    /// tcpi_segs_out: segments sent.
    pub segs_out: u64,
    /// tcpi_segs_in: segments received.
    pub segs_in: u64,
    /// tcpi_data_segs_out: segments sent with payload.
    pub data_segs_out: u64,
    /// tcpi_data_segs_in: segments received with payload.
    pub data_segs_in: u64,
    /// tcpi_delivered: segments that were acknowledged or reported by SACK, including the SYN.
    pub delivered: u64,
    /// tcpi_delivered_ce, tcpi_delivered_e1_bytes, tcpi_delivered_e0_bytes and tcpi_delivered_ce_bytes.
    pub delivered_marks: Delivered,
    /// tcpi_received_ce: packets that arrived with CE, as counted by AccECN.
    pub received_ce: u64,
    /// tcpi_received_e1_bytes, _ce_bytes and _e0_bytes, in this order.
    pub received_ecn_bytes: [u64; 3],
    /// The size of the send buffer, in bytes of payload and overhead.
    pub send_buffer: u64,
    /// tcpi_busy_time: time during which data was unacknowledged.
    pub busy_time: Duration,
    /// tcpi_sndbuf_limited: the part of `busy_time` in which the application waited for space in the send buffer
    /// although the congestion window was not full.
    pub sndbuf_limited: Duration,
    /// tcpi_rwnd_limited: the part of `busy_time` in which only the peer's window limited the sender.
    pub rwnd_limited: Duration,
    /// Number of expiries of the retransmission timer.
    pub timeouts: u64,
}

/// Size of the timestamps option with its padding, in bytes.
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
