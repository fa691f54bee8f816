//! A flow at a proxy that splits connections: data arrives on one connection and is forwarded on another.
//!
//! A proxy acknowledges a SYN itself, and immediately opens the second connection (RFC 3135 §2.4, §4.1.1 "spoofing").
//! It reads data in order until its buffer is full, and stores the data until the next hop has acknowledged it. When
//! the buffer is full, the proxy stops reading: data that arrives then fills the receive buffer, and the window towards
//! the sender closes. Each endpoint closes when the peer of the other endpoint has closed and no data is left. If one
//! connection fails, the other is reset.
//!
//! A connection between two proxies may come from a pool: it is opened at the start of the run. The proxy that takes it
//! for a flow writes a header with the addresses of the flow, and the other one opens the next connection when the
//! header has arrived.
//!
//! The receiver of a dialogue opens the connections, and its requests pass in the opposite direction, with a buffer of
//! the same size.

use lightlag_core::Instant;
use lightlag_net::EndpointId;
use lightlag_transport::{Endpoint, Failure, Status, Stream};

/// Size of the header of a flow on a connection from a pool: two IPv6 addresses.
pub(crate) const HEADER: u64 = 32;

/// The connections of a relay that come from a pool, in the order in which connections are opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Pooled {
    /// Whether the connection from the end that opens the flow does.
    pub(crate) first: bool,
    /// Whether the next connection does.
    pub(crate) second: bool,
}

impl Pooled {
    fn header(is_pooled: bool) -> u64 {
        if is_pooled { HEADER } else { 0 }
    }
}

/// A flow at a proxy.
#[derive(Debug)]
pub(crate) struct Relay {
    /// The two endpoints of the proxy: towards the sender, and towards the receiver.
    pub(crate) entry: EndpointId,
    pub(crate) exit: EndpointId,
    /// Index of the proxy.
    pub(crate) proxy: u32,
    /// Maximum number of bytes in each buffer.
    limit: u64,
    stage: Stage,
    pooled: Pooled,
    /// Opening time of the second connection, or time when it was taken from its pool.
    opened: Instant,
    /// Data of the flow, from the entry to the exit.
    data: Passage,
    /// Requests of a dialogue, from the exit to the entry; `None` for other flows.
    requests: Option<Box<Passage>>,
    /// Number of bytes of the flow that the proxy had acknowledged when it crashed.
    confirmed: u64,
}

/// State of a relay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Waiting for the first connection.
    Waiting,
    /// Both connections are open and pass data, or are closing.
    Open,
    /// One connection failed, and the other was reset.
    Failed,
    /// The proxy crashed, and has no connections.
    Crashed,
}

/// The bytes that pass in one direction.
#[derive(Debug, Default)]
struct Passage {
    /// Number of bytes read so far, and size of the header written before them.
    read: u64,
    header: u64,
    /// Number of bytes in the buffer. It last changed at `since`.
    kept: u64,
    since: Instant,
    /// Integral of `kept` over time, in byte-nanoseconds.
    integral: u128,
    most: u64,
    /// Whether a FIN follows the data that is left.
    is_closing: bool,
}

impl Passage {
    /// Reads as many bytes as fit into the buffer, and writes them to the next connection.
    fn pass_on<E: Stream>(&mut self, now: Instant, limit: u64, from: &mut E, to: &mut E) {
        let kept = self.header + self.read - to.acknowledged();
        let bytes = from.read(limit - kept);
        if bytes > 0 {
            to.write(bytes);
            self.read += bytes;
        }
        debug_assert!(kept + bytes <= limit, "a buffer has a bound");
        self.keep(now, kept + bytes);
    }

    /// Sets the number of bytes in the buffer.
    fn keep(&mut self, now: Instant, bytes: u64) {
        self.integral += u128::from(self.kept) * u128::from(now.since(self.since).as_nanos());
        self.since = now;
        self.kept = bytes;
        self.most = self.most.max(bytes);
    }

    /// Closes the next connection after the last byte, if the peer of `from` has closed.
    fn close_after<E: Stream>(&mut self, from: &E, to: &mut E) {
        if !self.is_closing && from.peer_closed() && from.unread() == 0 {
            to.close();
            self.is_closing = true;
        }
    }
}

