//! A pair of proxies that prefetches the objects of web pages.
//!
//! The first proxy, on the server's side, reads the responses that pass. When the last byte of an object has passed, it
//! requests the objects that waited for this one only, and promises them to the second proxy, on the client's side,
//! which stores what arrives. A request of the client for a promised object ends at the second proxy, and the object is
//! delivered as far as it has arrived. Other requests go to the server. Sources: RFC 3135 §2.1.2; US patents 6,282,542
//! (Carneal et al.: the gateway parses a page and sends its inline objects over the satellite without waiting for
//! requests) and 7,389,330 (Dillon et al.: a list of promised objects holds back the requests for them).
//!
//! The first proxy requests objects from servers like a browser, with the connections of the dialogue: on an idle one to
//! the host, or a new one, and all on one connection with HTTP/2. Between the proxies the bytes of an object use the
//! open connection with the fewest bytes in its buffer, so connections that the client opens later are not needed.
//!
//! The store is bounded: the sizes of the promised objects of a load have at most the size of the second proxy's buffer
//! in total. The client requests the others itself. So the second proxy always takes promised bytes, and the objects that
//! follow them do not wait for requests.

use super::line::Line;
use super::responses::{Part, Request};
use crate::hosts::relay::{Connections, Relay, Way};
use lightlag_core::Instant;
use lightlag_net::EndpointId;
use lightlag_traffic::{WebObject, WebPage};
use lightlag_transport::Stream;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// The objects that a proxy has prefetched over one connection to a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Prefetched {
    /// Number of objects requested, and number of their bytes that the proxy has read.
    pub(crate) objects: u64,
    pub(crate) bytes: u64,
    /// Number of bytes among them of objects that the client has not requested.
    pub(crate) unused: u64,
    /// Maximum number of bytes that the second proxy stored.
    pub(crate) max_stored: u64,
    stored: u64,
}

/// A pair of proxies that prefetches the objects of a dialogue.
#[derive(Debug)]
pub(super) struct Accelerator {
    /// Index of the first proxy's relay for each connection. The second proxy's relay is the next one.
    relays: Vec<usize>,
    /// The connections between the first proxy and the servers.
    lines: Vec<Line>,
    /// Bytes that the first proxy still has to write to each of these connections.
    outgoing: Vec<VecDeque<Outgoing>>,
    /// The connections between the two proxies.
    legs: Vec<Leg>,
    multiplexed: bool,
    /// Whether all objects are equally urgent.
    is_equal: bool,
    page: Arc<WebPage>,
    objects: Vec<ObjectState>,
    /// Promised objects that wait for a connection, the most urgent first.
    wanted: BTreeSet<(u8, u32)>,
    /// Maximum total size of the promised objects of a load, and how much of it is left.
    limit: u64,
    left: u64,
    /// Number of requests that the second proxy has answered.
    claims: u64,
    /// Results of each connection to a server.
    prefetched: Vec<Prefetched>,
}

/// Bytes of a request that the first proxy writes to a server.
#[derive(Clone, Copy, Debug)]
struct Outgoing {
    /// Connection between the proxies that brings the request; `None` for the proxy's own.
    leg: Option<usize>,
    left: u64,
}

/// A connection between the two proxies, and the client's connection that belongs to it.
#[derive(Debug, Default)]
struct Leg {
    /// Number of bytes of requests that the second proxy has read from the client.
    heard: u64,
    /// Whether the request that the second proxy reads is among `requests`.
    is_forwarding: bool,
    /// Requests between the proxies, in order. The flag is set once the first proxy has chosen a connection for it.
    requests: VecDeque<(Request, bool)>,
    /// Parts of responses between the proxies.
    parts: VecDeque<Part>,
    /// Promised objects that the client has requested over its connection: urgency, order and object.
    claimed: BTreeSet<(u8, u64, u32)>,
}

