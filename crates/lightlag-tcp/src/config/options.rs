//! What a scenario's `tcp = { ... }` may say, and how it becomes a [`Config`].

use super::{
    ChallengeAcks, Config, DelayedAck, FastOpen, Growth, IdleRestart, InitialWindow, KeepAlive, LossAssumption,
    PartialAcks, Probe, RateControlOptions, ReceiveBuffer, Reductions, RouteSwitch, RttSamples, Scheme, ScpsSwitch,
    TimerGranularity, Variance, VarianceGain, WindowEdge, WindowRule, route, scps,
};
use crate::ecn::{AccecnOption, Ect, Mode};
use crate::profile::Profile;
use lightlag_control::congestion::Choice;
use lightlag_control::congestion::careful_resume::Saved;
use lightlag_core::{Bytes, Duration};
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Hours that a timeout lasts at most: six of a round trip of a day.
const LONGEST_TIMER: u64 = 144;

/// The keys of a scenario's `tcp` table. What is left out comes from the profile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// A complete set of behaviours, of which every other key changes one. Default: linux.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// The congestion control: its name, or a table with `algorithm` and its parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<Choice>,
    /// Value of the MSS option, 36 to 65,000 bytes. A segment's payload is that minus its options; in the
    /// profiles ns3 and inet it is the payload itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mss: Option<Bytes>,
    /// Selective acknowledgements (RFC 2018).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sack: Option<bool>,
    /// Reports of data that arrived twice (D-SACK, RFC 2883), where SACK is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dsack: Option<bool>,
    /// Timestamps (RFC 7323).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<bool>,
    /// Explicit congestion notification: off, classic (RFC 3168) or accecn (RFC 9768). Default: off, or classic with
    /// a congestion control that lives on marks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<Mode>,
    /// What packets that can be marked carry: ect0, or ect1 (L4S, RFC 9331).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ect: Option<Ect>,
    /// With AccECN every segment behind the handshake can be marked, pure ACKs and retransmissions too, as Linux does;
    /// otherwise new data alone (RFC 3168 §6.1.4 to 6.1.6).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ect_control: Option<bool>,
    /// When the AccECN option with its byte counters leaves (RFC 9768 §3.2.3.3): off, sparse (at changes, and three times a
    /// round trip), or always (as Linux; full segments then carry 12 bytes less).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accecn_option: Option<AccecnOption>,
    /// A congestion mark costs less than a loss (ABE, RFC 8511).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abe: Option<bool>,
    /// Window scaling (RFC 7323). Without it at most 65,535 bytes are in flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_scaling: Option<bool>,
    /// Initial window: 1 to 1,000 segments (RFC 6928), or `"rfc3390"`, min(4 MSS, max(2 MSS, 4380 B)).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<InitialWindow>,
    /// First slow-start threshold, 2 to 1,000,000 segments. Default: none, slow start ends with the first congestion.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 1_000_000))]
    pub initial_ssthresh: Option<u32>,
    /// Receive buffer, the largest window that is advertised: a size, `"auto"`, or
    /// `{ auto = { initial = "64 kB", max = "16 MB" } }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_buffer: Option<ReceiveBuffer>,
    /// Which windows are offered: stevens (what the buffer has room for) or linux (64 kB at first, then two segments more
    /// for each that arrives).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_window: Option<WindowRule>,
    /// How a closed window is probed: empty (after the retransmission timeout, as Linux) or byte (with the next byte,
    /// after 5, 5, 6, 12, 24, 48, 60 s, as BSD and INET).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
    /// Keep the data that comes with a SYN until the connection is open (RFC 9293 §3.10.7.2); otherwise drop it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syn_data: Option<bool>,
    /// TCP Fast Open (RFC 7413), where both ends have it: `true` sends data with the SYN of every connection but the first
    /// between two hosts, which fetches the cookie; `"cookie known"` with the first, too. A request then is answered a round
    /// trip earlier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_open: Option<FastOpen>,
    /// Take of a segment what fits into the buffer; otherwise all of it or nothing, as INET.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial_segments: Option<bool>,
    /// A segment that ends beyond the offered window: trim cuts it (RFC 9293 §3.10.7.4), whole takes it if the
    /// application has read everything and refuses it otherwise (Linux).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_edge: Option<WindowEdge>,
    /// Delayed ACKs: `false`, or a table with `segments`, `timeout`, `quick` and `adaptive`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<DelayedAckSwitch>,
    /// Set PSH on the last segment of each write and burst.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub push: Option<bool>,
    /// Send in bursts as large as 1 ms of the rate, at least two segments, at most 64 KiB, and wait up to 1 ms for
    /// an ACK that makes a burst whole (TSO autosizing of Linux). Pacing leaves the first ten segments alone then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tso: Option<bool>,
    /// Delay duplicate ACKs by up to 1 ms, for up to 44 segments together, as Linux. Works with SACK.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sack_compression: Option<bool>,
    /// The retransmission timeout (RFC 6298): any of `initial`, `syn`, `min`, `max`, `variance_floor`,
    /// `variance_gain`, `variance`, `scaled_gains`, `every_ack`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto: Option<RtoOptions>,
    /// How exactly timers fire: exact, or linux (steps of 4 ms, of 32 ms from 252 ms on, of 256 ms from 2 s on).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer_granularity: Option<TimerGranularity>,
    /// Which ACKs give a round-trip sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_samples: Option<RttSamples>,
    /// How losses are repaired: reno (RFC 5681), newreno (RFC 6582), sack (RFC 6675), rack (RFC 8985), fack (forward
    /// acknowledgement, as ns-2's TCP-Linux) or snack (SCPS-TP). sack, rack and fack where both ends agree on SACK; snack
    /// where they agree on SNACK; newreno otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Scheme>,
    /// With which partial ACKs newreno restarts the retransmission timer: impatient (the first) or
    /// slow_but_steady (each) (RFC 6582 §4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial_acks: Option<PartialAcks>,
    /// Proportional rate reduction in fast recovery with SACK (RFC 9937).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prr: Option<bool>,
    /// Rate halving in fast recovery with SACK: a segment for every two ACKs, down to half of ssthresh (cubic and others
    /// without such a rule: to ssthresh), and at its end no more than three segments above what is in flight (Linux 2.6 in
    /// ns-2). It takes the place of prr.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_halving: Option<bool>,
    /// The same after a congestion mark, as Linux; otherwise the window is reduced at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prr_marks: Option<bool>,
    /// How a loss reduces the window: rfc (from FlightSize, RFC 5681 §3.1), linux (from the congestion window, in whole
    /// segments; a timeout in fast recovery leaves the threshold), each (from the congestion window, and with every timeout,
    /// repeated or not, as ns-2's TCP-Linux) or ns3 (as rfc, but without SACK each duplicate ACK takes a segment off).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reductions: Option<Reductions>,
    /// Tail loss probes (RFC 8985 §7), with SACK.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tlp: Option<bool>,
    /// F-RTO: test a timeout with new data before everything leaves again (RFC 5682).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frto: Option<bool>,
    /// Eifel: take back a reaction when timestamps show that it was spurious (RFC 3522).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eifel: Option<bool>,
    /// Take back a reaction when D-SACK reports every retransmission as a duplicate (RFC 3708).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dsack_undo: Option<bool>,
    /// Pacing of any algorithm: twice cwnd/SRTT in slow start, 1.2 times afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing: Option<bool>,
    /// The window after an idle time: off, rfc5681 (initial window), rfc2861 (half a timeout) or rfc7661 (kept for
    /// five minutes, idle or hardly used, but a loss then costs half of what was used).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_restart: Option<IdleRestart>,
    /// The most segments that leave at once, 1 to 1,000,000; 0 sets no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst_limit: Option<u32>,
    /// What an ACK counts for the growth of the window: per_ack (RFC 5681), per_segment (Linux), or
    /// `{ abc = 2 }` (RFC 3465).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// New data on the first two duplicate ACKs (RFC 3042).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// Hold back a small segment while data is in flight (RFC 9293 §3.7.4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nagle: Option<bool>,
    /// With `nagle`, hold it back only while another small one is in flight (Minshall's variant, as Linux).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minshall: Option<bool>,
    /// Retransmissions of a SYN before the connection is given up, at most 255.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syn_retries: Option<u8>,
    /// Retransmissions of a SYN that come one initial timeout apart, before the timeout doubles for those that
    /// syn_retries counts, at most 255 (tcp_syn_linear_timeouts of Linux).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syn_linear_timeouts: Option<u8>,
    /// Timeouts in a row, or probes of a closed window without an answer, before the connection is given up
    /// (RFC 9293 §3.8.3 R2), at most 255.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retries: Option<u8>,
    /// How long TIME-WAIT lasts (2 MSL).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_wait: Option<Duration>,
    /// How long FIN-WAIT-2 lasts once the application is gone. Default: of the profile, where rfc, ns3 and ns2-linux
    /// wait for the peer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fin_wait: Option<Duration>,
    /// How many challenge ACKs may leave, for each connection: `{ count = 10, every = "5 s" }` (RFC 5961 §7).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub challenge_acks: Option<ChallengeAcks>,
    /// Answer an ACK of data that was never sent with a challenge ACK (RFC 5961 §5); false drops it, as Linux 6.12
    /// does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_unsent: Option<bool>,
    /// Probes of an idle connection (RFC 9293 §3.8.4): any of `idle`, `interval`, `probes`. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_alive: Option<KeepAlive>,
    /// Offer SCPS-TP to the peer: `true`, or any of `snack`, `snack_delay`, `record_size`, `report_corruption`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scps: Option<ScpsSwitch>,
    /// What a loss is blamed on where nothing tells the cause: congestion, or corruption, which costs neither window nor
    /// back-off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_assumption: Option<LossAssumption>,
    /// One ACK in this time instead of delayed ACKs, whatever arrives; 0 s is off. The timeout is then at least SRTT and
    /// this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_interval: Option<Duration>,
    /// A token bucket for all that leaves: `{ rate = "1.5 Mbit/s", ack_rate = "20 kbit/s", bucket = "3 kB" }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_control: Option<RateControlOptions>,
    /// What is known of the route before anything was measured: any of `rtt`, `rto`, `bdp` and `rate`; or `"path"`, which
    /// takes all from the scenario's path. Seeds SRTT and the timeout, ends slow start at `bdp`, and limits to `rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<RouteSwitch>,
    /// So many timeouts in a row for the same data mean that a link is out: only probes leave then, after 1, 2, 4 … 60 s,
    /// and nothing is given up. 0 is off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outage_after: Option<u8>,
    /// Careful Resume (RFC 9959): what an earlier connection learned of the path, `{ saved_cwnd = "2 MB",
    /// saved_rtt = "600 ms" }`. After a first round trip like that one the window jumps to half of `saved_cwnd`, or to
    /// `max_jump` if that is less. With algorithms that have no more than a window. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub careful_resume: Option<Saved>,
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

