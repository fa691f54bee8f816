//! Information for a host with real bytes about a connection, which only counts them: the place of a segment, the
//! accepted data, and the fields of TCP_INFO. Running a connection needs none of it.

use super::{Connection, State};
use crate::config::{Config, WindowEdge};
use crate::ecn::Delivered;
use crate::scoreboard::Counts;
use crate::segment::{Segment, SeqNumber};
use crate::sender::{Sender, Sending};
use lightlag_control::congestion::Phase;
use lightlag_control::congestion::own::Fault;
use lightlag_core::{Duration, Rate};
use lightlag_transport::Standing;

/// The state of a connection beyond its [`Snapshot`](crate::Snapshot), assembled on request.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Details {
    /// Counts of outstanding segments.
    pub counts: Counts,
    /// The losses being repaired.
    pub phase: Phase,
    /// Data is out of order, and no episode of repair has started (TCP_CA_Disorder of Linux).
    pub disorder: bool,
    /// A mark was answered, and data sent before it is not acknowledged yet (TCP_CA_CWR of Linux).
    pub reduced: bool,
    /// The degree of reordering seen, in segments; 3 if none was.
    pub reordering: u32,
    /// Number of ACKs that showed reordering, if losses are found by time.
    pub reordering_seen: u32,
    /// Timeouts in a row without progress.
    pub retries: u8,
    /// Whether the handshake agreed on timestamps.
    pub timestamps: bool,
    /// Whether it agreed on SACK.
    pub sack: bool,
    /// Whether it agreed on ECN.
    pub ecn: bool,
    /// Shifts of the peer's windows and of local ones, if it agreed on window scaling.
    pub scales: Option<(u8, u8)>,
    /// RTTVAR.
    pub rtt_variance: Duration,
    /// Window that the peer advertised, in bytes.
    pub peer_window: u64,
    /// Window that was advertised to the peer, in bytes.
    pub window: u64,
    /// The current receive buffer, in bytes.
    pub receive_buffer: u64,
    /// Bytes that wait to be sent for the first time.
    pub unsent: u64,
    /// The pacing rate, if the congestion control has one.
    pub pacing_rate: Option<Rate>,
    /// Delivered payload, cumulatively or by SACK, in bytes.
    pub delivered: u64,
    /// Delivered segments, including the SYN and the FIN. Data acknowledged with its SYN counts as one with it.
    pub delivered_segments: u64,
    /// Payload that arrived with ECT(1), CE and ECT(0), in bytes, as counted by AccECN.
    pub ecn_bytes: [u64; 3],
    /// Packets that arrived with CE, as counted by AccECN.
    pub ce_packets: u64,
}

impl Connection {
    /// The failure of its congestion control, if that comes from outside and has failed.
    pub fn fault(&self) -> Option<&Fault> {
        self.sending.awake()?.congestion()?.fault()
    }

    /// Offset of the payload in a segment of the peer. `None` before the peer's SYN, and for the SYN itself.
    pub fn receive_offset(&self, seq: SeqNumber) -> Option<u64> {
        if matches!(self.state, State::Closed | State::Listen | State::SynSent) {
            return None;
        }
        seq.expand(self.remote, self.receiver.nxt())
    }

    /// Bytes of payload accepted so far, in order or above a hole. A segment that raises it was accepted up to
    /// [`Self::receive_edge`]. One that does not brought no new data or was refused.
    pub fn held(&self) -> u64 {
        self.receiver.received() + self.receiver.above_holes()
    }

    /// Whether the peer's FIN arrived, in order or not. The segment with the FIN was accepted, even if [`Self::held`]
    /// falls: data after the end is dropped.
    pub fn knows_end(&self) -> bool {
        self.receiver.knows_end()
    }

    /// First offset that the peer may not send yet.
    pub fn receive_edge(&self) -> u64 {
        self.receiver.edge()
    }

