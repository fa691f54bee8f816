//! Runs a script, with one connection, virtual time, and a peer that follows the script.
//!
//! Every script is run with several [`Origin`]s. In some of them sequence numbers and timestamps wrap, which must
//! change nothing (RFC 9293 §3.4, RFC 7323 §5.4).

use super::fact::summary;
use super::segment::{Number, Pattern, Stamps};
use super::text::{Action, Handshake, Line, Problem, Script};
use lightlag_core::{Codepoint, Instant};
use lightlag_tcp::fast_open::CookieCache;
use lightlag_tcp::segment::{Cookie, Flags, SackBlock, SeqNumber, SynOptions, Timestamps};
use lightlag_tcp::{Connection, Segment};
use std::collections::VecDeque;
use std::sync::Arc;

/// Initial sequence numbers and clocks of a run.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// Our initial sequence number.
    pub local: u32,
    /// The peer's initial sequence number.
    pub remote: u32,
    /// Our clock at time 0 of the script.
    pub epoch: Instant,
    /// The peer's timestamp clock at time 0 of the script.
    pub peer_clock: u32,
}

/// Small numbers; numbers that wrap past 2³² soon after the start; and numbers that pass 2³¹ soon after the start. Our
/// clock starts at a multiple of 256 ms, so that coarse timers fire at the same script times.
pub const ORIGINS: [Origin; 3] = [
    Origin { local: 1_000, remote: 5_000, epoch: Instant::from_nanos(9_999_872_000_000), peer_clock: 700_000 },
    Origin {
        local: u32::MAX - 2_499,
        remote: u32::MAX - 1_499,
        // 2³² ms, less 256 ms.
        epoch: Instant::from_nanos((4_294_967_296 - 256) * 1_000_000),
        peer_clock: u32::MAX - 150,
    },
    Origin {
        local: (1 << 31) - 1_500,
        remote: (1 << 31) - 2_500,
        epoch: Instant::from_nanos((2_147_483_648 - 256) * 1_000_000),
        peer_clock: (1 << 31) - 100,
    },
];

/// Runs a script with all origins.
pub fn play(script: &Script) -> Result<(), Problem> {
    ORIGINS.iter().try_for_each(|origin| {
        let mut player = Player::new(script, *origin)?;
        for line in &script.lines {
            player.step(line).map_err(|message| player.explain(line, message))?;
        }
        let last = script.lines.last().expect("a script has a step");
        player.nothing_left().map_err(|message| player.explain(last, message))
    })
}

/// State of a run.
pub struct Player<'a> {
    script: &'a Script,
    pub(super) origin: Origin,
    pub(super) unit: u32,
    now: Instant,
    connection: Option<Connection>,
    /// Segments that were sent, and that the script has not expected yet.
    pub(super) left: VecDeque<(Instant, Segment, Codepoint)>,
    /// Defaults for the peer's segments: [`Self::next`] is the next sequence number, [`Self::ack`] and [`Self::window`]
    /// are the acknowledgement and the window.
    next: i64,
    ack: i64,
    window: u64,
    /// TSval of our last segment.
    our_stamp: Option<u32>,
    /// Window scale shift of our windows; [`Self::peer_scale`] is the peer's. `None` if the SYN offered none.
    pub(super) our_scale: Option<u8>,
    pub(super) peer_scale: Option<u8>,
}

impl<'a> Player<'a> {
    fn new(script: &'a Script, origin: Origin) -> Result<Self, Problem> {
        let config = script.options.resolve().map_err(|error| Problem { line: 0, message: error.to_string() })?;
        let options = if config.timestamps && !config.mss_is_payload { 12 } else { 0 };
        Ok(Self {
            script,
            origin,
            unit: script.unit.unwrap_or(u32::from(config.mss) - options),
            now: origin.epoch,
            connection: None,
            left: VecDeque::new(),
            next: 0,
            ack: 0,
            window: 65_535,
            our_stamp: None,
            our_scale: None,
            peer_scale: None,
        })
    }

    fn connection(&mut self) -> Result<&mut Connection, String> {
        self.connection
            .as_mut()
            .ok_or_else(|| "the connection does not exist: open, listen or established first".to_owned())
    }