/// Values of delayed ACKs. What is left out comes from the profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DelayedAckOptions {
    /// Acknowledge every so many segments, 1 to 1,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub segments: Option<u16>,
    /// Acknowledge at the latest after this time, at most 10 s (RFC 9293 §3.8.6.3 wants at most 500 ms).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// So many segments at the begin of the connection are acknowledged at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quick: Option<u16>,
    /// Linux's rules: `segments` counts full ones, quick ACKs return after pauses and duplicates and while the window
    /// grows, and the time adapts to the peer's pace, from `timeout` on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<bool>,
}

/// Parameters of the retransmission timeout. What is left out comes from the profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RtoOptions {
    /// Before the first sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<Duration>,
    /// Of the SYN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syn: Option<Duration>,
    /// Lower bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Duration>,
    /// Upper bound, with back-off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Duration>,
    /// Lower bound of the variance term.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variance_floor: Option<Duration>,
    /// Gain of RTTVAR.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variance_gain: Option<VarianceGain>,
    /// How RTTVAR follows the samples: mean (RFC 6298) or peak (of a round trip, as Linux; its gains are fixed).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variance: Option<Variance>,
    /// Divide the gains of SRTT and RTTVAR by the samples that a round trip should give, one for two segments in
    /// flight (RFC 7323 appendix G).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaled_gains: Option<bool>,
    /// Any ACK restarts the timer, a duplicate, too (ns-2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every_ack: Option<bool>,
}

