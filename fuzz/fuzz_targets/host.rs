//! Sends arbitrary packets, and segments that almost fit a connection, to a stack with a listener and with connections.
//! There is no panic and no flood of answers, every answer is a correct packet, and reading returns the accepted bytes.
//!
//! The input is a program: one byte for the operation, and its operands.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lightlag_core::{Bytes, Codepoint, Duration, Instant};
use lightlag_host::{FastOpen, HostConfig, Keys, Limits, Shutdown, SocketId, SocketOption, Stack};
use lightlag_tcp::config::Config;
use lightlag_tcp::segment::{Cookie, Flags, SackBlock, SeqNumber, SynOptions, Timestamps};
use lightlag_tcp::{Options, Segment};
use lightlag_wire::icmp::{self, Error};
use lightlag_wire::{Addresses, IpFields};
use std::net::SocketAddr;
use std::sync::OnceLock;

/// Maximum number of replies to one event: the maximum window in small segments. More replies are a flood.
const FLOOD: usize = 60_000;

/// Maximum number of bytes of one call.
const MOST: usize = 8192;
const SENT: [u8; MOST] = [7; MOST];
const WRITTEN: [u8; MOST] = [1; MOST];

/// Limits so low that a few packets reach them.
const LIMITS: Limits = Limits {
    connections: 3,
    time_wait: 1,
    memory: Bytes(8192),
    closed_window: Duration::from_secs(10),
    idle: Duration::from_secs(1),
};

struct Program<'a>(&'a [u8]);

impl<'a> Program<'a> {
    fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or(0)
    }

    fn short(&mut self) -> u16 {
        u16::from_be_bytes([self.byte(), self.byte()])
    }

    fn word(&mut self) -> u32 {
        u32::from(self.short()) << 16 | u32::from(self.short())
    }

    /// Reads a distance between sequence numbers: a small one, or an arbitrary one.
    fn distance(&mut self) -> u32 {
        match self.byte() {
            255 => self.word(),
            254 => u32::from(self.short()),
            253 => 0_u32.wrapping_sub(u32::from(self.short())),
            small => u32::from(small),
        }
    }

    /// Reads this many bytes of the input, or the rest of it.
    fn take(&mut self, len: usize) -> &'a [u8] {
        let (head, tail) = self.0.split_at(len.min(self.0.len()));
        self.0 = tail;
        head
    }
}

/// The peer, with the state that is needed to build an almost correct segment.
#[derive(Default)]
struct Peer {
    next: u32,
    acknowledged: u32,
    stamp: u32,
    port: u16,
    /// The last cookie from the host; before that, a cookie request.
    cookie: Cookie,
}

struct World {
    stack: Stack,
    now: Instant,
    listener: SocketId,
    sockets: Vec<SocketId>,
    peer: Peer,
    /// The packet in flight, in either direction.
    packet: Vec<u8>,
    /// The last sent packet with data.
    left: Vec<u8>,
}

/// A configuration that exercises code which the profiles do not reach. It is parsed once, because that takes longer
/// than a run.
fn small() -> &'static Config {
    static SMALL: OnceLock<Config> = OnceLock::new();
    SMALL.get_or_init(|| {
        let text = "congestion = \"bbr\"\necn = \"accecn\"\nreceive_buffer = \"4000 B\"\nmss = \"500 B\"";
        let options: Options = toml::from_str(text).expect("the text is right");
        options.resolve().expect("the options fit each other")
    })
}

fn ours(port: u16) -> SocketAddr {
    ([10, 0, 0, 1], port).into()
}

fn theirs(port: u16) -> SocketAddr {
    ([10, 0, 0, 2], port).into()
}

impl World {
    fn new(program: &mut Program<'_>) -> Self {
        let profile = program.byte();
        let mut tcp = lightlag_tcp::Profile::ALL[usize::from(profile) % 5].config();
        let bits = program.byte();
        if bits & 1 != 0 {
            tcp = small().clone();
        }
        if bits & 2 != 0 {
            tcp.ecn = lightlag_tcp::ecn::Mode::Classic;
        }
        let fast_open = FastOpen {
            server: bits & 8 != 0,
            all_listeners: bits & 16 != 0,
            client_without_cookie: bits & 32 != 0,
            server_without_cookie: bits & 64 != 0,
            rest: Duration::from_secs(u64::from(bits >> 7) * 100),
            ..FastOpen::default()
        };
        let limits = if profile < 128 { Limits::default() } else { LIMITS };
        let host = HostConfig::new(vec![[10, 0, 0, 1].into()]);
        let mut stack = Stack::new(HostConfig { tcp, fast_open, limits, ..host });
        let listener = stack.listen(ours(80), 3).expect("a free port");
        let peer = Peer { port: 1000, stamp: 1, ..Peer::default() };
        let now = Instant::from_nanos(1_000_000_000);
        let mut world = Self { stack, now, listener, sockets: Vec::new(), peer, packet: Vec::new(), left: Vec::new() };
        if bits & 4 != 0 {
            world.shake_hands();
        }
        world
    }

