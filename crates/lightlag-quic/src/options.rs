//! The keys of a scenario's `quic = { ... }`, and their resolution to a [`Config`].

mod extensions;

use crate::config::{Config, Fairness, HandshakeSizes, InitialWindow};
use crate::credit::Tuning;
use crate::picoquic;
use crate::profile::Profile;
pub use extensions::{AckFrequencyOptions, MtuSwitch};
use extensions::{check_idle, support_frequency};
use lightlag_control::congestion::Choice;
use lightlag_control::congestion::careful_resume::Saved;
use lightlag_control::congestion::loss_assumption::LossAssumption;
pub use lightlag_core::params::refusal::OptionError;
use lightlag_core::params::refusal::{error, in_range};
use lightlag_core::{Bytes, Codepoint, Duration, overrides};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Largest UDP payload in bytes: 65,535 less the headers of IPv4 and UDP.
const MAX_DATAGRAM: u64 = 65_507;
/// Largest credit: 1 TB.
const MAX_CREDIT: u64 = 1_000_000_000_000;
/// Largest idle timeout and initial round-trip time.
const LONGEST: Duration = Duration::from_secs(30 * 86_400);

overrides! {
    /// QUIC settings that deviate from a profile.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[schemars(title = "Quic")]
    pub struct Options for Config {
        /// An implementation whose behaviour the other keys override: rfc9002 (the default), quinn, picoquic, quiche,
        /// msquic or aioquic.
        profile: Profile, apart;
        /// The congestion control: its name, or a table with `algorithm` and its parameters. The name alone of the
        /// profile's own algorithm leaves the parameters of the profile.
        congestion: Choice, apart;
        /// UDP payload of a full datagram, 1,200 B to 65,507 B (RFC 9000 §14).
        datagram: Bytes, apart;
        /// Initial window, 1 to 1,000 datagrams. Default: set by the profile; rfc9002 starts with at most 14,720 B (RFC
        /// 9002 §7.2).
        #[schemars(range(min = 1, max = 1000))]
        initial_window: u32, apart;
        /// Round-trip time before the first sample, which sets the first probe timeout (RFC 9002 §6.2.2).
        initial_rtt: Duration, apart;
        /// Packet threshold of loss detection, 1 to 1,000 (RFC 9002 §6.1.1).
        #[schemars(range(min = 1, max = 1000))]
        packet_threshold: u32, apart;
        /// Time threshold of loss detection in round-trip times, 1 to 10 (RFC 9002 §6.1.2).
        #[schemars(range(min = 1, max = 10))]
        time_threshold: f64, apart;
        /// Acknowledgements of 1-RTT packets: any of `packets`, `delay`, `reordering`, `max_ranges`.
        ack: AckOptions, apart, joined by |base, over| base.merge(&over);
        /// Pace packets at a rate that follows the window; otherwise send as the window permits. An algorithm with its
        /// own rate, such as BBR, uses that.
        pacing: bool, apart;
        /// ECN codepoint of sent packets: not_ect, ect0, or ect1 (L4S). Default: set by the profile, and ect1 with a
        /// congestion control that relies on marks.
        ecn: Ecn, apart;
        /// Initial credit of each stream (initial_max_stream_data), from a datagram to 1 TB.
        stream_credit: Bytes, apart;
        /// Initial credit of the connection (initial_max_data), from a datagram to 1 TB.
        connection_credit: Bytes, apart;
        /// Whether credit grows as in the profile; false keeps the window of each stream and of the connection at its
        /// initial size.
        auto_credit: bool, apart;
        /// Number of bidirectional and of unidirectional streams that the peer may open at the same time, 1 to
        /// 1,000,000.
        #[schemars(range(min = 1, max = 1_000_000))]
        streams: u64, apart;
        /// Maximum amount of sent, unacknowledged data of all streams. Default: set by the profile; most have no limit.
        send_buffer: Bytes, apart;
        /// Order of streams with new data and equal priority: round_robin or sequential.
        fairness: Fairness;
        /// Interval of PING frames while a connection is idle, from 1 ms to below the idle timeout (RFC 9000 §10.1.2);
        /// 0 s means none.
        keep_alive: Duration, apart;
        /// Frequency of acknowledgements that an end requests of its peer while it sends data
        /// (draft-ietf-quic-ack-frequency-14): any of `packets`, `delay`, `reordering`. The peer then supports it.
        /// Default: none.
        ack_frequency: AckFrequencyOptions, apart, joined by |base, over| base.merge(&over);
        /// Idle timeout (RFC 9000 §10.1), at most 30 days; 0 s means none.
        idle_timeout: Duration, apart;
        /// Size of the server's certificate chain, 100 B to 60 kB.
        certificate: Bytes, apart;
        /// Length of connection IDs, 0 to 20 bytes.
        #[schemars(range(max = 20))]
        id_length: u8, apart;
        /// Validate the client's address with a Retry packet, which takes a round trip. Only at the server.
        retry: bool, apart;
        /// Resume an earlier connection with the server and send data in the first flight (0-RTT). Only at the client.
        zero_rtt: bool, apart;
        /// Search for the path MTU by probes (RFC 8899, RFC 9000 §14.3): its largest datagram, from `datagram` to
        /// 65,507 B; or false for none, and true for the search of the profile, or up to 1,452 B if it has none.
        mtu: MtuSwitch, apart;
        /// Careful Resume (RFC 9959) by the end that sends: window and RTT of an earlier connection on the path, `{
        /// saved_cwnd = "2 MB", saved_rtt = "600 ms" }`. If the first measured round trip is similar to `saved_rtt`,
        /// the window jumps to half of `saved_cwnd`, or to `max_jump` if that is less. Only with window-based
        /// algorithms. With `rule = "picoquic"` and that profile, the window starts at all of `saved_cwnd`; only with
        /// newreno, cubic and, above 250 ms, bbr3. Default: none.
        careful_resume: Saved, optional;
        /// Assumed cause of a loss without evidence of its cause: congestion, or corruption, which does not reduce the
        /// window; or a custom loss response, `{ python = "mine.py:Mine" }`, which decides for each loss. Other values
        /// than congestion turn off the windows of quinn, picoquic and aioquic, so that the algorithm has its own.
        loss_assumption: LossAssumption;
        /// Whether the server accepts data in the first flight.
        accept_zero_rtt: bool, apart;
        /// Version of QUIC, 1 (RFC 9000) or 2 (RFC 9369). Captures show it; times and sizes are the same.
        #[schemars(range(min = 1, max = 2))]
        version: u8, apart;
        /// Times in the run when a NAT gives the client another port (RFC 9000 §9), which the client does not notice.
        /// Only at the client. Default: none.
        rebind: Vec<Duration>, apart;
        /// Times in the run when the client migrates to another address, at most 7: the window and the round-trip time
        /// start again (RFC 9000 §9.4). Only at the client. Default: none.
        migrate: Vec<Duration>, apart;
        /// Number of packets with the same keys before an end updates them (RFC 9001 §6), from 1; 0 means no updates.
        /// Captures show them. Default: 0.
        key_update: u64, apart;
        /// Keys that differ at the end that opens the connection.
        client: Box<Options>, apart, joined by |base: Box<Options>, over: Box<Options>| Box::new(base.merge(&over));
        /// Keys that differ at the end that accepts the connection.
        server: Box<Options>, apart, joined by |base: Box<Options>, over: Box<Options>| Box::new(base.merge(&over));
    }
}