/// A key of the `tcp` table whose value does not fit, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionError {
    /// The key, with a dot before a part of it.
    pub key: String,
    /// The value and the remedy.
    pub message: String,
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.message)
    }
}

impl std::error::Error for OptionError {}

impl RtoOptions {
    fn merge(self, over: Self) -> Self {
        Self {
            initial: over.initial.or(self.initial),
            syn: over.syn.or(self.syn),
            min: over.min.or(self.min),
            max: over.max.or(self.max),
            variance_floor: over.variance_floor.or(self.variance_floor),
            variance_gain: over.variance_gain.or(self.variance_gain),
            variance: over.variance.or(self.variance),
            scaled_gains: over.scaled_gains.or(self.scaled_gains),
            every_ack: over.every_ack.or(self.every_ack),
        }
    }
}

impl DelayedAckSwitch {
    fn merge(self, over: Self) -> Self {
        match (self, over) {
            (Self::On(base), Self::On(over)) => Self::On(DelayedAckOptions {
                segments: over.segments.or(base.segments),
                timeout: over.timeout.or(base.timeout),
                quick: over.quick.or(base.quick),
                adaptive: over.adaptive.or(base.adaptive),
            }),
            (Self::On(base), Self::Switch(true)) => Self::On(base),
            _ => over,
        }
    }
}

