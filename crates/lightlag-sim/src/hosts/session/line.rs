//! A connection of a dialogue: its handshake, its requests and its responses.

use super::SessionAction;
use super::handshake::{Handshake, Side};
use super::load::PageLoad;
use super::responses::{Part, Request, Responses};
use super::streams::Exchanges;
use lightlag_core::Instant;
use lightlag_net::EndpointId;
use lightlag_traffic::Setup;
use std::collections::VecDeque;

/// A part of a response in transit.
#[derive(Clone, Copy, Debug)]
struct PartInTransit {
    part: Part,
    /// Number of bytes of responses up to its end.
    end: u64,
}

/// One connection of a dialogue.
#[derive(Debug)]
pub(super) struct Line {
    client: EndpointId,
    server: EndpointId,
    host: u32,
    /// Time when the client opened the connection, if it did.
    opened: Option<Instant>,
    handshake: Option<Handshake>,
    /// Number of bytes that the server writes before the first response.
    prelude: u64,
    /// Number of bytes that the client has written, and that the server has.
    asked: u64,
    answered: u64,
    /// Requests that wait for the handshake.
    pending: VecDeque<Request>,
    /// Requests in transit, each with the offset of its last byte.
    coming: VecDeque<(u64, Request)>,
    responses: Responses,
    parts: VecDeque<PartInTransit>,
    /// Number of responses that the client waits for.
    outstanding: u32,
    /// Number of bytes of responses that the client has received.
    seen: u64,
    /// Streams of HTTP/3, which replace `handshake` and the fields after it.
    pub(super) streams: Option<Box<Exchanges>>,
}

impl Line {
    /// Returns the connection between two ends, the client and the server, to the host with this index.
    pub(super) fn new([client, server]: [EndpointId; 2], host: u32, interleaves: bool, is_equal: bool) -> Self {
        Self {
            client,
            server,
            host,
            opened: None,
            handshake: None,
            prelude: 0,
            asked: 0,
            answered: 0,
            pending: VecDeque::new(),
            coming: VecDeque::new(),
            responses: Responses::new(interleaves, is_equal),
            parts: VecDeque::new(),
            outstanding: 0,
            seen: 0,
            streams: None,
        }
    }

    /// Makes requests and responses use these streams.
    pub(super) fn with_streams(self, streams: Option<Box<Exchanges>>) -> Self {
        Self { streams, ..self }
    }

    /// Returns an unused connection to the same host, for a proxy that requests objects itself.
    pub(super) fn unused(&self, is_equal: bool) -> Self {
        let interleaves = matches!(self.responses, Responses::Interleaved { .. });
        Self::new([self.client, self.server], self.host, interleaves, is_equal)
    }

    /// Returns the endpoint of the client.
    pub(super) fn client(&self) -> EndpointId {
        self.client
    }

    /// Returns the endpoint of the server.
    pub(super) fn server(&self) -> EndpointId {
        self.server
    }

    /// Returns the index of the host.
    pub(super) fn host(&self) -> u32 {
        self.host
    }

    /// Returns the time when the client opened the connection, if it did.
    pub(super) fn opened(&self) -> Option<Instant> {
        self.opened
    }

    /// Returns true if the connection is open and carries no request.
    pub(super) fn is_idle(&self) -> bool {
        self.opened.is_some() && self.outstanding == 0
    }

    /// Returns true unless a request has to wait until the server permits another stream.
    pub(super) fn permits_request(&self) -> bool {
        self.streams.as_ref().is_none_or(|streams| streams.permits_request())
    }

    /// Returns the number of bytes that the server has written, if it interleaves responses.
    pub(super) fn interleaved(&self) -> Option<u64> {
        matches!(self.responses, Responses::Interleaved { .. }).then_some(self.answered)
    }

    /// Opens the connection, and starts the handshake.
    pub(super) fn open(&mut self, now: Instant, setup: &Setup, resumes: bool, actions: &mut Vec<SessionAction>) {
        self.opened = Some(now);
        actions.push(SessionAction::Open(self.client));
        if let Some(streams) = &mut self.streams {
            return streams.open(self.client, actions);
        }
        self.handshake = Handshake::new(setup, resumes);
        if let Some(handshake) = &mut self.handshake {
            self.prelude = handshake.of_server();
            let hello = handshake.next(Side::Client, 0, 0);
            self.client_writes(hello.expect("the client starts"), actions);
        }
    }

    /// Sends a request, or queues it until the handshake lets it pass.
    pub(super) fn ask(
        &mut self,
        now: Instant,
        request: Request,
        load: &mut PageLoad,
        actions: &mut Vec<SessionAction>,
    ) {
        if let Some(streams) = &mut self.streams {
            load.is_requested(now, request.object);
            return streams.ask(request, self.client, actions);
        }
        self.outstanding += 1;
        if self.handshake.as_ref().is_none_or(|handshake| handshake.lets_requests_pass(0)) {
            self.send(now, request, load, actions);
        } else {
            self.pending.push_back(request);
        }
    }

