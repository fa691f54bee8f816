//! The streams of a connection with HTTP/3 (RFC 9114): one for each object, and control streams of both endpoints.
//!
//! A request is a HEADERS frame on a new bidirectional stream of the client, which ends with it. A response is a
//! HEADERS frame and DATA frames. The size of an object contains its field section, as with the other versions of HTTP;
//! the headers of frames are additional.

use super::responses::{Part, Request};
use super::{Session, SessionAction};
use lightlag_core::Instant;
use lightlag_net::EndpointId;
use lightlag_quic::varint;
use lightlag_transport::{Multiplexed, Priority, StreamArrival};
use std::collections::{BTreeMap, BTreeSet};

/// Type of a frame or of a unidirectional stream in bytes: all used ones are below 64 (RFC 9114 §7.2, RFC 9204 §4.2).
const TYPE: u64 = 1;
/// Payload of SETTINGS with three parameters, our choice: QPACK_MAX_TABLE_CAPACITY of 4096 (1 + 2 B),
/// QPACK_BLOCKED_STREAMS of 16 (1 + 1 B) and MAX_FIELD_SECTION_SIZE of 64 KiB (1 + 4 B).
const SETTINGS: u64 = 10;
/// Sizes of an endpoint's unidirectional streams: control with SETTINGS, QPACK encoder and QPACK decoder. Nothing
/// follows on them, because the model has no dynamic table.
const CONTROL: [u64; 3] = [TYPE + TYPE + 1 + SETTINGS, TYPE, TYPE];
/// Part of a response that is its field section in bytes, our choice. It only determines the sizes of frame headers.
const RESPONSE_FIELDS: u64 = 100;
/// Maximum payload of a DATA frame in bytes, our choice: the default of HTTP/2. RFC 9114 has no maximum.
const DATA: u64 = 16_384;
/// First urgency whose objects take turns (RFC 9218 §4.2): images can be displayed in part, other objects cannot.
const INCREMENTAL: u8 = 4;
/// Level of the control streams, above any response.
const CONTROL_LEVEL: i32 = 1;

/// Returns the size of a frame on its stream.
fn frame(payload: u64) -> u64 {
    TYPE + varint::size(payload) + payload
}

/// Returns the size of a response on its stream.
fn response_on_stream(response: u64) -> u64 {
    let fields = response.min(RESPONSE_FIELDS);
    let body = response - fields;
    let rest = body % DATA;
    frame(fields) + body / DATA * frame(DATA) + if rest > 0 { frame(rest) } else { 0 }
}

/// A write on a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StreamWrite {
    /// Stream ID.
    pub(crate) stream: u64,
    pub(crate) bytes: u64,
    /// Whether the stream ends with it.
    pub(crate) is_last: bool,
    pub(crate) priority: Priority,
}

/// Order in which a server sends its responses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// The order of the requests: all have the default priority of RFC 9218 §4, which is not incremental.
    Requests,
    /// The most urgent first. Images take turns.
    Urgency,
    /// All take turns.
    Turns,
}

impl Order {
    fn priority(self, urgency: u8) -> Priority {
        match self {
            Self::Requests => Priority { level: 0, is_incremental: false },
            Self::Urgency => Priority { level: -i32::from(urgency), is_incremental: urgency >= INCREMENTAL },
            Self::Turns => Priority { level: 0, is_incremental: true },
        }
    }
}

/// A request and its response.
#[derive(Debug)]
struct Exchange {
    request: Request,
    /// Size of the response on its stream, and number of bytes of the object that have arrived.
    size: u64,
    arrived: u64,
}

/// The streams of a connection.
#[derive(Debug)]
pub(super) struct Exchanges {
    order: Order,
    /// Number of requests that the server permits, and number of those sent.
    permitted: u64,
    asked: u64,
    /// Outstanding requests and responses by stream ID.
    outstanding: BTreeMap<u64, Exchange>,
    /// Streams of responses that are not written yet, by the time when they are due.
    due: BTreeSet<(Instant, u64)>,
    /// Whether the server has opened its control streams.
    server_is_set_up: bool,
}

impl Exchanges {
    pub(super) fn new(order: Order) -> Self {
        Self {
            order,
            permitted: 0,
            asked: 0,
            outstanding: BTreeMap::new(),
            due: BTreeSet::new(),
            server_is_set_up: false,
        }
    }

    /// Opens the client's control streams.
    pub(super) fn open(&mut self, client: EndpointId, actions: &mut Vec<SessionAction>) {
        control(client, 2, actions);
    }

    /// Records how many requests the server permits in total. Returns true if the number has grown.
    fn permit(&mut self, permitted: u64) -> bool {
        permitted > std::mem::replace(&mut self.permitted, permitted)
    }

    /// Returns true if another request may be sent.
    pub(super) fn permits_request(&self) -> bool {
        self.asked < self.permitted
    }

    /// Sends a request on a new stream.
    pub(super) fn ask(&mut self, request: Request, client: EndpointId, actions: &mut Vec<SessionAction>) {
        let stream = self.asked << 2;
        self.asked += 1;
        let (bytes, priority) = (frame(request.request), Order::Requests.priority(0));
        actions.push(SessionAction::WriteOn(client, StreamWrite { stream, bytes, is_last: true, priority }));
        let size = response_on_stream(request.response);
        self.outstanding.insert(stream, Exchange { request, size, arrived: 0 });
    }

