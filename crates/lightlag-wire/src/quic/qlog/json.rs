//! Objects of JSON, written member by member.

use lightlag_core::Duration;
use std::fmt::Write as _;

/// An object under construction.
pub(super) struct Object<'a> {
    out: &'a mut String,
    has_members: bool,
}

impl<'a> Object<'a> {
    /// Appends an object, whose members `fill` writes.
    pub(super) fn write(out: &'a mut String, fill: impl FnOnce(&mut Object<'_>)) {
        out.push('{');
        let mut object = Object { out, has_members: false };
        fill(&mut object);
        object.out.push('}');
    }

    fn key(&mut self, key: &str) {
        if std::mem::replace(&mut self.has_members, true) {
            self.out.push(',');
        }
        let _ = write!(self.out, "\"{key}\":");
    }

    /// Adds a string.
    pub(super) fn text(&mut self, key: &str, text: &str) {
        self.key(key);
        write_text(self.out, text);
    }

    /// Adds an integer.
    pub(super) fn number(&mut self, key: &str, number: u64) {
        self.key(key);
        let _ = write!(self.out, "{number}");
    }

    /// Adds a boolean.
    pub(super) fn flag(&mut self, key: &str, flag: bool) {
        self.key(key);
        self.out.push_str(if flag { "true" } else { "false" });
    }

    /// Adds a duration in milliseconds.
    pub(super) fn millis(&mut self, key: &str, duration: Duration) {
        self.key(key);
        let nanos = duration.as_nanos();
        let _ = write!(self.out, "{}", nanos / 1_000_000);
        let rest = format!("{:06}", nanos % 1_000_000);
        let rest = rest.trim_end_matches('0');
        if !rest.is_empty() {
            let _ = write!(self.out, ".{rest}");
        }
    }

    /// Adds an object.
    pub(super) fn object(&mut self, key: &str, fill: impl FnOnce(&mut Object<'_>)) {
        self.key(key);
        Object::write(self.out, fill);
    }

    /// Adds a list of strings.
    pub(super) fn texts(&mut self, key: &str, texts: &[&str]) {
        self.list(key, texts, |out, text| write_text(out, text));
    }

    /// Adds a list, whose elements `write` appends.
    pub(super) fn list<T>(
        &mut self,
        key: &str,
        elements: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut String, T),
    ) {
        self.key(key);
        self.out.push('[');
        for (index, element) in elements.into_iter().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            write(self.out, element);
        }
        self.out.push(']');
    }
}

fn write_text(out: &mut String, text: &str) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => {
                out.push('\\');
                out.push(letter);
            }
            letter if (letter as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", letter as u32);
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
}