/// State of an object of the current load.
#[derive(Clone, Copy, Debug, Default)]
struct ObjectState {
    /// Number of objects before it that have not passed the first proxy.
    missing: u32,
    is_promised: bool,
    is_claimed: bool,
    /// Connection between the proxies for its bytes; `None` before the first byte of a promised object.
    leg: Option<usize>,
    /// Connection to the server.
    line: usize,
    /// Numbers of bytes that the first proxy has read, that the second one stores, and that it has delivered.
    read: u64,
    stored: u64,
    delivered: u64,
}

/// The sockets and the relays of a world. It records which endpoints have changed.
struct Wires<'a, C> {
    now: Instant,
    sockets: &'a mut C,
    relays: &'a mut [Relay],
    changed: BTreeSet<EndpointId>,
}

impl<C: Connections> Wires<'_, C> {
    /// Reads up to `most` bytes of the data or the requests that arrive at a proxy.
    fn read(&mut self, relay: usize, way: Way, most: u64) -> u64 {
        let end = match way {
            Way::Data => self.relays[relay].entry,
            Way::Requests => self.relays[relay].exit,
        };
        let bytes = self.sockets.connection_mut(end).read(most);
        if bytes > 0 {
            self.changed.insert(end);
        }
        bytes
    }

    /// Returns true if bytes of requests have arrived at a proxy.
    fn has_requests(&self, relay: usize) -> bool {
        self.sockets.connection(self.relays[relay].exit).unread() > 0
    }

    fn next_end(&self, relay: usize, way: Way) -> EndpointId {
        match way {
            Way::Data => self.relays[relay].exit,
            Way::Requests => self.relays[relay].entry,
        }
    }

    /// Returns the number of bytes that fit into the buffer of a proxy.
    fn room(&mut self, relay: usize, way: Way) -> u64 {
        let end = self.next_end(relay, way);
        self.relays[relay].room(way, self.sockets.connection(end))
    }

    fn write(&mut self, relay: usize, way: Way, bytes: u64) {
        let end = self.next_end(relay, way);
        let connection = self.sockets.connection_mut(end);
        if bytes > 0 && !connection.is_over() {
            self.relays[relay].write(self.now, way, bytes, connection);
            self.changed.insert(end);
        }
    }

    /// Reads up to `most` bytes at a relay, and writes them to a connection of another one, or of the same.
    fn pass(&mut self, from: usize, to: usize, way: Way, most: u64) -> u64 {
        let room = self.room(to, way);
        let bytes = self.read(from, way, most.min(room));
        self.write(to, way, bytes);
        bytes
    }

    /// Opens the connection of the first proxy to a server, unless it is open.
    fn open(&mut self, relay: usize) {
        let entry = self.relays[relay].entry;
        self.relays[relay].open_second(self.now, self.sockets.connection_mut(entry));
        self.changed.insert(entry);
    }

    /// Counts the bytes that were acknowledged, and closes the connections whose peers have closed.
    fn settle(&mut self, relay: usize) {
        let Self { now, sockets, relays, changed } = self;
        let relay = &mut relays[relay];
        if !relay.is_open() {
            return;
        }
        let ends = [relay.entry, relay.exit];
        let [entry, exit] = sockets.connections_mut(ends);
        relay.write(*now, Way::Data, 0, exit);
        relay.write(*now, Way::Requests, 0, entry);
        relay.close(entry, exit);
        changed.extend(ends);
    }
}

impl Accelerator {
    /// Returns the pair whose first proxy has these relays, for the connections `lines` of a dialogue. The second proxy
    /// stores up to `limit` bytes.
    pub(super) fn new(relays: Vec<usize>, lines: &[Line], multiplexed: bool, is_equal: bool, limit: u64) -> Self {
        Self {
            lines: lines.iter().map(|line| line.unused(is_equal)).collect(),
            outgoing: lines.iter().map(|_| VecDeque::new()).collect(),
            legs: lines.iter().map(|_| Leg::default()).collect(),
            prefetched: vec![Prefetched::default(); relays.len()],
            relays,
            multiplexed,
            is_equal,
            page: Arc::default(),
            objects: Vec::new(),
            wanted: BTreeSet::new(),
            limit,
            left: 0,
            claims: 0,
        }
    }

