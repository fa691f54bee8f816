//! Comparison of the segments that were sent with those that a script expects, and the display of segments.

use super::fact::size;
use super::player::{Player, place};
use super::segment::Pattern;
use lightlag_core::{Duration, Instant};
use lightlag_tcp::Segment;
use lightlag_tcp::segment::{FieldOrder, Flags, SeqNumber};

impl Player<'_> {
    pub(super) fn expect(&mut self, when: Instant, pattern: &Pattern) -> Result<(), String> {
        for (start, len, last) in self.parts(pattern)? {
            let Some((left, segment, codepoint)) = self.left.front() else {
                return Err("expected a segment, but none is sent".into());
            };
            let actual = || format!("found at {}: out {}", self.time(*left), self.show(segment));
            if *left != when {
                return Err(format!("expected a segment at {}, {}", self.time(when), actual()));
            }
            self.matches(pattern, start, len, last, segment).map_err(|wrong| format!("{wrong}; {}", actual()))?;
            if let Some(wanted) = pattern.codepoint.filter(|wanted| wanted != codepoint) {
                return Err(format!("expected {wanted:?}, found {codepoint:?}; {}", actual()));
            }
            self.left.pop_front();
        }
        Ok(())
    }

    fn matches(&self, pattern: &Pattern, start: i64, len: u16, last: bool, segment: &Segment) -> Result<(), String> {
        let differ = |what: &str, wanted: String| Err(format!("expected {what} {wanted}"));
        if segment.len != len {
            return differ("this much data:", size(i64::from(len), self.unit));
        }
        let seq = match (pattern.data, pattern.seq) {
            // The data of a SYN follows the SYN's number.
            (Some(_), _) if segment.flags.has(Flags::SYN) => Some(start - 1),
            (Some(_), _) => Some(start),
            (None, seq) => seq.map(|seq| seq.bytes(self.unit)),
        };
        if let Some(seq) = seq.filter(|seq| place(self.origin.local, *seq) != segment.seq) {
            return differ("seq", size(seq, self.unit));
        }
        let mut flags = if last { pattern.flags } else { Flags(pattern.flags.0 & !Flags::FIN.0) };
        let alone = flags.has(Flags::SYN) || flags.has(Flags::RST);
        if pattern.acknowledges.unwrap_or(!alone) {
            flags = flags.with(Flags::ACK);
        }
        // PSH means nothing to a TCP (RFC 9293 §3.8): it counts only if the script names it. The flag of a cookie is
        // not a bit of the header.
        let open = if flags.has(Flags::PSH) { 0 } else { Flags::PSH.0 };
        let seen = Flags(segment.flags.0 & !(open | Flags::FAST_OPEN.0));
        if seen != flags {
            return differ("the flags", flag_words(flags));
        }
        if let Some(ack) = pattern.ack.map(|ack| ack.bytes(self.unit))
            && segment.ack != place(self.origin.remote, ack)
        {
            return differ("ack", size(ack, self.unit));
        }
        if let Some(window) = pattern.window.filter(|window| *window != self.advertised(segment)) {
            return differ("win", format!("{window}B"));
        }
        self.match_options(pattern, segment)
    }

    fn match_options(&self, pattern: &Pattern, segment: &Segment) -> Result<(), String> {
        let differ = |what: &str, wanted: String| Err(format!("expected {what} {wanted}"));
        let wanted: Vec<_> =
            pattern.sack.iter().flatten().map(|(a, b)| (a.bytes(self.unit), b.bytes(self.unit))).collect();
        let actual: Vec<_> = segment.sack().iter().map(|b| (self.remote(b.start), self.remote(b.end))).collect();
        if wanted != actual {
            return differ("sack", if wanted.is_empty() { "nothing".into() } else { self.spans(&wanted) });
        }
        let syn = segment.syn_options();
        if let Some(mss) = pattern.mss.filter(|mss| *mss != syn.mss) {
            return differ("mss", option(mss));
        }
        if let Some(scale) = pattern.window_scale.filter(|scale| *scale != syn.window_scale) {
            return differ("wscale", option(scale));
        }
        if let Some(permitted) = pattern.sack_permitted.filter(|permitted| *permitted != syn.sack_permitted) {
            return differ("sackok", option(Some(permitted).filter(|permitted| *permitted)));
        }
        if let Some(bytes) = pattern.ecn_bytes.filter(|bytes| *bytes != segment.ecn_bytes()) {
            return differ("accecn", option(bytes));
        }
        if let Some(cookie) = pattern.cookie.filter(|cookie| *cookie != segment.cookie()) {
            return differ("cookie", cookie.map_or("nothing".into(), |cookie| format!("{cookie:?}")));
        }
        match (pattern.stamps, segment.timestamps()) {
            (None, _) | (Some(None), None) => Ok(()),
            (Some(None), Some(_)) => differ("ts", "nothing".into()),
            (Some(Some(wanted)), Some(stamps)) => {
                let value = stamps.value == self.our_clock().wrapping_add(wanted.value as u32);
                // Without ACK the field is 0 (RFC 7323 §3.2).
                let zero = !segment.flags.has(Flags::ACK) && stamps.echo == 0;
                let echo = wanted.echo.is_none_or(|echo| {
                    zero && echo == 0 || stamps.echo == self.origin.peer_clock.wrapping_add(echo as u32)
                });
                if value && echo { Ok(()) } else { differ("ts", format!("{}:{:?}", wanted.value, wanted.echo)) }
            }
            (Some(Some(_)), None) => differ("ts", "that is there".into()),
        }
    }

    /// Returns the window that we advertise, as the peer interprets it.
    fn advertised(&self, segment: &Segment) -> u64 {
        let scale = if segment.flags.has(Flags::SYN) { 0 } else { self.peer_scale.and(self.our_scale).unwrap_or(0) };
        u64::from(segment.window) << scale
    }

    fn remote(&self, number: SeqNumber) -> i64 {
        i64::from(number.0.wrapping_sub(self.origin.remote).wrapping_sub(1) as i32)
    }

    fn spans(&self, spans: &[(i64, i64)]) -> String {
        let text = |(a, b): &(i64, i64)| format!("{}..{}", size(*a, self.unit), size(*b, self.unit));
        spans.iter().map(text).collect::<Vec<_>>().join(",")
    }

    pub(super) fn time(&self, when: Instant) -> Duration {
        when.since(self.origin.epoch)
    }

    /// Formats a segment that we sent in the syntax of a script.
    pub(super) fn show(&self, segment: &Segment) -> String {
        let mut words = Vec::new();
        let start = i64::from(segment.seq.0.wrapping_sub(self.origin.local).wrapping_sub(1) as i32);
        words.push(flag_words(Flags(segment.flags.0 & !Flags::ACK.0)));
        words.push(match segment.len {
            0 => format!("seq {}", size(start, self.unit)),
            len => self.spans(&[(start, start + i64::from(len))]),
        });
        if segment.flags.has(Flags::ACK) {
            words.push(format!("ack {}", size(self.remote(segment.ack), self.unit)));
        }
        words.push(format!("win {}B", self.advertised(segment)));
        let blocks: Vec<_> = segment.sack().iter().map(|b| (self.remote(b.start), self.remote(b.end))).collect();
        if !blocks.is_empty() {
            words.push(format!("sack {}", self.spans(&blocks)));
        }
        if let Some(stamps) = segment.timestamps() {
            let value = stamps.value.wrapping_sub(self.our_clock()) as i32;
            let echo = stamps.echo.wrapping_sub(self.origin.peer_clock) as i32;
            words.push(format!("ts {value}:{echo}"));
        }
        if let Some(bytes) = segment.ecn_bytes() {
            let fields: Vec<_> = bytes.fields().iter().map(u32::to_string).collect();
            let name = if bytes.order() == FieldOrder::Ect0First { "accecn0" } else { "accecn1" };
            words.push(format!("{name} {}", if fields.is_empty() { "-".into() } else { fields.join(",") }));
        }
        if let Some(cookie) = segment.cookie() {
            words.push(format!("cookie {cookie:?}"));
        }
        if segment.flags.has(Flags::SYN) {
            words.push(format!("{:?}", segment.syn_options()));
        }
        words.retain(|word| !word.is_empty());
        words.join(" ")
    }
}

fn option<T: std::fmt::Display>(value: Option<T>) -> String {
    value.map_or("nothing".to_owned(), |value| value.to_string())
}

fn flag_words(flags: Flags) -> String {
    let names = [
        (Flags::SYN, "syn"),
        (Flags::FIN, "fin"),
        (Flags::RST, "rst"),
        (Flags::PSH, "psh"),
        (Flags::ECE, "ece"),
        (Flags::CWR, "cwr"),
        (Flags::AE, "ae"),
        (Flags::ACK, "ack"),
    ];
    let words: Vec<_> = names.iter().filter(|(flag, _)| flags.has(*flag)).map(|(_, name)| *name).collect();
    words.join(" ")
}
