//! TCP Fast Open between two hosts: the client's memory, and the server's cookie (RFC 7413).
//!
//! The host owns the [`Jar`] of each pair. A connection gets a copy before its SYN leaves. The contents of the SYN-ACK,
//! a [`Lesson`], go back to the host and into the jar.

use crate::segment::{Cookie, Segment};
use lightlag_core::Instant;

/// The most bytes of options in a SYN, for which data leaves room (as in Linux; RFC 7413 §4.2.1 counts the actual
/// ones).
const OPTIONS: u32 = 40;

/// The cookie of a server for a client, and the client's knowledge of the server: one for all connections between the
/// two.
#[derive(Clone, Copy, Debug, Default)]
pub struct Jar {
    /// The cookie that the server gives and accepts; `None` if only the client is local.
    given: Option<Cookie>,
    known: Known,
}

/// The memory of a client about a server (RFC 7413 §4.1.3).
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    cookie: Option<Cookie>,
    /// The server's MSS; 0 while unknown.
    mss: u16,
    request: Request,
}

/// The form in which a client requests a cookie: once in that of the experiments, if the RFC's form brought none (as in
/// Linux).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Request {
    #[default]
    Usual,
    Experimental,
    UsualForGood,
}

impl Jar {
    /// The cookie of this server for this client, which does not know it yet.
    pub fn new(cookie: Cookie) -> Self {
        Self { given: Some(cookie), known: Known::default() }
    }

    /// Notes that the client knows the server's cookie, and its MSS in bytes.
    pub fn learn(&mut self, mss: u16) {
        (self.known.cookie, self.known.mss) = (self.given, mss);
    }

    /// Stores the lesson of a SYN-ACK.
    pub fn take(&mut self, lesson: Lesson) {
        let known = &mut self.known;
        known.mss = lesson.mss;
        let Some(shown) = lesson.shown else { return };
        match lesson.brought.filter(|cookie| !cookie.is_request()) {
            Some(cookie) => known.cookie = Some(cookie),
            None if shown.is_request() && lesson.brought.is_none() && !lesson.repeated => {
                known.request = match known.request {
                    Request::Usual => Request::Experimental,
                    _ => Request::UsualForGood,
                };
            }
            None => {}
        }
    }

    /// The cookie and data in the SYN of this connection, if it is opened fast, with this many bytes waiting to leave.
    pub fn early(&self, rules: &Rules, waiting: u64, mss: u16) -> Early {
        let known = self.known;
        let cookie = known.cookie.filter(|_| !rules.without_cookie);
        if cookie.is_none() && !rules.without_cookie {
            let experimental = known.request == Request::Experimental;
            return Early { cookie: Some(Cookie::REQUEST.in_form(experimental)), len: 0 };
        }
        let mss = if known.mss > 0 { known.mss.min(mss) } else { mss };
        let room = u64::from(u32::from(mss).saturating_sub(OPTIONS));
        Early { cookie, len: room.min(waiting) as u32 }
    }
}

/// The news in the SYN-ACK to a SYN that opened fast.
#[derive(Clone, Copy, Debug)]
pub struct Lesson {
    /// The server's MSS.
    mss: u16,
    /// The cookie in the SYN, and the one that came back.
    shown: Option<Cookie>,
    brought: Option<Cookie>,
    /// The SYN was sent more than once.
    repeated: bool,
}

/// The rules by which one connection is opened fast.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// Data needs no cookie: the client shows none, and the server requires none.
    pub without_cookie: bool,
    /// A client without data shows its cookie anyway, and the application of a server gets a connection without data
    /// before the handshake ends.
    pub without_data: bool,
    /// A client's application waits for the handshake to write more, so the ACK of the SYN-ACK waits for that data.
    pub writer_waits: bool,
    /// Server: an older cookie that is still accepted, and replaced by a new one.
    pub retired: Option<Cookie>,
}

/// The cookie of a client's SYN, and the number of data bytes with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Early {
    /// `None` if none is needed.
    pub cookie: Option<Cookie>,
    /// Bytes of payload.
    pub len: u32,
}

/// The reason why data in a client's SYN did not help, as in TCP_INFO of Linux.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Refusal {
    /// It helped, or there was none.
    #[default]
    None,
    /// There was no cookie, so no data left.
    NoCookie,
    /// The server did not accept all of it.
    NotAcknowledged,
    /// The SYN had to be repeated.
    Repeated,
}

/// The outcome of a fast open.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    /// The local SYN requested a cookie, or carried one or data.
    pub tried: bool,
    /// Bytes of data in the local SYN.
    pub sent: u32,
    /// The peer accepted all data of the local SYN, or this end accepted data in the peer's (TCPI_OPT_SYN_DATA of
    /// Linux).
    pub taken: bool,
    /// The reason for a refusal.
    pub refusal: Refusal,
    /// So many timeouts followed that something on the path may swallow segments that open fast.
    pub swallowed: bool,
    /// Client: a lesson for the host's jar, until it is taken.
    pub(crate) lesson: Option<Lesson>,
}