    fn step(&mut self, line: &Line) -> Result<(), String> {
        let time = self.origin.epoch + line.at;
        match &line.action {
            Action::Out(pattern) => {
                self.run(time, true)?;
                self.expect(time, pattern)?;
            }
            Action::Expect => {
                self.run(time, true)?;
                self.nothing_left()?;
            }
            action => {
                self.run(time, false)?;
                self.nothing_left()?;
                self.act(action)?;
                self.drain()?;
            }
        }
        if !line.facts.is_empty() {
            let (now, unit) = (self.now, self.unit);
            let connection = self.connection()?;
            line.facts.iter().try_for_each(|fact| fact.check(connection, now, unit))?;
        }
        Ok(())
    }

    fn act(&mut self, action: &Action) -> Result<(), String> {
        let unit = self.unit;
        match action {
            Action::Open => {
                let now = self.now;
                self.create(false)?.open(now);
            }
            Action::Listen => {
                self.create(true)?;
            }
            Action::Established(handshake) => self.establish(handshake)?,
            Action::Write(number) => self.connection()?.write(number.bytes(unit).unsigned_abs()),
            Action::WriteForever => self.connection()?.write(u64::MAX),
            Action::ReadLater => self.connection()?.read_later(),
            Action::Read(number) => {
                let wanted = number.bytes(unit).unsigned_abs();
                let read = self.connection()?.read(wanted);
                if read < wanted {
                    return Err(format!("only {read} bytes are there to be read"));
                }
            }
            Action::OpenWriting(bytes) => {
                let (now, bytes) = (self.now, bytes.bytes(self.unit).unsigned_abs());
                let connection = self.create(false)?;
                connection.open(now);
                connection.write(bytes);
            }
            Action::Close => self.connection()?.close(),
            Action::Abort => self.connection()?.abort(),
            Action::Release => {
                let now = self.now;
                self.connection()?.release(now);
            }
            Action::In(pattern) => self.arrive(pattern)?,
            Action::Out(_) | Action::Expect => {}
        }
        Ok(())
    }

    fn create(&mut self, server: bool) -> Result<&mut Connection, String> {
        if self.connection.is_some() {
            return Err("the connection exists already".into());
        }
        let config = Arc::new(self.script.options.resolve().map_err(|error| error.to_string())?);
        let initial = SeqNumber(self.origin.local);
        let mut connection =
            if server { Connection::server(config, initial) } else { Connection::client(config, initial) };
        // The cookie of every server is 0102030405060708.
        connection.share_cookies(&mut CookieCache::new(
            Cookie::new(&[1, 2, 3, 4, 5, 6, 7, 8]).ok_or("eight bytes are a cookie")?,
        ));
        Ok(self.connection.insert(connection))
    }

    /// Opens the connection before time 0 of the script, with a peer that offers the same options as the endpoint.
    fn establish(&mut self, handshake: &Handshake) -> Result<(), String> {
        let config = self.script.options.resolve().map_err(|error| error.to_string())?;
        let mut syn = handshake.peer.clone();
        syn.flags = syn.flags.with(Flags::SYN);
        syn.mss = syn.mss.or(Some(Some(config.mss)));
        syn.sack_permitted = syn.sack_permitted.or(Some(config.sack));
        syn.window_scale = syn.window_scale.or(config.window_scaling.then_some(Some(0)));
        if !config.timestamps {
            syn.stamps = Some(None);
        }
        let window = syn.window.take();
        let epoch = self.now;
        self.now = Instant::from_nanos(epoch.as_nanos() - handshake.rtt.as_nanos());
        if handshake.server {
            self.create(true)?;
            self.arrive(&syn)?;
        } else {
            let now = self.now;
            self.create(false)?.open(now);
        }
        self.drain()?;
        self.run(epoch, false)?;
        let last = if handshake.server {
            self.window = window.unwrap_or(self.window);
            Pattern::default()
        } else {
            // The window of a SYN is never scaled.
            syn.window = Some(window.unwrap_or(self.window).min(65_535));
            syn.acknowledges = Some(true);
            syn
        };
        self.arrive(&last)?;
        self.drain()?;
        if let Some(window) = window.filter(|window| *window > 65_535 && !handshake.server) {
            self.arrive(&Pattern { window: Some(window), ..Pattern::default() })?;
            self.drain()?;
        }
        self.left.clear();
        Ok(())
    }

