//! A flow at a proxy that splits connections: data arrives on one connection and is forwarded on another.
//!
//! A proxy acknowledges a SYN itself, and immediately opens the second connection (RFC 3135 §2.4, §4.1.1 "spoofing").
//! It reads data in order until its buffer is full, and stores the data until the next hop has acknowledged it. When
//! the buffer is full, the proxy stops reading: data that arrives then fills the receive buffer, and the window towards
//! the sender closes. Each endpoint closes when the peer of the other endpoint has closed and no data is left. If one
//! connection fails, the other is reset.

use lightlag_core::Instant;
use lightlag_net::EndpointId;
use lightlag_transport::{Endpoint, Failure, Status, Stream};

/// A flow at a proxy.
#[derive(Debug)]
pub(crate) struct Relay {
    /// The two endpoints of the proxy: towards the sender, and towards the receiver.
    pub(crate) entry: EndpointId,
    pub(crate) exit: EndpointId,
    /// Index of the proxy.
    pub(crate) proxy: u32,
    /// Size of the proxy's buffer in bytes.
    limit: u64,
    stage: Stage,
    /// Number of bytes read so far.
    read: u64,
    /// Number of bytes in the buffer. It last changed at `since`.
    kept: u64,
    since: Instant,
    /// Opening time of the second connection.
    opened: Instant,
    /// Integral of `kept` over time, in byte-nanoseconds.
    integral: u128,
    most: u64,
    /// Number of bytes that the proxy had acknowledged when it crashed.
    confirmed: u64,
}

/// State of a relay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Waiting for the connection from the sender's side.
    Waiting,
    /// Both connections are open and pass data.
    Open,
    /// Closing: the FIN follows the data that is left.
    Closing,
    /// One connection failed, and the other was reset.
    Failed,
    /// The proxy crashed, and has no connections.
    Crashed,
}

impl Relay {
    pub(crate) fn new([entry, exit]: [EndpointId; 2], proxy: u32, limit: u64) -> Self {
        Self {
            entry,
            exit,
            proxy,
            limit,
            stage: Stage::Waiting,
            read: 0,
            kept: 0,
            since: Instant::ZERO,
            opened: Instant::ZERO,
            integral: 0,
            most: 0,
            confirmed: 0,
        }
    }

    /// Handles an event of one of the connections. Returns the reason if the flow has just failed.
    pub(crate) fn advance<E: Endpoint + Stream>(
        &mut self,
        now: Instant,
        entry: &mut E,
        exit: &mut E,
    ) -> Option<Failure> {
        match self.stage {
            Stage::Failed | Stage::Crashed => return None,
            Stage::Waiting if entry.status() == Status::Listening => return None,
            Stage::Waiting => {
                exit.open(now);
                (self.opened, self.since) = (now, now);
                self.stage = Stage::Open;
            }
            Stage::Open | Stage::Closing => {}
        }
        if let Some(failure) = entry.failure().or(exit.failure()) {
            for other in [entry, exit].into_iter().filter(|end| end.status() != Status::Lingering) {
                // The failed connection is gone already: nothing happens to it.
                other.abort();
            }
            self.keep(now, 0);
            self.stage = Stage::Failed;
            return Some(failure);
        }
        self.pass_on(now, entry, exit);
        None
    }

    fn pass_on<E: Endpoint + Stream>(&mut self, now: Instant, entry: &mut E, exit: &mut E) {
        let kept = self.read - exit.acknowledged();
        let bytes = entry.read(self.limit - kept);
        if bytes > 0 {
            exit.write(bytes);
            self.read += bytes;
        }
        self.keep(now, kept + bytes);
        if self.stage == Stage::Open && entry.peer_closed() && entry.unread() == 0 {
            exit.close();
            self.stage = Stage::Closing;
        }
        if exit.peer_closed() && matches!(entry.status(), Status::Open | Status::PeerClosed) {
            entry.close();
        }
    }

    /// Sets the number of bytes in the buffer.
    fn keep(&mut self, now: Instant, bytes: u64) {
        debug_assert!(bytes <= self.limit, "a buffer has a bound");
        self.integral += u128::from(self.kept) * u128::from(now.since(self.since).as_nanos());
        self.since = now;
        self.kept = bytes;
        self.most = self.most.max(bytes);
    }

    /// Crashes the proxy, which loses its buffer and its connections. Returns false if there were no connections.
    pub(crate) fn crash<E: Endpoint + Stream>(&mut self, now: Instant, entry: &mut E, exit: &mut E) -> bool {
        if !matches!(self.stage, Stage::Open | Stage::Closing) {
            return false;
        }
        self.confirmed = entry.confirmed();
        self.keep(now, 0);
        entry.crash();
        exit.crash();
        self.stage = Stage::Crashed;
        true
    }

    /// Returns the number of bytes that the proxy had acknowledged when it crashed, but that never reached the next
    /// hop. `arrived` is the number of bytes that the next hop has received.
    pub(crate) fn lost(&self, arrived: u64) -> u64 {
        if self.stage == Stage::Crashed { self.confirmed.saturating_sub(arrived) } else { 0 }
    }

    /// Returns the opening time of the second connection, if it was opened.
    pub(crate) fn opened(&self) -> Option<Instant> {
        (self.stage != Stage::Waiting).then_some(self.opened)
    }

    /// Returns the maximum number of bytes in the buffer so far.
    pub(crate) fn most(&self) -> u64 {
        self.most
    }

    /// Returns the mean number of bytes in the buffer from the opening of the second connection until `end`.
    pub(crate) fn mean(&self, end: Instant) -> f64 {
        let rest = u128::from(self.kept) * u128::from(end.since(self.since).as_nanos());
        let time = end.since(self.opened).as_nanos();
        if self.stage == Stage::Waiting || time == 0 { 0.0 } else { (self.integral + rest) as f64 / time as f64 }
    }
}