impl Options {
    /// These options where `over` says nothing.
    #[must_use]
    pub fn merge(&self, over: &Self) -> Self {
        Self {
            profile: over.profile.or(self.profile),
            congestion: over.congestion.clone().or_else(|| self.congestion.clone()),
            mss: over.mss.or(self.mss),
            sack: over.sack.or(self.sack),
            dsack: over.dsack.or(self.dsack),
            timestamps: over.timestamps.or(self.timestamps),
            ecn: over.ecn.or(self.ecn),
            ect: over.ect.or(self.ect),
            ect_control: over.ect_control.or(self.ect_control),
            accecn_option: over.accecn_option.or(self.accecn_option),
            abe: over.abe.or(self.abe),
            window_scaling: over.window_scaling.or(self.window_scaling),
            initial_window: over.initial_window.or(self.initial_window),
            initial_ssthresh: over.initial_ssthresh.or(self.initial_ssthresh),
            receive_buffer: over.receive_buffer.or(self.receive_buffer),
            receive_window: over.receive_window.or(self.receive_window),
            probe: over.probe.or(self.probe),
            syn_data: over.syn_data.or(self.syn_data),
            fast_open: over.fast_open.or(self.fast_open),
            partial_segments: over.partial_segments.or(self.partial_segments),
            window_edge: over.window_edge.or(self.window_edge),
            delayed_ack: both(self.delayed_ack, over.delayed_ack, DelayedAckSwitch::merge),
            push: over.push.or(self.push),
            tso: over.tso.or(self.tso),
            sack_compression: over.sack_compression.or(self.sack_compression),
            rto: both(self.rto, over.rto, RtoOptions::merge),
            timer_granularity: over.timer_granularity.or(self.timer_granularity),
            rtt_samples: over.rtt_samples.or(self.rtt_samples),
            recovery: over.recovery.or(self.recovery),
            partial_acks: over.partial_acks.or(self.partial_acks),
            prr: over.prr.or(self.prr),
            rate_halving: over.rate_halving.or(self.rate_halving),
            prr_marks: over.prr_marks.or(self.prr_marks),
            reductions: over.reductions.or(self.reductions),
            tlp: over.tlp.or(self.tlp),
            frto: over.frto.or(self.frto),
            eifel: over.eifel.or(self.eifel),
            dsack_undo: over.dsack_undo.or(self.dsack_undo),
            pacing: over.pacing.or(self.pacing),
            idle_restart: over.idle_restart.or(self.idle_restart),
            burst_limit: over.burst_limit.or(self.burst_limit),
            growth: over.growth.or(self.growth),
            limited_transmit: over.limited_transmit.or(self.limited_transmit),
            nagle: over.nagle.or(self.nagle),
            minshall: over.minshall.or(self.minshall),
            syn_retries: over.syn_retries.or(self.syn_retries),
            syn_linear_timeouts: over.syn_linear_timeouts.or(self.syn_linear_timeouts),
            retries: over.retries.or(self.retries),
            time_wait: over.time_wait.or(self.time_wait),
            fin_wait: over.fin_wait.or(self.fin_wait),
            challenge_acks: over.challenge_acks.or(self.challenge_acks),
            answer_unsent: over.answer_unsent.or(self.answer_unsent),
            keep_alive: over.keep_alive.or(self.keep_alive),
            scps: both(self.scps, over.scps, ScpsSwitch::merge),
            loss_assumption: over.loss_assumption.or(self.loss_assumption),
            ack_interval: over.ack_interval.or(self.ack_interval),
            rate_control: over.rate_control.or(self.rate_control),
            route: both(self.route, over.route, RouteSwitch::merge),
            outage_after: over.outage_after.or(self.outage_after),
            careful_resume: over.careful_resume.or(self.careful_resume),
        }
    }

