//! Ends of quinn-proto.

use crate::network::{CLIENT, Datagram, Pair, Progress, SERVER};
use crate::null::{NullConfig, NullKey};
use crate::pattern::Pattern;
use bytes::BytesMut;
use lightlag_core::Codepoint;
use lightlag_quic::codec::{Context, decode};
use lightlag_quic::contents::Contents;
use quinn_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::{
    ClientConfig, Connection, ConnectionError, DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig, Event,
    RandomConnectionIdGenerator, ServerConfig, StreamId, TransportConfig, ValidationTokenConfig, VarInt,
};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Connection IDs of both ends, and the first destination of the client.
const ID_LEN: usize = 8;

/// A client and a server.
pub struct Quinn {
    base: Instant,
    endpoints: [Endpoint; 2],
    connections: [Option<Connection>; 2],
    client_config: ClientConfig,
    /// Bytes that each end has not written, and the stream.
    unwritten: [u64; 2],
    stream: [Option<StreamId>; 2],
    finished: [bool; 2],
    request: u64,
    response: u64,
    read: [u64; 2],
    largest: [[Option<u64>; 3]; 2],
    /// Counts dropped 1-RTT keys; times when an end discarded old keys after an update.
    dropped: Arc<AtomicU64>,
    discards: Vec<(u64, usize)>,
    /// Whether the contents of datagrams are decoded.
    decodes: bool,
}

fn address(end: usize) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1 + end as u8)), 4433)
}

fn transport(pattern: &Pattern) -> Arc<TransportConfig> {
    let factory: Arc<dyn ControllerFactory + Send + Sync> = match pattern.congestion.as_str() {
        "cubic" => Arc::new(CubicConfig::default()),
        "newreno" => Arc::new(NewRenoConfig::default()),
        name => panic!("congestion: {name} is not newreno or cubic"),
    };
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(factory);
    transport.mtu_discovery_config(None).enable_segmentation_offload(false);
    if let Some(window) = pattern.stream_window {
        transport.stream_receive_window(VarInt::from_u64(window).expect("a window below 2^62"));
    }
    if let Some(window) = pattern.connection_window {
        transport.receive_window(VarInt::from_u64(window).expect("a window below 2^62"));
    }
    Arc::new(transport)
}