    /// Fires the timers that are due before `until`, and, if `at_it` is true, also those due exactly then.
    fn run(&mut self, until: Instant, at_it: bool) -> Result<(), String> {
        let mut fired = 0;
        while let Some(connection) = &mut self.connection
            && let Some(at) = connection.poll_timeout()
            && (at < until || at_it && at == until)
        {
            fired = if at > self.now { 0 } else { fired + 1 };
            if fired > 1_000 {
                return Err(format!("the timer for {} fires endlessly", self.time(at)));
            }
            self.now = self.now.max(at);
            connection.handle_timeout(self.now);
            self.drain()?;
        }
        self.now = until;
        Ok(())
    }

    fn drain(&mut self) -> Result<(), String> {
        while let Some(connection) = &mut self.connection
            && let Some(segment) = connection.poll_segment(self.now)
        {
            self.our_stamp = segment.timestamps().map(|stamps| stamps.value);
            if segment.flags.has(Flags::SYN) {
                self.our_scale = segment.syn_options().window_scale;
            }
            self.left.push_back((self.now, segment, connection.codepoint()));
            if self.left.len() > 100_000 {
                return Err("the connection sends endlessly".into());
            }
        }
        Ok(())
    }

    fn nothing_left(&self) -> Result<(), String> {
        match self.left.front() {
            None => Ok(()),
            Some((at, segment, _)) => {
                Err(format!("nothing expected, found at {}: out {}", self.time(*at), self.show(segment)))
            }
        }
    }

    /// Divides the data of a pattern into full segments. Returns start, length, and whether it is the last, for each.
    pub(super) fn parts(&self, pattern: &Pattern) -> Result<Vec<(i64, u16, bool)>, String> {
        let Some((start, end)) = pattern.data else { return Ok(vec![(0, 0, true)]) };
        let (mut start, end) = (start.bytes(self.unit), end.bytes(self.unit));
        if start > end || end - start > 1 << 26 {
            return Err(format!("{start}..{end} bytes is not a range with an end after its start"));
        }
        let mut parts = Vec::new();
        loop {
            let len = (end - start).min(i64::from(self.unit));
            parts.push((start, len as u16, start + len == end));
            start += len;
            if start == end {
                return Ok(parts);
            }
        }
    }

    fn arrive(&mut self, pattern: &Pattern) -> Result<(), String> {
        let parts = self.parts(pattern)?;
        for (start, len, last) in parts {
            let mut segment = self.incoming(pattern, last)?;
            if let Some(ack) = pattern.ack {
                self.ack = ack.bytes(self.unit);
            }
            let start = match (pattern.data, pattern.seq) {
                // The data of a SYN follows the SYN's number.
                (Some(_), _) if segment.flags.has(Flags::SYN) => start - 1,
                (Some(_), _) => start,
                (None, Some(seq)) => seq.bytes(self.unit),
                (None, None) if segment.flags.has(Flags::SYN) => -1,
                (None, None) => self.next,
            };
            segment.seq = place(self.origin.remote, start);
            segment.len = len;
            if segment.flags.has(Flags::ACK) {
                segment.ack = place(self.origin.local, self.ack);
            }
            self.next = self.next.max(start + i64::from(segment.sequence_len()));
            let now = self.now;
            self.connection()?.handle_packet(now, &segment, pattern.codepoint.unwrap_or_default());
            self.drain()?;
        }
        Ok(())
    }

