//! Information about a connection for a host that carries real data: the offset of a segment, the accepted data, and
//! the fields of TCP_INFO. The connection itself only counts bytes, and does not need this information.

use super::{Connection, State};
use crate::config::{Config, WindowEdge};
use crate::ecn::Delivered;
use crate::scoreboard::SegmentCounts;
use crate::segment::{Segment, SeqNumber};
use crate::sender::{Sender, Sending};
use lightlag_control::congestion::Phase;
use lightlag_control::congestion::custom::Fault;
use lightlag_core::{Duration, Rate};
use lightlag_transport::Standing;

/// State of a connection that its [`Snapshot`](crate::Snapshot) does not contain, for TCP_INFO. It is assembled on
/// request.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Details {
    /// Numbers of outstanding segments by their state.
    pub counts: SegmentCounts,
    /// Phase of loss repair.
    pub phase: Phase,
    /// Whether data is out of order although no repair has started (TCP_CA_Disorder of Linux).
    pub disorder: bool,
    /// Whether the window was reduced after a congestion mark and data sent before is still unacknowledged (TCP_CA_CWR
    /// of Linux).
    pub reduced: bool,
    /// Degree of reordering, in segments; 3 if no reordering was seen.
    pub reordering: u32,
    /// Number of ACKs that showed reordering, if losses are detected by time (RACK).
    pub reordering_seen: u32,
    /// Consecutive timeouts without progress.
    pub retries: u8,
    /// Whether timestamps were negotiated.
    pub timestamps: bool,
    /// Whether SACK was negotiated.
    pub sack: bool,
    /// Whether ECN was negotiated.
    pub ecn: bool,
    /// Window scale shifts of the peer's windows and of local windows; `None` if window scaling was not negotiated.
    pub scales: Option<(u8, u8)>,
    /// RTTVAR (RFC 6298).
    pub rtt_variance: Duration,
    /// Last window that the peer advertised, in bytes.
    pub peer_window: u64,
    /// Last window that was advertised to the peer, in bytes.
    pub window: u64,
    /// Current size of the receive buffer, in bytes.
    pub receive_buffer: u64,
    /// Number of written bytes that have not been sent yet.
    pub unsent: u64,
    /// Pacing rate, if the congestion control has one.
    pub pacing_rate: Option<Rate>,
    /// Payload that was delivered, as reported by cumulative ACKs or SACK, in bytes.
    pub delivered: u64,
    /// Number of delivered segments, including the SYN and the FIN. Data acknowledged together with its SYN counts as
    /// one segment with it.
    pub delivered_segments: u64,
    /// Payload that arrived with ECT(1), CE and ECT(0), in bytes, as counted by AccECN.
    pub ecn_bytes: [u64; 3],
    /// Packets that arrived with CE, as counted by AccECN.
    pub ce_packets: u64,
}

impl Connection {
    /// Returns the failure of a custom congestion control, if it failed.
    pub fn fault(&self) -> Option<&Fault> {
        self.sending.awake()?.congestion()?.fault()
    }

    /// Returns the offset of a segment's payload in the peer's stream. `None` before the peer's SYN arrived, and for
    /// the SYN itself.
    pub fn receive_offset(&self, seq: SeqNumber) -> Option<u64> {
        if matches!(self.state, State::Closed | State::Listen | State::SynSent) {
            return None;
        }
        seq.expand(self.remote, self.receiver.nxt())
    }

    /// Returns the number of payload bytes accepted so far, in order or above a hole. If a segment increases it, the
    /// segment was accepted up to [`Self::receive_edge`]; otherwise the segment had no new data or was rejected.
    pub fn held(&self) -> u64 {
        self.receiver.received() + self.receiver.above_holes()
    }

    /// Returns true if the peer's FIN arrived, in order or not. The segment with the FIN was then accepted, even if
    /// [`Self::held`] decreased because data beyond the FIN was dropped.
    pub fn knows_end(&self) -> bool {
        self.receiver.knows_end()
    }

    /// Returns the first offset beyond the window advertised to the peer.
    pub fn receive_edge(&self) -> u64 {
        self.receiver.edge()
    }

    /// Returns the maximum end offset of the payload of the next acceptable segment: the right edge of the window, or
    /// [`u64::MAX`] if segments that cross the edge are accepted completely.
    pub fn taken_until(&self) -> u64 {
        match self.config.window_edge {
            WindowEdge::Whole => u64::MAX,
            WindowEdge::Trim => self.receiver.edge(),
        }
    }

    /// Returns the offset in the local stream of the payload of a segment that [`Self::poll_segment`] returned.
    pub fn send_offset(&self, seq: SeqNumber) -> u64 {
        seq.expand(self.local, self.una()).unwrap_or(0)
    }

    /// Returns true if the connection started in LISTEN.
    pub fn is_passive(&self) -> bool {
        self.passive
    }

    /// Returns true if this is the sequence number of the local SYN.
    pub fn is_syn(&self, seq: SeqNumber) -> bool {
        seq.plus(1) == self.local
    }

