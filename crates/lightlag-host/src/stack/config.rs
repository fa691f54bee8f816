//! The configuration of a host, and the resulting TCP configuration of its sockets.

use super::{Limits, Stack};
use crate::fast_open::FastOpen;
use crate::options::Settings;
use crate::send_space::{SendBuffer, SendSpace};
use crate::stream::Stream;
use lightlag_core::Bytes;
use lightlag_tcp::Connection;
use lightlag_tcp::config::{Config, KeepAliveConfig};
use lightlag_tcp::ecn::EcnMode;
use std::net::IpAddr;
use std::sync::Arc;

/// Condition under which a listener replies to SYNs with cookies instead of storing state (RFC 4987 §3.6;
/// tcp_syncookies of Linux).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SynCookies {
    /// Never. A listener with too many half-open connections drops the SYN.
    Never,
    /// When too many connections are half open.
    Crowded,
    /// For every SYN.
    Always,
}

/// The configuration of a host.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// IP addresses of the host. Packets to other addresses are dropped and counted.
    pub addresses: Vec<IpAddr>,
    /// TCP configuration of sockets that set no options.
    pub tcp: Config,
    /// Maximum size of an IP packet in bytes, which limits the MSS.
    pub mtu: u16,
    /// The ECN mode that a connecting socket requests, if it differs from the mode that a listening socket accepts.
    pub connecting_ecn: Option<EcnMode>,
    /// Send buffer of sockets that do not set SO_SNDBUF.
    pub send_buffer: SendBuffer,
    /// A socket accepts no more data while this many bytes have never been sent (tcp_notsent_lowat of Linux).
    pub not_sent_limit: Bytes,
    /// Minimum number of segments in a burst (tcp_min_tso_segs of Linux). The last segment of a burst has the PSH flag.
    pub least_burst: u64,
    /// Timing of the keep-alive probes of new sockets (tcp_keepalive_time, _intvl and _probes of Linux).
    pub keep_alive_timing: KeepAliveConfig,
    /// Condition under which listeners reply with SYN cookies (RFC 4987 §3.6; tcp_syncookies of Linux).
    pub syn_cookies: SynCookies,
    /// Settings of TCP Fast Open: whether clients send and listeners accept data in a SYN (RFC 7413).
    pub fast_open: FastOpen,
    /// Limits of the state that peers can create on the host.
    pub limits: Limits,
    /// Hop limit of sent packets.
    pub ttl: u8,
    /// Seed of the initial sequence numbers and ephemeral ports.
    pub seed: u64,
}

impl HostConfig {
    /// Returns the configuration of a host with these addresses that behaves like Linux.
    pub fn new(addresses: Vec<IpAddr>) -> Self {
        Self {
            addresses,
            tcp: lightlag_tcp::Profile::Linux.config(),
            mtu: 1500,
            connecting_ecn: None,
            send_buffer: SendBuffer::default(),
            not_sent_limit: Bytes(u32::MAX.into()),
            least_burst: 2,
            keep_alive_timing: KeepAliveConfig::default(),
            syn_cookies: SynCookies::Crowded,
            fast_open: FastOpen::default(),
            limits: Limits::default(),
            ttl: 64,
            seed: 1,
        }
    }
}

impl Stack {
    /// Sets the TCP configuration of new connections, and the ECN mode that connecting sockets request.
    pub fn set_tcp(&mut self, tcp: Config, connecting_ecn: EcnMode) {
        (self.config.tcp, self.config.connecting_ecn) = (tcp, Some(connecting_ecn));
    }

    /// Sets the bounds of autotuned send buffers.
    pub fn set_send_buffer(&mut self, bounds: SendBuffer) {
        self.config.send_buffer = bounds;
    }

    /// Sets the unsent limit of sockets that do not set TCP_NOTSENT_LOWAT.
    pub fn set_not_sent_limit(&mut self, limit: Bytes) {
        self.config.not_sent_limit = limit;
    }

    /// Sets the timing of the keep-alive probes of new sockets.
    pub fn set_keep_alive_timing(&mut self, timing: KeepAliveConfig) {
        self.config.keep_alive_timing = timing;
    }

    /// Sets when listeners reply with cookies.
    pub fn set_syn_cookies(&mut self, choice: SynCookies) {
        self.config.syn_cookies = choice;
    }

    /// Sets the maximum size of an IP packet in bytes, for new connections.
    pub fn set_mtu(&mut self, bytes: u16) {
        self.config.mtu = bytes;
    }

    /// Sets the minimum number of segments in a burst, for new connections.
    pub fn set_least_burst(&mut self, segments: u64) {
        self.config.least_burst = segments;
    }

    /// Adds an address to the host.
    pub fn add_address(&mut self, address: IpAddr) {
        if !self.config.addresses.contains(&address) {
            self.config.addresses.push(address);
        }
    }

    /// Returns the TCP configuration that results from the settings of a socket.
    pub(crate) fn tcp_config(&self, settings: &Settings, local: IpAddr) -> Arc<Config> {
        let mut config = self.config.tcp.clone();
        let headers = if local.is_ipv4() { 40 } else { 60 };
        let most = self.config.mtu.saturating_sub(headers).max(1);
        config.mss = config.mss.min(most).min(settings.max_segment.unwrap_or(u16::MAX));
        config.nagle = !settings.no_delay;
        // The socket cuts its stream itself, by its writes.
        (config.push, config.tso) = (false, false);
        config.congestion = settings.congestion.clone();
        config.fin_wait = settings.fin_wait.or(config.fin_wait);
        config.keep_alive = settings.probing();
        config.syn_retries = settings.syn_count.unwrap_or(config.syn_retries);
        if let Some(scps) = &mut config.scps {
            // A stream of real bytes cannot have holes: partial reliability is not offered.
            scps.bets = None;
        }
        if config.ecn == EcnMode::Off && config.congestion.fixed_needs().exact_marks {
            config.ecn = EcnMode::Classic;
        }
        if let Some(buffer) = settings.receive_buffer {
            (config.receive_buffer, config.receive_buffer_initial) = (buffer, None);
        }
        Arc::new(config)
    }

    /// Returns a new connection with the settings of its socket.
    pub(crate) fn stream(&self, mut connection: Connection, settings: &Settings) -> Stream {
        connection.set_user_timeout(settings.user_timeout);
        let fixed = settings.send_buffer.map(|bytes| bytes.0);
        let space = SendSpace::new(fixed, self.config.send_buffer, self.not_sent_limit(settings));
        Stream::new(connection, settings.cork, self.config.least_burst, space)
    }

    pub(crate) fn not_sent_limit(&self, settings: &Settings) -> u64 {
        if settings.not_sent_limit.0 > 0 { settings.not_sent_limit.0 } else { self.config.not_sent_limit.0 }
    }
}
