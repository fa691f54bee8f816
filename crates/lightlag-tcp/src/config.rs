//! The behaviour of one end of a connection: the [`Config`], which is resolved from the [`Options`] of a scenario.

use crate::ecn::{AccecnOption, EcnMode, Ect};
pub use crate::timer::TimerGranularity;
use lightlag_control::congestion::Choice;
use lightlag_control::congestion::careful_resume::Saved;
use lightlag_core::{Bytes, Duration};
use serde::Serialize;

mod fast_open;
mod initial_window;
mod options;
mod profile;
mod receive_buffer;
mod route;
mod rto;
mod scps;

pub use fast_open::FastOpenUse;
pub use initial_window::InitialWindow;
pub use lightlag_control::congestion::loss_assumption::{LossAssumption, register_response};
pub use lightlag_control::rtt::{Rto, Variance, VarianceGain};
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

/// The complete behaviour of one endpoint, shared by its connections.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Config {
    /// The profile whose settings the options override.
    pub profile: Profile,
    /// The congestion control.
    pub congestion: Choice,
    /// Value of the MSS option in bytes (RFC 9293 §3.7.1).
    pub mss: u16,
    /// Whether a full segment carries `mss` bytes of payload whatever its options (ns-3, INET), or `mss` minus the size
    /// of its options.
    pub mss_is_payload: bool,
    /// Offer and use SACK (RFC 2018).
    pub sack: bool,
    /// Report data that arrived twice (D-SACK, RFC 2883), if SACK is used.
    pub dsack: bool,
    /// Offer and use timestamps (RFC 7323).
    pub timestamps: bool,
    /// Offer and use explicit congestion notification.
    pub ecn: EcnMode,
    /// Codepoint of ECN-capable packets.
    pub ect: Ect,
    /// With AccECN, send every segment after the handshake as ECN-capable, as Linux does; otherwise only new data (RFC
    /// 3168 §6.1.4 to 6.1.6).
    pub ect_control: bool,
    /// When the AccECN option is sent (RFC 9768 §3.2.3.3).
    pub accecn_option: AccecnOption,
    /// Reduce the window less after a congestion mark than after a loss (ABE, RFC 8511).
    pub abe: bool,
    /// Offer and use window scaling (RFC 7323).
    pub window_scaling: bool,
    /// Initial window in segments (RFC 5681 §3.1, RFC 6928); up to 65,535, in a scenario up to 1,000.
    pub initial_window: u32,
    /// Initial slow-start threshold in segments; `None` means no threshold until the first congestion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<u32>,
    /// Maximum congestion window in segments (`snd_cwnd_clamp` in Linux, `window_` in ns-2); `None` does not limit it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cwnd: Option<u32>,
    /// Maximum size of the initial window in bytes. Two segments of any size are always allowed (RFC 6928 §2). `None`
    /// sets no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_window_bytes: Option<Bytes>,
    /// Size of the receive buffer, which is also the maximum advertised window.
    pub receive_buffer: Bytes,
    /// Initial size of an automatic receive buffer; `None` for a fixed one.
    pub receive_buffer_initial: Option<Bytes>,
    /// Maximum amount of data that is written and not yet acknowledged; `None` is unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_buffer: Option<Bytes>,
    /// Rule for advertised windows.
    pub receive_window: WindowRule,
    /// Form of the probe that is sent while the peer's window is closed.
    pub probe: Probe,
    /// Keep the data of a SYN until the connection is open (RFC 9293 §3.10.7.2). Otherwise it is dropped and the peer
    /// retransmits it, as with Linux without fast open.
    pub syn_data: bool,
    /// Send data with a SYN, and deliver such data to the application immediately, if both ends support it (RFC 7413).
    pub fast_open: FastOpenUse,
    /// Accept the part of a segment that fits into the receive buffer. Otherwise a segment is accepted completely or
    /// not at all, as in INET.
    pub partial_segments: bool,
    /// Treatment of a segment that reaches beyond the advertised window.
    pub window_edge: WindowEdge,
    /// Delayed ACKs (RFC 9293 §3.8.6.3); `None` acknowledges every segment immediately.
    pub delayed_ack: Option<DelayedAck>,
    /// Set PSH on the last segment of each write and burst.
    pub push: bool,
    /// Send in bursts. A burst contains what the current rate allows in 1 ms, but at least two segments (TSO autosizing
    /// of Linux).
    pub tso: bool,
    /// Receive a burst as one buffer, which is acknowledged as a whole.
    pub receive_offload: bool,
    /// Delay duplicate ACKs by up to 1 ms, and replace up to 44 of them by one ACK (SACK compression of Linux).
    pub sack_compression: bool,
    /// Parameters of the retransmission timeout.
    pub rto: Rto,
    /// Precision of timers.
    pub timer_granularity: TimerGranularity,
    /// The ACKs that give a round-trip sample.
    pub rtt_samples: RttSamples,
    /// Scheme of loss detection and repair.
    pub recovery: Scheme,
    /// Increase of the window by an ACK.
    pub growth: Growth,
    /// The partial ACKs that restart the retransmission timer in NewReno.
    pub partial_acks: PartialAcks,
    /// Measure RACK's round trip with the delivered segment that has the highest offset, as Linux does; otherwise with
    /// the most recently sent one (RFC 8985 §6.2).
    pub rack_rtt_by_offset: bool,
    /// Proportional rate reduction in fast recovery with SACK (RFC 9937).
    pub prr: bool,
    /// Send one segment for every two ACKs in fast recovery with SACK, instead of proportional rate reduction (rate
    /// halving, as in the kernels of ns-2's TCP-Linux).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rate_halving: bool,
    /// Use proportional rate reduction also after a congestion mark, if `prr` is on (Linux).
    pub prr_marks: bool,
    /// Base of the window reductions after a loss (FlightSize or the congestion window), and their frequency.
    pub reductions: Reductions,
    /// Send tail loss probes (RFC 8985 §7). Requires SACK.
    pub tlp: bool,
    /// After a timeout, send new data first, to test whether the timeout was spurious (F-RTO, RFC 5682).
    pub frto: bool,
    /// Undo a reduction when timestamps show that no segment was lost (Eifel, RFC 3522).
    pub eifel: bool,
    /// Undo a reduction when every retransmission was reported as a duplicate (RFC 2883, RFC 3708).
    pub dsack_undo: bool,
    /// Spread segments over the round trip, whatever the congestion control: at twice cwnd/SRTT in slow start, at 1.2
    /// times cwnd/SRTT afterwards (as in Linux). An algorithm with its own pacing is not affected.
    pub pacing: bool,
    /// Treatment of the window after an idle time.
    pub idle_restart: IdleRestart,
    /// Maximum number of segments sent in one burst; `None` sets no limit.
    pub burst_limit: Option<u32>,
    /// Send new data on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Delay a small segment while data is in flight (RFC 9293 §3.7.4).
    pub nagle: bool,
    /// If [`Self::nagle`] is on, delay a small segment only while another small segment is in flight (Minshall's
    /// variant, as in Linux).
    pub minshall: bool,
    /// Number of retransmissions of a SYN before the connection is aborted.
    pub syn_retries: u8,
    /// Number of retransmissions of a SYN that are sent one initial timeout apart, before the timeout doubles. Does not
    /// apply to a SYN-ACK. [`Self::syn_retries`] counts only the later retransmissions (`tcp_syn_linear_timeouts` of
    /// Linux).
    pub syn_linear_timeouts: u8,
    /// Number of consecutive timeouts without progress before the connection is aborted (RFC 9293 §3.8.3 R2).
    pub retries: u8,
    /// Duration of TIME-WAIT (2 MSL).
    pub time_wait: Duration,
    /// Duration of FIN-WAIT-2 after the application has released the connection; `None` waits for the peer's FIN
    /// without limit.
    pub fin_wait: Option<Duration>,
    /// Limit of challenge ACKs (RFC 5961 §7); `None` for no limit.
    pub challenge_acks: Option<ChallengeAcks>,
    /// Send an ACK in reply to an ACK of data that was never sent (RFC 9293 §3.10.7.4, RFC 5961 §5). Otherwise it is
    /// dropped, as in Linux 6.12.
    pub answer_unsent: bool,
    /// Drop segments without timestamps if both ends negotiated them (RFC 7323 §3.2); Linux accepts such segments.
    pub require_timestamps: bool,
    /// Probes of an idle connection (RFC 9293 §3.8.4); `None` sends none.
    pub keep_alive: Option<KeepAliveConfig>,
    /// SCPS-TP capabilities that are offered to the peer; `None` offers none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scps: Option<Scps>,
    /// Assumed cause of a loss without evidence of its cause, or a custom response that decides for each loss.
    #[serde(skip_serializing_if = "is_default")]
    pub loss_assumption: LossAssumption,
    /// Fixed interval between ACKs, whatever arrives; `None` uses [`Self::delayed_ack`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_interval: Option<Duration>,
    /// Token bucket for all outgoing segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_control: Option<RateControl>,
    /// Parameters of the route that are known before the first measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<Route>,
    /// Number of consecutive timeouts for the same data that indicate a link outage; `None` never assumes that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outage_after: Option<u8>,
    /// State saved by an earlier connection on the same path (Careful Resume, RFC 9959); `None` if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub careful_resume: Option<Saved>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Form of the probe of a closed window (RFC 9293 §3.8.6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Probe {
    /// A segment without data and with an old sequence number, sent after the retransmission timeout with its back-off
    /// (Linux).
    Empty,
    /// The next byte of data, sent after 5, 5, 6, 12, 24, 48, 60, 60 … s (BSD, INET; Stevens vol. 2 §25.7).
    Byte,
}

