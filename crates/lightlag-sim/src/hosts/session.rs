//! Dialogues over one connection or several: requests with responses, and pages of several objects.
//!
//! A client sends a request, waits for the response, pauses (its think time), and sends the next request. The response
//! is a *page*: objects that are requested as soon as the objects before them have arrived. The response to a plain
//! request is a page of one object; a random page is a first object and others that wait for it.
//!
//! This module decides when the client and the server write, and how much. The world executes these actions.
//!
//! - `streams`: the streams of a connection with HTTP/3.
//! - `line`: a connection with its handshake, its requests and its responses.
//! - `handshake`: the flights of TLS.
//! - `responses`: the order in which a server writes responses.
//! - `load`: the progress of a page.
//! - `accelerator`: a pair of proxies that prefetches objects.

use crate::hosts::relay::{Connections, Relay};
use crate::ids::FlowIndex;
use accelerator::Accelerator;
pub(crate) use accelerator::Prefetched;
use lightlag_core::{Bytes, Duration, Instant, RandomStream, Varied};
use lightlag_net::EndpointId;
use lightlag_scenario::{Flow, Transport};
use lightlag_traffic::{Http, Page, Requests, Setup, Tls, Traffic, Web, WebObject, WebPage};
use line::Line;
use load::PageLoad;
pub(crate) use load::{LoadedObject, LoadedPage};
use responses::Request;
use std::collections::BTreeSet;
use std::sync::Arc;
pub(crate) use streams::StreamWrite;
use streams::{Exchanges, Order};

mod accelerator;
mod handshake;
mod line;
mod load;
mod responses;
mod streams;

/// An action that the world must execute at an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SessionAction {
    /// Open the connection of the endpoint.
    Open(EndpointId),
    /// Write this number of bytes.
    Write(EndpointId, u64),
    /// Write on a stream.
    WriteOn(EndpointId, StreamWrite),
    /// Close the connection of the endpoint.
    Close(EndpointId),
    /// Set the timer of the endpoint to this time.
    Wake(EndpointId, Instant),
    /// End the dialogue.
    Finish,
}

/// The pages of a dialogue.
#[derive(Debug)]
enum PagePlan {
    /// Pages with random properties.
    Drawn(Box<RandomPages>),
    /// The same page each time.
    Listed(Arc<WebPage>),
}

/// The random properties of pages.
#[derive(Debug)]
struct RandomPages {
    request: Varied<Bytes>,
    first: Varied<Bytes>,
    /// Number and sizes of the objects after the first one.
    others: Option<(Varied<u64>, Varied<Bytes>)>,
    server_time: Option<Varied<Duration>>,
}

impl PagePlan {
    /// Returns the next page. All random values of a page are drawn immediately, so that they do not depend on the
    /// order of arrivals.
    fn draw(&self, random: &mut RandomStream) -> Arc<WebPage> {
        let RandomPages { request, first, others, server_time } = match self {
            Self::Listed(page) => return page.clone(),
            Self::Drawn(pages) => &**pages,
        };
        let object = |size: &Varied<Bytes>, after: Vec<u32>, random: &mut RandomStream| {
            let [request, response] = [request, size].map(|size| size.draw(random));
            let server_time = server_time.as_ref().map_or(Duration::ZERO, |time| time.draw(random));
            WebObject { request, response, server_time, after, ..WebObject::default() }
        };
        let mut objects = vec![object(first, Vec::new(), random)];
        if let Some((number, size)) = others {
            for _ in 0..number.draw(random) {
                objects.push(object(size, vec![0], random));
            }
        }
        Arc::new(WebPage::new(objects, vec![String::new()]).expect("all objects wait for the first"))
    }
}

/// Progress of a client with the address of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Address {
    Unknown,
    Asked,
    Known,
}

/// A time that a client waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Timer {
    /// The address of this host arrives.
    Address(u32),
    /// This object is requested.
    Object(u32),
    /// The next page starts.
    Page,
}

