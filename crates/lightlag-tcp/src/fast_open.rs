//! TCP Fast Open between two hosts: what the client remembers, and what the server gives (RFC 7413).

use crate::segment::{Cookie, Segment};
use lightlag_core::Instant;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Options of a SYN at most, for which data leaves room (as Linux; RFC 7413 §4.2.1 counts the real ones).
const OPTIONS: u32 = 40;

/// Cookie of a server for a client, and whether the client knows it: shared by all connections between the two.
#[derive(Clone, Debug)]
pub struct Jar(Arc<Contents>);

#[derive(Debug)]
struct Contents {
    cookie: Cookie,
    /// The server's MSS, which a client remembers with its cookie (RFC 7413 §4.1.3); 0 before it knows one.
    mss: AtomicU32,
}

impl Jar {
    /// The cookie that this server gives to this client, which does not know it yet.
    pub fn new(cookie: Cookie) -> Self {
        Self(Arc::new(Contents { cookie, mss: AtomicU32::new(0) }))
    }

    /// The client remembers the cookie, and the server's MSS in bytes.
    pub fn learn(&self, mss: u16) {
        self.0.mss.store(mss.into(), Ordering::Relaxed);
    }

    /// The cookie and the server's MSS, if the client knows them.
    fn known(&self) -> Option<(Cookie, u32)> {
        let mss = self.0.mss.load(Ordering::Relaxed);
        (mss > 0).then_some((self.0.cookie, mss))
    }
}

/// Fast open at one end of a connection.
#[derive(Debug)]
pub(crate) struct FastOpen {
    jar: Jar,
    /// Client: bytes that left with the SYN.
    sent: u32,
    /// Server: the SYN asked for a cookie, or had a wrong one.
    grants: bool,
    /// Server: data came with the SYN, and nothing since then.
    unconfirmed: bool,
    /// Server: when the first SYN-ACK left, and whether it left again.
    answered: Option<(Instant, bool)>,
}

/// The early data and cookie of a client's SYN.
pub(crate) struct Early {
    pub(crate) cookie: Cookie,
    /// Bytes of payload.
    pub(crate) len: u32,
}

impl FastOpen {
    pub(crate) fn new(jar: Jar) -> Self {
        Self { jar, sent: 0, grants: false, unconfirmed: false, answered: None }
    }

    /// Of the same hosts, for another connection.
    pub(crate) fn anew(self) -> Self {
        Self::new(self.jar)
    }

    /// Client: what the first SYN carries where so many bytes wait to leave. `None` for a SYN as any other.
    pub(crate) fn offer(&mut self, waiting: u64, mss: u16) -> Option<Early> {
        let Some((cookie, known)) = self.jar.known() else {
            return Some(Early { cookie: Cookie::REQUEST, len: 0 });
        };
        let room = known.min(mss.into()).saturating_sub(OPTIONS);
        self.sent = u64::from(room).min(waiting) as u32;
        (self.sent > 0).then_some(Early { cookie, len: self.sent })
    }

    /// Client: bytes that may be acknowledged with the SYN.
    pub(crate) fn sent(&self) -> u32 {
        self.sent
    }

    /// Client: the SYN-ACK may bring a cookie.
    pub(crate) fn take_answer(&mut self, segment: &Segment) {
        if segment.cookie().is_some_and(|cookie| !cookie.is_request()) {
            self.jar.learn(segment.syn_options().mss.unwrap_or(crate::DEFAULT_MSS));
        }
    }

    /// Server: whether the data of this SYN is taken.
    pub(crate) fn take_syn(&mut self, segment: &Segment) -> bool {
        let Some(cookie) = segment.cookie() else { return false };
        let valid = cookie == self.jar.0.cookie;
        self.grants = !valid;
        self.unconfirmed = valid && segment.len > 0;
        self.unconfirmed
    }

    /// Server: the cookie of the SYN-ACK.
    pub(crate) fn grant(&self) -> Option<Cookie> {
        self.grants.then_some(self.jar.0.cookie)
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

    fn jar() -> Jar {
        Jar::new(Cookie::new(&[1, 2, 3, 4]).unwrap())
    }

    #[test]
    fn the_first_syn_asks_and_the_next_ones_carry_data() {
        let jar = jar();
        let mut first = FastOpen::new(jar.clone());
        let early = first.offer(5_000, 1_460).unwrap();
        assert!(early.cookie.is_request() && early.len == 0);
        let answer = Segment::new(SeqNumber(0), SeqNumber(1), 0, Flags::SYN.with(Flags::ACK));
        let answer = answer.with_syn_options(SynOptions { mss: Some(1_000), ..SynOptions::default() });
        first.take_answer(&answer);
        assert!(FastOpen::new(jar.clone()).offer(1, 1_460).unwrap().cookie.is_request(), "no cookie came");
        first.take_answer(&answer.with_cookie(Cookie::new(&[1, 2, 3, 4]).unwrap()));
        let early = FastOpen::new(jar.clone()).offer(5_000, 1_460).unwrap();
        assert_eq!((early.cookie.bytes(), early.len), (&[1, 2, 3, 4][..], 960), "the server's MSS less 40");
        assert_eq!(FastOpen::new(jar.clone()).offer(300, 1_460).unwrap().len, 300);
        assert!(FastOpen::new(jar).offer(0, 1_460).is_none(), "nothing to send");
    }

    #[test]
    fn only_the_right_cookie_counts() {
        let syn = Segment::new(SeqNumber(0), SeqNumber(0), 0, Flags::SYN);
        let mut data = syn;
        data.len = 10;
        let mut end = FastOpen::new(jar());
        assert!(!end.take_syn(&data) && end.grant().is_none(), "no option, no cookie");
        for wrong in [Cookie::REQUEST, Cookie::new(&[1, 2, 3, 5]).unwrap()] {
            let mut end = FastOpen::new(jar());
            assert!(!end.take_syn(&data.with_cookie(wrong)) && end.grant().is_some());
        }
        assert!(end.take_syn(&data.with_cookie(Cookie::new(&[1, 2, 3, 4]).unwrap())));
        assert_eq!((end.grant(), end.is_unconfirmed()), (None, true));
    }
}