    /// Returns a segment of the peer as the pattern describes it, but without sequence number and data.
    fn incoming(&mut self, pattern: &Pattern, last: bool) -> Result<Segment, String> {
        let syn = pattern.flags.has(Flags::SYN);
        let alone = syn || pattern.flags.has(Flags::RST);
        let mut flags = pattern.flags;
        if pattern.acknowledges.unwrap_or(!alone) {
            flags = flags.with(Flags::ACK);
        }
        if !last {
            flags = Flags(flags.0 & !Flags::FIN.0);
        }
        if let Some(scale) = pattern.window_scale {
            self.peer_scale = scale;
        }
        self.window = pattern.window.unwrap_or(self.window);
        let scale = if syn { 0 } else { self.our_scale.and(self.peer_scale).unwrap_or(0) };
        let field = self.window >> scale;
        if field << scale != self.window && pattern.window.is_some() || field > 65_535 {
            let message = "cannot be encoded in 16 bits with the peer's scale, which is";
            return Err(format!("win {}B {message} {scale}", self.window));
        }
        let mut segment = Segment::new(SeqNumber(0), SeqNumber(0), field as u16, flags);
        if let Some(stamps) = self.stamps(pattern, syn, flags) {
            segment = segment.with_timestamps(stamps);
        }
        if let Some(blocks) = &pattern.sack {
            if blocks.len() > 4 {
                return Err("a segment holds four SACK blocks".into());
            }
            let block = |span: &(Number, Number)| SackBlock {
                start: place(self.origin.local, span.0.bytes(self.unit)),
                end: place(self.origin.local, span.1.bytes(self.unit)),
            };
            segment = segment.with_sack(&blocks.iter().map(block).collect::<Vec<_>>());
        }
        if let Some(Some(bytes)) = pattern.ecn_bytes {
            if !segment.has_place_for(&bytes) {
                return Err("a segment with these SACK blocks has no space for the AccECN option".into());
            }
            segment = segment.with_ecn_bytes(bytes);
        }
        if let Some(Some(cookie)) = pattern.cookie {
            if !segment.has_place_for_cookie() {
                return Err("a cookie is sent in a SYN".into());
            }
            segment = segment.with_cookie(cookie);
        }
        Ok(segment.with_syn_options(SynOptions {
            mss: pattern.mss.flatten(),
            window_scale: pattern.window_scale.flatten(),
            sack_permitted: pattern.sack_permitted == Some(true),
        }))
    }

    /// Returns the timestamps of a segment of the peer. The defaults are the peer's clock and the echo of our last
    /// segment, if we use timestamps.
    fn stamps(&self, pattern: &Pattern, syn: bool, flags: Flags) -> Option<Timestamps> {
        let said = match pattern.stamps {
            Some(said) => said?,
            None if self.our_stamp.is_some() || syn && self.script.options.timestamps != Some(false) => {
                Stamps { value: self.now.since(self.origin.epoch).as_nanos() as i64 / 1_000_000, echo: None }
            }
            None => return None,
        };
        let echo = said.echo.map(|echo| self.our_clock().wrapping_add(echo as u32)).or(self.our_stamp);
        let echo = if flags.has(Flags::ACK) { echo.unwrap_or(0) } else { 0 };
        Some(Timestamps { value: self.origin.peer_clock.wrapping_add(said.value as u32), echo })
    }

    /// Returns our timestamp clock at time 0 of the script.
    pub(super) fn our_clock(&self) -> u32 {
        (self.origin.epoch.as_nanos() / 1_000_000) as u32
    }

    /// Describes why a line fails, with the state of the connection.
    fn explain(&self, line: &Line, message: String) -> Problem {
        let state =
            self.connection.as_ref().map_or("no connection".into(), |connection| summary(connection, self.unit));
        let more: Vec<_> = self.left.iter().skip(1).take(4).map(|(_, segment, _)| self.show(segment)).collect();
        let more = if more.is_empty() { String::new() } else { format!("\n    then: {}", more.join(" / ")) };
        let (local, remote) = (self.origin.local, self.origin.remote);
        let message = format!("{}\n    {message}{more}\n    {state}\n    numbers from {local} and {remote}", line.text);
        Problem { line: line.number, message }
    }
}

/// Returns the sequence number that is `offset` bytes after the first byte of a stream; `initial` is the number of its
/// SYN.
pub fn place(initial: u32, offset: i64) -> SeqNumber {
    SeqNumber(initial.wrapping_add(1).wrapping_add(offset as u32))
}
