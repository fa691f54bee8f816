//! Behaviour of an endpoint.

use crate::codec::Version;
use crate::credit::Tuning;
use crate::details::Details;
use crate::pacing::PacingRules;
use crate::profile::Profile;
use crate::received::AckRules;
use crate::rtt::Variance;
use lightlag_control::congestion::Choice;
use lightlag_control::congestion::careful_resume::{ResumeRule, Saved};
use lightlag_control::congestion::loss_assumption::LossAssumption;
use lightlag_core::params::refusal::{OptionError, error};
use lightlag_core::{Bytes, Codepoint, Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Smallest maximum datagram size of a path (RFC 9000 §14.1).
pub const MIN_DATAGRAM: u16 = 1_200;

/// Initial congestion window in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InitialWindow {
    /// min(10 d, max(14,720, 2 d)) for datagrams of d bytes (RFC 9002 §7.2).
    Rfc9002,
    /// Ten datagrams.
    TenDatagrams,
    /// The given number of bytes.
    Bytes(u64),
}

impl InitialWindow {
    /// Returns the window for datagrams of `datagram` bytes.
    pub fn bytes(self, datagram: u64) -> u64 {
        match self {
            Self::Rfc9002 => (10 * datagram).min((2 * datagram).max(14_720)),
            Self::TenDatagrams => 10 * datagram,
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// Loss detection (RFC 9002 §6).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LossRules {
    /// A packet is lost if one with a number this much higher is acknowledged.
    pub packet_threshold: u64,
    /// Upper limit of the packet threshold, which rises with the reordering that is seen; equal to the threshold if it
    /// is constant.
    pub max_packet_threshold: u64,
    /// A packet is lost if it was sent this many round-trip times before an acknowledged one.
    pub time_threshold: f64,
    /// The time threshold after reordering was seen.
    pub max_time_threshold: f64,
    /// Factor of the probe timeout in the duration of persistent congestion; `None` turns it off.
    pub persistent: Option<u64>,
    /// Whether a window reduction is undone when all packets of its episode prove to be late.
    pub undo: bool,
    /// A loss after more probe timeouts than this shows persistent congestion; `None` leaves it to the durations
    /// (msquic: 2).
    pub persistent_probes: Option<u8>,
    /// Whether a reduction is also undone at the end of its episode if fewer packets were lost than 20 % of the window,
    /// at least 2 (quiche).
    pub undo_few: bool,
    /// Whether one packet beyond the window may be sent when an episode starts (RFC 9002 §7.3.2).
    pub extra_packet: bool,
}

/// Probe timeouts (RFC 9002 §6.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProbeRules {
    /// Number of probes for each timeout, 1 or 2.
    pub packets: u8,
    /// Maximum number of doublings.
    pub max_backoff: u8,
    /// Whether timeouts are limited to 1 s during the handshake and then to the larger one of 2 s and, above 610 ms,
    /// 1.5 srtt (picoquic).
    pub limited: bool,
    /// Whether a timeout declares packets with CRYPTO frames lost, which reduces the window (aioquic).
    pub marks_crypto: bool,
    /// Age of the oldest packet in flight that ends the connection; `None` for no limit (msquic: 16 s).
    pub give_up: Option<Duration>,
    /// First timeout, if it is not srtt + 4 rttvar of the initial round-trip time.
    pub first: Option<Duration>,
}

/// Flow control of one endpoint as a receiver, and its limit of unacknowledged data as a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowRules {
    /// Initial credit of each stream in bytes.
    pub stream: u64,
    /// Initial credit of the connection in bytes.
    pub connection: u64,
    /// Rule for updates of stream credit.
    pub stream_tuning: Tuning,
    /// Rule for updates of connection credit.
    pub connection_tuning: Tuning,
    /// Number of bidirectional streams that the peer may open.
    pub bidirectional: u64,
    /// Number of unidirectional streams that the peer may open.
    pub unidirectional: u64,
    /// Maximum number of sent, unacknowledged bytes of all streams; `None` sets no limit.
    pub send_buffer: Option<u64>,
}

/// Order of streams that have new data. Repairs of any stream are sent before new data (RFC 9000 §13.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fairness {
    /// Streams of one priority take turns, packet by packet.
    RoundRobin,
    /// Streams of one priority are sent one after another.
    Sequential,
}

/// Sizes of the handshake messages in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HandshakeSizes {
    /// ClientHello.
    pub client_hello: u16,
    /// ServerHello.
    pub server_hello: u16,
    /// EncryptedExtensions, Certificate, CertificateVerify and Finished of the server.
    pub server_flight: u16,
    /// EncryptedExtensions and Finished of a server that resumes a session, without a certificate.
    pub resumed_flight: u16,
    /// Finished of the client.
    pub client_finished: u16,
    /// NewSessionTicket messages of the server.
    pub ticket: u16,
    /// Token in NEW_TOKEN; 0 sends none.
    pub new_token: u16,
    /// Token in a Retry packet.
    pub retry_token: u16,
}