/// Rule for the windows that a receiver advertises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WindowRule {
    /// Advertises the free space of the buffer. A window update is sent when the window grew by two segments or half
    /// the buffer (Stevens vol. 2 §26.7).
    Stevens,
    /// As `stevens`, but a window below one MSS is advertised as zero, even if the entire buffer holds only a few
    /// segments (Reschka et al., Enhancement of the TCP Module in the OMNeT++/INET Framework, §3.2.3).
    Inet,
    /// Advertises at most 64 kB initially, and then two segments more for each segment that arrives. A window update is
    /// sent when the window has doubled (Linux).
    Linux,
}

/// Treatment of a segment that starts inside the advertised window and ends beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WindowEdge {
    /// The part beyond the window is cut off (RFC 9293 §3.10.7.4).
    Trim,
    /// The complete segment is accepted if the application has read all earlier data, and dropped otherwise. A FIN
    /// needs no buffer space (Linux, `tcp_sequence`).
    Whole,
}

/// Base of the window reductions after a loss (FlightSize or the congestion window), and their frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Reductions {
    /// Reduces from FlightSize, in bytes; a timeout reduces once more (RFC 5681 §3.1, RFC 6675 §5.1, RFC 9937).
    Rfc,
    /// Reduces from the congestion window, rounded to segments, once per window of data: a timeout in fast recovery
    /// leaves the threshold unchanged, and if a segment retransmitted after a timeout is lost again, fast recovery
    /// starts.
    Linux,
    /// Reduces from the congestion window, rounded to segments, at every event: another timeout of the same data
    /// reduces it again, down to two segments, and so does a loss detected during the repair after a timeout (ns-2,
    /// `LinuxTcpAgent::enter_loss`).
    Each,
    /// As `rfc` if SACK is used. Without SACK, reduces from FlightSize minus one segment for each duplicate ACK, at a
    /// timeout and at a loss, and a new recovery episode may start as soon as an ACK covers exactly the repaired data
    /// (ns-3: GetSsThresh in EnterRecovery and ReTxTimeout of TcpSocketBase receives BytesInFlight, and DupAck compares
    /// with m_recover).
    Ns3,
}