    /// The highest end of the payload of an accepted segment: the edge of the window before it, unless segments are
    /// accepted whole there.
    pub fn taken_until(&self) -> u64 {
        match self.config.window_edge {
            WindowEdge::Whole => u64::MAX,
            WindowEdge::Trim => self.receiver.edge(),
        }
    }

    /// Offset of the payload of a segment from [`Self::poll_segment`].
    pub fn send_offset(&self, seq: SeqNumber) -> u64 {
        seq.expand(self.local, self.una()).unwrap_or(0)
    }

    /// Whether it started in LISTEN.
    pub fn is_passive(&self) -> bool {
        self.passive
    }

    /// Whether this is the number of the local SYN.
    pub fn is_syn(&self, seq: SeqNumber) -> bool {
        seq.plus(1) == self.local
    }

    /// Whether a segment with this number is in flight. A router can only have reported an error about such a segment
    /// (RFC 5927 §4.1).
    pub fn is_under_way(&self, seq: SeqNumber) -> bool {
        let (una, nxt) = self.edges();
        seq.expand(self.local, una).is_some_and(|offset| (una..nxt).contains(&offset))
    }

    /// Bytes of payload that the peer acknowledged, which never leave again.
    pub fn acknowledged(&self) -> u64 {
        self.sending.awake().map_or(0, |sender| sender.payload(sender.board().una()))
    }

    /// Bytes of payload that this end acknowledged, which the peer will never send again.
    pub fn confirmed(&self) -> u64 {
        self.receiver.confirmed()
    }

    /// Whether the last segment without data reports only how much arrived, and more than any before it. A router may
    /// let it replace the last such segment (RFC 3449 §5.2.1).
    #[inline]
    pub fn supersedes(&self) -> bool {
        self.supersedes
    }

    /// Bytes of payload that were sent at least once.
    pub fn sent(&self) -> u64 {
        self.sending.awake().map_or(0, |sender| sender.payload(sender.board().nxt()))
    }

    /// The largest window that the peer advertised, in bytes.
    pub fn largest_peer_window(&self) -> u64 {
        self.max_window()
    }

    /// Whether the local FIN, if there is one, and all data are acknowledged.
    pub fn all_acknowledged(&self) -> bool {
        self.sending.awake().is_none_or(|sender| sender.board().is_empty() && sender.unsent() == 0)
    }

    /// Whether the application has closed and all that it wrote has left once.
    pub fn has_sent_everything(&self) -> bool {
        self.sending.awake().is_some_and(|sender| sender.is_closing() && sender.unsent() == 0)
    }

    /// Its account as it stands until the next thing that happens to it.
    pub fn standing(&self) -> Standing {
        self.look(|sender| sender.account.standing(sender.limit(), sender.cwnd(), sender.segment_size()))
    }

    /// Payload of a full segment.
    pub fn segment_size(&self) -> u32 {
        match &self.sending {
            Sending::Awake(sender) => sender.segment_size(),
            Sending::Resting(rest) => rest.segment_size.into(),
        }
    }

    /// Its behaviour.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// In TIME-WAIT: the initial sequence number of the connection that this SYN certainly opens, by its timestamp or
    /// by its number (RFC 9293 §3.6.1, RFC 6191). `None` if it opens none.
    pub fn successor(&self, segment: &Segment) -> Option<SeqNumber> {
        self.begins_anew(segment).then(|| self.next_initial())
    }

    /// The peer's reports of marks on our packets.
    pub fn delivered_marks(&self) -> Delivered {
        self.sending.awake().map_or_else(Delivered::default, |sender| sender.account.delivered())
    }

    /// As `tcpi_delivered` of Linux.
    fn delivered_segments(&self) -> u64 {
        let opened = self.max_window() > 0;
        let outcome = self.fast_open_outcome();
        let with_syn = u64::from(outcome.sent > 0 && outcome.taken);
        let delivered = |sender: &Sender| sender.board().numbers().0 + u64::from(sender.board().sacked());
        self.look(delivered) + u64::from(opened && !self.is_unconfirmed()) - with_syn
    }

    /// The fields of TCP_INFO beyond the snapshot.
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