overrides! {
    /// Settings of acknowledgements (RFC 9000 §13.2). Omitted keys come from the profile.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[schemars(title = "QuicAck")]
    pub struct AckOptions {
        /// Number of packets that one acknowledgement covers, 1 to 1,000.
        #[schemars(range(min = 1, max = 1000))]
        packets: u32;
        /// Maximum delay of an acknowledgement (max_ack_delay), below 2^14 ms.
        delay: Duration;
        /// Reordering threshold of immediate acknowledgements in packets, at most 1,000; 0 never acknowledges
        /// immediately.
        #[schemars(range(max = 1000))]
        reordering: u64;
        /// Maximum number of ranges in an acknowledgement, 1 to 10,000.
        #[schemars(range(min = 1, max = 10_000))]
        max_ranges: usize;
    }
}

/// ECN codepoint of sent packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "QuicEcn")]
#[serde(rename_all = "snake_case")]
pub enum Ecn {
    /// Not ECN-capable.
    NotEct,
    /// ECT(0), for classic congestion marks.
    Ect0,
    /// ECT(1), for L4S.
    Ect1,
}

/// The configurations of both endpoints.
#[derive(Clone, PartialEq, Debug)]
pub struct Ends {
    /// The end that opens the connection.
    pub client: Arc<Config>,
    /// The end that accepts it.
    pub server: Arc<Config>,
}