impl Relay {
    /// Returns the relay between two endpoints. In a dialogue, bytes pass in both directions, and the connection from
    /// the receiver opens the one to the sender.
    pub(crate) fn new(
        [entry, exit]: [EndpointId; 2],
        proxy: u32,
        limit: u64,
        is_dialogue: bool,
        pooled: Pooled,
    ) -> Self {
        Self {
            entry,
            exit,
            proxy,
            limit,
            stage: Stage::Waiting,
            pooled,
            opened: Instant::ZERO,
            data: Passage::default(),
            requests: is_dialogue.then(Box::default),
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
            Stage::Waiting => {
                let is_dialogue = self.requests.is_some();
                let [first, second] = if is_dialogue { [&mut *exit, &mut *entry] } else { [&mut *entry, &mut *exit] };
                if self.pooled.second && second.status() == Status::Closed && second.failure().is_none() {
                    second.open(now);
                }
                let header = Pooled::header(self.pooled.first);
                if first.status() == Status::Listening || first.received() < header {
                    return None;
                }
                first.read(header);
                if !self.pooled.second {
                    second.open(now);
                } else if !second.is_over() {
                    second.write(HEADER);
                }
                let onward = self.requests.as_deref_mut().unwrap_or(&mut self.data);
                onward.header = Pooled::header(self.pooled.second);
                self.opened = now;
                self.data.since = now;
                if let Some(requests) = &mut self.requests {
                    requests.since = now;
                }
                self.stage = Stage::Open;
            }
            Stage::Open => {}
        }
        if let Some(failure) = entry.failure().or(exit.failure()) {
            for other in [entry, exit].into_iter().filter(|end| end.status() != Status::Lingering) {
                // The failed connection is gone already: nothing happens to it.
                other.abort();
            }
            self.empty(now);
            self.stage = Stage::Failed;
            return Some(failure);
        }
        self.data.pass_on(now, self.limit, entry, exit);
        self.data.close_after(entry, exit);
        match &mut self.requests {
            Some(requests) => {
                requests.pass_on(now, self.limit, exit, entry);
                requests.close_after(exit, entry);
                // A client that closes before it sends anything never reaches the server.
                if requests.is_closing && !self.data.is_closing && entry.status() == Status::Closed {
                    exit.close();
                    self.data.is_closing = true;
                }
            }
            None => {
                if exit.peer_closed() && matches!(entry.status(), Status::Open | Status::PeerClosed) {
                    entry.close();
                }
            }
        }
        None
    }

    /// Empties the buffers, whose content is lost.
    fn empty(&mut self, now: Instant) {
        self.data.keep(now, 0);
        if let Some(requests) = &mut self.requests {
            requests.keep(now, 0);
        }
    }

    /// Crashes the proxy, which loses its buffers and its connections. Returns false if there were no connections.
    pub(crate) fn crash<E: Endpoint + Stream>(&mut self, now: Instant, entry: &mut E, exit: &mut E) -> bool {
        if self.stage != Stage::Open {
            return false;
        }
        self.confirmed = entry.confirmed();
        self.empty(now);
        entry.crash();
        exit.crash();
        self.stage = Stage::Crashed;
        true
    }

    /// Returns the number of bytes of the flow that the proxy had acknowledged when it crashed, but that never reached
    /// the next hop. `arrived` is the number of bytes that the next hop has received.
    pub(crate) fn lost(&self, arrived: u64) -> u64 {
        if self.stage == Stage::Crashed { self.confirmed.saturating_sub(arrived) } else { 0 }
    }

    /// Returns the endpoint whose connection is opened in advance, if there is one.
    pub(crate) fn pool_opener(&self) -> Option<EndpointId> {
        let opener = if self.requests.is_some() { self.entry } else { self.exit };
        self.pooled.second.then_some(opener)
    }

    /// Returns the sizes of the headers that precede the data of the flow at the entry and at the exit.
    pub(crate) fn data_headers(&self) -> [u64; 2] {
        let Pooled { first, second } = self.pooled;
        if self.requests.is_some() { [0, 0] } else { [first, second].map(Pooled::header) }
    }

    /// Returns the opening time of the second connection, or when it was taken from its pool, if it was.
    pub(crate) fn opened(&self) -> Option<Instant> {
        (self.stage != Stage::Waiting).then_some(self.opened)
    }

    /// Returns the maximum number of bytes of the flow in the buffer so far, including a header.
    pub(crate) fn most(&self) -> u64 {
        self.data.most
    }

    /// Returns the number of bytes of requests that the proxy has forwarded, and the maximum number in their buffer.
    pub(crate) fn requests(&self) -> (u64, u64) {
        self.requests.as_deref().map_or((0, 0), |passage| (passage.read, passage.most))
    }

    /// Returns the mean number of bytes of the flow in the buffer from the opening of the second connection until
    /// `end`.
    pub(crate) fn mean(&self, end: Instant) -> f64 {
        let Passage { kept, since, integral, .. } = self.data;
        let rest = u128::from(kept) * u128::from(end.since(since).as_nanos());
        let time = end.since(self.opened).as_nanos();
        if self.stage == Stage::Waiting || time == 0 { 0.0 } else { (integral + rest) as f64 / time as f64 }
    }
}