    /// Starts the load of a page. All objects of the last one have arrived.
    pub(super) fn begin(&mut self, page: Arc<WebPage>) {
        let state = |object: &WebObject| ObjectState { missing: object.after.len() as u32, ..ObjectState::default() };
        self.objects = page.objects().iter().map(state).collect();
        self.page = page;
        self.left = self.limit;
        debug_assert!(self.wanted.is_empty(), "all objects were requested");
    }

    /// Returns the connection of the first proxy to a server.
    pub(super) fn line(&mut self, line: usize) -> &mut Line {
        &mut self.lines[line]
    }

    /// Returns true if an object of the current load was prefetched.
    pub(super) fn is_prefetched(&self, object: u32) -> bool {
        self.objects[object as usize].is_promised
    }

    /// Returns the results of the connection to a server whose relay has this index, if it belongs to the first proxy.
    pub(super) fn prefetched(&self, relay: usize) -> Option<Prefetched> {
        let line = self.relays.iter().position(|of_line| *of_line == relay)?;
        let unused = self.objects.iter().filter(|object| object.line == line && object.is_promised);
        let unused = unused.filter(|object| !object.is_claimed).map(|object| object.read).sum();
        Some(Prefetched { unused, ..self.prefetched[line] })
    }

    /// Reads and passes what has arrived at the two proxies. `clients` are the connections of the client. If the
    /// dialogue has failed, the rest is discarded. Returns the endpoints that have changed.
    pub(super) fn advance<C: Connections>(
        &mut self,
        now: Instant,
        clients: &mut [Line],
        has_failed: bool,
        sockets: &mut C,
        relays: &mut [Relay],
    ) -> BTreeSet<EndpointId> {
        let mut wires = Wires { now, sockets, relays, changed: BTreeSet::new() };
        if has_failed {
            for relay in self.relays.iter().flat_map(|first| [*first, first + 1]) {
                for way in [Way::Data, Way::Requests] {
                    wires.read(relay, way, u64::MAX);
                }
            }
        } else {
            for (line, client) in clients.iter_mut().enumerate() {
                self.second_hears_client(line, client, &mut wires);
                self.second_hears_first(line, client, &mut wires);
            }
            for (line, client) in clients.iter_mut().enumerate() {
                self.deliver(line, client, &mut wires);
            }
            for line in 0..self.lines.len() {
                self.first_hears_server(line, &mut wires);
            }
            while self.assign(&mut wires) | self.write_requests(&mut wires) {}
        }
        for relay in self.relays.iter().flat_map(|first| [*first, first + 1]) {
            wires.settle(relay);
        }
        wires.changed
    }

    /// Reads requests of the client at the second proxy. Requests for promised objects end there.
    fn second_hears_client<C: Connections>(&mut self, line: usize, client: &mut Line, wires: &mut Wires<C>) {
        let relay = self.relays[line] + 1;
        if !wires.relays[relay].is_open() {
            return;
        }
        while let Some((end, request)) = client.next_request() {
            let leg = &mut self.legs[line];
            let object = &mut self.objects[request.object as usize];
            let left = end - leg.heard;
            let bytes = if object.is_promised {
                wires.read(relay, Way::Requests, left)
            } else {
                wires.pass(relay, relay, Way::Requests, left)
            };
            if bytes > 0 && !object.is_promised && !leg.is_forwarding {
                leg.is_forwarding = true;
                leg.requests.push_back((request, false));
            }
            leg.heard += bytes;
            if bytes < left {
                return;
            }
            client.request_arrives();
            leg.is_forwarding = false;
            if object.is_promised {
                object.is_claimed = true;
                let urgency = if self.is_equal { 0 } else { request.urgency };
                leg.claimed.insert((urgency, self.claims, request.object));
                self.claims += 1;
            }
        }
    }