impl Options {
    /// Returns the configurations of both ends: the profile, modified by these options.
    ///
    /// # Errors
    /// If a value is outside its range, or if a key belongs to the other endpoint.
    pub fn resolve(&self) -> Result<Ends, OptionError> {
        let both = Self { client: None, server: None, ..self.clone() };
        let end = |own: &Option<Box<Self>>, key: &str| {
            let own = own.as_deref().cloned().unwrap_or_default();
            if own.client.is_some() || own.server.is_some() {
                return error(key, "contains a table client or server; write its keys here".to_owned());
            }
            let place = |error: OptionError| OptionError { key: format!("{key}.{}", error.key), ..error };
            let config = both.merge(&own).resolve_end();
            // An error in a common key is reported with the path of that key.
            both.resolve_end()?;
            config.map_err(place)
        };
        let (mut client, mut server) = (end(&self.client, "client")?, end(&self.server, "server")?);
        let of_client = self.client.as_deref();
        let of_server = self.server.as_deref();
        server.moves.clear();
        self.check_common()?;
        check_idle(&client, &server)?;
        if of_client.is_some_and(|own| own.retry.is_some() || own.accept_zero_rtt.is_some()) {
            let key = if of_client.is_some_and(|own| own.retry.is_some()) { "retry" } else { "accept_zero_rtt" };
            return error(&format!("client.{key}"), "is a decision of the server; move it to server".to_owned());
        }
        if of_server.is_some_and(|own| own.zero_rtt.is_some()) {
            return error("server.zero_rtt", "is a decision of the client; move it to client".to_owned());
        }
        support_frequency(&mut client, &server);
        support_frequency(&mut server, &client);
        let wants_early = of_client.and_then(|own| own.zero_rtt).or(self.zero_rtt).unwrap_or(false);
        if wants_early {
            client.ticket = Some(server.remembered());
        }
        Ok(Ends { client: Arc::new(client), server: Arc::new(server) })
    }

