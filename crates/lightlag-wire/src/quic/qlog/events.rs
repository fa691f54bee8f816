//! Events of a connection with their names and fields (quic-events; for qlog 0.3 the draft of 2022).

use super::frames::{Form, packet_type};
use super::json::Object;
use super::schema::Schema;
use lightlag_core::Duration;
use lightlag_quic::contents::{Contents, PartView};
use lightlag_quic::{Kind, Parameters, SpaceId};

/// An event.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The state of the connection has changed.
    State {
        /// State before, if there was one.
        old: Option<ConnectionState>,
        /// New state.
        new: ConnectionState,
    },
    /// Transport parameters became known.
    Parameters {
        /// The endpoint that announced them.
        owner: Owner,
        /// The parameters.
        parameters: &'a Parameters,
    },
    /// A datagram was sent. Each of its packets has a record.
    Sent {
        /// Packets of the datagram.
        contents: &'a Contents,
        /// Reason, if the datagram is a repair or a probe.
        trigger: Option<SendTrigger>,
    },
    /// A datagram was received and decrypted. Each of its packets has a record.
    Received {
        /// Packets of the datagram.
        contents: &'a Contents,
    },
    /// A packet was declared lost.
    Lost {
        /// Packet type.
        kind: Kind,
        /// Packet number.
        number: u64,
        /// Rule that detected the loss.
        trigger: LossTrigger,
    },
    /// Values of recovery have changed. Those that have not may be missing.
    Metrics(Metrics),
    /// The phase of congestion control has changed.
    Congestion {
        /// Phase before, if there was one.
        old: Option<&'a str>,
        /// New phase.
        new: &'a str,
    },
    /// A timer was set, has expired or was cancelled.
    Timer(UpdatedTimer),
    /// The maximum size of datagrams has changed.
    Mtu {
        /// UDP payload before, in bytes.
        old: u16,
        /// New UDP payload in bytes.
        new: u16,
        /// Whether the search for a larger size has ended.
        done: bool,
    },
    /// The state of ECN validation has changed. qlog 0.3 has no field for it.
    Ecn {
        /// New state.
        new: EcnState,
    },
}

/// An endpoint, as the log of one of them names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// The endpoint of the log.
    Local,
    /// Its peer.
    Remote,
}

/// State of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "names of quic-events")]
pub enum ConnectionState {
    Attempted,
    PeerValidated,
    HandshakeStarted,
    EarlyWrite,
    HandshakeComplete,
    HandshakeConfirmed,
    Closing,
    Draining,
    Closed,
}

/// Reason to send a packet again, or a probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "names of quic-events")]
pub enum SendTrigger {
    RetransmitReordered,
    RetransmitTimeout,
    PtoProbe,
    RetransmitCrypto,
}

/// Rule that detects a loss (RFC 9002 §6.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "names of quic-events")]
pub enum LossTrigger {
    ReorderingThreshold,
    TimeThreshold,
    PtoExpired,
}

/// Values of recovery. `None` leaves a value out.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Metrics {
    /// Minimum round-trip time.
    pub min_rtt: Option<Duration>,
    /// Smoothed round-trip time.
    pub smoothed_rtt: Option<Duration>,
    /// Latest round-trip time.
    pub latest_rtt: Option<Duration>,
    /// Variation of the round-trip time.
    pub rtt_variance: Option<Duration>,
    /// Number of probe timeouts since the last acknowledgement.
    pub pto_count: Option<u16>,
    /// Congestion window in bytes.
    pub congestion_window: Option<u64>,
    /// Bytes in flight.
    pub bytes_in_flight: Option<u64>,
    /// Slow start threshold in bytes.
    pub ssthresh: Option<u64>,
    /// Packets in flight, of all packet number spaces.
    pub packets_in_flight: Option<u64>,
    /// Pacing rate in bits per second.
    pub pacing_rate: Option<u64>,
}

