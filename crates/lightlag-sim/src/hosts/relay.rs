//! A flow at a proxy that splits connections: data arrives on one connection and is forwarded on another.
//!
//! A proxy acknowledges a SYN itself, and immediately opens the second connection (RFC 3135 §2.4, §4.1.1 "spoofing").
//! It reads data in order until its buffer is full, and stores the data until the next hop has acknowledged it. When
//! the buffer is full, the proxy stops reading: data that arrives then fills the receive buffer, and the window towards
//! the sender closes. Each endpoint closes when the peer of the other endpoint has closed and no data is left. If one
//! connection fails, the other is reset.
//!
//! With [`Opens::WhenEstablished`] the proxy opens the second connection when the handshake of the first one is
//! complete, as PEPsal does, which connects after `accept`.
//!
//! A connection between two proxies may come from a pool: it is opened at the start of the run. The proxy that takes it
//! for a flow writes a header with the addresses of the flow, and the other one opens the next connection when the
//! header has arrived.
//!
//! The receiver of a dialogue opens the connections, and its requests pass in the opposite direction, with a buffer of
//! the same size.
//!
//! The connections of HTTP/3 have several streams, and [`streams`] passes each of them on.
//!
//! A pair of proxies that prefetches reads objects instead of passing bytes on: [`Session`](super::session::Session)
//! then decides about the bytes, and a relay only opens, closes and resets its connections. The first of the two may
//! open the connection towards the server before the client has opened its own.

mod streams;

use lightlag_core::Instant;
use lightlag_net::EndpointId;
use lightlag_scenario::Opens;
use lightlag_transport::{Endpoint, Failure, Multiplexed, Priority, Status, Stream};
use streams::StreamPassage;

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
    /// Maximum number of bytes of a read; `None` without a limit.
    read_size: Option<u64>,
    /// Whether a connection has more to read now.
    reads_on: bool,
    stage: Stage,
    pooled: Pooled,
    opens: Opens,
    /// Whether the second connection was opened, or taken from its pool.
    has_second: bool,
    /// Dialogue that decides about the bytes, if the proxy is one of a pair that prefetches.
    pub(crate) reader: Option<u32>,
    /// Opening time of the second connection, or time when it was taken from its pool.
    opened: Instant,
    /// Data of the flow, from the entry to the exit.
    data: Passage,
    /// Requests of a dialogue, from the exit to the entry; `None` for other flows.
    requests: Option<Box<Passage>>,
    /// Streams of both directions, data first; `None` if each connection has one stream.
    streams: Option<Box<[StreamPassage; 2]>>,
    /// Number of bytes of the flow that the proxy had acknowledged when it crashed.
    confirmed: u64,
}

/// The connections of a transport, by their endpoints.
pub(crate) trait Connections {
    /// A connection of the transport.
    type Connection: Endpoint + Stream;

    fn connection(&self, endpoint: EndpointId) -> &Self::Connection;

    fn connection_mut(&mut self, endpoint: EndpointId) -> &mut Self::Connection;

    /// Returns mutable references to two different connections.
    fn connections_mut(&mut self, ends: [EndpointId; 2]) -> [&mut Self::Connection; 2];
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

/// A direction in which bytes pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// From the entry to the exit.
    Data,
    /// From the exit to the entry, in a dialogue.
    Requests,
}

/// The bytes that pass in one direction.
#[derive(Debug, Default)]
struct Passage {
    /// Number of bytes written to the next connection so far, and size of the header written before them.
    written: u64,
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
    /// Reads as many bytes as fit into the buffer, up to `read_size`, and writes them to the next connection. Returns
    /// true if more could be read.
    fn pass_on<E: Stream>(
        &mut self,
        now: Instant,
        limit: u64,
        read_size: Option<u64>,
        from: &mut E,
        to: &mut E,
    ) -> bool {
        let room = self.room(limit, to);
        let most = read_size.map_or(room, |size| room.min(size));
        let bytes = from.read(most);
        self.write(now, bytes, to);
        debug_assert!(self.kept <= limit, "a buffer has a bound");
        most < room && from.unread() > 0
    }