impl HandshakeSizes {
    /// Returns the sizes of TLS in aioquic 1.2 with a certificate chain of `certificate` bytes: ClientHello 476,
    /// ServerHello 123, EncryptedExtensions 118, CertificateVerify 79 (P-256), Finished 52 (SHA-384).
    pub fn with_certificate(certificate: u16) -> Self {
        Self {
            client_hello: 476,
            server_hello: 123,
            server_flight: 118 + certificate + 79 + 52,
            resumed_flight: 118 + 52,
            client_finished: 52,
            ticket: 210,
            new_token: 0,
            retry_token: 64,
        }
    }
}

/// State that a client remembers from an earlier connection, for 0-RTT (RFC 9000 §7.4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket {
    /// Credit of the connection.
    pub connection: u64,
    /// Credit of each stream.
    pub stream: u64,
    /// Number of bidirectional streams.
    pub bidirectional: u64,
    /// Number of unidirectional streams.
    pub unidirectional: u64,
    /// Length of the token of NEW_TOKEN, which validates the address; 0 for none.
    pub token: u16,
}

/// Frequency of acknowledgements that a sender requests (draft-ietf-quic-ack-frequency-14).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckFrequency {
    /// Number of eliciting packets that may arrive without an acknowledgement.
    pub threshold: u64,
    /// Maximum delay; `None` requests a quarter of the round-trip time.
    pub max_delay: Option<Duration>,
    /// Reordering threshold in packets; 0 turns immediate acknowledgements off.
    pub reordering: u64,
}

/// Search for the path MTU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MtuSearch {
    /// Half of the interval, until sizes differ by less than this number of bytes; then the upper end (quinn).
    Binary(u16),
    /// Steps of this number of bytes.
    Step(u16),
}

/// Discovery of the path MTU (RFC 8899).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MtuRules {
    /// Maximum UDP payload in bytes.
    pub max: u16,
    /// Order of the sizes that are probed.
    pub search: MtuSearch,
    /// Time from the end of a search to the start of the next one (RFC 8899 §5.1.1: 600 s).
    pub raise: Duration,
    /// Pause of the search after a black hole; `None` does not detect any.
    pub black_hole: Option<Duration>,
}

/// Treatment of address validation and early data by a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ServerRules {
    /// Whether a Retry packet is the reply to an Initial without a valid token.
    pub retry: bool,
    /// Whether 0-RTT data is rejected.
    pub reject_early_data: bool,
}

/// A change of a client's address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// Time of the change. A change before the handshake is confirmed waits for that.
    pub at: Instant,
    /// Part of the address that changes.
    pub kind: MoveKind,
}

/// Part of a client's address that changes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum MoveKind {
    /// A NAT gives the client another port, which the client does not notice (RFC 9000 §9.2).
    Port,
    /// The client migrates to another address (RFC 9000 §9).
    Address,
}

/// Limit of the queue of datagrams that wait to be sent (RFC 9221). A full queue drops its oldest datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DatagramQueue {
    /// Maximum number of bytes of data.
    Bytes(u64),
    /// Maximum number of datagrams.
    Datagrams(u64),
}

impl Default for DatagramQueue {
    /// Returns 1 MiB, the default of quinn-proto 0.11.19 (`datagram_send_buffer_size`).
    fn default() -> Self {
        Self::Bytes(1 << 20)
    }
}

