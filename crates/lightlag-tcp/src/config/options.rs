//! The keys of a scenario's `tcp = { ... }`, and their resolution to a [`Config`](super::Config).

use super::Profile;
use super::{
    ChallengeAcks, Config, DelayedAck, FastOpen, Growth, IdleRestart, InitialWindow, KeepAlive, LossAssumption,
    PartialAcks, Probe, RateControlOptions, ReceiveBuffer, Reductions, RouteSwitch, RtoOptions, RttSamples, Scheme,
    ScpsSwitch, TimerGranularity, WindowEdge, WindowRule,
};
use crate::ecn::{AccecnOption, Ect, Mode};
use lightlag_control::congestion::Choice;
use lightlag_control::congestion::careful_resume::Saved;
use lightlag_core::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod error;
mod resolve;
pub(super) mod table;
mod words;

pub use error::OptionError;
pub(super) use error::{between, error, in_range};
use table::table;

table! {
    /// The keys of a scenario's `tcp` table. What is left out comes from the profile.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub struct Options for Config {
        /// A complete set of behaviours, of which every other key changes one. Default: linux.
        profile: Profile, apart;
        /// The congestion control: its name, or a table with `algorithm` and its parameters.
        congestion: Choice;
        /// Value of the MSS option, 36 to 65,000 bytes. A segment's payload is that minus its options; in the
        /// profiles ns3 and inet it is the payload itself.
        mss: Bytes, apart;
        /// Selective acknowledgements (RFC 2018).
        sack: bool;
        /// Reports of data that arrived twice (D-SACK, RFC 2883), where SACK is used.
        dsack: bool;
        /// Timestamps (RFC 7323).
        timestamps: bool;
        /// Explicit congestion notification: off, classic (RFC 3168) or accecn (RFC 9768). Default: off, or classic with
        /// a congestion control that lives on marks.
        ecn: Mode, apart;
        /// What packets that can be marked carry: ect0, or ect1 (L4S, RFC 9331).
        ect: Ect;
        /// With AccECN every segment behind the handshake can be marked, pure ACKs and retransmissions too, as Linux does;
        /// otherwise new data alone (RFC 3168 §6.1.4 to 6.1.6).
        ect_control: bool;
        /// When the AccECN option with its byte counters leaves (RFC 9768 §3.2.3.3): off, sparse (at changes, and three times a
        /// round trip), or always (as Linux; full segments then carry 12 bytes less).
        accecn_option: AccecnOption;
        /// A congestion mark costs less than a loss (ABE, RFC 8511).
        abe: bool;
        /// Window scaling (RFC 7323). Without it at most 65,535 bytes are in flight.
        window_scaling: bool;
        /// Initial window: 1 to 1,000 segments (RFC 6928), or `"rfc3390"`, min(4 MSS, max(2 MSS, 4380 B)).
        initial_window: InitialWindow, apart;
        /// First slow-start threshold, 2 to 1,000,000 segments. Default: none, slow start ends with the first congestion.
        #[schemars(range(min = 2, max = 1_000_000))]
        initial_ssthresh: u32, apart;
        /// Largest congestion window, 2 to 1,000,000 segments (`snd_cwnd_clamp` in Linux, `window_` in ns-2): it does not grow
        /// further. With algorithms that have no more than a window. Default: none.
        #[schemars(range(min = 2, max = 1_000_000))]
        max_cwnd: u32, apart;
        /// Receive buffer, the largest window that is advertised: a size, `"auto"`, or
        /// `{ auto = { initial = "64 kB", max = "16 MB" } }`.
        receive_buffer: ReceiveBuffer, apart;
        /// Send buffer: the most data that an application has written and the peer has not acknowledged, from `mss` to 1 TB;
        /// an application that writes more waits for room. Default: none, so that everything is written at once.
        send_buffer: Bytes, apart;
        /// Windows that are offered: stevens (what the buffer has room for), inet (as stevens, and zero for every window
        /// below an MSS) or linux (64 kB at first, then two segments more for each that arrives).
        receive_window: WindowRule;
        /// How a closed window is probed: empty (after the retransmission timeout, as Linux) or byte (with the next byte,
        /// after 5, 5, 6, 12, 24, 48, 60 s, as BSD and INET).
        probe: Probe;
        /// Keep the data that comes with a SYN until the connection is open (RFC 9293 §3.10.7.2); otherwise drop it.
        syn_data: bool;
        /// TCP Fast Open (RFC 7413), where both ends have it: `true` sends data with the SYN of every connection but the first
        /// between two hosts, which fetches the cookie; `"cookie known"` with the first, too. A request then is answered a round
        /// trip earlier.
        fast_open: FastOpen;
        /// Take of a segment what fits into the buffer; otherwise all of it or nothing, as INET.
        partial_segments: bool;
        /// A segment that ends beyond the offered window: trim cuts it (RFC 9293 §3.10.7.4), whole takes it if the
        /// application has read everything and refuses it otherwise (Linux).
        window_edge: WindowEdge;
        /// Delayed ACKs: `false`, or a table with `segments`, `timeout`, `quick` and `adaptive`.
        delayed_ack: DelayedAckSwitch, apart, joined by DelayedAckSwitch::merge;
        /// Set PSH on the last segment of each write and burst.
        push: bool;
        /// Send in bursts as large as 1 ms of the rate, at least two segments, at most 64 KiB, and wait up to 1 ms for
        /// an ACK that makes a burst whole (TSO autosizing of Linux). Pacing leaves the first ten segments alone then.
        tso: bool;
        /// Delay duplicate ACKs by up to 1 ms, for up to 44 segments together, as Linux. Works with SACK.
        sack_compression: bool;
        /// The retransmission timeout (RFC 6298): any of `initial`, `syn`, `min`, `max`, `variance_floor`,
        /// `variance_gain`, `variance`, `scaled_gains`, `every_ack`.
        rto: RtoOptions, apart, joined by |base, over| base.merge(&over);
        /// How exactly timers fire: exact, or linux (steps of 4 ms, of 32 ms from 252 ms on, of 256 ms from 2 s on).
        timer_granularity: TimerGranularity;
        /// Which ACKs give a round-trip sample.
        rtt_samples: RttSamples;
        /// How losses are repaired: reno (RFC 5681), newreno (RFC 6582), sack (RFC 6675), rack (RFC 8985), fack (forward
        /// acknowledgement, as ns-2's TCP-Linux) or snack (SCPS-TP). sack, rack and fack where both ends agree on SACK; snack
        /// where they agree on SNACK; newreno otherwise.
        recovery: Scheme;
        /// With which partial ACKs newreno restarts the retransmission timer: impatient (the first) or
        /// slow_but_steady (each) (RFC 6582 §4).
        partial_acks: PartialAcks;
        /// Proportional rate reduction in fast recovery with SACK (RFC 9937).
        prr: bool;
        /// Rate halving in fast recovery with SACK: a segment for every two ACKs, down to half of ssthresh (cubic and others
        /// without such a rule: to ssthresh), and at its end no more than three segments above what is in flight (Linux 2.6 in
        /// ns-2). It takes the place of prr.
        rate_halving: bool;
        /// The same after a congestion mark, as Linux; otherwise the window is reduced at once.
        prr_marks: bool;
        /// How a loss reduces the window: rfc (from FlightSize, RFC 5681 §3.1), linux (from the congestion window, in whole
        /// segments; a timeout in fast recovery leaves the threshold), each (from the congestion window, and with every timeout,
        /// repeated or not, as ns-2's TCP-Linux) or ns3 (as rfc, but without SACK each duplicate ACK takes a segment off).
        reductions: Reductions;
        /// Tail loss probes (RFC 8985 §7), with SACK.
        tlp: bool;
        /// F-RTO: test a timeout with new data before everything leaves again (RFC 5682).
        frto: bool;
        /// Eifel: take back a reaction when timestamps show that it was spurious (RFC 3522).
        eifel: bool;
        /// Take back a reaction when D-SACK reports every retransmission as a duplicate (RFC 3708).
        dsack_undo: bool;
        /// Pacing of any algorithm: twice cwnd/SRTT in slow start, 1.2 times afterwards.
        pacing: bool;
        /// The window after an idle time: off, rfc5681 (initial window), rfc2861 (half a timeout) or rfc7661 (kept for
        /// five minutes, idle or hardly used, but a loss then costs half of what was used).
        idle_restart: IdleRestart;
        /// The most segments that leave at once, 1 to 1,000,000; 0 sets no limit.
        burst_limit: u32, apart;
        /// What an ACK counts for the growth of the window: per_ack (RFC 5681), per_segment (Linux), or
        /// `{ abc = 2 }` (RFC 3465).
        growth: Growth;
        /// New data on the first two duplicate ACKs (RFC 3042).
        limited_transmit: bool;
        /// Hold back a small segment while data is in flight (RFC 9293 §3.7.4).
        nagle: bool;
        /// With `nagle`, hold it back only while another small one is in flight (Minshall's variant, as Linux).
        minshall: bool;
        /// Retransmissions of a SYN before the connection is given up, at most 255.
        syn_retries: u8;
        /// Retransmissions of a SYN that come one initial timeout apart, before the timeout doubles for those that
        /// syn_retries counts, at most 255 (tcp_syn_linear_timeouts of Linux).
        syn_linear_timeouts: u8;
        /// Timeouts in a row, or probes of a closed window without an answer, before the connection is given up
        /// (RFC 9293 §3.8.3 R2), at most 255.
        retries: u8;
        /// How long TIME-WAIT lasts (2 MSL).
        time_wait: Duration;
        /// How long FIN-WAIT-2 lasts once the application is gone. Default: of the profile, where rfc, ns3 and ns2-linux
        /// wait for the peer.
        fin_wait: Duration, optional;
        /// How many challenge ACKs may leave, for each connection: `{ count = 10, every = "5 s" }` (RFC 5961 §7).
        challenge_acks: ChallengeAcks, optional;
        /// Answer an ACK of data that was never sent with a challenge ACK (RFC 5961 §5); false drops it, as Linux 6.12
        /// does.
        answer_unsent: bool;
        /// Probes of an idle connection (RFC 9293 §3.8.4): any of `idle`, `interval`, `probes`. Default: none.
        keep_alive: KeepAlive, optional;
        /// Offer SCPS-TP to the peer: `true`, or any of `snack`, `snack_delay`, `record_size`, `report_corruption`.
        scps: ScpsSwitch, apart, joined by ScpsSwitch::merge;
        /// The cause of a loss where nothing tells it: congestion, or corruption, which costs neither window nor back-off; or a
        /// loss response of a user, `{ python = "mine.py:Mine" }`, which decides for each loss.
        loss_assumption: LossAssumption;
        /// One ACK in this time instead of delayed ACKs, whatever arrives; 0 s is off. The timeout is then at least SRTT and
        /// this.
        ack_interval: Duration, apart;
        /// A token bucket for all that leaves: `{ rate = "1.5 Mbit/s", ack_rate = "20 kbit/s", bucket = "3 kB" }`.
        rate_control: RateControlOptions, apart;
        /// What is known of the route before anything was measured: any of `rtt`, `rto`, `bdp` and `rate`; or `"path"`, which
        /// takes all from the scenario's path. Seeds SRTT and the timeout, ends slow start at `bdp`, and limits to `rate`.
        route: RouteSwitch, apart, joined by RouteSwitch::merge;
        /// So many timeouts in a row for the same data mean that a link is out: only probes leave then, after 1, 2, 4 … 60 s,
        /// and nothing is given up. 0 is off.
        outage_after: u8, apart;
        /// Careful Resume (RFC 9959): what an earlier connection learned of the path, `{ saved_cwnd = "2 MB",
        /// saved_rtt = "600 ms" }`. After a first round trip like that one the window jumps to half of `saved_cwnd`, or to
        /// `max_jump` if that is less. With algorithms that have no more than a window. Default: none.
        careful_resume: Saved, optional;
    }
}

/// Delayed ACKs, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum DelayedAckSwitch {
    /// `false` acknowledges every segment at once, `true` takes the values of the profile or, where it has
    /// none, 2 segments and 200 ms.
    Switch(bool),
    /// On, with these values.
    On(DelayedAckOptions),
}

table! {
    /// Values of delayed ACKs. What is left out comes from the profile.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub struct DelayedAckOptions for DelayedAck {
        /// Acknowledge every so many segments, 1 to 1,000.
        #[schemars(range(min = 1, max = 1000))]
        segments: u16;
        /// Acknowledge at the latest after this time, at most 10 s (RFC 9293 §3.8.6.3 wants at most 500 ms).
        timeout: Duration;
        /// So many segments at the begin of the connection are acknowledged at once.
        quick: u16;
        /// Linux's rules: `segments` counts full ones, quick ACKs return after pauses and duplicates and while the window
        /// grows, and the time adapts to the peer's pace, from `timeout` on.
        adaptive: bool;
    }
}

#[cfg(test)]
mod tests;