    /// Returns the number of bytes that fit into the buffer.
    fn room<E: Stream>(&self, limit: u64, to: &E) -> u64 {
        limit - (self.header + self.written - to.acknowledged())
    }

    /// Writes bytes to the next connection.
    fn write<E: Stream>(&mut self, now: Instant, bytes: u64, to: &mut E) {
        if bytes > 0 {
            to.write(bytes);
            self.written += bytes;
        }
        self.keep(now, self.header + self.written - to.acknowledged());
    }

    /// Counts bytes that were written to the next connection, and sets the number of bytes in the buffer.
    fn count(&mut self, now: Instant, kept: u64, written: u64) {
        self.written += written;
        self.keep(now, kept);
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
        opens: Opens,
    ) -> Self {
        Self {
            entry,
            exit,
            proxy,
            limit,
            read_size: None,
            reads_on: false,
            stage: Stage::Waiting,
            pooled,
            opens,
            has_second: false,
            reader: None,
            opened: Instant::ZERO,
            data: Passage::default(),
            requests: is_dialogue.then(Box::default),
            streams: None,
            confirmed: 0,
        }
    }

    /// Limits the number of bytes of a read, if `size` is a limit.
    pub(crate) fn read_at_most(&mut self, size: Option<u64>) {
        self.read_size = size;
    }

    /// Returns true once if a connection has more to read now.
    pub(crate) fn reads_on(&mut self) -> bool {
        std::mem::take(&mut self.reads_on)
    }

    /// Makes the relay pass on several streams.
    pub(crate) fn serve_several(&mut self) {
        self.streams = Some(Box::new([StreamPassage::of_responses(), StreamPassage::of_requests()]));
    }

    /// Sets the priority of a stream of responses towards the receiver.
    pub(crate) fn prioritise(&mut self, stream: u64, priority: Priority) {
        if let Some(streams) = &mut self.streams {
            streams[0].prioritise(stream, priority);
        }
    }