    /// The profile's table with these options over it.
    pub fn resolve(&self) -> Result<Config, OptionError> {
        let mut config = self.profile.unwrap_or_default().config();
        if let Some(mss) = self.mss {
            config.mss = in_range("mss", mss.0, 36, 65_000, " B")? as u16;
        }
        if let Some(window) = self.initial_window {
            window.apply(&mut config)?;
        }
        if let Some(segments) = self.initial_ssthresh {
            let segments = in_range("initial_ssthresh", segments.into(), 2, 1_000_000, " segments")?;
            config.initial_ssthresh = Some(segments as u32);
        }
        if let Some(buffer) = self.receive_buffer {
            (config.receive_buffer, config.receive_buffer_initial) = buffer.resolve()?;
        }
        set(&mut config.receive_window, &self.receive_window);
        set(&mut config.push, &self.push);
        set(&mut config.tso, &self.tso);
        set(&mut config.sack_compression, &self.sack_compression);
        set(&mut config.probe, &self.probe);
        set(&mut config.syn_data, &self.syn_data);
        set(&mut config.fast_open, &self.fast_open);
        set(&mut config.partial_segments, &self.partial_segments);
        set(&mut config.window_edge, &self.window_edge);
        set(&mut config.congestion, &self.congestion);
        set(&mut config.sack, &self.sack);
        set(&mut config.dsack, &self.dsack);
        set(&mut config.timestamps, &self.timestamps);
        set(&mut config.ect, &self.ect);
        set(&mut config.ect_control, &self.ect_control);
        set(&mut config.accecn_option, &self.accecn_option);
        set(&mut config.abe, &self.abe);
        set(&mut config.window_scaling, &self.window_scaling);
        set(&mut config.timer_granularity, &self.timer_granularity);
        set(&mut config.rtt_samples, &self.rtt_samples);
        set(&mut config.recovery, &self.recovery);
        set(&mut config.partial_acks, &self.partial_acks);
        set(&mut config.prr, &self.prr);
        set(&mut config.rate_halving, &self.rate_halving);
        // Each takes the place of the profile's other one.
        config.prr &= self.rate_halving != Some(true) || self.prr == Some(true);
        config.rate_halving &= self.prr != Some(true) || self.rate_halving == Some(true);
        set(&mut config.prr_marks, &self.prr_marks);
        set(&mut config.reductions, &self.reductions);
        set(&mut config.tlp, &self.tlp);
        set(&mut config.frto, &self.frto);
        set(&mut config.eifel, &self.eifel);
        set(&mut config.dsack_undo, &self.dsack_undo);
        set(&mut config.pacing, &self.pacing);
        set(&mut config.idle_restart, &self.idle_restart);
        if let Some(limit) = self.burst_limit {
            config.burst_limit = match in_range("burst_limit", limit.into(), 0, 1_000_000, " segments")? {
                0 => None,
                limit => Some(limit as u32),
            };
        }
        self.check_switches(&config)?;
        set(&mut config.growth, &self.growth);
        set(&mut config.limited_transmit, &self.limited_transmit);
        set(&mut config.nagle, &self.nagle);
        set(&mut config.minshall, &self.minshall);
        set(&mut config.syn_retries, &self.syn_retries);
        set(&mut config.syn_linear_timeouts, &self.syn_linear_timeouts);
        set(&mut config.retries, &self.retries);
        set(&mut config.time_wait, &self.time_wait);
        config.fin_wait = self.fin_wait.or(config.fin_wait);
        set(&mut config.answer_unsent, &self.answer_unsent);
        config.challenge_acks = self.challenge_acks.or(config.challenge_acks);
        config.keep_alive = self.keep_alive.or(config.keep_alive);
        config.careful_resume = self.careful_resume.or(config.careful_resume);
        check_careful_resume(&config)?;
        if let Some(switch) = self.delayed_ack {
            config.delayed_ack = delayed_ack(switch, config.delayed_ack)?;
        }
        config.ack_interval = self.ack_interval.or(config.ack_interval).filter(|interval| !interval.is_zero());
        if let Some(switch) = self.scps {
            config.scps = switch.resolve(config.scps)?;
        }
        self.resolve_route(&mut config)?;
        set(&mut config.loss_assumption, &self.loss_assumption);
        config.outage_after = self.outage_after.or(config.outage_after).filter(|timeouts| *timeouts > 0);
        scps::check(&mut config, self.recovery.is_some(), self.scps.is_some_and(ScpsSwitch::names_snack))?;
        config.ecn = ecn(self.ecn, &config)?;
        check_fast_open(&config)?;
        scps::check_compression(&config)?;
        check_closing(&config)?;
        if let Growth::Abc(limit) = config.growth {
            in_range("growth.abc", limit.into(), 1, 255, " segments")?;
        }
        Ok(config)
    }
}