/// Fast open at one end of a connection.
#[derive(Debug)]
pub(crate) struct FastOpen {
    jar: Jar,
    rules: Rules,
    /// Client: the contents of the SYN; `None` before it.
    offered: Option<Early>,
    /// Server: the cookie that the SYN requested, or that replaces a wrong one.
    grants: Option<Cookie>,
    /// Server: the SYN was accepted, and nothing has arrived since.
    unconfirmed: bool,
    /// Server: time of the first SYN-ACK, and whether it was repeated.
    answered: Option<(Instant, bool)>,
}

impl FastOpen {
    pub(crate) fn new(jar: Jar, rules: Rules) -> Self {
        Self { jar, rules, offered: None, grants: None, unconfirmed: false, answered: None }
    }

    /// The state for another connection of the same hosts.
    pub(crate) fn anew(self) -> Self {
        Self::new(self.jar, self.rules)
    }

    /// Client: the cookie and data of the first SYN, with this many bytes waiting to leave. `None` for a plain SYN, and
    /// for all later ones.
    pub(crate) fn offer(&mut self, waiting: u64, mss: u16) -> Option<Early> {
        if self.offered.is_some() {
            return None;
        }
        let early = self.jar.early(&self.rules, waiting, mss);
        let asks = early.cookie.is_some_and(|cookie| cookie.is_request());
        if early.len == 0 && !asks && !self.rules.without_data {
            return None;
        }
        self.offered = Some(early);
        Some(early)
    }

    /// Client: bytes that may be acknowledged with the SYN.
    pub(crate) fn sent(&self) -> u32 {
        self.offered.map_or(0, |early| early.len)
    }

    /// Client: whether data in a SYN-ACK is accepted: from a server that was shown a cookie or asked for one (as in
    /// Linux).
    pub(crate) fn takes_data(&self) -> bool {
        self.offered.is_some_and(|early| early.cookie.is_some())
    }

    /// Client: whether no data left for want of a cookie.
    pub(crate) fn lacks_cookie(&self) -> bool {
        self.offered.and_then(|early| early.cookie).is_some_and(|cookie| cookie.is_request())
    }

    /// Client: whether the application writes more as soon as the SYN-ACK arrives.
    pub(crate) fn writer_waits(&self) -> bool {
        self.rules.writer_waits
    }

    /// Client: updates the host's knowledge until the SYN leaves.
    pub(crate) fn remember(&mut self, jar: Jar) {
        if self.offered.is_none() {
            self.jar = jar;
        }
    }

    /// Client: reads the server's MSS, and perhaps a cookie, from the SYN-ACK. `repeated`: the SYN left more than once.
    pub(crate) fn take_answer(&mut self, segment: &Segment, repeated: bool) -> Option<Lesson> {
        let shown = self.offered?.cookie;
        let mss = segment.syn_options().mss.unwrap_or(crate::DEFAULT_MSS);
        Some(Lesson { mss, shown, brought: segment.cookie(), repeated })
    }

    /// Server: whether the application gets the connection, with the data of this SYN, before its handshake ends.
    pub(crate) fn take_syn(&mut self, segment: &Segment) -> bool {
        let Some(given) = self.jar.given else { return false };
        let shown = segment.cookie();
        let form = shown.is_some_and(|cookie| cookie.is_experimental());
        let valid = if self.rules.without_cookie {
            shown.is_some() || segment.len > 0
        } else {
            let Some(shown) = shown else { return false };
            let is = |cookie: Cookie| cookie.bytes() == shown.bytes();
            self.grants = (!is(given)).then_some(given.in_form(form));
            is(given) || !shown.is_request() && self.rules.retired.is_some_and(is)
        };
        self.unconfirmed = valid && (segment.len > 0 || self.rules.without_data);
        self.unconfirmed
    }

    /// Server: the cookie of the SYN-ACK.
    pub(crate) fn grant(&self) -> Option<Cookie> {
        self.grants
    }

    /// Server: whether the client's ACK is still missing.
    pub(crate) fn is_unconfirmed(&self) -> bool {
        self.unconfirmed
    }

    /// Server: notes that a SYN-ACK leaves.
    pub(crate) fn answers(&mut self, now: Instant) {
        self.answered = Some(self.answered.map_or((now, false), |(first, _)| (first, true)));
    }