    /// Reads responses at the second proxy: it stores promised objects, and passes on others.
    fn second_hears_first<C: Connections>(&mut self, line: usize, client: &mut Line, wires: &mut Wires<C>) {
        let relay = self.relays[line] + 1;
        while let Some(part) = self.legs[line].parts.front_mut() {
            let object = &mut self.objects[part.object as usize];
            let bytes = if object.is_promised {
                let bytes = wires.read(relay, Way::Data, part.bytes);
                object.stored += bytes;
                let results = &mut self.prefetched[object.line];
                results.stored += bytes;
                results.max_stored = results.max_stored.max(results.stored);
                bytes
            } else {
                let bytes = wires.pass(relay, relay, Way::Data, part.bytes);
                if bytes > 0 {
                    client.proxy_writes(Part { bytes, is_last: part.is_last && bytes == part.bytes, ..*part });
                }
                bytes
            };
            part.bytes -= bytes;
            if part.bytes > 0 {
                return;
            }
            self.legs[line].parts.pop_front();
        }
    }

    /// Writes stored objects that the client has requested over a connection.
    fn deliver<C: Connections>(&mut self, line: usize, client: &mut Line, wires: &mut Wires<C>) {
        let relay = self.relays[line] + 1;
        let mut complete = Vec::new();
        for claim in &self.legs[line].claimed {
            let object = &mut self.objects[claim.2 as usize];
            let bytes = object.stored.min(wires.room(relay, Way::Data));
            if bytes == 0 {
                continue;
            }
            wires.write(relay, Way::Data, bytes);
            object.stored -= bytes;
            object.delivered += bytes;
            self.prefetched[object.line].stored -= bytes;
            let is_last = object.delivered == self.page.objects()[claim.2 as usize].response.0;
            client.proxy_writes(Part { object: claim.2, bytes, is_last });
            if is_last {
                complete.push(*claim);
            }
        }
        for claim in complete {
            self.legs[line].claimed.remove(&claim);
        }
    }

    /// Reads responses at the first proxy, and passes them on to the second one.
    fn first_hears_server<C: Connections>(&mut self, line: usize, wires: &mut Wires<C>) {
        while let Some(part) = self.lines[line].next_part() {
            let Some(leg) = self.objects[part.object as usize].leg.or_else(|| self.emptiest_leg(wires)) else { return };
            let bytes = wires.pass(self.relays[line], self.relays[leg], Way::Data, part.bytes);
            if bytes == 0 {
                return;
            }
            let object = &mut self.objects[part.object as usize];
            object.leg = Some(leg);
            object.read += bytes;
            if object.is_promised {
                self.prefetched[line].bytes += bytes;
            }
            let is_last = part.is_last && bytes == part.bytes;
            let parts = &mut self.legs[leg].parts;
            match parts.back_mut() {
                Some(last) if last.object == part.object => {
                    last.bytes += bytes;
                    last.is_last = is_last;
                }
                _ => parts.push_back(Part { bytes, is_last, ..part }),
            }
            self.lines[line].part_is_read(bytes);
            if is_last {
                self.object_passes(part.object);
            }
        }
    }

    /// Returns the open connection between the proxies with the fewest bytes in its buffer at the first proxy.
    fn emptiest_leg<C: Connections>(&self, wires: &mut Wires<C>) -> Option<usize> {
        let is_open = |leg: &usize| wires.relays[self.relays[*leg]].is_open();
        let open: Vec<usize> = (0..self.legs.len()).filter(is_open).collect();
        open.into_iter().max_by_key(|leg| (wires.room(self.relays[*leg], Way::Data), std::cmp::Reverse(*leg)))
    }