/// Rate limit of challenge ACKs, applied to each connection separately (RFC 5961 §7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChallengeAcks {
    /// Maximum number of challenge ACKs in each interval, 1 to 1,000.
    #[schemars(range(min = 1, max = 1000))]
    pub count: u16,
    /// Length of the interval.
    pub every: Duration,
}

/// Keep-alive probes of an idle connection (RFC 9293 §3.8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "KeepAlive")]
pub struct KeepAliveConfig {
    /// Time without a segment from the peer before the first probe is sent (RFC 9293: at least 2 h by default).
    pub idle: Duration,
    /// Time from one probe to the next.
    pub interval: Duration,
    /// Number of consecutive unanswered probes that abort the connection.
    pub probes: u16,
}

impl Default for KeepAliveConfig {
    /// Returns Linux's values.
    fn default() -> Self {
        Self { idle: Duration::from_secs(7_200), interval: Duration::from_secs(75), probes: 9 }
    }
}

/// Parameters of delayed ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DelayedAck {
    /// Number of segments that one ACK acknowledges.
    pub segments: u16,
    /// Maximum delay of an ACK.
    pub timeout: Duration,
    /// Number of segments at the start of the connection that are acknowledged immediately, as in Linux.
    pub quick: u16,
    /// Use Linux's rules instead of a fixed count: an ACK is sent immediately for more than `segments` - 1 full
    /// segments, quick ACKs are also used later in the connection, and the delay, initially `timeout`, adapts to the
    /// peer's rate.
    pub adaptive: bool,
}