/// Behaviour of an endpoint.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// Implementation that the other values follow.
    pub profile: Profile,
    /// Congestion control.
    pub congestion: Choice,
    /// UDP payload of a full datagram in bytes, at least [`MIN_DATAGRAM`]; at the start, if the path MTU is searched.
    pub datagram: u16,
    /// Discovery of the path MTU; `None` keeps [`Self::datagram`].
    pub mtu: Option<MtuRules>,
    /// State of an earlier connection on the same path, for Careful Resume (RFC 9959).
    pub careful_resume: Option<Saved>,
    /// Assumed cause of a loss without evidence of its cause.
    pub loss_assumption: LossAssumption,
    /// Initial congestion window.
    pub initial_window: InitialWindow,
    /// If the first sample of the round-trip time exceeds this value, the initial window is multiplied by their ratio,
    /// up to 6.1; `None` turns this off (picoquic: 100 ms).
    pub window_rtt: Option<Duration>,
    /// Minimum congestion window in datagrams.
    pub min_window: u64,
    /// Round-trip time before the first sample.
    pub initial_rtt: Duration,
    /// Rule for RTTVAR.
    pub variance: Variance,
    /// Loss detection.
    pub loss: LossRules,
    /// Probe timeouts.
    pub probes: ProbeRules,
    /// Acknowledgements in the application space.
    pub ack: AckRules,
    /// Frequency of acknowledgements that is requested from a peer that supports it.
    pub ack_frequency: Option<AckFrequency>,
    /// Minimum delay of acknowledgements that a peer may request; `None` does not support requests.
    pub min_ack_delay: Option<Duration>,
    /// Exponent of the unit of acknowledgement delays, 2^n µs.
    pub ack_delay_exponent: u8,
    /// Pacing by the window; `None` sends as the window permits. An algorithm with its own rate uses that.
    pub pacing: Option<PacingRules>,
    /// ECN field of sent packets; [`Codepoint::NotEct`] turns ECN off.
    pub ecn: Codepoint,
    /// Flow control.
    pub flow: FlowRules,
    /// Order of streams.
    pub fairness: Fairness,
    /// Idle timeout; zero for none (RFC 9000 §10.1).
    pub idle_timeout: Duration,
    /// Idle timeout during the handshake; `None` for the other one.
    pub handshake_timeout: Option<Duration>,
    /// Interval of PING frames that keep an idle connection open; `None` for none.
    pub keep_alive: Option<Duration>,
    /// Idle time that resets the window to its initial size; `None` never does (msquic: 1 s).
    pub idle_restart: Option<Duration>,
    /// Sizes of the handshake messages.
    pub handshake: HandshakeSizes,
    /// Number of connection IDs that the endpoint keeps issued, and accepts at least from the peer.
    pub active_ids: u8,
    /// Length of the local connection ID, 0 to 20 bytes.
    pub id_len: u8,
    /// Rules of a server.
    pub server: ServerRules,
    /// State of an earlier connection with 0-RTT keys; `None` makes a full handshake.
    pub ticket: Option<Ticket>,
    /// Maximum size of a DATAGRAM frame that is accepted, with its type and length; 0 for no support (RFC 9221 §3).
    pub max_datagram_frame: u16,
    /// Limit of the queue of datagrams that wait to be sent.
    pub datagram_queue: DatagramQueue,
    /// Whether one packet number in [0, 64) and in each interval [2ⁿ, 2ⁿ⁺¹), n ≥ 6, is skipped (quinn).
    pub skip_numbers: bool,
    /// Version of the packets.
    pub version: Version,
    /// Changes of the address in the order of time; only at a client.
    pub moves: Vec<Move>,
    /// Number of packets with the same keys (RFC 9001 §6); `None` if neither this end nor its peer updates keys.
    pub key_update: Option<u64>,
    /// Choices that are visible in single packets.
    pub details: Details,
}

impl Default for Config {
    fn default() -> Self {
        Profile::Rfc9002.config()
    }
}

impl Config {
    /// Checks that an endpoint can work with the values.
    ///
    /// # Errors
    /// If a value is outside its range; the key is the one in a scenario, if it has one.
    pub fn check(&self) -> Result<(), OptionError> {
        if self.datagram < MIN_DATAGRAM {
            return error("datagram", format!("{} B is below {MIN_DATAGRAM} B (RFC 9000 §14.1)", self.datagram));
        }
        if self.id_len > 20 {
            return error("id_length", format!("{} bytes is above 20 bytes (RFC 9000 §17.2)", self.id_len));
        }
        if self.ack.max_delay >= Duration::from_millis(1 << 14) {
            let delay = self.ack.max_delay;
            return error("ack.delay", format!("{delay} is not below 2^14 ms = 16.384 s (RFC 9000 §18.2)"));
        }
        if self.ack.max_ranges == 0 {
            return error("ack.max_ranges", "0 would drop every received packet; use 1 or more".to_owned());
        }
        if self.ack_delay_exponent > 20 {
            let exponent = self.ack_delay_exponent;
            return error("ack_delay_exponent", format!("{exponent} is above 20 (RFC 9000 §18.2)"));
        }
        let credits = [
            ("stream_credit", self.flow.stream),
            ("connection_credit", self.flow.connection),
            ("send_buffer", self.flow.send_buffer.unwrap_or(u64::MAX)),
        ];
        if let Some((key, bytes)) = credits.into_iter().find(|(_, bytes)| *bytes < self.datagram.into()) {
            let message =
                format!("{} is below a datagram of {} B, so that nothing could be sent", Bytes(bytes), self.datagram);
            return error(key, format!("{message}; write at least that"));
        }
        if let Some(mtu) = self.mtu.filter(|mtu| mtu.max < self.datagram) {
            return error("mtu", format!("{} B is below the datagram of {} B", mtu.max, self.datagram));
        }
        if let Some(min) = self.min_ack_delay.filter(|min| *min > self.ack.max_delay) {
            let max = self.ack.max_delay;
            return error(
                "min_ack_delay",
                format!("{min} is above ack.delay, {max} (draft-ietf-quic-ack-frequency-14 §3)"),
            );
        }
        if let Some(saved) = self.careful_resume {
            match saved.rule {
                ResumeRule::Rfc9959 => saved.check(&self.congestion)?,
                ResumeRule::Picoquic => saved.check_values()?,
            }
        }
        let idle = self.idle_timeout;
        if let Some(interval) = self.keep_alive.filter(|interval| !idle.is_zero() && *interval >= idle) {
            return error("keep_alive", format!("{interval} is not below idle_timeout, {idle}; use half of it"));
        }
        if self.ticket.is_some_and(|ticket| ticket.stream.min(ticket.connection) == 0) {
            let message = "the remembered limits of the server are zero, so that no data could be sent with it";
            return error("zero_rtt", message.to_owned());
        }
        Ok(())
    }

