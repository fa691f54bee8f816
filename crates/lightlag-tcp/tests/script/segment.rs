//! Segments in the syntax of a script.

use super::words::{Words, whole};
use lightlag_core::Codepoint;
use lightlag_tcp::segment::{Cookie, EcnBytes, FieldOrder, Flags};

/// A position or a size in the stream: a number of segments plus a number of bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    segments: f64,
    bytes: i64,
}

const NUMBER: &str = "a number of segments or bytes, such as 3, 2.5, 500B or 3+500B";

impl Number {
    /// Reads a position or a size.
    pub fn read(words: &mut Words<'_>) -> Result<Self, String> {
        Self::parse(words.word(NUMBER)?)
    }

    /// Parses a position or a size.
    pub fn parse(word: &str) -> Result<Self, String> {
        let wrong = || format!("\"{word}\" is not {NUMBER}");
        let bytes = |text: &str| {
            let number = text.strip_suffix('B').and_then(|text| text.parse::<i64>().ok());
            number.filter(|number| number.abs() < 1 << 50).ok_or_else(wrong)
        };
        if let Some((segments, rest)) = word.split_once('+') {
            return Ok(Self { bytes: bytes(rest)?, ..Self::parse(segments)? });
        }
        if word.ends_with('B') {
            return Ok(Self { segments: 0.0, bytes: bytes(word)? });
        }
        let plain =
            word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(|c| c.is_ascii_digit() || c == '.');
        let segments = word.parse().ok().filter(|segments| plain && *segments < 1e9).ok_or_else(wrong)?;
        Ok(Self { segments, bytes: 0 })
    }

    /// Converts this number to bytes, with segments of `unit` bytes.
    pub fn bytes(self, unit: u32) -> i64 {
        (self.segments * f64::from(unit)).round() as i64 + self.bytes
    }
}

/// A range from a position up to but not including another.
pub type Span = (Number, Number);

fn span(word: &str) -> Result<Span, String> {
    let (start, end) = word.split_once("..").ok_or_else(|| format!("\"{word}\" is not a range, such as 3..4"))?;
    Ok((Number::parse(start)?, Number::parse(end)?))
}

/// Timestamps in milliseconds since the start of the script: the sender's clock, and the echoed time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamps {
    /// TSval (RFC 7323 §3.2).
    pub value: i64,
    /// TSecr (RFC 7323 §3.2); `None` if the script does not specify it.
    pub echo: Option<i64>,
}

/// A segment, as far as a script specifies it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pattern {
    /// The flags SYN, FIN, RST, PSH, ECE, CWR. `ace 5` stands for AE and ECE.
    pub flags: Flags,
    /// Whether the ACK bit is set (`ack`, `noack`); `None` if not specified.
    pub acknowledges: Option<bool>,
    /// Range of the data.
    pub data: Option<Span>,
    /// Sequence number of a segment without data.
    pub seq: Option<Number>,
    /// The acknowledgement number.
    pub ack: Option<Number>,
    /// The window in bytes.
    pub window: Option<u64>,
    /// SACK blocks; `None` if not specified.
    pub sack: Option<Vec<Span>>,
    /// Timestamps; `Some(None)` if the segment must have none. `None` if not specified.
    pub stamps: Option<Option<Stamps>>,
    /// Value of the MSS option; `Some(None)` if the segment must have none. `None` if not specified.
    pub mss: Option<Option<u16>>,
    /// Window scale shift; `Some(None)` if the segment must not have the option. `None` if not specified.
    pub window_scale: Option<Option<u8>>,
    /// Whether the segment must have the SACK-permitted option; `None` if not specified.
    pub sack_permitted: Option<bool>,
    /// AccECN option; `Some(None)` if the segment must have none. `None` if not specified.
    pub ecn_bytes: Option<Option<EcnBytes>>,
    /// Fast open option; `Some(None)` if the segment must have none. `None` if not specified.
    pub cookie: Option<Option<Cookie>>,
    /// ECN field of the packet; `None` if not specified.
    pub codepoint: Option<Codepoint>,
}

const SEGMENT: &str = "a segment has: a range such as 3..4, syn, fin, rst, psh, ece, cwr, ace 5, ack [3], noack, seq 3, \
                       win 65535B, sack 5..6,8..9, ts 600:500, mss 1460, wscale 7, sackok, accecn0 or accecn1 with its \
                       fields, such as accecn1 1,0,1001, cookie 0102030405060708 or cookie request; not-ect, ect0, ect1, ce for its packet; and no ts, no mss, \
                       no wscale, no sackok, no accecn, no cookie";