    /// Handles data of a request at the server.
    fn request_arrives(&mut self, now: Instant, arrival: StreamArrival) {
        let Some(Exchange { request, .. }) = self.outstanding.get(&arrival.stream) else { return };
        if arrival.received == frame(request.request) {
            self.due.insert((now + request.server_time, arrival.stream));
        }
    }

    /// Writes the responses that are due, and opens the server's control streams before the first one.
    fn answer(&mut self, now: Instant, server: EndpointId, actions: &mut Vec<SessionAction>) {
        if !std::mem::replace(&mut self.server_is_set_up, true) {
            control(server, 3, actions);
        }
        while let Some((_, stream)) = self.due.first().copied().filter(|(due, _)| *due <= now) {
            self.due.pop_first();
            let Exchange { request, size, .. } = &self.outstanding[&stream];
            let priority = self.order.priority(request.urgency);
            actions.push(SessionAction::WriteOn(server, StreamWrite { stream, bytes: *size, is_last: true, priority }));
        }
        actions.extend(self.due.first().map(|(due, _)| SessionAction::Wake(server, *due)));
    }

    /// Handles data of a response at the client. Returns the bytes of its object, without the headers of frames.
    fn response_arrives(&mut self, arrival: StreamArrival) -> Option<Part> {
        let exchange = self.outstanding.get_mut(&arrival.stream)?;
        let (received, size, response) = (arrival.received, exchange.size, exchange.request.response);
        // The headers of frames are spread over the response.
        let arrived = (u128::from(received) * u128::from(response) / u128::from(size)) as u64;
        let bytes = arrived - std::mem::replace(&mut exchange.arrived, arrived);
        let part = Part { object: exchange.request.object, bytes, is_last: received == size };
        if part.is_last {
            self.outstanding.remove(&arrival.stream);
        }
        Some(part)
    }
}

/// Opens the control streams of an endpoint. Their first ID is `first`.
fn control(end: EndpointId, first: u64, actions: &mut Vec<SessionAction>) {
    let priority = Priority { level: CONTROL_LEVEL, is_incremental: false };
    actions.extend(
        (first..).step_by(4).zip(CONTROL).map(|(stream, bytes)| {
            SessionAction::WriteOn(end, StreamWrite { stream, bytes, is_last: false, priority })
        }),
    );
}

impl Session {
    /// Opens the connection of a host with streams, because requests wait for it.
    pub(super) fn open_for_streams(&mut self, now: Instant, host: u32, actions: &mut Vec<SessionAction>) {
        if let Some(line) = self.line_for(host).map(|line| &mut self.lines[line])
            && line.streams.is_some()
            && line.opened().is_none()
        {
            line.open(now, &self.setup, false, actions);
        }
    }

    /// Handles what has arrived on the streams of a connection at its client, and the number of streams that the server
    /// permits.
    pub(crate) fn client_hears_streams(
        &mut self,
        now: Instant,
        line: usize,
        connection: &mut dyn Multiplexed,
        actions: &mut Vec<SessionAction>,
    ) {
        let Some(streams) = &mut self.lines[line].streams else { return };
        let may_ask = streams.permit(connection.permitted());
        let mut are_complete = false;
        while let Some(arrival) = connection.next_arrival() {
            let streams = self.lines[line].streams.as_mut();
            let Some(part) = streams.and_then(|streams| streams.response_arrives(arrival)) else { continue };
            self.load.first_byte(now, part.object);
            self.load.bytes_arrive(now, part.bytes);
            if part.is_last {
                are_complete = true;
                self.object_arrives(now, line, part.object);
            }
        }
        if are_complete {
            self.go_on(now, actions);
        } else if may_ask && !self.over {
            self.request(now, actions);
        }
    }

    /// Handles what has arrived on the streams of a connection at its server, and writes the responses that are due.
    pub(crate) fn server_hears_streams(
        &mut self,
        now: Instant,
        line: usize,
        connection: &mut dyn Multiplexed,
        actions: &mut Vec<SessionAction>,
    ) {
        let server = self.lines[line].server();
        let waits =
            !self.lines[line].permits_request() && !self.hosts[self.lines[line].host() as usize].waiting.is_empty();
        connection.peer_waits(now, waits);
        let Some(streams) = &mut self.lines[line].streams else { return };
        while let Some(arrival) = connection.next_arrival() {
            streams.request_arrives(now, arrival);
        }
        streams.answer(now, server, actions);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_headers_are_counted() {
        // Lengths below 64 have one byte, below 16,384 two, and larger ones four.
        assert_eq!((frame(63), frame(64), frame(16_383), frame(16_384)), (65, 67, 16_386, 16_389));
        // HEADERS of 100 B and DATA of 900 B.
        assert_eq!(response_on_stream(1_000), 103 + 903);
        assert_eq!((response_on_stream(40), response_on_stream(100)), (42, 103));
        // Two full DATA frames, and one with a byte.
        assert_eq!(response_on_stream(100 + 2 * 16_384 + 1), 103 + 2 * 16_389 + 3);
        assert_eq!(CONTROL.iter().sum::<u64>(), 15);
    }
}