    /// Returns true if a segment with this sequence number is in flight. An ICMP error can only concern such a segment
    /// (RFC 5927 §4.1).
    pub fn is_under_way(&self, seq: SeqNumber) -> bool {
        let (una, nxt) = self.edges();
        seq.expand(self.local, una).is_some_and(|offset| (una..nxt).contains(&offset))
    }

    /// Returns the number of payload bytes that the peer acknowledged, which are never retransmitted.
    #[inline]
    pub fn acknowledged(&self) -> u64 {
        self.sending.awake().map_or(0, |sender| sender.payload(sender.board().una()))
    }

    /// Returns the number of payload bytes that this end acknowledged, which the peer will never retransmit.
    pub fn confirmed(&self) -> u64 {
        self.receiver.confirmed()
    }

    /// Returns true if the last segment belongs to the one before it. A segment without data then did nothing but
    /// advance the cumulative acknowledgement, so that a router may replace the previous such segment in its queue by
    /// this one (RFC 3449 §5.2.1). A segment with data was then handed over in one burst with the segment with data
    /// before it (GSO), and after it.
    #[inline(always)]
    pub fn follows(&self) -> bool {
        self.follows
    }

    /// Returns the number of payload bytes that were sent at least once.
    pub fn sent(&self) -> u64 {
        self.sending.awake().map_or(0, |sender| sender.payload(sender.board().nxt()))
    }

    /// Returns the maximum window that the peer advertised, in bytes.
    pub fn largest_peer_window(&self) -> u64 {
        self.max_window()
    }

    /// Returns true if all data, and the local FIN if there is one, are acknowledged.
    pub fn all_acknowledged(&self) -> bool {
        self.sending.awake().is_none_or(|sender| sender.board().is_empty() && sender.unsent() == 0)
    }

    /// Returns true if the application has closed and all its data was sent at least once.
    pub fn has_sent_everything(&self) -> bool {
        self.sending.awake().is_some_and(|sender| sender.is_closing() && sender.unsent() == 0)
    }

    /// Returns the values for time averages (mean window, limits), which are valid until the next event of the
    /// connection.
    pub fn standing(&self) -> Standing {
        self.look(|sender| sender.account.standing(sender.limit(), sender.cwnd(), sender.segment_size()))
    }

    /// Returns the payload of a full segment, in bytes.
    pub fn segment_size(&self) -> u32 {
        match &self.sending {
            Sending::Awake(sender) => sender.segment_size(),
            Sending::Resting(rest) => rest.segment_size.into(),
        }
    }

    /// Returns the behaviour of this end.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns, in TIME-WAIT, the local initial sequence number for the new connection that this SYN opens. `None`
    /// unless timestamp or sequence number prove that the SYN is new (RFC 9293 §3.6.1, RFC 6191).
    pub fn successor(&self, segment: &Segment) -> Option<SeqNumber> {
        self.begins_anew(segment).then(|| self.next_initial())
    }

    /// Returns what was delivered with and without congestion marks, as reported by the peer.
    pub fn delivered_marks(&self) -> Delivered {
        self.sending.awake().map_or_else(Delivered::default, |sender| sender.account.delivered())
    }

    /// Returns the number of delivered segments, as `tcpi_delivered` of Linux.
    fn delivered_segments(&self) -> u64 {
        let opened = self.max_window() > 0;
        let outcome = self.fast_open_outcome();
        let with_syn = u64::from(outcome.sent > 0 && outcome.taken);
        let delivered = |sender: &Sender| sender.board().numbers().0 + u64::from(sender.board().sacked());
        self.look(delivered) + u64::from(opened && !self.is_unconfirmed()) - with_syn
    }

    /// Returns the state for TCP_INFO that the snapshot does not contain.
    pub fn details(&self) -> Details {
        self.look(|sender| self.details_with(sender))
    }

    fn details_with(&self, sender: &Sender) -> Details {
        let board = sender.board();
        let una = sender.payload(board.una());
        let (ecn_bytes, ce_packets) = self.extras.ecn().map_or_else(Default::default, |ecn| ecn.arrived());
        Details {
            ecn_bytes,
            ce_packets,
            counts: board.counts(),
            phase: sender.phase(),
            disorder: sender.disorder(),
            reordering: sender.reordering(),
            reordering_seen: sender.reordering_seen(),
            reduced: sender.answers_mark(),
            retries: sender.retries(),
            timestamps: self.timestamps,
            sack: self.sack,
            ecn: self.extras.ecn().is_some(),
            scales: self.receiver.scale().map(|ours| (self.peer_scale, ours)),
            rtt_variance: sender.rtt().variance(),
            peer_window: sender.peer_edge().saturating_sub(una),
            window: self.receiver.edge().saturating_sub(self.receiver.nxt()),
            receive_buffer: self.receiver.buffer(),
            unsent: sender.unsent(),
            pacing_rate: sender.congestion().and_then(|algorithm| algorithm.departures()?.pacing_rate()),
            delivered: una + board.sacked_bytes(),
            delivered_segments: self.delivered_segments(),
        }
    }
}