/// Reads the description of a segment.
pub fn pattern(words: &mut Words<'_>) -> Result<Pattern, String> {
    let mut pattern = Pattern::default();
    while let Some(word) = words.next() {
        match word {
            "syn" => pattern.flags = pattern.flags.with(Flags::SYN),
            "fin" => pattern.flags = pattern.flags.with(Flags::FIN),
            "rst" => pattern.flags = pattern.flags.with(Flags::RST),
            "psh" => pattern.flags = pattern.flags.with(Flags::PSH),
            "ece" => pattern.flags = pattern.flags.with(Flags::ECE),
            "cwr" => pattern.flags = pattern.flags.with(Flags::CWR),
            "ace" => {
                let count: u8 = whole(words, "an ACE counter, 0 to 7")?;
                pattern.flags = pattern.flags.with(Flags::from_ace(count));
            }
            "not-ect" => pattern.codepoint = Some(Codepoint::NotEct),
            "ect0" => pattern.codepoint = Some(Codepoint::Ect0),
            "ect1" => pattern.codepoint = Some(Codepoint::Ect1),
            "ce" => pattern.codepoint = Some(Codepoint::Ce),
            "noack" => pattern.acknowledges = Some(false),
            "ack" => {
                pattern.acknowledges = Some(true);
                if words.peek().is_some_and(|next| {
                    next.starts_with(|c: char| c.is_ascii_digit() || c == '-') && !next.contains("..")
                }) {
                    pattern.ack = Some(Number::read(words)?);
                }
            }
            "seq" => pattern.seq = Some(Number::read(words)?),
            "win" => pattern.window = Some(window(words)?),
            "sack" => {
                let blocks = words.word("SACK blocks such as 5..6,8..9")?;
                pattern.sack = Some(blocks.split(',').map(span).collect::<Result<_, _>>()?);
            }
            "ts" => pattern.stamps = Some(Some(stamps(words)?)),
            "mss" => pattern.mss = Some(Some(whole(words, "an MSS in bytes, such as 1460")?)),
            "wscale" => pattern.window_scale = Some(Some(whole(words, "a shift, 0 to 14")?)),
            "sackok" => pattern.sack_permitted = Some(true),
            "accecn0" => pattern.ecn_bytes = Some(Some(ecn_bytes(words, FieldOrder::Ect0First)?)),
            "accecn1" => pattern.ecn_bytes = Some(Some(ecn_bytes(words, FieldOrder::Ect1First)?)),
            "cookie" => pattern.cookie = Some(Some(cookie(words)?)),
            "no" => absent(words, &mut pattern)?,
            _ if word.contains("..") && pattern.data.is_none() => pattern.data = Some(span(word)?),
            _ => return Err(format!("\"{word}\" is not a valid part of a segment; {SEGMENT}")),
        }
    }
    Ok(pattern)
}

fn absent(words: &mut Words<'_>, pattern: &mut Pattern) -> Result<(), String> {
    match words.word("the name of an absent option: ts, mss, wscale, sackok, accecn or cookie")? {
        "accecn" => pattern.ecn_bytes = Some(None),
        "cookie" => pattern.cookie = Some(None),
        "ts" => pattern.stamps = Some(None),
        "mss" => pattern.mss = Some(None),
        "wscale" => pattern.window_scale = Some(None),
        "sackok" => pattern.sack_permitted = Some(false),
        other => return Err(format!("\"no {other}\": only ts, mss, wscale, sackok, accecn and cookie can be absent")),
    }
    Ok(())
}

/// Reads the byte counters of an AccECN option, in the order of the option; `-` means that it has none.
fn ecn_bytes(words: &mut Words<'_>, order: FieldOrder) -> Result<EcnBytes, String> {
    let word = words.word("up to three counters of bytes such as 1,0,1001, or -")?;
    if word == "-" {
        return Ok(EcnBytes::new(order, &[]));
    }
    let wrong = || format!("\"{word}\" is not up to three counters of bytes below 16777216, such as 1,0,1001");
    let field = |text: &str| text.parse().ok().filter(|field: &u32| *field < 1 << 24).ok_or_else(wrong);
    let fields: Vec<u32> = word.split(',').map(field).collect::<Result<_, _>>()?;
    if fields.len() > 3 { Err(wrong()) } else { Ok(EcnBytes::new(order, &fields)) }
}

/// Reads a cookie in hexadecimal digits, or `request`.
fn cookie(words: &mut Words<'_>) -> Result<Cookie, String> {
    let word = words.word("a cookie such as 0102030405060708, or request")?;
    if word == "request" {
        return Ok(Cookie::REQUEST);
    }
    let wrong = || format!("\"{word}\" is not a cookie of 4, 6 ... 16 bytes such as 0102030405060708");
    let byte =
        |at: usize| word.get(at..at + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok()).ok_or_else(wrong);
    let bytes: Vec<u8> = (0..word.len()).step_by(2).map(byte).collect::<Result<_, _>>()?;
    Cookie::new(&bytes).filter(|cookie| !cookie.is_request()).ok_or_else(wrong)
}

fn window(words: &mut Words<'_>) -> Result<u64, String> {
    let word = words.word("a window in bytes, such as 65535B")?;
    word.strip_suffix('B')
        .and_then(|bytes| bytes.parse().ok())
        .ok_or_else(|| format!("\"{word}\" is not a window in bytes, such as 65535B"))
}

fn stamps(words: &mut Words<'_>) -> Result<Stamps, String> {
    let word = words.word("timestamps such as 600:500")?;
    let wrong = || format!("\"{word}\" is not a timestamp in milliseconds, with its echo after a colon: 600:500");
    let tick = |text: &str| text.parse().ok().filter(|tick: &i64| tick.abs() < 1 << 40).ok_or_else(wrong);
    let (value, echo) = word.split_once(':').map_or((word, None), |(value, echo)| (value, Some(echo)));
    Ok(Stamps { value: tick(value)?, echo: echo.map(tick).transpose()? })
}
