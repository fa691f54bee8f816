//! The keys of a scenario's `tcp = { ... }`, and their resolution to a [`Config`](super::Config).

use super::Profile;
use super::{
    ChallengeAcks, Config, DelayedAck, FastOpenUse, Growth, IdleRestart, InitialWindow, KeepAliveConfig,
    LossAssumption, PartialAcks, Probe, RateControlOptions, ReceiveBuffer, Reductions, RouteSwitch, RtoOptions,
    RttSamples, Scheme, ScpsSwitch, TimerGranularity, WindowEdge, WindowRule,
};
use crate::ecn::{AccecnOption, EcnMode, Ect};
use lightlag_control::congestion::Choice;
use lightlag_control::congestion::careful_resume::Saved;
use lightlag_core::{Bytes, Duration, overrides};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod resolve;
mod words;

pub use lightlag_core::params::refusal::OptionError;
pub(super) use lightlag_core::params::refusal::{between, error, in_range};

overrides! {
    /// TCP settings that deviate from a profile.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[schemars(title = "Tcp")]
    pub struct Options for Config {
        /// A complete set of defaults, which the other keys override. Default: linux.
        profile: Profile, apart;
        /// The congestion control: its name, or a table with `algorithm` and its parameters.
        congestion: Choice;
        /// Value of the MSS option, 36 to 65,000 bytes. A segment's payload is that minus its options; in the
        /// profiles ns3 and inet it is the payload itself.
        mss: Bytes, apart;
        /// Selective acknowledgements (RFC 2018).
        sack: bool;
        /// Report duplicate data (D-SACK, RFC 2883), if SACK is used.
        dsack: bool;
        /// Timestamps (RFC 7323).
        timestamps: bool;
        /// Explicit congestion notification: off, classic (RFC 3168) or accecn (RFC 9768). Default: off, or classic with a
        /// congestion control that relies on marks.
        ecn: EcnMode, apart;
        /// ECN codepoint of ECN-capable packets: ect0, or ect1 (L4S, RFC 9331).
        ect: Ect;
        /// With AccECN, send every segment after the handshake as ECN-capable, including pure ACKs and retransmissions,
        /// as Linux does; otherwise only new data (RFC 3168 §6.1.4 to 6.1.6).
        ect_control: bool;
        /// When the AccECN option with its byte counters is sent (RFC 9768 §3.2.3.3): off, sparse (at changes, and
        /// three times per round trip), or always (as in Linux; full segments then carry 12 bytes less).
        accecn_option: AccecnOption;
        /// Reduce the window less after a congestion mark than after a loss (ABE, RFC 8511).
        abe: bool;
        /// Window scaling (RFC 7323). Without it, at most 65,535 bytes can be in flight.
        window_scaling: bool;
        /// Initial window: 1 to 1,000 segments (RFC 6928), or `"rfc3390"`, min(4 MSS, max(2 MSS, 4380 B)).
        initial_window: InitialWindow, apart;
        /// Initial slow-start threshold, 2 to 1,000,000 segments. Default: none; slow start then ends at the first
        /// congestion.
        #[schemars(range(min = 2, max = 1_000_000))]
        initial_ssthresh: u32, apart;
        /// Maximum congestion window, 2 to 1,000,000 segments (`snd_cwnd_clamp` in Linux, `window_` in ns-2). Only with
        /// window-based algorithms. Default: none.
        #[schemars(range(min = 2, max = 1_000_000))]
        max_cwnd: u32, apart;
        /// Receive buffer, which bounds the advertised window: a size, `"auto"`, or `"auto"` with its bounds, `{ auto =
        /// { initial = "64 kB", max = "16 MB" } }`.
        receive_buffer: ReceiveBuffer, apart;
        /// Maximum amount of data that is written and not yet acknowledged, from `mss` to 1 TB; an application that
        /// writes more waits for space. Default: none, so that everything is written immediately.
        send_buffer: Bytes, apart;
        /// Rule for advertised windows: stevens (the free buffer), inet (as stevens, but zero for every window below
        /// one MSS) or linux (64 kB at first, and two segments more for each segment that arrives).
        receive_window: WindowRule;
        /// Probe of a closed window: empty (after the retransmission timeout, as in Linux) or byte (with the next byte,
        /// after 5, 5, 6, 12, 24, 48, 60 s, as in BSD and INET).
        probe: Probe;
        /// Keep data that comes with a SYN until the connection is open (RFC 9293 §3.10.7.2); otherwise drop it.
        syn_data: bool;
        /// TCP Fast Open (RFC 7413), if both endpoints support it. `true` sends data with every SYN between two hosts
        /// except the first, which requests the cookie; `"cookie known"` also sends data with the first. The response
        /// to a request then arrives one round trip earlier.
        fast_open: FastOpenUse;
        /// Accept the part of a segment that fits into the receive buffer; otherwise accept a segment completely or not
        /// at all, as in INET.
        partial_segments: bool;
        /// Treatment of a segment that ends beyond the advertised window: `trim` cuts it (RFC 9293 §3.10.7.4); `whole`
        /// accepts it if the application has read all earlier data, and drops it otherwise (Linux).
        window_edge: WindowEdge;
        /// Delayed ACKs: `false`, or a table with `segments`, `timeout`, `quick` and `adaptive`.
        delayed_ack: DelayedAckSwitch, apart, joined by DelayedAckSwitch::merge;
        /// Set PSH on the last segment of each write and burst.
        push: bool;
        /// Send in bursts. A burst contains what the current rate allows in 1 ms, but at least two segments and at most
        /// 64 KiB; the sender waits up to 1 ms for an ACK that completes a burst (TSO autosizing of Linux). Pacing then
        /// starts after the first ten segments.
        tso: bool;
        /// Receive the segments of a burst (`tso`) as one buffer, with at most one ACK, as over veth devices and netem,
        /// where a burst is never cut into packets (GSO). The setting of the sender applies.
        receive_offload: bool;
        /// Delay duplicate ACKs by up to 1 ms, and replace up to 44 of them by one ACK, as in Linux. Needs SACK.
        sack_compression: bool;
        /// The retransmission timeout (RFC 6298): any of `initial`, `syn`, `min`, `max`, `variance_floor`,
        /// `variance_gain`, `variance`, `scaled_gains`, `every_ack`.
        rto: RtoOptions, apart, joined by |base, over| base.merge(&over);
        /// Resolution of timers: exact, or linux (steps of 4 ms below 252 ms, of 32 ms above 252 ms, and of 256 ms above 2 s).
        timer_granularity: TimerGranularity;
        /// The ACKs that give a round-trip sample.
        rtt_samples: RttSamples;
        /// Loss detection and repair: reno (RFC 5681), newreno (RFC 6582), sack (RFC 6675), rack (RFC 8985), fack
        /// (forward acknowledgement, as in ns-2's TCP-Linux) or snack (SCPS-TP). sack, rack and fack need SACK, and
        /// snack needs SNACK; if that is not negotiated, newreno is used.
        recovery: Scheme;
        /// Partial ACKs that restart newreno's retransmission timer (RFC 6582 §4): the first (impatient), or each
        /// (slow_but_steady).
        partial_acks: PartialAcks;
        /// Proportional rate reduction in fast recovery with SACK (RFC 9937).
        prr: bool;
        /// Rate halving in fast recovery with SACK, instead of `prr`: one segment is sent for every two ACKs, until the
        /// window is half of ssthresh (cubic and other algorithms without such a rule: until it is ssthresh). At the
        /// end of recovery the window is at most three segments above what is in flight (Linux 2.6 in ns-2).
        rate_halving: bool;
        /// Use `prr` also after a congestion mark, as Linux does; otherwise a mark reduces the window immediately.
        prr_marks: bool;
        /// Base of window reductions, and their frequency: rfc (FlightSize, RFC 5681 §3.1), linux (the congestion
        /// window, in whole segments; a timeout in fast recovery leaves the threshold unchanged), each (the congestion
        /// window, again at every timeout, even of the same data, as in ns-2's TCP-Linux) or ns3 (as rfc, but without
        /// SACK each duplicate ACK subtracts a segment).
        reductions: Reductions;
        /// Send tail loss probes (RFC 8985 §7). Requires SACK.
        tlp: bool;
        /// After a timeout, send new data first, to test whether the timeout was spurious (F-RTO, RFC 5682).
        frto: bool;
        /// Undo a window reduction when timestamps show that it was spurious (Eifel, RFC 3522).
        eifel: bool;
        /// Undo a window reduction when D-SACK reports every retransmission as a duplicate (RFC 3708).
        dsack_undo: bool;
        /// Pace segments with any algorithm: at 2 × cwnd/SRTT in slow start, at 1.2 × cwnd/SRTT afterwards.
        pacing: bool;
        /// Window after an idle time: off (unchanged), rfc5681 (initial window), rfc2861 (halved for each timeout of
        /// idle time) or rfc7661 (unchanged for five minutes, even if it is hardly used, but a loss then reduces it to
        /// half of the used part).
        idle_restart: IdleRestart;
        /// Maximum number of segments sent back to back, 1 to 1,000,000; 0 means no limit.
        burst_limit: u32, apart;
        /// Increase of the window by an ACK: per_ack (RFC 5681), per_segment (Linux), or in bytes, `{ abc = 2 }` (RFC
        /// 3465).
        growth: Growth;
        /// Send new data on the first two duplicate ACKs (RFC 3042).
        limited_transmit: bool;
        /// Hold back a small segment while data is in flight (RFC 9293 §3.7.4).
        nagle: bool;
        /// If `nagle` is on, hold back a small segment only while another small segment is in flight (Minshall's
        /// variant, as in Linux).
        minshall: bool;
        /// Number of retransmissions of a SYN before the connection is aborted, at most 255.
        syn_retries: u8;
        /// Number of additional retransmissions of a SYN, one initial timeout apart, before the timeout doubles, at
        /// most 255. `syn_retries` counts only the later retransmissions (tcp_syn_linear_timeouts of Linux).
        syn_linear_timeouts: u8;
        /// Number of consecutive timeouts, or of unanswered probes of a closed window, before the connection is aborted
        /// (RFC 9293 §3.8.3 R2), at most 255.
        retries: u8;
        /// Length of TIME-WAIT (2 MSL).
        time_wait: Duration;
        /// Duration of FIN-WAIT-2 after the application has released the connection. Default: set by the profile; rfc,
        /// ns3 and ns2-linux wait for the peer without limit.
        fin_wait: Duration, optional;
        /// Rate limit of challenge ACKs for each connection, `{ count = 10, every = "5 s" }` (RFC 5961 §7).
        challenge_acks: ChallengeAcks, optional;
        /// Reply with a challenge ACK to an ACK of data that was never sent (RFC 5961 §5); false drops it, as Linux
        /// 6.12 does.
        answer_unsent: bool;
        /// Keep-alive probes of an idle connection (RFC 9293 §3.8.4): any of `idle`, `interval`, `probes`. Default:
        /// none.
        keep_alive: KeepAliveConfig, optional;
        /// SCPS-TP capabilities that are offered to the peer: `true`, or any of `snack`, `snack_delay`, `record_size`,
        /// `report_corruption`.
        scps: ScpsSwitch, apart, joined by ScpsSwitch::merge;
        /// Assumed cause of a loss without evidence of its cause: congestion, or corruption, which neither reduces the
        /// window nor backs off the timeout; or a custom loss response, `{ python = "mine.py:Mine" }`, which decides
        /// for each loss.
        loss_assumption: LossAssumption;
        /// Send one ACK per interval of this length instead of delayed ACKs, whatever arrives; 0 s turns it off. The
        /// retransmission timeout is then at least SRTT plus this interval.
        ack_interval: Duration, apart;
        /// Token bucket for all packets sent,
        /// `{ rate = "1.5 Mbit/s", ack_rate = "20 kbit/s", bucket = "3 kB" }`.
        rate_control: RateControlOptions, apart;
        /// Values of the route that are known before the first measurement: any of `rtt`, `rto`, `bdp` and `rate`; or
        /// `"path"`, which takes all of them from the scenario's path. They initialize SRTT and the timeout, end slow
        /// start at a window of `bdp`, and limit the sending rate to `rate`.
        route: RouteSwitch, apart, joined by RouteSwitch::merge;
        /// Number of consecutive timeouts for the same data that indicate a link outage. After that only probes are
        /// sent, after 1, 2, 4 … 60 s, 60 s, and the connection is not aborted; 0 turns this off.
        outage_after: u8, apart;
        /// Careful Resume (RFC 9959): window and RTT of an earlier connection on the path, `{ saved_cwnd = "2 MB",
        /// saved_rtt = "600 ms" }`. If the first measured round trip is similar to `saved_rtt`, the window jumps to
        /// half of `saved_cwnd`, or to `max_jump` if that is less. Only with window-based algorithms. Default: none.
        careful_resume: Saved, optional;
    }
}

/// Value of `delayed_ack`: off, on, or a table of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum DelayedAckSwitch {
    /// `false` acknowledges every segment immediately, `true` takes the values of the profile or, if it has none, 2
    /// segments and 200 ms.
    Switch(bool),
    /// A table of settings.
    On(DelayedAckOptions),
}

overrides! {
    /// Settings of delayed ACKs. Omitted keys come from the profile.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[schemars(title = "DelayedAck")]
    pub struct DelayedAckOptions for DelayedAck {
        /// Number of segments that one ACK acknowledges, 1 to 1,000.
        #[schemars(range(min = 1, max = 1000))]
        segments: u16;
        /// Maximum delay of an ACK, up to 10 s (RFC 9293 §3.8.6.3 requires at most 500 ms).
        timeout: Duration;
        /// Number of segments at the start of the connection that are acknowledged immediately.
        quick: u16;
        /// Use Linux's rules: `segments` counts only full segments, quick ACKs return after pauses and duplicates and
        /// while the window grows, and the delay, initially `timeout`, adapts to the peer's rate.
        adaptive: bool;
    }
}

#[cfg(test)]
mod tests;