    /// Handles an object whose last byte has passed the first proxy: it promises the objects that waited only for it.
    fn object_passes(&mut self, object: u32) {
        let page = self.page.clone();
        for follower in page.followers(object) {
            let state = &mut self.objects[*follower as usize];
            state.missing -= 1;
            let WebObject { response, urgency, .. } = page.objects()[*follower as usize];
            if state.missing == 0 && response.0 <= self.left {
                self.left -= response.0;
                state.is_promised = true;
                self.wanted.insert((if self.is_equal { 0 } else { urgency }, *follower));
            }
        }
    }

    /// Chooses connections to servers for the requests that have arrived at the first proxy, and for its own. Returns
    /// true if it chose any.
    fn assign<C: Connections>(&mut self, wires: &mut Wires<C>) -> bool {
        let mut has_chosen = false;
        for leg in 0..self.legs.len() {
            let relay = self.relays[leg];
            let Some((request, false)) = self.legs[leg].requests.front().copied() else { continue };
            if !wires.relays[relay].is_open() || !wires.has_requests(relay) {
                continue;
            }
            let Some(line) = self.line_for(request.object, Some(leg), wires) else { continue };
            self.legs[leg].requests[0].1 = true;
            self.objects[request.object as usize].leg = Some(leg);
            self.ask(line, request, Some(leg), wires);
            has_chosen = true;
        }
        for (urgency, object) in std::mem::take(&mut self.wanted) {
            let Some(line) = self.line_for(object, None, wires) else {
                self.wanted.insert((urgency, object));
                continue;
            };
            let WebObject { request, response, server_time, urgency, .. } = self.page.objects()[object as usize];
            let request = Request { object, request: request.0, response: response.0, server_time, urgency };
            self.prefetched[line].objects += 1;
            self.ask(line, request, None, wires);
            has_chosen = true;
        }
        has_chosen
    }

    fn ask<C: Connections>(&mut self, line: usize, request: Request, leg: Option<usize>, wires: &mut Wires<C>) {
        wires.open(self.relays[line]);
        self.objects[request.object as usize].line = line;
        self.lines[line].expect(request);
        self.outgoing[line].push_back(Outgoing { leg, left: request.request });
    }

    /// Returns the connection for a request of the first proxy: the only one of the host with HTTP/2; otherwise an idle
    /// one, or a new one. `usual` is the connection of the client that sent the request.
    fn line_for<C: Connections>(&self, object: u32, usual: Option<usize>, wires: &Wires<C>) -> Option<usize> {
        let host = self.page.objects()[object as usize].host;
        let of_host = usual.into_iter().chain(0..self.lines.len()).filter(|line| self.lines[*line].host() == host);
        let relay = |line: &usize| &wires.relays[self.relays[*line]];
        let is_idle = |line: &usize| relay(line).takes_requests() && (self.multiplexed || self.lines[*line].is_free());
        of_host.clone().find(is_idle).or_else(|| of_host.clone().find(|line| relay(line).is_unopened()))
    }

    /// Writes requests to servers. Returns true if a connection between the proxies has brought a request completely.
    fn write_requests<C: Connections>(&mut self, wires: &mut Wires<C>) -> bool {
        let mut is_complete = false;
        for line in 0..self.lines.len() {
            let to = self.relays[line];
            while let Some(request) = self.outgoing[line].front_mut() {
                let bytes = match request.leg {
                    Some(leg) => wires.pass(self.relays[leg], to, Way::Requests, request.left),
                    None => {
                        let bytes = request.left.min(wires.room(to, Way::Requests));
                        wires.write(to, Way::Requests, bytes);
                        bytes
                    }
                };
                request.left -= bytes;
                if request.left > 0 {
                    break;
                }
                if let Some(leg) = request.leg {
                    self.legs[leg].requests.pop_front();
                    is_complete = true;
                }
                self.outgoing[line].pop_front();
            }
        }
        is_complete
    }
}