    /// Server: the client's ACK arrived. Returns the time of the SYN-ACK, and whether it was repeated.
    pub(crate) fn confirm(&mut self) -> Option<(Instant, bool)> {
        std::mem::take(&mut self.unconfirmed).then_some(self.answered).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::{Flags, SeqNumber, SynOptions};

    fn cookie() -> Cookie {
        Cookie::new(&[1, 2, 3, 4]).unwrap()
    }

    fn jar() -> Jar {
        Jar::new(cookie())
    }

    fn client(jar: &Jar) -> FastOpen {
        FastOpen::new(*jar, Rules::default())
    }

    fn answer(mss: u16) -> Segment {
        let answer = Segment::new(SeqNumber(0), SeqNumber(1), 0, Flags::SYN.with(Flags::ACK));
        answer.with_syn_options(SynOptions { mss: Some(mss), ..SynOptions::default() })
    }

    #[test]
    fn the_first_syn_asks_and_the_next_ones_carry_data() {
        let mut jar = jar();
        let mut first = client(&jar);
        let early = first.offer(5_000, 1_460).unwrap();
        assert!(early.cookie.unwrap().is_request() && early.len == 0);
        assert!(first.offer(5_000, 1_460).is_none(), "a repeated SYN is a plain one");
        jar.take(first.take_answer(&answer(1_000), true).unwrap());
        assert!(client(&jar).offer(1, 1_460).unwrap().cookie.unwrap().is_request(), "no cookie came");
        jar.take(first.take_answer(&answer(1_000).with_cookie(cookie()), false).unwrap());
        let early = client(&jar).offer(5_000, 1_460).unwrap();
        assert_eq!(early, Early { cookie: Some(cookie()), len: 960 }, "the server's MSS less 40");
        assert_eq!(client(&jar).offer(300, 1_460).unwrap().len, 300);
        assert!(client(&jar).offer(0, 1_460).is_none(), "nothing to send");
        let rules = Rules { without_data: true, ..Rules::default() };
        assert_eq!(FastOpen::new(jar, rules).offer(0, 1_460).unwrap().len, 0);
    }

    #[test]
    fn a_server_without_cookies_is_asked_once_in_the_form_of_the_experiments() {
        let mut jar = Jar::default();
        let mut asked = Vec::new();
        for _ in 0..4 {
            let mut next = client(&jar);
            asked.push(next.offer(1, 1_460).unwrap().cookie.unwrap());
            jar.take(next.take_answer(&answer(1_000), false).unwrap());
        }
        assert!(asked.iter().all(Cookie::is_request));
        assert_eq!(asked.iter().map(Cookie::is_experimental).collect::<Vec<_>>(), [false, true, false, false]);
    }

    #[test]
    fn without_cookies_nothing_is_asked_nor_remembered_but_the_mss() {
        let rules = Rules { without_cookie: true, ..Rules::default() };
        let mut jar = Jar::default();
        let mut first = FastOpen::new(jar, rules);
        assert_eq!(first.offer(5_000, 1_460), Some(Early { cookie: None, len: 1_420 }));
        jar.take(first.take_answer(&answer(1_000).with_cookie(cookie()), false).unwrap());
        assert_eq!(jar.early(&rules, 5_000, 1_460), Early { cookie: None, len: 960 });
        assert!(client(&jar).offer(5_000, 1_460).unwrap().cookie.unwrap().is_request(), "an unsolicited cookie");
    }

    #[test]
    fn only_the_right_cookie_counts() {
        let syn = Segment::new(SeqNumber(0), SeqNumber(0), 0, Flags::SYN);
        let mut data = syn;
        data.len = 10;
        let mut end = client(&jar());
        assert!(!end.take_syn(&data) && end.grant().is_none(), "no option, no cookie");
        for wrong in [Cookie::REQUEST, Cookie::new(&[1, 2, 3, 5]).unwrap(), Cookie::REQUEST.in_form(true)] {
            let mut end = client(&jar());
            assert!(!end.take_syn(&data.with_cookie(wrong)));
            assert_eq!(end.grant(), Some(cookie().in_form(wrong.is_experimental())));
        }
        assert!(end.take_syn(&data.with_cookie(cookie())));
        assert_eq!((end.grant(), end.is_unconfirmed()), (None, true));
        assert!(client(&jar()).take_syn(&data.with_cookie(cookie().in_form(true))));
        assert!(!client(&jar()).take_syn(&syn.with_cookie(cookie())), "nothing for the application");
        let early = Rules { without_data: true, ..Rules::default() };
        assert!(FastOpen::new(jar(), early).take_syn(&syn.with_cookie(cookie())));
    }

    #[test]
    fn a_retired_cookie_is_taken_and_replaced() {
        let old = Cookie::new(&[9, 8, 7, 6]).unwrap();
        let mut data = Segment::new(SeqNumber(0), SeqNumber(0), 0, Flags::SYN);
        data.len = 10;
        let rules = Rules { retired: Some(old), ..Rules::default() };
        let mut end = FastOpen::new(jar(), rules);
        assert!(end.take_syn(&data.with_cookie(old)));
        assert_eq!(end.grant(), Some(cookie()));
        let mut end = FastOpen::new(jar(), Rules { without_cookie: true, ..Rules::default() });
        assert!(end.take_syn(&data) && end.grant().is_none());
    }
}
