//! The values of each profile.

use crate::codec::Version;
use crate::config::{
    Config, DatagramQueue, Fairness, FlowRules, HandshakeSizes, InitialWindow, LossRules, MtuRules, MtuSearch,
    ProbeRules, ServerRules,
};
use crate::credit::{Tuning, UNLIMITED};
use crate::details::Details;
use crate::pacing::{Burst, PacingRules};
use crate::profile::Profile;
use crate::received::{AckRules, PingRule};
use crate::rtt::Variance;
use lightlag_control::congestion::hystart::{self, Policy};
use lightlag_control::congestion::loss_assumption::LossAssumption;
use lightlag_control::congestion::{Choice, cubic};
use lightlag_core::{Codepoint, Duration};

const MIB: u64 = 1 << 20;

/// quinn's stream window: 12.5 MB/s for 100 ms.
const QUINN_STREAM: u64 = 1_250_000;
/// quinn's limit of unacknowledged data, eight stream windows.
const QUINN_SEND: u64 = 10_000_000;

impl Profile {
    /// Returns the configuration of an endpoint.
    pub fn config(self) -> Config {
        let rfc = rfc9002();
        match self {
            Self::Rfc9002 => rfc,
            Self::Quinn => quinn(rfc),
            Self::Picoquic => picoquic(rfc),
            Self::Quiche => quiche(rfc),
            Self::Msquic => msquic(rfc),
            Self::Aioquic => aioquic(rfc),
        }
    }
}

fn mtu(max: u16, search: MtuSearch, black_hole: Option<Duration>) -> Option<MtuRules> {
    Some(MtuRules { max, search, raise: Duration::from_secs(600), black_hole })
}

fn rfc9002() -> Config {
    Config {
        profile: Profile::Rfc9002,
        congestion: Choice::named("newreno"),
        datagram: 1_200,
        mtu: None,
        careful_resume: None,
        loss_assumption: LossAssumption::Congestion,
        initial_window: InitialWindow::Rfc9002,
        window_rtt: None,
        min_window: 2,
        initial_rtt: Duration::from_millis(333),
        variance: Variance::Smoothed,
        loss: LossRules {
            packet_threshold: 3,
            max_packet_threshold: 3,
            time_threshold: 9.0 / 8.0,
            max_time_threshold: 9.0 / 8.0,
            persistent: Some(3),
            persistent_probes: None,
            undo: true,
            undo_few: false,
            extra_packet: true,
        },
        probes: ProbeRules {
            packets: 2,
            max_backoff: 32,
            limited: false,
            marks_crypto: false,
            give_up: None,
            first: None,
        },
        ack: AckRules {
            threshold: 1,
            max_delay: Duration::from_millis(25),
            reordering: 1,
            max_ranges: 64,
            lazy: None,
            ping: PingRule::PerRoundTrip,
            adapts: false,
            marks_once: false,
            window: false,
        },
        ack_frequency: None,
        min_ack_delay: None,
        ack_delay_exponent: 3,
        pacing: Some(PacingRules { gain: 1.25, slow_start_gain: 1.25, burst: Burst::Datagrams(10), refill: false }),
        ecn: Codepoint::NotEct,
        flow: FlowRules {
            stream: 16 * MIB,
            connection: 24 * MIB,
            stream_tuning: Tuning::Fixed(2),
            connection_tuning: Tuning::Fixed(2),
            bidirectional: 100,
            unidirectional: 100,
            send_buffer: None,
        },
        fairness: Fairness::RoundRobin,
        idle_timeout: Duration::from_secs(30),
        handshake_timeout: None,
        keep_alive: None,
        idle_restart: None,
        handshake: HandshakeSizes::with_certificate(2_000),
        active_ids: 2,
        id_len: 8,
        server: ServerRules::default(),
        ticket: None,
        max_datagram_frame: u16::MAX,
        datagram_queue: DatagramQueue::default(),
        skip_numbers: false,
        version: Version::One,
        moves: Vec::new(),
        key_update: None,
        details: Details::default(),
    }
}

/// Returns CUBIC with this end of slow start.
fn cubic_with(policy: Policy) -> Choice {
    Choice::Cubic(cubic::Config { hystart: hystart::Config::of(policy), ..cubic::Config::default() })
}

