//! Writes a capture of a QUIC connection over a path that loses packets, and its contents as JSON, which
//! `tests/test_quic_capture.py` compares with what tshark reads:
//! `cargo run -p lightlag-wire --example quic_exchange -- CASE FILE`. Further names are of files for logs in qlog 0.3
//! and in the current schema.
//!
//! The capture is taken at the client, or at the server for cases that end in `@server`.

use lightlag_core::{Codepoint, Duration, Instant};
use lightlag_quic::config::{HandshakeSizes, ServerRules};
use lightlag_quic::contents::{Contents, HeaderLengths, Part, PartView, TAG};
use lightlag_quic::frame::{self, Frame};
use lightlag_quic::{Arena, Config, Connection, Kind, Packet, Parameters, Profile};
use lightlag_transport::{Inspect, Stream};
use lightlag_wire::capture::{Direction, InterfaceId, Writer};
use lightlag_wire::quic::qlog::{Event, Log, Metrics, Owner, Schema, Titles};
use lightlag_wire::quic::{Datagram, SERVER_PORT, SessionSpec, Sessions, Side, Version, WrittenSecrets};
use lightlag_wire::{Addresses, IpFields};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

const SIDES: [Side; 2] = [Side::Client, Side::Server];
const DELAY: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(20);

/// A connection and the path that it takes.
struct Case {
    client: Config,
    server: Config,
    version: Version,
    /// Bytes that the client and the server send.
    data: [u64; 2],
    /// One in this many 1-RTT packets is lost.
    loses: u64,
    /// Numbers of the client's and the server's datagrams that are lost as well.
    lost: [&'static [u64]; 2],
    /// Whether a packet with every other kind of frame follows the exchange, a key update, and a stateless reset.
    shows_all: bool,
    application: &'static str,
}

impl Case {
    fn named(name: &str) -> Option<Self> {
        let handshake = HandshakeSizes::with_certificate(2_000);
        let usual = Config { handshake, ..Profile::Rfc9002.config() };
        let base = Self {
            client: usual.clone(),
            server: usual,
            version: Version::One,
            data: [2_000, 200_000],
            loses: 7,
            lost: [&[]; 2],
            shows_all: false,
            application: "lightlag",
        };
        Some(match name {
            "version1" => base,
            "http3" => Self { application: "h3", ..base },
            "all-frames" => Self { shows_all: true, ..base },
            "all-frames2" => Self { shows_all: true, version: Version::Two, ..base },
            "lost-hello" => Self { lost: [&[1], &[]], ..base },
            "lost-answer" => Self { lost: [&[], &[1]], ..base },
            "lost-flight" => Self { lost: [&[2, 3], &[2, 3]], ..base },
            "version2" => Self { version: Version::Two, ..base },
            "retry" => base.with_server(|server| server.server = ServerRules { retry: true, ..server.server }),
            "retry2" => Self { version: Version::Two, ..Self::named("retry")? },
            "retry-short-ids" => Self::named("retry")?.with_server(|server| server.id_len = 4),
            "early" => {
                let ticket = base.server.remembered();
                base.with_client(|client| client.ticket = Some(ticket))
            }
            "short-ids" => base.with_client(|client| client.id_len = 0).with_server(|server| server.id_len = 4),
            "long-ids" => base.with_client(|client| client.id_len = 20).with_server(|server| server.id_len = 20),
            "large-hello" => {
                // A ClientHello and a ServerHello with keys of X25519MLKEM768.
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
    let [cases, path, logs @ ..] = &arguments[..] else {
        return Err(io::Error::other("usage: quic_exchange CASE[+CASE...][@server] FILE [LOG...]"));
    };
    let (cases, place) = cases.split_once('@').unwrap_or((cases, "client"));
    let mut output = Output::new(usize::from(place == "server"), path)?;
    for (connection, name) in (1..).zip(cases.split('+')) {
        let case = Case::named(name).ok_or_else(|| io::Error::other(format!("no case is named {name}")))?;
        output = Exchange::new(connection, case, output).run(logs)?;
    }
    output.writer.finish().map(drop)
}

/// A capture at one endpoint.
struct Output {
    place: usize,
    sessions: Sessions,
    secrets: WrittenSecrets,
    writer: Writer<BufWriter<File>>,
    interface: InterfaceId,
    /// Frames in the capture so far.
    index: u64,
    /// Start of the next exchange.
    now: Instant,
}

impl Output {
    fn new(place: usize, path: &str) -> io::Result<Self> {
        let mut writer = Writer::new(BufWriter::new(File::create(path)?), "lightlag")?;
        let interface = writer.interface(["client", "server"][place])?;
        let (sessions, secrets) = (Sessions::default(), WrittenSecrets::default());
        Ok(Self { place, sessions, secrets, writer, interface, index: 0, now: Instant::ZERO })
    }
}

/// Two endpoints, and the packets between them.
struct Exchange {
    connection: u64,
    ends: [Connection; 2],
    arena: Arena,
    now: Instant,
    queue: BTreeMap<(Instant, u64), (usize, Packet, Codepoint)>,
    sent: [u64; 2],
    case: Case,
    output: Output,
    /// Number of times that the client has moved to another port and another ID of the server.
    moves: u16,
    /// Logs of the endpoint with the capture, in both schemas.
    logs: [(Log, String); 2],
}

impl Exchange {
    fn new(connection: u64, case: Case, mut output: Output) -> Self {
        let spec = SessionSpec::new(connection, case.version, &case.client, &case.server);
        let spec = SessionSpec { application: case.application, ..spec };
        output.sessions.insert(spec.clone());
        let (of_client, of_server) = (Parameters::of(&case.client), Parameters::of(&case.server));
        let mut ends = [
            Connection::client(Arc::new(case.client.clone()), of_server, 0),
            Connection::server(Arc::new(case.server.clone()), of_client, 0),
        ];
        for (end, bytes) in ends.iter_mut().zip(case.data) {
            end.write(bytes);
            end.close();
        }
        let side = SIDES[output.place];
        let (local, remote) = if side == Side::Client { (&of_client, &of_server) } else { (&of_server, &of_client) };
        let titles = Titles { title: "an exchange", description: "lightlag", name: "endpoint" };
        let logs = [Schema::V03, Schema::Current].map(|schema| {
            let (log, mut text) = (Log::new(schema, side, spec.clone()), String::new());
            log.header(&mut text, &titles);
            for (owner, parameters) in [(Owner::Local, local), (Owner::Remote, remote)] {
                log.record(&mut text, output.now, &Event::Parameters { owner, parameters });
            }
            (log, text)
        });
        let (arena, queue, now) = (Arena::new(), BTreeMap::new(), output.now);
        Self { connection, ends, arena, now, queue, sent: [0; 2], case, output, moves: 0, logs }
    }

    fn log(&mut self, event: &Event<'_>) {
        for (log, text) in &mut self.logs {
            log.record(text, self.now, event);
        }
    }

    /// Logs the state of the endpoint with the capture.
    fn log_metrics(&mut self) {
        let state = self.ends[self.output.place].snapshot();
        let known = |rtt: Duration| Some(rtt).filter(|rtt| !rtt.is_zero());
        let metrics = Metrics {
            min_rtt: self.ends[self.output.place].min_rtt(),
            smoothed_rtt: known(state.srtt),
            latest_rtt: known(state.rtt),
            congestion_window: Some(state.cwnd),
            bytes_in_flight: Some(state.inflight),
            ssthresh: Some(state.ssthresh).filter(|bytes| *bytes < u64::MAX),
            ..Metrics::default()
        };
        self.log(&Event::Metrics(metrics));
    }

    /// Runs until both endpoints have closed the connection, and writes the logs, of qlog 0.3 first, to files.
    fn run(mut self, logs: &[String]) -> io::Result<Output> {
        let end = self.now + LONGEST;
        self.ends[0].open(self.now);
        // The profiles accept datagrams of any size; only one case has a limit, and sends one.
        if self.case.client.max_datagram_frame < u16::MAX {
            self.ends[0].send_datagram(0, 500).expect("a datagram that fits");
        }
        self.flush(0)?;
        loop {
            let arrival = self.queue.keys().next().map(|(time, _)| *time);
            let timers = self.ends.iter().map(Connection::poll_timeout);
            let Some(next) = timers.chain([arrival]).flatten().min().filter(|time| *time <= end) else { break };
            self.now = self.now.max(next);
            if arrival.is_some_and(|arrival| arrival <= self.now) {
                let (_, (to, packet, ecn)) = self.queue.pop_first().expect("an arrival");
                if to == self.output.place {
                    self.capture(1 - to, Direction::Inbound, &packet)?;
                }
                self.ends[to].handle_packet(self.now, &packet, ecn, &mut self.arena);
                self.log_metrics();
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
        if self.case.shows_all {
            self.show_all()?;
        }
        for ((_, text), path) in self.logs.iter().zip(logs) {
            std::fs::write(path, text)?;
        }
        self.output.now = self.now;
        Ok(self.output)
    }

    /// Writes packets that the exchange lacks.
    fn show_all(&mut self) -> io::Result<()> {
        let numbers = 100_000..;
        for (number, frame) in numbers.zip(every_frame()) {
            let is_server = matches!(frame, Frame::NewToken(_) | Frame::NewConnectionId { .. });
            let part = Part { kind: Kind::OneRtt, number, number_len: 4, ..Part::default() };
            self.write(usize::from(is_server), Direction::Unknown, Codepoint::NotEct, &single(part, vec![frame]))?;
        }
        for from in [0, 1, 0] {
            let number = 200_000 + self.output.index;
            let part =
                Part { kind: Kind::OneRtt, number, number_len: 4, key_phase: true, spin: true, ..Part::default() };
            self.write(from, Direction::Unknown, Codepoint::NotEct, &single(part, vec![Frame::Ping]))?;
        }
        // The server has issued a second ID.
        self.moves = 1;
        for from in [0, 1] {
            let number = 400_000 + self.output.index;
            let part = Part { kind: Kind::OneRtt, number, number_len: 4, key_phase: true, ..Part::default() };
            let frames = vec![Frame::PathChallenge(7)];
            self.write(from, Direction::Unknown, Codepoint::NotEct, &single(part, frames))?;
        }
        self.moves = 0;
        let reset = Part { kind: Kind::StatelessReset, size: 43, ..Part::default() };
        let reset = Contents { parts: vec![reset], ..Contents::default() };
        self.write(1, Direction::Unknown, Codepoint::NotEct, &reset)
    }

    /// Sends everything that an end can send now.
    fn flush(&mut self, from: usize) -> io::Result<()> {
        while let Some(packet) = self.ends[from].poll_packet(self.now, &mut self.arena) {
            if from == self.output.place {
                self.capture(from, Direction::Outbound, &packet)?;
            }
            self.sent[from] += 1;
            let Part { kind, number, .. } = self.arena.copy(&packet).parts[0];
            let is_chosen = kind == Kind::OneRtt && number % self.case.loses == self.case.loses - 1;
            if is_chosen || self.case.lost[from].contains(&self.sent[from]) {
                self.arena.release(&packet);
                continue;
            }
            let serial = self.sent.iter().sum();
            self.queue.insert((self.now + DELAY, serial), (1 - from, packet, packet.codepoint()));
        }
        Ok(())
    }

    fn capture(&mut self, from: usize, direction: Direction, packet: &Packet) -> io::Result<()> {
        let contents = self.arena.copy(packet);
        self.log(&match direction {
            Direction::Inbound => Event::Received { contents: &contents },
            _ => Event::Sent { contents: &contents, trigger: None },
        });
        self.write(from, direction, packet.codepoint(), &contents)
    }

    fn write(&mut self, from: usize, direction: Direction, ecn: Codepoint, contents: &Contents) -> io::Result<()> {
        let [client, server] =
            [([10, 0, 0, 1], 49_151 + self.connection as u16 + 1_000 * self.moves), ([10, 0, 0, 2], SERVER_PORT)]
                .map(|(address, port)| SocketAddr::new(Ipv4Addr::from(address).into(), port));
        let forward = Addresses { source: client, destination: server };
        let addresses = if from == 0 { forward } else { forward.reversed() };
        let mut bytes = Vec::new();
        let ip = IpFields { ecn, ..IpFields::default() };
        let sequence = if from == 0 { self.moves.into() } else { 0 };
        let datagram = Datagram { connection: self.connection, sender: SIDES[from], sequence, addresses, ip: &ip };
        let Output { sessions, secrets, writer, interface, index, .. } = &mut self.output;
        sessions.encode(&mut bytes, &datagram, contents);
        secrets.write(writer, sessions, self.connection)?;
        writer.packet(*interface, self.now, direction, &bytes, "")?;
        *index += 1;
        let parts: Vec<serde_json::Value> = contents.iter().map(|view| described(&view)).collect();
        let (sender, size) = (["client", "server"][from], contents.size());
        println!("{}", serde_json::json!({"frame": self.output.index, "from": sender, "size": size, "parts": parts}));
        Ok(())
    }
}

/// Returns a frame of every type that may be in a 1-RTT packet.
fn every_frame() -> Vec<Frame> {
    use frame::Direction::{Bidirectional, Unidirectional};
    vec![
        Frame::Ping,
        Frame::ResetStream { stream: 4, code: 7, final_size: 5_000 },
        Frame::StopSending { stream: 4, code: 7 },
        Frame::Crypto { offset: 0, len: 210 },
        Frame::NewToken(64),
        Frame::Stream { stream: 8, offset: 70_000, len: 200, fin: true, to_end: false },
        Frame::MaxData(1 << 30),
        Frame::MaxStreamData { stream: 4, limit: 1 << 20 },
        Frame::MaxStreams(Bidirectional, 100),
        Frame::MaxStreams(Unidirectional, 100),
        Frame::DataBlocked(90_000),
        Frame::StreamDataBlocked { stream: 4, limit: 90_000 },
        Frame::StreamsBlocked(Bidirectional, 9),
        Frame::StreamsBlocked(Unidirectional, 9),
        Frame::NewConnectionId { sequence: 1, retire_prior: 0, len: 8 },
        Frame::RetireConnectionId(0),
        Frame::PathChallenge(0x1234_5678),
        Frame::PathResponse(0x1234_5678),
        Frame::Datagram { tag: 0, len: 100, to_end: true },
        Frame::Datagram { tag: 0, len: 100, to_end: false },
        Frame::AckFrequency { sequence: 0, threshold: 10, max_delay_us: 25_000, reordering: 1 },
        Frame::Close { code: 10, frame_type: 8, reason: 5 },
        Frame::ApplicationClose { code: 7, reason: 5 },
    ]
}

/// Returns contents with one packet, padded for header protection, of the size that it takes with IDs of 8 bytes.
fn single(mut part: Part, mut frames: Vec<Frame>) -> Contents {
    if !matches!(frames[..], [Frame::Datagram { to_end: true, .. }]) {
        frames.push(Frame::Padding(3));
    }
    part.frames = frames.len() as u16;
    let payload: u64 = frames.iter().map(Frame::size).sum();
    let lengths = HeaderLengths { destination: 8, source: 8, token: part.token };
    part.size = (lengths.header(part.kind, part.number_len) + payload + TAG) as u16;
    Contents { parts: vec![part], frames, ..Contents::default() }
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