    fn resolve_end(&self) -> Result<Config, OptionError> {
        let mut config = self.profile.unwrap_or_default().config();
        self.set(&mut config);
        if let Some(congestion) = &self.congestion {
            let name = congestion.name();
            let is_plain = name.parse::<Choice>().is_ok_and(|plain| plain == *congestion);
            if !is_plain || name != config.congestion.name() {
                config.congestion = congestion.clone();
            }
        }
        if let Some(size) = self.datagram {
            config.datagram = in_range("datagram", size.0, 0, MAX_DATAGRAM, " B")? as u16;
            config.mtu = config.mtu.filter(|mtu| mtu.max > config.datagram);
        }
        if let Some(datagrams) = self.initial_window {
            let datagrams = in_range("initial_window", datagrams.into(), 1, 1_000, " datagrams")?;
            config.initial_window = InitialWindow::Bytes(datagrams * u64::from(config.datagram));
        }
        if let Some(rtt) = self.initial_rtt {
            if rtt < Duration::from_millis(1) || rtt > LONGEST {
                return error("initial_rtt", format!("{rtt} is not between 1 ms and 30 days"));
            }
            (config.initial_rtt, config.probes.first) = (rtt, None);
        }
        if let Some(threshold) = self.packet_threshold {
            let threshold = in_range("packet_threshold", threshold.into(), 1, 1_000, " packets")?;
            config.loss.packet_threshold = threshold;
            config.loss.max_packet_threshold = threshold;
        }
        if let Some(threshold) = self.time_threshold {
            if !(1.0..=10.0).contains(&threshold) {
                return error("time_threshold", format!("{threshold} is not between 1 and 10"));
            }
            (config.loss.time_threshold, config.loss.max_time_threshold) = (threshold, threshold);
        }
        self.resolve_acks(&mut config)?;
        match self.pacing {
            Some(true) => config.pacing = config.pacing.or(Profile::Rfc9002.config().pacing),
            Some(false) => config.pacing = None,
            None => {}
        }
        config.ecn = match self.ecn {
            Some(Ecn::NotEct) if config.congestion.fixed_needs().exact_marks => {
                return error("ecn", format!("{} relies on congestion marks: remove ecn", config.congestion.name()));
            }
            Some(Ecn::NotEct) => Codepoint::NotEct,
            Some(Ecn::Ect0) => Codepoint::Ect0,
            Some(Ecn::Ect1) => Codepoint::Ect1,
            None if config.congestion.fixed_needs().exact_marks && !config.ecn.is_capable() => Codepoint::Ect1,
            None => config.ecn,
        };
        self.resolve_credit(&mut config)?;
        self.resolve_extensions(&mut config)?;
        if let Some(timeout) = self.idle_timeout {
            if timeout > LONGEST {
                return error("idle_timeout", format!("{timeout} is above 30 days; write 0 s for none"));
            }
            config.idle_timeout = timeout;
        }
        if let Some(size) = self.certificate {
            let size = in_range("certificate", size.0, 100, 60_000, " B")?;
            config.handshake = HandshakeSizes::with_certificate(size as u16);
        }
        config.id_len = self.id_length.unwrap_or(config.id_len);
        config.server.retry = self.retry.unwrap_or(config.server.retry);
        config.server.reject_early_data = !self.accept_zero_rtt.unwrap_or(!config.server.reject_early_data);
        config.check()?;
        if let Some(saved) = config.careful_resume.filter(|saved| !saved.rule.is_default()) {
            picoquic::check_saved(&config, &saved)?;
        }
        Ok(config)
    }

    fn resolve_acks(&self, config: &mut Config) -> Result<(), OptionError> {
        let Some(ack) = self.ack else { return Ok(()) };
        if let Some(packets) = ack.packets {
            config.ack.threshold = in_range("ack.packets", packets.into(), 1, 1_000, " packets")? as u32 - 1;
        }
        config.ack.max_delay = ack.delay.unwrap_or(config.ack.max_delay);
        if let Some(reordering) = ack.reordering {
            config.ack.reordering = in_range("ack.reordering", reordering, 0, 1_000, " packets")?;
        }
        if let Some(ranges) = ack.max_ranges {
            config.ack.max_ranges = in_range("ack.max_ranges", ranges as u64, 0, 10_000, " ranges")? as usize;
        }
        Ok(())
    }