fn quinn(rfc: Config) -> Config {
    Config {
        profile: Profile::Quinn,
        congestion: cubic_with(Policy::Standard),
        mtu: mtu(1_452, MtuSearch::Binary(20), Some(Duration::from_secs(60))),
        initial_window: InitialWindow::Bytes(12_000),
        probes: ProbeRules { max_backoff: 16, ..rfc.probes },
        loss: LossRules { undo: false, extra_packet: false, ..rfc.loss },
        pacing: Some(PacingRules { gain: 1.25, slow_start_gain: 1.25, burst: Burst::Quinn, refill: true }),
        flow: FlowRules {
            stream: QUINN_STREAM,
            connection: UNLIMITED,
            stream_tuning: Tuning::Fixed(8),
            connection_tuning: Tuning::Fixed(8),
            send_buffer: Some(QUINN_SEND),
            ..rfc.flow
        },
        ack: AckRules { lazy: Some(10), ping: PingRule::Never, window: true, ..rfc.ack },
        ecn: Codepoint::Ect0,
        // From memory: quinn issues as many as the peer accepts, and accepts five.
        active_ids: 5,
        skip_numbers: true,
        details: Details::QUINN,
        ..rfc
    }
}

fn picoquic(rfc: Config) -> Config {
    Config {
        profile: Profile::Picoquic,
        datagram: 1_252,
        // One probe of the maximum.
        mtu: mtu(1_440, MtuSearch::Step(u16::MAX / 2), None),
        initial_window: InitialWindow::Bytes(15_360),
        initial_rtt: Duration::from_millis(250),
        loss: LossRules { undo: false, extra_packet: false, ..rfc.loss },
        probes: ProbeRules { packets: 1, limited: true, ..rfc.probes },
        ack: AckRules { max_delay: Duration::from_millis(10), adapts: true, ..rfc.ack },
        window_rtt: Some(Duration::from_millis(100)),
        pacing: Some(PacingRules { gain: 1.0, slow_start_gain: 1.25, burst: Burst::Picoquic, refill: false }),
        flow: FlowRules {
            stream: 2 * MIB,
            connection: MIB,
            stream_tuning: Tuning::Picoquic,
            connection_tuning: Tuning::Picoquic,
            ..rfc.flow
        },
        details: Details::picoquic(),
        ..rfc
    }
}

fn quiche(rfc: Config) -> Config {
    Config {
        profile: Profile::Quiche,
        congestion: cubic_with(Policy::PlusPlus),
        initial_window: InitialWindow::TenDatagrams,
        loss: LossRules {
            max_packet_threshold: 20,
            max_time_threshold: 5.0 / 4.0,
            persistent: None,
            undo_few: true,
            extra_packet: false,
            ..rfc.loss
        },
        ack: AckRules { max_ranges: 68, ..rfc.ack },
        flow: FlowRules {
            stream: MIB,
            connection: 3 * MIB / 2,
            stream_tuning: Tuning::Quiche(16 * MIB),
            connection_tuning: Tuning::Quiche(24 * MIB),
            ..rfc.flow
        },
        fairness: Fairness::Sequential,
        ..rfc
    }
}

fn msquic(rfc: Config) -> Config {
    Config {
        profile: Profile::Msquic,
        congestion: cubic_with(Policy::Standard),
        datagram: 1_240,
        mtu: mtu(1_472, MtuSearch::Step(80), None),
        initial_window: InitialWindow::TenDatagrams,
        loss: LossRules { persistent: None, persistent_probes: Some(2), undo: false, extra_packet: false, ..rfc.loss },
        probes: ProbeRules { give_up: Some(Duration::from_secs(16)), ..rfc.probes },
        handshake_timeout: Some(Duration::from_secs(10)),
        ack_delay_exponent: 8,
        pacing: Some(PacingRules { gain: 1.25, slow_start_gain: 2.0, burst: Burst::Millisecond, refill: false }),
        flow: FlowRules {
            stream: 64 << 10,
            connection: 16 * MIB,
            stream_tuning: Tuning::Msquic(16 * MIB),
            connection_tuning: Tuning::Fixed(4),
            ..rfc.flow
        },
        idle_restart: Some(Duration::from_secs(1)),
        ..rfc
    }
}

fn aioquic(rfc: Config) -> Config {
    Config {
        profile: Profile::Aioquic,
        congestion: Choice::named("reno"),
        initial_window: InitialWindow::TenDatagrams,
        initial_rtt: Duration::from_millis(100),
        variance: Variance::Minimum,
        loss: LossRules { persistent: None, undo: false, extra_packet: false, ..rfc.loss },
        probes: ProbeRules { packets: 1, marks_crypto: true, first: Some(Duration::from_millis(200)), ..rfc.probes },
        ack: AckRules {
            threshold: u32::MAX,
            max_delay: Duration::from_millis(1),
            max_ranges: usize::MAX,
            ping: PingRule::EveryEighth,
            ..rfc.ack
        },
        pacing: Some(PacingRules { gain: 1.0, slow_start_gain: 1.0, burst: Burst::Quarter, refill: false }),
        flow: FlowRules {
            stream: MIB,
            connection: MIB,
            stream_tuning: Tuning::Aioquic,
            connection_tuning: Tuning::Aioquic,
            ..rfc.flow
        },
        idle_timeout: Duration::from_secs(60),
        details: Details::aioquic(),
        ..rfc
    }
}
