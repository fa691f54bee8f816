//! The text of a script, read line by line into [`Line`]s.
//!
//! A file starts with a comment that names the source and states the rule. Settings and then steps follow:
//!
//! ```text
//! # RFC 6675 §4: three segments reported above a hole, so the hole is lost and is retransmitted.
//! tcp { profile = "rfc", mss = "1000 B", timestamps = false }
//! established rtt 600 ms
//!   0 ms  write 10
//!   0 ms  out 0..10
//! 600 ms  in ack 0 sack 1..4
//! 600 ms  out 0..1            | cwnd 5, phase recovery
//! ```
//!
//! - A step starts with a time: `600 ms` since the start of the script, or `+5 ms` since the last step.
//! - Positions of data are in segments, counted from the first byte of the stream: `3`, `3+200B` (200 bytes further),
//!   `1460B` (only bytes), `-1B` (the SYN).
//! - `in` is a segment that arrives, `out` a segment that must be sent at exactly that time. Every segment that is sent
//!   must be listed. A range longer than a segment stands for several segments.
//! - Facts about the connection at that time follow after a bar: see [`super::fact`].

use super::fact::Fact;
use super::segment::{Number, Pattern, pattern};
use super::words::{Words, duration};
use lightlag_core::Duration;
use lightlag_tcp::Options;

/// An error in a script, and its location.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line number, starting at 1; 0 if the error concerns the entire file.
    pub line: usize,
    /// The error and its fix.
    pub message: String,
}

/// A script that can be played.
#[derive(Debug)]
pub struct Script {
    /// Settings of the endpoint under test.
    pub options: Options,
    /// Size of a segment in the script's positions in bytes, if the script specifies one.
    pub unit: Option<u32>,
    /// The steps, in order.
    pub lines: Vec<Line>,
}

/// A step of the script.
#[derive(Debug)]
pub struct Line {
    /// Line number in the file.
    pub number: usize,
    /// Text of the line, without its comment and without surrounding spaces.
    pub text: String,
    /// Time since the start of the script.
    pub at: Duration,
    /// Action of this step.
    pub action: Action,
    /// Facts that hold after the step.
    pub facts: Vec<Fact>,
}

/// Action of a step.
#[derive(Clone, Debug)]
pub enum Action {
    /// The application opens actively.
    Open,
    /// The application opens actively, with this much data already written. The data may be sent with the SYN.
    OpenWriting(Number),
    /// The application opens passively.
    Listen,
    /// The connection is opened before time 0 of the script, with this handshake.
    Established(Handshake),
    /// The application writes this much data.
    Write(Number),
    /// The application writes an endless stream.
    WriteForever,
    /// The application reads only on request.
    ReadLater,
    /// The application reads this much data.
    Read(Number),
    /// The application closes its side.
    Close,
    /// The application aborts: the peer gets a reset.
    Abort,
    /// The application closes and reads no more.
    Release,
    /// A segment arrives.
    In(Pattern),
    /// A segment must be sent.
    Out(Pattern),
    /// No action: only the facts are checked.
    Expect,
}

/// A handshake whose segments the script does not list.
#[derive(Clone, Debug)]
pub struct Handshake {
    /// Whether the endpoint under test was the server.
    pub server: bool,
    /// Time from SYN to SYN-ACK, or from SYN-ACK to ACK.
    pub rtt: Duration,
    /// Options and window of the peer's SYN.
    pub peer: Pattern,
}

const STEPS: &str = "a step is a time and one of: open, listen, write, read, close, abort, release, in, out, expect";

/// Reads a script.
pub fn parse(text: &str) -> Result<Script, Problem> {
    let mut script = Script { options: Options::default(), unit: None, lines: Vec::new() };
    let mut head = String::new();
    let mut now = Duration::ZERO;
    for (at, raw) in text.lines().enumerate() {
        let number = at + 1;
        let (code, comment) = raw.split_once('#').map_or((raw, ""), |(code, comment)| (code, comment));
        let code = code.trim();
        if code.is_empty() {
            head.push_str(comment);
            continue;
        }
        if !cites(&head) {
            return Err(Problem { line: number, message: CITE.into() });
        }
        read(code, number, &mut script, &mut now).map_err(|message| Problem { line: number, message })?;
    }
    match (cites(&head), script.lines.is_empty()) {
        (false, _) => Err(Problem { line: 0, message: CITE.into() }),
        (true, true) => Err(Problem { line: 0, message: format!("nothing happens: {STEPS}") }),
        _ => Ok(script),
    }
}

