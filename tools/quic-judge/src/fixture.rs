//! Stored logs of aioquic, as compressed text: a line per datagram, with differences from earlier lines.
//!
//! ```text
//! # ACK losses;7;242;90;2266;52;0       class, seed, sizes of the handshake messages
//! s1965 w2340 l1200 O S+1171            server, 1,965 µs later, window + 2,340 B, 1,200 B lost, the next 1,171 B
//! C1000 b38 O9 a2@0,3-7                 client, lost, 38 B, packet 9, ACK up to 2 more, down to 0, and 3 to 7
//! ```
//!
//! A number is written if it is not the next one, a size if it is not 1,200 B, an offset if it is not the end of the
//! stream so far. Padding and delays of acknowledgements are left out.

use crate::network::{Logged, Progress};
use crate::pattern::{Pattern, generate};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use lightlag_core::Codepoint;
use lightlag_quic::Kind;
use lightlag_quic::config::HandshakeSizes;
use lightlag_quic::contents::{Contents, Part};
use lightlag_quic::frame::{AckHeader, Frame};
use lightlag_quic::ranges::Range;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};

/// Size of a datagram that is not written.
const USUAL_SIZE: u64 = 1_200;
/// Letters of the packet types.
const KINDS: [(char, Kind); 3] = [('I', Kind::Initial), ('H', Kind::Handshake), ('O', Kind::OneRtt)];

/// A pattern, the sizes of its handshake messages, and the log.
pub struct Record {
    /// The pattern.
    pub pattern: Pattern,
    /// Sizes of the handshake messages.
    pub sizes: HandshakeSizes,
    /// Datagrams of both ends.
    pub log: Vec<Logged>,
}

/// The values that lines refer to, for both ends.
#[derive(Default)]
struct State {
    micros: u64,
    number: [u64; 2],
    window: [u64; 2],
    lost: [u64; 2],
    largest: [u64; 2],
    offset: [u64; 2],
}