    fn shake_hands(&mut self) {
        let offer = SynOptions { mss: Some(1000), window_scale: Some(2), sack_permitted: true };
        let syn = Segment::new(SeqNumber(self.peer.next), SeqNumber(0), 60_000, Flags::SYN).with_syn_options(offer);
        self.segment(syn.with_timestamps(Timestamps { value: self.peer.stamp, echo: 0 }), Codepoint::NotEct, 80);
        self.peer.next = self.peer.next.wrapping_add(1);
        let ack = Segment::new(SeqNumber(self.peer.next), SeqNumber(self.peer.acknowledged), 60_000, Flags::ACK);
        self.segment(ack.with_timestamps(Timestamps { value: self.peer.stamp, echo: 0 }), Codepoint::NotEct, 80);
    }

    fn segment(&mut self, segment: Segment, ecn: Codepoint, port: u16) {
        let addresses = Addresses { source: theirs(self.peer.port), destination: ours(port) };
        let (fields, payload) = (IpFields { ecn, ..IpFields::default() }, &SENT[..usize::from(segment.len)]);
        lightlag_wire::encode(&mut self.packet, &addresses, &fields, &segment, payload);
        self.stack.packet_in(self.now, &self.packet);
        self.drain();
    }

    fn drain(&mut self) {
        for count in 0.. {
            assert!(count < FLOOD, "a flood of answers");
            if !self.stack.poll_packet(self.now, &mut self.packet) {
                break;
            }
            let sent = lightlag_wire::decode(&self.packet).expect("a right packet");
            if let Some(cookie) = sent.segment.cookie().filter(|cookie| !cookie.is_request()) {
                self.peer.cookie = cookie;
            }
            if sent.segment.len > 0 {
                self.left.clone_from(&self.packet);
            }
            if sent.addresses.destination == theirs(self.peer.port) {
                let next = sent.segment.seq.plus(sent.segment.sequence_len());
                if sent.segment.flags.has(Flags::SYN) || next.0.wrapping_sub(self.peer.acknowledged) as i32 > 0 {
                    self.peer.acknowledged = next.0;
                }
            }
        }
        while let Ok(socket) = self.stack.accept(self.listener) {
            self.sockets.push(socket);
        }
    }

    fn almost_right(&mut self, program: &mut Program<'_>) {
        let flags = Flags(program.short() & 0x1ff & !0x20);
        let seq = SeqNumber(self.peer.next.wrapping_add(program.distance()));
        let ack = SeqNumber(self.peer.acknowledged.wrapping_sub(program.distance()));
        let mut segment = Segment::new(seq, ack, program.short(), flags);
        segment.len = u16::from(program.byte()) * 8;
        let options = program.byte();
        if options & 1 != 0 {
            self.peer.stamp = self.peer.stamp.wrapping_add(program.distance());
            segment = segment.with_timestamps(Timestamps { value: self.peer.stamp, echo: program.distance() });
        }
        if options & 2 != 0 {
            let blocks: Vec<SackBlock> = (0..options >> 6)
                .map(|_| {
                    let start = SeqNumber(self.peer.acknowledged.wrapping_sub(program.distance()));
                    SackBlock { start, end: start.plus(program.distance()) }
                })
                .collect();
            segment = segment.with_sack(&blocks);
        }
        if flags.has(Flags::SYN) {
            let mss = (options & 4 != 0).then(|| program.short());
            let window_scale = (options & 8 != 0).then(|| program.byte());
            segment = segment.with_syn_options(SynOptions { mss, window_scale, sack_permitted: options & 16 != 0 });
            if segment.has_place_for_cookie() {
                match program.byte() {
                    byte @ 0..64 => segment = segment.with_cookie(self.peer.cookie.in_form(byte & 1 != 0)),
                    64..96 => segment = segment.with_cookie(Cookie::REQUEST),
                    byte @ 96..128 => {
                        segment = Cookie::new(&[byte; 8]).map_or(segment, |cookie| segment.with_cookie(cookie));
                    }
                    _ => {}
                }
            }
        }
        let ecn = [Codepoint::NotEct, Codepoint::Ect0, Codepoint::Ect1, Codepoint::Ce][usize::from(program.byte()) % 4];
        if segment.seq.0 == self.peer.next {
            self.peer.next = self.peer.next.wrapping_add(segment.sequence_len());
        }
        let port = if options & 32 != 0 { 81 } else { 80 };
        self.segment(segment, ecn, port);
    }