    /// Returns true if the algorithm is NewReno, Reno or CUBIC with the default parameters or the profile's.
    pub(crate) fn has_plain_window(&self) -> bool {
        let choice = &self.congestion;
        let is_own = *choice == self.profile.config().congestion;
        let is_plain = is_own || choice.name().parse::<Choice>().is_ok_and(|plain| plain == *choice);
        is_plain && matches!(choice.name(), "cubic" | "newreno" | "reno")
    }

    /// Returns three probe timeouts after the first sample of the round-trip time, srtt + 4 rttvar + max_ack_delay with
    /// rttvar = srtt/2.
    pub fn needed_idle_timeout(&self, rtt: Duration) -> Duration {
        (rtt * 3 + self.ack.max_delay) * 3
    }

    /// Returns the first probe timeout of a client (RFC 9002 §6.2.2): srtt + 4 rttvar with rttvar = srtt/2.
    pub fn first_probe(&self) -> Duration {
        self.probes.first.unwrap_or(self.initial_rtt * 3)
    }

    /// Returns the state that a client of this server remembers for 0-RTT.
    pub fn remembered(&self) -> Ticket {
        Ticket {
            connection: self.flow.connection,
            stream: self.flow.stream,
            bidirectional: self.flow.bidirectional,
            unidirectional: self.flow.unidirectional,
            token: self.handshake.new_token,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_initial_window_is_that_of_rfc_9002() {
        let rule = InitialWindow::Rfc9002;
        assert_eq!((rule.bytes(1_200), rule.bytes(1_472), rule.bytes(9_000)), (12_000, 14_720, 18_000));
    }

    #[test]
    fn bad_values_are_named_with_their_range() {
        let broken = |change: fn(&mut Config)| {
            let mut config = Config::default();
            change(&mut config);
            config.check().unwrap_err().to_string()
        };
        assert!(broken(|config| config.datagram = 1_199).contains("datagram: 1199 B is below 1200 B"));
        assert!(broken(|config| config.id_len = 21).contains("id_length: 21 bytes is above 20"));
        assert!(broken(|config| config.ack.max_delay = Duration::from_millis(16_384)).contains("2^14 ms"));
        assert!(broken(|config| config.flow.connection = 1_000).starts_with("connection_credit: 1 kB is below"));
        assert!(broken(|config| config.min_ack_delay = Some(Duration::from_millis(26))).contains("26 ms is above"));
        assert!(broken(|config| config.keep_alive = Some(Duration::from_secs(30))).contains("keep_alive: 30 s"));
        let mtu = |max| {
            let raise = Duration::from_secs(600);
            Some(MtuRules { max, search: MtuSearch::Step(80), raise, black_hole: None })
        };
        let error = |config: Config| config.check().unwrap_err().to_string();
        assert!(error(Config { mtu: mtu(1_100), ..Config::default() }).starts_with("mtu: 1100 B"));
        let ticket = Some(Ticket { stream: 0, ..Config::default().remembered() });
        assert!(error(Config { ticket, ..Config::default() }).starts_with("zero_rtt: the remembered limits"));
        assert!(Profile::ALL.iter().all(|profile| profile.config().check().is_ok()));
    }

    #[test]
    fn timers_follow_the_path() {
        // Three times 3 · 10 s + 25 ms; 3 · 333 ms.
        let config = Config::default();
        assert_eq!(config.needed_idle_timeout(Duration::from_secs(10)), Duration::from_millis(90_075));
        assert_eq!(config.first_probe(), Duration::from_millis(999));
    }
}