/// Purpose of a timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimerKind {
    /// A delayed acknowledgement.
    Ack,
    /// Probe timeout.
    Pto,
    /// Time threshold of loss detection.
    Loss,
}

/// Change of a timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimerChange {
    /// Set, to expire after this time.
    Set(Duration),
    /// Expired.
    Expired,
    /// Cancelled.
    Cancelled,
}

/// A timer and its change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UpdatedTimer {
    /// Purpose.
    pub kind: TimerKind,
    /// Packet number space.
    pub space: Option<SpaceId>,
    /// Change.
    pub change: TimerChange,
}

/// State of ECN validation (RFC 9000 §13.4.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "names of quic-events")]
pub enum EcnState {
    Testing,
    Unknown,
    Failed,
    Capable,
}

impl Event<'_> {
    /// Returns the name of the event; `None` if the schema lacks it.
    pub(super) fn name(&self, schema: Schema) -> Option<&'static str> {
        let (old, current) = match self {
            Self::State { .. } => ("connectivity:connection_state_updated", "quic:connection_state_updated"),
            Self::Parameters { .. } => ("transport:parameters_set", "quic:parameters_set"),
            Self::Sent { .. } => ("transport:packet_sent", "quic:packet_sent"),
            Self::Received { .. } => ("transport:packet_received", "quic:packet_received"),
            Self::Lost { .. } => ("recovery:packet_lost", "quic:packet_lost"),
            Self::Metrics(_) => ("recovery:metrics_updated", "quic:recovery_metrics_updated"),
            Self::Congestion { .. } => ("recovery:congestion_state_updated", "quic:congestion_state_updated"),
            Self::Timer(_) => ("recovery:loss_timer_updated", "quic:timer_updated"),
            Self::Mtu { .. } => ("connectivity:mtu_updated", "quic:mtu_updated"),
            Self::Ecn { .. } if schema == Schema::V03 => return None,
            Self::Ecn { .. } => ("", "quic:ecn_state_updated"),
        };
        Some(if schema == Schema::V03 { old } else { current })
    }
}

/// Adds the fields of a packet that was sent or received.
pub(super) fn write_transfer(data: &mut Object<'_>, event: &Event<'_>, form: &Form<'_>, view: &PartView<'_>) {
    form.packet(data, view);
    let Event::Sent { trigger: Some(trigger), .. } = event else { return };
    let name = match trigger {
        SendTrigger::RetransmitReordered => "retransmit_reordered",
        SendTrigger::RetransmitTimeout => "retransmit_timeout",
        SendTrigger::PtoProbe => "pto_probe",
        SendTrigger::RetransmitCrypto => "retransmit_crypto",
    };
    data.text("trigger", name);
}

/// Adds the fields of an event other than a packet.
pub(super) fn write_event(data: &mut Object<'_>, event: &Event<'_>, schema: Schema) {
    match *event {
        Event::Sent { .. } | Event::Received { .. } => {}
        Event::State { old, new } => write_change(data, old.map(state), state(new)),
        Event::Congestion { old, new } => write_change(data, old, new),
        Event::Ecn { new } => write_change(data, None, ecn_state(new)),
        Event::Parameters { owner, parameters } => {
            let key = if schema == Schema::V03 { "owner" } else { "initiator" };
            data.text(key, if owner == Owner::Local { "local" } else { "remote" });
            write_parameters(data, parameters);
        }
        Event::Lost { kind, number, trigger } => {
            data.object("header", |header| {
                header.text("packet_type", packet_type(kind));
                header.number("packet_number", number);
            });
            let name = match trigger {
                LossTrigger::ReorderingThreshold => "reordering_threshold",
                LossTrigger::TimeThreshold => "time_threshold",
                LossTrigger::PtoExpired => "pto_expired",
            };
            data.text("trigger", name);
        }
        Event::Metrics(metrics) => write_metrics(data, &metrics),
        Event::Timer(timer) => write_timer(data, &timer, schema),
        Event::Mtu { old, new, done } => {
            data.number("old", old.into());
            data.number("new", new.into());
            data.flag("done", done);
        }
    }
}