fn endpoint_config(seed: u64, end: usize) -> Arc<EndpointConfig> {
    let mut config = EndpointConfig::new(Arc::new(NullKey));
    let mut bytes = [end as u8; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    config.rng_seed(Some(bytes)).grease_quic_bit(false);
    config.cid_generator(|| Box::new(RandomConnectionIdGenerator::new(ID_LEN)));
    Arc::new(config)
}

impl Quinn {
    /// Creates the ends for a pattern.
    #[expect(clippy::disallowed_methods, reason = "the origin of quinn's clock, which then is virtual")]
    pub fn new(pattern: &Pattern) -> Self {
        let dropped = Arc::new(AtomicU64::new(0));
        let null = Arc::new(NullConfig { sizes: pattern.sizes(), dropped: dropped.clone() });
        let transport = transport(pattern);
        let mut server = ServerConfig::new(null.clone(), Arc::new(NullKey));
        let mut tokens = ValidationTokenConfig::default();
        tokens.sent(0);
        server.transport_config(transport.clone()).validation_token_config(tokens);
        let mut client_config = ClientConfig::new(null);
        client_config.transport_config(transport);
        client_config.initial_dst_cid_provider(Arc::new(|| {
            use quinn_proto::ConnectionIdGenerator;
            RandomConnectionIdGenerator::new(ID_LEN).generate_cid()
        }));
        Self {
            base: Instant::now(),
            endpoints: [
                Endpoint::new(endpoint_config(pattern.seed, CLIENT), None, true, None),
                Endpoint::new(endpoint_config(pattern.seed, SERVER), Some(Arc::new(server)), true, None),
            ],
            connections: [None, None],
            client_config,
            unwritten: [pattern.request, 0],
            stream: [None; 2],
            finished: [false; 2],
            request: pattern.request,
            response: pattern.response,
            read: [0; 2],
            largest: [[None; 3]; 2],
            dropped,
            discards: Vec::new(),
            decodes: true,
        }
    }

    /// Leaves the contents of datagrams out.
    #[must_use]
    pub fn without_contents(self) -> Self {
        Self { decodes: false, ..self }
    }

    fn at(&self, now: u64) -> Instant {
        self.base + Duration::from_nanos(now)
    }

    /// Returns when each end discarded old keys after an update, which makes it try to send.
    pub fn discards(&self) -> &[(u64, usize)] {
        &self.discards
    }

    /// Decodes a datagram that an end sent.
    fn contents(&mut self, from: usize, bytes: &[u8]) -> Contents {
        let context = Context { id_len: ID_LEN, largest: self.largest[from] };
        let contents = decode(bytes, &context).unwrap_or_else(|error| panic!("a datagram of quinn: {error}"));
        for part in &contents.parts {
            if let Some(space) = part.kind.space() {
                let largest = &mut self.largest[from][space as usize];
                *largest = (*largest).max(Some(part.number));
            }
        }
        contents
    }

    /// Drops the events for the endpoint: new connection IDs are not issued.
    fn drain(&mut self, end: usize) {
        if let Some(connection) = &mut self.connections[end] {
            while connection.poll_endpoint_events().is_some() {}
            while let Some(event) = connection.poll() {
                if let Event::ConnectionLost { reason } = event
                    && reason != ConnectionError::TimedOut
                {
                    panic!("the connection of end {end} failed: {reason}");
                }
            }
        }
    }
}

impl Pair for Quinn {
    fn open(&mut self) {
        let (base, config) = (self.base, self.client_config.clone());
        let (_, connection) =
            self.endpoints[CLIENT].connect(base, config, address(SERVER), "server").expect("a connection");
        self.connections[CLIENT] = Some(connection);
    }

    fn deliver(&mut self, now: u64, to: usize, datagram: Datagram) {
        let at = self.at(now);
        let ecn = match datagram.ecn {
            Codepoint::NotEct => None,
            Codepoint::Ect0 => Some(EcnCodepoint::Ect0),
            Codepoint::Ect1 => Some(EcnCodepoint::Ect1),
            Codepoint::Ce => Some(EcnCodepoint::Ce),
        };
        let mut buffer = Vec::new();
        let data = BytesMut::from(&datagram.bytes[..]);
        match self.endpoints[to].handle(at, address(1 - to), None, ecn, data, &mut buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some(connection) = &mut self.connections[to] {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                match self.endpoints[to].accept(incoming, at, &mut buffer, None) {
                    Ok((_, connection)) => self.connections[to] = Some(connection),
                    Err(error) => panic!("the server rejects the client: {:?}", error.cause),
                }
            }
            Some(DatagramEvent::Response(_)) | None => {}
        }
        self.drain(to);
    }

    fn run_application(&mut self, _now: u64, end: usize) {
        let Some(connection) = &mut self.connections[end] else { return };
        if end == CLIENT && self.stream[end].is_none() {
            self.stream[end] = connection.streams().open(Dir::Bi);
        }
        if end == SERVER && self.stream[end].is_none() {
            self.stream[end] = connection.streams().accept(Dir::Bi);
        }
        let Some(id) = self.stream[end] else { return };
        if self.read[end] < [self.response, self.request][end] {
            let mut stream = connection.recv_stream(id);
            if let Ok(mut chunks) = stream.read(true) {
                while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                    self.read[end] += chunk.bytes.len() as u64;
                }
                // `finalize` reports whether a frame is due, which the next transmission finds by itself.
                let _ = chunks.finalize();
                if end == SERVER && self.read[end] == self.request {
                    self.unwritten[end] = self.response;
                }
            }
        }
        while self.unwritten[end] > 0 {
            let zeros = [0; 1 << 16];
            let len = self.unwritten[end].min(zeros.len() as u64) as usize;
            match connection.send_stream(id).write(&zeros[..len]) {
                Ok(written) => self.unwritten[end] -= written as u64,
                Err(_) => return,
            }
        }
        let may_finish = end == CLIENT || self.read[end] == self.request;
        if may_finish && !std::mem::replace(&mut self.finished[end], true) {
            connection.send_stream(id).finish().expect("a stream that was not finished");
        }
    }

    fn transmit(&mut self, now: u64, from: usize) -> Option<Datagram> {
        let at = self.at(now);
        let mut bytes = Vec::new();
        let transmit = self.connections[from].as_mut()?.poll_transmit(at, 1, &mut bytes)?;
        bytes.truncate(transmit.size);
        self.drain(from);
        let contents = if self.decodes { self.contents(from, &bytes) } else { Contents::default() };
        let ecn = match transmit.ecn {
            Some(EcnCodepoint::Ect0) => Codepoint::Ect0,
            Some(EcnCodepoint::Ect1) => Codepoint::Ect1,
            Some(EcnCodepoint::Ce) => Codepoint::Ce,
            None => Codepoint::NotEct,
        };
        Some(Datagram { size: bytes.len() as u64, bytes, ecn, contents })
    }

    fn timeout(&mut self, end: usize) -> Option<u64> {
        let timer = self.connections[end].as_mut()?.poll_timeout()?;
        Some(timer.saturating_duration_since(self.base).as_nanos() as u64)
    }

    fn expire(&mut self, now: u64, end: usize) {
        let at = self.at(now);
        let before = self.dropped.load(Ordering::Relaxed);
        if let Some(connection) = &mut self.connections[end] {
            connection.handle_timeout(at);
        }
        if self.dropped.load(Ordering::Relaxed) != before {
            self.discards.push((now, end));
        }
        self.drain(end);
    }

    fn progress(&self, end: usize) -> Progress {
        let Some(connection) = &self.connections[end] else { return Progress::default() };
        Progress { window: connection.congestion_state().window(), lost: connection.stats().path.lost_bytes }
    }

    fn is_done(&self) -> bool {
        self.read[CLIENT] == self.response
    }
}
