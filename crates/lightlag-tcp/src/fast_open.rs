//! TCP Fast Open between two hosts: what the client remembers, and what the server gives (RFC 7413).
//!
//! The host owns the [`Jar`] of each pair. A connection has a copy from before its SYN leaves; what the SYN-ACK teaches, a
//! [`Lesson`], goes back to the host and into the jar.

use crate::segment::{Cookie, Segment};
use lightlag_core::Instant;

/// Options of a SYN at most, for which data leaves room (as Linux; RFC 7413 §4.2.1 counts the real ones).
const OPTIONS: u32 = 40;

/// Cookie of a server for a client, and what the client knows of the server: one for all connections between the two.
#[derive(Clone, Copy, Debug, Default)]
pub struct Jar {
    /// What the server gives and takes; `None` where only the client is ours.
    given: Option<Cookie>,
    known: Known,
}

/// What a client remembers of a server (RFC 7413 §4.1.3).
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    cookie: Option<Cookie>,
    /// The server's MSS; 0 before a client knows it.
    mss: u16,
    request: Request,
}

/// In which form a client asks for a cookie: once in that of the experiments, if the RFC's brought none (as Linux).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Request {
    #[default]
    Usual,
    Experimental,
    UsualForGood,
}

impl Jar {
    /// The cookie that this server gives to this client, which does not know it yet.
    pub fn new(cookie: Cookie) -> Self {
        Self { given: Some(cookie), known: Known::default() }
    }

    /// The client knows the server's cookie, and its MSS in bytes.
    pub fn learn(&mut self, mss: u16) {
        (self.known.cookie, self.known.mss) = (self.given, mss);
    }

    /// The client knows what a SYN-ACK taught.
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

    /// What a SYN of this connection carries, if it is opened fast, where so many bytes wait to leave.
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
    /// The cookie that the SYN carried, and the one that came back.
    shown: Option<Cookie>,
    brought: Option<Cookie>,
    /// The SYN left more than once.
    repeated: bool,
}

/// How one connection is opened fast.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// Data needs no cookie at all: the client shows none, and the server asks for none.
    pub without_cookie: bool,
    /// A client that has nothing to send shows its cookie all the same, and the application of a server gets a connection
    /// without data before the handshake ends.
    pub without_data: bool,
    /// A client's application waits for the handshake to write more: the ACK of the SYN-ACK waits for that.
    pub writer_waits: bool,
    /// Server: a cookie that is still taken, and replaced by a new one.
    pub retired: Option<Cookie>,
}

/// The cookie of a client's SYN, and how many bytes of data go with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Early {
    /// `None` where none is needed.
    pub cookie: Option<Cookie>,
    /// Bytes of payload.
    pub len: u32,
}

/// Why the data of a client's SYN was of no use, as TCP_INFO of Linux tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Refusal {
    /// It was of use, or there was none.
    #[default]
    None,
    /// There was no cookie, so no data left.
    NoCookie,
    /// The server did not take all of it.
    NotAcknowledged,
    /// The SYN had to be repeated.
    Repeated,
}

/// What became of a fast open.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    /// Our SYN asked for a cookie, or carried one or data.
    pub tried: bool,
    /// Bytes of data that left with our SYN.
    pub sent: u32,
    /// The peer took all data of our SYN, or we took data with its SYN (TCPI_OPT_SYN_DATA of Linux).
    pub taken: bool,
    /// Why it did not.
    pub refusal: Refusal,
    /// So many timeouts followed that something on the path may swallow what opens fast.
    pub swallowed: bool,
    /// Client: a lesson for the host's jar, until it is taken.
    pub(crate) lesson: Option<Lesson>,
}

/// Fast open at one end of a connection.
#[derive(Debug)]
pub(crate) struct FastOpen {
    jar: Jar,
    rules: Rules,
    /// Client: what left with the SYN; `None` before.
    offered: Option<Early>,
    /// Server: the cookie that the SYN asked for, or that takes the place of a wrong one.
    grants: Option<Cookie>,
    /// Server: the SYN was taken, and nothing arrived since then.
    unconfirmed: bool,
    /// Server: when the first SYN-ACK left, and whether it left again.
    answered: Option<(Instant, bool)>,
}

impl FastOpen {
    pub(crate) fn new(jar: Jar, rules: Rules) -> Self {
        Self { jar, rules, offered: None, grants: None, unconfirmed: false, answered: None }
    }

    /// Of the same hosts, for another connection.
    pub(crate) fn anew(self) -> Self {
        Self::new(self.jar, self.rules)
    }

    /// Client: what the first SYN carries where so many bytes wait to leave. `None` for a SYN as any other, and for all that
    /// follow it.
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

    /// Client: whether data of a SYN-ACK is taken: of a server that was shown a cookie or asked for one (as Linux).
    pub(crate) fn takes_data(&self) -> bool {
        self.offered.is_some_and(|early| early.cookie.is_some())
    }

    /// Client: whether no data left because there was no cookie.
    pub(crate) fn lacks_cookie(&self) -> bool {
        self.offered.and_then(|early| early.cookie).is_some_and(|cookie| cookie.is_request())
    }

    /// Client: whether more is written as soon as the SYN-ACK is there.
    pub(crate) fn writer_waits(&self) -> bool {
        self.rules.writer_waits
    }

    /// Client: until its SYN leaves, it knows what its host knows.
    pub(crate) fn remember(&mut self, jar: Jar) {
        if self.offered.is_none() {
            self.jar = jar;
        }
    }

    /// Client: the SYN-ACK tells the server's MSS, and may bring a cookie. `repeated`: the SYN left more than once.
    pub(crate) fn take_answer(&mut self, segment: &Segment, repeated: bool) -> Option<Lesson> {
        let shown = self.offered?.cookie;
        let mss = segment.syn_options().mss.unwrap_or(crate::DEFAULT_MSS);
        Some(Lesson { mss, shown, brought: segment.cookie(), repeated })
    }

    /// Server: whether the application has the connection before its handshake ends, with the data of this SYN.
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

    /// Server: a SYN-ACK leaves.
    pub(crate) fn answers(&mut self, now: Instant) {
        self.answered = Some(self.answered.map_or((now, false), |(first, _)| (first, true)));
    }

    /// Server: the client's ACK is there. When the SYN-ACK left, and whether it did so twice.
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
