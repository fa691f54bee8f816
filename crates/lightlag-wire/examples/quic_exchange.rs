//! Writes a capture of a QUIC connection over a path that loses packets, and its contents as JSON, which
//! `tests/test_quic_capture.py` compares with what tshark reads:
//! `cargo run -p lightlag-wire --example quic_exchange -- CASE FILE`.
//!
//! The capture is taken at the client, or at the server for cases that end in `@server`.

use lightlag_core::{Codepoint, Duration, Instant};
use lightlag_quic::config::{HandshakeSizes, ServerRules};
use lightlag_quic::contents::PartView;
use lightlag_quic::frame::Frame;
use lightlag_quic::{Arena, Config, Connection, Kind, Packet, Parameters, Profile};
use lightlag_transport::Stream;
use lightlag_wire::capture::{Direction, InterfaceId, Writer};
use lightlag_wire::quic::{Session, SessionSpec, Side, Version};
use lightlag_wire::{Addresses, IpFields, encode_udp};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

const SIDES: [Side; 2] = [Side::Client, Side::Server];
const DELAY: Duration = Duration::from_millis(50);
const END: Instant = Instant::from_nanos(20_000_000_000);

/// A connection and the path that it takes.
struct Case {
    client: Config,
    server: Config,
    version: Version,
    /// Bytes that the client and the server send.
    data: [u64; 2],
    /// One in this many 1-RTT packets is lost.
    loses: u64,
}

impl Case {
    fn named(name: &str) -> Option<Self> {
        let handshake = HandshakeSizes::with_certificate(2_000);
        let usual = Config { handshake, ..Profile::Rfc9002.config() };
        let base =
            Self { client: usual.clone(), server: usual, version: Version::One, data: [2_000, 200_000], loses: 7 };
        Some(match name {
            "version1" => base,
            "version2" => Self { version: Version::Two, ..base },
            "retry" => base.with_server(|server| server.server = ServerRules { retry: true, ..server.server }),
            "retry2" => Self { version: Version::Two, ..Self::named("retry")? },
            "early" => {
                let ticket = base.server.remembered();
                base.with_client(|client| client.ticket = Some(ticket))
            }
            "short-ids" => base.with_client(|client| client.id_len = 0).with_server(|server| server.id_len = 4),
            "long-ids" => base.with_client(|client| client.id_len = 20).with_server(|server| server.id_len = 20),
            "large-hello" => {
                // A ClientHello and a ServerHello with a share of X25519MLKEM768.
                let change = |config: &mut Config| {
                    (config.handshake.client_hello, config.handshake.server_hello) = (1_700, 1_178);
                };
                base.with_client(change).with_server(change)
            }
            "datagrams" => base
                .with_client(|client| client.max_datagram_frame = 1_200)
                .with_server(|server| server.max_datagram_frame = 1_200),
            "ecn" => base
                .with_client(|client| client.ecn = Codepoint::Ect0)
                .with_server(|server| server.ecn = Codepoint::Ect0),
            "quinn" | "picoquic" | "quiche" | "msquic" | "aioquic" => {
                let config = Config { handshake, ..Profile::named(name)?.config() };
                Self { client: config.clone(), server: config, ..base }
            }
            _ => return None,
        })
    }

    fn with_client(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.client);
        self
    }

    fn with_server(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.server);
        self
    }
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [case, path] = &arguments[..] else { return Err(io::Error::other("usage: quic_exchange CASE FILE")) };
    let (name, place) = case.split_once('@').unwrap_or((case, "client"));
    let case = Case::named(name).ok_or_else(|| io::Error::other(format!("no case is named {name}")))?;
    let place = usize::from(place == "server");
    Exchange::new(case, place, path)?.run()
}

/// Two endpoints, the packets between them, and a capture at one of them.
struct Exchange {
    ends: [Connection; 2],
    arena: Arena,
    now: Instant,
    queue: BTreeMap<(Instant, u64), (usize, Packet, Codepoint)>,
    sent: u64,
    loses: u64,
    place: usize,
    session: Session,
    writer: Writer<BufWriter<File>>,
    interface: InterfaceId,
    /// Datagrams in the capture so far.
    index: u64,
    /// Whether the client sends a DATAGRAM frame (RFC 9221).
    sends_datagram: bool,
}

impl Exchange {
    fn new(case: Case, place: usize, path: &str) -> io::Result<Self> {
        let session = Session::new(SessionSpec::new(1, case.version, &case.client, &case.server));
        let sends_datagram = case.client.max_datagram_frame > 0;
        let (of_client, of_server) = (Parameters::of(&case.client), Parameters::of(&case.server));
        let mut ends = [
            Connection::client(Arc::new(case.client), of_server),
            Connection::server(Arc::new(case.server), of_client),
        ];
        for (end, bytes) in ends.iter_mut().zip(case.data) {
            end.write(bytes);
            end.close();
        }
        let mut writer = Writer::new(BufWriter::new(File::create(path)?), "lightlag")?;
        let interface = writer.interface(["client", "server"][place])?;
        writer.secrets(&session.key_log())?;
        let (arena, queue) = (Arena::new(), BTreeMap::new());
        let (now, sent, index, loses) = (Instant::ZERO, 0, 0, case.loses);
        Ok(Self { ends, arena, now, queue, sent, loses, place, session, writer, interface, index, sends_datagram })
    }