/// Compresses records.
pub fn pack(records: &[Record]) -> Vec<u8> {
    let mut text = String::new();
    for Record { pattern, sizes, log } in records {
        let HandshakeSizes { client_hello, server_hello, server_flight, client_finished, ticket, .. } = sizes;
        let (class, seed) = (&pattern.class, pattern.seed);
        let sizes = format!("{client_hello};{server_hello};{server_flight};{client_finished};{ticket}");
        _ = writeln!(text, "# {class};{seed};{sizes}");
        let mut state = State::default();
        log.iter().for_each(|logged| state.write(logged, &mut text));
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

/// Reads records.
///
/// # Panics
/// If the file is damaged: it is an error of this program.
pub fn unpack(bytes: &[u8]) -> Vec<Record> {
    let mut text = String::new();
    GzDecoder::new(bytes).read_to_string(&mut text).expect("compressed text");
    let mut records: Vec<Record> = Vec::new();
    let mut state = State::default();
    for line in text.lines() {
        match line.strip_prefix("# ") {
            Some(head) => {
                records.push(record(head));
                state = State::default();
            }
            None => {
                let log = &mut records.last_mut().expect("a pattern before its datagrams").log;
                log.push(state.read(line).unwrap_or_else(|| panic!("the line {line} is damaged")));
            }
        }
    }
    records
}

fn record(head: &str) -> Record {
    let fields: Vec<&str> = head.split(';').collect();
    let number = |index: usize| fields[index].parse::<u64>().expect("a number");
    let pattern = generate(fields[0], number(1));
    let sizes = HandshakeSizes {
        client_hello: number(2) as u16,
        server_hello: number(3) as u16,
        server_flight: number(4) as u16,
        client_finished: number(5) as u16,
        ticket: number(6) as u16,
        ..pattern.sizes()
    };
    Record { pattern, sizes, log: Vec::new() }
}

impl State {
    fn write(&mut self, logged: &Logged, text: &mut String) {
        let from = logged.from;
        let letter = [['c', 'C'], ['s', 'S']][from][usize::from(logged.dropped)];
        let micros = logged.time / 1_000;
        _ = write!(text, "{letter}{}", micros - self.micros);
        self.micros = micros;
        if logged.size != USUAL_SIZE {
            _ = write!(text, " b{}", logged.size);
        }
        let window = logged.progress.window;
        if window != self.window[from] {
            _ = write!(text, " w{}", window as i64 - self.window[from] as i64);
            self.window[from] = window;
        }
        let lost = logged.progress.lost;
        if lost != self.lost[from] {
            _ = write!(text, " l{}", lost - self.lost[from]);
            self.lost[from] = lost;
        }
        for view in logged.contents.iter() {
            let (letter, _) = KINDS.iter().find(|(_, kind)| *kind == view.part.kind).expect("a packet with frames");
            _ = write!(text, " {letter}");
            if view.part.number != self.number[from] {
                _ = write!(text, "{}", view.part.number);
            }
            self.number[from] = view.part.number + 1;
            if let Some((top, rest)) = view.ranges.split_first() {
                _ = write!(text, " a{}@{}", top.end as i64 - self.largest[from] as i64, top.start);
                self.largest[from] = top.end;
                rest.iter().for_each(|range| _ = write!(text, ",{}-{}", range.start, range.end));
            }
            for frame in view.frames {
                self.write_frame(from, frame, text);
            }
        }
        text.push('\n');
    }

    fn write_frame(&mut self, from: usize, frame: &Frame, text: &mut String) {
        _ = match *frame {
            Frame::Stream { stream: 0, offset, len, fin, .. } => {
                let end = offset + u64::from(len);
                let fin = if fin { "F" } else { "" };
                let is_next = offset == self.offset[from];
                self.offset[from] = self.offset[from].max(end);
                if is_next { write!(text, " S+{len}{fin}") } else { write!(text, " S{offset}+{len}{fin}") }
            }
            Frame::Crypto { offset, len } => write!(text, " C{offset}+{len}"),
            Frame::MaxData(limit) => write!(text, " M{limit}"),
            Frame::MaxStreamData { stream: 0, limit } => write!(text, " m{limit}"),
            Frame::Ping => write!(text, " P"),
            Frame::HandshakeDone => write!(text, " D"),
            Frame::Padding(_) => return,
            frame => panic!("{frame:?} has no letter"),
        };
    }

    fn read(&mut self, line: &str) -> Option<Logged> {
        let mut tokens = line.split(' ');
        let first = tokens.next()?;
        let from = usize::from(first.starts_with(['s', 'S']));
        let dropped = first.starts_with(['C', 'S']);
        self.micros += first.get(1..)?.parse::<u64>().ok()?;
        let (mut size, mut contents) = (USUAL_SIZE, Contents::default());
        for token in tokens {
            let letter = token.chars().next()?;
            let rest = &token[1..];
            let frames = contents.frames.len();
            match letter {
                'b' => size = rest.parse().ok()?,
                'w' => self.window[from] = self.window[from].checked_add_signed(rest.parse().ok()?)?,
                'l' => self.lost[from] += rest.parse::<u64>().ok()?,
                'a' => self.read_ack(from, rest, &mut contents)?,
                'S' => {
                    let (offset, data) = rest.split_once('+')?;
                    let (len, fin) = (data.trim_end_matches('F').parse().ok()?, data.ends_with('F'));
                    let offset = if offset.is_empty() { self.offset[from] } else { offset.parse().ok()? };
                    self.offset[from] = self.offset[from].max(offset + u64::from(len));
                    contents.frames.push(Frame::Stream { stream: 0, offset, len, fin, to_end: false });
                }
                'C' => {
                    let (offset, len) = rest.split_once('+')?;
                    contents.frames.push(Frame::Crypto { offset: offset.parse().ok()?, len: len.parse().ok()? });
                }
                'M' => contents.frames.push(Frame::MaxData(rest.parse().ok()?)),
                'm' => contents.frames.push(Frame::MaxStreamData { stream: 0, limit: rest.parse().ok()? }),
                'P' => contents.frames.push(Frame::Ping),
                'D' => contents.frames.push(Frame::HandshakeDone),
                letter => {
                    let (_, kind) = *KINDS.iter().find(|(kind, _)| *kind == letter)?;
                    let number = if rest.is_empty() { self.number[from] } else { rest.parse().ok()? };
                    self.number[from] = number + 1;
                    contents.parts.push(Part { kind, number, ..Part::default() });
                }
            }
            if contents.frames.len() > frames {
                contents.parts.last_mut()?.frames += 1;
            }
        }
        let progress = Progress { window: self.window[from], lost: self.lost[from] };
        let ecn = Codepoint::NotEct;
        Some(Logged { time: self.micros * 1_000, from, size, ecn, contents, progress, dropped })
    }

    fn read_ack(&mut self, from: usize, rest: &str, contents: &mut Contents) -> Option<()> {
        let mut ranges = rest.split(',');
        let (step, start) = ranges.next()?.split_once('@')?;
        self.largest[from] = self.largest[from].checked_add_signed(step.parse().ok()?)?;
        contents.ranges.push(Range { start: start.parse().ok()?, end: self.largest[from] });
        for range in ranges {
            let (start, end) = range.split_once('-')?;
            contents.ranges.push(Range { start: start.parse().ok()?, end: end.parse().ok()? });
        }
        let part = contents.parts.last_mut()?;
        part.ack = Some(AckHeader { delay: 0, ecn: None });
        part.ranges = rest.split(',').count() as u16;
        Some(())
    }
}