/// A dialogue between a client and its server.
#[derive(Debug)]
pub(crate) struct Session {
    /// Flow whose row in the results describes the dialogue.
    flow: FlowIndex,
    plan: PagePlan,
    think: Option<Varied<Duration>>,
    setup: Setup,
    random: RandomStream,
    lines: Vec<Line>,
    /// Whether all objects of a host are requested immediately on its first connection (HTTP/2 and HTTP/3).
    multiplexed: bool,
    /// Number of pages that may still start, and the time limit: no page starts later.
    left: u64,
    stop: Instant,
    /// Whether all objects are equally urgent.
    is_equal: bool,
    hosts: Vec<Host>,
    load: PageLoad,
    timers: BTreeSet<(Instant, Timer)>,
    /// Time of the client's timer, if it is set.
    armed: Option<Instant>,
    has_begun: bool,
    request_bytes: u64,
    pages: Vec<LoadedPage>,
    objects: Vec<LoadedObject>,
    over: bool,
    has_failed: bool,
    accelerator: Option<Box<Accelerator>>,
}

/// State of a host at the client.
#[derive(Debug)]
struct Host {
    address: Address,
    /// Whether an earlier connection has completed its handshake.
    has_session: bool,
    /// Objects that wait for a connection, the most urgent first.
    waiting: BTreeSet<(u8, u32)>,
}

impl Session {
    /// Returns the dialogue of `flow`, which has the index `index`; `None` unless the flow is the first connection of a
    /// dialogue. `ends` are the client and the server of each connection. `has_streams`: each object has a stream of its
    /// own (HTTP/3).
    pub(crate) fn new(
        index: FlowIndex,
        flow: &Flow,
        seed: u64,
        ends: impl Iterator<Item = [EndpointId; 2]>,
        has_streams: bool,
    ) -> Option<Self> {
        if flow.part.connection() > 0 {
            return None;
        }
        let (plan, think, count, stop, http, per_host, is_equal) = match &*flow.traffic {
            Traffic::Requests(Requests { request, response, server_time, think, count, stop }) => {
                let (request, first, server_time) = (request.clone(), response.clone(), server_time.clone());
                let plan = PagePlan::Drawn(Box::new(RandomPages { request, first, others: None, server_time }));
                (plan, think, count, stop, Http::One, 1, false)
            }
            Traffic::Web(web) => {
                let Web { html, objects, object, request, server_time, think, count, stop, http, connections } = web;
                let (request, first, server_time) = (request.clone(), html.clone(), server_time.clone());
                let others = Some((objects.clone(), object.clone()));
                let plan = PagePlan::Drawn(Box::new(RandomPages { request, first, others, server_time }));
                (plan, think, count, stop, *http, http.connections(*connections), false)
            }
            Traffic::Page(Page { file: _, http, connections, priorities, think, count, stop }) => {
                let page = flow.page().cloned().expect("the file of a page was read");
                (PagePlan::Listed(page), think, count, stop, *http, http.connections(*connections), !priorities)
            }
            _ => return None,
        };
        let over_quic = flow.transport == Transport::Quic;
        let multiplexed = http == Http::Two || over_quic;
        let (hosts, interleaves) = match &plan {
            PagePlan::Listed(page) => (Some(page.connections(per_host)), multiplexed && !has_streams),
            PagePlan::Drawn(_) => (None, false),
        };
        let host = |line: usize| hosts.as_ref().map_or(0, |hosts| hosts[line]);
        let order = match &plan {
            PagePlan::Drawn(_) => Order::Requests,
            PagePlan::Listed(_) if is_equal => Order::Turns,
            PagePlan::Listed(_) => Order::Urgency,
        };
        let streams = || has_streams.then(|| Box::new(Exchanges::new(order)));
        let line = |(line, ends)| Line::new(ends, host(line), interleaves, is_equal).with_streams(streams());
        let lines: Vec<Line> = ends.enumerate().map(line).collect();
        let mut setup = flow.setup().unwrap_or_default();
        if over_quic {
            // The handshake of QUIC contains TLS.
            setup.tls = Tls::None;
        }
        let address = if setup.lookup().is_some() { Address::Unknown } else { Address::Known };
        let count_hosts = lines.iter().map(|line| line.host() + 1).max().unwrap_or(1);
        let hosts = (0..count_hosts).map(|_| Host { address, has_session: false, waiting: BTreeSet::new() }).collect();
        Some(Self {
            flow: index,
            plan,
            think: think.clone(),
            setup,
            random: RandomStream::new(seed, &format!("flow {} traffic", flow.name)),
            lines,
            multiplexed,
            left: count.unwrap_or(u64::MAX),
            stop: stop.map_or(Instant::MAX, |stop| Instant::ZERO + stop),
            hosts,
            is_equal,
            load: PageLoad::new(flow.start, Arc::default()),
            timers: BTreeSet::new(),
            armed: Some(flow.start),
            has_begun: false,
            request_bytes: 0,
            pages: Vec::new(),
            objects: Vec::new(),
            over: false,
            has_failed: false,
            accelerator: None,
        })
    }