impl Options {
    /// The route, what it sets, and what is named beside it.
    fn resolve_route(&self, config: &mut Config) -> Result<(), OptionError> {
        let named = route::Named {
            rto: self.rto.unwrap_or_default(),
            rate_control: self.rate_control,
            time_wait: self.time_wait.is_some(),
            fin_wait: self.fin_wait.is_some(),
        };
        if let Some(switch) = self.route {
            config.route = switch.resolve(named)?;
        }
        route::apply(config, &named, None)?;
        apply_rto(named.rto, config)
    }

    /// Switches that were set and cannot act together.
    fn check_switches(&self, config: &Config) -> Result<(), OptionError> {
        let wants_sack = matches!(config.recovery, Scheme::Sack | Scheme::Rack | Scheme::Fack);
        if self.recovery.is_some() && wants_sack && !config.sack {
            let message = "it repairs by what the SACK option reports, and sack = false: set sack = true, or take \
                           \"newreno\" or \"reno\"";
            return error("recovery", message.to_owned());
        }
        for (key, value) in
            [("prr", self.prr), ("rate_halving", self.rate_halving), ("tlp", self.tlp), ("dsack_undo", self.dsack_undo)]
        {
            if value == Some(true) && !(wants_sack && config.sack) {
                return error(key, "true needs sack = true and recovery = \"rack\", \"sack\" or \"fack\"".to_owned());
            }
        }
        if self.prr == Some(true) && config.rate_halving {
            return error("rate_halving", "true goes with prr = false: each says what leaves in recovery".to_owned());
        }
        if self.prr_marks == Some(true) && !(config.prr && wants_sack && config.sack) {
            return error("prr_marks", "true needs prr = true, and what that needs".to_owned());
        }
        if self.eifel == Some(true) && !config.timestamps {
            return error("eifel", "true needs timestamps = true: it compares what they echo".to_owned());
        }
        Ok(())
    }
}

fn both<T>(base: Option<T>, over: Option<T>, merge: impl FnOnce(T, T) -> T) -> Option<T> {
    match (base, over) {
        (Some(base), Some(over)) => Some(merge(base, over)),
        (base, over) => over.or(base),
    }
}

fn set<T: Clone>(place: &mut T, value: &Option<T>) {
    if let Some(value) = value {
        *place = value.clone();
    }
}

