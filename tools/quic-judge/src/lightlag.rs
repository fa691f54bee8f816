//! Ends of lightlag-quic.

use crate::network::{CLIENT, Datagram, Pair, Progress, SERVER};
use crate::pattern::Pattern;
use lightlag_control::congestion::Choice;
use lightlag_core::Instant;
use lightlag_quic::config::HandshakeSizes;
use lightlag_quic::contents::Contents;
use lightlag_quic::{Arena, Config, Connection, Packet, Parameters, Profile};
use std::sync::Arc;

/// A client and a server.
pub struct Lightlag {
    connections: [Connection; 2],
    arena: Arena,
    request: u64,
    response: u64,
    answered: bool,
    /// Packets that were sent; a datagram carries the index as bytes.
    packets: Vec<Packet>,
    /// Whether the contents of datagrams are copied.
    copies: bool,
}

/// Returns the configuration for a pattern.
pub fn config(pattern: &Pattern, profile: Profile) -> Config {
    let mut config = profile.config();
    config.congestion = Choice::named(match pattern.congestion.as_str() {
        "newreno" => "newreno",
        "cubic" => "cubic",
        name => panic!("congestion: {name} is not newreno or cubic"),
    });
    config.handshake = pattern.sizes();
    config.details.stalls_handshakes = profile == Profile::Quinn;
    // The other stack does not search for the path MTU either, and issues no connection IDs.
    (config.mtu, config.active_ids) = (None, 1);
    if let Some(window) = pattern.stream_window {
        config.flow.stream = window;
    }
    if let Some(window) = pattern.connection_window {
        config.flow.connection = window;
    }
    config
}

impl Lightlag {
    /// Creates the ends for a pattern. `skipped` are the packet numbers that each end leaves out.
    pub fn new(pattern: &Pattern, profile: Profile, skipped: [Vec<u64>; 2]) -> Self {
        let [of_client, of_server] = skipped;
        Self::with_config(pattern, config(pattern, profile), |client, server| {
            (client.with_skipped_numbers(of_client), server.with_skipped_numbers(of_server))
        })
    }

    /// Creates the ends with other sizes of the handshake messages.
    pub fn with_sizes(pattern: &Pattern, profile: Profile, sizes: Option<HandshakeSizes>) -> Self {
        let mut config = config(pattern, profile);
        config.handshake = sizes.unwrap_or(config.handshake);
        Self::with_config(pattern, config, |client, server| (client, server))
    }

    fn with_config(
        pattern: &Pattern,
        config: Config,
        change: impl FnOnce(Connection, Connection) -> (Connection, Connection),
    ) -> Self {
        let config = Arc::new(config);
        let parameters = Parameters::of(&config);
        let (client, server) = (
            Connection::client(config.clone(), parameters, pattern.seed),
            Connection::server(config, parameters, pattern.seed),
        );
        let (mut client, server) = change(client, server);
        let stream = client.own_stream();
        client.write_stream(stream, pattern.request);
        client.finish_stream(stream);
        Self {
            connections: [client, server],
            arena: Arena::new(),
            request: pattern.request,
            response: pattern.response,
            answered: false,
            packets: Vec::new(),
            copies: true,
        }
    }

    /// Leaves the contents of datagrams out.
    #[must_use]
    pub fn without_contents(self) -> Self {
        Self { copies: false, ..self }
    }

    fn received(&self, end: usize) -> u64 {
        self.connections[end].streams().receiving(0).map_or(0, |stream| stream.in_order())
    }
}

fn at(now: u64) -> Instant {
    Instant::from_nanos(now)
}

impl Pair for Lightlag {
    fn open(&mut self) {
        self.connections[CLIENT].open(Instant::ZERO);
    }

    fn deliver(&mut self, now: u64, to: usize, datagram: Datagram) {
        let index = usize::from_be_bytes(datagram.bytes[..].try_into().expect("an index"));
        let packet = self.packets[index];
        // A copy stays for a datagram that arrives twice.
        let kept = self.arena.duplicate(&packet);
        self.connections[to].handle_packet(at(now), &packet, datagram.ecn, &mut self.arena);
        self.packets[index] = kept;
    }

    fn run_application(&mut self, _now: u64, end: usize) {
        if end == SERVER && !self.answered && self.received(SERVER) == self.request {
            self.answered = true;
            self.connections[SERVER].write_stream(0, self.response);
            self.connections[SERVER].finish_stream(0);
        }
    }

    fn transmit(&mut self, now: u64, from: usize) -> Option<Datagram> {
        let packet = self.connections[from].poll_packet(at(now), &mut self.arena)?;
        let bytes = self.packets.len().to_be_bytes().to_vec();
        self.packets.push(packet);
        let contents = if self.copies { self.arena.copy(&packet) } else { Contents::default() };
        Some(Datagram { bytes, size: packet.size().into(), ecn: packet.codepoint(), contents })
    }

    fn timeout(&mut self, end: usize) -> Option<u64> {
        self.connections[end].poll_timeout().map(Instant::as_nanos)
    }

    fn expire(&mut self, now: u64, end: usize) {
        self.connections[end].handle_timeout(at(now));
    }

    fn progress(&self, end: usize) -> Progress {
        let connection = &self.connections[end];
        Progress { window: connection.window(), lost: connection.counters().lost_bytes }
    }

    fn is_done(&self) -> bool {
        self.received(CLIENT) == self.response
    }
}
