//! A flow at a proxy that splits connections: data enters through one connection and leaves through another.
//!
//! A proxy answers a SYN itself and opens the second connection at once (RFC 3135 §2.4, §4.1.1 "spoofing"). It reads
//! data in order while it has room, and keeps it until the next hop has acknowledged it. When its buffer is full it
//! does not read: data that arrives then occupies the receive buffer, and the window closes to the sender. Each end
//! closes when the other end's peer has closed and nothing is left; the failure of one connection resets the other.

use lightlag_core::Instant;
use lightlag_net::EndpointId;
use lightlag_transport::{Endpoint, Failure, Status, Stream};

/// A flow at a proxy.
#[derive(Debug)]
pub(crate) struct Relay {
    /// Its two endpoints.
    pub(crate) entry: EndpointId,
    pub(crate) exit: EndpointId,
    /// Index of the proxy.
    pub(crate) proxy: u32,
    /// Size of its buffer in bytes.
    limit: u64,
    stage: Stage,
    /// Bytes read so far.
    read: u64,
    /// Bytes in the buffer, since `since`.
    kept: u64,
    since: Instant,
    /// Instant at which it opened the second connection.
    opened: Instant,
    /// ∫ kept dt, in byte-nanoseconds.
    integral: u128,
    most: u64,
    /// Bytes that it had acknowledged when it crashed.
    confirmed: u64,
}

/// The progress of a relay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// No connection came yet.
    Waiting,
    /// Data passes.
    Open,
    /// All data has left or will, and then the FIN.
    Closing,
    /// One connection failed, and the other was reset.
    Failed,
    /// It crashed.
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

    /// Something happened to one of its connections. Returns why the flow has failed, if it did just now.
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

    /// Keeps this many bytes from now on.
    fn keep(&mut self, now: Instant, bytes: u64) {
        debug_assert!(bytes <= self.limit, "a buffer has a bound");
        self.integral += u128::from(self.kept) * u128::from(now.since(self.since).as_nanos());
        self.since = now;
        self.kept = bytes;
        self.most = self.most.max(bytes);
    }

    /// The proxy crashes: buffer and connections are gone. Returns whether there were any.
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

    /// Bytes that it had acknowledged when it crashed and that the next hop, which has `arrived` bytes, never got.
    pub(crate) fn lost(&self, arrived: u64) -> u64 {
        if self.stage == Stage::Crashed { self.confirmed.saturating_sub(arrived) } else { 0 }
    }

    /// Instant at which it opened the second connection, if it did.
    pub(crate) fn opened(&self) -> Option<Instant> {
        (self.stage != Stage::Waiting).then_some(self.opened)
    }

    /// The most bytes that it ever kept.
    pub(crate) fn most(&self) -> u64 {
        self.most
    }

    /// Mean of the bytes kept from when it opened the second connection until `end`.
    pub(crate) fn mean(&self, end: Instant) -> f64 {
        let rest = u128::from(self.kept) * u128::from(end.since(self.since).as_nanos());
        let time = end.since(self.opened).as_nanos();
        if self.stage == Stage::Waiting || time == 0 { 0.0 } else { (self.integral + rest) as f64 / time as f64 }
    }
}