    /// Makes a pair of proxies prefetch objects. `relays` are the indices of the first proxy's relays, one for each
    /// connection; the second proxy's relays are the next ones. The second proxy stores up to `limit` bytes.
    pub(crate) fn prefetch_at(&mut self, relays: Vec<usize>, limit: u64) {
        let pair = Accelerator::new(relays, &self.lines, self.multiplexed, self.is_equal, limit);
        self.accelerator = Some(Box::new(pair));
    }

    /// Passes what has arrived at the pair of proxies that prefetches. Returns the endpoints that have changed.
    pub(crate) fn pass_objects(
        &mut self,
        now: Instant,
        sockets: &mut impl Connections,
        relays: &mut [Relay],
    ) -> BTreeSet<EndpointId> {
        let Self { accelerator, lines, has_failed, .. } = self;
        let Some(pair) = accelerator else { return BTreeSet::new() };
        pair.advance(now, lines, *has_failed, sockets, relays)
    }

    /// Returns the results of a relay's connection to a server, if objects are prefetched over it.
    pub(crate) fn prefetched(&self, relay: usize) -> Option<Prefetched> {
        self.accelerator.as_ref()?.prefetched(relay)
    }

    /// Returns true if a pair of proxies prefetches objects.
    pub(crate) fn prefetches(&self) -> bool {
        self.accelerator.is_some()
    }

    /// Returns the flow whose row in the results describes the dialogue.
    pub(crate) fn flow(&self) -> FlowIndex {
        self.flow
    }

