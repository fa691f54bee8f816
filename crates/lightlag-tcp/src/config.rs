//! The behaviour of one end of a connection: the resolved [`Config`], and the [`Options`] of a scenario that lead to
//! it.

use crate::ecn::{AccecnOption, Ect, Mode};
pub use crate::timer::TimerGranularity;
use lightlag_control::congestion::Choice;
use lightlag_control::congestion::careful_resume::Saved;
use lightlag_core::{Bytes, Duration};
use serde::Serialize;

mod fast_open;
mod initial_window;
mod loss_assumption;
mod options;
mod profile;
mod receive_buffer;
mod route;
mod rto;
mod scps;

pub use fast_open::FastOpen;
pub use initial_window::InitialWindow;
pub use lightlag_control::rtt::{Rto, Variance, VarianceGain};
pub use loss_assumption::{LossAssumption, register_response};
pub use options::{DelayedAckOptions, DelayedAckSwitch, OptionError, Options};
pub use profile::Profile;
pub(crate) use receive_buffer::INITIAL as INITIAL_RECEIVE_BUFFER;
pub use receive_buffer::{AutoBuffer, ReceiveBuffer};
pub use route::{PathParameters, PathWord, Route, RouteOptions, RouteSwitch};
pub use rto::RtoOptions;
pub use scps::{
    Bets, BetsOptions, BetsSwitch, RateControl, RateControlOptions, Scps, ScpsOptions, ScpsSwitch, SnackForm,
    TokenRelease,
};