pub(super) fn error<T>(key: &str, message: String) -> Result<T, OptionError> {
    Err(OptionError { key: key.to_owned(), message })
}

pub(super) fn in_range(key: &str, value: u64, least: u64, most: u64, unit: &str) -> Result<u64, OptionError> {
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    error(key, format!("{value}{unit} is not between {least} and {most}{unit}"))
}

fn delayed_ack(switch: DelayedAckSwitch, profile: Option<DelayedAck>) -> Result<Option<DelayedAck>, OptionError> {
    let base =
        profile.unwrap_or(DelayedAck { segments: 2, timeout: Duration::from_millis(200), quick: 0, adaptive: false });
    match switch {
        DelayedAckSwitch::Switch(false) => Ok(None),
        DelayedAckSwitch::Switch(true) => Ok(Some(base)),
        DelayedAckSwitch::On(options) => {
            let segments = options.segments.unwrap_or(base.segments);
            in_range("delayed_ack.segments", segments.into(), 1, 1_000, " segments")?;
            let timeout = options.timeout.unwrap_or(base.timeout);
            if timeout.is_zero() || timeout > Duration::from_secs(10) {
                return error("delayed_ack.timeout", format!("{timeout} is not above 0 s and at most 10 s"));
            }
            let (quick, adaptive) = (options.quick.unwrap_or(base.quick), options.adaptive.unwrap_or(base.adaptive));
            Ok(Some(DelayedAck { segments, timeout, quick, adaptive }))
        }
    }
}

/// Neither a gate nor options of SCPS-TP leave room for data and a cookie on a SYN.
fn check_fast_open(config: &Config) -> Result<(), OptionError> {
    let beside = if config.scps.is_some() { "scps" } else { "rate_control" };
    if config.fast_open != FastOpen::Off && (config.scps.is_some() || config.rate_control.is_some()) {
        return error("fast_open", format!("data with a SYN does not go with {beside}: leave one of them out"));
    }
    Ok(())
}

/// An algorithm that lives on marks asks for them by itself, as Linux does.
fn ecn(mode: Option<Mode>, config: &Config) -> Result<Mode, OptionError> {
    let exact = config.congestion.fixed_needs().exact_marks;
    match mode {
        Some(Mode::Off) if exact => {
            error("ecn", format!("{} lives on congestion marks: leave ecn out", config.congestion.name()))
        }
        None if exact => Ok(Mode::Classic),
        mode => Ok(mode.unwrap_or(config.ecn)),
    }
}

/// Whether what was saved can be, and whether there is a window that can jump.
fn check_careful_resume(config: &Config) -> Result<(), OptionError> {
    let Some(saved) = config.careful_resume else { return Ok(()) };
    let most = 1 << 40;
    in_range("careful_resume.saved_cwnd", saved.saved_cwnd.0, 1, most, " B")?;
    in_range("careful_resume.max_jump", saved.max_jump.unwrap_or(Bytes(1)).0, 1, most, " B")?;
    if saved.saved_rtt.is_zero() || saved.saved_rtt > Duration::from_secs(86_400) {
        return error("careful_resume.saved_rtt", format!("{} is not above 0 s and at most a day", saved.saved_rtt));
    }
    if !config.congestion.is_window_based() {
        let name = config.congestion.name();
        let message = format!("{name} has no window that could jump; take \"cubic\" or \"newreno\", or leave it out");
        return error("careful_resume", message);
    }
    Ok(())
}

/// Waiting times and limits of challenges and keep-alive.
fn check_closing(config: &Config) -> Result<(), OptionError> {
    let most = Duration::from_secs(7 * 86_400);
    let keep = config.keep_alive.unwrap_or_default();
    let challenge = config.challenge_acks.unwrap_or(ChallengeAcks { count: 1, every: most });
    in_range("challenge_acks.count", challenge.count.into(), 1, 1_000, "")?;
    in_range("keep_alive.probes", keep.probes.into(), 1, 1_000, "")?;
    for (key, value, least) in [
        ("time_wait", config.time_wait, Duration::ZERO),
        ("fin_wait", config.fin_wait.unwrap_or_default(), Duration::ZERO),
        ("challenge_acks.every", challenge.every, Duration::from_millis(1)),
        ("keep_alive.idle", keep.idle, Duration::from_millis(1)),
        ("keep_alive.interval", keep.interval, Duration::from_millis(1)),
    ] {
        if value < least || value > most {
            return error(key, format!("{value} is not between {least} and 7 days"));
        }
    }
    Ok(())
}