    /// Returns, for each connection, the time when it was opened, if it was.
    pub(crate) fn opened(&self) -> impl Iterator<Item = Option<Instant>> + '_ {
        self.lines.iter().map(Line::opened)
    }

    /// Returns the pages that have arrived.
    pub(crate) fn pages(&self) -> &[LoadedPage] {
        &self.pages
    }

    /// Returns the objects of listed pages that have arrived, in the order of their arrival.
    pub(crate) fn objects(&self) -> &[LoadedObject] {
        &self.objects
    }

    /// Returns the page that a file lists, if there is one.
    pub(crate) fn listed(&self) -> Option<&Arc<WebPage>> {
        if let PagePlan::Listed(page) = &self.plan { Some(page) } else { None }
    }

    /// Returns the total size of all requests so far in bytes.
    pub(crate) fn request_bytes(&self) -> u64 {
        self.request_bytes
    }

    /// Returns true if another page may follow the current one at this time.
    pub(crate) fn goes_on_at(&self, time: Instant) -> bool {
        !self.over && self.left > 0 && time < self.stop
    }

    /// Returns the number of bytes that the server of a connection has written, if it interleaves responses.
    pub(crate) fn interleaved(&mut self, line: usize) -> Option<u64> {
        self.server_line(line).interleaved()
    }

    /// Records that a connection failed. The dialogue sends no further requests.
    pub(crate) fn fail(&mut self) {
        self.over = true;
        self.has_failed = true;
    }

    /// Returns a connection between its server and the client, or the proxy that prefetches.
    fn server_line(&mut self, line: usize) -> &mut Line {
        match &mut self.accelerator {
            Some(pair) => pair.line(line),
            None => &mut self.lines[line],
        }
    }

    /// Requests the next page, or ends the dialogue if its time is over.
    pub(crate) fn begin_page(&mut self, now: Instant, actions: &mut Vec<SessionAction>) {
        self.has_begun = true;
        if self.over {
            return;
        }
        if now >= self.stop {
            return self.finish(actions);
        }
        self.left -= 1;
        let page = self.plan.draw(&mut self.random);
        if let Some(pair) = &mut self.accelerator {
            pair.begin(page.clone());
        }
        self.load = PageLoad::new(now, page);
        for object in self.load.free() {
            self.want(now, object);
        }
        self.request(now, actions);
        self.arm(actions);
    }

    /// Handles the client's timer.
    pub(crate) fn client_wakes(&mut self, now: Instant, actions: &mut Vec<SessionAction>) {
        self.armed = None;
        if !self.has_begun {
            return self.begin_page(now, actions);
        }
        let mut starts_page = false;
        while let Some((_, timer)) = self.timers.first().copied().filter(|(due, _)| *due <= now) {
            self.timers.pop_first();
            match timer {
                Timer::Address(host) => self.hosts[host as usize].address = Address::Known,
                Timer::Object(object) => self.wait(object),
                Timer::Page => starts_page = true,
            }
        }
        if starts_page {
            return self.begin_page(now, actions);
        }
        if !self.over {
            self.request(now, actions);
            self.arm(actions);
        }
    }

    /// Handles the arrival of bytes at the server of a connection, which has `received` bytes in total. The server may
    /// write about `room` bytes now, if it interleaves responses.
    pub(crate) fn server_hears(
        &mut self,
        now: Instant,
        line: usize,
        received: u64,
        room: i64,
        actions: &mut Vec<SessionAction>,
    ) {
        self.server_line(line).server_hears(now, received, actions);
        self.answer(now, line, room, actions);
    }

    /// Writes the responses that are due at the server of a connection.
    pub(crate) fn answer(&mut self, now: Instant, line: usize, room: i64, actions: &mut Vec<SessionAction>) {
        self.server_line(line).answer(now, room, actions);
    }

    /// Handles the arrival of bytes at the client of a connection, which has `received` bytes in total.
    pub(crate) fn client_hears(&mut self, now: Instant, line: usize, received: u64, actions: &mut Vec<SessionAction>) {
        let Self { lines, load, hosts, .. } = self;
        let connection = &mut lines[line];
        hosts[connection.host() as usize].has_session |= connection.client_hears(now, received, load, actions);
        load.bytes_arrive(now, connection.payload(received));
        let mut are_complete = false;
        while let Some(object) = self.lines[line].next_object(now, received, &mut self.load) {
            are_complete = true;
            self.object_arrives(now, line, object);
        }
        if are_complete {
            self.go_on(now, actions);
        }
    }

    /// Records an object that has arrived over a connection, and the objects that it leads to.
    fn object_arrives(&mut self, now: Instant, line: usize, object: u32) {
        let flow = FlowIndex(self.flow.0 + line as u32);
        if self.listed().is_some() {
            let prefetched = self.accelerator.as_ref().is_some_and(|pair| pair.is_prefetched(object));
            let loaded = self.load.loaded(now, object, flow, self.pages.len());
            self.objects.push(LoadedObject { prefetched, ..loaded });
        }
        for follower in self.load.object_arrives(object) {
            self.want(now, follower);
        }
    }

    /// Continues after objects have arrived: requests those that they lead to, or ends the page.
    fn go_on(&mut self, now: Instant, actions: &mut Vec<SessionAction>) {
        if self.over {
            return;
        }
        self.request(now, actions);
        if self.load.is_complete() {
            self.page_is_there(now, actions);
        } else {
            self.arm(actions);
        }
    }

    /// Requests an object as soon as its delay has passed.
    fn want(&mut self, now: Instant, object: u32) {
        let delay = self.load.object(object).delay;
        self.load.is_known(now + delay, object);
        if delay > Duration::ZERO {
            self.timers.insert((now + delay, Timer::Object(object)));
        } else {
            self.wait(object);
        }
    }

    /// Adds an object to those that wait for a connection.
    fn wait(&mut self, object: u32) {
        let WebObject { host, urgency, .. } = *self.load.object(object);
        let urgency = if self.is_equal { 0 } else { urgency };
        self.hosts[host as usize].waiting.insert((urgency, object));
    }

    /// Requests as many of the waiting objects as possible, on idle connections first, then on new ones.
    fn request(&mut self, now: Instant, actions: &mut Vec<SessionAction>) {
        for host in 0..self.hosts.len() as u32 {
            let state = &mut self.hosts[host as usize];
            if state.waiting.is_empty() {
                continue;
            }
            match (state.address, self.setup.lookup()) {
                (Address::Asked, _) => continue,
                (Address::Unknown, Some(time)) => {
                    state.address = Address::Asked;
                    self.timers.insert((now + time, Timer::Address(host)));
                    continue;
                }
                _ => {}
            }
            self.open_for_streams(now, host, actions);
            while let Some((_, object)) = self.hosts[host as usize].waiting.first().copied() {
                let Some(line) = self.line_for(host).filter(|line| self.lines[*line].permits_request()) else { break };
                self.hosts[host as usize].waiting.pop_first();
                self.ask(now, line, object, actions);
            }
        }
    }

    /// Returns the connection for the next request to a host.
    fn line_for(&self, host: u32) -> Option<usize> {
        let mut of_host = (0..self.lines.len()).filter(|line| self.lines[*line].host() == host);
        if self.multiplexed {
            return of_host.next();
        }
        let idle = of_host.clone().find(|line| self.lines[*line].is_idle());
        idle.or_else(|| of_host.find(|line| self.lines[*line].opened().is_none()))
    }

    fn ask(&mut self, now: Instant, line: usize, object: u32, actions: &mut Vec<SessionAction>) {
        let WebObject { request, response, server_time, urgency, host, .. } = *self.load.object(object);
        let connection = &mut self.lines[line];
        if connection.opened().is_none() {
            connection.open(now, &self.setup, self.hosts[host as usize].has_session, actions);
        }
        let request = Request { object, request: request.0, response: response.0, server_time, urgency };
        self.request_bytes += request.request;
        connection.ask(now, request, &mut self.load, actions);
    }

    /// Sets the client's timer to the next time that it waits for.
    fn arm(&mut self, actions: &mut Vec<SessionAction>) {
        let next = self.timers.first().map(|(due, _)| *due);
        if let Some(due) = next.filter(|_| next != self.armed) {
            self.armed = next;
            actions.push(SessionAction::Wake(self.lines[0].client(), due));
        }
    }

    fn page_is_there(&mut self, now: Instant, actions: &mut Vec<SessionAction>) {
        self.pages.push(self.load.finished(now));
        let think = self.think.as_ref().map_or(Duration::ZERO, |think| think.draw(&mut self.random));
        let next = now + think;
        if self.left == 0 || next >= self.stop {
            return self.finish(actions);
        }
        if next > now {
            self.timers.insert((next, Timer::Page));
            self.arm(actions);
        } else {
            self.begin_page(now, actions);
        }
    }

    fn finish(&mut self, actions: &mut Vec<SessionAction>) {
        self.over = true;
        let opened = self.lines.iter().filter(|line| line.opened().is_some());
        actions.extend(opened.map(|line| SessionAction::Close(line.client())));
        actions.push(SessionAction::Finish);
    }
}

#[cfg(test)]
mod tests;
