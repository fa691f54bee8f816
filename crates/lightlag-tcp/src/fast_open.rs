//! TCP Fast Open between two hosts: what the client remembers, and the server's cookie (RFC 7413).
//!
//! A host keeps a [`CookieCache`] for each pair of hosts. A connection gets a copy before its SYN is sent. What it
//! learns from the SYN-ACK, a [`LearnedCookie`], goes back to the host and into the cache.

use crate::segment::{Cookie, Segment};
use lightlag_core::Instant;

/// Space reserved for options in a SYN with data, in bytes (as in Linux; RFC 7413 §4.2.1 reserves only what the options
/// need).
const OPTIONS: u32 = 40;

/// State of fast open between two hosts, shared by all their connections: the server's cookie for the client, and the
/// client's record of the server.
#[derive(Clone, Copy, Debug, Default)]
pub struct CookieCache {
    /// The cookie that the server issues to the client and accepts; `None` if only the client is local.
    given: Option<Cookie>,
    known: ServerRecord,
}

/// A client's record of a server (RFC 7413 §4.1.3).
#[derive(Clone, Copy, Debug, Default)]
struct ServerRecord {
    cookie: Option<Cookie>,
    /// The server's MSS in bytes; 0 if unknown.
    mss: u16,
    request: Request,
}

/// Form in which a client requests a cookie. If a request in the RFC's form brings no cookie, the experimental form is
/// tried once (as in Linux).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Request {
    #[default]
    Usual,
    Experimental,
    UsualForGood,
}

impl CookieCache {
    /// Returns a cache with the cookie that the server will give to a client, which does not have it yet.
    pub fn new(cookie: Cookie) -> Self {
        Self { given: Some(cookie), known: ServerRecord::default() }
    }

    /// Records that the client has the server's cookie, and that the server's MSS is `mss` bytes.
    pub fn learn(&mut self, mss: u16) {
        (self.known.cookie, self.known.mss) = (self.given, mss);
    }

    /// Stores what the client learned from a SYN-ACK.
    pub fn take(&mut self, lesson: LearnedCookie) {
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

    /// Returns the cookie and data for the SYN of a fast open. `waiting` is the amount of data to send, in bytes.
    pub fn early(&self, rules: &FastOpenRules, waiting: u64, mss: u16) -> Early {
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

/// The values that a client learned from the SYN-ACK of a fast open.
#[derive(Clone, Copy, Debug)]
pub struct LearnedCookie {
    /// The server's MSS in bytes.
    mss: u16,
    /// The cookie or request that the client sent in its SYN; [`Self::brought`] is the one in the SYN-ACK.
    shown: Option<Cookie>,
    brought: Option<Cookie>,
    /// Whether the SYN was sent more than once.
    repeated: bool,
}

/// Rules of fast open for one connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct FastOpenRules {
    /// Use fast open without cookies: the client sends none, and the server requires none.
    pub without_cookie: bool,
    /// Use fast open even for a SYN without data: a client sends its cookie anyway, and a server's application gets the
    /// connection before the handshake ends.
    pub without_data: bool,
    /// The client's application writes more data once the handshake is over, so the ACK of the SYN-ACK waits for that
    /// data.
    pub writer_waits: bool,
    /// Server: an older cookie that is still accepted. A client that uses it gets a new one.
    pub retired: Option<Cookie>,
}

/// The cookie and data of a client's SYN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Early {
    /// The cookie, or a request for one; `None` if no cookie is needed.
    pub cookie: Option<Cookie>,
    /// Payload in bytes.
    pub len: u32,
}

/// Reason why data in a client's SYN brought no advantage, as in TCP_INFO of Linux.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Refusal {
    /// The data was accepted, or there was none.
    #[default]
    None,
    /// The client had no cookie, so it sent no data.
    NoCookie,
    /// The server did not accept all of the data.
    NotAcknowledged,
    /// The SYN was retransmitted.
    Repeated,
}

/// Outcome of fast open at one end of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct FastOpenOutcome {
    /// Whether the local SYN requested a cookie, or carried a cookie or data.
    pub tried: bool,
    /// Amount of data in the local SYN, in bytes.
    pub sent: u32,
    /// Whether the peer accepted all data of the local SYN, or this end accepted the data of the peer's SYN
    /// (TCPI_OPT_SYN_DATA of Linux).
    pub taken: bool,
    /// Reason why data in the SYN brought no advantage.
    pub refusal: Refusal,
    /// Whether a middlebox probably drops segments of a fast open, because several timeouts followed.
    pub swallowed: bool,
    /// Client: what was learned from the SYN-ACK, until the host takes it.
    pub(crate) lesson: Option<LearnedCookie>,
}

/// Fast open at one end of a connection.
#[derive(Debug)]
pub(crate) struct FastOpenState {
    jar: CookieCache,
    rules: FastOpenRules,
    /// Client: cookie and data of the SYN; `None` until it is sent.
    offered: Option<Early>,
    /// Server: the cookie to return, because the SYN requested one or had a wrong one.
    grants: Option<Cookie>,
    /// Server: whether the SYN was accepted and the ACK that ends the handshake has not arrived.
    unconfirmed: bool,
    /// Server: time when the first SYN-ACK was sent, and whether it was retransmitted.
    answered: Option<(Instant, bool)>,
}

impl FastOpenState {
    pub(crate) fn new(jar: CookieCache, rules: FastOpenRules) -> Self {
        Self { jar, rules, offered: None, grants: None, unconfirmed: false, answered: None }
    }