/// The complete behaviour of one endpoint. Connections share it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Config {
    /// The profile that it started from.
    pub profile: Profile,
    /// The congestion control.
    pub congestion: Choice,
    /// Value of the MSS option in bytes (RFC 9293 §3.7.1).
    pub mss: u16,
    /// Whether a full segment carries `mss` bytes whatever its options (ns-3, INET), or `mss` less its options.
    pub mss_is_payload: bool,
    /// Offer and use SACK (RFC 2018).
    pub sack: bool,
    /// Report data that arrived twice (D-SACK, RFC 2883), if SACK is used.
    pub dsack: bool,
    /// Offer and use timestamps (RFC 7323).
    pub timestamps: bool,
    /// Offer and use explicit congestion notification.
    pub ecn: Mode,
    /// The codepoint of packets that can be marked.
    pub ect: Ect,
    /// With AccECN every segment after the handshake can be marked, as in Linux; otherwise only new data (RFC 3168
    /// §6.1.4 to 6.1.6).
    pub ect_control: bool,
    /// Times at which the AccECN option is sent (RFC 9768 §3.2.3.3).
    pub accecn_option: AccecnOption,
    /// A mark costs less than a loss (ABE, RFC 8511).
    pub abe: bool,
    /// Offer and use window scaling (RFC 7323).
    pub window_scaling: bool,
    /// Initial window in segments (RFC 5681 §3.1, RFC 6928); at most 65,535, and in a scenario 1,000.
    pub initial_window: u32,
    /// The first slow-start threshold in segments; `None` has none before the first congestion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<u32>,
    /// The largest congestion window in segments (`snd_cwnd_clamp` in Linux, `window_` in ns-2); `None` does not limit it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cwnd: Option<u32>,
    /// The most bytes in these segments, except for two of any size (RFC 6928 §2); `None` does not limit them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_window_bytes: Option<Bytes>,
    /// Receive buffer: the largest advertised window.
    pub receive_buffer: Bytes,
    /// The first size of an automatic receive buffer; `None` for a fixed one.
    pub receive_buffer_initial: Option<Bytes>,
    /// Most data that is written and not acknowledged; `None` for any amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_buffer: Option<Bytes>,
    /// The rule for offered windows.
    pub receive_window: WindowRule,
    /// The probe of a closed window.
    pub probe: Probe,
    /// Keep the data that comes with a SYN until the connection is open (RFC 9293 §3.10.7.2). Otherwise it is dropped
    /// and the peer sends it again, as with Linux without fast open.
    pub syn_data: bool,
    /// Send data with a SYN, and accept it at once, if both ends do (RFC 7413).
    pub fast_open: FastOpen,
    /// Accept the part of a segment that fits into the buffer; otherwise all or nothing, as in INET.
    pub partial_segments: bool,
    /// The treatment of a segment that reaches beyond the offered window.
    pub window_edge: WindowEdge,
    /// Delayed ACKs (RFC 9293 §3.8.6.3); `None` acknowledges every segment at once.
    pub delayed_ack: Option<DelayedAck>,
    /// Set PSH on the last segment of each write and burst.
    pub push: bool,
    /// Send in bursts as large as 1 ms of the rate, at least two segments (TSO autosizing of Linux).
    pub tso: bool,
    /// Delay duplicate ACKs by up to 1 ms, for up to 44 segments together (Linux).
    pub sack_compression: bool,
    /// The retransmission timeout.
    pub rto: Rto,
    /// The precision of timers.
    pub timer_granularity: TimerGranularity,
    /// The ACKs that give a round-trip sample.
    pub rtt_samples: RttSamples,
    /// The scheme of loss repair.
    pub recovery: Scheme,
    /// The count of an ACK for growth.
    pub growth: Growth,
    /// The partial ACKs with which NewReno restarts the retransmission timer.
    pub partial_acks: PartialAcks,
    /// RACK's round trip is that of the segment which an ACK delivers last in the order of offsets, as computed by
    /// Linux, not that of the newest one (RFC 8985 §6.2).
    pub rack_rtt_by_offset: bool,
    /// Proportional rate reduction in fast recovery with SACK (RFC 9937).
    pub prr: bool,
    /// One segment leaves for every two ACKs of fast recovery with SACK, instead of proportional rate reduction (rate
    /// halving, as in the kernels of ns-2's TCP-Linux).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rate_halving: bool,
    /// Proportional rate reduction after a congestion mark, too, if it is on (Linux).
    pub prr_marks: bool,
    /// The value that a loss reduces, and the number of reductions.
    pub reductions: Reductions,
    /// Probe for the loss of the last segments (RFC 8985 §7); works with SACK.
    pub tlp: bool,
    /// Test a timeout with new data before everything is sent again (RFC 5682).
    pub frto: bool,
    /// Undo a reaction when timestamps show that no segment was lost (RFC 3522).
    pub eifel: bool,
    /// Undo a reaction when every retransmission was reported as a duplicate (RFC 2883, RFC 3708).
    pub dsack_undo: bool,
    /// Spread segments over the round trip, whatever the congestion control: at twice cwnd/SRTT in slow start, at 1.2
    /// times that afterwards (as in Linux). An algorithm with its own pacing is not affected.
    pub pacing: bool,
    /// The window after an idle time.
    pub idle_restart: IdleRestart,
    /// The most segments that leave at once; `None` sets no limit.
    pub burst_limit: Option<u32>,
    /// Send new data on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Hold back a small segment while data is in flight (RFC 9293 §3.7.4).
    pub nagle: bool,
    /// With [`Self::nagle`], hold it back only while another small one is in flight (Minshall's variant, as in Linux).
    pub minshall: bool,
    /// Retransmissions of a SYN before the connection is given up.
    pub syn_retries: u8,
    /// Retransmissions of a SYN, not of a SYN-ACK, that leave one initial timeout apart before the timeout doubles.
    /// [`Self::syn_retries`] counts those after them (`tcp_syn_linear_timeouts` of Linux).
    pub syn_linear_timeouts: u8,
    /// Timeouts in a row, without progress, before the connection is given up (RFC 9293 §3.8.3 R2).
    pub retries: u8,
    /// Duration of TIME-WAIT (2 MSL).
    pub time_wait: Duration,
    /// Duration of FIN-WAIT-2 once the application is gone; `None` waits for the peer.
    pub fin_wait: Option<Duration>,
    /// The limit of challenge ACKs (RFC 5961 §7); `None` for no limit.
    pub challenge_acks: Option<ChallengeAcks>,
    /// Answer an ACK of data that was never sent (RFC 9293 §3.10.7.4, RFC 5961 §5). Otherwise it is dropped, as in
    /// Linux 6.12.
    pub answer_unsent: bool,
    /// Drop segments without the timestamps that both ends agreed on (RFC 7323 §3.2); Linux accepts them.
    pub require_timestamps: bool,
    /// Probes of an idle connection (RFC 9293 §3.8.4); `None` sends none.
    pub keep_alive: Option<KeepAlive>,
    /// The offered capabilities of SCPS-TP; `None` offers none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scps: Option<Scps>,
    /// The assumed cause of a loss without evidence, or who decides for each loss.
    #[serde(skip_serializing_if = "is_default")]
    pub loss_assumption: LossAssumption,
    /// The interval of ACKs, whatever arrives; `None` for the delayed ACKs above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_interval: Option<Duration>,
    /// A token bucket for all segments that leave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_control: Option<RateControl>,
    /// Knowledge about the route beforehand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<Route>,
    /// Number of timeouts in a row for the same data that mean an outage; `None` for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outage_after: Option<u8>,
    /// State saved by an earlier connection on the path (Careful Resume, RFC 9959); `None` for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub careful_resume: Option<Saved>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// How a closed window is probed (RFC 9293 §3.8.6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Probe {
    /// Without data and with an old number, after the retransmission timeout with its back-off (Linux).
    Empty,
    /// With the next byte, after 5, 5, 6, 12, 24, 48, 60, 60 … s (BSD, INET; Stevens vol. 2 §25.7).
    Byte,
}

/// Which windows a receiver offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WindowRule {
    /// What the buffer has room for; an update for two segments or half the buffer (Stevens vol. 2 §26.7).
    Stevens,
    /// As `stevens`, but every window below an MSS is closed, also that of a buffer of few segments (Reschka et al.,
    /// Enhancement of the TCP Module in the OMNeT++/INET Framework, §3.2.3).
    Inet,
    /// At most 64 kB at first, then two segments more for each that arrives; an update for twice the window (Linux).
    Linux,
}