fn write_change(data: &mut Object<'_>, old: Option<&str>, new: &str) {
    if let Some(old) = old {
        data.text("old", old);
    }
    data.text("new", new);
}

fn write_parameters(data: &mut Object<'_>, parameters: &Parameters) {
    let millis = |duration: Duration| duration.as_nanos() / 1_000_000;
    let limits = parameters.limits;
    for (key, value) in [
        ("max_idle_timeout", millis(parameters.idle_timeout)),
        ("ack_delay_exponent", parameters.ack_delay_exponent.into()),
        ("max_ack_delay", millis(parameters.max_ack_delay)),
        ("initial_max_data", limits.connection),
        ("initial_max_stream_data_bidi_local", limits.stream),
        ("initial_max_stream_data_bidi_remote", limits.stream),
        ("initial_max_stream_data_uni", limits.stream),
        ("initial_max_streams_bidi", limits.bidirectional),
        ("initial_max_streams_uni", limits.unidirectional),
        ("max_datagram_frame_size", parameters.max_datagram_frame.into()),
    ] {
        data.number(key, value);
    }
}

fn write_metrics(data: &mut Object<'_>, metrics: &Metrics) {
    for (key, value) in [
        ("min_rtt", metrics.min_rtt),
        ("smoothed_rtt", metrics.smoothed_rtt),
        ("latest_rtt", metrics.latest_rtt),
        ("rtt_variance", metrics.rtt_variance),
    ] {
        if let Some(value) = value {
            data.millis(key, value);
        }
    }
    for (key, value) in [
        ("pto_count", metrics.pto_count.map(u64::from)),
        ("congestion_window", metrics.congestion_window),
        ("bytes_in_flight", metrics.bytes_in_flight),
        ("ssthresh", metrics.ssthresh),
        ("packets_in_flight", metrics.packets_in_flight),
        ("pacing_rate", metrics.pacing_rate),
    ] {
        if let Some(value) = value {
            data.number(key, value);
        }
    }
}

/// qlog 0.3 has one timer, `pto`, for probes and for the time threshold.
fn write_timer(data: &mut Object<'_>, timer: &UpdatedTimer, schema: Schema) {
    let kind = match timer.kind {
        TimerKind::Ack => "ack",
        TimerKind::Loss if schema == Schema::Current => "loss_timeout",
        TimerKind::Loss | TimerKind::Pto => "pto",
    };
    data.text("timer_type", kind);
    if let Some(space) = timer.space {
        let name = match space {
            SpaceId::Initial => "initial",
            SpaceId::Handshake => "handshake",
            SpaceId::Application => "application_data",
        };
        data.text("packet_number_space", name);
    }
    match timer.change {
        TimerChange::Set(delta) => {
            data.text("event_type", "set");
            data.millis("delta", delta);
        }
        TimerChange::Expired => data.text("event_type", "expired"),
        TimerChange::Cancelled => data.text("event_type", "cancelled"),
    }
}

fn state(state: ConnectionState) -> &'static str {
    match state {
        ConnectionState::Attempted => "attempted",
        ConnectionState::PeerValidated => "peer_validated",
        ConnectionState::HandshakeStarted => "handshake_started",
        ConnectionState::EarlyWrite => "early_write",
        ConnectionState::HandshakeComplete => "handshake_complete",
        ConnectionState::HandshakeConfirmed => "handshake_confirmed",
        ConnectionState::Closing => "closing",
        ConnectionState::Draining => "draining",
        ConnectionState::Closed => "closed",
    }
}

fn ecn_state(state: EcnState) -> &'static str {
    match state {
        EcnState::Testing => "testing",
        EcnState::Unknown => "unknown",
        EcnState::Failed => "failed",
        EcnState::Capable => "capable",
    }
}
