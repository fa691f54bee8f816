//! A line as a sequence of tokens.

use lightlag_core::Duration;
use std::str::SplitWhitespace;

/// The tokens of a line that are not read yet.
pub struct Words<'a> {
    rest: std::iter::Peekable<SplitWhitespace<'a>>,
}

impl<'a> Words<'a> {
    /// Splits `text` at whitespace.
    pub fn new(text: &'a str) -> Self {
        Self { rest: text.split_whitespace().peekable() }
    }

    /// Returns the next token without consuming it.
    pub fn peek(&mut self) -> Option<&'a str> {
        self.rest.peek().copied()
    }

    /// Returns and consumes the next token.
    pub fn next(&mut self) -> Option<&'a str> {
        self.rest.next()
    }

    /// Returns and consumes the next token, which must exist.
    pub fn word(&mut self, what: &str) -> Result<&'a str, String> {
        self.next().ok_or_else(|| format!("the line ends too early: {what}"))
    }

    /// Consumes the next token if it is `word`. Returns true if it was.
    pub fn take(&mut self, word: &str) -> bool {
        let is_next = self.peek() == Some(word);
        if is_next {
            self.next();
        }
        is_next
    }

    /// Fails unless the line has ended.
    pub fn end(&mut self) -> Result<(), String> {
        match self.next() {
            None => Ok(()),
            Some(word) => Err(format!("\"{word}\" is not expected here")),
        }
    }
}

/// Reads an integer.
pub fn whole<T: std::str::FromStr>(words: &mut Words<'_>, what: &str) -> Result<T, String> {
    let word = words.word(what)?;
    word.parse().map_err(|_| format!("\"{word}\" is not {what}"))
}

/// Reads a time as two tokens, `600 ms`, or a lone `0`.
pub fn duration(words: &mut Words<'_>) -> Result<Duration, String> {
    const TIME: &str = "a time, such as 600 ms, 1.5 s, 250 us or 4 min";
    let number = words.word(TIME)?;
    let digits = number.strip_prefix('+').unwrap_or(number);
    let plain = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    let value: f64 =
        digits.parse().ok().filter(|_| plain).ok_or_else(|| format!("\"{number}\" does not start {TIME}"))?;
    let unit = words.word(TIME)?;
    let scale = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3_600.0,
        _ => return Err(format!("\"{unit}\" is not a valid unit of time: {TIME}")),
    };
    let seconds = value * scale;
    if seconds > 1e7 {
        return Err(format!("{number} {unit} is longer than any script"));
    }
    Ok(Duration::from_secs_f64(seconds))
}