    fn send(&mut self, now: Instant, request: Request, load: &mut PageLoad, actions: &mut Vec<SessionAction>) {
        load.is_requested(now, request.object);
        self.client_writes(request.request, actions);
        self.coming.push_back((self.asked, request));
    }

    fn client_writes(&mut self, bytes: u64, actions: &mut Vec<SessionAction>) {
        self.asked += bytes;
        actions.push(SessionAction::Write(self.client, bytes));
    }

    /// Handles bytes of the handshake that arrive at the client, which has received `received` bytes in total. Returns
    /// true if the handshake is complete.
    pub(super) fn client_hears(
        &mut self,
        now: Instant,
        received: u64,
        load: &mut PageLoad,
        actions: &mut Vec<SessionAction>,
    ) -> bool {
        let Some(handshake) = &mut self.handshake else { return false };
        if let Some(flight) = handshake.next(Side::Client, received, self.asked) {
            self.client_writes(flight, actions);
        }
        let Some(handshake) = self.handshake.take_if(|handshake| received >= handshake.of_server()) else {
            return false;
        };
        debug_assert!(handshake.lets_requests_pass(received));
        for request in std::mem::take(&mut self.pending) {
            self.send(now, request, load, actions);
        }
        true
    }

    /// Handles bytes that arrive at the server, which has received `received` bytes in total.
    pub(super) fn server_hears(&mut self, now: Instant, received: u64, actions: &mut Vec<SessionAction>) {
        if let Some(handshake) = &mut self.handshake
            && let Some(flight) = handshake.next(Side::Server, received, self.answered)
        {
            self.answered += flight;
            actions.push(SessionAction::Write(self.server, flight));
        }
        while let Some((_, request)) = self.coming.front().copied().filter(|(last, _)| *last <= received) {
            self.coming.pop_front();
            self.responses.add(now, request);
        }
    }

    /// Returns the next request in transit, with the offset of its last byte.
    pub(super) fn next_request(&self) -> Option<(u64, Request)> {
        self.coming.front().copied()
    }

    /// Removes the next request in transit, which has arrived.
    pub(super) fn request_arrives(&mut self) {
        self.coming.pop_front();
    }

    /// Records that a request of a proxy is next on the connection.
    pub(super) fn expect(&mut self, request: Request) {
        self.outstanding += 1;
        self.asked += request.request;
        self.coming.push_back((self.asked, request));
    }

    /// Returns true if no response is outstanding.
    pub(super) fn is_free(&self) -> bool {
        self.outstanding == 0
    }

    /// Returns the part of a response that arrives next, without the bytes that a proxy has read.
    pub(super) fn next_part(&self) -> Option<Part> {
        self.parts.front().map(|part| part.part)
    }

    /// Records that a proxy has read this number of bytes of the next part.
    pub(super) fn part_is_read(&mut self, bytes: u64) {
        let Some(PartInTransit { part, .. }) = self.parts.front_mut() else { return };
        part.bytes -= bytes;
        if part.bytes == 0 {
            self.outstanding -= u32::from(part.is_last);
            self.parts.pop_front();
        }
    }

    /// Records that a proxy has written a part of a response towards the client.
    pub(super) fn proxy_writes(&mut self, part: Part) {
        self.answered += part.bytes;
        let end = self.answered - self.prelude;
        match self.parts.back_mut() {
            Some(last) if last.part.object == part.object && !last.part.is_last => {
                last.part.bytes += part.bytes;
                last.part.is_last = part.is_last;
                last.end = end;
            }
            _ => self.parts.push_back(PartInTransit { part, end }),
        }
    }

    /// Writes the responses that are due, up to about `room` bytes if they are interleaved.
    pub(super) fn answer(&mut self, now: Instant, room: i64, actions: &mut Vec<SessionAction>) {
        let Self { responses, parts, answered, server, prelude, .. } = self;
        let next = responses.write(now, room, |part| {
            *answered += part.bytes;
            parts.push_back(PartInTransit { part, end: *answered - *prelude });
            actions.push(SessionAction::Write(*server, part.bytes));
        });
        actions.extend(next.map(|due| SessionAction::Wake(*server, due)));
    }

    /// Returns the number of bytes of responses among those that have arrived since the last call, if the client has
    /// received `received` bytes in total.
    pub(super) fn payload(&mut self, received: u64) -> u64 {
        let payload = received.saturating_sub(self.prelude);
        payload - std::mem::replace(&mut self.seen, payload)
    }

    /// Returns the next object whose last byte has arrived, and records the first bytes of others.
    pub(super) fn next_object(&mut self, now: Instant, received: u64, load: &mut PageLoad) -> Option<u32> {
        let payload = received.saturating_sub(self.prelude);
        while let Some(PartInTransit { part, end }) = self.parts.front().copied() {
            if payload > end - part.bytes {
                load.first_byte(now, part.object);
            }
            if payload < end {
                return None;
            }
            self.parts.pop_front();
            if part.is_last {
                self.outstanding -= 1;
                return Some(part.object);
            }
        }
        None
    }
}