    /// Delivers an ICMP error from a router about the last packet with data.
    fn complain(&mut self, program: &mut Program<'_>) {
        let mtu = u32::from(program.short());
        let errors = [Error::PacketTooBig { mtu }, Error::HostUnreachable, Error::PortUnreachable, Error::TimeExceeded];
        let error = errors[usize::from(program.byte()) % errors.len()];
        if icmp::encode(&mut self.packet, [10, 0, 0, 254].into(), error, &self.left).is_ok() {
            self.stack.packet_in(self.now, &self.packet);
            self.drain();
        }
    }

    fn call(&mut self, program: &mut Program<'_>) {
        let Some(at) = usize::from(program.byte()).checked_rem(self.sockets.len()) else { return };
        let (stack, socket, now) = (&mut self.stack, self.sockets[at], self.now);
        match program.byte() % 14 {
            0 => {
                let mut data = [0; MOST];
                if let Ok(len) = stack.read(socket, &mut data[..usize::from(program.short()) % MOST]) {
                    assert!(data[..len].iter().all(|byte| *byte == SENT[0]), "only what was sent is read");
                }
            }
            1 => drop(stack.write(now, socket, &WRITTEN[..usize::from(program.short()) % MOST])),
            2 => drop(stack.shutdown(socket, Shutdown::Write)),
            3 => drop(stack.shutdown(socket, Shutdown::Both)),
            4 => drop(stack.close(now, socket)),
            5 => drop(stack.abort(now, socket)),
            6 => drop(stack.set_option(now, socket, &SocketOption::Cork(program.byte() & 1 != 0))),
            7 => drop(stack.set_option(now, socket, &SocketOption::NoDelay(program.byte() & 1 != 0))),
            8 => drop(stack.set_option(now, socket, &SocketOption::QuickAck(program.byte() & 1 != 0))),
            9 => drop(stack.set_option(now, socket, &SocketOption::ReceiveBuffer(Bytes(program.short().into())))),
            10 => drop(stack.set_option(now, socket, &SocketOption::KeepAlive(program.byte() & 1 != 0))),
            11 => drop(stack.set_option(now, socket, &SocketOption::SynCount(program.byte()))),
            12 => {
                let keys = Keys { primary: [program.byte().into(), 0], backup: Some([program.byte().into(), 0]) };
                let _ = stack.set_option(now, self.listener, &SocketOption::FastOpenKeys(keys));
                let _ = stack.set_option(now, self.listener, &SocketOption::FastOpen(program.byte().into()));
            }
            _ => drop((stack.info(now, socket), stack.readiness(socket))),
        }
        self.drain();
    }

    /// Opens a socket: immediately, with data, or with its first write.
    fn open(&mut self, program: &mut Program<'_>) {
        let (stack, now, to) = (&mut self.stack, self.now, theirs(self.peer.port));
        let socket = stack.socket();
        let how = program.byte();
        let put_off = SocketOption::FastOpenConnect(how & 1 != 0);
        let _ = stack.set_option(now, socket, &put_off);
        let _ = stack.set_option(now, socket, &SocketOption::FastOpenNoCookie(how & 2 != 0));
        let data = &WRITTEN[..usize::from(program.short()) % MOST];
        let opened = match how & 4 {
            0 => stack.connect(now, socket, to),
            _ => stack.connect_with(now, socket, Some(to), data, how & 8 != 0).map(|len| assert!(len <= data.len())),
        };
        if opened.is_ok() {
            self.sockets.push(socket);
        }
        self.drain();
    }

    fn wait(&mut self, program: &mut Program<'_>) {
        let end = self.now + Duration::from_micros(1 << (program.byte() % 32));
        for _ in 0..200 {
            let Some(next) = self.stack.poll_timeout().filter(|next| *next <= end) else { break };
            assert!(next >= self.now || next == Instant::ZERO, "time never decreases");
            self.now = self.now.max(next);
            self.stack.handle_timeout(self.now);
            self.drain();
            let again = self.stack.poll_timeout();
            assert!(again.is_none_or(|again| again > self.now), "a timer that never ends");
        }
        self.now = self.now.max(end);
        self.stack.handle_timeout(self.now);
        self.stack.enforce_limits(self.now);
        self.drain();
    }
}

fuzz_target!(|input: &[u8]| {
    let mut program = Program(input);
    let mut world = World::new(&mut program);
    while !program.0.is_empty() {
        match program.byte() % 8 {
            0 => {
                let len = usize::from(program.byte());
                if len > 250 {
                    world.complain(&mut program);
                    continue;
                }
                let packet = program.take(len);
                world.stack.packet_in(world.now, packet);
                world.drain();
            }
            1..4 => world.almost_right(&mut program),
            4 => world.wait(&mut program),
            5 => {
                world.peer.port = 1000 + u16::from(program.byte() % 4);
                world.shake_hands();
            }
            6 if world.sockets.len() < 8 => world.open(&mut program),
            _ => world.call(&mut program),
        }
    }
});
