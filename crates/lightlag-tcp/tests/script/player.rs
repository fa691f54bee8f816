//! Plays a script: one connection, virtual time, and a peer that says what the script says.
//!
//! Every script is played from several [`Origin`]s: sequence numbers and timestamps wrap in some of them, which must
//! change nothing (RFC 9293 §3.4, RFC 7323 §5.4).

use super::fact::summary;
use super::segment::{Number, Pattern, Stamps};
use super::text::{Action, Handshake, Line, Problem, Script};
use lightlag_core::{Codepoint, Instant};
use lightlag_tcp::fast_open::Jar;
use lightlag_tcp::segment::{Cookie, Flags, SackBlock, SeqNumber, SynOptions, Timestamps};
use lightlag_tcp::{Connection, Segment};
use std::collections::VecDeque;
use std::sync::Arc;

/// Where the numbers of a play begin.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// Our initial sequence number.
    pub local: u32,
    /// The peer's.
    pub remote: u32,
    /// The script's time 0 on our clock.
    pub epoch: Instant,
    /// The peer's timestamp clock at that time.
    pub peer_clock: u32,
}

/// Small numbers, and numbers that wrap within the first data and within the first seconds. Time begins at multiples of
/// 256 ms, so that coarse timers fire alike.
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

/// Plays a script from all origins.
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

/// The state of a play.
pub struct Player<'a> {
    script: &'a Script,
    pub(super) origin: Origin,
    pub(super) unit: u32,
    now: Instant,
    connection: Option<Connection>,
    /// What left and was not expected yet.
    pub(super) left: VecDeque<(Instant, Segment, Codepoint)>,
    /// What the peer says where the script says nothing: its next number, ACK and window.
    next: i64,
    ack: i64,
    window: u64,
    /// TSval of our last segment.
    our_stamp: Option<u32>,
    /// Shift of our windows and of the peer's, where the SYNs offered one.
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
        let at = self.origin.epoch + line.at;
        match &line.action {
            Action::Out(pattern) => {
                self.run(at, true)?;
                self.expect(at, pattern)?;
            }
            Action::Expect => {
                self.run(at, true)?;
                self.nothing_left()?;
            }
            action => {
                self.run(at, false)?;
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
        // The cookie of every server, 0102030405060708.
        connection
            .share_cookies(&mut Jar::new(Cookie::new(&[1, 2, 3, 4, 5, 6, 7, 8]).ok_or("eight bytes are a cookie")?));
        Ok(self.connection.insert(connection))
    }

    /// Opens the connection before the script's time 0, with a peer that offers what the endpoint offers.
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

    /// Lets the timers fire that are due before `until`, or at it, too.
    fn run(&mut self, until: Instant, at_it: bool) -> Result<(), String> {
        let mut fired = 0;
        while let Some(connection) = &mut self.connection
            && let Some(at) = connection.poll_timeout()
            && (at < until || at_it && at == until)
        {
            fired = if at > self.now { 0 } else { fired + 1 };
            if fired > 1_000 {
                return Err(format!("the timer for {} fires without end", self.time(at)));
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
                return Err("the connection sends without end".into());
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

    /// The segments of a pattern: one for each full segment of its data.
    pub(super) fn parts(&self, pattern: &Pattern) -> Result<Vec<(i64, u16, bool)>, String> {
        let Some((start, end)) = pattern.data else { return Ok(vec![(0, 0, true)]) };
        let (mut start, end) = (start.bytes(self.unit), end.bytes(self.unit));
        if start > end || end - start > 1 << 26 {
            return Err(format!("{start}..{end} bytes is not a range from a place to a later one"));
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
                // The data of a SYN stands behind it.
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

    /// A segment of the peer without its place.
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
            let message = "cannot be said in 16 bits with the peer's scale, which is";
            return Err(format!("win {}B {message} {scale}", self.window));
        }
        let mut segment = Segment::new(SeqNumber(0), SeqNumber(0), field as u16, flags);
        if let Some(stamps) = self.stamps(pattern, syn, flags) {
            segment = segment.with_timestamps(stamps);
        }
        if let Some(blocks) = &pattern.sack {
            if blocks.len() > 4 {
                return Err("a segment has room for four SACK blocks".into());
            }
            let block = |span: &(Number, Number)| SackBlock {
                start: place(self.origin.local, span.0.bytes(self.unit)),
                end: place(self.origin.local, span.1.bytes(self.unit)),
            };
            segment = segment.with_sack(&blocks.iter().map(block).collect::<Vec<_>>());
        }
        if let Some(Some(bytes)) = pattern.ecn_bytes {
            if !segment.has_place_for(&bytes) {
                return Err("beside these SACK blocks a segment has no place for the AccECN option".into());
            }
            segment = segment.with_ecn_bytes(bytes);
        }
        if let Some(Some(cookie)) = pattern.cookie {
            if !segment.has_place_for_cookie() {
                return Err("a cookie stands in a SYN".into());
            }
            segment = segment.with_cookie(cookie);
        }
        Ok(segment.with_syn_options(SynOptions {
            mss: pattern.mss.flatten(),
            window_scale: pattern.window_scale.flatten(),
            sack_permitted: pattern.sack_permitted == Some(true),
        }))
    }

    /// Where the script says nothing: the peer's clock, and the echo of our last segment, if we use timestamps.
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

    /// Our timestamp clock at the script's time 0.
    pub(super) fn our_clock(&self) -> u32 {
        (self.origin.epoch.as_nanos() / 1_000_000) as u32
    }

    /// What failed in a line, with everything that is known.
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

/// The number `offset` bytes after the first byte of the stream that begins with this SYN.
pub fn place(initial: u32, offset: i64) -> SeqNumber {
    SeqNumber(initial.wrapping_add(1).wrapping_add(offset as u32))
}