    /// Returns the state for a new connection between the same hosts.
    pub(crate) fn anew(self) -> Self {
        Self::new(self.jar, self.rules)
    }

    /// Client: returns the cookie and data of the first SYN. `waiting` is the amount of data to send, in bytes. `None`
    /// if the SYN has neither, and for every later SYN.
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

    /// Client: returns the number of data bytes in the SYN, which the SYN-ACK may acknowledge.
    pub(crate) fn sent(&self) -> u32 {
        self.offered.map_or(0, |early| early.len)
    }

    /// Client: returns true if data in a SYN-ACK is accepted, which is the case if the SYN had a cookie or a cookie
    /// request (as in Linux).
    pub(crate) fn takes_data(&self) -> bool {
        self.offered.is_some_and(|early| early.cookie.is_some())
    }

    /// Client: returns true if no data was sent because there was no cookie.
    pub(crate) fn lacks_cookie(&self) -> bool {
        self.offered.and_then(|early| early.cookie).is_some_and(|cookie| cookie.is_request())
    }

    /// Client: returns true if the application writes more data as soon as the SYN-ACK arrives.
    pub(crate) fn writer_waits(&self) -> bool {
        self.rules.writer_waits
    }

    /// Client: replaces the copy of the host's cache, unless the SYN was already sent.
    pub(crate) fn remember(&mut self, jar: CookieCache) {
        if self.offered.is_none() {
            self.jar = jar;
        }
    }

    /// Client: reads the server's MSS, and possibly a cookie, from the SYN-ACK. `repeated` is true if the SYN was sent
    /// more than once.
    pub(crate) fn take_answer(&mut self, segment: &Segment, repeated: bool) -> Option<LearnedCookie> {
        let shown = self.offered?.cookie;
        let mss = segment.syn_options().mss.unwrap_or(crate::DEFAULT_MSS);
        Some(LearnedCookie { mss, shown, brought: segment.cookie(), repeated })
    }

    /// Server: returns true if the application gets the connection, with the data of this SYN, before the handshake
    /// ends.
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

    /// Server: returns the cookie to send in the SYN-ACK.
    pub(crate) fn grant(&self) -> Option<Cookie> {
        self.grants
    }

    /// Server: returns true if the SYN was accepted and the ACK that ends the handshake has not arrived.
    pub(crate) fn is_unconfirmed(&self) -> bool {
        self.unconfirmed
    }

    /// Server: records that a SYN-ACK is sent.
    pub(crate) fn answers(&mut self, now: Instant) {
        self.answered = Some(self.answered.map_or((now, false), |(first, _)| (first, true)));
    }

    /// Server: handles the ACK that ends the handshake. Returns the time of the first SYN-ACK, and whether it was
    /// retransmitted.
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

    fn jar() -> CookieCache {
        CookieCache::new(cookie())
    }

    fn client(jar: &CookieCache) -> FastOpenState {
        FastOpenState::new(*jar, FastOpenRules::default())
    }

    fn answer(mss: u16) -> Segment {
        let answer = Segment::new(SeqNumber(0), SeqNumber(1), 0, Flags::SYN.with(Flags::ACK));
        answer.with_syn_options(SynOptions { mss: Some(mss), ..SynOptions::default() })
    }

    #[test]
    fn the_first_syn_requests_a_cookie_and_the_next_ones_carry_data() {
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
        let rules = FastOpenRules { without_data: true, ..FastOpenRules::default() };
        assert_eq!(FastOpenState::new(jar, rules).offer(0, 1_460).unwrap().len, 0);
    }

    #[test]
    fn a_server_without_cookies_gets_one_request_in_the_form_of_the_experiments() {
        let mut jar = CookieCache::default();
        let mut requests = Vec::new();
        for _ in 0..4 {
            let mut next = client(&jar);
            requests.push(next.offer(1, 1_460).unwrap().cookie.unwrap());
            jar.take(next.take_answer(&answer(1_000), false).unwrap());
        }
        assert!(requests.iter().all(Cookie::is_request));
        assert_eq!(requests.iter().map(Cookie::is_experimental).collect::<Vec<_>>(), [false, true, false, false]);
    }

    #[test]
    fn without_cookies_only_the_mss_is_cached_and_no_request_is_sent() {
        let rules = FastOpenRules { without_cookie: true, ..FastOpenRules::default() };
        let mut jar = CookieCache::default();
        let mut first = FastOpenState::new(jar, rules);
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
        let early = FastOpenRules { without_data: true, ..FastOpenRules::default() };
        assert!(FastOpenState::new(jar(), early).take_syn(&syn.with_cookie(cookie())));
    }

    #[test]
    fn a_retired_cookie_is_taken_and_replaced() {
        let old = Cookie::new(&[9, 8, 7, 6]).unwrap();
        let mut data = Segment::new(SeqNumber(0), SeqNumber(0), 0, Flags::SYN);
        data.len = 10;
        let rules = FastOpenRules { retired: Some(old), ..FastOpenRules::default() };
        let mut end = FastOpenState::new(jar(), rules);
        assert!(end.take_syn(&data.with_cookie(old)));
        assert_eq!(end.grant(), Some(cookie()));
        let mut end = FastOpenState::new(jar(), FastOpenRules { without_cookie: true, ..FastOpenRules::default() });
        assert!(end.take_syn(&data) && end.grant().is_none());
    }
}