    fn run(mut self) -> io::Result<()> {
        self.ends[0].open(self.now);
        if self.sends_datagram {
            self.ends[0].send_datagram(500);
        }
        self.flush(0)?;
        loop {
            let arrival = self.queue.keys().next().map(|(time, _)| *time);
            let timers = self.ends.iter().map(Connection::poll_timeout);
            let Some(next) = timers.chain([arrival]).flatten().min().filter(|time| *time <= END) else { break };
            self.now = self.now.max(next);
            if arrival.is_some_and(|arrival| arrival <= self.now) {
                let (_, (to, packet, ecn)) = self.queue.pop_first().expect("an arrival");
                if to == self.place {
                    self.capture(1 - to, Direction::Inbound, &packet)?;
                }
                self.ends[to].handle_packet(self.now, &packet, ecn, &mut self.arena);
                self.flush(to)?;
                continue;
            }
            for end in 0..2 {
                if self.ends[end].poll_timeout().is_some_and(|timer| timer <= self.now) {
                    self.ends[end].handle_timeout(self.now);
                    self.flush(end)?;
                }
            }
            let is_done = self.ends.iter().all(Stream::all_acknowledged);
            if is_done && self.queue.is_empty() {
                self.ends[0].close_with(self.now, 0);
                self.flush(0)?;
            }
        }
        self.writer.finish().map(drop)
    }

    /// Sends everything that an end can send now.
    fn flush(&mut self, from: usize) -> io::Result<()> {
        while let Some(packet) = self.ends[from].poll_packet(self.now, &mut self.arena) {
            if from == self.place {
                self.capture(from, Direction::Outbound, &packet)?;
            }
            self.sent += 1;
            let part = self.arena.copy(&packet).parts[0];
            if part.kind == Kind::OneRtt && part.number % self.loses == self.loses - 1 {
                self.arena.release(&packet);
                continue;
            }
            self.queue.insert((self.now + DELAY, self.sent), (1 - from, packet, packet.codepoint()));
        }
        Ok(())
    }

    fn capture(&mut self, from: usize, direction: Direction, packet: &Packet) -> io::Result<()> {
        let contents = self.arena.copy(packet);
        let mut payload = Vec::new();
        self.session.encode(&mut payload, SIDES[from], &contents);
        let [client, server] = [([10, 0, 0, 1], 49_152), ([10, 0, 0, 2], 443)]
            .map(|(address, port)| SocketAddr::new(Ipv4Addr::from(address).into(), port));
        let forward = Addresses { source: client, destination: server };
        let addresses = if from == 0 { forward } else { forward.reversed() };
        let mut bytes = Vec::new();
        encode_udp(&mut bytes, &addresses, &IpFields { ecn: packet.codepoint(), ..IpFields::default() }, &payload);
        self.writer.packet(self.interface, self.now, direction, &bytes, "")?;
        self.index += 1;
        let parts: Vec<serde_json::Value> = contents.iter().map(|view| described(&view)).collect();
        let ends = if from == 0 { "client" } else { "server" };
        let size = contents.size();
        println!("{}", serde_json::json!({"frame": self.index, "from": ends, "size": size, "parts": parts}));
        Ok(())
    }
}

/// Returns what a reader of the capture has to find in a packet.
fn described(view: &PartView<'_>) -> serde_json::Value {
    let ack = view.part.ack.map(|ack| if ack.ecn.is_some() { 3 } else { 2 });
    let types: Vec<u64> = ack.into_iter().chain(view.frames.iter().map(Frame::type_code)).collect();
    let mut streams = Vec::new();
    let mut crypto = Vec::new();
    let mut max_data = Vec::new();
    for frame in view.frames {
        match *frame {
            Frame::Stream { offset, len, .. } => streams.push([offset, len.into()]),
            Frame::Crypto { offset, len } => crypto.push([offset, len.into()]),
            Frame::MaxData(limit) => max_data.push(limit),
            _ => {}
        }
    }
    serde_json::json!({
        "kind": format!("{:?}", view.part.kind),
        "number": view.part.number,
        "types": types,
        "largest": view.ranges.first().map(|range| range.end - 1),
        "ranges": view.ranges.iter().map(|range| [range.start, range.end - 1]).collect::<Vec<_>>(),
        "delay": view.part.ack.map(|ack| ack.delay),
        "streams": streams,
        "crypto": crypto,
        "max_data": max_data,
        "spin": view.part.spin,
    })
}