    fn resolve_credit(&self, config: &mut Config) -> Result<(), OptionError> {
        let credit = |key: &str, bytes: Option<Bytes>| {
            bytes.map(|bytes| in_range(key, bytes.0, 0, MAX_CREDIT, " B")).transpose()
        };
        config.flow.stream = credit("stream_credit", self.stream_credit)?.unwrap_or(config.flow.stream);
        config.flow.connection = credit("connection_credit", self.connection_credit)?.unwrap_or(config.flow.connection);
        config.flow.send_buffer = credit("send_buffer", self.send_buffer)?.or(config.flow.send_buffer);
        if self.auto_credit == Some(false) {
            (config.flow.stream_tuning, config.flow.connection_tuning) = (Tuning::Fixed(2), Tuning::Fixed(2));
        }
        if let Some(streams) = self.streams {
            let streams = in_range("streams", streams, 1, 1_000_000, " streams")?;
            (config.flow.bidirectional, config.flow.unidirectional) = (streams, streams);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(json: serde_json::Value) -> Options {
        serde_json::from_value(json).expect("the keys exist")
    }

    fn refused(json: serde_json::Value) -> String {
        options(json).resolve().unwrap_err().to_string()
    }

    #[test]
    fn options_change_the_profile_at_both_ends_or_at_one() {
        let ends = options(serde_json::json!({
            "profile": "quinn", "congestion": "bbr", "stream_credit": "30 MB", "ack": { "packets": 10 },
            "client": { "zero_rtt": true, "datagram": "1400 B" }, "server": { "certificate": "3507 B" },
        }));
        let Ends { client, server } = ends.resolve().unwrap();
        assert_eq!((client.profile, client.congestion.name(), client.datagram), (Profile::Quinn, "bbr", 1_400));
        assert_eq!((server.datagram, server.flow.stream, server.ack.threshold), (1_200, 30_000_000, 9));
        assert_eq!(server.handshake.server_flight, 118 + 3_507 + 79 + 52);
        assert_eq!(client.ticket, Some(server.remembered()));
        assert_eq!(server.ticket, None);
    }

    #[test]
    fn no_options_leave_the_profile() {
        let ends = Options::default().resolve().unwrap();
        assert_eq!((&*ends.client, &*ends.server), (&Config::default(), &Config::default()));
    }

    #[test]
    fn bad_values_are_named_with_their_key_and_the_range() {
        use serde_json::json;
        for (keys, message) in [
            (json!({ "datagram": "1199 B" }), "datagram: 1199 B is below 1200 B (RFC 9000 §14.1)"),
            (json!({ "id_length": 21 }), "id_length: 21 bytes is above 20 bytes (RFC 9000 §17.2)"),
            (json!({ "ack": { "delay": "16384 ms" } }), "ack.delay: 16.384 s is not below 2^14 ms"),
            (json!({ "stream_credit": "1 kB" }), "stream_credit: 1 kB is below a datagram of 1200 B"),
            (json!({ "server": { "connection_credit": "1 kB" } }), "server.connection_credit: 1 kB is below"),
            (json!({ "initial_window": 0 }), "initial_window: 0 datagrams is not between 1 and 1000 datagrams"),
            (json!({ "client": { "retry": true } }), "client.retry: is a decision of the server"),
            (json!({ "server": { "zero_rtt": true } }), "server.zero_rtt: is a decision of the client"),
            (json!({ "client": { "client": {} } }), "client: contains a table client or server"),
            (
                json!({ "careful_resume": { "saved_cwnd": "0 B", "saved_rtt": "1 s" } }),
                "careful_resume.saved_cwnd: 0 B is not between",
            ),
            (
                json!({ "congestion": "bbr", "careful_resume": { "saved_cwnd": "1 MB", "saved_rtt": "1 s" } }),
                "careful_resume: bbr has no window that could jump",
            ),
            (
                json!({ "careful_resume": { "saved_cwnd": "1 MB", "saved_rtt": "1 s", "rule": "picoquic" } }),
                "careful_resume.rule: picoquic needs profile",
            ),
            (
                json!({
                    "profile": "picoquic", "congestion": "bbr3",
                    "careful_resume": { "saved_cwnd": "1 MB", "saved_rtt": "250 ms", "rule": "picoquic" },
                }),
                "careful_resume.saved_rtt: 250 ms is not above 250 ms",
            ),
            (
                json!({
                    "profile": "picoquic", "congestion": { "algorithm": "newreno", "beta": 0.7 },
                    "careful_resume": { "saved_cwnd": "1 MB", "saved_rtt": "1 s", "rule": "picoquic" },
                }),
                "careful_resume.rule: picoquic has no such rule for newreno with these parameters",
            ),
            (
                json!({
                    "profile": "picoquic", "loss_assumption": "corruption",
                    "careful_resume": { "saved_cwnd": "1 MB", "saved_rtt": "1 s", "rule": "picoquic" },
                }),
                "careful_resume.rule: picoquic needs loss_assumption",
            ),
            (
                json!({
                    "profile": "picoquic",
                    "careful_resume":
                        { "saved_cwnd": "1 MB", "saved_rtt": "1 s", "max_jump": "1 kB", "rule": "picoquic" },
                }),
                "careful_resume.max_jump: has no effect",
            ),
            (json!({ "time_threshold": 0.5 }), "time_threshold: 0.5 is not between 1 and 10"),
            (json!({ "congestion": "dctcp", "ecn": "not_ect" }), "ecn: dctcp relies on congestion marks"),
        ] {
            let error = refused(keys);
            assert!(error.starts_with(message), "{error:?} instead of {message:?}");
        }
    }
}