const CITE: &str = "a script starts with a comment that names its source, such as \"# RFC 9293 §3.5: ...\"";

/// Returns true if a comment cites a section of a source.
fn cites(comment: &str) -> bool {
    comment.contains('§') && comment.contains("RFC ")
}

fn read(code: &str, number: usize, script: &mut Script, now: &mut Duration) -> Result<(), String> {
    if let Some(table) = code.strip_prefix("tcp").map(str::trim_start).filter(|rest| rest.starts_with('{')) {
        before_steps("tcp", script)?;
        script.options = script.options.merge(&options(table)?);
        return Ok(());
    }
    let (code, facts) = code.split_once('|').map_or((code, ""), |(code, facts)| (code.trim(), facts));
    let facts = super::fact::facts(facts)?;
    let mut words = Words::new(code);
    let (time, action) = match words.peek() {
        Some("segment") => {
            words.next();
            before_steps("segment", script)?;
            let bytes = words.word("a size such as 1000B")?;
            let bytes = bytes.strip_suffix('B').and_then(|bytes| bytes.parse().ok()).filter(|bytes| *bytes > 0);
            script.unit = Some(bytes.ok_or("the size of a segment is a number of bytes such as 1000B")?);
            return words.end();
        }
        Some("established") => {
            words.next();
            before_steps("established", script)?;
            (Duration::ZERO, Action::Established(handshake(&mut words)?))
        }
        _ => (moment(&mut words, *now)?, action(&mut words)?),
    };
    words.end()?;
    *now = time;
    if matches!(action, Action::Expect) && facts.is_empty() {
        return Err("expect needs facts after a bar: expect | cwnd 10, phase open".into());
    }
    script.lines.push(Line { number, text: code.to_owned(), at: time, action, facts });
    Ok(())
}

fn before_steps(what: &str, script: &Script) -> Result<(), String> {
    if script.lines.is_empty() { Ok(()) } else { Err(format!("{what} must come before the first step")) }
}

/// Parses the keys of a scenario's `tcp` table, in its syntax.
fn options(table: &str) -> Result<Options, String> {
    #[derive(serde::Deserialize)]
    struct Outer {
        tcp: Options,
    }
    let outer: Outer = toml::from_str(&format!("tcp = {table}")).map_err(|error| error.message().to_owned())?;
    outer.tcp.resolve().map_err(|error| error.to_string())?;
    Ok(outer.tcp)
}

fn moment(words: &mut Words<'_>, last: Duration) -> Result<Duration, String> {
    let first = words.peek().unwrap_or_default();
    if !first.starts_with(|c: char| c.is_ascii_digit() || c == '+') {
        return Err(format!(
            "\"{first}\" is not a valid time: {STEPS}, such as \"600 ms in ack 3\" or \"+5 ms expect | cwnd 2\""
        ));
    }
    let relative = first.starts_with('+');
    let span = duration(words)?;
    let time = if relative { last + span } else { span };
    if time < last {
        return Err(format!("{time} is before the step above, which is at {last}"));
    }
    Ok(time)
}

fn action(words: &mut Words<'_>) -> Result<Action, String> {
    Ok(match words.word(STEPS)? {
        "open" if words.take("writing") => Action::OpenWriting(Number::read(words)?),
        "open" => Action::Open,
        "listen" => Action::Listen,
        "close" => Action::Close,
        "abort" => Action::Abort,
        "release" => Action::Release,
        "expect" => Action::Expect,
        "write" if words.peek() == Some("forever") => {
            words.next();
            Action::WriteForever
        }
        "write" => Action::Write(Number::read(words)?),
        "read" if words.take("later") => Action::ReadLater,
        "read" => Action::Read(Number::read(words)?),
        "in" => Action::In(pattern(words)?),
        "out" => Action::Out(pattern(words)?),
        other => return Err(format!("\"{other}\" is not a valid step: {STEPS}")),
    })
}

fn handshake(words: &mut Words<'_>) -> Result<Handshake, String> {
    let server = words.take("server");
    if !words.take("rtt") {
        return Err("a handshake has a round-trip time: established [server] rtt 100 ms [win 65535B] [wscale 7]".into());
    }
    Ok(Handshake { server, rtt: duration(words)?, peer: pattern(words)? })
}