/// The ACKs that give a round-trip sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RttSamples {
    /// Every ACK of data that was sent once gives a sample, measured from the exact transmission time (Linux). If a
    /// retransmission makes that time ambiguous, timestamps are used.
    SendTime,
    /// Every ACK gives a sample from its timestamp echo, in ticks of 1 ms (ns-3); without timestamps as `send_time`.
    Timestamp,
    /// One segment at a time is timed (INET).
    OnePerRound,
    /// One segment at a time is timed, in ticks of 1 ms, from its first transmission until it is acknowledged, even if
    /// it was retransmitted meanwhile; a timeout abandons the measurement (ns-2, `TcpAgent::output`).
    Timed,
}

/// Scheme of loss repair. SACK and SNACK must be negotiated; without them the scheme is NewReno.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Fast retransmit and fast recovery until the first new ACK (RFC 5681 §3.2).
    Reno,
    /// Fast recovery until all data outstanding at its start is acknowledged (RFC 6582).
    NewReno,
    /// Conservative loss recovery with SACK (RFC 6675).
    Sack,
    /// Loss detection by transmission time (RACK), with SACK (RFC 8985).
    Rack,
    /// Loss detection by forward acknowledgement, with SACK: a segment is lost if it is four segments below the highest
    /// SACKed one, or if it was retransmitted before a segment that has been SACKed (Mathis, Mahdavi, SIGCOMM 1996, as
    /// `ScoreBoard1` in ns-2). SACK information is discarded when a recovery episode ends.
    Fack,
    /// Data that SNACK options report as missing is retransmitted immediately (SCPS-TP).
    Snack,
}

/// Partial ACKs that restart the retransmission timer in NewReno (RFC 6582 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartialAcks {
    /// Only the first partial ACK of an episode, so that an episode with many losses ends in a timeout.
    Impatient,
    /// Each partial ACK: every loss is repaired, one per round trip.
    SlowButSteady,
}

/// Treatment of an unused congestion window: after an idle time longer than a timeout, or while the application sends
/// less than the window allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IdleRestart {
    /// The window stays unchanged.
    Off,
    /// The window is reset to the initial window (RFC 5681 §4.1).
    Rfc5681,
    /// The window is halved for each timeout of idle time, down to the initial window; ssthresh becomes at least three
    /// quarters of the window before (RFC 2861 §3, and Linux).
    Rfc2861,
    /// The window stays unchanged for five minutes and is then halved. It grows only as far as it is used, and a loss
    /// meanwhile reduces it to half of the used part (RFC 7661).
    Rfc7661,
}

/// Increase of the window by an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Growth {
    /// By one segment per ACK (RFC 5681 §3.1).
    PerAck,
    /// By the number of segments that the ACK acknowledges (Linux).
    PerSegment,
    /// By the acknowledged bytes, up to the given number of segments per ACK (RFC 3465).
    Abc(u8),
}