pub(super) fn between(key: &str, value: Duration, most_hours: u64) -> Result<(), OptionError> {
    if value < Duration::from_millis(1) || value > Duration::from_secs(3_600 * most_hours) {
        return error(key, format!("{value} is not between 1 ms and {most_hours} h"));
    }
    Ok(())
}

pub(super) fn apply_rto(options: RtoOptions, config: &mut Config) -> Result<(), OptionError> {
    let rto = &mut config.rto;
    set(&mut rto.initial, &options.initial);
    set(&mut rto.syn, &options.syn.or(options.initial));
    set(&mut rto.min, &options.min);
    set(&mut rto.max, &options.max);
    set(&mut rto.variance_floor, &options.variance_floor);
    set(&mut rto.variance_gain, &options.variance_gain);
    set(&mut rto.variance, &options.variance);
    set(&mut rto.scaled_gains, &options.scaled_gains);
    set(&mut rto.every_ack, &options.every_ack);
    if options.scaled_gains == Some(true) && rto.variance == Variance::Peak {
        return error("rto.scaled_gains", "true needs variance = \"mean\": the gains of \"peak\" are fixed".into());
    }
    let one_at_a_time = matches!(config.rtt_samples, RttSamples::OnePerRound | RttSamples::Timed);
    if options.scaled_gains == Some(true) && one_at_a_time {
        return error("rto.scaled_gains", "true needs rtt_samples = \"send_time\" or \"timestamp\"".into());
    }
    for (key, value) in [("rto.initial", rto.initial), ("rto.syn", rto.syn), ("rto.max", rto.max)] {
        between(key, value, LONGEST_TIMER)?;
    }
    if rto.min > rto.max {
        return error("rto.min", format!("{} is above rto.max, which is {}: make it smaller", rto.min, rto.max));
    }
    if rto.initial > rto.max {
        return error("rto.max", format!("{} is below rto.initial, which is {}: make it larger", rto.max, rto.initial));
    }
    if rto.min.is_zero() && rto.variance_floor.is_zero() {
        return error(
            "rto.min",
            "0 s with rto.variance_floor = 0 s lets the timeout fall to the RTT: raise one".into(),
        );
    }
    Ok(())
}

impl<'de> Deserialize<'de> for DelayedAckSwitch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Switch;
        impl<'de> Visitor<'de> for Switch {
            type Value = DelayedAckSwitch;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("false or a table such as { segments = 2, timeout = \"200 ms\" }")
            }
            fn visit_bool<E: Error>(self, on: bool) -> Result<Self::Value, E> {
                Ok(DelayedAckSwitch::Switch(on))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                DelayedAckOptions::deserialize(MapAccessDeserializer::new(map)).map(DelayedAckSwitch::On)
            }
        }
        deserializer.deserialize_any(Switch)
    }
}

impl<'de> Deserialize<'de> for Growth {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            abc: u8,
        }
        struct Rule;
        impl<'de> Visitor<'de> for Rule {
            type Value = Growth;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"per_ack\", \"per_segment\" or { abc = 2 }")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
                match name {
                    "per_ack" => Ok(Growth::PerAck),
                    "per_segment" => Ok(Growth::PerSegment),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(name), &self)),
                }
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Table::deserialize(MapAccessDeserializer::new(map)).map(|table| Growth::Abc(table.abc))
            }
        }
        deserializer.deserialize_any(Rule)
    }
}

impl JsonSchema for Growth {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Growth".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "What an ACK counts for the growth of the window.",
            "anyOf": [
                { "enum": ["per_ack", "per_segment"] },
                {
                    "type": "object",
                    "properties": { "abc": { "type": "integer", "minimum": 1, "maximum": 255 } },
                    "required": ["abc"],
                    "additionalProperties": false
                }
            ]
        })
    }
}

#[cfg(test)]
mod tests;