    /// Passes on the streams of both directions, if the connections have several.
    pub(crate) fn pass_streams(&mut self, now: Instant, entry: &mut dyn Multiplexed, exit: &mut dyn Multiplexed) {
        if self.stage == Stage::Open
            && let (Some(streams), Some(requests)) = (self.streams.as_deref_mut(), self.requests.as_deref_mut())
        {
            let [data_streams, request_streams] = streams;
            let (kept, written) = data_streams.pass_on(now, self.limit, entry, exit);
            self.data.count(now, kept, written);
            let (kept, written) = request_streams.pass_on(now, self.limit, exit, entry);
            requests.count(now, kept, written);
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
                if self.pooled.second {
                    Self::open_in_advance(now, second);
                }
                if let Some(failure) = second.failure().filter(|_| self.has_second) {
                    first.abort();
                    self.empty(now);
                    self.stage = Stage::Failed;
                    return Some(failure);
                }
                let header = Pooled::header(self.pooled.first);
                if first.status() == Status::Listening || first.received() < header {
                    return None;
                }
                if self.opens == Opens::WhenEstablished {
                    if let Some(failure) = first.failure() {
                        second.abort();
                        self.empty(now);
                        self.stage = Stage::Failed;
                        return Some(failure);
                    }
                    if first.status() == Status::Opening {
                        return None;
                    }
                }
                first.read(header);
                self.open_second(now, second);
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
        if self.streams.is_some() {
            // One end closes the connection for both directions.
            if exit.is_over() && !entry.is_over() {
                entry.close();
            } else if entry.is_over() && !exit.is_over() {
                exit.close();
            }
        } else if self.reader.is_none() {
            self.reads_on = self.data.pass_on(now, self.limit, self.read_size, entry, exit);
            if let Some(requests) = &mut self.requests {
                self.reads_on |= requests.pass_on(now, self.limit, self.read_size, exit, entry);
            }
            self.close(entry, exit);
        }
        None
    }

    /// Opens a connection of a pool that is not open yet.
    fn open_in_advance<E: Endpoint + Stream>(now: Instant, second: &mut E) {
        if second.status() == Status::Closed && second.failure().is_none() {
            second.open(now);
        }
    }

    /// Opens the second connection or takes it from its pool, unless that has been done.
    pub(crate) fn open_second<E: Endpoint + Stream>(&mut self, now: Instant, second: &mut E) {
        if self.has_second {
            return;
        }
        self.has_second = true;
        if self.pooled.second {
            Self::open_in_advance(now, second);
            if !second.is_over() {
                second.write(HEADER);
            }
        } else {
            second.open(now);
        }
        let onward = self.requests.as_deref_mut().unwrap_or(&mut self.data);
        onward.header = Pooled::header(self.pooled.second);
        self.opened = now;
        self.data.since = now;
        if let Some(requests) = &mut self.requests {
            requests.since = now;
        }
    }

    /// Closes each connection after the last byte, if the peer of the other one has closed.
    pub(crate) fn close<E: Endpoint + Stream>(&mut self, entry: &mut E, exit: &mut E) {
        if self.stage != Stage::Open {
            return;
        }
        self.data.close_after(entry, exit);
        match &mut self.requests {
            Some(requests) => {
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
    }

    /// Returns true if both connections were opened and neither has failed.
    pub(crate) fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    /// Returns true if the second connection takes requests: it was opened, and neither connection has failed or was
    /// closed by the first end.
    pub(crate) fn takes_requests(&self) -> bool {
        self.has_second
            && matches!(self.stage, Stage::Open | Stage::Waiting)
            && self.requests.as_ref().is_some_and(|requests| !requests.is_closing)
    }

    /// Returns true if the second connection may still be opened.
    pub(crate) fn is_unopened(&self) -> bool {
        !self.has_second && self.stage == Stage::Waiting
    }

    fn passage(&mut self, way: Way) -> &mut Passage {
        match way {
            Way::Data => &mut self.data,
            Way::Requests => self.requests.as_deref_mut().expect("the relay is part of a dialogue"),
        }
    }

    /// Returns the number of bytes that fit into the buffer of a direction, whose next connection is `to`.
    pub(crate) fn room<E: Stream>(&mut self, way: Way, to: &E) -> u64 {
        let limit = self.limit;
        self.passage(way).room(limit, to)
    }

    /// Returns the size of the buffers in bytes.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// Writes bytes to the next connection of a direction. With 0 bytes, it counts those that have been acknowledged.
    pub(crate) fn write<E: Stream>(&mut self, now: Instant, way: Way, bytes: u64, to: &mut E) {
        self.passage(way).write(now, bytes, to);
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
        let first = if self.requests.is_some() { &*exit } else { &*entry };
        let has_connections = self.stage == Stage::Open
            || self.stage == Stage::Waiting && (self.has_second || first.status() == Status::Opening);
        if !has_connections {
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

    /// Returns the number of bytes that the proxy had acknowledged when it crashed, if it did.
    pub(crate) fn confirmed_at_crash(&self) -> Option<u64> {
        (self.stage == Stage::Crashed).then_some(self.confirmed)
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
        self.has_second.then_some(self.opened)
    }

    /// Returns the maximum number of bytes of the flow in the buffer so far, including a header.
    pub(crate) fn most(&self) -> u64 {
        self.data.most
    }

    /// Returns the number of bytes of requests that the proxy has forwarded, and the maximum number in their buffer.
    pub(crate) fn requests(&self) -> (u64, u64) {
        self.requests.as_deref().map_or((0, 0), |passage| (passage.written, passage.most))
    }

    /// Returns the mean number of bytes of the flow in the buffer from the opening of the second connection until
    /// `end`.
    pub(crate) fn mean(&self, end: Instant) -> f64 {
        let Passage { kept, since, integral, .. } = self.data;
        let rest = u128::from(kept) * u128::from(end.since(since).as_nanos());
        let time = end.since(self.opened).as_nanos();
        if !self.has_second || time == 0 { 0.0 } else { (integral + rest) as f64 / time as f64 }
    }
}