/// The fate of a segment that starts inside the offered window and ends beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WindowEdge {
    /// The part beyond is cut off (RFC 9293 §3.10.7.4).
    Trim,
    /// It is taken whole where the application has read everything, and refused whole otherwise. A FIN needs no room
    /// (Linux, `tcp_sequence`).
    Whole,
}

/// How a loss reduces the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Reductions {
    /// From FlightSize, in bytes; a timeout reduces once more (RFC 5681 §3.1, RFC 6675 §5.1, RFC 9937).
    Rfc,
    /// From the congestion window, in whole segments, and once for a window of data: a timeout in fast recovery lets the
    /// threshold be, and a repair after a timeout that is lost again begins fast recovery.
    Linux,
    /// From the congestion window, in whole segments, and each time: a timeout of the same data reduces again, down to two
    /// segments, and so does a loss found in the repair after a timeout (ns-2, `LinuxTcpAgent::enter_loss`).
    Each,
    /// As rfc with SACK. Without it, from FlightSize less a segment for each duplicate ACK, at a timeout as at a loss, and
    /// an ACK of just what an episode repaired is enough for the next (ns-3: GetSsThresh in EnterRecovery and ReTxTimeout
    /// of TcpSocketBase is given BytesInFlight, and DupAck compares with m_recover).
    Ns3,
}

/// The limit of challenge ACKs, for each connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChallengeAcks {
    /// So many, 1 to 1,000,
    #[schemars(range(min = 1, max = 1000))]
    pub count: u16,
    /// in so much time.
    pub every: Duration,
}

/// Probes of an idle connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct KeepAlive {
    /// The first leaves after so much silence of the peer (RFC 9293: at least 2 h by default).
    pub idle: Duration,
    /// Time from one to the next.
    pub interval: Duration,
    /// After so many without an answer the connection is given up.
    pub probes: u16,
}

impl Default for KeepAlive {
    /// As Linux.
    fn default() -> Self {
        Self { idle: Duration::from_secs(7_200), interval: Duration::from_secs(75), probes: 9 }
    }
}

/// Delayed ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DelayedAck {
    /// Acknowledge every so many segments.
    pub segments: u16,
    /// Acknowledge at the latest after this time.
    pub timeout: Duration,
    /// So many segments at the begin of the connection are acknowledged at once, as Linux does.
    pub quick: u16,
    /// Linux's rules instead of counting: what is more than `segments` - 1 full ones is acknowledged at once, quick
    /// ACKs return, and the time adapts to the peer's pace, from `timeout` on.
    pub adaptive: bool,
}

/// Which ACKs give a round-trip sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RttSamples {
    /// Every ACK of data that was sent once, from the exact time of sending (Linux); timestamps serve where
    /// a retransmission makes that time ambiguous.
    SendTime,
    /// Every ACK, from its timestamp echo, in ticks of 1 ms (ns-3); without timestamps as `send_time`.
    Timestamp,
    /// One segment at a time is timed (INET).
    OnePerRound,
    /// One segment at a time is timed, in whole ticks of 1 ms, until it is acknowledged, however often it had to leave
    /// again; a timeout gives it up (ns-2, `TcpAgent::output`).
    Timed,
}

/// How losses are repaired. SACK and SNACK need the agreement of both ends; without it, NewReno.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Fast retransmit and fast recovery until the first new ACK (RFC 5681 §3.2).
    Reno,
    /// Fast recovery until everything outstanding at its begin is acknowledged (RFC 6582).
    NewReno,
    /// Conservative loss recovery with SACK (RFC 6675).
    Sack,
    /// Loss by time, with SACK (RFC 8985).
    Rack,
    /// Loss by forward acknowledgement, with SACK: what is four segments below the highest one that was reported, and
    /// what was sent again before something that was (Mathis, Mahdavi, SIGCOMM 1996, as ns-2's `ScoreBoard1`). What was
    /// reported is forgotten when an episode ends.
    Fack,
    /// What SNACK options report leaves at once (SCPS-TP).
    Snack,
}

/// With which partial ACKs NewReno restarts the retransmission timer (RFC 6582 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartialAcks {
    /// The first of an episode: many losses end in a timeout.
    Impatient,
    /// Each: every loss is repaired, one a round trip.
    SlowButSteady,
}

/// What becomes of a window that is not used: when nothing was sent for longer than a timeout, or less than it allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IdleRestart {
    /// It stays.
    Off,
    /// The initial window (RFC 5681 §4.1).
    Rfc5681,
    /// Half for each timeout that passed, at least the initial window; ssthresh keeps three quarters of it
    /// (RFC 2861 §3, and Linux).
    Rfc2861,
    /// It stays for five minutes, then half; it grows only as far as it is used, and a loss meanwhile costs half of what
    /// was used (RFC 7661).
    Rfc7661,
}

/// What an ACK counts for the growth of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Growth {
    /// One segment an ACK (RFC 5681 §3.1).
    PerAck,
    /// The segments that it acknowledges (Linux).
    PerSegment,
    /// The bytes that it acknowledges, at most so many segments (RFC 3465).
    Abc(u8),
}
